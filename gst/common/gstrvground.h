/* SPDX-License-Identifier: MIT */
/* gstrvground.h: the ground of a frame: that of RvGroundMeta, or an estimate, which is attached for
 * the downstream elements. */
#ifndef GST_RV_GROUND_H
#define GST_RV_GROUND_H

#include "gstrvtransform.h"
#include "ground/ground.h"

G_BEGIN_DECLS

/* Zeroed at first; used frame after frame it keeps its objects. */
typedef struct GstRvGround {
  RvGround *object;    /* made for `used` when the first frame needs it */
  RvGroundConfig used; /* size, camera, mode and range of the object */
  RvEngine engine;
  GstBufferPool *profiles;
  RvGroundSurface taken; /* of the annotation */
  gboolean is_taken;     /* the current frame has RvGroundMeta */
} GstRvGround;

/* Makes `surface` (in the engine's memory, aligned to 8 bytes) the ground of `disparity`: that of
 * RvGroundMeta if the frame has one of this size and config->mode is to estimate it, else an
 * estimate with the camera, the mode and max_disparity of `config`. With RV_GROUND_MODE_CAMERA and
 * a camera of unknown height it is estimated too. */
RvStatus gst_rv_ground_make(GstRvGround *ground, const GstRvExecContext *work, GstBuffer *buffer,
                            const RvPlane *disparity, const RvGroundConfig *config,
                            RvGroundSurface *surface);

/* After the wait: attaches RvGroundMeta from the host's copy of that surface, unless the frame has
 * one already or there is no plane. */
void gst_rv_ground_attach(GstRvGround *ground, const RvGroundSurface *surface, GstBuffer *out);

/* Forgets the ground of the previous frames. */
RvStatus gst_rv_ground_reset(GstRvGround *ground, const GstRvExecContext *work);

/* Frees the objects, with the device current. */
void gst_rv_ground_clear(GstRvGround *ground);

/* The surface of an annotation; FALSE if `buffer` has none of width x height px with a plane. */
gboolean gst_rv_ground_read(GstBuffer *buffer, int width, int height, RvGroundSurface *surface);

G_END_DECLS
#endif
