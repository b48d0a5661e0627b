/* SPDX-License-Identifier: MIT */
/* gstrverror.c: RvStatus and RvLog -> GStreamer messages. */
#include "gstrverror.h"

#include <stdarg.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC(gst_rv_library_debug);
#define GST_CAT_DEFAULT gst_rv_library_debug

/* The library names the fields of its configs (p2_min), users know properties (p2-min): every word
 * that is a property when written with hyphens is written so. */
static char *name_properties(GstElement *element, const char *text) {
  GString *out = g_string_new(NULL);
  while (*text) {
    gsize length = 0;
    while (g_ascii_isalnum(text[length]) || text[length] == '_')
      length++;
    char *word = g_strndup(text, MAX(length, 1));
    char *name = g_strdelimit(g_strdup(word), "_", '-');
    const gboolean known =
        length > 0 && g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
    g_string_append(out, known ? name : word);
    text += strlen(word);
    g_free(word);
    g_free(name);
  }
  return g_string_free(out, FALSE);
}

static void receive(void *user, const char *text) {
  GstRvLog *log = user;
  char *named = name_properties(log->element, text);
  g_mutex_lock(&log->lock);
  g_strlcpy(log->last, named, sizeof log->last);
  g_mutex_unlock(&log->lock);
  GST_WARNING_OBJECT(log->element, "%s", named);
  g_free(named);
}

void gst_rv_log_init(GstRvLog *log, GstElement *element) {
  GST_DEBUG_CATEGORY_INIT(gst_rv_library_debug, "roadvision", 0, "libroadvision");
  log->element = element;
  g_mutex_init(&log->lock);
  log->last[0] = 0;
}

void gst_rv_log_clear(GstRvLog *log) {
  g_mutex_clear(&log->lock);
}

RvLog gst_rv_log_sink(GstRvLog *log) {
  g_mutex_lock(&log->lock);
  log->last[0] = 0;
  g_mutex_unlock(&log->lock);
  const RvLog sink = {receive, log};
  return sink;
}

void gst_rv_log_take(GstRvLog *log, char *line, size_t size) {
  g_mutex_lock(&log->lock);
  g_strlcpy(line, log->last, size);
  log->last[0] = 0;
  g_mutex_unlock(&log->lock);
}

void gst_rv_log_line(const RvLog *log, const char *format, ...) {
  if (!log || !log->line)
    return;
  va_list args;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  log->line(log->user, text);
  g_free(text);
}

static void keep_line(void *user, const char *text) {
  g_strlcpy(((GstRvLine *)user)->text, text, sizeof((GstRvLine *)user)->text);
}

RvLog gst_rv_line_sink(GstRvLine *line) {
  return (RvLog){keep_line, line};
}

void gst_rv_error_post(GstRvLog *log, RvStatus status, const char *doing) {
  char line[sizeof log->last];
  gst_rv_log_take(log, line, sizeof line);
  const char *cause = line[0] ? line : rv_status_text(status);
  GstElement *element = log->element;
  switch (status) {
  case RV_ERR_NO_MEMORY:
    GST_ELEMENT_ERROR(
        element, RESOURCE, NO_SPACE_LEFT, ("Could not %s: out of memory (%s).", doing, cause),
        ("Use smaller frames or a smaller search range, close other programs that use "
         "the GPU, or set engine=cpu."));
    break;
  case RV_ERR_NO_DEVICE:
    GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND,
                      ("Could not %s: no usable CUDA device (%s).", doing, cause),
                      ("Set engine=auto or engine=cpu, or install a driver that fits this build."));
    break;
  case RV_ERR_CUDA:
    GST_ELEMENT_ERROR(
        element, LIBRARY, FAILED, ("Could not %s: the GPU failed (%s).", doing, cause),
        ("Set the pipeline to NULL and start again; engine=cpu works without a GPU."));
    break;
  case RV_ERR_IO:
    GST_ELEMENT_ERROR(element, RESOURCE, READ, ("Could not %s: %s.", doing, cause), (NULL));
    break;
  case RV_ERR_ARG:
  case RV_OK:
    GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("Could not %s: %s.", doing, cause),
                      ("gst-inspect-1.0 lists each property with its range."));
    break;
  }
}

void gst_rv_warning_post(GstRvLog *log, const char *kept) {
  char line[sizeof log->last];
  gst_rv_log_take(log, line, sizeof line);
  GST_ELEMENT_WARNING(log->element, LIBRARY, SETTINGS, ("Refused: %s; %s.", line, kept), (NULL));
}
