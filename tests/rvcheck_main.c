/* SPDX-License-Identifier: MIT */
/* rvcheck_main.c: the program: options, every algorithm's cases in turn, the summary. */
#include "rvcheck_run.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: rvcheck [--only NAME,...] [--engine auto|cpu|cuda] [--bench] [--small]\n"
    "               [--sms N] [--seed N|random] [--verbose] [--list]\n"
    "Verifies the CPU engine and, on a machine with a GPU, that the CUDA engine gives the same "
    "bits.\n"
    "  --only     algorithms, stages or rows, such as sgm, sgm/census, 'sgm/1242*'\n"
    "  --engine   cpu: CPU engine alone; cuda: exit 77 when there is no GPU; default auto\n"
    "  --bench    time instead of verify: bench NAME ENGINE median_us=X p95_us=Y\n"
    "  --model    fit the time model of one algorithm on this GPU: its name\n"
    "  --sms      on as many multiprocessors of the GPU as given (a green context; rows NAME-smN)\n"
    "  --small    small inputs only (for sanitizers)\n"
    "  --seed     of the random inputs; default 1\n"
    "Exit status: 0 all good, 1 a failure or nothing ran, 2 bad usage, 77 engine not there.\n";

static int parse_seed(const char *text, uint64_t *seed) {
  if (strcmp(text, "random") == 0) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    return 1;
  }
  char *end = NULL;
  errno = 0;
  *seed = strtoull(text, &end, 0);
  return errno == 0 && end != text && *end == '\0';
}

static void list_algorithms(void) {
  for (size_t i = 0; rvc_algorithm(i); i++)
    printf("%s\n", rvc_algorithm(i)->name);
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, RvCheck *check, const char **engine) {
  const struct option options[] = {
      {"only", required_argument, NULL, 'o'},
      {"engine", required_argument, NULL, 'e'},
      {"bench", no_argument, &check->bench, 1},
      {"model", required_argument, NULL, 'm'},
      {"sms", required_argument, NULL, 's'},
      {"small", no_argument, &check->small, 1},
      {"seed", required_argument, NULL, 'n'},
      {"verbose", no_argument, &check->verbose, 1},
      {"list", no_argument, NULL, 'l'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (c) {
    case 'o':
      check->only = optarg;
      break;
    case 'e':
      *engine = optarg;
      break;
    case 0: /* getopt_long has set its flag */
      break;
    case 'm':
      check->model = 1;
      check->only = optarg;
      break;
    case 's':
      check->sms = atoi(optarg);
      if (check->sms > 0)
        break;
      fprintf(stderr, "rvcheck: --sms takes a number above 0\n");
      return 2;
    case 'n':
      if (parse_seed(optarg, &check->seed))
        break;
      fprintf(stderr, "rvcheck: --seed takes a number or the word random\n");
      return 2;
    case 'l':
      list_algorithms();
      return 0;
    case 'h':
      fputs(usage, stdout);
      return 0;
    default:
      fputs(usage, stderr);
      return 2;
    }
  }
  const int known =
      strcmp(*engine, "auto") == 0 || strcmp(*engine, "cpu") == 0 || strcmp(*engine, "cuda") == 0;
  if (optind == argc && known)
    return -1;
  fputs(usage, stderr);
  return 2;
}

/* Chooses the engines and prints what takes part; -1, or 77. */
static int choose_engine(RvCheck *check, const char *engine) {
  char text[256] = "";
  check->cpu_timed = strcmp(engine, "cuda") != 0;
  check->cuda = strcmp(engine, "cpu") != 0 && rv_cuda_devices(text, sizeof text) > 0 &&
                rv_cuda_use_device(0) == RV_OK;
  if (check->cuda && check->sms > 0 && !rvc_cuda_limit(&check->sms, text, sizeof text)) {
    printf("rvcheck: skipped, --sms: %s\n", text);
    return 77;
  }
  if (check->cuda) {
    rvc_cuda_describe(text, sizeof text);
    printf("rvcheck: CUDA: %s\n", text);
    if (check->sms > 0)
      printf("rvcheck: on %d multiprocessors\n", check->sms);
  } else if (strcmp(engine, "cuda") == 0) {
    printf("rvcheck: skipped, --engine cuda: %s\n", text[0] ? text : "no usable CUDA device");
    return 77;
  } else if (strcmp(engine, "auto") == 0) {
    printf("rvcheck: CPU engine alone, CUDA is not compared: %s\n", text);
  }
  return -1;
}

static void run_algorithm(RvCheck *check, const RvCases *algorithm) {
  if (!rvc_wants(check, algorithm->name))
    return;
  const long checks = check->checks, failures = check->failures;
  const double start = rvc_now_us();
  void (*const part)(RvCheck *) =
      check->bench || check->model ? algorithm->bench : algorithm->parity;
  if (!part)
    return;
  part(check);
  if (!check->bench)
    printf("rvcheck: %s: %ld checks, %ld failed, %s, %.1f s\n", algorithm->name,
           check->checks - checks, check->failures - failures, check->cuda ? "cpu and cuda" : "cpu",
           (rvc_now_us() - start) * 1e-6);
  fflush(stdout);
}

int main(int argc, char **argv) {
  RvCheck check = {.again = "rvcheck --only", .seed = 1, .log_lock = PTHREAD_MUTEX_INITIALIZER};
  const char *engine = "auto";
  int status = parse(argc, argv, &check, &engine);
  if (status < 0)
    status = choose_engine(&check, engine);
  if (status >= 0)
    return status;
  printf("rvcheck: seed %llu%s\n", (unsigned long long)check.seed, check.small ? ", small" : "");
  fflush(stdout);

  for (size_t i = 0; rvc_algorithm(i); i++)
    run_algorithm(&check, rvc_algorithm(i));

  if (check.bench)
    printf("rvcheck: %ld rows timed, %ld failed\n", check.timed, check.failures);
  else
    printf("rvcheck: %ld checks, %ld failed\n", check.checks, check.failures);
  if (check.checks + check.timed == 0) {
    printf("rvcheck: nothing ran%s%s\n", check.only ? "; no case matches " : "",
           check.only ? check.only : "");
    return 1;
  }
  return check.failures ? 1 : 0;
}
