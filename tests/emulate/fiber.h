/* SPDX-License-Identifier: MIT */
/* fiber.h: execution contexts with stacks of their own that one OS thread switches between. */
#ifndef RV_EMULATE_FIBER_H
#define RV_EMULATE_FIBER_H

#include <stddef.h>

namespace emulate {

#if defined(__SANITIZE_ADDRESS__)
enum { STACK_BYTES = 256 * 1024 };
#else
enum { STACK_BYTES = 64 * 1024 };
#endif

/* A context that is not running: all that a switch needs to go on with it. */
struct Fiber {
  void *at;       /* stack pointer, or ucontext_t */
  void *stack;    /* lowest address; NULL for the scheduler */
  void *shadowed; /* of AddressSanitizer */
};

/* The first switch to `fiber` calls `entry`, which must not return. `stack` has STACK_BYTES. */
void fiber_prepare(Fiber *fiber, void *stack, void (*entry)(void));

/* Suspends `from` and goes on with `to`. is_last: `from` will not be resumed. */
void fiber_switch(Fiber *from, Fiber *to, bool is_last);

/* First call of an entry function: completes the switch to it. */
void fiber_entered(Fiber *scheduler);

/* Stacks are kept for the next fiber; the one given back last comes first. */
void *stack_take(void);

/* False when the fiber has used more than its stack. */
bool stack_give(void *stack);

} // namespace emulate

#endif
