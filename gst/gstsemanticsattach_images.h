/* SPDX-License-Identifier: MIT */
/* gstsemanticsattach_images.h: label images in files: the property `classes`, names, PNG. */
#ifndef GST_SEMANTICS_ATTACH_IMAGES_H
#define GST_SEMANTICS_ATTACH_IMAGES_H

#include "roadvision-gst.h"

G_BEGIN_DECLS

/* Largest width and height of a label image, px. */
#define GST_SEMANTICS_ATTACH_SIZE_MAX 16384

/* What each value of a label image means. */
typedef struct GstSemanticsAttachClasses {
  guint8 of[256]; /* class of each value; RV_SEMANTIC_NONE = none */
  int count;      /* of classes */
} GstSemanticsAttachClasses;

/* Parses "VALUE:CLASS,FIRST-LAST:CLASS,..." (values 0..255, classes 0..254; other values have no
 * class) or "cityscapes" (label ids of Cityscapes and KITTI to the 19 classes of cudastixels). NULL
 * or empty: values are classes. FALSE and error for anything else; `classes` is unchanged then. */
gboolean gst_semantics_attach_classes_parse(const char *text, GstSemanticsAttachClasses *classes,
                                            GError **error);

/* Returns the path of image `number`: %d or %06d in `location` is the number, %% a percent sign. To
 * be freed; NULL and error for other conversions. */
char *gst_semantics_attach_path(const char *location, guint64 number, GError **error);

/* Returns a raster (RV_U8) of `width` x `height` with the classes of the values of `rows`. */
GstBuffer *gst_semantics_attach_raster(const guint8 *rows, gssize stride, int width, int height,
                                       const GstSemanticsAttachClasses *classes);

/* Reads a PNG file: gray or palette (the index is the value) of 1, 2, 4 or 8 bits, not interlaced.
 * Returns a raster as above, or NULL and an error that names the file and the cause. */
GstBuffer *gst_semantics_attach_read(const char *path, const GstSemanticsAttachClasses *classes,
                                     int *width, int *height, GError **error);

/* The last image that was read. Zeroed at first. */
typedef struct GstSemanticsAttachImage {
  gboolean known;
  guint64 number;
  RvMetaSemantics meta; /* payload NULL: it could not be read */
} GstSemanticsAttachImage;

/* Sets `meta` to image `number`, with a reference to its payload; reads it unless it is the last
 * one. FALSE when it cannot be read; error only after the first attempt. `fresh`: it was read. */
gboolean gst_semantics_attach_image_get(GstSemanticsAttachImage *image, const char *location,
                                        guint64 number, const GstSemanticsAttachClasses *classes,
                                        RvMetaSemantics *meta, gboolean *fresh, GError **error);
void gst_semantics_attach_image_forget(GstSemanticsAttachImage *image);

G_END_DECLS
#endif
