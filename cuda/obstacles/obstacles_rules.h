/* SPDX-License-Identifier: MIT */
/* obstacles_rules.h: constants, number formats and scalar rules of obstacles and free space, shared
 * by both engines. Internal.
 *
 * Rows are counted in 1/256, upwards from the ground: height = row of the ground - row of the
 * pixel. Everything that depends on the camera alone is a table of the plan, everything that
 * depends on the ground a table of the frame. */
#ifndef RV_OBSTACLES_RULES_H
#define RV_OBSTACLES_RULES_H

#include <math.h>
#include <stdint.h>

#include "obstacles/obstacles.h"
#include "rv_hd.h"

#define RV_OBSTACLES_FINE RV_OBSTACLES_BINS         /* bins of runs */
#define RV_OBSTACLES_COARSE (RV_OBSTACLES_FINE / 2) /* bins of the free space */
#define RV_OBSTACLES_WORDS (RV_OBSTACLES_FINE / 32)
#define RV_OBSTACLES_RUNS 16      /* per strip, at most */
#define RV_OBSTACLES_STRIP_MAX 32 /* px */
#define RV_OBSTACLES_PIXELS 16384 /* of a strip that vote, at most: counts stay below 2^15 */
#define RV_OBSTACLES_DEPTH_MIN 32 /* 1/16 px of D */

#define RV_OBSTACLES_HEIGHT 6.0   /* m: pixels that are higher belong to nothing */
#define RV_OBSTACLES_BODY 60      /* pixels above 1/60 of it belong to a box */
#define RV_OBSTACLES_LOW_NOISE 12 /* 1/16 px of D that min_height must exceed on the ground */

#define RV_OBSTACLES_FULL 100                          /* evidence of a bin, at most */
#define RV_OBSTACLES_SLOPE 6                           /* cost per bin between neighboring strips */
#define RV_OBSTACLES_JUMP 120                          /* at most */
#define RV_OBSTACLES_KEY (64 * RV_OBSTACLES_SLOPE + 2) /* per bin, see rv_obstacles_here */
#define RV_OBSTACLES_FREE_GAP 15.0                     /* m without ground that end what is known */
/* Strips to either side in which something overhanging is looked for, at 3/4 to 4/3 of the
 * distance; the same for evidence with holes, at 12/13 to 13/12. */
#define RV_OBSTACLES_HANG 4
#define RV_OBSTACLES_HANG_PART 3
#define RV_OBSTACLES_HOLED 20
#define RV_OBSTACLES_HOLED_PART 12
/* px of D, below which evidence without contrast is none; the same near something overhanging */
#define RV_OBSTACLES_FAINT 8
#define RV_OBSTACLES_FAINT_HANG 12
#define RV_OBSTACLES_CONTRAST 12 /* 1/2 gray level, see rv_obstacles_contrast; on average */
#define RV_OBSTACLES_COLUMN 11   /* the same of a column; noise of 2 gray levels has 8 */
#define RV_OBSTACLES_HOLES 5     /* % of the pixels that have no disparity, at least */

#define RV_OBSTACLES_COVER 5      /* bins beside a run on the ground: no overhanging run */
#define RV_OBSTACLES_REACH_MAX 16 /* strips between runs that are joined */
#define RV_OBSTACLES_SPLIT 14     /* px of D: nearer, surfaces fill many bins and are not split */
#define RV_OBSTACLES_VALLEY 8     /* bins to either side of a minimum that splits a run */
#define RV_OBSTACLES_NEAR 60      /* % of the votes of a run that are not nearer than it is */
#define RV_OBSTACLES_FRONT 20     /* % of the votes of a box that are nearer than its near face */
#define RV_OBSTACLES_BACK 5       /* and farther than its far end */
#define RV_OBSTACLES_STRIPS 3     /* of a box; fewer when it is tall */
#define RV_OBSTACLES_ROWS 8       /* px above the ground, less is noise of the ground */
#define RV_OBSTACLES_TALL 1000    /* mm */
#define RV_OBSTACLES_RANK 65      /* % of the pixels of another box that are farther than it is */
#define RV_OBSTACLES_CLEAR                                                                         \
  10 /* 1/10 of the pixels of another box that others do not hide suffices */
#define RV_OBSTACLES_SAMPLES 32 /* rows and columns of a box whose validity is looked at */
#define RV_OBSTACLES_STEP 700   /* mm of height between joined runs, or a factor of two */

/* By bin; from the camera alone. */
typedef struct RvObstaclesTables {
  int32_t need[RV_OBSTACLES_FINE];      /* votes that make a bin part of a run */
  int32_t full[RV_OBSTACLES_COARSE];    /* votes of full evidence */
  int32_t mm[RV_OBSTACLES_FINE];        /* mm of height per 1/256 row, times 65536 */
  uint16_t gap[RV_OBSTACLES_FINE];      /* sampled rows without a pixel that end a run */
  uint8_t window[RV_OBSTACLES_FINE];    /* bins to either side whose votes count for a run */
  uint8_t spread[RV_OBSTACLES_COARSE];  /* the same for the free space, in fine bins */
  uint8_t reach[RV_OBSTACLES_FINE];     /* strips to either side that runs are joined with */
  uint8_t tolerance[RV_OBSTACLES_FINE]; /* bins between disparities of joined runs */
  int16_t gap_at[RV_OBSTACLES_COARSE];  /* nearest bin that is a gap behind this one; -1: none */
} RvObstaclesTables;

/* Constants of an object. */
typedef struct RvObstaclesPlan {
  RvObstaclesConfig config;
  int width, height;
  int n, strips;                   /* px per strip, and their number */
  int stride, rows;                /* rows from one that is sampled to the next, and their number */
  int bin, depths;                 /* 1/16 px per fine bin, and of all of them */
  int doffs;                       /* 1/16 px */
  int split;                       /* fine bins of D below RV_OBSTACLES_SPLIT */
  int least;                       /* smallest D that is looked at, 1/16 px */
  double baseline;                 /* m */
  double metric;                   /* focal * baseline, m px */
  const RvObstaclesTables *tables; /* host memory */
} RvObstaclesPlan;

/* Of one D; 1/256 row. */
typedef struct RvObstaclesDepthRow {
  int32_t row;   /* of the ground, in column 0 */
  int32_t low;   /* height of min_height there */
  int32_t clear; /* of the clearance */
  int32_t high;  /* of RV_OBSTACLES_HEIGHT */
} RvObstaclesDepthRow;

/* What a strip has at one distance. */
typedef struct RvObstaclesRun {
  int32_t votes;
  int32_t near_d, far_d; /* 1/256 px of D */
  uint16_t low, high;    /* fine bins, first and last */
  uint16_t top, bottom;  /* px */
  int32_t height;        /* mm of the top above the ground */
  uint32_t columns;      /* bits: px columns with at least two rows */
  int32_t over;          /* 1: above the clearance */
} RvObstaclesRun;

/* Classes of a pixel. */
enum {
  RV_OBSTACLES_NOTHING = 0,
  RV_OBSTACLES_GROUND, /* within min_height of the ground */
  RV_OBSTACLES_FOOT,   /* above RV_OBSTACLES_BODY, below min_height: of a box only */
  RV_OBSTACLES_BODY_PX,
  RV_OBSTACLES_OVER_PX
};

/* --- Frame ----------------------------------------------------------------------------------- */

/* A number that no image holds, or that is none, is cut. */
RV_HD int32_t rv_obstacles_fixed(double rows) {
  const double x = floor(rows * 256 + 0.5), limit = 16777216;
  return (int32_t)(!(x >= -limit) ? -limit : x > limit ? limit : x);
}

/* Of D in 1/16 px, above 0. */
RV_HD RvObstaclesDepthRow rv_obstacles_depth_row(const RvObstaclesPlan *p,
                                                 const RvGroundSurface *ground, int depth) {
  const int bin = depth / rv_max(ground->bin, 1);
  const double d = depth / 16.0, scale = d / p->baseline; /* rows per m */
  const double noise = ground->height * RV_OBSTACLES_LOW_NOISE / depth;
  double low = p->config.min_height > noise ? p->config.min_height : noise;
  low = low < p->config.clearance ? low : p->config.clearance;
  RvObstaclesDepthRow r;
  r.row = rv_obstacles_fixed((d - p->doffs / 16.0 - ground->intercept) / ground->slope_y -
                             ground->profile[rv_min(bin, RV_GROUND_BINS - 1)] / 16.0);
  r.low = rv_obstacles_fixed(low * scale);
  r.clear = rv_obstacles_fixed(p->config.clearance * scale);
  r.high = rv_obstacles_fixed(RV_OBSTACLES_HEIGHT * scale);
  return r;
}

/* What a column adds to the row of a pixel before it is compared with the ground, 1/256 row. */
RV_HD int32_t rv_obstacles_column(const RvGroundSurface *ground, int u) {
  return rv_obstacles_fixed(ground->slope_x * u / ground->slope_y);
}

/* D of a pixel, 1/16 px; 0: ignored. */
RV_HD int rv_obstacles_depth_of(const RvObstaclesPlan *p, int disparity) {
  const int depth = disparity + p->doffs;
  return disparity == 0 || depth < p->least ? 0 : rv_min(depth, p->depths - 1);
}

/* `row`: 256 v + what the column adds. */
RV_HD int rv_obstacles_class(const RvObstaclesDepthRow *d, int32_t row) {
  const int32_t height = d->row - row;
  if (height < d->low)
    return height * RV_OBSTACLES_BODY >= d->high ? RV_OBSTACLES_FOOT
           : height > -d->low                    ? RV_OBSTACLES_GROUND
                                                 : RV_OBSTACLES_NOTHING;
  return height < d->clear  ? RV_OBSTACLES_BODY_PX
         : height < d->high ? RV_OBSTACLES_OVER_PX
                            : RV_OBSTACLES_NOTHING;
}

/* A vote: 1, and in the upper half the quarter of the bin that D lies in. */
RV_HD uint32_t rv_obstacles_vote(const RvObstaclesPlan *p, int depth) {
  return 1u + ((uint32_t)(depth % p->bin * 4 / p->bin) << 16);
}

/* Sum of D in 1/16 px over the votes of a bin. */
RV_HD int64_t rv_obstacles_sum(const RvObstaclesPlan *p, uint32_t votes, int bin) {
  return (int64_t)(votes & 65535) * bin * p->bin + (int64_t)(votes >> 16) * p->bin / 4;
}

/* Disparity of a record in a row, 1/16 px; at least 1. */
RV_HD uint16_t rv_obstacles_stixel(const RvStixel *s, int y) {
  const double x = floor(((double)s->slope * (double)y + (double)s->intercept) * 16.0 + 0.5);
  return (uint16_t)(x >= 65535.0 ? 65535.0 : x >= 1.0 ? x : 1.0);
}

RV_HD uint16_t rv_obstacles_segment(const RvSegment *s, int y) {
  const int length = rv_max(s->last - s->first, 1), from = s->disparity_first;
  const int64_t rise = (int64_t)(s->disparity_last - from) * (y - s->first) * 2;
  return (uint16_t)rv_max(
      from + (int)(rise < 0 ? -((-rise + length) / (2 * length)) : (rise + length) / (2 * length)),
      1);
}

/* --- Other boxes ----------------------------------------------------------------------------- */

/* The inner half of a box, as far as it lies in the image; w or h 0: none. */
RV_HD RvObstaclesRect rv_obstacles_inner(const RvObstaclesRect *box, const RvPlane *image) {
  const int64_t w = rv_max(box->w, 0), h = rv_max(box->h, 0);
  const int64_t left = box->x + w / 4, right = box->x + w - w / 4;
  const int64_t top = box->y + h / 4, bottom = box->y + h - h / 4;
  RvObstaclesRect inner;
  inner.x = (int32_t)(left < 0 ? 0 : left > image->width ? image->width : left);
  inner.y = (int32_t)(top < 0 ? 0 : top > image->height ? image->height : top);
  inner.w = (int32_t)(right > image->width ? image->width : right) - inner.x;
  inner.h = (int32_t)(bottom > image->height ? image->height : bottom) - inner.y;
  inner.w = rv_max(inner.w, 0);
  inner.h = inner.w ? rv_max(inner.h, 0) : 0;
  return inner;
}

/* 1 when another box hides some of `part` of a box: it reaches lower in the image, as what is
 * nearer and stands on the ground. */
RV_HD int rv_obstacles_hides(const RvObstaclesRect *other, const RvObstaclesRect *box,
                             const RvObstaclesRect *part) {
  const int64_t right = (int64_t)other->x + other->w, foot = (int64_t)other->y + other->h;
  return foot > (int64_t)box->y + rv_max(box->h, 0) && right > part->x && foot > part->y &&
         other->x < part->x + part->w && other->y < part->y + part->h;
}

RV_HD int rv_obstacles_contains(const RvObstaclesRect *box, int x, int y) {
  return x >= box->x && y >= box->y && (int64_t)x - box->x < box->w && (int64_t)y - box->y < box->h;
}

/* 1 when so few of a box's `all` valid pixels are not hidden that all of them count. */
RV_HD int rv_obstacles_is_hidden(uint32_t clear, uint32_t all) {
  return (uint64_t)clear * RV_OBSTACLES_CLEAR < all;
}

/* Rank of the disparity of a box among its `count` valid pixels, from the smallest. Pixels beside
 * the near face are farther than it, so that the median is. */
RV_HD uint32_t rv_obstacles_rank(uint32_t count) {
  return count ? (uint32_t)((uint64_t)(count - 1) * RV_OBSTACLES_RANK / 100) : 0;
}

RV_HD uint8_t rv_obstacles_fraction(uint32_t count, int w, int h) {
  return (uint8_t)(w * h > 0 ? 255 * (uint64_t)count / ((uint64_t)w * (uint64_t)h) : 0);
}

/* --- Free space ------------------------------------------------------------------------------ */

RV_HD int rv_obstacles_evidence(int votes, int full) {
  return rv_min(RV_OBSTACLES_FULL * votes / full, RV_OBSTACLES_FULL);
}

/* The path of the previous strip, at a bin: costs are compared together with the distance that they
 * have come and, as the last bit, 1 when from a farther bin; ties: shortest way, then nearer
 * bin. */
RV_HD int32_t rv_obstacles_here(int32_t cost) {
  return 64 * cost;
}

/* The best of all bins, from anywhere; 63 cannot be a way. */
RV_HD int32_t rv_obstacles_jump(int32_t cost) {
  return 64 * (cost + RV_OBSTACLES_JUMP) + 63;
}

RV_HD int32_t rv_obstacles_cost(int32_t key) {
  return key >> 6;
}

/* Bin of the previous strip that a key of bin q has come from; `best` is that of a jump. */
RV_HD int rv_obstacles_from(int32_t key, int q, int best) {
  const int way = (key & 63) >> 1;
  return (key & 63) == 63 ? best : key & 1 ? q - way : q + way;
}

/* --- Runs ------------------------------------------------------------------------------------ */

/* Quantile of a run's disparities, 1/256 px of D: the `want`-th of `count` votes in a bin. */
RV_HD int rv_obstacles_quantile(const RvObstaclesPlan *p, int bin, int want, int count) {
  return 16 * p->bin * bin + 16 * p->bin * want / count;
}

/* Votes that a quantile of `percent` leaves below, at least one. */
RV_HD int rv_obstacles_share(int votes, int percent) {
  return (votes * percent + 99) / 100;
}

/* Height in mm of `rows` 1/256 row at a fine bin. */
RV_HD int32_t rv_obstacles_mm(int32_t mm, int32_t rows) {
  return (int32_t)(((int64_t)rows * mm) >> 16);
}

/* D in the middle of a fine bin, 1/16 px. */
RV_HD int rv_obstacles_center(const RvObstaclesPlan *p, int bin) {
  return rv_max(bin * p->bin + p->bin / 2, 1);
}

/* Last image row that a sampled row stands for. */
RV_HD int rv_obstacles_last_row(const RvObstaclesPlan *p, int row) {
  return rv_min(row * p->stride + p->stride - 1, p->height - 1);
}

/* First or last px of a strip of n px among `columns`; the end of the strip without any. */
RV_HD int rv_obstacles_edge(uint32_t columns, int n, int is_right) {
  int i = is_right ? n - 1 : 0;
  if (!columns)
    return i;
  while (!(columns >> i & 1))
    i += is_right ? -1 : 1;
  return i;
}

/* The fine bin in the middle of a run. */
RV_HD int rv_obstacles_middle(const RvObstaclesRun *run) {
  return (run->low + run->high) / 2;
}

/* 1 when a bin of `here` votes separates two surfaces; before and after: the most votes of a bin
 * within RV_OBSTACLES_VALLEY on either side. */
RV_HD int rv_obstacles_is_valley(int here, int before, int after) {
  return 10 * here < 6 * rv_min(before, after);
}

/* 1 when two runs of strips `apart` belong to one obstacle. Far away, where neighboring surfaces
 * differ by few bins, they must overlap by half of the shorter one. */
RV_HD int rv_obstacles_joins(const RvObstaclesPlan *p, const RvObstaclesTables *t,
                             const RvObstaclesRun *a, const RvObstaclesRun *b, int apart) {
  const int ka = rv_obstacles_middle(a), kb = rv_obstacles_middle(b), k = rv_min(ka, kb);
  const int overlap = rv_min(a->high, b->high) - rv_max(a->low, b->low) + 1;
  const int shorter = rv_min(a->high - a->low, b->high - b->low) + 1;
  if (a->over != b->over || apart > t->reach[ka] ||
      (k < p->split ? 2 * overlap < shorter : -overlap > t->tolerance[k]))
    return 0;
  const int low = rv_min(a->height, b->height), high = rv_max(a->height, b->height);
  return a->over || high - low <= RV_OBSTACLES_STEP || 2 * low >= high;
}

/* --- Boxes ----------------------------------------------------------------------------------- */

/* Weights that quantiles of a component's runs must reach, counted from the smallest key. */
RV_HD int64_t rv_obstacles_near_weight(int64_t votes) {
  return votes - (votes * RV_OBSTACLES_FRONT + 99) / 100 + 1;
}
RV_HD int64_t rv_obstacles_far_weight(int64_t votes) {
  return (votes * RV_OBSTACLES_BACK + 99) / 100;
}
RV_HD int64_t rv_obstacles_top_weight(int runs) {
  return runs / 10 + 1;
}
RV_HD int64_t rv_obstacles_bottom_weight(int runs) {
  return rv_min(runs * 9 / 10, runs - 1) + 1;
}

/* Order of boxes: the largest is the nearest; ties: lowest label. */
RV_HD uint64_t rv_obstacles_order(int32_t near_d, int32_t label) {
  return (uint64_t)(uint32_t)near_d << 32 | (0xffffffffu - (uint32_t)label);
}

/* Fine bin of a disparity in 1/256 px of D. */
RV_HD int rv_obstacles_fine(const RvObstaclesPlan *p, int32_t d) {
  return rv_clamp(d / (16 * p->bin), 0, RV_OBSTACLES_FINE - 1);
}

/* Pixels from one that is looked at to the next, so that at most RV_OBSTACLES_SAMPLES are in
 * `length`. */
RV_HD int rv_obstacles_sample_step(int length) {
  return rv_div_up(length, RV_OBSTACLES_SAMPLES);
}

/* D of the near face, 1/16 px, and the column in the middle of a box. */
RV_HD int rv_obstacles_near(const RvObstaclesPlan *p, const RvObstacleBox *box) {
  return rv_clamp(box->near_d / 16, 1, p->depths - 1);
}
RV_HD int rv_obstacles_center_column(const RvObstacleBox *box) {
  return (box->left + box->right) / 2;
}

/* 1 for a component that is an obstacle: wide or tall, and not lower than min_height, as what is
 * left of the ground below a gap is. `ground`: its row at the near face in the middle, 1/256
 * row. */
RV_HD int rv_obstacles_is_box(const RvObstaclesPlan *p, const RvObstaclesTables *t,
                              const RvObstacleBox *box, int32_t ground) {
  const int32_t rows = 256 * (box->bottom - box->top + 1);
  const int32_t mm = t->mm[rv_obstacles_fine(p, box->near_d)];
  if (!box->over && ground - 256 * box->top < 256 * RV_OBSTACLES_ROWS)
    return 0;
  if (!box->over &&
      rv_obstacles_mm(mm, ground - 256 * box->top) < (int32_t)(1000 * p->config.min_height))
    return 0;
  return box->strips >= RV_OBSTACLES_STRIPS || rv_obstacles_mm(mm, rows) >= RV_OBSTACLES_TALL;
}

/* --- Columns --------------------------------------------------------------------------------- */

/* What ends the free space of a strip. */
typedef struct RvObstaclesLimit {
  int q;              /* bin of the path, 0: none */
  int known;          /* the bin up to which ground is known, at least q */
  int64_t count, sum; /* votes near the path, and their D in 1/16 px */
  int valid;          /* fraction of valid pixels below the horizon, 0..255 */
  int evidence;       /* of the bin */
  int holes;          /* 1: many pixels at its height have no disparity */
  int obstacle;       /* index of the box, or RV_OBSTACLE_NONE */
  int is_smooth;      /* 1: the image has no contrast where its votes are */
  int is_dim;         /* 1: but they are too near for that to count, other than near something
                       * overhanging */
  int is_bridged;     /* nothing stands there */
} RvObstaclesLimit;

/* 1 when a run reaches the bins whose votes are evidence for bin q of the free space. */
RV_HD int rv_obstacles_meets(const RvObstaclesRun *run, int q) {
  return !run->over && run->low <= 2 * q + 3 && run->high >= 2 * q - 2;
}

/* The matcher gives the disparity of what hangs to smooth surfaces around it, and rejects a part of
 * these pixels: near something overhanging, evidence of no box, or with holes, is none. */
RV_HD int rv_obstacles_is_loose(const RvObstaclesLimit *limit) {
  return limit->q && limit->evidence && limit->obstacle == RV_OBSTACLE_NONE;
}
RV_HD int rv_obstacles_is_holed(const RvObstaclesLimit *limit) {
  return limit->q && limit->evidence && limit->holes;
}

/* 1 when an overhanging run is as far away as bin q of the free space, but for 1 / (part + 1). */
RV_HD int rv_obstacles_hangs(const RvObstaclesRun *run, int q, int part) {
  const int at = 2 * q + 1;
  return run->over && part * run->low <= (part + 1) * at && (part + 1) * run->high >= part * at;
}

/* Strips to either side in which something overhanging can be the cause of evidence; -1: none. */
RV_HD int rv_obstacles_smear_reach(const RvObstaclesLimit *limit) {
  if (limit->is_smooth)
    return -1;
  return limit->is_dim || rv_obstacles_is_holed(limit) ? RV_OBSTACLES_HOLED
         : rv_obstacles_is_loose(limit)                ? RV_OBSTACLES_HANG
                                                       : -1;
}

/* 1 when a run `apart` strips away is the cause. */
RV_HD int rv_obstacles_smears(const RvObstaclesLimit *limit, const RvObstaclesRun *run, int apart) {
  const int is_wide = limit->is_dim || (rv_obstacles_is_loose(limit) &&
                                        apart <= RV_OBSTACLES_HANG && apart >= -RV_OBSTACLES_HANG);
  return (is_wide && rv_obstacles_hangs(run, limit->q, RV_OBSTACLES_HANG_PART)) ||
         (rv_obstacles_is_holed(limit) &&
          rv_obstacles_hangs(run, limit->q, RV_OBSTACLES_HOLED_PART));
}

/* First and last image row of what is in the way at one D; `column` as of the middle of a strip. */
typedef struct RvObstaclesRows {
  int first, last;
} RvObstaclesRows;

RV_HD RvObstaclesRows rv_obstacles_rows_at(const RvObstaclesPlan *p, const RvObstaclesDepthRow *d,
                                           int32_t column) {
  const int32_t ground = d->row - column;
  RvObstaclesRows rows;
  rows.first = rv_max((ground - d->clear) >> 8, 0);
  rows.last = rv_min((ground - d->low) >> 8, p->height - 1);
  return rows;
}

RV_HD int rv_obstacles_has_holes(int holes, int pixels) {
  return 100 * holes > RV_OBSTACLES_HOLES * pixels;
}

/* 1 when bin q is below `px` of D, where its evidence must have contrast: the matcher assigns wrong
 * disparities to smooth surfaces, and few px are many meters there. */
RV_HD int rv_obstacles_is_faint(const RvObstaclesPlan *p, int q, int px) {
  return q && (2 * q + 1) * p->bin < 16 * px;
}

/* 1 when a pixel votes near bin q of the free space; `rows`: by D, `row` as of rv_obstacles_class.
 */
RV_HD int rv_obstacles_votes_for(const RvObstaclesPlan *p, const RvObstaclesDepthRow *rows,
                                 int disparity, int32_t row, int q) {
  const int depth = rv_obstacles_depth_of(p, disparity), k = depth / p->bin;
  return depth && k >= 2 * q - 2 && k <= 2 * q + 3 &&
         rv_obstacles_class(&rows[depth], row) == RV_OBSTACLES_BODY_PX;
}

/* Rows of the pixels that can vote near bin q: from its nearest to its farthest D. */
RV_HD RvObstaclesRows rv_obstacles_rows_near(const RvObstaclesPlan *p,
                                             const RvObstaclesDepthRow *rows, int32_t column,
                                             int q) {
  const int near = rv_min((2 * q + 4) * p->bin, p->depths) - 1;
  const RvObstaclesRows a = rv_obstacles_rows_at(p, &rows[near], column);
  const RvObstaclesRows b =
      rv_obstacles_rows_at(p, &rows[rv_clamp((2 * q - 2) * p->bin, 1, near)], column);
  const RvObstaclesRows both = {rv_min(a.first, b.first), rv_max(a.last, b.last)};
  return both;
}

/* Difference of the sums of three rows 2 px to the right and to the left of a pixel. */
RV_HD int rv_obstacles_contrast(const RvPlane *gray, int x, int y) {
  const int left = rv_max(x - 2, 0), right = rv_min(x + 2, gray->width - 1);
  int sum = 0;
  for (int i = -1; i <= 1; i++) {
    const uint8_t *row =
        (const uint8_t *)gray->data + rv_clamp(y + i, 0, gray->height - 1) * gray->stride;
    sum += row[right] - row[left];
  }
  return sum < 0 ? -sum : sum;
}

/* Contrast of pixels above that which is sufficient, or below; in a column alone, or in a strip. */
RV_HD int rv_obstacles_excess(int contrast, int votes, int least) {
  return 2 * contrast - least * votes;
}

/* What the image says about a limit, with `flat` columns that have no contrast. Half of them
 * suffice: the others may be next to an edge, whose disparity the matcher gives to what is beside
 * it. */
RV_HD void rv_obstacles_look(const RvObstaclesPlan *p, int flat, int excess,
                             RvObstaclesLimit *limit) {
  const int is_flat = 2 * flat >= p->n;
  if (rv_obstacles_is_faint(p, limit->q, RV_OBSTACLES_FAINT))
    limit->is_smooth = is_flat || excess < 0;
  else
    limit->is_dim = is_flat;
}

/* Farthest bin of the free space that pixels can vote for. */
RV_HD int rv_obstacles_farthest(const RvObstaclesPlan *p) {
  return p->least / (2 * p->bin);
}

/* 1 when bin k lies RV_OBSTACLES_FREE_GAP farther than bin `seen`. */
RV_HD int rv_obstacles_is_gap(const RvObstaclesPlan *p, int seen, int k) {
  const double a = (2 * seen + 1) * p->bin / 16.0, b = (2 * k + 1) * p->bin / 16.0;
  return p->metric * (a - b) > RV_OBSTACLES_FREE_GAP * a * b;
}

/* `smeared`: 1 when something overhanging is the cause of the evidence. */
RV_HD void rv_obstacles_bridge(RvObstaclesLimit *limit, int smeared) {
  limit->is_smooth |= limit->is_dim && smeared;
  limit->is_bridged = limit->evidence == 0 || limit->is_smooth || smeared;
}

/* The path has bridged a strip: where ground is known beyond, it, or what is not known behind, is
 * the limit. Where the image shows nothing, the end of the ground is, if none is known beyond.
 * `through`: the bin up to which ground is known. */
RV_HD void rv_obstacles_pass(RvObstaclesLimit *limit, int through) {
  if (limit->q == 0 || !limit->is_bridged || (through >= limit->q && !limit->is_smooth))
    return;
  limit->q = 0;
  limit->known = through;
  limit->count = limit->sum = 0;
  limit->obstacle = RV_OBSTACLE_NONE;
}

RV_HD int rv_obstacles_is_unknown(const RvObstaclesLimit *limit) {
  return limit->valid * 10 < 255 || limit->known > limit->q;
}

/* D up to which it is free, 1/16 px; without an obstacle the least that is looked at. */
RV_HD int rv_obstacles_limit_depth(const RvObstaclesPlan *p, const RvObstaclesLimit *limit) {
  if (limit->known > limit->q)
    return rv_obstacles_center(p, 2 * limit->known);
  if (limit->q == 0)
    return p->least;
  const int depth = limit->count ? (int)((limit->sum + limit->count / 2) / limit->count)
                                 : rv_obstacles_center(p, 2 * limit->q);
  return rv_clamp(depth, 1, p->depths - 1);
}

/* `row`: of the ground at that D, 1/256 row. */
RV_HD RvFreeColumn rv_obstacles_free_column(const RvObstaclesPlan *p, const RvObstaclesLimit *limit,
                                            int depth, int32_t row) {
  const int is_unknown = rv_obstacles_is_unknown(limit), is_open = limit->known == 0;
  RvFreeColumn column;
  column.row = (uint16_t)rv_clamp((row + 128) >> 8, 0, p->height - 1);
  column.disparity = (uint16_t)(is_open ? 0 : rv_clamp(depth - p->doffs, 1, 65535));
  column.kind = (uint8_t)(is_unknown      ? RV_FREE_SPACE_UNKNOWN
                          : limit->q == 0 ? RV_FREE_SPACE_RANGE
                                          : RV_FREE_SPACE_OBJECT);
  column.confidence = (uint8_t)(is_unknown      ? 0
                                : limit->q == 0 ? limit->valid
                                                : limit->valid * limit->evidence / 100);
  column.obstacle = (uint16_t)(is_unknown ? RV_OBSTACLE_NONE : limit->obstacle);
  return column;
}

/* Without a ground nothing is known to be free. */
RV_HD RvFreeColumn rv_obstacles_no_column(const RvObstaclesPlan *p) {
  const RvFreeColumn column = {(uint16_t)(p->height - 1),
                               (uint16_t)rv_clamp(p->depths - 1 - p->doffs, 1, 65535),
                               RV_FREE_SPACE_UNKNOWN, 0, RV_OBSTACLE_NONE};
  return column;
}

#endif
