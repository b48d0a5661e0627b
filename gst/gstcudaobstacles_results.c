/* SPDX-License-Identifier: MIT */
/* gstcudaobstacles_results.c: from the boxes of the engine to annotations. */
#include <string.h>

#include "gstcudaobstacles_private.h"

#define FARTHEST 2.0 /* px of disparity: maximum range of cuda/obstacles */

/* Both kinds of tracks; the properties may have changed since configure. */
static void set_motion(GstCudaObstacles *self) {
  GST_OBJECT_LOCK(self);
  const double speed = self->settings.speed, yaw_rate = self->settings.yaw_rate * G_PI / 180;
  GST_OBJECT_UNLOCK(self);
  rv_obstacles_tracks_set_speed(self->tracks, speed, speed >= 0);
  rv_obstacles_tracks_set_speed(self->box_tracks, speed, speed >= 0);
  rv_obstacles_tracks_set_yaw_rate(self->tracks, yaw_rate);
  rv_obstacles_tracks_set_yaw_rate(self->box_tracks, yaw_rate);
}

/* Meters and tracks; `from`: index of each box among the obstacles. */
static RvStatus measure(GstCudaObstacles *self, int *from) {
  const GstCudaObstaclesFound *found = self->found;
  int indices[GST_CUDA_OBSTACLES_CAPACITY];
  const int count = (int)MIN(found->counts[0], RV_OBSTACLES_MAX);
  for (int i = 0; i < count; i++) {
    rv_obstacles_measure(&self->used, &found->ground, &found->boxes[i], &self->obstacles[i]);
    from[i] = i;
  }
  self->count = count;
  if (!self->requested.track)
    return RV_OK;
  set_motion(self);
  const RvStatus status = rv_obstacles_track(self->tracks, self->time, self->obstacles, count,
                                             GST_CUDA_OBSTACLES_CAPACITY, &self->count, indices);
  for (int i = 0; status == RV_OK && i < self->count; i++)
    if (indices[i] >= 0)
      from[indices[i]] = i;
  return status;
}

static double range_of(const RvObstaclesConfig *c) {
  const double farthest = c->camera.focal * c->camera.baseline / FARTHEST;
  return c->max_distance > 0 && c->max_distance < farthest ? c->max_distance : farthest;
}

static void attach_obstacles(GstCudaObstacles *self, GstBuffer *out) {
  const RvObstaclesConfig *used = &self->used;
  RvMetaObstacles meta = {
      .width = used->width,
      .height = used->height,
      .count = self->count,
      .nearest = -1,
      .min_height = used->min_height,
      .clearance = used->clearance,
      .max_range = range_of(used),
  };
  for (int i = 0; i < self->count; i++) {
    const RvObstacle *o = &self->obstacles[i];
    meta.tracked += o->id != 0;
    if (meta.nearest < 0 && (o->flags & RV_OBSTACLE_IN_PATH) && o->kind != RV_OBSTACLE_OVERHANG)
      meta.nearest = i;
  }
  self->nearest = meta.nearest;
  meta.payload =
      gst_rv_payload_of(self->lists, self->obstacles, (gsize)self->count * sizeof *self->obstacles);
  rv_meta_add_obstacles(out, &meta);
}

static void attach_free_space(GstCudaObstacles *self, const int *from, GstBuffer *out) {
  RvFreeColumn *columns = gst_cuda_obstacles_columns(self->found);
  self->area = rv_obstacles_free_area(&self->used, columns);
  for (int k = 0; k < self->columns; k++)
    if (columns[k].obstacle < RV_OBSTACLES_MAX)
      columns[k].obstacle = (guint16)from[columns[k].obstacle];
  const RvMetaFreeSpace meta = {
      .width = self->used.width,
      .height = self->used.height,
      .columns = self->columns,
      .column_width = self->column_width,
      .area = self->area,
      .payload = gst_rv_payload_of(self->spaces, columns, (gsize)self->columns * sizeof *columns),
  };
  rv_meta_add_free_space(out, &meta);
}

/* Follows the boxes themselves, for those that are no obstacle of ours. Only in frames that have boxes:
 * detectors may skip frames. `found`: one per box, without a track all 0. */
static RvStatus track_boxes(GstCudaObstacles *self, RvObstacle *found) {
  RvObstacle list[GST_CUDA_OBSTACLES_CAPACITY];
  int indices[GST_CUDA_OBSTACLES_CAPACITY], total = 0;
  const int count = self->boxes.count;
  memset(found, 0, (gsize)count * sizeof *found);
  if (!self->requested.track)
    return RV_OK;
  for (int i = 0; i < count; i++)
    rv_obstacles_measure_rect(&self->used, &self->boxes.rect[i], &self->found->depths[i], &list[i]);
  const RvStatus status = rv_obstacles_track(self->box_tracks, self->time, list, count,
                                             GST_CUDA_OBSTACLES_CAPACITY, &total, indices);
  for (int k = 0; status == RV_OK && k < total; k++)
    if (indices[k] >= 0 && list[k].id)
      found[indices[k]] = list[k];
  return status;
}

static RvStatus attach_detections(GstCudaObstacles *self, GstBuffer *out) {
  RvDetection records[RV_OBSTACLES_BOXES];
  RvObstacle followed[RV_OBSTACLES_BOXES];
  const int count = self->boxes.count;
  RvMetaDetections meta = {.width = self->used.width, .height = self->used.height, .count = count};
  const RvStatus status = track_boxes(self, followed);
  if (status != RV_OK)
    return status;
  for (int i = 0; i < count; i++) {
    GstCudaObstaclesDepth depth;
    gst_cuda_obstacles_boxes_measure(&self->boxes, i, &self->used, &self->found->depths[i],
                                     self->obstacles, self->count, &followed[i], &depth);
    gst_cuda_obstacles_boxes_write(&self->boxes, i, out, &depth);
    records[i] = depth.record;
    meta.unmatched += !depth.is_matched;
  }
  meta.payload = gst_rv_payload_of(self->detections, records, (gsize)count * sizeof *records);
  rv_meta_add_detections(out, &meta);
  return RV_OK;
}

RvStatus gst_cuda_obstacles_attach(GstCudaObstacles *self, GstBuffer *out) {
  int from[RV_OBSTACLES_MAX];
  RvStatus status = measure(self, from);
  if (status != RV_OK)
    return status;
  gst_rv_ground_attach(&self->ground, &self->found->ground, out);
  attach_obstacles(self, out);
  if (self->requested.free_space)
    attach_free_space(self, from, out);
  if (self->has_depths)
    status = attach_detections(self, out);
  gst_cuda_obstacles_boxes_attach(out, self->obstacles, self->count, &self->scale,
                                  self->requested.attach);
  return status;
}
