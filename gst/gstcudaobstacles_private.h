/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles_private.h: the element's state, shared by its files. */
#ifndef GST_CUDA_OBSTACLES_PRIVATE_H
#define GST_CUDA_OBSTACLES_PRIVATE_H

#include "common/gstrvcamera.h"
#include "common/gstrvdisparity.h"
#include "common/gstrvground.h"
#include "gstcudaobstacles.h"
#include "gstcudaobstacles_boxes.h"

G_BEGIN_DECLS

#define GST_CUDA_OBSTACLES_CAPACITY                                                                \
  (RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS) /* of the obstacles of a frame */

typedef struct GstCudaObstaclesSettings {
  RvObstaclesConfig config; /* size, camera, range, threads and log are set by the element */
  GstRvCameraSettings camera;
  double height, pitch; /* of the camera, m and degrees */
  RvGroundMode ground;
  int track, free_space, boxes;
  unsigned attach;
  double speed;    /* m/s; below 0: unknown */
  double yaw_rate; /* degrees/s */
  int scale;       /* values per px of GRAY16_LE frames */
} GstCudaObstaclesSettings;

/* Results of a frame in the memory of the engine and on the host; the columns follow. */
typedef struct GstCudaObstaclesFound {
  RvGroundSurface ground;
  RvObstaclesDepth depths[RV_OBSTACLES_BOXES];
  guint32 counts[2];
  RvObstacleBox boxes[RV_OBSTACLES_MAX];
} GstCudaObstaclesFound;

struct _GstCudaObstacles {
  GstRvTransform parent;

  GstCudaObstaclesSettings settings;  /* properties, guarded by the object lock */
  GstCudaObstaclesSettings requested; /* as of the last configure */

  RvObstaclesConfig used; /* of the object; width 0: not made yet */
  RvEngine engine;
  RvObstacles *object;
  RvObstaclesTracks *tracks;
  RvObstaclesTracks *box_tracks; /* of the boxes of others */
  GstCudaObstaclesFound *device; /* in the memory of the engine */
  RvObstaclesRect *rects;
  GstCudaObstaclesFound *found; /* on the host */
  int columns, column_width;
  GstBufferPool *lists, *spaces, *detections;

  GstRvDisparity disparity;
  GstRvFrame picture; /* mapped with a disparity that is not the frame itself */
  RvPlane gray;       /* of frames without a luma plane */
  GstRvInput records;
  GstRvGround ground;
  GstCudaObstaclesBoxes boxes;
  GstCudaObstaclesScale scale; /* px of the disparity per px of the frame */
  gboolean is_made;            /* the current frame has results */
  gboolean has_depths;         /* distances of boxes too */

  double time; /* of the current frame, s */
  int count;   /* obstacles of the current frame */
  RvObstacle obstacles[GST_CUDA_OBSTACLES_CAPACITY];
  int nearest;
  double area;
};

/* The free space follows the other results. */
static inline RvFreeColumn *gst_cuda_obstacles_columns(GstCudaObstaclesFound *found) {
  return (RvFreeColumn *)(void *)(found + 1);
}

/* Measures and tracks what was found, and attaches it to `out`. */
RvStatus gst_cuda_obstacles_attach(GstCudaObstacles *self, GstBuffer *out);

G_END_DECLS
#endif
