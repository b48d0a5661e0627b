/* SPDX-License-Identifier: MIT */
/* fuzz_bytes.h: the input of a fuzz target, taken byte after byte. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct FuzzBytes {
  const uint8_t *at;
  size_t left;
} FuzzBytes;

/* The next byte, 0 behind the end. */
static inline uint8_t fuzz_next(FuzzBytes *bytes) {
  if (bytes->left == 0)
    return 0;
  bytes->left--;
  return *bytes->at++;
}

#endif
