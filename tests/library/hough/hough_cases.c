/* SPDX-License-Identifier: MIT */
/* hough_cases.c: both engines against the counting reference, hand-computed images, fuzz. */
#include "hough/hough_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hough/hough_inputs.h"
#include "hough/hough_probe.h"
#include "hough/hough_reference.h"
#include "rv_config.h"

/* --- One run on an engine ----------------------------------------------------------------------
 */

int hough_run_new(RvCheck *check, HoughRun *r, const RvHoughConfig *config, const RvPlane *input,
                  RvEngine engine) {
  int bins, angles;
  memset(r, 0, sizeof *r);
  rv_hough_size(config, &bins, &angles, NULL, NULL);
  r->engine = engine;
  r->input = *input;
  r->lines = (RvPlane){NULL, (ptrdiff_t)sizeof(RvLine), 5, config->max_lines, RV_U32};
  r->count = (RvPlane){NULL, 4, 1, 1, RV_U32};
  r->edges = (RvPlane){NULL, config->width, config->width, config->height, RV_U8};
  r->bins = (RvPlane){NULL, 4 * (ptrdiff_t)bins, bins, angles, RV_U32};
  const int words = rv_hough_hit_words(config);
  r->hits = (RvPlane){NULL, 4 * (ptrdiff_t)words, words, config->max_lines, RV_U32};
  r->max_lines = config->max_lines;
  if (engine == RV_CUDA)
    r->input.data = NULL; /* until it is uploaded: _free must not take the host's */
  if (rv_hough_new(&r->hough, config, engine) != RV_OK)
    return 0;
  const size_t lines = sizeof(RvLine) * (size_t)config->max_lines;
  if (engine == RV_CUDA) {
    /* without data: only allocated */
    const RvPlane edge_map = r->edges, accumulator = r->bins;
    return rvc_upload(check, &r->input, input) &&
           rv_buffer_new(&r->lines.data, lines, RV_CUDA) == RV_OK &&
           rv_buffer_new(&r->count.data, 4, RV_CUDA) == RV_OK &&
           rvc_upload(check, &r->edges, &edge_map) && rvc_upload(check, &r->bins, &accumulator) &&
           rv_buffer_new(&r->hits.data, sizeof(uint32_t) * (size_t)words * (size_t)r->max_lines,
                         RV_CUDA) == RV_OK;
  }
  r->lines.data = malloc(lines);
  r->count.data = malloc(4);
  r->edges.data = malloc((size_t)config->width * (size_t)config->height);
  r->bins.data = malloc(4 * (size_t)bins * (size_t)angles);
  r->hits.data = malloc(sizeof(uint32_t) * (size_t)words * (size_t)r->max_lines);
  return r->lines.data && r->count.data && r->edges.data && r->bins.data && r->hits.data;
}

void hough_run_free(HoughRun *r) {
  rv_hough_free(&r->hough);
  if (r->engine == RV_CUDA) {
    rvc_device_free(&r->input);
    rvc_device_free(&r->lines);
    rvc_device_free(&r->count);
    rvc_device_free(&r->edges);
    rvc_device_free(&r->bins);
    rvc_device_free(&r->hits);
    return;
  }
  free(r->lines.data);
  free(r->count.data);
  free(r->edges.data);
  free(r->bins.data);
  free(r->hits.data);
}

RvStatus hough_run(HoughRun *r, int with_maps, RvStream stream) {
  RvHoughOutput out = {r->lines.data, r->count.data, r->edges, r->bins, r->hits.data};
  if (!with_maps) {
    out.edges.data = out.accumulator.data = NULL;
    out.hits = NULL;
  }
  return rv_hough_run(r->hough, &r->input, &out, stream);
}

/* --- Parity ------------------------------------------------------------------------------------
 */

static void compare(RvCheck *check, const char *name, const RvPlane *want, const RvPlane *got,
                    RvEngine engine, const char *what, const char *part) {
  char text[320];
  RvPlane host = *want;
  const size_t row = rv_format_bytes(want->format) * (size_t)want->width;
  snprintf(text, sizeof text, "%s, %s, %s", what, part, engine == RV_CUDA ? "cuda" : "cpu");
  if (engine == RV_CPU) {
    rvc_same(check, name, want, got, text);
    return;
  }
  host.data = malloc(row * (size_t)want->height);
  host.stride = (ptrdiff_t)row;
  if (host.data && rvc_download(check, &host, got))
    rvc_same(check, name, want, &host, text);
  free(host.data);
}

/* Runs three times on one object (twice when small): with maps, without, with; what a run leaves
 * behind shows. is_old: as on a GPU without clusters and early launches. */
static void against_reference(RvCheck *check, const char *name, const RvHoughConfig *config,
                              const RvPlane *input, const HoughReference *reference,
                              RvEngine engine, const char *what, int is_old) {
  HoughRun r;
  if (!rvc_true(check, name, hough_run_new(check, &r, config, input, engine), "%s: no object",
                what)) {
    hough_run_free(&r);
    return;
  }
  if (is_old)
    hough_probe_emulate_pre_sm90(r.hough);
  RvStatus status = RV_OK;
  for (int i = rvc_small(check); i < 3 && status == RV_OK; i++)
    status = hough_run(&r, i != 1, NULL);
  if (rvc_true(check, name, status == RV_OK, "%s: %s", what, rv_status_text(status))) {
    uint32_t count = reference->count;
    const RvPlane edges = {reference->edges, config->width, config->width, config->height, RV_U8};
    const RvPlane bins = {reference->bins, 4 * (ptrdiff_t)r.bins.width, r.bins.width, r.bins.height,
                          RV_U32};
    const RvPlane lines = {reference->lines, sizeof(RvLine), 5, config->max_lines, RV_U32};
    const RvPlane number = {&count, 4, 1, 1, RV_U32};
    compare(check, name, &edges, &r.edges, engine, what, "edges");
    compare(check, name, &bins, &r.bins, engine, what, "votes");
    compare(check, name, &number, &r.count, engine, what, "count");
    compare(check, name, &lines, &r.lines, engine, what, "lines");
    const RvPlane hits = {reference->hits, r.hits.stride, r.hits.width, r.hits.height, RV_U32};
    if (config->segments)
      compare(check, name, &hits, &r.hits, engine, what, "hits");
  }
  hough_run_free(&r);
}

void hough_case(RvCheck *check, const char *name, const RvHoughConfig *config, const RvPlane *input,
                const char *kind) {
  char what[256];
  snprintf(what, sizeof what,
           "%dx%d %s edges %d %d..%d theta %d %g..%g rho %g threshold %d lines %d weighted %d "
           "direction %d segments %d length %d gap %d",
           config->width, config->height, kind, (int)config->edges, config->edge_low,
           config->edge_high, config->theta_steps, config->min_theta, config->max_theta,
           config->rho_step, config->threshold, config->max_lines, config->weighted,
           config->direction, config->segments, config->min_length, config->max_gap);
  HoughReference reference;
  if (rvc_true(check, name,
               hough_reference_new(&reference, config) &&
                   hough_reference_run(&reference, config, input),
               "out of memory")) {
    against_reference(check, name, config, input, &reference, RV_CPU, what, 0);
    if (rvc_cuda(check))
      against_reference(check, name, config, input, &reference, RV_CUDA, what, 0);
    if (rvc_cuda(check) && !rvc_small(check))
      against_reference(check, name, config, input, &reference, RV_CUDA, what, 1);
  }
  hough_reference_free(&reference);
}

/* Lines, and a share of noise; binary maps too have values of their own, for weights. */
static void scribble(uint8_t *out, int width, int height, ptrdiff_t stride, RvRandom *random) {
  for (int y = 0; y < height; y++)
    memset(out + y * stride, 0, (size_t)width);
  for (int n = rvc_range(random, 1, 8); n > 0; n--) {
    const int x0 = rvc_range(random, 0, width - 1), y0 = rvc_range(random, 0, height - 1);
    const int x1 = rvc_range(random, 0, width - 1), y1 = rvc_range(random, 0, height - 1);
    const int steps = abs(x1 - x0) + abs(y1 - y0) + 1, value = rvc_range(random, 1, 255);
    for (int i = 0; i <= steps; i++)
      out[(y0 + (y1 - y0) * i / steps) * stride + x0 + (x1 - x0) * i / steps] = (uint8_t)value;
  }
  for (int n = rvc_range(random, 0, width * height / 20); n > 0; n--)
    out[rvc_range(random, 0, height - 1) * stride + rvc_range(random, 0, width - 1)] =
        (uint8_t)rvc_next(random);
}

static RvHoughConfig random_config(RvCheck *check, RvRandom *random, int width, int height) {
  static const double rho_steps[] = {1.0, 1.0, 0.25, 0.7, 2.0, 5.5, 64.0};
  static const int steps[] = {180, 180, 2, 3, 7, 90, 360, 1000};
  RvHoughConfig c;
  rv_hough_config_init(&c);
  c.width = width;
  c.height = height;
  c.edges = (RvHoughEdges)rvc_range(random, 0, 2);
  c.edge_low = rvc_range(random, 0, 300);
  c.edge_high = rvc_range(random, c.edge_low, 900);
  c.theta_steps = steps[rvc_range(random, 0, 7)];
  c.rho_step = rho_steps[rvc_range(random, 0, 6)];
  if (rvc_range(random, 0, 2) == 0) {
    c.min_theta = rvc_range(random, 0, 59);
    c.max_theta = rvc_range(random, 121, 180);
  }
  c.weighted = rvc_range(random, 0, 3) == 0;
  c.direction =
      c.edges != RV_HOUGH_BINARY && rvc_range(random, 0, 2) == 0 ? rvc_range(random, 1, 45) : 0;
  c.threshold = rvc_range(random, 0, 12) * (c.weighted ? 100 : 1);
  c.max_lines = rvc_range(random, 0, 3) ? rvc_range(random, 1, 100) : rvc_range(random, 1, 4096);
  c.segments = rvc_range(random, 0, 1);
  c.min_length = rvc_range(random, 0, 12);
  c.max_gap = rvc_range(random, 0, 6);
  c.threads = rvc_range(random, 0, 3);
  c.log = rvc_log(check);
  return c;
}

static void parity_random(RvCheck *check, const char *name, RvRandom *random) {
  static const int sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {2, 2}, {17, 33}, {64, 48}, {99, 61}};
  for (int trial = 0; trial < (rvc_small(check) ? 14 : 140); trial++) {
    const int width = sizes[trial % 7][0], height = sizes[trial % 7][1];
    const ptrdiff_t stride = width + rvc_range(random, 0, 20);
    const int kind = rvc_range(random, 0, RVC_KINDS + 3);
    uint8_t *pixels = malloc((size_t)stride * (size_t)height);
    if (!pixels)
      return;
    if (kind < RVC_KINDS)
      rvc_fill_u8(random, kind, pixels, width, height, stride);
    else
      scribble(pixels, width, height, stride, random);
    RvHoughConfig c = random_config(check, random, width, height);
    if (rvc_small(check) && width * height > 1000) { /* every vote and every step of the sort is */
      c.theta_steps = rv_min(c.theta_steps, 30);     /* followed */
      c.threshold = rv_max(c.threshold, 6);
      c.max_lines = rv_min(c.max_lines, 300);
    }
    const RvPlane input = {pixels, stride, width, height, RV_U8};
    char what[32];
    snprintf(what, sizeof what, "trial %d input %d", trial, kind);
    hough_case(check, name, &c, &input, what);
    free(pixels);
  }
}

/* Sizes that need wide bins, several passes, many peaks, more angles than the GPU has blocks; more
 * peaks than lines by little and by much; an 8k image that is all edges. */
static void parity_large(RvCheck *check, const char *name, RvRandom *random) {
  static const struct {
    int width, height, share;
    double rho_step;
    int theta_steps, threshold, max_lines, weighted;
  } large[] = {{16384, 40, 20, 1.0, 20, 20, 64, 0},   {40, 16384, 20, 0.25, 9, 10, 64, 0},
               {1920, 1080, 40, 1.0, 180, 60, 64, 0}, {640, 480, 10, 1.0, 180, 0, 4096, 0},
               {640, 480, 2, 0.5, 720, 100, 100, 1},  {9000, 30, 3, 0.25, 60, 2, 4096, 0},
               {300, 200, 1, 1.0, 3600, 90, 4096, 0}, {1280, 720, 30, 1.0, 13, 30, 64, 0},
               {160, 120, 10, 1.0, 180, 10, 100, 0},  {160, 120, 10, 1.0, 180, 11, 4096, 0},
               {7680, 4320, 1, 1.0, 4, 1000, 64, 0}};
  for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
    RvHoughConfig c;
    rv_hough_config_init(&c);
    c.width = large[i].width, c.height = large[i].height, c.edges = RV_HOUGH_BINARY;
    c.rho_step = large[i].rho_step, c.theta_steps = large[i].theta_steps;
    c.threshold = large[i].threshold, c.max_lines = large[i].max_lines;
    c.weighted = large[i].weighted;
    c.segments = i % 2 == 0;
    c.log = rvc_log(check);
    uint8_t *pixels = calloc((size_t)c.width, (size_t)c.height);
    if (!pixels)
      return;
    for (int k = 0; k < c.width * c.height; k++)
      pixels[k] = rvc_range(random, 1, large[i].share) == 1 ? (uint8_t)rvc_next(random) | 1 : 0;
    const RvPlane input = {pixels, c.width, c.width, c.height, RV_U8};
    hough_case(check, name, &c, &input, "noise");
    free(pixels);
  }
}

/* The edge maps of the benchmark. */
static void parity_street(RvCheck *check, const char *name, RvRandom *random) {
  for (int is_small = 0; is_small < 2; is_small++) {
    HoughImages p;
    if (rvc_true(check, name, hough_images_new(&p, is_small), "out of memory")) {
      RvHoughConfig c;
      rv_hough_config_init(&c);
      c.width = p.width, c.height = p.height, c.edges = RV_HOUGH_BINARY;
      c.threshold = is_small ? 150 : 300;
      c.max_lines = RV_HOUGH_LINES_MAX;
      c.log = rvc_log(check);
      const RvPlane p10 = {p.p10, p.width, p.width, p.height, RV_U8};
      const RvPlane canny = {p.canny, p.width, p.width, p.height, RV_U8};
      hough_case(check, name, &c, &p10, "tenth");
      hough_case(check, name, &c, &canny, "canny");
    }
    hough_images_free(&p);
  }
}

/* Canny on images large enough for long chains of weak pixels. */
static void parity_canny(RvCheck *check, const char *name, RvRandom *random) {
  const int width = rvc_small(check) ? 67 : 333, height = rvc_small(check) ? 45 : 241;
  uint8_t *pixels = malloc((size_t)width * (size_t)height);
  for (int kind = 0; pixels && kind < RVC_KINDS; kind++) {
    RvHoughConfig c;
    rv_hough_config_init(&c);
    c.width = width, c.height = height;
    c.edge_low = rvc_range(random, 0, 60), c.edge_high = rvc_range(random, 60, 400);
    c.threshold = 20;
    c.segments = 1;
    c.direction = kind % 2 ? 10 : 0;
    c.theta_steps = rvc_small(check) ? 20 : c.theta_steps;
    c.log = rvc_log(check);
    rvc_fill_u8(random, kind, pixels, width, height, width);
    const RvPlane input = {pixels, width, width, height, RV_U8};
    hough_case(check, name, &c, &input, "picture");
  }
  free(pixels);
}

RVC_PARITY({.group = hough_hand_cases}, {.group = hough_thin_cases},
           RVC_CASE("hough/random", parity_random, 0), RVC_CASE("hough/canny", parity_canny, 0),
           RVC_CASE("hough/large", parity_large, RVC_LARGE),
           RVC_CASE("hough/street", parity_street, RVC_LARGE));

/* --- Fuzz --------------------------------------------------------------------------------------
 */

static void fuzz(const uint8_t *bytes, size_t size) {
  if (size < 20)
    return;
  RvHoughConfig c;
  rv_hough_config_init(&c);
  c.width = bytes[0] % 80;
  c.height = bytes[1] % 60;
  c.edges = (RvHoughEdges)(bytes[2] % 4);
  c.edge_low = bytes[3] * 9;
  c.edge_high = bytes[4] * 9;
  c.theta_steps = bytes[5] * (bytes[6] % 16);
  c.rho_step = bytes[7] / 16.0;
  c.min_theta = bytes[8] - 10.0;
  c.max_theta = bytes[9];
  c.threshold = bytes[10] % 40;
  c.max_lines = bytes[11] * (bytes[12] % 18);
  c.weighted = bytes[13] % 2;
  c.direction = bytes[14] % 3 ? 0 : bytes[14] % 50;
  c.segments = bytes[15] % 2;
  c.min_length = bytes[16] % 50;
  c.max_gap = bytes[17] % 20;
  c.threads = bytes[18] % 3;
  RvHough *hough = NULL;
  if (rv_hough_new(&hough, &c, RV_CPU) != RV_OK)
    return;
  const size_t pixels = (size_t)c.width * (size_t)c.height;
  uint8_t *picture = calloc(pixels, 1);
  RvLine *lines = malloc((size_t)c.max_lines * sizeof *lines);
  uint32_t count = 0;
  if (picture && lines) {
    memcpy(picture, bytes + 19, size - 19 < pixels ? size - 19 : pixels);
    const RvPlane input = {picture, c.width, c.width, c.height, RV_U8};
    const RvHoughOutput out = {lines, &count, {0}, {0}, NULL};
    (void)rv_hough_run(hough, &input, &out, NULL);
  }
  free(picture);
  free(lines);
  rv_hough_free(&hough);
}

const RvCases rv_hough_cases = {"hough", parity, hough_bench, fuzz};
