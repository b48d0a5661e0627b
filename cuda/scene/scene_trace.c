/* scene_trace.c: what a ray meets first, whether the sun reaches a point, and what stands there. */
#include "scene/scene_internal.h"

#include <math.h>

/* Pixel (x, y) of an eye; pixel centres are whole numbers. */
Ray scene_ray(const RvScene *scene, int eye, double x, double y) {
  const World *world = scene->world;
  const double u = (x - scene->camera.cx) / scene->camera.focal;
  const double v = (y - scene->camera.cy) / scene->camera.focal;
  Ray ray;
  ray.origin = world->eye[eye];
  ray.dir = vec_add(vec_add(vec_mul(world->right, u), vec_mul(world->down, v)), world->ahead);
  return ray;
}

Vec scene_local(const Object *object, Vec point) {
  const Vec p = vec_sub(point, object->origin);
  return vec(vec_dot(p, object->right), vec_dot(p, object->up), vec_dot(p, object->ahead));
}

/* Holes in the shell of a tree's crown: a function of the place, thus the same for both eyes. */
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
    const double at = room / slope;
    if (slope < 0.0) {
      if (at > in) {
        in = at;
        entered = i;
      }
    } else if (at < out) {
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

/* The ground raised by `level`; 0 when the ray never meets it. Steps that grow with the distance
 * find the first crossing, bisection its place. */
static double meet_ground(const World *world, const Ray *ray, double near, double level) {
  const Vec o = ray->origin, d = ray->dir;
  if (world->flat)
    return d.y < 0.0 && (level - o.y) / d.y > near ? (level - o.y) / d.y : 0.0;
  double before = near, t = near;
  while (o.z + t * d.z < FAR_M) {
    t = before * 1.09 + 0.1;
    if (o.y + t * d.y < level + scene_ground_y(world, o.x + t * d.x, o.z + t * d.z)) {
      double lo = before, hi = t;
      for (int i = 0; i < 34; i++) {
        const double mid = 0.5 * (lo + hi);
        if (o.y + mid * d.y < level + scene_ground_y(world, o.x + mid * d.x, o.z + mid * d.z))
          hi = mid;
        else
          lo = mid;
      }
      return hi;
    }
    before = t;
  }
  const double end = level + scene_ground_y(world, 0.0, FAR_M); /* level from there on */
  return d.y < 0.0 && (end - o.y) / d.y > before ? (end - o.y) / d.y : 0.0;
}

#define CURB_X 5.7
#define LOT_X 8.7

static void meet_street(const RvScene *scene, const Ray *ray, Hit *hit) {
  const World *world = scene->world;
  const double high = meet_ground(world, ray, scene->near, CURB_HEIGHT);
  if (high == 0.0)
    return;
  const double x = ray->origin.x + high * ray->dir.x;
  hit->object = -2;
  hit->face = 0;
  if (absolute(x) >= CURB_X) {
    hit->t = high;
    hit->material = absolute(x) < LOT_X ? MATERIAL_SIDEWALK : MATERIAL_GRASS;
    return;
  }
  const double low = meet_ground(world, ray, scene->near, 0.0);
  const double x_low = ray->origin.x + low * ray->dir.x;
  if (low > 0.0 && absolute(x_low) < CURB_X) {
    hit->t = low;
    hit->material = MATERIAL_ROAD;
    return;
  }
  hit->face = ray->dir.x > 0.0;
  hit->t = ((hit->face ? CURB_X : -CURB_X) - ray->origin.x) / ray->dir.x;
  hit->material = MATERIAL_CURB;
}

static void meet_wild(const RvScene *scene, const Ray *ray, Hit *hit) {
  const double t = meet_ground(scene->world, ray, scene->near, 0.0);
  if (t == 0.0)
    return;
  hit->t = t;
  hit->object = -2;
  hit->face = 0;
  const Vec p = vec_add(ray->origin, vec_mul(ray->dir, t));
  hit->material = scene_track(scene, p.x, p.z) > 0.0 ? MATERIAL_TRACK : MATERIAL_GRASS;
}

/* First hit of the ray through pixel (x, y) of an eye. */
void scene_trace(const RvScene *scene, int eye, const Ray *ray, double x, double y, Hit *hit) {
  const World *world = scene->world;
  hit->t = 1e12;
  hit->object = -1;
  hit->face = 0;
  hit->material = MATERIAL_SKY;
  if (scene->config.pattern == RV_SCENE_OFFROAD)
    meet_wild(scene, ray, hit);
  else if (scene->config.pattern != RV_SCENE_PLANES)
    meet_street(scene, ray, hit);
  const int tx = rv_clamp((int)(x * TILES_X / scene->config.width), 0, TILES_X - 1);
  const int ty = rv_clamp((int)(y * TILES_Y / scene->config.height), 0, TILES_Y - 1);
  const Bits *bits = &world->tile[eye][ty][tx];
  for (int w = 0; w < OBJECT_WORDS; w++)
    for (uint64_t word = bits->word[w]; word; word &= word - 1) {
      const int index = world->order[w * 64 + __builtin_ctzll(word)];
      const Object *object = &world->object[index];
      if (object->nearest > hit->t)
        return;
      double t;
      int face;
      if (meet(object, ray, scene->near, hit->t, &t, &face)) {
        hit->t = t;
        hit->object = index;
        hit->face = face;
        hit->material = object->material;
      }
    }
}

int scene_in_shadow(const RvScene *scene, Vec point, int self) {
  const World *world = scene->world;
  const double k = point.y / world->sun.y;
  const int cx = floor_int((point.x - k * world->sun.x - SHADE_X0) / SHADE_CELL);
  const int cz = floor_int((point.z - k * world->sun.z - SHADE_Z0) / SHADE_CELL);
  if (cx < 0 || cx >= SHADE_X || cz < 0 || cz >= SHADE_Z)
    return 0;
  const Ray ray = {point, world->sun};
  const Bits *bits = &world->shade[cz][cx];
  for (int w = 0; w < OBJECT_WORDS; w++)
    for (uint64_t word = bits->word[w]; word; word &= word - 1) {
      const int index = world->order[w * 64 + __builtin_ctzll(word)];
      double t;
      int face;
      if (index != self && meet(&world->object[index], &ray, 1e-3, 1e9, &t, &face))
        return 1;
    }
  return 0;
}

Vec scene_normal(const RvScene *scene, const Hit *hit, Vec point) {
  const World *world = scene->world;
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
  const double step = 0.3;
  const double dx = (scene_ground_y(world, point.x + step, point.z) -
                     scene_ground_y(world, point.x - step, point.z)) /
                    (2 * step);
  const double dz = (scene_ground_y(world, point.x, point.z + step) -
                     scene_ground_y(world, point.x, point.z - step)) /
                    (2 * step);
  const Vec n = vec(-dx, 1.0, -dz);
  return vec_mul(n, 1.0 / sqrt(vec_dot(n, n)));
}

RvSceneLabel scene_hit_label(const RvScene *scene, const Hit *hit) {
  if (hit->object >= 0)
    return scene->world->object[hit->object].label;
  switch (hit->material) {
  case MATERIAL_ROAD:
  case MATERIAL_TRACK:
    return RV_LABEL_ROAD;
  case MATERIAL_SIDEWALK:
  case MATERIAL_CURB:
    return RV_LABEL_SIDEWALK;
  case MATERIAL_GRASS:
    return RV_LABEL_GRASS;
  default:
    return RV_LABEL_SKY;
  }
}
