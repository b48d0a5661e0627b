/* SPDX-License-Identifier: MIT */
/* hough_reference.c: counting loops from the words of hough.h. Shares with the engines only the tables
 * of cos and sin. */
#include "hough/hough_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hough_reference_new(HoughReference *reference, const RvHoughConfig *c) {
  RvHoughSpace p;
  rv_hough_space(c, &p);
  *reference = (HoughReference){
      calloc((size_t)p.width * (size_t)p.height, 1),
      calloc((size_t)p.angles * (size_t)p.bins, sizeof(uint32_t)),
      calloc((size_t)p.max_lines, sizeof(RvLine)),
      calloc((size_t)p.max_lines * (size_t)rv_hough_hit_words(c), sizeof(uint32_t)), 0};
  return reference->edges && reference->bins && reference->lines && reference->hits;
}

void hough_reference_free(HoughReference *reference) {
  free(reference->edges);
  free(reference->bins);
  free(reference->lines);
  free(reference->hits);
}

typedef struct Gradient {
  int gx, gy;
} Gradient;

static int pixel(const RvPlane *in, int x, int y) {
  x = x < 0 ? 0 : (x >= in->width ? in->width - 1 : x);
  y = y < 0 ? 0 : (y >= in->height ? in->height - 1 : y);
  return ((const uint8_t *)in->data + y * in->stride)[x];
}

static Gradient gradient(const RvPlane *in, int x, int y) {
  static const int weight[3] = {1, 2, 1};
  Gradient g = {0, 0};
  for (int d = -1; d <= 1; d++) {
    g.gx += weight[d + 1] * (pixel(in, x + 1, y + d) - pixel(in, x - 1, y + d));
    g.gy += weight[d + 1] * (pixel(in, x + d, y + 1) - pixel(in, x + d, y - 1));
  }
  return g;
}

static int magnitude(const RvPlane *in, int x, int y) {
  if (x < 0 || y < 0 || x >= in->width || y >= in->height)
    return 0;
  const Gradient g = gradient(in, x, y);
  return abs(g.gx) + abs(g.gy);
}

/* 1 when the pixel is a maximum across its edge. */
static int is_ridge(const RvPlane *in, int x, int y) {
  const Gradient g = gradient(in, x, y);
  const double angle = atan2(g.gy, g.gx), eighth = 3.14159265358979323846 / 4;
  const int sector = (int)floor(angle / eighth + 0.5); /* -4..4 */
  static const int dx[4] = {1, 1, 0, -1}, dy[4] = {0, 1, 1, 1};
  const int s = (sector + 8) % 4, m = magnitude(in, x, y);
  return m > magnitude(in, x - dx[s], y - dy[s]) && m >= magnitude(in, x + dx[s], y + dy[s]);
}

/* Strong pixels spread through weak ones until nothing changes. */
static void canny(uint8_t *edges, const RvHoughConfig *c, const RvPlane *in) {
  const int w = c->width, h = c->height;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const int m = magnitude(in, x, y);
      const int thin = m > c->edge_low && is_ridge(in, x, y);
      edges[y * w + x] = (uint8_t)(!thin ? 0 : m > c->edge_high ? 255 : 1);
    }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < w * h; i++) {
      const int x = i % w, y = i / w;
      if (edges[i] != 1)
        continue;
      for (int v = y - 1; v <= y + 1; v++)
        for (int u = x - 1; u <= x + 1; u++)
          if (u >= 0 && v >= 0 && u < w && v < h && edges[v * w + u] == 255 && edges[i] == 1)
            edges[i] = 255, changed = 1;
    }
  }
  for (int i = 0; i < w * h; i++)
    edges[i] = edges[i] == 255 ? 255 : 0;
}

static void find_edges(uint8_t *edges, const RvHoughConfig *c, const RvPlane *in) {
  if (c->edges == RV_HOUGH_CANNY) {
    canny(edges, c, in);
    return;
  }
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++) {
      const int is_edge =
          c->edges == RV_HOUGH_BINARY ? pixel(in, x, y) != 0 : magnitude(in, x, y) > c->edge_low;
      edges[y * c->width + x] = is_edge ? 255 : 0;
    }
}

static void vote(HoughReference *reference, const RvHoughConfig *c, const RvHoughSpace *p,
                 const RvHoughAngle *angles, const RvPlane *in) {
  memset(reference->bins, 0, (size_t)p->angles * (size_t)p->bins * sizeof *reference->bins);
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++) {
      if (!reference->edges[y * c->width + x])
        continue;
      const Gradient g = gradient(in, x, y);
      const int weight = c->edges == RV_HOUGH_BINARY ? pixel(in, x, y) : abs(g.gx) + abs(g.gy);
      for (int r = 0; r < p->angles; r++) {
        const RvHoughAngle *a = &angles[r];
        const int64_t cross = llabs((int64_t)g.gx * a->uy - (int64_t)g.gy * a->ux);
        const int64_t dot = llabs((int64_t)g.gx * a->ux + (int64_t)g.gy * a->uy);
        if (c->direction && cross * 16384 > dot * p->tangent)
          continue;
        const int64_t bin = ((int64_t)x * a->c + (int64_t)y * a->s + a->k) >> p->shift;
        reference->bins[(int64_t)r * p->bins + bin] += c->weighted ? (uint32_t)weight : 1u;
      }
    }
}

typedef struct Peak {
  uint32_t votes, index;
} Peak;

static int best_first(const void *a, const void *b) {
  const Peak *p = a, *q = b;
  if (p->votes != q->votes)
    return p->votes > q->votes ? -1 : 1;
  return p->index < q->index ? -1 : 1;
}

/* 1 when the bin at (row, bin), if there is one, does not keep `peak` from being a maximum. */
static int allows(const HoughReference *reference, const RvHoughSpace *p, int row, int bin,
                  Peak peak) {
  if ((row < 0 || row >= p->angles) && !p->wraps)
    return 1;
  if (row < 0 || row >= p->angles) {
    row = row < 0 ? p->angles - 1 : 0;
    bin = p->rho_zero - (bin - p->rho_zero);
  }
  if (bin < 0 || bin >= p->bins)
    return 1;
  const Peak other = {reference->bins[(int64_t)row * p->bins + bin],
                      (uint32_t)((int64_t)row * p->bins + bin)};
  return best_first(&peak, &other) < 0;
}

static size_t find_peaks(const HoughReference *reference, const RvHoughSpace *p, Peak *peaks) {
  size_t count = 0;
  for (int r = 0; r < p->angles; r++)
    for (int b = 0; b < p->bins; b++) {
      const Peak peak = {reference->bins[(int64_t)r * p->bins + b],
                         (uint32_t)((int64_t)r * p->bins + b)};
      if (peak.votes > (uint32_t)p->threshold && allows(reference, p, r, b - 1, peak) &&
          allows(reference, p, r, b + 1, peak) && allows(reference, p, r - 1, b, peak) &&
          allows(reference, p, r + 1, b, peak))
        peaks[count++] = peak;
    }
  qsort(peaks, count, sizeof *peaks, best_first);
  return count;
}

/* The longest run, by trying every pair of ends. */
static int find_segment(const HoughReference *reference, const RvHoughConfig *c,
                        const RvHoughAngle *a, int offset, uint32_t *bits, RvLine *line) {
  static uint8_t hits[RV_MAX_SIDE];
  const int steep = a->is_steep, majors = steep ? c->height : c->width;
  const int minors = steep ? c->width : c->height;
  for (int major = 0; major < majors; major++) {
    const int middle = rv_hough_minor(a, offset, major);
    hits[major] = 0;
    for (int m = middle - 1; m <= middle + 1; m++)
      if (m >= 0 && m < minors &&
          reference->edges[steep ? major * c->width + m : m * c->width + major])
        hits[major] = 1;
    bits[major / 32] |= (uint32_t)hits[major] << (major % 32);
  }
  int best = -1, from = 0, to = 0;
  for (int i = 0; i < majors; i++) {
    int gap = 0;
    for (int j = i; hits[i] && j < majors && gap <= c->max_gap; j++) {
      gap = hits[j] ? 0 : gap + 1;
      if (hits[j] && j - i > best)
        best = j - i, from = i, to = j;
    }
  }
  if (best < 0)
    return 0;
  int m0 = rv_hough_minor(a, offset, from), m1 = rv_hough_minor(a, offset, to);
  m0 = m0 < 0 ? 0 : (m0 >= minors ? minors - 1 : m0);
  m1 = m1 < 0 ? 0 : (m1 >= minors ? minors - 1 : m1);
  line->x0 = (int16_t)(steep ? m0 : from), line->y0 = (int16_t)(steep ? from : m0);
  line->x1 = (int16_t)(steep ? m1 : to), line->y1 = (int16_t)(steep ? to : m1);
  return hypot(line->x1 - line->x0, line->y1 - line->y0) >= c->min_length;
}

static void make_lines(HoughReference *reference, const RvHoughConfig *c, const RvHoughSpace *p,
                       const RvHoughAngle *angles, const Peak *peaks, size_t found) {
  memset(reference->lines, 0, (size_t)c->max_lines * sizeof *reference->lines);
  reference->count = 0;
  const int words = rv_hough_hit_words(c);
  memset(reference->hits, 0, (size_t)c->max_lines * (size_t)words * sizeof *reference->hits);
  for (size_t i = 0; i < found && i < (size_t)c->max_lines; i++) {
    const int row = (int)(peaks[i].index / (uint32_t)p->bins);
    const int bin = (int)(peaks[i].index % (uint32_t)p->bins);
    RvLine line = {(float)(bin - p->rho_zero) * p->rho_step,
                   (float)(p->first + row) * p->theta_step,
                   peaks[i].votes,
                   0,
                   0,
                   0,
                   0};
    uint32_t *hits = reference->hits + i * (size_t)words;
    hits[0] =
        c->segments && find_segment(reference, c, &angles[row], bin - p->rho_zero, hits + 1, &line);
    if (!c->segments || hits[0])
      reference->lines[reference->count++] = line;
  }
}

int hough_reference_run(HoughReference *reference, const RvHoughConfig *c, const RvPlane *in) {
  RvHoughSpace p;
  rv_hough_space(c, &p);
  RvHoughAngle *angles = calloc((size_t)p.angles, sizeof *angles);
  Peak *peaks = calloc((size_t)p.angles * (size_t)p.bins, sizeof *peaks);
  if (angles && peaks) {
    rv_hough_angles(c, &p, angles);
    find_edges(reference->edges, c, in);
    vote(reference, c, &p, angles, in);
    make_lines(reference, c, &p, angles, peaks, find_peaks(reference, &p, peaks));
  }
  const int done = angles && peaks;
  free(angles);
  free(peaks);
  return done;
}
