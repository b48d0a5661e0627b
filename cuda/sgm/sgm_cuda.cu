/* SPDX-License-Identifier: MIT */
/* sgm_cuda.cu: the CUDA engine of semi-global matching: its memory, and the kernels that a config
 * uses. */
#include "sgm/sgm_cuda.cuh"

/* --- Memory ---------------------------------------------------------------------------------- */

/* The limit stated in sgm.h, from these sizes on: a tenth more than S and 16 bytes per pixel. Smaller
 * images keep as many rows of descriptors as these could. */
enum { LIMITED_WIDTH = 64, LIMITED_HEIGHT = 240 };

/* Down and up at the same time need states each. */
static int sweeps_of(const RvSgmConfig *config) {
  return config->paths == 2 ? 1 : 2;
}

/* Bytes of the states of one column. */
static size_t states_of(const RvSgmConfig *config) {
  const size_t state = config->disparities / 2 * sizeof(uint32_t);
  return state * sweeps_of(config) * (config->paths == 8 ? 5 : 1);
}

/* Whether the vertical sweeps read a map of P2. */
static int has_p2(const RvSgmConfig *config) {
  return config->adaptive_p2 && sgm_cuda_narrow_sums(config);
}

/* u16 of the notes of paths along the rows that sgm_cuda_diagonal walks. */
static size_t notes_of(const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  return sgm_cuda_takes_notes(plan) ? config->height * sgm_cuda_rows_notes(config) : 0;
}

/* Words of the boundaries of tiles. */
static size_t edges_of(const RvSgmConfig *config) {
  return 2 * (size_t)rv_div_up(config->width, SGM_TILE_X) * rv_div_up(config->height, SGM_TILE_Y);
}

/* Of those of the blocks that look for the sky. */
static size_t sky_edges_of(const RvSgmConfig *config) {
  return !config->reject_sky ? 0
                             : 2 * (size_t)rv_div_up(config->width, SGM_SKY_X) *
                                   rv_div_up(config->height, SGM_SKY_Y);
}

/* Rows of descriptors that the limit permits. */
static int window_rows(const RvSgmPlan *plan) {
  const RvSgmConfig *config = &plan->config;
  const int64_t width = rv_max(config->width, LIMITED_WIDTH);
  const int64_t height = rv_max(config->height, LIMITED_HEIGHT);
  const int64_t pitch = width + 2 * SGM_PAD, word = sizeof(uint32_t);
  const int64_t spare =
      width * height * (config->disparities / 5 + 16) - width * (int64_t)states_of(config) -
      2 * height * word - (has_p2(config) ? pitch * (height + 1) * word : 0) -
      (int64_t)(notes_of(plan) * sizeof(uint16_t)) -
      (int64_t)(edges_of(config) + sky_edges_of(config)) * word - 16 * RV_ARENA_GUARD;
  const int64_t rows = spare / (2 * pitch * (int64_t)plan->descriptor_bytes);
  return rows < config->height ? (int)rows : config->height;
}

static int holds_all(const SgmCuda *work, const RvSgmConfig *config) {
  return work->window >= config->height;
}

/* Words of the sums of `rows` rows. */
static size_t sums_of(const SgmCuda *work, const RvSgmConfig *config, int rows) {
  return (size_t)rows * config->width * (config->disparities / (work->narrow_sums ? 4 : 2));
}

/* Maps of 8 bytes per pixel in two halves, pitches in bytes. */
static SgmMaps maps_at(const RvSgmConfig *config, void *left, void *right, ptrdiff_t pitch) {
  const ptrdiff_t width = config->width;
  SgmMaps maps;
  maps.winner = {(uint16_t *)left, pitch / 2};
  maps.right = {(uint16_t *)left + width, pitch / 2};
  maps.values = {(uint16_t *)right, pitch / 2};
  maps.raw_confidence = {(uint8_t *)right + 2 * width, pitch};
  return maps;
}

/* Each row of the maps in the memory of the row's descriptors. */
static SgmMaps maps_on_census(const SgmCuda *work, const RvSgmPlan *plan) {
  return maps_at(&plan->config, work->census[0], work->census[1],
                 sgm_cuda_pitch(plan->config.width) * (ptrdiff_t)plan->descriptor_bytes);
}

/* Each row of the maps in the memory of S, after the previous row: 8 bytes per pixel, where a row
 * of S has 64 or more. */
static SgmMaps maps_on_sums(const SgmCuda *work, const RvSgmConfig *config) {
  const ptrdiff_t width = config->width;
  return maps_at(config, work->sums, work->sums + width, 8 * width);
}

/* Words of the columns that sgm_cuda_rows reads to the left of the first row of packed sums. */
static size_t before_sums(const RvSgmConfig *config) {
  return sgm_cuda_narrow_sums(config) ? (size_t)SGM_BEFORE * config->disparities / 4 : 0;
}

static void layout(void *memory, const void *constants, RvArena *arena) {
  SgmCuda *work = (SgmCuda *)memory;
  const RvSgmPlan *plan = (const RvSgmPlan *)constants;
  const RvSgmConfig *config = &plan->config;
  const size_t pixels = (size_t)config->width * config->height;
  work->window = window_rows(plan);
  work->sums = (uint32_t *)rv_arena_take(arena, pixels * config->disparities * sizeof(uint16_t) +
                                                    before_sums(config) * sizeof *work->sums);
  work->sums += work->sums ? before_sums(config) : 0;
  for (int side = 0; side < 2; side++) {
    char *const rows = (char *)rv_arena_take(
        arena, (size_t)work->window * sgm_cuda_pitch(config->width) * plan->descriptor_bytes);
    work->census[side] = rows ? rows + SGM_PAD * plan->descriptor_bytes : NULL;
  }
  const size_t state = config->disparities / 2 * sizeof(uint32_t);
  const size_t states = state * sweeps_of(config) * config->width;
  work->vertical_states = (uint32_t *)rv_arena_take(arena, states);
  for (int i = 0; i < 2 && config->paths == 8; i++)
    work->diagonal_states[i] = (uint32_t *)rv_arena_take(arena, 2 * states);
  work->totals = config->reject_sky
                     ? (uint32_t *)rv_arena_take(arena, config->height * sizeof(uint32_t))
                     : NULL;
  work->finished = (uint32_t *)rv_arena_take(arena, config->height * sizeof(uint32_t));
  work->notes = NULL;
  if (notes_of(plan))
    work->notes = (uint16_t *)rv_arena_take(arena, sizeof(uint16_t) * notes_of(plan));
  work->p2 = NULL;
  if (has_p2(config))
    work->p2 = (uint32_t *)rv_arena_take(arena, sizeof(uint32_t) * (config->height + 1) *
                                                    sgm_cuda_pitch(config->width));
  work->edges = (uint32_t *)rv_arena_take(arena, edges_of(config) * sizeof(uint32_t));
  work->sky_edges = NULL;
  if (sky_edges_of(config))
    work->sky_edges = (uint32_t *)rv_arena_take(arena, sky_edges_of(config) * sizeof(uint32_t));
  if (!work->sums)
    return; /* counting */
  work->maps = holds_all(work, config) ? maps_on_census(work, plan) : maps_on_sums(work, config);
  /* After the maps, where these lie on S: at most 6 words per pixel in total. */
  work->refine = work->sums + 6 * pixels; /* of 16 or more */
  work->regions.nodes = (SgmNode *)(work->sums + 2 * pixels);
  work->regions.pending = (uint2 *)(work->regions.nodes + pixels);
  work->regions.labels = work->refine, work->regions.masks = work->refine + 3 * pixels;
  work->regions.node_pitch = work->regions.label_pitch = (uint32_t)config->width;
  work->regions.pending_pitch = (uint32_t)rv_div_up(config->width, SGM_TILE_X);
  work->regions.mask_pitch = (uint32_t)rv_div_up(config->width, 32);
}

SgmRegions sgm_cuda_regions(const SgmCuda *work, const RvSgmConfig *config) {
  const size_t width = config->width, pitch = sums_of(work, config, 1);
  SgmRegions r = work->regions;
  if (!work->counts_maps)
    return r;
  r.nodes = (SgmNode *)work->sums;
  r.pending = (uint2 *)(r.nodes + width);
  r.labels = (uint32_t *)(r.pending + r.pending_pitch);
  r.masks = r.labels + width; /* a row of sums has 16 words per pixel or more */
  r.node_pitch = r.pending_pitch = (uint32_t)(pitch / 2);
  r.label_pitch = r.mask_pitch = (uint32_t)pitch;
  return r;
}

enum { MANY_ROWS = 4 }; /* of a multiprocessor */

/* Whether rows are to start as soon as all sweeps have passed them (SgmCuda.finished). With packed
 * sums it pays where a multiprocessor has four rows or more (H200, see docs/notes/sgm-cuda.md). */
static int counts_rows(const SgmCuda *work, const RvSgmPlan *plan, int processors) {
  const RvSgmConfig *config = &plan->config;
  if (!work->early || !holds_all(work, config) || work->finish != sgm_cuda_rows ||
      sums_of(work, config, config->height) > UINT32_MAX)
    return 0;
  if (config->paths == 8)
    return sgm_cuda_counts(config->disparities / 2, plan->descriptor_bytes);
  return work->narrow_sums && rv_div_up(config->height, processors) >= MANY_ROWS;
}

/* Whether the filter stage is to start on rows whose maps are complete: where a multiprocessor has
 * four rows or more. With fewer all of them end at about the same time. */
static int counts_maps(const SgmCuda *work, const RvSgmPlan *plan, int processors) {
  return work->needed > 0 && rv_div_up(plan->config.height, processors) >= MANY_ROWS;
}

/* Whether rows load what they need while the sweeps end. Blocks that start early go where there is
 * room, so they ask for as much shared memory as leaves each multiprocessor its share of them and no
 * more; half of it at a time where the first half runs beside the sweeps. With packed sums an early
 * start pays only where rows count, and then without a share. */
static RvStatus spread_rows(SgmCuda *work, const RvSgmPlan *plan, int processors, int most) {
  const RvLog *log = &plan->config.log;
  int device = 0, shared = 0, reserved = 0;
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  RV_CU(log, cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  work->rows_shared = (int)sgm_cuda_rows_shared(plan);
  work->early_rows =
      work->early && holds_all(work, &plan->config) && (!work->narrow_sums || work->needed > 0);
  if (!work->early_rows || work->narrow_sums)
    return RV_OK;
  const int blocks = rv_div_up(plan->config.height, processors);
  const int share = shared / (work->needed ? rv_div_up(blocks, 2) : blocks);
  work->rows_shared = rv_max(work->rows_shared, rv_min(share / 1024 * 1024 - reserved, most));
  return RV_OK;
}

static RvStatus open(void *memory, const void *constants) {
  SgmCuda *work = (SgmCuda *)memory;
  const RvSgmPlan *plan = (const RvSgmPlan *)constants;
  const RvLog *log = &plan->config.log;
  int device = 0, shared = 0;
  RV_CU(log, cudaGetDevice(&device));
  RV_CU(log, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const bool rows_fit = sgm_cuda_rows_shared(plan) <= (size_t)shared;
  RvCudaDevice limits;
  RV_TRY(rv_cuda_device(log, &limits));
  work->early = limits.overlaps;
  work->needed = 0;
  work->finish = rows_fit ? sgm_cuda_rows : sgm_cuda_long_rows;
  work->narrow_sums = rows_fit && sgm_cuda_narrow_sums(&plan->config);
  if (!work->narrow_sums)
    work->p2 = NULL;
  const size_t before = before_sums(&plan->config);
  if (before)
    RV_CU(log, cudaMemset(work->sums - before, 0, before * sizeof *work->sums));
  RV_CU(log, cudaMemset(work->edges, 0, edges_of(&plan->config) * sizeof(uint32_t)));
  if (work->sky_edges)
    RV_CU(log, cudaMemset(work->sky_edges, 0, sky_edges_of(&plan->config) * sizeof(uint32_t)));
  RV_CU(log, cudaStreamSynchronize(NULL)); /* before the stream of any run */
  work->counts = counts_rows(work, plan, limits.processors);
  sgm_cuda_vertical_open(work, plan);
  RV_TRY(rows_fit ? sgm_cuda_rows_open(plan) : sgm_cuda_winner_open(plan));
  if (plan->config.paths == 8) {
    RV_TRY(sgm_cuda_bands_open(work, plan));
    RV_TRY(sgm_cuda_diagonal_open(work, plan));
  }
  work->counts_maps = counts_maps(work, plan, limits.processors);
  return spread_rows(work, plan, limits.processors, shared);
}

/* --- Match ----------------------------------------------------------------------------------- */

SgmScene sgm_cuda_scene(const SgmCuda *work, const RvSgmJob *job) {
  const RvSgmConfig *config = &job->plan->config;
  SgmScene scene = {};
  scene.left = work->census[0], scene.right = work->census[1];
  scene.gray = {(const uint8_t *)job->left.data, job->left.stride};
  scene.pitch = sgm_cuda_pitch(config->width);
  scene.width = config->width, scene.height = config->height;
  scene.words = config->disparities / 2, scene.min_disparity = config->min_disparity;
  scene.p1 = config->p1, scene.p1_ground = job->plan->p1_ground;
  scene.p2 = config->p2, scene.adaptive = config->adaptive_p2;
  scene.limit = (uint32_t)job->plan->cost_max * 0x10001u;
  scene.p2_min = config->p2_min, scene.p2_gradient = config->p2_gradient;
  return scene;
}

/* The vertical and diagonal directions. */
static RvStatus sweep(const SgmCuda *work, const RvSgmJob *job) {
  if (job->plan->config.paths != 8)
    return sgm_cuda_vertical(work, job);
  return work->resident ? sgm_cuda_diagonal(work, job) : sgm_cuda_bands(work, job);
}

template <typename T> static void skip_rows(SgmRaster<T> *raster, int rows) {
  raster->data += rows * raster->stride;
}

/* `rows` rows from `first` on; their descriptors start the window. */
static SgmSlice slice_of(const SgmCuda *work, const RvSgmJob *job, int first, int rows) {
  const RvSgmConfig *config = &job->plan->config;
  SgmSlice slice = {sgm_cuda_scene(work, job), work->sums, work->maps};
  slice.scene.height = rows;
  slice.sums += sums_of(work, config, first);
  skip_rows(&slice.scene.gray, first);
  skip_rows(&slice.maps.winner, first);
  skip_rows(&slice.maps.right, first);
  skip_rows(&slice.maps.values, first);
  skip_rows(&slice.maps.raw_confidence, first);
  return slice;
}

/* Copies the maps of a slice to the position that `to` has for them. */
static RvStatus move_maps(const RvSgmJob *job, const SgmSlice *slice, const SgmMaps *to) {
  const RvSgmConfig *config = &job->plan->config;
  const SgmRaster<uint16_t> source[2] = {slice->maps.winner, slice->maps.values};
  const SgmRaster<uint16_t> target[2] = {to->winner, to->values};
  for (int i = 0; i < 2; i++)
    RV_CU(&config->log,
          cudaMemcpy2DAsync(target[i].data, 2 * (size_t)target[i].stride, source[i].data,
                            2 * (size_t)source[i].stride, 4 * (size_t)config->width,
                            (size_t)slice->scene.height, cudaMemcpyDeviceToDevice, job->stream));
  return RV_OK;
}

/* Window by window. The maps of the first one stay in the memory of its descriptors until its S is
 * not needed anymore; those of the others go to S of the previous windows. */
static RvStatus finish_windows(const SgmCuda *work, const RvSgmJob *job) {
  const int height = job->plan->config.height;
  const int most = rv_div_up(height, rv_div_up(height, work->window));
  for (int first = 0; first < height; first += most) {
    const SgmRows rows = {first, rv_min(most, height - first), 0};
    SgmSlice slice = slice_of(work, job, first, rows.count);
    if (first == 0)
      slice.maps = maps_on_census(work, job->plan);
    RV_TRY(sgm_cuda_census(work, job, &rows, 1));
    RV_TRY(work->finish(work, job, &slice));
    if (first == 0)
      RV_TRY(move_maps(job, &slice, &work->maps));
  }
  return RV_OK;
}

static RvStatus match(void *memory, RvSgmJob *job) {
  const SgmCuda *work = (const SgmCuda *)memory;
  const RvSgmConfig *config = &job->plan->config;
  const SgmRows all = {0, config->height, 0};
  if (!holds_all(work, config)) { /* sweeps and finish_windows compute descriptors themselves */
    RV_TRY(sweep(work, job));
    return finish_windows(work, job);
  }
  RV_TRY(sgm_cuda_census(work, job, &all, 1));
  RV_TRY(sweep(work, job));
  const SgmSlice slice = slice_of(work, job, 0, config->height);
  return work->finish(work, job, &slice);
}

static RvStatus filter(void *work, RvSgmJob *job) {
  return sgm_cuda_filter((const SgmCuda *)work, job);
}

static RvStatus refine(void *work, RvSgmJob *job) {
  return sgm_cuda_refine((const SgmCuda *)work, job);
}

RvStatus sgm_cuda_long_rows(const SgmCuda *work, const RvSgmJob *job, const SgmSlice *slice) {
  (void)work;
  RV_TRY(sgm_cuda_horizontal(job, slice));
  return sgm_cuda_winner(job, slice);
}

RV_ENGINE(RvSgm, sgm, cuda, SgmCuda, layout, open, nullptr, match, filter, refine);
