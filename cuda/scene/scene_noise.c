/* SPDX-License-Identifier: MIT */
/* scene_noise.c: the pattern `noise`: dots, each block of them at its own disparity. */
#include "scene/scene_internal.h"
#include "scene/scene_kernels.h"

#include <string.h>

#define BLOCK 32 /* px */

typedef struct Dots {
  uint32_t salt; /* of the frame; the dots stand still when the speed is 0 */
  int range;     /* px: disparities 1..range */
} Dots;

static int block_disparity(const RvScene *scene, const Dots *dots, int bx, int by) {
  return 1 +
         (int)(scene_hash(scene->plan.config.seed ^ dots->salt, (uint32_t)bx, (uint32_t)by + 700u) %
               (uint32_t)dots->range);
}

static float dot(const RvScene *scene, const Dots *dots, int view, int x, int y) {
  const uint32_t h = scene_hash(scene->plan.config.seed ^ dots->salt, (uint32_t)x,
                                (uint32_t)y * 2u + (uint32_t)view + 9000u);
  return (float)(16 + (h & 0xFF) * 224 / 256);
}

/* `owner`: for each pixel of the right view, 1 + the left column it shows; 0: none, its own dots.
 * Of two blocks at one position the nearer one, with the larger disparity, is seen. */
static void paint_row(const RvScene *scene, uint64_t frame, const Dots *dots, int y,
                      uint32_t *owner) {
  const int width = scene->plan.config.width;
  float *gray = scene->work->depths + (size_t)y * (size_t)width;
  memset(owner, 0, (size_t)width * sizeof *owner);
  for (int x = 0; x < width; x++) {
    const int d = block_disparity(scene, dots, x / BLOCK, y / BLOCK), to = x - d;
    gray[x] = dot(scene, dots, 0, x, y);
    if (to < 0)
      continue;
    const int other = (int)owner[to] - 1;
    if (other < 0 || other - to < d)
      owner[to] = (uint32_t)x + 1;
  }
  scene->kernels->sense_gray(scene, frame, 0, y, gray);
  for (int x = 0; x < width; x++)
    gray[x] = owner[x] ? dot(scene, dots, 0, (int)owner[x] - 1, y) : dot(scene, dots, 1, x, y);
  scene->kernels->sense_gray(scene, frame, 1, y, gray);
}

static void truth_row(const RvScene *scene, const Dots *dots, int y, const uint32_t *owner,
                      const RvSceneTruth *truth) {
  for (int x = 0; x < scene->plan.config.width; x++) {
    const int d = block_disparity(scene, dots, x / BLOCK, y / BLOCK);
    const int seen = x - d >= 0 && owner[x - d] == (uint32_t)x + 1;
    if (truth->disparity.data)
      ((uint16_t *)((char *)truth->disparity.data + y * truth->disparity.stride))[x] =
          (uint16_t)(16 * d);
    if (truth->labels.data)
      ((uint8_t *)truth->labels.data + y * truth->labels.stride)[x] = RV_LABEL_WALL;
    if (truth->road.data)
      ((uint8_t *)truth->road.data + y * truth->road.stride)[x] = 0;
    if (truth->visible.data)
      ((uint8_t *)truth->visible.data + y * truth->visible.stride)[x] = seen ? 255 : 0;
  }
}

/* There is neither ground nor a thing. */
static void no_truth(const RvSceneConfig *c, const RvSceneTruth *truth) {
  const RvPlane *planes[] = {&truth->objects, &truth->heights};
  for (int i = 0; i < 2; i++)
    for (int y = 0; y < c->height && planes[i]->data; y++)
      memset((char *)planes[i]->data + y * planes[i]->stride, 0,
             (size_t)c->width * sizeof(uint16_t));
  if (truth->free_space)
    memset(truth->free_space, 0, (size_t)c->width * sizeof *truth->free_space);
  if (truth->facts)
    memset(truth->facts, 0, sizeof *truth->facts);
}

void scene_render_noise(RvScene *scene, uint64_t frame, const RvSceneTruth *truth) {
  const RvSceneConfig *c = &scene->plan.config;
  const int width = c->width, height = c->height, threads = rv_threads(c->threads);
  const int widest = rv_max(width / 2, 1);
  const Dots dots = {c->speed == 0.0 ? 0u
                                     : scene_hash((uint32_t)frame, (uint32_t)(frame >> 32), 1u),
                     rv_min(c->max_disparity, widest)};
  if (truth)
    no_truth(c, truth);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int y = 0; y < height; y++) {
    uint32_t *owner = scene->work->ids + (size_t)y * (size_t)width;
    paint_row(scene, frame, &dots, y, owner);
    if (truth)
      truth_row(scene, &dots, y, owner, truth);
  }
}
