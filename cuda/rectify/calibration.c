/* SPDX-License-Identifier: MIT */
/* calibration.c: reads files, recognizes their format, and finishes what its reader found. */
#include "rectify/calibration.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rectify/calib_check.h"
#include "rectify/calib_fields.h"

/* --- Recognition ----------------------------------------------------------------------------- */

typedef struct Text {
  const char *bytes;
  size_t size;
} Text;

static int contains(Text text, const char *wanted) {
  const size_t length = strlen(wanted);
  const char *at = text.bytes, *end = text.bytes + text.size;
  while ((size_t)(end - at) >= length && (at = memchr(at, *wanted, (size_t)(end - at)))) {
    if ((size_t)(end - at) >= length && memcmp(at, wanted, length) == 0)
      return 1;
    at++;
  }
  return 0;
}

/* 1 when a line begins with the text, after blanks. */
static int has_line(Text text, const char *wanted) {
  const size_t length = strlen(wanted);
  const char *at = text.bytes, *end = text.bytes + text.size;
  while (at < end) {
    while (at < end && (*at == ' ' || *at == '\t'))
      at++;
    if ((size_t)(end - at) >= length && memcmp(at, wanted, length) == 0)
      return 1;
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : end;
  }
  return 0;
}

static char first_byte(Text text) {
  for (size_t i = 0; i < text.size; i++)
    if (!strchr(" \t\r\n", text.bytes[i]))
      return text.bytes[i];
  return 0;
}

/* Only numbers: rows of projection matrices without names. */
static int is_numeric(Text text) {
  for (size_t i = 0; i < text.size; i++)
    if (!text.bytes[i] || !strchr("0123456789+-.eE \t\r\n", text.bytes[i]))
      return 0;
  return first_byte(text) != 0;
}

static const CalibFormat formats[] = {
    {"opencv", "an OpenCV XML file", rv_calib_parse_xml, rv_calib_read_opencv, 2},
    {"opencv", "an OpenCV JSON file", rv_calib_parse_json, rv_calib_read_opencv, 2},
    {"opencv", "an OpenCV YAML file", rv_calib_parse_yaml, rv_calib_read_opencv, 2},
    {"plain", "a YAML file with M1, D1, ...", rv_calib_parse_yaml, rv_calib_read_opencv, 2},
    {"depthai", "a DepthAI JSON file", rv_calib_parse_json, rv_calib_read_depthai, 2},
    {"kalibr", "a Kalibr camchain", rv_calib_parse_yaml, rv_calib_read_kalibr, 2},
    {"ros", "a ROS camera_info file", rv_calib_parse_yaml, rv_calib_read_ros, 1},
    {"euroc", "a EuRoC sensor.yaml", rv_calib_parse_yaml, rv_calib_read_euroc, 1},
    {"kitti-raw", "a KITTI calib_cam_to_cam.txt", rv_calib_parse_lines, rv_calib_read_kitti_raw, 2},
    {"kitti", "a KITTI calib.txt", rv_calib_parse_lines, rv_calib_read_kitti, 2},
    {"middlebury", "a Middlebury calib.txt", rv_calib_parse_assignments, rv_calib_read_middlebury,
     2},
    {"zed", "a ZED .conf", rv_calib_parse_assignments, rv_calib_read_zed, 2},
    {"ros-ini", "a ROS INI file", rv_calib_parse_ros_ini, rv_calib_read_ros_ini, 0},
};
enum {
  OPENCV_XML,
  OPENCV_JSON,
  OPENCV_YAML,
  PLAIN,
  DEPTHAI,
  KALIBR,
  ROS,
  EUROC,
  KITTI_RAW,
  KITTI,
  MIDDLEBURY,
  ZED,
  ROS_INI,
  UNKNOWN
};

/* First match wins. */
static int recognize(Text text) {
  const char first = first_byte(text);
  if (first == '<')
    return contains(text, "<opencv_storage") ? OPENCV_XML : UNKNOWN;
  if (first == '{')
    return contains(text, "\"cameraData\"")      ? DEPTHAI
           : contains(text, "\"opencv-matrix\"") ? OPENCV_JSON
                                                 : UNKNOWN;
  if (has_line(text, "%YAML:1.0") || contains(text, "!!opencv-matrix"))
    return OPENCV_YAML;
  if (has_line(text, "cam0:") && contains(text, "camera_model:"))
    return KALIBR;
  if (has_line(text, "camera_matrix:") && has_line(text, "projection_matrix:"))
    return ROS;
  if (has_line(text, "sensor_type:") && has_line(text, "T_BS:"))
    return EUROC;
  if (has_line(text, "M1:") || has_line(text, "K1:") || has_line(text, "LEFT.K:") ||
      has_line(text, "R1:"))
    return PLAIN;
  if (has_line(text, "P_rect_") && has_line(text, "S_rect_"))
    return KITTI_RAW;
  if (has_line(text, "P0:") || is_numeric(text))
    return KITTI;
  if (has_line(text, "cam0=[") || has_line(text, "cam0 = ["))
    return MIDDLEBURY;
  if (has_line(text, "[LEFT_CAM_") || has_line(text, "[STEREO]"))
    return ZED;
  return has_line(text, "[image]") && contains(text, "camera matrix") ? ROS_INI : UNKNOWN;
}

/* --- One or two files ------------------------------------------------------------------------ */

static RvStatus check_text(const CalibDocument *doc) {
  const uint8_t *bytes = (const uint8_t *)doc->bytes;
  if (doc->size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
    return rv_calib_error(doc, 0, "is packed with gzip: unpack it");
  if (doc->size > CALIB_BYTES_MAX)
    return rv_calib_error(doc, 0, "has %zu bytes, at most %d are accepted", doc->size,
                          CALIB_BYTES_MAX);
  int line = 1;
  for (size_t i = 0; i < doc->size; i++) {
    line += bytes[i] == '\n';
    if (bytes[i] < 32 && !strchr("\t\r\n\f", bytes[i]))
      return rv_calib_error(doc, line, "is not a text file: it has the byte 0x%02x", bytes[i]);
  }
  return RV_OK;
}

static RvStatus open_document(CalibDocument **doc, const RvCalibrationBytes *file, const RvLog *log,
                              int *format) {
  static const char mark[] = "\xef\xbb\xbf";
  const char *bytes = file->bytes;
  size_t size = file->size;
  if (size >= 3 && memcmp(bytes, mark, 3) == 0) {
    bytes += 3;
    size -= 3;
  }
  const CalibDocument header = {.name = file->name, .bytes = bytes, .size = size, .log = log};
  RV_TRY(check_text(&header));
  const Text text = {bytes, size};
  if (!first_byte(text))
    return rv_calib_error(&header, 0, "the file is empty");
  *format = recognize(text);
  if (*format == UNKNOWN)
    return rv_calib_error(&header, 0,
                          "is not a known calibration format: expected OpenCV (YAML, XML, JSON), "
                          "ROS camera_info, Kalibr, EuRoC, KITTI, Middlebury, ZED or DepthAI");
  *doc = rv_calib_document_new(file->name, bytes, size, log);
  if (!*doc) {
    rv_log(log, "calibration: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  return formats[*format].parse(*doc);
}

static int reads_two_as_one(int format) {
  return format == OPENCV_XML || format == OPENCV_JSON || format == OPENCV_YAML || format == PLAIN;
}

static RvStatus check_pairing(const CalibInput *input, const int found[2]) {
  const CalibFormat *format = &formats[found[0]];
  if (input->count == 1) {
    if (format->cameras == 1)
      return rv_calib_error(input->docs[0], 0,
                            "is %s, which holds one camera: give the file of the right camera as "
                            "calibration-right",
                            format->title);
    return RV_OK;
  }
  if (format->cameras >= 2 && !reads_two_as_one(found[0]))
    return rv_calib_error(input->docs[1], 0,
                          "is not needed: %s is %s, which holds both cameras; unset "
                          "calibration-right",
                          input->docs[0]->name, format->title);
  if (found[0] != found[1] && !(reads_two_as_one(found[0]) && reads_two_as_one(found[1])))
    return rv_calib_error(input->docs[1], 0, "is %s, but %s is %s", formats[found[1]].title,
                          input->docs[0]->name, format->title);
  return RV_OK;
}

static RvStatus read_documents(CalibInput *input, const RvCalibrationBytes *files,
                               RvCalibration *out) {
  int found[2] = {UNKNOWN, UNKNOWN};
  for (int i = 0; i < input->count; i++)
    RV_TRY(open_document(&input->docs[i], &files[i], &input->options->log, &found[i]));
  RV_TRY(check_pairing(input, found));
  snprintf(out->format, sizeof out->format, "%s", formats[found[0]].name);
  RV_TRY(formats[found[0]].read(input, out));
  return rv_calib_finish(input, out);
}

/* --- Public ---------------------------------------------------------------------------------- */

void rv_calibration_options_init(RvCalibrationOptions *options) {
  if (options)
    *options = (RvCalibrationOptions){.pair = -1, .lens = RV_LENS_AUTO, .baseline_scale = 1};
}

static RvStatus check_options(const RvCalibrationOptions *o) {
  const RvLog *log = &o->log;
  RV_REQUIRE(log,
             o->width >= 0 && o->width <= RV_MAX_SIDE && o->height >= 0 && o->height <= RV_MAX_SIDE,
             "calibration: the view size is %d x %d px, must be 0 to %d each", o->width, o->height,
             RV_MAX_SIDE);
  RV_REQUIRE(log, o->pair >= -1 && o->pair <= 63, "calibration: pair is %d, must be -1 to 63",
             o->pair);
  RV_REQUIRE(log, o->lens >= RV_LENS_AUTO && o->lens <= RV_LENS_FISHEYE,
             "calibration: lens is %d, must be -1 (auto), 0 (pinhole) or 1 (fisheye)",
             (int)o->lens);
  RV_REQUIRE(log, o->baseline_scale >= 1e-6 && o->baseline_scale <= 1e6,
             "calibration: baseline_scale is %g, must be 1e-6 to 1e6", o->baseline_scale);
  return RV_OK;
}

RvStatus rv_calibration_parse(RvCalibration *out, const RvCalibrationBytes *files, int count,
                              const RvCalibrationOptions *options) {
  if (!out || !files || !options)
    return RV_ERR_ARG;
  memset(out, 0, sizeof *out);
  RV_TRY(check_options(options));
  RV_REQUIRE(&options->log, count == 1 || count == 2,
             "calibration: the number of files is %d, must be 1 or 2", count);
  for (int i = 0; i < count; i++)
    RV_REQUIRE(&options->log, files[i].name && (files[i].bytes || !files[i].size),
               "calibration: name and bytes of file %d must not be NULL", i);
  CalibInput input = {.count = count, .options = options};
  const RvStatus status = read_documents(&input, files, out);
  for (int i = 0; i < count; i++)
    rv_calib_document_free(&input.docs[i]);
  if (status != RV_OK)
    memset(out, 0, sizeof *out);
  return status;
}

/* Up to CALIB_BYTES_MAX + 1 bytes, so that a longer file is seen to be one. */
static RvStatus read_file(const char *path, RvCalibrationBytes *file, const RvLog *log) {
  FILE *stream = fopen(path, "rb");
  if (!stream) {
    rv_log(log, "calibration: %s cannot be opened: %s", path, strerror(errno));
    return RV_ERR_IO;
  }
  char *bytes = rv_memory_alloc(CALIB_BYTES_MAX + 1, RV_CPU);
  if (!bytes) {
    fclose(stream);
    rv_log(log, "calibration: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  *file = (RvCalibrationBytes){.name = path, .bytes = bytes};
  file->size = fread(bytes, 1, CALIB_BYTES_MAX + 1, stream);
  const int failed = ferror(stream) ? errno : 0;
  fclose(stream);
  if (!failed)
    return RV_OK;
  rv_log(log, "calibration: %s cannot be read: %s", path, strerror(failed));
  return RV_ERR_IO;
}

RvStatus rv_calibration_read(RvCalibration *out, const char *path, const char *right_path,
                             const RvCalibrationOptions *options) {
  if (!out || !path || !options)
    return RV_ERR_ARG;
  memset(out, 0, sizeof *out);
  const char *const paths[2] = {path, right_path};
  const int count = right_path ? 2 : 1;
  RvCalibrationBytes files[2] = {{0}};
  RvStatus status = RV_OK;
  for (int i = 0; i < count && status == RV_OK; i++)
    status = read_file(paths[i], &files[i], &options->log);
  if (status == RV_OK)
    status = rv_calibration_parse(out, files, count, options);
  for (int i = 0; i < count; i++)
    rv_memory_free((void *)(uintptr_t)files[i].bytes, RV_CPU);
  return status;
}
