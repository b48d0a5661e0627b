/* SPDX-License-Identifier: MIT */
/* stixels.c: host side of stixels: parameters, checks, and run as the list of its stages. */
#include "stixels/stixels.h"

#include <stdio.h>
#include <string.h>

#include "rv_hd.h"
#include "stixels/stixels_stages.h"

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvStixels);

/* Rows of reals: name, text, unit, note, range, default, field. */
#define REAL(name_, text_, unit_, note_, from, to, default_, field)                                \
  {                                                                                                \
    .name = name_, .text = text_, .unit = unit_, .note = note_,                                    \
    RV_PARAM_REAL_RANGE(field, from, to), .value = default_                                        \
  }
#define COST(name, text, default_, field) REAL(name, text, "nats", NULL, 0, 1000, default_, field)
#define COST_PER_PX(name, text, default_, field)                                                   \
  REAL(name, text, "nats per px of disparity", NULL, 0, 1000, default_, field)
#define SIGMA(name, text, default_, field) REAL(name, text, "px", NULL, 0.1, 4, default_, field)
#define PLANE(name, text, unit, default_, field)                                                   \
  REAL(name, text, unit, "0 = fixed, 1000000 = free", 0, RV_STIXELS_SIGMA_FREE, default_, field)
/* From annotations. */
#define CAMERA(name_, text_, unit_, from, to, field)                                               \
  {                                                                                                \
    .name = name_, .text = text_, .unit = unit_, RV_PARAM_REAL_RANGE(camera.field, from, to),      \
    .flags = RV_PARAM_HIDDEN                                                                       \
  }

static const RvParam params[] = {
    RV_PARAM_SIZE,
    RV_CHOICE(
        "model", model, RV_STIXELS_SLANTED_FAST, 0, NULL, NULL, "Depth model",
        {RV_STIXELS_SLANTED_FAST, "slanted-fast",
         "Slanted planes, costs in closed form, no outliers"},
        {RV_STIXELS_SLANTED, "slanted", "Slanted planes, the cost of every cell, with outliers"},
        {RV_STIXELS_CONSTANT, "constant", "Objects of one disparity on the expected ground plane"}),
    RV_INT("stixel-width", stixel_width, 1, 64, 8, 0, "px", NULL, "Width of a stixel"),
    RV_INT("vertical-step", vertical_step, 1, 64, 8, 0, "px", "stixels start at cell boundaries",
           "Height of a cell"),
    RV_CHOICE(
        "cuts", cuts, RV_STIXELS_CUTS_ALL, 0, NULL, NULL, "Allowed boundaries of stixels",
        {RV_STIXELS_CUTS_ALL, "all", "Every row of cells"},
        {RV_STIXELS_CUTS_TIME_SERIES, "time-series", "Local extrema and jumps of the disparity"},
        {RV_STIXELS_CUTS_NETWORK, "network", "Rows that a network learned from exact stixels"}),
    REAL("cut-penalty",
         "Weight of the costs of boundaries by the network's confidence in them, thesis eq. 3.24",
         NULL, "with cuts=network; 0 = all allowed boundaries cost the same", 0, 100, 0,
         cut_penalty),
    RV_SWITCH("refine", refine, 1, 0, NULL, NULL,
              "Move the boundaries between stixels to the best row of pixels"),
    RV_CHOICE(
        "ground", ground, RV_STIXELS_GROUND_ESTIMATE, 0, NULL, NULL,
        "Source of the expected ground plane",
        {RV_STIXELS_GROUND_ESTIMATE, "estimate", "Estimated from the disparity, tracked over time"},
        {RV_STIXELS_GROUND_CAMERA, "camera", "From the height and pitch of the camera"}),
    REAL("camera-height", "Height of the camera above the ground", "m",
         "0 = value from RvCameraMeta", 0, 1000, 0, camera.height),
    REAL("camera-pitch", "Camera pitch, positive down", "degrees", "used with camera-height", -89,
         89, 0, camera.pitch),
    CAMERA("camera-focal", "Focal length of the camera", "px", 0, 1e6, focal),
    CAMERA("camera-cy", "Row of the principal point", "px", -1e6, 1e6, cy),
    CAMERA("camera-doffs", "Difference of the principal points", "px", -1e4, 1e4, doffs),
    CAMERA("camera-baseline", "Baseline of the stereo camera", "m", 0, 1000, baseline),
    RV_INT("max-disparity", max_disparity, 0, RV_STIXELS_RANGE_MAX, 0, 0, "px",
           "larger disparities are clamped to it; 0 = end of the annotated search range, or 128",
           "Maximum disparity"),
    REAL("semantic-weight", "Weight of semantics relative to the disparity, thesis eq. 4.2", NULL,
         NULL, 0, 100, 8, semantic_weight),
    RV_INT("semantic-radius", semantic_radius, 0, 64, 0, 0, "px",
           "for labels that are often wrong; 0 = off",
           "Distance within which cells of like disparity share their semantics"),
    RV_SWITCH("semantic-repair", semantic_repair, 0, 0, NULL,
              "in frames with many of them, for labels that are often wrong",
              "Repair patches of labels that their surface contradicts"),
    REAL("full-confidence",
         "Confidence (0..1) from which sigma applies; below, noise scales with its inverse", NULL,
         NULL, 0.004, 1, 0.7, full_confidence),
    REAL("min-confidence", "Lower limit of the confidence that noise scales with", NULL,
         "confidence 0 stays 0", 0, 1, 0.8, min_confidence),
    REAL("one-view-confidence",
         "Confidence of cells that only the left view sees, which continue the farther side", NULL,
         "0 = they stay invalid", 0, 1, 1, one_view_confidence),
    REAL("p-val", "Expected fraction of valid cells", NULL, NULL, 0.01, 0.99, 0.9, p_val),
    REAL("p-empty-sky", "Likelihood of a cell without values as sky, 1 - p-val as another class",
         NULL, NULL, 0.01, 0.99, 0.5, p_empty_sky),
    REAL("p-out", "Expected fraction of outliers", NULL, "in slanted-fast of sky only", 0.001, 0.9,
         0.1, p_out),
    SIGMA("sigma-ground", "Standard deviation of a ground cell's disparity", 0.85,
          sigma[RV_STIXEL_GROUND]),
    SIGMA("sigma-object", "Standard deviation of an object cell's disparity", 0.85,
          sigma[RV_STIXEL_OBJECT]),
    SIGMA("sigma-sky", "Standard deviation of a sky cell's disparity", 0.5, sigma[RV_STIXEL_SKY]),
    PLANE("sigma-ground-a", "Standard deviation of the ground's disparity at the lowest row", "px",
          8, sigma_ground_a),
    PLANE("sigma-ground-b", "Standard deviation of the ground's slope", "px per row", 0.1,
          sigma_ground_b),
    PLANE("sigma-object-b", "Standard deviation of an object's slope", "px per row", 0.2,
          sigma_object_b),
    REAL("complexity", "Cost of each stixel", "nats", "larger values give fewer stixels", 0, 1000,
         10, complexity),
    COST("gravity-minus-alpha", "Cost of an object farther than the ground below it", 0,
         gravity_minus.alpha),
    COST_PER_PX("gravity-minus-beta", "Linear cost of an object farther than the ground below it",
                0.1, gravity_minus.beta),
    COST("gravity-plus-alpha", "Cost of an object nearer than the ground below it", 0,
         gravity_plus.alpha),
    COST_PER_PX("gravity-plus-beta", "Linear cost of an object nearer than the ground below it",
                0.1, gravity_plus.beta),
    COST("ordering-alpha", "Cost of an object nearer than the object below it", 1, ordering.alpha),
    COST_PER_PX("ordering-beta", "Linear cost of an object nearer than the object below it", 0.2,
                ordering.beta),
    COST("gap-minus-alpha", "Cost of ground farther than the extrapolated lower ground", 1,
         gap_minus.alpha),
    COST_PER_PX("gap-minus-beta",
                "Linear cost of ground farther than the extrapolated lower ground", 1,
                gap_minus.beta),
    COST("gap-plus-alpha", "Cost of ground nearer than the extrapolated lower ground", 1,
         gap_plus.alpha),
    COST_PER_PX("gap-plus-beta", "Linear cost of ground nearer than the extrapolated lower ground",
                1, gap_plus.beta),
    COST("ground-on-ground", "Cost of ground above ground", 0, transition[0][0]),
    COST("ground-on-object", "Cost of ground above an object", 2, transition[0][1]),
    COST("ground-on-sky", "Cost of ground above sky", 20, transition[0][2]),
    COST("object-on-ground", "Cost of an object above ground", 0, transition[1][0]),
    COST("object-on-object", "Cost of an object above another object", 0, transition[1][1]),
    COST("object-on-sky", "Cost of an object above sky", 15, transition[1][2]),
    COST("sky-on-ground", "Cost of sky above ground", 0, transition[2][0]),
    COST("sky-on-object", "Cost of sky above an object", 0, transition[2][1]),
    COST("sky-on-sky", "Cost of sky above sky", 0, transition[2][2]),
    COST("ground-at-bottom", "Cost of ground as the lowest stixel of a column", 0, at_bottom[0]),
    COST("object-at-bottom", "Cost of an object as the lowest stixel of a column", 8, at_bottom[1]),
    COST("sky-at-bottom", "Cost of sky as the lowest stixel of a column", 8, at_bottom[2]),
    RV_INT("semantics", semantics, 0, RV_STIXELS_SEMANTICS_MAX, 0, RV_PARAM_HIDDEN, NULL, NULL,
           "Number of semantic classes"),
    RV_PARAM_THREADS,
};

static void set_structures(void *config) {
  memset(((Config *)config)->semantic_structure, RV_STIXEL_OBJECT, RV_STIXELS_SEMANTICS_MAX);
}
RV_PARAMS_AND_OTHERS(stixels, set_structures)

/* --- Object ---------------------------------------------------------------------------------- */

/* Of the classes there are; NaN is rejected. */
static RvStatus check_priors(const RvStixelsConfig *c) {
  const RvStixelsSemanticPriors *p = c->semantic_priors;
  for (int k = 0; p && k < c->semantics; k++) {
    RV_REQUIRE(&c->log, p->sigma[k] == 0 || (p->sigma[k] >= 0.1 && p->sigma[k] <= 4),
               "stixels: sigma of semantic class %d is %g px, must be 0.1 to 4, or 0 for that of "
               "its structural class",
               k, p->sigma[k]);
    for (int below = 0; below < c->semantics; below++)
      RV_REQUIRE(&c->log, p->transition[k][below] >= 0 && p->transition[k][below] <= 1000,
                 "stixels: the transition of semantic class %d above class %d is %g nats, must be "
                 "0 to 1000",
                 k, below, p->transition[k][below]);
  }
  return RV_OK;
}

static RvStatus check_rules(const void *config) {
  const RvStixelsConfig *c = config;
  const RvCamera *camera = &c->camera;
  for (int k = 0; k < c->semantics; k++)
    RV_REQUIRE(&c->log, c->semantic_structure[k] <= RV_STIXEL_SKY,
               "stixels: semantic-structure %d is %d, must be ground (0), object (1) or sky (2)", k,
               c->semantic_structure[k]);
  RV_TRY(check_priors(c));
  RV_REQUIRE(&c->log,
             c->ground == RV_STIXELS_GROUND_ESTIMATE ||
                 (camera->focal > 0 && camera->baseline > 0 && camera->height > 0),
             "stixels: ground from the camera needs its focal length, baseline and height; set "
             "them, or let the ground be estimated");
  if (c->cuts == RV_STIXELS_CUTS_NETWORK && c->network)
    return rv_stixels_network_check(c->network, &c->log);
  return RV_OK;
}

static void describe(const void *memory, char *text, size_t size) {
  const RvStixelsPlan *plan = memory;
  snprintf(text, size, "%d x %d cells", plan->columns, plan->rows);
}

RV_CLASS(RvStixels, stixels, .rules = check_rules, .plan = rv_stixels_make_plan,
         .describe = describe);

int rv_stixels_columns(const RvStixelsConfig *config) {
  if (rv_stixels_config_check(config) != RV_OK)
    return 0;
  return rv_div_up(config->width, config->stixel_width);
}

int rv_stixels_rows(const RvStixelsConfig *config) {
  if (rv_stixels_config_check(config) != RV_OK)
    return 0;
  return rv_div_up(config->height, config->vertical_step);
}

uint32_t rv_stixels_count_max(const RvStixelsConfig *config) {
  return (uint32_t)rv_stixels_columns(config) * (uint32_t)rv_stixels_rows(config);
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_output(const RvStixelsConfig *c, const RvStixelsOutput *output) {
  const RvLog *log = &c->log;
  RV_REQUIRE(log, output, "stixels: output is NULL");
  RV_TRY(rv_check_aligned(log, "stixels", "stixels", output->stixels, 4));
  RV_TRY(rv_check_aligned(log, "stixels", "offsets", output->offsets, 4));
  RV_TRY(rv_check_aligned(log, "stixels", "energies", output->energies, 4));
  RV_TRY(rv_check_aligned(log, "stixels", "ground", output->ground, 8));
  RV_REQUIRE(log, !output->stixels || output->offsets, "stixels: a list of stixels needs offsets");
  return RV_OK;
}

/* A map of any size; scores: `planes` of it one below the other. */
static RvStatus check_map(const RvStixelsConfig *c, const RvPlane *map, RvFormat format, int planes,
                          const char *name) {
  RV_REQUIRE(&c->log,
             planes > 0 && map->width > 0 && map->width <= RV_MAX_SIDE && map->height > 0 &&
                 map->height % planes == 0 && map->height / planes <= RV_MAX_SIDE &&
                 rv_plane_fits(map, map->width, map->height, format),
             "stixels: plane %s must be %s with a height that is a multiple of %d", name,
             format == RV_U8 ? "RV_U8" : "RV_U16", planes);
  return RV_OK;
}

static RvStatus check_input(const RvStixelsConfig *c, const RvStixelsInput *input) {
  const RvLog *log = &c->log;
  RV_REQUIRE(log, input, "stixels: input is NULL");
  RV_TRY(
      rv_check_plane(log, "stixels", "disparity", &input->disparity, c->width, c->height, RV_U16));
  RV_TRY(rv_check_optional_plane(log, "stixels", "confidence", &input->confidence, c->width,
                                 c->height, RV_U8));
  const int given = (input->labels.data != NULL) + (input->scores.data != NULL);
  RV_REQUIRE(log, given == 0 || (given == 1 && c->semantics > 0),
             "stixels: either labels or scores are valid, and only with semantic classes");
  RV_TRY(rv_check_aligned(log, "stixels", "surface", input->surface, 8));
  if (input->labels.data)
    RV_TRY(check_map(c, &input->labels, RV_U8, 1, "labels"));
  return input->scores.data ? check_map(c, &input->scores, RV_U16, c->semantics, "scores") : RV_OK;
}

RvStatus rv_stixels_run(RvStixels *stixels, const RvStixelsInput *input,
                        const RvStixelsOutput *output, RvStream stream) {
  if (!stixels)
    return RV_ERR_ARG;
  const RvStixelsPlan *plan = &stixels->plan;
  RV_TRY(check_input(&plan->config, input));
  RV_TRY(check_output(&plan->config, output));
  const RvStixelsStages *stages = (const RvStixelsStages *)stixels->object.base;
  void *work = stixels->object.work;
  RvStixelsJob job = {.plan = plan, .input = *input, .output = *output, .stream = stream};
  RvStixelsPlan given;
  if (!plan->estimate)
    job.input.surface = NULL;
  if (job.input.surface) { /* nothing is estimated in this frame */
    given = *plan;
    given.estimate = 0;
    job.plan = plan = &given;
  }
  RV_TRY(stages->cells(work, &job));
  if (plan->estimate)
    RV_TRY(stages->ground(work, &job));
  if (rv_stixels_has_semantics(&job))
    RV_TRY(stages->semantics(work, &job));
  if (rv_stixels_is_repaired(&job))
    RV_TRY(stages->repair(work, &job));
  if (rv_stixels_is_shared(&job))
    RV_TRY(stages->share(work, &job));
  RV_TRY(stages->columns(work, &job));
  if (plan->reach > 0 && output->stixels)
    RV_TRY(stages->refine(work, &job));
  return RV_OK;
}

RvStatus rv_stixels_render(RvStixels *stixels, const RvStixel *list, uint32_t capacity,
                           const uint32_t *offsets, const RvPlane *disparity,
                           const RvPlane *classes, RvStream stream) {
  if (!stixels)
    return RV_ERR_ARG;
  const RvStixelsConfig *c = &stixels->plan.config;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, list && offsets && ((uintptr_t)list | (uintptr_t)offsets) % 4 == 0,
             "stixels: list and offsets must not be NULL and must be aligned to 4 bytes");
  RV_TRY(
      rv_check_optional_plane(log, "stixels", "disparity", disparity, c->width, c->height, RV_U16));
  RV_TRY(rv_check_optional_plane(log, "stixels", "classes", classes, c->width, c->height, RV_U8));
  const RvStixelsStages *stages = (const RvStixelsStages *)stixels->object.base;
  RvStixelsJob job = {.plan = &stixels->plan,
                      .maps = {.list = list, .capacity = capacity, .offsets = offsets},
                      .stream = stream};
  if (disparity)
    job.maps.disparity = *disparity;
  if (classes)
    job.maps.classes = *classes;
  return stages->render(stixels->object.work, &job);
}
