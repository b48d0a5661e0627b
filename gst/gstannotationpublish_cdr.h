/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_cdr.h: messages of ROS 2 as plain CDR, little endian: every number is
 * aligned to its size, counted from the end of the four bytes that name the encoding. */
#ifndef GST_ANNOTATION_PUBLISH_CDR_H
#define GST_ANNOTATION_PUBLISH_CDR_H

#include "gstannotationpublish_text.h"

G_BEGIN_DECLS

typedef struct GstPublishCdr {
  GstPublishText *text; /* that the message is appended to */
  gsize start;          /* offset that alignment counts from */
} GstPublishCdr;

/* Starts a message at the end of `text`. */
static inline GstPublishCdr gst_publish_cdr_begin(GstPublishText *text) {
  gst_publish_text_bytes(text, "\0\1\0\0", 4);
  const GstPublishCdr cdr = {text, text->length};
  return cdr;
}

/* Space for `size` bytes at an offset that is a multiple of `align`; already counted. */
static inline char *gst_publish_cdr_space(const GstPublishCdr *cdr, gsize align, gsize size) {
  const gsize gap = (align - (cdr->text->length - cdr->start) % align) % align;
  char *space = gst_publish_text_reserve(cdr->text, gap + size);
  memset(space, 0, gap);
  cdr->text->length += gap + size;
  return space + gap;
}

static inline void gst_publish_cdr_u8(const GstPublishCdr *cdr, guint8 value) {
  *gst_publish_cdr_space(cdr, 1, 1) = (char)value;
}

static inline void gst_publish_cdr_u32(const GstPublishCdr *cdr, guint32 value) {
  value = GUINT32_TO_LE(value);
  memcpy(gst_publish_cdr_space(cdr, 4, 4), &value, 4);
}

static inline void gst_publish_cdr_f32(const GstPublishCdr *cdr, float value) {
  memcpy(gst_publish_cdr_space(cdr, 4, 4), &value, 4);
}

static inline void gst_publish_cdr_f64(const GstPublishCdr *cdr, double value) {
  memcpy(gst_publish_cdr_space(cdr, 8, 8), &value, 8);
}

static inline void gst_publish_cdr_f64s(const GstPublishCdr *cdr, const double *values,
                                        gsize count) {
  memcpy(gst_publish_cdr_space(cdr, 8, 8 * count), values, 8 * count);
}

/* A string has its length with the NUL, and the NUL. */
static inline void gst_publish_cdr_string(const GstPublishCdr *cdr, const char *string,
                                          gsize length) {
  gst_publish_cdr_u32(cdr, (guint32)length + 1);
  char *space = gst_publish_cdr_space(cdr, 1, length + 1);
  memcpy(space, string, length);
  space[length] = 0;
}

static inline void gst_publish_cdr_text(const GstPublishCdr *cdr, const char *string) {
  gst_publish_cdr_string(cdr, string, strlen(string));
}

/* A sequence of bytes, to be filled by the caller. */
static inline guint8 *gst_publish_cdr_bytes(const GstPublishCdr *cdr, gsize size) {
  gst_publish_cdr_u32(cdr, (guint32)size);
  return (guint8 *)gst_publish_cdr_space(cdr, 1, size);
}

/* builtin_interfaces/Time of ns since 1970. */
static inline void gst_publish_cdr_time(const GstPublishCdr *cdr, guint64 ns) {
  gst_publish_cdr_u32(cdr, (guint32)(ns / (guint64)GST_SECOND));
  gst_publish_cdr_u32(cdr, (guint32)(ns % (guint64)GST_SECOND));
}

/* std_msgs/Header */
static inline void gst_publish_cdr_header(const GstPublishCdr *cdr, guint64 ns, const char *frame) {
  gst_publish_cdr_time(cdr, ns);
  gst_publish_cdr_text(cdr, frame);
}

G_END_DECLS
#endif
