/* SPDX-License-Identifier: MIT */
/* rdp_cpu_column.h: the recursion over one column on the CPU, compiled once per instruction set. */
#ifndef RV_RDP_COLUMN_H
#define RV_RDP_COLUMN_H

#include "rdp/rdp_rules.h"

#define RV_RDP_OVERREAD 16 /* values after the end of a column that may be read */

/* A pending segment: it starts where the current one ends. */
typedef struct RvRdpPending {
  uint16_t last, depth;
} RvRdpPending;

typedef struct RvRdpKernels {
  const char *name;
  /* Cuts the piece first..last of column d: sets the bits of its cuts, returns the depth of the
   * recursion. pending: capacity of last - first entries. */
  int (*split)(const uint16_t *d, int first, int last, const RvRdpLimit *limit,
               RvRdpPending *pending, uint32_t *cuts);
} RvRdpKernels;

extern const RvRdpKernels rv_rdp_kernels_base;
#if defined(__x86_64__)
extern const RvRdpKernels rv_rdp_kernels_avx2;
extern const RvRdpKernels rv_rdp_kernels_avx512;
#endif

/* The instruction sets of this machine, the best one first; NULL past the last. */
const RvRdpKernels *rv_rdp_cpu_kernels(int index);

#endif
