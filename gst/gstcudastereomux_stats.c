/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_stats.c: rings of measured values and the structure made of them. */
#include "gstcudastereomux_stats.h"

#include <stdlib.h>
#include <string.h>

void gst_cuda_stereo_mux_ring_add(GstCudaStereoMuxRing *ring, gint64 value) {
  ring->values[ring->count++ % GST_CUDA_STEREO_MUX_SKEWS] = value;
}

static int compare(const void *a, const void *b) {
  const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return (x > y) - (x < y);
}

/* Copies the values in ascending order and returns their number. */
static guint sorted(const GstCudaStereoMuxRing *ring, gboolean absolute,
                    gint64 values[GST_CUDA_STEREO_MUX_SKEWS]) {
  const guint count = (guint)MIN(ring->count, GST_CUDA_STEREO_MUX_SKEWS);
  for (guint i = 0; i < count; i++)
    values[i] = absolute ? ABS(ring->values[i]) : ring->values[i];
  qsort(values, count, sizeof *values, compare);
  return count;
}

gint64 gst_cuda_stereo_mux_ring_median(const GstCudaStereoMuxRing *ring, gboolean absolute) {
  gint64 values[GST_CUDA_STEREO_MUX_SKEWS];
  const guint count = sorted(ring, absolute, values);
  return count ? values[count / 2] : 0;
}

void gst_cuda_stereo_mux_rate_add(GstCudaStereoMuxRate *rate, GstClockTime time) {
  rate->times[rate->count++ % GST_CUDA_STEREO_MUX_TIMES] = time;
}

double gst_cuda_stereo_mux_rate_get(const GstCudaStereoMuxRate *rate) {
  const guint64 count = MIN(rate->count, GST_CUDA_STEREO_MUX_TIMES);
  if (count < 2)
    return 0;
  const GstClockTime last = rate->times[(rate->count - 1) % GST_CUDA_STEREO_MUX_TIMES];
  const GstClockTime first = rate->times[(rate->count - count) % GST_CUDA_STEREO_MUX_TIMES];
  return last > first ? (double)(count - 1) * GST_SECOND / (double)(last - first) : 0;
}

static double mean(const gint64 *values, guint count) {
  double sum = 0;
  for (guint i = 0; i < count; i++)
    sum += (double)values[i];
  return count ? sum / count : 0;
}

static double us(gint64 ns) {
  return (double)ns / 1000.0;
}

GstStructure *gst_cuda_stereo_mux_stats_new(const GstCudaStereoMuxStats *stats,
                                            const char *memory) {
  gint64 skew[GST_CUDA_STEREO_MUX_SKEWS], latency[GST_CUDA_STEREO_MUX_SKEWS];
  const guint skews = sorted(&stats->skew, TRUE, skew);
  const guint latencies = sorted(&stats->latency, FALSE, latency);
  return gst_structure_new(
      "stats", "memory", G_TYPE_STRING, memory, "pairs", G_TYPE_UINT64, stats->pairs,
      "dropped-left", G_TYPE_UINT64, stats->dropped[0], "dropped-right", G_TYPE_UINT64,
      stats->dropped[1], "dropped-at-start", G_TYPE_UINT64, stats->start, "late", G_TYPE_UINT64,
      stats->late, "stale", G_TYPE_UINT64, stats->stale, "gaps", G_TYPE_UINT64, stats->gaps,
      "invalid", G_TYPE_UINT64, stats->invalid, "mismatched", G_TYPE_UINT64, stats->mismatched,
      "backwards", G_TYPE_UINT64, stats->backwards, "stalls", G_TYPE_UINT64, stats->stalls,
      "skew-median", G_TYPE_DOUBLE, us(gst_cuda_stereo_mux_ring_median(&stats->skew, FALSE)),
      "skew-mean", G_TYPE_DOUBLE, mean(skew, skews) / 1000.0, "skew-p95", G_TYPE_DOUBLE,
      us(skews ? skew[skews * 95 / 100] : 0), "skew-max", G_TYPE_DOUBLE,
      us(skews ? skew[skews - 1] : 0), "rate-left", G_TYPE_DOUBLE,
      gst_cuda_stereo_mux_rate_get(&stats->rate[0]), "rate-right", G_TYPE_DOUBLE,
      gst_cuda_stereo_mux_rate_get(&stats->rate[1]), "added-latency", G_TYPE_DOUBLE,
      mean(latency, latencies) / 1000.0, "added-latency-max", G_TYPE_DOUBLE,
      us(latencies ? latency[latencies - 1] : 0), NULL);
}
