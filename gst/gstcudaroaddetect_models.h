/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect_models.h: model files, read and checked before they are needed. */
#ifndef GST_CUDA_ROAD_DETECT_MODELS_H
#define GST_CUDA_ROAD_DETECT_MODELS_H

#include <glib.h>

#include "road/road.h"

G_BEGIN_DECLS

/* Returns the contents of `path` when rv_road_load accepts them with this config; else NULL,
 * after one log line with file, cause and remedy. */
GBytes *gst_cuda_road_detect_models_read(const char *path, const RvRoadConfig *config,
                                         const RvLog *log);

/* Writes the file, which is complete at any time. RV_ERR_IO after one log line. */
RvStatus gst_cuda_road_detect_models_write(const char *path, GBytes *models, const RvLog *log);

/* Returns FALSE, after one log line, when no file can be written in the folder of `path`. */
gboolean gst_cuda_road_detect_models_writable(const char *path, const RvLog *log);

/* Returns the models of the object; waits for `stream`. NULL after a failure. */
GBytes *gst_cuda_road_detect_models_take(RvRoad *road, const RvRoadConfig *config, RvStream stream);

G_END_DECLS
#endif
