/* SPDX-License-Identifier: MIT */
/* road_tables.c: the tables of both engines, computed on the host. */
#include "road/road_stages.h"

void rv_road_inverse_table(const RvRoadConfig *config, uint32_t *inverse) {
  const int doffs = rv_road_doffs(&config->camera);
  for (int d = 0; d < RV_ROAD_INVERSE_SIZE; d++) {
    const int64_t sum = d + doffs;
    const uint64_t value = d && sum > 0 ? ((1ull << 32) + (uint64_t)sum / 2) / (uint64_t)sum : 0;
    inverse[d] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
  }
}

void rv_road_exp_table(uint32_t *table) {
  for (int i = 0; i < RV_ROAD_EXP_SIZE; i++)
    table[i] = (uint32_t)(65536 * exp(-(double)i / RV_ROAD_NAT) + 0.5);
}

void rv_road_log_table(uint32_t *table) {
  for (int i = 0; i < RV_ROAD_LOG_SIZE; i++) {
    const double sum = rv_max(i, 64) * (double)RV_ROAD_LOG_STEP / 65536; /* never below one */
    table[i] = (uint32_t)(log(sum) * RV_ROAD_NAT + 0.5);
  }
}
