/* SPDX-License-Identifier: MIT */
/* draw.c: the object, its checks, and the layers. Shapes are in draw_shapes.c. */
#include "draw/draw_object.h"

#include <stdio.h>
#include <string.h>

#include "rv_pixels.h"
#include "rv_config.h"

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvDrawConfig Config;

/* The switches take any int: 0 is off. */
static const RvParam params[] = {
    RV_PARAM_SIZE,
    RV_CHOICE("format", format, RV_PIXEL_BGRX, RV_PARAM_HIDDEN, NULL, NULL,
              "Pixel format of the frames", RV_PIXEL_VALUES_8BIT),
    RV_CHOICE("colormap", colormap, RV_COLORMAP_TURBO, 0, NULL, NULL, "Color map of disparity",
              {RV_COLORMAP_TURBO, "turbo", "Turbo: low blue, high red, even steps"},
              {RV_COLORMAP_JET, "jet", "Jet: low blue, high red"},
              {RV_COLORMAP_GRAY, "gray", "Gray: low black, high white"}),
    RV_INT("bt709", bt709, INT_MIN, INT_MAX, 0, RV_PARAM_HIDDEN, NULL, NULL,
           "YUV frames: BT.709 matrix instead of BT.601"),
    RV_INT("full-range", full_range, INT_MIN, INT_MAX, 0, RV_PARAM_HIDDEN, NULL, NULL,
           "YUV frames: full range instead of limited range"),
    RV_PARAM_THREADS,
};
RV_PARAMS(draw)

/* --- Object ---------------------------------------------------------------------------------- */

void rv_draw_layout(void *memory, const void *plan, RvArena *arena) {
  (void)plan; /* the same for every config */
  RvDrawWork *work = memory;
  work->colors = rv_arena_take(arena, RV_DRAW_COLORS * sizeof *work->colors);
  work->field = rv_arena_take(arena, RV_FONT_BYTES);
}

static void make_tables(const RvDraw *draw, RvInk *colors, uint8_t *field) {
  for (int i = 0; i < RV_DRAW_COLORS; i++)
    colors[i] = rv_draw_ink(&draw->plan.config, rv_colormap_color(draw->plan.config.colormap, i));
  rv_font_field(field);
}

/* Makes the tables in host memory and, for CUDA, copies them. */
static RvStatus fill_tables(void *object) {
  const RvDraw *draw = object;
  const RvDrawWork *work = draw->object.work;
  if (draw->object.engine == RV_CPU) {
    make_tables(draw, work->colors, work->field);
    return RV_OK;
  }
  const size_t color_bytes = RV_DRAW_COLORS * sizeof *work->colors;
  char *host = rv_object_memory(&draw->plan.config.log, "draw", color_bytes + RV_FONT_BYTES);
  if (!host)
    return RV_ERR_NO_MEMORY;
  make_tables(draw, (RvInk *)(void *)host, (uint8_t *)host + color_bytes);
  RvStatus status = rv_copy_to_device(work->colors, host, color_bytes, NULL);
  if (status == RV_OK)
    status = rv_copy_to_device(work->field, host + color_bytes, RV_FONT_BYTES, NULL);
  rv_memory_free(host, RV_CPU);
  return status;
}

static void describe(const void *plan, char *text, size_t size) {
  (void)plan;
  snprintf(text, size, "the tables of colors and font");
}

RV_CLASS(RvDraw, draw, .describe = describe, .open = fill_tables);

static const RvDrawStages *stages_of(const RvDraw *draw) {
  return (const RvDrawStages *)(const void *)draw->object.base;
}

/* --- Layers ---------------------------------------------------------------------------------- */

RvColor rv_draw_color(const RvDraw *draw, int value, int limit) {
  if (!draw || limit < 1)
    return (RvColor){0, 0, 0, 255};
  const int64_t index = (int64_t)rv_clamp(value, 0, limit) * (RV_DRAW_COLORS - 1) / limit;
  return rv_colormap_color(draw->plan.config.colormap, (int)index);
}

static RvCanvas canvas_of(const RvPicture *picture) {
  const RvPixelLayout *form = rv_pixel_layout(picture->format);
  RvCanvas canvas = {.cell_x = form->cell_x,
                     .cell_y = form->cell_y,
                     .color = form->plane_of[1] >= 0,
                     .width = picture->width,
                     .height = picture->height};
  for (int c = 0; c < (canvas.color ? 3 : 1); c++)
    canvas.channel[c] = (uint8_t *)picture->data[form->plane_of[c]] + form->offset_of[c];
  if (form->alpha >= 0)
    canvas.alpha = (uint8_t *)picture->data[0] + form->alpha;
  canvas.step[0] = form->step;
  canvas.step[1] = form->chroma_step;
  canvas.stride[0] = picture->stride[0];
  canvas.stride[1] = canvas.color ? picture->stride[form->plane_of[1]] : 0;
  return canvas;
}

static RvStatus job_of(const RvDraw *draw, const RvPicture *picture, RvStream stream,
                       RvDrawJob *job) {
  const RvLog *log = &draw->plan.config.log;
  RV_REQUIRE(log, rv_picture_fits(picture),
             "draw: the image needs a known format, all its planes and strides of at least a row");
  RV_REQUIRE(log,
             picture->format == draw->plan.config.format &&
                 picture->width == draw->plan.config.width &&
                 picture->height == draw->plan.config.height,
             "draw: the image has %dx%d px or a format other than the object's %dx%d",
             picture->width, picture->height, draw->plan.config.width, draw->plan.config.height);
  RV_REQUIRE(log, rv_pixel_planes(picture->format) < 3 || picture->stride[1] == picture->stride[2],
             "draw: both chroma planes of I420, YV12 and Y42B need the same stride");
  *job = (RvDrawJob){.canvas = canvas_of(picture),
                     .threads = draw->plan.config.threads,
                     .stream = stream,
                     .log = log};
  return RV_OK;
}

static RvStatus check_layer(const RvDraw *draw, const RvPlane *plane, RvFormat format,
                            const char *what) {
  const RvLog *log = &draw->plan.config.log;
  RV_REQUIRE(
      log,
      plane && rv_plane_fits(plane, plane->width, plane->height, format) && plane->width >= 1 &&
          plane->width <= RV_MAX_SIDE && plane->height >= 1 && plane->height <= RV_MAX_SIDE,
      "draw: the %s needs 1..%d px a side and a stride of at least a row", what, RV_MAX_SIDE);
  return RV_OK;
}

RvStatus rv_draw_disparity(RvDraw *draw, const RvPicture *picture, const RvPlane *disparity,
                           int low, int high, int opacity, RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  const RvLog *log = &draw->plan.config.log;
  RvDrawJob job;
  RV_TRY(check_layer(draw, disparity, RV_U16, "disparity (u16)"));
  RV_REQUIRE(log, low >= 0 && low < high && high <= 65535,
             "draw: the color map spans %d..%d; 0 <= low < high <= 65535", low, high);
  RV_REQUIRE(log, opacity >= 0 && opacity <= 255, "draw: opacity is %d; it must be 0..255",
             opacity);
  RV_TRY(job_of(draw, picture, stream, &job));
  job.plane = disparity;
  job.scale = (RvDrawScale){low, high, opacity};
  return stages_of(draw)->disparity(draw->object.work, &job);
}

RvStatus rv_draw_mask(RvDraw *draw, const RvPicture *picture, const RvPlane *mask, RvColor color,
                      RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(check_layer(draw, mask, RV_U8, "mask (u8)"));
  RV_TRY(job_of(draw, picture, stream, &job));
  job.plane = mask;
  job.ink = rv_draw_ink(&draw->plan.config, color);
  return stages_of(draw)->mask(draw->object.work, &job);
}

RvStatus rv_draw_labels(RvDraw *draw, const RvPicture *picture, const RvPlane *labels,
                        const RvColor *colors, int count, RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(check_layer(draw, labels, RV_U8, "labels (u8)"));
  RV_REQUIRE(&draw->plan.config.log, colors && count >= 1 && count <= RV_DRAW_LABELS,
             "draw: %d colors of labels; give 1..%d", count, RV_DRAW_LABELS);
  RV_TRY(job_of(draw, picture, stream, &job));
  RvLabelInks inks = {{{{0, 0, 0}, 0}}};
  for (int k = 0; k < count; k++)
    inks.of[k + 1] = rv_draw_ink(&draw->plan.config, colors[k]);
  job.plane = labels;
  job.inks = &inks;
  return stages_of(draw)->labels(draw->object.work, &job);
}

static RvStatus check_grid(const RvDraw *draw, const RvDrawGrid *g) {
  const RvLog *log = &draw->plan.config.log;
  RV_REQUIRE(log, g, "draw: no grid");
  RV_TRY(check_layer(draw, &g->mask, RV_U8, "mask of a grid (u8)"));
  RV_REQUIRE(log, !g->marks.data || rv_plane_fits(&g->marks, g->mask.width, g->mask.height, RV_U8),
             "draw: the marks of a grid must be u8 of as many cells as its mask, %d x %d",
             g->mask.width, g->mask.height);
  RV_REQUIRE(log,
             g->width >= 1 && g->width <= RV_MAX_SIDE && g->height >= 1 && g->height <= RV_MAX_SIDE,
             "draw: a grid made for an image of %dx%d px; each side must be 1..%d", g->width,
             g->height, RV_MAX_SIDE);
  RV_REQUIRE(log,
             g->cell >= 1 && g->mask.width <= g->width / g->cell &&
                 g->mask.height <= g->height / g->cell,
             "draw: %d x %d cells of %d px do not lie in an image of %dx%d px", g->mask.width,
             g->mask.height, g->cell, g->width, g->height);
  RV_REQUIRE(log, g->edge_width >= 0 && g->edge_width <= RV_MAX_SIDE,
             "draw: the edge of a grid is %d px wide, must be 0..%d", g->edge_width, RV_MAX_SIDE);
  return RV_OK;
}

RvStatus rv_draw_grid(RvDraw *draw, const RvPicture *picture, const RvDrawGrid *grid,
                      RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(check_grid(draw, grid));
  RV_TRY(job_of(draw, picture, stream, &job));
  const RvGrid cells = {
      .mask = grid->mask.data,
      .marks = grid->marks.data,
      .mask_stride = grid->mask.stride,
      .marks_stride = grid->marks.stride,
      .columns = grid->mask.width,
      .rows = grid->mask.height,
      .per_cell = rv_grid_per_cell(grid->cell),
      .made_width = grid->width,
      .made_height = grid->height,
      .width = picture->width,
      .height = picture->height,
      .edge_width = grid->edge_width,
      .tint = rv_draw_ink(&draw->plan.config, grid->tint),
      .mark = rv_draw_ink(&draw->plan.config, grid->mark),
      .edge = rv_draw_ink(&draw->plan.config, grid->edge),
  };
  job.grid = &cells;
  return stages_of(draw)->grid(draw->object.work, &job);
}

RvStatus rv_draw_flush(RvDraw *draw, const RvPicture *picture, RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(job_of(draw, picture, stream, &job));
  const int count = draw->count;
  draw->count = 0;
  draw->full_logged = 0;
  job.shapes = draw->shapes;
  job.count = count;
  return count ? stages_of(draw)->shapes(draw->object.work, &job) : RV_OK;
}
