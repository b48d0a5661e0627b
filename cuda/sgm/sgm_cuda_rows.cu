/* SPDX-License-Identifier: MIT */
/* sgm_cuda_rows.cu: the horizontal directions and everything that finishes a row, one block per
 * row: the sums of the other directions are read once, S never leaves the chip. Used for all rows
 * that fit the shared memory of a block (every benchmark but sgm/2560x1440-d512-p8).
 *
 * The row is cut into segments. One warp walks from the left to the middle, one from the right end
 * to the middle, then each continues through the other half, adds its costs, those of the path that
 * came from there and the sums of the other directions, and puts the result in a slot. A second warp
 * of the half, one turn later, finds the winners of the finished segment. With packed sums (4 paths)
 * the walk to the middle stores its path as bytes, in the memory that these sums leave. Otherwise it
 * notes its state before every segment, and a third warp, one turn earlier, walks the next segment
 * from there and stores the costs of pixels and path in the slot. So each path is exact and the row
 * takes as many steps as it has pixels.
 *
 * The walk to the middle is a chain of latencies that leaves most of the GPU idle. Where the kernel
 * of the sweeps before can do it on the side (SgmCuda.approached), this one starts in the middle.
 * Where that kernel counts what has finished a row (SgmCuda.finished), the row starts then, and not
 * when the sweeps end.
 *
 * Columns in this kernel are those of the image plus `shift`: the last segment ends with the row,
 * and the first starts with up to SEGMENT - 1 columns of padding that match everywhere at no cost.
 * A path that has passed them is in its initial state, one that ends in them has no effect, so no
 * step tests whether it is inside.
 *
 *   sgm_cuda_row_memory.cuh   sizes, arguments, shared memory
 *   sgm_cuda_row_path.cuh     a path on one warp, and its costs
 *   sgm_cuda_row_block.cuh    the row of a block: segments, turns, start and end
 *   sgm_cuda_row_walk.cuh     the two warps of a half that compute paths
 *   sgm_cuda_row_winner.cuh   the one that finds winners
 *   sgm_cuda_row_kernel.cuh   the kernel and its launch */
#include "sgm/sgm_cuda_row_kernel.cuh"

namespace {

/* The tests have a probe that shows the sums; here it does nothing. */
struct RowNoProbe {
  template <class Row>
  __device__ __forceinline__ void show(const Row &, int, int, const uint32_t *) const {}
};

} // namespace

size_t sgm_cuda_rows_shared(const RvSgmPlan *plan) {
  SgmScene scene = {};
  scene.width = plan->config.width, scene.words = plan->config.disparities / 2;
  scene.adaptive = plan->config.adaptive_p2;
  SGM_FOR_DESCRIPTOR(plan, Census, {
    RowShared<Census> unused;
    return RowShared<Census>::place(&unused, NULL, scene, row_narrow_notes(plan),
                                    sgm_cuda_narrow_sums(&plan->config));
  });
}

size_t sgm_cuda_rows_notes(const RvSgmConfig *config) {
  return (size_t)(row_segments(config->width) + 2) * (config->disparities / 2);
}

RvStatus sgm_cuda_rows_open(const RvSgmPlan *plan) {
  return row_open<RowNoProbe>(plan);
}

RvStatus sgm_cuda_rows(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice) {
  return row_run(work, job, slice, RowNoProbe());
}
