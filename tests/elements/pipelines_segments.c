/* SPDX-License-Identifier: MIT */
/* pipelines_segments.c: cudasgm, cudardp and cudaannotate in a chain: every way of running it gives
 * the same segments and the same image. */
#include "pipelines.h"

#define SOURCE "stereotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=640,height=120 ! "

/* Lists, and images when asked for: more than a segment for each of the 320 columns. */
static const PipelinesPart parts[] = {{RV_META_SEGMENTS, "payload", 321 * sizeof(RvSegment)},
                                      {NULL, NULL, 1}};

static GBytes *bits_of(Pipelines *e, const char *line, gboolean pictures) {
  return pipelines_bits(e, line, parts, pictures ? 2 : 1);
}

static void equal(Pipelines *e) {
  static const char *const ways[] = {
      SOURCE "cudasgm engine=%1$s ! cudardp engine=%1$s ! cudaannotate engine=%1$s ! "
             "fakesink name=out",
      SOURCE "cudasgm engine=cpu ! cudardp engine=%1$s ! queue ! cudaannotate engine=cpu ! "
             "fakesink name=out",
      SOURCE "cudasgm engine=%1$s ! tee ! cudardp engine=cpu ! identity ! "
             "cudaannotate engine=%1$s ! fakesink name=out",
      NULL};
  static const char *const cuda_ways[] = {
      SOURCE "cudaupload ! cudasgm ! cudardp ! cudaannotate ! cudadownload ! fakesink name=out",
      SOURCE "cudaupload ! cudasgm ! queue ! cudardp engine=cpu ! cudaannotate ! cudadownload ! "
             "fakesink name=out",
      SOURCE "cudaupload ! cudasgm ! cudardp ! cudadownload ! cudaannotate engine=cpu ! "
             "fakesink name=out",
      NULL};
  pipelines_equal(e, parts, G_N_ELEMENTS(parts),
                  SOURCE "cudasgm engine=cpu ! cudardp engine=cpu ! cudaannotate engine=cpu ! "
                         "fakesink name=out",
                  ways, cuda_ways);
}

/* The segments replace the disparity layer, and only where they are asked for. */
static void shown(Pipelines *e) {
  static const char *const flags[] = {"segments+legend", "disparity+legend", "legend"};
  GBytes *bits[3];
  for (int k = 0; k < 3; k++) {
    char *line = g_strdup_printf(SOURCE "cudasgm engine=%s ! cudardp epsilon=4 engine=%s ! "
                                        "cudaannotate engine=%s show=%s ! fakesink name=out",
                                 e->engine, e->engine, e->engine, flags[k]);
    bits[k] = bits_of(e, line, TRUE);
    g_free(line);
  }
  CHECK(e,
        !pipelines_same(bits[0], bits[1]) && !pipelines_same(bits[0], bits[2]) &&
            !pipelines_same(bits[1], bits[2]),
        "segments, disparity and neither look different");
  for (int k = 0; k < 3; k++)
    g_bytes_unref(bits[k]);
}

/* The disparity map as the frame itself gives the segments that the annotation gives; they ride on
 * through a conversion, and are drawn. */
static void maps(Pipelines *e) {
  char *line = g_strdup_printf(SOURCE "cudasgm engine=%1$s ! cudardp engine=%1$s ! "
                                      "fakesink name=out",
                               e->engine);
  GBytes *want = bits_of(e, line, FALSE);
  g_free(line);
  static const char *const ways[] = {"show=segments", "show=disparity", ""};
  GBytes *bits[3];
  for (int k = 0; k < 3; k++) {
    const int scale = k == 2 ? 64 : 16; /* a multiple of 16 loses nothing */
    line = g_strdup_printf(SOURCE "cudasgm engine=%1$s output=disparity disparity-scale=%2$d ! "
                                  "cudardp engine=%1$s disparity-scale=%2$d ! videoconvert ! "
                                  "video/x-raw,format=NV12 ! cudaannotate engine=%1$s %3$s ! "
                                  "fakesink name=out",
                           e->engine, scale, ways[k]);
    GBytes *lists = bits_of(e, line, FALSE);
    CHECK(e, pipelines_same(want, lists), "same segments: %s", line);
    g_bytes_unref(lists);
    bits[k] = bits_of(e, line, TRUE);
    g_free(line);
  }
  CHECK(e, !pipelines_same(bits[0], bits[1]), "segments are drawn over a map");
  for (int k = 0; k < 3; k++)
    g_bytes_unref(bits[k]);
  g_bytes_unref(want);
}

const PipelinesTest pipelines_segments_tests[] = {
    {"segments/equal", equal}, {"segments/maps", maps}, {"segments/shown", shown}, {NULL, NULL}};
