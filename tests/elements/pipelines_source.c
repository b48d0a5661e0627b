/* SPDX-License-Identifier: MIT */
/* pipelines_source.c: stereotestsrc: formats, sizes, time, truth, repeatability. */
#include "pipelines.h"

#include <string.h>

static void formats(Pipelines *e) {
  static const char *const names[] = {"BGRx", "NV12", "I420", "GRAY8"};
  static const int sizes[][2] = {{320, 120}, {322, 121}, {130, 97}};
  for (guint f = 0; f < G_N_ELEMENTS(names); f++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      char *line = g_strdup_printf(
          "stereotestsrc num-buffers=2 ! video/x-raw,format=%s,width=%d,height=%d ! "
          "fakesink name=out",
          names[f], sizes[s][0], sizes[s][1]);
      PipelinesRun run;
      pipelines_run(e, &run, line);
      CHECK(e, run.eos && run.buffers == 2, "%s: %s, %u buffers", line, run.error, run.buffers);
      for (guint i = 0; i < run.buffers; i++) {
        GstSample *sample = g_ptr_array_index(run.samples, i);
        GstBuffer *buffer = gst_sample_get_buffer(sample);
        GstCaps *caps = gst_sample_get_caps(sample);
        const GstStructure *s0 = gst_caps_get_structure(caps, 0);
        CHECK(e, g_strcmp0(gst_structure_get_string(s0, "multiview-mode"), "side-by-side") == 0,
              "caps say that the picture is packed");
        GBytes *pixels = pipelines_pixels(buffer, caps);
        CHECK(e, pixels, "%s: the buffer maps as its caps say", line);
        g_clear_pointer(&pixels, g_bytes_unref);
        RvCamera camera;
        int width = 0, height = 0;
        CHECK(e,
              rv_meta_get_camera(buffer, &camera, &width, &height) && width == sizes[s][0] / 2 &&
                  height == sizes[s][1] && camera.focal > 0 && camera.baseline > 0,
              "camera annotation of the left picture");
      }
      pipelines_run_clear(&run);
      g_free(line);
    }
}

/* Gray only for those who take nothing else, wherever it stands in the list. */
static void color(Pipelines *e) {
  static const char *const takes[][2] = {
      {"video/x-raw,format=GRAY8;video/x-raw,format=NV12", "NV12"},
      {"video/x-raw,format={GRAY8,I420}", "I420"},
      {"video/x-raw,format=GRAY8", "GRAY8"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(takes); i++) {
    char *line = g_strdup_printf(
        "stereotestsrc num-buffers=1 ! capsfilter caps=\"%s\" ! fakesink name=out", takes[i][0]);
    PipelinesRun run;
    pipelines_run(e, &run, line);
    if (CHECK(e, run.buffers == 1, "%s: %s", line, run.error)) {
      GstCaps *caps = gst_sample_get_caps(g_ptr_array_index(run.samples, 0));
      const char *format = gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
      CHECK(e, g_strcmp0(format, takes[i][1]) == 0, "%s: %s", line, format);
    }
    pipelines_run_clear(&run);
    g_free(line);
  }
}

static void times(Pipelines *e) {
  PipelinesRun run;
  pipelines_run(e, &run,
                "stereotestsrc num-buffers=4 ! video/x-raw,width=128,height=64,framerate=25/1 ! "
                "fakesink name=out");
  CHECK(e, run.eos && run.buffers == 4, "4 buffers, got %u", run.buffers);
  for (guint i = 0; i < run.buffers; i++) {
    GstBuffer *buffer = gst_sample_get_buffer(g_ptr_array_index(run.samples, i));
    CHECK(e, GST_BUFFER_PTS(buffer) == i * 40 * GST_MSECOND, "time of frame %u", i);
    CHECK(e, GST_BUFFER_DURATION(buffer) == 40 * GST_MSECOND, "duration of frame %u", i);
  }
  pipelines_run_clear(&run);
}

static GstPadProbeReturn answer_without_rate(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return GST_PAD_PROBE_OK;
  GstCaps *caps = gst_caps_from_string("video/x-raw,format=BGRx,width=64,height=16,"
                                       "multiview-mode=side-by-side,pixel-aspect-ratio=1/1");
  gst_query_set_caps_result(query, caps);
  gst_caps_unref(caps);
  return GST_PAD_PROBE_HANDLED;
}

/* interlace answers a CAPS query without a frame rate: the default one is taken all the same. */
static void no_rate(Pipelines *e) {
  GstHarness *h =
      test_source_new("video/x-raw,format=BGRx,width=64,height=16", answer_without_rate, NULL);
  GstBuffer *buffer = gst_harness_pull(h);
  CHECK(e, buffer && GST_BUFFER_DURATION(buffer) == gst_util_uint64_scale_int(GST_SECOND, 1, 30),
        "30 frames/s");
  gst_clear_buffer(&buffer);
  gst_harness_teardown(h);
}

static void truth(Pipelines *e) {
  static const char *const fields[] = {"disparity", "labels", "road", "visible"};
  PipelinesRun run;
  pipelines_run(
      e, &run, "stereotestsrc num-buffers=1 ! video/x-raw,width=256,height=96 ! fakesink name=out");
  if (CHECK(e, run.buffers == 1, "one frame: %s", run.error)) {
    GstBuffer *buffer = gst_sample_get_buffer(g_ptr_array_index(run.samples, 0));
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
      GBytes *raster = pipelines_raster(buffer, RV_META_TRUTH, fields[i]);
      CHECK(e, raster && g_bytes_get_size(raster) == 128u * 96u * (i == 0 ? 2 : 1), "truth %s",
            fields[i]);
      g_clear_pointer(&raster, g_bytes_unref);
    }
  }
  pipelines_run_clear(&run);
  pipelines_run(e, &run,
                "stereotestsrc num-buffers=1 truth=false ! video/x-raw,width=256,height=96 ! "
                "fakesink name=out");
  if (CHECK(e, run.buffers == 1, "one frame: %s", run.error))
    CHECK(e, !rv_meta_find(gst_sample_get_buffer(g_ptr_array_index(run.samples, 0)), RV_META_TRUTH),
          "truth=false attaches none");
  pipelines_run_clear(&run);
}

static void patterns(Pipelines *e) {
  static const char *const names[] = {"street", "slanted-street", "offroad", "planes", "noise"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    GBytes *first[2] = {NULL, NULL}, *second = NULL;
    for (int again = 0; again < 3; again++) {
      char *line =
          g_strdup_printf("stereotestsrc num-buffers=2 pattern=%s seed=%d threads=%d ! "
                          "video/x-raw,format=BGRx,width=256,height=96 ! fakesink name=out",
                          names[i], again == 2 ? 8 : 7, again == 1 ? 3 : 1);
      PipelinesRun run;
      pipelines_run(e, &run, line);
      if (CHECK(e, run.buffers == 2, "%s: %s", line, run.error)) {
        GstSample *sample = g_ptr_array_index(run.samples, 0);
        GBytes *pixels =
            pipelines_pixels(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
        if (again < 2)
          first[again] = pixels;
        else
          second = pixels;
        sample = g_ptr_array_index(run.samples, 1);
        GBytes *next = pipelines_pixels(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
        CHECK(e, !pipelines_same(pixels, next), "%s: the second frame differs", names[i]);
        g_clear_pointer(&next, g_bytes_unref);
      }
      pipelines_run_clear(&run);
      g_free(line);
    }
    CHECK(e, pipelines_same(first[0], first[1]), "%s: same seed, same bytes, any threads",
          names[i]);
    CHECK(e, !pipelines_same(first[0], second), "%s: another seed, another scene", names[i]);
    g_clear_pointer(&first[0], g_bytes_unref);
    g_clear_pointer(&first[1], g_bytes_unref);
    g_clear_pointer(&second, g_bytes_unref);
  }
}

static void seek(Pipelines *e) {
  GstElement *pipeline =
      gst_parse_launch("stereotestsrc ! video/x-raw,width=128,height=64,framerate=30/1 ! appsink "
                       "name=out sync=false "
                       "max-buffers=2",
                       NULL);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_element_get_state(pipeline, NULL, NULL, 10 * GST_SECOND);
  CHECK(e,
        gst_element_seek(pipeline, 1.0, GST_FORMAT_TIME,
                         GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET,
                         2 * GST_SECOND, GST_SEEK_TYPE_SET, 3 * GST_SECOND),
        "seeks by time");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  guint frames = 0;
  GstClockTime first = GST_CLOCK_TIME_NONE;
  for (;;) {
    GstSample *sample = NULL;
    g_signal_emit_by_name(sink, "try-pull-sample", (guint64)(10 * GST_SECOND), &sample);
    if (!sample)
      break;
    if (frames++ == 0)
      first = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
  }
  CHECK(e, first == 2 * GST_SECOND, "first frame at 2 s, not %" GST_TIME_FORMAT,
        GST_TIME_ARGS(first));
  CHECK(e, frames == 30, "the segment of one second has 30 frames, not %u", frames);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
}

const PipelinesTest pipelines_source_tests[] = {
    {"source/formats", formats}, {"source/color", color},
    {"source/times", times},     {"source/no-rate", no_rate},
    {"source/truth", truth},     {"source/patterns", patterns},
    {"source/seek", seek},       {NULL, NULL}};
