/* SPDX-License-Identifier: MIT */
/* scene.c: the object, its checks and its camera, and the passes of one frame. */
#include "scene/scene_internal.h"
#include "rv_pixels.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
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

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvSceneConfig Config;

static const RvParamValue patterns[] = {
    {RV_SCENE_STREET, "street", "Flat street with buildings, cars, poles and trees"},
    {RV_SCENE_SLANTED_STREET, "slanted-street", "The same street on steep, banked hills"},
    {RV_SCENE_OFFROAD, "offroad", "Dirt track in grass under changing light"},
    {RV_SCENE_PLANES, "planes", "Textured slanted planes, for exact subpixel tests"},
    {RV_SCENE_NOISE, "noise", "Random dots with a random disparity per block"},
};

static const RvParam params[] = {
    RV_CHOICE("pattern", pattern, patterns, RV_SCENE_STREET, 0, NULL, NULL, "Scene to render"),
    RV_INT("width", width, 16, RV_MAX_SIDE / 2, 640, RV_PARAM_HIDDEN, "px", NULL,
           "Width of one view"),
    RV_INT("height", height, 16, RV_MAX_SIDE, 480, RV_PARAM_HIDDEN, "px", NULL,
           "Height of one view"),
    {.name = "seed",
     .text = "Seed of the placement of buildings, cars and trees",
     .type = RV_PARAM_UINT,
     .offset = offsetof(Config, seed),
     .low = 0,
     .high = UINT32_MAX,
     .value = 1},
    RV_REAL("noise", noise, 0, 50, 2, 0, "gray levels of 0..255", NULL,
            "Standard deviation of the sensor noise"),
    RV_REAL("speed", speed, -50, 50, 8, 0, "m/s", "0 = all but the noise stands still",
            "Speed of the camera, negative backwards"),
    RV_REAL("frame-rate", frame_rate, 0, 1000, 30, RV_PARAM_HIDDEN | RV_PARAM_ABOVE, "frames/s",
            NULL, "Frame rate, for the motion between frames"),
    RV_INT("max-disparity", max_disparity, 16, 1024, 96, 0, "px", NULL,
           "Largest disparity of any surface; determines the baseline"),
    RV_REAL("grass-height", grass_height, 0, 0.3, 0.2, 0, "m", "0 = as low as the track",
            "Height of the highest grass beside the track of offroad"),
    RV_REAL("curb-height", curb_height, 0, 0.3, 0.12, 0, "m", "0 = as low as the road",
            "Height of the sidewalks above the road of street and slanted-street"),
    RV_PARAM_THREADS,
};
RV_PARAMS(scene)

/* --- Object ---------------------------------------------------------------------------------- */

/* The baseline follows from the largest disparity: the nearest ground, at the bottom of the
 * picture, and the nearest cars beside the camera get nine tenths of it (eight on uneven ground).
 */
static void set_up_camera(ScenePlan *plan) {
  const RvSceneConfig *c = &plan->config;
  RvCamera *camera = &plan->camera;
  const double w = c->width, h = c->height;
  camera->focal = 0.5 * w + 0.35 * h;
  camera->cx = 0.5 * (w - 1.0);
  camera->cy = 0.5 * (h - 1.0);
  camera->baseline = BASELINE_MAX;
  plan->cos_pitch = 1.0;
  double nearest = 2.0;
  if (c->pattern != RV_SCENE_PLANES) {
    camera->height = CAMERA_HEIGHT;
    camera->pitch = CAMERA_PITCH;
    plan->cos_pitch = cos(CAMERA_PITCH * 0.017453292519943295);
    plan->sin_pitch = sin(CAMERA_PITCH * 0.017453292519943295);
    const double below = (h - 1.0 - camera->cy) / camera->focal;
    const double ground = CAMERA_HEIGHT / (below * plan->cos_pitch + plan->sin_pitch);
    const double beside = CLEARANCE * camera->focal / (0.5 * w);
    nearest = (ground < beside ? ground : beside) * (c->pattern == RV_SCENE_STREET ? 0.9 : 0.8);
  }
  const double baseline = nearest * c->max_disparity / camera->focal;
  camera->baseline = baseline < BASELINE_MAX ? baseline : BASELINE_MAX;
  plan->near = camera->focal * camera->baseline / c->max_disparity;
}

static void make_plan(void *plan) {
  set_up_camera(plan);
}

static void layout(void *memory, const void *config, RvArena *arena) {
  const RvSceneConfig *c = config;
  const size_t pixels = (size_t)c->width * (size_t)c->height;
  SceneWork *work = memory;
  work->world = rv_arena_take(arena, sizeof(World));
  work->ids = rv_arena_take(arena, pixels * sizeof(uint32_t));
  work->depths = rv_arena_take(arena, pixels * sizeof(float));
  work->bgr = rv_arena_take(arena, 2 * pixels * 4);
  work->textures = rv_arena_take(arena, scene_texture_bytes());
}

static void describe(const void *plan, char *text, size_t size) {
  const RvSceneConfig *c = plan;
  snprintf(text, size, "%d x %d pixels per view", c->width, c->height);
}

static RvStatus open_scene(void *object) {
  RvScene *scene = object;
  scene->work = scene->object.work;
  memset(scene->work->world, 0, sizeof *scene->work->world);
  scene_textures_make(scene, scene->work->textures);
  return RV_OK;
}

static const RvEngineBase cpu = {.work_size = sizeof(SceneWork), .layout = layout};

static const RvClass klass = {
    .params = rv_scene_params,
    .object_size = sizeof(RvScene),
    .plan_offset = offsetof(RvScene, plan),
    .plan = make_plan,
    .describe = describe,
    .open = open_scene,
    .engines = {&cpu, NULL},
};

void rv_scene_config_init(RvSceneConfig *config) {
  rv_params_defaults(&table, config);
}

RvStatus rv_scene_config_check(const RvSceneConfig *config) {
  return rv_object_check(&klass, config);
}

/* RV_OBJECT's with the only engine that there is. */
RvStatus rv_scene_new(RvScene **out, const RvSceneConfig *config) {
  void *object = NULL;
  const RvStatus status = rv_object_new(&klass, out ? &object : NULL, config, RV_CPU);
  if (out)
    *out = object;
  return status;
}

void rv_scene_free(RvScene **scene) {
  if (!scene)
    return;
  rv_object_free(*scene);
  *scene = NULL;
}

/* --- Frames ---------------------------------------------------------------------------------- */

void rv_scene_camera(const RvScene *scene, RvCamera *camera) {
  memset(camera, 0, sizeof *camera);
  if (scene->plan.config.pattern != RV_SCENE_NOISE)
    *camera = scene->plan.camera;
}

static void *row(const RvPlane *plane, int y) {
  return (char *)plane->data + y * plane->stride;
}

/* Whether the right camera sees the point that the left camera sees at (x, y). */
static int seen_by_right(const RvScene *scene, int x, int y, double t) {
  const double match = x - scene->plan.camera.focal * scene->plan.camera.baseline / t;
  if (match < 0.0)
    return 0;
  const Ray ray = scene_ray(scene, 1, match, y);
  Hit hit;
  /* What lies behind need not be looked for; but where grass stands up, the ground behind leads to
   * it. */
  const double front = t - 0.01 - 1e-3 * t;
  const int all = scene->plan.config.pattern == RV_SCENE_OFFROAD;
  scene_trace(scene, 1, &ray, match, y, all ? FARTHEST : nextafter(front, FARTHEST), &hit);
  return hit.t > front;
}

static void write_truth(const RvScene *scene, const RvSceneTruth *truth, int x, int y,
                        const Hit *hit) {
  const int sky = hit->object == -1;
  const RvSceneLabel label = scene_hit_label(scene, hit);
  if (truth->disparity.data) {
    const double d =
        sky ? 0.0 : 16.0 * scene->plan.camera.focal * scene->plan.camera.baseline / hit->t;
    const int sixteenths = (int)(d + 0.5);
    ((uint16_t *)row(&truth->disparity, y))[x] =
        (uint16_t)(sky ? 0 : rv_clamp(sixteenths, 1, 16 * scene->plan.config.max_disparity));
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
  if (hit->object == -1 || scene->plan.config.pattern == RV_SCENE_PLANES)
    return 0;
  const Vec point = vec_add(ray->origin, vec_mul(ray->dir, hit->t));
  if (vec_dot(scene_normal(scene, hit, point), scene->work->world->sun) <= 0.0)
    return 0; /* turned away: dark anyway */
  return scene_in_shadow(scene, point, hit->object);
}

static void trace_row(const RvScene *scene, int eye, int y, const RvSceneTruth *truth) {
  const int width = scene->plan.config.width;
  uint32_t *ids = scene->work->ids + (size_t)y * (size_t)width;
  float *depths = scene->work->depths + (size_t)y * (size_t)width;
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
  const int width = scene->plan.config.width;
  const size_t i = (size_t)y * (size_t)width + (size_t)x;
  const uint32_t id = scene->work->ids[i];
  const size_t left = x > 0 ? i - 1 : i, right = x < width - 1 ? i + 1 : i;
  const size_t above = y > 0 ? i - (size_t)width : i;
  const size_t below = y < scene->plan.config.height - 1 ? i + (size_t)width : i;
  if (scene->work->ids[left] != id || scene->work->ids[right] != id ||
      scene->work->ids[above] != id || scene->work->ids[below] != id)
    return 1;
  if ((id >> 5 & 31) != MATERIAL_LEAVES)
    return 0;
  const float depth = scene->work->depths[i], limit = 0.02f * depth;
  return absolute((double)(scene->work->depths[left] - depth)) > (double)limit ||
         absolute((double)(scene->work->depths[above] - depth)) > (double)limit;
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
  const int width = scene->plan.config.width;
  uint8_t *bgr = scene->work->bgr + 4 * ((size_t)(2 * y + eye) * (size_t)width);
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
      const Hit hit = unpack(scene->work->ids[i], scene->work->depths[i]);
      c = scene_shade(scene, &ray, &hit, (int)(scene->work->ids[i] & 1));
    }
    scene_sense(scene, &sensor, x, c, bgr + 4 * x);
  }
}

static void render_eyes(RvScene *scene, uint64_t frame, const RvSceneTruth *truth) {
  const int height = scene->plan.config.height, threads = rv_threads(scene->plan.config.threads);
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
    RV_REQUIRE(&scene->plan.config.log,
               !planes[i]->data ||
                   rv_plane_fits(planes[i], scene->plan.config.width, scene->plan.config.height,
                                 i == 0 ? RV_U16 : RV_U8),
               "scene: the truth raster %s must be %s of %d x %d px", names[i],
               i == 0 ? "RV_U16" : "RV_U8", scene->plan.config.width, scene->plan.config.height);
  return RV_OK;
}

RvStatus rv_scene_render(RvScene *scene, uint64_t frame, const RvPicture *picture,
                         const RvSceneTruth *truth) {
  if (!scene)
    return RV_ERR_ARG;
  const RvSceneConfig *c = &scene->plan.config;
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
