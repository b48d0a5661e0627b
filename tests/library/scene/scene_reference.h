/* SPDX-License-Identifier: MIT */
/* scene_reference.h: the reference implementation of the renderer: one pixel after the other, in
 * plain C. The world of a frame and the textures are the library's. */
#ifndef RV_SCENE_REFERENCE_H
#define RV_SCENE_REFERENCE_H

#include "scene/scene_internal.h"

static inline float clamp01(float v) {
  return v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
}
static inline int rect_has(const Rect *rect, double x, double y) {
  return x >= rect->x0 && x <= rect->x1 && y >= rect->y0 && y <= rect->y1;
}

/* Renders as rv_scene_render does; all patterns but RV_SCENE_NOISE. Arguments are valid. */
void rv_scene_reference(RvScene *scene, uint64_t frame, const RvPicture *picture,
                        const RvSceneTruth *truth);

typedef struct Ray {
  Vec origin, dir; /* dir has length 1 along the optical axis: t is the depth in m */
} Ray;

typedef struct Hit {
  double t;   /* depth, m */
  int object; /* index, -1 sky, -2 ground */
  int face;
  Material material;
} Hit;

/* scene_trace_reference.c */
Ray scene_ray(const RvScene *scene, int view, double x, double y);
void scene_trace(const RvScene *scene, int view, const Ray *ray, double x, double y, double far,
                 Hit *hit);
int scene_in_shadow(const RvScene *scene, Vec point, int self);
Vec scene_normal(const RvScene *scene, const Hit *hit, Vec point);
Vec scene_local(const Object *object, Vec point);
int scene_leaf_hole(Vec local, uint32_t style);
double scene_track(const RvScene *scene, double x, double z); /* m inside the track, < 0 outside */

/* scene_texture_reference.c */
/* Mean gray (0..1) of the rectangle of fu x fv m round (u, v) m, `texels` per m. */
float scene_texel(const RvScene *scene, int texture, double u, double v, float fu, float fv,
                  float texels);
/* Share of [x - f/2, x + f/2] inside [a, b] of a pattern with period p; and without period. */
float scene_pulse(double x, float f, double a, double b, double p);
float scene_band(double x, float f, double a, double b);

/* scene_shade_reference.c */
Color scene_shade(const RvScene *scene, const Ray *ray, const Hit *hit, int shadow);

/* What a material sees of a hit. */
typedef struct Spot {
  Vec point, normal, dir;
  Vec dx, dy; /* m of the surface per pixel step right and down */
  double t;
  const Object *object;
  int face;
  float shiny; /* out: share of mirrored sky */
} Spot;
float scene_extent(Vec axis, const Spot *spot); /* m of a pixel along a unit vector */

/* scene_ground_reference.c, scene_material_reference.c */
Color scene_ground_color(const RvScene *scene, Spot *spot, Material material);
Color scene_object_color(const RvScene *scene, Spot *spot, Material material);

#endif
