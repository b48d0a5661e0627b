/* SPDX-License-Identifier: MIT */
/* road.h: online road detection. Patches of the frame whose disparity is near and smooth train a
 * small library of color models; patches of a similar color that are connected to them are road.
 *
 * Source: Ozutemiz, "GPU-Accelerated Adaptive Unstructured Road Detection Using Close Range Stereo
 * Vision", chapter 3. docs/notes/road.md lists the decisions where it contains an error or does not
 * specify a detail.
 *
 * Steps per frame. A patch is patch_size x patch_size px; pixels right of and below the last
 * complete patch are ignored.
 *
 *  1. Color. Histogram equalization of R, G and B (if `equalize`), then hue and saturation of each
 *     pixel. The feature of a patch is its joint histogram of bins x bins cells. Hue is taken as 0
 *     where saturation is below min_saturation or value (the maximum of R, G, B) below min_value:
 *     there it is noise.
 *
 *  2. Ground. A plane is fitted to the disparities of the patches ahead (at most near_width to the
 *     left or right of the optical axis): disparity = a u + b v + c, 0.2 to 5 m below the camera.
 *     Disparities above 255 px are ignored. The height of a patch is known when at least half of
 *     its pixels have a disparity.
 *
 *  3. Seeds. A patch is a sample when
 *       - its height is known,
 *       - its mean depth is below near_range,
 *       - its distance from the optical axis is at most near_width / 2,
 *       - its height above the plane is at most max_height + 3 disparity_noise * dy/dd, or four
 *         times that below the plane,
 *       - the variance of its height is below
 *         min(roughness + (disparity_noise * dy/dd)^2, max_roughness);
 *     dy/dd is the change of height per px of disparity there. The seeds are the largest
 *     4-connected component of samples; on a tie, the one with the topmost, then leftmost patch.
 *     When they are fewer than min_seeds of the patches in which the plane alone would show the
 *     training strip (nearer than near_range, at most near_width / 2 from the axis), the near
 *     ground is hidden: the frame has no seeds.
 *
 *  4. Learning. A seed, or a sample pending from previous frames, updates its nearest model
 *     (Mahalanobis) when its distance is below update_threshold * sqrt(n) (eq. 4-6, all relative to
 *     the library before the frame); n is the number of effective dimensions of the model, the
 *     cells whose variance is above the floor. The samples of a frame together have the weight 1 /
 *     memory, the library before it 1; the sum is normalized to 1. So the weight of a model that is
 *     not used falls by 1 / e in about `memory` frames, and a model that is used regains it.
 *     When min_samples or more are left, and they are at least min_share of the frame's samples or
 *     the library is empty, expectation maximization makes new models of them. These use empty
 *     slots of the library first, then replace the models with the lowest weight. Fewer samples
 *     than min_samples remain pending for the next frame; fewer than min_share are outliers and
 *     are dropped. Then the two models whose means are nearest to each other are merged when their
 *     distance, for the larger variance of each cell, is below merge_threshold * sqrt(n).
 *     With estimate_models the number of new models is estimated: up to 128 samples, spread
 *     evenly, are clustered by merging the two clusters with the smallest mean distance (eq. 9),
 *     and of 2 to library_size clusters the number with the largest pseudo-F (eq. 10) is used; on a
 *     tie, the smaller one. Clusters of less than 1/32 of them, or that represent less than
 *     min_samples, are not counted; their samples are used together with the others.
 *
 *  5. Road. A patch is road-like when it is a seed, or when
 *       (distance / (ground_threshold_scale * classify_threshold))^2 + (height / limit)^2 < 1;
 *     the second term is 3/4 where the height is unknown. In frames without a plane, or with
 *     max_height = 0: distance < classify_threshold.
 *     On the plane, classify_threshold is scaled by where the road was lately: by up to
 *     lateral_scale where, at the same distance to the side of the optical axis, all of the ground
 *     nearer than near_range had the color of road (at most 0.4 times the squared distance that the
 *     rule above allows), by down to 1/2 where none had. The square of the scale is linear in the
 *     share of that ground from 0 to 1/2, where it is 1, and from 1/2 to 1. Shares are those of
 *     strips of near_width / 12 with two more on each side, 64 strips in all, with a time constant
 *     of 8 frames with seeds. The first frame has no such scale.
 *     With persistence, this decision passes a low-pass filter over time, of that time constant. A
 *     majority filter of smoothing x smoothing patches follows. Road is every 4-connected component
 *     with a seed.
 *     In a frame without seeds the near ground is hidden, and what was road still is: of the
 *     patches that the plane alone would show nearer than near_range only those remain that were
 *     road in the last frame with seeds, or are within two patches of one that was; then road is
 *     every component with a patch that was road in that frame. Before the first frame with seeds
 *     road is the largest component.
 *     The score of a patch takes the same steps: 255 (1 - t / 2) for the sum t above (0 from t = 2
 *     on, 255 for t up to 0 and for a seed), or with persistence the filtered decision, 1 to 255;
 *     then the median of the window, which is the majority filter for every threshold at once; then
 *     at most 127 unless the component is road. Road is exactly where the score is at least 128.
 *
 * In a frame without color all pixels are in one cell: all patches look the same, and road is what
 * is low enough and connected to the seeds.
 *
 *   RvRoadConfig config;
 *   RvRoad *road;
 *   rv_road_config_init (&config);
 *   config.width = 640, config.height = 480;
 *   config.camera = (RvCamera){.focal = 500, .cx = 320, .cy = 240, .baseline = 0.12};
 *   rv_road_new (&road, &config, RV_CPU);
 *   rv_road_run (road, &color, &disparity, &(RvRoadOutput){.mask = mask}, NULL);   // per frame
 *   rv_road_free (&road); */
#ifndef RV_ROAD_H
#define RV_ROAD_H

#include "ground/ground.h"
#include "rv_params.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_ROAD_PATCH_MIN 2 /* px, of patch_size */

/* All on histograms with the sum 1: p of the patch, m and s^2 mean and variance of the model. */
typedef enum RvRoadDistance {
  RV_ROAD_MAHALANOBIS = 0, /* sqrt sum (p - m)^2 / s^2, eq. 16 with a diagonal covariance */
  RV_ROAD_MANHATTAN,       /* sum |p - m|, eq. 12 */
  RV_ROAD_EUCLIDEAN,       /* sqrt sum (p - m)^2, eq. 14 */
  RV_ROAD_CHEBYSHEV,       /* max |p - m|, eq. 18 */
  RV_ROAD_HELLINGER,       /* sqrt(1 - sum sqrt(p m)), eq. 19 */
  RV_ROAD_CHI_SQUARE,      /* sum (p - m)^2 / p over p > 0, eq. 22 */
  RV_ROAD_DISTANCES        /* their number */
} RvRoadDistance;

/* Unit, range; default. */
typedef struct RvRoadConfig {
  int width, height;             /* px, at least patch_size, 2..RV_MAX_SIDE; no default */
  RvCamera camera;               /* no default. focal in px, above 0..1e6; baseline in m, above
                                  * 0..1e3; cx and cy in px, -1e6..1e6; doffs in px, -4096..4096.
                                  * height and pitch are not used: the plane is fitted */
  int patch_size;                /* px, 2 to 15; 5 */
  int bins;                      /* of hue and of saturation, 2 to 16; 8 */
  int equalize;                  /* 0 or 1; 1 */
  double roughness;              /* m^2, 0 to 1; 6e-5 */
  double disparity_noise;        /* standard deviation, px, 0 to 4; 0.15 */
  double max_roughness;          /* m^2, 0 to 1; 2.4e-4. Upper bound of the limit at any noise */
  double near_range;             /* m, above 0 to 1000; 10 */
  double near_width;             /* m, 0 to 1000; 3. 0 = all patches are ahead */
  double min_seeds;              /* fraction of the training strip, 0 to 1; 0.1. 0 = off */
  double max_height;             /* m, 0 to 10; 0.03. 0 = height is ignored */
  double ground_threshold_scale; /* 1 to 4; 1.5 */
  int smoothing;                 /* patches, 0, 3 or 5; 5. 0 = off */
  int min_saturation;            /* 0 to 255; 0 */
  int min_value;                 /* 0 to 255; 0 */
  int initial_models;            /* made for an empty library, at most library_size, 1 to 50; 2 */
  int new_models;                /* made later on, at most library_size, 1 to 50; 1 */
  int library_size;              /* models, 1 to 50; 8 */
  int estimate_models;           /* 0 or 1; 0. 1 = initial_models and new_models are ignored */
  int min_samples;               /* 1 to 4096; 20 */
  double min_share;              /* of a frame's samples, 0 to 1; 0.03 */
  double memory;                 /* frames, 1 to 100000; 30 */
  double merge_threshold;        /* of two models, 0 to 10; 0.5. 0 = off */
  double lateral_scale;          /* 1 to 4; 3. 1 = off. See Road */
  double persistence;            /* frames, 0 to 100; 0. 0 = off */
  double update_threshold;       /* above 0 to 1000; 2. See Learning */
  double classify_threshold;     /* in the unit of `distance`, above 0 to 1000; 4 */
  RvRoadDistance distance;       /* of the classification; RV_ROAD_MAHALANOBIS */
  double variance_floor;         /* of a cell of histograms with the sum 1, 1e-6 to 1; 1e-3 */
  int threads;                   /* CPU engine, 0 = all processors; 0 */
  RvLog log;                     /* silent */
} RvRoadConfig;

/* Statistics of a frame. */
typedef struct RvRoadReport {
  int32_t samples;         /* near, smooth patches */
  int32_t seeds;           /* samples of the largest component */
  int32_t samples_matched; /* samples, of this frame or pending, that updated a model */
  int32_t samples_pending; /* samples kept for the next frame */
  int32_t models_added;    /* new models */
  int32_t iterations;      /* of expectation maximization, up to 100; 0 = none */
  int32_t models;          /* in the library after the frame */
  int32_t road;            /* patches of the mask */
  float slope_x;           /* fitted ground: px of disparity per px to the right; 0 = no plane */
  float slope_y;           /* px of disparity per px downwards */
  float intercept;         /* px at the center of the top left pixel, doffs not included */
  float height;            /* of the camera above the plane, m; 0 = no plane and no samples */
} RvRoadReport;

/* Outputs of run(), in memory of the engine, not overlapping. Outputs that are NULL (planes:
 * data is NULL) are not computed. Planes have one value per patch. */
typedef struct RvRoadOutput {
  RvPlane mask;         /* RV_U8: 255 = road, 0 = not road */
  RvPlane distance;     /* RV_F32: to the nearest model, 3.4e38 = no model */
  RvPlane seeds;        /* RV_U8: 255 = seed, 0 = no seed */
  RvRoadReport *report; /* aligned to 4 bytes */
  RvPlane score;        /* RV_U8: what step 5 decides by; exactly road has 128 or more */
} RvRoadOutput;

/* rv_road_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h.
 * A new object has an empty library of models. */
RV_ALGORITHM_API(RvRoad, road);

/* Returns columns and rows of patches; 0 x 0 for an invalid config. */
RV_API void rv_road_size(const RvRoadConfig *config, int *columns, int *rows);

/* Processes a frame.
 * color: RV_U32, width x height: R in bits 0 to 7, G in 8 to 15, B in 16 to 23.
 * disparity: RV_U16, 1/16 px, 0 = invalid, width x height. NULL = unknown: the frame is classified
 * with the current library and not used for training; it has no seeds. */
RV_API RvStatus rv_road_run(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                            const RvRoadOutput *output, RvStream stream);

/* The same with the ground of this frame from cuda/ground, in the memory of the engine, aligned to
 * 8 bytes: its plane replaces that of step 2 if its camera height is plausible there; otherwise the
 * frame has no plane. The profile is not used. NULL: as rv_road_run. Ignored without disparity. */
RV_API RvStatus rv_road_run_on(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                               const RvGroundSurface *ground, const RvRoadOutput *output,
                               RvStream stream);

/* --- Border and drivable distance ---------------------------------------------------------------
 *
 * Of a mask in host memory, by the host. */

#define RV_ROAD_BORDER_MAX 256 /* vertices */

/* Vertex of the border. Meters are 0 where the ground is unknown or has less than 2 px of disparity
 * (doffs included). */
typedef struct RvRoadPoint {
  float x, y;     /* px; 0 is the center of the top left pixel */
  float lateral;  /* m right of the camera's axis */
  float distance; /* m ahead of the camera */
} RvRoadPoint;

typedef struct RvRoadBorder {
  int32_t count;  /* vertices; 0 = no road */
  float drivable; /* m; 0 = none, or the ground is unknown */
  RvRoadPoint point[RV_ROAD_BORDER_MAX];
} RvRoadBorder;

/* Bytes of work memory of rv_road_border; 0 for an invalid config. */
RV_API size_t rv_road_border_bytes(const RvRoadConfig *config);

/* The outer border of the largest 4-connected component of the mask (on a tie, the one with the
 * topmost, then leftmost patch), clockwise, from its topmost, then leftmost patch on. The outline
 * runs through the middles of the outer sides of the patches and is simplified (Douglas and
 * Peucker) to 3/4 patch, or to as many quarters as RV_ROAD_BORDER_MAX vertices require. Along the
 * edge of the grid of patches the image ends, not the road. Holes have no border.
 *
 * Drivable distance: from the lowest row of patches upwards, a row is drivable when at least 3/4 of
 * the patches of the corridor, near_width wide straight ahead (0: 3 m), are road. Rows below the
 * first drivable one nearer than near_range are ignored (a hood, no disparity), and so are up to
 * two rows in between. The distance is that of the upper edge of the last drivable row.
 *
 * mask: RV_U8, rv_road_size, of rv_road_run, in host memory. report: of the same frame. ground:
 * the surface given to rv_road_run_on, for its profile; NULL: the plane of the report. memory:
 * rv_road_border_bytes, aligned to 8 bytes. Does not allocate. */
RV_API RvStatus rv_road_border(const RvRoadConfig *config, const RvPlane *mask,
                               const RvRoadReport *report, const RvGroundSurface *ground,
                               void *memory, RvRoadBorder *border);

/* Clears models, pending samples, the filter over time, where the road was lately, and in the last
 * frame with seeds. */
RV_API RvStatus rv_road_reset(RvRoad *road, RvStream stream);

/* Sets new parameters, which apply from the next run. Models and pending samples are kept, except:
 *  - other bins: models and pending samples are cleared;
 *  - another patch_size: models are scaled to it, pending samples are cleared;
 *  - a smaller library_size: the models with the highest weight are kept, in their order; on a tie,
 *    the first;
 *  - a larger variance_floor: lower variances are raised to it;
 *  - min_samples not above the number of pending samples: the newest min_samples - 1 are kept.
 * What lateral_scale and persistence remember, and where the road was in the last frame with seeds,
 * is kept by changes that do not allocate.
 *
 * A change of width, height, camera.doffs, patch_size, bins, equalize, initial_models, new_models,
 * library_size, estimate_models, min_samples, distance, variance_floor, threads or log waits for
 * `stream`, allocates new memory and frees the old; all others neither allocate nor wait.
 * Graphs that recorded run() before contain the old parameters and memory: record them again. After
 * a failure the object is unchanged. */
RV_API RvStatus rv_road_set_config(RvRoad *road, const RvRoadConfig *config, RvStream stream);

/* --- The library of models in a file ------------------------------------------------------------
 *
 * For another sequence, object or engine. An object that has loaded it classifies its first frame
 * with it, with or without seeds, and continues exactly as the object that saved it when their
 * configs are the same, persistence is 0 and lateral_scale 1, from the next frame with seeds on:
 * what they remember is not saved, nor where the road was in the last frame with seeds. Save and
 * load wait for `stream` and allocate memory while they run.
 *
 * Format, little-endian, without gaps:
 *
 *   0  8 bytes  "RvRoadL\n"
 *   8  uint32   version, 1
 *  12  uint32   bins
 *  16  uint32   patch_size
 *  20  uint32   library_size
 *  24  uint32   models
 *  28  uint32   pending samples
 *  32  float64  weight of each model, with the sum 1
 *      float64  means [model][cell], variances [model][cell], in px per patch;
 *               cell = hue bin * bins + saturation bin
 *      uint8    pending samples [sample][cell], px per patch
 *      uint32   CRC-32 (that of zlib) of all bytes before
 *
 * Invalid, and the library is unchanged: bins other than the config's, another version,
 * truncated or modified contents, values that learning cannot produce (not finite, weights that
 * are not fractions of 1, means outside a patch or whose sum is not one patch, variances outside
 * 1e-6 to 1 of the square of a patch). Another patch size, and more models than slots, are
 * adapted as by rv_road_set_config. */

/* Returns the maximum number of bytes that rv_road_save writes; 0 for an invalid config. */
RV_API size_t rv_road_save_bytes(const RvRoadConfig *config);

/* Writes to host memory of `capacity` bytes; *bytes is the number of bytes written. */
RV_API RvStatus rv_road_save(RvRoad *road, void *to, size_t capacity, size_t *bytes,
                             RvStream stream);

/* Reads from host memory. RV_ERR_IO after logging why the contents are invalid. */
RV_API RvStatus rv_road_load(RvRoad *road, const void *from, size_t bytes, RvStream stream);

/* Write and read a file. It is written as `path` with "~" appended and then renamed, so that the
 * file is complete at any time. RV_ERR_IO when it cannot be written or read. */
RV_API RvStatus rv_road_save_file(RvRoad *road, const char *path, RvStream stream);
RV_API RvStatus rv_road_load_file(RvRoad *road, const char *path, RvStream stream);

#ifdef __cplusplus
}
#endif
#endif
