/* SPDX-License-Identifier: MIT */
/* scene_offroad.c: what stands along the dirt track of `offroad`, and the slabs of `planes`. */
#include "scene/scene_internal.h"

#include <math.h>

#define CELL 5.0 /* m of track */
#define BEHIND 10.0

static void add_bush(World *world, double x, double z, uint32_t style) {
  uint32_t random = style;
  const double r = 0.5 + 0.7 * scene_unit(&random);
  for (int i = 0; i < 2; i++) {
    const double dx = (scene_unit(&random) - 0.5) * r, dz = (scene_unit(&random) - 0.5) * r;
    Object *bush = scene_add(world, SHAPE_ELLIPSOID, MATERIAL_LEAVES, RV_LABEL_TREE,
                             vec(x + dx, scene_ground_y(world, x + dx, z + dz) + 0.35 * r, z + dz),
                             vec(r, 0.75 * r, r));
    if (!bush)
      return;
    bush->style = style + (uint32_t)i;
    bush->tint = color(92, 104, 52);
  }
}

static void add_rock(World *world, double x, double z, uint32_t style) {
  uint32_t random = style;
  const double r = 0.25 + 0.5 * scene_unit(&random);
  Object *rock =
      scene_add(world, SHAPE_CONVEX, MATERIAL_ROCK, RV_LABEL_WALL,
                vec(x, scene_ground_y(world, x, z) + 0.2 * r, z), vec(1.3 * r, 1.3 * r, 1.3 * r));
  if (!rock)
    return;
  rock->style = style;
  for (int i = 0; i < 12; i++) {
    const Vec n =
        vec(scene_unit(&random) - 0.5, 0.9 * scene_unit(&random) - 0.2, scene_unit(&random) - 0.5);
    if (vec_dot(n, n) > 0.01)
      scene_plane(rock, n, vec_mul(n, r * (0.7 + 0.3 * scene_unit(&random)) / sqrt(vec_dot(n, n))));
  }
  scene_plane(rock, vec(0, -1, 0), vec(0, -r, 0));
  scene_plane(rock, vec(0.1, 0.2, -1), vec(0, 0, -0.9 * r));
}

static void add_fence(World *world, double x, double z) {
  scene_add(world, SHAPE_CYLINDER, MATERIAL_WOOD, RV_LABEL_POLE,
            vec(x, scene_ground_y(world, x, z) + 0.5, z), vec(0.06, 0.65, 0.06));
}

void scene_build_offroad(const RvScene *scene, World *world) {
  const uint32_t seed = scene->plan.config.seed;
  for (int k = floor_int((world->travel - BEHIND) / CELL); k * CELL < world->travel + 130.0; k++)
    for (int side = -1; side <= 1; side += 2) {
      const uint32_t style = scene_hash(seed, (uint32_t)k, 60u + (uint32_t)(side + 1));
      uint32_t random = style;
      const double z = (k + scene_unit(&random)) * CELL - world->travel;
      const double middle = scene_profile(world->track, z);
      const double kind = scene_unit(&random), away = 4.2 + 9.0 * scene_unit(&random);
      const double x = middle + side * away;
      if (kind < 0.30)
        scene_tree(world, x + side, z, 5.0 + 5.0 * scene_unit(&random), style);
      else if (kind < 0.58)
        add_bush(world, x, z, style);
      else if (kind < 0.70)
        add_rock(world, middle + side * (3.6 + 3.0 * scene_unit(&random)), z, style);
      if (side > 0 && z < 90.0)
        add_fence(world, scene_profile(world->track, k * CELL - world->travel) + 3.9,
                  k * CELL - world->travel);
      scene_tree(world, middle + side * (17.0 + 7.0 * scene_unit(&random)), z, /* wood's edge */
                 6.0 + 5.0 * scene_unit(&random), style ^ 0x99u);
    }
}

static void add_slab(World *world, Vec origin, Vec normal, double half, uint32_t style) {
  Object *slab =
      scene_add(world, SHAPE_CONVEX, MATERIAL_PLANE, RV_LABEL_WALL, origin, vec(half, half, 0.02));
  if (!slab)
    return;
  slab->style = style;
  scene_turn(slab, normal, vec(0, 1, 0));
  scene_box(slab);
}

/* Tilted slabs before a tilted wall that fills the image; they float as the camera travels. */
void scene_build_planes(const RvScene *scene, World *world) {
  uint32_t random = scene_hash(scene->plan.config.seed, 5u, 8u);
  const double near = scene->plan.near, f = scene->plan.camera.focal;
  const double half_x = 0.5 * scene->plan.config.width / f,
               half_y = 0.5 * scene->plan.config.height / f;
  const Vec view = world->view[0];
  add_slab(world, vec_add(view, vec(0, 0, 9.0 * near)), vec(0.25, -0.2, 1.0),
           40.0 * near * (1.0 + half_x + half_y), 1u);
  for (int i = 0; i < 12; i++) {
    const double z = near * (1.7 + 0.45 * i), phase = 6.2831853 * scene_unit(&random);
    const double wave = sin(world->travel / 6.0 + phase);
    const double u = ((i * 5 % 12) % 4 - 1.5) * 0.5 + 0.1 * wave, v = ((i * 5 % 12) / 4 - 1) * 0.62;
    const Vec n = vec(1.3 * (scene_unit(&random) - 0.5), 1.1 * (scene_unit(&random) - 0.5), 1.0);
    const double half = z * (0.13 + 0.06 * scene_unit(&random)) * (half_x + half_y);
    add_slab(world, vec_add(view, vec(u * half_x * z, v * half_y * z, z + 0.1 * near * wave)), n,
             half, scene_hash(scene->plan.config.seed, (uint32_t)i, 3u));
  }
}
