/* SPDX-License-Identifier: MIT */
/* scene.c: the object, its checks and its camera, and the passes of one frame. */
#include "scene/scene_internal.h"
#include "rv_pixels.h"
#include "scene/scene_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CAMERA_HEIGHT 1.5 /* m */
#define CAMERA_PITCH 2.0  /* degrees */
#define CLEARANCE 1.95    /* m: nothing stands nearer than this next to the camera */
#define BASELINE_MAX 0.8  /* m */

const char *rv_scene_label_text(RvSceneLabel label) {
  static const char *const texts[RV_LABELS] = {"road", "sidewalk", "grass",  "building",
                                               "wall", "car",      "pole",   "tree",
                                               "sky",  "person",   "object", "bridge"};
  return (unsigned)label < RV_LABELS ? texts[label] : "unknown";
}

/* --- Parameters ------------------------------------------------------------------------------ */

typedef RvSceneConfig Config;

static const RvParam params[] = {
    RV_CHOICE("pattern", pattern, RV_SCENE_STREET, 0, NULL, NULL, "Scene to render",
              {RV_SCENE_STREET, "street", "Flat street with buildings, cars, poles and trees"},
              {RV_SCENE_SLANTED_STREET, "slanted-street", "The same street on steep, banked hills"},
              {RV_SCENE_OFFROAD, "offroad", "Dirt track in grass under changing light"},
              {RV_SCENE_PLANES, "planes", "Textured slanted planes, for exact subpixel tests"},
              {RV_SCENE_NOISE, "noise", "Random dots with a random disparity per block"},
              {RV_SCENE_HIGHWAY, "highway",
               "Three lanes in curves, with traffic, exits, bridges and dusk"},
              {RV_SCENE_COURSE, "obstacle-course",
               "Road with crates, pedestrians, overhanging signs, bridges, barriers and crossing "
               "cars"}),
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
            "Height of the highest grass next to the track of offroad"),
    RV_REAL("curb-height", curb_height, 0, 0.3, 0.12, 0, "m", "0 = as low as the road",
            "Height of the sidewalks above the road of street and slanted-street"),
    RV_PARAM_THREADS,
};
RV_PARAMS(scene)

/* --- Object ---------------------------------------------------------------------------------- */

/* The baseline follows from the largest disparity: the nearest ground, at the bottom of the
 * image, and the nearest cars next to the camera get nine tenths of it (eight on uneven ground).
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
  const int bent = c->pattern == RV_SCENE_HIGHWAY || c->pattern == RV_SCENE_COURSE;
  double nearest = 2.0;
  if (c->pattern != RV_SCENE_PLANES) {
    camera->height = CAMERA_HEIGHT;
    camera->pitch = CAMERA_PITCH;
    plan->cos_pitch = cos(CAMERA_PITCH * 0.017453292519943295);
    plan->sin_pitch = sin(CAMERA_PITCH * 0.017453292519943295);
    const double below = (h - 1.0 - camera->cy) / camera->focal;
    const double ground = CAMERA_HEIGHT / (below * plan->cos_pitch + plan->sin_pitch);
    const double beside = CLEARANCE * camera->focal / (0.5 * w);
    nearest =
        (ground < beside ? ground : beside) * (c->pattern == RV_SCENE_STREET || bent ? 0.9 : 0.8);
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
  work->cells = rv_arena_take(arena, TEXTURES * TEXTURE_CELLS * sizeof(uint32_t));
}

static void describe(const void *plan, char *text, size_t size) {
  const RvSceneConfig *c = plan;
  snprintf(text, size, "%d x %d pixels per view", c->width, c->height);
}

static RvStatus open_scene(void *object) {
  RvScene *scene = object;
  scene->work = scene->object.work;
  memset(scene->work->world, 0, sizeof *scene->work->world);
  scene->kernels = scene_kernels(0);
  scene_textures_make(scene, scene->work->textures, scene->work->cells);
  return RV_OK;
}

static const RvEngineBase cpu = {.work_size = sizeof(SceneWork), .layout = layout};

static const RvClass klass = {RV_CLASS_NAMES(RvScene, scene), .plan = make_plan,
                              .describe = describe, .open = open_scene, .engines = {&cpu, NULL}};
RV_OBJECT_COMMON(RvScene, scene, klass);

/* RV_OBJECT's with the only engine that there is. */
RvStatus rv_scene_new(RvScene **out, const RvSceneConfig *config) {
  void *object = NULL;
  const RvStatus status = rv_object_new(&klass, out ? &object : NULL, config, RV_CPU);
  if (out)
    *out = object;
  return status;
}

/* --- Instruction sets ------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__ /* gcc 12 aligns the stack of this sanitizer to 32 bytes only */
#  define WIDEST (RV_CPU_AVX512_VBMI + 1)
#else
#  define WIDEST RV_CPU_AVX512
#endif
RV_CPU_KERNELS(SceneKernels, scene_kernels, scene_kernels, WIDEST)

/* --- Frames ---------------------------------------------------------------------------------- */

void rv_scene_camera(const RvScene *scene, RvCamera *camera) {
  memset(camera, 0, sizeof *camera);
  if (scene->plan.config.pattern != RV_SCENE_NOISE)
    *camera = scene->plan.camera;
}

static void render_views(RvScene *scene, uint64_t frame, const RvSceneTruth *truth) {
  const int height = scene->plan.config.height, threads = rv_threads(scene->plan.config.threads);
  const SceneKernels *kernels = scene->kernels;
  scene_build(scene, frame);
  for (int view = 0; view < 2; view++) {
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int y = 0; y < height; y++)
      kernels->trace(scene, view, y, truth);
    if (view == 0 && truth)
      scene_truth(scene, truth);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (int y = 0; y < height; y++)
      kernels->shade(scene, frame, view, y);
  }
}

static RvStatus check_truth(const RvScene *scene, const RvSceneTruth *truth) {
  const RvPlane *planes[] = {&truth->disparity, &truth->labels,  &truth->road,
                             &truth->visible,   &truth->objects, &truth->heights};
  static const char *const names[] = {"disparity", "labels",  "road",
                                      "visible",   "objects", "heights"};
  for (int i = 0; i < 6; i++) {
    const RvFormat format = i == 0 || i >= 4 ? RV_U16 : RV_U8;
    RV_REQUIRE(&scene->plan.config.log,
               !planes[i]->data || rv_plane_fits(planes[i], scene->plan.config.width,
                                                 scene->plan.config.height, format),
               "scene: the truth raster %s must be %s of %d x %d px", names[i],
               format == RV_U16 ? "RV_U16" : "RV_U8", scene->plan.config.width,
               scene->plan.config.height);
  }
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
      "scene: the image must be %d x %d px, both views side by side", 2 * c->width, c->height);
  RV_REQUIRE(&c->log,
             picture->format == RV_PIXEL_BGRX || picture->format == RV_PIXEL_NV12 ||
                 picture->format == RV_PIXEL_I420 || picture->format == RV_PIXEL_GRAY8,
             "scene: renders BGRX, NV12, I420 and GRAY8 only");
  if (truth)
    RV_TRY(check_truth(scene, truth));
  if (c->pattern == RV_SCENE_NOISE)
    scene_render_noise(scene, frame, truth);
  else
    render_views(scene, frame, truth);
  scene_output(scene, picture);
  return RV_OK;
}
