/* SPDX-License-Identifier: MIT */
/* stixels_network_rules.h: shapes and scalar rules of the network of cuts, shared by both engines,
 * and what the CPU engine calls. Not installed. */
#ifndef RV_STIXELS_NETWORK_RULES_H
#define RV_STIXELS_NETWORK_RULES_H

#include "rv_hd.h"
#include "stixels/stixels_network.h"
#include "stixels/stixels_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_STIXELS_NETWORK_REACH 12 /* rows to either side that a score depends on */
#define RV_STIXELS_NETWORK_QUADS (RV_STIXELS_NETWORK_CHANNELS / 4) /* words of a row */
#define RV_STIXELS_CUT_CODES 256                                   /* see rv_stixels_cut_code */
#define RV_STIXELS_CUT_SURE 255

/* The weights that are part of the library, as a file. */
extern const uint8_t rv_stixels_network_weights[RV_STIXELS_NETWORK_BYTES];

/* Whether shifts, biases and limits are in their ranges: sums fit in 32 bits. */
RvStatus rv_stixels_network_check(const RvStixelsNetwork *network, const RvLog *log);

RV_HD int rv_stixels_network_taps(int layer) {
  return layer == 0 || layer == 2 || layer == 4 ? RV_STIXELS_NETWORK_TAPS : 1;
}

RV_HD int rv_stixels_network_dilation(int layer) {
  return layer == 2 ? 2 : layer == 4 ? 3 : 1;
}

RV_HD int rv_stixels_network_inputs(int layer) {
  return layer == 0 ? RV_STIXELS_NETWORK_INPUTS : RV_STIXELS_NETWORK_CHANNELS;
}

RV_HD int rv_stixels_network_outputs(int layer) {
  return layer == RV_STIXELS_NETWORK_LAYERS - 1 ? 1 : RV_STIXELS_NETWORK_CHANNELS;
}

/* What a sum starts with. */
RV_HD int32_t rv_stixels_network_start(const RvStixelsNetworkLayer *layer, int output) {
  return layer->bias[output] + (layer->shift ? 1 << (layer->shift - 1) : 0);
}

RV_HD uint32_t rv_stixels_network_word(int a, int b, int c, int d) {
  return (uint32_t)a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
}

/* The input of a row, four channels per word. above, below: A and B, 0: none; expected: G. */
RV_HD void rv_stixels_network_input(RvStixelsCell cell, int above, int below, int expected,
                                    uint32_t *low, uint32_t *high) {
  const int is_pair = above > 0 && below > 0, jump = above - below;
  const int is_empty = cell.weight == 0 && cell.confidence == RV_STIXELS_EMPTY;
  *low = rv_stixels_network_word(is_pair ? rv_clamp(64 + jump, 1, 127) : 0,
                                 is_pair ? rv_clamp(64 + (jump >> 3), 1, 127) : 0, cell.weight >> 1,
                                 is_empty ? 127 : 0);
  *high = rv_stixels_network_word(rv_min(above >> 4, 127), rv_min(above, 127),
                                  above > 0 ? rv_clamp(64 + ((above - expected) >> 1), 1, 127) : 0,
                                  127);
}

/* Cuts of a column, at most. */
RV_HD int rv_stixels_network_budget(const RvStixelsNetwork *network, int rows) {
  return rv_max(rows * network->most / 100, RV_STIXELS_NETWORK_FEW);
}

/* How a column stores whether a stixel may start in a row: 0 no, RV_STIXELS_CUT_SURE at no cost,
 * else by the score of the network, which has a cost with cut_penalty. */
RV_HD int rv_stixels_cut_code(int score, int threshold) {
  return score >= threshold ? rv_clamp(score + 128, 1, RV_STIXELS_CUT_SURE - 1) : 0;
}

/* --- CPU engine ------------------------------------------------------------------------------ */

#define RV_STIXELS_NETWORK_PAD 16   /* rows of 0 before and after a column, at least */
#define RV_STIXELS_NETWORK_LANES 16 /* rows of a vector, at most */

/* Words of a quad of channels: the pad, the rows, the pad. */
RV_HD size_t rv_stixels_network_pitch(int rows) {
  return 2 * RV_STIXELS_NETWORK_PAD +
         (size_t)rv_div_up(rows, RV_STIXELS_NETWORK_LANES) * RV_STIXELS_NETWORK_LANES;
}

/* One layer for all rows: in, out: [quad][rv_stixels_network_pitch], where the pads of `in` are 0.
 * Rows up to the next multiple of RV_STIXELS_NETWORK_LANES are written. The last layer writes
 * scores, as int32_t. */
typedef struct RvStixelsNetworkKernel {
  void (*layer)(const RvStixelsNetworkLayer *layer, int index, const uint32_t *in, uint32_t *out,
                int rows);
} RvStixelsNetworkKernel;

/* Number `index` of those that this CPU can use, the widest first; NULL beyond. */
const RvStixelsNetworkKernel *rv_stixels_network_kernel(int index);

/* Codes of the cuts of a column with `kernel`; buffers: 2 x [quad][pitch]. */
void rv_stixels_network_cpu(const RvStixelsNetworkKernel *kernel, const RvStixelsNetwork *network,
                            const RvStixelsPlane *ground, const RvStixelsCell *cells, int rows,
                            uint32_t *buffers, uint8_t *codes);

#ifdef __cplusplus
}
#endif
#endif
