/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_lines.h: JSON lines and CSV in files, pipes and standard output. */
#ifndef GST_ANNOTATION_PUBLISH_LINES_H
#define GST_ANNOTATION_PUBLISH_LINES_H

#include "gstannotationpublish_file.h"
#include "gstannotationpublish_json.h"

G_BEGIN_DECLS

/* Opens the destination: JSON lines, or with `csv` a table of frames and, where the location has
 * %s, a table for each kind of records. Takes ownership of `json`, also on failure. NULL with error
 * when a file cannot be opened. */
GstPublishSink *gst_publish_lines_new(GstPublishHost *host, const GstPublishFileConfig *config,
                                      gboolean csv, GstPublishJson *json, GError **error);

G_END_DECLS
#endif
