/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect.c: element cudaroaddetect: colour and disparity in, RvRoadMeta out; cuda/road
 * does the work. */

/**
 * SECTION:element-cudaroaddetect
 * @title: cudaroaddetect
 * @short_description: Road, learnt while driving
 *
 * Finds the road in pictures that carry a disparity (cudasgm) and attaches it (RvRoadMeta: a mask
 * of square patches, the distance of each from what was learnt, the patches that taught, and
 * statistics). Near, smooth ground ahead teaches a small library of colour models; whatever looks
 * like them, is not above the ground and hangs together with that ground is road. Nothing is
 * trained beforehand; what was learnt can be saved (model-save-location) and loaded in another run
 * (model-location). The picture passes through untouched.
 *
 * The camera must be known: from RvCameraMeta, or focal-length and baseline here or at cudasgm.
 * Pictures without a disparity are told apart by what is known already; nothing is learnt of them.
 *
 * Works on the GPU and on the CPU; both give the same road. cudaannotate draws it. The action
 * signal "reset" forgets all that was learnt before the next frame.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc pattern=offroad ! cudasgm ! cudaroaddetect ! cudaannotate !
 *   videoconvert ! autovideosink
 * ]| A dirt track, tinted, with the ground that taught what it looks like.
 * |[
 * gst-launch-1.0 stereotestsrc pattern=offroad num-buffers=100 ! cudasgm !
 *   cudaroaddetect model-save-location=track.rvroad post-messages=true ! fakesink -m
 * ]| Statistics of each frame in messages; what was learnt goes into a file.
 *
 * Since: 0.1
 */
#include "gstcudaroaddetect.h"

#include "common/gstrvdisparity.h"
#include "gstcudaroaddetect_models.h"
#include "gstcudaroaddetect_settings.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_road_detect_debug);
#define GST_CAT_DEFAULT gst_cuda_road_detect_debug

#define parent_class gst_cuda_road_detect_parent_class

/* bits of gst_rv_transform_once; what is wrong with a disparity takes two */
enum { ONCE_DISPARITY, ONCE_MISSING = ONCE_DISPARITY + 2, ONCE_SIZE, ONCE_CAMERA, ONCE_GREY };

struct _GstCudaRoadDetect {
  GstRvTransform parent;

  GstCudaRoadDetectSettings settings; /* properties, guarded by the object lock, like these two */
  char *location, *save_location;
  gint reset; /* atomic: forget before the next frame */

  GstCudaRoadDetectSettings asked; /* what configure saw */
  char *asked_location;
  gboolean changed;    /* the object does not know `asked` yet */
  RvRoadConfig used;   /* of the object; width 0: not made yet */
  GBytes *models;      /* to be loaded into the object; NULL: nothing */
  gboolean from_drive; /* they were learnt here, not read from a file */
  gboolean unsaved;    /* a frame came after the last save */

  RvEngine engine;
  RvRoad *road;
  GstBufferPool *masks, *distances; /* one byte, and four, per patch */
  RvPlane color;                    /* of pictures in other formats; in the engine's memory */
  void *report;                     /* in the engine's memory */
  RvRoadReport found;               /* of the present frame */
  gboolean with_disparity;          /* the present frame has one */
  GstRvDisparity disparity;
  GstRvPayload mask, distance, seeds;
};

G_DEFINE_TYPE(GstCudaRoadDetect, gst_cuda_road_detect, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudaroaddetect, "cudaroaddetect", GST_RANK_NONE,
                            GST_TYPE_CUDA_ROAD_DETECT)

/* --- Properties ------------------------------------------------------------------------------ */

enum { PROP_0, PROP_LOCATION, PROP_SAVE_LOCATION }; /* below GST_CUDA_ROAD_DETECT_FIRST */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(object);
  GST_OBJECT_LOCK(self);
  char **text = id == PROP_LOCATION        ? &self->location
                : id == PROP_SAVE_LOCATION ? &self->save_location
                                           : NULL;
  if (text) {
    g_free(*text);
    *text = g_value_dup_string(value);
  } else if (!gst_rv_old_settings_set(&gst_cuda_road_detect_properties, &self->settings, id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
  gst_rv_transform_rebuild(GST_RV_TRANSFORM(self));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(object);
  GST_OBJECT_LOCK(self);
  if (id == PROP_LOCATION)
    g_value_set_string(value, self->location);
  else if (id == PROP_SAVE_LOCATION)
    g_value_set_string(value, self->save_location);
  else if (!gst_rv_old_settings_get(&gst_cuda_road_detect_properties, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(self);
}

static void install_properties(GObjectClass *object) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  g_object_class_install_property(
      object, PROP_LOCATION,
      g_param_spec_string("model-location", "Model location",
                          "File of models to begin with, written by model-save-location; set while "
                          "playing, it replaces what was learnt",
                          NULL, flags));
  g_object_class_install_property(
      object, PROP_SAVE_LOCATION,
      g_param_spec_string("model-save-location", "Model save location",
                          "File that what was learnt is written to at the end of the stream and "
                          "when the element stops",
                          NULL, flags));
  gst_rv_old_settings_install(&gst_cuda_road_detect_properties, object);
}

static void on_reset(GstCudaRoadDetect *self) {
  g_atomic_int_set(&self->reset, 1);
}

/* --- Models ---------------------------------------------------------------------------------- */

static gboolean is_set(const char *text) {
  return text && text[0];
}

/* `models` is taken over; NULL: nothing is to be loaded. */
static void keep_models(GstCudaRoadDetect *self, GBytes *models, gboolean from_drive) {
  g_clear_pointer(&self->models, g_bytes_unref);
  self->models = models;
  self->from_drive = from_drive;
}

/* Reads model-location when it is another than before, or has not been loaded yet: other settings
 * may refuse it. */
static RvStatus read_models(GstCudaRoadDetect *self, const char *location,
                            const RvRoadConfig *config) {
  const gboolean same = g_strcmp0(location, self->asked_location) == 0;
  const gboolean pending = self->models && !self->from_drive;
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
  g_free(self->asked_location);
  self->asked_location = g_strdup(location);
  return RV_OK;
}

static RvStatus save_models(GstCudaRoadDetect *self, GBytes *models, const RvLog *log) {
  GST_OBJECT_LOCK(self);
  char *path = g_strdup(self->save_location);
  GST_OBJECT_UNLOCK(self);
  RvStatus status = RV_OK;
  if (is_set(path) && self->unsaved && self->found.models == 0) {
    GST_ELEMENT_WARNING(self, RESOURCE, WRITE, ("Nothing was learnt, so %s is not written.", path),
                        ("There were no near, smooth patches of ground; see the scalars `samples` "
                         "and `seeds` of RvRoadMeta."));
  } else if (is_set(path) && self->unsaved) {
    status = models ? gst_cuda_road_detect_models_write(path, models, log) : RV_ERR_NO_MEMORY;
    if (status == RV_OK)
      GST_INFO_OBJECT(self, "%d models written to %s", self->found.models, path);
  }
  self->unsaved = FALSE;
  g_free(path);
  return status;
}

/* --- Life cycle ------------------------------------------------------------------------------ */

static void release_frame_memory(GstCudaRoadDetect *self) {
  gst_rv_payload_pool_free(&self->masks);
  gst_rv_payload_pool_free(&self->distances);
  rv_buffer_free(&self->color.data, self->engine);
}

/* What was learnt goes on in the next object, of another engine or device perhaps. */
static void release(GstRvTransform *base) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  if (self->road && (!self->models || self->from_drive))
    keep_models(self, gst_cuda_road_detect_models_take(self->road, &self->used, NULL), TRUE);
  rv_road_free(&self->road);
  self->used.width = 0;
  release_frame_memory(self);
  rv_buffer_free(&self->report, self->engine);
  gst_rv_disparity_clear(&self->disparity);
}

/* Files that cannot be used are named before anything runs. */
static gboolean start(GstBaseTransform *trans) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(trans);
  GstRvLog *log = gst_rv_transform_log(GST_RV_TRANSFORM(self));
  GST_OBJECT_LOCK(self);
  RvRoadConfig config = self->settings.road;
  char *location = g_strdup(self->location), *save_location = g_strdup(self->save_location);
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
    gst_rv_error_post(log, status, "save what was learnt");
  keep_models(self, NULL, FALSE);
  g_clear_pointer(&self->asked_location, g_free);
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

/* The object is made, or told, with the next frame, which brings the camera. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  GST_OBJECT_LOCK(self);
  GstCudaRoadDetectSettings asked = self->settings;
  char *location = g_strdup(self->location);
  GST_OBJECT_UNLOCK(self);
  asked.road.width = GST_VIDEO_INFO_WIDTH(&base->in_info);
  asked.road.height = GST_VIDEO_INFO_HEIGHT(&base->in_info);
  asked.road.camera = (RvCamera){.focal = 1, .baseline = 1};
  asked.road.threads = work->threads;
  asked.road.log = work->log;
  RvStatus status = RV_ERR_ARG;
  if (MIN(asked.road.width, asked.road.height) < asked.road.patch_size)
    gst_rv_log_line(&work->log,
                    "patch-size is %d px, but the picture has only %dx%d px: use a smaller patch "
                    "or larger pictures",
                    asked.road.patch_size, asked.road.width, asked.road.height);
  else
    status = rv_road_config_check(&asked.road);
  if (status == RV_OK) {
    status = read_models(self, location, &asked.road);
    /* While playing the former library stays in use, as with other settings. */
    status = status != RV_OK && self->road ? RV_ERR_ARG : status;
  }
  g_free(location);
  if (status != RV_OK)
    return status;
  self->asked = asked;
  self->changed = TRUE;
  if (GST_VIDEO_INFO_FORMAT(&base->in_info) == GST_VIDEO_FORMAT_GRAY8 &&
      gst_rv_transform_once(base, ONCE_GREY))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The pictures are grey (GRAY8): all patches look alike, so the road is "
                         "what is no higher than the ground ahead and hangs together with it."),
                        ("Give cudaroaddetect pictures in colour."));
  return RV_OK;
}

/* --- Objects --------------------------------------------------------------------------------- */

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
  if (!self->masks || !self->distances)
    return RV_ERR_NO_MEMORY;
  return rv_buffer_new(&self->color.data,
                       gst_rv_raster_bytes(RV_U32, config->width, config->height), work->engine);
}

static gboolean is_same_camera(const RvCamera *a, const RvCamera *b) {
  return a->focal == b->focal && a->cx == b->cx && a->cy == b->cy && a->doffs == b->doffs &&
         a->baseline == b->baseline;
}

static RvStatus make_object(GstCudaRoadDetect *self, const GstRvExecContext *work,
                            const RvRoadConfig *config) {
  if (!self->report) {
    const RvStatus status = rv_buffer_new(&self->report, sizeof self->found, work->engine);
    if (status != RV_OK)
      return status;
  }
  return rv_road_new(&self->road, config, work->engine);
}

/* The object as the properties and this camera ask, with what is to be loaded. */
static RvStatus ready_object(GstCudaRoadDetect *self, const GstRvExecContext *work,
                             const RvCamera *camera) {
  RvStatus status = RV_OK;
  if (!self->road || self->changed || !is_same_camera(camera, &self->used.camera)) {
    RvRoadConfig config = self->asked.road;
    config.camera = *camera;
    if (!self->color.data || config.width != self->used.width ||
        config.height != self->used.height || config.patch_size != self->used.patch_size)
      status = make_frame_memory(self, work, &config);
    if (status == RV_OK)
      status = self->road ? rv_road_set_config(self->road, &config, work->stream)
                          : make_object(self, work, &config);
    if (status != RV_OK)
      return status;
    self->used = config;
    self->changed = FALSE;
  }
  if (self->models) {
    gsize size;
    const void *data = g_bytes_get_data(self->models, &size);
    status = rv_road_load(self->road, data, size, work->stream);
    /* Models of a drive with other bins mean nothing any more. */
    status = self->from_drive && status == RV_ERR_IO ? RV_OK : status;
    keep_models(self, NULL, FALSE);
  }
  if (status == RV_OK && g_atomic_int_compare_and_exchange(&self->reset, 1, 0))
    status = rv_road_reset(self->road, work->stream);
  return status;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Colour as it lies in the picture where it is R, G, B, x in words; else a copy. */
static RvStatus take_color(GstCudaRoadDetect *self, const GstRvExecContext *work,
                           const RvPicture *picture, RvPlane *color) {
  if ((picture->format == RV_PIXEL_RGBX || picture->format == RV_PIXEL_RGBA) &&
      (guintptr)picture->data[0] % 4 == 0 && picture->stride[0] % 4 == 0) {
    *color =
        (RvPlane){picture->data[0], picture->stride[0], picture->width, picture->height, RV_U32};
    return RV_OK;
  }
  const GstVideoColorimetry *colors = &GST_RV_TRANSFORM(self)->in_info.colorimetry;
  /* BT.2020's luma weights lie next to those of BT.709. */
  const gboolean bt709 = colors->matrix == GST_VIDEO_COLOR_MATRIX_BT709 ||
                         colors->matrix == GST_VIDEO_COLOR_MATRIX_BT2020;
  *color = self->color;
  return rv_convert_color(picture, bt709, colors->range == GST_VIDEO_COLOR_RANGE_0_255, color,
                          work->threads, work->engine, work->stream, &work->log);
}

/* The annotated camera, brought to the picture's size, with the properties over it; FALSE when
 * depths cannot be had from it. */
static gboolean find_camera(const GstCudaRoadDetect *self, GstBuffer *buffer, RvCamera *camera) {
  const GstCudaRoadDetectSettings *asked = &self->asked;
  int width, height;
  if (rv_meta_get_camera(buffer, camera, &width, &height)) {
    const double sx = (double)asked->road.width / width;
    const double sy = (double)asked->road.height / height;
    camera->focal *= sx;
    camera->cx *= sx;
    camera->doffs *= sx;
    camera->cy *= sy;
  }
  if (camera->focal == 0) { /* then nothing is known of the principal point either */
    camera->cx = (asked->road.width - 1) / 2.0;
    camera->cy = (asked->road.height - 1) / 2.0;
  }
  camera->focal = asked->focal > 0 ? asked->focal : camera->focal;
  camera->baseline = asked->baseline > 0 ? asked->baseline : camera->baseline;
  camera->cx = asked->cx > 0 ? asked->cx : camera->cx;
  camera->cy = asked->cy > 0 ? asked->cy : camera->cy;
  camera->height = camera->pitch = 0; /* the ground is fitted */
  return camera->focal > 0 && camera->baseline > 0;
}

/* Says once why nothing is learnt of a picture; TRUE when its disparity is of use. */
static gboolean can_learn(GstCudaRoadDetect *self, GstBuffer *buffer, gboolean has_camera) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const RvPlane *plane = &self->disparity.plane;
  const int width = self->asked.road.width, height = self->asked.road.height;
  if (!plane->data) {
    if (!rv_meta_find(buffer, RV_META_DISPARITY) && gst_rv_transform_once(base, ONCE_MISSING))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The picture carries no disparity; no road is learnt."),
                          ("Put cudasgm before cudaroaddetect."));
    return FALSE;
  }
  if (plane->width != width || plane->height != height) {
    if (gst_rv_transform_once(base, ONCE_SIZE))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The disparity has %dx%d px, the picture %dx%d; no road is learnt.",
                           plane->width, plane->height, width, height),
                          ("Scale and crop before cudasgm or after cudaroaddetect."));
    return FALSE;
  }
  if (!has_camera && gst_rv_transform_once(base, ONCE_CAMERA))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("The camera is not known; no road is learnt."),
                        ("Set focal-length (px) and baseline (m) of cudasgm or cudaroaddetect."));
  return has_camera;
}

static RvStatus begin_payloads(GstCudaRoadDetect *self, RvRoadOutput *output) {
  int columns, rows;
  rv_road_size(&self->used, &columns, &rows);
  RvStatus status = gst_rv_payload_begin(&self->mask, self->masks, RV_U8, columns, rows);
  if (status == RV_OK)
    status = gst_rv_payload_begin(&self->seeds, self->masks, RV_U8, columns, rows);
  if (status == RV_OK)
    status = gst_rv_payload_begin(&self->distance, self->distances, RV_F32, columns, rows);
  *output = (RvRoadOutput){.mask = self->mask.plane,
                           .distance = self->distance.plane,
                           .seeds = self->seeds.plane,
                           .report = self->report};
  return status;
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
  if (!has_camera) /* of no account without a disparity; the object wants one */
    camera = self->used.width ? self->used.camera : self->asked.road.camera;
  RvPlane color;
  RvRoadOutput output;
  status = ready_object(self, work, &camera);
  if (status == RV_OK)
    status = take_color(self, work, job->in_picture, &color);
  if (status == RV_OK)
    status = begin_payloads(self, &output);
  if (status == RV_OK)
    status = rv_road_run(self->road, &color, self->with_disparity ? &self->disparity.plane : NULL,
                         &output, work->stream);
  if (status != RV_OK)
    return status;
  self->unsaved = TRUE;
  const gsize bytes = sizeof self->found;
  return rv_copy_rows(&self->found, (ptrdiff_t)bytes, RV_CPU, self->report, (ptrdiff_t)bytes,
                      work->engine, bytes, 1, work->stream);
}

static void attach(GstCudaRoadDetect *self, GstBuffer *out) {
  const RvRoadConfig *used = &self->used;
  const RvRoadReport *found = &self->found;
  RvMetaRoad meta = {
      .width = used->width,
      .height = used->height,
      .patch_size = used->patch_size,
      .models = found->models,
      .samples = found->samples,
      .seeds = found->seeds,
      .samples_matched = found->updated,
      .models_added = found->learnt,
      .samples_pending = found->waiting,
      .iterations = found->iterations,
      .classify_threshold = used->classify_threshold,
      .ground_slope_x = found->slope_x,
      .ground_slope_y = found->slope_y,
      .ground_intercept = found->intercept,
      .camera_height = found->height,
  };
  rv_road_size(used, &meta.columns, &meta.rows);
  meta.road_share = (double)found->road / ((double)meta.columns * meta.rows);
  meta.payload = gst_rv_payload_end(&self->mask);
  meta.distance = gst_rv_payload_end(&self->distance);
  meta.seed_mask = gst_rv_payload_end(&self->seeds);
  rv_meta_add_road(out, &meta);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job,
                       gboolean ok) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(base);
  /* Without models and without ground nothing is known about the picture. */
  if (ok && self->mask.buffer && (self->with_disparity || self->found.models > 0))
    attach(self, job->out);
  gst_rv_payload_drop(&self->mask);
  gst_rv_payload_drop(&self->distance);
  gst_rv_payload_drop(&self->seeds);
  gst_rv_disparity_unmap(&self->disparity);
  return RV_OK;
}

static void finalize(GObject *object) {
  GstCudaRoadDetect *self = GST_CUDA_ROAD_DETECT(object);
  keep_models(self, NULL, FALSE); /* of a start that failed */
  g_free(self->asked_location);
  g_free(self->location);
  g_free(self->save_location);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_road_detect_class_init(GstCudaRoadDetectClass *klass) {
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_road_detect_debug, "cudaroaddetect", 0, "road detection");
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  /**
   * GstCudaRoadDetect::reset:
   *
   * Forgets all models and waiting samples before the next frame.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler("reset", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
                             G_CALLBACK(on_reset), NULL, NULL, NULL, G_TYPE_NONE, 0);
  GST_BASE_TRANSFORM_CLASS(klass)->start = start;
  GST_BASE_TRANSFORM_CLASS(klass)->stop = stop;
  base->in_place = TRUE;
  base->picture = GST_MAP_READ;
  base->annotation = RV_META_ROAD;
  base->configure = configure;
  base->process = process;
  base->finish = finish;
  base->drain = drain;
  base->release = release;
  gst_rv_transform_class_add_templates(base, NULL, NULL);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Road detection",
                                        "Filter/Analyzer/Video/Hardware",
                                        "Finds the road by colours that near, smooth ground "
                                        "teaches, and attaches it (RvRoadMeta)",
                                        "gst-roadvision");
}

static void gst_cuda_road_detect_init(GstCudaRoadDetect *self) {
  rv_road_config_init(&self->settings.road);
  gst_rv_old_settings_init(&gst_cuda_road_detect_properties, &self->settings);
}
