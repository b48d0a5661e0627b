/* SPDX-License-Identifier: MIT */
/* sgm_cuda_signal.cuh: how warps of a block and blocks of a launch forward states of paths without
 * a barrier of all: barriers in shared memory, and tagged words in global memory. Device code
 * only. */
#ifndef RV_SGM_CUDA_SIGNAL_CUH
#define RV_SGM_CUDA_SIGNAL_CUH

#include "sgm/sgm_cuda_path.cuh"

#include <stdint.h>

enum { TAG_BIT = 29 }; /* of a word that is sent; tags are 1 .. 7, cyclically */

/* Compute capability 8.0 and later have the barriers. Code for earlier ones must not be run. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#  define SGM_HAS_BARRIERS 1
#endif

#ifdef SGM_HAS_BARRIERS
/* --- Barriers between warps (mbarrier) ------------------------------------------------------- */

static __device__ __forceinline__ void barrier_init(uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
static __device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("{\n"
               ".reg .b64 state;\n"
               "mbarrier.arrive.shared.b64 state, [%0];\n"
               "}" ::"r"(barrier)
               : "memory");
}
/* Arrives when the copies of this thread are complete. */
static __device__ __forceinline__ void barrier_copied(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
static __device__ __forceinline__ bool barrier_complete(uint32_t barrier, uint32_t parity) {
  uint32_t over;
  asm volatile("{\n"
               ".reg .pred over;\n"
#  if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
               "mbarrier.try_wait.parity.shared.b64 over, [%1], %2;\n" /* may sleep */
#  else
               "mbarrier.test_wait.parity.shared.b64 over, [%1], %2;\n"
#  endif
               "selp.u32 %0, 1, 0, over;\n"
               "}"
               : "=r"(over)
               : "r"(barrier), "r"(parity)
               : "memory");
  return over;
}
/* Waits until the phase of that parity is complete. */
static __device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  while (!barrier_complete(barrier, parity)) {
  }
}

#endif

/* --- Words from strip to strip --------------------------------------------------------------- */

static __device__ __forceinline__ void send_words(uint32_t *to, uint32_t a) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(a) : "memory");
}
static __device__ __forceinline__ void send_words(uint32_t *to, uint32_t a, uint32_t b) {
  asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(a), "r"(b) : "memory");
}
static __device__ __forceinline__ void send_words(uint32_t *to, uint32_t a, uint32_t b, uint32_t c,
                                                  uint32_t d) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b),
               "r"(c), "r"(d)
               : "memory");
}
template <int K>
static __device__ __forceinline__ void send(uint32_t *to, const uint32_t (&l)[K], uint32_t tag) {
  if constexpr (K == 1) {
    send_words(to, l[0] | tag);
  } else if constexpr (K == 2) {
    send_words(to, l[0] | tag, l[1] | tag);
  } else {
#pragma unroll
    for (int j = 0; j < K; j += 4)
      send_words(to + j, l[j] | tag, l[j + 1] | tag, l[j + 2] | tag, l[j + 3] | tag);
  }
}

template <int K>
static __device__ __forceinline__ void load_relaxed(const uint32_t *from, uint32_t (&l)[K]) {
  if constexpr (K == 1) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(l[0]) : "l"(from) : "memory");
  } else if constexpr (K == 2) {
    asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(l[0]), "=r"(l[1])
                 : "l"(from)
                 : "memory");
  } else {
#pragma unroll
    for (int j = 0; j < K; j += 4)
      asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(l[j]), "=r"(l[j + 1]), "=r"(l[j + 2]), "=r"(l[j + 3])
                   : "l"(from + j)
                   : "memory");
  }
}

/* Waits for the words of the first `count` states, back to back, of all lanes of the warp. States
 * beyond are unchanged; no state has those bits. */
template <int K, int N>
static __device__ __forceinline__ void receive(uint32_t (&l)[N][K], const uint32_t *from, int words,
                                               int count, uint32_t tag) {
  for (bool missing = true; missing;) {
    uint32_t wrong = 0;
#pragma unroll
    for (int n = 0; n < N; n++)
      if (n < count)
        load_relaxed(from + n * words, l[n]);
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
      for (int j = 0; j < K; j++)
        wrong |= n < count ? l[n][j] ^ tag : 0;
    missing = __any_sync(SGM_WARP, wrong >> TAG_BIT);
    if (missing)
      __nanosleep(20);
  }
#pragma unroll
  for (int n = 0; n < N; n++)
#pragma unroll
    for (int j = 0; j < K; j++)
      l[n][j] &= ~(7u << TAG_BIT);
}

#endif
