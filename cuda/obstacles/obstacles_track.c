/* SPDX-License-Identifier: MIT */
/* obstacles_track.c: obstacles over time. Host only, doubles from + - x / in a fixed order. */
#include <string.h>

#include "obstacles/obstacles.h"
#include "rv_hd.h"
#include "rv_object.h"

#define GATE 13.8          /* chi square of two degrees of freedom, 0.1 % */
#define GAP_MAX 0.5        /* s between frames, beyond which all tracks end */
#define ACCELERATION_Z 2.0 /* m/s^2, standard deviations */
#define ACCELERATION_X 1.0
#define SPEED_Z 10.0 /* m/s: of a new track */
#define SPEED_X 2.0
#define SIGMA_X 0.3 /* m */
#define SIGMA_X_BY_Z 0.01
#define SIZE_SIGMA 0.5 /* of the width, as a fraction of the larger one */
#define CONFIRM 3      /* hits */
#define MISSES 8       /* of a confirmed track */
#define MISSES_NEW 3
#define SHOWN 1       /* misses, up to which a track is returned as predicted */
#define SIDE_MIN 8    /* px: smaller predicted boxes are at the border of the image */
#define CONFIDENT 128 /* obstacles of the first round */
#define PAIRS 4096
#define CLOSING 0.5  /* m/s: slower ones have no time to collision */
#define TTC_MAX 10.0 /* s */
#define MARGIN 0.3   /* m beside the path */
#define MOVING 1.5   /* m/s above the ground */

/* Position and velocity along one axis with their covariance. */
typedef struct Axis {
  double at, v, p00, p01, p11;
} Axis;

typedef struct Track {
  uint32_t id; /* 0: not confirmed */
  int hits, missed, age;
  int obstacle; /* of this frame, -1: none */
  Axis z, x;
  RvObstacle last;
} Track;

typedef struct Pair {
  double chi;
  int track, obstacle;
} Pair;

struct RvObstaclesTracks {
  RvObstaclesConfig config;
  double time, ego_speed;
  int has_time, has_speed, count;
  uint32_t next_id;
  Track track[RV_OBSTACLES_TRACKS];
  Pair pair[PAIRS];
  RvObstacle sorted[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
  int from[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
};

/* --- Filter ---------------------------------------------------------------------------------- */

static Axis axis_new(double at, double sigma, double speed_sigma) {
  return (Axis){at, 0, sigma * sigma, 0, speed_sigma * speed_sigma};
}

static void predict(Axis *a, double dt, double acceleration) {
  const double q = acceleration * acceleration * dt * dt;
  a->at += a->v * dt;
  a->p00 += 2 * dt * a->p01 + dt * dt * a->p11 + q * dt * dt / 4;
  a->p01 += dt * a->p11 + q * dt / 2;
  a->p11 += q;
}

static void update(Axis *a, double seen, double sigma) {
  const double s = a->p00 + sigma * sigma, k0 = a->p00 / s, k1 = a->p01 / s, y = seen - a->at;
  a->at += k0 * y;
  a->v += k1 * y;
  a->p11 -= k1 * a->p01;
  a->p01 *= 1 - k0;
  a->p00 *= 1 - k0;
}

static double chi_of(const Axis *a, double seen, double sigma) {
  const double y = seen - a->at;
  return y * y / (a->p00 + sigma * sigma);
}

static double sigma_x(double z) {
  return SIGMA_X + SIGMA_X_BY_Z * z;
}

/* --- Pairs ----------------------------------------------------------------------------------- */

static int is_tracked(const RvObstacle *o) {
  return o->kind != RV_OBSTACLE_WALL && o->kind != RV_OBSTACLE_OVERHANG && o->distance > 0;
}

/* How badly an obstacle fits a track; more than GATE: not at all. */
static double misfit(const Track *t, const RvObstacle *o) {
  const double wide = t->last.width > o->width ? t->last.width : o->width;
  const double size = wide > 0 ? (t->last.width - o->width) / (SIZE_SIGMA * wide) : 0;
  return chi_of(&t->z, o->distance, o->distance_sigma) +
         chi_of(&t->x, o->lateral, sigma_x(o->distance)) + size * size;
}

static int comes_before(const Pair *a, const Pair *b) {
  if (a->chi != b->chi)
    return a->chi < b->chi;
  return a->track != b->track ? a->track < b->track : a->obstacle < b->obstacle;
}

/* Shell sort: in place, no two pairs are equal. */
static void sort_pairs(Pair *pair, int count) {
  for (int gap = count / 2; gap > 0; gap /= 2)
    for (int i = gap; i < count; i++) {
      const Pair moved = pair[i];
      int k = i;
      for (; k >= gap && comes_before(&moved, &pair[k - gap]); k -= gap)
        pair[k] = pair[k - gap];
      pair[k] = moved;
    }
}

/* Pairs free tracks with free obstacles, the best first. `taken`: track of each obstacle, -1: none. */
static void match(RvObstaclesTracks *tracks, const RvObstacle *obstacles, int count, int is_second,
                  int *taken) {
  int pairs = 0;
  for (int t = 0; t < tracks->count; t++)
    for (int k = 0; k < count && pairs < PAIRS; k++) {
      const RvObstacle *o = &obstacles[k];
      if (tracks->track[t].obstacle >= 0 || taken[k] >= 0 || !is_tracked(o) ||
          (o->confidence < CONFIDENT) != is_second)
        continue;
      const double chi = misfit(&tracks->track[t], o);
      if (chi <= GATE)
        tracks->pair[pairs++] = (Pair){chi, t, k};
    }
  sort_pairs(tracks->pair, pairs);
  for (int i = 0; i < pairs; i++) {
    Track *track = &tracks->track[tracks->pair[i].track];
    const int k = tracks->pair[i].obstacle;
    if (track->obstacle >= 0 || taken[k] >= 0)
      continue;
    track->obstacle = k;
    taken[k] = tracks->pair[i].track;
  }
}

/* --- Tracks ---------------------------------------------------------------------------------- */

static void start(RvObstaclesTracks *tracks, const RvObstacle *o, int index) {
  if (tracks->count == RV_OBSTACLES_TRACKS)
    return;
  tracks->track[tracks->count++] = (Track){.hits = 1,
                                           .obstacle = index,
                                           .z = axis_new(o->distance, o->distance_sigma, SPEED_Z),
                                           .x = axis_new(o->lateral, sigma_x(o->distance), SPEED_X),
                                           .last = *o};
}

static void hit(RvObstaclesTracks *tracks, Track *t, const RvObstacle *o) {
  update(&t->z, o->distance, o->distance_sigma);
  update(&t->x, o->lateral, sigma_x(o->distance));
  t->hits++;
  t->missed = 0;
  t->last = *o;
  if (t->hits == CONFIRM)
    t->id = ++tracks->next_id;
}

/* Drops the tracks that have ended; the others keep their order. */
static void drop(RvObstaclesTracks *tracks) {
  int kept = 0;
  for (int t = 0; t < tracks->count; t++)
    if (tracks->track[t].missed <= (tracks->track[t].id ? MISSES : MISSES_NEW) &&
        tracks->track[t].z.at > 0)
      tracks->track[kept++] = tracks->track[t];
  tracks->count = kept;
}

/* --- Results --------------------------------------------------------------------------------- */

static int is_in_path(const RvObstaclesConfig *c, const RvObstacle *o) {
  const double beside = o->lateral < 0 ? -o->lateral : o->lateral;
  return beside <= 0.5 * (c->path_width + o->width);
}

/* Time until the near face arrives at the camera, when it then is in the way; 0: none. */
static double ttc_of(const RvObstaclesConfig *c, const Track *t, const RvObstacle *o) {
  if (!t->id || !(t->z.v < -CLOSING) || o->kind == RV_OBSTACLE_OVERHANG)
    return 0;
  const double ttc = -t->z.at / t->z.v, x = t->x.at + t->x.v * ttc;
  const double beside = x < 0 ? -x : x;
  return ttc <= TTC_MAX && beside <= 0.5 * (c->path_width + o->width) + MARGIN ? ttc : 0;
}

static void describe(const RvObstaclesTracks *tracks, const Track *t, RvObstacle *o) {
  const double hits = t->hits < CONFIRM ? t->hits : CONFIRM;
  o->id = t->id;
  o->velocity_z = (float)(t->id ? t->z.v : 0);
  o->velocity_x = (float)(t->id ? t->x.v : 0);
  o->ttc = (float)ttc_of(&tracks->config, t, o);
  o->age = (uint16_t)rv_min(t->age, 65535);
  o->missed = (uint16_t)t->missed;
  o->confidence = (uint8_t)(o->confidence * hits / CONFIRM / (1 + t->missed));
  o->state = (uint8_t)(!t->id      ? RV_OBSTACLE_NEW
                       : t->missed ? RV_OBSTACLE_PREDICTED
                                   : RV_OBSTACLE_TRACKED);
  const double z = t->z.v + tracks->ego_speed, speed = z * z + t->x.v * t->x.v;
  if (t->id && tracks->has_speed && speed > MOVING * MOVING)
    o->flags |= RV_OBSTACLE_MOVING;
}

static double cut(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

/* Where a track without an obstacle is now; 0: outside of the image. */
static int predicted(const RvObstaclesTracks *tracks, const Track *t, RvObstacle *o) {
  const RvObstaclesConfig *c = &tracks->config;
  *o = t->last;
  if (!(t->z.at > 0.5))
    return 0;
  const double scale = t->last.distance / t->z.at;
  const double middle = c->camera.cx + c->camera.focal * t->x.at / t->z.at;
  const double horizon = c->camera.cy; /* rows move away from about the horizon */
  const double left = cut(middle - 0.5 * scale * t->last.w, 0, c->width);
  const double right = cut(middle + 0.5 * scale * t->last.w, 0, c->width);
  const double top = cut(horizon + scale * (t->last.y - horizon), 0, c->height);
  const double bottom = cut(horizon + scale * (t->last.y + t->last.h - horizon), 0, c->height);
  o->x = (uint16_t)left;
  o->y = (uint16_t)top;
  o->w = (uint16_t)((uint16_t)right - o->x);
  o->h = (uint16_t)((uint16_t)bottom - o->y);
  o->distance = (float)t->z.at;
  o->lateral = (float)t->x.at;
  o->flags = (uint8_t)(is_in_path(c, o) ? RV_OBSTACLE_IN_PATH : 0);
  return o->w >= SIDE_MIN && o->h >= SIDE_MIN;
}

/* Insertion sort by distance: keeps the order of equal ones. */
static void sort_by_distance(RvObstacle *obstacles, int *from, int count) {
  for (int i = 1; i < count; i++) {
    const RvObstacle moved = obstacles[i];
    const int origin = from[i];
    int k = i;
    for (; k > 0 && moved.distance < obstacles[k - 1].distance; k--) {
      obstacles[k] = obstacles[k - 1];
      from[k] = from[k - 1];
    }
    obstacles[k] = moved;
    from[k] = origin;
  }
}

/* --- Public ---------------------------------------------------------------------------------- */

RvStatus rv_obstacles_tracks_new(RvObstaclesTracks **out, const RvObstaclesConfig *config) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_obstacles_config_check(config));
  RvObstaclesTracks *tracks = rv_object_memory(&config->log, "obstacles", sizeof *tracks);
  if (!tracks)
    return RV_ERR_NO_MEMORY;
  tracks->config = *config;
  *out = tracks;
  return RV_OK;
}

RvStatus rv_obstacles_tracks_set_config(RvObstaclesTracks *tracks,
                                        const RvObstaclesConfig *config) {
  if (!tracks)
    return RV_ERR_ARG;
  RV_TRY(rv_obstacles_config_check(config));
  const RvCamera *a = &tracks->config.camera, *b = &config->camera;
  if (tracks->config.width != config->width || tracks->config.height != config->height ||
      a->focal != b->focal || a->baseline != b->baseline || a->doffs != b->doffs ||
      a->cx != b->cx || a->cy != b->cy)
    rv_obstacles_tracks_reset(tracks);
  tracks->config = *config;
  return RV_OK;
}

void rv_obstacles_tracks_set_speed(RvObstaclesTracks *tracks, double speed, int is_known) {
  tracks->ego_speed = speed;
  tracks->has_speed = is_known;
}

static void advance(RvObstaclesTracks *tracks, double time) {
  const double dt = time - tracks->time;
  if (!tracks->has_time || !(dt >= 0 && dt <= GAP_MAX))
    tracks->count = 0;
  for (int t = 0; t < tracks->count; t++) {
    Track *track = &tracks->track[t];
    predict(&track->z, dt, ACCELERATION_Z);
    predict(&track->x, dt, ACCELERATION_X);
    track->obstacle = -1;
    track->age++;
  }
  tracks->time = time;
  tracks->has_time = 1;
}

RvStatus rv_obstacles_track(RvObstaclesTracks *tracks, double time, RvObstacle *obstacles,
                            int count, int capacity, int *total, int *indices) {
  if (!tracks)
    return RV_ERR_ARG;
  RV_REQUIRE(
      &tracks->config.log,
      obstacles && total && count >= 0 && count <= RV_OBSTACLES_MAX && capacity >= count,
      "obstacles: track requires obstacles, total, and 0 to %d obstacles within the capacity",
      RV_OBSTACLES_MAX);
  int taken[RV_OBSTACLES_MAX], sum = count;
  for (int k = 0; k < count; k++)
    taken[k] = -1;
  advance(tracks, time);
  match(tracks, obstacles, count, 0, taken);
  match(tracks, obstacles, count, 1, taken);
  for (int t = 0; t < tracks->count; t++) {
    Track *track = &tracks->track[t];
    if (track->obstacle >= 0)
      hit(tracks, track, &obstacles[track->obstacle]);
    else
      track->missed++;
  }
  drop(tracks);
  for (int k = 0; k < count; k++)
    if (taken[k] < 0 && is_tracked(&obstacles[k]))
      start(tracks, &obstacles[k], k);
  memcpy(tracks->sorted, obstacles, (size_t)count * sizeof *obstacles);
  for (int k = 0; k < count; k++)
    tracks->from[k] = k;
  for (int t = 0; t < tracks->count; t++) {
    const Track *track = &tracks->track[t];
    RvObstacle *o = &tracks->sorted[track->obstacle >= 0 ? track->obstacle : sum];
    if (track->obstacle < 0 &&
        (!track->id || track->missed > SHOWN || sum >= capacity || !predicted(tracks, track, o)))
      continue;
    describe(tracks, track, o);
    if (track->obstacle < 0)
      tracks->from[sum++] = -1;
  }
  sort_by_distance(tracks->sorted, tracks->from, sum);
  memcpy(obstacles, tracks->sorted, (size_t)sum * sizeof *obstacles);
  if (indices)
    memcpy(indices, tracks->from, (size_t)sum * sizeof *indices);
  *total = sum;
  return RV_OK;
}

void rv_obstacles_tracks_reset(RvObstaclesTracks *tracks) {
  if (!tracks)
    return;
  tracks->count = 0;
  tracks->has_time = 0;
}

void rv_obstacles_tracks_free(RvObstaclesTracks **tracks) {
  if (!tracks)
    return;
  rv_memory_free(*tracks, RV_CPU);
  *tracks = NULL;
}
