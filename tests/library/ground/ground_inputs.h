/* SPDX-License-Identifier: MIT */
/* ground_inputs.h: synthetic disparity images of a ground with obstacles, for the tests of ground,
 * obstacles and lanes. */
#ifndef RV_GROUND_INPUTS_H
#define RV_GROUND_INPUTS_H

#include "ground/ground.h"
#include "rvcheck.h"

/* A box on the ground: an upright face of constant disparity. */
typedef struct GroundBox {
  double z, x;                  /* m: distance of the face, its left edge (right positive) */
  double width, height, bottom; /* m; bottom: above the ground */
} GroundBox;

/* What is drawn; 0: omitted. */
typedef struct GroundInput {
  RvCamera camera; /* height and pitch are those of the ground */
  double roll;     /* px of disparity per px to the right */
  double hill;     /* m: height of the ground at 40 m, growing with the square of the distance */
  double noise;    /* px: standard deviation of the disparity */
  double wall;     /* m: distance of a wall across the complete image */
  int holes;       /* invalid pixels, per 1000 */
  int outliers;    /* pixels of random disparity, per 1000 */
  int box_count;
  GroundBox boxes[8];
} GroundInput;

/* A camera that suits an image of that size: 1.5 m high, pitch 2 degrees, 20 px of disparity at
 * 10 m. */
RvCamera ground_input_camera(int width, int height);

/* For fuzz targets, by the first of at least one byte: that of the camera, or any bits. */
RvGroundSurface ground_input_surface(const RvCamera *camera, const uint8_t *bytes, size_t size);

/* Paints `input` into an RV_U16 plane; the same random numbers give the same image. */
void ground_input_paint(const GroundInput *input, RvRandom *random, const RvPlane *disparity);

/* Sets the defaults of algorithm x, a size, and the camera above. */
#define GROUND_INPUT_CONFIG(x, config, its_width, its_height)                                      \
  do {                                                                                             \
    rv_##x##_config_init(config);                                                                  \
    (config)->width = (its_width);                                                                 \
    (config)->height = (its_height);                                                               \
    (config)->camera = ground_input_camera((config)->width, (config)->height);                     \
  } while (0)

/* The same for a parity case: two threads, and the case's log. */
#define GROUND_INPUT_CASE_CONFIG(check, x, config, its_width, its_height)                          \
  do {                                                                                             \
    GROUND_INPUT_CONFIG(x, config, its_width, its_height);                                         \
    (config)->threads = 2;                                                                         \
    (config)->log = rvc_log(check);                                                                \
  } while (0)

/* RVC_FUZZ_CONFIG, that camera, and a doffs from byte 2. */
#define GROUND_INPUT_FUZZ_CONFIG(x, config, fields, bytes)                                         \
  do {                                                                                             \
    RVC_FUZZ_CONFIG(x, config, fields, bytes);                                                     \
    (config)->camera = ground_input_camera((config)->width, (config)->height);                     \
    (config)->camera.doffs = (bytes)[2] - 128;                                                     \
  } while (0)

/* For the contract test: `init` with that camera, and the fields of a camera whose focal length and
 * baseline are required (contract.h). */
#define GROUND_INPUT_INIT(x)                                                                       \
  static void init(void *config) {                                                                 \
    GROUND_INPUT_CONFIG(x, (Config *)config, 101, 61);                                             \
    ((Config *)config)->threads = 2;                                                               \
  }                                                                                                \
  struct RvContract /* takes the semicolon */
#define GROUND_INPUT_CENTER_FIELDS                                                                 \
  REAL_FIELD(camera.cx, LIST(-2e6, 2e6), LIST(-1e6, 1e6)),                                         \
      REAL_FIELD(camera.cy, LIST(-2e6, 2e6), LIST(-1e6, 1e6)),                                     \
      REAL_FIELD(camera.doffs, LIST(-4097, 4097), LIST(-4096, 4096))
#define GROUND_INPUT_CAMERA_FIELDS                                                                 \
  REAL_FIELD(camera.focal, LIST(-1, 0, 2e6), LIST(1e-3, 1e6)),                                     \
      REAL_FIELD(camera.baseline, LIST(-1, 0, 1e-4, 1001), LIST(1e-3, 1000)),                      \
      GROUND_INPUT_CENTER_FIELDS

#endif
