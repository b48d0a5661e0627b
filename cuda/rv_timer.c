/* SPDX-License-Identifier: MIT */
/* rv_timer.c: times between marks, by CUDA events on a stream or by the clock of the CPU. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "rv_timer.h"

#include <time.h>

#include "rv_config.h"

struct RvTimer {
  RvEngine engine;
  int marks;                         /* at most RV_TIMER_MARKS */
  int made;                          /* marks of the last run */
  double at_us[RV_TIMER_MARKS];      /* RV_CPU */
  RvCudaEvent event[RV_TIMER_MARKS]; /* RV_CUDA */
};

#if !RV_HAVE_CUDA
RvStatus rv_cuda_event_new(RvCudaEvent *out) {
  *out = NULL;
  return RV_ERR_NO_DEVICE;
}

void rv_cuda_event_free(RvCudaEvent *event) {
  *event = NULL;
}

RvStatus rv_cuda_event_record(RvCudaEvent event, RvStream stream) {
  (void)event, (void)stream;
  return RV_ERR_NO_DEVICE;
}

RvStatus rv_cuda_event_span(RvCudaEvent from, RvCudaEvent to, double *us) {
  (void)from, (void)to, (void)us;
  return RV_ERR_NO_DEVICE;
}
#endif

RvStatus rv_timer_new(RvTimer **out, int marks, RvEngine engine) {
  *out = NULL;
  RvTimer *timer = marks <= RV_TIMER_MARKS ? rv_memory_object(sizeof *timer) : NULL;
  if (!timer)
    return marks <= RV_TIMER_MARKS ? RV_ERR_NO_MEMORY : RV_ERR_ARG;
  timer->engine = engine;
  timer->marks = marks;
  RvStatus status = RV_OK;
  for (int i = 0; i < marks && engine == RV_CUDA && status == RV_OK; i++)
    status = rv_cuda_event_new(&timer->event[i]);
  if (status != RV_OK)
    rv_timer_free(&timer);
  *out = timer;
  return status;
}

void rv_timer_free(RvTimer **timer) {
  if (!*timer)
    return;
  for (int i = 0; i < (*timer)->marks; i++)
    rv_cuda_event_free(&(*timer)->event[i]);
  rv_memory_free(*timer, RV_CPU);
  *timer = NULL;
}

RvStatus rv_timer_mark(RvTimer *timer, int i, RvStream stream) {
  if (!timer)
    return RV_OK;
  timer->made = i + 1;
  if (timer->engine == RV_CUDA)
    return rv_cuda_event_record(timer->event[i], stream);
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
    return RV_ERR_IO;
  timer->at_us[i] = 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
  return RV_OK;
}

RvStatus rv_timer_spans(const RvTimer *timer, double *us) {
  if (!timer || timer->made < timer->marks)
    return RV_ERR_ARG;
  for (int i = 0; i + 1 < timer->marks; i++) {
    if (timer->engine == RV_CUDA)
      RV_TRY(rv_cuda_event_span(timer->event[i], timer->event[i + 1], &us[i]));
    else
      us[i] = timer->at_us[i + 1] - timer->at_us[i];
  }
  return RV_OK;
}
