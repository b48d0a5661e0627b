/* SPDX-License-Identifier: MIT */
/* gstrvtransform_caps.c: templates, caps on both pads, and queries. */
#include "gstrvcaps.h"
#include "gstrvtransform_private.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(self)

#define SIZES ", width=[1,16384], height=[1,16384], framerate=[0/1,2147483647/1]"

char *gst_rv_transform_caps_string(gboolean deep, const char *more) {
  const char *deeper = deep ? GST_RV_FORMATS_DEEP : "";
  char *system =
      g_strconcat("video/x-raw, format={" GST_RV_FORMATS_SYSTEM, deeper, more, "}" SIZES, NULL);
#if HAVE_GSTCUDA
  char *all = g_strconcat("video/x-raw(" GST_RV_CAPS_CUDA "), format={" GST_RV_FORMATS, deeper,
                          "}" SIZES "; ", system, NULL);
  g_free(system);
  return all;
#else
  return system;
#endif
}

char *gst_rv_transform_caps_string_maps(void) {
  char *frames = gst_rv_transform_caps_string(TRUE, "");
  char *all = g_strconcat(frames, "; video/x-raw, format=GRAY16_LE" SIZES, NULL);
  g_free(frames);
  return all;
}

static void add_template(GstElementClass *klass, const char *name, GstPadDirection direction,
                         const char *string) {
  GstCaps *caps = gst_caps_from_string(string);
  gst_element_class_add_pad_template(klass,
                                     gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

void gst_rv_transform_class_add_templates(GstRvTransformClass *klass, const char *sink,
                                          const char *src) {
  add_template(GST_ELEMENT_CLASS(klass), "sink", GST_PAD_SINK, sink);
  add_template(GST_ELEMENT_CLASS(klass), "src", GST_PAD_SRC, src);
}

void gst_rv_transform_class_set_element(GstRvTransformClass *klass, const char *name,
                                        const GstRvSettings *settings) {
  const char *title = gst_rv_describe(GST_ELEMENT_CLASS(klass), name);
  GST_DEBUG_CATEGORY_INIT(klass->debug, name, 0, title);
  klass->settings = settings;
  gst_rv_settings_install(settings, G_OBJECT_CLASS(klass));
}

void gst_rv_transform_class_set_analyzer(GstRvTransformClass *klass, const char *name,
                                         const GstRvSettings *settings, GstMapFlags picture,
                                         const char *annotation, ...) {
  gst_rv_transform_class_set_element(klass, name, settings);
  klass->in_place = TRUE;
  klass->picture = picture;
  klass->annotation = annotation;
  va_list names;
  va_start(names, annotation);
  for (guint i = 0; annotation && i < GST_RV_RESULTS; i++, annotation = va_arg(names, const char *))
    klass->annotations[i] = annotation;
  va_end(names);
  char *caps =
      picture ? gst_rv_transform_caps_string(TRUE, "") : gst_rv_transform_caps_string_maps();
  gst_rv_transform_class_add_templates(klass, caps, caps);
  g_free(caps);
}

void gst_rv_transform_class_set_work(
    GstRvTransformClass *klass,
    RvStatus (*its_configure)(GstRvTransform *self, const GstRvExecContext *work),
    RvStatus (*its_process)(GstRvTransform *self, const GstRvExecContext *work,
                            const GstRvJob *job),
    RvStatus (*its_finish)(GstRvTransform *self, const GstRvExecContext *work, const GstRvJob *job),
    void (*its_release)(GstRvTransform *self)) {
  klass->configure = its_configure;
  klass->process = its_process;
  klass->finish = its_finish;
  klass->release = its_release;
}

GstCaps *gst_rv_transform_caps_vfunc(GstBaseTransform *trans, GstPadDirection direction,
                                     GstCaps *caps, GstCaps *filter) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  GstCaps *result = NULL;
  if (!klass->transform_structure) {
    result = gst_caps_ref(caps);
  } else {
    result = gst_caps_new_empty();
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
      klass->transform_structure(self, direction,
                                 gst_structure_copy(gst_caps_get_structure(caps, i)),
                                 gst_caps_features_copy(gst_caps_get_features(caps, i)), result);
  }
  result = gst_rv_transform_caps_of_memory(self, direction, caps, result);
  if (filter) {
    GstCaps *both = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = both;
  }
  GST_LOG_OBJECT(self, "%s %" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT,
                 direction == GST_PAD_SINK ? "sink" : "src", caps, result);
  return result;
}

void gst_rv_transform_explain_rejection(GstRvTransform *self, GstCaps *caps) {
  GstCaps *sent =
      gst_rv_transform_caps_vfunc(GST_BASE_TRANSFORM_CAST(self), GST_PAD_SINK, caps, NULL);
  gst_rv_caps_explain_rejection(GST_ELEMENT_CAST(self), GST_BASE_TRANSFORM_SRC_PAD(self), sent,
                                GST_RV_TRANSFORM_GET_CLASS(self)->downstream_hint);
  gst_caps_unref(sent);
}

void gst_rv_transform_post_latency(GstRvTransform *self) {
  gst_element_post_message(GST_ELEMENT_CAST(self), gst_message_new_latency(GST_OBJECT_CAST(self)));
}

/* Adds the processing time to the answer of the upstream elements. */
static void add_latency(GstRvTransform *self, GstQuery *query) {
  GstRvTransformPrivate *priv = self->priv;
  gboolean live = FALSE;
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  GST_OBJECT_LOCK(self);
  priv->live = live;
  const GstClockTime own = live && priv->latency_report ? priv->latency.reported : 0;
  GST_OBJECT_UNLOCK(self);
  if (own == 0)
    return;
  GST_DEBUG_OBJECT(self, "reporting a latency of %" GST_TIME_FORMAT, GST_TIME_ARGS(own));
  gst_query_set_latency(query, live, min + own,
                        GST_CLOCK_TIME_IS_VALID(max) ? max + own : GST_CLOCK_TIME_NONE);
}

gboolean gst_rv_transform_query_vfunc(GstBaseTransform *trans, GstPadDirection direction,
                                      GstQuery *query, GstBaseTransformClass *parent) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT && gst_rv_transform_context_query(self, query))
    return TRUE;
  if (!parent->query(trans, direction, query))
    return GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
           gst_rv_transform_context_offer(self, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC)
    add_latency(self, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS && direction == GST_PAD_SINK) {
    gst_rv_caps_prefer_cuda(GST_OBJECT_CAST(self), query);
    GST_DEBUG_OBJECT(self, "caps query: %" GST_PTR_FORMAT, gst_query_get_structure(query));
  }
  return TRUE;
}

/* Only the template decides here: frames of a valid format and an invalid shape are accepted up to
 * the caps event, where the element can post the reason. */
gboolean gst_rv_transform_accept_vfunc(GstBaseTransform *trans, GstPadDirection direction,
                                       GstCaps *caps) {
  GstRvTransform *self = GST_RV_TRANSFORM(trans);
  GstPad *pad = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SINK_PAD(trans)
                                          : GST_BASE_TRANSFORM_SRC_PAD(trans);
  GstCaps *template = gst_pad_get_pad_template_caps(pad);
  const gboolean fits = gst_caps_can_intersect(caps, template);
  if (!fits)
    GST_WARNING_OBJECT(self, "%" GST_PTR_FORMAT " is rejected: %s accepts %" GST_PTR_FORMAT, caps,
                       GST_OBJECT_NAME(pad), template);
  gst_caps_unref(template);
  return fits;
}
