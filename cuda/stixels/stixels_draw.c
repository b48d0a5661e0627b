/* SPDX-License-Identifier: MIT */
/* stixels_draw.c: rendering of a list to rasters: checks and the CPU engine. */
#include "stixels/stixels_draw.h"

#include <string.h>

#include "rv_object.h"
#include "stixels/stixels_draw_stages.h"

static void *row_of(const RvPlane *plane, int y) {
  return plane->data ? (char *)plane->data + y * plane->stride : NULL;
}

static void draw_one(const RvStixel *s, int right, const RvStixelsRasters *rasters) {
  const size_t left = s->column, wide = (size_t)right - left;
  for (int y = s->v_top; y <= s->v_bottom; y++) {
    uint16_t *row = row_of(&rasters->disparity, y);
    const uint16_t value = rv_stixels_drawn_disparity(s, y);
    for (size_t x = left; row && x < left + wide; x++)
      row[x] = value;
    uint8_t *classes = row_of(&rasters->classes, y);
    if (classes)
      memset(classes + left, rv_stixels_drawn_class(s, y), wide);
    uint8_t *outline = row_of(&rasters->outline, y);
    if (!outline)
      continue;
    memset(outline + left, rv_stixels_drawn_outline(s, y == s->v_top), wide);
    outline[left] = rv_stixels_drawn_outline(s, 1);
  }
}

static void clear(const RvPlane *plane) {
  for (int y = 0; plane->data && y < plane->height; y++)
    memset(row_of(plane, y), 0, (size_t)plane->width * rv_format_bytes(plane->format));
}

static RvStatus check(const RvStixelsRasters *r, const RvLog *log) {
  RV_REQUIRE(log, r && (r->disparity.data || r->classes.data),
             "stixels: there must be a plane disparity or classes to draw on");
  const RvPlane *first = r->disparity.data ? &r->disparity : &r->classes;
  const int width = first->width, height = first->height;
  RV_REQUIRE(log, width > 0 && height > 0 && width <= RV_MAX_SIDE && height <= RV_MAX_SIDE,
             "stixels: rasters of %d x %d px, must be 1 to %d", width, height, RV_MAX_SIDE);
  const RvPlane *const planes[] = {&r->disparity, &r->classes, &r->outline};
  static const char *const names[] = {"disparity", "classes", "outline"};
  for (int k = 0; k < 3; k++)
    RV_REQUIRE(log,
               !planes[k]->data || rv_plane_fits(planes[k], width, height, k == 0 ? RV_U16 : RV_U8),
               "stixels: plane %s must be %s of %d x %d px with a stride that holds a row",
               names[k], k == 0 ? "RV_U16" : "RV_U8", width, height);
  return RV_OK;
}

static void draw_cpu(const RvStixel *list, uint32_t count, int stixel_width,
                     const RvStixelsRasters *rasters) {
  const RvPlane *any = rasters->disparity.data ? &rasters->disparity : &rasters->classes;
  clear(&rasters->disparity);
  clear(&rasters->classes);
  clear(&rasters->outline);
  for (uint32_t k = 0; k < count; k++)
    if (rv_stixels_is_drawn(&list[k], any->width, any->height))
      draw_one(&list[k], rv_min(list[k].column + stixel_width, any->width), rasters);
}

RvStatus rv_stixels_draw(const RvStixel *list, uint32_t count, int stixel_width,
                         const RvStixelsRasters *rasters, RvEngine engine, RvStream stream,
                         const RvLog *log) {
  RV_REQUIRE(log, (list || count == 0) && (uintptr_t)list % 4 == 0,
             "stixels: the list to draw must be given, aligned to 4 bytes");
  RV_REQUIRE(log, stixel_width >= 1 && stixel_width <= 64,
             "stixels: stixel_width is %d, must be 1 to 64", stixel_width);
  RV_TRY(check(rasters, log));
  if (engine == RV_CPU) {
    draw_cpu(list, count, stixel_width, rasters);
    return RV_OK;
  }
  RV_ON_CUDA(engine, rv_stixels_draw_cuda(list, count, stixel_width, rasters, stream, log));
  return rv_no_engine(log, "stixels", engine);
}
