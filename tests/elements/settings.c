/* SPDX-License-Identifier: MIT */
/* settings.c: values that are rejected while PLAYING: the accepted ones stay, in the properties
 * too, and nothing that follows goes wrong. */
#include "element_test.h"

#include <string.h>

/* The warnings and errors since the last call. */
static void expect_messages(GstBus *bus, guint warnings, guint errors) {
  guint warned = 0, failed = 0;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    *(GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR ? &failed : &warned) += 1;
    gst_message_unref(message);
  }
  fail_unless_equals_int(warned, warnings);
  fail_unless_equals_int(failed, errors);
}

static int value_of(GstElement *element, const char *name) {
  int value = 0;
  g_object_get(element, name, &value, NULL);
  return value;
}

typedef struct Rejected {
  const char *element, *format; /* of its input */
  const char *name;
  int accepted, rejected;
} Rejected;

/* Values within the range of the property that the library rejects. */
static const Rejected cases[] = {
    {"cudasgm", "GRAY8", "paths", 8, 3},
    {"cudasgm", "GRAY8", "median", 3, 4},
    {"cudasgm", "GRAY8", "p1", 10, 4000},
    {"cudardp", "GRAY16_LE", "median", 0, 4},
};

static void push(GstHarness *harness, const GstVideoInfo *info, const char *what) {
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
  gst_buffer_memset(buffer, 0, 0, GST_VIDEO_INFO_SIZE(info));
  buffer = gst_harness_push_and_pull(harness, buffer);
  fail_unless(buffer != NULL, "%s", what);
  gst_buffer_unref(buffer);
}

/* Ends a test after which the bus has so many warnings, and no error. */
static void end(TestElement *test, GstElement *element, int warnings) {
  expect_messages(test->bus, warnings, 0);
  gst_object_unref(element);
  test_end(test);
}

/* Rejected with a frame: one warning, the accepted value, and new caps work. */
GST_START_TEST(test_rejected) {
  const Rejected *c = &cases[__i__];
  char *line = g_strdup_printf("%s engine=cpu %s=%d", c->element, c->name, c->accepted);
  GstHarness *harness = gst_harness_new_parse(line);
  GstElement *element = gst_harness_find_element(harness, c->element);
  GstBus *bus = test_bus(harness);
  for (int i = 0; i < 4; i++) {
    GstVideoInfo info;
    test_set_caps(harness, c->format, i % 2 ? 192 : 128, 32, NULL, &info);
    push(harness, &info, line);
    if (i == 1) {
      g_object_set(element, c->name, c->rejected, NULL);
      for (int k = 0; k < 5; k++)
        push(harness, &info, line);
    } else if (i == 2) {
      g_object_set(element, c->name, c->rejected, NULL); /* new caps come first */
    }
    fail_unless(i == 2 || value_of(element, c->name) == c->accepted, "%s: %d", line,
                value_of(element, c->name));
  }
  expect_messages(bus, 2, 0);
  gst_object_unref(element);
  test_close(harness, bus);
  g_free(line);
}
GST_END_TEST

/* Only the rejected values go; one that is accepted afterwards counts. */
GST_START_TEST(test_accepted_after) {
  TestElement test =
      test_start("cudasgm engine=cpu disparities=64 paths=8 median=3", "GRAY8", 128, 32, NULL);
  GstElement *element = gst_harness_find_element(test.harness, "cudasgm");
  push(test.harness, &test.info, "first");
  g_object_set(element, "paths", 3, NULL);
  push(test.harness, &test.info, "rejected");
  g_object_set(element, "paths", 4, "disparities", 96, NULL);
  push(test.harness, &test.info, "accepted");
  g_object_set(element, "median", 4, NULL);
  push(test.harness, &test.info, "rejected");
  fail_unless(value_of(element, "paths") == 4 && value_of(element, "disparities") == 96 &&
              value_of(element, "median") == 3);
  end(&test, element, 2);
}
GST_END_TEST

/* So are layouts that the frame cannot have, although they change the caps. */
GST_START_TEST(test_rejected_layout) {
  TestElement test = test_start("cudasgm engine=cpu disparities=32", "GRAY8", 128, 33, NULL);
  GstElement *element = gst_harness_find_element(test.harness, "cudasgm");
  push(test.harness, &test.info, "first");
  const int before = value_of(element, "layout");
  gst_util_set_object_arg(G_OBJECT(element), "layout", "top-bottom");
  for (int i = 0; i < 3; i++)
    push(test.harness, &test.info, "rejected");
  fail_unless_equals_int(value_of(element, "layout"), before);
  end(&test, element, 1);
}
GST_END_TEST

/* Before the first frame there is nothing to keep: an error. */
GST_START_TEST(test_rejected_at_start) {
  TestElement test = test_start("cudasgm engine=cpu paths=3", "GRAY8", 128, 32, NULL);
  expect_messages(test.bus, 0, 1);
  test_end(&test);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  LOOP(test_rejected, (int)G_N_ELEMENTS(cases)) TEST(test_accepted_after) \
  TEST(test_rejected_layout) TEST(test_rejected_at_start)
/* clang-format on */

ELEMENT_TESTS(settings, TESTS)
