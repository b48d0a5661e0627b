/* SPDX-License-Identifier: MIT */
/* sgm_cpu.h: memory of the CPU engine. Not installed.
 *
 * Beside the slots there are only one row of states per direction and a few rows per thread:
 * descriptors are made again for each sweep.
 *
 * One slot per row of the picture holds that row's sums S[x][k] (u16). Once a row's winners are
 * known its sums are dead, and the slot holds the row of every map, so that the maps take no
 * memory of their own (25 bytes per pixel against 2 * disparities >= 64):
 *
 *   | winner u16 | right u16 | disparity u16 | spare u16 | region | confidence u8 |
 *
 * spare is the median's target, which makes it the disparity; the speckle filter keeps the first
 * column of each run in the place of right, which nobody reads after the left-right check. */
#ifndef RV_SGM_CPU_H
#define RV_SGM_CPU_H

#include "sgm/sgm_stages.h"
#include "sgm/sgm_cpu_sweep.h"

/* Node of the speckle filter's forest; a root is its own parent. */
typedef struct RvSgmRegion {
  struct RvSgmRegion *parent;
  uint32_t size; /* px, of the whole tree; kept at roots */
} RvSgmRegion;

/* What one thread works with; one block, carved by rv_sgm_cpu_scratch. */
typedef struct RvSgmScratch {
  int64_t done;    /* columns of its sweep behind it: row * width + columns of the current row */
  int64_t claimed; /* rows of its sweep up to the one it has claimed last, that one included */
  uint8_t *grey;   /* 7 rows with 4 spare columns at both ends */
  uint8_t *bytes;  /* a row of one descriptor byte */
  uint8_t *left, *right;
  void *chain, *chain_least;
  uint16_t *right_sum, *right_k;
  char *maps; /* a row of the maps */
} RvSgmScratch;

typedef struct RvSgmCpu {
  int threads;
  int cell; /* bytes of a cell of a path: 1 or 2 */
  const RvSgmKernels *kernels;
  char *slots;
  size_t slot_bytes;
  int checks;   /* 1: match does the left-right check of each row as well */
  int turned;   /* 1 after the median: disparity and spare have changed places */
  int *reached; /* per row: how far it is, see sgm_cpu_match.c */
  struct {
    RvSgmPaths vertical, diagonal[2];
  } sweep[2]; /* from the top, from the bottom */
  int diagonals;
  char *scratch; /* threads blocks */
  size_t scratch_bytes;
  uint16_t p2_of[256]; /* adaptive P2 by grey difference */
} RvSgmCpu;

/* Instruction sets that this processor has, fastest first; NULL past the last. */
const RvSgmKernels *rv_sgm_cpu_kernels(int index);
/* 1 when these kernels can do this config with cells of that many bytes. */
int rv_sgm_cpu_can(const RvSgmKernels *kernels, const RvSgmConfig *config, int cell);

void rv_sgm_cpu_layout(void *work, const RvSgmConfig *config, RvArena *arena);
RvStatus rv_sgm_cpu_match(void *work, const RvSgmConfig *config, const RvSgmJob *job);

static inline uint16_t *rv_sgm_sums(const RvSgmCpu *cpu, int y) {
  return (uint16_t *)(cpu->slots + cpu->slot_bytes * (size_t)y);
}
static inline uint16_t *rv_sgm_winners(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y);
}
static inline uint16_t *rv_sgm_right_winners(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y) + c->width;
}
static inline uint16_t *rv_sgm_disparities(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y) + (cpu->turned ? 3 : 2) * (size_t)c->width;
}
static inline uint16_t *rv_sgm_scratch(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return rv_sgm_sums(cpu, y) + (cpu->turned ? 2 : 3) * (size_t)c->width;
}
static inline RvSgmRegion *rv_sgm_regions(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return (RvSgmRegion *)(rv_sgm_sums(cpu, y) + 4 * (size_t)c->width);
}
static inline uint8_t *rv_sgm_confidences(const RvSgmCpu *cpu, const RvSgmConfig *c, int y) {
  return (uint8_t *)(rv_sgm_regions(cpu, c, y) + c->width);
}
#define RV_SGM_MAP_BYTES (9 + sizeof(RvSgmRegion)) /* per pixel, of all maps */

/* Rows that a thread takes at a time: threads that others hold up leave the rest to the others. */
#define RV_SGM_ROWS 8

/* Left-right check and output of one row. */
void rv_sgm_cpu_check_row(const RvSgmCpu *cpu, const RvSgmConfig *config, int y);
void rv_sgm_cpu_output_row(const RvSgmCpu *cpu, const RvSgmConfig *config, const RvSgmJob *job,
                           int y);

/* Median, speckle and output together. */
RvStatus rv_sgm_cpu_finish(void *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus rv_sgm_cpu_median(void *work, const RvSgmConfig *config, const RvSgmJob *job);
RvStatus rv_sgm_cpu_speckle(void *work, const RvSgmConfig *config, const RvSgmJob *job);

#endif
