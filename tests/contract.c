/* SPDX-License-Identifier: MIT */
/* contract.c: every algorithm on every engine is compared with the rules of rv.h. */
#include "contract_run.h"
#include "rvcheck_run.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RV_FUNCTIONS(name) /* no object, no contract */
#define RV_ALGORITHM(name) extern const RvContract rv_##name##_contract;
#include "algorithms.def"
#undef RV_ALGORITHM

static const struct {
  const char *name;
  const RvContract *rules;
} contracts[] = {
#define RV_ALGORITHM(name) {#name, &rv_##name##_contract},
#include "algorithms.def"
#undef RV_ALGORITHM
#undef RV_FUNCTIONS
};

static void count_line(void *user, const char *text) {
  Lines *lines = user;
  lines->count++;
  snprintf(lines->last, sizeof lines->last, "%s", text);
}

void *contract_config(const Contract *c, Lines *lines) {
  char *config = calloc(1, c->rules->config_size);
  if (!config)
    abort(); /* the test's own few bytes */
  c->rules->init(config);
  const RvLog log = {count_line, lines};
  memcpy(config + c->rules->log_offset, &log, sizeof log);
  return config;
}

/* --- Configs ------------------------------------------------------------------------------------
 */

static void set_field(void *config, const RvContractField *field, double value) {
  char *at = (char *)config + field->offset;
  if (field->is_double) {
    memcpy(at, &value, sizeof value);
  } else {
    const int number = (int)value; /* enums have the size of an int here */
    memcpy(at, &number, sizeof number);
  }
}

/* check, workspace and new all reject; each says so once. */
static void expect_refused(const Contract *c, const void *config, Lines *lines, const char *what) {
  void *object = lines; /* must become NULL */
  lines->count = 0;
  const RvStatus checked = c->rules->check(config);
  rvc_true(c->check, c->name, checked == RV_ERR_ARG, "%s: check says \"%s\"", what,
           rv_status_text(checked));
  rvc_true(c->check, c->name, lines->count == 1, "%s: check logs %d lines, expected 1", what,
           lines->count);
  lines->count = 0;
  const RvStatus made = c->rules->create(&object, config, c->engine);
  rvc_true(c->check, c->name, made == RV_ERR_ARG && object == NULL, "%s: new says \"%s\"%s", what,
           rv_status_text(made), object ? " and *out is not NULL" : "");
  rvc_true(c->check, c->name, lines->count == 1, "%s: new logs %d lines, expected 1", what,
           lines->count);
  if (made == RV_OK)
    c->rules->destroy(&object);
  if (c->rules->workspace)
    rvc_true(c->check, c->name, c->rules->workspace(config, c->engine) == 0,
             "%s: workspace is not 0", what);
}

/* What no real number of a config may be, whatever its range. */
static const double no_numbers[] = {NAN, INFINITY, -INFINITY};
#define NO_NUMBERS (int)(sizeof no_numbers / sizeof *no_numbers)

static void test_field(const Contract *c, const RvContractField *field) {
  const int bad = field->bad.count, more = field->is_double ? NO_NUMBERS : 0;
  for (int k = 0; k < bad + more + field->good.count; k++) {
    const int is_bad = k < bad + more;
    const double value = k < bad  ? field->bad.values[k]
                         : is_bad ? no_numbers[k - bad]
                                  : field->good.values[k - bad - more];
    Lines lines = {0};
    void *config = contract_config(c, &lines);
    set_field(config, field, value);
    char what[120];
    snprintf(what, sizeof what, "%s = %.10g", field->name, value);
    if (is_bad) {
      expect_refused(c, config, &lines, what);
    } else {
      const RvStatus status = c->rules->check(config);
      rvc_true(c->check, c->name, status == RV_OK && lines.count == 0,
               "%s is the end of the range but check says \"%s\" (%s)", what,
               rv_status_text(status), lines.last);
    }
    free(config);
  }
}

static void add_value(RvContractList *list, double value) {
  if (list->count < RV_CONTRACT_VALUES)
    list->values[list->count++] = value;
}

static int is_listed(const RvParam *p, int value) {
  for (int k = 0; k < p->value_count; k++)
    if (p->values[k].value == value)
      return 1;
  return 0;
}

/* The ends of the range, and what lies next to them outside. */
static RvContractField field_of(const RvParam *p) {
  RvContractField f = {
      .name = p->name, .offset = p->offset, .is_double = p->type == RV_PARAM_DOUBLE};
  if (p->values) {
    for (int k = 0; k < p->value_count; k++) {
      add_value(&f.good, p->values[k].value);
      if (!is_listed(p, p->values[k].value + 1))
        add_value(&f.bad, p->values[k].value + 1);
    }
    add_value(&f.bad, p->values[0].value - 1);
    return f;
  }
  const double width = fabs(p->high - p->low), next = f.is_double ? width * 1e-6 : 1;
  add_value(p->flags & RV_PARAM_ABOVE ? &f.bad : &f.good, p->low);
  add_value(p->flags & RV_PARAM_BELOW ? &f.bad : &f.good, p->high);
  add_value(&f.bad, p->low - next);
  if (f.is_double || p->high < INT_MAX)
    add_value(&f.bad, p->high + next);
  if (p->step > 1)
    add_value(&f.bad, p->low + 1);
  if (!f.is_double && p->low >= 0)
    add_value(&f.bad, -INT_MAX);
  return f;
}

static int is_overridden(const RvContract *rules, const RvParam *p) {
  for (size_t i = 0; i < rules->field_count; i++)
    if (rules->fields[i].offset == p->offset)
      return 1;
  return 0;
}

static void test_fields(const Contract *c) {
  const RvParams *params = c->rules->params ? c->rules->params() : NULL;
  for (int i = 0; params && i < params->count; i++) {
    const RvContractField field = field_of(&params->list[i]);
    const RvParamType type = params->list[i].type;
    if (type != RV_PARAM_UINT64 && type != RV_PARAM_UINT &&
        !is_overridden(c->rules, &params->list[i]))
      test_field(c, &field);
  }
  for (size_t i = 0; i < c->rules->field_count; i++)
    test_field(c, &c->rules->fields[i]);
  for (int i = 0; c->rules->bad; i++) {
    Lines lines = {0};
    void *config = contract_config(c, &lines);
    const char *what = c->rules->bad(i, config);
    if (what)
      expect_refused(c, config, &lines, what);
    free(config);
    if (!what)
      break;
  }
}

/* Every parameter can be written and read as text; what is not valid changes nothing. */
static void test_texts(const Contract *c) {
  const RvParams *params = c->rules->params ? c->rules->params() : NULL;
  for (int i = 0; params && i < params->count; i++) {
    const RvParam *p = &params->list[i];
    Lines lines = {0};
    char *config = contract_config(c, &lines);
    char *before = malloc(params->config_size);
    char text[64], again[64];
    memcpy(before, config, params->config_size);
    const int is_same = rv_params_get(params, config, p->name, text, sizeof text) == RV_OK &&
                        rv_params_set(params, config, p->name, text) == RV_OK &&
                        rv_params_get(params, config, p->name, again, sizeof again) == RV_OK &&
                        strcmp(text, again) == 0 &&
                        memcmp(before, config, params->config_size) == 0;
    rvc_true(c->check, c->name, is_same, "%s = %s is not the same when set from text (%s)", p->name,
             text, lines.last);
    lines.count = 0;
    rvc_true(c->check, c->name,
             rv_params_set(params, config, p->name, "no such value") == RV_ERR_ARG &&
                 lines.count == 1 && memcmp(before, config, params->config_size) == 0,
             "%s = \"no such value\" is accepted, changes the config, or logs %d lines", p->name,
             lines.count);
    rvc_true(c->check, c->name, rv_params_set(params, config, "none", "1") == RV_ERR_ARG,
             "a parameter that does not exist is accepted");
    free(before);
    free(config);
  }
}

static void test_nulls(const Contract *c) {
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  void *object = &lines;
  rvc_true(c->check, c->name, c->rules->check(NULL) == RV_ERR_ARG, "check(NULL) is not refused");
  rvc_true(c->check, c->name, c->rules->create(NULL, config, c->engine) == RV_ERR_ARG,
           "new(NULL, ...) is not refused");
  rvc_true(c->check, c->name, c->rules->create(&object, NULL, c->engine) == RV_ERR_ARG && !object,
           "new(&out, NULL) is not refused, or *out is not NULL");
  if (c->rules->workspace)
    rvc_true(c->check, c->name, c->rules->workspace(NULL, c->engine) == 0,
             "workspace(NULL) is not 0");
  free(config);
}

/* An engine that is not there, and one that does not exist. */
static void test_engines(const Contract *c) {
  if (c->rules->cpu_only)
    return;
  Lines lines = {0};
  void *config = contract_config(c, &lines);
  void *object = &lines;
  if (rv_cuda_devices(NULL, 0) == 0) {
    const RvStatus status = c->rules->create(&object, config, RV_CUDA);
    rvc_true(c->check, c->name, status == RV_ERR_NO_DEVICE && !object && lines.count == 1,
             "RV_CUDA without a device: status \"%s\", %d log lines", rv_status_text(status),
             lines.count);
  }
  object = &lines;
  const RvStatus status = c->rules->create(&object, config, (RvEngine)7);
  rvc_true(c->check, c->name, status == RV_ERR_ARG && !object, "engine 7: status \"%s\"",
           rv_status_text(status));
  free(config);
}

static void run_contract(RvCheck *check, const RvContract *rules, RvEngine engine) {
  Contract c = {check, rules, engine, ""};
  snprintf(c.name, sizeof c.name, "contract/%s/%s", rules->name,
           engine == RV_CUDA ? "cuda" : "cpu");
  const long checks = check->checks, failures = check->failures;
  test_fields(&c);
  test_texts(&c);
  test_nulls(&c);
  test_engines(&c);
  contract_memory(&c);
  contract_planes(&c);
  if (rules->extra && engine == RV_CPU)
    rules->extra(check);
  printf("%s: %ld checks, %ld failed\n", c.name, check->checks - checks,
         check->failures - failures);
  fflush(stdout);
}

int main(int argc, char **argv) {
  RvCheck check = {.seed = 1, .log_lock = PTHREAD_MUTEX_INITIALIZER};
  const char *engine = argc == 3 && strcmp(argv[1], "--engine") == 0 ? argv[2] : "cpu";
  const int wants_cuda = strcmp(engine, "cuda") == 0;
  if ((argc != 1 && argc != 3) || (!wants_cuda && strcmp(engine, "cpu") != 0)) {
    fprintf(stderr, "usage: contract [--engine cpu|cuda]   (77: the engine is not there)\n");
    return 2;
  }
  char reason[256] = "";
  if (wants_cuda &&
      (rv_cuda_devices(reason, sizeof reason) == 0 || rv_cuda_use_device(0) != RV_OK)) {
    printf("contract: skipped: %s\n", reason);
    return 77;
  }
  contract_host(&check, wants_cuda ? RV_CUDA : RV_CPU);
  for (size_t i = 0; i < sizeof contracts / sizeof contracts[0]; i++) {
    const RvContract *rules = contracts[i].rules;
    if (!rules)
      printf("contract/%s: no object, nothing to hold\n", contracts[i].name);
    else if (!wants_cuda || !rules->cpu_only)
      run_contract(&check, rules, wants_cuda ? RV_CUDA : RV_CPU);
  }
  printf("contract: %ld checks, %ld failed\n", check.checks, check.failures);
  return check.failures || check.checks == 0;
}
