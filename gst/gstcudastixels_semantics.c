/* SPDX-License-Identifier: MIT */
/* gstcudastixels_semantics.c: labels and scores for cudastixels. */
#include "gstcudastixels_semantics.h"

#include <string.h>

gboolean gst_cuda_stixels_semantics_parse(const char *classes, RvStixelsConfig *config) {
  static const char letters[] = "gos"; /* in the order of RvStixelClass */
  const gsize count = classes ? strlen(classes) : 0;
  if (count > RV_STIXELS_SEMANTICS_MAX)
    return FALSE;
  for (gsize k = 0; k < count; k++) {
    const char *letter = strchr(letters, classes[k]);
    if (!letter)
      return FALSE;
    config->semantic_structure[k] = (guint8)(letter - letters);
  }
  config->semantics = (int)count;
  return TRUE;
}

/* --- Annotation ------------------------------------------------------------------------------ */

static void warn_invalid(GstRvTransform *element, guint once, const char *what) {
  if (gst_rv_transform_once(element, once))
    GST_ELEMENT_WARNING(element, STREAM, FORMAT, ("Invalid semantics are ignored: %s.", what),
                        ("Attach RvSemanticsMeta with labels (u8, any size) or with one plane of "
                         "scores (f16) for each letter of semantic-classes; semanticsattach does "
                         "so from label images or a second stream."));
}

RvStatus gst_cuda_stixels_semantics_map(GstCudaStixelsSemantics *self, GstRvTransform *element,
                                        const GstRvExecContext *work, GstBuffer *buffer,
                                        int classes, guint once, RvStixelsInput *input) {
  RvMetaSemantics meta;
  if (classes == 0)
    return RV_OK;
  if (!rv_meta_get_semantics(buffer, &meta)) {
    GError *error = NULL;
    rv_meta_check(buffer, RV_META_SEMANTICS, &error);
    if (error)
      warn_invalid(element, once, error->message);
    g_clear_error(&error);
    return RV_OK;
  }
  if (meta.type == RV_SEMANTICS_SCORES && meta.classes != classes) {
    warn_invalid(element, once,
                 "the number of classes is not the number of letters of semantic-classes");
    return RV_OK;
  }
  const RvStatus status = gst_rv_input_map(&self->input, work, meta.payload);
  if (status == RV_OK)
    *(meta.type == RV_SEMANTICS_LABELS ? &input->labels : &input->scores) = self->input.plane;
  return status;
}

void gst_cuda_stixels_semantics_unmap(GstCudaStixelsSemantics *self) {
  gst_rv_input_unmap(&self->input);
}

void gst_cuda_stixels_semantics_clear(GstCudaStixelsSemantics *self) {
  gst_cuda_stixels_semantics_unmap(self);
  gst_rv_input_clear(&self->input);
}
