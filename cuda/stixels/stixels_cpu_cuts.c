/* SPDX-License-Identifier: MIT */
/* stixels_cpu_cuts.c: allowed boundaries of stixels, CPU engine. */
#include <string.h>

#include "stixels/stixels_cpu.h"

/* Both ends of every plateau that is a local extremum of the series (3.4.1). */
static void cut_extremes(RvStixelsColumn *c) {
  int before = rv_stixels_series(c->cells[0]); /* the plateau's value */
  int begin = 0, rising = -1; /* its first row; whether the series rose to it: -1 unknown */
  for (int v = 1; v < c->plan->rows; v++) {
    const int value = rv_stixels_series(c->cells[v]);
    if (value == before)
      continue;
    const int rises = value > before;
    if (rising >= 0 && rises != rising)
      c->cuts[begin] = c->cuts[v] = RV_STIXELS_CUT_SURE;
    rising = rises;
    before = value;
    begin = v;
  }
}

static void cut_steps(RvStixelsColumn *c) {
  for (int v = 1; v < c->plan->rows; v++)
    if (rv_stixels_is_step(c->cells[v - 1], c->cells[v]))
      c->cuts[v] = RV_STIXELS_CUT_SURE;
}

static int likeliest(const RvStixelsColumn *c, int v) {
  int best = 0;
  for (int index = 1; index < c->plan->semantics; index++)
    if (c->semantics[(size_t)index * (size_t)c->plan->rows + (size_t)v] <
        c->semantics[(size_t)best * (size_t)c->plan->rows + (size_t)v])
      best = index;
  return best;
}

static void cut_semantics(RvStixelsColumn *c) {
  int below = likeliest(c, 0);
  for (int v = 1; v < c->plan->rows; v++) {
    const int here = likeliest(c, v);
    if (here != below)
      c->cuts[v] = RV_STIXELS_CUT_SURE;
    below = here;
  }
}

void rv_stixels_cpu_cuts(RvStixelsColumn *c) {
  const int rows = c->plan->rows;
  const RvStixelsCutsKind kind = c->plan->config.cuts;
  memset(c->cuts, kind == RV_STIXELS_CUTS_ALL ? RV_STIXELS_CUT_SURE : 0, (size_t)rows + 1);
  if (kind == RV_STIXELS_CUTS_TIME_SERIES) {
    cut_extremes(c);
    cut_steps(c);
  } else if (kind == RV_STIXELS_CUTS_NETWORK) {
    rv_stixels_network_cpu(c->kernel, c->network, &c->ground, c->cells, rows, c->channels, c->cuts);
  }
  if (kind != RV_STIXELS_CUTS_ALL && c->semantics)
    cut_semantics(c);
  c->cuts[0] = c->cuts[rows] = RV_STIXELS_CUT_SURE;
}
