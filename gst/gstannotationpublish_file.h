/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_file.h: a file, a pipe or standard output. A record that cannot be written
 * completely is removed again, so that a full disk never leaves an incomplete line. Files are
 * rotated by size or time. */
#ifndef GST_ANNOTATION_PUBLISH_FILE_H
#define GST_ANNOTATION_PUBLISH_FILE_H

#include "gstannotationpublish_sink.h"

#include <sys/uio.h>

G_BEGIN_DECLS

/* Names of files: "-" is standard output. In other locations %s stands for the kind of records
 * (CSV), %d or %05d for the number of the file, %% for a percent sign. Rotated files without a
 * number in their name get "-00000" before the extension. */
typedef struct GstPublishFileConfig {
  const char *location;
  gboolean append;          /* append to the file, or start after the existing file numbers */
  gboolean text;            /* text lines: an incomplete last line is ended before appending */
  guint64 rotate_size;      /* bytes, 0 = off */
  GstClockTime rotate_time; /* ns of running time, 0 = off */
  guint max_files;          /* of this run that are kept, 0 = all */
} GstPublishFileConfig;

typedef struct GstPublishFile {
  GstPublishFileConfig config; /* location is owned */
  char *kind;
  char *path; /* of the open file, or of the one to open next */
  int fd;     /* -1: not open, or a pipe without a reader */
  gboolean regular, nonblocking, numbered, opened_before;
  gboolean fresh;       /* nothing was written since it was opened, and it was empty */
  guint64 size;         /* bytes of complete records */
  guint number;         /* of the open file */
  GstClockTime started; /* running time of its first frame, or NONE */
  GQueue paths;         /* of the files of this run, oldest first */
} GstPublishFile;

/* Checks `location` and, with `has_kinds`, whether it names the kinds. */
gboolean gst_publish_file_check(const GstPublishFileConfig *config, gboolean has_kinds,
                                GError **error);
gboolean gst_publish_location_has_kind(const char *location);

/* Prepares a file; `kind` may be NULL. Nothing is opened yet. */
void gst_publish_file_init(GstPublishFile *file, const GstPublishFileConfig *config,
                           const char *kind);

/* Opens it. A pipe without a reader is no error: it is opened when it is written. */
gboolean gst_publish_file_open(GstPublishFile *file, GstPublishSink *sink, GError **error);

/* Opens the file unless it is open. */
GstPublishStatus gst_publish_file_ensure(GstPublishFile *file, GstPublishSink *sink);

/* Writes the parts as one record: completely, or, in a regular file, not at all. */
GstPublishStatus gst_publish_file_write(GstPublishFile *file, GstPublishSink *sink,
                                        const struct iovec *parts, int count);

/* Returns TRUE when a record of `bytes` at `running_time` belongs into the next file. */
gboolean gst_publish_file_is_due(const GstPublishFile *file, gsize bytes,
                                 GstClockTime running_time);

/* Closes the file; the next write opens the next one. */
void gst_publish_file_rotate(GstPublishFile *file);

/* Cuts an open regular file to `size` bytes. */
gboolean gst_publish_file_truncate(GstPublishFile *file, guint64 size);

/* Bytes that can still be written, as far as the file system knows; G_MAXUINT64 when it does
 * not. */
guint64 gst_publish_file_space(const GstPublishFile *file);

/* Waits until the disk has what was written. */
void gst_publish_file_sync(GstPublishFile *file);

void gst_publish_file_clear(GstPublishFile *file);

G_END_DECLS
#endif
