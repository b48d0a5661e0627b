/* SPDX-License-Identifier: MIT */
/* vote_cuda.cu: the CUDA engine of voting: one instance of the kernels per algorithm. */
#include "vote/vote_cuda_device.cuh"

#define RV_VOTE(name, its_test, its_bin, its_value, element, bin_type, count, unity)               \
  struct name##_algorithm {                                                                        \
    typedef element Element;                                                                       \
    typedef bin_type Bin;                                                                          \
    static constexpr int VOTES = count;                                                            \
    static constexpr bool UNITY = unity;                                                           \
    static __device__ __forceinline__ int test(const RvVotePlan *p, int x, int y, Element e) {     \
      return its_test(p, x, y, e);                                                                 \
    }                                                                                              \
    static __device__ __forceinline__ int bin(const RvVotePlan *p, int k, int x, int y,            \
                                              Element e) {                                         \
      return its_bin(p, k, x, y, e);                                                               \
    }                                                                                              \
    static __device__ __forceinline__ Bin value(const RvVotePlan *p, int k, int x, int y,          \
                                                Element e) {                                       \
      return its_value(p, k, x, y, e);                                                             \
    }                                                                                              \
  };
RV_VOTE_ALGORITHMS
#undef RV_VOTE

struct Instance {
  RvStatus (*open)(RvVoteJob *job);
  RvStatus (*run)(const RvVoteJob *job);
};

static const Instance instances[] = {
#define RV_VOTE(name, its_test, its_bin, its_value, element, bin_type, count, unity)               \
  {rv_vote_open<name##_algorithm>, rv_vote_launch<name##_algorithm>},
    RV_VOTE_ALGORITHMS
#undef RV_VOTE
};

/* All sums are taken in the result itself. */
static size_t bytes(const RvVotePlan *plan, RvVoteInstance instance, int threads) {
  return 0;
}

static RvStatus open(RvVoteJob *job) {
  return instances[job->instance].open(job);
}

static RvStatus run(const RvVoteJob *job) {
  return instances[job->instance].run(job);
}

extern "C" const RvVoteStages rv_vote_stages_cuda = {bytes, open, run};
