/* SPDX-License-Identifier: MIT */
/* gstcudaannotate_bird.c: the layer bird: obstacles, free space and lanes from above, in meters, in
 * a panel in the upper right corner. */
#include <math.h>
#include <string.h>

#include "gstcudaannotate_objects.h"

#define AHEAD 40.0 /* m shown forward */
#define BESIDE 12.0
#define GRID 10.0
#define BOXES 64
#define SECTORS 128 /* of the free space, at most */
#define LANES 8
#define SECONDS 1.0    /* of movement that a velocity line shows */
#define LENGTH_MIN 0.5 /* m: of a drawn obstacle */
#define JOINED 4.0     /* m: steps in Z within a wall */

static const RvColor PANEL = {12, 16, 24, 236}, GRID_LINE = {255, 255, 255, 40};
static const RvColor FREE = {48, 220, 120, 110}, VEHICLE = {255, 255, 255, 255};
static const RvColor LANE = {255, 255, 255, 200}, TEXT = {230, 230, 230, 255};

/* The panel in px of the frame; the camera is at the middle of its lower edge. */
typedef struct Panel {
  const GstCudaAnnotateView *view;
  int x, y, width, height;
  double scale; /* px per m */
  int thickness_fx;
} Panel;

/* What is no number becomes `low`. */
static double cut(double value, double low, double high) {
  return value > low ? (value < high ? value : high) : low;
}

/* 1/16 px of a point in m; cut at the panel. */
static int across(const Panel *p, double x) {
  return (int)(16 * (p->x + p->width / 2.0 + cut(x, -BESIDE, BESIDE) * p->scale));
}

static int down(const Panel *p, double z) {
  return (int)(16 * (p->y + p->height - cut(z, 0, AHEAD) * p->scale));
}

static RvStatus draw_panel(const Panel *p) {
  RvDraw *draw = p->view->draw;
  RvStatus status = rv_draw_rect(draw, p->x, p->y, p->width, p->height, PANEL);
  for (double z = GRID; z < AHEAD && status == RV_OK; z += GRID)
    status = rv_draw_line(draw, across(p, -BESIDE), down(p, z), across(p, BESIDE), down(p, z),
                          MAX(p->thickness_fx / 2, 8), GRID_LINE);
  return status;
}

static RvStatus draw_scale(const Panel *p) {
  const int size = MAX(p->height / 14, RV_DRAW_TEXT_MIN + 3);
  RvStatus status = RV_OK;
  for (double z = GRID; z < AHEAD && status == RV_OK; z += GRID) {
    char text[16];
    g_snprintf(text, sizeof text, "%g m", z);
    status = rv_draw_text(p->view->draw, p->x + size / 4, down(p, z) / 16 - size, size, TEXT,
                          GST_CUDA_ANNOTATE_OUTLINE, text);
  }
  return status;
}

/* --- Free space ------------------------------------------------------------------------------ */

/* Where the free space of a column ends, cut along its ray. */
static void end_of(const RvMetaFreeSpace *meta, const RvFreeColumn *column, int k,
                   const RvCamera *camera, double *x, double *z) {
  const double d = column->disparity / 16.0 + camera->doffs;
  const double slope = ((k + 0.5) * meta->column_width - camera->cx) / camera->focal;
  *z = column->disparity && d > 0 ? camera->focal * camera->baseline / d : AHEAD;
  *z = MIN(*z, AHEAD);
  if (fabs(slope) * *z > BESIDE)
    *z = BESIDE / fabs(slope);
  *x = slope * *z;
}

/* The camera in px of the free space. */
static gboolean camera_of(const Panel *p, const RvMetaFreeSpace *meta, RvCamera *camera) {
  int width, height;
  if (!rv_meta_get_camera(p->view->buffer, camera, &width, &height) || !(camera->focal > 0) ||
      !(camera->baseline > 0) || camera->focal > 1e6)
    return FALSE;
  const double sx = (double)meta->width / width;
  camera->focal *= sx;
  camera->cx *= sx;
  camera->doffs *= sx;
  return TRUE;
}

/* Columns of a sector of the free space. */
static int step_of(const RvMetaFreeSpace *meta) {
  return (meta->columns + SECTORS - 1) / SECTORS;
}

/* Where the free space of the sector from column k on ends, left and right. */
typedef struct Sector {
  double x0, z0, x1, z1;
} Sector;

static Sector sector_of(const RvMetaFreeSpace *meta, const RvFreeColumn *list, int k,
                        const RvCamera *camera) {
  const int next = k + step_of(meta);
  Sector s;
  end_of(meta, &list[k], k, camera, &s.x0, &s.z0);
  end_of(meta, &list[next], next, camera, &s.x1, &s.z1);
  return s;
}

static RvStatus draw_free(const Panel *p, const RvMetaFreeSpace *meta, const RvFreeColumn *list,
                          const RvCamera *camera) {
  const int step = step_of(meta);
  RvStatus status = RV_OK;
  for (int k = 0; k + step < meta->columns && status == RV_OK; k += step) {
    const Sector s = sector_of(meta, list, k, camera);
    const int corners[8] = {across(p, 0),    down(p, 0),    across(p, s.x0), down(p, s.z0),
                            across(p, s.x1), down(p, s.z1), across(p, 0),    down(p, 0)};
    status = rv_draw_quad(p->view->draw, corners, FREE);
  }
  return status;
}

/* Walls run obliquely (guard rails, house fronts), so that their box is not their place: the line
 * where they end the free space is. */
static RvStatus draw_walls(const Panel *p, const RvMetaFreeSpace *meta, const RvFreeColumn *list,
                           const RvCamera *camera, const RvObstacle *things, int count) {
  const int step = step_of(meta);
  RvStatus status = RV_OK;
  for (int k = 0; k + step < meta->columns && status == RV_OK; k += step) {
    const int wall = list[k].obstacle;
    if (wall >= count || things[wall].kind != RV_OBSTACLE_WALL || list[k + step].obstacle != wall)
      continue;
    const Sector s = sector_of(meta, list, k, camera);
    if (fabs(s.z1 - s.z0) < JOINED && MAX(fabs(s.x0), fabs(s.x1)) < BESIDE &&
        MAX(s.z0, s.z1) < AHEAD)
      status = rv_draw_line(p->view->draw, across(p, s.x0), down(p, s.z0), across(p, s.x1),
                            down(p, s.z1), 2 * p->thickness_fx,
                            gst_cuda_annotate_obstacle_color(&things[wall]));
  }
  return status;
}

/* --- Lanes, obstacles, vehicle ----------------------------------------------------------------- */

static RvStatus draw_lanes(const Panel *p, const RvMetaLanes *meta, const RvLaneLine *list) {
  RvStatus status = RV_OK;
  for (int i = 0; i < MIN(meta->count, LANES); i++)
    for (double z = 0; z + 4 <= AHEAD && status == RV_OK; z += 4) {
      const RvLaneLine *l = &list[i];
      const double x0 = l->offset + l->heading * z + l->curvature * z * z / 2, far = z + 4;
      const double x1 = l->offset + l->heading * far + l->curvature * far * far / 2;
      if (far <= l->z_max + 4 && fabs(x0) < BESIDE && fabs(x1) < BESIDE)
        status = rv_draw_line(p->view->draw, across(p, x0), down(p, z), across(p, x1), down(p, far),
                              p->thickness_fx, LANE);
    }
  return status;
}

static RvStatus draw_obstacle(const Panel *p, const RvObstacle *o, gboolean with_walls) {
  const double length = MAX(o->length, LENGTH_MIN), half = MAX(o->width, 0.3) / 2;
  const RvColor color = gst_cuda_annotate_obstacle_color(o);
  if (o->kind == RV_OBSTACLE_OVERHANG || (o->kind == RV_OBSTACLE_WALL && !with_walls) ||
      !(o->distance < AHEAD) || !(fabs(o->lateral) - half < BESIDE))
    return RV_OK;
  const int l = across(p, o->lateral - half), r = across(p, o->lateral + half);
  const int near = down(p, o->distance), far = down(p, o->distance + length);
  const int corners[8] = {l, near, r, near, r, far, l, far};
  const RvStatus status = rv_draw_quad(p->view->draw, corners, color);
  if (status != RV_OK || o->id == 0 || fabs(o->velocity_z) + fabs(o->velocity_x) < 0.5)
    return status;
  return rv_draw_line(p->view->draw, across(p, o->lateral), near,
                      across(p, o->lateral + SECONDS * o->velocity_x),
                      down(p, o->distance + SECONDS * o->velocity_z), p->thickness_fx, color);
}

static RvStatus draw_vehicle(const Panel *p) {
  const int corners[8] = {across(p, -0.9), down(p, 0), across(p, -0.3), down(p, 2),
                          across(p, 0.3),  down(p, 2), across(p, 0.9),  down(p, 0)};
  return rv_draw_quad(p->view->draw, corners, VEHICLE);
}

/* --- Layer ----------------------------------------------------------------------------------- */

static Panel panel_of(const GstCudaAnnotateView *view) {
  const int width = view->picture->width, height = view->picture->height;
  const int margin = MAX(MIN(width, height) / 40, 2);
  Panel p = {.view = view, .thickness_fx = MAX(view->thickness_fx * 3 / 4, 12)};
  p.height = MIN(height / 2, width / 2);
  p.scale = p.height / AHEAD;
  p.width = (int)(2 * BESIDE * p.scale);
  p.x = width - p.width - margin;
  p.y = margin;
  return p;
}

static RvStatus draw_all(const Panel *p, const RvMetaObstacles *obstacles,
                         const RvMetaFreeSpace *space, const RvMetaLanes *lanes) {
  GstCudaAnnotateRecords things = {.mapped = FALSE}, columns = things, lines = things;
  RvCamera camera;
  RvStatus status = gst_cuda_annotate_records_map(&things, p->view, obstacles->payload,
                                                  MIN(obstacles->count, BOXES));
  if (status == RV_OK)
    status = gst_cuda_annotate_records_map(&columns, p->view, space->payload, space->columns);
  if (status == RV_OK)
    status = gst_cuda_annotate_records_map(&lines, p->view, lanes->payload, lanes->count);
  if (status == RV_OK)
    status = draw_panel(p);
  const gboolean has_space = columns.count && camera_of(p, space, &camera);
  if (status == RV_OK && has_space)
    status = draw_free(p, space, columns.list, &camera);
  if (status == RV_OK && has_space)
    status = draw_walls(p, space, columns.list, &camera, things.list, things.count);
  if (status == RV_OK && lines.count)
    status = draw_lanes(p, lanes, lines.list);
  for (int i = things.count - 1; i >= 0 && status == RV_OK; i--)
    status = draw_obstacle(p, (const RvObstacle *)things.list + i, columns.count == 0);
  gst_cuda_annotate_records_unmap(&things);
  gst_cuda_annotate_records_unmap(&columns);
  gst_cuda_annotate_records_unmap(&lines);
  if (status == RV_OK)
    status = draw_vehicle(p);
  return status == RV_OK ? draw_scale(p) : status;
}

/* A frame with obstacles or free space; small frames have no panel. */
static RvStatus draw(GstRvInput *input, const GstCudaAnnotateView *view) {
  RvMetaObstacles obstacles;
  RvMetaFreeSpace space;
  RvMetaLanes lanes;
  const gboolean has_obstacles = rv_meta_get_obstacles(view->buffer, &obstacles);
  const gboolean has_space = rv_meta_get_free_space(view->buffer, &space);
  const Panel p = panel_of(view);
  (void)input;
  if ((!has_obstacles && !has_space) || p.height < 60)
    return RV_OK;
  if (!has_obstacles)
    memset(&obstacles, 0, sizeof obstacles);
  if (!has_space)
    memset(&space, 0, sizeof space);
  if (!rv_meta_get_lanes(view->buffer, &lanes))
    memset(&lanes, 0, sizeof lanes);
  return draw_all(&p, &obstacles, &space, &lanes);
}

const GstCudaAnnotateLayer gst_cuda_annotate_bird_layer = {
    .annotation = RV_META_OBSTACLES,
    .draw = draw,
};
