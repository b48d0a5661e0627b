/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_stixels.c: the layer of RvStixelsMeta: rasters by cuda/stixels, blended by
 * cuda/draw.
 */
#include "gstcudaannotate_stixels.h"

#include "stixels/stixels_draw.h"

static const RvColor OUTLINE_COLOR = {0, 0, 0, 150};

/* Ground, object, sky; then semantic classes: those of Cityscapes in its colors, in its order, as
 * the thesis draws them, and more for longer lists. */
static const guint8 class_colors[RV_STIXELS_DRAWN_BAND - 1][3] = {
    {0, 150, 90},    {226, 62, 48},   {70, 130, 180},  {128, 64, 128},  {244, 35, 232},
    {70, 70, 70},    {102, 102, 156}, {190, 153, 153}, {153, 153, 153}, {250, 170, 30},
    {220, 220, 0},   {107, 142, 35},  {152, 251, 152}, {70, 130, 180},  {220, 20, 60},
    {255, 0, 0},     {0, 0, 142},     {0, 0, 70},      {0, 60, 100},    {0, 80, 100},
    {0, 0, 230},     {119, 11, 32},   {0, 150, 136},   {255, 138, 101}, {124, 77, 255},
    {174, 213, 129}, {240, 98, 146},  {77, 208, 225},  {161, 136, 127}, {255, 213, 79},
    {92, 107, 192},  {205, 220, 57},  {186, 104, 200}, {129, 199, 132}, {144, 164, 174}};

#define BAND_SHADE 170 /* of 255: brightness of every other band of disparity */

static void fill_palette(int opacity, RvColor *colors) {
  memset(colors, 0, (RV_STIXELS_DRAWN - 1) * sizeof *colors);
  for (int k = 0; k < RV_STIXELS_DRAWN_BAND - 1; k++) {
    const guint8 *c = class_colors[k];
    RvColor *bright = &colors[k], *dark = &colors[k + RV_STIXELS_DRAWN_BAND];
    *bright = (RvColor){c[0], c[1], c[2], (uint8_t)opacity};
    *dark = (RvColor){(uint8_t)(c[0] * BAND_SHADE / 255), (uint8_t)(c[1] * BAND_SHADE / 255),
                      (uint8_t)(c[2] * BAND_SHADE / 255), (uint8_t)opacity};
  }
}

/* The classes take the memory of the disparity. */
static RvPlane classes_in(const RvPlane *disparity) {
  RvPlane classes = *disparity;
  classes.format = RV_U8;
  return classes;
}

RvStatus gst_cuda_annotate_stixels_draw(GstCudaAnnotateRasters *self, const GstRvExecContext *work,
                                        RvDraw *draw, const RvPicture *picture,
                                        const RvMetaStixels *meta,
                                        GstCudaAnnotateStixelColors colors,
                                        const GstCudaAnnotateStyle *style) {
  RvStatus status = gst_cuda_annotate_rasters_ready(self, work, meta->width, meta->height);
  if (status == RV_OK)
    status = gst_rv_input_map(&self->list, work, meta->payload);
  if (status != RV_OK)
    return status;
  const gboolean by_class = colors == GST_CUDA_ANNOTATE_STIXELS_CLASS;
  RvStixelsRasters rasters = {.outline = self->edges};
  if (by_class)
    rasters.classes = classes_in(&self->disparity);
  else
    rasters.disparity = self->disparity;
  status = rv_stixels_draw(self->list.plane.data, (uint32_t)meta->count, meta->stixel_width,
                           &rasters, work->engine, work->stream, &work->log);
  if (status == RV_OK && by_class) {
    RvColor palette[RV_STIXELS_DRAWN - 1];
    fill_palette(style->opacity, palette);
    status = rv_draw_labels(draw, picture, &rasters.classes, palette, RV_STIXELS_DRAWN - 1,
                            work->stream);
  } else if (status == RV_OK) {
    status = rv_draw_disparity(draw, picture, &rasters.disparity, style->low, style->high,
                               style->opacity, work->stream);
  }
  return status == RV_OK ? rv_draw_mask(draw, picture, &self->edges, OUTLINE_COLOR, work->stream)
                         : status;
}
