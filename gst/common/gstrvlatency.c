/* SPDX-License-Identifier: MIT */
/* gstrvlatency.c: percentile, headroom and hysteresis of the reported latency. */
#include "gstrvlatency.h"

#define SKIP 3                             /* frames after a change */
#define OUTLIER_FRAMES 16                  /* from here on the largest time is an outlier */
#define HOLD_US (5 * G_TIME_SPAN_SECOND)   /* before the latency is lowered */
#define PERIOD_US (1 * G_TIME_SPAN_SECOND) /* between two changes */

void gst_rv_latency_restart(GstRvLatency *latency) {
  latency->count = 0;
  latency->skip = SKIP;
  latency->low_since_us = 0;
}

/* 98th percentile of the remembered times (the second largest of 64) and a quarter more, in ms
 * rounded up. */
static GstClockTime needed(const GstRvLatency *latency) {
  const guint count = (guint)MIN(latency->count, GST_RV_LATENCY_FRAMES);
  gint64 first = 0, second = 0;
  for (guint i = 0; i < count; i++) {
    const gint64 us = latency->us[i];
    second = MAX(second, MIN(first, us));
    first = MAX(first, us);
  }
  const gint64 high = count >= OUTLIER_FRAMES ? second : first;
  const gint64 ms = (high * 5 / 4 + 999) / 1000;
  return (GstClockTime)MAX(ms, 1) * GST_MSECOND;
}

gboolean gst_rv_latency_add(GstRvLatency *latency, gint64 us, gint64 now_us) {
  if (latency->skip > 0) {
    latency->skip--;
    return FALSE;
  }
  latency->us[latency->count++ % GST_RV_LATENCY_FRAMES] = us;
  const GstClockTime need = needed(latency);
  const gboolean low = need < latency->reported / 2;
  if (!low)
    latency->low_since_us = 0;
  else if (latency->low_since_us == 0)
    latency->low_since_us = now_us;
  const gboolean raise = need > latency->reported;
  const gboolean lower = low && now_us - latency->low_since_us >= HOLD_US;
  if (!raise && !lower)
    return FALSE;
  if (latency->reported > 0 && now_us - latency->changed_us < PERIOD_US)
    return FALSE;
  latency->reported = need;
  latency->changed_us = now_us;
  latency->low_since_us = 0;
  return TRUE;
}
