/* SPDX-License-Identifier: MIT */
/* depth_tool.c: cudasgm's library on many pairs in one process, for quality_depth.py.
 *
 *   depth_tool match LIST OUT [NAME=VALUE...]      prints name and processor time in us of each pair
 *     LIST has one pair per line: its name, its disparities, and two files (binary PGM, 8 bits).
 *     NAME=VALUE sets a parameter of cuda/sgm (rv_sgm_params ()), on the CPU engine; the others
 *     have their defaults. Writes OUT/name.disparity (u16, 1/16 px, 0 = invalid) and with
 *     confidence=true OUT/name.confidence (u8), dense rows.
 *   depth_tool render PATTERN WIDTH HEIGHT SEED FRAME PREFIX
 *     Renders a frame of a scene (rv_scene_params ()), two frames per second: PREFIXleft.pgm,
 *     PREFIXright.pgm, and dense PREFIXtruth (u16, 1/16 px), PREFIXlabels, PREFIXvisible (u8). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eval_tool.h"
#include "scene/scene.h"
#include "sgm/sgm.h"

const char eval_tool_name[] = "depth_tool";

static RvPlane read_pgm(const char *path) {
  FILE *file = fopen(path, "rb");
  int width = 0, height = 0, most = 0;
  if (!file || fscanf(file, "P5 %d %d %d", &width, &height, &most) != 3 || most != 255 ||
      width < 1 || height < 1 || width > RV_MAX_SIDE || height > RV_MAX_SIDE)
    eval_fail("not a binary PGM file of 8 bits", path);
  (void)fgetc(file); /* the single white space after the maximum */
  const RvPlane plane = eval_plane_new(width, height, RV_U8);
  if (fread(plane.data, (size_t)width, (size_t)height, file) != (size_t)height)
    eval_fail("the file is too short", path);
  fclose(file);
  return plane;
}

/* --- Match ----------------------------------------------------------------------------------- */

static void match_pair(const RvSgmConfig *base, const char *name, int disparities,
                       const char *left_path, const char *right_path, const char *out) {
  char folder[4096];
  const RvPlane left = read_pgm(left_path), right = read_pgm(right_path);
  if (left.width != right.width || left.height != right.height)
    eval_fail("the views differ in size", name);
  RvSgmConfig config = *base;
  config.width = left.width;
  config.height = left.height;
  config.disparities = disparities;
  const RvPlane disparity = eval_plane_new(left.width, left.height, RV_U16);
  const RvPlane confidence = eval_plane_new(left.width, left.height, RV_U8);
  RvSgm *sgm = NULL;
  eval_must(rv_sgm_new(&sgm, &config, RV_CPU), name);
  const clock_t start = clock();
  eval_must(rv_sgm_run(sgm, &left, &right, &disparity, &confidence, NULL), name);
  printf("%s %.0f\n", name, (double)(clock() - start) * (1e6 / CLOCKS_PER_SEC));
  rv_sgm_free(&sgm);
  snprintf(folder, sizeof folder, "%s/", out);
  eval_plane_write(folder, name, ".disparity", "", &disparity);
  if (config.confidence)
    eval_plane_write(folder, name, ".confidence", "", &confidence);
  free(left.data), free(right.data), free(disparity.data), free(confidence.data);
}

static int match(int count, char **arguments) {
  RvSgmConfig config;
  rv_sgm_config_init(&config);
  config.log.line = eval_print_line;
  eval_set_options(rv_sgm_params(), &config, count - 2, arguments + 2);
  FILE *list = fopen(arguments[0], "r");
  char name[256], left[2048], right[2048];
  int disparities;
  if (!list)
    eval_fail("cannot read", arguments[0]);
  while (fscanf(list, "%255s %d %2047s %2047s", name, &disparities, left, right) == 4)
    match_pair(&config, name, disparities, left, right, arguments[1]);
  if (!feof(list))
    eval_fail("a line is not: name disparities left right", arguments[0]);
  fclose(list);
  return 0;
}

/* --- Render ---------------------------------------------------------------------------------- */

static int render(char **arguments) {
  static const char *const names[] = {"pattern", "width", "height", "seed"};
  RvSceneConfig config;
  RvScene *scene = NULL;
  rv_scene_config_init(&config);
  config.log.line = eval_print_line;
  for (int i = 0; i < 4; i++)
    eval_must(rv_params_set(rv_scene_params(), &config, names[i], arguments[i]), names[i]);
  config.frame_rate = 2;
  eval_must(rv_scene_new(&scene, &config), "scene");
  const int width = config.width, height = config.height;
  const RvPlane pair = eval_plane_new(2 * width, height, RV_U8);
  const RvPicture picture = {.format = RV_PIXEL_GRAY8,
                             .width = 2 * width,
                             .height = height,
                             .data = {pair.data},
                             .stride = {pair.stride}};
  const RvSceneTruth truth = {.disparity = eval_plane_new(width, height, RV_U16),
                              .labels = eval_plane_new(width, height, RV_U8),
                              .visible = eval_plane_new(width, height, RV_U8)};
  eval_must(rv_scene_render(scene, strtoull(arguments[4], NULL, 10), &picture, &truth), "render");
  char head[64];
  snprintf(head, sizeof head, "P5 %d %d 255\n", width, height);
  const RvPlane left = {pair.data, pair.stride, width, height, RV_U8};
  const RvPlane right = {(uint8_t *)pair.data + width, pair.stride, width, height, RV_U8};
  eval_plane_write(arguments[5], "left", ".pgm", head, &left);
  eval_plane_write(arguments[5], "right", ".pgm", head, &right);
  eval_plane_write(arguments[5], "truth", "", "", &truth.disparity);
  eval_plane_write(arguments[5], "labels", "", "", &truth.labels);
  eval_plane_write(arguments[5], "visible", "", "", &truth.visible);
  rv_scene_free(&scene);
  free(pair.data), free(truth.disparity.data), free(truth.labels.data), free(truth.visible.data);
  return 0;
}

int main(int count, char **arguments) {
  if (count >= 4 && strcmp(arguments[1], "match") == 0)
    return match(count - 2, arguments + 2);
  if (count == 8 && strcmp(arguments[1], "render") == 0)
    return render(arguments + 2);
  fprintf(stderr, "usage: depth_tool match LIST OUT [NAME=VALUE...]\n"
                  "       depth_tool render PATTERN WIDTH HEIGHT SEED FRAME PREFIX\n");
  return 2;
}
