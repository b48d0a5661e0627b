/* hough_contract.c: the Hough transform as the contract test sees it. */
#include <stddef.h>

#include "contract.h"
#include "hough/hough.h"

#define LIST(...)                                                                                  \
  { __VA_ARGS__ }
#define AT(field) offsetof(RvHoughConfig, field)

static const RvContractField fields[] = {
    {"width", AT(width), 0, 4, 2, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(1, RV_MAX_SIDE)},
    {"height", AT(height), 0, 4, 2, LIST(0, -1, RV_MAX_SIDE + 1, 2147483647), LIST(1, RV_MAX_SIDE)},
    {"edges", AT(edges), 0, 2, 2, LIST(-1, 3), LIST(RV_HOUGH_SOBEL, RV_HOUGH_BINARY)},
    {"edge_low", AT(edge_low), 0, 3, 2, LIST(-1, 251, RV_HOUGH_EDGE_MAX + 1), LIST(0, 250)},
    {"edge_high", AT(edge_high), 0, 3, 2, LIST(-1, 99, RV_HOUGH_EDGE_MAX + 1),
     LIST(100, RV_HOUGH_EDGE_MAX)},
    {"theta_steps", AT(theta_steps), 0, 3, 2, LIST(0, 1, RV_HOUGH_THETA_STEPS_MAX + 1),
     LIST(RV_HOUGH_THETA_STEPS_MIN, RV_HOUGH_THETA_STEPS_MAX)},
    {"rho_step", AT(rho_step), 1, 4, 2, LIST(0, -1, 0.249, 64.1), LIST(0.25, 64)},
    {"min_theta", AT(min_theta), 1, 2, 2, LIST(-0.1, 180), LIST(0, 179)},
    {"max_theta", AT(max_theta), 1, 3, 2, LIST(0, -1, 180.1), LIST(0.5, 180)},
    {"threshold", AT(threshold), 0, 2, 2, LIST(-1, RV_HOUGH_THRESHOLD_MAX + 1),
     LIST(0, RV_HOUGH_THRESHOLD_MAX)},
    {"max_lines", AT(max_lines), 0, 3, 2, LIST(0, -1, RV_HOUGH_LINES_MAX + 1),
     LIST(1, RV_HOUGH_LINES_MAX)},
    {"weighted", AT(weighted), 0, 2, 2, LIST(-1, 2), LIST(0, 1)},
    {"direction", AT(direction), 0, 2, 2, LIST(-1, RV_HOUGH_DIRECTION_MAX + 1),
     LIST(0, RV_HOUGH_DIRECTION_MAX)},
    {"segments", AT(segments), 0, 2, 2, LIST(-1, 2), LIST(0, 1)},
    {"min_length", AT(min_length), 0, 2, 2, LIST(-1, RV_HOUGH_LENGTH_MAX + 1),
     LIST(0, RV_HOUGH_LENGTH_MAX)},
    {"max_gap", AT(max_gap), 0, 2, 2, LIST(-1, RV_HOUGH_LENGTH_MAX + 1),
     LIST(0, RV_HOUGH_LENGTH_MAX)},
    {"threads", AT(threads), 0, 1, 2, LIST(-1), LIST(0, 1)},
};

static void init(void *config) {
  RvHoughConfig *c = config;
  rv_hough_config_init(c);
  c->width = 103;
  c->height = 61;
  c->threshold = 10;
  c->segments = 1;
  c->min_length = 5;
  c->threads = 2;
}

static RvStatus check(const void *config) {
  return rv_hough_config_check(config);
}

static size_t workspace(const void *config, RvEngine engine) {
  return rv_hough_workspace(config, engine);
}

static RvStatus create(void **out, const void *config, RvEngine engine) {
  if (!out)
    return rv_hough_new(NULL, config, engine);
  RvHough *hough = *out;
  const RvStatus status = rv_hough_new(&hough, config, engine);
  *out = hough;
  return status;
}

static void destroy(void **object) {
  RvHough *hough = object ? *object : NULL;
  rv_hough_free(object ? &hough : NULL);
  if (object)
    *object = hough;
}

/* The lines as one row of words: their records are dense. */
static int planes(const void *config, RvContractPlane *out) {
  const RvHoughConfig *c = config;
  int bins, angles;
  rv_hough_size(c, &bins, &angles, NULL, NULL);
  out[0] = (RvContractPlane){"input", RV_U8, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"lines", RV_U32, 5 * c->max_lines, 1, 0, 0, RV_RULE_DATA};
  out[2] = (RvContractPlane){"count", RV_U32, 1, 1, 0, 0, RV_RULE_DATA};
  out[3] = (RvContractPlane){
      "edges", RV_U8, c->width, c->height, 0, 0, RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT};
  out[4] = (RvContractPlane){
      "accumulator", RV_U32, bins, angles, 0, 0, RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT};
  return 5;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_hough_run(object, NULL, NULL, stream);
  const RvHoughOutput out = {p[1].data, p[2].data, p[3], p[4]};
  return rv_hough_run(object, &p[0], &out, stream);
}

static const char *bad(int index, void *config) {
  RvHoughConfig *c = config;
  if (index == 0) {
    c->edges = RV_HOUGH_BINARY;
    c->direction = 10;
    return "direction with binary edges";
  }
  if (index == 1) {
    c->min_theta = 0.1;
    c->max_theta = 0.9;
    return "a range of theta without an angle";
  }
  return NULL;
}

const RvContract rv_hough_contract = {
    .name = "hough",
    .config_size = sizeof(RvHoughConfig),
    .log_offset = offsetof(RvHoughConfig, log),
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
