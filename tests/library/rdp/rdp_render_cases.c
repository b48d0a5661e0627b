/* SPDX-License-Identifier: MIT */
/* rdp_render_cases.c: the rasters of a list are those that made it; foreign lists do no harm. */
#include "rdp/rdp_render_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdp/rdp_render.h"
#include "rdp/rdp_reference.h"

typedef struct Rasters {
  RvPlane disparity, ends;
} Rasters;

static Rasters rasters_new(int width, int height) {
  const size_t pixels = (size_t)width * (size_t)height;
  const Rasters r = {{malloc(pixels * 2), 2 * (ptrdiff_t)width, width, height, RV_U16},
                     {malloc(pixels), width, width, height, RV_U8}};
  if (!r.disparity.data || !r.ends.data)
    abort();
  memset(r.disparity.data, 0x77, pixels * 2);
  memset(r.ends.data, 0x77, pixels);
  return r;
}

static void rasters_free(Rasters *r) {
  free(r->disparity.data);
  free(r->ends.data);
}

static void render_cuda(RvCheck *check, const char *name, const RvSegment *segments, uint32_t count,
                        const Rasters *out) {
  Rasters device;
  void *list = NULL;
  const RvLog log = rvc_log(check);
  const size_t bytes = count * sizeof *segments;
  if (!rvc_upload(check, &device.disparity, &out->disparity) ||
      !rvc_upload(check, &device.ends, &out->ends))
    return;
  const int ok =
      rv_buffer_new(&list, bytes + 4, RV_CUDA) == RV_OK &&
      rv_copy_to_device(list, segments, bytes, NULL) == RV_OK &&
      rv_rdp_render(list, count, &device.disparity, &device.ends, 0, RV_CUDA, NULL, &log) == RV_OK;
  rvc_true(check, name, ok, "CUDA, %u segments", count);
  rvc_download(check, &out->disparity, &device.disparity);
  rvc_download(check, &out->ends, &device.ends);
  rv_buffer_free(&list, RV_CUDA);
  rvc_device_free(&device.disparity);
  rvc_device_free(&device.ends);
}

/* Both engines give `want`. */
static void check_list(RvCheck *check, const char *name, const RvSegment *segments, uint32_t count,
                       const Rasters *want, RvRandom *random) {
  const int width = want->disparity.width, height = want->disparity.height;
  const RvLog log = rvc_log(check);
  for (int engine = RV_CPU; engine <= (rvc_cuda(check) ? RV_CUDA : RV_CPU); engine++) {
    Rasters got = rasters_new(width, height);
    if (engine == RV_CUDA)
      render_cuda(check, name, segments, count, &got);
    else
      rvc_true(check, name,
               rv_rdp_render(segments, count, &got.disparity, &got.ends, rvc_range(random, 0, 3),
                             RV_CPU, NULL, &log) == RV_OK,
               "%u segments", count);
    rvc_same(check, name, &want->disparity, &got.disparity, engine ? "CUDA" : "CPU");
    rvc_same(check, name, &want->ends, &got.ends, engine ? "CUDA, ends" : "CPU, ends");
    rasters_free(&got);
  }
}

static void check_round(RvCheck *check, const char *name, RvRandom *random) {
  RvRdpConfig c;
  rv_rdp_config_init(&c);
  c.width = rvc_range(random, 1, 90);
  c.height = rvc_range(random, 1, 90);
  c.epsilon = rvc_range(random, 0, 30);
  c.invalid = (RvRdpInvalid)rvc_range(random, 0, 1);
  const size_t pixels = (size_t)c.width * (size_t)c.height;
  uint16_t *source = malloc(pixels * sizeof *source);
  if (!source)
    abort();
  for (size_t i = 0; i < pixels; i++)
    source[i] = (uint16_t)(rvc_range(random, 0, 9) ? rvc_range(random, 1, 900) : 0);
  RdpResult reference = rdp_result_new(&c, rv_rdp_segments_max(&c));
  rdp_reference(&c, source, &reference);
  Rasters want = rasters_new(c.width, c.height);
  memcpy(want.disparity.data, reference.drawn, pixels * sizeof *reference.drawn);
  for (size_t i = 0; i < pixels; i++)
    ((uint8_t *)want.ends.data)[i] = reference.mask[i] ? 255 : 0;
  check_list(check, name, reference.segments, reference.offsets[c.width], &want, random);
  rasters_free(&want);
  rdp_result_free(&reference);
  free(source);
}

static void check_cases(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < 20; round++)
    check_round(check, name, random);
  /* Outside, upside down, and one row that is right. */
  static const RvSegment foreign[] = {{8, 0, 3, 0, 5, 6},     {65535, 65535, 65535, 0, 1, 1},
                                      {3, 4, 2, 0, 5, 6},     {3, 0, 6, 0, 5, 6},
                                      {3, 65535, 0, 0, 9, 9}, {7, 5, 5, 0, 40, 50}};
  Rasters want = rasters_new(8, 6);
  memset(want.disparity.data, 0, 8 * 6 * 2);
  memset(want.ends.data, 0, 8 * 6);
  ((uint16_t *)want.disparity.data)[5 * 8 + 7] = 40;
  ((uint8_t *)want.ends.data)[5 * 8 + 7] = 255;
  check_list(check, name, foreign, 6, &want, random);
  rvc_true(check, name,
           rv_rdp_render(NULL, 1, &want.disparity, &want.ends, 0, RV_CPU, NULL, NULL) ==
                   RV_ERR_ARG &&
               rv_rdp_render(foreign, 6, &want.ends, NULL, 0, RV_CPU, NULL, NULL) == RV_ERR_ARG &&
               rv_rdp_render(foreign, 6, &want.disparity, &want.disparity, 0, RV_CPU, NULL, NULL) ==
                   RV_ERR_ARG &&
               rv_rdp_render(foreign, 6, NULL, NULL, 0, RV_CPU, NULL, NULL) == RV_ERR_ARG,
           "bad arguments are accepted");
  rasters_free(&want);
}

RVC_CASES(rdp_render_parity, RVC_CASE("rdp/render", check_cases, 0));
