/* SPDX-License-Identifier: MIT */
/* scene_cases.c: the renderer compared with its own ground truth: the same bytes for any number
 * of threads, both views in agreement, the ground where the camera model puts it; and its speed. */
#include "rv_hd.h"
#include "rvcheck.h"
#include "scene/scene.h"
#include "scene/scene_facts_cases.h"
#include "scene/scene_light_cases.h"
#include "scene/scene_reference_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const patterns[RV_SCENE_PATTERNS] = {
    "street", "slanted-street", "offroad", "planes", "noise", "highway", "obstacle-course"};
static const RvPixelFormat formats[4] = {RV_PIXEL_BGRX, RV_PIXEL_NV12, RV_PIXEL_I420,
                                         RV_PIXEL_GRAY8};

#define PAD 24    /* bytes behind each row */
#define GUARD 201 /* in them */

/* One rendered pair with its truth, every row followed by guard bytes. */
typedef struct Shot {
  int width, height;
  size_t bytes;
  uint8_t *memory;
  RvPicture picture;
  RvSceneTruth truth;
} Shot;

static RvPlane carve(Shot *shot, size_t *used, int width, int height, RvFormat format) {
  const RvPlane plane = {shot->memory ? shot->memory + *used : NULL,
                         (ptrdiff_t)(rv_format_bytes(format) * (size_t)width + PAD), width, height,
                         format};
  *used += (size_t)plane.stride * (size_t)height;
  return plane;
}

static size_t lay_out(Shot *shot, RvPixelFormat format) {
  size_t used = 0;
  shot->picture = (RvPicture){format, 2 * shot->width, shot->height, {NULL}, {0}};
  for (int p = 0; p < rv_pixel_planes(format); p++) {
    const int bytes = (int)rv_pixel_row_bytes(format, p, 2 * shot->width);
    const RvPlane plane = carve(shot, &used, bytes, rv_pixel_rows(format, p, shot->height), RV_U8);
    shot->picture.data[p] = plane.data;
    shot->picture.stride[p] = plane.stride;
    used += used & 1;
  }
  shot->truth.disparity = carve(shot, &used, shot->width, shot->height, RV_U16);
  shot->truth.labels = carve(shot, &used, shot->width, shot->height, RV_U8);
  shot->truth.road = carve(shot, &used, shot->width, shot->height, RV_U8);
  shot->truth.visible = carve(shot, &used, shot->width, shot->height, RV_U8);
  return used;
}

static int shot_new(Shot *shot, RvPixelFormat format, int width, int height) {
  *shot = (Shot){.width = width, .height = height};
  shot->bytes = lay_out(shot, format);
  shot->memory = malloc(shot->bytes);
  if (!shot->memory)
    return 0;
  memset(shot->memory, GUARD, shot->bytes);
  lay_out(shot, format);
  return 1;
}

static void shot_free(Shot *shot) {
  free(shot->memory);
}

static RvSceneConfig config_of(RvCheck *check, int pattern, int width, int height) {
  RvSceneConfig config;
  rv_scene_config_init(&config);
  config.pattern = (RvScenePattern)pattern;
  config.width = width;
  config.height = height;
  config.log = rvc_log(check);
  return config;
}

/* Renders one frame with a scene of its own. */
static int render(RvCheck *check, const char *name, const RvSceneConfig *config, uint64_t frame,
                  Shot *shot) {
  RvScene *scene = NULL;
  RvStatus status = rv_scene_new(&scene, config);
  if (status == RV_OK)
    status = rv_scene_render(scene, frame, &shot->picture, &shot->truth);
  rv_scene_free(&scene);
  return rvc_true(check, name, status == RV_OK, "%s %dx%d frame %llu: %s",
                  patterns[config->pattern], config->width, config->height,
                  (unsigned long long)frame, rv_status_text(status));
}

static int disparity_at(const Shot *shot, int x, int y) {
  return ((const uint16_t *)(const void *)((const char *)shot->truth.disparity.data +
                                           y * shot->truth.disparity.stride))[x];
}

static int u8_at(const RvPlane *plane, int x, int y) {
  return ((const uint8_t *)plane->data)[y * plane->stride + x];
}

static int gray_at(const Shot *shot, int x, int y) {
  return ((const uint8_t *)shot->picture.data[0])[y * shot->picture.stride[0] + x];
}

/* --- The same bytes whatever the threads, the order of frames and the object --------------------
 */

static void check_determinism(RvCheck *check, const char *name, RvRandom *random) {
  for (int p = 0; p < RV_SCENE_PATTERNS; p++) {
    RvSceneConfig config = config_of(check, p, 161, 97);
    Shot one, many, later;
    if (!shot_new(&one, RV_PIXEL_NV12, 161, 97) || !shot_new(&many, RV_PIXEL_NV12, 161, 97) ||
        !shot_new(&later, RV_PIXEL_NV12, 161, 97))
      return;
    config.threads = 1;
    render(check, name, &config, 41, &one);
    config.threads = 7;
    render(check, name, &config, 41, &many);
    rvc_true(check, name, memcmp(one.memory, many.memory, one.bytes) == 0,
             "%s: 1 and 7 threads differ", patterns[p]);
    RvScene *scene = NULL;
    rvc_true(check, name, rv_scene_new(&scene, &config) == RV_OK, "%s: no scene", patterns[p]);
    const uint64_t order[3] = {900, 3, 41};
    for (int i = 0; i < 3 && scene; i++)
      rv_scene_render(scene, order[i], &later.picture, &later.truth);
    rv_scene_free(&scene);
    rvc_true(check, name, memcmp(one.memory, later.memory, one.bytes) == 0,
             "%s: frame 41 differs after frames 900 and 3", patterns[p]);
    config.seed = 2;
    render(check, name, &config, 41, &many);
    rvc_true(check, name, memcmp(one.memory, many.memory, one.bytes) != 0,
             "%s: seeds 1 and 2 are the same", patterns[p]);
    shot_free(&one);
    shot_free(&many);
    shot_free(&later);
  }
}

/* --- Sizes and formats --------------------------------------------------------------------------
 */

static void expect_guards(RvCheck *check, const char *name, const Shot *shot, const char *what) {
  const RvPicture *picture = &shot->picture;
  int damaged = 0;
  for (int p = 0; p < rv_pixel_planes(picture->format); p++) {
    const size_t bytes = rv_pixel_row_bytes(picture->format, p, picture->width);
    for (int y = 0; y < rv_pixel_rows(picture->format, p, picture->height); y++)
      for (size_t k = bytes; k < bytes + PAD; k++)
        damaged += ((const uint8_t *)picture->data[p] + y * picture->stride[p])[k] != GUARD;
  }
  const RvPlane *planes[4] = {&shot->truth.disparity, &shot->truth.labels, &shot->truth.road,
                              &shot->truth.visible};
  for (int p = 0; p < 4; p++) {
    const size_t bytes = rv_format_bytes(planes[p]->format) * (size_t)planes[p]->width;
    for (int y = 0; y < planes[p]->height; y++)
      for (size_t k = bytes; k < bytes + PAD; k++)
        damaged += ((const uint8_t *)planes[p]->data + y * planes[p]->stride)[k] != GUARD;
  }
  rvc_true(check, name, damaged == 0, "%s: %d bytes next to the rows were written", what, damaged);
}

static void check_sizes(RvCheck *check, const char *name, RvRandom *random) {
  static const int sizes[][2] = {{16, 16}, {17, 31}, {33, 16}, {16, 200}, {301, 23}};
  for (int p = 0; p < RV_SCENE_PATTERNS; p++)
    for (int s = 0; s < 5; s++)
      for (int f = 0; f < (rvc_small(check) ? 1 : 4); f++) {
        char what[80];
        snprintf(what, sizeof what, "%s %dx%d format %d", patterns[p], sizes[s][0], sizes[s][1], f);
        RvSceneConfig config = config_of(check, p, sizes[s][0], sizes[s][1]);
        config.max_disparity = s == 1 ? 1024 : s == 2 ? 16 : 96;
        config.speed = s & 1 ? -50.0 : 50.0;
        config.frame_rate = s == 3 ? 1e-3 : 30.0;
        Shot shot;
        if (!shot_new(&shot, formats[f], sizes[s][0], sizes[s][1]))
          return;
        render(check, name, &config, s < 3 ? 77 : UINT64_MAX - 5, &shot);
        expect_guards(check, name, &shot, what);
        shot_free(&shot);
      }
}

/* GRAY8 is the gray of BGRX; NV12 and I420 hold the same samples. */
static void check_formats(RvCheck *check, const char *name, RvRandom *random) {
  const int width = 75, height = 51;
  const RvSceneConfig config = config_of(check, RV_SCENE_STREET, width, height);
  Shot shot[4];
  for (int f = 0; f < 4; f++)
    if (!shot_new(&shot[f], formats[f], width, height) ||
        !render(check, name, &config, 9, &shot[f]))
      return;
  int gray = 0, luma = 0, chroma = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < 2 * width; x++) {
      const uint8_t *bgrx =
          (const uint8_t *)shot[0].picture.data[0] + y * shot[0].picture.stride[0] + 4 * x;
      gray += (77 * bgrx[2] + 150 * bgrx[1] + 29 * bgrx[0] + 128) >> 8 != gray_at(&shot[3], x, y);
      luma += gray_at(&shot[1], x, y) != gray_at(&shot[2], x, y);
      /* BT.709, limited range, in floats; integers may be off by one. */
      const double y709 =
          16.0 + 219.0 / 255.0 * (0.2126 * bgrx[2] + 0.7152 * bgrx[1] + 0.0722 * bgrx[0]);
      const double off = y709 - gray_at(&shot[1], x, y);
      luma += off > 1.6 || off < -1.6;
    }
  for (int y = 0; y < (height + 1) / 2; y++)
    for (int x = 0; x < width; x++) {
      const RvPicture *nv12 = &shot[1].picture, *i420 = &shot[2].picture;
      const uint8_t *uv = (const uint8_t *)nv12->data[1] + y * nv12->stride[1] + 2 * x;
      chroma += uv[0] != ((const uint8_t *)i420->data[1])[y * i420->stride[1] + x];
      chroma += uv[1] != ((const uint8_t *)i420->data[2])[y * i420->stride[2] + x];
    }
  rvc_true(check, name, gray == 0, "GRAY8 is not the gray of BGRX at %d pixels", gray);
  rvc_true(check, name, luma == 0, "luma is wrong at %d pixels", luma);
  rvc_true(check, name, chroma == 0, "NV12 and I420 differ in %d chroma samples", chroma);
  for (int f = 0; f < 4; f++)
    shot_free(&shot[f]);
}

/* --- Truth ---------------------------------------------------------------------------------------
 */

/* Labels, disparity and visibility agree with each other. */
static void check_truth(RvCheck *check, const char *name, RvRandom *random) {
  for (int p = 0; p < RV_SCENE_PATTERNS; p++) {
    const int width = 320, height = 200;
    const RvSceneConfig config = config_of(check, p, width, height);
    Shot shot;
    if (!shot_new(&shot, RV_PIXEL_GRAY8, width, height) ||
        !render(check, name, &config, 150, &shot))
      return;
    int sky = 0, road = 0, range = 0, outside = 0, values = 0;
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        const int d = disparity_at(&shot, x, y), label = u8_at(&shot.truth.labels, x, y);
        sky += (label == RV_LABEL_SKY) != (d == 0);
        road += (u8_at(&shot.truth.road, x, y) == 255) != (label == RV_LABEL_ROAD);
        range += d > 16 * config.max_disparity || label >= RV_LABELS;
        const int visible = u8_at(&shot.truth.visible, x, y);
        values += visible != 0 && visible != 255;
        outside += visible == 255 && 16 * x < d - 1;
      }
    rvc_true(check, name, sky == 0, "%s: %d pixels are sky and have a disparity, or neither",
             patterns[p], sky);
    rvc_true(check, name, road == 0, "%s: road and labels differ at %d pixels", patterns[p], road);
    rvc_true(check, name, range == 0, "%s: %d values out of range", patterns[p], range);
    rvc_true(check, name, values == 0, "%s: %d values of `visible`", patterns[p], values);
    rvc_true(check, name, outside == 0, "%s: %d pixels match outside the right image", patterns[p],
             outside);
    shot_free(&shot);
  }
}

/* The road of the flat street lies where the camera says: a point v below the principal point, of a
 * camera h m high that looks down by p, is at depth h / (v / f cos p + sin p). */
static void check_ground(RvCheck *check, const char *name, RvRandom *random) {
  const int width = 320, height = 240;
  const RvSceneConfig config = config_of(check, RV_SCENE_STREET, width, height);
  RvScene *scene = NULL;
  RvCamera camera;
  Shot shot;
  if (!shot_new(&shot, RV_PIXEL_GRAY8, width, height) || rv_scene_new(&scene, &config) != RV_OK) {
    rvc_fail(check, name, "no scene");
    return;
  }
  rv_scene_camera(scene, &camera);
  rv_scene_free(&scene);
  render(check, name, &config, 33, &shot);
  const double sine = 0.034899496702500969, cosine = 0.99939082701909576; /* of 2 degrees */
  rvc_true(check, name, camera.pitch == 2.0, "the pitch is %g", camera.pitch);
  int pixels = 0, wrong = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      if (u8_at(&shot.truth.labels, x, y) != RV_LABEL_ROAD)
        continue;
      const double depth = camera.height / ((y - camera.cy) / camera.focal * cosine + sine);
      const double d = 16.0 * camera.focal * camera.baseline / depth;
      const double off = d - disparity_at(&shot, x, y);
      pixels++;
      wrong += off > 0.51 || off < -0.51;
    }
  rvc_true(check, name, pixels > width * height / 5, "only %d pixels of road", pixels);
  rvc_true(check, name, wrong == 0, "%d of %d road pixels are off the plane", wrong, pixels);
  shot_free(&shot);
}

/* Planes have disparities that are linear in x and y: second differences vanish except for
 * rounding. */
static void check_planes(RvCheck *check, const char *name, RvRandom *random) {
  const int width = 320, height = 240;
  const RvSceneConfig config = config_of(check, RV_SCENE_PLANES, width, height);
  Shot shot;
  if (!shot_new(&shot, RV_PIXEL_GRAY8, width, height) || !render(check, name, &config, 5, &shot))
    return;
  int straight = 0, slanted = 0;
  for (int y = 1; y < height - 1; y++)
    for (int x = 3; x < width - 3; x++) {
      const int d = disparity_at(&shot, x, y), l = disparity_at(&shot, x - 3, y);
      const int r = disparity_at(&shot, x + 3, y);
      straight += rv_abs(l + r - 2 * d) <= 2;
      slanted += rv_abs(l + r - 2 * d) <= 2 && rv_abs(r - l) >= 2;
    }
  const int all = (width - 6) * (height - 2);
  rvc_true(check, name, 100 * straight > 85 * all, "%d of %d pixels lie on planes", straight, all);
  rvc_true(check, name, 100 * slanted > 30 * all, "only %d of %d pixels are slanted", slanted, all);
  shot_free(&shot);
}

/* --- Both views ------------------------------------------------------------------------------- */

/* Mean difference between the left image and the right one `shift` sixteenths next to the match,
 * and the share of differences above 12 levels, over pixels seen by both away from edges. The
 * cameras' gains are taken out by the mean levels. */
static double disagreement(const Shot *shot, int shift, double *share) {
  double left = 0.0, right = 0.0, sum = 0.0;
  int pixels = 0, large = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int y = 1; y < shot->height - 1; y++)
      for (int x = 3; x < shot->width - 3; x++) {
        const int d = disparity_at(shot, x, y);
        int flat = d > 0 && u8_at(&shot->truth.visible, x, y) == 255;
        for (int k = -3; k <= 3; k++)
          flat = flat && rv_abs(disparity_at(shot, x + k, y) - d) <= 24 &&
                 u8_at(&shot->truth.visible, x + k, y) == 255;
        const int at = 16 * x - d + shift;
        if (!flat || at < 0 || at >> 4 > shot->width - 2)
          continue;
        const int k = at & 15, to = shot->width + (at >> 4);
        const double seen = ((16 - k) * gray_at(shot, to, y) + k * gray_at(shot, to + 1, y)) / 16.0;
        if (pass == 0) {
          left += gray_at(shot, x, y);
          right += seen;
          continue;
        }
        const double off = seen * (left / right) - gray_at(shot, x, y);
        sum += off < 0 ? -off : off;
        large += off > 12.0 || off < -12.0;
        pixels++;
      }
  *share = pixels ? (double)large / pixels : 1.0;
  return pixels ? sum / pixels : 255.0;
}

static void check_views(RvCheck *check, const char *name, RvRandom *random) {
  const int width = rvc_small(check) ? 180 : 480, height = rvc_small(check) ? 120 : 320;
  for (int p = 0; p < RV_SCENE_PATTERNS; p++)
    for (int frame = 0; p != RV_SCENE_NOISE && frame < (rvc_small(check) ? 1 : 3); frame++) {
      RvSceneConfig config = config_of(check, p, width, height);
      config.noise = 0.0;
      config.max_disparity = rvc_small(check) ? 32 : 64;
      Shot shot;
      if (!shot_new(&shot, RV_PIXEL_GRAY8, width, height) ||
          !render(check, name, &config, 70u * (unsigned)frame, &shot))
        return;
      double share, wrong_share;
      const double there = disagreement(&shot, 0, &share);
      const double left = disagreement(&shot, -32, &wrong_share);
      const double right = disagreement(&shot, 32, &wrong_share);
      const double beside = left < right ? left : right;
      rvc_true(check, name, there < 3.5 && share < 0.05,
               "%s frame %d: the views differ by %.2f levels, %.1f %% by more than 12", patterns[p],
               70 * frame, there, 100.0 * share);
      rvc_true(check, name, beside > 1.5 * there,
               "%s frame %d: two px next to the match they differ by %.2f levels, at it by %.2f",
               patterns[p], 70 * frame, beside, there);
      shot_free(&shot);
    }
}

/* Dots: what is visible matches to the bit, and most of what is not does not. */
static void check_dots(RvCheck *check, const char *name, RvRandom *random) {
  const int width = 400, height = 120;
  RvSceneConfig config = config_of(check, RV_SCENE_NOISE, width, height);
  config.noise = 0.0;
  Shot shot;
  if (!shot_new(&shot, RV_PIXEL_GRAY8, width, height) || !render(check, name, &config, 8, &shot))
    return;
  int visible = 0, hidden = 0, same_hidden = 0, wrong = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const int d = disparity_at(&shot, x, y) / 16;
      if (x - d < 0)
        continue;
      const int close = gray_at(&shot, x, y) == gray_at(&shot, width + x - d, y);
      if (u8_at(&shot.truth.visible, x, y)) {
        visible++;
        wrong += !close;
      } else {
        hidden++;
        same_hidden += close;
      }
    }
  rvc_true(check, name, visible > width * height / 3, "only %d pixels are visible", visible);
  rvc_true(check, name, wrong == 0, "%d of %d visible dots do not match", wrong, visible);
  rvc_true(check, name, hidden > 100 && 10 * same_hidden < hidden,
           "%d of %d hidden dots match all the same", same_hidden, hidden);
  shot_free(&shot);
}

/* --- Motion and noise ------------------------------------------------------------------------- */

static int differing(const Shot *a, const Shot *b) {
  int count = 0;
  for (int y = 0; y < a->height; y++)
    for (int x = 0; x < 2 * a->width; x++)
      count += gray_at(a, x, y) != gray_at(b, x, y);
  return count;
}

/* Two gray frames; 0 when there is no memory. */
static int pair_new(Shot *a, Shot *b, int width, int height) {
  return shot_new(a, RV_PIXEL_GRAY8, width, height) && shot_new(b, RV_PIXEL_GRAY8, width, height);
}

static void check_motion(RvCheck *check, const char *name, RvRandom *random) {
  const int width = 160, height = 120;
  for (int p = 0; p < RV_SCENE_PATTERNS; p++) {
    RvSceneConfig config = config_of(check, p, width, height);
    Shot first, second;
    if (!pair_new(&first, &second, width, height))
      return;
    config.noise = 0.0;
    for (int frame = 0; frame < (rvc_small(check) ? 1 : 4); frame++) {
      render(check, name, &config, (uint64_t)frame, &first);
      render(check, name, &config, (uint64_t)frame + 1, &second);
      const int moved = differing(&first, &second);
      rvc_true(check, name, moved > width * height / 20, "%s: frames %d and %d differ at %d pixels",
               patterns[p], frame, frame + 1, moved);
    }
    config.speed = 0.0;
    render(check, name, &config, 0, &first);
    render(check, name, &config, 9, &second);
    rvc_true(check, name, memcmp(first.memory, second.memory, first.bytes) == 0,
             "%s: moves at speed 0", patterns[p]);
    shot_free(&first);
    shot_free(&second);
  }
}

/* The deviation of the noise is what the config says. */
static void check_noise(RvCheck *check, const char *name, RvRandom *random) {
  const int width = 320, height = 240;
  RvSceneConfig config = config_of(check, RV_SCENE_STREET, width, height);
  Shot clean, noisy;
  if (!pair_new(&clean, &noisy, width, height))
    return;
  config.noise = 0.0;
  render(check, name, &config, 2, &clean);
  config.noise = 6.0;
  render(check, name, &config, 2, &noisy);
  double sum = 0.0, squares = 0.0;
  int pixels = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < 2 * width; x++) {
      const int level = gray_at(&clean, x, y), off = gray_at(&noisy, x, y) - level;
      if (level < 40 || level > 215)
        continue;
      sum += off;
      squares += off * off;
      pixels++;
    }
  const double mean = sum / pixels, variance = squares / pixels - mean * mean;
  rvc_true(check, name, mean > -0.15 && mean < 0.15, "the noise has mean %.3f", mean);
  rvc_true(check, name, variance > 34.0 && variance < 38.5, "variance %.2f instead of 36",
           variance);
  shot_free(&clean);
  shot_free(&noisy);
}

RVC_PARITY(RVC_CASE("scene/determinism", check_determinism, 0),
           RVC_CASE("scene/sizes", check_sizes, 0), RVC_CASE("scene/formats", check_formats, 0),
           RVC_CASE("scene/truth", check_truth, 0), RVC_CASE("scene/ground", check_ground, 0),
           RVC_CASE("scene/planes", check_planes, 0), RVC_CASE("scene/views", check_views, 0),
           RVC_CASE("scene/dots", check_dots, 0), RVC_CASE("scene/motion", check_motion, 0),
           RVC_CASE("scene/noise", check_noise, 0), {.group = rv_scene_light_cases},
           {.group = rv_scene_facts_cases}, {.group = rv_scene_reference_cases});

/* --- Benchmark and fuzz ----------------------------------------------------------------------- */

typedef struct Bench {
  RvScene *scene;
  const Shot *shot;
  uint64_t frame;
} Bench;

static RvStatus run(void *user, RvStream stream) {
  Bench *bench = user;
  (void)stream;
  return rv_scene_render(bench->scene, bench->frame++ % 300, &bench->shot->picture,
                         &bench->shot->truth);
}

static void bench_pattern(RvCheck *check, const char *name, RvScenePattern pattern) {
  if (!rvc_wants(check, name) || !rvc_cpu(check))
    return;
  const RvSceneConfig config = config_of(check, pattern, 640, 480);
  Shot shot = {0};
  Bench bench = {.shot = &shot};
  if (shot_new(&shot, RV_PIXEL_NV12, 640, 480) && rv_scene_new(&bench.scene, &config) == RV_OK)
    rvc_bench(check, name, RV_CPU, run, &bench);
  rv_scene_free(&bench.scene);
  shot_free(&shot);
}

static void bench_all(RvCheck *check) {
  bench_pattern(check, "scene/640x480", RV_SCENE_STREET);
  bench_pattern(check, "scene/640x480-slanted-street", RV_SCENE_SLANTED_STREET);
  bench_pattern(check, "scene/640x480-offroad", RV_SCENE_OFFROAD);
}

static double fuzz_double(const uint8_t *bytes) {
  double value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* 40 bytes: the config, any values; small images only. */
static void fuzz(const uint8_t *bytes, size_t size) {
  if (size < 40)
    return;
  RvSceneConfig config;
  rv_scene_config_init(&config);
  config.pattern = (RvScenePattern)(bytes[0] & 7);
  config.width = bytes[1] & 63;
  config.height = bytes[2] & 63;
  config.threads = 1;
  memcpy(&config.seed, bytes + 4, sizeof config.seed);
  config.noise = fuzz_double(bytes + 8);
  config.speed = fuzz_double(bytes + 16);
  config.frame_rate = fuzz_double(bytes + 24);
  config.max_disparity = bytes[3] * 8;
  uint64_t frame;
  memcpy(&frame, bytes + 32, sizeof frame);
  RvScene *scene = NULL;
  if (rv_scene_new(&scene, &config) != RV_OK)
    return;
  Shot shot;
  if (shot_new(&shot, formats[bytes[0] >> 3 & 3], config.width, config.height)) {
    if (rv_scene_render(scene, frame, &shot.picture, &shot.truth) != RV_OK)
      abort(); /* a valid config and a fitting image must render */
    shot_free(&shot);
  }
  rv_scene_free(&scene);
}

const RvCases rv_scene_cases = {"scene", parity, bench_all, fuzz};
