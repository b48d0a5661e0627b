/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect.c: element cudaroaddetect: attaches the road of each frame (RvRoadMeta). */

/**
 * SECTION:element-cudaroaddetect
 * @title: cudaroaddetect
 * @short_description: Online road detection
 *
 * Finds the road in frames with a disparity (cudasgm) and attaches it (RvRoadMeta: a mask of square
 * patches, the score that decides, the distance of each patch to the nearest color model, the
 * training patches, the border of the road in px and m, the drivable distance, and statistics). Color models are learned online from near, smooth ground ahead; patches of a similar
 * color that are not above the ground plane and are connected to the training patches are road. No
 * previous training is needed. The models can be saved (model-save-location) and loaded in another
 * run (model-location). The frame passes through unchanged.
 *
 * The camera must be known: from RvCameraMeta, or focal-length and baseline here or at cudasgm.
 * Frames without a disparity are classified with the current models and not used for training.
 *
 * Works on the GPU and on the CPU; both give the same road. cudaannotate draws it. The action
 * signal "reset" clears all models before the next frame.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc pattern=offroad ! cudasgm ! cudaroaddetect ! cudaannotate !
 *   videoconvert ! autovideosink
 * ]| A dirt track, with the road and the training patches overlaid.
 * |[
 * gst-launch-1.0 stereotestsrc pattern=offroad num-buffers=100 ! cudasgm !
 *   cudaroaddetect model-save-location=track.rvroad post-messages=true ! fakesink -m
 * ]| Statistics of each frame in messages; the models are saved to a file.
 *
 * Since: 0.1
 */
#include "gstcudaroaddetect.h"

#include "common/gstrvcamera.h"
#include "common/gstrvdisparity.h"
#include "common/gstrvground.h"
#include "common/gstrvsettings.h"
#include "gstcudaroaddetect_models.h"
#include "rv_host.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

#define parent_class gst_cuda_road_detect_parent_class

/* bits of gst_rv_transform_once; a disparity takes two */
enum { ONCE_DISPARITY, ONCE_MISSING = ONCE_DISPARITY + 2, ONCE_SIZE, ONCE_CAMERA, ONCE_GRAY };

typedef struct Settings {
  RvRoadConfig config; /* size, camera, threads and log are set by the element */
  GstRvCameraSettings camera;
  char *location, *save_location;
} Settings;

/* What is copied to the host; the mask follows, row by row without padding. */
typedef struct Results {
  RvGroundSurface ground;
  RvRoadReport report;
} Results;

#define BORDER_VALUES 4 /* of a vertex */

struct _GstCudaRoadDetect {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */
  gint reset;        /* atomic: clear the models before the next frame */

  RvRoadConfig requested; /* as of the last configure */
  GstRvCameraSettings requested_camera;
  char *requested_location;
  gboolean changed;     /* `requested` is not yet set in the object */
  RvRoadConfig used;    /* of the object; width 0: not made yet */
  GBytes *models;       /* to load into the object; NULL: none */
  gboolean from_object; /* they were learned here, not read from a file */
  gboolean unsaved;     /* there was a frame after the last save */

  RvEngine engine;
  RvRoad *road;
  GstBufferPool *masks, *distances; /* one byte, and four, per patch */
  GstBufferPool *borders;           /* in host memory */
  RvPlane color;                    /* of frames in other formats; in the engine's memory */
  Results *results;                 /* in the engine's memory, with space for a mask */
  Results *copied;                  /* the same in host memory */
  Results found;                    /* of the current frame */
  void *border_memory;              /* rv_road_border_bytes */
  RvRoadBorder border;
  GstRvGround ground;
  gboolean has_ground;     /* of the current frame */
  gboolean with_disparity; /* of the current frame */
  GstRvDisparity disparity;
  GstRvPayload mask, score, distance, seeds;
};

G_DEFINE_TYPE(GstCudaRoadDetect, gst_cuda_road_detect, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudaroaddetect, "cudaroaddetect", GST_RANK_NONE,
                            GST_TYPE_CUDA_ROAD_DETECT)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParam own[] = {
    GST_RV_CAMERA_ROWS(Settings, camera),
    GST_RV_TEXT("model-location", location, NULL,
                "File of initial models, from model-save-location; replaces the learned models"),
    GST_RV_TEXT("model-save-location", save_location, NULL,
                "File to save the models to, at the end of the stream and when the element stops"),
};
GST_RV_TRANSFORM_SETTINGS(GstCudaRoadDetect, Settings, rv_road_params);

static void on_reset(GstCudaRoadDetect *self) {
  g_atomic_int_set(&self->reset, 1);
}

/* --- Models ---------------------------------------------------------------------------------- */

static gboolean is_set(const char *text) {
  return text && text[0];
}

/* Takes ownership of `models`; NULL: nothing to load. */
static void keep_models(GstCudaRoadDetect *self, GBytes *models, gboolean from_object) {
  g_clear_pointer(&self->models, g_bytes_unref);
  self->models = models;
  self->from_object = from_object;
}

/* Reads model-location when it is new, or not loaded yet: it may be invalid with other settings. */
static RvStatus read_models(GstCudaRoadDetect *self, const char *location,
                            const RvRoadConfig *config) {
  const gboolean same = g_strcmp0(location, self->requested_location) == 0;
  const gboolean pending = self->models && !self->from_object;
  if (same && !pending)
    return RV_OK;
  if (!is_set(location)) {
    if (pending)
      keep_models(self, NULL, FALSE);
  } else {
    GBytes *models = gst_cuda_road_detect_models_read(location, config, &config->log);
    if (!models)
      return RV_ERR_IO;
    keep_models(self, models, FALSE);
  }
  g_free(self->requested_location);
  self->requested_location = g_strdup(location);
  return RV_OK;
}

static RvStatus save_models(GstCudaRoadDetect *self, GBytes *models, const RvLog *log) {
  GST_OBJECT_LOCK(self);
  char *path = g_strdup(self->settings.save_location);
  GST_OBJECT_UNLOCK(self);
  RvStatus status = RV_OK;
  if (is_set(path) && self->unsaved && self->found.report.models == 0) {
    GST_ELEMENT_WARNING(self, RESOURCE, WRITE,
                        ("No models were learned, so %s is not written.", path),
                        ("There were no near, smooth patches of ground. Check the scalars "
                         "`samples` and `seeds` of RvRoadMeta."));
  } else if (is_set(path) && self->unsaved) {
    status = models ? gst_cuda_road_detect_models_write(path, models, log) : RV_ERR_NO_MEMORY;
    if (status == RV_OK)
      GST_INFO_OBJECT(self, "%d models written to %s", self->found.report.models, path);
  }
  self->unsaved = FALSE;
  g_free(path);
  return status;
}

/* --- Life cycle ------------------------------------------------------------------------------ */

static void release_frame_memory(GstCudaRoadDetect *self) {
  gst_rv_payload_pool_free(&self->masks);
  gst_rv_payload_pool_free(&self->distances);
  gst_rv_payload_pool_free(&self->borders);
  rv_buffer_free((void **)&self->results, self->engine);
  rv_host_free((void **)&self->copied, self->engine);
  g_clear_pointer(&self->border_memory, g_free);
  rv_buffer_free(&self->color.data, self->engine);
}

/* The models are kept for the next object, which may be of another engine or device. */
static void release(GstRvTransform *base) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  if (self->road && (!self->models || self->from_object))
    keep_models(self, gst_cuda_road_detect_models_take(self->road, &self->used, NULL), TRUE);
  rv_road_free(&self->road);
  self->used.width = 0;
  release_frame_memory(self);
  gst_rv_ground_clear(&self->ground);
  gst_rv_disparity_clear(&self->disparity);
}

/* Invalid files are reported before the first frame. */
static gboolean start(GstBaseTransform *trans) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(trans);
  GstRvLog *log = gst_rv_transform_log(GST_RV_TRANSFORM(self));
  GST_OBJECT_LOCK(self);
  RvRoadConfig config = self->settings.config;
  char *location = g_strdup(self->settings.location);
  char *save_location = g_strdup(self->settings.save_location);
  GST_OBJECT_UNLOCK(self);
  config.log = gst_rv_log_sink(log);
  gboolean good = read_models(self, location, &config) == RV_OK;
  if (good && is_set(save_location))
    good = gst_cuda_road_detect_models_writable(save_location, &config.log);
  g_free(save_location);
  g_free(location);
  if (!good)
    gst_rv_error_post(log, RV_ERR_IO, "start");
  self->reset = 0;
  self->unsaved = FALSE;
  return good && GST_BASE_TRANSFORM_CLASS(parent_class)->start(trans);
}

static gboolean stop(GstBaseTransform *trans) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(trans);
  GstRvLog *log = gst_rv_transform_log(GST_RV_TRANSFORM(self));
  const gboolean stopped = GST_BASE_TRANSFORM_CLASS(parent_class)->stop(trans);
  const RvLog sink = gst_rv_log_sink(log);
  const RvStatus status = save_models(self, self->models, &sink);
  if (status != RV_OK)
    gst_rv_error_post(log, status, "save the models");
  keep_models(self, NULL, FALSE);
  g_clear_pointer(&self->requested_location, g_free);
  return stopped;
}

static RvStatus drain(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  if (!self->road || !self->unsaved)
    return RV_OK;
  GBytes *models = gst_cuda_road_detect_models_take(self->road, &self->used, work->stream);
  const RvStatus status = save_models(self, models, &work->log);
  g_clear_pointer(&models, g_bytes_unref);
  return status;
}

/* The object is made or updated with the next frame, which defines the camera. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  GST_OBJECT_LOCK(self);
  RvRoadConfig config = self->settings.config;
  const GstRvCameraSettings camera = self->settings.camera;
  char *location = g_strdup(self->settings.location);
  GST_OBJECT_UNLOCK(self);
  config.width = GST_VIDEO_INFO_WIDTH(&base->in_info);
  config.height = GST_VIDEO_INFO_HEIGHT(&base->in_info);
  config.camera = (RvCamera){.focal = 1, .baseline = 1};
  config.threads = work->threads;
  config.log = work->log;
  RvStatus status = RV_ERR_ARG;
  if (MIN(config.width, config.height) < config.patch_size)
    gst_rv_log_line(&work->log,
                    "patch-size is %d px, but the frame has only %dx%d px: use a smaller patch or "
                    "larger frames",
                    config.patch_size, config.width, config.height);
  else
    status = rv_road_config_check(&config);
  if (status == RV_OK) {
    status = read_models(self, location, &config);
    /* In PLAYING the previous models remain in use, as with other settings. */
    status = status != RV_OK && self->road ? RV_ERR_ARG : status;
  }
  g_free(location);
  if (status != RV_OK)
    return status;
  self->requested = config;
  self->requested_camera = camera;
  self->changed = TRUE;
  if (GST_VIDEO_INFO_FORMAT(&base->in_info) == GST_VIDEO_FORMAT_GRAY8 &&
      gst_rv_transform_once(base, ONCE_GRAY))
    GST_ELEMENT_WARNING(
        self, STREAM, FORMAT,
        ("The input is GRAY8: there is no color cue, so only height and connectivity "
         "decide what is road."),
        ("Supply frames in color."));
  return RV_OK;
}

/* --- Objects --------------------------------------------------------------------------------- */

static gsize results_bytes(const RvRoadConfig *config) {
  int columns, rows;
  rv_road_size(config, &columns, &rows);
  return sizeof(Results) + (gsize)columns * (gsize)rows;
}

static RvStatus make_frame_memory(GstCudaRoadDetect *self, const GstRvExecContext *work,
                                  const RvRoadConfig *config) {
  GstRvDevice *device = work->engine == RV_CUDA ? work->device : NULL;
  int columns, rows;
  release_frame_memory(self);
  rv_road_size(config, &columns, &rows);
  self->engine = work->engine;
  self->color = (RvPlane){NULL, gst_rv_raster_stride(RV_U32, config->width), config->width,
                          config->height, RV_U32};
  self->masks = gst_rv_payload_pool_new(device, gst_rv_raster_bytes(RV_U8, columns, rows));
  self->distances = gst_rv_payload_pool_new(device, gst_rv_raster_bytes(RV_F32, columns, rows));
  self->borders = gst_rv_payload_pool_new(NULL, RV_ROAD_BORDER_MAX * BORDER_VALUES * sizeof(float));
  self->border_memory = g_malloc(rv_road_border_bytes(config));
  if (!self->masks || !self->distances || !self->borders)
    return RV_ERR_NO_MEMORY;
  RvStatus status = rv_host_new((void **)&self->copied, results_bytes(config), work->engine);
  if (status == RV_OK)
    status = rv_buffer_new((void **)&self->results, results_bytes(config), work->engine);
  if (status != RV_OK)
    return status;
  return rv_buffer_new(&self->color.data,
                       gst_rv_raster_bytes(RV_U32, config->width, config->height), work->engine);
}

/* Makes or updates the object for the properties and this camera, and loads models. */
static RvStatus ready_object(GstCudaRoadDetect *self, const GstRvExecContext *work,
                             const RvCamera *camera) {
  RvStatus status = RV_OK;
  if (!self->road || self->changed || !gst_rv_camera_is_same(camera, &self->used.camera)) {
    RvRoadConfig config = self->requested;
    config.camera = *camera;
    if (!self->color.data || config.width != self->used.width ||
        config.height != self->used.height || config.patch_size != self->used.patch_size)
      status = make_frame_memory(self, work, &config);
    if (status == RV_OK)
      status = self->road ? rv_road_set_config(self->road, &config, work->stream)
                          : rv_road_new(&self->road, &config, work->engine);
    if (status != RV_OK)
      return status;
    self->used = config;
    self->changed = FALSE;
  }
  if (self->models) {
    gsize size;
    const void *data = g_bytes_get_data(self->models, &size);
    status = rv_road_load(self->road, data, size, work->stream);
    /* Models that were learned with other bins are cleared. */
    status = self->from_object && status == RV_ERR_IO ? RV_OK : status;
    keep_models(self, NULL, FALSE);
  }
  if (status == RV_OK && g_atomic_int_compare_and_exchange(&self->reset, 1, 0))
    status = rv_road_reset(self->road, work->stream);
  return status;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* The color plane: the frame itself where it is R, G, B, x in 32-bit words; else a copy. */
static RvStatus take_color(GstCudaRoadDetect *self, const GstRvExecContext *work,
                           const RvPicture *picture, RvPlane *color) {
  if ((picture->format == RV_PIXEL_RGBX || picture->format == RV_PIXEL_RGBA) &&
      (guintptr)picture->data[0] % 4 == 0 && picture->stride[0] % 4 == 0) {
    *color =
        (RvPlane){picture->data[0], picture->stride[0], picture->width, picture->height, RV_U32};
    return RV_OK;
  }
  const GstVideoColorimetry *colors = &GST_RV_TRANSFORM(self)->in_info.colorimetry;
  /* BT.2020 has nearly the luma weights of BT.709. */
  const gboolean bt709 = colors->matrix == GST_VIDEO_COLOR_MATRIX_BT709 ||
                         colors->matrix == GST_VIDEO_COLOR_MATRIX_BT2020;
  *color = self->color;
  return rv_convert_color(picture, bt709, colors->range == GST_VIDEO_COLOR_RANGE_0_255, color,
                          work->threads, work->engine, work->stream, &work->log);
}

/* FALSE when depth is unknown. */
static gboolean find_camera(const GstCudaRoadDetect *self, GstBuffer *buffer, RvCamera *camera) {
  const gboolean is_known = gst_rv_camera_find(
      buffer, &self->requested_camera, self->requested.width, self->requested.height, camera);
  camera->height = camera->pitch = 0; /* the ground is fitted */
  return is_known;
}

/* TRUE when the disparity can be used for training; else warns once. */
static gboolean can_learn(GstCudaRoadDetect *self, GstBuffer *buffer, gboolean has_camera) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const RvPlane *plane = &self->disparity.plane;
  const int width = self->requested.width, height = self->requested.height;
  if (!plane->data) {
    if (!rv_meta_find(buffer, RV_META_DISPARITY) && gst_rv_transform_once(base, ONCE_MISSING))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The frame has no disparity annotation; no models are learned."),
                          ("Add cudasgm upstream of cudaroaddetect."));
    return FALSE;
  }
  if (plane->width != width || plane->height != height) {
    if (gst_rv_transform_once(base, ONCE_SIZE))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The disparity has %dx%d px, the frame %dx%d px; no models are learned.",
                           plane->width, plane->height, width, height),
                          ("Scale and crop upstream of cudasgm or downstream of cudaroaddetect."));
    return FALSE;
  }
  if (!has_camera && gst_rv_transform_once(base, ONCE_CAMERA))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("The camera is not known; no models are learned."),
                        ("Set focal-length (px) and baseline (m) of cudasgm or cudaroaddetect."));
  return has_camera;
}

/* The mask behind the results. */
static RvPlane mask_of(Results *results, int columns, int rows) {
  return (RvPlane){results + 1, columns, columns, rows, RV_U8};
}

static RvStatus begin_payloads(GstCudaRoadDetect *self, RvRoadOutput *output) {
  int columns, rows;
  rv_road_size(&self->used, &columns, &rows);
  RvStatus status = gst_rv_payload_begin(&self->mask, self->masks, RV_U8, columns, rows);
  if (status == RV_OK)
    status = gst_rv_payload_begin(&self->seeds, self->masks, RV_U8, columns, rows);
  if (status == RV_OK)
    status = gst_rv_payload_begin(&self->score, self->masks, RV_U8, columns, rows);
  if (status == RV_OK)
    status = gst_rv_payload_begin(&self->distance, self->distances, RV_F32, columns, rows);
  *output = (RvRoadOutput){.mask = mask_of(self->results, columns, rows),
                           .score = self->score.plane,
                           .distance = self->distance.plane,
                           .seeds = self->seeds.plane,
                           .report = &self->results->report};
  return status;
}

/* The ground of RvGroundMeta, or a new one; frames that are too small for it fit their own plane. */
static RvStatus make_ground(GstCudaRoadDetect *self, const GstRvExecContext *work,
                            const GstRvJob *job) {
  const RvPlane *plane = &self->disparity.plane;
  const RvGroundConfig wanted = {.camera = self->used.camera,
                                 .max_disparity = self->disparity.range};
  self->has_ground = self->with_disparity && MIN(plane->width, plane->height) >= RV_GROUND_SIDE_MIN;
  return self->has_ground ? gst_rv_ground_make(&self->ground, work, job->in, plane, &wanted,
                                               &self->results->ground)
                          : RV_OK;
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  RvCamera camera;
  const gboolean has_camera = find_camera(self, job->in, &camera);
  RvStatus status = RV_OK;
  if (rv_meta_find(job->in, RV_META_DISPARITY))
    status = gst_rv_disparity_map(&self->disparity, base, work, job->in, GST_RV_DISPARITY_SCALE,
                                  ONCE_DISPARITY);
  if (status != RV_OK)
    return status;
  self->with_disparity = can_learn(self, job->in, has_camera);
  if (!has_camera) /* any: it is not used without a disparity */
    camera = self->used.width ? self->used.camera : self->requested.camera;
  RvPlane color;
  RvRoadOutput output;
  status = ready_object(self, work, &camera);
  if (status == RV_OK)
    status = take_color(self, work, job->in_picture, &color);
  if (status == RV_OK)
    status = begin_payloads(self, &output);
  if (status == RV_OK)
    status = make_ground(self, work, job);
  if (status == RV_OK)
    status =
        rv_road_run_on(self->road, &color, self->with_disparity ? &self->disparity.plane : NULL,
                       self->has_ground ? &self->results->ground : NULL, &output, work->stream);
  if (status != RV_OK)
    return status;
  self->unsaved = TRUE;
  const RvPlane *mask = &self->mask.plane;
  status =
      rv_copy_rows(mask->data, mask->stride, work->engine, output.mask.data, output.mask.stride,
                   work->engine, (size_t)mask->width, mask->height, work->stream);
  if (status != RV_OK)
    return status;
  const gsize bytes = results_bytes(&self->used);
  return rv_copy_rows(self->copied, (ptrdiff_t)bytes, RV_CPU, self->results, (ptrdiff_t)bytes,
                      work->engine, bytes, 1, work->stream);
}

/* Border and drivable distance, from the mask in host memory. */
static RvStatus find_border(GstCudaRoadDetect *self) {
  int columns, rows;
  rv_road_size(&self->used, &columns, &rows);
  const RvPlane mask = mask_of(self->copied, columns, rows);
  return rv_road_border(&self->used, &mask, &self->found.report,
                        self->has_ground ? &self->found.ground : NULL, self->border_memory,
                        &self->border);
}

static void attach(GstCudaRoadDetect *self, GstBuffer *out) {
  const RvRoadConfig *used = &self->used;
  const RvRoadReport *found = &self->found.report;
  RvMetaRoad meta = {
      .width = used->width,
      .height = used->height,
      .patch_size = used->patch_size,
      .models = found->models,
      .samples = found->samples,
      .seeds = found->seeds,
      .samples_matched = found->samples_matched,
      .models_added = found->models_added,
      .samples_pending = found->samples_pending,
      .iterations = found->iterations,
      .classify_threshold = used->classify_threshold,
      .ground_slope_x = found->slope_x,
      .ground_slope_y = found->slope_y,
      .ground_intercept = found->intercept,
      .camera_height = found->height,
      .drivable_distance = self->border.drivable,
      .border_values = self->border.count * BORDER_VALUES,
  };
  rv_road_size(used, &meta.columns, &meta.rows);
  meta.road_share = (double)found->road / ((double)meta.columns * meta.rows);
  meta.payload = gst_rv_payload_end(&self->mask);
  meta.score = gst_rv_payload_end(&self->score);
  meta.distance = gst_rv_payload_end(&self->distance);
  meta.seed_mask = gst_rv_payload_end(&self->seeds);
  if (self->border.count > 0)
    meta.border = gst_rv_payload_of(self->borders, self->border.point,
                                    (gsize)meta.border_values * sizeof(float));
  rv_meta_add_road(out, &meta);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  RvStatus status = RV_OK;
  if (job->ok && self->mask.buffer) {
    self->found = *self->copied;
    status = find_border(self);
  }
  const gboolean ok = job->ok && status == RV_OK;
  /* Without models and without disparity there is no result. */
  if (ok && self->mask.buffer && (self->with_disparity || self->found.report.models > 0))
    attach(self, job->out);
  if (ok && self->has_ground)
    gst_rv_ground_attach(&self->ground, &self->found.ground, job->out);
  gst_rv_payload_drop(&self->mask);
  gst_rv_payload_drop(&self->score);
  gst_rv_payload_drop(&self->distance);
  gst_rv_payload_drop(&self->seeds);
  gst_rv_disparity_unmap(&self->disparity);
  return status;
}

static void finalize(GObject *object) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(object);
  keep_models(self, NULL, FALSE); /* of a start that failed */
  g_free(self->requested_location);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

/* --- Class ----------------------------------------------------------------------------------- */

/* The models are kept. */
static RvStatus reset(GstRvTransform *base, const GstRvExecContext *work) {
  return gst_rv_ground_reset(&GST_CUDA_ROAD_DETECT(base)->ground, work);
}

static void gst_cuda_road_detect_class_init(GstCudaRoadDetectClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_analyzer(base, "cudaroaddetect", &settings, GST_MAP_READ, RV_META_ROAD,
                                      RV_META_GROUND, NULL);
  /**
   * GstCudaRoadDetect::reset:
   *
   * Clears all models and pending samples before the next frame.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler("reset", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
                             G_CALLBACK(on_reset), NULL, NULL, NULL, G_TYPE_NONE, 0);
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  base->reset = reset;
  base->drain = drain;
  GST_BASE_TRANSFORM_CLASS(klass)->start = start;
  GST_BASE_TRANSFORM_CLASS(klass)->stop = stop;
  G_OBJECT_CLASS(klass)->finalize = finalize;
}

static void gst_cuda_road_detect_init(GstCudaRoadDetect *self) {}
