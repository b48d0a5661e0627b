/* SPDX-License-Identifier: MIT */
/* calib_document.h: what every syntax of calibration files is parsed into: a list of entries, each
 * a path of keys with a scalar or a list of numbers.
 *
 *   M1: !!opencv-matrix         "M1.rows" 3, "M1.data" [533.6, 0, 342.3, ...]
 *   cam1: {intrinsics: [1, 2]}  "cam1.intrinsics" [1, 2]
 *   T: [[1, 2], [3, 4]]         "T" [1, 2, 3, 4]: nested lists of numbers become one
 *   a: [2, {b: 5}, name]        "a" [2], "a[1].b" 5, "a[2]" "name"
 *
 * Internal. */
#ifndef RV_CALIB_DOCUMENT_H
#define RV_CALIB_DOCUMENT_H

#include "rv_internal.h"

#define CALIB_BYTES_MAX (1 << 20)
#define CALIB_DEPTH_MAX 8
#define CALIB_ENTRIES_MAX 1024
#define CALIB_NUMBERS_MAX 100000
#define CALIB_KEY_MAX 96 /* bytes of a path, with its end */

typedef struct CalibEntry {
  char key[CALIB_KEY_MAX];
  int line;
  const char *text;    /* scalar as written, without quotes, not terminated; NULL: a list */
  size_t length;       /* of text */
  size_t first, count; /* its numbers in the document; a scalar that is no number has none */
} CalibEntry;

typedef struct CalibDocument {
  const char *name; /* of the file, for messages */
  const char *bytes;
  size_t size;
  const RvLog *log;
  CalibEntry *entries;
  double *numbers;
  size_t entry_count, entry_capacity, number_count, number_capacity;
} CalibDocument;

/* Path of the entry that is being parsed. */
typedef struct CalibPath {
  char text[CALIB_KEY_MAX];
  size_t length;
} CalibPath;

/* Empty document for the bytes, which must outlive it; NULL when memory is exhausted. */
CalibDocument *rv_calib_document_new(const char *name, const void *bytes, size_t size,
                                     const RvLog *log);
void rv_calib_document_free(CalibDocument **doc);

/* Logs "calibration: NAME:LINE: ..." (without line when 0) and returns RV_ERR_IO. */
RvStatus rv_calib_error(const CalibDocument *doc, int line, const char *format, ...)
    RV_PRINTF(3, 4);

/* Appends ".key" (or "key" to an empty path) or "[index]". */
RvStatus rv_calib_push_key(const CalibDocument *doc, CalibPath *path, const char *key,
                           size_t length, int line);
RvStatus rv_calib_push_index(const CalibDocument *doc, CalibPath *path, int index, int line);

/* New entry of that path without value. */
RvStatus rv_calib_add(CalibDocument *doc, const CalibPath *path, int line, CalibEntry **out);

/* A list that is being parsed: its numbers go to the last entry of this key. */
typedef struct CalibList {
  CalibPath path;
  int line;
  CalibEntry *entry; /* NULL before the first number */
} CalibList;

/* Stores a scalar. `list` is the outermost list around it, NULL outside of lists. Quoted scalars
 * are never numbers. */
RvStatus rv_calib_scalar(CalibDocument *doc, const CalibPath *path, CalibList *list,
                         const char *text, size_t length, int quoted, int line);
RvStatus rv_calib_list_number(CalibDocument *doc, CalibList *list, double value);

/* A decimal number, whatever the locale; also .5, 500., .Nan, -.Inf. 0 when it is none. */
int rv_calib_number(const char *text, size_t length, double *value);

/* First entry of that key, NULL without. */
const CalibEntry *rv_calib_find(const CalibDocument *doc, const char *key);

/* 1 when `entry` is a scalar of this text. */
int rv_calib_is(const CalibEntry *entry, const char *text);

/* Parsers of the syntaxes. */
RvStatus rv_calib_parse_yaml(CalibDocument *doc);
RvStatus rv_calib_parse_json(CalibDocument *doc);
RvStatus rv_calib_parse_xml(CalibDocument *doc);
RvStatus
rv_calib_parse_assignments(CalibDocument *doc);      /* key=value, [sections]: ZED, Middlebury */
RvStatus rv_calib_parse_ros_ini(CalibDocument *doc); /* [section], title, rows of numbers */
RvStatus rv_calib_parse_lines(CalibDocument *doc);   /* KITTI: "key: numbers" */

#endif
