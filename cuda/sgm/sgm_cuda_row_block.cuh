/* SPDX-License-Identifier: MIT */
/* sgm_cuda_row_block.cuh: a row in the horizontal-path kernel: its segments, the turns in which the
 * warps process them, and the start and end of a block. Device code only. */
#ifndef RV_SGM_CUDA_ROW_BLOCK_CUH
#define RV_SGM_CUDA_ROW_BLOCK_CUH

#include <cuda_pipeline_primitives.h>

#include "rv_launch.cuh"
#include "sgm/sgm_cuda_row_memory.cuh"
#include "sgm/sgm_cuda_row_path.cuh"

/* The row of a block, the same for all of its warps. FULL: no lane is idle, words = 32 K. NARROW:
 * the sums of the other directions are packed, see sgm_cuda.cuh. */
template <bool NARROW> struct RowPenalty { typedef uint16_t Type; };
template <> struct RowPenalty<true> { typedef uint8_t Type; };

template <int K, bool FULL, bool NARROW, typename Census> struct RowBlock {
  typedef RowPath<K, FULL> Path;
  typedef RowFeed<K, Census> Feed;
  typedef typename RowPenalty<NARROW>::Type Penalty;
  typedef RowRoles<NARROW> Roles;
  enum { STEPS = Feed::STEPS, BLOCK = Roles::BLOCK, SLOTS = Roles::SLOTS };
  /* Rows may count (RowArgs.finished). */
  enum { COUNTS = NARROW || (FULL && sgm_cuda_counts(32 * K, sizeof(Census))) };

  const RowArgs &a;
  RowShared<Census> m;
  int y, segments, middle; /* the path from the left starts its second half at `middle` */
  int shift;

  __device__ RowBlock(const RowArgs &args, char *base) : a(args) {
    RowShared<Census>::place(&m, base, a.scene, a.narrow_notes, NARROW);
    if constexpr (COUNTS)
      y = a.row_at((int)blockIdx.x);
    else
      y = RowArgs::inward((int)blockIdx.x, a.scene.height);
    cut();
  }
  /* Row `row`, of which only the paths to the middle are wanted. */
  __device__ RowBlock(const RowArgs &args, char *base, int row) : a(args), y(row) {
    RowShared<Census>::place_row(&m, base, a.scene, NARROW);
    cut();
  }

  __device__ __forceinline__ void cut() {
    segments = row_segments(a.scene.width);
    middle = a.both ? segments / 2 : 0;
    shift = segments * SEGMENT - a.scene.width;
  }

  __device__ __forceinline__ int words() const { return FULL ? 32 * K : a.scene.words; }
  __device__ __forceinline__ int pitch() const { return words() + GAP; }

  /* Loads descriptors, keys and P2, while the sweeps may still run, and saved states when they have
   * passed the row. From then on the maps may overwrite the descriptors. load: with packed sums,
   * what else is loaded then. */
  template <class Load> __device__ __forceinline__ void prepare(const Load &load) const {
    for (int t = (int)threadIdx.x; t < segments * SEGMENT + 2 * words(); t += BLOCK)
      m.keys[t] = 0xffffffffu;
    if constexpr (NARROW) {
      copy_descriptors((int)threadIdx.x, BLOCK);
      a.wait_for(y);
      load();
      prepare_penalties((int)threadIdx.x, BLOCK);
      __pipeline_wait_prior(0);
    } else {
      prepare_path((int)threadIdx.x, BLOCK);
      if constexpr (COUNTS)
        a.wait_for(y);
      else
        rv_launch_wait();
    }
    if (NARROW || !a.approached)
      return;
    const uint4 *const from = (const uint4 *)noted(); /* 16 words or more: whole pieces */
#pragma unroll 4
    for (int t = (int)threadIdx.x; t < (segments + 2) * words() / 8; t += BLOCK)
      ((uint4 *)m.notes)[t] = from[t];
  }
  /* The row's saved states in memory. */
  __device__ uint16_t *noted() const {
    return a.noted + (size_t)y * (segments + 2) * words();
  }
  /* Descriptors and P2 alone; thread: one of `threads`. As much as possible is loaded at once. */
  __device__ __forceinline__ void prepare_path(int thread, int threads) const {
    copy_descriptors(thread, threads);
    prepare_penalties(thread, threads);
    __pipeline_wait_prior(0);
  }
  __device__ __forceinline__ void copy_descriptors(int thread, int threads) const {
    const SgmScene &s = a.scene;
    const Census *left = (const Census *)s.left + (size_t)y * s.pitch;
    const Census *right = (const Census *)s.right + (size_t)y * s.pitch;
    const int row = segments * SEGMENT, span = row + 2 * words();
    for (int x = thread - PAD; x < row + PAD; x += threads)
      copy_one(&m.left[x], x < shift ? right : left + rv_min(x - shift, s.width - 1));
    for (int t = thread - PAD; t < span + PAD; t += threads)
      copy_one(&m.right[t],
               right + rv_clamp(t - 2 * words() - shift - s.min_disparity, 0, s.width - 1));
    __pipeline_commit();
  }
  static __device__ __forceinline__ void copy_one(Census *to, const Census *from) {
    __pipeline_memcpy_async(to, from, sizeof(Census));
  }

  /* P2 between neighboring columns, irrelevant where one of them is outside the image. */
  __device__ __forceinline__ void prepare_penalties(int thread, int threads) const {
    enum { AT_ONCE = 8 };
    const SgmScene &s = a.scene;
    const uint8_t *const gray = s.gray.row(y);
    const int last = s.width - 1, count = s.adaptive ? segments * SEGMENT + PAD : 2 * PAD;
    Penalty *const p2 = (Penalty *)m.p2;
    for (int x0 = thread; x0 < count; x0 += AT_ONCE * threads) {
      int here[AT_ONCE] = {}, before[AT_ONCE] = {};
#pragma unroll
      for (int n = 0; n < AT_ONCE && s.adaptive; n++) {
        const int x = x0 + n * threads - shift;
        here[n] = gray[rv_clamp(x, 0, last)], before[n] = gray[rv_clamp(x - 1, 0, last)];
      }
#pragma unroll
      for (int n = 0; n < AT_ONCE; n++)
        if (x0 + n * threads < count)
          p2[x0 + n * threads] =
              (Penalty)(s.adaptive
                            ? rv_sgm_adapted_p2(s.p2, s.p2_min, s.p2_gradient, here[n], before[n])
                            : s.p2);
    }
  }

  /* Segment of pair 0 (right half) or 1 (left half) in turn i < turns(pair). */
  __device__ int turn(int pair, int i) const {
    return pair ? middle - 1 - i : middle + i;
  }
  __device__ int turns(int pair) const {
    return pair ? middle : segments - middle;
  }
  __device__ uint32_t *slot(int pair, int i) const {
    return m.buffer + (size_t)(SLOTS * pair + i % SLOTS) * SEGMENT * pitch();
  }
  __device__ uint16_t *cost_slot(int pair, int i) const {
    return m.costs + (size_t)(COST_SLOTS * pair + i % COST_SLOTS) * SEGMENT * words();
  }
  /* Ends a turn of the pair's warps. They arrive from different places in the code, so it is
   * not bar.sync, which requires that all execute the same instruction. */
  static __device__ void end_turn(int pair) {
    if (pair)
      asm volatile("barrier.sync 2, %0;" ::"n"((int)Roles::ALL * 32) : "memory");
    else
      asm volatile("barrier.sync 1, %0;" ::"n"((int)Roles::ALL * 32) : "memory");
  }
  __device__ void *note_at(int segment) const {
    return (char *)m.notes + (size_t)segment * words() * (a.narrow_notes ? 2 : 4);
  }
  enum { SUM = NARROW ? 1 : 2 }; /* u16 of a word */
  __device__ const uint16_t *row_sums() const {
    return (const uint16_t *)a.sums + (size_t)y * a.scene.width * words() * SUM;
  }

  __device__ uint16_t *row_paths() const {
    return a.paths + (size_t)y * a.scene.width * words();
  }

  /* The winner of a pixel in column x of the row, for end (). Its descriptor is not needed
   * anymore. */
  __device__ __forceinline__ void keep_winner(int x, int k) const {
    m.left[x] = (Census)k;
  }

  /* Whether the filter stage starts with the last rows: it waits for those it needs. */
  __device__ __forceinline__ bool has_next() const {
    return COUNTS && a.shown;
  }

  /* Writes right disparities, RV_SGM_NO_MATCH where nothing was offered; left-right check. */
  __device__ void end() const {
    const SgmScene &s = a.scene;
    const uint32_t *keys =
        m.keys + shift + s.min_disparity + 2 * words() - 1; /* of right pixel 0 */
#pragma unroll 4
    for (int x = (int)threadIdx.x; x < s.width; x += BLOCK)
      end_pixel(x, (int)m.left[shift + x], keys);
    if constexpr (COUNTS)
      a.finish_maps(y);
  }
  __device__ __forceinline__ void end_pixel(int x, int k, const uint32_t *keys) const {
    const SgmScene &s = a.scene;
    const int match = x - (s.min_disparity + k);
    a.maps.right.row(y)[x] =
        x + s.min_disparity < s.width ? (uint16_t)keys[x] : (uint16_t)RV_SGM_NO_MATCH;
    const int right_k = match < 0 ? 0 : (int)(keys[match] & 0xffffu);
    if (a.max_lr_diff >= 0 &&
        !rv_sgm_passes_lr_check(x, s.min_disparity, k, right_k, a.max_lr_diff))
      a.maps.values.row(y)[x] = RV_SGM_INVALID;
  }
};

#endif
