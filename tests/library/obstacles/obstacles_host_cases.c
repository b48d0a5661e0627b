/* SPDX-License-Identifier: MIT */
/* obstacles_host_cases.c: measures and tracks of obstacles, which have no engine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ground/ground_inputs.h"
#include "obstacles/obstacles.h"
#include "obstacles/obstacles_cases.h"

#define RATE 20.0 /* frames per second */

static RvObstaclesConfig config_new(RvCheck *check) {
  RvObstaclesConfig c;
  GROUND_INPUT_CONFIG(obstacles, &c, 640, 400);
  c.log = rvc_log(check);
  return c;
}

/* A box of 1.8 x 1.5 m on the ground whose face is at (z, x), measured with `noise` px. */
static RvObstacle object_at(const RvObstaclesConfig *c, RvRandom *random, double z, double x,
                            double noise) {
  const double d =
      c->camera.focal * c->camera.baseline / z + noise * (rvc_next(random) / 2147483648.0 - 1);
  const double seen = c->camera.focal * c->camera.baseline / d, scale = c->camera.focal / seen;
  RvObstacle o;
  memset(&o, 0, sizeof o);
  o.distance = (float)seen;
  o.lateral = (float)x;
  o.width = 1.8f;
  o.height = 1.5f;
  o.distance_sigma = (float)(0.25 * seen * seen / (c->camera.focal * c->camera.baseline) + 0.1);
  o.x = (uint16_t)(int)(c->camera.cx + (x - 0.9) * scale);
  o.w = (uint16_t)(1.8 * scale);
  o.y = 100;
  o.h = (uint16_t)(1.5 * scale);
  o.confidence = 255;
  return o;
}

static RvObstaclesTracks *tracks_new(RvCheck *check, const char *name, const RvObstaclesConfig *c) {
  RvObstaclesTracks *tracks = NULL;
  rvc_true(check, name, rv_obstacles_tracks_new(&tracks, c) == RV_OK, "tracks_new failed");
  return tracks;
}

/* Three obstacles, one that comes closer, one that crosses, one that stands: ids stay, velocities and
 * times to collision are right. */
static void check_motion(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  uint32_t ids[3] = {0, 0, 0};
  for (int frame = 0; tracks && frame < 50; frame++) {
    const double t = frame / RATE, z[3] = {30 - 8 * t, 18, 12}, x[3] = {0.2, -6 + 3 * t, 5};
    RvObstacle list[16];
    int total = 0, from[16];
    for (int k = 0; k < 3; k++)
      list[k] = object_at(&c, random, z[k], x[k], 0.2);
    rvc_true(check, name, rv_obstacles_track(tracks, t, list, 3, 16, &total, from) == RV_OK,
             "track failed");
    for (int k = 0; k < total; k++) {
      const RvObstacle *o = &list[k];
      if (from[k] < 0 || frame < 3)
        continue;
      ids[from[k]] = ids[from[k]] ? ids[from[k]] : o->id;
      rvc_true(check, name, o->id && o->id == ids[from[k]] && o->state == RV_OBSTACLE_TRACKED,
               "frame %d: obstacle %d has id %u, expected %u", frame, from[k], o->id, ids[from[k]]);
      if (frame < 30)
        continue;
      const double vz = from[k] == 0 ? -8 : 0, vx = from[k] == 1 ? 3 : 0;
      rvc_true(check, name, fabs(o->velocity_z - vz) < 0.8 && fabs(o->velocity_x - vx) < 0.5,
               "frame %d: obstacle %d moves at %g %g m/s", frame, from[k], o->velocity_z,
               o->velocity_x);
      const double ttc = z[0] / 8;
      rvc_true(check, name, from[k] == 0 ? fabs(o->ttc / ttc - 1) < 0.15 : o->ttc == 0,
               "frame %d: obstacle %d has a time to collision of %g s", frame, from[k], o->ttc);
      rvc_true(check, name, k == 0 || list[k - 1].distance <= o->distance, "not sorted");
    }
  }
  rvc_true(check, name, ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "equal ids");
  rv_obstacles_tracks_free(&tracks);
}

/* Misses, pauses, time that goes back. */
static void check_gaps(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  RvObstacle list[4];
  int total = 0;
  double t = 0;
  uint32_t id = 0;
  for (int frame = 0; tracks && frame < 40; frame++, t += 1 / RATE) {
    const int is_seen = frame < 10 || (frame >= 15 && frame < 20) || frame >= 32;
    list[0] = object_at(&c, random, 15, 0, 0.1);
    rv_obstacles_track(tracks, t, list, is_seen, 4, &total, NULL);
    if (frame == 9)
      id = list[0].id;
    if (frame == 10)
      rvc_true(check, name,
               total == 1 && list[0].id == id && list[0].state == RV_OBSTACLE_PREDICTED &&
                   list[0].missed == 1 && fabs(list[0].distance - 15) < 0.5,
               "a track is not predicted");
    if (frame == 19)
      rvc_true(check, name, total == 1 && list[0].id == id && id, "5 misses end a track");
    if (frame == 31)
      rvc_true(check, name, total == 0, "a track outlives 12 misses");
    if (frame == 39)
      rvc_true(check, name, list[0].id == id + 1, "the next id is %u, expected %u", list[0].id,
               id + 1);
  }
  for (int frame = 0; tracks && frame < 8; frame++) { /* 60 s later; at frame 4 back in time */
    list[0] = object_at(&c, random, 15, 0, 0.1);
    rv_obstacles_track(tracks, (frame < 4 ? t + 60 : t) + frame / RATE, list, 1, 4, &total, NULL);
    rvc_true(check, name, frame % 4 ? list[0].id == id : list[0].id == id + 1 + (frame == 0),
             "frame %d after a pause: id %u after %u", frame, list[0].id, id);
    rvc_true(check, name, frame % 4 > 1 || list[0].velocity_z == 0,
             "frame %d after a pause: %g m/s at once", frame, list[0].velocity_z);
    id = list[0].id;
  }
  if (tracks) {
    rv_obstacles_tracks_reset(tracks);
    list[0] = object_at(&c, random, 15, 0, 0.1);
    rv_obstacles_track(tracks, t + 1, list, 1, 4, &total, NULL);
    rvc_true(check, name, list[0].id == id + 1 && total == 1, "a reset keeps tracks");
  }
  rv_obstacles_tracks_free(&tracks);
  rv_obstacles_tracks_free(&tracks);
  rv_obstacles_tracks_free(NULL);
}

/* Ids stay: of an oncoming car at 50 m/s and few frames, of a car that a wall joins for some frames,
 * and of one of which a pole hides the left half. */
static void check_ids(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  uint32_t ids[3] = {0, 0, 0};
  for (int frame = 0; tracks && frame < 20; frame++) {
    const double t = frame / RATE;
    RvObstacle list[16];
    int total = 0, from[16];
    list[0] = object_at(&c, random, 60 - 50 * t, -4, 0.05);
    list[1] = object_at(&c, random, 15, 4, 0.05);
    list[2] = object_at(&c, random, 11, 0, 0.05);
    list[1].kind = frame / 3 % 3 == 1 ? RV_OBSTACLE_WALL : RV_OBSTACLE_OBJECT;
    if (frame / 4 % 2) {
      list[2].lateral += 0.45f;
      list[2].width = 0.9f;
      list[2].x += list[2].w / 2;
      list[2].w /= 2;
    }
    rv_obstacles_track(tracks, t, list, 3, 16, &total, from);
    for (int k = 0; k < total; k++) {
      if (from[k] < 0 || frame < 8 || list[k].distance < 3)
        continue;
      ids[from[k]] = ids[from[k]] ? ids[from[k]] : list[k].id;
      rvc_true(check, name, list[k].id && list[k].id == ids[from[k]],
               "frame %d: obstacle %d has id %u, expected %u", frame, from[k], list[k].id,
               ids[from[k]]);
      rvc_true(check, name, from[k] != 2 || fabs(list[k].velocity_x) < 0.8,
               "frame %d: what is half hidden moves at %g m/s", frame, list[k].velocity_x);
    }
  }
  rv_obstacles_tracks_free(&tracks);
}

/* Visible part of a car 20 m away, from -2 to 2 m, behind one 8 m away at x; 0: too little. */
static int behind(const RvObstaclesConfig *c, RvObstacle *car, double x, double width) {
  const double left = 2.5 * (x - width / 2), right = 2.5 * (x + width / 2); /* at 20 m */
  const double from = left > -2 ? -2 : fmax(right, -2), to = left > -2 ? fmin(left, 2) : 2;
  if (to - from < 0.5)
    return 0;
  car->lateral = (float)(0.5 * (from + to));
  car->width = (float)(to - from);
  car->x = (uint16_t)(c->camera.cx + from * c->camera.focal / 20);
  car->w = (uint16_t)(car->width * c->camera.focal / 20);
  return 1;
}

/* A car that another one hides while it crosses, first its right side, then all of it in `least` frames or
 * more, then its left side, keeps its id. */
static void hide(RvCheck *check, const char *name, RvRandom *random, double speed, double width,
                 int least) {
  const RvObstaclesConfig c = config_new(check);
  const int frames = (int)(14 / speed * RATE) + 1;
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  uint32_t id = 0;
  int unseen = 0, last = 0;
  for (int frame = 0; tracks && frame < frames; frame++) {
    const double t = frame / RATE, x = 6 - speed * t;
    RvObstacle list[16];
    int total = 0, from[16];
    list[0] = object_at(&c, random, 8, x, 0.05);
    const double left = c.camera.cx + (x - width / 2) * c.camera.focal / 8; /* of the image: 0 */
    list[0].x = (uint16_t)(left > 0 ? left : 0);
    list[0].w = (uint16_t)(left > 0 ? width * c.camera.focal / 8
                                    : fmax(1, left + width * c.camera.focal / 8));
    list[0].width = (float)width;
    list[1] = object_at(&c, random, 20, 0, 0.05);
    const int count = 1 + behind(&c, &list[1], x, width);
    rv_obstacles_track(tracks, t, list, count, 16, &total, from);
    unseen += count == 1;
    for (int k = 0; k < total; k++) {
      if (from[k] != 1 || frame < 6)
        continue;
      id = id ? id : list[k].id;
      last = frame;
      rvc_true(check, name, id && list[k].id == id, "frame %d: id %u, expected %u", frame,
               list[k].id, id);
    }
  }
  rvc_true(check, name, unseen >= least && last == frames - 1,
           "hidden in %d frames, last seen in %d", unseen, last);
  rv_obstacles_tracks_free(&tracks);
}

/* Behind a car, and behind a wide one that is slower: it becomes narrow by an eighth per frame, and is hidden
 * for longer than a track outlives misses in the open. */
static void check_hidden(RvCheck *check, const char *name, RvRandom *random) {
  hide(check, name, random, 9, 1.8, 1);
  hide(check, name, random, 4, 3.4, 9);
}

/* Two cars that are one box in some frames keep their ids and are returned in it; that box has none. */
static void check_joined(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  uint32_t ids[2] = {0, 0};
  for (int frame = 0; tracks && frame < 30; frame++) {
    const int is_joined = frame >= 15 && frame < 20;
    RvObstacle list[16];
    int total = 0, from[16];
    list[0] = object_at(&c, random, 15, -2.7, 0.05);
    list[1] = object_at(&c, random, 15, 2.7, 0.05);
    if (is_joined) {
      list[0].w = (uint16_t)(list[1].x + list[1].w - list[0].x);
      list[0].lateral = 0;
      list[0].width = 7.2f;
      list[0].kind = RV_OBSTACLE_WALL;
    }
    rv_obstacles_track(tracks, frame / RATE, list, is_joined ? 1 : 2, 16, &total, from);
    for (int k = 0; k < total; k++) {
      const uint32_t id = list[k].id;
      const int i = from[k] < 0 ? id == ids[1] : from[k];
      ids[i] = frame == 14 ? id : ids[i];
      rvc_true(check, name,
               frame < 14 || (is_joined && from[k] == 0 ? id == 0 : id && id == ids[i]),
               "frame %d: obstacle %d has id %u, the cars %u and %u", frame, from[k], id, ids[0],
               ids[1]);
      rvc_true(check, name, from[k] >= 0 || (is_joined && list[k].state == RV_OBSTACLE_TRACKED),
               "frame %d: state %d of what is joined", frame, list[k].state);
    }
    rvc_true(check, name, total == 2 + is_joined, "frame %d: %d obstacles", frame, total);
  }
  rvc_true(check, name, ids[0] && ids[0] != ids[1], "ids %u and %u", ids[0], ids[1]);
  rv_obstacles_tracks_free(&tracks);
}

/* By how much the velocity of a new obstacle that stands is wrong in its first frames with one, next
 * to `others` that stand too; one at 17 m/s is told from them. */
static double first_error(RvCheck *check, const char *name, RvRandom *random, int others) {
  const RvObstaclesConfig c = config_new(check);
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  double worst = 0, moved = 0;
  for (int frame = 0; tracks && frame < 44; frame++) {
    const double t = frame / RATE, late = t - 1;
    RvObstacle list[16];
    int total = 0, from[16], count = 0;
    for (int k = 0; k < others; k++)
      list[count++] = object_at(&c, random, 22 + 3 * k - 8 * t, 4 * k - 6, 0.1);
    const int first = count;
    if (frame >= 20) {
      list[count++] = object_at(&c, random, 26 - 8 * late, -3, 0.4);
      list[count++] = object_at(&c, random, 30 - 17 * late, 3, 0.1);
    }
    rv_obstacles_track(tracks, t, list, count, 16, &total, from);
    for (int k = 0; k < total; k++) {
      if (from[k] == first && list[k].id && list[k].age >= 2 && frame < 30)
        worst = fmax(worst, fabs((double)list[k].velocity_z + 8));
      if (from[k] == first + 1 && frame == 43)
        moved = list[k].velocity_z;
    }
  }
  rvc_true(check, name, fabs(moved + 17) < 1.5, "%d others: what moves has %g m/s", others, moved);
  rv_obstacles_tracks_free(&tracks);
  return worst;
}

/* Among things that stand, a new one is taken to stand too: half the error at least. */
static void check_standing(RvCheck *check, const char *name, RvRandom *random) {
  double alone = 0, among = 0;
  for (int k = 0; k < 8; k++) {
    alone += first_error(check, name, random, 0);
    among += first_error(check, name, random, 4);
  }
  rvc_true(check, name, among > 0 && 2 * among < alone,
           "the velocity is off by %g m/s among others, %g m/s alone", among / 8, alone / 8);
}

/* A vehicle at 8 m/s that turns to the right by 0.4 rad/s passes a thing that stands: with the yaw rate
 * its velocity is that of the vehicle, without it everything seems to move to the left. */
static void check_turn(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  static const double rates[] = {0.4, 0, NAN};
  for (int i = 0; i < 3; i++) {
    RvObstaclesTracks *tracks = tracks_new(check, name, &c);
    RvObstacle o = {0};
    double z = 26, x = 8;
    int total = 0;
    for (int frame = 0; tracks && frame < 30; frame++) {
      rv_obstacles_tracks_set_yaw_rate(tracks, rates[i]);
      o = object_at(&c, random, z, x, 0.05);
      rv_obstacles_track(tracks, frame / RATE, &o, 1, 1, &total, NULL);
      const double angle = 0.4 / RATE, ahead = z - 8 / RATE;
      z = ahead * cos(angle) + x * sin(angle);
      x = x * cos(angle) - ahead * sin(angle);
    }
    const int is_right = fabs((double)o.velocity_x) < 0.8 && fabs((double)o.velocity_z + 8) < 0.8;
    rvc_true(check, name, o.id == 1 && is_right == (i == 0) && (i == 0 || o.velocity_x < -3),
             "yaw rate %g: id %u moves at %g %g m/s", rates[i], o.id, o.velocity_z, o.velocity_x);
    rv_obstacles_tracks_free(&tracks);
  }
}

/* Boxes of others as obstacles: clipped, and followed. */
static void check_rects(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  const double fb = c.camera.focal * c.camera.baseline;
  RvObstaclesDepth depth = {20 * 16, 200, 0};
  RvObstacle o;
  rv_obstacles_measure_rect(&c, &(RvObstaclesRect){-10, 380, 50, 100}, &depth, &o);
  rvc_true(check, name,
           o.x == 0 && o.w == 40 && o.y == 380 && o.h == c.height - 380 && o.confidence == 200 &&
               fabs(o.distance - fb / 20) < 1e-4 && o.kind == RV_OBSTACLE_OBJECT && o.id == 0 &&
               fabs(o.width - 50 * fb / 20 / c.camera.focal) < 1e-4,
           "box at %d,%d %dx%d, %g m wide", o.x, o.y, o.w, o.h, o.width);
  static const RvObstaclesRect outside[] = {{INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX},
                                            {INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX},
                                            {5, 5, 0, 0},
                                            {5, 5, -7, -7}};
  for (int k = 0; k < 4; k++) {
    rv_obstacles_measure_rect(&c, &outside[k], &(RvObstaclesDepth){0, 0, 0}, &o);
    rvc_true(check, name,
             o.distance == 0 && o.x + o.w <= c.width && o.y + o.h <= c.height &&
                 (size_t)o.w * o.h == 0,
             "box %d: %d,%d %dx%d at %g m", k, o.x, o.y, o.w, o.h, o.distance);
  }
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  int total = 0;
  for (int frame = 0; tracks && frame < 20; frame++) {
    const double z = 20 - 5 * frame / RATE, w = 1.8 * c.camera.focal / z;
    depth.disparity = (uint16_t)(16 * fb / z + 0.5);
    const RvObstaclesRect rect = {(int)(c.camera.cx - w / 2), 150, (int)w, (int)w};
    rv_obstacles_measure_rect(&c, &rect, &depth, &o);
    rv_obstacles_track(tracks, frame / RATE, &o, 1, 1, &total, NULL);
  }
  rvc_true(check, name, o.id == 1 && fabs(o.velocity_z + 5) < 0.5 && fabs(o.ttc - 3.05) < 0.4,
           "id %u moves at %g m/s, time to collision %g s", o.id, o.velocity_z, o.ttc);
  rv_obstacles_tracks_free(&tracks);
}

/* As many obstacles as there can be, and none. */
static void check_full(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  RvObstaclesTracks *tracks = tracks_new(check, name, &c);
  static RvObstacle list[2 * RV_OBSTACLES_MAX];
  int total = 0;
  for (int frame = 0; tracks && frame < 12; frame++) {
    const int count = frame == 5 ? 0 : RV_OBSTACLES_MAX;
    for (int k = 0; k < count; k++)
      list[k] = object_at(&c, random, 3 + 0.3 * k, rvc_range(random, -40, 40) / 4.0, 0.3);
    rvc_true(check, name,
             rv_obstacles_track(tracks, frame / RATE, list, count, 2 * RV_OBSTACLES_MAX, &total,
                                NULL) == RV_OK &&
                 total >= count && total <= 2 * RV_OBSTACLES_MAX,
             "frame %d: %d obstacles of %d", frame, total, count);
    for (int k = 1; k < total; k++)
      rvc_true(check, name, list[k - 1].distance <= list[k].distance, "not sorted");
  }
  rvc_true(check, name,
           rv_obstacles_track(tracks, 1, list, RV_OBSTACLES_MAX + 1, 2 * RV_OBSTACLES_MAX, &total,
                              NULL) == RV_ERR_ARG &&
               rv_obstacles_track(tracks, 1, list, 4, 3, &total, NULL) == RV_ERR_ARG &&
               rv_obstacles_track(NULL, 1, list, 0, 3, &total, NULL) == RV_ERR_ARG,
           "bad arguments are accepted");
  rv_obstacles_tracks_free(&tracks);
}

/* Meters of a computed box, and the area of a computed free space. */
static void check_measures(RvCheck *check, const char *name, RvRandom *random) {
  const RvObstaclesConfig c = config_new(check);
  const RvGroundSurface ground = rv_ground_of_camera(&c.camera);
  const double fb = c.camera.focal * c.camera.baseline; /* 200 */
  const RvObstacleBox box = {.left = 300,
                             .right = 339,
                             .top = 100,
                             .bottom = 170,
                             .near_d = 20 * 256,
                             .far_d = 16 * 256,
                             .votes = 2000,
                             .valid = 200};
  RvObstacle o;
  rv_obstacles_measure(&c, &ground, &box, &o);
  const double scale = c.camera.baseline / 20;
  rvc_true(check, name,
           fabs(o.distance - fb / 20) < 1e-4 && fabs(o.length - (fb / 16 - fb / 20)) < 1e-4 &&
               fabs(o.width - 40 * scale) < 1e-4 &&
               fabs(o.lateral - (319.5 - c.camera.cx) * scale) < 1e-4 && o.x == 300 && o.w == 40 &&
               o.y == 100,
           "distance %g length %g width %g lateral %g", o.distance, o.length, o.width, o.lateral);
  rvc_true(check, name, o.flags == RV_OBSTACLE_IN_PATH, "flags %d of a box straight ahead",
           o.flags);
  const double foot = (20 - ground.intercept) / ground.slope_y;
  rvc_true(check, name, fabs(o.height + o.bottom - (foot - 100) * scale) < 1e-4,
           "height %g bottom %g, row of the ground %g", o.height, o.bottom, foot);
  RvObstaclesDepth depth = {20 * 16, 255, 0};
  double x;
  const RvObstaclesRect rect = {300, 0, 40, 10};
  rvc_true(check, name,
           fabs(rv_obstacles_depth(&c, &rect, &depth, &x) - fb / 20) < 1e-9 &&
               fabs(x - (319.5 - c.camera.cx) * scale) < 1e-9,
           "depth of a box");
  depth.disparity = 0;
  rvc_true(check, name, rv_obstacles_depth(&c, &rect, &depth, &x) == 0 && x == 0, "no depth");
  int strips, width;
  rv_obstacles_size(&c, &strips, &width);
  RvFreeColumn columns[400];
  memset(columns, 0, sizeof columns);
  for (int k = 0; k < strips; k++)
    columns[k].disparity = 20 * 16;
  const double area = 0.5 * (fb / 20) * (fb / 20) * strips * width / c.camera.focal;
  rvc_true(check, name, fabs(rv_obstacles_free_area(&c, columns) / area - 1) < 1e-9,
           "area %g of %g", rv_obstacles_free_area(&c, columns), area);
}

RVC_CASES(obstacles_host_parity, RVC_CASE("obstacles/measures", check_measures, 0),
          RVC_CASE("obstacles/motion", check_motion, 0), RVC_CASE("obstacles/gaps", check_gaps, 0),
          RVC_CASE("obstacles/ids", check_ids, 0), RVC_CASE("obstacles/full", check_full, 0),
          RVC_CASE("obstacles/hidden", check_hidden, 0),
          RVC_CASE("obstacles/joined", check_joined, 0),
          RVC_CASE("obstacles/standing", check_standing, 0),
          RVC_CASE("obstacles/turn", check_turn, 0), RVC_CASE("obstacles/rects", check_rects, 0));
