/* SPDX-License-Identifier: MIT */
/* hough_reference.h: the Hough transform once more, written for clearness alone. Tests only. */
#ifndef RV_HOUGH_TWIN_H
#define RV_HOUGH_TWIN_H

#include "hough/hough_stages.h"

/* Results of one run in host memory; NULL members after a failed _new. */
typedef struct HoughReference {
  uint8_t *edges; /* width x height */
  uint32_t *bins; /* angles x bins */
  RvLine *lines;  /* max_lines */
  uint32_t *hits; /* max_lines rows of rv_hough_hit_words; 0 without segments */
  uint32_t count;
} HoughReference;

int hough_reference_new(HoughReference *reference, const RvHoughConfig *config);
void hough_reference_free(HoughReference *reference);

/* Fills all of `reference`; 0 when memory is exhausted. */
int hough_reference_run(HoughReference *reference, const RvHoughConfig *config,
                        const RvPlane *input);

#endif
