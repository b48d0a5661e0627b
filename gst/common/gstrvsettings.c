/* SPDX-License-Identifier: MIT */
/* gstrvsettings.c: GObject properties from tables of parameters. */
#include "gstrvsettings.h"

#include <string.h>

/* A row and where its value is, counted from the settings. */
typedef struct Place {
  const RvParam *row;
  gsize offset;
} Place;

static GQuark settings_quark(void) {
  return g_quark_from_static_string("gst-rv-settings");
}

/* The next row with a property: those of the library, then the element's own. `at` starts at 0. */
static gboolean next_row(const GstRvSettings *s, guint *at, Place *place) {
  const RvParams *params = s->params ? s->params() : NULL;
  const guint shared = params ? (guint)params->count : 0;
  while (*at < shared + s->own_count) {
    const guint i = (*at)++;
    const RvParam *row = i < shared ? &params->list[i] : &s->own[i - shared];
    *place = (Place){row, (i < shared ? s->config : 0) + row->offset};
    if (!(row->flags & (RV_PARAM_HIDDEN | RV_PARAM_COMMON)))
      return TRUE;
  }
  return FALSE;
}

guint gst_rv_settings_count(const GstRvSettings *settings) {
  guint at = 0, count = 0;
  Place place;
  while (next_row(settings, &at, &place))
    count++;
  return count;
}

/* --- Types and specs ------------------------------------------------------------------------- */

/* "edge-low" -> "Edge low" */
static const char *nick_of(const char *name) {
  char *nick = g_strdelimit(g_strdup(name), "-", ' ');
  nick[0] = g_ascii_toupper(nick[0]);
  const char *lasting = g_intern_string(nick);
  g_free(nick);
  return lasting;
}

/* "GstCudaSgm", "max-lr-diff" -> "GstCudaSgmMaxLrDiff" */
static const char *type_name(const char *prefix, const char *name) {
  GString *text = g_string_new(prefix);
  for (gboolean starts = TRUE; *name; name++) {
    if (*name != '-')
      g_string_append_c(text, starts ? g_ascii_toupper(*name) : *name);
    starts = *name == '-';
  }
  const char *lasting = g_intern_string(text->str);
  g_string_free(text, TRUE);
  return lasting;
}

/* Registered once per process and never freed, as GTypes are. Called from class_init only, which
 * GObject serializes. */
static GType listed_type(const GstRvSettings *settings, const RvParam *row) {
  const char *name = type_name(settings->type, row->name);
  GType type = g_type_from_name(name);
  if (type)
    return type;
  if (row->type == RV_PARAM_ENUM) {
    GEnumValue *values = g_new0(GEnumValue, row->value_count + 1);
    for (int k = 0; k < row->value_count; k++)
      values[k] = (GEnumValue){row->values[k].value, row->values[k].text, row->values[k].name};
    type = g_enum_register_static(name, values);
  } else {
    GFlagsValue *values = g_new0(GFlagsValue, row->value_count + 1);
    for (int k = 0; k < row->value_count; k++)
      values[k] =
          (GFlagsValue){(guint)row->values[k].value, row->values[k].text, row->values[k].name};
    type = g_flags_register_static(name, values);
  }
  gst_type_mark_as_plugin_api(type, 0);
  return type;
}

/* "Size of the filter (px); 0, 3 or 5; 0 = off". The range is stated where the GParamSpec cannot
 * express it. docs_test.py reads this form. */
static const char *blurb_of(const RvParam *row) {
  GString *text = g_string_new(row->text);
  if (row->unit)
    g_string_append_printf(text, " (%s)", row->unit);
  if ((row->type == RV_PARAM_INT && (row->values || row->step != 0)) ||
      row->flags & (RV_PARAM_ABOVE | RV_PARAM_BELOW)) {
    char range[128];
    g_string_append_printf(text, "; %s", rv_param_range(row, range, sizeof range));
  }
  if (row->note)
    g_string_append_printf(text, "; %s", row->note);
  const char *lasting = g_intern_string(text->str);
  g_string_free(text, TRUE);
  return lasting;
}

static int lowest(const RvParam *row) {
  return row->values ? row->values[0].value : (int)row->low;
}

static int highest(const RvParam *row) {
  return row->values ? row->values[row->value_count - 1].value : (int)row->high;
}

static const char *default_text(const RvParam *row) {
  return row->values ? row->values[0].name : NULL;
}

static GParamSpec *spec_of(const GstRvSettings *settings, const RvParam *row) {
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      (settings->fixed ? GST_PARAM_MUTABLE_READY : GST_PARAM_MUTABLE_PLAYING) |
      (row->flags & RV_PARAM_LIVE ? GST_PARAM_CONTROLLABLE : 0);
  const char *name = row->name, *nick = nick_of(name), *blurb = blurb_of(row);
  switch (row->type) {
  case RV_PARAM_INT:
    return g_param_spec_int(name, nick, blurb, lowest(row), highest(row), (int)row->value, flags);
  case RV_PARAM_BOOL:
    return g_param_spec_boolean(name, nick, blurb, row->value != 0, flags);
  case RV_PARAM_DOUBLE:
    return g_param_spec_double(name, nick, blurb, row->low, row->high, row->value, flags);
  case RV_PARAM_ENUM:
    return g_param_spec_enum(name, nick, blurb, listed_type(settings, row), (int)row->value, flags);
  case RV_PARAM_FLAGS:
    return g_param_spec_flags(name, nick, blurb, listed_type(settings, row), (guint)row->value,
                              flags);
  case RV_PARAM_TEXT:
    return g_param_spec_string(name, nick, blurb, default_text(row), flags);
  case RV_PARAM_UINT:
    return g_param_spec_uint(name, nick, blurb, (guint)row->low, (guint)row->high,
                             (guint)row->value, flags);
  case RV_PARAM_UINT64:
    return g_param_spec_uint64(name, nick, blurb, (guint64)row->low, (guint64)row->high,
                               (guint64)row->value, flags);
  }
  g_return_val_if_reached(NULL);
}

/* --- Values ---------------------------------------------------------------------------------- */

/* The cases of all types but RV_PARAM_TEXT. DO(field, name): the C type of the field, and the name of the
 * type in the functions of GValue. */
/* clang-format off */
#define NUMBER_CASES(DO)                                                                           \
  case RV_PARAM_INT: DO(int, int); break;                                                          \
  case RV_PARAM_BOOL: DO(int, boolean); break;                                                     \
  case RV_PARAM_DOUBLE: DO(double, double); break;                                                 \
  case RV_PARAM_ENUM: DO(int, enum); break;                                                        \
  case RV_PARAM_FLAGS: DO(guint, flags); break;                                                    \
  case RV_PARAM_UINT: DO(guint, uint); break;                                                      \
  case RV_PARAM_UINT64: DO(guint64, uint64); break;
/* clang-format on */

static void set_value(const RvParam *row, gpointer to, const GValue *value) {
#define SET_VALUE(field, name) *(field *)to = g_value_get_##name(value)
  switch (row->type) {
    NUMBER_CASES(SET_VALUE)
  case RV_PARAM_TEXT:
    g_free(*(char **)to);
    *(char **)to = g_value_dup_string(value);
  }
}

static void get_value(const RvParam *row, gconstpointer from, GValue *value) {
#define GET_VALUE(field, name) g_value_set_##name(value, *(const field *)from)
  switch (row->type) {
    NUMBER_CASES(GET_VALUE)
  case RV_PARAM_TEXT:
    g_value_set_string(value, *(char *const *)from);
  }
}

static void set_default(const RvParam *row, gpointer to) {
#define SET_DEFAULT(field, name) *(field *)to = (field)row->value
  switch (row->type) {
    NUMBER_CASES(SET_DEFAULT)
  case RV_PARAM_TEXT:
    *(char **)to = g_strdup(default_text(row));
  }
}

/* The tables of the class that owns the property, and its row; NULL when it has none. */
static const GstRvSettings *find_row(const GParamSpec *spec, guint id, Place *place) {
  const GstRvSettings *settings = g_type_get_qdata(spec->owner_type, settings_quark());
  guint at = 0;
  while (settings && id > 0 && next_row(settings, &at, place))
    if (--id == 0)
      return settings;
  return NULL;
}

void gst_rv_settings_set_property(GObject *object, guint id, const GValue *value,
                                  GParamSpec *spec) {
  Place place;
  const GstRvSettings *settings = find_row(spec, id, &place);
  if (!settings) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  gpointer field = (char *)object + settings->place + place.offset;
  GValue before = G_VALUE_INIT;
  g_value_init(&before, spec->value_type);
  GST_OBJECT_LOCK(object);
  get_value(place.row, field, &before);
  set_value(place.row, field, value);
  GST_OBJECT_UNLOCK(object);
  /* A controller sets the value of every frame, changed or not. */
  if (settings->changed && g_param_values_cmp(spec, &before, value) != 0)
    settings->changed(object, place.row->name);
  g_value_unset(&before);
}

void gst_rv_settings_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  Place place;
  const GstRvSettings *settings = find_row(spec, id, &place);
  if (!settings) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  GST_OBJECT_LOCK(object);
  get_value(place.row, (const char *)object + settings->place + place.offset, value);
  GST_OBJECT_UNLOCK(object);
}

void gst_rv_settings_install(const GstRvSettings *settings, GObjectClass *klass) {
  g_type_set_qdata(G_OBJECT_CLASS_TYPE(klass), settings_quark(), (gpointer)settings);
  if (!klass->set_property) /* GObject clears what the parent class has */
    klass->set_property = gst_rv_settings_set_property;
  if (!klass->get_property)
    klass->get_property = gst_rv_settings_get_property;
  guint at = 0, id = 0;
  Place place;
  while (next_row(settings, &at, &place))
    g_object_class_install_property(klass, ++id, spec_of(settings, place.row));
}

void gst_rv_settings_init(gpointer object, const GstRvSettings *settings) {
  char *to = (char *)object + settings->place;
  guint at = 0;
  Place place;
  if (settings->params)
    rv_params_defaults(settings->params(), to + settings->config);
  while (next_row(settings, &at, &place))
    set_default(place.row, to + place.offset);
}

void gst_rv_settings_clear(gpointer object, const GstRvSettings *settings) {
  gst_rv_settings_clear_copy((char *)object + settings->place, settings);
}

void gst_rv_settings_copy(gpointer object, const GstRvSettings *settings, gpointer copy) {
  guint at = 0;
  Place place;
  GST_OBJECT_LOCK(object);
  memcpy(copy, (const char *)object + settings->place, settings->size);
  while (next_row(settings, &at, &place)) {
    char **text = (char **)(void *)((char *)copy + place.offset);
    if (place.row->type == RV_PARAM_TEXT)
      *text = g_strdup(*text);
  }
  GST_OBJECT_UNLOCK(object);
}

void gst_rv_settings_clear_copy(gpointer copy, const GstRvSettings *settings) {
  guint at = 0;
  Place place;
  while (next_row(settings, &at, &place))
    if (place.row->type == RV_PARAM_TEXT)
      g_clear_pointer((char **)(void *)((char *)copy + place.offset), g_free);
}

/* --- Metadata -------------------------------------------------------------------------------- */

typedef struct Description {
  const char *name, *title, *kind, *text;
} Description;

const char *gst_rv_describe(GstElementClass *klass, const char *name) {
  static const Description descriptions[] = {
#define RV_ELEMENT(name, title, kind, text) {#name, title, kind, text},
#include "elements.def"
#undef RV_ELEMENT
  };
  for (guint i = 0; i < G_N_ELEMENTS(descriptions); i++) {
    const Description *d = &descriptions[i];
    if (strcmp(d->name, name) != 0)
      continue;
    gst_element_class_set_static_metadata(klass, d->title, d->kind, d->text,
                                          "The gst-roadvision authors");
    return d->title;
  }
  g_return_val_if_reached(name);
}
