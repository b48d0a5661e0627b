/* stixels_draw.c: stixels to rasters: checks and the CPU engine. */
#include "stixels_draw.h"

#include <string.h>

#include "rv_config.h"
#include "stixels_draw_stages.h"

static void draw_one(const RvStixel *s, int right, const RvPlane *disparity,
                     const RvPlane *outline) {
  for (int y = s->v_top; y <= s->v_bottom; y++) {
    uint16_t *row = (uint16_t *)(void *)((char *)disparity->data + y * disparity->stride);
    const uint16_t value = rv_stixels_rendered(s, y);
    for (int x = s->column; x < right; x++)
      row[x] = value;
    if (!outline->data)
      continue;
    char *marks = (char *)outline->data + y * outline->stride;
    const int end = y == s->v_top ? right : s->column + 1;
    memset(marks + s->column, 0, (size_t)(right - s->column));
    memset(marks + s->column, 255, (size_t)(end - s->column));
  }
}

static void draw_cpu(const RvStixel *list, uint32_t count, int stixel_width,
                     const RvPlane *disparity, const RvPlane *outline) {
  const int width = disparity->width, height = disparity->height;
  for (int y = 0; y < height; y++) {
    memset((char *)disparity->data + y * disparity->stride, 0, 2 * (size_t)width);
    if (outline->data)
      memset((char *)outline->data + y * outline->stride, 0, (size_t)width);
  }
  for (uint32_t k = 0; k < count; k++)
    if (rv_stixels_is_drawn(&list[k], width, height))
      draw_one(&list[k], rv_min(list[k].column + stixel_width, width), disparity, outline);
}

RvStatus rv_stixels_draw(const RvStixel *list, uint32_t count, int stixel_width,
                         const RvPlane *disparity, const RvPlane *outline, RvEngine engine,
                         RvStream stream, const RvLog *log) {
  RV_REQUIRE(log, (list || count == 0) && (uintptr_t)list % 4 == 0,
             "stixels: the list to draw must be given, aligned to 4 bytes");
  RV_REQUIRE(log, stixel_width >= 1 && stixel_width <= 64,
             "stixels: stixel_width is %d, must be 1 to 64", stixel_width);
  RV_REQUIRE(log,
             disparity && disparity->width > 0 && disparity->height > 0 &&
                 disparity->width <= RV_MAX_SIDE && disparity->height <= RV_MAX_SIDE &&
                 rv_plane_fits(disparity, disparity->width, disparity->height, RV_U16),
             "stixels: plane disparity must be RV_U16 with a stride that holds a row");
  const RvPlane none = {0};
  outline = outline && outline->data ? outline : &none;
  RV_REQUIRE(log,
             !outline->data || rv_plane_fits(outline, disparity->width, disparity->height, RV_U8),
             "stixels: plane outline must be RV_U8 of the size of plane disparity");
  if (engine == RV_CPU) {
    draw_cpu(list, count, stixel_width, disparity, outline);
    return RV_OK;
  }
#if RV_HAVE_CUDA
  if (engine == RV_CUDA)
    return rv_stixels_draw_cuda(list, count, stixel_width, disparity, outline, stream, log);
#endif
  (void)stream;
  rv_log(log, "stixels: this build has no engine %d", (int)engine);
  return RV_ERR_NO_DEVICE;
}
