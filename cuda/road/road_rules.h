/* SPDX-License-Identifier: MIT */
/* road_rules.h: constants, number formats and scalar rules of road detection, for all engines. Not
 * installed.
 *
 * Features are counts 0 to n^2 of a patch of n x n px. Models have the same unit, in double, each
 * value computed by one thread. Sums over threads are integers. */
#ifndef RV_ROAD_RULES_H
#define RV_ROAD_RULES_H

#include <math.h>
#include <string.h>

#include "road/road.h"
#include "rv_hd.h"
#include "rv_plane_fit.h"

/* Ranges of the config that sizes and checks depend on. */
#define RV_ROAD_PATCH_MAX 15 /* so that a count fits 8 bits */
#define RV_ROAD_BINS_MIN 2
#define RV_ROAD_BINS_MAX 16
#define RV_ROAD_LIBRARY_MAX 50
#define RV_ROAD_SAMPLES_MAX 4096
#define RV_ROAD_FLOOR_MIN 1e-6
#define RV_ROAD_FLOOR_MAX 1.0

#define RV_ROAD_EM_ITERATIONS 100  /* maximum */
#define RV_ROAD_NO_MODEL 3.4e38f   /* distance without a model */
#define RV_ROAD_INVERSE_SIZE 65536 /* one entry per value of a disparity */

/* --- Color ---------------------------------------------------------------------------------- */

/* Equalized value of a histogram's entry; `below` is the number of pixels up to and including this
 * value, `first` that of the smallest value that occurs, of `total`. Rounded to nearest. */
RV_HD int rv_road_equalized(uint32_t below, uint32_t first, uint32_t total, int value) {
  if (total == first)
    return value;
  const uint32_t span = total - first;
  if (span < UINT32_MAX / 256)
    return (int)(((below - first) * 255 + span / 2) / span);
  return (int)(((uint64_t)(below - first) * 255 + span / 2) / span);
}

/* a / b rounded down for 0 <= a < 2^21 and 0 < b. On a GPU by a reciprocal: the quotient of a + 1/2
 * lies at least 1 / (2 b) from the next integer, farther than its error of 2^-22 a / b. */
RV_HD int rv_road_div(int a, int b) {
#ifdef __CUDA_ARCH__
  return (int)__fdividef((float)a + 0.5f, (float)b);
#else
  return a / b;
#endif
}

/* Hue in steps of 2 degrees, 0..179, rounded to nearest; 0 for gray. */
RV_HD int rv_road_hue(int r, int g, int b) {
  const int value = rv_max(r, rv_max(g, b)), delta = value - rv_min(r, rv_min(g, b));
  if (delta == 0)
    return 0;
  const int base = value == r ? 0 : (value == g ? 60 : 120);
  const int turn = value == r ? g - b : (value == g ? b - r : r - g);
  const int hue = base - 60 + rv_road_div(60 * turn + 121 * delta, 2 * delta);
  return hue < 0 ? hue + 180 : hue;
}

/* 0..255, rounded to nearest; 0 for black. */
RV_HD int rv_road_saturation(int r, int g, int b) {
  const int value = rv_max(r, rv_max(g, b)), delta = value - rv_min(r, rv_min(g, b));
  return value == 0 ? 0 : rv_road_div(255 * delta + value / 2, value);
}

/* Cell of the joint histogram; no hue below min_saturation or min_value. */
RV_HD int rv_road_cell(int r, int g, int b, int bins, int min_saturation, int min_value) {
  const int saturation = rv_road_saturation(r, g, b), value = rv_max(r, rv_max(g, b));
  const int is_achromatic = saturation < min_saturation || value < min_value;
  const int hue = is_achromatic ? 0 : rv_road_hue(r, g, b);
  return hue * bins / 181 * bins + saturation * bins / 256;
}

/* --- Ground ---------------------------------------------------------------------------------- */

/* Candidate lines of the v-disparity: horizons from a quarter of the height above the frame to
 * three quarters below its top, and disparities of 2, 4, ... px at the last row. */
#define RV_ROAD_HORIZONS 64
#define RV_ROAD_BOTTOMS 127
#define RV_ROAD_DEPTHS 256  /* bins of 1 px */
#define RV_ROAD_DEPTH_MIN 4 /* px: below, background is on every line */
/* Height of a camera above its ground, m: other planes are walls or cars, with any number of
 * patches on them. */
#define RV_ROAD_CAMERA_HEIGHT_MIN 0.2
#define RV_ROAD_CAMERA_HEIGHT_MAX 5.0
#define RV_ROAD_FIT_SHARE 256 /* minimum on the plane: patches / 256, and 16 */
#define RV_ROAD_FIT_ROUNDS 4  /* iterations of least squares over the patches near the plane */

/* disparity + doffs = a u + b v + c in px; u and v in px from the center of the top left pixel. */
typedef struct RvRoadPlane {
  double a, b, c;
  double height; /* of the camera, m; 0 = no plane */
} RvRoadPlane;

RV_HD int rv_road_horizon(int index, int height) {
  return rv_line_horizon(index, RV_ROAD_HORIZONS, height);
}

/* Disparity of a line at row v, px, as votes are counted; -1 where it is ignored. */
RV_HD int rv_road_line(int v, int horizon, int bottom, int height) {
  const int d = rv_line_at(v, horizon, bottom, height);
  return d >= RV_ROAD_DEPTH_MIN ? rv_min(d, RV_ROAD_DEPTHS - 1) : -1;
}

/* Disparity at the center of patch (x, y) of n px. */
RV_HD double rv_road_plane_at(const RvRoadPlane *p, int x, int y, int n) {
  return p->a * (x * n + 0.5 * (n - 1)) + p->b * (y * n + 0.5 * (n - 1)) + p->c;
}

/* 1 when column x of patches of n px is at most `half` m from the optical axis; half 0: always.
 * `depth` is the sum of `valid` disparities in 1/16 px, doffs included. */
RV_HD int rv_road_ahead(const RvCamera *camera, int x, int n, uint32_t depth, int valid,
                        double half) {
  const double offset = x * n + 0.5 * (n - 1) - camera->cx;
  const double reach = (offset < 0 ? -offset : offset) * camera->baseline * 16 * valid;
  return !(half > 0) || reach <= half * (double)depth;
}

/* The plane of the sums of an iteration over a frame of `patches`; 0 when there are too few or they
 * are collinear. */
RV_HD int rv_road_solve(const RvPlaneSums *s, int patches, int n, RvRoadPlane *p) {
  return s->n >= rv_max(16, patches / RV_ROAD_FIT_SHARE) &&
         rv_plane_solve(s, n, &p->a, &p->b, &p->c);
}

RV_HD double rv_road_height_squared(const RvRoadPlane *p, const RvCamera *camera) {
  const double center = p->c + p->a * camera->cx + p->b * camera->cy;
  return rv_plane_height_squared(p->a, p->b, center, camera->focal, camera->baseline);
}

/* 1 when the plane may be ground: disparity grows downwards, and the height of the camera is
 * that of a vehicle. */
RV_HD int rv_road_plausible(const RvRoadPlane *p, const RvCamera *camera) {
  const double squared = rv_road_height_squared(p, camera);
  return p->b > 0 && squared >= RV_ROAD_CAMERA_HEIGHT_MIN * RV_ROAD_CAMERA_HEIGHT_MIN &&
         squared <= RV_ROAD_CAMERA_HEIGHT_MAX * RV_ROAD_CAMERA_HEIGHT_MAX;
}

/* The plane of a surface; height 0 when it has none or is not plausible. */
RV_HD RvRoadPlane rv_road_plane_of(const RvGroundSurface *surface, const RvCamera *camera) {
  RvRoadPlane plane = {surface->slope_x, surface->slope_y, surface->intercept + camera->doffs, 0};
  if (rv_road_plausible(&plane, camera))
    plane.height = sqrt(rv_road_height_squared(&plane, camera));
  return plane;
}

RV_HD void rv_road_report_plane(const RvRoadPlane *p, double doffs, RvRoadReport *report) {
  report->slope_x = (float)p->a;
  report->slope_y = (float)p->b;
  report->intercept = (float)(p->c - doffs);
  report->height = (float)p->height;
}

/* 1 when disparity d, in 1/16 px, is valid; doffs as below. */
RV_HD int rv_road_known(int d, int doffs) {
  return d != 0 && d + doffs > 0;
}

/* doffs in 1/16 px. */
RV_HD int rv_road_doffs(const RvCamera *camera) {
  return (int)floor(camera->doffs * 16 + 0.5);
}

/* Height of a point above the plane relative to that of the camera, 1 - D_plane / D, in 1/2^20:
 * `ground` in 1/2^20 px, `inverse` = 2^32 / D in 1/16 px. Clamped to +-4. */
RV_HD int64_t rv_road_relative_height(int64_t ground, uint32_t inverse) {
  const int64_t q = (ground >> 12) * (int64_t)inverse / 65536 - (1 << 20);
  const int64_t limit = 1 << 22;
  return q < -limit ? -limit : (q > limit ? limit : q);
}

/* (1): 1 when the variance of n relative heights is below the limit; `base` and `maximum` in
 * units of the squared camera height. `depth` is the sum of the disparities in 1/16 px. */
RV_HD int rv_road_smooth(int64_t n, int64_t sum, int64_t squares, int64_t depth, double base,
                         double noise, double maximum) {
  const double variance =
      (double)(n * squares - sum * sum) / ((double)(n * (n - 1)) * 1099511627776.0);
  const double spread = noise * 16 * (double)n / (double)depth;
  const double limit = base + spread * spread;
  return variance < (limit < maximum ? limit : maximum);
}

/* 1 when patch (x, y) shows the training strip, were there nothing but the plane. */
RV_HD int rv_road_is_strip(const RvRoadConfig *c, const RvRoadPlane *plane, int x, int y) {
  const int n = c->patch_size;
  const double d = rv_road_plane_at(plane, x, y, n);
  const double offset = x * n + 0.5 * (n - 1) - c->camera.cx;
  const double reach = (offset < 0 ? -offset : offset) * c->camera.baseline;
  return c->near_width > 0 && d * c->near_range > c->camera.focal * c->camera.baseline &&
         reach <= 0.5 * c->near_width * d;
}

/* 1 when `seeds` of the `strip` patches of the training strip are enough to learn from. */
RV_HD int rv_road_has_seeds(int seeds, int strip, double min_seeds) {
  return seeds > 0 && (double)seeds >= min_seeds * (double)strip;
}

/* Color budget: maximum of (distance / classify_threshold)^2 of road, in 1/65536. */
#define RV_ROAD_BUDGET_ONE 65536u /* where height is ignored */
#define RV_ROAD_SIGMAS 3          /* of disparity_noise */
#define RV_ROAD_BELOW_FACTOR 4    /* tolerance below the plane relative to that above it */

/* Color budget of patch (x, y) with `valid` disparities of the sum `depth`; 0 = off the plane. */
RV_HD uint32_t rv_road_color_budget(const RvRoadConfig *c, const RvRoadPlane *plane, int x, int y,
                                    int valid, uint32_t depth) {
  const int n = c->patch_size;
  if (!(plane->height > 0) || !(c->max_height > 0))
    return RV_ROAD_BUDGET_ONE;
  const double maximum = c->ground_threshold_scale * c->ground_threshold_scale * RV_ROAD_BUDGET_ONE;
  if (2 * valid < n * n)
    return (uint32_t)(maximum / 4);
  const double d = (double)depth / (16.0 * valid), scale = plane->height / d; /* m per px */
  const double height = (d - rv_road_plane_at(plane, x, y, n)) * scale;
  const double above = c->max_height + RV_ROAD_SIGMAS * c->disparity_noise * scale;
  const double ratio = height / (height < 0 ? RV_ROAD_BELOW_FACTOR * above : above);
  const double rest = 1 - ratio * ratio;
  return rest > 0 ? (uint32_t)(rest * maximum) : 0;
}

/* --- Models ---------------------------------------------------------------------------------- */

/* Divides the weights by their sum, which is formed in their order. */
RV_HD void rv_road_normalize(double *weight, int count) {
  double sum = 0;
  for (int j = 0; j < count; j++)
    sum = sum + weight[j];
  for (int j = 0; j < count && sum > 0; j++)
    weight[j] = weight[j] / sum;
}

/* Effective dimensions of a model: cells whose variance is above the floor. The squared distance of
 * a sample to its own model is about their number: cells at the floor hardly add to it. */
RV_HD int rv_road_is_dimension(double variance, double floor_of_variance) {
  return variance > floor_of_variance;
}

/* Cost below which a sample updates a model; `limit` is rv_road_limit of update_threshold. */
RV_HD double rv_road_update_limit(double limit, int dimensions) {
  return limit * (dimensions > 1 ? dimensions : 1);
}

/* 1 when `left` unmatched of all `samples` are too few for a new model, but too many to be kept:
 * outliers. */
RV_HD int rv_road_are_outliers(int left, int samples, double min_share) {
  return (double)left < min_share * (double)samples;
}

/* Of Mahalanobis' distance, in 1/256, with scale = 256 / variance. */
RV_HD uint32_t rv_road_scaled_cost(int count, double mean, double scale) {
  const double off = (double)count - mean;
  return (uint32_t)(off * off * scale + 0.5);
}

/* The same between the means of two models, for the larger variance of a cell. The sum over all
 * cells is below 2^32, as for rv_road_cost. */
RV_HD uint32_t rv_road_gap_scaled(double mean, double other, double scale) {
  const double off = mean - other;
  return (uint32_t)(off * off * scale + 0.5);
}
RV_HD uint32_t rv_road_gap_part(double mean, double other, double larger_variance) {
  return rv_road_gap_scaled(mean, other, 256 / larger_variance);
}

/* Order of the pairs of models i < j: the nearest per dimension, in 1/65536, on a tie the first. */
RV_HD uint64_t rv_road_gap_key(uint32_t sum, int dimensions, int i, int j) {
  const uint64_t gap = ((uint64_t)sum << 8) / (uint32_t)(dimensions > 1 ? dimensions : 1);
  return gap << 16 | (uint32_t)(j << 8 | i);
}

/* 1 when the pair of a key is to be merged. */
RV_HD int rv_road_is_alike(uint64_t key, double merge_threshold) {
  return (double)(key >> 16) < merge_threshold * merge_threshold * 65536;
}

/* Moments of a cell of two models of weight u and v, at least one above 0, together. */
typedef struct RvRoadMoments {
  double mean, variance;
} RvRoadMoments;

RV_HD RvRoadMoments rv_road_unite(RvRoadMoments a, double u, RvRoadMoments b, double v, int area) {
  const double most = (double)area * area; /* of counts; a floor of 1 is as much */
  RvRoadMoments m;
  m.mean = (u * a.mean + v * b.mean) / (u + v);
  const double x = a.mean - m.mean, y = b.mean - m.mean;
  m.variance = (u * (a.variance + x * x) + v * (b.variance + y * y)) / (u + v);
  m.variance = m.variance < most ? m.variance : most;
  return m;
}

/* Every distance is a sum (or maximum) over the cells of a table entry [model][cell][count].
 * Largest sums: Mahalanobis (2 n^2)^2 / (1e-6 n^4) * 256 = 1.02e9; chi-square (1 + n^2) * 2^16 =
 * 1.5e7. */
RV_HD uint32_t rv_road_cost(RvRoadDistance distance, int count, int area, double mean,
                            double variance) {
  const double p = (double)count / area, m = mean / area;
  switch (distance) {
  case RV_ROAD_MAHALANOBIS:
    return rv_road_scaled_cost(count, mean, 256 / variance);
  case RV_ROAD_EUCLIDEAN:
    return (uint32_t)((p - m) * (p - m) * 16777216 + 0.5);
  case RV_ROAD_HELLINGER:
    return (uint32_t)(sqrt(p * m) * 16777216 + 0.5);
  case RV_ROAD_CHI_SQUARE:
    return count ? (uint32_t)((p - m) * (p - m) / p * 65536 + 0.5) : 0;
  default:
    return (uint32_t)((p > m ? p - m : m - p) * 65536 + 0.5);
  }
}

/* From the sum over the cells; for all distances, smaller is nearer. */
RV_HD uint32_t rv_road_combined_cost(RvRoadDistance distance, uint32_t sum) {
  if (distance != RV_ROAD_HELLINGER)
    return sum;
  return sum < 16777216 ? 16777216 - sum : 0;
}

/* Distance from the combined cost. */
RV_HD double rv_road_length(RvRoadDistance distance, uint32_t cost) {
  switch (distance) {
  case RV_ROAD_MAHALANOBIS:
    return sqrt(cost / 256.0);
  case RV_ROAD_EUCLIDEAN:
  case RV_ROAD_HELLINGER:
    return sqrt(cost / 16777216.0);
  default:
    return cost / 65536.0;
  }
}

/* Threshold in the unit of rv_road_combined_cost. */
RV_HD double rv_road_limit(RvRoadDistance distance, double threshold) {
  switch (distance) {
  case RV_ROAD_MAHALANOBIS:
    return threshold * threshold * 256;
  case RV_ROAD_EUCLIDEAN:
  case RV_ROAD_HELLINGER:
    return threshold * threshold * 16777216;
  default:
    return threshold * 65536;
  }
}

/* Limit of the score and of rv_road_persist: from it on, a patch is road-like. */
#define RV_ROAD_LIKE 128

/* (distance / classify_threshold)^2 in 1/65536 of a patch with combined cost `cost` to the nearest
 * model; `limit` is rv_road_limit of classify_threshold. */
RV_HD double rv_road_color(RvRoadDistance distance, uint32_t cost, double limit) {
  const double share = (double)cost / limit;
  const int is_squared = distance == RV_ROAD_MAHALANOBIS || distance == RV_ROAD_EUCLIDEAN ||
                         distance == RV_ROAD_HELLINGER;
  return (is_squared ? share : share * share) * RV_ROAD_BUDGET_ONE;
}

/* The score of a patch by color and height: 255 (1 - t / 2), where t is the sum of the rule in step
 * 5 and 1 its limit, from 0 to 255, rounded so that exactly the road-like patches have at least
 * RV_ROAD_LIKE. `scale` is that of rv_road_budget_scale. */
RV_HD int rv_road_score(double color, uint32_t budget, double scale) {
  const double rest = ((double)budget - color) / (scale * RV_ROAD_BUDGET_ONE); /* 1 - t */
  const int score = rest > -1 ? (int)(127.5 * (1 + (rest < 1 ? rest : 1))) : 0;
  return color < (double)budget ? rv_max(score, RV_ROAD_LIKE) : rv_min(score, RV_ROAD_LIKE - 1);
}

/* Squared ground_threshold_scale where height counts, else 1. */
RV_HD double rv_road_budget_scale(const RvRoadConfig *c, double plane_height) {
  return plane_height > 0 && c->max_height > 0
             ? c->ground_threshold_scale * c->ground_threshold_scale
             : 1;
}

/* The mask over time: how road-like a patch was lately, 1 to 255, after a frame in which it is
 * road-like or not; from RV_ROAD_LIKE on it is road-like. 0 = no frame yet. `rate` is 256 / (1 +
 * persistence), rounded; 256 = only this frame counts. */
RV_HD int rv_road_persist(int lately, int is_like, int rate) {
  const int to = is_like ? 255 : 1;
  return lately == 0 ? to : lately + ((to - lately) * rate + (is_like ? 255 : 0)) / 256;
}

/* --- Lateral profile -------------------------------------------------------------------------- */

/* How much of the near ground was road lately, by its distance to the side of the optical axis. */
#define RV_ROAD_STRIPS 64           /* along the way, on both sides of the axis together */
#define RV_ROAD_STRIPS_PER_WIDTH 12 /* near_width / 12 wide each: 0.25 m */
#define RV_ROAD_STRIP_RATE 8        /* frames: time constant */
#define RV_ROAD_STRIP_REACH 2       /* strips to each side that are added to one */
#define RV_ROAD_STRIP_SEEN 16       /* least patches of all of them */
#define RV_ROAD_STRIP_COLOR 0.4  /* of the color budget: largest of a patch that counts as road */
#define RV_ROAD_STRIP_LEAST 0.25 /* scale of the color budget where nothing was road */

/* Patches of a strip on the ground, and those among them with the color of road, in 1/256. */
typedef struct RvRoadStrip {
  uint32_t seen, road;
} RvRoadStrip;

/* The strip that patch (x, y) shows, were there nothing but the plane; -1: none. */
RV_HD int rv_road_strip_of(const RvRoadConfig *c, const RvRoadPlane *plane, int x, int y) {
  if (!(plane->height > 0) || !(c->near_width > 0) || !(c->lateral_scale > 1))
    return -1;
  const int n = c->patch_size;
  const double d = rv_road_plane_at(plane, x, y, n);
  const double reach = (x * n + 0.5 * (n - 1) - c->camera.cx) * c->camera.baseline;
  const double at = reach * RV_ROAD_STRIPS_PER_WIDTH + RV_ROAD_STRIPS / 2 * c->near_width * d;
  const double end = RV_ROAD_STRIPS * c->near_width * d;
  return d > 1 && at >= 0 && at < end ? rv_min((int)(at / (c->near_width * d)), RV_ROAD_STRIPS - 1)
                                      : -1;
}

/* What a patch with color budget `budget` adds to its strip in a frame with seeds: 1, and 2^32 when
 * its color is that of road with less than the budget. 0: it is far, or not on the ground. */
RV_HD uint64_t rv_road_strip_vote(const RvRoadConfig *c, const RvRoadPlane *plane, int x, int y,
                                  double color, uint32_t budget, int is_seed) {
  const double d = rv_road_plane_at(plane, x, y, c->patch_size);
  if (budget == 0 || !(d * c->near_range > c->camera.focal * c->camera.baseline))
    return 0;
  return 1 | (uint64_t)(is_seed || color < RV_ROAD_STRIP_COLOR * (double)budget) << 32;
}

/* A strip after a frame with these votes. */
RV_HD RvRoadStrip rv_road_strip_next(RvRoadStrip lately, uint64_t votes) {
  const int64_t seen = (int64_t)(votes & UINT32_MAX) * 256, road = (int64_t)(votes >> 32) * 256;
  const int rate = lately.seen ? RV_ROAD_STRIP_RATE : 1;
  RvRoadStrip next = lately;
  if (seen) {
    next.seen = (uint32_t)(lately.seen + (seen - lately.seen) / rate);
    next.road = (uint32_t)(lately.road + (road - lately.road) / rate);
  }
  return next;
}

/* Scale of the color budget on strip k, in 1/256: from RV_ROAD_STRIP_LEAST, where nothing was road,
 * to lateral_scale^2, where all was; 1 at one half, and where too little was seen. */
RV_HD uint32_t rv_road_strip_scale(const RvRoadStrip *strips, int k, double lateral_scale) {
  const double most = lateral_scale * lateral_scale;
  uint64_t seen = 0, road = 0;
  for (int i = rv_max(k - RV_ROAD_STRIP_REACH, 0);
       i <= rv_min(k + RV_ROAD_STRIP_REACH, RV_ROAD_STRIPS - 1); i++) {
    seen += strips[i].seen;
    road += strips[i].road;
  }
  if (seen < RV_ROAD_STRIP_SEEN * 256)
    return 256;
  const double off = 2 * (double)road / (double)seen - 1; /* -1 to 1 */
  const double scale = off > 0 ? 1 + (most - 1) * off : 1 + (1 - RV_ROAD_STRIP_LEAST) * off;
  return (uint32_t)(scale * 256 + 0.5);
}

/* A color budget with the scale of a strip. */
RV_HD uint32_t rv_road_strip_budget(uint32_t budget, uint32_t scale) {
  return (uint32_t)((uint64_t)budget * scale / 256);
}

/* --- Frames without seeds --------------------------------------------------------------------- */

/* What is kept of a patch from the last frame with seeds. 0: there was none yet. In a frame without
 * seeds it marks the components that remain, as a seed does in the others. */
#define RV_ROAD_KEPT 4      /* there was one */
#define RV_ROAD_KEPT_ROAD 2 /* and the patch was road in it */
/* Patches to each side of what was road: near the camera, road is within. */
#define RV_ROAD_KEPT_REACH 2

RV_HD uint8_t rv_road_kept(int is_road) {
  return is_road ? RV_ROAD_KEPT | RV_ROAD_KEPT_ROAD : RV_ROAD_KEPT;
}

/* 1 when patch (x, y) is nearer than near_range, were there nothing but the plane; 0 without. */
RV_HD int rv_road_is_near(const RvRoadConfig *c, const RvRoadPlane *plane, int x, int y) {
  const double d = rv_road_plane_at(plane, x, y, c->patch_size);
  return plane->height > 0 && d * c->near_range > c->camera.focal * c->camera.baseline;
}

/* Natural logarithm of v > 0 from + - * / alone, within 1e-12: v = f 2^e, 2 artanh((f-1)/(f+1)). */
RV_HD double rv_road_log(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  double f;
  memcpy(&f, &bits, sizeof f);
  if (f > 1.4142135623730951) {
    f = f / 2;
    exponent++;
  }
  const double t = (f - 1) / (f + 1), tt = t * t;
  double sum = 0;
  for (int k = 17; k >= 1; k -= 2)
    sum = sum * tt + 1.0 / k;
  return 2 * t * sum + exponent * 0.69314718055994531;
}

/* Likelihoods are in 1/512 nat, the unit of half a Mahalanobis cost. */
#define RV_ROAD_NAT 512
#define RV_ROAD_EXP_SIZE (12 * RV_ROAD_NAT) /* exp(-i / 512) in 1/65536; beyond, 0 */
#define RV_ROAD_LOG_STEP 1024               /* of a sum of such numbers, 65536 .. k * 65536 */
#define RV_ROAD_LOG_SIZE ((RV_ROAD_LIBRARY_MAX + 1) * 65536 / RV_ROAD_LOG_STEP)

/* Contribution of a cell to the logarithm of a model's determinant, in 1/2^32 nat: an integer,
 * so that the sum is the same in any order. */
RV_HD int64_t rv_road_log_part(double variance) {
  return (int64_t)(rv_road_log(variance) * 4294967296.0);
}

/* log w - log det / 2 in 1/512 nat; a model without weight is never nearest. */
RV_HD int64_t rv_road_prior(double weight, int64_t log_det) {
  if (!(weight > 0))
    return -((int64_t)1 << 40);
  const double v = (rv_road_log(weight) - (double)log_det / 8589934592.0) * RV_ROAD_NAT;
  return (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
}

/* --- Number of models ------------------------------------------------------------------------ */

/* Maximum number of clustered samples, since agglomerative clustering is cubic. A sample is
 * assigned to a bucket by its key (the index of a pending sample; else their number + its
 * patch), and the first of each bucket represents all of them. The multiplier spreads
 * neighboring keys evenly. */
#define RV_ROAD_EXEMPLARS 128
#define RV_ROAD_CLUSTER_SHARE 32 /* minimum size of a model: exemplars / 32 */

RV_HD int rv_road_bucket(uint32_t key) {
  return (int)(key * 0x9e3779b1u >> 25);
}

/* Euclidean distance in 1/256 px of two samples whose squared distance is given: below 2^17. */
RV_HD uint32_t rv_road_sample_distance(uint32_t squared) {
  return (uint32_t)(sqrt((double)squared) * 256 + 0.5);
}

/* (9): mean distance of clusters of a and b exemplars in 1/2048 px, rounded down. `sum` is over all
 * pairs, at most 64 x 64 of 2^0.5 225 x 256. */
RV_HD uint32_t rv_road_link(uint32_t sum, int a, int b) {
  return sum * 8 / (uint32_t)(a * b);
}

/* (10) for `groups` clusters of `count` exemplars; 1e300 when no cluster has any spread. */
RV_HD double rv_road_pseudo_f(double all, double within, int count, int groups) {
  if (!(within > 0))
    return 1e300;
  return (all - within) / (groups - 1) / (within / (count - groups));
}

/* 1 when a cluster of `size` of the `count` exemplars of `samples` samples may be a model. */
RV_HD int rv_road_is_cluster_valid(int size, int count, int samples, int min_samples) {
  return size * RV_ROAD_CLUSTER_SHARE >= count &&
         (int64_t)size * samples >= (int64_t)min_samples * count;
}

/* 1 when the likelihood changes by less than 1e-4 of itself. */
RV_HD int rv_road_em_converged(int64_t before, int64_t now) {
  const int64_t change = now > before ? now - before : before - now;
  return change * 10000 <= (now < 0 ? -now : now);
}

#endif
