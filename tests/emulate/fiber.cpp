/* SPDX-License-Identifier: MIT */
/* fiber.cpp: see fiber.h. x86-64 switches by hand in a few ns; other processors use ucontext. */
#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/asan_interface.h>
#  include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#  include <ucontext.h>
#endif

namespace emulate {

/* --- Stacks ---------------------------------------------------------------------------------- */

namespace {
const uint64_t CANARY = 0x5ca1ab1e0ddba115u;
enum { CANARIES = 8, CHUNK = 64 };

std::vector<void *> &free_stacks() {
  static std::vector<void *> stacks;
  return stacks;
}
} // namespace

void *stack_take(void) {
  std::vector<void *> &stacks = free_stacks();
  if (stacks.empty()) {
    char *chunk = (char *)mmap(NULL, (size_t)CHUNK * STACK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunk == MAP_FAILED) {
      fprintf(stderr, "emulate: no memory for stacks\n");
      abort();
    }
    for (int i = CHUNK - 1; i >= 0; i--) {
      uint64_t *lowest = (uint64_t *)(chunk + (size_t)i * STACK_BYTES);
      for (int k = 0; k < CANARIES; k++)
        lowest[k] = CANARY;
      stacks.push_back(lowest);
    }
  }
  void *stack = stacks.back();
  stacks.pop_back();
  return stack;
}

bool stack_give(void *stack) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(stack, STACK_BYTES);
#endif
  free_stacks().push_back(stack);
  for (int k = 0; k < CANARIES; k++)
    if (((const uint64_t *)stack)[k] != CANARY)
      return false;
  return true;
}

/* --- Switches -------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Saves what the callee must preserve and the stack pointer; loads those of the other. */
extern "C" void emulate_switch(void **from, void *to);
asm(".text\n"
    ".type emulate_switch, @function\n"
    "emulate_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size emulate_switch, .-emulate_switch\n");

void fiber_prepare(Fiber *fiber, void *stack, void (*entry)(void)) {
  void **top = (void **)((char *)stack + STACK_BYTES);
  *--top = NULL; /* where a return address would be: aligns the stack as a call does */
  *--top = (void *)entry;
  for (int i = 0; i < 6; i++)
    *--top = NULL;
  *fiber = {top, stack, NULL};
}

static void jump(Fiber *from, Fiber *to) {
  emulate_switch(&from->at, to->at);
}
#else
void fiber_prepare(Fiber *fiber, void *stack, void (*entry)(void)) {
  ucontext_t *context = (ucontext_t *)((char *)stack + STACK_BYTES - sizeof(ucontext_t) - 64);
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = (size_t)((char *)context - (char *)stack) & ~(size_t)63;
  context->uc_link = NULL;
  makecontext(context, entry, 0);
  *fiber = {context, stack, NULL};
}

static void jump(Fiber *from, Fiber *to) {
  static ucontext_t scheduler;
  if (!from->at)
    from->at = &scheduler;
  swapcontext((ucontext_t *)from->at, (ucontext_t *)to->at);
}
#endif

#if defined(__SANITIZE_ADDRESS__)
/* The stack of the scheduler, for AddressSanitizer: known once the first fiber has been entered. */
static const void *scheduler_stack;
static size_t scheduler_bytes;

void fiber_switch(Fiber *from, Fiber *to, bool is_last) {
  __sanitizer_start_switch_fiber(is_last ? NULL : &from->shadowed,
                                 to->stack ? to->stack : scheduler_stack,
                                 to->stack ? (size_t)STACK_BYTES : scheduler_bytes);
  jump(from, to);
  __sanitizer_finish_switch_fiber(from->shadowed, NULL, NULL);
}

void fiber_entered(Fiber *) {
  __sanitizer_finish_switch_fiber(NULL, &scheduler_stack, &scheduler_bytes);
}
#else
void fiber_switch(Fiber *from, Fiber *to, bool) {
  jump(from, to);
}

void fiber_entered(Fiber *) {}
#endif

} // namespace emulate
