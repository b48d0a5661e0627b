/* SPDX-License-Identifier: MIT */
/* emulate_memory.h: atomic operations, loads and stores with cache operators, fences. Threads change
 * only where they wait, so that every operation is atomic. */
#ifndef RV_EMULATE_MEMORY_H
#define RV_EMULATE_MEMORY_H

#include "emulate_machine.h"

namespace emulate {

/* *at = change(*at); the value before. */
template <class T, class Change> inline T atomic(T *at, const Change &change) {
  if ((uintptr_t)at % sizeof(T))
    fail({}, "an atomic operation at %p, which is not aligned to %zu bytes", (void *)at, sizeof(T));
  const T before = *at, after = change(before);
  if (after != before) {
    *at = after;
    progress();
  }
  turn();
  return before;
}

} // namespace emulate

/* The types of CUDA's functions: a call with others converts or does not compile. */
#define RV_EMULATE_ATOMIC(name, type, result)                                                      \
  static inline type name(type *at, type value) {                                                  \
    return emulate::atomic(at, [=](type old) { return (void)old, (type)(result); });               \
  }
RV_EMULATE_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)value)
RV_EMULATE_ATOMIC(atomicAdd, unsigned, old + value)
RV_EMULATE_ATOMIC(atomicAdd, unsigned long long, old + value)
RV_EMULATE_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)value)
RV_EMULATE_ATOMIC(atomicSub, unsigned, old - value)
RV_EMULATE_ATOMIC(atomicMin, int, std::min(old, value))
RV_EMULATE_ATOMIC(atomicMin, unsigned, std::min(old, value))
RV_EMULATE_ATOMIC(atomicMin, long long, std::min(old, value))
RV_EMULATE_ATOMIC(atomicMin, unsigned long long, std::min(old, value))
RV_EMULATE_ATOMIC(atomicMax, int, std::max(old, value))
RV_EMULATE_ATOMIC(atomicMax, unsigned, std::max(old, value))
RV_EMULATE_ATOMIC(atomicMax, long long, std::max(old, value))
RV_EMULATE_ATOMIC(atomicMax, unsigned long long, std::max(old, value))
RV_EMULATE_ATOMIC(atomicOr, int, old | value)
RV_EMULATE_ATOMIC(atomicOr, unsigned, old | value)
RV_EMULATE_ATOMIC(atomicOr, unsigned long long, old | value)
RV_EMULATE_ATOMIC(atomicAnd, int, old &value)
RV_EMULATE_ATOMIC(atomicAnd, unsigned, old &value)
RV_EMULATE_ATOMIC(atomicExch, int, value)
RV_EMULATE_ATOMIC(atomicExch, unsigned, value)
RV_EMULATE_ATOMIC(atomicExch, unsigned long long, value)
#undef RV_EMULATE_ATOMIC

#define RV_EMULATE_CAS(type)                                                                       \
  static inline type atomicCAS(type *at, type expected, type value) {                              \
    return emulate::atomic(at, [=](type old) { return old == expected ? value : old; });           \
  }
RV_EMULATE_CAS(int)
RV_EMULATE_CAS(unsigned)
RV_EMULATE_CAS(unsigned long long)
#undef RV_EMULATE_CAS

namespace emulate {
template <class T> inline T load_aligned(const T *at) {
  if ((uintptr_t)at % sizeof(T))
    fail({}, "a load at %p, which is not aligned to %zu bytes", (const void *)at, sizeof(T));
  return *at;
}
} // namespace emulate

template <class T> static inline T __ldg(const T *at) {
  return emulate::load_aligned(at);
}
template <class T> static inline T __ldcs(const T *at) {
  return emulate::load_aligned(at);
}
/* Others may have written there: a loop may wait for it. */
template <class T> static inline T __ldcg(const T *at) {
  emulate::turn();
  return emulate::load_aligned(at);
}
template <class T> static inline void __stcs(T *at, T value) {
  *at = value;
}
template <class T> static inline void __stcg(T *at, T value) {
  *at = value;
  emulate::progress();
}

static inline void __threadfence() {
  emulate::progress();
}
static inline void __threadfence_block() {
  emulate::progress();
}
static inline void __nanosleep(unsigned) {
  emulate::yield();
}

static inline size_t __cvta_generic_to_shared(const void *at) {
  return emulate::shared_address(at);
}
static inline void *__cvta_shared_to_generic(size_t at) {
  return emulate::shared_at((uint32_t)at);
}

#endif
