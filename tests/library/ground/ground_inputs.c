/* SPDX-License-Identifier: MIT */
/* ground_inputs.c: see ground_inputs.h. */
#include "ground/ground_inputs.h"

#include <math.h>

#define PI 3.14159265358979323846
#define FARTHEST 400.0 /* m */

RvCamera ground_input_camera(int width, int height) {
  const double focal = 0.6 * width;
  return (RvCamera){.focal = focal,
                    .cx = 0.5 * (width - 1),
                    .cy = 0.45 * (height - 1),
                    .baseline = 200 / focal,
                    .height = 1.5,
                    .pitch = 2};
}

RvGroundSurface ground_input_surface(const RvCamera *camera, const uint8_t *bytes, size_t size) {
  RvGroundSurface surface;
  if (bytes[0] % 2)
    return rv_ground_of_camera(camera);
  for (size_t i = 0; i < sizeof surface; i++)
    ((uint8_t *)&surface)[i] = bytes[i % size];
  return surface;
}

/* Depth of the ground in a row, m; the ground rises by hill (z / 40)^2. */
static double ground_depth(const GroundInput *in, double v) {
  const RvCamera *c = &in->camera;
  const double angle = c->pitch * PI / 180, slope = (v - c->cy) / c->focal;
  const double down = slope * cos(angle) + sin(angle); /* m below the camera per m of depth */
  const double bend = in->hill / 1600;
  if (bend == 0)
    return down > 0 ? c->height / down : FARTHEST;
  /* bend z^2 + down z - height = 0 */
  const double root = down * down + 4 * bend * c->height;
  if (root < 0)
    return FARTHEST;
  const double z = (sqrt(root) - down) / (2 * bend);
  return z > 0 ? z : FARTHEST;
}

/* Rows that a box covers at its depth. */
static int covers(const GroundInput *in, const GroundBox *box, double u, double v) {
  const RvCamera *c = &in->camera;
  const double angle = c->pitch * PI / 180, slope = (v - c->cy) / c->focal;
  const double x = (u - c->cx) * box->z / c->focal;
  const double ground = in->hill / 1600 * box->z * box->z - c->height;
  const double y = -(slope * cos(angle) + sin(angle)) * box->z - ground; /* m above the ground */
  return x >= box->x && x < box->x + box->width && y >= box->bottom &&
         y < box->bottom + box->height;
}

/* Sum of twelve uniform numbers: nearly normal, standard deviation 1. */
static double normal(RvRandom *random) {
  double sum = -6;
  for (int i = 0; i < 12; i++)
    sum += rvc_next(random) / 4294967296.0;
  return sum;
}

static double depth_at(const GroundInput *in, double u, double v) {
  double z = ground_depth(in, v);
  if (in->wall > 0 && z > in->wall)
    z = in->wall;
  for (int i = 0; i < in->box_count; i++)
    if (in->boxes[i].z < z && covers(in, &in->boxes[i], u, v))
      z = in->boxes[i].z;
  return z;
}

void ground_input_paint(const GroundInput *in, RvRandom *random, const RvPlane *disparity) {
  const RvCamera *c = &in->camera;
  for (int v = 0; v < disparity->height; v++) {
    uint16_t *row = (uint16_t *)((char *)disparity->data + v * disparity->stride);
    for (int u = 0; u < disparity->width; u++) {
      const double z = depth_at(in, u, v);
      double d = c->focal * c->baseline / z - c->doffs + in->roll * (u - c->cx);
      d += in->noise > 0 ? in->noise * normal(random) : 0;
      if (in->outliers > 0 && rvc_range(random, 0, 999) < in->outliers)
        d = rvc_range(random, 1, 128 * 16) / 16.0;
      const int is_hole = in->holes > 0 && rvc_range(random, 0, 999) < in->holes;
      const double value = floor(d * 16 + 0.5);
      row[u] = (uint16_t)(z >= FARTHEST || is_hole || value < 1 ? 0
                          : value > 65535                       ? 65535
                                                                : value);
    }
  }
}
