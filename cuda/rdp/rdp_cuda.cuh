/* SPDX-License-Identifier: MIT */
/* rdp_cuda.cuh: what the .cu files of column segmentation share. Not installed. */
#ifndef RV_RDP_CUDA_H
#define RV_RDP_CUDA_H

#include "rdp/rdp_stages.h"
#include "rv_launch.cuh"

constexpr int RDP_THREADS = 1024; /* of a block */

/* Distribution of a frame: one thread block processes `columns` complete neighboring columns, in
 * shared memory. */
struct RdpShape {
  int columns;      /* of one block */
  int blocks;       /* of the frame */
  int pitch;        /* values from one column to the next in shared memory */
  int words;        /* of 32 rows each */
  int word_pitch;   /* odd: the words of one row lie in different banks */
  int small_rows;   /* of the longest segment that is split in step with others */
  int long_columns; /* 1: the mask is written whole at the end, not zeroed while loading */
  int parts;        /* warps of a column in its first search */
  int part_inverse; /* divides by it: rdp_cuda_block.cuh */
  int room;         /* maximum number of queued long segments, and one slot per warp */
  int zeros;        /* 16-byte words that start as 0: the queue and the bits of rows */
  int bytes;        /* of shared memory */
};

struct RdpArgs {
  const uint16_t *source;
  ptrdiff_t stride; /* values */
  int width, height;
  int pairs;  /* values can be read two at a time */
  int across; /* threads that load a row */
  int across_inverse;
  int down;       /* rows that are loaded at once */
  int mask_pairs; /* the mask can be written that way */
  int breaks;     /* invalid rows end a piece */
  RvRdpLimit limit;
  RdpShape shape;
  RvRdpOutput output;
  /* Blocks tell each other how many segments they have found: run << 32 | number. The number of the
   * run comes from the counter of blocks that have begun, since it cannot be an argument: a graph
   * can replay a run. */
  unsigned long long *totals;
  unsigned long long *tickets;
};

/* Of a small divisor, so that a thread does not divide: t / divisor = t * inverse >> 16 where
 * t * divisor < 65536. */
static inline int rdp_inverse(int divisor) {
  return 65536 / divisor + 1;
}

/* The shape for the current device. */
RvStatus rdp_cuda_shape(const RvRdpConfig *config, RdpShape *shape);
/* overlaps: the kernel may start before the preceding one ends. */
RvStatus rdp_cuda_split(const RdpArgs *args, const RvLog *log, RvStream stream, int overlaps);

#endif
