/* SPDX-License-Identifier: MIT */
/* hough_ends.c: where a line is drawn. */
#include <math.h>

#include "hough/hough.h"
#include "rv_hd.h"

/* Cuts the line at the borders -0.5 and side - 0.5 of one axis, where its direction has a
 * component along that axis; t runs along the line. */
static void cut(double at, double direction, int side, double *low, double *high) {
  if (fabs(direction) < 1e-9) {
    if (at < -0.5 || at > side - 0.5)
      *high = *low - 1.0;
    return;
  }
  const double a = (-0.5 - at) / direction, b = (side - 0.5 - at) / direction;
  *low = fmax(*low, fmin(a, b));
  *high = fmin(*high, fmax(a, b));
}

int rv_hough_ends(const RvLine *line, int has_segment, int width, int height, int to_width,
                  int to_height, int ends_fx[4]) {
  double x0 = line->x0, y0 = line->y0, x1 = line->x1, y1 = line->y1;
  if (width < 1 || height < 1 || to_width < 1 || to_height < 1)
    return 0;
  if (!has_segment) {
    const double c = cos((double)line->theta), s = sin((double)line->theta);
    const double x = c * (double)line->rho, y = s * (double)line->rho;
    double low = -1e6, high = 1e6;
    cut(x, -s, width, &low, &high);
    cut(y, c, height, &low, &high);
    if (!(low <= high))
      return 0;
    x0 = x - s * low, y0 = y + c * low;
    x1 = x - s * high, y1 = y + c * high;
  }
  const double most_x = width, most_y = height;
  const double sx = 16.0 * to_width / width, sy = 16.0 * to_height / height;
  ends_fx[0] = (int)lround((fmin(fmax(x0, -0.5), most_x) + 0.5) * sx);
  ends_fx[1] = (int)lround((fmin(fmax(y0, -0.5), most_y) + 0.5) * sy);
  ends_fx[2] = (int)lround((fmin(fmax(x1, -0.5), most_x) + 0.5) * sx);
  ends_fx[3] = (int)lround((fmin(fmax(y1, -0.5), most_y) + 0.5) * sy);
  return 1;
}
