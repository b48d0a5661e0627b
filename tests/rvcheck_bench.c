/* SPDX-License-Identifier: MIT */
/* rvcheck_bench.c: times runs and prints their median and 95th percentile. */
#include "rvcheck_run.h"

#include "bench_time.h"

#include "rv_config.h"
#include "rv_hd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if RV_HAVE_CUDA
#  include <cuda_runtime_api.h>
#endif

#define ROOM 400 /* single runs of one row at most */

double rvc_now_us(void) {
  return bench_now_us();
}

static int time_cpu(double *us, int room, double seconds, RvStatus *status,
                    RvStatus (*run)(void *user, RvStream stream), void *user) {
  for (int i = 0; i < 2; i++) /* caches, pages, the thread pool */
    if ((*status = run(user, NULL)) != RV_OK)
      return 0;
  const double end = rvc_now_us() + seconds * 1e6;
  int runs = 0;
  while (runs < room && (runs < 5 || rvc_now_us() < end)) {
    const double start = rvc_now_us();
    if ((*status = run(user, NULL)) != RV_OK)
      return 0;
    us[runs++] = rvc_now_us() - start;
  }
  return runs;
}

#if RV_HAVE_CUDA
#  define BATCH 16 /* samples enqueued before the host waits: the GPU never idles between them */
#  define REPLAY 8 /* runs in a graph */

void rvc_cuda_describe(char *text, size_t size) {
  struct cudaDeviceProp prop;
  int driver = 0, runtime = 0;
  text[0] = '\0';
  if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess)
    return;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  snprintf(text, size, "%s, compute %d.%d, CUDA runtime %d.%d, driver supports CUDA %d.%d",
           prop.name, prop.major, prop.minor, runtime / 1000, runtime % 1000 / 10, driver / 1000,
           driver % 1000 / 10);
}

#  define GRAPHS (RVC_SEQUENCE / REPLAY)

/* What a sample enqueues: a graph of REPLAY runs, one after the other, or where a run cannot be
 * captured one run. */
typedef struct Sample {
  cudaGraphExec_t graphs[GRAPHS];
  int count, next; /* graphs: 0 where a run cannot be captured */
  RvStatus (*run)(void *user, RvStream stream);
  void *user;
} Sample;

/* REPLAY runs as a graph, which the host enqueues at once: what is timed is then the GPU's work and
 * not the host's calls. */
static cudaGraphExec_t capture(const Sample *sample, RvStream stream) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  int good = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
  for (int i = 0; good && i < REPLAY; i++)
    good = sample->run(sample->user, stream) == RV_OK;
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !good ||
      cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess)
    exec = NULL;
  if (graph)
    cudaGraphDestroy(graph);
  (void)cudaGetLastError();
  return exec;
}

static void capture_all(Sample *sample, int frames, RvStream stream) {
  for (int i = 0; i < rv_max(1, frames / REPLAY) && i < GRAPHS; i++) {
    const cudaGraphExec_t graph = capture(sample, stream);
    if (!graph)
      return;
    sample->graphs[sample->count++] = graph;
  }
}

static RvStatus enqueue(Sample *sample, RvStream stream) {
  if (sample->count == 0)
    return sample->run(sample->user, stream);
  const cudaGraphExec_t graph = sample->graphs[sample->next++ % sample->count];
  return cudaGraphLaunch(graph, stream) == cudaSuccess ? RV_OK : RV_ERR_CUDA;
}

/* One batch: an event before and after every sample. */
static RvStatus time_batch(cudaEvent_t *events, double *us, RvStream stream, Sample *sample) {
  for (int i = 0; i < BATCH; i++) {
    if (cudaEventRecord(events[2 * i], stream) != cudaSuccess)
      return RV_ERR_CUDA;
    const RvStatus status = enqueue(sample, stream);
    if (status != RV_OK)
      return status;
    if (cudaEventRecord(events[2 * i + 1], stream) != cudaSuccess)
      return RV_ERR_CUDA;
  }
  if (cudaStreamSynchronize(stream) != cudaSuccess)
    return RV_ERR_CUDA;
  for (int i = 0; i < BATCH; i++) {
    float ms = 0;
    if (cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]) != cudaSuccess)
      return RV_ERR_CUDA;
    us[i] = (double)ms * 1e3 / (sample->count ? REPLAY : 1);
  }
  return RV_OK;
}

/* Median time of single runs as an application calls them: the GPU is idle before each, and waits
 * for the host's calls. */
static RvStatus time_single(cudaEvent_t *events, RvStream stream, const Sample *sample,
                            double *median) {
  double us[BATCH];
  for (int i = 0; i < BATCH; i++) {
    float ms = 0;
    if (cudaStreamSynchronize(stream) != cudaSuccess ||
        cudaEventRecord(events[0], stream) != cudaSuccess)
      return RV_ERR_CUDA;
    const RvStatus status = sample->run(sample->user, stream);
    if (status != RV_OK)
      return status;
    if (cudaEventRecord(events[1], stream) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess ||
        cudaEventElapsedTime(&ms, events[0], events[1]) != cudaSuccess)
      return RV_ERR_CUDA;
    us[i] = (double)ms * 1e3;
  }
  qsort(us, BATCH, sizeof us[0], bench_by_value);
  *median = 0.5 * (us[BATCH / 2 - 1] + us[BATCH / 2]);
  return RV_OK;
}

static int time_cuda(double *us, int room, double seconds, int frames, double *single,
                     RvStatus *status, RvStatus (*run)(void *user, RvStream stream), void *user) {
  RvStream stream = NULL;
  if ((*status = rv_stream_new(&stream)) != RV_OK)
    return 0;
  cudaEvent_t events[2 * BATCH];
  int made = 0;
  while (made < 2 * BATCH && cudaEventCreate(&events[made]) == cudaSuccess)
    made++;
  int runs = 0;
  Sample sample = {.run = run, .user = user};
  if (made == 2 * BATCH) {
    double warm[BATCH]; /* clocks, instruction caches, first use of memory */
    *status = time_batch(events, warm, stream, &sample);
    if (*status == RV_OK)
      capture_all(&sample, frames, stream);
    const double end = rvc_now_us() + seconds * 1e6;
    while (*status == RV_OK && runs + BATCH <= room && (runs == 0 || rvc_now_us() < end)) {
      *status = time_batch(events, us + runs, stream, &sample);
      runs += BATCH;
    }
    if (*status == RV_OK && single)
      *status = time_single(events, stream, &sample, single);
  } else {
    *status = RV_ERR_CUDA;
  }
  for (int i = 0; i < sample.count; i++)
    cudaGraphExecDestroy(sample.graphs[i]);
  for (int i = 0; i < made; i++)
    cudaEventDestroy(events[i]);
  rv_stream_free(&stream);
  return *status == RV_OK ? runs : 0;
}
#else
void rvc_cuda_describe(char *text, size_t size) {
  if (size)
    text[0] = '\0';
}

static int time_cuda(double *us, int room, double seconds, int frames, double *single,
                     RvStatus *status, RvStatus (*run)(void *user, RvStream stream), void *user) {
  (void)frames, (void)single;
  (void)us, (void)room, (void)seconds, (void)run, (void)user;
  *status = RV_ERR_NO_DEVICE;
  return 0;
}
#endif

int rvc_time_cuda(double *us, int room, double seconds, RvStatus *status,
                  RvStatus (*run)(void *user, RvStream stream), void *user) {
  return time_cuda(us, room, seconds, 1, NULL, status, run, user);
}

double rvc_bench(RvCheck *check, const char *name, RvEngine engine,
                 RvStatus (*run)(void *user, RvStream stream), void *user) {
  return rvc_bench_sequence(check, name, engine, 1, run, user);
}

double rvc_bench_sequence(RvCheck *check, const char *name, RvEngine engine, int frames,
                          RvStatus (*run)(void *user, RvStream stream), void *user) {
  if (!check->bench || !rvc_wants(check, name))
    return 0;
  if (engine == RV_CUDA ? !check->cuda : !check->cpu_timed)
    return 0;
  const double seconds = check->small ? 0.1 : 1.5;
  double us[ROOM], single = 0;
  RvStatus status = RV_OK;
  const int runs = engine == RV_CUDA
                       ? time_cuda(us, ROOM, seconds, frames, &single, &status, run, user)
                       : time_cpu(us, ROOM, seconds, &status, run, user);
  if (runs == 0) {
    rvc_fail(check, name, "benchmark: %s", rv_status_text(status));
    return 0;
  }
  qsort(us, (size_t)runs, sizeof us[0], bench_by_value);
  const double median = runs % 2 ? us[runs / 2] : 0.5 * (us[runs / 2 - 1] + us[runs / 2]);
  const double p95 = us[(runs * 95 + 99) / 100 - 1];
  char limit[16] = "";
  if (engine == RV_CUDA && check->sms > 0)
    snprintf(limit, sizeof limit, "-sm%d", check->sms);
  printf("bench %s%s %s median_us=%.1f p95_us=%.1f", name, limit,
         engine == RV_CUDA ? "cuda" : "cpu", median, p95);
  if (engine == RV_CUDA)
    printf(" single_us=%.1f", single);
  printf("\n");
  fflush(stdout);
  check->timed++;
  return median;
}
