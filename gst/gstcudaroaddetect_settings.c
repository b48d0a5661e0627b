/* gstcudaroaddetect_settings.c: one table says name, meaning, range, default and place of every
 * property. Ranges and defaults are the library's. */
#include "gstcudaroaddetect_settings.h"

#include <gst/gst.h>

typedef enum Kind { KIND_INT, KIND_BOOL, KIND_DOUBLE, KIND_DISTANCE } Kind;

typedef struct Property {
  const char *name, *nick, *blurb;
  Kind kind;
  double low, high, value; /* range and default */
  size_t offset;           /* in GstCudaRoadDetectSettings */
} Property;

static GType distance_get_type(void) {
  static const GEnumValue values[] = {
      {RV_ROAD_MAHALANOBIS, "sqrt sum (p - m)^2 / s^2", "mahalanobis"},
      {RV_ROAD_MANHATTAN, "sum |p - m|", "manhattan"},
      {RV_ROAD_EUCLIDEAN, "sqrt sum (p - m)^2", "euclidean"},
      {RV_ROAD_CHEBYSHEV, "max |p - m|", "chebyshev"},
      {RV_ROAD_HELLINGER, "sqrt(1 - sum sqrt(p m))", "hellinger"},
      {RV_ROAD_CHI_SQUARE, "sum (p - m)^2 / p", "chi-square"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, g_enum_register_static("GstCudaRoadDetectDistance", values));
  return (GType)type;
}

#define AT(field) offsetof(GstCudaRoadDetectSettings, field)
#define ABOVE_ZERO 1e-9

static const Property table[] = {
    {"patch-size", "Patch size",
     "Side of the squares that are told apart, in px; what is left at the right and below is not "
     "looked at",
     KIND_INT, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX, RV_ROAD_PATCH_DEFAULT, AT(road.patch_size)},
    {"bins", "Bins", "Steps of hue and of saturation in a patch's histogram; others forget models",
     KIND_INT, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX, RV_ROAD_BINS_DEFAULT, AT(road.bins)},
    {"equalize", "Equalize", "Equalise the histograms of R, G and B first: light may change",
     KIND_BOOL, 0, 1, 1, AT(road.equalize)},
    {"roughness", "Roughness",
     "Variance of height in m^2 up to which a patch is smooth ground, before the noise of the "
     "disparity is added",
     KIND_DOUBLE, 0, RV_ROAD_ROUGHNESS_MAX, RV_ROAD_ROUGHNESS_DEFAULT, AT(road.roughness)},
    {"disparity-noise", "Disparity noise",
     "Standard deviation of the disparity in px: limits of roughness and height grow with it",
     KIND_DOUBLE, 0, RV_ROAD_NOISE_MAX, RV_ROAD_NOISE_DEFAULT, AT(road.disparity_noise)},
    {"max-roughness", "Maximum roughness",
     "Variance of height in m^2 above which a patch is never smooth, whatever the noise",
     KIND_DOUBLE, 0, RV_ROAD_ROUGHNESS_MAX, RV_ROAD_ROUGHNESS_MOST_DEFAULT, AT(road.max_roughness)},
    {"near-range", "Near range", "Depth in m up to which ground teaches models", KIND_DOUBLE,
     ABOVE_ZERO, RV_ROAD_RANGE_MAX, RV_ROAD_RANGE_DEFAULT, AT(road.near_range)},
    {"near-width", "Near width",
     "Width in m, round the camera's axis, of the ground ahead that teaches models: about that of "
     "the vehicle's way; 0 = all of it",
     KIND_DOUBLE, 0, RV_ROAD_WIDTH_MAX, RV_ROAD_WIDTH_DEFAULT, AT(road.near_width)},
    {"max-height", "Maximum height",
     "Height in m above or below the fitted ground up to which a patch may be road; 0 = height "
     "takes no part",
     KIND_DOUBLE, 0, RV_ROAD_RISE_MAX, RV_ROAD_RISE_DEFAULT, AT(road.max_height)},
    {"ground-trust", "Ground trust",
     "How much stranger than classify-threshold the colour of a patch on the ground may be",
     KIND_DOUBLE, 1, RV_ROAD_TRUST_MAX, RV_ROAD_TRUST_DEFAULT, AT(road.ground_trust)},
    {"smoothing", "Smoothing",
     "Each patch becomes what most of the 3x3 (3) or 5x5 (5) patches round it are; 0 = off",
     KIND_INT, 0, 5, RV_ROAD_SMOOTHING_DEFAULT, AT(road.smoothing)},
    {"min-saturation", "Minimum saturation",
     "Hue does not count in pixels of a lower saturation, 0..255: there it is noise", KIND_INT, 0,
     255, 0, AT(road.min_saturation)},
    {"min-value", "Minimum value",
     "Hue does not count in pixels whose largest of R, G and B is lower, 0..255", KIND_INT, 0, 255,
     0, AT(road.min_value)},
    {"initial-models", "Initial models",
     "Colour models that an empty library is given; at most library-size", KIND_INT, 1,
     RV_ROAD_LIBRARY_MAX, RV_ROAD_INITIAL_DEFAULT, AT(road.initial_models)},
    {"new-models", "New models",
     "Colour models that the samples near none of the library make; at most library-size", KIND_INT,
     1, RV_ROAD_LIBRARY_MAX, RV_ROAD_NEW_DEFAULT, AT(road.new_models)},
    {"library-size", "Library size", "Colour models that are kept; the lightest make room",
     KIND_INT, 1, RV_ROAD_LIBRARY_MAX, RV_ROAD_LIBRARY_DEFAULT, AT(road.library_size)},
    {"min-samples", "Minimum samples", "Samples that new models are made of; fewer wait", KIND_INT,
     1, RV_ROAD_SAMPLES_MAX, RV_ROAD_SAMPLES_DEFAULT, AT(road.min_samples)},
    {"update-threshold", "Update threshold",
     "Mahalanobis distance up to which a sample updates its nearest model", KIND_DOUBLE, ABOVE_ZERO,
     RV_ROAD_THRESHOLD_MAX, RV_ROAD_UPDATE_DEFAULT, AT(road.update_threshold)},
    {"classify-threshold", "Classify threshold",
     "Distance from the nearest model up to which a patch looks like road, in the unit of the "
     "property distance",
     KIND_DOUBLE, ABOVE_ZERO, RV_ROAD_THRESHOLD_MAX, RV_ROAD_CLASSIFY_DEFAULT,
     AT(road.classify_threshold)},
    {"distance", "Distance",
     "How patches are compared with models: p of the patch, m and s^2 mean "
     "and variance of the model",
     KIND_DISTANCE, 0, 0, RV_ROAD_MAHALANOBIS, AT(road.distance)},
    {"variance-floor", "Variance floor",
     "Least variance of a cell of a model, of histograms that sum to 1", KIND_DOUBLE,
     RV_ROAD_FLOOR_MIN, RV_ROAD_FLOOR_MAX, RV_ROAD_FLOOR_DEFAULT, AT(road.variance_floor)},
    {"focal-length", "Focal length",
     "Focal length of the camera in px; 0 = as the input's RvCameraMeta says", KIND_DOUBLE, 0, 1e6,
     0, AT(focal)},
    {"baseline", "Baseline",
     "Distance between the cameras in m; 0 = as the input's RvCameraMeta says", KIND_DOUBLE, 0, 1e3,
     0, AT(baseline)},
    {"cx", "Principal point x",
     "Column of the principal point in px; 0 = as the input's RvCameraMeta says, else the middle",
     KIND_DOUBLE, 0, 1e6, 0, AT(cx)},
    {"cy", "Principal point y",
     "Row of the principal point in px; 0 = as the input's RvCameraMeta says, else the middle",
     KIND_DOUBLE, 0, 1e6, 0, AT(cy)},
};

static GParamSpec *spec_of(const Property *p) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  switch (p->kind) {
  case KIND_INT:
    return g_param_spec_int(p->name, p->nick, p->blurb, (int)p->low, (int)p->high, (int)p->value,
                            flags);
  case KIND_BOOL:
    return g_param_spec_boolean(p->name, p->nick, p->blurb, p->value != 0, flags);
  case KIND_DOUBLE:
    return g_param_spec_double(p->name, p->nick, p->blurb, p->low, p->high, p->value, flags);
  case KIND_DISTANCE:
    gst_type_mark_as_plugin_api(distance_get_type(), 0);
    return g_param_spec_enum(p->name, p->nick, p->blurb, distance_get_type(), (int)p->value, flags);
  }
  return NULL;
}

void gst_cuda_road_detect_install_properties(GObjectClass *klass, guint first) {
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    g_object_class_install_property(klass, first + i, spec_of(&table[i]));
}

void gst_cuda_road_detect_settings_init(GstCudaRoadDetectSettings *settings) {
  rv_road_config_init(&settings->road);
  settings->focal = settings->baseline = settings->cx = settings->cy = 0;
}

gboolean gst_cuda_road_detect_settings_set(GstCudaRoadDetectSettings *settings, int place,
                                           const GValue *value) {
  if (place < 0 || place >= (int)G_N_ELEMENTS(table))
    return FALSE;
  const Property *p = &table[place];
  void *to = (char *)settings + p->offset;
  if (p->kind == KIND_DOUBLE)
    *(double *)to = g_value_get_double(value);
  else if (p->kind == KIND_DISTANCE)
    *(RvRoadDistance *)to = (RvRoadDistance)g_value_get_enum(value);
  else
    *(int *)to = p->kind == KIND_INT ? g_value_get_int(value) : g_value_get_boolean(value);
  return TRUE;
}

gboolean gst_cuda_road_detect_settings_get(const GstCudaRoadDetectSettings *settings, int place,
                                           GValue *value) {
  if (place < 0 || place >= (int)G_N_ELEMENTS(table))
    return FALSE;
  const Property *p = &table[place];
  const void *from = (const char *)settings + p->offset;
  if (p->kind == KIND_DOUBLE)
    g_value_set_double(value, *(const double *)from);
  else if (p->kind == KIND_INT)
    g_value_set_int(value, *(const int *)from);
  else if (p->kind == KIND_BOOL)
    g_value_set_boolean(value, *(const int *)from);
  else
    g_value_set_enum(value, (int)*(const RvRoadDistance *)from);
  return TRUE;
}
