/* SPDX-License-Identifier: MIT */
/* stixels_rules.h: constants and scalar rules that both engines share; never loops. Doubles use
 * + - x / and floor only, each rounded on its own. */
#ifndef RV_STIXELS_RULES_H
#define RV_STIXELS_RULES_H

#include <math.h>
#include <stdint.h>

#include "rv_hd.h"
#include "rv_records.h"
#include "stixels/stixels.h"

#define RV_STIXELS_INFINITE (1 << 29) /* cost */
#define RV_STIXELS_MIN (-(1 << 28))   /* of one stixel */
#define RV_STIXELS_PENALTY (1 << 28)  /* of one difference, at most */
#define RV_STIXELS_TABLE 4096         /* entries: |c (d - mu)| in 1/256 px up to 16 px */
#define RV_STIXELS_BOTTOMS 128        /* lines of the ground vote: disparities at row 0 ... */
#define RV_STIXELS_HORIZONS 64        /* ... and horizons, 1/64 of the rows apart */
#define RV_STIXELS_HORIZON_FIRST 16   /* 1/64 of the rows */

/* A cell; weight 0: invalid, and then disparity is 0 too. */
typedef struct RvStixelsCell {
  uint16_t disparity; /* 1/16 px */
  uint8_t weight;     /* round(confidence^2 / 255) */
  uint8_t confidence; /* of an invalid cell: RV_STIXELS_EMPTY or 0 */
} RvStixelsCell;

#define RV_STIXELS_EMPTY 1 /* (nearly) no pixel of the cell is valid */

#define RV_STIXELS_SCORE_ONE (1u << 23)       /* a score of 1 */
#define RV_STIXELS_SCORE_STEPS (2 + 23 * 512) /* entries of the table of -log(score) */
#define RV_STIXELS_SCORE_WORST 4096           /* cost of a score of 0, 1/256 nat */

/* A penalty in 1/1024 nat. */
typedef struct RvStixelsStep {
  int32_t alpha;
  uint32_t beta; /* per px, times 4096 */
} RvStixelsStep;

/* A plane as the engines compute it. */
typedef struct RvStixelsPlane {
  int64_t at;    /* 1/2^24 px at a reference row */
  int64_t slope; /* per row */
} RvStixelsPlane;

/* State that is kept from frame to frame. */
typedef struct RvStixelsState {
  RvStixelsPlane ground; /* at row 0 */
  int32_t found, score;
} RvStixelsState;

/* Constants of an object. Costs in 1/1024 nat. */
typedef struct RvStixelsPlan {
  RvStixelsConfig config;
  RvStixelsState start;  /* before the first frame */
  int columns, rows;     /* cells */
  int estimate;          /* the ground plane is estimated */
  int confidence_scale;  /* c_v of a confidence of 1, 1/256 */
  int confidence_least;  /* c_v of all other pixels but those of confidence 0, at least */
  int spread;            /* of the disparities of a cell with one surface, at most, 1/16 px */
  int reach;             /* px that a boundary may move, 0: none */
  int bottom_step;       /* ground vote: px between disparities at row 0 */
  int cap;               /* ground vote: votes of a row for a line, at most */
  int has_cut_costs;     /* cuts of the network differ in cost */
  double invalid;        /* of an invalid cell, slanted-fast */
  double hit[2];         /* of a valid cell on the plane, slanted-fast, ground and object */
  double scale[2];       /* per weight x (1/16 px)^2 */
  double fixed[3];       /* of a stixel: complexity and log Z of the plane prior */
  int32_t invalid_cost;  /* `invalid`, rounded, for the models that sum (3.9) */
  int32_t empty_sky;     /* of an empty cell as sky */
  int one_view;          /* confidence of a cell that only the left view sees, 0..255 */
  int32_t fixed_cost[3]; /* `fixed`, rounded, for the models that sum (3.9) */
  double ridge_a;        /* plane prior of ground in the units of the sums */
  double ridge_b;
  double ridge_object;              /* plane prior of the slope of an object */
  int free_a, free_b, free_object;  /* 0: the parameter is fixed */
  RvStixelsStep gravity[2], gap[2]; /* [difference > 0] */
  RvStixelsStep ordering;
  int32_t transition[3][3];
  int32_t at_bottom[3];       /* of the lowest stixel */
  int semantics;              /* semantic classes, sorted by structural class */
  int kinds;                  /* classes of the recursion with semantic priors; 0: none */
  int semantic_first[4];      /* index of the first of each structural class, and the end */
  uint8_t semantic_class[32]; /* class at an index of that order */
  int32_t semantic_weight;    /* 1/256 */
  int judge_columns;          /* cells to each side that judge the class of one, 0: none */
  int judge_rows;             /* up and down */
  int share_columns;          /* cells to each side that share their semantics, 0: none */
  int share_rows;             /* up and down */
  uint32_t label_score[3];    /* of the label's class, of another, of all for an unknown label */
} RvStixelsPlan;

/* Sums over the valid cells of a column in all rows below the index: number, and weight times
 * powers of v, d (1/16 px) and g = d - expected ground. */
typedef struct RvStixelsSums {
  double n, w, wv, wvv, wd, wvd, wdd, wg, wvg, wgg; /* integers below 2^53 */
} RvStixelsSums;

typedef struct RvStixelsFit {
  RvStixelsPlane plane; /* at the stixel's lowest row */
  double error;         /* weight x (1/16 px)^2, including the plane prior */
  double prior;         /* of the plane prior alone */
} RvStixelsFit;

/* The best stixel that ends in a row, by class. */
typedef struct RvStixelsBest {
  int32_t cost;    /* of the column up to here */
  int32_t next;    /* 1/256 px: its plane in the row above */
  uint16_t bottom; /* its lowest row */
  uint16_t below;  /* class of its predecessor */
} RvStixelsBest;

/* --- Cells ----------------------------------------------------------------------------------- */

/* Sums over valid pixels: number, confidence, confidence x disparity. */
typedef struct RvStixelsPixels {
  int64_t c, cd;
  int n;
} RvStixelsPixels;

/* c_v of (3.9), as a fraction of 255. */
RV_HD int rv_stixels_confidence_weight(const RvStixelsPlan *plan, int confidence) {
  const int least = confidence > 0 ? plan->confidence_least : 0;
  return rv_clamp((confidence * plan->confidence_scale + 128) >> 8, least, 255);
}

/* Whether the disparities of a cell, `low` to `high`, are too far apart for one surface. Such a
 * cell is divided at its mean. Only the side with more pixels counts; on a tie, the nearer one. */
RV_HD int rv_stixels_is_mixed(const RvStixelsPlan *plan, int low, int high) {
  return high - low > plan->spread;
}

/* Pixels above this are the nearer side; all->c > 0. */
RV_HD int rv_stixels_middle(const RvStixelsPixels *all) {
  return (int)(all->cd / all->c);
}

RV_HD RvStixelsPixels rv_stixels_side(const RvStixelsPixels *all, const RvStixelsPixels *near) {
  RvStixelsPixels side = *near;
  if (2 * near->n < all->n) {
    side.n = all->n - near->n;
    side.c = all->c - near->c;
    side.cd = all->cd - near->cd;
  }
  return side;
}

/* A cell of `pixels` pixels, `valid` of them valid; `of`: sums over those that count. Less than
 * half of its pixels say less of a cell: its confidence is then in proportion to their number. */
RV_HD RvStixelsCell rv_stixels_cell(int pixels, int valid, const RvStixelsPixels *of, int max_px) {
  RvStixelsCell cell = {0, 0, 0};
  if (4 * valid < pixels || of->c == 0) {
    cell.confidence = 8 * valid <= pixels ? RV_STIXELS_EMPTY : 0;
    return cell;
  }
  const int own = (int)((2 * of->c + of->n) / (2 * of->n));
  const int mean = 2 * valid < pixels ? 2 * own * valid / pixels : own;
  const int64_t d = (2 * of->cd + of->c) / (2 * of->c);
  cell.weight = (uint8_t)rv_div255(mean * mean);
  if (cell.weight == 0)
    return cell;
  cell.confidence = (uint8_t)mean;
  cell.disparity = (uint16_t)(d < 16 * max_px ? d : 16 * max_px);
  return cell;
}

/* Whether only the left view sees the invalid cells between column `left` (-1: none) and column
 * `right` of a row, the nearest valid ones: the right view sees as many px less beside a nearer
 * surface as its disparity is larger, and at the left edge as many as the disparity is. */
RV_HD int rv_stixels_is_one_view(const RvStixelsPlan *plan, int left, int right, int d_left,
                                 int d_right) {
  return right < plan->columns &&
         16 * (right - left - 2) * plan->config.stixel_width <= d_right - d_left;
}

/* Such a cell continues the farther surface, at the left edge the only one. */
RV_HD RvStixelsCell rv_stixels_one_view(const RvStixelsPlan *plan, int left, int d_left,
                                        int d_right) {
  RvStixelsCell cell;
  cell.disparity = (uint16_t)(left >= 0 ? d_left : d_right);
  cell.confidence = (uint8_t)plan->one_view;
  cell.weight = (uint8_t)rv_div255(plan->one_view * plan->one_view);
  return cell;
}

/* --- Cuts ------------------------------------------------------------------------------------ */

/* Value of a cell in the series of (3.4.1): integer px, -1 when invalid. */
RV_HD int rv_stixels_series(RvStixelsCell cell) {
  return cell.weight ? (cell.disparity + 8) >> 4 : -1;
}

/* The extrema of the thesis miss falling steps: a jump of 1 px or more, or between valid and
 * invalid cells, is an allowed boundary too. */
RV_HD int rv_stixels_is_step(RvStixelsCell below, RvStixelsCell above) {
  return (below.weight == 0) != (above.weight == 0) ||
         rv_abs(below.disparity - above.disparity) >= 16;
}

/* --- Semantics ------------------------------------------------------------------------------- */

/* A half float in 1/2^23, rounded to nearest, halves to even; 0 below 0 and for NaN, 1 above 1. */
RV_HD uint32_t rv_stixels_score(uint32_t half) {
  const uint32_t bits = half <= 0x3c00 ? half : half <= 0x7c00 ? 0x3c00 : 0;
  const uint32_t exponent = bits >> 10, mantissa = bits & 0x3ff;
  const uint32_t x = exponent ? (mantissa | 0x400) << (exponent - 1) : mantissa;
  return (x + (x >> 1 & 1)) >> 1;
}

RV_HD uint32_t rv_stixels_label(const RvStixelsPlan *plan, int label, int semantic) {
  return plan->label_score[label >= plan->semantics ? 2 : label != semantic];
}

/* Mean score of a cell. */
RV_HD uint32_t rv_stixels_score_mean(uint64_t sum, int pixels) {
  const uint32_t n = (uint32_t)pixels;
  return n <= 256 ? ((uint32_t)sum + n / 2) / n : (uint32_t)((sum + n / 2) / n);
}

/* Entry of the table of -log(score): 0 for 0, then 9 bits of mantissa. */
RV_HD int rv_stixels_score_index(uint32_t mean) {
  const union {
    float real;
    uint32_t bits;
  } score = {(float)mean};
  return mean == 0 ? 0 : (int)(score.bits >> 14) - (127 << 9) + 1;
}

/* Cost in 1/256 nat of semantic class `index` over rows of cells, from summed costs times 32. The
 * minimum key is that of the minimum cost; ties: lowest index. */
RV_HD uint32_t rv_stixels_key(uint32_t below, uint32_t upto, int index) {
  return upto - below + (uint32_t)index;
}

/* A cost in 1/256 nat as energy. */
RV_HD int32_t rv_stixels_semantic_cost(const RvStixelsPlan *plan, uint32_t sum) {
  const int64_t cost = ((int64_t)sum * plan->semantic_weight + 32) >> 6;
  return (int32_t)(cost < RV_STIXELS_INFINITE ? cost : RV_STIXELS_INFINITE);
}

/* --- Semantic priors ------------------------------------------------------------------------- */

/* Semantic classes, and the structural classes without any. */
#define RV_STIXELS_KINDS (RV_STIXELS_SEMANTICS_MAX + 2)

/* The classes of the recursion with semantic priors: semantic classes in the order of
 * RvStixelsPlan.semantic_class, then structural classes without semantic classes. */
typedef struct RvStixelsKinds {
  RvStixelsPlan plan[RV_STIXELS_KINDS];                   /* with the sigma of the class */
  int32_t costs[RV_STIXELS_KINDS][RV_STIXELS_TABLE];      /* as RvStixelsTables.costs */
  int32_t transition[RV_STIXELS_KINDS][RV_STIXELS_KINDS]; /* [class][class below], all of (3.21) */
  int32_t structure[RV_STIXELS_KINDS];
} RvStixelsKinds;

/* --- Planes ---------------------------------------------------------------------------------- */

/* Floor of a number that fits in 64 bits. */
RV_HD int64_t rv_stixels_floor(double x) {
#ifdef __CUDA_ARCH__
  return __double2ll_rd(x);
#else
  return (int64_t)floor(x);
#endif
}

/* 1/16 px to 1/2^24 px, rounded, limited to 2^44. */
RV_HD int64_t rv_stixels_fixed(double value) {
  const double limit = 17592186044416.0; /* 2^44 */
  const double x = value * 1048576.0 + 0.5;
  return rv_stixels_floor(x < -limit ? -limit : x > limit ? limit : x);
}

/* 1/16 px of a plane, `rows` above its reference row. */
RV_HD int rv_stixels_sixteenth(const RvStixelsPlane *plane, int rows) {
  const int64_t x = (plane->at + plane->slope * rows + (1 << 19)) >> 20;
  return (int)(x < -1048576 ? -1048576 : x > 1048576 ? 1048576 : x);
}

/* The expected ground in a row, against which residuals are summed, 1/16 px: -1024 to 2048 px, so
 * that the sums of 16384 rows are exact. */
RV_HD int rv_stixels_expected(const RvStixelsPlane *ground, int row) {
  return rv_clamp(rv_stixels_sixteenth(ground, row), -(1 << 14), 1 << 15);
}

/* The same in 1/256 px. */
RV_HD int rv_stixels_value(const RvStixelsPlane *plane, int rows) {
  const int64_t x = (plane->at + plane->slope * rows + (1 << 15)) >> 16;
  return (int)(x < -16777216 ? -16777216 : x > 16777216 ? 16777216 : x);
}

RV_HD RvStixelsSums rv_stixels_between(const RvStixelsSums *below, const RvStixelsSums *upto) {
  RvStixelsSums s;
  s.n = upto->n - below->n;
  s.w = upto->w - below->w;
  s.wv = upto->wv - below->wv;
  s.wvv = upto->wvv - below->wvv;
  s.wd = upto->wd - below->wd;
  s.wvd = upto->wvd - below->wvd;
  s.wdd = upto->wdd - below->wdd;
  s.wg = upto->wg - below->wg;
  s.wvg = upto->wvg - below->wvg;
  s.wgg = upto->wgg - below->wgg;
  return s;
}

/* Contribution of the cell of row v; ground: the expected plane there, 1/16 px. */
RV_HD RvStixelsSums rv_stixels_of_cell(RvStixelsCell cell, int v, int ground) {
  const double w = cell.weight, d = cell.disparity, g = cell.disparity - ground, row = v;
  RvStixelsSums s;
  s.n = cell.weight != 0;
  s.w = w;
  s.wv = w * row;
  s.wvv = w * row * row;
  s.wd = w * d;
  s.wvd = w * row * d;
  s.wdd = w * d * d;
  s.wg = w * g;
  s.wvg = w * row * g;
  s.wgg = w * g * g;
  return s;
}

/* Mean disparity of at least one cell in 1/256 px, halves rounded up. */
RV_HD int rv_stixels_mean(double wd, double w) {
  return (int)floor((32 * wd + w) / (2 * w));
}

/* 1 / x, of determinants: 0 or within 2^-900 .. 2^900. On the GPU the same steps as of the
 * compiler, with its low word of the first guess, but without its branch for subnormal numbers,
 * around which no instruction moves. */
RV_HD double rv_stixels_inverse(double x) {
#ifdef __CUDA_ARCH__
  double guess;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
  const double y = __hiloint2double(__double2hiint(guess), __double2hiint(x) + 0x300402);
  const double off = __fma_rn(-x, y, 1.0);
  const double near = __fma_rn(y, __fma_rn(off, off, off), y);
  const double exact = __fma_rn(near, __fma_rn(-x, near, 1.0), near);
  return x == 0 ? guess : exact;
#else
  return 1 / x;
#endif
}

/* The error of a fit; rounding may make it negative. */
RV_HD double rv_stixels_error(double error) {
  return error > 0 ? error : 0;
}

/* Least squares of an object of at least one valid cell whose slope is free or has a prior. */
RV_HD RvStixelsFit rv_stixels_fit_sloped(const RvStixelsPlan *plan, const RvStixelsSums *s,
                                         int bottom) {
  const double w = s->w, d = s->wd, row = bottom;
  const double v = s->wv - row * w;
  const double vv = s->wvv - 2 * row * s->wv + row * row * w + plan->ridge_object;
  const double vd = s->wvd - row * d;
  const double unit = rv_stixels_inverse(w * vv - v * v);
  const double a = (vv * d - v * vd) * unit, b = (w * vd - v * d) * unit;
  RvStixelsFit fit;
  fit.plane.at = rv_stixels_fixed(a);
  fit.plane.slope = rv_stixels_fixed(b);
  fit.error = rv_stixels_error(s->wdd - a * d - b * vd);
  fit.prior = plan->ridge_object * b * b;
  return fit;
}

/* Least squares of an object: disparity at its lowest row free, slope fixed to 0 or with a prior.
 * Rows count from `bottom`, which keeps the determinant exact. */
RV_HD RvStixelsFit rv_stixels_fit_object(const RvStixelsPlan *plan, const RvStixelsSums *s,
                                         int bottom) {
  RvStixelsFit fit = {{0, 0}, 0, 0};
  if (s->n == 0)
    return fit;
  const double w = s->w, d = s->wd, dd = s->wdd;
  if (plan->config.model == RV_STIXELS_CONSTANT) {
    fit.plane.at = (int64_t)rv_stixels_mean(d, w) << 16;
    return fit;
  }
  if (plan->free_object && (s->n >= 2 || plan->ridge_object != 0))
    return rv_stixels_fit_sloped(plan, s, bottom);
  const double a = d / w;
  fit.plane.at = rv_stixels_fixed(a);
  fit.error = rv_stixels_error(dd - a * d);
  return fit;
}

/* Ground with a and b relative to the expected plane, at row 0. */
RV_HD RvStixelsFit rv_stixels_fit_around(const RvStixelsPlan *plan, const RvStixelsPlane *ground,
                                         const RvStixelsSums *s, int bottom, double a, double b) {
  RvStixelsFit fit;
  fit.plane.at = ground->at + ground->slope * bottom + rv_stixels_fixed(a + b * bottom);
  fit.plane.slope = ground->slope + rv_stixels_fixed(b);
  fit.error = rv_stixels_error(s->wgg - a * s->wg - b * s->wvg);
  fit.prior = plan->ridge_a * a * a + plan->ridge_b * b * b;
  return fit;
}

/* Least squares of a ground stixel around the expected plane (3.23), a and b at row 0. */
RV_HD RvStixelsFit rv_stixels_fit_ground(const RvStixelsPlan *plan, const RvStixelsPlane *ground,
                                         const RvStixelsSums *s, int bottom) {
  double a = 0, b = 0;
  const double g = s->wg, vg = s->wvg;
  const double w = s->w + plan->ridge_a, v = s->wv;
  const double vv = s->wvv + plan->ridge_b, det = w * vv - v * v;
  if (s->n == 0) {
  } else if (plan->free_a && plan->free_b && det > 0 &&
             (s->n > 1 || (plan->ridge_a > 0 && plan->ridge_b > 0))) {
    const double unit = rv_stixels_inverse(det);
    a = (vv * g - v * vg) * unit;
    b = (w * vg - v * g) * unit;
  } else if (plan->free_a) {
    a = g / w;
  } else if (plan->free_b && vv > 0) {
    b = vg / vv;
  }
  return rv_stixels_fit_around(plan, ground, s, bottom, a, b);
}

RV_HD RvStixelsFit rv_stixels_fit(const RvStixelsPlan *plan, const RvStixelsPlane *ground,
                                  int structure, const RvStixelsSums *s, int bottom) {
  if (structure == RV_STIXEL_GROUND)
    return rv_stixels_fit_ground(plan, ground, s, bottom);
  if (structure == RV_STIXEL_OBJECT)
    return rv_stixels_fit_object(plan, s, bottom);
  const RvStixelsFit fit = {{0, 0}, 0, 0};
  return fit;
}

/* --- Costs ----------------------------------------------------------------------------------- */

RV_HD int32_t rv_stixels_round(double cost) {
#ifdef __CUDA_ARCH__ /* the same, as this saturates */
  return rv_clamp(__double2int_rd(cost + 0.5), RV_STIXELS_MIN, RV_STIXELS_INFINITE);
#else
  const double x = floor(cost + 0.5), least = RV_STIXELS_MIN, most = RV_STIXELS_INFINITE;
  return (int32_t)(x < least ? least : x > most ? most : x);
#endif
}

/* Both at most RV_STIXELS_INFINITE, and so is the sum. */
RV_HD int32_t rv_stixels_add(int32_t a, int32_t b) {
  return rv_min(a + b, RV_STIXELS_INFINITE);
}

/* Data and priors of ground or an object of `length` rows without its predecessor by (4.12). */
RV_HD int32_t rv_stixels_cost_fast(const RvStixelsPlan *plan, int structure, const RvStixelsSums *s,
                                   int length, double error) {
  return rv_stixels_round(plan->invalid * (length - s->n) + plan->hit[structure] * s->n +
                          plan->scale[structure] * error + plan->fixed[structure]);
}

/* The same from the sum of the costs of its cells by (3.9). */
RV_HD int32_t rv_stixels_cost_sum(const RvStixelsPlan *plan, int structure, int64_t sum,
                                  double prior) {
  const int64_t x =
      sum + plan->fixed_cost[structure] + rv_stixels_round(plan->scale[structure] * prior);
  return (int32_t)(x < RV_STIXELS_MIN        ? RV_STIXELS_MIN
                   : x > RV_STIXELS_INFINITE ? RV_STIXELS_INFINITE
                                             : x);
}

/* Bounds of `slanted-fast`: least-squares errors over two parts of a stixel add up to at most the
 * error over the complete stixel, and penalties are at least 0. A stixel and its predecessors
 * therefore cost at least the sum of the predecessors and both parts, with plane priors and fixed
 * costs counted once. Sums over lowest row and top row show which stixels can
 * be skipped. */
#define RV_STIXELS_SLACK 16 /* rounding errors, 1/1024 nat */

RV_HD int rv_stixels_is_bounded(const RvStixelsPlan *plan) {
  return plan->config.model == RV_STIXELS_SLANTED_FAST && plan->free_a && plan->free_b &&
         plan->ridge_a > 0 && plan->ridge_b > 0;
}

/* Least error of an object whose slope has no prior. */
RV_HD double rv_stixels_free_error(const RvStixelsPlan *plan, const RvStixelsSums *s, int bottom) {
  if (s->n == 0)
    return 0;
  const double w = s->w, d = s->wd, dd = s->wdd, row = bottom;
  const double v = s->wv - row * w, vv = s->wvv - 2 * row * s->wv + row * row * w;
  const double vd = s->wvd - row * d, det = w * vv - v * v;
  double error = dd - d / w * d;
  if (plan->free_object && det > 0) {
    const double unit = 1 / det;
    error = dd - (vv * d - v * vd) * unit * d - (w * vd - v * d) * unit * vd;
  }
  return error > 0 ? error : 0;
}

/* The upper part of a bound, from the cost of the stixel in these rows: sky, or an object with
 * rv_stixels_free_error, or ground with an error of 0. */
RV_HD int32_t rv_stixels_upper_part(const RvStixelsPlan *plan, int structure, int32_t cost) {
  return cost - plan->fixed_cost[structure] - RV_STIXELS_SLACK;
}

/* Whether a stixel may cost no more than the best so far. Saturated costs have no bounds. */
RV_HD int rv_stixels_can_improve(int32_t bound, int32_t best) {
  return bound <= best || best >= 1 << 28;
}

/* Index of the cost of a valid cell against a plane of mu/256 px. */
RV_HD int rv_stixels_index(RvStixelsCell cell, int mu) {
  const int off = rv_min(rv_abs(16 * cell.disparity - mu), 1 << 20);
  return rv_min((off * cell.confidence + 127) / 255, RV_STIXELS_TABLE - 1);
}

/* Cost of a cell by (3.9); table: that of the class. */
RV_HD int32_t rv_stixels_cost_cell(const RvStixelsPlan *plan, const int32_t *table,
                                   RvStixelsCell cell, int mu) {
  return cell.weight ? table[rv_stixels_index(cell, mu)] : plan->invalid_cost;
}

/* Cost of a cell as sky, whose plane is 0, in all models; table: that of sky. */
RV_HD int32_t rv_stixels_cell_sky(const RvStixelsPlan *plan, const int32_t *table,
                                  RvStixelsCell cell) {
  return cell.weight                           ? table[rv_stixels_index(cell, 0)]
         : cell.confidence == RV_STIXELS_EMPTY ? plan->empty_sky
                                               : plan->invalid_cost;
}

/* Cost of a sky stixel without its predecessor, from the sum of the costs of its cells. */
RV_HD int32_t rv_stixels_cost_sky(const RvStixelsPlan *plan, int32_t sum) {
  return rv_stixels_add(sum, plan->fixed_cost[RV_STIXEL_SKY]);
}

/* Integer px nearest to the disparity mu/256 px of an object, `constant`. */
RV_HD int rv_stixels_nearest(int mu) {
  return (mu + 128) >> 8;
}

/* Sky may start where the expected ground is below 1 px. */
RV_HD int rv_stixels_is_sky_row(const RvStixelsPlane *ground, int row) {
  return rv_stixels_sixteenth(ground, row) < 16;
}

/* alpha + beta |difference|, beta times 4096; differences of 1024 px and more count as 1024 px. */
RV_HD int32_t rv_stixels_penalty(int32_t alpha, uint32_t beta, int difference) {
  const uint32_t off = (uint32_t)rv_min(rv_abs(difference), 1 << 18);
  return rv_min(alpha + (int32_t)(((uint64_t)beta * (off << 12)) >> 32), RV_STIXELS_PENALTY);
}

/* Penalties of a stixel above its predecessor by their planes: gap (ground on ground), gravity
 * (object on ground), ordering (object on object). delta: its plane minus that of the predecessor
 * at its lowest row, 1/256 px. */
RV_HD int32_t rv_stixels_gap(const RvStixelsPlan *plan, int delta) {
  const int up = delta > 0;
  const int32_t penalty = rv_stixels_penalty(up ? plan->gap[1].alpha : plan->gap[0].alpha,
                                             up ? plan->gap[1].beta : plan->gap[0].beta, delta);
  return delta == 0 ? 0 : penalty;
}

RV_HD int32_t rv_stixels_gravity(const RvStixelsPlan *plan, int delta) {
  const int up = delta > 0;
  const int32_t penalty =
      rv_stixels_penalty(up ? plan->gravity[1].alpha : plan->gravity[0].alpha,
                         up ? plan->gravity[1].beta : plan->gravity[0].beta, delta);
  return delta == 0 ? 0 : penalty;
}

RV_HD int32_t rv_stixels_ordering(const RvStixelsPlan *plan, int delta) {
  const int32_t penalty = rv_stixels_penalty(plan->ordering.alpha, plan->ordering.beta, delta);
  return delta > 0 ? penalty : 0;
}

/* Penalty of a stixel above its predecessor; mu: both planes at its lowest row, 1/256 px. */
RV_HD int32_t rv_stixels_step(const RvStixelsPlan *plan, int structure, int below, int mu,
                              int mu_below) {
  const int delta = mu - mu_below;
  int32_t penalty = 0;
  if (structure == RV_STIXEL_GROUND && below == RV_STIXEL_GROUND)
    penalty = rv_stixels_gap(plan, delta);
  else if (structure == RV_STIXEL_OBJECT && below == RV_STIXEL_GROUND)
    penalty = rv_stixels_gravity(plan, delta);
  else if (structure == RV_STIXEL_OBJECT && below == RV_STIXEL_OBJECT)
    penalty = rv_stixels_ordering(plan, delta);
  return penalty;
}

/* The same with the transition. */
RV_HD int32_t rv_stixels_pair(const RvStixelsPlan *plan, int structure, int below, int mu,
                              int mu_below) {
  return plan->transition[structure][below] + rv_stixels_step(plan, structure, below, mu, mu_below);
}

#endif
