/* SPDX-License-Identifier: MIT */
/* rectify_maps.c: which source sample every output sample comes from. Positions are computed in
 * double and rounded once. */
#include "rectify/rectify_maps.h"

#include <math.h>
#include <string.h>

#include "rectify/rectify_geometry.h"
#include "rectify/rectify_lens.h"
#include "rectify/rectify_math.h"
#include "rv_internal.h"
#include "rv_pixels.h"

#define FAR 1e6 /* samples: beyond any plane, and 32 times it is an int32_t */

/* --- Plan ------------------------------------------------------------------------------------ */

/* Views of w x h luma samples in a plane whose samples stand for cell_x x cell_y of them. */
static void place_views(RvRectifyWindow view[2], int w, int h, int top_bottom, int cell_x,
                        int cell_y) {
  const int frame_w = top_bottom ? w : 2 * w, frame_h = top_bottom ? 2 * h : h;
  const int plane_w = rv_div_up(frame_w, cell_x), plane_h = rv_div_up(frame_h, cell_y);
  const int first_w = rv_div_up(w, cell_x), first_h = rv_div_up(h, cell_y);
  view[0] = (RvRectifyWindow){0, 0, first_w, first_h};
  view[1] = top_bottom ? (RvRectifyWindow){0, first_h, plane_w, plane_h - first_h}
                       : (RvRectifyWindow){first_w, 0, plane_w - first_w, plane_h};
}

static void plan_grid(const RvRectifyConfig *c, const RvRectifyGeometry *g, RvRectifyGrid *grid,
                      int cell_x, int cell_y) {
  const int top_bottom = c->layout >= RV_RECTIFY_TOP_BOTTOM;
  memset(grid, 0, sizeof *grid);
  place_views(grid->out, g->width, g->height, top_bottom, cell_x, cell_y);
  place_views(grid->in, c->in_width, c->in_height, top_bottom, cell_x, cell_y);
  grid->width = grid->out[1].x + grid->out[1].width;
  grid->height = grid->out[1].y + grid->out[1].height;
  grid->pitch = rv_div_up(grid->width, RV_RECTIFY_PITCH) * RV_RECTIFY_PITCH;
  grid->split_x = top_bottom ? grid->width : grid->out[1].x;
  grid->split_y = top_bottom ? grid->out[1].y : grid->height;
  const double unit = RV_RECTIFY_ONE << RV_RECTIFY_STEP_BITS;
  grid->step_x = (int)lround(unit * c->in_width / g->width);
  grid->step_y = (int)lround(unit * c->in_height / g->height);
}

static void measure_grid(RvRectifyPlan *plan, int g);

RvStatus rv_rectify_make_plan(RvRectifyPlan *plan) {
  const RvRectifyConfig *c = &plan->config;
  RV_TRY(rv_rectify_make_geometry(c, &plan->geometry));
  const RvRectifyGeometry *g = &plan->geometry;
  const RvPixelLayout *layout = rv_pixel_layout(c->format);
  const int right_first = c->layout == RV_RECTIFY_SIDE_BY_SIDE_RIGHT_FIRST ||
                          c->layout == RV_RECTIFY_TOP_BOTTOM_RIGHT_FIRST;
  plan->cell_x = layout->cell_x;
  plan->cell_y = layout->cell_y;
  plan->grids = layout->kind != RV_KIND_RGB && layout->plane_of[1] >= 0 ? 2 : 1;
  plan->views[0] = right_first;
  plan->views[1] = !right_first;
  plan->border[RV_RECTIFY_LUMA] = plan->grids == 2 && !c->full_range ? 16 : 0;
  plan->border[RV_RECTIFY_CHROMA] = 128;
  plan_grid(c, g, &plan->grid[RV_RECTIFY_LUMA], 1, 1);
  if (plan->grids == 2)
    plan_grid(c, g, &plan->grid[RV_RECTIFY_CHROMA], plan->cell_x, plan->cell_y);
  for (int i = 0; i < plan->grids; i++)
    measure_grid(plan, i);
  return RV_OK;
}

/* --- Positions ------------------------------------------------------------------------------- */

/* From a sample of an output view to one of its source. */
typedef struct Mapping {
  RectifyLens lens;
  double ray[9];           /* (P R)^-1 */
  double x0, dx, y0, dy;   /* luma position of sample (k, r): x0 + k dx, y0 + r dy */
  double from_x, from_y;   /* luma position of source sample (0, 0) */
  double scale_x, scale_y; /* source samples per luma sample */
  int width, height;       /* source samples */
  int step_x, step_y;      /* prediction */
  int nearest;
} Mapping;

static void init_mapping(const RvRectifyPlan *plan, int g, int second, Mapping *m) {
  const RvRectifyConfig *c = &plan->config;
  const RvRectifyGeometry *geometry = &plan->geometry;
  const RvRectifyGrid *grid = &plan->grid[g], *luma = &plan->grid[RV_RECTIFY_LUMA];
  const int view = plan->views[second], cell_x = g ? plan->cell_x : 1,
            cell_y = g ? plan->cell_y : 1;
  const double *p = geometry->projection[view];
  const double p3[9] = {p[0], p[1], p[2], p[4], p[5], p[6], p[8], p[9], p[10]};
  const double site_x = cell_x > 1 && !c->chroma_cosited_x ? 0.5 : 0;
  const double site_y = cell_y > 1 && !c->chroma_cosited_y ? 0.5 : 0;
  double product[9];
  rv_lens_init(&m->lens, &geometry->calibration.view[view]);
  rv_mat3_multiply(p3, geometry->rotation[view], product);
  if (!rv_mat3_invert(product, m->ray)) /* not with a checked calibration */
    memset(m->ray, 0, sizeof m->ray);
  m->dx = cell_x;
  m->dy = cell_y;
  m->x0 = cell_x * grid->out[second].x + site_x - luma->out[second].x;
  m->y0 = cell_y * grid->out[second].y + site_y - luma->out[second].y;
  m->from_x = cell_x * grid->in[second].x + site_x - luma->in[second].x;
  m->from_y = cell_y * grid->in[second].y + site_y - luma->in[second].y;
  m->scale_x = 1.0 / cell_x;
  m->scale_y = 1.0 / cell_y;
  m->width = grid->in[second].width;
  m->height = grid->in[second].height;
  m->step_x = grid->step_x;
  m->step_y = grid->step_y;
  m->nearest = c->interpolation == RV_RECTIFY_NEAREST;
}

/* Source of sample (k, r) in 1/32; 0 when all of its four samples are outside. */
static int source_of(const Mapping *m, int k, int r, int *u_out, int *v_out) {
  const double *ray = m->ray, lx = m->x0 + k * m->dx, ly = m->y0 + r * m->dy;
  const double x = lx * ray[0] + (ly * ray[1] + ray[2]);
  const double y = lx * ray[3] + (ly * ray[4] + ray[5]);
  const double w = lx * ray[6] + (ly * ray[7] + ray[8]);
  if (!(w > 0))
    return 0;
  double u, v;
  const double inverse = 1 / w;
  rv_lens_project(&m->lens, x * inverse, y * inverse, &u, &v);
  u = (u - m->from_x) * m->scale_x;
  v = (v - m->from_y) * m->scale_y;
  if (!(fabs(u) < FAR && fabs(v) < FAR))
    return 0;
  int su = (int)rint(u * RV_RECTIFY_ONE), sv = (int)rint(v * RV_RECTIFY_ONE);
  if (m->nearest) {
    su = (su + RV_RECTIFY_ONE / 2) & -RV_RECTIFY_ONE;
    sv = (sv + RV_RECTIFY_ONE / 2) & -RV_RECTIFY_ONE;
  }
  *u_out = su;
  *v_out = sv;
  return su >= -RV_RECTIFY_ONE && sv >= -RV_RECTIFY_ONE && su < m->width * RV_RECTIFY_ONE &&
         sv < m->height * RV_RECTIFY_ONE;
}

/* --- Measuring ------------------------------------------------------------------------------- */

/* Content of one row of a view. */
typedef struct RowFacts {
  int wide, changed;
  int first, last; /* longest run of samples that no border sample takes part in */
} RowFacts;

static RowFacts measure_row(const Mapping *m, int r, int columns) {
  RowFacts facts = {0, 0, 0, 0};
  int start = 0;
  for (int k = 0; k <= columns; k++) {
    int u = 0, v = 0, is_inside = 0;
    const int is_there = k < columns && source_of(m, k, r, &u, &v);
    if (is_there) {
      const int du = u - rv_rectify_predict(k, m->step_x);
      const int dv = v - rv_rectify_predict(r, m->step_y);
      facts.wide |= rv_abs(du) > INT16_MAX || rv_abs(dv) > INT16_MAX;
      is_inside = u >= 0 && v >= 0 && u <= (m->width - 1) * RV_RECTIFY_ONE &&
                  v <= (m->height - 1) * RV_RECTIFY_ONE;
    }
    facts.changed |=
        k < columns && !(is_there && u == k * RV_RECTIFY_ONE && v == r * RV_RECTIFY_ONE);
    if (is_inside)
      continue;
    if (k - start > facts.last - facts.first) {
      facts.first = start;
      facts.last = k;
    }
    start = k + 1;
  }
  return facts;
}

/* Whether the map of a grid needs wide entries; of luma also whether it changes nothing, and where
 * both views have no border. */
static void measure_grid(RvRectifyPlan *plan, int g) {
  RvRectifyGrid *grid = &plan->grid[g];
  Mapping m[2];
  for (int s = 0; s < 2; s++)
    init_mapping(plan, g, s, &m[s]);
  const int threads = rv_threads(plan->config.threads), rows = grid->out[0].height;
  int wide = 0, changed = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8) reduction(| : wide, changed)
  for (int r = 0; r < rows; r++) {
    RowFacts facts[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (int s = 0; s < 2; s++)
      if (r < grid->out[s].height)
        facts[s] = measure_row(&m[s], r, grid->out[s].width);
    wide |= facts[0].wide | facts[1].wide;
    changed |= facts[0].changed | facts[1].changed;
    if (g == RV_RECTIFY_LUMA)
      plan->runs[r] = (RvRectifySpan){rv_max(facts[0].first, facts[1].first),
                                      rv_min(facts[0].last, facts[1].last)};
  }
  grid->wide = wide;
  if (g == RV_RECTIFY_LUMA)
    plan->is_identity = !changed && plan->geometry.width == plan->config.in_width &&
                        plan->geometry.height == plan->config.in_height;
}

/* --- Maps ------------------------------------------------------------------------------------ */

size_t rv_rectify_map_bytes(const RvRectifyGrid *grid) {
  return (size_t)grid->pitch * (size_t)grid->height *
         (grid->wide ? sizeof(RvRectifyWideEntry) : sizeof(RvRectifyEntry));
}

/* One row of a view; `entries` is its first one. Returns the longest span of columns whose source
 * samples are inside with RV_RECTIFY_MARGIN. */
static RvRectifySpan make_row(const Mapping *m, int r, int columns, int wide, void *entries) {
  RvRectifySpan best = {0, 0};
  const int predicted = rv_rectify_predict(r, m->step_y);
  int start = 0;
  for (int k = 0; k <= columns; k++) {
    int u = 0, v = 0, is_inside = 0;
    if (k < columns) {
      const int is_there = source_of(m, k, r, &u, &v);
      const int du = u - rv_rectify_predict(k, m->step_x), dv = v - predicted;
      if (wide)
        ((RvRectifyWideEntry *)entries)[k] = is_there
                                                 ? (RvRectifyWideEntry){du, dv}
                                                 : (RvRectifyWideEntry){RV_RECTIFY_OUTSIDE_WIDE, 0};
      else
        ((RvRectifyEntry *)entries)[k] = is_there ? (RvRectifyEntry){(int16_t)du, (int16_t)dv}
                                                  : (RvRectifyEntry){RV_RECTIFY_OUTSIDE, 0};
      is_inside = is_there && u >= 0 && v >= 0 &&
                  u < (m->width - RV_RECTIFY_MARGIN) * RV_RECTIFY_ONE &&
                  v < (m->height - 1) * RV_RECTIFY_ONE;
    }
    if (is_inside)
      continue;
    if (k - start > best.last - best.first)
      best = (RvRectifySpan){start, k};
    start = k + 1;
  }
  return best;
}

void rv_rectify_make_map(const RvRectifyPlan *plan, int g, void *map, RvRectifySpan *spans) {
  const RvRectifyGrid *grid = &plan->grid[g];
  const size_t entry = grid->wide ? sizeof(RvRectifyWideEntry) : sizeof(RvRectifyEntry);
  const int threads = rv_threads(plan->config.threads);
  for (int s = 0; s < 2; s++) {
    const RvRectifyWindow *out = &grid->out[s];
    Mapping m;
    init_mapping(plan, g, s, &m);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int r = 0; r < out->height; r++) {
      const size_t at = (size_t)(out->y + r) * (size_t)grid->pitch + (size_t)out->x;
      const RvRectifySpan span = make_row(&m, r, out->width, grid->wide, (char *)map + at * entry);
      if (spans)
        spans[2 * (out->y + r) + s] = span;
      if (out->x + out->width == grid->width)
        memset((char *)map + (at + (size_t)out->width) * entry, 0,
               (size_t)(grid->pitch - grid->width) * entry);
    }
  }
}
