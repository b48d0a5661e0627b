/* SPDX-License-Identifier: MIT */
/* obstacles.h: obstacles and free space from disparity. Obstacles are objects on the ground of
 * cuda/ground that are in the way: boxes in px and m with the distance of their near face. Free
 * space is the distance, per column, up to which no obstacle is in the way. Tracks give obstacles
 * ids, velocities and times to collision; other boxes (of a detector) get their distance.
 *
 * Coordinates of the vehicle: Z forward, X to the right, heights above the ground, m. The ground of
 * cuda/ground gives the row of the ground for each disparity and column; a pixel is as many rows
 * above it as it lies above that row, and H m are H D / baseline rows, D = disparity + doffs. Up to
 * stage 5 everything is integers in rows, columns and 1/16 px of disparity, the same on both
 * engines; meters are made on the host.
 *
 * Stages:
 *  1. raster   stixels and segments are drawn as a disparity image; disparity is taken as it is.
 *  2. strips   the image is divided into strips of width / 311 px, rounded. In each, the pixels of
 *              min_height to clearance above the ground vote for a bin of D (1/4 px with up to 128
 *              px of disparity), those from clearance to 6 m for a bin of their own (overhanging).
 *              min_height is at least the height of 3/4 px of disparity on the ground there.
 *              Pixels of D below 2 px are ignored. Images above 540 rows: every second row, and so
 *              on.
 *  3. free     a bin of 1/2 px is evidence for an obstacle in proportion to its votes, full when 4
 *              rows or 1 m of height are filled. Dynamic programming over the strips finds the path
 *              of bins that minimizes the evidence that is nearer than the path less that on the
 *              path, plus 6 per bin and strip, at most 120 (Badino, Franke, Mester 2007). The limit
 *              of a strip is the mean disparity of the votes near the path. Where the path bridges
 *              a strip without evidence and ground is seen beyond, the strip is free to the end of
 *              the range, or unknown from where ground ends for 15 m. So it is where the evidence
 *              belongs to no box and a run above the clearance within 4 strips is about as far
 *              away (by a quarter), or where more than 5 % of the pixels in the way are invalid and
 *              such a run within 20 strips is as far away (by a thirteenth): the matcher assigns
 *              the disparity of bridges and signs to sky and smooth ground around them, with holes.
 *              So it is below 8 px where the image has no contrast at the votes: three rows differ
 *              by less than 6 gray levels, 2 px to the left and right, on average, or by less than
 *              5.5 in half of the columns (that below 12 px with a run above the clearance within
 *              20 strips about as far away). Then it is unknown from where ground ends, even if
 *              none is seen beyond.
 *  4. runs     in each strip, neighboring bins whose votes fill half of 4 rows or of 1/2 m are
 *              runs, the nearest 16. Below 14 px of disparity a minimum of the votes splits them. A
 *              run has the rows from its lowest pixel upwards to the first gap of 0.4 m, and the
 *              60 % quantile of its disparities.
 *  5. boxes    runs of strips at most 1/2 m apart are joined when their disparities overlap or are
 *              less than 0.15 m apart (below 14 px: overlap by half), and their heights differ by
 *              less than 0.7 m or a factor of two (union-find). Components of fewer than 3 strips
 *              are kept when they are 1 m tall; those whose top is below min_height, or less than
 *              8 px above the ground, are dropped.
 *              The disparity of a box is that which 20 % of its votes exceed (its near face, not
 *              the mean); top and bottom are the 10 % and 90 % quantiles of its runs.
 *
 * Source: Badino, Franke, Mester, "Free space computation using stochastic occupancy grids and
 * dynamic programming", 2007; docs/notes/obstacles.md has the decisions and their measurements. */
#ifndef RV_OBSTACLES_H
#define RV_OBSTACLES_H

#include "ground/ground.h"
#include "rv.h"
#include "rv_params.h"
#include "rv_records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_OBSTACLES_SIDE_MIN 32
#define RV_OBSTACLES_MAX 256   /* boxes per frame */
#define RV_OBSTACLES_BINS 512  /* of D */
#define RV_OBSTACLES_BOXES 256 /* other boxes per call of rv_obstacles_distances */

/* Input from which obstacles are computed. */
typedef enum RvObstaclesInput {
  RV_OBSTACLES_DISPARITY = 0, /* RV_U16 raster */
  RV_OBSTACLES_STIXELS,       /* RvStixel records, as of cuda/stixels */
  RV_OBSTACLES_SEGMENTS       /* RvSegment records, as of cuda/rdp */
} RvObstaclesInput;

/* Fields: unit, range; default. rv_obstacles_params () states the same as a table. */
typedef struct RvObstaclesConfig {
  int width, height;      /* px, 32..RV_MAX_SIDE; no default */
  RvCamera camera;        /* focal length and baseline required; height and pitch are not used */
  RvObstaclesInput input; /* RV_OBSTACLES_DISPARITY */
  int max_disparity; /* px of D, 16..4096; 128. Larger ones are clamped to it; the bins are 1/512 of
                      * it and at least 1/4 px wide */
  int stixel_width;  /* px of the stixels, 1..256; 8; of RV_OBSTACLES_STIXELS only */
  double min_height; /* m above the ground, 0.05..2; 0.3 */
  double clearance;  /* m, above min_height, 0.5..5; 2.2: higher objects are not in the way */
  double max_distance; /* m, 0..1000; 0 = to 2 px of disparity */
  double path_width;   /* m, 0..10; 1.8: of the corridor straight ahead */
  int threads;         /* CPU engine, 0 = all; 0 */
  RvLog log;           /* silent */
} RvObstaclesConfig;

/* An obstacle as the engines find it: integers; rv_obstacles_measure makes an RvObstacle of it. */
typedef struct RvObstacleBox {
  int32_t left, right; /* px, first and last column */
  int32_t top, bottom; /* px, first and last row */
  int32_t near_d;      /* 1/256 px of D: near face */
  int32_t far_d;       /* 1/256 px of D: far end of the visible part */
  int32_t votes;       /* pixels that voted */
  int32_t runs;        /* runs joined */
  int32_t strips;      /* strips with a run */
  int32_t over;        /* 1: above the clearance only */
  int32_t label;       /* lowest index of its runs: strip * 16 + run */
  int32_t valid;       /* fraction of the box with a disparity, 0..255 */
} RvObstacleBox;

/* Where run() writes, in the memory of the engine, not overlapping. Outputs that are NULL are
 * not computed. */
typedef struct RvObstaclesOutput {
  RvObstacleBox *boxes;  /* RV_OBSTACLES_MAX; nearest first, ties: lowest label; aligned to
                          * 4 bytes */
  uint32_t *counts;      /* 2: boxes written; boxes found (those beyond the first are the
                          * farthest) */
  RvFreeColumn *columns; /* one per strip; `obstacle` is an index of `boxes`; aligned to 2 bytes */
} RvObstaclesOutput;

/* What run() reads, in the memory of the engine. */
typedef struct RvObstaclesSource {
  RvPlane disparity;             /* of RV_OBSTACLES_DISPARITY: RV_U16, 1/16 px, 0 = invalid */
  const RvStixel *stixels;       /* of RV_OBSTACLES_STIXELS */
  const RvSegment *segments;     /* of RV_OBSTACLES_SEGMENTS */
  uint32_t count;                /* of the records */
  const RvGroundSurface *ground; /* required; without a plane nothing is found */
  RvPlane gray; /* the left view, RV_U8, for the free space; data NULL: not known */
} RvObstaclesSource;

/* The box of another detector, px; may lie partly or completely outside of the image. */
typedef struct RvObstaclesRect {
  int32_t x, y, w, h;
} RvObstaclesRect;

/* Its disparity: of its inner half without what other boxes cover that reach lower in the image
 * (those are nearer); with it when less than a tenth of the valid pixels is left. */
typedef struct RvObstaclesDepth {
  uint16_t disparity; /* 1/16 px: 65 % quantile of the valid pixels; 0: none */
  uint8_t valid;      /* fraction of valid pixels in the inner half, 0..255 */
  uint8_t reserved;
} RvObstaclesDepth;

/* rv_obstacles_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h. */
RV_ALGORITHM_API(RvObstacles, obstacles);

/* Strips and their width in px; 0 and 0 for an invalid config. */
RV_API void rv_obstacles_size(const RvObstaclesConfig *config, int *columns, int *column_width);

RV_API RvStatus rv_obstacles_run(RvObstacles *obstacles, const RvObstaclesSource *source,
                                 const RvObstaclesOutput *output, RvStream stream);

/* Disparities of `count` (at most RV_OBSTACLES_BOXES) boxes of another detector, in a disparity
 * raster of the size of the config. rects and depths are in the memory of the engine. */
RV_API RvStatus rv_obstacles_distances(RvObstacles *obstacles, const RvPlane *disparity,
                                       const RvObstaclesRect *rects, uint32_t count,
                                       RvObstaclesDepth *depths, RvStream stream);

/* --- On the host, after the results have been copied there --------------------------------------
 *
 * Pure functions and an object without an engine: the same results for both engines. */

/* Meters of a box: everything of RvObstacle but id, velocities, ttc, age, missed; state is
 * RV_OBSTACLE_NEW. */
RV_API void rv_obstacles_measure(const RvObstaclesConfig *config, const RvGroundSurface *ground,
                                 const RvObstacleBox *box, RvObstacle *obstacle);

/* Area of the free space in m^2; columns that are free to the end of the range count up to
 * max_distance, or to 2 px of disparity. */
RV_API double rv_obstacles_free_area(const RvObstaclesConfig *config, const RvFreeColumn *columns);

/* Distance of box `depth` in m (0: none), and X of the center of `rect`. */
RV_API double rv_obstacles_depth(const RvObstaclesConfig *config, const RvObstaclesRect *rect,
                                 const RvObstaclesDepth *depth, double *lateral);

/* Makes an obstacle of `rect`, which rv_obstacles_track can follow (with RvObstaclesTracks of their
 * own): the part of the box inside of the image, its distance and lateral position; kind object,
 * confidence: the valid fraction. Height above the ground and length are not known: 0. */
RV_API void rv_obstacles_measure_rect(const RvObstaclesConfig *config, const RvObstaclesRect *rect,
                                      const RvObstaclesDepth *depth, RvObstacle *obstacle);

/* Tracks: constant velocity in Z and X per obstacle (Kalman filter). Doubles in a fixed order, from
 * + - x / and sqrt only.
 *
 *  motion    A new track stands on the ground until its distances show that it moves. All
 *            standing objects have one velocity (standard deviation 0.5 m/s), that of the vehicle
 *            (rv_obstacles_tracks_set_speed) or, if that is not known, the one that most tracks
 *            share, at least three. The velocity of others deviates from it by 8 m/s and half of
 *            it; while it is not known, new tracks approach at 10 m/s (standard deviation 20
 *            m/s). An obstacle whose width changed by 30 %, or whose length changed by 1.5 m,
 *            shows another part of the object: the track keeps its velocity. Velocities and times
 *            to collision are 0 before the third hit.
 *  pairs     Tracks and obstacles are paired by minimum misfit in Z, X, size and overlap of the
 *            boxes in the image: pairs of small misfit first; of those, tracks with an id before
 *            tracks without, and obstacles of confidence 128 or more before the others. In X the
 *            one of center and sides that moved least is compared, since an object in front of
 *            another hides one side of it and moves its center.
 *  hidden    A side of an obstacle that lies within or beside a nearer one, and inside of where the
 *            track expects it, is hidden: the track keeps its size and its velocity, and the other
 *            side is compared; hidden on both sides, it keeps its place too. Up to 20 misses of a
 *            track do not count while a nearer obstacle covers half of its expected box and its
 *            distance is known to 3 m.
 *  cut       An obstacle that the border of the image cuts (on the left: the border of what both
 *            cameras see) updates the position of its track, but not its velocity.
 *  id        A track gets its id when its hits less its misses are 3; only hits of small misfit
 *            count, and obstacles that the image cuts only if the pair is the only one possible
 *            for both. 2 are sufficient if it approaches at more than 30 m/s and the standard
 *            deviation of the distance is below 3 % of it; 6 are required above 4 %. Two less if
 *            the last pair is the only one possible for both, one less next to a nearer object.
 *            An obstacle gets an id in its first frame if it is near (3 %), certain, at least 1.2
 *            x 1 m, neither cut nor hidden, and alone within 2 m. What is wider than 4.5 m and
 *            longer than 4 m gets none early: it can be several things. Within 2 m plus a tenth
 *            of the distance of a lost track with an id, that track continues instead, unless the
 *            obstacle is a part of it (below 0.3 of its width or 0.6 of its height): then it gets
 *            no id. Within 3 m of a lost track no id is given early.
 *  end       A new track ends after 3 misses, one with an id after 8; each when misses exceed hits
 *            by 4, or when nothing of the expected box is in the image.
 *  not kept  Overhanging objects are not tracked. Walls, and obstacles wider than 4.5 m and 1.4
 *            times their track, keep tracks with an id at their position (objects that are joined
 *            in some frames), and start none; walls only while that is known to 2 m. So does what
 *            is longer than 4 m and holds a track with an id besides its own. They get its id
 *            where the boxes overlap by 70 % of their union; else each track of which half is
 *            expected in such a box is returned there, as tracked. */
typedef struct RvObstaclesTracks RvObstaclesTracks;

#define RV_OBSTACLES_TRACKS 256 /* maximum number of tracks */

/* *out is NULL after a failure; `config` as of the object whose obstacles are tracked. */
RV_API RvStatus rv_obstacles_tracks_new(RvObstaclesTracks **out, const RvObstaclesConfig *config);

/* Applies a config from the next frame on. The tracks continue; a config of another size or
 * camera ends them. */
RV_API RvStatus rv_obstacles_tracks_set_config(RvObstaclesTracks *tracks,
                                               const RvObstaclesConfig *config);

/* Updates the tracks with the `count` obstacles of a frame at `time` s: fills in id, velocities,
 * ttc, age, missed, state, flags and confidence. Confirmed tracks without an obstacle are appended
 * as predicted ones while they are inside the image, up to `capacity` in all; *total is their
 * number. A time that goes back or leaps by more than 0.5 s ends all tracks; ids continue.
 * `indices` (may be NULL, `capacity` entries): index of each obstacle among those passed, -1 of a
 * predicted one, or one within joined objects. The result is sorted by distance, ties: their order
 * in the input. */
RV_API RvStatus rv_obstacles_track(RvObstaclesTracks *tracks, double time, RvObstacle *obstacles,
                                   int count, int capacity, int *total, int *indices);

/* Forward speed of the vehicle in m/s, from the next frame on; without it (is_known 0, as after
 * _new) no obstacle is flagged as moving. */
RV_API void rv_obstacles_tracks_set_speed(RvObstaclesTracks *tracks, double speed, int is_known);

/* Yaw rate of the vehicle in rad/s, positive to the right, from the next frame on; 0 after _new.
 * NaN, and rates of 5 rad/s and more, count as 0. Velocities are those of obstacles without this
 * turn. */
RV_API void rv_obstacles_tracks_set_yaw_rate(RvObstaclesTracks *tracks, double rate);

/* Ends all tracks: after a seek. Ids continue. */
RV_API void rv_obstacles_tracks_reset(RvObstaclesTracks *tracks);
RV_API void rv_obstacles_tracks_free(RvObstaclesTracks **tracks);

#ifdef __cplusplus
}
#endif
#endif
