/* SPDX-License-Identifier: MIT */
/* annotationpublish_flow.c: the stream is never stopped or changed by a destination: full disks,
 * pipes without readers, limits, wrong settings, stopping at any time. */
#include "publish_test.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- The stream ------------------------------------------------------------------------------ */

GST_START_TEST(test_passthrough) {
  char *folder = test_folder_new();
  GstHarness *harness = publish_harness("location=%s/a.jsonl", folder);
  GstBuffer *buffer = publish_frame(0, 2);
  gst_buffer_ref(buffer); /* shared: not writable */
  gst_harness_push(harness, buffer);
  GstBuffer *out = gst_harness_pull(harness);
  fail_unless(out == buffer && rv_meta_find(out, RV_META_STIXELS));
  gst_buffer_unref(out);
  gst_buffer_unref(buffer);
  publish_end(harness);
  test_folder_free(folder);
  /* Encoded streams, and streams that are no video. */
  static const char *const kinds[] = {"image/jpeg,width=64,height=48", "text/x-raw,format=utf8",
                                      "video/x-h264,stream-format=byte-stream,alignment=au"};
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    folder = test_folder_new();
    char *properties = g_strdup_printf("location=%s/a.jsonl", folder);
    harness = publish_harness_caps(kinds[i], properties);
    gst_harness_push(harness, publish_frame(0, 1));
    publish_end(harness);
    char *text = publish_read(folder, "a.jsonl");
    fail_unless(publish_lines(text) == 1 && strstr(text, "\"count\":1,"), "%s: %s", kinds[i], text);
    fail_unless((strstr(text, "\"resolution\"") != NULL) == (i == 0));
    g_free(text);
    g_free(properties);
    test_folder_free(folder);
  }
}
GST_END_TEST

GST_START_TEST(test_strip) {
  PublishTest test = publish_start("strip=true");
  GstBuffer *buffer = publish_frame(0, 2);
  gst_buffer_ref(buffer);
  gst_harness_push(test.harness, buffer);
  GstBuffer *out = gst_harness_pull(test.harness);
  fail_if(out == buffer || rv_meta_find(out, RV_META_STIXELS));
  fail_unless(rv_meta_find(buffer, RV_META_STIXELS) != NULL); /* of the other branch */
  fail_unless(gst_buffer_peek_memory(out, 0) == gst_buffer_peek_memory(buffer, 0)); /* no copy */
  gst_buffer_unref(out);
  gst_buffer_unref(buffer);
  const char *text = publish_text(&test);
  fail_unless(strstr(text, "\"records\":[[0,47,") != NULL);
  publish_free(&test);
}
GST_END_TEST

/* Seconds that the threads of this process were ready and waited for a processor; 0 = unknown. */
static double seconds_without_processor(void) {
  GDir *dir = g_dir_open("/proc/self/task", 0, NULL);
  const char *name;
  double seconds = 0;
  while (dir && (name = g_dir_read_name(dir))) {
    char *path = g_build_filename("/proc/self/task", name, "schedstat", NULL), *text = NULL;
    if (g_file_get_contents(path, &text, NULL, NULL)) {
      char *rest = NULL;
      strtoull(text, &rest, 10); /* time on a processor */
      seconds += (double)strtoull(rest, NULL, 10) * 1e-9;
    }
    g_free(text);
    g_free(path);
  }
  g_clear_pointer(&dir, g_dir_close);
  return seconds;
}

/* Sends 2 s of frames; returns how many were dropped. */
static guint64 publish_fast(double *waited) {
  enum { FRAMES = 2000, RATE = 1000, STIXELS = 450 };
  PublishTest test = publish_start("overflow=drop");
  GstBuffer *frame = publish_frame(0, STIXELS);
  const double before = seconds_without_processor();
  const gint64 start = g_get_monotonic_time();
  for (gint64 i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = gst_buffer_copy(frame);
    GST_BUFFER_PTS(buffer) = (GstClockTime)i * GST_MSECOND;
    const gint64 wait = start + i * G_USEC_PER_SEC / RATE - g_get_monotonic_time();
    if (wait > 0)
      g_usleep((gulong)wait);
    fail_unless(gst_harness_push(test.harness, buffer) == GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(test.harness));
  }
  *waited = seconds_without_processor() - before;
  const double seconds = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
  gst_harness_push_event(test.harness, gst_event_new_eos());
  const guint64 dropped = publish_stat(test.harness, "dropped");
  const guint64 published = publish_stat(test.harness, "published");
  g_print("%d frames of %d stixels in %.2f s, %.1f MB, at most %u waiting, %" G_GUINT64_FORMAT
          " dropped; %.2f s without a processor\n",
          FRAMES, STIXELS, seconds, (double)publish_stat(test.harness, "bytes") / 1e6,
          (guint)publish_stat(test.harness, "queued-max"), dropped, *waited);
  fail_unless_equals_uint64(published + dropped, FRAMES);
  gst_buffer_unref(frame);
  fail_unless_equals_int(publish_lines(publish_text(&test)), (int)published);
  publish_free(&test);
  return dropped;
}

/* A thousand frames per second with as many stixels as a frame of 1242x375 px has. A drop counts
 * only if other work on the machine did not keep the element waiting for a quarter of a second, the
 * time that fits its queue. */
GST_START_TEST(test_rate) {
  double waited = 0;
  guint64 dropped = publish_fast(&waited);
  for (int again = 0; again < 3 && dropped > 0 && waited > 0.25; again++)
    dropped = publish_fast(&waited);
  fail_unless(dropped == 0 || waited > 0.25, "%" G_GUINT64_FORMAT " dropped", dropped);
}
GST_END_TEST

/* --- Destinations that do not accept data ---------------------------------------------------- */

GST_START_TEST(test_full_device) {
  GstHarness *harness = publish_harness("location=/dev/full queue-size=8 overflow=block");
  GstBus *bus = test_bus(harness);
  fail_unless(publish_push(harness, 0, 5, 10) == GST_FLOW_OK);
  char *text = NULL;
  while (!text) {
    text = test_message(bus, GST_MESSAGE_WARNING);
    g_usleep(1000);
  }
  fail_unless(strstr(text, "failed to write /dev/full: ") && strstr(text, "every second"), "%s",
              text);
  g_free(text);
  fail_unless(publish_push(harness, 5, 95, 10) == GST_FLOW_OK); /* also with overflow=block */
  test_expect_warning(bus, NULL, NULL);                         /* said once */
  fail_unless(publish_stat(harness, "dropped") >= 100 - 8 - 1);
  fail_unless_equals_uint64(publish_stat(harness, "published"), 0);
  publish_close(harness, bus);
}
GST_END_TEST

GST_START_TEST(test_on_error_stop) {
  GstHarness *harness = publish_harness("location=/dev/full on-error=stop");
  GstBus *bus = test_bus(harness);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; i < 1000 && flow == GST_FLOW_OK; i++) {
    flow = publish_push(harness, i, 1, 10);
    g_usleep(1000);
  }
  fail_unless(flow == GST_FLOW_ERROR);
  test_expect_error(bus, "failed to write /dev/full: ", NULL);
  test_close(harness, bus);
}
GST_END_TEST

/* The limit of a file's size, as a full disk: complete lines only, and the rest when there is space. */
GST_START_TEST(test_limit) {
  char *folder = test_folder_new();
  struct rlimit before, limit;
  fail_unless(getrlimit(RLIMIT_FSIZE, &before) == 0);
  GstHarness *harness = publish_harness("location=%s/a.jsonl", folder);
  limit = before;
  limit.rlim_cur = 3000;
  fail_unless(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  publish_push(harness, 0, 20, 4);
  while (!publish_stat(harness, "waiting"))
    g_usleep(1000);
  char *text = publish_read(folder, "a.jsonl");
  const guint lines = publish_lines(text);
  fail_unless(strlen(text) <= 3000 && lines > 2 && lines < 20 && g_str_has_suffix(text, "}\n"));
  g_free(text);
  fail_unless(setrlimit(RLIMIT_FSIZE, &before) == 0);
  publish_end(harness); /* waits for the next attempt */
  text = publish_read(folder, "a.jsonl");
  fail_unless_equals_int(publish_lines(text), 20);
  for (guint i = 0; i < 20; i++) {
    char part[32];
    g_snprintf(part, sizeof part, "\"seq\":%u,", i);
    fail_unless(strstr(text, part) != NULL);
  }
  g_free(text);
  test_folder_free(folder);
}
GST_END_TEST

/* --- Pipes ----------------------------------------------------------------------------------- */

/* Appends what the pipe has to `rest`. While the writer has it closed, to open it again for a new
 * reader, there is nothing: waits up to 5 s. */
static gboolean read_more(int fd, GString *rest) {
  char bytes[512];
  ssize_t got = read(fd, bytes, sizeof bytes);
  for (guint i = 0; got == 0 && i < 500; i++) {
    g_usleep(10000);
    got = read(fd, bytes, sizeof bytes);
  }
  if (got <= 0)
    return FALSE;
  g_string_append_len(rest, bytes, got);
  return TRUE;
}

/* Reads complete lines from a pipe; the remainder stays in `rest`. */
static guint read_lines(int fd, GString *rest, guint wanted) {
  guint lines = 0;
  while (lines < wanted) {
    char *end = strchr(rest->str, '\n');
    if (end) {
      lines++;
      g_string_erase(rest, 0, end - rest->str + 1);
      continue;
    }
    if (!read_more(fd, rest))
      break;
  }
  return lines;
}

/* Whether the next line contains `part`. */
static gboolean line_has(int fd, GString *rest, const char *part) {
  while (!strchr(rest->str, '\n'))
    if (!read_more(fd, rest))
      return FALSE;
  char *line = g_strndup(rest->str, (gsize)(strchr(rest->str, '\n') - rest->str));
  const gboolean has = strstr(line, part) != NULL;
  g_free(line);
  read_lines(fd, rest, 1);
  return has;
}

GST_START_TEST(test_pipe) {
  TestFile file = test_file_new("pipe");
  fail_unless(mkfifo(file.path, 0600) == 0);
  GstHarness *harness = publish_harness("location=%s queue-size=10", file.path);
  GstBus *bus = test_bus(harness);
  /* No reader: the last ten frames wait, and one with the writer. */
  publish_push(harness, 0, 1, 1);
  while (!publish_stat(harness, "waiting"))
    g_usleep(1000);
  fail_unless(publish_push(harness, 1, 39, 1) == GST_FLOW_OK);
  fail_unless(publish_stat(harness, "dropped") >= 40 - 11);
  char *text = NULL; /* from the writer's thread */
  for (guint i = 0; !text && i < 1000; i++) {
    text = test_message(bus, GST_MESSAGE_WARNING);
    g_usleep(text ? 0 : 10000);
  }
  fail_unless(text && strstr(text, "nothing reads the pipe"), "%s", text);
  g_free(text);
  for (int reader = 0; reader < 2; reader++) { /* one that closes within a line, and the next one */
    const int fd = open(file.path, O_RDONLY);
    GString *rest = g_string_new(NULL);
    fail_unless(fd >= 0);
    fail_unless_equals_int(read_lines(fd, rest, 3), 3);
    if (reader > 0) {
      gboolean seen = FALSE; /* frame 50 or a later one: each push brings one more line */
      for (guint n = 90; !seen && n < 140; n++) {
        publish_push(harness, n, 1, 1);
        seen = line_has(fd, rest, "\"seq\":5");
      }
      fail_unless(seen);
    }
    close(fd);
    /* Fills the pipe's memory, so that the writer notices. */
    if (reader == 0)
      publish_push(harness, 40, 12, 100);
    g_string_free(rest, TRUE);
  }
  publish_close(harness, bus);
  test_file_free(&file);
}
GST_END_TEST

typedef struct Pusher {
  GstHarness *harness;
  guint pushed; /* atomic */
} Pusher;

static gpointer push_many(gpointer data) {
  Pusher *pusher = data;
  for (guint i = 0; i < 200; i++) {
    if (publish_push(pusher->harness, i, 1, 200) != GST_FLOW_OK)
      break;
    g_atomic_int_inc((gint *)&pusher->pushed);
  }
  return NULL;
}

/* overflow=block waits for a reader that reads slowly, and not for one that has stopped when the
 * element stops. */
GST_START_TEST(test_block) {
  TestFile file = test_file_new("pipe");
  fail_unless(mkfifo(file.path, 0600) == 0);
  const int fd = open(file.path, O_RDONLY | O_NONBLOCK);
  fail_unless(fcntl(fd, F_SETFL, 0) == 0);
  Pusher pusher = {publish_harness("location=%s queue-size=4 overflow=block", file.path), 0};
  GThread *thread = g_thread_new("pusher", push_many, &pusher);
  GString *rest = g_string_new(NULL);
  for (guint i = 0; i < 50; i++) {
    fail_unless_equals_int(read_lines(fd, rest, 1), 1);
    g_usleep(1000);
  }
  fail_unless_equals_uint64(publish_stat(pusher.harness, "dropped"), 0);
  const guint ahead = (guint)g_atomic_int_get((gint *)&pusher.pushed);
  fail_unless(ahead < 50 + 4 + 20, "%u frames pushed", ahead); /* the pipe buffers a few */
  /* The reader stops; so does the element. */
  const gint64 start = g_get_monotonic_time();
  gst_element_set_state(pusher.harness->element, GST_STATE_NULL);
  g_thread_join(thread);
  fail_unless(g_get_monotonic_time() - start < 5 * G_USEC_PER_SEC);
  fail_unless(g_atomic_int_get((gint *)&pusher.pushed) < 200);
  g_string_free(rest, TRUE);
  close(fd);
  gst_harness_teardown(pusher.harness);
  test_file_free(&file);
}
GST_END_TEST

GST_START_TEST(test_flush) {
  TestFile file = test_file_new("pipe");
  fail_unless(mkfifo(file.path, 0600) == 0);
  const int fd = open(file.path, O_RDONLY | O_NONBLOCK); /* reads nothing */
  Pusher pusher = {publish_harness("location=%s queue-size=4 overflow=block", file.path), 0};
  GThread *thread = g_thread_new("pusher", push_many, &pusher);
  guint pushed, last = G_MAXUINT;
  while ((pushed = (guint)g_atomic_int_get((gint *)&pusher.pushed)) != last || pushed == 0) {
    last = pushed;
    g_usleep(200 * 1000);
  }
  gst_harness_push_event(pusher.harness, gst_event_new_flush_start());
  g_thread_join(thread); /* a push into a flushing pad ends */
  gst_harness_push_event(pusher.harness, gst_event_new_flush_stop(TRUE));
  gst_harness_teardown(pusher.harness);
  close(fd);
  test_file_free(&file);
}
GST_END_TEST

/* --- Settings -------------------------------------------------------------------------------- */

/* The error of an element that cannot start. */
static char *start_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
static char *start_error(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *properties = g_strdup_vprintf(format, args);
  va_end(args);
  char *line = g_strconcat("annotationpublish ", properties, NULL);
  GstElement *element = gst_parse_launch(line, NULL);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE, "%s",
              line);
  char *text = test_message(bus, GST_MESSAGE_ERROR);
  fail_unless(text != NULL, "%s", line);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(element);
  test_bus_free(bus);
  g_free(line);
  g_free(properties);
  return text;
}

static void expect_error(char *text, const char *part) {
  fail_unless(strstr(text, part) != NULL, "\"%s\" is not in \"%s\"", part, text);
  g_free(text);
}

GST_START_TEST(test_settings) {
  TestFile file = test_file_new("target");
  char *link = g_build_filename(file.folder, "link", NULL);
  char *pipe = g_build_filename(file.folder, "pipe", NULL);
  fail_unless(g_file_set_contents(file.path, "mine", -1, NULL));
  fail_unless(symlink(file.path, link) == 0);
  fail_unless(mkfifo(pipe, 0600) == 0);
  expect_error(start_error("name=x"), "No destination");
  expect_error(start_error("location=- broker=localhost"), "Two destinations");
  expect_error(start_error("broker=localhost format=csv"), "MQTT messages are JSON");
  expect_error(start_error("location=%s", link), "it is a symbolic link, which is not followed");
  expect_error(start_error("location=%s format=mcap", link), "it is a symbolic link");
  /* A folder in /dev that is everybody's, where there is one. */
  char *shared_link = g_strdup_printf("/dev/shm/gst-roadvision-link-%d", (int)getpid());
  if (symlink(file.path, shared_link) == 0) {
    expect_error(start_error("location=%s", shared_link), "it is a symbolic link");
    unlink(shared_link);
  }
  g_free(shared_link);
  expect_error(start_error("location=%s/none/a.jsonl", file.folder), "its folder does not exist");
  expect_error(start_error("location=%s", file.folder), "Failed to open");
  expect_error(start_error("location=%s/a%%x.jsonl", file.folder), "only %d and %05d");
  expect_error(start_error("location=%s/a%%s.jsonl", file.folder), "with format=csv");
  expect_error(start_error("location=- rotate-size=10"), "Standard output cannot be rotated");
  expect_error(start_error("location=- utc-start=now"), "Invalid utc-start");
  expect_error(start_error("format=mcap location=%s", "/dev/full"), "MCAP needs a file");
  expect_error(start_error("format=mcap append=true location=%s/a.mcap", file.folder),
               "An MCAP file cannot be appended to");
  expect_error(
      start_error("format=mcap location=%s/b.mcap attachment=%s/none", file.folder, file.folder),
      "none");
  char *kept = publish_read(file.folder, "target");
  fail_unless_equals_string(kept, "mine");
  g_free(kept);
  g_free(link);
  g_free(pipe);
  test_file_free(&file);
}
GST_END_TEST

/* READY and back: a new file each time, counts from 0; nothing remains open. */
GST_START_TEST(test_restart) {
  static const char *const formats[] = {"json", "csv", "mcap"};
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    char *folder = test_folder_new();
    GstHarness *harness = publish_harness("format=%s location=%s/a", formats[f], folder);
    for (int i = 0; i < 20; i++) {
      publish_push(harness, 0, 3, 5);
      gst_element_set_state(harness->element, GST_STATE_READY);
      fail_unless_equals_uint64(publish_stat(harness, "published"), 3);
      gst_element_set_state(harness->element, GST_STATE_PLAYING);
      gst_harness_set_src_caps_str(harness,
                                   "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1");
    }
    gst_harness_teardown(harness);
    test_folder_free(folder);
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_passthrough) TEST(test_strip) TEST(test_rate) TEST(test_full_device) \
  TEST(test_on_error_stop) TEST(test_limit) TEST(test_pipe) TEST(test_block) TEST(test_flush) \
  TEST(test_settings) TEST(test_restart)
/* clang-format on */

ELEMENT_TESTS(annotationpublish_flow, TESTS)
