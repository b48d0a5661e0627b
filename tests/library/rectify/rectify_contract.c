/* SPDX-License-Identifier: MIT */
/* rectify_contract.c: rectification as the contract test sees it. */
#include <math.h>
#include <stddef.h>

#include "contract.h"
#include "rectify/rectify_inputs.h"

RV_CONTRACT_OBJECT(RvRectify, rectify);

static void init(void *config) {
  RvRectifyConfig *c = config;
  rectify_input_config(c, 100, 60);
  c->threads = 2;
}

static int planes(const void *config, RvContractPlane *out) {
  const RvRectifyConfig *c = config;
  const int w = 2 * c->in_width, h = c->in_height;
  out[0] = (RvContractPlane){"in luma", RV_U8, w, h, 1, 0, RV_RULE_DATA | RV_RULE_STRIDE};
  out[1] =
      (RvContractPlane){"in chroma", RV_U8, w, (h + 1) / 2, 1, 0, RV_RULE_DATA | RV_RULE_STRIDE};
  out[2] = (RvContractPlane){"out luma", RV_U8, w, h, 0, 0, RV_RULE_DATA | RV_RULE_STRIDE};
  out[3] =
      (RvContractPlane){"out chroma", RV_U8, w, (h + 1) / 2, 0, 0, RV_RULE_DATA | RV_RULE_STRIDE};
  return 4;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_rectify_run(object, NULL, NULL, stream);
  RvPicture pictures[2];
  for (int i = 0; i < 2; i++)
    pictures[i] = (RvPicture){.format = RV_PIXEL_NV12,
                              .width = p[2 * i].width,
                              .height = p[2 * i].height,
                              .data = {p[2 * i].data, p[2 * i + 1].data},
                              .stride = {p[2 * i].stride, p[2 * i + 1].stride}};
  return rv_rectify_run(object, &pictures[0], &pictures[1], stream);
}

/* The views must have the aspect ratio of the calibration, and their focal length limits them. */
static const RvContractField fields[] = {
    INT_FIELD(in_width, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(100)),
    INT_FIELD(in_height, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(60)),
    INT_FIELD(width, LIST(-1, RV_MAX_SIDE + 1, 2147483647), LIST(0, 1, RV_MAX_SIDE / 2)),
};

/* Calibrations that no camera can have. */
static const char *bad_calibration(int index, RvCalibration *k) {
  switch (index) {
  case 0:
    k->view[0].fx = NAN;
    return "focal length NaN";
  case 1:
    k->view[1].fy = 0;
    return "focal length 0";
  case 2:
    k->view[1].fx = 100000;
    return "focal length 1000 times the width";
  case 3:
    k->view[0].cx = 100;
    return "principal point at the edge";
  case 4:
    k->view[1].cy = INFINITY;
    return "principal point infinite";
  case 5:
    k->rotation[0] = 2;
    return "rotation that is none";
  case 6:
    k->rotation[4] = NAN;
    return "rotation NaN";
  case 7:
    k->translation[0] = 0;
    k->translation[1] = 0;
    k->translation[2] = 0;
    return "baseline 0";
  case 8:
    k->translation[1] = 1;
    return "cameras above each other";
  case 9:
    k->view[0].distortion[1] = NAN;
    return "distortion NaN";
  case 10:
    k->has_pose = 0;
    return "neither pose nor rectification";
  case 11:
    k->view[0].lens = RV_LENS_FISHEYE;
    return "two kinds of lenses";
  case 12:
    k->view[0].width = 50;
    return "two sizes";
  case 13:
    k->has_rectification = 1;
    return "projections of 0";
  case 14:
    k->view[0].lens = k->view[1].lens = (RvLens)7;
    return "unknown lens";
  default:
    return NULL;
  }
}

/* Calibrations that do not belong to the rest of the config. */
static const char *bad(int index, void *config) {
  RvRectifyConfig *c = config;
  RvCalibration *k = &c->calibration;
  switch (index) {
  case 0:
    k->view[0].width = k->view[1].width = 640;
    k->view[0].height = k->view[1].height = 640;
    return "calibration of another aspect ratio";
  case 1:
    k->view[0].lens = k->view[1].lens = RV_LENS_FISHEYE;
    c->alpha = 0;
    return "alpha with a fisheye lens";
  case 2:
    c->width = RV_MAX_SIDE;
    return "packed frame too wide";
  default:
    return bad_calibration(index - 3, k);
  }
}

const RvContract rv_rectify_contract = {
    RV_CONTRACT_TABLE(rectify),
    .workspace = workspace,
    .bad = bad,
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
};
