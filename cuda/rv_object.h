/* SPDX-License-Identifier: MIT */
/* rv_object.h: the lifetime of an algorithm's object: engine, plan, memory, checks of planes, and
 * error messages. Not installed.
 *
 * An algorithm x adds four things:
 *   params  its table of parameters (rv_params_table.h)
 *   plan    struct RvXPlan: begins with the config, followed by every constant derived from it
 *   stages  struct RvXStages, one per engine: begins with RvEngineBase, followed by its stages, all
 *           of the form RvStatus stage (void *work, RvXJob *job)
 *   class   an RvClass that joins them
 *
 * and states them by macros:
 *   x.h         RV_ALGORITHM_API (RvX, x);
 *   x_stages.h  RV_STAGES (RvX, x, RvXJob, *first, *second);
 *   x.c         RV_OBJECT_STRUCT (RvX);
 *               RV_CLASS (RvX, x, .plan = make_plan);
 *   x_cpu.c     RV_ENGINE (RvX, x, cpu, Work, layout, open, NULL, .first = first, ...);
 *   x_cuda.cu   RV_ENGINE (RvX, x, cuda, Work, layout, open, nullptr, first, second);
 */
#ifndef RV_OBJECT_H
#define RV_OBJECT_H

#include "rv_config.h"
#include "rv_params_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* First member of the table of an engine. `work` is the engine's own struct of `work_size` bytes
 * in host memory, cleared before the first layout. */
typedef struct RvEngineBase {
  size_t work_size;
  /* Takes the same pieces each time: first from a counting arena, then from the open one. Works
   * without a device: the workspace can be stated without one. NULL: no memory. */
  void (*layout)(void *work, const void *plan, RvArena *arena);
  /* After the arena is open: tables, attributes, streams. May wait. May be NULL. */
  RvStatus (*open)(void *work, const void *plan);
  /* Undoes open; called for half-opened work too. May be NULL. */
  void (*close)(void *work);
} RvEngineBase;

typedef struct RvClass {
  const RvParams *(*params)(void);
  size_t object_size; /* of struct RvX */
  size_t plan_offset; /* of its plan */
  /* Rules that join several fields, after every field alone is valid; logs. May be NULL. */
  RvStatus (*rules)(const void *config);
  /* Fills the plan after its config, which is set and valid. NULL: the config is the plan. */
  void (*plan)(void *plan);
  /* "640 x 480 pixels and 128 disparities", for the message that there is no memory. NULL: width
   * and height. */
  void (*describe)(const void *plan, char *text, size_t size);
  /* Makes what the object owns in addition to its engine; called last. May be NULL. */
  RvStatus (*open)(void *object);
  /* Undoes open, of a half-opened object too. May be NULL. */
  void (*close)(void *object);
  /* Bytes that open takes of the engine's memory. NULL: none. */
  size_t (*extra)(const void *plan, RvEngine engine);
  const RvEngineBase *engines[2]; /* by RvEngine; NULL when not in this build */
} RvClass;

/* Declares RvXStage, the type of a stage; RvXStages with the stages of the list, in the order in
 * which run () calls them; and the tables of both engines. Job: RvXJob or const RvXJob. */
#define RV_STAGES(Type, x, Job, ...)                                                               \
  typedef RvStatus Type##Stage(void *work, Job *job);                                              \
  typedef struct Type##Stages {                                                                    \
    RvEngineBase base;                                                                             \
    Type##Stage __VA_ARGS__;                                                                       \
  } Type##Stages;                                                                                  \
  extern const Type##Stages rv_##x##_stages_cpu, rv_##x##_stages_cuda

/* Defines the table of an engine (cpu or cuda) whose work is a Work: the functions of its
 * RvEngineBase, then its stages. */
#define RV_ENGINE(Type, x, engine, Work, layout, open, close, ...)                                 \
  const Type##Stages rv_##x##_stages_##engine = {{sizeof(Work), layout, open, close}, __VA_ARGS__}

#if RV_HAVE_CUDA
#  define RV_ENGINES(x)                                                                            \
    { &rv_##x##_stages_cpu.base, &rv_##x##_stages_cuda.base }
#else
#  define RV_ENGINES(x)                                                                            \
    { &rv_##x##_stages_cpu.base, NULL }
#endif

/* First member of every object. */
typedef struct RvObject {
  const RvClass *klass;
  const RvEngineBase *base; /* the stages of `engine` */
  RvEngine engine;
  RvArena arena;
  void *work;
} RvObject;

RvStatus rv_object_check(const RvClass *klass, const void *config);
size_t rv_object_workspace(const RvClass *klass, const void *config, RvEngine engine);
RvStatus rv_object_new(const RvClass *klass, void **out, const void *config, RvEngine engine);
void rv_object_free(void *object);

/* An object of its plan alone, and Config, the name that the macros of the table of parameters use
 * for its config. */
#define RV_OBJECT_STRUCT(Type)                                                                     \
  struct Type {                                                                                    \
    RvObject object;                                                                               \
    Type##Plan plan;                                                                               \
  };                                                                                               \
  typedef Type##Config Config

/* The public functions of type Type with prefix rv_x_ that do not name an engine, over the RvClass
 * `klass`. */
#define RV_OBJECT_COMMON(Type, x, klass)                                                           \
  void rv_##x##_config_init(Type##Config *config) {                                                \
    rv_params_defaults(rv_##x##_params(), config);                                                 \
  }                                                                                                \
  RvStatus rv_##x##_config_check(const Type##Config *config) {                                     \
    return rv_object_check(&(klass), config);                                                      \
  }                                                                                                \
  void rv_##x##_free(Type **object) {                                                              \
    if (object) {                                                                                  \
      rv_object_free(*object);                                                                     \
      *object = NULL;                                                                              \
    }                                                                                              \
  }                                                                                                \
  struct RvObject /* takes the semicolon */

/* All public functions that RV_ALGORITHM_API declares but the one of the parameters. */
#define RV_OBJECT(Type, x, klass)                                                                  \
  RV_OBJECT_COMMON(Type, x, klass);                                                                \
  size_t rv_##x##_workspace(const Type##Config *config, RvEngine engine) {                         \
    return rv_object_workspace(&(klass), config, engine);                                          \
  }                                                                                                \
  RvStatus rv_##x##_new(Type **out, const Type##Config *config, RvEngine engine) {                 \
    void *object = NULL;                                                                           \
    const RvStatus status = rv_object_new(&(klass), out ? &object : NULL, config, engine);         \
    if (out)                                                                                       \
      *out = (Type *)object;                                                                       \
    return status;                                                                                 \
  }                                                                                                \
  struct RvObject /* takes the semicolon */

/* The members of an RvClass that follow from the names. */
#define RV_CLASS_NAMES(Type, x)                                                                    \
  .params = rv_##x##_params, .object_size = sizeof(Type), .plan_offset = offsetof(Type, plan)

/* The class of an algorithm of two engines, from further members of RvClass, and its functions:
 *   RV_CLASS (RvRdp, rdp, .plan = make_plan); */
#define RV_CLASS(Type, x, ...)                                                                     \
  static const RvClass klass = {RV_CLASS_NAMES(Type, x), .engines = RV_ENGINES(x), __VA_ARGS__};   \
  RV_OBJECT(Type, x, klass)

/* Defines open_cpu and the stage reset of an engine whose member `state` is all that is kept
 * between runs: both clear it. */
#define RV_CLEARED_STATE(Work, Job)                                                                \
  static RvStatus open_cpu(void *work, const void *plan) {                                         \
    memset(((Work *)work)->state, 0, sizeof *((Work *)work)->state);                               \
    return RV_OK;                                                                                  \
  }                                                                                                \
  static RvStatus reset(void *work, Job *job) {                                                    \
    return open_cpu(work, job->plan);                                                              \
  }                                                                                                \
  struct RvObject /* takes the semicolon */

/* rv_x_reset (): the stage of that name, of the object's engine. */
#define RV_OBJECT_RESET(Type, x)                                                                   \
  RvStatus rv_##x##_reset(Type *object, RvStream stream) {                                         \
    if (!object)                                                                                   \
      return RV_ERR_ARG;                                                                           \
    Type##Job job = {.plan = &object->plan, .stream = stream};                                     \
    return ((const Type##Stages *)object->object.base)->reset(object->object.work, &job);          \
  }                                                                                                \
  struct RvObject /* takes the semicolon */

/* RV_OK when `plane` is a view of width x height of that format; logs "sgm: plane left must be
 * ...". */
RvStatus rv_check_plane(const RvLog *log, const char *algorithm, const char *name,
                        const RvPlane *plane, int width, int height, RvFormat format);

/* The same for a plane that may be absent (NULL, or data NULL). */
RvStatus rv_check_optional_plane(const RvLog *log, const char *algorithm, const char *name,
                                 const RvPlane *plane, int width, int height, RvFormat format);

/* RV_OK for an array aligned to `alignment` bytes, and for NULL; logs "rdp: segments must be
 * aligned to 4 bytes". */
RvStatus rv_check_aligned(const RvLog *log, const char *algorithm, const char *name,
                          const void *array, size_t alignment);

/* RV_OK for low <= value <= high, not for NaN; logs "lanes: baseline is 0 m, must be 0.001 to 1000
 * m". */
RvStatus rv_check_range(const RvLog *log, const char *algorithm, const char *name, double value,
                        double low, double high, const char *unit);

/* RV_OK for a camera whose focal length (0 = unknown, unless required), principal point and doffs
 * are in the range of every algorithm. */
RvStatus rv_check_camera(const RvLog *log, const char *algorithm, const RvCamera *camera,
                         int is_focal_required);

/* RV_OK for an engine that this build contains and that finds a device. */
RvStatus rv_check_engine(const RvLog *log, const char *algorithm, RvEngine engine);

/* Of a function without an object: `call` where the engine is RV_CUDA and in this build. */
#if RV_HAVE_CUDA
#  define RV_ON_CUDA(engine, call)                                                                 \
    do {                                                                                           \
      if ((engine) == RV_CUDA)                                                                     \
        return call;                                                                               \
    } while (0)
#else
#  define RV_ON_CUDA(engine, call) ((void)0)
#endif

/* RV_ERR_NO_DEVICE, after logging, for an engine that this build does not contain. */
RvStatus rv_no_engine(const RvLog *log, const char *algorithm, RvEngine engine);

/* Host memory for an object, cleared; logs when there is none. */
void *rv_object_memory(const RvLog *log, const char *algorithm, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
