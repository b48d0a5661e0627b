/* SPDX-License-Identifier: MIT */
/* stixels_contract.c: the contract of stixels. */
#include <stddef.h>

#include "contract.h"
#include "stixels/stixels.h"

RV_CONTRACT_OBJECT(RvStixels, stixels);

/* The camera of `init` is unknown, and labels need a semantic class. */
static const RvContractField fields[] = {
    INT_FIELD(ground, LIST(-1, 2), LIST(0)),
    INT_FIELD(semantics, LIST(-1, 33), LIST(1, 32)),
};

RV_CONTRACT_INIT(stixels,
                 "width=101 height=61 stixel-width=5 vertical-step=3 semantics=3 threads=2");

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
  out[7] = (RvContractPlane){"cuts", RV_U8, columns * rv_stixels_rows(c), 1, 0, 0, 0};
  return 8;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_stixels_run(object, NULL, NULL, stream);
  const RvStixelsOutput output = {.stixels = p[2].data,
                                  .capacity = (uint32_t)(p[2].width / 5),
                                  .offsets = p[3].data,
                                  .energies = p[4].data,
                                  .cuts = p[7].data,
                                  .ground = p[5].data};
  const RvStixelsInput input = {p[0], p[1], p[6], {NULL, 0, 0, 0, RV_U8}, NULL};
  return rv_stixels_run(object, &input, &output, stream);
}

static const RvStixelsNetwork wrong; /* `most` is 0 */

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
  case 3:
    c->cuts = RV_STIXELS_CUTS_NETWORK;
    c->network = &wrong;
    return "a network that allows no cuts";
  default:
    return NULL;
  }
}

/* On CUDA these have their tables in shared or in global memory. */
static const char *sized(int index, void *config) {
  RvStixelsConfig *c = config;
  c->model = index < 5 ? RV_STIXELS_CONSTANT : RV_STIXELS_SLANTED_FAST;
  c->semantics = index == 1 || index == 6 ? 19 : 0;
  c->cuts = index == 2   ? RV_STIXELS_CUTS_TIME_SERIES
            : index == 7 ? RV_STIXELS_CUTS_NETWORK
                         : RV_STIXELS_CUTS_ALL;
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
                                     "slanted-fast, 375 rows, semantics",
                                     "slanted-fast, 375 rows, network"};
  return index < (int)(sizeof what / sizeof what[0]) ? what[index] : NULL;
}

/* A table that fits in the shared memory of every GPU takes no global memory. Libraries without
 * CUDA state 0 bytes. */
static void extra(RvCheck *check) {
  RvStixelsConfig c;
  init(&c);
  c.log = rvc_log(check);
  c.model = RV_STIXELS_CONSTANT;
  c.semantics = 0;
  c.max_disparity = RV_STIXELS_RANGE;
  const size_t entries = (size_t)rv_stixels_count_max(&c) * (RV_STIXELS_RANGE + 1);
  const size_t bytes = rv_stixels_workspace(&c, RV_CUDA);
  rvc_true(check, "stixels", bytes < entries * sizeof(int32_t),
           "workspace of constant states %zu bytes, its table would be %zu", bytes,
           entries * sizeof(int32_t));
}

const RvContract rv_stixels_contract = {
    RV_CONTRACT_TABLE(stixels),
    RV_CONTRACT_FIELDS,
    .workspace = workspace,
    .bad = bad,
    .sized = sized,
    .extra = extra,
};
