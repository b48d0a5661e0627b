/* SPDX-License-Identifier: MIT */
/* stixels_network.c: the file of weights, and the choice of the CPU's kernel. */
#include "stixels/stixels_network.h"

#include <string.h>

#include "rv_internal.h"
#include "stixels/stixels_stages.h"

#define VERSION 1
#define BIAS (1 << 24)
#define SHIFT 24

typedef struct Reader {
  const uint8_t *at, *end;
} Reader;

/* The caller has compared the size. */
static uint32_t take(Reader *r) {
  const uint8_t *b = r->at;
  r->at += 4;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int32_t take_signed(Reader *r) {
  const uint32_t bits = take(r);
  return bits > INT32_MAX ? -(int32_t)(UINT32_MAX - bits) - 1 : (int32_t)bits;
}

static RvStatus read_layer(Reader *r, int index, RvStixelsNetworkLayer *layer, const RvLog *log) {
  const uint32_t taps = take(r), dilation = take(r), ins = take(r), outs = take(r), shift = take(r);
  const uint32_t wanted[] = {
      (uint32_t)rv_stixels_network_taps(index), (uint32_t)rv_stixels_network_dilation(index),
      (uint32_t)rv_stixels_network_inputs(index), (uint32_t)rv_stixels_network_outputs(index)};
  RV_REQUIRE_OR(
      RV_ERR_IO, log,
      taps == wanted[0] && dilation == wanted[1] && ins == wanted[2] && outs == wanted[3],
      "network of cuts: layer %d has %u rows, %u apart, and %u x %u channels, must have %u "
      "rows, %u apart, and %u x %u channels",
      index, taps, dilation, ins, outs, wanted[0], wanted[1], wanted[2], wanted[3]);
  layer->shift = (int32_t)(shift <= SHIFT ? shift : SHIFT + 1); /* for the check */
  for (uint32_t out = 0; out < outs; out++)
    for (uint32_t tap = 0; tap < taps; tap++, r->at += ins)
      memcpy(layer->weights[out][tap], r->at, ins);
  for (uint32_t out = 0; out < outs; out++)
    layer->bias[out] = take_signed(r);
  return RV_OK;
}

RvStatus rv_stixels_network_check(const RvStixelsNetwork *network, const RvLog *log) {
  for (int k = 0; k < RV_STIXELS_NETWORK_LAYERS; k++) {
    const RvStixelsNetworkLayer *layer = &network->layers[k];
    RV_REQUIRE(log, layer->shift >= 0 && layer->shift <= SHIFT,
               "network of cuts: the shift of layer %d must be 0 to %d", k, SHIFT);
    for (int out = 0; out < RV_STIXELS_NETWORK_CHANNELS; out++)
      RV_REQUIRE(log, layer->bias[out] >= -BIAS && layer->bias[out] <= BIAS,
                 "network of cuts: layer %d has a bias of %d, must be -%d to %d", k,
                 layer->bias[out], BIAS, BIAS);
  }
  RV_REQUIRE(log, network->threshold >= -128 && network->threshold <= 127,
             "network of cuts: threshold %d, must be -128 to 127", network->threshold);
  RV_REQUIRE(log, network->most >= 1 && network->most <= 100,
             "network of cuts: cuts in at most %d %% of the rows, must be 1 to 100", network->most);
  return RV_OK;
}

RvStatus rv_stixels_network_read(RvStixelsNetwork *network, const void *bytes, size_t size,
                                 const RvLog *log) {
  RV_REQUIRE(log, network && bytes, "network of cuts: no file and no place for it");
  RV_REQUIRE_OR(RV_ERR_IO, log, size >= 8 && memcmp(bytes, "RVCUTNET", 8) == 0,
                "network of cuts: the file does not begin with RVCUTNET");
  RV_REQUIRE_OR(RV_ERR_IO, log, size == RV_STIXELS_NETWORK_BYTES,
                "network of cuts: the file has %zu bytes, must have %d", size,
                RV_STIXELS_NETWORK_BYTES);
  Reader r = {(const uint8_t *)bytes + 8, (const uint8_t *)bytes + size};
  const uint32_t version = take(&r), inputs = take(&r), layers = take(&r);
  RV_REQUIRE_OR(RV_ERR_IO, log, version == VERSION,
                "network of cuts: version %u, this library reads version %d", version, VERSION);
  RV_REQUIRE_OR(RV_ERR_IO, log,
                inputs == RV_STIXELS_NETWORK_INPUTS && layers == RV_STIXELS_NETWORK_LAYERS,
                "network of cuts: %u inputs and %u layers, must be %d and %d", inputs, layers,
                RV_STIXELS_NETWORK_INPUTS, RV_STIXELS_NETWORK_LAYERS);
  RvStixelsNetwork found;
  memset(&found, 0, sizeof found);
  for (int k = 0; k < RV_STIXELS_NETWORK_LAYERS; k++)
    RV_TRY(read_layer(&r, k, &found.layers[k], log));
  found.threshold = take_signed(&r);
  found.most = take_signed(&r);
  if (rv_stixels_network_check(&found, log) != RV_OK)
    return RV_ERR_IO;
  *network = found;
  return RV_OK;
}

RvStatus rv_stixels_make_network(const RvStixelsConfig *config, RvStixelsNetwork *network) {
  if (!config->network)
    return rv_stixels_network_read(network, rv_stixels_network_weights, RV_STIXELS_NETWORK_BYTES,
                                   &config->log);
  *network = *config->network;
  return RV_OK;
}

/* --- CPU engine ------------------------------------------------------------------------------ */

extern const RvStixelsNetworkKernel rv_stixels_network_base;
#if defined(__x86_64__)
extern const RvStixelsNetworkKernel rv_stixels_network_avx2, rv_stixels_network_avx512;
#endif

RV_CPU_KERNELS(RvStixelsNetworkKernel, rv_stixels_network_kernel, rv_stixels_network,
               RV_CPU_AVX512_VBMI)

/* The channels of all rows; the pads stay 0. */
static void fill_input(const RvStixelsPlane *ground, const RvStixelsCell *cells, int rows,
                       uint32_t *out) {
  const size_t pitch = rv_stixels_network_pitch(rows);
  uint32_t *low = out + RV_STIXELS_NETWORK_PAD, *high = low + pitch;
  int above = 0, below = 0;
  for (int v = rows - 1; v >= 0; v--) { /* `low` keeps A until it is known together with B */
    above = cells[v].weight ? cells[v].disparity : above;
    low[v] = (uint32_t)above;
  }
  for (int v = 0; v < rows; v++) {
    rv_stixels_network_input(cells[v], (int)low[v], below, rv_stixels_expected(ground, v), &low[v],
                             &high[v]);
    below = cells[v].weight ? cells[v].disparity : below;
  }
}

/* The threshold, raised to what the number of cuts allows. */
static int threshold_of(const RvStixelsNetwork *network, const int32_t *scores, int rows) {
  int counts[256] = {0};
  for (int v = 1; v < rows; v++)
    counts[scores[v] + 128]++;
  int left = rv_stixels_network_budget(network, rows), threshold = 128;
  while (threshold > network->threshold && counts[threshold + 127] <= left)
    left -= counts[--threshold + 128];
  return threshold;
}

void rv_stixels_network_cpu(const RvStixelsNetworkKernel *kernel, const RvStixelsNetwork *network,
                            const RvStixelsPlane *ground, const RvStixelsCell *cells, int rows,
                            uint32_t *buffers, uint8_t *codes) {
  const size_t pitch = rv_stixels_network_pitch(rows), words = RV_STIXELS_NETWORK_QUADS * pitch;
  const size_t beyond = pitch - RV_STIXELS_NETWORK_PAD - (size_t)rows;
  memset(buffers, 0, 2 * words * sizeof *buffers);
  fill_input(ground, cells, rows, buffers);
  for (int k = 0; k < RV_STIXELS_NETWORK_LAYERS; k++) {
    uint32_t *out = buffers + (k % 2 ? 0 : words);
    kernel->layer(&network->layers[k], k, buffers + (k % 2 ? words : 0), out, rows);
    for (size_t quad = 0; quad < RV_STIXELS_NETWORK_QUADS; quad++)
      memset(out + quad * pitch + RV_STIXELS_NETWORK_PAD + rows, 0, beyond * sizeof *out);
  }
  const int32_t *scores = (const int32_t *)(buffers + (RV_STIXELS_NETWORK_LAYERS % 2 ? words : 0)) +
                          RV_STIXELS_NETWORK_PAD;
  const int threshold = threshold_of(network, scores, rows);
  for (int v = 0; v < rows; v++)
    codes[v] = (uint8_t)rv_stixels_cut_code(scores[v], threshold);
}
