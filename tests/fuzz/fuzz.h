/* SPDX-License-Identifier: MIT */
/* fuzz.h: the two functions that libFuzzer and replay.c call. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Defines the first one for targets without initialization. */
#define FUZZ_NO_INITIALIZATION                                                                     \
  int LLVMFuzzerInitialize(int *argc, char ***argv) {                                              \
    (void)argc, (void)argv;                                                                        \
    return 0;                                                                                      \
  }                                                                                                \
  int LLVMFuzzerInitialize(int *argc, char ***argv) /* takes the semicolon */

/* Defines both for a target that passes the bytes to one function. */
#define FUZZ_TARGET(function)                                                                      \
  FUZZ_NO_INITIALIZATION;                                                                          \
  int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {                                  \
    function(bytes, size);                                                                         \
    return 0;                                                                                      \
  }                                                                                                \
  int LLVMFuzzerInitialize(int *argc, char ***argv) /* takes the semicolon */

#endif
