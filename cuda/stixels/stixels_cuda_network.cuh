/* SPDX-License-Identifier: MIT */
/* stixels_cuda_network.cuh: the network of cuts on the GPU, for one column by the threads of its
 * block: a thread computes four channels of a row. Rows are processed in portions, which overlap by
 * what the layers reach, with the weights in shared memory. Not installed. */
#ifndef RV_STIXELS_CUDA_NETWORK_CUH
#define RV_STIXELS_CUDA_NETWORK_CUH

#include "stixels/stixels_cuda_column.cuh"

#define NETWORK_ROWS 128 /* of a portion */
#define NETWORK_SPAN (NETWORK_ROWS + 2 * RV_STIXELS_NETWORK_REACH)
#define NETWORK_SIDE (RV_STIXELS_NETWORK_QUADS * NETWORK_SPAN) /* words: [quad][row] */
#define NETWORK_LAST (RV_STIXELS_NETWORK_LAYERS - 1)

/* Weights of a layer, four to a word. */
RV_HD int network_words(int layer) {
  return rv_stixels_network_taps(layer) * rv_stixels_network_inputs(layer) / 4 *
         rv_stixels_network_outputs(layer);
}

/* The first of them. */
RV_HD int network_first(int layer) {
  int words = 0;
  for (int k = 0; k < layer; k++)
    words += network_words(k);
  return words;
}

namespace {
/* Shared memory of the network. */
struct __align__(16) NetworkShared {
  int32_t weights[996]; /* [layer][tap][quad of inputs][output] */
  int32_t start[RV_STIXELS_NETWORK_LAYERS][RV_STIXELS_NETWORK_CHANNELS];
  int32_t shift[RV_STIXELS_NETWORK_LAYERS];
  uint32_t side[2][NETWORK_SIDE];   /* input and output of a layer */
  uint32_t valid[RV_MAX_SIDE / 32]; /* a bit per row */
};
} // namespace

#define RV_STIXELS_NETWORK_WORDS (sizeof(NetworkShared) / sizeof(uint32_t))

static __device__ void load_weights(const RvStixelsNetwork *network, NetworkShared *shared) {
#pragma unroll
  for (int k = 0; k < RV_STIXELS_NETWORK_LAYERS; k++) {
    const RvStixelsNetworkLayer *layer = &network->layers[k];
    const int outputs = rv_stixels_network_outputs(k), quads = rv_stixels_network_inputs(k) / 4;
    for (int i = threadIdx.x; i < network_words(k); i += blockDim.x) {
      const int output = i % outputs, quad = i / outputs % quads, tap = i / outputs / quads;
      shared->weights[network_first(k) + i] =
          *(const int32_t *)&layer->weights[output][tap][4 * quad];
    }
    if ((int)threadIdx.x < outputs)
      shared->start[k][threadIdx.x] = rv_stixels_network_start(layer, (int)threadIdx.x);
    if (threadIdx.x == 0)
      shared->shift[k] = layer->shift;
  }
}

static __device__ void find_valid(const RvStixelsPlan &plan, const Column &c,
                                  NetworkShared *shared) {
  for (int v = threadIdx.x; v - (int)threadIdx.x % 32 < plan.rows; v += blockDim.x) {
    const unsigned valid = __ballot_sync(RV_WARP, v < plan.rows && c.cells[v].weight != 0);
    if (threadIdx.x % 32 == 0)
      shared->valid[v / 32] = valid;
  }
}

/* The channels of row v; see rv_stixels_network_input. */
static __device__ void set_input(const RvStixelsPlan &plan, const Column &c, const uint32_t *valid,
                                 int v, uint32_t *low, uint32_t *high) {
  const RvStixelsCell cell = c.cells[v];
  const int above = cell.weight ? v : rv_stixels_set_above(valid, v, plan.rows);
  const int below = rv_stixels_set_below(valid, v);
  rv_stixels_network_input(cell, above < plan.rows ? c.cells[above].disparity : 0,
                           below >= 0 ? c.cells[below].disparity : 0,
                           rv_stixels_expected(&c.ground, v), low, high);
}

/* Four channels of a row from output 4 * quad on; at: its place in the portion. Rows beyond the
 * portion change only rows that the next portion computes, or the previous one did. */
template <int LAYER>
static __device__ __forceinline__ uint32_t channels_at(const NetworkShared *shared, int quad,
                                                       int at) {
  const int taps = rv_stixels_network_taps(LAYER), dilation = rv_stixels_network_dilation(LAYER);
  const int inputs = rv_stixels_network_inputs(LAYER) / 4;
  const int4 *weights = (const int4 *)(shared->weights + network_first(LAYER)) + quad;
  int4 sum = ((const int4 *)shared->start[LAYER])[quad];
#pragma unroll
  for (int tap = 0; tap < taps; tap++) {
    const int from = rv_clamp(at + (tap - taps / 2) * dilation, 0, NETWORK_SPAN - 1);
#pragma unroll
    for (int input = 0; input < inputs; input++) {
      const int32_t x = (int32_t)shared->side[LAYER % 2][input * NETWORK_SPAN + from];
      const int4 w = weights[(tap * inputs + input) * RV_STIXELS_NETWORK_QUADS];
      sum.x = __dp4a(x, w.x, sum.x);
      sum.y = __dp4a(x, w.y, sum.y);
      sum.z = __dp4a(x, w.z, sum.z);
      sum.w = __dp4a(x, w.w, sum.w);
    }
  }
  const int shift = shared->shift[LAYER];
  return rv_stixels_network_word(rv_clamp(sum.x >> shift, 0, 127), rv_clamp(sum.y >> shift, 0, 127),
                                 rv_clamp(sum.z >> shift, 0, 127),
                                 rv_clamp(sum.w >> shift, 0, 127));
}

/* A layer of the portion whose first row is `first`; rows beyond the column are 0. */
template <int LAYER>
static __device__ __forceinline__ void run_layer(const RvStixelsPlan &plan, NetworkShared *shared,
                                                 int first) {
  for (int item = threadIdx.x; item < NETWORK_SIDE; item += blockDim.x) {
    const int quad = item / NETWORK_SPAN, at = item % NETWORK_SPAN, v = first + at;
    shared->side[(LAYER + 1) % 2][item] =
        v >= 0 && v < plan.rows ? channels_at<LAYER>(shared, quad, at) : 0;
  }
  __syncthreads();
}

static __device__ __forceinline__ int score_at(const NetworkShared *shared, int at) {
  const int32_t *weights = shared->weights + network_first(NETWORK_LAST);
  int32_t sum = shared->start[NETWORK_LAST][0];
#pragma unroll
  for (int input = 0; input < RV_STIXELS_NETWORK_QUADS; input++)
    sum = __dp4a((int32_t)shared->side[NETWORK_LAST % 2][input * NETWORK_SPAN + at], weights[input],
                 sum);
  return rv_clamp(sum >> shared->shift[NETWORK_LAST], -128, 127);
}

/* 128 + the score of all rows in c.cuts. */
static __device__ void find_scores(const RvStixelsPlan &plan, const RvStixelsNetwork *network,
                                   const Column &c, NetworkShared *shared) {
  static_assert(NETWORK_LAST == 6, "one call per layer");
  load_weights(network, shared);
  find_valid(plan, c, shared);
  __syncthreads();
  for (int begin = 0; begin < plan.rows; begin += NETWORK_ROWS) {
    const int first = begin - RV_STIXELS_NETWORK_REACH;
    for (int at = threadIdx.x; at < NETWORK_SPAN; at += blockDim.x) {
      const int v = first + at;
      uint32_t low = 0, high = 0;
      if (v >= 0 && v < plan.rows)
        set_input(plan, c, shared->valid, v, &low, &high);
      shared->side[0][at] = low;
      shared->side[0][NETWORK_SPAN + at] = high;
    }
    __syncthreads();
    run_layer<0>(plan, shared, first);
    run_layer<1>(plan, shared, first);
    run_layer<2>(plan, shared, first);
    run_layer<3>(plan, shared, first);
    run_layer<4>(plan, shared, first);
    run_layer<5>(plan, shared, first);
    for (int v = begin + threadIdx.x; v < rv_min(begin + NETWORK_ROWS, plan.rows); v += blockDim.x)
      c.cuts[v] = (uint8_t)(score_at(shared, v - first) + 128);
    __syncthreads();
  }
}

/* The threshold, raised to what the number of cuts allows, from what find_scores wrote. All lanes
 * of a warp call it. */
static __device__ int find_threshold(const RvStixelsPlan &plan, const RvStixelsNetwork *network,
                                     const Column &c) {
  const int budget = rv_stixels_network_budget(network, plan.rows);
  int low = network->threshold, high = 128; /* the threshold is one of these */
  while (low < high) {
    const int middle = (low + high) >> 1;
    int count = 0;
    for (int from = 1; from < plan.rows; from += 32) {
      const int v = from + (int)threadIdx.x % 32;
      count += __popc(__ballot_sync(RV_WARP, v < plan.rows && c.cuts[v] - 128 >= middle));
    }
    if (count <= budget)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The same as find_cuts for RV_STIXELS_CUTS_ALL: a kernel that has no other cuts needs no registers
 * and no instructions of the network. */
static __device__ __forceinline__ void allow_all(const RvStixelsPlan &plan, const Column &c,
                                                 uint8_t *out) {
  for (int v = threadIdx.x; v <= plan.rows; v += blockDim.x) {
    c.cuts[v] = RV_STIXELS_CUT_SURE;
    if (out && v < plan.rows)
      out[v] = RV_STIXELS_CUT_SURE;
  }
}

/* Codes of the cuts of a column in c.cuts, and in `out` unless it is NULL; words: shared memory,
 * with the network. All threads of the block call it; others see the result after a barrier. */
static __device__ void find_cuts(const RvStixelsPlan &plan, const RvStixelsNetwork *network,
                                 const Column &c, uint32_t *words, uint8_t *out) {
  const RvStixelsCutsKind kind = plan.config.cuts;
  int threshold = 0;
  if (kind == RV_STIXELS_CUTS_NETWORK) {
    find_scores(plan, network, c, (NetworkShared *)words);
    threshold = find_threshold(plan, network, c);
    __syncthreads(); /* before the scores become codes */
  }
  for (int v = threadIdx.x; v <= plan.rows; v += blockDim.x) {
    int code = RV_STIXELS_CUT_SURE;
    if (kind != RV_STIXELS_CUTS_ALL && v > 0 && v < plan.rows &&
        !(c.keys && likeliest(plan, c, v) != likeliest(plan, c, v - 1))) {
      if (kind == RV_STIXELS_CUTS_NETWORK)
        code = rv_stixels_cut_code(c.cuts[v] - 128, threshold);
      else if (!rv_stixels_is_step(c.cells[v - 1], c.cells[v]) && !is_extreme(plan, c, v, 1) &&
               !is_extreme(plan, c, v - 1, -1))
        code = 0;
    }
    c.cuts[v] = (uint8_t)code;
    if (out && v < plan.rows)
      out[v] = (uint8_t)code;
  }
}

#endif
