/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_record.h: the destination MCAP file. */
#ifndef GST_ANNOTATION_PUBLISH_RECORD_H
#define GST_ANNOTATION_PUBLISH_RECORD_H

#include "gstannotationpublish_file.h"
#include "gstannotationpublish_json.h"
#include "gstannotationpublish_settings.h"

G_BEGIN_DECLS

/* Opens the file. Takes ownership of `json`, also on failure; then returns NULL with error. */
GstPublishSink *gst_publish_record_new(GstPublishHost *host, const GstPublishFileConfig *config,
                                       const GstPublishSettings *settings, GstPublishJson *json,
                                       GError **error);

G_END_DECLS
#endif
