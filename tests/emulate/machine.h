/* SPDX-License-Identifier: MIT */
/* machine.h: the inside of emulate_machine.h. */
#ifndef RV_EMULATE_INSIDE_H
#define RV_EMULATE_INSIDE_H

#include "emulate_machine.h"
#include "fiber.h"

#include <deque>
#include <memory>
#include <string>
#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/asan_interface.h>
#endif

namespace emulate {

enum { WARP = 32, BARRIERS = 16, THREADS_MAX = 1024 };

/* Addresses of shared memory: static variables, a gap, then that of the launch. */
enum { STATIC_AT = 1024, STATIC_BYTES = 48 * 1024, DYNAMIC_AT = STATIC_AT + STATIC_BYTES + 1024 };

/* For AddressSanitizer: what lies between variables of shared memory is not to be touched. */
#if defined(__SANITIZE_ADDRESS__)
enum { RED_ZONE = 64 };
#  define RV_EMULATE_FORBID(at, bytes) ASAN_POISON_MEMORY_REGION(at, bytes)
#  define RV_EMULATE_ALLOW(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#else
enum { RED_ZONE = 0 };
#  define RV_EMULATE_FORBID(at, bytes) ((void)(at), (void)(bytes))
#  define RV_EMULATE_ALLOW(at, bytes) ((void)(at), (void)(bytes))
#endif

enum class State { NEW, READY, AT_MEETING, AT_BARRIER, AT_CLUSTER, DONE };

struct Warp {
  uint32_t live = 0; /* lanes that have not returned */
  std::vector<std::unique_ptr<Meeting>> meetings, spare;
};

struct Copy {
  void *to;
  const void *from;
  size_t bytes, zeros;
  bool is_committed; /* the last one of a group */
};

struct Thread {
  Fiber fiber;
  Block *block;
  Warp *warp;
  uint3 index;
  int lane, number; /* in the warp, in the block */
  State state;
  const char *what; /* it waits for */
  Place place;
  uint32_t mask; /* AT_MEETING; AT_BARRIER: its number */
  std::deque<Copy> copies;
};

struct Barrier {
  int arrived = 0, expected = 0, sum = 0, result = 0;
  Place place = {};
  std::vector<Thread *> waiting;
};

struct Cluster {
  int arrived = 0, threads = 0;
  std::vector<Block *> blocks;
  std::vector<Thread *> waiting;
};

struct Block {
  Grid *grid;
  Cluster *cluster;
  uint3 index;
  unsigned rank;
  int live; /* threads that have not returned */
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  Barrier barriers[BARRIERS];
  std::deque<Thread *> ready;
  std::vector<char> memory; /* shared */
};

struct Grid {
  const Launch *launch;
  Fiber scheduler;
  bool has_failed;
  std::string report;
  std::vector<std::unique_ptr<Cluster>> alive;
  std::vector<uint32_t> statics; /* address of variable `id`, 0: none yet */
  uint32_t static_end;
  unsigned long long yields; /* since something happened */
  bool has_yielded;          /* in the present turn of a block */
};

extern Grid *grid;
extern Thread *self; /* the running thread, NULL: the host */

/* Suspends this thread until another has set it READY. */
void wait_as(State state, const char *what, uint32_t mask, Place place);

/* Puts threads that waited into the queues of their blocks, in an order of the seed. */
void wake(std::vector<Thread *> *threads);

/* What a returning thread means for those that wait for it. */
void thread_left(Thread *thread);

void seed_random(unsigned long long seed);
template <class T> void shuffle(T *values, size_t count) {
  for (size_t i = count; i > 1; i--)
    std::swap(values[i - 1], values[random_bits() % i]);
}

} // namespace emulate

#endif
