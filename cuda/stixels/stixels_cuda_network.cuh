/* SPDX-License-Identifier: MIT */
/* stixels_cuda_network.cuh: the network of cuts on the GPU, for one column by the threads of its
 * block: a thread computes four channels of a row. Rows are processed in portions, which overlap by
 * what the layers reach, in shared memory. Not installed. */
#ifndef RV_STIXELS_CUDA_NETWORK_CUH
#define RV_STIXELS_CUDA_NETWORK_CUH

#include "stixels/stixels_cuda_column.cuh"

#define NETWORK_ROWS 128 /* of a portion */
#define NETWORK_SPAN (NETWORK_ROWS + 2 * RV_STIXELS_NETWORK_REACH)
#define NETWORK_SIDE (RV_STIXELS_NETWORK_QUADS * NETWORK_SPAN) /* words: [quad][row] */

/* Words of shared memory: the input and the output of a layer. */
#define RV_STIXELS_NETWORK_WORDS (2 * NETWORK_SIDE)

static __device__ __forceinline__ int32_t weights_at(const RvStixelsNetworkLayer *layer, int output,
                                                     int tap, int quad) {
  return *(const int32_t *)&layer->weights[output][tap][4 * quad];
}

/* The channels of row v; see rv_stixels_network_input. */
static __device__ void set_input(const RvStixelsPlan &plan, const Column &c, int v, uint32_t *low,
                                 uint32_t *high) {
  int above = v, below = v - 1;
  while (above < plan.rows && c.cells[above].weight == 0)
    above++;
  while (below >= 0 && c.cells[below].weight == 0)
    below--;
  rv_stixels_network_input(c.cells[v], above < plan.rows ? c.cells[above].disparity : 0,
                           below >= 0 ? c.cells[below].disparity : 0,
                           rv_stixels_expected(&c.ground, v), low, high);
}

/* `count` sums of a row from output `output` on; at: its place in the portion. Rows beyond the
 * portion change only rows that the next portion computes, or the previous one did. */
template <int COUNT>
static __device__ __forceinline__ void sum_channels(const RvStixelsNetworkLayer *layer, int index,
                                                    int output, const uint32_t *in, int at,
                                                    int32_t sum[COUNT]) {
  const int taps = rv_stixels_network_taps(index), dilation = rv_stixels_network_dilation(index);
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    sum[k] = rv_stixels_network_start(layer, output + k);
  for (int tap = 0; tap < taps; tap++) {
    const int from = at + (tap - taps / 2) * dilation;
    if (from < 0 || from >= NETWORK_SPAN)
      continue;
    for (int quad = 0; quad < rv_stixels_network_inputs(index) / 4; quad++) {
      const int32_t x = (int32_t)in[quad * NETWORK_SPAN + from];
#pragma unroll
      for (int k = 0; k < COUNT; k++)
        sum[k] = __dp4a(x, weights_at(layer, output + k, tap, quad), sum[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    sum[k] >>= layer->shift;
}

/* A layer of the portion whose first row is `first`; rows beyond the column are 0. */
static __device__ void run_layer(const RvStixelsPlan &plan, const RvStixelsNetworkLayer *layer,
                                 int index, int first, const uint32_t *in, uint32_t *out) {
  for (int item = threadIdx.x; item < NETWORK_SIDE; item += blockDim.x) {
    const int quad = item / NETWORK_SPAN, at = item % NETWORK_SPAN, v = first + at;
    uint32_t word = 0;
    if (v >= 0 && v < plan.rows) {
      int32_t sum[4];
      sum_channels<4>(layer, index, 4 * quad, in, at, sum);
#pragma unroll
      for (int k = 0; k < 4; k++)
        word |= (uint32_t)rv_clamp(sum[k], 0, 127) << 8 * k;
    }
    out[item] = word;
  }
}

/* 128 + the score of all rows in c.cuts. */
static __device__ void find_scores(const RvStixelsPlan &plan, const RvStixelsNetwork *network,
                                   const Column &c, uint32_t *words) {
  const int last = RV_STIXELS_NETWORK_LAYERS - 1;
  for (int begin = 0; begin < plan.rows; begin += NETWORK_ROWS) {
    const int first = begin - RV_STIXELS_NETWORK_REACH;
    for (int at = threadIdx.x; at < NETWORK_SPAN; at += blockDim.x) {
      const int v = first + at;
      words[at] = words[NETWORK_SPAN + at] = 0;
      if (v >= 0 && v < plan.rows)
        set_input(plan, c, v, &words[at], &words[NETWORK_SPAN + at]);
    }
    __syncthreads();
    for (int k = 0; k < last; k++) {
      run_layer(plan, &network->layers[k], k, first, words + k % 2 * NETWORK_SIDE,
                words + (k + 1) % 2 * NETWORK_SIDE);
      __syncthreads();
    }
    for (int v = begin + threadIdx.x; v < rv_min(begin + NETWORK_ROWS, plan.rows);
         v += blockDim.x) {
      int32_t score[1];
      sum_channels<1>(&network->layers[last], last, 0, words + last % 2 * NETWORK_SIDE, v - first,
                      score);
      c.cuts[v] = (uint8_t)(rv_clamp(score[0], -128, 127) + 128);
    }
    __syncthreads();
  }
}

/* The threshold, raised to what the number of cuts allows, from what find_scores wrote. All lanes of
 * a warp call it. */
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

/* Codes of the cuts of a column in c.cuts, and in `out` unless it is NULL; words: shared memory, with
 * the network. All threads of the block call it; others see the result after a barrier. */
static __device__ void find_cuts(const RvStixelsPlan &plan, const RvStixelsNetwork *network,
                                 const Column &c, uint32_t *words, uint8_t *out) {
  const RvStixelsCutsKind kind = plan.config.cuts;
  int threshold = 0;
  if (kind == RV_STIXELS_CUTS_NETWORK) {
    find_scores(plan, network, c, words);
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
