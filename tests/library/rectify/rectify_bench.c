/* SPDX-License-Identifier: MIT */
/* rectify_bench.c: benchmark cases: both views of a synthetic pinhole camera, per pixel format. */
#include "rectify/rectify_bench.h"

#include "rectify/rectify_inputs.h"

typedef struct Bench {
  RvRectify *rectify;
  RvPicture in, out;
} Bench;

static RvStatus bench_run(void *user, RvStream stream) {
  Bench *b = user;
  return rv_rectify_run(b->rectify, &b->in, &b->out, stream);
}

static void bench_engine(RvCheck *check, const char *name, const RvRectifyConfig *c,
                         RvEngine engine) {
  RectifyFrames f = {0};
  CasePicture in = {0}, out = {0};
  Bench b = {0};
  RvRandom random = rvc_random(check, name);
  const int is_cuda = engine == RV_CUDA;
  if (rectify_frames_new(check, &f, c, &random, RVC_SMOOTH) &&
      (!is_cuda ||
       (case_picture_upload(check, &in, &f.in) && case_picture_upload(check, &out, &f.got))) &&
      rv_rectify_new(&b.rectify, c, engine) == RV_OK) {
    b.in = is_cuda ? in.view : f.in.view;
    b.out = is_cuda ? out.view : f.got.view;
    rvc_bench(check, name, engine, bench_run, &b);
  }
  rv_rectify_free(&b.rectify);
  case_picture_device_free(&in);
  case_picture_device_free(&out);
  rectify_frames_free(&f);
}

void rectify_bench(RvCheck *check) {
  static const struct {
    const char *name;
    int width, height;
    RvPixelFormat format;
  } rows[] = {
      {"rectify/2x1242x375", 1242, 375, RV_PIXEL_NV12},
      {"rectify/2x1920x1080", 1920, 1080, RV_PIXEL_NV12},
      {"rectify/2x1242x375-gray", 1242, 375, RV_PIXEL_GRAY8},
      {"rectify/2x1242x375-i420", 1242, 375, RV_PIXEL_I420},
      {"rectify/2x1242x375-yuy2", 1242, 375, RV_PIXEL_YUY2},
      {"rectify/2x1242x375-bgrx", 1242, 375, RV_PIXEL_BGRX},
      {"rectify/2x1242x375-rgb", 1242, 375, RV_PIXEL_RGB},
      {"rectify/2x1920x1080-bgrx", 1920, 1080, RV_PIXEL_BGRX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!rvc_wants(check, rows[i].name))
      continue;
    RvRectifyConfig c;
    rectify_input_config(&c, rows[i].width, rows[i].height);
    c.format = rows[i].format;
    c.alpha = 0;
    c.log = rvc_log(check);
    if (rvc_cpu(check))
      bench_engine(check, rows[i].name, &c, RV_CPU);
    if (rvc_cuda(check))
      bench_engine(check, rows[i].name, &c, RV_CUDA);
  }
}
