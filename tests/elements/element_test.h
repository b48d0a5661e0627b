/* SPDX-License-Identifier: MIT */
/* element_test.h: what the tests of the elements share. */
#ifndef ELEMENT_TEST_H
#define ELEMENT_TEST_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "convert/convert.h"
#include "ground/ground.h"
#include "roadvision-gst.h"

/* Formats that all elements except cudaannotate accept, in the order of RvPixelFormat; P010_10LE is the
 * last one. */
#define TEST_FORMATS                                                                               \
  "NV12", "I420", "YUY2", "UYVY", "BGRx", "BGRA", "RGBx", "RGBA", "RGB", "BGR", "GRAY8", "YV12",   \
      "NV21", "Y42B", "ARGB", "ABGR", "xRGB", "xBGR", "P010_10LE"

/* Offset of the upper byte of a component's samples: 1 in formats of more than 8 bits. */
int test_upper_byte(const GstVideoFormatInfo *format, guint component);

/* A pair of `format`, the two views of width x height packed as `top_bottom` and `right_first` say:
 * the right view sees the left one's random texture shifted by `shift` px. */
GstBuffer *test_pair_new(const GstVideoInfo *info, gboolean top_bottom, gboolean right_first,
                         int shift, guint32 seed);

/* The same with the right view `rows` further down. */
GstBuffer *test_pair_new_rows(const GstVideoInfo *info, gboolean top_bottom, gboolean right_first,
                              int shift, int rows, guint32 seed);

/* A harness of a launch line; names in `format` as in printf. */
GstHarness *test_harness(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* One element with `engine` and `more` properties, whose frames are GRAY8 of width x height px. */
GstHarness *test_gray_harness(const char *element, const char *engine, const char *more, int width,
                              int height);

/* A mapped frame as the library's image. */
RvPicture test_picture(const GstVideoFrame *frame);

/* Caps of a raw video, and its info. */
GstCaps *test_caps(const char *format, int width, int height, const char *more);
void test_info(GstVideoInfo *info, const GstCaps *caps);

/* Sends such caps into a harness; `info` becomes theirs. */
void test_set_caps(GstHarness *harness, const char *format, int width, int height, const char *more,
                   GstVideoInfo *info);

/* Gray of a rectangle of a buffer, width x height bytes, to be freed. */
guint8 *test_gray(GstBuffer *buffer, const GstVideoInfo *info, int x, int y, int width, int height);

/* The plane of RvGroundMeta as an element reads it, without slope_y if there is none; NULL for a
 * disparity of width x height px that is too small for a ground. */
const RvGroundSurface *test_surface(GstBuffer *buffer, int width, int height,
                                    RvGroundSurface *surface);

/* The ground of a frame's disparity (64 px of range), which the library estimates on the CPU engine.
 * `map` gives the disparity until rv_meta_unmap(). */
void test_estimate_ground(GstBuffer *frame, int width, int height, const RvCamera *camera,
                          RvMetaMap *map, RvGroundSurface *surface);

/* Copies a payload that must have `bytes`. */
void test_copy_payload(GstBuffer *payload, gpointer to, gsize bytes);

/* The GStreamer that runs is 1.`minor` or newer. */
gboolean test_is_gstreamer(guint minor);

gboolean test_near(double value, double wanted, double tolerance);

/* An element, or a chain of them, in a harness with a bus. */
typedef struct TestElement {
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info; /* of the input */
} TestElement;

/* Starts the launch line `line` with caps as test_caps() makes them; test_end() frees everything. */
TestElement test_start(const char *line, const char *format, int width, int height,
                       const char *more);
void test_end(TestElement *test);

/* Pushes `in`; what comes out has neither annotation. `other` may be NULL. */
void test_push_without(GstHarness *harness, GstBuffer *in, const char *annotation,
                       const char *other);

/* The next region of interest of a frame; `state` is NULL at first. NULL: no more. */
const GstVideoRegionOfInterestMeta *test_next_region(GstBuffer *buffer, gpointer *state);

/* A field of the property stats, which must have that type. */
void test_stat(GstElement *element, const char *name, GType type, gpointer value);

/* Two buffers contain the same bytes. */
void test_same_bytes(GstBuffer *a, GstBuffer *b);

/* Fills a buffer with random bytes. */
void test_randomize(GstBuffer *buffer, guint32 seed);

/* Adds a bus to a harness's element; the next error or warning on it, or NULL. */
GstBus *test_bus(GstHarness *harness);
void test_bus_free(GstBus *bus);
char *test_message(GstBus *bus, GstMessageType type);

/* Stops an element that is in no harness, and frees it and its bus. */
void test_element_free(GstElement *element, GstBus *bus);

/* Frees a harness and the last frame that it gave. */
void test_drop(GstHarness *harness, GstBuffer *out);

/* Frees a harness and the bus of its element. */
void test_close(GstHarness *harness, GstBus *bus);

/* The next warning or error contains `text` and, unless it is NULL, `more`. `text` NULL: there is
 * none. */
void test_expect_warning(GstBus *bus, const char *text, const char *more);
void test_expect_error(GstBus *bus, const char *text, const char *more);

/* A folder of its own for the files of a test; deleted with the files in it. */
char *test_folder_new(void);
void test_folder_free(char *folder);

/* A file of the name `name` in such a folder, which test_file_free() deletes. */
typedef struct TestFile {
  char *folder, *path;
} TestFile;

TestFile test_file_new(const char *name);
void test_file_free(TestFile *file);

/* A harness behind stereotestsrc, with `caps` downstream, whose sink pad answers queries with `probe`
 * (NULL: as always). */
GstHarness *test_source_new(const char *caps, GstPadProbeCallback probe, gpointer data);

/* The program of a file of tests, from a list:
 *   #define TESTS(TEST, LOOP) TEST(test_a) LOOP(test_b, 4)
 *   ELEMENT_TESTS(cudasgm, TESTS)
 * LOOP runs a test with __i__ from 0 to below a number. */
#define ELEMENT_TEST_ADD(test) tcase_add_test(all_tests, test);
#define ELEMENT_TEST_LOOP(test, count) tcase_add_loop_test(all_tests, test, 0, (int)(count));
#define ELEMENT_TESTS(name, LIST)                                                                  \
  static Suite *name##_suite(void) {                                                               \
    Suite *suite = suite_create(#name);                                                            \
    TCase *all_tests = tcase_create("general");                                                    \
    suite_add_tcase(suite, all_tests);                                                             \
    LIST(ELEMENT_TEST_ADD, ELEMENT_TEST_LOOP)                                                      \
    return suite;                                                                                  \
  }                                                                                                \
  GST_CHECK_MAIN(name)

#endif
