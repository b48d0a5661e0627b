/* SPDX-License-Identifier: MIT */
/* scene.c: the object, its checks and its camera, and the passes of one frame. */
#include "scene/scene_internal.h"
#include "rv_pixels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define CAMERA_HEIGHT 1.5 /* m */
#define CAMERA_PITCH 2.0  /* degrees */
#define CLEARANCE 1.95    /* m: nothing stands nearer than this beside the camera */
#define BASELINE_MAX 0.8  /* m */
#define FARTHEST 1e12     /* m: depth of the sky */

const char *rv_scene_label_text(RvSceneLabel label) {
  static const char *const texts[RV_LABELS] = {"road", "sidewalk", "grass", "building", "wall",
                                               "car",  "pole",     "tree",  "sky"};
  return (unsigned)label < RV_LABELS ? texts[label] : "unknown";
}

void rv_scene_config_init(RvSceneConfig *config) {
  memset(config, 0, sizeof *config);
  config->pattern = RV_SCENE_STREET;
  config->width = RV_SCENE_WIDTH_DEFAULT;
  config->height = RV_SCENE_HEIGHT_DEFAULT;
  config->seed = RV_SCENE_SEED_DEFAULT;
  config->noise = RV_SCENE_NOISE_DEFAULT;
  config->speed = RV_SCENE_SPEED_DEFAULT;
  config->frame_rate = RV_SCENE_FRAME_RATE_DEFAULT;
  config->max_disparity = RV_SCENE_MAX_DISPARITY_DEFAULT;
}

RvStatus rv_scene_config_check(const RvSceneConfig *c) {
  if (!c)
    return RV_ERR_ARG;
  const RvLog *log = &c->log;
  RV_REQUIRE(log, (unsigned)c->pattern < RV_SCENE_PATTERNS, "scene: there is no pattern %d",
             (int)c->pattern);
  RV_REQUIRE(log,
             c->width >= RV_SCENE_SIDE_MIN && c->width <= RV_MAX_SIDE / 2 &&
                 c->height >= RV_SCENE_SIDE_MIN && c->height <= RV_MAX_SIDE,
             "scene: one eye is %d x %d px, it must be %d..%d wide and %d..%d high", c->width,
             c->height, RV_SCENE_SIDE_MIN, RV_MAX_SIDE / 2, RV_SCENE_SIDE_MIN, RV_MAX_SIDE);
  RV_REQUIRE(log, c->noise >= 0.0 && c->noise <= RV_SCENE_NOISE_MAX,
             "scene: noise is %g, it must be 0..%g", c->noise, RV_SCENE_NOISE_MAX);
  RV_REQUIRE(log, c->speed >= -RV_SCENE_SPEED_MAX && c->speed <= RV_SCENE_SPEED_MAX,
             "scene: speed is %g m/s, it must be %g..%g", c->speed, -RV_SCENE_SPEED_MAX,
             RV_SCENE_SPEED_MAX);
  RV_REQUIRE(log, c->frame_rate > 0.0 && c->frame_rate <= RV_SCENE_FRAME_RATE_MAX,
             "scene: frame rate is %g, it must be above 0 and at most %g", c->frame_rate,
             RV_SCENE_FRAME_RATE_MAX);
  RV_REQUIRE(log,
             c->max_disparity >= RV_SCENE_MAX_DISPARITY_MIN &&
                 c->max_disparity <= RV_SCENE_MAX_DISPARITY_MAX,
             "scene: max disparity is %d px, it must be %d..%d", c->max_disparity,
             RV_SCENE_MAX_DISPARITY_MIN, RV_SCENE_MAX_DISPARITY_MAX);
  RV_REQUIRE(log, c->threads >= 0, "scene: threads is %d, it must not be negative", c->threads);
  return RV_OK;
}

/* The baseline follows from the largest disparity: the nearest ground, at the bottom of the
 * picture, and the nearest cars beside the camera get nine tenths of it (eight on uneven ground).
 */
static void set_up_camera(RvScene *scene) {
  const RvSceneConfig *c = &scene->config;
  RvCamera *camera = &scene->camera;
  const double w = c->width, h = c->height;
  camera->focal = 0.5 * w + 0.35 * h;
  camera->cx = 0.5 * (w - 1.0);
  camera->cy = 0.5 * (h - 1.0);
  camera->baseline = BASELINE_MAX;
  scene->cos_pitch = 1.0;
  double nearest = 2.0;
  if (c->pattern != RV_SCENE_PLANES) {
    camera->height = CAMERA_HEIGHT;
    camera->pitch = CAMERA_PITCH;
    scene->cos_pitch = cos(CAMERA_PITCH * 0.017453292519943295);
    scene->sin_pitch = sin(CAMERA_PITCH * 0.017453292519943295);
    const double below = (h - 1.0 - camera->cy) / camera->focal;
    const double ground = CAMERA_HEIGHT / (below * scene->cos_pitch + scene->sin_pitch);
    const double beside = CLEARANCE * camera->focal / (0.5 * w);
    nearest = (ground < beside ? ground : beside) * (c->pattern == RV_SCENE_STREET ? 0.9 : 0.8);
  }
  const double baseline = nearest * c->max_disparity / camera->focal;
  camera->baseline = baseline < BASELINE_MAX ? baseline : BASELINE_MAX;
  scene->near = camera->focal * camera->baseline / c->max_disparity;
}

static uint8_t *take_all(RvScene *scene, RvArena *arena) {
  const size_t pixels = (size_t)scene->config.width * (size_t)scene->config.height;
  scene->world = rv_arena_take(arena, sizeof(World));
  scene->ids = rv_arena_take(arena, pixels * sizeof(uint32_t));
  scene->depths = rv_arena_take(arena, pixels * sizeof(float));
  scene->bgr = rv_arena_take(arena, 2 * pixels * 4);
  return rv_arena_take(arena, scene_texture_bytes());
}

RvStatus rv_scene_new(RvScene **out, const RvSceneConfig *config) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_scene_config_check(config));
  RvScene *scene = rv_memory_object(sizeof *scene);
  if (!scene) {
    rv_log(&config->log, "scene: out of memory");
    return RV_ERR_NO_MEMORY;
  }
  scene->config = *config;
  set_up_camera(scene);
  take_all(scene, &scene->arena);
  const size_t bytes = rv_arena_size(&scene->arena);
  const RvStatus status = rv_arena_open(&scene->arena, RV_CPU);
  if (status != RV_OK) {
    rv_log(&config->log, "scene: out of memory, %zu MiB are needed", bytes >> 20);
    rv_memory_free(scene, RV_CPU);
    return status;
  }
  uint8_t *textures = take_all(scene, &scene->arena);
  memset(scene->world, 0, sizeof *scene->world);
  scene_textures_make(scene, textures);
  *out = scene;
  return RV_OK;
}

void rv_scene_free(RvScene **scene) {
  if (!scene || !*scene)
    return;
  rv_arena_close(&(*scene)->arena);
  rv_memory_free(*scene, RV_CPU);
  *scene = NULL;
}

void rv_scene_camera(const RvScene *scene, RvCamera *camera) {
  memset(camera, 0, sizeof *camera);
  if (scene->config.pattern != RV_SCENE_NOISE)
    *camera = scene->camera;
}

static void *row(const RvPlane *plane, int y) {
  return (char *)plane->data + y * plane->stride;
}

/* Whether the right eye sees the point that the left eye sees at (x, y). */
static int seen_by_right(const RvScene *scene, int x, int y, double t) {
  const double match = x - scene->camera.focal * scene->camera.baseline / t;
  if (match < 0.0)
    return 0;
  const Ray ray = scene_ray(scene, 1, match, y);
  Hit hit;
  /* What lies behind need not be looked for; but where grass stands up, the ground behind leads to
   * it. */
  const double front = t - 0.01 - 1e-3 * t;
  const int all = scene->config.pattern == RV_SCENE_OFFROAD;
  scene_trace(scene, 1, &ray, match, y, all ? FARTHEST : nextafter(front, FARTHEST), &hit);
  return hit.t > front;
}

static void write_truth(const RvScene *scene, const RvSceneTruth *truth, int x, int y,
                        const Hit *hit) {
  const int sky = hit->object == -1;
  const RvSceneLabel label = scene_hit_label(scene, hit);
  if (truth->disparity.data) {
    const double d = sky ? 0.0 : 16.0 * scene->camera.focal * scene->camera.baseline / hit->t;
    const int sixteenths = (int)(d + 0.5);
    ((uint16_t *)row(&truth->disparity, y))[x] =
        (uint16_t)(sky ? 0 : rv_clamp(sixteenths, 1, 16 * scene->config.max_disparity));
  }
  if (truth->labels.data)
    ((uint8_t *)row(&truth->labels, y))[x] = (uint8_t)label;
  if (truth->road.data)
    ((uint8_t *)row(&truth->road, y))[x] = label == RV_LABEL_ROAD ? 255 : 0;
  if (truth->visible.data)
    ((uint8_t *)row(&truth->visible, y))[x] = sky || seen_by_right(scene, x, y, hit->t) ? 255 : 0;
}

/* id: object + 2 | material | face | shadow */
static uint32_t pack(const Hit *hit, int shadow) {
  return (uint32_t)(hit->object + 2) << 10 | (uint32_t)hit->material << 5 |
         (uint32_t)hit->face << 1 | (uint32_t)shadow;
}

static Hit unpack(uint32_t id, float depth) {
  const Hit hit = {(double)depth, (int)(id >> 10) - 2, (int)(id >> 1 & 15),
                   (Material)(id >> 5 & 31)};
  return hit;
}

static int shadowed(const RvScene *scene, const Ray *ray, const Hit *hit) {
  if (hit->object == -1 || scene->config.pattern == RV_SCENE_PLANES)
    return 0;
  const Vec point = vec_add(ray->origin, vec_mul(ray->dir, hit->t));
  if (vec_dot(scene_normal(scene, hit, point), scene->world->sun) <= 0.0)
    return 0; /* turned away: dark anyway */
  return scene_in_shadow(scene, point, hit->object);
}

static void trace_row(const RvScene *scene, int eye, int y, const RvSceneTruth *truth) {
  const int width = scene->config.width;
  uint32_t *ids = scene->ids + (size_t)y * (size_t)width;
  float *depths = scene->depths + (size_t)y * (size_t)width;
  for (int x = 0; x < width; x++) {
    const Ray ray = scene_ray(scene, eye, x, y);
    Hit hit;
    scene_trace(scene, eye, &ray, x, y, FARTHEST, &hit);
    ids[x] = pack(&hit, shadowed(scene, &ray, &hit));
    depths[x] = (float)hit.t;
    if (eye == 0 && truth)
      write_truth(scene, truth, x, y, &hit);
  }
}

/* Whether another surface, or the same crown at another depth, is a neighbor. */
static int on_edge(const RvScene *scene, int x, int y) {
  const int width = scene->config.width;
  const size_t i = (size_t)y * (size_t)width + (size_t)x;
  const uint32_t id = scene->ids[i];
  const size_t left = x > 0 ? i - 1 : i, right = x < width - 1 ? i + 1 : i;
  const size_t above = y > 0 ? i - (size_t)width : i;
  const size_t below = y < scene->config.height - 1 ? i + (size_t)width : i;
  if (scene->ids[left] != id || scene->ids[right] != id || scene->ids[above] != id ||
      scene->ids[below] != id)
    return 1;
  if ((id >> 5 & 31) != MATERIAL_LEAVES)
    return 0;
  const float depth = scene->depths[i], limit = 0.02f * depth;
  return absolute((double)(scene->depths[left] - depth)) > (double)limit ||
         absolute((double)(scene->depths[above] - depth)) > (double)limit;
}

static Color sample(const RvScene *scene, int eye, double x, double y) {
  const Ray ray = scene_ray(scene, eye, x, y);
  Hit hit;
  scene_trace(scene, eye, &ray, x, y, FARTHEST, &hit);
  return scene_shade(scene, &ray, &hit, shadowed(scene, &ray, &hit));
}

static void shade_row(const RvScene *scene, uint64_t frame, int eye, int y) {
  static const double offsets[4][2] = {
      {-0.125, -0.375}, {0.375, -0.125}, {0.125, 0.375}, {-0.375, 0.125}};
  const int width = scene->config.width;
  uint8_t *bgr = scene->bgr + 4 * ((size_t)(2 * y + eye) * (size_t)width);
  const Sensor sensor = scene_sensor(frame, eye, y);
  for (int x = 0; x < width; x++) {
    const size_t i = (size_t)y * (size_t)width + (size_t)x;
    Color c = {0, 0, 0};
    if (on_edge(scene, x, y)) {
      for (int k = 0; k < 4; k++) {
        const Color s = sample(scene, eye, x + offsets[k][0], y + offsets[k][1]);
        c = color(c.r + 0.25f * s.r, c.g + 0.25f * s.g, c.b + 0.25f * s.b);
      }
    } else {
      const Ray ray = scene_ray(scene, eye, x, y);
      const Hit hit = unpack(scene->ids[i], scene->depths[i]);
      c = scene_shade(scene, &ray, &hit, (int)(scene->ids[i] & 1));
    }
    scene_sense(scene, &sensor, x, c, bgr + 4 * x);
  }
}

static void render_eyes(RvScene *scene, uint64_t frame, const RvSceneTruth *truth) {
  const int height = scene->config.height, threads = rv_threads(scene->config.threads);
  scene_build(scene, frame);
  for (int eye = 0; eye < 2; eye++) {
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int y = 0; y < height; y++)
      trace_row(scene, eye, y, truth);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int y = 0; y < height; y++)
      shade_row(scene, frame, eye, y);
  }
}

static RvStatus check_truth(const RvScene *scene, const RvSceneTruth *truth) {
  const RvPlane *planes[4] = {&truth->disparity, &truth->labels, &truth->road, &truth->visible};
  static const char *const names[4] = {"disparity", "labels", "road", "visible"};
  for (int i = 0; i < 4; i++)
    RV_REQUIRE(&scene->config.log,
               !planes[i]->data || rv_plane_fits(planes[i], scene->config.width,
                                                 scene->config.height, i == 0 ? RV_U16 : RV_U8),
               "scene: the truth raster %s must be %s of %d x %d px", names[i],
               i == 0 ? "RV_U16" : "RV_U8", scene->config.width, scene->config.height);
  return RV_OK;
}

RvStatus rv_scene_render(RvScene *scene, uint64_t frame, const RvPicture *picture,
                         const RvSceneTruth *truth) {
  if (!scene)
    return RV_ERR_ARG;
  const RvSceneConfig *c = &scene->config;
  RV_REQUIRE(
      &c->log,
      rv_picture_fits(picture) && picture->width == 2 * c->width && picture->height == c->height,
      "scene: the picture must be %d x %d px, both eyes side by side", 2 * c->width, c->height);
  RV_REQUIRE(&c->log,
             picture->format == RV_PIXEL_BGRX || picture->format == RV_PIXEL_NV12 ||
                 picture->format == RV_PIXEL_I420 || picture->format == RV_PIXEL_GRAY8,
             "scene: renders BGRX, NV12, I420 and GRAY8 only");
  if (truth)
    RV_TRY(check_truth(scene, truth));
  if (c->pattern == RV_SCENE_NOISE)
    scene_render_noise(scene, frame, truth);
  else
    render_eyes(scene, frame, truth);
  scene_output(scene, picture);
  return RV_OK;
}
