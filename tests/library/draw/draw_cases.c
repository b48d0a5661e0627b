/* SPDX-License-Identifier: MIT */
/* draw_cases.c: CPU = CUDA on random scenes of every format, benchmark rows, fuzz. */
#include "draw/draw_hand_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_bytes.h"
#include "stixels/stixels_draw.h"

RvDraw *draw_case_new(RvCheck *check, const char *name, const RvPicture *picture, RvEngine engine) {
  RvDrawConfig config;
  rv_draw_config_init(&config);
  config.width = picture->width;
  config.height = picture->height;
  config.format = picture->format;
  config.log = rvc_log(check);
  RvDraw *draw = NULL;
  const RvStatus status = rv_draw_new(&draw, &config, engine);
  rvc_true(check, name, status == RV_OK, "rv_draw_new: %s", rv_status_text(status));
  return draw;
}

static RvColor random_color(RvRandom *random) {
  const uint32_t bits = rvc_next(random);
  const int opaque = rvc_range(random, 0, 3) == 0;
  return (RvColor){(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                   opaque ? 255 : (uint8_t)(bits >> 24)};
}

static void random_text(char *text, int size, RvRandom *random) {
  const int length = rvc_range(random, 0, size - 1);
  for (int i = 0; i < length; i++)
    text[i] = (char)rvc_range(random, 1, 160);
  text[length] = '\0';
}

void draw_case_random_shape(RvDraw *draw, RvRandom *random, int width, int height) {
  const int x = rvc_range(random, -width / 2, width), y = rvc_range(random, -height / 2, height);
  const int w = rvc_range(random, 0, width), h = rvc_range(random, 0, height);
  const RvColor color = random_color(random);
  char text[12];
  switch (rvc_range(random, 0, 6)) {
  case 0:
    (void)rv_draw_rect(draw, x, y, w, h, color);
    break;
  case 1:
    (void)rv_draw_rounded_rect(draw, x, y, w, h, rvc_range(random, 0, 20), color);
    break;
  case 2:
    (void)rv_draw_line(draw, 16 * x + 3, 16 * y - 7, 16 * w + 5, 16 * h + 11,
                       rvc_range(random, 1, 90), color);
    break;
  case 3: {
    const int corners[8] = {16 * x,       16 * y + 5,       16 * (x + w), 16 * y - 9,
                            16 * (x + w), 16 * (y + h) + 2, 16 * x + 30,  16 * (y + h)};
    (void)rv_draw_quad(draw, corners, color);
    break;
  }
  case 4:
    (void)rv_draw_ramp(draw, x, y, w, h, color.a);
    break;
  case 5:
    (void)rv_draw_shade(draw, x, y, w, h, rvc_range(random, -500, 3000),
                        rvc_range(random, -500, 3000), 2048, color.a);
    break;
  default:
    random_text(text, (int)sizeof text, random);
    (void)rv_draw_text(draw, x, y, rvc_range(random, 6, 60), color, random_color(random), text);
  }
}

/* Lines and quadrilaterals, of which many in a row are drawn in another way. */
static void random_quad(RvDraw *draw, RvRandom *random, int width, int height) {
  int corners[8];
  for (int i = 0; i < 8; i++)
    corners[i] = rvc_range(random, -300, 16 * (i % 2 ? height : width) + 300);
  const RvColor color = random_color(random);
  if (rvc_range(random, 0, 2))
    (void)rv_draw_line(draw, corners[0], corners[1], corners[2], corners[3],
                       rvc_range(random, 1, 300), color);
  else
    (void)rv_draw_quad(draw, corners, color);
}

/* --- Parity ------------------------------------------------------------------------------------
 */

typedef struct Scene {
  CasePicture picture;
  RvPlane disparity, mask;
  int low, high, opacity;
  RvColor tint, colors[4]; /* of the mask; of labels 1 to 4 in it */
  RvRandom shapes;         /* where the random shapes start */
  int count, quads;        /* shapes of any kind; quadrilaterals in a row after them */
} Scene;

static int scene_new(RvCheck *check, Scene *scene, RvPixelFormat format, int width, int height,
                     RvRandom *random) {
  memset(scene, 0, sizeof *scene);
  const int same = rvc_range(random, 0, 1);
  const int columns = same ? width : rvc_range(random, 1, 2 * width);
  const int rows = same ? height : rvc_range(random, 1, 2 * height);
  uint16_t *values = malloc((size_t)columns * (size_t)rows * sizeof *values);
  uint8_t *cells = malloc((size_t)columns * (size_t)rows);
  if (!values || !cells ||
      !case_picture_new(check, &scene->picture, format, width, height, rvc_range(random, 0, 9),
                        random, rvc_range(random, 0, RVC_KINDS - 1))) {
    free(values);
    free(cells);
    return 0;
  }
  for (int i = 0; i < columns * rows; i++) {
    const int value = rvc_range(random, -600, 2600);
    values[i] = (uint16_t)(value < 0 ? 0 : value);
    cells[i] = (uint8_t)(rvc_range(random, 0, 1) ? rvc_range(random, 1, 5) : 0);
  }
  scene->disparity = (RvPlane){values, 2 * (ptrdiff_t)columns, columns, rows, RV_U16};
  scene->mask = (RvPlane){cells, columns, columns, rows, RV_U8};
  scene->low = rvc_range(random, 0, 500);
  scene->high = scene->low + rvc_range(random, 1, 2500);
  scene->opacity = rvc_range(random, 0, 255);
  scene->tint = random_color(random);
  for (int k = 0; k < 4; k++)
    scene->colors[k] = random_color(random);
  scene->shapes = *random;
  scene->count = rvc_range(random, 0, 200);
  scene->quads = rvc_range(random, 0, 1) ? rvc_range(random, 20, 200) : 0;
  return 1;
}

static void scene_free(Scene *scene) {
  free(scene->disparity.data);
  free(scene->mask.data);
  case_picture_free(&scene->picture);
}

/* The whole scene; planes live where the engine works. */
static void scene_draw(RvCheck *check, const char *name, const Scene *scene, RvEngine engine,
                       const CasePicture *picture, const RvPlane *disparity, const RvPlane *mask) {
  RvDraw *draw = draw_case_new(check, name, &picture->view, engine);
  rvc_true(check, name,
           rv_draw_disparity(draw, &picture->view, disparity, scene->low, scene->high,
                             scene->opacity, NULL) == RV_OK &&
               rv_draw_mask(draw, &picture->view, mask, scene->tint, NULL) == RV_OK &&
               rv_draw_labels(draw, &picture->view, mask, scene->colors, 4, NULL) == RV_OK,
           "a layer was rejected");
  RvRandom random = scene->shapes;
  for (int i = 0; i < scene->count; i++)
    draw_case_random_shape(draw, &random, picture->view.width, picture->view.height);
  for (int i = 0; i < scene->quads; i++)
    random_quad(draw, &random, picture->view.width, picture->view.height);
  for (int i = 0; i < 5 && scene->quads; i++)
    draw_case_random_shape(draw, &random, picture->view.width, picture->view.height);
  const RvDrawLegend legend = {scene->low / 16.0, scene->high / 16.0, scene->opacity, 0.5, 20};
  rvc_true(check, name,
           rv_draw_legend(draw, &legend) == RV_OK && rv_draw_caption(draw, "scene\n1") == RV_OK &&
               rv_draw_flush(draw, &picture->view, NULL) == RV_OK,
           "legend, caption or flush was rejected");
  if (engine == RV_CUDA) /* the object's memory must outlive its work */
    rvc_true(check, name, rv_stream_wait(NULL) == RV_OK, "the device failed");
  rv_draw_free(&draw);
}

static void compare_engines(RvCheck *check, const char *name, const Scene *scene,
                            const char *what) {
  CasePicture device, result;
  RvPlane disparity, mask;
  RvRandom random = rvc_random(check, name);
  if (!case_picture_upload(check, &device, &scene->picture))
    return;
  if (rvc_upload(check, &disparity, &scene->disparity)) {
    if (rvc_upload(check, &mask, &scene->mask)) {
      scene_draw(check, name, scene, RV_CUDA, &device, &disparity, &mask);
      if (case_picture_new(check, &result, device.view.format, device.view.width,
                           device.view.height, 0, &random, RVC_ZERO)) {
        CasePicture expected = scene->picture;
        scene_draw(check, name, scene, RV_CPU, &expected, &scene->disparity, &scene->mask);
        if (case_picture_download(check, &result, &device))
          case_picture_same(check, name, &expected, &result, what);
        case_picture_free(&result);
      }
      rvc_device_free(&mask);
    }
    rvc_device_free(&disparity);
  }
  case_picture_device_free(&device);
}

static void check_scene(RvCheck *check, const char *name, RvPixelFormat format, int round,
                        RvRandom *random) {
  char what[120];
  const int small = round % 3 || rvc_small(check);
  const int width = rvc_range(random, 1, small ? 70 : 600);
  const int height = rvc_range(random, 1, small ? 40 : 400);
  Scene scene;
  if (!scene_new(check, &scene, format, width, height, random))
    return;
  snprintf(what, sizeof what, "%dx%d px, plane %dx%d, %d shapes", width, height,
           scene.disparity.width, scene.disparity.height, scene.count);
  if (rvc_cuda(check))
    compare_engines(check, name, &scene, what);
  else
    scene_draw(check, name, &scene, RV_CPU, &scene.picture, &scene.disparity, &scene.mask);
  case_picture_whole(check, name, &scene.picture, what);
  scene_free(&scene);
}

static void check_scenes(RvCheck *check) {
  case_formats(check, "draw/scene-", RV_PIXEL_P010, 10, check_scene);
}

RVC_PARITY({.group = draw_case_proofs}, {.group = check_scenes}, {.group = draw_grid_proofs});

/* --- Benchmark ---------------------------------------------------------------------------------
 */

/* 240 columns of five stixels. */
#define BENCH_STIXELS 1200

typedef struct Bench {
  RvDraw *draw;
  RvPicture picture;
  RvEngine engine;
  RvPlane disparity, mask;
  RvPlane list;           /* RvStixel */
  RvPlane depth, outline; /* rasters of these */
} Bench;

static RvStatus run_disparity(void *user, RvStream stream) {
  const Bench *b = user;
  return rv_draw_disparity(b->draw, &b->picture, &b->disparity, 0, 2048, 160, stream);
}

static RvStatus run_labels(void *user, RvStream stream) {
  const Bench *b = user;
  static const RvColor colors[] = {{0, 200, 80, 120}, {200, 0, 80, 120}};
  return rv_draw_labels(b->draw, &b->picture, &b->mask, colors, 2, stream);
}

static RvStatus run_mask(void *user, RvStream stream) {
  const Bench *b = user;
  return rv_draw_mask(b->draw, &b->picture, &b->mask, (RvColor){0, 200, 80, 120}, stream);
}

static RvStatus run_grid(void *user, RvStream stream) {
  const Bench *b = user;
  const RvDrawGrid grid = {.mask = b->mask,
                           .width = 1920,
                           .height = 1080,
                           .cell = 5,
                           .tint = {0, 200, 80, 120},
                           .edge = {0, 255, 120, 255},
                           .edge_width = 2};
  return rv_draw_grid(b->draw, &b->picture, &grid, stream);
}

static RvStatus run_legend(void *user, RvStream stream) {
  const Bench *b = user;
  const RvDrawLegend legend = {0, 128, 387, 0, 32};
  const RvStatus status = rv_draw_legend(b->draw, &legend);
  return status == RV_OK ? rv_draw_flush(b->draw, &b->picture, stream) : status;
}

/* Sixty-four lines across the image. */
static RvStatus run_lines(void *user, RvStream stream) {
  const Bench *b = user;
  RvStatus status = RV_OK;
  for (int i = 0; i < 64 && status == RV_OK; i++)
    status = rv_draw_line(b->draw, 16 * 30 * i, 0, 16 * (1920 - 30 * i), 16 * 1080, 40,
                          (RvColor){255, 80, 40, 255});
  return status == RV_OK ? rv_draw_flush(b->draw, &b->picture, stream) : status;
}

/* Boxes with labels, as of detected objects: 24 of 27 shapes each. */
static RvStatus run_boxes(void *user, RvStream stream) {
  const Bench *b = user;
  const RvColor color = {255, 200, 0, 255}, dark = {0, 0, 0, 200};
  RvStatus status = RV_OK;
  for (int i = 0; i < 24 && status == RV_OK; i++) {
    const int x = 40 + 300 * (i % 6), y = 80 + 240 * (i / 6), right = x + 200, bottom = y + 120;
    const int ends[4][4] = {
        {x, y, right, y}, {right, y, right, bottom}, {right, bottom, x, bottom}, {x, bottom, x, y}};
    for (int k = 0; k < 4 && status == RV_OK; k++)
      status = rv_draw_line(b->draw, 16 * ends[k][0], 16 * ends[k][1], 16 * ends[k][2],
                            16 * ends[k][3], 32, color);
    if (status == RV_OK)
      status = rv_draw_rounded_rect(b->draw, x, y - 30, 150, 28, 6, dark);
    if (status == RV_OK)
      status = rv_draw_text(b->draw, x + 6, y - 28, 22, color, dark, "car12:34.5m");
  }
  return status == RV_OK ? rv_draw_flush(b->draw, &b->picture, stream) : status;
}

/* Stixels of a whole image as cudaannotate draws them: rasters, disparity, outlines. */
static RvStatus run_stixels(void *user, RvStream stream) {
  const Bench *b = user;
  const RvStixelsRasters rasters = {.disparity = b->depth, .outline = b->outline};
  RvStatus status =
      rv_stixels_draw(b->list.data, BENCH_STIXELS, 8, &rasters, b->engine, stream, NULL);
  if (status == RV_OK)
    status = rv_draw_disparity(b->draw, &b->picture, &b->depth, 0, 2048, 160, stream);
  return status == RV_OK
             ? rv_draw_mask(b->draw, &b->picture, &b->outline, (RvColor){0, 0, 0, 150}, stream)
             : status;
}

static void bench_rows(RvCheck *check, const char *label, RvEngine engine, Bench *bench) {
  static const struct {
    const char *name;
    RvStatus (*run)(void *user, RvStream stream);
  } rows[] = {{"disparity", run_disparity}, {"mask", run_mask},     {"labels", run_labels},
              {"grid", run_grid},           {"legend", run_legend}, {"lines64", run_lines},
              {"stixels", run_stixels},     {"boxes", run_boxes}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "draw/%s-1080p-%s", rows[i].name, label);
    if (rvc_wants(check, name))
      rvc_bench(check, name, engine, rows[i].run, bench);
  }
}

static void fill_bench(uint16_t *values, uint8_t *cells, RvStixel *list) {
  for (int i = 0; i < 1920 * 1080; i++)
    values[i] = (uint16_t)(i / 1920 % 8 ? i / 1920 + i % 1920 / 4 : 0);
  for (int i = 0; i < 384 * 216; i++)
    cells[i] = i / 384 > 100;
  for (int i = 0; i < BENCH_STIXELS; i++) {
    const int row = i % 5;
    list[i] = (RvStixel){.column = (uint16_t)(i / 5 * 8),
                         .v_top = (uint16_t)(row * 216),
                         .v_bottom = (uint16_t)(row * 216 + 215),
                         .structure = row > 2 ? RV_STIXEL_GROUND : RV_STIXEL_OBJECT,
                         .semantic = RV_SEMANTIC_NONE,
                         .slope = row > 2 ? 0.1f : 0.0f,
                         .intercept = (float)(row * 20)};
  }
}

/* With the planes of `host` on the GPU. */
static void bench_cuda(RvCheck *check, const char *label, const CasePicture *picture,
                       const Bench *host) {
  CasePicture device;
  if (!case_picture_upload(check, &device, picture))
    return;
  Bench bench = {.picture = device.view, .engine = RV_CUDA};
  const RvPlane *from[] = {&host->disparity, &host->mask, &host->list, &host->depth,
                           &host->outline};
  RvPlane *to[] = {&bench.disparity, &bench.mask, &bench.list, &bench.depth, &bench.outline};
  size_t done = 0;
  while (done < 5 && rvc_upload(check, to[done], from[done]))
    done++;
  if (done == 5) {
    bench.draw = draw_case_new(check, label, &picture->view, RV_CUDA);
    bench_rows(check, label, RV_CUDA, &bench);
    rv_draw_free(&bench.draw);
  }
  while (done > 0)
    rvc_device_free(to[--done]);
  case_picture_device_free(&device);
}

static void bench_format(RvCheck *check, const char *label, RvPixelFormat format) {
  RvRandom random = rvc_random(check, label);
  CasePicture picture;
  if (!case_picture_new(check, &picture, format, 1920, 1080, 0, &random, RVC_SMOOTH))
    return;
  uint16_t *values = malloc(1920 * 1080 * sizeof *values);
  uint16_t *depth = calloc(1920 * 1080, sizeof *depth);
  uint8_t *cells = malloc(384 * 216), *outline = calloc(1920, 1080);
  RvStixel *list = malloc(BENCH_STIXELS * sizeof *list);
  if (rvc_true(check, label, values && depth && cells && outline && list, "no memory")) {
    fill_bench(values, cells, list);
    Bench host = {
        .picture = picture.view,
        .engine = RV_CPU,
        .disparity = {values, 3840, 1920, 1080, RV_U16},
        .mask = {cells, 384, 384, 216, RV_U8},
        .list = {list, BENCH_STIXELS * sizeof *list, BENCH_STIXELS * sizeof *list, 1, RV_U8},
        .depth = {depth, 3840, 1920, 1080, RV_U16},
        .outline = {outline, 1920, 1920, 1080, RV_U8}};
    if (rvc_cpu(check)) {
      host.draw = draw_case_new(check, label, &picture.view, RV_CPU);
      bench_rows(check, label, RV_CPU, &host);
      rv_draw_free(&host.draw);
    }
    if (rvc_cuda(check))
      bench_cuda(check, label, &picture, &host);
  }
  free(values);
  free(depth);
  free(cells);
  free(outline);
  free(list);
  case_picture_free(&picture);
}

static void bench(RvCheck *check) {
  bench_format(check, "nv12", RV_PIXEL_NV12);
  bench_format(check, "bgrx", RV_PIXEL_BGRX);
}

/* --- Fuzz: bytes are a config, then shapes of 12 bytes each; the last bytes are a text ----------
 */

static int take_signed(FuzzBytes *bytes) {
  const int low = fuzz_next(bytes), high = fuzz_next(bytes);
  return (int16_t)(low | high << 8);
}

static void fuzz_shape(RvDraw *draw, FuzzBytes *bytes) {
  const int kind = fuzz_next(bytes) % 8;
  int v[8];
  for (int i = 0; i < 8; i++)
    v[i] = take_signed(bytes) * (kind == 3 ? 37 : 1);
  const RvColor color = {(uint8_t)v[0], (uint8_t)v[1], (uint8_t)v[2], (uint8_t)fuzz_next(bytes)};
  char text[16];
  switch (kind) {
  case 0:
    (void)rv_draw_rounded_rect(draw, v[0], v[1], v[2], v[3], v[4], color);
    break;
  case 1:
    (void)rv_draw_line(draw, v[0] * 16, v[1] * 16, v[2], v[3], v[4], color);
    break;
  case 2:
  case 3:
    (void)rv_draw_quad(draw, v, color);
    break;
  case 4:
    (void)rv_draw_ramp(draw, v[0], v[1], v[2], v[3], v[4]);
    break;
  case 5:
    (void)rv_draw_shade(draw, v[0], v[1], v[2], v[3], v[4] * 65536, v[5] * 65536, v[6], v[7]);
    break;
  case 6: {
    const RvDrawLegend legend = {v[0] / 16.0, v[1] / 16.0, v[2] * (double)v[3], v[4] / 7.0, v[5]};
    (void)rv_draw_legend(draw, &legend);
    break;
  }
  default:
    for (int i = 0; i < 15; i++)
      text[i] = (char)fuzz_next(bytes);
    text[15] = '\0';
    (void)rv_draw_legend_entries(draw, (const RvDrawLegendEntry[]){{color, text}, {color, "key"}},
                                 v[0] % 3);
    (void)rv_draw_text(draw, v[0], v[1], v[2], color, color, text);
    (void)rv_draw_caption(draw, text);
  }
}

static void fuzz(const uint8_t *data, size_t size) {
  FuzzBytes bytes = {data, size};
  RvDrawConfig config;
  rv_draw_config_init(&config);
  config.width = fuzz_next(&bytes) % 97;
  config.height = fuzz_next(&bytes) % 65;
  config.format = (RvPixelFormat)(fuzz_next(&bytes) % (RV_PIXEL_FORMATS + 1));
  config.colormap = (RvColormap)(fuzz_next(&bytes) % (RV_COLORMAPS + 1));
  config.bt709 = fuzz_next(&bytes) & 1;
  config.threads = 1;
  RvDraw *draw = NULL;
  if (rv_draw_new(&draw, &config, RV_CPU) != RV_OK)
    return;
  RvPicture picture = {config.format, config.width, config.height, {NULL}, {0}};
  int whole = 1;
  for (int p = 0; p < rv_pixel_planes(config.format); p++) {
    const size_t row = rv_pixel_row_bytes(config.format, p, config.width);
    picture.stride[p] = (ptrdiff_t)row;
    picture.data[p] = calloc(row, (size_t)rv_pixel_rows(config.format, p, config.height));
    whole = whole && picture.data[p];
  }
  const int columns = fuzz_next(&bytes) % 50 + 1, rows = fuzz_next(&bytes) % 50 + 1;
  uint16_t *values = calloc((size_t)columns * (size_t)rows, sizeof *values);
  if (whole && values) {
    for (int i = 0; i < columns * rows && bytes.left > 100; i++)
      values[i] = (uint16_t)take_signed(&bytes);
    const RvPlane plane = {values, 2 * (ptrdiff_t)columns, columns, rows, RV_U16};
    const int low = take_signed(&bytes), high = take_signed(&bytes);
    (void)rv_draw_disparity(draw, &picture, &plane, low, high, fuzz_next(&bytes), NULL);
    const RvDrawGrid grid = {.mask = {values, 2 * (ptrdiff_t)columns, columns, rows, RV_U8},
                             .marks = {fuzz_next(&bytes) & 1 ? values : NULL,
                                       2 * (ptrdiff_t)columns, columns, rows, RV_U8},
                             .width = take_signed(&bytes),
                             .height = take_signed(&bytes),
                             .cell = take_signed(&bytes) % 16,
                             .tint = {0, 200, 80, 120},
                             .edge_width = take_signed(&bytes) % 32};
    (void)rv_draw_grid(draw, &picture, &grid, NULL);
    while (bytes.left > 0)
      fuzz_shape(draw, &bytes);
    (void)rv_draw_flush(draw, &picture, NULL);
  }
  for (int p = 0; p < 3; p++)
    free(picture.data[p]);
  free(values);
  rv_draw_free(&draw);
}

const RvCases rv_draw_cases = {"draw", parity, bench, fuzz};
