/* SPDX-License-Identifier: MIT */
/* scene_light_cases.c: on `offroad` the light jumps from one frame to the next, for both views
 * alike; on the other patterns it does not. */
#include "scene/scene_light_cases.h"
#include "scene/scene.h"

enum { WIDTH = 48, HEIGHT = 36, FRAMES = 120 };

/* Mean gray of one view's lower half, which is ground. */
static double mean_level(const uint8_t *gray, int view) {
  int sum = 0;
  for (int y = HEIGHT / 2; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      sum += gray[y * 2 * WIDTH + view * WIDTH + x];
  return sum / (double)(WIDTH * (HEIGHT / 2));
}

typedef struct Jumps {
  int both, one; /* frames whose level jumps by a fifth in both views; in one, in the other not */
} Jumps;

/* Frames follow each other closely enough that what is seen cannot explain a jump. */
static Jumps count_jumps(RvScene *scene) {
  uint8_t gray[2 * WIDTH * HEIGHT];
  const RvPicture picture = {RV_PIXEL_GRAY8, 2 * WIDTH, HEIGHT, {gray}, {2 * WIDTH}};
  Jumps jumps = {0, 0};
  double before[2] = {0.0, 0.0};
  for (int frame = 0; frame < FRAMES; frame++) {
    if (rv_scene_render(scene, (uint64_t)frame, &picture, NULL) != RV_OK)
      return (Jumps){0, FRAMES};
    int jumped[2], stayed[2];
    for (int view = 0; view < 2; view++) {
      const double now = mean_level(gray, view), ratio = frame ? now / before[view] : 1.0;
      jumped[view] = ratio > 1.2 || ratio < 1.0 / 1.2;
      stayed[view] = ratio < 1.1 && ratio > 1.0 / 1.1;
      before[view] = now;
    }
    jumps.both += jumped[0] && jumped[1];
    jumps.one += (jumped[0] && stayed[1]) || (jumped[1] && stayed[0]);
  }
  return jumps;
}

static void check_cases(RvCheck *check, const char *name, RvRandom *random) {
  for (int pattern = 0; pattern < RV_SCENE_PATTERNS; pattern++) {
    if (pattern == RV_SCENE_NOISE)
      continue;
    RvSceneConfig config;
    rv_scene_config_init(&config);
    config.pattern = (RvScenePattern)pattern;
    config.width = WIDTH;
    config.height = HEIGHT;
    config.max_disparity = 16;
    config.speed = 50.0;
    config.frame_rate = 60.0;
    config.threads = 1; /* next to no pixels */
    config.log = rvc_log(check);
    RvScene *scene = NULL;
    if (!rvc_true(check, name, rv_scene_new(&scene, &config) == RV_OK, "no scene"))
      return;
    const Jumps jumps = count_jumps(scene);
    rv_scene_free(&scene);
    const int wild = pattern == RV_SCENE_OFFROAD;
    rvc_true(check, name, jumps.one == 0 && (wild ? jumps.both >= 2 : jumps.both == 0),
             "pattern %d: the light of %d frames jumps for both views, of %d for one", pattern,
             jumps.both, jumps.one);
  }
}

RVC_CASES(rv_scene_light_cases, RVC_CASE("scene/light", check_cases, 0));
