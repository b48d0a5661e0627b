/* SPDX-License-Identifier: MIT */
/* plugin.c: what libgstroadvision.so offers. Elements always register, driver or not. */
#include "gstrvconfig.h"

#include <gst/gst.h>

#include "common/gstrvannotation.h"
#include "gstannotationpublish.h"
#include "gstcudaannotate.h"
#include "gstcudahough.h"
#include "gstcudardp.h"
#include "gstcudaroaddetect.h"
#include "gstcudasgm.h"
#include "gstcudastixels.h"
#include "gststereotestsrc.h"

static gboolean plugin_init(GstPlugin *plugin) {
  gst_rv_annotations_register();
  gboolean registered = TRUE;
  registered &= GST_ELEMENT_REGISTER(annotationpublish, plugin);
  registered &= GST_ELEMENT_REGISTER(cudaannotate, plugin);
  registered &= GST_ELEMENT_REGISTER(cudahough, plugin);
  registered &= GST_ELEMENT_REGISTER(cudardp, plugin);
  registered &= GST_ELEMENT_REGISTER(cudaroaddetect, plugin);
  registered &= GST_ELEMENT_REGISTER(cudasgm, plugin);
  registered &= GST_ELEMENT_REGISTER(cudastixels, plugin);
  registered &= GST_ELEMENT_REGISTER(stereotestsrc, plugin);
  return registered;
}

#define PACKAGE "gst-roadvision"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, roadvision,
                  "Stereo road vision on CPU and GPU: depth, stixels, road, lines", plugin_init,
                  GST_RV_VERSION, "MIT/X11", PACKAGE, "Unknown package origin")
