/* SPDX-License-Identifier: MIT */
/* sgm_bench.c: the rows of the benchmark. Size, disparities, paths and cost are in the name of a
 * row, everything else is pinned to the values below, whatever the defaults are; rows SIZE-default have
 * the defaults, at 128 disparities. */
#include "sgm/sgm_bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "sgm/sgm.h"

/* Smooth random texture: a grid of random gray levels every 4 px, linear between, plus fine
 * grain. */
static int texture(int x, int y) {
  int corner[4];
  for (int i = 0; i < 4; i++) {
    uint32_t h = (uint32_t)(x / 4 + i % 2) * 73856093u ^ (uint32_t)(y / 4 + i / 2) * 19349663u;
    h = (h ^ h >> 13) * 1274126177u;
    corner[i] = (int)((h ^ h >> 16) & 255);
  }
  const int fx = x % 4, fy = y % 4;
  const int smooth = ((corner[0] * (4 - fx) + corner[1] * fx) * (4 - fy) +
                      (corner[2] * (4 - fx) + corner[3] * fx) * fy) /
                     16;
  return (smooth * 7 + (int)((uint32_t)(x * 7919 + y * 104729) * 2654435761u >> 24)) / 8;
}

/* A road that is nearer in every row, disparities from 4 to 100 px of 128, and a wall in front of
 * it. */
static int true_disparity(int x, int y, int width, int height, int disparities) {
  const int wall = x > width / 3 && x < width / 2 && y > height / 4 && y < 3 * height / 4;
  return wall ? 90 * disparities / 128 : 4 + y * (96 * disparities / 128) / height;
}

typedef struct Pair {
  int width, height, disparities;
  uint8_t *left, *right;
  uint16_t *disparity;
} Pair;

/* The left view is sampled from the texture of the right one. */
static int new_pair(Pair *p, int width, int height, int disparities) {
  const size_t n = (size_t)width * (size_t)height;
  *p = (Pair){width, height, disparities, malloc(n), malloc(n), malloc(2 * n)};
  if (!p->left || !p->right || !p->disparity)
    return 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const int d = true_disparity(x, y, width, height, disparities);
      p->right[y * width + x] = (uint8_t)texture(x + 128, y);
      p->left[y * width + x] = (uint8_t)texture(x + 128 - d, y);
    }
  return 1;
}

static void free_pair(Pair *p) {
  free(p->left);
  free(p->right);
  free(p->disparity);
}

/* Percent of the pixels with a match inside the right view whose error is at most 1 px. */
static double correct_percent(const Pair *p) {
  int good = 0, all = 0;
  for (int y = 0; y < p->height; y++)
    for (int x = p->disparities; x < p->width; x++) {
      const int d = true_disparity(x, y, p->width, p->height, p->disparities);
      all++;
      good += abs(p->disparity[y * p->width + x] - 16 * d) <= 16;
    }
  return 100.0 * good / (all ? all : 1);
}

/* Kernels of the CUDA engine on an H200: V vertical, D diagonal, B bands, then R rows, L long rows;
 * docs/notes/sgm-cuda.md says when each is used. */
typedef struct Row {
  int width, height, disparities;
  int paths; /* 0: all defaults, cost is not read */
  RvSgmCost cost;
} Row;

static const Row rows[] = {
    {1242, 375, 128, 4, RV_SGM_CSCT},   /* V R, packed partial sums */
    {1242, 375, 128, 8, RV_SGM_CSCT},   /* D R */
    {1920, 1080, 128, 4, RV_SGM_CSCT},  /* V R, packed partial sums */
    {1920, 1080, 128, 8, RV_SGM_CSCT},  /* D R */
    {640, 480, 128, 8, RV_SGM_CSCT},    /* D R */
    {1242, 375, 32, 8, RV_SGM_CSCT},    /* D R */
    {1242, 375, 64, 8, RV_SGM_CSCT},    /* D R */
    {1242, 375, 32, 8, RV_SGM_CENSUS},  /* D R */
    {1242, 375, 64, 8, RV_SGM_CENSUS},  /* D R */
    {1242, 375, 128, 8, RV_SGM_CENSUS}, /* D R */
    {1242, 375, 128, 2, RV_SGM_CSCT},   /* V R, one sweep, 16-bit sums */
    {1242, 375, 96, 4, RV_SGM_CSCT},    /* V R, 16-bit sums */
    {3840, 2160, 128, 8, RV_SGM_CSCT},  /* D R, one sweep after the other */
    {2560, 1440, 512, 8, RV_SGM_CSCT},  /* B L, too long for R */
    {1242, 375, 128, 0, RV_SGM_MIXED},  /* V R, packed partial sums, adaptive P2, sky */
    {1920, 1080, 128, 0, RV_SGM_MIXED}, /* the same */
    {640, 480, 128, 0, RV_SGM_MIXED},   /* the same */
};

typedef struct Bench {
  RvSgm *sgm;
  RvPlane left, right, disparity;
} Bench;

static RvStatus run(void *user, RvStream stream) {
  const Bench *b = user;
  return rv_sgm_run(b->sgm, &b->left, &b->right, &b->disparity, NULL, stream);
}

static void bench_engine(RvCheck *check, const char *name, const RvSgmConfig *c, Pair *pair,
                         RvEngine engine) {
  const RvPlane left = {pair->left, c->width, c->width, c->height, RV_U8};
  const RvPlane right = {pair->right, c->width, c->width, c->height, RV_U8};
  const RvPlane out = {pair->disparity, 2 * c->width, c->width, c->height, RV_U16};
  Bench b = {NULL, left, right, out};
  int good = rvc_true(check, name, rv_sgm_new(&b.sgm, c, engine) == RV_OK, "no object");
  if (engine == RV_CUDA) {
    b.left.data = b.right.data = b.disparity.data = NULL;
    good = good && rvc_upload(check, &b.left, &left) && rvc_upload(check, &b.right, &right) &&
           rvc_upload(check, &b.disparity, &out);
  }
  if (good && rvc_true(check, name, run(&b, NULL) == RV_OK, "run failed") &&
      (engine == RV_CPU || rvc_download(check, &out, &b.disparity)) &&
      rvc_true(check, name, correct_percent(pair) > 85, "only %.1f %% of the pixels are correct",
               correct_percent(pair)))
    rvc_bench(check, name, engine, run, &b);
  if (engine == RV_CUDA) {
    rvc_device_free(&b.left);
    rvc_device_free(&b.right);
    rvc_device_free(&b.disparity);
  }
  rv_sgm_free(&b.sgm);
}

static void set_config(RvSgmConfig *c, const Row *row) {
  rv_sgm_config_init(c);
  c->width = row->width;
  c->height = row->height;
  c->disparities = row->disparities;
  if (row->paths == 0)
    return;
  c->paths = row->paths;
  c->cost = row->cost;
  c->p1 = 10;
  c->p2 = 120;
  c->adaptive_p2 = 0;
  c->reject_sky = 0;
  c->uniqueness = 3;
  c->max_lr_diff = 1;
  c->median = 3;
  c->speckle_size = 100;
  c->speckle_range = 1;
}

void rv_sgm_bench(RvCheck *check) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char name[64];
    if (rows[i].paths == 0)
      snprintf(name, sizeof name, "sgm/%dx%d-default", rows[i].width, rows[i].height);
    else
      snprintf(name, sizeof name, "sgm/%dx%d-d%d-p%d%s", rows[i].width, rows[i].height,
               rows[i].disparities, rows[i].paths, rows[i].cost == RV_SGM_CENSUS ? "-census" : "");
    if (!rvc_wants(check, name) || rvc_small(check))
      continue;
    RvSgmConfig c;
    Pair pair;
    set_config(&c, &rows[i]);
    c.log = rvc_log(check);
    if (rvc_true(check, name, new_pair(&pair, c.width, c.height, c.disparities), "out of memory")) {
      if (rvc_cpu(check))
        bench_engine(check, name, &c, &pair, RV_CPU);
      if (rvc_cuda(check))
        bench_engine(check, name, &c, &pair, RV_CUDA);
    }
    free_pair(&pair);
  }
}
