/* SPDX-License-Identifier: MIT */
/* sgm_cuda_row_kernel.cuh: the horizontal-path kernel and its launch. A template over Probe, so
 * that the tests can compile a second one that shows S. Device and host code. */
#ifndef RV_SGM_CUDA_ROW_KERNEL_CUH
#define RV_SGM_CUDA_ROW_KERNEL_CUH

#include "rv_launch.cuh"
#include "sgm/sgm_cuda_row_walk.cuh"
#include "sgm/sgm_cuda_row_winner.cuh"

/* Warp `role` of the half that DX leads through, once the paths from the ends are in the middle. */
template <int K, bool FULL, bool NARROW, typename Census, int DX>
static __device__ __forceinline__ void row_second_half(const RowBlock<K, FULL, NARROW, Census> &row,
                                                       int role, RowPath<K, FULL> &path) {
  const int pair = DX > 0 ? 0 : 1;
  if constexpr (NARROW)
    RowWalk<K, FULL, NARROW, Census, DX>{row}.consume_stored(pair, path);
  else if (role == RowRoles<NARROW>::WALK)
    RowWalk<K, FULL, NARROW, Census, DX>{row}.consume(pair, path);
  else
    RowFill<K, FULL, NARROW, Census, -DX>{row}.fill(pair, path);
}

/* The paths in the middle of the row: what shared memory they need is loaded, and the paths are
 * walked to there, or resumed. */
template <int K, bool FULL, bool NARROW, typename Census>
static __device__ __forceinline__ void
row_approach_middle(const RowBlock<K, FULL, NARROW, Census> &row, int pair,
                    RowPath<K, FULL> &path) {
  if (pair == 0)
    RowWalk<K, FULL, NARROW, Census, 1>{row}.template approach<false>(path);
  else
    RowWalk<K, FULL, NARROW, Census, -1>{row}.template approach<false>(path);
}
template <int K, bool FULL, typename Census>
static __device__ __forceinline__ void row_start(const RowBlock<K, FULL, false, Census> &row,
                                                 int pair, int role, RowPath<K, FULL> &path) {
  row.prepare([] {});
  __syncthreads();
  if (role != RowRoles<false>::WALK)
    return;
  if (row.a.approached)
    path.resume(row.note_at(row.segments + pair), row.a.narrow_notes);
  else if (row.a.both)
    row_approach_middle(row, pair, path);
}
template <int K, bool FULL, typename Census>
static __device__ __forceinline__ void row_start_stored(const RowBlock<K, FULL, true, Census> &row,
                                                        int pair, int role,
                                                        RowPath<K, FULL> &path) {
  const RowWalk<K, FULL, true, Census, 1> rightward{row};
  const RowWalk<K, FULL, true, Census, -1> leftward{row};
  const bool walks = role == RowRoles<true>::WALK;
  uint32_t bytes[(K + 1) / 2] = {};
  row.prepare([&] {
    if (walks && row.a.approached) {
      if (pair == 0)
        rightward.load_stored(pair, path, bytes);
      else
        leftward.load_stored(pair, path, bytes);
    }
  });
  __syncthreads();
  if (walks && row.a.approached) {
    if (pair == 0)
      rightward.resume_stored(path, bytes);
    else
      leftward.resume_stored(path, bytes);
  } else if (walks) {
    row_approach_middle(row, pair, path);
  }
}

/* Blocks per SM: where registers permit, rows of 640 pixels need no more memory. Two words per lane
 * fit 64 registers, so that a row can be loaded beside a block of the diagonal sweeps; with one
 * word, which would fit, too, fewer than 72 cost more than that saves. */
template <int K, bool NARROW> constexpr int row_blocks() {
  return K > 2 ? 1 : NARROW || K == 2 ? 5 : 4;
}

template <int K, bool FULL, bool NARROW, typename Census, class Probe>
static __global__ void __launch_bounds__(RowRoles<NARROW>::BLOCK, row_blocks<K, NARROW>())
    row_kernel(const RowArgs a, const Probe probe) {
  typedef RowRoles<NARROW> Roles;
  extern __shared__ __align__(16) char memory[];
  const RowBlock<K, FULL, NARROW, Census> row(a, memory);
  /* Uniform for the compiler. */
  const int warp = __shfl_sync(SGM_WARP, (int)threadIdx.x / 32, 0);
  const int pair = warp / Roles::ALL, role = warp % Roles::ALL;
  RowPath<K, FULL> path(a.scene);
  if constexpr (NARROW)
    row_start_stored(row, pair, role, path);
  else
    row_start(row, pair, role, path);
  __syncthreads();
  if (row.has_next())
    rv_launch_next();
  if (role == Roles::WINNER)
    RowWinner<K, FULL, NARROW, Census, Probe>{row, probe}.select_winner(pair);
  else if (pair == 0)
    row_second_half<K, FULL, NARROW, Census, 1>(row, role, path);
  else
    row_second_half<K, FULL, NARROW, Census, -1>(row, role, path);
  __syncthreads();
  if (!row.has_next())
    rv_launch_next(); /* near the end of the last rows, when the GPU is nearly empty */
  row.end();
}

static inline int row_narrow_notes(const RvSgmPlan *plan) {
  return plan->path_max < 255;
}

/* The instantiation for a plan. */
template <int K, typename Census, class Probe>
static void (*row_kernel_of(const RvSgmConfig *config))(const RowArgs, const Probe) {
  if (sgm_cuda_narrow_sums(config))
    return row_kernel<K, true, true, Census, Probe>;
  return config->disparities == 64 * K ? row_kernel<K, true, false, Census, Probe>
                                       : row_kernel<K, false, false, Census, Probe>;
}

template <class Probe> static RvStatus row_open(const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  SGM_FOR_DESCRIPTOR(plan, Census, {
    SGM_FOR_WORDS(
        config->disparities / 2, GROUP, K,
        return rv_launch_allow_shared(&config->log, row_kernel_of<K, Census, Probe>(config)));
  });
}

template <int K, typename Census, class Probe>
static RvStatus row_launch(const SgmCuda *work, const RvSgmPlan *plan, const RowArgs &a,
                           const Probe &probe, RvStream stream) {
  const auto kernel = row_kernel_of<K, Census, Probe>(&plan->config);
  const int threads = sgm_cuda_narrow_sums(&plan->config) ? (int)RowRoles<true>::BLOCK
                                                          : (int)RowRoles<false>::BLOCK;
  return rv_launch(&plan->config.log, kernel, a.scene.height, threads, work->rows_shared, stream,
                   work->early_rows != 0, a, probe);
}

template <class Probe>
static RvStatus row_run(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice,
                        const Probe &probe) {
  const RvSgmPlan *plan = job->plan;
  const RvSgmConfig *config = &plan->config;
  RowArgs a = row_args(work, plan, slice->scene, slice->sums);
  a.approached = work->approached, a.noted = work->notes;
  a.maps = slice->maps;
  a.narrow_notes = row_narrow_notes(plan);
  a.uniqueness = config->uniqueness, a.subpixel = config->subpixel;
  a.equiangular = plan->equiangular;
  a.confidence = config->confidence, a.margin_scale = plan->margin_scale;
  a.max_lr_diff = config->max_lr_diff;
  SGM_FOR_DESCRIPTOR(plan, Census, {
    SGM_FOR_WORDS(a.scene.words, GROUP, K,
                  return (row_launch<K, Census, Probe>(work, plan, a, probe, job->stream)));
  });
}

#endif
