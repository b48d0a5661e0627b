/* road_contract.c: road detection as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "road/road.h"

RV_CONTRACT_OBJECT(RvRoad, road);

static const RvContractField fields[] = {
    INT_FIELD(width, LIST(0, 4, RV_MAX_SIDE + 1, 2147483647), LIST(5, RV_MAX_SIDE)),
    INT_FIELD(height, LIST(-1, 4, RV_MAX_SIDE + 1, 2147483647), LIST(5, RV_MAX_SIDE)),
    REAL_FIELD(camera.focal, LIST(0, -1, 1.1e6), LIST(1, 1e6)),
    REAL_FIELD(camera.baseline, LIST(0, -1, 1001), LIST(1e-3, 1000)),
    REAL_FIELD(camera.cx, LIST(-2e6, 2e6), LIST(-1e6, 1e6)),
    REAL_FIELD(camera.cy, LIST(-2e6, 2e6), LIST(-1e6, 1e6)),
    REAL_FIELD(camera.doffs, LIST(-4097, 4097), LIST(-4096, 4096)),
    INT_FIELD(patch_size, LIST(0, 1, 16), LIST(2, 15)),
    INT_FIELD(bins, LIST(0, 1, 17), LIST(2, 16)),
    INT_FIELD(equalize, LIST(-1, 2), LIST(0, 1)),
    REAL_FIELD(roughness, LIST(-1e-9, 1.1), LIST(0, 1)),
    REAL_FIELD(disparity_noise, LIST(-1e-9, 4.1), LIST(0, 4)),
    REAL_FIELD(max_roughness, LIST(-1e-9, 1.1), LIST(0, 1)),
    REAL_FIELD(near_width, LIST(-1e-9, 1001), LIST(0, 1000)),
    REAL_FIELD(max_height, LIST(-1e-9, 10.1), LIST(0, 10)),
    REAL_FIELD(ground_trust, LIST(0.99, 4.1), LIST(1, 4)),
    INT_FIELD(smoothing, LIST(-1, 1, 4, 6), LIST(0, 3, 5)),
    INT_FIELD(min_saturation, LIST(-1, 256), LIST(0, 255)),
    INT_FIELD(min_value, LIST(-1, 256), LIST(0, 255)),
    REAL_FIELD(near_range, LIST(0, -1, 1001), LIST(1e-3, 1000)),
    INT_FIELD(initial_models, LIST(0, -1, 6), LIST(1, 5)),
    INT_FIELD(new_models, LIST(0, -1, 6), LIST(1, 5)),
    INT_FIELD(library_size, LIST(0, -1, 1, 51), LIST(2, 50)),
    INT_FIELD(estimate_models, LIST(-1, 2), LIST(0, 1)),
    INT_FIELD(min_samples, LIST(0, 4097), LIST(1, 4096)),
    REAL_FIELD(update_threshold, LIST(0, -1, 1001), LIST(1e-3, 1000)),
    REAL_FIELD(classify_threshold, LIST(0, -1, 1001), LIST(1e-3, 1000)),
    INT_FIELD(distance, LIST(-1, RV_ROAD_DISTANCES), LIST(0, RV_ROAD_DISTANCES - 1)),
    REAL_FIELD(variance_floor, LIST(0, 9e-7, 1.1), LIST(1e-6, 1)),
    INT_FIELD(threads, LIST(-1), LIST(0, 1)),
};

static void init(void *config) {
  RvRoadConfig *c = config;
  rv_road_config_init(c);
  c->width = 103;
  c->height = 61;
  c->camera = (RvCamera){.focal = 100, .cx = 51, .cy = 20, .baseline = 0.5};
  c->threads = 2;
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
    RV_CONTRACT_MEMBERS(road),
    .workspace = workspace,
    .extra = extra,
};
