/* SPDX-License-Identifier: MIT */
/* rectify_math.h: 3 x 3 matrices, row by row, and rotations. All in double, on the host. */
#ifndef RV_RECTIFY_MATH_H
#define RV_RECTIFY_MATH_H

#include "rv.h"

/* out = a b; out may be neither. */
void rv_mat3_multiply(const double a[9], const double b[9], double out[9]);

/* out = a^T; out is not a. */
void rv_mat3_transpose(const double a[9], double out[9]);

/* out = a v; out is not v. */
void rv_mat3_apply(const double a[9], const double v[3], double out[3]);

/* out = a^-1 by cofactors; 0 when a is singular. */
int rv_mat3_invert(const double a[9], double out[9]);

double rv_mat3_determinant(const double a[9]);

void rv_mat3_identity(double out[9]);

/* Largest deviation of a a^T from the identity. */
double rv_mat3_orthogonality(const double a[9]);

/* Replaces a by the rotation nearest to it (polar decomposition). a is a rotation except for the
 * digits of a file. */
void rv_mat3_orthonormalize(double a[9]);

/* Rotation by |v| radians around v, and back. */
void rv_mat3_from_rodrigues(const double v[3], double out[9]);
void rv_mat3_to_rodrigues(const double a[9], double out[3]);

double rv_vec3_norm(const double v[3]);

#endif
