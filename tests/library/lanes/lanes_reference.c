/* SPDX-License-Identifier: MIT */
/* lanes_reference.c: see lanes_reference.h. Sums are made pixel by pixel for every window, all
 * spaces keep their votes, scores are sorted, maxima come from a sorted list, slices are marked one
 * by one. Number formats and the solution of the normal equations are those of the rules. */
#include "lanes/lanes_reference.h"

#include <stdlib.h>
#include <string.h>

#include "rvcheck.h"

typedef struct Hit {
  int row, u, y; /* sampled row, 1/16 px, response */
} Hit;

typedef struct Frame {
  const RvLanesPlan *p;
  const RvLanesSource *source;
  RvLanesView view;
  RvLanesRow *rows;
  Hit *hits;
  int count;
  RvLanesHit *at;  /* [horizon][hit] */
  uint32_t *votes; /* [space][bin], one more bin that is 0 */
  int best, horizon;
} Frame;

/* --- Rows ------------------------------------------------------------------------------------ */

static int q_of(const Frame *f, int row) {
  if (f->p->is_camera)
    return rv_lanes_below(f->view.horizon, row);
  const RvGroundSurface *ground = f->source->ground;
  int32_t bin_rows[RV_GROUND_BINS];
  int last = -1;
  for (int k = 0; k < RV_GROUND_BINS; k++) {
    bin_rows[k] = rv_lanes_bin_row(f->p, ground, k);
    last = bin_rows[k] <= row ? k : last;
  }
  return rv_lanes_cross(&f->view, bin_rows, ground->bin, last, row);
}

static void make_rows(Frame *f) {
  const int step = 256 * f->p->stride;
  for (int y = 0; y < f->p->rows; y++)
    f->rows[y] = f->view.height == 0
                     ? rv_lanes_row(f->p, 0, 0, 0)
                     : rv_lanes_row(f->p, q_of(f, step * y), q_of(f, step * y - step / 2),
                                    q_of(f, step * y + step / 2));
}

/* --- Marks ----------------------------------------------------------------------------------- */

/* Averaged column x of a sampled row. */
static int gray_at(const Frame *f, int y, int x) {
  const uint8_t *row =
      (const uint8_t *)f->source->gray.data + (ptrdiff_t)y * f->p->stride * f->source->gray.stride;
  int sum = f->p->n / 2;
  for (int i = 0; i < f->p->n; i++)
    sum += row[x * f->p->n + i];
  return sum / f->p->n;
}

static int sum_of(const Frame *f, int y, int first, int count) {
  int sum = 0;
  for (int x = first; x < first + count; x++)
    sum += gray_at(f, y, x);
  return sum;
}

static RvLanesSums sums_at(const Frame *f, int y, int u) {
  const RvLanesRow *row = &f->rows[y];
  const int first = u - row->k / 2;
  const RvLanesSums s = {sum_of(f, y, first, row->k), sum_of(f, y, first - row->g - row->k, row->k),
                         sum_of(f, y, first + row->k + row->g, row->k)};
  return s;
}

static int disparity_at(const Frame *f, int y, int u) {
  const RvPlane *d = &f->source->disparity;
  return ((const uint16_t *)(const void *)((const char *)d->data +
                                           (ptrdiff_t)y * f->p->stride * d->stride))[u];
}

static int center_of(const Frame *f, int y, int u, const RvLanesSums *s) {
  const RvLanesRow *row = &f->rows[y];
  const int first = u - row->k / 2 - row->g, last = u - row->k / 2 + row->k + row->g - 1;
  const int base = (s->l > s->r ? s->l : s->r) / row->k;
  int64_t sum = 0, moment = 0;
  for (int x = first; x <= last; x++) {
    const int over = gray_at(f, y, x) - base;
    if (over > 0) {
      sum += over;
      moment += (int64_t)over * (x - first);
    }
  }
  const int n = f->p->n;
  return 16 * n * first + (int)(16 * n * moment / sum) + 8 * (n - 1);
}

static void search_row(Frame *f, int y) {
  const RvLanesPlan *p = f->p;
  const RvLanesRow *row = &f->rows[y];
  const int count = row->hi - row->lo + 1;
  if (count <= 0)
    return;
  RvLanesSums *sums = rvc_memory((size_t)count * sizeof *sums);
  int *response = rvc_memory((size_t)count * sizeof *response), found = 0;
  int64_t noise = 0;
  for (int i = 0; i < count; i++) {
    sums[i] = sums_at(f, y, row->lo + i);
    response[i] = sums[i].c - (sums[i].l > sums[i].r ? sums[i].l : sums[i].r);
    noise += abs(sums[i].c - sums[i].l);
  }
  for (int i = 0; i < count && found < RV_LANES_ROW_HITS; i++) {
    const int r = response[i], side = abs(sums[i].l - sums[i].r);
    int is_mark = r > row->k * p->config.min_contrast && (int64_t)r * count > 2 * noise &&
                  side < (r > 8 * row->k ? r : 8 * row->k);
    for (int k = 0; k < count && is_mark; k++)
      if (abs(k - i) <= row->k && (response[k] > r || (response[k] == r && k < i)))
        is_mark = 0;
    if (!is_mark)
      continue;
    const int u = center_of(f, y, row->lo + i, &sums[i]);
    const int q = rv_lanes_q_at(p, &f->view, row->q, u);
    if (f->source->disparity.data && rv_lanes_is_near(p, disparity_at(f, y, u / 16), q))
      continue;
    f->hits[f->count++] = (Hit){y, u, r};
    found++;
  }
  free(sums);
  free(response);
}

/* --- Votes ----------------------------------------------------------------------------------- */

static void vote(Frame *f) {
  const RvLanesPlan *p = f->p;
  for (int j = 0; j < p->horizons; j++)
    for (int i = 0; i < f->count; i++) {
      const Hit *hit = &f->hits[i];
      const RvLanesHit at =
          rv_lanes_hit_at(p, &f->view, &f->rows[hit->row], hit->row, hit->y, hit->u, j);
      f->at[j * f->count + i] = at;
      for (int s = 0; s < p->spaces; s++) {
        if (rv_lanes_space_horizon(p, s) != j)
          continue;
        const int bin = rv_lanes_bin(rv_lanes_space(p, s), at.point);
        if (bin >= 0)
          f->votes[s * (RV_LANES_BINS + 1) + bin] += at.value;
      }
    }
}

static uint64_t score_of(const Frame *f, int s) {
  const uint32_t *v = f->votes + s * (RV_LANES_BINS + 1);
  uint64_t parts = 0;
  for (int b = 0; b < RV_LANES_BINS; b++) {
    const uint64_t sum = (uint64_t)v[b] + v[b + 1];
    parts += sum < RV_LANES_FULL
                 ? sum * sum
                 : 2 * sum * RV_LANES_FULL - (uint64_t)RV_LANES_FULL * RV_LANES_FULL;
  }
  return rv_lanes_score(f->p, s, parts);
}

static int off_of(int index, int count) {
  return abs(index - count / 2);
}

/* 1 when space a comes before space b of the same score. */
static int is_before(const RvLanesPlan *p, int a, int b) {
  const int at[2] = {a, b};
  int kappa[2], psi[2], horizon[2];
  for (int i = 0; i < 2; i++) {
    kappa[i] = at[i] % p->kappas;
    psi[i] = at[i] / p->kappas % RV_LANES_PSIS;
    horizon[i] = at[i] / p->kappas / RV_LANES_PSIS;
  }
  if (kappa[0] != kappa[1]) {
    const int x = off_of(kappa[0], p->kappas), y = off_of(kappa[1], p->kappas);
    return x != y ? x < y : kappa[0] < kappa[1];
  }
  if (psi[0] != psi[1]) {
    const int x = off_of(psi[0], RV_LANES_PSIS), y = off_of(psi[1], RV_LANES_PSIS);
    return x != y ? x < y : psi[0] < psi[1];
  }
  const int x = off_of(horizon[0], p->horizons), y = off_of(horizon[1], p->horizons);
  return x != y ? x < y : horizon[0] < horizon[1];
}

static void choose(Frame *f, RvLanesFound *out) {
  uint64_t sum = 0, best = 0;
  for (int s = 0; s < f->p->spaces; s++) {
    const uint64_t score = score_of(f, s);
    sum += score;
    if (s == 0 || score > best || (score == best && is_before(f->p, s, f->best))) {
      best = score;
      f->best = s;
    }
  }
  out->score = best;
  out->mean = sum / (uint64_t)f->p->spaces;
  const int j = rv_lanes_space_horizon(f->p, f->best);
  f->horizon = f->p->is_camera ? rv_lanes_horizon(&f->view, j) : 0;
}

/* --- Lines ----------------------------------------------------------------------------------- */

static int find_peaks(const Frame *f, int *peaks) {
  const uint32_t *v = f->votes + f->best * (RV_LANES_BINS + 1);
  int order[RV_LANES_BINS], count = 0;
  for (int b = 0; b < RV_LANES_BINS; b++) {
    int to = b;
    for (; to > 0 && v[order[to - 1]] + v[order[to - 1] + 1] < v[b] + v[b + 1]; to--)
      order[to] = order[to - 1];
    order[to] = b;
  }
  for (int i = 0; i < RV_LANES_BINS && count < RV_LANES_MAX; i++) {
    int is_free = v[order[i]] + v[order[i] + 1] >= RV_LANES_LEAST;
    for (int k = 0; k < count; k++)
      if (abs(peaks[k] - order[i]) < RV_LANES_APART)
        is_free = 0;
    if (is_free)
      peaks[count++] = order[i];
  }
  return count;
}

static const RvLanesHit *hit_at(const Frame *f, int i) {
  return &f->at[rv_lanes_space_horizon(f->p, f->best) * f->count + i];
}

static void mark_slices(uint32_t *bits, int z, int dz) {
  for (int k = 0; k < RV_LANES_SLICES; k++)
    if (k >= rv_lanes_slice_first(z, dz) && k <= rv_lanes_slice_last(z, dz))
      bits[k / 32] |= 1u << (k % 32);
}

static int dz_of(const Frame *f, int y) {
  if (!f->p->is_camera)
    return f->rows[y].dz;
  const int step = 256 * f->p->stride;
  return rv_lanes_dz(f->p, rv_lanes_below(f->horizon, step * y - step / 2),
                     rv_lanes_below(f->horizon, step * y + step / 2));
}

static int tint_at(const Frame *f, int y, int u) {
  const RvPlane *color = &f->source->color;
  u = u < 0 ? 0 : u >= f->p->width ? f->p->width - 1 : u;
  const uint8_t *rgb =
      (const uint8_t *)color->data + (ptrdiff_t)y * f->p->stride * color->stride + 4 * u;
  return 4 * rgb[2] - 2 * rgb[0] - 2 * rgb[1];
}

static void measure_hits(const Frame *f, const RvLanesCurve *curve, RvLanesMark *mark) {
  for (int i = 0; i < f->count; i++) {
    const RvLanesHit *at = hit_at(f, i);
    const Hit *hit = &f->hits[i];
    const RvLanesRow *row = &f->rows[hit->row];
    const int z = rv_lanes_point_z(at->point), w = (int)(at->value / 16);
    const double residual = rv_lanes_residual(curve, at->point);
    if (at->value == 0)
      continue;
    if (residual >= -600 && residual < 600)
      mark->spread[((int)residual + 600) / 50] += (uint32_t)w;
    if (!rv_lanes_takes(residual, z, RV_LANES_ROUNDS))
      continue;
    mark->squares += (int64_t)w * (int)residual * (int)residual;
    mark->weight += w;
    mark->z_min = mark->hits == 0 || z < mark->z_min ? z : mark->z_min;
    mark->z_max = z > mark->z_max ? z : mark->z_max;
    mark->hits++;
    mark->length += (uint32_t)dz_of(f, hit->row);
    mark_slices(mark->covered, z, dz_of(f, hit->row));
    if (f->source->color.data) {
      const int u = hit->u / 16, beside = (row->k + row->g) * f->p->n;
      mark->tint += tint_at(f, hit->row, u) -
                    (tint_at(f, hit->row, u - beside) + tint_at(f, hit->row, u + beside)) / 2;
      mark->tints++;
    }
  }
}

static void measure_rows(const Frame *f, const RvLanesCurve *curve, RvLanesMark *mark) {
  const RvLanesPlan *p = f->p;
  for (int y = 0; y < p->rows; y++) {
    const int q = p->is_camera ? rv_lanes_below(f->horizon, 256 * y * p->stride) : f->rows[y].q;
    const RvLanesMeet meet = rv_lanes_meet(p, &f->view, curve, q);
    const int has_disparity = f->source->disparity.data != NULL;
    if (meet.u < 0 ||
        (has_disparity && rv_lanes_is_near(p, disparity_at(f, y, meet.u / 16), meet.q)))
      continue;
    mark_slices(mark->seen, meet.z, dz_of(f, y));
    for (int side = -1; side <= 1 && has_disparity && meet.z <= RV_LANES_SIDE_FAR; side += 2) {
      const int aside = rv_lanes_u(p, RV_LANES_SIDE, meet.q) - p->cx, u = meet.u + side * aside;
      int is_valid;
      if (u < 0 || u / 16 >= p->width)
        continue;
      const int height = rv_lanes_side(p, &f->view, disparity_at(f, y, u / 16), meet.q, &is_valid);
      *(side < 0 ? &mark->left_height : &mark->right_height) += height;
      *(side < 0 ? &mark->lefts : &mark->rights) += is_valid;
    }
  }
}

static void find_line(const Frame *f, int peak, RvLanesMark *mark) {
  const RvLanesCurve about = rv_lanes_start(f->p, f->best, peak);
  RvLanesCurve curve = about;
  RvLanesTerms terms;
  for (int round = 0; round < RV_LANES_ROUNDS; round++) {
    memset(&terms, 0, sizeof terms);
    for (int i = 0; i < f->count; i++) {
      const RvLanesHit *at = hit_at(f, i);
      const double residual = rv_lanes_residual(&curve, at->point);
      if (at->value && rv_lanes_takes(residual, rv_lanes_point_z(at->point), round))
        rv_lanes_add(&terms, at->point, at->value);
    }
    if (!rv_lanes_solve(&terms, &about, &curve))
      return;
  }
  rv_lanes_describe(&curve, &terms, mark);
  measure_hits(f, &curve, mark);
  measure_rows(f, &curve, mark);
}

void lanes_reference(const RvLanesPlan *p, const RvLanesSource *source, RvLanesState *state,
                     RvLanesFound *out) {
  Frame f = {.p = p, .source = source};
  memset(out, 0, sizeof *out);
  f.view = rv_lanes_view(p, source->ground, state);
  f.rows = rvc_memory((size_t)p->rows * sizeof *f.rows);
  f.hits = rvc_memory((size_t)p->hits * sizeof *f.hits);
  make_rows(&f);
  for (int y = 0; y < p->rows; y++) {
    search_row(&f, y);
    out->rows += f.rows[y].q > 0;
  }
  f.at = rvc_memory((size_t)(p->horizons * f.count) * sizeof *f.at);
  f.votes = rvc_memory((size_t)(p->spaces * (RV_LANES_BINS + 1)) * sizeof *f.votes);
  vote(&f);
  choose(&f, out);
  int peaks[RV_LANES_MAX];
  out->count = (uint32_t)find_peaks(&f, peaks);
  for (int i = 0; i < (int)out->count; i++)
    find_line(&f, peaks[i], &out->lines[i]);
  out->heading = p->psi_step * (f.best / p->kappas % RV_LANES_PSIS - RV_LANES_PSIS / 2);
  out->curvature = p->kappa_step * (f.best % p->kappas - p->kappas / 2);
  out->horizon = f.horizon;
  out->hits = (uint32_t)f.count;
  if (p->is_camera)
    rv_lanes_follow(&f.view, f.horizon, (int)out->count, state);
  free(f.rows);
  free(f.hits);
  free(f.at);
  free(f.votes);
}
