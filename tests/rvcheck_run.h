/* SPDX-License-Identifier: MIT */
/* rvcheck_run.h: the inside of RvCheck, shared by the files of the driver. Cases do not see it. */
#ifndef RVCHECK_RUN_H
#define RVCHECK_RUN_H

#include <pthread.h>

#include "rvcheck.h"

#define RVC_NAME 128
#define RVC_LINE 512

struct RvCheck {
  const char *again; /* what a failure prints before its name and seed: how to run it */
  const char *only;  /* comma-separated names, NULL: all */
  uint64_t seed;
  int cpu_timed; /* --engine auto or cpu */
  int cuda;      /* the CUDA engine takes part */
  int bench;     /* --bench */
  int model;     /* --model */
  int sms;       /* --sms, those that were had; 0: all */
  int small;     /* --small */
  int verbose;   /* --verbose */
  long checks;   /* results so far, good and bad */
  long failures; /* bad ones */
  long timed;    /* benchmark lines printed */
  pthread_mutex_t log_lock;
  char current[RVC_NAME];   /* the case that ran last, for the log */
  char last_line[RVC_LINE]; /* the library's last log line of this case */
};

/* The cases of an algorithm; NULL past the last. */
const RvCases *rvc_algorithm(size_t index);

/* One line about the GPU and its driver; empty without. */
void rvc_cuda_describe(char *text, size_t size);

/* Makes a green context of at least *sms multiprocessors, the number that was had, current in this
 * thread until the program ends; 0 and a reason when there is none. */
int rvc_cuda_limit(int *sms, char *reason, size_t size);

/* Times single runs with CUDA events; fills at most `room` values in µs and returns their number,
 * 0 after a failure (with *status). */
int rvc_time_cuda(double *us, int room, double seconds, RvStatus *status,
                  RvStatus (*run)(void *user, RvStream stream), void *user);

/* Monotonic clock, µs. */
double rvc_now_us(void);

#endif
