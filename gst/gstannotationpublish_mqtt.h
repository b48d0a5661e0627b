/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_mqtt.h: the destination MQTT broker. Topics below the prefix: frame, or one
 * per annotation with `split`; camera (retained, when it changes); status (retained, online or
 * offline). */
#ifndef GST_ANNOTATION_PUBLISH_MQTT_H
#define GST_ANNOTATION_PUBLISH_MQTT_H

#include "gstannotationpublish_json.h"
#include "gstannotationpublish_settings.h"

G_BEGIN_DECLS

/* Starts a thread that connects and, after a failure, connects again every second. Takes ownership
 * of `json`, also on failure. Returns NULL with error when the settings are invalid or this build
 * has no MQTT. */
GstPublishSink *gst_publish_mqtt_new(GstPublishHost *host, const GstPublishSettings *settings,
                                     GstPublishJson *json, GError **error);

G_END_DECLS
#endif
