/* SPDX-License-Identifier: MIT */
/* rectify_contract.c: rectification as the contract test sees it. */
#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* Calibrations that no camera can have: one wrong number, or as bad_calibration() makes them. */
static const struct {
  size_t offset;
  double value;
  const char *text;
} bad_numbers[] = {
    {offsetof(RvCalibration, view[0].fx), NAN, "focal length NaN"},
    {offsetof(RvCalibration, view[1].fy), 0, "focal length 0"},
    {offsetof(RvCalibration, view[1].fx), 100000, "focal length 1000 times the width"},
    {offsetof(RvCalibration, view[0].cx), 100, "principal point at the edge"},
    {offsetof(RvCalibration, view[1].cy), INFINITY, "principal point infinite"},
    {offsetof(RvCalibration, rotation[0]), 2, "rotation that is none"},
    {offsetof(RvCalibration, rotation[4]), NAN, "rotation NaN"},
    {offsetof(RvCalibration, translation[1]), 1, "cameras above each other"},
    {offsetof(RvCalibration, view[0].distortion[1]), NAN, "distortion NaN"},
};
#define BAD_NUMBERS ((int)(sizeof bad_numbers / sizeof bad_numbers[0]))

static const char *bad_calibration(int index, RvCalibration *k) {
  if (index < BAD_NUMBERS) {
    memcpy((char *)k + bad_numbers[index].offset, &bad_numbers[index].value, sizeof(double));
    return bad_numbers[index].text;
  }
  switch (index - BAD_NUMBERS) {
  case 0:
    memset(k->translation, 0, sizeof k->translation);
    return "baseline 0";
  case 1:
    k->has_pose = 0;
    return "neither pose nor rectification";
  case 2:
    k->view[0].lens = RV_LENS_FISHEYE;
    return "two kinds of lenses";
  case 3:
    k->view[0].width = 50;
    return "two sizes";
  case 4:
    k->has_rectification = 1;
    return "projections of 0";
  case 5:
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
