/* SPDX-License-Identifier: MIT */
/* rdp_contract.c: column segmentation as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "rdp/rdp.h"

RV_CONTRACT_OBJECT(RvRdp, rdp);

RV_CONTRACT_INIT(rdp, "width=101 height=61 median=3 threads=2");

/* The arrays as planes of one row: they have no size, stride or format that run could reject, and
 * any of the outputs may be missing. */
static int planes(const void *config, RvContractPlane *out) {
  const RvRdpConfig *c = config;
  const unsigned drawn = RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT;
  const int room = (int)rv_rdp_segments_max(c);
  out[0] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"mask", RV_U8, c->width, c->height, 0, 0, drawn};
  out[2] = (RvContractPlane){"reconstruction", RV_U16, c->width, c->height, 0, 0, drawn};
  out[3] = (RvContractPlane){"segments", RV_U32, room * 3, 1, 0, 0, 0};
  out[4] = (RvContractPlane){"offsets", RV_U32, c->width + 1, 1, 0, 0, 0};
  out[5] = (RvContractPlane){"columns", RV_U32, c->width * 4, 1, 0, 0, 0};
  return 6;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_rdp_run(object, NULL, NULL, stream);
  const RvRdpOutput output = {.mask = p[1],
                              .reconstruction = p[2],
                              .segments = p[3].data,
                              .capacity = (uint32_t)(p[3].width / 3),
                              .offsets = p[4].data,
                              .columns = p[5].data};
  return rv_rdp_run(object, &p[0], &output, stream);
}

const RvContract rv_rdp_contract = {
    RV_CONTRACT_TABLE(rdp),
    .workspace = workspace,
};
