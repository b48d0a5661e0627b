/* SPDX-License-Identifier: MIT */
/* machine.cpp: what threads of a grid do together: warps, barriers, clusters, shared memory. */
#include "machine.h"

#include <stdarg.h>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulate {

Thread *self;
Grid *grid;
int turns_left;

static uint64_t random_state = 1;

void seed_random(unsigned long long seed) {
  random_state = seed * 0x9e3779b97f4a7c15u + 0x5851f42d4c957f2du;
}

uint32_t random_bits() { /* splitmix64 */
  uint64_t z = random_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)(z ^ z >> 31);
}

int lane() {
  return self->lane;
}

/* --- Waiting --------------------------------------------------------------------------------- */

void fail(Place place, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!self) {
    fprintf(stderr, "emulate: outside of a kernel: %s:%d: %s\n", place.file, place.line, text);
    abort();
  }
  char where[512];
  const uint3 &b = self->block->index, &t = self->index;
  snprintf(where, sizeof where,
           "%s:%d: block (%u, %u, %u) thread (%u, %u, %u): ", place.file ? place.file : "?",
           place.line, b.x, b.y, b.z, t.x, t.y, t.z);
  grid->report = std::string(where) + text;
  grid->has_failed = true;
  fiber_switch(&self->fiber, &grid->scheduler, true);
  abort();
}

void wait_as(State state, const char *what, uint32_t mask, Place place) {
  self->state = state;
  self->what = what;
  self->mask = mask;
  self->place = place;
  fiber_switch(&self->fiber, &grid->scheduler, false);
}

void wake(std::vector<Thread *> *threads) {
  shuffle(threads->data(), threads->size());
  for (Thread *thread : *threads) {
    thread->state = State::READY;
    thread->block->ready.push_back(thread);
  }
  threads->clear();
  progress();
}

void yield() {
  turns_left = 200;
  if (!self)
    return;
  grid->yields++;
  grid->has_yielded = true;
  self->block->ready.push_front(self);
  wait_as(State::READY, "running", 0, {});
}

void progress() {
  if (grid)
    grid->yields = 0;
}

/* --- Warps ----------------------------------------------------------------------------------- */

static const char *name_of(Operation operation) {
  static const char *const names[] = {"__syncwarp", "a shuffle",   "__ballot_sync",
                                      "__any_sync", "a reduction", "__match_any_sync"};
  return names[operation];
}

static bool is_complete(const Warp &warp, const Meeting &m) {
  return (m.mask & warp.live & ~m.arrived) == 0;
}

/* The meeting is complete: all lanes that wait for it go on. */
static void begin(Block *block, Warp *warp, Meeting *m) {
  std::vector<Thread *> lanes;
  const int first = (int)(warp - block->warps.data()) * WARP;
  for (uint32_t bits = m->arrived; bits; bits &= bits - 1) {
    Thread *thread = &block->threads[first + __builtin_ctz(bits)];
    if (thread != self)
      lanes.push_back(thread);
  }
  m->readers = __builtin_popcount(m->arrived);
  wake(&lanes);
}

Meeting *meet(Operation operation, uint32_t mask, uint64_t value, Place place) {
  Warp &warp = *self->warp;
  const uint32_t bit = 1u << self->lane;
  if (!(mask & bit))
    fail(place, "lane %d executes %s with mask %08x, which does not contain it", self->lane,
         name_of(operation), mask);
  Meeting *m = NULL;
  for (const auto &other : warp.meetings)
    if (other->mask == mask && !other->readers)
      m = other.get();
  if (!m) {
    if (warp.spare.empty())
      warp.spare.emplace_back(new Meeting);
    warp.meetings.push_back(std::move(warp.spare.back()));
    warp.spare.pop_back();
    m = warp.meetings.back().get();
    *m = Meeting{operation, mask, 0, 0, place, {}};
    for (int i = 0; i < WARP; i++)
      m->value[i] = 0xdeaddeaddeaddeadu; /* what lanes that are not there hold */
  }
  if (m->operation != operation)
    fail(place, "lane %d executes %s with mask %08x while lanes %08x execute %s at %s:%d",
         self->lane, name_of(operation), mask, m->arrived, name_of(m->operation), m->place.file,
         m->place.line);
  m->arrived |= bit;
  m->value[self->lane] = value;
  if (is_complete(warp, *m))
    begin(self->block, &warp, m);
  else
    wait_as(State::AT_MEETING, name_of(operation), mask, place);
  return m;
}

void leave(Meeting *m) {
  if (--m->readers)
    return;
  Warp &warp = *self->warp;
  for (auto &other : warp.meetings)
    if (other.get() == m) {
      std::swap(other, warp.meetings.back());
      warp.spare.push_back(std::move(warp.meetings.back()));
      warp.meetings.pop_back();
      return;
    }
}

/* --- Barriers -------------------------------------------------------------------------------- */

int barrier(int number, int threads, int value, Place place) {
  Block *block = self->block;
  const int expected = threads ? threads : (int)block->threads.size();
  if (number < 0 || number >= BARRIERS || (threads && threads % WARP))
    fail(place, "there is no barrier %d for %d threads", number, threads);
  Barrier &b = block->barriers[number];
  if (b.arrived == 0)
    b.expected = expected, b.place = place, b.sum = 0;
  if (b.expected != expected)
    fail(place, "barrier %d for %d threads, while others wait there for %d at %s:%d", number,
         expected, b.expected, b.place.file, b.place.line);
  if (number == 0 && !threads && b.place.line != place.line)
    fail(place, "divergent barrier: others wait in the one at %s:%d", b.place.file, b.place.line);
  if (!threads && block->live < expected)
    fail(place, "divergent barrier: %d threads of the block have returned", expected - block->live);
  b.sum += value;
  if (++b.arrived == b.expected) {
    b.arrived = 0;
    b.result = b.sum;
    wake(&b.waiting);
  } else {
    b.waiting.push_back(self);
    wait_as(State::AT_BARRIER, "barrier", (uint32_t)number, place);
  }
  return b.result;
}

void cluster_barrier(Place place) {
  Cluster &c = *self->block->cluster;
  if (++c.arrived == c.threads) {
    c.arrived = 0;
    wake(&c.waiting);
    return;
  }
  c.waiting.push_back(self);
  wait_as(State::AT_CLUSTER, "cluster.sync", 0, place);
}

unsigned cluster_blocks() {
  return (unsigned)self->block->cluster->blocks.size();
}
unsigned cluster_rank() {
  return self->block->rank;
}

void thread_left(Thread *thread) {
  Block *block = thread->block;
  Warp &warp = *thread->warp;
  warp.live &= ~(1u << thread->lane);
  block->live--;
  const Barrier &all = block->barriers[0];
  if (all.arrived && all.expected == (int)block->threads.size())
    fail(all.place, "divergent barrier: this thread has returned while others wait there");
  for (size_t i = 0; i < warp.meetings.size(); i++)
    if (!warp.meetings[i]->readers && is_complete(warp, *warp.meetings[i]))
      begin(block, &warp, warp.meetings[i].get());
  progress();
}

/* --- Shared memory --------------------------------------------------------------------------- */

char *dynamic_shared() {
  return self->block->memory.data() + DYNAMIC_AT;
}

int next_static() {
  static int count;
  return count++;
}

void *static_shared(int id, size_t bytes, size_t align) {
  if (grid->statics.size() <= (size_t)id)
    grid->statics.resize((size_t)id + 1);
  uint32_t &at = grid->statics[id];
  if (!at) {
    at = (uint32_t)((grid->static_end + align - 1) / align * align);
    grid->static_end = at + (uint32_t)bytes + RED_ZONE;
    if (grid->static_end > STATIC_AT + STATIC_BYTES)
      fail({}, "more than 48 KiB of static shared memory");
  }
  RV_EMULATE_ALLOW(self->block->memory.data() + at, bytes);
  return self->block->memory.data() + at;
}

uint32_t shared_address(const void *generic) {
  const ptrdiff_t at = (const char *)generic - self->block->memory.data();
  if (at < 0 || at > (ptrdiff_t)self->block->memory.size())
    fail({}, "not an address of shared memory: %p", generic);
  return (uint32_t)at;
}

char *shared_at(uint32_t address) {
  if (address < STATIC_AT || address >= self->block->memory.size())
    fail({}, "address %u is not in shared memory", address);
  return self->block->memory.data() + address;
}

void *cluster_shared(void *mine, unsigned rank) {
  const uint32_t at = shared_address(mine);
  Cluster &c = *self->block->cluster;
  if (rank >= c.blocks.size())
    fail({}, "the cluster has no block %u", rank);
  return c.blocks[rank]->memory.data() + at;
}

/* --- Asynchronous copies --------------------------------------------------------------------- */

static void copy_now(const Copy &copy) {
  memcpy(copy.to, copy.from, copy.bytes - copy.zeros);
  memset((char *)copy.to + copy.bytes - copy.zeros, 0, copy.zeros);
}

void copy_later(void *to, const void *from, size_t bytes, size_t zeros) {
  self->copies.push_back({to, from, bytes, zeros, false});
}

static void copies_finish() {
  for (const Copy &copy : self->copies)
    if (!copy.is_committed)
      copy_now(copy);
  self->copies.clear();
}

void copies_commit() {
  self->copies.push_back({NULL, NULL, 0, 0, true});
}

/* Less than 0: also what is not committed. */
void copies_wait(int groups_left) {
  if (groups_left < 0) {
    copies_finish();
    return;
  }
  int groups = 0;
  for (const Copy &copy : self->copies)
    groups += copy.is_committed;
  while (groups > groups_left) {
    const Copy copy = self->copies.front();
    self->copies.pop_front();
    if (copy.is_committed)
      groups--;
    else
      copy_now(copy);
  }
}

} // namespace emulate
