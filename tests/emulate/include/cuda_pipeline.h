/* SPDX-License-Identifier: MIT */
#include "cuda_pipeline_primitives.h"
