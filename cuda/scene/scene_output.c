/* SPDX-License-Identifier: MIT */
/* scene_output.c: what the sensors make of the light, and the pixel formats. */
#include "scene/scene_internal.h"

#include <omp.h>
#include <string.h>

/* Noise of the sensor: a sum of four uniform numbers, near enough to a normal one; the same for
 * all channels of a pixel, so that its deviation holds for the gray value too. */
static float sensor_noise(const RvScene *scene, const Sensor *sensor, int x) {
  const uint32_t at = (uint32_t)sensor->y * 32768u + (uint32_t)x, when = sensor->when;
  const uint32_t a = scene_hash(scene->plan.config.seed, at, when), b = scene_hash(a, 17u, when);
  const int sum = (int)((a & 0xFFFF) + (a >> 16) + (b & 0xFFFF) + (b >> 16)) - 2 * 65535;
  return (float)sum * (float)(1.7320508 / 65535.0); /* variance of the sum: 4 / 12 */
}

Sensor scene_sensor(uint64_t frame, int eye, int y) {
  const Sensor sensor = {eye, y,
                         scene_hash((uint32_t)frame, (uint32_t)(frame >> 32), (uint32_t)eye)};
  return sensor;
}

static uint8_t level(float v) {
  return v <= 0.0f ? 0 : v >= 254.5f ? 255 : (uint8_t)(v + 0.5f);
}

/* The right camera exposes shorter and is a little bluer, as two cameras that expose for themselves
 * do; both darken towards the corners. The cameras of `planes` and `noise` are alike. */
void scene_sense(const RvScene *scene, const Sensor *sensor, int x, Color c, uint8_t *bgr) {
  const int eye = sensor->eye, y = sensor->y;
  if (scene->plan.config.pattern < RV_SCENE_PLANES) {
    const float u = (float)((x - scene->plan.camera.cx) / scene->plan.camera.focal);
    const float v = (float)((y - scene->plan.camera.cy) / scene->plan.camera.focal);
    const float vignette = 1.0f - 0.16f * (u * u + v * v);
    const Color gain = scene->work->world->gain;
    c = color_mul(c, eye ? 0.7f * vignette : vignette);
    c = color(c.r * gain.r, c.g * gain.g, c.b * gain.b);
    if (eye)
      c = color(c.r - 2.0f, c.g - 1.0f, c.b);
  }
  const float noise = scene->plan.config.noise > 0.0
                          ? (float)scene->plan.config.noise * sensor_noise(scene, sensor, x)
                          : 0.0f;
  bgr[0] = level(c.b + noise);
  bgr[1] = level(c.g + noise);
  bgr[2] = level(c.r + noise);
  bgr[3] = 255;
}

static void gray_row(const uint8_t *bgr, int width, uint8_t *out) {
  for (int x = 0; x < width; x++)
    out[x] = (uint8_t)((77 * bgr[4 * x + 2] + 150 * bgr[4 * x + 1] + 29 * bgr[4 * x] + 128) >> 8);
}

/* BT.709, limited range. */
static void luma_row(const uint8_t *bgr, int width, uint8_t *out) {
  for (int x = 0; x < width; x++)
    out[x] =
        (uint8_t)(16 + ((47 * bgr[4 * x + 2] + 157 * bgr[4 * x + 1] + 16 * bgr[4 * x] + 128) >> 8));
}

/* Mean of the up to 2 x 2 pixels of a chroma sample; where the seam between the eyes cuts one, it
 * belongs to the left eye. */
static void chroma_row(const RvScene *scene, int y, uint8_t *u, uint8_t *v, int step) {
  const int eye = scene->plan.config.width, width = 2 * eye;
  const uint8_t *top = scene->work->bgr + 4 * (size_t)y * (size_t)width;
  const uint8_t *bottom = y + 1 < scene->plan.config.height ? top + 4 * width : top;
  for (int c = 0; c < eye; c++) {
    const int x0 = 2 * c, x1 = x0 + 1 == eye ? x0 : x0 + 1;
    int sum[3];
    for (int k = 0; k < 3; k++)
      sum[k] =
          (top[4 * x0 + k] + top[4 * x1 + k] + bottom[4 * x0 + k] + bottom[4 * x1 + k] + 2) >> 2;
    u[c * step] = (uint8_t)((-26 * sum[2] - 86 * sum[1] + 112 * sum[0] + 128 * 256 + 128) >> 8);
    v[c * step] = (uint8_t)((112 * sum[2] - 102 * sum[1] - 10 * sum[0] + 128 * 256 + 128) >> 8);
  }
}

static void output_row(const RvScene *scene, const RvPicture *picture, int y) {
  const int width = 2 * scene->plan.config.width;
  const uint8_t *bgr = scene->work->bgr + 4 * (size_t)y * (size_t)width;
  uint8_t *out[3] = {NULL, NULL, NULL};
  for (int p = 0; p < rv_pixel_planes(picture->format); p++)
    out[p] = (uint8_t *)picture->data[p] + (p ? y / 2 : y) * picture->stride[p];
  switch (picture->format) {
  case RV_PIXEL_BGRX:
    memcpy(out[0], bgr, 4 * (size_t)width);
    return;
  case RV_PIXEL_GRAY8:
    gray_row(bgr, width, out[0]);
    return;
  default:
    luma_row(bgr, width, out[0]);
    if (y & 1)
      return;
    if (picture->format == RV_PIXEL_NV12)
      chroma_row(scene, y, out[1], out[1] + 1, 2);
    else
      chroma_row(scene, y, out[1], out[2], 1);
  }
}

void scene_output(const RvScene *scene, const RvPicture *picture) {
  const int height = scene->plan.config.height, threads = rv_threads(scene->plan.config.threads);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int y = 0; y < height; y++)
    output_row(scene, picture, y);
}
