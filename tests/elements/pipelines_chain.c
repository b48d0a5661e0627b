/* SPDX-License-Identifier: MIT */
/* pipelines_chain.c: chains: annotations through foreign elements, engines equal, CUDA caps. */
#include "pipelines.h"

#include <string.h>

#define SOURCE "stereotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=640,height=120 ! "

/* The same stream through every way of running it gives the same bits. */
static void equal(Pipelines *e) {
  static const PipelinesPart parts[] = {{NULL, NULL, 1}, {RV_META_DISPARITY, "payload", 1}};
  static const char *const ways[] = {
      SOURCE "cudasgm engine=%1$s ! cudaannotate engine=%1$s ! fakesink name=out",
      SOURCE "cudasgm engine=cpu ! cudaannotate engine=%1$s ! fakesink name=out",
      SOURCE "cudasgm engine=%1$s ! cudaannotate engine=cpu ! fakesink name=out",
      SOURCE "queue ! cudasgm engine=%1$s ! queue ! tee ! identity ! cudaannotate engine=%1$s ! "
             "fakesink name=out",
      NULL};
  static const char *const cuda_ways[] = {
      SOURCE "cudaupload ! cudasgm engine=cuda ! cudaannotate engine=cuda ! cudadownload ! "
             "fakesink name=out",
      SOURCE "cudaupload ! cudasgm ! cudaannotate ! cudadownload ! fakesink name=out",
      SOURCE "cudaupload ! identity ! cudasgm ! queue ! tee ! cudaannotate ! cudadownload ! "
             "fakesink name=out",
      SOURCE "cudaupload ! video/x-raw(memory:CUDAMemory) ! cudasgm engine=cpu ! cudaannotate "
             "engine=cuda ! cudadownload ! fakesink name=out",
      SOURCE "cudaupload ! cudasgm ! cudadownload ! cudaannotate engine=cpu ! fakesink name=out",
      SOURCE "cudasgm engine=cuda ! cudaupload ! cudaannotate ! cudadownload ! fakesink name=out",
      NULL};
  pipelines_equal(e, parts, G_N_ELEMENTS(parts),
                  SOURCE "cudasgm engine=cpu ! cudaannotate engine=cpu ! fakesink name=out", ways,
                  cuda_ways);
}

/* Annotations survive stock elements, encoders too. */
static void survive(Pipelines *e) {
  static const char *const tails[] = {
      "videoconvert ! video/x-raw,format=RGB", "videoscale ! video/x-raw,width=160",
      "videoconvert ! jpegenc", "queue ! identity ! videorate", "videoconvert ! pngenc"};
  for (guint i = 0; i < G_N_ELEMENTS(tails); i++) {
    char *line = g_strdup_printf(SOURCE "cudasgm engine=%s disparities=32 ! %s ! fakesink name=out",
                                 e->engine, tails[i]);
    PipelinesRun run;
    pipelines_run(e, &run, line);
    CHECK(e, run.eos && run.buffers > 0, "%s: %s", line, run.error);
    for (guint k = 0; k < run.buffers; k++) {
      GstBuffer *buffer = gst_sample_get_buffer(g_ptr_array_index(run.samples, k));
      RvMetaDisparity meta;
      CHECK(e, rv_meta_get_disparity(buffer, &meta) && meta.width == 320 && meta.height == 120,
            "%s: disparity survives", line);
      CHECK(e, rv_meta_find(buffer, RV_META_CAMERA) && rv_meta_find(buffer, RV_META_TRUTH),
            "%s: camera and truth survive", line);
    }
    pipelines_run_clear(&run);
    g_free(line);
  }
}

/* The complete line: CUDA caps all the way without a capsfilter, engine=cuda, no leave of the GPU. */
static void cuda_caps(Pipelines *e) {
  static const char *const lines[] = {
      "cudaupload ! cudasgm name=a ! cudaannotate name=b ! cudadownload",
      "cudaupload ! identity ! cudasgm name=a ! identity ! cudaannotate name=b ! cudadownload",
      "cudaupload ! queue ! cudasgm name=a ! queue ! cudaannotate name=b ! cudadownload",
      "cudaupload ! tee ! cudasgm name=a ! tee ! queue ! cudaannotate name=b ! cudadownload",
      ("cudaupload ! video/x-raw(ANY) ! cudasgm name=a ! video/x-raw(ANY) ! cudaannotate name=b ! "
       "cudadownload")};
  if (!e->cuda_caps) {
    CHECK(e, strcmp(e->engine, "cpu") == 0 || !gst_element_factory_find("cudaupload"),
          "without cudaupload there are no CUDA caps to test");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    char *line = g_strdup_printf("stereotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=640,"
                                 "height=120 ! %s ! fakesink",
                                 lines[i]);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    CHECK(e,
          gst_element_get_state(pipeline, NULL, NULL, 30 * GST_SECOND) != GST_STATE_CHANGE_FAILURE,
          "%s: prerolls", line);
    for (int k = 0; k < 2; k++) {
      GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), k ? "b" : "a");
      GstPad *pad = gst_element_get_static_pad(element, "sink");
      GstCaps *caps = gst_pad_get_current_caps(pad);
      CHECK(e,
            caps && gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:CUDAMemory"),
            "%s: %s is fed CUDA memory", line, k ? "cudaannotate" : "cudasgm");
      GstStructure *stats = NULL;
      g_object_get(element, "stats", &stats, NULL);
      CHECK(e, stats && g_strcmp0(gst_structure_get_string(stats, "engine"), "cuda") == 0,
            "%s: engine=cuda", line);
      g_clear_pointer(&stats, gst_structure_free);
      gst_clear_caps(&caps);
      gst_object_unref(pad);
      gst_object_unref(element);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    g_free(line);
  }
}

const PipelinesTest pipelines_chain_tests[] = {{"chain/equal", equal},
                                               {"chain/survive", survive},
                                               {"chain/cuda-caps", cuda_caps},
                                               {NULL, NULL}};
