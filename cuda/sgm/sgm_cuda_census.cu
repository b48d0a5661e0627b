/* sgm_cuda_census.cu: stage 1, the descriptors of both pictures, and their copy for the tests. */
#include "sgm_cuda.h"

enum { TILE_X = 32, TILE_Y = 8 };
enum { SPAN_X = TILE_X + 2 * RV_SGM_RADIUS_X, SPAN_Y = TILE_Y + 2 * RV_SGM_RADIUS_Y };

struct CensusArgs {
  SgmRaster<const uint8_t> picture[2];
  void *census[2];
  int width, height;
};

/* Bits as sgm_rules.h numbers them. `at` is the centre inside the tile. */
static __device__ __forceinline__ uint32_t describe(const uint8_t (*at)[SPAN_X], uint32_t) {
  uint32_t bits = 0;
#pragma unroll
  for (int i = 1; i <= RV_SGM_RADIUS_X; i++)
#pragma unroll
    for (int j = -RV_SGM_RADIUS_Y; j <= RV_SGM_RADIUS_Y; j++)
      bits |= (uint32_t)(at[j][i] >= at[-j][-i]) << (7 * (i - 1) + j + RV_SGM_RADIUS_Y);
#pragma unroll
  for (int j = 1; j <= RV_SGM_RADIUS_Y; j++)
    bits |= (uint32_t)(at[j][0] >= at[-j][0]) << (28 + j - 1);
  return bits;
}

static __device__ __forceinline__ uint64_t describe(const uint8_t (*at)[SPAN_X], uint64_t) {
  uint64_t bits = 0;
  int n = 0;
#pragma unroll
  for (int j = -RV_SGM_RADIUS_Y; j <= RV_SGM_RADIUS_Y; j++)
#pragma unroll
    for (int i = -RV_SGM_RADIUS_X; i <= RV_SGM_RADIUS_X; i++)
      if (i || j)
        bits |= (uint64_t)(at[j][i] >= at[0][0]) << n++;
  return bits;
}

template <typename Census>
static __global__ void __launch_bounds__(TILE_X *TILE_Y) census_kernel(const CensusArgs a) {
  __shared__ uint8_t tile[SPAN_Y][SPAN_X];
  const SgmRaster<const uint8_t> picture = a.picture[blockIdx.z];
  const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y;
  for (int i = threadIdx.y * TILE_X + threadIdx.x; i < SPAN_X * SPAN_Y; i += TILE_X * TILE_Y) {
    const int x = rv_clamp(x0 + i % SPAN_X - RV_SGM_RADIUS_X, 0, a.width - 1);
    const int y = rv_clamp(y0 + i / SPAN_X - RV_SGM_RADIUS_Y, 0, a.height - 1);
    tile[i / SPAN_X][i % SPAN_X] = picture.row(y)[x];
  }
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= a.width || y >= a.height)
    return;
  const uint8_t(*at)[SPAN_X] = (const uint8_t(*)[SPAN_X])(
      &tile[threadIdx.y + RV_SGM_RADIUS_Y][threadIdx.x + RV_SGM_RADIUS_X]);
  ((Census *)a.census[blockIdx.z])[(size_t)y * a.width + x] = describe(at, Census());
}

template <typename Census>
static __global__ void widen_kernel(const Census *in, uint64_t *out, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x)
    out[i] = in[i];
}

template <typename Census>
static RvStatus copy_for_tests(const SgmCuda *work, const RvSgmConfig *config,
                               const RvSgmJob *job) {
  uint64_t *const out[2] = {job->census_left, job->census_right};
  const size_t count = (size_t)config->width * config->height;
  for (int side = 0; side < 2; side++) {
    if (!out[side])
      continue;
    widen_kernel<<<256, 256, 0, job->stream>>>((const Census *)work->census[side], out[side],
                                               count);
    RV_LAUNCHED(&config->log);
  }
  return RV_OK;
}

template <typename Census>
static RvStatus census(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  CensusArgs a = {};
  const RvPlane *planes[2] = {&job->left, &job->right};
  for (int side = 0; side < 2; side++) {
    a.picture[side] = {(const uint8_t *)planes[side]->data, planes[side]->stride};
    a.census[side] = work->census[side];
  }
  a.width = config->width, a.height = config->height;
  const dim3 grid(rv_div_up(a.width, TILE_X), rv_div_up(a.height, TILE_Y), 2);
  census_kernel<Census><<<grid, dim3(TILE_X, TILE_Y), 0, job->stream>>>(a);
  RV_LAUNCHED(&config->log);
  return copy_for_tests<Census>(work, config, job);
}

RvStatus sgm_cuda_census(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return config->cost == RV_SGM_CENSUS ? census<uint64_t>(work, config, job)
                                       : census<uint32_t>(work, config, job);
}
