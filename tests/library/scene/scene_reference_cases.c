/* SPDX-License-Identifier: MIT */
/* scene_reference_cases.c: every instruction set renders the bits of the reference
 * implementation. */
#include "scene/scene_reference_cases.h"
#include "scene/scene_kernels.h"
#include "scene/scene_reference.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLANES = 5 }; /* the image and the four rasters of the truth */

typedef struct Frame {
  RvPlane plane[PLANES];
  RvPicture picture;
  RvSceneTruth truth;
} Frame;

static Frame frame_new(int width, int height) {
  Frame f;
  f.plane[0] = rvc_plane(8 * width, height, RV_U8);
  f.plane[1] = rvc_plane(width, height, RV_U16);
  for (int i = 2; i < PLANES; i++)
    f.plane[i] = rvc_plane(width, height, RV_U8);
  f.picture = (RvPicture){RV_PIXEL_BGRX, 2 * width, height, {f.plane[0].data}, {f.plane[0].stride}};
  f.truth = (RvSceneTruth){
      .disparity = f.plane[1], .labels = f.plane[2], .road = f.plane[3], .visible = f.plane[4]};
  return f;
}

static void frame_free(Frame *f) {
  for (int i = 0; i < PLANES; i++)
    free(f->plane[i].data);
}

/* Dots have no rays: all instruction sets agree with the plain one. */
static void expect(RvScene *scene, uint64_t frame, Frame *f) {
  if (scene->plan.config.pattern != RV_SCENE_NOISE) {
    rv_scene_reference(scene, frame, &f->picture, &f->truth);
    return;
  }
  scene->kernels = &scene_kernels_base;
  rv_scene_render(scene, frame, &f->picture, &f->truth);
}

static void compare(RvCheck *check, const char *name, const RvSceneConfig *config, uint64_t frame) {
  static const char *const names[PLANES] = {"picture", "disparity", "labels", "road", "visible"};
  RvScene *scene = NULL;
  if (!rvc_true(check, name, rv_scene_new(&scene, config) == RV_OK, "no scene"))
    return;
  Frame expected = frame_new(config->width, config->height);
  Frame got = frame_new(config->width, config->height);
  expect(scene, frame, &expected);
  for (int k = 0; scene_kernels(k); k++) {
    scene->kernels = scene_kernels(k);
    rv_scene_render(scene, frame, &got.picture, &got.truth);
    for (int i = 0; i < PLANES; i++) {
      char what[120];
      snprintf(what, sizeof what, "%s, pattern %d, %dx%d, seed %u, frame %llu: %s",
               scene->kernels->name, (int)config->pattern, config->width, config->height,
               config->seed, (unsigned long long)frame, names[i]);
      rvc_same(check, name, &expected.plane[i], &got.plane[i], what);
    }
  }
  frame_free(&expected);
  frame_free(&got);
  rv_scene_free(&scene);
}

/* Widths that are and are not multiples of the lanes and of the tiles, seeds and places without
 * end, the largest and the smallest baselines. */
static void check_cases(RvCheck *check, const char *name, RvRandom *random) {
  static const int sizes[][2] = {{160, 120}, {97, 61}, {16, 16}, {301, 23}, {45, 200}};
  for (int pattern = 0; pattern < RV_SCENE_PATTERNS; pattern++)
    for (int i = 0; i < (rvc_small(check) ? 2 : 5); i++) {
      const int size = rvc_small(check) ? i + 1 : i;
      RvSceneConfig config;
      rv_scene_config_init(&config);
      config.pattern = (RvScenePattern)pattern;
      config.width = sizes[size][0];
      config.height = sizes[size][1];
      config.seed = rvc_next(random);
      config.max_disparity = i % 3 ? 96 : rvc_range(random, 16, 1024);
      config.speed = i % 4 ? 8.0 : rvc_range(random, -50, 50);
      config.noise = i % 3 ? 2.0 : 0.0;
      config.grass_height = i % 3 ? 0.2 : 0.01 * rvc_range(random, 0, 30);
      config.curb_height = i % 3 ? 0.12 : 0.01 * rvc_range(random, 0, 30);
      config.log = rvc_log(check);
      compare(check, name, &config, rvc_next(random) % 100000u);
    }
}

RVC_CASES(rv_scene_reference_cases, RVC_CASE("scene/reference", check_cases, 0));
