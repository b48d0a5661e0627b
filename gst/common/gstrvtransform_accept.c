/* SPDX-License-Identifier: MIT */
/* gstrvtransform_accept.c: the settings in use. A combination of values that configure rejects while
 * PLAYING does not stay in the properties: the accepted values are set again. */
#include "gstrvtransform_private.h"

#define GST_CAT_DEFAULT gst_rv_transform_category(self)

RvStatus gst_rv_transform_configure(GstRvTransform *self, const GstRvExecContext *work) {
  const GstRvTransformClass *klass = GST_RV_TRANSFORM_GET_CLASS(self);
  if (!klass->configure)
    return RV_OK;
  self->priv->wanted = g_malloc(klass->settings->size);
  gst_rv_settings_copy(self, klass->settings, self->priv->wanted);
  const RvStatus status = klass->configure(self, work);
  gst_rv_settings_clear_copy(self->priv->wanted, klass->settings);
  g_clear_pointer(&self->priv->wanted, g_free);
  return status;
}

gconstpointer gst_rv_transform_settings(GstRvTransform *self) {
  return self->priv->wanted;
}

/* TRUE for the settings of the element itself. */
static gboolean is_setting(const GParamSpec *spec) {
  return spec->owner_type != GST_TYPE_RV_TRANSFORM &&
         g_type_is_a(spec->owner_type, GST_TYPE_RV_TRANSFORM) && (spec->flags & G_PARAM_READABLE) &&
         (spec->flags & G_PARAM_WRITABLE);
}

GArray *gst_rv_transform_snapshot(GstRvTransform *self) {
  guint count = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(self), &count);
  GArray *values = g_array_new(FALSE, TRUE, sizeof(GValue));
  g_array_set_clear_func(values, (GDestroyNotify)g_value_unset);
  for (guint i = 0; i < count; i++) {
    if (!is_setting(specs[i]))
      continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(self), specs[i]->name, &value);
    g_array_append_val(values, value);
  }
  g_free(specs);
  return values;
}

void gst_rv_transform_accept(GstRvTransform *self, GArray *snapshot) {
  g_clear_pointer(&self->priv->accepted, g_array_unref);
  self->priv->accepted = snapshot;
}

gboolean gst_rv_transform_reject(GstRvTransform *self) {
  const GArray *accepted = self->priv->accepted;
  guint count = 0, at = 0;
  if (!accepted)
    return FALSE;
  gst_rv_warning_post(&self->priv->log, "the previous settings remain in use");
  /* The objects of the element still have these values: nothing is to be created again. */
  g_atomic_pointer_set(&self->priv->restores, g_thread_self());
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(self), &count);
  for (guint i = 0; i < count; i++) {
    if (!is_setting(specs[i]))
      continue;
    const GValue *before = &g_array_index(accepted, GValue, at++);
    GValue now = G_VALUE_INIT;
    g_value_init(&now, specs[i]->value_type);
    g_object_get_property(G_OBJECT(self), specs[i]->name, &now);
    if (g_param_values_cmp(specs[i], before, &now) != 0)
      g_object_set_property(G_OBJECT(self), specs[i]->name, before);
    g_value_unset(&now);
  }
  g_free(specs);
  g_atomic_pointer_set(&self->priv->restores, NULL);
  return TRUE;
}
