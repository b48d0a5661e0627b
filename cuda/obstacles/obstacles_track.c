/* SPDX-License-Identifier: MIT */
/* obstacles_track.c: obstacles over time. Host only, doubles from + - x / in a fixed order. */
#include <string.h>

#include "obstacles/obstacles_host.h"
#include "rv_hd.h"
#include "rv_object.h"

#define GAP_MAX 0.5        /* s between frames, beyond which all tracks end */
#define ACCELERATION_Z 2.0 /* m/s^2, standard deviations */
#define ACCELERATION_X 2.0
/* m/s: mean velocity of a new track and its deviation, while that of what stands is not known; then that,
 * and a deviation that grows with it: others are about as fast as the vehicle. */
#define SPEED_MEAN (-10.0)
#define SPEED_Z 20.0
#define SPEED_Z_MIN 8.0
#define SPEED_Z_SHARE 0.5
#define SPEED_X 6.0     /* crossing ones have up to 20 */
#define NEAR_SIGMA 0.03 /* of the distance: standard deviation of near ones, and of far ones */
#define FAR_SIGMA 0.04
#define SCORE_MAX 8        /* steady hits less misses, at most */
#define SCORE_LAST (-4)    /* ends a track */
#define JOINED 4.5         /* m: wider than a vehicle; */
#define JOINED_BY 1.4      /* and than its track: not it alone */
#define JOINED_LENGTH 4.0  /* m: what is wider and longer can be several things */
#define JOINED_SHARE 0.7   /* of their box, below which it does not get the id */
#define CONFIRM 3          /* score that gives an id */
#define EARLY_HIDDEN 1     /* less for a lone pair next to something nearer, */
#define EARLY 2            /* for other lone pairs */
#define LONE_MISFIT 11.0   /* of a steady hit that is a lone pair */
#define LONE_HITS 3        /* from which a lone pair counts that the image cuts */
#define AT_ONCE_HEIGHT 1.0 /* m: least size of what gets its id at first sight */
#define AT_ONCE_WIDTH 1.2
#define ALONE 2.0      /* m: no other track is that near in X, nor in Z and a tenth of Z more */
#define TAKE_OVER 2.0  /* m: the same, of a lost track whose id an obstacle takes over */
#define NEAR_LOST 3.0  /* m: the same, of a lost track for which an obstacle gets no early id */
#define PART_WIDTH 0.3 /* of a lost track: what is smaller is a part of it */
#define PART_HEIGHT 0.6
#define PLACE_SURE 2.0 /* m: standard deviation of a place at which a wall may be the track */
#define FAST 30.0      /* m/s: what approaches at that gets it earlier */
#define MISSES 8       /* of a confirmed track */
#define MISSES_NEW 3
#define MISSES_HIDDEN 20 /* of one behind something nearer; they do not count as others, */
#define PLACE_HIDDEN 3.0 /* m: while the standard deviation of its place is below this */
#define SHOWN 1          /* misses, up to which a track is returned as predicted */
#define SIDE_MIN 8       /* px: smaller predicted boxes are at the border of the image */
#define CONFIDENT 128    /* obstacles that are paired before the others */
#define PAIRS 4096
#define YAW_MAX 5.0  /* rad/s: more is no vehicle */
#define CLOSING 0.5  /* m/s: slower ones have no time to collision */
#define TTC_MAX 10.0 /* s */
#define MARGIN 0.3   /* m next to the path */
#define MOVING 1.5   /* m/s above the ground */

typedef RvObstaclesAxis Axis;
typedef RvObstaclesTrack Track;

typedef struct Pair {
  double misfit;
  int rank; /* lower ones first */
  int track, obstacle;
  int is_lone; /* neither fits another one */
} Pair;

struct RvObstaclesTracks {
  RvObstaclesConfig config;
  double time, ego_speed, yaw_rate;
  double drift; /* m/s: velocity of what stands, when it is known */
  int has_time, has_speed, has_drift, count;
  uint32_t next_id;
  Track track[RV_OBSTACLES_TRACKS];
  Pair pair[PAIRS];
  int cut[RV_OBSTACLES_MAX]; /* sides of the obstacles of this frame */
  RvObstacle sorted[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
  int from[RV_OBSTACLES_MAX + RV_OBSTACLES_TRACKS];
};

/* --- Pairs ----------------------------------------------------------------------------------- */

static int is_tracked(const RvObstacle *o) {
  return o->kind != RV_OBSTACLE_WALL && o->kind != RV_OBSTACLE_OVERHANG && o->distance > 0;
}

/* What continues a track; a wall, when the track has an id and its place is known: objects that join for
 * some frames. */
static int continues(const Track *t, const RvObstacle *o) {
  const int is_sure = t->id && rv_obstacles_axis(t)->p00 <= PLACE_SURE * PLACE_SURE;
  return is_tracked(o) || (o->kind == RV_OBSTACLE_WALL && is_sure && o->distance > 0);
}

static int comes_before(const Pair *a, const Pair *b) {
  if (a->rank != b->rank)
    return a->rank < b->rank;
  if (a->misfit != b->misfit)
    return a->misfit < b->misfit;
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

/* Good pairs come before the others, tracks with an id before those without, and certain obstacles
 * before uncertain ones. */
static int rank_of(const Track *t, const RvObstacle *o, double misfit) {
  return 4 * (misfit > RV_OBSTACLES_STEADY) + 2 * (t->id == 0) + (o->confidence < CONFIDENT);
}

static int find_pairs(RvObstaclesTracks *tracks, const RvObstacle *obstacles, int count) {
  int pairs = 0;
  for (int t = 0; t < tracks->count; t++)
    for (int k = 0; k < count && pairs < PAIRS; k++) {
      const Track *track = &tracks->track[t];
      const RvObstacle *o = &obstacles[k];
      if (!continues(track, o))
        continue;
      const double misfit = rv_obstacles_misfit(&tracks->config, track, o, tracks->cut[k]);
      if (misfit <= RV_OBSTACLES_GATE)
        tracks->pair[pairs++] = (Pair){misfit, rank_of(track, o, misfit), t, k, 0};
    }
  return pairs;
}

/* Marks the pairs that are the only one of their track and of their obstacle; tracks that have no id and
 * are rarely hit do not count as others. */
static void find_lone(RvObstaclesTracks *tracks, int pairs) {
  int of_track[RV_OBSTACLES_TRACKS] = {0}, of_obstacle[RV_OBSTACLES_MAX] = {0};
  for (int i = 0; i < pairs; i++) {
    const Pair *pair = &tracks->pair[i];
    const Track *t = &tracks->track[pair->track];
    of_track[pair->track]++;
    of_obstacle[pair->obstacle] += t->id || t->score > 0;
  }
  for (int i = 0; i < pairs; i++) {
    Pair *pair = &tracks->pair[i];
    pair->is_lone = of_track[pair->track] == 1 && of_obstacle[pair->obstacle] <= 1;
  }
}

/* Pairs tracks with obstacles, the best first. `taken`: the pair of each obstacle, -1: none. */
static void match(RvObstaclesTracks *tracks, const RvObstacle *obstacles, int count, int *taken) {
  for (int k = 0; k < count; k++) {
    taken[k] = -1;
    tracks->cut[k] = rv_obstacles_cut(&tracks->config, obstacles, count, k);
  }
  const int pairs = find_pairs(tracks, obstacles, count);
  find_lone(tracks, pairs);
  sort_pairs(tracks->pair, pairs);
  for (int i = 0; i < pairs; i++) {
    const Pair *pair = &tracks->pair[i];
    if (tracks->track[pair->track].obstacle >= 0 || taken[pair->obstacle] >= 0)
      continue;
    tracks->track[pair->track].obstacle = pair->obstacle;
    taken[pair->obstacle] = i;
  }
}

/* --- Tracks ---------------------------------------------------------------------------------- */

/* Velocity and its deviation of a new track, before its distances tell. */
static RvObstaclesAxis first_z(const RvObstaclesTracks *tracks, const RvObstacle *o) {
  const double sigma = tracks->has_drift
                           ? SPEED_Z_MIN + SPEED_Z_SHARE * rv_obstacles_absolute(tracks->drift)
                           : SPEED_Z;
  RvObstaclesAxis z = rv_obstacles_axis_new(o->distance, o->distance_sigma, sigma);
  z.v = tracks->has_drift ? tracks->drift : SPEED_MEAN;
  return z;
}

static void start(RvObstaclesTracks *tracks, const RvObstacle *o, int index) {
  if (tracks->count == RV_OBSTACLES_TRACKS)
    return;
  Track *t = &tracks->track[tracks->count++];
  *t = (Track){.hits = 1,
               .score = 1,
               .obstacle = index,
               .stands = tracks->has_drift,
               .z = first_z(tracks, o),
               .x = rv_obstacles_axis_new(o->lateral, rv_obstacles_sigma_x(o->distance), SPEED_X),
               .still =
                   rv_obstacles_axis_new(o->distance, o->distance_sigma, RV_OBSTACLES_SPEED_STILL),
               .width = o->width,
               .seen_width = o->width,
               .seen_length = o->length,
               .last = *o};
  t->still.v = tracks->drift;
}

/* Score that confirms a track: far obstacles are less certain; what approaches fast is urgent. */
static int needed(const Track *t, const RvObstacle *o) {
  const double share = o->distance_sigma / o->distance;
  const int is_urgent = share < NEAR_SIGMA && rv_obstacles_axis(t)->v < -FAST;
  return CONFIRM - is_urgent + 3 * (share > FAR_SIGMA);
}

/* 1 when an obstacle that is longer than a vehicle holds another track with an id, too. */
static int holds_other(const RvObstaclesTracks *tracks, const Track *t, const RvObstacle *o) {
  for (int i = 0; i < tracks->count && o->length > JOINED_LENGTH; i++) {
    const Track *other = &tracks->track[i];
    if (other != t && other->id && rv_obstacles_is_within(&tracks->config, other, o))
      return 1;
  }
  return 0;
}

/* 1 when a track with an id is seen together with others: that says that it is there, but not where. */
static int is_joined(const RvObstaclesTracks *tracks, const Track *t, const RvObstacle *o) {
  const int is_wide = o->width > JOINED && t->width < JOINED && o->width > JOINED_BY * t->width;
  return t->id && (is_wide || o->kind == RV_OBSTACLE_WALL ||
                   (rv_obstacles_is_within(&tracks->config, t, o) && holds_other(tracks, t, o)));
}

/* Neither a vehicle that is seen from behind nor one from the side. */
static int is_several(const RvObstacle *o) {
  return o->width > JOINED && o->length > JOINED_LENGTH;
}

static void hit(RvObstaclesTracks *tracks, Track *t, const RvObstacle *o, const Pair *pair) {
  const int cut = rv_obstacles_cut_for(t, o, tracks->cut[pair->obstacle]);
  const int is_cut = (cut & RV_OBSTACLES_IMAGE) != 0;
  const int is_hidden = tracks->cut[pair->obstacle] >= RV_OBSTACLES_HIDDEN_LEFT;
  const int is_certain = t->id || !is_cut || (pair->is_lone && t->hits >= LONE_HITS);
  t->missed = t->hidden = 0;
  t->early = !pair->is_lone || is_cut || is_several(o) ? 0 : is_hidden ? EARLY_HIDDEN : EARLY;
  if (is_joined(tracks, t, o)) {
    t->x.v = 0;
    if (rv_obstacles_shared(&tracks->config, t, o) < JOINED_SHARE) {
      t->obstacle = -1;
      t->joined = rv_obstacles_is_within(&tracks->config, t, o);
    }
    return;
  }
  rv_obstacles_hit_z(t, o, cut);
  rv_obstacles_hit_x(t, o, !t->id && t->width > JOINED && !is_cut ? 0 : cut);
  t->hits++;
  if (is_certain && pair->misfit <= (pair->is_lone ? LONE_MISFIT : RV_OBSTACLES_STEADY))
    t->score = rv_min(t->score + 1, SCORE_MAX);
  if (cut < RV_OBSTACLES_HIDDEN_LEFT)
    t->last = *o;
}

/* 1 when a track is expected in a box that joins several things. */
static int is_in_joined(const RvObstaclesConfig *c, const Track *t, const RvObstacle *obstacles,
                        int count) {
  for (int k = 0; k < count; k++)
    if ((obstacles[k].kind == RV_OBSTACLE_WALL || obstacles[k].width > JOINED) &&
        rv_obstacles_is_within(c, t, &obstacles[k]))
      return 1;
  return 0;
}

/* Its velocity in X is not kept: that of a part may be the last that was seen. */
static void miss(const RvObstaclesTracks *tracks, Track *t, const RvObstacle *obstacles,
                 int count) {
  const int is_known = rv_obstacles_axis(t)->p00 <= PLACE_HIDDEN * PLACE_HIDDEN;
  const int may_hide = t->id && is_known && t->hidden < MISSES_HIDDEN;
  int is_hidden = may_hide && rv_obstacles_is_covered(&tracks->config, t, obstacles, count);
  t->joined = may_hide && !is_hidden && is_in_joined(&tracks->config, t, obstacles, count);
  is_hidden |= t->joined;
  t->missed++;
  t->hidden += is_hidden;
  t->score -= !is_hidden;
  t->x.v = 0;
}

/* --- Ids -------------------------------------------------------------------------------------- */

/* The nearest track with an id that has no obstacle; NULL: none is within `reach`. */
static Track *find_lost(RvObstaclesTracks *tracks, const RvObstacle *o, int cut, double reach) {
  Track *found = NULL;
  double least = 0;
  for (int i = 0; i < tracks->count; i++) {
    Track *t = &tracks->track[i];
    const double far = t->id && t->obstacle < 0 ? rv_obstacles_apart(t, o, cut, reach) : -1;
    if (far < 0 || (found && far >= least))
      continue;
    found = t;
    least = far;
  }
  return found;
}

/* A lost track continues with the obstacle of a new one, which ends. Its velocity is kept: places at
 * which an object hides and appears again say little of it. */
static void take_over(Track *lost, Track *t, const RvObstacle *o, int sides) {
  const int cut = rv_obstacles_cut_for(lost, o, sides);
  lost->obstacle = t->obstacle;
  lost->missed = lost->hidden = 0;
  lost->misfit = 0;
  rv_obstacles_place(&lost->z, o->distance, o->distance_sigma);
  rv_obstacles_place(&lost->still, o->distance, o->distance_sigma);
  rv_obstacles_hit_x(lost, o, cut);
  if (cut < RV_OBSTACLES_HIDDEN_LEFT)
    lost->last = *o;
  t->obstacle = -1;
  t->score = SCORE_LAST;
}

/* 1 for what still shows of a lost track, or appears of it first. */
static int is_part(const Track *lost, const RvObstacle *o) {
  return o->width < PART_WIDTH * lost->width || o->height < PART_HEIGHT * lost->last.height;
}

/* Gives ids: that of a lost track nearby, unless it is a part of that, or a new one. */
static void confirm(RvObstaclesTracks *tracks, const RvObstacle *obstacles) {
  for (int i = 0; i < tracks->count; i++) {
    Track *t = &tracks->track[i];
    if (t->id || t->obstacle < 0)
      continue;
    const RvObstacle *o = &obstacles[t->obstacle];
    const int sides = tracks->cut[t->obstacle], least = needed(t, o);
    if (t->score < least - t->early)
      continue;
    Track *lost = find_lost(tracks, o, sides, TAKE_OVER);
    if (lost && is_part(lost, o))
      continue;
    if (lost)
      take_over(lost, t, o, sides);
    else if (t->score >= least || !find_lost(tracks, o, sides, NEAR_LOST))
      t->id = ++tracks->next_id;
  }
}

/* Gives the last track, which is new, its id when its obstacle is near, certain, large and alone. */
static void confirm_at_once(RvObstaclesTracks *tracks, const RvObstacle *o, int index) {
  Track *t = tracks->count ? &tracks->track[tracks->count - 1] : NULL;
  const int is_large = o->height >= AT_ONCE_HEIGHT && o->width >= AT_ONCE_WIDTH;
  if (!t || t->obstacle != index || tracks->cut[index] || !is_large || is_several(o) ||
      o->bottom > 0 || o->confidence < CONFIDENT || o->distance_sigma > NEAR_SIGMA * o->distance)
    return;
  for (int i = 0; i < tracks->count - 1; i++) {
    const Track *other = &tracks->track[i];
    if ((other->id || other->score > 0) && rv_obstacles_apart(other, o, 0, ALONE) >= 0)
      return;
  }
  t->id = ++tracks->next_id;
}

/* --- What stands, what has ended -------------------------------------------------------------- */

/* The velocity of what stands: from that of the vehicle, else the one that most tracks have. */
static void find_drift(RvObstaclesTracks *tracks) {
  const int had_drift = tracks->has_drift;
  if (tracks->has_speed) {
    tracks->has_drift = 1;
    tracks->drift = -tracks->ego_speed;
  } else {
    tracks->has_drift = rv_obstacles_common_velocity(tracks->track, tracks->count, &tracks->drift);
  }
  if (tracks->has_drift && !had_drift)
    rv_obstacles_settle(tracks->track, tracks->count, tracks->drift);
  if (tracks->has_drift)
    rv_obstacles_bind(tracks->track, tracks->count, tracks->drift);
}

/* 1 when the image shows nothing of a track at its place; in the left border, as wide as the disparity,
 * the other camera sees nothing. */
static int is_outside(const RvObstaclesConfig *c, const Track *t) {
  const RvObstaclesFrame f = rv_obstacles_frame(c, t);
  const double per_m = c->camera.focal / rv_obstacles_axis(t)->at;
  const double border = per_m * c->camera.baseline, left = f.left > border ? f.left : border;
  return f.right <= left;
}

static int has_ended(const RvObstaclesTracks *tracks, const Track *t) {
  return t->missed - t->hidden > (t->id ? MISSES : MISSES_NEW) || t->score <= SCORE_LAST ||
         !(rv_obstacles_axis(t)->at > 0) || (t->missed && is_outside(&tracks->config, t));
}

/* Drops the tracks that have ended; the others keep their order. */
static void drop(RvObstaclesTracks *tracks) {
  int kept = 0;
  for (int t = 0; t < tracks->count; t++)
    if (!has_ended(tracks, &tracks->track[t]))
      tracks->track[kept++] = tracks->track[t];
  tracks->count = kept;
}

/* --- Results --------------------------------------------------------------------------------- */

static int is_in_path(const RvObstaclesConfig *c, const RvObstacle *o) {
  return rv_obstacles_absolute(o->lateral) <= 0.5 * (c->path_width + o->width);
}

/* Time until the near face arrives at the camera, when it then is in the way; 0: none. */
static double ttc_of(const RvObstaclesConfig *c, const Track *t, const RvObstacle *o) {
  const Axis *z = rv_obstacles_axis(t);
  if (!t->id || t->hits < CONFIRM || !(z->v < -CLOSING) || o->kind == RV_OBSTACLE_OVERHANG)
    return 0;
  const double ttc = -z->at / z->v, x = t->x.at + t->x.v * ttc;
  return ttc <= TTC_MAX && rv_obstacles_absolute(x) <= 0.5 * (c->path_width + o->width) + MARGIN
             ? ttc
             : 0;
}

static void describe(const RvObstaclesTracks *tracks, const Track *t, RvObstacle *o) {
  const double velocity = rv_obstacles_axis(t)->v;
  const double hits = t->hits < CONFIRM ? t->hits : CONFIRM;
  const int is_known = t->id && t->hits >= CONFIRM;
  o->id = t->id;
  o->velocity_z = (float)(is_known ? velocity : 0);
  o->velocity_x = (float)(is_known ? t->x.v : 0);
  o->ttc = (float)ttc_of(&tracks->config, t, o);
  o->age = (uint16_t)rv_min(t->age, 65535);
  o->missed = (uint16_t)t->missed;
  o->confidence = (uint8_t)(o->confidence * hits / CONFIRM / (1 + t->missed));
  o->state = (uint8_t)(!t->id                          ? RV_OBSTACLE_NEW
                       : t->obstacle < 0 && !t->joined ? RV_OBSTACLE_PREDICTED
                                                       : RV_OBSTACLE_TRACKED);
  const double z = velocity + tracks->ego_speed, speed = z * z + t->x.v * t->x.v;
  if (is_known && tracks->has_speed && speed > MOVING * MOVING)
    o->flags |= RV_OBSTACLE_MOVING;
}

/* Where a track without an obstacle is now; 0: outside of the image. */
static int predicted(const RvObstaclesTracks *tracks, const Track *t, RvObstacle *o) {
  const RvObstaclesConfig *c = &tracks->config;
  *o = t->last;
  const double z = rv_obstacles_axis(t)->at;
  if (!(z > 0.5))
    return 0;
  const RvObstaclesFrame box = rv_obstacles_frame(c, t);
  o->x = (uint16_t)box.left;
  o->y = (uint16_t)box.top;
  o->w = (uint16_t)((uint16_t)box.right - o->x);
  o->h = (uint16_t)((uint16_t)box.bottom - o->y);
  o->distance = (float)z;
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

void rv_obstacles_tracks_set_yaw_rate(RvObstaclesTracks *tracks, double rate) {
  tracks->yaw_rate = rate > -YAW_MAX && rate < YAW_MAX ? rate : 0;
}

/* The vehicle turns to the right by a small angle: everything else turns to the left. The velocity of
 * what stands, seen from the vehicle, does not turn. */
static void turn(Track *t, double angle) {
  const double x = t->x.at;
  t->x.at -= angle * rv_obstacles_axis(t)->at;
  t->z.at += angle * x;
  t->still.at += angle * x;
}

static void advance(RvObstaclesTracks *tracks, double time) {
  const double dt = time - tracks->time;
  if (!tracks->has_time || !(dt >= 0 && dt <= GAP_MAX))
    tracks->count = 0;
  for (int t = 0; t < tracks->count; t++) {
    Track *track = &tracks->track[t];
    rv_obstacles_predict(&track->z, dt, ACCELERATION_Z);
    rv_obstacles_predict(&track->still, dt, ACCELERATION_Z);
    rv_obstacles_predict(&track->x, dt, ACCELERATION_X);
    turn(track, tracks->yaw_rate * dt);
    track->obstacle = -1;
    track->joined = 0;
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
  advance(tracks, time);
  match(tracks, obstacles, count, taken);
  for (int t = 0; t < tracks->count; t++) {
    Track *track = &tracks->track[t];
    if (track->obstacle >= 0)
      hit(tracks, track, &obstacles[track->obstacle], &tracks->pair[taken[track->obstacle]]);
    else
      miss(tracks, track, obstacles, count);
  }
  confirm(tracks, obstacles);
  drop(tracks);
  find_drift(tracks);
  for (int k = 0; k < count; k++)
    if (taken[k] < 0 && is_tracked(&obstacles[k])) {
      start(tracks, &obstacles[k], k);
      confirm_at_once(tracks, &obstacles[k], k);
    }
  memcpy(tracks->sorted, obstacles, (size_t)count * sizeof *obstacles);
  for (int k = 0; k < count; k++)
    tracks->from[k] = k;
  for (int t = 0; t < tracks->count; t++) {
    const Track *track = &tracks->track[t];
    RvObstacle *o = &tracks->sorted[track->obstacle >= 0 ? track->obstacle : sum];
    const int is_shown = track->id && (track->joined || track->missed <= SHOWN);
    if (track->obstacle < 0 && (!is_shown || sum >= capacity || !predicted(tracks, track, o)))
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
