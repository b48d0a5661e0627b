/* SPDX-License-Identifier: MIT */
/* rvcheck_arena.c: the guard bytes around the pieces of an object's memory. */
#include <string.h>

#include "rv_internal.h"
#include "rvcheck.h"

int rvc_damaged_guard(const RvArena *arena) {
  const int has_guards = rv_arena_size(arena) > arena->used;
  if (!has_guards || !arena->memory)
    return -1;
  for (int i = 0; i <= arena->pieces; i++) {
    const size_t at = i == arena->pieces ? arena->used : arena->guard[i];
    unsigned char guard[RV_ARENA_GUARD];
    if (arena->engine == RV_CUDA) {
      if (rv_copy_to_host(guard, arena->memory + at, sizeof guard, NULL) != RV_OK)
        return i;
    } else {
      memcpy(guard, arena->memory + at, sizeof guard);
    }
    for (size_t k = 0; k < sizeof guard; k++)
      if (guard[k] != RV_ARENA_GUARD_BYTE)
        return i;
  }
  return -1;
}
