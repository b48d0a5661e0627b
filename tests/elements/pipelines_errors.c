/* SPDX-License-Identifier: MIT */
/* pipelines_errors.c: after an error the pipeline starts again; states up and down in flight. */
#include "pipelines.h"

#include <string.h>

static gboolean wait_for(GstElement *pipeline, GstMessageType type) {
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, 30 * GST_SECOND, type | GST_MESSAGE_ERROR);
  const gboolean right = message && (GST_MESSAGE_TYPE(message) & type);
  if (message)
    gst_message_unref(message);
  gst_object_unref(bus);
  return right;
}

/* After an error, to NULL, mended, and PLAYING again: it runs to its end. */
static void restart(Pipelines *e) {
  char *line =
      g_strdup_printf("videotestsrc num-buffers=3 ! video/x-raw,format=BGRx,width=160,height=120 ! "
                      "cudasgm name=sgm engine=%s disparities=32 ! fakesink",
                      e->engine);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  GstElement *sgm = gst_bin_get_by_name(GST_BIN(pipeline), "sgm");
  for (int round = 0; round < 3; round++) {
    gst_util_set_object_arg(G_OBJECT(sgm), "layout", "auto");
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    CHECK(e, wait_for(pipeline, GST_MESSAGE_ERROR), "the layout cannot be told");
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_util_set_object_arg(G_OBJECT(sgm), "layout", "side-by-side");
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    CHECK(e, wait_for(pipeline, GST_MESSAGE_EOS), "runs once the layout is given");
    gst_element_set_state(pipeline, GST_STATE_NULL);
  }
  gst_object_unref(sgm);
  gst_object_unref(pipeline);
  g_free(line);
}

/* States up and down many times, in flight too. */
static void cycles(Pipelines *e) {
  char *line =
      g_strdup_printf("stereotestsrc ! video/x-raw,width=256,height=64 ! queue ! cudasgm "
                      "engine=%s disparities=32 ! queue ! cudaannotate engine=%s ! fakesink",
                      e->engine, e->engine);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  for (int i = 0; i < 20; i++) {
    CHECK(e, gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE,
          "plays in round %d", i);
    if (i % 3)
      gst_element_get_state(pipeline, NULL, NULL, 5 * GST_SECOND);
    g_usleep((gulong)(i * 700));
    gst_element_set_state(pipeline, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_free(line);
}

const PipelinesTest pipelines_errors_tests[] = {
    {"errors/restart", restart}, {"errors/cycles", cycles}, {NULL, NULL}};
