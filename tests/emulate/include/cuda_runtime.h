/* SPDX-License-Identifier: MIT */
/* cuda_runtime.h: what the project's .cu files take from CUDA's header of that name. */
#ifndef RV_EMULATE_CUDA_RUNTIME_H
#define RV_EMULATE_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#include "emulate_machine.h"

#include "emulate_arithmetic.h"
#include "emulate_launch.h"
#include "emulate_memory.h"
#include "emulate_ptx.h"
#include "emulate_warp.h"

/* The standard library uses the name too: last. */
#define __noinline__ __attribute__((noinline))

#endif
