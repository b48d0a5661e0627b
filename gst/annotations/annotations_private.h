/* SPDX-License-Identifier: MIT */
/* annotations_private.h: one table per annotation, and the functions over these tables. To add an
 * annotation: its name, struct and RV_META_DECLARE in roadvision-gst.h; its table and its line in
 * the list of annotations_tables.c. */
#ifndef ANNOTATIONS_PRIVATE_H
#define ANNOTATIONS_PRIVATE_H

#include "roadvision-gst.h"

typedef enum RvMetaKind {
  RV_META_INT,     /* int, within low..high */
  RV_META_BOOLEAN, /* gboolean */
  RV_META_INT64,
  RV_META_UINT64,
  RV_META_DOUBLE,  /* finite */
  RV_META_ENUM,    /* int; a string in the structure, one of `format`, separated by blanks */
  RV_META_TEXT,    /* nothing in the struct; `format` in the structure */
  RV_META_RASTER,  /* GstBuffer * */
  RV_META_RECORDS, /* GstBuffer *, at least *columns records */
} RvMetaKind;

/* A field of the structure and its place in the struct. */
typedef struct RvMetaField {
  const char *name;
  RvMetaKind kind;
  gsize at;           /* offset in the struct */
  gboolean optional;  /* 0 or NULL if it is absent or invalid */
  gsize with;         /* offset of the member that must be set for it to be written; 0 = always */
  int low, high;      /* INT */
  const char *format; /* ENUM, TEXT; RASTER, RECORDS: as rv_meta_get_format */
  gsize columns;      /* offset of an int: width of a RASTER, number of RECORDS */
  gsize rows;         /* offset of an int: height of a RASTER */
} RvMetaField;

/* What a raster must be. */
typedef struct RvMetaShape {
  const char *format;
  int width, height;
} RvMetaShape;

/* Every struct begins with int width, height. */
typedef struct RvMetaType {
  const char *name;
  gsize size; /* bytes of the struct */
  const RvMetaField *fields;
  guint count;
  void (*reshape)(const void *meta, RvMetaShape *shape); /* rasters that depend on more fields */
  const char *(*check)(const void *meta);                /* what is wrong across fields, or NULL */
} RvMetaType;

/* Ended by one without name. */
extern const RvMetaType rv_meta_types[];

/* --- annotations.c: structs ------------------------------------------------------------------- */

const RvMetaType *rv_meta_type_find(const char *name);
const RvMetaField *rv_meta_type_field(const RvMetaType *type, const char *field);

/* Reads with borrowed buffers. FALSE without error: absent. */
gboolean rv_meta_type_get(const RvMetaType *type, GstBuffer *buffer, void *meta, GError **error);

/* Writes unchecked and takes over the buffers. */
GstStructure *rv_meta_type_add(const RvMetaType *type, GstBuffer *buffer, const void *meta);

gboolean rv_meta_type_attach(const RvMetaType *type, GstBuffer *buffer, const void *meta,
                             GError **error);
gboolean rv_meta_type_attach_in_probe(const RvMetaType *type, GstPadProbeInfo *info,
                                      const void *meta, GError **error);

/* Structs that own references to their buffers. */
void *rv_meta_type_copy(const RvMetaType *type, const void *meta);
void rv_meta_type_clear(const RvMetaType *type, void *meta);
gboolean rv_meta_type_read(const RvMetaType *type, GstBuffer *buffer, void *meta, GError **error);

RvMetaArray *rv_meta_type_get_array(const RvMetaType *type, const void *meta, const char *field,
                                    GError **error);
gboolean rv_meta_type_set_array(const RvMetaType *type, void *meta, const char *field,
                                const RvMetaArray *array, GError **error);

/* --- annotations_raster.c: buffers ------------------------------------------------------------ */

/* Bytes of one element of a format; 0 for an unknown one. */
gsize rv_meta_format_bytes(const char *format);

/* GRAY8, GRAY16_LE or RGBA, by the bytes of a number format. */
GstVideoFormat rv_meta_format_video(const char *format);

/* Stores the stride and the format of a raster in the same structure. */
void rv_meta_set_layout(GstStructure *fields, const char *field, GstBuffer *raster,
                        const char *format);

/* `raster`, or, if it has no GstVideoMeta but stride and format are in `fields`, a buffer with the
 * same memory and a GstVideoMeta. Borrowed. */
GstBuffer *rv_meta_restore_layout(const GstStructure *fields, const char *field, GstBuffer *raster,
                                  const RvMetaShape *shape);

/* What keeps a buffer from being a raster of that shape, or `count` records; NULL if nothing. */
const char *rv_meta_raster_problem(GstBuffer *buffer, const RvMetaShape *shape);
const char *rv_meta_records_problem(GstBuffer *buffer, const char *format, int count);

/* Copies between buffers and arrays. */
RvMetaArray *rv_meta_array_from_buffer(GstBuffer *buffer, const char *format, int width, int height,
                                       GError **error);
GstBuffer *rv_meta_array_to_buffer(const RvMetaArray *array, gboolean is_raster);

#endif
