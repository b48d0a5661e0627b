/* SPDX-License-Identifier: MIT */
/* gstcudastixels.c: element cudastixels: disparity in, RvStixelsMeta out; cuda/stixels does the
 * work. */

/**
 * SECTION:element-cudastixels
 * @title: cudastixels
 * @short_description: The street in a thousand sticks (slanted stixels)
 *
 * Cuts every column of the disparity that cudasgm attached (RvDisparityMeta) into stixels, upright
 * sticks of ground, object or sky with a plane of disparity each, and attaches them to the picture
 * (RvStixelsMeta: an array of RvStixel, columns from left to right, from the bottom up). Uses the
 * confidence of the disparity when there is one, and semantics: labels or scores that a network
 * attached (RvSemanticsMeta), or label pictures (semantics-location). GRAY16_LE frames are
 * disparity maps themselves (disparity-scale values per px). The picture passes through untouched.
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

#include "common/gstrvdisparity.h"
#include "gstcudastixels_semantics.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_stixels_debug);
#define GST_CAT_DEFAULT gst_cuda_stixels_debug

/* bits of gst_rv_transform_once; disparity and semantics take two */
enum { ONCE_DISPARITY, ONCE_SEMANTICS = ONCE_DISPARITY + 2, ONCE_NO_CAMERA = ONCE_SEMANTICS + 2 };

/* Properties that are not in the table. */
enum { PROP_0, PROP_CLASSES, PROP_LOCATION, PROP_TABLE };

/* What comes to the host: how many stixels there are, and the ground plane. */
typedef struct Found {
  RvStixelsGround ground;
  guint32 count;
} Found;

typedef struct Settings {
  RvStixelsConfig config; /* size, threads and log are filled in with the first disparity */
  int scale;              /* values per px of GRAY16_LE frames */
} Settings;

struct _GstCudaStixels {
  GstRvTransform parent;

  Settings settings; /* properties, guarded by the object lock, like the next two */
  char *classes, *location;

  RvStixelsConfig used;  /* what the object is made for; width and height 0: not made yet */
  RvStixelsConfig asked; /* the properties it was made from */
  int asked_scale;
  char *asked_location;
  RvEngine engine;
  RvStixels *stixels;
  GstBufferPool *lists;
  void *ground, *offsets; /* of the present frame, in the engine's memory */
  Found found;
  GstRvDisparity disparity;
  GstRvInput confidence;
  GstCudaStixelsSemantics semantics;
  GstRvPayload list;
};

G_DEFINE_TYPE(GstCudaStixels, gst_cuda_stixels, GST_TYPE_RV_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudastixels, "cudastixels", GST_RANK_NONE, GST_TYPE_CUDA_STIXELS)

/* --- Properties ------------------------------------------------------------------------------ */

static GType model_get_type(void) {
  static const GEnumValue values[] = {
      {RV_STIXELS_SLANTED_FAST, "Planes, costs in closed form without outliers", "slanted-fast"},
      {RV_STIXELS_SLANTED, "Planes, every cell's cost with outliers", "slanted"},
      {RV_STIXELS_CONSTANT, "Objects of one disparity on the expected ground", "constant"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  return gst_rv_enum_type(&type, "GstCudaStixelsModel", values);
}

static GType ground_get_type(void) {
  static const GEnumValue values[] = {
      {RV_STIXELS_GROUND_ESTIMATE, "Found in the disparity, followed over time", "estimate"},
      {RV_STIXELS_GROUND_CAMERA, "From the camera's height and pitch", "camera"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  return gst_rv_enum_type(&type, "GstCudaStixelsGround", values);
}

static GType cuts_get_type(void) {
  static const GEnumValue values[] = {
      {RV_STIXELS_CUTS_ALL, "Every row of cells", "all"},
      {RV_STIXELS_CUTS_TIME_SERIES, "Where the disparity of the column turns or steps",
       "time-series"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  return gst_rv_enum_type(&type, "GstCudaStixelsCuts", values);
}

#define AT(field) offsetof(Settings, config.field)
#define PRIOR(name, blurb, value, field)                                                           \
  { name, blurb, GST_RV_DOUBLE, 0, RV_STIXELS_PRIOR_MAX, value, AT(field), NULL }
#define SIGMA(name, blurb, value, field)                                                           \
  { name, blurb, GST_RV_DOUBLE, RV_STIXELS_SIGMA_MIN, RV_STIXELS_SIGMA_MAX, value, AT(field), NULL }
#define PLANE(name, blurb, value, field)                                                           \
  { name, blurb, GST_RV_DOUBLE, 0, RV_STIXELS_SIGMA_FREE, value, AT(field), NULL }

static const GstRvSetting rows[] = {
    {"model", "Depth model", GST_RV_ENUM, 0, 0, RV_STIXELS_SLANTED_FAST, AT(model), model_get_type},
    {"stixel-width", "Width of a stixel in px", GST_RV_INT, 1, RV_STIXELS_CELL_MAX,
     RV_STIXELS_CELL_DEFAULT, AT(stixel_width), NULL},
    {"vertical-step", "Rows that a stixel may begin at, in px", GST_RV_INT, 1, RV_STIXELS_CELL_MAX,
     RV_STIXELS_CELL_DEFAULT, AT(vertical_step), NULL},
    {"cuts", "Where stixels may begin and end", GST_RV_ENUM, 0, 0, RV_STIXELS_CUTS_ALL, AT(cuts),
     cuts_get_type},
    {"refine", "Move the borders between stixels to the best row of pixels", GST_RV_BOOL, 0, 1, 1,
     AT(refine), NULL},
    {"ground", "Where the expected ground plane comes from", GST_RV_ENUM, 0, 0,
     RV_STIXELS_GROUND_ESTIMATE, AT(ground), ground_get_type},
    {"camera-height", "Height of the camera above the ground in m; 0 = as annotated", GST_RV_DOUBLE,
     0, 1000, 0, AT(camera.height), NULL},
    {"camera-pitch", "With camera-height: degrees that the camera looks down", GST_RV_DOUBLE, -89,
     89, 0, AT(camera.pitch), NULL},
    {"max-disparity", "Larger disparities count as this one, px", GST_RV_INT, 1,
     RV_STIXELS_MAX_DISPARITY_MAX, RV_STIXELS_MAX_DISPARITY_DEFAULT, AT(max_disparity), NULL},
    {"semantic-weight", "Weight of semantics beside the disparity (thesis eq. 4.2)", GST_RV_DOUBLE,
     0, RV_STIXELS_WEIGHT_MAX, 1, AT(semantic_weight), NULL},
    {"full-confidence",
     "Confidence of a disparity, as a share, from which on sigma is its noise; below, the noise is "
     "wider in proportion (thesis eq. 3.9)",
     GST_RV_DOUBLE, RV_STIXELS_FULL_CONFIDENCE_MIN, 1, 0.05, AT(full_confidence), NULL},
    {"p-val", "Share of cells with a disparity", GST_RV_DOUBLE, 0.01, 0.99, 0.9, AT(p_val), NULL},
    {"p-out", "Share of outliers; not in slanted-fast", GST_RV_DOUBLE, 0.001, 0.9, 0.1, AT(p_out),
     NULL},
    SIGMA("sigma-ground", "Noise of a cell on the ground, px", 1, sigma[RV_STIXEL_GROUND]),
    SIGMA("sigma-object", "Noise of a cell on an object, px", 1, sigma[RV_STIXEL_OBJECT]),
    SIGMA("sigma-sky", "Noise of a cell in the sky, px", 1, sigma[RV_STIXEL_SKY]),
    PLANE("sigma-ground-a",
          "Plane prior: deviation of the ground's disparity at the lowest row, px; 0 = fixed, "
          "1000000 = free",
          8, sigma_ground_a),
    PLANE("sigma-ground-b", "Plane prior: deviation of the ground's slope, px per row", 0.1,
          sigma_ground_b),
    PLANE("sigma-object-b", "Plane prior: deviation of an object's slope, px per row", 0,
          sigma_object_b),
    PRIOR("complexity", "Cost of each stixel, nat: larger gives fewer", 5, complexity),
    PRIOR("gravity-minus-alpha", "Cost of an object behind the ground below it, nat", 0,
          gravity_minus.alpha),
    PRIOR("gravity-minus-beta", "The same, nat per px of disparity", 0.3, gravity_minus.beta),
    PRIOR("gravity-plus-alpha", "Cost of an object in front of the ground below it, nat", 0,
          gravity_plus.alpha),
    PRIOR("gravity-plus-beta", "The same, nat per px of disparity", 0.3, gravity_plus.beta),
    PRIOR("ordering-alpha", "Cost of an object in front of the object below it, nat", 1,
          ordering.alpha),
    PRIOR("ordering-beta", "The same, nat per px of disparity", 0.5, ordering.beta),
    PRIOR("gap-minus-alpha", "Cost of ground farther away than the ground below it goes on to, nat",
          1, gap_minus.alpha),
    PRIOR("gap-minus-beta", "The same, nat per px of disparity", 1, gap_minus.beta),
    PRIOR("gap-plus-alpha", "Cost of ground nearer than the ground below it goes on to, nat", 1,
          gap_plus.alpha),
    PRIOR("gap-plus-beta", "The same, nat per px of disparity", 1, gap_plus.beta),
    PRIOR("ground-on-ground", "Cost of ground on top of ground, nat", 0, transition[0][0]),
    PRIOR("ground-on-object", "Cost of ground on top of an object, nat", 2, transition[0][1]),
    PRIOR("ground-on-sky", "Cost of ground on top of sky, nat", 20, transition[0][2]),
    PRIOR("object-on-ground", "Cost of an object on top of ground, nat", 0, transition[1][0]),
    PRIOR("object-on-object", "Cost of an object on top of another object, nat", 0,
          transition[1][1]),
    PRIOR("object-on-sky", "Cost of an object on top of sky, nat", 5, transition[1][2]),
    PRIOR("sky-on-ground", "Cost of sky on top of ground, nat", 0, transition[2][0]),
    PRIOR("sky-on-object", "Cost of sky on top of an object, nat", 0, transition[2][1]),
    PRIOR("sky-on-sky", "Cost of sky on top of sky, nat", 0, transition[2][2]),
    PRIOR("ground-at-bottom", "Cost of ground as a column's lowest stixel, nat", 0, first[0]),
    PRIOR("object-at-bottom", "Cost of an object as a column's lowest stixel, nat", 8, first[1]),
    PRIOR("sky-at-bottom", "Cost of sky as a column's lowest stixel, nat", 8, first[2]),
    GST_RV_DISPARITY_SCALE_SETTING(offsetof(Settings, scale)),
};
static const GstRvOldSettings properties = {rows, G_N_ELEMENTS(rows), PROP_TABLE};

static void set_text(char **to, const GValue *value) {
  g_free(*to);
  *to = g_value_dup_string(value);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  GstCudaStixels *self = GST_CUDA_STIXELS(object);
  GST_OBJECT_LOCK(self);
  if (id == PROP_CLASSES)
    set_text(&self->classes, value);
  else if (id == PROP_LOCATION)
    set_text(&self->location, value);
  else if (!gst_rv_old_settings_set(&properties, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(self);
  gst_rv_transform_rebuild(GST_RV_TRANSFORM(self));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  GstCudaStixels *self = GST_CUDA_STIXELS(object);
  GST_OBJECT_LOCK(self);
  if (id == PROP_CLASSES)
    g_value_set_string(value, self->classes);
  else if (id == PROP_LOCATION)
    g_value_set_string(value, self->location);
  else if (!gst_rv_old_settings_get(&properties, &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(self);
}

static void install_semantics(GObjectClass *object) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  g_object_class_install_property(
      object, PROP_CLASSES,
      g_param_spec_string("semantic-classes", "Semantic classes",
                          "Structural class of each semantic class, in order: g (ground), o "
                          "(object) or s (sky); at most 32, empty: semantics are not used. "
                          "Default: Cityscapes",
                          GST_CUDA_STIXELS_CLASSES, flags));
  g_object_class_install_property(
      object, PROP_LOCATION,
      g_param_spec_string("semantics-location", "Semantics location",
                          "Pattern of label pictures (such as labels/%06d.png), numbered from 0, "
                          "8-bit grey PNG of any size, in place of RvSemanticsMeta",
                          NULL, flags));
}

/* --- Objects --------------------------------------------------------------------------------- */

static void release_objects(GstCudaStixels *self) {
  rv_stixels_free(&self->stixels);
  gst_rv_payload_pool_free(&self->lists);
  rv_buffer_free(&self->ground, self->engine);
  rv_buffer_free(&self->offsets, self->engine);
}

static void release(GstRvTransform *base) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  release_objects(self);
  gst_rv_disparity_clear(&self->disparity);
  gst_rv_input_clear(&self->confidence);
  gst_cuda_stixels_semantics_clear(&self->semantics);
}

/* The object is made with the first disparity, whose size and camera come with it. */
static RvStatus configure(GstRvTransform *base, const GstRvExecContext *work) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  GST_OBJECT_LOCK(self);
  RvStixelsConfig config = self->settings.config;
  const int scale = self->settings.scale;
  char *location = g_strdup(self->location);
  const gboolean is_parsed = gst_cuda_stixels_semantics_parse(self->classes, &config);
  GST_OBJECT_UNLOCK(self);
  config.threads = work->threads;
  config.log = work->log;
  RvStixelsConfig tried = config;
  tried.width = tried.height = 1;
  tried.ground = RV_STIXELS_GROUND_ESTIMATE;
  RvStatus status = rv_stixels_config_check(&tried);
  if (!is_parsed) {
    gst_rv_log_line(&work->log, "semantic-classes must be at most %d letters g, o or s",
                    RV_STIXELS_SEMANTICS_MAX);
    status = RV_ERR_ARG;
  }
  if (status != RV_OK) { /* the former object stays in use */
    g_free(location);
    return status;
  }
  release_objects(self);
  self->asked = config;
  self->asked_scale = scale;
  g_free(self->asked_location);
  self->asked_location = location;
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
  if (self->asked.camera.height > 0) {
    camera.height = self->asked.camera.height;
    camera.pitch = self->asked.camera.pitch;
  }
  return camera;
}

static RvStatus make_objects(GstCudaStixels *self, const GstRvExecContext *work,
                             const RvStixelsInput *input, const RvCamera *camera) {
  const RvPlane *plane = &input->disparity;
  const gboolean is_semantic = input->labels.data || input->scores.data;
  if (self->stixels && self->used.width == plane->width && self->used.height == plane->height &&
      (self->used.semantics > 0 || !is_semantic) && is_same_camera(&self->used.camera, camera))
    return RV_OK;
  release_objects(self);
  self->used = self->asked;
  if (!is_semantic) /* memory for classes is taken with the first frame that has some */
    self->used.semantics = 0;
  self->used.width = plane->width;
  self->used.height = plane->height;
  self->used.camera = *camera;
  self->used.log = work->log;
  const gboolean known = camera->focal > 0 && camera->baseline > 0 && camera->height > 0;
  if (self->used.ground == RV_STIXELS_GROUND_CAMERA && !known) {
    self->used.ground = RV_STIXELS_GROUND_ESTIMATE;
    if (gst_rv_transform_once(GST_RV_TRANSFORM(self), ONCE_NO_CAMERA))
      GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                          ("The camera is not known; the ground plane is estimated."),
                          ("ground=camera needs focal-length and baseline of cudasgm, and "
                           "camera-height."));
  }
  const gsize bytes = (gsize)rv_stixels_count_max(&self->used) * sizeof(RvStixel);
  self->lists = gst_rv_payload_pool_new(work->engine == RV_CUDA ? work->device : NULL, bytes);
  RvStatus status = self->lists ? RV_OK : RV_ERR_NO_MEMORY;
  if (status == RV_OK)
    status = rv_buffer_new(&self->ground, sizeof(RvStixelsGround), work->engine);
  if (status == RV_OK)
    status =
        rv_buffer_new(&self->offsets,
                      ((gsize)rv_stixels_columns(&self->used) + 1) * sizeof(guint32), work->engine);
  return status == RV_OK ? rv_stixels_new(&self->stixels, &self->used, work->engine) : status;
}

/* --- One frame ------------------------------------------------------------------------------- */

/* The confidence, when it fits the disparity. */
static RvStatus take_confidence(GstCudaStixels *self, const GstRvExecContext *work,
                                RvStixelsInput *input) {
  if (!self->disparity.confidence)
    return RV_OK;
  const RvStatus status = gst_rv_input_map(&self->confidence, work, self->disparity.confidence);
  const RvPlane *trust = &self->confidence.plane;
  if (status == RV_OK && trust->format == RV_U8 && trust->width == input->disparity.width &&
      trust->height == input->disparity.height)
    input->confidence = *trust;
  return status;
}

/* All that the stixels are made of; without disparity nothing. */
static RvStatus take_input(GstCudaStixels *self, const GstRvExecContext *work, const GstRvJob *job,
                           RvStixelsInput *input) {
  GstRvTransform *base = GST_RV_TRANSFORM(self);
  const RvStatus status = gst_rv_disparity_map(&self->disparity, base, work, job->in,
                                               self->asked_scale, ONCE_DISPARITY);
  if (status != RV_OK || !self->disparity.plane.data)
    return status;
  input->disparity = self->disparity.plane;
  const RvStatus trusted = take_confidence(self, work, input);
  return trusted == RV_OK
             ? gst_cuda_stixels_semantics_map(&self->semantics, base, work, job->in,
                                              self->asked_location, self->asked.semantics,
                                              ONCE_SEMANTICS, input)
             : trusted;
}

static RvStatus process(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  RvStixelsInput input = {{0}, {0}, {0}, {0}};
  RvStatus status = take_input(self, work, job, &input);
  if (status != RV_OK || !input.disparity.data)
    return status;
  const RvCamera camera = camera_of(self, job->in);
  status = make_objects(self, work, &input, &camera);
  if (status != RV_OK)
    return status;
  const guint32 room = rv_stixels_count_max(&self->used);
  status = gst_rv_payload_begin_array(&self->list, self->lists, (gsize)room * sizeof(RvStixel));
  if (status != RV_OK)
    return status;
  const RvStixelsOutput output = {.stixels = self->list.plane.data,
                                  .capacity = room,
                                  .offsets = self->offsets,
                                  .ground = self->ground};
  status = rv_stixels_run(self->stixels, &input, &output, work->stream);
  if (status != RV_OK)
    return status;
  const guint32 *count = output.offsets + rv_stixels_columns(&self->used);
  status = rv_copy_rows(&self->found.count, sizeof *count, RV_CPU, count, sizeof *count,
                        work->engine, sizeof *count, 1, work->stream);
  return status == RV_OK ? rv_copy_rows(&self->found.ground, sizeof self->found.ground, RV_CPU,
                                        self->ground, sizeof self->found.ground, work->engine,
                                        sizeof self->found.ground, 1, work->stream)
                         : status;
}

static void attach(GstCudaStixels *self, GstBuffer *out) {
  const RvStixelsConfig *used = &self->used;
  const RvStixelsGround *ground = &self->found.ground;
  const double unit = 1.0 / (1 << 24), step = used->vertical_step;
  const double slope = (double)ground->slope * unit / step; /* upwards, px per row */
  RvMetaStixels meta = {
      .width = used->width,
      .height = used->height,
      .count = (int)self->found.count,
      .stixel_width = used->stixel_width,
      .vertical_step = used->vertical_step,
      .model = used->model,
      .ground_slope = -slope,
      .ground_intercept = (double)ground->at * unit + slope * (used->height - (step + 1) / 2),
      .ground_frames = ground->found,
  };
  meta.payload = gst_rv_payload_end(&self->list);
  gst_buffer_set_size(meta.payload, (gssize)(self->found.count * sizeof(RvStixel)));
  rv_meta_add_stixels(out, &meta);
}

static RvStatus finish(GstRvTransform *base, const GstRvExecContext *work, const GstRvJob *job,
                       gboolean ok) {
  GstCudaStixels *self = GST_CUDA_STIXELS(base);
  if (ok && self->list.buffer)
    attach(self, job->out);
  gst_rv_payload_drop(&self->list);
  gst_rv_disparity_unmap(&self->disparity);
  gst_rv_input_unmap(&self->confidence);
  gst_cuda_stixels_semantics_unmap(&self->semantics);
  return RV_OK;
}

static void finalize(GObject *object) {
  GstCudaStixels *self = GST_CUDA_STIXELS(object);
  g_free(self->classes);
  g_free(self->location);
  g_free(self->asked_location);
  G_OBJECT_CLASS(gst_cuda_stixels_parent_class)->finalize(object);
}

/* --- Class ----------------------------------------------------------------------------------- */

static void gst_cuda_stixels_class_init(GstCudaStixelsClass *klass) {
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstRvTransformClass *base = GST_RV_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_stixels_debug, "cudastixels", 0, "stixels");
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_semantics(object);
  gst_rv_old_settings_install(&properties, object);
  base->in_place = TRUE;
  base->picture = 0;
  base->annotation = RV_META_STIXELS;
  base->configure = configure;
  base->process = process;
  base->finish = finish;
  base->release = release;
  gst_rv_disparity_add_templates(base);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Stixels",
                                        "Filter/Analyzer/Video/Hardware",
                                        "Cuts the columns of the disparity into stixels of ground, "
                                        "object and sky and attaches them (RvStixelsMeta)",
                                        "gst-roadvision");
}

static void gst_cuda_stixels_init(GstCudaStixels *self) {
  rv_stixels_config_init(&self->settings.config);
  gst_rv_old_settings_init(&properties, &self->settings);
  self->classes = g_strdup(GST_CUDA_STIXELS_CLASSES);
}
