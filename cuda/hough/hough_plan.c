/* SPDX-License-Identifier: MIT */
/* hough_plan.c: from the config to integers: angles, bins and the fixed-point tables. */
#include <math.h>

#include "hough/hough_stages.h"

#define PI 3.14159265358979323846

/* The first k with k * 180 / theta_steps >= degrees. */
static int angle_at(double degrees, int steps) {
  const double k = degrees * steps / 180.0;
  return (int)ceil(k - 1e-9 * steps);
}

static double angle_of(const RvHoughConfig *c, int k) {
  return k * PI / c->theta_steps;
}

/* cos and sin, exact at the axes. */
static double cos_of(const RvHoughConfig *c, int k) {
  return 2 * k == c->theta_steps ? 0.0 : cos(angle_of(c, k));
}
static double sin_of(const RvHoughConfig *c, int k) {
  return k == 0 ? 0.0 : sin(angle_of(c, k));
}

/* Bins that pixels can reach at any angle; an eighth of a bin is left for the tables' rounding. */
static void reach(const RvHoughConfig *c, RvHoughSpace *p) {
  double low = 0, high = 0;
  for (int k = p->first; k < p->first + p->angles; k++) {
    const double x = (c->width - 1) * cos_of(c, k), y = (c->height - 1) * sin_of(c, k);
    low = fmin(low, fmin(x, 0.0));
    high = fmax(high, fmax(x, 0.0) + y);
  }
  p->rho_zero = (int)ceil(-low / c->rho_step - 0.375);
  p->bins = p->rho_zero + (int)floor(high / c->rho_step + 0.625) + 1;
}

void rv_hough_space(const RvHoughConfig *c, RvHoughSpace *p) {
  *p = (RvHoughSpace){.width = c->width, .height = c->height};
  p->first = angle_at(c->min_theta, c->theta_steps);
  p->angles = rv_min(angle_at(c->max_theta, c->theta_steps), c->theta_steps) - p->first;
  p->wraps = p->angles == c->theta_steps;
  p->threshold = c->threshold;
  p->max_lines = c->max_lines;
  p->weighted = c->weighted;
  p->tangent = c->direction ? (int)lround(tan(c->direction * PI / 180.0) * 16384.0) : -1;
  p->rho_step = (float)c->rho_step;
  p->theta_step = (float)(PI / c->theta_steps);
  p->min_length = c->segments ? c->min_length : -1;
  p->max_gap = c->max_gap;
  reach(c, p);
  /* 32 bits where the tables' rounding stays within a sixteenth of a bin at the far corner. */
  int shift = 24;
  while (shift > 0 && ((uint64_t)p->bins << shift) >> 32)
    shift--;
  p->is_wide = (double)(c->width + c->height) > ldexp(1.0, shift + 1) / 16.0 ||
               ldexp(1.0 / c->rho_step, shift) >= 2147483647.0;
  p->shift = p->is_wide ? 28 : shift;
}

void rv_hough_angles(const RvHoughConfig *c, const RvHoughSpace *p, RvHoughAngle *angles) {
  const double one = ldexp(1.0, p->shift), line = ldexp(1.0, RV_HOUGH_LINE_LOG);
  for (int i = 0; i < p->angles; i++) {
    const double cosine = cos_of(c, p->first + i), sine = sin_of(c, p->first + i);
    RvHoughAngle *a = &angles[i];
    *a = (RvHoughAngle){.c = (int32_t)lround(cosine / c->rho_step * one),
                        .s = (int32_t)lround(sine / c->rho_step * one),
                        .k = llround((p->rho_zero + 0.5) * one)};
    a->ux = (int16_t)lround(cosine * (1 << RV_HOUGH_UNIT_LOG));
    a->uy = (int16_t)lround(sine * (1 << RV_HOUGH_UNIT_LOG));
    a->is_steep = fabs(cosine) > fabs(sine);
    const double along = a->is_steep ? cosine : sine, across = a->is_steep ? sine : cosine;
    a->slope = (int32_t)lround(-across / along * line);
    a->per_bin = llround(c->rho_step / along * line);
  }
}

RvHoughAngle *rv_hough_angles_new(const RvHoughPlan *plan) {
  RvHoughAngle *angles =
      rv_object_memory(&plan->config.log, "hough", (size_t)plan->space.angles * sizeof *angles);
  if (angles)
    rv_hough_angles(&plan->config, &plan->space, angles);
  return angles;
}

size_t rv_hough_peaks_max(const RvHoughSpace *space) {
  return (size_t)space->angles * (size_t)((space->bins + 1) / 2);
}
