/* SPDX-License-Identifier: MIT */
/* gstrvsettings.h: GObject properties from tables of parameters (rv_params.h): those of the library,
 * and the element's own rows.
 *
 *   typedef struct Settings {
 *     RvRdpConfig config;
 *     int scale;
 *   } Settings;
 *
 *   static const RvParam own[] = {
 *       {.name = "scale", .text = "...", .type = RV_PARAM_INT, .low = 1, .high = 2048, .value = 16,
 *        .offset = offsetof(Settings, scale)}};
 *   static const GstRvSettings settings = {
 *       .type = "GstCudaRdp",                                    // prefix of the enum types
 *       .params = rv_rdp_params, .config = offsetof(Settings, config),
 *       .own = own, .own_count = G_N_ELEMENTS(own),
 *       .place = G_STRUCT_OFFSET(GstCudaRdp, settings),
 *       .changed = gst_rv_transform_changed};
 *
 *   class_init:  gst_rv_settings_install(&settings, object_class);
 *   init:        gst_rv_settings_init(self, &settings);
 *   finalize:    gst_rv_settings_clear(self, &settings);         // with RV_PARAM_TEXT rows only
 *
 * Rows with RV_PARAM_HIDDEN or RV_PARAM_COMMON become no property. All properties can be
 * set in the PLAYING state. Rows with RV_PARAM_LIVE are controllable: the base class sets them to the
 * values of their GstController at the stream time of each frame. Values are read and written under the object
 * lock: an element takes it when it copies its Settings. */
#ifndef GST_RV_SETTINGS_H
#define GST_RV_SETTINGS_H

#include <gst/gst.h>

#include "rv_params.h"

G_BEGIN_DECLS

typedef struct GstRvSettings {
  const char *type;
  const RvParams *(*params)(void); /* of the library; may be NULL */
  gsize config;                    /* offset of the library's config in the settings */
  const RvParam *own;              /* rows of the element; offsets in the settings */
  guint own_count;
  gsize place; /* offset of the settings in the instance */
  /* Called without the lock after a value changed; may be NULL. */
  void (*changed)(GObject *object, const char *name);
} GstRvSettings;

/* Installs the properties (ids from 1 on; further properties of the class begin at
 * gst_rv_settings_count() + 1) and, unless the class has its own, set_property and get_property.
 * Marks enums and flags as API of the plugin. `settings` must live as long as the class. */
void gst_rv_settings_install(const GstRvSettings *settings, GObjectClass *klass);
guint gst_rv_settings_count(const GstRvSettings *settings);

/* For classes with properties of their own: set_property and get_property of the tables' ids. */
void gst_rv_settings_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec);
void gst_rv_settings_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec);

/* Sets the defaults of an instance, and frees its texts. */
void gst_rv_settings_init(gpointer object, const GstRvSettings *settings);
void gst_rv_settings_clear(gpointer object, const GstRvSettings *settings);

/* The enum type of a row, for rows that other code needs to know: "GstCudaRdp" + "Distance". */
GType gst_rv_settings_enum_type(const GstRvSettings *settings, const char *name);

G_END_DECLS
#endif
