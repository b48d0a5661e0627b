/* SPDX-License-Identifier: MIT */
/* rv.h: status codes, log, planes, memory and streams, for all parts of libroadvision-0. Plain C99:
 * no GLib, no GStreamer, no CUDA header.
 *
 * Rules of all algorithms:
 *  - An algorithm is one object: rv_x_config_init, rv_x_workspace, rv_x_new, rv_x_run, rv_x_free.
 *  - All memory is allocated in _new. _run neither allocates nor waits for the GPU: with RV_CUDA it
 *    enqueues its work on the caller's stream and returns, with RV_CPU it returns when the result
 *    is complete.
 *  - RV_CPU and RV_CUDA give the same bits.
 *  - Objects are independent: several threads may use one object each, but only one thread at a
 *    time may use the same object.
 *  - _free takes the address of the pointer, accepts NULL and a NULL object, and sets NULL.
 *  - A config is copied: it may be freed as soon as the function has returned.
 *  - Every function that can fail returns RvStatus and writes one log line where the failure
 *    happened. After RV_ERR_ARG nothing has changed; after RV_ERR_CUDA only _free is valid for that
 *    object.
 */
#ifndef RV_H
#define RV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#  define RV_API __attribute__((visibility("default")))
#  define RV_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#  define RV_API
#  define RV_PRINTF(fmt, args)
#endif

typedef enum RvStatus {
  RV_OK = 0,
  RV_ERR_ARG,       /* an argument violates a documented rule; nothing has changed */
  RV_ERR_NO_MEMORY, /* host or GPU memory exhausted */
  RV_ERR_NO_DEVICE, /* no driver, no usable GPU, or built without CUDA */
  RV_ERR_CUDA,      /* a CUDA call failed; only _free is valid */
  RV_ERR_IO,        /* a file could not be read, parsed or written */
} RvStatus;

/* The engine, and the memory of its planes and images: host (RV_CPU) or device (RV_CUDA). */
typedef enum RvEngine {
  RV_CPU = 0, /* host memory; C, threads and vector instructions */
  RV_CUDA,    /* memory of the current CUDA device; rv_x_run requires its context to be current */
} RvEngine;

/* A CUDA stream (CUstream and cudaStream_t are this type). NULL is the default stream; the CPU
 * engine ignores it. */
typedef struct CUstream_st *RvStream;

typedef enum RvFormat { RV_U8 = 0, RV_U16, RV_U32, RV_F32 } RvFormat;

/* A view of a raster; the caller owns the memory, which the engine can access. */
typedef struct RvPlane {
  void *data;
  ptrdiff_t stride; /* bytes from one row to the next; at least width x bytes per pixel */
  int width;        /* px */
  int height;       /* px */
  RvFormat format;
} RvPlane;

/* Receives complete lines without a newline; called from the thread that called the library. */
typedef struct RvLog {
  void (*line)(void *user, const char *text); /* NULL: silent */
  void *user;
} RvLog;

/* A rectified stereo camera; the depth of a left pixel is Z = focal * baseline / (d + doffs).
 * 0 = unknown; cx, cy and doffs are valid only where focal is known, pitch where height is. */
typedef struct RvCamera {
  double focal;    /* px */
  double cx, cy;   /* principal point of the left image, px */
  double doffs;    /* px: difference of the principal points, 0 for a plain rig */
  double baseline; /* m */
  double height;   /* m above the ground */
  double pitch;    /* degrees, positive when looking down */
} RvCamera;

/* Largest image side that every algorithm accepts, px. */
#define RV_MAX_SIDE 16384

/* Returns a text in lower case without full stop: "no usable CUDA device". Never NULL. */
RV_API const char *rv_status_text(RvStatus status);

/* Version of the library: "0.2.0". */
RV_API const char *rv_version(void);

/* Returns 1 if this build contains the CUDA engine, whether or not the machine has a GPU. */
RV_API int rv_has_cuda(void);

/* Returns the number of usable CUDA devices; 0 without driver, device or CUDA build: then `reason`
 * (`size` bytes; may be NULL) states why, in one line. May be called from any thread. */
RV_API int rv_cuda_devices(char *reason, size_t size);

/* Makes `device` (0..) current for the calling thread with the CUDA runtime, for programs that do
 * not manage CUDA contexts. */
RV_API RvStatus rv_cuda_use_device(int device);

/* Memory of an engine, for callers without an allocator; not cleared. The caller frees it with
 * rv_buffer_free, which accepts NULL and sets *buffer to NULL.
 * rv_copy_* return when the copy is complete if `stream` is NULL; else they enqueue it. */
RV_API RvStatus rv_buffer_new(void **out, size_t bytes, RvEngine engine);
RV_API void rv_buffer_free(void **buffer, RvEngine engine);
RV_API RvStatus rv_copy_to_device(void *device, const void *host, size_t bytes, RvStream stream);
RV_API RvStatus rv_copy_to_host(void *host, const void *device, size_t bytes, RvStream stream);
RV_API RvStatus rv_copy_device(void *to, const void *from, size_t bytes, RvStream stream);

/* Copies `rows` rows of `row_bytes`; the engines specify where `to` and `from` are. */
RV_API RvStatus rv_copy_rows(void *to, ptrdiff_t to_stride, RvEngine to_engine, const void *from,
                             ptrdiff_t from_stride, RvEngine from_engine, size_t row_bytes,
                             int rows, RvStream stream);

/* Creates a stream with default flags on the current device, frees it, and waits until its work has
 * finished. In builds without CUDA rv_stream_new returns RV_ERR_NO_DEVICE and *out is NULL, a valid
 * stream for RV_CPU. */
RV_API RvStatus rv_stream_new(RvStream *out);
RV_API void rv_stream_free(RvStream *stream);
RV_API RvStatus rv_stream_wait(RvStream stream);

/* Returns the bytes of one pixel. */
RV_API size_t rv_format_bytes(RvFormat format);

#ifdef __cplusplus
}
#endif
#endif
