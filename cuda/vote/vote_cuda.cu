/* SPDX-License-Identifier: MIT */
/* vote_cuda.cu: the CUDA engine of voting: one instance of the kernels per algorithm. */
#include "vote/vote_cuda_device.cuh"

#define RV_VOTE(name, its_test, its_bin, its_value, element, bin_type, count, unity)               \
  struct name##_algorithm {                                                                        \
    typedef element Element;                                                                       \
    typedef bin_type Bin;                                                                          \
    static constexpr int VOTES = count;                                                            \
    static constexpr bool UNITY = unity;                                                           \
    static __device__ __forceinline__ int test(const RvVoteGeometry *p, int x, int y, Element e) { \
      return its_test(p, x, y, e);                                                                 \
    }                                                                                              \
    static __device__ __forceinline__ int bin(const RvVoteGeometry *p, int k, int x, int y,        \
                                              Element e) {                                         \
      return its_bin(p, k, x, y, e);                                                               \
    }                                                                                              \
    static __device__ __forceinline__ Bin value(const RvVoteGeometry *p, int k, int x, int y,      \
                                                Element e) {                                       \
      return its_value(p, k, x, y, e);                                                             \
    }                                                                                              \
  };
RV_VOTE_ALGORITHMS
#undef RV_VOTE

namespace {
struct Instance {
  RvStatus (*open)(const RvLog *log, int shared);
  RvStatus (*run)(const RvVoteCuda *work, const RvVoteJob *job);
};
} // namespace

static const Instance instances[] = {
#define RV_VOTE(name, its_test, its_bin, its_value, element, bin_type, count, unity)               \
  {rv_vote_open<name##_algorithm>, rv_vote_launch<name##_algorithm>},
    RV_VOTE_ALGORITHMS
#undef RV_VOTE
};

/* The engine has no memory: all sums are computed in the result itself. */
static RvStatus open(void *memory, const void *plan_memory) {
  RvVoteCuda *work = (RvVoteCuda *)memory;
  const RvVotePlan *plan = (const RvVotePlan *)plan_memory;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(&plan->config.log, &device));
  *work = {device.processors, device.shared, device.overlaps};
  return instances[plan->instance].open(&plan->config.log, device.shared);
}

static RvStatus vote(void *memory, RvVoteJob *job) {
  return instances[job->plan->instance].run((const RvVoteCuda *)memory, job);
}

RV_ENGINE(RvVote, vote, cuda, RvVoteCuda, nullptr, open, nullptr, vote);
