/* SPDX-License-Identifier: MIT */
/* scene_lanes_ground.h: road, sidewalk, grass and dirt track. */
#ifndef RV_SCENE_LANES_GROUND_H
#define RV_SCENE_LANES_GROUND_H

#include "scene/scene_lanes_spot.h"

#define MARK 0.12 /* m: width of a painted line */

/* A smooth step of `v` from `from` to `to`. */
INLINE Floats ramp(Floats v, float from, float to) {
  const Floats k = clamp01s((v - from) / (to - from));
  return k * k * (3.0f - 2.0f * k);
}

/* Fraction of paint: dashed middle line, edge lines, parking spaces, zebra crossings. */
INLINE Floats paint(Doubles x, Doubles z, Floats fx, Floats fz) {
  const Doubles side = magnitude(x);
  const Floats middle = band(x, fx, -0.5 * MARK, 0.5 * MARK);
  const Floats spaces = band(side, fx, 3.5, 5.6);
  Floats mark = f0;
  if (any_ints(middle > 0.0f))
    mark = choose_floats(middle > 0.0f, middle * pulse(z, fz, 0.0, 3.0, 7.5), f0);
  mark += band(side, fx, 3.45, 3.45 + MARK);
  if (any_ints(spaces > 0.0f))
    mark = choose_floats(spaces > 0.0f, mark + spaces * pulse(z, fz, 0.0, 0.1, 6.6), mark);
  const Floats zebra = pulse(z, fz, 0.0, 3.5, 83.0);
  if (any_ints(zebra > 0.0f)) {
    const Floats crossing = mark * (1.0f - zebra) +
                            zebra * band(side, fx, 0.0, 3.4) * pulse(x + 40.0, fx, 0.0, 0.5, 1.0);
    mark = choose_floats(zebra > 0.0f, crossing, mark);
  }
  return choose_floats(mark > 1.0f, f0 + 1.0f, mark);
}

/* x of points in the frame of the ground: across the road where that bends. */
INLINE Doubles across_of(const World *world, const Spots *spots) {
  const Doubles x = spots->point.x;
  return world->bent ? x - profiles(world->track, spots->point.z) : x;
}

/* Fraction of the lines along a road that bends, at z m ahead and `down` m from the start;
 * *yellow: fraction of the yellow ones. */
INLINE Floats lines(const World *world, Doubles x, Doubles z, Doubles down, Floats fx, Floats fz,
                    Floats *yellow) {
  Floats mark = f0;
  *yellow = f0;
  for (int i = 0; i < world->marks; i++) {
    const Mark *m = &world->mark[i];
    const Doubles at = m->exits ? x - profiles(world->exit, z) : x;
    Floats share = band(at, fx, m->x - m->half, m->x + m->half);
    if (!any_ints(share > 0.0f))
      continue;
    share *= band(z, fz, m->from, m->to);
    if (m->period > 0.0)
      share *= pulse(down, fz, 0.0, m->on, m->period);
    mark += share;
    if (m->color == RV_LANE_COLOR_YELLOW)
      *yellow += share;
  }
  mark = choose_floats(mark > 1.0f, f0 + 1.0f, mark);
  return mark * to_floats(profiles(world->worn, z));
}

/* Layers without fine detail: one sample, as wide as the longer side of the footprint. */
INLINE Floats layer(const RvScene *scene, int texture, Doubles x, Doubles z, Floats f,
                    float texels) {
  return texel(scene, texture, x, z, f, f, texels);
}

INLINE Colors road(const RvScene *scene, Spots *spots) {
  const World *world = scene->work->world;
  const Doubles x = across_of(world, spots), z = spots->point.z + world->travel;
  const Floats fx = extents_x(spots), fz = extents_z(spots);
  const Floats f = choose_floats(fx > fz, fx, fz);
  /* Stretches of smooth new asphalt, and wet ones that mirror. */
  const Floats lay = layer(scene, TEX_CLOUD, 0.4 * x + 7.0, z, f, 2.2f);
  const Floats smooth = ramp(lay, 0.52f, 0.62f);
  Floats wet = ramp(layer(scene, TEX_CLOUD, x, z + 40.0, f, 3.1f), 0.64f, 0.72f);
  if (world->wet > 0.0)
    wet = clamp01s(wet + (float)world->wet);
  const Floats fine = texel(scene, TEX_GRAIN, x, z, fx, fz, 190.0f) - 0.5f;
  const Floats middle = texel(scene, TEX_GRAIN, x + 3.3, z, fx, fz, 41.0f) - 0.5f;
  const Floats broad = layer(scene, TEX_CLOUD, x, z, f, 13.0f) - 0.5f;
  const Floats contrast = (1.0f - 0.4f * smooth) * (1.0f - 0.45f * wet);
  Floats gray =
      112.0f - 16.0f * smooth + contrast * (66.0f * fine + 62.0f * middle) + 32.0f * broad;
  /* Tar in the cracks: the contour of a coarse texture. */
  const Floats width = 0.006f + 0.35f * (fx + fz);
  if (any_ints(width < 0.06f)) {
    const Floats crack = texel(scene, TEX_CLOUD, x + 11.0, z * 0.7, fx, fz, 9.0f) - 0.5f;
    const Floats tar = clamp01s(1.0f - choose_floats(crack < 0.0f, -crack, crack) / width);
    const Floats dark = gray - 42.0f * tar * clamp01s(0.014f / width - 0.23f) * (1.0f - smooth);
    gray = choose_floats(width < 0.06f, dark, gray);
  }
  /* Tracks of wheels are polished. */
  const Doubles lane = magnitude(magnitude(x) - 1.75);
  gray -= 7.0f * clamp01s(1.0f - to_floats(magnitude(lane - 0.75)) * 2.5f);
  Floats yellow = f0;
  Floats mark =
      world->bent ? lines(world, x, spots->point.z, z, fx, fz, &yellow) : paint(x, z, fx, fz);
  if (any_ints(mark > 0.0f)) {
    const Floats worn = texel(scene, TEX_GRAIN, x, z + 9.0, fx, fz, 60.0f);
    mark = choose_floats(mark > 0.0f, mark * (clamp01s(0.64f + 0.5f * worn) * (1.0f - 0.3f * wet)),
                         mark);
  }
  spots->shiny = 0.42f * wet;
  const Colors asphalt = colors(gray * 0.99f, gray, gray * 1.02f);
  Colors color_ = colors_of(212, 210, 202);
  if (any_ints(yellow > 0.0f))
    color_ = choose_colors(yellow > 0.0f, colors_of(206, 166, 62), color_);
  return colors_mix(colors_mul(asphalt, 1.0f - 0.3f * wet), color_, mark);
}

INLINE Colors sidewalk(const RvScene *scene, Spots *spots) {
  const Doubles x = spots->point.x, z = spots->point.z + scene->work->world->travel;
  const Floats fx = extents_x(spots), fz = extents_z(spots);
  const Floats slab = texel(scene, TEX_PAVING, x, z, fx, fz, 128.0f) - 0.5f;
  const Floats fine = texel(scene, TEX_GRAIN, x, z, fx, fz, 150.0f) - 0.5f;
  const Floats broad = texel(scene, TEX_CLOUD, x, z, fx, fz, 17.0f) - 0.5f;
  const Floats kerb = band(magnitude(x), fx, 5.0, 5.86);
  const Floats joint = pulse(z, fz, 0.0, 0.02, 1.0) * kerb;
  Floats gray = 150.0f + (1.0f - kerb) * 60.0f * slab + 30.0f * fine + 34.0f * broad;
  gray += 14.0f * kerb - 70.0f * joint;
  return colors(gray, gray * 0.975f, gray * 0.93f);
}

INLINE Colors curb(const RvScene *scene, Spots *spots) {
  const Doubles z = spots->point.z + scene->work->world->travel;
  const Floats fz = extents_z(spots);
  const Floats fine = texel(scene, TEX_GRAIN, z, spots->point.y, fz, fz, 90.0f) - 0.5f;
  const Floats gray = 138.0f + 36.0f * fine - 60.0f * pulse(z, fz, 0.0, 0.02, 1.0);
  return colors(gray, gray * 0.98f, gray * 0.94f);
}

APART Colors grass(const RvScene *scene, const Spots *spots) {
  const Doubles x = across_of(scene->work->world, spots),
                z = spots->point.z + scene->work->world->travel;
  const Floats fx = extents_x(spots), fz = extents_z(spots);
  const Floats blade = texel(scene, TEX_GRASS, x, z, fx, fz, 110.0f) - 0.5f;
  const Floats tuft = texel(scene, TEX_GRASS, x + 5.0, z, fx, fz, 23.0f) - 0.5f;
  const Floats broad = texel(scene, TEX_CLOUD, x, z, fx, fz, 6.0f) - 0.5f;
  const int wild = scene->plan.config.pattern == RV_SCENE_OFFROAD;
  const Floats field = texel(scene, TEX_CLOUD, x + 60.0, z, fx, fz, 9.0f);
  const Floats dry = wild ? ramp(field, 0.36f, 0.56f) : 0.5f * ramp(field, 0.44f, 0.66f);
  const Colors green = colors_of(92, 118, 58);
  const Colors straw = wild ? colors_of(158, 138, 100) : colors_of(148, 132, 88);
  const Floats light = 1.0f + 0.95f * blade + 0.65f * tuft + 0.45f * broad;
  return colors_mul(colors_mix(green, straw, dry), light);
}

/* Dirt with stones, ruts, puddles that mirror, and tufts of grass in the middle. */
INLINE Colors track(const RvScene *scene, Spots *spots) {
  const World *world = scene->work->world;
  const Doubles x = spots->point.x, z = spots->point.z + world->travel;
  const Floats fx = extents_x(spots), fz = extents_z(spots);
  const Floats from_middle = to_floats(x - profiles(world->track, spots->point.z));
  const Floats off = choose_floats(from_middle < 0.0f, -from_middle, from_middle);
  const Floats grit = texel(scene, TEX_DIRT, x, z, fx, fz, 120.0f) - 0.5f;
  const Floats clods = texel(scene, TEX_DIRT, x + 2.0, z, fx, fz, 33.0f) - 0.5f;
  const Floats broad = texel(scene, TEX_CLOUD, x, z, fx, fz, 8.0f);
  const Floats from_rut = choose_floats(off > 0.75f, off - 0.75f, 0.75f - off);
  const Floats rut = clamp01s(1.0f - 3.2f * from_rut);
  const Floats damp = ramp(broad, 0.46f, 0.62f);
  const Floats puddle = rut * ramp(broad, 0.58f, 0.64f);
  const Colors dry = colors_of(164, 144, 108), moist = colors_of(96, 84, 60);
  Colors c =
      colors_mul(colors_mix(dry, moist, damp), 1.0f + 0.8f * grit + 0.6f * clods - 0.16f * rut);
  /* Moss and short weeds between the stones. */
  const Floats moss = ramp(texel(scene, TEX_CLOUD, x + 31.0, z, fx, fz, 12.0f), 0.50f, 0.64f);
  c = colors_mix(c, colors_mul(colors_of(104, 110, 62), 1.0f + 0.8f * grit + 0.5f * clods),
                 0.75f * moss * (1.0f - rut));
  const Floats tufts = texel(scene, TEX_GRASS, x, z, fx, fz, 19.0f) +
                       0.5f * (texel(scene, TEX_CLOUD, x + 9.0, z, fx, fz, 11.0f) - 0.5f);
  const Floats weeds = clamp01s(1.2f - 2.0f * off) * ramp(tufts, 0.42f, 0.58f);
  if (any_ints(weeds > 0.0f))
    c = choose_colors(weeds > 0.0f, colors_mix(c, grass(scene, spots), 0.9f * weeds), c);
  spots->shiny = 0.9f * puddle;
  return colors_mul(c, 1.0f - 0.45f * puddle);
}

INLINE Colors ground_colors(const RvScene *scene, Spots *spots, Material material) {
  switch (material) {
  case MATERIAL_ROAD:
    return road(scene, spots);
  case MATERIAL_SIDEWALK:
    return sidewalk(scene, spots);
  case MATERIAL_CURB:
    return curb(scene, spots);
  case MATERIAL_TRACK:
    return track(scene, spots);
  default:
    return grass(scene, spots);
  }
}

#endif
