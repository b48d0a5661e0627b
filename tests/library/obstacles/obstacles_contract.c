/* SPDX-License-Identifier: MIT */
/* obstacles_contract.c: obstacles and free space as the contract test sees them. */
#include "contract.h"
#include "ground/ground_inputs.h"
#include "obstacles/obstacles.h"

RV_CONTRACT_OBJECT(RvObstacles, obstacles);

GROUND_INPUT_INIT(obstacles);

static const RvContractField fields[] = {
    GROUND_INPUT_CAMERA_FIELDS,
    REAL_FIELD(min_height, LIST(0, 2.3, 3), LIST(0.05, 2)),
    REAL_FIELD(clearance, LIST(0.2, 6), LIST(0.5, 5)),
};

static int planes(const void *config, RvContractPlane *out) {
  int strips, width;
  rv_obstacles_size(config, &strips, &width);
  const RvObstaclesConfig *c = config;
  const int ground = (int)(sizeof(RvGroundSurface) / 4), box = (int)(sizeof(RvObstacleBox) / 4);
  out[0] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"ground", RV_U32, ground, 1, 1, 0, RV_RULE_DATA};
  out[2] = (RvContractPlane){"boxes", RV_U32, RV_OBSTACLES_MAX * box, 1, 0, 0, 0};
  out[3] = (RvContractPlane){"counts", RV_U32, 2, 1, 0, 0, 0};
  out[4] = (RvContractPlane){"columns", RV_U32, strips * 2, 1, 0, 0, 0};
  out[5] = (RvContractPlane){"gray", RV_U8, c->width, c->height, 1, 0, RV_RULES - RV_RULE_DATA};
  return 6;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_obstacles_run(object, NULL, NULL, stream);
  const RvObstaclesSource source = {.disparity = p[0], .ground = p[1].data, .gray = p[5]};
  const RvObstaclesOutput output = {p[2].data, p[3].data, p[4].data};
  return rv_obstacles_run(object, &source, &output, stream);
}

/* Records take a raster in the workspace. */
static const char *sized(int index, void *config) {
  RvObstaclesConfig *c = config;
  c->height = 1200; /* every second row */
  return index == 0 ? "every second row" : NULL;
}

const RvContract rv_obstacles_contract = {
    RV_CONTRACT_TABLE(obstacles),
    RV_CONTRACT_FIELDS,
    .workspace = workspace,
    .sized = sized,
};
