/* SPDX-License-Identifier: MIT */
/* cudastereomux_live.c: two simulated cameras: skew, jitter, lost frames, half rate, clocks that
 * jump, stalls, ends, slow pipelines; and how long a pair takes.
 *
 * Pairing depends on time stamps only, so most cases push as fast as they can. RV_MUX_SECONDS sets
 * the length of the measurement of 2 x 120 frames/s (default 2). */
#include "element_test.h"

#include <stdlib.h>
#include <string.h>

enum { LEFT, RIGHT };

#define START_MS 100 /* running time of the first frames */

/* What one camera does. Times in ms of its stream. */
typedef struct Camera {
  double rate;          /* frames/s; 0 = 30 */
  double offset;        /* of all time stamps */
  double jitter;        /* of each time stamp, +- */
  int lose_every;       /* every nth frame is not sent; 0 = none */
  int gap_every;        /* every nth frame is a GAP event; 0 = none */
  double from, until;   /* sends in this range; until 0 = to the end */
  double stall, resume; /* sends nothing in this range; resume 0 = never stalls */
  double jump_at, jump; /* from then on time stamps differ by this */
  double delay;         /* delivery after the time stamp; < 0: without waiting */
  gboolean restarts;    /* EOS at `stall`, new stream at `resume` */
  gboolean holds;       /* no EOS at the end */
} Camera;

typedef struct Rig {
  GstElement *pipeline, *mux, *source[2];
  Camera camera[2];
  double seconds;
  gint64 begin;     /* monotonic µs of running time 0 */
  guint pairs;      /* buffers at the sink */
  guint gap_events; /* at the sink */
  guint disconts;
  gint64 skew_max;   /* ns */
  GstClockTime last; /* PTS */
  gboolean backwards;
  char *warning; /* the first one, or NULL */
  guint warnings;
} Rig;

static double frame_ms(const Camera *camera) {
  return 1000.0 / (camera->rate > 0 ? camera->rate : 30.0);
}

static GstPadProbeReturn on_output(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  Rig *rig = user;
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    rig->gap_events += GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_GAP;
    return GST_PAD_PROBE_OK;
  }
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const guint64 pts = GST_BUFFER_PTS(buffer);
  RvMetaPair meta;
  fail_unless(rv_meta_get_pair(buffer, &meta) && meta.left_time == pts);
  rig->skew_max = MAX(rig->skew_max, ABS(meta.skew));
  rig->backwards |= rig->pairs > 0 && pts <= rig->last;
  rig->disconts += GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) != 0;
  rig->last = pts;
  rig->pairs++;
  return GST_PAD_PROBE_OK;
}

static void send(GstElement *source, GstClockTime pts, GstClockTime duration, gboolean gap) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, 16 * 8, NULL);
  gst_buffer_memset(buffer, 0, 100, 16 * 8);
  GST_BUFFER_PTS(buffer) = pts;
  GST_BUFFER_DURATION(buffer) = duration;
  GstFlowReturn flow = GST_FLOW_OK;
  if (gap) {
    GstPad *pad = gst_element_get_static_pad(source, "src");
    gst_pad_push_event(pad, gst_event_new_gap(pts, duration));
    gst_object_unref(pad);
    gst_buffer_unref(buffer);
  } else {
    g_signal_emit_by_name(source, "push-buffer", buffer, &flow);
    gst_buffer_unref(buffer);
  }
}

static gboolean is_off(const Camera *camera, double ms) {
  return ms < camera->from || (camera->until > 0 && ms >= camera->until) ||
         (camera->resume > 0 && ms >= camera->stall && ms < camera->resume);
}

/* Waits until a frame of this time would be delivered. */
static void wait_for(const Rig *rig, const Camera *camera, double ms) {
  const gint64 due = rig->begin + (gint64)((ms + camera->delay) * 1000);
  const gint64 now = g_get_monotonic_time();
  if (camera->delay >= 0 && due > now)
    g_usleep((gulong)(due - now));
}

static void run_camera(Rig *rig, int index) {
  const Camera *camera = &rig->camera[index];
  GstElement *source = rig->source[index];
  const GstClockTime duration = (GstClockTime)(frame_ms(camera) * GST_MSECOND);
  GRand *random = g_rand_new_with_seed((guint32)index + 1);
  for (int k = 0;; k++) {
    const double ms = k * frame_ms(camera);
    const double jitter = g_rand_double_range(random, -1, 1) * camera->jitter;
    if (ms >= rig->seconds * 1000 || (camera->until > 0 && ms >= camera->until))
      break;
    if (is_off(camera, ms) || (camera->lose_every && k % camera->lose_every == 3))
      continue;
    double stamp = ms + camera->offset + jitter + START_MS;
    if (camera->jump != 0 && ms >= camera->jump_at)
      stamp += camera->jump;
    wait_for(rig, camera, ms);
    send(source, (GstClockTime)(MAX(stamp, 0) * GST_MSECOND), duration,
         camera->gap_every && k % camera->gap_every == 3);
  }
  GstFlowReturn flow;
  if (!camera->holds)
    g_signal_emit_by_name(source, "end-of-stream", &flow);
  g_rand_free(random);
}

static gpointer run_left(gpointer user) {
  run_camera(user, LEFT);
  return NULL;
}

static gpointer run_right(gpointer user) {
  run_camera(user, RIGHT);
  return NULL;
}

/* `tail` follows the mux; every camera has `queue` behind it. */
static void rig_new(Rig *rig, const char *properties, const char *queue, const char *tail) {
  static const char source[] = "is-live=true format=time block=true max-buffers=10 max-bytes=0 "
                               "caps=video/x-raw,format=GRAY8,width=16,height=8,framerate=";
  char *line = g_strdup_printf(
      "cudastereomux name=m %s ! %s appsrc name=l %s%d/1 ! %s ! m.left appsrc name=r %s%d/1 ! %s ! "
      "m.right",
      properties, tail, source, rig->camera[LEFT].rate > 0 ? (int)rig->camera[LEFT].rate : 30,
      queue, source, rig->camera[RIGHT].rate > 0 ? (int)rig->camera[RIGHT].rate : 30, queue);
  GError *error = NULL;
  rig->pipeline = gst_parse_launch(line, &error);
  fail_unless(error == NULL, "%s: %s", line, error ? error->message : "");
  rig->mux = gst_bin_get_by_name(GST_BIN(rig->pipeline), "m");
  rig->source[LEFT] = gst_bin_get_by_name(GST_BIN(rig->pipeline), "l");
  rig->source[RIGHT] = gst_bin_get_by_name(GST_BIN(rig->pipeline), "r");
  GstPad *pad = gst_element_get_static_pad(rig->mux, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_output,
                    rig, NULL);
  gst_object_unref(pad);
  g_free(line);
}

static void note_warning(Rig *rig, GstMessage *message) {
  GError *error = NULL;
  char *debug = NULL;
  gst_message_parse_warning(message, &error, &debug);
  if (!rig->warning)
    rig->warning = g_strdup_printf("%s | %s", error->message, debug);
  rig->warnings++;
  g_error_free(error);
  g_free(debug);
}

/* Runs both cameras to the end of the stream. */
static void rig_run(Rig *rig, double seconds) {
  rig->seconds = seconds;
  gst_element_set_state(rig->pipeline, GST_STATE_PLAYING);
  const GstClockTime now = gst_element_get_current_running_time(rig->pipeline);
  fail_unless(GST_CLOCK_TIME_IS_VALID(now));
  rig->begin = g_get_monotonic_time() - (gint64)(now / GST_USECOND) + 1000 * START_MS;
  GThread *left = g_thread_new("left", run_left, rig);
  GThread *right = g_thread_new("right", run_right, rig);
  GstBus *bus = gst_element_get_bus(rig->pipeline);
  gboolean ended = FALSE;
  while (!ended) {
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, (GstClockTime)((seconds + 30) * GST_SECOND),
                                   GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    fail_unless(message && GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (!ended)
      note_warning(rig, message);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  gst_element_set_state(rig->pipeline, GST_STATE_NULL); /* wakes a source that waits for space */
  g_thread_join(left);
  g_thread_join(right);
}

static void rig_free(Rig *rig) {
  gst_element_set_state(rig->pipeline, GST_STATE_NULL);
  gst_object_unref(rig->mux);
  gst_object_unref(rig->source[LEFT]);
  gst_object_unref(rig->source[RIGHT]);
  gst_object_unref(rig->pipeline);
  g_free(rig->warning);
}

static guint64 count(const Rig *rig, const char *name) {
  guint64 value = 0;
  test_stat(rig->mux, name, G_TYPE_UINT64, &value);
  return value;
}

static double measure(const Rig *rig, const char *name) {
  double value = 0;
  test_stat(rig->mux, name, G_TYPE_DOUBLE, &value);
  return value;
}

/* --- What time stamps decide ----------------------------------------------------------------- */

typedef struct Case {
  const char *name, *properties;
  Camera left, right;
  guint pairs[2], left_dropped[2], right_dropped[2]; /* from, to */
  const char *warning;                               /* part of it; NULL: none is posted */
} Case;

#define FAST .delay = -1

/* 3 s at 30 frames/s: 90 frames of each camera. */
/* clang-format off */
static const Case cases[] = {
    {"in step", "", {FAST}, {FAST}, .pairs = {90, 90}},
    {"skew 4 ms", "", {FAST}, {FAST, .offset = 4}, .pairs = {90, 90}},
    {"skew -4 ms", "", {FAST}, {FAST, .offset = -4}, .pairs = {90, 90}},
    {"skew 15 ms", "", {FAST}, {FAST, .offset = 15}, .pairs = {90, 90}},
    {"jitter 4 ms", "", {FAST, .jitter = 4}, {FAST, .jitter = 4}, .pairs = {90, 90}},
    {"skew 17 ms, limit 16", "max-skew=16000000", {FAST}, {FAST, .offset = 17},
     .pairs = {0, 0}, .warning = "No pair"},
    {"offset 500 ms", "", {FAST}, {FAST, .offset = 500}, .pairs = {75, 75}},
    {"offset corrected", "right-offset=-500000000", {FAST}, {FAST, .offset = 500}, .pairs = {90, 90}},
    {"offset 2.5 s", "", {FAST}, {FAST, .offset = 2500}, .pairs = {15, 15}, .warning = "right-offset="},
    /* Free-running cameras: the slower one's frames are all paired. */
    {"30 and 29.5", "", {FAST}, {FAST, .rate = 29.5}, .pairs = {88, 89}, .left_dropped = {0, 2}},
    {"half rate right", "", {FAST}, {FAST, .rate = 15}, .pairs = {45, 45}, .left_dropped = {44, 45}},
    {"half rate left", "", {FAST, .rate = 15}, {FAST}, .pairs = {45, 45}, .right_dropped = {44, 45}},
    {"lost frames", "", {FAST, .lose_every = 7}, {FAST, .lose_every = 5},
     .pairs = {61, 62}, .left_dropped = {13, 16}, .right_dropped = {8, 11}},
    {"late start", "", {FAST}, {FAST, .from = 700}, .pairs = {69, 69}},
    {"gap events", "", {FAST, .gap_every = 10}, {FAST}, .pairs = {81, 81}, .right_dropped = {9, 9}},
    {"left ends", "", {FAST, .until = 1000}, {FAST}, .pairs = {30, 30}},
    {"right ends", "", {FAST}, {FAST, .until = 1000}, .pairs = {30, 30}},
    {"right ends, eos=all", "eos=all", {FAST}, {FAST, .until = 1000}, .pairs = {30, 30}},
    /* One clock jumps back by 10 frames: they are sent a second time and have no partner. */
    {"left jumps back", "", {FAST, .jump_at = 1000, .jump = -1000.0 / 3}, {FAST},
     .pairs = {80, 80}, .left_dropped = {10, 10}},
    {"left jumps ahead", "", {FAST, .jump_at = 1000, .jump = 1000.0 / 3}, {FAST},
     .pairs = {80, 80}, .right_dropped = {10, 10}},
    /* Both jump: time does not go back, and this is said. */
    {"both jump back", "", {FAST, .jump_at = 1000, .jump = -1000.0 / 3}, {FAST, .jump_at = 1000, .jump = -1000.0 / 3},
     .pairs = {80, 80}, .warning = "went back by"},
};
/* clang-format on */

static gboolean in(guint64 value, const guint range[2]) {
  return value >= range[0] && value <= range[1];
}

static void run_case(const Case *c) {
  Rig rig = {.camera = {c->left, c->right}};
  rig_new(&rig, c->properties, "queue", "fakesink sync=false");
  gst_pipeline_set_latency(GST_PIPELINE(rig.pipeline), 1000 * GST_SECOND); /* nothing is late */
  rig_run(&rig, 3);
  const guint64 left = count(&rig, "dropped-left"), right = count(&rig, "dropped-right");
  fail_unless(in(rig.pairs, c->pairs) && in(left, c->left_dropped) && in(right, c->right_dropped),
              "%s: %u pairs, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " dropped", c->name,
              rig.pairs, left, right);
  fail_unless(!rig.backwards && rig.skew_max <= 17666667, "%s: skew %" G_GINT64_FORMAT, c->name,
              rig.skew_max);
  fail_unless_equals_uint64(count(&rig, "pairs"), rig.pairs);
  fail_unless_equals_uint64(count(&rig, "late"), 0);
  fail_unless(left + right > 0 || rig.disconts <= 2, "%s: %u disconts", c->name, rig.disconts);
  fail_unless(c->warning ? rig.warning && strstr(rig.warning, c->warning) : !rig.warning, "%s: %s",
              c->name, rig.warning);
  if (strcmp(c->name, "gap events") == 0)
    fail_unless(count(&rig, "gaps") >= 7); /* those before the segment are ignored */
  if (strcmp(c->name, "offset 2.5 s") == 0)
    fail_unless(strstr(rig.warning, "-2500"), "%s", rig.warning);
  rig_free(&rig);
}

GST_START_TEST(test_pairing) {
  run_case(&cases[__i__]);
}
GST_END_TEST

/* --- What the clock decides ------------------------------------------------------------------ */

#define LEAKY "queue leaky=downstream max-size-buffers=2"

/* A camera that delivers later than it reports loses nothing. */
GST_START_TEST(test_late_delivery) {
  Rig rig = {.camera = {{0}, {.delay = 50}}};
  rig_new(&rig, "", "queue", "fakesink sync=false");
  rig_run(&rig, 1.5);
  fail_unless(rig.pairs >= 44 && count(&rig, "dropped-left") + count(&rig, "dropped-right") == 0,
              "%u pairs", rig.pairs);
  rig_free(&rig);
}
GST_END_TEST

/* One camera stops and resumes: a warning, GAP events, then pairs again. */
GST_START_TEST(test_stall) {
  Rig rig = {.camera = {{0}, {.stall = 500, .resume = 1200}}};
  rig_new(&rig, "stall-time=200000000", LEAKY, "fakesink sync=false");
  rig_run(&rig, 2);
  fail_unless(rig.warning && strstr(rig.warning, "right") &&
                  strstr(rig.warning, "nothing for 0.2 s"),
              "%s", rig.warning);
  fail_unless(rig.pairs >= 30 && rig.pairs <= 39, "%u pairs", rig.pairs);
  fail_unless_equals_uint64(count(&rig, "stalls"), 1);
  fail_unless(count(&rig, "stale") > 0 && rig.gap_events > 0 && !rig.backwards);
  fail_unless(rig.last > (GstClockTime)(1.9 * GST_SECOND));
  rig_free(&rig);
}
GST_END_TEST

/* Without a partner the source of the other camera still ends the stream. */
GST_START_TEST(test_stall_for_ever) {
  Rig rig = {.camera = {{0}, {.until = 300, .holds = TRUE}}};
  rig_new(&rig, "stall-time=200000000", LEAKY, "fakesink sync=false");
  rig_run(&rig, 1);
  fail_unless(rig.pairs >= 7 && rig.pairs <= 9, "%u pairs", rig.pairs);
  fail_unless_equals_uint64(count(&rig, "stalls"), 1);
  rig_free(&rig);
}
GST_END_TEST

GST_START_TEST(test_not_linked) {
  GstElement *pipeline = gst_parse_launch("cudastereomux name=m stall-time=100000000 ! fakesink "
                                          "videotestsrc is-live=true num-buffers=30 ! m.left",
                                          NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_WARNING);
  fail_unless(message != NULL);
  GError *error = NULL;
  gst_message_parse_warning(message, &error, NULL);
  fail_unless(strstr(error->message, "right is not linked"), "%s", error->message);
  g_error_free(error);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}
GST_END_TEST

static guint64 stale_of(GstElement *mux) {
  GstStructure *stats = NULL;
  guint64 stale = 0;
  g_object_get(mux, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint64(stats, "stale", &stale));
  gst_structure_free(stats);
  return stale;
}

/* With eos=all a camera may end and come back: the other's frames have no partner meanwhile. */
GST_START_TEST(test_replug) {
  GstElement *mux = gst_element_factory_make("cudastereomux", NULL);
  gst_object_ref_sink(mux);
  gst_util_set_object_arg(G_OBJECT(mux), "eos", "all");
  GstHarness *left = gst_harness_new_with_element(mux, "left", "src");
  GstHarness *right = gst_harness_new_with_element(mux, "right", NULL);
  gst_harness_use_testclock(left); /* stands still: no pair is late */
  gst_harness_set_src_caps(left, test_caps("GRAY8", 16, 8, NULL));
  gst_harness_set_src_caps(right, test_caps("GRAY8", 16, 8, NULL));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (guint k = 0; k < 30; k++) {
    if (k == 10)
      gst_harness_push_event(right, gst_event_new_eos());
    if (k == 20) {
      while (stale_of(mux) < 10) /* all frames without a partner have been seen */
        g_usleep(1000);
      gst_harness_push_event(right, gst_event_new_stream_start("again"));
      gst_harness_set_src_caps(right, test_caps("GRAY8", 16, 8, NULL));
      gst_harness_push_event(right, gst_event_new_segment(&segment));
    }
    GstHarness *const pads[] = {left, right};
    for (int i = 0; i < 2; i++) {
      if (i == RIGHT && k >= 10 && k < 20)
        continue;
      GstBuffer *buffer = gst_buffer_new_allocate(NULL, 128, NULL);
      GST_BUFFER_PTS(buffer) = k * GST_SECOND / 30;
      fail_unless(gst_harness_push(pads[i], buffer) == GST_FLOW_OK, "frame %u", k);
    }
  }
  for (guint k = 0; k < 20; k++) {
    GstBuffer *buffer = gst_harness_pull(left);
    fail_unless(buffer && GST_BUFFER_PTS(buffer) == (k < 10 ? k : k + 10) * GST_SECOND / 30);
    gst_buffer_unref(buffer);
  }
  fail_unless_equals_uint64(stale_of(mux), 10);
  gst_harness_push_event(left, gst_event_new_eos());
  gst_harness_push_event(right, gst_event_new_eos());
  gboolean ended = FALSE;
  while (!ended) {
    GstEvent *event = gst_harness_pull_event(left);
    fail_unless(event != NULL);
    ended = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
  }
  gst_harness_teardown(right);
  gst_harness_teardown(left);
  gst_object_unref(mux);
}
GST_END_TEST

/* A slow element downstream gets the newest pair, and the rest is counted. */
GST_START_TEST(test_slow_downstream) {
  Rig rig = {.camera = {{0}, {0}}};
  rig_new(&rig, "latency=100000000", "queue", "identity sleep-time=150000 ! fakesink sync=false");
  rig_run(&rig, 2);
  fail_unless(rig.pairs >= 10 && rig.pairs <= 20, "%u pairs", rig.pairs);
  fail_unless(count(&rig, "late") > 10, "%u pairs", rig.pairs);
  rig_free(&rig);
}
GST_END_TEST

/* Waiting for a sink that synchronizes to the clock is not slowness. */
GST_START_TEST(test_synchronized_sink) {
  Rig rig = {.camera = {{0}, {.offset = 2}}};
  rig_new(&rig, "", "queue", "fakesink sync=true processing-deadline=120000000");
  rig_run(&rig, 2);
  fail_unless(rig.pairs >= 59 && count(&rig, "late") == 0, "%u pairs", rig.pairs);
  rig_free(&rig);
}
GST_END_TEST

/* Free-running cameras with a trigger problem are told so. */
GST_START_TEST(test_skew_warning) {
  Rig rig = {.camera = {{FAST}, {FAST, .offset = 9}}};
  rig_new(&rig, "", "queue", "fakesink sync=false");
  gst_pipeline_set_latency(GST_PIPELINE(rig.pipeline), 1000 * GST_SECOND);
  rig_run(&rig, 6);
  fail_unless(rig.warning && strstr(rig.warning, "9.0 ms apart") && strstr(rig.warning, "trigger"),
              "%s", rig.warning);
  rig_free(&rig);
}
GST_END_TEST

/* 2 x 120 frames/s: no pair is lost and a pair takes less than a frame. Only the measurement, on an
 * idle machine, is strict about time. */
GST_START_TEST(test_120) {
  const char *text = g_getenv("RV_MUX_SECONDS");
  const double seconds = text ? atof(text) : 2;
  Rig rig = {.camera = {{.rate = 120, .jitter = 0.3}, {.rate = 120, .offset = 2, .delay = 2}}};
  rig_new(&rig, "", "queue", "queue ! fakesink sync=false");
  if (!text)
    gst_pipeline_set_latency(GST_PIPELINE(rig.pipeline), 1000 * GST_SECOND);
  rig_run(&rig, seconds);
  const guint64 dropped = count(&rig, "dropped-left") + count(&rig, "dropped-right");
  g_print("%.0f s: %u pairs, %" G_GUINT64_FORMAT " dropped, %" G_GUINT64_FORMAT
          " late, skew mean %.0f p95 %.0f max %.0f us, added latency mean %.0f max %.0f us, rates "
          "%.1f %.1f\n",
          seconds, rig.pairs, dropped, count(&rig, "late"), measure(&rig, "skew-mean"),
          measure(&rig, "skew-p95"), measure(&rig, "skew-max"), measure(&rig, "added-latency"),
          measure(&rig, "added-latency-max"), measure(&rig, "rate-left"),
          measure(&rig, "rate-right"));
  fail_unless(dropped == 0 && rig.pairs >= (guint)(seconds * 120) - 1);
  fail_unless(measure(&rig, "added-latency") < (text ? 1e6 / 120 : 1e5));
  fail_unless(measure(&rig, "rate-left") > 119 && measure(&rig, "rate-left") < 121);
  rig_free(&rig);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  LOOP(test_pairing, (int)G_N_ELEMENTS(cases)) TEST(test_late_delivery) TEST(test_stall) \
  TEST(test_stall_for_ever) TEST(test_not_linked) TEST(test_replug) TEST(test_slow_downstream) \
  TEST(test_synchronized_sink) TEST(test_skew_warning) TEST(test_120)
/* clang-format on */

ELEMENT_TESTS(cudastereomux_live, TESTS)
