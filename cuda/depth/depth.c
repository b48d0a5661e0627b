/* SPDX-License-Identifier: MIT */
/* depth.c: disparity in other units. */
#include "depth/depth.h"

#include "rv_hd.h"
#include "rv_internal.h"

#define SCALE 16 /* disparity values per px */
#define VALUE_MAX 65535

static int u16_pair(const RvPlane *disparity, const RvPlane *out) {
  return disparity && out &&
         rv_plane_fits(disparity, disparity->width, disparity->height, RV_U16) &&
         rv_plane_fits(out, disparity->width, disparity->height, RV_U16);
}

/* Every value becomes value * to / from, rounded to nearest. */
static void multiply(const RvPlane *values, unsigned to, unsigned from, const RvPlane *out) {
  for (int y = 0; y < values->height; y++) {
    const uint16_t *in = (const uint16_t *)((const char *)values->data + y * values->stride);
    uint16_t *row = (uint16_t *)((char *)out->data + y * out->stride);
    for (int x = 0; x < values->width; x++) {
      const uint64_t v = ((uint64_t)in[x] * to + from / 2) / from;
      row[x] = (uint16_t)(in[x] == 0 ? 0 : v == 0 ? 1 : v > VALUE_MAX ? VALUE_MAX : v);
    }
  }
}

RvStatus rv_depth_rescale(const RvPlane *disparity, int scale, const RvPlane *out,
                          const RvLog *log) {
  RV_REQUIRE(log, u16_pair(disparity, out),
             "depth: disparity and output must be RV_U16 of one size");
  RV_REQUIRE(log, scale >= 1 && scale <= VALUE_MAX, "depth: scale is %d, must be 1..%d", scale,
             VALUE_MAX);
  multiply(disparity, (unsigned)scale, SCALE, out);
  return RV_OK;
}

RvStatus rv_depth_from_scale(const RvPlane *values, int scale, const RvPlane *out,
                             const RvLog *log) {
  RV_REQUIRE(log, u16_pair(values, out), "depth: values and output must be RV_U16 of one size");
  RV_REQUIRE(log, scale >= 1 && scale <= VALUE_MAX, "depth: scale is %d, must be 1..%d", scale,
             VALUE_MAX);
  multiply(values, SCALE, (unsigned)scale, out);
  return RV_OK;
}

RvStatus rv_depth_mm(const RvPlane *disparity, const RvCamera *camera, const RvPlane *out,
                     const RvLog *log) {
  RV_REQUIRE(log, u16_pair(disparity, out),
             "depth: disparity and output must be RV_U16 of one size");
  RV_REQUIRE(log, camera && camera->focal > 0 && camera->baseline > 0,
             "depth: needs the focal length and the baseline of the camera");
  const double numerator = camera->focal * camera->baseline * 1000.0 * SCALE;
  const double offset = camera->doffs * SCALE;
  for (int y = 0; y < disparity->height; y++) {
    const uint16_t *from =
        (const uint16_t *)((const char *)disparity->data + y * disparity->stride);
    uint16_t *to = (uint16_t *)((char *)out->data + y * out->stride);
    for (int x = 0; x < disparity->width; x++) {
      const double divisor = from[x] + offset;
      const double mm = from[x] && divisor > 0 ? numerator / divisor + 0.5 : 0.0;
      to[x] = mm < VALUE_MAX + 1.0 ? (uint16_t)mm : 0;
    }
  }
  return RV_OK;
}
