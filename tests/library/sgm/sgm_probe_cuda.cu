/* SPDX-License-Identifier: MIT */
/* sgm_probe_cuda.cu: intermediate results of the CUDA engine, and the horizontal-path kernel with a
 * probe that stores S. */
#include "sgm/sgm_probe.h"

#include <string.h>

#include "sgm/sgm_cuda_row_kernel.cuh"

namespace {

/* Stores S of every pixel, [y][x][k] of the slice. */
struct RowVolumeProbe {
  uint16_t *volume;

  template <class Row>
  __device__ void show(const Row &row, int batch, int x, const uint32_t *sums) const {
    const int words = row.words(), width = row.a.scene.width;
#pragma unroll 1
    for (int i = (int)threadIdx.x % WINNER_LANES; i < batch * 2 * words; i += WINNER_LANES) {
      const int p = WINNER_PIXELS * (i / (2 * words)), k = i % (2 * words);
      const uint16_t *halves = (const uint16_t *)(sums + p * row.pitch());
      if (x + p >= row.shift)
        volume[((size_t)row.y * width + (x + p - row.shift)) * 2 * words + k] =
            (uint16_t)(halves[k < words ? 2 * k : 2 * (k - words) + 1] - Row::Roles::BIAS);
    }
    __syncwarp();
  }
};

/* S of a slice in the order of k. */
__global__ void volume_kernel(const uint32_t *sums, uint16_t *out, int words, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x) {
    const size_t pixel = i / words;
    const int word = (int)(i % words);
    out[pixel * 2 * words + word] = (uint16_t)sums[i];
    out[pixel * 2 * words + words + word] = (uint16_t)(sums[i] >> 16);
  }
}

uint16_t *shown; /* GPU memory of the running probe: the tests run one object at a time */

uint16_t *shown_of(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice) {
  const RvSgmConfig *config = &job->plan->config;
  const size_t pixel = config->disparities / (work->narrow_sums ? 4 : 2); /* words */
  return shown + (size_t)(slice->sums - work->sums) / pixel * config->disparities;
}

RvStatus show_rows(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice) {
  return row_run(work, job, slice, RowVolumeProbe{shown_of(work, job, slice)});
}

RvStatus show_long_rows(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice) {
  const SgmScene &s = slice->scene;
  RV_TRY(sgm_cuda_horizontal(job, slice));
  RV_TRY(rv_launch(&job->plan->config.log, volume_kernel, dim3(1024), dim3(256), 0, job->stream,
                   false, slice->sums, shown_of(work, job, slice), s.words,
                   (size_t)s.width * s.height * s.words));
  return sgm_cuda_winner(job, slice);
}

RvStatus copy_rows(const RvLog *log, void *out, size_t row, const void *data, size_t stride,
                   size_t rows) {
  RV_CU(log, cudaMemcpy2D(out, row, data, stride, row, rows, cudaMemcpyDeviceToHost));
  return RV_OK;
}

template <typename T>
RvStatus copy_raster(const RvSgmConfig *config, void *out, const SgmRaster<T> &raster) {
  return copy_rows(&config->log, out, config->width * sizeof(T), raster.data,
                   (size_t)raster.stride * sizeof(T), (size_t)config->height);
}

} // namespace

extern "C" RvStatus rv_sgm_cuda_probe_map(const void *memory, const RvSgmPlan *plan, RvSgmMap map,
                                          void *out) {
  const SgmMaps &maps = ((const SgmCuda *)memory)->maps;
  if (map == RV_SGM_MAP_CONFIDENCE)
    return copy_raster(&plan->config, out, maps.raw_confidence);
  return copy_raster(&plan->config, out,
                     map == RV_SGM_MAP_WINNER  ? maps.winner
                     : map == RV_SGM_MAP_RIGHT ? maps.right
                                               : maps.values);
}

extern "C" RvStatus rv_sgm_cuda_probe_census(const void *memory, const RvSgmJob *job,
                                             uint64_t *left, uint64_t *right) {
  const SgmCuda *work = (const SgmCuda *)memory;
  const RvSgmPlan *plan = job->plan;
  const int width = plan->config.width, height = plan->config.height;
  const size_t row = (size_t)width * plan->descriptor_bytes;
  const size_t pitch = (size_t)sgm_cuda_pitch(width) * plan->descriptor_bytes;
  uint64_t *const out[2] = {left, right};
  for (int first = 0; first < height; first += work->window) {
    const SgmRows rows = {first, rv_min(work->window, height - first), 0};
    const size_t count = (size_t)rows.count * width, from = (size_t)first * width;
    RV_TRY(sgm_cuda_census(work, job, &rows, 1));
    for (int side = 0; side < 2; side++) {
      uint64_t *const to = out[side] + from;
      RV_TRY(copy_rows(&plan->config.log, to, row, work->census[side], pitch, (size_t)rows.count));
      for (size_t i = count; plan->descriptor_bytes == 4 && i-- > 0;) { /* in place, from the end */
        uint32_t descriptor;
        memcpy(&descriptor, (const char *)to + i * sizeof descriptor, sizeof descriptor);
        to[i] = descriptor;
      }
    }
  }
  return RV_OK;
}

extern "C" RvStatus rv_sgm_cuda_probe_sums(void *memory, RvSgmJob *job, uint16_t *out) {
  SgmCuda *work = (SgmCuda *)memory;
  const RvSgmConfig *config = &job->plan->config;
  const size_t row = (size_t)config->width * config->disparities * sizeof *out;
  SgmFinish *const finish = work->finish;
  void *volume = NULL;
  RV_TRY(rv_buffer_new(&volume, row * config->height, RV_CUDA));
  shown = (uint16_t *)volume;
  work->finish = finish == sgm_cuda_rows ? show_rows : show_long_rows;
  RvStatus status = finish == sgm_cuda_rows ? row_open<RowVolumeProbe>(job->plan) : RV_OK;
  if (status == RV_OK)
    status = rv_sgm_stages_cuda.match(work, job);
  work->finish = finish;
  if (status == RV_OK)
    status = copy_rows(&config->log, out, row, volume, row, (size_t)config->height);
  rv_buffer_free(&volume, RV_CUDA);
  return status;
}

extern "C" unsigned rv_sgm_cuda_uses(const RvSgm *sgm) {
  const SgmCuda *work = (const SgmCuda *)sgm->object.work;
  const unsigned sweep = sgm->plan.config.paths != 8 ? RV_SGM_USES_VERTICAL
                         : work->resident            ? RV_SGM_USES_DIAGONAL
                                                     : RV_SGM_USES_BANDS;
  return sweep | (work->finish == sgm_cuda_rows ? RV_SGM_USES_ROWS : RV_SGM_USES_LONG_ROWS);
}
