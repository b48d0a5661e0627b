/* SPDX-License-Identifier: MIT */
/* road_eval.c: evaluates road detection against ground-truth masks, many settings on the same
 * frames. road_eval.sh supplies the images and makes tables and plots of the output.
 *
 *   road_eval (--offroad FRAMES | --frames FILE) [--seed N] [--speed M/S] [--rate HZ]
 *             [--scene NAME=VALUE]... [--rows N] [--event NAME] [--save FILE] [--truths FILE] [--masks FILE]
 *             [--run [NAME=VALUE]...]...
 *
 * --offroad   renders the dirt track of cuda/scene, 640x480, and matches its pairs
 * --scene     one parameter of cuda/scene: grass-height=0, pattern=street ...
 * --rows      keeps only the first rows, as above the hood of a vehicle
 * --event     changes the rendered pairs before they are matched: vehicle, dust, light, mud or
 *             shadow (road_events.h)
 * --frames    reads frames (- is stdin): a line "rvframes WIDTH HEIGHT KIND FOCAL CX CY DOFFS
 *             BASELINE", then per frame the left image (R, G, B and a spare byte per pixel), with
 *             KIND pair the right image likewise, with KIND disparity u16 in 1/16 px (0 = invalid),
 *             then the mask, one byte per pixel: 255 = road, 0 = not road, others are not scored
 * --run       one setting: parameters of road detection, or `alone=1` (the library is cleared
 *             before each frame); without any: the defaults
 * --save      writes the frames, with KIND disparity
 * --truths    writes the ground-truth masks, --masks those of all runs: one byte per pixel,
 *             255 = road
 *
 * Prints "run I MS" (ms per frame), then one line per frame: I, frame, pixels TP FP FN TN, seeds,
 * models, samples that updated a model, new models. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "road/road.h"
#include "road_events.h"
#include "rv.h"
#include "scene/scene.h"
#include "sgm/sgm.h"

typedef struct Frame {
  RvPlane color, disparity, truth;
} Frame;

typedef struct Frames {
  RvCamera camera;
  int width, height, count, room;
  Frame *frame;
} Frames;

static void print_line(void *user, const char *text) {
  fprintf(stderr, "%s: %s\n", (const char *)user, text);
}
static const RvLog log_to_stderr = {print_line, (void *)"road_eval"};

static int fail(const char *what, const char *which) {
  fprintf(stderr, "road_eval: %s %s\n", what, which);
  return 0;
}

typedef struct Options {
  const char *frames, *save, *truths, *masks;
  int offroad; /* frames */
  RvSceneConfig scene;
  RoadEvent event;
  int rows; /* 0 = all */
} Options;

/* --- Frames ----------------------------------------------------------------------------------- */

static int new_plane(RvPlane *plane, int width, int height, RvFormat format) {
  const size_t stride = (size_t)width * rv_format_bytes(format);
  *plane = (RvPlane){malloc((size_t)height * stride), (ptrdiff_t)stride, width, height, format};
  return plane->data || fail("out of memory for", "a frame");
}

static Frame *new_frame(Frames *frames) {
  if (frames->count == frames->room) {
    const int room = frames->room ? 2 * frames->room : 16;
    Frame *const more = realloc(frames->frame, (size_t)room * sizeof *more);
    if (!more)
      return NULL;
    frames->frame = more;
    frames->room = room;
  }
  Frame *const frame = &frames->frame[frames->count];
  memset(frame, 0, sizeof *frame);
  frames->count++;
  const int done = new_plane(&frame->color, frames->width, frames->height, RV_U32) &&
                   new_plane(&frame->disparity, frames->width, frames->height, RV_U16) &&
                   new_plane(&frame->truth, frames->width, frames->height, RV_U8);
  return done ? frame : NULL;
}

static void free_frames(Frames *frames) {
  for (int i = 0; i < frames->count; i++) {
    free(frames->frame[i].color.data);
    free(frames->frame[i].disparity.data);
    free(frames->frame[i].truth.data);
  }
  free(frames->frame);
}

/* As cudasgm does. */
static uint8_t gray(uint32_t rgb) {
  return (uint8_t)((77 * (rgb & 255) + 150 * (rgb >> 8 & 255) + 29 * (rgb >> 16 & 255) + 128) >> 8);
}

/* Matches stereo pairs with the defaults of sgm.h. */
typedef struct Matcher {
  RvSgm *sgm;
  RvPlane left, right;
} Matcher;

static int new_matcher(Matcher *matcher, int width, int height) {
  RvSgmConfig config;
  rv_sgm_config_init(&config);
  config.width = width;
  config.height = height;
  config.log = log_to_stderr;
  return new_plane(&matcher->left, width, height, RV_U8) &&
         new_plane(&matcher->right, width, height, RV_U8) &&
         rv_sgm_new(&matcher->sgm, &config, RV_CPU) == RV_OK;
}

static void free_matcher(Matcher *matcher) {
  rv_sgm_free(&matcher->sgm);
  free(matcher->left.data);
  free(matcher->right.data);
}

static int match(Matcher *matcher, const uint32_t *left, const uint32_t *right,
                 RvPlane *disparity) {
  uint8_t *const l = matcher->left.data, *const r = matcher->right.data;
  for (int i = 0; i < disparity->width * disparity->height; i++) {
    l[i] = gray(left[i]);
    r[i] = gray(right[i]);
  }
  return rv_sgm_run(matcher->sgm, &matcher->left, &matcher->right, disparity, NULL, NULL) == RV_OK;
}

/* --- The dirt track --------------------------------------------------------------------------- */

/* B, G, R, x of the frame-packed pair -> R, G, B of both views. */
static void unpack(const uint8_t *packed, int width, int height, uint32_t *left, uint32_t *right) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < 2 * width; x++, packed += 4) {
      const uint32_t rgb = packed[2] | (uint32_t)packed[1] << 8 | (uint32_t)packed[0] << 16;
      *(x < width ? &left[y * width + x] : &right[y * width + x - width]) = rgb;
    }
}

/* What the scene renders; the frames are its first rows. */
typedef struct Rendered {
  uint8_t *packed;
  uint32_t *right;
  RvPlane road, disparity;
} Rendered;

static int new_rendered(Rendered *r, int width, int height) {
  r->packed = malloc((size_t)8 * (size_t)width * (size_t)height);
  r->right = malloc((size_t)4 * (size_t)width * (size_t)height);
  return r->packed && r->right && new_plane(&r->road, width, height, RV_U8) &&
         new_plane(&r->disparity, width, height, RV_U16);
}

static void free_rendered(Rendered *r) {
  free(r->disparity.data);
  free(r->road.data);
  free(r->right);
  free(r->packed);
}

static int render(Frames *frames, const Options *options, RvScene *scene, Rendered *r,
                  Matcher *matcher) {
  const RvSceneConfig *const c = &options->scene;
  const int at = frames->count, width = frames->width, height = frames->height;
  Frame *const frame = new_frame(frames);
  const RvPicture picture = {RV_PIXEL_BGRX, 2 * width, c->height, {r->packed}, {8 * width}};
  const RvSceneTruth truth = {.road = r->road, .disparity = r->disparity};
  if (!frame || rv_scene_render(scene, (uint64_t)at, &picture, &truth) != RV_OK)
    return 0;
  unpack(r->packed, width, height, frame->color.data, r->right);
  memcpy(frame->truth.data, r->road.data, (size_t)width * (size_t)height);
  RvPlane disparity = r->disparity;
  disparity.height = height;
  const double travel = c->speed * at / c->frame_rate;
  const RoadEventFrame changed = {
      at,       options->offroad, travel,   &frames->camera, frame->color.data,
      r->right, frame->truth,     disparity};
  return road_event_apply(options->event, &changed) &&
         match(matcher, frame->color.data, r->right, &frame->disparity);
}

static int render_frames(Frames *frames, const Options *options) {
  RvSceneConfig config = options->scene;
  config.log = log_to_stderr;
  frames->width = config.width;
  frames->height = options->rows ? options->rows : config.height;
  RvScene *scene = NULL;
  Matcher matcher = {0};
  Rendered rendered = {0};
  int done = frames->height > 0 && frames->height <= config.height &&
             rv_scene_new(&scene, &config) == RV_OK &&
             new_rendered(&rendered, config.width, config.height) &&
             new_matcher(&matcher, frames->width, frames->height);
  if (done) {
    rv_scene_camera(scene, &frames->camera);
    while (done && frames->count < options->offroad)
      done = render(frames, options, scene, &rendered, &matcher);
  }
  free_rendered(&rendered);
  free_matcher(&matcher);
  rv_scene_free(&scene);
  return done;
}

/* --- Frames from a file ----------------------------------------------------------------------- */

static int read_all(Frames *frames, FILE *file, int pairs, const char *path) {
  const size_t pixels = (size_t)frames->width * (size_t)frames->height;
  uint32_t *const right = malloc(4 * pixels);
  Matcher matcher = {0};
  int done = right && (!pairs || new_matcher(&matcher, frames->width, frames->height));
  for (int c = fgetc(file); done && c != EOF; c = fgetc(file)) {
    ungetc(c, file);
    Frame *const frame = new_frame(frames);
    done = frame && fread(frame->color.data, 4, pixels, file) == pixels &&
           (pairs ? fread(right, 4, pixels, file)
                  : fread(frame->disparity.data, 2, pixels, file)) == pixels &&
           fread(frame->truth.data, 1, pixels, file) == pixels;
    if (!done)
      fail("the last frame is truncated in", path);
    else if (pairs)
      done = match(&matcher, frame->color.data, right, &frame->disparity);
  }
  free_matcher(&matcher);
  free(right);
  return done;
}

static int read_frames(Frames *frames, const char *path) {
  FILE *const file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
  if (!file)
    return fail("cannot open", path);
  char kind[16], end = 0;
  RvCamera *const camera = &frames->camera;
  const int fields = fscanf(file, "rvframes %d %d %15s %lf %lf %lf %lf %lf%c", &frames->width,
                            &frames->height, kind, &camera->focal, &camera->cx, &camera->cy,
                            &camera->doffs, &camera->baseline, &end);
  const int good = fields == 9 && end == '\n' && frames->width > 0 && frames->height > 0 &&
                   frames->width <= RV_MAX_SIDE && frames->height <= RV_MAX_SIDE &&
                   (!strcmp(kind, "pair") || !strcmp(kind, "disparity"));
  const int done =
      good ? read_all(frames, file, !strcmp(kind, "pair"), path)
           : fail("no line 'rvframes WIDTH HEIGHT KIND FOCAL ...' at the start of", path);
  if (file != stdin)
    fclose(file);
  return done;
}

/* Only the ground-truth masks, or complete frames as --frames reads them. */
static int save_frames(const Frames *frames, const char *path, int only_truth) {
  FILE *const file = fopen(path, "wb");
  if (!file)
    return fail("cannot write", path);
  const RvCamera *const camera = &frames->camera;
  const size_t pixels = (size_t)frames->width * (size_t)frames->height;
  if (!only_truth)
    fprintf(file, "rvframes %d %d disparity %.17g %.17g %.17g %.17g %.17g\n", frames->width,
            frames->height, camera->focal, camera->cx, camera->cy, camera->doffs, camera->baseline);
  for (int i = 0; i < frames->count; i++) {
    const Frame *const frame = &frames->frame[i];
    if (!only_truth) {
      fwrite(frame->color.data, 4, pixels, file);
      fwrite(frame->disparity.data, 2, pixels, file);
    }
    fwrite(frame->truth.data, 1, pixels, file);
  }
  const int bad = ferror(file);
  return (fclose(file) == 0 && !bad) || fail("cannot write all of", path);
}

/* --- Settings --------------------------------------------------------------------------------- */

typedef struct Setting {
  RvRoadConfig config;
  int alone; /* the library is cleared before each frame */
} Setting;

/* Sets the parameter that `text`, NAME=VALUE, names. */
static int set_parameter(const RvParams *params, void *config, const char *text) {
  char name[64];
  const char *const equals = strchr(text, '=');
  const size_t length = equals ? (size_t)(equals - text) : 0;
  if (length == 0 || length >= sizeof name)
    return fail("expected NAME=VALUE, not", text);
  memcpy(name, text, length);
  name[length] = 0;
  return rv_params_set(params, config, name, equals + 1) == RV_OK;
}

static int set(Setting *setting, const char *text) {
  if (!strncmp(text, "alone=", 6))
    return setting->alone = strcmp(text + 6, "0") != 0, 1;
  return set_parameter(rv_road_params(), &setting->config, text);
}

/* --- Runs ------------------------------------------------------------------------------------- */

typedef struct Count {
  int hit, extra, missed, clear; /* px: TP, FP, FN, TN */
} Count;

static Count count(const RvPlane *mask, const RvPlane *truth, int patch, FILE *masks) {
  Count found = {0, 0, 0, 0};
  const uint8_t *const truths = truth->data, *const patches = mask->data;
  for (int y = 0; y < truth->height; y++)
    for (int x = 0; x < truth->width; x++) {
      const int column = x / patch, row = y / patch; /* px of incomplete patches are not road */
      const int inside = column < mask->width && row < mask->height;
      const uint8_t road = inside ? patches[row * mask->stride + column] : 0;
      if (masks)
        fputc(road, masks);
      const uint8_t real = truths[y * truth->stride + x];
      if (real == 255)
        (*(road ? &found.hit : &found.missed))++;
      else if (real == 0)
        (*(road ? &found.extra : &found.clear))++;
    }
  return found;
}

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

typedef struct Line {
  Count count;
  RvRoadReport report;
} Line;

static int run_frames(const Frames *frames, const Setting *setting, RvRoad *road, RvGround *ground,
                      RvPlane *mask, Line *lines, double *ms, FILE *masks) {
  RvGroundSurface surface;
  *ms = 0.0;
  for (int i = 0; i < frames->count; i++) {
    const Frame *const frame = &frames->frame[i];
    const RvRoadOutput output = {.mask = *mask, .report = &lines[i].report};
    if (setting->alone &&
        (rv_road_reset(road, NULL) != RV_OK || rv_ground_reset(ground, NULL) != RV_OK))
      return 0;
    const double start = now_ms();
    if (rv_ground_run(ground, &frame->disparity, &surface, NULL) != RV_OK ||
        rv_road_run_on(road, &frame->color, &frame->disparity, &surface, &output, NULL) != RV_OK)
      return 0;
    *ms += (now_ms() - start) / frames->count;
    lines[i].count = count(mask, &frame->truth, setting->config.patch_size, masks);
  }
  return 1;
}

static int run(const Frames *frames, Setting *setting, int number, FILE *masks) {
  RvRoadConfig *const config = &setting->config;
  config->width = frames->width;
  config->height = frames->height;
  config->camera = frames->camera;
  config->log = log_to_stderr;
  int columns, rows;
  rv_road_size(config, &columns, &rows);
  RvRoad *road = NULL;
  RvGround *ground = NULL;
  RvGroundConfig ground_config;
  rv_ground_config_init(&ground_config);
  ground_config.width = frames->width;
  ground_config.height = frames->height;
  ground_config.camera = frames->camera;
  ground_config.camera.height = ground_config.camera.pitch = 0; /* it is estimated */
  ground_config.log = log_to_stderr;
  if (rv_road_new(&road, config, RV_CPU) != RV_OK ||
      rv_ground_new(&ground, &ground_config, RV_CPU) != RV_OK) {
    rv_road_free(&road);
    return 0;
  }
  RvPlane mask;
  Line *const lines = calloc((size_t)frames->count, sizeof *lines);
  double ms;
  const int done = new_plane(&mask, columns, rows, RV_U8) && lines &&
                   run_frames(frames, setting, road, ground, &mask, lines, &ms, masks);
  if (done) {
    printf("run %d %.3f\n", number, ms);
    for (int i = 0; i < frames->count; i++)
      printf("%d %d %d %d %d %d %d %d %d %d\n", number, i, lines[i].count.hit, lines[i].count.extra,
             lines[i].count.missed, lines[i].count.clear, lines[i].report.seeds,
             lines[i].report.models, lines[i].report.samples_matched, lines[i].report.models_added);
    fflush(stdout);
  }
  free(mask.data);
  free(lines);
  rv_ground_free(&ground);
  rv_road_free(&road);
  return done;
}

/* argv from the first --run on. */
static int run_all(const Frames *frames, int argc, char **argv, const char *masks_path) {
  FILE *const masks = masks_path ? fopen(masks_path, "wb") : NULL;
  if (masks_path && !masks)
    return fail("cannot write", masks_path);
  int done = 1, at = 0, number = 0;
  do {
    Setting setting = {.alone = 0};
    rv_road_config_init(&setting.config);
    setting.config.log = log_to_stderr;
    for (at++; done && at < argc && strcmp(argv[at], "--run"); at++)
      done = set(&setting, argv[at]);
    done = done && run(frames, &setting, number++, masks);
  } while (done && at < argc);
  if (masks && (fclose(masks) || !done))
    done = 0;
  return done;
}

/* Index of the first --run (or argc), 0 for an invalid command line. */
static int read_options(Options *options, int argc, char **argv) {
  int at = 1;
  for (; at + 1 < argc && strcmp(argv[at], "--run"); at += 2) {
    const char *const name = argv[at], *const value = argv[at + 1];
    if (!strcmp(name, "--offroad"))
      options->offroad = atoi(value);
    else if (!strcmp(name, "--frames"))
      options->frames = value;
    else if (!strcmp(name, "--save"))
      options->save = value;
    else if (!strcmp(name, "--truths"))
      options->truths = value;
    else if (!strcmp(name, "--masks"))
      options->masks = value;
    else if (!strcmp(name, "--seed"))
      options->scene.seed = (uint32_t)strtoul(value, NULL, 10);
    else if (!strcmp(name, "--speed"))
      options->scene.speed = atof(value);
    else if (!strcmp(name, "--rate"))
      options->scene.frame_rate = atof(value);
    else if (!strcmp(name, "--rows"))
      options->rows = atoi(value);
    else if (!strcmp(name, "--event"))
      options->event = road_event_of(value);
    else if (strcmp(name, "--scene") || !set_parameter(rv_scene_params(), &options->scene, value))
      return 0;
    if (!strcmp(name, "--event") && options->event == ROAD_EVENT_NONE)
      return 0;
  }
  const int one = (options->offroad > 0) != (options->frames != NULL);
  return one && (at == argc || !strcmp(argv[at], "--run")) ? at : 0;
}

int main(int argc, char **argv) {
  Options options = {.event = ROAD_EVENT_NONE};
  rv_scene_config_init(&options.scene);
  options.scene.pattern = RV_SCENE_OFFROAD;
  options.scene.log = log_to_stderr;
  const int at = read_options(&options, argc, argv);
  if (!at) {
    fprintf(stderr,
            "usage: road_eval (--offroad FRAMES | --frames FILE) [--seed N] [--speed M/S] "
            "[--rate HZ] [--scene NAME=VALUE]... [--rows N] [--event NAME] [--save FILE] [--truths "
            "FILE] [--masks FILE] [--run [NAME=VALUE]...]...\n");
    return 2;
  }
  Frames frames = {.count = 0};
  int done =
      options.frames ? read_frames(&frames, options.frames) : render_frames(&frames, &options);
  done = done && frames.count > 0 && (!options.save || save_frames(&frames, options.save, 0)) &&
         (!options.truths || save_frames(&frames, options.truths, 1)) &&
         run_all(&frames, argc - at, argv + at, options.masks);
  free_frames(&frames);
  return done ? 0 : 1;
}
