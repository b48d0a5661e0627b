/* SPDX-License-Identifier: MIT */
/* rv_params_table.h: how an algorithm writes its table of parameters, and what rv_object.c makes of
 * it. Not installed.
 *
 *   RV_OBJECT_STRUCT (RvRdp);    (rv_object.h; or: typedef RvRdpConfig Config;)
 *   static const RvParam params[] = {
 *       RV_PARAM_SIZE,
 *       RV_INT ("max-levels", max_levels, 0, 16384, 0, 0, NULL, "0 = no limit",
 *               "Maximum recursion depth"),
 *       RV_NUMBERS ("median", median, 3, 0, "px", "0 = off", "Size of the median filter",
 *                   {.value = 0}, {.value = 3}, {.value = 5}),
 *       RV_PARAM_THREADS,
 *   };
 *   RV_PARAMS (rdp)
 */
#ifndef RV_PARAMS_TABLE_H
#define RV_PARAMS_TABLE_H

#include <limits.h>

#include "rv_internal.h"
#include "rv_params.h"

/* Type, place and range of a field of Config. */
#define RV_PARAM_INT_RANGE(field, from, to)                                                        \
  .type = RV_PARAM_INT, .offset = offsetof(Config, field), .low = (from), .high = (to)
#define RV_PARAM_INT_STEPS(field, from, to, by) RV_PARAM_INT_RANGE(field, from, to), .step = (by)
#define RV_PARAM_REAL_RANGE(field, from, to)                                                       \
  .type = RV_PARAM_DOUBLE, .offset = offsetof(Config, field), .low = (from), .high = (to)
#define RV_PARAM_SWITCH(field)                                                                     \
  .type = RV_PARAM_BOOL, .offset = offsetof(Config, field), .low = 0, .high = 1
#define RV_PARAM_VALUES(...)                                                                       \
  .values = (const RvParamValue[]){__VA_ARGS__},                                                   \
  .value_count = (int)(sizeof((const RvParamValue[]){__VA_ARGS__}) / sizeof(RvParamValue))

/* A row: name, field of Config, range, default, flags, unit or NULL, special values or NULL,
 * text. */
#define RV_ROW(its_name, its_value, its_flags, its_unit, its_note, its_text)                       \
  .name = its_name, .text = its_text, .unit = its_unit, .note = its_note, .value = its_value,      \
  .flags = its_flags
#define RV_INT(name, field, from, to, ...)                                                         \
  { RV_PARAM_INT_RANGE(field, from, to), RV_ROW(name, __VA_ARGS__) }
#define RV_STEPS(name, field, from, to, by, ...)                                                   \
  { RV_PARAM_INT_STEPS(field, from, to, by), RV_ROW(name, __VA_ARGS__) }
#define RV_REAL(name, field, from, to, ...)                                                        \
  { RV_PARAM_REAL_RANGE(field, from, to), RV_ROW(name, __VA_ARGS__) }
#define RV_SWITCH(name, field, ...)                                                                \
  { RV_PARAM_SWITCH(field), RV_ROW(name, __VA_ARGS__) }
/* An enum, and integers with gaps. After the text follow the valid values, each an RvParamValue:
 * {RV_RDP_SKIP, "skip", "segments span invalid rows"}, or {.value = 3}. */
#define RV_CHOICE(name, field, its_value, its_flags, its_unit, its_note, its_text, ...)            \
  {                                                                                                \
    .type = RV_PARAM_ENUM, .offset = offsetof(Config, field), RV_PARAM_VALUES(__VA_ARGS__),        \
    RV_ROW(name, its_value, its_flags, its_unit, its_note, its_text)                               \
  }
#define RV_NUMBERS(name, field, its_value, its_flags, its_unit, its_note, its_text, ...)           \
  {                                                                                                \
    .type = RV_PARAM_INT, .offset = offsetof(Config, field), RV_PARAM_VALUES(__VA_ARGS__),         \
    RV_ROW(name, its_value, its_flags, its_unit, its_note, its_text)                               \
  }

/* The rows that most algorithms have. */
#define RV_PARAM_SIZE_FROM(least)                                                                  \
  {.name = "width",                                                                                \
   .text = "Width of the frames",                                                                  \
   .unit = "px",                                                                                   \
   RV_PARAM_INT_RANGE(width, least, RV_MAX_SIDE),                                                  \
   .flags = RV_PARAM_REQUIRED | RV_PARAM_HIDDEN},                                                  \
  {                                                                                                \
    .name = "height", .text = "Height of the frames", .unit = "px",                                \
    RV_PARAM_INT_RANGE(height, least, RV_MAX_SIDE), .flags = RV_PARAM_REQUIRED | RV_PARAM_HIDDEN   \
  }
#define RV_PARAM_SIZE RV_PARAM_SIZE_FROM(1)
#define RV_PARAM_THREADS                                                                           \
  {                                                                                                \
    .name = "threads", .text = "Threads of the CPU engine", .note = "0 = all processors",          \
    RV_PARAM_INT_RANGE(threads, 0, INT_MAX), .flags = RV_PARAM_COMMON                              \
  }

/* Defines rv_x_params () over the array `params` of the file. */
#define RV_PARAMS(x) RV_PARAMS_AND_OTHERS(x, NULL)

/* The same where `others` sets the defaults of fields without a row. */
#define RV_PARAMS_AND_OTHERS(x, others)                                                            \
  static const RvParams table = {.name = #x,                                                       \
                                 .list = params,                                                   \
                                 .count = (int)(sizeof params / sizeof params[0]),                 \
                                 .config_size = sizeof(Config),                                    \
                                 .log_offset = offsetof(Config, log),                              \
                                 .set_others = others};                                            \
  const RvParams *rv_##x##_params(void) {                                                          \
    return &table;                                                                                 \
  }

/* RV_OK, or RV_ERR_ARG after logging the first field whose value is not valid. */
RvStatus rv_params_check(const RvParams *params, const void *config);

#endif
