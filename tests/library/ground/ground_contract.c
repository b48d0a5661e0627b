/* SPDX-License-Identifier: MIT */
/* ground_contract.c: the ground estimation as the contract test sees it. */
#include "contract.h"
#include "ground/ground.h"
#include "ground/ground_inputs.h"

RV_CONTRACT_OBJECT(RvGround, ground);

GROUND_INPUT_INIT(ground);

static const RvContractField fields[] = {
    REAL_FIELD(camera.focal, LIST(-1, 2e6), LIST(0, 1e6)),
    REAL_FIELD(camera.baseline, LIST(-1e-3, 1001), LIST(0, 1000)),
    GROUND_INPUT_CENTER_FIELDS,
    REAL_FIELD(camera.height, LIST(-1, 1001), LIST(0, 1000)),
    REAL_FIELD(camera.pitch, LIST(-90, 90), LIST(-89, 89)),
    REAL_FIELD(min_camera_height, LIST(-1, 3.5, 101), LIST(0, 3)),
    REAL_FIELD(max_camera_height, LIST(-1, 0.4, 101), LIST(0.5, 100)),
};

static int planes(const void *config, RvContractPlane *out) {
  const RvGroundConfig *c = config;
  out[0] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){
      "out", RV_U32, (int)(sizeof(RvGroundSurface) / sizeof(uint32_t)), 1, 0, 0, RV_RULE_DATA};
  return 2;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  return p ? rv_ground_run(object, &p[0], p[1].data, stream)
           : rv_ground_run(object, NULL, NULL, stream);
}

static const char *bad(int index, void *config) {
  RvGroundConfig *c = config;
  if (index == 0) {
    c->mode = RV_GROUND_MODE_CAMERA;
    c->camera.height = 0;
    return "mode camera without a height";
  }
  if (index == 1) {
    c->mode = RV_GROUND_MODE_CAMERA;
    c->camera.baseline = 0;
    return "mode camera without a baseline";
  }
  return NULL;
}

const RvContract rv_ground_contract = {
    RV_CONTRACT_TABLE(ground),
    RV_CONTRACT_FIELDS,
    .workspace = workspace,
    .bad = bad,
};
