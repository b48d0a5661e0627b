/* SPDX-License-Identifier: MIT */
/* gpu_speed.c: the rows pipeline/... of the GPU report. */
#include "gpu_elements.h"

#include <stdio.h>
#include <stdlib.h>

#define BENCH_FRAMES 1500     /* of one pipeline */
#define BENCH_FRAMES_ALL 8000 /* of several together */
#define BENCH_RUNS 5          /* of one pipeline: they differ by 10 to 25 %, several by 1 % */
#define STREAMS_MAX 16
#define BENCH_CAPS "video/x-raw,format=NV12,width=2484,height=375"

/* A pair of a street; NULL when there is none. */
static GstBuffer *bench_image(void) {
  GstElement *pipeline = gst_parse_launch(
      "stereotestsrc num-buffers=1 truth=false ! " BENCH_CAPS " ! appsink name=sink", NULL);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstSample *sample = NULL;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name(sink, "pull-sample", &sample);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  GstBuffer *picture = sample ? gst_buffer_copy_deep(gst_sample_get_buffer(sample)) : NULL;
  if (sample)
    gst_sample_unref(sample);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  return picture;
}

/* One pipeline of a benchmark, fed by a thread with the same image again and again, so that the
 * source costs nothing. */
typedef struct Stream {
  GstElement *pipeline, *source;
  GstBuffer *picture;
  GThread *thread;
  int frames;
  Outcome outcome;
} Stream;

static gpointer feed(gpointer user) {
  Stream *s = user;
  GstFlowReturn flow = GST_FLOW_OK;
  for (int i = 0; i < s->frames && flow == GST_FLOW_OK; i++) {
    GstBuffer *frame = gst_buffer_copy(s->picture);
    GST_BUFFER_PTS(frame) = (GstClockTime)i * GST_MSECOND;
    g_signal_emit_by_name(s->source, "push-buffer", frame, &flow);
    gst_buffer_unref(frame);
  }
  g_signal_emit_by_name(s->source, "end-of-stream", &flow);
  return NULL;
}

/* A pipeline that is ready to play: o.error says why there is none. */
static void open_stream(Stream *s, GstBuffer *picture, int frames, const char *line) {
  GError *error = NULL;
  *s = (Stream){.picture = picture, .frames = frames};
  s->pipeline = gst_parse_launch(line, &error);
  if (error) {
    g_strlcpy(s->outcome.error, error->message, sizeof s->outcome.error);
    g_clear_error(&error);
    gst_clear_object(&s->pipeline);
    return;
  }
  s->source = gst_bin_get_by_name(GST_BIN(s->pipeline), "source");
  GstElement *sink = gst_bin_get_by_name(GST_BIN(s->pipeline), "sink");
  g_object_set(sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect(sink, "handoff", G_CALLBACK(gpu_on_buffer), &s->outcome);
  gst_object_unref(sink);
  gst_element_set_state(s->pipeline, GST_STATE_PLAYING);
}

static void close_stream(Stream *s) {
  if (!s->pipeline)
    return;
  gst_element_set_state(s->pipeline, GST_STATE_NULL);
  gst_object_unref(s->source);
  gst_object_unref(s->pipeline);
}

/* Frames per second of all of `count` pipelines together; 0 and `failed` when one fails. */
static double run_streams(GstBuffer *picture, int count, const char *line, Outcome *failed) {
  Stream streams[STREAMS_MAX];
  const int frames = count > 1 ? BENCH_FRAMES_ALL / count : BENCH_FRAMES;
  for (int i = 0; i < count; i++)
    open_stream(&streams[i], picture, frames, line);
  const gint64 start = g_get_monotonic_time();
  for (int i = 0; i < count; i++)
    if (streams[i].pipeline)
      streams[i].thread = g_thread_new("feed", feed, &streams[i]);
  for (int i = 0; i < count; i++) {
    Stream *s = &streams[i];
    if (s->pipeline)
      gpu_wait_for_end(s->pipeline, &s->outcome);
    if (s->outcome.error[0])
      *failed = s->outcome;
    else if (s->outcome.frames != s->frames)
      g_strlcpy(failed->error, "frames are missing", sizeof failed->error);
  }
  const double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
  for (int i = 0; i < count; i++) {
    close_stream(&streams[i]); /* ends the thread where the pipeline failed */
    if (streams[i].thread)
      g_thread_join(streams[i].thread);
  }
  return failed->error[0] ? 0 : count * frames / seconds;
}

static int by_rate(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* The row: the median of the runs, and the slowest and the fastest one. */
static void bench_line(const char *name, GstBuffer *picture, int count, const char *line) {
  double rates[BENCH_RUNS];
  const int runs = count > 1 ? 1 : BENCH_RUNS;
  Outcome failed = {.error = ""};
  for (int i = 0; i < runs && !failed.error[0]; i++)
    rates[i] = run_streams(picture, count, line, &failed);
  if (!failed.error[0]) {
    qsort(rates, (size_t)runs, sizeof *rates, by_rate);
    printf("bench %s cuda fps=%.0f runs=%d least=%.0f most=%.0f\n", name, rates[runs / 2], runs,
           rates[0], rates[runs - 1]);
  }
  gpu_report(name, !failed.error[0], failed.error);
}

#define BENCH_SOURCE                                                                               \
  "appsrc name=source format=time block=true max-bytes=16000000 "                                  \
  "caps=" BENCH_CAPS ",framerate=1000/1 ! queue ! "

#define BENCH_STIXELS "cudasgm name=sgm ! queue ! cudastixels ! queue ! cudaannotate"

/* Neither cudaupload nor cudadownload: CUDA memory between the elements, and caps that follow. */
#define BENCH_DIRECT BENCH_SOURCE BENCH_STIXELS " ! "
#define BENCH_SINK " ! fakesink name=sink sync=false"

/* System memory between the elements too. */
#define BENCH_SYSTEM                                                                               \
  BENCH_SOURCE "cudasgm name=sgm engine=cuda ! video/x-raw ! queue ! cudastixels engine=cuda ! "   \
               "queue ! cudaannotate engine=cuda" BENCH_SINK

#define BENCH_UPLOAD(middle)                                                                       \
  BENCH_SOURCE "cudaupload ! queue ! " middle " ! queue ! cudadownload ! fakesink name=sink "      \
               "sync=false"
#define BENCH_DIRECT_SYSTEM BENCH_DIRECT "video/x-raw" BENCH_SINK
#define BENCH_DIRECT_CUDA BENCH_DIRECT "video/x-raw(memory:CUDAMemory)" BENCH_SINK

static const struct {
  const char *name;
  int count;
  const char *line;
} rows[] = {
    {"pipeline/1242x375", 1, BENCH_UPLOAD(BENCH_STIXELS)},
    {"pipeline/1242x375-x8", 8, BENCH_UPLOAD(BENCH_STIXELS)},
    {"pipeline/1242x375-x16", 16, BENCH_UPLOAD(BENCH_STIXELS)},
    {"pipeline/1242x375-direct", 1, BENCH_DIRECT_SYSTEM},
    {"pipeline/1242x375-direct-x8", 8, BENCH_DIRECT_SYSTEM},
    {"pipeline/1242x375-direct-x16", 16, BENCH_DIRECT_SYSTEM},
    {"pipeline/1242x375-direct-cuda", 1, BENCH_DIRECT_CUDA},
    {"pipeline/1242x375-direct-cuda-x8", 8, BENCH_DIRECT_CUDA},
    {"pipeline/1242x375-system", 1, BENCH_SYSTEM},
    {"pipeline/1242x375-system-x8", 8, BENCH_SYSTEM},
    {"pipeline/1242x375-sgm", 1, BENCH_UPLOAD("cudasgm name=sgm")},
    {"pipeline/1242x375-sgm-annotate", 1, BENCH_UPLOAD("cudasgm name=sgm ! queue ! cudaannotate")},
    {"pipeline/1242x375-road", 1,
     BENCH_UPLOAD("cudasgm name=sgm ! queue ! cudaroaddetect ! queue ! cudaannotate")},
    {"pipeline/1242x375-obstacles", 1,
     BENCH_UPLOAD("cudasgm name=sgm ! queue ! cudaobstacles ! queue ! cudaannotate")},
    {"pipeline/1242x375-all", 1,
     BENCH_UPLOAD("cudasgm name=sgm ! queue ! cudastixels ! queue ! cudardp ! queue ! "
                  "cudaroaddetect ! queue ! cudahough ! queue ! cudaannotate")},
    {"pipeline/1242x375-publish", 1,
     BENCH_UPLOAD(BENCH_STIXELS " ! queue ! annotationpublish location=/dev/null")},
};

void gpu_speed(void) {
  GstBuffer *picture = bench_image();
  if (!picture) {
    gpu_report("pipeline/1242x375", FALSE, "stereotestsrc gives no picture");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    bench_line(rows[i].name, picture, rows[i].count, rows[i].line);
  gst_buffer_unref(picture);
}
