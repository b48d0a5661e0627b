/* pipelines_segments.c: cudasgm, cudardp and cudaannotate in a chain: every way of running it gives
 * the same segments and the same picture. */
#include "pipelines.h"

#define SOURCE "stereotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=640,height=120 ! "

/* Lists of a chain, and its pictures when asked for, one after the other. */
static GBytes *bits_of(Pipelines *e, const char *line, gboolean pictures) {
  PipelinesRun run;
  GByteArray *bits = g_byte_array_new();
  pipelines_run(e, &run, line);
  CHECK(e, run.eos && run.buffers == 3, "%s: %s, %u buffers", line, run.error, run.buffers);
  for (guint i = 0; i < run.buffers; i++) {
    GstSample *sample = g_ptr_array_index(run.samples, i);
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    RvMetaSegments meta;
    CHECK(e, rv_meta_get_segments(buffer, &meta) && meta.count > 320 && meta.width == 320,
          "%s: frame %u has segments", line, i);
    GBytes *parts[2] = {pipelines_raster(buffer, RV_META_SEGMENTS, "payload"),
                        pictures ? pipelines_pixels(buffer, gst_sample_get_caps(sample)) : NULL};
    for (int k = 0; k < (pictures ? 2 : 1); k++)
      if (CHECK(e, parts[k], "%s: frame %u has its %s", line, i, k ? "picture" : "list")) {
        gsize size = 0;
        const guint8 *data = g_bytes_get_data(parts[k], &size);
        g_byte_array_append(bits, data, (guint)size);
        g_bytes_unref(parts[k]);
      }
  }
  pipelines_run_clear(&run);
  return g_byte_array_free_to_bytes(bits);
}

static GBytes *chain_bits(Pipelines *e, const char *line) {
  return bits_of(e, line, TRUE);
}

static void equal(Pipelines *e) {
  GBytes *want = chain_bits(e, SOURCE "cudasgm engine=cpu ! cudardp engine=cpu ! "
                                      "cudaannotate engine=cpu ! fakesink name=out");
  static const char *const ways[] = {
      SOURCE "cudasgm engine=%1$s ! cudardp engine=%1$s ! cudaannotate engine=%1$s ! "
             "fakesink name=out",
      SOURCE "cudasgm engine=cpu ! cudardp engine=%1$s ! queue ! cudaannotate engine=cpu ! "
             "fakesink name=out",
      SOURCE "cudasgm engine=%1$s ! tee ! cudardp engine=cpu ! identity ! "
             "cudaannotate engine=%1$s ! fakesink name=out",
  };
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    char *line = g_strdup_printf(ways[i], e->engine);
    GBytes *got = chain_bits(e, line);
    CHECK(e, pipelines_same(want, got), "same bits: %s", line);
    g_bytes_unref(got);
    g_free(line);
  }
  static const char *const cuda_ways[] = {
      SOURCE "cudaupload ! cudasgm ! cudardp ! cudaannotate ! cudadownload ! fakesink name=out",
      SOURCE "cudaupload ! cudasgm ! queue ! cudardp engine=cpu ! cudaannotate ! cudadownload ! "
             "fakesink name=out",
      SOURCE "cudaupload ! cudasgm ! cudardp ! cudadownload ! cudaannotate engine=cpu ! "
             "fakesink name=out",
  };
  for (guint i = 0; e->cuda_caps && i < G_N_ELEMENTS(cuda_ways); i++) {
    GBytes *got = chain_bits(e, cuda_ways[i]);
    CHECK(e, pipelines_same(want, got), "same bits: %s", cuda_ways[i]);
    g_bytes_unref(got);
  }
  g_bytes_unref(want);
}

/* The segments replace the disparity layer, and only where they are asked for. */
static void shown(Pipelines *e) {
  static const char *const flags[] = {"segments+legend", "disparity+legend", "legend"};
  GBytes *bits[3];
  for (int k = 0; k < 3; k++) {
    char *line = g_strdup_printf(SOURCE "cudasgm engine=%s ! cudardp epsilon=4 engine=%s ! "
                                        "cudaannotate engine=%s show=%s ! fakesink name=out",
                                 e->engine, e->engine, e->engine, flags[k]);
    bits[k] = chain_bits(e, line);
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
    bits[k] = chain_bits(e, line);
    g_free(line);
  }
  CHECK(e, !pipelines_same(bits[0], bits[1]), "segments are drawn over a map");
  for (int k = 0; k < 3; k++)
    g_bytes_unref(bits[k]);
  g_bytes_unref(want);
}

const PipelinesTest pipelines_segments_tests[] = {
    {"segments/equal", equal}, {"segments/maps", maps}, {"segments/shown", shown}, {NULL, NULL}};
