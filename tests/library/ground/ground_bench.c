/* SPDX-License-Identifier: MIT */
/* ground_bench.c: see ground_bench.h. Streets with cars of 0.25 px noise, 5 % of the pixels
 * invalid. */
#include "ground/ground_bench.h"

#include <stdlib.h>

#include "ground/ground.h"
#include "ground/ground_inputs.h"

typedef struct Job {
  RvGround *ground;
  RvPlane disparity;
  void *out;
} Job;

static RvStatus run(void *user, RvStream stream) {
  const Job *job = user;
  return rv_ground_run(job->ground, &job->disparity, job->out, stream);
}

static void bench_engine(RvCheck *check, const char *name, const RvGroundConfig *config,
                         const RvPlane *host, RvEngine engine) {
  Job job = {.disparity = *host};
  RvStatus status = rv_ground_new(&job.ground, config, engine);
  if (status == RV_OK)
    status = rv_buffer_new(&job.out, sizeof(RvGroundSurface), engine);
  if (status == RV_OK && (engine == RV_CPU || rvc_upload(check, &job.disparity, host)))
    rvc_bench(check, name, engine, run, &job);
  if (engine == RV_CUDA)
    rvc_device_free(&job.disparity);
  rv_buffer_free(&job.out, engine);
  rv_ground_free(&job.ground);
}

void ground_bench(RvCheck *check) {
  static const struct {
    const char *name;
    int width, height;
  } rows[] = {{"ground/640x480", 640, 480},
              {"ground/1242x375", 1242, 375},
              {"ground/1920x1080", 1920, 1080}};
  for (int i = 0; i < 3; i++) {
    if (!rvc_wants(check, rows[i].name))
      continue;
    RvRandom random = rvc_random(check, rows[i].name);
    RvGroundConfig c;
    GROUND_INPUT_CONFIG(ground, &c, rows[i].width, rows[i].height);
    c.log = rvc_log(check);
    const GroundInput in = {
        .camera = c.camera,
        .noise = 0.25,
        .holes = 50,
        .wall = 40,
        .box_count = 3,
        .boxes = {{15, 1, 1.8, 1.5, 0}, {9, -6, 1.8, 1.5, 0}, {22, 4, 1.8, 1.5, 0}}};
    RvPlane host = rvc_plane(c.width, c.height, RV_U16);
    ground_input_paint(&in, &random, &host);
    if (rvc_cpu(check))
      bench_engine(check, rows[i].name, &c, &host, RV_CPU);
    if (rvc_cuda(check))
      bench_engine(check, rows[i].name, &c, &host, RV_CUDA);
    free(host.data);
  }
}
