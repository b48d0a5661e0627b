/* SPDX-License-Identifier: MIT */
/* gstrvlatency.h: the latency that an element reports: a high percentile of its measured processing
 * time, with hysteresis. Plain data; not thread-safe. */
#ifndef GST_RV_LATENCY_H
#define GST_RV_LATENCY_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_RV_LATENCY_FRAMES 64 /* frames that are remembered */

typedef struct GstRvLatency {
  gint64 us[GST_RV_LATENCY_FRAMES]; /* processing times, oldest overwritten first */
  guint64 count;
  guint skip;            /* frames that are still ignored */
  GstClockTime reported; /* ns; 0 = nothing measured yet */
  gint64 changed_us;     /* monotonic time of the last change */
  gint64 low_since_us;   /* since when half of `reported` would do; 0 = it would not */
} GstRvLatency;

/* Forgets the processing times, not the reported latency; the next frames are ignored, since the
 * first ones after a change also allocate. */
void gst_rv_latency_restart(GstRvLatency *latency);

/* Adds the processing time of a frame that was completed at `now_us`. Returns TRUE when the latency
 * to report has changed: at once when it is too low, after 5 s when half of it would do, and at
 * most once per second. */
gboolean gst_rv_latency_add(GstRvLatency *latency, gint64 us, gint64 now_us);

G_END_DECLS
#endif
