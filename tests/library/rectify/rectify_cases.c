/* SPDX-License-Identifier: MIT */
/* rectify_cases.c: rectified cameras against the geometry they promise, both engines against the
 * reference, and fuzz input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert_picture_cases.h"
#include "rectify/rectify_bench.h"
#include "rectify/rectify_inputs.h"
#include "rectify/rectify_point_cases.h"
#include "rectify/rectify_reference.h"

static const char *const kind_names[RECTIFY_KINDS] = {"radtan", "rational", "thin prism",
                                                      "tilted", "fisheye",  "rectified"};

/* --- Both engines against the reference ------------------------------------------------------- */

/* Device planes that begin at an odd address and whose strides are odd. */
static int upload_unaligned(RvCheck *check, CasePicture *device, const CasePicture *host,
                            void *memory[3]) {
  *device = *host;
  device->memory = NULL;
  for (int p = 0; p < rv_pixel_planes(host->view.format); p++) {
    const RvPlane *from = &host->plane[p];
    RvPlane *to = &device->plane[p];
    to->stride = (from->width + 3) | 1;
    RvStatus status =
        rv_buffer_new(&memory[p], (size_t)to->stride * (size_t)from->height + 1, RV_CUDA);
    to->data = (char *)memory[p] + 1;
    if (status == RV_OK)
      status = rv_copy_rows(to->data, to->stride, RV_CUDA, from->data, from->stride, RV_CPU,
                            (size_t)from->width, from->height, NULL);
    device->view.data[p] = to->data;
    device->view.stride[p] = to->stride;
    if (!rvc_true(check, "rectify", status == RV_OK, "upload: %s", rv_status_text(status)))
      return 0;
  }
  return 1;
}

/* The CUDA engine on those images against the expected result. */
static void check_images(RvCheck *check, const char *name, const RvRectifyConfig *c,
                         RectifyFrames *f, const CasePicture *in, const CasePicture *out,
                         const char *what) {
  RvRectify *rectify = NULL;
  memset(f->got.memory, 0, f->got.bytes);
  RvStatus status = rv_rectify_new(&rectify, c, RV_CUDA);
  if (status == RV_OK)
    status = rv_rectify_run(rectify, &in->view, &out->view, NULL);
  if (status == RV_OK)
    status = rv_stream_wait(NULL);
  if (rvc_true(check, name, status == RV_OK, "CUDA, %s: %s", what, rv_status_text(status)) &&
      case_picture_download(check, &f->got, out))
    case_picture_same(check, name, &f->expected, &f->got, what);
  rv_rectify_free(&rectify);
}

/* With the kernel of the format, and with the one for any alignment. */
static void check_cuda(RvCheck *check, const char *name, const RvRectifyConfig *c, RectifyFrames *f,
                       const char *what) {
  CasePicture in = {0}, out = {0};
  void *memory[2][3] = {{NULL}};
  memset(f->got.memory, 0xA5, f->got.bytes); /* the outputs start with other values */
  if (case_picture_upload(check, &in, &f->in) && case_picture_upload(check, &out, &f->got))
    check_images(check, name, c, f, &in, &out, what);
  case_picture_device_free(&in);
  case_picture_device_free(&out);
  memset(f->got.memory, 0x5A, f->got.bytes);
  if (upload_unaligned(check, &in, &f->in, memory[0]) &&
      upload_unaligned(check, &out, &f->got, memory[1]))
    check_images(check, name, c, f, &in, &out, what);
  for (int p = 0; p < 6; p++)
    rv_buffer_free(&memory[p / 3][p % 3], RV_CUDA);
}

static void check_config(RvCheck *check, const char *name, const RvRectifyConfig *c,
                         RvRandom *random, const char *kind) {
  char what[200];
  snprintf(what, sizeof what, "%s, %s, layout %d, %dx%d to %dx%d, alpha %g, interpolation %d", kind,
           case_format_name(c->format), (int)c->layout, c->in_width, c->in_height, c->width,
           c->height, c->alpha, (int)c->interpolation);
  RectifyFrames f = {0};
  RvRectify *rectify = NULL;
  RvStatus status = rv_rectify_new(&rectify, c, RV_CPU);
  if (!rvc_true(check, name, status == RV_OK, "%s: %s", what, rv_status_text(status)))
    return;
  if (rectify_frames_new(check, &f, c, random, rvc_range(random, 0, 3) ? RVC_RANDOM : RVC_SMOOTH)) {
    rectify_reference(c, &f.in, &f.expected);
    status = rv_rectify_run(rectify, &f.in.view, &f.got.view, NULL);
    rvc_true(check, name, status == RV_OK, "%s: %s", what, rv_status_text(status));
    case_picture_same(check, name, &f.expected, &f.got, what);
    case_picture_whole(check, name, &f.got, what);
    if (rvc_cuda(check))
      check_cuda(check, name, c, &f, what);
  }
  rectify_frames_free(&f);
  rv_rectify_free(&rectify);
}

static void random_output(RvRectifyConfig *c, RvRandom *random) {
  c->layout = (RvRectifyLayout)rvc_range(random, 0, 3);
  c->full_range = rvc_range(random, 0, 1);
  c->chroma_cosited_x = rvc_range(random, 0, 1);
  c->chroma_cosited_y = rvc_range(random, 0, 1);
  if (rvc_range(random, 0, 3) == 0)
    c->interpolation = RV_RECTIFY_NEAREST;
  if (rvc_range(random, 0, 2) == 0 && c->calibration.view[0].lens == RV_LENS_PINHOLE)
    c->alpha = rvc_range(random, 0, 10) / 10.0;
  if (rvc_range(random, 0, 2) == 0)
    c->width = rvc_range(random, 1, 2 * c->in_width);
  if (rvc_range(random, 0, 3) == 0)
    c->height = rvc_range(random, 1, 2 * c->in_height);
}

/* Random camera and output that have a rectified view: with strong distortion some have none.
 * Scaling a rectified image has positions halfway between two steps of 1/32 px, where the last
 * bit of the reference decides: not drawn. */
static void draw_config(RvRectifyConfig *c, RvRandom *random, int kind, int width, int height) {
  do {
    rectify_input_random(c, random, kind, width, height);
    random_output(c, random);
    c->width = kind == RECTIFY_RECTIFIED ? 0 : c->width;
  } while (rv_rectify_config_check(c) != RV_OK);
}

/* Every format and lens at sizes that are odd, small, and not a multiple of anything. */
static void check_remap(RvCheck *check, const char *name, RvRandom *random) {
  static const int sizes[][2] = {{64, 48}, {61, 37},  {33, 50},  {8, 8},
                                 {5, 3},   {130, 70}, {321, 240}};
  for (int f = 0; f < RV_PIXEL_FORMATS; f++)
    for (int kind = 0; kind < RECTIFY_KINDS; kind++)
      for (int s = 0; s < (kind != f % RECTIFY_KINDS ? 5 : rvc_small(check) ? 6 : 7); s++) {
        RvRectifyConfig c;
        draw_config(&c, random, kind, sizes[s][0], sizes[s][1]);
        c.format = (RvPixelFormat)f;
        c.log = rvc_log(check);
        c.threads = 1 + s % 3;
        check_config(check, name, &c, random, kind_names[kind]);
      }
}

/* Displacements of more than 1023 samples, which need wide entries. */
static void check_wide(RvCheck *check, const char *name, RvRandom *random) {
  for (int f = 0; f < RV_PIXEL_FORMATS; f++) {
    RvRectifyConfig c;
    rectify_input_random(&c, random, f % 4, 2501, 20);
    for (int v = 0; v < 2; v++) {
      c.calibration.view[v].distortion[0] = 25; /* far out of the view at its ends */
      c.calibration.view[v].cy = 9 + v;
    }
    c.format = (RvPixelFormat)f;
    c.layout = RV_RECTIFY_TOP_BOTTOM;
    c.log = rvc_log(check);
    c.width = f % 2 ? 320 : 0;
    check_config(check, name, &c, random, "wide");
  }
}

/* A rectified camera changes nothing, and says so. */
static void check_identity(RvCheck *check, const char *name, RvRandom *random) {
  for (int f = 0; f < RV_PIXEL_FORMATS; f++) {
    RvRectifyConfig c;
    RectifyFrames frames = {0};
    RvRectify *rectify = NULL;
    rectify_input_random(&c, random, RECTIFY_RECTIFIED, 62, 40);
    c.format = (RvPixelFormat)f;
    c.log = rvc_log(check);
    const int ok = rv_rectify_new(&rectify, &c, RV_CPU) == RV_OK &&
                   rectify_frames_new(check, &frames, &c, random, RVC_RANDOM) &&
                   rv_rectify_run(rectify, &frames.in.view, &frames.got.view, NULL) == RV_OK;
    rvc_true(check, name, ok && rv_rectify_is_identity(rectify), "%s: is not the identity",
             case_format_name(c.format));
    const RvRectifyRect valid = rv_rectify_valid(rectify);
    rvc_true(check, name, valid.x == 0 && valid.y == 0 && valid.width == 62 && valid.height == 40,
             "valid rectangle is %dx%d at (%d, %d)", valid.width, valid.height, valid.x, valid.y);
    case_picture_copy(&frames.expected, &frames.in);
    case_picture_same(check, name, &frames.expected, &frames.got, "identity");
    rv_rectify_free(&rectify);
    c.width = 60;
    c.height = 40;
    rvc_true(check, name,
             rv_rectify_new(&rectify, &c, RV_CPU) == RV_OK && !rv_rectify_is_identity(rectify),
             "another size is the identity");
    rv_rectify_free(&rectify);
    rectify_frames_free(&frames);
  }
}

/* --- Geometry -------------------------------------------------------------------------------- */

static int geometry_of(RvCheck *check, const char *name, RvRectifyConfig *c, int kind,
                       RvRectifyGeometry *g) {
  c->log = rvc_log(check);
  return rvc_true(check, name, rv_rectify_geometry(c, g) == RV_OK, "%s", kind_names[kind]);
}

/* Rows of points in space must be equal in both rectified views, and their depth that of the
 * disparity: Z = focal baseline / (d + doffs). */
static void check_geometry(RvCheck *check, const char *name, RvRandom *random) {
  for (int i = 0; i < 300; i++) {
    RvRectifyConfig c;
    RvRectifyGeometry g;
    const int kind = i % RECTIFY_KINDS;
    draw_config(&c, random, kind, 640, 480);
    if (!geometry_of(check, name, &c, kind, &g))
      continue;
    for (int n = 0; n < 20; n++) {
      const double left[3] = {rvc_range(random, -2000, 2000) / 1e3,
                              rvc_range(random, -2000, 2000) / 1e3,
                              rvc_range(random, 3000, 40000) / 1e3};
      double right[3], at[2][3];
      for (int r = 0; r < 3; r++) {
        right[r] = c.calibration.translation[r];
        for (int k = 0; k < 3; k++)
          right[r] += c.calibration.rotation[3 * r + k] * left[k];
      }
      for (int v = 0; v < 2; v++) {
        double turned[3], pixel[3];
        for (int r = 0; r < 3; r++)
          turned[r] = g.rotation[v][3 * r] * (v ? right : left)[0] +
                      g.rotation[v][3 * r + 1] * (v ? right : left)[1] +
                      g.rotation[v][3 * r + 2] * (v ? right : left)[2];
        for (int r = 0; r < 3; r++)
          pixel[r] = g.projection[v][4 * r] * turned[0] + g.projection[v][4 * r + 1] * turned[1] +
                     g.projection[v][4 * r + 2] * turned[2];
        at[v][0] = pixel[0] / pixel[2];
        at[v][1] = pixel[1] / pixel[2];
        at[v][2] = turned[2];
      }
      const double d = at[0][0] - at[1][0];
      const double z = g.camera.focal * g.camera.baseline / (d + g.camera.doffs);
      rvc_true(check, name, fabs(at[0][1] - at[1][1]) < 1e-6, "%s: rows %.9g and %.9g",
               kind_names[kind], at[0][1], at[1][1]);
      rvc_true(check, name, fabs(z / at[0][2] - 1) < 1e-6, "%s: depth %.9g instead of %.9g",
               kind_names[kind], z, at[0][2]);
    }
  }
}

/* alpha 0: no border anywhere; alpha 1: every corner of the input is visible. */
static void check_alpha(RvCheck *check, const char *name, RvRandom *random) {
  RvRectifyConfig c;
  rectify_input_config(&c, 320, 240);
  c.log = rvc_log(check);
  c.alpha = 0;
  RvRectify *rectify = NULL;
  rvc_true(check, name, rv_rectify_new(&rectify, &c, RV_CPU) == RV_OK, "alpha 0");
  const RvRectifyRect valid = rv_rectify_valid(rectify);
  rvc_true(check, name, valid.width >= 318 && valid.height >= 238,
           "alpha 0: valid rectangle is %dx%d at (%d, %d)", valid.width, valid.height, valid.x,
           valid.y);
  rv_rectify_free(&rectify);
  RvRectifyGeometry zero, one;
  rvc_true(check, name, rv_rectify_geometry(&c, &zero) == RV_OK, "alpha 0");
  c.alpha = 1;
  rvc_true(check, name,
           rv_rectify_geometry(&c, &one) == RV_OK && one.camera.focal < zero.camera.focal,
           "alpha 1 has a focal length of %g, alpha 0 %g", one.camera.focal, zero.camera.focal);
}

/* A usual lens: strong ones have cases of their own. */
static void draw_usual_lens(RvRandom *random, RvCalibrationView *view) {
  double *d = view->distortion;
  const int is_fisheye = view->lens == RV_LENS_FISHEYE, terms = is_fisheye ? 4 : 12;
  memset(d, 0, sizeof view->distortion);
  for (int i = 0; i < terms; i++)
    d[i] = rvc_range(random, -10, 10) / 10000.0;
  d[0] = is_fisheye ? rvc_range(random, -30, 30) / 1000.0 : rvc_range(random, -300, 100) / 1000.0;
  d[1] = rvc_range(random, 0, is_fisheye ? 10 : 100) / 1000.0;
}

/* Within 30 degrees of the axis. */
static int is_usual(const RvRectifyGeometry *g, int view, double x, double y) {
  const double *p = g->projection[view];
  return hypot((x - p[2]) / p[0], (y - p[6]) / p[5]) < 0.58;
}

/* Points that are mapped back by the reference's formulas come out where they were. */
static void check_round_trips(RvCheck *check, const char *name, RvRandom *random,
                              const RvRectifyGeometry *g, int kind) {
  for (int k = 0; k < 40; k++) {
    const int view = k % 2;
    const double x = rvc_range(random, 0, g->width - 1), y = rvc_range(random, 0, g->height - 1);
    double u, v, back_x = -1e9, back_y = -1e9;
    if (!is_usual(g, view, x, y) || !rectify_reference_source(g, view, x, y, &u, &v) || u < 0 ||
        v < 0 || u > 639 || v > 399)
      continue;
    rvc_true(check, name, rv_rectify_point(g, view, u, v, &back_x, &back_y) == 1, "%s: behind",
             kind_names[kind]);
    rvc_true(check, name, fabs(back_x - x) < 1e-5 && fabs(back_y - y) < 1e-5,
             "%s: (%.2f, %.2f) became (%.2f, %.2f)", kind_names[kind], x, y, back_x, back_y);
  }
  double x = 7, y = 8;
  rvc_true(check, name,
           !rv_rectify_point(NULL, 0, 1, 1, &x, &y) && !rv_rectify_point(g, 2, 1, 1, &x, &y) &&
               x == 7 && y == 8,
           "invalid arguments");
}

static void check_points(RvCheck *check, const char *name, RvRandom *random) {
  RvRectifyConfig c;
  RvRectifyGeometry g;
  int is_good = 1;
  for (int round = 0; round < 60 && is_good; round++) {
    const int kind = round % RECTIFY_KINDS;
    rectify_input_random(&c, random, kind, 640, 400);
    for (int v = 0; v < 2 && kind != RECTIFY_RECTIFIED; v++)
      draw_usual_lens(random, &c.calibration.view[v]);
    is_good = geometry_of(check, name, &c, kind, &g);
    if (is_good)
      check_round_trips(check, name, random, &g, kind);
  }
}

RVC_PARITY(RVC_CASE("rectify/geometry", check_geometry, 0),
           RVC_CASE("rectify/alpha", check_alpha, 0),
           RVC_CASE("rectify/identity", check_identity, 0),
           RVC_CASE("rectify/remap", check_remap, 0), RVC_CASE("rectify/wide", check_wide, 0),
           RVC_CASE("rectify/points", check_points, 0), {.group = rectify_point_cases});

/* --- Fuzzing --------------------------------------------------------------------------------- */

/* Bytes become a camera and an image. */
static void fuzz(const uint8_t *bytes, size_t size) {
  RvRectifyConfig c;
  RvRandom random = {size};
  const int width = 1 + (size > 0 ? bytes[0] : 7) % 48, height = 1 + (size > 1 ? bytes[1] : 5) % 32;
  rectify_input_random(&c, &random, (size > 2 ? bytes[2] : 0) % RECTIFY_KINDS, width, height);
  c.threads = 1;
  c.format = (RvPixelFormat)((size > 3 ? bytes[3] : 0) % RV_PIXEL_FORMATS);
  random_output(&c, &random);
  const size_t used = 4;
  if (size > used) { /* numbers of the calibration, bit for bit */
    char *to = (char *)&c.calibration.view;
    const size_t room = sizeof c.calibration.view, count = size - used < room ? size - used : room;
    if (bytes[3] & 128)
      memcpy(to + (bytes[2] * 8u) % room, bytes + used,
             count < room - (bytes[2] * 8u) % room ? count : room - (bytes[2] * 8u) % room);
  }
  RvRectifyGeometry g;
  RvRectify *rectify = NULL;
  if (rv_rectify_geometry(&c, &g) != RV_OK || g.height > 256 || g.width > 256 ||
      rv_rectify_new(&rectify, &c, RV_CPU) != RV_OK)
    return;
  void *from, *to;
  size_t unused;
  const RvPicture in = rectify_input_frame(&c, width, height, &from, &unused);
  const RvPicture out = rectify_input_frame(&c, g.width, g.height, &to, &unused);
  rv_rectify_run(rectify, &in, &out, NULL);
  rv_rectify_free(&rectify);
  free(from);
  free(to);
}

const RvCases rv_rectify_cases = {
    .name = "rectify", .parity = parity, .bench = rectify_bench, .fuzz = fuzz};
