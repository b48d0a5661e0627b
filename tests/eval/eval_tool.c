/* SPDX-License-Identifier: MIT */
/* eval_tool.c: errors, planes and options of programs that run the library on many files. */
#include "eval_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void eval_fail(const char *what, const char *which) {
  fprintf(stderr, "%s: %s: %s\n", eval_tool_name, what, which);
  exit(1);
}

void eval_must(RvStatus status, const char *what) {
  if (status != RV_OK)
    eval_fail(what, rv_status_text(status));
}

void eval_print_line(void *user, const char *text) {
  (void)user;
  fprintf(stderr, "%s: %s\n", eval_tool_name, text);
}

RvPlane eval_plane_new(int width, int height, RvFormat format) {
  const size_t row = rv_format_bytes(format) * (size_t)width;
  void *data = calloc((size_t)height, row);
  if (!data)
    eval_fail("out of memory", "plane");
  return (RvPlane){data, (ptrdiff_t)row, width, height, format};
}

void eval_plane_write(const char *folder, const char *name, const char *end, const char *head,
                      const RvPlane *plane) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s%s%s", folder, name, end) >= (int)sizeof path)
    eval_fail("the path is too long", folder);
  FILE *file = fopen(path, "wb");
  const size_t row = rv_format_bytes(plane->format) * (size_t)plane->width;
  int good = file && fprintf(file, "%s", head) >= 0;
  for (int y = 0; good && y < plane->height; y++)
    good = fwrite((char *)plane->data + y * plane->stride, 1, row, file) == row;
  if (!file || fclose(file) != 0 || !good)
    eval_fail("cannot write", path);
}

void eval_set_options(const RvParams *params, void *config, int count, char **options) {
  for (int i = 0; i < count; i++) {
    char name[256];
    const char *value = strchr(options[i], '=');
    if (!value || (size_t)(value - options[i]) >= sizeof name)
      eval_fail("not NAME=VALUE", options[i]);
    memcpy(name, options[i], (size_t)(value - options[i]));
    name[value - options[i]] = 0;
    eval_must(rv_params_set(params, config, name, value + 1), options[i]);
  }
}
