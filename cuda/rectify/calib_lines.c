/* SPDX-License-Identifier: MIT */
/* calib_lines.c: line by line syntaxes: "key=value" with sections (ZED) or without (Middlebury),
 * titled blocks (ROS INI) and "key: numbers" (KITTI). */
#include "rectify/calib_document.h"

#include <string.h>

/* One line without blanks at its ends. */
typedef struct Line {
  const char *text;
  size_t length;
  int number;
} Line;

typedef struct Lines {
  const char *at, *end;
  int number;
} Lines;

static int is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **text, size_t *length) {
  while (*length && is_blank(**text)) {
    (*text)++;
    (*length)--;
  }
  while (*length && is_blank((*text)[*length - 1]))
    (*length)--;
}

/* Next line that is neither empty nor a comment; 0 at the end. */
static int next(Lines *lines, Line *line) {
  while (lines->at < lines->end) {
    const char *stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    line->text = lines->at;
    line->length = (size_t)((stop ? stop : lines->end) - lines->at);
    line->number = ++lines->number;
    lines->at = stop ? stop + 1 : lines->end;
    trim(&line->text, &line->length);
    if (line->length && *line->text != '#' && *line->text != ';')
      return 1;
  }
  return 0;
}

static Lines lines_of(const CalibDocument *doc) {
  return (Lines){doc->bytes, doc->bytes + doc->size, 0};
}

static int quote_length(const Line *line) {
  return line->length < 40 ? (int)line->length : 40;
}

/* Words that are separated by blanks, commas, semicolons or brackets; as a list when all are
 * numbers, else as one scalar. */
static RvStatus add_words(CalibDocument *doc, const CalibPath *path, CalibList *list,
                          const char *text, size_t length, int line) {
  static const char separators[] = " \t\r,;[]";
  double value;
  size_t words = 0, numbers = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < length;) {
      while (i < length && memchr(separators, text[i], sizeof separators - 1))
        i++;
      const size_t from = i;
      while (i < length && !memchr(separators, text[i], sizeof separators - 1))
        i++;
      if (i == from)
        continue;
      const int is_number = rv_calib_number(text + from, i - from, &value);
      words += pass == 0;
      numbers += pass == 0 && is_number;
      if (pass == 1)
        RV_TRY(rv_calib_list_number(doc, list, value));
    }
    if (numbers == 0 || numbers < words)
      return rv_calib_scalar(doc, path, NULL, text, length, 1, line);
  }
  return RV_OK;
}

static RvStatus add_value(CalibDocument *doc, const CalibPath *path, const char *text,
                          size_t length, int line) {
  CalibList list = {.path = *path, .line = line};
  trim(&text, &length);
  return add_words(doc, path, &list, text, length, line);
}

/* "[name]": sets the path. */
static RvStatus take_section(CalibDocument *doc, const Line *line, CalibPath *section) {
  if (line->length < 3 || line->text[line->length - 1] != ']')
    return rv_calib_error(doc, line->number, "expected ']' at the end of \"%.*s\"",
                          quote_length(line), line->text);
  section->length = 0;
  return rv_calib_push_key(doc, section, line->text + 1, line->length - 2, line->number);
}

RvStatus rv_calib_parse_assignments(CalibDocument *doc) {
  Lines lines = lines_of(doc);
  CalibPath section = {{0}, 0};
  for (Line line; next(&lines, &line);) {
    if (*line.text == '[') {
      RV_TRY(take_section(doc, &line, &section));
      continue;
    }
    const char *equals = memchr(line.text, '=', line.length);
    if (!equals || equals == line.text)
      return rv_calib_error(doc, line.number, "expected \"key=value\", found \"%.*s\"",
                            quote_length(&line), line.text);
    CalibPath path = section;
    const char *key = line.text;
    size_t length = (size_t)(equals - key);
    trim(&key, &length);
    RV_TRY(rv_calib_push_key(doc, &path, key, length, line.number));
    RV_TRY(add_value(doc, &path, equals + 1, line.length - (size_t)(equals + 1 - line.text),
                     line.number));
  }
  return RV_OK;
}

RvStatus rv_calib_parse_ros_ini(CalibDocument *doc) {
  Lines lines = lines_of(doc);
  CalibPath section = {{0}, 0};
  CalibList list = {.path = section};
  for (Line line; next(&lines, &line);) {
    double value;
    size_t word = 0;
    while (word < line.length && !is_blank(line.text[word]))
      word++;
    if (*line.text == '[') {
      RV_TRY(take_section(doc, &line, &section));
      list = (CalibList){.path = section, .line = line.number};
    } else if (rv_calib_number(line.text, word, &value)) {
      RV_TRY(add_words(doc, &list.path, &list, line.text, line.length, line.number));
    } else {
      list = (CalibList){.path = section, .line = line.number};
      RV_TRY(rv_calib_push_key(doc, &list.path, line.text, line.length, line.number));
    }
  }
  return RV_OK;
}

RvStatus rv_calib_parse_lines(CalibDocument *doc) {
  Lines lines = lines_of(doc);
  int bare = 0;
  for (Line line; next(&lines, &line);) {
    CalibPath path = {{0}, 0};
    const char *colon = memchr(line.text, ':', line.length), *value = line.text;
    if (colon) {
      RV_TRY(rv_calib_push_key(doc, &path, line.text, (size_t)(colon - line.text), line.number));
      value = colon + 1;
    } else { /* odometry extract: rows without names */
      const char name[3] = {'P', (char)('0' + bare % 10), 0};
      if (bare++ > 1)
        return rv_calib_error(
            doc, line.number,
            "expected \"key: numbers\" or two lines of 12 numbers, found \"%.*s\"",
            quote_length(&line), line.text);
      RV_TRY(rv_calib_push_key(doc, &path, name, 2, line.number));
    }
    RV_TRY(add_value(doc, &path, value, line.length - (size_t)(value - line.text), line.number));
  }
  return RV_OK;
}
