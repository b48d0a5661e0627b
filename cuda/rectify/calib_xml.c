/* SPDX-License-Identifier: MIT */
/* calib_xml.c: the part of XML that OpenCV's FileStorage writes: elements with text or children,
 * comments, attributes (ignored). Document types and entities other than the five predefined ones
 * are not accepted; the latter are left as they are. The root element is not part of paths; elements
 * named "_" are items of a list. */
#include "rectify/calib_document.h"

#include <string.h>

typedef struct Xml {
  CalibDocument *doc;
  const char *at, *end;
  int line;
  CalibPath path;
} Xml;

static int is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c && strchr("_-.:", c)) || (unsigned char)c >= 128;
}

static void advance(Xml *x, size_t count) {
  for (; count > 0 && x->at < x->end; count--)
    x->line += *x->at++ == '\n';
}

static int starts_with(const Xml *x, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(x->end - x->at) >= length && memcmp(x->at, text, length) == 0;
}

static RvStatus expected(const Xml *x, const char *what) {
  int n = 0;
  while (n < 40 && x->at + n < x->end && x->at[n] != '\n')
    n++;
  if (n == 0 && x->at >= x->end)
    return rv_calib_error(x->doc, x->line, "expected %s, found the end of the file", what);
  return rv_calib_error(x->doc, x->line, "expected %s, found \"%.*s\"", what, n, x->at);
}

/* Past `text`, which must come. */
static RvStatus skip_past(Xml *x, const char *text) {
  while (x->at < x->end && !starts_with(x, text))
    advance(x, 1);
  if (x->at >= x->end)
    return expected(x, text);
  advance(x, strlen(text));
  return RV_OK;
}

/* White space, comments and processing instructions. */
static RvStatus skip_space(Xml *x) {
  for (;;) {
    while (x->at < x->end && is_space(*x->at))
      advance(x, 1);
    if (starts_with(x, "<!--"))
      RV_TRY(skip_past(x, "-->"));
    else if (starts_with(x, "<?"))
      RV_TRY(skip_past(x, "?>"));
    else if (starts_with(x, "<!"))
      return rv_calib_error(x->doc, x->line,
                            "XML document types, entities and CDATA are not accepted");
    else
      return RV_OK;
  }
}

/* "<name attributes>": stores the name; *is_empty for "<name/>". After an error the name is empty. */
static RvStatus open_tag(Xml *x, const char **name, size_t *length, int *is_empty) {
  *name = x->at;
  *length = 0;
  *is_empty = 0;
  if (x->at >= x->end || *x->at != '<')
    return expected(x, "an element");
  advance(x, 1);
  *name = x->at;
  while (x->at < x->end && is_name(*x->at))
    advance(x, 1);
  *length = (size_t)(x->at - *name);
  if (!*length)
    return expected(x, "the name of an element");
  char quote = 0;
  for (; x->at < x->end && (quote || *x->at != '>'); advance(x, 1)) {
    if (quote)
      quote = *x->at == quote ? 0 : quote;
    else if (*x->at == '"' || *x->at == '\'')
      quote = *x->at;
    else if (*x->at == '<')
      return expected(x, "'>'");
  }
  if (x->at >= x->end)
    return expected(x, "'>'");
  *is_empty = x->at[-1] == '/';
  advance(x, 1);
  return RV_OK;
}

static RvStatus close_tag(Xml *x, const char *name, size_t length) {
  if (!starts_with(x, "</") || (size_t)(x->end - x->at) < length + 2 ||
      memcmp(x->at + 2, name, length) != 0 ||
      (x->at + 2 + length < x->end && is_name(x->at[2 + length]))) {
    char what[80];
    size_t n = length < 40 ? length : 40;
    memcpy(what, "</", 2);
    memcpy(what + 2, name, n);
    memcpy(what + 2 + n, ">", 2);
    return expected(x, what);
  }
  advance(x, length + 2);
  while (x->at < x->end && is_space(*x->at))
    advance(x, 1);
  if (x->at >= x->end || *x->at != '>')
    return expected(x, "'>'");
  advance(x, 1);
  return RV_OK;
}

/* Words between the tags of one element: one is a scalar, several numbers are a list, several
 * others are a scalar with all of them. */
static RvStatus parse_text(Xml *x) {
  const int line = x->line;
  CalibList list = {.path = x->path, .line = line};
  const char *text = x->at, *last = x->at;
  const char *stop = memchr(x->at, '<', (size_t)(x->end - x->at));
  int words = 0, numbers = 0;
  double value;
  if (!stop)
    stop = x->end;
  for (const char *word = text; word < stop; word = last) {
    while (word < stop && is_space(*word))
      word++;
    for (last = word; last < stop && !is_space(*last); last++) {
    }
    words += last > word;
    numbers += rv_calib_number(word, (size_t)(last - word), &value);
  }
  last = stop;
  while (last > text && is_space(last[-1]))
    last--;
  const int is_list = words > 1 && numbers == words;
  if (!is_list) {
    const int is_quoted = last - text > 1 && *text == '"' && last[-1] == '"';
    RV_TRY(rv_calib_scalar(x->doc, &x->path, NULL, text + is_quoted,
                           (size_t)(last - text) - 2 * (size_t)is_quoted, words != 1, line));
  }
  for (const char *word = text; is_list && word < last;) {
    const char *from = word;
    while (word < last && !is_space(*word))
      word++;
    if (rv_calib_number(from, (size_t)(word - from), &value))
      RV_TRY(rv_calib_list_number(x->doc, &list, value));
    while (word < last && is_space(*word))
      word++;
  }
  advance(x, (size_t)(stop - x->at));
  return RV_OK;
}

static RvStatus parse_content(Xml *x, int depth);

static RvStatus parse_child(Xml *x, int index, int depth) {
  const char *name;
  size_t length;
  int is_empty;
  const size_t path = x->path.length;
  const int line = x->line;
  RV_TRY(open_tag(x, &name, &length, &is_empty));
  if (length == 1 && *name == '_')
    RV_TRY(rv_calib_push_index(x->doc, &x->path, index, line));
  else
    RV_TRY(rv_calib_push_key(x->doc, &x->path, name, length, line));
  if (!is_empty) {
    RV_TRY(parse_content(x, depth + 1));
    RV_TRY(close_tag(x, name, length));
  }
  x->path.text[x->path.length = path] = 0;
  return RV_OK;
}

/* Children or text, up to the closing tag. */
static RvStatus parse_content(Xml *x, int depth) {
  if (depth > CALIB_DEPTH_MAX)
    return rv_calib_error(x->doc, x->line, "nested too deep (at most %d levels)", CALIB_DEPTH_MAX);
  for (int i = 0;; i++) {
    RV_TRY(skip_space(x));
    if (x->at >= x->end || starts_with(x, "</"))
      return RV_OK;
    if (*x->at == '<')
      RV_TRY(parse_child(x, i, depth));
    else
      RV_TRY(parse_text(x));
  }
}

RvStatus rv_calib_parse_xml(CalibDocument *doc) {
  Xml x = {.doc = doc, .at = doc->bytes, .end = doc->bytes + doc->size, .line = 1};
  const char *name;
  size_t length;
  int is_empty;
  RV_TRY(skip_space(&x));
  RV_TRY(open_tag(&x, &name, &length, &is_empty));
  if (is_empty)
    return rv_calib_error(doc, x.line, "the file has no entries");
  RV_TRY(parse_content(&x, 0));
  RV_TRY(close_tag(&x, name, length));
  RV_TRY(skip_space(&x));
  return x.at >= x.end ? RV_OK : expected(&x, "the end of the file");
}
