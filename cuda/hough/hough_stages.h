/* SPDX-License-Identifier: MIT */
/* hough_stages.h: plan, job and stages of the Hough transform. Not installed. */
#ifndef RV_HOUGH_STAGES_H
#define RV_HOUGH_STAGES_H

#include "hough/hough_rules.h"
#include "rv_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of an object. */
typedef struct RvHoughPlan {
  RvHoughConfig config;
  RvHoughSpace space;
} RvHoughPlan;

/* One call of run(). */
typedef struct RvHoughJob {
  const RvHoughPlan *plan;
  RvPlane input;
  RvHoughOutput out;
  RvStream stream;
} RvHoughJob;

/*   edges     gradients and edge classes; not with binary edges, where the input is the edge map
 *   votes     list of edge pixels, accumulator, and the two maps of the output
 *   peaks     the strongest max_lines peaks in order: the lines, or what segments are searched for
 *   segments  end points; lines without a segment are removed. When config.segments */
RV_STAGES(RvHough, hough, RvHoughJob, *edges, *votes, *peaks, *segments);

/* Space of a valid config. */
void rv_hough_space(const RvHoughConfig *config, RvHoughSpace *space);

/* Table of space->angles entries, the same for every engine and for tests that count. */
void rv_hough_angles(const RvHoughConfig *config, const RvHoughSpace *space, RvHoughAngle *angles);

/* The same in host memory that the caller frees with rv_memory_free; NULL, after logging, when
 * there is none. */
RvHoughAngle *rv_hough_angles_new(const RvHoughPlan *plan);

/* Maximum number of peaks: no two are neighbors. */
size_t rv_hough_peaks_max(const RvHoughSpace *space);

#ifdef __cplusplus
}
#endif
#endif
