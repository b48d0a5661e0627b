/* SPDX-License-Identifier: MIT */
/* eval_scene.h: frames of the rendered scenes with ground truth and the disparity that cuda/sgm
 * finds with its default parameters, for the evaluation programs. All runs on the CPU engine. */
#ifndef EVAL_SCENE_H
#define EVAL_SCENE_H

#include "ground/ground.h"
#include "scene/scene.h"

typedef struct EvalScene EvalScene;

/* One frame; everything belongs to the scene and is valid until the next frame. */
typedef struct EvalFrame {
  RvCamera camera;   /* of the renderer, height and pitch included */
  double time;       /* s */
  RvPlane gray;      /* RV_U8, left view */
  RvPlane disparity; /* RV_U16, of sgm */
  RvPlane truth;     /* RV_U16, ground truth, 1/16 px */
  RvPlane labels;    /* RV_U8, RvSceneLabel */
  RvPlane objects;   /* RV_U16, ids */
  const RvSceneFacts *facts;
  const float *free_space; /* m, per column */
} EvalFrame;

/* Ends the program when there is no memory. `rate` frames per second. */
EvalScene *eval_scene_new(RvScenePattern pattern, int width, int height, uint32_t seed,
                          double rate);
/* The same at another speed of the camera than 8 m/s. */
EvalScene *eval_scene_at(RvScenePattern pattern, int width, int height, uint32_t seed, double rate,
                         double speed);
const EvalFrame *eval_scene_frame(EvalScene *scene, uint64_t frame);
void eval_scene_free(EvalScene *scene);

/* The camera as an estimator may know it: without height and pitch. */
RvCamera eval_known_camera(const RvCamera *camera);

/* Values of one kind, for medians and percentiles. */
typedef struct EvalValues {
  double *values;
  size_t count, room;
} EvalValues;
void eval_add(EvalValues *values, double value);
/* Percentile p (0..100), nearest rank; 0 without values. Sorts. */
double eval_percentile(EvalValues *values, double p);
void eval_clear(EvalValues *values);

/* Prints "ok" or "FAILED", the text, and the measured value; returns 0 or 1. */
int eval_at_most(const char *text, double value, double limit);
int eval_at_least(const char *text, double value, double limit);

#endif
