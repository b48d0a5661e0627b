/* SPDX-License-Identifier: MIT */
/* sgm_cuda_check.cu: stage 6, the left-right check, where the row kernel has not done it. */
#include "sgm/sgm_cuda.cuh"

enum { TILE_X = 32, TILE_Y = 8 };

struct CheckArgs {
  SgmRaster<uint16_t> values, winner, right;
  int width, height, min_disparity, max_lr_diff;
};

static __global__ void __launch_bounds__(TILE_X *TILE_Y) check_kernel(const CheckArgs a) {
  const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
  if (x >= a.width || y >= a.height)
    return;
  const int k = a.winner.row(y)[x];
  const int match = rv_max(x - (a.min_disparity + k), 0);
  if (!rv_sgm_passes_lr_check(x, a.min_disparity, k, a.right.row(y)[match], a.max_lr_diff))
    a.values.row(y)[x] = RV_SGM_INVALID;
}

RvStatus sgm_cuda_check(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  const CheckArgs a = {work->current,  work->winner,          work->right,        config->width,
                       config->height, config->min_disparity, config->max_lr_diff};
  const dim3 grid(rv_div_up(a.width, TILE_X), rv_div_up(a.height, TILE_Y));
  check_kernel<<<grid, dim3(TILE_X, TILE_Y), 0, job->stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}
