/* SPDX-License-Identifier: MIT */
/* obstacles_stands.c: what stands, among the tracks. Host only, doubles from + - x / in a fixed order. */
#include "obstacles/obstacles_host.h"

#define ALIKE 1.5      /* m/s: velocities of things that stand */
#define ALIKE_TRACKS 3 /* at least */
#define SPEED_SURE 1.0 /* m/s: standard deviation of such a velocity */

typedef RvObstaclesAxis Axis;
typedef RvObstaclesTrack Track;

/* Mean of the velocities that are about that of track i, and their number. */
static int alike(const Track *track, int count, int i, double *mean) {
  const double v = rv_obstacles_axis(&track[i])->v;
  double sum = 0;
  int found = 0;
  for (int k = 0; k < count; k++) {
    const Axis *a = rv_obstacles_axis(&track[k]);
    if (!track[k].id || a->p11 > SPEED_SURE * SPEED_SURE || a->v > v + ALIKE || a->v < v - ALIKE)
      continue;
    sum += a->v;
    found++;
  }
  *mean = found ? sum / found : 0;
  return found;
}

int rv_obstacles_common_velocity(const Track *track, int count, double *velocity) {
  int most = ALIKE_TRACKS - 1, is_found = 0;
  *velocity = 0;
  for (int i = 0; i < count; i++) {
    double mean;
    const int found = track[i].id ? alike(track, count, i, &mean) : 0;
    if (found <= most)
      continue;
    most = found;
    is_found = 1;
    *velocity = mean;
  }
  return is_found;
}

void rv_obstacles_settle(Track *track, int count, double velocity) {
  for (int i = 0; i < count; i++) {
    Track *t = &track[i];
    const double off = t->z.v - velocity;
    if (t->stands || t->z.p11 < SPEED_SURE * SPEED_SURE ||
        off * off > RV_OBSTACLES_STILL * t->z.p11)
      continue;
    t->stands = 1;
    t->misfit = 0;
    t->still =
        (Axis){t->z.at, velocity, t->z.p00, 0, RV_OBSTACLES_SPEED_STILL * RV_OBSTACLES_SPEED_STILL};
  }
}

void rv_obstacles_bind(Track *track, int count, double velocity) {
  for (int i = 0; i < count; i++) {
    Axis *still = &track[i].still;
    still->v = velocity;
    still->p01 = 0;
    still->p11 = RV_OBSTACLES_SPEED_STILL * RV_OBSTACLES_SPEED_STILL;
  }
}
