/* SPDX-License-Identifier: MIT */
/* gststereotestsrc_truth.h: ground truth of the left view of stereotestsrc. */
#ifndef GST_STEREO_TEST_SRC_TRUTH_H
#define GST_STEREO_TEST_SRC_TRUTH_H

#include "roadvision-gst.h"
#include "scene/scene.h"

G_BEGIN_DECLS

/* Zeroed at first. */
typedef struct GstStereoTestTruth {
  RvMetaTruth meta;
  RvMetaMap map[6];
  int mapped;
  RvSceneFacts facts;
  float *free_space; /* width values */
} GstStereoTestTruth;

/* Rasters of the left image, mapped for writing. */
gboolean gst_stereo_test_truth_new(GstStereoTestTruth *truth, int width, int height,
                                   RvSceneTruth *planes);

/* The labels as RvSemanticsMeta of that many classes, as the output of a perfect network; before
 * the next. */
void gst_stereo_test_truth_attach_labels(GstStereoTestTruth *truth, int classes, GstBuffer *buffer);

/* All of it as RvTruthMeta. */
void gst_stereo_test_truth_attach(GstStereoTestTruth *truth, GstBuffer *buffer);

void gst_stereo_test_truth_clear(GstStereoTestTruth *truth);

G_END_DECLS
#endif
