/* SPDX-License-Identifier: MIT */
/* road_reference.h: naive reference implementation of road detection, in double, on one thread. */
#ifndef RV_ROAD_REFERENCE_H
#define RV_ROAD_REFERENCE_H

#include "road/road.h"

/* Cell of a color, through hue and saturation in double. */
int rv_road_reference_cell(int r, int g, int b, int bins);

/* A distance in double; p and the model in counts. */
double rv_road_reference_distance(RvRoadDistance distance, const uint8_t *p, const double *mean,
                                  const double *variance, int cells, int area);

/* Flood fill from `start` over patches with set != 0: marks them in `reached`, returns their
 * number. */
int rv_road_reference_flood(const uint8_t *set, int columns, int rows, int start, uint8_t *reached);

/* Region growing as in the thesis: neighbors of road patches are added when `near`; `road`
 * initially contains the seeds. */
void rv_road_reference_grow(const uint8_t *near, int columns, int rows, uint8_t *road);

/* Step 5 in a frame without seeds: `before` is the road of the last frame with seeds, `near` where
 * only what is within two patches of it may be road. */
void rv_road_reference_keep(const uint8_t *like, const uint8_t *before, const uint8_t *near,
                            int columns, int rows, uint8_t *road);

/* out: 1 where the majority of the window x window patches around it inside the frame are set. */
void rv_road_reference_smooth(const uint8_t *set, int columns, int rows, int window, uint8_t *out);

/* out: the median of the window x window patches around it inside the frame; of an even number, the
 * lower one of the two in the middle. */
void rv_road_reference_median(const uint8_t *score, int columns, int rows, int window,
                              uint8_t *out);

#define RV_ROAD_REFERENCE_STRIPS 64

/* The lateral profile: patches of each strip, and those that were road. */
typedef struct RvRoadReferenceProfile {
  double seen[RV_ROAD_REFERENCE_STRIPS], road[RV_ROAD_REFERENCE_STRIPS];
} RvRoadReferenceProfile;

/* The strip at the center of a patch on the plane disparity = a u + b v + c, from the meters beside
 * the axis; -1 outside. *depth: meters ahead. */
int rv_road_reference_strip(const RvRoadConfig *config, int px, int py, double a, double b,
                            double intercept, double *depth);

/* The profile after a frame. */
void rv_road_reference_remember(RvRoadReferenceProfile *profile,
                                const RvRoadReferenceProfile *frame);

/* By what the squared threshold of color is multiplied on a strip. */
double rv_road_reference_scale(const RvRoadReferenceProfile *profile, int strip, double most);

/* (distance / (scale * threshold))^2 + (height / limit)^2 of one patch above disparity = a u + b v
 * + c, from world coordinates; 3/4 in place of the second term where fewer than half the px have a
 * disparity. */
double rv_road_reference_like(const RvRoadConfig *config, const RvPlane *disparity, int px, int py,
                              double a, double b, double c, double distance);

/* Variance of height above disparity = a u + b v + c for one patch, m^2, from world coordinates;
 * -1 with fewer than two px. */
double rv_road_reference_roughness(const RvRoadConfig *config, const RvPlane *disparity, int px,
                                   int py, double a, double b, double c);

/* Expectation maximization with exp and log, fixed number of iterations, from the start values in
 * mean, variance [model][cell] and weight [model]. */
void rv_road_reference_em(const uint8_t *features, int samples, int cells, int k,
                          double floor_variance, int iterations, double *mean, double *variance,
                          double *weight);

/* Unites the two models with the smallest Mahalanobis distance between their means, for the larger
 * variance of each cell and divided by the root of the number of cells above the floor, if it is
 * below the threshold. Weights are normalized. Returns the number of models; the last one takes the
 * place of the second of the pair. */
int rv_road_reference_merge(double *mean, double *variance, double *weight, int models, int cells,
                            double floor_variance, double threshold);

/* The number of models in `count` exemplars of `samples` samples: clusters as lists of members, all
 * distances and sums of squares are recomputed in each step. */
int rv_road_reference_clusters(const uint8_t *rows, int count, int cells, int limit, int samples,
                               int min_samples);

#endif
