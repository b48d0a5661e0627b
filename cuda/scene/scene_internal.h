/* SPDX-License-Identifier: MIT */
/* scene_internal.h: the parts of the renderer and the data between them.
 *
 *   scene.c          object, config, camera, render() as a list of passes
 *   scene_world.c    what stands where in one frame;  scene_street.c, scene_offroad.c,
 *                    scene_highway.c, scene_course.c: the objects
 *   scene_road.c     roads that bend, and their paint;  scene_truth.c: truth beyond single pixels
 *   scene_objects.c  convex bodies, cylinders, ellipsoids; tiles and shadow grid
 *   scene_texture.c  tileable textures with mip levels
 *   scene_kernels.h  rows of pixels, once per instruction set: scene_lanes.c, several at a time
 *     scene_lanes_terrain.h, _objects.h: rays: first hit, shadow, truth
 *     scene_lanes_shade.h: light;  _ground.h, _material.h: colors of surfaces;  _texture.h
 *   scene_output.c   pixel formats;  scene_noise.c: the pattern `noise`
 *
 * World: x right, y up, z along the street, m; the origin travels with the camera, which stands at
 * z = 0 and `travel` m down the street. Everything is a function of the seed and of `travel`. */
#ifndef RV_SCENE_INTERNAL_H
#define RV_SCENE_INTERNAL_H

#include "scene/scene.h"
#include "rv_hd.h"
#include "rv_internal.h"
#include "rv_object.h"
#include "rv_records.h"

#define OBJECTS_MAX 384
#define OBJECT_WORDS (OBJECTS_MAX / 64)
#define OBJECT_PLANES 14
#define LOOKS 12
#define TILES_X 40
#define TILES_Y 30
#define SHADE_X 26 /* cells of the shadow grid, SHADE_CELL m each */
#define SHADE_Z 96
#define SHADE_CELL 2.0
#define SHADE_X0 (-26.0)
#define SHADE_Z0 (-12.0)
#define HEIGHTS 1024 /* samples of the ground's profile */
#define HEIGHT_STEP 0.25
#define HEIGHT_Z0 (-24.0)
#define FAR_M 205.0 /* no object beyond */
#define TEXTURE_SIDE 256
#define TEXTURE_LEVELS 9

typedef struct Vec {
  double x, y, z;
} Vec;

typedef struct Color {
  float r, g, b; /* 0..255 */
} Color;

typedef enum Material {
  MATERIAL_SKY = 0,
  MATERIAL_ROAD,
  MATERIAL_SIDEWALK,
  MATERIAL_CURB,
  MATERIAL_GRASS,
  MATERIAL_TRACK,
  MATERIAL_FACADE,
  MATERIAL_WALL,
  MATERIAL_HEDGE,
  MATERIAL_BODY,
  MATERIAL_CABIN,
  MATERIAL_WHEEL,
  MATERIAL_METAL,
  MATERIAL_SIGN,
  MATERIAL_WOOD,
  MATERIAL_LEAVES,
  MATERIAL_ROCK,
  MATERIAL_PLANE
} Material;

typedef enum Shape { SHAPE_CONVEX = 0, SHAPE_CYLINDER, SHAPE_ELLIPSOID } Shape;

/* A body with a frame of its own: origin, axes right/up/ahead of unit length. */
typedef struct Object {
  Shape shape;
  Material material;
  RvSceneLabel label;
  uint32_t style; /* random bits: colors, window sizes */
  Vec origin, right, up, ahead;
  Vec half; /* m: half size of the box, radii of cylinder (x, z, half height y) and ellipsoid */
  Vec low, high;  /* bounding box, world */
  double nearest; /* m: least depth of the bounding box */
  Color tint;
  float look[LOOKS]; /* numbers in 0..1 from `style`, by scene_sort */
  uint16_t thing;    /* id of the thing that it belongs to, 0: none */
  int planes;
  Vec normal[OBJECT_PLANES]; /* world, outward; inside is normal . p <= offset */
  double offset[OBJECT_PLANES];
  double room[2][OBJECT_PLANES]; /* m from each view to the planes, < 0 outside, by scene_sort */
  double sunny[OBJECT_PLANES];   /* cosine between the planes' normals and the sun's direction */
} Object;

typedef struct Bits {
  uint64_t word[OBJECT_WORDS];
} Bits;

/* x and y, or x and z; both ends belong to it. */
typedef struct Rect {
  double x0, x1, y0, y1;
} Rect;

/* One texture: gray levels with mean 128, level 0 first. A cell holds the four values that a
 * position between them is interpolated from: value, right neighbor, the two below, in bytes
 * from the lowest on. Level l has (256 >> l) x (256 >> l) cells from index 4^(8 - l) on. */
#define TEXTURE_CELLS ((size_t)2 * TEXTURE_SIDE * TEXTURE_SIDE)
typedef struct Texture {
  uint8_t *level[TEXTURE_LEVELS];
  uint32_t *cells;
} Texture;

enum { TEX_GRAIN = 0, TEX_CLOUD, TEX_LEAVES, TEX_BRICK, TEX_PAVING, TEX_GRASS, TEX_DIRT, TEXTURES };

#define THINGS 96
#define MARKS RV_SCENE_LINES

/* What the truth lists: a car, a person. Its bodies have its id. */
typedef struct Thing {
  uint16_t id;
  RvSceneLabel label;
  double right, ahead; /* m that it moves in the world per m that the camera travels */
} Thing;

/* A line of paint along a road that bends. */
typedef struct Mark {
  double x, half;    /* m: center across the road, and half of its width */
  double on, period; /* m: dashes; period 0: solid */
  double from, to;   /* m ahead of the camera */
  int exits;         /* follows World.exit */
  RvLaneLineKind kind;
  RvLaneColor color;
} Mark;

typedef struct World {
  double travel;                        /* m */
  Vec view[2], right, down, ahead;      /* camera */
  Vec sun;                              /* unit vector towards the sun */
  float sunlight, ambient;              /* of a face towards the sun, and of shadow */
  Color haze;                           /* of things far away */
  Color light;                          /* color of the light */
  Color gain;                           /* exposure and white balance of both cameras */
  int flat;                             /* ground is y = 0 */
  double climb[HEIGHTS], bank[HEIGHTS]; /* ground y = climb(z) + bank(z) * x */
  double summit;                        /* m: no ground is higher */
  double curb;                          /* m: of the sidewalks above the road */
  double stride;                        /* growth of the steps that look for the ground */
  double track[HEIGHTS];                /* x of the middle of the track or of the bent road */
  int bent;                             /* roads as of scene_road.c, on flat ground */
  double edge[2];                       /* m: road from the left to the right, across it */
  double exit[HEIGHTS];                 /* m by which the right edge is farther right */
  double worn[HEIGHTS];                 /* fraction of the paint that is left */
  double wet;                           /* 0..1, in addition to wet places */
  double drift;                         /* m that the camera moves to the right per m traveled */
  int marks;
  Mark mark[MARKS];
  int things;
  Thing thing[THINGS];
  uint16_t current; /* id that new bodies get */
  int objects;
  Object object[OBJECTS_MAX];
  int order[OBJECTS_MAX]; /* from rank (front to back; the bits below) to object */
  /* By rank, to pass over an object without testing it: least depth of its bounding box, px that
   * the box can cover, and m of the ground plane whose way towards the sun it can cross. */
  double nearest[OBJECTS_MAX];
  Rect cover[2][OBJECTS_MAX], cast[OBJECTS_MAX];
  Bits tile[2][TILES_Y][TILES_X];
  Bits shade[SHADE_Z][SHADE_X];
  Bits close[SHADE_Z]; /* cars that stand in or beside a strip of street */
} World;

typedef struct ScenePlan {
  RvSceneConfig config;
  RvCamera camera;
  double near; /* m: depth of the largest disparity */
  double sin_pitch, cos_pitch;
} ScenePlan;

typedef struct SceneWork {
  World *world;
  uint32_t *ids;     /* per pixel of one view: what was hit, for anti-aliasing */
  float *depths;     /* m */
  uint8_t *bgr;      /* packed frame, 4 bytes per pixel */
  uint8_t *textures; /* their memory */
  uint32_t *cells;
} SceneWork;

struct RvScene {
  RvObject object;
  ScenePlan plan;
  SceneWork *work; /* of the object */
  const struct SceneKernels *kernels;
  Texture texture[TEXTURES];
};

/* The body of a function that mixes three Words, uint32_t or a vector of them, so that every input
 * bit reaches every output bit. */
#define SCENE_HASH(Word, a, b, c)                                                                  \
  Word h =                                                                                         \
      (a)*0x9E3779B1u ^ ((b) + 0x7F4A7C15u) * 0x85EBCA77u ^ ((c) + 0x165667B1u) * 0xC2B2AE3Du;     \
  h ^= h >> 16;                                                                                    \
  h *= 0x7FEB352Du;                                                                                \
  h ^= h >> 15;                                                                                    \
  h *= 0x846CA68Bu;                                                                                \
  return h ^ h >> 16

/* scene_world.c */
uint32_t scene_hash(uint32_t a, uint32_t b, uint32_t c);
double scene_unit(uint32_t *state); /* next number in 0..1 of a chain */
void scene_build(RvScene *scene, uint64_t frame);
RvSceneLabel scene_label(const RvScene *scene, int object, int material);
void scene_tree(World *world, double x, double z, double height, uint32_t style);

/* Bodies from here on belong to the thing of this kind (1..15) and number; kind 0: to none. */
void scene_thing(World *world, int kind, int number, RvSceneLabel label, double right,
                 double ahead);

static inline int scene_outdoors(const RvScene *scene) {
  const RvScenePattern pattern = scene->plan.config.pattern;
  return pattern != RV_SCENE_PLANES && pattern != RV_SCENE_NOISE;
}

/* scene_road.c */
void scene_bend(const RvScene *scene, World *world);
double scene_road_x(const World *world, double across, double z);
Vec scene_road_ahead(const World *world, double z);
Object *scene_block(World *world, Material material, RvSceneLabel label, double across, double z,
                    double bottom, Vec half);
void scene_rail(World *world, double across, int side, double from, double to);

/* scene_highway.c, scene_course.c */
void scene_build_highway(const RvScene *scene, World *world);
void scene_build_course(const RvScene *scene, World *world);

/* scene_truth.c: of the left view, whose `ids` and `depths` are there */
void scene_truth(const RvScene *scene, const RvSceneTruth *truth);

/* scene_street.c, scene_offroad.c */
void scene_car(World *world, double x, double z, Vec ahead, uint32_t style);
void scene_build_street(const RvScene *scene, World *world);
void scene_build_offroad(const RvScene *scene, World *world);
void scene_build_planes(const RvScene *scene, World *world);

/* scene_objects.c */
double scene_profile(const double *values, double z);
double scene_ground_y(const World *world, double x, double z);
Object *scene_add(World *world, Shape shape, Material material, RvSceneLabel label, Vec origin,
                  Vec half);
void scene_plane(Object *object, Vec normal, Vec point);
void scene_box(Object *object);
void scene_turn(Object *object, Vec ahead, Vec up);
void scene_sort(RvScene *scene);

/* scene_texture.c */
size_t scene_texture_bytes(void);
void scene_textures_make(RvScene *scene, uint8_t *memory, uint32_t *cells);

/* scene_output.c */
typedef struct Sensor {
  int view, y;
  uint32_t when; /* salt of the frame's noise */
} Sensor;
Sensor scene_sensor(uint64_t frame, int view, int y); /* of one row */
void scene_output(const RvScene *scene, const RvPicture *picture);

/* scene_noise.c */
void scene_render_noise(RvScene *scene, uint64_t frame, const RvSceneTruth *truth);

/* The sky above the horizon, and straight up. */
static const Color scene_horizon = {222, 228, 232}, scene_zenith = {116, 158, 208};

static inline Vec vec(double x, double y, double z) {
  const Vec v = {x, y, z};
  return v;
}
static inline Vec vec_add(Vec a, Vec b) {
  return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline Vec vec_sub(Vec a, Vec b) {
  return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline Vec vec_mul(Vec a, double k) {
  return vec(a.x * k, a.y * k, a.z * k);
}
static inline double vec_dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Vec vec_cross(Vec a, Vec b) {
  return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline Color color(float r, float g, float b) {
  const Color c = {r, g, b};
  return c;
}
static inline Color color_mix(Color a, Color b, float k) {
  return color(a.r + (b.r - a.r) * k, a.g + (b.g - a.g) * k, a.b + (b.b - a.b) * k);
}
static inline Color color_mul(Color a, float k) {
  return color(a.r * k, a.g * k, a.b * k);
}
static inline double absolute(double v) {
  return v < 0.0 ? -v : v;
}
static inline int floor_int(double v) {
  const int i = (int)v;
  return i - (v < i);
}

#endif
