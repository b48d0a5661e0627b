/* SPDX-License-Identifier: MIT */
/* rv_internal.h: errors, log, memory and arena for the code inside the library. Not installed. */
#ifndef RV_INTERNAL_H
#define RV_INTERNAL_H

#include "rv.h"

/* Before a function of C: compiled once per instruction set and selected when the library is
 * loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__)
#  define RV_ROW_LOOP __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#  define RV_ROW_LOOP
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Forwards a failure in one line. */
#define RV_TRY(call)                                                                               \
  do {                                                                                             \
    const RvStatus rv_try_status_ = (call);                                                        \
    if (rv_try_status_ != RV_OK)                                                                   \
      return rv_try_status_;                                                                       \
  } while (0)

/* Checks a condition: logs the text once, returns `status`. */
#define RV_REQUIRE_OR(status, log, condition, ...)                                                 \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      rv_log((log), __VA_ARGS__);                                                                  \
      return status;                                                                               \
    }                                                                                              \
  } while (0)

/* Checks a rule at the public boundary. */
#define RV_REQUIRE(log, ...) RV_REQUIRE_OR(RV_ERR_ARG, log, __VA_ARGS__)

/* One line, at most 511 bytes; `log` may be NULL. */
void rv_log(const RvLog *log, const char *format, ...) RV_PRINTF(2, 3);

/* All memory of the library is allocated by these two, so that tests can count and fail them
 * (linked with --wrap). The memory is not cleared. */
void *rv_memory_alloc(size_t bytes, RvEngine engine);
void rv_memory_free(void *memory, RvEngine engine);

/* Host memory for an object, cleared; NULL when exhausted. */
void *rv_memory_object(size_t bytes);

/* Fills with a byte; enqueued on the CUDA engine. */
RvStatus rv_memory_fill(void *memory, int byte, size_t bytes, RvEngine engine, RvStream stream);

/* 1 when `plane` is a valid view: not NULL, of that size, with an aligned stride of at least a
 * row. */
int rv_plane_fits(const RvPlane *plane, int width, int height, RvFormat format);

/* Threads of the CPU engine: `requested`, or every processor this process may use when 0. */
int rv_threads(int requested);

/* Same as the CPU functions of the same name, defined in rv_cuda.cu, absent without CUDA. */
void *rv_cuda_alloc(size_t bytes);
void rv_cuda_free(void *memory);
RvStatus rv_cuda_fill(void *memory, int byte, size_t bytes, RvStream stream);

/* Instruction sets of this CPU, each including those before it. */
typedef enum RvCpuLevel {
  RV_CPU_BASE = 0,
  RV_CPU_AVX2,
  RV_CPU_AVX512,      /* F, BW, VL, DQ */
  RV_CPU_AVX512_VBMI, /* and VBMI, BITALG, VNNI */
} RvCpuLevel;
RvCpuLevel rv_cpu_level(void);

/* Defines function (index): of the tables prefix_avx512, _avx2 and _base of a source that is
 * compiled once per instruction set, number `index` of those that this CPU can use, the widest
 * first; NULL beyond. `widest` is the level that _avx512 requires. */
#if defined(__x86_64__)
#  define RV_CPU_KERNELS(Type, function, prefix, widest)                                           \
    const Type *function(int index) {                                                              \
      static const Type *const all[] = {&prefix##_avx512, &prefix##_avx2, &prefix##_base};         \
      const RvCpuLevel level = rv_cpu_level();                                                     \
      index += level >= (widest) ? 0 : level >= RV_CPU_AVX2 ? 1 : 2;                               \
      return index < 3 ? all[index] : NULL;                                                        \
    }
#else
#  define RV_CPU_KERNELS(Type, function, prefix, widest)                                           \
    const Type *function(int index) {                                                              \
      return index < 1 ? &prefix##_base : NULL;                                                    \
    }
#endif

/* --- Arena: one block per object and engine, carved into aligned pieces. -----------------------
 *
 * A layout function takes every piece twice: first on a fresh arena without memory, which only
 * counts, then on the block. Builds with RV_CANARIES put guard bytes before, between and after the
 * pieces, which the tests check.
 *
 *   | guard | piece 0 ... | guard | piece 1 ... | guard |
 */
#define RV_ARENA_ALIGN 256
#define RV_ARENA_GUARD 256
#define RV_ARENA_GUARD_BYTE 0xA5
#define RV_ARENA_PIECES 48

typedef struct RvArena {
  char *memory; /* NULL while counting */
  size_t used;  /* bytes */
  RvEngine engine;
  int pieces;
  size_t guard[RV_ARENA_PIECES + 1]; /* offsets of the guards */
} RvArena;

/* Next piece of at least `bytes`, aligned to RV_ARENA_ALIGN; while counting, NULL. */
void *rv_arena_take(RvArena *arena, size_t bytes);

/* Bytes the block needs once every piece has been taken. */
size_t rv_arena_size(const RvArena *arena);

/* Turns a counted arena into one with memory, ready to take the same pieces again. */
RvStatus rv_arena_open(RvArena *arena, RvEngine engine);
void rv_arena_close(RvArena *arena);

#ifdef __cplusplus
}
#endif
#endif
