/* SPDX-License-Identifier: MIT */
/* stixels_network_reference.c: the network of cuts as stixels_network.h describes it, one value after
 * the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stixels/stixels_reference.h"

#define ROWS 512

/* (rows, distance, channels) of the layers. */
static const int shapes[RV_STIXELS_NETWORK_LAYERS][4] = {
    {5, 1, 8, 16},  {1, 1, 16, 16}, {5, 2, 16, 16}, {1, 1, 16, 16},
    {5, 3, 16, 16}, {1, 1, 16, 16}, {1, 1, 16, 1}};

typedef struct Values {
  int of[16][ROWS];
} Values;

static int floor_of(double x) {
  return (int)floor(x);
}

static int within(int low, double x, int high) {
  return x < low ? low : x > high ? high : floor_of(x);
}

static void set_input(const RvStixelsPlane *ground, const RvStixelsCell *cells, int rows,
                      Values *out) {
  for (int v = 0; v < rows; v++) {
    int a = v, b = v - 1;
    while (a < rows && cells[a].weight == 0)
      a++;
    while (b >= 0 && cells[b].weight == 0)
      b--;
    const int has_a = a < rows, has_b = b >= 0;
    const int above = has_a ? cells[a].disparity : 0, below = has_b ? cells[b].disparity : 0;
    const double lift = above - rv_stixels_expected(ground, v);
    const int is_empty = cells[v].weight == 0 && cells[v].confidence == 1;
    out->of[0][v] = has_a && has_b ? within(1, 64 + above - below, 127) : 0;
    out->of[1][v] = has_a && has_b ? within(1, 64 + floor((above - below) / 8.0), 127) : 0;
    out->of[2][v] = cells[v].weight / 2;
    out->of[3][v] = is_empty ? 127 : 0;
    out->of[4][v] = within(0, above / 16, 127);
    out->of[5][v] = within(0, above, 127);
    out->of[6][v] = has_a ? within(1, 64 + floor(lift / 2), 127) : 0;
    out->of[7][v] = 127;
  }
}

static int value_of(const RvStixelsNetworkLayer *layer, const int shape[4], const Values *in,
                    int rows, int output, int v, int least) {
  double sum = layer->bias[output];
  for (int tap = 0; tap < shape[0]; tap++) {
    const int from = v + (tap - shape[0] / 2) * shape[1];
    for (int input = 0; from >= 0 && from < rows && input < shape[2]; input++)
      sum += layer->weights[output][tap][input] * in->of[input][from];
  }
  const double half = layer->shift > 0 ? ldexp(1, layer->shift - 1) : 0;
  return within(least, floor(ldexp(sum + half, -layer->shift)), 127);
}

void stixels_reference_network(const RvStixelsNetwork *network, const RvStixelsPlane *ground,
                               const RvStixelsCell *cells, int rows, uint8_t *codes) {
  Values *from = calloc(1, sizeof *from), *to = calloc(1, sizeof *to);
  if (!from || !to || rows > ROWS)
    abort();
  set_input(ground, cells, rows, from);
  for (int k = 0; k < RV_STIXELS_NETWORK_LAYERS; k++) {
    const int is_last = k + 1 == RV_STIXELS_NETWORK_LAYERS;
    for (int output = 0; output < shapes[k][3]; output++)
      for (int v = 0; v < rows; v++)
        to->of[output][v] =
            value_of(&network->layers[k], shapes[k], from, rows, output, v, is_last ? -128 : 0);
    Values *const swapped = from;
    from = to;
    to = swapped;
  }
  const int *score = from->of[0];
  int most = (int)floor(rows * network->most / 100.0), threshold = network->threshold, count;
  most = most < 14 ? 14 : most; /* any column may have so many */
  for (count = most + 1; count > most; threshold++) {
    count = 0;
    for (int v = 1; v < rows; v++)
      count += score[v] >= threshold;
  }
  threshold--; /* the one that was counted last */
  for (int v = 0; v < rows; v++)
    codes[v] = (uint8_t)(score[v] < threshold ? 0 : within(1, 128 + score[v], 254));
  free(from);
  free(to);
}

double stixels_reference_cut_energy(const StixelsReference *t, const RvStixelsConfig *c, int v) {
  if (c->cuts != RV_STIXELS_CUTS_NETWORK || t->codes[v] == 255)
    return 0;
  return -c->cut_penalty * log(1 / (1 + exp(-(t->codes[v] - 128) / 16.0)));
}
