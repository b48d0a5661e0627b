/* SPDX-License-Identifier: MIT */
/* calib_document.c: entries and numbers of a calibration file, and its error messages. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE /* strtod_l */
#endif
#include "rectify/calib_document.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CalibDocument *rv_calib_document_new(const char *name, const void *bytes, size_t size,
                                     const RvLog *log) {
  /* A number has a digit and a separator, an entry at least two bytes more. */
  size_t numbers = size / 2 + 2, entries = size / 3 + 2;
  numbers = numbers < CALIB_NUMBERS_MAX ? numbers : CALIB_NUMBERS_MAX;
  entries = entries < CALIB_ENTRIES_MAX ? entries : CALIB_ENTRIES_MAX;
  CalibDocument *doc = rv_memory_object(sizeof *doc + numbers * sizeof *doc->numbers +
                                        entries * sizeof *doc->entries);
  if (!doc)
    return NULL;
  doc->name = name;
  doc->bytes = bytes;
  doc->size = size;
  doc->log = log;
  doc->numbers = (double *)(void *)(doc + 1);
  doc->entries = (CalibEntry *)(void *)(doc->numbers + numbers);
  doc->number_capacity = numbers;
  doc->entry_capacity = entries;
  return doc;
}

void rv_calib_document_free(CalibDocument **doc) {
  if (*doc)
    rv_memory_free(*doc, RV_CPU);
  *doc = NULL;
}

RvStatus rv_calib_error(const CalibDocument *doc, int line, const char *format, ...) {
  char text[360], place[16] = "";
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  for (char *c = text; *c; c++) /* text of the file may be quoted in it */
    if ((unsigned char)*c < 32)
      *c = '?';
  if (line > 0)
    snprintf(place, sizeof place, ":%d", line);
  rv_log(doc->log, "calibration: %s%s: %s", doc->name, place, text);
  return RV_ERR_IO;
}

/* --- Paths ----------------------------------------------------------------------------------- */

RvStatus rv_calib_push_key(const CalibDocument *doc, CalibPath *path, const char *key,
                           size_t length, int line) {
  const size_t dot = path->length > 0;
  if (path->length + dot + length >= sizeof path->text)
    return rv_calib_error(doc, line, "the key \"%.*s\" is too long (at most %d bytes)",
                          length < 40 ? (int)length : 40, key, CALIB_KEY_MAX - 1);
  if (dot)
    path->text[path->length++] = '.';
  memcpy(path->text + path->length, key, length);
  path->length += length;
  path->text[path->length] = 0;
  return RV_OK;
}

RvStatus rv_calib_push_index(const CalibDocument *doc, CalibPath *path, int index, int line) {
  char text[16];
  const int length = snprintf(text, sizeof text, "[%d]", index);
  if (path->length + (size_t)length >= sizeof path->text)
    return rv_calib_error(doc, line, "a list is nested too deep in \"%.40s\"", path->text);
  memcpy(path->text + path->length, text, (size_t)length + 1);
  path->length += (size_t)length;
  return RV_OK;
}

/* --- Values ---------------------------------------------------------------------------------- */

RvStatus rv_calib_add(CalibDocument *doc, const CalibPath *path, int line, CalibEntry **out) {
  if (doc->entry_count >= doc->entry_capacity)
    return rv_calib_error(doc, line, "too many entries (at most %d)", CALIB_ENTRIES_MAX);
  CalibEntry *entry = &doc->entries[doc->entry_count++];
  memcpy(entry->key, path->text, path->length + 1);
  entry->line = line;
  entry->first = doc->number_count;
  *out = entry;
  return RV_OK;
}

static RvStatus add_number(CalibDocument *doc, CalibEntry *entry, double value, int line) {
  if (doc->number_count >= doc->number_capacity)
    return rv_calib_error(doc, line, "too many numbers (at most %d)", CALIB_NUMBERS_MAX);
  doc->numbers[doc->number_count++] = value;
  entry->count++;
  return RV_OK;
}

RvStatus rv_calib_list_number(CalibDocument *doc, CalibList *list, double value) {
  const CalibEntry *entry = list->entry;
  if (!entry || entry->first + entry->count != doc->number_count)
    RV_TRY(rv_calib_add(doc, &list->path, list->line, &list->entry));
  return add_number(doc, list->entry, value, list->line);
}

RvStatus rv_calib_scalar(CalibDocument *doc, const CalibPath *path, CalibList *list,
                         const char *text, size_t length, int quoted, int line) {
  double value = 0;
  const int is_number = !quoted && rv_calib_number(text, length, &value);
  if (list && is_number)
    return rv_calib_list_number(doc, list, value);
  CalibEntry *entry = NULL;
  RV_TRY(rv_calib_add(doc, path, line, &entry));
  entry->text = text;
  entry->length = length;
  return is_number ? add_number(doc, entry, value, line) : RV_OK;
}

static int is_word(const char *text, size_t length, const char *word) {
  if (length != strlen(word))
    return 0;
  for (size_t i = 0; i < length; i++)
    if ((text[i] | 32) != word[i])
      return 0;
  return 1;
}

/* [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent. */
static int is_decimal(const char *text, size_t length) {
  size_t i = 0, digits = 0;
  if (i < length && (text[i] == '+' || text[i] == '-'))
    i++;
  for (int dots = 0; i < length; i++) {
    if (text[i] >= '0' && text[i] <= '9')
      digits++;
    else if (text[i] != '.' || dots++)
      break;
  }
  if (!digits)
    return 0;
  if (i == length)
    return 1;
  if ((text[i++] | 32) != 'e')
    return 0;
  if (i < length && (text[i] == '+' || text[i] == '-'))
    i++;
  const size_t exponent = i;
  while (i < length && text[i] >= '0' && text[i] <= '9')
    i++;
  return i == length && i > exponent;
}

int rv_calib_number(const char *text, size_t length, double *value) {
  char copy[64];
  if (length == 0 || length >= sizeof copy)
    return 0;
  if (is_decimal(text, length)) {
    memcpy(copy, text, length);
    copy[length] = 0;
    /* The C locale is static in the C library: nothing to free. */
    *value = strtod_l(copy, NULL, newlocale(LC_ALL_MASK, "C", NULL));
    return 1;
  }
  const int minus = *text == '-', sign = minus || *text == '+';
  const char *word = text + sign;
  size_t rest = length - (size_t)sign;
  if (rest > 0 && *word == '.') {
    word++;
    rest--;
  }
  if (is_word(word, rest, "nan")) {
    *value = NAN;
    return 1;
  }
  if (is_word(word, rest, "inf") || is_word(word, rest, "infinity")) {
    *value = minus ? -INFINITY : INFINITY;
    return 1;
  }
  return 0;
}

const CalibEntry *rv_calib_find(const CalibDocument *doc, const char *key) {
  for (size_t i = 0; i < doc->entry_count; i++)
    if (strcmp(doc->entries[i].key, key) == 0)
      return &doc->entries[i];
  return NULL;
}

int rv_calib_is(const CalibEntry *entry, const char *text) {
  return entry && entry->text && entry->length == strlen(text) &&
         memcmp(entry->text, text, entry->length) == 0;
}
