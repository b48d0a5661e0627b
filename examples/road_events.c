/* SPDX-License-Identifier: MIT */
/* road_events.c: see road_events.h. Each event is a strength per pixel of the left view and a color;
 * the strengths move to the right view with the disparity of the ground truth, so that both views
 * show the same surface. */
#include "road_events.h"

#include <stdlib.h>
#include <string.h>

#define VEHICLE_WIDTH 2.5 /* m */
#define VEHICLE_HEIGHT 0.8
#define HIDDEN_M 10.5 /* nearer ground is hidden by dust */
#define PERIOD_M 20.0 /* of stretches of mud and shadow */
#define STRETCH_M 12.0
#define LIGHT_FRAMES 12

RoadEvent road_event_of(const char *name) {
  static const char *const names[ROAD_EVENTS] = {"none",  "vehicle", "dust",
                                                 "light", "mud",     "shadow"};
  for (int k = 0; k < ROAD_EVENTS; k++)
    if (!strcmp(name, names[k]))
      return (RoadEvent)k;
  return ROAD_EVENT_NONE;
}

static uint32_t hash(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca77u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

static double unit(uint32_t a, uint32_t b) {
  return hash(a, b) / 4294967296.0;
}

static double clamp(double v, double low, double high) {
  return v < low ? low : v > high ? high : v;
}

/* Blends a pixel with `color`: R, G, B. */
static uint32_t blend(uint32_t rgb, double strength, const double *color) {
  uint32_t out = 0;
  for (int k = 0; k < 3; k++) {
    const double v = (rgb >> 8 * k & 255) * (1 - strength) + color[k] * strength;
    out |= (uint32_t)clamp(v + 0.5, 0, 255) << 8 * k;
  }
  return out;
}

static uint32_t scaled(uint32_t rgb, const double *gain) {
  uint32_t out = 0;
  for (int k = 0; k < 3; k++)
    out |= (uint32_t)clamp((rgb >> 8 * k & 255) * gain[k] + 0.5, 0, 255) << 8 * k;
  return out;
}

/* --- The vehicle ------------------------------------------------------------------------------ */

/* The rear of a van with the disparity of the lowest row of ground; panels and dents as texture. */
static void hide_by_vehicle(const RoadEventFrame *f) {
  const RvCamera *const c = f->camera;
  const int width = f->road.width, height = f->road.height;
  const uint16_t *const bottom = (const uint16_t *)f->disparity.data + (height - 1) * width;
  const int shift = (bottom[width / 2] + 8) / 16;
  const double px_per_m = shift / c->baseline;
  const int half = (int)(0.5 * VEHICLE_WIDTH * px_per_m), left = width / 2 - half;
  const int rows = (int)(VEHICLE_HEIGHT * px_per_m), top = height > rows ? height - rows : 0;
  for (int y = top; y < height; y++)
    for (int x = left; x < left + 2 * half; x++) {
      const uint32_t panel = hash((uint32_t)((x - left) / 70), (uint32_t)((y - top) / 40) + 7u);
      const uint32_t dent = hash((uint32_t)((x - left) / 3), (uint32_t)((y - top) / 3));
      const double shade = 0.7 + 0.4 * (panel & 255) / 255.0 + 0.3 * (dent & 255) / 255.0;
      const double paint[3] = {52 * shade, 66 * shade, 96 * shade};
      if (x >= 0 && x < width) {
        f->left[y * width + x] = blend(0, 1, paint);
        ((uint8_t *)f->road.data)[y * width + x] = 0;
      }
      if (x >= shift && x < width + shift)
        f->right[y * width + x - shift] = blend(0, 1, paint);
    }
}

/* --- What lies on the ground ------------------------------------------------------------------ */

/* Strength 0..255 for both views from that of the left one. Holes of the right view get the
 * strength of their left neighbor. */
static void move_right(const RoadEventFrame *f, const uint8_t *left, uint8_t *right) {
  const int width = f->road.width, height = f->road.height;
  const uint16_t *const disparity = f->disparity.data;
  uint16_t *const nearest = calloc((size_t)width, sizeof *nearest);
  for (int y = 0; nearest && y < height; y++) {
    memset(nearest, 0, (size_t)width * sizeof *nearest);
    for (int x = 0; x < width; x++) {
      const int d = disparity[y * width + x], to = x - (d + 8) / 16;
      if (to >= 0 && d + 1 > nearest[to]) {
        nearest[to] = (uint16_t)(d + 1);
        right[y * width + to] = left[y * width + x];
      }
    }
    for (int x = 0; x < width; x++)
      if (!nearest[x])
        right[y * width + x] = x ? right[y * width + x - 1] : 0;
  }
  free(nearest);
}

/* Strength at a pixel of the left view with this disparity, px. */
static double strength_of(RoadEvent event, const RoadEventFrame *f, double d, int is_road) {
  if (d < 0.5)
    return 0;
  const double z = f->camera->focal * f->camera->baseline / d;
  if (event == ROAD_EVENT_DUST)
    return 0.96 * clamp((2 * HIDDEN_M - z) / HIDDEN_M, 0, 1);
  if (event == ROAD_EVENT_MUD && !is_road)
    return 0;
  const double at = z + f->travel + 8, phase = at - PERIOD_M * (int)(at / PERIOD_M);
  return phase < STRETCH_M && z < 40 ? 1 : 0;
}

static int cover(RoadEvent event, const RoadEventFrame *f) {
  static const double dust[3] = {186, 170, 140}, mud[3] = {66, 54, 40};
  static const double shadow[3] = {0.36, 0.40, 0.48};
  const int pixels = f->road.width * f->road.height;
  const uint16_t *const disparity = f->disparity.data;
  const uint8_t *const road = f->road.data;
  uint8_t *const strength = calloc(2, (size_t)pixels);
  if (!strength)
    return 0;
  for (int i = 0; i < pixels; i++)
    strength[i] = (uint8_t)(255 * strength_of(event, f, disparity[i] / 16.0, road[i] == 255) + 0.5);
  move_right(f, strength, strength + pixels);
  for (int i = 0; i < 2 * pixels; i++) {
    uint32_t *const at = i < pixels ? &f->left[i] : &f->right[i - pixels];
    const double s = strength[i] / 255.0;
    if (event == ROAD_EVENT_SHADOW)
      *at = s > 0.5 ? scaled(*at, shadow) : *at;
    else
      *at = blend(*at, event == ROAD_EVENT_MUD ? 0.8 * s : s, event == ROAD_EVENT_MUD ? mud : dust);
  }
  free(strength);
  return 1;
}

static void jump(const RoadEventFrame *f) {
  const uint32_t stretch = (uint32_t)(f->index / LIGHT_FRAMES);
  const double bright = 0.5 + 0.9 * unit(stretch, 1), warm = 0.4 * unit(stretch, 2) - 0.2;
  const double gain[3] = {bright * (1 + warm), bright, bright * (1 - warm)};
  for (int i = 0; i < f->road.width * f->road.height; i++) {
    f->left[i] = scaled(f->left[i], gain);
    f->right[i] = scaled(f->right[i], gain);
  }
}

int road_event_apply(RoadEvent event, const RoadEventFrame *frame) {
  const int is_in = 5 * frame->index >= 2 * frame->count && 5 * frame->index < 4 * frame->count;
  if (event == ROAD_EVENT_LIGHT)
    jump(frame);
  if (event == ROAD_EVENT_VEHICLE && is_in)
    hide_by_vehicle(frame);
  if (event == ROAD_EVENT_MUD || event == ROAD_EVENT_SHADOW || (event == ROAD_EVENT_DUST && is_in))
    return cover(event, frame);
  return 1;
}
