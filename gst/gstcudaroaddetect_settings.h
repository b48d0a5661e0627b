/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect_settings.h: the properties of cudaroaddetect as plain values, and their table.
 */
#ifndef GST_CUDA_ROAD_DETECT_SETTINGS_H
#define GST_CUDA_ROAD_DETECT_SETTINGS_H

#include "common/gstrvoldsettings.h"
#include "road/road.h"

G_BEGIN_DECLS

typedef struct GstCudaRoadDetectSettings {
  RvRoadConfig road;              /* size, camera, threads and log are filled in by the element */
  double focal, baseline, cx, cy; /* px, m, px, px; 0 = as annotated */
} GstCudaRoadDetectSettings;

/* Ids from FIRST; those below are of properties that are no plain values. */
#define GST_CUDA_ROAD_DETECT_FIRST 3
extern const GstRvOldSettings gst_cuda_road_detect_properties;

G_END_DECLS
#endif
