/* SPDX-License-Identifier: MIT */
/* scene_contract.c: the synthetic street as the contract test sees it: one run renders one frame
 * with all of its truth. */
#include <stddef.h>

#include "contract.h"
#include "scene/scene.h"

static RvStatus make(RvScene **out, const RvSceneConfig *config, RvEngine engine) {
  (void)engine;
  return rv_scene_new(out, config);
}

RV_CONTRACT_OBJECT_MADE_BY(RvScene, scene, make);

RV_CONTRACT_INIT(scene, "width=99 height=61 max-disparity=32 threads=2");

static int planes(const void *config, RvContractPlane *out) {
  const RvSceneConfig *c = config;
  /* A truth plane without data is omitted, which is valid. */
  const unsigned truth = RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT;
  const unsigned picture = RV_RULE_DATA | RV_RULE_SIZE | RV_RULE_STRIDE;
  out[0] = (RvContractPlane){"picture", RV_U8, 2 * c->width, c->height, 0, 0, picture};
  out[1] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 0, 0, truth};
  out[2] = (RvContractPlane){"labels", RV_U8, c->width, c->height, 0, 0, truth};
  out[3] = (RvContractPlane){"road", RV_U8, c->width, c->height, 0, 0, truth};
  out[4] = (RvContractPlane){"visible", RV_U8, c->width, c->height, 0, 0, truth};
  return 5;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  (void)stream;
  if (!p)
    return rv_scene_render(object, 0, NULL, NULL);
  const RvPicture picture = {RV_PIXEL_GRAY8, p[0].width, p[0].height, {p[0].data}, {p[0].stride}};
  const RvSceneTruth truth = {.disparity = p[1], .labels = p[2], .road = p[3], .visible = p[4]};
  return rv_scene_render(object, 3, &picture, &truth);
}

const RvContract rv_scene_contract = {
    RV_CONTRACT_TABLE(scene),
    .cpu_only = 1,
};
