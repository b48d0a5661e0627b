/* SPDX-License-Identifier: MIT */
/* convert_cases.c: hand-computed gray values and odd crops, a reference that looks up every sample,
 * CPU = CUDA, and benchmark rows. */
#include "convert/convert_color_cases.h"
#include "convert/convert_picture_cases.h"

#include <stdio.h>
#include <string.h>

/* The formula of convert.h, worked by hand. */
static void check_gray_values(RvCheck *check, const char *name, RvRandom *random) {
  static const struct {
    uint8_t r, g, b, gray;
  } known[] = {
      {0, 0, 0, 0},       {255, 255, 255, 255}, {255, 0, 0, 77}, {0, 255, 0, 149},
      {0, 0, 255, 29},    {100, 150, 200, 141}, {1, 2, 3, 2},    {10, 20, 30, 18},
      {255, 255, 0, 226}, {16, 16, 16, 16},
  };
  const RvLog log = rvc_log(check);
  for (int f = RV_PIXEL_BGRX; f <= RV_PIXEL_BGR; f++) {
    const RvPixelFormat format = (RvPixelFormat)f;
    CasePicture picture;
    if (!case_picture_new(check, &picture, format, 10, 1, 5, random, RVC_ONES))
      return;
    uint8_t out[10] = {0};
    for (int x = 0; x < 10; x++) {
      *case_sample(&picture, 0, x, 0) = known[x].r;
      *case_sample(&picture, 1, x, 0) = known[x].g;
      *case_sample(&picture, 2, x, 0) = known[x].b;
    }
    const RvPlane gray = {out, 10, 10, 1, RV_U8};
    const RvStatus status = rv_convert_gray(&picture.view, 0, 0, &gray, 1, RV_CPU, NULL, &log);
    rvc_true(check, name, status == RV_OK, "%s: status %d", case_format_name(format), status);
    for (int x = 0; x < 10; x++)
      rvc_true(check, name, out[x] == known[x].gray, "%s: (%d, %d, %d): expected %d, got %d",
               case_format_name(format), known[x].r, known[x].g, known[x].b, known[x].gray, out[x]);
    case_picture_free(&picture);
  }
}

/* Bytes written out: the right half of a 6-wide image, and of a packed row cut at column 3. */
static void check_bytes(RvCheck *check, const char *name, RvRandom *random) {
  const RvLog log = rvc_log(check);
  uint8_t yuy2[] = {10, 200, 11, 210, 12, 201, 13, 211, 14, 202, 15, 212};
  uint8_t packed[8] = {0};
  const RvPicture wide = {RV_PIXEL_YUY2, 6, 1, {yuy2}, {12}};
  const RvPicture half = {RV_PIXEL_YUY2, 3, 1, {packed}, {8}};
  static const uint8_t right[8] = {13, 201, 14, 211, 15, 202, 15, 212};
  static const uint8_t left[8] = {10, 200, 11, 210, 12, 201, 12, 211};
  rvc_true(check, name,
           rv_convert_crop(&wide, 3, 0, &half, 1, RV_CPU, NULL, &log) == RV_OK &&
               memcmp(packed, right, 8) == 0,
           "YUY2 cut at column 3");
  rvc_true(check, name,
           rv_convert_crop(&wide, 0, 0, &half, 1, RV_CPU, NULL, &log) == RV_OK &&
               memcmp(packed, left, 8) == 0,
           "YUY2 cut at column 0, odd width");

  uint8_t luma[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, chroma[6] = {50, 60, 51, 61, 52, 62};
  uint8_t out_luma[6] = {0}, out_chroma[4] = {0};
  const RvPicture nv12 = {RV_PIXEL_NV12, 6, 2, {luma, chroma}, {6, 6}};
  const RvPicture cut = {RV_PIXEL_NV12, 3, 2, {out_luma, out_chroma}, {3, 4}};
  static const uint8_t want_luma[6] = {4, 5, 6, 10, 11, 12}, want_chroma[4] = {51, 61, 52, 62};
  rvc_true(check, name,
           rv_convert_crop(&nv12, 3, 0, &cut, 1, RV_CPU, NULL, &log) == RV_OK &&
               memcmp(out_luma, want_luma, 6) == 0 && memcmp(out_chroma, want_chroma, 4) == 0,
           "NV12 cut at column 3: luma from 3, chroma from column 1");

  const RvPicture gray = {RV_PIXEL_GRAY8, 6, 2, {luma}, {6}};
  static const uint8_t neutral[4] = {128, 128, 128, 128};
  rvc_true(check, name,
           rv_convert_crop(&gray, 3, 0, &cut, 1, RV_CPU, NULL, &log) == RV_OK &&
               memcmp(out_luma, want_luma, 6) == 0 && memcmp(out_chroma, neutral, 4) == 0,
           "GRAY8 to NV12");
}

/* Every sample by the rule of convert.h. */
static void reference_crop(const CasePicture *picture, int x, int y, CasePicture *out) {
  const RvPixelFormat format = picture->view.format;
  const int width = out->view.width, height = out->view.height;
  for (int c = 0; c < case_channels(format); c++) {
    const int shift_x = c ? case_chroma_shift_x(format) : 0;
    const int shift_y = c ? case_chroma_shift_y(format) : 0;
    for (int r = 0; r << shift_y < height; r++)
      for (int s = 0; s << shift_x < width; s++)
        for (int low = case_is_wide(format); low >= 0; low--) /* the lower byte is before it */
          case_sample(out, c, s, r)[-low] = case_sample(picture, c, (x + (s << shift_x)) >> shift_x,
                                                        (y + (r << shift_y)) >> shift_y)[-low];
  }
  if (case_is_packed(format) && width % 2)
    for (int r = 0; r < height; r++) /* packed: the luma beyond repeats the last */
      *case_sample(out, 0, width, r) = *case_sample(out, 0, width - 1, r);
  const int fourth = case_fourth(format);
  for (int r = 0; fourth >= 0 && r < height; r++) /* the fourth byte travels with its pixel */
    for (int s = 0; s < width; s++)
      ((uint8_t *)out->view.data[0])[r * out->view.stride[0] + 4 * s + fourth] =
          ((const uint8_t *)
               picture->view.data[0])[(y + r) * picture->view.stride[0] + 4 * (x + s) + fourth];
}

static void reference_gray(const CasePicture *picture, int x, int y, const RvPlane *gray) {
  const int rgb =
      !case_chroma_shift_x(picture->view.format) && case_channels(picture->view.format) == 3;
  for (int r = 0; r < gray->height; r++)
    for (int s = 0; s < gray->width; s++) {
      const uint8_t *at = case_sample(picture, 0, x + s, y + r);
      const int bits = case_gray_bits(picture->view.format);
      int value = bits > 8 ? (256 * *at + at[-1]) / (1 << (bits - 8)) : *at;
      value = value > 255 ? 255 : value;
      if (rgb)
        value = (77 * value + 150 * *case_sample(picture, 1, x + s, y + r) +
                 29 * *case_sample(picture, 2, x + s, y + r) + 128) /
                256;
      ((uint8_t *)gray->data)[r * gray->stride + s] = (uint8_t)value;
    }
}

static const char *describe(char *text, size_t size, const CasePicture *picture, int x, int y,
                            int width, int height, const char *engine) {
  snprintf(text, size, "%s %dx%d, rectangle %dx%d at (%d, %d), %s",
           case_format_name(picture->view.format), picture->view.width, picture->view.height, width,
           height, x, y, engine);
  return text;
}

/* Crop and gray of one rectangle: CPU against the reference, CUDA against the CPU. */
static void check_rectangle(RvCheck *check, const char *name, const CasePicture *picture, int x,
                            int y, int width, int height, int padding, RvRandom *random) {
  char what[160];
  const RvLog log = rvc_log(check);
  CasePicture want, got, source, device;
  CasePicture want_gray, got_gray, device_gray;
  const RvPixelFormat format = picture->view.format;
  if (!case_picture_new(check, &want, format, width, height, padding, random, RVC_ZERO) ||
      !case_picture_new(check, &got, format, width, height, padding, random, RVC_ONES) ||
      !case_picture_new(check, &want_gray, RV_PIXEL_GRAY8, width, height, padding, random,
                        RVC_ZERO) ||
      !case_picture_new(check, &got_gray, RV_PIXEL_GRAY8, width, height, padding, random, RVC_ONES))
    return;
  reference_crop(picture, x, y, &want);
  reference_gray(picture, x, y, &want_gray.plane[0]);
  describe(what, sizeof what, picture, x, y, width, height, "CPU");
  const int threads = rvc_range(random, 0, 3);
  rvc_true(check, name,
           rv_convert_crop(&picture->view, x, y, &got.view, threads, RV_CPU, NULL, &log) == RV_OK &&
               rv_convert_gray(&picture->view, x, y, &got_gray.plane[0], threads, RV_CPU, NULL,
                               &log) == RV_OK,
           "%s: refused", what);
  case_picture_same(check, name, &want, &got, what);
  case_picture_same(check, name, &want_gray, &got_gray, what);
  case_picture_whole(check, name, &got, what);
  case_picture_whole(check, name, &got_gray, what);

  if (rvc_cuda(check) && case_picture_upload(check, &source, picture)) {
    describe(what, sizeof what, picture, x, y, width, height, "CUDA");
    rvc_fill_u8(random, RVC_ONES, got_gray.plane[0].data, width, height, got_gray.plane[0].stride);
    if (case_picture_upload(check, &device, &got)) {
      if (case_picture_upload(check, &device_gray, &got_gray)) {
        rvc_true(check, name,
                 rv_convert_crop(&source.view, x, y, &device.view, 0, RV_CUDA, NULL, &log) ==
                         RV_OK &&
                     rv_convert_gray(&source.view, x, y, &device_gray.plane[0], 0, RV_CUDA, NULL,
                                     &log) == RV_OK,
                 "%s: refused", what);
        if (case_picture_download(check, &got, &device) &&
            case_picture_download(check, &got_gray, &device_gray)) {
          case_picture_same(check, name, &want, &got, what);
          case_picture_same(check, name, &want_gray, &got_gray, what);
        }
        case_picture_device_free(&device_gray);
      }
      case_picture_device_free(&device);
    }
    case_picture_device_free(&source);
  }
  case_picture_free(&want);
  case_picture_free(&got);
  case_picture_free(&want_gray);
  case_picture_free(&got_gray);
}

/* Values of sensors in the lowest bits of 16, to 8 bits by hand. */
static void check_gray16(RvCheck *check, const char *name, RvRandom *random) {
  const RvLog log = rvc_log(check);
  static const uint8_t expected[4][6] = {{0, 3, 4, 255, 255, 255},
                                         {0, 0, 1, 255, 255, 255},
                                         {0, 0, 0, 63, 64, 255},
                                         {0, 0, 0, 15, 16, 255}};
  uint8_t samples[2 * 6] = {0, 0, 15, 0, 16, 0, 0xff, 0x0f, 0, 0x10, 0xff, 0xff};
  for (int i = 0; i < 4; i++) {
    const RvPixelFormat format = (RvPixelFormat)(RV_PIXEL_GRAY10 + i);
    uint8_t got[6], luma[6], chroma[6];
    const RvPicture picture = {format, 6, 1, {samples}, {12}};
    const RvPlane gray = {got, 6, 6, 1, RV_U8};
    const RvPicture nv12 = {RV_PIXEL_NV12, 6, 1, {luma, chroma}, {6, 6}};
    rvc_true(check, name,
             rv_convert_gray(&picture, 0, 0, &gray, 1, RV_CPU, NULL, &log) == RV_OK &&
                 memcmp(got, expected[i], 6) == 0,
             "%s: %d %d %d %d %d %d", case_format_name(format), got[0], got[1], got[2], got[3],
             got[4], got[5]);
    rvc_true(check, name,
             rv_convert_crop(&picture, 0, 0, &nv12, 1, RV_CPU, NULL, &log) == RV_OK &&
                 memcmp(luma, got, 6) == 0 && chroma[0] == 128 && chroma[5] == 128,
             "NV12 of %s", case_format_name(format));
    const RvPicture gray8 = {RV_PIXEL_GRAY8, 3, 1, {luma}, {6}};
    rvc_true(check, name,
             rv_convert_crop(&picture, 3, 0, &gray8, 1, RV_CPU, NULL, &log) == RV_OK &&
                 memcmp(luma, got + 3, 3) == 0,
             "GRAY8 of %s", case_format_name(format));
    uint32_t rgb[6];
    const RvPlane color = {rgb, 24, 6, 1, RV_U32};
    rvc_true(check, name,
             rv_convert_color(&picture, 0, 0, &color, 1, RV_CPU, NULL, &log) == RV_ERR_ARG,
             "colors of %s", case_format_name(format));
  }
}

static void check_format(RvCheck *check, const char *name, RvPixelFormat format, int round,
                         RvRandom *random) {
  const int small = round % 3 || rvc_small(check);
  const int width = rvc_range(random, 1, small ? 40 : 700);
  const int height = rvc_range(random, 1, small ? 12 : 500);
  const int cut_width = rvc_range(random, 1, width);
  const int cut_height = rvc_range(random, 1, height);
  const int x = rvc_range(random, 0, width - cut_width);
  const int y = rvc_range(random, 0, height - cut_height);
  CasePicture picture;
  if (!case_picture_new(check, &picture, format, width, height, rvc_range(random, 0, 9), random,
                        RVC_RANDOM))
    return;
  check_rectangle(check, name, &picture, x, y, cut_width, cut_height, rvc_range(random, 0, 9),
                  random);
  check_rectangle(check, name, &picture, 0, 0, width, height, 0, random);
  case_picture_free(&picture);
}

static void check_every_format(RvCheck *check) {
  case_formats(check, "convert/", RV_PIXEL_FORMATS, 24, check_format);
}

static void check_arguments(RvCheck *check, const char *name, RvRandom *random) {
  const RvLog log = rvc_log(check);
  uint8_t from[64] = {0}, to[64] = {0};
  const RvPlane gray = {to, 4, 4, 4, RV_U8};
  const RvPicture good = {RV_PIXEL_GRAY8, 8, 8, {from}, {8}};
  RvPicture bad = good;
#define REFUSED(condition) rvc_true(check, name, (condition) == RV_ERR_ARG, "accepted: " #condition)
  rvc_true(check, name, rv_convert_gray(&good, 4, 4, &gray, 0, RV_CPU, NULL, &log) == RV_OK,
           "the corner rectangle was rejected");
  REFUSED(rv_convert_gray(NULL, 0, 0, &gray, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, 0, 0, NULL, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, 5, 0, &gray, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, 0, 5, &gray, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, -1, 0, &gray, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, 2147483647, 0, &gray, 0, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, 0, 0, &gray, -1, RV_CPU, NULL, &log));
  REFUSED(rv_convert_gray(&good, 0, 0, &gray, 0, (RvEngine)7, NULL, &log));
  bad.stride[0] = 7;
  REFUSED(rv_convert_gray(&bad, 0, 0, &gray, 0, RV_CPU, NULL, &log));
  bad = good;
  bad.format = RV_PIXEL_FORMATS;
  REFUSED(rv_convert_gray(&bad, 0, 0, &gray, 0, RV_CPU, NULL, &log));
  bad = good;
  bad.format = RV_PIXEL_NV12; /* second plane missing */
  REFUSED(rv_convert_gray(&bad, 0, 0, &gray, 0, RV_CPU, NULL, &log));
  const RvPicture other = {RV_PIXEL_BGRX, 2, 2, {to}, {8}};
  REFUSED(rv_convert_crop(&good, 0, 0, &other, 0, RV_CPU, NULL, &log));
#undef REFUSED
}

RVC_PARITY(RVC_CASE("convert/gray-values", check_gray_values, 0),
           RVC_CASE("convert/crop-bytes", check_bytes, 0),
           RVC_CASE("convert/gray16", check_gray16, 0), {.group = check_every_format},
           RVC_CASE("convert/arguments", check_arguments, 0), {.group = convert_color_parity});

/* --- Benchmark: one half of a side by side pair, as cudasgm does it ----------------------------
 */

typedef struct Bench {
  RvPicture pair, left;
  RvPlane gray;
  RvEngine engine;
} Bench;

static RvStatus run_gray(void *user, RvStream stream) {
  const Bench *bench = user;
  return rv_convert_gray(&bench->pair, bench->gray.width, 0, &bench->gray, 0, bench->engine, stream,
                         NULL);
}

static RvStatus run_crop(void *user, RvStream stream) {
  const Bench *bench = user;
  return rv_convert_crop(&bench->pair, 0, 0, &bench->left, 0, bench->engine, stream, NULL);
}

static void bench_format(RvCheck *check, const char *label, RvPixelFormat format) {
  char gray_name[64], crop_name[64];
  snprintf(gray_name, sizeof gray_name, "convert/gray-1080p-%s", label);
  snprintf(crop_name, sizeof crop_name, "convert/crop-1080p-%s", label);
  if (!rvc_wants(check, gray_name) && !rvc_wants(check, crop_name))
    return;
  RvRandom random = rvc_random(check, gray_name);
  CasePicture pair, left, gray, on_device[3];
  if (!case_picture_new(check, &pair, format, 3840, 1080, 0, &random, RVC_RANDOM) ||
      !case_picture_new(check, &left, format, 1920, 1080, 0, &random, RVC_ZERO) ||
      !case_picture_new(check, &gray, RV_PIXEL_GRAY8, 1920, 1080, 0, &random, RVC_ZERO))
    return;
  if (rvc_cpu(check)) {
    Bench bench = {pair.view, left.view, gray.plane[0], RV_CPU};
    rvc_bench(check, gray_name, RV_CPU, run_gray, &bench);
    rvc_bench(check, crop_name, RV_CPU, run_crop, &bench);
  }
  if (rvc_cuda(check) && case_picture_upload(check, &on_device[0], &pair) &&
      case_picture_upload(check, &on_device[1], &left) &&
      case_picture_upload(check, &on_device[2], &gray)) {
    Bench bench = {on_device[0].view, on_device[1].view, on_device[2].plane[0], RV_CUDA};
    rvc_bench(check, gray_name, RV_CUDA, run_gray, &bench);
    rvc_bench(check, crop_name, RV_CUDA, run_crop, &bench);
    for (int i = 0; i < 3; i++)
      case_picture_device_free(&on_device[i]);
  }
  case_picture_free(&pair);
  case_picture_free(&left);
  case_picture_free(&gray);
}

static void bench(RvCheck *check) {
  bench_format(check, "nv12", RV_PIXEL_NV12);
  bench_format(check, "yuy2", RV_PIXEL_YUY2);
  bench_format(check, "bgrx", RV_PIXEL_BGRX);
  convert_color_bench(check);
}

const RvCases rv_convert_cases = {"convert", parity, bench, NULL};
