/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_layout.h: the fields of records, read from the annotation library's
 * description of each buffer, so that every annotation is published without code of its own. */
#ifndef GST_ANNOTATION_PUBLISH_LAYOUT_H
#define GST_ANNOTATION_PUBLISH_LAYOUT_H

#include "gstannotationpublish_text.h"
#include "roadvision-gst.h"

G_BEGIN_DECLS

#define GST_PUBLISH_FIELDS_MAX 32

typedef enum GstPublishNumber {
  GST_PUBLISH_U8,
  GST_PUBLISH_I8,
  GST_PUBLISH_U16,
  GST_PUBLISH_I16,
  GST_PUBLISH_F16,
  GST_PUBLISH_U32,
  GST_PUBLISH_I32,
  GST_PUBLISH_F32
} GstPublishNumber;

typedef struct GstPublishField {
  char name[24];
  GstPublishNumber number;
  guint offset; /* bytes from the start of the record */
} GstPublishField;

/* Fields of one record; `reserved` ones are omitted. */
typedef struct GstPublishLayout {
  guint count;
  gsize size;      /* bytes of one record */
  gboolean single; /* a plain array of numbers: one field without a name */
  GstPublishField fields[GST_PUBLISH_FIELDS_MAX];
} GstPublishLayout;

/* Reads "name:format name:format" or "format" with natural alignment; FALSE when it is neither. */
gboolean gst_publish_layout_parse(GstPublishLayout *layout, const char *format);

/* Layout of the array `field` of the annotation `name`; NULL when it is unknown. Kept for ever. */
const GstPublishLayout *gst_publish_layout(const char *name, const char *field);

/* Index of a field of that name; -1 when there is none. */
int gst_publish_layout_find(const GstPublishLayout *layout, const char *name);

/* A field of a record as a number. */
double gst_publish_field_value(const GstPublishField *field, const guint8 *record);

/* Appends a field of a record; FALSE, and nothing, when it is not finite. */
gboolean gst_publish_field_text(GstPublishText *text, const GstPublishField *field,
                                const guint8 *record);

/* Number of records of a mapped array: that of the annotation, and never more than its bytes. */
gsize gst_publish_layout_records(const GstPublishLayout *layout, const GstStructure *fields,
                                 const char *field, gsize bytes);

/* Appends the key of an annotation: RvFreeSpaceMeta becomes free_space. */
void gst_publish_annotation_key(GstPublishText *text, const char *name);

G_END_DECLS
#endif
