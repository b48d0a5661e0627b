/* SPDX-License-Identifier: MIT */
/* scene_world.c: the world of one frame: the camera, the light, the shape of the ground. */
#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

#define STREET_LENGTH 1e6 /* m */
#define LIGHT_STEP 24.0   /* m from one sudden change of the light to the next, on average */

uint32_t scene_hash(uint32_t a, uint32_t b, uint32_t c) {
  SCENE_HASH(uint32_t, a, b, c);
}

double scene_unit(uint32_t *state) {
  *state = scene_hash(*state, 0x51ED270Bu, 3u);
  return (double)*state * (1.0 / 4294967296.0);
}

#define BLOCK 83.0 /* m from crossing to crossing, where the zebras are */
#define LEVEL 8.0  /* m: half a crossing */
#define CURVE 10.0 /* m in which the grade changes */

/* A street straight up and down the hills, as in San Francisco: level where streets cross, between
 * them as steep as the hill is, and parabolas from one grade to the other, as roads are built. */
static double hills(double z, uint32_t seed) {
  static const double grades[] = {0.16, 0.10, -0.18, -0.08}; /* sum: 0 */
  const double lap = 4 * BLOCK, at = z - lap * floor(z / lap);
  double height = 0.0;
  for (int k = 0; k < 4; k++) {
    const double s = at - k * BLOCK, straight = BLOCK - 2 * (LEVEL + CURVE);
    const double in = s < LEVEL ? 0.0 : s < LEVEL + CURVE ? s - LEVEL : CURVE;
    const double up = s - LEVEL - CURVE;
    const double middle = up < 0.0 ? 0.0 : up < straight ? up : straight;
    const double end = up - straight;
    const double out = end < 0.0 ? 0.0 : end < CURVE ? end : CURVE;
    height += grades[((uint32_t)k + seed) & 3u] *
              (in * in / (2 * CURVE) + middle + out - out * out / (2 * CURVE));
  }
  return height;
}

/* Ground height along the street, and its slope to the right, at z m from the start. */
static double profile(const RvSceneConfig *config, double z, double *bank) {
  const RvScenePattern pattern = config->pattern;
  if (pattern == RV_SCENE_SLANTED_STREET) {
    *bank = 0.045 * sin(z / 23.0 + 0.6);
    return hills(z, config->seed + 3u) + 0.1 * sin(z / 9.0);
  }
  if (pattern == RV_SCENE_OFFROAD) {
    *bank = 0.035 * sin(z / 17.0) + 0.012 * sin(z / 4.7);
    return 0.9 * sin(z / 31.0) + 0.16 * sin(z / 6.1) + 0.025 * sin(z / 1.9);
  }
  *bank = 0.0;
  return 0.0;
}

static double track_middle(double z) {
  return 1.9 * sin(z / 19.0) + 0.8 * sin(z / 8.3 + 2.0);
}

static void build_ground(const RvScene *scene, World *world) {
  const RvScenePattern pattern = scene->plan.config.pattern;
  double bank;
  const double here = profile(&scene->plan.config, world->travel, &bank);
  world->summit = 0.0;
  world->flat = pattern != RV_SCENE_SLANTED_STREET && pattern != RV_SCENE_OFFROAD;
  world->stride = pattern == RV_SCENE_SLANTED_STREET ? 1.1 : 1.4;
  for (int i = 0; i < HEIGHTS; i++) {
    const double z = world->travel + HEIGHT_Z0 + i * HEIGHT_STEP;
    world->climb[i] = profile(&scene->plan.config, z, &bank) - here;
    world->bank[i] = bank;
    const double edge = world->climb[i] + 80.0 * absolute(bank);
    world->summit = edge > world->summit ? edge : world->summit;
    world->track[i] = pattern == RV_SCENE_OFFROAD ? track_middle(z) : 0.0;
  }
  world->bent = pattern == RV_SCENE_HIGHWAY || pattern == RV_SCENE_COURSE;
  if (world->bent)
    scene_bend(scene, world);
}

/* The camera rides `height` m above the ground, along its slope, and looks down by the pitch. */
static void build_camera(const RvScene *scene, World *world) {
  const RvScenePattern pattern = scene->plan.config.pattern;
  const double s = world->travel;
  double x = 1.75 + 0.2 * sin(s / 17.0), yaw = 0.012 * sin(s / 23.0);
  world->drift = 0.2 / 17.0 * cos(s / 17.0);
  if (pattern == RV_SCENE_OFFROAD) {
    x = track_middle(s) + 0.15 * sin(s / 5.0);
    yaw = 0.75 * (track_middle(s + 9.0) - track_middle(s)) / 9.0;
  } else if (pattern == RV_SCENE_PLANES) {
    x = 0.0;
    yaw = 0.0;
  } else if (pattern == RV_SCENE_HIGHWAY) {
    x -= 1.75; /* the lane in the middle */
  }
  const double slope = (scene_ground_y(world, x, 2.0) - scene_ground_y(world, x, -2.0)) / 4.0;
  const double bank = scene_profile(world->bank, 0.0);
  const Vec road = vec(sin(yaw), slope * cos(yaw) + bank * sin(yaw), cos(yaw));
  const Vec forward = vec_mul(road, 1.0 / sqrt(vec_dot(road, road)));
  const Vec side = vec_cross(vec(-bank, 1.0, -slope), forward);
  world->right = vec_mul(side, 1.0 / sqrt(vec_dot(side, side)));
  const Vec up = vec_cross(forward, world->right);
  world->ahead =
      vec_sub(vec_mul(forward, scene->plan.cos_pitch), vec_mul(up, scene->plan.sin_pitch));
  world->down = vec_mul(
      vec_add(vec_mul(up, scene->plan.cos_pitch), vec_mul(forward, scene->plan.sin_pitch)), -1.0);
  world->view[0] = vec(x, scene_ground_y(world, x, 0.0) + scene->plan.camera.height, 0.0);
  world->view[1] = vec_add(world->view[0], vec_mul(world->right, scene->plan.camera.baseline));
}

/* On `offroad`: from one frame to the next the sun comes out or hides, and exposure and white
 * balance of both cameras follow. The stretch between two such positions has its own light. */
static void sudden_light(const RvScene *scene, World *world) {
  const uint32_t seed = scene->plan.config.seed;
  int stretch = floor_int(world->travel / LIGHT_STEP);
  uint32_t random = scene_hash(seed, (uint32_t)stretch, 71u);
  if (world->travel < (stretch + 0.6 * scene_unit(&random)) * LIGHT_STEP)
    stretch--;
  random = scene_hash(seed, (uint32_t)stretch, 72u);
  if (scene_unit(&random) < 0.4)
    world->sunlight *= 0.2f;
  const float bright = (float)(0.55 + 0.8 * scene_unit(&random));
  const float warm = (float)(0.24 * scene_unit(&random) - 0.12);
  world->gain = color(bright * (1.0f + warm), bright, bright * (1.0f - warm));
}

/* On `highway`: dusk comes and goes, on a wet road, and the exposure does not make up for it. */
static void dusk(World *world) {
  const double wave = 1.6 * sin(world->travel / 210.0) - 0.6;
  const float dark = (float)(wave < 0.0 ? 0.0 : wave);
  world->sunlight *= 1.0f - 0.9f * dark;
  world->ambient *= 1.0f - 0.3f * dark;
  world->gain = color(1.0f - 0.35f * dark, 1.0f - 0.35f * dark, 1.0f - 0.3f * dark);
  world->wet = 0.7 * (double)dark;
}

static void build_light(const RvScene *scene, World *world) {
  const Vec sun = vec(-0.62, 0.70, -0.36);
  world->sun = vec_mul(sun, 1.0 / sqrt(vec_dot(sun, sun)));
  world->sunlight = 0.88f;
  world->ambient = 0.52f;
  world->light = color(1.04f, 1.0f, 0.94f);
  world->gain = color(1.0f, 1.0f, 1.0f);
  world->wet = 0.0;
  if (scene->plan.config.pattern == RV_SCENE_HIGHWAY)
    dusk(world);
  if (scene->plan.config.pattern != RV_SCENE_OFFROAD)
    return;
  /* Clouds pass: the sun fades, the light turns blue and warm again, the exposure follows late. */
  const double s = world->travel;
  const double sky = 0.5 + 0.5 * sin(s / 9.0), late = 0.5 + 0.5 * sin(s / 9.0 - 0.8);
  const double exposure = 1.35 - 0.55 * late;
  const double warmth = sin(s / 27.0 + (double)(scene->plan.config.seed & 7u));
  world->sunlight = (float)((0.12 + 0.85 * sky) * exposure);
  world->ambient = (float)((0.42 + 0.06 * sky) * exposure);
  world->light = color((float)(1.0 + 0.15 * warmth), 1.0f, (float)(1.0 - 0.20 * warmth));
  sudden_light(scene, world);
}

/* The sky just above the horizon. */
static Color haze(const World *world) {
  const float up = 0.02f;
  const Color c = color_mix(scene_horizon, scene_zenith, up * (2.0f - up));
  return color(c.r * world->light.r, c.g * world->light.g, c.b * world->light.b);
}

void scene_build(RvScene *scene, uint64_t frame) {
  World *world = scene->work->world;
  /* The street starts again after STREET_LENGTH: numbers of plots and cars stay small however slow
   * the frame rate or far the frame. */
  const double travel = scene->plan.config.speed * (double)frame / scene->plan.config.frame_rate;
  world->travel = isfinite(travel) ? fmod(travel, STREET_LENGTH) : 0.0;
  world->objects = 0;
  world->things = world->marks = 0;
  world->current = 0;
  world->curb = scene->plan.config.curb_height;
  build_ground(scene, world);
  build_camera(scene, world);
  build_light(scene, world);
  world->haze = haze(world);
  if (scene->plan.config.pattern == RV_SCENE_OFFROAD)
    scene_build_offroad(scene, world);
  else if (scene->plan.config.pattern == RV_SCENE_PLANES)
    scene_build_planes(scene, world);
  else if (scene->plan.config.pattern == RV_SCENE_HIGHWAY)
    scene_build_highway(scene, world);
  else if (scene->plan.config.pattern == RV_SCENE_COURSE)
    scene_build_course(scene, world);
  else
    scene_build_street(scene, world);
  scene_sort(scene);
}

/* `object` as in Hits. */
RvSceneLabel scene_label(const RvScene *scene, int object, int material) {
  if (object >= 0)
    return scene->work->world->object[object].label;
  switch (material) {
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

void scene_thing(World *world, int kind, int number, RvSceneLabel label, double right,
                 double ahead) {
  world->current = 0;
  if (kind == 0 || world->things >= THINGS)
    return;
  const uint16_t id = (uint16_t)(kind << 12 | (number & 4095));
  world->thing[world->things++] = (Thing){id, label, right, ahead};
  world->current = id;
}

/* A trunk and a crown of a few shells with holes between the leaves. */
void scene_tree(World *world, double x, double z, double height, uint32_t style) {
  uint32_t random = style;
  const double ground = scene_ground_y(world, x, z), thick = 0.025 * height;
  const double trunk = 0.5 * height;
  Object *wood =
      scene_add(world, SHAPE_CYLINDER, MATERIAL_WOOD, RV_LABEL_TREE,
                vec(x, ground + 0.5 * trunk - 0.1, z), vec(thick, 0.5 * trunk + 0.1, thick));
  if (wood)
    wood->style = style;
  const double green = scene_unit(&random);
  for (int i = 0; i < 3; i++) {
    const double r = height * (0.17 + 0.06 * scene_unit(&random));
    const double dx = (scene_unit(&random) - 0.5) * 0.22 * height;
    const double dz = (scene_unit(&random) - 0.5) * 0.22 * height;
    const double y = ground + height * (0.58 + 0.13 * i);
    Object *crown = scene_add(world, SHAPE_ELLIPSOID, MATERIAL_LEAVES, RV_LABEL_TREE,
                              vec(x + dx, y, z + dz), vec(r * 1.1, r * 0.85, r * 1.1));
    if (!crown)
      return;
    crown->style = style + (uint32_t)i;
    crown->tint =
        color((float)(70 + 40 * green), (float)(104 + 18 * green), (float)(48 + 8 * green));
  }
}
