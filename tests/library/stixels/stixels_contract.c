/* SPDX-License-Identifier: MIT */
/* stixels_contract.c: stixels as the contract test sees them. */
#include <stddef.h>

#include "contract.h"
#include "stixels/stixels.h"

#define PRIOR_FIELD(field) REAL_FIELD(field, LIST(-1e-9, 1001), LIST(0, 1000))

RV_CONTRACT_OBJECT(RvStixels, stixels);

static const RvContractField fields[] = {
    INT_FIELD(width, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(1, RV_MAX_SIDE)),
    INT_FIELD(height, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(1, RV_MAX_SIDE)),
    INT_FIELD(stixel_width, LIST(0, -1, 65), LIST(1, 64)),
    INT_FIELD(vertical_step, LIST(0, -1, 65), LIST(1, 64)),
    INT_FIELD(model, LIST(-1, 3), LIST(0, 1, 2)),
    INT_FIELD(ground, LIST(-1, 2), LIST(0)),
    INT_FIELD(refine, LIST(-1, 2), LIST(0, 1)),
    INT_FIELD(cuts, LIST(-1, 2), LIST(0, 1)),
    INT_FIELD(max_disparity, LIST(0, -1, 1025), LIST(1, 1024)),
    REAL_FIELD(full_confidence, LIST(0.0039, 1.001, 0, -1), LIST(0.004, 1)),
    REAL_FIELD(p_val, LIST(0, 1, -0.5), LIST(0.01, 0.99)),
    REAL_FIELD(p_out, LIST(0, 1, -0.5), LIST(0.001, 0.9)),
    REAL_FIELD(sigma[0], LIST(0, -1, 4.1), LIST(0.1, 4)),
    REAL_FIELD(sigma[1], LIST(0, -1, 4.1), LIST(0.1, 4)),
    REAL_FIELD(sigma[2], LIST(0, -1, 4.1), LIST(0.1, 4)),
    REAL_FIELD(sigma_ground_a, LIST(-1e-9, 1000001), LIST(0, 1e6)),
    REAL_FIELD(sigma_ground_b, LIST(-1e-9, 1000001), LIST(0, 1e6)),
    REAL_FIELD(sigma_object_b, LIST(-1e-9, 1000001), LIST(0, 1e6)),
    PRIOR_FIELD(complexity),
    PRIOR_FIELD(gravity_minus.alpha),
    PRIOR_FIELD(gravity_minus.beta),
    PRIOR_FIELD(gravity_plus.alpha),
    PRIOR_FIELD(gravity_plus.beta),
    PRIOR_FIELD(ordering.alpha),
    PRIOR_FIELD(ordering.beta),
    PRIOR_FIELD(gap_minus.alpha),
    PRIOR_FIELD(gap_minus.beta),
    PRIOR_FIELD(gap_plus.alpha),
    PRIOR_FIELD(gap_plus.beta),
    PRIOR_FIELD(transition[0][0]),
    PRIOR_FIELD(transition[1][2]),
    PRIOR_FIELD(transition[2][2]),
    PRIOR_FIELD(first[0]),
    PRIOR_FIELD(first[2]),
    REAL_FIELD(camera.focal, LIST(-1, 1000001), LIST(0, 1e6)),
    REAL_FIELD(camera.cy, LIST(-1000001, 1000001), LIST(-1e6, 1e6)),
    REAL_FIELD(camera.doffs, LIST(-10001, 10001), LIST(-1e4, 1e4)),
    REAL_FIELD(camera.baseline, LIST(-1, 1001), LIST(0, 1000)),
    REAL_FIELD(camera.height, LIST(-1, 1001), LIST(0, 1000)),
    REAL_FIELD(camera.pitch, LIST(-90, 90), LIST(-89, 89)),
    INT_FIELD(semantics, LIST(-1, 33), LIST(1, 32)),
    REAL_FIELD(semantic_weight, LIST(-0.1, 101), LIST(0, 100)),
    INT_FIELD(threads, LIST(-1), LIST(0, 1)),
};

static void init(void *config) {
  RvStixelsConfig *c = config;
  rv_stixels_config_init(c);
  c->width = 101;
  c->height = 61;
  c->stixel_width = 5;
  c->vertical_step = 3;
  c->semantics = 3;
  c->threads = 2;
}

/* The arrays as planes of one row: run() cannot know their size, and any may be missing. */
static int planes(const void *config, RvContractPlane *out) {
  const RvStixelsConfig *c = config;
  const int columns = rv_stixels_columns(c), room = (int)rv_stixels_count_max(c);
  out[0] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 0, RV_RULES};
  out[1] =
      (RvContractPlane){"confidence", RV_U8, c->width, c->height, 1, 0, RV_RULES - RV_RULE_DATA};
  out[2] = (RvContractPlane){"stixels", RV_U32, room * 5, 1, 0, 0, 0};
  out[3] = (RvContractPlane){"offsets", RV_U32, columns + 1, 1, 0, 0, 0};
  out[4] = (RvContractPlane){"energies", RV_U32, columns, 1, 0, 0, 0};
  out[5] = (RvContractPlane){"ground", RV_U32, 6, 1, 0, 0, 0};
  out[6] = (RvContractPlane){"labels", RV_U8, 40, 30, 1, 0, RV_RULE_STRIDE | RV_RULE_FORMAT};
  return 7;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_stixels_run(object, NULL, NULL, stream);
  const RvStixelsOutput output = {.stixels = p[2].data,
                                  .capacity = (uint32_t)(p[2].width / 5),
                                  .offsets = p[3].data,
                                  .energies = p[4].data,
                                  .ground = p[5].data};
  const RvStixelsInput input = {p[0], p[1], p[6], {NULL, 0, 0, 0, RV_U8}};
  return rv_stixels_run(object, &input, &output, stream);
}

static const char *bad(int index, void *config) {
  RvStixelsConfig *c = config;
  switch (index) {
  case 0:
    c->ground = RV_STIXELS_GROUND_CAMERA;
    return "ground from a camera that is not known";
  case 1:
    c->complexity = (double)0x7fffffff * 0x7fffffff * 1e300;
    return "an infinite prior";
  case 2:
    c->semantic_structure[2] = 3;
    return "a semantic class of no structural class";
  default:
    return NULL;
  }
}

/* On CUDA these have their tables in shared or in global memory. */
static const char *sized(int index, void *config) {
  RvStixelsConfig *c = config;
  c->model = index < 5 ? RV_STIXELS_CONSTANT : RV_STIXELS_SLANTED_FAST;
  c->semantics = index == 1 || index == 6 ? 19 : 0;
  c->cuts = index == 2 ? RV_STIXELS_CUTS_TIME_SERIES : RV_STIXELS_CUTS_ALL;
  if (index >= 3) {
    c->height = index == 4 ? 2000 : 375;
    c->vertical_step = 1;
  }
  static const char *const what[] = {"constant",
                                     "constant, semantics",
                                     "constant, cuts",
                                     "constant, 375 rows",
                                     "constant, 2000 rows",
                                     "slanted-fast, 375 rows",
                                     "slanted-fast, 375 rows, semantics"};
  return index < (int)(sizeof what / sizeof what[0]) ? what[index] : NULL;
}

/* A table that every GPU can hold in shared memory is not taken beside it. Libraries without CUDA
 * state 0 bytes. */
static void extra(RvCheck *check) {
  RvStixelsConfig c;
  init(&c);
  c.log = rvc_log(check);
  c.model = RV_STIXELS_CONSTANT;
  c.semantics = 0;
  const size_t entries = (size_t)rv_stixels_count_max(&c) * (size_t)(c.max_disparity + 1);
  const size_t bytes = rv_stixels_workspace(&c, RV_CUDA);
  rvc_true(check, "stixels", bytes < entries * sizeof(int32_t),
           "workspace of constant states %zu bytes, its table would be %zu", bytes,
           entries * sizeof(int32_t));
}

const RvContract rv_stixels_contract = {
    RV_CONTRACT_MEMBERS(stixels),
    .workspace = workspace,
    .bad = bad,
    .sized = sized,
    .extra = extra,
};
