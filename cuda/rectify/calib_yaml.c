/* SPDX-License-Identifier: MIT */
/* calib_yaml.c: the part of YAML that calibration tools write, and JSON, which is its flow style.
 *
 * Accepted: block mappings and sequences by indentation, flow lists and mappings over several lines,
 * plain and quoted scalars, comments, tags (ignored), literal blocks (as text), one document. Not
 * accepted, each with an error: anchors and aliases, merge keys, tabs as indentation, scalars over
 * several lines. "%" directives are ignored, for OpenCV writes one that is not valid YAML. */
#include "rectify/calib_document.h"

#include <string.h>

typedef struct Yaml {
  CalibDocument *doc;
  const char *at, *end;
  const char *line_start;
  int line;
  int is_done; /* no further content */
  CalibPath path;
} Yaml;

static RvStatus parse_block(Yaml *y, int depth, CalibList *list);
static RvStatus parse_flow(Yaml *y, int depth, CalibList *list);

static int is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static int column_of(const Yaml *y) {
  return (int)(y->at - y->line_start);
}

static void skip_blanks(Yaml *y) {
  while (y->at < y->end && is_blank(*y->at))
    y->at++;
}

/* Bytes to the end of the line, at most 40, to be quoted with %.*s. */
static int rest_of_line(const Yaml *y) {
  int n = 0;
  while (n < 40 && y->at + n < y->end && y->at[n] != '\n' && y->at[n] != '\r')
    n++;
  return n;
}

static RvStatus expected(const Yaml *y, const char *what) {
  if (y->at >= y->end)
    return rv_calib_error(y->doc, y->line, "expected %s, found the end of the file", what);
  return rv_calib_error(y->doc, y->line, "expected %s, found \"%.*s\"", what, rest_of_line(y),
                        y->at);
}

/* --- Lines ----------------------------------------------------------------------------------- */

static void next_line(Yaml *y) {
  while (y->at < y->end && *y->at != '\n')
    y->at++;
  if (y->at < y->end) {
    y->at++;
    y->line++;
  }
  y->line_start = y->at;
}

static int starts_with(const Yaml *y, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(y->end - y->at) >= length && memcmp(y->at, text, length) == 0;
}

/* From a start of a line to the next content. */
static RvStatus find_content(Yaml *y) {
  for (; y->at < y->end; next_line(y)) {
    if (starts_with(y, "..."))
      break;
    if (starts_with(y, "---")) {
      y->at += 3;
      if (y->doc->entry_count > 0) /* a second document */
        break;
    }
    while (y->at < y->end && *y->at == ' ')
      y->at++;
    if (y->at < y->end && *y->at == '\t') {
      skip_blanks(y);
      if (y->at < y->end && *y->at != '\n' && *y->at != '#')
        return rv_calib_error(y->doc, y->line, "a tab is not valid indentation: use spaces");
    }
    skip_blanks(y);
    if (y->at < y->end && *y->at != '\n' && *y->at != '#' && !(column_of(y) == 0 && *y->at == '%'))
      return RV_OK;
  }
  y->is_done = 1;
  return RV_OK;
}

/* After a value: the rest of its line must be empty. */
static RvStatus end_line(Yaml *y) {
  skip_blanks(y);
  if (y->at < y->end && *y->at != '\n' && *y->at != '#')
    return expected(y, "the end of the line");
  next_line(y);
  return find_content(y);
}

/* --- Scalars --------------------------------------------------------------------------------- */

/* The quote that closes the one at `at`, NULL without one on its line. */
static const char *closing_quote(const char *at, const char *end) {
  const char quote = *at++;
  while (at < end && *at != quote && *at != '\n')
    at += quote == '"' && *at == '\\' ? 2 : 1;
  return at < end && *at == quote ? at : NULL;
}

/* At a quote; the cursor ends behind the closing one. */
static RvStatus quoted(Yaml *y, const char **text, size_t *length) {
  const char *close = closing_quote(y->at, y->end);
  if (!close)
    return rv_calib_error(y->doc, y->line, "expected %c at the end of %.*s", *y->at,
                          rest_of_line(y), y->at);
  *text = y->at + 1;
  *length = (size_t)(close - *text);
  y->at = close + 1;
  return RV_OK;
}

/* Up to a comment, the end of the line or one of `ends`; without trailing blanks. */
static void plain(Yaml *y, const char *ends, const char **text, size_t *length) {
  *text = y->at;
  while (y->at < y->end && *y->at != '\n' && !strchr(ends, *y->at) &&
         !(*y->at == '#' && y->at > *text && is_blank(y->at[-1])))
    y->at++;
  const char *last = y->at;
  while (last > *text && is_blank(last[-1]))
    last--;
  *length = (size_t)(last - *text);
}

/* Skips tags before a value. */
static RvStatus skip_tags(Yaml *y) {
  skip_blanks(y);
  while (y->at < y->end && *y->at == '!') {
    while (y->at < y->end && !is_blank(*y->at) && *y->at != '\n')
      y->at++;
    skip_blanks(y);
  }
  if (y->at < y->end && (*y->at == '&' || *y->at == '*'))
    return rv_calib_error(y->doc, y->line, "YAML anchors and aliases (%.*s) are not accepted",
                          rest_of_line(y), y->at);
  return RV_OK;
}

/* "|" or ">": the lines that are indented deeper than `indent`, as one text. */
static RvStatus literal(Yaml *y, int indent) {
  const int line = y->line;
  next_line(y);
  const char *text = y->at, *last = y->at;
  while (y->at < y->end) {
    while (y->at < y->end && *y->at == ' ')
      y->at++;
    if (y->at < y->end && *y->at != '\n' && *y->at != '\r' && column_of(y) <= indent)
      break;
    next_line(y);
    last = y->at;
  }
  y->at = y->line_start;
  RV_TRY(rv_calib_scalar(y->doc, &y->path, NULL, text, (size_t)(last - text), 1, line));
  return find_content(y);
}

/* --- Flow style ------------------------------------------------------------------------------ */

/* To the next token of a list or mapping that may go on over several lines. */
static void skip_space(Yaml *y) {
  for (;;) {
    skip_blanks(y);
    if (y->at < y->end && *y->at == '#') {
      while (y->at < y->end && *y->at != '\n')
        y->at++;
    }
    if (y->at >= y->end || *y->at != '\n')
      return;
    next_line(y);
  }
}

static RvStatus flow_value(Yaml *y, int depth, CalibList *list) {
  RV_TRY(skip_tags(y));
  skip_space(y);
  if (y->at < y->end && (*y->at == '[' || *y->at == '{'))
    return parse_flow(y, depth + 1, list);
  const char *text = y->at;
  size_t length = 0;
  const int line = y->line, is_quoted = y->at < y->end && (*y->at == '"' || *y->at == '\'');
  if (is_quoted)
    RV_TRY(quoted(y, &text, &length));
  else
    plain(y, ",]}[{", &text, &length);
  if (!length && !is_quoted)
    return expected(y, "a value");
  return rv_calib_scalar(y->doc, &y->path, list, text, length, is_quoted, line);
}

/* 1 when `close` is next after white space. */
static int is_at(Yaml *y, char close) {
  skip_space(y);
  return y->at < y->end && *y->at == close;
}

/* After an entry: back to the path of the collection, and past a comma. */
static RvStatus end_entry(Yaml *y, size_t path_length, char close, const char *wanted) {
  y->path.text[y->path.length = path_length] = 0;
  if (is_at(y, ','))
    y->at++;
  else if (!is_at(y, close))
    return expected(y, wanted);
  return RV_OK;
}

/* The list whose numbers those of a list within it belong to: `outer`, or if there is none, `own`. */
static CalibList *list_in(const Yaml *y, CalibList *outer, CalibList *own) {
  *own = (CalibList){.path = y->path, .line = y->line};
  return outer ? outer : own;
}

static RvStatus flow_list(Yaml *y, int depth, CalibList *outer) {
  CalibList own, *list = list_in(y, outer, &own);
  const size_t length = y->path.length;
  y->at++;
  for (int i = 0; !is_at(y, ']'); i++) {
    RV_TRY(rv_calib_push_index(y->doc, &y->path, i, y->line));
    RV_TRY(flow_value(y, depth, list));
    RV_TRY(end_entry(y, length, ']', "',' or ']'"));
  }
  y->at++;
  return RV_OK;
}

static RvStatus flow_mapping(Yaml *y, int depth) {
  const size_t length = y->path.length;
  y->at++;
  while (!is_at(y, '}')) {
    const char *key = y->at;
    size_t key_length = 0;
    if (y->at < y->end && (*y->at == '"' || *y->at == '\''))
      RV_TRY(quoted(y, &key, &key_length));
    else
      plain(y, ":,]}[{", &key, &key_length);
    skip_space(y);
    if (!key_length || y->at >= y->end || *y->at != ':')
      return expected(y, "'key: value'");
    y->at++;
    RV_TRY(rv_calib_push_key(y->doc, &y->path, key, key_length, y->line));
    RV_TRY(flow_value(y, depth, NULL));
    RV_TRY(end_entry(y, length, '}', "',' or '}'"));
  }
  y->at++;
  return RV_OK;
}

static RvStatus parse_flow(Yaml *y, int depth, CalibList *list) {
  if (depth > CALIB_DEPTH_MAX)
    return rv_calib_error(y->doc, y->line, "nested too deep (at most %d levels)", CALIB_DEPTH_MAX);
  return *y->at == '[' ? flow_list(y, depth, list) : flow_mapping(y, depth);
}

/* --- Block style ----------------------------------------------------------------------------- */

static int is_item(const Yaml *y) {
  return *y->at == '-' && (y->at + 1 == y->end || is_blank(y->at[1]) || y->at[1] == '\n');
}

/* A value on the line of its key or dash, which stands at column `indent`. A block that follows may
 * stand at `indent` too when it is a sequence of a key. */
static RvStatus block_value(Yaml *y, int indent, int is_key, int depth, CalibList *list) {
  RV_TRY(skip_tags(y));
  const int line = y->line;
  const char *text = y->at;
  size_t length = 0;
  if (y->at >= y->end || *y->at == '\n' || *y->at == '#') {
    next_line(y);
    RV_TRY(find_content(y));
    if (!y->is_done && (column_of(y) > indent || (is_key && column_of(y) == indent && is_item(y))))
      return parse_block(y, depth + 1, list);
    return rv_calib_scalar(y->doc, &y->path, NULL, text, 0, 1, line); /* empty */
  }
  if (*y->at == '|' || *y->at == '>')
    return literal(y, indent);
  if (*y->at == '[' || *y->at == '{') {
    RV_TRY(parse_flow(y, depth + 1, list));
    return end_line(y);
  }
  const int is_quoted = *y->at == '"' || *y->at == '\'';
  if (is_quoted)
    RV_TRY(quoted(y, &text, &length));
  else
    plain(y, "", &text, &length);
  RV_TRY(rv_calib_scalar(y->doc, &y->path, list, text, length, is_quoted, line));
  return end_line(y);
}

/* 1 at a key, with the cursor then behind its colon; else the cursor stays. */
static int take_key(Yaml *y, const char **key, size_t *length) {
  const char *at = y->at;
  *key = at;
  if (at < y->end && (*at == '"' || *at == '\'')) {
    const char *close = closing_quote(at, y->end);
    if (!close)
      return 0;
    *key = at + 1;
    *length = (size_t)(close - *key);
    for (at = close + 1; at < y->end && is_blank(*at); at++) {
    }
  } else {
    while (at < y->end && *at != '\n' && *at != '#' && !strchr("[]{},\"'&*", *at) &&
           !(*at == ':' && (at + 1 == y->end || is_blank(at[1]) || at[1] == '\n')))
      at++;
    *length = (size_t)(at - *key);
  }
  if (*length == 0 || at >= y->end || *at != ':')
    return 0;
  y->at = at + 1;
  return 1;
}

static RvStatus block_mapping(Yaml *y, int depth) {
  const int indent = column_of(y);
  const size_t path = y->path.length;
  while (!y->is_done && column_of(y) == indent && !is_item(y)) {
    const char *key;
    size_t length = 0;
    if (!take_key(y, &key, &length))
      return expected(y, "'key: value'");
    RV_TRY(rv_calib_push_key(y->doc, &y->path, key, length, y->line));
    RV_TRY(block_value(y, indent, 1, depth, NULL));
    y->path.text[y->path.length = path] = 0;
  }
  if (!y->is_done && column_of(y) > indent)
    return rv_calib_error(y->doc, y->line, "unexpected indentation before \"%.*s\"",
                          rest_of_line(y), y->at);
  return RV_OK;
}

static RvStatus block_sequence(Yaml *y, int depth, CalibList *outer) {
  CalibList own, *list = list_in(y, outer, &own);
  const int indent = column_of(y);
  const size_t path = y->path.length;
  for (int i = 0; !y->is_done && column_of(y) == indent && is_item(y); i++) {
    RV_TRY(rv_calib_push_index(y->doc, &y->path, i, y->line));
    y->at++;
    skip_blanks(y);
    /* "- - 1" and "- key: value" begin a block at the column of their content. */
    Yaml ahead = *y;
    const char *key;
    size_t length;
    const int nested = y->at < y->end && *y->at != '\n' && *y->at != '#' &&
                       (is_item(y) || take_key(&ahead, &key, &length));
    RV_TRY(nested ? parse_block(y, depth + 1, list) : block_value(y, indent, 0, depth, list));
    y->path.text[y->path.length = path] = 0;
  }
  return RV_OK;
}

static RvStatus parse_block(Yaml *y, int depth, CalibList *list) {
  if (depth > CALIB_DEPTH_MAX)
    return rv_calib_error(y->doc, y->line, "nested too deep (at most %d levels)", CALIB_DEPTH_MAX);
  return is_item(y) ? block_sequence(y, depth, list) : block_mapping(y, depth);
}

/* --- Documents ------------------------------------------------------------------------------- */

static Yaml yaml_of(CalibDocument *doc) {
  return (Yaml){.doc = doc,
                .at = doc->bytes,
                .end = doc->bytes + doc->size,
                .line_start = doc->bytes,
                .line = 1};
}

RvStatus rv_calib_parse_yaml(CalibDocument *doc) {
  Yaml y = yaml_of(doc);
  RV_TRY(find_content(&y));
  if (y.is_done)
    return rv_calib_error(doc, 0, "the file is empty");
  RV_TRY(parse_block(&y, 0, NULL));
  return y.is_done ? RV_OK : expected(&y, "'key: value' at the indentation of the first key");
}

RvStatus rv_calib_parse_json(CalibDocument *doc) {
  Yaml y = yaml_of(doc);
  skip_space(&y);
  if (y.at >= y.end || *y.at != '{')
    return expected(&y, "'{'");
  RV_TRY(parse_flow(&y, 1, NULL));
  skip_space(&y);
  return y.at >= y.end || !*y.at ? RV_OK : expected(&y, "the end of the file");
}
