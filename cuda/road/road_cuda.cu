/* SPDX-License-Identifier: MIT */
/* road_cuda.cu: the CUDA engine of road detection: memory, the order of its kernels, and what it
 * hands out. */
#include "road/road_cuda_launch.cuh"

/* --- Memory ---------------------------------------------------------------------------------- */

static RoadShape shape_of(const RvRoadConfig *c) {
  RoadShape s = {};
  s.width = c->width;
  s.height = c->height;
  rv_road_size(c, &s.columns, &s.rows);
  s.patches = s.columns * s.rows;
  s.n = c->patch_size;
  s.area = s.n * s.n;
  s.bins = c->bins;
  s.cells = s.bins * s.bins;
  s.pitch = rv_div_up(s.cells, 16) * 16;
  s.library = c->library_size;
  s.model_pitch = 1;
  while (s.model_pitch < s.library && s.model_pitch < 8)
    s.model_pitch *= 2;
  s.model_pitch = rv_div_up(s.library, s.model_pitch) * s.model_pitch; /* whole sectors of L2 */
  s.models_em = rv_road_models_max(c);
  s.min_samples = c->min_samples;
  return s;
}

template <class T> static void take(T **piece, RvArena *arena, size_t count) {
  *piece = (T *)rv_arena_take(arena, count * sizeof(T));
}

static void take_models(RoadCuda *w, RvArena *arena) {
  const RoadShape &s = w->shape;
  const size_t library = (size_t)s.library * s.cells;
  const size_t fresh = (size_t)ROAD_GROUP_MAX * s.models_em;
  const size_t table = (size_t)s.cells * (s.area + 1) * s.model_pitch;
  take(&w->library.mean, arena, library);
  take(&w->library.variance, arena, library);
  take(&w->library.weight, arena, s.library);
  take(&w->fresh.mean, arena, fresh * s.cells);
  take(&w->fresh.variance, arena, fresh * s.cells);
  take(&w->fresh.weight, arena, fresh);
  take(&w->matched, arena, s.library);
  take(&w->sums, arena, library);
  take(&w->squares, arena, library);
  take(&w->unmatched, arena, (size_t)s.cells * (s.area + 1));
  if (w->config.estimate_models) {
    take(&w->clusters, arena, 1);
    take(&w->link, arena, RV_ROAD_EXEMPLARS * RV_ROAD_EXEMPLARS);
  }
  take(&w->exchange, arena, 2 * ROAD_GROUP_MAX * road_exchange_values(&s));
  take(&w->update.cost, arena, table);
  take(&w->update.base, arena, s.model_pitch);
  w->classify = w->update;
  if (w->config.distance != RV_ROAD_MAHALANOBIS) {
    take(&w->classify.cost, arena, table);
    take(&w->classify.base, arena, s.model_pitch);
  }
}

static void layout(void *memory, const RvRoadConfig *config, RvArena *arena) {
  RoadCuda *w = (RoadCuda *)memory;
  w->config = *config;
  w->shape = shape_of(config);
  const RoadShape &s = w->shape;
  const size_t patches = s.patches, samples = patches + s.min_samples;
  take(&w->histogram, arena, 768);
  take(&w->inverse, arena, RV_ROAD_INVERSE_SIZE);
  take(&w->exp, arena, RV_ROAD_EXP_SIZE);
  take(&w->log, arena, RV_ROAD_LOG_SIZE);
  take(&w->frame, arena, 1);
  take(&w->state, arena, 1);
  take(&w->counts, arena, patches * s.pitch);
  take(&w->depth, arena, patches);
  take(&w->mean, arena, patches);
  take(&w->room, arena, patches);
  take(&w->like, arena, patches);
  take(&w->valid, arena, patches);
  take(&w->lines, arena, (size_t)s.rows * RV_ROAD_DEPTHS);
  take(&w->seed, arena, patches);
  take(&w->parent, arena, patches);
  take(&w->size, arena, patches);
  take(&w->contains_seed, arena, patches);
  take(&w->nearest, arena, patches);
  take(&w->waiting, arena, (size_t)2 * s.min_samples * s.pitch);
  take(&w->left, arena, samples);
  take(&w->rows, arena, samples * s.pitch);
  take(&w->share, arena, samples * s.models_em);
  take_models(w, arena);
}

static RvStatus upload(const RvLog *log, uint32_t *device, const uint32_t *host, size_t count) {
  RV_CU(log, cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice));
  return RV_OK;
}

static RvStatus upload_tables(const RoadCuda *w) {
  const RvLog *log = &w->config.log;
  uint32_t *host = (uint32_t *)rv_memory_alloc(RV_ROAD_INVERSE_SIZE * sizeof *host, RV_CPU);
  if (!host) {
    rv_log(log, "road: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  rv_road_inverse_table(&w->config, host);
  RvStatus status = upload(log, w->inverse, host, RV_ROAD_INVERSE_SIZE);
  rv_road_exp_table(host);
  if (status == RV_OK)
    status = upload(log, w->exp, host, RV_ROAD_EXP_SIZE);
  rv_road_log_table(host);
  if (status == RV_OK)
    status = upload(log, w->log, host, RV_ROAD_LOG_SIZE);
  rv_memory_free(host, RV_CPU);
  return status;
}

static RvStatus clear(const RoadCuda *w) {
  const RvLog *log = &w->config.log;
  const RoadShape &s = w->shape;
  const size_t library = (size_t)s.library * s.cells;
  RV_CU(log, cudaMemset(w->state, 0, sizeof *w->state));
  RV_CU(log, cudaMemset(w->lines, 0, (size_t)s.rows * RV_ROAD_DEPTHS * sizeof *w->lines));
  RV_CU(log, cudaMemset(w->matched, 0, s.library * sizeof *w->matched));
  RV_CU(log, cudaMemset(w->sums, 0, library * sizeof *w->sums));
  RV_CU(log, cudaMemset(w->squares, 0, library * sizeof *w->squares));
  RV_CU(log, cudaMemset(w->unmatched, 0, (size_t)s.cells * (s.area + 1) * sizeof *w->unmatched));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* whichever stream run gets comes after */
  return RV_OK;
}

static RvStatus open(void *memory, const RvRoadConfig *config) {
  RoadCuda *w = (RoadCuda *)memory;
  const RvLog *log = &config->log;
  RvCudaDevice device;
  RV_TRY(rv_cuda_device(log, &device));
  w->processors = device.processors;
  w->overlaps = device.overlaps;
  RV_TRY(upload_tables(w));
  RV_TRY(clear(w));
  RV_TRY(road_cuda_open_match(w));
  return road_cuda_open_learn(w);
}

static uint32_t *histogram(void *memory) {
  return ((RoadCuda *)memory)->histogram;
}

/* --- Stages ---------------------------------------------------------------------------------- */

static RvStatus features(void *memory, const RvRoadJob *job) {
  return road_cuda_features((const RoadCuda *)memory, job);
}

static RvStatus ground(void *memory, const RvRoadJob *job) {
  return job->disparity.data ? road_cuda_ground((const RoadCuda *)memory, job) : RV_OK;
}

/* Without a disparity there are no samples. */
static RvStatus seeds(void *memory, const RvRoadJob *job) {
  const RoadCuda *w = (const RoadCuda *)memory;
  if (!job->disparity.data) {
    RV_CU(&w->config.log, cudaMemsetAsync(w->seed, 0, w->shape.patches, job->stream));
    return RV_OK;
  }
  RV_TRY(road_cuda_samples(w, job));
  return road_cuda_label_seeds(w, job->stream);
}

static RvStatus learn(void *memory, const RvRoadJob *job) {
  const RoadCuda *w = (const RoadCuda *)memory;
  if (!job->disparity.data)
    return RV_OK;
  RV_TRY(road_cuda_match(w, job->stream));
  return road_cuda_learn(w, job->stream);
}

static RvStatus classify(void *memory, const RvRoadJob *job) {
  const RoadCuda *w = (const RoadCuda *)memory;
  RV_TRY(road_cuda_classify(w, job->stream));
  RV_TRY(road_cuda_smooth(w, job->stream));
  return road_cuda_label_road(w, job->stream);
}

/* --- Output ---------------------------------------------------------------------------------- */

static __device__ RvRoadReport report_of(const RoadFrame &f, const RoadState &state, int road,
                                         double doffs) {
  RvRoadReport r = {};
  r.samples = f.samples;
  r.seeds = (int32_t)(f.largest >> 32);
  r.updated = f.updated;
  r.waiting = state.waiting;
  r.learnt = f.learnt;
  r.iterations = f.iterations;
  r.models = state.models;
  r.road = road;
  if (f.plane.height > 0)
    rv_road_report_plane(&f.plane, doffs, &r);
  return r;
}

/* One thread a patch; the block that ends last writes the report. */
static __global__ void __launch_bounds__(ROAD_THREADS)
    publish_kernel(const __grid_constant__ RoadCuda w, const __grid_constant__ RvRoadOutput out) {
  road_begin();
  RoadFrame *frame = w.frame;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int has_seeds = frame->largest >> 32 != 0;
  int is_road = 0;
  if (x < w.shape.columns && y < w.shape.rows) {
    const int i = y * w.shape.columns + x, root = w.parent[i];
    const int largest = (int)~(unsigned)frame->largest_road;
    is_road = root >= 0 && (has_seeds ? w.contains_seed[root] != 0 : root == largest);
    if (out.mask.data)
      ((uint8_t *)out.mask.data)[y * out.mask.stride + x] = is_road ? 255 : 0;
    if (out.seeds.data)
      ((uint8_t *)out.seeds.data)[y * out.seeds.stride + x] = w.seed[i] ? 255 : 0;
    if (out.distance.data)
      ((float *)((char *)out.distance.data + y * out.distance.stride))[x] =
          w.state->models ? (float)rv_road_length(w.config.distance, w.nearest[i])
                          : RV_ROAD_NO_MODEL;
  }
  const int count = __syncthreads_count(is_road);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    if (count)
      atomicAdd(&frame->road, count);
    __threadfence();
    const bool is_last = atomicAdd(&frame->done, 1u) == gridDim.x * gridDim.y - 1;
    if (is_last && out.report)
      *out.report = report_of(*frame, *w.state, atomicAdd(&frame->road, 0), w.config.camera.doffs);
  }
}

static RvStatus publish(void *memory, const RvRoadJob *job) {
  const RoadCuda *w = (const RoadCuda *)memory;
  const dim3 grid(rv_div_up(w->shape.columns, 32), rv_div_up(w->shape.rows, 8)), block(32, 8);
  return road_launch(w, publish_kernel, grid, block, 0, job->stream, *w, job->output);
}

static RvStatus reset(void *memory, RvStream stream) {
  const RoadCuda *w = (const RoadCuda *)memory;
  RV_CU(&w->config.log, cudaMemsetAsync(w->state, 0, sizeof *w->state, stream));
  return RV_OK;
}

/* --- What was learnt ------------------------------------------------------------------------- */

template <class T>
static RvStatus copy(const RvLog *log, T *to, const T *from, size_t count, RvStream stream) {
  RV_CU(log, cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDefault, stream));
  return RV_OK;
}

/* Rows of counts are padded to `pitch` on the device. */
static RvStatus copy_rows(const RvLog *log, uint8_t *to, size_t to_pitch, const uint8_t *from,
                          size_t from_pitch, int cells, int rows, RvStream stream) {
  if (rows)
    RV_CU(log, cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, cells, rows, cudaMemcpyDefault,
                                 stream));
  return RV_OK;
}

static RvStatus learnt_take(void *memory, RvRoadLearnt *learnt, RvStream stream) {
  const RoadCuda *w = (const RoadCuda *)memory;
  const RvLog *log = &w->config.log;
  RoadState state;
  RV_TRY(copy(log, &state, w->state, 1, stream));
  RV_CU(log, cudaStreamSynchronize(stream));
  const size_t values = (size_t)state.models * w->shape.cells, pitch = w->shape.pitch;
  learnt->count = state.models;
  learnt->waiting = state.waiting;
  RV_TRY(copy(log, learnt->mean, w->library.mean, values, stream));
  RV_TRY(copy(log, learnt->variance, w->library.variance, values, stream));
  RV_TRY(copy(log, learnt->weight, w->library.weight, state.models, stream));
  const uint8_t *rows = w->waiting + state.side * w->shape.min_samples * pitch;
  RV_TRY(copy_rows(log, learnt->features, w->shape.cells, rows, pitch, w->shape.cells,
                   state.waiting, stream));
  RV_CU(log, cudaStreamSynchronize(stream));
  return RV_OK;
}

static RvStatus learnt_give(void *memory, const RvRoadLearnt *learnt, RvStream stream) {
  const RoadCuda *w = (const RoadCuda *)memory;
  const RvLog *log = &w->config.log;
  const RoadShape &s = w->shape;
  const RoadState state = {learnt->count, learnt->waiting, 0};
  const size_t values = (size_t)learnt->count * s.cells;
  RV_TRY(copy(log, w->state, &state, 1, stream));
  RV_TRY(copy(log, w->library.mean, learnt->mean, values, stream));
  RV_TRY(copy(log, w->library.variance, learnt->variance, values, stream));
  RV_TRY(copy(log, w->library.weight, learnt->weight, learnt->count, stream));
  if (learnt->waiting)
    RV_CU(log, cudaMemsetAsync(w->waiting, 0, (size_t)learnt->waiting * s.pitch, stream));
  RV_TRY(copy_rows(log, w->waiting, s.pitch, learnt->features, s.cells, s.cells, learnt->waiting,
                   stream));
  RV_TRY(road_cuda_tabulate(w, stream));
  RV_CU(log, cudaStreamSynchronize(stream));
  return RV_OK;
}

static void configure(void *memory, const RvRoadConfig *config) {
  ((RoadCuda *)memory)->config = *config;
}

extern "C" const RvRoadStages rv_road_stages_cuda = {
    sizeof(RoadCuda), layout,  open,  histogram,   features,    ground,    seeds, learn,
    classify,         publish, reset, learnt_take, learnt_give, configure,
};
