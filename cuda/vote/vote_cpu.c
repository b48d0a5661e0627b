/* SPDX-License-Identifier: MIT */
/* vote_cpu.c: the CPU engine of voting: each thread votes into bins of its own over a share of the
 * rows (the input split of the paper), then the copies are added. */
#include "vote/vote_stages.h"

#include <string.h>

#define COPIES 2 /* of each bin in turn: a bin hit twice in a row need not wait for its store */
#define PARALLEL_ELEMENTS 65536 /* below this a parallel region costs more than it gives */

/* One function per algorithm: votes of rows y0 .. y1 - 1 into `bins`, COPIES of each. Number votes
 * for the same bin in a row are added up before. */
#define RV_VOTE(name, test, bin, value, element, bin_type, count, unity)                           \
  static void name##_rows(const RvVoteGeometry *p, const RvPlane *in, int y0, int y1,              \
                          void *memory) {                                                          \
    bin_type *bins = memory;                                                                       \
    for (int y = y0; y < y1; y++) {                                                                \
      const element *row = (const element *)((const char *)in->data + y * in->stride);             \
      bin_type sum = 0;                                                                            \
      int held = 0;                                                                                \
      for (int x = 0; x < p->width; x++) {                                                         \
        const element e = row[x];                                                                  \
        if (!test(p, x, y, e))                                                                     \
          continue;                                                                                \
        for (int k = 0; k < count; k++) {                                                          \
          const int b = bin(p, k, x, y, e);                                                        \
          if (unity) {                                                                             \
            bins[COPIES * b + x % COPIES]++;                                                       \
            continue;                                                                              \
          }                                                                                        \
          if (b != held) {                                                                         \
            bins[COPIES * held] += sum;                                                            \
            held = b;                                                                              \
            sum = 0;                                                                               \
          }                                                                                        \
          sum += value(p, k, x, y, e);                                                             \
        }                                                                                          \
      }                                                                                            \
      if (!unity)                                                                                  \
        bins[COPIES * held] += sum;                                                                \
    }                                                                                              \
  }
RV_VOTE_ALGORITHMS
#undef RV_VOTE

typedef struct Instance {
  void (*rows)(const RvVoteGeometry *p, const RvPlane *in, int y0, int y1, void *bins);
  size_t bin_bytes;
} Instance;

static const Instance instances[] = {
#define RV_VOTE(name, test, bin, value, element, bin_type, count, unity)                           \
  {name##_rows, sizeof(bin_type)},
    RV_VOTE_ALGORITHMS
#undef RV_VOTE
};

static size_t copy_bytes(const RvVoteGeometry *plan, RvVoteInstance instance) {
  return COPIES * (size_t)plan->bins * instances[instance].bin_bytes;
}

typedef struct VoteCpu {
  char *bins; /* [thread][COPIES of each bin] */
} VoteCpu;

static void layout(void *work, const void *memory, RvArena *arena) {
  VoteCpu *cpu = work;
  const RvVotePlan *plan = memory;
  const size_t bytes = copy_bytes(&plan->geometry, plan->instance);
  cpu->bins = rv_arena_take(arena, bytes * (size_t)plan->threads);
}

/* Adds the copies of all threads for row `space` of the result. */
static void add_up(const RvVoteJob *job, const char *work, int copies, int space) {
  uint32_t *out = (uint32_t *)((char *)job->votes.data + space * job->votes.stride);
  const size_t step = (size_t)job->plan->geometry.bins;
  if (instances[job->plan->instance].bin_bytes == sizeof(uint64_t)) {
    uint64_t sum = 0; /* the one bin of a sum */
    for (int i = 0; i < COPIES * copies; i++)
      sum += ((const uint64_t *)work)[i];
    out[0] = (uint32_t)sum;
    out[1] = (uint32_t)(sum >> 32);
    return;
  }
  const uint32_t *bins = (const uint32_t *)work;
  for (size_t b = 0; b < step; b++) {
    uint32_t sum = 0;
    for (size_t t = 0; t < (size_t)copies; t++)
      for (size_t c = 0; c < COPIES; c++)
        sum += bins[COPIES * (t * step + b) + c];
    out[b] = sum;
  }
}

static RvStatus vote(void *memory, RvVoteJob *job) {
  const RvVoteGeometry *p = &job->plan->geometry;
  const Instance *instance = &instances[job->plan->instance];
  const size_t one = copy_bytes(p, job->plan->instance);
  char *work = ((VoteCpu *)memory)->bins;
  const int team = (int64_t)p->width * p->height < PARALLEL_ELEMENTS ? 1 : job->plan->threads;
  if (p->spaces > 1) { /* spaces are independent: one thread has all of one */
#pragma omp parallel for num_threads(team) schedule(static)
    for (int i = 0; i < team; i++)
      for (int s = (int)((int64_t)p->spaces * i / team);
           s < (int)((int64_t)p->spaces * (i + 1) / team); s++) {
        memset(work + one * (size_t)i, 0, one);
        instance->rows(p, &job->input, s * p->space_rows,
                       rv_min((s + 1) * p->space_rows, p->height), work + one * (size_t)i);
        add_up(job, work + one * (size_t)i, 1, s);
      }
    return RV_OK;
  }
#pragma omp parallel for num_threads(team) schedule(static)
  for (int i = 0; i < team; i++) {
    memset(work + one * (size_t)i, 0, one);
    instance->rows(p, &job->input, (int)((int64_t)p->height * i / team),
                   (int)((int64_t)p->height * (i + 1) / team), work + one * (size_t)i);
  }
  add_up(job, work, team, 0);
  return RV_OK;
}

RV_ENGINE(RvVote, vote, cpu, VoteCpu, layout, NULL, NULL, .vote = vote);
