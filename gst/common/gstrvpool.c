/* SPDX-License-Identifier: MIT */
/* gstrvpool.c: pools for the frames that elements receive and push. */
#include "gstrvpool.h"

#include "gstrvcaps.h"
#include "gstrvhost.h"
#include "gstrvmemory.h"

GstBufferPool *gst_rv_pool_new(GstRvDevice *device, gboolean cuda) {
#if HAVE_GSTCUDA
  if (cuda) {
    gst_cuda_memory_init_once(); /* nvcodec does it, if one of its elements is in the process */
    return device ? gst_cuda_buffer_pool_new(gst_rv_device_context(device)) : NULL;
  }
#endif
  GstBufferPool *pool = gst_video_buffer_pool_new();
  if (device)
    g_object_set_data_full(G_OBJECT(pool), GST_RV_POOL_ALLOCATOR, gst_rv_host_allocator_new(device),
                           gst_object_unref);
  return pool;
}

/* FALSE for pools that cannot serve CUDA caps in the context of `device`. */
static gboolean pool_fits(GstRvDevice *device, GstBufferPool *pool, gboolean cuda) {
#if HAVE_GSTCUDA
  if (cuda)
    return GST_IS_CUDA_BUFFER_POOL(pool) &&
           GST_CUDA_BUFFER_POOL(pool)->context == gst_rv_device_context(device);
#endif
  return TRUE;
}

gboolean gst_rv_pool_decide(GstElement *element, GstRvDevice *device, GstQuery *query) {
  GstCaps *caps = NULL;
  GstVideoInfo info;
  gst_query_parse_allocation(query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps(&info, caps))
    return FALSE;
  const gboolean cuda = gst_rv_caps_are_cuda(caps);
  const gboolean offered = gst_query_get_n_allocation_pools(query) > 0;
  GstBufferPool *pool = NULL;
  guint size = 0, min = 0, max = 0;
  if (offered)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  size = MAX(size, (guint)GST_VIDEO_INFO_SIZE(&info));
  if (pool &&
      (!pool_fits(device, pool, cuda) || !gst_rv_pool_set_up(pool, caps, &size, min, max, TRUE)))
    gst_clear_object(&pool);
  if (!pool) {
    min = max = 0;
    pool = gst_rv_pool_new(device, cuda);
    if (!pool || !gst_rv_pool_set_up(pool, caps, &size, min, max, TRUE)) {
      gst_clear_object(&pool);
      GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS,
                        ("No pool of buffers could be made for the output frames (%s %dx%d).",
                         GST_VIDEO_INFO_NAME(&info), GST_VIDEO_INFO_WIDTH(&info),
                         GST_VIDEO_INFO_HEIGHT(&info)),
                        ("Memory may be exhausted: use smaller frames, or close other programs "
                         "that use the GPU."));
      return FALSE;
    }
  }
  if (offered)
    gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool(query, pool, size, min, max);
  gst_object_unref(pool);
  return TRUE;
}
