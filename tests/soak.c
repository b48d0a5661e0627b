/* SPDX-License-Identifier: MIT */
/* soak.c: the complete chain for a long time, fed by two simulated cameras with jitter, lost frames
 * and stalls, whose pixel format changes while the pipeline plays. Prints memory, handles and threads
 * at the start, each minute and at the end, and fails if they grow. tests/soak.sh runs it and looks
 * for leaks. */
#include <gst/gst.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rv.h"

/* What one camera does beside delivering frames. */
#define JITTER_MS 8      /* delay of a frame, and error of its time stamp, at most */
#define LOSE_ONE_IN 100  /* frames that are lost */
#define STALL_EVERY_S 90 /* mean time from one stall to the next */
#define STALL_S 4        /* longest stall; the shortest is half of it */
/* Tolerated growth. Frames in flight differ from one look to the next. */
#define HEAP_GROWTH (8 << 20) /* bytes, and this many views: */
#define HEAP_VIEWS 12
#define RSS_GROWTH_KB (32 << 10)
#define GPU_GROWTH_MIB 96 /* frames in flight, after a stall for example: 84 between two looks */

/* Formats of the cameras, each for one period. The looks at the start and at the end are in periods
 * of the first one, so that the same buffers are in flight, and the start is after a complete round:
 * what is allocated once per format is there at both. */
#define PERIOD_S 90   /* at most */
#define PERIODS 12    /* at least */
#define FORMATS_ALL 5 /* in system memory */
#define FORMATS_CUDA 4
static const char *const formats[FORMATS_ALL] = {"NV12", "Y42B", "ARGB", "NV21", "YUY2"};

typedef struct Camera {
  guint32 random;
  GstClockTime silent_until; /* PTS; during a stall */
  guint64 sent, lost, stalls;
} Camera;

typedef struct Usage {
  double seconds;
  guint64 heap;   /* bytes allocated by malloc */
  guint64 rss_kb; /* resident memory */
  int handles, threads;
  int gpu_mib; /* of all processes on the GPU; -1 = unknown */
} Usage;

typedef struct Soak {
  GMainLoop *loop;
  GstElement *pipeline;
  Camera camera[2];
  char *folder;
  double seconds, period; /* s; period: see PERIOD_S */
  guint64 view;           /* bytes of one view in the first format */
  gint64 began;           /* monotonic µs */
  gboolean cuda, failed;
  Usage start, end;
  guint64 frames;        /* at the sink */
  guint format, changes; /* of the cameras: index in `formats`; how often it changed */
  guint warnings;
} Soak;

static guint next(Camera *camera, guint range) {
  camera->random = camera->random * 1664525u + 1013904223u;
  return (camera->random >> 8) % range;
}

/* --- Cameras --------------------------------------------------------------------------------- */

static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  Camera *camera = user;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const guint rate = MAX(1u, (guint)(GST_SECOND / MAX(GST_BUFFER_DURATION(buffer), 1)));
  if (pts >= camera->silent_until && next(camera, STALL_EVERY_S * rate) == 0) {
    camera->silent_until =
        pts + GST_SECOND * STALL_S / 2 + next(camera, STALL_S * 500) * GST_MSECOND;
    camera->stalls++;
  }
  if (pts < camera->silent_until || next(camera, LOSE_ONE_IN) == 0) {
    camera->lost++;
    return GST_PAD_PROBE_DROP;
  }
  g_usleep(next(camera, JITTER_MS * 1000));
  buffer = gst_buffer_make_writable(buffer);
  GST_BUFFER_PTS(buffer) = pts + next(camera, JITTER_MS * 1000) * GST_USECOND;
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  camera->sent++;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn on_result(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  ((Soak *)user)->frames++;
  return GST_PAD_PROBE_OK;
}

static void add_probe(Soak *soak, const char *element, const char *name, GstPadProbeCallback probe,
                      gpointer user) {
  GstElement *found = gst_bin_get_by_name(GST_BIN(soak->pipeline), element);
  GstPad *pad = gst_element_get_static_pad(found, name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, user, NULL);
  gst_object_unref(pad);
  gst_object_unref(found);
}

/* --- Usage ----------------------------------------------------------------------------------- */

static int count_entries(const char *path) {
  GDir *dir = g_dir_open(path, 0, NULL);
  int count = 0;
  while (dir && g_dir_read_name(dir))
    count++;
  g_clear_pointer(&dir, g_dir_close);
  return count;
}

/* Of the GPU in use: nvidia-smi shows those that CUDA does not see, too. */
static int gpu_memory(void) {
  const char *visible = g_getenv("CUDA_VISIBLE_DEVICES");
  const char *const query[] = {"nvidia-smi",
                               "-i",
                               visible && visible[0] ? visible : "0",
                               "--query-gpu=memory.used",
                               "--format=csv,noheader,nounits",
                               NULL};
  char *text = NULL;
  int mib = -1;
  if (g_spawn_sync(NULL, (char **)query, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                   NULL, NULL, &text, NULL, NULL, NULL))
    mib = atoi(text);
  g_free(text);
  return mib;
}

static Usage look(const Soak *soak, const char *name) {
  Usage usage = {.seconds = (double)(g_get_monotonic_time() - soak->began) * 1e-6, .gpu_mib = -1};
  const struct mallinfo2 heap = mallinfo2();
  usage.heap = heap.uordblks + heap.hblkhd;
  usage.handles = count_entries("/proc/self/fd") - 1; /* less the one that reads the folder */
  usage.threads = count_entries("/proc/self/task");
  if (soak->cuda)
    usage.gpu_mib = gpu_memory();
  char *text = NULL;
  if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL)) {
    char *rest = NULL;
    strtoull(text, &rest, 10);
    usage.rss_kb = strtoull(rest, NULL, 10) * (guint64)sysconf(_SC_PAGESIZE) / 1024;
  }
  g_free(text);
  printf(
      "%-6s %7.0f s: heap %7.2f MB, resident %7.1f MB, %d handles, %d threads, %" G_GUINT64_FORMAT
      " frames",
      name, usage.seconds, (double)usage.heap * 1e-6, (double)usage.rss_kb * 1.024e-3,
      usage.handles, usage.threads, soak->frames);
  if (usage.gpu_mib >= 0)
    printf(", GPU memory %d MiB", usage.gpu_mib);
  printf("\n");
  fflush(stdout);
  return usage;
}

static void remove_files(const Soak *soak) {
  GDir *dir = g_dir_open(soak->folder, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    char *path = g_build_filename(soak->folder, name, NULL);
    remove(path);
    g_free(path);
  }
  g_clear_pointer(&dir, g_dir_close);
  rmdir(soak->folder);
}

/* --- The pipeline ---------------------------------------------------------------------------- */

static gboolean write_calibration(const char *path, int width, int height) {
  const double f = 0.9 * width, cx = (width - 1) / 2.0, cy = (height - 1) / 2.0;
  char *text = g_strdup_printf(
      "%%YAML:1.0\n---\nimage_width: %d\nimage_height: %d\n"
      "M1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
      "   data: [ %.3f, 0., %.3f, 0., %.3f, %.3f, 0., 0., 1. ]\n"
      "D1: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   data: [ -0.02, 0., 0., 0., 0. ]\n"
      "M2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
      "   data: [ %.3f, 0., %.3f, 0., %.3f, %.3f, 0., 0., 1. ]\n"
      "D2: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n   data: [ -0.02, 0., 0., 0., 0. ]\n"
      "R: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
      "   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\n"
      "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ -0.5, 0., 0. ]\n",
      width, height, f, cx, f, cy, f, cx, f, cy);
  const gboolean written = g_file_set_contents(path, text, -1, NULL);
  g_free(text);
  return written;
}

static char *describe_pipeline(const Soak *soak, int width, int height, int rate) {
  const char *up = soak->cuda ? "cudaupload ! " : "", *down = soak->cuda ? "cudadownload ! " : "";
  return g_strdup_printf(
      "stereotestsrc is-live=true truth=false ! "
      "video/x-raw,format=NV12,width=%d,height=%d,framerate=%d/1 ! videoconvert ! "
      "capsfilter name=format caps=video/x-raw,format=NV12 ! tee name=both "
      "both. ! queue leaky=downstream max-size-buffers=4 ! videocrop right=%d ! "
      "identity name=left ! %squeue leaky=downstream max-size-buffers=3 ! mux.left "
      "both. ! queue leaky=downstream max-size-buffers=4 ! videocrop left=%d ! "
      "identity name=right ! %squeue leaky=downstream max-size-buffers=3 ! mux.right "
      "cudastereomux name=mux ! queue leaky=downstream max-size-buffers=3 ! "
      "cudarectify calibration=%s/camera.yml ! cudasgm disparities=64 ! cudastixels ! cudardp ! "
      "cudaobstacles ! cudaroaddetect ! cudalanes ! cudahough segments=true ! "
      "cudaannotate ! "
      "annotationpublish name=publish rotate-time=60000000000 max-files=2 "
      "location=%s/soak-%%05d.jsonl ! "
      "annotationpublish name=record format=mcap rotate-time=60000000000 max-files=2 "
      "location=%s/soak-%%05d.mcap ! %squeue ! "
      "fakesink name=sink sync=true qos=true",
      2 * width, height, rate, width, up, width, up, soak->folder, soak->folder, soak->folder,
      down);
}

static gboolean on_message(GstBus *bus, GstMessage *message, gpointer user) {
  Soak *soak = user;
  GError *error = NULL;
  switch (GST_MESSAGE_TYPE(message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error(message, &error, NULL);
    printf("FAIL: %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    soak->failed = TRUE;
    g_main_loop_quit(soak->loop);
    break;
  case GST_MESSAGE_WARNING: /* stalls cause them; the first ones show that they are right */
    gst_message_parse_warning(message, &error, NULL);
    if (soak->warnings++ < 5)
      printf("warning of %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    break;
  case GST_MESSAGE_LATENCY:
    gst_bin_recalculate_latency(GST_BIN(soak->pipeline));
    break;
  case GST_MESSAGE_EOS:
    g_main_loop_quit(soak->loop);
    break;
  default:
    break;
  }
  g_clear_error(&error);
  return G_SOURCE_CONTINUE;
}

static gboolean on_minute(gpointer user) {
  look(user, "");
  return G_SOURCE_CONTINUE;
}

static guint count_formats(const Soak *soak) {
  return soak->cuda ? FORMATS_CUDA : FORMATS_ALL;
}

/* The next format, or the first one when the end is near. */
static gboolean on_period(gpointer user) {
  Soak *soak = user;
  const double now = (double)(g_get_monotonic_time() - soak->began) * 1e-6;
  const guint before = soak->format, count = count_formats(soak);
  soak->format = now + 2 * soak->period > soak->seconds ? 0 : (soak->format + 1) % count;
  if (soak->format == before)
    return G_SOURCE_CONTINUE;
  GstElement *filter = gst_bin_get_by_name(GST_BIN(soak->pipeline), "format");
  GstCaps *caps =
      gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, formats[soak->format], NULL);
  g_object_set(filter, "caps", caps, NULL);
  gst_caps_unref(caps);
  gst_object_unref(filter);
  soak->changes++;
  return G_SOURCE_CONTINUE;
}

static gboolean on_warm(gpointer user) {
  Soak *soak = user;
  malloc_trim(0);
  soak->start = look(soak, "start");
  return G_SOURCE_REMOVE;
}

static gboolean on_end(gpointer user) {
  Soak *soak = user;
  malloc_trim(0);
  soak->end = look(soak, "end");
  gst_element_send_event(soak->pipeline, gst_event_new_eos());
  return G_SOURCE_REMOVE;
}

/* --- The result ------------------------------------------------------------------------------ */

static void require(Soak *soak, gboolean good, const char *what) {
  if (good)
    return;
  printf("FAIL: %s\n", what);
  soak->failed = TRUE;
}

static guint64 stat_of(const Soak *soak, const char *element, const char *field) {
  GstElement *found = gst_bin_get_by_name(GST_BIN(soak->pipeline), element);
  GstStructure *stats = NULL;
  guint64 value = 0;
  g_object_get(found, "stats", &stats, NULL);
  gst_structure_get_uint64(stats, field, &value);
  gst_structure_free(stats);
  gst_object_unref(found);
  return value;
}

static void judge(Soak *soak) {
  const guint64 pairs = stat_of(soak, "mux", "pairs");
  const guint64 published = stat_of(soak, "publish", "published");
  const guint64 recorded = stat_of(soak, "record", "published");
  for (int i = 0; i < 2; i++)
    printf("%s camera: %" G_GUINT64_FORMAT " frames sent, %" G_GUINT64_FORMAT
           " lost, %" G_GUINT64_FORMAT " stalls\n",
           i ? "right" : "left", soak->camera[i].sent, soak->camera[i].lost,
           soak->camera[i].stalls);
  printf("%" G_GUINT64_FORMAT " pairs, %" G_GUINT64_FORMAT " dropped left, %" G_GUINT64_FORMAT
         " right, %" G_GUINT64_FORMAT " stale, %" G_GUINT64_FORMAT " stalls reported, "
         "%" G_GUINT64_FORMAT " late; %" G_GUINT64_FORMAT " published, %" G_GUINT64_FORMAT
         " dropped by the publisher; %" G_GUINT64_FORMAT " recorded; %" G_GUINT64_FORMAT
         " frames at the sink; %u changes of the format; %u warnings\n",
         pairs, stat_of(soak, "mux", "dropped-left"), stat_of(soak, "mux", "dropped-right"),
         stat_of(soak, "mux", "stale"), stat_of(soak, "mux", "stalls"),
         stat_of(soak, "mux", "late"), published, stat_of(soak, "publish", "dropped"), recorded,
         soak->frames, soak->changes, soak->warnings);
  require(soak, soak->frames > 0 && published > 0, "no frames reached the sink");
  require(soak, stat_of(soak, "publish", "dropped") == 0, "the publisher dropped frames");
  require(soak, recorded == published, "the recording lacks frames");
  require(soak, soak->changes > 0, "the format never changed");
  require(soak, soak->end.seconds > 0, "ended early");
  require(soak, soak->end.heap <= soak->start.heap + HEAP_GROWTH + HEAP_VIEWS * soak->view,
          "the heap grows");
  require(soak, soak->end.rss_kb <= soak->start.rss_kb + RSS_GROWTH_KB, "resident memory grows");
  require(soak, soak->end.handles <= soak->start.handles + 1, "handles grow"); /* a rotation */
  require(soak, soak->end.threads <= soak->start.threads, "threads grow");
  require(soak, soak->end.gpu_mib <= soak->start.gpu_mib + GPU_GROWTH_MIB, "GPU memory grows");
}

static gboolean run(Soak *soak, int width, int height, int rate) {
  char *path = g_build_filename(soak->folder, "camera.yml", NULL);
  char *line = describe_pipeline(soak, width, height, rate);
  GError *error = NULL;
  if (write_calibration(path, width, height))
    soak->pipeline = gst_parse_launch(line, &error);
  g_free(path);
  g_free(line);
  if (!soak->pipeline || error) {
    printf("FAIL: %s\n", error ? error->message : "no calibration could be written");
    g_clear_error(&error);
    gst_clear_object(&soak->pipeline);
    return FALSE;
  }
  add_probe(soak, "left", "src", on_frame, &soak->camera[0]);
  add_probe(soak, "right", "src", on_frame, &soak->camera[1]);
  add_probe(soak, "sink", "sink", on_result, soak);
  GstBus *bus = gst_element_get_bus(soak->pipeline);
  gst_bus_add_watch(bus, on_message, soak);
  soak->began = g_get_monotonic_time();
  gst_element_set_state(soak->pipeline, GST_STATE_PLAYING);
  const guint start_ms = (guint)((count_formats(soak) + 0.7) * soak->period * 1000);
  const guint period_timer = g_timeout_add((guint)(soak->period * 1000), on_period, soak);
  g_timeout_add(start_ms, on_warm, soak);
  g_timeout_add((guint)(soak->seconds * 1000), on_end, soak);
  const guint minute = g_timeout_add_seconds(60, on_minute, soak);
  g_main_loop_run(soak->loop);
  g_source_remove(minute);
  g_source_remove(period_timer);
  judge(soak);
  gst_element_set_state(soak->pipeline, GST_STATE_NULL);
  gst_bus_remove_watch(bus);
  gst_object_unref(bus);
  gst_clear_object(&soak->pipeline);
  return !soak->failed;
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  if (argc != 2 && argc != 5) {
    fprintf(stderr, "usage: soak SECONDS [WIDTH HEIGHT FRAMES-PER-SECOND]   of one camera\n");
    return 2;
  }
  Soak soak = {.seconds = atof(argv[1]), .camera = {{.random = 1}, {.random = 2}}};
  const int width = argc == 5 ? atoi(argv[2]) : 320, height = argc == 5 ? atoi(argv[3]) : 240;
  const int rate = argc == 5 ? atoi(argv[4]) : 10;
  soak.period = MIN(PERIOD_S, soak.seconds / PERIODS);
  soak.view = (guint64)width * (guint64)height * 3 / 2;
  GstElementFactory *upload = gst_element_factory_find("cudaupload");
  soak.cuda = upload && rv_cuda_devices(NULL, 0) > 0;
  gst_clear_object(&upload);
  soak.folder = g_dir_make_tmp("soak-XXXXXX", NULL);
  soak.loop = g_main_loop_new(NULL, FALSE);
  printf("soak: %.0f s, 2 x %dx%d, %d frames/s, engine %s\n", soak.seconds, width, height, rate,
         soak.cuda ? "cuda" : "cpu");
  const gboolean good = run(&soak, width, height, rate);
  g_main_loop_unref(soak.loop);
  remove_files(&soak);
  g_free(soak.folder);
  gst_deinit();
  printf("soak: %s\n", good ? "good" : "failed");
  return good ? 0 : 1;
}
