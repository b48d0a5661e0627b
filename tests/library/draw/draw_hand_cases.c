/* SPDX-License-Identifier: MIT */
/* draw_hand_cases.c: the CPU engine against numbers worked by hand and plain pixel loops. */
#include "draw/draw_hand_cases.h"

#include <stdio.h>
#include <string.h>

/* Colors and their samples by hand: Y = 16 + 219 (Kr R + Kg G + Kb B) and so on. */
typedef struct Known {
  RvColor color;
  uint8_t bt601[3], bt709[3], full601[3];
  uint8_t gray;
} Known;

static const Known known[] = {
    {{255, 0, 0, 255}, {81, 90, 240}, {63, 102, 240}, {76, 85, 255}, 77},
    {{0, 255, 0, 255}, {145, 54, 34}, {173, 42, 26}, {150, 44, 21}, 149},
    {{0, 0, 255, 255}, {41, 240, 110}, {32, 240, 118}, {29, 255, 107}, 29},
    {{255, 255, 255, 255}, {235, 128, 128}, {235, 128, 128}, {255, 128, 128}, 255},
    {{0, 0, 0, 255}, {16, 128, 128}, {16, 128, 128}, {0, 128, 128}, 0},
};
#define KNOWN ((int)(sizeof known / sizeof known[0]))

/* Sample of channel c that the color has in images of the format (BT.601, limited). */
static int sample_of(const Known *k, RvPixelFormat format, int c) {
  if (case_chroma_shift_x(format))
    return k->bt601[c];
  const int rgb[3] = {k->color.r, k->color.g, k->color.b};
  return format == RV_PIXEL_GRAY8 ? k->gray : rgb[c];
}

static void check_full_rect(RvCheck *check, const char *name, RvPixelFormat format, int bt709,
                            int full_range) {
  RvRandom random = rvc_random(check, name);
  for (int i = 0; i < KNOWN; i++) {
    CasePicture picture;
    if (!case_picture_new(check, &picture, format, 7, 5, 3, &random, RVC_RANDOM))
      return;
    RvDrawConfig config;
    rv_draw_config_init(&config);
    config.width = 7;
    config.height = 5;
    config.format = format;
    config.bt709 = bt709;
    config.full_range = full_range;
    config.log = rvc_log(check);
    RvDraw *draw = NULL;
    rvc_true(check, name,
             rv_draw_new(&draw, &config, RV_CPU) == RV_OK &&
                 rv_draw_rect(draw, -3, -3, 20, 20, known[i].color) == RV_OK &&
                 rv_draw_flush(draw, &picture.view, NULL) == RV_OK,
             "%s: refused", case_format_name(format));
    for (int c = 0; c < case_channels(format); c++) {
      int want = sample_of(&known[i], format, c);
      if (case_chroma_shift_x(format) && (bt709 || full_range))
        want = bt709 ? known[i].bt709[c] : known[i].full601[c];
      const int last_x = c && case_chroma_shift_x(format) ? 3 : 6;
      const int last_y = c ? 4 >> case_chroma_shift_y(format) : 4;
      for (int y = 0; y <= last_y; y++)
        for (int x = 0; x <= last_x; x++)
          rvc_true(check, name, *case_sample(&picture, c, x, y) == want,
                   "%s color %d channel %d at (%d, %d): expected %d, got %d",
                   case_format_name(format), i, c, x, y, want, *case_sample(&picture, c, x, y));
    }
    case_picture_whole(check, name, &picture, case_format_name(format));
    rv_draw_free(&draw);
    case_picture_free(&picture);
  }
}

static void check_colors(RvCheck *check, const char *name, RvRandom *random) {
  for (int f = 0; f < RV_PIXEL_P010; f++)
    check_full_rect(check, name, (RvPixelFormat)f, 0, 0);
  check_full_rect(check, name, RV_PIXEL_NV12, 1, 0);
  check_full_rect(check, name, RV_PIXEL_YUY2, 0, 1);

  const RvPicture one = {RV_PIXEL_RGB, 1, 1, {NULL}, {0}};
  RvDraw *draw = draw_case_new(check, name, &one, RV_CPU);
  const RvColor low = rv_draw_color(draw, 0, 100), high = rv_draw_color(draw, 100, 100);
  const RvColor beyond = rv_draw_color(draw, 900, 100);
  /* Turbo's polynomial at 0 is its first coefficients, at 1 the sums of all. */
  rvc_true(check, name, low.r == 35 && low.g == 23 && low.b == 27 && low.a == 255, "turbo at 0");
  rvc_true(check, name, high.r == 144 && high.g == 13 && high.b == 0, "turbo at 1: %d %d %d",
           high.r, high.g, high.b);
  rvc_true(check, name, memcmp(&high, &beyond, sizeof high) == 0, "values above the limit clamp");
  rv_draw_free(&draw);
}

/* A rectangle by plain loops: rounding to nearest of the exact rational value. */
static void reference_rect(CasePicture *picture, int x0, int y0, int width, int height,
                           const Known *k, int a) {
  const RvPixelFormat format = picture->view.format;
  for (int c = 0; c < case_channels(format); c++) {
    const int step_x = c ? 1 << case_chroma_shift_x(format) : 1;
    const int step_y = c ? 1 << case_chroma_shift_y(format) : 1;
    const int ink = sample_of(k, format, c);
    for (int y = 0; y < picture->view.height; y += step_y)
      for (int x = 0; x < picture->view.width; x += step_x) {
        uint8_t *sample = case_sample(picture, c, x / step_x, y / step_y);
        int sum = 0, n = 0;
        for (int j = y; j < y + step_y && j < picture->view.height; j++)
          for (int i = x; i < x + step_x && i < picture->view.width; i++, n++) {
            const int in = i >= x0 && i < x0 + width && j >= y0 && j < y0 + height;
            sum += in ? *sample * (255 - a) + ink * a : *sample * 255;
          }
        *sample = (uint8_t)((2 * sum + 255 * n) / (2 * 255 * n));
      }
  }
}

static void reference_alpha(CasePicture *picture, int x0, int y0, int width, int height, int a) {
  const RvPicture *view = &picture->view;
  for (int y = 0; case_has_alpha(view->format) && y < view->height; y++)
    for (int x = 0; x < view->width; x++) {
      uint8_t *pixel = (uint8_t *)view->data[0] + y * view->stride[0] + 4 * x;
      uint8_t *alpha = pixel + case_fourth(view->format);
      if (x >= x0 && x < x0 + width && y >= y0 && y < y0 + height)
        *alpha = (uint8_t)((2 * (*alpha * (255 - a) + 255 * a) + 255) / 510);
    }
}

static void check_rect(RvCheck *check, const char *name, RvPixelFormat format, int round,
                       RvRandom *random) {
  char what[120];
  const int width = rvc_range(random, 1, 33), height = rvc_range(random, 1, 21);
  const int x = rvc_range(random, -9, width), y = rvc_range(random, -9, height);
  const int w = rvc_range(random, 0, 40), h = rvc_range(random, 0, 30);
  const int a = round < 2 ? 255 * round : rvc_range(random, 0, 255);
  const Known *k = &known[rvc_range(random, 0, KNOWN - 1)];
  CasePicture want, got;
  if (!case_picture_new(check, &want, format, width, height, 4, random, RVC_RANDOM) ||
      !case_picture_new(check, &got, format, width, height, 4, random, RVC_ZERO))
    return;
  case_picture_copy(&got, &want);
  RvDraw *draw = draw_case_new(check, name, &got.view, RV_CPU);
  snprintf(what, sizeof what, "%dx%d px, rectangle %dx%d at (%d, %d), opacity %d", width, height, w,
           h, x, y, a);
  const RvColor color = {k->color.r, k->color.g, k->color.b, (uint8_t)a};
  rvc_true(check, name,
           rv_draw_rect(draw, x, y, w, h, color) == RV_OK &&
               rv_draw_flush(draw, &got.view, NULL) == RV_OK,
           "%s: refused", what);
  reference_rect(&want, x, y, w, h, k, a);
  reference_alpha(&want, x, y, w, h, a);
  case_picture_same(check, name, &want, &got, what);
  case_picture_whole(check, name, &got, what);
  rv_draw_free(&draw);
  case_picture_free(&want);
  case_picture_free(&got);
}

static void check_rects(RvCheck *check) {
  case_formats(check, "draw/rect-", RV_PIXEL_P010, 30, check_rect);
}

/* --- Gray images show coverage itself: white on black ----------------------------------------
 */

#define GRAY_WIDTH 64
#define GRAY_HEIGHT 48
static const RvColor white = {255, 255, 255, 255}, none = {0, 0, 0, 0};

typedef struct Gray {
  uint8_t pixel[GRAY_HEIGHT][GRAY_WIDTH];
} Gray;

static RvPicture gray_view(Gray *gray) {
  memset(gray, 0, sizeof *gray);
  return (RvPicture){RV_PIXEL_GRAY8, GRAY_WIDTH, GRAY_HEIGHT, {gray}, {GRAY_WIDTH}};
}

static long gray_sum(const Gray *gray) {
  long sum = 0;
  for (int y = 0; y < GRAY_HEIGHT; y++)
    for (int x = 0; x < GRAY_WIDTH; x++)
      sum += gray->pixel[y][x];
  return sum;
}

static void check_lines(RvCheck *check, const char *name, RvRandom *random) {
  Gray gray;
  RvPicture view = gray_view(&gray);
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  /* 1 px thick from (10, 5.5) to (20, 5.5): columns 9.5..20.5 of row 5. */
  rvc_true(check, name,
           rv_draw_line(draw, 160, 88, 320, 88, 16, white) == RV_OK &&
               rv_draw_flush(draw, &view, NULL) == RV_OK,
           "refused");
  for (int y = 0; y < GRAY_HEIGHT; y++)
    for (int x = 0; x < GRAY_WIDTH; x++) {
      const int want = y != 5 ? 0 : (x == 9 || x == 20 ? 128 : (x > 9 && x < 20 ? 255 : 0));
      rvc_true(check, name, gray.pixel[y][x] == want, "(%d, %d): expected %d, got %d", x, y, want,
               gray.pixel[y][x]);
    }

  /* The light of any line is its area, to 3 % (square ends included). */
  static const int ends[][5] = {{80, 80, 880, 500, 16},
                                {800, 100, 300, 600, 40},
                                {100, 400, 900, 410, 8},
                                {500, 60, 510, 700, 64}};
  for (int i = 0; i < 4; i++) {
    view = gray_view(&gray);
    const int *e = ends[i];
    rv_draw_line(draw, e[0], e[1], e[2], e[3], e[4], white);
    rv_draw_flush(draw, &view, NULL);
    const double dx = (e[2] - e[0]) / 16.0, dy = (e[3] - e[1]) / 16.0, t = e[4] / 16.0;
    const double light = (double)gray_sum(&gray) / 255.0;
    double low = 0.0, high = 1000.0; /* length by bisection: no libm in the test's arithmetic */
    while (high - low > 1e-6) {
      const double middle = (low + high) / 2.0;
      if (middle * middle < dx * dx + dy * dy)
        low = middle;
      else
        high = middle;
    }
    const double area = (low + t) * t;
    rvc_true(check, name, light > 0.97 * area && light < 1.03 * area,
             "line %d: light %.2f px, area %.2f px", i, light, area);
  }
  rv_draw_free(&draw);
}

static void check_quads(RvCheck *check, const char *name, RvRandom *random) {
  static const int forward[8] = {160, 96, 480, 128, 448, 512, 128, 400};
  static const int backward[8] = {160, 96, 128, 400, 448, 512, 480, 128};
  static const int box[8] = {160, 96, 480, 96, 480, 512, 160, 512};
  static const int flat[8] = {160, 96, 480, 96, 480, 96, 160, 96};
  Gray a, b;
  RvPicture view = gray_view(&a);
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  rv_draw_quad(draw, forward, white);
  rv_draw_flush(draw, &view, NULL);
  view = gray_view(&b);
  rv_draw_quad(draw, backward, white);
  rv_draw_flush(draw, &view, NULL);
  rvc_true(check, name, gray_sum(&a) > 0 && memcmp(&a, &b, sizeof a) == 0,
           "the direction of turn changes the image");

  view = gray_view(&a);
  rv_draw_quad(draw, box, white);
  rv_draw_flush(draw, &view, NULL);
  view = gray_view(&b);
  rv_draw_rect(draw, 10, 6, 20, 26, white);
  rv_draw_flush(draw, &view, NULL);
  rvc_true(check, name, memcmp(&a, &b, sizeof a) == 0, "a box on whole pixels is its rectangle");

  view = gray_view(&a);
  rvc_true(check, name,
           rv_draw_quad(draw, flat, white) == RV_OK && rv_draw_flush(draw, &view, NULL) == RV_OK &&
               gray_sum(&a) == 0,
           "a quadrilateral without area draws nothing");

  /* Round corners: the light lost at each is (1 - pi / 4) r^2 = 0.2146 r^2. */
  view = gray_view(&a);
  rv_draw_rounded_rect(draw, 4, 4, 40, 36, 10, white);
  rv_draw_flush(draw, &view, NULL);
  const double light = (double)gray_sum(&a) / 255.0;
  rvc_true(check, name, light > 40 * 36 - 4 * 21.46 - 3 && light < 40 * 36 - 4 * 21.46 + 3,
           "plate: light %.2f px", light);
  rvc_true(check, name, a.pixel[4][4] == 0 && a.pixel[4][24] == 255 && a.pixel[20][4] == 255,
           "plate: corner empty, sides full");
  rv_draw_free(&draw);
}

static void check_ramps(RvCheck *check, const char *name, RvRandom *random) {
  uint8_t rgb[32][64][3];
  memset(rgb, 9, sizeof rgb);
  const RvPicture view = {RV_PIXEL_RGB, 64, 32, {rgb}, {64 * 3}};
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  rv_draw_ramp(draw, 4, 2, 50, 6, 255);
  rv_draw_ramp(draw, 58, 2, 4, 28, 255);
  rv_draw_shade(draw, 4, 12, 8, 11, 100, 200, 300, 255);
  rv_draw_flush(draw, &view, NULL);
  const RvColor low = rv_draw_color(draw, 0, 1), high = rv_draw_color(draw, 1, 1);
  const RvColor middle = rv_draw_color(draw, 150, 300), first = rv_draw_color(draw, 100, 300);
  rvc_true(check, name, memcmp(rgb[2][4], &low, 3) == 0 && memcmp(rgb[7][53], &high, 3) == 0,
           "ramp across: ends");
  rvc_true(check, name, rgb[2][3][0] == 9 && rgb[2][54][0] == 9 && rgb[8][20][0] == 9,
           "ramp across: beyond its box");
  rvc_true(check, name, memcmp(rgb[29][58], &low, 3) == 0 && memcmp(rgb[2][61], &high, 3) == 0,
           "ramp upwards: ends");
  rvc_true(check, name, memcmp(rgb[12][4], &first, 3) == 0 && memcmp(rgb[17][11], &middle, 3) == 0,
           "shade: first row and middle row");
  rv_draw_free(&draw);
}

static void check_text(RvCheck *check, const char *name, RvRandom *random) {
  Gray gray, seen[95];
  RvPicture view = gray_view(&gray);
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  for (int c = 32; c < 127; c++) {
    const char text[2] = {(char)c, 0};
    view = gray_view(&seen[c - 32]);
    rv_draw_text(draw, 8, 4, 32, white, none, text);
    rv_draw_flush(draw, &view, NULL);
    rvc_true(check, name, (gray_sum(&seen[c - 32]) > 0) == (c != 32), "'%c' has no ink", c);
    for (int other = 32; other < c; other++)
      rvc_true(check, name, memcmp(&seen[c - 32], &seen[other - 32], sizeof gray) != 0,
               "'%c' looks like '%c'", c, other);
    const int width = rv_draw_text_width(32, text);
    for (int y = 0; y < GRAY_HEIGHT; y++)
      for (int x = 0; x < GRAY_WIDTH; x++)
        if (x < 8 || x > 8 + width || y < 4 || y >= 4 + 32)
          rvc_true(check, name, seen[c - 32].pixel[y][x] == 0, "'%c' leaves its cell at (%d, %d)",
                   c, x, y);
  }
  /* The bar of a T at size 48: cell corner (0, 0), stroke around row 8 and columns 2..20. */
  view = gray_view(&gray);
  rv_draw_text(draw, 0, 0, 48, white, none, "T");
  rv_draw_flush(draw, &view, NULL);
  rvc_true(check, name, gray.pixel[7][10] == 255 && gray.pixel[8][3] == 255, "T: bar");
  rvc_true(check, name, gray.pixel[4][10] == 0 && gray.pixel[20][3] == 0, "T: empty places");
  rvc_true(check, name, gray.pixel[30][10] == 255 && gray.pixel[38][10] == 0, "T: stem ends at 36");
  rvc_true(check, name, rv_draw_text_width(48, "T") == 22 && rv_draw_text_width(96, "TT") == 88,
           "widths are advances times size");
  rvc_true(check, name, rv_draw_text_width(48, "\xC3\xA4") == rv_draw_text_width(48, "\xFF"),
           "a character of two bytes is one box");
  rvc_true(check, name, rv_draw_text_width(5, "T") == 0 && rv_draw_text_width(48, "") == 0,
           "no width");
  /* An outline surrounds the letter and adds light of its own. */
  const long plain = gray_sum(&gray);
  view = gray_view(&gray);
  rv_draw_text(draw, 0, 0, 48, white, (RvColor){128, 128, 128, 255}, "T");
  rv_draw_flush(draw, &view, NULL);
  rvc_true(check, name,
           gray_sum(&gray) > plain && gray.pixel[4][10] == 128 && gray.pixel[8][3] == 255,
           "outline");
  rv_draw_free(&draw);
}

/* --- Layers ------------------------------------------------------------------------------------
 */

static void check_layers(RvCheck *check, const char *name, RvRandom *random) {
  uint8_t rgb[4][6][3];
  memset(rgb, 50, sizeof rgb);
  const RvPicture view = {RV_PIXEL_RGB, 6, 4, {rgb}, {18}};
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  /* Half the image's size: each sample covers 2 x 2 px. */
  uint16_t values[2][3] = {{0, 100, 150}, {200, 300, 1}};
  const RvPlane disparity = {values, sizeof values[0], 3, 2, RV_U16};
  rvc_true(check, name, rv_draw_disparity(draw, &view, &disparity, 100, 200, 255, NULL) == RV_OK,
           "refused");
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 6; x++) {
      const int value = values[y / 2][x / 2];
      const int in = value < 100 ? 0 : (value > 200 ? 100 : value - 100);
      RvColor want = rv_draw_color(draw, in, 100);
      if (value == 0)
        want = (RvColor){50, 50, 50, 255};
      rvc_true(check, name, memcmp(rgb[y][x], &want, 3) == 0,
               "disparity %d at (%d, %d): expected %d %d %d, got %d %d %d", value, x, y, want.r,
               want.g, want.b, rgb[y][x][0], rgb[y][x][1], rgb[y][x][2]);
    }

  memset(rgb, 100, sizeof rgb);
  uint8_t cells[2][2] = {{0, 255}, {1, 0}};
  const RvPlane mask = {cells, 2, 2, 2, RV_U8};
  rvc_true(check, name,
           rv_draw_mask(draw, &view, &mask, (RvColor){200, 0, 100, 128}, NULL) == RV_OK, "refused");
  /* (100 * 127 + 200 * 128) / 255 = 150.2; (100 * 127) / 255 = 49.8 */
  static const uint8_t tinted[3] = {150, 50, 100}, kept[3] = {100, 100, 100};
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 6; x++)
      rvc_true(check, name, memcmp(rgb[y][x], cells[y / 2][x / 3] ? tinted : kept, 3) == 0,
               "mask at (%d, %d): got %d %d %d", x, y, rgb[y][x][0], rgb[y][x][1], rgb[y][x][2]);

  /* The same color as label 1; 255 and 0 are none, 2 hides. */
  memset(rgb, 100, sizeof rgb);
  cells[1][1] = 2;
  const RvColor colors[] = {{200, 0, 100, 128}, {7, 8, 9, 255}};
  static const uint8_t hidden[3] = {7, 8, 9};
  rvc_true(check, name, rv_draw_labels(draw, &view, &mask, colors, 2, NULL) == RV_OK, "refused");
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 6; x++) {
      const int label = cells[y / 2][x / 3];
      const uint8_t *want = label == 1 ? tinted : label == 2 ? hidden : kept;
      rvc_true(check, name, memcmp(rgb[y][x], want, 3) == 0, "label at (%d, %d): got %d %d %d", x,
               y, rgb[y][x][0], rgb[y][x][1], rgb[y][x][2]);
    }
  rv_draw_free(&draw);
}

void draw_case_clean(DrawSheet *sheet) {
  memset(sheet->view.data[0], DRAW_CASE_PAPER,
         (size_t)sheet->view.height * (size_t)sheet->view.stride[0]);
}

DrawSheet draw_case_sheet(RvCheck *check, const char *name, uint8_t *rgb, int width, int height) {
  DrawSheet sheet = {{RV_PIXEL_RGB, width, height, {rgb}, {3 * width}}, NULL};
  sheet.draw = draw_case_new(check, name, &sheet.view, RV_CPU);
  draw_case_clean(&sheet);
  return sheet;
}

int draw_case_flush(DrawSheet *sheet, RvStatus status) {
  return status == RV_OK && rv_draw_flush(sheet->draw, &sheet->view, NULL) == RV_OK;
}

long draw_case_touched(const DrawSheet *sheet, int x0, int y0, int x1, int y1) {
  const RvPicture *view = &sheet->view;
  long count = 0;
  for (int y = y0; y < y1; y++)
    for (int x = 3 * x0; x < 3 * x1; x++)
      count += ((const uint8_t *)view->data[0])[y * view->stride[0] + x] != DRAW_CASE_PAPER;
  return count;
}

/* First and last column of a row that has the color; -1 without. */
static void columns_of(const RvPicture *view, int y, RvColor color, int *first, int *last) {
  *first = *last = -1;
  for (int x = 0; x < view->width; x++)
    if (memcmp((const uint8_t *)view->data[0] + y * view->stride[0] + 3 * x, &color, 3) == 0) {
      *first = *first < 0 ? x : *first;
      *last = x;
    }
}

static void check_caption(RvCheck *check, const char *name, RvRandom *random) {
  enum { WIDTH = 320, HEIGHT = 200 };
  static uint8_t rgb[HEIGHT * WIDTH * 3];
  DrawSheet sheet = draw_case_sheet(check, name, rgb, WIDTH, HEIGHT);
  rvc_true(check, name,
           draw_case_flush(&sheet, rv_draw_caption(sheet.draw, "")) &&
               draw_case_touched(&sheet, 0, 0, WIDTH, HEIGHT) == 0,
           "an empty caption draws something");
  rvc_true(check, name,
           draw_case_flush(&sheet, rv_draw_caption(sheet.draw, "two\nlines")) &&
               draw_case_touched(&sheet, 0, 0, 160, 60) > 0 &&
               draw_case_touched(&sheet, 160, 60, WIDTH, HEIGHT) == 0,
           "caption");
  rvc_true(check, name, draw_case_touched(&sheet, 160, 0, WIDTH, HEIGHT) == 0, "it is too wide");
  rv_draw_free(&sheet.draw);
}

static void check_legend(RvCheck *check, const char *name, RvRandom *random) {
  enum { WIDTH = 640, HEIGHT = 360 };
  static uint8_t rgb[HEIGHT * WIDTH * 3];
  DrawSheet sheet = draw_case_sheet(check, name, rgb, WIDTH, HEIGHT);
  RvDraw *draw = sheet.draw;
  const RvDrawLegend px = {0, 128, 0, 0, 16}, both = {0, 128, 400, 0, 16};
  long ink[2];
  for (int i = 0; i < 2; i++) {
    draw_case_clean(&sheet);
    rvc_true(check, name, draw_case_flush(&sheet, rv_draw_legend(draw, i ? &both : &px)),
             "refused");
    rvc_true(check, name,
             draw_case_touched(&sheet, 0, 0, WIDTH, 250) == 0 &&
                 draw_case_touched(&sheet, 320, 0, WIDTH, HEIGHT) == 0,
             "the legend leaves its corner");
    ink[i] = draw_case_touched(&sheet, 0, 250, 320, HEIGHT);
    int low = -1, high = -1, rows = 0;
    for (int y = 250; y < HEIGHT; y++) {
      int first, last, unused;
      columns_of(&sheet.view, y, rv_draw_color(draw, 0, 1), &first, &unused);
      columns_of(&sheet.view, y, rv_draw_color(draw, 1, 1), &unused, &last);
      if (first < 0 || last < 0)
        continue;
      rvc_true(check, name, rows++ == 0 || (first == low && last == high), "ragged bar");
      low = first;
      high = last;
    }
    rvc_true(check, name, rows >= 3 && high - low >= 5 * 13, "bar of %d rows, columns %d..%d", rows,
             low, high);
  }
  rvc_true(check, name, ink[1] > ink[0] && ink[0] > 0, "depths take a row of their own");
  const RvDrawLegend wrong = {5, 5, 0, 0, 16}, endless = {0, 9, 1e308 * 10, 0, 16};
  rvc_true(
      check, name,
      rv_draw_legend(draw, &wrong) == RV_ERR_ARG && rv_draw_legend(draw, &endless) == RV_ERR_ARG &&
          rv_draw_legend(draw, NULL) == RV_ERR_ARG && rv_draw_caption(draw, NULL) == RV_ERR_ARG,
      "accepted");
  rv_draw_free(&sheet.draw);

  sheet = draw_case_sheet(check, name, rgb, 60, 30);
  rvc_true(check, name,
           draw_case_flush(&sheet, rv_draw_legend(sheet.draw, &both)) &&
               draw_case_touched(&sheet, 0, 0, 60, 30) == 0,
           "a small image has no room");
  rv_draw_free(&sheet.draw);
}

/* Drawing a list at once and shape by shape gives the same image. */
static void check_batches(RvCheck *check, const char *name, RvRandom *random) {
  CasePicture once, single;
  if (!case_picture_new(check, &once, RV_PIXEL_NV12, 61, 43, 3, random, RVC_SMOOTH) ||
      !case_picture_new(check, &single, RV_PIXEL_NV12, 61, 43, 3, random, RVC_ZERO))
    return;
  case_picture_copy(&single, &once);
  RvDraw *draw = draw_case_new(check, name, &once.view, RV_CPU);
  const RvRandom start = *random;
  for (int i = 0; i < 100; i++)
    draw_case_random_shape(draw, random, 61, 43);
  rv_draw_flush(draw, &once.view, NULL);
  *random = start;
  for (int i = 0; i < 100; i++) {
    draw_case_random_shape(draw, random, 61, 43);
    rv_draw_flush(draw, &single.view, NULL);
  }
  case_picture_same(check, name, &once, &single, "one flush against a hundred");
  rv_draw_free(&draw);
  case_picture_free(&once);
  case_picture_free(&single);
}

static void check_refusals(RvCheck *check, const char *name, RvRandom *random) {
  Gray gray;
  RvPicture view = gray_view(&gray);
  RvDraw *draw = draw_case_new(check, name, &view, RV_CPU);
  RvDrawConfig config;
#define REFUSED(call) rvc_true(check, name, (call) == RV_ERR_ARG, "accepted: " #call)
  uint16_t values[4] = {1, 2, 3, 4};
  const RvPlane plane = {values, 4, 2, 2, RV_U16}, wrong = {values, 4, 2, 2, RV_U8};
  REFUSED(rv_draw_disparity(draw, &view, &plane, 5, 5, 255, NULL));
  REFUSED(rv_draw_disparity(draw, &view, &plane, 0, 65536, 255, NULL));
  REFUSED(rv_draw_disparity(draw, &view, &plane, 0, 9, 256, NULL));
  REFUSED(rv_draw_disparity(draw, &view, &wrong, 0, 9, 255, NULL));
  REFUSED(rv_draw_disparity(NULL, &view, &plane, 0, 9, 255, NULL));
  REFUSED(rv_draw_mask(draw, &view, &plane, white, NULL));
  REFUSED(rv_draw_labels(draw, &view, &plane, &white, 1, NULL));
  REFUSED(rv_draw_labels(draw, &view, &wrong, &white, 0, NULL));
  REFUSED(rv_draw_labels(draw, &view, &wrong, &white, RV_DRAW_LABELS + 1, NULL));
  REFUSED(rv_draw_labels(draw, &view, &wrong, NULL, 1, NULL));
  REFUSED(rv_draw_rect(draw, 0, 0, -1, 4, white));
  REFUSED(rv_draw_rect(draw, 40000, 0, 1, 4, white));
  REFUSED(rv_draw_line(draw, 0, 0, 9, 9, 0, white));
  REFUSED(rv_draw_line(draw, 0, 0, 2147483647, 9, 16, white));
  REFUSED(rv_draw_text(draw, 0, 0, 5, white, none, "x"));
  REFUSED(rv_draw_text(draw, 0, 0, 20, white, none, NULL));
  REFUSED(rv_draw_shade(draw, 0, 0, 1, 1, 0, 0, 0, 255));
  REFUSED(rv_draw_new(NULL, NULL, RV_CPU));
  rv_draw_config_init(&config);
  REFUSED(rv_draw_config_check(&config)); /* no size yet */
  rvc_true(check, name, rv_draw_workspace(&config, RV_CPU) == 0, "workspace of an invalid config");
  view.width--;
  REFUSED(rv_draw_flush(draw, &view, NULL));
  view.width++;
  /* The list: full at RV_DRAW_SHAPES, empty after a flush. */
  for (int i = 0; i < RV_DRAW_SHAPES; i++)
    if (rv_draw_rect(draw, i % 60, i % 40, 2, 2, white) != RV_OK)
      rvc_fail(check, name, "shape %d was rejected", i);
  REFUSED(rv_draw_rect(draw, 0, 0, 2, 2, white));
  rvc_true(check, name,
           rv_draw_flush(draw, &view, NULL) == RV_OK && gray.pixel[0][0] == 255 &&
               rv_draw_rect(draw, 0, 0, 2, 2, white) == RV_OK,
           "the list is not empty after a flush");
#undef REFUSED
  rv_draw_free(&draw);
  rv_draw_free(&draw);
  rv_draw_free(NULL);
}

RVC_CASES(draw_case_proofs, RVC_CASE("draw/colors", check_colors, 0), {.group = check_rects},
          RVC_CASE("draw/lines", check_lines, 0), RVC_CASE("draw/quads", check_quads, 0),
          RVC_CASE("draw/ramps", check_ramps, 0), RVC_CASE("draw/text", check_text, 0),
          RVC_CASE("draw/layers", check_layers, 0), RVC_CASE("draw/legend", check_legend, 0),
          RVC_CASE("draw/caption", check_caption, 0), RVC_CASE("draw/batches", check_batches, 0),
          RVC_CASE("draw/arguments", check_refusals, 0));
