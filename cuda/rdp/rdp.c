/* SPDX-License-Identifier: MIT */
/* rdp.c: host side of column segmentation: defaults, checks, memory, and run as a list of stages.
 */
#include "rdp/rdp.h"

#include "rdp/rdp_stages.h"
#include "rv_object.h"
#include "rv_hd.h"

struct RvRdp {
  RvRdpConfig config;
  RvRdpLimit limit;
  RvEngine engine;
  const RvRdpStages *stages;
  RvArena arena;
  void *work;
};

void rv_rdp_config_init(RvRdpConfig *config) {
  if (!config)
    return;
  *config = (RvRdpConfig){
      .epsilon = RV_RDP_EPSILON_DEFAULT,
      .distance = RV_RDP_VERTICAL,
      .invalid = RV_RDP_SKIP,
      .median = RV_RDP_MEDIAN_DEFAULT,
      .max_levels = RV_RDP_LEVELS_DEFAULT,
  };
}

RvStatus rv_rdp_config_check(const RvRdpConfig *config) {
  if (!config)
    return RV_ERR_ARG;
  const RvLog *log = &config->log;
  RV_TRY(rv_in_range(log, "rdp: width", config->width, 1, RV_MAX_SIDE));
  RV_TRY(rv_in_range(log, "rdp: height", config->height, 1, RV_MAX_SIDE));
  RV_REQUIRE(log, config->epsilon >= 0 && config->epsilon <= RV_RDP_EPSILON_MAX,
             "rdp: epsilon is %g px, must be 0 to %g", config->epsilon, RV_RDP_EPSILON_MAX);
  RV_REQUIRE(log, config->distance == RV_RDP_VERTICAL || config->distance == RV_RDP_PERPENDICULAR,
             "rdp: distance is %d, must be RV_RDP_VERTICAL (0) or RV_RDP_PERPENDICULAR (1)",
             (int)config->distance);
  RV_REQUIRE(log, config->invalid == RV_RDP_SKIP || config->invalid == RV_RDP_BREAK,
             "rdp: invalid is %d, must be RV_RDP_SKIP (0) or RV_RDP_BREAK (1)",
             (int)config->invalid);
  RV_REQUIRE(log, config->median == 0 || config->median == 3 || config->median == 5,
             "rdp: median is %d, must be 0, 3 or 5", config->median);
  RV_TRY(rv_in_range(log, "rdp: max_levels", config->max_levels, 0, RV_RDP_LEVELS_MAX));
  RV_REQUIRE(log, config->threads >= 0, "rdp: threads is %d, must be 0 (all) or more",
             config->threads);
  return RV_OK;
}

size_t rv_rdp_workspace(const RvRdpConfig *config, RvEngine engine) {
  const RvRdpStages *stages = RV_STAGES_OF(rdp, engine);
  if (rv_rdp_config_check(config) != RV_OK || !stages)
    return 0;
  void *work = rv_memory_object(stages->work_bytes);
  if (!work)
    return 0;
  RvArena counted = {0};
  stages->layout(work, config, &counted);
  rv_memory_free(work, RV_CPU);
  return rv_arena_size(&counted);
}

uint32_t rv_rdp_segments_max(const RvRdpConfig *config) {
  if (rv_rdp_config_check(config) != RV_OK)
    return 0;
  return (uint32_t)config->width * (uint32_t)rv_max(1, config->height - 1);
}

static RvRdpLimit limit_of(const RvRdpConfig *config) {
  return (RvRdpLimit){
      .epsilon = (uint32_t)(config->epsilon * RV_RDP_EPSILON_STEPS + 0.5),
      .perpendicular = config->distance == RV_RDP_PERPENDICULAR,
      .depth = config->max_levels ? config->max_levels : RV_MAX_SIDE + 1,
  };
}

/* Fills a cleared object; what it has taken is freed by the caller through rv_rdp_free. */
static RvStatus open_object(RvRdp *rdp) {
  const RvLog *log = &rdp->config.log;
  rdp->work = rv_memory_object(rdp->stages->work_bytes);
  if (!rdp->work) {
    rv_log(log, "rdp: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  rdp->stages->layout(rdp->work, &rdp->config, &rdp->arena);
  RV_TRY(rv_arena_open_for(&rdp->arena, rdp->engine, log, "rdp", "%d x %d pixels",
                           rdp->config.width, rdp->config.height));
  rdp->stages->layout(rdp->work, &rdp->config, &rdp->arena);
  return rdp->stages->open(rdp->work, &rdp->config);
}

RvStatus rv_rdp_new(RvRdp **out, const RvRdpConfig *config, RvEngine engine) {
  if (!out)
    return RV_ERR_ARG;
  *out = NULL;
  RV_TRY(rv_rdp_config_check(config));
  RV_TRY(rv_check_engine(&config->log, "rdp", engine));
  RvRdp *rdp = rv_memory_object(sizeof *rdp);
  if (!rdp) {
    rv_log(&config->log, "rdp: out of host memory");
    return RV_ERR_NO_MEMORY;
  }
  rdp->config = *config;
  rdp->limit = limit_of(config);
  rdp->engine = engine;
  rdp->stages = RV_STAGES_OF(rdp, engine);
  const RvStatus status = open_object(rdp);
  if (status != RV_OK) {
    rv_rdp_free(&rdp);
    return status;
  }
  *out = rdp;
  return RV_OK;
}

static RvStatus check_plane(const RvRdpConfig *c, const RvPlane *plane, RvFormat format,
                            const char *name) {
  RV_REQUIRE(&c->log, rv_plane_fits(plane, c->width, c->height, format),
             "rdp: plane %s must be %s of %d x %d pixels with a stride that holds a row", name,
             format == RV_U8 ? "RV_U8" : "RV_U16", c->width, c->height);
  return RV_OK;
}

static RvStatus check_output(const RvRdpConfig *c, const RvRdpOutput *output) {
  if (!output) {
    rv_log(&c->log, "rdp: output is NULL");
    return RV_ERR_ARG;
  }
  if (output->mask.data)
    RV_TRY(check_plane(c, &output->mask, RV_U8, "mask"));
  if (output->reconstruction.data)
    RV_TRY(check_plane(c, &output->reconstruction, RV_U16, "reconstruction"));
  RV_REQUIRE(
      &c->log,
      ((uintptr_t)output->segments | (uintptr_t)output->offsets | (uintptr_t)output->columns) % 4 ==
          0,
      "rdp: segments, offsets and columns must be aligned to 4 bytes");
  return RV_OK;
}

RvStatus rv_rdp_run(RvRdp *rdp, const RvPlane *disparity, const RvRdpOutput *output,
                    RvStream stream) {
  if (!rdp)
    return RV_ERR_ARG;
  const RvRdpConfig *config = &rdp->config;
  RV_TRY(check_plane(config, disparity, RV_U16, "disparity"));
  RV_TRY(check_output(config, output));
  RvRdpJob job = {.disparity = *disparity, .output = *output, .stream = stream};
  if (config->median)
    RV_TRY(rdp->stages->median(rdp->work, config, &job, &job.disparity));
  return rdp->stages->segment(rdp->work, config, &rdp->limit, &job);
}

void rv_rdp_free(RvRdp **rdp) {
  if (!rdp || !*rdp)
    return;
  RvRdp *object = *rdp;
  rv_arena_close(&object->arena);
  rv_memory_free(object->work, RV_CPU);
  rv_memory_free(object, RV_CPU);
  *rdp = NULL;
}
