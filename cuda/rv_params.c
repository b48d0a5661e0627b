/* SPDX-License-Identifier: MIT */
/* rv_params.c: defaults, checks and text of the parameters of any algorithm, from its table. */
#include "rv_params_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const RvLog *log_of(const RvParams *params, const void *config) {
  return (const RvLog *)(const void *)((const char *)config + params->log_offset);
}

static double field_get(const RvParam *p, const void *config) {
  const char *at = (const char *)config + p->offset;
  if (p->type == RV_PARAM_DOUBLE) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  if (p->type == RV_PARAM_UINT64) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  if (p->type == RV_PARAM_UINT) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  int value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void field_set(const RvParam *p, void *config, double value) {
  char *at = (char *)config + p->offset;
  if (p->type == RV_PARAM_DOUBLE) {
    memcpy(at, &value, sizeof value);
  } else if (p->type == RV_PARAM_UINT64) {
    const uint64_t whole = (uint64_t)value;
    memcpy(at, &whole, sizeof whole);
  } else if (p->type == RV_PARAM_UINT) {
    const uint32_t whole = (uint32_t)value;
    memcpy(at, &whole, sizeof whole);
  } else {
    const int whole = (int)value;
    memcpy(at, &whole, sizeof whole);
  }
}

void rv_params_defaults(const RvParams *params, void *config) {
  if (!config)
    return;
  memset(config, 0, params->config_size);
  for (int i = 0; i < params->count; i++)
    if (!(params->list[i].flags & RV_PARAM_REQUIRED))
      field_set(&params->list[i], config, params->list[i].value);
  if (params->set_others)
    params->set_others(config);
}

/* --- Ranges ---------------------------------------------------------------------------------- */

static int is_listed(const RvParam *p, double value) {
  int all = 0;
  for (int k = 0; k < p->value_count; k++) {
    if (p->values[k].value == value)
      return 1;
    all |= p->values[k].value;
  }
  return p->type == RV_PARAM_FLAGS && ((int)value & ~all) == 0;
}

/* False for NaN too. */
static int is_valid(const RvParam *p, double value) {
  if (p->values)
    return is_listed(p, value);
  if (!(p->flags & RV_PARAM_ABOVE ? value > p->low : value >= p->low))
    return 0;
  if (!(p->flags & RV_PARAM_BELOW ? value < p->high : value <= p->high))
    return 0;
  return p->step == 0 || fmod(value - p->low, p->step) == 0;
}

/* Appends to `text`, cut at `size`. */
static void add(char *text, size_t size, const char *format, ...) RV_PRINTF(3, 4);
static void add(char *text, size_t size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, size - used, format, args);
  va_end(args);
}

/* With a point, whatever the locale. */
static void add_number(char *text, size_t size, const char *before, double value) {
  char number[40];
  snprintf(number, sizeof number, "%.15g", value);
  char *comma = strchr(number, ',');
  if (comma)
    *comma = '.';
  add(text, size, "%s%s", before, number);
}

static void list_values(const RvParam *p, char *text, size_t size) {
  for (int k = 0; k < p->value_count; k++) {
    const char *join = k == 0 ? "" : k == p->value_count - 1 ? " or " : ", ";
    if (p->values[k].name)
      add(text, size, "%s%s (%d)", join, p->values[k].name, p->values[k].value);
    else
      add(text, size, "%s%d", join, p->values[k].value);
  }
}

const char *rv_param_range(const RvParam *p, char *text, size_t size) {
  if (!text || size == 0)
    return text;
  text[0] = 0;
  if (p->values) {
    list_values(p, text, size);
    return text;
  }
  if (p->high >= INT_MAX && p->type == RV_PARAM_INT) {
    add_number(text, size, "", p->low);
    add(text, size, " or more");
    return text;
  }
  add_number(text, size, p->flags & RV_PARAM_ABOVE ? "above " : "", p->low);
  add_number(text, size, p->flags & RV_PARAM_BELOW ? " to below " : " to ", p->high);
  if (p->step != 0)
    add_number(text, size, " in steps of ", p->step);
  return text;
}

static RvStatus check_value(const RvParams *params, const RvParam *p, double value,
                            const RvLog *log) {
  if (is_valid(p, value))
    return RV_OK;
  char range[256];
  rv_log(log, "%s: %s is %.10g%s%s, must be %s", params->name, p->name, value, p->unit ? " " : "",
         p->unit ? p->unit : "", rv_param_range(p, range, sizeof range));
  return RV_ERR_ARG;
}

RvStatus rv_params_check(const RvParams *params, const void *config) {
  if (!config)
    return RV_ERR_ARG;
  for (int i = 0; i < params->count; i++) {
    const RvParam *p = &params->list[i];
    RV_TRY(check_value(params, p, field_get(p, config), log_of(params, config)));
  }
  return RV_OK;
}

/* --- Text ------------------------------------------------------------------------------------ */

static int is_same_name(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (*a != *b && !(*a == '-' && *b == '_'))
      return 0;
  return *a == *b;
}

const RvParam *rv_params_find(const RvParams *params, const char *name) {
  for (int i = 0; params && name && i < params->count; i++)
    if (is_same_name(params->list[i].name, name))
      return &params->list[i];
  return NULL;
}

/* Value of the name at `text`, `length` characters long. */
static int find_value(const RvParam *p, const char *text, size_t length, int *value) {
  for (int k = 0; k < p->value_count; k++) {
    const char *name = p->values[k].name;
    if (name && strlen(name) == length && memcmp(name, text, length) == 0) {
      *value = p->values[k].value;
      return 1;
    }
  }
  return 0;
}

static int parse_flags(const RvParam *p, const char *text, double *value) {
  int bits = 0;
  while (*text) {
    const size_t length = strcspn(text, "+");
    int bit;
    if (!find_value(p, text, length, &bit))
      return 0;
    bits |= bit;
    text += length + (text[length] == '+');
  }
  *value = bits;
  return 1;
}

/* Digits, one point or exponent: not the locale's comma, hexadecimal numbers or names. */
static int parse_number(const char *text, double *value) {
  if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
    return 0;
  double mantissa = 0;
  int exponent = 0, digits = 0;
  const int negative = *text == '-';
  text += *text == '-' || *text == '+';
  for (int after = 0; (*text >= '0' && *text <= '9') || (*text == '.' && !after); text++) {
    if (*text == '.') {
      after = 1;
      continue;
    }
    mantissa = mantissa * 10 + (*text - '0');
    exponent -= after;
    digits++;
  }
  if (digits && (*text == 'e' || *text == 'E')) {
    char *end;
    const long power = strtol(text + 1, &end, 10);
    if (end == text + 1 || power < -400 || power > 400)
      return 0;
    exponent += (int)power;
    text = end;
  }
  if (!digits || *text)
    return 0;
  *value = exponent < 0 ? mantissa / pow(10, -exponent) : mantissa * pow(10, exponent);
  if (negative)
    *value = -*value;
  return 1;
}

static int parse(const RvParam *p, const char *text, double *value) {
  int listed;
  if (p->type == RV_PARAM_FLAGS)
    return parse_flags(p, text, value);
  if (p->type == RV_PARAM_BOOL && (!strcmp(text, "true") || !strcmp(text, "false"))) {
    *value = text[0] == 't';
    return 1;
  }
  if (p->type == RV_PARAM_ENUM) {
    const int found = find_value(p, text, strlen(text), &listed);
    *value = found ? listed : 0;
    return found;
  }
  return parse_number(text, value) && (p->type == RV_PARAM_DOUBLE || *value == floor(*value));
}

RvStatus rv_params_set(const RvParams *params, void *config, const char *name, const char *text) {
  if (!params || !config || !name || !text)
    return RV_ERR_ARG;
  const RvLog *log = log_of(params, config);
  const RvParam *p = rv_params_find(params, name);
  RV_REQUIRE(log, p, "%s: there is no parameter %s", params->name, name);
  double value = 0;
  char range[256];
  RV_REQUIRE(log, parse(p, text, &value), "%s: %s is \"%s\", must be %s", params->name, p->name,
             text, rv_param_range(p, range, sizeof range));
  RV_TRY(check_value(params, p, value, log));
  field_set(p, config, value);
  return RV_OK;
}

int rv_params_are_equal(const RvParams *params, const void *a, const void *b) {
  int same = 1;
  for (int i = 0; i < params->count; i++)
    same &= field_get(&params->list[i], a) == field_get(&params->list[i], b);
  return same;
}

RvStatus rv_params_get(const RvParams *params, const void *config, const char *name, char *text,
                       size_t size) {
  const RvParam *p = rv_params_find(params, name);
  if (!p || !config || !text || size == 0)
    return RV_ERR_ARG;
  const double value = field_get(p, config);
  text[0] = 0;
  if (p->type == RV_PARAM_BOOL)
    add(text, size, "%s", value != 0 ? "true" : "false");
  else if (p->type == RV_PARAM_ENUM || p->type == RV_PARAM_FLAGS) {
    for (int k = 0; k < p->value_count; k++)
      if (p->type == RV_PARAM_ENUM ? p->values[k].value == value
                                   : (p->values[k].value & (int)value) != 0)
        add(text, size, "%s%s", text[0] ? "+" : "", p->values[k].name);
  } else
    add_number(text, size, "", value);
  return RV_OK;
}
