/* SPDX-License-Identifier: MIT */
/* stixels.h: slanted stixels from disparity. Every column of a disparity raster is divided into
 * stixels: vertical runs of rows of class ground, object or sky, each with a plane of disparity.
 * The division is the one of minimum energy, found by dynamic programming, column by column.
 *
 * Source: Hernandez-Juarez, chapters 3 and 4 of the thesis (slanted stixels and their GPU version);
 * equation numbers are those of the thesis. docs/notes/stixels.md lists its errors. Both engines
 * give the same bits.
 *
 * What is computed:
 *
 *  1. cells
 *     Blocks of stixel_width x vertical_step px, counted from the left and from the bottom; those
 *     at the right and at the top may be incomplete. A cell is valid when at least a quarter of its
 *     pixels are. Its disparity is their mean, weighted with their confidence; its confidence c is
 *     their mean confidence, with less than half of the pixels in proportion to their number.
 *       confidence  Divided by full_confidence first, in steps of 1/256, at most 255; at least
 *                   min_confidence, unless it is 0.
 *       mixed       A cell whose disparities span more than 2 px, and more than half a px per row,
 *                   is divided at its mean. Only the side with more pixels counts; on a tie, the
 *                   nearer one.
 *       weight      round(c^2 / 255). A cell of weight 0 is invalid.
 *       maximum     Disparities above max_disparity are clamped to it.
 *       empty       An invalid cell is empty when at most an eighth of its pixels are valid.
 *       one view    To the left of a nearer surface, a strip of the farther one is hidden from the
 *                   right view; its width in px is the difference of their disparities. Invalid
 *                   cells between two valid ones of a row whose gap is at most one cell wider than
 *                   that get the disparity of the left one and the confidence one_view_confidence;
 *                   those at the left edge, up to one cell wider than the disparity of the first
 *                   valid cell, get that. They do not vote for the ground. 0: they stay invalid.
 *
 *  2. semantics, optional: labels or scores, of any size
 *     Pixel (x, y) of the image reads pixel (x map width / width, y map height / height) of the
 *     map, rounded down. The score of a semantic class in a cell is the mean over all pixels of
 *     the cell.
 *       labels      The class of the label has score 0.9, the others share the rest equally. A
 *                   label that is not a valid class gives all classes the same score.
 *       scores      Values below 0 and NaN become 0, values above 1 become 1, all in steps of
 *                   1/2^23. They need not add up to 1.
 *     A cell costs -log(score), in steps of 1/256 nat, at most 16 nat.
 *       repair      With semantic_repair. The surface of a cell is the cells up to 48 px away,
 *                   across and up, in whole cells, of like disparity, or of like height where both
 *                   are less than 1.5 px from the expected ground; weights as in sharing. A cell
 *                   whose four neighbors are of its surface is inside, and contradicted if cells of
 *                   its class (the one of least cost) have less than 3/10 of the weight. If more
 *                   than 1 in 20 cells inside are contradicted, the labels of the frame are
 *                   doubtful: these cells, and those of their class at most 2 cells away across and
 *                   up whose class has less than half the weight, exchange the costs of their class
 *                   and of the class with most weight (ties: structural class, then index). Cells
 *                   whose classes all cost the same take no part. Other frames stay as they are.
 *       sharing     With semantic_radius each cost is then the mean over the cells that are at most
 *                   so many px away, across and up, in whole cells, rounded, halves up. The weight
 *                   of a cell falls linearly with the difference of its disparity, from 8 at none
 *                   to 0 at half a px; invalid cells have a disparity of 0. So the cells of a
 *                   surface outvote a wrong patch of it, also one as large as an object.
 *
 *  3. ground
 *     The expected ground plane, from the camera or estimated (see below).
 *
 *  4. columns
 *     Energy (3.3) over the rows of cells v = 0, 1, ..., counted from the bottom:
 *       data        An invalid cell costs -log(1 - p_val), a valid one -log(p_val P(d)). P is
 *                   (4.12) without or (3.9) with uniform outliers; sigma is the standard deviation.
 *       sky         Its plane is known, so (3.9) is a sum over its cells in all models: a wrong
 *                   disparity costs at most what an outlier does. An empty cell costs
 *                   -log(p_empty_sky): rv_sgm rejects the disparities of sky.
 *       plane       mu(v) = b v + a of each stixel minimizes data and plane prior (3.23).
 *       priors      Complexity (3.13), plane (3.22), gravity (3.18), ordering (3.19), gap (3.20),
 *                   transition (3.21). Planes are compared at the lowest row of the upper stixel.
 *       semantics   semantic_weight times the sum of the costs of the cells (4.3), for the semantic
 *                   class of the stixel's structural class with the minimum sum; on a tie, the
 *                   class of lowest index. A structural class without semantic classes costs 16
 *                   nat per cell, and its stixels have no semantic class.
 *       semantic priors  With semantic_priors the class of (3.9), (3.21) and (3.22) is the semantic
 *                   class: a stixel has the sigma of its class, a pair also costs the transition
 *                   between both classes, and the recursion keeps one best stixel per row and
 *                   semantic class, ordered by structural class, then by index, and after them the
 *                   structural classes without semantic classes. Time is proportional to the number
 *                   of classes, on the GPU about to its square.
 *       structure   The first stixel starts in row 0, the last one ends in the top row, and every
 *                   stixel starts directly above its predecessor (3.14-3.17). Sky has a = b = 0 and
 *                   starts only where the ground plane is below 1 px.
 *       recursion   One best stixel is kept per row and class (4.9). Ties: lowest start row, then
 *                   the class of lowest index.
 *       numbers     Costs are integers of 1/1024 nat; the cost of each stixel is rounded once and
 *                   saturated at 2^29, a penalty at 2^28, a difference at 1024 px.
 *
 *  5. boundaries, with `refine`
 *     Each boundary between two stixels moves, by less than half a vertical_step, to the row of
 *     pixels with the minimum sum of differences between pixels and planes, each at most 3 px; an
 *     invalid pixel is 1.5 px from ground and objects, and 0 px from sky. With labels a pixel of
 *     another class than that of the stixel counts 3 px more. Scores do not move boundaries.
 *     Ties: the nearest row, then the upper one. Planes and costs stay unchanged.
 *
 *  6. output
 *     A list of stixels. rv_stixels_render converts it to dense maps.
 *
 * Estimated ground plane:
 *   surface With a surface of cuda/ground its plane at the center column is used, as it is. In
 *           frames in which it has no plane the previous one is kept. Without a surface, the vote,
 *           which is less reliable: it considers all columns, and facades and parked cars form
 *           lines with more votes than the road in wide images.
 *   vote    Cells vote in a histogram of rows and disparities for lines: the disparity at row 0 in
 *           up to 128 steps, the horizon in 64 steps from 16/64 to 79/64 of the height. A row gives
 *           a line at most a quarter of the columns, so that walls do not win. Ties: the first
 *           line.
 *   road    Below an eighth of the maximum number of votes the frame has no road and the plane
 *           stays unchanged. Otherwise the least-squares line through the cells within 1 px + 1/16
 *           of the winner, in integer px, becomes the plane in the first frame with a road. A
 *           later road moves the plane by a quarter of the difference, for the frames after it: a
 *           frame does not wait for its own vote while a road is known.
 *   start   Until a road is found the plane is that of the camera. Without a camera its horizon is
 *           at half the height and its disparity at row 0 is 3/8 of max_disparity. */
#ifndef RV_STIXELS_H
#define RV_STIXELS_H

#include "ground/ground.h"
#include "rv.h"
#include "rv_params.h"
#include "rv_records.h"
#include "stixels/stixels_network.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_STIXELS_CLASSES 3        /* RvStixelClass */
#define RV_STIXELS_SEMANTICS_MAX 32 /* semantic classes */
#define RV_STIXELS_COST_STEPS 1024  /* of energy per nat */
#define RV_STIXELS_RANGE 128        /* px, for max_disparity = 0 */
#define RV_STIXELS_RANGE_MAX 1024   /* px, largest max_disparity */
#define RV_STIXELS_SIGMA_FREE 1e6   /* standard deviation of a plane parameter without a prior */

typedef enum RvStixelsGroundKind {
  RV_STIXELS_GROUND_ESTIMATE = 0,
  RV_STIXELS_GROUND_CAMERA /* from focal, baseline, height, pitch and cy of the camera */
} RvStixelsGroundKind;

/* Allowed boundaries of stixels (3.24); also those where the most likely semantic class changes. */
typedef enum RvStixelsCutsKind {
  RV_STIXELS_CUTS_ALL = 0,     /* every row of cells */
  RV_STIXELS_CUTS_TIME_SERIES, /* rows where the disparities of a column of cells have a local
                                * extremum (3.4.1) or a jump of 1 px or more, or where valid cells
                                * meet invalid ones */
  RV_STIXELS_CUTS_NETWORK      /* rows that a network learned from exact stixels (3.4.2) */
} RvStixelsCutsKind;

/* A penalty alpha + beta |difference|. */
typedef struct RvStixelsPenalty {
  double alpha; /* nat, 0..1000 */
  double beta;  /* nat per px of disparity, 0..1000 */
} RvStixelsPenalty;

/* Priors of semantic classes, in addition to those of their structural classes. */
typedef struct RvStixelsSemanticPriors {
  /* Standard deviation of the disparity of a cell by class (3.9, 3.22), px, 0.1..4; 0: that of the
   * structural class. */
  double sigma[RV_STIXELS_SEMANTICS_MAX];

  /* gamma of (3.21) [class][class below], nat, 0..1000, in addition to that of the structural
   * classes. */
  double transition[RV_STIXELS_SEMANTICS_MAX][RV_STIXELS_SEMANTICS_MAX];
} RvStixelsSemanticPriors;

/* Fields: unit, range; default. rv_stixels_params () states the same as a table. */
typedef struct RvStixelsConfig {
  int width, height;               /* fixed for the life of the object; px, 1..16384; no default */
  int stixel_width;                /* px, 1..64; 8 */
  int vertical_step;               /* px, 1..64; 8 */
  RvStixelsModelKind model;        /* RV_STIXELS_SLANTED_FAST */
  RvStixelsGroundKind ground;      /* RV_STIXELS_GROUND_ESTIMATE */
  int refine;                      /* boundaries at rows of pixels (1) or of cells (0), 0 or 1; 1 */
  RvStixelsCutsKind cuts;          /* RV_STIXELS_CUTS_ALL */
  double cut_penalty;              /* weight of the costs of cuts (3.24), 0..100; 0. With
                                    * RV_STIXELS_CUTS_NETWORK a stixel that starts in row v > 0
                                    * costs as many times -log of the network's confidence in that
                                    * cut, except at semantic edges */
  const RvStixelsNetwork *network; /* copied by _new; NULL: that of the library. Of
                                    * RV_STIXELS_CUTS_NETWORK */

  RvCamera camera;        /* may be unknown (0) with RV_STIXELS_GROUND_ESTIMATE; focal in px,
                           * 0..1e6; cy in px, -1e6..1e6; doffs in px, -1e4..1e4; baseline and
                           * height in m, 0..1000; pitch in degrees, positive down, -89..89 */
  int max_disparity;      /* px, 0..1024; 0. 0: RV_STIXELS_RANGE */
  double full_confidence; /* confidence as a fraction of 255 from which sigma applies; below, the
                           * standard deviation is sigma divided by the confidence (3.9).
                           * 0.004..1; 0.7, measured for the confidence of rv_sgm */
  double min_confidence;  /* lower limit of that divisor, except for confidence 0; 0..1; 0.8 */
  double one_view_confidence; /* of cells that only the left view sees; 0: they stay invalid;
                               * 0..1; 1 */
  double p_val;               /* fraction of valid cells, 0.01..0.99; 0.9 */
  double p_empty_sky;         /* likelihood of a cell without values as sky, 0.01..0.99; 0.5 */
  double p_out; /* fraction of outliers, 0.001..0.9; 0.1. In slanted-fast of sky only */

  /* Standard deviation of the disparity of a cell by class, px, 0.1..4; 0.85, 0.85, 0.5. */
  double sigma[RV_STIXELS_CLASSES];

  /* Plane prior: standard deviations. 0 fixes the parameter, RV_STIXELS_SIGMA_FREE leaves it free.
   * `constant` uses 0 for all three. */
  double sigma_ground_a; /* of the disparity at row 0, px, 0..1e6; 8 */
  double sigma_ground_b; /* px of disparity per px of row, 0..1e6; 0.1 */
  double sigma_object_b; /* px of disparity per px of row, 0..1e6; 0.2 */

  double complexity; /* nat per stixel, 0..1000; 10 */
  /* alpha and beta, 0..1000 each. */
  RvStixelsPenalty gravity_minus; /* object farther than the ground below it; 0, 0.1 */
  RvStixelsPenalty gravity_plus;  /* object nearer than the ground below it; 0, 0.1 */
  RvStixelsPenalty ordering;      /* object nearer than the object below it; 1, 0.2 */
  RvStixelsPenalty gap_minus;     /* ground farther than the extrapolated lower ground; 1, 1 */
  RvStixelsPenalty gap_plus;      /* ground nearer than the extrapolated lower ground; 1, 1 */

  /* Cost of a transition [class][class below], nat, 0..1000; 0, except ground on object 2, ground
   * on sky 20, object on sky 15. */
  double transition[RV_STIXELS_CLASSES][RV_STIXELS_CLASSES];

  /* Cost of the lowest stixel of a column by class, nat, 0..1000; 0, 8, 8. */
  double at_bottom[RV_STIXELS_CLASSES];

  int semantics;          /* number of semantic classes, 0..32; 0 */
  double semantic_weight; /* w_l of (4.2), in steps of 1/256, 0..100; 8 */
  int semantic_radius;    /* px within which cells of like disparity share their semantics, 0..64;
                           * 0: none */
  int semantic_repair;    /* patches of labels that their surface contradicts, in frames with many
                           * of them; 0 or 1; 0 */

  /* RvStixelClass of each semantic class; all RV_STIXEL_OBJECT. */
  uint8_t semantic_structure[RV_STIXELS_SEMANTICS_MAX];

  /* NULL (none) or priors of the first `semantics` classes, which new() copies; NULL. Only frames
   * with semantics use them: see "semantic priors" above. */
  const RvStixelsSemanticPriors *semantic_priors;

  int threads; /* CPU engine, 0 = all; 0 */
  RvLog log;   /* silent */
} RvStixelsConfig;

/* The expected ground plane: disparity = at + slope * v, v in rows of cells from the bottom. */
typedef struct RvStixelsGround {
  int64_t at;    /* 1/2^24 px */
  int64_t slope; /* 1/2^24 px per row of cells */
  int32_t found; /* frames with a road so far, with this one, saturated at 2^29; 0 with a plane from
                  * the camera */
  int32_t score; /* votes of the line of the current frame; 0 without a vote */
} RvStixelsGround;

/* What run() reads, in the memory of the engine. */
typedef struct RvStixelsInput {
  RvPlane disparity;  /* RV_U16, width x height: 1/16 px, 0 = invalid */
  RvPlane confidence; /* RV_U8, width x height; data NULL: 255 everywhere */

  /* Semantics of this frame, at most one of the two; data NULL: none. Only with semantics > 0. */
  RvPlane labels; /* RV_U8, any size: class indices; a value that is not a class is unknown */
  RvPlane scores; /* RV_U16 that contain IEEE half floats, one plane per class, one below the
                   * other: any width, height = classes x height of the map */

  /* The ground of this frame from cuda/ground, aligned to 8 bytes; NULL: the vote. Only of
   * RV_STIXELS_GROUND_ESTIMATE. */
  const RvGroundSurface *surface;
} RvStixelsInput;

/* Where run() writes, all in the memory of the engine, not overlapping. Outputs that are NULL are
 * not computed. */
typedef struct RvStixelsOutput {
  RvStixel *stixels; /* columns from left to right, in a column from the bottom up; aligned to
                      * 4 bytes; needs `offsets` */
  uint32_t capacity; /* of `stixels`; those beyond are counted but not written */
  uint32_t *offsets; /* columns + 1: number of stixels of all columns to the left, also beyond the
                      * capacity; the last is that of all columns */
  int32_t *energies; /* columns: 1/1024 nat */
  uint8_t *cuts; /* columns x rows, from the bottom up: 0 where no stixel may start, 255 where one
                  * may at no cost, else 128 + the score of the network, 1..254 */
  RvStixelsGround *ground; /* 1, aligned to 8 bytes */
} RvStixelsOutput;

/* rv_stixels_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h.
 * _workspace of RV_CUDA: of the current device, as some tables are in the shared memory of
 * devices that have enough; without a device, an upper limit for all devices. */
RV_ALGORITHM_API(RvStixels, stixels);

/* Columns and rows of cells, and the capacity that holds every result: columns x rows. 0 if the
 * config is invalid. */
RV_API int rv_stixels_columns(const RvStixelsConfig *config);
RV_API int rv_stixels_rows(const RvStixelsConfig *config);
RV_API uint32_t rv_stixels_count_max(const RvStixelsConfig *config);

/* Computes the stixels of one frame. RV_CUDA: enqueued on `stream`. The estimated ground plane is
 * kept from run to run, so runs of one object are ordered. */
RV_API RvStatus rv_stixels_run(RvStixels *stixels, const RvStixelsInput *input,
                               const RvStixelsOutput *output, RvStream stream);

/* Dense maps of a list that run() has made, all in the memory of the engine; maps that are NULL or
 * have data NULL are not written.
 *   disparity  RV_U16, width x height: 1/16 px, rounded, at least 1; 0 outside all stixels
 *   classes    RV_U8, width x height: RvStixelClass; 255 outside all stixels
 * Stixels at or beyond `capacity` are not read. */
RV_API RvStatus rv_stixels_render(RvStixels *stixels, const RvStixel *list, uint32_t capacity,
                                  const uint32_t *offsets, const RvPlane *disparity,
                                  const RvPlane *classes, RvStream stream);

#ifdef __cplusplus
}
#endif
#endif
