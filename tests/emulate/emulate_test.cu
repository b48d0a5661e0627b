/* SPDX-License-Identifier: MIT */
/* emulate_test.cu: the emulator itself: what threads do together gives the results of a GPU, and
 * mistakes are reported, not hidden and not waited for. */
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#define ALL 0xffffffffu

static int failures;

static void verify(bool holds, const char *what) {
  printf("%s %s\n", holds ? "ok  " : "FAIL", what);
  failures += !holds;
}

/* --- Kernels that are right ------------------------------------------------------------------ */

/* Sum of the block, by shuffles and shared memory. */
static __global__ void sum_kernel(const int *in, int *out) {
  __shared__ int parts[32];
  int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 16; step; step /= 2)
    sum += __shfl_xor_sync(ALL, sum, step);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < blockDim.x / 32; i++)
      sum += parts[i];
    atomicAdd(out, sum);
  }
}

/* Bit n of out[lane]: operation n gave what it must. */
static __global__ void warp_kernel(unsigned *out) {
  const int lane = (int)threadIdx.x;
  const long long wide = 0x100000000ll * lane;
  unsigned good = 0;
  good |= (__shfl_sync(ALL, lane, 5) == 5) << 0;
  good |= (__shfl_sync(ALL, lane, 1, 8) == lane / 8 * 8 + 1) << 1;
  good |= (__shfl_up_sync(ALL, lane, 3) == (lane < 3 ? lane : lane - 3)) << 2;
  good |= (__shfl_down_sync(ALL, lane, 3, 16) == (lane % 16 > 12 ? lane : lane + 3)) << 3;
  good |= (__shfl_xor_sync(ALL, wide, 9) == 0x100000000ll * (lane ^ 9)) << 4;
  good |= (__ballot_sync(ALL, lane % 3 == 0) == 0x49249249u) << 5;
  good |= (__any_sync(ALL, lane == 31) == 1 && __any_sync(ALL, 0) == 0) << 6;
  good |= (__reduce_add_sync(ALL, (unsigned)lane) == 496) << 7;
  good |= (__reduce_min_sync(ALL, (unsigned)lane + 3) == 3) << 8;
  good |= (__match_any_sync(ALL, lane / 4) == 0xfu << lane / 4 * 4) << 9;
  if (lane < 8) /* part of the warp, in another order than the others */
    good |= (__reduce_max_sync(0xff, (unsigned)lane) == 7) << 10;
  else
    good |= (__shfl_sync(~0xffu, lane, 8) == 8) << 10;
  __syncwarp();
  out[lane] = good;
}

/* Warp 0 makes, warp 1 takes, through two named barriers; the block sums up. */
static __global__ void named_kernel(int *out) {
  __shared__ int box[32];
  const int lane = (int)threadIdx.x % 32;
  int sum = 0;
  for (int round = 0; round < 4; round++) {
    if (threadIdx.x < 32)
      box[lane] = lane + round;
    asm volatile("bar.sync 1, %0;" ::"n"(64) : "memory");
    if (threadIdx.x >= 32)
      sum += box[31 - lane];
    asm volatile("barrier.sync 2, %0;" ::"n"(64) : "memory");
  }
  const int count = __syncthreads_count(threadIdx.x < 40);
  if (threadIdx.x >= 32)
    out[lane] = sum + 1000 * count;
}

/* The last block sums up what all have written. */
static __global__ void last_kernel(int *values, unsigned *ticket, int *out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    values[blockIdx.x] = (int)blockIdx.x;
    __threadfence();
    is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0)
    for (unsigned i = 0; i < gridDim.x; i++)
      *out += __ldcg(&values[i]);
}

/* Every block waits for the one after it: all must run at the same time. */
static __global__ void chain_kernel(volatile int *flags) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x)
      while (flags[blockIdx.x + 1] == 0) {
      }
    flags[blockIdx.x] = 1;
  }
}

static __global__ void cluster_kernel(int *out) {
  __shared__ int mine;
  if (threadIdx.x == 0)
    mine = 10 + (int)blockIdx.x;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (threadIdx.x == 0)
    out[blockIdx.x] = *(int *)__cluster_map_shared_rank(&mine, __clusterRelativeBlockRank() ^ 1);
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

template <bool WAITS> static __global__ void copy_kernel(const int *in, int *out) {
  extern __shared__ int to[];
  __pipeline_memcpy_async(&to[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  if (WAITS)
    __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = to[blockDim.x - 1 - threadIdx.x];
}

/* --- Kernels with mistakes ------------------------------------------------------------------- */

static __global__ void no_barrier_kernel(int *out) {
  __shared__ int values[64];
  values[threadIdx.x] = (int)threadIdx.x;
  out[threadIdx.x] = values[63 - threadIdx.x];
}
static __global__ void divergent_kernel() {
  if (threadIdx.x < 40)
    __syncthreads();
  else
    __syncthreads();
}
static __global__ void returned_kernel() {
  if (threadIdx.x == 3)
    return;
  __syncthreads();
}
static __global__ void mask_kernel() {
  __syncwarp(0xffff);
}
static __global__ void mixed_kernel() {
  if (threadIdx.x & 1)
    (void)__ballot_sync(ALL, 1);
  else
    (void)__shfl_sync(ALL, 1, 0);
}
static __global__ void deadlock_kernel() {
  if (threadIdx.x < 5)
    __syncthreads();
  else
    __syncwarp(0xffffffe0u | 1);
}
static __global__ void spin_kernel(const volatile int *flag) {
  while (*flag == 0) {
  }
}
static __global__ void assume_kernel(int value) {
  __builtin_assume(value > 3);
}
static __global__ void align_kernel(char *memory) {
  atomicAdd((unsigned *)(memory + 2), 1u);
}
static __global__ void launch_kernel() {}

/* --- The test -------------------------------------------------------------------------------- */

static int *device_memory(int count) {
  int *memory = NULL;
  (void)cudaMalloc(&memory, count * sizeof(int));
  (void)cudaMemset(memory, 0, count * sizeof(int));
  return memory;
}

static void test_blocks() {
  int *in = device_memory(1024), *out = device_memory(64);
  for (int i = 0; i < 1024; i++)
    in[i] = i;
  sum_kernel<<<4, 256>>>(in, out);
  verify(cudaGetLastError() == cudaSuccess && out[0] == 1023 * 512, "sum of four blocks");
  named_kernel<<<1, 64>>>(out);
  bool good = cudaGetLastError() == cudaSuccess;
  for (int i = 0; i < 32; i++)
    good = good && out[i] == 4 * (31 - i) + 6 + 40000;
  verify(good, "named barriers, __syncthreads_count");
  int *values = device_memory(50);
  out[0] = 0;
  last_kernel<<<50, 32>>>(values, (unsigned *)&in[0], out);
  verify(cudaGetLastError() == cudaSuccess && out[0] == 49 * 25, "the last block");
  cudaFree(in), cudaFree(out), cudaFree(values);
}

static void test_warp() {
  unsigned *out = (unsigned *)device_memory(32);
  warp_kernel<<<1, 32>>>(out);
  bool good = cudaGetLastError() == cudaSuccess;
  for (int i = 0; i < 32; i++)
    good = good && out[i] == 0x7ff;
  verify(good, "operations of a warp");
  cudaFree(out);
}

/* Launches that need blocks at the same time. */
static cudaError_t together(cudaLaunchAttribute attribute, unsigned blocks, void (*kernel)(int *),
                            int *out) {
  cudaLaunchConfig_t config = {dim3(blocks), dim3(32), 0, NULL, &attribute, 1};
  return cudaLaunchKernelEx(&config, kernel, out);
}

static __global__ void chain_of(int *flags) {
  chain_kernel(flags);
}

static void test_together() {
  int *out = device_memory(4000);
  cudaLaunchAttribute cooperative = {cudaLaunchAttributeCooperative, {}};
  cooperative.val.cooperative = 1;
  verify(together(cooperative, 20, chain_of, out) == cudaSuccess && out[0] == 1,
         "a cooperative launch, whose blocks wait for each other");
  verify(together(cooperative, 4000, chain_of, out) == cudaErrorCooperativeLaunchTooLarge,
         "a cooperative launch that does not fit");
  cudaLaunchAttribute cluster = {cudaLaunchAttributeClusterDimension, {}};
  cluster.val.clusterDim = {2, 1, 1};
  verify(together(cluster, 4, cluster_kernel, out) == cudaSuccess && out[0] == 11 && out[1] == 10 &&
             out[2] == 13 && out[3] == 12,
         "shared memory of a cluster");
  (void)cudaGetLastError();
  cudaFree(out);
}

static void test_copies() {
  int *in = device_memory(64), *out = device_memory(64);
  for (int i = 0; i < 64; i++)
    in[i] = i;
  copy_kernel<true><<<1, 64, 64 * sizeof(int)>>>(in, out);
  verify(cudaGetLastError() == cudaSuccess && out[0] == 63 && out[63] == 0, "asynchronous copies");
  copy_kernel<false><<<1, 64, 64 * sizeof(int)>>>(in, out);
  int wrong = 0;
  for (int i = 0; i < 64; i++)
    wrong += out[i] != 63 - i;
  verify(wrong == 64, "asynchronous copies that nobody waits for");
  cudaFree(in), cudaFree(out);
}

/* The launch before must have failed with a report that contains `text`. */
static void reported(const char *text, const char *what) {
  const bool good = cudaGetLastError() == cudaErrorLaunchFailure &&
                    strstr(cudaGetErrorString(cudaErrorLaunchFailure), text);
  verify(good, what);
  if (!good)
    printf("     %s\n", cudaGetErrorString(cudaErrorLaunchFailure));
}

static void test_mistakes() {
  int *memory = device_memory(64);
  no_barrier_kernel<<<1, 64>>>(memory);
  int wrong = 0;
  for (int i = 0; i < 64; i++)
    wrong += memory[i] != 63 - i;
  verify(wrong > 8, "a missing barrier gives wrong values");
  divergent_kernel<<<1, 64>>>();
  reported("divergent barrier: others wait in the one at", "a barrier at two lines");
  returned_kernel<<<1, 64>>>();
  reported("divergent barrier", "a barrier without a thread that has returned");
  mask_kernel<<<1, 32>>>();
  reported("with mask 0000ffff, which does not contain it", "a mask without the lane");
  mixed_kernel<<<1, 32>>>();
  reported("while lanes", "two operations with one mask");
  deadlock_kernel<<<1, 32>>>();
  reported("wait in __syncwarp with mask ffffffe1 at", "a deadlock");
  memory[0] = 0;
  spin_kernel<<<2, 32>>>(memory);
  reported("livelock", "a loop that waits for nobody");
  assume_kernel<<<1, 1>>>(3);
  reported("__builtin_assume does not hold", "an assumption that does not hold");
  align_kernel<<<1, 1>>>((char *)memory);
  reported("not aligned to 4 bytes", "an address that is not aligned");
  launch_kernel<<<1, 1025>>>();
  verify(cudaGetLastError() == cudaErrorInvalidConfiguration, "a launch with too many threads");
  launch_kernel<<<1, 32, 50000>>>();
  verify(cudaGetLastError() == cudaErrorInvalidValue, "a launch with too much shared memory");
  (void)cudaFuncSetAttribute(launch_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000);
  launch_kernel<<<1, 32, 50000>>>();
  verify(cudaGetLastError() == cudaSuccess, "the same, allowed");
  cudaFree(memory);
}

int main() {
  test_blocks();
  test_warp();
  test_together();
  test_copies();
  test_mistakes();
  printf("%d failures\n", failures);
  return failures != 0;
}
