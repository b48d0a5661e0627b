/* SPDX-License-Identifier: MIT */
/* convert_picture_cases.c: images for the cases of cuda/convert and cuda/draw. Tests only. */
#include "convert/convert_picture_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *case_format_name(RvPixelFormat format) {
  static const char *const names[RV_PIXEL_FORMATS] = {
      "NV12", "I420", "YUY2",  "UYVY",   "BGRx",   "BGRA",   "RGBx",  "RGBA",
      "RGB",  "BGR",  "GRAY8", "YV12",   "NV21",   "Y42B",   "ARGB",  "ABGR",
      "xRGB", "xBGR", "P010",  "GRAY10", "GRAY12", "GRAY14", "GRAY16"};
  return names[format];
}

static int is_yuv(RvPixelFormat format) {
  return case_chroma_shift_y(format) || case_is_packed(format) || format == RV_PIXEL_Y42B;
}

int case_is_packed(RvPixelFormat format) {
  return format == RV_PIXEL_YUY2 || format == RV_PIXEL_UYVY;
}

int case_gray_bits(RvPixelFormat format) {
  return format >= RV_PIXEL_GRAY10 ? 10 + 2 * ((int)format - RV_PIXEL_GRAY10) : 8;
}

int case_is_wide(RvPixelFormat format) {
  return format == RV_PIXEL_P010 || case_gray_bits(format) > 8;
}

int case_has_alpha(RvPixelFormat format) {
  return format == RV_PIXEL_BGRA || format == RV_PIXEL_RGBA || format == RV_PIXEL_ARGB ||
         format == RV_PIXEL_ABGR;
}

int case_fourth(RvPixelFormat format) {
  if (format >= RV_PIXEL_BGRX && format <= RV_PIXEL_RGBA)
    return 3;
  return format >= RV_PIXEL_ARGB && format <= RV_PIXEL_XBGR ? 0 : -1;
}

int case_channels(RvPixelFormat format) {
  return format == RV_PIXEL_GRAY8 || case_gray_bits(format) > 8 ? 1 : 3;
}

int case_chroma_shift_x(RvPixelFormat format) {
  return is_yuv(format);
}

int case_chroma_shift_y(RvPixelFormat format) {
  return format == RV_PIXEL_NV12 || format == RV_PIXEL_I420 || format == RV_PIXEL_YV12 ||
         format == RV_PIXEL_NV21 || format == RV_PIXEL_P010;
}

static void attach(CasePicture *picture, int plane, void *data, ptrdiff_t stride) {
  RvPicture *view = &picture->view;
  view->data[plane] = data;
  view->stride[plane] = stride;
  picture->plane[plane] =
      (RvPlane){data, stride, (int)rv_pixel_row_bytes(view->format, plane, view->width),
                rv_pixel_rows(view->format, plane, view->height), RV_U8};
}

int case_picture_new(RvCheck *check, CasePicture *out, RvPixelFormat format, int width, int height,
                     int padding, RvRandom *random, int kind) {
  memset(out, 0, sizeof *out);
  out->view.format = format;
  out->view.width = width;
  out->view.height = height;
  const int planes = rv_pixel_planes(format);
  for (int p = 0; p < planes; p++)
    out->bytes += (rv_pixel_row_bytes(format, p, width) + (size_t)padding) *
                  (size_t)rv_pixel_rows(format, p, height);
  out->memory = malloc(out->bytes);
  if (!rvc_true(check, "picture", out->memory != NULL, "no memory for a test image"))
    return 0;
  memset(out->memory, CASE_PADDING_BYTE, out->bytes);
  uint8_t *at = out->memory;
  for (int p = 0; p < planes; p++) {
    const size_t stride = rv_pixel_row_bytes(format, p, width) + (size_t)padding;
    attach(out, p, at, (ptrdiff_t)stride);
    rvc_fill_u8(random, kind, at, out->plane[p].width, out->plane[p].height, (ptrdiff_t)stride);
    at += stride * (size_t)out->plane[p].height;
  }
  return 1;
}

void case_picture_free(CasePicture *picture) {
  free(picture->memory);
  memset(picture, 0, sizeof *picture);
}

void case_picture_copy(CasePicture *to, const CasePicture *from) {
  for (int p = 0; p < rv_pixel_planes(from->view.format); p++)
    for (int y = 0; y < from->plane[p].height; y++)
      memcpy((char *)to->plane[p].data + y * to->plane[p].stride,
             (const char *)from->plane[p].data + y * from->plane[p].stride,
             (size_t)from->plane[p].width);
}

int case_picture_same(RvCheck *check, const char *name, const CasePicture *expected,
                      const CasePicture *got, const char *what) {
  for (int p = 0; p < rv_pixel_planes(expected->view.format); p++)
    if (!rvc_same(check, name, &expected->plane[p], &got->plane[p], what))
      return 0;
  return 1;
}

int case_picture_whole(RvCheck *check, const char *name, const CasePicture *picture,
                       const char *what) {
  for (int p = 0; p < rv_pixel_planes(picture->view.format); p++) {
    const RvPlane *plane = &picture->plane[p];
    for (int y = 0; y < plane->height; y++)
      for (ptrdiff_t x = plane->width; x < plane->stride; x++)
        if (((const uint8_t *)plane->data)[y * plane->stride + x] != CASE_PADDING_BYTE)
          return rvc_true(check, name, 0, "%s: plane %d: byte %d behind row %d was written", what,
                          p, (int)(x - plane->width), y);
  }
  return rvc_true(check, name, 1, "%s", what);
}

int case_picture_upload(RvCheck *check, CasePicture *device, const CasePicture *host) {
  memset(device, 0, sizeof *device);
  device->view = host->view;
  for (int p = 0; p < rv_pixel_planes(host->view.format); p++) {
    RvPlane plane;
    if (!rvc_upload(check, &plane, &host->plane[p])) {
      case_picture_device_free(device);
      return 0;
    }
    attach(device, p, plane.data, plane.stride);
  }
  return 1;
}

int case_picture_download(RvCheck *check, const CasePicture *host, const CasePicture *device) {
  for (int p = 0; p < rv_pixel_planes(host->view.format); p++)
    if (!rvc_download(check, &host->plane[p], &device->plane[p]))
      return 0;
  return 1;
}

void case_picture_device_free(CasePicture *device) {
  for (int p = 0; p < 3; p++)
    if (device->plane[p].data)
      rvc_device_free(&device->plane[p]);
  memset(device, 0, sizeof *device);
}

uint8_t *case_sample(const CasePicture *picture, int channel, int x, int y) {
  const RvPicture *view = &picture->view;
  uint8_t *row[3];
  for (int p = 0; p < 3; p++)
    row[p] =
        p < rv_pixel_planes(view->format) ? (uint8_t *)view->data[p] + y * view->stride[p] : NULL;
  switch (view->format) {
  case RV_PIXEL_NV12:
    return channel == 0 ? row[0] + x : row[1] + 2 * x + channel - 1;
  case RV_PIXEL_NV21:
    return channel == 0 ? row[0] + x : row[1] + 2 * x + 2 - channel;
  case RV_PIXEL_I420:
  case RV_PIXEL_Y42B:
    return row[channel] + x;
  case RV_PIXEL_YV12:
    return row[(3 - channel) % 3] + x;
  case RV_PIXEL_P010:
    return channel == 0 ? row[0] + 2 * x + 1 : row[1] + 4 * x + 2 * channel - 1;
  case RV_PIXEL_GRAY10:
  case RV_PIXEL_GRAY12:
  case RV_PIXEL_GRAY14:
  case RV_PIXEL_GRAY16:
    return row[0] + 2 * x + 1;
  case RV_PIXEL_ARGB:
  case RV_PIXEL_XRGB:
    return row[0] + 4 * x + 1 + channel;
  case RV_PIXEL_ABGR:
  case RV_PIXEL_XBGR:
    return row[0] + 4 * x + 3 - channel;
  case RV_PIXEL_YUY2:
    return channel == 0 ? row[0] + 2 * x : row[0] + 4 * x + 2 * channel - 1;
  case RV_PIXEL_UYVY:
    return channel == 0 ? row[0] + 2 * x + 1 : row[0] + 4 * x + 2 * channel - 2;
  case RV_PIXEL_BGRX:
  case RV_PIXEL_BGRA:
    return row[0] + 4 * x + 2 - channel;
  case RV_PIXEL_RGBX:
  case RV_PIXEL_RGBA:
    return row[0] + 4 * x + channel;
  case RV_PIXEL_RGB:
    return row[0] + 3 * x + channel;
  case RV_PIXEL_BGR:
    return row[0] + 3 * x + 2 - channel;
  default:
    return row[0] + x;
  }
}

void case_formats(RvCheck *check, const char *prefix, int formats, int rounds, CaseRound *run) {
  for (int f = 0; f < formats; f++) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, case_format_name((RvPixelFormat)f));
    if (!rvc_wants(check, name))
      continue;
    RvRandom random = rvc_random(check, name);
    for (int round = 0; round < rounds; round++)
      run(check, name, (RvPixelFormat)f, round, &random);
  }
}
