/* SPDX-License-Identifier: MIT */
/* scene_ground_reference.c: road, sidewalk, grass and dirt track. */
#include "scene/scene_reference.h"

#define MARK 0.12 /* m: width of a painted line */

static const Vec axis_x = {1, 0, 0}, axis_z = {0, 0, 1};

/* A smooth step of `v` from `from` to `to`. */
static float ramp(float v, float from, float to) {
  const float k = clamp01((v - from) / (to - from));
  return k * k * (3.0f - 2.0f * k);
}

/* Share of paint: dashed middle line, edge lines, parking spaces, zebra crossings. */
static float paint(double x, double z, float fx, float fz) {
  const double side = absolute(x);
  const float middle = scene_band(x, fx, -0.5 * MARK, 0.5 * MARK);
  const float spaces = scene_band(side, fx, 3.5, 5.6);
  float mark = middle > 0.0f ? middle * scene_pulse(z, fz, 0.0, 3.0, 7.5) : 0.0f;
  mark += scene_band(side, fx, 3.45, 3.45 + MARK);
  if (spaces > 0.0f)
    mark += spaces * scene_pulse(z, fz, 0.0, 0.1, 6.6);
  const float zebra = scene_pulse(z, fz, 0.0, 3.5, 83.0);
  if (zebra > 0.0f)
    mark = mark * (1.0f - zebra) +
           zebra * scene_band(side, fx, 0.0, 3.4) * scene_pulse(x + 40.0, fx, 0.0, 0.5, 1.0);
  return mark > 1.0f ? 1.0f : mark;
}

/* x of a point in the frame of the ground: across the road where that bends. */
static double across_of(const World *world, const Spot *spot) {
  return world->bent ? spot->point.x - scene_profile(world->track, spot->point.z) : spot->point.x;
}

/* Share of the lines along a road that bends, at z m ahead and `down` m from the start; *yellow: one
 * of them is. */
static float lines(const World *world, double x, double z, double down, float fx, float fz,
                   int *yellow) {
  float mark = 0.0f;
  *yellow = 0;
  for (int i = 0; i < world->marks; i++) {
    const Mark *m = &world->mark[i];
    const double at = m->exits ? x - scene_profile(world->exit, z) : x;
    float share =
        scene_band(at, fx, m->x - m->half, m->x + m->half) * scene_band(z, fz, m->from, m->to);
    if (m->period > 0.0)
      share *= scene_pulse(down, fz, 0.0, m->on, m->period);
    mark += share;
    *yellow |= share > 0.0f && m->color == RV_LANE_COLOR_YELLOW;
  }
  return (mark > 1.0f ? 1.0f : mark) * (float)scene_profile(world->worn, z);
}

/* Layers without fine detail: one sample, as wide as the longer side of the footprint. */
static float layer(const RvScene *scene, int texture, double x, double z, float f, float texels) {
  return scene_texel(scene, texture, x, z, f, f, texels);
}

static Color road(const RvScene *scene, Spot *spot) {
  const World *world = scene->work->world;
  const double x = across_of(world, spot), z = spot->point.z + world->travel;
  const float fx = scene_extent(axis_x, spot), fz = scene_extent(axis_z, spot);
  const float f = fx > fz ? fx : fz;
  /* Stretches of smooth new asphalt, and wet ones that mirror. */
  const float lay = layer(scene, TEX_CLOUD, 0.4 * x + 7.0, z, f, 2.2f);
  const float smooth = ramp(lay, 0.52f, 0.62f);
  const float places = ramp(layer(scene, TEX_CLOUD, x, z + 40.0, f, 3.1f), 0.64f, 0.72f);
  const float wet = world->wet > 0.0 ? clamp01(places + (float)world->wet) : places;
  const float fine = scene_texel(scene, TEX_GRAIN, x, z, fx, fz, 190.0f) - 0.5f;
  const float middle = scene_texel(scene, TEX_GRAIN, x + 3.3, z, fx, fz, 41.0f) - 0.5f;
  const float broad = layer(scene, TEX_CLOUD, x, z, f, 13.0f) - 0.5f;
  const float contrast = (1.0f - 0.4f * smooth) * (1.0f - 0.45f * wet);
  float gray = 112.0f - 16.0f * smooth + contrast * (66.0f * fine + 62.0f * middle) + 32.0f * broad;
  /* Tar in the cracks: the contour of a coarse texture. */
  const float width = 0.006f + 0.35f * (fx + fz);
  if (width < 0.06f) {
    const float crack = scene_texel(scene, TEX_CLOUD, x + 11.0, z * 0.7, fx, fz, 9.0f) - 0.5f;
    const float tar = clamp01(1.0f - (crack < 0 ? -crack : crack) / width);
    gray -= 42.0f * tar * clamp01(0.014f / width - 0.23f) * (1.0f - smooth);
  }
  /* Tracks of wheels are polished. */
  const double lane = absolute(absolute(x) - 1.75);
  gray -= 7.0f * clamp01(1.0f - (float)absolute(lane - 0.75) * 2.5f);
  int yellow = 0;
  float mark =
      world->bent ? lines(world, x, spot->point.z, z, fx, fz, &yellow) : paint(x, z, fx, fz);
  if (mark > 0.0f) {
    const float worn = scene_texel(scene, TEX_GRAIN, x, z + 9.0, fx, fz, 60.0f);
    mark *= clamp01(0.64f + 0.5f * worn) * (1.0f - 0.3f * wet);
  }
  spot->shiny = 0.42f * wet;
  const Color asphalt = color(gray * 0.99f, gray, gray * 1.02f);
  return color_mix(color_mul(asphalt, 1.0f - 0.3f * wet),
                   yellow ? color(206, 166, 62) : color(212, 210, 202), mark);
}

static Color sidewalk(const RvScene *scene, Spot *spot) {
  const double x = spot->point.x, z = spot->point.z + scene->work->world->travel;
  const float fx = scene_extent(axis_x, spot), fz = scene_extent(axis_z, spot);
  const float slab = scene_texel(scene, TEX_PAVING, x, z, fx, fz, 128.0f) - 0.5f;
  const float fine = scene_texel(scene, TEX_GRAIN, x, z, fx, fz, 150.0f) - 0.5f;
  const float broad = scene_texel(scene, TEX_CLOUD, x, z, fx, fz, 17.0f) - 0.5f;
  const float kerb = scene_band(absolute(x), fx, 5.0, 5.86);
  const float joint = scene_pulse(z, fz, 0.0, 0.02, 1.0) * kerb;
  float gray = 150.0f + (1.0f - kerb) * 60.0f * slab + 30.0f * fine + 34.0f * broad;
  gray += 14.0f * kerb - 70.0f * joint;
  return color(gray, gray * 0.975f, gray * 0.93f);
}

static Color curb(const RvScene *scene, Spot *spot) {
  const double z = spot->point.z + scene->work->world->travel;
  const float fz = scene_extent(axis_z, spot);
  const float fine = scene_texel(scene, TEX_GRAIN, z, spot->point.y, fz, fz, 90.0f) - 0.5f;
  const float gray = 138.0f + 36.0f * fine - 60.0f * scene_pulse(z, fz, 0.0, 0.02, 1.0);
  return color(gray, gray * 0.98f, gray * 0.94f);
}

static Color grass(const RvScene *scene, Spot *spot) {
  const double x = across_of(scene->work->world, spot),
               z = spot->point.z + scene->work->world->travel;
  const float fx = scene_extent(axis_x, spot), fz = scene_extent(axis_z, spot);
  const float blade = scene_texel(scene, TEX_GRASS, x, z, fx, fz, 110.0f) - 0.5f;
  const float tuft = scene_texel(scene, TEX_GRASS, x + 5.0, z, fx, fz, 23.0f) - 0.5f;
  const float broad = scene_texel(scene, TEX_CLOUD, x, z, fx, fz, 6.0f) - 0.5f;
  const int wild = scene->plan.config.pattern == RV_SCENE_OFFROAD;
  const float field = scene_texel(scene, TEX_CLOUD, x + 60.0, z, fx, fz, 9.0f);
  const float dry = wild ? ramp(field, 0.36f, 0.56f) : ramp(field, 0.44f, 0.66f);
  const Color green = color(92, 118, 58), straw = wild ? color(158, 138, 100) : color(148, 132, 88);
  const float light = 1.0f + 0.95f * blade + 0.65f * tuft + 0.45f * broad;
  return color_mul(color_mix(green, straw, wild ? dry : 0.5f * dry), light);
}

/* Dirt with stones, ruts, puddles that mirror, and tufts of grass in the middle. */
static Color track(const RvScene *scene, Spot *spot) {
  const World *world = scene->work->world;
  const double x = spot->point.x, z = spot->point.z + world->travel;
  const float fx = scene_extent(axis_x, spot), fz = scene_extent(axis_z, spot);
  const float from_middle = (float)(x - scene_profile(world->track, spot->point.z));
  const float off = from_middle < 0 ? -from_middle : from_middle;
  const float grit = scene_texel(scene, TEX_DIRT, x, z, fx, fz, 120.0f) - 0.5f;
  const float clods = scene_texel(scene, TEX_DIRT, x + 2.0, z, fx, fz, 33.0f) - 0.5f;
  const float broad = scene_texel(scene, TEX_CLOUD, x, z, fx, fz, 8.0f);
  const float rut = clamp01(1.0f - 3.2f * (off > 0.75f ? off - 0.75f : 0.75f - off));
  const float damp = ramp(broad, 0.46f, 0.62f);
  const float puddle = rut * ramp(broad, 0.58f, 0.64f);
  const Color dry = color(164, 144, 108), moist = color(96, 84, 60);
  Color c = color_mul(color_mix(dry, moist, damp), 1.0f + 0.8f * grit + 0.6f * clods - 0.16f * rut);
  /* Moss and short weeds between the stones. */
  const float moss = ramp(scene_texel(scene, TEX_CLOUD, x + 31.0, z, fx, fz, 12.0f), 0.50f, 0.64f);
  c = color_mix(c, color_mul(color(104, 110, 62), 1.0f + 0.8f * grit + 0.5f * clods),
                0.75f * moss * (1.0f - rut));
  const float tufts = scene_texel(scene, TEX_GRASS, x, z, fx, fz, 19.0f) +
                      0.5f * (scene_texel(scene, TEX_CLOUD, x + 9.0, z, fx, fz, 11.0f) - 0.5f);
  const float weeds = clamp01(1.2f - 2.0f * off) * ramp(tufts, 0.42f, 0.58f);
  if (weeds > 0.0f)
    c = color_mix(c, grass(scene, spot), 0.9f * weeds);
  spot->shiny = 0.9f * puddle;
  return color_mul(c, 1.0f - 0.45f * puddle);
}

Color scene_ground_color(const RvScene *scene, Spot *spot, Material material) {
  switch (material) {
  case MATERIAL_ROAD:
    return road(scene, spot);
  case MATERIAL_SIDEWALK:
    return sidewalk(scene, spot);
  case MATERIAL_CURB:
    return curb(scene, spot);
  case MATERIAL_TRACK:
    return track(scene, spot);
  default:
    return grass(scene, spot);
  }
}
