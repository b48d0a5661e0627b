/* SPDX-License-Identifier: MIT */
/* pipelines.h: what the tests of whole pipelines share: checks that count, images, pipelines,
 * annotations. */
#ifndef PIPELINES_H
#define PIPELINES_H

#include "element_test.h"

typedef struct Pipelines {
  const char *engine; /* "cpu" or "cuda": what the elements under test are told */
  gboolean cuda_caps; /* cudaupload and cudadownload exist: CUDA caps can be tested */
  const char *only;   /* run only tests whose name contains this */
  guint64 checks, failed;
  char test[128];
} Pipelines;

typedef struct PipelinesTest {
  const char *name;
  void (*run)(Pipelines *e);
} PipelinesTest;

extern const PipelinesTest pipelines_source_tests[], pipelines_errors_tests[],
    pipelines_annotate_tests[], pipelines_chain_tests[], pipelines_segments_tests[],
    pipelines_results_tests[];

/* Counts; prints the test, the text and the place when it does not hold. Returns the condition. */
#define CHECK(e, condition, ...)                                                                   \
  pipelines_check((e), !!(condition), __FILE__, __LINE__, __VA_ARGS__)
gboolean pipelines_check(Pipelines *e, gboolean holds, const char *file, int line,
                         const char *format, ...) G_GNUC_PRINTF(5, 6);

/* The formats of system memory. */
extern const char *const pipelines_formats[];

/* Bytes of a buffer's image without padding, as GBytes; NULL when it cannot be mapped. */
GBytes *pipelines_pixels(GstBuffer *buffer, GstCaps *caps);

/* Raster of an annotation without padding; NULL when it is not there. */
GBytes *pipelines_raster(GstBuffer *buffer, const char *meta, const char *field);

/* Outcome of a pipeline run to its end. */
typedef struct PipelinesRun {
  gboolean eos;
  char *error; /* message and debug text of the first error, or NULL */
  char *warning;
  guint buffers;
  GPtrArray *samples;  /* GstSample, of the sink named "out" */
  GPtrArray *messages; /* GstStructure of element messages named rv-* or by an element under test */
} PipelinesRun;

/* Runs a launch line that ends in `appsink`-like `fakesink name=out`; %s engine tokens are expanded
 * by the caller. At most 60 s. */
void pipelines_run(Pipelines *e, PipelinesRun *run, const char *line);
void pipelines_run_clear(PipelinesRun *run);

gboolean pipelines_same(GBytes *a, GBytes *b);

/* What is compared of a frame: a raster of an annotation, or the image (meta NULL). */
typedef struct PipelinesPart {
  const char *meta, *field;
  gsize least; /* bytes that it has at least */
} PipelinesPart;

/* These parts of every frame of a line of three frames, one after the other. */
GBytes *pipelines_bits(Pipelines *e, const char *line, const PipelinesPart *parts, guint count);

/* Every way of running one stream gives the bits that `want` gives. %1$s in `ways` is the engine
 * under test; `cuda_ways` are run where there are CUDA caps. Both end with NULL. */
void pipelines_equal(Pipelines *e, const PipelinesPart *parts, guint count, const char *want,
                     const char *const *ways, const char *const *cuda_ways);

#endif
