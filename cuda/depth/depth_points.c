/* SPDX-License-Identifier: MIT */
/* depth_points.c: disparity as floats, and as points in space. */
#include "depth/depth.h"

#include <math.h>
#include <string.h>

#include "rv_hd.h"
#include "rv_internal.h"

#define SCALE 16.0 /* disparity values per px */
#define WHITE 0xffffffu

static const uint16_t *row_u16(const RvPlane *plane, int y) {
  return (const uint16_t *)((const char *)plane->data + y * plane->stride);
}

static float *row_f32(const RvPlane *plane, int y) {
  return (float *)((char *)plane->data + y * plane->stride);
}

RvStatus rv_depth_disparity_px(const RvPlane *disparity, const RvCamera *camera, float invalid,
                               const RvPlane *out, const RvLog *log) {
  RV_REQUIRE(log,
             disparity && out &&
                 rv_plane_fits(disparity, disparity->width, disparity->height, RV_U16) &&
                 rv_plane_fits(out, disparity->width, disparity->height, RV_F32),
             "depth: disparity must be RV_U16 and the output RV_F32, both of one size");
  const double doffs = camera ? camera->doffs : 0.0;
  for (int y = 0; y < disparity->height; y++) {
    const uint16_t *from = row_u16(disparity, y);
    float *to = row_f32(out, y);
    for (int x = 0; x < disparity->width; x++)
      to[x] = from[x] ? (float)(from[x] / SCALE + doffs) : invalid;
  }
  return RV_OK;
}

/* Points of one row; returns the number of valid ones. */
static int make_row(const uint16_t *disparity, const uint32_t *color, const RvCamera *camera, int y,
                    int width, double z_max, float *points) {
  const double numerator = camera->focal * camera->baseline;
  int count = 0;
  for (int x = 0; x < width; x++, points += 4) {
    const double d = disparity[x] / SCALE + camera->doffs;
    const double z = disparity[x] && d > 0.0 ? numerator / d : 0.0;
    const int valid = z > 0.0 && z <= z_max;
    points[0] = valid ? (float)((x - camera->cx) * z / camera->focal) : NAN;
    points[1] = valid ? (float)((y - camera->cy) * z / camera->focal) : NAN;
    points[2] = valid ? (float)z : NAN;
    const uint32_t c = color ? color[x] : WHITE;
    const uint32_t bits = (c & 0xffu) << 16 | (c & 0xff00u) | (c >> 16 & 0xffu);
    memcpy(&points[3], &bits, sizeof bits);
    count += valid;
  }
  return count;
}

RvStatus rv_depth_points(const RvPlane *disparity, const RvPlane *color, const RvCamera *camera,
                         double max_distance, const RvPlane *points, int *count, const RvLog *log) {
  RV_REQUIRE(log,
             disparity && points && disparity->width <= INT32_MAX / 4 &&
                 rv_plane_fits(disparity, disparity->width, disparity->height, RV_U16) &&
                 rv_plane_fits(points, 4 * disparity->width, disparity->height, RV_F32),
             "depth: disparity must be RV_U16 and the points RV_F32, four times as wide");
  RV_REQUIRE(log, !color || rv_plane_fits(color, disparity->width, disparity->height, RV_U32),
             "depth: color must be RV_U32 of the size of the disparity");
  RV_REQUIRE(log, camera && camera->focal > 0 && camera->baseline > 0,
             "depth: points need the focal length and the baseline of the camera");
  const double z_max = max_distance > 0.0 ? max_distance : HUGE_VAL;
  int valid = 0;
  for (int y = 0; y < disparity->height; y++) {
    const uint32_t *colors =
        color ? (const uint32_t *)((const char *)color->data + y * color->stride) : NULL;
    valid += make_row(row_u16(disparity, y), colors, camera, y, disparity->width, z_max,
                      row_f32(points, y));
  }
  if (count)
    *count = valid;
  return RV_OK;
}
