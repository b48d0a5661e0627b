/* SPDX-License-Identifier: MIT */
/* scene_reference.c: rows of the reference implementation: truth, outlines, sensor. */
#include "scene/scene_reference.h"

#include <math.h>

#define FARTHEST 1e12 /* m: depth of the sky */

/* Noise of the sensor: a sum of four uniform numbers, near enough to a normal one; the same for
 * all channels of a pixel, so that its deviation holds for the gray value too. */
static float sensor_noise(const RvScene *scene, const Sensor *sensor, int x) {
  const uint32_t at = (uint32_t)sensor->y * 32768u + (uint32_t)x, when = sensor->when;
  const uint32_t a = scene_hash(scene->plan.config.seed, at, when), b = scene_hash(a, 17u, when);
  const int sum = (int)((a & 0xFFFF) + (a >> 16) + (b & 0xFFFF) + (b >> 16)) - 2 * 65535;
  return (float)sum * (float)(1.7320508 / 65535.0); /* variance of the sum: 4 / 12 */
}

static uint8_t level(float v) {
  return v <= 0.0f ? 0 : v >= 254.5f ? 255 : (uint8_t)(v + 0.5f);
}

/* The right camera exposes shorter and is a little bluer, as two cameras that expose for themselves
 * do; both darken towards the corners. The cameras of `planes` and `noise` are alike. */
static void scene_sense(const RvScene *scene, const Sensor *sensor, int x, Color c, uint8_t *bgr) {
  const int view = sensor->view, y = sensor->y;
  if (scene_outdoors(scene)) {
    const float u = (float)((x - scene->plan.camera.cx) / scene->plan.camera.focal);
    const float v = (float)((y - scene->plan.camera.cy) / scene->plan.camera.focal);
    const float vignette = 1.0f - 0.16f * (u * u + v * v);
    const Color gain = scene->work->world->gain;
    c = color_mul(c, view ? 0.7f * vignette : vignette);
    c = color(c.r * gain.r, c.g * gain.g, c.b * gain.b);
    if (view)
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

static void *row(const RvPlane *plane, int y) {
  return (char *)plane->data + y * plane->stride;
}

/* Whether the right camera sees the point that the left camera sees at (x, y). */
static int seen_by_right(const RvScene *scene, int x, int y, double t) {
  const double match = x - scene->plan.camera.focal * scene->plan.camera.baseline / t;
  if (match < 0.0)
    return 0;
  const Ray ray = scene_ray(scene, 1, match, y);
  Hit hit;
  /* What lies behind need not be looked for; but where grass stands up, the ground behind leads to
   * it. */
  const double front = t - 0.01 - 1e-3 * t;
  const int all = scene->plan.config.pattern == RV_SCENE_OFFROAD;
  scene_trace(scene, 1, &ray, match, y, all ? FARTHEST : nextafter(front, FARTHEST), &hit);
  return hit.t > front;
}

static void write_truth(const RvScene *scene, const RvSceneTruth *truth, int x, int y,
                        const Hit *hit) {
  const int sky = hit->object == -1;
  const RvSceneLabel label = scene_label(scene, hit->object, (int)hit->material);
  if (truth->disparity.data) {
    const double d =
        sky ? 0.0 : 16.0 * scene->plan.camera.focal * scene->plan.camera.baseline / hit->t;
    const int sixteenths = (int)(d + 0.5);
    ((uint16_t *)row(&truth->disparity, y))[x] =
        (uint16_t)(sky ? 0 : rv_clamp(sixteenths, 1, 16 * scene->plan.config.max_disparity));
  }
  if (truth->labels.data)
    ((uint8_t *)row(&truth->labels, y))[x] = (uint8_t)label;
  if (truth->road.data)
    ((uint8_t *)row(&truth->road, y))[x] = label == RV_LABEL_ROAD ? 255 : 0;
  if (truth->visible.data)
    ((uint8_t *)row(&truth->visible, y))[x] = sky || seen_by_right(scene, x, y, hit->t) ? 255 : 0;
}

/* id: object + 2 | material | face | shadow */
static uint32_t pack(const Hit *hit, int shadow) {
  return (uint32_t)(hit->object + 2) << 10 | (uint32_t)hit->material << 5 |
         (uint32_t)hit->face << 1 | (uint32_t)shadow;
}

static Hit unpack(uint32_t id, float depth) {
  const Hit hit = {(double)depth, (int)(id >> 10) - 2, (int)(id >> 1 & 15),
                   (Material)(id >> 5 & 31)};
  return hit;
}

static int shadowed(const RvScene *scene, const Ray *ray, const Hit *hit) {
  if (hit->object == -1 || scene->plan.config.pattern == RV_SCENE_PLANES)
    return 0;
  const Vec point = vec_add(ray->origin, vec_mul(ray->dir, hit->t));
  if (vec_dot(scene_normal(scene, hit, point), scene->work->world->sun) <= 0.0)
    return 0; /* turned away: dark anyway */
  return scene_in_shadow(scene, point, hit->object);
}

static void trace_row(const RvScene *scene, int view, int y, const RvSceneTruth *truth) {
  const int width = scene->plan.config.width;
  uint32_t *ids = scene->work->ids + (size_t)y * (size_t)width;
  float *depths = scene->work->depths + (size_t)y * (size_t)width;
  for (int x = 0; x < width; x++) {
    const Ray ray = scene_ray(scene, view, x, y);
    Hit hit;
    scene_trace(scene, view, &ray, x, y, FARTHEST, &hit);
    ids[x] = pack(&hit, shadowed(scene, &ray, &hit));
    depths[x] = (float)hit.t;
    if (view == 0 && truth)
      write_truth(scene, truth, x, y, &hit);
  }
}

/* Whether another surface, or the same crown at another depth, is a neighbor. */
static int on_edge(const RvScene *scene, int x, int y) {
  const int width = scene->plan.config.width;
  const size_t i = (size_t)y * (size_t)width + (size_t)x;
  const uint32_t id = scene->work->ids[i];
  const size_t left = x > 0 ? i - 1 : i, right = x < width - 1 ? i + 1 : i;
  const size_t above = y > 0 ? i - (size_t)width : i;
  const size_t below = y < scene->plan.config.height - 1 ? i + (size_t)width : i;
  if (scene->work->ids[left] != id || scene->work->ids[right] != id ||
      scene->work->ids[above] != id || scene->work->ids[below] != id)
    return 1;
  if ((id >> 5 & 31) != MATERIAL_LEAVES)
    return 0;
  const float depth = scene->work->depths[i], limit = 0.02f * depth;
  return absolute((double)(scene->work->depths[left] - depth)) > (double)limit ||
         absolute((double)(scene->work->depths[above] - depth)) > (double)limit;
}

static Color sample(const RvScene *scene, int view, double x, double y) {
  const Ray ray = scene_ray(scene, view, x, y);
  Hit hit;
  scene_trace(scene, view, &ray, x, y, FARTHEST, &hit);
  return scene_shade(scene, &ray, &hit, shadowed(scene, &ray, &hit));
}

static void shade_row(const RvScene *scene, uint64_t frame, int view, int y) {
  static const double offsets[4][2] = {
      {-0.125, -0.375}, {0.375, -0.125}, {0.125, 0.375}, {-0.375, 0.125}};
  const int width = scene->plan.config.width;
  uint8_t *bgr = scene->work->bgr + 4 * ((size_t)(2 * y + view) * (size_t)width);
  const Sensor sensor = scene_sensor(frame, view, y);
  for (int x = 0; x < width; x++) {
    const size_t i = (size_t)y * (size_t)width + (size_t)x;
    Color c = {0, 0, 0};
    if (on_edge(scene, x, y)) {
      for (int k = 0; k < 4; k++) {
        const Color s = sample(scene, view, x + offsets[k][0], y + offsets[k][1]);
        c = color(c.r + 0.25f * s.r, c.g + 0.25f * s.g, c.b + 0.25f * s.b);
      }
    } else {
      const Ray ray = scene_ray(scene, view, x, y);
      const Hit hit = unpack(scene->work->ids[i], scene->work->depths[i]);
      c = scene_shade(scene, &ray, &hit, (int)(scene->work->ids[i] & 1));
    }
    scene_sense(scene, &sensor, x, c, bgr + 4 * x);
  }
}

void rv_scene_reference(RvScene *scene, uint64_t frame, const RvPicture *picture,
                        const RvSceneTruth *truth) {
  scene_build(scene, frame);
  for (int view = 0; view < 2; view++) {
    for (int y = 0; y < scene->plan.config.height; y++)
      trace_row(scene, view, y, truth);
    for (int y = 0; y < scene->plan.config.height; y++)
      shade_row(scene, frame, view, y);
  }
  scene_output(scene, picture);
}
