/* SPDX-License-Identifier: MIT */
/* gstcudastixels_semantics.c: labels and scores for cudastixels. Label images are read by a small
 * pipeline of stock elements, which needs no further library. */
#include "gstcudastixels_semantics.h"

#include <string.h>

#define READ_TIMEOUT (10 * GST_SECOND) /* for one image */

gboolean gst_cuda_stixels_semantics_parse(const char *classes, RvStixelsConfig *config) {
  static const char letters[] = "gos"; /* in the order of RvStixelClass */
  const gsize count = classes ? strlen(classes) : 0;
  if (count > RV_STIXELS_SEMANTICS_MAX)
    return FALSE;
  for (gsize k = 0; k < count; k++) {
    const char *letter = strchr(letters, classes[k]);
    if (!letter)
      return FALSE;
    config->semantic_structure[k] = (guint8)(letter - letters);
  }
  config->semantics = (int)count;
  return TRUE;
}

/* --- Annotation ------------------------------------------------------------------------------ */

static void warn_invalid(GstRvTransform *element, guint once, const char *what) {
  if (gst_rv_transform_once(element, once))
    GST_ELEMENT_WARNING(element, STREAM, FORMAT, ("Invalid semantics are ignored: %s.", what),
                        ("Attach RvSemanticsMeta with labels (u8, any size) or with one plane of "
                         "scores (f16) for each letter of semantic-classes."));
}

static RvStatus map_annotation(GstCudaStixelsSemantics *self, GstRvTransform *element,
                               const GstRvExecContext *work, GstBuffer *buffer, int classes,
                               guint once, RvStixelsInput *input) {
  RvMetaSemantics meta;
  if (!rv_meta_get_semantics(buffer, &meta)) {
    GError *error = NULL;
    rv_meta_check(buffer, RV_META_SEMANTICS, &error);
    if (error)
      warn_invalid(element, once, error->message);
    g_clear_error(&error);
    return RV_OK;
  }
  if (meta.type == RV_SEMANTICS_SCORES && meta.classes != classes) {
    warn_invalid(element, once,
                 "the number of classes is not the number of letters of semantic-classes");
    return RV_OK;
  }
  const RvStatus status = gst_rv_input_map(&self->input, work, meta.payload);
  if (status == RV_OK)
    *(meta.type == RV_SEMANTICS_LABELS ? &input->labels : &input->scores) = self->input.plane;
  return status;
}

/* --- Label images ---------------------------------------------------------------------------- */

static void close_images(GstCudaStixelsSemantics *self) {
  if (self->pipeline)
    gst_element_set_state(self->pipeline, GST_STATE_NULL);
  gst_clear_object(&self->sink);
  gst_clear_object(&self->pipeline);
  g_clear_pointer(&self->location, g_free);
  self->at_end = FALSE;
}

static gboolean open_images(GstCudaStixelsSemantics *self, const char *location, GError **error) {
  close_images(self);
  self->location = g_strdup(location);
  self->pipeline =
      gst_parse_launch("multifilesrc name=files caps=image/png,framerate=1/1 ! pngdec ! "
                       "video/x-raw,format=GRAY8 ! appsink name=labels sync=false max-buffers=2",
                       error);
  if (!self->pipeline || *error)
    return FALSE;
  GstElement *files = gst_bin_get_by_name(GST_BIN(self->pipeline), "files");
  g_object_set(files, "location", location, NULL);
  gst_object_unref(files);
  self->sink = gst_bin_get_by_name(GST_BIN(self->pipeline), "labels");
  return gst_element_set_state(self->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

static GstSample *read_image(GstCudaStixelsSemantics *self) {
  GstSample *sample = NULL;
  g_signal_emit_by_name(self->sink, "try-pull-sample", (guint64)READ_TIMEOUT, &sample);
  return sample;
}

/* Reports why there is no next label image, and stops reading. */
static void end_images(GstCudaStixelsSemantics *self, GstRvTransform *element, guint once,
                       GError *error) {
  if (!error && self->pipeline) {
    GstBus *bus = gst_element_get_bus(self->pipeline);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    if (message)
      gst_message_parse_error(message, &error, NULL);
    gst_clear_message(&message);
    gst_object_unref(bus);
  }
  if (gst_rv_transform_once(element, once))
    GST_ELEMENT_WARNING(
        element, RESOURCE, READ,
        ("No further label image was found: %s", error ? error->message : "all have been read."),
        ("Set semantics-location, now %s, to 8-bit gray PNG files, numbered from 0, one per "
         "frame.",
         self->location));
  g_clear_error(&error);
  char *location = g_steal_pointer(&self->location);
  close_images(self);
  self->location = location;
  self->at_end = TRUE;
}

static RvStatus map_image(GstCudaStixelsSemantics *self, GstRvTransform *element,
                          const GstRvExecContext *work, const char *location, guint once,
                          RvStixelsInput *input) {
  GError *error = NULL;
  GstVideoInfo info;
  if (g_strcmp0(location, self->location) != 0 && !open_images(self, location, &error)) {
    end_images(self, element, once, error);
    return RV_OK;
  }
  if (self->at_end)
    return RV_OK;
  self->sample = read_image(self);
  if (!self->sample || !gst_video_info_from_caps(&info, gst_sample_get_caps(self->sample)) ||
      !gst_video_frame_map(&self->frame, &info, gst_sample_get_buffer(self->sample),
                           GST_MAP_READ)) {
    end_images(self, element, once, NULL);
    return RV_OK;
  }
  self->mapped = TRUE;
  const RvPlane plane = {GST_VIDEO_FRAME_PLANE_DATA(&self->frame, 0),
                         GST_VIDEO_FRAME_PLANE_STRIDE(&self->frame, 0), GST_VIDEO_INFO_WIDTH(&info),
                         GST_VIDEO_INFO_HEIGHT(&info), RV_U8};
  const RvStatus status = gst_rv_input_map_host(&self->input, work, &plane);
  if (status == RV_OK)
    input->labels = self->input.plane;
  return status;
}

/* --- One frame ------------------------------------------------------------------------------- */

RvStatus gst_cuda_stixels_semantics_map(GstCudaStixelsSemantics *self, GstRvTransform *element,
                                        const GstRvExecContext *work, GstBuffer *buffer,
                                        const char *location, int classes, guint once,
                                        RvStixelsInput *input) {
  if (classes == 0)
    return RV_OK;
  if (location && location[0])
    return map_image(self, element, work, location, once + 1, input);
  close_images(self);
  return map_annotation(self, element, work, buffer, classes, once, input);
}

void gst_cuda_stixels_semantics_unmap(GstCudaStixelsSemantics *self) {
  gst_rv_input_unmap(&self->input);
  if (self->mapped)
    gst_video_frame_unmap(&self->frame);
  self->mapped = FALSE;
  g_clear_pointer(&self->sample, gst_sample_unref);
}

void gst_cuda_stixels_semantics_clear(GstCudaStixelsSemantics *self) {
  gst_cuda_stixels_semantics_unmap(self);
  gst_rv_input_clear(&self->input);
  close_images(self);
}
