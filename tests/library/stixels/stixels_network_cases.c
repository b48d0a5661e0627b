/* SPDX-License-Identifier: MIT */
/* stixels_network_cases.c: the network of cuts: its kernels against a plain one, its file, the limit
 * of the cuts of a column, and what its costs do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_inputs.h"
#include "stixels/stixels_reference.h"

#define ROWS 400

static void fill_cells(RvRandom *random, RvStixelsCell *cells, int rows) {
  int value = rvc_range(random, 1, 2048), slope = 0, holes = rvc_range(random, 0, 60);
  for (int v = 0; v < rows; v++) {
    if (rvc_range(random, 0, 7) == 0) {
      value = rvc_range(random, 0, 3) ? value : rvc_range(random, 1, 20000);
      slope = rvc_range(random, -40, 20);
    }
    value = rv_clamp(value + slope, 1, 65535);
    const int is_hole = rvc_range(random, 0, 99) < holes;
    const int weight = rvc_range(random, 0, 3) ? 255 : rvc_range(random, 1, 255);
    cells[v] = is_hole ? (RvStixelsCell){0, 0, (uint8_t)rvc_range(random, 0, 1)}
                       : (RvStixelsCell){(uint16_t)value, (uint8_t)weight, (uint8_t)weight};
  }
}

/* Every instruction set that this CPU has, columns of all lengths. */
static void check_kernels(RvCheck *check, const char *name, RvRandom *random) {
  static uint32_t buffers[2 * RV_STIXELS_NETWORK_QUADS * (ROWS + 64)];
  RvStixelsCell cells[ROWS];
  uint8_t want[ROWS], got[ROWS + 1];
  for (int round = 0; round < (rvc_small(check) ? 20 : 200); round++) {
    const int rows = round < 70 ? round + 1 : rvc_range(random, 1, ROWS);
    const RvStixelsPlane ground = {(int64_t)rvc_range(random, 0, 2000) << 20,
                                   -(int64_t)rvc_range(random, 0, 40) * (1 << 20)};
    RvStixelsNetwork network = *stixels_random_network(random);
    if (round % 4 == 0 && rv_stixels_network_read(&network, rv_stixels_network_weights,
                                                  RV_STIXELS_NETWORK_BYTES, NULL) != RV_OK)
      rvc_fail(check, name, "the weights of the library cannot be read");
    fill_cells(random, cells, rows);
    stixels_reference_network(&network, &ground, cells, rows, want);
    const RvStixelsNetworkKernel *kernel;
    for (int k = 0; (kernel = rv_stixels_network_kernel(k)) != NULL; k++) {
      memset(got, 77, sizeof got);
      rv_stixels_network_cpu(kernel, &network, &ground, cells, rows, buffers, got);
      rvc_true(check, name, memcmp(want, got, (size_t)rows) == 0 && got[rows] == 77,
               "round %d: kernel %d differs in %d rows", round, k, rows);
    }
    int count = 0;
    for (int v = 1; v < rows; v++)
      count += want[v] != 0;
    rvc_true(check, name, count <= rv_max(rows * network.most / 100, 14), "%d cuts in %d rows",
             count, rows);
  }
}

/* --- File ------------------------------------------------------------------------------------ */

typedef struct Line {
  char text[512];
} Line;

static void keep(void *user, const char *text) {
  snprintf(((Line *)user)->text, sizeof((Line *)user)->text, "%s", text);
}

static void put(uint8_t *at, uint32_t value) {
  for (int k = 0; k < 4; k++)
    at[k] = (uint8_t)(value >> 8 * k);
}

typedef struct Damage {
  size_t at;
  uint32_t value;
  const char *cause; /* in the line of the log */
} Damage;

static void check_file(RvCheck *check, const char *name, RvRandom *random) {
  enum { FIRST = 20, BIAS = FIRST + 20 + 16 * 5 * 8, END = RV_STIXELS_NETWORK_BYTES };
  static const Damage damages[] = {{0, 0, "RVCUTNET"},
                                   {8, 2, "version 2"},
                                   {12, 9, "9 inputs"},
                                   {16, 6, "6 layers"},
                                   {FIRST, 3, "3 rows"},
                                   {FIRST + 4, 0xffffffffu, "apart"},
                                   {FIRST + 8, 16, "channels"},
                                   {FIRST + 12, 0, "channels"},
                                   {FIRST + 16, 25, "shift"},
                                   {FIRST + 16, 0x80000000u, "shift"},
                                   {BIAS, (1 << 24) + 1, "bias"},
                                   {BIAS, 0x80000000u, "bias"},
                                   {END - 8, 128, "threshold"},
                                   {END - 4, 0, "0 %"},
                                   {END - 4, 101, "101 %"}};
  uint8_t bytes[RV_STIXELS_NETWORK_BYTES + 1] = {0};
  RvStixelsNetwork network, before;
  Line line = {""};
  const RvLog log = {keep, &line};
  memset(&network, 0xEE, sizeof network);
  before = network;
  for (size_t k = 0; k < sizeof damages / sizeof damages[0]; k++) {
    memcpy(bytes, rv_stixels_network_weights, RV_STIXELS_NETWORK_BYTES);
    put(bytes + damages[k].at, damages[k].value);
    const RvStatus status =
        rv_stixels_network_read(&network, bytes, RV_STIXELS_NETWORK_BYTES, &log);
    rvc_true(check, name, status == RV_ERR_IO && strstr(line.text, damages[k].cause) != NULL,
             "damage %zu: %s, \"%s\" without \"%s\"", k, rv_status_text(status), line.text,
             damages[k].cause);
  }
  memcpy(bytes, rv_stixels_network_weights, RV_STIXELS_NETWORK_BYTES);
  for (int k = 0; k < 40; k++) {
    const size_t size = k == 0 ? sizeof bytes : (size_t)rvc_range(random, 0, END - 1);
    rvc_true(check, name, rv_stixels_network_read(&network, bytes, size, &log) == RV_ERR_IO,
             "a file of %zu bytes", size);
  }
  rvc_true(check, name, memcmp(&network, &before, sizeof network) == 0, "a refused file is kept");
  rvc_true(check, name, rv_stixels_network_read(NULL, bytes, 1, NULL) == RV_ERR_ARG, "no place");
  rvc_true(check, name,
           rv_stixels_network_read(&network, bytes, RV_STIXELS_NETWORK_BYTES, &log) == RV_OK &&
               network.layers[0].shift == bytes[FIRST + 16] &&
               network.layers[0].weights[0][4][7] == (int8_t)bytes[FIRST + 20 + 39] &&
               network.layers[0].weights[0][0][8] == 0,
           "the weights of the library");
}

void stixels_fuzz_network(const uint8_t *bytes, size_t size) {
  uint8_t copy[RV_STIXELS_NETWORK_BYTES];
  static const uint8_t empty[1];
  RvStixelsNetwork network;
  (void)rv_stixels_network_read(&network, size ? bytes : empty, size, NULL);
  /* The same bytes behind a head that is accepted more often. */
  memcpy(copy, rv_stixels_network_weights, sizeof copy);
  for (size_t k = 0; k < size && k < sizeof copy; k++)
    copy[sizeof copy - 1 - k] ^= bytes[k];
  if (rv_stixels_network_read(&network, copy, sizeof copy, NULL) != RV_OK)
    return;
  uint32_t buffers[2 * RV_STIXELS_NETWORK_QUADS * 96];
  RvStixelsCell cells[40];
  uint8_t want[40], got[40];
  const RvStixelsPlane ground = {100 << 24, -(3 << 24)};
  for (size_t v = 0; v < 40; v++)
    cells[v] = (RvStixelsCell){(uint16_t)(1 + v * v), size ? bytes[v % size] : 0, 1};
  stixels_reference_network(&network, &ground, cells, 40, want);
  rv_stixels_network_cpu(rv_stixels_network_kernel(0), &network, &ground, cells, 40, buffers, got);
  if (memcmp(want, got, sizeof got) != 0)
    abort();
}

/* --- Costs ----------------------------------------------------------------------------------- */

/* Number of stixels of a street, and its cuts. */
static uint32_t count_of(RvCheck *check, const char *name, const RvStixelsConfig *c,
                         const StixelsInput *input, StixelsResult *r) {
  stixels_run_cpu(check, name, c, input, 0, r);
  return r->offsets[r->columns];
}

/* A cost of cuts gives fewer stixels, of a single street perhaps as many; a network without cuts leaves one per column; where labels
 * change, a stixel may start nevertheless, with every kind of cuts. */
static void check_costs(RvCheck *check, const char *name, RvRandom *random) {
  RvStixelsConfig c = stixels_config(check, 64, 96, 4);
  c.complexity = 1;
  c.cuts = RV_STIXELS_CUTS_NETWORK;
  StixelsInput *input = stixels_input_new(c.width, c.height);
  StixelsResult r = stixels_result_new(&c, rv_stixels_count_max(&c));
  uint32_t all_free = 0, all_costly = 0;
  for (int street = 0; street < 8; street++) {
    stixels_fill_street(random, input);
    c.cut_penalty = 0;
    const uint32_t free_of_cost = count_of(check, name, &c, input, &r);
    c.cut_penalty = 100;
    const uint32_t costly = count_of(check, name, &c, input, &r);
    rvc_true(check, name, costly <= free_of_cost, "street %d: %u stixels, with costs %u", street,
             free_of_cost, costly);
    all_free += free_of_cost, all_costly += costly;
  }
  rvc_true(check, name, all_costly < all_free, "%u stixels, with costs %u", all_free, all_costly);
  RvStixelsNetwork network = *stixels_random_network(random);
  network.layers[RV_STIXELS_NETWORK_LAYERS - 1].bias[0] = -(1 << 24);
  network.threshold = 127;
  c.network = &network;
  const uint32_t none = count_of(check, name, &c, input, &r);
  rvc_true(check, name, none == (uint32_t)r.columns, "%u stixels in %d columns without cuts", none,
           r.columns);
  c.semantics = 2;
  for (int y = 0; y < c.height; y++)
    memset(input->labels + y * STIXELS_SIDE, y < 48, (size_t)c.width);
  input->l = (RvPlane){input->labels, STIXELS_SIDE, c.width, c.height, RV_U8};
  for (int kind = 0; kind <= RV_STIXELS_CUTS_NETWORK; kind++) {
    c.cuts = (RvStixelsCutsKind)kind;
    (void)count_of(check, name, &c, input, &r);
    for (int x = 0; x < r.columns; x++)
      rvc_true(check, name, r.cuts[x * r.rows] == 255 && r.cuts[x * r.rows + 12] == 255,
               "cuts %d, column %d: %d and %d", kind, x, r.cuts[x * r.rows],
               r.cuts[x * r.rows + 12]);
  }
  stixels_result_free(&r);
  free(input);
}

RVC_CASES(stixels_check_network, RVC_CASE("stixels/network-kernels", check_kernels, 0),
          RVC_CASE("stixels/network-file", check_file, 0),
          RVC_CASE("stixels/network-costs", check_costs, 0));
