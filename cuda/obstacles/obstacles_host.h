/* SPDX-License-Identifier: MIT */
/* obstacles_host.h: a track of an obstacle, and how well an obstacle of the next frame fits it.
 * Host only, doubles from + - x / in a fixed order. Internal. */
#ifndef RV_OBSTACLES_HOST_H
#define RV_OBSTACLES_HOST_H

#include "obstacles/obstacles.h"

#define RV_OBSTACLES_GATE 13.8  /* misfit: chi square of two degrees of freedom, 0.1 % */
#define RV_OBSTACLES_STEADY 6.0 /* misfit of what certainly is the same */
#define RV_OBSTACLES_STILL 9.0  /* misfit of `still`, beyond which the thing moves */
/* m/s: standard deviation of what stands, about the velocity that such things have */
#define RV_OBSTACLES_SPEED_STILL 0.5

/* Sides at which an obstacle is cut, bits. */
enum {
  RV_OBSTACLES_IMAGE_LEFT = 1, /* the image ends */
  RV_OBSTACLES_IMAGE_RIGHT = 2,
  RV_OBSTACLES_HIDDEN_LEFT = 4, /* something nearer begins */
  RV_OBSTACLES_HIDDEN_RIGHT = 8,
  RV_OBSTACLES_IMAGE = RV_OBSTACLES_IMAGE_LEFT | RV_OBSTACLES_IMAGE_RIGHT
};

static inline double rv_obstacles_absolute(double x) {
  return x < 0 ? -x : x;
}

/* Position and velocity along one axis with their covariance. */
typedef struct RvObstaclesAxis {
  double at, v, p00, p01, p11;
} RvObstaclesAxis;

static inline RvObstaclesAxis rv_obstacles_axis_new(double at, double sigma, double speed_sigma) {
  return (RvObstaclesAxis){at, 0, sigma * sigma, 0, speed_sigma * speed_sigma};
}

static inline void rv_obstacles_predict(RvObstaclesAxis *a, double dt, double acceleration) {
  const double q = acceleration * acceleration * dt * dt;
  a->at += a->v * dt;
  a->p00 += 2 * dt * a->p01 + dt * dt * a->p11 + q * dt * dt / 4;
  a->p01 += dt * a->p11 + q * dt / 2;
  a->p11 += q;
}

static inline void rv_obstacles_update(RvObstaclesAxis *a, double seen, double sigma) {
  const double s = a->p00 + sigma * sigma, k0 = a->p00 / s, k1 = a->p01 / s, y = seen - a->at;
  a->at += k0 * y;
  a->v += k1 * y;
  a->p11 -= k1 * a->p01;
  a->p01 *= 1 - k0;
  a->p00 *= 1 - k0;
}

/* The same, but keeps the velocity. */
static inline void rv_obstacles_approach(RvObstaclesAxis *a, double seen, double sigma) {
  const double k = a->p00 / (a->p00 + sigma * sigma);
  a->at += k * (seen - a->at);
  a->p01 *= 1 - k;
  a->p00 *= 1 - k;
}

/* Takes over a position that says nothing of the velocity. */
static inline void rv_obstacles_place(RvObstaclesAxis *a, double seen, double sigma) {
  a->at = seen;
  a->p00 = sigma * sigma;
  a->p01 = 0;
}

typedef struct RvObstaclesTrack {
  uint32_t id; /* 0: not confirmed */
  int hits, missed, age;
  int hidden;            /* of `missed`: frames in which something nearer was in front of it */
  int score;             /* steady hits less misses */
  int obstacle;          /* of this frame, -1: none */
  int joined;            /* of this frame: it is seen in a box of several things */
  int early;             /* of the score, that it needs less than others for its id */
  int stands;            /* `still` is what is seen */
  double misfit;         /* of `still`; recent frames count most */
  RvObstaclesAxis z, x;  /* z: of a thing of any speed */
  RvObstaclesAxis still; /* z of a thing that stands on the ground */
  double width;          /* m, with what the image cuts off */
  double seen_width, seen_length; /* m, of its last obstacle */
  RvObstacle last;                /* that was not partly hidden */
} RvObstaclesTrack;

/* Box of a track at its predicted place, px, inside of the image. */
typedef struct RvObstaclesFrame {
  double left, right, top, bottom;
} RvObstaclesFrame;

static inline const RvObstaclesAxis *rv_obstacles_axis(const RvObstaclesTrack *t) {
  return t->stands ? &t->still : &t->z;
}

static inline double rv_obstacles_chi(const RvObstaclesAxis *a, double seen, double sigma) {
  const double y = seen - a->at;
  return y * y / (a->p00 + sigma * sigma);
}

/* Standard deviations of the measured position, m. */
double rv_obstacles_sigma_x(double z);
double rv_obstacles_sigma_z(const RvObstacle *o, int cut);

RvObstaclesFrame rv_obstacles_frame(const RvObstaclesConfig *c, const RvObstaclesTrack *t);

/* 1 when a nearer obstacle covers half of that box or more. */
int rv_obstacles_is_covered(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                            const RvObstacle *obstacles, int count);

/* Intersection of that box and an obstacle over their union. */
double rv_obstacles_shared(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                           const RvObstacle *o);

/* 1 when half of that box, at its distance, lies in an obstacle: what joins several things. */
int rv_obstacles_is_within(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                           const RvObstacle *o);

/* Sides at which obstacle k is cut. */
int rv_obstacles_cut(const RvObstaclesConfig *c, const RvObstacle *obstacles, int count, int k);

/* Those that matter for the obstacle as the continuation of a track: a side is hidden only when it
 * is farther inside than the track expects. */
int rv_obstacles_cut_for(const RvObstaclesTrack *t, const RvObstacle *o, int cut);

/* How far beside its track an obstacle is, m. */
double rv_obstacles_beside(const RvObstaclesTrack *t, const RvObstacle *o, int cut);

/* How far apart they are, m; -1: more than `reach` in X, or `reach` and a tenth of the distance in
 * Z. */
double rv_obstacles_apart(const RvObstaclesTrack *t, const RvObstacle *o, int cut, double reach);

/* How badly an obstacle fits a track, `sides` as of rv_obstacles_cut; more than
 * RV_OBSTACLES_GATE: not at all. */
double rv_obstacles_misfit(const RvObstaclesConfig *c, const RvObstaclesTrack *t,
                           const RvObstacle *o, int sides);

/* Takes over the distance of an obstacle; its position in X and its width: what is cut keeps the
 * width that was seen. */
void rv_obstacles_hit_z(RvObstaclesTrack *t, const RvObstacle *o, int cut);
void rv_obstacles_hit_x(RvObstaclesTrack *t, const RvObstacle *o, int cut);

/* The velocity that most tracks have, of at least three; returns whether there is one. */
int rv_obstacles_common_velocity(const RvObstaclesTrack *track, int count, double *velocity);

/* Tracks that began before that velocity was known, with velocities that are not certain yet,
 * stand. */
void rv_obstacles_settle(RvObstaclesTrack *track, int count, double velocity);

/* All that stands has one velocity; a thing with another one moves. */
void rv_obstacles_bind(RvObstaclesTrack *track, int count, double velocity);

#endif
