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
#include "gstcudasgm_check.h"
#include "gstcudasgm_layout.h"
#include "gstcudasgm_metas.h"
#include "sgm/sgm.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

/* bits of gst_rv_transform_once */
enum { ONCE_POOR_MATCH, ONCE_CROPPED };

typedef struct Settings {
  RvSgmConfig config; /* size, threads and log are filled in by configure */
  GstCudaSgmLayout layout;
  GstCudaSgmOutput output;
  double focal, baseline, cx, cy; /* px, m, px, px; 0 = not set */
  int disparity_scale;            /* values per px of GRAY16 output */
  int bit_depth;                  /* of GRAY16 input: 10, 12, 14 or 16 */
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
  GstCudaSgmCheck check;
  double stage_us[RV_SGM_STAGES]; /* of the last frame, with stage-times */
  RvCamera camera;                /* of the current frame */
  gboolean camera_known;
};

G_DEFINE_TYPE(GstCudaSgm, gst_cuda_sgm, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudasgm, "cudasgm", GST_RANK_NONE, GST_TYPE_CUDA_SGM)

/* --- Properties and caps --------------------------------------------------------------------- */

static const RvParamValue bit_depths[] = {
    {.value = 10}, {.value = 12}, {.value = 14}, {.value = 16}};

static const RvParam own[] = {
    GST_RV_ENUM("layout", layout, gst_cuda_sgm_layouts, GST_CUDA_SGM_LAYOUT_AUTO, 0, NULL, NULL,
                "Packing of the two views in a frame"),
    GST_RV_ENUM(
        "output", output,
        GST_RV_VALUES(
            {GST_CUDA_SGM_OUTPUT_PICTURE, "picture", "left view with the disparity attached"},
            {GST_CUDA_SGM_OUTPUT_DISPARITY, "disparity",
             "disparity as GRAY16_LE in system memory, 0 = invalid"},
            {GST_CUDA_SGM_OUTPUT_DEPTH, "depth",
             "depth in mm as GRAY16_LE in system memory, 0 = invalid; requires a known camera"}),
        GST_CUDA_SGM_OUTPUT_PICTURE, 0, NULL, NULL,
        "Output type; the annotations are attached in all cases"),
    {.name = "bit-depth",
     .text = "Significant bits of GRAY16_LE input, the lowest ones; its upper 8 are matched",
     .type = RV_PARAM_INT,
     .offset = offsetof(Settings, bit_depth),
     .values = bit_depths,
     .value_count = G_N_ELEMENTS(bit_depths),
     .value = 16},
    GST_RV_DOUBLE("focal-length", focal, 0, 1e6, 0, 0, "px", "0 = value from RvCameraMeta",
                  "Focal length of the rectified cameras"),
    GST_RV_DOUBLE("baseline", baseline, 0, 1e3, 0, 0, "m", "0 = value from RvCameraMeta",
                  "Distance between the cameras"),
    GST_RV_DOUBLE("cx", cx, 0, 1e6, 0, 0, "px",
                  "0 = value from RvCameraMeta, else the image center",
                  "Column of the principal point of the left view"),
    GST_RV_DOUBLE("cy", cy, 0, 1e6, 0, 0, "px",
                  "0 = value from RvCameraMeta, else the image center",
                  "Row of the principal point of the left view"),
    GST_RV_INT("disparity-scale", disparity_scale, 1, 2048, RV_SGM_SCALE, 0, NULL,
               "(min-disparity + disparities) x scale must not exceed 65535",
               "Values per px of disparity with output=disparity"),
};

/* A new layout or output changes the caps, too. */
static void settings_changed(GObject *object, const char *name) {
  gst_rv_transform_changed(object, name);
  if (strcmp(name, "layout") == 0 || strcmp(name, "output") == 0)
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
}

static const GstRvSettings settings =
    GST_RV_SETTINGS(GstCudaSgm, Settings, rv_sgm_params, own, settings_changed);

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
  GstCudaSgm *self = GST_CUDA_SGM(base);
  const Settings set = get_settings(self);
  if (gst_cuda_sgm_locate_views(set.layout, info, &views, &cause, &remedy))
    return TRUE;
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s.", cause), ("%s", remedy));
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
  gst_cuda_sgm_check_clear(&self->check);
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
  RvStatus status = gst_cuda_sgm_check_init(
      &self->check, &self->views, self->used.layout == GST_CUDA_SGM_LAYOUT_AUTO, work->engine);
  if (status == RV_OK)
    status = rv_sgm_new(&self->sgm, config, work->engine);
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
  return self->disparities && (self->confidences || !config->confidence) ? RV_OK : RV_ERR_NO_MEMORY;
}

/* Rules between properties that the library does not know. */
static RvStatus check_settings(const Settings *set, const RvSgmConfig *config) {
  const RvStatus status = rv_sgm_config_check(config);
  if (status != RV_OK)
    return status;
  const int end = config->min_disparity + config->disparities;
  if (set->bit_depth % 2) {
    gst_rv_log_line(&config->log, "bit-depth is %d, must be 10, 12, 14 or 16", set->bit_depth);
    return RV_ERR_ARG;
  }
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

/* Annotations that a crop upstream has made wrong are removed, and this is said once. */
static void drop_misfits(GstCudaSgm *self, GstBuffer *out) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  char *dropped = gst_cuda_sgm_drop_misfits(out, &self->views, &base->in_info);
  if (dropped && gst_rv_transform_once(base, ONCE_CROPPED))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The frame was cropped to views of %dx%d px; dropped are %s.",
                         self->views.width, self->views.height, dropped),
                        ("Crop downstream of cudasgm, or set focal-length, baseline, cx and cy."));
  g_free(dropped);
}

/* The camera of the input, brought to the view; properties override its fields. */
static void attach_camera(GstCudaSgm *self, const GstRvJob *job) {
  const Settings *used = &self->used;
  const RvCamera set = {
      .focal = used->focal, .baseline = used->baseline, .cx = used->cx, .cy = used->cy};
  GstCudaSgmCamera found;
  self->camera_known = gst_cuda_sgm_find_camera(job->in, &self->views,
                                                &GST_RV_TRANSFORM(self)->in_info, &set, &found);
  self->camera = found.camera;
  if (self->camera_known && found.has_principal)
    rv_meta_add_camera(job->out, self->views.width, self->views.height, &found.camera);
  drop_misfits(self, job->out);
}

static RvStatus begin_payloads(GstCudaSgm *self) {
  const int w = self->views.width, h = self->views.height;
  RvStatus status = gst_rv_payload_begin(&self->disparity, self->disparities, RV_U16, w, h);
  if (status == RV_OK && self->confidences)
    status = gst_rv_payload_begin(&self->confidence, self->confidences, RV_U8, w, h);
  return status;
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  const GstCudaSgmViews *views = &self->views;
  RvPicture pair = *job->in_picture;
  if (pair.format == RV_PIXEL_GRAY16)
    pair.format = (RvPixelFormat)(RV_PIXEL_GRAY10 + (self->used.bit_depth - 10) / 2);
  RvStatus status = rv_convert_gray(&pair, views->left_x, views->left_y, &self->left, work->threads,
                                    work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = rv_convert_gray(&pair, views->right_x, views->right_y, &self->right, work->threads,
                             work->engine, work->stream, &work->log);
  if (status == RV_OK && job->out_picture)
    status = rv_convert_crop(&pair, views->left_x, views->left_y, job->out_picture, work->threads,
                             work->engine, work->stream, &work->log);
  if (status == RV_OK)
    status = begin_payloads(self);
  if (status == RV_OK)
    status = rv_sgm_run(self->sgm, &self->left, &self->right, &self->disparity.plane,
                        self->confidences ? &self->confidence.plane : NULL, work->stream);
  return status == RV_OK
             ? gst_cuda_sgm_check_sample(&self->check, base, work, &self->disparity.plane)
             : status;
}

/* Writes disparity or depth into a GRAY16_LE frame. */
static RvStatus write_frame(GstCudaSgm *self, const GstRvExecContext *work, GstBuffer *payload,
                            GstBuffer *out) {
  const RvCamera *camera = &self->camera;
  const gboolean depth = self->used.output == GST_CUDA_SGM_OUTPUT_DEPTH;
  if (depth && (!self->camera_known || camera->focal <= 0 || camera->baseline <= 0)) {
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
    status = depth ? rv_depth_mm(&map.plane, camera, &plane, &work->log)
                   : rv_depth_rescale(&map.plane, self->used.disparity_scale, &plane, &work->log);
    gst_video_frame_unmap(&frame);
  }
  rv_meta_unmap(&map);
  return status;
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  if (!job->ok) {
    gst_rv_payload_drop(&self->disparity);
    gst_rv_payload_drop(&self->confidence);
    return RV_OK;
  }
  const RvSgmConfig *config = &self->used.config;
  /* Here the device is current. */
  const RvStatus timed =
      config->stage_times ? rv_sgm_stage_times(self->sgm, self->stage_us) : RV_OK;
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
  const GstCudaSgmPair pair = {&self->left, &self->right, &self->views, config};
  gst_cuda_sgm_check_frame(&self->check, base, work, &pair, ONCE_POOR_MATCH);
  return timed != RV_OK || self->used.output == GST_CUDA_SGM_OUTPUT_PICTURE
             ? timed
             : write_frame(self, work, payload, job->out);
}

/* A repeated frame has the disparity of the previous one already. */
static RvStatus repeat(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaSgm *self = GST_CUDA_SGM(base);
  attach_camera(self, job);
  if (job->out_picture)
    return rv_convert_crop(job->in_picture, self->views.left_x, self->views.left_y,
                           job->out_picture, work->threads, work->engine, work->stream, &work->log);
  RvMetaDisparity meta;
  if (!rv_meta_get_disparity(job->out, &meta))
    return RV_ERR_IO;
  return write_frame(self, work, meta.payload, job->out);
}

static void describe(GstRvTransform *base, GstStructure *message) {
  const GstCudaSgm *self = GST_CUDA_SGM(base);
  gst_structure_set(message, "valid-share", G_TYPE_DOUBLE, self->check.valid_share, NULL);
  if (self->used.config.stage_times)
    gst_structure_set(message, "match-us", G_TYPE_DOUBLE, self->stage_us[0], "filter-us",
                      G_TYPE_DOUBLE, self->stage_us[1], "refine-us", G_TYPE_DOUBLE,
                      self->stage_us[2], NULL);
}

/* Regions of others are kept where they are in the left view. */
static gboolean transform_meta(GstBaseTransform *trans, GstBuffer *out, GstMeta *meta,
                               GstBuffer *in) {
  if (gst_cuda_sgm_is_region(meta)) {
    const GstRvTransform *base = GST_RV_TRANSFORM(trans);
    gst_cuda_sgm_copy_region(out, &base->out_info, meta, in, &base->in_info,
                             &GST_CUDA_SGM(trans)->views);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_sgm_parent_class)->transform_meta(trans, out, meta, in);
}

/* A gray pair becomes NV12 where that is possible: converters list what they need not convert first. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *other) {
  if (direction == GST_PAD_SINK)
    other = gst_cuda_sgm_prefer_color(caps, other);
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_sgm_parent_class)
      ->fixate_caps(trans, direction, caps, other);
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_sgm_class_init(GstCudaSgmClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_element(base, "cudasgm", &settings);
  base->picture = GST_MAP_READ;
  base->memory = GST_RV_MEMORY_UPLOADS;
  base->annotation = RV_META_DISPARITY;
  base->downstream_hint =
      "output=picture provides the left view; output=disparity and output=depth provide "
      "GRAY16_LE in system memory. Set output, or replace the downstream element.";
  base->check_caps = check_caps;
  base->transform_structure = transform_structure;
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  base->repeat = repeat;
  base->describe = describe;
  GST_BASE_TRANSFORM_CLASS(klass)->transform_meta = transform_meta;
  GST_BASE_TRANSFORM_CLASS(klass)->fixate_caps = fixate_caps;
  char *sink = gst_rv_transform_caps_string(TRUE, ", GRAY16_LE");
  char *src = gst_rv_transform_caps_string_maps();
  gst_rv_transform_class_add_templates(base, sink, src);
  g_free(sink);
  g_free(src);
}

static void gst_cuda_sgm_init(GstCudaSgm *self) {}
