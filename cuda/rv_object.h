/* SPDX-License-Identifier: MIT */
/* rv_object.h: what the host side of every algorithm with two engines needs: ranges, the choice of
 * the engine, its memory. Texts begin with the name of the algorithm. Not installed. */
#ifndef RV_OBJECT_H
#define RV_OBJECT_H

#include "rv_config.h"
#include "rv_internal.h"

/* `name` as in "sgm: width". */
RvStatus rv_in_range(const RvLog *log, const char *name, int value, int low, int high);

/* RV_OK for an engine that this build holds and that finds a device. */
RvStatus rv_check_engine(const RvLog *log, const char *algorithm, RvEngine engine);

/* The table of stages of an engine, NULL when this build does not hold it: those of sgm are
 * rv_sgm_stages_cpu and rv_sgm_stages_cuda. */
#if RV_HAVE_CUDA
#  define RV_STAGES_OF(x, engine)                                                                  \
    ((engine) == RV_CPU ? &rv_##x##_stages_cpu : (engine) == RV_CUDA ? &rv_##x##_stages_cuda : NULL)
#else
#  define RV_STAGES_OF(x, engine) ((engine) == RV_CPU ? &rv_##x##_stages_cpu : NULL)
#endif

/* rv_arena_open for a counted arena; when there is no such memory the log says how much and for
 * what: "sgm: cannot take 12.0 MiB of GPU memory for 640 x 480 pixels". */
RvStatus rv_arena_open_for(RvArena *arena, RvEngine engine, const RvLog *log, const char *algorithm,
                           const char *what, ...) RV_PRINTF(5, 6);

#endif
