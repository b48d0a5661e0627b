/* SPDX-License-Identifier: MIT */
/* calibration.h: reads the calibration of a stereo camera from the files that common tools write.
 *
 * The format is recognized by content, not by name:
 *
 *   format        from                                        cameras   unit of length
 *   opencv        OpenCV FileStorage: YAML, XML, JSON         2         as calibrated, see below
 *   plain         YAML without tags: M1, D1, ..., P2          2         as calibrated
 *   ros           ROS camera_info YAML                        1         m
 *   ros-ini       ROS camera parameters (Videre INI)          1 or 2    m
 *   kalibr        Kalibr camchain                             chain     m
 *   euroc         EuRoC sensor.yaml                           1         m
 *   kitti         KITTI calib.txt, odometry extract           2 or 4    m, rectified
 *   kitti-raw     KITTI calib_cam_to_cam.txt                  4         m
 *   middlebury    Middlebury calib.txt                        2         mm, rectified
 *   zed           ZED SNnnnn.conf                             2         mm
 *   depthai       DepthAI (OAK) JSON dump                     2 or more cm
 *
 * Formats with one camera per file need two files. OpenCV may also be two files that together
 * contain one calibration (intrinsics.yml and extrinsics.yml of its sample). Lengths become m where
 * the format defines its unit. OpenCV keeps the unit of the squares of the calibration: use
 * `baseline_scale`.
 *
 * Files are untrusted: at most 1 MiB, nesting of 8, 1024 entries and 100 000 numbers; no YAML
 * anchors, aliases or XML entities. An error is one log line "calibration: FILE:LINE: ..." that
 * states what was expected. These functions may be called from several threads at once. */
#ifndef RV_CALIBRATION_H
#define RV_CALIBRATION_H

#include "rv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum RvLens {
  RV_LENS_AUTO = -1,   /* as the file specifies; options only */
  RV_LENS_PINHOLE = 0, /* Brown-Conrady: radial, tangential, rational, thin prism, tilted */
  RV_LENS_FISHEYE = 1, /* equidistant, 4 coefficients (Kannala-Brandt) */
} RvLens;

/* One camera. Pixel centers have integer coordinates; (0, 0) is the first pixel. */
typedef struct RvCalibrationView {
  int width, height;     /* px of the images it was calibrated with; 0: the file does not specify */
  RvLens lens;           /* never RV_LENS_AUTO */
  double fx, fy, cx, cy; /* px */
  double distortion[14]; /* pinhole: k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4 tx ty; fisheye: k1..k4 */
  double rotation[9];    /* rectifying rotation, row by row (has_rectification) */
  double projection[12]; /* of the rectified camera, 3 x 4, row by row (has_rectification) */
} RvCalibrationView;

/* A stereo camera: rectification, pose or both are set. */
typedef struct RvCalibration {
  RvCalibrationView view[2];          /* left, right */
  int has_rectification;              /* rotation and projection of both views are set */
  int rectified_width;                /* px of the images that `projection` is for; 0: those of */
  int rectified_height;               /* `view` */
  int has_pose;                       /* rotation and translation are set: a point X of the */
  double rotation[9], translation[3]; /* left camera is R X + T in the right one; m. T.x < 0 */
  char format[16];                    /* "opencv", as above */
  char warning[256];                  /* a sentence, or empty: usable, but probably not as meant */
} RvCalibration;

typedef struct RvCalibrationOptions {
  int width, height;     /* px of one view of the frames; 0: unknown. Selects among the sizes of a
                          * file (ZED) and between raw and rectified images (KITTI raw) */
  int pair;              /* -1: color of KITTI, else the first; 0..: cameras 2 n and 2 n + 1 of
                          * KITTI, n and n + 1 of Kalibr */
  RvLens lens;           /* RV_LENS_AUTO: 4 coefficients without a model name are pinhole */
  double baseline_scale; /* m per unit of length of the file's translation, on top of what the
                          * format defines; 1e-6..1e6; 1 */
  RvLog log;             /* silent */
} RvCalibrationOptions;

/* Bytes of a file in memory; `name` appears in messages. */
typedef struct RvCalibrationBytes {
  const char *name;
  const void *bytes;
  size_t size;
} RvCalibrationBytes;

/* Sets the defaults above, sizes unknown. */
RV_API void rv_calibration_options_init(RvCalibrationOptions *options);

/* Reads `path`, and `right_path` (NULL: none) for formats with a file per camera. Returns RV_ERR_IO
 * when a file cannot be read or is not a usable calibration, RV_ERR_ARG for invalid options or
 * NULL, RV_ERR_NO_MEMORY. After an error *out is cleared. */
RV_API RvStatus rv_calibration_read(RvCalibration *out, const char *path, const char *right_path,
                                    const RvCalibrationOptions *options);

/* Parses the contents of one or two files (count 1 or 2). Errors as of rv_calibration_read. */
RV_API RvStatus rv_calibration_parse(RvCalibration *out, const RvCalibrationBytes *files, int count,
                                     const RvCalibrationOptions *options);

/* Converts *calibration to views of width x height px: the same aspect ratio within 0.5 % is
 * scaled, f' = f s, c' = (c + 0.5) s - 0.5; another one is RV_ERR_ARG. A calibration without sizes
 * gets this one, with a warning unless the principal points are near its center. Checks focal
 * lengths and principal points against the size. */
RV_API RvStatus rv_calibration_fit(RvCalibration *calibration, int width, int height,
                                   const RvLog *log);

#ifdef __cplusplus
}
#endif
#endif
