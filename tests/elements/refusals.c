/* SPDX-License-Identifier: MIT */
/* rejections.c: what the elements say and do when something cannot work: the cause, the remedy, in
 * the user's words; and that nothing else goes wrong then. */
#include "element_test.h"

#include <string.h>

/* --- Words ----------------------------------------------------------------------------------- */

/* The library's messages speak of fields (p2_min), users of properties (p2-min). */
GST_START_TEST(test_property_names) {
  static const struct {
    const char *line, *says;
  } cases[] = {{"cudasgm engine=cpu adaptive-p2=true p2-min=5", "p2-min"},
               {"cudasgm engine=cpu disparities=512 min-disparity=3584 "
                "adaptive-p2=true p2=120 p2-min=121",
                "p2-min"},
               {"cudahough engine=cpu min-theta=90 max-theta=20", "max-theta"},
               {"cudahough engine=cpu edge-low=300 edge-high=100", "edge-high"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestElement test = test_start(cases[i].line, "NV12", 128, 32, NULL);
    char *error = test_message(test.bus, GST_MESSAGE_ERROR);
    fail_unless(error && strstr(error, cases[i].says), "%s: %s", cases[i].line, error);
    *strchr(error, '|') = 0; /* behind it stand names of functions */
    fail_if(g_regex_match_simple("[a-z0-9]_[a-z]", error, 0, 0), "%s: %s", cases[i].line, error);
    g_free(error);
    test_end(&test);
  }
}
GST_END_TEST

/* Where there is no device: a build without CUDA is not helped by a driver. */
GST_START_TEST(test_engine_cuda) {
  if (rv_cuda_devices(NULL, 0) > 0)
    return;
  GstElement *element = gst_element_factory_make("cudasgm", NULL);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  gst_util_set_object_arg(G_OBJECT(element), "engine", "cuda");
  fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
  char *error = test_message(bus, GST_MESSAGE_ERROR);
  fail_unless(error && strstr(error, "engine=cpu"), "%s", error);
  fail_unless((strstr(error, "built without CUDA") != NULL) == !rv_has_cuda(), "%s", error);
  fail_unless((strstr(error, "nvcc") != NULL) == !rv_has_cuda(), "%s", error);
  fail_unless((strstr(error, "nvidia-smi") != NULL) == rv_has_cuda(), "%s", error);
  g_free(error);
  test_element_free(element, bus);
}
GST_END_TEST

/* --- Negotiation ----------------------------------------------------------------------------- */

/* A packing that is no pair of rectangles links while sizes are open, so that the caps event comes
 * and the element can say what is wrong. */
GST_START_TEST(test_packing_of_open_size) {
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu");
  GstBus *bus = test_bus(harness);
  GstCaps *open = gst_caps_from_string("video/x-raw,format=NV12,multiview-mode=checkerboard");
  GstCaps *answer = gst_pad_peer_query_caps(harness->srcpad, open);
  fail_if(gst_caps_is_empty(answer));
  gst_caps_unref(answer);
  gst_caps_unref(open);
  gst_harness_set_src_caps(harness, test_caps("NV12", 128, 32, "multiview-mode=checkerboard"));
  test_expect_error(bus, "checkerboard", "layout");
  test_close(harness, bus);
}
GST_END_TEST

/* A map where the next element draws on images: cause and remedy, and all is well once mended. */
GST_START_TEST(test_output_in_flight) {
  GstHarness *harness =
      gst_harness_new_parse("cudasgm name=sgm engine=cpu disparities=32 ! cudaannotate engine=cpu");
  GstElement *sgm = gst_bin_get_by_name(GST_BIN(harness->element), "sgm");
  GstBus *bus = test_bus(harness);
  GstVideoInfo in;
  test_set_caps(harness, "NV12", 128, 32, NULL, &in);
  gst_buffer_unref(gst_harness_push_and_pull(harness, test_pair_new(&in, FALSE, FALSE, 5, 1)));
  gst_util_set_object_arg(G_OBJECT(sgm), "output", "disparity");
  fail_unless(gst_harness_push(harness, test_pair_new(&in, FALSE, FALSE, 5, 2)) ==
              GST_FLOW_NOT_NEGOTIATED);
  char *error = test_message(bus, GST_MESSAGE_ERROR);
  fail_unless(error && strstr(error, "GRAY16_LE") && strstr(error, "cudaannotate") &&
                  strstr(error, "output=picture"),
              "%s", error);
  g_free(error);
  test_expect_error(bus, NULL, NULL);
  gst_util_set_object_arg(G_OBJECT(sgm), "output", "picture");
  gst_buffer_unref(gst_harness_push_and_pull(harness, test_pair_new(&in, FALSE, FALSE, 5, 3)));
  gst_object_unref(sgm);
  test_close(harness, bus);
}
GST_END_TEST

/* The same from the start, when the caps come. */
GST_START_TEST(test_nothing_fits) {
  GstHarness *harness = gst_harness_new_parse("cudasgm engine=cpu");
  gst_harness_set_sink_caps_str(harness, "video/x-raw,format=NV12,width=77");
  GstBus *bus = test_bus(harness);
  gst_harness_set_src_caps(harness, test_caps("NV12", 128, 32, NULL));
  test_expect_error(bus, "64", "77");
  test_close(harness, bus);
}
GST_END_TEST

/* --- Pools ----------------------------------------------------------------------------------- */

typedef struct StubbornPool {
  GstBufferPool parent;
} StubbornPool;

typedef struct StubbornPoolClass {
  GstBufferPoolClass parent_class;
} StubbornPoolClass;

static GType stubborn_pool_get_type(void);
G_DEFINE_TYPE(StubbornPool, stubborn_pool, GST_TYPE_BUFFER_POOL)

static gboolean refuse_config(GstBufferPool *pool, GstStructure *config) {
  return FALSE;
}

static void stubborn_pool_class_init(StubbornPoolClass *klass) {
  GST_BUFFER_POOL_CLASS(klass)->set_config = refuse_config;
}

static void stubborn_pool_init(StubbornPool *pool) {}

static GstPadProbeReturn offer_pool(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool(query, user, 100, 1, 1);
  return GST_PAD_PROBE_HANDLED;
}

/* A pool that takes no configuration is not used. */
GST_START_TEST(test_stubborn_pool) {
  GstBufferPool *pool = g_object_new(stubborn_pool_get_type(), NULL);
  gst_object_ref_sink(pool);
  GstHarness *harness =
      test_source_new("video/x-raw,format=NV12,width=64,height=16", offer_pool, pool);
  GstBuffer *buffer = gst_harness_pull(harness);
  fail_unless(buffer && gst_buffer_get_size(buffer) == 64 * 16 * 3 / 2);
  fail_unless(buffer->pool != pool);
  gst_buffer_unref(buffer);
  gst_harness_teardown(harness);
  gst_object_unref(pool);
}
GST_END_TEST

/* --- Annotations of others ------------------------------------------------------------------- */

static void add_huge(GstBuffer *buffer, gboolean stixels) {
  if (stixels) {
    const RvMetaStixels meta = {16384, 16384,
                                0,     8,
                                8,     RV_STIXELS_SLANTED_FAST,
                                0,     0,
                                0,     gst_buffer_new_allocate(NULL, 64, NULL)};
    rv_meta_add_stixels(buffer, &meta);
  } else {
    const RvMetaSegments meta = {16384, 16384, 0, 1.0, 1, gst_buffer_new_allocate(NULL, 64, NULL)};
    rv_meta_add_segments(buffer, &meta);
  }
}

/* An annotation may name any size; memory is taken for what the image can show. */
GST_START_TEST(test_huge_annotation) {
  for (int stixels = 0; stixels < 2; stixels++) {
    TestElement test =
        test_start("cudaannotate engine=cpu show=segments+stixels", "NV12", 64, 32, NULL);
    for (int k = 0; k < 2; k++) {
      GstBuffer *buffer = test_pair_new(&test.info, FALSE, FALSE, 0, 1);
      add_huge(buffer, stixels);
      buffer = gst_harness_push_and_pull(test.harness, buffer);
      fail_unless(buffer != NULL);
      gst_buffer_unref(buffer);
    }
    char *warning = test_message(test.bus, GST_MESSAGE_WARNING);
    fail_unless(warning && strstr(warning, "16384x16384") && strstr(warning, "show"), "%s",
                warning);
    test_expect_warning(test.bus, NULL, NULL);
    g_free(warning);
    test_end(&test);
  }
}
GST_END_TEST

static void stretch_raster(GstElement *identity, GstBuffer *buffer, gpointer user) {
  RvMetaDisparity meta;
  fail_unless(rv_meta_get_disparity(buffer, &meta));
  gst_buffer_get_video_meta(meta.payload)->stride[0] = 1 << 20;
}

/* A raster that states more bytes than its memory has is not read, on the GPU neither. */
GST_START_TEST(test_short_raster) {
  static const char *const lines[] = {
      "cudasgm engine=cpu disparities=32 ! identity name=i signal-handoffs=true ! "
      "cudaannotate engine=cpu",
      "cudasgm engine=cuda disparities=32 ! identity name=i signal-handoffs=true ! "
      "cudaannotate engine=cuda"};
  for (int i = 0; i < (rv_cuda_devices(NULL, 0) > 0 ? 2 : 1); i++) {
    GstHarness *harness = gst_harness_new_parse(lines[i]);
    GstElement *identity = gst_bin_get_by_name(GST_BIN(harness->element), "i");
    g_signal_connect(identity, "handoff", G_CALLBACK(stretch_raster), NULL);
    GstBus *bus = test_bus(harness);
    GstVideoInfo in;
    test_set_caps(harness, "NV12", 128, 32, NULL, &in);
    GstBuffer *out = gst_harness_push_and_pull(harness, test_pair_new(&in, FALSE, FALSE, 5, 1));
    fail_unless(out != NULL, "%s", lines[i]);
    gst_buffer_unref(out);
    char *warning = test_message(bus, GST_MESSAGE_WARNING);
    while (warning && !strstr(warning, "GstVideoMeta states")) {
      g_free(warning);
      warning = test_message(bus, GST_MESSAGE_WARNING);
    }
    fail_unless(warning != NULL, "%s", lines[i]);
    g_free(warning);
    test_bus_free(bus);
    gst_object_unref(identity);
    gst_harness_teardown(harness);
  }
}
GST_END_TEST

/* --- With a GPU ------------------------------------------------------------------------------ */

static gpointer ask_for_context(gpointer user) {
  GstPad *pad = user;
  for (int i = 0; i < 200000 && !g_atomic_int_get((gint *)g_object_get_data(user, "stop")); i++) {
    GstQuery *query = gst_query_new_context("gst.cuda.context");
    gst_pad_query(pad, query);
    gst_query_unref(query);
  }
  return NULL;
}

/* Neighbors ask for the context from their own threads while the element comes and goes. */
GST_START_TEST(test_context_queries) {
  if (rv_cuda_devices(NULL, 0) == 0)
    return;
  gint stop = 0;
  GstElement *element = gst_element_factory_make("cudasgm", NULL);
  GstPad *pad = gst_element_get_static_pad(element, "sink");
  gst_util_set_object_arg(G_OBJECT(element), "engine", "cuda");
  g_object_set_data(G_OBJECT(pad), "stop", &stop);
  GThread *thread = g_thread_new("asks", ask_for_context, pad);
  for (int i = 0; i < 20; i++) {
    fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(element, GST_STATE_READY);
  }
  g_atomic_int_set(&stop, 1);
  g_thread_join(thread);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(pad);
  gst_object_unref(element);
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_property_names) TEST(test_engine_cuda) TEST(test_packing_of_open_size) \
  TEST(test_output_in_flight) TEST(test_nothing_fits) TEST(test_stubborn_pool) \
  TEST(test_huge_annotation) TEST(test_short_raster) TEST(test_context_queries)
/* clang-format on */

ELEMENT_TESTS(refusals, TESTS)
