/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_objects.h: what the layers of obstacles, of the free space and of the view from
 * above share. */
#ifndef GST_CUDA_ANNOTATE_OBJECTS_H
#define GST_CUDA_ANNOTATE_OBJECTS_H

#include "gstcudaannotate_layer.h"

G_BEGIN_DECLS

/* Records of an annotation while they are mapped. */
typedef struct GstCudaAnnotateRecords {
  RvMetaMap map;
  gboolean mapped;
  const void *list; /* RvObstacle or RvFreeColumn */
  int count;
} GstCudaAnnotateRecords;

/* Maps `count` records of `size` bytes; RV_ERR_IO after a log line. */
static inline RvStatus gst_cuda_annotate_records_map(GstCudaAnnotateRecords *records,
                                                     const GstCudaAnnotateView *view,
                                                     GstBuffer *payload, int count) {
  if (count == 0)
    return RV_OK;
  if (!rv_meta_map_buffer(&records->map, payload, GST_MAP_READ)) {
    gst_rv_log_line(&view->work->log, "failed to map the obstacles or the free space of a frame");
    return RV_ERR_IO;
  }
  records->mapped = TRUE;
  records->list = records->map.info.data;
  records->count = count;
  return RV_OK;
}

static inline void gst_cuda_annotate_records_unmap(GstCudaAnnotateRecords *records) {
  if (records->mapped)
    rv_meta_unmap(&records->map);
  records->mapped = FALSE;
}

/* Maps `count` records and draws them with `draw`, which receives the struct `meta` of the
 * annotation. */
static inline RvStatus
gst_cuda_annotate_records_draw(const GstCudaAnnotateView *view, GstBuffer *payload, int count,
                               const void *meta,
                               RvStatus (*draw)(const void *list, int count, const void *meta,
                                                const GstCudaAnnotateView *view)) {
  GstCudaAnnotateRecords records = {.mapped = FALSE};
  RvStatus status = gst_cuda_annotate_records_map(&records, view, payload, count);
  if (status == RV_OK)
    status = draw(records.list, records.count, meta, view);
  gst_cuda_annotate_records_unmap(&records);
  return status;
}

/* Red in the path, yellow next to it; walls and what is overhead less prominent; half transparent
 * when it was not seen in this frame. */
static inline RvColor gst_cuda_annotate_obstacle_color(const RvObstacle *o) {
  static const RvColor in_path = {255, 64, 48, 255}, beside = {255, 214, 64, 255};
  static const RvColor wall = {190, 190, 200, 160}, above = {120, 190, 255, 200};
  RvColor color = o->kind == RV_OBSTACLE_OVERHANG    ? above
                  : (o->flags & RV_OBSTACLE_IN_PATH) ? in_path
                  : o->kind == RV_OBSTACLE_WALL      ? wall
                                                     : beside;
  if (o->state == RV_OBSTACLE_PREDICTED)
    color.a /= 2;
  return color;
}

G_END_DECLS
#endif
