/* SPDX-License-Identifier: MIT */
/* obstacles_measure.c: meters of boxes, of the free space and of foreign boxes. Host only. */
#include <math.h>
#include <string.h>

#include "obstacles/obstacles.h"
#include "rv_hd.h"

#define DISPARITY_SIGMA 0.25 /* px: semi-global matching prefers integer disparities */
#define SIGMA_FLOOR 0.1      /* m */
#define POLE_WIDTH 0.4       /* m */
#define POLE_HEIGHT 1.5
#define WALL_WIDTH 6.0 /* m: wider or longer than any car */
#define WALL_LENGTH 8.0
#define GROUNDED 0.5 /* m: lower boxes stand on the ground */

static double depth_of(const RvObstaclesConfig *c, double d) {
  return d > 0 ? c->camera.focal * c->camera.baseline / d : 0;
}

/* Standard deviation of a distance, m. */
static double sigma_of(const RvObstaclesConfig *c, double z) {
  return DISPARITY_SIGMA * z * z / (c->camera.focal * c->camera.baseline) + SIGMA_FLOOR;
}

static int kind_of(const RvObstaclesConfig *c, const RvObstacle *o, int is_over) {
  if (is_over || o->bottom > c->clearance)
    return RV_OBSTACLE_OVERHANG;
  if (o->bottom + o->height < 0.3)
    return RV_OBSTACLE_LOW;
  if (o->width > WALL_WIDTH || o->length > WALL_LENGTH)
    return RV_OBSTACLE_WALL;
  if (o->width < POLE_WIDTH && o->height > POLE_HEIGHT)
    return RV_OBSTACLE_POLE;
  return RV_OBSTACLE_OBJECT;
}

/* Votes of a box against those that a solid one of its size has, and its valid pixels. */
static int confidence_of(const RvObstaclesConfig *c, const RvObstacleBox *box,
                         const RvObstacle *o) {
  const double d = box->near_d / 256.0, row = d / c->camera.baseline;
  const double tall = o->height < 1 ? o->height * row : row;
  const double solid = 0.5 * (box->right - box->left + 1) * (tall > 4 ? tall : 4);
  const double share = solid > 0 ? box->votes / solid : 0;
  return (int)((share < 1 ? share : 1) * box->valid);
}

static int is_in_path(const RvObstaclesConfig *c, const RvObstacle *o) {
  const double beside = o->lateral < 0 ? -o->lateral : o->lateral;
  return o->kind != RV_OBSTACLE_OVERHANG && beside <= 0.5 * (c->path_width + o->width);
}

void rv_obstacles_measure(const RvObstaclesConfig *c, const RvGroundSurface *ground,
                          const RvObstacleBox *box, RvObstacle *o) {
  const RvCamera *camera = &c->camera;
  const double d = box->near_d / 256.0, z = depth_of(c, d), far = depth_of(c, box->far_d / 256.0);
  const double scale = d > 0 ? camera->baseline / d : 0; /* m per px */
  const double middle = 0.5 * (box->left + box->right);
  const double floor_row = rv_ground_row(ground, camera, d - camera->doffs, middle);
  memset(o, 0, sizeof *o);
  o->distance = (float)z;
  o->lateral = (float)((middle - camera->cx) * scale);
  o->width = (float)((box->right - box->left + 1) * scale);
  const double bottom = (floor_row - box->bottom) * scale, top = (floor_row - box->top) * scale;
  const int stands = !box->over && bottom < GROUNDED;
  o->bottom = (float)(stands ? 0 : bottom);
  o->height = (float)(top - (stands ? 0 : bottom));
  o->length = (float)(far > z ? far - z : 0);
  o->distance_sigma = (float)sigma_of(c, z);
  const double last = stands ? floor_row : box->bottom;
  const int low = (int)(last < 0 ? 0 : last > c->height - 1 ? c->height - 1 : last);
  o->x = (uint16_t)box->left;
  o->y = (uint16_t)box->top;
  o->w = (uint16_t)(box->right - box->left + 1);
  o->h = (uint16_t)(rv_max(low, box->bottom) - box->top + 1);
  o->kind = (uint8_t)kind_of(c, o, box->over);
  o->confidence = (uint8_t)confidence_of(c, box, o);
  o->state = RV_OBSTACLE_NEW;
  o->flags = (uint8_t)((box->left == 0 ? RV_OBSTACLE_CUT_LEFT : 0) |
                       (box->right >= c->width - 2 ? RV_OBSTACLE_CUT_RIGHT : 0) |
                       (o->y + o->h >= c->height ? RV_OBSTACLE_CUT_BELOW : 0) |
                       (is_in_path(c, o) ? RV_OBSTACLE_IN_PATH : 0));
}

double rv_obstacles_free_area(const RvObstaclesConfig *c, const RvFreeColumn *columns) {
  int count, width;
  rv_obstacles_size(c, &count, &width);
  double sum = 0;
  const double least = c->max_distance > 0 ? c->max_distance : depth_of(c, 2);
  for (int k = 0; k < count; k++) {
    const double d = columns[k].disparity / 16.0 + c->camera.doffs;
    const double z = columns[k].disparity ? depth_of(c, d) : least;
    sum += 0.5 * z * z * width / c->camera.focal; /* a triangle from the camera */
  }
  return sum;
}

double rv_obstacles_depth(const RvObstaclesConfig *c, const RvObstaclesRect *rect,
                          const RvObstaclesDepth *depth, double *lateral) {
  const double d = depth->disparity / 16.0 + c->camera.doffs;
  const double z = depth->disparity ? depth_of(c, d) : 0;
  if (lateral)
    *lateral = z > 0 ? (rect->x + 0.5 * (rect->w - 1) - c->camera.cx) * z / c->camera.focal : 0;
  return z;
}

void rv_obstacles_measure_rect(const RvObstaclesConfig *c, const RvObstaclesRect *rect,
                               const RvObstaclesDepth *depth, RvObstacle *o) {
  const int64_t right = (int64_t)rect->x + rect->w, bottom = (int64_t)rect->y + rect->h;
  const int left = rv_clamp(rect->x, 0, c->width), top = rv_clamp(rect->y, 0, c->height);
  double lateral;
  memset(o, 0, sizeof *o);
  o->distance = (float)rv_obstacles_depth(c, rect, depth, &lateral);
  o->lateral = (float)lateral;
  o->width = (float)(rect->w * (double)o->distance / c->camera.focal);
  o->height = (float)(rect->h * (double)o->distance / c->camera.focal);
  o->distance_sigma = (float)sigma_of(c, o->distance);
  o->x = (uint16_t)left;
  o->y = (uint16_t)top;
  o->w = (uint16_t)(right > c->width ? c->width - left : right > left ? right - left : 0);
  o->h = (uint16_t)(bottom > c->height ? c->height - top : bottom > top ? bottom - top : 0);
  o->kind = RV_OBSTACLE_OBJECT;
  o->confidence = depth->valid;
  o->state = RV_OBSTACLE_NEW;
}
