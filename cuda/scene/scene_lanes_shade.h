/* SPDX-License-Identifier: MIT */
/* scene_lanes_shade.h: the colors of several hits on one material: light, shadow, mirrored sky,
 * haze; and the sky itself. */
#ifndef RV_SCENE_LANES_SHADE_H
#define RV_SCENE_LANES_SHADE_H

#include "scene/scene_lanes_ground.h"
#include "scene/scene_lanes_material.h"

INLINE Colors clear_sky(const World *world, Vecs dir, Doubles length) {
  const Floats up = clamp01s(to_floats(dir.y / length) * 1.7f + 0.02f);
  const Color low = scene_horizon, high = scene_zenith;
  const Colors c = colors_mix(colors_of(low.r, low.g, low.b), colors_of(high.r, high.g, high.b),
                              up * (2.0f - up));
  return colors(c.r * world->light.r, c.g * world->light.g, c.b * world->light.b);
}

/* Clouds on a layer far up; no parallax, thus the same for both views. */
APART Colors sky(const RvScene *scene, Vecs dir) {
  const World *world = scene->work->world;
  const Doubles length = root(dots(dir, dir)), up = dir.y / length;
  const Colors clear = clear_sky(world, dir, length);
  const Longs low = up < 0.01;
  if (!any(~low))
    return clear;
  const Doubles k = 1.0 / (up + 0.12);
  const Floats f = to_floats(k * k / scene->plan.camera.focal);
  const Doubles u = dir.x / length * k + world->travel * 2e-4, v = dir.z / length * k;
  const Floats big = texel(scene, TEX_CLOUD, u, v, f, f, 42.0f);
  const Floats cover = clamp01s((big - 0.46f) * 4.5f) * clamp01s(to_floats(up) * 9.0f);
  return choose_colors(narrow(low), clear,
                       colors_mix(clear, colors_of(247, 248, 250), 0.85f * cover));
}

/* What a wet road mirrors: the sky, and below it the street's fronts as a dark band whose top
 * follows the direction; a smooth thing that moves with the view, as on a real road. */
INLINE Colors mirrored(const RvScene *scene, Vecs point, Vecs dir) {
  const World *world = scene->work->world;
  const Colors clear = clear_sky(world, dir, root(dots(dir, dir)));
  if (scene->plan.config.pattern == RV_SCENE_OFFROAD || world->bent)
    return clear;
  const Longs right = dir.x > 0.0;
  const Doubles reach = (choose(right, d0 + 8.7, d0 - 8.7) - point.x) / dir.x;
  const Doubles high = reach * dir.y, along = point.z + world->travel + reach * dir.z;
  const Longs none = (dir.x == 0.0) | (reach < 0.0) | (reach > 300.0);
  if (!any(~none))
    return clear;
  const Floats tall =
      8.0f + 5.0f * texel(scene, TEX_CLOUD, along, choose(right, d0 + 3.0, d0 + 90.0), f0 + 8.0f,
                          f0 + 0.1f, 2.0f);
  const Floats front = clamp01s((tall - to_floats(high)) * 0.5f);
  return choose_colors(narrow(none), clear,
                       colors_mix(clear, colors_of(112, 104, 96), 0.85f * front));
}

INLINE Ints objects_of(Longs id) {
  return narrow(id >> 10) - 2;
}
INLINE Ints faces_in(Longs id) {
  return narrow(id >> 1) & 15;
}
INLINE int material_of(int64_t id) {
  return (int)(id >> 5 & 31);
}

/* Of cylinders and ellipsoids. */
INLINE Vecs round_normals(const Spots *s) {
  Longs upright = l0;
  for (int i = 0; i < LANES; i++)
    upright[i] = -(int64_t)(s->object[i]->shape == SHAPE_CYLINDER);
  const Vecs p = vecs_sub(s->point, VECS_OF(s, origin)), h = VECS_OF(s, half);
  const Vecs n = choose_vecs(upright, vecs(p.x, d0, p.z),
                             vecs(p.x / (h.x * h.x), p.y / (h.y * h.y), p.z / (h.z * h.z)));
  return vecs_mul(n, 1.0 / root(dots(n, n)));
}

/* Normals of bodies; `face` and `point` of `s` are set. */
INLINE Vecs body_normals(const Spots *s) {
  if (s->same && s->object[0]->shape == SHAPE_CONVEX && all_same(s->face))
    return vecs_of(s->object[0]->normal[s->face[0]]);
  if (s->same && s->object[0]->shape != SHAPE_CONVEX)
    return round_normals(s);
  Longs convex = l0;
  Vecs n = vecs(d0, d0, d0);
  for (int i = 0; i < LANES; i++) {
    const Vec *normal = &s->object[i]->normal[s->face[i]];
    convex[i] = -(int64_t)(s->object[i]->shape == SHAPE_CONVEX);
    n.x[i] = normal->x;
    n.y[i] = normal->y;
    n.z[i] = normal->z;
  }
  return any(~convex) ? choose_vecs(convex, n, round_normals(s)) : n;
}

INLINE Vecs ground_normals(const World *world, Vecs point, Ints face, Longs curbs) {
  Vecs n = vecs(d0, d0 + 1.0, d0);
  if (!world->flat) {
    Doubles right, ahead;
    ground_slopes(world, point.x, point.z, &right, &ahead);
    n = vecs(-right, d0 + 1.0, -ahead);
    n = vecs_mul(n, 1.0 / root(dots(n, n)));
  }
  const Doubles aside = choose(widen(face != 0), d0 - 1.0, d0 + 1.0);
  return choose_vecs(curbs, vecs(aside, d0, d0), n);
}

/* Whether the sun does not reach hits that it could reach: of the lanes that are on a surface
 * turned towards it. */
APART Longs shadows(const RvScene *scene, Vec origin, Vecs dir, const Hits *hits, Longs lanes) {
  const World *world = scene->work->world;
  const Ints object = objects_of(hits->id);
  lanes &= widen(object != -1);
  if (scene->plan.config.pattern == RV_SCENE_PLANES || !any(lanes))
    return l0;
  const Longs ground = widen(object < 0);
  Spots s;
  s.point = vecs_add(vecs_of(origin), vecs_mul(dir, hits->t));
  s.face = faces_in(hits->id);
  Vecs normal = vecs(d0, d0, d0);
  if (any(ground))
    normal = ground_normals(world, s.point, s.face, (hits->id >> 5 & 31) == MATERIAL_CURB);
  if (any(~ground)) {
    s.same = all_same(object);
    for (int i = 0; i < LANES; i++)
      s.object[i] = &world->object[object[i] > 0 ? object[i] : 0];
    normal = choose_vecs(ground, normal, body_normals(&s));
  }
  lanes &= ~(dots(normal, vecs_of(world->sun)) <= 0.0); /* turned away: dark anyway */
  return in_shadow(scene, s.point, widen(object), lanes);
}

/* How the visible point moves on the surface for one pixel step of the camera's axis. */
INLINE Vecs steps_on(const RvScene *scene, const Spots *s, Vec axis) {
  const Vecs along = vecs_of(axis);
  const Doubles pixel = s->t / scene->plan.camera.focal, seen = dots(s->normal, s->dir);
  const Doubles facing = choose(seen < 0.0, choose(seen > -0.015, d0 - 0.015, seen),
                                choose(seen < 0.015, d0 + 0.015, seen));
  return vecs_mul(vecs_sub(along, vecs_mul(s->dir, dots(s->normal, along) / facing)), pixel);
}

/* Daylight that reaches the ground beside and below cars: 1 in the open. */
INLINE Floats openness(const World *world, Vecs point) {
  const Ints cell = floor_ints((point.z - SHADE_Z0) / SHADE_CELL);
  const Ints in = (cell >= 0) & (cell < SHADE_Z);
  Floats open = f0 + 1.0f;
  if (!any_ints(in))
    return open;
  for (Marks m = marks_of(world, world->close, in & cell); marks_next(&m);) {
    const Object *car = &world->object[world->order[m.rank]];
    /* A car leans by a few degrees at most. */
    const Longs beside =
        m.lanes & widen(in) & ~((point.x < car->low.x - 1.0) | (point.x > car->high.x + 1.0));
    if (!any(beside))
      continue;
    const Vecs p = vecs_sub(point, vecs_of(car->origin));
    const Doubles dx = magnitude(dots(p, vecs_of(car->right))) - car->half.x + 0.25;
    const Doubles dz = magnitude(dots(p, vecs_of(car->ahead))) - car->half.z + 0.3;
    const Doubles ox = choose(dx > 0.0, dx, d0), oz = choose(dz > 0.0, dz, d0);
    const Floats away = clamp01s(to_floats((ox * ox + oz * oz) * 1.6));
    open = choose_floats(narrow(beside), open * (0.25f + 0.75f * away * (2.0f - away)), open);
  }
  return open;
}

INLINE Colors lit(const World *world, const Spots *s, Colors albedo, Ints shadow, Floats open) {
  const Floats facing = to_floats(dots(s->normal, vecs_of(world->sun)));
  const Floats sun = choose_floats(shadow | (facing <= 0.0f), f0, world->sunlight * facing);
  const Floats above_ = world->ambient * (0.8f + 0.2f * to_floats(s->normal.y)) * open;
  /* Shadow is lit by the blue sky. */
  return colors(albedo.r * (sun * world->light.r + above_ * 0.95f),
                albedo.g * (sun * world->light.g + above_ * 1.0f),
                albedo.b * (sun * world->light.b + above_ * 1.12f));
}

/* Adds the mirror image of shiny places. */
INLINE Colors polished(const RvScene *scene, const Spots *s, Colors c) {
  const Ints shiny = s->shiny > 0.01f;
  if (!any_ints(shiny))
    return c;
  const Doubles seen = dots(s->dir, s->normal);
  const Vecs mirror = vecs_sub(s->dir, vecs_mul(s->normal, 2.0 * seen));
  const Doubles length = root(dots(s->dir, s->dir));
  const Floats graze = 1.0f + to_floats(seen / length); /* Schlick */
  const Floats share = s->shiny * (0.15f + 0.85f * graze * graze * graze);
  return choose_colors(shiny, colors_mix(c, mirrored(scene, s->point, mirror), share), c);
}

INLINE Vecs spot_normals(const World *world, Spots *s, Longs id, Material material) {
  const Ints object = objects_of(id);
  s->same = all_same(object);
  if (object[0] < 0) {
    s->object[0] = NULL;
    return ground_normals(world, s->point, s->face, l0 - (material == MATERIAL_CURB));
  }
  for (int i = 0; i < LANES; i++)
    s->object[i] = &world->object[object[i]];
  return body_normals(s);
}

/* All hits are on the material of the first. */
APART Colors shade_hits(const RvScene *scene, int view, Doubles x, Doubles y, const Hits *hits,
                        Ints shadow) {
  const World *world = scene->work->world;
  const Material material = (Material)material_of(hits->id[0]);
  const Vecs dir = directions(scene, x, y);
  if (material == MATERIAL_SKY)
    return sky(scene, dir);
  Spots s;
  s.t = hits->t;
  s.dir = dir;
  s.face = faces_in(hits->id);
  s.shiny = f0;
  s.point = vecs_add(vecs_of(world->view[view]), vecs_mul(dir, hits->t));
  const Vecs normal = spot_normals(world, &s, hits->id, material);
  const Longs behind = dots(normal, dir) > 0.0; /* the inside of a crown's shell */
  s.normal = choose_vecs(behind, vecs_mul(normal, d0 - 1.0), normal);
  s.dx = steps_on(scene, &s, world->right);
  s.dy = steps_on(scene, &s, world->down);
  const int ground = !s.object[0];
  const Colors albedo =
      ground ? ground_colors(scene, &s, material) : object_colors(scene, &s, material);
  Colors c = lit(world, &s, albedo, shadow, ground ? openness(world, s.point) : f0 + 1.0f);
  c = polished(scene, &s, c);
  if (scene->plan.config.pattern == RV_SCENE_PLANES)
    return c;
  const Floats haze = to_floats(hits->t / (hits->t + 420.0));
  return colors_mix(c, colors_of(world->haze.r, world->haze.g, world->haze.b), haze);
}

#endif
