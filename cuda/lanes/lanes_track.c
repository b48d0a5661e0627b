/* SPDX-License-Identifier: MIT */
/* lanes_track.c: tracks of lane lines and the lane over time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/lanes_host.h"
#include "rv_internal.h"

#define PAUSE 1.0        /* s that end all tracks */
#define CONFIRM 3        /* hits */
#define MISSES_NEW 3     /* misses that end a new track */
#define LOST_TIME 1.0    /* s without a hit that end a confirmed one */
#define LOST_WAY 20.0    /* m, likewise, where the speed is known */
#define GATE_NEAR 0.5    /* m at the reference distance */
#define GATE_FAR_AT 15.0 /* m */
#define GATE_FAR 1.0     /* m there */
#define GATE_GROWTH 0.05 /* m more per missed frame */
#define APART 0.5        /* m: tracks nearer than this are one */
#define KIND_MEMORY 15   /* frames over which kinds are counted */
#define FADE 0.8         /* part of the confidence that is gone after LOST_TIME */
#define TRUST_LEAST 51   /* confidence below which a missing line is not returned */
#define WIDTH_FRAMES 200 /* frames that the width is averaged over */
#define KINDS 8
#define COLORS 3

typedef struct Track {
  RvLaneLine line; /* as returned; id 0: not confirmed */
  RvLanesMatrix p; /* covariance of offset, heading, curvature */
  double s[3];     /* state */
  double kinds[KINDS], colors[COLORS];
  double confidence; /* 0..255, at the last hit */
  double lost, way;  /* s and m since the last hit */
  int hits;
} Track;

struct RvLanesTracks {
  RvLanesConfig config;
  Track list[RV_LANES_TRACKS];
  int count;
  uint32_t next_id;
  int has_time;
  double time;
  double speed, yaw_rate;
  int knows_motion;
  double width;
  int width_frames;
};

RvStatus rv_lanes_tracks_new(RvLanesTracks **out, const RvLanesConfig *config) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  if (!config)
    return RV_ERR_ARG;
  RV_TRY(rv_lanes_config_check(config));
  RvLanesTracks *t = rv_memory_object(sizeof *t);
  if (!t) {
    rv_log(&config->log, "lanes: out of memory for tracks");
    return RV_ERR_NO_MEMORY;
  }
  t->config = *config;
  t->next_id = 1;
  t->width = config->lane_width;
  *out = t;
  return RV_OK;
}

void rv_lanes_tracks_free(RvLanesTracks **tracks) {
  if (!tracks || !*tracks)
    return;
  rv_memory_free(*tracks, RV_CPU);
  *tracks = NULL;
}

void rv_lanes_tracks_set_motion(RvLanesTracks *t, double speed, double yaw_rate, int is_known) {
  if (!t)
    return;
  t->speed = speed;
  t->yaw_rate = yaw_rate;
  t->knows_motion = is_known && speed > -100 && speed < 100 && yaw_rate > -5 && yaw_rate < 5;
}

void rv_lanes_tracks_reset(RvLanesTracks *t) {
  if (!t)
    return;
  t->count = 0;
  t->has_time = 0;
  t->width = t->config.lane_width;
  t->width_frames = 0;
}

RvStatus rv_lanes_tracks_set_config(RvLanesTracks *t, const RvLanesConfig *config) {
  if (!t)
    return RV_ERR_ARG;
  RV_TRY(rv_lanes_config_check(config));
  const RvCamera *a = &t->config.camera, *b = &config->camera;
  const int is_same = t->config.width == config->width && t->config.height == config->height &&
                      t->config.ground == config->ground && a->focal == b->focal &&
                      a->baseline == b->baseline && a->doffs == b->doffs && a->cx == b->cx &&
                      a->cy == b->cy && a->height == b->height;
  t->config = *config;
  if (!is_same)
    rv_lanes_tracks_reset(t);
  return RV_OK;
}

/* --- Filter ---------------------------------------------------------------------------------- */

static double square(double x) {
  return x * x;
}

/* The vehicle moves dt s along its own axis and turns. */
static void predict(const RvLanesTracks *t, Track *track, double dt) {
  RvLanesMatrix *p = &track->p;
  if (!t->knows_motion) { /* the lane is taken to stay where it is: drift of 0.5 m/s, turns */
    p->a[0][0] += square(0.5 * dt);
    p->a[1][1] += square(0.03 * dt);
    p->a[2][2] += square(0.0006 * dt);
    return;
  }
  const double way = t->speed * dt, half = way * way / 2;
  const double f[3][3] = {{1, way, half}, {0, 1, way}, {0, 0, 1}};
  double s[3] = {0}, fp[3][3] = {{0}}, out[3][3] = {{0}};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      s[i] += f[i][k] * track->s[k];
      for (int m = 0; m < 3; m++)
        fp[i][k] += f[i][m] * p->a[m][k];
    }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      for (int m = 0; m < 3; m++)
        out[i][k] += fp[i][m] * f[k][m];
  memcpy(p->a, out, sizeof out);
  memcpy(track->s, s, sizeof s);
  track->s[1] -= t->yaw_rate * dt;
  p->a[0][0] += square(0.1 * dt);
  p->a[1][1] += square(0.02 * dt);
  p->a[2][2] += square(0.0005 * dt);
  track->way += fabs(way);
}

static void update(Track *track, const double z[3], const RvLanesMatrix *r) {
  RvLanesMatrix sum, inverse;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      sum.a[i][k] = track->p.a[i][k] + r->a[i][k];
  if (!rv_lanes_invert(&sum, &inverse))
    return;
  double gain[3][3] = {{0}}, p[3][3], s[3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      for (int m = 0; m < 3; m++)
        gain[i][k] += track->p.a[i][m] * inverse.a[m][k];
  for (int i = 0; i < 3; i++) {
    s[i] = track->s[i];
    for (int k = 0; k < 3; k++) {
      s[i] += gain[i][k] * (z[k] - track->s[k]);
      p[i][k] = track->p.a[i][k];
      for (int m = 0; m < 3; m++)
        p[i][k] -= gain[i][m] * track->p.a[m][k];
    }
  }
  memcpy(track->s, s, sizeof s);
  for (int i = 0; i < 3; i++) /* kept symmetric */
    for (int k = 0; k < 3; k++)
      track->p.a[i][k] = (p[i][k] + p[k][i]) / 2;
}

static int most(const double *counts, int count) {
  int best = 0;
  for (int i = 1; i < count; i++)
    if (counts[i] > counts[best])
      best = i;
  return best;
}

static void count_kind(double *counts, int count, int kind) {
  for (int i = 0; i < count; i++)
    counts[i] -= counts[i] / KIND_MEMORY;
  counts[kind]++;
}

/* The record of a track from its state. */
static void describe(Track *track) {
  RvLaneLine *line = &track->line;
  line->offset = (float)track->s[0];
  line->heading = (float)track->s[1];
  line->curvature = (float)track->s[2];
  line->offset_near = (float)rv_lanes_line_x(line, rv_lanes_reference_distance());
  line->sigma = (float)sqrt(track->p.a[0][0] > 0 ? track->p.a[0][0] : 0);
  line->kind = (uint8_t)most(track->kinds, KINDS);
  line->color = (uint8_t)most(track->colors, COLORS);
  line->confidence =
      (uint8_t)(track->confidence *
                (1 - FADE * (track->lost < LOST_TIME ? track->lost : LOST_TIME) / LOST_TIME));
}

static uint16_t more(uint16_t frames) {
  return frames < UINT16_MAX ? (uint16_t)(frames + 1) : frames;
}

static void hit(RvLanesTracks *t, Track *track, const RvLaneLine *line, const RvLanesMark *mark) {
  const double z[3] = {mark->offset, mark->heading, mark->curvature};
  const RvLanesMatrix r = rv_lanes_covariance(mark);
  const RvLaneLine before = track->line;
  if (track->hits == 0) {
    memcpy(track->s, z, sizeof z);
    track->p = r;
    track->confidence = line->confidence;
  } else {
    update(track, z, &r);
    track->confidence += (line->confidence - track->confidence) / 2;
  }
  track->hits++;
  track->lost = track->way = 0;
  track->line = *line;
  track->line.id = before.id;
  if (track->hits >= CONFIRM && track->line.id == 0)
    track->line.id = t->next_id++;
  track->line.age = before.age;
  count_kind(track->kinds, KINDS, line->kind < KINDS ? line->kind : 0);
  count_kind(track->colors, COLORS, line->color < COLORS ? line->color : 0);
  describe(track);
}

static void miss(Track *track, double dt) {
  track->lost += dt;
  track->line.missed = more(track->line.missed);
  describe(track);
}

/* --- Pairs ----------------------------------------------------------------------------------- */

static int is_edge(const RvLaneLine *line) {
  return line->kind == RV_LANE_LINE_EDGE;
}

/* Distance of a line from a track in m; 1e9: not the same. */
static double apart(const Track *track, const RvLaneLine *line) {
  if (is_edge(&track->line) != is_edge(line))
    return 1e9;
  const double gate = GATE_NEAR + GATE_GROWTH * track->line.missed;
  RvLaneLine at = track->line;
  at.offset = (float)track->s[0];
  at.heading = (float)track->s[1];
  at.curvature = (float)track->s[2];
  const double near =
      fabs(rv_lanes_line_x(&at, rv_lanes_reference_distance()) - (double)line->offset_near);
  const double far = fabs(rv_lanes_line_x(&at, GATE_FAR_AT) - rv_lanes_line_x(line, GATE_FAR_AT));
  return near <= gate && far <= GATE_FAR + GATE_GROWTH * track->line.missed ? near : 1e9;
}

/* Least distances first; ties: older track, line more to the left. */
static void pair(const RvLanesTracks *t, const RvLaneLine *lines, int count, int *track_of,
                 uint8_t *is_taken) {
  for (int round = 0; round < count; round++) {
    double best = 1e8;
    int track = -1, line = -1;
    for (int i = 0; i < t->count; i++)
      for (int k = 0; k < count; k++) {
        const double d = is_taken[i] || track_of[k] >= 0 ? 1e9 : apart(&t->list[i], &lines[k]);
        if (d < best) {
          best = d;
          track = i;
          line = k;
        }
      }
    if (track < 0)
      return;
    is_taken[track] = 1;
    track_of[line] = track;
  }
}

/* Ends what is lost, and the younger of two tracks of one line. */
static void clean(RvLanesTracks *t) {
  int kept = 0;
  for (int i = 0; i < t->count; i++) {
    const Track *track = &t->list[i];
    const int is_lost = track->line.id ? track->lost > LOST_TIME || track->way > LOST_WAY
                                       : track->line.missed >= MISSES_NEW;
    int is_twin = 0;
    for (int k = 0; k < kept; k++)
      is_twin |=
          is_edge(&t->list[k].line) == is_edge(&track->line) &&
          fabs((double)t->list[k].line.offset_near - (double)track->line.offset_near) < APART &&
          (track->line.missed > 0 || t->list[k].line.missed == 0);
    if (!is_lost && !is_twin)
      t->list[kept++] = *track;
  }
  t->count = kept;
}

static void follow_width(RvLanesTracks *t, const RvLanesLane *lane) {
  if (lane->left < 0 || lane->right < 0)
    return;
  const double width =
      (double)lane->lines[lane->right].offset_near - (double)lane->lines[lane->left].offset_near;
  t->width_frames += t->width_frames < WIDTH_FRAMES;
  t->width += (width - t->width) / t->width_frames;
}

static double advance(RvLanesTracks *t, double time) {
  const double dt = time - t->time;
  if (!t->has_time || !(dt >= 0 && dt <= PAUSE)) {
    rv_lanes_tracks_reset(t);
    t->has_time = 1;
    t->time = time;
    return 0;
  }
  t->time = time;
  return dt;
}

RvStatus rv_lanes_track(RvLanesTracks *t, double time, const RvLanesFound *found,
                        const RvLanesEdges *edges, RvLanesLane *lane) {
  if (!t || !found || !lane)
    return RV_ERR_ARG;
  RvLaneLine lines[RV_LANES_ALL];
  const RvLanesMark *marks[RV_LANES_ALL];
  int track_of[RV_LANES_ALL];
  uint8_t is_taken[RV_LANES_TRACKS] = {0};
  const double dt = advance(t, time);
  const int count = rv_lanes_lines(&t->config, found, edges, lines, marks), before = t->count;
  for (int i = 0; i < t->count; i++) {
    predict(t, &t->list[i], dt);
    t->list[i].line.age = more(t->list[i].line.age);
  }
  for (int i = 0; i < count; i++)
    track_of[i] = -1;
  pair(t, lines, count, track_of, is_taken);
  for (int i = 0; i < count; i++) {
    if (track_of[i] < 0 && t->count < RV_LANES_TRACKS) {
      track_of[i] = t->count++;
      memset(&t->list[track_of[i]], 0, sizeof t->list[0]);
    }
    if (track_of[i] >= 0)
      hit(t, &t->list[track_of[i]], &lines[i], marks[i]);
  }
  for (int i = 0; i < before; i++)
    if (!is_taken[i])
      miss(&t->list[i], dt);
  clean(t);
  memset(lane, 0, sizeof *lane);
  for (int i = 0; i < t->count; i++) {
    const RvLaneLine *line = &t->list[i].line;
    if (line->missed == 0 || (line->id && line->confidence >= TRUST_LEAST))
      lane->lines[lane->count++] = *line;
  }
  rv_lanes_sort(lane->lines, NULL, lane->count);
  rv_lanes_assign(t->width, lane);
  follow_width(t, lane);
  lane->width = t->width;
  return RV_OK;
}
