/* SPDX-License-Identifier: MIT */
/* gstcudarectify.c: element cudarectify: caps, calibration files and the camera annotation round
 * cuda/rectify. */

/**
 * SECTION:element-cudarectify
 * @title: cudarectify
 * @short_description: Undistorts and rectifies frame-packed stereo pairs
 *
 * Undistorts and rectifies both views of a frame-packed stereo pair, so that a point lies on the same
 * row in both, as cudasgm needs it. The camera is read from a calibration file: OpenCV, ROS, Kalibr,
 * EuRoC, KITTI, Middlebury, ZED and DepthAI files are recognized by content. The rectified camera
 * (focal length, principal point, baseline) is attached to each frame (RvCameraMeta). Works on the
 * GPU if there is one and on the CPU otherwise; both give the same bytes. A pair that the file
 * describes as rectified passes through.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! image/jpeg,width=2560,height=720 ! jpegdec ! cudarectify
 *   calibration=camera.yml ! cudasgm ! cudaannotate ! videoconvert ! autovideosink
 * ]| A side-by-side camera.
 * |[
 * gst-launch-1.0 filesrc location=pair.mkv ! decodebin ! cudarectify calibration=left.yaml
 *   calibration-right=right.yaml alpha=0 ! cudasgm ! fakesink
 * ]| A recorded pair with ROS camera_info files, zoomed so that no border is visible.
 *
 * Since: 0.2
 */
#include "gstcudarectify.h"

#include <string.h>

#include "common/gstrvsettings.h"
#include "gstcudarectify_metas.h"
#include "gstcudasgm_metas.h"
#include "rectify/rectify.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

/* bits of gst_rv_transform_once */
enum { ONCE_WARNING };

typedef struct Settings {
  RvRectifyConfig config;
  char *calibration, *calibration_right;
  int layout; /* GstCudaSgmLayout */
  int pair;
  int lens; /* RvLens */
  double baseline_scale;
} Settings;

struct _GstCudaRectify {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */

  RvRectify *rectify; /* NULL: not configured */
  GstCudaRectifyViews views;
  RvRectifyRect valid;
};

G_DEFINE_TYPE(GstCudaRectify, gst_cuda_rectify, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudarectify, "cudarectify", GST_RANK_NONE, GST_TYPE_CUDA_RECTIFY)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParam own[] = {
    GST_RV_TEXT("calibration", calibration, NULL,
                "Calibration file of the stereo camera, or of the left camera"),
    GST_RV_TEXT("calibration-right", calibration_right, NULL,
                "Calibration file of the right camera, for formats with one file per camera"),
    GST_RV_ENUM("layout", layout, gst_cuda_sgm_layouts, GST_CUDA_SGM_LAYOUT_AUTO, 0, NULL, NULL,
                "Packing of the two views in a frame"),
    GST_RV_INT("camera-pair", pair, -1, 63, -1, 0, NULL, "-1 = color of KITTI, else the first",
               "Pair of cameras in files with more than two"),
    GST_RV_ENUM(
        "lens", lens,
        GST_RV_VALUES(
            {RV_LENS_AUTO, "auto", "as the file; 4 coefficients without a model name are pinhole"},
            {RV_LENS_PINHOLE, "pinhole", "radial, tangential, rational, thin prism, tilted"},
            {RV_LENS_FISHEYE, "fisheye", "equidistant with 4 coefficients"}),
        RV_LENS_AUTO, 0, NULL, NULL, "Lens model"),
    GST_RV_DOUBLE("baseline-scale", baseline_scale, 1e-6, 1e6, 1, 0, NULL,
                  "0.001 = the file is in mm",
                  "Meters per unit of length of the file's translation"),
};

/* Sizes may depend on every property. */
static void changed(GObject *object, const char *name) {
  (void)name;
  gst_rv_transform_rebuild(GST_RV_TRANSFORM(object));
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
}

static const GstRvSettings settings =
    GST_RV_SETTINGS(GstCudaRectify, Settings, rv_rectify_params, own, changed);

/* --- Configuration --------------------------------------------------------------------------- */

static RvRectifyLayout layout_of(const GstCudaSgmViews *views) {
  const gboolean right_first = views->left_x > 0 || views->left_y > 0;
  if (views->top_bottom)
    return right_first ? RV_RECTIFY_TOP_BOTTOM_RIGHT_FIRST : RV_RECTIFY_TOP_BOTTOM;
  return right_first ? RV_RECTIFY_SIDE_BY_SIDE_RIGHT_FIRST : RV_RECTIFY_SIDE_BY_SIDE;
}

/* Reads the calibration for views of that size. */
static RvStatus read_calibration(const Settings *s, const GstCudaSgmViews *views, const RvLog *log,
                                 RvCalibration *calibration) {
  RvCalibrationOptions options;
  rv_calibration_options_init(&options);
  options.width = views->width;
  options.height = views->height;
  options.pair = s->pair;
  options.lens = (RvLens)s->lens;
  options.baseline_scale = s->baseline_scale;
  options.log = *log;
  const char *right = s->calibration_right && *s->calibration_right ? s->calibration_right : NULL;
  return rv_calibration_read(calibration, s->calibration, right, &options);
}

/* The library's config for frames of `info`; logs what is wrong. */
static RvStatus make_config(const Settings *s, const GstVideoInfo *info, const RvLog *log,
                            RvRectifyConfig *config) {
  GstCudaSgmViews views;
  char *cause = NULL, *remedy = NULL;
  if (!gst_cuda_sgm_locate_views((GstCudaSgmLayout)s->layout, info, &views, &cause, &remedy)) {
    gst_rv_log_line(log, "%s", cause);
    g_free(cause);
    g_free(remedy);
    return RV_ERR_ARG;
  }
  *config = s->config;
  config->format = RV_PIXEL_GRAY16;
  if (GST_VIDEO_INFO_FORMAT(info) != GST_VIDEO_FORMAT_GRAY16_LE &&
      !gst_rv_pixel_format(GST_VIDEO_INFO_FORMAT(info), &config->format))
    return RV_ERR_ARG; /* not with our templates */
  const GstVideoChromaSite site = GST_VIDEO_INFO_CHROMA_SITE(info);
  const gboolean is_known = site != GST_VIDEO_CHROMA_SITE_UNKNOWN;
  config->layout = layout_of(&views);
  config->in_width = views.width;
  config->in_height = views.height;
  config->full_range = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  config->chroma_cosited_x = !is_known || (site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
  config->chroma_cosited_y = is_known && (site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0;
  config->log = *log;
  return read_calibration(s, &views, log, &config->calibration);
}

/* --- Caps ------------------------------------------------------------------------------------ */

/* Size of the rectified frame for caps of one input size; FALSE when it cannot be told. */
static gboolean output_size(GstCudaRectify *self, const GstStructure *structure, int *width,
                            int *height) {
  GstVideoInfo info;
  GstStructure *copy = gst_structure_copy(structure);
  gst_structure_set(copy, "format", G_TYPE_STRING, "GRAY8", NULL); /* may be a list yet */
  gst_structure_remove_fields(copy, "framerate", "colorimetry", "chroma-site", NULL);
  GstCaps *caps = gst_caps_new_full(copy, NULL);
  const gboolean is_fixed = gst_caps_is_fixed(caps) && gst_video_info_from_caps(&info, caps);
  gst_caps_unref(caps);
  Settings s;
  gst_rv_settings_copy(self, &settings, &s);
  const RvLog silent = {NULL, NULL};
  RvRectifyConfig config;
  RvRectifyGeometry geometry;
  const gboolean is_known = is_fixed && s.calibration &&
                            make_config(&s, &info, &silent, &config) == RV_OK &&
                            rv_rectify_geometry(&config, &geometry) == RV_OK;
  gst_rv_settings_clear_copy(&s, &settings);
  if (!is_known)
    return FALSE;
  const gboolean top_bottom = config.layout >= RV_RECTIFY_TOP_BOTTOM;
  *width = top_bottom ? geometry.width : 2 * geometry.width;
  *height = top_bottom ? 2 * geometry.height : geometry.height;
  return TRUE;
}

static void append(GstCaps *result, GstStructure *structure, const GstCapsFeatures *features) {
  gst_caps_append_structure_full(result, structure,
                                 features ? gst_caps_features_copy(features) : NULL);
}

/* One input size becomes one output size. Where sizes are open, they stay equal unless `width` or
 * `height` specify another; upstream may provide any size. */
static void transform_structure(GstRvTransform *base, GstPadDirection direction,
                                GstStructure *structure, GstCapsFeatures *features,
                                GstCaps *result) {
  GstCudaRectify *self = GST_CUDA_RECTIFY(base);
  GST_OBJECT_LOCK(self);
  const gboolean resizes = self->settings.config.width || self->settings.config.height;
  GST_OBJECT_UNLOCK(self);
  int width, height;
  if (direction == GST_PAD_SINK && output_size(self, structure, &width, &height)) {
    gst_structure_set(structure, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
    append(result, structure, features);
  } else {
    if (!resizes)
      append(result, gst_structure_copy(structure), features);
    if (resizes || direction == GST_PAD_SRC) {
      gst_structure_remove_fields(structure, "width", "height", NULL);
      append(result, structure, features);
    } else {
      gst_structure_free(structure);
    }
  }
  gst_caps_features_free(features);
}

/* Everything that can be wrong with caps and file is found here, where it can be named. */
static gboolean check_caps(GstRvTransform *base, GstCaps *caps, const GstVideoInfo *info) {
  GstCudaRectify *self = GST_CUDA_RECTIFY(base);
  Settings s;
  gst_rv_settings_copy(self, &settings, &s);
  GstCudaSgmViews views;
  char *cause = NULL, *remedy = NULL, line[512] = "";
  GstRvLog *log = gst_rv_transform_log(base);
  const RvLog sink = gst_rv_log_sink(log);
  RvRectifyConfig config;
  RvStatus status = RV_OK;
  if (!s.calibration || !*s.calibration) {
    status = RV_ERR_IO;
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No calibration file is set."),
                      ("Set calibration=FILE. roadvision calibrate creates one from images of a "
                       "chessboard; docs/elements/cudarectify.md lists the formats."));
  } else if (!gst_cuda_sgm_locate_views((GstCudaSgmLayout)s.layout, info, &views, &cause,
                                        &remedy)) {
    status = RV_ERR_ARG;
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s.", cause), ("%s", remedy));
  } else {
    status = make_config(&s, info, &sink, &config);
    if (status == RV_OK)
      status = rv_rectify_config_check(&config);
    gst_rv_log_take(log, line, sizeof line);
    if (status == RV_ERR_IO)
      GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s.", line),
                        ("Check calibration and calibration-right."));
    else if (status != RV_OK)
      GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s.", line),
                        ("The file describes views of another size or kind than the frames (%dx%d "
                         "px per view), or a property does not fit it.",
                         views.width, views.height));
  }
  g_free(cause);
  g_free(remedy);
  gst_rv_settings_clear_copy(&s, &settings);
  (void)caps;
  return status == RV_OK;
}

/* --- Object ---------------------------------------------------------------------------------- */

static void release(GstRvTransform *base) {
  rv_rectify_free(&GST_CUDA_RECTIFY(base)->rectify);
}

/* FALSE while properties ask for another size than the caps have: new caps are on their way. */
static gboolean fits_caps(const GstRvTransform *base, const RvRectifyConfig *config,
                          const RvRectifyGeometry *geometry) {
  const gboolean top_bottom = config->layout >= RV_RECTIFY_TOP_BOTTOM;
  return GST_VIDEO_INFO_WIDTH(&base->out_info) == geometry->width * (top_bottom ? 1 : 2) &&
         GST_VIDEO_INFO_HEIGHT(&base->out_info) == geometry->height * (top_bottom ? 2 : 1);
}

static void report(GstCudaRectify *self) {
  const RvRectifyGeometry *g = &self->views.geometry;
  GST_INFO_OBJECT(self,
                  "%s calibration: views of %dx%d px, focal length %.2f px, field of view %.1f "
                  "degrees, baseline %.4f m, doffs %.3f px, valid %dx%d at (%d, %d)%s",
                  g->calibration.format, g->width, g->height, g->camera.focal, g->field_of_view,
                  g->camera.baseline, g->camera.doffs, self->valid.width, self->valid.height,
                  self->valid.x, self->valid.y,
                  rv_rectify_is_identity(self->rectify) ? "; already rectified" : "");
  if (g->calibration.warning[0] && gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_WARNING))
    GST_ELEMENT_WARNING(
        self, RESOURCE, SETTINGS, ("%s", g->calibration.warning),
        ("docs/elements/cudarectify.md describes the checks of calibration files."));
}

static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaRectify *self = GST_CUDA_RECTIFY(base);
  const Settings *s = gst_rv_transform_settings(base);
  RvRectifyConfig config;
  RvRectifyGeometry geometry;
  RvStatus status = RV_ERR_ARG;
  if (s->calibration)
    status = make_config(s, &base->in_info, &work->log, &config);
  else
    gst_rv_log_line(&work->log, "No calibration file is set");
  config.threads = work->threads;
  if (status == RV_OK)
    status = rv_rectify_geometry(&config, &geometry);
  if (status == RV_ERR_IO && self->rectify)
    status = RV_ERR_ARG; /* the file is not usable: the previous camera remains in use */
  if (status != RV_OK)
    return status;
  if (!fits_caps(base, &config, &geometry)) {
    GST_DEBUG_OBJECT(self, "waiting for caps of views of %dx%d px", geometry.width,
                     geometry.height);
    gst_rv_transform_rebuild(base);
    return self->rectify ? RV_OK : RV_ERR_ARG;
  }
  release(base);
  status = rv_rectify_new(&self->rectify, &config, work->engine);
  if (status != RV_OK)
    return status;
  self->views = (GstCudaRectifyViews){config.in_width, config.in_height, config.layout, geometry};
  self->valid = rv_rectify_valid(self->rectify);
  gst_rv_transform_set_bypass(base, rv_rectify_is_identity(self->rectify));
  report(self);
  return RV_OK;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Ground truth of the views before rectification. */
static gboolean drop_truth(GstBuffer *buffer, GstMeta **meta, gpointer user) {
  (void)buffer, (void)user;
  if (gst_meta_info_is_custom((*meta)->info) &&
      gst_custom_meta_has_name((GstCustomMeta *)*meta, RV_META_TRUTH))
    *meta = NULL;
  return TRUE;
}

static void attach_camera(GstCudaRectify *self, GstBuffer *buffer) {
  const RvRectifyGeometry *g = &self->views.geometry;
  RvMetaCamera meta = {0};
  if (!rv_meta_camera_read(&meta, buffer, NULL)) /* calibration does not know the ground */
    meta.camera_height = meta.pitch = 0;
  meta = (RvMetaCamera){.width = g->width,
                        .height = g->height,
                        .focal = g->camera.focal,
                        .cx = g->camera.cx,
                        .cy = g->camera.cy,
                        .doffs = g->camera.doffs,
                        .baseline = g->camera.baseline,
                        .camera_height = meta.camera_height,
                        .pitch = meta.pitch,
                        .valid_x = self->valid.x,
                        .valid_y = self->valid.y,
                        .valid_width = self->valid.width,
                        .valid_height = self->valid.height};
  rv_meta_camera_attach(&meta, buffer, NULL);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  if (!job->in_picture) /* already rectified */
    return RV_OK;
  return rv_rectify_run(GST_CUDA_RECTIFY(base)->rectify, job->in_picture, job->out_picture,
                        work->stream);
}

/* The frame is no longer mapped, so annotations can be attached. */
static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaRectify *self = GST_CUDA_RECTIFY(base);
  (void)work;
  if (!job->ok)
    return RV_OK;
  if (!rv_rectify_is_identity(self->rectify))
    gst_buffer_foreach_meta(job->out, drop_truth, NULL);
  attach_camera(self, job->out);
  return RV_OK;
}

/* Regions of others are moved with the pixels. */
static gboolean transform_meta(GstBaseTransform *trans, GstBuffer *out, GstMeta *meta,
                               GstBuffer *in) {
  if (gst_cuda_sgm_is_region(meta)) {
    gst_cuda_rectify_copy_region(out, meta, &GST_CUDA_RECTIFY(trans)->views);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_rectify_parent_class)
      ->transform_meta(trans, out, meta, in);
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_rectify_class_init(GstCudaRectifyClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_element(base, "cudarectify", &settings);
  base->picture = GST_MAP_READ;
  base->memory = GST_RV_MEMORY_UPLOADS;
  base->annotation = RV_META_CAMERA;
  base->check_caps = check_caps;
  base->transform_structure = transform_structure;
  base->gray16 = TRUE;
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  GST_BASE_TRANSFORM_CLASS(klass)->transform_meta = transform_meta;
  char *caps = gst_rv_transform_caps_string(TRUE, ", GRAY16_LE");
  gst_rv_transform_class_add_templates(base, caps, caps);
  g_free(caps);
}

static void gst_cuda_rectify_init(GstCudaRectify *self) {}
