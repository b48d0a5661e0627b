/* SPDX-License-Identifier: MIT */
/* scene_street.c: what stands along the street. The street is endless: what stands in a cell of it
 * is a function of the seed and the cell's number. */
#include "scene/scene_internal.h"

#include <math.h>

#define CELL 16.0 /* m of street: one plot */
#define SLOT 6.6  /* m of street: one parking space */
#define LAMP 24.0 /* m from lamp to lamp */
#define BEHIND 14.0

static const Color facade_tints[] = {
    {196, 180, 156}, {214, 206, 190}, {168, 92, 72},   {188, 150, 104}, {150, 156, 164},
    {206, 186, 130}, {176, 112, 90},  {226, 222, 214}, {140, 110, 96},  {186, 170, 176}};
static const Color car_tints[] = {{196, 28, 30},   {28, 58, 128},   {222, 222, 224}, {38, 40, 44},
                                  {140, 146, 152}, {206, 206, 200}, {30, 92, 74},    {212, 150, 36},
                                  {92, 24, 34},    {88, 128, 168}};

static Color pick(const Color *list, size_t count, double k) {
  return list[(size_t)(k * (double)count)];
}
#define PICK(list, k) pick(list, sizeof(list) / sizeof *(list), k)

static Object *upright_box(World *world, Material material, RvSceneLabel label, double x, double z,
                           double bottom, Vec half) {
  const double y = scene_ground_y(world, x, z) + bottom + half.y;
  Object *box = scene_add(world, SHAPE_CONVEX, material, label, vec(x, y, z), half);
  if (box)
    scene_box(box);
  return box;
}

/* A frame that stands on the ground at (x, z) and looks along the unit vector `ahead`, which is
 * level. */
static void stand(const World *world, Object *object, double x, double z, Vec ahead) {
  const double e = 1.2;
  const double slope =
      (scene_ground_y(world, x, z + e) - scene_ground_y(world, x, z - e)) / (2 * e);
  const double bank = (scene_ground_y(world, x + e, z) - scene_ground_y(world, x - e, z)) / (2 * e);
  scene_turn(object, vec(ahead.x, slope * ahead.z, ahead.z), vec(-bank, 1.0, -slope));
}

static void add_wheels(World *world, double x, double z, Vec ahead, double wide, double axle) {
  for (int i = 0; i < 4; i++) {
    const double dx = (i & 1 ? 1 : -1) * (wide - 0.10), dz = (i & 2 ? 1.02 : -0.98) * axle;
    const double r = 0.32;
    const double at_x = x + (dx * ahead.z + dz * ahead.x);
    const double at_z = z + (dz * ahead.z - dx * ahead.x);
    Object *wheel =
        scene_add(world, SHAPE_CONVEX, MATERIAL_WHEEL, RV_LABEL_CAR,
                  vec(at_x, scene_ground_y(world, at_x, at_z) + r, at_z), vec(0.11, r, r));
    if (!wheel)
      return;
    stand(world, wheel, at_x, at_z, ahead);
    scene_plane(wheel, vec(1, 0, 0), vec(0.11, 0, 0));
    scene_plane(wheel, vec(-1, 0, 0), vec(-0.11, 0, 0));
    for (int k = 0; k < 12; k++) {
      const Vec n = vec(0.0, cos(k * 0.523598775598), sin(k * 0.523598775598));
      scene_plane(wheel, n, vec_mul(n, r));
    }
  }
}

typedef struct Car {
  double x, z;
  Vec ahead;
  Color tint;
  uint32_t style;
} Car;

/* A part of a car. NULL when the world is full. */
static Object *add_part(World *world, const Car *car, Material material, Vec half) {
  const Vec ground = vec(car->x, scene_ground_y(world, car->x, car->z), car->z);
  Object *part = scene_add(world, SHAPE_CONVEX, material, RV_LABEL_CAR, ground, half);
  if (!part)
    return NULL;
  stand(world, part, car->x, car->z, car->ahead);
  part->tint = car->tint;
  part->style = car->style;
  return part;
}

/* Its sides, which lean inwards and are `wide` from its middle at height `belt`, roof and floor. */
static void close_part(Object *part, double lean, double wide, double belt, double roof,
                       double floor) {
  scene_plane(part, vec(1, lean, 0), vec(wide, belt, 0));
  scene_plane(part, vec(-1, lean, 0), vec(-wide, belt, 0));
  scene_plane(part, vec(0, 1, 0), vec(0, roof, 0));
  scene_plane(part, vec(0, -1, 0), vec(0, floor, 0));
}

/* A body with slanted hood and rear, a cabin with slanted windows, four wheels when near. */
void scene_car(World *world, double x, double z, Vec ahead, uint32_t style) {
  uint32_t random = style;
  const Car car = {x, z, ahead, PICK(car_tints, scene_unit(&random)), style};
  const double long_ = 1.95 + 0.3 * scene_unit(&random), wide = 0.86 + 0.06 * scene_unit(&random);
  const int van = scene_unit(&random) > 0.72;
  const double belt = van ? 1.02 : 0.88, roof = van ? 1.88 : 1.42 + 0.12 * scene_unit(&random);
  const double nose = van ? long_ - 0.75 : 0.42 * long_, tail = van ? -long_ + 0.04 : -0.62 * long_;
  Object *body = add_part(world, &car, MATERIAL_BODY, vec(wide, belt + 0.1, long_));
  if (!body)
    return;
  close_part(body, 0.04, wide, 0.5, belt, 0.2);
  scene_plane(body, vec(0, 0.06, 1), vec(0, 0.5, long_));
  scene_plane(body, vec(0, 0.08, -1), vec(0, 0.5, -long_));
  scene_plane(body, vec(0, 1, 0.16), vec(0, belt, nose));         /* hood */
  scene_plane(body, vec(0, 1, -0.12), vec(0, belt, tail));        /* boot */
  scene_plane(body, vec(0, -1, 0.45), vec(0, 0.2, long_ - 0.35)); /* bumpers */
  scene_plane(body, vec(0, -1, -0.45), vec(0, 0.2, -long_ + 0.35));
  Object *cabin = add_part(world, &car, MATERIAL_CABIN, vec(wide, roof + 0.1, long_));
  if (!cabin)
    return;
  cabin->half.y = roof; /* seed of the paint of the windows */
  cabin->half.x = belt;
  close_part(cabin, 0.32, wide - 0.03, belt, roof, belt - 0.05);
  scene_plane(cabin, vec(0, 0.85, 0.6), vec(0, belt, nose));              /* windscreen */
  scene_plane(cabin, vec(0, van ? 0.12 : 0.7, -0.8), vec(0, belt, tail)); /* rear window */
  if (z < 45.0 && z > -BEHIND)
    add_wheels(world, x, z, ahead, wide, 0.62 * long_);
}

/* Kinds of things. */
enum { LEAD = 1, ONCOMING, PARKED_LEFT, PARKED_RIGHT };

static void add_car(World *world, int kind, int number, double x, double z, Vec motion,
                    uint32_t style) {
  scene_thing(world, kind, number, RV_LABEL_CAR, motion.x, motion.z);
  scene_car(world, x, z, vec(0.0, 0.0, kind == ONCOMING || kind == PARKED_LEFT ? -1.0 : 1.0),
            style);
  scene_thing(world, 0, 0, RV_LABEL_CAR, 0.0, 0.0);
}

static void add_building(World *world, double side, double z, double length, uint32_t style,
                         double setback) {
  uint32_t random = style;
  const double tall = 6.5 + 11.0 * scene_unit(&random), depth = 6.0;
  const double x = side * (8.7 + setback + depth);
  Object *house = upright_box(world, MATERIAL_FACADE, RV_LABEL_BUILDING, x, z, -3.0,
                              vec(depth, 0.5 * (tall + 3.0), 0.5 * length));
  if (!house)
    return;
  house->tint = PICK(facade_tints, scene_unit(&random));
  house->style = style;
  if (scene_unit(&random) < 0.45) { /* a bay or stair tower in front of the facade */
    const double wide = 1.1 + 0.8 * scene_unit(&random), out = 0.5 + 0.4 * scene_unit(&random);
    Object *bay = upright_box(world, MATERIAL_FACADE, RV_LABEL_BUILDING, side * (8.7 + setback),
                              z + (scene_unit(&random) - 0.5) * 0.5 * length, -3.0,
                              vec(out, 0.5 * (tall + 2.2), wide));
    if (bay) {
      bay->tint = color_mul(house->tint, 0.93f);
      bay->style = style ^ 0x5A00u;
    }
  }
}

static void add_garden(World *world, double side, double z, double length, uint32_t style) {
  uint32_t random = style;
  const int hedge = scene_unit(&random) < 0.5;
  const double tall = hedge ? 1.1 + 0.8 * scene_unit(&random) : 1.5 + 1.1 * scene_unit(&random);
  const double thick = hedge ? 0.4 : 0.14, sunk = world->flat ? 1.0 : 2.5;
  Object *wall = upright_box(world, hedge ? MATERIAL_HEDGE : MATERIAL_WALL,
                             hedge ? RV_LABEL_TREE : RV_LABEL_WALL, side * (8.9 + thick), z, -sunk,
                             vec(thick, 0.5 * (tall + sunk), 0.5 * length));
  if (wall) {
    wall->style = style;
    wall->tint = hedge ? color(74, 104, 52) : PICK(facade_tints, scene_unit(&random));
  }
  Object *house = upright_box(world, MATERIAL_FACADE, RV_LABEL_BUILDING, side * 24.0, z, -3.0,
                              vec(5.0, 0.5 * (9.0 + 5.0 * scene_unit(&random)), 0.5 * length));
  if (house) {
    house->style = style ^ 0x3300u;
    house->tint = PICK(facade_tints, scene_unit(&random));
  }
  for (int i = 0; i < 2; i++)
    scene_tree(world, side * (11.2 + 4.0 * scene_unit(&random)),
               z + (i ? 0.25 : -0.25) * length + scene_unit(&random),
               5.5 + 4.0 * scene_unit(&random), style + 11u * (uint32_t)i);
}

static void add_plot(World *world, double side, double z, uint32_t style) {
  uint32_t random = style;
  const double kind = scene_unit(&random), gap = scene_unit(&random) < 0.25 ? 1.6 : 0.0;
  if (kind < 0.70)
    add_building(world, side, z, CELL - gap, style, scene_unit(&random) < 0.3 ? 1.2 : 0.0);
  else
    add_garden(world, side, z, CELL - gap, style);
}

static void add_lamp(World *world, double side, double z) {
  const double x = side * 6.25, y = scene_ground_y(world, x, z) + world->curb;
  scene_add(world, SHAPE_CYLINDER, MATERIAL_METAL, RV_LABEL_POLE, vec(x, y + 2.9, z),
            vec(0.06, 2.9, 0.06));
  Object *arm = scene_add(world, SHAPE_CONVEX, MATERIAL_METAL, RV_LABEL_POLE,
                          vec(x - side * 0.7, y + 5.75, z), vec(0.75, 0.035, 0.035));
  if (arm)
    scene_box(arm);
  Object *head = scene_add(world, SHAPE_CONVEX, MATERIAL_METAL, RV_LABEL_POLE,
                           vec(x - side * 1.5, y + 5.7, z), vec(0.32, 0.06, 0.11));
  if (head)
    scene_box(head);
}

static void add_sign(World *world, double side, double z, uint32_t style) {
  const double x = side * 6.0, y = scene_ground_y(world, x, z) + world->curb;
  scene_add(world, SHAPE_CYLINDER, MATERIAL_METAL, RV_LABEL_POLE, vec(x, y + 1.35, z),
            vec(0.03, 1.35, 0.03));
  Object *plate = scene_add(world, SHAPE_CONVEX, MATERIAL_SIGN, RV_LABEL_POLE, vec(x, y + 2.45, z),
                            vec(0.32, 0.32, 0.02));
  if (plate) {
    plate->style = style;
    scene_box(plate);
  }
}

/* Thin bollards that keep cars off the sidewalk. */
static void add_bollards(World *world, double side, double z) {
  for (int i = 0; i < 4; i++) {
    const double at = z + 1.6 * i, x = side * 5.95;
    scene_add(world, SHAPE_CYLINDER, MATERIAL_METAL, RV_LABEL_POLE,
              vec(x, scene_ground_y(world, x, at) + world->curb + 0.42, at),
              vec(0.045, 0.42, 0.045));
  }
}

static void add_kerbside(const RvScene *scene, World *world, int side) {
  const uint32_t seed = scene->plan.config.seed, s = (uint32_t)(side + 2);
  const double from = world->travel - BEHIND;
  for (int k = floor_int(from / SLOT); k * SLOT < world->travel + 110.0; k++) {
    uint32_t random = scene_hash(seed, (uint32_t)k, 40u + s);
    const uint32_t style = random;
    const double z = (k + 0.5) * SLOT - world->travel, kind = scene_unit(&random);
    const double shift = (scene_unit(&random) - 0.5) * 0.8, aside = 0.15 * scene_unit(&random);
    if (kind < 0.56)
      add_car(world, side > 0 ? PARKED_RIGHT : PARKED_LEFT, k, side * (4.62 + aside), z + shift,
              vec(0.0, 0.0, 0.0), style);
    else if (kind < 0.68 && z < 70.0)
      add_bollards(world, side, z - 2.4);
    else if (kind < 0.80 && z < 80.0)
      add_sign(world, side, z, style);
    if (scene_unit(&random) < 0.17 && z < 90.0)
      scene_tree(world, side * 7.9, z + 2.0, 5.0 + 2.5 * scene_unit(&random), style ^ 0x77u);
  }
  for (int k = floor_int(from / LAMP); k * LAMP < world->travel + 120.0; k++)
    add_lamp(world, side, (k + (side > 0 ? 0.5 : 0.0)) * LAMP - world->travel);
}

void scene_build_street(const RvScene *scene, World *world) {
  const uint32_t seed = scene->plan.config.seed;
  /* What matters most first: should the world be full, the farthest plots are omitted. */
  const double travel = world->travel;
  add_car(world, LEAD, 0, 1.8 + 0.1 * sin(travel / 13.0), 15.0 + 4.0 * sin(travel / 41.0),
          vec(0.1 / 13.0 * cos(travel / 13.0), 0.0, 1.0 + 4.0 / 41.0 * cos(travel / 41.0)),
          scene_hash(seed, 9u, 1u));
  const double passed = 2.1 * world->travel; /* by oncoming traffic, seen from the camera */
  for (int k = floor_int((passed - BEHIND) / 38.0); k * 38.0 < passed + 120.0; k++) {
    uint32_t random = scene_hash(seed, (uint32_t)k, 31u);
    const double z = (k + 0.6 * scene_unit(&random)) * 38.0 - passed;
    if (z > -BEHIND)
      add_car(world, ONCOMING, k, -1.75 + 0.2 * scene_unit(&random), z, vec(0.0, 0.0, -1.1),
              random);
  }
  add_kerbside(scene, world, -1);
  add_kerbside(scene, world, 1);
  for (int k = floor_int((world->travel - BEHIND) / CELL); k * CELL < world->travel + FAR_M - CELL;
       k++)
    for (int side = -1; side <= 1; side += 2)
      add_plot(world, side, (k + 0.5) * CELL - world->travel,
               scene_hash(seed, (uint32_t)k, 20u + (uint32_t)(side + 1)));
}
