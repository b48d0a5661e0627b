/* SPDX-License-Identifier: MIT */
/* mux_test.h: a cudastereomux with a harness per camera, and frames of noise for it. */
#ifndef MUX_TEST_H
#define MUX_TEST_H

#include "element_test.h"

#define FRAME (GST_SECOND / 30)

typedef struct Mux {
  GstElement *element;
  GstHarness *left, *right; /* left has the src pad too */
  GstBus *bus;
  GstCaps *caps; /* of mux_open; or NULL */
} Mux;

Mux mux_new(const char *properties);
void mux_free(Mux *mux);

/* The same with caps on both pads: `caps`. */
Mux mux_open(const char *properties, const char *format, int width, int height);
void mux_caps(Mux *mux, const char *format, int width, int height, const char *more);

/* A frame of noise whose planes have padding after each row. */
GstBuffer *mux_noise(const GstVideoInfo *info, guint32 seed, GstClockTime pts);
GstBuffer *mux_frame(const GstCaps *caps, guint32 seed, GstClockTime pts);
void mux_push_pair(Mux *mux, const GstCaps *left, const GstCaps *right, GstClockTime pts);

/* A count of `stats`. */
guint64 mux_counter(Mux *mux, const char *name);

#endif
