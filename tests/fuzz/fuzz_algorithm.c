/* SPDX-License-Identifier: MIT */
/* fuzz_algorithm.c: libFuzzer's entry over the `fuzz` case of one algorithm. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "rvcheck.h"

extern const RvCases RV_FUZZED;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  if (RV_FUZZED.fuzz)
    return 0;
  printf("%s: no fuzz case\n", RV_FUZZED.name);
  exit(77);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  RV_FUZZED.fuzz(bytes, size);
  return 0;
}
