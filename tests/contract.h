/* contract.h: how an algorithm shows itself to the contract test, which holds all of them to the
 * habits that rv.h states. Every cuda/x/x_contract.c defines `const RvContract rv_x_contract`. */
#ifndef RV_CONTRACT_H
#define RV_CONTRACT_H

#include <stddef.h>

#include "rvcheck.h"

#define RV_CONTRACT_PLANES 8 /* of one run, at most */
#define RV_CONTRACT_VALUES 8 /* of one field, at most */

/* A member of the config that has a range: int, enum or uint32_t unless is_double. */
typedef struct RvContractField {
  const char *name;
  size_t offset;
  int is_double;
  int bads, goods;
  double bad[RV_CONTRACT_VALUES];  /* each alone makes the config illegal */
  double good[RV_CONTRACT_VALUES]; /* each alone leaves it legal: the ends of the range */
} RvContractField;

/* What run() must refuse about a plane. */
enum { RV_RULE_DATA = 1, RV_RULE_SIZE = 2, RV_RULE_STRIDE = 4, RV_RULE_FORMAT = 8, RV_RULES = 15 };

typedef struct RvContractPlane {
  const char *name;
  RvFormat format;
  int width, height; /* px */
  int is_input;      /* filled before run */
  int limit;         /* inputs of more than 8 bits: largest value; 0: any */
  unsigned rules;
} RvContractPlane;

typedef struct RvContract {
  const char *name;
  size_t config_size, log_offset;
  int cpu_only;               /* 1: create ignores the engine */
  void (*init)(void *config); /* a legal config of about 100 x 60 px; two threads */
  RvStatus (*check)(const void *config);
  size_t (*workspace)(const void *config, RvEngine engine); /* NULL: none stated */
  RvStatus (*create)(void **out, const void *config, RvEngine engine);
  void (*destroy)(void **object);
  /* The planes of one run, inputs and outputs; returns their number. */
  int (*planes)(const void *config, RvContractPlane *planes);
  RvStatus (*run)(void *object, const RvPlane *planes, RvStream stream);
  int is_several; /* run is several calls: those before a refused one may have written */
  const RvContractField *fields;
  size_t field_count;
  /* Further illegal configs: changes a legal one, returns what is wrong; NULL past the last. May
   * be NULL. */
  const char *(*bad)(int index, void *config);
  /* Promises of this algorithm alone; may be NULL. */
  void (*extra)(RvCheck *check);
} RvContract;

#endif
