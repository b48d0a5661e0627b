/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_text.h: a growing byte buffer, and numbers, strings and times as text. The
 * writers do not depend on the locale and use no printf in the common cases: a frame of stixels has
 * a thousand numbers. */
#ifndef GST_ANNOTATION_PUBLISH_TEXT_H
#define GST_ANNOTATION_PUBLISH_TEXT_H

#include <gst/gst.h>
#include <string.h>

G_BEGIN_DECLS

/* Zero-initialized: empty. */
typedef struct GstPublishText {
  char *data;
  gsize length, capacity; /* bytes */
} GstPublishText;

/* Frees the memory; the text is empty and usable afterwards. */
void gst_publish_text_clear(GstPublishText *text);

/* Grows the capacity so that `bytes` more fit. */
void gst_publish_text_grow(GstPublishText *text, gsize bytes);

/* Returns the end of the text with space for `bytes`; the caller adds what it wrote to `length`. */
static inline char *gst_publish_text_reserve(GstPublishText *text, gsize bytes) {
  if (G_UNLIKELY(text->capacity - text->length < bytes))
    gst_publish_text_grow(text, bytes);
  return text->data + text->length;
}

static inline void gst_publish_text_bytes(GstPublishText *text, const void *data, gsize size) {
  if (size == 0)
    return;
  memcpy(gst_publish_text_reserve(text, size), data, size);
  text->length += size;
}

static inline void gst_publish_text_string(GstPublishText *text, const char *string) {
  gst_publish_text_bytes(text, string, strlen(string));
}

static inline void gst_publish_text_char(GstPublishText *text, char c) {
  *gst_publish_text_reserve(text, 1) = c;
  text->length++;
}

void gst_publish_text_uint(GstPublishText *text, guint64 value);
void gst_publish_text_int(GstPublishText *text, gint64 value);

/* Appends a decimal number that reads back as the same float or double, usually the shortest one.
 * Returns FALSE, and appends nothing, when `value` is infinite or not a number. */
gboolean gst_publish_text_float(GstPublishText *text, float value);
gboolean gst_publish_text_double(GstPublishText *text, double value);

/* Appends a JSON string with quotes and escapes; invalid UTF-8 is replaced by U+FFFD. */
void gst_publish_text_json(GstPublishText *text, const char *string);

/* Appends a CSV field (RFC 4180), quoted where needed. */
void gst_publish_text_csv(GstPublishText *text, const char *string);

/* Appends a word of an identifier in lower case, '-' as '_': keys of JSON and columns of CSV. */
void gst_publish_text_key(GstPublishText *text, const char *name);

/* Appends `rows` rows of `row` bytes, `stride` bytes apart, as one base64 text. */
void gst_publish_text_base64(GstPublishText *text, const guint8 *data, gsize row, gssize stride,
                             int rows);

/* Appends ns since 1970 as RFC 3339 in UTC with microseconds: 2026-11-22T08:30:00.123456Z. */
void gst_publish_text_utc(GstPublishText *text, gint64 utc_ns);

/* Reads RFC 3339 with seconds, optional fraction and Z or an offset; FALSE when it is not one. */
gboolean gst_publish_parse_utc(const char *string, gint64 *utc_ns);

G_END_DECLS
#endif
