/* SPDX-License-Identifier: MIT */
/* scene_lanes_objects.h: bodies that rays meet, on their way from a view or towards the sun. */
#ifndef RV_SCENE_LANES_OBJECTS_H
#define RV_SCENE_LANES_OBJECTS_H

#include "scene/scene_lanes.h"

/* What rays meet on one body. */
typedef struct Meeting {
  Longs met;
  Doubles t;
  Longs face;
} Meeting;

/* The rays of a view, between `near` and `far`. How far a plane is from the view is known, and
 * with it whether rays may enter or leave through it. */
INLINE Meeting meet_convex(const Object *object, int view, Vecs dir, double near, Doubles far,
                           Longs lanes) {
  Doubles in = d0 + near, out = far;
  Meeting m = {lanes, d0, l0 - 1};
  for (int i = 0; i < object->planes; i++) {
    const Vec n = object->normal[i];
    const Doubles slope = n.x * dir.x + n.y * dir.y + n.z * dir.z;
    const double room = object->room[view][i];
    if (room < 0.0) {
      m.met &= slope < 0.0; /* others stay outside */
      const Doubles at = room / slope;
      const Longs later = at > in;
      in = choose(later, at, in);
      m.face = choose_longs(later, l0 + i, m.face);
    } else if (room > 0.0) {
      const Doubles at = room / slope;
      out = choose((slope > 0.0) & (at < out), at, out);
    } else {
      m.met &= ~(slope > 0.0);
    }
    m.met &= in < out;
    if (!any(m.met))
      return m;
  }
  m.met &= m.face >= 0;
  m.t = in;
  return m;
}

/* Rays towards the sun from points outside the body: the slopes are known. */
INLINE Longs shade_convex(const Object *object, Vecs point, double near, double far, Longs lanes) {
  Doubles in = d0 + near, out = d0 + far;
  Longs met = lanes, entered = l0;
  for (int i = 0; i < object->planes; i++) {
    const Vec n = object->normal[i];
    const Doubles room = object->offset[i] - (n.x * point.x + n.y * point.y + n.z * point.z);
    const double slope = object->sunny[i];
    const Doubles at = room / slope;
    if (slope < 0.0) {
      const Longs later = (room < 0.0) & (at > in);
      in = choose(later, at, in);
      entered |= later;
    } else if (slope > 0.0) {
      met &= ~(room <= 0.0);
      out = choose(at < out, at, out);
    } else {
      met &= ~(room < 0.0);
    }
    met &= in < out;
    if (!any(met))
      return met;
  }
  return met & entered;
}

/* `from`: the origin of the rays, seen from the middle of the body. */
INLINE Meeting meet_cylinder(const Object *object, Vecs from, Vecs dir, double near, Doubles far,
                             Longs lanes) {
  const Doubles a = dir.x * dir.x + dir.z * dir.z;
  const Doubles b = from.x * dir.x + from.z * dir.z;
  const Doubles c = from.x * from.x + from.z * from.z - object->half.x * object->half.x;
  const Doubles inside = b * b - a * c;
  Meeting m = {lanes & ~((inside <= 0.0) | (a == 0.0)), d0, l0};
  if (!any(m.met))
    return m;
  m.t = (-b - root(inside)) / a;
  m.met &= ~((m.t <= near) | (m.t >= far) | (magnitude(from.y + m.t * dir.y) > object->half.y));
  return m;
}

/* Holes in the shell of a tree's crown: a function of the position, thus the same for both
 * views. */
APART Longs leaf_holes(Vecs p, uint32_t style) {
  const Doubles x = p.x * 3.1 + 64.0, y = p.y * 3.1 + 64.0, z = p.z * 3.1 + 64.0;
  const Ints ix = to_ints(x), iy = to_ints(y), iz = to_ints(z);
  const Doubles a = x - ints_to_doubles(ix), b = y - ints_to_doubles(iy);
  const Doubles c = z - ints_to_doubles(iz);
  const Doubles across[2] = {1.0 - a, a}, up[2] = {1.0 - b, b}, along[2] = {1.0 - c, c};
  Doubles value = d0;
  for (int i = 0; i < 8; i++) {
    const int dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
    const Words cell = (Words)(ix + dx) | (Words)(iy + dy) << 10 | (Words)(iz + dz) << 20;
    const Words hash = hashes((Words)i0 + style, cell, (Words)i0 + 5u);
    value += across[dx] * up[dy] * along[dz] * ints_to_doubles((Ints)(hash >> 16));
  }
  return value < 0.41 * 65536.0;
}

INLINE Meeting meet_ellipsoid(const Object *object, Vecs from, Vecs dir, double near, Doubles far,
                              Longs lanes) {
  const Vec h = object->half;
  const Vecs p = vecs(from.x / h.x, from.y / h.y, from.z / h.z);
  const Vecs d = vecs(dir.x / h.x, dir.y / h.y, dir.z / h.z);
  const Doubles a = dots(d, d), b = dots(p, d), c = dots(p, p) - 1.0;
  const Doubles inside = b * b - a * c;
  Meeting m = {l0, d0, l0};
  lanes &= ~(inside <= 0.0);
  if (!any(lanes))
    return m;
  const Doubles reach = root(inside);
  for (int side = -1; side <= 1; side += 2) { /* the shell in front, then the one behind */
    const Doubles at = (-b + (double)side * reach) / a;
    Longs met = lanes & ~((at <= near) | (at >= far));
    if (object->material == MATERIAL_LEAVES && any(met))
      met &= ~leaf_holes(vecs_add(from, vecs_mul(dir, at)), object->style);
    m.t = choose(met, at, m.t);
    m.met |= met;
    lanes &= ~met;
    if (!any(lanes))
      break;
  }
  return m;
}

INLINE Meeting meet(const Object *object, int view, Vec origin, Vecs dir, double near, Doubles far,
                    Longs lanes) {
  if (object->shape == SHAPE_CONVEX)
    return meet_convex(object, view, dir, near, far, lanes);
  const Vecs from = vecs_of(vec_sub(origin, object->origin));
  return object->shape == SHAPE_CYLINDER ? meet_cylinder(object, from, dir, near, far, lanes)
                                         : meet_ellipsoid(object, from, dir, near, far, lanes);
}

/* The objects before what has been found so far. */
INLINE void meet_objects(const RvScene *scene, int view, Vecs dir, Doubles x, Doubles y,
                         Longs lanes, Hits *hits) {
  const World *world = scene->work->world;
  Ints tx = to_ints(x * (double)TILES_X / (double)scene->plan.config.width);
  Ints ty = to_ints(y * (double)TILES_Y / (double)scene->plan.config.height);
  tx &= ~(tx < 0);
  ty &= ~(ty < 0);
  tx = ((tx > TILES_X - 1) & (TILES_X - 1)) | (~(tx > TILES_X - 1) & tx);
  ty = ((ty > TILES_Y - 1) & (TILES_Y - 1)) | (~(ty > TILES_Y - 1) & ty);
  for (Marks m = marks_of(world, &world->tile[view][0][0], ty * TILES_X + tx); marks_next(&m);) {
    const Longs before = lanes & ~(world->nearest[m.rank] > hits->t);
    if (!any(before))
      return;
    const Longs covered = before & m.lanes & rect_holds(&world->cover[view][m.rank], x, y);
    if (!any(covered))
      continue;
    const int index = world->order[m.rank];
    const Object *object = &world->object[index];
    const Meeting found =
        meet(object, view, world->view[view], dir, scene->plan.near, hits->t, covered);
    hits->t = choose(found.met, found.t, hits->t);
    hits->id = choose_longs(found.met, ID(index, object->material, 0) | found.face << 1, hits->id);
  }
}

/* Whether a body stands between points and the sun; `self`: the object of each point. */
INLINE Longs in_shadow(const RvScene *scene, Vecs point, Longs self, Longs lanes) {
  const World *world = scene->work->world;
  const Doubles k = point.y / world->sun.y;
  const Doubles x = point.x - k * world->sun.x, z = point.z - k * world->sun.z;
  const Ints cx = floor_ints((x - SHADE_X0) / SHADE_CELL);
  const Ints cz = floor_ints((z - SHADE_Z0) / SHADE_CELL);
  const Ints in = (cx >= 0) & (cx < SHADE_X) & (cz >= 0) & (cz < SHADE_Z);
  lanes &= widen(in);
  const Vecs sun = vecs_of(world->sun);
  Longs dark = l0;
  if (!any(lanes))
    return dark;
  for (Marks m = marks_of(world, &world->shade[0][0], (in & cz) * SHADE_X + (in & cx));
       marks_next(&m);) {
    const int index = world->order[m.rank];
    const Longs tried = lanes & m.lanes & rect_holds(&world->cast[m.rank], x, z) & (self != index);
    if (!any(tried))
      continue;
    const Object *object = &world->object[index];
    const Vecs from = vecs_sub(point, vecs_of(object->origin));
    Longs met;
    if (object->shape == SHAPE_CONVEX)
      met = shade_convex(object, point, 1e-3, 1e9, tried);
    else if (object->shape == SHAPE_CYLINDER)
      met = meet_cylinder(object, from, sun, 1e-3, d0 + 1e9, tried).met;
    else
      met = meet_ellipsoid(object, from, sun, 1e-3, d0 + 1e9, tried).met;
    dark |= met;
    lanes &= ~met;
    if (!any(lanes))
      return dark;
  }
  return dark;
}

#endif
