/* SPDX-License-Identifier: MIT */
/* replay.c: runs a fuzz target without libFuzzer: the files of a folder, then bytes made here
 * (empty, constant, counting, random with a fixed seed), so that every build tries the target. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define ROOM 65536

static int replay_file(const char *folder, const char *name, uint8_t *bytes) {
  char path[4096];
  if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
    return 0;
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 0;
  }
  const size_t size = fread(bytes, 1, ROOM, file);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, size);
  return 1;
}

/* Number of files tried, -1 when one could not be read. No folder: 0. */
static int replay_folder(const char *folder, uint8_t *bytes) {
  DIR *dir = opendir(folder);
  int tried = 0;
  if (!dir)
    return 0;
  for (const struct dirent *entry; tried >= 0 && (entry = readdir(dir));)
    if (entry->d_name[0] != '.')
      tried = replay_file(folder, entry->d_name, bytes) ? tried + 1 : -1;
  closedir(dir);
  return tried;
}

static int replay_made(uint8_t *bytes) {
  static const size_t sizes[] = {0, 1, 7, 16, 64, 200, 1000, 4096};
  uint32_t state = 1;
  int tried = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (int kind = 0; kind < 12; kind++) {
      for (size_t i = 0; i < sizes[s]; i++) {
        state = state * 1664525u + 1013904223u;
        const uint8_t random = (uint8_t)(state >> 24);
        bytes[i] = kind == 0 ? 0 : kind == 1 ? 255 : kind == 2 ? (uint8_t)i : random;
      }
      LLVMFuzzerTestOneInput(bytes, sizes[s]);
      tried++;
    }
  }
  return tried;
}

int main(int argc, char **argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  uint8_t *bytes = malloc(ROOM);
  if (!bytes)
    return 1;
  const int files = argc > 1 ? replay_folder(argv[1], bytes) : 0;
  const int made = replay_made(bytes);
  free(bytes);
  printf("replay: %d files, %d made inputs\n", files, made);
  return files < 0 || made == 0;
}
