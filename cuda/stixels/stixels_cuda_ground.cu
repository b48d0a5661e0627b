/* stixels_cuda_ground.cu: the vote for the ground, CUDA engine: one thread a line. */
#include "stixels_cuda.h"

#define THREADS 256     /* a line each */
#define ROOM (16 << 10) /* bytes of shared memory for rows of the histogram */

/* Copies rows of the histogram. */
static __device__ __forceinline__ void load_rows(uint16_t *rows, const uint16_t *votes, int count) {
  const uint32_t *from = (const uint32_t *)votes; /* rows are even, `bins` is */
  uint32_t *to = (uint32_t *)rows;
#pragma unroll 8
  for (int k = threadIdx.x; k < count / 2; k += THREADS)
    to[k] = __ldcg(from + k);
}

/* A thread's line: its px falls from row to row by a running division, as on the CPU engine. */
static __global__ void __launch_bounds__(THREADS)
    ground_kernel(const __grid_constant__ RvStixelsModel m,
                  const __grid_constant__ RvStixelsCuda work) {
  __shared__ uint16_t rows[ROOM / sizeof(uint16_t)];
  __shared__ unsigned long long winner;
  const int line = blockIdx.x * THREADS + threadIdx.x, at_once = ROOM / 2 / work.bins;
  const int bottom = (line / RV_STIXELS_HORIZONS + 1) * m.bottom_step;
  const int horizon = m.rows * (RV_STIXELS_HORIZON_FIRST + line % RV_STIXELS_HORIZONS);
  const int fall = 64 * bottom / horizon, rest = 64 * bottom - fall * horizon;
  int px = bottom, left = horizon / 2, score = 0;
  if (threadIdx.x == 0)
    winner = 0;
  rv_stixels_wait_for_others();
  rv_stixels_let_others_start();
  for (int first = 0; first < m.rows; first += at_once) {
    const int count = rv_min(at_once, m.rows - first);
    __syncthreads();
    load_rows(rows, work.votes + (size_t)first * work.bins, count * work.bins);
    __syncthreads();
#pragma unroll 8
    for (int v = 0; v < count; v++) {
      score += px >= 2 ? rows[v * work.bins + px] : 0;
      left -= rest;
      px = rv_max(px - fall - (left < 0), 0);
      left += left < 0 ? horizon : 0;
    }
  }
  unsigned long long key = (unsigned long long)score << 32 | (0xffffffffu - (unsigned)line);
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_down_sync(0xffffffffu, key, step);
    key = other > key ? other : key;
  }
  if (threadIdx.x % 32 == 0)
    atomicMax(&winner, key);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicMax(work.winner, winner);
}

RvStatus rv_stixels_cuda_ground(const RvStixelsCuda *work, const RvStixelsModel *m,
                                const RvStixelsJob *job, const RvLog *log) {
  const int lines = RV_STIXELS_BOTTOMS * RV_STIXELS_HORIZONS;
  return rv_stixels_launch(work, ground_kernel, dim3(lines / THREADS), THREADS, 0, job->stream, log,
                           *m, *work);
}
