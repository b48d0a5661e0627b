/* SPDX-License-Identifier: MIT */
/* vote_baselines.cu: CUB's histograms and sums, and a subsampling written by hand. Tests only. */
#include "vote/vote_baselines.h"

#include <stdlib.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "rv_cuda.cuh"
#include "vote/vote_rules.h"

/* CUDA 13 would have its own array type here, which CUDA 12 does not know. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct RvVoteBaseline {
  RvVoteConfig config;
  void *input;     /* dense: CUB takes no rows of a stride in most of these */
  uint32_t *votes; /* dense likewise */
  size_t vote_bytes;
  void *scratch;
  size_t bytes;
};

/* -1 for black: CUB leaves out what lies outside its range. */
struct ChromaBin {
  __host__ __device__ int operator()(uint32_t e) const {
    return rv_vote_chroma_test(NULL, 0, 0, e) ? rv_vote_chroma_bin(NULL, 0, 0, 0, e) : -1;
  }
};

struct Plus {
  __host__ __device__ uint64_t operator()(uint64_t a, uint64_t b) const { return a + b; }
};

struct FixedPoint {
  __host__ __device__ uint64_t operator()(float e) const {
    return rv_vote_sumf_test(NULL, 0, 0, e) ? rv_vote_sumf_value(NULL, 0, 0, 0, e) : 0;
  }
};

/* A thread makes four sums of 4 x 4 pixels, 16 bytes a load and a store. */
static __global__ void subsample_by_4(const uint4 *in, uint4 *out, int quads_wide, int rows) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = i / quads_wide, x = i % quads_wide;
  if (y >= rows)
    return;
  uint32_t sums[4] = {0, 0, 0, 0};
#pragma unroll
  for (int r = 0; r < 4; r++) {
    const uint4 v = in[(4 * y + r) * quads_wide + x];
    sums[0] = __dp4a(v.x, 0x01010101u, sums[0]);
    sums[1] = __dp4a(v.y, 0x01010101u, sums[1]);
    sums[2] = __dp4a(v.z, 0x01010101u, sums[2]);
    sums[3] = __dp4a(v.w, 0x01010101u, sums[3]);
  }
  out[i] = make_uint4(sums[0], sums[1], sums[2], sums[3]);
}

template <class Values>
static cudaError_t sum(RvVoteBaseline *p, Values values, int pixels, cudaStream_t stream) {
  return cub::DeviceReduce::Reduce(p->scratch, p->bytes, values, (uint64_t *)p->votes, pixels,
                                   Plus(), (uint64_t)0, stream);
}

static cudaError_t sum_any(RvVoteBaseline *p, int pixels, cudaStream_t stream) {
  switch (p->config.format) {
  case RV_U8:
    return sum(p, (const uint8_t *)p->input, pixels, stream);
  case RV_U16:
    return sum(p, (const uint16_t *)p->input, pixels, stream);
  case RV_U32:
    return sum(p, (const uint32_t *)p->input, pixels, stream);
  default:
    return sum(p, thrust::make_transform_iterator((const float *)p->input, FixedPoint()), pixels,
               stream);
  }
}

static cudaError_t color(RvVoteBaseline *p, int pixels, cudaStream_t stream) {
  uint32_t *bins[3] = {p->votes, p->votes + 256, p->votes + 512};
  const int levels[3] = {257, 257, 257}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
  return cub::DeviceHistogram::MultiHistogramEven<4, 3>(
      p->scratch, p->bytes, (const uint8_t *)p->input, bins, levels, low, high, pixels, stream);
}

template <class Values>
static cudaError_t histogram(RvVoteBaseline *p, Values values, int bins, int range, int pixels,
                             cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(p->scratch, p->bytes, values, p->votes, bins + 1, 0,
                                             range, pixels, stream);
}

/* Without scratch memory CUB only says how much it wants. */
static cudaError_t vote(RvVoteBaseline *p, cudaStream_t stream) {
  const RvVoteConfig &c = p->config;
  const int pixels = c.width * c.height;
  switch (c.kind) {
  case RV_VOTE_HISTOGRAM:
    return c.format == RV_U8
               ? histogram(p, (const uint8_t *)p->input, c.bins, 256, pixels, stream)
               : histogram(p, (const uint16_t *)p->input, c.bins, 65536, pixels, stream);
  case RV_VOTE_COLOR:
    return color(p, pixels, stream);
  case RV_VOTE_CHROMA: {
    const int bins = RV_VOTE_CHROMA_SIDE * RV_VOTE_CHROMA_SIDE;
    return histogram(p, thrust::make_transform_iterator((const uint32_t *)p->input, ChromaBin()),
                     bins, bins, pixels, stream);
  }
  case RV_VOTE_SUM:
    return sum_any(p, pixels, stream);
  default:
    if (p->scratch)
      subsample_by_4<<<(unsigned)rv_div_up(pixels / 64, 128), 128, 0, stream>>>(
          (const uint4 *)p->input, (uint4 *)p->votes, c.width / 16, c.height / 4);
    p->bytes = rv_max((int)p->bytes, 1);
    return cudaGetLastError();
  }
}

static bool take(RvVoteBaseline *p, const RvPlane *input) {
  int columns, rows;
  rv_vote_size(&p->config, &columns, &rows);
  p->vote_bytes = (size_t)columns * rows * sizeof(uint32_t);
  const size_t row = rv_format_bytes(input->format) * (size_t)input->width;
  return cudaMalloc(&p->input, row * (size_t)input->height) == cudaSuccess &&
         cudaMemcpy2D(p->input, row, input->data, (size_t)input->stride, row, (size_t)input->height,
                      cudaMemcpyDeviceToDevice) == cudaSuccess &&
         cudaMalloc(&p->votes, p->vote_bytes) == cudaSuccess && vote(p, NULL) == cudaSuccess &&
         cudaMalloc(&p->scratch, p->bytes) == cudaSuccess;
}

extern "C" RvVoteBaseline *rv_vote_baseline_new(const RvVoteConfig *config, const RvPlane *input) {
  if (config->kind == RV_VOTE_SUBSAMPLE &&
      (config->factor != 4 || config->width % 16 || config->height % 4))
    return NULL;
  RvVoteBaseline *p = (RvVoteBaseline *)calloc(1, sizeof *p);
  if (!p)
    return NULL;
  p->config = *config;
  if (take(p, input))
    return p;
  (void)cudaGetLastError();
  rv_vote_baseline_free(p);
  return NULL;
}

extern "C" void rv_vote_baseline_free(RvVoteBaseline *peer) {
  if (peer) {
    cudaFree(peer->input);
    cudaFree(peer->votes);
    cudaFree(peer->scratch);
  }
  free(peer);
}

extern "C" const char *rv_vote_baseline_name(const RvVoteBaseline *peer) {
  return peer->config.kind == RV_VOTE_SUBSAMPLE ? "hand" : "cub";
}

extern "C" RvStatus rv_vote_baseline_run(void *user, RvStream stream) {
  return vote((RvVoteBaseline *)user, (cudaStream_t)stream) == cudaSuccess ? RV_OK : RV_ERR_CUDA;
}

extern "C" RvStatus rv_vote_baseline_votes(const RvVoteBaseline *peer, uint32_t *votes) {
  return cudaMemcpy(votes, peer->votes, peer->vote_bytes, cudaMemcpyDeviceToHost) == cudaSuccess
             ? RV_OK
             : RV_ERR_CUDA;
}
