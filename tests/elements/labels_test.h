/* SPDX-License-Identifier: MIT */
/* labels_test.h: frames of semanticsattach, and their labels. */
#ifndef LABELS_TEST_H
#define LABELS_TEST_H

#include "element_test.h"

enum { W = 6, H = 4, RATE = 30 };
#define FRAME (GST_SECOND / RATE)

/* GRAY8, each pixel `value`. */
GstBuffer *labels_frame(int width, int height, int value, GstClockTime pts);

/* Class at the top left, in `last` that at the bottom right; -1 without labels. Frees the buffer. */
int labels_first(GstBuffer *buffer, int *last);

/* A count of `stats`. */
guint64 labels_stat(GstHarness *harness, const char *name);

#endif
