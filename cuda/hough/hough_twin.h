/* hough_twin.h: the Hough transform once more, written for clearness alone. Tests only. */
#ifndef RV_HOUGH_TWIN_H
#define RV_HOUGH_TWIN_H

#include "hough/hough_stages.h"

/* Results of one run in host memory; NULL members after a failed _new. */
typedef struct HoughTwin {
  uint8_t *edges; /* width x height */
  uint32_t *bins; /* angles x bins */
  RvLine *lines;  /* max_lines */
  uint32_t count;
} HoughTwin;

int hough_twin_new(HoughTwin *twin, const RvHoughConfig *config);
void hough_twin_free(HoughTwin *twin);

/* Fills all of `twin`; 0 when memory is exhausted. */
int hough_twin_run(HoughTwin *twin, const RvHoughConfig *config, const RvPlane *input);

#endif
