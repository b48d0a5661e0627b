/* SPDX-License-Identifier: MIT */
/* gstcudasgm_settings.c: one table says name, meaning, range, default and place of every property.
 * Ranges and defaults are the library's. */
#include "gstcudasgm_settings.h"

#include "common/gstrvoldsettings.h"

static GType cost_get_type(void) {
  static const GEnumValue values[] = {
      {RV_SGM_CSCT, "centre-symmetric census 9x7, 31 bit (thesis eq. 2.1)", "csct"},
      {RV_SGM_CENSUS, "full census 9x7, 62 bit: each neighbour against the centre", "census"},
      {0, NULL, NULL},
  };
  static gsize type = 0;
  return gst_rv_enum_type(&type, "GstCudaSgmCost", values);
}

#define AT(field) offsetof(GstCudaSgmSettings, field)
#define MATCH(field) (AT(match) + offsetof(RvSgmConfig, field))

static const GstRvSetting rows[] = {
    {"layout", "How the two pictures are packed in a frame", GST_RV_ENUM, 0, 0,
     GST_CUDA_SGM_LAYOUT_AUTO, AT(layout), gst_cuda_sgm_layout_get_type},
    {"output", "What leaves the element; the annotations are attached in each case", GST_RV_ENUM, 0,
     0, GST_CUDA_SGM_OUTPUT_PICTURE, AT(output), gst_cuda_sgm_output_get_type},
    {"disparities",
     "Length of the searched range in px: 32..512 in steps of 32. The nearest depth that can be "
     "seen is focal x baseline / (min-disparity + disparities - 1)",
     GST_RV_INT, RV_SGM_DISPARITIES_MIN, RV_SGM_DISPARITIES_MAX, RV_SGM_DISPARITIES_DEFAULT,
     MATCH(disparities), NULL},
    {"min-disparity", "Start of the searched range in px; 0 = objects at any distance", GST_RV_INT,
     0, RV_SGM_MIN_DISPARITY_MAX, RV_SGM_MIN_DISPARITY_DEFAULT, MATCH(min_disparity), NULL},
    {"paths",
     "Directions along which costs are summed: 2, 4 or 8; fewer are faster, more are better",
     GST_RV_INT, 2, 8, RV_SGM_PATHS_DEFAULT, MATCH(paths), NULL},
    {"cost", "Transform whose Hamming distance is the matching cost", GST_RV_ENUM, 0, 0,
     RV_SGM_CSCT, MATCH(cost), cost_get_type},
    {"p1", "Penalty for a disparity change of 1 px between neighbours; not above p2", GST_RV_INT, 0,
     RV_SGM_PENALTY_MAX, RV_SGM_P1_DEFAULT, MATCH(p1), NULL},
    {"p2",
     "Penalty for larger disparity changes. paths x (bits of the cost + p2) must not exceed 65535",
     GST_RV_INT, 0, RV_SGM_PENALTY_MAX, RV_SGM_P2_DEFAULT, MATCH(p2), NULL},
    {"adaptive-p2",
     "Lower p2 where the picture has an edge along the path: max(p2-min, p2 - p2-gradient x "
     "difference of grey)",
     GST_RV_BOOL, 0, 1, 0, MATCH(adaptive_p2), NULL},
    {"p2-min", "Least p2 with adaptive-p2; p1..p2", GST_RV_INT, 0, RV_SGM_PENALTY_MAX,
     RV_SGM_P2_MIN_DEFAULT, MATCH(p2_min), NULL},
    {"p2-gradient", "Fall of p2 per grey level with adaptive-p2", GST_RV_INT, 0,
     RV_SGM_P2_GRADIENT_MAX, RV_SGM_P2_GRADIENT_DEFAULT, MATCH(p2_gradient), NULL},
    {"uniqueness",
     "Pixels whose second best cost is within this many per cent of the best have no value; 0 = "
     "off",
     GST_RV_INT, 0, RV_SGM_UNIQUENESS_MAX, RV_SGM_UNIQUENESS_DEFAULT, MATCH(uniqueness), NULL},
    {"max-lr-diff",
     "Pixels whose disparity differs by more px from that of their match in the right picture have "
     "no value; -1 = off",
     GST_RV_INT, -1, RV_SGM_LR_DIFF_MAX, RV_SGM_LR_DIFF_DEFAULT, MATCH(max_lr_diff), NULL},
    {"subpixel", "Interpolate to 1/16 px; off: whole px", GST_RV_BOOL, 0, 1, 1, MATCH(subpixel),
     NULL},
    {"median", "Median filter of the disparity: 0 (off), 3 (3x3) or 5 (5x5)", GST_RV_INT, 0, 5,
     RV_SGM_MEDIAN_DEFAULT, MATCH(median), NULL},
    {"speckle-size", "Connected regions with fewer px have no value; 0 = off", GST_RV_INT, 0,
     RV_SGM_SPECKLE_SIZE_MAX, RV_SGM_SPECKLE_SIZE_DEFAULT, MATCH(speckle_size), NULL},
    {"speckle-range", "Largest difference of disparity in px between neighbours of one region",
     GST_RV_INT, 0, RV_SGM_SPECKLE_RANGE_MAX, RV_SGM_SPECKLE_RANGE_DEFAULT, MATCH(speckle_range),
     NULL},
    {"confidence", "Attach a confidence of 0..255 per pixel too", GST_RV_BOOL, 0, 1, 0,
     MATCH(confidence), NULL},
    {"focal-length",
     "Focal length of the rectified cameras in px; 0 = as the input's RvCameraMeta says",
     GST_RV_DOUBLE, 0, 1e6, 0, AT(focal), NULL},
    {"baseline", "Distance between the cameras in m; 0 = as the input's RvCameraMeta says",
     GST_RV_DOUBLE, 0, 1e3, 0, AT(baseline), NULL},
    {"cx",
     "Column of the principal point of the left picture in px; 0 = as the input's RvCameraMeta "
     "says, else the middle",
     GST_RV_DOUBLE, 0, 1e6, 0, AT(cx), NULL},
    {"cy",
     "Row of the principal point of the left picture in px; 0 = as the input's RvCameraMeta says, "
     "else the middle",
     GST_RV_DOUBLE, 0, 1e6, 0, AT(cy), NULL},
    {"disparity-scale",
     "Values per px of disparity in output=disparity; (min-disparity + disparities) x scale must "
     "not exceed 65535",
     GST_RV_INT, 1, 2048, RV_SGM_SCALE, AT(disparity_scale), NULL},
};
static const GstRvOldSettings properties = {rows, G_N_ELEMENTS(rows), 1};

void gst_cuda_sgm_install_properties(GObjectClass *klass) {
  gst_rv_old_settings_install(&properties, klass);
}

void gst_cuda_sgm_settings_init(GstCudaSgmSettings *settings) {
  rv_sgm_config_init(&settings->match);
  gst_rv_old_settings_init(&properties, settings);
}

gboolean gst_cuda_sgm_settings_set(GstCudaSgmSettings *settings, guint id, const GValue *value) {
  return gst_rv_old_settings_set(&properties, settings, id, value);
}

gboolean gst_cuda_sgm_settings_get(const GstCudaSgmSettings *settings, guint id, GValue *value) {
  return gst_rv_old_settings_get(&properties, settings, id, value);
}
