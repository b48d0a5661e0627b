/* SPDX-License-Identifier: MIT */
/* emulate_machine.h: threads, warps, blocks and grids of the emulated GPU, as device code sees them
 * (cuda_runtime.h) and the host launches them. docs/testing.md explains the whole.
 *
 * Every CUDA thread is a fiber; one OS thread runs them all, so that accesses to memory need no
 * lock and a run can be repeated. A fiber runs until it waits for others. */
#ifndef RV_EMULATE_MACHINE_H
#define RV_EMULATE_MACHINE_H

#include "emulate_types.h"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
      : x(of_x), y(of_y), z(of_z) {}
};

/* Of the thread that runs. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulate {

/* Where device code called an operation; a default argument finds it. */
struct Place {
  const char *file;
  int line;
  static Place here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/* Operations of a warp, for comparison and for reports. */
enum Operation { SYNCWARP, SHUFFLE, BALLOT, ANY, REDUCE, MATCH };

/* Lanes of a warp that execute one operation together. It begins when all lanes of the mask that
 * still run have arrived. */
struct Meeting {
  Operation operation;
  uint32_t mask, arrived;
  int readers; /* lanes that have not yet read the values */
  Place place; /* of the first lane */
  uint64_t value[32];
};

struct Block;
struct Grid;
struct Thread;

/* --- Device operations ----------------------------------------------------------------------- */

/* Arrives, waits for the others, and gives the meeting with everyone's value. `leave` must follow. */
Meeting *meet(Operation operation, uint32_t mask, uint64_t value, Place place);
void leave(Meeting *meeting);
int lane();

/* Barrier `number` of the block for `threads`, 0: all. Sum over the threads of `value`. */
int barrier(int number, int threads, int value, Place place);

/* Barrier of all threads of a cluster; its size; the rank of this block. */
void cluster_barrier(Place place);
unsigned cluster_blocks();
unsigned cluster_rank();
/* The same variable of shared memory in another block of the cluster. */
void *cluster_shared(void *mine, unsigned rank);

/* Shared memory of this block: of the launch, and variable number `id` of the program. */
char *dynamic_shared();
void *static_shared(int id, size_t bytes, size_t align);
int next_static();
template <class T> inline T *shared() {
  static const int id = next_static();
  return (T *)static_shared(id, sizeof(T), alignof(T));
}
uint32_t shared_address(const void *generic);
char *shared_at(uint32_t address);

/* Lets others run. `turn` is in the condition of every loop: what waits there goes on waiting until
 * another thread has written. */
void yield();
extern int turns_left;
static inline void turn() {
  if (--turns_left < 0)
    yield();
}
/* Something was written that others may wait for. */
void progress();

/* Asynchronous copies to shared memory of this thread: they happen as late as is allowed. */
void copy_later(void *to, const void *from, size_t bytes, size_t zeros);
void copies_commit();
void copies_wait(int groups_left);

/* Pseudo-random numbers of the run, for results that hardware leaves open. */
uint32_t random_bits();

/* Ends the grid with an error: text, block, thread and place. */
[[noreturn]] void fail(Place place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- Launches -------------------------------------------------------------------------------- */

struct Launch {
  dim3 grid, block;
  size_t shared;
  bool is_cooperative;
  unsigned cluster; /* blocks */
  const void *kernel;
  void (*call)(const void *arguments); /* calls the kernel */
  const void *arguments;
};

/* Runs a grid to its end; 0, or the error that cudaGetLastError then gives. */
int run(const Launch &launch);

/* The last error's report; empty without. */
const char *last_report();

/* The device: from the environment (docs/testing.md). */
struct Device {
  int major, minor, processors;
  size_t shared_block, shared_processor;
  unsigned long long seed;
};
const Device &device();

/* Blocks of a launch that a multiprocessor holds. */
int occupancy(unsigned threads, size_t shared);

} // namespace emulate

#endif
