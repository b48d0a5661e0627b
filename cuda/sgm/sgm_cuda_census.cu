/* sgm_cuda_census.cu: stage 1, the descriptors of both pictures, and their copy for the tests. */
#include "sgm_cuda.h"

enum { TILE_X = 32, THREADS_Y = 4, ROWS = 4, TILE_Y = THREADS_Y * ROWS };
enum { RX = RV_SGM_RADIUS_X, RY = RV_SGM_RADIUS_Y };
enum { SPAN_X = TILE_X + 2 * RX, SPAN_Y = TILE_Y + 2 * RY, WINDOW_Y = ROWS + 2 * RY };

struct CensusArgs {
  SgmRaster<const uint8_t> left, right;
  void *census_left, *census_right;
  SgmRows piece[2];
  int width, height;
};

/* What one thread sees: the windows of ROWS pixels, one below the other. */
typedef uint8_t CensusWindow[WINDOW_Y][2 * RX + 1];

/* Bits as sgm_rules.h numbers them; y: row of the centre in the window. */
static __device__ __forceinline__ uint32_t describe(const CensusWindow &w, int y, uint32_t) {
  uint32_t bits = 0;
#pragma unroll
  for (int i = 1; i <= RX; i++)
#pragma unroll
    for (int j = -RY; j <= RY; j++)
      bits |= (uint32_t)(w[y + j][RX + i] >= w[y - j][RX - i]) << (7 * (i - 1) + j + RY);
#pragma unroll
  for (int j = 1; j <= RY; j++)
    bits |= (uint32_t)(w[y + j][RX] >= w[y - j][RX]) << (28 + j - 1);
  return bits;
}

static __device__ __forceinline__ uint64_t describe(const CensusWindow &w, int y, uint64_t) {
  uint32_t half[2] = {};
  int n = 0;
#pragma unroll
  for (int j = -RY; j <= RY; j++)
#pragma unroll
    for (int i = -RX; i <= RX; i++)
      if (i || j) {
        half[n / 32] |= (uint32_t)(w[y + j][RX + i] >= w[y][RX]) << n % 32;
        n++;
      }
  return half[0] | (uint64_t)half[1] << 32;
}

template <typename Census>
static __global__ void __launch_bounds__(TILE_X *THREADS_Y) census_kernel(const CensusArgs a) {
  __shared__ uint8_t tile[SPAN_Y][SPAN_X];
  const SgmRaster<const uint8_t> picture = blockIdx.z % 2 ? a.right : a.left;
  Census *const out = (Census *)(blockIdx.z % 2 ? a.census_right : a.census_left);
  const SgmRows piece = a.piece[blockIdx.z / 2];
  const int x0 = blockIdx.x * TILE_X, y0 = piece.first + blockIdx.y * TILE_Y;
  for (int i = threadIdx.y * TILE_X + threadIdx.x; i < SPAN_X * SPAN_Y; i += TILE_X * THREADS_Y) {
    const int x = rv_clamp(x0 + i % SPAN_X - RX, 0, a.width - 1);
    const int y = rv_clamp(y0 + i / SPAN_X - RY, 0, a.height - 1);
    tile[i / SPAN_X][i % SPAN_X] = picture.row(y)[x];
  }
  __syncthreads();
  CensusWindow window;
#pragma unroll
  for (int j = 0; j < WINDOW_Y; j++)
#pragma unroll
    for (int i = 0; i <= 2 * RX; i++)
      window[j][i] = tile[threadIdx.y * ROWS + j][threadIdx.x + i];
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y * ROWS;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (x < a.width && y + r < piece.first + piece.count)
      out[(size_t)(y + r - piece.first + piece.to) * a.width + x] =
          describe(window, r + RY, Census());
}

template <typename Census>
static __global__ void widen_kernel(const Census *in, uint64_t *out, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x)
    out[i] = in[i];
}

template <typename Census>
static RvStatus show(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
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
static RvStatus census(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                       const SgmRows *pieces, int count) {
  CensusArgs a = {};
  a.left = {(const uint8_t *)job->left.data, job->left.stride};
  a.right = {(const uint8_t *)job->right.data, job->right.stride};
  a.census_left = work->census[0], a.census_right = work->census[1];
  a.width = config->width, a.height = config->height;
  int most = 0;
  for (int i = 0; i < count; i++) {
    a.piece[i] = pieces[i];
    most = rv_max(most, pieces[i].count);
  }
  const dim3 grid(rv_div_up(a.width, TILE_X), rv_div_up(most, TILE_Y), 2 * count);
  census_kernel<Census><<<grid, dim3(TILE_X, THREADS_Y), 0, job->stream>>>(a);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

RvStatus sgm_cuda_census(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                         const SgmRows *pieces, int count) {
  return config->cost == RV_SGM_CENSUS ? census<uint64_t>(work, config, job, pieces, count)
                                       : census<uint32_t>(work, config, job, pieces, count);
}

RvStatus sgm_cuda_census_show(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return config->cost == RV_SGM_CENSUS ? show<uint64_t>(work, config, job)
                                       : show<uint32_t>(work, config, job);
}
