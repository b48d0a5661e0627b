/* SPDX-License-Identifier: MIT */
/* gstcudardp.c: element cudardp: disparity in, RvSegmentsMeta out; cuda/rdp does the work. */

/**
 * SECTION:element-cudardp
 * @title: cudardp
 * @short_description: Depth columns into line segments (Ramer-Douglas-Peucker)
 *
 * Replaces every column of the disparity by a few line segments that stay within epsilon of all its
 * values, and attaches them to the frame (RvSegmentsMeta: an array of RvSegment, columns from
 * left to right, rows from the top). Works on the disparity that cudasgm attached
 * (RvDisparityMeta), or on GRAY16_LE frames that are disparity maps themselves (disparity-scale
 * values per px, 0 = invalid). The frame passes through unchanged.
 *
 * Works on the GPU and on the CPU; both give the same segments. cudaannotate draws them.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudardp epsilon=1 ! cudaannotate ! videoconvert !
 *   autovideosink
 * ]| Segments over the left image.
 * |[
 * gst-launch-1.0 filesrc location=disparity.png ! pngdec ! videoconvert !
 *   video/x-raw,format=GRAY16_LE ! cudardp disparity-scale=256 epsilon=2 invalid=break ! fakesink
 * ]| Segments of a disparity map in KITTI's format.
 *
 * Since: 0.1
 */
#include "gstcudardp.h"

#include "common/gstrvdisparity.h"
#include "rdp/rdp.h"
#include "rv_host.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

#define FIRST_ROOM 64 /* segments for each column at first; grows when a frame has more */

enum { ONCE_DISPARITY }; /* bits of gst_rv_transform_once: this and the next */

typedef struct Settings {
  RvRdpConfig config; /* size, threads and log are filled in with the first disparity */
  int scale;          /* values per px of GRAY16_LE frames */
} Settings;

struct _GstCudaRdp {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */

  RvRdpConfig used; /* what the object is made for; width and height 0: not made yet */
  int used_scale;
  RvEngine engine;
  RvRdp *rdp;
  GstBufferPool *lists;
  guint32 room; /* segments of a list */
  void *stats;  /* of the engine: columns, then offsets */
  void *found;  /* the same on the host */

  GstRvDisparity disparity; /* of the current frame */
  GstRvPayload list;        /* no buffer: nothing to work on */
};

G_DEFINE_TYPE(GstCudaRdp, gst_cuda_rdp, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudardp, "cudardp", GST_RANK_NONE, GST_TYPE_CUDA_RDP)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParam own[] = {
    GST_RV_DISPARITY_SCALE_ROW(offsetof(Settings, scale)),
};
GST_RV_TRANSFORM_SETTINGS(GstCudaRdp, Settings, rv_rdp_params);

/* --- Objects --------------------------------------------------------------------------------- */

static void release_objects(GstCudaRdp *self) {
  rv_rdp_free(&self->rdp);
  gst_rv_payload_pool_free(&self->lists);
  rv_buffer_free(&self->stats, self->engine);
  rv_host_free(&self->found, self->engine);
}

static void release(GstRvTransform *base) {
  GstCudaRdp *self = GST_CUDA_RDP(base);
  release_objects(self);
  gst_rv_disparity_clear(&self->disparity);
}

/* The object is made with the first disparity, whose size may differ from the frame's. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaRdp *self = GST_CUDA_RDP(base);
  const Settings *wanted = gst_rv_transform_settings(base);
  RvRdpConfig config = wanted->config;
  config.width = config.height = 1;
  config.threads = work->threads;
  config.log = work->log;
  const RvStatus status = rv_rdp_config_check(&config);
  if (status != RV_OK)
    return status;
  release_objects(self);
  self->used = config;
  self->used_scale = wanted->scale;
  self->engine = work->engine;
  return RV_OK;
}

static gsize columns_bytes(const GstCudaRdp *self) {
  return (gsize)self->used.width * sizeof(RvRdpColumn);
}

static gsize stats_bytes(const GstCudaRdp *self) {
  return columns_bytes(self) + ((gsize)self->used.width + 1) * sizeof(guint32);
}

static RvStatus make_lists(GstCudaRdp *self, const GstRvExecContext *work, guint64 room) {
  self->room = (guint32)MIN(room, rv_rdp_segments_max(&self->used));
  gst_rv_payload_pool_free(&self->lists);
  self->lists = gst_rv_payload_pool_new(work->engine == RV_CUDA ? work->device : NULL,
                                        (gsize)self->room * sizeof(RvSegment));
  return self->lists ? RV_OK : RV_ERR_NO_MEMORY;
}

static RvStatus make_objects(GstCudaRdp *self, const GstRvExecContext *work, int width,
                             int height) {
  if (self->rdp && self->used.width == width && self->used.height == height)
    return RV_OK;
  release_objects(self);
  self->used.width = width;
  self->used.height = height;
  self->used.log = work->log;
  RvStatus status = make_lists(self, work, (guint64)width * FIRST_ROOM);
  if (status == RV_OK)
    status = rv_buffer_new(&self->stats, stats_bytes(self), work->engine);
  if (status == RV_OK)
    status = rv_host_new(&self->found, stats_bytes(self), work->engine);
  return status == RV_OK ? rv_rdp_new(&self->rdp, &self->used, work->engine) : status;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Segments of the current plane into a list of the current capacity; their number is copied to
 * the host. */
static RvStatus segment(GstCudaRdp *self, const GstRvExecContext *work) {
  RvStatus status =
      gst_rv_payload_begin_array(&self->list, self->lists, (gsize)self->room * sizeof(RvSegment));
  if (status != RV_OK)
    return status;
  const RvRdpOutput output = {
      .segments = self->list.plane.data,
      .capacity = self->room,
      .columns = self->stats,
      .offsets = (guint32 *)(void *)((char *)self->stats + columns_bytes(self)),
  };
  status = rv_rdp_run(self->rdp, &self->disparity.plane, &output, work->stream);
  if (status != RV_OK)
    return status;
  const gsize bytes = stats_bytes(self);
  return rv_copy_rows(self->found, (ptrdiff_t)bytes, RV_CPU, self->stats, (ptrdiff_t)bytes,
                      work->engine, bytes, 1, work->stream);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaRdp *self = GST_CUDA_RDP(base);
  const RvPlane *plane = &self->disparity.plane;
  RvStatus status =
      gst_rv_disparity_map(&self->disparity, base, work, job->in, self->used_scale, ONCE_DISPARITY);
  if (status == RV_OK && plane->data)
    status = make_objects(self, work, plane->width, plane->height);
  return status == RV_OK && plane->data ? segment(self, work) : status;
}

/* Segments found; with more than the capacity, the frame is processed again with a larger list. */
static RvStatus found_segments(GstCudaRdp *self, const GstRvExecContext *work, guint32 *count) {
  const guint32 *offsets = (const guint32 *)(void *)((char *)self->found + columns_bytes(self));
  *count = offsets[self->used.width];
  if (*count <= self->room)
    return RV_OK;
  GST_DEBUG_OBJECT(self, "%u segments, capacity %u: increased", *count, self->room);
  gst_rv_payload_drop(&self->list);
  RvStatus status = make_lists(self, work, 2 * (guint64)*count);
  if (status == RV_OK)
    status = segment(self, work);
  if (work->engine == RV_CUDA) {
    const RvStatus waited = rv_stream_wait(work->stream);
    status = status == RV_OK ? waited : status;
  }
  return status;
}

static void attach(GstCudaRdp *self, GstBuffer *out, guint32 count) {
  const RvRdpColumn *columns = self->found;
  RvMetaSegments meta = {
      self->used.width, self->used.height, (int)count, self->used.epsilon, 0, NULL};
  for (int x = 0; x < self->used.width; x++)
    meta.levels_max = MAX(meta.levels_max, columns[x].levels);
  meta.payload = gst_rv_payload_end(&self->list);
  gst_buffer_set_size(meta.payload, (gssize)((gsize)count * sizeof(RvSegment)));
  rv_meta_add_segments(out, &meta);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaRdp *self = GST_CUDA_RDP(base);
  RvStatus status = RV_OK;
  guint32 count = 0;
  if (job->ok && self->list.buffer)
    status = found_segments(self, work, &count);
  if (job->ok && status == RV_OK && self->list.buffer)
    attach(self, job->out, count);
  gst_rv_payload_drop(&self->list);
  gst_rv_disparity_unmap(&self->disparity);
  return status;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_rdp_class_init(GstCudaRdpClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_analyzer(base, "cudardp", &settings, 0, RV_META_SEGMENTS, NULL);
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
}

static void gst_cuda_rdp_init(GstCudaRdp *self) {}
