/* SPDX-License-Identifier: MIT */
/* gstrvcamera.c: the camera of a frame. */
#include "gstrvcamera.h"

gboolean gst_rv_camera_find(GstBuffer *buffer, const GstRvCameraSettings *own, int width,
                            int height, RvCamera *camera) {
  int meta_width, meta_height;
  if (rv_meta_get_camera(buffer, camera, &meta_width, &meta_height)) {
    const double sx = (double)width / meta_width, sy = (double)height / meta_height;
    camera->focal *= sx;
    camera->cx *= sx;
    camera->doffs *= sx;
    camera->cy *= sy;
  }
  if (camera->focal == 0) { /* then the principal point is unknown too */
    camera->cx = (width - 1) / 2.0;
    camera->cy = (height - 1) / 2.0;
  }
  camera->focal = own->focal > 0 ? own->focal : camera->focal;
  camera->baseline = own->baseline > 0 ? own->baseline : camera->baseline;
  camera->cx = own->cx > 0 ? own->cx : camera->cx;
  camera->cy = own->cy > 0 ? own->cy : camera->cy;
  return camera->focal > 0 && camera->baseline > 0;
}

gboolean gst_rv_camera_is_same(const RvCamera *a, const RvCamera *b) {
  return a->focal == b->focal && a->cx == b->cx && a->cy == b->cy && a->doffs == b->doffs &&
         a->baseline == b->baseline && a->height == b->height && a->pitch == b->pitch;
}
