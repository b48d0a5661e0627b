/* SPDX-License-Identifier: MIT */
/* pipelines_results.c: every element of the project in one chain: each way of running it gives the
 * same results and the same image. */
#include "pipelines.h"

#define SOURCE "stereotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=640,height=240 ! "
#define CHAIN(a, b, c, d, e, f)                                                                    \
  "cudasgm confidence=true " a " ! cudastixels " b " ! cudardp " c " ! cudaroaddetect " d          \
  " ! cudahough segments=true threshold=40 " e " ! cudaannotate " f
#define SAME(a) CHAIN(a, a, a, a, a, a)
#define CPU "engine=cpu "
#define END " ! fakesink name=out"
#define DOWN " ! cudadownload" END
#define OTHER "engine=%1$s "

static void equal(Pipelines *e) {
  static const PipelinesPart parts[] = {
      {RV_META_DISPARITY, "payload", 1},
      {RV_META_DISPARITY, "confidence", 1},
      {RV_META_STIXELS, "payload", 40 * sizeof(RvStixel)}, /* columns of 8 px */
      {RV_META_SEGMENTS, "payload", 320 * sizeof(RvSegment)},
      {RV_META_ROAD, "payload", 1},
      {RV_META_ROAD, "distance", 1},
      {RV_META_ROAD, "seed-mask", 1},
      {RV_META_LINES, "payload", sizeof(RvLine)},
      {NULL, NULL, 1},
  };
  static const char *const ways[] = {
      SOURCE SAME(OTHER) END,
      SOURCE CHAIN(CPU, OTHER, CPU "! queue", OTHER, CPU "! identity", OTHER) END,
      SOURCE CHAIN(OTHER, CPU "! tee", OTHER, CPU, OTHER "! queue", CPU) END,
      NULL,
  };
  static const char *const cuda_ways[] = {
      SOURCE "cudaupload ! " SAME("") DOWN,
      SOURCE "cudaupload ! " SAME("! queue") DOWN,
      SOURCE "cudaupload ! " CHAIN("", CPU, "", CPU, "", CPU) DOWN,
      SOURCE CHAIN("engine=cuda", "! cudaupload", "", "! cudadownload", "engine=cuda", CPU) END,
      NULL,
  };
  pipelines_equal(e, parts, G_N_ELEMENTS(parts), SOURCE SAME(CPU) END, ways, cuda_ways);
}

const PipelinesTest pipelines_results_tests[] = {{"results/equal", equal}, {NULL, NULL}};
