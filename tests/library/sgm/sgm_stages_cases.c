/* SPDX-License-Identifier: MIT */
/* sgm_stages_cases.c: tests: every intermediate result of an engine, and comparing two sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sgm/sgm_stages.h"
#include "sgm/sgm_reference.h"

/* Copies memory of the engine to the host. */
static int fetch(RvEngine engine, void *to, const void *from, size_t bytes) {
  if (engine == RV_CUDA)
    return rv_copy_to_host(to, from, bytes, NULL) == RV_OK;
  memcpy(to, from, bytes);
  return 1;
}

/* What a run needs in memory of the engine. */
typedef struct Buffers {
  RvPlane left, right, disparity, confidence; /* rows are padded */
  void *census_left, *census_right, *volume, *map;
} Buffers;

static RvPlane new_plane(int width, int height, RvFormat format, RvEngine engine) {
  const size_t stride = ((size_t)width * rv_format_bytes(format) + 100) / 64 * 64;
  RvPlane plane = {NULL, (ptrdiff_t)stride, width, height, format};
  (void)rv_buffer_new(&plane.data, stride * (size_t)height, engine);
  return plane;
}

static void free_buffers(Buffers *b, RvEngine engine) {
  void **all[] = {&b->left.data,   &b->right.data,   &b->disparity.data, &b->confidence.data,
                  &b->census_left, &b->census_right, &b->volume,         &b->map};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    rv_buffer_free(all[i], engine);
}

static int new_buffers(Buffers *b, const RvSgmConfig *c, RvEngine engine, const uint8_t *left,
                       const uint8_t *right) {
  const size_t n = (size_t)c->width * (size_t)c->height, row = (size_t)c->width;
  memset(b, 0, sizeof *b);
  b->left = new_plane(c->width, c->height, RV_U8, engine);
  b->right = new_plane(c->width, c->height, RV_U8, engine);
  b->disparity = new_plane(c->width, c->height, RV_U16, engine);
  b->confidence = new_plane(c->width, c->height, RV_U8, engine);
  return rv_buffer_new(&b->census_left, n * 8, engine) == RV_OK &&
         rv_buffer_new(&b->census_right, n * 8, engine) == RV_OK &&
         rv_buffer_new(&b->volume, n * 2 * (size_t)c->disparities, engine) == RV_OK &&
         rv_buffer_new(&b->map, n * 2, engine) == RV_OK && b->left.data && b->right.data &&
         b->disparity.data && b->confidence.data &&
         rv_copy_rows(b->left.data, b->left.stride, engine, left, c->width, RV_CPU, row, c->height,
                      NULL) == RV_OK &&
         rv_copy_rows(b->right.data, b->right.stride, engine, right, c->width, RV_CPU, row,
                      c->height, NULL) == RV_OK;
}

static int read_map(RvSgm *sgm, const Buffers *b, RvSgmMap map, void *out) {
  const RvSgmConfig *c = &sgm->config;
  const size_t n = (size_t)c->width * (size_t)c->height;
  return sgm->stages->read(sgm->work, c, map, b->map, NULL) == RV_OK &&
         fetch(sgm->engine, out, b->map, n * (map == RV_SGM_MAP_CONFIDENCE ? 1 : 2));
}

static int read_match(RvSgm *sgm, const Buffers *b, RvSgmResults *out) {
  const RvSgmConfig *c = &sgm->config;
  const size_t n = (size_t)c->width * (size_t)c->height;
  return fetch(sgm->engine, out->census_left, b->census_left, n * 8) &&
         fetch(sgm->engine, out->census_right, b->census_right, n * 8) &&
         fetch(sgm->engine, out->volume, b->volume, n * 2 * (size_t)c->disparities) &&
         read_map(sgm, b, RV_SGM_MAP_WINNER, out->winner) &&
         read_map(sgm, b, RV_SGM_MAP_RIGHT, out->right) &&
         read_map(sgm, b, RV_SGM_MAP_DISPARITY, out->matched) &&
         (!c->confidence || read_map(sgm, b, RV_SGM_MAP_CONFIDENCE, out->found));
}

static int read_stages(RvSgm *sgm, const Buffers *b, RvSgmResults *out) {
  const RvSgmConfig *c = &sgm->config;
  const RvSgmStages *s = sgm->stages;
  const RvSgmJob job = {.left = b->left,
                        .right = b->right,
                        .disparity = b->disparity,
                        .confidence = c->confidence ? b->confidence : (RvPlane){0},
                        .census_left = b->census_left,
                        .census_right = b->census_right,
                        .volume = b->volume};
  const size_t row = (size_t)c->width;
  if (s->match(sgm->work, c, &job) != RV_OK || !read_match(sgm, b, out))
    return 0;
  if ((c->max_lr_diff >= 0 && s->check(sgm->work, c, &job) != RV_OK) ||
      !read_map(sgm, b, RV_SGM_MAP_DISPARITY, out->checked))
    return 0;
  if ((c->median && s->median(sgm->work, c, &job) != RV_OK) ||
      !read_map(sgm, b, RV_SGM_MAP_DISPARITY, out->filtered))
    return 0;
  if ((c->speckle_size > 1 && s->speckle(sgm->work, c, &job) != RV_OK) ||
      !read_map(sgm, b, RV_SGM_MAP_DISPARITY, out->cleaned))
    return 0;
  return s->output(sgm->work, c, &job) == RV_OK &&
         rv_copy_rows(out->disparity, c->width * 2, RV_CPU, b->disparity.data, b->disparity.stride,
                      sgm->engine, 2 * row, c->height, NULL) == RV_OK &&
         (!c->confidence ||
          rv_copy_rows(out->confidence, c->width, RV_CPU, b->confidence.data, b->confidence.stride,
                       sgm->engine, row, c->height, NULL) == RV_OK);
}

int rv_sgm_read_stages(RvCheck *check, const char *name, RvSgm *sgm, const uint8_t *left,
                       const uint8_t *right, RvSgmResults *out) {
  Buffers buffers;
  const int done = new_buffers(&buffers, &sgm->config, sgm->engine, left, right) &&
                   read_stages(sgm, &buffers, out);
  free_buffers(&buffers, sgm->engine);
  return rvc_true(check, name, done, "the stages of engine %d could not be run",
                  (int)sgm->engine) &&
         rvc_true(check, name, rv_arena_check(&sgm->arena) < 0, "guard %d of engine %d is damaged",
                  rv_arena_check(&sgm->arena), (int)sgm->engine);
}

static int same(RvCheck *check, const char *name, const void *expected, const void *got, int width,
                int height, RvFormat format, const char *stage, const char *what) {
  char text[512];
  snprintf(text, sizeof text, "%s; %s", stage, what);
  const ptrdiff_t stride = width * (ptrdiff_t)rv_format_bytes(format);
  const RvPlane a = {(void *)(uintptr_t)expected, stride, width, height, format};
  const RvPlane b = {(void *)(uintptr_t)got, stride, width, height, format};
  return rvc_same(check, name, &a, &b, text);
}

int rv_sgm_compare(RvCheck *check, const char *name, const RvSgmConfig *c, const RvSgmResults *e,
                   const RvSgmResults *g, const char *what) {
  const int w = c->width, h = c->height;
  return same(check, name, e->census_left, g->census_left, 2 * w, h, RV_U32, "census left", what) &&
         same(check, name, e->census_right, g->census_right, 2 * w, h, RV_U32, "census right",
              what) &&
         same(check, name, e->volume, g->volume, w * c->disparities, h, RV_U16, "sums", what) &&
         same(check, name, e->winner, g->winner, w, h, RV_U16, "winner", what) &&
         same(check, name, e->right, g->right, w, h, RV_U16, "right winner", what) &&
         same(check, name, e->matched, g->matched, w, h, RV_U16, "matched", what) &&
         (!c->confidence ||
          same(check, name, e->found, g->found, w, h, RV_U8, "confidence found", what)) &&
         same(check, name, e->checked, g->checked, w, h, RV_U16, "left-right", what) &&
         same(check, name, e->filtered, g->filtered, w, h, RV_U16, "median", what) &&
         same(check, name, e->cleaned, g->cleaned, w, h, RV_U16, "speckle", what) &&
         same(check, name, e->disparity, g->disparity, w, h, RV_U16, "disparity", what) &&
         (!c->confidence ||
          same(check, name, e->confidence, g->confidence, w, h, RV_U8, "confidence", what));
}
