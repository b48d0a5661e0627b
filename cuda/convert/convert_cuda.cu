/* SPDX-License-Identifier: MIT */
/* convert_cuda.cu: rows are 2-D copies on the device; gray and repacking are one kernel each. */
#include "convert/convert_stages.h"
#include "rv_launch.cuh"

static const int PIXELS = 4; /* px of one row that a thread makes */

namespace {
/* Where a kernel reads: `from` is the first byte of the rectangle's first pixel. */
struct Source {
  const uint8_t *from;
  ptrdiff_t stride;
  int red, green, blue; /* byte offsets; packed YUV: red is the luma */
};
} // namespace

template <int BYTES, bool COLOR>
__device__ int gray_of(const uint8_t *pixel, const Source &source) {
  if (!COLOR)
    return pixel[source.red];
  return rv_gray(pixel[source.red], pixel[source.green], pixel[source.blue]);
}

/* A thread makes four pixels from BYTES words, where everything is aligned to words; at the right
 * border and in unaligned images it works byte by byte. */
template <int BYTES, bool COLOR>
__global__ void gray_kernel(Source source, uint8_t *to, ptrdiff_t to_stride, int width, int height,
                            bool aligned) {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
  const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height)
    return;
  const uint8_t *from = source.from + y * source.stride + (ptrdiff_t)x * BYTES;
  uint8_t *out = to + y * to_stride + x;
  if (aligned && x + PIXELS <= width) {
    uint32_t words[BYTES];
#pragma unroll
    for (int i = 0; i < BYTES; i++)
      words[i] = reinterpret_cast<const uint32_t *>(from)[i];
    uint32_t four = 0;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
      /* Little endian: byte k of the pixels is byte k % 4 of word k / 4. */
      uint8_t pixel[BYTES];
#pragma unroll
      for (int k = 0; k < BYTES; k++)
        pixel[k] = (uint8_t)(words[(i * BYTES + k) / 4] >> (8 * ((i * BYTES + k) % 4)));
      uint32_t value;
      if (!COLOR)
        value = source.red ? pixel[1] : pixel[0];
      else if (BYTES == 4)
        value = (uint32_t)rv_gray(words[i] >> (8 * source.red) & 255,
                                  words[i] >> (8 * source.green) & 255,
                                  words[i] >> (8 * source.blue) & 255);
      else
        value = (uint32_t)(source.red ? rv_gray(pixel[BYTES > 2 ? 2 : 0], pixel[1], pixel[0])
                                      : rv_gray(pixel[0], pixel[1], pixel[BYTES > 2 ? 2 : 0]));
      four |= value << (8 * i);
    }
    *reinterpret_cast<uint32_t *>(out) = four;
    return;
  }
  for (int i = 0; i < PIXELS && x + i < width; i++)
    out[i] = (uint8_t)gray_of<BYTES, COLOR>(from + i * BYTES, source);
}

/* A thread makes four pixels of 16-bit samples, which may be at any address. */
__global__ void gray16_kernel(const uint8_t *from, ptrdiff_t stride, int shift, uint8_t *to,
                              ptrdiff_t to_stride, int width, int height) {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * PIXELS;
  const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (y >= height)
    return;
  const uint8_t *samples = from + y * stride;
  for (int i = x; i < x + PIXELS && i < width; i++)
    to[y * to_stride + i] = (uint8_t)rv_gray16(samples[2 * i] | samples[2 * i + 1] << 8, shift);
}

static dim3 grid_of(dim3 block, int width, int height) {
  return dim3((unsigned)rv_div_up(width, (int)block.x), (unsigned)rv_div_up(height, (int)block.y));
}

template <int BYTES, bool COLOR>
static RvStatus launch_gray(const RvConvertJob *job, const Source &source, const RvPlane *gray) {
  const uintptr_t mixed = (uintptr_t)source.from | (uintptr_t)source.stride |
                          (uintptr_t)gray->data | (uintptr_t)gray->stride;
  const dim3 block(32, 8);
  return rv_launch(job->log, gray_kernel<BYTES, COLOR>,
                   grid_of(block, rv_div_up(gray->width, PIXELS), gray->height), block, 0,
                   job->stream, false, source, (uint8_t *)gray->data, gray->stride, gray->width,
                   gray->height, mixed % 4 == 0);
}

static RvStatus launch_gray16(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                              const RvPlane *out) {
  const dim3 block(32, 8);
  return rv_launch(
      job->log, gray16_kernel, grid_of(block, rv_div_up(out->width, PIXELS), out->height), block, 0,
      job->stream, false, (const uint8_t *)picture->data[0] + y * picture->stride[0] + 2 * x,
      picture->stride[0], rv_pixel_layout(picture->format)->shift, (uint8_t *)out->data,
      out->stride, out->width, out->height);
}

static RvStatus gray(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                     const RvPlane *out) {
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  if (layout->wide)
    return launch_gray16(job, picture, x, y, out);
  const Source source = {
      (const uint8_t *)picture->data[0] + y * picture->stride[0] + x * layout->step,
      picture->stride[0], layout->offset_of[0], layout->offset_of[1], layout->offset_of[2]};
  if (layout->kind == RV_KIND_PACKED)
    return launch_gray<2, false>(job, source, out);
  return layout->step == 4 ? launch_gray<4, true>(job, source, out)
                           : launch_gray<3, true>(job, source, out);
}

static RvStatus rows(const RvConvertJob *job, void *to, ptrdiff_t to_stride, const void *from,
                     ptrdiff_t from_stride, size_t bytes, int count) {
  RV_CU(job->log, cudaMemcpy2DAsync(to, (size_t)to_stride, from, (size_t)from_stride, bytes,
                                    (size_t)count, cudaMemcpyDeviceToDevice, job->stream));
  return RV_OK;
}

static RvStatus fill(const RvConvertJob *job, void *to, ptrdiff_t to_stride, int byte, size_t bytes,
                     int count) {
  RV_CU(job->log,
        cudaMemset2DAsync(to, (size_t)to_stride, byte, bytes, (size_t)count, job->stream));
  return RV_OK;
}

namespace {
/* Byte offsets within a pair of packed pixels. */
struct Pair {
  int luma, u, v;
};
} // namespace

/* One thread makes one pair; what it holds is said in convert.h. */
__global__ void repack_kernel(const uint8_t *from, ptrdiff_t from_stride, int x, uint8_t *to,
                              ptrdiff_t to_stride, int width, int height, Pair pair) {
  const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (2 * c >= width || y >= height)
    return;
  const uint8_t *row = from + y * from_stride;
  const int first = x + 2 * c;
  const int second = x + rv_min(2 * c + 1, width - 1);
  const uint8_t *chroma = row + first / 2 * RV_PACKED_PAIR;
  uint8_t *out = to + y * to_stride + c * RV_PACKED_PAIR;
  out[pair.luma] = row[2 * first + pair.luma];
  out[pair.luma + 2] = row[2 * second + pair.luma];
  out[pair.u] = chroma[pair.u];
  out[pair.v] = chroma[pair.v];
}

static RvStatus repack(const RvConvertJob *job, const RvPicture *picture, int x, int y,
                       const RvPicture *out) {
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  const Pair pair = {layout->offset_of[0], layout->offset_of[1], layout->offset_of[2]};
  const dim3 block(32, 8);
  return rv_launch(job->log, repack_kernel, grid_of(block, rv_div_up(out->width, 2), out->height),
                   block, 0, job->stream, false,
                   (const uint8_t *)picture->data[0] + y * picture->stride[0], picture->stride[0],
                   x, (uint8_t *)out->data[0], out->stride[0], out->width, out->height, pair);
}

/* One thread makes one pixel: neighbors share the lines they read. */
__global__ void color_kernel(const __grid_constant__ RvConvertSource source, uint8_t *to,
                             ptrdiff_t to_stride, int width, int height) {
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < width && y < height)
    reinterpret_cast<uint32_t *>(to + y * to_stride)[x] = rv_convert_color_at(&source, x, y);
}

static RvStatus color(const RvConvertJob *job, const RvConvertSource *source, const RvPlane *out) {
  const dim3 block(32, 8);
  return rv_launch(job->log, color_kernel, grid_of(block, out->width, out->height), block, 0,
                   job->stream, false, *source, (uint8_t *)out->data, out->stride, out->width,
                   out->height);
}

const RvConvertStages rv_convert_stages_cuda = {rows, fill, gray, repack, color};
