/* SPDX-License-Identifier: MIT */
/* lanes_measure.c: lines in meters, their kinds, and the own lane, from what the engines found. */
#include <math.h>
#include <string.h>

#include "lanes/lanes_host.h"
#include "lanes/lanes_stages.h"

#define REFERENCE 7.0     /* m */
#define SCORE_TIMES 2.4   /* best score to the mean of all spaces */
#define SUPPORT_MIN 3.0   /* m */
#define HEADING_OFF 0.05  /* rad from the common heading: ramps */
#define SOLID_SHARE 0.75  /* of the slices seen */
#define GAP_MIN 3         /* slices of a gap between dashes */
#define DOT_MAX 2         /* slices of a dot */
#define VISIBLE_MIN 20    /* slices that confidence refers to at least */
#define VISIBLE_FAR 60    /* maximum slices that are considered */
#define DASHED_SHARE 0.35 /* covered fraction of full confidence: 3 m of 7.5 m, less worn paint */
#define YELLOW (-16)      /* B - (R + G) / 2 of yellow against the road */
#define CURB_LOW 60       /* mm: step beside a curb */
#define CURB_HIGH 250
#define CURB_PIXELS 20 /* on each side */
#define RAIL_LOW 1.38  /* m between rails */
#define RAIL_HIGH 1.55
#define RAIL_PARALLEL 0.02 /* rad */
#define WIDTH_LOW 2.4      /* m: of a lane */
#define WIDTH_HIGH 4.6
#define NEIGHBOR_OFF 0.5   /* maximum deviation of a neighbor from its position, m */
#define SQUARE_MOST 2000.0 /* mm^2: mean square distance of the marks of a painted line */
#define HITS_LEAST 6
#define FILL_LEAST 0.55     /* part of the covered slices that rows with marks make up */
#define FILL_WORN 0.45      /* likewise, of marks that lie within SQUARE_WORN */
#define SQUARE_WORN 400.0   /* mm^2 */
#define DOUBLE_SHARE 0.7    /* part of the marks that lie on the two lines of a double one */
#define CONFIDENCE_LEAST 51 /* of a line */
#define REACH 1.75          /* lane widths to each side at the reference distance */

double rv_lanes_reference_distance(void) {
  return REFERENCE;
}

double rv_lanes_line_x(const RvLaneLine *line, double z) {
  return (double)line->offset + (double)line->heading * z + (double)line->curvature * z * z / 2;
}

/* --- Matrices -------------------------------------------------------------------------------- */

int rv_lanes_invert(const RvLanesMatrix *m, RvLanesMatrix *inverse) {
  const double(*a)[3] = m->a;
  const double c00 = a[1][1] * a[2][2] - a[1][2] * a[2][1];
  const double c01 = a[0][2] * a[2][1] - a[0][1] * a[2][2];
  const double c02 = a[0][1] * a[1][2] - a[0][2] * a[1][1];
  const double det = a[0][0] * c00 + a[1][0] * c01 + a[2][0] * c02;
  if (!(det > 0))
    return 0;
  inverse->a[0][0] = c00 / det;
  inverse->a[0][1] = inverse->a[1][0] = c01 / det;
  inverse->a[0][2] = inverse->a[2][0] = c02 / det;
  inverse->a[1][1] = (a[0][0] * a[2][2] - a[0][2] * a[2][0]) / det;
  inverse->a[1][2] = inverse->a[2][1] = (a[0][2] * a[1][0] - a[0][0] * a[1][2]) / det;
  inverse->a[2][2] = (a[0][0] * a[1][1] - a[0][1] * a[1][0]) / det;
  return 1;
}

RvLanesMatrix rv_lanes_covariance(const RvLanesMark *mark) {
  const double *i = mark->information;
  /* the priors of the fit, and a floor that keeps the matrix regular */
  const RvLanesMatrix m = {{{i[0] + 1, i[1], i[2]},
                            {i[1], i[3] + 1 / (0.01 * 0.01), i[4]},
                            {i[2], i[4], i[5] + 1 / (0.0005 * 0.0005)}}};
  RvLanesMatrix c;
  if (!rv_lanes_invert(&m, &c)) {
    memset(&c, 0, sizeof c);
    c.a[0][0] = 1;
    c.a[1][1] = 1e-4;
    c.a[2][2] = 1e-6;
  }
  /* lines on rendered streets scatter twice as much as their marks suggest */
  for (int k = 0; k < 9; k++)
    c.a[k / 3][k % 3] *= 4;
  /* pitch and height of the ground, which all marks of a frame share */
  c.a[0][0] += 0.03 * 0.03;
  c.a[1][1] += 0.004 * 0.004;
  c.a[2][2] += 0.0003 * 0.0003;
  return c;
}

/* --- Kinds ----------------------------------------------------------------------------------- */

static int bit(const uint32_t *bits, int k) {
  return bits[k / 32] >> (k % 32) & 1;
}

/* How the slices between the first and the last covered one are covered. */
typedef struct Cover {
  int covered, seen;         /* slices */
  int gap, run;              /* longest ones */
  int near_covered, visible; /* up to VISIBLE_FAR */
} Cover;

static Cover cover_of(const RvLanesMark *mark) {
  Cover c = {0, 0, 0, 0, 0, 0};
  int gap = 0, run = 0;
  for (int k = 0; k < RV_LANES_SLICES; k++) {
    const int is_covered = bit(mark->covered, k), is_seen = is_covered || bit(mark->seen, k);
    if (k < VISIBLE_FAR) {
      c.visible += is_seen;
      c.near_covered += is_covered;
    }
    if (is_covered) {
      c.gap = c.covered && gap > c.gap ? gap : c.gap;
      c.seen += c.covered ? gap + 1 : 1;
      c.covered++;
      gap = 0;
      run++;
      c.run = run > c.run ? run : c.run;
    } else if (is_seen) {
      gap++;
      run = 0;
    }
  }
  return c;
}

/* Weight of the marks within one bin of bin i. */
static uint32_t around(const RvLanesMark *mark, int i) {
  return (i > 0 ? mark->spread[i - 1] : 0) + mark->spread[i] +
         (i + 1 < RV_LANES_SPREAD ? mark->spread[i + 1] : 0);
}

/* 1 when the marks lie on two lines 0.15 to 0.5 m apart. */
static int is_double(const RvLanesMark *mark) {
  int top = 0;
  double sum = mark->spread[0];
  for (int i = 1; i < RV_LANES_SPREAD; i++) {
    sum += mark->spread[i];
    if (mark->spread[i] > mark->spread[top])
      top = i;
  }
  for (int i = 0; i < RV_LANES_SPREAD; i++) {
    const int apart = i < top ? top - i : i - top;
    if (apart < 3 || apart > 10 || mark->spread[i] * 2 < mark->spread[top] ||
        (double)around(mark, i) + (double)around(mark, top) < DOUBLE_SHARE * sum)
      continue;
    const int from = i < top ? i : top;
    for (int k = from + 1; k < from + apart; k++)
      if (mark->spread[k] * 2 < mark->spread[i])
        return 1;
  }
  return 0;
}

static int is_curb(const RvLanesMark *mark) {
  if (mark->lefts < CURB_PIXELS || mark->rights < CURB_PIXELS)
    return 0;
  const double step =
      fabs((double)mark->right_height / mark->rights - (double)mark->left_height / mark->lefts);
  return step >= CURB_LOW && step <= CURB_HIGH;
}

static uint8_t kind_of(const RvLanesMark *mark, const Cover *cover) {
  if (is_curb(mark))
    return RV_LANE_LINE_CURB;
  if (is_double(mark))
    return RV_LANE_LINE_DOUBLE;
  if (cover->covered >= SOLID_SHARE * cover->seen)
    return RV_LANE_LINE_SOLID;
  if (cover->gap < GAP_MIN)
    return RV_LANE_LINE_UNKNOWN;
  return cover->run <= DOT_MAX ? RV_LANE_LINE_DOTS : RV_LANE_LINE_DASHED;
}

static uint8_t color_of(const RvLanesMark *mark) {
  if (mark->tints == 0)
    return RV_LANE_COLOR_UNKNOWN;
  return mark->tint < 4 * YELLOW * mark->tints ? RV_LANE_COLOR_YELLOW : RV_LANE_COLOR_WHITE;
}

/* Support by meters that are visible. */
static uint8_t confidence_of(const Cover *cover) {
  const int visible = cover->visible > VISIBLE_MIN ? cover->visible : VISIBLE_MIN;
  const double share = cover->near_covered / (DASHED_SHARE * visible);
  return (uint8_t)(255 * (share < 1 ? share : 1));
}

static RvLaneLine line_of(const RvLanesMark *mark, const Cover *cover, uint8_t kind) {
  const RvLanesMatrix covariance = rv_lanes_covariance(mark);
  RvLaneLine line = {.offset = (float)mark->offset,
                     .heading = (float)mark->heading,
                     .curvature = (float)mark->curvature,
                     .z_min = (float)(mark->z_min / 100.0),
                     .z_max = (float)(mark->z_max / 100.0),
                     .sigma = (float)sqrt(covariance.a[0][0]),
                     .support = (float)(cover->covered * RV_LANES_SLICE),
                     .kind = kind,
                     .color = color_of(mark),
                     .confidence = confidence_of(cover)};
  line.offset_near = (float)rv_lanes_line_x(&line, REFERENCE);
  return line;
}

/* Paint covers every row that shows it, and is straight: marks of ruts, grass and shadows are here
 * and there, and scatter. Where rows are missing, the others must lie the straighter. */
static int is_paint(const RvLanesMark *mark, const Cover *cover) {
  const double slices = 1000 * RV_LANES_SLICE * cover->covered, length = mark->length;
  const double most = length >= FILL_LEAST * slices ? SQUARE_MOST : SQUARE_WORN;
  return mark->hits >= HITS_LEAST && length >= FILL_WORN * slices &&
         ((double)mark->squares <= most * (double)mark->weight ||
          (length >= FILL_LEAST * slices && is_double(mark)));
}

int rv_lanes_is_paint(const RvLanesMark *mark) {
  const Cover cover = cover_of(mark);
  return is_paint(mark, &cover);
}

/* --- Lines ----------------------------------------------------------------------------------- */

void rv_lanes_sort(RvLaneLine *lines, const RvLanesMark **marks, int count) {
  for (int i = 1; i < count; i++)
    for (int k = i; k > 0 && lines[k].offset_near < lines[k - 1].offset_near; k--) {
      const RvLaneLine line = lines[k];
      lines[k] = lines[k - 1];
      lines[k - 1] = line;
      if (marks) {
        const RvLanesMark *mark = marks[k];
        marks[k] = marks[k - 1];
        marks[k - 1] = mark;
      }
    }
}

/* Two lines that are as far apart as rails, parallel, and without gaps. */
static int are_rails(const RvLaneLine *a, const RvLaneLine *b) {
  const double apart = (double)b->offset_near - (double)a->offset_near;
  const double heading = fabs((double)b->heading - (double)a->heading);
  return apart >= RAIL_LOW && apart <= RAIL_HIGH && heading <= RAIL_PARALLEL &&
         a->kind == RV_LANE_LINE_SOLID && b->kind == RV_LANE_LINE_SOLID;
}

int rv_lanes_has_direction(const RvLanesFound *found) {
  return found->count <= RV_LANES_MAX && (double)found->score >= SCORE_TIMES * (double)found->mean;
}

/* The lines of a frame that are paint. */
static int find_paint(const RvLanesConfig *config, const RvLanesFound *found, RvLaneLine *lines,
                      const RvLanesMark **marks) {
  int count = 0;
  if (!rv_lanes_has_direction(found))
    return 0;
  for (int i = 0; i < (int)found->count; i++) {
    const RvLanesMark *mark = &found->lines[i];
    const Cover cover = cover_of(mark);
    if (!is_paint(mark, &cover) || fabs(mark->heading - found->heading) > HEADING_OFF)
      continue;
    const RvLaneLine line = line_of(mark, &cover, kind_of(mark, &cover));
    if ((double)line.support < SUPPORT_MIN || line.confidence < CONFIDENCE_LEAST ||
        fabs((double)line.offset_near) > REACH * config->lane_width)
      continue;
    lines[count] = line;
    marks[count++] = mark;
  }
  rv_lanes_sort(lines, marks, count);
  uint8_t is_rail[RV_LANES_MAX] = {0};
  for (int i = 0; i < count; i++)
    for (int k = i + 1; k < count; k++)
      if (are_rails(&lines[i], &lines[k]))
        is_rail[i] = is_rail[k] = 1;
  for (int i = 0; i < count; i++)
    lines[i].kind = is_rail[i] ? RV_LANE_LINE_RAIL : lines[i].kind;
  return count;
}

int rv_lanes_lines(const RvLanesConfig *config, const RvLanesFound *found,
                   const RvLanesEdges *edges, RvLaneLine lines[RV_LANES_ALL],
                   const RvLanesMark *marks[RV_LANES_ALL]) {
  int count = find_paint(config, found, lines, marks);
  for (int i = 0; edges && i < edges->count && i < 2; i++) {
    const Cover cover = cover_of(&edges->line[i]);
    lines[count] = line_of(&edges->line[i], &cover, RV_LANE_LINE_EDGE);
    marks[count++] = &edges->line[i];
  }
  rv_lanes_sort(lines, marks, count);
  return count;
}

int rv_lanes_measure(const RvLanesConfig *config, const RvLanesFound *found,
                     RvLaneLine lines[RV_LANES_MAX]) {
  const RvLanesMark *marks[RV_LANES_MAX];
  return find_paint(config, found, lines, marks);
}

/* --- Lane ------------------------------------------------------------------------------------ */

/* 1 when a line can be a border; has_edges: edges of the road can, too. */
static int is_border(const RvLaneLine *line, int has_edges) {
  return line->kind != RV_LANE_LINE_RAIL && (line->kind != RV_LANE_LINE_EDGE || has_edges);
}

/* Merit of a pair of borders: reliability, distance from the expected width, distance of the
 * lane from the axis. */
static double merit(const RvLaneLine *left, const RvLaneLine *right, double width) {
  const double l = (double)left->offset_near, r = (double)right->offset_near;
  return (left->confidence + right->confidence) / 510.0 - 0.5 * fabs(r - l - width) -
         0.2 * fabs(l + r) / 2;
}

static void choose_pair(double width, int has_edges, RvLanesLane *lane) {
  double best = -1e9;
  for (int i = 0; i < lane->count; i++)
    for (int k = i + 1; k < lane->count; k++) {
      const RvLaneLine *a = &lane->lines[i], *b = &lane->lines[k];
      const double apart = (double)b->offset_near - (double)a->offset_near;
      if (!is_border(a, has_edges) || !is_border(b, has_edges) || a->offset_near > 0 ||
          b->offset_near <= 0 || apart < WIDTH_LOW || apart > WIDTH_HIGH ||
          merit(a, b, width) <= best)
        continue;
      best = merit(a, b, width);
      lane->left = i;
      lane->right = k;
    }
}

/* Without a pair, the nearest border of the more reliable side. */
static void choose_side(double width, int has_edges, RvLanesLane *lane) {
  int best = -1;
  for (int i = 0; i < lane->count; i++) {
    const RvLaneLine *line = &lane->lines[i];
    if (is_border(line, has_edges) && fabs((double)line->offset_near) < width &&
        (best < 0 || line->confidence > lane->lines[best].confidence))
      best = i;
  }
  if (best >= 0 && lane->lines[best].offset_near <= 0)
    lane->left = best;
  else
    lane->right = best;
}

/* The line nearest to x, at most NEIGHBOR_OFF away and not a border, becomes `position`. */
static void set_neighbor(RvLanesLane *lane, double x, int position) {
  double nearest = NEIGHBOR_OFF;
  RvLaneLine *found = NULL;
  for (int i = 0; i < lane->count; i++) {
    RvLaneLine *line = &lane->lines[i];
    const double off = fabs((double)line->offset_near - x);
    if (line->position == 0 && is_border(line, 0) && off < nearest) {
      nearest = off;
      found = line;
    }
  }
  if (found)
    found->position = (int8_t)position;
}

static int source_of(const RvLanesLane *lane, int index) {
  if (index < 0)
    return RV_LANES_BORDER_NONE;
  return lane->lines[index].missed ? RV_LANES_BORDER_MEMORY : RV_LANES_BORDER_SEEN;
}

/* Reliability of the width: decreases from 4 to 5 m. */
static double width_trust(double width) {
  return width <= 4 ? 1 : width >= 5 ? 0 : 5 - width;
}

static void set_numbers(double width, RvLanesLane *lane) {
  const RvLaneLine *l = lane->left >= 0 ? &lane->lines[lane->left] : NULL;
  const RvLaneLine *r = lane->right >= 0 ? &lane->lines[lane->right] : NULL;
  if (!l && !r)
    return;
  const RvLaneLine *a = l ? l : r, *b = r ? r : l;
  const double shift = l && r ? 0 : l ? width / 2 : -width / 2;
  lane->offset = -(((double)a->offset + (double)b->offset) / 2 + shift);
  lane->heading = -((double)a->heading + (double)b->heading) / 2;
  lane->curvature = ((double)a->curvature + (double)b->curvature) / 2;
  lane->confidence = (a->confidence + b->confidence) / 510.0 * (l && r ? 1 : 0.5);
  if (l && r)
    lane->confidence *= width_trust((double)r->offset_near - (double)l->offset_near);
}

void rv_lanes_assign(double width, RvLanesLane *lane) {
  lane->left = lane->right = -1;
  for (int i = 0; i < lane->count; i++)
    lane->lines[i].position = 0;
  for (int has_edges = 0; has_edges < 2 && lane->left < 0; has_edges++)
    choose_pair(width, has_edges, lane);
  for (int has_edges = 0; has_edges < 2 && lane->left < 0 && lane->right < 0; has_edges++)
    choose_side(width, has_edges, lane);
  if (lane->left >= 0)
    lane->lines[lane->left].position = -1;
  if (lane->right >= 0)
    lane->lines[lane->right].position = 1;
  if (lane->left >= 0)
    set_neighbor(lane, (double)lane->lines[lane->left].offset_near - width, -2);
  if (lane->right >= 0)
    set_neighbor(lane, (double)lane->lines[lane->right].offset_near + width, 2);
  lane->left_source = source_of(lane, lane->left);
  lane->right_source = source_of(lane, lane->right);
  set_numbers(width, lane);
}

RvStatus rv_lanes_lane(const RvLanesConfig *config, const RvLanesFound *found,
                       const RvLanesEdges *edges, RvLanesLane *lane) {
  const RvLanesMark *marks[RV_LANES_ALL];
  if (!config || !found || !lane)
    return RV_ERR_ARG;
  memset(lane, 0, sizeof *lane);
  lane->count = rv_lanes_lines(config, found, edges, lane->lines, marks);
  rv_lanes_assign(config->lane_width, lane);
  lane->width = config->lane_width;
  if (lane->left >= 0 && lane->right >= 0)
    lane->width =
        (double)lane->lines[lane->right].offset_near - (double)lane->lines[lane->left].offset_near;
  return RV_OK;
}

/* --- Polylines ------------------------------------------------------------------------------- */

int rv_lanes_points(const RvLanesConfig *config, const RvGroundSurface *ground,
                    const RvLanesFound *found, const RvLaneLine *line,
                    float points[2 * RV_LANES_POINTS]) {
  const RvCamera *camera = &config->camera;
  const int is_camera = config->ground == RV_LANES_GROUND_CAMERA;
  if (!(line->z_min > 0) || !(line->z_max >= line->z_min) ||
      (!is_camera && !(ground && ground->slope_y > 0)))
    return 0;
  RvLanesPlan plan = {.config = *config};
  rv_lanes_make_plan(&plan);
  const double near = 1 / (double)line->z_min, far = 1 / (double)line->z_max;
  for (int i = 0; i < RV_LANES_POINTS; i++) {
    const double z = 1 / (near + (far - near) * i / (RV_LANES_POINTS - 1));
    const double x = camera->cx + camera->focal * rv_lanes_line_x(line, z) / z;
    double y = found->horizon / 16.0 + (double)plan.z_scale / (z * 25600);
    if (!is_camera)
      y = rv_ground_row(ground, camera, camera->focal * camera->baseline / z - camera->doffs, x);
    points[2 * i] = (float)x;
    points[2 * i + 1] = (float)y;
  }
  return RV_LANES_POINTS;
}
