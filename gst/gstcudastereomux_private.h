/* SPDX-License-Identifier: MIT */
/* gstcudastereomux_private.h: what the files of cudastereomux share.
 *
 *   gstcudastereomux.c         properties, pads, events, queries, life cycle
 *   gstcudastereomux_pair.c    which frames belong together; stalls; runs in the source pad's task
 *   gstcudastereomux_output.c  one pair: caps, buffer, copies, annotations, push; the same task
 *   gstcudastereomux_pack.c    caps and layout of packed frames
 *   gstcudastereomux_stats.c   counters and measured values */
#ifndef GST_CUDA_STEREO_MUX_PRIVATE_H
#define GST_CUDA_STEREO_MUX_PRIVATE_H

#include "common/gstrverror.h"
#include "gstcudastereomux.h"
#include "gstcudastereomux_pack.h"
#include "gstcudastereomux_stats.h"

G_BEGIN_DECLS

#define GST_CUDA_STEREO_MUX_PENDING 3   /* complete pairs that wait at most */
#define GST_CUDA_STEREO_MUX_ARRIVALS 64 /* frames whose time of arrival is kept, per pad */

enum { GST_CUDA_STEREO_MUX_LEFT, GST_CUDA_STEREO_MUX_RIGHT };

typedef enum GstCudaStereoMuxPairBy {
  GST_CUDA_STEREO_MUX_PAIR_BY_AUTO = 0,
  GST_CUDA_STEREO_MUX_PAIR_BY_RUNNING_TIME,
  GST_CUDA_STEREO_MUX_PAIR_BY_REFERENCE,
} GstCudaStereoMuxPairBy;

typedef enum GstCudaStereoMuxEos {
  GST_CUDA_STEREO_MUX_EOS_ANY = 0,
  GST_CUDA_STEREO_MUX_EOS_ALL,
} GstCudaStereoMuxEos;

typedef struct GstCudaStereoMuxSettings {
  guint64 max_skew, stall_time; /* ns */
  gint64 right_offset;          /* ns */
  GstCudaStereoMuxPairBy pair_by;
  GstCudaStereoMuxLayout layout;
  GstCudaStereoMuxEos eos;
  int post_messages;
} GstCudaStereoMuxSettings;

typedef struct GstCudaStereoMuxArrival {
  GstClockTime pts;
  gint64 us; /* monotonic */
} GstCudaStereoMuxArrival;

/* One sink pad. */
typedef struct GstCudaStereoMuxSide {
  GstAggregatorPad *pad; /* owned by the element */
  const char *name;
  /* written by the task, and guarded by the object lock for other threads */
  GstCudaStereoMuxView view;
  /* guarded by the object lock */
  GstCudaStereoMuxArrival arrivals[GST_CUDA_STEREO_MUX_ARRIVALS];
  guint64 arrived, taken;
  /* task only */
  gboolean stalled;
} GstCudaStereoMuxSide;

typedef struct GstCudaStereoMuxFrame {
  GstBuffer *buffer;    /* owned */
  GstClockTime running; /* running time, ns */
  gint64 arrival;       /* monotonic µs, 0 = unknown */
} GstCudaStereoMuxFrame;

typedef struct GstCudaStereoMuxPair {
  GstCudaStereoMuxFrame frame[2];
  gint64 skew; /* ns, right - left */
} GstCudaStereoMuxPair;

struct _GstCudaStereoMux {
  GstAggregator parent;

  /* guarded by the object lock */
  GstCudaStereoMuxSettings settings;
  GstCudaStereoMuxStats stats;
  GstClockTime latency; /* of the pipeline, from the LATENCY event; GST_CLOCK_TIME_NONE: unknown */

  GstCudaStereoMuxSide side[2];

  /* task only */
  GstCudaStereoMuxSettings used; /* settings of this call of aggregate */
  GstClockTime frame_time;       /* of the faster camera */
  GstClockTime max_skew;         /* in use */
  gboolean failed;               /* an error was posted */
  gboolean paired;               /* there was a pair since the start */
  GstCudaStereoMuxPair pending[GST_CUDA_STEREO_MUX_PENDING];
  guint pendings;
  gboolean discont;              /* the next pair does not follow the previous one */
  guint missed;                  /* frames dropped since the last pair */
  gint64 missed_skew;            /* the largest skew of these, ns */
  GstClockTime mismatched_since; /* running time of the first pair with different caps */
  GstClockTime last_pts;
  guint warned; /* bits of WARNED_ */
  GstCaps *packed_caps;
  GstVideoInfo packed;
  GstCudaStereoMuxFrames frames;
  GstRvDevice *device; /* NULL: system memory */
  RvStream stream;
  GstRvLog log;
};

/* Warnings that are posted once, until what they are about has ended. */
enum {
  GST_CUDA_STEREO_MUX_WARNED_NO_PAIR = 1,
  GST_CUDA_STEREO_MUX_WARNED_BACKWARDS = 2,
  GST_CUDA_STEREO_MUX_WARNED_REFERENCE = 4,
  GST_CUDA_STEREO_MUX_WARNED_SKEW = 8,
};

/* TRUE the first time, until the bit of `warned` is cleared. */
gboolean gst_cuda_stereo_mux_warn_once(GstCudaStereoMux *self, guint bit);

/* gstcudastereomux_pair.c */
GstFlowReturn gst_cuda_stereo_mux_aggregate(GstAggregator *agg, gboolean timeout);
GstClockTime gst_cuda_stereo_mux_next_time(GstAggregator *agg);
void gst_cuda_stereo_mux_drop_pending(GstCudaStereoMux *self);
/* Drops the pending pairs and all that depends on time; the counters stay. */
void gst_cuda_stereo_mux_reset(GstCudaStereoMux *self);
/* Duration of a frame of the faster camera, from the caps or as measured. */
GstClockTime gst_cuda_stereo_mux_frame_time(GstCudaStereoMux *self);

/* gstcudastereomux_output.c */
/* Packs and pushes a pair; takes its buffers. */
GstFlowReturn gst_cuda_stereo_mux_push(GstCudaStereoMux *self, GstCudaStereoMuxPair *pair);
void gst_cuda_stereo_mux_pair_clear(GstCudaStereoMuxPair *pair);
GstFlowReturn gst_cuda_stereo_mux_update_src_caps(GstAggregator *agg, GstCaps *downstream,
                                                  GstCaps **caps);
gboolean gst_cuda_stereo_mux_decide_allocation(GstAggregator *agg, GstQuery *query);
/* Frees the stream, the mapped frames and the device. */
void gst_cuda_stereo_mux_close(GstCudaStereoMux *self);

G_END_DECLS
#endif
