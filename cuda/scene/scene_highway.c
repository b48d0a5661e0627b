/* SPDX-License-Identifier: MIT */
/* scene_highway.c: paint and objects of `highway`: three lanes of 3.75 m, a double yellow line and
 * oncoming traffic on the left, exits, rails, bridges and gantries. */
#include "scene/scene_internal.h"

#include <math.h>

#define LANE 3.75
#define FAR_LINE 150.0
#define BEHIND 14.0

enum { LEAD = 1, ONCOMING, FAST, CUT_IN, BRIDGE, GANTRY, RAIL_LEFT, RAIL_RIGHT };

static Mark *add_mark(World *world, double across, double wide, RvLaneColor color) {
  Mark *mark = &world->mark[world->marks++];
  *mark = (Mark){.x = across,
                 .half = 0.5 * wide,
                 .from = -20.0,
                 .to = FAR_LINE,
                 .kind = RV_LANE_LINE_SOLID,
                 .color = color};
  return mark;
}

static void dash(Mark *mark, double on, double period) {
  mark->on = on;
  mark->period = period;
  mark->kind = RV_LANE_LINE_DASHED;
}

/* From left to right. The dashes are those of Germany or of the USA, by the seed. */
static void paint(const RvScene *scene, World *world) {
  const double on = scene->plan.config.seed & 1u ? 6.0 : 3.0,
               period = scene->plan.config.seed & 1u ? 18.0 : 12.0;
  add_mark(world, -1.5 * LANE - 2 * LANE, 0.15, RV_LANE_COLOR_WHITE);
  dash(add_mark(world, -1.5 * LANE - LANE, 0.15, RV_LANE_COLOR_WHITE), on, period);
  for (int i = 0; i < 2; i++)
    add_mark(world, -1.5 * LANE + 0.15 * (2 * i - 1), 0.12, RV_LANE_COLOR_YELLOW)->kind =
        RV_LANE_LINE_DOUBLE;
  dash(add_mark(world, -0.5 * LANE, 0.15, RV_LANE_COLOR_WHITE), on, period);
  dash(add_mark(world, 0.5 * LANE, 0.15, RV_LANE_COLOR_WHITE), on, period);
  /* The edge line, which is a line of broad dashes where an exit runs along, and the exit's own. */
  const double exit = 520.0, open = 200.0;
  for (int k = floor_int((world->travel - 20.0) / exit); k * exit < world->travel + FAR_LINE; k++) {
    const double start = k * exit - world->travel, begin = start + exit - open;
    add_mark(world, 1.5 * LANE, 0.15, RV_LANE_COLOR_WHITE)->from = start;
    world->mark[world->marks - 1].to = begin + 10.0;
    Mark *along = add_mark(world, 1.5 * LANE, 0.3, RV_LANE_COLOR_WHITE);
    dash(along, 3.0, 6.0);
    along->from = begin + 40.0;
    along->to = begin + 90.0;
    Mark *own = add_mark(world, 1.5 * LANE, 0.15, RV_LANE_COLOR_WHITE);
    own->exits = 1;
    own->from = begin + 10.0;
    own->to = start + exit;
    if (world->marks > MARKS - 4)
      return;
  }
}

static void add_traffic(const RvScene *scene, World *world) {
  const uint32_t seed = scene->plan.config.seed;
  const double s = world->travel;
  const double lead = 30.0 + 9.0 * sin(s / 60.0),
               right = scene_road_x(world, 0.1 * sin(s / 19.0), lead);
  scene_thing(world, LEAD, 0, RV_LABEL_CAR, 0.0, 1.0 + 9.0 / 60.0 * cos(s / 60.0));
  scene_car(world, right, lead, scene_road_ahead(world, lead), scene_hash(seed, 9u, 1u));
  /* A car that overtakes on the right lane, cuts in, and goes on to the left one. */
  const double lap = 420.0, p = s / lap - floor(s / lap);
  const double z = p < 0.3   ? -12.0 + 26.0 * (p / 0.3)
                   : p < 0.6 ? 14.0 + 4.0 * (p - 0.3) / 0.3
                             : 18.0 + 110.0 * (p - 0.6) / 0.4;
  const double rate = (p < 0.3 ? 26.0 / 0.3 : p < 0.6 ? 4.0 / 0.3 : 110.0 / 0.4) / lap;
  const double a = p < 0.3 ? 0.0 : p < 0.45 ? (p - 0.3) / 0.15 : 1.0;
  const double b = p < 0.6 ? 0.0 : p < 0.72 ? (p - 0.6) / 0.12 : 1.0;
  const double across = LANE * (1.0 - a * a * (3.0 - 2.0 * a)) - LANE * (b * b * (3.0 - 2.0 * b));
  if (z > -BEHIND) {
    const double aside = -6.0 * LANE * (a * (1.0 - a) / 0.15 + b * (1.0 - b) / 0.12) / lap;
    scene_thing(world, CUT_IN, floor_int(s / lap), RV_LABEL_CAR, aside, 1.0 + rate);
    scene_car(world, scene_road_x(world, across, z), z, scene_road_ahead(world, z),
              scene_hash(seed, (uint32_t)floor_int(s / lap), 33u));
  }
  for (int lane = 0; lane < 3; lane++) { /* two oncoming ones, and that on the left */
    const double gap = lane == 2 ? 90.0 : 55.0, gain = lane == 2 ? -0.2 : 2.0 + 0.2 * lane;
    const double passed = gain * s, x = lane == 2 ? -LANE : -2.0 * LANE - LANE * lane;
    for (int k = floor_int((passed - BEHIND) / gap); k * gap < passed + 130.0; k++) {
      uint32_t random = scene_hash(seed, (uint32_t)k, 34u + (uint32_t)lane);
      const double at = (k + 0.6 * scene_unit(&random)) * gap - passed;
      const double turn = lane == 2 ? 1.0 : -1.0;
      if (at < -BEHIND)
        continue;
      scene_thing(world, lane == 2 ? FAST : ONCOMING, 2 * k + lane % 2, RV_LABEL_CAR, 0.0,
                  1.0 - gain);
      scene_car(world, scene_road_x(world, x, at), at, vec_mul(scene_road_ahead(world, at), turn),
                random);
    }
  }
}

/* A slab of concrete on two walls, 4.5 m above the road. */
static void add_bridge(World *world, double z, int number) {
  scene_thing(world, BRIDGE, number, RV_LABEL_BRIDGE, 0.0, 0.0);
  for (int i = -1; i <= 1; i++) {
    const double across = i == 0 ? -1.0 : i < 0 ? -17.0 : 15.0;
    Object *part = scene_block(world, MATERIAL_WALL, i ? RV_LABEL_WALL : RV_LABEL_BRIDGE, across, z,
                               i ? 0.0 : 4.5, i ? vec(0.6, 2.4, 4.5) : vec(20.0, 0.6, 4.5));
    if (!part)
      return;
    part->tint = color(150, 148, 142);
    part->thing = i ? 0 : part->thing;
  }
}

/* A board above the lanes, 5.2 m above the road. */
static void add_gantry(World *world, double z, int number) {
  scene_thing(world, GANTRY, number, RV_LABEL_BRIDGE, 0.0, 0.0);
  for (int i = -1; i <= 1; i++) {
    const double across = i == 0 ? 1.0 : i < 0 ? -6.9 : 14.0;
    Object *part =
        scene_block(world, i ? MATERIAL_METAL : MATERIAL_WALL, i ? RV_LABEL_POLE : RV_LABEL_BRIDGE,
                    across, z, i ? 0.0 : 5.2, i ? vec(0.15, 3.4, 0.15) : vec(6.0, 1.0, 0.1));
    if (!part)
      return;
    part->tint = color(38, 84, 168);
    part->thing = i ? 0 : part->thing;
  }
}

void scene_build_highway(const RvScene *scene, World *world) {
  const double s = world->travel;
  world->edge[0] = -1.5 * LANE - 2 * LANE - 1.0;
  world->edge[1] = 1.5 * LANE + 0.7;
  paint(scene, world);
  add_traffic(scene, world);
  for (int k = floor_int((s - 10.0) / 310.0); k * 310.0 < s + 160.0; k++) {
    if ((k + 0.4) * 310.0 > s - 10.0)
      add_bridge(world, (k + 0.4) * 310.0 - s, k);
    if ((k + 0.8) * 310.0 > s - 10.0)
      add_gantry(world, (k + 0.8) * 310.0 - s, k);
  }
  scene_thing(world, 0, 0, RV_LABEL_OBJECT, 0.0, 0.0);
  scene_rail(world, world->edge[0] - 0.8, -1, -BEHIND, 110.0);
  for (int k = floor_int((s - BEHIND) / 9.0); k * 9.0 < s + 150.0; k++)
    for (int side = -1; side <= 1; side += 2) {
      const uint32_t style =
          scene_hash(scene->plan.config.seed, (uint32_t)k, 91u + (uint32_t)(side + 1));
      uint32_t random = style;
      const double z = (k + scene_unit(&random)) * 9.0 - s, away = 4.0 + 14.0 * scene_unit(&random);
      const double edge = side < 0 ? world->edge[0] - 1.5 : world->edge[1] + 9.0;
      if (scene_unit(&random) < 0.45)
        scene_tree(world, scene_road_x(world, edge + side * away, z), z,
                   5.0 + 5.0 * scene_unit(&random), style);
    }
}
