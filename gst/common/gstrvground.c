/* SPDX-License-Identifier: MIT */
/* gstrvground.c: the ground of a frame, shared by the elements in a line. */
#include "gstrvground.h"

#include <math.h>
#include <string.h>

#include "gstrvcamera.h"

/* --- Annotation ------------------------------------------------------------------------------ */

/* The profile of an annotation in RV_GROUND_BINS bins of at least 1/16 px, without a change when it
 * has them. */
static void read_profile(const RvMetaGround *meta, const gint16 *values, RvGroundSurface *surface) {
  const double range = 16 * meta->bin * meta->bins; /* 1/16 px */
  surface->bin = MAX((int)ceil(range / RV_GROUND_BINS), 1);
  for (int k = 0; k < RV_GROUND_BINS; k++) {
    const double at = (k + 0.5) * surface->bin / (16 * meta->bin);
    surface->profile[k] = values[at < meta->bins ? (int)at : meta->bins - 1];
  }
}

gboolean gst_rv_ground_read(GstBuffer *buffer, int width, int height, RvGroundSurface *surface) {
  RvMetaGround meta;
  RvMetaMap map;
  if (!rv_meta_get_ground(buffer, &meta) || meta.width != width || meta.height != height ||
      !(meta.ground_slope_y > 0 && meta.ground_slope_y < RV_GROUND_SLOPE_MAX) ||
      !(fabs(meta.ground_slope_x) < RV_GROUND_SLOPE_MAX))
    return FALSE;
  memset(surface, 0, sizeof *surface);
  surface->slope_x = meta.ground_slope_x;
  surface->slope_y = meta.ground_slope_y;
  surface->intercept = meta.ground_intercept;
  surface->height = MAX(meta.camera_height, 0);
  surface->source = (gint32)meta.source;
  surface->first = surface->last = -1;
  surface->bin = 8;
  if (meta.profile && meta.bins > 0 && meta.bin > 0 && 16 * meta.bin * meta.bins < 1e6 &&
      rv_meta_map_buffer(&map, meta.profile, GST_MAP_READ)) {
    read_profile(&meta, (const gint16 *)(const void *)map.info.data, surface);
    rv_meta_unmap(&map);
  }
  return TRUE;
}

void gst_rv_ground_attach(GstRvGround *ground, const RvGroundSurface *surface, GstBuffer *out) {
  if (ground->is_taken || surface->source == RV_GROUND_NONE || !(surface->slope_y > 0))
    return;
  RvMetaGround meta = {
      .width = ground->used.width,
      .height = ground->used.height,
      .ground_slope_x = surface->slope_x,
      .ground_slope_y = surface->slope_y,
      .ground_intercept = surface->intercept,
      .camera_height = surface->height,
      .bins = RV_GROUND_BINS,
      .bin = surface->bin / 16.0,
      .source = (RvGroundSource)surface->source,
  };
  GstRvPayload payload = {0};
  if (gst_rv_payload_begin_array(&payload, ground->profiles, sizeof surface->profile) == RV_OK)
    memcpy(payload.plane.data, surface->profile, sizeof surface->profile);
  meta.profile = gst_rv_payload_end(&payload);
  rv_meta_add_ground(out, &meta);
}

/* --- Objects --------------------------------------------------------------------------------- */

void gst_rv_ground_clear(GstRvGround *ground) {
  rv_ground_free(&ground->object);
  gst_rv_payload_pool_free(&ground->profiles);
}

RvStatus gst_rv_ground_reset(GstRvGround *ground, const GstRvExecContext *work) {
  return ground->object ? rv_ground_reset(ground->object, work->stream) : RV_OK;
}

static RvStatus make_object(GstRvGround *ground, const GstRvExecContext *work,
                            const RvGroundConfig *config) {
  const RvGroundConfig *used = &ground->used;
  if (ground->object && ground->engine == work->engine && used->width == config->width &&
      used->height == config->height && used->mode == config->mode &&
      used->max_disparity == config->max_disparity && used->threads == config->threads &&
      gst_rv_camera_is_same(&used->camera, &config->camera))
    return RV_OK;
  gst_rv_ground_clear(ground);
  ground->used = *config;
  ground->engine = work->engine;
  ground->profiles = gst_rv_payload_pool_new(NULL, RV_GROUND_BINS * sizeof(gint16));
  return ground->profiles ? rv_ground_new(&ground->object, config, work->engine) : RV_ERR_NO_MEMORY;
}

/* The config of a frame. */
static RvGroundConfig config_of(const GstRvExecContext *work, const RvPlane *disparity,
                                const RvGroundConfig *wanted) {
  RvGroundConfig config;
  rv_ground_config_init(&config);
  config.width = disparity->width;
  config.height = disparity->height;
  config.camera = wanted->camera;
  config.mode = wanted->mode;
  config.max_disparity = CLAMP(wanted->max_disparity, 16, 4096);
  config.threads = work->threads;
  config.log = work->log;
  if (!(config.camera.focal > 0 && config.camera.baseline > 0 && config.camera.height > 0))
    config.mode = RV_GROUND_MODE_ESTIMATE;
  return config;
}

RvStatus gst_rv_ground_make(GstRvGround *ground, const GstRvExecContext *work, GstBuffer *buffer,
                            const RvPlane *disparity, const RvGroundConfig *wanted,
                            RvGroundSurface *surface) {
  const RvGroundConfig config = config_of(work, disparity, wanted);
  ground->is_taken =
      config.mode == RV_GROUND_MODE_ESTIMATE &&
      gst_rv_ground_read(buffer, disparity->width, disparity->height, &ground->taken);
  if (ground->is_taken) {
    const ptrdiff_t bytes = sizeof *surface;
    return rv_copy_rows(surface, bytes, work->engine, &ground->taken, bytes, RV_CPU,
                        sizeof *surface, 1, work->stream);
  }
  const RvStatus status = make_object(ground, work, &config);
  return status == RV_OK ? rv_ground_run(ground->object, disparity, surface, work->stream) : status;
}
