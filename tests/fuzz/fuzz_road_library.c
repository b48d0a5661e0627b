/* SPDX-License-Identifier: MIT */
/* fuzz_road_library.c: any bytes as a saved library of road models. */
#include "road/road_save_cases.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  rv_road_fuzz_library(bytes, size);
  return 0;
}
