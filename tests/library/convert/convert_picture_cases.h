/* SPDX-License-Identifier: MIT */
/* convert_picture_cases.h: images for the cases of cuda/convert and cuda/draw, with padded rows
 * and a canvas around them that shows writes outside. Tests only. */
#ifndef RV_CONVERT_PICTURE_CASES_H
#define RV_CONVERT_PICTURE_CASES_H

#include "convert/convert.h"
#include "rvcheck.h"

#define CASE_PADDING_BYTE 0x5B

typedef struct CasePicture {
  RvPicture view;
  RvPlane plane[3]; /* the same memory as u8 rasters of row bytes x rows */
  uint8_t *memory;  /* NULL for device images */
  size_t bytes;
} CasePicture;

/* Host image whose rows are followed by `padding` bytes; filled with an RVC_ kind. */
int case_picture_new(RvCheck *check, CasePicture *out, RvPixelFormat format, int width, int height,
                     int padding, RvRandom *random, int kind);
void case_picture_free(CasePicture *picture);

/* Same bytes in all rows, and the padding untouched. */
int case_picture_same(RvCheck *check, const char *name, const CasePicture *expected,
                      const CasePicture *got, const char *what);
int case_picture_whole(RvCheck *check, const char *name, const CasePicture *picture,
                       const char *what);
void case_picture_copy(CasePicture *to, const CasePicture *from);

int case_picture_upload(RvCheck *check, CasePicture *device, const CasePicture *host);
int case_picture_download(RvCheck *check, const CasePicture *host, const CasePicture *device);
void case_picture_device_free(CasePicture *device);

/* Sample of a channel (Y U V or R G B, in that order), in samples of that channel; an independent
 * statement of the memory layouts. */
uint8_t *case_sample(const CasePicture *picture, int channel, int x, int y);
int case_channels(RvPixelFormat format);
int case_chroma_shift_x(RvPixelFormat format);
int case_chroma_shift_y(RvPixelFormat format);
int case_is_packed(RvPixelFormat format); /* YUY2, UYVY */
int case_gray_bits(RvPixelFormat format); /* of GRAY10 to GRAY16; else 8 */
int case_is_wide(RvPixelFormat format);   /* samples of 2 bytes: case_sample is the upper one */
int case_has_alpha(RvPixelFormat format);
int case_fourth(RvPixelFormat format); /* offset of the byte that is no color; -1: there is none */
const char *case_format_name(RvPixelFormat format);

/* For each of the first `formats` formats the case "prefix-NV12" and so on: `rounds` calls of `run`
 * with the random numbers of that case. */
typedef void CaseRound(RvCheck *check, const char *name, RvPixelFormat format, int round,
                       RvRandom *random);
void case_formats(RvCheck *check, const char *prefix, int formats, int rounds, CaseRound *run);

#endif
