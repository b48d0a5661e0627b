/* SPDX-License-Identifier: MIT */
/* stixels_probe.h: parts of the CUDA engine of stixels for the benchmark. Without CUDA there is no
 * such object. */
#ifndef STIXELS_PROBE_H
#define STIXELS_PROBE_H

#include "stixels/stixels_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

#if RV_HAVE_CUDA
/* No kernel of `work` starts before the preceding one has ended: the kernel of the columns may start
 * early after other stages, but not after itself. */
void stixels_probe_unchain(void *work);

/* The network of cuts alone: from the cells and the ground in `work`, after the stages that make
 * them, to the codes of the cuts, [column][row], in device memory. */
RvStatus stixels_probe_network(const void *work, const RvStixelsPlan *plan, uint8_t *codes,
                               RvStream stream);
#endif

#ifdef __cplusplus
}
#endif
#endif
