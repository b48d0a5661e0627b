/* stixels_contract.c: stixels as the contract test sees them. */
#include <stddef.h>

#include "contract.h"
#include "stixels/stixels.h"

#define LIST(...)                                                                                  \
  { __VA_ARGS__ }
#define INT_FIELD(field, bads_, bad_, goods_, good_)                                               \
  { #field, offsetof(RvStixelsConfig, field), 0, bads_, goods_, bad_, good_ }
#define REAL_FIELD(field, bads_, bad_, goods_, good_)                                              \
  { #field, offsetof(RvStixelsConfig, field), 1, bads_, goods_, bad_, good_ }
#define PRIOR_FIELD(field) REAL_FIELD(field, 2, LIST(-1e-9, 1001), 2, LIST(0, 1000))

static const RvContractField fields[] = {
    INT_FIELD(width, 4, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), 2, LIST(1, RV_MAX_SIDE)),
    INT_FIELD(height, 4, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), 2, LIST(1, RV_MAX_SIDE)),
    INT_FIELD(stixel_width, 3, LIST(0, -1, 65), 2, LIST(1, 64)),
    INT_FIELD(vertical_step, 3, LIST(0, -1, 65), 2, LIST(1, 64)),
    INT_FIELD(model, 2, LIST(-1, 3), 3, LIST(0, 1, 2)),
    INT_FIELD(ground, 2, LIST(-1, 2), 1, LIST(0)),
    INT_FIELD(refine, 2, LIST(-1, 2), 2, LIST(0, 1)),
    INT_FIELD(cuts, 2, LIST(-1, 2), 2, LIST(0, 1)),
    INT_FIELD(max_disparity, 3, LIST(0, -1, 1025), 2, LIST(1, 1024)),
    REAL_FIELD(p_val, 3, LIST(0, 1, -0.5), 2, LIST(0.01, 0.99)),
    REAL_FIELD(p_out, 3, LIST(0, 1, -0.5), 2, LIST(0.001, 0.9)),
    REAL_FIELD(sigma[0], 3, LIST(0, -1, 4.1), 2, LIST(0.1, 4)),
    REAL_FIELD(sigma[1], 3, LIST(0, -1, 4.1), 2, LIST(0.1, 4)),
    REAL_FIELD(sigma[2], 3, LIST(0, -1, 4.1), 2, LIST(0.1, 4)),
    REAL_FIELD(sigma_ground_a, 2, LIST(-1e-9, 1000001), 2, LIST(0, 1e6)),
    REAL_FIELD(sigma_ground_b, 2, LIST(-1e-9, 1000001), 2, LIST(0, 1e6)),
    REAL_FIELD(sigma_object_b, 2, LIST(-1e-9, 1000001), 2, LIST(0, 1e6)),
    PRIOR_FIELD(complexity),
    PRIOR_FIELD(gravity_minus.alpha),
    PRIOR_FIELD(gravity_plus.beta),
    PRIOR_FIELD(ordering.alpha),
    PRIOR_FIELD(gap_minus.beta),
    PRIOR_FIELD(gap_plus.alpha),
    PRIOR_FIELD(transition[0][0]),
    PRIOR_FIELD(transition[2][2]),
    REAL_FIELD(camera.pitch, 2, LIST(-90, 90), 2, LIST(-89, 89)),
    INT_FIELD(semantics, 2, LIST(-1, 33), 2, LIST(1, 32)),
    REAL_FIELD(semantic_weight, 2, LIST(-0.1, 101), 2, LIST(0, 100)),
    INT_FIELD(threads, 1, LIST(-1), 2, LIST(0, 1)),
};

static void init(void *config) {
  RvStixelsConfig *c = config;
  rv_stixels_config_init(c);
  c->width = 101;
  c->height = 61;
  c->stixel_width = 5;
  c->vertical_step = 3;
  c->semantics = 3;
  c->threads = 2;
}

static RvStatus check(const void *config) {
  return rv_stixels_config_check(config);
}

static size_t workspace(const void *config, RvEngine engine) {
  return rv_stixels_workspace(config, engine);
}

static RvStatus create(void **out, const void *config, RvEngine engine) {
  if (!out)
    return rv_stixels_new(NULL, config, engine);
  RvStixels *stixels = *out;
  const RvStatus status = rv_stixels_new(&stixels, config, engine);
  *out = stixels;
  return status;
}

static void destroy(void **object) {
  RvStixels *stixels = object ? *object : NULL;
  rv_stixels_free(object ? &stixels : NULL);
  if (object)
    *object = stixels;
}

/* The arrays as planes of one row: run() cannot know their size, and any may be missing. */
static int planes(const void *config, RvContractPlane *out) {
  const RvStixelsConfig *c = config;
  const int columns = rv_stixels_columns(c), room = (int)rv_stixels_count_max(c);
  out[0] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 0, RV_RULES};
  out[1] =
      (RvContractPlane){"confidence", RV_U8, c->width, c->height, 1, 0, RV_RULES - RV_RULE_DATA};
  out[2] = (RvContractPlane){"stixels", RV_U32, room * 5, 1, 0, 0, 0};
  out[3] = (RvContractPlane){"offsets", RV_U32, columns + 1, 1, 0, 0, 0};
  out[4] = (RvContractPlane){"energies", RV_U32, columns, 1, 0, 0, 0};
  out[5] = (RvContractPlane){"ground", RV_U32, 6, 1, 0, 0, 0};
  out[6] = (RvContractPlane){"labels", RV_U8, 40, 30, 1, 0, RV_RULE_STRIDE | RV_RULE_FORMAT};
  return 7;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_stixels_run(object, NULL, NULL, stream);
  const RvStixelsOutput output = {.stixels = p[2].data,
                                  .capacity = (uint32_t)(p[2].width / 5),
                                  .offsets = p[3].data,
                                  .energies = p[4].data,
                                  .ground = p[5].data};
  const RvStixelsInput input = {p[0], p[1], p[6], {NULL, 0, 0, 0, RV_U8}};
  return rv_stixels_run(object, &input, &output, stream);
}

static const char *bad(int index, void *config) {
  RvStixelsConfig *c = config;
  switch (index) {
  case 0:
    c->ground = RV_STIXELS_GROUND_CAMERA;
    return "ground from a camera that is not known";
  case 1:
    c->complexity = (double)0x7fffffff * 0x7fffffff * 1e300;
    return "an infinite prior";
  case 2:
    c->semantic_structure[2] = 3;
    return "a semantic class of no structural class";
  default:
    return NULL;
  }
}

const RvContract rv_stixels_contract = {
    .name = "stixels",
    .config_size = sizeof(RvStixelsConfig),
    .log_offset = offsetof(RvStixelsConfig, log),
    .init = init,
    .check = check,
    .workspace = workspace,
    .create = create,
    .destroy = destroy,
    .planes = planes,
    .run = run,
    .fields = fields,
    .field_count = sizeof fields / sizeof fields[0],
    .bad = bad,
};
