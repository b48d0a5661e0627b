/* SPDX-License-Identifier: MIT */
/* rv_object.c: the lifetime of an algorithm's object, and error messages. */
#include "rv_object.h"

#include <stdio.h>
#include <string.h>

static const RvLog *log_of(const RvClass *klass, const void *config) {
  return (const RvLog *)(const void *)((const char *)config + klass->params()->log_offset);
}

static void *plan_of(const RvObject *object) {
  return (char *)(uintptr_t)object + object->klass->plan_offset;
}

void *rv_object_memory(const RvLog *log, const char *algorithm, size_t bytes) {
  void *memory = rv_memory_object(bytes);
  if (!memory)
    rv_log(log, "%s: out of host memory", algorithm);
  return memory;
}

/* --- Checks ---------------------------------------------------------------------------------- */

RvStatus rv_object_check(const RvClass *klass, const void *config) {
  RV_TRY(rv_params_check(klass->params(), config));
  return klass->rules ? klass->rules(config) : RV_OK;
}

RvStatus rv_check_engine(const RvLog *log, const char *algorithm, RvEngine engine) {
  RV_REQUIRE(log, engine == RV_CPU || engine == RV_CUDA,
             "%s: engine is %d, must be RV_CPU (0) or RV_CUDA (1)", algorithm, (int)engine);
  if (engine == RV_CPU)
    return RV_OK;
  char reason[256] = "this build has no CUDA engine";
  if (rv_has_cuda() && rv_cuda_devices(reason, sizeof reason) > 0)
    return RV_OK;
  rv_log(log, "%s: no CUDA engine: %s; use RV_CPU", algorithm, reason);
  return RV_ERR_NO_DEVICE;
}

RvStatus rv_no_engine(const RvLog *log, const char *algorithm, RvEngine engine) {
  rv_log(log, "%s: this build has no engine %d", algorithm, (int)engine);
  return RV_ERR_NO_DEVICE;
}

RvStatus rv_check_plane(const RvLog *log, const char *algorithm, const char *name,
                        const RvPlane *plane, int width, int height, RvFormat format) {
  static const char *const formats[] = {"RV_U8", "RV_U16", "RV_U32", "RV_F32"};
  RV_REQUIRE(log, rv_plane_fits(plane, width, height, format),
             "%s: plane %s must be %s of %d x %d with a stride of at least a row", algorithm, name,
             formats[format], width, height);
  return RV_OK;
}

RvStatus rv_check_optional_plane(const RvLog *log, const char *algorithm, const char *name,
                                 const RvPlane *plane, int width, int height, RvFormat format) {
  if (!plane || !plane->data)
    return RV_OK;
  return rv_check_plane(log, algorithm, name, plane, width, height, format);
}

RvStatus rv_check_aligned(const RvLog *log, const char *algorithm, const char *name,
                          const void *array, size_t alignment) {
  RV_REQUIRE(log, (uintptr_t)array % alignment == 0, "%s: %s must be aligned to %zu bytes",
             algorithm, name, alignment);
  return RV_OK;
}

RvStatus rv_check_range(const RvLog *log, const char *algorithm, const char *name, double value,
                        double low, double high, const char *unit) {
  RV_REQUIRE(log, value >= low && value <= high, "%s: %s is %g %s, must be %g to %g %s", algorithm,
             name, value, unit, low, high, unit);
  return RV_OK;
}

RvStatus rv_check_camera(const RvLog *log, const char *algorithm, const RvCamera *camera,
                         int is_focal_required) {
  RV_REQUIRE(log, camera->focal > 0 || !is_focal_required,
             "%s: focal length is %g px, must be known (above 0)", algorithm, camera->focal);
  RV_TRY(rv_check_range(log, algorithm, "focal length", camera->focal, 0, 1e6, "px"));
  RV_TRY(rv_check_range(log, algorithm, "cx", camera->cx, -1e6, 1e6, "px"));
  RV_TRY(rv_check_range(log, algorithm, "cy", camera->cy, -1e6, 1e6, "px"));
  return rv_check_range(log, algorithm, "doffs", camera->doffs, -4096, 4096, "px");
}

/* --- Life ------------------------------------------------------------------------------------ */

/* Copies the config into the plan and derives the rest. */
static void make_plan(RvObject *object, const void *config) {
  void *plan = plan_of(object);
  memcpy(plan, config, object->klass->params()->config_size);
  if (object->klass->plan)
    object->klass->plan(plan);
}

size_t rv_object_workspace(const RvClass *klass, const void *config, RvEngine engine) {
  if (rv_object_check(klass, config) != RV_OK || (engine != RV_CPU && engine != RV_CUDA) ||
      !klass->engines[engine])
    return 0;
  const RvEngineBase *base = klass->engines[engine];
  RvObject *object = rv_memory_object(klass->object_size);
  void *work = rv_memory_object(base->work_size);
  size_t bytes = 0;
  if (object && work) {
    RvArena counted = {0};
    object->klass = klass;
    make_plan(object, config);
    if (base->layout) {
      base->layout(work, plan_of(object), &counted);
      bytes = rv_arena_size(&counted);
    }
    bytes += klass->extra ? klass->extra(plan_of(object), engine) : 0;
  }
  rv_memory_free(work, RV_CPU);
  rv_memory_free(object, RV_CPU);
  return bytes;
}

static void describe(const RvObject *object, char *text, size_t size) {
  const RvClass *klass = object->klass;
  const void *plan = plan_of(object);
  char width[16] = "", height[16] = "";
  if (klass->describe) {
    klass->describe(plan, text, size);
    return;
  }
  rv_params_get(klass->params(), plan, "width", width, sizeof width);
  rv_params_get(klass->params(), plan, "height", height, sizeof height);
  snprintf(text, size, "%s x %s pixels", width, height);
}

static RvStatus open_arena(RvObject *object, const RvLog *log) {
  const RvClass *klass = object->klass;
  object->base->layout(object->work, plan_of(object), &object->arena);
  const double mebibytes = (double)rv_arena_size(&object->arena) / 1048576;
  const RvStatus status = rv_arena_open(&object->arena, object->engine);
  if (status != RV_OK) {
    char what[256] = "";
    describe(object, what, sizeof what);
    rv_log(log, "%s: cannot take %.1f MiB of %s memory for %s", klass->params()->name, mebibytes,
           object->engine == RV_CUDA ? "GPU" : "host", what);
    return status;
  }
  object->base->layout(object->work, plan_of(object), &object->arena);
  return RV_OK;
}

/* Fills a cleared object; on failure the caller frees what it has taken. */
static RvStatus open_object(RvObject *object, const RvLog *log) {
  const RvEngineBase *base = object->base;
  object->work = rv_object_memory(log, object->klass->params()->name, base->work_size);
  if (!object->work)
    return RV_ERR_NO_MEMORY;
  if (base->layout)
    RV_TRY(open_arena(object, log));
  if (base->open)
    RV_TRY(base->open(object->work, plan_of(object)));
  return object->klass->open ? object->klass->open(object) : RV_OK;
}

RvStatus rv_object_new(const RvClass *klass, void **out, const void *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_object_check(klass, config));
  const RvLog *log = log_of(klass, config);
  RV_TRY(rv_check_engine(log, klass->params()->name, engine));
  RvObject *object = rv_object_memory(log, klass->params()->name, klass->object_size);
  if (!object)
    return RV_ERR_NO_MEMORY;
  object->klass = klass;
  object->engine = engine;
  object->base = klass->engines[engine];
  make_plan(object, config);
  const RvStatus status = open_object(object, log);
  if (status != RV_OK) {
    rv_object_free(object);
    return status;
  }
  *out = object;
  return RV_OK;
}

void rv_object_free(void *memory) {
  RvObject *object = memory;
  if (!object)
    return;
  if (object->klass->close)
    object->klass->close(object);
  if (object->work && object->base->close)
    object->base->close(object->work);
  rv_arena_close(&object->arena);
  rv_memory_free(object->work, RV_CPU);
  rv_memory_free(object, RV_CPU);
}
