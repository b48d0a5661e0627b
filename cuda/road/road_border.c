/* SPDX-License-Identifier: MIT */
/* road_border.c: outline of the road and drivable distance, from a mask in host memory. */
#include <stdlib.h>
#include <string.h>

#include "road/road_stages.h"
#include "rv_internal.h"

#define DISPARITY_MIN 2.0    /* px: smaller ones say little about meters */
#define WIDTH_DEFAULT 3.0    /* m: corridor where near_width is unlimited */
#define DRIVABLE_SHARE 0.75  /* of the corridor's patches */
#define DRIVABLE_GAP 2       /* rows that may be missing */
#define TOLERANCE 3          /* quarters of a patch */
#define PROFILE_ITERATIONS 4 /* of the row of the ground, at most */
#define ROW_ERROR 1e-6       /* px: closer rows are the same */

/* A horizontal run of road; runs of a component form a tree to its first run. */
typedef struct Run {
  int32_t parent, size; /* patches; of a root: of the component */
  int16_t row, first, last;
} Run;

/* Vertex of the outline in half patches from the corner of the grid. */
typedef struct Corner {
  int16_t x, y;
} Corner;

typedef struct Border {
  const RvRoadConfig *config;
  const RvGroundSurface *ground;
  int columns, rows;
  int run_count, corner_count;
  Run *run;
  Corner *corner;
  uint8_t *is_kept; /* [corner] */
  uint8_t *is_in;   /* [patch]: of the component */
} Border;

/* Sizes of a grid: runs with gaps between them; outer sides of a component. */
static size_t layout(Border *b, char *memory) {
  const size_t patches = (size_t)b->columns * (size_t)b->rows;
  const size_t runs = (size_t)b->rows * ((size_t)b->columns + 1) / 2 + 1, corners = 2 * patches + 4;
  const size_t at_corner = (runs * sizeof *b->run + 7) / 8 * 8;
  const size_t at_kept = at_corner + corners * sizeof *b->corner;
  if (memory) {
    b->run = (Run *)(void *)memory;
    b->corner = (Corner *)(void *)(memory + at_corner);
    b->is_kept = (uint8_t *)memory + at_kept;
    b->is_in = b->is_kept + corners;
  }
  return at_kept + corners + patches;
}

size_t rv_road_border_bytes(const RvRoadConfig *config) {
  Border b = {.config = config};
  rv_road_size(config, &b.columns, &b.rows);
  return b.columns ? layout(&b, NULL) : 0;
}

/* --- The largest component ------------------------------------------------------------------- */

static int root_of(const Run *run, int i) {
  while (run[i].parent != i)
    i = run[i].parent;
  return i;
}

static void join(Run *run, int a, int b) {
  a = root_of(run, a), b = root_of(run, b);
  if (a == b)
    return;
  const int low = rv_min(a, b), high = rv_max(a, b);
  run[high].parent = low;
  run[low].size += run[high].size;
}

/* Runs of a row; `above` is the first run of the row above, which ends at run `first`. */
static void add_row(Border *b, const uint8_t *mask, int y, int above) {
  const int first = b->run_count;
  for (int x = 0; x < b->columns; x++) {
    if (!mask[x])
      continue;
    const int begin = x;
    while (x + 1 < b->columns && mask[x + 1])
      x++;
    const int i = b->run_count++;
    b->run[i] = (Run){i, x - begin + 1, (int16_t)y, (int16_t)begin, (int16_t)x};
    while (above < first && b->run[above].last < begin)
      above++;
    for (int k = above; k < first && b->run[k].first <= x; k++)
      join(b->run, k, i);
  }
}

/* Marks the component; returns its first run, or -1. */
static int find_component(Border *b, const RvPlane *mask) {
  int above = 0, largest = -1;
  b->run_count = 0;
  for (int y = 0; y < b->rows; y++) {
    const int first = b->run_count;
    add_row(b, (const uint8_t *)mask->data + y * mask->stride, y, above);
    above = first;
  }
  for (int i = 0; i < b->run_count; i++)
    if (b->run[i].parent == i && (largest < 0 || b->run[i].size > b->run[largest].size))
      largest = i;
  memset(b->is_in, 0, (size_t)b->columns * (size_t)b->rows);
  for (int i = 0; i < b->run_count; i++)
    if (root_of(b->run, i) == largest)
      memset(b->is_in + (size_t)b->run[i].row * (size_t)b->columns + b->run[i].first, 1,
             (size_t)(b->run[i].last - b->run[i].first + 1));
  return largest;
}

/* --- Outline --------------------------------------------------------------------------------- */

static int is_in(const Border *b, int x, int y) {
  return x >= 0 && y >= 0 && x < b->columns && y < b->rows &&
         b->is_in[(size_t)y * (size_t)b->columns + (size_t)x];
}

/* Along the outer sides, the component to the right: east, south, west, north. Patches that meet at
 * a corner only are not connected there. */
static void follow(Border *b, const Run *start) {
  static const int dx[] = {1, 0, -1, 0}, dy[] = {0, 1, 0, -1};
  static const int right[4][2] = {
      {0, 0}, {-1, 0}, {-1, -1}, {0, -1}}; /* patch ahead on the right */
  static const int left[4][2] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
  int x = start->first, y = start->row, turn = 0;
  b->corner_count = 0;
  do {
    b->corner[b->corner_count++] =
        (Corner){(int16_t)(2 * x + dx[turn]), (int16_t)(2 * y + dy[turn])};
    x += dx[turn], y += dy[turn];
    if (!is_in(b, x + right[turn][0], y + right[turn][1]))
      turn = (turn + 1) % 4;
    else if (is_in(b, x + left[turn][0], y + left[turn][1]))
      turn = (turn + 3) % 4;
  } while (x != start->first || y != start->row || turn != 0);
}

/* Squared distance of corner i from the segment from a to b, times the squared length of that; of
 * a segment without length: the squared distance from a. */
static int64_t off(const Corner *c, int i, int a, int b) {
  const int64_t ux = c[b].x - c[a].x, uy = c[b].y - c[a].y;
  const int64_t vx = c[i].x - c[a].x, vy = c[i].y - c[a].y;
  const int64_t cross = ux * vy - uy * vx;
  return ux || uy ? cross * cross : vx * vx + vy * vy;
}

/* The corner between a and b that is farthest from their segment, or -1 when it is within `quarters`
 * of a patch. On a tie, the first. */
static int farthest(const Border *b, int from, int to, int quarters) {
  const int n = b->corner_count;
  const Corner *c = b->corner;
  const int64_t ux = c[to % n].x - c[from].x, uy = c[to % n].y - c[from].y;
  const int64_t length = ux || uy ? ux * ux + uy * uy : 1;
  int64_t most = (int64_t)quarters * quarters * length / 4; /* half patches */
  int at = -1;
  for (int i = from + 1; i < to; i++) {
    const int64_t distance = off(c, i, from, to % n);
    if (distance > most) {
      most = distance;
      at = i;
    }
  }
  return at;
}

/* Marks the corners that stay; returns their number. */
static int simplify(Border *b, int quarters) {
  int count = 1, is_changed = 1;
  memset(b->is_kept, 0, (size_t)b->corner_count);
  b->is_kept[0] = 1;
  while (is_changed) {
    is_changed = 0;
    for (int from = 0; from < b->corner_count;) {
      int to = from + 1;
      while (to < b->corner_count && !b->is_kept[to])
        to++;
      const int at = farthest(b, from, to, quarters);
      if (at >= 0) {
        b->is_kept[at] = 1;
        count++;
        is_changed = 1;
      }
      from = to;
    }
  }
  return count;
}

/* --- Meters ---------------------------------------------------------------------------------- */

/* Disparity + doffs of the ground at (x, y), px; 0 without a ground. */
static double ground_at(const Border *b, double x, double y) {
  const RvGroundSurface *g = b->ground;
  const RvCamera *camera = &b->config->camera;
  double row = y;
  if (!(g->slope_y > 0))
    return 0;
  for (int i = 0; i < PROFILE_ITERATIONS; i++) {
    const double d = g->slope_x * x + g->slope_y * row + g->intercept;
    const double shift = y - rv_ground_row(g, camera, d, x); /* 0 on a plane */
    row += shift;
    if (shift < ROW_ERROR && shift > -ROW_ERROR)
      break;
  }
  return g->slope_x * x + g->slope_y * row + g->intercept + camera->doffs;
}

static RvRoadPoint point_of(const Border *b, const Corner *corner) {
  const RvCamera *camera = &b->config->camera;
  const double half = 0.5 * b->config->patch_size;
  const double x = corner->x * half - 0.5, y = corner->y * half - 0.5, d = ground_at(b, x, y);
  RvRoadPoint p = {(float)x, (float)y, 0, 0};
  if (d >= DISPARITY_MIN) {
    p.lateral = (float)((x - camera->cx) * camera->baseline / d);
    p.distance = (float)(camera->focal * camera->baseline / d);
  }
  return p;
}

/* Patches of the corridor in a row and those of them that are road. */
typedef struct Corridor {
  int all, road;
} Corridor;

/* Adds the patches from column x on, by `step`, as far as the corridor reaches: the ground of the
 * others, most of the row, is not needed. */
static void add_corridor(const Border *b, const RvPlane *mask, int x, int step, int y,
                         Corridor *found) {
  const RvRoadConfig *c = b->config;
  const uint8_t *row = (const uint8_t *)mask->data + y * mask->stride;
  const double width = c->near_width > 0 ? c->near_width : WIDTH_DEFAULT;
  const int n = c->patch_size;
  const double v = y * n + 0.5 * (n - 1);
  for (; x >= 0 && x < b->columns; x += step) {
    const double u = x * n + 0.5 * (n - 1), d = ground_at(b, u, v);
    const double beside = (u - c->camera.cx) * c->camera.baseline;
    if (d < DISPARITY_MIN || 2 * (beside < 0 ? -beside : beside) > width * d)
      return;
    found->all++;
    found->road += row[x] != 0;
  }
}

/* 1 when the row of patches is drivable; -1 when the corridor is not in the image there. */
static int is_drivable(const Border *b, const RvPlane *mask, int y) {
  const int n = b->config->patch_size;
  const double at = (b->config->camera.cx + 0.5) / n; /* columns to the left of the axis */
  const int axis = at > 0 ? at < b->columns ? (int)at : b->columns - 1 : 0;
  Corridor found = {0};
  add_corridor(b, mask, axis, 1, y, &found);
  add_corridor(b, mask, axis - 1, -1, y, &found);
  return found.all ? found.road >= DRIVABLE_SHARE * found.all : -1;
}

static double drivable(const Border *b, const RvPlane *mask) {
  const RvCamera *camera = &b->config->camera;
  const double reach = camera->focal * camera->baseline;
  double distance = 0;
  int missing = 0;
  for (int y = b->rows - 1; y >= 0 && missing <= DRIVABLE_GAP; y--) {
    const double d = ground_at(b, camera->cx, y * b->config->patch_size - 0.5);
    const int is_free = is_drivable(b, mask, y);
    if (d < DISPARITY_MIN || (distance == 0 && is_free != 1 && reach > b->config->near_range * d))
      break;
    if (is_free == 1) {
      distance = reach / d;
      missing = 0;
    } else if (distance > 0) {
      missing++;
    }
  }
  return distance;
}

/* --- Run ------------------------------------------------------------------------------------- */

static RvStatus check_border(const Border *b, const RvPlane *mask, const RvRoadReport *report,
                             const void *memory, const RvRoadBorder *border) {
  const RvLog *log = &b->config->log;
  RV_TRY(rv_check_plane(log, "road", "mask", mask, b->columns, b->rows, RV_U8));
  RV_REQUIRE(log, report && memory && border, "road: report, memory or border is NULL");
  return rv_check_aligned(log, "road", "memory", memory, 8);
}

RvStatus rv_road_border(const RvRoadConfig *config, const RvPlane *mask, const RvRoadReport *report,
                        const RvGroundSurface *ground, void *memory, RvRoadBorder *border) {
  Border b = {.config = config};
  RvGroundSurface plane;
  RV_TRY(rv_road_config_check(config));
  rv_road_size(config, &b.columns, &b.rows);
  RV_TRY(check_border(&b, mask, report, memory, border));
  memset(&plane, 0, sizeof plane);
  if (report->height > 0 && !ground) {
    plane.slope_x = (double)report->slope_x;
    plane.slope_y = (double)report->slope_y;
    plane.intercept = (double)report->intercept;
  }
  b.ground = ground && report->height > 0 ? ground : &plane;
  layout(&b, memory);
  memset(border, 0, sizeof *border);
  border->drivable = (float)drivable(&b, mask);
  const int start = find_component(&b, mask);
  if (start < 0)
    return RV_OK;
  follow(&b, &b.run[start]);
  int quarters = TOLERANCE;
  while (simplify(&b, quarters) > RV_ROAD_BORDER_MAX)
    quarters += (quarters + 1) / 2;
  for (int i = 0; i < b.corner_count; i++)
    if (b.is_kept[i])
      border->point[border->count++] = point_of(&b, &b.corner[i]);
  return RV_OK;
}
