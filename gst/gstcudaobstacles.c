/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles.c: element cudaobstacles: attaches obstacles, free space and the distances of
 * boxes (RvObstaclesMeta, RvFreeSpaceMeta, RvDetectionsMeta, RvGroundMeta). */

/**
 * SECTION:element-cudaobstacles
 * @title: cudaobstacles
 * @short_description: Obstacles, free space and distances from disparity
 *
 * Finds what stands on the ground and is in the way, in frames with a disparity (cudasgm), and
 * attaches it: obstacles with box, distance, size, velocity and time to collision, tracked with ids
 * (RvObstaclesMeta), and the distance up to which each column is free (RvFreeSpaceMeta). Boxes that
 * other elements attached (GstVideoRegionOfInterestMeta, object detections of GstAnalytics) get
 * their distance (RvDetectionsMeta, and in the box itself). The ground is that of RvGroundMeta, or
 * is estimated and attached. The frame passes through unchanged.
 *
 * The camera must be known: from RvCameraMeta, or focal-length and baseline here or at cudasgm.
 *
 * Works on the GPU and on the CPU; both give the same obstacles. cudaannotate draws them.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! video/x-raw,width=2484,height=375 ! cudasgm ! cudaobstacles !
 *   cudaannotate ! videoconvert ! autovideosink
 * ]| A rendered street with its obstacles.
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudaobstacles post-messages=true ! fakesink -m
 * ]| Nearest obstacle in the path of each frame, in messages.
 *
 * Since: 0.1
 */
#include "gstcudaobstacles.h"

#include "gstcudaobstacles_private.h"
#include "rv_host.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

#define RANGE 128 /* px, of frames that do not state it */

/* bits of gst_rv_transform_once; a disparity takes two */
enum {
  ONCE_DISPARITY,
  ONCE_CAMERA = ONCE_DISPARITY + 2,
  ONCE_RECORDS,
  ONCE_SMALL,
  ONCE_HEIGHT,
  ONCE_ANALYTICS,
  ONCE_BOXES,
};

G_DEFINE_TYPE(GstCudaObstacles, gst_cuda_obstacles, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudaobstacles, "cudaobstacles", GST_RANK_NONE, GST_TYPE_CUDA_OBSTACLES)

/* --- Properties ------------------------------------------------------------------------------ */

typedef GstCudaObstaclesSettings Settings; /* of the rows */

static const RvParam own[] = {
    GST_RV_CAMERA_ROWS(GstCudaObstaclesSettings, camera),
    GST_RV_ENUM(
        "ground", ground,
        GST_RV_VALUES({RV_GROUND_MODE_ESTIMATE, "estimate",
                       "Ground of RvGroundMeta if there is one, else estimated"},
                      {RV_GROUND_MODE_CAMERA, "camera", "Plane of the camera's height and pitch"}),
        RV_GROUND_MODE_ESTIMATE, 0, NULL, NULL, "Source of the ground"),
    GST_RV_DOUBLE("camera-height", height, 0, 1000, 0, 0, "m", GST_RV_CAMERA_FROM_META,
                  "Height of the camera above the ground, for ground=camera"),
    GST_RV_DOUBLE("camera-pitch", pitch, -89, 89, 0, 0, "degrees", NULL,
                  "Pitch of the camera, positive looking down; used with camera-height"),
    GST_RV_BOOL("track", track, 1, 0, NULL, NULL,
                "Follow obstacles over time: ids, velocities, times to collision"),
    GST_RV_BOOL("free-space", free_space, 1, 0, NULL, NULL, "Find the free space"),
    GST_RV_BOOL("boxes", boxes, 1, 0, NULL, NULL,
                "Measure the distances of boxes that other elements attached"),
    GST_RV_FLAGS(
        "attach", attach,
        GST_RV_VALUES({GST_CUDA_OBSTACLES_ROI, "roi",
                       "Regions of interest (GstVideoRegionOfInterestMeta) of the type obstacle"},
                      {GST_CUDA_OBSTACLES_ANALYTICS, "analytics",
                       "Object detections and tracks of GstAnalytics (GStreamer 1.24)"}),
        0, 0, NULL, NULL, "Further forms in which obstacles are attached, for other software"),
    GST_RV_DOUBLE("ego-speed", speed, -1, 150, -1, RV_PARAM_LIVE, "m/s", "-1 = unknown",
                  "Forward speed of the vehicle; flags obstacles that move"),
    GST_RV_DOUBLE(
        "ego-yaw-rate", yaw_rate, -200, 200, 0, RV_PARAM_LIVE, "degrees/s", NULL,
        "Yaw rate of the vehicle, positive to the right; obstacles keep their ids in curves"),
    GST_RV_DISPARITY_SCALE_ROW(offsetof(GstCudaObstaclesSettings, scale)),
};
GST_RV_TRANSFORM_SETTINGS(GstCudaObstacles, GstCudaObstaclesSettings, rv_obstacles_params);

/* --- Objects --------------------------------------------------------------------------------- */

static void release_objects(GstCudaObstacles *self) {
  rv_obstacles_free(&self->object);
  rv_buffer_free((void **)&self->device, self->engine);
  rv_buffer_free((void **)&self->rects, self->engine);
  rv_buffer_free(&self->gray.data, self->engine);
  rv_host_free((void **)&self->found, self->engine);
  gst_rv_payload_pool_free(&self->lists);
  gst_rv_payload_pool_free(&self->spaces);
  gst_rv_payload_pool_free(&self->detections);
  self->used.width = 0;
}

/* The tracks stay: settings that are changed while playing do not end them. */
static void release(GstRvTransform *base) {
  GstCudaObstacles *self = GST_CUDA_OBSTACLES(base);
  release_objects(self);
  gst_rv_ground_clear(&self->ground);
  gst_rv_disparity_clear(&self->disparity);
  gst_rv_frame_clear(&self->picture);
  gst_rv_input_clear(&self->records);
}

static gboolean stop(GstBaseTransform *trans) {
  rv_obstacles_tracks_free(&GST_CUDA_OBSTACLES(trans)->tracks);
  rv_obstacles_tracks_free(&GST_CUDA_OBSTACLES(trans)->box_tracks);
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_obstacles_parent_class)->stop(trans);
}

/* The object is made with the first disparity, which defines size and camera. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaObstacles *self = GST_CUDA_OBSTACLES(base);
  Settings wanted = *(const Settings *)gst_rv_transform_settings(base);
  wanted.config.width = wanted.config.height = RV_OBSTACLES_SIDE_MIN;
  wanted.config.camera = (RvCamera){.focal = 1, .baseline = 1};
  wanted.config.threads = work->threads;
  wanted.config.log = work->log;
  const RvStatus status = rv_obstacles_config_check(&wanted.config);
  if (status != RV_OK) /* the previous object remains in use */
    return status;
  self->requested = wanted;
  if (self->object && self->engine != work->engine)
    release(base);
  if ((wanted.attach & GST_CUDA_OBSTACLES_ANALYTICS) &&
      !gst_cuda_obstacles_analytics_is_supported() && gst_rv_transform_once(base, ONCE_ANALYTICS))
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("attach=analytics is ignored: this build has no GstAnalytics."),
                        ("It needs GStreamer 1.24 or newer when the plugin is built."));
  return RV_OK;
}

/* The config of a frame of width x height px. */
static RvObstaclesConfig config_of(const GstCudaObstacles *self, const GstRvExecContext *work,
                                   int width, int height, int range, int stixel_width,
                                   const RvCamera *camera) {
  RvObstaclesConfig config = self->requested.config;
  config.width = width;
  config.height = height;
  config.camera = *camera;
  config.max_disparity = CLAMP(range > 0 ? range : RANGE, 16, 4096);
  config.stixel_width = stixel_width;
  config.log = work->log;
  return config;
}

static gsize found_bytes(const GstCudaObstacles *self) {
  return sizeof(GstCudaObstaclesFound) + (gsize)self->columns * sizeof(RvFreeColumn);
}

static RvStatus make_memory(GstCudaObstacles *self, const GstRvExecContext *work) {
  rv_obstacles_size(&self->used, &self->columns, &self->column_width);
  self->lists = gst_rv_payload_pool_new(NULL, sizeof self->obstacles);
  self->spaces = gst_rv_payload_pool_new(NULL, (gsize)self->columns * sizeof(RvFreeColumn));
  self->detections = gst_rv_payload_pool_new(NULL, RV_OBSTACLES_BOXES * sizeof(RvDetection));
  self->engine = work->engine;
  if (!self->lists || !self->spaces || !self->detections)
    return RV_ERR_NO_MEMORY;
  RvStatus status = rv_host_new((void **)&self->found, found_bytes(self), work->engine);
  if (status == RV_OK)
    status = rv_buffer_new((void **)&self->device, found_bytes(self), work->engine);
  const int width = self->used.width, height = self->used.height;
  self->gray = (RvPlane){NULL, width, width, height, RV_U8};
  if (status == RV_OK)
    status =
        rv_buffer_new(&self->gray.data, gst_rv_raster_bytes(RV_U8, width, height), work->engine);
  return status == RV_OK
             ? rv_buffer_new((void **)&self->rects, sizeof self->boxes.rect, work->engine)
             : status;
}

static RvStatus make_tracks(RvObstaclesTracks **tracks, const RvObstaclesConfig *config) {
  return *tracks ? rv_obstacles_tracks_set_config(*tracks, config)
                 : rv_obstacles_tracks_new(tracks, config);
}

static RvStatus make_objects(GstCudaObstacles *self, const GstRvExecContext *work,
                             const RvObstaclesConfig *config) {
  if (self->object && gst_rv_camera_is_same(&self->used.camera, &config->camera) &&
      rv_params_are_equal(rv_obstacles_params(), &self->used, config))
    return RV_OK;
  release_objects(self);
  self->used = *config;
  RvStatus status = rv_obstacles_config_check(config);
  if (status == RV_OK)
    status = make_memory(self, work);
  if (status == RV_OK)
    status = rv_obstacles_new(&self->object, config, work->engine);
  if (status == RV_OK)
    status = make_tracks(&self->tracks, config);
  return status == RV_OK ? make_tracks(&self->box_tracks, config) : status;
}

/* --- Input ----------------------------------------------------------------------------------- */

/* What a frame is worked on with; width 0: nothing. */
typedef struct Input {
  RvObstaclesSource source;
  int width, height, stixel_width;
} Input;

/* The records of an annotation of width x height px; `source` as of the setting. */
static RvStatus map_records(GstCudaObstacles *self, const GstRvExecContext *work, GstBuffer *buffer,
                            Input *input) {
  const gboolean is_stixels = self->requested.config.input == RV_OBSTACLES_STIXELS;
  RvMetaStixels stixels = {0};
  RvMetaSegments segments = {0};
  const gboolean is_there =
      is_stixels ? rv_meta_get_stixels(buffer, &stixels) : rv_meta_get_segments(buffer, &segments);
  if (!is_there || stixels.stixel_width > 256) {
    if (gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_RECORDS))
      GST_ELEMENT_WARNING(
          self, STREAM, FORMAT,
          ("The frame has no %s; no obstacles are found.", is_stixels ? "stixels" : "segments"),
          ("Add %s upstream of cudaobstacles, or set input=disparity.",
           is_stixels ? "cudastixels" : "cudardp"));
    return RV_OK;
  }
  const int count = is_stixels ? stixels.count : segments.count;
  if (count > 0) {
    const RvStatus status =
        gst_rv_input_map(&self->records, work, is_stixels ? stixels.payload : segments.payload);
    if (status != RV_OK)
      return status;
    input->source.stixels = is_stixels ? self->records.plane.data : NULL;
    input->source.segments = is_stixels ? NULL : self->records.plane.data;
  }
  input->source.count = (guint32)count;
  input->width = is_stixels ? stixels.width : segments.width;
  input->height = is_stixels ? stixels.height : segments.height;
  input->stixel_width = is_stixels ? stixels.stixel_width : input->stixel_width;
  return RV_OK;
}

/* Disparity and records; the disparity is needed for the ground and for boxes too. */
static RvStatus map_input(GstCudaObstacles *self, const GstRvExecContext *work, const GstRvJob *job,
                          Input *input) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const RvPlane *plane = &self->disparity.plane;
  RvStatus status = gst_rv_disparity_map(&self->disparity, base, work, job->in,
                                         self->requested.scale, ONCE_DISPARITY);
  if (status != RV_OK || !plane->data)
    return status;
  input->stixel_width = 8;
  input->source.disparity = *plane;
  input->width = plane->width;
  input->height = plane->height;
  if (self->requested.config.input != RV_OBSTACLES_DISPARITY) {
    input->width = 0;
    status = map_records(self, work, job->in, input);
    if (input->width != plane->width || input->height != plane->height)
      input->width = 0; /* of another frame */
  }
  if (input->width > 0 && MIN(input->width, input->height) < RV_OBSTACLES_SIDE_MIN) {
    if (gst_rv_transform_once(base, ONCE_SMALL))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("A disparity of %dx%d px is too small; no obstacles are found.",
                           input->width, input->height),
                          ("Supply at least %d px in both directions.", RV_OBSTACLES_SIDE_MIN));
    input->width = 0;
  }
  return status;
}

/* The gray of the frame, for the free space; not of disparity maps, nor of a frame of another size. */
static RvStatus take_gray(GstCudaObstacles *self, const GstRvExecContext *work, const GstRvJob *job,
                          RvPlane *gray) {
  const GstVideoInfo *info = &GST_RV_TRANSFORM(self)->in_info;
  *gray = (RvPlane){.data = NULL};
  if (!self->requested.free_space || self->used.input != RV_OBSTACLES_DISPARITY ||
      GST_VIDEO_INFO_FORMAT(info) == GST_VIDEO_FORMAT_GRAY16_LE ||
      GST_VIDEO_INFO_WIDTH(info) != self->used.width ||
      GST_VIDEO_INFO_HEIGHT(info) != self->used.height)
    return RV_OK;
  const RvStatus status = gst_rv_frame_map(&self->picture, work, info, job->in, GST_MAP_READ);
  return status == RV_OK ? gst_rv_picture_gray(&self->picture.picture, work, &self->gray, gray)
                         : status;
}

static gboolean find_camera(GstCudaObstacles *self, const Input *input, GstBuffer *buffer,
                            RvCamera *camera) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const GstCudaObstaclesSettings *s = &self->requested;
  if (!gst_rv_camera_find(buffer, &s->camera, input->width, input->height, camera)) {
    if (gst_rv_transform_once(base, ONCE_CAMERA))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The camera is not known; no obstacles are found."),
                          ("Set focal-length (px) and baseline (m) of cudasgm or cudaobstacles."));
    return FALSE;
  }
  if (s->height > 0) {
    camera->height = s->height;
    camera->pitch = s->pitch;
  }
  if (s->ground == RV_GROUND_MODE_CAMERA && !(camera->height > 0) &&
      gst_rv_transform_once(base, ONCE_HEIGHT))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The height of the camera is not known; the ground is estimated."),
                        ("Set camera-height (m) for ground=camera."));
  return TRUE;
}

/* --- One frame ------------------------------------------------------------------------------- */

static RvStatus measure_boxes(GstCudaObstacles *self, const GstRvExecContext *work,
                              const GstRvJob *job) {
  self->has_depths = FALSE;
  if (!self->requested.boxes)
    return RV_OK;
  gst_cuda_obstacles_boxes_read(&self->boxes, job->in, &self->scale);
  if (self->boxes.truncated && gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_BOXES))
    GST_ELEMENT_WARNING(
        self, STREAM, FORMAT,
        ("A frame has more than %d boxes; the others get no distance.", RV_OBSTACLES_BOXES),
        ("Filter the boxes upstream of cudaobstacles."));
  if (self->boxes.count == 0)
    return RV_OK;
  self->has_depths = TRUE;
  const gsize bytes = (gsize)self->boxes.count * sizeof *self->boxes.rect;
  const RvStatus status =
      rv_copy_rows(self->rects, (ptrdiff_t)bytes, work->engine, self->boxes.rect, (ptrdiff_t)bytes,
                   RV_CPU, bytes, 1, work->stream);
  return status == RV_OK ? rv_obstacles_distances(self->object, &self->disparity.plane, self->rects,
                                                  (guint32)self->boxes.count, self->device->depths,
                                                  work->stream)
                         : status;
}

static RvStatus find_obstacles(GstCudaObstacles *self, const GstRvExecContext *work,
                               const GstRvJob *job, Input *input) {
  const GstVideoInfo *info = &GST_RV_TRANSFORM(self)->in_info;
  const RvGroundConfig wanted = {.camera = self->used.camera,
                                 .mode = self->requested.ground,
                                 .max_disparity = self->used.max_disparity};
  self->scale.x = (double)input->width / GST_VIDEO_INFO_WIDTH(info);
  self->scale.y = (double)input->height / GST_VIDEO_INFO_HEIGHT(info);
  RvStatus status = gst_rv_ground_make(&self->ground, work, job->in, &self->disparity.plane,
                                       &wanted, &self->device->ground);
  input->source.ground = &self->device->ground;
  if (status == RV_OK)
    status = take_gray(self, work, job, &input->source.gray);
  const RvObstaclesOutput output = {
      .boxes = self->device->boxes,
      .counts = self->device->counts,
      .columns = self->requested.free_space ? gst_cuda_obstacles_columns(self->device) : NULL,
  };
  if (status == RV_OK)
    status = rv_obstacles_run(self->object, &input->source, &output, work->stream);
  if (status == RV_OK)
    status = measure_boxes(self, work, job);
  if (status != RV_OK)
    return status;
  const gsize bytes = found_bytes(self);
  self->is_made = TRUE;
  return rv_copy_rows(self->found, (ptrdiff_t)bytes, RV_CPU, self->device, (ptrdiff_t)bytes,
                      work->engine, bytes, 1, work->stream);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaObstacles *self = GST_CUDA_OBSTACLES(base);
  const RvCamera none = {0};
  Input input = {.width = 0};
  RvCamera camera = none;
  self->is_made = FALSE;
  self->count = 0;
  self->nearest = -1;
  self->time = gst_rv_transform_seconds(base, job->in, self->time);
  RvStatus status = map_input(self, work, job, &input);
  if (status != RV_OK || input.width == 0 || !find_camera(self, &input, job->in, &camera))
    return status;
  const RvObstaclesConfig config = config_of(self, work, input.width, input.height,
                                             self->disparity.range, input.stixel_width, &camera);
  status = make_objects(self, work, &config);
  return status == RV_OK ? find_obstacles(self, work, job, &input) : status;
}

/* --- Results --------------------------------------------------------------------------------- */

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaObstacles *self = GST_CUDA_OBSTACLES(base);
  gst_rv_frame_unmap(&self->picture); /* its reference would keep `out` from being written */
  self->area = 0;
  const RvStatus status =
      job->ok && self->is_made ? gst_cuda_obstacles_attach(self, job->out) : RV_OK;
  gst_rv_disparity_unmap(&self->disparity);
  gst_rv_input_unmap(&self->records);
  return status;
}

/* The stream was interrupted: tracks end, ids go on. */
static RvStatus reset(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaObstacles *self = GST_CUDA_OBSTACLES(base);
  rv_obstacles_tracks_reset(self->tracks);
  rv_obstacles_tracks_reset(self->box_tracks);
  self->time = 0;
  return gst_rv_ground_reset(&self->ground, work);
}

static void describe(GstRvTransform *base, GstStructure *message) {
  const GstCudaObstacles *self = GST_CUDA_OBSTACLES(base);
  if (!self->is_made)
    return;
  if (self->requested.free_space)
    gst_structure_set(message, "free-area", G_TYPE_DOUBLE, self->area, NULL);
  if (self->found->ground.source != RV_GROUND_NONE)
    gst_structure_set(message, "camera-height", G_TYPE_DOUBLE, self->found->ground.height, NULL);
  if (self->nearest < 0)
    return;
  const RvObstacle *o = &self->obstacles[self->nearest];
  gst_structure_set(message, "nearest-id", G_TYPE_UINT, (guint)o->id, "nearest-distance",
                    G_TYPE_DOUBLE, (double)o->distance, "nearest-lateral", G_TYPE_DOUBLE,
                    (double)o->lateral, "nearest-velocity", G_TYPE_DOUBLE, (double)o->velocity_z,
                    "nearest-ttc", G_TYPE_DOUBLE, (double)o->ttc, NULL);
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_obstacles_class_init(GstCudaObstaclesClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_analyzer(base, "cudaobstacles", &settings, 0, RV_META_OBSTACLES,
                                      RV_META_FREE_SPACE, RV_META_DETECTIONS, RV_META_GROUND, NULL);
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  base->reset = reset;
  base->describe = describe;
  GST_BASE_TRANSFORM_CLASS(klass)->stop = stop;
}

static void gst_cuda_obstacles_init(GstCudaObstacles *self) {}
