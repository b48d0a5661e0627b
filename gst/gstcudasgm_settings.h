/* SPDX-License-Identifier: MIT */
/* gstcudasgm_settings.h: the properties of cudasgm as plain values, and their table. */
#ifndef GST_CUDA_SGM_SETTINGS_H
#define GST_CUDA_SGM_SETTINGS_H

#include <glib-object.h>

#include "gstcudasgm_layout.h"
#include "rv.h"
#include "sgm/sgm.h"

G_BEGIN_DECLS

typedef struct GstCudaSgmSettings {
  GstCudaSgmLayout layout;
  GstCudaSgmOutput output;
  RvSgmConfig match;              /* size, threads and log are filled in by the element */
  double focal, baseline, cx, cy; /* px, m, px, px; 0 = not set */
  int disparity_scale;
} GstCudaSgmSettings;

/* Installs the properties with ids 1.. and sets `settings` to their defaults. */
void gst_cuda_sgm_install_properties(GObjectClass *klass);
void gst_cuda_sgm_settings_init(GstCudaSgmSettings *settings);

/* FALSE for an unknown id. */
gboolean gst_cuda_sgm_settings_set(GstCudaSgmSettings *settings, guint id, const GValue *value);
gboolean gst_cuda_sgm_settings_get(const GstCudaSgmSettings *settings, guint id, GValue *value);

G_END_DECLS
#endif
