/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_text.c: text of numbers, strings and times. */
#include "gstannotationpublish_text.h"

#include <math.h>

void gst_publish_text_clear(GstPublishText *text) {
  g_free(text->data);
  memset(text, 0, sizeof *text);
}

void gst_publish_text_grow(GstPublishText *text, gsize bytes) {
  const gsize wanted = text->length + bytes;
  gsize capacity = MAX(text->capacity, 256);
  while (capacity < wanted)
    capacity += capacity / 2;
  text->data = g_realloc(text->data, capacity);
  text->capacity = capacity;
}

/* --- Numbers --------------------------------------------------------------------------------- */

#define DIGITS_MAX 20 /* of a guint64 */

/* Writes the digits of `value` so that they end before `end`; returns the first one. */
static char *digits_before(char *end, guint64 value) {
  do
    *--end = (char)('0' + value % 10);
  while (value /= 10);
  return end;
}

void gst_publish_text_uint(GstPublishText *text, guint64 value) {
  char digits[DIGITS_MAX];
  const char *first = digits_before(digits + DIGITS_MAX, value);
  gst_publish_text_bytes(text, first, (gsize)(digits + DIGITS_MAX - first));
}

void gst_publish_text_int(GstPublishText *text, gint64 value) {
  if (value < 0)
    gst_publish_text_char(text, '-');
  gst_publish_text_uint(text, value < 0 ? 0 - (guint64)value : (guint64)value);
}

#define POWERS 19

static const double powers[POWERS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
static const guint64 whole_powers[POWERS] = {1ULL,
                                             10ULL,
                                             100ULL,
                                             1000ULL,
                                             10000ULL,
                                             100000ULL,
                                             1000000ULL,
                                             10000000ULL,
                                             100000000ULL,
                                             1000000000ULL,
                                             10000000000ULL,
                                             100000000000ULL,
                                             1000000000000ULL,
                                             10000000000000ULL,
                                             100000000000000ULL,
                                             1000000000000000ULL,
                                             10000000000000000ULL,
                                             100000000000000000ULL,
                                             1000000000000000000ULL};

/* Appends digits / 10^places without trailing zeros. */
static void append_decimal(GstPublishText *text, gboolean negative, guint64 digits, int places) {
  while (places > 0 && digits % 10 == 0) {
    digits /= 10;
    places--;
  }
  char *out = gst_publish_text_reserve(text, 2 * DIGITS_MAX + 2);
  gsize length = 0;
  if (negative)
    out[length++] = '-';
  char buffer[DIGITS_MAX];
  char *const end = buffer + DIGITS_MAX;
  const char *first = digits_before(end, digits / whole_powers[places]);
  memcpy(out + length, first, (gsize)(end - first));
  length += (gsize)(end - first);
  if (places > 0) {
    char *start = digits_before(end, digits % whole_powers[places]);
    while (end - start < places)
      *--start = '0';
    out[length++] = '.';
    memcpy(out + length, start, (gsize)places);
    length += (gsize)places;
  }
  text->length += length;
}

/* Number of digits before the decimal point minus one: floor(log10(a)) for 1e-9 <= a < 1e15. */
static int decimal_exponent(double a) {
  int exponent = 0;
  if (a >= 1.0) {
    while (exponent < 15 && a >= powers[exponent + 1])
      exponent++;
    return exponent;
  }
  while (exponent > -9 && a * powers[-exponent] < 1.0)
    exponent--;
  return exponent;
}

static gboolean append_printed(GstPublishText *text, double value, const char *format) {
  char *out = gst_publish_text_reserve(text, G_ASCII_DTOSTR_BUF_SIZE);
  g_ascii_formatd(out, G_ASCII_DTOSTR_BUF_SIZE, format, value);
  text->length += strlen(out);
  return TRUE;
}

gboolean gst_publish_text_float(GstPublishText *text, float value) {
  if (!isfinite(value))
    return FALSE;
  const double a = fabs((double)value);
  if (a == 0.0 || a < 1e-9 || a >= 1e15)
    return a == 0.0 ? (gst_publish_text_char(text, '0'), TRUE)
                    : append_printed(text, value, "%.9g");
  const int exponent = decimal_exponent(a);
  for (int places = 6 - exponent; places <= 8 - exponent; places++) {
    const double digits = places >= 0 ? floor(a * powers[places] + 0.5) : floor(a + 0.5);
    const double back = places >= 0 ? digits / powers[places] : digits;
    if ((float)back == (float)a) {
      append_decimal(text, value < 0, (guint64)digits, MAX(places, 0));
      return TRUE;
    }
  }
  return append_printed(text, value, "%.9g");
}

gboolean gst_publish_text_double(GstPublishText *text, double value) {
  if (!isfinite(value))
    return FALSE;
  const double a = fabs(value);
  if (a == 0.0) {
    gst_publish_text_char(text, '0');
    return TRUE;
  }
  if (a >= 1e-3 && a < 1e15) {
    const int places = 14 - decimal_exponent(a);
    const double digits = floor(a * powers[places] + 0.5);
    if (digits / powers[places] == a) {
      append_decimal(text, value < 0, (guint64)digits, places);
      return TRUE;
    }
  }
  return append_printed(text, value, "%.17g");
}

/* --- Strings --------------------------------------------------------------------------------- */

void gst_publish_text_json(GstPublishText *text, const char *string) {
  char *valid = g_utf8_validate(string, -1, NULL) ? NULL : g_utf8_make_valid(string, -1);
  gst_publish_text_char(text, '"');
  for (const char *s = valid ? valid : string; *s; s++) {
    const guchar c = (guchar)*s;
    if (c == '"' || c == '\\') {
      gst_publish_text_char(text, '\\');
      gst_publish_text_char(text, *s);
    } else if (c < 0x20 || c == 0x7f) {
      char escape[8];
      g_snprintf(escape, sizeof escape, "\\u%04x", c);
      gst_publish_text_string(text, escape);
    } else {
      gst_publish_text_char(text, *s);
    }
  }
  gst_publish_text_char(text, '"');
  g_free(valid);
}

void gst_publish_text_csv(GstPublishText *text, const char *string) {
  if (!strpbrk(string, ",\"\r\n")) {
    gst_publish_text_string(text, string);
    return;
  }
  gst_publish_text_char(text, '"');
  for (const char *s = string; *s; s++) {
    if (*s == '"')
      gst_publish_text_char(text, '"');
    gst_publish_text_char(text, *s);
  }
  gst_publish_text_char(text, '"');
}

void gst_publish_text_key(GstPublishText *text, const char *name) {
  for (const char *s = name; *s; s++)
    gst_publish_text_char(text, *s == '-' ? '_' : g_ascii_tolower(*s));
}

void gst_publish_text_base64(GstPublishText *text, const guint8 *data, gsize row, gssize stride,
                             int rows) {
  int state = 0, save = 0;
  /* GLib's encoder needs four bytes for three, and some more without line breaks. */
  char *out = gst_publish_text_reserve(text, row * (gsize)rows / 3 * 4 + 8);
  gsize length = 0;
  for (int y = 0; y < rows; y++)
    length += g_base64_encode_step(data + y * stride, row, FALSE, out + length, &state, &save);
  length += g_base64_encode_close(FALSE, out + length, &state, &save);
  text->length += length;
}

/* --- Time ------------------------------------------------------------------------------------ */

#define DAY 86400

/* Gregorian date of a day counted from 1970-01-01; a year starts in March, so that the leap day is
 * its last one. */
static void date_of_day(gint64 day, int *year, int *month, int *date) {
  const gint64 shifted = day + 719468;                                     /* from 0000-03-01 */
  const gint64 era = (shifted >= 0 ? shifted : shifted - 146096) / 146097; /* of 400 years */
  const gint64 in_era = shifted - era * 146097;
  const gint64 y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
  const gint64 in_year = in_era - (365 * y + y / 4 - y / 100);
  const gint64 m = (5 * in_year + 2) / 153;
  *date = (int)(in_year - (153 * m + 2) / 5 + 1);
  *month = (int)(m < 10 ? m + 3 : m - 9);
  *year = (int)(y + era * 400 + (*month <= 2));
}

void gst_publish_text_utc(GstPublishText *text, gint64 utc_ns) {
  gint64 seconds = utc_ns / GST_SECOND, us = utc_ns % GST_SECOND / 1000;
  if (utc_ns < 0 && utc_ns % GST_SECOND != 0) {
    seconds--;
    us = (utc_ns - seconds * GST_SECOND) / 1000;
  }
  gint64 day = seconds / DAY, second = seconds % DAY;
  if (second < 0) {
    day--;
    second += DAY;
  }
  int year = 0, month = 0, date = 0;
  date_of_day(day, &year, &month, &date);
  char *out = gst_publish_text_reserve(text, 40);
  text->length +=
      (gsize)g_snprintf(out, 40, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, month, date,
                        (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60), (int)us);
}

gboolean gst_publish_parse_utc(const char *string, gint64 *utc_ns) {
  GDateTime *time = g_date_time_new_from_iso8601(string, NULL); /* NULL: a zone is required */
  if (!time)
    return FALSE;
  *utc_ns = g_date_time_to_unix(time) * GST_SECOND + g_date_time_get_microsecond(time) * 1000;
  g_date_time_unref(time);
  return TRUE;
}
