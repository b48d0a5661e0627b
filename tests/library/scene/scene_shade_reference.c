/* SPDX-License-Identifier: MIT */
/* scene_shade_reference.c: the color of a hit: light, shadow, mirrored sky, haze; and the sky
 * itself. */
#include "scene/scene_reference.h"

#include <math.h>

static Color clear_sky(const World *world, Vec dir) {
  const double length = sqrt(vec_dot(dir, dir));
  const float up = clamp01((float)(dir.y / length) * 1.7f + 0.02f);
  const Color c = color_mix(scene_horizon, scene_zenith, up * (2.0f - up));
  return color(c.r * world->light.r, c.g * world->light.g, c.b * world->light.b);
}

/* Clouds on a layer far up; no parallax, thus the same for both views. */
static Color scene_sky(const RvScene *scene, Vec dir) {
  const World *world = scene->work->world;
  const Color clear = clear_sky(world, dir);
  const double length = sqrt(vec_dot(dir, dir)), up = dir.y / length;
  if (up < 0.01)
    return clear;
  const double k = 1.0 / (up + 0.12);
  const float f = (float)(k * k / scene->plan.camera.focal);
  const double u = dir.x / length * k + world->travel * 2e-4, v = dir.z / length * k;
  const float big = scene_texel(scene, TEX_CLOUD, u, v, f, f, 42.0f);
  const float cover = clamp01((big - 0.46f) * 4.5f) * clamp01((float)up * 9.0f);
  return color_mix(clear, color(247, 248, 250), 0.85f * cover);
}

/* m that one pixel covers along a unit vector of the surface. */
float scene_extent(Vec axis, const Spot *spot) {
  return (float)(absolute(vec_dot(axis, spot->dx)) + absolute(vec_dot(axis, spot->dy)));
}

/* How the place seen moves on the surface for one pixel step of the camera's axis. */
static Vec step_on(const RvScene *scene, const Spot *spot, Vec axis) {
  const double pixel = spot->t / scene->plan.camera.focal;
  double facing = vec_dot(spot->normal, spot->dir);
  facing = facing < 0.0 ? (facing > -0.015 ? -0.015 : facing) : (facing < 0.015 ? 0.015 : facing);
  return vec_mul(vec_sub(axis, vec_mul(spot->dir, vec_dot(spot->normal, axis) / facing)), pixel);
}

/* Daylight that reaches the ground beside and below cars: 1 in the open. */
static float openness(const World *world, Vec point) {
  const int cell = floor_int((point.z - SHADE_Z0) / SHADE_CELL);
  if (cell < 0 || cell >= SHADE_Z)
    return 1.0f;
  float open = 1.0f;
  for (int w = 0; w < OBJECT_WORDS; w++)
    for (uint64_t word = world->close[cell].word[w]; word; word &= word - 1) {
      const Object *car = &world->object[world->order[w * 64 + __builtin_ctzll(word)]];
      /* A car leans by a few degrees at most. */
      if (point.x < car->low.x - 1.0 || point.x > car->high.x + 1.0)
        continue;
      const Vec p = scene_local(car, point);
      const double dx = absolute(p.x) - car->half.x + 0.25, dz = absolute(p.z) - car->half.z + 0.3;
      const double ox = dx > 0.0 ? dx : 0.0, oz = dz > 0.0 ? dz : 0.0;
      const float away = clamp01((float)((ox * ox + oz * oz) * 1.6));
      open *= 0.25f + 0.75f * away * (2.0f - away);
    }
  return open;
}

static Color lit(const World *world, const Spot *spot, Color albedo, int shadow, float open) {
  const float facing = (float)vec_dot(spot->normal, world->sun);
  const float sun = shadow || facing <= 0.0f ? 0.0f : world->sunlight * facing;
  const float sky = world->ambient * (0.8f + 0.2f * (float)spot->normal.y) * open;
  /* Shadow is lit by the blue sky. */
  return color(albedo.r * (sun * world->light.r + sky * 0.95f),
               albedo.g * (sun * world->light.g + sky * 1.0f),
               albedo.b * (sun * world->light.b + sky * 1.12f));
}

static Color scene_mirror(const RvScene *scene, Vec point, Vec dir);

Color scene_shade(const RvScene *scene, const Ray *ray, const Hit *hit, int shadow) {
  const World *world = scene->work->world;
  if (hit->object == -1)
    return scene_sky(scene, ray->dir);
  Spot spot = {.t = hit->t, .dir = ray->dir, .face = hit->face};
  spot.point = vec_add(ray->origin, vec_mul(ray->dir, hit->t));
  spot.normal = scene_normal(scene, hit, spot.point);
  if (vec_dot(spot.normal, spot.dir) > 0.0) /* the inside of a crown's shell */
    spot.normal = vec_mul(spot.normal, -1.0);
  spot.object = hit->object >= 0 ? &world->object[hit->object] : NULL;
  spot.dx = step_on(scene, &spot, world->right);
  spot.dy = step_on(scene, &spot, world->down);
  const int ground = !spot.object;
  const Color albedo = ground ? scene_ground_color(scene, &spot, hit->material)
                              : scene_object_color(scene, &spot, hit->material);
  Color c = lit(world, &spot, albedo, shadow, ground ? openness(world, spot.point) : 1.0f);
  if (spot.shiny > 0.01f) {
    const Vec mirror =
        vec_sub(spot.dir, vec_mul(spot.normal, 2.0 * vec_dot(spot.dir, spot.normal)));
    const double length = sqrt(vec_dot(spot.dir, spot.dir));
    const float graze = 1.0f + (float)(vec_dot(spot.dir, spot.normal) / length); /* Schlick */
    const float share = spot.shiny * (0.15f + 0.85f * graze * graze * graze);
    c = color_mix(c, scene_mirror(scene, spot.point, mirror), share);
  }
  if (scene->plan.config.pattern == RV_SCENE_PLANES)
    return c;
  const float haze = (float)(hit->t / (hit->t + 420.0));
  return color_mix(c, world->haze, haze);
}

/* What a wet road mirrors: the sky, and below it the street's fronts as a dark band whose top
 * follows the direction; a smooth thing that moves with the view, as on a real road. */
static Color scene_mirror(const RvScene *scene, Vec point, Vec dir) {
  const World *world = scene->work->world;
  const Color sky = clear_sky(world, dir);
  if (scene->plan.config.pattern == RV_SCENE_OFFROAD || world->bent || dir.x == 0.0)
    return sky;
  const double reach = ((dir.x > 0.0 ? 8.7 : -8.7) - point.x) / dir.x;
  const double high = reach * dir.y, along = point.z + world->travel + reach * dir.z;
  if (reach < 0.0 || reach > 300.0)
    return sky;
  const float tall = 8.0f + 5.0f * scene_texel(scene, TEX_CLOUD, along, dir.x > 0.0 ? 3.0 : 90.0,
                                               8.0f, 0.1f, 2.0f);
  const float front = clamp01((tall - (float)high) * 0.5f);
  return color_mix(sky, color(112, 104, 96), 0.85f * front);
}
