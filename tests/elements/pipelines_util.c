/* SPDX-License-Identifier: MIT */
/* pipelines_util.c: images, pipelines and annotations of the pipeline tests. */
#include "pipelines.h"

#include <stdarg.h>
#include <string.h>

const char *const pipelines_formats[] = {"NV12", "I420", "YUY2", "UYVY", "BGRx",  "BGRA",
                                         "RGBx", "RGBA", "RGB",  "BGR",  "GRAY8", NULL};

gboolean pipelines_check(Pipelines *e, gboolean holds, const char *file, int line,
                         const char *format, ...) {
  e->checks++;
  if (holds)
    return TRUE;
  e->failed++;
  va_list args;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  const char *name = strrchr(file, '/');
  g_printerr("FAIL %s [%s] %s:%d: %s\n", e->test, e->engine, name ? name + 1 : file, line, text);
  g_free(text);
  return FALSE;
}

GBytes *pipelines_pixels(GstBuffer *buffer, GstCaps *caps) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, caps) ||
      !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ))
    return NULL;
  GByteArray *out = g_byte_array_new();
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(&frame); c++) {
    const int width = GST_VIDEO_FRAME_COMP_WIDTH(&frame, c);
    const int step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
    const guint bytes = GST_VIDEO_FRAME_COMP_DEPTH(&frame, c) > 8 ? 2 : 1;
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); y++) {
      const guint8 *row = (const guint8 *)GST_VIDEO_FRAME_COMP_DATA(&frame, c) +
                          (gsize)y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c);
      for (int x = 0; x < width; x++)
        g_byte_array_append(out, row + x * step, bytes);
    }
  }
  gst_video_frame_unmap(&frame);
  return g_byte_array_free_to_bytes(out);
}

GBytes *pipelines_raster(GstBuffer *buffer, const char *meta, const char *field) {
  RvMetaMap map;
  if (!rv_meta_map(&map, rv_meta_find(buffer, meta), field))
    return NULL;
  const gsize row = (gsize)map.plane.width * rv_format_bytes(map.plane.format);
  GByteArray *out = g_byte_array_new();
  for (int y = 0; y < map.plane.height; y++)
    g_byte_array_append(out, (const guint8 *)map.plane.data + y * map.plane.stride, (guint)row);
  rv_meta_unmap(&map);
  return g_byte_array_free_to_bytes(out);
}

gboolean pipelines_same(GBytes *a, GBytes *b) {
  return a && b && g_bytes_equal(a, b);
}

static void on_handoff(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user) {
  PipelinesRun *run = user;
  GstCaps *caps = gst_pad_get_current_caps(pad);
  (void)sink;
  g_ptr_array_add(run->samples, gst_sample_new(buffer, caps, NULL, NULL));
  gst_clear_caps(&caps);
  run->buffers++;
}

static char *message_text(GstMessage *message) {
  GError *error = NULL;
  char *debug = NULL;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  char *text = g_strdup_printf("%s: %s | %s", GST_OBJECT_NAME(GST_MESSAGE_SRC(message)),
                               error->message, debug ? debug : "");
  g_error_free(error);
  g_free(debug);
  return text;
}

/* TRUE when the run has ended. */
static gboolean take_message(PipelinesRun *run, GstMessage *message) {
  switch (GST_MESSAGE_TYPE(message)) {
  case GST_MESSAGE_EOS:
    run->eos = TRUE;
    return TRUE;
  case GST_MESSAGE_ERROR:
    run->error = message_text(message);
    return TRUE;
  case GST_MESSAGE_WARNING:
    if (!run->warning)
      run->warning = message_text(message);
    return FALSE;
  case GST_MESSAGE_ELEMENT:
    g_ptr_array_add(run->messages, gst_structure_copy(gst_message_get_structure(message)));
    return FALSE;
  default:
    return FALSE;
  }
}

void pipelines_run(Pipelines *e, PipelinesRun *run, const char *line) {
  memset(run, 0, sizeof *run);
  run->samples = g_ptr_array_new_with_free_func((GDestroyNotify)gst_sample_unref);
  run->messages = g_ptr_array_new_with_free_func((GDestroyNotify)gst_structure_free);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  if (!pipeline || error) { /* caps that cannot be linked end here */
    run->error = g_strdup(error ? error->message : "no pipeline");
    g_clear_error(&error);
    gst_clear_object(&pipeline);
    return;
  }
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  g_object_set(sink, "signal-handoffs", TRUE, "sync", FALSE, NULL);
  g_signal_connect(sink, "handoff", G_CALLBACK(on_handoff), run);
  gst_object_unref(sink);

  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gboolean ended = FALSE;
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop(bus, 60 * GST_SECOND);
    if (!CHECK(e, message, "no message for 60 s: '%s'", line))
      break;
    ended = take_message(run, message);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

void pipelines_run_clear(PipelinesRun *run) {
  g_clear_pointer(&run->error, g_free);
  g_clear_pointer(&run->warning, g_free);
  g_clear_pointer(&run->samples, g_ptr_array_unref);
  g_clear_pointer(&run->messages, g_ptr_array_unref);
}

GBytes *pipelines_bits(Pipelines *e, const char *line, const PipelinesPart *parts, guint count) {
  PipelinesRun run;
  GByteArray *bits = g_byte_array_new();
  pipelines_run(e, &run, line);
  CHECK(e, run.eos && run.buffers == 3, "%s: %s, %u buffers", line, run.error, run.buffers);
  for (guint i = 0; i < run.buffers * count; i++) {
    GstSample *sample = g_ptr_array_index(run.samples, i / count);
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    const PipelinesPart *part = &parts[i % count];
    GBytes *found = part->meta ? pipelines_raster(buffer, part->meta, part->field)
                               : pipelines_pixels(buffer, gst_sample_get_caps(sample));
    if (CHECK(e, found && g_bytes_get_size(found) >= part->least, "%s: frame %u has its %s %s",
              line, i / count, part->meta ? part->meta : "picture",
              part->field ? part->field : "")) {
      gsize size = 0;
      const guint8 *data = g_bytes_get_data(found, &size);
      g_byte_array_append(bits, data, (guint)size);
    }
    g_clear_pointer(&found, g_bytes_unref);
  }
  pipelines_run_clear(&run);
  return g_byte_array_free_to_bytes(bits);
}

static void expect_bits(Pipelines *e, const PipelinesPart *parts, guint count, GBytes *want,
                        const char *line) {
  GBytes *got = pipelines_bits(e, line, parts, count);
  CHECK(e, pipelines_same(want, got), "same bits: %s", line);
  g_bytes_unref(got);
}

void pipelines_equal(Pipelines *e, const PipelinesPart *parts, guint count, const char *want,
                     const char *const *ways, const char *const *cuda_ways) {
  GBytes *bits = pipelines_bits(e, want, parts, count);
  for (; *ways; ways++) {
    char *line = g_strdup_printf(*ways, e->engine);
    expect_bits(e, parts, count, bits, line);
    g_free(line);
  }
  for (; e->cuda_caps && *cuda_ways; cuda_ways++)
    expect_bits(e, parts, count, bits, *cuda_ways);
  g_bytes_unref(bits);
}
