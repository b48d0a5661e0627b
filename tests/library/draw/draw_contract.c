/* SPDX-License-Identifier: MIT */
/* draw_contract.c: drawing as the contract test sees it: one run is a frame with every kind of
 * layer, shape and text. */
#include <stddef.h>

#include "contract.h"
#include "draw/draw.h"

RV_CONTRACT_OBJECT(RvDraw, draw);

/* Switches that take any int. */
static const RvContractField fields[] = {
    {"bt709", offsetof(Config, bt709), 0, {0, {0}}, LIST(-1, 0, 1, 5)},
    {"full_range", offsetof(Config, full_range), 0, {0, {0}}, LIST(-1, 0, 1, 5)},
};

RV_CONTRACT_INIT(draw, "width=103 height=61 threads=2");

static int planes(const void *config, RvContractPlane *out) {
  const RvDrawConfig *c = config;
  const unsigned data = RV_RULE_DATA | RV_RULE_STRIDE;
  out[0] = (RvContractPlane){"picture", RV_U8, 4 * c->width, c->height, 1, 0, data | RV_RULE_SIZE};
  out[1] = (RvContractPlane){"disparity", RV_U16, 57, 33, 1, 2048, data | RV_RULE_FORMAT};
  out[2] = (RvContractPlane){"mask", RV_U8, 21, 13, 1, 0, data | RV_RULE_FORMAT};
  return 3;
}

static RvStatus add_shapes(RvDraw *draw) {
  static const int corners[8] = {100, 120, 900, 60, 1100, 700, 80, 800};
  const RvColor red = {255, 0, 0, 200}, dark = {0, 0, 0, 160};
  RvStatus status = rv_draw_rect(draw, -5, 40, 60, 30, red);
  if (status == RV_OK)
    status = rv_draw_rounded_rect(draw, 50, 2, 70, 20, 6, dark);
  if (status == RV_OK)
    status = rv_draw_line(draw, -100, 30, 1700, 900, 40, red);
  if (status == RV_OK)
    status = rv_draw_quad(draw, corners, dark);
  if (status == RV_OK)
    status = rv_draw_ramp(draw, 4, 50, 90, 8, 255);
  if (status == RV_OK)
    status = rv_draw_shade(draw, 90, 5, 8, 50, 3, 90, 100, 180);
  return status == RV_OK ? rv_draw_text(draw, 6, 6, 18, red, dark, "12.5 px") : status;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_draw_flush(object, NULL, stream);
  const RvPicture picture = {
      RV_PIXEL_BGRX, p[0].width / 4, p[0].height, {p[0].data}, {p[0].stride}};
  const RvColor green = {0, 255, 0, 90};
  RvStatus status = rv_draw_disparity(object, &picture, &p[1], 16, 1600, 170, stream);
  if (status == RV_OK)
    status = rv_draw_mask(object, &picture, &p[2], green, stream);
  const RvDrawGrid grid = {.mask = p[2], .width = 103, .height = 61, .cell = 4, .tint = green};
  if (status == RV_OK)
    status = rv_draw_grid(object, &picture, &grid, stream);
  if (status == RV_OK)
    status = rv_draw_labels(object, &picture, &p[2], &green, 1, stream);
  if (status == RV_OK)
    status = add_shapes(object);
  return status == RV_OK ? rv_draw_flush(object, &picture, stream) : status;
}

const RvContract rv_draw_contract = {
    RV_CONTRACT_TABLE(draw),
    RV_CONTRACT_FIELDS,
    .workspace = workspace,
    .is_several = 1,
};
