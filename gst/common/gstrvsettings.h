/* SPDX-License-Identifier: MIT */
/* gstrvsettings.h: GObject properties from tables of parameters (rv_params.h): those of the
 * library, and the element's own rows.
 *
 *   typedef struct Settings {
 *     RvRdpConfig config;
 *     int scale;
 *   } Settings;
 *
 *   static const RvParam own[] = {
 *       GST_RV_INT("scale", scale, 1, 2048, 16, 0, NULL, NULL, "Values per px"),
 *   };
 *   static const GstRvSettings settings =
 *       GST_RV_SETTINGS(GstCudaRdp, Settings, rv_rdp_params, own, changed);
 *
 *   class_init:  gst_rv_settings_install(&settings, object_class);
 *   init:        gst_rv_settings_init(self, &settings);
 *   finalize:    gst_rv_settings_clear(self, &settings);         // with RV_PARAM_TEXT rows only
 *
 * Elements of GstRvTransform define the table with GST_RV_TRANSFORM_SETTINGS() and call
 * gst_rv_transform_class_set_element() in class_init; their base class also clears the settings.
 *
 * Rows with RV_PARAM_HIDDEN or RV_PARAM_COMMON become no property. All properties can be set in
 * the PLAYING state, unless the table is `fixed`. Rows with RV_PARAM_LIVE are controllable: the
 * base class sets them to the values of their GstController at the stream time of each frame.
 * Values are read and written under the object lock, which gst_rv_settings_copy() takes. */
#ifndef GST_RV_SETTINGS_H
#define GST_RV_SETTINGS_H

#include <gst/gst.h>

#include "rv_params.h"

G_BEGIN_DECLS

typedef struct GstRvSettings {
  const char *type;                /* "GstCudaRdp": prefix of the enum types */
  const RvParams *(*params)(void); /* of the library; may be NULL */
  gsize config;                    /* offset of the library's config in the settings */
  const RvParam *own;              /* rows of the element; offsets in the settings */
  guint own_count;
  gsize place;    /* offset of the settings in the instance */
  gsize size;     /* of the settings, for gst_rv_settings_copy */
  gboolean fixed; /* set in the NULL or READY state only; FALSE: in the PLAYING state too */
  /* Called without the lock after a value changed; may be NULL. */
  void (*changed)(GObject *object, const char *name);
} GstRvSettings;

/* Rows of `own`, in a file whose struct of settings is called Settings: name, field, range,
 * default, flags, unit or NULL, special values or NULL, text. */
#define GST_RV_ROW(its_name, its_type, field, its_value, its_flags, its_unit, its_note, its_text)  \
  .name = its_name, .text = its_text, .unit = its_unit, .note = its_note, .type = its_type,        \
  .offset = offsetof(Settings, field), .value = its_value, .flags = its_flags
#define GST_RV_NUMBER(type, name, field, from, to, ...)                                            \
  { .low = (double)(from), .high = (double)(to), GST_RV_ROW(name, type, field, __VA_ARGS__) }
#define GST_RV_LISTED(type, name, field, array, ...)                                               \
  {                                                                                                \
    .values = (array), .value_count = (int)G_N_ELEMENTS(array),                                    \
    GST_RV_ROW(name, type, field, __VA_ARGS__)                                                     \
  }
/* The values of an enum or flags, in its row: {NUMBER, "name", "text"}, ... */
#define GST_RV_VALUES(...) ((const RvParamValue[]){__VA_ARGS__})
#define GST_RV_INT(name, ...) GST_RV_NUMBER(RV_PARAM_INT, name, __VA_ARGS__)
#define GST_RV_UINT(name, ...) GST_RV_NUMBER(RV_PARAM_UINT, name, __VA_ARGS__)
#define GST_RV_UINT64(name, ...) GST_RV_NUMBER(RV_PARAM_UINT64, name, __VA_ARGS__)
#define GST_RV_DOUBLE(name, ...) GST_RV_NUMBER(RV_PARAM_DOUBLE, name, __VA_ARGS__)
#define GST_RV_BOOL(name, field, ...) GST_RV_NUMBER(RV_PARAM_BOOL, name, field, 0, 1, __VA_ARGS__)
#define GST_RV_ENUM(name, ...) GST_RV_LISTED(RV_PARAM_ENUM, name, __VA_ARGS__)
#define GST_RV_FLAGS(name, ...) GST_RV_LISTED(RV_PARAM_FLAGS, name, __VA_ARGS__)
#define GST_RV_TEXT(name, field, note, text)                                                       \
  { GST_RV_ROW(name, RV_PARAM_TEXT, field, 0, 0, NULL, note, text) }

/* The tables of an element `Type` whose member `settings` is a `Settings` with a member
 * `config`. */
#define GST_RV_SETTINGS(Type, Settings, its_params, its_own, its_changed)                          \
  {                                                                                                \
    .type = #Type, .params = its_params, .config = offsetof(Settings, config), .own = its_own,     \
    .own_count = G_N_ELEMENTS(its_own), .place = G_STRUCT_OFFSET(Type, settings),                  \
    .size = sizeof(Settings), .changed = its_changed                                               \
  }

/* The table of an element without parameters of the library. */
#define GST_RV_SETTINGS_OWN(Type, Settings, its_own, its_changed)                                  \
  {                                                                                                \
    .type = #Type, .own = its_own, .own_count = G_N_ELEMENTS(its_own),                             \
    .place = G_STRUCT_OFFSET(Type, settings), .size = sizeof(Settings), .changed = its_changed     \
  }

/* Installs the properties (ids from 1 on; further properties of the class begin at
 * gst_rv_settings_count() + 1) and, unless the class has its own, set_property and get_property.
 * Marks enums and flags as API of the plugin. `settings` must live as long as the class. */
void gst_rv_settings_install(const GstRvSettings *settings, GObjectClass *klass);
guint gst_rv_settings_count(const GstRvSettings *settings);

/* For classes with properties of their own: set_property and get_property of the tables' ids. */
void gst_rv_settings_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec);
void gst_rv_settings_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec);

/* Sets the functions of a class with properties of its own. */
static inline void gst_rv_object_class_set(
    GObjectClass *klass,
    void (*set_property)(GObject *object, guint id, const GValue *value, GParamSpec *spec),
    void (*get_property)(GObject *object, guint id, GValue *value, GParamSpec *spec),
    void (*finalize)(GObject *object)) {
  klass->set_property = set_property;
  klass->get_property = get_property;
  klass->finalize = finalize;
}

/* Sets the defaults of an instance, and frees its texts. */
void gst_rv_settings_init(gpointer object, const GstRvSettings *settings);
void gst_rv_settings_clear(gpointer object, const GstRvSettings *settings);

/* Copies the settings of an instance, under its lock, to `copy`, a struct of that type that
 * contains nothing to free. The copy has texts of its own, freed by
 * gst_rv_settings_clear_copy(). */
void gst_rv_settings_copy(gpointer object, const GstRvSettings *settings, gpointer copy);
void gst_rv_settings_clear_copy(gpointer copy, const GstRvSettings *settings);

/* Sets the metadata of an element to that of its line in elements.def; returns the title. */
const char *gst_rv_describe(GstElementClass *klass, const char *name);

G_END_DECLS
#endif
