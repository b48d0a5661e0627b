/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect_settings.c: one table says name, meaning, range, default and place of every
 * property. Ranges and defaults are the library's. */
#include "gstcudaroaddetect_settings.h"

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
  return gst_rv_enum_type(&type, "GstCudaRoadDetectDistance", values);
}

#define AT(field) offsetof(GstCudaRoadDetectSettings, field)
#define ABOVE_ZERO 1e-9

static const GstRvSetting rows[] = {
    {"patch-size",
     "Side of the squares that are told apart, in px; what is left at the right and below is not "
     "looked at",
     GST_RV_INT, RV_ROAD_PATCH_MIN, RV_ROAD_PATCH_MAX, RV_ROAD_PATCH_DEFAULT, AT(road.patch_size),
     NULL},
    {"bins", "Steps of hue and of saturation in a patch's histogram; others forget models",
     GST_RV_INT, RV_ROAD_BINS_MIN, RV_ROAD_BINS_MAX, RV_ROAD_BINS_DEFAULT, AT(road.bins), NULL},
    {"equalize", "Equalise the histograms of R, G and B first: light may change", GST_RV_BOOL, 0, 1,
     1, AT(road.equalize), NULL},
    {"roughness",
     "Variance of height in m^2 up to which a patch is smooth ground, before the noise of the "
     "disparity is added",
     GST_RV_DOUBLE, 0, RV_ROAD_ROUGHNESS_MAX, RV_ROAD_ROUGHNESS_DEFAULT, AT(road.roughness), NULL},
    {"disparity-noise",
     "Standard deviation of the disparity in px: limits of roughness and height grow with it",
     GST_RV_DOUBLE, 0, RV_ROAD_NOISE_MAX, RV_ROAD_NOISE_DEFAULT, AT(road.disparity_noise), NULL},
    {"max-roughness",
     "Variance of height in m^2 above which a patch is never smooth, whatever the noise",
     GST_RV_DOUBLE, 0, RV_ROAD_ROUGHNESS_MAX, RV_ROAD_MAX_ROUGHNESS_DEFAULT, AT(road.max_roughness),
     NULL},
    {"near-range", "Depth in m up to which ground teaches models", GST_RV_DOUBLE, ABOVE_ZERO,
     RV_ROAD_RANGE_MAX, RV_ROAD_RANGE_DEFAULT, AT(road.near_range), NULL},
    {"near-width",
     "Width in m, round the camera's axis, of the ground ahead that teaches models: about that of "
     "the vehicle's way; 0 = all of it",
     GST_RV_DOUBLE, 0, RV_ROAD_WIDTH_MAX, RV_ROAD_WIDTH_DEFAULT, AT(road.near_width), NULL},
    {"max-height",
     "Height in m above the fitted ground up to which a patch may be road, four times that below "
     "it; 0 = height takes no part",
     GST_RV_DOUBLE, 0, RV_ROAD_MAX_HEIGHT_MAX, RV_ROAD_MAX_HEIGHT_DEFAULT, AT(road.max_height),
     NULL},
    {"ground-threshold-scale",
     "How much stranger than classify-threshold the colour of a patch on the ground may be",
     GST_RV_DOUBLE, 1, RV_ROAD_GROUND_SCALE_MAX, RV_ROAD_GROUND_SCALE_DEFAULT,
     AT(road.ground_threshold_scale), NULL},
    {"smoothing",
     "Each patch becomes what most of the 3x3 (3) or 5x5 (5) patches round it are; 0 = off",
     GST_RV_INT, 0, 5, RV_ROAD_SMOOTHING_DEFAULT, AT(road.smoothing), NULL},
    {"min-saturation",
     "Hue does not count in pixels of a lower saturation, 0..255: there it is noise", GST_RV_INT, 0,
     255, 0, AT(road.min_saturation), NULL},
    {"min-value", "Hue does not count in pixels whose largest of R, G and B is lower, 0..255",
     GST_RV_INT, 0, 255, 0, AT(road.min_value), NULL},
    {"initial-models", "Colour models that an empty library is given; at most library-size",
     GST_RV_INT, 1, RV_ROAD_LIBRARY_MAX, RV_ROAD_INITIAL_DEFAULT, AT(road.initial_models), NULL},
    {"new-models",
     "Colour models that the samples near none of the library make; at most library-size",
     GST_RV_INT, 1, RV_ROAD_LIBRARY_MAX, RV_ROAD_NEW_DEFAULT, AT(road.new_models), NULL},
    {"estimate-models",
     "The samples say how many models they make, up to library-size: initial-models and new-models "
     "do not count",
     GST_RV_BOOL, 0, 1, RV_ROAD_ESTIMATE_DEFAULT, AT(road.estimate_models), NULL},
    {"library-size", "Colour models that are kept; the lightest make room", GST_RV_INT, 1,
     RV_ROAD_LIBRARY_MAX, RV_ROAD_LIBRARY_DEFAULT, AT(road.library_size), NULL},
    {"min-samples", "Samples that new models are made of; fewer wait", GST_RV_INT, 1,
     RV_ROAD_SAMPLES_MAX, RV_ROAD_SAMPLES_DEFAULT, AT(road.min_samples), NULL},
    {"update-threshold", "Mahalanobis distance up to which a sample updates its nearest model",
     GST_RV_DOUBLE, ABOVE_ZERO, RV_ROAD_THRESHOLD_MAX, RV_ROAD_UPDATE_DEFAULT,
     AT(road.update_threshold), NULL},
    {"classify-threshold",
     "Distance from the nearest model up to which a patch looks like road, in the unit of the "
     "property distance",
     GST_RV_DOUBLE, ABOVE_ZERO, RV_ROAD_THRESHOLD_MAX, RV_ROAD_CLASSIFY_DEFAULT,
     AT(road.classify_threshold), NULL},
    {"distance",
     "How patches are compared with models: p of the patch, m and s^2 mean "
     "and variance of the model",
     GST_RV_ENUM, 0, 0, RV_ROAD_MAHALANOBIS, AT(road.distance), distance_get_type},
    {"variance-floor", "Least variance of a cell of a model, of histograms that sum to 1",
     GST_RV_DOUBLE, RV_ROAD_FLOOR_MIN, RV_ROAD_FLOOR_MAX, RV_ROAD_FLOOR_DEFAULT,
     AT(road.variance_floor), NULL},
    {"focal-length", "Focal length of the camera in px; 0 = as the input's RvCameraMeta says",
     GST_RV_DOUBLE, 0, 1e6, 0, AT(focal), NULL},
    {"baseline", "Distance between the cameras in m; 0 = as the input's RvCameraMeta says",
     GST_RV_DOUBLE, 0, 1e3, 0, AT(baseline), NULL},
    {"cx",
     "Column of the principal point in px; 0 = as the input's RvCameraMeta says, else the middle",
     GST_RV_DOUBLE, 0, 1e6, 0, AT(cx), NULL},
    {"cy",
     "Row of the principal point in px; 0 = as the input's RvCameraMeta says, else the middle",
     GST_RV_DOUBLE, 0, 1e6, 0, AT(cy), NULL},
};
const GstRvOldSettings gst_cuda_road_detect_properties = {rows, G_N_ELEMENTS(rows),
                                                       GST_CUDA_ROAD_DETECT_FIRST};
