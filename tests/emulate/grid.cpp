/* SPDX-License-Identifier: MIT */
/* grid.cpp: runs the blocks of a grid and reports why one cannot go on. */
#include "machine.h"

#include <mutex>

namespace emulate {

/* Blocks that run at the same time where they need not: others begin when one ends. */
enum { TOGETHER = 3 };
/* A grid whose threads only spin for so long is stuck. */
static const unsigned long long YIELDS_MAX = 5000000;

static std::string report_of_last;

const char *last_report() {
  return report_of_last.c_str();
}

/* --- Threads --------------------------------------------------------------------------------- */

static void thread_main() {
  fiber_entered(&grid->scheduler);
  grid->launch->call(grid->launch->arguments);
  self->copies.clear(); /* nobody may rely on those that were not waited for */
  self->state = State::DONE;
  thread_left(self);
  fiber_switch(&self->fiber, &grid->scheduler, true);
}

static void start_block(Block *block, Cluster *cluster, uint3 index, unsigned rank) {
  const dim3 &dim = grid->launch->block;
  const size_t threads = (size_t)dim.x * dim.y * dim.z;
  block->grid = grid;
  block->cluster = cluster;
  block->index = index;
  block->rank = rank;
  block->live = (int)threads;
  block->threads.resize(threads);
  block->warps.resize((threads + WARP - 1) / WARP);
  RV_EMULATE_ALLOW(block->memory.data(), block->memory.size());
  block->memory.assign(DYNAMIC_AT + grid->launch->shared, (char)0xcb);
  RV_EMULATE_FORBID(block->memory.data(), DYNAMIC_AT);
  std::vector<Thread *> all;
  for (size_t i = 0; i < threads; i++) {
    Thread *t = &block->threads[i];
    t->block = block;
    t->number = (int)i;
    t->lane = (int)i % WARP;
    t->warp = &block->warps[i / WARP];
    t->warp->live |= 1u << t->lane;
    t->index = {(unsigned)i % dim.x, (unsigned)i / dim.x % dim.y, (unsigned)i / dim.x / dim.y};
    t->fiber = {};
    t->state = State::NEW;
    all.push_back(t);
  }
  shuffle(all.data(), all.size());
  block->ready.assign(all.begin(), all.end());
}

/* Goes on with a thread until it waits, returns or fails. */
static void run_thread(Thread *thread) {
  if (thread->state == State::NEW) {
    fiber_prepare(&thread->fiber, stack_take(), thread_main);
    thread->state = State::READY;
  }
  self = thread;
  threadIdx = thread->index;
  blockIdx = thread->block->index;
  turns_left = 200;
  fiber_switch(&grid->scheduler, &thread->fiber, false);
  self = NULL;
  if (thread->state != State::DONE)
    return;
  if (!stack_give(thread->fiber.stack) && !grid->has_failed) {
    grid->has_failed = true;
    grid->report = "a thread needs more stack than the emulator has";
  }
  thread->fiber.stack = NULL;
}

/* Runs a block until all its threads wait, or only spin. True when one of them ran. Those that were
 * woken last come first: a warp runs ahead of the others as far as it can, so that a barrier that is
 * missing between a read and the next write shows. */
static bool run_block(Block *block) {
  bool has_run = false;
  while (!block->ready.empty() && !grid->has_failed) {
    grid->has_yielded = false;
    for (size_t n = block->ready.size(); n > 0 && !grid->has_failed; n--) {
      Thread *thread = block->ready.back();
      block->ready.pop_back();
      run_thread(thread);
      has_run = true;
    }
    if (grid->has_yielded) /* even if others went on: what it waits for may be in another block */
      break;
  }
  return has_run;
}

/* --- Grids ----------------------------------------------------------------------------------- */

static void describe(std::string *text, const Thread &t, uint32_t lanes) {
  char line[512];
  const uint3 &b = t.block->index;
  snprintf(line, sizeof line, "\n  block (%u, %u, %u) warp %d lanes %08x: ", b.x, b.y, b.z,
           t.number / WARP, lanes);
  *text += line;
  if (t.state == State::READY || t.state == State::NEW)
    snprintf(line, sizeof line, "spin");
  else if (t.state == State::AT_MEETING)
    snprintf(line, sizeof line, "wait in %s with mask %08x at %s:%d", t.what, t.mask, t.place.file,
             t.place.line);
  else if (t.state == State::AT_BARRIER)
    snprintf(line, sizeof line, "wait at barrier %u at %s:%d", t.mask, t.place.file, t.place.line);
  else
    snprintf(line, sizeof line, "wait in %s at %s:%d", t.what, t.place.file, t.place.line);
  *text += line;
}

/* Groups the lanes of each warp that wait for the same. */
static std::string report_of(const char *title) {
  std::string text = title;
  int lines = 0;
  for (const auto &cluster : grid->alive)
    for (const Block *block : cluster->blocks)
      for (size_t first = 0; first < block->threads.size(); first += WARP) {
        uint32_t done = 0;
        for (size_t i = first; i < first + WARP && i < block->threads.size(); i++) {
          const Thread &t = block->threads[i];
          if (done >> t.lane & 1 || t.state == State::DONE)
            continue;
          uint32_t same = 0;
          for (size_t k = i; k < first + WARP && k < block->threads.size(); k++) {
            const Thread &o = block->threads[k];
            if (o.state == t.state && o.mask == t.mask && o.place.line == t.place.line)
              same |= 1u << o.lane;
          }
          done |= same;
          if (++lines <= 24)
            describe(&text, t, same);
        }
      }
  if (lines > 24)
    text += "\n  ...";
  return text;
}

static uint3 index_of(unsigned long long number, const dim3 &grid_dim) {
  return {(unsigned)(number % grid_dim.x), (unsigned)(number / grid_dim.x % grid_dim.y),
          (unsigned)(number / grid_dim.x / grid_dim.y)};
}

/* The blocks of a cluster lie side by side in x. */
static void start_cluster(std::unique_ptr<Cluster> cluster, unsigned long long number) {
  const Launch &launch = *grid->launch;
  const dim3 clusters(launch.grid.x / launch.cluster, launch.grid.y, launch.grid.z);
  const uint3 at = index_of(number, clusters);
  cluster->arrived = 0;
  cluster->threads = (int)(launch.cluster * launch.block.x * launch.block.y * launch.block.z);
  while (cluster->blocks.size() < launch.cluster)
    cluster->blocks.push_back(new Block());
  for (unsigned rank = 0; rank < launch.cluster; rank++)
    start_block(cluster->blocks[rank], cluster.get(), {at.x * launch.cluster + rank, at.y, at.z},
                rank);
  grid->alive.push_back(std::move(cluster));
}

static bool is_over(const Cluster &cluster) {
  for (const Block *block : cluster.blocks)
    if (block->live)
      return false;
  return true;
}

/* One turn of all blocks that are alive; clusters that are over go to `spare`. */
static void run_alive(std::vector<std::unique_ptr<Cluster>> *spare) {
  bool has_run = false;
  for (size_t i = 0; i < grid->alive.size() && !grid->has_failed;) {
    Cluster &cluster = *grid->alive[i];
    for (Block *block : cluster.blocks)
      has_run |= run_block(block);
    if (is_over(cluster)) {
      spare->push_back(std::move(grid->alive[i]));
      grid->alive.erase(grid->alive.begin() + (ptrdiff_t)i);
      has_run = true;
    } else {
      i++;
    }
  }
  if (grid->has_failed)
    return;
  if (!has_run || grid->yields > YIELDS_MAX) {
    grid->has_failed = true;
    grid->report = report_of(has_run ? "livelock: threads only spin" : "deadlock");
  }
}

static void free_cluster(Cluster *cluster) {
  for (Block *block : cluster->blocks) {
    for (Thread &thread : block->threads)
      if (thread.fiber.stack)
        (void)stack_give(thread.fiber.stack);
    RV_EMULATE_ALLOW(block->memory.data(), block->memory.size());
    delete block;
  }
  cluster->blocks.clear();
}

static void run_blocks(const Launch &launch) {
  const unsigned long long clusters =
      (unsigned long long)launch.grid.x / launch.cluster * launch.grid.y * launch.grid.z;
  const size_t together = launch.is_cooperative ? (size_t)clusters : (size_t)TOGETHER;
  std::vector<unsigned long long> order(clusters);
  for (unsigned long long i = 0; i < clusters; i++)
    order[i] = i;
  shuffle(order.data(), order.size());
  std::vector<std::unique_ptr<Cluster>> spare;
  size_t next = 0;
  while ((next < clusters || !grid->alive.empty()) && !grid->has_failed) {
    while (next < clusters && grid->alive.size() < together) {
      if (spare.empty())
        spare.emplace_back(new Cluster());
      std::unique_ptr<Cluster> cluster = std::move(spare.back());
      spare.pop_back();
      start_cluster(std::move(cluster), order[next++]);
    }
    run_alive(&spare);
  }
  for (const auto &cluster : grid->alive)
    free_cluster(cluster.get());
  for (const auto &cluster : spare)
    free_cluster(cluster.get());
}

int run(const Launch &launch) {
  static std::mutex lock; /* the host may launch from several threads */
  const std::lock_guard<std::mutex> guard(lock);
  Grid now = {};
  now.launch = &launch;
  now.static_end = STATIC_AT;
  grid = &now;
  blockDim = launch.block;
  gridDim = launch.grid;
  seed_random(device().seed);
  run_blocks(launch);
  grid = NULL;
  if (!now.has_failed)
    return 0;
  report_of_last = now.report;
  fprintf(stderr, "emulate: %s\n", now.report.c_str());
  return 719; /* cudaErrorLaunchFailure */
}

} // namespace emulate
