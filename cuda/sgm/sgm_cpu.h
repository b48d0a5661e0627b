/* SPDX-License-Identifier: MIT */
/* sgm_cpu.h: memory of the CPU engine. Not installed.
 *
 * In addition to the slots there are only one row of states per direction and a few rows per
 * thread: descriptors are recomputed for each sweep.
 *
 * One slot per image row contains that row's S[x][k] (u16). Once the winners of a row are known
 * its S is not needed anymore, and the slot contains the row of every map, so that the maps take
 * no memory of their own (25 bytes per pixel against 2 * disparities >= 64):
 *
 * | winner u16 | right u16 | disparity u16 | filtered u16 | region | confidence u8 |
 *
 * filtered is the output of the median; the speckle filter stores the first column of each run
 * in the position of right, which is not read after the left-right check. The refine stage marks
 * sky in winner, and stores candidates of the sky and then filled values in the position of
 * disparity. */
#ifndef RV_SGM_CPU_H
#define RV_SGM_CPU_H

#include "sgm/sgm_cpu_sweep.h"
#include "sgm/sgm_stages.h"

/* Node of the speckle filter's forest; a root is its own parent. */
typedef struct RvSgmRegion {
  struct RvSgmRegion *parent;
  uint32_t size; /* px, of the complete tree; valid at roots */
} RvSgmRegion;

/* Memory of one thread; one block. */
typedef struct RvSgmScratch {
  int64_t done;    /* columns of its sweep that are finished: row * width + columns of the row */
  int64_t claimed; /* rows of its sweep up to the one it claimed last, inclusive */
  uint8_t *gray;   /* 7 rows with 4 spare columns at both ends */
  uint8_t *bytes;  /* a row of one descriptor byte */
  uint8_t *left, *right;
  void *chain, *chain_min;
  uint16_t *right_sum, *right_k;
  char *maps; /* a row of the maps */
} RvSgmScratch;

typedef struct RvSgmCpu {
  int threads;
  int width;
  int cell; /* bytes of a cell of a path: 1 or 2 */
  const RvSgmKernels *kernels;
  char *slots;
  size_t slot_bytes;
  int *reached; /* per row: its progress, see sgm_cpu_match.c */
  struct {
    RvSgmPaths vertical, diagonal[2];
  } sweep[2]; /* from the top, from the bottom */
  int diagonals;
  char *scratch; /* threads blocks */
  size_t scratch_bytes;
} RvSgmCpu;

/* Instruction sets that this CPU has, fastest first; NULL after the last. */
const RvSgmKernels *rv_sgm_cpu_kernels(int index);
/* 1 when these kernels support this config with cells of that many bytes. */
int rv_sgm_cpu_can(const RvSgmKernels *kernels, const RvSgmConfig *config, int cell);

static inline uint16_t *rv_sgm_sums(const RvSgmCpu *cpu, int y) {
  return (uint16_t *)(cpu->slots + cpu->slot_bytes * (size_t)y);
}
static inline uint16_t *rv_sgm_winners(const RvSgmCpu *cpu, int y) {
  return rv_sgm_sums(cpu, y);
}
static inline uint16_t *rv_sgm_right_winners(const RvSgmCpu *cpu, int y) {
  return rv_sgm_sums(cpu, y) + cpu->width;
}
static inline uint16_t *rv_sgm_disparities(const RvSgmCpu *cpu, int y) {
  return rv_sgm_sums(cpu, y) + 2 * (size_t)cpu->width;
}
static inline uint16_t *rv_sgm_filtered(const RvSgmCpu *cpu, int y) {
  return rv_sgm_sums(cpu, y) + 3 * (size_t)cpu->width;
}
static inline RvSgmRegion *rv_sgm_regions(const RvSgmCpu *cpu, int y) {
  return (RvSgmRegion *)(rv_sgm_sums(cpu, y) + 4 * (size_t)cpu->width);
}
static inline uint8_t *rv_sgm_confidences(const RvSgmCpu *cpu, int y) {
  return (uint8_t *)(rv_sgm_regions(cpu, y) + cpu->width);
}
#define RV_SGM_MAP_BYTES (9 + sizeof(RvSgmRegion)) /* per pixel, of all maps */

/* Rows that a thread processes at a time: the other threads process the rows of a preempted one. */
#define RV_SGM_ROWS 8

RvStatus rv_sgm_cpu_match(void *work, RvSgmJob *job);
RvStatus rv_sgm_cpu_filter(void *work, RvSgmJob *job);
RvStatus rv_sgm_cpu_refine(void *work, RvSgmJob *job);

#define RV_SGM_BAND 32 /* rows that one thread filters and links */

static inline void *rv_sgm_plane_row(const RvPlane *plane, int y) {
  return (char *)plane->data + y * plane->stride;
}

/* Connected regions of rows of values, 0 = none: makes the nodes of a row, of the size of their
 * runs or (counts 0) of size 0; joins them with those of the row above; and, when all rows are
 * joined, gives the size of the region of the run that starts in column x, and the end of that
 * run. */
void rv_sgm_cpu_runs(const RvSgmCpu *cpu, int y, const uint16_t *values, int range, int counts);
void rv_sgm_cpu_join(const RvSgmCpu *cpu, int y, const uint16_t *here, const uint16_t *above,
                     int range);
uint32_t rv_sgm_cpu_run(const RvSgmCpu *cpu, int y, int x, int *end);

/* Scratch of a thread. */
RvSgmScratch *rv_sgm_cpu_scratch(const RvSgmCpu *cpu, int thread);

/* Descriptors of row y of both views into `scratch`; sets planes, left and right of `row`. */
void rv_sgm_cpu_describe(const RvSgmCpu *cpu, const RvSgmJob *job, int y,
                         const RvSgmScratch *scratch, RvSgmRow *row);

#endif
