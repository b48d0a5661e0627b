/* SPDX-License-Identifier: MIT */
/* stixels_network.h: the network of RV_STIXELS_CUTS_NETWORK: for each column of cells, the rows in
 * which a stixel may start, from the disparity.
 *
 * Source: Hernandez-Juarez, section 3.4.2 of the thesis: a shallow fully convolutional network of
 * three network-in-network blocks that learns the result of the exact stixels. This one works on
 * the cells of one column, whose exact stixels do not depend on the others either, and dilates its
 * convolutions instead of reducing and restoring the resolution.
 *
 * The network:
 *
 *   input      8 channels per row of cells, integers of 0..127. Of row v, with A the disparity of
 *              the first valid cell at or above v, B that of the first valid one below v, both in
 *              1/16 px, and G the expected ground in row v:
 *                0  64 + A - B, 1..127; 0 without A or without B
 *                1  64 + (A - B) / 8, rounded down, 1..127; 0 without A or without B
 *                2  weight of the cell / 2, rounded down; 0 of an invalid cell
 *                3  127 of an empty cell, else 0
 *                4  A / 16, rounded down, at most 127; 0 without A
 *                5  A, at most 127; 0 without A
 *                6  64 + (A - G) / 2, rounded down, 1..127; 0 without A
 *                7  127
 *   layers     Seven convolutions over rows: of 5 rows, of 1 row, of 5 rows 2 apart, of 1 row, of
 *              5 rows 3 apart, of 1 row, of 1 row; 16 channels, at the end one. Rows beyond the
 *              column are 0 in all layers.
 *   integers   Weights are 8 bits, sums 32 bits. The value of a channel is (bias + sum + half) >>
 *              shift, clamped to 0..127, where half = 2^(shift - 1), 0 for shift 0. That of the
 *              last layer is clamped to -128..127: the score, 16 times the log-odds of a stixel
 *              that starts in the row. Both engines give the same bits.
 *   cuts       Rows with a score of at least the threshold. In a column where these are more than
 *              `most` percent of its rows (rounded down; row 0 does not count) and more than
 *              RV_STIXELS_NETWORK_FEW, the threshold is raised by as little as makes them no more:
 *              the time of the exact search has a limit. A column of few rows needs none.
 *
 * The file (property cuts-location; written by examples/train_cuts.py), integers of 32 bits, least
 * significant byte first:
 *
 *   8 bytes    "RVCUTNET"
 *   3 x u32    version (1), channels of the input (8), layers (7)
 *   layers     5 x u32: rows, distance of rows, channels of the input, of the output, shift
 *              (0..24); weights, i8 [output][row from the bottom][input];
 *              biases, i32 [output], -2^24..2^24
 *   i32, u32   threshold, -128..127; `most`, 1..100
 *
 * The shapes are those stated above; the size is RV_STIXELS_NETWORK_BYTES. */
#ifndef RV_STIXELS_NETWORK_H
#define RV_STIXELS_NETWORK_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_STIXELS_NETWORK_INPUTS 8    /* channels */
#define RV_STIXELS_NETWORK_CHANNELS 16 /* of the other layers, at most */
#define RV_STIXELS_NETWORK_LAYERS 7
#define RV_STIXELS_NETWORK_TAPS 5     /* rows of a convolution, at most */
#define RV_STIXELS_NETWORK_FEW 14     /* cuts that any column may have */
#define RV_STIXELS_NETWORK_BYTES 4540 /* of a file */

/* Channels that a layer does not have are 0. */
typedef struct RvStixelsNetworkLayer {
  int32_t bias[RV_STIXELS_NETWORK_CHANNELS];
  int32_t shift;
  int8_t weights[RV_STIXELS_NETWORK_CHANNELS][RV_STIXELS_NETWORK_TAPS]
                [RV_STIXELS_NETWORK_CHANNELS]; /* [output][row][input] */
} RvStixelsNetworkLayer;

typedef struct RvStixelsNetwork {
  RvStixelsNetworkLayer layers[RV_STIXELS_NETWORK_LAYERS];
  int32_t threshold;
  int32_t most; /* percent of the rows of a column, beyond RV_STIXELS_NETWORK_FEW */
} RvStixelsNetwork;

/* Reads a file from memory. RV_ERR_IO, with a line in the log that states the cause, for anything
 * else; *network is then unchanged. `log` may be NULL. */
RV_API RvStatus rv_stixels_network_read(RvStixelsNetwork *network, const void *bytes, size_t size,
                                        const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
