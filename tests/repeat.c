/* SPDX-License-Identifier: MIT */
/* repeat.c [--runs N] [--only NAME,...] [--plant RUN]: full-size frames again and again on the CUDA engine. Every row
 * of the benchmark is made and run N times (1000), then made anew and run N times more; after each run
 * all memory that the test gave the GPU, results among it, must have the bits that it had after the
 * same run before. So a race that needs many frames to be seen is found, also where an object
 * remembers frames. --plant changes a bit after that run of the second time, which must be found. Exit
 * status as that of rvcheck.
 *
 * It stands where rvcheck's timing is: rvc_bench and rvc_bench_sequence are replaced by the linker, and so
 * are rv_buffer_new and rv_buffer_free, to know the memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rvcheck_run.h"

typedef RvStatus Run(void *user, RvStream stream);
double __wrap_rvc_bench(RvCheck *check, const char *name, RvEngine engine, Run *run, void *user);
double __wrap_rvc_bench_sequence(RvCheck *check, const char *name, RvEngine engine, int frames,
                                 Run *run, void *user);
RvStatus __real_rv_buffer_new(void **out, size_t bytes, RvEngine engine);
RvStatus __wrap_rv_buffer_new(void **out, size_t bytes, RvEngine engine);
void __real_rv_buffer_free(void **buffer, RvEngine engine);
void __wrap_rv_buffer_free(void **buffer, RvEngine engine);

/* --- Memory of the GPU ------------------------------------------------------------------------ */

#define BUFFERS 256

static struct {
  void *data;
  size_t bytes;
} buffers[BUFFERS];
static int buffer_count;

/* Cleared, so that both times begin with the same bits between the rows of planes. */
RvStatus __wrap_rv_buffer_new(void **out, size_t bytes, RvEngine engine) {
  RvStatus status = __real_rv_buffer_new(out, bytes, engine);
  if (status != RV_OK || engine != RV_CUDA)
    return status;
  void *zeros = rvc_memory(bytes);
  status = rv_copy_to_device(*out, zeros, bytes, NULL);
  free(zeros);
  if (buffer_count == BUFFERS) {
    fprintf(stderr, "repeat: more than %d buffers\n", BUFFERS);
    exit(1);
  }
  buffers[buffer_count].data = *out;
  buffers[buffer_count++].bytes = bytes;
  return status;
}

void __wrap_rv_buffer_free(void **buffer, RvEngine engine) {
  for (int i = 0; engine == RV_CUDA && buffer && i < buffer_count; i++)
    if (buffers[i].data == *buffer) {
      memmove(&buffers[i], &buffers[i + 1], sizeof *buffers * (size_t)(buffer_count - i - 1));
      buffer_count--;
      break;
    }
  __real_rv_buffer_free(buffer, engine);
}

/* Of all buffers, in the order in which they were made. */
static RvStatus hash_buffers(uint64_t *hash) {
  *hash = 0;
  for (int i = 0; i < buffer_count; i++) {
    const size_t words = (buffers[i].bytes + 7) / 8;
    uint64_t *copy = rvc_memory(8 * words);
    const RvStatus status = rv_copy_to_host(copy, buffers[i].data, buffers[i].bytes, NULL);
    for (size_t k = 0; k < words; k++)
      *hash = (*hash ^ copy[k]) * 0x9e3779b97f4a7c15u, *hash ^= *hash >> 29;
    free(copy);
    if (status != RV_OK)
      return status;
  }
  return RV_OK;
}

/* --- Rows ------------------------------------------------------------------------------------- */

#define ROWS 512

static struct {
  char name[RVC_NAME];
  uint64_t *hashes; /* by run */
} rows[ROWS];
static int row_count, runs = 1000, is_second, plant = -1;

/* The row's hashes; its place is made the first time. */
static uint64_t *hashes_of(const char *name) {
  for (int i = 0; i < row_count; i++)
    if (strcmp(rows[i].name, name) == 0)
      return rows[i].hashes;
  if (is_second || row_count == ROWS)
    return NULL;
  snprintf(rows[row_count].name, sizeof rows[row_count].name, "%s", name);
  return rows[row_count++].hashes = rvc_memory(sizeof(uint64_t) * (size_t)runs);
}

static double repeat_row(RvCheck *check, const char *name, RvEngine engine, Run *run, void *user) {
  if (engine != RV_CUDA || !rvc_wants(check, name))
    return 0;
  uint64_t *hashes = hashes_of(name), before = 0, hash = 0;
  RvStream stream = NULL;
  if (!rvc_true(check, name, hashes && rv_stream_new(&stream) == RV_OK, "no stream, or a new row"))
    return 0;
  RvStatus status = hash_buffers(&before);
  int wrong = 0, changes = 0;
  for (int i = 0; i < runs && status == RV_OK; i++) {
    status = run(user, stream);
    status = status == RV_OK ? rv_stream_wait(stream) : status;
    status = status == RV_OK ? hash_buffers(&hash) : status;
    hash ^= is_second && i == plant;
    wrong += is_second && hash != hashes[i];
    changes += hash != before;
    hashes[i] = before = hash;
  }
  rv_stream_free(&stream);
  if (rvc_true(check, name, status == RV_OK, "%s", rv_status_text(status)) && is_second) {
    rvc_true(check, name, wrong == 0, "%d of %d frames have other bits", wrong, runs);
    printf("repeat: %s: %d frames twice, %d with other bits%s\n", name, runs, wrong,
           changes > 1 ? ", each after its own memory" : "");
    fflush(stdout);
    check->timed++;
  }
  return 0;
}

double __wrap_rvc_bench(RvCheck *check, const char *name, RvEngine engine, Run *run, void *user) {
  return repeat_row(check, name, engine, run, user);
}
double __wrap_rvc_bench_sequence(RvCheck *check, const char *name, RvEngine engine, int frames,
                                 Run *run, void *user) {
  (void)frames;
  return repeat_row(check, name, engine, run, user);
}

int main(int argc, char **argv) {
  RvCheck check = {.again = "repeat --only",
                   .seed = 1,
                   .cuda = 1,
                   .bench = 1,
                   .log_lock = PTHREAD_MUTEX_INITIALIZER};
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], "--only") == 0)
      check.only = argv[i + 1];
    else if (strcmp(argv[i], "--runs") == 0)
      runs = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--plant") == 0)
      plant = atoi(argv[i + 1]);
    else
      runs = 0;
  if (argc % 2 == 0 || runs < 1) {
    fprintf(stderr, "usage: repeat [--runs N] [--only NAME,...] [--plant RUN]   (77: no GPU)\n");
    return 2;
  }
  char reason[256] = "";
  if (rv_cuda_devices(reason, sizeof reason) == 0 || rv_cuda_use_device(0) != RV_OK) {
    printf("repeat: skipped: %s\n", reason);
    return 77;
  }
  for (is_second = 0; is_second < 2; is_second++)
    for (size_t i = 0; rvc_algorithm(i); i++)
      if (rvc_wants(&check, rvc_algorithm(i)->name) && rvc_algorithm(i)->bench)
        rvc_algorithm(i)->bench(&check);
  for (int i = 0; i < row_count; i++)
    free(rows[i].hashes);
  printf("repeat: %ld rows, %ld failures\n", check.timed, check.failures);
  return check.failures || check.timed == 0;
}
