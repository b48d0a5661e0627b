/* SPDX-License-Identifier: MIT */
/* gstcudastixels_priors.h: semantic classes and their priors as a person writes them, in properties
 * or in a file. */
#ifndef GST_CUDA_STIXELS_PRIORS_H
#define GST_CUDA_STIXELS_PRIORS_H

#include <glib.h>

#include "rv.h"
#include "stixels/stixels.h"

G_BEGIN_DECLS

#define GST_CUDA_STIXELS_PRIORS_SIZE 65536 /* bytes of a file, at most */

/* The properties semantic-classes, semantic-names, semantic-sigmas, semantic-transitions and
 * semantic-location; NULL is empty. Entries are separated by spaces, commas or ends of lines. A
 * class is a name, its number from 0, or * for all.
 *
 *   classes      one letter per class, see gst_cuda_stixels_semantics_parse
 *   names        one word per class: road car sky
 *   sigmas       class:px: road:0.8 car:1.5
 *   transitions  class below>class above:nats: road>car:0 sky>*:20
 *
 * Later entries replace earlier ones. A file has lines `classes = ...`, `names = ...` and so on,
 * any number of each; # starts a comment. Its classes replace those of the property; its names
 * apply unless there are names next to it; its other entries come before those of the
 * properties. */
typedef struct GstCudaStixelsTexts {
  const char *classes, *names, *sigmas, *transitions, *location;
} GstCudaStixelsTexts;

/* Sets the semantic classes of `config`. `priors` receives the priors, which config refers to when
 * there are any. FALSE, with a line in the log that states what is wrong and where, for anything
 * else than the above. */
gboolean gst_cuda_stixels_priors_parse(const GstCudaStixelsTexts *texts, RvStixelsConfig *config,
                                       RvStixelsSemanticPriors *priors, const RvLog *log);

G_END_DECLS
#endif
