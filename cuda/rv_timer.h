/* SPDX-License-Identifier: MIT */
/* rv_timer.h: the time of each stage of a run. Not installed. */
#ifndef RV_TIMER_H
#define RV_TIMER_H

#include "rv_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RV_TIMER_MARKS 8 /* at most */

typedef struct RvTimer RvTimer;

/* *out is NULL after a failure. RV_CUDA: on the current device. */
RvStatus rv_timer_new(RvTimer **out, int marks, RvEngine engine);
void rv_timer_free(RvTimer **timer);

/* Mark i of this run, in order from 0 on; on RV_CUDA enqueued on the stream. Neither allocates nor
 * waits. NULL: nothing is measured. */
RvStatus rv_timer_mark(RvTimer *timer, int i, RvStream stream);

/* us from each mark to the next, marks - 1 values. RV_ERR_ARG without a complete run. On RV_CUDA
 * the stream has passed, and the device is current. */
RvStatus rv_timer_spans(const RvTimer *timer, double *us);

/* In rv_cuda.cu. */
typedef void *RvCudaEvent;
RvStatus rv_cuda_event_new(RvCudaEvent *out);
void rv_cuda_event_free(RvCudaEvent *event); /* may hold NULL */
RvStatus rv_cuda_event_record(RvCudaEvent event, RvStream stream);
RvStatus rv_cuda_event_span(RvCudaEvent from, RvCudaEvent to, double *us);

#ifdef __cplusplus
}
#endif
#endif
