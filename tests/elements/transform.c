/* SPDX-License-Identifier: MIT */
/* transform.c: what the base class promises of every element, seen through cudaannotate, which
 * draws on the image that flows through. */
#include "element_test.h"

#include <string.h>

static GstBuffer *annotated_image(const GstVideoInfo *info) {
  GstBuffer *buffer = test_pair_new(info, FALSE, FALSE, 0, 5);
  const int w = GST_VIDEO_INFO_WIDTH(info), h = GST_VIDEO_INFO_HEIGHT(info);
  RvMetaDisparity meta = {w, h, 16, 0, 64, rv_meta_raster_new(RV_U16, w, h), NULL};
  RvMetaMap map;
  fail_unless(rv_meta_map_buffer(&map, meta.payload, GST_MAP_WRITE));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      ((guint16 *)((char *)map.plane.data + y * map.plane.stride))[x] =
          (guint16)(1 + 16 * (x % 60));
  rv_meta_unmap(&map);
  rv_meta_add_disparity(buffer, &meta);
  GST_BUFFER_PTS(buffer) = 777;
  return buffer;
}

static GstHarness *new_harness(const char *line, GstVideoInfo *info) {
  GstHarness *harness = gst_harness_new_parse(line);
  test_set_caps(harness, "NV12", 161, 121, NULL, info);
  return harness;
}

/* An image that nobody else holds is drawn on where it is. */
GST_START_TEST(test_own_image) {
  GstVideoInfo info;
  GstHarness *harness = new_harness("cudaannotate engine=cpu", &info);
  GstBuffer *buffer = annotated_image(&info);
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  GstBuffer *before = gst_buffer_copy_deep(buffer);
  GstBuffer *drawn = gst_harness_push_and_pull(harness, buffer);
  fail_unless(gst_buffer_peek_memory(drawn, 0) == memory);
  GstMapInfo a, b;
  fail_unless(gst_buffer_map(before, &a, GST_MAP_READ) && gst_buffer_map(drawn, &b, GST_MAP_READ));
  fail_if(memcmp(a.data, b.data, a.size) == 0);
  gst_buffer_unmap(before, &a);
  gst_buffer_unmap(drawn, &b);
  gst_buffer_unref(before);
  test_drop(harness, drawn);
}
GST_END_TEST

/* One that others hold stays as it is; the copy has the same drawing, times and annotations. */
GST_START_TEST(test_shared_image) {
  GstVideoInfo info;
  GstHarness *harness = new_harness("cudaannotate engine=cpu", &info);
  GstBuffer *alone = annotated_image(&info);
  GstBuffer *shared = annotated_image(&info);
  GstBuffer *untouched = gst_buffer_copy_deep(shared);
  GstBuffer *kept = gst_buffer_ref(shared);
  GstBuffer *expected = gst_harness_push_and_pull(harness, alone);
  GstBuffer *drawn = gst_harness_push_and_pull(harness, shared);
  fail_unless(drawn != kept && GST_BUFFER_PTS(drawn) == 777);
  RvMetaDisparity meta, kept_meta;
  fail_unless(rv_meta_get_disparity(drawn, &meta) && rv_meta_get_disparity(kept, &kept_meta));
  fail_unless(meta.payload == kept_meta.payload);
  GstVideoFrame a, b;
  fail_unless(gst_video_frame_map(&a, &info, untouched, GST_MAP_READ) &&
              gst_video_frame_map(&b, &info, kept, GST_MAP_READ));
  for (int p = 0; p < 2; p++)
    for (int y = 0; y < (p ? 61 : 121); y++)
      fail_unless(
          memcmp(
              (char *)GST_VIDEO_FRAME_PLANE_DATA(&a, p) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&a, p),
              (char *)GST_VIDEO_FRAME_PLANE_DATA(&b, p) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&b, p),
              p ? 162 : 161) == 0,
          "the shared picture was drawn on: plane %d, row %d", p, y);
  gst_video_frame_unmap(&a);
  gst_video_frame_unmap(&b);
  guint8 *one = test_gray(expected, &info, 0, 0, 161, 121);
  guint8 *two = test_gray(drawn, &info, 0, 0, 161, 121);
  fail_unless(memcmp(one, two, 161 * 121) == 0);
  g_free(one);
  g_free(two);
  gst_buffer_unref(untouched);
  gst_buffer_unref(kept);
  gst_buffer_unref(expected);
  test_drop(harness, drawn);
}
GST_END_TEST

/* Every element has the common properties, with these defaults. */
GST_START_TEST(test_common_properties) {
  static const char *const names[] = {"cudasgm", "cudaannotate"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    GstElement *element = gst_element_factory_make(names[i], NULL);
    fail_unless(element != NULL);
    gint engine = -1, threads = -1, device = 0;
    gboolean post = TRUE, qos = TRUE;
    GstStructure *stats = NULL;
    g_object_get(element, "engine", &engine, "threads", &threads, "cuda-device-id", &device,
                 "post-messages", &post, "qos", &qos, "stats", &stats, NULL);
    fail_unless(engine == 0 && threads == 0 && device == -1 && !post && !qos, "%s", names[i]);
    fail_unless(gst_structure_has_field_typed(stats, "frames", G_TYPE_UINT64) &&
                gst_structure_has_field_typed(stats, "mean-us", G_TYPE_DOUBLE) &&
                gst_structure_has_field_typed(stats, "last-us", G_TYPE_DOUBLE) &&
                gst_structure_has_field_typed(stats, "engine", G_TYPE_STRING));
    gst_structure_free(stats);
    gst_object_unref(element);
  }
}
GST_END_TEST

/* The number of threads changes nothing but the time. */
GST_START_TEST(test_threads) {
  guint8 *first = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    char *line = g_strdup_printf("cudaannotate engine=cpu threads=%d", threads);
    GstVideoInfo info;
    GstHarness *harness = new_harness(line, &info);
    GstBuffer *drawn = gst_harness_push_and_pull(harness, annotated_image(&info));
    guint8 *gray = test_gray(drawn, &info, 0, 0, 161, 121);
    if (first)
      fail_unless(memcmp(first, gray, 161 * 121) == 0);
    if (!first)
      first = g_steal_pointer(&gray);
    g_free(gray);
    test_drop(harness, drawn);
    g_free(line);
  }
  g_free(first);
}
GST_END_TEST

/* What caps of one pad become on the other, and whether CUDA memory (or system memory) is among it. */
static gboolean becomes(GstElement *element, GstPadDirection direction, gboolean from_cuda,
                        gboolean to_cuda) {
  GstBaseTransform *trans = GST_BASE_TRANSFORM(element);
  GstCaps *caps = gst_caps_from_string(
      from_cuda ? "video/x-raw(memory:CUDAMemory),format=NV12,width=640,height=240,framerate=30/1"
                : "video/x-raw,format=NV12,width=640,height=240,framerate=30/1");
  GstCaps *other =
      GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(trans, direction, caps, NULL);
  gboolean found = FALSE;
  for (guint i = 0; i < gst_caps_get_size(other); i++)
    found |=
        gst_caps_features_contains(gst_caps_get_features(other, i), "memory:CUDAMemory") == to_cuda;
  gst_caps_unref(other);
  gst_caps_unref(caps);
  return found;
}

static gboolean has_cuda_template(GstElement *element) {
  GstPad *pad = gst_element_get_static_pad(element, "src");
  GstCaps *caps = gst_pad_get_pad_template_caps(pad);
  gboolean has = FALSE;
  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    has |= gst_caps_features_contains(gst_caps_get_features(caps, i), "memory:CUDAMemory");
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return has;
}

/* Elements that read pairs can bring them to the GPU, the one that draws can bring frames back, with
 * engine=cpu and in builds without CUDA caps none of them; the memory of the input stays possible. */
GST_START_TEST(test_memory_change) {
  static const struct {
    const char *name;
    gboolean uploads, downloads;
  } cases[] = {{"cudasgm", TRUE, FALSE},
               {"cudarectify", TRUE, FALSE},
               {"cudaannotate", FALSE, TRUE},
               {"cudastixels", FALSE, FALSE},
               {"cudahough", FALSE, FALSE}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (int engine = 0; engine < 2; engine++) { /* auto, cpu */
      GstElement *element = gst_element_factory_make(cases[i].name, NULL);
      g_object_set(element, "engine", engine, NULL);
      const gboolean can = has_cuda_template(element) && engine == 0;
      fail_unless(becomes(element, GST_PAD_SINK, FALSE, TRUE) == (can && cases[i].uploads));
      fail_unless(becomes(element, GST_PAD_SRC, TRUE, FALSE) == (can && cases[i].uploads));
      fail_unless(becomes(element, GST_PAD_SINK, TRUE, FALSE) == (can && cases[i].downloads));
      fail_unless(becomes(element, GST_PAD_SRC, FALSE, TRUE) == (can && cases[i].downloads));
      fail_unless(becomes(element, GST_PAD_SINK, FALSE, FALSE) &&
                  becomes(element, GST_PAD_SRC, FALSE, FALSE) &&
                  becomes(element, GST_PAD_SINK, TRUE, TRUE) &&
                  becomes(element, GST_PAD_SRC, TRUE, TRUE));
      gst_object_unref(element);
    }
  }
}
GST_END_TEST

/* clang-format off */
#define TESTS(TEST, LOOP) \
  TEST(test_own_image) TEST(test_shared_image) TEST(test_common_properties) \
  TEST(test_threads) TEST(test_memory_change)
/* clang-format on */

ELEMENT_TESTS(transform, TESTS)
