/* SPDX-License-Identifier: MIT */
/* scene.h: synthetic road scenes for tests and demonstrations: a stereo pair rendered from a moving
 * camera, with exact ground truth at every pixel. It runs on the CPU only. The same config and
 * frame number give the same bytes with any number of threads.
 *
 * The scene is a function of world position: both views look at the same surfaces, so they agree
 * wherever a surface is seen by both. Camera: x right, y down, z forward; the right camera is
 * `baseline` m to the right; disparity d = focal * baseline / z. */
#ifndef RV_SCENE_H
#define RV_SCENE_H

#include "convert/convert.h"
#include "rv.h"
#include "rv_params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvScenePattern {
  RV_SCENE_STREET = 0,     /* flat road, buildings, cars, poles, walls, trees, sky */
  RV_SCENE_SLANTED_STREET, /* the same straight up and down steep hills, banking */
  RV_SCENE_OFFROAD,        /* a dirt track in grass, changing light */
  RV_SCENE_PLANES,         /* textured slanted planes only: exact subpixel tests */
  RV_SCENE_NOISE,          /* random dots at random disparities per block */
  RV_SCENE_HIGHWAY,        /* three lanes in curves: traffic, bridges, exits, worn paint, dusk */
  RV_SCENE_COURSE,         /* a road with objects that are hard to detect */
  RV_SCENE_PATTERNS
} RvScenePattern;

/* Ground-truth labels. */
typedef enum RvSceneLabel {
  RV_LABEL_ROAD = 0,
  RV_LABEL_SIDEWALK,
  RV_LABEL_GRASS,
  RV_LABEL_BUILDING,
  RV_LABEL_WALL,
  RV_LABEL_CAR,
  RV_LABEL_POLE,
  RV_LABEL_TREE,
  RV_LABEL_SKY,
  RV_LABEL_PERSON,
  RV_LABEL_OBJECT, /* crate, barrier, guard rail */
  RV_LABEL_BRIDGE, /* spans the road: bridges, gantries, overhanging signs */
  RV_LABELS
} RvSceneLabel;

typedef struct RvSceneConfig {
  RvScenePattern pattern; /* RV_SCENE_STREET */
  int width;              /* of one view, px, 16..8192; 640 */
  int height;             /* px, 16..RV_MAX_SIDE; 480 */
  uint32_t seed;          /* 0..4294967295; 1 */
  double noise;           /* standard deviation of the sensor noise, gray levels, 0..50; 2 */
  double speed;           /* of the camera, m/s, -50..50; 8. At 0 the whole scene stands still */
  double frame_rate;      /* frames/s, for the motion between frames, above 0..1000; 30 */
  int max_disparity;      /* px: nothing is nearer than this, 16..1024; 96 */
  double grass_height;    /* of the highest grass next to the track of OFFROAD, m, 0..0.3; 0.2 */
  double curb_height;     /* of the sidewalks of the streets above the road, m, 0..0.3; 0.12 */
  int threads;            /* 0 = all processors; 0 */
  RvLog log;              /* silent */
} RvSceneConfig;

#define RV_SCENE_OBJECTS 96 /* in RvSceneFacts */
#define RV_SCENE_LINES 12
#define RV_SCENE_LINE_POINTS 24
#define RV_SCENE_LINE_FIRST 4.0 /* m: Z of the first point of a line */
#define RV_SCENE_LINE_STEP 2.0  /* m from one to the next */
#define RV_SCENE_HEIGHT_ZERO 1000

/* A car, a person or another thing that stands on or above the road, of which a pixel is visible.
 * Extents are those of its visible pixels. 48 bytes. */
typedef struct RvSceneObject {
  uint16_t id;   /* the same in all frames; of the raster `objects` */
  uint8_t label; /* RvSceneLabel */
  uint8_t reserved;
  uint16_t x, y, w, h;          /* px: box of its visible pixels */
  uint32_t pixels;              /* visible ones */
  float distance;               /* m: Z of the nearest pixel */
  float lateral;                /* m: center of the extent in X, right positive */
  float width;                  /* m: extent in X */
  float bottom, top;            /* m above the true ground */
  float velocity_z, velocity_x; /* m/s, relative to the camera, along and across the road */
  uint32_t reserved2;
} RvSceneObject;

/* The center of a line of paint along the road. 116 bytes. */
typedef struct RvSceneLine {
  float x[RV_SCENE_LINE_POINTS];    /* m: X at Z = RV_SCENE_LINE_FIRST + k RV_SCENE_LINE_STEP;
                                     * NAN: it ends before */
  float offset, heading, curvature; /* m, rad, 1/m: of the parabola through X at Z = 0, 10, 20 m */
  float width;                      /* m */
  int8_t position; /* -1 and 1: left and right border of the own lane, -2 and 2: those of the
                    * neighbors; 0: another one */
  uint8_t kind;    /* RvLaneLineKind */
  uint8_t color;   /* RvLaneColor */
  uint8_t reserved;
} RvSceneLine;

/* Objects and lines of a frame. */
typedef struct RvSceneFacts {
  int objects, lines;
  RvSceneObject object[RV_SCENE_OBJECTS];
  RvSceneLine line[RV_SCENE_LINES];
} RvSceneFacts;

/* Ground truth of the left view, host memory of the caller; parts whose pointer (planes: data) is
 * NULL are omitted. Coordinates are those of the left camera: X right, Z along its axis. */
typedef struct RvSceneTruth {
  RvPlane disparity; /* RV_U16, 1/16 px rounded, 0 = invalid (sky: at infinity) */
  RvPlane labels;    /* RV_U8, RvSceneLabel */
  RvPlane road;      /* RV_U8, 255 = drivable road or track, else 0 */
  RvPlane visible;   /* RV_U8, 255 = the right camera sees this surface point, else 0 */
  RvPlane objects;   /* RV_U16, id of the RvSceneObject, 0 = none */
  RvPlane heights;   /* RV_U16, mm above the true ground + RV_SCENE_HEIGHT_ZERO, 1..65535;
                      * 0 = sky */
  float *free_space; /* m, per column: minimum Z of what is 0.3 to 2.2 m above the true ground; 0 =
                      * nothing */
  RvSceneFacts *facts;
} RvSceneTruth;

typedef struct RvScene RvScene;

/* Returns the name of a label ("road"), static; "unknown" for an invalid one. */
RV_API const char *rv_scene_label_text(RvSceneLabel label);

/* As of all algorithms (rv_params.h), without an engine. The caller frees *out with
 * rv_scene_free. */
RV_API const RvParams *rv_scene_params(void);
RV_API void rv_scene_config_init(RvSceneConfig *config);
RV_API RvStatus rv_scene_config_check(const RvSceneConfig *config);
RV_API RvStatus rv_scene_new(RvScene **out, const RvSceneConfig *config);

/* Returns the left camera: focal, principal point, baseline, height, pitch. `planes` and `noise`
 * have no ground: height and pitch are 0 there; `noise` has no camera at all (all 0). */
RV_API void rv_scene_camera(const RvScene *scene, RvCamera *camera);

/* Renders frame `frame` (0..) side by side: `picture` is RV_PIXEL_BGRX, NV12, I420 or GRAY8, of
 * 2 * width x height, left view on the left. `truth` may be NULL. */
RV_API RvStatus rv_scene_render(RvScene *scene, uint64_t frame, const RvPicture *picture,
                                const RvSceneTruth *truth);
RV_API void rv_scene_free(RvScene **scene);

#ifdef __cplusplus
}
#endif
#endif
