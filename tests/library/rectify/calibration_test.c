/* SPDX-License-Identifier: MIT */
/* calibration_test.c: the files of calibration_files_tool.py all describe the same camera; broken ones are errors
 * that name file, line and what was expected.
 *
 *   calibration_test FOLDER */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rectify/calibration.h"

static int checks, failures;
static char last_line[600];
static int lines;

static void take_line(void *user, const char *text) {
  (void)user;
  lines++;
  snprintf(last_line, sizeof last_line, "%s", text);
}

static void expect(int condition, const char *name, const char *what) {
  checks++;
  if (condition)
    return;
  failures++;
  printf("FAIL %s: %s (log: %s)\n", name, what, last_line);
}

static RvCalibrationOptions options_of(int width, int height) {
  RvCalibrationOptions o;
  rv_calibration_options_init(&o);
  o.width = width;
  o.height = height;
  o.log = (RvLog){take_line, NULL};
  return o;
}

/* --- The camera of calibration_files_tool.py --------------------------------------------------------------- */

static const double camera[2][4] = {{520.5, 521.25, 318.25, 236.75},
                                    {519.75, 520.25, 322.5, 241.125}};
static const double distortion[2][4] = {{-0.28125, 0.09375, 0.0005, -0.00025},
                                        {-0.27, 0.08, -0.0004, 0.0003}};
static const double translation[3] = {-0.12, 0.0008, -0.0011};
static const double rotation_vector[3] = {0.004, -0.007, 0.003};

static int near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance;
}

static void expect_intrinsics(const char *name, const RvCalibration *c, double scale, double dx,
                              double dy) {
  for (int v = 0; v < 2; v++) {
    const RvCalibrationView *view = &c->view[v];
    expect(near(view->fx, scale * camera[v][0], 1e-9) && near(view->fy, scale * camera[v][1], 1e-9),
           name, "focal lengths differ");
    expect(near(view->cx, scale * (camera[v][2] + dx), 1e-9) &&
               near(view->cy, scale * (camera[v][3] + dy), 1e-9),
           name, "principal points differ");
    for (int i = 0; i < 14; i++)
      expect(view->distortion[i] == (i < 4 ? distortion[v][i] : 0), name, "distortion differs");
    expect(view->lens == RV_LENS_PINHOLE, name, "lens is not pinhole");
  }
}

/* The rotation vector of the camera from the matrix: for a small angle the antisymmetric part. */
static void expect_pose(const char *name, const RvCalibration *c) {
  const double *r = c->rotation;
  const double half[3] = {(r[7] - r[5]) / 2, (r[2] - r[6]) / 2, (r[3] - r[1]) / 2};
  const double angle =
      sqrt(rotation_vector[0] * rotation_vector[0] + rotation_vector[1] * rotation_vector[1] +
           rotation_vector[2] * rotation_vector[2]);
  expect(c->has_pose, name, "has no pose");
  for (int i = 0; i < 3; i++) {
    expect(near(half[i], rotation_vector[i] * sin(angle) / angle, 1e-10), name, "rotation differs");
    expect(near(c->translation[i], translation[i], 1e-10), name, "translation differs");
  }
}

/* Rectification of the OpenCV file, which the others must have too. */
static RvCalibration opencv;

static void expect_rectification(const char *name, const RvCalibration *c, int has_rotation) {
  expect(c->has_rectification, name, "has no rectification");
  for (int v = 0; v < 2; v++) {
    for (int i = 0; i < 9; i++)
      expect(near(c->view[v].rotation[i], has_rotation ? opencv.view[v].rotation[i] : i % 4 == 0,
                  1e-12),
             name, "rectifying rotation differs");
    for (int i = 0; i < 12; i++)
      expect(near(c->view[v].projection[i], opencv.view[v].projection[i], 1e-9), name,
             "projection differs");
  }
}

/* --- Files that are right ---------------------------------------------------------------------- */

enum { POSE = 1, RECTIFICATION = 2, RECTIFIED = 4, SIZED = 8, RAW = 16 };

static const struct {
  const char *file, *right, *format;
  int facts, width, height;
  double dx, dy; /* of the principal point */
} files[] = {
    {"opencv.yml", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"opencv5.yml", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"opencv.xml", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"opencv.json", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"opencv_base64.yml", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"opencv_base64.xml", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"opencv_base64.json", NULL, "opencv", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"intrinsics.yml", "extrinsics.yml", "opencv", POSE | RECTIFICATION, 0, 0, 0, 0},
    {"orb_slam.yaml", NULL, "opencv", RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"plain.yaml", NULL, "plain", POSE | RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"ros_left.yaml", "ros_right.yaml", "ros", RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"ros.ini", NULL, "ros-ini", RECTIFICATION | SIZED, 0, 0, 0, 0},
    {"kalibr.yaml", NULL, "kalibr", POSE | SIZED, 0, 0, 0, 0},
    {"euroc_left.yaml", "euroc_right.yaml", "euroc", POSE | SIZED, 0, 0, 0, 0},
    {"zed.conf", NULL, "zed", POSE, 672, 376, 16, -52},
    {"depthai.json", NULL, "depthai", POSE | SIZED, 0, 0, 0, 0},
    {"kitti_raw.txt", NULL, "kitti-raw", POSE | RECTIFICATION | SIZED | RAW, 640, 480, 0, 0},
    {"kitti.txt", NULL, "kitti", RECTIFIED, 0, 0, 0, 0},
    {"kitti_odometry.txt", NULL, "kitti", RECTIFIED, 0, 0, 0, 0},
    {"middlebury.txt", NULL, "middlebury", RECTIFIED | SIZED, 0, 0, 0, 0},
    {"kitti_raw.txt", NULL, "kitti-raw", RECTIFIED, 622, 466, 0, 0},
};

static RvStatus read_file(RvCalibration *c, const char *folder, const char *file, const char *right,
                          const RvCalibrationOptions *options) {
  char path[2][512];
  snprintf(path[0], sizeof path[0], "%s/%s", folder, file);
  snprintf(path[1], sizeof path[1], "%s/%s", folder, right ? right : "");
  lines = 0;
  last_line[0] = 0;
  return rv_calibration_read(c, path[0], right ? path[1] : NULL, options);
}

static void test_files(const char *folder) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const RvCalibrationOptions options = options_of(files[i].width, files[i].height);
    const char *name = files[i].file;
    const int facts = files[i].facts;
    RvCalibration c;
    const RvStatus status = read_file(&c, folder, name, files[i].right, &options);
    expect(status == RV_OK && lines == 0, name, "cannot be read");
    if (status != RV_OK)
      continue;
    if (i == 0)
      opencv = c;
    expect(strcmp(c.format, files[i].format) == 0, name, "was taken for another format");
    expect(c.warning[0] == 0, name, c.warning);
    if (!(facts & RECTIFIED))
      expect_intrinsics(name, &c, 1, files[i].dx, files[i].dy);
    if (facts & (POSE | RECTIFICATION))
      expect_pose(name, &c);
    if (facts & (RECTIFICATION | RECTIFIED))
      expect_rectification(name, &c, facts & RECTIFICATION);
    if (facts & SIZED)
      expect(c.view[0].width == 640 && c.view[1].height == 480, name, "size differs");
    if (facts & RAW)
      expect(c.rectified_width == 622 && c.rectified_height == 466, name, "rectified size differs");
  }
}

static void test_options(const char *folder) {
  RvCalibrationOptions options = options_of(0, 0);
  RvCalibration c;
  options.baseline_scale = 0.5;
  expect(read_file(&c, folder, "opencv.yml", NULL, &options) == RV_OK &&
             near(c.translation[0], -0.06, 1e-12) &&
             near(c.view[1].projection[3], opencv.view[1].projection[3] / 2, 1e-9),
         "baseline_scale", "does not scale");
  options.baseline_scale = 1000;
  expect(read_file(&c, folder, "opencv.yml", NULL, &options) == RV_OK &&
             strstr(c.warning, "probably in mm"),
         "baseline_scale", "a baseline of 120 m is no warning");
  options = options_of(0, 0);
  options.pair = 1;
  expect(read_file(&c, folder, "kitti.txt", NULL, &options) == RV_OK, "pair", "1 of kitti");
  expect(read_file(&c, folder, "kitti_odometry.txt", NULL, &options) == RV_ERR_IO &&
             strstr(last_line, "pair 1 does not exist"),
         "pair", "1 of two cameras");
  expect(read_file(&c, folder, "kalibr.yaml", NULL, &options) == RV_ERR_IO &&
             strstr(last_line, "cam2 is missing"),
         "pair", "cam1 and cam2 of two cameras");
  options = options_of(641, 377);
  expect(read_file(&c, folder, "zed.conf", NULL, &options) == RV_ERR_IO &&
             strstr(last_line, "641 x 377") && strstr(last_line, "1280 x 720"),
         "zed", "a size that it has not");
}

static void test_fit(const char *folder) {
  const RvCalibrationOptions options = options_of(0, 0);
  const RvLog log = options.log;
  RvCalibration c, d;
  expect(read_file(&c, folder, "opencv.yml", NULL, &options) == RV_OK, "fit", "opencv.yml");
  d = c;
  expect(rv_calibration_fit(&d, 320, 240, &log) == RV_OK && near(d.view[0].fx, 260.25, 1e-9) &&
             near(d.view[0].cx, (318.25 + 0.5) / 2 - 0.5, 1e-9) &&
             near(d.view[1].projection[3], c.view[1].projection[3] / 2, 1e-9),
         "fit", "half the size");
  d = c;
  expect(rv_calibration_fit(&d, 641, 480, &log) == RV_OK, "fit", "0.2 % of aspect ratio");
  d = c;
  expect(rv_calibration_fit(&d, 640, 360, &log) == RV_ERR_ARG && strstr(last_line, "640 x 480") &&
             strstr(last_line, "640 x 360") && memcmp(&c, &d, sizeof c) == 0,
         "fit", "another aspect ratio");
  expect(read_file(&c, folder, "kitti.txt", NULL, &options) == RV_OK &&
             rv_calibration_fit(&c, 640, 480, &log) == RV_OK && c.warning[0] == 0,
         "fit", "no size in the file");
  expect(read_file(&c, folder, "kitti.txt", NULL, &options) == RV_OK &&
             rv_calibration_fit(&c, 1000, 500, &log) == RV_OK &&
             strstr(c.warning, "calibrated for"),
         "fit", "no size in the file, another one");
  expect(read_file(&c, folder, "kitti.txt", NULL, &options) == RV_OK &&
             rv_calibration_fit(&c, 1920, 1080, &log) == RV_ERR_ARG,
         "fit", "no size in the file, three times too large");
}

/* --- Files that are wrong ---------------------------------------------------------------------- */

#define MATRIX(name) name ": [500, 0, 320, 0, 500, 240, 0, 0, 1]\n"
#define LENS(name) name ": [0, 0, 0, 0, 0]\n"
#define CAMERAS MATRIX("M1") LENS("D1") MATRIX("M2") LENS("D2")
#define ONE "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
#define POSE_OK ONE "T: [-0.1, 0, 0]\n"

static const struct {
  const char *text, *message; /* the log must contain it */
} bad[] = {
    {"", "the file is empty"},
    {" \n\n", "the file is empty"},
    {"hello", "not a known calibration format"},
    {"\x1f\x8b\x08", "gzip"},
    {"M1: [1,\n\x01", ":2: is not a text file"},
    {"<html></html>", "not a known calibration format"},
    {"{\"a\": 1}", "not a known calibration format"},
    {CAMERAS, "R and T are missing"},
    {MATRIX("M1") LENS("D1") POSE_OK, "M2 is missing"},
    {MATRIX("M1") MATRIX("M2") POSE_OK, "D1 is missing"},
    {"M1: [500, 0, 320]\n" LENS("D1") MATRIX("M2") LENS("D2") POSE_OK, ":1: M1 has 3 numbers, 9"},
    {MATRIX("M1") "D1: [1, 2, 3]\n" MATRIX("M2") LENS("D2") POSE_OK, ":2: D1 has 3 numbers"},
    {CAMERAS "R: [1, 0]\nT: [-0.1, 0, 0]\n", ":5: R has 2 numbers"},
    {CAMERAS ONE "T: [-0.1, 0]\n", ":6: T has 2 numbers, 3 are expected"},
    {CAMERAS "R: [2, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\n", "is not a rotation"},
    {CAMERAS "R: [-1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\n", "reflection"},
    {CAMERAS ONE "T: [0, 0, 0]\n", "the baseline is 0"},
    {CAMERAS ONE "T: [0.01, 0.1, 0]\n", "videoflip"},
    {"M1: [500, 0, .NaN, 0, 500, 240, 0, 0, 1]\n" LENS("D1") MATRIX("M2") LENS("D2") POSE_OK,
     ":1: M1: number 3 is not finite"},
    {MATRIX("M1") "D1: [0, 0, 0, .Inf, 0]\n" MATRIX("M2") LENS("D2") POSE_OK,
     ":2: D1: number 4 is not finite"},
    {"M1: [-500, 0, 320, 0, 500, 240, 0, 0, 1]\n" LENS("D1") MATRIX("M2") LENS("D2") POSE_OK,
     "must be positive"},
    {"M1: [500, 9, 320, 0, 500, 240, 0, 0, 1]\n" LENS("D1") MATRIX("M2") LENS("D2") POSE_OK,
     ":1: M1 has a skew of 9"},
    {"M1: [500, 0, 0, 0, 500, 0, 320, 240, 1]\n" LENS("D1") MATRIX("M2") LENS("D2") POSE_OK,
     "must be a camera matrix"},
    {CAMERAS POSE_OK "width: 0\nheight: 480\n", ":7: width is 0"},
    {CAMERAS POSE_OK "distortion_model: mei\n", ":7: distortion model \"mei\" is not supported"},
    {"M1: [500, 0, 320, 0, 500, 240, 0, 0, 1\n", "expected ',' or ']', found the end"},
    {"M1: [500, 0 320]\n", ":1: M1 has 1 numbers, 9 are expected"},
    {"M1: 5\n  D1: 6\n", ":2: unexpected indentation"},
    {"M1:\n\t- 5\n", ":2: a tab"},
    {"M1: \"5\nD1: 3\n", ":1: expected \" at the end"},
    {"M1: 1\nnonsense\n", ":2: expected 'key: value', found \"nonsense\""},
    {"M1: &a [1, 2]\nD1: *a\n", ":1: YAML anchors"},
    {"M1: 1\nb: [*a, *a]\n", ":2: YAML anchors"},
    {"M1: [[[[[[[[[[1]]]]]]]]]]\n", "nested too deep"},
    {"%YAML:1.0\na:\n b:\n  c:\n   d:\n    e:\n     f:\n      g:\n       h:\n        i:\n         "
     "j: 1\n",
     "nested too deep"},
    {"%YAML:1.0\n---\nM1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ 1., 2. ]\n",
     ":7: M1 has 2 numbers, rows x cols is 9"},
    {"%YAML:1.0\ncamera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
     "   data: [ 5., 0., 3., 0., 5., 2., 0., 0., 1. ]\n",
     "holds one camera"},
    {"%YAML:1.0\nM1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: !!binary |\n"
     "      MWQgICAg\n",
     ":6: M1.data: expected 9 numbers in base64"},
    {"<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a "
     "\"aa\">]>\n<opencv_storage></opencv_storage>",
     ":2: XML document types"},
    {"<opencv_storage>\n<M1>1 2\n</M2></opencv_storage>", ":3: expected </M1>"},
    {"<opencv_storage>\n<M1>", "expected </M1>, found the end of the file"},
    {"<opencv_storage></opencv_storage>", "M1 is missing"},
    {"{\"type_id\": \"opencv-matrix\", \"M1\": }", ":1: expected a value, found \"}\""},
    {"{\"cameraData\": [[0, {}]]}", "leftCameraSocket is missing"},
    {"cam0:\n  camera_model: omni\n  intrinsics: [1]\n", ":2: cam0.camera_model is \"omni\""},
    {"camera_matrix:\n  rows: 3\nprojection_matrix:\n  rows: 3\n",
     "holds one camera: give the file"},
    {"sensor_type: camera\nT_BS:\n  rows: 4\n", "holds one camera: give the file"},
    {"P0: 1 2 3\nP1: 1 2 3\n", ":1: P0 has 3 numbers, 12 are expected"},
    {"P0: a b\n", ":1: P0: expected numbers, found \"a b\""},
    {"1 2 3 4 5 6 7 8 9 10 11 12\n", "P1 is missing"},
    {"1 2\n3 4\n5 6\n", ":3: expected \"key: numbers\""},
    {"cam0=[1 2 3]\ncam1=[1]\n", "baseline is missing"},
    {"[STEREO]\nBaseline\n", ":2: expected \"key=value\""},
    {"[image]\nwidth\n640\n[x]\ncamera matrix\n1 2 3\n", "holds one camera"},
    {"P_rect_00: 1\nS_rect_00: 5 5\n", "S_00 is missing"},
};

static void test_bad(void) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const RvCalibrationOptions options = options_of(0, 0);
    const RvCalibrationBytes file = {"cal.yml", bad[i].text, strlen(bad[i].text)};
    RvCalibration c;
    char name[80];
    snprintf(name, sizeof name, "bad %d \"%.40s\"", (int)i, bad[i].text);
    lines = 0;
    last_line[0] = 0;
    const RvStatus status = rv_calibration_parse(&c, &file, 1, &options);
    expect(status == RV_ERR_IO, name, "is accepted");
    expect(lines == 1, name, "logs not one line");
    expect(strstr(last_line, "calibration: cal.yml") == last_line, name, "does not name the file");
    expect(strstr(last_line, bad[i].message) != NULL, name, bad[i].message);
  }
}

/* Every beginning of a file, and every file with one byte changed, ends without harm. */
static void test_damaged(const char *folder) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, files[i].file);
    FILE *stream = fopen(path, "rb");
    static char text[16384];
    const size_t size = stream ? fread(text, 1, sizeof text, stream) : 0;
    expect(size > 0, files[i].file, "cannot be read");
    if (stream)
      fclose(stream);
    const RvCalibrationOptions options = options_of(files[i].width, files[i].height);
    for (size_t n = 0; n < size; n++) {
      char *copy = malloc(n + 1); /* of that size, for the address sanitizer */
      memcpy(copy, text, n);
      const RvCalibrationBytes cut = {"cut", copy, n};
      RvCalibration c;
      rv_calibration_parse(&c, &cut, 1, &options);
      free(copy);
      const char kept = text[n];
      const RvCalibrationBytes changed = {"changed", text, size};
      text[n] = "]}:\n -\"9<>.e"[n % 12];
      rv_calibration_parse(&c, &changed, 1, &options);
      text[n] = kept;
      checks++;
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: calibration_test FOLDER\n");
    return 2;
  }
  test_files(argv[1]);
  test_options(argv[1]);
  test_fit(argv[1]);
  test_bad();
  test_damaged(argv[1]);
  printf("calibration: %d checks, %d failed\n", checks, failures);
  return failures > 0;
}
