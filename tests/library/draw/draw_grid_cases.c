/* SPDX-License-Identifier: MIT */
/* draw_grid_cases.c: grids of cells and keys: hand-computed, against a reference that asks every
 * pixel in plain words, CPU = CUDA on every format, rejections, benchmark row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw_hand_cases.h"
#include "draw/draw_rules.h"

static const RvColor tint = {200, 0, 100, 255}, mark = {9, 8, 7, 255}, edge = {1, 2, 3, 255};

/* A 7x5 image made of 3 x 2 cells of 2 px: a column and a row are left over. */
static void check_hand(RvCheck *check, const char *name, RvRandom *random) {
  uint8_t rgb[5][7][3], cells[2][3] = {{0, 255, 1}, {1, 1, 1}},
                        marks[2][3] = {{1, 0, 0}, {0, 0, 9}};
  memset(rgb, 50, sizeof rgb);
  const RvPicture view = {RV_PIXEL_RGB, 7, 5, {rgb}, {21}};
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  RvDrawGrid grid = {.mask = {cells, 3, 3, 2, RV_U8},
                     .marks = {marks, 3, 3, 2, RV_U8},
                     .width = 7,
                     .height = 5,
                     .cell = 2,
                     .tint = tint,
                     .mark = mark,
                     .edge = edge,
                     .edge_width = 1};
  /* . kept, t tint, m mark, e edge: next to the one cell that is not masked */
  static const char *const want[5] = {"mmetmm.", "mmetmm.", "eettmm.", "ttttmm.", "......."};
  static const char *const plain[5] = {"mmtttt.", "mmtttt.", "ttttmm.", "ttttmm.", "......."};
  for (int k = 0; k < 2; k++) {
    const char *const *rows = k ? plain : want;
    if (k)
      grid.edge_width = 0;
    memset(rgb, 50, sizeof rgb);
    rvc_true(check, name, rv_draw_grid(draw, &view, &grid, NULL) == RV_OK, "refused");
    for (int y = 0; y < 5; y++)
      for (int x = 0; x < 7; x++) {
        const char kind = k == 0 && y < 2 && x > 3 && x < 6 ? 't' : rows[y][x];
        const int got = rgb[y][x][0];
        const int wanted = kind == 't' ? 200 : kind == 'm' ? 9 : kind == 'e' ? 1 : 50;
        rvc_true(check, name, got == wanted, "edge %d, (%d, %d): expected %c, got red %d",
                 grid.edge_width, x, y, kind, got);
      }
  }
  rv_draw_free(&draw);
}

/* The product stands for the division, at the pixels on both sides of every border of cells. */
static void check_division(RvCheck *check, const char *name, RvRandom *random) {
  long wrong = 0;
  for (int cell = 1; cell <= RV_MAX_SIDE; cell++) {
    const uint64_t per_cell = rv_grid_per_cell(cell);
    for (int border = 0; border <= RV_MAX_SIDE; border += cell)
      for (int x = border ? border - 1 : 0; x <= border; x++)
        wrong += (int)((uint64_t)x * per_cell >> 32) != x / cell;
  }
  rvc_true(check, name, wrong == 0, "%ld quotients differ", wrong);
}

typedef struct Scene {
  CasePicture picture;
  RvDrawGrid grid;
} Scene;

static int scene_new(RvCheck *check, Scene *s, RvPixelFormat format, RvRandom *random) {
  const int most = rvc_small(check) ? 60 : 260;
  const int width = rvc_range(random, 1, most), height = rvc_range(random, 1, most);
  const int same = rvc_range(random, 0, 1);
  RvDrawGrid *g = &s->grid;
  *g = (RvDrawGrid){.width = same ? width : rvc_range(random, 1, 300),
                    .height = same ? height : rvc_range(random, 1, 300),
                    .edge_width = rvc_range(random, 0, 4)};
  g->cell = rvc_range(random, 1, g->width < g->height ? g->width : g->height);
  if (g->cell > 9)
    g->cell = 1 + g->cell % 9;
  const int columns = g->width / g->cell, rows = g->height / g->cell;
  uint8_t *cells = malloc((size_t)columns * (size_t)rows * 2);
  if (!rvc_true(check, "draw/grid", cells != NULL, "no memory") ||
      !case_picture_new(check, &s->picture, format, width, height, rvc_range(random, 0, 9), random,
                        RVC_SMOOTH)) {
    free(cells);
    return 0;
  }
  for (int i = 0; i < columns * rows; i++) {
    cells[i] = (uint8_t)(rvc_range(random, 0, 5) ? i / columns % 7 > 2 : rvc_range(random, 0, 255));
    cells[columns * rows + i] = (uint8_t)(rvc_range(random, 0, 3) == 0);
  }
  g->mask = (RvPlane){cells, columns, columns, rows, RV_U8};
  if (rvc_range(random, 0, 3))
    g->marks = (RvPlane){cells + columns * rows, columns, columns, rows, RV_U8};
  const uint32_t bits = rvc_next(random);
  g->tint = (RvColor){0, 200, 90, (uint8_t)bits};
  g->mark = (RvColor){255, 190, 0, (uint8_t)(bits >> 8)};
  g->edge = (RvColor){0, 255, 120, (uint8_t)(bits >> 16)};
  return 1;
}

static void scene_free(Scene *s) {
  free(s->grid.mask.data);
  case_picture_free(&s->picture);
}

/* Cell of a pixel, in plain words: the pixel's center, brought to the image of the grid. */
static int cell_of(int x, int made, int pixels, int cell) {
  return (int)((x + 0.5) * made / pixels) / cell;
}

/* Of pixels outside the image the nearest inside counts. */
static int is_masked(const RvDrawGrid *g, const RvPicture *p, int x, int y) {
  x = x < 0 ? 0 : x >= p->width ? p->width - 1 : x;
  y = y < 0 ? 0 : y >= p->height ? p->height - 1 : y;
  const int column = cell_of(x, g->width, p->width, g->cell);
  const int row = cell_of(y, g->height, p->height, g->cell);
  const int c = column < g->mask.width ? column : g->mask.width - 1;
  const int r = row < g->mask.height ? row : g->mask.height - 1;
  return ((const uint8_t *)g->mask.data)[r * g->mask.stride + c] != 0;
}

static const RvColor *color_of(const RvDrawGrid *g, const RvPicture *p, int x, int y) {
  const int column = cell_of(x, g->width, p->width, g->cell);
  const int row = cell_of(y, g->height, p->height, g->cell), e = g->edge_width;
  if (column >= g->mask.width || row >= g->mask.height)
    return NULL;
  const int masked = is_masked(g, p, x, y);
  if (masked && e &&
      (!is_masked(g, p, x - e, y) || !is_masked(g, p, x + e, y) || !is_masked(g, p, x, y - e) ||
       !is_masked(g, p, x, y + e)))
    return &g->edge;
  if (g->marks.data && ((const uint8_t *)g->marks.data)[row * g->marks.stride + column])
    return &g->mark;
  return masked ? &g->tint : NULL;
}

/* An RGB image: every pixel and channel. */
static void check_plain_round(RvCheck *check, const char *name, RvRandom *random) {
  Scene s;
  if (!scene_new(check, &s, RV_PIXEL_RGB, random))
    return;
  const RvPicture *view = &s.picture.view;
  CasePicture was;
  if (case_picture_new(check, &was, RV_PIXEL_RGB, view->width, view->height, 0, random, RVC_ZERO)) {
    RvDraw *draw = draw_case_new(check, name, view, RV_CPU);
    case_picture_copy(&was, &s.picture);
    rvc_true(check, name, rv_draw_grid(draw, view, &s.grid, NULL) == RV_OK, "refused");
    int wrong = 0;
    for (int y = 0; y < view->height; y++)
      for (int x = 0; x < view->width; x++) {
        const RvColor *color = color_of(&s.grid, view, x, y);
        const uint8_t ink[3] = {color ? color->r : 0, color ? color->g : 0, color ? color->b : 0};
        for (int c = 0; c < 3; c++) {
          const int old = *case_sample(&was, c, x, y), a = color ? color->a : 0;
          const int want = (int)((old * (255 - a) + ink[c] * a) / 255.0 + 0.5);
          wrong += *case_sample(&s.picture, c, x, y) != want;
        }
      }
    rvc_true(check, name, wrong == 0, "%dx%d px, made for %dx%d, cell %d: %d samples differ",
             view->width, view->height, s.grid.width, s.grid.height, s.grid.cell, wrong);
    case_picture_whole(check, name, &s.picture, "grid");
    rv_draw_free(&draw);
    case_picture_free(&was);
  }
  scene_free(&s);
}

static void check_plain(RvCheck *check, const char *name, RvRandom *random) {
  for (int round = 0; round < 30; round++)
    check_plain_round(check, name, random);
}

static void draw_on_cuda(RvCheck *check, const char *name, const Scene *s, CasePicture *device) {
  RvDrawGrid grid = s->grid;
  if (!rvc_upload(check, &grid.mask, &s->grid.mask))
    return;
  if (!s->grid.marks.data || rvc_upload(check, &grid.marks, &s->grid.marks)) {
    RvDraw *draw = draw_case_new(check, name, &device->view, RV_CUDA);
    rvc_true(check, name,
             rv_draw_grid(draw, &device->view, &grid, NULL) == RV_OK &&
                 rv_stream_wait(NULL) == RV_OK,
             "rejected by CUDA");
    rv_draw_free(&draw);
    if (s->grid.marks.data)
      rvc_device_free(&grid.marks);
  }
  rvc_device_free(&grid.mask);
}

static void check_engines(RvCheck *check, const char *name, RvPixelFormat format, int round,
                          RvRandom *random) {
  (void)round;
  Scene s;
  CasePicture device, got;
  if (!scene_new(check, &s, format, random))
    return;
  const RvPicture *view = &s.picture.view;
  const int on_cuda = rvc_cuda(check) && case_picture_upload(check, &device, &s.picture);
  RvDraw *draw = draw_case_new(check, name, view, RV_CPU);
  rvc_true(check, name, rv_draw_grid(draw, view, &s.grid, NULL) == RV_OK, "refused");
  rv_draw_free(&draw);
  case_picture_whole(check, name, &s.picture, "grid");
  if (on_cuda) {
    char what[120];
    snprintf(what, sizeof what, "%dx%d px, made for %dx%d, %d x %d cells of %d", view->width,
             view->height, s.grid.width, s.grid.height, s.grid.mask.width, s.grid.mask.height,
             s.grid.cell);
    draw_on_cuda(check, name, &s, &device);
    if (case_picture_new(check, &got, format, view->width, view->height, 0, random, RVC_ZERO)) {
      if (case_picture_download(check, &got, &device))
        case_picture_same(check, name, &s.picture, &got, what);
      case_picture_free(&got);
    }
    case_picture_device_free(&device);
  }
  scene_free(&s);
}

static void check_refusals(RvCheck *check, const char *name, RvRandom *random) {
  uint8_t rgb[5][7][3] = {{{0}}}, cells[2][3] = {{0}};
  const RvPicture view = {RV_PIXEL_RGB, 7, 5, {rgb}, {21}};
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  const RvDrawGrid good = {
      .mask = {cells, 3, 3, 2, RV_U8}, .width = 7, .height = 5, .cell = 2, .tint = tint};
  RvDrawGrid bad = good;
#define REFUSED(call) rvc_true(check, name, (call) == RV_ERR_ARG, "accepted: " #call)
#define REFUSED_WITH(change)                                                                       \
  do {                                                                                             \
    bad = good;                                                                                    \
    change;                                                                                        \
    rvc_true(check, name, rv_draw_grid(draw, &view, &bad, NULL) == RV_ERR_ARG,                     \
             "accepted: " #change);                                                                \
  } while (0)
  rvc_true(check, name, rv_draw_grid(draw, &view, &good, NULL) == RV_OK,
           "a good grid was rejected");
  REFUSED(rv_draw_grid(NULL, &view, &good, NULL));
  REFUSED(rv_draw_grid(draw, NULL, &good, NULL));
  REFUSED(rv_draw_grid(draw, &view, NULL, NULL));
  REFUSED_WITH(bad.mask.data = NULL);
  REFUSED_WITH(bad.mask.format = RV_U16);
  REFUSED_WITH(bad.mask.width = 4);
  REFUSED_WITH(bad.mask.height = 3);
  REFUSED_WITH((bad.marks = bad.mask, bad.marks.width = 2));
  REFUSED_WITH((bad.marks = bad.mask, bad.marks.format = RV_F32));
  REFUSED_WITH(bad.cell = 0);
  REFUSED_WITH(bad.cell = 2147483647);
  REFUSED_WITH(bad.width = 0);
  REFUSED_WITH(bad.height = RV_MAX_SIDE + 1);
  REFUSED_WITH(bad.edge_width = -1);
  REFUSED_WITH(bad.edge_width = RV_MAX_SIDE + 1);
  const RvDrawLegendEntry none = {tint, NULL};
  REFUSED(rv_draw_legend_entries(NULL, &none, 0));
  REFUSED(rv_draw_legend_entries(draw, NULL, 1));
  REFUSED(rv_draw_legend_entries(draw, &none, 1));
  REFUSED(rv_draw_legend_entries(draw, &none, -1));
  REFUSED(rv_draw_legend_entries(draw, &none, RV_DRAW_LINES + 1));
#undef REFUSED_WITH
#undef REFUSED
  rv_draw_free(&draw);
}

/* In the lower right corner and nowhere else, in the colors that were given. */
static void check_keys(RvCheck *check, const char *name, RvRandom *random) {
  enum { WIDTH = 320, HEIGHT = 200 };
  static uint8_t rgb[HEIGHT * WIDTH * 3];
  DrawSheet sheet = draw_case_sheet(check, name, rgb, WIDTH, HEIGHT);
  const RvDrawLegendEntry keys[] = {{tint, "road"}, {{9, 8, 7, 255}, "taught"}};
  rvc_true(check, name, draw_case_flush(&sheet, rv_draw_legend_entries(sheet.draw, keys, 2)),
           "refused");
  int found[2] = {0, 0};
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    const uint8_t *p = rgb + 3 * i;
    found[0] += p[0] == 200 && p[1] == 0 && p[2] == 100;
    found[1] += p[0] == 9 && p[1] == 8 && p[2] == 7;
  }
  const long outside = draw_case_touched(&sheet, 0, 0, WIDTH, HEIGHT / 2) +
                       draw_case_touched(&sheet, 0, HEIGHT / 2, WIDTH / 2, HEIGHT);
  rvc_true(check, name, outside == 0 && found[0] > 40 && found[0] == found[1],
           "%ld bytes outside the corner; %d and %d px of the colors", outside, found[0], found[1]);
  draw_case_clean(&sheet);
  rvc_true(check, name,
           draw_case_flush(&sheet, rv_draw_legend_entries(sheet.draw, keys, 0)) &&
               draw_case_touched(&sheet, 0, 0, WIDTH, HEIGHT) == 0,
           "no keys draw something");
  rv_draw_free(&sheet.draw);
  sheet = draw_case_sheet(check, name, rgb, 20, 20);
  rvc_true(check, name,
           draw_case_flush(&sheet, rv_draw_legend_entries(sheet.draw, keys, 2)) &&
               draw_case_touched(&sheet, 0, 0, 20, 20) == 0,
           "keys in an image that has no room for them");
  rv_draw_free(&sheet.draw);
}

static void check_formats(RvCheck *check) {
  case_formats(check, "draw/grid-", RV_PIXEL_P010, 12, check_engines);
}

RVC_CASES(draw_grid_proofs, RVC_CASE("draw/grid", check_hand, 0),
          RVC_CASE("draw/grid-division", check_division, 0),
          RVC_CASE("draw/grid-plain", check_plain, 0), {.group = check_formats},
          RVC_CASE("draw/keys", check_keys, 0), RVC_CASE("draw/grid-arguments", check_refusals, 0));
