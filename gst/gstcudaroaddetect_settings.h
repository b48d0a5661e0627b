/* gstcudaroaddetect_settings.h: the properties of cudaroaddetect as plain values, and their table.
 */
#ifndef GST_CUDA_ROAD_DETECT_SETTINGS_H
#define GST_CUDA_ROAD_DETECT_SETTINGS_H

#include <glib-object.h>

#include "road/road.h"

G_BEGIN_DECLS

typedef struct GstCudaRoadDetectSettings {
  RvRoadConfig road;              /* size, camera, threads and log are filled in by the element */
  double focal, baseline, cx, cy; /* px, m, px, px; 0 = as annotated */
} GstCudaRoadDetectSettings;

/* Installs the properties with ids `first`.. */
void gst_cuda_road_detect_install_properties(GObjectClass *klass, guint first);

/* Defaults. */
void gst_cuda_road_detect_settings_init(GstCudaRoadDetectSettings *settings);

/* By place in the table; FALSE for one that it does not have. */
gboolean gst_cuda_road_detect_settings_set(GstCudaRoadDetectSettings *settings, int place,
                                           const GValue *value);
gboolean gst_cuda_road_detect_settings_get(const GstCudaRoadDetectSettings *settings, int place,
                                           GValue *value);

G_END_DECLS
#endif
