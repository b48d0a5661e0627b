/* SPDX-License-Identifier: MIT */
/* cudaroaddetect_models.c: models learned, cleared, saved, and loaded in another run; files that
 * cannot be read or written. */
#include <glib/gstdio.h>
#include <string.h>

#include "road_test.h"

static void push_frames(GstHarness *harness, const GstVideoInfo *info, int frames,
                        RoadReference *reference) {
  for (int k = 0; k < frames; k++) {
    GstBuffer *out = gst_harness_push_and_pull(harness, road_image(info, k, ROAD_ALL));
    if (reference)
      road_reference_check(reference, out, info);
    gst_buffer_unref(out);
  }
}

/* Learned in one run, loaded in another, whose first frame has no disparity and is classified
 * with the loaded models. Saved at the end of the stream (k = 0) or when the element stops (k =
 * 1). */
GST_START_TEST(test_two_runs) {
  for (int e = 0; e < road_engine_count(); e++)
    for (int k = 0; k < 2; k++) {
      TestFile file = test_file_new("a.rvroad");
      char *save = g_strdup_printf("lateral-scale=1 model-save-location=%s", file.path);
      char *load = g_strdup_printf("lateral-scale=1 model-location=%s", file.path);
      GstVideoInfo info;
      RoadReference reference;
      RvRoadConfig config;
      rv_road_config_init(&config);
      config.lateral_scale = 1; /* what it remembers is not saved */
      GstHarness *harness = road_harness(save, road_engine(e), "BGRx", ROAD_W, ROAD_H, &info);
      road_reference_new(&reference, &info, &config);
      push_frames(harness, &info, 4, &reference);
      fail_if(g_file_test(file.path, G_FILE_TEST_EXISTS));
      if (k == 0) {
        gst_harness_push_event(harness, gst_event_new_eos());
        fail_unless(g_file_test(file.path, G_FILE_TEST_EXISTS));
      }
      gst_harness_teardown(harness);
      fail_unless(g_file_test(file.path, G_FILE_TEST_EXISTS));

      harness = road_harness(load, road_engine(e), "BGRx", ROAD_W, ROAD_H, &info);
      GstBuffer *out = gst_harness_push_and_pull(harness, road_image(&info, 50, 0));
      road_reference_check(&reference, out, &info);
      fail_unless(reference.report.models > 0 && reference.report.road > 50 &&
                  reference.report.models_added == 0);
      gst_buffer_unref(out);
      push_frames(harness, &info, 2, &reference); /* and continues as the first run would have */
      gst_harness_teardown(harness);
      road_reference_free(&reference);
      g_free(load);
      g_free(save);
      test_file_free(&file);
    }
}
GST_END_TEST

/* The action signal, and a file set in PLAYING: both replace the models. */
GST_START_TEST(test_reset_and_reload) {
  TestFile file = test_file_new("a.rvroad");
  GstVideoInfo info;
  RoadReference reference;
  RvRoadConfig config;
  rv_road_config_init(&config);
  config.update_threshold = 0.01; /* each frame adds a model */
  config.min_share = config.merge_threshold = 0;
  GstHarness *harness = road_harness("update-threshold=0.01 min-share=0 merge-threshold=0", "cpu",
                                     "BGRx", ROAD_W, ROAD_H, &info);
  GstElement *element = gst_harness_find_element(harness, "cudaroaddetect");
  road_reference_new(&reference, &info, &config);
  push_frames(harness, &info, 3, &reference);
  fail_unless(rv_road_save_file(reference.road, file.path, NULL) == RV_OK);
  g_signal_emit_by_name(element, "reset");
  fail_unless(rv_road_reset(reference.road, NULL) == RV_OK);
  push_frames(harness, &info, 1, &reference);
  fail_unless(reference.report.models == config.initial_models);
  g_object_set(element, "model-location", file.path, NULL);
  fail_unless(rv_road_load_file(reference.road, file.path, NULL) == RV_OK);
  push_frames(harness, &info, 2, &reference);
  fail_unless(reference.report.models > config.initial_models);
  /* Loaded once: another property does not load it again. */
  g_object_set(element, "roughness", 1e-4, NULL);
  config.roughness = 1e-4;
  road_reference_config(&reference, &config);
  push_frames(harness, &info, 2, &reference);
  gst_object_unref(element);
  gst_harness_teardown(harness);
  road_reference_free(&reference);
  test_file_free(&file);
}
GST_END_TEST

/* NULL: it starts; else the text of the error. */
static char *start_with(const char *property, const char *value, int bins) {
  GstElement *element = gst_element_factory_make("cudaroaddetect", NULL);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  gst_util_set_object_arg(G_OBJECT(element), "engine", "cpu");
  g_object_set(element, property, value, "bins", bins, NULL);
  const gboolean started =
      gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
  char *words = test_message(bus, GST_MESSAGE_ERROR);
  fail_unless(started == (words == NULL), "%s", words);
  test_element_free(element, bus);
  return words;
}

static void rejects(const char *property, const char *value, int bins, const char *cause,
                    const char *remedy) {
  char *words = start_with(property, value, bins);
  fail_unless(words && strstr(words, value) && strstr(words, cause) && strstr(words, remedy),
              "%s=%s: %s", property, value, words);
  g_free(words);
}

/* Files are checked before the first frame. */
GST_START_TEST(test_bad_files) {
  TestFile file = test_file_new("good.rvroad");
  char *bad = g_build_filename(file.folder, "bad.rvroad", NULL);
  char *nowhere = g_build_filename(file.folder, "no", "such.rvroad", NULL);
  char *save = g_strdup_printf("model-save-location=%s", file.path), *data = NULL;
  gsize size = 0;
  GstVideoInfo info;
  GstHarness *harness = road_harness(save, "cpu", "BGRx", ROAD_W, ROAD_H, &info);
  push_frames(harness, &info, 2, NULL);
  gst_harness_teardown(harness);
  fail_unless(start_with("model-location", file.path, 8) == NULL);
  fail_unless(start_with("model-location", "", 8) == NULL);
  fail_unless(start_with("model-save-location", bad, 8) == NULL);
  fail_if(g_file_test(bad, G_FILE_TEST_EXISTS)); /* no frame, no file */
  rejects("model-location", file.path, 6, "bins", "bins=8");
  rejects("model-location", nowhere, 8, "No such file", "leave model-location empty");
  rejects("model-save-location", nowhere, 8, "no such folder", "make it first");
  rejects("model-save-location", file.folder, 8, "it is a folder", "file's name");
  fail_unless(g_file_get_contents(file.path, &data, &size, NULL));
  fail_unless(g_file_set_contents(bad, data, (gssize)size - 9, NULL));
  rejects("model-location", bad, 8, "truncated", "model-save-location");
  data[size / 2] ^= 4;
  fail_unless(g_file_set_contents(bad, data, (gssize)size, NULL));
  rejects("model-location", bad, 8, "corrupt", "model-save-location");
  fail_unless(g_file_set_contents(bad, "", 0, NULL));
  rejects("model-location", bad, 8, "bad.rvroad", "model-save-location");
  fail_unless(g_file_set_contents(bad, "%YAML:1.0", -1, NULL));
  rejects("model-location", bad, 8, "not a file of road models", "model-save-location");
  g_free(data);
  g_free(save);
  g_free(nowhere);
  g_free(bad);
  test_file_free(&file);
}
GST_END_TEST

/* In PLAYING an invalid file gives a warning and the models are kept; a missing folder is an
 * error at the end; no models, no file. */
GST_START_TEST(test_problems_while_playing) {
  TestFile file = test_file_new("a.rvroad");
  char *inner = g_build_filename(file.folder, "inner", NULL);
  char *lost = g_build_filename(inner, "b.rvroad", NULL);
  GstVideoInfo info;
  RoadReference reference;
  GstHarness *harness = road_harness("", "cpu", "BGRx", ROAD_W, ROAD_H, &info);
  GstBus *bus = test_bus(harness);
  road_reference_new(&reference, &info, NULL);
  push_frames(harness, &info, 2, &reference);
  gst_harness_set(harness, "cudaroaddetect", "model-location", file.path, NULL);
  push_frames(harness, &info, 1, &reference);
  test_expect_warning(bus, file.path, "previous settings");
  gst_harness_set(harness, "cudaroaddetect", "model-location", NULL, "model-save-location", lost,
                  NULL);
  push_frames(harness, &info, 1, &reference);
  gst_harness_push_event(harness, gst_event_new_eos());
  test_expect_error(bus, "b.rvroad", NULL);
  test_close(harness, bus);
  road_reference_free(&reference);

  char *save = g_strdup_printf("model-save-location=%s", file.path);
  harness = road_harness(save, "cpu", "BGRx", ROAD_W, ROAD_H, &info);
  bus = test_bus(harness);
  gst_buffer_unref(gst_harness_push_and_pull(harness, road_image(&info, 1, ROAD_ALL | ROAD_FLAT)));
  gst_harness_push_event(harness, gst_event_new_eos());
  test_expect_warning(bus, "No models were learned", NULL);
  fail_if(g_file_test(file.path, G_FILE_TEST_EXISTS));
  test_close(harness, bus);
  g_free(save);
  g_free(lost);
  g_free(inner);
  test_file_free(&file);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_two_runs) TEST(test_reset_and_reload) TEST(test_bad_files) \
  TEST(test_problems_while_playing)
/* clang-format on */

ELEMENT_TESTS(cudaroaddetect_models, TESTS)
