/* gstcudasgm_settings.c: one table says name, meaning, range, default and place of every property.
 * Ranges and defaults are the library's. */
#include "gstcudasgm_settings.h"

#include <gst/gst.h>

typedef enum Kind { KIND_INT, KIND_BOOL, KIND_DOUBLE, KIND_ENUM } Kind;

typedef struct Property {
  const char *name, *nick, *blurb;
  Kind kind;
  double low, high, value; /* range and default */
  size_t offset;           /* in GstCudaSgmSettings */
  GType (*type)(void);     /* of an enum */
} Property;

static GType cost_get_type(void) {
  static const GEnumValue values[] = {
      {RV_SGM_CSCT, "centre-symmetric census 9x7, 31 bit (thesis eq. 2.1)", "csct"},
      {RV_SGM_CENSUS, "full census 9x7, 62 bit: each neighbour against the centre", "census"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, g_enum_register_static("GstCudaSgmCost", values));
  return (GType)type;
}

#define AT(field) offsetof(GstCudaSgmSettings, field)
#define MATCH(field) (AT(match) + offsetof(RvSgmConfig, field))

static const Property table[] = {
    {"layout", "Layout", "How the two pictures are packed in a frame", KIND_ENUM, 0, 0,
     GST_CUDA_SGM_LAYOUT_AUTO, AT(layout), gst_cuda_sgm_layout_get_type},
    {"output", "Output", "What leaves the element; the annotations are attached in each case",
     KIND_ENUM, 0, 0, GST_CUDA_SGM_OUTPUT_PICTURE, AT(output), gst_cuda_sgm_output_get_type},
    {"disparities", "Disparities",
     "Length of the searched range in px: 32..512 in steps of 32. The nearest depth that can be "
     "seen "
     "is focal x baseline / (min-disparity + disparities - 1)",
     KIND_INT, RV_SGM_DISPARITIES_MIN, RV_SGM_DISPARITIES_MAX, RV_SGM_DISPARITIES_DEFAULT,
     MATCH(disparities), NULL},
    {"min-disparity", "Minimum disparity",
     "Start of the searched range in px; 0 = objects at any distance", KIND_INT, 0,
     RV_SGM_MIN_DISPARITY_MAX, RV_SGM_MIN_DISPARITY_DEFAULT, MATCH(min_disparity), NULL},
    {"paths", "Paths",
     "Directions along which costs are summed: 2, 4 or 8; fewer are faster, more are better",
     KIND_INT, 2, 8, RV_SGM_PATHS_DEFAULT, MATCH(paths), NULL},
    {"cost", "Cost", "Transform whose Hamming distance is the matching cost", KIND_ENUM, 0, 0,
     RV_SGM_CSCT, MATCH(cost), cost_get_type},
    {"p1", "P1", "Penalty for a disparity change of 1 px between neighbours; not above p2",
     KIND_INT, 0, RV_SGM_PENALTY_MAX, RV_SGM_P1_DEFAULT, MATCH(p1), NULL},
    {"p2", "P2",
     "Penalty for larger disparity changes. paths x (bits of the cost + p2) must not exceed 65535",
     KIND_INT, 0, RV_SGM_PENALTY_MAX, RV_SGM_P2_DEFAULT, MATCH(p2), NULL},
    {"adaptive-p2", "Adaptive P2",
     "Lower p2 where the picture has an edge along the path: max(p2-min, p2 - p2-gradient x "
     "difference of grey)",
     KIND_BOOL, 0, 1, 0, MATCH(adaptive_p2), NULL},
    {"p2-min", "P2 minimum", "Least p2 with adaptive-p2; p1..p2", KIND_INT, 0, RV_SGM_PENALTY_MAX,
     RV_SGM_P2_MIN_DEFAULT, MATCH(p2_min), NULL},
    {"p2-gradient", "P2 gradient", "Fall of p2 per grey level with adaptive-p2", KIND_INT, 0,
     RV_SGM_P2_GRADIENT_MAX, RV_SGM_P2_GRADIENT_DEFAULT, MATCH(p2_gradient), NULL},
    {"uniqueness", "Uniqueness",
     "Pixels whose second best cost is within this many per cent of the best have no value; 0 = "
     "off",
     KIND_INT, 0, RV_SGM_UNIQUENESS_MAX, RV_SGM_UNIQUENESS_DEFAULT, MATCH(uniqueness), NULL},
    {"max-lr-diff", "Maximum left-right difference",
     "Pixels whose disparity differs by more px from that of their match in the right picture have "
     "no "
     "value; -1 = off",
     KIND_INT, -1, RV_SGM_LR_DIFF_MAX, RV_SGM_LR_DIFF_DEFAULT, MATCH(max_lr_diff), NULL},
    {"subpixel", "Subpixel", "Interpolate to 1/16 px; off: whole px", KIND_BOOL, 0, 1, 1,
     MATCH(subpixel), NULL},
    {"median", "Median", "Median filter of the disparity: 0 (off), 3 (3x3) or 5 (5x5)", KIND_INT, 0,
     5, RV_SGM_MEDIAN_DEFAULT, MATCH(median), NULL},
    {"speckle-size", "Speckle size", "Connected regions with fewer px have no value; 0 = off",
     KIND_INT, 0, RV_SGM_SPECKLE_SIZE_MAX, RV_SGM_SPECKLE_SIZE_DEFAULT, MATCH(speckle_size), NULL},
    {"speckle-range", "Speckle range",
     "Largest difference of disparity in px between neighbours of one region", KIND_INT, 0,
     RV_SGM_SPECKLE_RANGE_MAX, RV_SGM_SPECKLE_RANGE_DEFAULT, MATCH(speckle_range), NULL},
    {"confidence", "Confidence", "Attach a confidence of 0..255 per pixel too", KIND_BOOL, 0, 1, 0,
     MATCH(confidence), NULL},
    {"focal-length", "Focal length",
     "Focal length of the rectified cameras in px; 0 = as the input's RvCameraMeta says",
     KIND_DOUBLE, 0, 1e6, 0, AT(focal), NULL},
    {"baseline", "Baseline",
     "Distance between the cameras in m; 0 = as the input's RvCameraMeta says", KIND_DOUBLE, 0, 1e3,
     0, AT(baseline), NULL},
    {"cx", "Principal point x",
     "Column of the principal point of the left picture in px; 0 = as the input's RvCameraMeta "
     "says, "
     "else the middle",
     KIND_DOUBLE, 0, 1e6, 0, AT(cx), NULL},
    {"cy", "Principal point y",
     "Row of the principal point of the left picture in px; 0 = as the input's RvCameraMeta says, "
     "else the middle",
     KIND_DOUBLE, 0, 1e6, 0, AT(cy), NULL},
    {"disparity-scale", "Disparity scale",
     "Values per px of disparity in output=disparity; (min-disparity + disparities) x scale must "
     "not "
     "exceed 65535",
     KIND_INT, 1, 2048, RV_SGM_SCALE, AT(disparity_scale), NULL},
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
  case KIND_ENUM:
    gst_type_mark_as_plugin_api(p->type(), 0);
    return g_param_spec_enum(p->name, p->nick, p->blurb, p->type(), (int)p->value, flags);
  }
  return NULL;
}

void gst_cuda_sgm_install_properties(GObjectClass *klass) {
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    g_object_class_install_property(klass, i + 1, spec_of(&table[i]));
}

static void *place(GstCudaSgmSettings *settings, const Property *p) {
  return (char *)settings + p->offset;
}

void gst_cuda_sgm_settings_init(GstCudaSgmSettings *settings) {
  rv_sgm_config_init(&settings->match);
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (table[i].kind == KIND_DOUBLE)
      *(double *)place(settings, &table[i]) = table[i].value;
    else
      *(int *)place(settings, &table[i]) = (int)table[i].value;
}

gboolean gst_cuda_sgm_settings_set(GstCudaSgmSettings *settings, guint id, const GValue *value) {
  if (id == 0 || id > G_N_ELEMENTS(table))
    return FALSE;
  const Property *p = &table[id - 1];
  if (p->kind == KIND_DOUBLE)
    *(double *)place(settings, p) = g_value_get_double(value);
  else
    *(int *)place(settings, p) = p->kind == KIND_INT    ? g_value_get_int(value)
                                 : p->kind == KIND_BOOL ? g_value_get_boolean(value)
                                                        : g_value_get_enum(value);
  return TRUE;
}

gboolean gst_cuda_sgm_settings_get(const GstCudaSgmSettings *settings, guint id, GValue *value) {
  if (id == 0 || id > G_N_ELEMENTS(table))
    return FALSE;
  const Property *p = &table[id - 1];
  const char *from = (const char *)settings + p->offset;
  if (p->kind == KIND_DOUBLE)
    g_value_set_double(value, *(const double *)from);
  else if (p->kind == KIND_INT)
    g_value_set_int(value, *(const int *)from);
  else if (p->kind == KIND_BOOL)
    g_value_set_boolean(value, *(const int *)from);
  else
    g_value_set_enum(value, *(const int *)from);
  return TRUE;
}
