/* SPDX-License-Identifier: MIT */
/* gstannotationpublish_lines.c: lines of text in one file, or in one per table. */
#include "gstannotationpublish_lines.h"

#include "gstannotationpublish_csv.h"

typedef struct Output {
  GstPublishFile file;
  char *table; /* of CSV, or NULL */
} Output;

typedef struct Lines {
  GstPublishSink sink;
  GstPublishJson json;
  gboolean csv;
  Output outputs[GST_PUBLISH_TABLES_MAX];
  guint count;
  guint next; /* first output that the current frame was not written to */
  GstPublishText text;
} Lines;

/* Text of the frame for one output; empty when there is none. */
static void format_frame(Lines *lines, const Output *output, const GstPublishFrame *frame) {
  lines->text.length = 0;
  if (lines->csv) {
    gst_publish_csv_rows(output->table, frame, &lines->text);
    return;
  }
  gst_publish_json_frame(&lines->json, frame, &lines->text);
  gst_publish_text_char(&lines->text, '\n');
}

/* Opens the file that the text belongs into. */
static GstPublishStatus choose_file(Lines *lines, GstPublishFile *file,
                                    const GstPublishFrame *frame) {
  const GstPublishStatus status = gst_publish_file_ensure(file, &lines->sink);
  if (status != GST_PUBLISH_DONE ||
      !gst_publish_file_is_due(file, lines->text.length, frame->running_time))
    return status;
  gst_publish_file_rotate(file);
  return gst_publish_file_ensure(file, &lines->sink);
}

static GstPublishStatus write_output(Lines *lines, Output *output, const GstPublishFrame *frame) {
  GstPublishFile *file = &output->file;
  GstPublishText header = {NULL, 0, 0};
  format_frame(lines, output, frame);
  if (lines->text.length == 0)
    return GST_PUBLISH_DONE;
  GstPublishStatus status = choose_file(lines, file, frame);
  if (status == GST_PUBLISH_DONE && lines->csv && file->fresh)
    gst_publish_csv_header(output->table, &header);
  const struct iovec parts[] = {{header.data, header.length},
                                {lines->text.data, lines->text.length}};
  if (status == GST_PUBLISH_DONE)
    status = gst_publish_file_write(file, &lines->sink, parts, G_N_ELEMENTS(parts));
  if (status == GST_PUBLISH_DONE && !GST_CLOCK_TIME_IS_VALID(file->started))
    file->started = frame->running_time;
  gst_publish_text_clear(&header);
  return status;
}

static GstPublishStatus lines_write(GstPublishSink *sink, const GstPublishFrame *frame) {
  Lines *lines = (Lines *)sink;
  for (; lines->next < lines->count; lines->next++)
    if (write_output(lines, &lines->outputs[lines->next], frame) == GST_PUBLISH_WAIT)
      return GST_PUBLISH_WAIT;
  lines->next = 0;
  return GST_PUBLISH_DONE;
}

static GstPublishStatus lines_finish(GstPublishSink *sink) {
  Lines *lines = (Lines *)sink;
  for (guint i = 0; i < lines->count; i++)
    gst_publish_file_sync(&lines->outputs[i].file);
  return GST_PUBLISH_DONE;
}

static void lines_free(GstPublishSink *sink) {
  Lines *lines = (Lines *)sink;
  for (guint i = 0; i < lines->count; i++) {
    gst_publish_file_clear(&lines->outputs[i].file);
    g_free(lines->outputs[i].table);
  }
  gst_publish_json_clear(&lines->json);
  gst_publish_text_clear(&lines->text);
  g_free(lines);
}

static const GstPublishSinkClass lines_class = {lines_write, NULL, lines_finish, lines_free};

/* Opens the first output, to report errors; tables of records are opened with their first row. */
static gboolean add_output(Lines *lines, const GstPublishFileConfig *config, char *table,
                           GError **error) {
  Output *output = &lines->outputs[lines->count++];
  output->table = table;
  gst_publish_file_init(&output->file, config, table);
  return lines->count > 1 || gst_publish_file_open(&output->file, &lines->sink, error);
}

GstPublishSink *gst_publish_lines_new(GstPublishHost *host, const GstPublishFileConfig *config,
                                      gboolean csv, GstPublishJson *json, GError **error) {
  Lines *lines = g_new0(Lines, 1);
  lines->sink.klass = &lines_class;
  lines->sink.host = host;
  lines->sink.wants = json->payload == GST_PUBLISH_PAYLOAD_NONE ? 0 : GST_PUBLISH_WANTS_RASTERS;
  lines->json = *json;
  lines->csv = csv;
  gboolean good = gst_publish_file_check(config, csv, error);
  if (good && csv) {
    char **tables = gst_publish_csv_tables();
    const gboolean all = gst_publish_location_has_kind(config->location);
    for (guint i = 0; tables[i]; i++) {
      if (good && (all || i == 0))
        good = add_output(lines, config, tables[i], error);
      else
        g_free(tables[i]);
    }
    g_free(tables);
  } else if (good) {
    good = add_output(lines, config, NULL, error);
  }
  if (good)
    return &lines->sink;
  lines_free(&lines->sink);
  return NULL;
}
