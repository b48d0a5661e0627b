/* SPDX-License-Identifier: MIT */
/* fuzz_cuts_network.c: any bytes as a file of the network of cuts. */
#include "fuzz.h"
#include "stixels/stixels_inputs.h"

FUZZ_TARGET(stixels_fuzz_network);
