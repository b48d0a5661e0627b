/* SPDX-License-Identifier: MIT */
/* rectify_cuda.cu: CUDA engine: one launch for all planes of both views. A thread makes four
 * samples of a row: it loads their map entries in one piece, and their source samples together,
 * with checks for each unless all of them are inside of one view. Images whose planes are not
 * aligned to 16 bytes, RGB, BGR, 16-bit samples and maps with wide entries go through a kernel
 * that does the latter for every sample. */
#include "rectify/rectify_maps.h"
#include "rectify/rectify_stages.h"
#include "rv_launch.cuh"

namespace {

const int GROUP = 4; /* samples of a thread */
const int BLOCK_X = 32, BLOCK_Y = 4;
const int FEW = 1;        /* of a group that are made together when some are outside */
const int BLOCKS = 10;    /* per multiprocessor, of groups */
const int ALIGNMENT = 16; /* bytes */

enum Kind { KIND_GRAY, KIND_NV12, KIND_I420, KIND_PACKED, KIND_RGB4 };

struct PlaneArgs {
  const uint8_t *in;
  uint8_t *out;
  int in_stride, out_stride;
};

struct Args {
  RvRectifyGrid grid[RV_RECTIFY_GRIDS];
  const void *map[RV_RECTIFY_GRIDS];
  int border[RV_RECTIFY_GRIDS];
  RvRectifySamples samples[RV_RECTIFY_SAMPLES_MAX];
  PlaneArgs plane[3];
  int kinds;                           /* of samples */
  int tiles_x[RV_RECTIFY_SAMPLES_MAX]; /* blocks per row of blocks */
  int first_block[RV_RECTIFY_SAMPLES_MAX + 1];
  /* Of groups: the first rows of blocks are chroma, two rows of its blocks in each. */
  int chroma_rows, chroma_tiles;
};

/* --- One sample with all checks --------------------------------------------------------------- */

template <bool WIDE> __device__ uint32_t border_of(const Args &args, const RvRectifySamples &s) {
  return (uint32_t)args.border[s.grid] << (WIDE ? 8 : 0);
}

template <bool WIDE>
__device__ uint32_t tap(const Args &args, const RvRectifySamples &s, const RvRectifyWindow &window,
                        int x, int y, int channel) {
  if (x < 0 || y < 0 || x >= window.width || y >= window.height)
    return border_of<WIDE>(args, s);
  const PlaneArgs &plane = args.plane[s.plane];
  const uint8_t *at = plane.in + (window.y + y) * plane.in_stride + (window.x + x) * s.step +
                      s.offset + channel * s.distance;
  return WIDE ? at[0] | (uint32_t)at[1] << 8 : at[0];
}

/* Writes all channels of sample (x, y) of the plane. WIDE: samples of 2 bytes. */
template <bool WIDE>
__device__ __noinline__ void remap_sample(const Args &args, int kind, int x, int y) {
  const RvRectifySamples &s = args.samples[kind];
  const RvRectifyGrid &grid = args.grid[s.grid];
  const int second = rv_rectify_view(&grid, x, y);
  const RvRectifyWindow &out_window = grid.out[second], &window = grid.in[second];
  const size_t at = (size_t)y * (size_t)grid.pitch + (size_t)x;
  int dx, dy;
  bool is_outside;
  if (grid.wide) {
    const RvRectifyWideEntry e = static_cast<const RvRectifyWideEntry *>(args.map[s.grid])[at];
    dx = e.x;
    dy = e.y;
    is_outside = dx == RV_RECTIFY_OUTSIDE_WIDE;
  } else {
    const RvRectifyEntry e = static_cast<const RvRectifyEntry *>(args.map[s.grid])[at];
    dx = e.x;
    dy = e.y;
    is_outside = dx == RV_RECTIFY_OUTSIDE;
  }
  const int u = rv_rectify_predict(x - out_window.x, grid.step_x) + dx;
  const int v = rv_rectify_predict(y - out_window.y, grid.step_y) + dy;
  const int sx = u >> RV_RECTIFY_BITS, sy = v >> RV_RECTIFY_BITS;
  const uint32_t a = (uint32_t)u % RV_RECTIFY_ONE, b = (uint32_t)v % RV_RECTIFY_ONE;
  const PlaneArgs &plane = args.plane[s.plane];
  uint8_t *out = plane.out + (ptrdiff_t)y * plane.out_stride + x * s.step + s.offset;
  for (int c = 0; c < s.channels; c++) {
    uint32_t value = border_of<WIDE>(args, s);
    if (!is_outside)
      value = rv_rectify_blend(tap<WIDE>(args, s, window, sx, sy, c),
                               tap<WIDE>(args, s, window, sx + 1, sy, c),
                               tap<WIDE>(args, s, window, sx, sy + 1, c),
                               tap<WIDE>(args, s, window, sx + 1, sy + 1, c), a, b);
    out[c * s.distance] = (uint8_t)value;
    if (WIDE)
      out[c * s.distance + 1] = (uint8_t)(value >> 8);
    /* YUY2 and UYVY of odd width: the luma beyond the last column repeats it. */
    if (s.repeats && x == grid.width - 1 && x % 2 == 0)
      out[s.step] = (uint8_t)value;
  }
}

/* Which samples a block works on. */
struct Tile {
  int kind, x, y; /* of this thread: in groups or samples of `width` */
};

__device__ Tile tile_of(const Args &args) {
  const int block = (int)blockIdx.x;
  int kind = 0;
  while (kind + 1 < args.kinds && block >= args.first_block[kind + 1])
    kind++;
  const int index = block - args.first_block[kind], row = index / args.tiles_x[kind];
  return {kind, (index - row * args.tiles_x[kind]) * BLOCK_X + (int)threadIdx.x,
          row * BLOCK_Y + (int)threadIdx.y};
}

template <bool WIDE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) any_kernel(const __grid_constant__ Args args) {
  const Tile tile = tile_of(args);
  const RvRectifyGrid &grid = args.grid[args.samples[tile.kind].grid];
  if (tile.x < grid.width && tile.y < grid.height)
    remap_sample<WIDE>(args, tile.kind, tile.x, tile.y);
}

/* --- Samples whose source samples are all inside ---------------------------------------------- */

struct Position {
  int offset; /* bytes in the input plane */
  uint32_t a, b;
};

/* Positions of N neighbors from column x on; false unless all are in one view and inside of it. */
template <int N, int STEP, int G>
__device__ bool locate(const Args &args, int x, int y, int stride, Position (&at)[N]) {
  const RvRectifyGrid &grid = args.grid[G];
  const int second = rv_rectify_view(&grid, x, y);
  bool inside = x + N <= grid.width && second == rv_rectify_view(&grid, x + N - 1, y);
  const RvRectifyWindow out = second ? grid.out[1] : grid.out[0];
  const RvRectifyWindow in = second ? grid.in[1] : grid.in[0];
  uint32_t entries[N];
  const uint32_t *map =
      static_cast<const uint32_t *>(args.map[G]) + (size_t)y * (size_t)grid.pitch + (size_t)x;
  if (N == 4) {
    const uint4 four = __ldg(reinterpret_cast<const uint4 *>(map));
    entries[0] = four.x;
    entries[1] = four.y;
    entries[N - 2] = four.z;
    entries[N - 1] = four.w;
  } else {
    const uint2 two = __ldg(reinterpret_cast<const uint2 *>(map));
    entries[0] = two.x;
    entries[1] = two.y;
  }
  const int row = rv_rectify_predict(y - out.y, grid.step_y);
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int dx = (int16_t)(entries[i] & 0xffff), dy = (int)entries[i] >> 16;
    const int u = rv_rectify_predict(x + i - out.x, grid.step_x) + dx, v = row + dy;
    const int sx = u >> RV_RECTIFY_BITS, sy = v >> RV_RECTIFY_BITS;
    inside &=
        dx != RV_RECTIFY_OUTSIDE && sx >= 0 && sy >= 0 && sx < in.width - 1 && sy < in.height - 1;
    at[i].offset = (in.y + sy) * stride + (in.x + sx) * STEP;
    at[i].a = (uint32_t)u % RV_RECTIFY_ONE;
    at[i].b = (uint32_t)v % RV_RECTIFY_ONE;
  }
  return inside;
}

/* One channel whose neighbor is STEP bytes on. */
template <int STEP> __device__ uint32_t fetch(const uint8_t *in, int stride, const Position &at) {
  const uint8_t *p = in + at.offset, *q = p + stride;
  return rv_rectify_blend(__ldg(p), __ldg(p + STEP), __ldg(q), __ldg(q + STEP), at.a, at.b);
}

/* Both bytes of a sample of interleaved chroma. */
__device__ uint32_t fetch_pair(const uint8_t *in, int stride, const Position &at) {
  const uint16_t *p = reinterpret_cast<const uint16_t *>(in + at.offset);
  const uint16_t *q = reinterpret_cast<const uint16_t *>(in + at.offset + stride);
  const uint32_t s00 = __ldg(p), s01 = __ldg(p + 1), s10 = __ldg(q), s11 = __ldg(q + 1);
  return rv_rectify_blend(s00 & 255, s01 & 255, s10 & 255, s11 & 255, at.a, at.b) |
         rv_rectify_blend(s00 >> 8, s01 >> 8, s10 >> 8, s11 >> 8, at.a, at.b) << 8;
}

/* All four bytes of a pixel. */
__device__ uint32_t fetch_four(const uint8_t *in, int stride, const Position &at) {
  const uint32_t *p = reinterpret_cast<const uint32_t *>(in + at.offset);
  const uint32_t *q = reinterpret_cast<const uint32_t *>(in + at.offset + stride);
  const uint32_t s00 = __ldg(p), s01 = __ldg(p + 1), s10 = __ldg(q), s11 = __ldg(q + 1);
  uint32_t value = 0;
#pragma unroll
  for (int c = 0; c < 32; c += 8)
    value |=
        rv_rectify_blend(s00 >> c & 255, s01 >> c & 255, s10 >> c & 255, s11 >> c & 255, at.a, at.b)
        << c;
  return value;
}

/* Neighbors from column x on that may be outside, or of both views. */
template <int N> __device__ __noinline__ void remap_few(const Args &args, int kind, int x, int y) {
  const RvRectifySamples &s = args.samples[kind];
  const RvRectifyGrid &grid = args.grid[s.grid];
  const PlaneArgs &plane = args.plane[s.plane];
  const RvRectifyEntry *map = static_cast<const RvRectifyEntry *>(args.map[s.grid]) +
                              (size_t)y * (size_t)grid.pitch + (size_t)x;
  const uint32_t border = border_of<false>(args, s);
  Position at[N];
  unsigned taps[N]; /* bit 2 j + i: the sample i columns and j rows on is inside */
#pragma unroll
  for (int i = 0; i < N; i++) { /* rows of a map are long enough for all of them */
    const int second = rv_rectify_view(&grid, x + i, y);
    const RvRectifyWindow &out = grid.out[second], &in = grid.in[second];
    const int u = rv_rectify_predict(x + i - out.x, grid.step_x) + map[i].x;
    const int v = rv_rectify_predict(y - out.y, grid.step_y) + map[i].y;
    const int sx = u >> RV_RECTIFY_BITS, sy = v >> RV_RECTIFY_BITS;
    const unsigned columns =
        (unsigned)(sx >= 0 && sx < in.width) | (unsigned)(sx >= -1 && sx < in.width - 1) << 1;
    taps[i] = (sy >= 0 && sy < in.height ? columns : 0) |
              (sy >= -1 && sy < in.height - 1 ? columns << 2 : 0);
    if (map[i].x == RV_RECTIFY_OUTSIDE)
      taps[i] = 0;
    at[i].offset = (in.y + sy) * plane.in_stride + (in.x + sx) * s.step + s.offset;
    at[i].a = (uint32_t)u % RV_RECTIFY_ONE;
    at[i].b = (uint32_t)v % RV_RECTIFY_ONE;
  }
  uint8_t *out = plane.out + (ptrdiff_t)y * plane.out_stride + x * s.step + s.offset;
#pragma unroll 1
  for (int c = 0; c < s.channels; c++) {
    uint32_t value[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      const uint8_t *p = plane.in + at[i].offset + c * s.distance, *q = p + plane.in_stride;
      const uint32_t s00 = taps[i] & 1 ? __ldg(p) : border;
      const uint32_t s01 = taps[i] & 2 ? __ldg(p + s.step) : border;
      const uint32_t s10 = taps[i] & 4 ? __ldg(q) : border;
      const uint32_t s11 = taps[i] & 8 ? __ldg(q + s.step) : border;
      value[i] = rv_rectify_blend(s00, s01, s10, s11, at[i].a, at[i].b);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (x + i < grid.width)
        out[i * s.step + c * s.distance] = (uint8_t)value[i];
      if (s.repeats && x + i == grid.width - 1 && (x + i) % 2 == 0)
        out[(i + 1) * s.step] = (uint8_t)value[i];
    }
  }
}

__device__ __forceinline__ void remap_each(const Args &args, int kind, int x, int y, int count) {
#pragma unroll 1
  for (int i = 0; i < count; i += FEW)
    remap_few<FEW>(args, kind, x + i, y);
}

/* A plane whose samples have BYTES bytes: luma, the chroma of NV12, or pixels of four bytes. */
template <int PLANE, int BYTES, int MAP>
__device__ __forceinline__ void plane_group(const Args &args, int x, int y) {
  const PlaneArgs &plane = args.plane[PLANE];
  Position at[GROUP];
  if (!locate<GROUP, BYTES, MAP>(args, x, y, plane.in_stride, at)) {
    remap_each(args, PLANE, x, y, GROUP);
    return;
  }
  uint32_t value[GROUP];
#pragma unroll
  for (int i = 0; i < GROUP; i++)
    if constexpr (BYTES == 1)
      value[i] = fetch<1>(plane.in, plane.in_stride, at[i]);
    else
      value[i] = BYTES == 2 ? fetch_pair(plane.in, plane.in_stride, at[i])
                            : fetch_four(plane.in, plane.in_stride, at[i]);
  uint8_t *out = plane.out + (ptrdiff_t)y * plane.out_stride + BYTES * x;
  if constexpr (BYTES == 1)
    *reinterpret_cast<uint32_t *>(out) = value[0] | value[1] << 8 | value[2] << 16 | value[3] << 24;
  else if constexpr (BYTES == 2)
    *reinterpret_cast<uint2 *>(out) =
        make_uint2(value[0] | value[1] << 16, value[2] | value[3] << 16);
  else
    *reinterpret_cast<uint4 *>(out) = make_uint4(value[0], value[1], value[2], value[3]);
}

/* U and V have the same map but may have different strides. */
__device__ void i420_chroma_group(const Args &args, int x, int y) {
  Position at[GROUP], second[GROUP];
  const PlaneArgs &u = args.plane[1], &v = args.plane[2];
  const bool inside = locate<GROUP, 1, RV_RECTIFY_CHROMA>(args, x, y, u.in_stride, at);
  if (!inside) {
    remap_each(args, 1, x, y, GROUP);
    remap_each(args, 2, x, y, GROUP);
    return;
  }
  locate<GROUP, 1, RV_RECTIFY_CHROMA>(args, x, y, v.in_stride, second);
  uint32_t first = 0, other = 0;
#pragma unroll
  for (int i = 0; i < GROUP; i++) {
    first |= fetch<1>(u.in, u.in_stride, at[i]) << (8 * i);
    other |= fetch<1>(v.in, v.in_stride, second[i]) << (8 * i);
  }
  *reinterpret_cast<uint32_t *>(u.out + (ptrdiff_t)y * u.out_stride + x) = first;
  *reinterpret_cast<uint32_t *>(v.out + (ptrdiff_t)y * v.out_stride + x) = other;
}

/* Four luma and two chroma samples: 8 bytes. */
__device__ void packed_group(const Args &args, int x, int y) {
  const PlaneArgs &plane = args.plane[0];
  const int luma = args.samples[0].offset, chroma = args.samples[1].offset;
  Position y_at[GROUP], c_at[GROUP / 2];
  const bool luma_inside = locate<GROUP, 2, RV_RECTIFY_LUMA>(args, x, y, plane.in_stride, y_at);
  const bool chroma_inside =
      locate<GROUP / 2, 4, RV_RECTIFY_CHROMA>(args, x / 2, y, plane.in_stride, c_at);
  if (!luma_inside || !chroma_inside) {
    remap_each(args, 0, x, y, GROUP);
    remap_each(args, 1, x / 2, y, GROUP / 2);
    return;
  }
  uint32_t pair[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < GROUP; i++)
    pair[i / 2] |= fetch<2>(plane.in + luma, plane.in_stride, y_at[i]) << (8 * luma + i % 2 * 16);
#pragma unroll
  for (int i = 0; i < GROUP / 2; i++)
    pair[i] |= fetch<4>(plane.in + chroma, plane.in_stride, c_at[i]) << (8 * chroma) |
               fetch<4>(plane.in + chroma + 2, plane.in_stride, c_at[i]) << (8 * chroma + 16);
  *reinterpret_cast<uint2 *>(plane.out + (ptrdiff_t)y * plane.out_stride + 2 * x) =
      make_uint2(pair[0], pair[1]);
}

/* Without a number of blocks the compiler saves registers for more of them, which costs loads in
 * flight. */
template <int KIND>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, rv_launch_blocks(BLOCK_X *BLOCK_Y, BLOCKS))
    group_kernel(const __grid_constant__ Args args) {
  const int row = (int)blockIdx.y, ty = (int)threadIdx.y;
  if ((KIND == KIND_NV12 || KIND == KIND_I420) && row < args.chroma_rows) {
    const int second = (int)blockIdx.x >= args.chroma_tiles;
    const int tile = (int)blockIdx.x - (second ? args.chroma_tiles : 0);
    const int x = (tile * BLOCK_X + (int)threadIdx.x) * GROUP,
              y = (2 * row + second) * BLOCK_Y + ty;
    const RvRectifyGrid &grid = args.grid[RV_RECTIFY_CHROMA];
    if (x >= grid.width || y >= grid.height)
      return;
    if (KIND == KIND_NV12)
      plane_group<1, 2, RV_RECTIFY_CHROMA>(args, x, y);
    else
      i420_chroma_group(args, x, y);
    return;
  }
  const int x = ((int)blockIdx.x * BLOCK_X + (int)threadIdx.x) * GROUP;
  const int y = (row - args.chroma_rows) * BLOCK_Y + ty;
  const RvRectifyGrid &grid = args.grid[RV_RECTIFY_LUMA];
  if (x >= grid.width || y >= grid.height)
    return;
  if (KIND == KIND_PACKED)
    packed_group(args, x, y);
  else if (KIND == KIND_RGB4)
    plane_group<0, 4, RV_RECTIFY_LUMA>(args, x, y);
  else
    plane_group<0, 1, RV_RECTIFY_LUMA>(args, x, y);
}

/* --- Host ------------------------------------------------------------------------------------ */

struct RectifyCuda {
  void *map[RV_RECTIFY_GRIDS];
};

/* 1 when every plane of both images is aligned. */
int is_aligned(const RvRectifyJob *job) {
  uintptr_t mixed = 0;
  for (int p = 0; p < rv_pixel_planes(job->in.format); p++)
    mixed |= (uintptr_t)job->in.data[p] | (uintptr_t)job->in.stride[p] |
             (uintptr_t)job->out.data[p] | (uintptr_t)job->out.stride[p];
  return mixed % ALIGNMENT == 0;
}

/* Kernel for a format, NULL for those that only any_kernel does. */
void (*kernel_of(RvPixelFormat format))(Args) {
  switch (format) {
  case RV_PIXEL_GRAY8:
    return group_kernel<KIND_GRAY>;
  case RV_PIXEL_NV12:
  case RV_PIXEL_NV21:
    return group_kernel<KIND_NV12>;
  case RV_PIXEL_I420:
  case RV_PIXEL_YV12:
  case RV_PIXEL_Y42B:
    return group_kernel<KIND_I420>;
  case RV_PIXEL_YUY2:
  case RV_PIXEL_UYVY:
    return group_kernel<KIND_PACKED>;
  case RV_PIXEL_RGB:
  case RV_PIXEL_BGR:
  case RV_PIXEL_P010:
  case RV_PIXEL_GRAY10:
  case RV_PIXEL_GRAY12:
  case RV_PIXEL_GRAY14:
  case RV_PIXEL_GRAY16:
    return NULL;
  default:
    return group_kernel<KIND_RGB4>;
  }
}

dim3 blocks_of_samples(Args *args, int kinds) {
  args->kinds = kinds;
  for (int i = 0; i < kinds; i++) {
    const RvRectifyGrid &grid = args->grid[args->samples[i].grid];
    args->tiles_x[i] = rv_div_up(grid.width, BLOCK_X);
    args->first_block[i + 1] =
        args->first_block[i] + args->tiles_x[i] * rv_div_up(grid.height, BLOCK_Y);
  }
  return dim3((unsigned)args->first_block[kinds]);
}

dim3 blocks_of_groups(Args *args, int has_chroma) {
  const RvRectifyGrid &luma = args->grid[RV_RECTIFY_LUMA];
  const RvRectifyGrid &chroma = args->grid[RV_RECTIFY_CHROMA];
  int tiles = rv_div_up(luma.width, BLOCK_X * GROUP);
  if (has_chroma) {
    args->chroma_tiles = rv_div_up(chroma.width, BLOCK_X * GROUP);
    args->chroma_rows = rv_div_up(chroma.height, 2 * BLOCK_Y);
    tiles = rv_max(tiles, 2 * args->chroma_tiles);
  }
  return dim3((unsigned)tiles, (unsigned)(args->chroma_rows + rv_div_up(luma.height, BLOCK_Y)));
}

RvStatus remap(void *work, const RvRectifyJob *job) {
  const RectifyCuda *cuda = static_cast<const RectifyCuda *>(work);
  const RvRectifyPlan *plan = job->plan;
  const RvPixelFormat format = plan->config.format;
  Args args = {};
  const int kinds = rv_rectify_samples(format, args.samples);
  int wide = 0;
  for (int g = 0; g < plan->grids; g++) {
    args.grid[g] = plan->grid[g];
    args.map[g] = cuda->map[g];
    args.border[g] = plan->border[g];
    wide |= plan->grid[g].wide;
  }
  for (int p = 0; p < rv_pixel_planes(format); p++)
    args.plane[p] = {static_cast<const uint8_t *>(job->in.data[p]),
                     static_cast<uint8_t *>(job->out.data[p]), (int)job->in.stride[p],
                     (int)job->out.stride[p]};
  void (*kernel)(Args) = kernel_of(format);
  dim3 blocks;
  if (kernel && !wide && is_aligned(job)) {
    const int is_packed = format == RV_PIXEL_YUY2 || format == RV_PIXEL_UYVY;
    blocks = blocks_of_groups(&args, plan->grids == 2 && !is_packed);
  } else {
    kernel = args.samples[0].wide ? any_kernel<true> : any_kernel<false>;
    blocks = blocks_of_samples(&args, kinds);
  }
  return rv_launch(&plan->config.log, kernel, blocks, dim3(BLOCK_X, BLOCK_Y), 0, job->stream, false,
                   args);
}

void layout(void *work, const void *memory, RvArena *arena) {
  RectifyCuda *cuda = static_cast<RectifyCuda *>(work);
  const RvRectifyPlan *plan = static_cast<const RvRectifyPlan *>(memory);
  for (int g = 0; g < plan->grids; g++)
    cuda->map[g] = rv_arena_take(arena, rv_rectify_map_bytes(&plan->grid[g]));
}

/* Makes the maps on the host and copies them. */
RvStatus open_cuda(void *work, const void *memory) {
  const RectifyCuda *cuda = static_cast<const RectifyCuda *>(work);
  const RvRectifyPlan *plan = static_cast<const RvRectifyPlan *>(memory);
  for (int g = 0; g < plan->grids; g++) {
    const size_t bytes = rv_rectify_map_bytes(&plan->grid[g]);
    void *host = rv_memory_alloc(bytes, RV_CPU);
    if (!host) {
      rv_log(&plan->config.log, "rectify: out of host memory");
      return RV_ERR_NO_MEMORY;
    }
    rv_rectify_make_map(plan, g, host, NULL);
    const RvStatus status = rv_copy_to_device(cuda->map[g], host, bytes, NULL);
    rv_memory_free(host, RV_CPU);
    if (status != RV_OK) {
      rv_log(&plan->config.log, "rectify: failed to copy the maps to the GPU");
      return status;
    }
  }
  return RV_OK;
}

} // namespace

RV_ENGINE(RvRectify, rectify, cuda, RectifyCuda, layout, open_cuda, NULL, remap);
