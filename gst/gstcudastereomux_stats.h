/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_stats.h: what cudastereomux counts and measures, for its property `stats` and
 * its warnings. Plain data: the element guards it by its object lock. */
#ifndef GST_CUDA_STEREO_MUX_STATS_H
#define GST_CUDA_STEREO_MUX_STATS_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_CUDA_STEREO_MUX_SKEWS 512 /* pairs that skew and latency are taken over */
#define GST_CUDA_STEREO_MUX_TIMES 64  /* frames that a rate is taken over */

/* The last values of something, oldest overwritten first. */
typedef struct GstCudaStereoMuxRing {
  gint64 values[GST_CUDA_STEREO_MUX_SKEWS];
  guint64 count; /* values so far */
} GstCudaStereoMuxRing;

/* Arrival of frames at one pad. */
typedef struct GstCudaStereoMuxRate {
  GstClockTime times[GST_CUDA_STEREO_MUX_TIMES]; /* running times of the last frames */
  guint64 count;
} GstCudaStereoMuxRate;

typedef struct GstCudaStereoMuxStats {
  guint64 pairs;
  guint64 dropped[2];           /* left, right: frames without a partner, from the first pair on */
  guint64 start;                /* frames without a partner before the first pair, both pads */
  guint64 late;                 /* complete pairs that newer ones replaced */
  guint64 stale;                /* frames dropped because the other pad had stalled or ended */
  guint64 gaps;                 /* GAP events received in place of frames */
  guint64 invalid;              /* frames outside their segment */
  guint64 mismatched;           /* pairs dropped because the caps of the pads differed */
  guint64 backwards;            /* pairs dropped because time did not advance */
  guint64 stalls;               /* times that one pad received nothing for stall-time */
  GstCudaStereoMuxRing skew;    /* ns, right - left, of pairs */
  GstCudaStereoMuxRing latency; /* ns from the arrival of the first frame of a pair to its push */
  GstCudaStereoMuxRate rate[2];
} GstCudaStereoMuxStats;

void gst_cuda_stereo_mux_ring_add(GstCudaStereoMuxRing *ring, gint64 value);

/* Median, 0 of an empty ring. */
gint64 gst_cuda_stereo_mux_ring_median(const GstCudaStereoMuxRing *ring, gboolean absolute);

void gst_cuda_stereo_mux_rate_add(GstCudaStereoMuxRate *rate, GstClockTime time);

/* Frames per second, 0 = unknown. */
double gst_cuda_stereo_mux_rate_get(const GstCudaStereoMuxRate *rate);

/* The structure of the property `stats`. `memory`: "system", "cuda" or "none". */
GstStructure *gst_cuda_stereo_mux_stats_new(const GstCudaStereoMuxStats *stats, const char *memory);

G_END_DECLS
#endif
