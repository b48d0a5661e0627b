/* SPDX-License-Identifier: MIT */
/* gstrvcaps.h: what elements of every base class do with caps. */
#ifndef GST_RV_CAPS_H
#define GST_RV_CAPS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_RV_CAPS_CUDA "memory:CUDAMemory"

/* TRUE when a structure of `caps` (may be NULL) is in CUDA memory. */
gboolean gst_rv_caps_are_cuda(const GstCaps *caps);

/* Reduces the answer of a CAPS query of a sink pad to CUDA memory when filter and answer both
 * contain it. */
void gst_rv_caps_prefer_cuda(GstObject *object, GstQuery *query);

/* Posts an error when the peer of `src` does not accept `sent`, and returns TRUE then. `remedy`:
 * how to make it accept them; NULL: insert a converter. */
gboolean gst_rv_caps_explain_rejection(GstElement *element, GstPad *src, GstCaps *sent,
                                       const char *remedy);

/* Posts an error and returns FALSE for interlaced video: by its caps, or, where these allow both
 * (interlace-mode=mixed), by a frame (NULL: none yet). */
gboolean gst_rv_caps_check_scan(GstElement *element, const GstVideoInfo *info, GstBuffer *frame);

G_END_DECLS
#endif
