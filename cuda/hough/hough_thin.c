/* SPDX-License-Identifier: MIT */
/* hough_thin.c: every dash as a segment, and no near-duplicates. Host only. */
#include <math.h>
#include <string.h>

#include "hough/hough_stages.h"
#include "rv_internal.h"

#define PIECES_MAX RV_HOUGH_LINES_MAX

/* A line, or a run along it. */
typedef struct Piece {
  RvLine line;
  float length; /* px; of a line without segments: its votes */
  uint8_t is_dropped;
} Piece;

typedef struct Thin {
  const RvHoughConfig *config;
  RvHoughSpace space;
  RvHoughAngle *angles;
  Piece *pieces;
  int32_t *order; /* pieces, longest first */
  int count;
} Thin;

static size_t layout(Thin *t, char *memory) {
  const size_t at_pieces = (size_t)t->space.angles * sizeof *t->angles;
  const size_t at_order = at_pieces + PIECES_MAX * sizeof *t->pieces;
  if (memory) {
    t->angles = (RvHoughAngle *)(void *)memory;
    t->pieces = (Piece *)(void *)(memory + at_pieces);
    t->order = (int32_t *)(void *)(memory + at_order);
  }
  return at_order + PIECES_MAX * sizeof *t->order;
}

size_t rv_hough_thin_bytes(const RvHoughConfig *config) {
  Thin t = {.config = config};
  if (rv_hough_config_check(config) != RV_OK)
    return 0;
  rv_hough_space(config, &t.space);
  return layout(&t, NULL);
}

int rv_hough_hit_words(const RvHoughConfig *config) {
  return rv_hough_config_check(config) == RV_OK
             ? 1 + rv_div_up(rv_max(config->width, config->height), 32)
             : 0;
}

/* --- Pieces ---------------------------------------------------------------------------------- */

static void add(Thin *t, const RvLine *line) {
  if (t->count == PIECES_MAX)
    return;
  const double dx = line->x1 - line->x0, dy = line->y1 - line->y0;
  const double length = t->config->segments ? sqrt(dx * dx + dy * dy) : (double)line->votes;
  t->pieces[t->count++] = (Piece){*line, (float)length, 0};
}

static void add_run(Thin *t, const RvHoughAngle *angle, int offset, int first, int last,
                    const RvLine *line) {
  const RvHoughRun run = {0, 0, first, last, 1};
  RvLine piece = *line;
  if (rv_hough_run_end(&run, angle, &t->space, offset, &piece))
    add(t, &piece);
}

/* The runs along a line, from its hits. */
static void add_runs(Thin *t, const uint32_t *hits, const RvLine *line) {
  const RvHoughSpace *p = &t->space;
  const int k = (int)lround((double)line->theta / (double)p->theta_step) - p->first;
  const int offset = (int)lround((double)line->rho / (double)p->rho_step);
  const RvHoughAngle *angle = &t->angles[rv_clamp(k, 0, p->angles - 1)];
  const int majors = angle->is_steep ? p->height : p->width;
  int first = -1, last = -1;
  for (int major = 0; major < majors; major++) {
    if (!(hits[major / 32] >> (major % 32) & 1))
      continue;
    if (last >= 0 && major - last - 1 > p->max_gap)
      add_run(t, angle, offset, first, last, line);
    if (last < 0 || major - last - 1 > p->max_gap)
      first = major;
    last = major;
  }
  if (last >= 0)
    add_run(t, angle, offset, first, last, line);
}

static void find_pieces(Thin *t, const RvLine *lines, int count, const uint32_t *hits) {
  const int words = rv_hough_hit_words(t->config);
  const int has_runs = t->config->segments && t->config->dashes && hits;
  if (has_runs)
    rv_hough_angles(t->config, &t->space, t->angles);
  for (int i = 0, row = 0; i < count; i++, row++) {
    while (has_runs && row < t->config->max_lines && !hits[(size_t)row * (size_t)words])
      row++; /* a line without a segment */
    if (has_runs && row < t->config->max_lines)
      add_runs(t, hits + (size_t)row * (size_t)words + 1, &lines[i]);
    else
      add(t, &lines[i]);
  }
}

/* --- Near-duplicates ------------------------------------------------------------------------- */

/* Longest first, on a tie the first: a heap, since there may be thousands. */
static int comes_before(const Thin *t, int a, int b) {
  const float x = t->pieces[a].length, y = t->pieces[b].length;
  return x != y ? x > y : a < b;
}

static void sift(const Thin *t, int count, int at) {
  const int32_t piece = t->order[at];
  for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && comes_before(t, t->order[child], t->order[child + 1]))
      child++;
    if (!comes_before(t, piece, t->order[child]))
      break;
    t->order[at] = t->order[child];
    at = child;
  }
  t->order[at] = piece;
}

static void sort(const Thin *t) {
  for (int i = 0; i < t->count; i++)
    t->order[i] = i;
  for (int i = t->count / 2; i-- > 0;)
    sift(t, t->count, i);
  for (int left = t->count; left > 1;) {
    const int32_t last = t->order[0];
    t->order[0] = t->order[--left];
    t->order[left] = last;
    sift(t, left, 0);
  }
}

/* Middle of a segment, or of the part of a line inside the image. */
static void middle_of(const Thin *t, const RvLine *line, double *x, double *y) {
  int e[4];
  *x = 0.5 * (line->x0 + line->x1), *y = 0.5 * (line->y0 + line->y1);
  if (t->config->segments ||
      !rv_hough_ends(line, 0, t->space.width, t->space.height, t->space.width, t->space.height, e))
    return;
  *x = (e[0] + e[2]) / 32.0 - 0.5, *y = (e[1] + e[3]) / 32.0 - 0.5;
}

/* Distance of (x, y) from a line of the normal (c, s), px. */
static double distance(double c, double s, const RvLine *line, double x, double y) {
  return fabs(c * x + s * y - (double)line->rho);
}

/* 1 when `b` says nothing that `a`, the longer one, has not said. */
static int is_duplicate(const Thin *t, const RvLine *a, const RvLine *b) {
  const double pi = 3.14159265358979323846, gap = t->config->min_distance;
  const double c = cos((double)a->theta), s = sin((double)a->theta);
  double turn = fabs((double)a->theta - (double)b->theta), x, y;
  middle_of(t, b, &x, &y);
  if (!t->config->segments) {
    turn = turn > 0.5 * pi ? pi - turn : turn;
    return turn * 180 <= t->config->min_angle * pi && distance(c, s, a, x, y) <= gap;
  }
  const double along = c * y - s * x, from = c * a->y0 - s * a->x0, to = c * a->y1 - s * a->x1;
  return distance(c, s, a, b->x0, b->y0) <= gap && distance(c, s, a, b->x1, b->y1) <= gap &&
         along >= fmin(from, to) - gap && along <= fmax(from, to) + gap;
}

static void drop_duplicates(Thin *t) {
  sort(t);
  for (int i = 1; i < t->count; i++) {
    Piece *piece = &t->pieces[t->order[i]];
    for (int k = 0; k < i && !piece->is_dropped; k++) {
      const Piece *other = &t->pieces[t->order[k]];
      piece->is_dropped = !other->is_dropped && is_duplicate(t, &other->line, &piece->line);
    }
  }
}

int rv_hough_thin(const RvHoughConfig *config, const RvLine *lines, int count, const uint32_t *hits,
                  void *memory, RvLine *out) {
  Thin t = {.config = config};
  int kept = 0;
  rv_hough_space(config, &t.space);
  layout(&t, memory);
  find_pieces(&t, lines, rv_min(count, config->max_lines), hits);
  if (config->min_distance > 0)
    drop_duplicates(&t);
  for (int i = 0; i < t.count && kept < config->max_lines; i++)
    if (!t.pieces[i].is_dropped)
      out[kept++] = t.pieces[i].line;
  return kept;
}
