/* SPDX-License-Identifier: MIT */
/* gstcudasgm.c: element cudasgm: caps, buffers and annotations round cuda/sgm. */

/**
 * SECTION:element-cudasgm
 * @title: cudasgm
 * @short_description: Stereo depth by semi-global matching
 *
 * Turns a frame-packed, rectified stereo pair into its left picture and attaches the disparity to
 * it (RvDisparityMeta: u16 in 1/16 px, 0 = no value). Works on the GPU when there is one and on the
 * CPU otherwise; both give the same bits. GRAY8 pairs leave as NV12 unless downstream insists on
 * GRAY8.
 *
 * With output=disparity or output=depth the frame itself is the result, as GRAY16_LE in system
 * memory; 0 = no value.
 *
 * The pictures must be rectified: a point lies on the same row in both, and the right camera stands
 * to the right of the left one. A warning says so when hardly any pixel finds a match.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc num-buffers=300 ! cudasgm ! cudaannotate ! videoconvert !
 * autovideosink
 * ]| A rendered street, its disparity drawn over it.
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
#include "gstcudasgm_settings.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_sgm_debug);
#define GST_CAT_DEFAULT gst_cuda_sgm_debug

/* Few matches: looked at on every fifth frame, in a sample of rows, until 30 frames were poor. */
#define SAMPLE_EVERY 5
#define SAMPLE_ROWS 48
#define POOR_PERCENT 30
#define POOR_SAMPLES 6

/* bits of gst_rv_transform_once */
enum { ONCE_POOR_MATCH };

struct _GstCudaSgm {
  GstRvTransform parent;

  GstCudaSgmSettings settings; /* properties, guarded by the object lock */

  GstCudaSgmSettings used; /* what the objects below were made for */
  GstCudaSgmViews eyes;
  RvEngine engine;
  RvSgm *sgm;
  RvPlane left, right; /* grey */
  GstBufferPool *disparities, *confidences;

  GstRvPayload disparity, confidence; /* of the present frame */
  guint16 *sample;                    /* rows of the disparity, on the host */
  int sample_rows;                    /* 0: not sampled */
  guint frames, poor;
};

G_DEFINE_TYPE(GstCudaSgm, gst_cuda_sgm, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudasgm, "cudasgm", GST_RANK_NONE, GST_TYPE_CUDA_SGM)

/* --- Properties and caps --------------------------------------------------------------------- */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  GstCudaSgm *self = GST_CUDA_SGM(object);
  GST_OBJECT_LOCK(self);
  const GstCudaSgmLayout layout = self->settings.layout;
  const GstCudaSgmOutput output = self->settings.output;
  const gboolean known = gst_cuda_sgm_settings_set(&self->settings, id, value);
  const gboolean caps_change = layout != self->settings.layout || output != self->settings.output;
  GST_OBJECT_UNLOCK(self);
  if (!known) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  gst_rv_transform_rebuild(GST_RV_TRANSFORM(self));
  if (caps_change)
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  GstCudaSgm *self = GST_CUDA_SGM(object);
  GST_OBJECT_LOCK(self);
  const gboolean known = gst_cuda_sgm_settings_get(&self->settings, id, value);
  GST_OBJECT_UNLOCK(self);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static GstCudaSgmSettings get_settings(GstCudaSgm *self) {
  GST_OBJECT_LOCK(self);
  const GstCudaSgmSettings settings = self->settings;
  GST_OBJECT_UNLOCK(self);
  return settings;
}

static void transform_structure(GstRvTransform *base, GstPadDirection direction,
                                GstStructure *structure, GstCapsFeatures *features,
                                GstCaps *result) {
  const GstCudaSgmSettings settings = get_settings(GST_CUDA_SGM(base));
  gst_cuda_sgm_transform_structure(settings.layout, settings.output, direction, structure, features,
                                   result);
}

static gboolean check_caps(GstRvTransform *base, GstCaps *caps, const GstVideoInfo *info) {
  GstCudaSgmViews eyes;
  char *cause = NULL, *remedy = NULL;
  const GstCudaSgmSettings settings = get_settings(GST_CUDA_SGM(base));
  if (gst_cuda_sgm_locate_views(settings.layout, info, &eyes, &cause, &remedy))
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

static RvStatus new_grey(RvPlane *plane, const GstCudaSgmViews *eyes, RvEngine engine) {
  plane->format = RV_U8;
  plane->width = eyes->width;
  plane->height = eyes->height;
  plane->stride = gst_rv_raster_stride(RV_U8, eyes->width);
  return rv_buffer_new(&plane->data, gst_rv_raster_bytes(RV_U8, eyes->width, eyes->height), engine);
}

/* The whole state for `used` and `eyes`; what has been made is freed by release. */
static RvStatus make_objects(GstCudaSgm *self, const GstRvExecContext *work,
                             const RvSgmConfig *config) {
  GstRvDevice *device = work->engine == RV_CUDA ? work->device : NULL;
  self->engine = work->engine;
  const int width = config->width, height = config->height;
  RvStatus status = rv_sgm_new(&self->sgm, config, work->engine);
  if (status == RV_OK)
    status = new_grey(&self->left, &self->eyes, work->engine);
  if (status == RV_OK)
    status = new_grey(&self->right, &self->eyes, work->engine);
  if (status != RV_OK) {
    gst_rv_log_line(&work->log, "%dx%d px with %d disparities take %.0f MiB", width, height,
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
static RvStatus check_settings(const GstCudaSgmSettings *settings, const RvSgmConfig *config) {
  const RvStatus status = rv_sgm_config_check(config);
  if (status != RV_OK)
    return status;
  const int end = config->min_disparity + config->disparities;
  if (settings->output == GST_CUDA_SGM_OUTPUT_DISPARITY &&
      (gint64)end * settings->disparity_scale > G_MAXUINT16) {
    gst_rv_log_line(
        &config->log,
        "(min-disparity + disparities) x disparity-scale = %d x %d exceeds 65535: lower "
        "disparity-scale to %d",
        end, settings->disparity_scale, G_MAXUINT16 / end);
    return RV_ERR_ARG;
  }
  return RV_OK;
}

/* FALSE when layout or output were changed and the caps not yet: another caps event is on its way.
 */
static gboolean settings_fit_caps(const GstRvTransform *base, const GstCudaSgmSettings *settings,
                                  const GstCudaSgmViews *eyes) {
  const gboolean grey16 = GST_VIDEO_INFO_FORMAT(&base->out_info) == GST_VIDEO_FORMAT_GRAY16_LE;
  return grey16 == (settings->output != GST_CUDA_SGM_OUTPUT_PICTURE) &&
         eyes->width == GST_VIDEO_INFO_WIDTH(&base->out_info) &&
         eyes->height == GST_VIDEO_INFO_HEIGHT(&base->out_info);
}

static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  const GstCudaSgmSettings settings = get_settings(self);
  GstCudaSgmViews eyes;
  char *cause = NULL, *remedy = NULL;
  const gboolean placed =
      gst_cuda_sgm_locate_views(settings.layout, &base->in_info, &eyes, &cause, &remedy);
  if (!placed)
    gst_rv_log_line(&work->log, "%s", cause);
  g_free(cause);
  g_free(remedy);
  if (!placed)
    return RV_ERR_ARG;
  if (!settings_fit_caps(base, &settings, &eyes)) {
    GST_DEBUG_OBJECT(self, "layout or output changed: waiting for new caps");
    gst_rv_transform_rebuild(base);
    return self->sgm ? RV_OK : RV_ERR_ARG;
  }
  RvSgmConfig config = settings.match;
  config.width = eyes.width;
  config.height = eyes.height;
  config.threads = work->threads;
  config.log = work->log;
  const RvStatus status = check_settings(&settings, &config);
  if (status != RV_OK)
    return status;
  release(base);
  self->used = settings;
  self->eyes = eyes;
  GST_DEBUG_OBJECT(self, "%dx%d px, %d disparities from %d, %d paths, engine %s", eyes.width,
                   eyes.height, config.disparities, config.min_disparity, config.paths,
                   gst_rv_engine_name(work->engine));
  return make_objects(self, work, &config);
}

/* --- One frame ------------------------------------------------------------------------------- */

/* The camera of the input, brought to this picture size, with the properties over it. */
static void attach_camera(GstCudaSgm *self, const GstRvJob *job) {
  RvCamera camera;
  int w = 0, h = 0;
  const GstCudaSgmSettings *used = &self->used;
  const gboolean known = rv_meta_get_camera(job->in, &camera, &w, &h);
  if (known) {
    const double sx = (double)self->eyes.width / w, sy = (double)self->eyes.height / h;
    camera.focal *= sx;
    camera.cx *= sx;
    camera.doffs *= sx;
    camera.cy *= sy;
  }
  if (!known && used->focal == 0 && used->baseline == 0)
    return;
  if (camera.focal == 0) { /* then nothing is known of the principal point either */
    camera.cx = (self->eyes.width - 1) / 2.0;
    camera.cy = (self->eyes.height - 1) / 2.0;
  }
  camera.focal = used->focal > 0 ? used->focal : camera.focal;
  camera.baseline = used->baseline > 0 ? used->baseline : camera.baseline;
  camera.cx = used->cx > 0 ? used->cx : camera.cx;
  camera.cy = used->cy > 0 ? used->cy : camera.cy;
  rv_meta_add_camera(job->out, self->eyes.width, self->eyes.height, &camera);
}

static RvStatus begin_payloads(GstCudaSgm *self) {
  const int w = self->eyes.width, h = self->eyes.height;
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
  const GstCudaSgmViews *eyes = &self->eyes;
  RvStatus status = rv_convert_gray(job->in_picture, eyes->left_x, eyes->left_y, &self->left,
                                    work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = rv_convert_gray(job->in_picture, eyes->right_x, eyes->right_y, &self->right,
                             work->threads, work->engine, work->stream, &work->log);
  if (status == RV_OK && job->out_picture)
    status = rv_convert_crop(job->in_picture, eyes->left_x, eyes->left_y, job->out_picture,
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
    gst_rv_log_line(&work->log, "output=depth needs the camera: set focal-length (px) and baseline "
                                "(m)");
    return RV_ERR_ARG;
  }
  RvMetaMap map;
  if (!rv_meta_map_buffer(&map, payload, GST_MAP_READ)) {
    gst_rv_log_line(&work->log, "the disparity could not be downloaded");
    return RV_ERR_IO;
  }
  GstVideoFrame frame;
  RvStatus status = RV_ERR_IO;
  if (gst_video_frame_map(&frame, &GST_RV_TRANSFORM(self)->out_info, out, GST_MAP_WRITE)) {
    const RvPlane plane = {GST_VIDEO_FRAME_PLANE_DATA(&frame, 0),
                           GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), self->eyes.width,
                           self->eyes.height, RV_U16};
    status = depth ? rv_depth_mm(&map.plane, &camera, &plane, &work->log)
                   : rv_depth_rescale(&map.plane, self->used.disparity_scale, &plane, &work->log);
    gst_video_frame_unmap(&frame);
  }
  rv_meta_unmap(&map);
  return status;
}

/* Says once which of the usual faults it is that makes most pixels miss their match. */
static void warn_poor_match(GstCudaSgm *self, const GstRvExecContext *work, int percent) {
  const gsize bytes = gst_rv_raster_bytes(RV_U8, self->eyes.width, self->eyes.height);
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
  const RvSgmConfig *match = &self->used.match;
  if (status == RV_OK)
    rv_pair_diagnose(&left, &right, match->min_disparity, match->disparities, &report, NULL);
  g_free(left.data);
  g_free(right.data);
  char likely[160] = "no usual fault was found: little texture, or views that differ too much";
  const char *remedy = "Look at both pictures: exposure, focus, lens dirt, and whether they belong "
                       "together.";
  if (report.fault == RV_PAIR_ROWS) {
    g_snprintf(likely, sizeof likely,
               "the pair is not rectified: the right picture lies %d rows too far %s",
               ABS(report.row_offset), report.row_offset > 0 ? "down" : "up");
    remedy = "Rectify the pictures before they reach cudasgm (OpenCV's stereoRectify and "
             "remap, or the camera's own setting), or align the cameras.";
  } else if (report.fault == RV_PAIR_SWAPPED) {
    g_snprintf(likely, sizeof likely, "left and right are swapped");
    remedy = self->eyes.top_bottom ? "Set the other one of layout=top-bottom and "
                                     "layout=top-bottom-right-first."
                                   : "Set the other one of layout=side-by-side and "
                                     "layout=side-by-side-right-first.";
  } else if (report.fault == RV_PAIR_RANGE) {
    g_snprintf(likely, sizeof likely, "the range of %d..%d px is wrong: matches lie near %d px",
               match->min_disparity, match->min_disparity + match->disparities - 1,
               report.disparity);
    remedy = "Set disparities and min-disparity so that the range holds that value.";
  }
  GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                      ("Only %d %% of the pixels find a match; likely %s.", percent, likely),
                      ("%s", remedy));
}

static void check_match_rate(GstCudaSgm *self, const GstRvExecContext *work) {
  if (self->sample_rows == 0)
    return;
  const gint64 pixels = (gint64)self->sample_rows * self->eyes.width;
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
  const RvSgmConfig *match = &self->used.match;
  RvMetaDisparity meta = {self->eyes.width,
                          self->eyes.height,
                          RV_SGM_SCALE,
                          match->min_disparity,
                          match->disparities,
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
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_sgm_debug, "cudasgm", 0, "stereo depth");
  object->set_property = set_property;
  object->get_property = get_property;
  gst_cuda_sgm_install_properties(object);
  base->picture = GST_MAP_READ;
  base->annotation = RV_META_DISPARITY;
  base->refused = "output=picture sends the left picture; output=disparity and output=depth send "
                  "GRAY16_LE in system memory, for elements that take a map. Set output, or change "
                  "what follows.";
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
                                        "picture with its disparity attached "
                                        "(RvDisparityMeta), or into a disparity or depth map",
                                        "gst-roadvision");
}

static void gst_cuda_sgm_init(GstCudaSgm *self) {
  gst_cuda_sgm_settings_init(&self->settings);
}
