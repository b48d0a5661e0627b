/* SPDX-License-Identifier: MIT */
/* rectify.c: host side of rectification: parameters, plan, and run. */
#include "rectify/rectify.h"

#include <stdio.h>

#include "rectify/rectify_geometry.h"
#include "rectify/rectify_maps.h"
#include "rectify/rectify_stages.h"
#include "rv_hd.h"
#include "rv_pixels.h"

/* --- Parameters ------------------------------------------------------------------------------ */

RV_OBJECT_STRUCT(RvRectify);

static const RvParam params[] = {
    RV_INT("in-width", in_width, 1, RV_MAX_SIDE, 0, RV_PARAM_REQUIRED | RV_PARAM_HIDDEN, "px", NULL,
           "Width of one view of the input"),
    RV_INT("in-height", in_height, 1, RV_MAX_SIDE, 0, RV_PARAM_REQUIRED | RV_PARAM_HIDDEN, "px",
           NULL, "Height of one view of the input"),
    RV_CHOICE("format", format, RV_PIXEL_NV12, RV_PARAM_HIDDEN, NULL, NULL,
              "Pixel format of input and output", RV_PIXEL_VALUES),
    RV_CHOICE(
        "layout", layout, RV_RECTIFY_SIDE_BY_SIDE, RV_PARAM_HIDDEN, NULL, NULL,
        "Packing of the two views in a frame",
        {RV_RECTIFY_SIDE_BY_SIDE, "side-by-side", "left view, right view"},
        {RV_RECTIFY_SIDE_BY_SIDE_RIGHT_FIRST, "side-by-side-right-first", "right view, left view"},
        {RV_RECTIFY_TOP_BOTTOM, "top-bottom", "left view above right view"},
        {RV_RECTIFY_TOP_BOTTOM_RIGHT_FIRST, "top-bottom-right-first",
         "right view above left view"}),
    RV_INT("width", width, 0, RV_MAX_SIDE, 0, 0, "px", "0 = as the calibration or the input",
           "Width of one rectified view; another width than that of the input scales the image"),
    RV_INT("height", height, 0, RV_MAX_SIDE, 0, 0, "px", "0 = in proportion to the width",
           "Height of one rectified view; crops or extends the image, centered"),
    RV_REAL(
        "alpha", alpha, -1, 1, -1, 0, NULL, "-1 = as the calibration",
        "Zoom of the rectified views of pinhole cameras: 0 shows no border, 1 every input pixel"),
    RV_REAL("fov-scale", fov_scale, 0.1, 10, 1, 0, NULL, NULL,
            "Divisor of the focal length of rectified views of fisheye cameras"),
    RV_CHOICE("interpolation", interpolation, RV_RECTIFY_BILINEAR, 0, NULL, NULL,
              "Interpolation between pixels of the input",
              {RV_RECTIFY_BILINEAR, "bilinear", "from 4 pixels with weights of 1/1024"},
              {RV_RECTIFY_NEAREST, "nearest", "value of the nearest pixel"}),
    RV_SWITCH("full-range", full_range, 0, RV_PARAM_HIDDEN, NULL, NULL,
              "Use 0 in place of 16 as luma outside of the input"),
    RV_SWITCH("chroma-cosited-x", chroma_cosited_x, 1, RV_PARAM_HIDDEN, NULL, NULL,
              "Position of chroma samples in x: on even pixels; off: between two pixels"),
    RV_SWITCH("chroma-cosited-y", chroma_cosited_y, 0, RV_PARAM_HIDDEN, NULL, NULL,
              "Position of chroma samples in y: on even rows; off: between two rows"),
    RV_PARAM_THREADS,
};
RV_PARAMS(rectify)

/* --- Object ---------------------------------------------------------------------------------- */

static int is_top_bottom(const RvRectifyConfig *c) {
  return c->layout >= RV_RECTIFY_TOP_BOTTOM;
}

/* Size of a packed frame of views of width x height px. */
static void frame_size(const RvRectifyConfig *c, int width, int height, int *frame_width,
                       int *frame_height) {
  *frame_width = is_top_bottom(c) ? width : 2 * width;
  *frame_height = is_top_bottom(c) ? 2 * height : height;
}

static RvStatus rules(const void *memory) {
  const RvRectifyConfig *c = memory;
  RvRectifyGeometry geometry;
  RV_TRY(rv_rectify_make_geometry(c, &geometry));
  for (int i = 0; i < 2; i++) {
    int w, h;
    frame_size(c, i ? geometry.width : c->in_width, i ? geometry.height : c->in_height, &w, &h);
    RV_REQUIRE(&c->log, w <= RV_MAX_SIDE && h <= RV_MAX_SIDE,
               "rectify: the packed %s frame has %d x %d px, at most %d each are possible",
               i ? "output" : "input", w, h, RV_MAX_SIDE);
  }
  return RV_OK;
}

static void make_plan(void *memory) {
  (void)rv_rectify_make_plan(memory); /* the config has been checked */
}

static void describe(const void *memory, char *text, size_t size) {
  const RvRectifyPlan *plan = memory;
  snprintf(text, size, "the maps of two views of %d x %d pixels", plan->geometry.width,
           plan->geometry.height);
}

RV_CLASS(RvRectify, rectify, .rules = rules, .plan = make_plan, .describe = describe);

RvStatus rv_rectify_geometry(const RvRectifyConfig *config, RvRectifyGeometry *geometry) {
  if (!geometry)
    return RV_ERR_ARG;
  RV_TRY(rv_rectify_config_check(config));
  return rv_rectify_make_geometry(config, geometry);
}

int rv_rectify_is_identity(const RvRectify *rectify) {
  return rectify && rectify->plan.is_identity;
}

/* Largest rectangle of rows whose runs contain it; ties: the topmost. */
RvRectifyRect rv_rectify_valid(const RvRectify *rectify) {
  RvRectifyRect best = {0, 0, 0, 0};
  int64_t area = 0;
  const int rows = rectify ? rectify->plan.geometry.height : 0;
  for (int top = 0; top < rows; top++) {
    const RvRectifySpan *runs = rectify->plan.runs;
    int first = runs[top].first, last = runs[top].last;
    for (int r = top; r < rows; r++) {
      first = rv_max(first, runs[r].first);
      last = rv_min(last, runs[r].last);
      const int64_t width = last - first;
      if (width <= 0 || width * (rows - top) <= area)
        break;
      if (width * (r - top + 1) > area) {
        area = width * (r - top + 1);
        best = (RvRectifyRect){first, top, (int)width, r - top + 1};
      }
    }
  }
  return best;
}

/* --- Run ------------------------------------------------------------------------------------- */

int rv_rectify_samples(RvPixelFormat format, RvRectifySamples s[RV_RECTIFY_SAMPLES_MAX]) {
  const RvPixelLayout *l = rv_pixel_layout(format);
  if (l->kind == RV_KIND_RGB) {
    s[0] = (RvRectifySamples){RV_RECTIFY_LUMA, 0, l->step, l->step, 0, 1, 0, 0};
    return 1;
  }
  const int wide = l->wide, is_packed = l->kind == RV_KIND_PACKED;
  s[0] = (RvRectifySamples){
      RV_RECTIFY_LUMA, l->plane_of[0], 1, l->step, l->offset_of[0] - wide, 0, wide, is_packed};
  if (l->plane_of[1] < 0)
    return 1;
  /* U and V are treated alike: the first of them in memory may be either. */
  const int joined = l->plane_of[1] == l->plane_of[2], u = l->offset_of[1], v = l->offset_of[2];
  for (int c = 1; c < 3; c++)
    s[c] =
        (RvRectifySamples){RV_RECTIFY_CHROMA,   l->plane_of[c],        1 + joined, l->chroma_step,
                           rv_min(u, v) - wide, u < v ? v - u : u - v, wide,       0};
  return joined ? 2 : 3;
}

static RvStatus check_picture(const RvRectifyConfig *c, const char *name, const RvPicture *picture,
                              int view_width, int view_height) {
  const RvLog *log = &c->log;
  int w, h;
  frame_size(c, view_width, view_height, &w, &h);
  RV_REQUIRE(log,
             rv_picture_fits(picture) && picture->format == c->format && picture->width == w &&
                 picture->height == h,
             "rectify: image %s must be %d x %d px of the configured format with all its planes "
             "and strides of at least a row",
             name, w, h);
  for (int p = 0; p < rv_pixel_planes(c->format); p++)
    RV_REQUIRE(log, picture->stride[p] <= RV_RECTIFY_STRIDE_MAX,
               "rectify: the stride of plane %d of image %s is %td bytes, must be at most %d", p,
               name, picture->stride[p], RV_RECTIFY_STRIDE_MAX);
  return RV_OK;
}

RvStatus rv_rectify_run(RvRectify *rectify, const RvPicture *in, const RvPicture *out,
                        RvStream stream) {
  if (!rectify)
    return RV_ERR_ARG;
  const RvRectifyPlan *plan = &rectify->plan;
  const RvRectifyConfig *c = &plan->config;
  RV_TRY(check_picture(c, "in", in, c->in_width, c->in_height));
  RV_TRY(check_picture(c, "out", out, plan->geometry.width, plan->geometry.height));
  const RvRectifyStages *stages = (const RvRectifyStages *)rectify->object.base;
  const RvRectifyJob job = {plan, *in, *out, stream};
  return stages->remap(rectify->object.work, &job);
}
