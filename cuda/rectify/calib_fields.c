/* SPDX-License-Identifier: MIT */
/* calib_fields.c: numbers, matrices and camera parameters out of the entries of a calibration file.
 */
#include "rectify/calib_fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rectify/rectify_math.h"

int rv_calib_line(const CalibDocument *doc, const char *key) {
  const CalibEntry *entry = rv_calib_find(doc, key);
  return entry ? entry->line : 0;
}

void rv_calib_warn(RvCalibration *out, const char *format, ...) {
  const size_t used = strlen(out->warning), room = sizeof out->warning - used;
  const int space = used > 0 && room > 1;
  if (space)
    out->warning[used] = ' ';
  va_list args;
  va_start(args, format);
  vsnprintf(out->warning + used + space, room - (size_t)space, format, args);
  va_end(args);
}

/* --- Base64 matrices of OpenCV ---------------------------------------------------------------- */

#define BASE64_HEADER 24 /* bytes before the values: the type, padded with blanks */

static int base64_digit(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

static size_t base64_decode(const char *text, size_t length, uint8_t *out, size_t capacity) {
  size_t bytes = 0;
  uint32_t bits = 0;
  for (size_t i = 0, digits = 0; i < length; i++) {
    const int digit = base64_digit(text[i]);
    if (digit < 0)
      continue;
    bits = bits << 6 | (uint32_t)digit;
    if (++digits % 4 != 1 && bytes < capacity)
      out[bytes++] = (uint8_t)(bits >> (digits % 4 == 2 ? 4 : digits % 4 == 3 ? 2 : 0));
  }
  return bytes;
}

/* Values of "key.data" as base64 of little-endian numbers of type "key.dt". */
static RvStatus base64_numbers(const CalibDocument *doc, const CalibEntry *data,
                               const CalibEntry *type, int wanted, double *out) {
  static const char prefix[] = "$base64$";
  uint8_t bytes[BASE64_HEADER + 16 * sizeof(double)];
  const char *text = data->text;
  size_t length = data->length;
  if (length >= sizeof prefix - 1 && memcmp(text, prefix, sizeof prefix - 1) == 0) {
    text += sizeof prefix - 1;
    length -= sizeof prefix - 1;
  }
  const int is_double = rv_calib_is(type, "d");
  if (!is_double && !rv_calib_is(type, "f"))
    return rv_calib_error(doc, data->line, "%s: base64 data must have dt d or f", data->key);
  const size_t size = is_double ? sizeof(double) : sizeof(float);
  const size_t need = BASE64_HEADER + (size_t)wanted * size;
  if (need > sizeof bytes || base64_decode(text, length, bytes, sizeof bytes) < need)
    return rv_calib_error(doc, data->line, "%s: expected %d numbers in base64", data->key, wanted);
  for (int i = 0; i < wanted; i++) {
    const uint8_t *at = bytes + BASE64_HEADER + (size_t)i * size;
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++)
      bits |= (uint64_t)at[k] << (8 * k);
    if (is_double) {
      memcpy(&out[i], &bits, sizeof out[i]);
    } else {
      const uint32_t low = (uint32_t)bits;
      float value;
      memcpy(&value, &low, sizeof value);
      out[i] = value;
    }
  }
  return RV_OK;
}

/* --- Numbers --------------------------------------------------------------------------------- */

/* Entry "key.name". */
static const CalibEntry *child(const CalibDocument *doc, const char *key, const char *name) {
  char path[CALIB_KEY_MAX];
  const int length = snprintf(path, sizeof path, "%s.%s", key, name);
  return length > 0 && (size_t)length < sizeof path ? rv_calib_find(doc, path) : NULL;
}

/* Rows times columns of "key", 0 when they are not there. */
static RvStatus shape_of(const CalibDocument *doc, const char *key, int *cells) {
  const CalibEntry *rows = child(doc, key, "rows"), *cols = child(doc, key, "cols");
  *cells = 0;
  if (!rows && !cols)
    return RV_OK;
  const double r = rows && rows->count == 1 ? doc->numbers[rows->first] : 0;
  const double c = cols && cols->count == 1 ? doc->numbers[cols->first] : 0;
  if (!(r >= 0 && c >= 0 && r * c <= CALIB_NUMBERS_MAX && r == floor(r) && c == floor(c)))
    return rv_calib_error(doc, rows ? rows->line : cols->line,
                          "%s: rows and cols must be two numbers of at least 0", key);
  *cells = (int)(r * c);
  return RV_OK;
}

RvStatus rv_calib_numbers(const CalibDocument *doc, const char *key, double *out, int capacity,
                          int *count) {
  const CalibEntry *entry = rv_calib_find(doc, key), *data = child(doc, key, "data");
  int cells = 0;
  *count = 0;
  if (data)
    RV_TRY(shape_of(doc, key, &cells));
  entry = data ? data : entry;
  if (!entry || (entry->text && !entry->length))
    return RV_OK;
  const int is_text = entry->text && !entry->count;
  const int found = is_text && data ? cells : (int)entry->count;
  if (is_text && !data)
    return rv_calib_error(doc, entry->line, "%s: expected numbers, found \"%.*s\"", key,
                          entry->length < 40 ? (int)entry->length : 40, entry->text);
  if (found > capacity)
    return rv_calib_error(doc, entry->line, "%s has %d numbers, at most %d are expected", key,
                          found, capacity);
  if (data && cells != found && child(doc, key, "rows"))
    return rv_calib_error(doc, entry->line, "%s has %d numbers, rows x cols is %d", key, found,
                          cells);
  if (is_text)
    RV_TRY(base64_numbers(doc, entry, child(doc, key, "dt"), found, out));
  else
    memcpy(out, doc->numbers + entry->first, (size_t)found * sizeof *out);
  for (int i = 0; i < found; i++)
    if (!isfinite(out[i]))
      return rv_calib_error(doc, entry->line, "%s: number %d is not finite", key, i + 1);
  *count = found;
  return RV_OK;
}

RvStatus rv_calib_required(const CalibDocument *doc, const char *key, double *out, int count,
                           const char *meaning) {
  double values[16];
  int found;
  RV_TRY(rv_calib_numbers(doc, key, values, 16, &found));
  if (!found)
    return rv_calib_error(doc, 0, "%s is missing: expected %d numbers, %s", key, count, meaning);
  if (found != count)
    return rv_calib_error(doc, rv_calib_line(doc, key), "%s has %d numbers, %d are expected: %s",
                          key, found, count, meaning);
  memcpy(out, values, (size_t)count * sizeof *out);
  return RV_OK;
}

RvStatus rv_calib_side(const CalibDocument *doc, const char *key, int *out) {
  double value;
  int count;
  RV_TRY(rv_calib_numbers(doc, key, &value, 1, &count));
  if (!count)
    return RV_OK;
  if (!(value >= 1 && value <= RV_MAX_SIDE && value == floor(value)))
    return rv_calib_error(doc, rv_calib_line(doc, key), "%s is %g, must be an integer from 1 to %d",
                          key, value, RV_MAX_SIDE);
  *out = (int)value;
  return RV_OK;
}

/* --- Cameras --------------------------------------------------------------------------------- */

RvStatus rv_calib_set_matrix(const CalibDocument *doc, int line, const char *key, const double k[9],
                             RvCalibrationView *view) {
  if (k[3] != 0 || k[6] != 0 || k[7] != 0 || k[8] != 1)
    return rv_calib_error(doc, line, "%s must be a camera matrix fx 0 cx, 0 fy cy, 0 0 1", key);
  if (fabs(k[1]) > 1e-6 * fabs(k[0]))
    return rv_calib_error(doc, line, "%s has a skew of %g: only 0 is accepted", key, k[1]);
  view->fx = k[0];
  view->cx = k[2];
  view->fy = k[4];
  view->cy = k[5];
  return RV_OK;
}

/* The lens that a name of OpenCV, ROS, Kalibr or EuRoC stands for; 0 for an unknown one. */
static int lens_of(const CalibEntry *model, RvLens *lens, int *no_distortion) {
  static const char *const pinhole[] = {
      "plumb_bob", "radtan", "radial-tangential", "rational_polynomial", "thin_prism",
      "brown",     "pinhole"};
  static const char *const fisheye[] = {"equidistant", "fisheye", "kannala_brandt",
                                        "kannala_brandt4"};
  *no_distortion = rv_calib_is(model, "none") || rv_calib_is(model, "");
  *lens = RV_LENS_PINHOLE;
  if (*no_distortion)
    return 1;
  for (size_t i = 0; i < sizeof pinhole / sizeof *pinhole; i++)
    if (rv_calib_is(model, pinhole[i]))
      return 1;
  *lens = RV_LENS_FISHEYE;
  for (size_t i = 0; i < sizeof fisheye / sizeof *fisheye; i++)
    if (rv_calib_is(model, fisheye[i]))
      return 1;
  return 0;
}

RvStatus rv_calib_set_distortion(const CalibInput *input, const CalibDocument *doc, const char *key,
                                 const double *values, int count, const CalibEntry *model,
                                 RvCalibration *out, int view) {
  RvLens lens = RV_LENS_PINHOLE;
  int no_distortion = 0;
  if (model && !lens_of(model, &lens, &no_distortion))
    return rv_calib_error(doc, model->line,
                          "distortion model \"%.*s\" is not supported: expected plumb_bob, "
                          "rational_polynomial, radtan, equidistant or none",
                          model->length < 40 ? (int)model->length : 40,
                          model->text ? model->text : "");
  if (input->options->lens != RV_LENS_AUTO)
    lens = input->options->lens;
  else if (!model && count == 4 && view == 0)
    rv_calib_warn(out,
                  "%s has 4 distortion coefficients and no model name: pinhole k1 k2 p1 p2 is "
                  "assumed; set lens=fisheye if it is a fisheye lens.",
                  doc->name);
  count = no_distortion ? 0 : count;
  const int is_valid = lens == RV_LENS_FISHEYE ? count == 0 || count == 4
                                               : count == 0 || count == 4 || count == 5 ||
                                                     count == 8 || count == 12 || count == 14;
  if (!is_valid)
    return rv_calib_error(doc, rv_calib_line(doc, key), "%s has %d numbers, expected %s", key,
                          count, lens == RV_LENS_FISHEYE ? "4 (fisheye)" : "4, 5, 8, 12 or 14");
  out->view[view].lens = lens;
  memset(out->view[view].distortion, 0, sizeof out->view[view].distortion);
  for (int i = 0; i < count; i++)
    out->view[view].distortion[i] = values[i];
  return RV_OK;
}

void rv_calib_set_rectified(RvCalibrationView *view, const double p[12]) {
  view->lens = RV_LENS_PINHOLE;
  view->fx = p[0];
  view->cx = p[2];
  view->fy = p[5];
  view->cy = p[6];
  memset(view->distortion, 0, sizeof view->distortion);
  rv_mat3_identity(view->rotation);
  memcpy(view->projection, p, 12 * sizeof *p);
}
