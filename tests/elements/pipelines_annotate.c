/* SPDX-License-Identifier: MIT */
/* pipelines_annotate.c: cudaannotate: what it draws, what it leaves alone. */
#include "pipelines.h"

#include <string.h>

/* First frame of `stereotestsrc ! cudasgm ! MIDDLE` in `format`. */
static GBytes *first_frame(Pipelines *e, const char *format, const char *middle, int width,
                           int height) {
  char *line = g_strdup_printf(
      "stereotestsrc num-buffers=1 ! video/x-raw,width=%d,height=%d ! videoconvert ! "
      "video/x-raw,format=%s ! cudasgm engine=%s disparities=64 ! %s ! fakesink name=out",
      width, height, format, e->engine, middle);
  PipelinesRun run;
  GBytes *pixels = NULL;
  pipelines_run(e, &run, line);
  if (CHECK(e, run.buffers == 1, "%s: %s", line, run.error)) {
    GstSample *sample = g_ptr_array_index(run.samples, 0);
    pixels = pipelines_pixels(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
  }
  pipelines_run_clear(&run);
  g_free(line);
  return pixels;
}

static void formats(Pipelines *e) {
  for (guint i = 0; pipelines_formats[i]; i++) {
    if (strcmp(pipelines_formats[i], "GRAY8") == 0)
      continue; /* leaves cudasgm as NV12 */
    char *annotate = g_strdup_printf("cudaannotate engine=%s", e->engine);
    char *other = g_strdup_printf("cudaannotate engine=%s", "cpu");
    char *off = g_strdup_printf("cudaannotate engine=%s show=0", e->engine);
    GBytes *plain = first_frame(e, pipelines_formats[i], "identity", 644, 161);
    GBytes *drawn = first_frame(e, pipelines_formats[i], annotate, 644, 161);
    GBytes *same = first_frame(e, pipelines_formats[i], other, 644, 161);
    GBytes *nothing = first_frame(e, pipelines_formats[i], off, 644, 161);
    CHECK(e, plain && drawn && !g_bytes_equal(plain, drawn), "%s: something is drawn",
          pipelines_formats[i]);
    CHECK(e, pipelines_same(drawn, same), "%s: both engines draw the same bits",
          pipelines_formats[i]);
    CHECK(e, pipelines_same(plain, nothing), "%s: show=0 leaves the picture", pipelines_formats[i]);
    g_clear_pointer(&plain, g_bytes_unref);
    g_clear_pointer(&drawn, g_bytes_unref);
    g_clear_pointer(&same, g_bytes_unref);
    g_clear_pointer(&nothing, g_bytes_unref);
    g_free(annotate);
    g_free(other);
    g_free(off);
  }
}

/* Images without any annotation pass unchanged. */
static void passes(Pipelines *e) {
  static const char *const lines[] = {"identity", "cudaannotate engine=%s"};
  GBytes *pixels[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    char *middle = g_strdup_printf(i ? "cudaannotate engine=%s" : "%.0sidentity", e->engine);
    char *line =
        g_strdup_printf("videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=NV12,"
                        "width=322,height=241 ! %s ! fakesink name=out",
                        middle);
    PipelinesRun run;
    pipelines_run(e, &run, line);
    if (CHECK(e, run.buffers == 1, "%s (%s): %s", line, lines[i], run.error)) {
      GstSample *sample = g_ptr_array_index(run.samples, 0);
      pixels[i] = pipelines_pixels(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
    }
    pipelines_run_clear(&run);
    g_free(line);
    g_free(middle);
  }
  CHECK(e, pipelines_same(pixels[0], pixels[1]), "no annotation, no change");
  g_clear_pointer(&pixels[0], g_bytes_unref);
  g_clear_pointer(&pixels[1], g_bytes_unref);
}

/* The other branch of a tee sees the image as it was. */
static void shared(Pipelines *e) {
  GBytes *plain = first_frame(e, "BGRx", "identity", 640, 120);
  char *middle = g_strdup_printf(
      "tee name=t ! queue ! cudaannotate engine=%s ! fakesink async=false t. ! queue", e->engine);
  GBytes *other = first_frame(e, "BGRx", middle, 640, 120);
  CHECK(e, pipelines_same(plain, other), "a shared picture is copied before drawing");
  g_clear_pointer(&plain, g_bytes_unref);
  g_clear_pointer(&other, g_bytes_unref);
  g_free(middle);
}

/* Images scaled after matching are drawn on, with the annotation's own size in mind. */
static void scaled(Pipelines *e) {
  char *middle = g_strdup_printf(
      "videoscale ! video/x-raw,width=515,height=97 ! cudaannotate engine=%s", e->engine);
  GBytes *plain = first_frame(e, "BGRx", "videoscale ! video/x-raw,width=515,height=97", 640, 120);
  GBytes *drawn = first_frame(e, "BGRx", middle, 640, 120);
  CHECK(e, plain && drawn && !g_bytes_equal(plain, drawn), "draws on a scaled picture");
  g_clear_pointer(&plain, g_bytes_unref);
  g_clear_pointer(&drawn, g_bytes_unref);
  g_free(middle);
}

const PipelinesTest pipelines_annotate_tests[] = {{"annotate/formats", formats},
                                                  {"annotate/passes", passes},
                                                  {"annotate/shared", shared},
                                                  {"annotate/scaled", scaled},
                                                  {NULL, NULL}};
