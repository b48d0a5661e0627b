/* SPDX-License-Identifier: MIT */
/* hough_bench.c: from the binary edge map to the sorted list, on the peers' images. */
#include <stdio.h>
#include <string.h>

#include "hough/hough_cases.h"
#include "hough/hough_inputs.h"

static RvStatus run_timed(void *user, RvStream stream) {
  return hough_run(user, 0, stream);
}

/* The modes of rows that begin with the picture. */
typedef struct Mode {
  const char *name;
  RvHoughEdges edges;
  int segments, direction;
} Mode;

static const Mode modes[] = {{"hough/1080p-picture", RV_HOUGH_CANNY, 0, 0},
                             {"hough/1080p-segments", RV_HOUGH_CANNY, 1, 0},
                             {"hough/1080p-direction", RV_HOUGH_CANNY, 0, 10},
                             {"hough/1080p-sobel", RV_HOUGH_SOBEL, 0, 0}};
#define MODES (sizeof modes / sizeof modes[0])

static const Mode from_map = {NULL, RV_HOUGH_BINARY, 0, 0};

static void row(RvCheck *check, const char *name, const HoughImages *pictures, uint8_t *pixels,
                const Mode *mode, int threshold, int threads, RvEngine engine) {
  if (!rvc_wants(check, name) || (engine == RV_CUDA ? !rvc_cuda(check) : !rvc_cpu(check)))
    return;
  RvHoughConfig c;
  rv_hough_config_init(&c);
  c.width = pictures->width, c.height = pictures->height;
  c.edges = mode->edges;
  c.threshold = threshold;
  c.segments = mode->segments;
  c.direction = mode->direction;
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
        row(check, "hough/1080p-p10", &p, p.p10, &from_map, 300, 1, (RvEngine)engine);
      if (expect(check, &p, p.canny, 38190, "hough/1080p-canny"))
        row(check, "hough/1080p-canny", &p, p.canny, &from_map, 300, 1, (RvEngine)engine);
      for (size_t k = 0; k < MODES; k++)
        row(check, modes[k].name, &p, p.gray, &modes[k], 300, 0, (RvEngine)engine);
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
        row(check, "hough/480p-canny", &p, p.canny, &from_map, 150, 1, (RvEngine)engine);
  } else {
    rvc_fail(check, "hough/480p-canny", "out of memory");
  }
  hough_images_free(&p);
}

void hough_bench(RvCheck *check) {
  if (rvc_small(check))
    return;
  int is_wanted = rvc_wants(check, "hough/1080p-p10") || rvc_wants(check, "hough/1080p-canny");
  for (size_t k = 0; k < MODES; k++)
    is_wanted |= rvc_wants(check, modes[k].name);
  if (is_wanted)
    large(check);
  if (rvc_wants(check, "hough/480p-canny"))
    small(check);
}
