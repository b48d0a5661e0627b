/* SPDX-License-Identifier: MIT */
/* lanes_inputs.c: see lanes_inputs.h. */
#include "lanes/lanes_inputs.h"

#include <math.h>

#define PI 3.14159265358979323846
#define SAMPLES 4 /* of a pixel in both directions */
#define ROAD 90
#define SKY 200

/* Line of a point of the ground, -1: none. */
static int line_at(const LanesInput *in, double x, double z) {
  for (int i = 0; i < in->count; i++) {
    const LanesLine *line = &in->lines[i];
    const double at = line->offset + line->heading * z + line->curvature * z * z / 2;
    const double length = line->on + line->off;
    const double along = length > 0 ? fmod(z + line->phase, length) : 0;
    if (fabs(x - at) <= line->width / 2 && (line->on <= 0 || along < line->on))
      return i;
  }
  return -1;
}

void lanes_input_paint(const LanesInput *in, RvRandom *random, const RvPlane *gray,
                       const RvPlane *color) {
  const RvCamera *c = &in->camera;
  const double angle = c->pitch * PI / 180;
  for (int v = 0; v < gray->height; v++)
    for (int u = 0; u < gray->width; u++) {
      double sum = 0, red = 0, green = 0, blue = 0;
      for (int k = 0; k < SAMPLES * SAMPLES; k++) {
        const double y = v - 0.5 + (k / SAMPLES + 0.5) / SAMPLES;
        const double down = (y - c->cy) / c->focal * cos(angle) + sin(angle);
        const double z = down > 0.005 ? c->height / down : 0;
        const double x = (u - 0.5 + (k % SAMPLES + 0.5) / SAMPLES - c->cx) * z / c->focal;
        const int i = z > 0 ? line_at(in, x, z) : -1;
        const int level = z > 0 ? (i < 0 ? ROAD : in->lines[i].gray) : SKY;
        const uint32_t rgb =
            i >= 0 && in->lines[i].color ? in->lines[i].color : 0x10101u * (uint32_t)level;
        sum += level;
        red += rgb & 255;
        green += rgb >> 8 & 255;
        blue += rgb >> 16 & 255;
      }
      const double n = SAMPLES * SAMPLES;
      const double noise = in->noise ? rvc_range(random, -in->noise, in->noise) : 0;
      const double value = floor(sum / n + noise + 0.5);
      ((uint8_t *)gray->data)[v * gray->stride + u] = (uint8_t)(value < 0     ? 0
                                                                : value > 255 ? 255
                                                                              : value);
      if (color)
        ((uint32_t *)(void *)((char *)color->data + v * color->stride))[u] =
            0xff000000u | (uint32_t)(blue / n) << 16 | (uint32_t)(green / n) << 8 |
            (uint32_t)(red / n);
    }
}

LanesInput lanes_input_road(const RvCamera *camera) {
  const LanesInput in = {
      .camera = *camera,
      .noise = 4,
      .count = 3,
      .lines = {{-1.9, 0.01, 0, 0.15, 0, 0, 0, 180, 0xff30c0e0u}, /* R 224, G 192, B 48 */
                {1.7, 0.01, 0, 0.15, 3, 4.5, 1, 190, 0},
                {5.3, 0.01, 0, 0.15, 0, 0, 0, 190, 0}}};
  return in;
}
