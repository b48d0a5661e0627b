/* SPDX-License-Identifier: MIT */
/* emulate_warp.h: barriers, votes, shuffles and reductions. */
#ifndef RV_EMULATE_WARP_H
#define RV_EMULATE_WARP_H

#include "emulate_machine.h"

#define RV_HERE emulate::Place at = emulate::Place::here(__builtin_FILE(), __builtin_LINE())

static inline void __syncthreads(RV_HERE) {
  emulate::barrier(0, 0, 0, at);
}
static inline int __syncthreads_count(int predicate, RV_HERE) {
  return emulate::barrier(0, 0, predicate != 0, at);
}
static inline int __syncthreads_or(int predicate, RV_HERE) {
  return emulate::barrier(0, 0, predicate != 0, at) != 0;
}
static inline int __syncthreads_and(int predicate, RV_HERE) {
  return emulate::barrier(0, 0, predicate == 0, at) == 0;
}
/* Clusters: all of the barrier is in the wait, for no code is between the two. */
static inline unsigned __clusterRelativeBlockRank() {
  return emulate::cluster_rank();
}
static inline unsigned __clusterSizeInBlocks() {
  return emulate::cluster_blocks();
}
static inline void __cluster_barrier_arrive() {}
static inline void __cluster_barrier_wait(RV_HERE) {
  emulate::cluster_barrier(at);
}
static inline void *__cluster_map_shared_rank(const void *mine, unsigned rank) {
  return emulate::cluster_shared((void *)mine, rank);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu, RV_HERE) {
  emulate::leave(emulate::meet(emulate::SYNCWARP, mask, 0, at));
}

namespace emulate {

/* A value of up to 8 bytes as it lies in memory. */
template <class T> inline uint64_t pack(T value) {
  static_assert(sizeof(T) <= 8, "shuffles take at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T> inline T unpack(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* `pick` gives the lane to read from; its own value where that is not in the segment. */
template <class T, class Pick>
inline T shuffled(unsigned mask, T value, int width, Place at, const Pick &pick) {
  if (width < 1 || width > 32 || (width & (width - 1)))
    fail(at, "a shuffle has width %d", width);
  Meeting *m = meet(SHUFFLE, mask, pack(value), at);
  const int own = lane(), first = own / width * width, from = pick(own, first);
  const T got = unpack<T>(m->value[from >= first && from < first + width ? from : own]);
  leave(m);
  return got;
}

/* Sum, minimum ... of the lanes of the mask. */
template <class T, class Join>
inline T reduced(unsigned mask, T value, Place at, const Join &join) {
  Meeting *m = meet(REDUCE, mask, pack(value), at);
  T all = value;
  for (uint32_t others = m->arrived & ~(1u << lane()); others; others &= others - 1)
    all = join(all, unpack<T>(m->value[__builtin_ctz(others)]));
  leave(m);
  return all;
}

} // namespace emulate

template <class T>
static inline T __shfl_sync(unsigned mask, T v, int from, int width = 32, RV_HERE) {
  return emulate::shuffled(mask, v, width, at,
                           [=](int, int first) { return first + (from & (width - 1)); });
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32, RV_HERE) {
  return emulate::shuffled(mask, v, width, at, [=](int own, int) { return own - (int)by; });
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32, RV_HERE) {
  return emulate::shuffled(mask, v, width, at, [=](int own, int) { return own + (int)by; });
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32, RV_HERE) {
  return emulate::shuffled(mask, v, width, at, [=](int own, int) { return own ^ with; });
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, RV_HERE) {
  emulate::Meeting *m = emulate::meet(emulate::BALLOT, mask, predicate != 0, at);
  unsigned bits = 0;
  for (int i = 0; i < 32; i++)
    if (m->arrived >> i & 1 && m->value[i])
      bits |= 1u << i;
  emulate::leave(m);
  return bits;
}
static inline int __any_sync(unsigned mask, int predicate, RV_HERE) {
  emulate::Meeting *m = emulate::meet(emulate::ANY, mask, predicate != 0, at);
  int any = 0;
  for (int i = 0; i < 32; i++)
    any |= m->arrived >> i & 1 && m->value[i];
  emulate::leave(m);
  return any;
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T value, RV_HERE) {
  emulate::Meeting *m = emulate::meet(emulate::MATCH, mask, emulate::pack(value), at);
  unsigned bits = 0;
  for (int i = 0; i < 32; i++)
    if (m->arrived >> i & 1 && m->value[i] == emulate::pack(value))
      bits |= 1u << i;
  emulate::leave(m);
  return bits;
}

template <class T> static inline T __reduce_add_sync(unsigned mask, T value, RV_HERE) {
  return (T)emulate::reduced(mask, (unsigned)value, at,
                             [](unsigned a, unsigned b) { return a + b; });
}
template <class T> static inline T __reduce_min_sync(unsigned mask, T value, RV_HERE) {
  return emulate::reduced(mask, value, at, [](T a, T b) { return b < a ? b : a; });
}
template <class T> static inline T __reduce_max_sync(unsigned mask, T value, RV_HERE) {
  return emulate::reduced(mask, value, at, [](T a, T b) { return b > a ? b : a; });
}

#endif
