/* SPDX-License-Identifier: MIT */
/* gstcudastixels.c: element cudastixels: attaches the stixels of the disparity (RvStixelsMeta). */

/**
 * SECTION:element-cudastixels
 * @title: cudastixels
 * @short_description: Slanted stixels from disparity
 *
 * Divides every column of the disparity from cudasgm (RvDisparityMeta) into stixels, vertical runs
 * of ground, object or sky with a plane of disparity each, and attaches them to the frame
 * (RvStixelsMeta: an array of RvStixel, columns from left to right, from the bottom up). Uses the
 * confidence of the disparity if available, and semantics: labels or scores from a network
 * (RvSemanticsMeta), which semanticsattach can attach too. GRAY16_LE frames are disparity maps
 * themselves (disparity-scale values per px). The frame passes through unchanged.
 *
 * Works on the GPU and on the CPU; both give the same stixels. cudaannotate draws them.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! cudasgm ! cudastixels post-messages=true ! fakesink -m
 * ]| Number of stixels and ground plane of each frame, in messages.
 *
 * Since: 0.1
 */
#include "gstcudastixels.h"

#include <errno.h>
#include <glib/gstdio.h>

#include "common/gstrvdisparity.h"
#include "common/gstrvground.h"
#include "gstcudastixels_priors.h"
#include "gstcudastixels_semantics.h"
#include "rv_host.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(GST_RV_TRANSFORM(self))

/* bits of gst_rv_transform_once; disparity takes two */
enum { ONCE_DISPARITY, ONCE_SEMANTICS = ONCE_DISPARITY + 2, ONCE_NO_CAMERA };

/* Results that are copied to the host: the ground, its plane as the stixels have it, and the number of
 * stixels. */
typedef struct Found {
  RvGroundSurface surface;
  RvStixelsGround ground;
  guint32 count;
} Found;

typedef struct Settings {
  RvStixelsConfig config; /* size, threads and log are set with the first disparity */
  int scale;              /* values per px of GRAY16_LE frames */
  char *classes;          /* texts of GstCudaStixelsTexts */
  char *names, *sigmas, *transitions, *location;
  char *cuts; /* file of the network of cuts; empty: that of the library */
} Settings;

struct _GstCudaStixels {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock */

  RvStixelsConfig used;           /* of the object; width and height 0: not made yet */
  RvStixelsConfig requested;      /* the properties it was made from */
  RvStixelsSemanticPriors priors; /* of `requested` */
  RvStixelsNetwork network;       /* from cuts-location; `requested` refers to it */
  int requested_scale;
  RvEngine engine;
  RvStixels *stixels;
  GstBufferPool *lists;
  Found *device;    /* of the current frame, in the memory of the engine; without the number */
  guint32 *offsets; /* the same */
  GstRvGround surface;
  gboolean has_ground; /* the current frame is large enough for `surface` */
  Found *found;        /* on the host */
  GstRvDisparity disparity;
  GstRvInput confidence;
  GstCudaStixelsSemantics semantics;
  GstRvPayload list;
};

G_DEFINE_TYPE(GstCudaStixels, gst_cuda_stixels, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudastixels, "cudastixels", GST_RANK_NONE, GST_TYPE_CUDA_STIXELS)

/* --- Properties ------------------------------------------------------------------------------ */

static const RvParamValue classes[] = {{.name = GST_CUDA_STIXELS_CLASSES}};
static const RvParamValue none[] = {{.name = ""}};

/* Rows of texts that are empty by default: name, field, text, note. */
#define TEXT(name, field, text, note)                                                              \
  GST_RV_LISTED(RV_PARAM_TEXT, name, field, none, 0, 0, NULL, note, text)

static const RvParam own[] = {
    GST_RV_DISPARITY_SCALE_ROW(offsetof(Settings, scale)),
    {.name = "semantic-classes",
     .text = "Structural class of each semantic class, in order",
     .note = "g = ground, o = object, s = sky; at most 32; empty = no semantics",
     .type = RV_PARAM_TEXT,
     .offset = offsetof(Settings, classes),
     .values = classes,
     .value_count = 1},
    TEXT("semantic-names", names, "Names of the semantic classes, in order", NULL),
    TEXT("semantic-sigmas", sigmas,
         "Standard deviation of the disparity of a cell by semantic class, px, as road:0.8 car:1.5",
         "0.1 to 4; others have that of their structural class; * = all"),
    TEXT("semantic-transitions", transitions,
         "Cost of a semantic class above another, nats, as BELOW>ABOVE:NATS, for instance sky>*:20",
         "0 to 1000, others 0; in addition to the CLASS-on-CLASS properties"),
    TEXT("semantic-location", location, "File of semantic classes, names, sigmas and transitions",
         "empty = none"),
    GST_RV_TEXT("cuts-location", cuts, "empty = the network of the library",
                "File of the network of cuts=network, from examples/train_cuts.py"),
};
GST_RV_TRANSFORM_SETTINGS(GstCudaStixels, Settings, rv_stixels_params);

/* --- Objects --------------------------------------------------------------------------------- */

static void release_objects(GstCudaStixels *self) {
  rv_stixels_free(&self->stixels);
  gst_rv_payload_pool_free(&self->lists);
  rv_buffer_free((void **)&self->device, self->engine);
  rv_buffer_free((void **)&self->offsets, self->engine);
  rv_host_free((void **)&self->found, self->engine);
}

static void release(GstRvTransform *base) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  release_objects(self);
  gst_rv_ground_clear(&self->surface);
  gst_rv_disparity_clear(&self->disparity);
  gst_rv_input_clear(&self->confidence);
  gst_cuda_stixels_semantics_clear(&self->semantics);
}

/* A file that is no network may have any size: at most one byte more is read. */
static RvStatus read_network(const char *path, RvStixelsNetwork *network, const RvLog *log) {
  guint8 bytes[RV_STIXELS_NETWORK_BYTES + 1];
  FILE *file = g_fopen(path, "rb");
  const gsize size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  const int error = !file || ferror(file) ? errno : 0;
  if (file)
    fclose(file);
  if (error) {
    gst_rv_log_line(log, "cuts-location=%s: %s; leave it empty for the network of the library",
                    path, g_strerror(error));
    return RV_ERR_IO;
  }
  GstRvLine line = {""};
  const RvLog keep = gst_rv_line_sink(&line);
  const RvStatus status = rv_stixels_network_read(network, bytes, size, &keep);
  if (status != RV_OK)
    gst_rv_log_line(log, "cuts-location=%s: %s", path, line.text);
  return status;
}

/* The object is made with the first disparity, which defines size and camera. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  const Settings *wanted = gst_rv_transform_settings(base);
  RvStixelsConfig config = wanted->config;
  RvStixelsSemanticPriors priors;
  const GstCudaStixelsTexts texts = {wanted->classes, wanted->names, wanted->sigmas,
                                     wanted->transitions, wanted->location};
  const gboolean is_parsed = gst_cuda_stixels_priors_parse(&texts, &config, &priors, &work->log);
  RvStixelsNetwork network;
  const gboolean has_network = wanted->cuts && wanted->cuts[0];
  const RvStatus read = has_network ? read_network(wanted->cuts, &network, &work->log) : RV_OK;
  if (read != RV_OK) /* the previous object remains in use, as below */
    return read;
  config.threads = work->threads;
  config.log = work->log;
  RvStixelsConfig tried = config;
  tried.width = tried.height = 1;
  tried.ground = RV_STIXELS_GROUND_ESTIMATE;
  RvStatus status = rv_stixels_config_check(&tried);
  if (!is_parsed)
    status = RV_ERR_ARG;
  if (status != RV_OK) /* the previous object remains in use */
    return status;
  release_objects(self);
  self->priors = priors;
  if (has_network) {
    self->network = network;
    config.network = &self->network;
  }
  self->requested = config;
  if (config.semantic_priors)
    self->requested.semantic_priors = &self->priors;
  self->requested_scale = wanted->scale;
  self->engine = work->engine;
  return RV_OK;
}

static gboolean is_same_camera(const RvCamera *a, const RvCamera *b) {
  return a->focal == b->focal && a->cy == b->cy && a->doffs == b->doffs &&
         a->baseline == b->baseline && a->height == b->height && a->pitch == b->pitch;
}

/* The annotated camera, height and pitch overridden by the properties. */
static RvCamera camera_of(const GstCudaStixels *self, GstBuffer *buffer) {
  RvCamera camera;
  int width, height;
  if (!rv_meta_get_camera(buffer, &camera, &width, &height))
    camera = (RvCamera){0, 0, 0, 0, 0, 0, 0};
  if (self->requested.camera.height > 0) {
    camera.height = self->requested.camera.height;
    camera.pitch = self->requested.camera.pitch;
  }
  return camera;
}

/* The property, or the end of the annotated search range. */
static int max_disparity_of(const GstCudaStixels *self) {
  const int asked = self->requested.max_disparity, range = self->disparity.range;
  return asked > 0 ? asked : range > 0 ? MIN(range, RV_STIXELS_RANGE_MAX) : RV_STIXELS_RANGE;
}

static RvStatus make_objects(GstCudaStixels *self, const GstRvExecContext *work,
                             const RvStixelsInput *input, const RvCamera *camera) {
  const RvPlane *plane = &input->disparity;
  const gboolean is_semantic = input->labels.data || input->scores.data;
  if (self->stixels && self->used.width == plane->width && self->used.height == plane->height &&
      self->used.max_disparity == max_disparity_of(self) &&
      (self->used.semantics > 0 || !is_semantic) && is_same_camera(&self->used.camera, camera))
    return RV_OK;
  release_objects(self);
  self->used = self->requested;
  if (!is_semantic) /* memory for classes is allocated with the first frame that has semantics */
    self->used.semantics = 0;
  self->used.width = plane->width;
  self->used.height = plane->height;
  self->used.max_disparity = max_disparity_of(self);
  self->used.camera = *camera;
  self->used.log = work->log;
  const gboolean known = camera->focal > 0 && camera->baseline > 0 && camera->height > 0;
  if (self->used.ground == RV_STIXELS_GROUND_CAMERA && !known) {
    self->used.ground = RV_STIXELS_GROUND_ESTIMATE;
    if (gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_NO_CAMERA))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The camera is unknown; the ground plane is estimated."),
                          ("Set focal-length and baseline of cudasgm, and camera-height, for "
                           "ground=camera."));
  }
  const gsize bytes = (gsize)rv_stixels_count_max(&self->used) * sizeof(RvStixel);
  self->lists = gst_rv_payload_pool_new(work->engine == RV_CUDA ? work->device : NULL, bytes);
  RvStatus status = self->lists ? RV_OK : RV_ERR_NO_MEMORY;
  if (status == RV_OK)
    status = rv_buffer_new((void **)&self->device, sizeof *self->device, work->engine);
  if (status == RV_OK)
    status = rv_host_new((void **)&self->found, sizeof *self->found, work->engine);
  if (status == RV_OK)
    status =
        rv_buffer_new((void **)&self->offsets,
                      ((gsize)rv_stixels_columns(&self->used) + 1) * sizeof(guint32), work->engine);
  return status == RV_OK ? rv_stixels_new(&self->stixels, &self->used, work->engine) : status;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* The confidence, if it has the size of the disparity. */
static RvStatus map_confidence(GstCudaStixels *self, const GstRvExecContext *work,
                               RvStixelsInput *input) {
  if (!self->disparity.confidence)
    return RV_OK;
  const RvStatus status = gst_rv_input_map(&self->confidence, work, self->disparity.confidence);
  const RvPlane *plane = &self->confidence.plane;
  if (status == RV_OK && plane->format == RV_U8 && plane->width == input->disparity.width &&
      plane->height == input->disparity.height)
    input->confidence = *plane;
  return status;
}

/* The input of the stixels; none without disparity. */
static RvStatus map_input(GstCudaStixels *self, const GstRvExecContext *work, const GstRvJob *job,
                          RvStixelsInput *input) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const RvStatus status = gst_rv_disparity_map(&self->disparity, base, work, job->in,
                                               self->requested_scale, ONCE_DISPARITY);
  if (status != RV_OK || !self->disparity.plane.data)
    return status;
  input->disparity = self->disparity.plane;
  const RvStatus mapped = map_confidence(self, work, input);
  return mapped == RV_OK
             ? gst_cuda_stixels_semantics_map(&self->semantics, base, work, job->in,
                                              self->requested.semantics, ONCE_SEMANTICS, input)
             : mapped;
}

/* The ground of RvGroundMeta, or a new one; with ground=camera that of the camera. */
static RvStatus make_ground(GstCudaStixels *self, const GstRvExecContext *work, const GstRvJob *job,
                            RvStixelsInput *input) {
  const RvGroundConfig wanted = {
      .camera = self->used.camera,
      .mode = self->used.ground == RV_STIXELS_GROUND_CAMERA ? RV_GROUND_MODE_CAMERA
                                                            : RV_GROUND_MODE_ESTIMATE,
      .max_disparity = self->disparity.range > 0 ? self->disparity.range : self->used.max_disparity,
  };
  self->has_ground = MIN(input->disparity.width, input->disparity.height) >= RV_GROUND_SIDE_MIN;
  if (!self->has_ground)
    return RV_OK;
  input->surface = &self->device->surface;
  return gst_rv_ground_make(&self->surface, work, job->in, &input->disparity, &wanted,
                            &self->device->surface);
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  RvStixelsInput input = {{0}, {0}, {0}, {0}, NULL};
  RvStatus status = map_input(self, work, job, &input);
  if (status != RV_OK || !input.disparity.data)
    return status;
  const RvCamera camera = camera_of(self, job->in);
  status = make_objects(self, work, &input, &camera);
  if (status != RV_OK)
    return status;
  status = make_ground(self, work, job, &input);
  if (status != RV_OK)
    return status;
  const guint32 capacity = rv_stixels_count_max(&self->used);
  status = gst_rv_payload_begin_array(&self->list, self->lists, (gsize)capacity * sizeof(RvStixel));
  if (status != RV_OK)
    return status;
  const RvStixelsOutput output = {.stixels = self->list.plane.data,
                                  .capacity = capacity,
                                  .offsets = self->offsets,
                                  .ground = &self->device->ground};
  status = rv_stixels_run(self->stixels, &input, &output, work->stream);
  if (status != RV_OK)
    return status;
  const guint32 *count = output.offsets + rv_stixels_columns(&self->used);
  status = rv_copy_rows(&self->found->count, sizeof *count, RV_CPU, count, sizeof *count,
                        work->engine, sizeof *count, 1, work->stream);
  const gsize bytes = G_STRUCT_OFFSET(Found, count);
  return status == RV_OK ? rv_copy_rows(self->found, (ptrdiff_t)bytes, RV_CPU, self->device,
                                        (ptrdiff_t)bytes, work->engine, bytes, 1, work->stream)
                         : status;
}

static void attach(GstCudaStixels *self, GstBuffer *out) {
  const RvStixelsConfig *used = &self->used;
  const RvStixelsGround *ground = &self->found->ground;
  const double unit = 1.0 / (1 << 24), step = used->vertical_step;
  const double slope = (double)ground->slope * unit / step; /* upwards, px per row */
  RvMetaStixels meta = {
      .width = used->width,
      .height = used->height,
      .count = (int)self->found->count,
      .stixel_width = used->stixel_width,
      .vertical_step = used->vertical_step,
      .model = used->model,
      .ground_slope = -slope,
      .ground_intercept = (double)ground->at * unit + slope * (used->height - (step + 1) / 2),
      .ground_frames = ground->found,
  };
  meta.payload = gst_rv_payload_end(&self->list);
  gst_buffer_set_size(meta.payload, (gssize)(self->found->count * sizeof(RvStixel)));
  rv_meta_add_stixels(out, &meta);
}

/* The ground of the last frame belongs to the object, which the next frame creates again. */
static RvStatus reset(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  release_objects(self);
  return gst_rv_ground_reset(&self->surface, work);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  if (job->ok && self->list.buffer) {
    if (self->has_ground)
      gst_rv_ground_attach(&self->surface, &self->found->surface, job->out);
    attach(self, job->out);
  }
  gst_rv_payload_drop(&self->list);
  gst_rv_disparity_unmap(&self->disparity);
  gst_rv_input_unmap(&self->confidence);
  gst_cuda_stixels_semantics_unmap(&self->semantics);
  return RV_OK;
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_stixels_class_init(GstCudaStixelsClass *klass) {
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  gst_rv_transform_class_set_analyzer(base, "cudastixels", &settings, 0, RV_META_STIXELS,
                                      RV_META_GROUND, NULL);
  gst_rv_transform_class_set_work(base, configure, process, finish, release);
  base->reset = reset;
}

static void gst_cuda_stixels_init(GstCudaStixels *self) {}
