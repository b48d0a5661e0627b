/* SPDX-License-Identifier: MIT */
/* latency.c: the latency that elements report: percentile and hysteresis alone, then through the
 * query and the messages of an element. */
#include "element_test.h"

#include "gstrvlatency.h"

#define MS 1000 /* µs */

/* Adds `frames` frames of `us` at 10 frames/s; returns how often the latency changed. */
static guint run(GstRvLatency *latency, guint frames, gint64 us, gint64 *now) {
  guint changes = 0;
  for (guint i = 0; i < frames; i++, *now += 100 * MS)
    changes += gst_rv_latency_add(latency, us, *now);
  return changes;
}

GST_START_TEST(test_raise) {
  GstRvLatency latency = {.count = 0};
  gint64 now = 1000 * MS;
  gst_rv_latency_restart(&latency);
  fail_unless_equals_int(run(&latency, 3, 900 * MS, &now), 0); /* allocate */
  fail_unless_equals_int(run(&latency, 20, 10 * MS, &now), 1);
  fail_unless_equals_uint64(latency.reported, 13 * GST_MSECOND); /* 12.5, rounded up */
  fail_unless_equals_int(run(&latency, 20, 10 * MS, &now), 0);
  /* Two slow frames are more than an outlier, and are reported at once. */
  fail_unless_equals_int(run(&latency, 1, 40 * MS, &now), 0);
  fail_unless_equals_int(run(&latency, 1, 40 * MS, &now), 1);
  fail_unless_equals_uint64(latency.reported, 50 * GST_MSECOND);
}
GST_END_TEST

/* One slow frame of 64 changes nothing. */
GST_START_TEST(test_outlier) {
  GstRvLatency latency = {.count = 0};
  gint64 now = 1000 * MS;
  gst_rv_latency_restart(&latency);
  run(&latency, 40, 10 * MS, &now);
  fail_unless_equals_int(run(&latency, 1, 900 * MS, &now), 0);
  fail_unless_equals_int(run(&latency, 40, 10 * MS, &now), 0);
}
GST_END_TEST

/* Lower only after 5 s below half of it. */
GST_START_TEST(test_lower) {
  GstRvLatency latency = {.count = 0};
  gint64 now = 1000 * MS;
  gst_rv_latency_restart(&latency);
  run(&latency, 70, 40 * MS, &now);
  fail_unless_equals_uint64(latency.reported, 50 * GST_MSECOND);
  fail_unless_equals_int(run(&latency, 200, 21 * MS, &now), 0); /* above half of it */
  gst_rv_latency_restart(&latency);
  run(&latency, 3, 0, &now);
  fail_unless_equals_int(run(&latency, 50, 4 * MS, &now), 0);
  fail_unless_equals_int(run(&latency, 2, 4 * MS, &now), 1);
  fail_unless_equals_uint64(latency.reported, 5 * GST_MSECOND);
}
GST_END_TEST

/* At most one change per second, whatever the times do. */
GST_START_TEST(test_rate) {
  GstRvLatency latency = {.count = 0};
  gint64 now = 1000 * MS;
  guint changes = 0;
  gst_rv_latency_restart(&latency);
  for (int i = 0; i < 100; i++)
    changes += run(&latency, 1, (10 + i) * MS, &now);
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
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu threads=1");
  GstBus *bus = test_bus(harness);
  GstCaps *caps = test_caps("GRAY8", 640, 120, NULL);
  GstVideoInfo in;
  test_info(&in, caps);
  gst_harness_set_src_caps(harness, caps);
  gst_harness_set_upstream_latency(harness, 7 * GST_MSECOND);
  fail_unless_equals_uint64(gst_harness_query_latency(harness), 7 * GST_MSECOND);
  double largest = 0;
  for (guint i = 0; i < 8; i++) {
    GstBuffer *pair = test_pair_new(&in, FALSE, FALSE, 5, i);
    gst_buffer_unref(gst_harness_push_and_pull(harness, pair));
    if (i == 3) /* the first one after three that are ignored */
      largest = stat(harness, "last-us");
  }
  fail_unless_equals_int(latency_messages(bus), 1); /* within a second */
  const GstClockTime reported = gst_harness_query_latency(harness) - 7 * GST_MSECOND;
  fail_unless(reported >= GST_MSECOND && (double)reported >= largest * 1000,
              "%" G_GUINT64_FORMAT " ns, a frame took %.0f us", reported, largest);
  fail_unless(stat(harness, "latency-us") * 1000 == (double)reported);
  /* Off: nothing is added, and the pipeline is told. */
  gst_harness_set(harness, "cudasgm", "latency-report", FALSE, NULL);
  fail_unless_equals_int(latency_messages(bus), 1);
  fail_unless_equals_uint64(gst_harness_query_latency(harness), 7 * GST_MSECOND);
  test_bus_free(bus);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* Others need no latency. */
GST_START_TEST(test_not_live) {
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu threads=1");
  GstBus *bus = test_bus(harness);
  GstCaps *caps = test_caps("GRAY8", 320, 60, NULL);
  GstVideoInfo in;
  test_info(&in, caps);
  gst_harness_set_live(harness, FALSE);
  gst_harness_set_src_caps(harness, caps);
  gst_harness_query_latency(harness);
  for (guint i = 0; i < 8; i++) {
    GstBuffer *pair = test_pair_new(&in, FALSE, FALSE, 5, i);
    gst_buffer_unref(gst_harness_push_and_pull(harness, pair));
  }
  fail_unless_equals_int(latency_messages(bus), 0);
  fail_unless_equals_uint64(gst_harness_query_latency(harness), 0);
  test_bus_free(bus);
  gst_harness_teardown(harness);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_raise) TEST(test_outlier) TEST(test_lower) TEST(test_rate) TEST(test_query) \
  TEST(test_not_live)
/* clang-format on */

ELEMENT_TESTS(latency, TESTS)
