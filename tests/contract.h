/* SPDX-License-Identifier: MIT */
/* contract.h: how an algorithm shows itself to the contract test, which holds all of them to the
 * habits that rv.h states. Every cuda/x/x_contract.c defines `const RvContract rv_x_contract`. */
#ifndef RV_CONTRACT_H
#define RV_CONTRACT_H

#include <stddef.h>

#include "rv_params.h"
#include "rvcheck.h"

#define RV_CONTRACT_PLANES 8 /* of one run, at most */
#define RV_CONTRACT_VALUES 8 /* of one field, at most */

typedef struct RvContractList {
  int count;
  double values[RV_CONTRACT_VALUES];
} RvContractList;

/* A member of the config that has a range: int, enum or uint32_t unless is_double. */
typedef struct RvContractField {
  const char *name;
  size_t offset;
  int is_double;
  RvContractList bad;  /* each alone makes the config invalid */
  RvContractList good; /* each alone leaves it valid: the ends of the range */
} RvContractField;

/* Entries of `fields`, a member of Config (see RV_CONTRACT_OBJECT) with its two lists. */
#define INT_FIELD(member, bad, good)                                                               \
  { #member, offsetof(Config, member), 0, bad, good }
#define REAL_FIELD(member, bad, good)                                                              \
  { #member, offsetof(Config, member), 1, bad, good }
#define LIST(...)                                                                                  \
  {                                                                                                \
    (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), {                                     \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

/* What run() must reject about a plane. */
enum { RV_RULE_DATA = 1, RV_RULE_SIZE = 2, RV_RULE_STRIDE = 4, RV_RULE_FORMAT = 8, RV_RULES = 15 };

typedef struct RvContractPlane {
  const char *name;
  RvFormat format;
  int width, height; /* px */
  int is_input;      /* filled before run */
  int limit;         /* inputs of more than 8 bits: largest value; 0: any */
  unsigned rules;
} RvContractPlane;

/* A call other than run() that takes memory while it works. */
typedef struct RvContractCall {
  const char *name;
  RvStatus (*call)(void *object, void *scene);
} RvContractCall;

/* What such calls need. */
typedef struct RvContractScene {
  /* Gives the object something to keep; not NULL. */
  void *(*open)(RvCheck *check, void *object, const void *config);
  /* Counts a failure unless the object is as open() left it. */
  void (*keeps)(void *object, void *scene, const char *what);
  void (*close)(void *scene);
} RvContractScene;

typedef struct RvContract {
  const char *name;
  size_t config_size, log_offset;
  int cpu_only;               /* 1: create ignores the engine */
  void (*init)(void *config); /* a valid config of about 100 x 60 px; two threads */
  RvStatus (*check)(const void *config);
  size_t (*workspace)(const void *config, RvEngine engine); /* NULL: none stated */
  RvStatus (*create)(void **out, const void *config, RvEngine engine);
  void (*destroy)(void **object);
  /* The planes of one run, inputs and outputs; returns their number. */
  int (*planes)(const void *config, RvContractPlane *planes);
  RvStatus (*run)(void *object, const RvPlane *planes, RvStream stream);
  int is_several; /* run is several calls: those before a rejected one may have written */
  /* The table of parameters: values at, below and above each end of the ranges are tried. */
  const RvParams *(*params)(void);
  /* Fields whose values differ from those of the table, because a rule joins them with others or
   * the table has no range for them. */
  const RvContractField *fields;
  size_t field_count;
  /* Further invalid configs: changes a valid one, returns what is wrong; NULL past the last. May
   * be NULL. */
  const char *(*bad)(int index, void *config);
  /* Further valid configs that take their memory in another way, as above. May be NULL. */
  const char *(*sized)(int index, void *config);
  /* Each allocation of each of these is rejected in turn; may be NULL. */
  const RvContractScene *scene;
  const RvContractCall *calls;
  size_t call_count;
  /* Promises of this algorithm alone; may be NULL. */
  void (*extra)(RvCheck *check);
} RvContract;

/* The functions of type Type in the shape above, for an object made by `make` (as rv_x_new). */
#define RV_CONTRACT_OBJECT_MADE_BY(Type, x, make)                                                  \
  typedef Type##Config Config;                                                                     \
  static RvStatus check(const void *config) {                                                      \
    return rv_##x##_config_check(config);                                                          \
  }                                                                                                \
  static RvStatus create(void **out, const void *config, RvEngine engine) {                        \
    if (!out)                                                                                      \
      return make(NULL, config, engine);                                                           \
    Type *object = *out;                                                                           \
    const RvStatus status = make(&object, config, engine);                                         \
    *out = object;                                                                                 \
    return status;                                                                                 \
  }                                                                                                \
  static void destroy(void **out) {                                                                \
    Type *object = out ? *out : NULL;                                                              \
    rv_##x##_free(out ? &object : NULL);                                                           \
    if (out)                                                                                       \
      *out = object;                                                                               \
  }                                                                                                \
  struct RvContract /* takes the semicolon */

/* The same for an algorithm of two engines. */
#define RV_CONTRACT_OBJECT(Type, x)                                                                \
  static size_t workspace(const void *config, RvEngine engine) {                                   \
    return rv_##x##_workspace(config, engine);                                                     \
  }                                                                                                \
  RV_CONTRACT_OBJECT_MADE_BY(Type, x, rv_##x##_new)

/* The members that every algorithm has, from functions and an array of their names. */
#define RV_CONTRACT_TABLE(x)                                                                       \
  .name = #x, .config_size = sizeof(Config), .log_offset = offsetof(Config, log), .init = init,    \
  .check = check, .create = create, .destroy = destroy, .planes = planes, .run = run,              \
  .params = rv_##x##_params

/* `init` from the defaults and parameters by name: "width=103 height=61 threads=2". */
#define RV_CONTRACT_INIT(x, settings)                                                              \
  static void init(void *config) {                                                                 \
    rv_##x##_config_init(config);                                                                  \
    rvc_set(rv_##x##_params(), config, settings);                                                  \
  }                                                                                                \
  struct RvContract /* takes the semicolon */

/* `bad` from parameters by name, each valid alone: {"p2 below p1", "p1=20 p2=10"}, ... */
typedef struct RvContractBad {
  const char *what, *settings;
} RvContractBad;
#define RV_CONTRACT_BAD(x, ...)                                                                    \
  static const char *bad(int index, void *config) {                                                \
    static const RvContractBad all[] = {__VA_ARGS__};                                              \
    if (index >= (int)(sizeof all / sizeof all[0]))                                                \
      return NULL;                                                                                 \
    rvc_set(rv_##x##_params(), config, all[index].settings);                                       \
    return all[index].what;                                                                        \
  }                                                                                                \
  struct RvContract /* takes the semicolon */

/* An array `fields` that overrides rows of the table. */
#define RV_CONTRACT_FIELDS .fields = fields, .field_count = sizeof fields / sizeof fields[0]

#endif
