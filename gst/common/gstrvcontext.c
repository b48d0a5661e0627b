/* SPDX-License-Identifier: MIT */
/* gstrvcontext.c: searching and sharing CUDA contexts. */
#include "gstrvcontext.h"

#if HAVE_GSTCUDA

#  define DEVICES 64                 /* that have a context for all pipelines */
#  define DEVICE_ID "cuda-device-id" /* field of our queries: the device that is wanted */

GST_DEBUG_CATEGORY_EXTERN(gst_rv_transform_debug);
#  define GST_CAT_DEFAULT gst_rv_transform_debug

/* It ends with its last user. */
GstCudaContext *gst_rv_context_shared(int id) {
  static GMutex lock;
  static GWeakRef shared[DEVICES];
  const int device = MAX(id, 0);
  if (device >= DEVICES)
    return gst_cuda_context_new((guint)device);
  g_mutex_lock(&lock);
  GstCudaContext *context = g_weak_ref_get(&shared[device]);
  if (!context) {
    context = gst_cuda_context_new((guint)device);
    g_weak_ref_set(&shared[device], context);
    GST_INFO("context %p for all pipelines on device %d", (void *)context, device);
  }
  g_mutex_unlock(&lock);
  return context;
}

static gboolean ask_peer(GstElement *element, GstPad *pad, gpointer query) {
  (void)element;
  return !gst_pad_peer_query(pad, query);
}

/* The first neighbor that answers sets the context of the element. */
static void ask_neighbors(GstElement *element, int id, gboolean downstream) {
  GstQuery *query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
  GstContext *found = NULL;
  gst_structure_set(gst_query_writable_structure(query), DEVICE_ID, G_TYPE_INT, id, NULL);
  if (downstream)
    gst_element_foreach_src_pad(element, ask_peer, query);
  else
    gst_element_foreach_sink_pad(element, ask_peer, query);
  gst_query_parse_context(query, &found);
  if (found)
    gst_element_set_context(element, found);
  gst_query_unref(query);
}

void gst_rv_context_ask_application(GstElement *element) {
  gst_element_post_message(
      element, gst_message_new_need_context(GST_OBJECT_CAST(element), GST_CUDA_CONTEXT_TYPE));
}

gboolean gst_rv_context_ensure(GstElement *element, int id, GstCudaContext **context) {
  if (!*context)
    ask_neighbors(element, id, TRUE);
  if (!*context)
    ask_neighbors(element, id, FALSE);
  if (!*context)
    gst_rv_context_ask_application(element);
  if (*context)
    return TRUE;
  *context = gst_rv_context_shared(id);
  if (!*context)
    return FALSE;
  GstContext *made = gst_context_new_cuda_context(*context);
  gst_element_set_context(element, made);
  gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT_CAST(element), made));
  return TRUE;
}

gboolean gst_rv_context_is_wanted(GstQuery *query, int id) {
  const char *type = NULL;
  int wanted = -1;
  gst_query_parse_context_type(query, &type);
  gst_structure_get_int(gst_query_get_structure(query), DEVICE_ID, &wanted);
  return g_strcmp0(type, GST_CUDA_CONTEXT_TYPE) == 0 && (wanted < 0 || wanted == MAX(id, 0));
}

#endif
