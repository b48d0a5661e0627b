/* SPDX-License-Identifier: MIT */
/* scene_lanes_material.h: facades, cars, plants and the other bodies. */
#ifndef RV_SCENE_LANES_MATERIAL_H
#define RV_SCENE_LANES_MATERIAL_H

#include "scene/scene_lanes_spot.h"

/* Coordinates on a face of a box: `a` along, `h` up, both in m of the body's frame. */
typedef struct Faces {
  Doubles a, h;
  Floats fa, fh; /* m of a pixel */
} Faces;

INLINE Faces faces_of(const Spots *s, Vecs p) {
  const Longs across = widen(s->face >= 4); /* faces 4 and 5 of a box look along the street */
  Faces f;
  f.a = choose(across, p.x, p.z);
  f.h = p.y;
  f.fa = extents(s, choose_vecs(across, VECS_OF(s, right), VECS_OF(s, ahead)));
  f.fh = extents(s, VECS_OF(s, up));
  return f;
}

/* Glass, curtains and lights of window (i, k); rooms differ, `spread` 0..1 shows how much. */
INLINE Colors window(Words style, Ints i, Ints k, Floats spread) {
  const Words room = hashes(style, (Words)i, (Words)(k + 50));
  const Floats tone = ints_to_floats((Ints)(room & 255u)) * (1.0f / 255.0f);
  const Colors c = colors_mul(colors_of(58, 68, 80), 1.0f + spread * (tone - 0.4f));
  const Ints curtain = (Ints)((room >> 8 & 7u) == 0u), light = (Ints)((room >> 8 & 31u) == 9u);
  const Colors behind = colors_mix(c, colors_of(188, 180, 166), 0.75f * spread);
  const Colors bright = colors_mix(c, colors_of(232, 198, 130), 0.7f * spread);
  return choose_colors(curtain, behind, choose_colors(light, bright, c));
}

INLINE Colors masonry(const RvScene *scene, const Spots *s, const Faces *f) {
  const Colors tint = tints_of(s);
  const Doubles aside = f->a + to_doubles(LOOK_OF(s, 2) * 50.0f);
  const Floats stains = texel(scene, TEX_CLOUD, aside, f->h, f->fa, f->fh, 14.0f) - 0.5f;
  const Floats fine = texel(scene, TEX_GRAIN, f->a, f->h, f->fa, f->fh, 75.0f) - 0.5f;
  const Colors plaster = colors_mul(tint, 1.0f + 0.32f * stains + 0.30f * fine);
  const Ints red = tint.r - tint.b > 55.0f;
  if (!any_ints(red))
    return plaster;
  const Floats bricks = texel(scene, TEX_BRICK, f->a, f->h, f->fa, f->fh, 128.0f) - 0.5f;
  const Floats wall = 1.0f + 0.55f * bricks + 0.2f * stains + 0.1f * fine;
  return choose_colors(red, colors_mul(tint, wall), plaster);
}

/* Shop windows or doors, and the band of signs above them. */
INLINE Colors ground_floor(const RvScene *scene, const Spots *s, const Faces *f, Colors wall) {
  const Doubles pitch = 2.6 + 1.4 * to_doubles(LOOK_OF(s, 3)), a = f->a + 200.0 * pitch;
  const Words style = styles_of(s);
  const Floats open =
      pulses(a, f->fa, d0 + 0.35, pitch - 0.35, pitch) * band(f->h, f->fh, 0.45, 2.6);
  const Floats frame =
      pulses(a, f->fa, d0 + 0.27, pitch - 0.27, pitch) * band(f->h, f->fh, 0.37, 2.68);
  const Floats sign = band(f->h, f->fh, 2.85, 3.3);
  const Ints i = floor_ints(a / pitch);
  const Floats spread = clamp01s(1.4f - f->fa);
  const Words shop = hashes(style, (Words)(i / 3), (Words)i0 + 9u);
  const Colors board = colors(ints_to_floats((Ints)(shop & 127u) + 60),
                              ints_to_floats((Ints)(shop >> 8 & 127u) + 50),
                              ints_to_floats((Ints)(shop >> 16 & 127u) + 50));
  Colors c = colors_mix(wall, colors_of(74, 66, 58), clamp01s(frame));
  if (any_ints(open > 0.0f)) {
    const Floats goods = texel(scene, TEX_CLOUD, f->a, f->h, f->fa, f->fh, 40.0f) - 0.5f;
    const Colors glass = colors_mul(window(style, i, i0 - 9, spread), 1.1f + 1.1f * goods);
    c = choose_colors(open > 0.0f, colors_mix(c, glass, open), c);
  }
  return choose_colors((Ints)((shop >> 24 & 3u) != 0u), colors_mix(c, board, sign), c);
}

/* Fraction of the rectangle of two pulse trains across each other. */
INLINE Floats both(Doubles a, Floats fa, Doubles a0, Doubles a1, Doubles across, Doubles h,
                   Floats fh, Doubles h0, Doubles h1, Doubles up) {
  const Floats share = pulses(a, fa, a0, a1, across);
  const Ints in = share > 0.0f;
  return any_ints(in) ? choose_floats(in, share * pulses(h, fh, h0, h1, up), f0) : f0;
}

/* The windows of the upper floors, where `upper` is set. */
INLINE Colors upper_floors(const Faces *f, Spots *s, Floats upper, Colors wall) {
  const Doubles floor_ = 2.75 + 0.5 * to_doubles(LOOK_OF(s, 4));
  const Doubles pitch = 1.7 + 1.2 * to_doubles(LOOK_OF(s, 5));
  const Doubles wide = pitch * (0.40 + 0.18 * to_doubles(LOOK_OF(s, 6)));
  const Doubles tall = 1.35 + 0.3 * to_doubles(LOOK_OF(s, 7));
  const Doubles a = f->a + 200.0 * pitch, h = f->h - 3.5, mid = 0.5 * pitch;
  const Doubles l = mid - 0.5 * wide, r = mid + 0.5 * wide;
  const Floats frame =
      both(a, f->fa, l - 0.09, r + 0.09, pitch, h, f->fh, d0 + 0.71, 0.89 + tall, floor_);
  const Floats sill =
      both(a, f->fa, l - 0.14, r + 0.14, pitch, h, f->fh, d0 + 0.62, d0 + 0.72, floor_);
  const Colors rim =
      choose_colors(LOOK_OF(s, 8) > 0.4f, colors_of(226, 224, 218), colors_of(92, 74, 60));
  Colors c = colors_mix(wall, rim, clamp01s(frame * upper));
  c = colors_mix(c, colors_of(176, 170, 160), clamp01s(sill * upper));
  const Ints framed = frame > 0.0f;
  if (!any_ints(framed))
    return c;
  const Floats panes = both(a, f->fa, l, r, pitch, h, f->fh, d0 + 0.8, 0.8 + tall, floor_);
  const Ints in = framed & (panes > 0.0f);
  if (!any_ints(in))
    return c;
  const Floats bar = pulses(a, f->fa, mid - 0.03, mid + 0.03, pitch);
  const Floats cross = pulses(h, f->fh, 0.8 + 0.66 * tall, 0.85 + 0.66 * tall, floor_);
  const Floats pane = panes * (1.0f - bar) * (1.0f - cross) * upper;
  const Floats spread = clamp01s(1.5f - 1.2f * f->fa / to_floats(pitch));
  const Colors glass = window(styles_of(s), floor_ints(a / pitch), floor_ints(h / floor_), spread);
  s->shiny = choose_floats(in & (upper > 0.0f), 0.25f * pane, s->shiny);
  return choose_colors(in, colors_mix(c, glass, pane), c);
}

INLINE Colors facade(const RvScene *scene, Spots *s, Vecs p) {
  const Ints level = (s->face == 2) | (s->face == 3);
  const Colors roof = colors_of(120, 112, 106);
  if (!any_ints(~level))
    return roof;
  const Doubles half_y = NUMBER_OF(s, half.y);
  Faces f = faces_of(s, p);
  f.h += half_y - 3.0; /* from the ground */
  const Doubles top = 2.0 * half_y - 3.0;
  Colors c = masonry(scene, s, &f);
  const Floats upper = bands(f.h, f.fh, d0 + 3.5, top - 0.75);
  if (any_ints(upper > 0.0f))
    c = choose_colors(upper > 0.0f, upper_floors(&f, s, upper, c), c);
  const Ints low = narrow(f.h < 3.5);
  if (any_ints(low))
    c = choose_colors(low, ground_floor(scene, s, &f, c), c);
  const Floats cornice = band(f.h, f.fh, 3.32, 3.5) + bands(f.h, f.fh, top - 0.45, top + 1.0);
  const Floats under = bands(f.h, f.fh, top - 0.55, top - 0.45) + band(f.h, f.fh, 0.0, 0.3);
  c = colors_mix(c, colors_of(206, 198, 184), 0.8f * clamp01s(cornice));
  c = colors_mul(c, 1.0f - 0.45f * clamp01s(under));
  s->shiny = choose_floats(level, f0, s->shiny);
  return choose_colors(level, roof, c);
}

INLINE Floats disc(Doubles a, Doubles h, Doubles at_a, double at_h, double r, Floats f) {
  const Doubles d2 = ((a - at_a) * (a - at_a) + (h - at_h) * (h - at_h)) / (r * r);
  return clamp01s(to_floats((1.0 - d2) * r * 0.5) / choose_floats(f > 1e-4f, f, f0 + 1e-4f) + 0.5f);
}

/* Doors of a car: gaps, handles, wheel arches. */
INLINE Colors car_side(Spots *s, Vecs p, Floats fy, Floats fz, Colors paint_) {
  const Doubles axle = 0.62 * NUMBER_OF(s, half.z);
  const Floats gap = band(p.z, fz, 0.45, 0.475) + band(p.z, fz, -0.55, -0.525);
  const Floats handle =
      band(p.y, fy, 0.74, 0.78) * (band(p.z, fz, -0.45, -0.27) + band(p.z, fz, 0.5, 0.68));
  Colors c = colors_mul(paint_, 1.0f - 0.6f * gap - 0.35f * handle);
  c = colors_mul(c, 1.0f - 0.22f * band(p.y, fy, 0.0, 0.5));
  c = colors_mix(c, colors_of(34, 34, 36), band(p.y, fy, 0.0, 0.27));
  const Floats arch = disc(p.z, p.y, 1.02 * axle, 0.3, 0.4, fz + fy) +
                      disc(p.z, p.y, -0.98 * axle, 0.3, 0.4, fz + fy);
  c = colors_mix(c, colors_of(22, 22, 24), clamp01s(arch));
  s->shiny = choose_floats(s->face <= 1, s->shiny * (1.0f - clamp01s(arch)), s->shiny);
  return c;
}

/* Lamps, grill, plate and bumper of a car. */
INLINE Colors car_end(const Spots *s, Vecs p, Floats fx, Floats fy, Colors paint_) {
  const Doubles side = magnitude(p.x);
  const Ints back = s->face == 5;
  const Longs rear = widen(back);
  const Floats lamp = band(side, fx, 0.50, 0.80) * band(p.y, fy, 0.56, 0.72);
  const Floats grill = band(side, fx, 0.0, 0.45) * band(p.y, fy, 0.52, 0.66);
  const Floats plate =
      band(side, fx, 0.0, 0.26) *
      bands(p.y, fy, choose(rear, d0 + 0.56, d0 + 0.36), choose(rear, d0 + 0.67, d0 + 0.47));
  const Floats bumper = band(p.y, fy, 0.0, 0.40);
  Colors c = choose_colors(back, paint_, colors_mix(paint_, colors_of(34, 34, 36), grill));
  c = colors_mix(c, colors_of(46, 46, 48), 0.8f * bumper);
  c = colors_mix(c, choose_colors(back, colors_of(206, 26, 22), colors_of(236, 238, 240)), lamp);
  return colors_mix(c, colors_of(228, 226, 214), plate);
}

INLINE Colors body(const RvScene *scene, Spots *s, Vecs p) {
  const Floats fx = extents(s, VECS_OF(s, right)), fy = extents(s, VECS_OF(s, up));
  const Floats fz = extents(s, VECS_OF(s, ahead));
  /* Dust and road dirt on the paint. */
  const Doubles along = p.z + p.x;
  const Floats dust = texel(scene, TEX_GRAIN, along, p.y - 0.4 * p.x, fz + fx, fy, 55.0f) - 0.5f;
  const Floats dirt =
      texel(scene, TEX_CLOUD, along + to_doubles(LOOK_OF(s, 11)) * 9.0, p.y, fz + fx, fy, 40.0f) -
      0.5f;
  Colors c = colors_mul(colors_mix(tints_of(s), colors_of(128, 122, 110), f0 + 0.12f),
                        1.0f + 0.24f * dust + 0.28f * dirt);
  const Ints side = s->face <= 1, end = (s->face == 4) | (s->face == 5);
  const Ints below = (s->face >= 8) | (s->face == 3);
  s->shiny = f0 + 0.22f;
  if (any_ints(side))
    c = choose_colors(side, car_side(s, p, fy, fz, c), c);
  if (any_ints(end))
    c = choose_colors(end, car_end(s, p, fx, fy, c), c);
  s->shiny = choose_floats(below, f0 + 0.05f, s->shiny);
  return choose_colors(below, colors_of(40, 40, 42), c);
}

/* Windows between roof and belt line, pillars in the body's paint. */
INLINE Colors cabin(const RvScene *scene, Spots *s, Vecs p) {
  const Doubles top = NUMBER_OF(s, half.y), belt = NUMBER_OF(s, half.x);
  const Floats fx = extents(s, VECS_OF(s, right)), fy = extents(s, VECS_OF(s, up));
  const Floats fz = extents(s, VECS_OF(s, ahead));
  const Colors tint = tints_of(s);
  const Ints level = (s->face == 2) | (s->face == 3), side = s->face <= 1;
  s->shiny = f0 + 0.35f;
  if (!any_ints(~level))
    return tint;
  const Floats pillars =
      1.0f - band(p.z, fz, -0.06, 0.03) - bands(p.z, fz, d0 - 3.0, -0.36 * NUMBER_OF(s, half.z));
  const Doubles edge = 0.12 * (p.y - belt);
  const Floats across = bands(p.x, fx, -0.66 + edge, 0.66 - edge);
  const Floats glass =
      bands(p.y, fy, belt + 0.05, top - 0.07) * choose_floats(side, pillars, across);
  s->shiny = choose_floats(level, s->shiny, 0.35f + 0.2f * glass);
  /* What can be made out behind the glass, as if it were painted on it. */
  const Floats inside = texel(scene, TEX_CLOUD, p.x + to_doubles(LOOK_OF(s, 9)) * 9.0, p.y + p.z,
                              fx + fz, fy, 60.0f) -
                        0.5f;
  const Colors seen = colors_mul(colors_of(44, 49, 54), 1.0f + 1.8f * inside);
  return choose_colors(level, tint, colors_mix(tint, seen, clamp01s(glass)));
}

INLINE Colors wheel(const Spots *s, Vecs p) {
  const Floats f = extents(s, VECS_OF(s, up)) + extents(s, VECS_OF(s, ahead));
  const Floats rim = disc(p.z, p.y, d0, 0, 0.21, f), hub = disc(p.z, p.y, d0, 0, 0.06, f);
  const Colors c = colors_mix(colors_of(34, 34, 36), colors_of(150, 152, 156), rim);
  return choose_colors(s->face > 1, colors_of(30, 30, 32),
                       colors_mix(c, colors_of(70, 70, 74), hub));
}

INLINE Colors leaves(const RvScene *scene, const Spots *s, Vecs p) {
  const Floats f = 1.3f * to_floats(s->t / scene->plan.camera.focal);
  const Floats near =
      texel(scene, TEX_LEAVES, p.x + 0.6 * p.z, p.y + 0.4 * p.z, f, f, 70.0f) - 0.5f;
  const Floats far = texel(scene, TEX_LEAVES, p.x - 0.5 * p.z, p.y + 0.3 * p.x, f, f, 17.0f) - 0.5f;
  return colors_mul(tints_of(s), 1.0f + 1.1f * near + 0.9f * far);
}

INLINE Colors plain(const RvScene *scene, const Spots *s, Vecs p, int texture, float texels,
                    float contrast) {
  const Faces f = faces_of(s, p);
  const Floats grain = texel(scene, texture, f.a + 0.3 * p.x, f.h, f.fa, f.fh, texels) - 0.5f;
  const Floats broad = texel(scene, TEX_CLOUD, f.a, f.h, f.fa, f.fh, 21.0f) - 0.5f;
  return colors_mul(tints_of(s), 1.0f + contrast * grain + 0.4f * broad);
}

INLINE Colors sign(const Spots *s, Vecs p) {
  const Floats f = extents(s, VECS_OF(s, right)) + extents(s, VECS_OF(s, up));
  const Ints red = -(Ints)(styles_of(s) & 1u);
  const Floats rim = disc(p.x, p.y, d0, 0, 0.31, f), field = disc(p.x, p.y, d0, 0, 0.23, f);
  Colors c = colors_mix(colors_of(214, 214, 212),
                        choose_colors(red, colors_of(206, 28, 30), colors_of(30, 74, 170)), rim);
  c = colors_mix(c, choose_colors(red, colors_of(238, 238, 236), colors_of(52, 104, 204)), field);
  c = choose_colors(s->face == 4, colors_of(128, 130, 132), c);
  return choose_colors(s->face < 4, colors_of(90, 92, 94), c);
}

/* The slabs of `planes`: texture of every scale, so that every position can be matched. */
INLINE Colors slab(const RvScene *scene, const Spots *s, Vecs p) {
  const Floats fx = extents(s, VECS_OF(s, right)), fy = extents(s, VECS_OF(s, up));
  const float texels = (float)(scene->plan.camera.focal / scene->plan.near);
  const Floats fine = texel(scene, TEX_GRAIN, p.x, p.y, fx, fy, 0.5f * texels) - 0.5f;
  const Floats middle = texel(scene, TEX_GRAIN, p.x, p.y, fx, fy, 0.11f * texels) - 0.5f;
  const Floats broad = texel(scene, TEX_CLOUD, p.x, p.y, fx, fy, 0.2f * texels) - 0.5f;
  const Floats k = 1.0f + 0.9f * fine + 0.9f * middle + 0.6f * broad;
  const Words style = styles_of(s);
  const Colors base = colors(130.0f + ints_to_floats((Ints)(style & 63u)),
                             130.0f + ints_to_floats((Ints)(style >> 8 & 63u)),
                             130.0f + ints_to_floats((Ints)(style >> 16 & 63u)));
  return colors_mul(base, k);
}

INLINE Colors rough(const RvScene *scene, const Spots *s, Vecs p, Material material) {
  const Floats f = 1.5f * to_floats(s->t / scene->plan.camera.focal);
  const Floats grain = texel(scene, TEX_DIRT, p.x + 0.4 * p.z, p.y - 0.3 * p.z, f, f, 60.0f) - 0.5f;
  const Colors base = material == MATERIAL_ROCK ? colors_of(140, 134, 124) : colors_of(104, 84, 66);
  return colors_mul(base, 1.0f + 0.9f * grain);
}

INLINE Colors wall_colors(const RvScene *scene, const Spots *s, Vecs p) {
  const Faces f = faces_of(s, p);
  return choose_colors(s->face == 2, colors_of(150, 142, 132), masonry(scene, s, &f));
}

INLINE Colors object_colors(const RvScene *scene, Spots *s, Material material) {
  if (material == MATERIAL_METAL)
    return colors_of(112, 116, 120);
  const Vecs p = locals_of(s);
  switch (material) {
  case MATERIAL_FACADE:
    return facade(scene, s, p);
  case MATERIAL_WALL:
    return wall_colors(scene, s, p);
  case MATERIAL_HEDGE:
    return plain(scene, s, p, TEX_LEAVES, 55.0f, 1.5f);
  case MATERIAL_BODY:
    return body(scene, s, p);
  case MATERIAL_CABIN:
    return cabin(scene, s, p);
  case MATERIAL_WHEEL:
    return wheel(s, p);
  case MATERIAL_SIGN:
    return sign(s, p);
  case MATERIAL_LEAVES:
    return leaves(scene, s, p);
  case MATERIAL_PLANE:
    return slab(scene, s, p);
  default:
    return rough(scene, s, p, material);
  }
}

#endif
