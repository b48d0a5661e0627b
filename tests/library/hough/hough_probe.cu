/* SPDX-License-Identifier: MIT */
/* hough_probe.cu: see hough_probe.h. An object begins with its RvObject. */
#include "hough/hough_probe.h"

#include "hough/hough_cuda.cuh"

static HoughCuda *work_of(const RvHough *hough) {
  return (HoughCuda *)((const RvObject *)hough)->work;
}

extern "C" void hough_probe_shape(const RvHough *hough, HoughShape *shape) {
  const HoughCuda *work = work_of(hough);
  *shape = {work->shape.group, work->shape.parts, work->shape.passes, work->processors};
}

extern "C" void hough_probe_emulate_pre_sm90(RvHough *hough) {
  HoughCuda *work = work_of(hough);
  work->is_early = work->shape.is_cluster = 0;
}
