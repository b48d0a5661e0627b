/* SPDX-License-Identifier: MIT */
/* road_frame_cases.c: complete frames of a synthetic street: ground plane, seeds, road, frames
 * without disparity, threads and fuzz input. */
#include "road/road_frame_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "road/road_rules.h"
#include "road/road_reference.h"

#define ROLL 0.004 /* px of disparity per px to the right */

/* A street of one color between grass, a wall above the horizon, a box on the left. */
typedef struct Frame {
  RvRoadConfig config;
  int columns, rows;
  RvPlane color, disparity, mask, distance, seeds, score;
  RvRoadReport report;
  RvRoad *road;          /* of open_road */
  double slope, horizon; /* of the ground: disparity = ROLL u + slope (v - horizon) */
  RvRoadReferenceProfile before, after; /* the last frame of run_frame */
} Frame;

static void close_frame(Frame *f) {
  rv_road_free(&f->road);
  free(f->color.data);
  free(f->disparity.data);
  free(f->mask.data);
  free(f->distance.data);
  free(f->seeds.data);
  free(f->score.data);
}

static int is_street(const Frame *f, int u, int v) {
  const int half = (int)((v - f->horizon) * 0.6);
  return u > f->config.width / 2 - half && u < f->config.width / 2 + half;
}

static uint32_t pixel(int r, int g, int b, RvRandom *random) {
  const int noise = rvc_range(random, -6, 6);
  return (uint32_t)(r + noise) | (uint32_t)(g + noise) << 8 | (uint32_t)(b + noise) << 16;
}

static void paint(Frame *f, RvRandom *random) {
  const int width = f->config.width, height = f->config.height;
  uint32_t *color = f->color.data;
  uint16_t *disparity = f->disparity.data;
  for (int v = 0; v < height; v++)
    for (int u = 0; u < width; u++, color++, disparity++) {
      const double ground = ROLL * u + f->slope * (v - f->horizon);
      const double box = u < width / 6 && v > height / 4 ? f->slope * height * 0.5 : 0;
      const double d = ground > box ? ground : box;
      *disparity = d > 0.1 && rvc_range(random, 0, 99) ? (uint16_t)(d * 16 + 0.5) : 0;
      *color = d > ground           ? pixel(40, 60, 170, random)
               : v <= f->horizon    ? pixel(150, 200, 240, random)
               : is_street(f, u, v) ? pixel(150, 110, 60, random)
                                    : pixel(50, 150, 40, random);
    }
}

static int open_frame(RvCheck *check, const char *name, Frame *f, int width, int height) {
  RvRandom random = rvc_random(check, name);
  *f = (Frame){.slope = 60.0 / height, .horizon = height * 0.35};
  rv_road_config_init(&f->config);
  f->config.width = width;
  f->config.height = height;
  f->config.camera =
      (RvCamera){.focal = width, .cx = width / 2.0, .cy = height / 2.0, .baseline = 0.3};
  f->config.near_width = 0.8; /* the street is 0.9 m wide, the camera 0.75 m above it */
  f->config.log = rvc_log(check);
  rv_road_size(&f->config, &f->columns, &f->rows);
  f->color = rvc_plane(width, height, RV_U32);
  f->disparity = rvc_plane(width, height, RV_U16);
  f->mask = rvc_plane(f->columns, f->rows, RV_U8);
  f->distance = rvc_plane(f->columns, f->rows, RV_F32);
  f->seeds = rvc_plane(f->columns, f->rows, RV_U8);
  f->score = rvc_plane(f->columns, f->rows, RV_U8);
  const int good = f->color.data && f->disparity.data && f->mask.data && f->distance.data &&
                   f->seeds.data && f->score.data;
  if (rvc_true(check, name, good, "out of memory")) {
    paint(f, &random);
    return 1;
  }
  close_frame(f);
  return 0;
}

/* A frame of 203 x 151 px, and an object of the CPU engine. */
static int open_road(RvCheck *check, const char *name, Frame *f) {
  if (!open_frame(check, name, f, 203, 151))
    return 0;
  if (rvc_true(check, name, rv_road_new(&f->road, &f->config, RV_CPU) == RV_OK, "new failed"))
    return 1;
  close_frame(f);
  return 0;
}

/* The two terms of step 5 for patch i, and its strip. */
typedef struct Terms {
  double color, height, depth; /* depth in m */
  int strip;
} Terms;

static Terms terms_of(const Frame *f, int i) {
  const RvRoadReport *r = &f->report;
  const int px = i % f->columns, py = i / f->columns;
  const double distance = (double)((const float *)f->distance.data)[i];
  Terms t;
  t.height = rv_road_reference_like(&f->config, &f->disparity, px, py, r->slope_x, r->slope_y,
                                    r->intercept, 0);
  t.color = rv_road_reference_like(&f->config, &f->disparity, px, py, r->slope_x, r->slope_y,
                                   r->intercept, distance) -
            t.height;
  t.strip =
      rv_road_reference_strip(&f->config, px, py, r->slope_x, r->slope_y, r->intercept, &t.depth);
  return t;
}

/* The near ground of a frame, of which road is what has less than 0.4 of the color term. */
static void remember(Frame *f) {
  RvRoadReferenceProfile frame = {{0}, {0}};
  f->before = f->after;
  for (int i = 0; i < f->columns * f->rows && f->report.seeds; i++) {
    const Terms t = terms_of(f, i);
    if (t.strip < 0 || t.depth >= f->config.near_range || t.height >= 1)
      continue;
    const int is_seed = ((const uint8_t *)f->seeds.data)[i] != 0;
    frame.seen[t.strip]++;
    frame.road[t.strip] += is_seed || t.color < 0.4 * (1 - t.height);
  }
  rv_road_reference_remember(&f->after, &frame);
}

static RvStatus run_frame(RvRoad *road, Frame *f, const RvPlane *disparity) {
  const RvRoadOutput output = {f->mask, f->distance, f->seeds, &f->report, f->score};
  const RvStatus status = rv_road_run(road, &f->color, disparity, &output, NULL);
  if (status == RV_OK)
    remember(f);
  return status;
}

/* --- One frame compared with the reference implementation ------------------------------------ */

static void check_ground(RvCheck *check, const char *name, const Frame *f) {
  const RvRoadReport *r = &f->report;
  const double bottom = r->slope_y * (f->config.height - 1) + r->intercept;
  const double wanted = f->slope * (f->config.height - 1 - f->horizon);
  rvc_true(check, name,
           fabs(r->slope_x - ROLL) < 1e-3 && fabs(r->slope_y - f->slope) < 2e-3 &&
               fabs(bottom - wanted) < 0.2,
           "ground: slopes %g %g, at the bottom %g px; expected %g %g, %g", r->slope_x, r->slope_y,
           bottom, ROLL, f->slope, wanted);
}

/* Samples by height in world coordinates; those within 2 % of the limit are ignored. */
static void check_seeds(RvCheck *check, const char *name, const Frame *f) {
  const RvRoadConfig *c = &f->config;
  const RvRoadReport *r = &f->report;
  const uint8_t *seeds = f->seeds.data;
  int wrong = 0, count = 0;
  for (int i = 0; i < f->columns * f->rows; i++) {
    const int px = i % f->columns, py = i / f->columns;
    const double v =
        rv_road_reference_roughness(c, &f->disparity, px, py, r->slope_x, r->slope_y, r->intercept);
    count += seeds[i] != 0;
    double sum = 0;
    int valid = 0;
    for (int k = 0; k < c->patch_size * c->patch_size; k++) {
      const int at = (py * c->patch_size + k / c->patch_size) * c->width + px * c->patch_size +
                     k % c->patch_size;
      const uint16_t d = ((const uint16_t *)f->disparity.data)[at];
      sum += d / 16.0;
      valid += d > 0;
    }
    const double per_px = valid ? r->height * valid / sum : 0; /* m of height in 1 px */
    const double limit = fmin(c->roughness + pow(c->disparity_noise * per_px, 2), c->max_roughness);
    const double depth = c->camera.focal * c->camera.baseline * valid / sum;
    const double beside = fabs(px * c->patch_size + 2 - c->camera.cx) * depth / c->camera.focal;
    const int near = valid && depth < c->near_range && beside < c->near_width / 2 + 1e-6;
    const double high =
        rv_road_reference_like(c, &f->disparity, px, py, r->slope_x, r->slope_y, r->intercept, 0);
    wrong += seeds[i] && !(near && v < limit * 1.02 && high < 1.01);
  }
  rvc_true(check, name, wrong == 0 && count == r->seeds && count > f->columns * f->rows / 20,
           "%d seeds, reported %d, %d of them too rough or too far", count, r->seeds, wrong);
}

/* Region growing in the road-like patches of the reference. `doubt`: class of patches within 1 %
 * of the limit, since the report's plane is rounded. */
static int grow_reference(const Frame *f, int doubt, uint8_t *near, uint8_t *majority,
                          uint8_t *road) {
  const uint8_t *seeds = f->seeds.data;
  const int patches = f->columns * f->rows;
  int count = 0;
  for (int i = 0; i < patches; i++) {
    const Terms t = terms_of(f, i);
    const double scale = rv_road_reference_scale(&f->before, t.strip, f->config.lateral_scale);
    near[i] = seeds[i] || t.color / scale + t.height < (doubt ? 1.01 : 0.99);
  }
  rv_road_reference_smooth(near, f->columns, f->rows, f->config.smoothing, majority);
  for (int i = 0; i < patches; i++)
    road[i] = seeds[i] && majority[i];
  rv_road_reference_grow(majority, f->columns, f->rows, road);
  for (int i = 0; i < patches; i++)
    count += road[i];
  return count;
}

/* More road-like patches never give less road: the mask is between the two of the reference. */
static void check_mask(RvCheck *check, const char *name, const Frame *f) {
  const int patches = f->columns * f->rows;
  uint8_t *near = calloc((size_t)patches, 4);
  if (!rvc_true(check, name, near != NULL, "out of memory"))
    return;
  uint8_t *majority = near + patches, *low = majority + patches, *high = low + patches;
  const uint8_t *mask = f->mask.data;
  const int smallest = grow_reference(f, 0, near, majority, low),
            largest = grow_reference(f, 1, near, majority, high);
  int wrong = 0, count = 0;
  for (int i = 0; i < patches; i++) {
    wrong += (mask[i] == 255) < low[i] || (mask[i] == 255) > high[i];
    wrong += (mask[i] == 255) != (((const uint8_t *)f->score.data)[i] >= RV_ROAD_LIKE);
    count += mask[i] == 255;
  }
  rvc_true(check, name,
           wrong == 0 && count == f->report.road && smallest > 0 &&
               largest - smallest < patches / 50,
           "%d patches differ from region growing (%d to %d); %d road, reported %d", wrong,
           smallest, largest, count, f->report.road);
  free(near);
}

/* Intersection over union of mask and ground truth, in patches, %. */
static double overlap(const Frame *f) {
  int both = 0, either = 0;
  for (int i = 0; i < f->columns * f->rows; i++) {
    const int n = f->config.patch_size;
    const int u = i % f->columns * n + n / 2, v = i / f->columns * n + n / 2;
    const int truth = v > f->horizon && u >= f->config.width / 6 && is_street(f, u, v);
    const int found = ((const uint8_t *)f->mask.data)[i] != 0;
    both += truth && found;
    either += truth || found;
  }
  return 100.0 * both / either;
}

/* Adds bushes of up to 0.3 m to the grass, so that only the street is smooth. */
static void grow_grass(Frame *f, RvRandom *random) {
  uint16_t *disparity = f->disparity.data;
  for (int i = 0; i < f->config.width * f->config.height; i++) {
    const int u = i % f->config.width, v = i / f->config.width;
    if (v > f->horizon && !is_street(f, u, v) && disparity[i])
      disparity[i] = (uint16_t)(disparity[i] * rvc_range(random, 100, 125) / 100);
  }
}

/* open_road with rough ground next to the street. */
static int open_grass(RvCheck *check, const char *name, Frame *f, RvRandom *random) {
  if (!open_road(check, name, f))
    return 0;
  grow_grass(f, random);
  return 1;
}

/* Flat grass: all of the ground is smooth, and the plane is that of the frame. */
static void check_flat(RvCheck *check, const char *name, RvRandom *random) {
  Frame f;
  if (!open_road(check, name, &f))
    return;
  rvc_true(check, name, run_frame(f.road, &f, &f.disparity) == RV_OK, "run failed");
  check_ground(check, name, &f);
  check_seeds(check, name, &f);
  check_mask(check, name, &f);
  close_frame(&f);
}

/* A given plane is used and reported; one that cannot be ground is none. */
static void check_surface(RvCheck *check, const char *name, RvRandom *random) {
  Frame f;
  if (!open_road(check, name, &f))
    return;
  RvGroundSurface surface = {
      .slope_x = ROLL, .slope_y = f.slope, .intercept = -f.slope * f.horizon};
  const RvRoadOutput output = {f.mask, f.distance, f.seeds, &f.report, f.score};
  rvc_true(check, name, run_frame(f.road, &f, &f.disparity) == RV_OK, "run failed");
  const int seeds = f.report.seeds;
  rvc_true(check, name,
           rv_road_run_on(f.road, &f.color, &f.disparity, &surface, &output, NULL) == RV_OK &&
               f.report.slope_x == (float)surface.slope_x &&
               f.report.slope_y == (float)surface.slope_y &&
               f.report.intercept == (float)surface.intercept,
           "the plane is %g %g %g", f.report.slope_x, f.report.slope_y, f.report.intercept);
  rvc_true(check, name, abs(f.report.seeds - seeds) * 20 <= seeds,
           "%d seeds on the given plane, %d on the fitted one", f.report.seeds, seeds);
  f.before = f.after;
  check_mask(check, name, &f);
  surface.slope_y = -surface.slope_y;
  rvc_true(check, name,
           rv_road_run_on(f.road, &f.color, &f.disparity, &surface, &output, NULL) == RV_OK &&
               f.report.slope_y == 0,
           "a plane that rises to the camera has slope %g", f.report.slope_y);
  rvc_true(check, name,
           rv_road_run_on(f.road, &f.color, NULL, &surface, &output, NULL) == RV_OK &&
               f.report.slope_y == 0,
           "without disparity there is a plane");
  close_frame(&f);
}

static void check_frame(RvCheck *check, const char *name, RvRandom *random) {
  Frame f;
  if (!open_grass(check, name, &f, random))
    return;
  for (int frame = 0; frame < 3; frame++) {
    rvc_true(check, name, run_frame(f.road, &f, &f.disparity) == RV_OK, "run failed");
    check_seeds(check, name, &f);
    check_mask(check, name, &f);
    rvc_true(check, name, overlap(&f) > 85, "mask and street overlap by %.1f %%", overlap(&f));
  }
  rvc_true(check, name, f.report.samples_matched > 0, "no sample updated a model");
  close_frame(&f);
}

/* --- Frames without training patches --------------------------------------------------------- */

static void check_blind(RvCheck *check, const char *name, RvRandom *random) {
  Frame f;
  if (!open_grass(check, name, &f, random))
    return;
  rvc_true(check, name,
           run_frame(f.road, &f, NULL) == RV_OK && f.report.road == 0 && f.report.models == 0 &&
               ((float *)f.distance.data)[0] == RV_ROAD_NO_MODEL,
           "no models: %d road, %d models", f.report.road, f.report.models);
  rvc_true(check, name, run_frame(f.road, &f, &f.disparity) == RV_OK && f.report.models_added == 2,
           "first frame: %d models added, expected 2", f.report.models_added);
  rvc_true(check, name,
           run_frame(f.road, &f, NULL) == RV_OK && f.report.seeds == 0 &&
               f.report.models_added == 0 && f.report.models == 2 && overlap(&f) > 85,
           "without disparity: %d models, overlap %.1f %%", f.report.models, overlap(&f));
  memset(f.color.data, 0, (size_t)f.config.height * (size_t)f.color.stride);
  rvc_true(check, name, run_frame(f.road, &f, NULL) == RV_OK && f.report.road == 0,
           "black frame: %d road patches", f.report.road);
  rvc_true(check, name,
           rv_road_reset(f.road, NULL) == RV_OK && run_frame(f.road, &f, NULL) == RV_OK &&
               f.report.models == 0,
           "reset left %d models", f.report.models);
  close_frame(&f);
}

/* The number of threads must not change the results. */
static void check_threads(RvCheck *check, const char *name, RvRandom *random) {
  Frame a, b;
  if (!open_frame(check, name, &a, 101, 83))
    return;
  if (!open_frame(check, name, &b, 101, 83)) {
    close_frame(&a);
    return;
  }
  RvRoad *one = NULL, *many = NULL;
  a.config.threads = 1;
  b.config.threads = 5;
  const int made = rv_road_new(&one, &a.config, RV_CPU) == RV_OK &&
                   rv_road_new(&many, &b.config, RV_CPU) == RV_OK;
  for (int frame = 0; frame < 6 && rvc_true(check, name, made, "new failed"); frame++) {
    run_frame(one, &a, &a.disparity);
    run_frame(many, &b, &b.disparity);
    rvc_same(check, name, &a.mask, &b.mask, "mask");
    rvc_same(check, name, &a.distance, &b.distance, "distance");
    rvc_same(check, name, &a.seeds, &b.seeds, "seeds");
    rvc_true(check, name, memcmp(&a.report, &b.report, sizeof a.report) == 0, "report differs");
    for (int i = 0; i < 101 * 83; i++) { /* an increasing part of the frame becomes noise */
      if (rvc_range(random, 0, 9) > frame)
        continue;
      ((uint32_t *)a.color.data)[i] = ((uint32_t *)b.color.data)[i] = rvc_next(random);
      ((uint16_t *)a.disparity.data)[i] = ((uint16_t *)b.disparity.data)[i] =
          (uint16_t)rvc_next(random);
    }
  }
  rv_road_free(&one);
  rv_road_free(&many);
  close_frame(&a);
  close_frame(&b);
}

RVC_CASES(rv_road_frame_cases, RVC_CASE("road/ground", check_flat, 0),
          RVC_CASE("road/surface", check_surface, 0), RVC_CASE("road/frame", check_frame, 0),
          RVC_CASE("road/blind", check_blind, 0), RVC_CASE("road/threads", check_threads, 0));

/* --- Fuzz ------------------------------------------------------------------------------------ */

void rv_road_fuzz(const uint8_t *bytes, size_t size) {
  if (size < 12)
    return;
  Frame f = {0};
  RvRoadConfig *c = &f.config;
  rv_road_config_init(c);
  c->patch_size = bytes[0] % 17;
  c->width = bytes[1] % 64;
  c->height = bytes[2] % 64;
  c->camera = (RvCamera){.focal = bytes[3], .cx = 30, .cy = bytes[4], .baseline = bytes[5] / 64.0};
  c->bins = bytes[6] % 18;
  c->distance = (RvRoadDistance)(bytes[7] % 7);
  c->roughness = bytes[8] / 255.0;
  c->min_samples = bytes[9];
  c->update_threshold = bytes[10] / 32.0;
  c->threads = 1;
  RvRoad *road = NULL;
  rv_road_size(c, &f.columns, &f.rows);
  if (rv_road_new(&road, c, RV_CPU) != RV_OK)
    return;
  f.color = rvc_plane(c->width, c->height, RV_U32);
  f.disparity = rvc_plane(c->width, c->height, RV_U16);
  f.mask = rvc_plane(f.columns, f.rows, RV_U8);
  f.distance = rvc_plane(f.columns, f.rows, RV_F32);
  f.seeds = rvc_plane(f.columns, f.rows, RV_U8);
  f.score = rvc_plane(f.columns, f.rows, RV_U8);
  if (!f.color.data || !f.disparity.data || !f.mask.data || !f.distance.data || !f.seeds.data ||
      !f.score.data)
    abort();
  for (int frame = 0; frame < 3; frame++) {
    for (int i = 0; i < c->width * c->height; i++) {
      const uint32_t byte = bytes[11 + (size_t)(i + frame) % (size - 11)];
      ((uint32_t *)f.color.data)[i] = byte * 0x10307u;
      ((uint16_t *)f.disparity.data)[i] = (uint16_t)(byte << (frame * 4));
    }
    if (run_frame(road, &f, &f.disparity) != RV_OK || f.report.models > c->library_size)
      abort();
  }
  rv_road_free(&road);
  close_frame(&f);
}
