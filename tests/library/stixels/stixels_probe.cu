/* SPDX-License-Identifier: MIT */
/* stixels_probe.cu: see stixels_probe.h. */
#include "stixels/stixels_probe.h"

#include "stixels/stixels_cuda_network.cuh"

/* Threads and registers per block as in the kernel of the columns; the expected ground is that before
 * the first frame. */
static __global__ void __launch_bounds__(256, 2)
    network_kernel(const __grid_constant__ RvStixelsPlan plan,
                   const __grid_constant__ RvStixelsCuda work, uint8_t *codes) {
  extern __shared__ __align__(16) char memory[];
  Column c = {};
  c.cells = work.cells + (size_t)blockIdx.x * plan.rows;
  c.ground = plan.start.ground;
  c.cuts = (uint8_t *)memory + RV_STIXELS_NETWORK_WORDS * sizeof(uint32_t);
  find_cuts(plan, work.network, c, (uint32_t *)memory, codes + (size_t)blockIdx.x * plan.rows);
}

extern "C" void stixels_probe_unchain(void *work) {
  ((RvStixelsCuda *)work)->is_chained = 0;
}

extern "C" RvStatus stixels_probe_network(const void *memory, const RvStixelsPlan *plan,
                                          uint8_t *codes, RvStream stream) {
  const RvStixelsCuda *work = (const RvStixelsCuda *)memory;
  const size_t shared = RV_STIXELS_NETWORK_WORDS * sizeof(uint32_t) + plan->rows + 1;
  return rv_launch(&plan->config.log, network_kernel, dim3(plan->columns), dim3(256), shared,
                   stream, false, *plan, *work, codes);
}
