/* SPDX-License-Identifier: MIT */
/* road_cuda.cu: the CUDA engine of road detection: its memory, the order of its kernels, and its
 * outputs. */
#include "road/road_cuda.cuh"

/* --- Memory ---------------------------------------------------------------------------------- */

static void set_plan(RoadPlan *to, const RvRoadPlan *plan) {
  const int library = plan->config.library_size;
  static_cast<RvRoadPlan &>(*to) = *plan;
  to->pitch = rv_div_up(plan->cells, 16) * 16;
  to->model_pitch = 1;
  while (to->model_pitch < library && to->model_pitch < 8)
    to->model_pitch *= 2;
  to->model_pitch = rv_div_up(library, to->model_pitch) * to->model_pitch; /* full L2 sectors */
}

template <class T> static void take_piece(T **piece, RvArena *arena, size_t count) {
  *piece = (T *)rv_arena_take(arena, count * sizeof(T));
}

static void take_models(RoadCuda *w, RvArena *arena) {
  const RoadPlan &plan = w->plan;
  const size_t library = (size_t)plan.config.library_size * plan.cells;
  const size_t fresh = (size_t)ROAD_GROUP_MAX * plan.models;
  const size_t table = (size_t)plan.cells * (plan.area + 1) * plan.model_pitch;
  take_piece(&w->library.mean, arena, library);
  take_piece(&w->library.variance, arena, library);
  take_piece(&w->library.weight, arena, plan.config.library_size);
  take_piece(&w->fresh.mean, arena, fresh * plan.cells);
  take_piece(&w->fresh.variance, arena, fresh * plan.cells);
  take_piece(&w->fresh.weight, arena, fresh);
  if (road_known_bytes(&plan) > ROAD_KNOWN_SHARED)
    take_piece(&w->known, arena, ROAD_GROUP_MAX * road_known_bytes(&plan) / sizeof(double));
  take_piece(&w->matched, arena, plan.config.library_size);
  take_piece(&w->sums, arena, library);
  take_piece(&w->squares, arena, library);
  take_piece(&w->unmatched, arena, (size_t)plan.cells * (plan.area + 1));
  if (plan.config.estimate_models) {
    take_piece(&w->clusters, arena, 1);
    take_piece(&w->link, arena, RV_ROAD_EXEMPLARS * RV_ROAD_EXEMPLARS);
  }
  take_piece(&w->exchange, arena, 2 * ROAD_GROUP_MAX * road_exchange_values(&plan));
  take_piece(&w->update.cost, arena, table);
  take_piece(&w->update.base, arena, plan.model_pitch);
  take_piece(&w->dimensions, arena, plan.config.library_size);
  w->classify = w->update;
  if (plan.config.distance != RV_ROAD_MAHALANOBIS) {
    take_piece(&w->classify.cost, arena, table);
    take_piece(&w->classify.base, arena, plan.model_pitch);
  }
}

static void layout(void *memory, const void *plan_memory, RvArena *arena) {
  RoadCuda *w = (RoadCuda *)memory;
  const RoadPlan &plan = w->plan;
  set_plan(&w->plan, (const RvRoadPlan *)plan_memory);
  const size_t patches = plan.patches, pending = plan.config.min_samples;
  const size_t samples = patches + pending;
  take_piece(&w->histogram, arena, 768);
  take_piece(&w->inverse, arena, RV_ROAD_INVERSE_SIZE);
  take_piece(&w->exp, arena, RV_ROAD_EXP_SIZE);
  take_piece(&w->log, arena, RV_ROAD_LOG_SIZE);
  take_piece(&w->frame, arena, 1);
  take_piece(&w->state, arena, 1);
  take_piece(&w->profile, arena, 1);
  take_piece(&w->counts, arena, patches * plan.pitch);
  take_piece(&w->depth, arena, patches);
  take_piece(&w->mean, arena, patches);
  take_piece(&w->budget, arena, patches);
  take_piece(&w->like, arena, patches);
  take_piece(&w->lately, arena, patches);
  take_piece(&w->valid, arena, patches);
  take_piece(&w->lines, arena, (size_t)plan.rows * RV_ROAD_DEPTHS);
  take_piece(&w->seed, arena, patches);
  take_piece(&w->kept, arena, patches);
  take_piece(&w->parent, arena, patches);
  take_piece(&w->size, arena, patches);
  take_piece(&w->contains_seed, arena, patches);
  take_piece(&w->nearest, arena, patches);
  take_piece(&w->pending, arena, 2 * pending * plan.pitch);
  take_piece(&w->left, arena, samples);
  take_piece(&w->rows, arena, samples * plan.pitch);
  take_piece(&w->share, arena, samples * plan.models);
  take_models(w, arena);
}

static RvStatus upload(const RvLog *log, uint32_t *device, const uint32_t *host, size_t count) {
  RV_CU(log, cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice));
  return RV_OK;
}

static RvStatus upload_tables(const RoadCuda *w) {
  const RvRoadConfig *c = &w->plan.config;
  uint32_t *host =
      (uint32_t *)rv_object_memory(&c->log, "road", RV_ROAD_INVERSE_SIZE * sizeof *host);
  if (!host)
    return RV_ERR_NO_MEMORY;
  rv_road_inverse_table(c, host);
  RvStatus status = upload(&c->log, w->inverse, host, RV_ROAD_INVERSE_SIZE);
  rv_road_exp_table(host);
  if (status == RV_OK)
    status = upload(&c->log, w->exp, host, RV_ROAD_EXP_SIZE);
  rv_road_log_table(host);
  if (status == RV_OK)
    status = upload(&c->log, w->log, host, RV_ROAD_LOG_SIZE);
  rv_memory_free(host, RV_CPU);
  return status;
}

static RvStatus clear(const RoadCuda *w) {
  const RoadPlan &plan = w->plan;
  const RvLog *log = &plan.config.log;
  const size_t slots = plan.config.library_size, library = slots * plan.cells;
  const size_t counts = (size_t)plan.cells * (plan.area + 1);
  RV_CU(log, cudaMemset(w->state, 0, sizeof *w->state));
  RV_CU(log, cudaMemset(w->profile, 0, sizeof *w->profile));
  RV_CU(log, cudaMemset(w->lines, 0, (size_t)plan.rows * RV_ROAD_DEPTHS * sizeof *w->lines));
  RV_CU(log, cudaMemset(w->matched, 0, slots * sizeof *w->matched));
  RV_CU(log, cudaMemset(w->sums, 0, library * sizeof *w->sums));
  RV_CU(log, cudaMemset(w->squares, 0, library * sizeof *w->squares));
  RV_CU(log, cudaMemset(w->lately, 0, plan.patches));
  RV_CU(log, cudaMemset(w->kept, 0, plan.patches));
  RV_CU(log, cudaMemset(w->unmatched, 0, counts * sizeof *w->unmatched));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* run may use any stream */
  return RV_OK;
}

static RvStatus open_side(RoadCuda *w) {
  const RvLog *log = &w->plan.config.log;
  RV_CU(log, cudaStreamCreateWithFlags(&w->side, cudaStreamNonBlocking));
  RV_CU(log, cudaEventCreateWithFlags(&w->forked, cudaEventDisableTiming));
  RV_CU(log, cudaEventCreateWithFlags(&w->joined, cudaEventDisableTiming));
  return RV_OK;
}

static void close(void *memory) {
  RoadCuda *w = (RoadCuda *)memory;
  if (w->side)
    (void)cudaStreamDestroy(w->side);
  if (w->forked)
    (void)cudaEventDestroy(w->forked);
  if (w->joined)
    (void)cudaEventDestroy(w->joined);
  (void)cudaGetLastError();
}

static RvStatus open(void *memory, const void *plan) {
  RoadCuda *w = (RoadCuda *)memory;
  RvCudaDevice device;
  (void)plan;
  RV_TRY(rv_cuda_device(&w->plan.config.log, &device));
  w->processors = device.processors;
  w->overlaps = device.overlaps;
  RV_TRY(open_side(w));
  RV_TRY(upload_tables(w));
  RV_TRY(clear(w));
  RV_TRY(road_cuda_open_match(w));
  RV_TRY(road_cuda_open_learn(w));
  return road_cuda_open_ground(w);
}

/* --- Stages ---------------------------------------------------------------------------------- */

/* The engine's memory, with the plan of this call: the parameters may have changed. */
static RoadCuda *begin(void *memory, const RvRoadJob *job) {
  RoadCuda *w = (RoadCuda *)memory;
  static_cast<RvRoadPlan &>(w->plan) = *job->plan;
  return w;
}

/* With a disparity, kernels that need only colors run next to the others. */
static RvStatus fork(const RoadCuda *w, RvRoadJob *job) {
  if (!job->disparity.data || road_is_forked(job))
    return RV_OK;
  const RvLog *log = &w->plan.config.log;
  RV_CU(log, cudaEventRecord(w->forked, job->stream));
  RV_CU(log, cudaStreamWaitEvent(w->side, w->forked, 0));
  job->color_stream = w->side;
  return RV_OK;
}

static RvStatus locate(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  job->votes = {w->histogram, 768 * sizeof *w->histogram, 768, 1, RV_U32};
  return fork(w, job);
}

static RvStatus features(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  RV_TRY(fork(w, job));
  return road_cuda_features(w, job);
}

static RvStatus ground(void *memory, RvRoadJob *job) {
  return job->disparity.data ? road_cuda_ground(begin(memory, job), job->ground, job->stream)
                             : RV_OK;
}

template <class T>
static RvStatus copy(const RvLog *log, T *to, const T *from, size_t count, RvStream stream) {
  RV_CU(log, cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDefault, stream));
  return RV_OK;
}

/* Without a disparity there are no samples: the seeds are those of match_kernel without seeds. */
static RvStatus seeds(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  if (!job->disparity.data) {
    return copy(&w->plan.config.log, w->seed, (const uint8_t *)w->kept, w->plan.patches,
                job->stream);
  }
  RV_TRY(road_cuda_samples(w, job));
  return road_cuda_label_seeds(w, job->stream);
}

static RvStatus learn(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  if (!job->disparity.data)
    return RV_OK;
  RV_TRY(road_cuda_match(w, job));
  return road_cuda_learn(w, job->stream);
}

static RvStatus classify(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  RV_TRY(road_cuda_classify(w, job->stream));
  RV_TRY(road_cuda_smooth(w, job->stream));
  return road_cuda_label_road(w, job->stream);
}

/* --- Output ---------------------------------------------------------------------------------- */

static __device__ RvRoadReport report_of(const RoadFrame &f, const RoadState &state, int seeds,
                                         int road, double doffs) {
  RvRoadReport r = {};
  r.samples = f.samples;
  r.seeds = seeds;
  r.samples_matched = f.samples_matched;
  r.samples_pending = state.pending;
  r.models_added = f.models_added;
  r.iterations = f.iterations;
  r.models = state.models;
  r.road = road;
  if (f.plane.height > 0)
    rv_road_report_plane(&f.plane, doffs, &r);
  return r;
}

/* Median of the scores of the window of the majority filter around a patch, as
 * rv_road_median_row. */
static __device__ int median_of(const RoadCuda &w, int x, int y) {
  const int radius = w.plan.config.smoothing / 2, columns = w.plan.columns;
  const int left = max(x - radius, 0), right = min(x + radius, columns - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, w.plan.rows - 1);
  int median = 0;
  for (int bit = 128; bit; bit /= 2) {
    int count = 0;
    for (int v = top; v <= bottom; v++)
      for (int u = left; u <= right; u++)
        count += w.like[v * columns + u] >= (median | bit);
    median = 2 * count > (right - left + 1) * (bottom - top + 1) ? median | bit : median;
  }
  return median;
}

/* One thread per patch; the last block to finish writes the report. What the components do not decide
 * is written next to the kernel before. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    publish_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvRoadOutput out) {
  RoadFrame *frame = w.frame;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int seeds = road_seeds(w), i = y * w.plan.columns + x;
  const bool exists = x < w.plan.columns && y < w.plan.rows;
  const int median = exists && out.score.data ? median_of(w, x, y) : 0;
  const int seed = exists ? w.seed[i] : 0;
  const bool has_marks = seeds || seed & RV_ROAD_KEPT;
  if (exists && out.seeds.data)
    rv_row<uint8_t>(out.seeds, y)[x] = road_is_seed(seed) ? 255 : 0;
  if (exists && out.distance.data)
    rv_row<float>(out.distance, y)[x] =
        w.state->models ? (float)rv_road_length(w.plan.config.distance, w.nearest[i])
                        : RV_ROAD_NO_MODEL;
  road_begin();
  int is_road = 0;
  if (exists) {
    const int root = w.parent[i], largest = (int)~(unsigned)frame->largest_road;
    is_road = root >= 0 && (has_marks ? w.contains_seed[root] != 0 : root == largest);
    if (seeds)
      w.kept[i] = rv_road_kept(is_road);
    if (out.mask.data)
      rv_row<uint8_t>(out.mask, y)[x] = is_road ? 255 : 0;
    if (out.score.data)
      rv_row<uint8_t>(out.score, y)[x] =
          (uint8_t)(is_road ? median : min(median, RV_ROAD_LIKE - 1));
  }
  const int count = __syncthreads_count(is_road);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    if (count)
      atomicAdd(&frame->road, count);
    __threadfence();
    const bool is_last = atomicAdd(&frame->done, 1u) == gridDim.x * gridDim.y - 1;
    if (is_last && out.report)
      *out.report = report_of(*frame, *w.state, seeds, atomicAdd(&frame->road, 0),
                              w.plan.config.camera.doffs);
  }
}

static RvStatus publish(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  const dim3 grid(rv_div_up(w->plan.columns, 32), rv_div_up(w->plan.rows, 8)), block(32, 8);
  return road_launch(w, publish_kernel, grid, block, 0, job->stream, *w, job->output);
}

/* --- Models and pending samples -------------------------------------------------------------- */

static RvStatus reset(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  const RvLog *log = &w->plan.config.log;
  RV_CU(log, cudaMemsetAsync(w->state, 0, sizeof *w->state, job->stream));
  RV_CU(log, cudaMemsetAsync(w->profile, 0, sizeof *w->profile, job->stream));
  RV_CU(log, cudaMemsetAsync(w->lately, 0, w->plan.patches, job->stream));
  RV_CU(log, cudaMemsetAsync(w->kept, 0, w->plan.patches, job->stream));
  return RV_OK;
}

/* Rows of counts are padded to `pitch` on the device. */
static RvStatus copy_counts(const RvLog *log, uint8_t *to, size_t to_pitch, const uint8_t *from,
                            size_t from_pitch, int cells, int rows, RvStream stream) {
  if (rows)
    RV_CU(log, cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, cells, rows, cudaMemcpyDefault,
                                 stream));
  return RV_OK;
}

static RvStatus take(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  const RvLog *log = &w->plan.config.log;
  const RvStream stream = job->stream;
  RvRoadLearned *to = job->learned;
  RoadState state;
  RV_TRY(copy(log, &state, w->state, 1, stream));
  RV_CU(log, cudaStreamSynchronize(stream));
  const size_t values = (size_t)state.models * w->plan.cells, pitch = w->plan.pitch;
  to->count = state.models;
  to->pending = state.pending;
  RV_TRY(copy(log, to->mean, w->library.mean, values, stream));
  RV_TRY(copy(log, to->variance, w->library.variance, values, stream));
  RV_TRY(copy(log, to->weight, w->library.weight, state.models, stream));
  const uint8_t *rows = w->pending + state.side * w->plan.config.min_samples * pitch;
  RV_TRY(copy_counts(log, to->features, w->plan.cells, rows, pitch, w->plan.cells, state.pending,
                     stream));
  RV_CU(log, cudaStreamSynchronize(stream));
  return RV_OK;
}

static RvStatus give(void *memory, RvRoadJob *job) {
  const RoadCuda *w = begin(memory, job);
  const RoadPlan &plan = w->plan;
  const RvLog *log = &plan.config.log;
  const RvStream stream = job->stream;
  const RvRoadLearned *from = job->learned;
  const RoadState state = {from->count, from->pending, 0};
  const size_t values = (size_t)from->count * plan.cells;
  RV_TRY(copy(log, w->state, &state, 1, stream));
  RV_TRY(copy(log, w->library.mean, (const double *)from->mean, values, stream));
  RV_TRY(copy(log, w->library.variance, (const double *)from->variance, values, stream));
  RV_TRY(copy(log, w->library.weight, (const double *)from->weight, from->count, stream));
  if (from->pending)
    RV_CU(log, cudaMemsetAsync(w->pending, 0, (size_t)from->pending * plan.pitch, stream));
  RV_TRY(copy_counts(log, w->pending, plan.pitch, from->features, plan.cells, plan.cells,
                     from->pending, stream));
  RV_TRY(road_cuda_tabulate(w, stream));
  RV_CU(log, cudaStreamSynchronize(stream));
  return RV_OK;
}

RV_ENGINE(RvRoad, road, cuda, RoadCuda, layout, open, close, locate, features, ground, seeds, learn,
          classify, publish, reset, take, give);
