/* SPDX-License-Identifier: MIT */
/* params_list.c: prints the tables of parameters of all algorithms, one row per line, fields separated by
 * tabs: algorithm, name, type, range, default, flags. */
#include <stdio.h>

#include "rv_params.h"

#define RV_ALGORITHM(x) RV_API const RvParams *rv_##x##_params(void);
#define RV_FUNCTIONS(x)
#include "algorithms.def"
#undef RV_ALGORITHM

#define RV_ALGORITHM(x) rv_##x##_params,
static const RvParams *(*const tables[])(void) = {
#include "algorithms.def"
};

static const char *const types[] = {"int",   "bool", "double", "enum",
                                    "flags", "text", "uint",   "uint64"};

static void print_default(const RvParam *row) {
  for (int k = 0; k < row->value_count; k++)
    if (row->values[k].name && row->values[k].value == row->value) {
      printf("%s", row->values[k].name);
      return;
    }
  printf("%.15g", row->value);
}

static void print_table(const RvParams *params) {
  for (int i = 0; i < params->count; i++) {
    const RvParam *row = &params->list[i];
    char range[512];
    printf("%s\t%s\t%s\t%s\t", params->name, row->name, types[row->type],
           rv_param_range(row, range, sizeof range));
    print_default(row);
    printf("\t%u\n", row->flags);
  }
}

int main(void) {
  for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
    print_table(tables[i]());
  return 0;
}
