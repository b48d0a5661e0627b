/* road_contract.c: road detection as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "road/road.h"

#define LIST(...)                                                                                  \
  { __VA_ARGS__ }
#define INT_FIELD(field, bads_, bad_, goods_, good_)                                               \
  { #field, offsetof(RvRoadConfig, field), 0, bads_, goods_, bad_, good_ }
#define DOUBLE_FIELD(field, bads_, bad_, goods_, good_)                                            \
  { #field, offsetof(RvRoadConfig, field), 1, bads_, goods_, bad_, good_ }

static const RvContractField fields[] = {
    INT_FIELD(width, 4, LIST(0, 4, RV_MAX_SIDE + 1, 2147483647), 2, LIST(5, RV_MAX_SIDE)),
    INT_FIELD(height, 4, LIST(-1, 4, RV_MAX_SIDE + 1, 2147483647), 2, LIST(5, RV_MAX_SIDE)),
    DOUBLE_FIELD(camera.focal, 3, LIST(0, -1, 1.1e6), 2, LIST(1, 1e6)),
    DOUBLE_FIELD(camera.baseline, 3, LIST(0, -1, 1001), 2, LIST(1e-3, 1000)),
    DOUBLE_FIELD(camera.cx, 2, LIST(-2e6, 2e6), 2, LIST(-1e6, 1e6)),
    DOUBLE_FIELD(camera.cy, 2, LIST(-2e6, 2e6), 2, LIST(-1e6, 1e6)),
    DOUBLE_FIELD(camera.doffs, 2, LIST(-4097, 4097), 2, LIST(-4096, 4096)),
    INT_FIELD(patch_size, 3, LIST(0, 1, 16), 2, LIST(2, 15)),
    INT_FIELD(bins, 3, LIST(0, 1, 17), 2, LIST(2, 16)),
    INT_FIELD(equalize, 2, LIST(-1, 2), 2, LIST(0, 1)),
    DOUBLE_FIELD(roughness, 2, LIST(-1e-9, 1.1), 2, LIST(0, 1)),
    DOUBLE_FIELD(disparity_noise, 2, LIST(-1e-9, 4.1), 2, LIST(0, 4)),
    DOUBLE_FIELD(max_roughness, 2, LIST(-1e-9, 1.1), 2, LIST(0, 1)),
    DOUBLE_FIELD(near_width, 2, LIST(-1e-9, 1001), 2, LIST(0, 1000)),
    DOUBLE_FIELD(max_height, 2, LIST(-1e-9, 10.1), 2, LIST(0, 10)),
    DOUBLE_FIELD(ground_trust, 2, LIST(0.99, 4.1), 2, LIST(1, 4)),
    INT_FIELD(smoothing, 4, LIST(-1, 1, 4, 6), 3, LIST(0, 3, 5)),
    INT_FIELD(min_saturation, 2, LIST(-1, 256), 2, LIST(0, 255)),
    INT_FIELD(min_value, 2, LIST(-1, 256), 2, LIST(0, 255)),
    DOUBLE_FIELD(near_range, 3, LIST(0, -1, 1001), 2, LIST(1e-3, 1000)),
    INT_FIELD(initial_models, 3, LIST(0, -1, 6), 2, LIST(1, 5)),
    INT_FIELD(new_models, 3, LIST(0, -1, 6), 2, LIST(1, 5)),
    INT_FIELD(library_size, 4, LIST(0, -1, 1, 51), 2, LIST(2, 50)),
    INT_FIELD(min_samples, 2, LIST(0, 4097), 2, LIST(1, 4096)),
    DOUBLE_FIELD(update_threshold, 3, LIST(0, -1, 1001), 2, LIST(1e-3, 1000)),
    DOUBLE_FIELD(classify_threshold, 3, LIST(0, -1, 1001), 2, LIST(1e-3, 1000)),
    INT_FIELD(distance, 2, LIST(-1, RV_ROAD_DISTANCES), 2, LIST(0, RV_ROAD_DISTANCES - 1)),
    DOUBLE_FIELD(variance_floor, 3, LIST(0, 9e-7, 1.1), 2, LIST(1e-6, 1)),
    INT_FIELD(threads, 1, LIST(-1), 2, LIST(0, 1)),
};

static void init(void *config) {
  RvRoadConfig *c = config;
  rv_road_config_init(c);
  c->width = 103;
  c->height = 61;
  c->camera = (RvCamera){.focal = 100, .cx = 51, .cy = 20, .baseline = 0.5};
  c->threads = 2;
}

static RvStatus check(const void *config) {
  return rv_road_config_check(config);
}

static size_t workspace(const void *config, RvEngine engine) {
  return rv_road_workspace(config, engine);
}

static RvStatus create(void **out, const void *config, RvEngine engine) {
  if (!out)
    return rv_road_new(NULL, config, engine);
  RvRoad *road = *out;
  const RvStatus status = rv_road_new(&road, config, engine);
  *out = road;
  return status;
}

static void destroy(void **object) {
  RvRoad *road = object ? *object : NULL;
  rv_road_free(object ? &road : NULL);
  if (object)
    *object = road;
}

/* The report as a plane of one row; any of the outputs may be missing. */
static int planes(const void *config, RvContractPlane *out) {
  const RvRoadConfig *c = config;
  const unsigned drawn = RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT;
  int columns, rows;
  rv_road_size(c, &columns, &rows);
  out[0] = (RvContractPlane){"color", RV_U32, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 4096, RV_RULES};
  out[2] = (RvContractPlane){"mask", RV_U8, columns, rows, 0, 0, drawn};
  out[3] = (RvContractPlane){"distance", RV_F32, columns, rows, 0, 0, drawn};
  out[4] = (RvContractPlane){"seeds", RV_U8, columns, rows, 0, 0, drawn};
  out[5] = (RvContractPlane){"report", RV_U32, sizeof(RvRoadReport) / 4, 1, 0, 0, 0};
  return 6;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_road_run(object, NULL, NULL, NULL, stream);
  const RvRoadOutput output = {.mask = p[2], .distance = p[3], .seeds = p[4], .report = p[5].data};
  return rv_road_run(object, &p[0], &p[1], &output, stream);
}

static void extra(RvCheck *check_) {
  rvc_true(check_, "contract/road/reset", rv_road_reset(NULL, NULL) == RV_ERR_ARG,
           "reset of no object was not refused");
}

const RvContract rv_road_contract = {
    .name = "road",
    .config_size = sizeof(RvRoadConfig),
    .log_offset = offsetof(RvRoadConfig, log),
    .init = init,
    .check = check,
    .workspace = workspace,
    .create = create,
    .destroy = destroy,
    .planes = planes,
    .run = run,
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .extra = extra,
};
