/* SPDX-License-Identifier: MIT */
/* scene_lanes_spot.h: what materials see of several hits on one material. */
#ifndef RV_SCENE_LANES_SPOT_H
#define RV_SCENE_LANES_SPOT_H

#include "scene/scene_lanes_texture.h"

typedef struct Spots {
  Vecs point, normal, dir;
  Vecs dx, dy; /* m of the surface per pixel step right and down */
  Doubles t;
  const Object *object[LANES]; /* NULL: the ground */
  int same;                    /* all lanes are on one object */
  Ints face;
  Floats shiny; /* out: fraction of mirrored sky */
} Spots;

/* A field of each lane's object. */
INLINE Doubles field_double(const Spots *s, size_t offset) {
  Doubles v = d0 + *(const double *)(const void *)((const char *)s->object[0] + offset);
  for (int i = 1; i < LANES && !s->same; i++)
    v[i] = *(const double *)(const void *)((const char *)s->object[i] + offset);
  return v;
}
INLINE Floats field_float(const Spots *s, size_t offset) {
  Floats v = f0 + *(const float *)(const void *)((const char *)s->object[0] + offset);
  for (int i = 1; i < LANES && !s->same; i++)
    v[i] = *(const float *)(const void *)((const char *)s->object[i] + offset);
  return v;
}
#define NUMBER_OF(spots, field) field_double(spots, offsetof(Object, field))
#define LOOK_OF(spots, i) field_float(spots, offsetof(Object, look) + (i) * sizeof(float))

INLINE Vecs field_vec(const Spots *s, size_t offset) {
  return vecs(field_double(s, offset), field_double(s, offset + offsetof(Vec, y)),
              field_double(s, offset + offsetof(Vec, z)));
}
#define VECS_OF(spots, field) field_vec(spots, offsetof(Object, field))

INLINE Words styles_of(const Spots *s) {
  Words v = (Words)i0 + s->object[0]->style;
  for (int i = 1; i < LANES && !s->same; i++)
    v[i] = s->object[i]->style;
  return v;
}

INLINE Colors tints_of(const Spots *s) {
  const size_t at = offsetof(Object, tint);
  return colors(field_float(s, at), field_float(s, at + offsetof(Color, g)),
                field_float(s, at + offsetof(Color, b)));
}

/* Points in the frames of their objects. */
INLINE Vecs locals_of(const Spots *s) {
  const Vecs p = vecs_sub(s->point, VECS_OF(s, origin));
  return vecs(dots(p, VECS_OF(s, right)), dots(p, VECS_OF(s, up)), dots(p, VECS_OF(s, ahead)));
}

/* m that one pixel covers along a unit vector of the surface. */
INLINE Floats extents(const Spots *s, Vecs axis) {
  return to_floats(magnitude(dots(axis, s->dx)) + magnitude(dots(axis, s->dy)));
}
INLINE Floats extents_x(const Spots *s) {
  return to_floats(magnitude(s->dx.x) + magnitude(s->dy.x));
}
INLINE Floats extents_z(const Spots *s) {
  return to_floats(magnitude(s->dx.z) + magnitude(s->dy.z));
}

#endif
