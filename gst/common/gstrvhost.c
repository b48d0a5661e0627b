/* SPDX-License-Identifier: MIT */
/* gstrvhost.c: the allocator of page-locked memory. */
#include "gstrvhost.h"

#include "rv_host.h"

typedef struct GstRvHostAllocator {
  GstAllocator parent;
  GstRvDevice *device;
} GstRvHostAllocator;

typedef struct GstRvHostAllocatorClass {
  GstAllocatorClass parent_class;
} GstRvHostAllocatorClass;

static GType gst_rv_host_allocator_get_type(void);
G_DEFINE_TYPE(GstRvHostAllocator, gst_rv_host_allocator, GST_TYPE_ALLOCATOR)

/* What a memory frees. */
typedef struct Block {
  GstRvDevice *device;
  void *data;
} Block;

static void block_free(gpointer data) {
  Block *block = data;
  if (gst_rv_device_push(block->device)) {
    rv_host_free(&block->data, RV_CUDA);
    gst_rv_device_pop(block->device);
  }
  gst_rv_device_unref(block->device);
  g_free(block);
}

static GQuark locked_quark(void) {
  return g_quark_from_static_string("GstRvHostMemory");
}

static GstMemory *allocator_alloc(GstAllocator *allocator, gsize size,
                                  GstAllocationParams *params) {
  GstRvDevice *device = ((GstRvHostAllocator *)allocator)->device;
  const gsize bytes = params->prefix + size + params->padding + params->align;
  void *data = NULL;
  if (!gst_rv_device_push(device))
    return NULL;
  const RvStatus status = rv_host_new(&data, bytes, RV_CUDA);
  gst_rv_device_pop(device);
  if (status != RV_OK) /* there is a limit: other memory works too, but slower */
    return gst_allocator_alloc(NULL, size, params);
  Block *block = g_new(Block, 1);
  *block = (Block){gst_rv_device_ref(device), data};
  const gsize aligned = (gsize)(-(gintptr)data) & params->align;
  GstMemory *memory = gst_memory_new_wrapped(params->flags, data, bytes, aligned + params->prefix,
                                             size, block, block_free);
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), locked_quark(), block, NULL);
  return memory;
}

gboolean gst_rv_host_is_locked(GstBuffer *buffer) {
  return gst_buffer_n_memory(buffer) == 1 &&
         gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(buffer, 0)),
                                   locked_quark());
}

static void allocator_finalize(GObject *object) {
  gst_rv_device_unref(((GstRvHostAllocator *)object)->device);
  G_OBJECT_CLASS(gst_rv_host_allocator_parent_class)->finalize(object);
}

static void gst_rv_host_allocator_class_init(GstRvHostAllocatorClass *klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = allocator_alloc;
  G_OBJECT_CLASS(klass)->finalize = allocator_finalize;
}

static void gst_rv_host_allocator_init(GstRvHostAllocator *self) {}

GstAllocator *gst_rv_host_allocator_new(GstRvDevice *device) {
  GstRvHostAllocator *allocator = g_object_new(gst_rv_host_allocator_get_type(), NULL);
  gst_object_ref_sink(allocator);
  allocator->device = gst_rv_device_ref(device);
  return GST_ALLOCATOR_CAST(allocator);
}
