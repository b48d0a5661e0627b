/* SPDX-License-Identifier: MIT */
/* rectify.h: undistorts and rectifies both views of a frame-packed stereo pair, so that a point
 * lies on the same row in both.
 *
 * How an output pixel is made:
 *  1. geometry   the rectified cameras: rotations R1, R2 and projections P1, P2 of the calibration,
 *                or, with `alpha` or without them, those of Bouguet's method: each camera turns by
 *                half of the rotation between them, then the baseline becomes the x axis. One focal
 *                length and one principal point for both views (zero disparity at infinity).
 *  2. map        for output pixel (j, i) of a view: (X, Y, W) = (P R)^-1 (j, i, 1), x = X / W,
 *                y = Y / W; the lens model (below) bends (x, y) to (x', y'); the source is
 *                u = fx x' + cx, v = fy y' + cy, stored as U = rint(32 u), V = rint(32 v), halves
 *                to even. Made once, in double, on the host.
 *  3. remap      with a = U mod 32, b = V mod 32 and the four pixels around the source:
 *                  ((32-a)(32-b) s00 + a(32-b) s01 + (32-a)b s10 + ab s11 + 512) >> 10
 *                in integers, rounded once: the values of OpenCV's remap (INTER_LINEAR,
 *                BORDER_CONSTANT) with CV_16SC2 maps. Source pixels outside of the view, also those
 *                of the other view, are the border: RGB, alpha and gray 0; Y 16 or 0
 *                (full_range), U V 128. RV_RECTIFY_NEAREST rounds U, V to integer pixels, halves
 *                up.
 *
 * Chroma of NV12, I420, YUY2 and UYVY has its own map on its own 1/32 px grid: the sample of chroma
 * column c, row r lies at luma (2 c + sx, 2 r + sy); its source is the map at that point, in chroma
 * samples: (u - sx) / 2, (v - sy) / 2. sx, sy are 0 (cosited) or 0.5. YUY2 and UYVY only have sx.
 * Where the views have an odd width (side by side) or height, the shared chroma sample belongs to
 * the first view. In YUY2 and UYVY of odd width the luma beyond the last column repeats it.
 *
 * Lens models: pinhole with r^2 = x^2 + y^2,
 *   k = (1 + k1 r^2 + k2 r^4 + k3 r^6) / (1 + k4 r^2 + k5 r^4 + k6 r^6)
 *   x' = x k + 2 p1 x y + p2 (r^2 + 2 x^2) + s1 r^2 + s2 r^4
 *   y' = y k + p1 (r^2 + 2 y^2) + 2 p2 x y + s3 r^2 + s4 r^4
 * then the tilt of the sensor by tx, ty; fisheye with t = atan r,
 *   x' = x s, y' = y s, s = t (1 + k1 t^2 + k2 t^4 + k3 t^6 + k4 t^8) / r.
 * Both as in OpenCV. Points behind the camera (W <= 0) are outside.
 *
 * Sources: J.-Y. Bouguet, Camera Calibration Toolbox (rectification); Brown 1966 (lens); Kannala
 * and Brandt 2006 (fisheye). Both engines give the same bytes. */
#ifndef RV_RECTIFY_H
#define RV_RECTIFY_H

#include "convert/convert.h"
#include "rectify/calibration.h"
#include "rv.h"
#include "rv_params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvRectifyInterpolation {
  RV_RECTIFY_BILINEAR = 0,
  RV_RECTIFY_NEAREST,
} RvRectifyInterpolation;

/* How the two views are packed in a frame. */
typedef enum RvRectifyLayout {
  RV_RECTIFY_SIDE_BY_SIDE = 0, /* left, right */
  RV_RECTIFY_SIDE_BY_SIDE_RIGHT_FIRST,
  RV_RECTIFY_TOP_BOTTOM, /* left above right */
  RV_RECTIFY_TOP_BOTTOM_RIGHT_FIRST,
} RvRectifyLayout;

/* Fields: unit, range; default. rv_rectify_params () states the same as a table. */
typedef struct RvRectifyConfig {
  RvCalibration calibration; /* as read; it is fitted to the size of the views; no default */
  RvPixelFormat format;      /* of input and output; RV_PIXEL_NV12 */
  RvRectifyLayout layout;    /* of input and output; RV_RECTIFY_SIDE_BY_SIDE */
  int in_width, in_height;   /* px of one view of the input, 1..16384; no default */
  int width, height;         /* px of one view of the output, 0..16384; 0. Width 0: that of the
                              * input, or of the rectified images of the file. Another width scales
                              * the image. Height 0: in proportion to the width. Another height
                              * crops or extends the image, centered */
  double alpha;              /* pinhole only, -1..1; -1. Below 0: rectification of the file, without
                              * one the focal length is kept; 0 = no border visible, 1 = all input
                              * pixels visible */
  double fov_scale;          /* fisheye without rectification in the file: mean focal length divided
                              * by this, 0.1..10; 1 */
  RvRectifyInterpolation interpolation; /* RV_RECTIFY_BILINEAR */
  int full_range;                       /* YUV: full (1) or limited range (0), 0 or 1; 0 */
  int chroma_cosited_x;                 /* 4:2:x: sx = 0 (1) or 0.5 (0), 0 or 1; 1 */
  int chroma_cosited_y;                 /* 4:2:0: sy = 0 (1) or 0.5 (0), 0 or 1; 0 */
  int threads;                          /* CPU engine and computation of the maps, 0 = all; 0 */
  RvLog log;                            /* silent */
} RvRectifyConfig;

/* The rectified cameras, with the calibration fitted to the input views. */
typedef struct RvRectifyGeometry {
  int width, height;         /* px of one output view */
  RvCalibration calibration; /* fitted to the input views; warnings added */
  double rotation[2][9];     /* R1, R2 */
  double projection[2][12];  /* P1, P2 of the output views; P2[3] in px m */
  RvCamera camera;      /* of the left output view: focal = P1[0], cx, cy, doffs = P2 cx - P1 cx,
                         * baseline in m; height and pitch unknown */
  double field_of_view; /* degrees: horizontal, of an output view */
} RvRectifyGeometry;

/* A rectangle of an output view, px. */
typedef struct RvRectifyRect {
  int x, y, width, height;
} RvRectifyRect;

/* rv_rectify_params, _config_init, _config_check, _workspace, _new and _free: see rv_params.h.
 * _config_init: the sizes become 0 and the calibration empty. _new computes the maps. */
RV_ALGORITHM_API(RvRectify, rectify);

/* Computes the rectified cameras without making maps. RV_ERR_ARG like _config_check. */
RV_API RvStatus rv_rectify_geometry(const RvRectifyConfig *config, RvRectifyGeometry *geometry);

/* Computes where the pixel (u, v) of an input view (0 left, 1 right) lies in its output view, px;
 * pixel centers have integer coordinates. Inverts the lens by a search of bounded length: the ray
 * found is projected to (u, v) within 1e-6 px, for every lens model and coefficients. Returns 1; or
 * 0, with x and y unchanged, when
 *  - no ray has this pixel: coefficients of strong distortion fold the image at some distance from
 *    the principal point, and only rays between the optical axis and the fold are used,
 *  - the ray of a fisheye lens is 90 degrees or more off the axis,
 *  - it lies behind the rectified camera. */
RV_API int rv_rectify_point(const RvRectifyGeometry *geometry, int view, double u, double v,
                            double *x, double *y);

/* Remaps both views. `in` is a packed frame of two input views, `out` of two output views, both of
 * the configured format; they must not overlap. */
RV_API RvStatus rv_rectify_run(RvRectify *rectify, const RvPicture *in, const RvPicture *out,
                               RvStream stream);

/* 1 when run() would copy the frame: the input is already rectified and keeps its size. */
RV_API int rv_rectify_is_identity(const RvRectify *rectify);

/* Largest rectangle without border pixels in both output views; empty when there is none. */
RV_API RvRectifyRect rv_rectify_valid(const RvRectify *rectify);

#ifdef __cplusplus
}
#endif
#endif
