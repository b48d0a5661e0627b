/* SPDX-License-Identifier: MIT */
#ifndef GST_ANNOTATION_PUBLISH_COMPAT_H
#define GST_ANNOTATION_PUBLISH_COMPAT_H
#include <gst/gst.h>
#include <string.h>
static const struct {
  const char *name, *scalars, *field, *format;
} compat_[] = {
    {"RvCameraMeta", "focal:f64 cx:f64 cy:f64 doffs:f64 baseline:f64 camera-height:f64 pitch:f64",
     NULL, NULL},
    {"RvDisparityMeta", "scale:i32 min-disparity:i32 disparities:i32", "payload", "u16"},
    {"RvStixelsMeta",
     "count:i32 stixel-width:i32 vertical-step:i32 model:string ground-slope:f64 "
     "ground-intercept:f64 ground-frames:i32",
     "payload",
     "column:u16 v_bottom:u16 v_top:u16 structure:u8 semantic:u8 slope:f32 intercept:f32 cost:f32"},
    {"RvSegmentsMeta", "count:i32 epsilon:f64 levels-max:i32", "payload",
     "column:u16 first:u16 last:u16 reserved:u16 disparity_first:u16 disparity_last:u16"},
    {"RvLinesMeta", "count:i32 theta-step:f64 rho-step:f64 segments:boolean", "payload",
     "rho:f32 theta:f32 votes:u32 x0:i16 y0:i16 x1:i16 y1:i16"},
    {"RvRoadMeta", "patch-size:i32 columns:i32 rows:i32 road-share:f64", "payload", "u8"},
};
static inline const char *rv_meta_get_format(const char *name, const char *field) {
  for (unsigned i = 0; i < sizeof compat_ / sizeof compat_[0]; i++)
    if (strcmp(compat_[i].name, name) == 0 && compat_[i].field &&
        strcmp(compat_[i].field, field) == 0)
      return compat_[i].format;
  return NULL;
}
static inline const char *rv_meta_get_scalar(const char *name, guint index) {
  for (unsigned i = 0; i < sizeof compat_ / sizeof compat_[0]; i++)
    if (strcmp(compat_[i].name, name) == 0) {
      char **w = g_strsplit(compat_[i].scalars, " ", -1);
      const char *r = index < g_strv_length(w) ? g_intern_string(strtok(w[index], ":")) : NULL;
      g_strfreev(w);
      return r;
    }
  return NULL;
}
static inline int rv_meta_count_records(const GstStructure *fields, const char *field) {
  int count = -1;
  (void)field;
  gst_structure_get_int(fields, "count", &count);
  return count;
}
static inline const char *const *rv_meta_get_names(void) {
  static const char *const names[] = {"RvCameraMeta",
                                      "RvDisparityMeta",
                                      "RvStixelsMeta",
                                      "RvSegmentsMeta",
                                      "RvLinesMeta",
                                      "RvRoadMeta",
                                      NULL};
  return names;
}
#endif
