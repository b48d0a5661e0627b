/* SPDX-License-Identifier: MIT */
/* hough_bench.c: from the binary edge map to the sorted list, on the peers' images. */
#include <stdio.h>
#include <string.h>

#include "hough/hough_cases.h"
#include "hough/hough_inputs.h"

static RvStatus run_timed(void *user, RvStream stream) {
  return hough_run(user, 0, stream);
}

static void row(RvCheck *check, const char *name, const HoughImages *pictures, uint8_t *pixels,
                RvHoughEdges edges, int threshold, int segments, int threads, RvEngine engine) {
  if (!rvc_wants(check, name) || (engine == RV_CUDA ? !rvc_cuda(check) : !rvc_cpu(check)))
    return;
  RvHoughConfig c;
  rv_hough_config_init(&c);
  c.width = pictures->width, c.height = pictures->height;
  c.edges = edges;
  c.threshold = threshold;
  c.segments = segments;
  c.max_lines = RV_HOUGH_LINES_MAX;
  c.threads = threads;
  c.log = rvc_log(check);
  const RvPlane input = {pixels, c.width, c.width, c.height, RV_U8};
  HoughRun r;
  if (hough_run_new(check, &r, &c, &input, engine))
    rvc_bench(check, name, engine, run_timed, &r);
  else
    rvc_fail(check, name, "cannot be set up");
  hough_run_free(&r);
}

/* The images must be the peers': so many edges. */
static int expect(RvCheck *check, const HoughImages *p, const uint8_t *map, long edges,
                  const char *name) {
  const long count = hough_images_count(p, map);
  if (count != edges)
    rvc_fail(check, name, "the image has %ld edges, not %ld: no comparison", count, edges);
  return count == edges;
}

static void large(RvCheck *check) {
  HoughImages p;
  if (hough_images_new(&p, 0)) {
    for (int engine = RV_CPU; engine <= RV_CUDA; engine++) {
      if (expect(check, &p, p.p10, 207360, "hough/1080p-p10"))
        row(check, "hough/1080p-p10", &p, p.p10, RV_HOUGH_BINARY, 300, 0, 1, (RvEngine)engine);
      if (expect(check, &p, p.canny, 38190, "hough/1080p-canny"))
        row(check, "hough/1080p-canny", &p, p.canny, RV_HOUGH_BINARY, 300, 0, 1, (RvEngine)engine);
      row(check, "hough/1080p-picture", &p, p.gray, RV_HOUGH_CANNY, 300, 0, 0, (RvEngine)engine);
      row(check, "hough/1080p-segments", &p, p.gray, RV_HOUGH_CANNY, 300, 1, 0, (RvEngine)engine);
    }
  } else {
    rvc_fail(check, "hough/1080p-p10", "out of memory");
  }
  hough_images_free(&p);
}

static void small(RvCheck *check) {
  HoughImages p;
  if (hough_images_new(&p, 1)) {
    for (int engine = RV_CPU; engine <= RV_CUDA; engine++)
      if (expect(check, &p, p.canny, 9470, "hough/480p-canny"))
        row(check, "hough/480p-canny", &p, p.canny, RV_HOUGH_BINARY, 150, 0, 1, (RvEngine)engine);
  } else {
    rvc_fail(check, "hough/480p-canny", "out of memory");
  }
  hough_images_free(&p);
}

void hough_bench(RvCheck *check) {
  if (!rvc_small(check) &&
      (rvc_wants(check, "hough/1080p-p10") || rvc_wants(check, "hough/1080p-canny") ||
       rvc_wants(check, "hough/1080p-picture") || rvc_wants(check, "hough/1080p-segments")))
    large(check);
  if (!rvc_small(check) && rvc_wants(check, "hough/480p-canny"))
    small(check);
}
