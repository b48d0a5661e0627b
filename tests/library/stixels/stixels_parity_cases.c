/* SPDX-License-Identifier: MIT */
/* stixels_parity_cases.c: CPU and CUDA engine give the same bits, frame after frame of one
 * object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_draw.h"
#include "stixels/stixels_inputs.h"
#include "stixels/stixels_reference.h"

#define FRAMES 3

/* An output array: `host` is uploaded first and downloaded afterwards. */
typedef struct Array {
  void *host, *device;
  size_t bytes;
} Array;

static int to_device(Array *a) {
  return rv_buffer_new(&a->device, a->bytes + 8, RV_CUDA) == RV_OK &&
         rv_copy_to_device(a->device, a->host, a->bytes, NULL) == RV_OK;
}

static int from_device(Array *a) {
  const int ok = rv_copy_to_host(a->host, a->device, a->bytes, NULL) == RV_OK;
  rv_buffer_free(&a->device, RV_CUDA);
  return ok;
}

static void same(RvCheck *check, const char *name, const char *what, const char *part,
                 const void *expected, const void *got, size_t bytes) {
  char text[240];
  snprintf(text, sizeof text, "%s, %s", what, part);
  const int words = (int)(bytes / 4);
  const RvPlane a = {(void *)(uintptr_t)expected, (ptrdiff_t)bytes, words, 1, RV_U32};
  const RvPlane b = {(void *)(uintptr_t)got, (ptrdiff_t)bytes, words, 1, RV_U32};
  if (words > 0)
    rvc_same(check, name, &a, &b, text);
}

static void same_results(RvCheck *check, const char *name, const char *what, const StixelsResult *a,
                         const StixelsResult *b) {
  same(check, name, what, "ground", a->ground, b->ground, sizeof *a->ground);
  same(check, name, what, "energies", a->energies, b->energies, (size_t)a->columns * 4);
  if (memcmp(a->cuts, b->cuts, (size_t)a->columns * (size_t)a->rows) != 0)
    rvc_fail(check, name, "%s: the cuts differ", what);
  same(check, name, what, "offsets", a->offsets, b->offsets, ((size_t)a->columns + 1) * 4);
  same(check, name, what, "stixels (5 words each)", a->stixels, b->stixels,
       a->room * sizeof(RvStixel));
}

typedef struct Engines {
  RvStixels *cpu, *cuda;
  StixelsResult want, got;
  StixelsInput *maps; /* of the CPU engine */
} Engines;

/* Compares the drawing of the CUDA engine with that of the CPU engine; `maps` receives it. */
static void same_drawing(RvCheck *check, const char *name, const Engines *e, uint32_t count,
                         int stixel_width, const RvStixelsRasters *drawn, StixelsInput *maps) {
  const RvPlane *size = &maps->c;
  const RvPlane wanted = {e->maps->labels, size->stride, size->width, size->height, RV_U8};
  const RvPlane found = {maps->labels, size->stride, size->width, size->height, RV_U8};
  const RvStixelsRasters references = {e->maps->d, wanted, e->maps->c};
  rv_stixels_draw(e->want.stixels, count, stixel_width, &references, RV_CPU, NULL, NULL);
  if (rvc_download(check, &maps->d, &drawn->disparity) &&
      rvc_download(check, &maps->c, &drawn->outline) &&
      rvc_download(check, &found, &drawn->classes)) {
    rvc_same(check, name, &e->maps->d, &maps->d, "drawn disparity");
    rvc_same(check, name, &e->maps->c, &maps->c, "outline");
    rvc_same(check, name, &wanted, &found, "drawn classes");
  }
}

static void list_arrays(const StixelsResult *r, Array out[5]) {
  const size_t columns = (size_t)r->columns, cells = columns * (size_t)r->rows;
  out[0] = (Array){r->stixels, NULL, r->room * sizeof(RvStixel)};
  out[1] = (Array){r->offsets, NULL, (columns + 1) * 4};
  out[2] = (Array){r->energies, NULL, columns * 4};
  out[3] = (Array){r->ground, NULL, sizeof *r->ground};
  out[4] = (Array){r->cuts, NULL, cells};
}

/* One frame on both engines: run, then render the result. */
static void check_frame(RvCheck *check, const char *name, const char *what, Engines *e,
                        const StixelsInput *input, int trusted, int stixel_width) {
  const StixelsResult *got = &e->got;
  const RvStixelsOutput want = stixels_result_output(&e->want);
  Array a[5];
  list_arrays(got, a);
  StixelsInput *maps = stixels_input_new(input->d.width, input->d.height);
  RvPlane d = {0}, c = {0}, labels = {0}, scores = {0}, drawn = {0}, classes = {0}, kinds = {0};
  int ok = rvc_upload(check, &d, &input->d) && rvc_upload(check, &c, &input->c) &&
           rvc_upload(check, &drawn, &maps->d) && rvc_upload(check, &classes, &maps->c) &&
           rvc_upload(check, &kinds, &maps->c);
  ok = ok && (!input->l.data || rvc_upload(check, &labels, &input->l)) &&
       (!input->s.data || rvc_upload(check, &scores, &input->s));
  for (int k = 0; k < 5; k++)
    ok = ok && to_device(&a[k]);
  const RvStixelsOutput out = {a[0].device, got->room,   a[1].device,
                               a[2].device, a[4].device, a[3].device};
  const RvStixelsInput host = stixels_input_of(input, trusted);
  void *surface = NULL;
  if (input->has_surface)
    ok = ok && rv_buffer_new(&surface, sizeof input->surface, RV_CUDA) == RV_OK &&
         rv_copy_to_device(surface, &input->surface, sizeof input->surface, NULL) == RV_OK;
  const RvStixelsInput device = {d, trusted ? c : (RvPlane){0}, labels, scores, surface};
  RvStatus status = rv_stixels_run(e->cpu, &host, &want, NULL);
  if (status == RV_OK)
    status = rv_stixels_render(e->cpu, e->want.stixels, e->want.room, e->want.offsets, &e->maps->d,
                               &e->maps->c, NULL);
  if (ok && status == RV_OK)
    status = rv_stixels_run(e->cuda, &device, &out, NULL);
  if (ok && status == RV_OK)
    status =
        rv_stixels_render(e->cuda, out.stixels, out.capacity, out.offsets, &drawn, &classes, NULL);
  /* The inputs are no longer needed: their memory is used for the drawing. */
  const uint32_t count = e->want.offsets[e->want.columns];
  const uint32_t kept = count < e->want.room ? count : e->want.room;
  const RvStixelsRasters rasters = {d, kinds, c};
  if (ok && status == RV_OK)
    status = rv_stixels_draw(out.stixels, kept, stixel_width, &rasters, RV_CUDA, NULL, NULL);
  if (ok && status == RV_OK)
    status = rv_stream_wait(NULL);
  rvc_true(check, name, ok && status == RV_OK, "%s: %s", what, rv_status_text(status));
  for (int k = 0; k < 5; k++)
    ok = from_device(&a[k]) && ok;
  if (ok && rvc_download(check, &maps->d, &drawn) && rvc_download(check, &maps->c, &classes)) {
    same_results(check, name, what, &e->want, got);
    rvc_same(check, name, &e->maps->d, &maps->d, what);
    rvc_same(check, name, &e->maps->c, &maps->c, what);
    same_drawing(check, name, e, kept, stixel_width, &rasters, maps);
  }
  rvc_device_free(&d);
  rvc_device_free(&c);
  rvc_device_free(&labels);
  rvc_device_free(&scores);
  rvc_device_free(&drawn);
  rvc_device_free(&classes);
  rvc_device_free(&kinds);
  rv_buffer_free(&surface, RV_CUDA);
  free(maps);
}

static void check_config(RvCheck *check, const char *name, RvRandom *random,
                         const RvStixelsConfig *c) {
  char what[200];
  snprintf(what, sizeof what, "%dx%d, cells %dx%d, model %d, ground %d, to %d px", c->width,
           c->height, c->stixel_width, c->vertical_step, (int)c->model, (int)c->ground,
           c->max_disparity);
  const uint32_t most = rv_stixels_count_max(c);
  const uint32_t room = rvc_range(random, 0, 4) ? most : (uint32_t)rvc_range(random, 0, (int)most);
  /* Made after the one that is compared: limits of a kernel must not be those of the last one. */
  RvStixels *smaller = NULL;
  RvStixelsConfig less = *c;
  less.height = rv_min(c->height, c->vertical_step);
  Engines e = {.want = stixels_result_new(c, room), .got = stixels_result_new(c, room)};
  e.maps = stixels_input_new(c->width, c->height);
  StixelsInput *input = stixels_input_new(c->width, c->height);
  if (rvc_true(check, name,
               rv_stixels_new(&e.cpu, c, RV_CPU) == RV_OK &&
                   rv_stixels_new(&e.cuda, c, RV_CUDA) == RV_OK &&
                   rv_stixels_new(&smaller, &less, RV_CUDA) == RV_OK,
               "%s: new", what))
    for (int frame = 0; frame < FRAMES; frame++) {
      if (frame != 1) { /* the same frame twice, then another */
        stixels_fill_street(random, input);
        stixels_fill_semantics(random, input, c->semantics);
        if (c->semantic_repair && rvc_range(random, 0, 3))
          stixels_fill_patches(random, input, c->semantics);
      }
      check_frame(check, name, what, &e, input, rvc_range(random, 0, 1), c->stixel_width);
    }
  rv_stixels_free(&e.cpu);
  rv_stixels_free(&e.cuda);
  rv_stixels_free(&smaller);
  stixels_result_free(&e.want);
  stixels_result_free(&e.got);
  free(e.maps);
  free(input);
}

/* Random sizes, also of more rows than a warp has lanes. */
static void check_cases(RvCheck *check, const char *name, RvRandom *random) {
  const int rounds = rvc_small(check) ? 9 : 90, side = rvc_small(check) ? 60 : STIXELS_SIDE;
  RvStixelsSemanticPriors priors;
  for (int round = 0; round < rounds; round++) {
    RvStixelsConfig c = stixels_random_config(check, random, round % 3, round % 2);
    c.stixel_width = rvc_range(random, 1, round % 5 ? 12 : 64);
    c.vertical_step = rvc_range(random, 1, round % 5 ? 5 : 64);
    c.width = rvc_range(random, 1, side);
    if (round % 7 == 0) { /* the kernel of aligned scores */
      c.stixel_width = 8;
      c.width = 8 * rvc_range(random, 1, side / 8);
      c.semantics = rvc_range(random, 1, RV_STIXELS_SEMANTICS_MAX);
    }
    if (round % 11 == 8) /* 8 px are left for the last column, often from an odd one on */
      c.width = (side - 8) / c.stixel_width * c.stixel_width + 8;
    c.height = rvc_range(random, 1, side);
    if (round % 4 == 2) { /* shared semantics */
      c.semantics = rv_max(c.semantics, rvc_range(random, 2, 9));
      c.semantic_radius = rv_min(rvc_range(random, 1, 4) * c.stixel_width, 64);
    }
    if (round % 4 == 3) { /* repaired semantics, and shared ones after it */
      c.semantics = rv_max(c.semantics, rvc_range(random, 2, 9));
      c.semantic_repair = 1;
    }
    if (round % 6 == 0) { /* columns with bounds, with and without semantics */
      c.vertical_step = 1;
      c.height = rvc_range(random, side * 9 / 10, side);
      c.sigma_ground_a = 8;
      c.sigma_ground_b = 0.1;
      c.sigma_object_b = 0;
    }
    if (round % 4 == 1) {
      c.ground = RV_STIXELS_GROUND_CAMERA;
      c.camera = (RvCamera){.focal = 150, .cy = c.height * 0.4, .baseline = 0.5, .height = 1};
      c.camera.pitch = rvc_range(random, -5, 5);
    }
    check_config(check, name, random, &c);
    if (round % 3 == 0 && c.semantics > 0) {
      stixels_random_priors(random, &priors);
      c.semantic_priors = &priors;
      check_config(check, name, random, &c);
    }
  }
}

/* `constant` with more columns than a large GPU has multiprocessors, or the emulator in small runs,
 * and so few rows that the tables of two blocks fit in one; sometimes with more px than a block has
 * threads. */
static void check_columns(RvCheck *check, const char *name, RvRandom *random) {
  const int rounds = rvc_small(check) ? 4 : 20;
  for (int round = 0; round < rounds; round++) {
    RvStixelsConfig c = stixels_random_config(check, random, RV_STIXELS_CONSTANT, round % 2);
    c.cuts = RV_STIXELS_CUTS_ALL;
    c.semantics = 0;
    c.stixel_width = 1;
    c.vertical_step = rvc_range(random, 1, 3);
    c.width = rvc_small(check) ? rvc_range(random, 17, 60) : rvc_range(random, 160, STIXELS_SIDE);
    if (round % 4 == 0)
      c.max_disparity = rvc_range(random, 256, RV_STIXELS_RANGE_MAX);
    const int rows = c.max_disparity > 300 ? 20 : 66; /* up to three tiles */
    c.height = rvc_range(random, 1, rows * c.vertical_step);
    check_config(check, name, random, &c);
  }
}

RVC_CASES(stixels_parity, RVC_CASE("stixels/parity", check_cases, RVC_ON_CUDA),
          RVC_CASE("stixels/constant-parity", check_columns, RVC_ON_CUDA));
