/* SPDX-License-Identifier: MIT */
/* stixels_inputs.c: random images and configs, results. */
#include "stixels/stixels_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_network_rules.h"

StixelsInput *stixels_input_new(int width, int height) {
  StixelsInput *input = calloc(1, sizeof *input);
  if (!input || width > STIXELS_SIDE || height > STIXELS_SIDE)
    abort();
  input->d = (RvPlane){input->disparity, 2 * STIXELS_SIDE, width, height, RV_U16};
  input->c = (RvPlane){input->confidence, STIXELS_SIDE, width, height, RV_U8};
  return input;
}

RvStixelsInput stixels_input_of(const StixelsInput *input, int trusted) {
  RvStixelsInput in = {.disparity = input->d, .labels = input->l, .scores = input->s};
  if (trusted)
    in.confidence = input->c;
  if (input->has_surface)
    in.surface = &input->surface;
  return in;
}

/* Mostly values of 0..1, sometimes invalid scores. */
static uint16_t random_half(RvRandom *random, int liked) {
  const int dice = rvc_range(random, 0, 99);
  return (uint16_t)(dice == 0  ? rvc_range(random, 0, 0xffff)
                    : dice < 4 ? rvc_range(random, 0, 0x400)
                    : liked    ? rvc_range(random, 0x3800, 0x3c00)
                               : rvc_range(random, 0, 0x3000));
}

void stixels_fill_semantics(RvRandom *random, StixelsInput *input, int semantics) {
  const int kind = semantics > 0 ? rvc_range(random, 0, 4) : 0;
  const int is_same = rvc_range(random, 0, 2);
  const int width = is_same ? input->d.width : rvc_range(random, 1, STIXELS_SIDE);
  const int height = is_same ? input->d.height : rvc_range(random, 1, STIXELS_SIDE);
  input->l = input->s = (RvPlane){NULL, 0, 0, 0, RV_U8};
  if (kind == 0)
    return;
  const ptrdiff_t stride = rvc_range(random, 0, 1) ? STIXELS_SIDE : width;
  if (kind < 3)
    input->l = (RvPlane){input->labels, stride, width, height, RV_U8};
  else
    input->s = (RvPlane){input->scores, 2 * stride, width, height * semantics, RV_U16};
  for (int x = 0; x < width; x++) {
    int liked = 0;
    for (int y = 0; y < height; y++) {
      if (rvc_range(random, 0, 6) == 0)
        liked = rvc_range(random, 0, semantics);
      if (kind < 3)
        input->labels[y * stride + x] = (uint8_t)liked;
      for (int k = 0; kind >= 3 && k < semantics; k++)
        input->scores[(k * height + y) * stride + x] = random_half(random, k == liked);
    }
  }
}

void stixels_fill_patches(RvRandom *random, StixelsInput *input, int semantics) {
  const int width = input->d.width, height = input->d.height, middle = rvc_range(random, 0, height);
  const int edge = rvc_range(random, 0, width), noise = rvc_range(random, 0, 5);
  input->surface = (RvGroundSurface){.slope_y = 0.25, .source = RV_GROUND_ESTIMATE};
  input->surface.intercept = 20 - 0.25 * middle;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const int is_near = x < edge && y < middle;
      const int d = y < middle ? 320 + 80 * is_near : 320 + 4 * (y - middle);
      input->disparity[y * STIXELS_SIDE + x] = (uint16_t)(d + rvc_range(random, -noise, noise));
      input->labels[y * STIXELS_SIDE + x] = (uint8_t)((y >= middle) + 2 * is_near);
    }
  for (int k = 0; k < 6; k++) {
    const int left = rvc_range(random, 0, width - 1), top = rvc_range(random, 0, height - 1);
    const int right = left + rvc_range(random, 1, 20), low = top + rvc_range(random, 1, 20);
    const int label = rvc_range(random, 0, semantics);
    for (int y = top; y < low && y < height; y++)
      for (int x = left; x < right && x < width; x++)
        input->labels[y * STIXELS_SIDE + x] = (uint8_t)label;
  }
  input->l = (RvPlane){input->labels, STIXELS_SIDE, width, height, RV_U8};
  input->s = (RvPlane){0};
}

static void fill_surface(RvRandom *random, StixelsInput *input) {
  const int is_plane = rvc_range(random, 0, 3);
  input->has_surface = rvc_range(random, 0, 1);
  input->surface = (RvGroundSurface){.source = RV_GROUND_NONE};
  if (!is_plane)
    return;
  input->surface.slope_x = rvc_range(random, -100, 100) / 3000.0;
  /* Planes from 64 px per px on are none; those of roads are below 2. */
  input->surface.slope_y = is_plane == 1 ? RV_GROUND_SLOPE_MAX * rvc_range(random, 1, 6)
                                         : rvc_range(random, 1, 400) / 300.0;
  input->surface.intercept = -rvc_range(random, 0, input->d.height) * input->surface.slope_y;
  input->surface.source = RV_GROUND_ESTIMATE;
}

/* A strip at the left and a rectangle without values: only the left view sees it, or sky. */
static void clear_parts(RvRandom *random, StixelsInput *input) {
  const int width = input->d.width, height = input->d.height;
  const int strip = rvc_range(random, 0, 2) ? 0 : rvc_range(random, 0, width - 1);
  const int left = rvc_range(random, 0, width), right = rvc_range(random, left, width);
  const int top = rvc_range(random, 0, 1) ? 0 : rvc_range(random, 0, height);
  const int bottom = rvc_range(random, top, height);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      if (x < strip || (x >= left && x < right && y >= top && y < bottom))
        input->disparity[y * STIXELS_SIDE + x] = 0;
}

void stixels_fill_street(RvRandom *random, StixelsInput *input) {
  const int height = input->d.height;
  fill_surface(random, input);
  const int noise = rvc_range(random, 0, 24), holes = rvc_range(random, 0, 400);
  const int far = rvc_range(random, 0, 9) ? 0 : 60000;
  for (int x = 0; x < input->d.width; x++) {
    int value = rvc_range(random, 200, 1500), slope = -rvc_range(random, 0, 200);
    for (int y = height - 1; y >= 0; y--) {
      if (rvc_range(random, 0, 9) == 0) {
        const int kind = rvc_range(random, 0, 3);
        value = kind == 0 ? 3 : value;
        slope = kind == 1 ? -rvc_range(random, 1, 200) : kind == 2 ? rvc_range(random, -60, 60) : 0;
      }
      value = value + slope < 1 ? 1 : value + slope;
      int d = value + rvc_range(random, -noise, noise);
      const int dice = rvc_range(random, 0, 999);
      d = dice > 970 ? rvc_range(random, 1, 2047 + far) : d < 1 ? 1 : d;
      input->disparity[y * STIXELS_SIDE + x] = dice < holes ? 0 : (uint16_t)d;
      input->confidence[y * STIXELS_SIDE + x] = (uint8_t)rvc_range(random, dice % 2 ? 200 : 0, 255);
    }
  }
  clear_parts(random, input);
}

static RvStixelsPenalty random_penalty(RvRandom *random) {
  return (RvStixelsPenalty){rvc_range(random, 0, 300) / 100.0, rvc_range(random, 0, 200) / 100.0};
}

const RvStixelsNetwork *stixels_random_network(RvRandom *random) {
  static RvStixelsNetwork network;
  memset(&network, 0, sizeof network);
  for (int k = 0; k < RV_STIXELS_NETWORK_LAYERS; k++) {
    RvStixelsNetworkLayer *layer = &network.layers[k];
    const int taps = rv_stixels_network_taps(k), ins = rv_stixels_network_inputs(k);
    const int most = rvc_range(random, 0, 9) ? 40 : 127;
    layer->shift = rvc_range(random, 0, 9) ? rvc_range(random, 5, 9) : 0;
    for (int out = 0; out < rv_stixels_network_outputs(k); out++) {
      layer->bias[out] = rvc_range(random, -2000, 2000);
      for (int tap = 0; tap < taps; tap++)
        for (int in = 0; in < ins; in++)
          layer->weights[out][tap][in] = (int8_t)rvc_range(random, -most - (most == 127), most);
    }
  }
  network.threshold = rvc_range(random, 0, 3) ? rvc_range(random, -128, 0) : 127;
  network.most = rvc_range(random, 0, 2) ? rvc_range(random, 1, 100) : 100;
  return &network;
}

RvStixelsConfig stixels_config(RvCheck *check, int width, int height, int cell) {
  RvStixelsConfig c;
  rv_stixels_config_init(&c);
  c.log = rvc_log(check);
  c.width = width;
  c.height = height;
  c.stixel_width = c.vertical_step = cell;
  return c;
}

RvStixelsConfig stixels_random_config(RvCheck *check, RvRandom *random, int model, int coupled) {
  static const double widths[] = {0, 0.01, 0.3, 5, RV_STIXELS_SIGMA_FREE};
  RvStixelsConfig c;
  rv_stixels_config_init(&c);
  c.log = rvc_log(check);
  c.model = (RvStixelsModelKind)model;
  c.full_confidence = rvc_range(random, 0, 1) ? 1 : rvc_range(random, 4, 1000) / 1000.0;
  c.min_confidence = rvc_range(random, 0, 1) ? 0 : rvc_range(random, 0, 1000) / 1000.0;
  c.one_view_confidence = rvc_range(random, 0, 3) / 3.0;
  c.p_val = rvc_range(random, 10, 99) / 100.0;
  c.p_empty_sky = rvc_range(random, 1, 99) / 100.0;
  c.p_out = rvc_range(random, 1, 60) / 100.0;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    c.sigma[k] = rvc_range(random, 30, 300) / 100.0;
    for (int below = 0; below < RV_STIXELS_CLASSES; below++)
      c.transition[k][below] = rvc_range(random, 0, 500) / 100.0;
  }
  for (int k = 0; k < RV_STIXELS_CLASSES; k++)
    c.at_bottom[k] = rvc_range(random, 0, 1000) / 100.0;
  c.sigma_ground_a = widths[rvc_range(random, 0, 4)];
  c.sigma_ground_b = widths[rvc_range(random, 0, 4)];
  c.sigma_object_b = widths[rvc_range(random, 0, 1) ? 0 : rvc_range(random, 1, 4)];
  c.complexity = rvc_range(random, 0, 900) / 100.0;
  static const RvStixelsPenalty none = {0, 0};
  c.gravity_minus = coupled ? random_penalty(random) : none;
  c.gravity_plus = coupled ? random_penalty(random) : none;
  c.ordering = coupled ? random_penalty(random) : none;
  c.gap_minus = coupled ? random_penalty(random) : none;
  c.gap_plus = coupled ? random_penalty(random) : none;
  c.max_disparity = rvc_range(random, 0, 3) ? 0 : rvc_range(random, 1, 300);
  if (rvc_range(random, 0, 1))
    c.semantics = rvc_range(random, 1, rvc_range(random, 0, 4) ? 8 : RV_STIXELS_SEMANTICS_MAX);
  for (int k = 0; k < c.semantics; k++)
    c.semantic_structure[k] = (uint8_t)rvc_range(random, 0, 2);
  c.semantic_weight = rvc_range(random, 0, 500) / 100.0;
  if (rvc_range(random, 0, 1))
    c.semantic_radius = rvc_range(random, 1, rvc_range(random, 0, 9) ? 8 : 64);
  c.refine = rvc_range(random, 0, 3) > 0;
  c.cuts = (RvStixelsCutsKind)rvc_range(random, 0, RV_STIXELS_CUTS_NETWORK);
  c.cut_penalty = rvc_range(random, 0, 1) ? 0 : rvc_range(random, 1, 200) / 100.0;
  if (rvc_range(random, 0, 1))
    c.network = stixels_random_network(random);
  c.threads = rvc_range(random, 0, 2);
  return c;
}

static void *filled(size_t bytes) {
  void *memory = malloc(bytes + 1);
  if (!memory)
    abort();
  return memset(memory, 0xEE, bytes + 1);
}

StixelsResult stixels_result_new(const RvStixelsConfig *config, uint32_t room) {
  const int columns = rv_stixels_columns(config);
  return (StixelsResult){.columns = columns,
                         .rows = rv_stixels_rows(config),
                         .room = room,
                         .stixels = filled(room * sizeof(RvStixel)),
                         .offsets = filled(((size_t)columns + 1) * sizeof(uint32_t)),
                         .energies = filled((size_t)columns * sizeof(int32_t)),
                         .cuts = filled((size_t)columns * (size_t)rv_stixels_rows(config)),
                         .ground = filled(sizeof(RvStixelsGround))};
}

void stixels_result_free(StixelsResult *r) {
  free(r->stixels);
  free(r->offsets);
  free(r->energies);
  free(r->cuts);
  free(r->ground);
}

RvStixelsOutput stixels_result_output(const StixelsResult *r) {
  return (RvStixelsOutput){r->stixels, r->room, r->offsets, r->energies, r->cuts, r->ground};
}

int stixels_run_cpu(RvCheck *check, const char *name, const RvStixelsConfig *config,
                    const StixelsInput *input, int trusted, const StixelsResult *result) {
  const RvStixelsInput in = stixels_input_of(input, trusted);
  const RvStixelsOutput output = stixels_result_output(result);
  RvStixels *stixels = NULL;
  RvStatus status = rv_stixels_new(&stixels, config, RV_CPU);
  if (status == RV_OK)
    status = rv_stixels_run(stixels, &in, &output, NULL);
  rv_stixels_free(&stixels);
  return rvc_true(check, name, status == RV_OK, "run: %s", rv_status_text(status));
}
