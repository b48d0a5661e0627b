/* SPDX-License-Identifier: MIT */
/* rv_object.c: ranges, the choice of the engine and its memory, with the words of each refusal. */
#include "rv_object.h"

#include <stdarg.h>
#include <stdio.h>

RvStatus rv_in_range(const RvLog *log, const char *name, int value, int low, int high) {
  RV_REQUIRE(log, value >= low && value <= high, "%s is %d, must be %d to %d", name, value, low,
             high);
  return RV_OK;
}

RvStatus rv_check_engine(const RvLog *log, const char *algorithm, RvEngine engine) {
  RV_REQUIRE(log, engine == RV_CPU || engine == RV_CUDA,
             "%s: engine is %d, must be RV_CPU (0) or RV_CUDA (1)", algorithm, (int)engine);
  if (engine == RV_CPU)
    return RV_OK;
  char reason[256] = "this build has no CUDA engine";
  if (rv_has_cuda() && rv_cuda_devices(reason, sizeof reason) > 0)
    return RV_OK;
  rv_log(log, "%s: no CUDA engine: %s; use RV_CPU", algorithm, reason);
  return RV_ERR_NO_DEVICE;
}

RvStatus rv_arena_open_for(RvArena *arena, RvEngine engine, const RvLog *log, const char *algorithm,
                           const char *what, ...) {
  const double mebibytes = (double)rv_arena_size(arena) / 1048576;
  const RvStatus status = rv_arena_open(arena, engine);
  if (status == RV_OK)
    return RV_OK;
  char text[256];
  va_list args;
  va_start(args, what);
  vsnprintf(text, sizeof text, what, args);
  va_end(args);
  rv_log(log, "%s: cannot take %.1f MiB of %s memory for %s", algorithm, mebibytes,
         engine == RV_CUDA ? "GPU" : "host", text);
  return status;
}
