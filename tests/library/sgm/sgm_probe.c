/* SPDX-License-Identifier: MIT */
/* sgm_probe.c: every intermediate result of an engine, and comparing two sets of them. */
#include "sgm/sgm_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sgm/sgm_cpu.h"

/* --- S of the CPU engine --------------------------------------------------------------------- */

/* The inner loops with the probe, see meson.build. */
extern const RvSgmKernels rv_sgm_kernels_probe_base;
#if defined(__x86_64__)
extern const RvSgmKernels rv_sgm_kernels_probe_avx2, rv_sgm_kernels_probe_avx512;
#endif
void rv_sgm_probe_sums(const RvSgmRow *row, int x, const uint16_t *sums);

/* The running probe: the tests run one object at a time. */
static struct {
  const RvSgmCpu *cpu;
  uint16_t *volume; /* [y][x][k] */
} shown;

void rv_sgm_probe_sums(const RvSgmRow *row, int x, const uint16_t *sums) {
  const size_t width = (size_t)row->config->width, range = (size_t)row->config->disparities;
  const size_t y = (size_t)((const char *)row->slot - shown.cpu->slots) / shown.cpu->slot_bytes;
  memcpy(shown.volume + (y * width + (size_t)x) * range, sums, range * sizeof *sums);
}

static const RvSgmKernels *with_probe(const RvSgmKernels *kernels) {
#if defined(__x86_64__)
  if (kernels == &rv_sgm_kernels_avx2)
    return &rv_sgm_kernels_probe_avx2;
  if (kernels == &rv_sgm_kernels_avx512)
    return &rv_sgm_kernels_probe_avx512;
#endif
  return kernels == &rv_sgm_kernels_base ? &rv_sgm_kernels_probe_base : NULL;
}

static RvStatus cpu_sums(RvSgm *sgm, RvSgmJob *job, uint16_t *out) {
  RvSgmCpu *cpu = sgm->object.work;
  const RvSgmKernels *const kernels = cpu->kernels;
  shown.cpu = cpu;
  shown.volume = out;
  cpu->kernels = with_probe(kernels);
  const RvStatus status = cpu->kernels ? rv_sgm_stages_cpu.match(cpu, job) : RV_ERR_ARG;
  cpu->kernels = kernels;
  return status;
}

/* --- Maps and descriptors -------------------------------------------------------------------- */

static void cpu_map(const RvSgm *sgm, RvSgmMap map, void *out) {
  const RvSgmCpu *cpu = sgm->object.work;
  const size_t row = (size_t)cpu->width * (map == RV_SGM_MAP_CONFIDENCE ? 1 : 2);
  for (int y = 0; y < sgm->plan.config.height; y++) {
    const void *from = map == RV_SGM_MAP_WINNER   ? (const void *)rv_sgm_winners(cpu, y)
                       : map == RV_SGM_MAP_RIGHT  ? (const void *)rv_sgm_right_winners(cpu, y)
                       : map == RV_SGM_MAP_VALUES ? (const void *)rv_sgm_disparities(cpu, y)
                                                  : (const void *)rv_sgm_confidences(cpu, y);
    memcpy((char *)out + row * (size_t)y, from, row);
  }
}

static void cpu_census(const RvSgm *sgm, const RvSgmJob *job, uint64_t *left, uint64_t *right) {
  const RvSgmCpu *cpu = sgm->object.work;
  const int width = cpu->width;
  for (int y = 0; y < sgm->plan.config.height; y++) {
    RvSgmRow row = {0};
    rv_sgm_cpu_describe(cpu, job, y, rv_sgm_cpu_scratch(cpu, 0), &row);
    for (int x = 0; x < width; x++) {
      uint64_t *l = left + (size_t)y * (size_t)width + x, *r = right + (l - left);
      *l = *r = 0;
      for (int p = 0; p < row.planes; p++) {
        *l |= (uint64_t)row.left[p][x] << 8 * p;
        *r |= (uint64_t)row.right[p][width - 1 - x] << 8 * p;
      }
    }
  }
}

static int read_map(const RvSgm *sgm, RvSgmMap map, void *out) {
#if RV_HAVE_CUDA
  if (sgm->object.engine == RV_CUDA)
    return rv_sgm_cuda_probe_map(sgm->object.work, &sgm->plan, map, out) == RV_OK;
#endif
  cpu_map(sgm, map, out);
  return 1;
}

static int read_census(const RvSgm *sgm, const RvSgmJob *job, RvSgmResults *out) {
#if RV_HAVE_CUDA
  if (sgm->object.engine == RV_CUDA)
    return rv_sgm_cuda_probe_census(sgm->object.work, job, out->census_left, out->census_right) ==
           RV_OK;
#endif
  cpu_census(sgm, job, out->census_left, out->census_right);
  return 1;
}

static int read_sums(RvSgm *sgm, RvSgmJob *job, RvSgmResults *out) {
#if RV_HAVE_CUDA
  if (sgm->object.engine == RV_CUDA)
    return rv_sgm_cuda_probe_sums(sgm->object.work, job, out->volume) == RV_OK;
#endif
  return cpu_sums(sgm, job, out->volume) == RV_OK;
}

/* --- All stages ------------------------------------------------------------------------------ */

/* Planes of a run in memory of the engine; rows are padded. */
typedef struct Planes {
  RvPlane left, right, disparity, confidence;
} Planes;

static RvPlane new_plane(int width, int height, RvFormat format, RvEngine engine) {
  const size_t stride = ((size_t)width * rv_format_bytes(format) + 100) / 64 * 64;
  RvPlane plane = {NULL, (ptrdiff_t)stride, width, height, format};
  (void)rv_buffer_new(&plane.data, stride * (size_t)height, engine);
  return plane;
}

static void free_planes(Planes *p, RvEngine engine) {
  void **all[] = {&p->left.data, &p->right.data, &p->disparity.data, &p->confidence.data};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    rv_buffer_free(all[i], engine);
}

static int new_planes(Planes *p, const RvSgmConfig *c, RvEngine engine, const uint8_t *left,
                      const uint8_t *right) {
  const size_t row = (size_t)c->width;
  p->left = new_plane(c->width, c->height, RV_U8, engine);
  p->right = new_plane(c->width, c->height, RV_U8, engine);
  p->disparity = new_plane(c->width, c->height, RV_U16, engine);
  p->confidence = new_plane(c->width, c->height, RV_U8, engine);
  return p->left.data && p->right.data && p->disparity.data && p->confidence.data &&
         rv_copy_rows(p->left.data, p->left.stride, engine, left, c->width, RV_CPU, row, c->height,
                      NULL) == RV_OK &&
         rv_copy_rows(p->right.data, p->right.stride, engine, right, c->width, RV_CPU, row,
                      c->height, NULL) == RV_OK;
}

/* The filter stage with another config; the disparities it writes. It leaves none to the sky. */
static int filter(const RvSgm *sgm, RvSgmJob job, int median, int speckle_size, uint16_t *out) {
  const RvSgmStages *stages = (const RvSgmStages *)sgm->object.base;
  const RvSgmConfig *c = &sgm->plan.config;
  RvSgmPlan plan = sgm->plan;
  plan.config.median = median;
  plan.config.speckle_size = speckle_size;
  plan.config.reject_sky = 0;
  job.plan = &plan;
  return stages->filter(sgm->object.work, &job) == RV_OK &&
         rv_copy_rows(out, c->width * 2, RV_CPU, job.disparity.data, job.disparity.stride,
                      sgm->object.engine, 2 * (size_t)c->width, c->height, NULL) == RV_OK;
}

static int match(const RvSgm *sgm, RvSgmJob job, int max_lr_diff) {
  const RvSgmStages *stages = (const RvSgmStages *)sgm->object.base;
  RvSgmPlan plan = sgm->plan;
  plan.config.max_lr_diff = max_lr_diff;
  job.plan = &plan;
  return stages->match(sgm->object.work, &job) == RV_OK;
}

/* All stages; the disparities. */
static int run_all(const RvSgm *sgm, RvSgmJob job, uint16_t *out) {
  const RvSgmStages *stages = (const RvSgmStages *)sgm->object.base;
  const RvSgmConfig *c = &sgm->plan.config;
  return stages->match(sgm->object.work, &job) == RV_OK &&
         stages->filter(sgm->object.work, &job) == RV_OK &&
         stages->refine(sgm->object.work, &job) == RV_OK &&
         rv_copy_rows(out, c->width * 2, RV_CPU, job.disparity.data, job.disparity.stride,
                      sgm->object.engine, 2 * (size_t)c->width, c->height, NULL) == RV_OK;
}

/* S and descriptors; then match without the left-right check, and with it; then the filter stage
 * with one step alone, and with both, then all. A stage may change the map that it reads. */
static int read_stages(RvSgm *sgm, const Planes *p, RvSgmResults *out) {
  const RvSgmConfig *c = &sgm->plan.config;
  RvSgmJob job = {&sgm->plan, p->left, p->right, p->disparity, {0}, NULL};
  if (c->confidence)
    job.confidence = p->confidence;
  return read_sums(sgm, &job, out) && read_census(sgm, &job, out) && match(sgm, job, -1) &&
         read_map(sgm, RV_SGM_MAP_WINNER, out->winner) &&
         read_map(sgm, RV_SGM_MAP_RIGHT, out->right) &&
         read_map(sgm, RV_SGM_MAP_VALUES, out->matched) &&
         (!c->confidence || read_map(sgm, RV_SGM_MAP_CONFIDENCE, out->found)) &&
         match(sgm, job, c->max_lr_diff) && read_map(sgm, RV_SGM_MAP_VALUES, out->checked) &&
         filter(sgm, job, c->median, 0, out->filtered) &&
         filter(sgm, job, 0, c->speckle_size, out->cleaned) && match(sgm, job, c->max_lr_diff) &&
         filter(sgm, job, c->median, c->speckle_size, out->smooth) &&
         run_all(sgm, job, out->disparity) &&
         (!c->confidence ||
          rv_copy_rows(out->confidence, c->width, RV_CPU, p->confidence.data, p->confidence.stride,
                       sgm->object.engine, (size_t)c->width, c->height, NULL) == RV_OK);
}

int rv_sgm_read_stages(RvCheck *check, const char *name, RvSgm *sgm, const uint8_t *left,
                       const uint8_t *right, RvSgmResults *out) {
  const RvEngine engine = sgm->object.engine;
  Planes planes;
  const int done =
      new_planes(&planes, &sgm->plan.config, engine, left, right) && read_stages(sgm, &planes, out);
  free_planes(&planes, engine);
  const int guard = rvc_damaged_guard(&sgm->object.arena);
  return rvc_true(check, name, done, "the stages of engine %d could not be run", (int)engine) &&
         rvc_true(check, name, guard < 0, "guard %d of engine %d is damaged", guard, (int)engine);
}

/* --- Comparison ------------------------------------------------------------------------------ */

static int same(RvCheck *check, const char *name, const void *expected, const void *got, int width,
                int height, RvFormat format, const char *stage, const char *what) {
  return rvc_same_dense(check, name, expected, got, width, height, format, stage, what);
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
         (!c->confidence || same(check, name, e->found, g->found, w, h, RV_U8, "margin", what)) &&
         same(check, name, e->checked, g->checked, w, h, RV_U16, "left-right", what) &&
         same(check, name, e->filtered, g->filtered, w, h, RV_U16, "median", what) &&
         same(check, name, e->cleaned, g->cleaned, w, h, RV_U16, "speckle", what) &&
         same(check, name, e->smooth, g->smooth, w, h, RV_U16, "both filters", what) &&
         same(check, name, e->disparity, g->disparity, w, h, RV_U16, "disparity", what) &&
         (!c->confidence ||
          same(check, name, e->confidence, g->confidence, w, h, RV_U8, "confidence", what));
}
