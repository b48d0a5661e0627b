/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_pair.c: pairs the frames of two cameras by time.
 *
 * Only the first frame of each pad is compared, and only when both pads have one: a frame without a
 * partner is known as such when the other camera has sent a newer one, so a camera that delivers
 * late loses nothing. The timer is for reporting a stalled camera, never for pairing. */
#include "gstcudastereomux_private.h"

GST_DEBUG_CATEGORY_EXTERN(gst_cuda_stereo_mux_debug);
#define GST_CAT_DEFAULT gst_cuda_stereo_mux_debug

#define SKEW_MARGIN GST_MSECOND              /* on top of half a frame */
#define FRAME_TIME_DEFAULT (GST_SECOND / 30) /* while nothing is known */
#define MISMATCH_TIME GST_SECOND /* different caps are tolerated for, without stall-time */
#define SKEW_WARNING (5 * GST_MSECOND)
#define SKEW_WARNING_PAIRS 128
#define LATE_MARGIN (50 * GST_MSECOND) /* what a busy scheduler may take */
#define LATE_ROUNDS 64 /* a source that is faster than the clock must not be skipped for ever */
#define LEFT GST_CUDA_STEREO_MUX_LEFT
#define RIGHT GST_CUDA_STEREO_MUX_RIGHT

static double ms(gint64 ns) {
  return (double)ns / GST_MSECOND;
}

gboolean gst_cuda_stereo_mux_warn_once(GstCudaStereoMux *self, guint bit) {
  const gboolean first = !(self->warned & bit);
  self->warned |= bit;
  return first;
}

void gst_cuda_stereo_mux_drop_pending(GstCudaStereoMux *self) {
  for (guint i = 0; i < self->pendings; i++)
    gst_cuda_stereo_mux_pair_clear(&self->pending[i]);
  self->pendings = 0;
}

void gst_cuda_stereo_mux_reset(GstCudaStereoMux *self) {
  gst_cuda_stereo_mux_drop_pending(self);
  self->discont = TRUE;
  self->mismatched_since = self->last_pts = GST_CLOCK_TIME_NONE;
  self->warned = 0;
  self->side[LEFT].stalled = self->side[RIGHT].stalled = FALSE;
  self->missed = 0;
  self->missed_skew = 0;
  GST_OBJECT_LOCK(self);
  for (int i = 0; i < 2; i++) {
    self->side[i].taken = self->side[i].arrived;
    self->stats.rate[i].count = 0;
  }
  GST_OBJECT_UNLOCK(self);
}

/* --- Times ----------------------------------------------------------------------------------- */

GstClockTime gst_cuda_stereo_mux_frame_time(GstCudaStereoMux *self) {
  GstClockTime least = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK(self);
  for (int i = 0; i < 2; i++) {
    const GstVideoInfo *info = &self->side[i].view.info;
    const double measured = gst_cuda_stereo_mux_rate_get(&self->stats.rate[i]);
    GstClockTime time = GST_CLOCK_TIME_NONE;
    if (self->side[i].view.caps && GST_VIDEO_INFO_FPS_N(info) > 0)
      time = gst_util_uint64_scale(GST_SECOND, (guint64)GST_VIDEO_INFO_FPS_D(info),
                                   (guint64)GST_VIDEO_INFO_FPS_N(info));
    else if (measured > 0)
      time = (GstClockTime)(GST_SECOND / measured);
    least = MIN(least, time);
  }
  GST_OBJECT_UNLOCK(self);
  return least == GST_CLOCK_TIME_NONE ? FRAME_TIME_DEFAULT : least;
}

/* At exactly half a frame, cameras that run freely fall into a dead band; above, the nearest
 * partner may be a later frame. */
static void update_max_skew(GstCudaStereoMux *self) {
  const GstClockTime frame = gst_cuda_stereo_mux_frame_time(self);
  if (ABS(GST_CLOCK_DIFF(self->frame_time, frame)) > (gint64)self->frame_time / 8)
    self->frame_time = frame; /* measured rates vary */
  const GstClockTime limit = self->frame_time / 2 + SKEW_MARGIN;
  const GstClockTime asked = self->used.max_skew;
  const GstClockTime skew = asked ? MIN(asked, limit) : limit;
  if (skew == self->max_skew)
    return;
  GST_INFO_OBJECT(self, "max-skew in use: %.3f ms (limit %.3f ms)", ms((gint64)skew),
                  ms((gint64)limit));
  self->max_skew = skew;
  gst_aggregator_set_latency(GST_AGGREGATOR_CAST(self), skew, skew + self->frame_time);
}

/* When the frame of `pts` arrived, monotonic µs; 0 = unknown. */
static gint64 take_arrival(GstCudaStereoMux *self, int side, GstClockTime pts) {
  GstCudaStereoMuxSide *s = &self->side[side];
  gint64 us = 0;
  GST_OBJECT_LOCK(self);
  if (s->arrived - s->taken > GST_CUDA_STEREO_MUX_ARRIVALS)
    s->taken = s->arrived - GST_CUDA_STEREO_MUX_ARRIVALS;
  for (guint64 k = s->taken; k < s->arrived && us == 0; k++) {
    const GstCudaStereoMuxArrival *arrival = &s->arrivals[k % GST_CUDA_STEREO_MUX_ARRIVALS];
    if (arrival->pts == pts) {
      us = arrival->us;
      s->taken = k + 1;
    }
  }
  GST_OBJECT_UNLOCK(self);
  return us;
}

/* Times of both frames by a clock that both cameras know. */
static gboolean reference_times(GstBuffer *left, GstBuffer *right, gint64 *a, gint64 *b) {
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered(left, &state,
                                                  GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    const GstReferenceTimestampMeta *mine = (const GstReferenceTimestampMeta *)meta;
    const GstReferenceTimestampMeta *theirs =
        gst_buffer_get_reference_timestamp_meta(right, mine->reference);
    if (theirs) {
      *a = (gint64)mine->timestamp;
      *b = (gint64)theirs->timestamp;
      return TRUE;
    }
  }
  return FALSE;
}

/* Sets the skew of two frames. FALSE when pair-by=reference and they have no common reference; the
 * skew is that of the running times then. */
static gboolean measure(const GstCudaStereoMux *self, GstCudaStereoMuxPair *pair) {
  const GstCudaStereoMuxFrame *l = &pair->frame[LEFT], *r = &pair->frame[RIGHT];
  gint64 a = (gint64)l->running, b = (gint64)r->running;
  const gboolean referenced = self->used.pair_by != GST_CUDA_STEREO_MUX_PAIR_BY_RUNNING_TIME &&
                              reference_times(l->buffer, r->buffer, &a, &b);
  pair->skew = b + self->used.right_offset - a;
  return referenced || self->used.pair_by != GST_CUDA_STEREO_MUX_PAIR_BY_REFERENCE;
}

/* --- Frames ---------------------------------------------------------------------------------- */

/* GST_CLOCK_TIME_NONE outside the segment, or without one. */
static GstClockTime running_time(const GstCudaStereoMuxSide *side, GstBuffer *buffer) {
  const GstSegment *segment = &side->pad->segment;
  return segment->format == GST_FORMAT_TIME
             ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
             : GST_CLOCK_TIME_NONE;
}

/* The first frame of a pad, still queued there. GAP events and frames outside the segment are
 * dropped. Returns NEED_DATA when there is no frame, ERROR for frames without time stamp. */
static GstFlowReturn peek(GstCudaStereoMux *self, int side, GstCudaStereoMuxFrame *frame) {
  GstCudaStereoMuxSide *s = &self->side[side];
  GstBuffer *buffer;
  while ((buffer = gst_aggregator_pad_peek_buffer(s->pad))) {
    const gboolean gap =
        gst_buffer_get_size(buffer) == 0 && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
    if (!gap && !GST_BUFFER_PTS_IS_VALID(buffer)) {
      gst_buffer_unref(buffer);
      GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("A frame of %s has no time stamp.", s->name),
                        ("Frames are paired by time: set do-timestamp=true on the source."));
      return GST_FLOW_ERROR;
    }
    frame->running = gap ? GST_CLOCK_TIME_NONE
                         : gst_segment_to_running_time(&s->pad->segment, GST_FORMAT_TIME,
                                                       GST_BUFFER_PTS(buffer));
    if (GST_CLOCK_TIME_IS_VALID(frame->running)) {
      frame->buffer = buffer;
      return GST_FLOW_OK;
    }
    gst_buffer_unref(buffer);
    gst_aggregator_pad_drop_buffer(s->pad);
    GST_OBJECT_LOCK(self);
    *(gap ? &self->stats.gaps : &self->stats.invalid) += 1;
    GST_OBJECT_UNLOCK(self);
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* Removes the first frame from its pad. */
static void take(GstCudaStereoMux *self, int side, GstCudaStereoMuxFrame *frame) {
  gst_aggregator_pad_drop_buffer(self->side[side].pad);
  frame->arrival = take_arrival(self, side, GST_BUFFER_PTS(frame->buffer));
  GST_OBJECT_LOCK(self);
  gst_cuda_stereo_mux_rate_add(&self->stats.rate[side], frame->running);
  GST_OBJECT_UNLOCK(self);
}

/* --- Pairs ----------------------------------------------------------------------------------- */

static void warn_no_pair(GstCudaStereoMux *self) {
  GST_ELEMENT_WARNING(
      self, STREAM, FORMAT,
      ("No pair in the last %u frames: left and right are up to %.1f ms apart, max-skew is %.1f "
       "ms.",
       self->missed, ms(ABS(self->missed_skew)), ms((gint64)self->max_skew)),
      ("If the difference is constant, set right-offset=%" G_GINT64_FORMAT
       "; else raise max-skew (at most half a frame is used), or check that both cameras use the "
       "pipeline's clock.",
       self->used.right_offset - self->missed_skew));
}

/* Drops the older of two frames that are too far apart. */
static void drop_older(GstCudaStereoMux *self, GstCudaStereoMuxPair *pair) {
  const int older = pair->skew > 0 ? LEFT : RIGHT;
  GST_DEBUG_OBJECT(self, "dropping %s at %" GST_TIME_FORMAT ": skew %.3f ms",
                   self->side[older].name, GST_TIME_ARGS(pair->frame[older].running),
                   ms(pair->skew));
  take(self, older, &pair->frame[older]);
  self->discont = TRUE;
  GST_OBJECT_LOCK(self);
  *(self->paired ? &self->stats.dropped[older] : &self->stats.start) += 1;
  GST_OBJECT_UNLOCK(self);
  self->missed++;
  if (ABS(pair->skew) > ABS(self->missed_skew))
    self->missed_skew = pair->skew;
  /* Twice: what a queue has stored during a stall is dropped at once and is no cause to warn. */
  if (self->used.stall_time > 0 && self->missed > 2 * self->used.stall_time / self->frame_time &&
      gst_cuda_stereo_mux_warn_once(self, GST_CUDA_STEREO_MUX_WARNED_NO_PAIR))
    warn_no_pair(self);
}

/* TRUE when the views can be packed. Cameras change their caps one after the other, so pairs are
 * dropped for a while before that is an error. */
static gboolean caps_agree(GstCudaStereoMux *self, const GstCudaStereoMuxPair *pair) {
  const GstCudaStereoMuxView *l = &self->side[LEFT].view, *r = &self->side[RIGHT].view;
  if (gst_cuda_stereo_mux_views_agree(l, r)) {
    self->mismatched_since = GST_CLOCK_TIME_NONE;
    return TRUE;
  }
  const GstClockTime now = pair->frame[LEFT].running;
  const GstClockTime limit = self->used.stall_time ? self->used.stall_time : MISMATCH_TIME;
  if (!GST_CLOCK_TIME_IS_VALID(self->mismatched_since))
    self->mismatched_since = now;
  if (self->packed_caps &&
      (now < self->mismatched_since || now - self->mismatched_since <= limit)) {
    GST_OBJECT_LOCK(self);
    self->stats.mismatched++;
    GST_OBJECT_UNLOCK(self);
    self->discont = TRUE;
    return FALSE;
  }
  char *left = gst_cuda_stereo_mux_describe(l), *right = gst_cuda_stereo_mux_describe(r);
  GST_ELEMENT_ERROR(
      self, STREAM, FORMAT, ("The two views differ: left is %s, right is %s.", left, right),
      ("Set the same format, size and memory for both: caps filters downstream of the "
       "sources, videoconvert, videoscale, cudaupload."));
  g_free(left);
  g_free(right);
  self->failed = TRUE;
  return FALSE;
}

/* TRUE when the first pending pair is already late at the sink. Waiting pairs alone are no indication: a
 * sink that synchronizes to the clock holds them back for the latency of the pipeline. */
static gboolean is_late(GstCudaStereoMux *self) {
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT_CAST(self));
  GST_OBJECT_LOCK(self);
  GstClockTime latency = self->latency;
  GST_OBJECT_UNLOCK(self);
  if (!GST_CLOCK_TIME_IS_VALID(latency))
    latency = gst_aggregator_get_latency(GST_AGGREGATOR_CAST(self));
  return GST_CLOCK_TIME_IS_VALID(now) && GST_CLOCK_TIME_IS_VALID(latency) &&
         now > self->pending[0].frame[LEFT].running + latency + LATE_MARGIN;
}

/* Downstream is slow: of the complete pairs that wait, only the newest is kept. */
static void keep_newest(GstCudaStereoMux *self) {
  const guint late = self->pendings - 1;
  GST_DEBUG_OBJECT(self, "downstream is slow: %u complete pairs dropped", late);
  for (guint i = 0; i < late; i++)
    gst_cuda_stereo_mux_pair_clear(&self->pending[i]);
  self->pending[0] = self->pending[late];
  self->pendings = 1;
  self->discont = TRUE;
  GST_OBJECT_LOCK(self);
  self->stats.late += late;
  GST_OBJECT_UNLOCK(self);
}

/* Compares the first frames of both pads: takes them as a pair, or drops the older one. */
static void match(GstCudaStereoMux *self, GstCudaStereoMuxPair *pair) {
  const gboolean measured = measure(self, pair);
  if (!measured && gst_cuda_stereo_mux_warn_once(self, GST_CUDA_STEREO_MUX_WARNED_REFERENCE))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The frames have no common reference time stamp; they are dropped."),
                        ("Set add-reference-timestamp-meta=true on rtspsrc, or pair-by=auto."));
  if (!measured || ABS(pair->skew) > (gint64)self->max_skew) {
    drop_older(self, pair);
    gst_cuda_stereo_mux_pair_clear(pair);
    return;
  }
  take(self, LEFT, &pair->frame[LEFT]);
  take(self, RIGHT, &pair->frame[RIGHT]);
  if (!caps_agree(self, pair)) {
    gst_cuda_stereo_mux_pair_clear(pair);
    return;
  }
  self->pending[self->pendings++] = *pair;
  self->paired = TRUE;
}

/* Collects complete pairs up to `most`. */
static GstFlowReturn fill(GstCudaStereoMux *self, guint most) {
  while (!self->failed && self->pendings < most) {
    GstCudaStereoMuxPair pair = {0};
    GstFlowReturn flow = peek(self, LEFT, &pair.frame[LEFT]);
    if (flow == GST_FLOW_OK)
      flow = peek(self, RIGHT, &pair.frame[RIGHT]);
    if (flow != GST_FLOW_OK) {
      gst_cuda_stereo_mux_pair_clear(&pair);
      return flow == GST_AGGREGATOR_FLOW_NEED_DATA ? GST_FLOW_OK : flow;
    }
    match(self, &pair);
  }
  return self->failed ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

/* Collects the complete pairs that wait: one, or several of a live stream, less those that are
 * late and have newer ones after them. */
static GstFlowReturn collect(GstCudaStereoMux *self, gboolean live) {
  const guint most = live ? GST_CUDA_STEREO_MUX_PENDING : 1;
  GST_OBJECT_LOCK(self);
  self->used = self->settings;
  GST_OBJECT_UNLOCK(self);
  update_max_skew(self);
  GstFlowReturn flow = fill(self, most);
  for (guint i = 0;
       flow == GST_FLOW_OK && live && self->pendings == most && i < LATE_ROUNDS && is_late(self);
       i++) {
    keep_newest(self);
    flow = fill(self, most);
  }
  return flow;
}

static void warn_skew(GstCudaStereoMux *self) {
  GST_OBJECT_LOCK(self);
  const guint64 pairs = self->stats.skew.count;
  const gint64 median =
      pairs == SKEW_WARNING_PAIRS ? gst_cuda_stereo_mux_ring_median(&self->stats.skew, TRUE) : 0;
  GST_OBJECT_UNLOCK(self);
  if (median > (gint64)SKEW_WARNING &&
      gst_cuda_stereo_mux_warn_once(self, GST_CUDA_STEREO_MUX_WARNED_SKEW))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("The cameras are %.1f ms apart (median of %d pairs): the depth of moving "
                         "objects is wrong.",
                         ms(median), SKEW_WARNING_PAIRS),
                        ("Synchronize the cameras by a trigger line; right-offset corrects time "
                         "stamps that differ by a constant."));
}

/* Pushes the pending pair that is first in time. */
static GstFlowReturn push_first(GstCudaStereoMux *self) {
  GstCudaStereoMuxPair pair = self->pending[0];
  self->pendings--;
  for (guint i = 0; i < self->pendings; i++)
    self->pending[i] = self->pending[i + 1];
  self->warned &= ~(guint)GST_CUDA_STEREO_MUX_WARNED_NO_PAIR;
  for (int i = 0; i < 2; i++) {
    if (self->side[i].stalled)
      GST_INFO_OBJECT(self, "%s has resumed", self->side[i].name);
    self->side[i].stalled = FALSE;
  }
  self->missed = 0;
  self->missed_skew = 0;
  const GstFlowReturn flow = gst_cuda_stereo_mux_push(self, &pair);
  warn_skew(self);
  return flow;
}

/* --- Stalls and ends ------------------------------------------------------------------------- */

/* Drops the first frame of a pad, for which no partner is expected any more. */
static void drop_stale(GstCudaStereoMux *self, int side, GstCudaStereoMuxFrame *frame) {
  take(self, side, frame);
  gst_clear_buffer(&frame->buffer);
  self->discont = TRUE;
  GST_OBJECT_LOCK(self);
  self->stats.stale++;
  GST_OBJECT_UNLOCK(self);
}

/* Tells the downstream elements that there is nothing up to `end`. */
static void push_gap(GstCudaStereoMux *self, GstClockTime end) {
  GstSegment *segment = &GST_AGGREGATOR_PAD(GST_AGGREGATOR_SRC_PAD(self))->segment;
  GST_OBJECT_LOCK(self);
  const GstClockTime begin = segment->position;
  const gboolean missing = GST_CLOCK_TIME_IS_VALID(self->last_pts) && end > begin;
  if (missing)
    segment->position = end;
  GST_OBJECT_UNLOCK(self);
  if (missing)
    gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(self), gst_event_new_gap(begin, end - begin));
}

static void warn_stall(GstCudaStereoMux *self, int side) {
  const GstCudaStereoMuxSide *s = &self->side[side];
  GST_OBJECT_LOCK(self);
  self->stats.stalls++;
  GST_OBJECT_UNLOCK(self);
  if (!gst_pad_is_linked(GST_PAD_CAST(s->pad)))
    GST_ELEMENT_WARNING(self, CORE, PAD, ("The pad %s is not linked; no pairs are made.", s->name),
                        ("Link the second camera to it."));
  else
    GST_ELEMENT_WARNING(self, RESOURCE, READ,
                        ("The pad %s has received nothing for %.1f s.", s->name,
                         (double)self->used.stall_time / GST_SECOND),
                        ("Check the camera and its cable; frames of the other pad are dropped "
                         "until it sends again."));
}

/* The timer has expired: one pad has frames and the other has none. */
static void handle_stall(GstCudaStereoMux *self) {
  if (self->used.stall_time == 0 || GST_STATE(self) != GST_STATE_PLAYING)
    return;
  GstCudaStereoMuxFrame frame[2] = {{0}};
  gboolean has[2];
  for (int i = 0; i < 2; i++)
    has[i] = peek(self, i, &frame[i]) == GST_FLOW_OK;
  if (has[LEFT] != has[RIGHT]) {
    const int silent = has[LEFT] ? RIGHT : LEFT;
    if (!self->side[silent].stalled)
      warn_stall(self, silent);
    self->side[silent].stalled = TRUE;
    const GstClockTime stale = frame[!silent].running;
    drop_stale(self, !silent, &frame[!silent]);
    push_gap(self, stale);
  }
  gst_clear_buffer(&frame[LEFT].buffer);
  gst_clear_buffer(&frame[RIGHT].buffer);
}

/* After the end of one pad the frames of the other have no partner. */
static gboolean has_ended(GstCudaStereoMux *self) {
  const gboolean left = gst_aggregator_pad_is_eos(self->side[LEFT].pad);
  const gboolean right = gst_aggregator_pad_is_eos(self->side[RIGHT].pad);
  if ((left && right) || ((left || right) && self->used.eos == GST_CUDA_STEREO_MUX_EOS_ANY))
    return TRUE;
  if (!left && !right)
    return FALSE;
  const int other = left ? RIGHT : LEFT;
  GstCudaStereoMuxFrame frame = {0};
  while (peek(self, other, &frame) == GST_FLOW_OK) {
    const GstClockTime stale = frame.running;
    drop_stale(self, other, &frame);
    push_gap(self, stale);
  }
  return FALSE;
}

/* --- The task -------------------------------------------------------------------------------- */

GstClockTime gst_cuda_stereo_mux_next_time(GstAggregator *agg) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(agg);
  GST_OBJECT_LOCK(self);
  const GstClockTime stall_time = self->settings.stall_time;
  const GstCudaStereoMuxEos eos = self->settings.eos;
  GST_OBJECT_UNLOCK(self);
  for (int i = 0; i < 2 && eos == GST_CUDA_STEREO_MUX_EOS_ANY; i++)
    if (gst_aggregator_pad_is_eos(self->side[i].pad))
      return 0; /* at once */
  if (stall_time == 0 ||
      (GST_STATE(self) != GST_STATE_PLAYING && GST_STATE_NEXT(self) != GST_STATE_PLAYING))
    return GST_CLOCK_TIME_NONE;
  for (int i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_aggregator_pad_peek_buffer(self->side[i].pad);
    if (!buffer)
      continue;
    const GstClockTime time = running_time(&self->side[i], buffer);
    gst_buffer_unref(buffer);
    return GST_CLOCK_TIME_IS_VALID(time) ? time + stall_time : GST_CLOCK_TIME_NONE;
  }
  return GST_CLOCK_TIME_NONE;
}

GstFlowReturn gst_cuda_stereo_mux_aggregate(GstAggregator *agg, gboolean timeout) {
  GstCudaStereoMux *self = GST_CUDA_STEREO_MUX(agg);
  const gboolean live = GST_CLOCK_TIME_IS_VALID(gst_aggregator_get_latency(agg));
  GstFlowReturn flow = collect(self, live);
  while (flow == GST_FLOW_OK && self->pendings > 0) {
    flow = push_first(self);
    if (flow == GST_FLOW_OK)
      flow = collect(self, live);
  }
  if (flow != GST_FLOW_OK)
    return flow;
  if (has_ended(self))
    return GST_FLOW_EOS;
  if (timeout)
    handle_stall(self);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}
