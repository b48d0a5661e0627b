/* SPDX-License-Identifier: MIT */
/* gstcudaannotate.c: element cudaannotate: which annotations are drawn how; cuda/draw draws. */

/**
 * SECTION:element-cudaannotate
 * @title: cudaannotate
 * @short_description: Draws annotations
 *
 * Draws what other elements attached to an image. The disparity (RvDisparityMeta) becomes a color
 * layer, from blue for far to red for near; invalid pixels are unchanged. A legend shows
 * which color is which disparity in px and, where the camera is known (RvCameraMeta, or the
 * properties focal-length and baseline), which depth in m. The scale stays the same over time.
 *
 * Draws on the GPU and on the CPU, in CUDA memory and in system memory, in place where the frame
 * belongs to nobody else; every way gives the same bits. With nothing to draw the element passes
 * buffers through.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudaannotate ! videoconvert ! autovideosink
 * ]| Disparity as colors over the left image, with a legend.
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudaannotate opacity=1 colormap=gray show=disparity !
 *   videoconvert ! autovideosink
 * ]| The disparity alone, in gray; invalid pixels are unchanged.
 *
 * Since: 0.1
 */
#include "gstcudaannotate.h"
#include "gstcudaannotate_layer.h"
#include "gstcudaannotate_road.h"
#include "gstcudaannotate_segments.h"
#include "gstcudaannotate_stixels.h"

#include "common/gstrvsettings.h"
#include "draw/draw.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

/* The layers of layers.def. */
#define RV_LAYER(name, text) extern const GstCudaAnnotateLayer gst_cuda_annotate_##name##_layer;
#include "layers.def"
#undef RV_LAYER

enum {
#define RV_LAYER(name, text) LAYER_##name,
#include "layers.def"
#undef RV_LAYER
  LAYERS
};

static const GstCudaAnnotateLayer *const layers[] = {
#define RV_LAYER(name, text) &gst_cuda_annotate_##name##_layer,
#include "layers.def"
#undef RV_LAYER
};

/* Values of the property `show` that are no layers of layers.def: bit, name and text. Lines were
 * there before the other layers: their bit, 4, stays. */
#define PARTS(X)                                                                                   \
  X(DISPARITY, 0, "disparity", "Color overlay of the disparity")                                   \
  X(LEGEND, 1, "legend", "Legend of the colors, in px and m")                                      \
  X(TEXT, 2, "text", "Text of the property text")                                                  \
  X(SEGMENTS, 3, "segments", "Segments of depth columns, instead of the disparity")                \
  X(STIXELS, 5, "stixels", "Stixels, instead of the disparity")                                    \
  X(ROAD, 6, "road", "Road and its training seeds, instead of the disparity")
enum {
#define FLAG(part, bit, name, text) SHOW_##part = 1 << (bit),
  PARTS(FLAG)
#undef FLAG
};
#define SHOW_LAYER(at) (1 << ((at) == 0 ? 4 : 6 + (at)))
#define SHOW_ALL ((1 << (LAYERS + 6)) - 1)

#define SEGMENTS_HIGH 128 /* px, colors of segments without a disparity */
/* Segments and stixels are drawn by way of rasters of the size that they were made for: up to
 * 3840x2160 px always, above that as long as the frame has a 16th of them. */
#define RASTER_ALWAYS (3840 * 2160)
#define RASTER_TIMES 16
#define REFERENCE_ROWS 1080 /* lengths in properties are px of a frame of this height */

/* bits of gst_rv_transform_once */
enum { ONCE_NO_DISPARITY, ONCE_BAD_DISPARITY, ONCE_ASPECT, ONCE_TOO_LARGE };

typedef struct Settings {
  guint show;
  RvColormap colormap;
  GstCudaAnnotateStixelColors stixel_colors;
  double opacity;
  int thickness;     /* px at REFERENCE_ROWS */
  int max_disparity; /* px, 0 = as annotated */
  double focal;      /* px, 0 = as annotated */
  double baseline;   /* m, 0 = as annotated */
  char *text;
} Settings;

struct _GstCudaAnnotate {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */
  int colormap;      /* of `draw` */

  RvDraw *draw;
  GstRvInput disparity; /* mapped while a frame is worked on */
  GstCudaAnnotateRasters segments;
  GstCudaAnnotateRasters stixels;
  GstCudaAnnotateRoad road;
  GstRvInput inputs[LAYERS];
};

G_DEFINE_TYPE(GstCudaAnnotate, gst_cuda_annotate, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudaannotate, "cudaannotate", GST_RANK_NONE, GST_TYPE_CUDA_ANNOTATE)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParamValue shows[] = {
#define VALUE(part, bit, name, text) {SHOW_##part, name, text},
    PARTS(VALUE)
#undef VALUE
#define RV_LAYER(name, text) {SHOW_LAYER(LAYER_##name), #name, text},
#include "layers.def"
#undef RV_LAYER
};

static const RvParam own[] = {
    GST_RV_TEXT("text", text, NULL,
                "Text in the upper left corner, ASCII; a newline starts a new line"),
    GST_RV_FLAGS("show", show, shows, SHOW_ALL, 0, NULL, NULL,
                 "Annotations to draw; without any, buffers pass through"),
    GST_RV_ENUM("colormap", colormap,
                GST_RV_VALUES({RV_COLORMAP_TURBO, "turbo", "Even steps from blue to red"},
                              {RV_COLORMAP_JET, "jet", "The classic colors from blue to red"},
                              {RV_COLORMAP_GRAY, "gray", "From black to white"}),
                RV_COLORMAP_TURBO, 0, NULL, NULL,
                "Colors of the disparity; GRAY8 frames are always drawn on in gray"),
    GST_RV_ENUM(
        "stixel-colors", stixel_colors,
        GST_RV_VALUES(
            {GST_CUDA_ANNOTATE_STIXELS_DISTANCE, "distance",
             "Disparity of the plane in the colors of colormap"},
            {GST_CUDA_ANNOTATE_STIXELS_CLASS, "class",
             "Semantic class if known, else structural class; stripes of 4 px of disparity"}),
        GST_CUDA_ANNOTATE_STIXELS_DISTANCE, RV_PARAM_LIVE, NULL, NULL,
        "Meaning of the colors of stixels"),
    GST_RV_DOUBLE("opacity", opacity, 0, 1, 0.6, RV_PARAM_LIVE, NULL,
                  "0 = frame only, 1 = colors only", "Opacity of color overlays"),
    GST_RV_INT("thickness", thickness, 1, 32, 2, RV_PARAM_LIVE, "px", NULL,
               "Width of drawn lines in frames of 1080 rows; scales with the height"),
    GST_RV_INT("max-disparity", max_disparity, 0, 4095, 0, RV_PARAM_LIVE, "px",
               "0 = the end of the searched range", "Disparity at the upper end of the colors"),
    GST_RV_DOUBLE("focal-length", focal, 0, 1e6, 0, RV_PARAM_LIVE, "px",
                  "0 = from the input's RvCameraMeta",
                  "Focal length of the disparity's image, for depths in the legend"),
    GST_RV_DOUBLE("baseline", baseline, 0, 1e3, 0, RV_PARAM_LIVE, "m",
                  "0 = from the input's RvCameraMeta",
                  "Distance between the cameras, for depths in the legend"),
};

static gboolean draws_anything(const Settings *settings) {
  const gboolean has_text = (settings->show & SHOW_TEXT) && settings->text && settings->text[0];
  return (settings->show & ~(guint)SHOW_TEXT) || has_text;
}

static void changed(GObject *object, const char *name) {
  GstCudaAnnotate *self = GST_CUDA_ANNOTATE(object);
  (void)name;
  GST_OBJECT_LOCK(self);
  const gboolean idle = !draws_anything(&self->settings);
  const gboolean rebuild = self->colormap != (int)self->settings.colormap;
  GST_OBJECT_UNLOCK(self);
  if (rebuild)
    gst_rv_transform_rebuild(GST_RV_TRANSFORM(self));
  gst_rv_transform_set_idle(GST_RV_TRANSFORM(self), idle);
}

static const GstRvSettings settings_table =
    GST_RV_SETTINGS_OWN(GstCudaAnnotate, Settings, own, changed);

/* --- Objects --------------------------------------------------------------------------------- */

static void release(GstRvTransform *base) {
  GstCudaAnnotate *self = GST_CUDA_ANNOTATE(base);
  rv_draw_free(&self->draw);
  gst_rv_input_clear(&self->disparity);
  gst_cuda_annotate_rasters_clear(&self->segments);
  gst_cuda_annotate_rasters_clear(&self->stixels);
  gst_cuda_annotate_road_clear(&self->road);
  for (int i = 0; i < LAYERS; i++)
    gst_rv_input_clear(&self->inputs[i]);
}

static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaAnnotate *self = GST_CUDA_ANNOTATE(base);
  const GstVideoInfo *info = &base->in_info;
  const GstVideoColorMatrix matrix = info->colorimetry.matrix;
  RvDrawConfig config;
  rv_draw_config_init(&config);
  config.width = GST_VIDEO_INFO_WIDTH(info);
  config.height = GST_VIDEO_INFO_HEIGHT(info);
  if (!gst_rv_pixel_format(GST_VIDEO_INFO_FORMAT(info), &config.format)) {
    gst_rv_log_line(&work->log, "%s is not a supported pixel format", GST_VIDEO_INFO_NAME(info));
    return RV_ERR_ARG;
  }
  GST_OBJECT_LOCK(self);
  config.colormap = self->settings.colormap;
  self->colormap = (int)config.colormap;
  GST_OBJECT_UNLOCK(self);
  if (config.format == RV_PIXEL_GRAY8) /* the luma of colors would not rise with disparity */
    config.colormap = RV_COLORMAP_GRAY;
  /* BT.2020's luma weights lie next to those of BT.709. */
  config.bt709 = matrix == GST_VIDEO_COLOR_MATRIX_BT709 || matrix == GST_VIDEO_COLOR_MATRIX_BT2020;
  config.full_range = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  config.threads = work->threads;
  config.log = work->log;
  RvDraw *draw = NULL;
  const RvStatus status = rv_draw_new(&draw, &config, work->engine);
  if (status != RV_OK)
    return status;
  release(base);
  self->draw = draw;
  return RV_OK;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Says once what keeps the disparity from being drawn. */
static gboolean find_disparity(GstCudaAnnotate *self, GstBuffer *buffer, RvMetaDisparity *meta) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  if (!rv_meta_get_disparity(buffer, meta)) {
    GError *error = NULL;
    rv_meta_check(buffer, RV_META_DISPARITY, &error);
    if (error && gst_rv_transform_once(base, ONCE_BAD_DISPARITY))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The disparity annotation is not drawn: %s.", error->message),
                          ("RvDisparityMeta needs a payload of GRAY16_LE with GstVideoMeta."));
    if (!error && gst_rv_transform_once(base, ONCE_NO_DISPARITY))
      GST_ELEMENT_WARNING(
          self, STREAM, FORMAT, ("The frame has no disparity to draw."),
          ("Add cudasgm upstream of cudaannotate, or remove disparity and legend from "
           "the property show."));
    g_clear_error(&error);
    return FALSE;
  }
  const GstVideoInfo *info = &base->in_info;
  const double picture = (double)GST_VIDEO_INFO_WIDTH(info) / GST_VIDEO_INFO_HEIGHT(info);
  const double disparity = (double)meta->width / meta->height;
  if ((picture > 1.02 * disparity || disparity > 1.02 * picture) &&
      gst_rv_transform_once(base, ONCE_ASPECT))
    GST_ELEMENT_WARNING(
        self, STREAM, FORMAT,
        ("The disparity belongs to a frame of %dx%d px, this one has %dx%d: "
         "it is stretched and may not fit.",
         meta->width, meta->height, GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info)),
        ("Crop, flip or rotate upstream of cudasgm or downstream of cudaannotate."));
  return TRUE;
}

/* Ends of the color scale, px; within the range of u16, whatever the annotation specifies. */
static void scale_of(const Settings *settings, const RvMetaDisparity *meta, int *low, int *high) {
  *low = CLAMP(meta->min_disparity, 0, G_MAXUINT16 - 1);
  *high = *low + CLAMP(meta->disparities, 1, G_MAXUINT16 - *low);
  if (settings->max_disparity > 0) {
    *low = *low < settings->max_disparity ? *low : 0;
    *high = settings->max_disparity;
  }
}

static int opacity_of(const Settings *settings) {
  return (int)(settings->opacity * 255.0 + 0.5);
}

static RvStatus draw_disparity(GstCudaAnnotate *self, const GstRvExecContext *work,
                               const GstRvJob *job, const Settings *settings,
                               const RvMetaDisparity *meta) {
  int low, high;
  scale_of(settings, meta, &low, &high);
  const gint64 top = MIN((gint64)high * meta->scale, G_MAXUINT16);
  const gint64 bottom = MIN((gint64)low * meta->scale, top - 1);
  const RvStatus status = gst_rv_input_map(&self->disparity, work, meta->payload);
  if (status != RV_OK)
    return status;
  return rv_draw_disparity(self->draw, job->in_picture, &self->disparity.plane, (int)bottom,
                           (int)top, opacity_of(settings), work->stream);
}

/* The colors of segments and stixels: those of the disparity where there is one, else up to
 * SEGMENTS_HIGH px. */
static GstCudaAnnotateStyle style_of(const GstRvJob *job, const Settings *settings) {
  RvMetaDisparity meta = {.disparities = SEGMENTS_HIGH};
  int low, high;
  if (!rv_meta_get_disparity(job->in, &meta))
    meta = (RvMetaDisparity){.disparities = SEGMENTS_HIGH};
  scale_of(settings, &meta, &low, &high);
  const int top = MIN(high * 16, G_MAXUINT16);
  return (GstCudaAnnotateStyle){MIN(low * 16, top - 1), top, opacity_of(settings)};
}

/* Whoever attached it may have written any size: memory for it is taken within reason. */
static gboolean fits_picture(GstCudaAnnotate *self, const char *what, int width, int height) {
  const GstVideoInfo *info = &GST_RV_TRANSFORM(self)->in_info;
  const gint64 picture = (gint64)GST_VIDEO_INFO_WIDTH(info) * GST_VIDEO_INFO_HEIGHT(info);
  if ((gint64)width * height <= MAX(RASTER_ALWAYS, RASTER_TIMES * picture))
    return TRUE;
  if (gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_TOO_LARGE))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The %s belong to a frame of %dx%d px, too large to be drawn on one "
                         "of %dx%d.",
                         what, width, height, GST_VIDEO_INFO_WIDTH(info),
                         GST_VIDEO_INFO_HEIGHT(info)),
                        ("Draw before the frame is scaled down, or remove %s from the property "
                         "show.",
                         what));
  return FALSE;
}

static RvStatus draw_segments(GstCudaAnnotate *self, const GstRvExecContext *work,
                              const GstRvJob *job, const Settings *settings,
                              const RvMetaSegments *segments) {
  const GstCudaAnnotateStyle style = style_of(job, settings);
  return gst_cuda_annotate_segments_draw(&self->segments, work, self->draw, job->in_picture,
                                         segments, &style);
}

static RvStatus draw_stixels(GstCudaAnnotate *self, const GstRvExecContext *work,
                             const GstRvJob *job, const Settings *settings,
                             const RvMetaStixels *stixels) {
  const GstCudaAnnotateStyle style = style_of(job, settings);
  return gst_cuda_annotate_stixels_draw(&self->stixels, work, self->draw, job->in_picture, stixels,
                                        settings->stixel_colors, &style);
}

static int thickness_fx(const GstCudaAnnotate *self, const Settings *settings) {
  const int rows = GST_VIDEO_INFO_HEIGHT(&GST_RV_TRANSFORM(self)->in_info);
  return CLAMP(16 * settings->thickness * rows / REFERENCE_ROWS, 1, 4096);
}

static RvStatus draw_legend(GstCudaAnnotate *self, const GstRvJob *job, const Settings *settings,
                            const RvMetaDisparity *meta) {
  RvCamera camera;
  int width = 0, height = 0, low, high;
  scale_of(settings, meta, &low, &high);
  if (rv_meta_get_camera(job->in, &camera, &width, &height)) {
    camera.focal *= (double)meta->width / width;
    camera.doffs *= (double)meta->width / width;
  }
  camera.focal = settings->focal > 0.0 ? settings->focal : camera.focal;
  camera.baseline = settings->baseline > 0.0 ? settings->baseline : camera.baseline;
  /* Numbers that no camera has: the legend does without meters. */
  const double most = 1e12, depth = camera.focal * camera.baseline;
  const gboolean sane = depth > 0.0 && depth < most && ABS(camera.doffs) < most;
  const RvDrawLegend legend = {low, high, sane ? depth : 0.0, sane ? camera.doffs : 0.0,
                               thickness_fx(self, settings)};
  return rv_draw_legend(self->draw, &legend);
}

/* What there is to draw on an image. */
typedef struct Found {
  gboolean disparity, segments, stixels, road;
  RvMetaDisparity disparity_meta;
  RvMetaSegments segments_meta;
  RvMetaStixels stixels_meta;
  RvMetaRoad road_meta;
} Found;

/* TRUE for frames that a layer draws on, which need no disparity. */
static gboolean has_layer(GstBuffer *buffer, guint show) {
  for (int i = 0; i < LAYERS; i++)
    if ((show & SHOW_LAYER(i)) && layers[i]->annotation &&
        rv_meta_find(buffer, layers[i]->annotation))
      return TRUE;
  return FALSE;
}

static void find(GstCudaAnnotate *self, GstBuffer *buffer, guint show, Found *found) {
  found->road = (show & SHOW_ROAD) && rv_meta_get_road(buffer, &found->road_meta);
  const gboolean is_enough = found->road || has_layer(buffer, show);
  found->disparity = (show & (SHOW_DISPARITY | SHOW_LEGEND)) &&
                     (!is_enough || rv_meta_find(buffer, RV_META_DISPARITY)) &&
                     find_disparity(self, buffer, &found->disparity_meta);
  found->segments =
      (show & SHOW_SEGMENTS) && rv_meta_get_segments(buffer, &found->segments_meta) &&
      fits_picture(self, "segments", found->segments_meta.width, found->segments_meta.height);
  found->stixels =
      (show & SHOW_STIXELS) && rv_meta_get_stixels(buffer, &found->stixels_meta) &&
      fits_picture(self, "stixels", found->stixels_meta.width, found->stixels_meta.height);
}

/* One layer of colors; the road lies over stixels and segments, and in place of the disparity. */
static RvStatus draw_layers(GstCudaAnnotate *self, const GstRvExecContext *work,
                            const GstRvJob *job, const Settings *settings, const Found *found) {
  RvStatus status = RV_OK;
  if (found->stixels)
    status = draw_stixels(self, work, job, settings, &found->stixels_meta);
  else if (found->segments)
    status = draw_segments(self, work, job, settings, &found->segments_meta);
  else if (found->disparity && !found->road && (settings->show & SHOW_DISPARITY))
    status = draw_disparity(self, work, job, settings, &found->disparity_meta);
  if (status == RV_OK && found->road)
    status = gst_cuda_annotate_road_draw(
        &self->road, work, self->draw, job->in_picture, &found->road_meta,
        (thickness_fx(self, settings) + 15) / 16, opacity_of(settings));
  return status;
}

/* Further layers, legends and text, drawn over the layers of colors. */
static RvStatus draw_shapes(GstCudaAnnotate *self, const GstRvExecContext *work,
                            const GstRvJob *job, const Settings *settings, const Found *found) {
  const gboolean legend = (settings->show & SHOW_LEGEND) != 0;
  /* Colors of classes are none of the legend's. */
  const gboolean colors = found->stixels
                              ? settings->stixel_colors == GST_CUDA_ANNOTATE_STIXELS_DISTANCE
                              : found->segments || !found->road;
  RvStatus status = RV_OK;
  const GstCudaAnnotateView view = {work,    self->draw,           job->in_picture,
                                    job->in, opacity_of(settings), thickness_fx(self, settings)};
  for (int i = 0; status == RV_OK && i < LAYERS; i++)
    if (settings->show & SHOW_LAYER(i))
      status = layers[i]->draw(&self->inputs[i], &view);
  if (status == RV_OK && legend && found->disparity && colors)
    status = draw_legend(self, job, settings, &found->disparity_meta);
  if (status == RV_OK && legend && found->road)
    status = gst_cuda_annotate_road_keys(self->draw, opacity_of(settings));
  return status;
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaAnnotate *self = GST_CUDA_ANNOTATE(base);
  GST_OBJECT_LOCK(self);
  const Settings settings = self->settings;
  char *text = (settings.show & SHOW_TEXT) ? g_strdup(settings.text) : NULL;
  GST_OBJECT_UNLOCK(self);
  Found found;
  find(self, job->in, settings.show, &found);
  RvStatus status = draw_layers(self, work, job, &settings, &found);
  if (status == RV_OK)
    status = draw_shapes(self, work, job, &settings, &found);
  if (status == RV_OK && text)
    status = rv_draw_caption(self->draw, text);
  if (status == RV_OK)
    status = rv_draw_flush(self->draw, job->in_picture, work->stream);
  g_free(text);
  return status;
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  gst_rv_input_unmap(&GST_CUDA_ANNOTATE(base)->disparity);
  gst_cuda_annotate_rasters_unmap(&GST_CUDA_ANNOTATE(base)->segments);
  gst_cuda_annotate_rasters_unmap(&GST_CUDA_ANNOTATE(base)->stixels);
  gst_cuda_annotate_road_unmap(&GST_CUDA_ANNOTATE(base)->road);
  for (int i = 0; i < LAYERS; i++)
    gst_rv_input_unmap(&GST_CUDA_ANNOTATE(base)->inputs[i]);
  return RV_OK;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_annotate_class_init(GstCudaAnnotateClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_element(base, "cudaannotate", &settings_table);
  base->in_place = TRUE;
  base->picture = GST_MAP_READWRITE;
  base->memory = GST_RV_MEMORY_DOWNLOADS;
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  char *caps = gst_rv_transform_caps_string(FALSE, "");
  gst_rv_transform_class_add_templates(base, caps, caps);
  g_free(caps);
}

static void gst_cuda_annotate_init(GstCudaAnnotate *self) {}
