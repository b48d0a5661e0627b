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
#define SPEED_Z 30.0 /* m/s: of a new track; oncoming ones have 60 */
#define SPEED_X 2.0
#define SIGMA_X 0.3 /* m */
#define SIGMA_X_BY_Z 0.01
#define SIZE_SIGMA 0.5  /* of the width, as a fraction of the larger one */
#define NEAR_SIGMA 0.03 /* of the distance: standard deviation of near ones, and of far ones */
#define FAR_SIGMA 0.04
#define SCORE_MAX 8     /* hits less misses, at most */
#define SCORE_LAST (-4) /* ends a track */
#define APART 10.0      /* of the gate: cost of boxes that do not overlap at all */
#define BORDER 64       /* 1/64 of the image's width: what ends there is cut */
#define CUT_SIGMA 2.0   /* m, further deviation in Z of what the image cuts */
#define CONFIRM 3       /* hits */
#define MISSES 8        /* of a confirmed track */
#define MISSES_NEW 3
#define SHOWN 1       /* misses, up to which a track is returned as predicted */
#define SIDE_MIN 8    /* px: smaller predicted boxes are at the border of the image */
#define CONFIDENT 128 /* obstacles of the first round */
#define PAIRS 4096
#define CLOSING 0.5  /* m/s: slower ones have no time to collision */
#define TTC_MAX 10.0 /* s */
#define MARGIN 0.3   /* m next to the path */
#define MOVING 1.5   /* m/s above the ground */

/* Position and velocity along one axis with their covariance. */
typedef struct Axis {
  double at, v, p00, p01, p11;
} Axis;

typedef struct Track {
  uint32_t id; /* 0: not confirmed */
  int hits, missed, age;
  int score;    /* hits less misses */
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

/* Takes over a position that says nothing of the velocity. */
static void place(Axis *a, double seen, double sigma) {
  a->at = seen;
  a->p00 = sigma * sigma;
  a->p01 = 0;
}

static double chi_of(const Axis *a, double seen, double sigma) {
  const double y = seen - a->at;
  return y * y / (a->p00 + sigma * sigma);
}

static double sigma_x(double z) {
  return SIGMA_X + SIGMA_X_BY_Z * z;
}

/* Where the image cuts an obstacle, its nearest visible point is not always the same one. */
static double sigma_z(const RvObstacle *o, int cut) {
  return cut ? o->distance_sigma + CUT_SIGMA : o->distance_sigma;
}

/* --- Pairs ----------------------------------------------------------------------------------- */

static int is_tracked(const RvObstacle *o) {
  return o->kind != RV_OBSTACLE_WALL && o->kind != RV_OBSTACLE_OVERHANG && o->distance > 0;
}

/* What continues a track; a wall, when the track has an id: objects that join for some frames. */
static int continues(const Track *t, const RvObstacle *o) {
  return is_tracked(o) || (o->kind == RV_OBSTACLE_WALL && t->id && o->distance > 0);
}

static double nearer_zero(double a, double b) {
  return a * a < b * b ? a : b;
}

/* What covers a part of an object, or the border of the image, moves its visible center and one
 * of its sides. How far an obstacle is beside its track is what center and sides moved least;
 * where the image cuts it, what the other side moved. */
static double beside(const Track *t, const RvObstacle *o, int cut) {
  const double center = o->lateral - t->x.at, grown = 0.5 * (o->width - t->last.width);
  const double left = center - grown, right = center + grown;
  return cut == RV_OBSTACLE_CUT_LEFT    ? right
         : cut == RV_OBSTACLE_CUT_RIGHT ? left
                                        : nearer_zero(center, nearer_zero(left, right));
}

/* The sides at which the image ends before the object: in the left border of the image, as wide as
 * the disparity, the other camera sees nothing. */
static int cut_of(const RvObstaclesConfig *c, const RvObstacle *o) {
  const double margin = (double)c->width / BORDER;
  const double d = c->camera.focal * c->camera.baseline / o->distance - c->camera.doffs;
  return (o->x <= d + margin ? RV_OBSTACLE_CUT_LEFT : 0) |
         (o->x + o->w >= c->width - margin ? RV_OBSTACLE_CUT_RIGHT : 0);
}

static double change(double a, double b) {
  const double most = a > b ? a : b;
  return most > 0 ? (a - b) / (SIZE_SIGMA * most) : 0;
}

/* Box of a track at its predicted place, px: left, right, top, bottom, inside of the image. */
typedef struct Frame {
  double left, right, top, bottom;
} Frame;

static double limit(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

static Frame frame_of(const RvObstaclesConfig *c, const Track *t) {
  const RvObstacle *o = &t->last;
  const double z = t->z.at > 0.5 ? t->z.at : 0.5, scale = o->distance / z;
  const double middle = c->camera.cx + c->camera.focal * t->x.at / z;
  const double horizon = c->camera.cy; /* rows move away from about the horizon */
  const Frame f = {limit(middle - 0.5 * scale * o->w, 0, c->width),
                   limit(middle + 0.5 * scale * o->w, 0, c->width),
                   limit(horizon + scale * (o->y - horizon), 0, c->height),
                   limit(horizon + scale * (o->y + o->h - horizon), 0, c->height)};
  return f;
}

/* Intersection of a box and an obstacle over their union. */
static double overlap(const Frame *f, const RvObstacle *o) {
  const double left = f->left > o->x ? f->left : o->x, top = f->top > o->y ? f->top : o->y;
  const double right = f->right < o->x + o->w ? f->right : o->x + o->w;
  const double bottom = f->bottom < o->y + o->h ? f->bottom : o->y + o->h;
  const double common = right > left && bottom > top ? (right - left) * (bottom - top) : 0;
  const double all = (f->right - f->left) * (f->bottom - f->top) + (double)o->w * o->h - common;
  return all > 0 ? common / all : 0;
}

/* How badly an obstacle fits a track; more than GATE: not at all. */
static double misfit(const RvObstaclesConfig *c, const Track *t, const RvObstacle *o) {
  const int cut = cut_of(c, o);
  const Frame box = frame_of(c, t);
  const double x = beside(t, o, cut), sigma = sigma_x(o->distance);
  const double width = cut ? 0 : change(t->last.width, o->width);
  const double height = change(t->last.height, o->height);
  return chi_of(&t->z, o->distance, sigma_z(o, cut)) + x * x / (t->x.p00 + sigma * sigma) +
         width * width + height * height + APART * (1 - overlap(&box, o));
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

/* Pairs free tracks with free obstacles, the best first. `taken`: track of each obstacle, -1:
 * none. */
static void match(RvObstaclesTracks *tracks, const RvObstacle *obstacles, int count, int has_id,
                  int is_second, int *taken) {
  int pairs = 0;
  for (int t = 0; t < tracks->count; t++)
    for (int k = 0; k < count && pairs < PAIRS; k++) {
      const RvObstacle *o = &obstacles[k];
      if ((tracks->track[t].id != 0) != has_id || tracks->track[t].obstacle >= 0 || taken[k] >= 0 ||
          !continues(&tracks->track[t], o) || (o->confidence < CONFIDENT) != is_second)
        continue;
      const double chi = misfit(&tracks->config, &tracks->track[t], o);
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
                                           .score = 1,
                                           .obstacle = index,
                                           .z = axis_new(o->distance, o->distance_sigma, SPEED_Z),
                                           .x = axis_new(o->lateral, sigma_x(o->distance), SPEED_X),
                                           .last = *o};
}

/* Score that confirms a track: far obstacles are less certain. */
static int needed(const RvObstacle *o) {
  const double share = o->distance_sigma / o->distance;
  return CONFIRM - (share < NEAR_SIGMA) + 3 * (share > FAR_SIGMA);
}

static void hit(RvObstaclesTracks *tracks, Track *t, const RvObstacle *o) {
  const RvObstaclesConfig *c = &tracks->config;
  const int cut = cut_of(c, o);
  const double x = beside(t, o, cut);
  t->x.at = o->lateral - x; /* the center moves with the visible part */
  if (cut) {
    place(&t->z, o->distance, sigma_z(o, cut));
    place(&t->x, o->lateral, sigma_x(o->distance));
  } else {
    update(&t->z, o->distance, o->distance_sigma);
    update(&t->x, o->lateral, sigma_x(o->distance));
  }
  t->hits++;
  t->score = rv_min(t->score + 1, SCORE_MAX);
  t->missed = 0;
  t->last = *o;
  if (!t->id && t->score >= needed(o))
    t->id = ++tracks->next_id;
}

/* Drops the tracks that have ended; the others keep their order. */
static void drop(RvObstaclesTracks *tracks) {
  int kept = 0;
  for (int t = 0; t < tracks->count; t++)
    if (tracks->track[t].missed <= (tracks->track[t].id ? MISSES : MISSES_NEW) &&
        tracks->track[t].score > SCORE_LAST && tracks->track[t].z.at > 0)
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

/* Where a track without an obstacle is now; 0: outside of the image. */
static int predicted(const RvObstaclesTracks *tracks, const Track *t, RvObstacle *o) {
  const RvObstaclesConfig *c = &tracks->config;
  *o = t->last;
  if (!(t->z.at > 0.5))
    return 0;
  const Frame box = frame_of(c, t);
  o->x = (uint16_t)box.left;
  o->y = (uint16_t)box.top;
  o->w = (uint16_t)((uint16_t)box.right - o->x);
  o->h = (uint16_t)((uint16_t)box.bottom - o->y);
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
  for (int round = 0; round < 4; round++)
    match(tracks, obstacles, count, round < 2, round % 2, taken);
  for (int t = 0; t < tracks->count; t++) {
    Track *track = &tracks->track[t];
    if (track->obstacle >= 0)
      hit(tracks, track, &obstacles[track->obstacle]);
    else
      track->missed++, track->score--;
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
