/* SPDX-License-Identifier: MIT */
/* road_sequence_inputs.c: a winding dirt track through grass up to 14 cm high, under changing
 * illumination. Every pixel is a function of its position on the ground, so that the texture
 * moves with the camera; sensor and disparity noise differ in each frame. */
#include "road/road_sequence_inputs.h"

#include <math.h>

#include "rv_hd.h"

#define HEIGHT 1.5f /* of the camera above the ground, m */
#define STEP 0.27f  /* distance between frames, m: 8 m/s at 30 frames per second */

void rv_road_sequence_config(RvRoadConfig *config, int width, int height) {
  rv_road_config_init(config);
  config->width = width;
  config->height = height;
  config->camera = (RvCamera){.focal = 0.76 * width,
                              .cx = width / 2.0,
                              .cy = 0.42 * height,
                              .baseline = 0.3,
                              .height = 1.5};
}

static uint32_t hash(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

/* 0..255 for a cell of the ground. */
static int texture(float x, float z, float scale, uint32_t layer) {
  const int i = (int)floorf(x * scale), j = (int)floorf(z * scale);
  return (int)(hash((uint32_t)i, (uint32_t)j, layer) & 255);
}

static uint32_t shade(int r, int g, int b, int light, uint32_t noise) {
  const int channels[3] = {r, g, b};
  uint32_t color = 0;
  for (int k = 0; k < 3; k++) {
    const int n = (int)(noise >> (8 * k) & 7) + (int)(noise >> (8 * k + 3) & 7) - 7;
    color |= (uint32_t)rv_clamp(channels[k] * light / 100 + n, 0, 255) << (8 * k);
  }
  return color;
}

/* Illumination of a frame, %: it drifts, and is lower under trees for some time. */
static int light_of(int frame) {
  const int drift = (int)(15 * sinf((float)frame * 0.2f));
  return frame % 64 >= 24 && frame % 64 < 40 ? 60 + drift : 100 + drift;
}

static void paint_ground(const RvRoadConfig *c, int frame, int u, int v, uint32_t noise,
                         uint32_t *color, uint16_t *disparity) {
  const float below = (float)v - (float)c->camera.cy, drop = below / HEIGHT;
  const float x = ((float)u - (float)c->camera.cx) / drop, z = (float)c->camera.focal / drop;
  const float along = z + STEP * (float)frame, middle = 0.8f * sinf(along * 0.15f);
  const int fine = texture(x, along, 25, 1), coarse = texture(x, along, 3, 2);
  const int is_track = fabsf(x - middle) < 1.4f + (float)coarse / 1000;
  const float tall = is_track ? 0 : 0.14f * (float)(fine * coarse) / 65025;
  const float d = (float)c->camera.baseline * drop * HEIGHT / (HEIGHT - tall);
  const int off = (int)(hash(noise, 3, 4) % 5) + (int)(noise >> 16 & 3) - 3;
  *color = is_track
               ? shade(150 + fine / 10, 115 + fine / 12, 75 + coarse / 12, light_of(frame), noise)
               : shade(60 + fine / 6, 110 + fine / 4, 45 + coarse / 8, light_of(frame), noise);
  *disparity = (uint16_t)rv_max((int)(d * 16 + 0.5f) + off, 0);
}

void rv_road_sequence_paint(const RvRoadConfig *c, int frame, uint32_t *color,
                            uint16_t *disparity) {
  const int bush = c->width / 5; /* on the left, of half the disparity of the bottom row */
  for (int v = 0; v < c->height; v++)
    for (int u = 0; u < c->width; u++, color++, disparity++) {
      const uint32_t noise = hash((uint32_t)u, (uint32_t)v, (uint32_t)frame);
      const float wall =
          0.5f * (float)c->camera.baseline * (float)(c->height - c->camera.cy) / HEIGHT;
      if (v > c->camera.cy + 1) {
        paint_ground(c, frame, u, v, noise, color, disparity);
      } else {
        *color = shade(170, 190, 230, light_of(frame), noise);
        *disparity = 0;
      }
      if (u < bush && v > c->height / 5 && wall * 16 > *disparity) {
        *color = shade(40 + (int)(noise >> 27), 70, 35, light_of(frame), noise);
        *disparity = (uint16_t)(wall * 16);
      }
      if (noise >> 25 == 0) /* one in 128 has no match */
        *disparity = 0;
    }
}
