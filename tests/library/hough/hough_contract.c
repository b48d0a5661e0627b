/* SPDX-License-Identifier: MIT */
/* hough_contract.c: the Hough transform as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "hough/hough.h"

RV_CONTRACT_OBJECT(RvHough, hough);

static const RvContractField fields[] = {
    INT_FIELD(edge_low, LIST(-1, 251, 2041), LIST(0, 250)),
    INT_FIELD(edge_high, LIST(-1, 99, 2041), LIST(100, 2040)),
    REAL_FIELD(min_theta, LIST(-0.1, 180), LIST(0, 179)),
    REAL_FIELD(max_theta, LIST(0, -1, 180.1), LIST(0.5, 180)),
};

RV_CONTRACT_INIT(hough, "width=103 height=61 threshold=10 segments=1 min-length=5 threads=2");

/* The lines as one row of words: their records are dense. */
static int planes(const void *config, RvContractPlane *out) {
  const RvHoughConfig *c = config;
  int bins, angles;
  rv_hough_size(c, &bins, &angles, NULL, NULL);
  out[0] = (RvContractPlane){"input", RV_U8, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"lines", RV_U32, 5 * c->max_lines, 1, 0, 0, RV_RULE_DATA};
  out[2] = (RvContractPlane){"count", RV_U32, 1, 1, 0, 0, RV_RULE_DATA};
  out[3] = (RvContractPlane){
      "edges", RV_U8, c->width, c->height, 0, 0, RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT};
  out[4] = (RvContractPlane){
      "accumulator", RV_U32, bins, angles, 0, 0, RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT};
  out[5] = (RvContractPlane){"hits", RV_U32, rv_hough_hit_words(c) * c->max_lines, 1, 0, 0, 0};
  return 6;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_hough_run(object, NULL, NULL, stream);
  const RvHoughOutput out = {p[1].data, p[2].data, p[3], p[4], p[5].data};
  return rv_hough_run(object, &p[0], &out, stream);
}

RV_CONTRACT_BAD(hough, {"direction with binary edges", "edges=binary direction=10"},
                {"a range of theta without an angle", "min-theta=0.1 max-theta=0.9"});

const RvContract rv_hough_contract = {
    RV_CONTRACT_TABLE(hough),
    RV_CONTRACT_FIELDS,
    .workspace = workspace,
    .bad = bad,
};
