/* SPDX-License-Identifier: MIT */
/* gpu_elements.h: parts of gpu_elements.c that gpu_speed.c uses. */
#ifndef GPU_ELEMENTS_H
#define GPU_ELEMENTS_H

#include <gst/gst.h>

/* What one pipeline gave. It has an element named sgm and a fakesink named sink. */
typedef struct Outcome {
  GChecksum *picture, *disparity;
  int frames, annotated;
  gboolean cuda_in, cuda_out; /* CUDA caps on the pads of sgm */
  gboolean cuda_sink;         /* CUDA caps on the pad of sink */
  char engine[16];            /* stats of sgm */
  char error[512];
} Outcome;

/* One line: ok NAME, or FAIL NAME: WHY. */
void gpu_report(const char *name, gboolean good, const char *why);

/* Waits for EOS or an error; fills o->error. */
void gpu_wait_for_end(GstElement *pipeline, Outcome *o);

/* Handoff of the fakesink; `user` is an Outcome. */
void gpu_on_buffer(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user);

/* Frames per second of complete pipelines. */
void gpu_speed(void);

#endif
