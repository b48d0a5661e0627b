/* SPDX-License-Identifier: MIT */
/* latency.c: a live stereo camera that costs nothing: a street is rendered first, then its frames
 * are sent at the camera's rate through elements to a sink. tests/latency.sh runs it under
 * GStreamer's latency tracer. Ends with 77 if the elements are to run on a GPU and there is none. */
#include <gst/gst.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rv.h"

#define FRAMES 30  /* rendered; sent again and again */
#define START_S 60 /* longest time to start and to end, with the start of CUDA */

typedef struct Frames {
  GstCaps *caps;
  GstBuffer *frame[FRAMES];
  int count;
} Frames;

static GstElement *parse(const char *line) {
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  if (error) {
    fprintf(stderr, "latency: %s\n", error->message);
    g_clear_error(&error);
    gst_clear_object(&pipeline);
  }
  return pipeline;
}

/* Copies, for the buffers of the pool go back with the pipeline. */
static void render(Frames *frames, const char *caps) {
  char *line = g_strdup_printf("stereotestsrc truth=false num-buffers=%d ! %s ! appsink name=sink",
                               FRAMES, caps);
  GstElement *pipeline = parse(line);
  g_free(line);
  if (!pipeline)
    return;
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstSample *sample = NULL;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (frames->count < FRAMES) {
    g_signal_emit_by_name(sink, "pull-sample", &sample);
    if (!sample)
      break;
    gst_caps_replace(&frames->caps, gst_sample_get_caps(sample));
    frames->frame[frames->count++] = gst_buffer_copy_deep(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
}

static gboolean print_error(GstElement *pipeline) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  const gboolean found = message != NULL;
  if (found) {
    GError *error = NULL;
    gst_message_parse_error(message, &error, NULL);
    fprintf(stderr, "latency: %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    g_error_free(error);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return found;
}

/* Sends `total` frames, each at its time, whatever becomes of them. */
static gboolean play(const Frames *frames, GstElement *pipeline, int rate, int total) {
  GstElement *camera = gst_bin_get_by_name(GST_BIN(pipeline), "camera");
  GstFlowReturn flow = GST_FLOW_OK;
  g_object_set(camera, "caps", frames->caps, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gst_element_get_state(pipeline, NULL, NULL, START_S * GST_SECOND);
  const gint64 start = g_get_monotonic_time();
  for (int i = 0; i < total && flow == GST_FLOW_OK; i++) {
    const gint64 wait = start + (gint64)i * G_USEC_PER_SEC / rate - g_get_monotonic_time();
    if (wait > 0)
      g_usleep((gulong)wait);
    GstBuffer *frame = gst_buffer_copy(frames->frame[i % frames->count]);
    GST_BUFFER_PTS(frame) = gst_element_get_current_running_time(camera);
    g_signal_emit_by_name(camera, "push-buffer", frame, &flow);
    gst_buffer_unref(frame);
  }
  g_signal_emit_by_name(camera, "end-of-stream", &flow);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *end = gst_bus_timed_pop_filtered(bus, START_S * GST_SECOND, GST_MESSAGE_EOS);
  const gboolean failed = print_error(pipeline) || !end;
  gst_clear_message(&end);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(camera);
  return !failed;
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  if (argc != 7) {
    fprintf(stderr, "usage: latency ENGINE WIDTH HEIGHT FRAMES-PER-SECOND SECONDS ELEMENTS\n");
    return 2;
  }
  const int width = atoi(argv[2]), height = atoi(argv[3]), rate = atoi(argv[4]);
  const int total = rate * atoi(argv[5]);
  char reason[256] = "";
  if (strcmp(argv[1], "cuda") == 0 && rv_cuda_devices(reason, sizeof reason) == 0) {
    printf("latency: no GPU: %s\n", reason);
    return 77;
  }
  Frames frames = {0};
  char *caps = g_strdup_printf("video/x-raw,format=NV12,width=%d,height=%d,framerate=%d/1",
                               2 * width, height, rate);
  char *line = g_strdup_printf("appsrc name=camera is-live=true format=time ! "
                               "queue leaky=downstream max-size-buffers=1 ! %s ! "
                               "fakesink sync=false async=false",
                               argv[6]);
  render(&frames, caps);
  GstElement *pipeline = frames.count > 0 ? parse(line) : NULL;
  const gboolean good = pipeline && play(&frames, pipeline, rate, total);
  gst_clear_object(&pipeline);
  for (int i = 0; i < frames.count; i++)
    gst_buffer_unref(frames.frame[i]);
  gst_clear_caps(&frames.caps);
  g_free(caps);
  g_free(line);
  return good ? 0 : 1;
}
