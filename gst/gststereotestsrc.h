/* SPDX-License-Identifier: MIT */
/* gststereotestsrc.h: element stereotestsrc. */
#ifndef GST_STEREO_TEST_SRC_H
#define GST_STEREO_TEST_SRC_H

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_STEREO_TEST_SRC (gst_stereo_test_src_get_type())
G_DECLARE_FINAL_TYPE(GstStereoTestSrc, gst_stereo_test_src, GST, STEREO_TEST_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE(stereotestsrc)

G_END_DECLS
#endif
