/* SPDX-License-Identifier: MIT */
/* scene_trace_reference.c: what a ray meets first, whether the sun reaches a point, and what
 * stands there. */
#include "scene/scene_reference.h"

#include <math.h>

/* Pixel (x, y) of a view; pixel centers are whole numbers. */
Ray scene_ray(const RvScene *scene, int view, double x, double y) {
  const World *world = scene->work->world;
  const double u = (x - scene->plan.camera.cx) / scene->plan.camera.focal;
  const double v = (y - scene->plan.camera.cy) / scene->plan.camera.focal;
  Ray ray;
  ray.origin = world->view[view];
  ray.dir = vec_add(vec_add(vec_mul(world->right, u), vec_mul(world->down, v)), world->ahead);
  return ray;
}

Vec scene_local(const Object *object, Vec point) {
  const Vec p = vec_sub(point, object->origin);
  return vec(vec_dot(p, object->right), vec_dot(p, object->up), vec_dot(p, object->ahead));
}

/* Holes in the shell of a tree's crown: a function of the place, thus the same for both views. */
int scene_leaf_hole(Vec p, uint32_t style) {
  const double x = p.x * 3.1 + 64.0, y = p.y * 3.1 + 64.0, z = p.z * 3.1 + 64.0;
  const int ix = (int)x, iy = (int)y, iz = (int)z;
  const double a = x - ix, b = y - iy, c = z - iz;
  double value = 0.0;
  for (int i = 0; i < 8; i++) {
    const int dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
    const double w = (dx ? a : 1 - a) * (dy ? b : 1 - b) * (dz ? c : 1 - c);
    const uint32_t cell =
        (uint32_t)(ix + dx) | (uint32_t)(iy + dy) << 10 | (uint32_t)(iz + dz) << 20;
    value += w * (double)(scene_hash(style, cell, 5u) >> 16);
  }
  return value < 0.41 * 65536.0;
}

/* Its edge is frayed by a texture; labels and colors read the same value. */
double scene_track(const RvScene *scene, double x, double z) {
  const World *world = scene->work->world;
  const double from_middle = absolute(x - scene_profile(world->track, z));
  const double down = z + world->travel;
  const double fray = (double)scene_texel(scene, TEX_CLOUD, x, down, 0.0f, 0.0f, 20.0f) - 0.5;
  return 1.75 + 2.2 * fray - from_middle;
}

static int meet_convex(const Object *object, const Ray *ray, double near, double far, double *t,
                       int *face) {
  double in = near, out = far;
  int entered = -1;
  for (int i = 0; i < object->planes; i++) {
    const double slope = vec_dot(object->normal[i], ray->dir);
    const double room = object->offset[i] - vec_dot(object->normal[i], ray->origin);
    if (slope == 0.0) {
      if (room < 0.0)
        return 0;
      continue;
    }
    if (slope < 0.0) {
      if (room >= 0.0) /* inside of this plane from the start */
        continue;
      const double at = room / slope;
      if (at > in) {
        in = at;
        entered = i;
      }
    } else {
      if (room <= 0.0) /* left before the start */
        return 0;
      const double at = room / slope;
      if (at < out)
        out = at;
    }
    if (in >= out)
      return 0;
  }
  *t = in;
  *face = entered;
  return entered >= 0;
}

static int meet_cylinder(const Object *object, const Ray *ray, double near, double far, double *t) {
  const Vec p = vec_sub(ray->origin, object->origin);
  const double a = ray->dir.x * ray->dir.x + ray->dir.z * ray->dir.z;
  const double b = p.x * ray->dir.x + p.z * ray->dir.z;
  const double c = p.x * p.x + p.z * p.z - object->half.x * object->half.x;
  const double root = b * b - a * c;
  if (root <= 0.0 || a == 0.0)
    return 0;
  const double at = (-b - sqrt(root)) / a;
  if (at <= near || at >= far || absolute(p.y + at * ray->dir.y) > object->half.y)
    return 0;
  *t = at;
  return 1;
}

static int meet_ellipsoid(const Object *object, const Ray *ray, double near, double far,
                          double *t) {
  const Vec h = object->half, o = vec_sub(ray->origin, object->origin);
  const Vec p = vec(o.x / h.x, o.y / h.y, o.z / h.z);
  const Vec d = vec(ray->dir.x / h.x, ray->dir.y / h.y, ray->dir.z / h.z);
  const double a = vec_dot(d, d), b = vec_dot(p, d), c = vec_dot(p, p) - 1.0;
  const double root = b * b - a * c;
  if (root <= 0.0)
    return 0;
  const double reach = sqrt(root);
  for (int side = -1; side <= 1; side += 2) {
    const double at = (-b + side * reach) / a;
    if (at <= near || at >= far)
      continue;
    if (object->material == MATERIAL_LEAVES &&
        scene_leaf_hole(vec_add(o, vec_mul(ray->dir, at)), object->style))
      continue;
    *t = at;
    return 1;
  }
  return 0;
}

static int meet(const Object *object, const Ray *ray, double near, double far, double *t,
                int *face) {
  *face = 0;
  switch (object->shape) {
  case SHAPE_CONVEX:
    return meet_convex(object, ray, near, far, t, face);
  case SHAPE_CYLINDER:
    return meet_cylinder(object, ray, near, far, t);
  default:
    return meet_ellipsoid(object, ray, near, far, t);
  }
}

static double above(const World *world, const Ray *ray, double t, double level) {
  const Vec o = ray->origin, d = ray->dir;
  return o.y + t * d.y - level - scene_ground_y(world, o.x + t * d.x, o.z + t * d.z);
}

/* Where the ray, `over` m above the ground at `lo` and below it at `hi`, goes through: regula falsi
 * after Illinois, which keeps the place between the two and gains digits fast on smooth ground. */
static double pierce(const World *world, const Ray *ray, double level, double lo, double over,
                     double hi, double under) {
  for (int i = 0; i < 40 && hi - lo > 1e-9 * hi; i++) {
    const double t = lo + (hi - lo) * over / (over - under), y = above(world, ray, t, level);
    if (absolute(y) < 1e-6)
      return t;
    if (y > 0.0) {
      lo = t;
      over = y;
      under *= 0.5;
    } else {
      hi = t;
      under = y;
      over *= 0.5;
    }
  }
  return 0.5 * (lo + hi);
}

#define STEEP 0.3 /* m per m of depth: the ground comes nearer to a level ray no faster */

/* The ground raised by `level`, searched from `near` to `far`; 0 when the ray does not meet it.
 * Steps that grow with the distance find the first crossing. */
static double meet_ground(const World *world, const Ray *ray, double near, double far,
                          double level) {
  const Vec o = ray->origin, d = ray->dir;
  if (world->flat) {
    const double t = (level - o.y) / d.y;
    return d.y < 0.0 && t > near && t < far ? t : 0.0;
  }
  double before = near, over = above(world, ray, near, level);
  if (over <= 0.0)
    return near;
  while (before < far && o.z + before * d.z < FAR_M) {
    if (d.y >= 0.0 && o.y + before * d.y > world->summit + level)
      return 0.0;
    const double safe = before + over / (absolute(d.y) + STEEP),
                 step = before * world->stride + 0.3;
    const double t = safe > step ? safe : step, y = above(world, ray, t, level);
    if (y < 0.0)
      return pierce(world, ray, level, before, over, t, y);
    before = t;
    over = y;
  }
  const double end = level + scene_ground_y(world, 0.0, FAR_M); /* level from there on */
  const double t = d.y < 0.0 ? (end - o.y) / d.y : 0.0;
  return t > before && t < far ? t : 0.0;
}

#define CURB_X 5.7
#define LOT_X 8.7

/* Road, curb, sidewalk and what lies behind, each in place of what stands farther away. The views
 * are above the road: a ray that comes down on the road's level within the curbs never passed over
 * them, and any other ray meets the curb's face or, behind it, the higher level. */
static void meet_street(const RvScene *scene, const Ray *ray, Hit *hit) {
  const World *world = scene->work->world;
  const double low = meet_ground(world, ray, scene->plan.near, 1.2 * hit->t + 1.0, 0.0);
  if (low == 0.0)
    return;
  if (absolute(ray->origin.x + low * ray->dir.x) < CURB_X) {
    const Hit road = {low, -2, 0, MATERIAL_ROAD};
    if (low < hit->t)
      *hit = road;
    return;
  }
  const int right = ray->dir.x > 0.0;
  const double curb = ((right ? CURB_X : -CURB_X) - ray->origin.x) / ray->dir.x;
  const double over = above(world, ray, curb, world->curb);
  Hit found = {curb, -2, right, MATERIAL_CURB};
  if (over > 0.0) {
    found.t = pierce(world, ray, world->curb, curb, over, low, -world->curb);
    const double x = absolute(ray->origin.x + found.t * ray->dir.x);
    found.face = 0;
    found.material = x < LOT_X ? MATERIAL_SIDEWALK : MATERIAL_GRASS;
  }
  if (found.t > scene->plan.near && found.t < hit->t)
    *hit = found;
}

/* A road that bends, and grass next to it, on one level. */
static void meet_bent(const RvScene *scene, const Ray *ray, Hit *hit) {
  const World *world = scene->work->world;
  const double t = meet_ground(world, ray, scene->plan.near, 1.2 * hit->t + 1.0, 0.0);
  if (t == 0.0 || t >= hit->t)
    return;
  const double z = ray->origin.z + t * ray->dir.z;
  const double across = ray->origin.x + t * ray->dir.x - scene_profile(world->track, z);
  const int on = across > world->edge[0] && across < world->edge[1] + scene_profile(world->exit, z);
  const Hit found = {t, -2, 0, on ? MATERIAL_ROAD : MATERIAL_GRASS};
  *hit = found;
}

#define GRASS_NEAR 12.0 /* m: from here on it is drawn ever lower, */
#define GRASS_FAR 20.0  /* up to here: pixels become longer than tufts */
#define GRASS_STEPS 10
#define TUFTS 100.0f /* texels per m: the largest tufts are 0.6 m across */

/* Height of the grass above the ground, m; 0 on the track. A function of the place alone, so that
 * both views see the same blades. */
static double grass_height(const RvScene *scene, double x, double z) {
  const double outside = -scene_track(scene, x, z);
  if (outside <= 0.0 || z >= GRASS_FAR)
    return 0.0;
  const float tuft =
      scene_texel(scene, TEX_CLOUD, x + 23.0, z + scene->work->world->travel, 0.0f, 0.0f, TUFTS);
  const float edge = clamp01((float)outside * 3.0f);
  const float fade = clamp01((float)((GRASS_FAR - z) / (GRASS_FAR - GRASS_NEAR)));
  return scene->plan.config.grass_height *
         (double)(edge * fade * clamp01(2.2f * (tuft - 0.5f) + 0.45f));
}

/* Rise of the ground per m to the right and ahead. */
static void slope_of(const World *world, double x, double z, double *right, double *ahead) {
  const int i = rv_clamp((int)((z - HEIGHT_Z0) * (1.0 / HEIGHT_STEP)), 1, HEIGHTS - 3);
  const double k = 1.0 / (3.0 * HEIGHT_STEP);
  *right = world->bank[i];
  *ahead = k * (world->climb[i + 2] - world->climb[i - 1] +
                x * (world->bank[i + 2] - world->bank[i - 1]));
}

/* Where the ray, which meets the ground at `t`, meets the grass on it. */
static double meet_grass(const RvScene *scene, const Ray *ray, double t) {
  const Vec o = ray->origin, d = ray->dir;
  double right, ahead;
  slope_of(scene->work->world, o.x + t * d.x, o.z + t * d.z, &right, &ahead);
  const double sink = right * d.x + ahead * d.z - d.y; /* m towards the ground per m of t */
  const double reach = scene->plan.config.grass_height / sink;
  if (!(reach > 0.0) || sink < 1e-3 || o.z + t * d.z > GRASS_FAR + reach)
    return t;
  double before = t, over = -1.0; /* above the grass; below 0: not known yet */
  for (int i = 0; i <= GRASS_STEPS; i++) {
    const double at = t - reach * (GRASS_STEPS - i) / GRASS_STEPS;
    if (at <= scene->plan.near)
      continue;
    const double now = (t - at) * sink - grass_height(scene, o.x + at * d.x, o.z + at * d.z);
    if (now <= 0.0)
      return over > 0.0 ? before + (at - before) * over / (over - now) : at;
    before = at;
    over = now;
  }
  return t;
}

static void meet_offroad(const RvScene *scene, const Ray *ray, Hit *hit) {
  const double ground =
      meet_ground(scene->work->world, ray, scene->plan.near, 1.2 * hit->t + 1.0, 0.0);
  if (ground == 0.0)
    return;
  const double t = meet_grass(scene, ray, ground);
  const Vec p = vec_add(ray->origin, vec_mul(ray->dir, t));
  const Hit found = {t, -2, 0,
                     scene_track(scene, p.x, p.z) > 0.0 ? MATERIAL_TRACK : MATERIAL_GRASS};
  if (t < hit->t)
    *hit = found;
}

static void meet_objects(const RvScene *scene, int view, const Ray *ray, double x, double y,
                         Hit *hit) {
  const World *world = scene->work->world;
  const int tx = rv_clamp((int)(x * TILES_X / scene->plan.config.width), 0, TILES_X - 1);
  const int ty = rv_clamp((int)(y * TILES_Y / scene->plan.config.height), 0, TILES_Y - 1);
  const Bits *bits = &world->tile[view][ty][tx];
  for (int w = 0; w < OBJECT_WORDS; w++)
    for (uint64_t word = bits->word[w]; word; word &= word - 1) {
      const int rank = w * 64 + __builtin_ctzll(word);
      if (world->nearest[rank] > hit->t)
        return;
      if (!rect_has(&world->cover[view][rank], x, y))
        continue;
      const int index = world->order[rank];
      const Object *object = &world->object[index];
      double t;
      int face;
      if (meet(object, ray, scene->plan.near, hit->t, &t, &face)) {
        const Hit found = {t, index, face, object->material};
        *hit = found;
      }
    }
}

/* First hit of the ray through pixel (x, y) of a view, nearer than `far`; the sky without one. */
void scene_trace(const RvScene *scene, int view, const Ray *ray, double x, double y, double far,
                 Hit *hit) {
  const Hit sky = {far, -1, 0, MATERIAL_SKY};
  *hit = sky;
  meet_objects(scene, view, ray, x, y, hit);
  if (scene->plan.config.pattern == RV_SCENE_OFFROAD)
    meet_offroad(scene, ray, hit);
  else if (scene->work->world->bent)
    meet_bent(scene, ray, hit);
  else if (scene->plan.config.pattern != RV_SCENE_PLANES)
    meet_street(scene, ray, hit);
}

int scene_in_shadow(const RvScene *scene, Vec point, int self) {
  const World *world = scene->work->world;
  const double k = point.y / world->sun.y;
  const double x = point.x - k * world->sun.x, z = point.z - k * world->sun.z;
  const int cx = floor_int((x - SHADE_X0) / SHADE_CELL);
  const int cz = floor_int((z - SHADE_Z0) / SHADE_CELL);
  if (cx < 0 || cx >= SHADE_X || cz < 0 || cz >= SHADE_Z)
    return 0;
  const Ray ray = {point, world->sun};
  const Bits *bits = &world->shade[cz][cx];
  for (int w = 0; w < OBJECT_WORDS; w++)
    for (uint64_t word = bits->word[w]; word; word &= word - 1) {
      const int rank = w * 64 + __builtin_ctzll(word);
      if (!rect_has(&world->cast[rank], x, z))
        continue;
      const int index = world->order[rank];
      double t;
      int face;
      if (index != self && meet(&world->object[index], &ray, 1e-3, 1e9, &t, &face))
        return 1;
    }
  return 0;
}

Vec scene_normal(const RvScene *scene, const Hit *hit, Vec point) {
  const World *world = scene->work->world;
  if (hit->object >= 0) {
    const Object *object = &world->object[hit->object];
    if (object->shape == SHAPE_CONVEX)
      return object->normal[hit->face];
    const Vec p = vec_sub(point, object->origin), h = object->half;
    const Vec n = object->shape == SHAPE_CYLINDER
                      ? vec(p.x, 0.0, p.z)
                      : vec(p.x / (h.x * h.x), p.y / (h.y * h.y), p.z / (h.z * h.z));
    return vec_mul(n, 1.0 / sqrt(vec_dot(n, n)));
  }
  if (hit->material == MATERIAL_CURB)
    return vec(hit->face ? -1.0 : 1.0, 0.0, 0.0);
  if (world->flat)
    return vec(0.0, 1.0, 0.0);
  double dx, dz;
  slope_of(world, point.x, point.z, &dx, &dz);
  const Vec n = vec(-dx, 1.0, -dz);
  return vec_mul(n, 1.0 / sqrt(vec_dot(n, n)));
}
