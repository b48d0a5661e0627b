/* SPDX-License-Identifier: MIT */
/* sgm_cuda.cu: the CUDA engine of semi-global matching: its memory, and the order of its stages. */
#include "sgm/sgm_cuda.cuh"

static size_t census_bytes(const RvSgmConfig *config) {
  return config->cost == RV_SGM_CENSUS ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* The promise of sgm.h: a tenth more than the sums, from these sizes on. Smaller pictures hold as
 * many rows of descriptors as these would, which is nearly always all. */
enum { PROMISED_WIDTH = 64, PROMISED_HEIGHT = 240 };

/* Rows of descriptors that the promise leaves room for; 52 or more. */
static int window_rows(const RvSgmConfig *config) {
  const int64_t width = rv_max(config->width, PROMISED_WIDTH);
  const int64_t height = rv_max(config->height, PROMISED_HEIGHT);
  const int64_t spare = width * height * config->disparities / 5 -
                        width * (int64_t)sgm_cuda_sweeps_states(config) - 16 * RV_ARENA_GUARD;
  const int64_t rows = spare / (2 * width * (int64_t)census_bytes(config));
  return rows < config->height ? (int)rows : config->height;
}

static int holds_all(const SgmCuda *work, const RvSgmConfig *config) {
  return work->window >= config->height;
}

/* Maps of 8 bytes a pixel in two halves, pitches in bytes. */
static void place_maps(SgmCuda *work, const RvSgmConfig *config, void *left, void *right,
                       ptrdiff_t pitch) {
  const ptrdiff_t width = config->width;
  work->winner = {(uint16_t *)left, pitch / 2};
  work->right = {(uint16_t *)left + width, pitch / 2};
  work->found = {(uint16_t *)right, pitch / 2};
  work->raw_confidence = {(uint8_t *)right + 2 * width, pitch};
}

/* Each row of maps in the place of the row's descriptors. */
static void place_maps_on_census(SgmCuda *work, const RvSgmConfig *config) {
  place_maps(work, config, work->census[0], work->census[1],
             config->width * (ptrdiff_t)census_bytes(config));
}

/* Each row of maps on the sums, behind the row before: 8 bytes a pixel, where a row of sums has 64
 * or more. */
static void place_maps_on_sums(SgmCuda *work, const RvSgmConfig *config) {
  const ptrdiff_t width = config->width;
  place_maps(work, config, work->sums, work->sums + width, 8 * width);
}

static void layout(void *memory, const RvSgmConfig *config, RvArena *arena) {
  SgmCuda *work = (SgmCuda *)memory;
  const size_t pixels = (size_t)config->width * config->height;
  work->window = window_rows(config);
  work->sums = (uint32_t *)rv_arena_take(arena, pixels * config->disparities * sizeof(uint16_t));
  for (int side = 0; side < 2; side++)
    work->census[side] =
        rv_arena_take(arena, (size_t)work->window * config->width * census_bytes(config));
  sgm_cuda_sweeps_layout(work, config, arena);
  if (!work->sums)
    return; /* counting */
  if (holds_all(work, config))
    place_maps_on_census(work, config);
  else
    place_maps_on_sums(work, config);
  /* Behind the maps: at most 7 words a pixel, all in all. Rows of values start at whole words. */
  work->nodes = (SgmNode *)(work->sums + 2 * pixels);
  work->pending = (uint2 *)(work->nodes + pixels);
  work->median = {
      (uint16_t *)(work->pending + (size_t)rv_div_up(config->width, SGM_TILE_X) * config->height),
      2 * rv_div_up(config->width, 2)};
}

SgmScene sgm_cuda_scene(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  SgmScene scene = {};
  scene.left = work->census[0], scene.right = work->census[1];
  scene.grey = {(const uint8_t *)job->left.data, job->left.stride};
  scene.width = config->width, scene.height = config->height;
  scene.words = config->disparities / 2, scene.min_disparity = config->min_disparity;
  scene.p1 = config->p1, scene.p2 = config->p2, scene.adaptive = config->adaptive_p2;
  scene.p2_min = config->p2_min, scene.p2_gradient = config->p2_gradient;
  return scene;
}

static RvStatus open(void *memory, const RvSgmConfig *config) {
  SgmCuda *work = (SgmCuda *)memory;
  int device = 0, shared = 0, major = 0;
  RV_CU(&config->log, cudaGetDevice(&device));
  RV_CU(&config->log,
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  RV_CU(&config->log, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  work->early = major >= 9;
  work->rows_fit = sgm_cuda_rows_shared(config) <= (size_t)shared;
  work->narrow_sums = work->rows_fit && sgm_cuda_narrow_sums(config);
  RV_TRY(work->rows_fit ? sgm_cuda_rows_open(config) : sgm_cuda_winner_open(config));
  RV_TRY(sgm_cuda_sweeps_open(work, config));
  return config->paths == 8 ? sgm_cuda_slanted_open(work, config) : RV_OK;
}

/* Sums in the canonical order of the tests. */
static __global__ void volume_kernel(const uint32_t *sums, uint16_t *out, int words, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x) {
    const size_t pixel = i / words;
    const int word = (int)(i % words);
    out[pixel * 2 * words + word] = (uint16_t)sums[i];
    out[pixel * 2 * words + words + word] = (uint16_t)(sums[i] >> 16);
  }
}

static RvStatus copy_volume(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job) {
  const int words = config->disparities / 2;
  volume_kernel<<<1024, 256, 0, job->stream>>>(work->sums, job->volume, words,
                                               (size_t)config->width * config->height * words);
  RV_LAUNCHED(&config->log);
  return RV_OK;
}

/* Rows as a picture of their own, for what works on single rows. */
struct SgmView {
  SgmCuda work;
  RvSgmConfig config;
  RvSgmJob job;
};

template <typename T> static void skip_rows(SgmRaster<T> *raster, int rows) {
  raster->data += rows * raster->stride;
}

/* Its descriptors are at the start of the window. */
static SgmView view_rows(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                         int first, int rows) {
  SgmView v = {*work, *config, *job};
  const size_t pixels = (size_t)first * config->width;
  v.config.height = rows;
  v.work.sums += pixels * (config->disparities / (work->narrow_sums ? 4 : 2));
  skip_rows(&v.work.winner, first);
  skip_rows(&v.work.right, first);
  skip_rows(&v.work.found, first);
  skip_rows(&v.work.raw_confidence, first);
  v.work.current = v.work.found;
  v.job.left.data = (uint8_t *)job->left.data + first * job->left.stride;
  v.job.census_left = job->census_left ? job->census_left + pixels : NULL;
  v.job.census_right = job->census_right ? job->census_right + pixels : NULL;
  v.job.volume = job->volume ? job->volume + pixels * config->disparities : NULL;
  return v;
}

/* The horizontal paths and all that ends a row. */
static RvStatus finish_rows(const SgmView *v, int check) {
  RV_TRY(sgm_cuda_census_show(&v->work, &v->config, &v->job));
  if (v->work.rows_fit)
    return sgm_cuda_rows(&v->work, &v->config, &v->job, check);
  RV_TRY(sgm_cuda_lines(&v->work, &v->config, &v->job));
  if (v->job.volume)
    RV_TRY(copy_volume(&v->work, &v->config, &v->job));
  RV_TRY(sgm_cuda_winner(&v->work, &v->config, &v->job));
  return check ? sgm_cuda_check(&v->work, &v->config, &v->job) : RV_OK;
}

/* From the place of the descriptors to the place `to` has for them. */
static RvStatus move_maps(const SgmView *from, const SgmCuda *to, RvStream stream) {
  const SgmRaster<uint16_t> source[2] = {from->work.winner, from->work.found};
  const SgmRaster<uint16_t> target[2] = {to->winner, to->found};
  for (int i = 0; i < 2; i++)
    RV_CU(&from->config.log,
          cudaMemcpy2DAsync(target[i].data, 2 * (size_t)target[i].stride, source[i].data,
                            2 * (size_t)source[i].stride, 4 * (size_t)from->config.width,
                            (size_t)from->config.height, cudaMemcpyDeviceToDevice, stream));
  return RV_OK;
}

/* Window by window. The first one's maps wait in the place of its descriptors until its sums are
 * done with; those of the others go on the sums of the windows before. */
static RvStatus finish_windows(const SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                               int check) {
  const int windows = rv_div_up(config->height, work->window);
  const int most = rv_div_up(config->height, windows);
  for (int first = 0; first < config->height; first += most) {
    const SgmRows rows = {first, rv_min(most, config->height - first), 0};
    SgmView v = view_rows(work, config, job, first, rows.count);
    if (first == 0)
      place_maps_on_census(&v.work, config);
    v.work.current = v.work.found;
    RV_TRY(sgm_cuda_census(work, config, job, &rows, 1));
    RV_TRY(finish_rows(&v, check));
    if (first == 0)
      RV_TRY(move_maps(&v, work, job->stream));
  }
  return RV_OK;
}

/* match, and with `check` the left-right check after it. */
static RvStatus match_and_check(SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                                int check) {
  work->current = work->found;
  const SgmRows all = {0, config->height, 0};
  if (holds_all(work, config))
    RV_TRY(sgm_cuda_census(work, config, job, &all, 1));
  RV_TRY(sgm_cuda_sweeps(work, config, job));
  if (!holds_all(work, config))
    return finish_windows(work, config, job, check);
  const SgmView v = view_rows(work, config, job, 0, config->height);
  return finish_rows(&v, check);
}

static RvStatus match(void *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return match_and_check((SgmCuda *)work, config, job, 0);
}

static RvStatus check(void *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return sgm_cuda_check((SgmCuda *)work, config, job);
}

static RvStatus median(void *memory, const RvSgmConfig *config, const RvSgmJob *job) {
  SgmCuda *work = (SgmCuda *)memory;
  RV_TRY(sgm_cuda_median(work, config, job));
  work->current = work->median;
  return RV_OK;
}

static RvStatus speckle(void *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return sgm_cuda_speckle((SgmCuda *)work, config, job);
}

static RvStatus output(void *work, const RvSgmConfig *config, const RvSgmJob *job) {
  return sgm_cuda_output((SgmCuda *)work, config, job);
}

static RvStatus whole(void *work, const RvSgmConfig *config, const RvSgmJob *job) {
  RV_TRY(match_and_check((SgmCuda *)work, config, job, config->max_lr_diff >= 0));
  return sgm_cuda_clean((SgmCuda *)work, config, job);
}

static RvStatus read(void *memory, const RvSgmConfig *config, RvSgmMap map, void *out,
                     RvStream stream) {
  const SgmCuda *work = (SgmCuda *)memory;
  const SgmRaster<uint16_t> *from = map == RV_SGM_MAP_WINNER  ? &work->winner
                                    : map == RV_SGM_MAP_RIGHT ? &work->right
                                                              : &work->current;
  const size_t row = config->width * (map == RV_SGM_MAP_CONFIDENCE ? 1 : sizeof(uint16_t));
  const void *data = map == RV_SGM_MAP_CONFIDENCE ? (void *)work->raw_confidence.data : from->data;
  const ptrdiff_t stride =
      map == RV_SGM_MAP_CONFIDENCE ? work->raw_confidence.stride : 2 * from->stride;
  RV_CU(&config->log, cudaMemcpy2DAsync(out, row, data, (size_t)stride, row, (size_t)config->height,
                                        cudaMemcpyDeviceToDevice, stream));
  return RV_OK;
}

extern "C" const RvSgmStages rv_sgm_stages_cuda = {
    sizeof(SgmCuda), layout, open, NULL, match, check, median, speckle, output, whole, read,
};
