/* SPDX-License-Identifier: MIT */
/* hough_cases.h: shared by the files of the Hough transform's cases. Tests only. */
#ifndef RV_HOUGH_CASES_H
#define RV_HOUGH_CASES_H

#include "hough/hough.h"
#include "rvcheck.h"

/* An object and its planes, all where the engine works. */
typedef struct HoughRun {
  RvEngine engine;
  RvHough *hough;
  RvPlane input, lines, count, edges, bins, hits; /* lines, hits: rows of words, dense */
  int max_lines;
} HoughRun;

/* 0 after a failure; _free is due in either case. `input` is host memory that lives on. */
int hough_run_new(RvCheck *check, HoughRun *run, const RvHoughConfig *config, const RvPlane *input,
                  RvEngine engine);
void hough_run_free(HoughRun *run);
RvStatus hough_run(HoughRun *run, int with_maps, RvStream stream);

/* Both engines against the reference. */
void hough_case(RvCheck *check, const char *name, const RvHoughConfig *config, const RvPlane *input,
                const char *kind);

/* hough_hand_cases.c: images whose lines are known. */
void hough_hand_cases(RvCheck *check);

/* hough_thin_cases.c: dashes and near-duplicates. */
void hough_thin_cases(RvCheck *check);

/* hough_model_bench.c: the time model of voting, with the Hough transform as its load. */
void hough_model(RvCheck *check);

/* hough_bench.c */
void hough_bench(RvCheck *check);

#endif
