/* SPDX-License-Identifier: MIT */
/* scene_lanes_terrain.h: the ground that eight rays of a view meet, and their first hits. */
#ifndef RV_SCENE_LANES_TERRAIN_H
#define RV_SCENE_LANES_TERRAIN_H

#include "scene/scene_lanes_objects.h"
#include "scene/scene_lanes_texture.h"

/* Rays of a view. */
typedef struct Rays {
  Vec origin;
  Vecs dir;
} Rays;

INLINE Doubles above(const World *world, const Rays *ray, Doubles t, double level) {
  const Vec o = ray->origin;
  const Vecs d = ray->dir;
  return o.y + t * d.y - level - ground_height(world, o.x + t * d.x, o.z + t * d.z);
}

/* Where a ray, `over` m above the ground at `lo` and below it at `hi`, goes through: regula
 * falsi after Illinois, which keeps the position between the two and gains digits fast on smooth
 * ground. */
APART Doubles pierce(const World *world, const Rays *ray, double level, Doubles lo, Doubles over,
                     Doubles hi, Doubles under, Longs lanes) {
  Doubles found = d0;
  Longs done = ~lanes;
  for (int i = 0; i < 40; i++) {
    const Longs open = ~done & (hi - lo > 1e-9 * hi);
    if (!any(open))
      break;
    const Doubles t = lo + (hi - lo) * over / (over - under), y = above(world, ray, t, level);
    const Longs here = open & (magnitude(y) < 1e-6);
    found = choose(here, t, found);
    done |= here;
    const Longs higher = open & (y > 0.0), lower = open & ~(y > 0.0);
    lo = choose(higher, t, lo);
    over = choose(higher, y, choose(lower, over * 0.5, over));
    hi = choose(lower, t, hi);
    under = choose(lower, y, choose(higher, under * 0.5, under));
  }
  return choose(done & lanes, found, 0.5 * (lo + hi));
}

#define STEEP 0.3 /* m per m of depth: the ground comes nearer to a level ray no faster */

/* Uneven ground, searched from `near` to `far` with steps that grow with the distance; 0 where a
 * ray does not meet it. */
APART Doubles meet_uneven(const World *world, const Rays *ray, double near, Doubles far,
                          Longs lanes) {
  const Vec o = ray->origin;
  const Vecs d = ray->dir;
  Doubles before = d0 + near, over = above(world, ray, before, 0.0), t = before, y = over;
  Longs crossed = l0, left = l0;
  const Longs below = over <= 0.0;
  Longs open = lanes & ~below;
  for (;;) {
    open &= (before < far) & (o.z + before * d.z < FAR_M);
    const Longs over_all = open & (d.y >= 0.0) & (o.y + before * d.y > world->summit + 0.0);
    left |= over_all;
    open &= ~over_all;
    if (!any(open))
      break;
    const Doubles safe = before + over / (magnitude(d.y) + STEEP);
    const Doubles step = before * world->stride + 0.3;
    const Doubles next = choose(safe > step, safe, step), there = above(world, ray, next, 0.0);
    t = choose(open, next, t);
    y = choose(open, there, y);
    const Longs under = open & (y < 0.0);
    crossed |= under;
    open &= ~under;
    before = choose(open, t, before);
    over = choose(open, y, over);
  }
  const double end = scene_ground_y(world, 0.0, FAR_M); /* level from there on */
  const Doubles level = choose(d.y < 0.0, (0.0 + end - o.y) / d.y, d0);
  Doubles found = choose((level > before) & (level < far), level, d0);
  if (any(crossed))
    found = choose(crossed, pierce(world, ray, 0.0, before, over, t, y, crossed), found);
  return choose(below, d0 + near, choose(left, d0, found));
}

INLINE Doubles meet_ground(const World *world, const Rays *ray, double near, Doubles far,
                           Longs lanes) {
  if (!world->flat)
    return meet_uneven(world, ray, near, far, lanes);
  const Doubles t = (0.0 - ray->origin.y) / ray->dir.y;
  return choose((ray->dir.y < 0.0) & (t > near) & (t < far), t, d0);
}

#define CURB_X 5.7
#define LOT_X 8.7

/* Road, curb, sidewalk and what lies behind, each in place of what stands farther away. The views
 * are above the road: a ray that comes down on the road's level within the curbs never passed over
 * them, and any other ray meets the curb's face or, behind it, the higher level. */
INLINE void meet_street(const RvScene *scene, const Rays *ray, Longs lanes, Hits *hits) {
  const World *world = scene->work->world;
  const Vec o = ray->origin;
  const Vecs d = ray->dir;
  const Doubles low = meet_ground(world, ray, scene->plan.near, 1.2 * hits->t + 1.0, lanes);
  const Longs ground = lanes & (low != 0.0);
  if (!any(ground))
    return;
  const Longs between = magnitude(o.x + low * d.x) < CURB_X, beside = ground & ~between;
  const Longs road = ground & between & (low < hits->t);
  if (any(beside)) {
    const Longs right = d.x > 0.0;
    const Doubles curb = (choose(right, d0 + CURB_X, d0 - CURB_X) - o.x) / d.x;
    const Doubles over = above(world, ray, curb, world->curb);
    const Longs behind = beside & (over > 0.0);
    Doubles t = curb;
    Longs id = choose_longs(right, l0 + ID(-2, MATERIAL_CURB, 1), l0 + ID(-2, MATERIAL_CURB, 0));
    if (any(behind)) {
      const Doubles at =
          pierce(world, ray, world->curb, curb, over, low, -(d0 + world->curb), behind);
      t = choose(behind, at, t);
      const Longs lot = magnitude(o.x + t * d.x) < LOT_X;
      id = choose_longs(
          behind,
          choose_longs(lot, l0 + ID(-2, MATERIAL_SIDEWALK, 0), l0 + ID(-2, MATERIAL_GRASS, 0)), id);
    }
    const Longs found = beside & (t > scene->plan.near) & (t < hits->t);
    hits->t = choose(found, t, hits->t);
    hits->id = choose_longs(found, id, hits->id);
  }
  hits->t = choose(road, low, hits->t);
  hits->id = choose_longs(road, l0 + ID(-2, MATERIAL_ROAD, 0), hits->id);
}

/* A road that bends, and grass next to it, on one level. */
INLINE void meet_bent(const RvScene *scene, const Rays *ray, Longs lanes, Hits *hits) {
  const World *world = scene->work->world;
  const Vec o = ray->origin;
  const Vecs d = ray->dir;
  const Doubles t = meet_ground(world, ray, scene->plan.near, 1.2 * hits->t + 1.0, lanes);
  const Longs nearer = lanes & (t != 0.0) & (t < hits->t);
  if (!any(nearer))
    return;
  const Doubles z = o.z + t * d.z, across = o.x + t * d.x - profiles(world->track, z);
  const Longs on = (across > world->edge[0]) & (across < world->edge[1] + profiles(world->exit, z));
  hits->t = choose(nearer, t, hits->t);
  hits->id = choose_longs(
      nearer, choose_longs(on, l0 + ID(-2, MATERIAL_ROAD, 0), l0 + ID(-2, MATERIAL_GRASS, 0)),
      hits->id);
}

/* m inside the track, below 0 outside. Its edge is frayed by a texture; labels and colors read the
 * same value. */
INLINE Doubles track_inside(const RvScene *scene, Doubles x, Doubles z) {
  const World *world = scene->work->world;
  const Doubles from_middle = magnitude(x - profiles(world->track, z)), down = z + world->travel;
  const Doubles fray = to_doubles(sharp_texel(scene, TEX_CLOUD, x, down, 20.0f)) - 0.5;
  return 1.75 + 2.2 * fray - from_middle;
}

#define GRASS_NEAR 12.0 /* m: from here on it is drawn ever lower, */
#define GRASS_FAR 20.0  /* up to here: pixels become longer than tufts */
#define GRASS_STEPS 10
#define TUFTS 100.0f /* texels per m: the largest tufts are 0.6 m across */

/* Height of the grass above the ground, m; 0 on the track. A function of the position alone, so
 * that both views see the same blades. */
INLINE Doubles grass_height(const RvScene *scene, Doubles x, Doubles z, Longs lanes) {
  const Doubles outside = -track_inside(scene, x, z);
  lanes &= ~((outside <= 0.0) | (z >= GRASS_FAR));
  if (!any(lanes))
    return d0;
  const Floats tuft =
      sharp_texel(scene, TEX_CLOUD, x + 23.0, z + scene->work->world->travel, TUFTS);
  const Floats edge = clamp01s(to_floats(outside) * 3.0f);
  const Floats fade = clamp01s(to_floats((GRASS_FAR - z) / (GRASS_FAR - GRASS_NEAR)));
  const Floats height = edge * fade * clamp01s(2.2f * (tuft - 0.5f) + 0.45f);
  return choose(lanes, scene->plan.config.grass_height * to_doubles(height), d0);
}

/* Where rays, which meet the ground at `t`, meet the grass on it. */
INLINE Doubles meet_grass(const RvScene *scene, const Rays *ray, Doubles t, Longs lanes) {
  const Vec o = ray->origin;
  const Vecs d = ray->dir;
  Doubles right, ahead;
  ground_slopes(scene->work->world, o.x + t * d.x, o.z + t * d.z, &right, &ahead);
  const Doubles sink = right * d.x + ahead * d.z - d.y; /* m towards the ground per m of t */
  const Doubles reach = scene->plan.config.grass_height / sink;
  Longs open = lanes & (reach > 0.0) & ~((sink < 1e-3) | (o.z + t * d.z > GRASS_FAR + reach));
  Doubles before = t, over = d0 - 1.0; /* above the grass; below 0: not known yet */
  Doubles found = t;
  for (int i = 0; i <= GRASS_STEPS && any(open); i++) {
    const Doubles at = t - reach * (double)(GRASS_STEPS - i) / (double)GRASS_STEPS;
    const Longs tried = open & ~(at <= scene->plan.near);
    if (!any(tried))
      continue;
    const Doubles x = o.x + at * d.x, z = o.z + at * d.z;
    const Doubles now = (t - at) * sink - grass_height(scene, x, z, tried);
    const Longs in = tried & (now <= 0.0);
    const Doubles crossing = before + (at - before) * over / (over - now);
    found = choose(in, choose(over > 0.0, crossing, at), found);
    open &= ~in;
    before = choose(tried, at, before);
    over = choose(tried, now, over);
  }
  return found;
}

INLINE void meet_offroad(const RvScene *scene, const Rays *ray, Longs lanes, Hits *hits) {
  const Doubles ground =
      meet_ground(scene->work->world, ray, scene->plan.near, 1.2 * hits->t + 1.0, lanes);
  lanes &= ground != 0.0;
  if (!any(lanes))
    return;
  const Doubles t = meet_grass(scene, ray, ground, lanes);
  const Longs nearer = lanes & (t < hits->t);
  if (!any(nearer))
    return;
  const Vecs p = vecs_add(vecs_of(ray->origin), vecs_mul(ray->dir, t));
  const Longs track = track_inside(scene, p.x, p.z) > 0.0;
  hits->t = choose(nearer, t, hits->t);
  hits->id = choose_longs(
      nearer, choose_longs(track, l0 + ID(-2, MATERIAL_TRACK, 0), l0 + ID(-2, MATERIAL_GRASS, 0)),
      hits->id);
}

/* First hits of the rays through positions (x, y) of a view, nearer than `far`; the sky, at `far`,
 * without one. */
APART Hits trace(const RvScene *scene, int view, Doubles x, Doubles y, Doubles far, Longs lanes) {
  const Rays ray = {scene->work->world->view[view], directions(scene, x, y)};
  Hits hits = {far, l0 + ID(-1, MATERIAL_SKY, 0)};
  meet_objects(scene, view, ray.dir, x, y, lanes, &hits);
  if (scene->plan.config.pattern == RV_SCENE_OFFROAD)
    meet_offroad(scene, &ray, lanes, &hits);
  else if (scene->work->world->bent)
    meet_bent(scene, &ray, lanes, &hits);
  else if (scene->plan.config.pattern != RV_SCENE_PLANES)
    meet_street(scene, &ray, lanes, &hits);
  return hits;
}

#endif
