/* SPDX-License-Identifier: MIT */
/* scene_facts_cases.c: things, heights, free space and lines of the truth against its rasters
 * and the image. */
#include "scene/scene_facts_cases.h"
#include "rv_hd.h"
#include "rv_records.h"
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 200 };

/* The annotation's records are these structs (gst/annotations/annotations_tables.c). */
_Static_assert(sizeof(RvSceneObject) == 48 && sizeof(RvSceneLine) == 116, "size of a record");

typedef struct Frame {
  RvScene *scene;
  RvCamera camera;
  uint8_t gray[2 * WIDTH * HEIGHT], labels[WIDTH * HEIGHT];
  uint16_t disparity[WIDTH * HEIGHT], objects[WIDTH * HEIGHT], heights[WIDTH * HEIGHT];
  float free_space[WIDTH];
  RvSceneFacts facts;
} Frame;

static int render(Frame *f, uint64_t frame) {
  const RvPicture picture = {RV_PIXEL_GRAY8, 2 * WIDTH, HEIGHT, {f->gray}, {2 * WIDTH}};
  const RvSceneTruth truth = {
      .disparity = {f->disparity, 2 * WIDTH, WIDTH, HEIGHT, RV_U16},
      .labels = {f->labels, WIDTH, WIDTH, HEIGHT, RV_U8},
      .objects = {f->objects, 2 * WIDTH, WIDTH, HEIGHT, RV_U16},
      .heights = {f->heights, 2 * WIDTH, WIDTH, HEIGHT, RV_U16},
      .free_space = f->free_space,
      .facts = &f->facts,
  };
  return rv_scene_render(f->scene, frame, &picture, &truth) == RV_OK;
}

static Frame *open_scene(RvCheck *check, RvScenePattern pattern, uint32_t seed) {
  Frame *f = calloc(1, sizeof *f);
  RvSceneConfig config;
  rv_scene_config_init(&config);
  config.pattern = pattern;
  config.width = WIDTH;
  config.height = HEIGHT;
  config.seed = seed;
  config.frame_rate = 10;
  config.log = rvc_log(check);
  if (!f || rv_scene_new(&f->scene, &config) != RV_OK) {
    free(f);
    return NULL;
  }
  rv_scene_camera(f->scene, &f->camera);
  return f;
}

static void close_scene(Frame *f) {
  rv_scene_free(&f->scene);
  free(f);
}

static double depth_of(const Frame *f, int i) {
  return f->disparity[i] ? 16 * f->camera.focal * f->camera.baseline / f->disparity[i] : 1e9;
}

/* Each thing against the pixels with its id. */
static void check_objects(RvCheck *check, const char *name, const Frame *f, int pattern) {
  int listed = 0, labelled = 0;
  for (int k = 0; k < f->facts.objects; k++) {
    const RvSceneObject *o = &f->facts.object[k];
    unsigned pixels = 0;
    int left = WIDTH, right = -1, top = HEIGHT, bottom = -1;
    double nearest = 1e9;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
      if (f->objects[i] != o->id)
        continue;
      pixels++;
      left = rv_min(left, i % WIDTH), right = rv_max(right, i % WIDTH);
      top = rv_min(top, i / WIDTH), bottom = rv_max(bottom, i / WIDTH);
      nearest = depth_of(f, i) < nearest ? depth_of(f, i) : nearest;
      labelled += f->labels[i] != o->label;
    }
    listed += (int)pixels;
    rvc_true(check, name,
             pixels == o->pixels && left == o->x && top == o->y && right - left + 1 == o->w &&
                 bottom - top + 1 == o->h,
             "pattern %d: %x has %u pixels at %d %d, listed %u at %d %d", pattern, o->id, pixels,
             left, top, o->pixels, o->x, o->y);
    const double step = nearest * nearest / (16 * f->camera.focal * f->camera.baseline);
    rvc_true(check, name, fabs(nearest - (double)o->distance) <= step,
             "pattern %d: %x at %g m, listed %g", pattern, o->id, nearest, (double)o->distance);
    rvc_true(check, name, o->bottom >= -0.01f && o->top > o->bottom - 1e-6f && o->top < 12,
             "pattern %d: %x from %g to %g m", pattern, o->id, (double)o->bottom, (double)o->top);
  }
  int all = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    all += f->objects[i] != 0;
  rvc_true(check, name, all == listed && labelled == 0,
           "pattern %d: %d pixels of things, %d listed, %d with another label", pattern, all,
           listed, labelled);
}

/* The road has height 0, and free space is the nearest of what has height. */
static void check_heights(RvCheck *check, const char *name, const Frame *f, int pattern) {
  int off = 0, wrong = 0, columns = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    off += f->labels[i] == RV_LABEL_ROAD && abs(f->heights[i] - RV_SCENE_HEIGHT_ZERO) > 2;
    off += (f->labels[i] == RV_LABEL_SKY) != (f->heights[i] == 0);
  }
  for (int x = 0; x < WIDTH; x++) {
    double nearest = 1e9;
    for (int y = 0; y < HEIGHT; y++) {
      const int i = y * WIDTH + x, h = f->heights[i] - RV_SCENE_HEIGHT_ZERO;
      if (f->heights[i] && h >= 301 && h <= 2199 && depth_of(f, i) < nearest)
        nearest = depth_of(f, i);
    }
    const double step = nearest * nearest / (16 * f->camera.focal * f->camera.baseline);
    const double found = f->free_space[x] > 0 ? (double)f->free_space[x] : 1e9;
    wrong += nearest < 1e8 && found > nearest + step; /* the border of 1 mm may be nearer */
    columns += nearest < 1e8;
  }
  rvc_true(check, name, off == 0, "pattern %d: %d heights are wrong", pattern, off);
  rvc_true(check, name, wrong == 0 && columns > 10, "pattern %d: %d of %d columns are too far",
           pattern, wrong, columns);
}

/* Median of how much brighter the image is on a line than next to it, 6 to 14 m away, on the flat
 * road; -1 where it is not in the image. */
static double contrast(const Frame *f, const RvSceneLine *line) {
  const RvCamera *c = &f->camera;
  const double pitch = c->pitch * acos(-1) / 180;
  double found[16];
  int count = 0;
  for (int k = 1; k <= 5; k++) {
    const double z = RV_SCENE_LINE_FIRST + k * RV_SCENE_LINE_STEP, x = (double)line->x[k];
    /* Z is along the axis, which looks down: the ground is h / cos - Z tan below it */
    const double below = c->height / cos(pitch) - z * tan(pitch);
    const int u = (int)floor(c->cx + c->focal * x / z + 0.5);
    const int v = (int)floor(c->cy + c->focal * below / z + 0.5), aside = (int)(c->focal * 0.4 / z);
    if (isnan(x) || u - aside < 0 || u + aside >= WIDTH || v < 0 || v >= HEIGHT)
      continue;
    const uint8_t *row = f->gray + 2 * WIDTH * v;
    found[count++] = row[u] - (row[u - aside] + row[u + aside]) / 2.0;
  }
  for (int i = 1; i < count; i++)
    for (int k = i; k > 0 && found[k] < found[k - 1]; k--) {
      const double swap = found[k];
      found[k] = found[k - 1], found[k - 1] = swap;
    }
  return count >= 3 ? found[count / 2] : -1;
}

static void check_lines(RvCheck *check, const char *name, const Frame *f, int pattern) {
  int own = 0;
  for (int k = 0; k < f->facts.lines; k++) {
    const RvSceneLine *line = &f->facts.line[k];
    own += abs(line->position) == 1;
    const double value = line->kind == RV_LANE_LINE_SOLID && pattern != RV_SCENE_SLANTED_STREET
                             ? contrast(f, line)
                             : -1;
    rvc_true(check, name, value == -1 || value > 8, "pattern %d: line at %g m has contrast %g",
             pattern, (double)line->x[2], value);
    const double z = 16, at = (double)(line->offset + line->heading * 16) +
                              (double)line->curvature * z * z / 2;
    rvc_true(check, name,
             pattern == RV_SCENE_SLANTED_STREET || isnan(line->x[6]) ||
                 fabs(at - (double)line->x[6]) < 0.4,
             "pattern %d: the parabola is at %g m, the line at %g", pattern, at,
             (double)line->x[6]);
  }
  rvc_true(check, name, own == 2, "pattern %d: %d borders of the own lane", pattern, own);
}

/* The car ahead moves as its velocity says. */
static void check_motion(RvCheck *check, const char *name, Frame *f, uint16_t id) {
  double z[2] = {0}, speed = 0;
  for (int k = 0; k < 2 && render(f, 40 + 2 * (uint64_t)k); k++)
    for (int i = 0; i < f->facts.objects; i++)
      if (f->facts.object[i].id == id) {
        z[k] = (double)f->facts.object[i].distance;
        speed += (double)f->facts.object[i].velocity_z / 2;
      }
  rvc_true(check, name, z[0] > 0 && z[1] > 0 && fabs((z[1] - z[0]) / 0.2 - speed) < 0.3,
           "%x from %g to %g m at %g m/s", id, z[0], z[1], speed);
}

static void check_cases(RvCheck *check, const char *name, RvRandom *random) {
  for (int pattern = 0; pattern < RV_SCENE_PATTERNS; pattern++) {
    const int is_street = pattern == RV_SCENE_STREET || pattern == RV_SCENE_SLANTED_STREET;
    const int is_bent = pattern == RV_SCENE_HIGHWAY || pattern == RV_SCENE_COURSE;
    Frame *f = open_scene(check, (RvScenePattern)pattern, 3);
    if (!rvc_true(check, name, f != NULL, "no scene"))
      return;
    for (int k = 0; k < (rvc_small(check) ? 1 : 3) && render(f, 70u * (unsigned)k); k++) {
      if (pattern == RV_SCENE_NOISE || pattern == RV_SCENE_PLANES) {
        int values = f->facts.objects + f->facts.lines;
        for (int i = 0; i < WIDTH * HEIGHT; i++)
          values += f->objects[i] || f->heights[i] || f->free_space[i % WIDTH] != 0;
        rvc_true(check, name, values == 0, "pattern %d: %d facts without a ground", pattern,
                 values);
        continue;
      }
      check_objects(check, name, f, pattern);
      if (pattern != RV_SCENE_OFFROAD)
        check_heights(check, name, f, pattern);
      if (is_street || is_bent)
        check_lines(check, name, f, pattern);
      rvc_true(check, name, (f->facts.objects > 0) == (is_street || is_bent),
               "pattern %d: %d things", pattern, f->facts.objects);
    }
    if (pattern == RV_SCENE_STREET || pattern == RV_SCENE_HIGHWAY)
      check_motion(check, name, f, 1u << 12);
    close_scene(f);
  }
}

/* Names of labels: all different, none for others. */
static void check_names(RvCheck *check, const char *name, RvRandom *random) {
  (void)random;
  const char *const none = rv_scene_label_text(RV_LABELS);
  rvc_true(check, name, strcmp(none, "unknown") == 0, "label %d: %s", RV_LABELS, none);
  for (int i = 0; i < RV_LABELS; i++)
    for (int k = i + 1; k <= RV_LABELS; k++)
      rvc_true(check, name,
               strcmp(rv_scene_label_text((RvSceneLabel)i), rv_scene_label_text((RvSceneLabel)k)) !=
                   0,
               "labels %d and %d have one name", i, k);
}

RVC_CASES(rv_scene_facts_cases, RVC_CASE("scene/facts", check_cases, 0),
          RVC_CASE("scene/names", check_names, 0));
