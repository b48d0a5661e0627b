/* SPDX-License-Identifier: MIT */
/* scene_course.c: paint and objects of `obstacle-course`: two lanes of 3.5 m, and every 22 m a
 * thing that obstacle detection finds hard: what must be found, and what must not be in the way. */
#include "scene/scene_internal.h"

#include <math.h>

#define STATION 22.0
#define BEHIND 14.0
#define KINDS 10

enum { STATIC = 1, WALKER, CROSSING, ONCOMING, OVERHEAD };

static void paint(World *world) {
  for (int i = -1; i <= 1; i++) {
    Mark *mark = &world->mark[world->marks++];
    *mark = (Mark){.x = 3.5 * i,
                   .half = 0.06,
                   .from = -20.0,
                   .to = 150.0,
                   .kind = i ? RV_LANE_LINE_SOLID : RV_LANE_LINE_DASHED,
                   .color = RV_LANE_COLOR_WHITE};
    if (i == 0) {
      mark->on = 3.0;
      mark->period = 7.5;
    }
  }
}

/* Legs, trunk and head of a person of that height. */
static void add_person(World *world, double across, double z, double height, uint32_t style) {
  static const Color clothes[] = {{52, 62, 92}, {150, 60, 54}, {70, 92, 70}, {176, 170, 150}};
  const double x = scene_road_x(world, across, z), k = height / 1.75;
  for (int i = -1; i <= 1; i += 2) {
    Object *leg = scene_add(world, SHAPE_CYLINDER, MATERIAL_WALL, RV_LABEL_PERSON,
                            vec(x + 0.1 * k * i, 0.42 * k, z + 0.12 * k * i),
                            vec(0.08 * k, 0.42 * k, 0.08 * k));
    if (!leg)
      return;
    leg->tint = clothes[style >> 4 & 3u];
    leg->style = style;
  }
  for (int i = 0; i < 2; i++) {
    const Vec half = i ? vec(0.1 * k, 0.13 * k, 0.11 * k) : vec(0.23 * k, 0.36 * k, 0.16 * k);
    Object *part = scene_add(world, SHAPE_ELLIPSOID, MATERIAL_HEDGE, RV_LABEL_PERSON,
                             vec(x, (i ? 1.6 : 1.12) * k, z), half);
    if (!part)
      return;
    part->tint = i ? color(198, 156, 132) : clothes[style & 3u];
    part->style = style;
  }
}

static void tinted(Object *object, Color tint, uint32_t style) {
  if (!object)
    return;
  object->tint = tint;
  object->style = style;
}

/* Crates of 0.1 to 0.5 m on the own lane, which the camera passes above. */
static void add_crate(World *world, double z, int number, uint32_t style) {
  static const double tall[] = {0.5, 0.35, 0.2, 0.1};
  uint32_t random = style;
  const double h = 0.5 * tall[(unsigned)number / KINDS & 3u],
               across = 1.75 + 1.6 * (scene_unit(&random) - 0.5);
  scene_thing(world, STATIC, number, RV_LABEL_OBJECT, 0.0, 0.0);
  tinted(scene_block(world, MATERIAL_ROCK, RV_LABEL_OBJECT, across, z, 0.0,
                     vec(0.3 + 0.2 * scene_unit(&random), h, 0.25)),
         color(150, 120, 84), style);
}

/* Boards above the own lane: a sign whose lower edge is 2.3 m up, which is not in the way, or a
 * barrier 1.8 m up, which is. */
static void add_board(World *world, double z, int number, int is_sign, uint32_t style) {
  scene_thing(world, is_sign ? OVERHEAD : STATIC, number,
              is_sign ? RV_LABEL_BRIDGE : RV_LABEL_OBJECT, 0.0, 0.0);
  tinted(scene_block(world, MATERIAL_WALL, is_sign ? RV_LABEL_BRIDGE : RV_LABEL_OBJECT, 2.6, z,
                     is_sign ? 2.3 : 1.8, vec(2.9, is_sign ? 0.35 : 0.12, 0.05)),
         is_sign ? color(196, 190, 60) : color(206, 60, 50), style);
  scene_thing(world, 0, 0, RV_LABEL_POLE, 0.0, 0.0);
  for (int i = 0; i < (is_sign ? 2 : 1); i++)
    scene_block(world, MATERIAL_METAL, RV_LABEL_POLE, i ? -0.4 : 5.6, z, 0.0,
                vec(0.08, is_sign ? 1.6 : 1.0, 0.08));
}

static void add_bridge(World *world, double z, int number, uint32_t style) {
  scene_thing(world, OVERHEAD, number, RV_LABEL_BRIDGE, 0.0, 0.0);
  tinted(scene_block(world, MATERIAL_WALL, RV_LABEL_BRIDGE, 0.0, z, 4.5, vec(14.0, 0.6, 4.0)),
         color(152, 148, 140), style);
  scene_thing(world, 0, 0, RV_LABEL_WALL, 0.0, 0.0);
  for (int side = -1; side <= 1; side += 2)
    tinted(scene_block(world, MATERIAL_WALL, RV_LABEL_WALL, 8.0 * side, z, 0.0, vec(0.6, 2.4, 4.0)),
           color(140, 136, 130), style);
}

/* A house with a front of glass next to the road. */
static void add_glass(World *world, double z, uint32_t style) {
  Object *house =
      scene_block(world, MATERIAL_CABIN, RV_LABEL_BUILDING, 9.5, z, 0.0, vec(2.5, 2.2, 8.0));
  tinted(house, color(96, 100, 104), style);
  if (house) { /* seed of the paint of the windows */
    house->half.x = -2.1;
    house->half.y = 2.2;
  }
}

/* A car that stands half on the road. */
static void add_parked(World *world, double z, int number, uint32_t style) {
  scene_thing(world, STATIC, number, RV_LABEL_CAR, 0.0, 0.0);
  scene_car(world, scene_road_x(world, 4.6, z), z, scene_road_ahead(world, z), style);
}

/* Things that move: their position is a function of their station's distance `z`. */
static void add_moving(World *world, int kind, double z, int number, uint32_t style) {
  if (kind == 0) { /* walks across from the left, in front of the camera */
    scene_thing(world, WALKER, number, RV_LABEL_PERSON, 0.22, 0.0);
    add_person(world, 4.5 - 0.22 * z, z, 1.78, style);
  } else if (kind == 1) { /* from the right, while the camera is 25 m away */
    scene_thing(world, CROSSING, number, RV_LABEL_CAR, -1.0, 0.0);
    scene_car(world, scene_road_x(world, 1.75 + (z - 25.0), z), z, vec(-1.0, 0.0, 0.0), style);
  } else {
    const double at = 2.0 * z;
    scene_thing(world, ONCOMING, number, RV_LABEL_CAR, 0.0, -1.0);
    if (at < 110.0 && at > -BEHIND)
      scene_car(world, scene_road_x(world, -1.75, at), at,
                vec_mul(scene_road_ahead(world, at), -1.0), style);
  }
}

static void add_station(World *world, int kind, double z, int number, uint32_t style) {
  switch (kind) {
  case 0:
    add_crate(world, z, number, style);
    break;
  case 1:
    add_moving(world, 0, z, number, style);
    break;
  case 2:
    add_board(world, z, number, 1, style);
    break;
  case 3:
    add_parked(world, z, number, style);
    break;
  case 4:
    add_bridge(world, z, number, style);
    break;
  case 5:
    scene_thing(world, STATIC, number, RV_LABEL_PERSON, 0.0, 0.0);
    add_person(world, 4.3, z, 1.15 + 0.6 * (style >> 8 & 1u), style);
    break;
  case 6:
    add_board(world, z, number, 0, style);
    break;
  case 7:
    add_moving(world, 1, z, number, style);
    break;
  case 8:
    add_glass(world, z, style);
    break;
  default:
    add_moving(world, 2, z, number, style);
    break;
  }
  scene_thing(world, 0, 0, RV_LABEL_OBJECT, 0.0, 0.0);
}

void scene_build_course(const RvScene *scene, World *world) {
  const uint32_t seed = scene->plan.config.seed;
  const double s = world->travel;
  world->edge[0] = -4.6;
  world->edge[1] = 5.2;
  paint(world);
  for (int k = floor_int((s - BEHIND) / STATION); k * STATION < s + 120.0; k++) {
    const uint32_t style = scene_hash(seed, (uint32_t)k, 95u);
    const int kind = (7 * (k + (int)(seed % KINDS)) % KINDS + KINDS) % KINDS;
    const double z = (k + 0.5) * STATION - s;
    add_station(world, kind, z, k, style);
    if (kind != 7 && kind != 3) /* where a car comes from, or stands, there is none */
      scene_rail(world, 5.75, 1, z - 0.5 * STATION, z < 60.0 ? z + 0.5 * STATION : z - STATION);
  }
  for (int k = floor_int((s - BEHIND) / 8.0); k * 8.0 < s + 150.0; k++)
    for (int side = -1; side <= 1; side += 2) {
      const uint32_t style = scene_hash(seed, (uint32_t)k, 96u + (uint32_t)(side + 1));
      uint32_t random = style;
      const double z = (k + scene_unit(&random)) * 8.0 - s,
                   away = 14.0 + 12.0 * scene_unit(&random);
      if (scene_unit(&random) < 0.5)
        scene_tree(world, scene_road_x(world, side * away, z), z, 5.0 + 5.0 * scene_unit(&random),
                   style);
    }
}
