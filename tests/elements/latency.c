/* SPDX-License-Identifier: MIT */
/* latency.c: the latency that elements report: percentile and hysteresis alone, then through the
 * query and the messages of an element. */
#include "element_test.h"

#include "gstrvlatency.h"

#define MS 1000 /* µs */

typedef struct Meter {
  GstRvLatency latency;
  gint64 now; /* µs */
} Meter;

static Meter start(void) {
  Meter meter = {.now = 1000 * MS};
  gst_rv_latency_restart(&meter.latency);
  return meter;
}

/* Adds `frames` frames of `us` at 10 frames/s; returns how often the latency changed. */
static guint run(Meter *meter, guint frames, gint64 us) {
  guint changes = 0;
  for (guint i = 0; i < frames; i++, meter->now += 100 * MS)
    changes += gst_rv_latency_add(&meter->latency, us, meter->now);
  return changes;
}

/* Frames of one length, and what follows from them. */
typedef struct Step {
  guint frames;
  gint64 ms;
  int changes;           /* -1: any */
  GstClockTime reported; /* ms; 0: any */
} Step;

static void check_steps(const Step *steps, guint count) {
  Meter meter = start();
  for (guint i = 0; i < count; i++) {
    const guint changes = run(&meter, steps[i].frames, steps[i].ms * MS);
    fail_unless(steps[i].changes < 0 || (int)changes == steps[i].changes, "step %u: %u changes", i,
                changes);
    fail_unless(steps[i].reported == 0 || meter.latency.reported == steps[i].reported * GST_MSECOND,
                "step %u: %" GST_TIME_FORMAT, i, GST_TIME_ARGS(meter.latency.reported));
  }
}

GST_START_TEST(test_raise) {
  static const Step steps[] = {
      {3, 900, 0, 0},  /* allocate */
      {20, 10, 1, 13}, /* 12.5, rounded up */
      {20, 10, 0, 0},
      {1, 40, 0, 0}, /* two slow frames are more than an outlier, and are reported at once */
      {1, 40, 1, 50},
  };
  check_steps(steps, G_N_ELEMENTS(steps));
}
GST_END_TEST

/* One slow frame of 64 changes nothing. */
GST_START_TEST(test_outlier) {
  static const Step steps[] = {{40, 10, -1, 0}, {1, 900, 0, 0}, {40, 10, 0, 0}};
  check_steps(steps, G_N_ELEMENTS(steps));
}
GST_END_TEST

/* Lower only after 5 s below half of it. */
GST_START_TEST(test_lower) {
  Meter meter = start();
  run(&meter, 70, 40 * MS);
  fail_unless_equals_uint64(meter.latency.reported, 50 * GST_MSECOND);
  fail_unless_equals_int(run(&meter, 200, 21 * MS), 0); /* above half of it */
  gst_rv_latency_restart(&meter.latency);
  run(&meter, 3, 0);
  fail_unless_equals_int(run(&meter, 50, 4 * MS), 0);
  fail_unless_equals_int(run(&meter, 2, 4 * MS), 1);
  fail_unless_equals_uint64(meter.latency.reported, 5 * GST_MSECOND);
}
GST_END_TEST

/* At most one change per second, whatever the times do. */
GST_START_TEST(test_rate) {
  Meter meter = start();
  guint changes = 0;
  for (int i = 0; i < 100; i++)
    changes += run(&meter, 1, (10 + i) * MS);
  fail_unless(changes >= 8 && changes <= 11, "%u changes in 10 s", changes);
}
GST_END_TEST

static guint latency_messages(GstBus *bus) {
  guint count = 0;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_LATENCY))) {
    count++;
    gst_message_unref(message);
  }
  return count;
}

static double stat(GstHarness *harness, const char *name) {
  GstStructure *stats = NULL;
  double value = -1;
  gst_harness_get(harness, "cudasgm", "stats", &stats, NULL);
  fail_unless(gst_structure_get_double(stats, name, &value), "%s", name);
  gst_structure_free(stats);
  return value;
}

/* A live pipeline learns how long a frame takes. */
GST_START_TEST(test_query) {
  TestElement test = test_start("cudasgm engine=cpu threads=1", "GRAY8", 640, 120, NULL);
  gst_harness_set_upstream_latency(test.harness, 7 * GST_MSECOND);
  fail_unless_equals_uint64(gst_harness_query_latency(test.harness), 7 * GST_MSECOND);
  double largest = 0;
  const gint64 start = g_get_monotonic_time();
  for (guint i = 0; i < 8; i++) {
    GstBuffer *pair = test_pair_new(&test.info, FALSE, FALSE, 5, i);
    gst_buffer_unref(gst_harness_push_and_pull(test.harness, pair));
    if (i == 3) /* the first one after three that are ignored */
      largest = stat(test.harness, "last-us");
  }
  const guint seconds = (guint)((g_get_monotonic_time() - start) / G_USEC_PER_SEC);
  const guint messages = latency_messages(test.bus); /* at most one a second */
  fail_unless(messages >= 1 && messages <= 1 + seconds, "%u in %u s", messages, seconds);
  const GstClockTime reported = gst_harness_query_latency(test.harness) - 7 * GST_MSECOND;
  fail_unless(reported >= GST_MSECOND && (double)reported >= largest * 1000,
              "%" G_GUINT64_FORMAT " ns, a frame took %.0f us", reported, largest);
  fail_unless(stat(test.harness, "latency-us") * 1000 == (double)reported);
  /* Off: nothing is added, and the pipeline is told. */
  gst_harness_set(test.harness, "cudasgm", "latency-report", FALSE, NULL);
  fail_unless_equals_int(latency_messages(test.bus), 1);
  fail_unless_equals_uint64(gst_harness_query_latency(test.harness), 7 * GST_MSECOND);
  test_end(&test);
}
GST_END_TEST

/* Others need no latency. */
GST_START_TEST(test_not_live) {
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu threads=1");
  GstBus *bus = test_bus(harness);
  GstVideoInfo in;
  gst_harness_set_live(harness, FALSE);
  test_set_caps(harness, "GRAY8", 320, 60, NULL, &in);
  gst_harness_query_latency(harness);
  for (guint i = 0; i < 8; i++) {
    GstBuffer *pair = test_pair_new(&in, FALSE, FALSE, 5, i);
    gst_buffer_unref(gst_harness_push_and_pull(harness, pair));
  }
  fail_unless_equals_int(latency_messages(bus), 0);
  fail_unless_equals_uint64(gst_harness_query_latency(harness), 0);
  test_close(harness, bus);
}
GST_END_TEST

/* Share of the frames of a live source that a synchronized sink shows; it also shows one if it has
 * shown none for a second. The source reports a latency of one frame and the sink tolerates the
 * duration of a frame; ts-offset takes both away again, so that the element has the time that it
 * reports, and 2 ms. */
static double shown(const char *properties, guint frames, double *mean_us) {
  char *line = g_strdup_printf(
      "videotestsrc is-live=true pattern=snow num-buffers=%u ! "
      "video/x-raw,format=GRAY8,width=640,height=240,framerate=5/1 ! cudasgm name=sgm engine=cpu "
      "threads=1 %s ! fakesink name=sink sync=true qos=true max-lateness=2000000 "
      "processing-deadline=0 ts-offset=-400000000",
      frames, properties);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  GstElement *sgm = gst_bin_get_by_name(GST_BIN(pipeline), "sgm");
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstBus *bus = gst_element_get_bus(pipeline);
  const GstMessageType kinds = GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_LATENCY;
  GstMessage *message;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, kinds)) &&
         GST_MESSAGE_TYPE(message) == GST_MESSAGE_LATENCY) {
    gst_bin_recalculate_latency(GST_BIN(pipeline)); /* as applications do */
    gst_message_unref(message);
  }
  fail_unless(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_message_unref(message);
  GstStructure *stats = NULL, *of_sink = NULL;
  guint64 rendered = 0, dropped = 0;
  g_object_get(sgm, "stats", &stats, NULL);
  g_object_get(sink, "stats", &of_sink, NULL);
  fail_unless(gst_structure_get_double(stats, "mean-us", mean_us) &&
              gst_structure_get(of_sink, "rendered", G_TYPE_UINT64, &rendered, "dropped",
                                G_TYPE_UINT64, &dropped, NULL));
  g_print("\"%s\": %" G_GUINT64_FORMAT " shown, %" G_GUINT64_FORMAT " dropped, %.0f us per frame\n",
          properties, rendered, dropped, *mean_us);
  gst_structure_free(stats);
  gst_structure_free(of_sink);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(sink);
  gst_object_unref(sgm);
  gst_object_unref(pipeline);
  g_free(line);
  return (double)rendered / (double)MAX(rendered + dropped, 1);
}

/* With the reported latency the sink shows the frames, without it next to none. Where a frame takes
 * longer than 50 ms, by sanitizers or other work, their times are a matter of chance. */
GST_START_TEST(test_sink) {
  double with_us = 0, without_us = 0;
  shown("latency-report=true", 5, &with_us);
  if (with_us > 50 * MS) {
    g_print("no test of times: %.0f us per frame\n", with_us);
    return;
  }
  const double with = shown("latency-report=true", 30, &with_us);
  fail_unless(with > 0.5 || with_us > 50 * MS, "%g shown", with);
  const double without = shown("latency-report=false", 15, &without_us);
  fail_unless(without < 0.4, "%g shown", without);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_raise) TEST(test_outlier) TEST(test_lower) TEST(test_rate) TEST(test_query) \
  TEST(test_not_live) TEST(test_sink)
/* clang-format on */

ELEMENT_TESTS(latency, TESTS)
