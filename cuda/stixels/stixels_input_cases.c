/* stixels_input_cases.c: pictures and configs at random. */
#include "stixels_input_cases.h"

#include <stdlib.h>

StixelsInput *stixels_input_new(int width, int height) {
  StixelsInput *input = calloc(1, sizeof *input);
  if (!input || width > STIXELS_SIDE || height > STIXELS_SIDE)
    abort();
  input->d = (RvPlane){input->disparity, 2 * STIXELS_SIDE, width, height, RV_U16};
  input->c = (RvPlane){input->confidence, STIXELS_SIDE, width, height, RV_U8};
  return input;
}

void stixels_fill_street(RvRandom *random, StixelsInput *input) {
  const int height = input->d.height;
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
}

static RvStixelsPenalty random_penalty(RvRandom *random) {
  return (RvStixelsPenalty){rvc_range(random, 0, 300) / 100.0, rvc_range(random, 0, 200) / 100.0};
}

RvStixelsConfig stixels_random_config(RvCheck *check, RvRandom *random, int model, int coupled) {
  static const double widths[] = {0, 0.01, 0.3, 5, RV_STIXELS_FREE};
  RvStixelsConfig c;
  rv_stixels_config_init(&c);
  c.log = rvc_log(check);
  c.model = (RvStixelsModelKind)model;
  c.p_val = rvc_range(random, 10, 99) / 100.0;
  c.p_out = rvc_range(random, 1, 60) / 100.0;
  for (int k = 0; k < RV_STIXELS_CLASSES; k++) {
    c.sigma[k] = rvc_range(random, 30, 300) / 100.0;
    for (int below = 0; below < RV_STIXELS_CLASSES; below++)
      c.transition[k][below] = rvc_range(random, 0, 500) / 100.0;
  }
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
  c.max_disparity = rvc_range(random, 0, 3) ? 128 : rvc_range(random, 1, 300);
  c.threads = rvc_range(random, 0, 2);
  return c;
}
