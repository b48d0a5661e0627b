/* SPDX-License-Identifier: MIT */
/* semanticsattach.c: label images: PNG files, classes, time, invalid settings. */
#include <glib/gstdio.h>
#include <stdlib.h>

#include "labels_test.h"
#include "gstsemanticsattach_images.h"

/* --- PNG files --------------------------------------------------------------------------------- */

static void put_u32(GByteArray *to, guint32 value) {
  const guint8 bytes[] = {(guint8)(value >> 24), (guint8)(value >> 16), (guint8)(value >> 8),
                          (guint8)value};
  g_byte_array_append(to, bytes, 4);
}

static void put_chunk(GByteArray *to, const char *name, const guint8 *data, guint size) {
  put_u32(to, size);
  g_byte_array_append(to, (const guint8 *)name, 4);
  g_byte_array_append(to, data, size);
  put_u32(to, 0); /* CRC, which the reader leaves alone: the data have a checksum of their own */
}

/* Stored (not compressed) zlib stream. */
static void put_stored(GByteArray *to, const guint8 *data, guint size) {
  const guint8 head[] = {
      0x78, 0x01, 1, (guint8)size, (guint8)(size >> 8), (guint8)~size, (guint8)(~size >> 8)};
  guint32 a = 1, b = 0;
  for (guint i = 0; i < size; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  g_byte_array_append(to, head, sizeof head);
  g_byte_array_append(to, data, size);
  put_u32(to, b << 16 | a);
}

/* A file whose rows, with a filter byte each, are `rows`. */
static GByteArray *png_new(int width, int height, int depth, int kind, const guint8 *rows,
                           guint size) {
  static const guint8 palette[] = {1, 2, 3};
  static const guint8 signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  GByteArray *file = g_byte_array_new(), *header = g_byte_array_new(), *data = g_byte_array_new();
  const guint8 rest[] = {(guint8)depth, (guint8)kind, 0, 0, 0};
  put_u32(header, (guint32)width);
  put_u32(header, (guint32)height);
  g_byte_array_append(header, rest, sizeof rest);
  put_stored(data, rows, size);
  g_byte_array_append(file, signature, sizeof signature);
  put_chunk(file, "IHDR", header->data, header->len);
  put_chunk(file, "PLTE", palette, sizeof palette);
  put_chunk(file, "IDAT", data->data, data->len / 2); /* in two parts, as writers do */
  put_chunk(file, "IDAT", data->data + data->len / 2, data->len - data->len / 2);
  put_chunk(file, "IEND", NULL, 0);
  g_byte_array_unref(header);
  g_byte_array_unref(data);
  return file;
}

static void save(const char *folder, int number, const GByteArray *file, gsize size) {
  char *path = g_strdup_printf("%s/%02d.png", folder, number);
  fail_unless(g_file_set_contents(path, (const char *)file->data, (gssize)size, NULL));
  g_free(path);
}

/* Images 0..count-1 of W x H whose value is 10 x number, the last row one more. */
static void save_numbered(const char *folder, int count) {
  for (int k = 0; k < count; k++) {
    guint8 rows[(W + 1) * H] = {0};
    for (int y = 0; y < H; y++)
      memset(rows + y * (W + 1) + 1, 10 * k + (y == H - 1), W);
    GByteArray *file = png_new(W, H, 8, 0, rows, sizeof rows);
    save(folder, k, file, file->len);
    g_byte_array_unref(file);
  }
}

/* Reads one file; the values in `values`, or NULL and the error's text (to be freed). */
static char *read_file(const char *folder, guint8 *values, int *width, int *height) {
  GstSemanticsAttachClasses classes;
  GError *error = NULL;
  RvMetaMap map;
  char *path = g_strdup_printf("%s/00.png", folder), *text = NULL;
  fail_unless(gst_semantics_attach_classes_parse(NULL, &classes, NULL));
  GstBuffer *raster = gst_semantics_attach_read(path, &classes, width, height, &error);
  fail_unless((raster != NULL) == (error == NULL));
  if (raster) {
    fail_unless(rv_meta_map_buffer(&map, raster, GST_MAP_READ));
    for (int y = 0; values && y < *height; y++)
      memcpy(values + y * *width, (guint8 *)map.plane.data + y * map.plane.stride, (gsize)*width);
    rv_meta_unmap(&map);
    gst_buffer_unref(raster);
  } else {
    fail_unless(strstr(error->message, path) != NULL, "%s", error->message);
    text = g_strdup(error->message);
  }
  g_clear_error(&error);
  g_free(path);
  return text;
}

/* Every filter, by hand; bits of 1, 2 and 4. */
GST_START_TEST(test_png) {
  static const guint8 filtered[] = {0, 10, 20, 30, 1,  5,  1, 1, 2, 1,
                                    1, 1,  3,  10, 10, 10, 4, 1, 1, 1};
  static const guint8 expected[] = {10, 20, 30, 5, 6, 7, 6, 7, 8, 13, 20, 24, 14, 21, 25};
  static const guint8 bits1[] = {0, 0xa8}, bits2[] = {0, 0x1b, 0x40}, bits4[] = {0, 0x12, 0xf0};
  guint8 values[32];
  int width, height;
  char *folder = test_folder_new();
  GByteArray *file = png_new(3, 5, 8, 0, filtered, sizeof filtered);
  save(folder, 0, file, file->len);
  g_byte_array_unref(file);
  char *error = read_file(folder, values, &width, &height);
  fail_unless(!error && width == 3 && height == 5, "%s", error);
  fail_unless(memcmp(values, expected, sizeof expected) == 0);
  const struct {
    const guint8 *rows;
    int depth;
    guint size;
    guint8 values[5];
    int width;
  } packed[] = {{bits1, 1, 2, {1, 0, 1, 0, 1}, 5},
                {bits2, 2, 3, {0, 1, 2, 3, 1}, 5},
                {bits4, 4, 3, {1, 2, 15}, 3}};
  for (guint i = 0; i < G_N_ELEMENTS(packed); i++) {
    file = png_new(packed[i].width, 1, packed[i].depth, 3, packed[i].rows, packed[i].size);
    save(folder, 0, file, file->len);
    g_byte_array_unref(file);
    error = read_file(folder, values, &width, &height);
    fail_unless(!error && memcmp(values, packed[i].values, (gsize)packed[i].width) == 0, "%u: %s",
                i, error);
  }
  test_folder_free(folder);
}
GST_END_TEST

/* Files that cannot be used are rejected with the cause; damaged ones never crash. */
GST_START_TEST(test_bad_png) {
  guint8 rows[(W + 1) * H] = {0};
  char *folder = test_folder_new();
  const struct {
    int width, height, depth, kind;
    const char *says;
  } cases[] = {{W, H, 8, 2, "color"},    {W, H, 16, 0, "bits"},       {0, H, 8, 0, "size"},
               {W, 20000, 8, 0, "size"}, {W + 1, H, 8, 0, "damaged"}, {W, H - 1, 8, 0, "damaged"}};
  int width, height;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GByteArray *file =
        png_new(cases[i].width, cases[i].height, cases[i].depth, cases[i].kind, rows, sizeof rows);
    save(folder, 0, file, file->len);
    char *error = read_file(folder, NULL, &width, &height);
    fail_unless(error && strstr(error, cases[i].says), "%u: %s", i, error);
    g_free(error);
    g_byte_array_unref(file);
  }
  rows[0] = 9; /* no such filter */
  GByteArray *file = png_new(W, H, 8, 0, rows, sizeof rows);
  save(folder, 0, file, file->len);
  char *error = read_file(folder, NULL, &width, &height);
  fail_unless(error && strstr(error, "damaged"), "%s", error);
  g_free(error);
  rows[0] = 0;
  g_byte_array_unref(file);
  file = png_new(W, H, 8, 0, rows, sizeof rows);
  for (gsize size = 0; size < file->len; size++) { /* cut off anywhere */
    save(folder, 0, file, size);
    error = read_file(folder, NULL, &width, &height);
    fail_unless(error != NULL, "%" G_GSIZE_FORMAT, size);
    g_free(error);
  }
  guint32 state = 1;
  for (int round = 0; round < 1000; round++) { /* changed anywhere */
    GByteArray *bad = g_byte_array_append(g_byte_array_new(), file->data, file->len);
    for (int k = 0; k < 3; k++) {
      state = state * 1664525u + 1013904223u;
      bad->data[(state >> 8) % bad->len] = (guint8)state;
    }
    save(folder, 0, bad, bad->len);
    g_free(read_file(folder, NULL, &width, &height));
    g_byte_array_unref(bad);
  }
  g_byte_array_unref(file);
  test_folder_free(folder);
}
GST_END_TEST

GST_START_TEST(test_classes) {
  GstSemanticsAttachClasses classes;
  fail_unless(gst_semantics_attach_classes_parse("", &classes, NULL));
  fail_unless(classes.count == 256 && classes.of[0] == 0 && classes.of[255] == 255);
  fail_unless(gst_semantics_attach_classes_parse("7:0, 11-13:2,200:1", &classes, NULL));
  fail_unless(classes.count == 3 && classes.of[7] == 0 && classes.of[10] == RV_SEMANTIC_NONE);
  fail_unless(classes.of[11] == 2 && classes.of[13] == 2 && classes.of[200] == 1);
  fail_unless(gst_semantics_attach_classes_parse("cityscapes", &classes, NULL));
  fail_unless(classes.count == 19 && classes.of[7] == 0 && classes.of[33] == 18 &&
              classes.of[23] == 10 && classes.of[0] == RV_SEMANTIC_NONE);
  static const char *const bad[] = {"7",
                                    "7:",
                                    ":1",
                                    "7:255",
                                    "256:1",
                                    "9-7:1",
                                    "7:0,,8:1",
                                    "7:0 8:1",
                                    "x",
                                    "-1:2",
                                    "99999999999999999999999:1"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    GError *error = NULL;
    fail_if(gst_semantics_attach_classes_parse(bad[i], &classes, &error), "%s", bad[i]);
    fail_unless(error && strstr(error->message, "VALUE:CLASS"));
    g_clear_error(&error);
  }
  static const char *const names[][2] = {{"a/%d.png", "a/7.png"},
                                         {"%06d", "000007"},
                                         {"a%%%d", "a%7"},
                                         {"same.png", "same.png"},
                                         {"%s", NULL},
                                         {"%", NULL},
                                         {"%*d", NULL},
                                         {"%5%", NULL},
                                         {"%n", NULL},
                                         {"%99999999999d", NULL}};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    GError *error = NULL;
    char *path = gst_semantics_attach_path(names[i][0], 7, &error);
    fail_unless_equals_string(path, names[i][1]);
    fail_unless((error != NULL) == (path == NULL));
    g_clear_error(&error);
    g_free(path);
  }
}
GST_END_TEST

/* --- Frames ------------------------------------------------------------------------------------ */

/* Frame `at` through the element; its label. */
static int push(GstHarness *harness, int at, int *last) {
  GstBuffer *in = labels_frame(W, H, 128, (GstClockTime)at * FRAME + FRAME / 5);
  GstBuffer *out = gst_harness_push_and_pull(harness, gst_buffer_ref(in));
  fail_unless(gst_buffer_peek_memory(out, 0) == gst_buffer_peek_memory(in, 0)); /* no copy */
  fail_if(rv_meta_find(in, RV_META_SEMANTICS));                                 /* others hold it */
  gst_buffer_unref(in);
  return labels_first(out, last);
}

/* Images follow the time of the frames, not their number: lost frames, jumps back, other rates. */
GST_START_TEST(test_images) {
  char *folder = test_folder_new();
  int last = 0;
  save_numbered(folder, 6);
  char *line = g_strdup_printf("semanticsattach location=%s/%%02d.png", folder);
  TestElement test = test_start(line, "GRAY8", W, H, NULL);
  static const int order[] = {0, 1, 4, 2, 2, 5};
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) {
    fail_unless_equals_int(push(test.harness, order[i], &last), 10 * order[i]);
    fail_unless_equals_int(last, 10 * order[i] + 1);
  }
  fail_unless_equals_int(labels_stat(test.harness, "images"), 5); /* one was used twice */
  GstElement *element = gst_harness_find_element(test.harness, "semanticsattach");
  g_object_set(element, "start-index", 1, "image-rate", 15.0, "classes", "10:3,20-21:4", NULL);
  fail_unless_equals_int(push(test.harness, 0, &last), 3);
  fail_unless_equals_int(last, RV_SEMANTIC_NONE);
  fail_unless_equals_int(push(test.harness, 2, &last), 4);
  fail_unless_equals_int(last, 4);
  test_expect_warning(test.bus, NULL, NULL);
  fail_unless_equals_int(push(test.harness, 20, &last), -1); /* there is no such image */
  fail_unless_equals_int(push(test.harness, 22, &last), -1);
  fail_unless_equals_int(push(test.harness, 2, &last), 4);
  test_expect_warning(test.bus, "11.png", "start-index");
  test_expect_warning(test.bus, NULL, NULL); /* once */
  fail_unless_equals_int(labels_stat(test.harness, "unmatched"), 2);
  gst_object_unref(element);
  test_end(&test);
  g_free(line);
  test_folder_free(folder);
}
GST_END_TEST

/* Settings that are invalid: an error at the start, a warning later, and the previous ones stay. */
GST_START_TEST(test_settings) {
  static const char *const bad[] = {"classes=7", "location=%s.png"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    GstElement *element =
        gst_parse_launch(i ? "semanticsattach location=%s.png" : "semanticsattach classes=7", NULL);
    GstBus *bus = gst_bus_new();
    gst_element_set_bus(element, bus);
    fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
    char *text = test_message(bus, GST_MESSAGE_ERROR);
    fail_unless(text && strstr(text, i ? "location" : "classes"), "%s: %s", bad[i], text);
    g_free(text);
    test_element_free(element, bus);
  }
  char *folder = test_folder_new(), *text = NULL;
  int last = 0;
  save_numbered(folder, 2);
  GstHarness *harness =
      test_harness("semanticsattach classes=0:5,10:6 location=%s/%%02d.png", folder);
  GstBus *bus = test_bus(harness);
  GstElement *element = gst_harness_find_element(harness, "semanticsattach");
  gst_harness_set_src_caps(harness, test_caps("GRAY8", W, H, NULL));
  fail_unless_equals_int(push(harness, 0, &last), 5);
  g_object_set(element, "classes", "nonsense", NULL);
  fail_unless_equals_int(push(harness, 1, &last), 6);
  test_expect_warning(bus, "nonsense", NULL);
  g_object_get(element, "classes", &text, NULL);
  fail_unless_equals_string(text, "0:5,10:6");
  g_free(text);
  gst_object_unref(element);
  test_close(harness, bus);
  test_folder_free(folder);
}
GST_END_TEST

/* Nothing to attach, and labels of another shape. */
GST_START_TEST(test_warnings) {
  int last = 0;
  TestElement test = test_start("semanticsattach", "GRAY8", W, H, NULL);
  fail_unless_equals_int(push(test.harness, 0, &last), -1);
  test_expect_warning(test.bus, "location", NULL);
  test_end(&test);

  char *folder = test_folder_new();
  guint8 rows[2 * 3] = {0, 1, 0, 2, 0, 3};
  GByteArray *file = png_new(1, 3, 8, 0, rows, sizeof rows);
  save(folder, 0, file, file->len);
  g_byte_array_unref(file);
  char *line = g_strdup_printf("semanticsattach location=%s/%%02d.png", folder);
  test.harness = gst_harness_new_parse(line);
  test.bus = test_bus(test.harness);
  gst_harness_set_src_caps(test.harness, test_caps("GRAY8", W, H, NULL));
  fail_unless_equals_int(push(test.harness, 0, &last), 1);
  fail_unless_equals_int(last, 3);
  test_expect_warning(test.bus, "1x3", "6x4");
  test_end(&test);
  g_free(line);
  test_folder_free(folder);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_png) TEST(test_bad_png) TEST(test_classes) TEST(test_images) TEST(test_settings) \
  TEST(test_warnings)
/* clang-format on */

ELEMENT_TESTS(semanticsattach, TESTS)
