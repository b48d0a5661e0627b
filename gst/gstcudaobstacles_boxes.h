/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles_boxes.h: boxes on the buffer in the form of other software: regions of interest
 * (GstVideoRegionOfInterestMeta), and object detections of GstAnalytics (GStreamer 1.24). Boxes of
 * other elements are read and get their distance; obstacles are attached as boxes. */
#ifndef GST_CUDA_OBSTACLES_BOXES_H
#define GST_CUDA_OBSTACLES_BOXES_H

#include <gst/video/video.h>

#include "gstrvconfig.h"
#include "obstacles/obstacles.h"

G_BEGIN_DECLS

#define GST_CUDA_OBSTACLES_TYPE "obstacle"     /* of regions and detections that are obstacles */
#define GST_CUDA_OBSTACLES_PARAM "rv-obstacle" /* their parameters */
#define GST_CUDA_OBSTACLES_DEPTH "rv-depth"    /* what is added to the boxes of others */

/* How obstacles are attached; flags. */
enum { GST_CUDA_OBSTACLES_ROI = 1, GST_CUDA_OBSTACLES_ANALYTICS = 2 };

/* One box of another element. */
typedef struct GstCudaObstaclesBox {
  RvDetectionSource source;
  gint id;                              /* of the region or of the Mtd */
  GstVideoRegionOfInterestMeta *region; /* of RV_DETECTION_ROI; owned by the buffer */
} GstCudaObstaclesBox;

typedef struct GstCudaObstaclesBoxes {
  int count;
  gboolean truncated; /* there were more than RV_OBSTACLES_BOXES */
  GstCudaObstaclesBox box[RV_OBSTACLES_BOXES];
  RvObstaclesRect rect[RV_OBSTACLES_BOXES]; /* px of the disparity */
} GstCudaObstaclesBoxes;

/* Pixels of the disparity per pixel of the frame. */
typedef struct GstCudaObstaclesScale {
  double x, y;
} GstCudaObstaclesScale;

/* What is known of a box. */
typedef struct GstCudaObstaclesDepth {
  RvDetection record;
  double width, height; /* m; 0 = unknown */
  gboolean is_matched;  /* with an obstacle */
} GstCudaObstaclesDepth;

/* Reads the boxes of `buffer` that are not obstacles of this element. */
void gst_cuda_obstacles_boxes_read(GstCudaObstaclesBoxes *boxes, GstBuffer *buffer,
                                   const GstCudaObstaclesScale *scale);

/* Distance, size and speed of box `i`: from its disparity, and from the obstacle that it overlaps
 * with most, by more than half of their union; without one, from its own track `followed`. */
void gst_cuda_obstacles_boxes_measure(const GstCudaObstaclesBoxes *boxes, int i,
                                      const RvObstaclesConfig *config,
                                      const RvObstaclesDepth *depth, const RvObstacle *obstacles,
                                      int count, const RvObstacle *followed,
                                      GstCudaObstaclesDepth *out);

/* Adds what is known to box `i`, where its owner looks: a parameter of the region, or an Mtd that
 * relates to the detection. `out` is writable. */
void gst_cuda_obstacles_boxes_write(const GstCudaObstaclesBoxes *boxes, int i, GstBuffer *out,
                                    const GstCudaObstaclesDepth *depth);

/* Attaches the obstacles as boxes, in place of those of an earlier element of this kind. */
void gst_cuda_obstacles_boxes_attach(GstBuffer *out, const RvObstacle *obstacles, int count,
                                     const GstCudaObstaclesScale *scale, unsigned flags);

/* --- gstcudaobstacles_analytics.c; without GStreamer 1.24 these do nothing -------------------- */

gboolean gst_cuda_obstacles_analytics_is_supported(void);
void gst_cuda_obstacles_analytics_read(GstCudaObstaclesBoxes *boxes, GstBuffer *buffer,
                                       const GstCudaObstaclesScale *scale);
void gst_cuda_obstacles_analytics_write(GstBuffer *out, gint id,
                                        const GstCudaObstaclesDepth *depth);
void gst_cuda_obstacles_analytics_attach(GstBuffer *out, const RvObstacle *obstacles, int count,
                                         const GstCudaObstaclesScale *scale);

/* Adds a box in px of the frame; FALSE if the list is full. */
gboolean gst_cuda_obstacles_boxes_add(GstCudaObstaclesBoxes *boxes, const GstCudaObstaclesBox *box,
                                      double x, double y, double w, double h,
                                      const GstCudaObstaclesScale *scale);

/* A number of px as the frame has them. */
int gst_cuda_obstacles_boxes_px(double value);

G_END_DECLS
#endif
