/* SPDX-License-Identifier: MIT */
/* publish_test.h: what the tests of annotationpublish share. */
#ifndef PUBLISH_TEST_H
#define PUBLISH_TEST_H

#include "element_test.h"

/* A harness of "annotationpublish PROPERTIES" that is negotiated to 64x48 GRAY8. Names in
 * `format` as in printf. */
GstHarness *publish_harness(const char *format, ...) G_GNUC_PRINTF(1, 2);

GstHarness *publish_harness_caps(const char *caps, const char *properties);

/* An element that writes JSON lines to a file in a folder of its own. */
typedef struct PublishTest {
  GstHarness *harness;
  char *folder, *text;
} PublishTest;

PublishTest publish_start(const char *properties);

/* Ends the stream; the text of the file, valid until publish_free(). */
const char *publish_text(PublishTest *test);
void publish_free(PublishTest *test);

/* A frame number `index` (30 per second) with `count` stixels. */
GstBuffer *publish_frame(guint index, int count);

/* Pushes frames first..first + count - 1 and drops what comes out; returns the last result. */
GstFlowReturn publish_push(GstHarness *harness, guint first, guint count, int stixels);

/* Sends EOS and stops: the files are complete. */
void publish_end(GstHarness *harness);

/* The same, and frees the bus of the element. */
void publish_close(GstHarness *harness, GstBus *bus);

/* A number of the property stats. */
guint64 publish_stat(GstHarness *harness, const char *name);

/* Text of a file; its number of lines. */
char *publish_read(const char *folder, const char *name);
guint publish_lines(const char *text);
void publish_expect_lines(const char *folder, const char *name, guint lines);

#endif
