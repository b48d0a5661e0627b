/* SPDX-License-Identifier: MIT */
/* gstrvoldsettings.c: properties from a table. */
#include "gstrvoldsettings.h"

/* "edge-low" -> "Edge low" */
static const char *nick_of(const char *name) {
  char *nick = g_strdelimit(g_strdup(name), "-", ' ');
  nick[0] = g_ascii_toupper(nick[0]);
  const char *lasting = g_intern_string(nick);
  g_free(nick);
  return lasting;
}

static GParamSpec *spec_of(const GstRvSetting *row) {
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const char *nick = nick_of(row->name);
  switch (row->kind) {
  case GST_RV_INT:
    return g_param_spec_int(row->name, nick, row->blurb, (int)row->low, (int)row->high,
                            (int)row->value, flags);
  case GST_RV_BOOL:
    return g_param_spec_boolean(row->name, nick, row->blurb, row->value != 0, flags);
  case GST_RV_DOUBLE:
    return g_param_spec_double(row->name, nick, row->blurb, row->low, row->high, row->value, flags);
  case GST_RV_ENUM:
    gst_type_mark_as_plugin_api(row->type(), 0);
    return g_param_spec_enum(row->name, nick, row->blurb, row->type(), (int)row->value, flags);
  case GST_RV_FLAGS:
    gst_type_mark_as_plugin_api(row->type(), 0);
    return g_param_spec_flags(row->name, nick, row->blurb, row->type(), (guint)row->value, flags);
  }
  g_return_val_if_reached(NULL);
}

void gst_rv_old_settings_install(const GstRvOldSettings *settings, GObjectClass *klass) {
  for (guint i = 0; i < settings->count; i++)
    g_object_class_install_property(klass, settings->first + i, spec_of(&settings->rows[i]));
}

void gst_rv_old_settings_init(const GstRvOldSettings *settings, void *values) {
  for (guint i = 0; i < settings->count; i++) {
    const GstRvSetting *row = &settings->rows[i];
    void *to = (char *)values + row->offset;
    if (row->kind == GST_RV_DOUBLE)
      *(double *)to = row->value;
    else
      *(int *)to = (int)row->value;
  }
}

static const GstRvSetting *row_of(const GstRvOldSettings *settings, guint id) {
  return id >= settings->first && id - settings->first < settings->count
             ? &settings->rows[id - settings->first]
             : NULL;
}

gboolean gst_rv_old_settings_set(const GstRvOldSettings *settings, void *values, guint id,
                             const GValue *value) {
  const GstRvSetting *row = row_of(settings, id);
  if (!row)
    return FALSE;
  void *to = (char *)values + row->offset;
  switch (row->kind) {
  case GST_RV_INT:
    *(int *)to = g_value_get_int(value);
    break;
  case GST_RV_BOOL:
    *(int *)to = g_value_get_boolean(value);
    break;
  case GST_RV_DOUBLE:
    *(double *)to = g_value_get_double(value);
    break;
  case GST_RV_ENUM:
    *(int *)to = g_value_get_enum(value);
    break;
  case GST_RV_FLAGS:
    *(guint *)to = g_value_get_flags(value);
    break;
  }
  return TRUE;
}

gboolean gst_rv_old_settings_get(const GstRvOldSettings *settings, const void *values, guint id,
                             GValue *value) {
  const GstRvSetting *row = row_of(settings, id);
  if (!row)
    return FALSE;
  const void *from = (const char *)values + row->offset;
  switch (row->kind) {
  case GST_RV_INT:
    g_value_set_int(value, *(const int *)from);
    break;
  case GST_RV_BOOL:
    g_value_set_boolean(value, *(const int *)from);
    break;
  case GST_RV_DOUBLE:
    g_value_set_double(value, *(const double *)from);
    break;
  case GST_RV_ENUM:
    g_value_set_enum(value, *(const int *)from);
    break;
  case GST_RV_FLAGS:
    g_value_set_flags(value, *(const guint *)from);
    break;
  }
  return TRUE;
}

GType gst_rv_enum_type(gsize *type, const char *name, const GEnumValue *values) {
  if (g_once_init_enter(type))
    g_once_init_leave(type, g_enum_register_static(name, values));
  return (GType)*type;
}
