/* SPDX-License-Identifier: MIT */
/* same_bits.c: a line for each of many random configs of sgm, hough, rdp and vote on the CPU engine: its
 * number, the status and the FNV-1a hash of all results. tests/same_bits.sh compares the lines of two
 * revisions. Only fields that 1bc14d3 has are set; what is newer is off. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hough/hough.h"
#include "rdp/rdp.h"
#include "sgm/sgm.h"
#include "vote/vote.h"

#define CONFIGS 400 /* per algorithm */
#define ROW_MAX 1024

static uint64_t
    state; /* of the random numbers: a config and its input have the same in all trees */

static void start(uint64_t algorithm, int number) {
  state = algorithm * 0x9e3779b97f4a7c15u * (uint64_t)(number + 1);
}

static int range(int low, int high) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return low + (int)((uint32_t)(state >> 16) % (uint32_t)(high - low + 1));
}

static void *memory(size_t bytes) {
  void *cleared = calloc(bytes + 1, 1);
  if (!cleared)
    exit(1);
  return cleared;
}

static RvPlane plane(void *data, int width, int height, RvFormat format) {
  const ptrdiff_t bytes = format == RV_U8 ? 1 : format == RV_U16 ? 2 : 4;
  RvPlane of;
  memset(&of, 0, sizeof of);
  of.data = data, of.width = width, of.height = height, of.stride = bytes * width;
  of.format = format;
  return of;
}

static void add(uint64_t *hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

static void print(const char *algorithm, int number, RvStatus status, uint64_t hash) {
  printf("%s %d status %d %016llx\n", algorithm, number, (int)status, (unsigned long long)hash);
}

/* --- SGM: disparities ------------------------------------------------------------------------ */

static void set_sgm(RvSgmConfig *c) {
  static const int medians[] = {0, 3, 5};
  rv_sgm_config_init(c);
  c->width = range(1, 300), c->height = range(1, 120);
  c->disparities = 32 * range(1, 6), c->min_disparity = range(0, 3) ? 0 : range(1, 20);
  c->paths = 2 << range(0, 2), c->cost = range(0, 1) ? RV_SGM_CSCT : RV_SGM_CENSUS;
  c->p1 = range(0, 60), c->p2 = c->p1 + range(0, 200);
  c->adaptive_p2 = range(0, 1), c->p2_min = range(c->p1, c->p2), c->p2_gradient = range(0, 8);
  c->uniqueness = range(0, 20), c->max_lr_diff = range(-1, 4), c->subpixel = range(0, 1);
  c->median = medians[range(0, 2)];
  c->speckle_size = range(0, 1) ? 0 : range(0, 300), c->speckle_range = range(0, 4);
  c->threads = range(0, 3);
#ifdef RV_PARAMS_H
  c->reject_sky = 0;
  c->p1_ground = -1;
  c->max_cost = 0;
#endif
}

/* A textured pair whose disparity grows downwards, by up to 2 px at random. */
static void make_pair(uint8_t *left, uint8_t *right, int width, int height) {
  const int most = range(4, 120), step = range(1, 60);
  for (int y = 0; y < height; y++) {
    const int d = y * most / height + range(0, 2);
    uint8_t row[ROW_MAX];
    int gray = 128;
    for (int x = 0; x < width + d; x++) {
      gray += range(-step, step);
      gray = gray < 0 ? -gray : gray > 255 ? 510 - gray : gray;
      row[x] = (uint8_t)gray;
    }
    memcpy(left + (size_t)y * width, row, (size_t)width);
    memcpy(right + (size_t)y * width, row + d, (size_t)width);
  }
}

static void run_sgm(int number) {
  RvSgmConfig c;
  start(1, number);
  set_sgm(&c);
  const size_t count = (size_t)c.width * c.height;
  uint8_t *left = memory(count), *right = memory(count);
  uint16_t *disparity = memory(2 * count);
  make_pair(left, right, c.width, c.height);
  const RvPlane l = plane(left, c.width, c.height, RV_U8),
                r = plane(right, c.width, c.height, RV_U8);
  const RvPlane out = plane(disparity, c.width, c.height, RV_U16);
  RvSgm *sgm = NULL;
  RvStatus status = rv_sgm_new(&sgm, &c, RV_CPU);
  if (status == RV_OK)
    status = rv_sgm_run(sgm, &l, &r, &out, NULL, NULL);
  uint64_t hash = 0xcbf29ce484222325u;
  add(&hash, disparity, 2 * count);
  print("sgm", number, status, hash);
  rv_sgm_free(&sgm);
  free(left), free(right), free(disparity);
}

/* --- Hough: lines or segments, their number, edges ------------------------------------------- */

static void set_hough(RvHoughConfig *c) {
  rv_hough_config_init(c);
  c->width = range(3, 400), c->height = range(3, 300);
  c->edges = (RvHoughEdges)range(0, 2);
  c->edge_low = range(0, 300), c->edge_high = c->edge_low + range(0, 300);
  c->theta_steps = range(2, 360), c->rho_step = range(1, 12) * 0.25;
  c->threshold = range(0, 80), c->max_lines = range(1, 256), c->weighted = range(0, 1);
  c->segments = range(0, 1), c->min_length = range(0, 60), c->max_gap = range(0, 10);
  c->threads = range(0, 3);
}

static void run_hough(int number) {
  RvHoughConfig c;
  start(2, number);
  set_hough(&c);
  const int w = c.width, h = c.height;
  uint8_t *gray = memory((size_t)w * h), *edges = memory((size_t)w * h);
  RvLine *lines = memory((size_t)c.max_lines * sizeof *lines);
  uint32_t count = 0;
  for (int i = 0; i < w * h; i++)
    gray[i] = (uint8_t)range(90, 110);
  for (int k = 0; k < 12; k++) {
    const int x0 = range(0, w - 1), y0 = range(0, h - 1), x1 = range(0, w - 1),
              y1 = range(0, h - 1);
    const uint8_t level = (uint8_t)range(0, 255);
    for (int t = 0; t <= 400; t++)
      gray[(y0 + (y1 - y0) * t / 400) * w + x0 + (x1 - x0) * t / 400] = level;
  }
  RvHoughOutput out;
  memset(&out, 0, sizeof out);
  out.lines = lines, out.count = &count, out.edges = plane(edges, w, h, RV_U8);
  const RvPlane in = plane(gray, w, h, RV_U8);
  RvHough *hough = NULL;
  RvStatus status = rv_hough_new(&hough, &c, RV_CPU);
  if (status == RV_OK)
    status = rv_hough_run(hough, &in, &out, NULL);
  uint64_t hash = 0xcbf29ce484222325u;
  add(&hash, lines, (size_t)c.max_lines * sizeof *lines);
  add(&hash, &count, sizeof count);
  add(&hash, edges, (size_t)w * h);
  print("hough", number, status, hash);
  rv_hough_free(&hough);
  free(gray), free(edges), free(lines);
}

/* --- RDP: all outputs ------------------------------------------------------------------------ */

static void set_rdp(RvRdpConfig *c) {
  static const int medians[] = {0, 3, 5};
  rv_rdp_config_init(c);
  c->width = range(1, 200), c->height = range(1, 400);
  c->epsilon = range(0, 400) / 64.0, c->median = medians[range(0, 2)];
  c->distance = (RvRdpDistance)range(0, 1), c->invalid = (RvRdpInvalid)range(0, 1);
  c->max_levels = range(0, 1) ? 0 : range(1, 12), c->threads = range(0, 3);
}

/* Columns of pieces with noise, a sixteenth of the values invalid. */
static void make_columns(uint16_t *out, int width, int height) {
  for (int x = 0; x < width; x++) {
    int value = range(100, 2000), slope = range(-8, 8);
    for (int y = 0; y < height; y++) {
      if (range(0, 40) == 0)
        value = range(100, 2000), slope = range(-8, 8);
      value += slope + range(-3, 3);
      value = value < 1 ? 1 : value > 8000 ? 8000 : value;
      out[(size_t)y * width + x] = (uint16_t)(range(0, 15) ? value : 0);
    }
  }
}

static void run_rdp(int number) {
  RvRdpConfig c;
  start(3, number);
  set_rdp(&c);
  const size_t count = (size_t)c.width * c.height, columns = (size_t)c.width;
  uint16_t *in = memory(2 * count), *back = memory(2 * count);
  uint8_t *mask = memory(count);
  make_columns(in, c.width, c.height);
  RvRdpOutput out;
  memset(&out, 0, sizeof out);
  out.mask = plane(mask, c.width, c.height, RV_U8);
  out.reconstruction = plane(back, c.width, c.height, RV_U16);
  out.capacity = rv_rdp_segments_max(&c);
  out.segments = memory(out.capacity * sizeof *out.segments);
  out.offsets = memory((columns + 1) * sizeof *out.offsets);
  out.columns = memory(columns * sizeof *out.columns);
  const RvPlane disparity = plane(in, c.width, c.height, RV_U16);
  RvRdp *rdp = NULL;
  RvStatus status = rv_rdp_new(&rdp, &c, RV_CPU);
  if (status == RV_OK)
    status = rv_rdp_run(rdp, &disparity, &out, NULL);
  uint64_t hash = 0xcbf29ce484222325u;
  add(&hash, out.segments, out.offsets[columns] * sizeof *out.segments);
  add(&hash, out.offsets, (columns + 1) * sizeof *out.offsets);
  add(&hash, out.columns, columns * sizeof *out.columns);
  add(&hash, mask, count);
  add(&hash, back, 2 * count);
  print("rdp", number, status, hash);
  rv_rdp_free(&rdp);
  free(in), free(back), free(mask), free(out.segments), free(out.offsets), free(out.columns);
}

/* --- Vote ------------------------------------------------------------------------------------ */

static void run_vote(int number) {
  static const RvFormat formats[RV_VOTE_KINDS] = {
      [RV_VOTE_COLOR] = RV_U32, [RV_VOTE_CHROMA] = RV_U32, [RV_VOTE_SUM] = RV_U16};
  RvVoteConfig c;
  start(4, number);
  rv_vote_config_init(&c);
  c.kind = (RvVoteKind)(number % RV_VOTE_KINDS);
  c.format = formats[c.kind];
  c.width = range(16, 200), c.height = range(16, 200);
  c.bins = range(1, 3000), c.factor = range(2, 16), c.threads = range(0, 3);
  int columns, rows;
  rv_vote_size(&c, &columns, &rows);
  uint32_t *in = memory(4 * (size_t)c.width * c.height),
           *votes = memory(4 * (size_t)columns * rows);
  for (int i = 0; i < c.width * c.height; i++)
    in[i] = (uint32_t)range(0, 1 << 30);
  const RvPlane from = plane(in, c.width, c.height, c.format);
  const RvPlane to = plane(votes, columns, rows, RV_U32);
  RvVote *vote = NULL;
  RvStatus status = rv_vote_new(&vote, &c, RV_CPU);
  if (status == RV_OK)
    status = rv_vote_run(vote, &from, &to, NULL);
  uint64_t hash = 0xcbf29ce484222325u;
  add(&hash, votes, 4 * (size_t)columns * rows);
  print("vote", number, status, hash);
  rv_vote_free(&vote);
  free(in), free(votes);
}

int main(void) {
  for (int i = 0; i < CONFIGS; i++) {
    run_sgm(i);
    run_hough(i);
    run_rdp(i);
    run_vote(i);
  }
  return 0;
}
