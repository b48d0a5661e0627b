/* SPDX-License-Identifier: MIT */
/* ground_eval.c: the shared ground against the camera and the road of the rendered streets. Seeds
 * below 10 were used for tuning, those evaluated here were not.
 *
 *   height   median error of the camera's height: at most 3 % for every size and scene
 *   road     height above the estimated ground of the pixels that are road, by true distance, on
 *            hills: median at most 0.04, 0.15 and 0.30 m at 10 to 20, 20 to 30 and 30 to 45 m */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval_scene.h"

#define RATE 10.0   /* frames per second */
#define STRIDE 23   /* frames from one that is evaluated to the next */
#define BESIDE 4.0  /* m: road pixels farther from the axis are ignored */
#define DISTANCES 4 /* from 4, 10, 20, 30 to 45 m */

typedef struct Row {
  RvScenePattern pattern;
  int width, height, seeds, frames;
} Row;

static const Row rows[] = {
    {RV_SCENE_STREET, 640, 480, 3, 4},          {RV_SCENE_STREET, 1242, 375, 3, 4},
    {RV_SCENE_STREET, 1920, 1080, 2, 2},        {RV_SCENE_SLANTED_STREET, 640, 480, 3, 4},
    {RV_SCENE_SLANTED_STREET, 1242, 375, 3, 4}, {RV_SCENE_SLANTED_STREET, 1920, 1080, 2, 2},
};
static const double distances[DISTANCES + 1] = {4, 10, 20, 30, 45};
static const double limits[DISTANCES] = {0.02, 0.04, 0.15, 0.30};

typedef struct Result {
  EvalValues height;          /* relative error */
  EvalValues road[DISTANCES]; /* m */
} Result;

static void score_road(const EvalFrame *f, const RvGroundSurface *ground, Result *result) {
  const RvCamera *c = &f->camera;
  for (int v = 0; v < f->truth.height; v += 2)
    for (int u = 0; u < f->truth.width; u += 2) {
      const uint16_t *d = (uint16_t *)((char *)f->truth.data + v * f->truth.stride);
      const uint8_t *label = (uint8_t *)f->labels.data + v * f->labels.stride;
      if (label[u] != RV_LABEL_ROAD || d[u] == 0)
        continue;
      const double px = d[u] / 16.0, z = c->focal * c->baseline / px;
      if (fabs((u - c->cx) * c->baseline / px) > BESIDE)
        continue;
      for (int k = 0; k < DISTANCES; k++)
        if (z >= distances[k] && z < distances[k + 1])
          eval_add(&result->road[k], fabs(rv_ground_height(ground, c, px, u, v)));
    }
}

static void score_frame(const EvalFrame *f, Result *result) {
  RvGroundConfig config;
  RvGround *ground = NULL;
  RvGroundSurface surface;
  rv_ground_config_init(&config);
  config.width = f->disparity.width;
  config.height = f->disparity.height;
  config.camera = eval_known_camera(&f->camera);
  if (rv_ground_new(&ground, &config, RV_CPU) != RV_OK ||
      rv_ground_run(ground, &f->disparity, &surface, NULL) != RV_OK) {
    fprintf(stderr, "ground_eval: the ground estimation failed\n");
    exit(1);
  }
  rv_ground_free(&ground);
  eval_add(&result->height, fabs(surface.height / f->camera.height - 1));
  score_road(f, &surface, result);
}

static int evaluate(const Row *row) {
  Result result;
  memset(&result, 0, sizeof result);
  for (int seed = 0; seed < row->seeds; seed++) {
    EvalScene *scene =
        eval_scene_new(row->pattern, row->width, row->height, 11u + (uint32_t)seed, RATE);
    for (int k = 0; k < row->frames; k++)
      score_frame(eval_scene_frame(scene, (uint64_t)(STRIDE * k + 7 * seed)), &result);
    eval_scene_free(scene);
  }
  const int is_hilly = row->pattern == RV_SCENE_SLANTED_STREET;
  char name[64];
  snprintf(name, sizeof name, "%s %dx%d", is_hilly ? "slanted-street" : "street", row->width,
           row->height);
  printf("%s: %zu frames, camera height error median %.2f %%, p90 %.2f %%; |height of the road|",
         name, result.height.count, 100 * eval_percentile(&result.height, 50),
         100 * eval_percentile(&result.height, 90));
  for (int k = 0; k < DISTANCES; k++)
    printf(" %g-%g m %.3f (p90 %.3f)", distances[k], distances[k + 1],
           eval_percentile(&result.road[k], 50), eval_percentile(&result.road[k], 90));
  printf("\n");
  char text[192];
  snprintf(text, sizeof text, "%s, median error of the camera height in %%", name);
  int failed = eval_at_most(text, 100 * eval_percentile(&result.height, 50), 3);
  for (int k = 0; k < DISTANCES; k++) {
    snprintf(text, sizeof text, "%s, median |height of the road| in m at %g to %g m", name,
             distances[k], distances[k + 1]);
    if (row->width == 1242)
      failed += eval_at_most(text, eval_percentile(&result.road[k], 50), limits[k]);
    eval_clear(&result.road[k]);
  }
  eval_clear(&result.height);
  return failed;
}

int main(void) {
  int failed = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    failed += evaluate(&rows[i]);
  return failed ? 1 : 0;
}
