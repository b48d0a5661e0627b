/* SPDX-License-Identifier: MIT */
/* fuzz_cuts_network.c: any bytes as a file of the network of cuts. */
#include "stixels/stixels_inputs.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  stixels_fuzz_network(bytes, size);
  return 0;
}
