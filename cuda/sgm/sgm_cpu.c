/* SPDX-License-Identifier: MIT */
/* sgm_cpu.c: the CPU engine: its table, its choice of instruction set and its memory. */
#include "sgm/sgm_cpu.h"
#include "sgm/sgm_rules.h"

/* --- Instruction sets ------------------------------------------------------------------------ */

RV_CPU_KERNELS(RvSgmKernels, rv_sgm_cpu_kernels, rv_sgm_kernels, RV_CPU_AVX512_VBMI)

int rv_sgm_cpu_can(const RvSgmKernels *kernels, const RvSgmConfig *c, int cell) {
  return c->disparities * cell % kernels->vector_bytes == 0;
}

static const RvSgmKernels *choose(const RvSgmConfig *c, int cell) {
  for (int i = 0;; i++) {
    const RvSgmKernels *kernels = rv_sgm_cpu_kernels(i);
    if (kernels == &rv_sgm_kernels_base || rv_sgm_cpu_can(kernels, c, cell))
      return kernels;
  }
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* Takes `bytes` from a block, on its own cache lines. */
static void *carve(char *block, size_t *used, size_t bytes) {
  void *piece = block ? block + *used : NULL;
  *used += (bytes + 63) / 64 * 64;
  return piece;
}

/* Lays out the block of a thread; returns its bytes. NULL only counts. */
static size_t scratch(const RvSgmConfig *c, char *block, RvSgmScratch *out) {
  const size_t width = (size_t)c->width, range = (size_t)c->disparities;
  size_t used = 0;
  carve(block, &used, sizeof *out);
  out->gray = carve(block, &used, 7 * (width + 2 * RV_SGM_RADIUS_X));
  out->bytes = carve(block, &used, width);
  out->left = carve(block, &used, RV_SGM_PLANES * width);
  out->right = carve(block, &used, RV_SGM_PLANES * (width + range + RV_SGM_LANES));
  out->chain = carve(block, &used, range * sizeof(uint16_t));
  out->chain_min = carve(block, &used, sizeof(uint16_t));
  out->right_sum = carve(block, &used, (width + range) * sizeof(uint16_t));
  out->right_k = carve(block, &used, (width + range) * sizeof(uint16_t));
  out->maps = carve(block, &used, width * RV_SGM_MAP_BYTES);
  return used;
}

RvSgmScratch *rv_sgm_cpu_scratch(const RvSgmCpu *cpu, int thread) {
  return (RvSgmScratch *)(cpu->scratch + cpu->scratch_bytes * (size_t)thread);
}

static void take_paths(const RvSgmConfig *c, int cell, size_t count, RvArena *arena,
                       RvSgmPaths *out) {
  out->cells = rv_arena_take(arena, count * (size_t)c->disparities * (size_t)cell);
  out->minima = rv_arena_take(arena, count * (size_t)cell);
}

static void layout(void *work, const void *memory, RvArena *arena) {
  RvSgmCpu *cpu = work;
  const RvSgmPlan *plan = memory;
  const RvSgmConfig *c = &plan->config;
  RvSgmScratch counted;
  const size_t width = (size_t)c->width, height = (size_t)c->height;
  const size_t volume = width * height * (size_t)c->disparities;
  cpu->width = c->width;
  cpu->cell = plan->path_max + c->p1 <= 255 ? 1 : 2;
  cpu->kernels = choose(c, cpu->cell);
  cpu->scratch_bytes = scratch(c, NULL, &counted);
  /* The memory of all threads is at most a twentieth of the bytes of S, so that the limit stated
   * for rv_sgm_workspace holds on machines with many cores. */
  const size_t fitting = volume / 10 / cpu->scratch_bytes;
  const int limit = rv_min(c->height, fitting > 256 ? 256 : (int)fitting);
  cpu->threads = rv_clamp(rv_threads(c->threads), 1, rv_max(limit, 1));
  /* Two paths need no S, only their first path; a row of the maps fits there too. */
  const size_t bytes = c->paths == 2 ? (size_t)cpu->cell : sizeof(uint16_t);
  cpu->slot_bytes = (width * (size_t)c->disparities * bytes + 63) / 64 * 64;
  cpu->slots = rv_arena_take(arena, cpu->slot_bytes * height);
  /* A slot of a diagonal is reused only when its old path has left the image in every row that may
   * still be in progress. */
  cpu->diagonals = c->width + cpu->threads;
  for (int way = 0; way < (c->paths == 2 ? 1 : 2); way++) {
    take_paths(c, cpu->cell, width, arena, &cpu->sweep[way].vertical);
    for (int i = 0; i < 2 && c->paths == 8; i++)
      take_paths(c, cpu->cell, (size_t)cpu->diagonals, arena, &cpu->sweep[way].diagonal[i]);
  }
  cpu->reached = rv_arena_take(arena, height * sizeof *cpu->reached);
  cpu->scratch = rv_arena_take(arena, cpu->scratch_bytes * (size_t)cpu->threads);
}

static RvStatus open_cpu(void *work, const void *plan) {
  const RvSgmCpu *cpu = work;
  for (int i = 0; i < cpu->threads; i++) {
    RvSgmScratch *own = rv_sgm_cpu_scratch(cpu, i);
    scratch(plan, (char *)own, own);
  }
  return RV_OK;
}

RV_ENGINE(RvSgm, sgm, cpu, RvSgmCpu, layout, open_cpu, NULL, .match = rv_sgm_cpu_match,
          .filter = rv_sgm_cpu_filter, .refine = rv_sgm_cpu_refine);
