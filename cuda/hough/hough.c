/* SPDX-License-Identifier: MIT */
/* hough.c: host side of the Hough transform: parameters, plan, and run as the list of its stages. */
#include "hough/hough.h"

#include <stdio.h>

#include "hough/hough_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvHough);

static const RvParam params[] = {
    RV_PARAM_SIZE,
    RV_CHOICE(
        "edges", edges, RV_HOUGH_CANNY, 0, NULL, NULL, "Edge detector",
        {RV_HOUGH_SOBEL, "sobel", "pixels whose gradient exceeds edge-low"},
        {RV_HOUGH_CANNY, "canny", "thinned edges above edge-low, connected to one above edge-high"},
        {RV_HOUGH_BINARY, "binary", "the frame is an edge map: pixels whose gray value is not 0"}),
    RV_INT("edge-low", edge_low, 0, 2040, 100, 0, NULL, NULL,
           "Lower threshold of the Sobel 3x3 gradient |gx| + |gy|"),
    RV_INT("edge-high", edge_high, 0, 2040, 250, 0, NULL, NULL,
           "Upper hysteresis threshold of edges=canny; at least edge-low"),
    RV_INT("theta-steps", theta_steps, 2, 3600, 180, 0, NULL, NULL,
           "Number of angles in the range of 180 degrees"),
    RV_REAL("rho-step", rho_step, 0.25, 64, 1, 0, "px", NULL,
            "Resolution of the distance from the upper left pixel"),
    RV_REAL("min-theta", min_theta, 0, 180, 0, RV_PARAM_BELOW, "degrees",
            "0 = vertical lines, 90 = horizontal lines",
            "Minimum angle of the line's normal, clockwise"),
    RV_REAL("max-theta", max_theta, 0, 180, 180, RV_PARAM_ABOVE, "degrees", NULL,
            "Maximum angle of the line's normal, exclusive"),
    RV_INT("threshold", threshold, 0, 2000000000, 100, 0, "votes", NULL,
           "A line needs more votes than this: edge pixels, or their sum of gradients if weighted"),
    RV_INT("max-lines", max_lines, 1, RV_HOUGH_LINES_MAX, 64, 0, NULL, NULL,
           "Maximum number of lines, those with the most votes"),
    RV_SWITCH("weighted", weighted, 0, 0, NULL, NULL,
              "Count the gradient of each pixel as its votes (edges=binary: its gray value)"),
    RV_INT("direction", direction, 0, 45, 0, 0, "degrees", "0 = off",
           "Maximum angle between a line's normal and the gradient of its pixels; not with "
           "edges=binary"),
    RV_SWITCH("segments", segments, 0, 0, NULL, NULL,
              "Add the end points of each line's longest run of edge pixels, and remove lines "
              "without a run of min-length"),
    RV_INT("min-length", min_length, 0, 32767, 30, 0, "px", NULL, "Minimum length of a segment"),
    RV_INT("max-gap", max_gap, 0, 32767, 5, 0, "px", NULL, "Maximum gap inside a segment"),
    RV_SWITCH("dashes", dashes, 1, 0, NULL, NULL,
              "With segments: one for every run of min-length, so for every dash, not only for the "
              "longest"),
    RV_REAL("min-distance", min_distance, 0, 1000, 8, 0, "px", "0 = off",
            "Minimum distance of lines next to each other; of nearer ones the longest remains"),
    RV_REAL("min-angle", min_angle, 0, 90, 5, 0, "degrees", NULL,
            "Without segments: lines whose directions differ by more are no duplicates"),
    RV_PARAM_THREADS,
};
RV_PARAMS(hough)

static RvStatus check_rules(const void *config) {
  const RvHoughConfig *c = config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, c->edges != RV_HOUGH_CANNY || c->edge_high >= c->edge_low,
             "hough: edge-high is %d, must be at least edge-low = %d", c->edge_high, c->edge_low);
  RV_REQUIRE(log, c->edges != RV_HOUGH_BINARY || c->direction == 0,
             "hough: direction is %d, must be 0 with binary edges, which have no gradient",
             c->direction);
  RV_REQUIRE(log, c->max_theta > c->min_theta,
             "hough: max-theta is %g degrees, must be above min-theta = %g", c->max_theta,
             c->min_theta);
  RvHoughSpace space;
  rv_hough_space(c, &space);
  RV_REQUIRE(log, space.angles > 0,
             "hough: no angle satisfies %g <= theta < %g degrees with steps of %g; widen the range "
             "or increase theta-steps",
             c->min_theta, c->max_theta, 180.0 / c->theta_steps);
  return RV_OK;
}

/* --- Object ---------------------------------------------------------------------------------- */

static void make_plan(void *memory) {
  RvHoughPlan *plan = memory;
  rv_hough_space(&plan->config, &plan->space);
}

static void describe(const void *memory, char *text, size_t size) {
  const RvHoughPlan *plan = memory;
  snprintf(text, size, "%d x %d pixels, %d angles and %d bins", plan->config.width,
           plan->config.height, plan->space.angles, plan->space.bins);
}

RV_CLASS(RvHough, hough, .rules = check_rules, .plan = make_plan, .describe = describe);

void rv_hough_size(const RvHoughConfig *config, int *bins, int *angles, int *rho_zero, int *first) {
  RvHoughSpace space = {0};
  if (rv_hough_config_check(config) == RV_OK)
    rv_hough_space(config, &space);
  if (bins)
    *bins = space.bins;
  if (angles)
    *angles = space.angles;
  if (rho_zero)
    *rho_zero = space.rho_zero;
  if (first)
    *first = space.first;
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_planes(const RvHoughPlan *plan, const RvPlane *input,
                             const RvHoughOutput *out) {
  const RvHoughConfig *c = &plan->config;
  const RvLog *log = &c->log;
  RV_TRY(rv_check_plane(log, "hough", "input", input, c->width, c->height, RV_U8));
  RV_REQUIRE(log, out && out->lines && out->count,
             "hough: lines and count must point to memory of the engine");
  RV_TRY(rv_check_aligned(log, "hough", "lines", out->lines, 4));
  RV_TRY(rv_check_aligned(log, "hough", "count", out->count, 4));
  RV_TRY(rv_check_aligned(log, "hough", "hits", out->hits, 4));
  RV_TRY(rv_check_optional_plane(log, "hough", "edges", &out->edges, c->width, c->height, RV_U8));
  return rv_check_optional_plane(log, "hough", "accumulator", &out->accumulator, plan->space.bins,
                                 plan->space.angles, RV_U32);
}

RvStatus rv_hough_run(RvHough *hough, const RvPlane *input, const RvHoughOutput *out,
                      RvStream stream) {
  if (!hough)
    return RV_ERR_ARG;
  const RvHoughConfig *c = &hough->plan.config;
  RV_TRY(check_planes(&hough->plan, input, out));
  const RvHoughStages *stages = (const RvHoughStages *)hough->object.base;
  void *work = hough->object.work;
  RvHoughJob job = {&hough->plan, *input, *out, stream};
  if (c->edges != RV_HOUGH_BINARY)
    RV_TRY(stages->edges(work, &job));
  RV_TRY(stages->votes(work, &job));
  RV_TRY(stages->peaks(work, &job));
  return c->segments ? stages->segments(work, &job) : RV_OK;
}
