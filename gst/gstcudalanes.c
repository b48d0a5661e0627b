/* SPDX-License-Identifier: MIT */
/* gstcudalanes.c: element cudalanes: attaches the lane lines (RvLanesMeta, RvGroundMeta). */

/**
 * SECTION:element-cudalanes
 * @title: cudalanes
 * @short_description: Lane lines in meters, from stereo or from one camera
 *
 * Finds the lines of the lanes in frames with a disparity (cudasgm), or with ground=camera in those
 * of one camera of known focal length and height, and attaches them (RvLanesMeta): position in
 * meters, kind, color and polyline of each line, the borders of the own lane, and offset, heading,
 * curvature and width of the lane, tracked over time. The ground is that of RvGroundMeta, or is
 * estimated and attached. Behind cudaroaddetect the edges of the road are lines, too. The frame
 * passes through unchanged.
 *
 * Works on the GPU and on the CPU; both give the same lines. cudaannotate draws them.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! video/x-raw,width=2484,height=375 ! cudasgm ! cudalanes !
 *   cudaannotate ! videoconvert ! autovideosink
 * ]| A rendered street with its lanes.
 * |[
 * gst-launch-1.0 filesrc location=drive.mp4 ! decodebin ! videoconvert ! cudalanes ground=camera
 *   focal-length=1150 camera-height=1.25 ! cudaannotate ! videoconvert ! autovideosink
 * ]| A video of one camera.
 *
 * Since: 0.1
 */
#include "gstcudalanes.h"

#include <string.h>

#include "common/gstrvcamera.h"
#include "common/gstrvdisparity.h"
#include "common/gstrvground.h"
#include "convert/convert.h"
#include "lanes/lanes.h"
#include "road/road.h"
#include "rv_host.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

#define RANGE 128 /* px, of disparities that do not state it */
#define VALUES (2 * RV_LANES_POINTS)

/* bits of gst_rv_transform_once; a disparity takes two */
enum { ONCE_DISPARITY, ONCE_CAMERA = ONCE_DISPARITY + 2, ONCE_SIZE };

typedef struct GstCudaLanesSettings {
  RvLanesConfig config; /* size, camera, threads and log are set by the element */
  GstRvCameraSettings camera;
  double height, pitch; /* of the camera, m and degrees */
  int track, color, edges;
  double speed, yaw_rate; /* m/s, below 0: unknown; degrees/s */
} GstCudaLanesSettings;

/* Results of a frame, in the memory of the engine and on the host; the patches of the road follow. */
typedef struct GstCudaLanesFound {
  RvGroundSurface ground;
  RvLanesFound found;
} GstCudaLanesFound;

struct _GstCudaLanes {
  GstRvTransform parent;

  GstCudaLanesSettings settings;  /* properties, guarded by the object lock */
  GstCudaLanesSettings requested; /* as of the last configure */

  RvLanesConfig used; /* of the object */
  RvEngine engine;
  RvLanes *object;
  RvLanesTracks *tracks;
  RvPlane gray, color;       /* in the memory of the engine */
  GstCudaLanesFound *device; /* likewise, with space for a road */
  GstCudaLanesFound *copied; /* the same in host memory */
  GstCudaLanesFound found;   /* of the current frame */
  GstBufferPool *lists, *polylines;

  GstRvDisparity disparity;
  GstRvGround ground;
  gboolean is_made;    /* the current frame has results */
  gboolean has_ground; /* `ground` made the surface of this frame */
  double time;         /* of the current frame, s */
  GstRvInput patches;  /* of the road of this frame */
  RvLanesRoad road;    /* likewise, in `copied`; no columns: none */
  RvLanesEdges edges;  /* of this frame */
  RvLanesLane lane;
};

G_DEFINE_TYPE(GstCudaLanes, gst_cuda_lanes, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudalanes, "cudalanes", GST_RANK_NONE, GST_TYPE_CUDA_LANES)

/* --- Properties ------------------------------------------------------------------------------ */

typedef GstCudaLanesSettings Settings; /* of the rows */

static const RvParam own[] = {
    GST_RV_CAMERA_ROWS(GstCudaLanesSettings, camera),
    GST_RV_DOUBLE("camera-height", height, 0, 100, 0, 0, "m", GST_RV_CAMERA_FROM_META,
                  "Height of the camera above the ground, for ground=camera"),
    GST_RV_DOUBLE("camera-pitch", pitch, -45, 45, 0, 0, "degrees", NULL,
                  "Pitch of the camera, positive looking down, for ground=camera: the expected "
                  "horizon; used with camera-height"),
    GST_RV_BOOL("track", track, 1, 0, NULL, NULL, "Follow lines over time: ids, smoothing, memory"),
    GST_RV_BOOL("color", color, 1, 0, NULL, NULL, "Tell white from yellow lines"),
    GST_RV_BOOL("road-edges", edges, 1, 0, NULL, NULL,
                "Return the edges of the road of RvRoadMeta (cudaroaddetect) as lines"),
    GST_RV_DOUBLE("ego-speed", speed, -1, 99, -1, RV_PARAM_LIVE, "m/s", "-1 = unknown",
                  "Forward speed of the vehicle; improves the tracks"),
    GST_RV_DOUBLE("ego-yaw-rate", yaw_rate, -200, 200, 0, RV_PARAM_LIVE, "degrees/s", NULL,
                  "Yaw rate of the vehicle, positive to the right; used with ego-speed"),
};
GST_RV_TRANSFORM_SETTINGS(GstCudaLanes, GstCudaLanesSettings, rv_lanes_params);

/* --- Objects --------------------------------------------------------------------------------- */

static void release_objects(GstCudaLanes *self) {
  rv_lanes_free(&self->object);
  rv_buffer_free((void **)&self->device, self->engine);
  rv_host_free((void **)&self->copied, self->engine);
  rv_buffer_free(&self->gray.data, self->engine);
  rv_buffer_free(&self->color.data, self->engine);
  gst_rv_payload_pool_free(&self->lists);
  gst_rv_payload_pool_free(&self->polylines);
}

/* The tracks stay: settings that are changed while playing do not end them. */
static void release(GstRvTransform *base) {
  GstCudaLanes *self = GST_CUDA_LANES(base);
  release_objects(self);
  gst_rv_ground_clear(&self->ground);
  gst_rv_disparity_clear(&self->disparity);
  gst_rv_input_clear(&self->patches);
}

static gboolean stop(GstBaseTransform *trans) {
  rv_lanes_tracks_free(&GST_CUDA_LANES(trans)->tracks);
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_lanes_parent_class)->stop(trans);
}

/* The object is made with the first frame, which brings the camera. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaLanes *self = GST_CUDA_LANES(base);
  Settings wanted = *(const Settings *)gst_rv_transform_settings(base);
  wanted.config.width = GST_VIDEO_INFO_WIDTH(&base->in_info);
  wanted.config.height = GST_VIDEO_INFO_HEIGHT(&base->in_info);
  wanted.config.threads = work->threads;
  wanted.config.log = work->log;
  RvLanesConfig trial = wanted.config;
  trial.camera = (RvCamera){.focal = 1, .baseline = 1, .height = 1};
  const RvStatus status = rv_lanes_config_check(&trial);
  if (status != RV_OK) /* the previous object remains in use */
    return status;
  self->requested = wanted;
  if (self->object && self->engine != work->engine)
    release(base);
  return RV_OK;
}

/* Patches of the largest road of the size of the frame. */
static gsize patches_most(const RvLanesConfig *config) {
  return (gsize)(config->width / RV_ROAD_PATCH_MIN) * (gsize)(config->height / RV_ROAD_PATCH_MIN);
}

static RvStatus make_memory(GstCudaLanes *self, const GstRvExecContext *work) {
  const int width = self->used.width, height = self->used.height;
  const gsize pixels = (gsize)width * (gsize)height;
  const gsize bytes = sizeof *self->device + patches_most(&self->used);
  self->engine = work->engine;
  self->gray = (RvPlane){NULL, width, width, height, RV_U8};
  self->color = (RvPlane){NULL, 4 * (ptrdiff_t)width, width, height, RV_U32};
  self->lists = gst_rv_payload_pool_new(NULL, sizeof self->lane.lines);
  self->polylines = gst_rv_payload_pool_new(NULL, RV_LANES_TRACKS * VALUES * sizeof(float));
  if (!self->lists || !self->polylines)
    return RV_ERR_NO_MEMORY;
  RvStatus status = rv_buffer_new((void **)&self->device, bytes, work->engine);
  status = status == RV_OK ? rv_host_new((void **)&self->copied, bytes, work->engine) : status;
  status = status == RV_OK ? rv_buffer_new(&self->gray.data, pixels, work->engine) : status;
  return status == RV_OK ? rv_buffer_new(&self->color.data, 4 * pixels, work->engine) : status;
}

static RvStatus make_objects(GstCudaLanes *self, const GstRvExecContext *work,
                             const RvLanesConfig *config) {
  if (self->object && gst_rv_camera_is_same(&self->used.camera, &config->camera) &&
      rv_params_are_equal(rv_lanes_params(), &self->used, config))
    return RV_OK;
  release_objects(self);
  self->used = *config;
  RvStatus status = rv_lanes_config_check(config);
  if (status == RV_OK)
    status = make_memory(self, work);
  if (status == RV_OK)
    status = rv_lanes_new(&self->object, config, work->engine);
  if (status != RV_OK)
    return status;
  return self->tracks ? rv_lanes_tracks_set_config(self->tracks, config)
                      : rv_lanes_tracks_new(&self->tracks, config);
}

/* --- Input ----------------------------------------------------------------------------------- */

/* FALSE: the camera does not suffice; warns once. */
static gboolean find_camera(GstCudaLanes *self, GstBuffer *buffer, RvCamera *camera) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const GstCudaLanesSettings *s = &self->requested;
  const gboolean is_stereo =
      gst_rv_camera_find(buffer, &s->camera, s->config.width, s->config.height, camera);
  if (s->height > 0) {
    camera->height = s->height;
    camera->pitch = s->pitch;
  }
  if (s->config.ground == RV_LANES_GROUND_CAMERA) {
    if (camera->focal > 0 && camera->height > 0)
      return TRUE;
    if (gst_rv_transform_once(base, ONCE_CAMERA))
      GST_ELEMENT_WARNING(
          self, STREAM, FORMAT,
          ("Focal length or height of the camera is not known; no lines are found."),
          ("Set focal-length (px) and camera-height (m) for ground=camera."));
    return FALSE;
  }
  camera->height = camera->pitch = 0; /* of the ground */
  if (!is_stereo && gst_rv_transform_once(base, ONCE_CAMERA))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("The camera is not known; no lines are found."),
                        ("Set focal-length (px) and baseline (m) of cudasgm or cudalanes, or "
                         "ground=camera for one camera."));
  return is_stereo;
}

/* The disparity of the frame; FALSE: there is none of its size, and a ground cannot be made. */
static RvStatus map_disparity(GstCudaLanes *self, const GstRvExecContext *work, GstBuffer *buffer,
                              gboolean *is_there) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const RvLanesConfig *c = &self->requested.config;
  const RvStatus status = gst_rv_disparity_map(&self->disparity, base, work, buffer,
                                               GST_RV_DISPARITY_SCALE, ONCE_DISPARITY);
  const RvPlane *plane = &self->disparity.plane;
  *is_there = plane->data && plane->width == c->width && plane->height == c->height;
  if (status == RV_OK && plane->data && !*is_there && gst_rv_transform_once(base, ONCE_SIZE))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The disparity is %dx%d px, the frame %dx%d px; no lines are found.",
                         plane->width, plane->height, c->width, c->height),
                        ("Place cudalanes upstream of elements that scale the frame."));
  return status;
}

/* Gray and colors of the frame. */
static RvStatus convert(GstCudaLanes *self, const GstRvExecContext *work, const GstRvJob *job) {
  const GstVideoColorimetry *colors = &GST_RV_TRANSFORM(self)->in_info.colorimetry;
  const RvStatus status = rv_convert_gray(job->in_picture, 0, 0, &self->gray, work->threads,
                                          work->engine, work->stream, &work->log);
  if (status != RV_OK || !self->requested.color)
    return status;
  /* BT.2020 has nearly the luma weights of BT.709. */
  const gboolean bt709 = colors->matrix == GST_VIDEO_COLOR_MATRIX_BT709 ||
                         colors->matrix == GST_VIDEO_COLOR_MATRIX_BT2020;
  return rv_convert_color(job->in_picture, bt709, colors->range == GST_VIDEO_COLOR_RANGE_0_255,
                          &self->color, work->threads, work->engine, work->stream, &work->log);
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Puts the road of the frame behind the results, so that both come to the host at once. */
static RvStatus take_road(GstCudaLanes *self, const GstRvExecContext *work, GstBuffer *buffer) {
  RvMetaRoad meta;
  self->road.columns = self->road.rows = 0;
  if (!self->requested.edges || !rv_meta_get_road(buffer, &meta) ||
      meta.width != self->used.width || meta.height != self->used.height || meta.patch_size < 1)
    return RV_OK;
  const RvStatus status = gst_rv_input_map(&self->patches, work, meta.payload);
  const RvPlane *plane = &self->patches.plane;
  const gsize patches = (gsize)plane->width * (gsize)plane->height;
  if (status != RV_OK || plane->format != RV_U8 || patches > patches_most(&self->used))
    return status;
  self->road = (RvLanesRoad){(const guint8 *)(self->copied + 1), plane->width, plane->width,
                             plane->height, meta.patch_size};
  return rv_copy_rows(self->device + 1, plane->width, work->engine, plane->data, plane->stride,
                      work->engine, (gsize)plane->width, plane->height, work->stream);
}

static RvStatus find_lines(GstCudaLanes *self, const GstRvExecContext *work, const GstRvJob *job,
                           gboolean has_disparity) {
  RvLanesSource source = {.gray = self->gray};
  RvStatus status = convert(self, work, job);
  if (self->requested.color)
    source.color = self->color;
  if (status == RV_OK && has_disparity) {
    const int range = self->disparity.range > 0 ? self->disparity.range : RANGE;
    const RvGroundConfig wanted = {.camera = self->used.camera, .max_disparity = range};
    source.disparity = self->disparity.plane;
    source.ground = &self->device->ground;
    status = gst_rv_ground_make(&self->ground, work, job->in, &source.disparity, &wanted,
                                &self->device->ground);
    self->has_ground = status == RV_OK;
  }
  if (status == RV_OK)
    status = rv_lanes_run(self->object, &source, &self->device->found, work->stream);
  if (status == RV_OK)
    status = take_road(self, work, job->in);
  if (status != RV_OK)
    return status;
  const ptrdiff_t bytes =
      (ptrdiff_t)sizeof self->found + (ptrdiff_t)self->road.columns * self->road.rows;
  self->is_made = TRUE;
  return rv_copy_rows(self->copied, bytes, RV_CPU, self->device, bytes, work->engine, (size_t)bytes,
                      1, work->stream);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaLanes *self = GST_CUDA_LANES(base);
  const gboolean is_camera = self->requested.config.ground == RV_LANES_GROUND_CAMERA;
  const RvCamera none = {0};
  RvCamera camera = none;
  gboolean has_disparity = FALSE;
  RvStatus status = RV_OK;
  self->is_made = self->has_ground = FALSE;
  self->time = gst_rv_transform_seconds(base, job->in, self->time);
  if (!is_camera)
    status = map_disparity(self, work, job->in, &has_disparity);
  if (status != RV_OK || (!is_camera && !has_disparity) || !find_camera(self, job->in, &camera))
    return status;
  RvLanesConfig config = self->requested.config;
  config.camera = camera;
  config.log = work->log;
  status = make_objects(self, work, &config);
  return status == RV_OK ? find_lines(self, work, job, has_disparity) : status;
}

/* --- Results --------------------------------------------------------------------------------- */

static void log_lines(GstCudaLanes *self) {
  const RvLanesFound *found = &self->found.found;
  for (guint i = 0; i < MIN(found->count, RV_LANES_MAX); i++) {
    const RvLanesMark *mark = &found->lines[i];
    GST_LOG_OBJECT(self,
                   "line at %.2f m, heading %.4f: %d marks, weight %" G_GINT64_FORMAT
                   ", mean square %.0f mm^2, %d to %d cm",
                   mark->offset, mark->heading, mark->hits, mark->weight,
                   (double)mark->squares / MAX((double)mark->weight, 1), mark->z_min, mark->z_max);
  }
}

static RvStatus follow(GstCudaLanes *self) {
  log_lines(self);
  self->edges.count = 0;
  if (self->road.columns > 0) {
    const RvStatus status = rv_lanes_edges(&self->used, &self->found.ground, &self->found.found,
                                           &self->road, &self->edges);
    if (status != RV_OK)
      return status;
  }
  if (!self->requested.track)
    return rv_lanes_lane(&self->used, &self->found.found, &self->edges, &self->lane);
  GST_OBJECT_LOCK(self);
  const double speed = self->settings.speed, yaw_rate = self->settings.yaw_rate;
  GST_OBJECT_UNLOCK(self);
  rv_lanes_tracks_set_motion(self->tracks, speed, yaw_rate * G_PI / 180, speed >= 0);
  return rv_lanes_track(self->tracks, self->time, &self->found.found, &self->edges, &self->lane);
}

static void attach(GstCudaLanes *self, GstBuffer *out) {
  const RvLanesLane *lane = &self->lane;
  float points[RV_LANES_TRACKS * VALUES] = {0};
  RvMetaLanes meta = {
      .width = self->used.width,
      .height = self->used.height,
      .count = lane->count,
      .left = lane->left,
      .right = lane->right,
      .offset = lane->offset,
      .heading = lane->heading,
      .curvature = lane->curvature,
      .lane_width = lane->width,
      .confidence = lane->confidence,
      .polyline_values = lane->count * VALUES,
  };
  for (int i = 0; i < lane->count; i++) {
    const RvLaneLine *line = &lane->lines[i];
    meta.z_min = i == 0 ? (double)line->z_min : MIN(meta.z_min, (double)line->z_min);
    meta.z_max = MAX(meta.z_max, (double)line->z_max);
    rv_lanes_points(&self->used, &self->found.ground, &self->found.found, line,
                    points + i * VALUES);
  }
  meta.payload =
      gst_rv_payload_of(self->lists, lane->lines, (gsize)lane->count * sizeof *lane->lines);
  meta.polylines =
      gst_rv_payload_of(self->polylines, points, (gsize)meta.polyline_values * sizeof *points);
  rv_meta_add_lanes(out, &meta);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaLanes *self = GST_CUDA_LANES(base);
  RvStatus status = RV_OK;
  if (job->ok && self->is_made) {
    self->found = *self->copied;
    if (self->has_ground)
      gst_rv_ground_attach(&self->ground, &self->found.ground, job->out);
    status = follow(self);
    if (status == RV_OK)
      attach(self, job->out);
  }
  gst_rv_disparity_unmap(&self->disparity);
  gst_rv_input_unmap(&self->patches);
  return status;
}

/* The stream was interrupted: tracks end, ids go on. */
static RvStatus reset(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaLanes *self = GST_CUDA_LANES(base);
  rv_lanes_tracks_reset(self->tracks);
  self->time = 0;
  const RvStatus status = self->object ? rv_lanes_reset(self->object, work->stream) : RV_OK;
  return status == RV_OK ? gst_rv_ground_reset(&self->ground, work) : status;
}

static void describe(GstRvTransform *base, GstStructure *message) {
  const GstCudaLanes *self = GST_CUDA_LANES(base);
  if (self->is_made)
    gst_structure_set(
        message, "hits", G_TYPE_UINT, (guint)self->found.found.hits, "distinctness", G_TYPE_DOUBLE,
        (double)self->found.found.score / MAX((double)self->found.found.mean, 1), NULL);
  if (self->has_ground && self->found.ground.source != RV_GROUND_NONE)
    gst_structure_set(message, "camera-height", G_TYPE_DOUBLE, self->found.ground.height, NULL);
  if (self->is_made && !self->has_ground)
    gst_structure_set(message, "horizon", G_TYPE_DOUBLE, self->found.found.horizon / 16.0, NULL);
}

/* --- Class ----------------------------------------------------------------------------------- */

static gboolean check_caps(GstRvTransform *self, GstCaps *caps, const GstVideoInfo *info) {
  if (MIN(GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info)) >= RV_LANES_SIDE_MIN)
    return TRUE;
  GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                    ("Frames of %dx%d px are too small for cudalanes.", GST_VIDEO_INFO_WIDTH(info),
                     GST_VIDEO_INFO_HEIGHT(info)),
                    ("Supply at least %d px in both directions.", RV_LANES_SIDE_MIN));
  return FALSE;
}

static void gst_cuda_lanes_class_init(GstCudaLanesClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_analyzer(base, "cudalanes", &settings, GST_MAP_READ, RV_META_LANES,
                                      RV_META_GROUND, NULL);
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  base->check_caps = check_caps;
  base->reset = reset;
  base->describe = describe;
  GST_BASE_TRANSFORM_CLASS(klass)->stop = stop;
}

static void gst_cuda_lanes_init(GstCudaLanes *self) {}
