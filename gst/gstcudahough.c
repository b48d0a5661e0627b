/* SPDX-License-Identifier: MIT */
/* gstcudahough.c: element cudahough: frame in, RvLinesMeta out; cuda/hough does the work. */

/**
 * SECTION:element-cudahough
 * @title: cudahough
 * @short_description: Straight lines (Hough transform)
 *
 * Finds the straight lines of each frame and attaches them (RvLinesMeta: an array of RvLine, most
 * votes first). Edges are found by a threshold of the gradient or by Canny's method, or
 * the frame is an edge map itself. With segments each line also has the end points of its longest
 * run of edges. The frame passes through unchanged.
 *
 * Works on the GPU and on the CPU; both give the same lines. Needs nothing from other elements.
 * cudaannotate draws the lines.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahough segments=true ! cudaannotate ! videoconvert !
 *   autovideosink
 * ]| Line segments over the camera's image.
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudahough min-theta=20 max-theta=160 post-messages=true
 * ! fakesink -m
 * ]| Lines that are not vertical, in messages.
 *
 * Since: 0.1
 */
#include "gstcudahough.h"

#include <math.h>

#include "common/gstrvsettings.h"
#include "hough/hough.h"
#include "rv_host.h"

typedef struct Settings {
  RvHoughConfig config; /* size, threads and log are filled in by configure */
  gboolean accumulator;
} Settings;

struct _GstCudaHough {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */

  RvHoughConfig used;
  RvEngine engine;
  RvHough *hough;
  GstBufferPool *lists, *accumulators;
  RvPlane gray;  /* of frames whose luma is not a plane; in the engine's memory */
  gsize bytes;   /* of the next two: count, max_lines lines, and with dashes hits */
  void *results; /* in the engine's memory */
  void *found;   /* the same in host memory */
  void *memory;  /* of rv_hough_thin */
  RvLine *lines; /* that are attached */
  GstRvPayload votes;
};

G_DEFINE_TYPE(GstCudaHough, gst_cuda_hough, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudahough, "cudahough", GST_RANK_NONE, GST_TYPE_CUDA_HOUGH)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParam own[] = {
    GST_RV_BOOL("accumulator", accumulator, 0, 0, NULL, NULL,
                "Attach the accumulator: the votes of every bin, one row per angle"),
};
GST_RV_TRANSFORM_SETTINGS(GstCudaHough, Settings, rv_hough_params);

/* --- Objects --------------------------------------------------------------------------------- */

static void release(GstRvTransform *base) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  rv_hough_free(&self->hough);
  gst_rv_payload_pool_free(&self->lists);
  gst_rv_payload_pool_free(&self->accumulators);
  rv_buffer_free(&self->gray.data, self->engine);
  rv_buffer_free(&self->results, self->engine);
  rv_host_free(&self->found, self->engine);
  g_clear_pointer(&self->memory, g_free);
  g_clear_pointer(&self->lines, g_free);
}

/* The results: parts of one block, which is copied at once. */
static RvLine *lines_of(void *results) {
  return (RvLine *)(void *)((char *)results + 8);
}

static gboolean has_hits(const GstCudaHough *self) {
  return self->used.segments && self->used.dashes;
}

static guint32 *hits_of(const GstCudaHough *self, void *results) {
  return has_hits(self) ? (guint32 *)(void *)(lines_of(results) + self->used.max_lines) : NULL;
}

static RvStatus make_pools(GstCudaHough *self, const GstRvExecContext *work, gboolean accumulator) {
  GstRvDevice *device = work->engine == RV_CUDA ? work->device : NULL;
  int bins, angles;
  rv_hough_size(&self->used, &bins, &angles, NULL, NULL);
  const gsize lines = (gsize)self->used.max_lines * sizeof(RvLine);
  const gsize row = (gsize)rv_hough_hit_words(&self->used) * sizeof(guint32);
  self->bytes = 8 + lines + (has_hits(self) ? (gsize)self->used.max_lines * row : 0);
  self->lines = g_malloc(lines);
  self->memory = g_malloc(rv_hough_thin_bytes(&self->used));
  self->lists = gst_rv_payload_pool_new(NULL, lines);
  if (accumulator)
    self->accumulators = gst_rv_payload_pool_new(device, gst_rv_raster_bytes(RV_U32, bins, angles));
  return self->lists && (self->accumulators || !accumulator) ? RV_OK : RV_ERR_NO_MEMORY;
}

static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  const Settings *wanted = gst_rv_transform_settings(base);
  RvHoughConfig config = wanted->config;
  config.width = GST_VIDEO_INFO_WIDTH(&base->in_info);
  config.height = GST_VIDEO_INFO_HEIGHT(&base->in_info);
  config.threads = work->threads;
  config.log = work->log;
  RvStatus status = rv_hough_config_check(&config);
  if (status != RV_OK) /* the previous object remains in use */
    return status;
  release(base);
  self->used = config;
  self->engine = work->engine;
  self->gray = (RvPlane){NULL, gst_rv_raster_stride(RV_U8, config.width), config.width,
                         config.height, RV_U8};
  status = make_pools(self, work, wanted->accumulator);
  if (status == RV_OK)
    status = rv_buffer_new(&self->results, self->bytes, work->engine);
  if (status == RV_OK)
    status = rv_host_new(&self->found, self->bytes, work->engine);
  if (status == RV_OK)
    status = rv_buffer_new(&self->gray.data,
                           gst_rv_raster_bytes(RV_U8, config.width, config.height), work->engine);
  return status == RV_OK ? rv_hough_new(&self->hough, &config, work->engine) : status;
}

/* --- One frame ------------------------------------------------------------------------------- */

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  int bins, angles;
  rv_hough_size(&self->used, &bins, &angles, NULL, NULL);
  RvPlane gray;
  RvStatus status = gst_rv_picture_gray(job->in_picture, work, &self->gray, &gray);
  if (status == RV_OK && self->accumulators)
    status = gst_rv_payload_begin(&self->votes, self->accumulators, RV_U32, bins, angles);
  if (status != RV_OK)
    return status;
  RvHoughOutput out = {.lines = lines_of(self->results),
                       .count = self->results,
                       .hits = hits_of(self, self->results)};
  if (self->accumulators)
    out.accumulator = self->votes.plane;
  status = rv_hough_run(self->hough, &gray, &out, work->stream);
  if (status != RV_OK)
    return status;
  return rv_copy_rows(self->found, (ptrdiff_t)self->bytes, RV_CPU, self->results,
                      (ptrdiff_t)self->bytes, work->engine, self->bytes, 1, work->stream);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  if (!job->ok) {
    gst_rv_payload_drop(&self->votes);
    return RV_OK;
  }
  const int count =
      rv_hough_thin(&self->used, lines_of(self->found), (int)*(const guint32 *)self->found,
                    hits_of(self, self->found), self->memory, self->lines);
  RvMetaLines meta = {.width = self->used.width,
                      .height = self->used.height,
                      .count = count,
                      .theta_step = G_PI / self->used.theta_steps,
                      .rho_step = self->used.rho_step,
                      .segments = self->used.segments};
  rv_hough_size(&self->used, &meta.accumulator_width, &meta.accumulator_height, &meta.rho_zero,
                &meta.first_angle);
  meta.payload = gst_rv_payload_of(self->lists, self->lines, (gsize)count * sizeof(RvLine));
  meta.accumulator = gst_rv_payload_end(&self->votes);
  rv_meta_add_lines(job->out, &meta);
  return RV_OK;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_hough_class_init(GstCudaHoughClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_analyzer(base, "cudahough", &settings, GST_MAP_READ, RV_META_LINES,
                                      NULL);
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
}

static void gst_cuda_hough_init(GstCudaHough *self) {}
