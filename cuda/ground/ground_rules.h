/* SPDX-License-Identifier: MIT */
/* ground_rules.h: constants, number formats and scalar rules of the ground estimation, shared by
 * both engines. Internal.
 *
 * The plane is kept as D = a u + b v + c, with D = disparity + doffs in px, u and v in px from the
 * center of the top-left pixel. Sums over cells are integers; doubles use + - x / sqrt floor only,
 * in a fixed order. */
#ifndef RV_GROUND_RULES_H
#define RV_GROUND_RULES_H

#include <math.h>
#include <stdint.h>

#include "ground/ground.h"
#include "rv_hd.h"
#include "rv_plane_fit.h"

#define RV_GROUND_CELL_MIN 3 /* px */
#define RV_GROUND_CELL_MAX 16
#define RV_GROUND_BIN_MIN 8           /* 1/16 px of D */
#define RV_GROUND_NO_CELL 0xffffffffu /* mean of a cell with too few valid pixels */

/* Candidate lines of the v-disparity: horizons from a quarter of the height above the image to
 * three quarters below its top, and disparities of 2, 4, ... px in the last row. */
#define RV_GROUND_HORIZONS 64
#define RV_GROUND_BOTTOMS 127
#define RV_GROUND_LINES (RV_GROUND_HORIZONS * RV_GROUND_BOTTOMS)
#define RV_GROUND_BANDS_MAX 96 /* rows of the v-disparity */
#define RV_GROUND_DEPTHS 256   /* bins of 1 px; larger disparities do not vote */
#define RV_GROUND_DEPTH_MIN 4  /* px; below, background lies on any line */

#define RV_GROUND_FIT_ROUNDS 4
#define RV_GROUND_FIT_SHARE 256 /* minimum fraction of all cells on the plane, and 16 cells */
#define RV_GROUND_FIT_MIN 16
#define RV_GROUND_FIT_NEAR 3 /* from round 1: D at least this part of that in the last row */

#define RV_GROUND_REACH 79 /* offset steps of the profile in each direction */
#define RV_GROUND_OFFSETS (2 * RV_GROUND_REACH + 1)
#define RV_GROUND_PROFILE_MIN 512 /* 1/256 px of D */
#define RV_GROUND_ON_SCORE 256    /* of the offset with the most cells of a bin */
#define RV_GROUND_BELOW_COST 768  /* of as many cells below */
#define RV_GROUND_BELOW_MAX 128   /* maximum cost of cells below */
#define RV_GROUND_VOTES_FULL 8    /* cells on an offset; fewer count as a fraction of so many */
#define RV_GROUND_VOTES_MIN 6     /* cells of the first and of the last bin of the profile */

#define RV_GROUND_BEND_BINS 64   /* farthest bins, in which the ground may bend */
#define RV_GROUND_BEND_SLOPES 20 /* slopes in each direction, 1/2 offset step per bin apart */
#define RV_GROUND_BEND_COST 20   /* per slope */
#define RV_GROUND_BEND_REACH 2   /* maximum distance of cells from a bend, offset steps */

#define RV_GROUND_WINDOW 12 /* offset steps of the path about the bend in each direction */
#define RV_GROUND_PLACES (2 * RV_GROUND_WINDOW + 1)
#define RV_GROUND_STEPS 3 /* maximum offset steps between neighboring bins */
#define RV_GROUND_STEP_COST 12
#define RV_GROUND_START_COST 8
#define RV_GROUND_PULL_COST 2 /* per bin and offset step from the bend */
#define RV_GROUND_SMOOTH 3    /* bins to either side that a value of the profile is made from */

#define RV_GROUND_KNOWN 8 /* estimates, after which the camera height is known */

/* Constants of an object. */
typedef struct RvGroundPlan {
  RvGroundConfig config;
  int width, height, n; /* px; n x n px per cell */
  int columns, rows, cells;
  int band, bands;  /* rows of cells per row of the v-disparity, and their number */
  int doffs;        /* 1/16 px */
  int is_metric;    /* 1 when focal length and baseline are known */
  double cx, cy;    /* px */
  double focal;     /* px; 1 when unknown */
  double baseline;  /* m; 1 when unknown */
  double near, far; /* px of u per 1/256 px of D: half width of the near and the profile strip */
  double low, high; /* squared limits of the camera height, m^2 */
  int bin;          /* 1/16 px of D */
  int step;         /* 1/16 row per offset step of the profile */
  /* Plane of the camera's height and pitch; all 0 when it is unknown. */
  double camera_slope, camera_intercept, camera_height;
} RvGroundPlan;

typedef struct RvGroundPlane {
  double a, b, c;
} RvGroundPlane;

/* Kept from frame to frame. */
typedef struct RvGroundState {
  RvGroundSurface last; /* intercept with doffs */
  double known;         /* camera height, m */
  int32_t found;        /* estimates that `known` follows, up to RV_GROUND_KNOWN */
  int32_t reserved;
} RvGroundState;

/* --- Cells ----------------------------------------------------------------------------------- */

/* Mean of `valid` of `pixels` disparities with the sum `sum` in 1/16 px, doffs included; 1/256 px.
 */
RV_HD uint32_t rv_ground_cell(uint32_t sum, int valid, int pixels) {
  return 2 * valid < pixels
             ? RV_GROUND_NO_CELL
             : (uint32_t)(((uint64_t)sum * 16 + (unsigned)valid / 2) / (unsigned)valid);
}

/* Center of cell x, in px. */
RV_HD double rv_ground_center(int x, int n) {
  return x * n + 0.5 * (n - 1);
}

/* 1 when column u lies within `half` of the camera's axis; `half` as RvGroundPlan.near. */
RV_HD int rv_ground_within(const RvGroundPlan *p, double u, uint32_t mean, double half) {
  const double beside = u < p->cx ? p->cx - u : u - p->cx;
  return beside <= half * (double)mean;
}

/* --- Lines ----------------------------------------------------------------------------------- */

RV_HD int rv_ground_horizon(int index, int height) {
  return rv_line_horizon(index, RV_GROUND_HORIZONS, height);
}

/* Bin of a line at row v; -1 where it is ignored. */
RV_HD int rv_ground_line(int v, int horizon, int bottom, int height) {
  const int d = rv_line_at(v, horizon, bottom, height);
  return d >= RV_GROUND_DEPTH_MIN && d < RV_GROUND_DEPTHS ? d : -1;
}

/* Row of the image at the center of a band. */
RV_HD int rv_ground_band_row(const RvGroundPlan *g, int band) {
  return (2 * band + 1) * g->band * g->n / 2;
}

/* Largest key: most votes, ties: lowest index. 0 without votes. */
RV_HD uint64_t rv_ground_key(uint32_t votes, int index) {
  return votes ? (uint64_t)votes << 32 | (0xffffffffu - (uint32_t)index) : 0;
}

RV_HD uint32_t rv_ground_votes(uint64_t key) {
  return (uint32_t)(key >> 32);
}

RV_HD int rv_ground_index(uint64_t key) {
  return (int)(0xffffffffu - (uint32_t)key);
}

RV_HD RvGroundPlane rv_ground_line_plane(int index, int height) {
  const int horizon = rv_ground_horizon(index / RV_GROUND_BOTTOMS, height);
  const double b =
      (double)rv_line_bottom(index % RV_GROUND_BOTTOMS) / rv_max(height - 1 - horizon, 1);
  const RvGroundPlane plane = {0, b, -b * horizon};
  return plane;
}

/* --- Plane ----------------------------------------------------------------------------------- */

RV_HD double rv_ground_at(const RvGroundPlane *p, double u, double v) {
  return p->a * u + p->b * v + p->c;
}

/* 1 when a cell is used in a round of the fit. */
RV_HD int rv_ground_takes(const RvGroundPlan *g, const RvGroundPlane *p, double u, double v,
                          uint32_t mean, int round) {
  if (mean == RV_GROUND_NO_CELL || !rv_ground_within(g, u, mean, g->near))
    return 0;
  const double ground = rv_ground_at(p, u, v), off = (double)mean / 256 - ground;
  if (round > 0 && ground * RV_GROUND_FIT_NEAR < rv_ground_at(p, u, g->height - 1))
    return 0;
  return ground >= RV_GROUND_DEPTH_MIN && (off < 0 ? -off : off) <= rv_plane_reach(round, ground);
}

/* The plane of the sums of a round; 0 for too few cells or cells on a line. */
RV_HD int rv_ground_solve(const RvGroundPlan *g, const RvPlaneSums *s, RvGroundPlane *p) {
  return s->n >= rv_max(RV_GROUND_FIT_MIN, g->cells / RV_GROUND_FIT_SHARE) &&
         rv_plane_solve(s, g->n, &p->a, &p->b, &p->c);
}

RV_HD double rv_ground_height_squared(const RvGroundPlan *g, const RvGroundPlane *p) {
  const double center = p->c + p->a * g->cx + p->b * g->cy;
  return rv_plane_height_squared(p->a, p->b, center, g->focal, g->baseline);
}

/* Squared limits of the camera height in this frame. */
typedef struct RvGroundLimits {
  double low, high;
} RvGroundLimits;

#define RV_GROUND_WIDER 4 /* frames of memory after which the limits do not widen further */

/* Where the grade changes, the height of the plane leaves the limits about the known one: each
 * frame from memory widens them. */
RV_HD RvGroundLimits rv_ground_limits(const RvGroundPlan *g, const RvGroundState *s) {
  RvGroundLimits limits = {g->low, g->high};
  if (s->found < RV_GROUND_KNOWN)
    return limits;
  double low = s->known * s->known, high = low;
  for (int i = 0; i <= rv_min(s->last.age, RV_GROUND_WIDER); i++) {
    low *= 0.5625;
    high *= 1.7777777777777777;
  }
  limits.low = low > g->low ? low : g->low;
  limits.high = high < g->high ? high : g->high;
  return limits;
}

/* 1 when the plane may be ground: the disparity grows downwards, and the camera height is within
 * its limits when it is known. */
RV_HD int rv_ground_plausible(const RvGroundPlan *g, const RvGroundLimits *limits,
                              const RvGroundPlane *p) {
  const double squared = rv_ground_height_squared(g, p);
  return p->b > 0 && (!g->is_metric || (squared >= limits->low && squared <= limits->high));
}

/* --- Profile --------------------------------------------------------------------------------- */

/* Bin of a cell, or -1 when it is ignored. */
RV_HD int rv_ground_bin(const RvGroundPlan *g, uint32_t mean) {
  if (mean == RV_GROUND_NO_CELL || mean < RV_GROUND_PROFILE_MIN)
    return -1;
  const int bin = (int)(mean / 16) / g->bin;
  return bin < RV_GROUND_BINS ? bin : -1;
}

/* Offset of a cell above the plane in steps, 0..RV_GROUND_OFFSETS - 1; -1 when it is out of reach.
 */
RV_HD int rv_ground_offset(const RvGroundPlan *g, const RvGroundPlane *p, double u, double v,
                           uint32_t mean) {
  const double row = ((double)mean / 256 - p->c - p->a * u) / p->b;
  const double steps = (row - v) * 16 / g->step + 0.5;
  if (!(steps >= -RV_GROUND_REACH && steps < RV_GROUND_REACH + 1))
    return -1;
  return (int)floor(steps) + RV_GROUND_REACH;
}

/* Cells within one step of the fullest offset of a bin, what its scores are divided by; `inverse`
 * saves the code of an integer division. */
typedef struct RvGroundFull {
  int cells;
  float inverse;
} RvGroundFull;

RV_HD RvGroundFull rv_ground_full(int most) {
  const int cells = rv_max(most, RV_GROUND_VOTES_FULL);
  const RvGroundFull full = {cells, 1.0f / (float)cells};
  return full;
}

/* n / cells for n >= 0, exact: no offset has more cells than the fullest one, so that the quotient
 * is at most RV_GROUND_BELOW_COST * RV_GROUND_OFFSETS, and that of floats off by one at most. */
RV_HD int rv_ground_part(const RvGroundFull *full, int n) {
  const int q = (int)((float)n * full->inverse), rest = n - q * full->cells;
  return q + (rest >= full->cells) - (rest < 0);
}

/* Score of an offset with `on` cells within one step and `below` cells farther below. */
RV_HD int rv_ground_score(const RvGroundFull *full, int on, int below) {
  return rv_ground_part(full, RV_GROUND_ON_SCORE * on) -
         rv_min(rv_ground_part(full, RV_GROUND_BELOW_COST * below), RV_GROUND_BELOW_MAX);
}

/* The bend: from bin `knee` on towards the far end the ground leaves the plane with a slope. */
typedef struct RvGroundBend {
  int knee, slope;
} RvGroundBend;

/* Candidates of a profile that begins at bin `first`; index 0 is no bend. */
RV_HD RvGroundBend rv_ground_bend(int index, int first) {
  const int k = index - 1, slope = k % (2 * RV_GROUND_BEND_SLOPES) - RV_GROUND_BEND_SLOPES;
  const RvGroundBend none = {first, 0};
  const RvGroundBend bend = {first + 1 + k / (2 * RV_GROUND_BEND_SLOPES), slope + (slope >= 0)};
  return index > 0 ? bend : none;
}

/* Number of candidates of a profile of bins first..last. */
RV_HD int rv_ground_bends(int first, int last) {
  const int knees = rv_min(last, RV_GROUND_BEND_BINS) - first;
  return 1 + rv_max(knees, 0) * 2 * RV_GROUND_BEND_SLOPES;
}

/* Offset of the bend in a bin, relative to the plane. */
RV_HD int rv_ground_bend_at(const RvGroundBend *bend, int bin) {
  const int steps = bend->slope * (bend->knee - bin);
  const int rounded = (steps + (steps < 0 ? -1 : 1)) / 2;
  return bin < bend->knee ? rv_clamp(rounded, -RV_GROUND_REACH, RV_GROUND_REACH) : 0;
}

/* Index in a bin's offsets of place 0..RV_GROUND_PLACES - 1 of the path. */
RV_HD int rv_ground_place(int base, int place) {
  return rv_clamp(base + place - RV_GROUND_WINDOW + RV_GROUND_REACH, 0, RV_GROUND_OFFSETS - 1);
}

/* Score of a place of the path, from that of its offset. */
RV_HD int rv_ground_pulled(int score, int place) {
  return score - RV_GROUND_PULL_COST * rv_abs(place - RV_GROUND_WINDOW);
}

/* Rank of a step -3..3 among steps of equal cost: 0, -1, 1, -2, ... The same order ranks places
 * from the middle. */
RV_HD int rv_ground_rank(int step) {
  return step < 0 ? -2 * step - 1 : 2 * step;
}

RV_HD int rv_ground_step(int rank) {
  return rank & 1 ? -((rank + 1) / 2) : rank / 2;
}

/* Costs are compared together with the rank of the step that led to them: cost * 8 + rank. */
#define RV_GROUND_INFINITE INT32_MAX

RV_HD int32_t rv_ground_start(int place) {
  return 8 * RV_GROUND_START_COST * rv_abs(place - RV_GROUND_WINDOW);
}

RV_HD int32_t rv_ground_reached(int32_t cost, int rank) {
  return 8 * (cost + RV_GROUND_STEP_COST * rv_abs(rv_ground_step(rank))) + rank;
}

RV_HD int rv_ground_rank_of(int32_t reached) {
  return reached & 7;
}

RV_HD int32_t rv_ground_cost_of(int32_t reached) {
  return reached >> 3;
}

/* What the end of the path, in the farthest bin, is compared by. */
RV_HD int32_t rv_ground_end(int32_t cost, int place) {
  return 128 * cost + rv_ground_rank(place - RV_GROUND_WINDOW);
}

/* `base` and the mean of `count` offsets with the sum `sum`, in 1/16 row rounded to nearest. */
RV_HD int rv_ground_mean(const RvGroundPlan *g, int base, int sum, int count) {
  return rv_div_floor(2 * (sum + base * count) * g->step + count, 2 * count);
}

/* Intercept without doffs. */
RV_HD double rv_ground_intercept(const RvGroundPlan *g, const RvGroundSurface *last) {
  return last->source == RV_GROUND_NONE ? 0 : last->intercept - g->doffs / 16.0;
}

/* --- Track ----------------------------------------------------------------------------------- */

/* State after a frame, all but the profile; `seen` is NULL without a plausible plane. Returns 1
 * when the profile is to be made, 0 when it stays, -1 when it becomes 0. */
RV_HD int rv_ground_follow(const RvGroundPlan *g, const RvGroundPlane *seen, int cells,
                           RvGroundState *s) {
  RvGroundSurface *last = &s->last;
  if (seen) {
    const int follows = s->found && last->age == 0; /* after the frames of memory it starts again */
    last->slope_x = seen->a;
    last->slope_y = seen->b;
    last->intercept = seen->c;
    last->height = g->is_metric ? sqrt(rv_ground_height_squared(g, seen)) : 0;
    last->source = RV_GROUND_ESTIMATE;
    last->age = 0;
    last->cells = cells;
    s->known = follows ? s->known + (last->height - s->known) / 8 : last->height;
    s->found = g->is_metric ? rv_min(s->found + 1, RV_GROUND_KNOWN) : 0;
    return g->config.profile ? 1 : -1;
  }
  const int is_kept = (last->source == RV_GROUND_ESTIMATE || last->source == RV_GROUND_MEMORY) &&
                      last->age < g->config.memory;
  if (is_kept) {
    last->source = RV_GROUND_MEMORY;
    last->age++;
    return 0;
  }
  last->slope_x = 0;
  last->slope_y = g->camera_slope;
  last->intercept = g->camera_intercept;
  last->height = g->camera_height;
  last->source = g->camera_height > 0 ? (int)RV_GROUND_CAMERA : RV_GROUND_NONE;
  last->age = last->cells = 0;
  s->found = 0;
  return -1;
}

#endif
