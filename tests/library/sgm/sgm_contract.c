/* SPDX-License-Identifier: MIT */
/* sgm_contract.c: semi-global matching as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "sgm/sgm.h"

RV_CONTRACT_OBJECT(RvSgm, sgm);

/* Ranges that a rule joins with other parameters; the defaults are p1 = 12, p2 = 127, p2_min = 40 with adaptive_p2. */
static const RvContractField fields[] = {
    INT_FIELD(p1, LIST(-1, 41), LIST(0, 40)),
    INT_FIELD(p1_ground, LIST(-2, 13), LIST(-1, 12)),
    INT_FIELD(p2, LIST(39, -1, 8001), LIST(40, 8000)),
    INT_FIELD(p2_min, LIST(11, 128), LIST(12, 127)),
};

RV_CONTRACT_INIT(sgm, "width=101 height=61 disparities=64 confidence=1 threads=2");

static int planes(const void *config, RvContractPlane *out) {
  const RvSgmConfig *c = config;
  out[0] = (RvContractPlane){"left", RV_U8, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"right", RV_U8, c->width, c->height, 1, 0, RV_RULES};
  out[2] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 0, 0, RV_RULES};
  out[3] = (RvContractPlane){"confidence", RV_U8, c->width, c->height, 0, 0, RV_RULES};
  return 4;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_sgm_run(object, NULL, NULL, NULL, NULL, stream);
  return rv_sgm_run(object, &p[0], &p[1], &p[2], &p[3], stream);
}

/* Rules between fields. */
static const char *bad(int index, void *config) {
  RvSgmConfig *c = config;
  switch (index) {
  case 0:
    c->adaptive_p2 = 1;
    c->p2_min = c->p1 - 1;
    return "p2_min below p1";
  case 1:
    c->adaptive_p2 = 1;
    c->p2_min = c->p2 + 1;
    return "p2_min above p2";
  case 2:
    c->adaptive_p2 = 1;
    c->p2_gradient = 256;
    return "p2_gradient 256";
  case 3:
    c->adaptive_p2 = 1;
    c->p2_gradient = -1;
    return "p2_gradient -1";
  case 4: /* 8 x (62 + p2) > 65535 from 8130 on, beyond the range of p2; so 8 paths always fit */
    c->p1 = 8000;
    c->p2 = 7999;
    return "p1 above p2";
  default:
    return NULL;
  }
}

/* Memory of 64 columns and 240 rows or more: the limit stated in sgm.h, on both engines. */
static void check_memory(RvCheck *rvc, const RvSgmConfig *c, RvEngine engine) {
  const size_t bytes = rv_sgm_workspace(c, engine);
  const double limit = (2.2 * c->disparities + 16) * c->width * c->height;
  if (engine == RV_CUDA && bytes == 0 && !rv_has_cuda())
    return; /* a build without CUDA */
  rvc_true(rvc, "contract/sgm/memory", bytes > 0 && (double)bytes <= limit,
           "%d x %d, %d disparities, cost %d, %d paths, engine %d: %zu bytes, the limit is %.0f",
           c->width, c->height, c->disparities, c->cost, c->paths, engine, bytes, limit);
}

static void extra(RvCheck *rvc) {
  static const int sizes[][2] = {{64, 240},    {64, 16384},  {65, 241},    {241, 4000},
                                 {320, 240},   {640, 267},   {640, 480},   {1242, 375},
                                 {1920, 1080}, {4096, 2160}, {16384, 240}, {16384, 16384}};
  RvSgmConfig c;
  rv_sgm_config_init(&c);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    for (c.disparities = 32; c.disparities <= 512; c.disparities += 32)
      for (int choice = 0; choice < 24; choice++) {
        c.width = sizes[i][0];
        c.height = sizes[i][1];
        c.cost = choice % 2 ? RV_SGM_CENSUS : RV_SGM_MIXED;
        c.confidence = choice / 2 % 2;
        c.paths = 2 << choice / 4 % 3;
        check_memory(rvc, &c, choice / 12 ? RV_CUDA : RV_CPU);
      }
}

const RvContract rv_sgm_contract = {
    RV_CONTRACT_TABLE(sgm), RV_CONTRACT_FIELDS, .workspace = workspace, .bad = bad, .extra = extra,
};
