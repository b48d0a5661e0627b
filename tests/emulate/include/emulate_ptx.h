/* SPDX-License-Identifier: MIT */
/* emulate_ptx.h: one function for each PTX instruction that the kernels contain as inline assembly.
 * rewrite.py makes calls of the statements: results first, then operands, in the order of the
 * statement. An instruction that is missing here does not compile. */
#ifndef RV_EMULATE_PTX_H
#define RV_EMULATE_PTX_H

#include "emulate_arithmetic.h"
#include "emulate_machine.h"

/* Kernels run one after the other. */
static inline void ptx_griddepcontrol_wait() {}
static inline void ptx_griddepcontrol_launch_dependents() {}

static inline void ptx_rcp_approx_ftz_f32(float &result, float v) {
  result = emulate::approximate(1.0f / v, 1);
}
static inline void ptx_rcp_approx_ftz_f64(double &result, double v) { /* the upper word alone */
  result = __hiloint2double(__double2hiint(1.0 / v), 0);
}
static inline void ptx_mad_lo_u32(uint32_t &result, uint32_t a, uint32_t b, uint32_t c) {
  result = a * b + c;
}
static inline void ptx_prefetch_global_L2(const void *) {}

/* --- Named barriers -------------------------------------------------------------------------- */

#define RV_PTX_BARRIER(number)                                                                     \
  static inline void ptx_bar_sync_##number(                                                        \
      int threads, emulate::Place at = emulate::Place::here(__builtin_FILE(), __builtin_LINE())) { \
    emulate::barrier(number, threads, 0, at);                                                      \
  }                                                                                                \
  static inline void ptx_barrier_sync_##number(                                                    \
      int threads, emulate::Place at = emulate::Place::here(__builtin_FILE(), __builtin_LINE())) { \
    emulate::barrier(number, threads, 0, at);                                                      \
  }
RV_PTX_BARRIER(1)
RV_PTX_BARRIER(2)
#undef RV_PTX_BARRIER

/* --- Loads and stores ------------------------------------------------------------------------ */

namespace emulate {
template <class T> inline T *shared_words(uint32_t address, int count) {
  if (address % (sizeof(T) * (size_t)count))
    fail({}, "address %u of shared memory is not aligned to %zu bytes", address,
         sizeof(T) * (size_t)count);
  return (T *)shared_at(address);
}
template <class T> inline const T *relaxed_words(const T *at, int count) {
  if ((uintptr_t)at % (sizeof(T) * (size_t)count))
    fail({}, "%p is not aligned to %zu bytes", (const void *)at, sizeof(T) * (size_t)count);
  turn();
  return at;
}
} // namespace emulate

static inline void ptx_ld_shared_u32(uint32_t &a, uint32_t at) {
  a = *emulate::shared_words<uint32_t>(at, 1);
}
static inline void ptx_ld_shared_u64(uint64_t &a, uint32_t at) {
  a = *emulate::shared_words<uint64_t>(at, 1);
}
template <class T> static inline void ptx_ld_shared_v2(T &a, T &b, uint32_t at) {
  const T *words = emulate::shared_words<T>(at, 2);
  a = words[0], b = words[1];
}
static inline void ptx_ld_shared_v2_u32(uint32_t &a, uint32_t &b, uint32_t at) {
  ptx_ld_shared_v2(a, b, at);
}
static inline void ptx_ld_shared_v2_u64(uint64_t &a, uint64_t &b, uint32_t at) {
  ptx_ld_shared_v2(a, b, at);
}
static inline void ptx_ld_shared_v4_u32(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d,
                                        uint32_t at) {
  const uint32_t *words = emulate::shared_words<uint32_t>(at, 4);
  a = words[0], b = words[1], c = words[2], d = words[3];
}
static inline void ptx_st_shared_u32(uint32_t at, uint32_t a) {
  *emulate::shared_words<uint32_t>(at, 1) = a;
}
static inline void ptx_st_shared_v2_u32(uint32_t at, uint32_t a, uint32_t b) {
  uint32_t *words = emulate::shared_words<uint32_t>(at, 2);
  words[0] = a, words[1] = b;
}
static inline void ptx_st_shared_v4_u32(uint32_t at, uint32_t a, uint32_t b, uint32_t c,
                                        uint32_t d) {
  uint32_t *words = emulate::shared_words<uint32_t>(at, 4);
  words[0] = a, words[1] = b, words[2] = c, words[3] = d;
}

static inline void ptx_ld_relaxed_gpu_global_u32(uint32_t &a, const uint32_t *at) {
  a = *emulate::relaxed_words(at, 1);
}
static inline void ptx_ld_relaxed_gpu_global_v2_u32(uint32_t &a, uint32_t &b, const uint32_t *at) {
  const uint32_t *words = emulate::relaxed_words(at, 2);
  a = words[0], b = words[1];
}
static inline void ptx_ld_relaxed_gpu_global_v4_u32(uint32_t &a, uint32_t &b, uint32_t &c,
                                                    uint32_t &d, const uint32_t *at) {
  const uint32_t *words = emulate::relaxed_words(at, 4);
  a = words[0], b = words[1], c = words[2], d = words[3];
}
static inline void ptx_st_relaxed_gpu_global_u32(uint32_t *at, uint32_t a) {
  (void)emulate::relaxed_words(at, 1);
  at[0] = a;
  emulate::progress();
}
static inline void ptx_st_relaxed_gpu_global_v2_u32(uint32_t *at, uint32_t a, uint32_t b) {
  (void)emulate::relaxed_words(at, 2);
  at[0] = a, at[1] = b;
  emulate::progress();
}
static inline void ptx_st_relaxed_gpu_global_v4_u32(uint32_t *at, uint32_t a, uint32_t b,
                                                    uint32_t c, uint32_t d) {
  (void)emulate::relaxed_words(at, 4);
  at[0] = a, at[1] = b, at[2] = c, at[3] = d;
  emulate::progress();
}

/* --- Barriers in shared memory (mbarrier) ---------------------------------------------------- */

namespace emulate {
/* As it lies in its 8 bytes of shared memory. */
struct SharedBarrier {
  uint16_t expected, pending;
  uint32_t phase;
};
inline void arrive(uint32_t at) {
  SharedBarrier *b = (SharedBarrier *)shared_words<uint64_t>(at, 1);
  if (b->pending == 0 || b->pending > b->expected)
    fail({}, "a thread arrives at an mbarrier that expects none");
  if (--b->pending == 0) {
    b->pending = b->expected;
    b->phase++;
  }
  progress();
}
} // namespace emulate

static inline void ptx_mbarrier_init_shared_b64(uint32_t at, int count) {
  *(emulate::SharedBarrier *)emulate::shared_words<uint64_t>(at, 1) = {(uint16_t)count,
                                                                       (uint16_t)count, 0};
}
static inline void ptx_mbarrier_arrive_shared_b64(uint32_t at) {
  emulate::arrive(at);
}
static inline void ptx_cp_async_mbarrier_arrive_noinc_shared_b64(uint32_t at) {
  emulate::copies_wait(-1);
  emulate::arrive(at);
}
static inline void ptx_mbarrier_test_wait_parity_shared_b64(uint32_t &over, uint32_t at,
                                                            uint32_t parity) {
  over = (((emulate::SharedBarrier *)emulate::shared_words<uint64_t>(at, 1))->phase & 1) != parity;
  if (!over)
    emulate::yield();
}
static inline void ptx_mbarrier_try_wait_parity_shared_b64(uint32_t &over, uint32_t at,
                                                           uint32_t parity) {
  ptx_mbarrier_test_wait_parity_shared_b64(over, at, parity);
}

#endif
