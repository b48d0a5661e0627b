/* SPDX-License-Identifier: MIT */
/* gstrverror.h: statuses and log lines of the library as errors and warnings of elements. */
#ifndef GST_RV_ERROR_H
#define GST_RV_ERROR_H

#include <gst/gst.h>

#include "rv.h"

G_BEGIN_DECLS

/* Sends the library's lines to the debug log (level WARNING) and remembers the last one. */
typedef struct GstRvLog {
  GstElement *element; /* not owned */
  GMutex lock;
  char last[512];
} GstRvLog;

void gst_rv_log_init(GstRvLog *log, GstElement *element);
void gst_rv_log_clear(GstRvLog *log);

/* For the `log` of a config; clears the last line. */
RvLog gst_rv_log_sink(GstRvLog *log);

/* Copies the last line ("" when there was none) and clears it. */
void gst_rv_log_take(GstRvLog *log, char *line, size_t size);

/* One line to `log`, as the library writes them: for rules that an element checks itself. */
void gst_rv_log_line(const RvLog *log, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A log that keeps its last line, for text that goes into another one. */
typedef struct GstRvLine {
  char text[400];
} GstRvLine;
RvLog gst_rv_line_sink(GstRvLine *line);

/* Posts the failure `status` of `doing` ("process a frame") as an element error: the cause,
 * taken from the library's last line, and what helps. */
void gst_rv_error_post(GstRvLog *log, RvStatus status, const char *doing);

/* The same as a warning; `kept` states what remains in use ("the previous settings remain in
 * use"). */
void gst_rv_warning_post(GstRvLog *log, const char *kept);

G_END_DECLS
#endif
