/* SPDX-License-Identifier: MIT */
/* obstacles_bench.c: timed rows: a street with parked cars, a wall and a bridge, 0.25 px of noise, 5 %
 * of the pixels invalid. Row NAME is obstacles and free space alone; NAME-ground includes the
 * estimation of the ground; tracks are 40 obstacles on the host. */
#include <stdlib.h>
#include <string.h>

#include "ground/ground_inputs.h"
#include "obstacles/obstacles.h"
#include "obstacles/obstacles_cases.h"

typedef struct Job {
  RvGround *ground;
  RvObstacles *obstacles;
  RvPlane disparity, gray;
  void *surface, *boxes, *counts, *columns;
  int has_ground;
} Job;

static RvStatus run(void *user, RvStream stream) {
  const Job *job = user;
  const RvObstaclesSource source = {
      .disparity = job->disparity, .ground = job->surface, .gray = job->gray};
  const RvObstaclesOutput output = {job->boxes, job->counts, job->columns};
  RvStatus status = RV_OK;
  if (job->has_ground)
    status = rv_ground_run(job->ground, &job->disparity, job->surface, stream);
  return status == RV_OK ? rv_obstacles_run(job->obstacles, &source, &output, stream) : status;
}

static void paint(const RvObstaclesConfig *c, RvRandom *random, const RvPlane *host) {
  GroundInput in = {.camera = c->camera, .noise = 0.25, .holes = 50, .wall = 45, .box_count = 8};
  for (int k = 0; k < 7; k++)
    in.boxes[k] = (GroundBox){5.5 + 4.5 * (k / 2), k % 2 ? 2.6 : -5.2, 1.8, 1.5, 0};
  in.boxes[7] = (GroundBox){14, -10, 20, 1, 4.5};
  ground_input_paint(&in, random, host);
}

static void bench_engine(RvCheck *check, const char *name, const RvObstaclesConfig *c,
                         const RvPlane *host, const RvPlane *gray, RvEngine engine,
                         int has_ground) {
  RvGroundConfig g;
  Job job = {.disparity = *host, .gray = *gray, .has_ground = has_ground};
  const RvGroundSurface surface = rv_ground_of_camera(&c->camera);
  rv_ground_config_init(&g);
  g.width = c->width;
  g.height = c->height;
  g.camera = c->camera;
  g.threads = c->threads;
  RvStatus status = rv_obstacles_new(&job.obstacles, c, engine);
  status = status == RV_OK ? rv_ground_new(&job.ground, &g, engine) : status;
  status = status == RV_OK ? rv_buffer_new(&job.surface, sizeof surface, engine) : status;
  const size_t boxes = RV_OBSTACLES_MAX * sizeof(RvObstacleBox);
  status = status == RV_OK ? rv_buffer_new(&job.boxes, boxes, engine) : status;
  status = status == RV_OK ? rv_buffer_new(&job.counts, 8, engine) : status;
  const size_t columns = (size_t)c->width * sizeof(RvFreeColumn);
  status = status == RV_OK ? rv_buffer_new(&job.columns, columns, engine) : status;
  const ptrdiff_t bytes = (ptrdiff_t)sizeof surface;
  if (status == RV_OK)
    status =
        rv_copy_rows(job.surface, bytes, engine, &surface, bytes, RV_CPU, (size_t)bytes, 1, NULL);
  if (rvc_true(check, name, status == RV_OK, "%s", rv_status_text(status)) &&
      (engine == RV_CPU ||
       (rvc_upload(check, &job.disparity, host) && rvc_upload(check, &job.gray, gray))))
    rvc_bench(check, name, engine, run, &job);
  if (engine == RV_CUDA) {
    rvc_device_free(&job.disparity);
    rvc_device_free(&job.gray);
  }
  void **pieces[] = {&job.surface, &job.boxes, &job.counts, &job.columns};
  for (int k = 0; k < 4; k++)
    rv_buffer_free(pieces[k], engine);
  rv_ground_free(&job.ground);
  rv_obstacles_free(&job.obstacles);
}

static void bench_size(RvCheck *check, const char *name, int width, int height, int has_ground) {
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, "obstacles/bench");
  RvObstaclesConfig c;
  GROUND_INPUT_CONFIG(obstacles, &c, width, height);
  c.log = rvc_log(check);
  RvPlane host = rvc_plane(width, height, RV_U16), gray = rvc_plane(width, height, RV_U8);
  paint(&c, &random, &host);
  for (int i = 0; i < width * height; i++)
    ((uint8_t *)gray.data)[i] = (uint8_t)rvc_range(&random, 100, 110);
  if (rvc_cpu(check))
    bench_engine(check, name, &c, &host, &gray, RV_CPU, has_ground);
  if (rvc_cuda(check))
    bench_engine(check, name, &c, &host, &gray, RV_CUDA, has_ground);
  free(host.data);
  free(gray.data);
}

/* --- Tracks ---------------------------------------------------------------------------------- */

typedef struct Tracking {
  RvObstaclesTracks *tracks;
  RvObstacle list[40];
  double time;
} Tracking;

static RvStatus run_tracks(void *user, RvStream stream) {
  Tracking *t = user;
  RvObstacle list[80];
  int total;
  memcpy(list, t->list, sizeof t->list);
  t->time += 0.05;
  return rv_obstacles_track(t->tracks, t->time, list, 40, 80, &total, NULL);
}

static void bench_tracks(RvCheck *check) {
  static const char name[] = "obstacles/tracks";
  if (!rvc_wants(check, name) || !rvc_cpu(check))
    return;
  RvObstaclesConfig c;
  GROUND_INPUT_CONFIG(obstacles, &c, 1242, 375);
  Tracking t = {NULL, {{0}}, 0};
  for (int k = 0; k < 40; k++)
    t.list[k] = (RvObstacle){.distance = (float)(5 + k),
                             .lateral = (float)(k % 9 - 4),
                             .width = 1.8f,
                             .height = 1.5f,
                             .distance_sigma = 0.3f,
                             .x = 100,
                             .w = 50,
                             .h = 50,
                             .confidence = 255};
  if (rv_obstacles_tracks_new(&t.tracks, &c) == RV_OK)
    rvc_bench(check, name, RV_CPU, run_tracks, &t);
  rv_obstacles_tracks_free(&t.tracks);
}

void obstacles_bench(RvCheck *check) {
  bench_size(check, "obstacles/640x480", 640, 480, 0);
  bench_size(check, "obstacles/1242x375", 1242, 375, 0);
  bench_size(check, "obstacles/1242x375-ground", 1242, 375, 1);
  bench_size(check, "obstacles/1920x1080", 1920, 1080, 0);
  bench_tracks(check);
}
