/* SPDX-License-Identifier: MIT */
/* gstcudastixels_priors.c: semantic classes and their priors as a person writes them. */
#include "gstcudastixels_priors.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "common/gstrverror.h"
#include "gstcudastixels_semantics.h"

#define SEPARATORS " \t\r\n,"
#define RESERVED ":>#*=" /* in no name */

/* What is being read. */
typedef struct Reader {
  const RvLog *log;
  const char *place; /* property, or "LOCATION, line N" */
  RvStixelsConfig *config;
  RvStixelsSemanticPriors *priors;
  char *names[RV_STIXELS_SEMANTICS_MAX];
  int name_count;
} Reader;

/* The classes that an entry means. */
typedef struct Range {
  int first, end;
} Range;

static gboolean refuse(const Reader *r, const char *what, const char *entry) {
  char *shown = g_utf8_make_valid(entry, (gssize)strnlen(entry, 60));
  gst_rv_log_line(r->log, "%s: \"%s\" %s", r->place, shown, what);
  g_free(shown);
  return FALSE;
}

/* --- Entries --------------------------------------------------------------------------------- */

/* A name, a number or *; FALSE for anything else. */
static gboolean parse_class(const Reader *r, const char *text, Range *range) {
  const int count = r->config->semantics;
  char *end;
  if (strcmp(text, "*") == 0) {
    *range = (Range){0, count};
    return count > 0;
  }
  for (int k = 0; k < r->name_count; k++)
    if (strcmp(text, r->names[k]) == 0) {
      *range = (Range){k, k + 1};
      return TRUE;
    }
  if (!g_ascii_isdigit(text[0]) || strlen(text) > 2)
    return FALSE;
  const int index = (int)g_ascii_strtoull(text, &end, 10);
  *range = (Range){index, index + 1};
  return *end == '\0' && index < count;
}

/* A number from low to high. */
static gboolean parse_value(const char *text, double low, double high, double *value) {
  char *end;
  if (!g_ascii_isdigit(text[0]) && text[0] != '.')
    return FALSE;
  *value = g_ascii_strtod(text, &end);
  return *end == '\0' && isfinite(*value) && *value >= low && *value <= high;
}

static gboolean add_name(Reader *r, char *entry) {
  if (strpbrk(entry, RESERVED) || g_ascii_isdigit(entry[0]) || !g_utf8_validate(entry, -1, NULL))
    return refuse(r, "is no name: it must not start with a digit or contain one of " RESERVED,
                  entry);
  for (int k = 0; k < r->name_count; k++)
    if (strcmp(entry, r->names[k]) == 0)
      return refuse(r, "is the name of two classes", entry);
  if (r->name_count == r->config->semantics)
    return refuse(r, "is one name more than there are letters of semantic-classes", entry);
  r->names[r->name_count++] = g_strdup(entry);
  return TRUE;
}

static gboolean add_sigma(Reader *r, char *entry) {
  char *copy = g_strdup(entry), *value = strchr(copy, ':');
  Range of = {0, 0};
  double sigma = 0;
  if (value)
    *value++ = '\0';
  const gboolean is_entry = value && parse_class(r, copy, &of);
  const gboolean is_good = is_entry && parse_value(value, 0.1, 4, &sigma);
  g_free(copy);
  if (!is_good)
    return refuse(r,
                  is_entry ? "needs a number of px from 0.1 to 4 after the colon"
                           : "is not CLASS:PX with the name or number of a class, or *",
                  entry);
  for (int k = of.first; k < of.end; k++)
    r->priors->sigma[k] = sigma;
  r->config->semantic_priors = r->priors;
  return TRUE;
}

static gboolean add_transition(Reader *r, char *entry) {
  char *copy = g_strdup(entry), *above = strchr(copy, '>'), *value = strchr(copy, ':');
  Range lower = {0, 0}, upper = {0, 0};
  double nats = 0;
  if (above)
    *above++ = '\0';
  if (value)
    *value++ = '\0';
  const gboolean is_entry = above && value && above < value && parse_class(r, copy, &lower) &&
                            parse_class(r, above, &upper);
  const gboolean is_good = is_entry && parse_value(value, 0, 1000, &nats);
  g_free(copy);
  if (!is_good)
    return refuse(r,
                  is_entry ? "needs a number of nats from 0 to 1000 after the colon"
                           : "is not BELOW>ABOVE:NATS with the names or numbers of classes, or *",
                  entry);
  for (int k = upper.first; k < upper.end; k++)
    for (int below = lower.first; below < lower.end; below++)
      r->priors->transition[k][below] = nats;
  r->config->semantic_priors = r->priors;
  return TRUE;
}

static gboolean set_classes(Reader *r, char *entry) {
  return gst_cuda_stixels_semantics_parse(entry, r->config) ||
         refuse(r, "must be at most 32 letters g, o or s", entry);
}

/* --- Lists ----------------------------------------------------------------------------------- */

typedef gboolean (*Add)(Reader *reader, char *entry);

static gboolean read_list(Reader *r, const char *text, Add add) {
  char **entries = g_strsplit_set(text ? text : "", SEPARATORS, -1);
  gboolean ok = TRUE;
  for (char **entry = entries; ok && *entry; entry++)
    ok = **entry == '\0' || add(r, *entry);
  g_strfreev(entries);
  return ok;
}

static void forget_names(Reader *r) {
  while (r->name_count > 0)
    g_free(r->names[--r->name_count]);
}

/* --- File ------------------------------------------------------------------------------------ */

/* What the lines of a file may set, in the order in which they are read. */
enum { CLASSES, NAMES, SIGMAS, TRANSITIONS, KEYS };
static const char *const keys[KEYS] = {"classes", "names", "sigmas", "transitions"};
static const Add adders[KEYS] = {set_classes, add_name, add_sigma, add_transition};

/* A text without bytes 0, of a regular file of bounded size; NULL with a line in the log. */
static char *read_file(const char *path, const RvLog *log) {
  GStatBuf status;
  GError *error = NULL;
  char *text = NULL;
  gsize size = 0;
  if (g_stat(path, &status) == 0 &&
      (!S_ISREG(status.st_mode) || status.st_size > GST_CUDA_STIXELS_PRIORS_SIZE)) {
    gst_rv_log_line(log, "semantic-location=%s is not a file of at most %d bytes", path,
                    GST_CUDA_STIXELS_PRIORS_SIZE);
    return NULL;
  }
  if (!g_file_get_contents(path, &text, &size, &error)) {
    gst_rv_log_line(log, "semantic-location: %s", error->message);
    g_error_free(error);
    return NULL;
  }
  if (size > GST_CUDA_STIXELS_PRIORS_SIZE || strlen(text) != size) {
    gst_rv_log_line(log, "semantic-location=%s is not a text", path);
    g_clear_pointer(&text, g_free);
  }
  return text;
}

/* One line, of which the lists of `key` are taken. */
static gboolean read_line(Reader *r, char *line, int key) {
  int found = 0;
  line[strcspn(line, "#")] = '\0';
  char *name = g_strstrip(line), *equals = strchr(line, '=');
  if (*name == '\0')
    return TRUE;
  if (!equals)
    return refuse(r, "is not NAME = VALUES", name);
  *equals = '\0';
  g_strchomp(name);
  while (found < KEYS && strcmp(name, keys[found]) != 0)
    found++;
  if (found == KEYS)
    return refuse(r, "is none of classes, names, sigmas and transitions", name);
  return found != key || read_list(r, equals + 1, adders[key]);
}

/* The lines of one key. */
static gboolean read_lines(Reader *r, const char *text, const char *path, int key) {
  char **lines = g_strsplit(text, "\n", -1);
  gboolean ok = TRUE;
  for (int k = 0; ok && lines[k]; k++) {
    char *place = g_strdup_printf("%s, line %d", path, k + 1);
    r->place = place;
    ok = read_line(r, lines[k], key);
    g_free(place);
  }
  r->place = "";
  g_strfreev(lines);
  return ok;
}

/* --- All ------------------------------------------------------------------------------------- */

static gboolean read_all(Reader *r, const GstCudaStixelsTexts *texts, const char *file) {
  const char *const own[KEYS] = {NULL, texts->names, texts->sigmas, texts->transitions};
  static const char *const places[KEYS] = {"semantic-classes", "semantic-names", "semantic-sigmas",
                                           "semantic-transitions"};
  for (int key = 0; key < KEYS; key++) {
    if (file && !read_lines(r, file, texts->location, key))
      return FALSE;
    if (key == NAMES && own[NAMES] && *own[NAMES])
      forget_names(r); /* those of the property apply */
    r->place = places[key];
    if (!read_list(r, own[key], adders[key]))
      return FALSE;
  }
  return TRUE;
}

gboolean gst_cuda_stixels_priors_parse(const GstCudaStixelsTexts *texts, RvStixelsConfig *config,
                                       RvStixelsSemanticPriors *priors, const RvLog *log) {
  Reader r = {.log = log, .place = "semantic-classes", .config = config, .priors = priors};
  *priors = (RvStixelsSemanticPriors){.sigma = {0}};
  config->semantic_priors = NULL;
  if (!gst_cuda_stixels_semantics_parse(texts->classes, config))
    return refuse(&r, "must be at most 32 letters g, o or s", texts->classes);
  char *file = NULL;
  if (texts->location && *texts->location && !(file = read_file(texts->location, log)))
    return FALSE;
  const gboolean ok = read_all(&r, texts, file);
  forget_names(&r);
  g_free(file);
  return ok;
}
