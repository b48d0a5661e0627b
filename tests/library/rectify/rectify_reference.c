/* SPDX-License-Identifier: MIT */
/* rectify_reference.c: for each output sample: its ray by K^-1 and R^T, the lens by its textbook
 * formula, four taps, one rounding. */
#include "rectify/rectify_reference.h"

#include <math.h>
#include <stdlib.h>

/* --- Cameras --------------------------------------------------------------------------------- */

static void tilt(const double *d, double *x, double *y) {
  const double tx = d[12], ty = d[13];
  if (tx == 0 && ty == 0)
    return;
  /* R(ty) R(tx) (x, y, 1), then onto the plane that the optical axis meets at a right angle. */
  const double x1 = *x, y1 = cos(tx) * *y + sin(tx), z1 = -sin(tx) * *y + cos(tx);
  const double x2 = cos(ty) * x1 - sin(ty) * z1, y2 = y1, z2 = sin(ty) * x1 + cos(ty) * z1;
  const double r33 = cos(ty) * cos(tx), r13 = -sin(ty) * cos(tx), r23 = sin(tx);
  *x = (r33 * x2 - r13 * z2) / z2;
  *y = (r33 * y2 - r23 * z2) / z2;
}

static void project(const RvCalibrationView *c, double x, double y, double *u, double *v) {
  const double *d = c->distortion, r2 = x * x + y * y;
  double xd, yd;
  if (c->lens == RV_LENS_FISHEYE) {
    const double r = sqrt(r2), t = atan(r);
    const double bent =
        t * (1 + d[0] * pow(t, 2) + d[1] * pow(t, 4) + d[2] * pow(t, 6) + d[3] * pow(t, 8));
    xd = r > 0 ? x * bent / r : x;
    yd = r > 0 ? y * bent / r : y;
  } else {
    const double k = (1 + d[0] * r2 + d[1] * r2 * r2 + d[4] * r2 * r2 * r2) /
                     (1 + d[5] * r2 + d[6] * r2 * r2 + d[7] * r2 * r2 * r2);
    xd = x * k + 2 * d[2] * x * y + d[3] * (r2 + 2 * x * x) + d[8] * r2 + d[9] * r2 * r2;
    yd = y * k + d[2] * (r2 + 2 * y * y) + 2 * d[3] * x * y + d[10] * r2 + d[11] * r2 * r2;
    tilt(d, &xd, &yd);
  }
  *u = c->fx * xd + c->cx;
  *v = c->fy * yd + c->cy;
}

/* Source of the point (x, y) of an output view, in px; 0 behind the camera. */
int rectify_reference_source(const RvRectifyGeometry *g, int view, double x, double y, double *u,
                             double *v) {
  const double *p = g->projection[view], *r = g->rotation[view];
  const double a = (x - p[2]) / p[0], b = (y - p[6]) / p[5];
  const double ray[3] = {r[0] * a + r[3] * b + r[6], r[1] * a + r[4] * b + r[7],
                         r[2] * a + r[5] * b + r[8]};
  if (!(ray[2] > 0))
    return 0;
  project(&g->calibration.view[view], ray[0] / ray[2], ray[1] / ray[2], u, v);
  return 1;
}

/* --- Samples --------------------------------------------------------------------------------- */

/* One channel of a view. */
typedef struct Channel {
  const CasePicture *in;
  CasePicture *out;
  int index;                  /* of case_sample; 3: fourth byte */
  int in_x, in_y, in_w, in_h; /* samples of the view in the input */
  int border;
} Channel;

static uint8_t *sample(const CasePicture *picture, int channel, int x, int y) {
  const RvPicture *view = &picture->view;
  if (channel == 3)
    return (uint8_t *)view->data[0] + y * view->stride[0] + 4 * x + case_fourth(view->format);
  return case_sample(picture, channel, x, y);
}

static int get(const CasePicture *picture, int channel, int x, int y) {
  const uint8_t *at = sample(picture, channel, x, y);
  return case_is_wide(picture->view.format) ? *at * 256 + at[-1] : *at;
}

static void put(CasePicture *picture, int channel, int x, int y, int value) {
  uint8_t *at = sample(picture, channel, x, y);
  const int wide = case_is_wide(picture->view.format);
  *at = (uint8_t)(wide ? value / 256 : value);
  if (wide)
    at[-1] = (uint8_t)(value % 256);
}

static int tap(const Channel *c, int x, int y) {
  if (x < 0 || y < 0 || x >= c->in_w || y >= c->in_h)
    return c->border;
  return get(c->in, c->index, c->in_x + x, c->in_y + y);
}

/* Value at (u, v) in samples of the view. */
static int value_at(const Channel *c, double u, double v, int nearest) {
  double su = rint(u * 32), sv = rint(v * 32);
  if (nearest) {
    su = floor((su + 16) / 32) * 32;
    sv = floor((sv + 16) / 32) * 32;
  }
  if (!(fabs(su) < 1e8 && fabs(sv) < 1e8))
    return c->border;
  const int x = (int)floor(su / 32), y = (int)floor(sv / 32);
  const int a = (int)(su - 32.0 * x), b = (int)(sv - 32.0 * y);
  const int sum = tap(c, x, y) * (32 - a) * (32 - b) + tap(c, x + 1, y) * a * (32 - b) +
                  tap(c, x, y + 1) * (32 - a) * b + tap(c, x + 1, y + 1) * a * b;
  return (sum + 512) / 1024;
}

static int up(int value, int cell) {
  return (value + cell - 1) / cell;
}

static void remap_channel(const RvRectifyConfig *config, const RvRectifyGeometry *g,
                          const CasePicture *in, CasePicture *out, int index) {
  const int yuv = case_chroma_shift_x(config->format), chroma = yuv && index > 0;
  const int cell_x = chroma ? 2 : 1;
  const int cell_y = chroma && case_chroma_shift_y(config->format) ? 2 : 1;
  const double site_x = cell_x == 2 && !config->chroma_cosited_x ? 0.5 : 0;
  const double site_y = cell_y == 2 && !config->chroma_cosited_y ? 0.5 : 0;
  const int top_bottom = config->layout >= RV_RECTIFY_TOP_BOTTOM, right_first = config->layout % 2;
  const int columns = up(out->view.width, cell_x), rows = up(out->view.height, cell_y);
  for (int r = 0; r < rows; r++)
    for (int s = 0; s < columns; s++) {
      /* Luma position in the frame; a shared sample belongs to the first view. */
      const int second = top_bottom ? r >= up(g->height, cell_y) : s >= up(g->width, cell_x);
      const int out_x = second && !top_bottom ? g->width : 0;
      const int out_y = second && top_bottom ? g->height : 0;
      const int in_x = second && !top_bottom ? config->in_width : 0;
      const int in_y = second && top_bottom ? config->in_height : 0;
      Channel c = {in, out, index, up(in_x, cell_x), up(in_y, cell_y), 0, 0, 0};
      c.in_w = (top_bottom || second ? up(in->view.width, cell_x) : up(config->in_width, cell_x)) -
               c.in_x;
      c.in_h =
          (!top_bottom || second ? up(in->view.height, cell_y) : up(config->in_height, cell_y)) -
          c.in_y;
      c.border = (chroma                       ? 128
                  : yuv && !config->full_range ? 16
                                               : 0) *
                 (case_is_wide(config->format) ? 256 : 1);
      double u, v;
      int value = c.border;
      if (rectify_reference_source(g, second != right_first, cell_x * s + site_x - out_x,
                                   cell_y * r + site_y - out_y, &u, &v))
        value = value_at(&c, (u + in_x - site_x) / cell_x - c.in_x,
                         (v + in_y - site_y) / cell_y - c.in_y,
                         config->interpolation == RV_RECTIFY_NEAREST);
      put(out, index, s, r, value);
    }
}

void rectify_reference(const RvRectifyConfig *config, const CasePicture *in, CasePicture *out) {
  RvRectifyGeometry g;
  if (rv_rectify_geometry(config, &g) != RV_OK)
    abort(); /* the case has made an object of it */
  const int channels = case_channels(config->format) + (case_fourth(config->format) >= 0);
  for (int i = 0; i < channels; i++)
    remap_channel(config, &g, in, out, i);
  const int w = out->view.width;
  for (int r = 0; case_is_packed(config->format) && w % 2 && r < out->view.height; r++)
    *case_sample(out, 0, w, r) = *case_sample(out, 0, w - 1, r);
}
