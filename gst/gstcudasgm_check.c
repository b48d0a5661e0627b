/* SPDX-License-Identifier: MIT */
/* gstcudasgm_check.c: the match rate of a sample of rows, and the likely cause of a low one. */
#include "gstcudasgm_check.h"

#include "depth/depth.h"
#include "rv_host.h"

/* Low match rate: checked on every fifth frame, in a sample of rows, until 30 frames were poor. */
#define SAMPLE_EVERY 5
#define SAMPLE_ROWS 48
#define POOR_PERCENT 30
#define POOR_SAMPLES 6

RvStatus gst_cuda_sgm_check_init(GstCudaSgmCheck *check, const GstCudaSgmViews *views,
                                 gboolean by_caps, RvEngine engine) {
  gst_cuda_sgm_check_clear(check);
  check->width = views->width;
  check->engine = engine;
  check->right_first_by_caps = by_caps && (views->left_x > 0 || views->left_y > 0);
  return rv_host_new((void **)&check->sample,
                     (gsize)views->width * SAMPLE_ROWS * sizeof *check->sample, engine);
}

void gst_cuda_sgm_check_clear(GstCudaSgmCheck *check) {
  rv_host_free((void **)&check->sample, check->engine);
  check->rows = 0;
  check->frames = check->poor = 0;
}

/* TRUE when the match rate of this frame counts. */
static gboolean is_due(const GstCudaSgmCheck *check) {
  return check->frames % SAMPLE_EVERY == 0 && check->poor < POOR_SAMPLES;
}

RvStatus gst_cuda_sgm_check_sample(GstCudaSgmCheck *check, GstRvTransform *element,
                                   const GstRvExecContext *work, const RvPlane *disparity) {
  const int step = (disparity->height + SAMPLE_ROWS - 1) / SAMPLE_ROWS;
  check->frames++;
  check->rows = 0;
  if (!is_due(check) && !gst_rv_transform_posts_messages(element))
    return RV_OK;
  check->rows = (disparity->height + step - 1) / step;
  const size_t row = (size_t)disparity->width * sizeof *check->sample;
  return rv_copy_rows(check->sample, (ptrdiff_t)row, RV_CPU, disparity->data,
                      disparity->stride * step, work->engine, row, check->rows, work->stream);
}

/* Copies of both views in host memory, whose `data` is to be freed. */
static RvStatus copy_views(const GstRvExecContext *work, const GstCudaSgmPair *pair,
                           RvPlane copy[2]) {
  const RvPlane *const from[2] = {pair->left, pair->right};
  RvStatus status = RV_OK;
  for (int i = 0; i < 2; i++) {
    copy[i] = *from[i];
    copy[i].data = g_malloc(gst_rv_raster_bytes(RV_U8, copy[i].width, copy[i].height));
    if (status == RV_OK)
      status = rv_copy_rows(copy[i].data, copy[i].stride, RV_CPU, from[i]->data, from[i]->stride,
                            work->engine, (size_t)copy[i].width, copy[i].height, NULL);
  }
  return status;
}

/* Searches for the cause of a poor match, in host memory. */
static RvPairReport diagnose(const GstRvExecContext *work, const GstCudaSgmPair *pair) {
  RvPlane copy[2];
  RvPairReport report = {RV_PAIR_UNKNOWN, 0, 0, 0, 0};
  if (copy_views(work, pair, copy) == RV_OK)
    rv_pair_diagnose(&copy[0], &copy[1], pair->config->min_disparity, pair->config->disparities,
                     &report, NULL);
  g_free(copy[0].data);
  g_free(copy[1].data);
  return report;
}

static gboolean is_swapped(const GstRvExecContext *work, const GstCudaSgmPair *pair) {
  RvPlane copy[2];
  RvPairOrder order = {0, 0, 0, 0};
  if (copy_views(work, pair, copy) == RV_OK)
    rv_pair_order(&copy[0], &copy[1], pair->config->min_disparity, pair->config->disparities,
                  &order, NULL);
  g_free(copy[0].data);
  g_free(copy[1].data);
  return order.is_swapped;
}

/* Caps that specify the right view first may be wrong: the first frame shows it. */
static void check_order(GstCudaSgmCheck *check, GstRvTransform *element,
                        const GstRvExecContext *work, const GstCudaSgmPair *pair, guint once) {
  if (check->frames != 1 || !check->right_first_by_caps || !is_swapped(work, pair) ||
      !gst_rv_transform_once(element, once))
    return;
  GST_ELEMENT_WARNING(element, STREAM, FORMAT,
                      ("The caps specify right-view-first, but left and right are probably "
                       "swapped: the views match far better the other way."),
                      ("Set layout=%s. MP4 files written by GStreamer contain the wrong order: "
                       "record with matroskamux.",
                       pair->views->top_bottom ? "top-bottom" : "side-by-side"));
}

/* Posts the match rate and its likely cause. */
static void warn_poor_match(GstRvTransform *element, const GstRvExecContext *work,
                            const GstCudaSgmPair *pair, int percent) {
  const RvPairReport report = diagnose(work, pair);
  const RvSgmConfig *config = pair->config;
  char likely[160] = "cause unknown: little texture, or views that differ too much";
  const char *remedy =
      "Compare both views: exposure, focus, dirt on the lens, and whether they belong "
      "together.";
  if (report.fault == RV_PAIR_ROWS) {
    g_snprintf(
        likely, sizeof likely,
        "the pair is probably not rectified: vertical misalignment, the right view is %d rows "
        "too %s",
        ABS(report.row_offset), report.row_offset > 0 ? "low" : "high");
    remedy = "Rectify the views upstream with cudarectify calibration=FILE (roadvision calibrate "
             "creates the file), or align the cameras.";
  } else if (report.fault == RV_PAIR_SWAPPED) {
    g_snprintf(likely, sizeof likely, "left and right are probably swapped");
    remedy = pair->views->top_bottom ? "Set layout to the other one of top-bottom and "
                                       "top-bottom-right-first."
                                     : "Set layout to the other one of side-by-side and "
                                       "side-by-side-right-first.";
  } else if (report.fault == RV_PAIR_RANGE) {
    g_snprintf(likely, sizeof likely,
               "the disparity search range %d..%d px is probably wrong: matches are near %d px",
               config->min_disparity, config->min_disparity + config->disparities - 1,
               report.disparity);
    remedy = "Set disparities and min-disparity to a range that contains that value.";
  }
  GST_ELEMENT_WARNING(element, STREAM, FORMAT, ("Match rate of only %d %%; %s.", percent, likely),
                      ("%s", remedy));
}

void gst_cuda_sgm_check_frame(GstCudaSgmCheck *check, GstRvTransform *element,
                              const GstRvExecContext *work, const GstCudaSgmPair *pair,
                              guint once) {
  check_order(check, element, work, pair, once);
  if (check->rows == 0)
    return;
  const gint64 pixels = (gint64)check->rows * check->width;
  gint64 valid = 0;
  for (gint64 i = 0; i < pixels; i++)
    valid += check->sample[i] != RV_SGM_INVALID;
  check->valid_share = (double)valid / (double)pixels;
  if (!is_due(check))
    return;
  const int percent = (int)(100 * valid / pixels);
  check->poor = percent < POOR_PERCENT ? check->poor + 1 : 0;
  if (check->poor == POOR_SAMPLES && gst_rv_transform_once(element, once))
    warn_poor_match(element, work, pair, percent);
}
