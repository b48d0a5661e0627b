/* SPDX-License-Identifier: MIT */
/* lanes_rules.h: constants, scalar rules and tie-breaks of the lane lines, compiled into both
 * engines. Internal.
 *
 * A row is described by q: with RV_LANES_GROUND_ESTIMATE the disparity of its ground in 1/256 px,
 * with RV_LANES_GROUND_CAMERA its distance from the horizon in 1/256 rows. In both cases
 * Z = z_scale / q in cm and X = (u - cx) x_scale / q in mm. */
#ifndef RV_LANES_RULES_H
#define RV_LANES_RULES_H

#include "lanes/lanes.h"
#include "rv_hd.h"

#define RV_LANES_COLUMNS 4096 /* of a row that is searched */
#define RV_LANES_ROWS 810     /* sampled rows of the tallest image */
#define RV_LANES_ROW_HITS 48
#define RV_LANES_WIDTH_MAX 255 /* columns of a marking */
#define RV_LANES_Q_MAX (1 << 24)
#define RV_LANES_NO_ROW INT32_MAX /* row of a bin of the ground that is not valid */
#define RV_LANES_Z_MIN 400        /* cm */
#define RV_LANES_Z_TOP 8191       /* cm: range of a point */
#define RV_LANES_X_TOP 16383      /* mm, likewise */
#define RV_LANES_X_MAX 9000       /* mm to each side that is searched */
#define RV_LANES_DZ_MAX 500       /* mm */
#define RV_LANES_CONTRAST_FULL 40
#define RV_LANES_BALANCE 8 /* gray levels by which both sides may differ */
#define RV_LANES_NOISE 2   /* times the mean |C - L| of a row that a mark must exceed */
#define RV_LANES_PSIS 41
#define RV_LANES_KAPPAS 25
#define RV_LANES_KAPPAS_CAMERA 13
#define RV_LANES_HORIZONS 9
#define RV_LANES_COARSE 4  /* times the step while the horizon is unknown */
#define RV_LANES_MEMORY 15 /* frames without lines that the horizon is kept */
#define RV_LANES_BINS 160
#define RV_LANES_BIN 100       /* mm */
#define RV_LANES_FIRST (-8000) /* mm */
#define RV_LANES_FULL 400000u  /* 20 m of contrast 20, mm */
#define RV_LANES_SCORE_SHIFT 8
#define RV_LANES_RANK_BITS 14
#define RV_LANES_APART 8      /* bins between maxima */
#define RV_LANES_LEAST 30000u /* 3 m of contrast 10, mm */
#define RV_LANES_ROUNDS 3
#define RV_LANES_VALUE_SHIFT 4 /* of values in sums */
#define RV_LANES_SLICE_CM 50
#define RV_LANES_SIDE 500      /* mm beside a line at which the height is measured */
#define RV_LANES_SIDE_FAR 2000 /* cm up to which it is */
#define RV_LANES_SIDE_TOP 500  /* mm: higher things are objects */

/* A row, in columns of the averaged image. */
typedef struct RvLanesRow {
  int32_t q;      /* 0: not used */
  int32_t k, g;   /* width of a marking, gap */
  int32_t dz;     /* mm */
  int32_t lo, hi; /* first and last center of a marking; hi < lo: none */
} RvLanesRow;

/* Constants of an object: the config, and what is derived from it. */
typedef struct RvLanesPlan {
  RvLanesConfig config;
  int width, height;
  int n, columns;   /* columns averaged, and their number */
  int stride, rows; /* rows per sampled one, and their number */
  int hits;         /* marks of a frame at most */
  int is_camera;
  int horizons, kappas, spaces;
  int doffs;                       /* 1/16 px */
  int cx;                          /* 1/16 px */
  int horizon;                     /* 1/16 px: expected */
  int horizon_step;                /* 1/16 px */
  int z_max;                       /* cm */
  int mark;                        /* mm */
  int64_t z_scale, x_scale;        /* see above */
  double axis;                     /* px: column of the camera's axis */
  double baseline;                 /* m */
  int32_t psi[RV_LANES_PSIS];      /* mm per cm in 1/8192 */
  int32_t kappa[RV_LANES_KAPPAS];  /* mm per 1024 cm^2 in 1/65536 */
  uint32_t prior[RV_LANES_KAPPAS]; /* 1/1024 */
  uint32_t horizon_prior[RV_LANES_HORIZONS];
  double psi_step, kappa_step; /* rad, 1/m */
} RvLanesPlan;

/* What is kept between frames. */
typedef struct RvLanesState {
  int32_t horizon; /* 1/16 px */
  int32_t known;   /* frames without lines until it counts as unknown; 0: it does */
} RvLanesState;

/* What a frame adds. */
typedef struct RvLanesView {
  int32_t horizon; /* 1/16 px: center of the candidates */
  int32_t step;    /* 1/16 px from one to the next */
  int32_t slope;   /* 1/65536 px of q / 256 per px to the right */
  int32_t height;  /* mm: of the camera above the plane; 0: no plane */
  int32_t per_row; /* 1/256 px of q per row below the last bin of the profile */
} RvLanesView;

/* --- Rows ------------------------------------------------------------------------------------ */

/* Scalars of the ground of a frame; height 0 for one that cannot be used. */
RV_HD RvLanesView rv_lanes_view(const RvLanesPlan *p, const RvGroundSurface *ground,
                                const RvLanesState *state) {
  RvLanesView view = {p->horizon, RV_LANES_COARSE * p->horizon_step, 0, 0, 0};
  if (state->known > 0) {
    view.horizon = state->horizon;
    view.step = p->horizon_step;
  }
  if (p->is_camera) {
    view.height = 1;
    return view;
  }
  const double a = ground->slope_x, b = ground->slope_y, c = ground->intercept;
  const int is_plane = a > -4 && a < 4 && b > 1e-6 && b < 1e3 && c > -1e6 && c < 1e6 &&
                       ground->bin > 0 && ground->bin <= 4096;
  if (!is_plane)
    return view;
  const double height = 1000 * p->baseline / b;
  view.slope = (int32_t)(a * 65536);
  view.per_row = (int32_t)(b * 256);
  view.height = height < 1 ? 1 : height > 1e6 ? 1000000 : (int32_t)height;
  return view;
}

/* Row of the center of bin k of the profile at the camera's axis, 1/256 px. */
RV_HD int32_t rv_lanes_bin_row(const RvLanesPlan *p, const RvGroundSurface *ground, int k) {
  const double d = ((k + 0.5) * ground->bin - p->doffs) / 16;
  const double row = (d - ground->intercept - ground->slope_x * p->axis) / ground->slope_y -
                     ground->profile[k] / 16.0;
  return row > -1e6 && row < 1e6 ? (int32_t)(row * 256) : RV_LANES_NO_ROW;
}

/* q of a row in 1/256 px, where `k` is the largest bin whose row is not below it, -1: none. */
RV_HD int rv_lanes_cross(const RvLanesView *view, const int32_t *bin_rows, int bin, int k,
                         int row) {
  if (k < 0)
    return 0;
  const int64_t at = (int64_t)16 * bin * k + 8 * bin, into = row - bin_rows[k];
  int64_t q = at;
  if (k == RV_GROUND_BINS - 1)
    q += into * view->per_row / 256;
  else if (bin_rows[k + 1] != RV_LANES_NO_ROW)
    q += into * 16 * bin / (bin_rows[k + 1] - bin_rows[k]);
  return q > RV_LANES_Q_MAX ? RV_LANES_Q_MAX : (int)q;
}

/* q of a row in 1/256 px below the horizon (1/16 px). */
RV_HD int rv_lanes_below(int horizon, int row) {
  const int64_t q = (int64_t)row - 16 * (int64_t)horizon;
  return q <= 0 ? 0 : q > RV_LANES_Q_MAX ? RV_LANES_Q_MAX : (int)q;
}

/* Z in cm; q > 0. */
RV_HD int rv_lanes_z(const RvLanesPlan *p, int q) {
  const int64_t z = p->z_scale / q;
  return z > RV_LANES_Z_TOP ? RV_LANES_Z_TOP : (int)z;
}

/* X in mm of a column in 1/16 px; q > 0. */
RV_HD int rv_lanes_x(const RvLanesPlan *p, int u, int q) {
  const int64_t x = (int64_t)(u - p->cx) * p->x_scale / (16 * (int64_t)q);
  return x > RV_LANES_X_TOP ? RV_LANES_X_TOP : x < -RV_LANES_X_TOP ? -RV_LANES_X_TOP : (int)x;
}

/* q at a column in 1/16 px of a row of that q at the axis; <= 0: none. */
RV_HD int rv_lanes_q_at(const RvLanesPlan *p, const RvLanesView *view, int q, int u) {
  const int64_t at = q + (((int64_t)view->slope * (u - p->cx)) >> 12);
  return at > RV_LANES_Q_MAX ? RV_LANES_Q_MAX : at < 0 ? 0 : (int)at;
}

/* Column in 1/16 px of X in mm. */
RV_HD int rv_lanes_u(const RvLanesPlan *p, int x, int q) {
  const int64_t u = (int64_t)x * q * 16 / p->x_scale + p->cx;
  return u > (1 << 24) ? 1 << 24 : u < -(1 << 24) ? -(1 << 24) : (int)u;
}

/* Length of ground between two rows in mm. */
RV_HD int rv_lanes_dz(const RvLanesPlan *p, int above, int below) {
  if (above <= 0 || below <= 0)
    return RV_LANES_DZ_MAX;
  const int64_t dz = p->z_scale * 10 / above - p->z_scale * 10 / below;
  return dz < 1 ? 1 : dz > RV_LANES_DZ_MAX ? RV_LANES_DZ_MAX : (int)dz;
}

/* The row of that q; above and below: q half a sampled row higher and lower. */
RV_HD RvLanesRow rv_lanes_row(const RvLanesPlan *p, int q, int above, int below) {
  RvLanesRow row = {0, 1, 1, 0, 0, -1};
  if (q <= 0)
    return row;
  const int z = rv_lanes_z(p, q);
  const int64_t width = (((int64_t)p->mark * q * 2 / p->x_scale) / p->n + 1) / 2;
  if (z < RV_LANES_Z_MIN || z > p->z_max || width > RV_LANES_WIDTH_MAX)
    return row;
  row.q = q;
  row.k = rv_max((int)width, 1);
  row.g = rv_max((3 * row.k + 5) / 10, 1);
  row.dz = rv_lanes_dz(p, above, below);
  const int reach = row.k + row.g, half = row.k / 2;
  const int left = rv_lanes_u(p, -RV_LANES_X_MAX, q), right = rv_lanes_u(p, RV_LANES_X_MAX, q);
  row.lo = rv_max(rv_div_floor(left, 16 * p->n), reach + half);
  row.hi = rv_min(rv_div_floor(right, 16 * p->n), p->columns - 1 - reach - (row.k - 1 - half));
  return row;
}

/* Mean of n px. */
RV_HD uint8_t rv_lanes_mean(const uint8_t *gray, int n) {
  int sum = n / 2;
  for (int i = 0; i < n; i++)
    sum += gray[i];
  return (uint8_t)(sum / n);
}

/* --- Marks ----------------------------------------------------------------------------------- */

/* Sums of a marking and of both sides. */
typedef struct RvLanesSums {
  int c, l, r;
} RvLanesSums;

/* upto[u]: sum of the columns before u; lo <= u <= hi. */
RV_HD RvLanesSums rv_lanes_sums(const uint32_t *upto, const RvLanesRow *row, int u) {
  const uint32_t *c = upto + u - row->k / 2, *l = c - row->g - row->k, *r = c + row->k + row->g;
  const int k = row->k;
  const RvLanesSums sums = {(int)(c[k] - c[0]), (int)(l[k] - l[0]), (int)(r[k] - r[0])};
  return sums;
}

RV_HD int rv_lanes_response(const RvLanesSums *s) {
  return s->c - rv_max(s->l, s->r);
}

/* 1 when a response may be a mark; `noise` is the sum of |C - L| over the row. */
RV_HD int rv_lanes_is_mark(const RvLanesPlan *p, const RvLanesRow *row, int y, uint32_t noise) {
  return y > row->k * p->config.min_contrast &&
         (int64_t)y * (row->hi - row->lo + 1) > (int64_t)RV_LANES_NOISE * noise;
}

RV_HD int rv_lanes_is_balanced(const RvLanesRow *row, const RvLanesSums *s) {
  return rv_abs(s->l - s->r) < rv_max(rv_lanes_response(s), RV_LANES_BALANCE * row->k);
}

/* Center of a mark less its column, in 1/16 px: of what is brighter than both sides in the k + 2 g
 * columns around it. Over these, `sum` adds how much brighter, and `moment` that times the column's
 * index; a mark is brighter, so sum > 0. The product fits: n <= 4 and moment <= 255 * 408 * 409 / 2
 * for at most 409 columns, 64 times which is below 2^31. */
RV_HD int rv_lanes_shift(const RvLanesPlan *p, const RvLanesRow *row, int sum, int moment) {
  return 16 * p->n * moment / sum + 8 * (p->n - 1) - 16 * p->n * (row->k / 2 + row->g);
}

/* 1 when the disparity (1/16 px, 0: none) at a mark is nearer than the ground of that q. */
RV_HD int rv_lanes_is_near(const RvLanesPlan *p, int disparity, int q) {
  const int d = disparity + p->doffs, ground = q / 16;
  return disparity != 0 && d > ground + 16 + ground / 20;
}

RV_HD uint32_t rv_lanes_value(const RvLanesRow *row, int y, int dz) {
  return (uint32_t)(rv_min(y / row->k, RV_LANES_CONTRAST_FULL) * dz);
}

RV_HD uint32_t rv_lanes_point(int x, int z) {
  return (uint32_t)(x + RV_LANES_X_TOP + 1) << 13 | (uint32_t)z;
}
RV_HD int rv_lanes_point_x(uint32_t point) {
  return (int)(point >> 13) - RV_LANES_X_TOP - 1;
}
RV_HD int rv_lanes_point_z(uint32_t point) {
  return (int)(point & 8191);
}

/* Place of a mark in the image: sampled row and column in 1/16 px. */
RV_HD uint32_t rv_lanes_place(int row, int u) {
  return (uint32_t)row << 18 | (uint32_t)u;
}
RV_HD int rv_lanes_place_row(uint32_t place) {
  return (int)(place >> 18);
}
RV_HD int rv_lanes_place_u(uint32_t place) {
  return (int)(place & 0x3ffff);
}

/* Point and value of a mark; value 0: it does not vote. */
typedef struct RvLanesHit {
  uint32_t point, value;
} RvLanesHit;

RV_HD RvLanesHit rv_lanes_hit(const RvLanesPlan *p, const RvLanesRow *row, int y, int dz, int u,
                              int q) {
  RvLanesHit hit = {rv_lanes_point(0, 0), 0};
  if (q <= 0)
    return hit;
  const int x = rv_lanes_x(p, u, q), z = rv_lanes_z(p, q);
  if (z < RV_LANES_Z_MIN || z > p->z_max || x < -RV_LANES_X_MAX || x > RV_LANES_X_MAX)
    return hit;
  hit.point = rv_lanes_point(x, z);
  hit.value = rv_lanes_value(row, y, dz);
  return hit;
}

/* Horizon number j of a frame, 1/16 px. */
RV_HD int rv_lanes_horizon(const RvLanesView *view, int j) {
  return view->horizon + (j - RV_LANES_HORIZONS / 2) * view->step;
}

/* A mark of sampled row y, response `response`, column u in 1/16 px, for horizon j. */
RV_HD RvLanesHit rv_lanes_hit_at(const RvLanesPlan *p, const RvLanesView *view,
                                 const RvLanesRow *row, int y, int response, int u, int j) {
  if (!p->is_camera)
    return rv_lanes_hit(p, row, response, row->dz, u, rv_lanes_q_at(p, view, row->q, u));
  const int at = 256 * y * p->stride, half = 128 * p->stride, h = rv_lanes_horizon(view, j);
  const int dz = rv_lanes_dz(p, rv_lanes_below(h, at - half), rv_lanes_below(h, at + half));
  return rv_lanes_hit(p, row, response, dz, u, rv_lanes_below(h, at));
}

/* --- Votes ----------------------------------------------------------------------------------- */

/* Heading and curvature of a space; space = (horizon * psis + psi) * kappas + kappa. */
typedef struct RvLanesSpace {
  int32_t psi, kappa;
} RvLanesSpace;

RV_HD RvLanesSpace rv_lanes_space(const RvLanesPlan *p, int index) {
  const RvLanesSpace space = {p->psi[index / p->kappas % RV_LANES_PSIS],
                              p->kappa[index % p->kappas]};
  return space;
}
RV_HD int rv_lanes_space_horizon(const RvLanesPlan *p, int index) {
  return index / (p->kappas * RV_LANES_PSIS);
}

/* mm from the left end of the bins. */
RV_HD int rv_lanes_across(RvLanesSpace s, int x, int z) {
  return x - RV_LANES_FIRST - ((s.psi * z) >> 13) - ((s.kappa * ((z * z) >> 10)) >> 16);
}

/* Bin of a point; -1: none. */
RV_HD int rv_lanes_bin(RvLanesSpace s, uint32_t point) {
  const int across = rv_lanes_across(s, rv_lanes_point_x(point), rv_lanes_point_z(point));
  return (uint32_t)across < RV_LANES_BINS * RV_LANES_BIN ? (across * 5243) >> 19 : -1;
}

/* Part of the score of two neighboring bins: quadratic, from RV_LANES_FULL on linear, so that one
 * strong line does not decide alone, but is not worth more in several bins than in one either. */
RV_HD uint64_t rv_lanes_part(uint32_t here, uint32_t next) {
  const uint64_t v = (uint64_t)here + next;
  return v <= RV_LANES_FULL ? v * v : RV_LANES_FULL * (2 * v - RV_LANES_FULL);
}

/* Score of a space from the sum of its parts. */
RV_HD uint64_t rv_lanes_score(const RvLanesPlan *p, int index, uint64_t parts) {
  const uint64_t score = ((parts >> RV_LANES_SCORE_SHIFT) * p->prior[index % p->kappas]) >> 10;
  return (score * p->horizon_prior[rv_lanes_space_horizon(p, index)]) >> 10;
}

/* Order of equal scores: least curvature, heading, distance from the expected horizon. */
RV_HD int rv_lanes_order(int index, int count) {
  const int off = index - count / 2;
  return off < 0 ? -2 * off - 1 : 2 * off;
}
RV_HD uint64_t rv_lanes_key(const RvLanesPlan *p, int index, uint64_t score) {
  const int kappa = rv_lanes_order(index % p->kappas, p->kappas);
  const int psi = rv_lanes_order(index / p->kappas % RV_LANES_PSIS, RV_LANES_PSIS);
  const int horizon = rv_lanes_order(rv_lanes_space_horizon(p, index), p->horizons);
  const int rank = (kappa * RV_LANES_PSIS + psi) * p->horizons + horizon;
  return score << RV_LANES_RANK_BITS | (uint64_t)((1 << RV_LANES_RANK_BITS) - 1 - rank);
}
RV_HD uint64_t rv_lanes_key_score(uint64_t key) {
  return key >> RV_LANES_RANK_BITS;
}
RV_HD int rv_lanes_unorder(int order, int count) {
  return count / 2 + (order % 2 ? -(order + 1) / 2 : order / 2);
}
RV_HD int rv_lanes_key_index(const RvLanesPlan *p, uint64_t key) {
  const int mask = (1 << RV_LANES_RANK_BITS) - 1, rank = mask - (int)(key & (uint64_t)mask);
  const int horizon = rv_lanes_unorder(rank % p->horizons, p->horizons);
  const int psi = rv_lanes_unorder(rank / p->horizons % RV_LANES_PSIS, RV_LANES_PSIS);
  const int kappa = rv_lanes_unorder(rank / p->horizons / RV_LANES_PSIS, p->kappas);
  return (horizon * RV_LANES_PSIS + psi) * p->kappas + kappa;
}

/* The state after a frame of `count` lines with that horizon: a quarter of the way to it. */
RV_HD void rv_lanes_follow(const RvLanesView *view, int found, int count, RvLanesState *state) {
  const int off = found - view->horizon;
  if (count == 0) {
    state->known = rv_max(state->known - 1, 0);
    return;
  }
  state->horizon = state->known > 0 ? view->horizon + (off + (off > 0 ? 2 : -2)) / 4 : found;
  state->known = RV_LANES_MEMORY;
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* X = x + p z + c z^2, X in mm, z in 1/16 m. */
typedef struct RvLanesCurve {
  double x, p, c;
} RvLanesCurve;

/* The curve of a space through the border of bins b and b + 1. */
RV_HD RvLanesCurve rv_lanes_start(const RvLanesPlan *plan, int index, int b) {
  const int psi = index / plan->kappas % RV_LANES_PSIS - RV_LANES_PSIS / 2;
  const int kappa = index % plan->kappas - plan->kappas / 2;
  const RvLanesCurve curve = {(double)(RV_LANES_FIRST + RV_LANES_BIN * (b + 1)),
                              plan->psi_step * psi * (1000.0 / 16),
                              plan->kappa_step * kappa * (1000.0 / 512)};
  return curve;
}

RV_HD double rv_lanes_at(const RvLanesCurve *curve, double z) {
  return curve->x + curve->p * z + curve->c * z * z;
}

RV_HD int rv_lanes_z16(int z) {
  return z * 4 / 25; /* cm -> 1/16 m */
}

/* Residual of a point in mm. */
RV_HD double rv_lanes_residual(const RvLanesCurve *curve, uint32_t point) {
  return rv_lanes_point_x(point) - rv_lanes_at(curve, rv_lanes_z16(rv_lanes_point_z(point)));
}

/* 1 when a residual takes part in a round; round RV_LANES_ROUNDS is that of the measurement. */
RV_HD int rv_lanes_takes(double residual, int z, int round) {
  const double band = round == 0 ? 300 : round == 1 ? 200 : 150;
  return (residual < 0 ? -residual : residual) <= band * (1 + z / 4000.0);
}

/* Sums of a round, in the order in which both engines keep them. */
#define RV_LANES_TERMS 8
typedef struct RvLanesTerms {
  int64_t s[RV_LANES_TERMS]; /* w, w z, w z^2, w z^3, w z^4, w x, w x z, w x z^2 */
} RvLanesTerms;

RV_HD void rv_lanes_add(RvLanesTerms *t, uint32_t point, uint32_t value) {
  const int64_t w = value >> RV_LANES_VALUE_SHIFT, x = rv_lanes_point_x(point);
  const int64_t z = rv_lanes_z16(rv_lanes_point_z(point)), wz = w * z, wzz = wz * z;
  t->s[0] += w, t->s[1] += wz, t->s[2] += wzz, t->s[3] += wzz * z, t->s[4] += wzz * z * z;
  t->s[5] += w * x, t->s[6] += wz * x, t->s[7] += wzz * x;
}

/* A weight of 0.5 m of contrast 20 is one measurement of standard deviation 30 mm; the priors are
 * 0.01 rad and 0.0005 1/m. */
#define RV_LANES_UNIT (625.0 * 900.0)
#define RV_LANES_PRIOR_P (RV_LANES_UNIT / (0.625 * 0.625))
#define RV_LANES_PRIOR_C (RV_LANES_UNIT / (0.0009765625 * 0.0009765625))

/* Least squares with the priors about `about`; 0 without marks. */
RV_HD int rv_lanes_solve(const RvLanesTerms *t, const RvLanesCurve *about, RvLanesCurve *curve) {
  if (t->s[0] <= 0)
    return 0;
  const double n = (double)t->s[0], s1 = (double)t->s[1], s2 = (double)t->s[2];
  const double s3 = (double)t->s[3], s4 = (double)t->s[4];
  const double t0 = (double)t->s[5], t1 = (double)t->s[6], t2 = (double)t->s[7];
  /* x is eliminated: centered sums */
  const double pp = s2 - s1 * s1 / n + RV_LANES_PRIOR_P, pc = s3 - s1 * s2 / n;
  const double cc = s4 - s2 * s2 / n + RV_LANES_PRIOR_C;
  const double rp = t1 - s1 * t0 / n + RV_LANES_PRIOR_P * about->p;
  const double rc = t2 - s2 * t0 / n + RV_LANES_PRIOR_C * about->c;
  const double det = pp * cc - pc * pc;
  if (!(det > 0))
    return 0;
  curve->p = (rp * cc - rc * pc) / det;
  curve->c = (rc * pp - rp * pc) / det;
  curve->x = (t0 - curve->p * s1 - curve->c * s2) / n;
  return 1;
}

/* Bits first..last of word `word`, cut to it. */
RV_HD uint32_t rv_lanes_bits(int word, int first, int last) {
  const int lo = rv_max(first - 32 * word, 0), hi = rv_min(last - 32 * word, 31);
  return lo > hi ? 0 : (0xffffffffu >> (31 - hi)) & (0xffffffffu << lo);
}

/* Slices that dz mm of ground at z cm touch. */
RV_HD int rv_lanes_slice_first(int z, int dz) {
  return rv_clamp((z - dz / 20) / RV_LANES_SLICE_CM, 0, RV_LANES_SLICES - 1);
}
RV_HD int rv_lanes_slice_last(int z, int dz) {
  return rv_clamp((z + dz / 20) / RV_LANES_SLICE_CM, 0, RV_LANES_SLICES - 1);
}

/* Bin of the spread of a residual in mm, -1: none. */
RV_HD int rv_lanes_spread_bin(double residual) {
  return residual >= -600 && residual < 600 ? ((int)residual + 600) / 50 : -1;
}

/* 4 (B - (R + G) / 2) of a color. */
RV_HD int rv_lanes_tint(uint32_t color) {
  return 4 * (int)(color >> 16 & 255) - 2 * (int)(color >> 8 & 255) - 2 * (int)(color & 255);
}

/* Height in mm of a pixel of that disparity where the ground has q; *is_valid: it is near the
 * ground. */
RV_HD int rv_lanes_side(const RvLanesPlan *p, const RvLanesView *view, int disparity, int q,
                        int *is_valid) {
  const int64_t d = 16 * ((int64_t)disparity + p->doffs);
  *is_valid = 0;
  if (disparity == 0 || d <= 0)
    return 0;
  const int64_t height = (d - q) * view->height / d;
  *is_valid = height > -RV_LANES_SIDE_TOP && height < RV_LANES_SIDE_TOP;
  return (int)(*is_valid ? height : 0);
}

/* A sampled row as a line meets it: column in 1/16 px, q there, distance in cm. */
typedef struct RvLanesMeet {
  int u, q, z;
} RvLanesMeet;

/* q: of the row at the axis for the horizon of the winner. Negative u or q 0: not in the image. */
RV_HD RvLanesMeet rv_lanes_meet(const RvLanesPlan *p, const RvLanesView *view,
                                const RvLanesCurve *curve, int q) {
  RvLanesMeet meet = {-1, 0, 0};
  if (q <= 0)
    return meet;
  meet.z = rv_lanes_z(p, q);
  if (meet.z < RV_LANES_Z_MIN || meet.z > p->z_max)
    return meet;
  const double x = rv_lanes_at(curve, rv_lanes_z16(meet.z));
  if (!(x > -RV_LANES_X_TOP && x < RV_LANES_X_TOP))
    return meet;
  const int u = rv_lanes_u(p, (int)x, q);
  meet.q = rv_lanes_q_at(p, view, q, u);
  meet.u = u >= 0 && u / 16 < p->width && meet.q > 0 ? u : -1;
  return meet;
}

/* q of a sampled row at the axis: of the table, or for the horizon of the winner. */
RV_HD int rv_lanes_row_q(const RvLanesPlan *p, const RvLanesRow *row, int y, int horizon) {
  return p->is_camera ? rv_lanes_below(horizon, 256 * y * p->stride) : row->q;
}

/* The line of a fit, without the counts. */
RV_HD void rv_lanes_describe(const RvLanesCurve *curve, const RvLanesTerms *t, RvLanesMark *mark) {
  const double unit = 1e6 / RV_LANES_UNIT; /* 1/mm^2 of a weight -> 1/m^2 */
  mark->offset = curve->x / 1000;
  mark->heading = curve->p * 16 / 1000;
  mark->curvature = curve->c * 512 / 1000;
  mark->information[0] = unit * (double)t->s[0];
  mark->information[1] = unit * (double)t->s[1] / 16;
  mark->information[2] = unit * (double)t->s[2] / 512;
  mark->information[3] = unit * (double)t->s[2] / 256;
  mark->information[4] = unit * (double)t->s[3] / 8192;
  mark->information[5] = unit * (double)t->s[4] / 262144;
}

#endif
