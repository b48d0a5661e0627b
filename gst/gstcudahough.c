/* SPDX-License-Identifier: MIT */
/* gstcudahough.c: element cudahough: picture in, RvLinesMeta out; cuda/hough does the work. */

/**
 * SECTION:element-cudahough
 * @title: cudahough
 * @short_description: Straight lines (Hough transform)
 *
 * Finds the straight lines of each picture and attaches them (RvLinesMeta: an array of RvLine, most
 * votes first). Edges come from the picture by a threshold of the gradient or as Canny has them, or
 * the picture is an edge map itself. With segments each line also has the end points of its longest
 * run of edges. The picture passes through untouched.
 *
 * Works on the GPU and on the CPU; both give the same lines. Needs nothing from other elements.
 * cudaannotate draws the lines.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahough segments=true ! cudaannotate ! videoconvert !
 *   autovideosink
 * ]| Line segments over the camera's picture.
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudahough min-theta=20 max-theta=160 post-messages=true
 * ! fakesink -m
 * ]| Lines that are not upright, in messages.
 *
 * Since: 0.1
 */
#include "gstcudahough.h"

#include <math.h>

#include "common/gstrvoldsettings.h"
#include "hough/hough.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_hough_debug);
#define GST_CAT_DEFAULT gst_cuda_hough_debug

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
  RvPlane grey;       /* of pictures whose luma is not a plane; in the engine's memory */
  void *device_count; /* in the engine's memory */
  guint32 count;      /* of the present frame */
  GstRvPayload list, votes;
};

G_DEFINE_TYPE(GstCudaHough, gst_cuda_hough, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudahough, "cudahough", GST_RANK_NONE, GST_TYPE_CUDA_HOUGH)

/* --- Properties ------------------------------------------------------------------------------ */

static GType edges_get_type(void) {
  static const GEnumValue values[] = {
      {RV_HOUGH_SOBEL, "Pixels whose gradient is above edge-low", "sobel"},
      {RV_HOUGH_CANNY, "Thin edges above edge-low that lead to one above edge-high", "canny"},
      {RV_HOUGH_BINARY, "The picture is an edge map: pixels whose grey is not 0", "binary"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  return gst_rv_enum_type(&type, "GstCudaHoughEdges", values);
}

#define AT(field) offsetof(Settings, config.field)

static const GstRvSetting rows[] = {
    {"edges", "Where edges come from", GST_RV_ENUM, 0, 0, RV_HOUGH_CANNY, AT(edges),
     edges_get_type},
    {"edge-low", "Gradient |gx| + |gy| (Sobel 3x3, 0..2040) above which a pixel may be an edge",
     GST_RV_INT, 0, RV_HOUGH_EDGE_MAX, RV_HOUGH_EDGE_LOW_DEFAULT, AT(edge_low), NULL},
    {"edge-high", "edges=canny: gradient that one pixel of an edge must exceed; not below edge-low",
     GST_RV_INT, 0, RV_HOUGH_EDGE_MAX, RV_HOUGH_EDGE_HIGH_DEFAULT, AT(edge_high), NULL},
    {"theta-steps", "Angles in the half circle; 180 = steps of 1 degree", GST_RV_INT,
     RV_HOUGH_THETA_STEPS_MIN, RV_HOUGH_THETA_STEPS_MAX, RV_HOUGH_THETA_STEPS_DEFAULT,
     AT(theta_steps), NULL},
    {"rho-step", "Step of the distance from the upper left pixel, in px", GST_RV_DOUBLE,
     RV_HOUGH_RHO_STEP_MIN, RV_HOUGH_RHO_STEP_MAX, 1.0, AT(rho_step), NULL},
    {"min-theta",
     "Least angle of the normal in degrees: 0 = upright lines, 90 = level ones, turning clockwise",
     GST_RV_DOUBLE, 0.0, 180.0, 0.0, AT(min_theta), NULL},
    {"max-theta", "Angle of the normal in degrees that is no longer looked at", GST_RV_DOUBLE, 0.0,
     180.0, 180.0, AT(max_theta), NULL},
    {"threshold", "A line has more votes: edge pixels, or the sum of their gradients when weighted",
     GST_RV_INT, 0, RV_HOUGH_THRESHOLD_MAX, RV_HOUGH_THRESHOLD_DEFAULT, AT(threshold), NULL},
    {"max-lines", "Lines with the most votes that are kept", GST_RV_INT, 1, RV_HOUGH_LINES_MAX,
     RV_HOUGH_LINES_DEFAULT, AT(max_lines), NULL},
    {"weighted", "A pixel's vote counts its gradient (edges=binary: its grey)", GST_RV_BOOL, 0, 1,
     0, AT(weighted), NULL},
    {"direction",
     "Pixels vote only for lines within so many degrees of their gradient's normal: fewer false "
     "lines; 0 = for all. Not with edges=binary",
     GST_RV_INT, 0, RV_HOUGH_DIRECTION_MAX, 0, AT(direction), NULL},
    {"segments",
     "Add the end points of each line's longest run of edges; lines without one of min-length are "
     "left out",
     GST_RV_BOOL, 0, 1, 0, AT(segments), NULL},
    {"min-length", "Least length of a segment in px", GST_RV_INT, 0, RV_HOUGH_LENGTH_MAX,
     RV_HOUGH_MIN_LENGTH_DEFAULT, AT(min_length), NULL},
    {"max-gap", "Longest gap in a segment that is bridged, in px", GST_RV_INT, 0,
     RV_HOUGH_LENGTH_MAX, RV_HOUGH_MAX_GAP_DEFAULT, AT(max_gap), NULL},
    {"accumulator", "Attach the votes of every bin too: a raster of one row per angle", GST_RV_BOOL,
     0, 1, 0, offsetof(Settings, accumulator), NULL},
};
static const GstRvOldSettings properties = {rows, G_N_ELEMENTS(rows), 1};

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  GstCudaHough *self = GST_CUDA_HOUGH(object);
  GST_OBJECT_LOCK(self);
  if (!gst_rv_old_settings_set(&properties, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(self);
  gst_rv_transform_rebuild(GST_RV_TRANSFORM(self));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  GstCudaHough *self = GST_CUDA_HOUGH(object);
  GST_OBJECT_LOCK(self);
  if (!gst_rv_old_settings_get(&properties, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(self);
}

/* --- Objects --------------------------------------------------------------------------------- */

static void release(GstRvTransform *base) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  rv_hough_free(&self->hough);
  gst_rv_payload_pool_free(&self->lists);
  gst_rv_payload_pool_free(&self->accumulators);
  rv_buffer_free(&self->grey.data, self->engine);
  rv_buffer_free(&self->device_count, self->engine);
}

static RvStatus make_pools(GstCudaHough *self, const GstRvExecContext *work, gboolean accumulator) {
  GstRvDevice *device = work->engine == RV_CUDA ? work->device : NULL;
  int bins, angles;
  rv_hough_size(&self->used, &bins, &angles, NULL, NULL);
  self->lists = gst_rv_payload_pool_new(device, (gsize)self->used.max_lines * sizeof(RvLine));
  if (accumulator)
    self->accumulators = gst_rv_payload_pool_new(device, gst_rv_raster_bytes(RV_U32, bins, angles));
  return self->lists && (self->accumulators || !accumulator) ? RV_OK : RV_ERR_NO_MEMORY;
}

static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  GST_OBJECT_LOCK(self);
  RvHoughConfig config = self->settings.config;
  const gboolean accumulator = self->settings.accumulator;
  GST_OBJECT_UNLOCK(self);
  config.width = GST_VIDEO_INFO_WIDTH(&base->in_info);
  config.height = GST_VIDEO_INFO_HEIGHT(&base->in_info);
  config.threads = work->threads;
  config.log = work->log;
  RvStatus status = rv_hough_config_check(&config);
  if (status != RV_OK) /* the former object stays in use */
    return status;
  release(base);
  self->used = config;
  self->engine = work->engine;
  self->grey = (RvPlane){NULL, gst_rv_raster_stride(RV_U8, config.width), config.width,
                         config.height, RV_U8};
  status = make_pools(self, work, accumulator);
  if (status == RV_OK)
    status = rv_buffer_new(&self->device_count, sizeof self->count, work->engine);
  if (status == RV_OK)
    status = rv_buffer_new(&self->grey.data,
                           gst_rv_raster_bytes(RV_U8, config.width, config.height), work->engine);
  return status == RV_OK ? rv_hough_new(&self->hough, &config, work->engine) : status;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* Luma as it lies in the picture where it is a plane, else a grey copy. */
static RvStatus take_grey(GstCudaHough *self, const GstRvExecContext *work,
                          const RvPicture *picture, RvPlane *grey) {
  if (picture->format == RV_PIXEL_NV12 || picture->format == RV_PIXEL_I420 ||
      picture->format == RV_PIXEL_GRAY8) {
    *grey = (RvPlane){picture->data[0], picture->stride[0], picture->width, picture->height, RV_U8};
    return RV_OK;
  }
  *grey = self->grey;
  return rv_convert_gray(picture, 0, 0, grey, work->threads, work->engine, work->stream,
                         &work->log);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  int bins, angles;
  rv_hough_size(&self->used, &bins, &angles, NULL, NULL);
  RvPlane grey;
  RvStatus status = take_grey(self, work, job->in_picture, &grey);
  if (status == RV_OK)
    status = gst_rv_payload_begin_array(&self->list, self->lists,
                                        (gsize)self->used.max_lines * sizeof(RvLine));
  if (status == RV_OK && self->accumulators)
    status = gst_rv_payload_begin(&self->votes, self->accumulators, RV_U32, bins, angles);
  if (status != RV_OK)
    return status;
  RvHoughOutput out = {.lines = self->list.plane.data, .count = self->device_count};
  if (self->accumulators)
    out.accumulator = self->votes.plane;
  status = rv_hough_run(self->hough, &grey, &out, work->stream);
  if (status != RV_OK)
    return status;
  return rv_copy_rows(&self->count, sizeof self->count, RV_CPU, self->device_count,
                      sizeof self->count, work->engine, sizeof self->count, 1, work->stream);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job,
                       gboolean ok) {
  GstCudaHough *self = GST_CUDA_HOUGH(base);
  if (!ok) {
    gst_rv_payload_drop(&self->list);
    gst_rv_payload_drop(&self->votes);
    return RV_OK;
  }
  RvMetaLines meta = {.width = self->used.width,
                      .height = self->used.height,
                      .count = (int)self->count,
                      .theta_step = G_PI / self->used.theta_steps,
                      .rho_step = self->used.rho_step,
                      .segments = self->used.segments};
  rv_hough_size(&self->used, NULL, NULL, &meta.rho_zero, &meta.first_angle);
  meta.payload = gst_rv_payload_end(&self->list);
  gst_buffer_set_size(meta.payload, (gssize)((gsize)self->count * sizeof(RvLine)));
  meta.accumulator = gst_rv_payload_end(&self->votes);
  rv_meta_add_lines(job->out, &meta);
  return RV_OK;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_hough_class_init(GstCudaHoughClass *klass) {
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_hough_debug, "cudahough", 0, "straight lines");
  object->set_property = set_property;
  object->get_property = get_property;
  gst_rv_old_settings_install(&properties, object);
  base->in_place = TRUE;
  base->picture = GST_MAP_READ;
  base->annotation = RV_META_LINES;
  base->configure = configure;
  base->process = process;
  base->finish = finish;
  base->release = release;
  gst_rv_transform_class_add_templates(base, NULL, NULL);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Straight lines",
                                        "Filter/Analyzer/Video/Hardware",
                                        "Finds straight lines and line segments (Hough transform) "
                                        "and attaches them (RvLinesMeta)",
                                        "gst-roadvision");
}

static void gst_cuda_hough_init(GstCudaHough *self) {
  rv_hough_config_init(&self->settings.config);
  gst_rv_old_settings_init(&properties, &self->settings);
}
