/* SPDX-License-Identifier: MIT */
/* rv_params.h: what every algorithm has: its parameters as a table, and the functions that make and
 * free its objects (RV_ALGORITHM_API, at the end).
 *
 * Each algorithm states its parameters once, in rv_x_params (); the defaults of its config, the
 * checks, the properties of its element and the property tables of the documentation come from that
 * table.
 *
 *   RvSgmConfig config;
 *   rv_sgm_config_init (&config);
 *   rv_params_set (rv_sgm_params (), &config, "p2", "160");
 *   rv_params_set (rv_sgm_params (), &config, "cost", "census");
 *
 * The tables are constant and may be read from any thread. */
#ifndef RV_PARAMS_H
#define RV_PARAMS_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Type of the config field. */
typedef enum RvParamType {
  RV_PARAM_INT = 0, /* int */
  RV_PARAM_BOOL,    /* int, 0 or 1 */
  RV_PARAM_DOUBLE,  /* double */
  RV_PARAM_ENUM,    /* an enum of the size of an int */
  RV_PARAM_FLAGS,   /* unsigned, bits of `values` */
  RV_PARAM_TEXT,    /* char *, in the tables of elements only */
  RV_PARAM_UINT,    /* uint32_t */
  RV_PARAM_UINT64,  /* uint64_t; `low`, `high` and `value` are exact up to 2^53 */
} RvParamType;

/* Properties of a parameter, combined with |. */
enum {
  RV_PARAM_REQUIRED = 1, /* no default: config_init leaves 0, the caller sets it (width, height) */
  RV_PARAM_COMMON = 2,   /* all elements have a property for it (threads): none of its own */
  RV_PARAM_HIDDEN = 4,   /* set by the element from caps or annotations: no property */
  RV_PARAM_ABOVE = 8,    /* `low` itself is not valid */
  RV_PARAM_BELOW = 16,   /* `high` itself is not valid */
  RV_PARAM_LIVE = 32,    /* a new value needs no new memory: may change from frame to frame */
};

/* A valid value of an RV_PARAM_ENUM, RV_PARAM_FLAGS, or of an RV_PARAM_INT with gaps. */
typedef struct RvParamValue {
  int value;
  const char *name; /* "census"; NULL for integers */
  const char *text; /* noun phrase; NULL for integers */
} RvParamValue;

typedef struct RvParam {
  const char *name;           /* "max-lr-diff"; the field is max_lr_diff */
  const char *text;           /* noun phrase or imperative without unit and full stop, for users */
  const char *unit;           /* "px"; NULL: none */
  const char *note;           /* special values: "0 = off"; NULL: none */
  size_t offset;              /* of the field in the config */
  double low, high;           /* range, inclusive unless a flag excludes an end; of numbers */
  double step;                /* valid are low + n * step; 0: any */
  double value;               /* default */
  const RvParamValue *values; /* `value_count` valid values; NULL: all of the range. Of an
                               * RV_PARAM_TEXT: NULL, or one, whose name is the default */
  int value_count;
  RvParamType type;
  unsigned flags;
} RvParam;

typedef struct RvParams {
  const char *name; /* of the algorithm; begins its messages: "sgm" */
  const RvParam *list;
  int count;
  size_t config_size; /* bytes of the config */
  size_t log_offset;  /* of its RvLog */
  /* Sets the defaults of fields without a row (arrays); NULL: none but 0. */
  void (*set_others)(void *config);
} RvParams;

/* Clears a config and sets its defaults, as rv_x_config_init does. NULL is ignored. */
RV_API void rv_params_defaults(const RvParams *params, void *config);

/* Returns the parameter of that name ("max-lr-diff" or "max_lr_diff"); NULL if there is none. */
RV_API const RvParam *rv_params_find(const RvParams *params, const char *name);

/* Sets a field from text: a decimal number, true or false, the name of an enum value, or names of
 * flags joined by '+'. RV_ERR_ARG, with a line in the config's log, for an unknown name, text of
 * another type, or a value that is not valid; the config is then unchanged. Rules that join several
 * fields are checked by rv_x_config_check only. */
RV_API RvStatus rv_params_set(const RvParams *params, void *config, const char *name,
                              const char *text);

/* Writes a field as text that rv_params_set accepts, at most `size` bytes with the final 0. */
RV_API RvStatus rv_params_get(const RvParams *params, const void *config, const char *name,
                              char *text, size_t size);

/* Returns 1 when all fields with a row have the same values in both configs, else 0. */
RV_API int rv_params_are_equal(const RvParams *params, const void *a, const void *b);

/* Writes the range of a parameter in words: "32 to 512 in steps of 32", "0, 3 or 5", "csct or
 * census". Returns `text`. */
RV_API const char *rv_param_range(const RvParam *param, char *text, size_t size);

/* --- Functions of every algorithm ---------------------------------------------------------------
 *
 * RV_ALGORITHM_API (RvSgm, sgm) in the header of an algorithm declares the type RvSgm of its
 * objects and these six functions. Functions that process data are declared there in full.
 *
 *   const RvParams *rv_sgm_params (void)
 *       Returns the table of parameters: names, ranges, defaults, units, texts. Never NULL.
 *   void rv_sgm_config_init (RvSgmConfig *config)
 *       Sets the defaults. Fields without a default (width, height, camera) become 0.
 *   RvStatus rv_sgm_config_check (const RvSgmConfig *config)
 *       Returns RV_OK, or RV_ERR_ARG after logging the first rule that the config violates.
 *   size_t rv_sgm_workspace (const RvSgmConfig *config, RvEngine engine)
 *       Returns the bytes that _new allocates in the engine's memory; 0 for an invalid config and
 *       for an engine that is not in this build.
 *   RvStatus rv_sgm_new (RvSgm **out, const RvSgmConfig *config, RvEngine engine)
 *       Creates an object, which copies the config. The caller frees it with _free. *out is NULL
 *       after a failure. RV_CUDA allocates on the current device.
 *   void rv_sgm_free (RvSgm **object)
 *       Frees an object and sets *object to NULL; NULL and a NULL object are ignored. Does not
 *       wait: the caller ensures that the streams of its runs have finished. */
#define RV_ALGORITHM_API(Type, x)                                                                  \
  typedef struct Type Type;                                                                        \
  RV_API const RvParams *rv_##x##_params(void);                                                    \
  RV_API void rv_##x##_config_init(Type##Config *config);                                          \
  RV_API RvStatus rv_##x##_config_check(const Type##Config *config);                               \
  RV_API size_t rv_##x##_workspace(const Type##Config *config, RvEngine engine);                   \
  RV_API RvStatus rv_##x##_new(Type **out, const Type##Config *config, RvEngine engine);           \
  RV_API void rv_##x##_free(Type **object)

#ifdef __cplusplus
}
#endif
#endif
