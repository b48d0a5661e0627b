/* convert.c: pixel format tables, checks, and which stage does what. */
#include "convert/convert_stages.h"
#include "rv_config.h"

static const RvPixelLayout layouts[RV_PIXEL_FORMATS] = {
    /* kind, planes, step, cell, chroma step, planes of the channels, their offsets, alpha */
    [RV_PIXEL_NV12] = {RV_KIND_PLANAR, 2, 1, 2, 2, 2, {0, 1, 1}, {0, 0, 1}, -1},
    [RV_PIXEL_I420] = {RV_KIND_PLANAR, 3, 1, 2, 2, 1, {0, 1, 2}, {0, 0, 0}, -1},
    [RV_PIXEL_YUY2] = {RV_KIND_PACKED, 1, 2, 2, 1, 4, {0, 0, 0}, {0, 1, 3}, -1},
    [RV_PIXEL_UYVY] = {RV_KIND_PACKED, 1, 2, 2, 1, 4, {0, 0, 0}, {1, 0, 2}, -1},
    [RV_PIXEL_BGRX] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {2, 1, 0}, -1},
    [RV_PIXEL_BGRA] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {2, 1, 0}, 3},
    [RV_PIXEL_RGBX] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {0, 1, 2}, -1},
    [RV_PIXEL_RGBA] = {RV_KIND_RGB, 1, 4, 1, 1, 4, {0, 0, 0}, {0, 1, 2}, 3},
    [RV_PIXEL_RGB] = {RV_KIND_RGB, 1, 3, 1, 1, 3, {0, 0, 0}, {0, 1, 2}, -1},
    [RV_PIXEL_BGR] = {RV_KIND_RGB, 1, 3, 1, 1, 3, {0, 0, 0}, {2, 1, 0}, -1},
    [RV_PIXEL_GRAY8] = {RV_KIND_PLANAR, 1, 1, 1, 1, 0, {0, -1, -1}, {0, 0, 0}, -1},
};

const RvPixelLayout *rv_pixel_layout(RvPixelFormat format) {
  return (unsigned)format < RV_PIXEL_FORMATS ? &layouts[format] : NULL;
}

int rv_pixel_planes(RvPixelFormat format) {
  const RvPixelLayout *layout = rv_pixel_layout(format);
  return layout ? layout->planes : 0;
}

size_t rv_pixel_row_bytes(RvPixelFormat format, int plane, int width) {
  const RvPixelLayout *layout = rv_pixel_layout(format);
  if (!layout || plane < 0 || plane >= layout->planes || width < 1)
    return 0;
  const size_t cells = (size_t)rv_div_up(width, layout->cell_x);
  if (plane > 0)
    return cells * (size_t)layout->chroma_step;
  return layout->kind == RV_KIND_PACKED ? cells * RV_PACKED_PAIR
                                        : (size_t)width * (size_t)layout->step;
}

int rv_pixel_rows(RvPixelFormat format, int plane, int height) {
  const RvPixelLayout *layout = rv_pixel_layout(format);
  if (!layout || plane < 0 || plane >= layout->planes || height < 1)
    return 0;
  return plane > 0 ? rv_div_up(height, layout->cell_y) : height;
}

int rv_picture_fits(const RvPicture *picture) {
  if (!picture || !rv_pixel_layout(picture->format))
    return 0;
  if (picture->width < 1 || picture->width > RV_MAX_SIDE || picture->height < 1 ||
      picture->height > RV_MAX_SIDE)
    return 0;
  for (int p = 0; p < rv_pixel_planes(picture->format); p++)
    if (!picture->data[p] ||
        picture->stride[p] < (ptrdiff_t)rv_pixel_row_bytes(picture->format, p, picture->width))
      return 0;
  return 1;
}

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

/* Rules of both public functions: a legal picture with the rectangle inside. */
static RvStatus check_rectangle(const RvPicture *picture, int x, int y, int width, int height,
                                int threads, const RvLog *log) {
  RV_REQUIRE(log, rv_picture_fits(picture),
             "convert: the picture needs a known format, a size of 1..%d px, all its planes and "
             "strides of at least a row",
             RV_MAX_SIDE);
  RV_REQUIRE(log, threads >= 0, "convert: threads is %d; 0 means all", threads);
  RV_REQUIRE(log,
             x >= 0 && y >= 0 && width >= 1 && height >= 1 && width <= picture->width &&
                 height <= picture->height && x <= picture->width - width &&
                 y <= picture->height - height,
             "convert: the rectangle %dx%d at (%d, %d) does not lie in the picture of %dx%d px",
             width, height, x, y, picture->width, picture->height);
  return RV_OK;
}

RvStatus rv_convert_grey(const RvPicture *picture, int x, int y, const RvPlane *grey, int threads,
                         RvEngine engine, RvStream stream, const RvLog *log) {
  const RvConvertStages *stages;
  RV_TRY(stages_of(&stages, engine, log));
  RV_REQUIRE(log, grey && rv_plane_fits(grey, grey->width, grey->height, RV_U8),
             "convert: the grey plane must be u8 with a stride of at least a row");
  RV_TRY(check_rectangle(picture, x, y, grey->width, grey->height, threads, log));

  const RvConvertJob job = {threads, stream, log};
  if (rv_pixel_layout(picture->format)->kind != RV_KIND_PLANAR)
    return stages->grey(&job, picture, x, y, grey);
  const char *from = (const char *)picture->data[0] + y * picture->stride[0] + x;
  return stages->rows(&job, grey->data, grey->stride, from, picture->stride[0], (size_t)grey->width,
                      grey->height);
}

/* Planes whose samples are whole bytes at a whole offset: a crop is a copy of rows. */
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
             "convert: the output picture needs a known format, a size of 1..%d px, all its planes "
             "and strides of at least a row",
             RV_MAX_SIDE);
  RV_TRY(check_rectangle(picture, x, y, out->width, out->height, threads, log));
  const int colourless = picture->format == RV_PIXEL_GRAY8 && out->format == RV_PIXEL_NV12;
  RV_REQUIRE(log, picture->format == out->format || colourless,
             "convert: a crop keeps the pixel format (or makes NV12 of GRAY8)");

  const RvConvertJob job = {threads, stream, log};
  const RvPixelLayout *layout = rv_pixel_layout(picture->format);
  if (layout->kind == RV_KIND_PACKED && ((x | out->width) & 1))
    return stages->repack(&job, picture, x, y, out);
  RV_TRY(crop_planes(stages, &job, picture, x, y, out));
  if (!colourless)
    return RV_OK;
  return stages->fill(&job, out->data[1], out->stride[1], RV_CHROMA_GREY,
                      rv_pixel_row_bytes(RV_PIXEL_NV12, 1, out->width),
                      rv_pixel_rows(RV_PIXEL_NV12, 1, out->height));
}
