/* SPDX-License-Identifier: MIT */
/* lanes_cpu_lines.c: the CPU engine of the lane lines: maxima, fits, measurements. */
#include <string.h>

#include "lanes/lanes_cpu.h"

/* Maxima of the best space, RV_LANES_APART bins apart; returns their number. */
static int find_peaks(const uint32_t *votes, int *peaks) {
  int count = 0;
  while (count < RV_LANES_MAX) {
    uint32_t best = RV_LANES_LEAST - 1;
    int at = -1;
    for (int b = 0; b < RV_LANES_BINS; b++) {
      const uint32_t sum = votes[b] + votes[b + 1];
      int is_free = 1;
      for (int i = 0; i < count; i++)
        is_free &= rv_abs(b - peaks[i]) >= RV_LANES_APART;
      if (is_free && sum > best) {
        best = sum;
        at = b;
      }
    }
    if (at < 0)
      break;
    peaks[count++] = at;
  }
  return count;
}

/* Marks of the best horizon. */
typedef struct Hits {
  const RvLanesCpu *cpu;
  const RvLanesJob *job;
  const uint32_t *points, *values;
  int horizon;
} Hits;

static int fit(const Hits *h, int round, const RvLanesCurve *about, RvLanesCurve *curve,
               RvLanesTerms *terms) {
  memset(terms, 0, sizeof *terms);
  for (int i = 0; i < h->cpu->hits; i++) {
    const uint32_t point = h->points[i];
    if (h->values[i] &&
        rv_lanes_takes(rv_lanes_residual(curve, point), rv_lanes_point_z(point), round))
      rv_lanes_add(terms, point, h->values[i]);
  }
  return rv_lanes_solve(terms, about, curve);
}

static uint32_t color_at(const RvPlane *color, int y, int u) {
  const char *row = (const char *)color->data + (ptrdiff_t)y * color->stride;
  return ((const uint32_t *)(const void *)row)[rv_clamp(u, 0, color->width - 1)];
}

static void add_tint(const Hits *h, uint32_t place, RvLanesMark *mark) {
  const RvLanesPlan *p = h->job->plan;
  const RvPlane *color = &h->job->source.color;
  if (!color->data)
    return;
  const RvLanesRow *row = &h->cpu->rows[rv_lanes_place_row(place)];
  const int y = rv_lanes_place_row(place) * p->stride, u = rv_lanes_place_u(place) / 16;
  const int beside = (row->k + row->g) * p->n;
  mark->tint +=
      rv_lanes_tint(color_at(color, y, u)) - (rv_lanes_tint(color_at(color, y, u - beside)) +
                                              rv_lanes_tint(color_at(color, y, u + beside))) /
                                                 2;
  mark->tints++;
}

/* dz of the row of a mark for the best horizon. */
static int dz_of(const Hits *h, int y) {
  const RvLanesPlan *p = h->job->plan;
  if (!p->is_camera)
    return h->cpu->rows[y].dz;
  const int at = 256 * y * p->stride, half = 128 * p->stride;
  return rv_lanes_dz(p, rv_lanes_below(h->horizon, at - half),
                     rv_lanes_below(h->horizon, at + half));
}

static void measure_hits(const Hits *h, const RvLanesCurve *curve, RvLanesMark *mark) {
  for (int i = 0; i < h->cpu->hits; i++) {
    if (!h->values[i])
      continue;
    const uint32_t point = h->points[i], place = h->cpu->place[i];
    const int z = rv_lanes_point_z(point), w = (int)(h->values[i] >> RV_LANES_VALUE_SHIFT);
    const double residual = rv_lanes_residual(curve, point);
    const int bin = rv_lanes_spread_bin(residual);
    if (bin >= 0)
      mark->spread[bin] += (uint32_t)w;
    if (!rv_lanes_takes(residual, z, RV_LANES_ROUNDS))
      continue;
    const int64_t off = (int)residual;
    const int dz = dz_of(h, rv_lanes_place_row(place));
    mark->squares += w * off * off;
    mark->weight += w;
    mark->hits++;
    mark->length += (uint32_t)dz;
    mark->z_min = mark->z_min ? rv_min(mark->z_min, z) : z;
    mark->z_max = rv_max(mark->z_max, z);
    for (int k = 0; k < RV_LANES_SLICES / 32; k++)
      mark->covered[k] |= rv_lanes_bits(k, rv_lanes_slice_first(z, dz), rv_lanes_slice_last(z, dz));
    add_tint(h, place, mark);
  }
}

/* Height beside a line in row y at column u (1/16 px). */
static void add_side(const Hits *h, const uint16_t *row, int u, int q, int32_t *sum,
                     int32_t *count) {
  int is_valid;
  if (u < 0 || u / 16 >= h->job->plan->width)
    return;
  const int height = rv_lanes_side(h->job->plan, &h->cpu->view, row[u / 16], q, &is_valid);
  *sum += height;
  *count += is_valid;
}

/* What the rows show of a line: where it can be seen, and the height next to it. */
static void measure_rows(const Hits *h, const RvLanesCurve *curve, RvLanesMark *mark) {
  const RvLanesPlan *p = h->job->plan;
  const RvPlane *plane = &h->job->source.disparity;
  for (int y = 0; y < p->rows; y++) {
    const int at = rv_lanes_row_q(p, &h->cpu->rows[y], y, h->horizon);
    const RvLanesMeet meet = rv_lanes_meet(p, &h->cpu->view, curve, at);
    if (meet.u < 0)
      continue;
    const uint16_t *row =
        plane->data ? (const uint16_t *)(const void *)((const char *)plane->data +
                                                       (ptrdiff_t)y * p->stride * plane->stride)
                    : NULL;
    if (row && rv_lanes_is_near(p, row[meet.u / 16], meet.q))
      continue;
    const int dz = dz_of(h, y);
    for (int k = 0; k < RV_LANES_SLICES / 32; k++)
      mark->seen[k] |=
          rv_lanes_bits(k, rv_lanes_slice_first(meet.z, dz), rv_lanes_slice_last(meet.z, dz));
    if (!row || meet.z > RV_LANES_SIDE_FAR)
      continue;
    const int aside = rv_lanes_u(p, RV_LANES_SIDE, meet.q) - p->cx;
    add_side(h, row, meet.u - aside, meet.q, &mark->left_height, &mark->lefts);
    add_side(h, row, meet.u + aside, meet.q, &mark->right_height, &mark->rights);
  }
}

static int find_line(const Hits *h, int index, int peak, RvLanesMark *mark) {
  const RvLanesCurve about = rv_lanes_start(h->job->plan, index, peak);
  RvLanesCurve curve = about;
  RvLanesTerms terms;
  memset(mark, 0, sizeof *mark);
  for (int round = 0; round < RV_LANES_ROUNDS; round++)
    if (!fit(h, round, &about, &curve, &terms))
      return 0;
  rv_lanes_describe(&curve, &terms, mark);
  measure_hits(h, &curve, mark);
  measure_rows(h, &curve, mark);
  return 1;
}

RvStatus rv_lanes_cpu_lines(void *work, const RvLanesJob *job) {
  RvLanesCpu *cpu = work;
  const RvLanesPlan *p = job->plan;
  RvLanesFound *out = job->out;
  const int index = rv_lanes_key_index(p, cpu->key), j = rv_lanes_space_horizon(p, index);
  const size_t first = (size_t)j * (size_t)p->hits;
  const Hits h = {cpu, job, cpu->points + first, cpu->values + first,
                  p->is_camera ? rv_lanes_horizon(&cpu->view, j) : 0};
  int peaks[RV_LANES_MAX], rows = 0;
  memset(out, 0, sizeof *out);
  for (int y = 0; y < p->rows; y++)
    rows += cpu->rows[y].q > 0;
  const int count = find_peaks(cpu->votes, peaks);
#pragma omp parallel for num_threads(cpu->threads) schedule(dynamic, 1)
  for (int i = 0; i < count; i++)
    if (!find_line(&h, index, peaks[i], &out->lines[i]))
      memset(&out->lines[i], 0, sizeof out->lines[i]);
  out->score = rv_lanes_key_score(cpu->key);
  out->mean = cpu->sum / (uint64_t)p->spaces;
  out->heading = p->psi_step * (index / p->kappas % RV_LANES_PSIS - RV_LANES_PSIS / 2);
  out->curvature = p->kappa_step * (index % p->kappas - p->kappas / 2);
  out->horizon = h.horizon;
  out->hits = (uint32_t)cpu->hits;
  out->rows = (uint32_t)rows;
  out->count = (uint32_t)count;
  if (p->is_camera)
    rv_lanes_follow(&cpu->view, h.horizon, count, cpu->state);
  return RV_OK;
}
