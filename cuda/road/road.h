/* SPDX-License-Identifier: MIT */
/* road.h: road detection that learns as it drives. Patches of the picture whose disparity says
 * "near and smooth" teach a small library of colour models; every patch of such a colour that hangs
 * together with them is road.
 *
 * Source: Ozutemiz, "GPU-Accelerated Adaptive Unstructured Road Detection Using Close Range Stereo
 * Vision", chapter 3; docs/notes/road.md says what is done where it errs or is silent.
 *
 * What is computed, frame by frame; a patch is patch_size x patch_size px, pixels right of and
 * below the last whole patch are left out:
 *  1. colour     histogram equalisation of R, G and B (when `equalize`), then hue and saturation of
 *                each pixel; a patch's feature is its joint histogram of bins x bins cells.
 *                Hue counts as 0 where saturation is below min_saturation or value (the largest of
 *                R, G, B) below min_value: there it is noise.
 *  2. ground     a plane is fitted to the disparities of the patches ahead (at most near_width to
 *                the left or right of the camera's axis): disparity = a u + b v + c, 0.2 to 5 m
 *                below the camera. Disparities above 255 px take no part.
 *                A patch's height is known when at least half its pixels have a disparity.
 *  3. seeds      a patch is a sample when its height is known, its mean depth below near_range, it
 *                lies at most near_width / 2 beside the camera's axis, within the height limit
 *                  max_height + 3 disparity_noise * dy/dd
 *                above the plane or four times that below it, and the variance of its height is
 *                below
 *                  min(roughness + (disparity_noise * dy/dd)^2, max_roughness),
 *                dy/dd being what one px of disparity means in height there. The largest
 *                4-connected component of samples (of equal ones that of the topmost, then leftmost
 *                patch) are the seeds.
 *  4. learning   each seed (and each sample waiting from frames before) nearer than
 *                update_threshold to a model of the library (Mahalanobis) updates that model
 *                (eq. 4-6, all against the library as the frame found it). When min_samples or more
 *                are left, expectation maximisation makes new models of them, which take empty
 *                places of the library, then those of the lightest; fewer wait for the next frame.
 *                With estimate_models the samples say how many: up to 128 of them, spread evenly,
 *                are merged, always the two clusters with the smallest mean distance (eq. 9), and
 * of 2 to library_size clusters the number with the largest pseudo-F (eq. 10) is taken, of equal
 * ones the smaller. Clusters of less than 1/32 of them, or that stand for less than min_samples,
 * are not counted; their samples are learnt with the others.
 *  5. road       a patch is road-like when it is a seed or when
 *                  (distance / (ground_threshold_scale * classify_threshold))^2 + (height / limit)^2 < 1,
 *                the second term being 3/4 where the height is not known. In frames without a
 *                plane, or with max_height = 0: distance < classify_threshold. Then each patch
 *                becomes what most of the smoothing x smoothing patches round it are. Road is
 *                what hangs together (4-connected) with a seed; in frames without a seed the
 *                largest component.
 * A picture without colour has all pixels in one cell: every patch then looks alike and road is
 * whatever hangs together with the seeds. */
#ifndef RV_ROAD_H
#define RV_ROAD_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All on histograms that sum to 1: p of the patch, m and s^2 mean and variance of the model. */
typedef enum RvRoadDistance {
  RV_ROAD_MAHALANOBIS = 0, /* sqrt sum (p - m)^2 / s^2, eq. 16 with a diagonal covariance */
  RV_ROAD_MANHATTAN,       /* sum |p - m|, eq. 12 */
  RV_ROAD_EUCLIDEAN,       /* sqrt sum (p - m)^2, eq. 14 */
  RV_ROAD_CHEBYSHEV,       /* max |p - m|, eq. 18 */
  RV_ROAD_HELLINGER,       /* sqrt(1 - sum sqrt(p m)), eq. 19 */
  RV_ROAD_CHI_SQUARE,      /* sum (p - m)^2 / p over p > 0, eq. 22 */
  RV_ROAD_DISTANCES        /* their number */
} RvRoadDistance;

/* Ranges and defaults; the element's properties are made from these. */
#define RV_ROAD_PATCH_MIN 2
#define RV_ROAD_PATCH_MAX 15
#define RV_ROAD_PATCH_DEFAULT 5
#define RV_ROAD_BINS_MIN 2
#define RV_ROAD_BINS_MAX 16
#define RV_ROAD_BINS_DEFAULT 8
#define RV_ROAD_ROUGHNESS_MAX 1.0
#define RV_ROAD_ROUGHNESS_DEFAULT 6e-5
#define RV_ROAD_NOISE_MAX 4.0
#define RV_ROAD_NOISE_DEFAULT 0.15
#define RV_ROAD_MAX_ROUGHNESS_DEFAULT 2.4e-4
#define RV_ROAD_RANGE_MAX 1000.0
#define RV_ROAD_RANGE_DEFAULT 10.0
#define RV_ROAD_WIDTH_MAX 1000.0
#define RV_ROAD_WIDTH_DEFAULT 3.0
#define RV_ROAD_MAX_HEIGHT_MAX 10.0
#define RV_ROAD_MAX_HEIGHT_DEFAULT 0.03
#define RV_ROAD_GROUND_SCALE_MAX 4.0
#define RV_ROAD_GROUND_SCALE_DEFAULT 1.5
#define RV_ROAD_SMOOTHING_DEFAULT 5
#define RV_ROAD_LIBRARY_MAX 50
#define RV_ROAD_LIBRARY_DEFAULT 5
#define RV_ROAD_INITIAL_DEFAULT 2
#define RV_ROAD_NEW_DEFAULT 1
#define RV_ROAD_ESTIMATE_DEFAULT 0
#define RV_ROAD_SAMPLES_MAX 4096
#define RV_ROAD_SAMPLES_DEFAULT 20
#define RV_ROAD_THRESHOLD_MAX 1000.0
#define RV_ROAD_UPDATE_DEFAULT 1.0
#define RV_ROAD_CLASSIFY_DEFAULT 4.0
#define RV_ROAD_FLOOR_MIN 1e-6
#define RV_ROAD_FLOOR_MAX 1.0
#define RV_ROAD_FLOOR_DEFAULT 1e-3

#define RV_ROAD_EM_ITERATIONS 100 /* at most */

typedef struct RvRoadConfig {
  int width, height;      /* px, patch_size..RV_MAX_SIDE; no default */
  RvCamera camera;        /* focal and baseline must be known; no default. height and pitch are
                            * not used: the plane is fitted */
  int patch_size;         /* px, 2..15; 5 */
  int bins;               /* of hue and of saturation, 2..16; 8 */
  int equalize;           /* 0 or 1; 1 */
  double roughness;       /* m^2, 0..1; 6e-5 */
  double disparity_noise; /* px, 0..4; 0.15 */
  double max_roughness;   /* m^2, 0..1; 2.4e-4: far away noise must not pass for smooth ground */
  double near_range;      /* m, above 0, at most 1000; 10 */
  double near_width;      /* m, 0..1000; 3; 0 = everything is ahead */
  double max_height;      /* m, 0..10; 0.03; see above; 0 = height takes no part */
  double ground_threshold_scale; /* 1..4; 1.5 */
  int smoothing;                 /* patches, 0, 3 or 5; 5; 0 = off */
  int min_saturation;            /* 0..255; 0 */
  int min_value;                 /* 0..255; 0 */
  int initial_models;            /* made for an empty library, 1..library_size; 2 */
  int new_models;                /* made later on, 1..library_size; 1 */
  int library_size;              /* 1..50; 5 */
  int estimate_models;     /* 0 or 1; 0; 1: initial_models and new_models do not count, see above */
  int min_samples;         /* 1..4096; 20 */
  double update_threshold; /* above 0, at most 1000; 1 */
  double classify_threshold; /* above 0, at most 1000, in the unit of `distance`; 4 */
  RvRoadDistance distance;   /* of the classification; RV_ROAD_MAHALANOBIS */
  double variance_floor;     /* of each cell of histograms that sum to 1, 1e-6..1; 1e-3 */
  int threads;               /* CPU engine, 0 = all; 0 */
  RvLog log;                 /* silent */
} RvRoadConfig;

/* What became of a frame. */
typedef struct RvRoadReport {
  int32_t samples;    /* patches that are near and smooth */
  int32_t seeds;      /* those of the largest component */
  int32_t updated;    /* samples, of this frame or waiting, that updated a model */
  int32_t waiting;    /* samples kept for the next frame */
  int32_t learnt;     /* new models */
  int32_t iterations; /* of expectation maximisation; 0 when it did not run */
  int32_t models;     /* in the library after the frame */
  int32_t road;       /* patches of the mask */
  float slope_x;      /* fitted ground: disparity in px per px to the right; 0 without a plane */
  float slope_y;      /* per px downwards */
  float intercept;    /* at the centre of the top left pixel, px, without doffs added */
  float height; /* of the camera above it, m; 0: no plane was found and there are no samples */
} RvRoadReport;

/* Where run() writes, in the memory of the engine, not overlapping. What is NULL (planes: data is
 * NULL) is not made. Planes have one value for a patch. */
typedef struct RvRoadOutput {
  RvPlane mask;         /* RV_U8: 255 road, 0 not */
  RvPlane distance;     /* RV_F32: to the nearest model, 3.4e38 while there is none */
  RvPlane seeds;        /* RV_U8: 255 seed, 0 not */
  RvRoadReport *report; /* aligned to 4 bytes */
} RvRoadOutput;

typedef struct RvRoad RvRoad;

/* Defaults for everything but width, height and camera, which become 0. */
RV_API void rv_road_config_init(RvRoadConfig *config);

/* RV_OK, or RV_ERR_ARG after logging which rule is broken. */
RV_API RvStatus rv_road_config_check(const RvRoadConfig *config);

/* Columns and rows of patches; 0 x 0 for an illegal config. */
RV_API void rv_road_size(const RvRoadConfig *config, int *columns, int *rows);

/* Bytes that _new takes on the engine's memory; 0 for an illegal config or an engine that is not
 * there. */
RV_API size_t rv_road_workspace(const RvRoadConfig *config, RvEngine engine);

/* *out is NULL after a failure. The library of models is empty. */
RV_API RvStatus rv_road_new(RvRoad **out, const RvRoadConfig *config, RvEngine engine);

/* color: RV_U32, width x height: R in bits 0..7, G in 8..15, B in 16..23.
 * disparity: RV_U16, 1/16 px, 0 = none, width x height; NULL: none is known, so that nothing is
 * learnt and the picture is classified by the library as it is. */
RV_API RvStatus rv_road_run(RvRoad *road, const RvPlane *color, const RvPlane *disparity,
                            const RvRoadOutput *output, RvStream stream);

/* Forgets all models and waiting samples. */
RV_API RvStatus rv_road_reset(RvRoad *road, RvStream stream);

/* Other parameters from the next run on. What was learnt is kept: the next frame is the one after
 * the last, only seen with other eyes. Except:
 *  - other bins: models and waiting samples mean nothing any more and are forgotten;
 *  - another patch_size: models are scaled to it, waiting samples are forgotten;
 *  - a smaller library_size: the heaviest models stay (of equal ones the first), in their order;
 *  - a larger variance_floor: variances below are raised to it;
 *  - fewer min_samples than wait: the newest min_samples - 1 go on waiting.
 * A change of width, height, camera.doffs, patch_size, bins, equalize, initial_models, new_models,
 * library_size, estimate_models, min_samples, distance, variance_floor, threads or log waits for
 * `stream`, takes new memory and frees the old; all others cost nothing and do not wait. Graphs
 * that recorded run() before hold the old parameters and memory: record them anew. After a failure
 * the object is as it was. */
RV_API RvStatus rv_road_set_config(RvRoad *road, const RvRoadConfig *config, RvStream stream);

/* --- The library of models in a file ------------------------------------------------------------
 *
 * What a drive taught, for another drive, object or engine: an object that has loaded it classifies
 * its first frame by it, with or without seeds, and goes on exactly as the one that saved it when
 * their configs are the same. Save and load wait for `stream` and take memory for the time they
 * run.
 *
 * Little-endian, without gaps:
 *   0  8 bytes "RvRoadL\n"
 *   8  uint32  version, 1
 *  12  uint32  bins
 *  16  uint32  patch_size
 *  20  uint32  library_size
 *  24  uint32  models
 *  28  uint32  waiting samples
 *  32  float64 weight of each model, together 1
 *      float64 means [model][cell], variances [model][cell], in px of a patch; cell = hue bin times
 *              bins + saturation bin
 *      uint8   waiting samples, [sample][cell], px of a patch
 *      uint32  CRC-32 (that of zlib) of all before
 *
 * Refused, and the library stays as it is: other bins than the config's, another version, truncated
 * or changed contents, values that no learning makes (not finite, weights that are not shares of 1,
 * means outside a patch or that do not sum to one, variances outside 1e-6..1 of a patch's square).
 * Another patch size, and more models than places, are fitted as rv_road_set_config does it. */

/* Most bytes that rv_road_save writes for this config; 0 for an illegal one. */
RV_API size_t rv_road_save_bytes(const RvRoadConfig *config);

/* To host memory with room for `room` bytes; *bytes says how many were written. */
RV_API RvStatus rv_road_save(RvRoad *road, void *to, size_t room, size_t *bytes, RvStream stream);

/* From host memory. RV_ERR_IO after logging what is wrong with it. */
RV_API RvStatus rv_road_load(RvRoad *road, const void *from, size_t bytes, RvStream stream);

/* The same to and from a file. It is written under the name with "~" appended and then renamed, so
 * that a file of that name is whole at any time. RV_ERR_IO when it cannot be written or read. */
RV_API RvStatus rv_road_save_file(RvRoad *road, const char *path, RvStream stream);
RV_API RvStatus rv_road_load_file(RvRoad *road, const char *path, RvStream stream);

RV_API void rv_road_free(RvRoad **road);

#ifdef __cplusplus
}
#endif
#endif
