/* SPDX-License-Identifier: MIT */
/* rv_core.c: status texts, log, buffers, planes, threads, and the arena. */
#include "rv_internal.h"
#include "rv_config.h"
#include "rv_openmp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *rv_status_text(RvStatus status) {
  switch (status) {
  case RV_OK:
    return "no error";
  case RV_ERR_ARG:
    return "invalid argument";
  case RV_ERR_NO_MEMORY:
    return "out of memory";
  case RV_ERR_NO_DEVICE:
    return "no usable CUDA device";
  case RV_ERR_CUDA:
    return "a CUDA call failed";
  case RV_ERR_IO:
    return "a file could not be read or written";
  }
  return "unknown status";
}

const char *rv_version(void) {
  return RV_VERSION;
}

int rv_has_cuda(void) {
  return RV_HAVE_CUDA;
}

void rv_log(const RvLog *log, const char *format, ...) {
  if (!log || !log->line)
    return;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  log->line(log->user, text);
}

void *rv_memory_object(size_t bytes) {
  void *memory = rv_memory_alloc(bytes, RV_CPU);
  if (memory)
    memset(memory, 0, bytes);
  return memory;
}

RvStatus rv_memory_fill(void *memory, int byte, size_t bytes, RvEngine engine, RvStream stream) {
#if RV_HAVE_CUDA
  if (engine == RV_CUDA)
    return rv_cuda_fill(memory, byte, bytes, stream);
#endif
  (void)stream;
  if (engine != RV_CPU)
    return RV_ERR_NO_DEVICE;
  memset(memory, byte, bytes);
  return RV_OK;
}

RvStatus rv_buffer_new(void **out, size_t bytes, RvEngine engine) {
  if (!out || bytes == 0)
    return RV_ERR_ARG;
  *out = NULL;
  if (engine == RV_CUDA && rv_cuda_devices(NULL, 0) == 0)
    return RV_ERR_NO_DEVICE;
  *out = rv_memory_alloc(bytes, engine);
  return *out ? RV_OK : RV_ERR_NO_MEMORY;
}

void rv_buffer_free(void **buffer, RvEngine engine) {
  if (!buffer || !*buffer)
    return;
  rv_memory_free(*buffer, engine);
  *buffer = NULL;
}

size_t rv_format_bytes(RvFormat format) {
  switch (format) {
  case RV_U8:
    return 1;
  case RV_U16:
    return 2;
  case RV_U32:
  case RV_F32:
    return 4;
  }
  return 0;
}

int rv_plane_fits(const RvPlane *plane, int width, int height, RvFormat format) {
  if (!plane || !plane->data || plane->format != format)
    return 0;
  const size_t pixel = rv_format_bytes(format);
  return plane->width == width && plane->height == height &&
         plane->stride >= (ptrdiff_t)(pixel * (size_t)width) &&
         plane->stride % (ptrdiff_t)pixel == 0 && (uintptr_t)plane->data % pixel == 0;
}

RvCpuLevel rv_cpu_level(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bitalg") &&
                   __builtin_cpu_supports("avx512vnni")
               ? RV_CPU_AVX512_VBMI
               : RV_CPU_AVX512;
  if (__builtin_cpu_supports("avx2"))
    return RV_CPU_AVX2;
#endif
  return RV_CPU_BASE;
}

int rv_threads(int requested) {
  return requested > 0 ? requested : omp_get_num_procs();
}

void *rv_arena_take(RvArena *arena, size_t bytes) {
  if (arena->pieces < 0 || arena->pieces >= RV_ARENA_PIECES) {
    arena->pieces = -1; /* a layout with too many pieces is rejected by rv_arena_open */
    return NULL;
  }
  if (RV_CANARIES) {
    arena->guard[arena->pieces] = arena->used;
    arena->used += RV_ARENA_GUARD;
  }
  char *piece = arena->memory ? arena->memory + arena->used : NULL;
  /* Without canaries the tail of a piece is padding; with them it belongs to the next guard, so
   * that writing one byte too many is seen. */
  arena->used += (bytes + RV_ARENA_ALIGN - 1) / RV_ARENA_ALIGN * RV_ARENA_ALIGN;
  arena->pieces++;
  return piece;
}

size_t rv_arena_size(const RvArena *arena) {
  return arena->used + (RV_CANARIES ? RV_ARENA_GUARD : 0);
}

RvStatus rv_arena_open(RvArena *arena, RvEngine engine) {
  if (arena->pieces < 0)
    return RV_ERR_ARG;
  const size_t bytes = rv_arena_size(arena);
  char *memory = rv_memory_alloc(bytes, engine);
  if (!memory)
    return RV_ERR_NO_MEMORY;
  if (RV_CANARIES && rv_memory_fill(memory, RV_ARENA_GUARD_BYTE, bytes, engine, NULL) != RV_OK) {
    rv_memory_free(memory, engine);
    return RV_ERR_CUDA;
  }
  memset(arena, 0, sizeof *arena);
  arena->memory = memory;
  arena->engine = engine;
  return RV_OK;
}

void rv_arena_close(RvArena *arena) {
  if (arena->memory)
    rv_memory_free(arena->memory, arena->engine);
  memset(arena, 0, sizeof *arena);
}

#if !RV_HAVE_CUDA
int rv_cuda_devices(char *reason, size_t size) {
  if (reason && size)
    snprintf(reason, size, "it was built without CUDA (no nvcc was found, or -Dcuda=disabled)");
  return 0;
}

RvStatus rv_cuda_use_device(int device) {
  (void)device;
  return RV_ERR_NO_DEVICE;
}

#  define NO_COPY(name)                                                                            \
    RvStatus name(void *to, const void *from, size_t bytes, RvStream stream) {                     \
      (void)to, (void)from, (void)bytes, (void)stream;                                             \
      return RV_ERR_NO_DEVICE;                                                                     \
    }
NO_COPY(rv_copy_to_device)
NO_COPY(rv_copy_to_host)
NO_COPY(rv_copy_device)

RvStatus rv_copy_rows(void *to, ptrdiff_t to_stride, RvEngine to_engine, const void *from,
                      ptrdiff_t from_stride, RvEngine from_engine, size_t row_bytes, int rows,
                      RvStream stream) {
  (void)stream;
  if (to_engine != RV_CPU || from_engine != RV_CPU)
    return RV_ERR_NO_DEVICE;
  for (int y = 0; y < rows; y++)
    memcpy((char *)to + y * to_stride, (const char *)from + y * from_stride, row_bytes);
  return RV_OK;
}

RvStatus rv_stream_new(RvStream *out) {
  if (out)
    *out = NULL;
  return RV_ERR_NO_DEVICE;
}

void rv_stream_free(RvStream *stream) {
  if (stream)
    *stream = NULL;
}

RvStatus rv_stream_wait(RvStream stream) {
  (void)stream;
  return RV_ERR_NO_DEVICE;
}
#endif
