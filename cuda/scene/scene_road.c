/* SPDX-License-Identifier: MIT */
/* scene_road.c: roads that bend, on flat ground. A position on them is `across` m right of the
 * road's middle and z m ahead of the camera; the middle is a profile over z (World.track) that
 * is 0 and points straight ahead at the camera. Paint and textures follow the road. */
#include "scene/scene_internal.h"

#include <math.h>

#define BEND 140.0  /* m of road with one curvature, */
#define EASING 60.0 /* of which the last ones lead over to the next */
#define EXIT 520.0  /* m from exit to exit of the highway */
#define EXIT_LONG 200.0
#define EXIT_AWAY 90.0 /* m after which it leaves the road */
#define EXIT_WIDE 3.6
#define WORN 170.0 /* m of road that is worn or not */

static double bend_of(const RvSceneConfig *config, int k) {
  static const double highway[] = {0.0, 1 / 1000.0,  -1 / 500.0, 1 / 300.0,
                                   0.0, -1 / 1000.0, 1 / 500.0,  -1 / 250.0};
  static const double course[] = {0.0, 1 / 400.0, 0.0, -1 / 400.0};
  const uint32_t number = scene_hash(config->seed, (uint32_t)k, 81u);
  return config->pattern == RV_SCENE_HIGHWAY ? highway[number & 7u] : course[number & 3u];
}

/* Curvature, 1/m, `way` m from the start. */
static double curvature(const RvSceneConfig *config, double way) {
  const int k = floor_int(way / BEND);
  const double into = way - k * BEND - (BEND - EASING), here = bend_of(config, k);
  return into <= 0.0 ? here : here + (bend_of(config, k + 1) - here) * (into / EASING);
}

/* m by which the highway is wider `way` m from the start: exits to the right. */
static double exit_at(double way) {
  const double at = way - EXIT * floor(way / EXIT) - (EXIT - EXIT_LONG);
  if (at <= 0.0)
    return 0.0;
  const double k = at / 50.0, away = at - EXIT_AWAY;
  const double open = k >= 1.0 ? 1.0 : k * k * (3.0 - 2.0 * k);
  return EXIT_WIDE * open + (away > 0.0 ? away * away / 600.0 : 0.0);
}

static double worn_at(const RvSceneConfig *config, double way) {
  const int k = floor_int(way / WORN);
  const double into = way - k * WORN;
  const double here = scene_hash(config->seed, (uint32_t)k, 82u) % 3u == 0 ? 0.35 : 1.0;
  const double next = scene_hash(config->seed, (uint32_t)k + 1u, 82u) % 3u == 0 ? 0.35 : 1.0;
  return into < WORN - 10.0 ? here : here + (next - here) * (into - WORN + 10.0) / 10.0;
}

void scene_bend(const RvScene *scene, World *world) {
  const RvSceneConfig *config = &scene->plan.config;
  const int zero = (int)(-HEIGHT_Z0 / HEIGHT_STEP);
  for (int side = -1; side <= 1; side += 2) {
    double x = 0.0, slope = 0.0;
    for (int i = zero; i >= 0 && i < HEIGHTS; i += side) {
      const double way = world->travel + HEIGHT_Z0 + (i + 0.5 * side) * HEIGHT_STEP;
      world->track[i] = x;
      const double more = curvature(config, way) * side * HEIGHT_STEP;
      x += (slope + 0.5 * more) * side * HEIGHT_STEP;
      slope += more;
    }
  }
  for (int i = 0; i < HEIGHTS; i++) {
    const double way = world->travel + HEIGHT_Z0 + i * HEIGHT_STEP;
    world->exit[i] = config->pattern == RV_SCENE_HIGHWAY ? exit_at(way) : 0.0;
    world->worn[i] = worn_at(config, way);
  }
}

double scene_road_x(const World *world, double across, double z) {
  return scene_profile(world->track, z) + across;
}

/* Unit vector along the road. */
Vec scene_road_ahead(const World *world, double z) {
  const double slope =
      (scene_profile(world->track, z + 1.0) - scene_profile(world->track, z - 1.0)) / 2.0;
  return vec_mul(vec(slope, 0.0, 1.0), 1.0 / sqrt(1.0 + slope * slope));
}

/* A box whose sides follow the road; `bottom` m above the ground. */
Object *scene_block(World *world, Material material, RvSceneLabel label, double across, double z,
                    double bottom, Vec half) {
  Object *box = scene_add(world, SHAPE_CONVEX, material, label,
                          vec(scene_road_x(world, across, z), bottom + half.y, z), half);
  if (!box)
    return NULL;
  scene_turn(box, scene_road_ahead(world, z), vec(0.0, 1.0, 0.0));
  scene_box(box);
  return box;
}

/* A guard rail next to the road, from one position to another (m ahead); `side`: of its posts. */
void scene_rail(World *world, double across, int side, double from, double to) {
  const double piece = 8.0;
  for (int k = floor_int((world->travel + from) / piece); k * piece < world->travel + to; k++) {
    const double z = (k + 0.5) * piece - world->travel;
    if (z < from || z > to)
      continue;
    scene_block(world, MATERIAL_METAL, RV_LABEL_OBJECT, across, z, 0.44,
                vec(0.04, 0.155, 0.5 * piece + 0.02));
    for (int i = 0; i < 2 && z < 60.0; i++)
      scene_block(world, MATERIAL_METAL, RV_LABEL_OBJECT, across + 0.1 * side, z + (i ? 2.0 : -2.0),
                  0.0, vec(0.05, 0.36, 0.03));
  }
}
