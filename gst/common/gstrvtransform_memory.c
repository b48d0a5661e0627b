/* SPDX-License-Identifier: MIT */
/* gstrvtransform_memory.c: elements whose output is in another memory than their input. The first one
 * takes frames in system memory to the GPU, by page-locked memory, the last one brings them back, and
 * nothing in between copies: pipelines need neither cudaupload nor cudadownload.
 *
 * Frames change their memory where that is a gain for certain, and other pipelines see the memory that
 * they would see without: what accepts any memory (appsink, filesink) may know only one of them. */
#include "gstrvcaps.h"
#include "gstrvtransform_private.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(self)

/* --- Neighbors ------------------------------------------------------------------------------- */

/* The pad of an element that `pad` is linked with, which may be in another bin, or NULL. */
static GstPad *linked_pad(GstPad *pad) {
  GstPad *peer = gst_pad_get_peer(pad);
  while (peer && GST_IS_PROXY_PAD(peer)) {
    GstPad *next = NULL;
    if (GST_IS_GHOST_PAD(peer)) { /* of a bin: into it */
      next = gst_ghost_pad_get_target(GST_GHOST_PAD(peer));
    } else { /* inside the pad of the bin that `pad` is in: out of it */
      GstProxyPad *outside = gst_proxy_pad_get_internal(GST_PROXY_PAD(peer));
      next = outside ? gst_pad_get_peer(GST_PAD_CAST(outside)) : NULL;
      gst_clear_object(&outside);
    }
    gst_object_unref(peer);
    peer = next;
  }
  return peer;
}

/* The only pad of the element in that direction, or NULL: a path ends where others begin. */
static GstPad *only_pad(GstElement *element, GstPadDirection direction) {
  GST_OBJECT_LOCK(element);
  const GList *pads = direction == GST_PAD_SRC ? element->srcpads : element->sinkpads;
  GstPad *pad = pads && !pads->next ? gst_object_ref(pads->data) : NULL;
  GST_OBJECT_UNLOCK(element);
  return pad;
}

/* What an element of the collection says about frames in CUDA memory; PASS: as the next one. */
typedef enum Verdict { PASS, YES, NO } Verdict;
typedef Verdict (*Judge)(GstRvTransform *element);

/* Follows the path that begins at `start` to the first element that `judge` has a verdict on. */
static gboolean follow(GstPad *start, Judge judge) {
  const GstPadDirection direction = GST_PAD_DIRECTION(start);
  GstPad *pad = gst_object_ref(start);
  Verdict verdict = PASS;
  while (pad && verdict == PASS) {
    GstPad *peer = linked_pad(pad);
    GstElement *element = peer ? gst_pad_get_parent_element(peer) : NULL;
    gst_clear_object(&pad);
    if (element && GST_IS_RV_TRANSFORM(element))
      verdict = judge(GST_RV_TRANSFORM(element));
    if (element && verdict == PASS)
      pad = only_pad(element, direction);
    gst_clear_object(&element);
    gst_clear_object(&peer);
  }
  gst_clear_object(&pad);
  return verdict == YES;
}

gboolean gst_rv_transform_may_change(GstRvTransform *self, GstRvMemoryChange change) {
#if HAVE_GSTCUDA
  GST_OBJECT_LOCK(self);
  const gboolean cuda = self->priv->choice != GST_RV_ENGINE_CPU &&
                        (!self->priv->running || self->priv->engine == RV_CUDA);
  GST_OBJECT_UNLOCK(self);
  return cuda && (GST_RV_TRANSFORM_GET_CLASS(self)->memory & change);
#else
  return FALSE;
#endif
}

/* Downstream: whether an element computes on frames in CUDA memory and does not hand them on to what
 * cannot know it. */
static Verdict takes_cuda(GstRvTransform *element) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(element);
  if (klass->memory)
    return gst_rv_transform_may_change(element, klass->memory) ? YES : NO;
  GST_OBJECT_LOCK(element);
  const gboolean maps = klass->picture && element->priv->choice == GST_RV_ENGINE_CPU;
  GST_OBJECT_UNLOCK(element);
  return maps ? NO : PASS;
}

/* Upstream: whether an element brought the frames to CUDA memory, not the author of the pipeline. */
static Verdict uploads(GstRvTransform *element) {
  return g_atomic_int_get(&element->priv->uploads) ? YES : PASS;
}

/* --- Caps ------------------------------------------------------------------------------------ */

static gboolean is_system(const GstCapsFeatures *features) {
  return !features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

static gboolean is_cuda(const GstCapsFeatures *features) {
  return features && !gst_caps_features_is_any(features) &&
         gst_caps_features_contains(features, GST_RV_CAPS_CUDA);
}

/* The caps in the memory that they are not in, as far as the element may change it. */
static GstCaps *other_memory(const GstCaps *caps, gboolean to_cuda, gboolean to_system) {
  GstCaps *others = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstCapsFeatures *features = gst_caps_get_features(caps, i);
    const char *memory = NULL;
    if (to_cuda && is_system(features))
      memory = GST_RV_CAPS_CUDA;
    else if (to_system && is_cuda(features))
      memory = GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY;
    if (memory)
      gst_caps_append_structure_full(others, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                     gst_caps_features_new(memory, NULL));
  }
  return others;
}

/* TRUE when the element can send any of `caps` downstream. */
static gboolean is_accepted(GstPad *src, GstCaps *caps) {
  GstCaps *template = gst_pad_get_pad_template_caps(src);
  GstCaps *sent = gst_caps_intersect(caps, template);
  gst_caps_unref(template);
  gboolean any = FALSE;
  if (!gst_caps_is_empty(sent)) {
    GstCaps *accepted = gst_pad_peer_query_caps(src, sent);
    any = gst_caps_can_intersect(sent, accepted);
    gst_caps_unref(accepted);
  }
  gst_caps_unref(sent);
  return any;
}

/* Whether frames of `caps` leave in the other memory, as `others`, or as `same`. */
static gboolean changes(GstRvTransform *self, GstCaps *caps, GstCaps *same, GstCaps *others) {
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD(self);
  if (!is_accepted(src, others))
    return FALSE;
  if (!is_accepted(src, same))
    return TRUE;
  if (!gst_rv_caps_are_cuda(caps))
    return follow(src, takes_cuda);
  return !follow(src, takes_cuda) && follow(GST_BASE_TRANSFORM_SINK_PAD(self), uploads);
}

GstCaps *gst_rv_transform_caps_of_memory(GstRvTransform *self, GstPadDirection direction,
                                         GstCaps *caps, GstCaps *result) {
  const GstRvMemoryChange to_cuda =
      direction == GST_PAD_SINK ? GST_RV_MEMORY_UPLOADS : GST_RV_MEMORY_DOWNLOADS;
  const GstRvMemoryChange to_system =
      direction == GST_PAD_SINK ? GST_RV_MEMORY_DOWNLOADS : GST_RV_MEMORY_UPLOADS;
  GstCaps *others = other_memory(result, gst_rv_transform_may_change(self, to_cuda),
                                 gst_rv_transform_may_change(self, to_system));
  if (g_atomic_pointer_get(&self->priv->negotiates) != g_thread_self() ||
      direction != GST_PAD_SINK || !gst_caps_is_fixed(caps))
    return gst_caps_merge(result, others);
  const gboolean changed = changes(self, caps, result, others);
  GST_DEBUG_OBJECT(self, "%" GST_PTR_FORMAT ": output in %s memory", caps,
                   changed ? "the other" : "the same");
  gst_caps_unref(changed ? result : others);
  return changed ? others : result;
}

void gst_rv_transform_negotiation_begin(GstRvTransform *self) {
  g_atomic_pointer_set(&self->priv->negotiates, g_thread_self());
}

void gst_rv_transform_negotiation_end(GstRvTransform *self) {
  g_atomic_pointer_set(&self->priv->negotiates, NULL);
}

/* --- Frames ---------------------------------------------------------------------------------- */

/* Frames cannot pass untouched where their memory changes. */
static void update_passthrough(GstRvTransform *self) {
  GST_OBJECT_LOCK(self);
  const gboolean idle = self->priv->idle && !self->priv->redraws;
  GST_OBJECT_UNLOCK(self);
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM_CAST(self), idle);
}

void gst_rv_transform_set_idle(GstRvTransform *self, gboolean idle) {
  GST_OBJECT_LOCK(self);
  self->priv->idle = idle;
  GST_OBJECT_UNLOCK(self);
  update_passthrough(self);
}

void gst_rv_transform_set_memory(GstRvTransform *self, GstCaps *in, GstCaps *out) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  const gboolean from_cuda = gst_rv_caps_are_cuda(in), to_cuda = gst_rv_caps_are_cuda(out);
  g_atomic_int_set(&self->priv->uploads, !from_cuda && to_cuda);
  if (!klass->in_place)
    return;
  GST_OBJECT_LOCK(self);
  self->priv->redraws = from_cuda != to_cuda;
  GST_OBJECT_UNLOCK(self);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM_CAST(self), from_cuda == to_cuda);
  update_passthrough(self);
}

RvStatus gst_rv_transform_copy_pixels(const GstRvExecContext *work, const RvPicture *in,
                                      const RvPicture *out) {
  RvStatus status = RV_OK;
  for (int p = 0; status == RV_OK && p < rv_pixel_planes(in->format); p++)
    status = rv_copy_rows(out->data[p], out->stride[p], work->engine, in->data[p], in->stride[p],
                          work->engine, rv_pixel_row_bytes(in->format, p, in->width),
                          rv_pixel_rows(in->format, p, in->height), work->stream);
  return status;
}
