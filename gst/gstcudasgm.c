/* SPDX-License-Identifier: MIT */
/* gstcudasgm.c: element cudasgm: caps, buffers and annotations; cuda/sgm does the work. */

/**
 * SECTION:element-cudasgm
 * @title: cudasgm
 * @short_description: Stereo depth by semi-global matching
 *
 * Turns a frame-packed, rectified stereo pair into its left view and attaches the disparity to it
 * (RvDisparityMeta: u16 in 1/16 px, 0 = invalid). Uses the GPU if there is one and the CPU
 * otherwise; both give the same bits. GRAY8 pairs become NV12 unless downstream accepts GRAY8 only.
 *
 * With output=disparity or output=depth the frame itself is the result, as GRAY16_LE in system
 * memory; 0 = invalid.
 *
 * The views must be rectified: a point lies on the same row in both, and the right camera is to the
 * right of the left one. A warning reports a low match rate and its likely cause.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc num-buffers=300 ! cudasgm ! cudaannotate ! videoconvert !
 *   autovideosink
 * ]| A rendered street with its disparity as an overlay.
 * |[
 * gst-launch-1.0 filesrc location=pair.mkv ! decodebin ! cudaupload ! cudasgm layout=side-by-side
 *   focal-length=721.5 baseline=0.54 ! cudaannotate ! cudadownload ! videoconvert ! autovideosink
 * ]| A recorded pair with a known camera, on the GPU.
 * |[
 * gst-launch-1.0 stereotestsrc num-buffers=1 ! cudasgm output=depth ! videoconvert ! pngenc !
 *   filesink location=depth.png
 * ]| Depth in mm as a 16-bit PNG.
 *
 * Since: 0.1
 */
#include "gstcudasgm.h"

#include <string.h>

#include "convert/convert.h"
#include "depth/depth.h"
#include "common/gstrvsettings.h"
#include "gstcudasgm_layout.h"
#include "sgm/sgm.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_sgm_debug);
#define GST_CAT_DEFAULT gst_cuda_sgm_debug

/* Low match rate: checked on every fifth frame, in a sample of rows, until 30 frames were poor. */
#define SAMPLE_EVERY 5
#define SAMPLE_ROWS 48
#define POOR_PERCENT 30
#define POOR_SAMPLES 6

/* bits of gst_rv_transform_once */
enum { ONCE_POOR_MATCH };

typedef struct Settings {
  RvSgmConfig config; /* size, threads and log are filled in by configure */
  GstCudaSgmLayout layout;
  GstCudaSgmOutput output;
  double focal, baseline, cx, cy; /* px, m, px, px; 0 = not set */
  int disparity_scale;            /* values per px of GRAY16 output */
} Settings;

struct _GstCudaSgm {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */

  Settings used; /* settings of the objects below */
  GstCudaSgmViews views;
  RvEngine engine;
  RvSgm *sgm;
  RvPlane left, right; /* gray */
  GstBufferPool *disparities, *confidences;

  GstRvPayload disparity, confidence; /* of the current frame */
  guint16 *sample;                    /* rows of the disparity, on the host */
  int sample_rows;                    /* 0: not sampled */
  guint frames, poor;
};

G_DEFINE_TYPE(GstCudaSgm, gst_cuda_sgm, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudasgm, "cudasgm", GST_RANK_NONE, GST_TYPE_CUDA_SGM)

/* --- Properties and caps --------------------------------------------------------------------- */

static const RvParamValue layouts[] = {
    {GST_CUDA_SGM_LAYOUT_AUTO, "auto", "multiview-mode of the caps, else from the aspect ratio"},
    {GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE, "side-by-side", "left | right"},
    {GST_CUDA_SGM_LAYOUT_TOP_BOTTOM, "top-bottom", "left above right"},
    {GST_CUDA_SGM_LAYOUT_SIDE_BY_SIDE_RIGHT_FIRST, "side-by-side-right-first", "right | left"},
    {GST_CUDA_SGM_LAYOUT_TOP_BOTTOM_RIGHT_FIRST, "top-bottom-right-first", "right above left"},
};
static const RvParamValue outputs[] = {
    {GST_CUDA_SGM_OUTPUT_PICTURE, "picture", "left view with the disparity attached"},
    {GST_CUDA_SGM_OUTPUT_DISPARITY, "disparity",
     "disparity as GRAY16_LE in system memory, 0 = invalid"},
    {GST_CUDA_SGM_OUTPUT_DEPTH, "depth",
     "depth in mm as GRAY16_LE in system memory, 0 = invalid; requires a known camera"},
};

static const RvParam own[] = {
    {.name = "layout",
     .text = "Packing of the two views in a frame",
     .type = RV_PARAM_ENUM,
     .offset = offsetof(Settings, layout),
     .values = layouts,
     .value_count = G_N_ELEMENTS(layouts),
     .value = GST_CUDA_SGM_LAYOUT_AUTO},
    {.name = "output",
     .text = "Output type; the annotations are attached in all cases",
     .type = RV_PARAM_ENUM,
     .offset = offsetof(Settings, output),
     .values = outputs,
     .value_count = G_N_ELEMENTS(outputs),
     .value = GST_CUDA_SGM_OUTPUT_PICTURE},
    {.name = "focal-length",
     .text = "Focal length of the rectified cameras",
     .unit = "px",
     .note = "0 = value from RvCameraMeta",
     .type = RV_PARAM_DOUBLE,
     .offset = offsetof(Settings, focal),
     .high = 1e6},
    {.name = "baseline",
     .text = "Distance between the cameras",
     .unit = "m",
     .note = "0 = value from RvCameraMeta",
     .type = RV_PARAM_DOUBLE,
     .offset = offsetof(Settings, baseline),
     .high = 1e3},
    {.name = "cx",
     .text = "Column of the principal point of the left view",
     .unit = "px",
     .note = "0 = value from RvCameraMeta, else the image center",
     .type = RV_PARAM_DOUBLE,
     .offset = offsetof(Settings, cx),
     .high = 1e6},
    {.name = "cy",
     .text = "Row of the principal point of the left view",
     .unit = "px",
     .note = "0 = value from RvCameraMeta, else the image center",
     .type = RV_PARAM_DOUBLE,
     .offset = offsetof(Settings, cy),
     .high = 1e6},
    {.name = "disparity-scale",
     .text = "Values per px of disparity with output=disparity",
     .note = "(min-disparity + disparities) x scale must not exceed 65535",
     .type = RV_PARAM_INT,
     .offset = offsetof(Settings, disparity_scale),
     .low = 1,
     .high = 2048,
     .value = RV_SGM_SCALE},
};

/* A new layout or output changes the caps, too. */
static void settings_changed(GObject *object, const char *name) {
  gst_rv_transform_changed(object, name);
  if (strcmp(name, "layout") == 0 || strcmp(name, "output") == 0)
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
}

static const GstRvSettings settings = {
    .type = "GstCudaSgm",
    .params = rv_sgm_params,
    .config = offsetof(Settings, config),
    .own = own,
    .own_count = G_N_ELEMENTS(own),
    .place = G_STRUCT_OFFSET(GstCudaSgm, settings),
    .changed = settings_changed,
};

static Settings get_settings(GstCudaSgm *self) {
  GST_OBJECT_LOCK(self);
  const Settings copy = self->settings;
  GST_OBJECT_UNLOCK(self);
  return copy;
}

static void transform_structure(GstRvTransform *base, GstPadDirection direction,
                                GstStructure *structure, GstCapsFeatures *features,
                                GstCaps *result) {
  const Settings set = get_settings(GST_CUDA_SGM(base));
  gst_cuda_sgm_transform_structure(set.layout, set.output, direction, structure, features, result);
}

static gboolean check_caps(GstRvTransform *base, GstCaps *caps, const GstVideoInfo *info) {
  GstCudaSgmViews views;
  char *cause = NULL, *remedy = NULL;
  const Settings set = get_settings(GST_CUDA_SGM(base));
  if (gst_cuda_sgm_locate_views(set.layout, info, &views, &cause, &remedy))
    return TRUE;
  GST_ELEMENT_ERROR(base, STREAM, FORMAT, ("%s.", cause), ("%s", remedy));
  g_free(cause);
  g_free(remedy);
  return FALSE;
}

/* --- Objects --------------------------------------------------------------------------------- */

static void release(GstRvTransform *base) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  rv_sgm_free(&self->sgm);
  rv_buffer_free(&self->left.data, self->engine);
  rv_buffer_free(&self->right.data, self->engine);
  gst_rv_payload_pool_free(&self->disparities);
  gst_rv_payload_pool_free(&self->confidences);
  g_clear_pointer(&self->sample, g_free);
  self->frames = self->poor = 0;
}

static RvStatus new_gray(RvPlane *plane, const GstCudaSgmViews *views, RvEngine engine) {
  plane->format = RV_U8;
  plane->width = views->width;
  plane->height = views->height;
  plane->stride = gst_rv_raster_stride(RV_U8, views->width);
  return rv_buffer_new(&plane->data, gst_rv_raster_bytes(RV_U8, views->width, views->height),
                       engine);
}

/* All objects for `used` and `views`; after a failure release frees those that exist. */
static RvStatus make_objects(GstCudaSgm *self, const GstRvExecContext *work,
                             const RvSgmConfig *config) {
  GstRvDevice *device = work->engine == RV_CUDA ? work->device : NULL;
  self->engine = work->engine;
  const int width = config->width, height = config->height;
  RvStatus status = rv_sgm_new(&self->sgm, config, work->engine);
  if (status == RV_OK)
    status = new_gray(&self->left, &self->views, work->engine);
  if (status == RV_OK)
    status = new_gray(&self->right, &self->views, work->engine);
  if (status != RV_OK) {
    gst_rv_log_line(&work->log, "%dx%d px with %d disparities require %.0f MiB", width, height,
                    config->disparities,
                    (double)rv_sgm_workspace(config, work->engine) / (1 << 20));
    return status;
  }
  self->disparities = gst_rv_payload_pool_new(device, gst_rv_raster_bytes(RV_U16, width, height));
  if (config->confidence)
    self->confidences = gst_rv_payload_pool_new(device, gst_rv_raster_bytes(RV_U8, width, height));
  self->sample = g_new(guint16, (gsize)width * SAMPLE_ROWS);
  return self->disparities && (self->confidences || !config->confidence) ? RV_OK : RV_ERR_NO_MEMORY;
}

/* Rules between properties that the library does not know. */
static RvStatus check_settings(const Settings *set, const RvSgmConfig *config) {
  const RvStatus status = rv_sgm_config_check(config);
  if (status != RV_OK)
    return status;
  const int end = config->min_disparity + config->disparities;
  if (set->output == GST_CUDA_SGM_OUTPUT_DISPARITY &&
      (gint64)end * set->disparity_scale > G_MAXUINT16) {
    gst_rv_log_line(
        &config->log,
        "(min-disparity + disparities) x disparity-scale = %d x %d exceeds 65535: lower "
        "disparity-scale to %d",
        end, set->disparity_scale, G_MAXUINT16 / end);
    return RV_ERR_ARG;
  }
  return RV_OK;
}

/* FALSE when layout or output have changed and the caps not yet: a new caps event follows. */
static gboolean settings_fit_caps(const GstRvTransform *base, const Settings *set,
                                  const GstCudaSgmViews *views) {
  const gboolean gray16 = GST_VIDEO_INFO_FORMAT(&base->out_info) == GST_VIDEO_FORMAT_GRAY16_LE;
  return gray16 == (set->output != GST_CUDA_SGM_OUTPUT_PICTURE) &&
         views->width == GST_VIDEO_INFO_WIDTH(&base->out_info) &&
         views->height == GST_VIDEO_INFO_HEIGHT(&base->out_info);
}

static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  const Settings set = get_settings(self);
  GstCudaSgmViews views;
  char *cause = NULL, *remedy = NULL;
  const gboolean placed =
      gst_cuda_sgm_locate_views(set.layout, &base->in_info, &views, &cause, &remedy);
  if (!placed)
    gst_rv_log_line(&work->log, "%s", cause);
  g_free(cause);
  g_free(remedy);
  if (!placed)
    return RV_ERR_ARG;
  if (!settings_fit_caps(base, &set, &views)) {
    GST_DEBUG_OBJECT(self, "layout or output changed: waiting for new caps");
    gst_rv_transform_rebuild(base);
    return self->sgm ? RV_OK : RV_ERR_ARG;
  }
  RvSgmConfig config = set.config;
  config.width = views.width;
  config.height = views.height;
  config.threads = work->threads;
  config.log = work->log;
  const RvStatus status = check_settings(&set, &config);
  if (status != RV_OK)
    return status;
  release(base);
  self->used = set;
  self->views = views;
  GST_DEBUG_OBJECT(self, "%dx%d px, %d disparities from %d, %d paths, engine %s", views.width,
                   views.height, config.disparities, config.min_disparity, config.paths,
                   gst_rv_engine_name(work->engine));
  return make_objects(self, work, &config);
}

/* --- One frame ------------------------------------------------------------------------------- */

/* The camera of the input, scaled to the size of the view; properties override its fields. */
static void attach_camera(GstCudaSgm *self, const GstRvJob *job) {
  RvCamera camera;
  int w = 0, h = 0;
  const Settings *used = &self->used;
  const gboolean known = rv_meta_get_camera(job->in, &camera, &w, &h);
  if (known) {
    const double sx = (double)self->views.width / w, sy = (double)self->views.height / h;
    camera.focal *= sx;
    camera.cx *= sx;
    camera.doffs *= sx;
    camera.cy *= sy;
  }
  if (!known && used->focal == 0 && used->baseline == 0)
    return;
  if (camera.focal == 0) { /* then the principal point is unknown, too */
    camera.cx = (self->views.width - 1) / 2.0;
    camera.cy = (self->views.height - 1) / 2.0;
  }
  camera.focal = used->focal > 0 ? used->focal : camera.focal;
  camera.baseline = used->baseline > 0 ? used->baseline : camera.baseline;
  camera.cx = used->cx > 0 ? used->cx : camera.cx;
  camera.cy = used->cy > 0 ? used->cy : camera.cy;
  rv_meta_add_camera(job->out, self->views.width, self->views.height, &camera);
}

static RvStatus begin_payloads(GstCudaSgm *self) {
  const int w = self->views.width, h = self->views.height;
  RvStatus status = gst_rv_payload_begin(&self->disparity, self->disparities, RV_U16, w, h);
  if (status == RV_OK && self->confidences)
    status = gst_rv_payload_begin(&self->confidence, self->confidences, RV_U8, w, h);
  return status;
}

/* Copies some rows of the disparity to the host, evenly spread. */
static RvStatus take_sample(GstCudaSgm *self, const GstRvExecContext *work) {
  const RvPlane *plane = &self->disparity.plane;
  const int step = (plane->height + SAMPLE_ROWS - 1) / SAMPLE_ROWS;
  self->sample_rows = 0;
  if (++self->frames % SAMPLE_EVERY || self->poor >= POOR_SAMPLES)
    return RV_OK;
  self->sample_rows = (plane->height + step - 1) / step;
  const size_t row = (size_t)plane->width * sizeof *self->sample;
  return rv_copy_rows(self->sample, (ptrdiff_t)row, RV_CPU, plane->data, plane->stride * step,
                      work->engine, row, self->sample_rows, work->stream);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  const GstCudaSgmViews *views = &self->views;
  RvStatus status = rv_convert_gray(job->in_picture, views->left_x, views->left_y, &self->left,
                                    work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = rv_convert_gray(job->in_picture, views->right_x, views->right_y, &self->right,
                             work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK && job->out_picture)
    status = rv_convert_crop(job->in_picture, views->left_x, views->left_y, job->out_picture,
                             work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = begin_payloads(self);
  if (status == RV_OK)
    status = rv_sgm_run(self->sgm, &self->left, &self->right, &self->disparity.plane,
                        self->confidences ? &self->confidence.plane : NULL, work->stream);
  return status == RV_OK ? take_sample(self, work) : status;
}

/* Writes disparity or depth into a GRAY16_LE frame. */
static RvStatus write_frame(GstCudaSgm *self, const GstRvExecContext *work, GstBuffer *payload,
                            GstBuffer *out) {
  RvCamera camera = {0};
  int w = 0, h = 0;
  const gboolean depth = self->used.output == GST_CUDA_SGM_OUTPUT_DEPTH;
  if (depth &&
      (!rv_meta_get_camera(out, &camera, &w, &h) || camera.focal <= 0 || camera.baseline <= 0)) {
    gst_rv_log_line(&work->log, "output=depth requires the camera: set focal-length (px) and "
                                "baseline (m)");
    return RV_ERR_ARG;
  }
  RvMetaMap map;
  if (!rv_meta_map_buffer(&map, payload, GST_MAP_READ)) {
    gst_rv_log_line(&work->log, "failed to download the disparity");
    return RV_ERR_IO;
  }
  GstVideoFrame frame;
  RvStatus status = RV_ERR_IO;
  if (gst_video_frame_map(&frame, &GST_RV_TRANSFORM(self)->out_info, out, GST_MAP_WRITE)) {
    const RvPlane plane = {GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                           GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), self->views.width,
                           self->views.height, RV_U16};
    status = depth ? rv_depth_mm(&map.plane, &camera, &plane, &work->log)
                   : rv_depth_rescale(&map.plane, self->used.disparity_scale, &plane, &work->log);
    gst_video_frame_unmap(&frame);
  }
  rv_meta_unmap(&map);
  return status;
}

/* Posts the match rate and its likely cause. */
static void warn_poor_match(GstCudaSgm *self, const GstRvExecContext *work, int percent) {
  const gsize bytes = gst_rv_raster_bytes(RV_U8, self->views.width, self->views.height);
  RvPlane left = self->left, right = self->right;
  const size_t row = (size_t)left.width;
  left.data = g_malloc(bytes);
  right.data = g_malloc(bytes);
  RvPairReport report = {RV_PAIR_UNKNOWN, 0, 0, 0, 0};
  RvStatus status = rv_copy_rows(left.data, left.stride, RV_CPU, self->left.data, left.stride,
                                 work->engine, row, left.height, NULL);
  if (status == RV_OK)
    status = rv_copy_rows(right.data, right.stride, RV_CPU, self->right.data, right.stride,
                          work->engine, row, right.height, NULL);
  const RvSgmConfig *config = &self->used.config;
  if (status == RV_OK)
    rv_pair_diagnose(&left, &right, config->min_disparity, config->disparities, &report, NULL);
  g_free(left.data);
  g_free(right.data);
  char likely[160] = "cause unknown: little texture, or views that differ too much";
  const char *remedy =
      "Compare both views: exposure, focus, dirt on the lens, and whether they belong "
      "together.";
  if (report.fault == RV_PAIR_ROWS) {
    g_snprintf(
        likely, sizeof likely,
        "the pair is probably not rectified: vertical misalignment, the right view is %d rows "
        "too %s",
        ABS(report.row_offset), report.row_offset > 0 ? "low" : "high");
    remedy = "Rectify the views upstream of cudasgm (OpenCV's stereoRectify and remap, or the "
             "camera's own setting), or align the cameras.";
  } else if (report.fault == RV_PAIR_SWAPPED) {
    g_snprintf(likely, sizeof likely, "left and right are probably swapped");
    remedy = self->views.top_bottom ? "Set layout to the other one of top-bottom and "
                                      "top-bottom-right-first."
                                    : "Set layout to the other one of side-by-side and "
                                      "side-by-side-right-first.";
  } else if (report.fault == RV_PAIR_RANGE) {
    g_snprintf(likely, sizeof likely,
               "the disparity search range %d..%d px is probably wrong: matches are near %d px",
               config->min_disparity, config->min_disparity + config->disparities - 1,
               report.disparity);
    remedy = "Set disparities and min-disparity to a range that contains that value.";
  }
  GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("Match rate of only %d %%; %s.", percent, likely),
                      ("%s", remedy));
}

static void check_match_rate(GstCudaSgm *self, const GstRvExecContext *work) {
  if (self->sample_rows == 0)
    return;
  const gint64 pixels = (gint64)self->sample_rows * self->views.width;
  gint64 valid = 0;
  for (gint64 i = 0; i < pixels; i++)
    valid += self->sample[i] != RV_SGM_INVALID;
  const int percent = (int)(100 * valid / pixels);
  self->poor = percent < POOR_PERCENT ? self->poor + 1 : 0;
  if (self->poor == POOR_SAMPLES && gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_POOR_MATCH))
    warn_poor_match(self, work, percent);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job,
                       gboolean ok) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  if (!ok) {
    gst_rv_payload_drop(&self->disparity);
    gst_rv_payload_drop(&self->confidence);
    return RV_OK;
  }
  const RvSgmConfig *config = &self->used.config;
  RvMetaDisparity meta = {self->views.width,
                          self->views.height,
                          RV_SGM_SCALE,
                          config->min_disparity,
                          config->disparities,
                          NULL,
                          NULL};
  meta.payload = gst_rv_payload_end(&self->disparity);
  meta.confidence = gst_rv_payload_end(&self->confidence);
  GstBuffer *payload = meta.payload;
  rv_meta_add_disparity(job->out, &meta);
  attach_camera(self, job);
  check_match_rate(self, work);
  return self->used.output == GST_CUDA_SGM_OUTPUT_PICTURE
             ? RV_OK
             : write_frame(self, work, payload, job->out);
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_sgm_class_init(GstCudaSgmClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_sgm_debug, "cudasgm", 0, "stereo depth");
  gst_rv_settings_install(&settings, G_OBJECT_CLASS(klass));
  base->picture = GST_MAP_READ;
  base->annotation = RV_META_DISPARITY;
  base->refused =
      "output=picture provides the left view; output=disparity and output=depth provide "
      "GRAY16_LE in system memory. Set output, or replace the downstream element.";
  base->check_caps = check_caps;
  base->transform_structure = transform_structure;
  base->configure = configure;
  base->process = process;
  base->finish = finish;
  base->release = release;
  char *all = gst_rv_transform_caps_string();
  char *src = g_strconcat(all,
                          "; video/x-raw, format=GRAY16_LE, width=[1,16384], height=[1,16384], "
                          "framerate=[0/1,2147483647/1]",
                          NULL);
  gst_rv_transform_class_add_templates(base, NULL, src);
  g_free(src);
  g_free(all);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass),
                                        "Stereo depth by semi-global matching",
                                        "Filter/Analyzer/Video/Hardware",
                                        "Turns a frame-packed, rectified stereo pair into the left "
                                        "view with its disparity attached (RvDisparityMeta), or "
                                        "into a disparity or depth map",
                                        "gst-roadvision");
}

static void gst_cuda_sgm_init(GstCudaSgm *self) {
  gst_rv_settings_init(self, &settings);
}
