/* SPDX-License-Identifier: MIT */
/* contract_memory.c: counts and rejects the library's memory (linked with --wrap), and what must
 * hold then: a failed allocation at every step leaves nothing behind, the stated workspace is what
 * is taken. */
#include "contract_run.h"

#include "rv_config.h"
#include "rv_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if RV_HAVE_CUDA
#  include <cuda_runtime_api.h>
#endif

#define ARENAS 64

static struct {
  pthread_mutex_t lock;
  AllocTracker tracker;
  long refuse;
  const RvArena *arenas[ARENAS];
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The function of the library or of libc, and the one that the linker calls in its place (--wrap). */
#define WRAPPED(result, name, ...)                                                                 \
  result __real_##name(__VA_ARGS__);                                                               \
  result __wrap_##name(__VA_ARGS__);
WRAPPED(void *, rv_memory_alloc, size_t bytes, RvEngine engine)
WRAPPED(void, rv_memory_free, void *memory, RvEngine engine)
WRAPPED(RvStatus, rv_arena_open, RvArena *arena, RvEngine engine)
WRAPPED(void, rv_arena_close, RvArena *arena)
WRAPPED(void *, malloc, size_t bytes)
WRAPPED(void *, calloc, size_t count, size_t bytes)
WRAPPED(void *, realloc, void *memory, size_t bytes)

/* Counts a call of the library's allocator; 1 when it is to fail. */
static int note_memory(size_t bytes, RvEngine engine) {
  pthread_mutex_lock(&watch.lock);
  const int refused = watch.refuse > 0 && --watch.refuse == 0;
  watch.tracker.calls++;
  if (!refused) {
    watch.tracker.blocks++;
    watch.tracker.bytes[engine == RV_CUDA] += bytes;
  }
  pthread_mutex_unlock(&watch.lock);
  return refused;
}

static void note_malloc(void) {
  pthread_mutex_lock(&watch.lock);
  watch.tracker.calls++;
  pthread_mutex_unlock(&watch.lock);
}

void *__wrap_rv_memory_alloc(size_t bytes, RvEngine engine) {
  return note_memory(bytes, engine) ? NULL : __real_rv_memory_alloc(bytes, engine);
}

void __wrap_rv_memory_free(void *memory, RvEngine engine) {
  if (memory) {
    pthread_mutex_lock(&watch.lock);
    watch.tracker.blocks--;
    pthread_mutex_unlock(&watch.lock);
  }
  __real_rv_memory_free(memory, engine);
}

static void swap_arena(const RvArena *from, const RvArena *to) {
  pthread_mutex_lock(&watch.lock);
  for (int i = 0; i < ARENAS; i++) {
    if (watch.arenas[i] == from) {
      watch.arenas[i] = to;
      break;
    }
  }
  pthread_mutex_unlock(&watch.lock);
}

RvStatus __wrap_rv_arena_open(RvArena *arena, RvEngine engine) {
  const RvStatus status = __real_rv_arena_open(arena, engine);
  if (status == RV_OK)
    swap_arena(NULL, arena);
  return status;
}

void __wrap_rv_arena_close(RvArena *arena) {
  swap_arena(arena, NULL);
  __real_rv_arena_close(arena);
}

/* The library's own calls of the C allocator: counted only. (CUDA's runtime, linked statically,
 * comes here too, so nobody looks at `calls` while it works.) */
void *__wrap_malloc(size_t bytes) {
  note_malloc();
  return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
  note_malloc();
  return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
  note_malloc();
  return __real_realloc(memory, bytes);
}

#if RV_HAVE_CUDA
/* Ways to wait or to take memory that run() has no business with. */
#  define WATCH_CUDA(name, params, args, counter)                                                  \
    cudaError_t __real_##name params;                                                              \
    cudaError_t __wrap_##name params;                                                              \
    cudaError_t __wrap_##name params {                                                             \
      pthread_mutex_lock(&watch.lock);                                                             \
      watch.tracker.counter++;                                                                     \
      pthread_mutex_unlock(&watch.lock);                                                           \
      return __real_##name args;                                                                   \
    }
WATCH_CUDA(cudaStreamSynchronize, (cudaStream_t stream), (stream), waits)
WATCH_CUDA(cudaDeviceSynchronize, (void), (), waits)
WATCH_CUDA(cudaEventSynchronize, (cudaEvent_t event), (event), waits)
WATCH_CUDA(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
           (to, from, bytes, kind), waits)
WATCH_CUDA(cudaMalloc, (void **out, size_t bytes), (out, bytes), waits)
WATCH_CUDA(cudaFree, (void *memory), (memory), waits)
#endif

void alloc_tracker_clear(void) {
  pthread_mutex_lock(&watch.lock);
  watch.tracker = (AllocTracker){.blocks = watch.tracker.blocks};
  watch.refuse = 0;
  pthread_mutex_unlock(&watch.lock);
}

AllocTracker alloc_tracker_read(void) {
  pthread_mutex_lock(&watch.lock);
  const AllocTracker tracker = watch.tracker;
  pthread_mutex_unlock(&watch.lock);
  return tracker;
}

void alloc_tracker_refuse(long nth) {
  pthread_mutex_lock(&watch.lock);
  watch.refuse = nth;
  pthread_mutex_unlock(&watch.lock);
}

const char *alloc_tracker_damage(char *text, size_t size) {
  for (int i = 0; i < ARENAS; i++) {
    const RvArena *arena = watch.arenas[i];
    const int guard = arena ? rvc_damaged_guard(arena) : -1;
    if (guard >= 0) {
      snprintf(text, size,
               "guard %d of %d is damaged: piece %d ran over its end, or %d under its start", guard,
               arena->pieces + 1, guard - 1, guard);
      return text;
    }
  }
  return NULL;
}

/* --- What must hold -----------------------------------------------------------------------------
 */

/* The nth allocation fails, for every n. */
static void test_refused_memory(const Contract *c) {
  const int most = 200;
  int steps = 0;
  for (int nth = 1; nth <= most; nth++) {
    Lines lines = {0};
    void *config = contract_config(c, &lines);
    void *object = &lines; /* must become NULL */
    alloc_tracker_clear();
    alloc_tracker_refuse(nth);
    const RvStatus status = c->rules->create(&object, config, c->engine);
    const long before = alloc_tracker_read().blocks;
    alloc_tracker_refuse(0);
    free(config);
    if (status == RV_OK) {
      c->rules->destroy(&object);
      break;
    }
    steps++;
    rvc_true(c->check, c->name, status == RV_ERR_NO_MEMORY,
             "allocation %d refused: status is \"%s\", expected \"%s\"", nth,
             rv_status_text(status), rv_status_text(RV_ERR_NO_MEMORY));
    rvc_true(c->check, c->name, object == NULL, "allocation %d refused: *out is not NULL", nth);
    rvc_true(c->check, c->name, before == 0, "allocation %d refused: %ld blocks are left", nth,
             before);
    rvc_true(c->check, c->name, lines.count == 1, "allocation %d refused: %d log lines, expected 1",
             nth, lines.count);
  }
  rvc_true(c->check, c->name, steps > 0 && steps < most,
           "%d allocations were refused one after the other", steps);
}

/* One call, until none of its allocations is left to reject. */
static void refuse_call(const Contract *c, const RvContractCall *call, const Lines *lines,
                        void *object, void *scene) {
  const int most = 200;
  int steps = 0;
  for (; steps < most; steps++) {
    char what[100];
    snprintf(what, sizeof what, "%s, allocation %d refused", call->name, steps + 1);
    const long blocks = alloc_tracker_read().blocks;
    const int said = lines->count;
    alloc_tracker_refuse(steps + 1);
    const RvStatus status = call->call(object, scene);
    alloc_tracker_refuse(0);
    if (status == RV_OK)
      break;
    const long left = alloc_tracker_read().blocks - blocks;
    rvc_true(c->check, c->name, status == RV_ERR_NO_MEMORY && lines->count - said == 1 && left == 0,
             "%s: status \"%s\", expected \"%s\"; %d log lines, expected 1; %ld blocks are left",
             what, rv_status_text(status), rv_status_text(RV_ERR_NO_MEMORY), lines->count - said,
             left);
    c->rules->scene->keeps(object, scene, what);
  }
  rvc_true(c->check, c->name, steps > 0 && steps < most,
           "%s: %d allocations were refused one after the other", call->name, steps);
}

static void test_refused_calls(const Contract *c) {
  for (size_t i = 0; i < c->rules->call_count; i++) {
    Lines lines = {0};
    void *config = contract_config(c, &lines);
    void *object = NULL;
    alloc_tracker_clear();
    const long before = alloc_tracker_read().blocks;
    if (rvc_true(c->check, c->name, c->rules->create(&object, config, c->engine) == RV_OK,
                 "new: %s", lines.last)) {
      void *scene = c->rules->scene->open(c->check, object, config);
      refuse_call(c, &c->rules->calls[i], &lines, object, scene);
      c->rules->scene->close(scene);
      c->rules->destroy(&object);
    }
    free(config);
    const long left = alloc_tracker_read().blocks - before;
    rvc_true(c->check, c->name, left == 0, "%s: %ld blocks are left after free",
             c->rules->calls[i].name, left);
  }
}

/* index: of `sized`, -1: the usual config. Returns 0 past the last. */
static int test_workspace_of(const Contract *c, int index) {
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  const char *what = index < 0 ? "workspace" : c->rules->sized(index, config);
  if (!what) {
    free(config);
    return 0;
  }
  const size_t stated = c->rules->workspace(config, c->engine);
  void *object = NULL;
  alloc_tracker_clear();
  const RvStatus status = c->rules->create(&object, config, c->engine);
  const size_t taken = alloc_tracker_read().bytes[c->engine];
  free(config);
  c->rules->destroy(&object);
  if (!rvc_true(c->check, c->name, status == RV_OK, "%s: new: %s (%s)", what,
                rv_status_text(status), lines.last))
    return 1;
  /* On the CPU the object itself comes from the same memory. */
  const size_t object_room = c->engine == RV_CPU ? 1 << 20 : 0;
  rvc_true(c->check, c->name, taken >= stated && taken - stated <= object_room,
           "%s: workspace states %zu bytes, new took %zu", what, stated, taken);
  return 1;
}

static void test_workspace(const Contract *c) {
  if (!c->rules->workspace)
    return;
  test_workspace_of(c, -1);
  for (int index = 0; c->rules->sized && test_workspace_of(c, index);)
    index++;
}

static void test_free(const Contract *c) {
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  void *object = NULL;
  alloc_tracker_clear();
  rvc_true(c->check, c->name, c->rules->create(&object, config, c->engine) == RV_OK, "new: %s",
           lines.last);
  free(config);
  c->rules->destroy(&object);
  rvc_true(c->check, c->name, object == NULL, "free does not set NULL");
  c->rules->destroy(&object);
  c->rules->destroy(NULL);
  const long left = alloc_tracker_read().blocks;
  rvc_true(c->check, c->name, left == 0, "%ld blocks are left after free", left);
}

#if RV_HAVE_CUDA
/* Makes and frees so many objects. */
static int make_objects(const Contract *c, int count) {
  for (int i = 0; i < count; i++) {
    Lines lines = {0};
    void *config = contract_config(c, &lines);
    void *object = NULL;
    const RvStatus status = c->rules->create(&object, config, c->engine);
    c->rules->destroy(&object);
    free(config);
    if (!rvc_true(c->check, c->name, status == RV_OK, "new: %s", lines.last))
      return 0;
  }
  return 1;
}
#endif

/* Memory of the device that the tracker cannot see: streams, graphs, events. What is free there also
 * depends on the other programs that use the GPU, but only a leak takes memory in every round. */
static void test_device_leak(const Contract *c) {
#if RV_HAVE_CUDA
  enum { OBJECTS = 50, ROUNDS = 6 };
  size_t before = 0, after = 0, total = 0, lost = 1;
  if (c->engine != RV_CUDA || !make_objects(c, 10)) /* first objects load modules */
    return;
  for (int round = 0; lost > 0 && round < ROUNDS; round++) {
    cudaMemGetInfo(&before, &total);
    if (!make_objects(c, OBJECTS))
      return;
    cudaMemGetInfo(&after, &total);
    lost = after + ((size_t)1 << 20) >= before ? 0 : before - after;
  }
  rvc_true(c->check, c->name, lost == 0,
           "%d objects made and freed: %zu bytes of GPU memory are gone, %d times", OBJECTS, lost,
           ROUNDS);
#else
  (void)c;
#endif
}

void contract_memory(const Contract *c) {
  test_free(c);
  test_refused_memory(c);
  test_refused_calls(c);
  test_workspace(c);
  test_device_leak(c);
}
