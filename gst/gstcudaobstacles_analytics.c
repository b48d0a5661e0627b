/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles_analytics.c: object detections of GstAnalytics, a library that exists from
 * GStreamer 1.24 on; without it the functions do nothing. */
#include "gstcudaobstacles_boxes.h"

#if HAVE_GST_ANALYTICS

#  include <gst/analytics/analytics.h>

/* The distance has no Mtd of its own in GStreamer: ours relates to the detection. Its content is a
 * GstCudaObstaclesDepth. */
static const GstAnalyticsMtdImpl depth_impl = {.name = GST_CUDA_OBSTACLES_DEPTH};

static GstAnalyticsMtdType depth_type(void) {
  return (GstAnalyticsMtdType)&depth_impl;
}

gboolean gst_cuda_obstacles_analytics_is_supported(void) {
  return TRUE;
}

void gst_cuda_obstacles_analytics_read(GstCudaObstaclesBoxes *boxes, GstBuffer *buffer,
                                       const GstCudaObstaclesScale *scale) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  const GQuark own = g_quark_from_static_string(GST_CUDA_OBSTACLES_TYPE);
  gpointer state = NULL;
  GstAnalyticsODMtd detection;
  while (relations && gst_analytics_relation_meta_iterate(
                          relations, &state, gst_analytics_od_mtd_get_mtd_type(), &detection)) {
    gint x, y, w, h;
    gfloat confidence;
    const GstCudaObstaclesBox box = {RV_DETECTION_ANALYTICS, (gint)detection.id, NULL};
    if (gst_analytics_od_mtd_get_obj_type(&detection) == own ||
        !gst_analytics_od_mtd_get_location(&detection, &x, &y, &w, &h, &confidence))
      continue;
    if (!gst_cuda_obstacles_boxes_add(boxes, &box, x, y, w, h, scale))
      return;
  }
}

void gst_cuda_obstacles_analytics_write(GstBuffer *out, gint id,
                                        const GstCudaObstaclesDepth *depth) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(out);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;
  if (!relations)
    return;
  GstCudaObstaclesDepth *data = NULL;
  if (gst_analytics_relation_meta_get_direct_related(
          relations, (guint)id, GST_ANALYTICS_REL_TYPE_RELATE_TO, depth_type(), &state, &mtd))
    data = gst_analytics_relation_meta_get_mtd_data(relations, mtd.id);
  if (!data) {
    data = gst_analytics_relation_meta_add_mtd(relations, &depth_impl, sizeof *data, &mtd);
    if (!data)
      return;
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, (guint)id,
                                             mtd.id);
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, mtd.id,
                                             (guint)id);
  }
  *data = *depth;
}

/* A detection, its track, and its distance. */
static void attach_one(GstAnalyticsRelationMeta *relations, GstBuffer *out, const RvObstacle *o,
                       const GstCudaObstaclesScale *scale) {
  GstAnalyticsODMtd detection;
  GstAnalyticsTrackingMtd track;
  if (!gst_analytics_relation_meta_add_od_mtd(
          relations, g_quark_from_static_string(GST_CUDA_OBSTACLES_TYPE),
          gst_cuda_obstacles_boxes_px(o->x / scale->x),
          gst_cuda_obstacles_boxes_px(o->y / scale->y),
          gst_cuda_obstacles_boxes_px(o->w / scale->x),
          gst_cuda_obstacles_boxes_px(o->h / scale->y), (gfloat)o->confidence / 255, &detection))
    return;
  const GstCudaObstaclesDepth depth = {.record = {.id = (int32_t)detection.id,
                                                  .distance = o->distance,
                                                  .lateral = o->lateral,
                                                  .velocity_z = o->velocity_z,
                                                  .ttc = o->ttc,
                                                  .obstacle = o->id,
                                                  .confidence = o->confidence,
                                                  .source = RV_DETECTION_ANALYTICS,
                                                  .width = o->width,
                                                  .height = o->height},
                                       .width = o->width,
                                       .height = o->height};
  gst_cuda_obstacles_analytics_write(out, (gint)detection.id, &depth);
  /* Frames since the first hit are known, not its time: the frame's own time is the last seen. */
  if (o->id == 0 ||
      !gst_analytics_relation_meta_add_tracking_mtd(relations, o->id, GST_BUFFER_PTS(out), &track))
    return;
  if (o->state == RV_OBSTACLE_PREDICTED)
    gst_analytics_tracking_mtd_set_lost(&track);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, track.id,
                                           detection.id);
}

void gst_cuda_obstacles_analytics_attach(GstBuffer *out, const RvObstacle *obstacles, int count,
                                         const GstCudaObstaclesScale *scale) {
  const GstAnalyticsRelationMetaInitParams sizes = {(gsize)(3 * count + 4), 4096};
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta_full(
      out, (GstAnalyticsRelationMetaInitParams *)&sizes);
  for (int i = 0; relations && i < count; i++)
    attach_one(relations, out, &obstacles[i], scale);
}

#else

gboolean gst_cuda_obstacles_analytics_is_supported(void) {
  return FALSE;
}

void gst_cuda_obstacles_analytics_read(GstCudaObstaclesBoxes *boxes, GstBuffer *buffer,
                                       const GstCudaObstaclesScale *scale) {
  (void)boxes, (void)buffer, (void)scale;
}

void gst_cuda_obstacles_analytics_write(GstBuffer *out, gint id,
                                        const GstCudaObstaclesDepth *depth) {
  (void)out, (void)id, (void)depth;
}

void gst_cuda_obstacles_analytics_attach(GstBuffer *out, const RvObstacle *obstacles, int count,
                                         const GstCudaObstaclesScale *scale) {
  (void)out, (void)obstacles, (void)count, (void)scale;
}

#endif
