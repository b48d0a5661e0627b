/* SPDX-License-Identifier: MIT */
/* rectify_math.c: 3 x 3 matrices and rotations. */
#include "rectify/rectify_math.h"

#include <math.h>
#include <string.h>

void rv_mat3_multiply(const double a[9], const double b[9], double out[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

void rv_mat3_transpose(const double a[9], double out[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      out[3 * r + c] = a[3 * c + r];
}

void rv_mat3_apply(const double a[9], const double v[3], double out[3]) {
  for (int r = 0; r < 3; r++)
    out[r] = a[3 * r] * v[0] + a[3 * r + 1] * v[1] + a[3 * r + 2] * v[2];
}

double rv_mat3_determinant(const double a[9]) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
         a[2] * (a[3] * a[7] - a[4] * a[6]);
}

int rv_mat3_invert(const double a[9], double out[9]) {
  const double d = rv_mat3_determinant(a);
  if (!(fabs(d) > 0) || !isfinite(d))
    return 0;
  const double cofactors[9] = {
      a[4] * a[8] - a[5] * a[7], a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
      a[5] * a[6] - a[3] * a[8], a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
      a[3] * a[7] - a[4] * a[6], a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]};
  for (int i = 0; i < 9; i++)
    out[i] = cofactors[i] / d;
  return 1;
}

void rv_mat3_identity(double out[9]) {
  for (int i = 0; i < 9; i++)
    out[i] = i % 4 == 0;
}

double rv_mat3_orthogonality(const double a[9]) {
  double transposed[9], product[9], worst = 0;
  rv_mat3_transpose(a, transposed);
  rv_mat3_multiply(a, transposed, product);
  for (int i = 0; i < 9; i++)
    worst = fmax(worst, fabs(product[i] - (i % 4 == 0)));
  return worst;
}

/* Newton's iteration a <- (a + a^-T) / 2 doubles the digits each time. */
void rv_mat3_orthonormalize(double a[9]) {
  for (int i = 0; i < 4; i++) {
    double inverse[9];
    if (!rv_mat3_invert(a, inverse))
      return;
    for (int r = 0; r < 3; r++)
      for (int c = r; c < 3; c++) {
        const double upper = (a[3 * r + c] + inverse[3 * c + r]) / 2;
        const double lower = (a[3 * c + r] + inverse[3 * r + c]) / 2;
        a[3 * r + c] = upper;
        a[3 * c + r] = lower;
      }
  }
}

double rv_vec3_norm(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Rodrigues: cos I + (1 - cos) k k^T + sin [k]x. */
void rv_mat3_from_rodrigues(const double v[3], double out[9]) {
  const double angle = rv_vec3_norm(v);
  rv_mat3_identity(out);
  if (!(angle > 0))
    return;
  const double c = cos(angle), s = sin(angle), k[3] = {v[0] / angle, v[1] / angle, v[2] / angle};
  const double cross[9] = {0, -k[2], k[1], k[2], 0, -k[0], -k[1], k[0], 0};
  for (int i = 0; i < 9; i++)
    out[i] = c * out[i] + (1 - c) * k[i / 3] * k[i % 3] + s * cross[i];
}

void rv_mat3_to_rodrigues(const double a[9], double out[3]) {
  const double r[3] = {a[7] - a[5], a[2] - a[6], a[3] - a[1]}; /* 2 sin times the axis */
  const double s = rv_vec3_norm(r) / 2, c = (a[0] + a[4] + a[8] - 1) / 2;
  const double angle = atan2(s, c);
  if (s > 1e-8) {
    for (int i = 0; i < 3; i++)
      out[i] = r[i] / (2 * s) * angle;
    return;
  }
  memset(out, 0, 3 * sizeof *out);
  if (c > 0)
    return;
  /* Half a turn: the largest diagonal entry gives one component, its row the signs. */
  int i = 0;
  for (int k = 1; k < 3; k++)
    i = a[4 * k] > a[4 * i] ? k : i;
  const double largest = sqrt(fmax((a[4 * i] + 1) / 2, 0));
  for (int k = 0; k < 3; k++)
    out[k] = (k == i ? largest : a[3 * i + k] / (2 * largest)) * angle;
}
