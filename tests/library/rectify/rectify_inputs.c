/* SPDX-License-Identifier: MIT */
/* rectify_inputs.c: synthetic stereo cameras. */
#include "rectify/rectify_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rotation by small angles: product of the rotations around x, y and z. */
static void rotation_of(double rx, double ry, double rz, double out[9]) {
  const double cx = cos(rx), sx = sin(rx), cy = cos(ry), sy = sin(ry), cz = cos(rz), sz = sin(rz);
  const double values[9] = {cz * cy,
                            cz * sy * sx - sz * cx,
                            cz * sy * cx + sz * sx,
                            sz * cy,
                            sz * sy * sx + cz * cx,
                            sz * sy * cx - cz * sx,
                            -sy,
                            cy * sx,
                            cy * cx};
  memcpy(out, values, sizeof values);
}

void rectify_input_config(RvRectifyConfig *c, int width, int height) {
  rv_rectify_config_init(c);
  c->in_width = width;
  c->in_height = height;
  RvCalibration *k = &c->calibration;
  for (int v = 0; v < 2; v++) {
    RvCalibrationView *view = &k->view[v];
    view->width = width;
    view->height = height;
    view->fx = (v ? 0.812 : 0.8094) * width;
    view->fy = (v ? 0.8131 : 0.8107) * width;
    view->cx = (v ? 0.4953 : 0.5037) * width;
    view->cy = (v ? 0.5061 : 0.4979) * height;
    const double d[4] = {v ? -0.271 : -0.284, v ? 0.082 : 0.091, v ? -0.0004 : 0.0006,
                         v ? 0.0003 : -0.0005};
    memcpy(view->distortion, d, sizeof d);
  }
  rotation_of(0.004, -0.007, 0.009, k->rotation);
  k->translation[0] = -0.1203;
  k->translation[1] = 0.0011;
  k->translation[2] = -0.0017;
  k->has_pose = 1;
  strcpy(k->format, "test");
}

/* -1 .. 1 */
static double real(RvRandom *random) {
  return rvc_range(random, -1000000, 1000000) / 1e6;
}

static void random_lens(RvRandom *random, int kind, RvCalibrationView *view) {
  static const double size[14] = {0.3,  0.1,   0.001, 0.001, 0.02,  0.2,  0.05,
                                  0.01, 0.002, 0.001, 0.002, 0.001, 0.03, 0.03};
  static const int count[] = {5, 8, 12, 14, 4, 0};
  memset(view->distortion, 0, sizeof view->distortion);
  for (int i = 0; i < count[kind]; i++)
    view->distortion[i] = size[i] * real(random);
  if (kind != RECTIFY_FISHEYE)
    return;
  view->lens = RV_LENS_FISHEYE;
  for (int i = 0; i < 4; i++)
    view->distortion[i] = real(random) * 0.05 / (1 + i);
  view->fx *= 0.5;
  view->fy *= 0.5;
}

/* Identity as rectification. */
static void set_rectified(RvCalibration *k) {
  for (int v = 0; v < 2; v++) {
    RvCalibrationView *view = &k->view[v];
    *view = k->view[0];
    view->fy = view->fx;
    memset(view->distortion, 0, sizeof view->distortion);
    rotation_of(0, 0, 0, view->rotation);
    const double p[12] = {
        view->fx, 0, view->cx, v ? -0.25 * view->fx : 0, 0, view->fx, view->cy, 0, 0, 0, 1, 0};
    memcpy(view->projection, p, sizeof p);
  }
  rotation_of(0, 0, 0, k->rotation);
  k->translation[0] = -0.25;
  k->translation[1] = k->translation[2] = 0;
  k->has_rectification = 1;
}

void rectify_input_random(RvRectifyConfig *c, RvRandom *random, int kind, int width, int height) {
  rectify_input_config(c, width, height);
  RvCalibration *k = &c->calibration;
  for (int v = 0; v < 2; v++) {
    RvCalibrationView *view = &k->view[v];
    view->fx = width * (0.9 + 0.4 * real(random));
    view->fy = view->fx * (1 + 0.02 * real(random));
    view->cx = width * (0.5 + 0.05 * real(random));
    view->cy = height * (0.5 + 0.05 * real(random));
    random_lens(random, kind, view);
  }
  rotation_of(0.03 * real(random), 0.05 * real(random), 0.04 * real(random), k->rotation);
  k->translation[0] = -0.3 - 0.2 * real(random);
  k->translation[1] = 0.02 * real(random);
  k->translation[2] = 0.02 * real(random);
  if (kind == RECTIFY_RECTIFIED)
    set_rectified(k);
}

RvPicture rectify_input_picture(RvPixelFormat format, int width, int height, void **memory,
                                size_t *bytes) {
  RvPicture picture = {.format = format, .width = width, .height = height};
  size_t offsets[4] = {0};
  const int planes = rv_pixel_planes(format);
  for (int p = 0; p < planes; p++) {
    picture.stride[p] = (ptrdiff_t)rv_pixel_row_bytes(format, p, width);
    offsets[p + 1] =
        offsets[p] + (size_t)picture.stride[p] * (size_t)rv_pixel_rows(format, p, height);
  }
  *bytes = offsets[planes];
  *memory = calloc(1, *bytes + 1);
  if (!*memory)
    abort();
  for (int p = 0; p < planes; p++)
    picture.data[p] = (char *)*memory + offsets[p];
  return picture;
}

RvPicture rectify_input_frame(const RvRectifyConfig *c, int view_width, int view_height,
                              void **memory, size_t *bytes) {
  const int top_bottom = c->layout >= RV_RECTIFY_TOP_BOTTOM;
  return rectify_input_picture(c->format, top_bottom ? view_width : 2 * view_width,
                               top_bottom ? 2 * view_height : view_height, memory, bytes);
}

int rectify_frames_new(RvCheck *check, RectifyFrames *f, const RvRectifyConfig *c, RvRandom *random,
                       int fill) {
  RvRectifyGeometry g;
  if (rv_rectify_geometry(c, &g) != RV_OK)
    return 0;
  const int top_bottom = c->layout >= RV_RECTIFY_TOP_BOTTOM;
  const int across = top_bottom ? 1 : 2, down = top_bottom ? 2 : 1;
  const int in_pad = rvc_range(random, 0, 20), out_pad = rvc_range(random, 0, 20);
  return case_picture_new(check, &f->in, c->format, across * c->in_width, down * c->in_height,
                          in_pad, random, fill) &&
         case_picture_new(check, &f->expected, c->format, across * g.width, down * g.height,
                          out_pad, random, RVC_ZERO) &&
         case_picture_new(check, &f->got, c->format, across * g.width, down * g.height, out_pad,
                          random, RVC_ONES);
}

void rectify_frames_free(RectifyFrames *f) {
  case_picture_free(&f->in);
  case_picture_free(&f->expected);
  case_picture_free(&f->got);
}
