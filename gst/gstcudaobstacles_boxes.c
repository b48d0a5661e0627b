/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles_boxes.c: regions of interest, and the distances of the boxes of others. */
#include "gstcudaobstacles_boxes.h"

#include <math.h>
#include <string.h>

#define OVERLAP 0.5   /* of the union: box and obstacle are the same thing */
#define BEYOND 100000 /* px: coordinates are limited to this, boxes may lie outside of the frame */

/* --- Reading --------------------------------------------------------------------------------- */

gboolean gst_cuda_obstacles_boxes_add(GstCudaObstaclesBoxes *boxes, const GstCudaObstaclesBox *box,
                                      double x, double y, double w, double h,
                                      const GstCudaObstaclesScale *scale) {
  if (boxes->count == RV_OBSTACLES_BOXES) {
    boxes->truncated = TRUE;
    return FALSE;
  }
  const double left = CLAMP(x * scale->x, -BEYOND, BEYOND);
  const double top = CLAMP(y * scale->y, -BEYOND, BEYOND);
  boxes->box[boxes->count] = *box;
  boxes->rect[boxes->count++] = (RvObstaclesRect){(int)floor(left), (int)floor(top),
                                                  (int)ceil(CLAMP(w * scale->x, 0, BEYOND)),
                                                  (int)ceil(CLAMP(h * scale->y, 0, BEYOND))};
  return TRUE;
}

static gboolean is_obstacle(GstVideoRegionOfInterestMeta *region) {
  return region->roi_type == g_quark_from_static_string(GST_CUDA_OBSTACLES_TYPE) &&
         gst_video_region_of_interest_meta_get_param(region, GST_CUDA_OBSTACLES_PARAM);
}

void gst_cuda_obstacles_boxes_read(GstCudaObstaclesBoxes *boxes, GstBuffer *buffer,
                                   const GstCudaObstaclesScale *scale) {
  gpointer state = NULL;
  GstMeta *meta;
  boxes->count = 0;
  boxes->truncated = FALSE;
  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                  GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *)meta;
    const GstCudaObstaclesBox box = {RV_DETECTION_ROI, region->id, region};
    if (!is_obstacle(region) && !gst_cuda_obstacles_boxes_add(boxes, &box, region->x, region->y,
                                                              region->w, region->h, scale))
      return;
  }
  gst_cuda_obstacles_analytics_read(boxes, buffer, scale);
}

/* --- Measuring ------------------------------------------------------------------------------- */

/* Intersection over union. */
static double overlap(const RvObstaclesRect *a, const RvObstacle *b) {
  const double left = MAX(a->x, b->x), right = MIN(a->x + (double)a->w, b->x + b->w);
  const double top = MAX(a->y, b->y), bottom = MIN(a->y + (double)a->h, b->y + b->h);
  if (right <= left || bottom <= top)
    return 0;
  const double both = (right - left) * (bottom - top);
  return both / ((double)a->w * a->h + (double)b->w * b->h - both);
}

void gst_cuda_obstacles_boxes_measure(const GstCudaObstaclesBoxes *boxes, int i,
                                      const RvObstaclesConfig *config,
                                      const RvObstaclesDepth *depth, const RvObstacle *obstacles,
                                      int count, const RvObstacle *followed,
                                      GstCudaObstaclesDepth *out) {
  const RvObstaclesRect *rect = &boxes->rect[i];
  const RvObstacle *best = NULL;
  double most = OVERLAP, lateral = 0;
  for (int k = 0; k < count; k++) {
    const double share = overlap(rect, &obstacles[k]);
    if (share > most) {
      most = share;
      best = &obstacles[k];
    }
  }
  const double distance = rv_obstacles_depth(config, rect, depth, &lateral);
  const RvObstacle *speed = best ? best : followed;
  memset(out, 0, sizeof *out);
  out->record = (RvDetection){
      .id = boxes->box[i].id,
      .distance = (float)distance,
      .lateral = (float)lateral,
      .velocity_z = speed->velocity_z,
      .ttc = speed->ttc,
      .obstacle = best ? best->id : 0,
      .valid = depth->valid,
      .confidence = speed->confidence,
      .source = (uint8_t)boxes->box[i].source,
  };
  out->is_matched = best != NULL;
  out->width = rect->w * distance / config->camera.focal;
  out->height = rect->h * distance / config->camera.focal;
  out->record.width = (float)out->width;
  out->record.height = (float)out->height;
}

/* --- Writing --------------------------------------------------------------------------------- */

static void set_depth(GstStructure *fields, const GstCudaObstaclesDepth *depth) {
  const RvDetection *r = &depth->record;
  gst_structure_set(fields, "distance", G_TYPE_DOUBLE, (double)r->distance, "lateral",
                    G_TYPE_DOUBLE, (double)r->lateral, "width", G_TYPE_DOUBLE, depth->width,
                    "height", G_TYPE_DOUBLE, depth->height, "velocity-z", G_TYPE_DOUBLE,
                    (double)r->velocity_z, "ttc", G_TYPE_DOUBLE, (double)r->ttc, "valid",
                    G_TYPE_DOUBLE, r->valid / 255.0, "obstacle", G_TYPE_UINT, (guint)r->obstacle,
                    NULL);
}

void gst_cuda_obstacles_boxes_write(const GstCudaObstaclesBoxes *boxes, int i, GstBuffer *out,
                                    const GstCudaObstaclesDepth *depth) {
  const GstCudaObstaclesBox *box = &boxes->box[i];
  if (box->source == RV_DETECTION_ANALYTICS) {
    gst_cuda_obstacles_analytics_write(out, box->id, depth);
    return;
  }
  GstStructure *fields =
      gst_video_region_of_interest_meta_get_param(box->region, GST_CUDA_OBSTACLES_DEPTH);
  if (!fields) {
    fields = gst_structure_new_empty(GST_CUDA_OBSTACLES_DEPTH);
    gst_video_region_of_interest_meta_add_param(box->region, fields);
  }
  set_depth(fields, depth);
}

/* --- Obstacles as boxes ---------------------------------------------------------------------- */

int gst_cuda_obstacles_boxes_px(double value) {
  return (int)floor(CLAMP(value, 0, BEYOND) + 0.5);
}

static gboolean remove_obstacle(GstBuffer *buffer, GstMeta **meta, gpointer unused) {
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      is_obstacle((GstVideoRegionOfInterestMeta *)*meta))
    *meta = NULL;
  return TRUE;
}

static void attach_region(GstBuffer *out, const RvObstacle *o, const GstCudaObstaclesScale *scale) {
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      out, GST_CUDA_OBSTACLES_TYPE, (guint)gst_cuda_obstacles_boxes_px(o->x / scale->x),
      (guint)gst_cuda_obstacles_boxes_px(o->y / scale->y),
      (guint)gst_cuda_obstacles_boxes_px(o->w / scale->x),
      (guint)gst_cuda_obstacles_boxes_px(o->h / scale->y));
  region->id = (gint)o->id;
  gst_video_region_of_interest_meta_add_param(
      region,
      gst_structure_new(GST_CUDA_OBSTACLES_PARAM, "distance", G_TYPE_DOUBLE, (double)o->distance,
                        "lateral", G_TYPE_DOUBLE, (double)o->lateral, "width", G_TYPE_DOUBLE,
                        (double)o->width, "height", G_TYPE_DOUBLE, (double)o->height, "velocity-z",
                        G_TYPE_DOUBLE, (double)o->velocity_z, "velocity-x", G_TYPE_DOUBLE,
                        (double)o->velocity_x, "ttc", G_TYPE_DOUBLE, (double)o->ttc, "confidence",
                        G_TYPE_DOUBLE, o->confidence / 255.0, NULL));
}

void gst_cuda_obstacles_boxes_attach(GstBuffer *out, const RvObstacle *obstacles, int count,
                                     const GstCudaObstaclesScale *scale, unsigned flags) {
  if (flags & GST_CUDA_OBSTACLES_ROI) {
    gst_buffer_foreach_meta(out, remove_obstacle, NULL);
    for (int i = 0; i < count; i++)
      attach_region(out, &obstacles[i], scale);
  }
  if (flags & GST_CUDA_OBSTACLES_ANALYTICS)
    gst_cuda_obstacles_analytics_attach(out, obstacles, count, scale);
}
