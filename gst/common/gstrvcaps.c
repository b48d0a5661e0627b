/* SPDX-License-Identifier: MIT */
/* gstrvcaps.c: the preference for CUDA memory, and why caps are not accepted. */
#include "gstrvcaps.h"

GST_DEBUG_CATEGORY_EXTERN(gst_rv_transform_debug);
#define GST_CAT_DEFAULT gst_rv_transform_debug

static gboolean is_cuda(const GstCaps *caps, guint i) {
  GstCapsFeatures *features = gst_caps_get_features(caps, i);
  return features && !gst_caps_features_is_any(features) &&
         gst_caps_features_contains(features, GST_RV_CAPS_CUDA);
}

gboolean gst_rv_caps_are_cuda(const GstCaps *caps) {
  for (guint i = 0; caps && i < gst_caps_get_size(caps); i++)
    if (is_cuda(caps, i))
      return TRUE;
  return FALSE;
}

/* cudaupload lists system memory first, and the order of the query is kept: without this, a pipeline of
 * CUDA elements would negotiate system memory and leave the GPU without a word. */
void gst_rv_caps_prefer_cuda(GstObject *object, GstQuery *query) {
  GstCaps *filter = NULL, *answer = NULL;
  gst_query_parse_caps(query, &filter);
  gst_query_parse_caps_result(query, &answer);
  if (!gst_rv_caps_are_cuda(filter) || !gst_rv_caps_are_cuda(answer))
    return;
  GstCaps *cuda = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(answer); i++)
    if (is_cuda(answer, i))
      gst_caps_append_structure_full(cuda, gst_structure_copy(gst_caps_get_structure(answer, i)),
                                     gst_caps_features_copy(gst_caps_get_features(answer, i)));
  GST_DEBUG_OBJECT(object, "queried by an element that supports CUDA memory: %" GST_PTR_FORMAT,
                   cuda);
  gst_query_set_caps_result(query, cuda);
  gst_caps_unref(cuda);
}

/* Returns the name of the element downstream of the src pad, to be freed. */
static char *downstream_name(GstPad *pad) {
  GstPad *peer = gst_pad_get_peer(pad);
  GstObject *parent = peer ? gst_object_get_parent(GST_OBJECT_CAST(peer)) : NULL;
  char *name = parent ? gst_object_get_name(parent) : g_strdup("nothing");
  gst_clear_object(&parent);
  gst_clear_object(&peer);
  return name;
}

gboolean gst_rv_caps_explain_rejection(GstElement *element, GstPad *src, GstCaps *sent,
                                       const char *remedy) {
  if (GST_PAD_IS_FLUSHING(src) || !gst_pad_is_linked(src))
    return FALSE;
  GstCaps *accepted = gst_pad_peer_query_caps(src, NULL);
  const gboolean rejected = !gst_caps_can_intersect(sent, accepted);
  if (rejected) {
    char *name = downstream_name(src), *ours = gst_caps_to_string(sent),
         *theirs = gst_caps_to_string(accepted);
    GST_ELEMENT_ERROR(
        element, STREAM, FORMAT,
        ("What follows, from %s on, does not take what this element sends: %s.", name, ours),
        ("%s It takes: %s", remedy ? remedy : "Put videoconvert or videoscale between.", theirs));
    g_free(name);
    g_free(ours);
    g_free(theirs);
  }
  gst_caps_unref(accepted);
  return rejected;
}

gboolean gst_rv_caps_check_scan(GstElement *element, const GstVideoInfo *info, GstBuffer *frame) {
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(info);
  const gboolean either = mode == GST_VIDEO_INTERLACE_MODE_MIXED;
  if (mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE ||
      (either && (!frame || !GST_BUFFER_FLAG_IS_SET(frame, GST_VIDEO_BUFFER_FLAG_INTERLACED))))
    return TRUE;
  GST_ELEMENT_ERROR(element, STREAM, FORMAT,
                    ("Interlaced video (%s) is unsupported: the fields of a frame differ in time.",
                     gst_video_interlace_mode_to_string(mode)),
                    ("Insert deinterlace upstream, or select a progressive mode of the camera."));
  return FALSE;
}
