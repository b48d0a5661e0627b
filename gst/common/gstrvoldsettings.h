/* SPDX-License-Identifier: MIT */
/* gstrvoldsettings.h: properties from a table. A row says name, meaning, range, default and where the
 * value lies in a struct of plain values; ids follow the rows.
 *
 *   static const GstRvSetting rows[] = {
 *       {"median", "Median filter before", GST_RV_INT, 0, 5, 3, offsetof(Settings, median), NULL},
 *       ...};
 *   static const GstRvOldSettings properties = {rows, G_N_ELEMENTS(rows), 1};
 *
 * The element guards its struct by the object lock. */
#ifndef GST_RV_OLD_SETTINGS_H
#define GST_RV_OLD_SETTINGS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Lies there as int, as int (0 or 1), as double, as an enum of the size of an int, as guint. */
typedef enum { GST_RV_INT, GST_RV_BOOL, GST_RV_DOUBLE, GST_RV_ENUM, GST_RV_FLAGS } GstRvSettingKind;

typedef struct GstRvSetting {
  const char *name, *blurb;
  GstRvSettingKind kind;
  double low, high, value; /* range, of numbers only, and default */
  gsize offset;
  GType (*type)(void); /* of an enum or flags, else NULL */
} GstRvSetting;

typedef struct GstRvOldSettings {
  const GstRvSetting *rows;
  guint count;
  guint first; /* property id of row 0 */
} GstRvOldSettings;

/* All rows may be set while PLAYING. Marks enums and flags as API of the plugin. */
void gst_rv_old_settings_install(const GstRvOldSettings *settings, GObjectClass *klass);

/* The defaults, into the struct at `values`. */
void gst_rv_old_settings_init(const GstRvOldSettings *settings, void *values);

/* FALSE when the id is of no row. */
gboolean gst_rv_old_settings_set(const GstRvOldSettings *settings, void *values, guint id,
                             const GValue *value);
gboolean gst_rv_old_settings_get(const GstRvOldSettings *settings, const void *values, guint id,
                             GValue *value);

/* The type of an enum, registered at the first call; `type` and `values` are static, the last of
 * `values` is zero. */
GType gst_rv_enum_type(gsize *type, const char *name, const GEnumValue *values);

G_END_DECLS
#endif
