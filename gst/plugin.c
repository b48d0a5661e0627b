/* SPDX-License-Identifier: MIT */
/* plugin.c: registers the elements of elements.def, with or without a driver. */
#include "gstrvconfig.h"

#include <gst/gst.h>

#include "common/gstrvannotation.h"
#define RV_ELEMENT(name, ...) GST_ELEMENT_REGISTER_DECLARE(name)
#include "elements.def"
#undef RV_ELEMENT

static gboolean plugin_init(GstPlugin *plugin) {
  gst_rv_annotations_register();
  gboolean registered = TRUE;
#define RV_ELEMENT(name, ...) registered &= GST_ELEMENT_REGISTER(name, plugin);
#include "elements.def"
#undef RV_ELEMENT
  return registered;
}

#define PACKAGE "gst-roadvision"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, roadvision,
                  "Stereo road vision on CPU and GPU: depth, stixels, road, lines", plugin_init,
                  GST_RV_VERSION, "MIT/X11", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
