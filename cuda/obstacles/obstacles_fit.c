/* SPDX-License-Identifier: MIT */
/* obstacles_fit.c: how well obstacles fit tracks, and what they change; see obstacles_host.h. */
#include "obstacles/obstacles_host.h"

#define STILL_KEPT 0.7 /* of the misfit of `still`, from frame to frame */
#define SIGMA_X 0.2    /* m */
#define SIGMA_X_BY_Z 0.01
#define WIDTH_SIGMA 0.5 /* as a fraction of the larger one */
#define HEIGHT_SIGMA 0.25
#define APART 10.0       /* of the gate: cost of boxes that do not overlap at all */
#define MOVES 3.0        /* of the gate: cost of what moves while things stand */
#define BORDER 64        /* 1/64 of the image's width: what ends there is cut */
#define CUT_SIGMA 2.0    /* m, further deviation in Z of what the image cuts */
#define IN_FRONT 0.9     /* of the distance: what is nearer can hide an obstacle */
#define NARROW 0.7       /* of the width of the track: a part is hidden */
#define DISTANCE_MIN 0.5 /* m */

double rv_obstacles_sigma_x(double z) {
  return SIGMA_X + SIGMA_X_BY_Z * z;
}

/* Where the image cuts an obstacle, its nearest visible point is not always the same one. */
double rv_obstacles_sigma_z(const RvObstacle *o, int cut) {
  return cut & RV_OBSTACLES_IMAGE ? o->distance_sigma + CUT_SIGMA : o->distance_sigma;
}

/* --- Sides ----------------------------------------------------------------------------------- */

static double disparity_of(const RvObstaclesConfig *c, const RvObstacle *o) {
  return c->camera.focal * c->camera.baseline / o->distance - c->camera.doffs;
}

/* The sides of an obstacle that a nearer one hides. To the left of that, as far as the disparities
 * differ, the other camera sees nothing. */
static int hidden_by(const RvObstaclesConfig *c, const RvObstacle *near, const RvObstacle *o) {
  const double margin = (double)c->width / BORDER, right = o->x + o->w, end = near->x + near->w;
  const double top = near->y > o->y ? near->y : o->y;
  const double foot = near->y + near->h < o->y + o->h ? near->y + near->h : o->y + o->h;
  if (!(near->distance > 0 && near->distance < IN_FRONT * o->distance) ||
      near->kind == RV_OBSTACLE_OVERHANG || 2 * (foot - top) < o->h)
    return 0;
  const double shadow = disparity_of(c, near) - disparity_of(c, o);
  const int is_left = near->x < o->x && end >= o->x - margin && end < right;
  const int is_right = end > right && near->x <= right + margin + shadow && near->x > o->x;
  return (is_left ? RV_OBSTACLES_HIDDEN_LEFT : 0) | (is_right ? RV_OBSTACLES_HIDDEN_RIGHT : 0);
}

/* In the left border of the image, as wide as the disparity, the other camera sees nothing. */
int rv_obstacles_cut(const RvObstaclesConfig *c, const RvObstacle *obstacles, int count, int k) {
  const RvObstacle *o = &obstacles[k];
  const double margin = (double)c->width / BORDER;
  if (!(o->distance > 0))
    return 0;
  int cut = (o->x <= disparity_of(c, o) + margin ? RV_OBSTACLES_IMAGE_LEFT : 0) |
            (o->x + o->w >= c->width - margin ? RV_OBSTACLES_IMAGE_RIGHT : 0);
  for (int i = 0; i < count; i++)
    cut |= hidden_by(c, &obstacles[i], o);
  return cut;
}

int rv_obstacles_cut_for(const RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  return o->width < NARROW * t->width ? cut : cut & RV_OBSTACLES_IMAGE;
}

static double nearer_zero(double a, double b) {
  return a * a < b * b ? a : b;
}

/* What covers a part of an object moves its visible center and one of its sides: what center and
 * sides moved least counts. Where one side is cut, what the other one moved. */
double rv_obstacles_beside(const RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double center = o->lateral - t->x.at, grown = 0.5 * (o->width - t->width);
  const double left = center - grown, right = center + grown;
  const int is_left = (cut & (RV_OBSTACLES_IMAGE_LEFT | RV_OBSTACLES_HIDDEN_LEFT)) != 0;
  const int is_right = (cut & (RV_OBSTACLES_IMAGE_RIGHT | RV_OBSTACLES_HIDDEN_RIGHT)) != 0;
  if (is_left != is_right)
    return is_left ? right : left;
  return nearer_zero(center, nearer_zero(left, right));
}

/* --- Misfit ---------------------------------------------------------------------------------- */

static double change(double a, double b, double sigma) {
  const double most = a > b ? a : b;
  return most > 0 ? (a - b) / (sigma * most) : 0;
}

static double limit(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

RvObstaclesFrame rv_obstacles_frame(const RvObstaclesConfig *c, const RvObstaclesTrack *t) {
  const RvObstacle *o = &t->last;
  const double at = rv_obstacles_axis(t)->at, z = at > DISTANCE_MIN ? at : DISTANCE_MIN;
  const double middle = c->camera.cx + c->camera.focal * t->x.at / z, scale = o->distance / z;
  const double half = 0.5 * c->camera.focal * t->width / z;
  const double horizon = c->camera.cy; /* rows move away from about the horizon */
  const RvObstaclesFrame f = {limit(middle - half, 0, c->width), limit(middle + half, 0, c->width),
                              limit(horizon + scale * (o->y - horizon), 0, c->height),
                              limit(horizon + scale * (o->y + o->h - horizon), 0, c->height)};
  return f;
}

/* Intersection of a box and an obstacle over their union; of the box, what is not cut off. */
static double overlap(const RvObstaclesFrame *f, const RvObstacle *o, int cut) {
  const double end = o->x + o->w, foot = o->y + o->h;
  const double left = f->left > o->x ? f->left : o->x, top = f->top > o->y ? f->top : o->y;
  const double right = f->right < end ? f->right : end,
               bottom = f->bottom < foot ? f->bottom : foot;
  const double common = right > left && bottom > top ? (right - left) * (bottom - top) : 0;
  const int is_left = cut & (RV_OBSTACLES_IMAGE_LEFT | RV_OBSTACLES_HIDDEN_LEFT);
  const int is_right = cut & (RV_OBSTACLES_IMAGE_RIGHT | RV_OBSTACLES_HIDDEN_RIGHT);
  const double wide = (is_right ? right : f->right) - (is_left ? left : f->left);
  const double all = (wide > 0 ? wide : 0) * (f->bottom - f->top) + (double)o->w * o->h - common;
  return all > 0 ? common / all : 0;
}

/* In Z: of what stands, or of what moves. */
static double misfit_z(const RvObstaclesTrack *t, double seen, double sigma) {
  const double moves = rv_obstacles_chi(&t->z, seen, sigma);
  if (!t->stands)
    return moves;
  const double stands = rv_obstacles_chi(&t->still, seen, sigma);
  return stands < moves + MOVES ? stands : moves + MOVES;
}

double rv_obstacles_misfit(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                           const RvObstacle *o, int cut) {
  const double x = rv_obstacles_beside(t, o, cut), sigma = rv_obstacles_sigma_x(o->distance);
  double misfit = misfit_z(t, o->distance, rv_obstacles_sigma_z(o, cut));
  if (misfit > RV_OBSTACLES_GATE) /* of most pairs */
    return misfit;
  misfit += x * x / (t->x.p00 + sigma * sigma);
  if (misfit > RV_OBSTACLES_GATE)
    return misfit;
  const double width = cut ? 0 : change(t->width, o->width, WIDTH_SIGMA);
  const double height = change(t->last.height, o->height, HEIGHT_SIGMA);
  const RvObstaclesFrame box = rv_obstacles_frame(c, t);
  return misfit + width * width + height * height + APART * (1 - overlap(&box, o, cut));
}

/* --- Hits ------------------------------------------------------------------------------------ */

/* Takes over the distance of an obstacle. */
void rv_obstacles_hit_z(RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double sigma = rv_obstacles_sigma_z(o, cut);
  t->misfit = STILL_KEPT * t->misfit + rv_obstacles_chi(&t->still, o->distance, sigma);
  t->stands = t->stands && t->misfit <= RV_OBSTACLES_STILL;
  if (cut & RV_OBSTACLES_IMAGE) {
    rv_obstacles_place(&t->z, o->distance, sigma);
    rv_obstacles_place(&t->still, o->distance, sigma);
  } else {
    rv_obstacles_update(&t->z, o->distance, sigma);
    rv_obstacles_update(&t->still, o->distance, sigma);
  }
}

/* Takes over its position in X and its width. What is cut keeps the width that was seen. */
void rv_obstacles_hit_x(RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double x = rv_obstacles_beside(t, o, cut), sigma = rv_obstacles_sigma_x(o->distance);
  if (!cut) {
    t->x.at = o->lateral - x; /* the center moves with the visible part */
    t->width = o->width;
    rv_obstacles_update(&t->x, o->lateral, sigma);
    return;
  }
  const double more = t->width < o->width ? o->width - t->width : 0; /* is seen than before */
  if (cut & RV_OBSTACLES_IMAGE)
    rv_obstacles_place(&t->x, t->x.at + x, sigma);
  else
    rv_obstacles_update(&t->x, t->x.at + x, sigma);
  if ((cut & RV_OBSTACLES_IMAGE) != RV_OBSTACLES_IMAGE)
    t->x.at += cut & RV_OBSTACLES_IMAGE_LEFT ? -0.5 * more : 0.5 * more;
  t->width += more;
}
