/* SPDX-License-Identifier: MIT */
/* stixels.h: the street in a thousand sticks. Every column of a disparity raster is cut into
 * stixels: vertical sticks of class ground, object or sky, each with a plane of disparity. The cut
 * is the one of least energy, found by dynamic programming, column by column.
 *
 * Source: Hernandez-Juarez, chapters 3 and 4 of the thesis (slanted stixels and their GPU version);
 * equation numbers are its. docs/notes/stixels.md says where it errs. Both engines give the same
 * bits.
 *
 * What is computed:
 *  1. cells     blocks of stixel_width x vertical_step px, counted from the left and from the
 * bottom (those at the right and at the top may be cut). A cell is valid when at least half of its
 * pixels are; its disparity is their mean weighted with their confidence, its confidence c their
 * mean. Confidences are divided by full_confidence first, in steps of 1/256, and count as 255 at
 * most. When its disparities span more than 2 px, and more than half a px a row, they are divided
 * at that mean, and only the side of more pixels counts, of equals the nearer one. A cell of weight
 * round(c^2 / 255) = 0 is invalid. Disparities above max_disparity count as max_disparity.
 * Semantics (labels or scores, of any size): pixel (x, y) of the picture reads pixel (x map width /
 * width, y map height / height) of the map, rounded down. The score of a semantic class in a cell
 * is the mean over all its pixels; a label gives its class 0.9 and the others the rest in equal
 * shares, a label that is no class gives all the same. Scores below 0 and NaN count as 0, those
 * above 1 as 1, all in 1/2^23; they need not add up to 1. A cell costs -log(score) in 1/256 nat, at
 * most 16 nat.
 *  2. ground    the expected ground plane, from the camera or estimated (below).
 *  3. columns   energy (3.3) over rows v = 0.. of cells, counted from the bottom:
 *               data    an invalid cell costs -log(1 - p_val), a valid one -log(p_val P(d)), P
 * being (4.12) without or (3.9) with uniform outliers, sigma the standard deviation plane   mu(v) =
 * b v + a of each stixel minimises data and plane prior (3.23) priors  complexity (3.13), plane
 * (3.22), gravity (3.18), ordering (3.19), gap (3.20), transition (3.21); planes are compared at
 * the upper stixel's lowest row.
 *               semantics  semantic_weight times the sum of its cells' costs (4.3), for that
 * semantic class of the stixel's structural class which makes it least, of equals the one of
 * smaller number. A structural class without any costs 16 nat a cell, and its stixels have no
 * semantic class. The first stixel begins in row 0, the last one ends in the top row, and every
 * stixel begins right above its predecessor (3.14-3.17) Sky has a = b = 0 and begins only where the
 * ground plane is below 1 px. The recursion keeps one best stixel for each row and class (4.9);
 * equal costs are decided for the smaller row of the cut, then for the class of smaller number.
 * Costs are integers of 1/1024 nat, each stixel's rounded once, saturated at 2^29; a
 * penalty at 2^28, a difference at 1024 px.
 *  4. borders   (`refine`) each border between two stixels moves, by less than half a step, to the
 *               row of pixels where the differences between pixels and planes, each at most 3 px,
 * sum up to least: of equals the nearest, then the upper one. Planes and costs stay.
 *  5. output    a list of stixels, from which rv_stixels_render makes dense maps again.
 *
 * Estimated ground: cells vote in a row x disparity histogram for lines (disparity at row 0 in up
 * to 128 steps, horizon in 64 steps from 16/64 to 79/64 of the height); a row gives a line at most
 * a quarter of the columns, so that walls do not win. Of equal lines the first wins. Below an
 * eighth of the most votes the picture has no road and the plane stays. Else the least-squares line
 * through the cells within 1 px + 1/16 of the winner, in whole px, becomes the plane in the first
 * frame, and moves it by a quarter of the difference in later ones. Until a road is found the plane
 * is the camera's, or, without one, has its horizon at half the height and 3/8 of max_disparity at
 * row 0.
 */
#ifndef RV_STIXELS_H
#define RV_STIXELS_H

#include "rv.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_STIXELS_CLASSES 3       /* RvStixelClass */
#define RV_STIXELS_COST_STEPS 1024 /* of energy per nat */
#define RV_STIXELS_SIGMA_FREE 1e6  /* a plane sigma from here on means: no prior */

typedef enum RvStixelsGroundKind {
  RV_STIXELS_GROUND_ESTIMATE = 0,
  RV_STIXELS_GROUND_CAMERA /* from focal, baseline, height, pitch and cy of the camera */
} RvStixelsGroundKind;

/* Where stixels may begin and end (3.24). More sources may come; what they need joins
 * RvStixelsInput. */
typedef enum RvStixelsCutsKind {
  RV_STIXELS_CUTS_ALL = 0,
  RV_STIXELS_CUTS_TIME_SERIES /* where a column's series of cells turns (3.4.1) or steps by 1 px or
                               * more, or to or from a cell without a value, and where the likeliest
                               * semantic class changes */
} RvStixelsCutsKind;

/* Ranges and defaults; the element's properties are made from these. */
#define RV_STIXELS_CELL_MAX 64
#define RV_STIXELS_CELL_DEFAULT 8
#define RV_STIXELS_MAX_DISPARITY_MAX 1024
#define RV_STIXELS_MAX_DISPARITY_DEFAULT 128
#define RV_STIXELS_SIGMA_MIN 0.1
#define RV_STIXELS_FULL_CONFIDENCE_MIN 0.004
#define RV_STIXELS_SIGMA_MAX 4.0
#define RV_STIXELS_PRIOR_MAX 1000.0
#define RV_STIXELS_SEMANTICS_MAX 32
#define RV_STIXELS_WEIGHT_MAX 100.0

/* A penalty alpha + beta |difference|. */
typedef struct RvStixelsPenalty {
  double alpha; /* nat, 0..1000 */
  double beta;  /* nat per px of disparity, 0..1000 */
} RvStixelsPenalty;

typedef struct RvStixelsConfig {
  int width, height;          /* px, 1..RV_MAX_SIDE each; fixed for the object's life; no default */
  int stixel_width;           /* px, 1..64; 8 */
  int vertical_step;          /* px, 1..64; 8 */
  RvStixelsModelKind model;   /* RV_STIXELS_SLANTED_FAST */
  RvStixelsGroundKind ground; /* RV_STIXELS_GROUND_ESTIMATE */
  int refine;                 /* 1: borders at rows of pixels, 0: of cells; 1 */
  RvStixelsCutsKind cuts;     /* RV_STIXELS_CUTS_ALL */
  RvCamera camera;            /* may be unknown (0) with RV_STIXELS_GROUND_ESTIMATE */
  int max_disparity;          /* px, 1..1024; 128 */
  double full_confidence; /* the confidence, as a share of 255, from which on sigma is the noise;
                           * below, it is wider in proportion (3.9). 0.004..1; 0.05, as measured
                           * for what rv_sgm gives */
  double p_val;           /* share of valid cells, 0.01..0.99; 0.9 */
  double p_out;           /* share of outliers, 0.001..0.9; 0.1. Not in slanted-fast */
  double sigma[RV_STIXELS_CLASSES]; /* px, noise of a cell by class, 0.1..4; 1, 1, 1 */
  /* Plane prior: 0 fixes the parameter, RV_STIXELS_SIGMA_FREE leaves it free; 0..1e6. `constant` takes
   * all three as 0. */
  double sigma_ground_a;          /* px, of the disparity at row 0; 8 */
  double sigma_ground_b;          /* px of disparity per px of row; 0.1 */
  double sigma_object_b;          /* px of disparity per px of row; 0 */
  double complexity;              /* nat per stixel, 0..1000; 5 */
  RvStixelsPenalty gravity_minus; /* object farther than the ground below it; 0, 0.3 */
  RvStixelsPenalty gravity_plus;  /* object nearer than the ground below it; 0, 0.3 */
  RvStixelsPenalty ordering;      /* object nearer than the object below it; 1, 0.5 */
  RvStixelsPenalty gap_minus;     /* ground lower (farther) than the ground below goes on; 1, 1 */
  RvStixelsPenalty gap_plus;      /* ground higher (nearer) than the ground below goes on; 1, 1 */
  double transition[RV_STIXELS_CLASSES][RV_STIXELS_CLASSES]; /* [class][class below], nat, 0..1000;
                                                              * 0, but ground on object 2, ground on
                                                              * sky 20, object on sky 5 */
  double first[RV_STIXELS_CLASSES]; /* nat of a column's lowest stixel by class, 0..1000; 0, 8, 8 */
  int semantics;                    /* number of semantic classes, 0..32; 0 */
  double semantic_weight;           /* w_l of (4.2), in steps of 1/256, 0..100; 1 */
  uint8_t semantic_structure[RV_STIXELS_SEMANTICS_MAX]; /* RvStixelClass of each; object */
  int threads;                                          /* CPU engine, 0 = all; 0 */
  RvLog log;                                            /* silent */
} RvStixelsConfig;

/* The expected ground plane: disparity = at + slope * v, v in rows of cells from the bottom. */
typedef struct RvStixelsGround {
  int64_t at;    /* 1/2^24 px */
  int64_t slope; /* 1/2^24 px per row of cells */
  int32_t found; /* frames with a road so far, saturated at 2^29; 0 with a plane from the camera */
  int32_t score; /* votes of the present frame's line; 0 with a plane from the camera */
} RvStixelsGround;

/* What run() reads, in the memory of the engine. */
typedef struct RvStixelsInput {
  RvPlane disparity;  /* RV_U16, width x height: 1/16 px, 0 = no value */
  RvPlane confidence; /* RV_U8, width x height; data NULL: 255 everywhere */
  /* Semantics of this frame, one or neither; data NULL: none. Only with `semantics` classes. */
  RvPlane labels; /* RV_U8, any size: classes; what is no class is unknown */
  RvPlane scores; /* RV_U16 that hold IEEE half floats, a plane for each class, one below the
                   * other: any width, height = classes x height of the map */
} RvStixelsInput;

/* Where run() writes, all in the memory of the engine, not overlapping. What is NULL is not made.
 */
typedef struct RvStixelsOutput {
  RvStixel *stixels; /* columns from left to right, in a column from the bottom up */
  uint32_t capacity; /* of `stixels`; those beyond are counted but not written */
  uint32_t *offsets; /* columns + 1, always with `stixels`: number of stixels of all columns to the
                      * left, whatever the capacity; the last is that of all columns */
  int32_t *energies; /* columns: 1/1024 nat */
  RvStixelsGround *ground; /* 1, aligned to 8 bytes */
} RvStixelsOutput;

typedef struct RvStixels RvStixels;

/* Defaults for everything but width and height, which become 0. */
RV_API void rv_stixels_config_init(RvStixelsConfig *config);

/* RV_OK, or RV_ERR_ARG after logging which rule is broken. */
RV_API RvStatus rv_stixels_config_check(const RvStixelsConfig *config);

/* Bytes that _new takes on the engine's memory, 0 if the config is invalid. RV_CUDA: on the current
 * device, as some tables are in the shared memory of devices that have enough; where there is no
 * device, what is enough for any. */
RV_API size_t rv_stixels_workspace(const RvStixelsConfig *config, RvEngine engine);

/* Columns and rows of cells, and the capacity that holds every result: columns x rows. */
RV_API int rv_stixels_columns(const RvStixelsConfig *config);
RV_API int rv_stixels_rows(const RvStixelsConfig *config);
RV_API uint32_t rv_stixels_count_max(const RvStixelsConfig *config);

/* *out is NULL after a failure. RV_CUDA takes its memory on the current device. */
RV_API RvStatus rv_stixels_new(RvStixels **out, const RvStixelsConfig *config, RvEngine engine);

RV_API RvStatus rv_stixels_run(RvStixels *stixels, const RvStixelsInput *input,
                               const RvStixelsOutput *output, RvStream stream);

/* Dense maps of a list as run() makes it; planes with data NULL are left out.
 * disparity: RV_U16, 1/16 px, rounded, at least 1, and 0 outside all stixels; classes: RV_U8,
 * RvStixelClass, and 255 outside. Stixels at or beyond `capacity` are not read. */
RV_API RvStatus rv_stixels_render(RvStixels *stixels, const RvStixel *list, uint32_t capacity,
                                  const uint32_t *offsets, const RvPlane *disparity,
                                  const RvPlane *classes, RvStream stream);

/* Waits for nothing: the caller has made sure that the stream has passed. */
RV_API void rv_stixels_free(RvStixels **stixels);

#ifdef __cplusplus
}
#endif
#endif
