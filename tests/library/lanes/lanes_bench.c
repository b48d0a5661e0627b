/* SPDX-License-Identifier: MIT */
/* lanes_bench.c: timed rows: a road of three lines, gray noise of 12 levels and, for the marks
 * that such noise does not give, 400 bright spots next to the road. Rows NAME: lines from gray,
 * disparity and ground; NAME-color with colors; NAME-camera from one camera; lanes/tracks: one
 * frame of tracks on the host. */
#include "lanes/lanes_bench.h"

#include <stdlib.h>

#include "lanes/lanes_inputs.h"

typedef struct Job {
  RvLanes *lanes;
  RvPlane gray, disparity, color;
  void *ground, *found;
} Job;

static RvStatus run(void *user, RvStream stream) {
  const Job *job = user;
  const RvLanesSource source = {job->gray, job->disparity, job->color, job->ground};
  return rv_lanes_run(job->lanes, &source, job->found, stream);
}

static void spots(RvRandom *random, const RvPlane *gray) {
  for (int i = 0; i < 400; i++) {
    const int y = rvc_range(random, gray->height / 2, gray->height - 8);
    const int x = rvc_range(random, 0, gray->width - 8);
    for (int k = 0; k < 40; k++)
      ((uint8_t *)gray->data)[(y + k / 5) * gray->stride + x + k % 5] = 220;
  }
}

static RvStatus open_job(Job *job, const RvLanesConfig *c, RvEngine engine) {
  const RvGroundSurface surface = rv_ground_of_camera(&c->camera);
  const ptrdiff_t bytes = (ptrdiff_t)sizeof surface;
  RvStatus status = rv_lanes_new(&job->lanes, c, engine);
  status = status == RV_OK ? rv_buffer_new(&job->ground, sizeof surface, engine) : status;
  status = status == RV_OK ? rv_buffer_new(&job->found, sizeof(RvLanesFound), engine) : status;
  if (status == RV_OK)
    status =
        rv_copy_rows(job->ground, bytes, engine, &surface, bytes, RV_CPU, (size_t)bytes, 1, NULL);
  return status;
}

static void bench_engine(RvCheck *check, const char *name, const RvLanesConfig *c, const Job *host,
                         RvEngine engine) {
  Job job = *host;
  if (engine == RV_CUDA)
    job = (Job){0};
  const RvStatus status = open_job(&job, c, engine);
  int is_ready = rvc_true(check, name, status == RV_OK, "%s", rv_status_text(status));
  if (is_ready && engine == RV_CUDA) {
    is_ready = rvc_upload(check, &job.gray, &host->gray);
    is_ready =
        is_ready && (!host->disparity.data || rvc_upload(check, &job.disparity, &host->disparity));
    is_ready = is_ready && (!host->color.data || rvc_upload(check, &job.color, &host->color));
  }
  if (is_ready)
    rvc_bench(check, name, engine, run, &job);
  RvPlane *planes[] = {&job.gray, &job.disparity, &job.color};
  for (int k = 0; k < 3; k++)
    if (engine == RV_CUDA && planes[k]->data)
      rvc_device_free(planes[k]);
  rv_buffer_free(&job.ground, engine);
  rv_buffer_free(&job.found, engine);
  rv_lanes_free(&job.lanes);
}

static void bench_size(RvCheck *check, const char *name, int width, int height, int is_camera,
                       int has_color) {
  if (!rvc_wants(check, name))
    return;
  RvRandom random = rvc_random(check, "lanes/bench");
  RvLanesConfig c;
  GROUND_INPUT_CONFIG(lanes, &c, width, height);
  c.ground = is_camera ? RV_LANES_GROUND_CAMERA : RV_LANES_GROUND_ESTIMATE;
  c.log = rvc_log(check);
  LanesInput road = lanes_input_road(&c.camera);
  road.noise = 12;
  const GroundInput ground = {.camera = c.camera, .noise = 0.25, .holes = 50, .wall = 60};
  Job host = {.gray = rvc_plane(width, height, RV_U8)};
  if (has_color)
    host.color = rvc_plane(width, height, RV_U32);
  lanes_input_paint(&road, &random, &host.gray, has_color ? &host.color : NULL);
  spots(&random, &host.gray);
  if (!is_camera) {
    host.disparity = rvc_plane(width, height, RV_U16);
    ground_input_paint(&ground, &random, &host.disparity);
  }
  if (rvc_cpu(check))
    bench_engine(check, name, &c, &host, RV_CPU);
  if (rvc_cuda(check))
    bench_engine(check, name, &c, &host, RV_CUDA);
  free(host.gray.data);
  free(host.disparity.data);
  free(host.color.data);
}

/* --- Tracks ---------------------------------------------------------------------------------- */

typedef struct Tracking {
  RvLanesTracks *tracks;
  RvLanesFound found;
  double time;
} Tracking;

static RvStatus run_tracks(void *user, RvStream stream) {
  Tracking *t = user;
  RvLanesLane lane;
  t->time += 0.05;
  return rv_lanes_track(t->tracks, t->time, &t->found, NULL, &lane);
}

static void bench_tracks(RvCheck *check) {
  static const char name[] = "lanes/tracks";
  if (!rvc_wants(check, name) || !rvc_cpu(check))
    return;
  RvRandom random = rvc_random(check, name);
  RvLanesConfig c;
  GROUND_INPUT_CONFIG(lanes, &c, 1242, 375);
  const LanesInput road = lanes_input_road(&c.camera);
  const RvPlane gray = rvc_plane(c.width, c.height, RV_U8);
  const RvGroundSurface surface = rv_ground_of_camera(&c.camera);
  const RvLanesSource source = {.gray = gray, .ground = &surface};
  Tracking t = {.time = 0};
  RvLanes *lanes = NULL;
  lanes_input_paint(&road, &random, &gray, NULL);
  RvStatus status = rv_lanes_new(&lanes, &c, RV_CPU);
  status = status == RV_OK ? rv_lanes_run(lanes, &source, &t.found, NULL) : status;
  status = status == RV_OK ? rv_lanes_tracks_new(&t.tracks, &c) : status;
  if (rvc_true(check, name, status == RV_OK, "%s", rv_status_text(status)))
    rvc_bench(check, name, RV_CPU, run_tracks, &t);
  rv_lanes_tracks_free(&t.tracks);
  rv_lanes_free(&lanes);
  free(gray.data);
}

void lanes_bench(RvCheck *check) {
  bench_size(check, "lanes/640x480", 640, 480, 0, 0);
  bench_size(check, "lanes/1242x375", 1242, 375, 0, 0);
  bench_size(check, "lanes/1242x375-color", 1242, 375, 0, 1);
  bench_size(check, "lanes/1242x375-camera", 1242, 375, 1, 0);
  bench_size(check, "lanes/1920x1080", 1920, 1080, 0, 0);
  bench_tracks(check);
}
