/* SPDX-License-Identifier: MIT */
/* lanes_edges.c: edges of the road as lines, from the patches of cuda/road. */
#include <math.h>
#include <string.h>

#include "lanes/lanes_host.h"

#define GAP 0.4          /* m between patches of one road, in a row */
#define SLACK 0.3        /* m by which the road of a row may begin beside that of the row before */
#define X_TOP 16.0       /* m: ends farther to the side are not used */
#define ENDS 512         /* of a side, at most: rows */
#define BINS 80          /* of the offsets */
#define BIN 0.2          /* m */
#define FIRST (-8.0)     /* m */
#define ROUNDS 3         /* of least squares */
#define LENGTH_STEP 2.0  /* m that a row covers at most */
#define WEIGHT_MOST 0.25 /* m: far rows are no better than others */
#define SIGMA 0.15       /* m: of an end that covers 0.5 m */
#define PRIOR_HEADING 0.02    /* rad */
#define PRIOR_CURVATURE 0.001 /* 1/m */
#define NEAR 7.0              /* m */
#define FAR 15.0
#define LINE_POINTS 16
#define HITS_LEAST 20 /* marks of a line along an edge */
#define LENGTH_LEAST 6.0
#define SHARE_LEAST 0.65
#define RMS_MOST 0.2
#define NEAR_MOST 10.0

static const double BANDS[ROUNDS] = {0.6, 0.4, 0.3};

/* Where the road ends in a row: m, the length of ground of the row, and its weight. */
typedef struct End {
  double x, z, length, weight;
} End;

/* Ends of a side, from near to far. */
typedef struct Side {
  End list[ENDS];
  int count;
} Side;

/* X(Z) = x + p Z + c Z^2 / 2. */
typedef struct Curve {
  double x, p, c;
} Curve;

static double off(const Curve *curve, const End *end) {
  return end->x - curve->x - curve->p * end->z - curve->c * end->z * end->z / 2;
}

/* --- Ends ------------------------------------------------------------------------------------ */

/* What turns patches into meters. */
typedef struct Scale {
  RvLanesPlan plan;
  RvLanesView view;
  const RvGroundSurface *ground;
  int32_t bin_rows[RV_GROUND_BINS];
} Scale;

static int make_scale(Scale *s, const RvLanesConfig *config, const RvGroundSurface *ground,
                      const RvLanesFound *found) {
  memset(&s->plan, 0, sizeof s->plan);
  s->plan.config = *config;
  rv_lanes_make_plan(&s->plan);
  s->ground = ground;
  if (!s->plan.is_camera && !ground)
    return 0;
  const RvLanesState state = {found->horizon, 1};
  s->view = rv_lanes_view(&s->plan, ground, &state);
  for (int k = 0; k < RV_GROUND_BINS && !s->plan.is_camera && s->view.height; k++)
    s->bin_rows[k] = rv_lanes_bin_row(&s->plan, ground, k);
  return s->view.height > 0;
}

/* q at the axis of a row in px. */
static int q_of(const Scale *s, double row) {
  return rv_lanes_row_at(&s->plan, &s->view, s->ground, s->bin_rows, (int)(row * 256));
}

/* Length in m of the ground between two rows. */
static double length_of(const Scale *s, double above, double below) {
  const int far = q_of(s, above), near = q_of(s, below);
  if (far <= 0 || near <= 0)
    return LENGTH_STEP;
  const double length = (double)s->plan.z_scale / far / 100 - (double)s->plan.z_scale / near / 100;
  return length < LENGTH_STEP ? length : LENGTH_STEP;
}

/* Columns first..end - 1 of patches; end <= first: none. */
typedef struct Span {
  int first, end;
} Span;

/* The next span of road in a row from column `from` on; gaps of up to `gap` patches are closed. */
static Span next_span(const uint8_t *row, int columns, int from, int gap) {
  Span span = {from, from};
  while (span.first < columns && !row[span.first])
    span.first++;
  span.end = span.first;
  for (int c = span.first; c < columns && c - span.end <= gap; c++)
    if (row[c])
      span.end = c + 1;
  return span;
}

/* The road of a row: the span nearest to column `axis`, the wider one on a tie; behind a row with
 * road, what lies within `slack` patches of the road there. */
static Span road_of(const uint8_t *row, int columns, int gap, int slack, int axis, Span before) {
  const int is_first = before.end <= before.first;
  Span road = {0, 0};
  int nearest = columns;
  for (Span s = next_span(row, columns, 0, gap); s.first < columns;
       s = next_span(row, columns, s.end, gap)) {
    if (!is_first && (s.first >= before.end + slack || s.end <= before.first - slack))
      continue;
    const int apart = axis < s.first ? s.first - axis : axis >= s.end ? axis - s.end + 1 : 0;
    const int is_wider = s.end - s.first > road.end - road.first;
    if (!is_first && road.end > road.first) {
      road.end = s.end;
    } else if (!is_first || apart < nearest || (apart == nearest && is_wider)) {
      road = s;
      nearest = apart;
    }
  }
  return road;
}

static void add_end(const Scale *s, Side *side, double u, int q, double length) {
  const int at = rv_lanes_q_at(&s->plan, &s->view, q, (int)(u * 16));
  if (at <= 0 || side->count >= ENDS)
    return;
  const double x = (double)rv_lanes_x(&s->plan, (int)(u * 16), at) / 1000;
  const double z = (double)s->plan.z_scale / at / 100;
  if (x > -X_TOP && x < X_TOP && z * 100 >= RV_LANES_Z_MIN && z * 100 <= s->plan.z_max)
    side->list[side->count++] = (End){x, z, length, length < WEIGHT_MOST ? length : WEIGHT_MOST};
}

/* The ends of both sides, from near to far. */
static void find_ends(const Scale *s, const RvLanesRoad *road, Side sides[2]) {
  const int patch = road->patch, axis = (int)(s->plan.axis / patch);
  Span before = {0, 0};
  sides[0].count = sides[1].count = 0;
  for (int r = road->rows - 1; r >= 0; r--) {
    const double row = ((double)r + 0.5) * patch - 0.5;
    const int q = q_of(s, row);
    if (q <= 0 || rv_lanes_z(&s->plan, q) < RV_LANES_Z_MIN)
      continue;
    if (rv_lanes_z(&s->plan, q) > s->plan.z_max)
      return;
    const double per_meter = (double)rv_lanes_u(&s->plan, 1000, q) - s->plan.cx; /* 1/16 px */
    const int gap = (int)(GAP * per_meter / (16 * patch));
    const int slack = (int)(SLACK * per_meter / (16 * patch)) + 1;
    const Span span =
        road_of(road->mask + r * road->stride, road->columns, gap, slack, axis, before);
    if (span.end <= span.first && before.end > before.first)
      return;
    before = span;
    const double length = length_of(s, row - patch / 2.0, row + patch / 2.0);
    if (span.first > 0 && span.end > span.first)
      add_end(s, &sides[0], (double)span.first * patch - 0.5, q, length);
    if (span.end < road->columns && span.end > span.first)
      add_end(s, &sides[1], (double)span.end * patch - 0.5, q, length);
  }
}

/* --- Curves ---------------------------------------------------------------------------------- */

/* The two neighboring bins with the most length; its offset between them. */
static double vote(const Side *side, const Curve *about, double *offset) {
  double votes[BINS + 1] = {0}, best = -1;
  const Curve from = {FIRST, about->p, about->c};
  for (int i = 0; i < side->count; i++) {
    const double bin = off(&from, &side->list[i]) / BIN;
    if (bin >= 0 && bin < BINS)
      votes[(int)bin] += side->list[i].weight;
  }
  for (int b = 0; b < BINS; b++)
    if (votes[b] + votes[b + 1] > best) {
      best = votes[b] + votes[b + 1];
      *offset = FIRST + BIN * (b + 1);
    }
  return best;
}

/* The direction of the lines at FAR; where they have none, the heading that most ends agree on. */
static Curve direction_of(const RvLanesPlan *p, const RvLanesFound *found, const Side sides[2]) {
  Curve curve = {0, found->heading + FAR * found->curvature, 0};
  double best = -1, offset;
  if (found->count > 0 && rv_lanes_has_direction(found))
    return curve;
  for (int i = 0; i < RV_LANES_PSIS; i++) {
    const Curve trial = {0, p->psi_step * (i - RV_LANES_PSIS / 2), 0};
    double score = 0;
    for (int k = 0; k < 2; k++) {
      const double most = vote(&sides[k], &trial, &offset);
      score += most * most;
    }
    if (score > best) {
      best = score;
      curve = trial;
    }
  }
  return curve;
}

/* Distance of two curves at NEAR and FAR, the larger one. */
static double apart(const Curve *a, const Curve *b) {
  const double x = a->x - b->x, p = a->p - b->p, c = a->c - b->c;
  const double near = fabs(x + NEAR * p + NEAR * NEAR / 2 * c);
  const double far = fabs(x + FAR * p + FAR * FAR / 2 * c);
  return near > far ? near : far;
}

/* Normal equations of the ends within `band`: the symmetric matrix as in RvLanesMark, and the right
 * side. */
typedef struct Normal {
  double n[6], y[3];
} Normal;

static void add_point(Normal *m, double x, double z, double w) {
  const double h = z * z / 2;
  m->n[0] += w, m->n[1] += w * z, m->n[2] += w * h;
  m->n[3] += w * z * z, m->n[4] += w * z * h, m->n[5] += w * h * h;
  m->y[0] += w * x, m->y[1] += w * x * z, m->y[2] += w * x * h;
}

static Normal normal_of(const Side *side, const Curve *curve, double band) {
  Normal m = {{0}, {0}};
  for (int i = 0; i < side->count; i++) {
    const End *end = &side->list[i];
    if (fabs(off(curve, end)) < band * (1 + end->z / 40))
      add_point(&m, end->x, end->z, end->weight / (WEIGHT_MOST * SIGMA * SIGMA));
  }
  return m;
}

/* Adds what runs along an edge and is no paint - a curbstone, a gutter, a seam - as points: it is
 * seen farther than the road is known. */
static void add_line(const RvLanesFound *found, const Curve *curve, Normal *m) {
  double nearest = BANDS[0];
  const RvLanesMark *best = NULL;
  for (int i = 0; i < (int)found->count && i < RV_LANES_MAX; i++) {
    const RvLanesMark *line = &found->lines[i];
    const Curve of_line = {line->offset, line->heading, line->curvature};
    if (line->hits < HITS_LEAST || rv_lanes_is_paint(line) || apart(curve, &of_line) >= nearest)
      continue;
    nearest = apart(curve, &of_line);
    best = line;
  }
  for (int i = 0; best && i < LINE_POINTS; i++) {
    const double z =
        (best->z_min + (best->z_max - best->z_min) * (double)i / (LINE_POINTS - 1)) / 100;
    add_point(m, best->offset + best->heading * z + best->curvature * z * z / 2, z,
              1 / (SIGMA * SIGMA));
  }
}

/* Least squares with the priors about `about`; 0: too few ends. */
static int solve(const Normal *m, const Curve *about, Curve *curve) {
  const double p = 1 / (PRIOR_HEADING * PRIOR_HEADING);
  const double c = 1 / (PRIOR_CURVATURE * PRIOR_CURVATURE);
  const RvLanesMatrix a = {{{m->n[0], m->n[1], m->n[2]},
                            {m->n[1], m->n[3] + p, m->n[4]},
                            {m->n[2], m->n[4], m->n[5] + c}}};
  const double y[3] = {m->y[0], m->y[1] + p * about->p, m->y[2] + c * about->c};
  RvLanesMatrix inverse;
  double s[3] = {0};
  if (!rv_lanes_invert(&a, &inverse))
    return 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      s[i] += inverse.a[i][k] * y[k];
  *curve = (Curve){s[0], s[1], s[2]};
  return 1;
}

/* --- Edges ----------------------------------------------------------------------------------- */

/* Slices of the ends of [z - length / 2, z + length / 2]. */
static void cover(uint32_t *bits, const End *end) {
  const int first = (int)((end->z - end->length / 2) / RV_LANES_SLICE);
  const int last = (int)((end->z + end->length / 2) / RV_LANES_SLICE);
  for (int k = 0; k < RV_LANES_SLICES / 32; k++)
    bits[k] |= rv_lanes_bits(k, rv_max(first, 0), rv_min(last, RV_LANES_SLICES - 1));
}

/* Describes the edge of a side; 0: it is none. */
static int describe(const Side *side, const Curve *curve, const Normal *m, RvLanesMark *mark) {
  double length = 0, weight = 0, squares = 0, all = 0, z_min = 0, z_max = 0;
  memset(mark, 0, sizeof *mark);
  for (int i = 0; i < side->count; i++) {
    const End *end = &side->list[i];
    const double d = off(curve, end);
    cover(mark->seen, end);
    if (fabs(d) >= BANDS[ROUNDS - 1] * (1 + end->z / 40))
      continue;
    cover(mark->covered, end);
    z_min = mark->hits ? z_min : end->z;
    z_max = end->z;
    mark->hits++;
    length += end->length;
    weight += end->weight;
    squares += end->weight * d * d;
  }
  for (int i = 0; i < side->count; i++)
    all += side->list[i].z >= z_min && side->list[i].z <= z_max ? side->list[i].length : 0;
  if (length < LENGTH_LEAST || length < SHARE_LEAST * all || z_min > NEAR_MOST ||
      squares > RMS_MOST * RMS_MOST * weight)
    return 0;
  mark->offset = curve->x;
  mark->heading = curve->p;
  mark->curvature = curve->c;
  for (int i = 0; i < 6; i++)
    mark->information[i] = m->n[i];
  mark->z_min = (int32_t)(100 * z_min);
  mark->z_max = (int32_t)(100 * z_max);
  mark->weight = (int64_t)(1000 * weight);
  mark->squares = (int64_t)(1e9 * squares);
  mark->length = (uint32_t)(1000 * length);
  return 1;
}

static int find_edge(const RvLanesFound *found, const Side *side, const Curve *about,
                     RvLanesMark *mark) {
  Curve curve = *about;
  Normal m = {{0}, {0}};
  if (vote(side, about, &curve.x) <= 0)
    return 0;
  for (int round = 0; round < ROUNDS; round++) {
    m = normal_of(side, &curve, BANDS[round]);
    if (round == ROUNDS - 1)
      add_line(found, &curve, &m);
    if (!solve(&m, about, &curve))
      return 0;
  }
  return describe(side, &curve, &m, mark);
}

RvStatus rv_lanes_edges(const RvLanesConfig *config, const RvGroundSurface *ground,
                        const RvLanesFound *found, const RvLanesRoad *road, RvLanesEdges *edges) {
  Scale scale;
  Side sides[2];
  if (!config || !found || !road || !edges || !road->mask || road->patch < 1 || road->columns < 1 ||
      road->rows < 1 || road->rows > RV_MAX_SIDE || road->columns > RV_MAX_SIDE)
    return RV_ERR_ARG;
  edges->count = 0;
  if (!make_scale(&scale, config, ground, found))
    return RV_OK;
  find_ends(&scale, road, sides);
  const Curve about = direction_of(&scale.plan, found, sides);
  for (int k = 0; k < 2; k++)
    edges->count += find_edge(found, &sides[k], &about, &edges->line[edges->count]);
  return RV_OK;
}
