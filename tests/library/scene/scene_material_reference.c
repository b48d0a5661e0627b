/* SPDX-License-Identifier: MIT */
/* scene_material_reference.c: facades, cars, plants and the other bodies. */
#include "scene/scene_reference.h"

/* Coordinates on a face of a box: `a` along, `h` up, both in m of the body's frame. */
typedef struct Face {
  double a, h;
  float fa, fh; /* m of a pixel */
} Face;

static Face face_of(const Spot *spot, Vec p) {
  const Object *o = spot->object;
  Face face;
  const int across = spot->face >= 4; /* faces 4 and 5 of a box look along the street */
  face.a = across ? p.x : p.z;
  face.h = p.y;
  face.fa = scene_extent(across ? o->right : o->ahead, spot);
  face.fh = scene_extent(o->up, spot);
  return face;
}

/* Glass, curtains and lights of window (i, k); rooms differ, `spread` 0..1 shows how much. */
static Color window(const Object *object, int i, int k, float spread) {
  const uint32_t room = scene_hash(object->style, (uint32_t)i, (uint32_t)(k + 50));
  const float tone = (float)(room & 255) * (1.0f / 255.0f);
  const Color glass = color(58, 68, 80);
  Color c = color_mul(glass, 1.0f + spread * (tone - 0.4f));
  if ((room >> 8 & 7) == 0)
    c = color_mix(c, color(188, 180, 166), 0.75f * spread); /* curtain */
  else if ((room >> 8 & 31) == 9)
    c = color_mix(c, color(232, 198, 130), 0.7f * spread); /* light */
  return c;
}

static Color masonry(const RvScene *scene, const Object *object, const Face *f) {
  const float stains =
      scene_texel(scene, TEX_CLOUD, f->a + object->look[2] * 50, f->h, f->fa, f->fh, 14.0f) - 0.5f;
  const float fine = scene_texel(scene, TEX_GRAIN, f->a, f->h, f->fa, f->fh, 75.0f) - 0.5f;
  if (object->tint.r - object->tint.b > 55.0f) {
    const float bricks = scene_texel(scene, TEX_BRICK, f->a, f->h, f->fa, f->fh, 128.0f) - 0.5f;
    return color_mul(object->tint, 1.0f + 0.55f * bricks + 0.2f * stains + 0.1f * fine);
  }
  return color_mul(object->tint, 1.0f + 0.32f * stains + 0.30f * fine);
}

/* Shop windows or doors, and the band of signs above them. */
static Color ground_floor(const RvScene *scene, const Object *object, const Face *f, Color wall) {
  const double pitch = 2.6 + 1.4 * (double)object->look[3];
  const double a = f->a + 200.0 * pitch;
  const float open =
      scene_pulse(a, f->fa, 0.35, pitch - 0.35, pitch) * scene_band(f->h, f->fh, 0.45, 2.6);
  const float frame =
      scene_pulse(a, f->fa, 0.27, pitch - 0.27, pitch) * scene_band(f->h, f->fh, 0.37, 2.68);
  const float sign = scene_band(f->h, f->fh, 2.85, 3.3);
  const int i = floor_int(a / pitch);
  const float spread = clamp01(1.4f - f->fa);
  const uint32_t shop = scene_hash(object->style, (uint32_t)(i / 3), 9u);
  const Color board = color((float)(60 + (shop & 127)), (float)(50 + (shop >> 8 & 127)),
                            (float)(50 + (shop >> 16 & 127)));
  Color c = color_mix(wall, color(74, 66, 58), clamp01(frame));
  if (open > 0.0f) {
    const float goods = scene_texel(scene, TEX_CLOUD, f->a, f->h, f->fa, f->fh, 40.0f) - 0.5f;
    c = color_mix(c, color_mul(window(object, i, -9, spread), 1.1f + 1.1f * goods), open);
  }
  if ((shop >> 24 & 3) != 0)
    c = color_mix(c, board, sign);
  return c;
}

/* Share of the rectangle of two pulse trains across each other. */
static float both(double a, float fa, double a0, double a1, double across, double h, float fh,
                  double h0, double h1, double up) {
  const float share = scene_pulse(a, fa, a0, a1, across);
  return share > 0.0f ? share * scene_pulse(h, fh, h0, h1, up) : 0.0f;
}

static Color facade(const RvScene *scene, Spot *spot, Vec p) {
  const Object *o = spot->object;
  if (spot->face == 2 || spot->face == 3)
    return color(120, 112, 106);
  Face f = face_of(spot, p);
  f.h += o->half.y - 3.0; /* from the ground */
  const double top = 2.0 * o->half.y - 3.0;
  const double floor_ = 2.75 + 0.5 * (double)o->look[4], pitch = 1.7 + 1.2 * (double)o->look[5];
  const double wide = pitch * (0.40 + 0.18 * (double)o->look[6]),
               tall = 1.35 + 0.3 * (double)o->look[7];
  Color c = masonry(scene, o, &f);
  const float upper = scene_band(f.h, f.fh, 3.5, top - 0.75);
  if (upper > 0.0f) {
    const double a = f.a + 200.0 * pitch, h = f.h - 3.5, mid = 0.5 * pitch;
    const double l = mid - 0.5 * wide, r = mid + 0.5 * wide;
    const float frame =
        both(a, f.fa, l - 0.09, r + 0.09, pitch, h, f.fh, 0.71, 0.89 + tall, floor_);
    const float sill = both(a, f.fa, l - 0.14, r + 0.14, pitch, h, f.fh, 0.62, 0.72, floor_);
    const Color rim = o->look[8] > 0.4f ? color(226, 224, 218) : color(92, 74, 60);
    c = color_mix(c, rim, clamp01(frame * upper));
    c = color_mix(c, color(176, 170, 160), clamp01(sill * upper));
    const float glass =
        frame > 0.0f ? both(a, f.fa, l, r, pitch, h, f.fh, 0.8, 0.8 + tall, floor_) : 0.0f;
    if (glass > 0.0f) {
      const float bar = scene_pulse(a, f.fa, mid - 0.03, mid + 0.03, pitch);
      const float cross = scene_pulse(h, f.fh, 0.8 + 0.66 * tall, 0.85 + 0.66 * tall, floor_);
      const float pane = glass * (1.0f - bar) * (1.0f - cross) * upper;
      const float spread = clamp01(1.5f - 1.2f * f.fa / (float)pitch);
      c = color_mix(c, window(o, floor_int(a / pitch), floor_int(h / floor_), spread), pane);
      spot->shiny = 0.25f * pane;
    }
  }
  if (f.h < 3.5)
    c = ground_floor(scene, o, &f, c);
  const float cornice =
      scene_band(f.h, f.fh, 3.32, 3.5) + scene_band(f.h, f.fh, top - 0.45, top + 1.0);
  const float under =
      scene_band(f.h, f.fh, top - 0.55, top - 0.45) + scene_band(f.h, f.fh, 0.0, 0.3);
  c = color_mix(c, color(206, 198, 184), 0.8f * clamp01(cornice));
  c = color_mul(c, 1.0f - 0.45f * clamp01(under));
  return c;
}

static float disc(double a, double h, double at_a, double at_h, double r, float f) {
  const double d2 = ((a - at_a) * (a - at_a) + (h - at_h) * (h - at_h)) / (r * r);
  return clamp01((float)((1.0 - d2) * r * 0.5) / (f > 1e-4f ? f : 1e-4f) + 0.5f);
}

static Color body(const RvScene *scene, Spot *spot, Vec p) {
  const Object *o = spot->object;
  const float fx = scene_extent(o->right, spot), fy = scene_extent(o->up, spot);
  const float fz = scene_extent(o->ahead, spot);
  /* Dust and road dirt on the paint. */
  const double along = p.z + p.x;
  const float dust =
      scene_texel(scene, TEX_GRAIN, along, p.y - 0.4 * p.x, fz + fx, fy, 55.0f) - 0.5f;
  const float dirt =
      scene_texel(scene, TEX_CLOUD, along + (double)o->look[11] * 9.0, p.y, fz + fx, fy, 40.0f) -
      0.5f;
  Color c = color_mul(color_mix(o->tint, color(128, 122, 110), 0.12f),
                      1.0f + 0.24f * dust + 0.28f * dirt);
  const double side = absolute(p.x), axle = 0.62 * o->half.z;
  spot->shiny = 0.22f;
  if (spot->face <= 1) {
    const float gap = scene_band(p.z, fz, 0.45, 0.475) + scene_band(p.z, fz, -0.55, -0.525);
    const float handle = scene_band(p.y, fy, 0.74, 0.78) *
                         (scene_band(p.z, fz, -0.45, -0.27) + scene_band(p.z, fz, 0.5, 0.68));
    c = color_mul(c, 1.0f - 0.6f * gap - 0.35f * handle);
    c = color_mul(c, 1.0f - 0.22f * scene_band(p.y, fy, 0.0, 0.5));
    c = color_mix(c, color(34, 34, 36), scene_band(p.y, fy, 0.0, 0.27));
    const float arch = disc(p.z, p.y, 1.02 * axle, 0.3, 0.4, fz + fy) +
                       disc(p.z, p.y, -0.98 * axle, 0.3, 0.4, fz + fy);
    c = color_mix(c, color(22, 22, 24), clamp01(arch));
    spot->shiny *= 1.0f - clamp01(arch);
  } else if (spot->face == 4 || spot->face == 5) {
    const int back = spot->face == 5;
    const float lamp = scene_band(side, fx, 0.50, 0.80) * scene_band(p.y, fy, 0.56, 0.72);
    const float grill = scene_band(side, fx, 0.0, 0.45) * scene_band(p.y, fy, 0.52, 0.66);
    const float plate = scene_band(side, fx, 0.0, 0.26) *
                        scene_band(p.y, fy, back ? 0.56 : 0.36, back ? 0.67 : 0.47);
    const float bumper = scene_band(p.y, fy, 0.0, 0.40);
    if (!back)
      c = color_mix(c, color(34, 34, 36), grill);
    c = color_mix(c, color(46, 46, 48), 0.8f * bumper);
    c = color_mix(c, back ? color(206, 26, 22) : color(236, 238, 240), lamp);
    c = color_mix(c, color(228, 226, 214), plate);
  } else if (spot->face >= 8 || spot->face == 3) {
    c = color(40, 40, 42);
    spot->shiny = 0.05f;
  }
  return c;
}

/* Windows between roof and belt line, pillars in the body's paint. */
static Color cabin(const RvScene *scene, Spot *spot, Vec p) {
  const Object *o = spot->object;
  const double roof = o->half.y, belt = o->half.x;
  const float fx = scene_extent(o->right, spot), fy = scene_extent(o->up, spot);
  const float fz = scene_extent(o->ahead, spot);
  spot->shiny = 0.35f;
  if (spot->face == 2 || spot->face == 3)
    return o->tint;
  float glass = scene_band(p.y, fy, belt + 0.05, roof - 0.07);
  if (spot->face <= 1)
    glass *= 1.0f - scene_band(p.z, fz, -0.06, 0.03) - scene_band(p.z, fz, -3.0, -0.36 * o->half.z);
  else
    glass *= scene_band(p.x, fx, -0.66 + 0.12 * (p.y - belt), 0.66 - 0.12 * (p.y - belt));
  spot->shiny = 0.35f + 0.2f * glass;
  /* What can be made out behind the glass, as if it were painted on it. */
  const float inside =
      scene_texel(scene, TEX_CLOUD, p.x + (double)o->look[9] * 9.0, p.y + p.z, fx + fz, fy, 60.0f) -
      0.5f;
  return color_mix(o->tint, color_mul(color(44, 49, 54), 1.0f + 1.8f * inside), clamp01(glass));
}

static Color wheel(const Spot *spot, Vec p) {
  const float f = scene_extent(spot->object->up, spot) + scene_extent(spot->object->ahead, spot);
  if (spot->face > 1)
    return color(30, 30, 32);
  const float rim = disc(p.z, p.y, 0, 0, 0.21, f), hub = disc(p.z, p.y, 0, 0, 0.06, f);
  const Color c = color_mix(color(34, 34, 36), color(150, 152, 156), rim);
  return color_mix(c, color(70, 70, 74), hub);
}

static Color leaves(const RvScene *scene, const Spot *spot, Vec p) {
  const float f = 1.3f * (float)(spot->t / scene->plan.camera.focal);
  const float near =
      scene_texel(scene, TEX_LEAVES, p.x + 0.6 * p.z, p.y + 0.4 * p.z, f, f, 70.0f) - 0.5f;
  const float far =
      scene_texel(scene, TEX_LEAVES, p.x - 0.5 * p.z, p.y + 0.3 * p.x, f, f, 17.0f) - 0.5f;
  return color_mul(spot->object->tint, 1.0f + 1.1f * near + 0.9f * far);
}

static Color plain(const RvScene *scene, const Spot *spot, Vec p, int texture, float texels,
                   float contrast) {
  const Face f = face_of(spot, p);
  const float grain = scene_texel(scene, texture, f.a + 0.3 * p.x, f.h, f.fa, f.fh, texels) - 0.5f;
  const float broad = scene_texel(scene, TEX_CLOUD, f.a, f.h, f.fa, f.fh, 21.0f) - 0.5f;
  return color_mul(spot->object->tint, 1.0f + contrast * grain + 0.4f * broad);
}

static Color sign(const Spot *spot, Vec p) {
  if (spot->face < 4)
    return color(90, 92, 94);
  const float f = scene_extent(spot->object->right, spot) + scene_extent(spot->object->up, spot);
  if (spot->face == 4)
    return color(128, 130, 132);
  const int red = spot->object->style & 1;
  const float rim = disc(p.x, p.y, 0, 0, 0.31, f), field = disc(p.x, p.y, 0, 0, 0.23, f);
  const Color c =
      color_mix(color(214, 214, 212), red ? color(206, 28, 30) : color(30, 74, 170), rim);
  return color_mix(c, red ? color(238, 238, 236) : color(52, 104, 204), field);
}

/* The slabs of `planes`: texture of every scale, so that every place can be matched. */
static Color slab(const RvScene *scene, const Spot *spot, Vec p) {
  const float fx = scene_extent(spot->object->right, spot),
              fy = scene_extent(spot->object->up, spot);
  const float texels = (float)(scene->plan.camera.focal / scene->plan.near);
  const float fine = scene_texel(scene, TEX_GRAIN, p.x, p.y, fx, fy, 0.5f * texels) - 0.5f;
  const float middle = scene_texel(scene, TEX_GRAIN, p.x, p.y, fx, fy, 0.11f * texels) - 0.5f;
  const float broad = scene_texel(scene, TEX_CLOUD, p.x, p.y, fx, fy, 0.2f * texels) - 0.5f;
  const float k = 1.0f + 0.9f * fine + 0.9f * middle + 0.6f * broad;
  const uint32_t s = spot->object->style;
  return color_mul(color(130.0f + (float)(s & 63), 130.0f + (float)(s >> 8 & 63),
                         130.0f + (float)(s >> 16 & 63)),
                   k);
}

Color scene_object_color(const RvScene *scene, Spot *spot, Material material) {
  const Vec p = scene_local(spot->object, spot->point);
  switch (material) {
  case MATERIAL_FACADE:
    return facade(scene, spot, p);
  case MATERIAL_WALL: {
    const Face f = face_of(spot, p);
    return spot->face == 2 ? color(150, 142, 132) : masonry(scene, spot->object, &f);
  }
  case MATERIAL_HEDGE:
    return plain(scene, spot, p, TEX_LEAVES, 55.0f, 1.5f);
  case MATERIAL_BODY:
    return body(scene, spot, p);
  case MATERIAL_CABIN:
    return cabin(scene, spot, p);
  case MATERIAL_WHEEL:
    return wheel(spot, p);
  case MATERIAL_METAL:
    return color(112, 116, 120);
  case MATERIAL_SIGN:
    return sign(spot, p);
  case MATERIAL_LEAVES:
    return leaves(scene, spot, p);
  case MATERIAL_PLANE:
    return slab(scene, spot, p);
  case MATERIAL_ROCK:
  default: { /* rock and wood */
    const float f = 1.5f * (float)(spot->t / scene->plan.camera.focal);
    const float grain =
        scene_texel(scene, TEX_DIRT, p.x + 0.4 * p.z, p.y - 0.3 * p.z, f, f, 60.0f) - 0.5f;
    const Color base = material == MATERIAL_ROCK ? color(140, 134, 124) : color(104, 84, 66);
    return color_mul(base, 1.0f + 0.9f * grain);
  }
  }
}
