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
#define AROUND 0.1       /* of the distance: how far apart in Z things may be */
#define COVERED 0.5      /* of the sides of a predicted box: it is hidden */
#define DISTANCE_MIN 0.5 /* m */
#define WITHIN 0.5       /* of a predicted box that lies in an obstacle */
#define WITHIN_Z 2.0     /* m before and behind that */
/* Since the last hit: another part is seen, whose distance says nothing of the velocity. */
#define CHANGED_WIDTH 0.3  /* of the larger one */
#define CHANGED_LENGTH 1.5 /* m */
#define LENGTH_SHARE 0.3   /* of the change of the length: further deviation in Z */
#define LENGTH_MOST 3.0    /* m */

typedef RvObstaclesAxis Axis;

double rv_obstacles_sigma_x(double z) {
  return SIGMA_X + SIGMA_X_BY_Z * z;
}

/* Where the image cuts an obstacle, its nearest visible point is not always the same one. */
double rv_obstacles_sigma_z(const RvObstacle *o, int cut) {
  return cut & RV_OBSTACLES_IMAGE ? o->distance_sigma + CUT_SIGMA : o->distance_sigma;
}

/* --- Sides ----------------------------------------------------------------------------------- */

static double disparity_at(const RvObstaclesConfig *c, double z) {
  return c->camera.focal * c->camera.baseline / z - c->camera.doffs;
}

/* The sides of an obstacle that lie within or beside a nearer one. To the left of that, as far as the
 * disparities differ, the other camera sees nothing. */
static int hidden_by(const RvObstaclesConfig *c, const RvObstacle *near, const RvObstacle *o) {
  const double margin = (double)c->width / BORDER, right = o->x + o->w, end = near->x + near->w;
  const double top = near->y > o->y ? near->y : o->y;
  const double foot = near->y + near->h < o->y + o->h ? near->y + near->h : o->y + o->h;
  if (!(near->distance > 0 && near->distance < IN_FRONT * o->distance) ||
      near->kind == RV_OBSTACLE_OVERHANG || 2 * (foot - top) < o->h)
    return 0;
  const double shadow = disparity_at(c, near->distance) - disparity_at(c, o->distance);
  const int is_left = near->x <= o->x && end >= o->x - margin;
  const int is_right = end >= right && near->x <= right + margin + shadow;
  return (is_left ? RV_OBSTACLES_HIDDEN_LEFT : 0) | (is_right ? RV_OBSTACLES_HIDDEN_RIGHT : 0);
}

/* In the left border of the image, as wide as the disparity, the other camera sees nothing. */
int rv_obstacles_cut(const RvObstaclesConfig *c, const RvObstacle *obstacles, int count, int k) {
  const RvObstacle *o = &obstacles[k];
  const double margin = (double)c->width / BORDER;
  if (!(o->distance > 0))
    return 0;
  int cut = (o->x <= disparity_at(c, o->distance) + margin ? RV_OBSTACLES_IMAGE_LEFT : 0) |
            (o->x + o->w >= c->width - margin ? RV_OBSTACLES_IMAGE_RIGHT : 0);
  for (int i = 0; i < count; i++)
    cut |= hidden_by(c, &obstacles[i], o);
  return cut;
}

/* A side that lies where the track expects it, or farther outside, is not hidden. */
int rv_obstacles_cut_for(const RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double center = o->lateral - t->x.at, lost = 0.5 * (t->width - o->width);
  const double least = rv_obstacles_sigma_x(o->distance);
  const int is_left = center + lost < least, is_right = lost - center < least;
  return cut &
         ~((is_left ? RV_OBSTACLES_HIDDEN_LEFT : 0) | (is_right ? RV_OBSTACLES_HIDDEN_RIGHT : 0));
}

static double nearer_zero(double a, double b) {
  return a * a < b * b ? a : b;
}

static int is_left_cut(int cut) {
  return (cut & (RV_OBSTACLES_IMAGE_LEFT | RV_OBSTACLES_HIDDEN_LEFT)) != 0;
}

static int is_right_cut(int cut) {
  return (cut & (RV_OBSTACLES_IMAGE_RIGHT | RV_OBSTACLES_HIDDEN_RIGHT)) != 0;
}

/* What covers a part of an object moves its visible center and one of its sides: what center and
 * sides moved least counts. Where one side is cut, what the other one moved. */
double rv_obstacles_beside(const RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double center = o->lateral - t->x.at, grown = 0.5 * (o->width - t->width);
  const double left = center - grown, right = center + grown;
  if (is_left_cut(cut) != is_right_cut(cut))
    return is_left_cut(cut) ? right : left;
  return nearer_zero(center, nearer_zero(left, right));
}

double rv_obstacles_apart(const RvObstaclesTrack *t, const RvObstacle *o, int cut, double reach) {
  const double x = rv_obstacles_absolute(rv_obstacles_beside(t, o, cut));
  const double z = rv_obstacles_absolute(o->distance - rv_obstacles_axis(t)->at);
  return x <= reach && z <= reach + AROUND * o->distance ? x + z : -1;
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

int rv_obstacles_is_covered(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                            const RvObstacle *obstacles, int count) {
  const RvObstaclesFrame f = rv_obstacles_frame(c, t);
  const double z = rv_obstacles_axis(t)->at;
  for (int k = 0; k < count && z > DISTANCE_MIN; k++) {
    const RvObstacle *o = &obstacles[k];
    if (!(o->distance > 0 && o->distance < IN_FRONT * z) || o->kind == RV_OBSTACLE_OVERHANG)
      continue;
    const double shadow = disparity_at(c, o->distance) - disparity_at(c, z);
    const double first = o->x - shadow, end = o->x + o->w, foot = o->y + o->h;
    const double wide = (f.right < end ? f.right : end) - (f.left > first ? f.left : first);
    const double tall = (f.bottom < foot ? f.bottom : foot) - (f.top > o->y ? f.top : o->y);
    if (wide >= COVERED * (f.right - f.left) && tall >= COVERED * (f.bottom - f.top))
      return 1;
  }
  return 0;
}

int rv_obstacles_is_within(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                           const RvObstacle *o) {
  const RvObstaclesFrame f = rv_obstacles_frame(c, t);
  const double z = rv_obstacles_axis(t)->at, end = o->x + o->w, foot = o->y + o->h;
  const double wide = (f.right < end ? f.right : end) - (f.left > o->x ? f.left : o->x);
  const double tall = (f.bottom < foot ? f.bottom : foot) - (f.top > o->y ? f.top : o->y);
  return z > o->distance - WITHIN_Z && z < o->distance + o->length + WITHIN_Z && wide > 0 &&
         tall > 0 && wide * tall >= WITHIN * (f.right - f.left) * (f.bottom - f.top);
}

/* Intersection of a box and an obstacle over their union; of the box, what is not cut off. */
static double overlap(const RvObstaclesFrame *f, const RvObstacle *o, int cut) {
  const double end = o->x + o->w, foot = o->y + o->h;
  const double left = f->left > o->x ? f->left : o->x, top = f->top > o->y ? f->top : o->y;
  const double right = f->right < end ? f->right : end,
               bottom = f->bottom < foot ? f->bottom : foot;
  const double common = right > left && bottom > top ? (right - left) * (bottom - top) : 0;
  const double wide = (is_right_cut(cut) ? right : f->right) - (is_left_cut(cut) ? left : f->left);
  const double all = (wide > 0 ? wide : 0) * (f->bottom - f->top) + (double)o->w * o->h - common;
  return all > 0 ? common / all : 0;
}

static double longer_by(const RvObstaclesTrack *t, const RvObstacle *o) {
  return rv_obstacles_absolute(o->length - t->seen_length);
}

double rv_obstacles_shared(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                           const RvObstacle *o) {
  const RvObstaclesFrame box = rv_obstacles_frame(c, t);
  return overlap(&box, o, 0);
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
                           const RvObstacle *o, int sides) {
  const double longer = longer_by(t, o), more = longer < LENGTH_MOST ? longer : LENGTH_MOST;
  double misfit = misfit_z(t, o->distance, rv_obstacles_sigma_z(o, sides) + LENGTH_SHARE * more);
  if (misfit > RV_OBSTACLES_GATE) /* of most pairs */
    return misfit;
  const int cut = rv_obstacles_cut_for(t, o, sides);
  const double x = rv_obstacles_beside(t, o, cut), sigma = rv_obstacles_sigma_x(o->distance);
  misfit += x * x / (t->x.p00 + sigma * sigma);
  if (misfit > RV_OBSTACLES_GATE)
    return misfit;
  const double width = cut ? 0 : change(t->width, o->width, WIDTH_SIGMA);
  const double height = change(t->last.height, o->height, HEIGHT_SIGMA);
  const RvObstaclesFrame box = rv_obstacles_frame(c, t);
  return misfit + width * width + height * height + APART * (1 - overlap(&box, o, cut));
}

/* --- Hits ------------------------------------------------------------------------------------ */

/* 1 when what is seen of a thing is another part of it than at the last hit. */
static int has_changed(const RvObstaclesTrack *t, const RvObstacle *o) {
  const double a = t->seen_width, b = o->width, most = a > b ? a : b;
  return rv_obstacles_absolute(a - b) > CHANGED_WIDTH * most || longer_by(t, o) > CHANGED_LENGTH;
}

/* What is partly hidden may show its far end only: its distance says nothing of its velocity. */
static void hit_axis(Axis *a, double seen, double sigma, int cut, int is_part) {
  if (cut & RV_OBSTACLES_IMAGE)
    rv_obstacles_place(a, seen, sigma);
  else if (is_part)
    rv_obstacles_approach(a, seen, sigma);
  else
    rv_obstacles_update(a, seen, sigma);
}

/* Takes over the distance of an obstacle. */
void rv_obstacles_hit_z(RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double sigma = rv_obstacles_sigma_z(o, cut);
  t->misfit = STILL_KEPT * t->misfit + rv_obstacles_chi(&t->still, o->distance, sigma);
  t->stands = t->stands && t->misfit <= RV_OBSTACLES_STILL;
  const int is_part = cut || has_changed(t, o);
  hit_axis(&t->z, o->distance, sigma, cut, is_part);
  hit_axis(&t->still, o->distance, sigma, cut, is_part);
  t->seen_width = o->width;
  t->seen_length = o->length;
}

/* Takes over its position in X and its width. What is cut keeps the width that was seen, and its place
 * when both sides are. */
void rv_obstacles_hit_x(RvObstaclesTrack *t, const RvObstacle *o, int cut) {
  const double x = rv_obstacles_beside(t, o, cut), sigma = rv_obstacles_sigma_x(o->distance);
  if (!cut) {
    t->x.at = o->lateral - x; /* the center moves with the visible part */
    t->width = o->width;
    rv_obstacles_update(&t->x, o->lateral, sigma);
    return;
  }
  if (is_left_cut(cut) && is_right_cut(cut))
    return;
  const double more = t->width < o->width ? o->width - t->width : 0; /* is seen than before */
  if (cut & RV_OBSTACLES_IMAGE)
    rv_obstacles_place(&t->x, t->x.at + x, sigma);
  else
    rv_obstacles_update(&t->x, t->x.at + x, sigma);
  t->x.at += is_left_cut(cut) ? -0.5 * more : 0.5 * more;
  t->width += more;
}
