/* SPDX-License-Identifier: MIT */
/* stixels_network_cpu.c: the layers of the network of cuts on the CPU, compiled once per instruction
 * set: AVX-512 VNNI, AVX2, or plain C. A vector has the rows of a column as lanes; a word has four
 * channels. Channels are 0..127, so that two products fit in 16 bits. */
#include <string.h>

#include "stixels/stixels_network_rules.h"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
#  include <immintrin.h>
#  define LANES 16
#  define V_OP(name) _mm512_##name
#  define V_ALL(name) _mm512_##name##_si512
typedef __m512i V;
#elif defined(__AVX2__)
#  include <immintrin.h>
#  define LANES 8
#  define V_OP(name) _mm256_##name
#  define V_ALL(name) _mm256_##name##_si256
typedef __m256i V;
#else
#  define LANES 8
typedef struct V {
  int32_t lane[LANES];
} V;

#endif

#ifdef V_OP
static inline V v_load(const uint32_t *p) {
  return V_ALL(loadu)((const V *)p);
}
static inline void v_store(uint32_t *p, V a) {
  V_ALL(storeu)((V *)p, a);
}
static inline V v_set(int32_t a) {
  return V_OP(set1_epi32)(a);
}
static inline V v_dot(V sum, V x, int32_t weights) {
#  if LANES == 16
  return _mm512_dpbusd_epi32(sum, x, v_set(weights));
#  else
  const V pairs = _mm256_maddubs_epi16(x, v_set(weights));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#  endif
}
static inline V v_value(V sum, int shift, int least) {
  const V x = V_OP(sra_epi32)(sum, _mm_cvtsi32_si128(shift));
  return V_OP(min_epi32)(V_OP(max_epi32)(x, v_set(least)), v_set(127));
}
static inline V v_pack(const V a[4]) {
  return V_ALL(or)(V_ALL(or)(a[0], V_OP(slli_epi32)(a[1], 8)),
                   V_ALL(or)(V_OP(slli_epi32)(a[2], 16), V_OP(slli_epi32)(a[3], 24)));
}
#else
static inline V v_load(const uint32_t *p) {
  V a;
  memcpy(&a, p, sizeof a);
  return a;
}
static inline void v_store(uint32_t *p, V a) {
  memcpy(p, &a, sizeof a);
}
static inline V v_set(int32_t a) {
  V v;
  for (int k = 0; k < LANES; k++)
    v.lane[k] = a;
  return v;
}
static inline V v_dot(V sum, V x, int32_t weights) {
  int8_t w[4];
  memcpy(w, &weights, sizeof w);
  for (int k = 0; k < LANES; k++) {
    const uint32_t word = (uint32_t)x.lane[k];
    sum.lane[k] += w[0] * (int32_t)(word & 0x7f) + w[1] * (int32_t)(word >> 8 & 0x7f) +
                   w[2] * (int32_t)(word >> 16 & 0x7f) + w[3] * (int32_t)(word >> 24);
  }
  return sum;
}
static inline V v_value(V sum, int shift, int least) {
  for (int k = 0; k < LANES; k++)
    sum.lane[k] = rv_clamp(sum.lane[k] >> shift, least, 127);
  return sum;
}
static inline V v_pack(const V a[4]) {
  V v;
  for (int k = 0; k < LANES; k++)
    v.lane[k] =
        (int32_t)rv_stixels_network_word(a[0].lane[k], a[1].lane[k], a[2].lane[k], a[3].lane[k]);
  return v;
}
#endif

/* Four channels of the output in LANES rows, of which the first reads its own row at `in`. */
static inline void sum_rows(const RvStixelsNetworkLayer *layer, int taps, int dilation, int quads,
                            int output, const uint32_t *in, size_t pitch, V sum[4]) {
  for (int k = 0; k < 4; k++)
    sum[k] = v_set(rv_stixels_network_start(layer, output + k));
  for (int tap = 0; tap < taps; tap++)
    for (int quad = 0; quad < quads; quad++) {
      const V x = v_load(in + (size_t)quad * pitch + (tap - taps / 2) * dilation);
      for (int k = 0; k < 4; k++) {
        int32_t weights;
        memcpy(&weights, &layer->weights[output + k][tap][4 * quad], sizeof weights);
        sum[k] = v_dot(sum[k], x, weights);
      }
    }
}

static inline void run_layer(const RvStixelsNetworkLayer *layer, int taps, int dilation, int quads,
                             const uint32_t *in, uint32_t *out, int rows) {
  const size_t pitch = rv_stixels_network_pitch(rows);
  for (int output = 0; output < RV_STIXELS_NETWORK_CHANNELS; output += 4)
    for (int v = 0; v < rows; v += LANES) {
      V sum[4];
      sum_rows(layer, taps, dilation, quads, output, in + RV_STIXELS_NETWORK_PAD + v, pitch, sum);
      for (int k = 0; k < 4; k++)
        sum[k] = v_value(sum[k], layer->shift, 0);
      v_store(out + (size_t)(output / 4) * pitch + RV_STIXELS_NETWORK_PAD + v, v_pack(sum));
    }
}

static void layer(const RvStixelsNetworkLayer *layer, int index, const uint32_t *in, uint32_t *out,
                  int rows) {
  const size_t pitch = rv_stixels_network_pitch(rows);
  if (index == RV_STIXELS_NETWORK_LAYERS - 1) {
    for (int v = 0; v < rows; v += LANES) {
      V sum[4];
      sum_rows(layer, 1, 1, RV_STIXELS_NETWORK_QUADS, 0, in + RV_STIXELS_NETWORK_PAD + v, pitch,
               sum);
      v_store(out + RV_STIXELS_NETWORK_PAD + v, v_value(sum[0], layer->shift, -128));
    }
  } else if (index == 0) { /* constants, so that the loops are unrolled */
    run_layer(layer, RV_STIXELS_NETWORK_TAPS, 1, RV_STIXELS_NETWORK_INPUTS / 4, in, out, rows);
  } else if (rv_stixels_network_taps(index) == 1) {
    run_layer(layer, 1, 1, RV_STIXELS_NETWORK_QUADS, in, out, rows);
  } else {
    run_layer(layer, RV_STIXELS_NETWORK_TAPS, rv_stixels_network_dilation(index),
              RV_STIXELS_NETWORK_QUADS, in, out, rows);
  }
}

#define JOIN(a, b) a##b
#define NAME(x) JOIN(rv_stixels_network_, x)
extern const RvStixelsNetworkKernel NAME(RV_STIXELS_NETWORK_KERNEL);
const RvStixelsNetworkKernel NAME(RV_STIXELS_NETWORK_KERNEL) = {layer};
