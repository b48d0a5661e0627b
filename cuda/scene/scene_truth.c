/* SPDX-License-Identifier: MIT */
/* scene_truth.c: ground truth beyond single pixels: things, heights, free space, lines of paint.
 * Made of the first hits of the left view, on one thread, in the order of the pixels. */
#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

#define FREE_LOW 0.3 /* m above the ground */
#define FREE_HIGH 2.2
#define LINE_STEP 0.5 /* m of street */

/* What the pixels of a thing show. */
typedef struct Extent {
  int left, right, top, bottom;
  uint32_t pixels;
  double near, x0, x1, y0, y1; /* m */
} Extent;

static void extend(Extent *e, int x, int y, double t, double across, double height) {
  if (e->pixels++ == 0) {
    *e = (Extent){x, x, y, y, 1, t, across, across, height, height};
    return;
  }
  e->left = rv_min(e->left, x), e->right = rv_max(e->right, x);
  e->bottom = y;
  e->near = t < e->near ? t : e->near;
  e->x0 = across < e->x0 ? across : e->x0, e->x1 = across > e->x1 ? across : e->x1;
  e->y0 = height < e->y0 ? height : e->y0, e->y1 = height > e->y1 ? height : e->y1;
}

static int index_of(const World *world, uint16_t thing) {
  for (int i = 0; thing && i < world->things; i++)
    if (world->thing[i].id == thing)
      return i;
  return -1;
}

static void row_of(const RvScene *scene, const RvSceneTruth *truth, int y, const int *thing_of,
                   Extent *extents) {
  const World *world = scene->work->world;
  const RvCamera *camera = &scene->plan.camera;
  const int width = scene->plan.config.width;
  const int has_ground = scene->plan.config.pattern != RV_SCENE_PLANES;
  const uint32_t *ids = scene->work->ids + (size_t)y * (size_t)width;
  const float *depths = scene->work->depths + (size_t)y * (size_t)width;
  uint16_t *objects =
      truth->objects.data
          ? (uint16_t *)(void *)((char *)truth->objects.data + y * truth->objects.stride)
          : NULL;
  uint16_t *heights =
      truth->heights.data
          ? (uint16_t *)(void *)((char *)truth->heights.data + y * truth->heights.stride)
          : NULL;
  const Vec down = vec_mul(world->down, (y - camera->cy) / camera->focal);
  for (int x = 0; x < width; x++) {
    const int object = (int)(ids[x] >> 10) - 2, is_sky = object == -1 || !has_ground;
    const int thing = object >= 0 ? thing_of[object] : -1;
    const double t = (double)depths[x], u = (x - camera->cx) / camera->focal;
    double height = 0.0;
    if (!is_sky) {
      const Vec dir = vec_add(vec_add(vec_mul(world->right, u), down), world->ahead);
      const Vec p = vec_add(world->view[0], vec_mul(dir, t));
      height = p.y - scene_ground_y(world, p.x, p.z);
    }
    if (objects)
      objects[x] = thing < 0 ? 0 : world->thing[thing].id;
    if (heights)
      heights[x] =
          (uint16_t)(is_sky ? 0
                            : rv_clamp((int)floor(height * 1000.0 + 0.5) + RV_SCENE_HEIGHT_ZERO, 1,
                                       UINT16_MAX));
    if (truth->free_space && !is_sky && height >= FREE_LOW && height <= FREE_HIGH &&
        (truth->free_space[x] == 0.0f || depths[x] < truth->free_space[x]))
      truth->free_space[x] = depths[x];
    if (thing >= 0)
      extend(&extents[thing], x, y, t, u * t, height);
  }
}

static void list_objects(const RvScene *scene, const Extent *extents, RvSceneFacts *facts) {
  const World *world = scene->work->world;
  const double speed = scene->plan.config.speed;
  for (int i = 0; i < world->things; i++) {
    const Extent *e = &extents[i];
    const Thing *thing = &world->thing[i];
    if (e->pixels == 0 || facts->objects >= RV_SCENE_OBJECTS)
      continue;
    facts->object[facts->objects++] =
        (RvSceneObject){.id = thing->id,
                        .label = (uint8_t)thing->label,
                        .x = (uint16_t)e->left,
                        .y = (uint16_t)e->top,
                        .w = (uint16_t)(e->right - e->left + 1),
                        .h = (uint16_t)(e->bottom - e->top + 1),
                        .pixels = e->pixels,
                        .distance = (float)e->near,
                        .lateral = (float)((e->x0 + e->x1) / 2),
                        .width = (float)(e->x1 - e->x0),
                        .bottom = (float)e->y0,
                        .top = (float)e->y1,
                        .velocity_z = (float)((thing->ahead - 1.0) * speed),
                        .velocity_x = (float)((thing->right - world->drift) * speed)};
  }
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* The position of a line at z m of street in the left camera: X and Z. */
static void place(const World *world, const Mark *mark, double z, double *x, double *depth) {
  const double exit = mark->exits ? scene_profile(world->exit, z) : 0.0;
  const double at = (world->bent ? scene_profile(world->track, z) : 0.0) + mark->x + exit;
  const Vec p = vec_sub(vec(at, scene_ground_y(world, at, z), z), world->view[0]);
  *x = vec_dot(p, world->right);
  *depth = vec_dot(p, world->ahead);
}

/* X of a line where it is `depth` m away; NAN where it does not reach. */
static double line_x(const World *world, const Mark *mark, double depth) {
  double x0 = 0.0, z0 = 1e9, x1, z1;
  for (double z = -6.0; z < 70.0; z += LINE_STEP) {
    place(world, mark, z, &x1, &z1);
    if (z0 <= depth && z1 > depth)
      return z < mark->from || z > mark->to ? (double)NAN
                                            : x0 + (depth - z0) / (z1 - z0) * (x1 - x0);
    x0 = x1, z0 = z1;
  }
  return (double)NAN;
}

static void describe(const World *world, const Mark *mark, RvSceneLine *line) {
  Mark whole = *mark;
  memset(line, 0, sizeof *line);
  for (int k = 0; k < RV_SCENE_LINE_POINTS; k++)
    line->x[k] = (float)line_x(world, mark, RV_SCENE_LINE_FIRST + k * RV_SCENE_LINE_STEP);
  whole.from = -1e9, whole.to = 1e9;
  const double a = line_x(world, &whole, 0.0), b = line_x(world, &whole, 10.0);
  const double c = line_x(world, &whole, 20.0), curvature = (c - 2 * b + a) / 100;
  line->offset = (float)a;
  line->curvature = (float)curvature;
  line->heading = (float)((b - a) / 10 - 5 * curvature);
  line->width = (float)(2 * mark->half);
  line->kind = (uint8_t)mark->kind;
  line->color = (uint8_t)mark->color;
}

/* The lines of the streets, whose paint is a function of the position (scene_lanes_ground.h). */
static int street_marks(Mark *marks) {
  for (int i = -1; i <= 1; i++)
    marks[i + 1] = (Mark){.x = 3.51 * i,
                          .half = 0.06,
                          .from = -1e9,
                          .to = 1e9,
                          .kind = i ? RV_LANE_LINE_SOLID : RV_LANE_LINE_DASHED,
                          .color = RV_LANE_COLOR_WHITE};
  return 3;
}

/* Own lane and neighbors, by the position at 8 m; two lines of a double one are one border. */
static void assign(RvSceneFacts *facts) {
  const int at = (int)((8.0 - RV_SCENE_LINE_FIRST) / RV_SCENE_LINE_STEP);
  for (int side = -1; side <= 1; side += 2) {
    double last = 0.0;
    for (int rank = 1; rank <= 2; rank++) {
      int best = -1;
      double nearest = 1e9;
      for (int i = 0; i < facts->lines; i++) {
        const double x = side * (double)facts->line[i].x[at];
        if (x > last && x < nearest) { /* false for NAN */
          nearest = x;
          best = i;
        }
      }
      if (best < 0)
        break;
      facts->line[best].position = (int8_t)(side * rank);
      last = nearest + 1.0;
    }
  }
}

static void list_lines(const RvScene *scene, RvSceneFacts *facts) {
  const World *world = scene->work->world;
  const RvScenePattern pattern = scene->plan.config.pattern;
  Mark street[3];
  const int is_street = pattern == RV_SCENE_STREET || pattern == RV_SCENE_SLANTED_STREET;
  const int count = is_street ? street_marks(street) : world->bent ? world->marks : 0;
  const Mark *marks = is_street ? street : world->mark;
  for (int i = 0; i < count && facts->lines < RV_SCENE_LINES; i++) {
    RvSceneLine *line = &facts->line[facts->lines];
    describe(world, &marks[i], line);
    int points = 0;
    for (int k = 0; k < RV_SCENE_LINE_POINTS; k++)
      points += !isnan(line->x[k]);
    facts->lines += points > 0;
  }
  assign(facts);
}

void scene_truth(const RvScene *scene, const RvSceneTruth *truth) {
  const World *world = scene->work->world;
  int thing_of[OBJECTS_MAX];
  Extent extents[THINGS];
  if (!truth->objects.data && !truth->heights.data && !truth->free_space && !truth->facts)
    return;
  for (int i = 0; i < world->objects; i++)
    thing_of[i] = index_of(world, world->object[i].thing);
  memset(extents, 0, sizeof extents);
  if (truth->free_space)
    memset(truth->free_space, 0, (size_t)scene->plan.config.width * sizeof *truth->free_space);
  for (int y = 0; y < scene->plan.config.height; y++)
    row_of(scene, truth, y, thing_of, extents);
  if (!truth->facts)
    return;
  memset(truth->facts, 0, sizeof *truth->facts);
  list_objects(scene, extents, truth->facts);
  list_lines(scene, truth->facts);
}
