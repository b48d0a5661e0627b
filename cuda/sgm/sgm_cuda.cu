/* sgm_cuda.cu: the CUDA engine of semi-global matching: its memory, and the order of its stages. */
#include "sgm_cuda.h"

static size_t census_bytes(const RvSgmConfig *config) {
  return config->cost == RV_SGM_CENSUS ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* Maps in the place of the descriptors: each row of 4 (or 8) bytes a pixel of the left plane holds
 * winner and right disparity, that of the right plane values and confidence. */
static void place_maps(SgmCuda *work, const RvSgmConfig *config) {
  const ptrdiff_t width = config->width;
  const ptrdiff_t row = width * (ptrdiff_t)census_bytes(config);
  uint16_t *left = (uint16_t *)work->census[0], *right = (uint16_t *)work->census[1];
  if (!left || !right)
    return; /* counting */
  work->winner = {left, row / 2};
  work->right = {left + width, row / 2};
  work->found = {right, row / 2};
  work->sureness = {(uint8_t *)(right + width), row};
  const size_t pixels = (size_t)config->width * config->height;
  work->median = {(uint16_t *)work->sums, width};
  work->labels = work->sums + pixels;
  work->sizes = work->sums + 2 * pixels;
}

static void layout(void *memory, const RvSgmConfig *config, RvArena *arena) {
  SgmCuda *work = (SgmCuda *)memory;
  const size_t pixels = (size_t)config->width * config->height;
  work->sums = (uint32_t *)rv_arena_take(arena, pixels * config->disparities * sizeof(uint16_t));
  for (int side = 0; side < 2; side++)
    work->census[side] = rv_arena_take(arena, pixels * census_bytes(config));
  sgm_cuda_sweeps_layout(work, config, arena);
  place_maps(work, config);
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
  int device = 0, shared = 0;
  RV_CU(&config->log, cudaGetDevice(&device));
  RV_CU(&config->log,
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  work->rows_fit = sgm_cuda_rows_shared(config) <= (size_t)shared;
  RV_TRY(work->rows_fit ? sgm_cuda_rows_open(config) : sgm_cuda_winner_open(config));
  return sgm_cuda_sweeps_open(work, config);
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

/* match, and with `check` the left-right check after it. */
static RvStatus match_and_check(SgmCuda *work, const RvSgmConfig *config, const RvSgmJob *job,
                                int check) {
  work->current = work->found;
  RV_TRY(sgm_cuda_census(work, config, job));
  RV_TRY(sgm_cuda_sweeps(work, config, job));
  if (work->rows_fit)
    return sgm_cuda_rows(work, config, job, check);
  RV_TRY(sgm_cuda_lines(work, config, job));
  if (job->volume)
    RV_TRY(copy_volume(work, config, job));
  RV_TRY(sgm_cuda_winner(work, config, job));
  return check ? sgm_cuda_check(work, config, job) : RV_OK;
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
  const void *data = map == RV_SGM_MAP_CONFIDENCE ? (void *)work->sureness.data : from->data;
  const ptrdiff_t stride = map == RV_SGM_MAP_CONFIDENCE ? work->sureness.stride : 2 * from->stride;
  RV_CU(&config->log, cudaMemcpy2DAsync(out, row, data, (size_t)stride, row, (size_t)config->height,
                                        cudaMemcpyDeviceToDevice, stream));
  return RV_OK;
}

extern "C" const RvSgmStages rv_sgm_stages_cuda = {
    sizeof(SgmCuda), layout, open, NULL, match, check, median, speckle, output, whole, read,
};
