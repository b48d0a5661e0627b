/* SPDX-License-Identifier: MIT */
/* gstrvcamera.h: the camera of a frame: RvCameraMeta, overridden by properties of the element. */
#ifndef GST_RV_CAMERA_H
#define GST_RV_CAMERA_H

#include "gstrvsettings.h"
#include "roadvision-gst.h"

G_BEGIN_DECLS

/* px, m, px, px; 0 = value from RvCameraMeta */
typedef struct GstRvCameraSettings {
  double focal, baseline, cx, cy;
} GstRvCameraSettings;

#define GST_RV_CAMERA_FROM_META "0 = value from RvCameraMeta"
#define GST_RV_CAMERA_ROW(Settings, member, name_, text_, unit_, note_, high_, field)              \
  {                                                                                                \
    .name = name_, .text = text_, .unit = unit_, .note = note_, .type = RV_PARAM_DOUBLE,           \
    .offset = offsetof(Settings, member.field), .high = high_                                      \
  }

/* Rows of the properties focal-length, baseline, cx and cy: `member` of Settings is a
 * GstRvCameraSettings. */
#define GST_RV_CAMERA_ROWS(Settings, member)                                                       \
  GST_RV_CAMERA_ROW(Settings, member, "focal-length", "Focal length of the camera", "px",          \
                    GST_RV_CAMERA_FROM_META, 1e6, focal),                                          \
      GST_RV_CAMERA_ROW(Settings, member, "baseline", "Distance between the cameras", "m",         \
                        GST_RV_CAMERA_FROM_META, 1e3, baseline),                                   \
      GST_RV_CAMERA_ROW(Settings, member, "cx", "Column of the principal point", "px",             \
                        GST_RV_CAMERA_FROM_META ", else the image center", 1e6, cx),               \
      GST_RV_CAMERA_ROW(Settings, member, "cy", "Row of the principal point", "px",                \
                        GST_RV_CAMERA_FROM_META ", else the image center", 1e6, cy)

/* The annotated camera, scaled to a frame of width x height px, overridden by `own`. Without a
 * focal length the principal point is the image center; height and pitch are those of RvCameraMeta.
 * FALSE if focal length or baseline is unknown. */
gboolean gst_rv_camera_find(GstBuffer *buffer, const GstRvCameraSettings *own, int width,
                            int height, RvCamera *camera);

/* Every value is the same. */
gboolean gst_rv_camera_is_same(const RvCamera *a, const RvCamera *b);

G_END_DECLS
#endif
