/* SPDX-License-Identifier: MIT */
/* gststereotestsrc_truth.c: the rasters of the truth, rendered into and attached. */
#include "gststereotestsrc_truth.h"

#include <string.h>

void gst_stereo_test_truth_clear(GstStereoTestTruth *truth) {
  while (truth->mapped > 0)
    rv_meta_unmap(&truth->map[--truth->mapped]);
  gst_clear_buffer(&truth->meta.disparity);
  gst_clear_buffer(&truth->meta.labels);
  gst_clear_buffer(&truth->meta.road);
  gst_clear_buffer(&truth->meta.visible);
  gst_clear_buffer(&truth->meta.objects);
  gst_clear_buffer(&truth->meta.heights);
  g_clear_pointer(&truth->free_space, g_free);
}

gboolean gst_stereo_test_truth_new(GstStereoTestTruth *truth, int width, int height,
                                   RvSceneTruth *planes) {
  GstBuffer **buffers[6] = {&truth->meta.disparity, &truth->meta.labels,  &truth->meta.road,
                            &truth->meta.visible,   &truth->meta.objects, &truth->meta.heights};
  RvPlane *views[6] = {&planes->disparity, &planes->labels,  &planes->road,
                       &planes->visible,   &planes->objects, &planes->heights};
  truth->meta.width = width;
  truth->meta.height = height;
  truth->free_space = g_new0(float, (gsize)width);
  planes->free_space = truth->free_space;
  planes->facts = &truth->facts;
  for (int i = 0; i < 6; i++) {
    *buffers[i] = rv_meta_raster_new(i == 0 || i >= 4 ? RV_U16 : RV_U8, width, height);
    if (!rv_meta_map_buffer(&truth->map[i], *buffers[i], GST_MAP_WRITE)) {
      gst_stereo_test_truth_clear(truth);
      return FALSE;
    }
    truth->mapped++;
    *views[i] = truth->map[i].plane;
  }
  return TRUE;
}

static void unmap(GstStereoTestTruth *truth) {
  while (truth->mapped > 0)
    rv_meta_unmap(&truth->map[--truth->mapped]);
}

void gst_stereo_test_truth_attach_labels(GstStereoTestTruth *truth, int classes,
                                         GstBuffer *buffer) {
  unmap(truth);
  rv_meta_add_labels(buffer, truth->meta.width, truth->meta.height, classes,
                     gst_buffer_ref(truth->meta.labels));
}

static GstBuffer *copied(const void *records, int count, gsize size) {
  return count > 0 ? gst_buffer_new_memdup(records, (gsize)count * size) : gst_buffer_new();
}

void gst_stereo_test_truth_attach(GstStereoTestTruth *truth, GstBuffer *buffer) {
  const RvSceneFacts *facts = &truth->facts;
  RvMetaTruth *meta = &truth->meta;
  unmap(truth);
  meta->free_columns = meta->width;
  meta->object_count = facts->objects;
  meta->line_count = facts->lines;
  meta->free_space = copied(truth->free_space, meta->width, sizeof *truth->free_space);
  meta->object_list = copied(facts->object, facts->objects, sizeof *facts->object);
  meta->line_list = copied(facts->line, facts->lines, sizeof *facts->line);
  rv_meta_add_truth(buffer, &truth->meta);
  memset(&truth->meta, 0, sizeof truth->meta); /* taken over */
}
