/* SPDX-License-Identifier: MIT */
/* gstcudasgm_check.h: notices pairs that do not match, and finds out why. */
#ifndef GST_CUDA_SGM_CHECK_H
#define GST_CUDA_SGM_CHECK_H

#include "common/gstrvtransform.h"
#include "gstcudasgm_layout.h"
#include "sgm/sgm.h"

G_BEGIN_DECLS

/* Zeroed at first. */
typedef struct GstCudaSgmCheck {
  guint16 *sample; /* rows of the disparity, on the host */
  RvEngine engine; /* that writes it */
  int width, rows; /* of the sample of the current frame; rows 0: not sampled */
  guint frames, poor;
  gboolean right_first_by_caps;
  double valid_share; /* of the last sample, 0..1 */
} GstCudaSgmCheck;

/* What was matched in a frame. */
typedef struct GstCudaSgmPair {
  const RvPlane *left, *right; /* gray, in the memory of the engine */
  const GstCudaSgmViews *views;
  const RvSgmConfig *config;
} GstCudaSgmPair;

/* Starts with views of this size. `by_caps`: the caps or the aspect ratio determined the layout.
 * The device is current, for _clear too. */
RvStatus gst_cuda_sgm_check_init(GstCudaSgmCheck *check, const GstCudaSgmViews *views,
                                 gboolean by_caps, RvEngine engine);
void gst_cuda_sgm_check_clear(GstCudaSgmCheck *check);

/* Copies some rows of the disparity to the host: of every fifth frame, and of all frames when the
 * element posts messages. Enqueued. */
RvStatus gst_cuda_sgm_check_sample(GstCudaSgmCheck *check, GstRvTransform *element,
                                   const GstRvExecContext *work, const RvPlane *disparity);

/* After the wait: warns, once (bit `once` of gst_rv_transform_once), when 30 frames had a low match
 * rate, or when the first frame shows that the caps are wrong about the order of the views. */
void gst_cuda_sgm_check_frame(GstCudaSgmCheck *check, GstRvTransform *element,
                              const GstRvExecContext *work, const GstCudaSgmPair *pair, guint once);

G_END_DECLS
#endif
