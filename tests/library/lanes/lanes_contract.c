/* SPDX-License-Identifier: MIT */
/* lanes_contract.c: the lane lines as the contract test sees them. */
#include "contract.h"
#include "ground/ground_inputs.h"
#include "lanes/lanes.h"

RV_CONTRACT_OBJECT(RvLanes, lanes);

GROUND_INPUT_INIT(lanes);

static const RvContractField fields[] = {
    GROUND_INPUT_CAMERA_FIELDS,
    REAL_FIELD(camera.pitch, LIST(-46, 46), LIST(-45, 45)),
};

static int planes(const void *config, RvContractPlane *out) {
  const RvLanesConfig *c = config;
  const int ground = (int)(sizeof(RvGroundSurface) / 4), found = (int)(sizeof(RvLanesFound) / 4);
  out[0] = (RvContractPlane){"gray", RV_U8, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"disparity",
                             RV_U16,
                             c->width,
                             c->height,
                             1,
                             0,
                             RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT};
  out[2] = (RvContractPlane){
      "color", RV_U32, c->width, c->height, 1, 0, RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT};
  out[3] = (RvContractPlane){"ground", RV_U32, ground, 1, 1, 0, RV_RULE_DATA};
  out[4] = (RvContractPlane){"out", RV_U32, found, 1, 0, 0, RV_RULE_DATA};
  return 5;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_lanes_run(object, NULL, NULL, stream);
  const RvLanesSource source = {p[0], p[1], p[2], p[3].data};
  return rv_lanes_run(object, &source, p[4].data, stream);
}

static const char *bad(int index, void *config) {
  RvLanesConfig *c = config;
  c->ground = RV_LANES_GROUND_CAMERA;
  c->camera.height = index == 0 ? 0 : 101;
  return index == 0   ? "ground=camera without a height"
         : index == 1 ? "ground=camera of more than 100 m"
                      : NULL;
}

/* One camera: several horizons. */
static const char *sized(int index, void *config) {
  RvLanesConfig *c = config;
  c->ground = RV_LANES_GROUND_CAMERA;
  c->camera.baseline = 0;
  return index == 0 ? "ground=camera" : NULL;
}

const RvContract rv_lanes_contract = {
    RV_CONTRACT_TABLE(lanes), RV_CONTRACT_FIELDS, .workspace = workspace, .bad = bad,
    .sized = sized,
};
