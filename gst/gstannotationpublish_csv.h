/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_csv.h: frames and records as rows of CSV (RFC 4180, LF). The columns of a
 * table never depend on the content of a stream. */
#ifndef GST_ANNOTATION_PUBLISH_CSV_H
#define GST_ANNOTATION_PUBLISH_CSV_H

#include "gstannotationpublish_frame.h"
#include "gstannotationpublish_text.h"

G_BEGIN_DECLS

#define GST_PUBLISH_TABLES_MAX 33 /* frames, and the payload of each annotation */

/* Names of the tables: "frames", then the keys of annotations with records, ended by NULL. Free
 * with g_strfreev. */
char **gst_publish_csv_tables(void);

/* Appends the header line of a table. */
void gst_publish_csv_header(const char *table, GstPublishText *text);

/* Appends the rows of a frame in a table: none, one, or one per record. */
void gst_publish_csv_rows(const char *table, const GstPublishFrame *frame, GstPublishText *text);

G_END_DECLS
#endif
