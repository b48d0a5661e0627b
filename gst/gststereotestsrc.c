/* SPDX-License-Identifier: MIT */
/* gststereotestsrc.c: element stereotestsrc: time, caps and annotations round cuda/scene. */

/**
 * SECTION:element-stereotestsrc
 * @title: stereotestsrc
 * @short_description: Renders a moving street for two cameras, with exact ground truth
 *
 * Makes side by side stereo video of a rendered world: a street with buildings, cars, poles and
 * trees, a dirt track, slanted planes, or random dots. Both cameras see the same surfaces; sensor
 * noise, different gains of the cameras, shadow, wet asphalt and repeated windows make matching
 * about as hard as on real frames. The same properties give the same bytes, frame for frame.
 *
 * Every frame has the camera (RvCameraMeta) and, unless truth=false, the ground truth of the left
 * view (RvTruthMeta): `disparity` (u16, 1/16 px, 0 = sky), `labels`, `road` and `visible` (u8).
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! videoconvert ! autovideosink
 * ]| Both views, side by side.
 * |[
 * gst-launch-1.0 stereotestsrc pattern=slanted-street num-buffers=300 !
 *   video/x-raw,format=NV12,width=2484,height=375 ! cudasgm ! cudaannotate ! videoconvert !
 *   autovideosink
 * ]| The disparity of a street that climbs and banks, at KITTI's size.
 *
 * Since: 0.1
 */
#include "gststereotestsrc.h"

#include "common/gstrverror.h"
#include "common/gstrvframe.h"
#include "common/gstrvmemory.h"
#include "common/gstrvpool.h"
#include "common/gstrvsettings.h"
#include "gststereotestsrc_truth.h"

GST_DEBUG_CATEGORY_STATIC(gst_stereo_test_src_debug);
#define GST_CAT_DEFAULT gst_stereo_test_src_debug

#define THREADS_MAX 1024

/* Widths are those of both views. Chroma is that of 2 x 2 pixels, BT.709, limited range. */
#define SIZES                                                                                      \
  "width = (int) [ 32, 16384, 2 ], height = (int) [ 16, 16384 ], "                                 \
  "framerate = (fraction) [ 1/1000, 1000/1 ], pixel-aspect-ratio = (fraction) 1/1, "               \
  "multiview-mode = (string) side-by-side"
#define CAPS                                                                                       \
  "video/x-raw, format = (string) BGRx, " SIZES "; "                                               \
  "video/x-raw, format = (string) { NV12, I420 }, colorimetry = (string) bt709, "                  \
  "chroma-site = (string) jpeg, " SIZES "; "                                                       \
  "video/x-raw, format = (string) GRAY8, " SIZES

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));

typedef struct Settings {
  RvSceneConfig config; /* size, frame rate and log are set when the scene is made */
  gboolean truth, semantics;
} Settings;

struct _GstStereoTestSrc {
  GstPushSrc parent;

  Settings settings; /* properties, guarded by the object lock, as is the next */
  gboolean changed;  /* the scene was made for another config */

  GstRvLog log;
  RvScene *scene;
  GstVideoInfo info;
  guint64 frame;          /* next one, counted since the caps were set */
  guint64 frame_base;     /* frames before the caps were set, as buffer offset */
  GstClockTime time_base; /* their running time */
  guint64 sent, lost;     /* frames since the start; lost ones were too late */
  GstClockTimeDiff delay; /* of a live source: running time - time stamp of a frame */
  gboolean eos_at_frame;  /* reverse playback has come to the first frame */
};

G_DEFINE_TYPE(GstStereoTestSrc, gst_stereo_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(stereotestsrc, "stereotestsrc", GST_RANK_NONE, GST_TYPE_STEREO_TEST_SRC)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParam own[] = {
    GST_RV_BOOL("truth", truth, TRUE, 0, NULL, NULL,
                "Attach RvTruthMeta: disparity, labels, road and visibility of the left view"),
    GST_RV_BOOL("semantics", semantics, 0, 0, NULL, NULL,
                "Attach the ground-truth labels as RvSemanticsMeta as well, as a network would"),
    GST_RV_INT("threads", config.threads, 0, THREADS_MAX, 0, 0, NULL, "0 = all processors",
               "Number of rendering threads"),
};

/* A new value of what the scene is made from takes effect with the next frame. */
static void changed(GObject *object, const char *name) {
  if (g_str_equal(name, "truth") || g_str_equal(name, "semantics"))
    return;
  GST_OBJECT_LOCK(object);
  GST_STEREO_TEST_SRC(object)->changed = TRUE;
  GST_OBJECT_UNLOCK(object);
}

static const GstRvSettings settings =
    GST_RV_SETTINGS(GstStereoTestSrc, Settings, rv_scene_params, own, changed);

/* The property besides those of the tables: is-live, which the parent class keeps. */
static gboolean is_live_property(guint id) {
  return id == gst_rv_settings_count(&settings) + 1;
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  if (is_live_property(id))
    gst_base_src_set_live(GST_BASE_SRC(object), g_value_get_boolean(value));
  else
    gst_rv_settings_set_property(object, id, value, spec);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  if (is_live_property(id))
    g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(object)));
  else
    gst_rv_settings_get_property(object, id, value, spec);
}

/* --- Caps ------------------------------------------------------------------------------------ */

/* Gray only where nothing else is accepted: videoconvert upstream of pngenc lists it first. */
static GstCaps *prefer_color(GstCaps *caps) {
  static GstStaticCaps in_color =
      GST_STATIC_CAPS("video/x-raw, format = (string) { BGRx, NV12, I420 }");
  GstCaps *wanted = gst_static_caps_get(&in_color);
  GstCaps *colors = gst_caps_intersect_full(caps, wanted, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(wanted);
  if (gst_caps_is_empty(colors)) {
    gst_caps_unref(colors);
    return caps;
  }
  gst_caps_unref(caps);
  return colors;
}

/* A missing side follows from the other: views of 4:3. */
static GstCaps *fixate(GstBaseSrc *src, GstCaps *caps) {
  caps = gst_caps_truncate(gst_caps_make_writable(prefer_color(caps)));
  GstStructure *s = gst_caps_get_structure(caps, 0);
  RvSceneConfig preset;
  rv_scene_config_init(&preset);
  gint width = 0, height = 0;
  const gboolean has_width = gst_structure_get_int(s, "width", &width);
  const gboolean has_height = gst_structure_get_int(s, "height", &height);
  if (!has_height)
    height = has_width ? MAX(16, width * 3 / 8) : preset.height;
  gst_structure_fixate_field_nearest_int(s, "height", height);
  if (gst_structure_get_int(s, "height", &height) && !has_width)
    width = has_height ? MAX(32, height / 3 * 8) : 2 * preset.width;
  gst_structure_fixate_field_nearest_int(s, "width", MIN(width, RV_MAX_SIDE));
  /* Some elements (interlace) answer without a frame rate, though they were asked with one. */
  if (!gst_structure_has_field(s, "framerate"))
    gst_structure_set(s, "framerate", GST_TYPE_FRACTION_RANGE, 1, 1000, 1000, 1, NULL);
  gst_structure_fixate_field_nearest_fraction(s, "framerate", (gint)preset.frame_rate, 1);
  return GST_BASE_SRC_CLASS(gst_stereo_test_src_parent_class)->fixate(src, caps);
}

/* Makes the scene for the current config; the previous one remains in use when that fails. */
static gboolean make_scene(GstStereoTestSrc *self) {
  GST_OBJECT_LOCK(self);
  RvSceneConfig config = self->settings.config;
  self->changed = FALSE;
  GST_OBJECT_UNLOCK(self);
  config.log = gst_rv_log_sink(&self->log);
  config.width = GST_VIDEO_INFO_WIDTH(&self->info) / 2;
  config.height = GST_VIDEO_INFO_HEIGHT(&self->info);
  config.frame_rate = (double)GST_VIDEO_INFO_FPS_N(&self->info) / GST_VIDEO_INFO_FPS_D(&self->info);
  RvScene *scene = NULL;
  const RvStatus status = rv_scene_new(&scene, &config);
  if (status != RV_OK) {
    gst_rv_error_post(&self->log, status, "make the scene");
    return FALSE;
  }
  rv_scene_free(&self->scene);
  self->scene = scene;
  return TRUE;
}

static GstClockTime frame_time(const GstStereoTestSrc *self, guint64 frame) {
  return gst_util_uint64_scale(frame, (guint64)GST_VIDEO_INFO_FPS_D(&self->info) * GST_SECOND,
                               (guint64)GST_VIDEO_INFO_FPS_N(&self->info));
}

static gboolean set_caps(GstBaseSrc *src, GstCaps *caps) {
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(src);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps) || GST_VIDEO_INFO_FPS_N(&info) <= 0)
    return FALSE;
  if (GST_VIDEO_INFO_FPS_N(&self->info) > 0) { /* time continues where it was */
    self->time_base += frame_time(self, self->frame);
    self->frame_base += self->frame;
    self->frame = 0;
  }
  self->info = info;
  gst_base_src_set_blocksize(src, (guint)MIN(GST_VIDEO_INFO_SIZE(&info), (gsize)G_MAXUINT));
  return make_scene(self);
}

static gboolean decide_allocation(GstBaseSrc *src, GstQuery *query) {
  return gst_rv_pool_decide(GST_ELEMENT(src), NULL, query) &&
         GST_BASE_SRC_CLASS(gst_stereo_test_src_parent_class)->decide_allocation(src, query);
}

/* --- Time ------------------------------------------------------------------------------------ */

static gboolean is_seekable(GstBaseSrc *src) {
  return TRUE;
}

static gboolean do_seek(GstBaseSrc *src, GstSegment *segment) {
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(src);
  if (segment->format != GST_FORMAT_TIME) {
    GST_INFO_OBJECT(self, "only seeks in time are possible");
    return FALSE;
  }
  segment->time = segment->start;
  self->time_base = 0;
  self->frame_base = 0;
  self->frame = 0;
  self->eos_at_frame = FALSE;
  if (GST_VIDEO_INFO_FPS_N(&self->info) <= 0)
    return TRUE; /* before the caps: the start */
  const guint64 n = (guint64)GST_VIDEO_INFO_FPS_N(&self->info);
  const guint64 d = (guint64)GST_VIDEO_INFO_FPS_D(&self->info) * GST_SECOND;
  /* Rounded so that a frame's own time stamp leads to this frame; backwards, to the one before. */
  self->frame = gst_util_uint64_scale_ceil(segment->position, n, d);
  while (self->frame > 0 && frame_time(self, self->frame - 1) >= segment->position)
    self->frame--;
  if (segment->rate < 0.0) {
    self->eos_at_frame = self->frame == 0;
    self->frame -= self->frame > 0;
  }
  return TRUE;
}

static gboolean query(GstBaseSrc *src, GstQuery *query) {
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(src);
  const gint n = GST_VIDEO_INFO_FPS_N(&self->info), d = GST_VIDEO_INFO_FPS_D(&self->info);
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_LATENCY: {
    /* A live frame is due when its time comes, and is out when it has been rendered: one frame. */
    if (!gst_base_src_is_live(src) || n <= 0)
      break;
    const GstClockTime duration = frame_time(self, 1);
    gst_query_set_latency(query, TRUE, duration, duration);
    return TRUE;
  }
  case GST_QUERY_CONVERT: {
    GstFormat from, to;
    gint64 value, result;
    gst_query_parse_convert(query, &from, &value, &to, &result);
    if (n <= 0 || !gst_video_info_convert(&self->info, from, value, to, &result))
      return FALSE;
    gst_query_set_convert(query, from, value, to, result);
    return TRUE;
  }
  case GST_QUERY_DURATION: {
    GstFormat format;
    gst_query_parse_duration(query, &format, NULL);
    const gint buffers = src->num_buffers;
    if (buffers < 0 || n <= 0)
      break;
    if (format != GST_FORMAT_TIME && format != GST_FORMAT_DEFAULT)
      break;
    gst_query_set_duration(
        query, format,
        format == GST_FORMAT_DEFAULT
            ? buffers
            : (gint64)gst_util_uint64_scale((guint64)buffers, (guint64)d * GST_SECOND, (guint64)n));
    return TRUE;
  }
  default:
    break;
  }
  return GST_BASE_SRC_CLASS(gst_stereo_test_src_parent_class)->query(src, query);
}

/* Live frames wait for their time; others for nothing. */
static void get_times(GstBaseSrc *src, GstBuffer *buffer, GstClockTime *start, GstClockTime *end) {
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  *start = *end = GST_CLOCK_TIME_NONE;
  if (!gst_base_src_is_live(src) || !GST_CLOCK_TIME_IS_VALID(pts))
    return;
  *start = pts;
  *end = pts + GST_BUFFER_DURATION(buffer);
  /* GstBaseSrc adds the time to the first frame to all time stamps, right after this. */
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(src);
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT(self));
  if (self->sent == 1 && GST_CLOCK_TIME_IS_VALID(now))
    self->delay = GST_CLOCK_DIFF(pts, now);
}

/* --- Frames ---------------------------------------------------------------------------------- */

static GstFlowReturn render(GstStereoTestSrc *self, guint64 frame, GstBuffer *buffer) {
  GstVideoFrame video;
  RvPicture picture;
  RvSceneTruth planes;
  GstStereoTestTruth truth;
  memset(&planes, 0, sizeof planes);
  memset(&truth, 0, sizeof truth);
  GST_OBJECT_LOCK(self);
  const gboolean wants_truth = self->settings.truth, wants_labels = self->settings.semantics;
  const RvScenePattern pattern = self->settings.config.pattern;
  GST_OBJECT_UNLOCK(self);
  const int width = GST_VIDEO_INFO_WIDTH(&self->info) / 2;
  const int height = GST_VIDEO_INFO_HEIGHT(&self->info);
  if ((wants_truth || wants_labels) && !gst_stereo_test_truth_new(&truth, width, height, &planes)) {
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("Out of memory for the truth."),
                      ("set truth=false, or render smaller frames"));
    return GST_FLOW_ERROR;
  }
  if (!gst_video_frame_map(&video, &self->info, buffer, GST_MAP_WRITE)) {
    gst_stereo_test_truth_clear(&truth);
    GST_ELEMENT_ERROR(
        self, RESOURCE, WRITE, ("The buffer cannot be written."),
        ("the downstream element provides buffers that are not %dx%d px", 2 * width, height));
    return GST_FLOW_ERROR;
  }
  RvStatus status = RV_ERR_ARG;
  if (gst_rv_picture_of_video(&video, &picture))
    status =
        rv_scene_render(self->scene, frame, &picture, wants_truth || wants_labels ? &planes : NULL);
  gst_video_frame_unmap(&video);
  if (status == RV_OK) {
    RvCamera camera;
    rv_scene_camera(self->scene, &camera);
    if (camera.focal > 0.0)
      rv_meta_add_camera(buffer, width, height, &camera);
    if (wants_labels)
      gst_stereo_test_truth_attach_labels(
          &truth,
          pattern == RV_SCENE_HIGHWAY || pattern == RV_SCENE_COURSE ? RV_LABELS : RV_LABEL_SKY + 1,
          buffer);
    if (wants_truth)
      gst_stereo_test_truth_attach(&truth, buffer);
  }
  gst_stereo_test_truth_clear(&truth);
  if (status != RV_OK) {
    gst_rv_error_post(&self->log, status, "render a frame");
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

/* A live source that is too slow loses frames: those whose successor is due already are skipped, and
 * reported as cameras do. TRUE when frames were lost. */
static gboolean skip_late(GstStereoTestSrc *self) {
  const GstSegment *segment = &GST_BASE_SRC(self)->segment;
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT(self));
  if (!gst_base_src_is_live(GST_BASE_SRC(self)) || segment->rate <= 0.0 || self->sent == 0 ||
      !GST_CLOCK_TIME_IS_VALID(now) || (gint64)now < self->delay + (gint64)self->time_base)
    return FALSE;
  const guint64 due =
      gst_util_uint64_scale((guint64)((gint64)now - self->delay) - self->time_base,
                            (guint64)GST_VIDEO_INFO_FPS_N(&self->info),
                            (guint64)GST_VIDEO_INFO_FPS_D(&self->info) * GST_SECOND);
  if (due <= self->frame)
    return FALSE;
  const GstClockTime lost =
      self->time_base + frame_time(self, self->frame) + (GstClockTime)self->delay;
  GST_DEBUG_OBJECT(self, "%" G_GUINT64_FORMAT " frames are too late", due - self->frame);
  self->lost += due - self->frame;
  GstMessage *message = gst_message_new_qos(
      GST_OBJECT_CAST(self), TRUE, gst_segment_to_running_time(segment, GST_FORMAT_TIME, lost),
      gst_segment_to_stream_time(segment, GST_FORMAT_TIME, lost), lost,
      frame_time(self, due) - frame_time(self, self->frame));
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, self->sent, self->lost);
  gst_element_post_message(GST_ELEMENT_CAST(self), message);
  self->frame = due;
  return TRUE;
}

static GstFlowReturn fill(GstPushSrc *src, GstBuffer *buffer) {
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(src);
  if (GST_VIDEO_INFO_FPS_N(&self->info) <= 0)
    return GST_FLOW_NOT_NEGOTIATED;
  if (self->eos_at_frame)
    return GST_FLOW_EOS;
  GST_OBJECT_LOCK(self);
  const gboolean changed = self->changed;
  GST_OBJECT_UNLOCK(self);
  if (changed && !make_scene(self))
    return GST_FLOW_ERROR;
  const gboolean skipped = skip_late(self);
  /* The distance follows the time, through changes of the frame rate too. */
  const guint64 before =
      gst_util_uint64_scale_round(self->time_base, (guint64)GST_VIDEO_INFO_FPS_N(&self->info),
                                  (guint64)GST_VIDEO_INFO_FPS_D(&self->info) * GST_SECOND);
  const GstFlowReturn flow = render(self, before + self->frame, buffer);
  if (flow != GST_FLOW_OK)
    return flow;
  GST_BUFFER_PTS(buffer) = self->time_base + frame_time(self, self->frame);
  GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(buffer) = frame_time(self, self->frame + 1) - frame_time(self, self->frame);
  const guint64 frame = self->frame_base + self->frame;
  GST_BUFFER_OFFSET(buffer) = frame;
  GST_BUFFER_OFFSET_END(buffer) = frame + 1;
  if (skipped)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  self->sent++;
  gst_object_sync_values(GST_OBJECT(self), GST_BUFFER_PTS(buffer));
  if (GST_BASE_SRC(src)->segment.rate >= 0.0)
    self->frame++;
  else if (self->frame > 0)
    self->frame--;
  else
    self->eos_at_frame = TRUE;
  GST_TRACE_OBJECT(self, "frame %" G_GUINT64_FORMAT " rendered", frame);
  return GST_FLOW_OK;
}

static gboolean start(GstBaseSrc *src) {
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(src);
  gst_video_info_init(&self->info);
  self->frame = self->frame_base = 0;
  self->time_base = 0;
  self->sent = self->lost = 0;
  self->delay = 0;
  self->eos_at_frame = FALSE;
  return TRUE;
}

static gboolean stop(GstBaseSrc *src) {
  rv_scene_free(&GST_STEREO_TEST_SRC(src)->scene);
  return TRUE;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void finalize(GObject *object) {
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC(object);
  rv_scene_free(&self->scene);
  gst_rv_log_clear(&self->log);
  G_OBJECT_CLASS(gst_stereo_test_src_parent_class)->finalize(object);
}

static void gst_stereo_test_src_class_init(GstStereoTestSrcClass *class) {
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS(class);
  GST_DEBUG_CATEGORY_INIT(gst_stereo_test_src_debug, "stereotestsrc", 0, "rendered stereo video");
  gst_rv_object_class_set(object, set_property, get_property, finalize);
  gst_rv_settings_install(&settings, object);
  g_object_class_install_property(
      object, gst_rv_settings_count(&settings) + 1,
      g_param_spec_boolean("is-live", "Live",
                           "Behave like a camera: synchronize frames to the clock, lose late ones",
                           FALSE,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  gst_rv_describe(GST_ELEMENT_CLASS(class), "stereotestsrc");
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(class), &src_template);
  base->fixate = fixate;
  base->set_caps = set_caps;
  base->decide_allocation = decide_allocation;
  base->is_seekable = is_seekable;
  base->do_seek = do_seek;
  base->query = query;
  base->get_times = get_times;
  base->start = start;
  base->stop = stop;
  GST_PUSH_SRC_CLASS(class)->fill = fill;
}

static void gst_stereo_test_src_init(GstStereoTestSrc *self) {
  gst_rv_settings_init(self, &settings);
  gst_rv_log_init(&self->log, GST_ELEMENT(self));
  gst_video_info_init(&self->info);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
  gst_base_src_set_live(GST_BASE_SRC(self), FALSE);
}
