/* scene_contract.c: the synthetic street as the contract test sees it: one run renders one frame
 * with all of its truth. */
#include <math.h>
#include <stddef.h>

#include "contract.h"
#include "scene/scene.h"

#define LIST(...)                                                                                  \
  { __VA_ARGS__ }

static const RvContractField fields[] = {
    {"pattern", offsetof(RvSceneConfig, pattern), 0, 2, 2, LIST(-1, RV_SCENE_PATTERNS),
     LIST(0, RV_SCENE_PATTERNS - 1)},
    {"width", offsetof(RvSceneConfig, width), 0, 4, 2,
     LIST(RV_SCENE_SIDE_MIN - 1, -1, RV_MAX_SIDE / 2 + 1, 2147483647),
     LIST(RV_SCENE_SIDE_MIN, RV_MAX_SIDE / 2)},
    {"height", offsetof(RvSceneConfig, height), 0, 4, 2,
     LIST(RV_SCENE_SIDE_MIN - 1, -1, RV_MAX_SIDE + 1, 2147483647),
     LIST(RV_SCENE_SIDE_MIN, RV_MAX_SIDE)},
    {"noise", offsetof(RvSceneConfig, noise), 1, 4, 2, LIST(-0.1, 50.1, NAN, INFINITY),
     LIST(0, 50)},
    {"speed", offsetof(RvSceneConfig, speed), 1, 4, 2, LIST(-50.1, 50.1, NAN, -INFINITY),
     LIST(-50, 50)},
    {"frame_rate", offsetof(RvSceneConfig, frame_rate), 1, 5, 2, LIST(0, -1, 1000.1, NAN, INFINITY),
     LIST(0.001, 1000)},
    {"max_disparity", offsetof(RvSceneConfig, max_disparity), 0, 3, 2, LIST(15, 1025, -16),
     LIST(16, 1024)},
    {"threads", offsetof(RvSceneConfig, threads), 0, 1, 2, LIST(-1), LIST(0, 1)},
};

static void init(void *config) {
  RvSceneConfig *c = config;
  rv_scene_config_init(c);
  c->width = 99;
  c->height = 61;
  c->max_disparity = 32;
  c->threads = 2;
}

static RvStatus check(const void *config) {
  return rv_scene_config_check(config);
}

static RvStatus create(void **out, const void *config, RvEngine engine) {
  (void)engine;
  if (!out)
    return rv_scene_new(NULL, config);
  RvScene *scene = *out;
  const RvStatus status = rv_scene_new(&scene, config);
  *out = scene;
  return status;
}

static void destroy(void **object) {
  RvScene *scene = object ? *object : NULL;
  rv_scene_free(object ? &scene : NULL);
  if (object)
    *object = scene;
}

static int planes(const void *config, RvContractPlane *out) {
  const RvSceneConfig *c = config;
  /* A truth plane without data is left out, which is legal. */
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
  const RvSceneTruth truth = {p[1], p[2], p[3], p[4]};
  return rv_scene_render(object, 3, &picture, &truth);
}

const RvContract rv_scene_contract = {
    .name = "scene",
    .config_size = sizeof(RvSceneConfig),
    .log_offset = offsetof(RvSceneConfig, log),
    .cpu_only = 1,
    .init = init,
    .check = check,
    .create = create,
    .destroy = destroy,
    .planes = planes,
    .run = run,
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
};
