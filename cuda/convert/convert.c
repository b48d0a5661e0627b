/* SPDX-License-Identifier: MIT */
/* convert.c: checks, and which stage does what. */
#include "convert/convert_stages.h"
#include "rv_config.h"

static RvStatus stages_of(const RvConvertStages **out, RvEngine engine, const RvLog *log) {
  *out = NULL;
  if (engine == RV_CPU)
    *out = &rv_convert_stages_cpu;
#if RV_HAVE_CUDA
  if (engine == RV_CUDA)
    *out = &rv_convert_stages_cuda;
#endif
  if (*out)
    return RV_OK;
  RV_REQUIRE(log, engine == RV_CUDA, "convert: no such engine: %d", (int)engine);
  rv_log(log, "convert: this build has no CUDA engine");
  return RV_ERR_NO_DEVICE;
}

/* Rules of both public functions: a valid image that contains the rectangle. */
static RvStatus check_rectangle(const RvPicture *picture, int x, int y, int width, int height,
                                int threads, const RvLog *log) {
  RV_REQUIRE(log, rv_picture_fits(picture),
             "convert: the image needs a known format, a size of 1..%d px, all its planes and "
             "strides of at least a row",
             RV_MAX_SIDE);
  RV_REQUIRE(log, threads >= 0, "convert: threads is %d; 0 means all", threads);
  RV_REQUIRE(log,
             x >= 0 && y >= 0 && width >= 1 && height >= 1 && width <= picture->width &&
                 height <= picture->height && x <= picture->width - width &&
                 y <= picture->height - height,
             "convert: the rectangle %dx%d at (%d, %d) does not lie in the image of %dx%d px",
             width, height, x, y, picture->width, picture->height);
  return RV_OK;
}

RvStatus rv_convert_gray(const RvPicture *picture, int x, int y, const RvPlane *gray, int threads,
                         RvEngine engine, RvStream stream, const RvLog *log) {
  const RvConvertStages *stages;
  RV_TRY(stages_of(&stages, engine, log));
  RV_REQUIRE(log, gray && rv_plane_fits(gray, gray->width, gray->height, RV_U8),
             "convert: the gray plane must be u8 with a stride of at least a row");
  RV_TRY(check_rectangle(picture, x, y, gray->width, gray->height, threads, log));

  const RvConvertJob job = {threads, stream, log};
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  if (layout->kind != RV_KIND_PLANAR || layout->wide)
    return stages->gray(&job, picture, x, y, gray);
  const char *from = (const char *)picture->data[0] + y * picture->stride[0] + x;
  return stages->rows(&job, gray->data, gray->stride, from, picture->stride[0], (size_t)gray->width,
                      gray->height);
}

/* Y'CbCr to R'G'B' (ITU-R BT.601, BT.709): R = Y + 2 (1 - Kr) Cr, B = Y + 2 (1 - Kb) Cb, and G from
 * the weights Kr, Kb in 1/10000. */
static RvConvertMatrix matrix_of(int bt709, int full_range) {
  const int64_t kr = bt709 ? 2126 : 2990, kb = bt709 ? 722 : 1140, kg = 10000 - kr - kb;
  const int64_t chroma = full_range ? 255 : 224; /* range of a chroma sample; of 255 */
  const int64_t red = 2 * (10000 - kr), blue = 2 * (10000 - kb), unit = 65536 * 255;
  const int64_t whole = 10000 * chroma, green = whole * kg;
  const int luma = full_range ? 255 : 219;
  const RvConvertMatrix matrix = {
      .offset = full_range ? 0 : 16,
      .luma = (int)((unit + luma / 2) / luma),
      .red_v = (int)((unit * red + whole / 2) / whole),
      .green_u = (int)((unit * blue * kb + green / 2) / green),
      .green_v = (int)((unit * red * kr + green / 2) / green),
      .blue_u = (int)((unit * blue + whole / 2) / whole),
  };
  return matrix;
}

RvStatus rv_convert_color(const RvPicture *picture, int bt709, int full_range, const RvPlane *color,
                          int threads, RvEngine engine, RvStream stream, const RvLog *log) {
  const RvConvertStages *stages;
  RV_TRY(stages_of(&stages, engine, log));
  RV_REQUIRE(log, color && rv_plane_fits(color, color->width, color->height, RV_U32),
             "convert: the color plane must be u32 with a stride of at least a row");
  RV_TRY(check_rectangle(picture, 0, 0, color->width, color->height, threads, log));
  RV_REQUIRE(log, picture->width == color->width && picture->height == color->height,
             "convert: the color plane of %d x %d px has not the size of the image, %d x %d px",
             color->width, color->height, picture->width, picture->height);
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  RV_REQUIRE(log, layout->plane_of[1] >= 0 || !layout->wide,
             "convert: gray images of more than 8 bits have no colors; make a GRAY8 copy by "
             "rv_convert_crop");
  RvConvertSource source = {.cell_x = layout->cell_x,
                            .cell_y = layout->cell_y,
                            .is_yuv = layout->kind != RV_KIND_RGB,
                            .is_gray = layout->plane_of[1] < 0,
                            .matrix = matrix_of(bt709, full_range)};
  for (int c = 0; c < 3 && layout->plane_of[c] >= 0; c++) {
    const int plane = layout->plane_of[c];
    source.data[c] = (const uint8_t *)picture->data[plane] + layout->offset_of[c];
    source.stride[c] = picture->stride[plane];
    source.step[c] = c && source.is_yuv ? layout->chroma_step : layout->step;
  }
  const RvConvertJob job = {threads, stream, log};
  return stages->color(&job, &source, color);
}

/* Planes whose samples are complete bytes at an integer offset: a crop is a copy of rows. */
static RvStatus crop_planes(const RvConvertStages *stages, const RvConvertJob *job,
                            const RvPicture *picture, int x, int y, const RvPicture *out) {
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  for (int p = 0; p < layout->planes; p++) {
    const int row = p ? y / layout->cell_y : y;
    const int column = p ? x / layout->cell_x * layout->chroma_step : x * layout->step;
    const char *from = (const char *)picture->data[p] + row * picture->stride[p] + column;
    RV_TRY(stages->rows(job, out->data[p], out->stride[p], from, picture->stride[p],
                        rv_pixel_row_bytes(out->format, p, out->width),
                        rv_pixel_rows(out->format, p, out->height)));
  }
  return RV_OK;
}

RvStatus rv_convert_crop(const RvPicture *picture, int x, int y, const RvPicture *out, int threads,
                         RvEngine engine, RvStream stream, const RvLog *log) {
  const RvConvertStages *stages;
  RV_TRY(stages_of(&stages, engine, log));
  RV_REQUIRE(log, rv_picture_fits(out),
             "convert: the output image needs a known format, a size of 1..%d px, all its planes "
             "and strides of at least a row",
             RV_MAX_SIDE);
  RV_TRY(check_rectangle(picture, x, y, out->width, out->height, threads, log));
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  const int is_gray = layout->plane_of[1] < 0;
  const int narrows = is_gray && layout->wide && out->format != picture->format;
  const int colorless = is_gray && out->format == RV_PIXEL_NV12;
  RV_REQUIRE(log,
             picture->format == out->format || colorless ||
                 (narrows && out->format == RV_PIXEL_GRAY8),
             "convert: a crop keeps the pixel format (or makes NV12 of gray, GRAY8 of wider gray)");
  const RvConvertJob job = {threads, stream, log};
  const RvPlane gray = {out->data[0], out->stride[0], out->width, out->height, RV_U8};
  if (layout->kind == RV_KIND_PACKED && ((x | out->width) & 1))
    return stages->repack(&job, picture, x, y, out);
  RV_TRY(narrows ? stages->gray(&job, picture, x, y, &gray)
                 : crop_planes(stages, &job, picture, x, y, out));
  if (!colorless)
    return RV_OK;
  return stages->fill(&job, out->data[1], out->stride[1], RV_CHROMA_GRAY,
                      rv_pixel_row_bytes(RV_PIXEL_NV12, 1, out->width),
                      rv_pixel_rows(RV_PIXEL_NV12, 1, out->height));
}
