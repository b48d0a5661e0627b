/* SPDX-License-Identifier: MIT */
/* rdp_reference.h: what the cases of column segmentation share: results, and the plain recursion
 * that both engines are compared with. */
#ifndef RDP_TWIN_CASES_H
#define RDP_TWIN_CASES_H

#include "rdp/rdp.h"
#include "rvcheck.h"

/* Everything run() can write, in host memory, filled with a pattern before. */
typedef struct RdpResult {
  int width, height;
  uint32_t room; /* segments */
  uint8_t *mask;
  uint16_t *drawn;
  RvSegment *segments;
  uint32_t *offsets;
  RvRdpColumn *columns;
} RdpResult;

RdpResult rdp_result_new(const RvRdpConfig *config, uint32_t room);
void rdp_result_free(RdpResult *result);
RvRdpOutput rdp_result_output(const RdpResult *result);
/* All of it, the untouched end of the list too. */
int rdp_result_same(RvCheck *check, const char *name, const RdpResult *expected,
                    const RdpResult *got, const char *what);

/* Algorithm 1 as printed, on the call stack, with 64 and 128 bit numbers: no line shared with the
 * library. source: dense, width x height. */
void rdp_reference(const RvRdpConfig *config, const uint16_t *source, RdpResult *result);

/* The measure of the CPU engine: Algorithm 1 on each column, OpenMP over the columns, with mask and
 * list. Vertical distance, every limit off. rows: room for width x height. */
void rdp_plain_recursion(const RvRdpConfig *config, const RvPlane *source, uint16_t *rows,
                         const RvRdpOutput *out);

#endif
