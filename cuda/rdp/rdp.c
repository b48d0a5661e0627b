/* SPDX-License-Identifier: MIT */
/* rdp.c: host side of column segmentation: parameters, plan, and run as the list of its stages. */
#include "rdp/rdp.h"

#include "rdp/rdp_stages.h"
#include "rv_hd.h"

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvRdp);

static const RvParam params[] = {
    RV_PARAM_SIZE,
    RV_REAL("epsilon", epsilon, 0, 4095, 1, 0, "px of disparity", "0 = keep every bend",
            "Maximum deviation of a value from its segment"),
    RV_CHOICE("distance", distance, RV_RDP_VERTICAL, 0, NULL, NULL,
              "Distance measure between a value and its segment",
              {RV_RDP_VERTICAL, "vertical", "along the disparity axis, in px of disparity"},
              {RV_RDP_PERPENDICULAR, "perpendicular",
               "perpendicular to the segment, rows and disparity in px"}),
    RV_NUMBERS("median", median, 0, 0, "px", "0 = off",
               "Window size of the median prefilter; outliers add segments", {.value = 0},
               {.value = 3}, {.value = 5}),
    RV_CHOICE("invalid", invalid, RV_RDP_SKIP, 0, NULL, NULL, "Effect of invalid rows on segments",
              {RV_RDP_SKIP, "skip", "segments span invalid rows"},
              {RV_RDP_BREAK, "break", "invalid rows end a segment"}),
    RV_INT("max-levels", max_levels, 0, RV_MAX_SIDE, 0, 0, NULL, "0 = no limit",
           "Maximum recursion depth: n levels split a piece into at most 2^(n-1) segments"),
    RV_PARAM_THREADS,
};
RV_PARAMS(rdp)

/* --- Object ---------------------------------------------------------------------------------- */

static void make_plan(void *memory) {
  RvRdpPlan *plan = memory;
  const RvRdpConfig *c = &plan->config;
  plan->limit = (RvRdpLimit){
      .epsilon = (uint32_t)(c->epsilon * RV_RDP_EPSILON_STEPS + 0.5),
      .perpendicular = c->distance == RV_RDP_PERPENDICULAR,
      .depth = c->max_levels ? c->max_levels : RV_MAX_SIDE + 1,
  };
}

RV_CLASS(RvRdp, rdp, .plan = make_plan);

uint32_t rv_rdp_segments_max(const RvRdpConfig *config) {
  if (rv_rdp_config_check(config) != RV_OK)
    return 0;
  return (uint32_t)config->width * (uint32_t)rv_max(1, config->height - 1);
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_output(const RvRdpConfig *c, const RvRdpOutput *output) {
  const RvLog *log = &c->log;
  RV_REQUIRE(log, output, "rdp: output is NULL");
  RV_TRY(rv_check_optional_plane(log, "rdp", "mask", &output->mask, c->width, c->height, RV_U8));
  RV_TRY(rv_check_optional_plane(log, "rdp", "reconstruction", &output->reconstruction, c->width,
                                 c->height, RV_U16));
  RV_TRY(rv_check_aligned(log, "rdp", "segments", output->segments, 4));
  RV_TRY(rv_check_aligned(log, "rdp", "offsets", output->offsets, 4));
  return rv_check_aligned(log, "rdp", "columns", output->columns, 4);
}

RvStatus rv_rdp_run(RvRdp *rdp, const RvPlane *disparity, const RvRdpOutput *output,
                    RvStream stream) {
  if (!rdp)
    return RV_ERR_ARG;
  const RvRdpConfig *c = &rdp->plan.config;
  RV_TRY(rv_check_plane(&c->log, "rdp", "disparity", disparity, c->width, c->height, RV_U16));
  RV_TRY(check_output(c, output));
  const RvRdpStages *stages = (const RvRdpStages *)rdp->object.base;
  RvRdpJob job = {&rdp->plan, *disparity, *output, stream};
  if (c->median)
    RV_TRY(stages->median(rdp->object.work, &job));
  return stages->segment(rdp->object.work, &job);
}
