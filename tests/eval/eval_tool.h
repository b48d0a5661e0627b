/* SPDX-License-Identifier: MIT */
/* eval_tool.h: what the programs that run the library on many files share. They end with 1 at the first
 * error, after a line with their name. */
#ifndef EVAL_TOOL_H
#define EVAL_TOOL_H

#include "rv.h"
#include "rv_params.h"

extern const char eval_tool_name[]; /* of the program, which defines it */

void eval_fail(const char *what, const char *which);
void eval_must(RvStatus status, const char *what);

/* Log of the library: to standard error. */
void eval_print_line(void *user, const char *text);

/* Zeroed, dense rows. */
RvPlane eval_plane_new(int width, int height, RvFormat format);

/* Writes HEAD and dense rows to a file, FOLDER, NAME and END joined. */
void eval_plane_write(const char *folder, const char *name, const char *end, const char *head,
                      const RvPlane *plane);

/* Sets the parameters that `options` name, each NAME=VALUE. */
void eval_set_options(const RvParams *params, void *config, int count, char **options);

#endif
