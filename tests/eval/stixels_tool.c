/* SPDX-License-Identifier: MIT */
/* stixels_tool.c: cudastixels' library on many disparity maps in one process, for stixels_sets.py.
 *
 *   stixels_tool [--times] LIST OUT [NAME=VALUE...]
 *     LIST has one image per line: its name, width, height, the end of the search range in px, the
 *     structural class of each semantic class (letters g, o and s), and three files of dense rows,
 *     `-` for none: disparity (u16, 1/16 px, 0 = invalid), confidence (u8), labels (u8).
 *     NAME=VALUE sets a parameter of cuda/stixels (rv_stixels_params ()), on the CPU engine; the
 *     others have their defaults. The ground is estimated from the disparity, as the element does.
 *     network=FILE: weights of cuts=network instead of those of the library.
 *     Writes OUT/name.planes (u16, 1/16 px), OUT/name.structure and OUT/name.semantic (u8), dense
 *     rows, OUT/name.list (RvStixel) and OUT/name.cuts (u8, RvStixelsOutput.cuts), and prints name,
 *     number of stixels, and percent of the boundaries of cells that are cuts. --times: runs each
 *     three times more and adds a column, the least processor time of a run in us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eval_tool.h"
#include "ground/ground.h"
#include "stixels/stixels.h"

const char eval_tool_name[] = "stixels_tool";

typedef struct Item {
  char name[256], letters[64], disparity[2048], confidence[2048], labels[2048];
  int width, height, range;
} Item;

/* No data without a file. */
static RvPlane read_plane(const char *path, const Item *item, RvFormat format) {
  if (strcmp(path, "-") == 0)
    return (RvPlane){NULL, 0, 0, 0, format};
  const RvPlane plane = eval_plane_new(item->width, item->height, format);
  FILE *file = fopen(path, "rb");
  const size_t rows = (size_t)plane.height, row = (size_t)plane.stride;
  if (!file || fread(plane.data, row, rows, file) != rows)
    eval_fail("cannot read, or too short", path);
  fclose(file);
  return plane;
}

static RvGroundSurface ground_of(const Item *item, const RvPlane *disparity) {
  RvGroundConfig config;
  RvGround *ground = NULL;
  RvGroundSurface surface;
  rv_ground_config_init(&config);
  config.width = item->width;
  config.height = item->height;
  config.max_disparity = item->range;
  eval_must(rv_ground_new(&ground, &config, RV_CPU), item->name);
  eval_must(rv_ground_run(ground, disparity, &surface, NULL), item->name);
  rv_ground_free(&ground);
  return surface;
}

/* The semantic class of every pixel. */
static void draw_semantics(const RvStixel *list, uint32_t count, int width, const RvPlane *out) {
  memset(out->data, RV_SEMANTIC_NONE, (size_t)out->stride * (size_t)out->height);
  for (uint32_t k = 0; k < count; k++) {
    const int end = list[k].column + width < out->width ? list[k].column + width : out->width;
    for (int y = list[k].v_top; y <= list[k].v_bottom; y++)
      memset((char *)out->data + y * out->stride + list[k].column, list[k].semantic,
             (size_t)(end - list[k].column));
  }
}

/* The element allocates classes with the first frame that has semantics. */
static void set_picture(RvStixelsConfig *config, const Item *item, const RvPlane *labels) {
  config->width = item->width;
  config->height = item->height;
  if (config->max_disparity == 0)
    config->max_disparity = item->range;
  config->semantics = labels->data ? (int)strlen(item->letters) : 0;
  for (int k = 0; k < config->semantics; k++)
    config->semantic_structure[k] = (uint8_t)(item->letters[k] == 'g'   ? RV_STIXEL_GROUND
                                              : item->letters[k] == 's' ? RV_STIXEL_SKY
                                                                        : RV_STIXEL_OBJECT);
}

/* Percent of the boundaries between cells. */
static double density_of(const RvPlane *cuts) {
  size_t found = 0;
  for (int x = 0; x < cuts->height; x++)
    for (int v = 1; v < cuts->width; v++)
      found += ((const uint8_t *)cuts->data)[x * cuts->stride + v] != 0;
  return cuts->width > 1 ? 100.0 * (double)found / (cuts->height * (cuts->width - 1.0)) : 0;
}

/* Least processor time of three more runs, us. */
static double time_of(RvStixels *stixels, const RvStixelsInput *input,
                      const RvStixelsOutput *output, const char *name) {
  double least = 1e12;
  for (int k = 0; k < 3; k++) {
    const clock_t start = clock();
    eval_must(rv_stixels_run(stixels, input, output, NULL), name);
    const double us = (double)(clock() - start) * (1e6 / CLOCKS_PER_SEC);
    least = us < least ? us : least;
  }
  return least;
}

static void run(const RvStixelsConfig *base, const Item *item, const char *out, int is_timed) {
  RvStixelsConfig config = *base;
  const RvPlane disparity = read_plane(item->disparity, item, RV_U16);
  const RvPlane confidence = read_plane(item->confidence, item, RV_U8);
  const RvPlane labels = read_plane(item->labels, item, RV_U8);
  set_picture(&config, item, &labels);
  const RvGroundSurface surface = ground_of(item, &disparity);
  const uint32_t most = rv_stixels_count_max(&config);
  const uint32_t columns = (uint32_t)rv_stixels_columns(&config);
  RvStixel *list = calloc(most + 1, sizeof *list);
  uint32_t *offsets = calloc(columns + 1, sizeof *offsets);
  const RvPlane planes = eval_plane_new(item->width, item->height, RV_U16);
  const RvPlane structure = eval_plane_new(item->width, item->height, RV_U8);
  const RvPlane cuts = eval_plane_new(rv_stixels_rows(&config), (int)columns, RV_U8);
  if (!list || !offsets)
    eval_fail("out of memory", item->name);
  const RvStixelsInput input = {
      .disparity = disparity, .confidence = confidence, .labels = labels, .surface = &surface};
  const RvStixelsOutput output = {
      .stixels = list, .capacity = most, .offsets = offsets, .cuts = cuts.data};
  RvStixels *stixels = NULL;
  eval_must(rv_stixels_new(&stixels, &config, RV_CPU), item->name);
  eval_must(rv_stixels_run(stixels, &input, &output, NULL), item->name);
  const double us = is_timed ? time_of(stixels, &input, &output, item->name) : 0;
  eval_must(rv_stixels_render(stixels, list, most, offsets, &planes, &structure, NULL), item->name);
  rv_stixels_free(&stixels);
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/", out);
  eval_plane_write(folder, item->name, ".planes", "", &planes);
  eval_plane_write(folder, item->name, ".structure", "", &structure);
  draw_semantics(list, offsets[columns], config.stixel_width, &structure);
  eval_plane_write(folder, item->name, ".semantic", "", &structure);
  eval_plane_write(folder, item->name, ".cuts", "", &cuts);
  const RvPlane records = {list, sizeof *list, (int)(sizeof *list / 4), (int)offsets[columns],
                           RV_U32};
  eval_plane_write(folder, item->name, ".list", "", &records);
  printf("%s %u %.2f", item->name, offsets[columns], density_of(&cuts));
  printf(is_timed ? " %.0f\n" : "\n", us);
  free(cuts.data);
  free(disparity.data), free(confidence.data), free(labels.data);
  free(list), free(offsets), free(planes.data), free(structure.data);
}

/* Takes network=FILE from the end of the arguments. */
static void take_network(int *count, char **arguments, RvStixelsConfig *config) {
  static RvStixelsNetwork network;
  static uint8_t bytes[RV_STIXELS_NETWORK_BYTES + 1];
  if (*count < 4 || strncmp(arguments[*count - 1], "network=", 8) != 0)
    return;
  FILE *file = fopen(arguments[--*count] + 8, "rb");
  if (!file)
    eval_fail("cannot read", arguments[*count] + 8);
  eval_must(rv_stixels_network_read(&network, bytes, fread(bytes, 1, sizeof bytes, file), NULL),
            arguments[*count]);
  fclose(file);
  config->network = &network;
}

int main(int count, char **arguments) {
  RvStixelsConfig config;
  Item item;
  const int is_timed = count > 1 && strcmp(arguments[1], "--times") == 0;
  count -= is_timed;
  arguments += is_timed;
  if (count < 3) {
    fprintf(stderr, "usage: stixels_tool [--times] LIST OUT [NAME=VALUE...]\n");
    return 2;
  }
  rv_stixels_config_init(&config);
  config.log.line = eval_print_line;
  take_network(&count, arguments, &config);
  eval_set_options(rv_stixels_params(), &config, count - 3, arguments + 3);
  FILE *list = fopen(arguments[1], "r");
  if (!list)
    eval_fail("cannot read", arguments[1]);
  while (fscanf(list, "%255s %d %d %d %63s %2047s %2047s %2047s", item.name, &item.width,
                &item.height, &item.range, item.letters, item.disparity, item.confidence,
                item.labels) == 8)
    run(&config, &item, arguments[2], is_timed);
  if (!feof(list))
    eval_fail("a line is not: name width height range letters disparity confidence labels",
              arguments[1]);
  fclose(list);
  return 0;
}
