/* SPDX-License-Identifier: MIT */
/* scene_output.c: pixel formats. */
#include "scene/scene_internal.h"

#include <string.h>

Sensor scene_sensor(uint64_t frame, int view, int y) {
  const Sensor sensor = {view, y,
                         scene_hash((uint32_t)frame, (uint32_t)(frame >> 32), (uint32_t)view)};
  return sensor;
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

/* Mean of the up to 2 x 2 pixels of a chroma sample; where the seam between the views cuts one, it
 * belongs to the left view. */
static void chroma_row(const RvScene *scene, int y, uint8_t *u, uint8_t *v, int step) {
  const int view = scene->plan.config.width, width = 2 * view;
  const uint8_t *top = scene->work->bgr + 4 * (size_t)y * (size_t)width;
  const uint8_t *bottom = y + 1 < scene->plan.config.height ? top + 4 * width : top;
  for (int c = 0; c < view; c++) {
    const int x0 = 2 * c, x1 = x0 + 1 == view ? x0 : x0 + 1;
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
