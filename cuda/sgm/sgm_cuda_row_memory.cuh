/* SPDX-License-Identifier: MIT */
/* sgm_cuda_row_memory.cuh: sizes, arguments and shared memory of the horizontal-path kernel, and
 * how it learns that a row may start. Device code, and the size of the memory for the host. */
#ifndef RV_SGM_CUDA_ROW_MEMORY_CUH
#define RV_SGM_CUDA_ROW_MEMORY_CUH

#include "rv_launch.cuh"
#include "sgm/sgm_cuda.cuh"
#include "sgm/sgm_cuda_cost.cuh"
#include "sgm/sgm_cuda_finished.cuh"

enum { GROUP = 32, SEGMENT = 16, COST_SLOTS = 2, PAD = 8 };
static_assert((int)SGM_BEFORE >= (int)SEGMENT - 1,
              "columns of the first segment left of the image");
/* Words between the pixels of a slot, so that the pixels of a winner warp are in different
 * banks. */
enum { GAP = 4 };
/* Roles of the warps of a half; half 0 is the right one. With packed sums no warp computes
 * the opposite path: the memory that such sums save contains the paths of the first halves. */
template <bool NARROW> struct RowRoles {
  enum { WALK = 0, FILL = NARROW ? -1 : 1, WINNER = NARROW ? 1 : 2, ALL = WINNER + 1 };
  enum { BLOCK = 2 * 32 * ALL }; /* threads */
  enum { SLOTS = ALL };          /* one in use per role */
  /* Sums in the slots exceed S by the ones of states (RowPath stores L + 1) and costs, and are
   * still below 2^16 as p2 is at most 8000: see sgm.h. */
  enum { BIAS = NARROW ? 4 : 2 };
};
/* Lanes per pixel of a winner warp, pixels at a time, number of these groups in a segment, and
 * turns after which every lane has a pixel to write. */
enum { WINNER_LANES = 8, WINNER_PIXELS = 32 / WINNER_LANES, GROUPS = SEGMENT / WINNER_PIXELS };
enum { TOGETHER = WINNER_LANES / GROUPS };
struct RowArgs : SgmFinished {
  SgmScene scene;
  const void *sums; /* of all other directions, packed or not */
  /* Packed sums only: [y][x][words], excess of L over the cost of the path that comes from the
   * nearer end of the row, in the memory that these sums save. */
  uint16_t *paths;
  uint16_t *noted; /* not packed, approached: SgmCuda.notes */
  SgmMaps maps;
  int both;         /* 0: left to right only */
  int approached;   /* 1: the paths from the ends to the middle are there already */
  int narrow_notes; /* states L + 1 fit 8 bits */
  int uniqueness, subpixel, equiangular, confidence, margin_scale;
  int max_lr_diff; /* -1: no left-right check */

  /* The n-th row from both ends inward: where sweeps end, their last sums are in the cache. */
  static __device__ __forceinline__ int inward(int n, int height) {
    return n % 2 ? height - 1 - n / 2 : n / 2;
  }
  /* The n-th row to be finished, where rows count. */
  __device__ __forceinline__ int row_at(int n) const {
    return finished ? nth(n, scene.height) : inward(n, scene.height);
  }
};

/* What a path needs: the rows of a scene, and their sums of the other directions. */
static inline RowArgs row_args(const SgmCuda *work, const RvSgmPlan *plan, const SgmScene &scene,
                               uint32_t *sums) {
  const RvSgmConfig *config = &plan->config;
  RowArgs a = {};
  (SgmFinished &)a = sgm_finished(work, scene.height);
  a.scene = scene, a.sums = sums;
  a.paths = (uint16_t *)(sums + (size_t)config->height * config->width * scene.words / 2);
  a.both = config->paths > 2;
  return a;
}

static inline __host__ __device__ int row_segments(int width) {
  return rv_div_up(width, SEGMENT);
}

/* Pixels of a unit, with so many words of each. */
static inline __host__ __device__ constexpr int row_unit(int words) {
  return words <= 4 * GROUP ? 4 : 8;
}

/* The block's shared memory. A slot is the buffer of one segment. Descriptors are read up to PAD
 * columns beyond the ends of the row. */
template <typename Census> struct RowShared {
  void *notes; /* [segment][words]: states, one word or (narrow) half a word each; with packed sums
                     * neither these nor costs */
  uint32_t *buffer; /* [pair][slot][pixel][words + GAP] */
  uint32_t *ahead;  /* packed sums: [pair][pixel of a unit][words]: what starts the next slot */
  uint16_t *costs;  /* [pair][cost slot][pixel][words]: one byte per candidate, costs + 1 */
  uint32_t *keys;   /* [x - k + disparities - 1]: best key of a right pixel */
  Census *right;    /* [x - k + disparities]: descriptor of a right pixel */
  Census *left;     /* [x] */
  void *p2; /* [x]: P2 between x - 1 and x, one byte each with packed sums, else two; when it is
                     * constant, 2 PAD elements */

  /* narrow: notes of half a word; packed: packed sums. */
  static __host__ __device__ size_t place(RowShared *m, char *base, const SgmScene &s, int narrow,
                                          int packed) {
    const size_t segments = row_segments(s.width), row = segments * SEGMENT;
    size_t used = 0;
    const auto take = [&](size_t bytes) {
      char *at = base + used;
      used += (bytes + 15) & ~(size_t)15;
      return at;
    };
    const size_t note = packed ? 0 : narrow ? sizeof(uint16_t) : sizeof(uint32_t);
    const int slots = packed ? (int)RowRoles<true>::SLOTS : (int)RowRoles<false>::SLOTS;
    m->notes = take(note * s.words * (segments + 2)); /* and the states in the middle */
    m->buffer = (uint32_t *)take(sizeof(uint32_t) * (s.words + GAP) * SEGMENT * 2 * slots);
    m->ahead = (uint32_t *)take(packed ? sizeof(uint32_t) * s.words * row_unit(s.words) * 2 : 0);
    m->costs = (uint16_t *)take(packed ? 0 : sizeof(uint16_t) * s.words * SEGMENT * 2 * COST_SLOTS);
    m->keys = (uint32_t *)take(sizeof(uint32_t) * (row + 2 * s.words));
    return used + place_row(m, base + used, s, packed);
  }

  /* What a path alone needs of it. */
  static __host__ __device__ size_t place_row(RowShared *m, char *base, const SgmScene &s,
                                              int packed) {
    const size_t row = row_segments(s.width) * SEGMENT;
    size_t used = 0;
    const auto take = [&](size_t bytes) {
      char *at = base + used;
      used += (bytes + 15) & ~(size_t)15;
      return at;
    };
    m->right = (Census *)take(sizeof(Census) * (row + 2 * s.words + 2 * PAD)) + PAD;
    m->left = (Census *)take(sizeof(Census) * (row + 2 * PAD)) + PAD;
    m->p2 = take((packed ? 1 : 2) * (s.adaptive ? row + PAD : 2 * PAD));
    return used;
  }
};

#endif
