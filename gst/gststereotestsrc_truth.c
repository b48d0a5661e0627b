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
}

gboolean gst_stereo_test_truth_new(GstStereoTestTruth *truth, int width, int height,
                                   RvSceneTruth *planes) {
  GstBuffer **buffers[4] = {&truth->meta.disparity, &truth->meta.labels, &truth->meta.road,
                            &truth->meta.visible};
  RvPlane *views[4] = {&planes->disparity, &planes->labels, &planes->road, &planes->visible};
  truth->meta.width = width;
  truth->meta.height = height;
  for (int i = 0; i < 4; i++) {
    *buffers[i] = rv_meta_raster_new(i == 0 ? RV_U16 : RV_U8, width, height);
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

void gst_stereo_test_truth_attach_labels(GstStereoTestTruth *truth, GstBuffer *buffer) {
  unmap(truth);
  rv_meta_add_labels(buffer, truth->meta.width, truth->meta.height, RV_LABELS,
                     gst_buffer_ref(truth->meta.labels));
}

void gst_stereo_test_truth_attach(GstStereoTestTruth *truth, GstBuffer *buffer) {
  unmap(truth);
  rv_meta_add_truth(buffer, &truth->meta);
  memset(&truth->meta, 0, sizeof truth->meta); /* taken over */
}
