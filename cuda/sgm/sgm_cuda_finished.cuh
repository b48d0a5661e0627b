/* SPDX-License-Identifier: MIT */
/* sgm_cuda_finished.cuh: how a block learns that the rows it needs are finished, before the kernel
 * that finishes them has ended (SgmCuda.finished): rows of sums, of which sgm_cuda_rows takes each,
 * and rows of maps, which the filter stage takes. Device code, and the arguments for the host. */
#ifndef RV_SGM_CUDA_FINISHED_CUH
#define RV_SGM_CUDA_FINISHED_CUH

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_signal.cuh"

/* Rows at the end of a sweep that do not count. */
enum { FINISH_TAIL = 42 };
/* The count of a row whose maps are complete. */
#define SGM_FINISHED_MAPS 0x80000000u

/* Rows that count are FINISH_TAIL to `counted` - 1; the others are among the last ones of a sweep:
 * who needs them waits for the preceding kernel, so that it has ended when this one has, as
 * rv_launch.cuh promises. */
struct SgmFinished {
  uint32_t *finished; /* SgmCuda.finished; NULL: sums do not count */
  uint32_t *shown;    /* likewise; NULL: maps do not count */
  uint32_t needed;
  int counted;
  int upward; /* 1: rows are finished from the lowest to the uppermost one, else from the middle */

  __device__ __forceinline__ bool is_inner(int y) const { return y >= FINISH_TAIL && y < counted; }
  __device__ __forceinline__ bool counts(int y) const { return finished && is_inner(y); }
  /* The n-th of `count` rows, or of rows of tiles, to be finished. */
  __device__ __forceinline__ int nth(int n, int count) const {
    const int split = (count + 1) / 2;
    if (upward)
      return count - 1 - n;
    return n % 2 ? split + n / 2 : split - 1 - n / 2;
  }
  /* One that it needs has finished the row: all that this thread knows of is stored. */
  __device__ __forceinline__ void finish(int y) const {
    __threadfence();
    atomicAdd(finished + y, 1u);
  }
  /* All threads of the block have written the maps of a row. */
  __device__ __forceinline__ void finish_maps(int y) const {
    if (!shown || !is_inner(y))
      return;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      send_words(shown + y, SGM_FINISHED_MAPS);
    }
  }

  static __device__ __forceinline__ void wait_for_count(const uint32_t *count, uint32_t enough) {
    uint32_t seen[1];
    for (load_relaxed(count, seen); seen[0] < enough; load_relaxed(count, seen))
      __nanosleep(200);
    __threadfence();
  }
  /* Waits until the sums of a row, and its saved states, are there. All threads of the block. */
  __device__ __forceinline__ void wait_for(int y) const {
    if (!counts(y)) {
      rv_launch_wait();
      return;
    }
    if (threadIdx.x == 0)
      wait_for_count(finished + y, needed);
    __syncthreads();
  }
  /* Waits until the maps of rows `first` to `last` are there. All threads of the block, which has
   * as many. */
  __device__ __forceinline__ void wait_for_maps(int first, int last) const {
    if (!shown || !is_inner(first) || !is_inner(last)) {
      rv_launch_wait();
      return;
    }
    if ((int)threadIdx.x <= last - first)
      wait_for_count(shown + first + (int)threadIdx.x, SGM_FINISHED_MAPS);
    __syncthreads();
  }
};

static inline SgmFinished sgm_finished(const SgmCuda *work, int height) {
  SgmFinished f = {};
  f.finished = work->needed ? work->finished : NULL, f.needed = work->needed;
  f.shown = work->counts_maps ? work->finished : NULL;
  f.upward = work->one_sweep;
  f.counted = height - (f.upward ? 0 : FINISH_TAIL);
  return f;
}

#endif
