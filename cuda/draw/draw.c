/* SPDX-License-Identifier: MIT */
/* draw.c: the object, its checks, and the layers. Shapes are in draw_shapes.c. */
#include "draw/draw_object.h"

#include <string.h>

#include "rv_pixels.h"
#include "rv_config.h"

void rv_draw_config_init(RvDrawConfig *config) {
  if (!config)
    return;
  memset(config, 0, sizeof *config);
  config->format = RV_PIXEL_BGRX;
  config->colormap = RV_COLORMAP_TURBO;
}

RvStatus rv_draw_config_check(const RvDrawConfig *config) {
  if (!config)
    return RV_ERR_ARG;
  const RvLog *log = &config->log;
  RV_REQUIRE(log,
             config->width >= 1 && config->width <= RV_MAX_SIDE && config->height >= 1 &&
                 config->height <= RV_MAX_SIDE,
             "draw: %dx%d px; each side must be 1..%d", config->width, config->height, RV_MAX_SIDE);
  RV_REQUIRE(log, rv_pixel_layout(config->format), "draw: %d is no pixel format",
             (int)config->format);
  RV_REQUIRE(log, (unsigned)config->colormap < RV_COLORMAPS, "draw: %d is no color map",
             (int)config->colormap);
  RV_REQUIRE(log, config->threads >= 0, "draw: threads is %d; 0 means all", config->threads);
  return RV_OK;
}

static void layout(RvArena *arena, RvInk **colors, uint8_t **field) {
  *colors = rv_arena_take(arena, RV_DRAW_COLORS * sizeof **colors);
  *field = rv_arena_take(arena, RV_FONT_BYTES);
}

size_t rv_draw_workspace(const RvDrawConfig *config, RvEngine engine) {
  (void)engine; /* the same tables on both */
  if (rv_draw_config_check(config) != RV_OK)
    return 0;
  RvArena arena = {0};
  RvInk *colors;
  uint8_t *field;
  layout(&arena, &colors, &field);
  return rv_arena_size(&arena);
}

static void make_tables(const RvDraw *draw, RvInk *colors, uint8_t *field) {
  for (int i = 0; i < RV_DRAW_COLORS; i++)
    colors[i] = rv_draw_ink(&draw->config, rv_colormap_color(draw->config.colormap, i));
  rv_font_field(field);
}

/* Makes the tables in host memory and, for CUDA, moves them. */
static RvStatus fill_tables(const RvDraw *draw) {
  if (draw->engine == RV_CPU) {
    make_tables(draw, draw->colors, draw->field);
    return RV_OK;
  }
  const size_t color_bytes = RV_DRAW_COLORS * sizeof *draw->colors;
  char *host = rv_memory_object(color_bytes + RV_FONT_BYTES);
  if (!host)
    return RV_ERR_NO_MEMORY;
  make_tables(draw, (RvInk *)host, (uint8_t *)host + color_bytes);
  RvStatus status = rv_copy_to_device(draw->colors, host, color_bytes, NULL);
  if (status == RV_OK)
    status = rv_copy_to_device(draw->field, host + color_bytes, RV_FONT_BYTES, NULL);
  rv_memory_free(host, RV_CPU);
  return status;
}

static RvStatus choose_engine(RvDraw *draw, RvEngine engine) {
  const RvLog *log = &draw->config.log;
  RV_REQUIRE(log, engine == RV_CPU || engine == RV_CUDA, "draw: no such engine: %d", (int)engine);
  draw->engine = engine;
  draw->stages = &rv_draw_stages_cpu;
  if (engine == RV_CPU)
    return RV_OK;
  char reason[160];
  if (rv_cuda_devices(reason, sizeof reason) == 0) {
    rv_log(log, "draw: no usable CUDA device: %s", reason);
    return RV_ERR_NO_DEVICE;
  }
#if RV_HAVE_CUDA
  draw->stages = &rv_draw_stages_cuda;
#endif
  return RV_OK;
}

static RvStatus fill_object(RvDraw *draw, RvEngine engine) {
  RV_TRY(choose_engine(draw, engine));
  layout(&draw->arena, &draw->colors, &draw->field);
  const size_t bytes = rv_arena_size(&draw->arena);
  RvStatus status = rv_arena_open(&draw->arena, engine);
  if (status == RV_OK) {
    layout(&draw->arena, &draw->colors, &draw->field);
    status = fill_tables(draw);
  }
  if (status != RV_OK)
    rv_log(&draw->config.log, "draw: tables of %zu bytes: %s", bytes, rv_status_text(status));
  return status;
}

RvStatus rv_draw_new(RvDraw **out, const RvDrawConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_draw_config_check(config));
  RvDraw *draw = rv_memory_object(sizeof *draw);
  if (!draw) {
    rv_log(&config->log, "draw: no memory for the object (%zu bytes)", sizeof *draw);
    return RV_ERR_NO_MEMORY;
  }
  draw->config = *config;
  const RvStatus status = fill_object(draw, engine);
  if (status != RV_OK) {
    rv_draw_free(&draw);
    return status;
  }
  *out = draw;
  return RV_OK;
}

void rv_draw_free(RvDraw **draw) {
  if (!draw || !*draw)
    return;
  rv_arena_close(&(*draw)->arena);
  rv_memory_free(*draw, RV_CPU);
  *draw = NULL;
}

RvColor rv_draw_color(const RvDraw *draw, int value, int limit) {
  if (!draw || limit < 1)
    return (RvColor){0, 0, 0, 255};
  const int64_t index = (int64_t)rv_clamp(value, 0, limit) * (RV_DRAW_COLORS - 1) / limit;
  return rv_colormap_color(draw->config.colormap, (int)index);
}

static RvCanvas canvas_of(const RvPicture *picture) {
  const RvPixelLayout *form = rv_pixel_layout(picture->format);
  RvCanvas canvas = {.cell_x = form->cell_x,
                     .cell_y = form->cell_y,
                     .color = form->plane_of[1] >= 0,
                     .width = picture->width,
                     .height = picture->height};
  for (int c = 0; c < (canvas.color ? 3 : 1); c++)
    canvas.channel[c] = (uint8_t *)picture->data[form->plane_of[c]] + form->offset_of[c];
  if (form->alpha >= 0)
    canvas.alpha = (uint8_t *)picture->data[0] + form->alpha;
  canvas.step[0] = form->step;
  canvas.step[1] = form->chroma_step;
  canvas.stride[0] = picture->stride[0];
  canvas.stride[1] = canvas.color ? picture->stride[form->plane_of[1]] : 0;
  return canvas;
}

static RvStatus job_of(const RvDraw *draw, const RvPicture *picture, RvStream stream,
                       RvDrawJob *job) {
  const RvLog *log = &draw->config.log;
  RV_REQUIRE(
      log, rv_picture_fits(picture),
      "draw: the picture needs a known format, all its planes and strides of at least a row");
  RV_REQUIRE(log,
             picture->format == draw->config.format && picture->width == draw->config.width &&
                 picture->height == draw->config.height,
             "draw: the picture has %dx%d px or a format other than the object's %dx%d",
             picture->width, picture->height, draw->config.width, draw->config.height);
  RV_REQUIRE(log, picture->format != RV_PIXEL_I420 || picture->stride[1] == picture->stride[2],
             "draw: both chroma planes of I420 need the same stride");
  *job =
      (RvDrawJob){canvas_of(picture), draw->colors, draw->field, draw->config.threads, stream, log};
  return RV_OK;
}

static RvStatus check_layer(const RvDraw *draw, const RvPlane *plane, RvFormat format,
                            const char *what) {
  const RvLog *log = &draw->config.log;
  RV_REQUIRE(
      log,
      plane && rv_plane_fits(plane, plane->width, plane->height, format) && plane->width >= 1 &&
          plane->width <= RV_MAX_SIDE && plane->height >= 1 && plane->height <= RV_MAX_SIDE,
      "draw: the %s needs 1..%d px a side and a stride of at least a row", what, RV_MAX_SIDE);
  return RV_OK;
}

RvStatus rv_draw_disparity(RvDraw *draw, const RvPicture *picture, const RvPlane *disparity,
                           int low, int high, int opacity, RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  const RvLog *log = &draw->config.log;
  RvDrawJob job;
  RV_TRY(check_layer(draw, disparity, RV_U16, "disparity (u16)"));
  RV_REQUIRE(log, low >= 0 && low < high && high <= 65535,
             "draw: the color map spans %d..%d; 0 <= low < high <= 65535", low, high);
  RV_REQUIRE(log, opacity >= 0 && opacity <= 255, "draw: opacity is %d; it must be 0..255",
             opacity);
  RV_TRY(job_of(draw, picture, stream, &job));
  return draw->stages->disparity(&job, disparity, low, high, opacity);
}

RvStatus rv_draw_mask(RvDraw *draw, const RvPicture *picture, const RvPlane *mask, RvColor color,
                      RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(check_layer(draw, mask, RV_U8, "mask (u8)"));
  RV_TRY(job_of(draw, picture, stream, &job));
  return draw->stages->mask(&job, mask, rv_draw_ink(&draw->config, color));
}

RvStatus rv_draw_labels(RvDraw *draw, const RvPicture *picture, const RvPlane *labels,
                        const RvColor *colors, int count, RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(check_layer(draw, labels, RV_U8, "labels (u8)"));
  RV_REQUIRE(&draw->config.log, colors && count >= 1 && count <= RV_DRAW_LABELS,
             "draw: %d colors of labels; give 1..%d", count, RV_DRAW_LABELS);
  RV_TRY(job_of(draw, picture, stream, &job));
  RvLabelInks inks = {{{{0, 0, 0}, 0}}};
  for (int k = 0; k < count; k++)
    inks.of[k + 1] = rv_draw_ink(&draw->config, colors[k]);
  return draw->stages->labels(&job, labels, &inks);
}

static RvStatus check_grid(const RvDraw *draw, const RvDrawGrid *g) {
  const RvLog *log = &draw->config.log;
  RV_REQUIRE(log, g, "draw: no grid");
  RV_TRY(check_layer(draw, &g->mask, RV_U8, "mask of a grid (u8)"));
  RV_REQUIRE(log, !g->marks.data || rv_plane_fits(&g->marks, g->mask.width, g->mask.height, RV_U8),
             "draw: the marks of a grid must be u8 of as many cells as its mask, %d x %d",
             g->mask.width, g->mask.height);
  RV_REQUIRE(log,
             g->width >= 1 && g->width <= RV_MAX_SIDE && g->height >= 1 && g->height <= RV_MAX_SIDE,
             "draw: a grid made for a picture of %dx%d px; each side must be 1..%d", g->width,
             g->height, RV_MAX_SIDE);
  RV_REQUIRE(log,
             g->cell >= 1 && g->mask.width <= g->width / g->cell &&
                 g->mask.height <= g->height / g->cell,
             "draw: %d x %d cells of %d px do not lie in a picture of %dx%d px", g->mask.width,
             g->mask.height, g->cell, g->width, g->height);
  RV_REQUIRE(log, g->edge_width >= 0 && g->edge_width <= RV_MAX_SIDE,
             "draw: the edge of a grid is %d px wide, must be 0..%d", g->edge_width, RV_MAX_SIDE);
  return RV_OK;
}

RvStatus rv_draw_grid(RvDraw *draw, const RvPicture *picture, const RvDrawGrid *grid,
                      RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(check_grid(draw, grid));
  RV_TRY(job_of(draw, picture, stream, &job));
  const RvGrid cells = {
      .mask = grid->mask.data,
      .marks = grid->marks.data,
      .mask_stride = grid->mask.stride,
      .marks_stride = grid->marks.stride,
      .columns = grid->mask.width,
      .rows = grid->mask.height,
      .per_cell = rv_grid_per_cell(grid->cell),
      .made_width = grid->width,
      .made_height = grid->height,
      .width = picture->width,
      .height = picture->height,
      .edge_width = grid->edge_width,
      .tint = rv_draw_ink(&draw->config, grid->tint),
      .mark = rv_draw_ink(&draw->config, grid->mark),
      .edge = rv_draw_ink(&draw->config, grid->edge),
  };
  return draw->stages->grid(&job, &cells);
}

RvStatus rv_draw_flush(RvDraw *draw, const RvPicture *picture, RvStream stream) {
  if (!draw)
    return RV_ERR_ARG;
  RvDrawJob job;
  RV_TRY(job_of(draw, picture, stream, &job));
  const int count = draw->count;
  draw->count = 0;
  draw->full_logged = 0;
  return count ? draw->stages->shapes(&job, draw->shapes, count) : RV_OK;
}
