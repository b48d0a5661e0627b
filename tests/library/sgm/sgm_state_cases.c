/* SPDX-License-Identifier: MIT */
/* sgm_state_cases.c: the kernels that an object uses, and the times of its stages. */
#include "sgm/sgm_state_cases.h"

#include "sgm/sgm.h"
#include "sgm/sgm_probe.h"

#define SIDE 64

typedef struct Shape {
  int width, height, disparities, cost, paths;
} Shape;

#if RV_HAVE_CUDA
/* The shapes of sgm/cuda use every kernel of the CUDA engine, on every GPU that has them all (the
 * diagonal one needs compute capability 8.0). */
static void check_kernels(RvCheck *check, const char *name, RvRandom *random) {
  static const Shape shapes[] = {{64, 64, 64, RV_SGM_CSCT, 4},
                                 {640, 480, 64, RV_SGM_CSCT, 8},
                                 {320, 301, 32, RV_SGM_CENSUS, 8},
                                 {16384, 112, 32, RV_SGM_CSCT, 8}};
  unsigned used = 0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    RvSgmConfig c;
    RvSgm *sgm = NULL;
    rv_sgm_config_init(&c);
    c.width = shapes[i].width;
    c.height = shapes[i].height;
    c.disparities = shapes[i].disparities;
    c.cost = (RvSgmCost)shapes[i].cost;
    c.paths = shapes[i].paths;
    if (rvc_true(check, name, rv_sgm_new(&sgm, &c, RV_CUDA) == RV_OK, "no object"))
      used |= rv_sgm_cuda_uses(sgm);
    rv_sgm_free(&sgm);
  }
  rvc_true(check, name, (used | RV_SGM_USES_DIAGONAL) == RV_SGM_USES_ALL,
           "kernels 0x%x are not used", RV_SGM_USES_ALL & ~used);
}
#  define KERNEL_CASE RVC_CASE("sgm/kernels", check_kernels, RVC_ON_CUDA),
#else
#  define KERNEL_CASE
#endif

/* Nothing before the first run; then a time of each stage. */
static int times_are_good(RvCheck *check, const char *name, RvSgm *sgm, RvPlane *plane) {
  double us[RV_SGM_STAGES] = {-1, -1, -1};
  int good = rvc_true(check, name, rv_sgm_stage_times(sgm, us) == RV_ERR_ARG, "before a run");
  const RvStatus status = rv_sgm_run(sgm, &plane[0], &plane[1], &plane[2], NULL, NULL);
  good &= rvc_true(check, name, status == RV_OK, "run fails");
  if (rvc_cuda(check) && sgm->object.engine == RV_CUDA)
    good &= rvc_true(check, name, rv_stream_wait(NULL) == RV_OK, "no end");
  good &= rvc_true(check, name, rv_sgm_stage_times(sgm, us) == RV_OK, "no times");
  good &= rvc_true(check, name, us[0] > 0 && us[1] >= 0 && us[2] >= 0, "%g, %g and %g us", us[0],
                   us[1], us[2]);
  return good & rvc_true(check, name, rv_sgm_stage_times(sgm, NULL) == RV_ERR_ARG, "no memory");
}

static void check_times(RvCheck *check, const char *name, RvEngine engine) {
  static uint8_t gray[SIDE * SIDE];
  static uint16_t disparity[SIDE * SIDE];
  if (!rvc_wants(check, name) || (engine == RV_CUDA && !rvc_cuda(check)))
    return;
  RvPlane host[3] = {{gray, SIDE, SIDE, SIDE, RV_U8},
                     {gray, SIDE, SIDE, SIDE, RV_U8},
                     {disparity, 2 * SIDE, SIDE, SIDE, RV_U16}};
  RvPlane own[3] = {{0}};
  int good = 1;
  for (int i = 0; i < 3 && engine == RV_CUDA; i++)
    good &= rvc_upload(check, &own[i], &host[i]);
  for (int measures = 0; good && measures < 2; measures++) {
    RvSgmConfig c;
    RvSgm *sgm = NULL;
    rv_sgm_config_init(&c);
    c.width = c.height = SIDE;
    c.stage_times = measures;
    if (!rvc_true(check, name, rv_sgm_new(&sgm, &c, engine) == RV_OK, "no object"))
      break;
    double us[RV_SGM_STAGES];
    good &= measures ? times_are_good(check, name, sgm, engine == RV_CUDA ? own : host)
                     : rvc_true(check, name, rv_sgm_stage_times(sgm, us) == RV_ERR_ARG,
                                "times that nobody asked for");
    rv_sgm_free(&sgm);
  }
  for (int i = 0; i < 3 && engine == RV_CUDA; i++)
    rvc_device_free(&own[i]);
  if (good)
    rvc_ok(check, name);
}

static void check_both_times(RvCheck *check) {
  check_times(check, "sgm/stage-times", RV_CPU);
  check_times(check, "sgm/stage-times-cuda", RV_CUDA);
}

RVC_CASES(rv_sgm_state_cases, KERNEL_CASE{.group = check_both_times});
