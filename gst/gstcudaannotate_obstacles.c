/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_obstacles.c: the layer of RvObstaclesMeta: a box for each obstacle, with its
 * distance, id and time to collision. */
#include <math.h>

#include "gstcudaannotate_objects.h"

#define BOXES 96  /* nearest ones; each takes four shapes */
#define LABELS 24 /* each takes a rectangle and a shape per character */
#define TEXT_LENGTH 32

typedef struct Label {
  int x, y, width;
  char text[TEXT_LENGTH];
  RvColor color;
} Label;

typedef struct Labels {
  int count, size;
  Label list[LABELS];
} Labels;

static gboolean overlaps(const Labels *labels, const Label *label) {
  for (int i = 0; i < labels->count; i++) {
    const Label *other = &labels->list[i];
    if (label->x < other->x + other->width && other->x < label->x + label->width &&
        abs(label->y - other->y) < labels->size)
      return TRUE;
  }
  return FALSE;
}

/* Above the box, else inside; a label that would hide one of a nearer obstacle is omitted. */
static void add_label(Labels *labels, const RvObstacle *o, const GstCudaAnnotateView *view,
                      const int box[4]) {
  Label label;
  char id[TEXT_LENGTH] = "", ttc[TEXT_LENGTH] = "";
  const gboolean is_quiet = o->kind == RV_OBSTACLE_WALL || o->kind == RV_OBSTACLE_OVERHANG;
  if (labels->count == LABELS || (is_quiet && !(o->flags & RV_OBSTACLE_IN_PATH)))
    return;
  if (o->id)
    g_snprintf(id, sizeof id, "#%u ", o->id);
  if (o->ttc > 0)
    g_snprintf(ttc, sizeof ttc, " %.1f s", (double)o->ttc);
  g_snprintf(label.text, sizeof label.text, "%s%.1f m%s", id, (double)o->distance, ttc);
  label.color = gst_cuda_annotate_obstacle_color(o);
  label.width = rv_draw_text_width(labels->size, label.text) + labels->size / 2;
  label.x = CLAMP(box[0], 0, MAX(view->picture->width - label.width, 0));
  label.y = box[1] >= labels->size ? box[1] - labels->size : box[1];
  if (!overlaps(labels, &label))
    labels->list[labels->count++] = label;
}

static RvStatus draw_box(const RvObstacle *o, const GstCudaAnnotateView *view, const int box[4]) {
  const RvColor color = gst_cuda_annotate_obstacle_color(o);
  const int l = 16 * box[0], t = 16 * box[1], r = 16 * box[2], b = 16 * box[3];
  const int corners[5][2] = {{l, t}, {r, t}, {r, b}, {l, b}, {l, t}};
  RvStatus status = RV_OK;
  for (int k = 0; k < 4 && status == RV_OK; k++)
    status = rv_draw_line(view->draw, corners[k][0], corners[k][1], corners[k + 1][0],
                          corners[k + 1][1], view->thickness_fx, color);
  return status;
}

static RvStatus draw_labels(const Labels *labels, const GstCudaAnnotateView *view) {
  static const RvColor ink = {16, 16, 20, 255}, none = {0, 0, 0, 0};
  RvStatus status = RV_OK;
  for (int i = 0; i < labels->count && status == RV_OK; i++) {
    const Label *label = &labels->list[i];
    status = rv_draw_rect(view->draw, label->x, label->y, label->width, labels->size, label->color);
    if (status == RV_OK)
      status = rv_draw_text(view->draw, label->x + labels->size / 4, label->y + labels->size / 12,
                            labels->size, ink, none, label->text);
  }
  return status;
}

/* Boxes from far to near; labels, the nearest first, over all boxes. */
static RvStatus draw_list(const void *records, int count, const void *annotation,
                          const GstCudaAnnotateView *view) {
  const RvObstacle *list = records;
  const RvMetaObstacles *meta = annotation;
  const GstCudaAnnotateFit fit = gst_cuda_annotate_fit(view, meta->width, meta->height);
  Labels labels = {.size = CLAMP(MIN(fit.height / 26, fit.width / 42), RV_DRAW_TEXT_MIN * 2, 48)};
  RvStatus status = RV_OK;
  int boxes[BOXES][4];
  for (int i = 0; i < count; i++) {
    const RvObstacle *o = &list[i];
    boxes[i][0] = (int)CLAMP(o->x * fit.sx, 0, fit.width);
    boxes[i][1] = (int)CLAMP(o->y * fit.sy, 0, fit.height);
    boxes[i][2] = (int)CLAMP((o->x + o->w) * fit.sx, 0, fit.width);
    boxes[i][3] = (int)CLAMP((o->y + o->h) * fit.sy, 0, fit.height);
    add_label(&labels, o, view, boxes[i]);
  }
  for (int i = count - 1; i >= 0 && status == RV_OK; i--)
    status = draw_box(&list[i], view, boxes[i]);
  return status == RV_OK ? draw_labels(&labels, view) : status;
}

static RvStatus draw(GstRvInput *input, const GstCudaAnnotateView *view) {
  RvMetaObstacles meta;
  (void)input;
  if (!rv_meta_get_obstacles(view->buffer, &meta))
    return RV_OK;
  return gst_cuda_annotate_records_draw(view, meta.payload, MIN(meta.count, BOXES), &meta,
                                        draw_list);
}

const GstCudaAnnotateLayer gst_cuda_annotate_obstacles_layer = {
    .annotation = RV_META_OBSTACLES,
    .draw = draw,
};
