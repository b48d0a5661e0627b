/* SPDX-License-Identifier: MIT */
/* rdp_render.c: segments to rasters: checks and the CPU engine. */
#include "rdp/rdp_render.h"

#include <string.h>

#include "rdp/rdp_render_stages.h"
#include "rdp/rdp_rules.h"
#include "rv_object.h"

static void render_one(const RvSegment *s, const RvPlane *disparity, const RvPlane *ends) {
  char *column = (char *)disparity->data + 2 * s->column;
  const int length = rv_max(s->last - s->first, 1);
  for (int y = s->first; y <= s->last; y++)
    *(uint16_t *)(void *)(column + y * disparity->stride) =
        (uint16_t)rv_rdp_between(s->disparity_first, s->disparity_last, y - s->first, length);
  if (!ends->data)
    return;
  uint8_t *marks = (uint8_t *)ends->data + s->column;
  marks[s->first * ends->stride] = marks[s->last * ends->stride] = 255;
}

/* Threads share the columns, so that none writes where another does. */
static void render_cpu(const RvSegment *segments, uint32_t count, const RvPlane *disparity,
                       const RvPlane *ends, int threads) {
  const int width = disparity->width, height = disparity->height;
  const int shares = rv_min(rv_threads(threads), width);
  for (int y = 0; y < height; y++) {
    memset((char *)disparity->data + y * disparity->stride, 0, 2 * (size_t)width);
    if (ends->data)
      memset((char *)ends->data + y * ends->stride, 0, (size_t)width);
  }
#pragma omp parallel for num_threads(shares) schedule(static, 1)
  for (int share = 0; share < shares; share++)
    for (uint32_t k = 0; k < count; k++)
      if (segments[k].column * shares / width == share &&
          rv_rdp_is_inside(&segments[k], width, height))
        render_one(&segments[k], disparity, ends);
}

RvStatus rv_rdp_render(const RvSegment *segments, uint32_t count, const RvPlane *disparity,
                       const RvPlane *ends, int threads, RvEngine engine, RvStream stream,
                       const RvLog *log) {
  RV_REQUIRE(log, segments || count == 0, "rdp: segments is NULL");
  RV_REQUIRE(log, (uintptr_t)segments % 4 == 0, "rdp: segments must be aligned to 4 bytes");
  RV_REQUIRE(log,
             disparity && disparity->width > 0 && disparity->height > 0 &&
                 disparity->width <= RV_MAX_SIDE && disparity->height <= RV_MAX_SIDE &&
                 rv_plane_fits(disparity, disparity->width, disparity->height, RV_U16),
             "rdp: plane disparity must be RV_U16 with a stride that holds a row");
  const RvPlane none = {0};
  ends = ends && ends->data ? ends : &none;
  RV_REQUIRE(log, !ends->data || rv_plane_fits(ends, disparity->width, disparity->height, RV_U8),
             "rdp: plane ends must be RV_U8 of the size of plane disparity");
  RV_REQUIRE(log, threads >= 0, "rdp: threads is %d, must be 0 (all) or more", threads);
  if (engine == RV_CPU) {
    render_cpu(segments, count, disparity, ends, threads);
    return RV_OK;
  }
  RV_ON_CUDA(engine, rv_rdp_render_cuda(segments, count, disparity, ends, stream, log));
  return rv_no_engine(log, "rdp", engine);
}
