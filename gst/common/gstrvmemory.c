/* SPDX-License-Identifier: MIT */
/* gstrvmemory.c: the allocator of device payloads, and pools. */
#include "gstrvmemory.h"

#include "roadvision-gst.h"
#include "rv_host.h"

GST_DEBUG_CATEGORY_STATIC(gst_rv_memory_debug);
#define GST_CAT_DEFAULT gst_rv_memory_debug

#define MEMORY_TYPE "RvDeviceMemory"
#define ROW_ALIGN 256 /* bytes; what cudaMalloc guarantees and every vector load likes */

typedef struct GstRvMemory {
  GstMemory parent;
  GstRvDevice *device;
  void *data; /* on the device */
  GMutex lock;
  void *host;       /* copy for readers on the host, made at the first map */
  gsize host_bytes; /* that are valid */
} GstRvMemory;

typedef struct GstRvAllocator {
  GstAllocator parent;
  GstRvDevice *device;
  RvStream stream; /* of downloads, made with the first one; guarded by the object lock */
} GstRvAllocator;

typedef struct GstRvAllocatorClass {
  GstAllocatorClass parent_class;
} GstRvAllocatorClass;

static GType gst_rv_allocator_get_type(void);
G_DEFINE_TYPE(GstRvAllocator, gst_rv_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *allocator_alloc(GstAllocator *allocator, gsize size,
                                  GstAllocationParams *params) {
  GstRvDevice *device = ((GstRvAllocator *)allocator)->device;
  void *data = NULL;
  if (!gst_rv_device_push(device))
    return NULL;
  const RvStatus status = rv_buffer_new(&data, size, RV_CUDA);
  gst_rv_device_pop(device);
  if (status != RV_OK) {
    GST_WARNING_OBJECT(allocator, "%" G_GSIZE_FORMAT " bytes on the GPU: %s", size,
                       rv_status_text(status));
    return NULL;
  }
  GstRvMemory *memory = g_new0(GstRvMemory, 1);
  /* The engines write through the device address only; everyone else reads. */
  gst_memory_init(GST_MEMORY_CAST(memory), GST_MEMORY_FLAG_NO_SHARE, allocator, NULL, size,
                  ROW_ALIGN - 1, 0, size);
  memory->device = gst_rv_device_ref(device);
  memory->data = data;
  g_mutex_init(&memory->lock);
  return GST_MEMORY_CAST(memory);
}

static void allocator_free(GstAllocator *allocator, GstMemory *parent) {
  GstRvMemory *memory = (GstRvMemory *)parent;
  if (gst_rv_device_push(memory->device)) {
    rv_buffer_free(&memory->data, RV_CUDA);
    rv_host_free(&memory->host, RV_CUDA);
    gst_rv_device_pop(memory->device);
  }
  gst_rv_device_unref(memory->device);
  g_mutex_clear(&memory->lock);
  g_free(memory);
}

/* The stream of downloads: on the default stream each would wait for all work of the GPU, and all work
 * for it. NULL, which is the default stream, if there is none. The device is current. */
static RvStream download_stream(GstRvAllocator *allocator) {
  GST_OBJECT_LOCK(allocator);
  if (!allocator->stream)
    rv_stream_new_apart(&allocator->stream);
  const RvStream stream = allocator->stream;
  GST_OBJECT_UNLOCK(allocator);
  return stream;
}

/* Brings the first `bytes` to the host. What an element attached is complete. */
static RvStatus download(GstRvMemory *memory, gsize bytes) {
  RvStatus status = RV_OK;
  if (!gst_rv_device_push(memory->device))
    return RV_ERR_CUDA;
  const RvStream stream = download_stream((GstRvAllocator *)memory->parent.allocator);
  if (!memory->host)
    status = rv_host_new(&memory->host, memory->parent.maxsize, RV_CUDA);
  if (status == RV_OK)
    status = rv_copy_to_host(memory->host, memory->data, bytes, stream);
  if (status == RV_OK)
    status = rv_stream_wait(stream);
  gst_rv_device_pop(memory->device);
  return status;
}

static gpointer memory_map(GstMemory *parent, gsize size, GstMapFlags flags) {
  GstRvMemory *memory = (GstRvMemory *)parent;
  const gsize bytes = parent->offset + parent->size;
  if (flags & GST_MAP_WRITE)
    return NULL;
  g_mutex_lock(&memory->lock);
  if (memory->host_bytes < bytes) {
    const RvStatus status = download(memory, bytes);
    memory->host_bytes = status == RV_OK ? bytes : 0;
    GST_TRACE("download of %" G_GSIZE_FORMAT " bytes: %s", bytes, rv_status_text(status));
  }
  void *host = memory->host_bytes >= bytes ? memory->host : NULL;
  g_mutex_unlock(&memory->lock);
  return host;
}

static void memory_unmap(GstMemory *memory) {}

static void allocator_finalize(GObject *object) {
  GstRvAllocator *allocator = (GstRvAllocator *)object;
  if (allocator->stream && gst_rv_device_push(allocator->device)) {
    rv_stream_free(&allocator->stream);
    gst_rv_device_pop(allocator->device);
  }
  gst_rv_device_unref(allocator->device);
  G_OBJECT_CLASS(gst_rv_allocator_parent_class)->finalize(object);
}

static void gst_rv_allocator_class_init(GstRvAllocatorClass *klass) {
  GST_DEBUG_CATEGORY_INIT(gst_rv_memory_debug, "rvmemory", 0, "roadvision device payloads");
  GST_ALLOCATOR_CLASS(klass)->alloc = allocator_alloc;
  GST_ALLOCATOR_CLASS(klass)->free = allocator_free;
  G_OBJECT_CLASS(klass)->finalize = allocator_finalize;
}

static void gst_rv_allocator_init(GstRvAllocator *self) {
  GstAllocator *allocator = GST_ALLOCATOR_CAST(self);
  allocator->mem_type = MEMORY_TYPE;
  allocator->mem_map = memory_map;
  allocator->mem_unmap = memory_unmap;
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstRvMemory *device_memory(GstBuffer *payload) {
  if (gst_buffer_n_memory(payload) != 1)
    return NULL;
  GstMemory *memory = gst_buffer_peek_memory(payload, 0);
  return gst_memory_is_type(memory, MEMORY_TYPE) ? (GstRvMemory *)memory : NULL;
}

void *gst_rv_payload_device_data(GstBuffer *payload, const GstRvDevice *device) {
  GstRvMemory *memory = device_memory(payload);
  return memory && gst_rv_device_equal(memory->device, device)
             ? (char *)memory->data + memory->parent.offset
             : NULL;
}

gboolean gst_rv_pool_set_up(GstBufferPool *pool, GstCaps *caps, guint *size, guint least,
                            guint most, gboolean with_video_meta) {
  const guint needed = *size;
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, *size, least, most);
  GstAllocator *allocator = g_object_get_data(G_OBJECT(pool), GST_RV_POOL_ALLOCATOR);
  if (allocator)
    gst_buffer_pool_config_set_allocator(config, allocator, NULL);
  if (with_video_meta)
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config))
    return FALSE;
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, NULL, size, NULL, NULL);
  gst_structure_free(config);
  return *size >= needed;
}

GstBufferPool *gst_rv_payload_pool_new(GstRvDevice *device, gsize bytes) {
  GstBufferPool *pool = gst_buffer_pool_new();
  GstAllocator *allocator = NULL;
  if (device) {
    GstRvAllocator *own = g_object_new(gst_rv_allocator_get_type(), NULL);
    gst_object_ref_sink(own);
    own->device = gst_rv_device_ref(device);
    allocator = GST_ALLOCATOR_CAST(own);
  }
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = ROW_ALIGN - 1;
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, NULL, (guint)bytes, 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  const gboolean ready =
      gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE);
  if (allocator)
    gst_object_unref(allocator);
  if (!ready)
    gst_clear_object(&pool);
  return pool;
}

void gst_rv_payload_pool_free(GstBufferPool **pool) {
  if (!pool || !*pool)
    return;
  gst_buffer_pool_set_active(*pool, FALSE);
  gst_clear_object(pool);
}

int gst_rv_raster_stride(RvFormat format, int width) {
  const gsize row = (gsize)width * rv_format_bytes(format);
  return (int)((row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN);
}

gsize gst_rv_raster_bytes(RvFormat format, int width, int height) {
  return (gsize)gst_rv_raster_stride(format, width) * (gsize)height;
}

/* A payload of the pool, its memory ready to be written. */
static RvStatus acquire(GstRvPayload *payload, GstBufferPool *pool) {
  payload->buffer = NULL;
  payload->mapped = FALSE;
  if (!pool || gst_buffer_pool_acquire_buffer(pool, &payload->buffer, NULL) != GST_FLOW_OK)
    return RV_ERR_NO_MEMORY;
  GstRvMemory *memory = device_memory(payload->buffer);
  if (memory) {
    g_mutex_lock(&memory->lock);
    memory->host_bytes = 0;
    g_mutex_unlock(&memory->lock);
    payload->plane.data = memory->data;
    return RV_OK;
  }
  payload->mapped = gst_buffer_map(payload->buffer, &payload->map, GST_MAP_WRITE);
  if (!payload->mapped) {
    gst_clear_buffer(&payload->buffer);
    return RV_ERR_NO_MEMORY;
  }
  payload->plane.data = payload->map.data;
  return RV_OK;
}

RvStatus gst_rv_payload_begin(GstRvPayload *payload, GstBufferPool *pool, RvFormat format,
                              int width, int height) {
  const RvStatus status = acquire(payload, pool);
  if (status != RV_OK)
    return status;
  const int stride = gst_rv_raster_stride(format, width);
  payload->plane.stride = stride;
  payload->plane.width = width;
  payload->plane.height = height;
  payload->plane.format = format;
  rv_meta_describe_raster(payload->buffer, format, width, height, stride);
  return RV_OK;
}

RvStatus gst_rv_payload_begin_array(GstRvPayload *payload, GstBufferPool *pool, gsize bytes) {
  const RvStatus status = acquire(payload, pool);
  if (status != RV_OK)
    return status;
  payload->plane.stride = (ptrdiff_t)bytes;
  payload->plane.width = (int)bytes;
  payload->plane.height = 1;
  payload->plane.format = RV_U8;
  return RV_OK;
}

GstBuffer *gst_rv_payload_end(GstRvPayload *payload) {
  if (payload->mapped)
    gst_buffer_unmap(payload->buffer, &payload->map);
  payload->mapped = FALSE;
  return g_steal_pointer(&payload->buffer);
}

void gst_rv_payload_drop(GstRvPayload *payload) {
  GstBuffer *buffer = gst_rv_payload_end(payload);
  if (buffer)
    gst_buffer_unref(buffer);
}

GstBuffer *gst_rv_payload_of(GstBufferPool *pool, const void *data, gsize bytes) {
  GstRvPayload payload = {0};
  if (gst_rv_payload_begin_array(&payload, pool, bytes) == RV_OK && bytes > 0)
    memcpy(payload.plane.data, data, bytes);
  GstBuffer *buffer = gst_rv_payload_end(&payload);
  if (buffer)
    gst_buffer_set_size(buffer, (gssize)bytes);
  return buffer;
}
