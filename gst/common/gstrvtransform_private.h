/* SPDX-License-Identifier: MIT */
/* gstrvtransform_private.h: what the files of the base class share. */
#ifndef GST_RV_TRANSFORM_PRIVATE_H
#define GST_RV_TRANSFORM_PRIVATE_H

#include "gstrvlatency.h"
#include "gstrvtransform.h"

struct GstRvTransformPrivate {
  /* properties, guarded by the object lock */
  GstRvEngineChoice choice;
  int threads;
  int device_id;
  gboolean post_messages;
  gboolean latency_report;

  /* stats, guarded by the object lock */
  gboolean running;
  guint64 frames, repeated;
  gint64 total_us, last_us;

  /* guarded by the object lock */
  GstRvLatency latency;
  gboolean live; /* what the upstream elements answered to the last LATENCY query */

  RvEngine engine; /* resolved by start */
#if HAVE_GSTCUDA
  GstCudaContext *context; /* found or created; the device has a reference too */
  GstCudaContext *answer;  /* the same for CONTEXT queries, guarded by the object lock */
#endif
  GstRvDevice *device;
  RvStream stream;
  GstRvLog log;
  gint rebuild;          /* atomic: configure before the next frame */
  gboolean animated;     /* by a controller only: the processing time is that of before */
  gboolean configured;   /* configure has succeeded for the current caps */
  gboolean foreign;      /* buffers come from a device that the user excluded */
  gint changes;          /* atomic: number of changed properties */
  gboolean invalid;      /* caps of the last CAPS event, for these settings */
  GstCaps *invalid_caps; /* the same, remembered with */
  gint invalid_changes;
  gboolean explained;     /* set_caps was reached: what goes wrong from there on posts its error */
  GArray *accepted;       /* GValues of the element's properties that configure accepted, or NULL */
  GThread *restores;      /* atomic: the thread that sets accepted values again, or NULL */
  gint interrupted;       /* atomic: reset before the next frame */
  GstClockTime last_time; /* running time of the last frame */
  GstStructure *results[GST_RV_RESULTS]; /* annotations of the last frame */
  guint once;                            /* bits of gst_rv_transform_once */
  gpointer wanted;                       /* gst_rv_transform_settings */
  gboolean bypass;                       /* gst_rv_transform_set_bypass */
  gboolean idle;                         /* gst_rv_transform_set_idle; guarded by the object lock */
  GThread *negotiates;   /* atomic: the streaming thread while it looks for caps, or NULL */
  gint uploads;          /* atomic: caps are system memory in, CUDA memory out */
  gboolean redraws;      /* writes into a copy of the frame in other memory, not in place */
  gboolean bypass_frame; /* the same for the current frame */
  GstRvFrame in, out;
  GstBufferPool *copies; /* for drawing on shared frames */
};

/* gstrvtransform_accept.c: the settings for configure, which it calls, and those it has accepted */
RvStatus gst_rv_transform_configure(GstRvTransform *self, const GstRvExecContext *work);
GArray *gst_rv_transform_snapshot(GstRvTransform *self);
/* Takes over a snapshot that was accepted; NULL clears the last one. */
void gst_rv_transform_accept(GstRvTransform *self, GArray *snapshot);
/* Posts the rejected settings as a warning and sets the accepted ones again. FALSE when there are
 * none. */
gboolean gst_rv_transform_reject(GstRvTransform *self);

/* gstrvtransform_caps.c */
GstCaps *gst_rv_transform_caps_vfunc(GstBaseTransform *trans, GstPadDirection direction,
                                     GstCaps *caps, GstCaps *filter);
gboolean gst_rv_transform_query_vfunc(GstBaseTransform *trans, GstPadDirection direction,
                                      GstQuery *query, GstBaseTransformClass *parent);
gboolean gst_rv_transform_accept_vfunc(GstBaseTransform *trans, GstPadDirection direction,
                                       GstCaps *caps);
/* Posts an error when nothing that `caps` (of the sink pad) become is taken by what follows. */
void gst_rv_transform_explain_rejection(GstRvTransform *self, GstCaps *caps);

/* gstrvtransform_memory.c: elements whose output is in another memory than their input */
/* TRUE when the element may change the memory of frames that way. */
gboolean gst_rv_transform_may_change(GstRvTransform *self, GstRvMemoryChange change);
/* Completes `result`, what `caps` become on the other pad (ownership passes), by the other memory;
 * while caps are negotiated it selects one. */
GstCaps *gst_rv_transform_caps_of_memory(GstRvTransform *self, GstPadDirection direction,
                                         GstCaps *caps, GstCaps *result);
/* While this thread negotiates: between _begin and _end. */
void gst_rv_transform_negotiation_begin(GstRvTransform *self);
void gst_rv_transform_negotiation_end(GstRvTransform *self);
/* For the caps that were negotiated. */
void gst_rv_transform_set_memory(GstRvTransform *self, GstCaps *in, GstCaps *out);
/* Copies the pixels of `in` to `out`, both in the memory of the engine. */
RvStatus gst_rv_transform_copy_pixels(const GstRvExecContext *work, const RvPicture *in,
                                      const RvPicture *out);

/* Asks the pipeline to query the latency again. */
void gst_rv_transform_post_latency(GstRvTransform *self);

/* gstrvtransform_live.c */
void gst_rv_transform_interrupt(GstRvTransform *self); /* any thread */
/* Compares the time of a frame with that of the last one. */
void gst_rv_transform_follow(GstRvTransform *self, GstBuffer *buffer, gboolean is_discont);
/* After an interruption: calls reset, with the device current. */
RvStatus gst_rv_transform_resume(GstRvTransform *self, const GstRvExecContext *work);
gboolean gst_rv_transform_is_empty(GstBuffer *buffer); /* a GAP without a frame */
void gst_rv_transform_keep_results(GstRvTransform *self, GstBuffer *out);
void gst_rv_transform_forget_results(GstRvTransform *self);
gboolean gst_rv_transform_repeats(GstRvTransform *self, GstBuffer *in);
void gst_rv_transform_attach_results(GstRvTransform *self, GstBuffer *out);
void gst_rv_transform_post_message(GstRvTransform *self, GstBuffer *out, gint64 us);

/* gstrvtransform_run.c: maps, processes (or repeats), synchronizes once, unmaps. The device is
 * current. */
RvStatus gst_rv_transform_run(GstRvTransform *self, GstBuffer *in, GstBuffer *out,
                              gboolean repeats);

/* gstrvtransform_pool.c */
gboolean gst_rv_transform_propose_vfunc(GstBaseTransform *trans, GstQuery *decide, GstQuery *query,
                                        GstBaseTransformClass *parent);
gboolean gst_rv_transform_decide_vfunc(GstBaseTransform *trans, GstQuery *query,
                                       GstBaseTransformClass *parent);
/* A writable buffer whose pixels may be written without effect on other owners of `inbuf`: `inbuf`
 * itself or a copy. */
GstFlowReturn gst_rv_transform_own_picture(GstRvTransform *self, GstBuffer *inbuf,
                                           GstBuffer **outbuf, GstBaseTransformClass *parent);

/* gstrvtransform_device.c */
gboolean gst_rv_transform_open(GstRvTransform *self);        /* resolves the engine; posts errors */
void gst_rv_transform_close(GstRvTransform *self);           /* releases everything on the device */
gboolean gst_rv_transform_need_device(GstRvTransform *self); /* for CUDA caps; posts errors */
void gst_rv_transform_adopt(GstRvTransform *self, GstBuffer *buffer);
void gst_rv_transform_set_context(GstElement *element, GstContext *context);
void gst_rv_transform_forget_context(GstRvTransform *self);
/* Answers with the context of the element, and, when no other element has answered, with the one
 * that it will have. */
gboolean gst_rv_transform_context_query(GstRvTransform *self, GstQuery *query);
gboolean gst_rv_transform_context_offer(GstRvTransform *self, GstQuery *query);
gboolean gst_rv_transform_ready_stream(GstRvTransform *self); /* device current */
GstRvExecContext gst_rv_transform_get_work(GstRvTransform *self);

#endif
