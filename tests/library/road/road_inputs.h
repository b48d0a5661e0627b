/* SPDX-License-Identifier: MIT */
/* road_inputs.h: frames of the synthetic sequence through objects of either engine, and single
 * stages of the CPU engine, for the tests. */
#ifndef RV_ROAD_INPUTS_H
#define RV_ROAD_INPUTS_H

#include "road/road_cpu.h"
#include "rvcheck.h"

/* Memory of the CPU engine without an object, for single stages. NULL after counting a failure. */
RvRoadCpu *rv_road_bench_new(RvCheck *check, const char *name, const RvRoadConfig *config);
void rv_road_bench_free(RvRoadCpu *work);
/* Its config, which may change between stages where the memory stays the same. */
RvRoadConfig *rv_road_bench_config(RvRoadCpu *work);

/* Model j of its library: the mean in one cell; `wide` cells have a variance of 4, the others the
 * floor. */
void rv_road_bench_model(RvRoadCpu *work, int j, int cell, double mean, double weight, int wide);
/* Its library becomes two models of mean 24 and variance 4: cell 3 of weight 0.25, cell 40 of
 * weight 0.75. */
void rv_road_bench_two_models(RvRoadCpu *work);

/* `count` samples from `first` with `in` px in the cell and the rest in the next one; first 0: in
 * place of all others. */
void rv_road_bench_seeds(RvRoadCpu *work, int first, int count, int cell, int in);

/* Equal except for rounding. */
int rv_road_bench_about(double a, double b);

/* Frames in host memory. */
typedef struct RvRoadInputs {
  RvCheck *check;
  const char *name;
  RvRoadConfig config;
  RvPlane color, disparity;
} RvRoadInputs;

/* Results of a frame, in host memory. */
typedef struct RvRoadResult {
  RvPlane mask, distance, seeds;
  RvRoadReport report;
} RvRoadResult;

/* Output of rv_road_save(); free `bytes` with free(). */
typedef struct RvRoadSaved {
  uint8_t *bytes;
  size_t size;
} RvRoadSaved;

void rv_road_inputs_open(RvCheck *check, const char *name, RvRoadInputs *d, int width, int height);
void rv_road_inputs_close(RvRoadInputs *d);
void rv_road_result_open(const RvRoadConfig *config, RvRoadResult *r);
void rv_road_result_close(RvRoadResult *r);
void rv_road_result_same(const RvRoadInputs *d, const RvRoadResult *a, const RvRoadResult *b,
                         const char *what);

/* NULL after counting the failure. */
RvRoad *rv_road_inputs_new(const RvRoadInputs *d, const RvRoadConfig *config, RvEngine engine);

/* Paint a frame; run an object on the painted frame; paint and run frames `first` to `last`. */
void rv_road_inputs_paint(const RvRoadInputs *d, int frame);
void rv_road_inputs_run(const RvRoadInputs *d, RvRoad *road, int has_disparity, RvRoadResult *r);
void rv_road_inputs_frames(const RvRoadInputs *d, RvRoad *road, int first, int last);

/* Empty after counting a failure. */
RvRoadSaved rv_road_inputs_save(const RvRoadInputs *d, RvRoad *road);
/* Saves again and compares the bytes. */
void rv_road_inputs_same(const RvRoadInputs *d, RvRoad *road, const RvRoadSaved *wanted,
                         const char *what);

/* A log that stores the last line in `text` of RV_ROAD_NOTE bytes. */
#define RV_ROAD_NOTE 200
RvLog rv_road_inputs_note(char *text);

#endif
