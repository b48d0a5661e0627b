/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect_models.h: files of learnt models, read and checked before they are needed. */
#ifndef GST_CUDA_ROAD_DETECT_MODELS_H
#define GST_CUDA_ROAD_DETECT_MODELS_H

#include <glib.h>

#include "road/road.h"

G_BEGIN_DECLS

/* The contents of `path` when rv_road_load takes them with this config; else NULL, after one line
 * that names the file, the cause and the remedy. */
GBytes *gst_cuda_road_detect_models_read(const char *path, const RvRoadConfig *config,
                                         const RvLog *log);

/* A file of that name is whole at any time. RV_ERR_IO after one line. */
RvStatus gst_cuda_road_detect_models_write(const char *path, GBytes *models, const RvLog *log);

/* FALSE, after one line, when no file can be written in the folder of `path`. */
gboolean gst_cuda_road_detect_models_writable(const char *path, const RvLog *log);

/* What the object has learnt; waits for `stream`. NULL when it cannot be had. */
GBytes *gst_cuda_road_detect_models_take(RvRoad *road, const RvRoadConfig *config, RvStream stream);

G_END_DECLS
#endif
