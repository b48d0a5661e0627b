/* SPDX-License-Identifier: MIT */
/* annotationpublish.c: what is written: lines, numbers, tables, files in a row. */
#include "publish_test.h"

#include <math.h>

#include "gstannotationpublish_layout.h"
#include "gstannotationpublish_mcap.h"
#include "gstannotationpublish_text.h"

/* --- Text ------------------------------------------------------------------------------------ */

static char *text_of_float(float value) {
  GstPublishText text = {NULL, 0, 0};
  fail_unless(gst_publish_text_float(&text, value));
  gst_publish_text_char(&text, 0);
  return text.data;
}

GST_START_TEST(test_numbers) {
  static const struct {
    float value;
    const char *text;
  } known[] = {{0.0f, "0"},
               {1.0f, "1"},
               {-2.5f, "-2.5"},
               {0.1f, "0.1"},
               {1e-5f, "0.00001"},
               {123456.7f, "123456.7"},
               {16777216.0f, "16777216"},
               {3.4e38f, "3.4e+38"},
               {0.33333334f, "0.33333334"},
               {-0.0625f, "-0.0625"}};
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    char *text = text_of_float(known[i].value);
    if (known[i].value < 1e15f)
      fail_unless_equals_string(text, known[i].text);
    fail_unless((float)g_ascii_strtod(text, NULL) == known[i].value, "%s", text);
    g_free(text);
  }
  GstPublishText none = {NULL, 0, 0};
  fail_if(gst_publish_text_float(&none, NAN) || gst_publish_text_float(&none, INFINITY) ||
          gst_publish_text_double(&none, -HUGE_VAL) || none.length);
  gst_publish_text_clear(&none);
  GRand *random = g_rand_new_with_seed(7);
  for (int i = 0; i < 200000; i++) { /* bits of any float, and of any double */
    union {
      guint32 bits;
      float value;
    } f = {g_rand_int(random)};
    if (isfinite(f.value)) {
      char *text = text_of_float(f.value);
      fail_unless((float)g_ascii_strtod(text, NULL) == f.value, "%s", text);
      g_free(text);
    }
    const double d = g_rand_double_range(random, -1000, 1000) * pow(10, i % 20 - 10);
    GstPublishText text = {NULL, 0, 0};
    fail_unless(gst_publish_text_double(&text, d));
    gst_publish_text_char(&text, 0);
    fail_unless(g_ascii_strtod(text.data, NULL) == d, "%s", text.data);
    gst_publish_text_clear(&text);
  }
  g_rand_free(random);
}
GST_END_TEST

GST_START_TEST(test_strings) {
  GstPublishText text = {NULL, 0, 0};
  gst_publish_text_json(&text, "a\"\\\n\x01 \xc3\xa4 \xff");
  gst_publish_text_char(&text, ' ');
  gst_publish_text_csv(&text, "plain");
  gst_publish_text_char(&text, ' ');
  gst_publish_text_csv(&text, "a,\"b\"");
  gst_publish_text_char(&text, ' ');
  gst_publish_text_utc(&text, 0);
  gst_publish_text_char(&text, ' ');
  gst_publish_text_utc(&text, G_GINT64_CONSTANT(1709209800123456789)); /* 29 February */
  gst_publish_text_char(&text, ' ');
  gst_publish_text_utc(&text, -1);
  gst_publish_text_char(&text, ' ');
  gst_publish_text_base64(&text, (const guint8 *)"Mann-heim-", 4, 5, 2); /* rows with padding */
  gst_publish_text_char(&text, ' ');
  gst_publish_text_base64(&text, (const guint8 *)"Mannheim", 8, 0, 1);
  gst_publish_text_char(&text, ' ');
  gst_publish_text_int(&text, G_MININT64);
  gst_publish_text_char(&text, 0);
  fail_unless_equals_string(text.data, "\"a\\\"\\\\\\u000a\\u0001 \xc3\xa4 \xef\xbf\xbd\" plain "
                                       "\"a,\"\"b\"\"\" 1970-01-01T00:00:00.000000Z "
                                       "2024-02-29T12:30:00.123456Z 1969-12-31T23:59:59.999999Z "
                                       "TWFubmhlaW0= TWFubmhlaW0= -9223372036854775808");
  gst_publish_text_clear(&text);
  gint64 utc = 0;
  fail_unless(gst_publish_parse_utc("2024-02-29T12:30:00.123456Z", &utc));
  fail_unless(utc == G_GINT64_CONSTANT(1709209800123456000));
  fail_unless(gst_publish_parse_utc("2024-02-29T13:30:00+01:00", &utc));
  fail_unless(utc == G_GINT64_CONSTANT(1709209800000000000));
  fail_if(gst_publish_parse_utc("2024-02-29T12:30:00", &utc)); /* which zone? */
  fail_if(gst_publish_parse_utc("yesterday", &utc));
  fail_unless(gst_publish_crc32(0, "123456789", 9) == 0xcbf43926u);
  fail_unless(gst_publish_crc32(gst_publish_crc32(0, "12345", 5), "6789", 4) == 0xcbf43926u);
}
GST_END_TEST

GST_START_TEST(test_layouts) {
  GstPublishLayout layout;
  fail_unless(gst_publish_layout_parse(&layout, "a:u8 b:u16 reserved:u8 c:f32 d:i8"));
  fail_unless(layout.count == 4 && layout.size == 16 && !layout.single);
  fail_unless(layout.fields[1].offset == 2 && layout.fields[2].offset == 8 &&
              layout.fields[3].offset == 12);
  fail_unless(gst_publish_layout_parse(&layout, "i16") && layout.single && layout.size == 2);
  fail_if(gst_publish_layout_parse(&layout, "a:u9") || gst_publish_layout_parse(&layout, ""));
  /* The layouts of the library are those of the C structs. */
  static const struct {
    const char *name;
    gsize size;
  } records[] = {{RV_META_STIXELS, sizeof(RvStixel)},
                 {RV_META_SEGMENTS, sizeof(RvSegment)},
                 {RV_META_LINES, sizeof(RvLine)},
                 {RV_META_OBSTACLES, sizeof(RvObstacle)},
                 {RV_META_FREE_SPACE, sizeof(RvFreeColumn)},
                 {RV_META_LANES, sizeof(RvLaneLine)},
                 {RV_META_DETECTIONS, sizeof(RvDetection)}};
  for (guint i = 0; i < G_N_ELEMENTS(records); i++) {
    const GstPublishLayout *known = gst_publish_layout(records[i].name, "payload");
    fail_unless(known && known->size == records[i].size, "%s", records[i].name);
  }
  const GstPublishLayout *lanes = gst_publish_layout(RV_META_LANES, "payload");
  const int position = gst_publish_layout_find(lanes, "position");
  fail_unless(position >= 0 && lanes->fields[position].offset == offsetof(RvLaneLine, position));
  const guint8 record[] = {0xfe, 0xff, 0x00, 0x3c, 0x01, 0x00, 0x00, 0xfc};
  const GstPublishField fields[] = {{"i8", GST_PUBLISH_I8, 0},    {"i16", GST_PUBLISH_I16, 0},
                                    {"u16", GST_PUBLISH_U16, 0},  {"f16", GST_PUBLISH_F16, 2},
                                    {"tiny", GST_PUBLISH_F16, 4}, {"inf", GST_PUBLISH_F16, 6}};
  const double values[] = {-2, -2, 65534, 1, 1.0 / 16777216, -HUGE_VAL};
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    fail_unless(gst_publish_field_value(&fields[i], record) == values[i], "%s", fields[i].name);
}
GST_END_TEST

/* --- Lines ----------------------------------------------------------------------------------- */

GST_START_TEST(test_json) {
  PublishTest test = publish_start("utc-start=2026-11-22T08:30:00Z source=front "
                                   "tags=\"tags,vehicle=7,route=(string)\\\"A\\ 8\\\"\"");
  publish_push(test.harness, 0, 2, 2);
  const char *text = publish_text(&test);
  static const char expected[] =
      "{\"schema\":\"roadvision.frame/1\",\"seq\":0,\"segment\":0,\"timestamp\":0,"
      "\"running_time\":0,\"pts\":0,\"duration\":33333333,"
      "\"utc\":\"2026-11-22T08:30:00.000000Z\",\"utc_ns\":1795336200000000000,"
      "\"utc_source\":\"start\",\"dropped\":0,\"source\":\"front\","
      "\"tags\":{\"vehicle\":7,\"route\":\"A 8\"},\"resolution\":{\"width\":64,\"height\":48},"
      "\"stixels\":{\"version\":1,\"width\":64,\"height\":48,\"count\":2,\"stixel_width\":8,"
      "\"vertical_step\":8,\"model\":\"slanted-fast\",\"ground_slope\":0.25,"
      "\"ground_intercept\":-3.5,\"ground_frames\":0,"
      "\"fields\":[\"column\",\"v_bottom\",\"v_top\",\"structure\",\"semantic\",\"slope\","
      "\"intercept\",\"cost\"],"
      "\"records\":[[0,47,0,1,255,0,-0.33333334,0],[8,47,1,1,255,0.125,-0.33333334,0.000034]]}}\n";
  fail_unless(g_str_has_prefix(text, expected), "got      %sexpected %s", text, expected);
  fail_unless_equals_int(publish_lines(text), 2);
  fail_unless(strstr(text, "\"seq\":1,\"segment\":0,\"timestamp\":33333333,") != NULL);
  fail_unless(strstr(text, "\"utc\":\"2026-11-22T08:30:00.033333Z\"") != NULL);
  publish_free(&test);
}
GST_END_TEST

/* Annotations of other programs: unknown names, missing payloads, infinite numbers, short arrays. */
GST_START_TEST(test_any_annotation) {
  PublishTest test = publish_start("payload=base64");
  GstBuffer *buffer = publish_frame(0, 3);
  GstStructure *fields = (GstStructure *)rv_meta_find(buffer, RV_META_STIXELS);
  gst_structure_set(fields, "count", G_TYPE_INT, 100, "ground-slope", G_TYPE_DOUBLE, HUGE_VAL,
                    NULL);
  fields = rv_meta_add(buffer, "RvSomethingNewMeta", 10, 20);
  fail_unless(fields != NULL);
  gst_structure_set(fields, "half-width", G_TYPE_DOUBLE, 0.1, "what", G_TYPE_STRING, "a\tb", "far",
                    G_TYPE_BOOLEAN, TRUE, "time", G_TYPE_UINT64, G_MAXUINT64, "ratio",
                    GST_TYPE_FRACTION, 1, 3, "nothing", G_TYPE_STRING, NULL, NULL);
  GstBuffer *bytes = gst_buffer_new_allocate(NULL, 2, NULL);
  gst_buffer_memset(bytes, 0, 255, 2);
  gst_structure_set(fields, "bytes", GST_TYPE_BUFFER, bytes, NULL);
  gst_buffer_unref(bytes);
  rv_meta_set_buffer(fields, "mask", rv_meta_raster_new(RV_U16, 1, 1));
  GstMapInfo map;
  GstBuffer *mask = rv_meta_get_buffer(fields, "mask");
  fail_unless(gst_buffer_map(mask, &map, GST_MAP_WRITE));
  memcpy(map.data, "\x01\x02", 2);
  gst_buffer_unmap(mask, &map);
  gst_harness_push(test.harness, buffer);
  const char *text = publish_text(&test);
  static const char *const parts[] = {
      "\"count\":100,", "\"ground_slope\":null,", /* and three records: */
      "[16,47,2,1,255,0.25,-0.33333334,0.000068]]}",
      "\"something_new\":{\"version\":1,\"width\":10,\"height\":20,\"half_width\":0.1,"
      "\"what\":\"a\\u0009b\",\"far\":true,\"time\":18446744073709551615,\"ratio\":\"1/3\","
      "\"nothing\":null,\"bytes\":{\"encoding\":\"bytes\",\"data\":\"//8=\"},"
      "\"mask\":{\"encoding\":\"u16le\",\"width\":1,\"height\":1,\"data\":\"AQI=\"}}"};
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    fail_unless(strstr(text, parts[i]) != NULL, "%s is not in %s", parts[i], text);
  publish_free(&test);
}
GST_END_TEST

/* A frame that was sent in several packets has the annotations of each: keys are written once. */
GST_START_TEST(test_copies) {
  PublishTest test = publish_start("");
  GstBuffer *buffer = publish_frame(0, 3), *packet = publish_frame(0, 2);
  fail_unless(gst_buffer_copy_into(buffer, packet, GST_BUFFER_COPY_META, 0, (gsize)-1));
  gst_buffer_unref(packet);
  gst_harness_push(test.harness, buffer);
  const char *text = publish_text(&test);
  const char *first = strstr(text, "\"stixels\":{");
  fail_unless(first != NULL, "%s", text);
  fail_unless(strstr(first + 1, "\"stixels\":{") == NULL, "%s", text);
  fail_unless(strstr(first, "\"count\":3,") != NULL, "%s", text);
  publish_free(&test);
}
GST_END_TEST

/* Reference time stamps, segments, gaps, buffers without a time. */
GST_START_TEST(test_times) {
  PublishTest test = publish_start("");
  GstCaps *ntp = gst_caps_new_empty_simple("timestamp/x-ntp");
  GstBuffer *buffer = publish_frame(3, 0);
  gst_buffer_add_reference_timestamp_meta(
      buffer, ntp, (GstClockTime)(G_GUINT64_CONSTANT(2208988801) * GST_SECOND),
      GST_CLOCK_TIME_NONE);
  gst_caps_unref(ntp);
  gst_harness_push(test.harness, buffer);
  GstBuffer *gap = gst_buffer_new();
  GST_BUFFER_PTS(gap) = 0;
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  gst_harness_push(test.harness, gap);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.time = GST_SECOND;
  segment.base = 10 * GST_SECOND;
  gst_harness_push_event(test.harness, gst_event_new_segment(&segment));
  gst_harness_push(test.harness, publish_frame(60, 0));
  buffer = publish_frame(0, 0);
  GST_BUFFER_PTS(buffer) = GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
  gst_harness_push(test.harness, buffer);
  const char *text = publish_text(&test);
  fail_unless_equals_int(publish_lines(text), 3); /* a gap is no frame */
  fail_unless(strstr(text, "\"utc\":\"1970-01-01T00:00:01.000000Z\",\"utc_ns\":1000000000,"
                           "\"utc_source\":\"ntp\"") != NULL);
  fail_unless(strstr(text, "\"seq\":1,\"segment\":1,\"timestamp\":2000000000,"
                           "\"running_time\":11000000000,\"pts\":2000000000,") != NULL,
              "%s", text);
  fail_unless(strstr(text, "\"seq\":2,\"segment\":1,\"dropped\":0,") != NULL, "%s", text);
  publish_free(&test);
}
GST_END_TEST

GST_START_TEST(test_csv) {
  char *folder = test_folder_new();
  GstHarness *harness = publish_harness(
      "format=csv location=%s/drive-%%s.csv utc-start=1970-01-01T00:00:00Z", folder);
  publish_push(harness, 0, 3, 2);
  publish_end(harness);
  char *frames = publish_read(folder, "drive-frames.csv");
  char *stixels = publish_read(folder, "drive-stixels.csv");
  fail_unless(g_str_has_prefix(frames, "seq,timestamp,running_time,pts,duration,utc_ns,latency_ns,"
                                       "dropped,width,height,camera.focal,"));
  fail_unless(strstr(frames, ",stixels.count,stixels.stixel_width,") != NULL);
  fail_unless(strstr(frames, ",obstacles.nearest,") != NULL); /* of elements that come later */
  fail_unless(strstr(frames, "\n1,33333333,33333333,33333333,33333333,33333333,,0,64,48,") != NULL);
  fail_unless_equals_int(publish_lines(frames), 4);
  fail_unless_equals_string(
      stixels, "seq,utc_ns,column,v_bottom,v_top,structure,semantic,slope,intercept,cost\n"
               "0,0,0,47,0,1,255,0,-0.33333334,0\n0,0,8,47,1,1,255,0.125,-0.33333334,0.000034\n"
               "1,33333333,0,47,0,1,255,0,-0.33333334,0\n"
               "1,33333333,8,47,1,1,255,0.125,-0.33333334,0.000034\n"
               "2,66666666,0,47,0,1,255,0,-0.33333334,0\n"
               "2,66666666,8,47,1,1,255,0.125,-0.33333334,0.000034\n");
  char *other = g_build_filename(folder, "drive-lines.csv", NULL);
  fail_if(g_file_test(other, G_FILE_TEST_EXISTS)); /* there were none */
  /* Every row has as many cells as the header. */
  char **rows = g_strsplit(frames, "\n", -1);
  char **names = g_strsplit(rows[0], ",", -1);
  for (guint i = 1; i < 4; i++) {
    char **cells = g_strsplit(rows[i], ",", -1);
    fail_unless_equals_int(g_strv_length(cells), g_strv_length(names));
    g_strfreev(cells);
  }
  g_strfreev(names);
  g_strfreev(rows);
  g_free(other);
  g_free(frames);
  g_free(stixels);
  test_folder_free(folder);
}
GST_END_TEST

/* --- Files in a row -------------------------------------------------------------------------- */

static guint count_files(const char *folder) {
  guint count = 0;
  GDir *dir = g_dir_open(folder, 0, NULL);
  while (g_dir_read_name(dir))
    count++;
  g_dir_close(dir);
  return count;
}

GST_START_TEST(test_rotation) {
  char *folder = test_folder_new();
  /* By size: no file is larger, no line is cut, none is missing. */
  GstHarness *harness = publish_harness("location=%s/a-%%03d.jsonl rotate-size=4096", folder);
  publish_push(harness, 0, 40, 4);
  gst_harness_push_event(harness, gst_event_new_eos());
  const guint files = (guint)publish_stat(harness, "files");
  gst_harness_teardown(harness);
  fail_unless(files > 3 && files == count_files(folder), "%u files", files);
  guint lines = 0;
  for (guint i = 0; i < files; i++) {
    char name[16];
    g_snprintf(name, sizeof name, "a-%03u.jsonl", i);
    char *text = publish_read(folder, name);
    fail_unless(strlen(text) <= 4096 && g_str_has_suffix(text, "}\n"));
    lines += publish_lines(text);
    g_free(text);
  }
  fail_unless_equals_int(lines, 40);
  /* With append numbers continue. */
  harness = publish_harness("location=%s/a-%%03d.jsonl append=true", folder);
  publish_push(harness, 0, 1, 1);
  publish_end(harness);
  fail_unless_equals_int(count_files(folder), files + 1);
  test_folder_free(folder);
  /* By time, the last two kept; the name gets a number; a table has its header in each file. */
  folder = test_folder_new();
  harness =
      publish_harness("format=csv location=%s/b.csv rotate-time=1000000000 max-files=2", folder);
  publish_push(harness, 0, 100, 1);
  publish_end(harness);
  char *third = publish_read(folder, "b-00002.csv"), *last = publish_read(folder, "b-00003.csv");
  fail_unless_equals_int(count_files(folder), 2);
  fail_unless_equals_int(publish_lines(third), 31);
  fail_unless_equals_int(publish_lines(last), 11);
  fail_unless(g_str_has_prefix(last, "seq,") && strstr(last, "\n90,") != NULL);
  g_free(third);
  g_free(last);
  test_folder_free(folder);
}
GST_END_TEST

GST_START_TEST(test_append) {
  TestFile file = test_file_new("a.csv");
  for (int run = 0; run < 2; run++) {
    GstHarness *harness = publish_harness("format=csv location=%s append=true", file.path);
    publish_push(harness, 0, 2, 1);
    publish_end(harness);
    if (run > 0)
      break;
    /* A run that was killed in the middle of a line. */
    char *text = publish_read(file.folder, "a.csv");
    char *cut = g_strndup(text, strlen(text) - 10);
    fail_unless(g_file_set_contents(file.path, cut, -1, NULL));
    g_free(cut);
    g_free(text);
  }
  char *text = publish_read(file.folder, "a.csv");
  fail_unless_equals_int(publish_lines(text), 5); /* one header, four rows */
  char **rows = g_strsplit(text, "\n", -1);
  fail_unless(g_str_has_prefix(rows[0], "seq,") && g_str_has_prefix(rows[3], "0,") &&
              g_str_has_prefix(rows[4], "1,"));
  g_strfreev(rows);
  g_free(text);
  /* Without append the file is replaced. */
  GstHarness *harness = publish_harness("format=csv location=%s", file.path);
  publish_push(harness, 0, 1, 1);
  publish_end(harness);
  publish_expect_lines(file.folder, "a.csv", 2);
  test_file_free(&file);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_numbers) TEST(test_strings) TEST(test_layouts) TEST(test_json) \
  TEST(test_any_annotation) TEST(test_copies) TEST(test_times) TEST(test_csv) \
  TEST(test_rotation) TEST(test_append)
/* clang-format on */

ELEMENT_TESTS(annotationpublish, TESTS)
