/* SPDX-License-Identifier: MIT */
/* road_contract.c: road detection as the contract test sees it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "contract.h"
#include "road/road_inputs.h"

RV_CONTRACT_OBJECT(RvRoad, road);

/* Joined with patch_size and library_size of init(); focal length and baseline must be known. */
static const RvContractField fields[] = {
    INT_FIELD(width, LIST(0, 4, RV_MAX_SIDE + 1, 2147483647), LIST(5, RV_MAX_SIDE)),
    INT_FIELD(height, LIST(-1, 4, RV_MAX_SIDE + 1, 2147483647), LIST(5, RV_MAX_SIDE)),
    REAL_FIELD(camera.focal, LIST(0, -1, 1.1e6), LIST(1, 1e6)),
    REAL_FIELD(camera.baseline, LIST(0, -1, 1001), LIST(1e-3, 1000)),
    INT_FIELD(initial_models, LIST(0, -1, 9), LIST(1, 8)),
    INT_FIELD(new_models, LIST(0, -1, 9), LIST(1, 8)),
    INT_FIELD(library_size, LIST(0, -1, 1, 51), LIST(2, 50)),
};

static void init(void *config) {
  RvRoadConfig *c = config;
  rv_road_config_init(c);
  rvc_set(rv_road_params(), c, "width=103 height=61 threads=2");
  c->camera = (RvCamera){.focal = 100, .cx = 51, .cy = 20, .baseline = 0.5};
}

/* The report as a plane of one row; any of the outputs may be missing. */
static int planes(const void *config, RvContractPlane *out) {
  const RvRoadConfig *c = config;
  const unsigned drawn = RV_RULE_SIZE | RV_RULE_STRIDE | RV_RULE_FORMAT;
  int columns, rows;
  rv_road_size(c, &columns, &rows);
  out[0] = (RvContractPlane){"color", RV_U32, c->width, c->height, 1, 0, RV_RULES};
  out[1] = (RvContractPlane){"disparity", RV_U16, c->width, c->height, 1, 4096, RV_RULES};
  out[2] = (RvContractPlane){"mask", RV_U8, columns, rows, 0, 0, drawn};
  out[3] = (RvContractPlane){"distance", RV_F32, columns, rows, 0, 0, drawn};
  out[4] = (RvContractPlane){"seeds", RV_U8, columns, rows, 0, 0, drawn};
  out[5] = (RvContractPlane){"report", RV_U32, sizeof(RvRoadReport) / 4, 1, 0, 0, 0};
  out[6] = (RvContractPlane){"score", RV_U8, columns, rows, 0, 0, drawn};
  return 7;
}

static RvStatus run(void *object, const RvPlane *p, RvStream stream) {
  if (!p)
    return rv_road_run(object, NULL, NULL, NULL, stream);
  const RvRoadOutput output = {
      .mask = p[2], .distance = p[3], .seeds = p[4], .report = p[5].data, .score = p[6]};
  return rv_road_run(object, &p[0], &p[1], &output, stream);
}

/* --- Calls that allocate memory -------------------------------------------------------------- */

typedef struct Scene {
  RvRoadInputs inputs;
  RvRoadConfig other; /* the object's, with other patches */
  RvRoadSaved kept, other_library;
  size_t room;
  char *bytes; /* to save to */
  char folder[32], file[48], other_file[48];
} Scene;

/* Saves the library of `road` after one frame, in memory and in a file, and after some more
 * frames. */
static void learn(Scene *s, RvRoad *road, void *object) {
  rv_road_inputs_frames(&s->inputs, road, 0, 0);
  s->other_library = rv_road_inputs_save(&s->inputs, road);
  const RvStatus written = rv_road_save_file(road, s->other_file, NULL);
  rv_road_inputs_frames(&s->inputs, road, 1, 3);
  s->kept = rv_road_inputs_save(&s->inputs, road);
  const RvStatus loaded = rv_road_load(object, s->kept.bytes, s->kept.size, NULL);
  rvc_true(s->inputs.check, s->inputs.name, written == RV_OK && loaded == RV_OK,
           "the library was not written (%d) or not loaded (%d)", written, loaded);
}

static void *scene_open(RvCheck *check_, void *object, const void *config) {
  Scene *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  rv_road_inputs_open(check_, "contract/road/memory", &s->inputs, 203, 151);
  s->other = *(const RvRoadConfig *)config;
  s->other.patch_size = 4;
  s->room = rv_road_save_bytes(config);
  s->bytes = malloc(s->room + 1);
  snprintf(s->folder, sizeof s->folder, "/tmp/rv-road-XXXXXX");
  rvc_true(check_, s->inputs.name, s->bytes && mkdtemp(s->folder), "no memory or no folder");
  snprintf(s->file, sizeof s->file, "%s/library", s->folder);
  snprintf(s->other_file, sizeof s->other_file, "%s/other", s->folder);
  RvRoad *road = rv_road_inputs_new(&s->inputs, &s->inputs.config, RV_CPU);
  if (road)
    learn(s, road, object);
  rv_road_free(&road);
  return s;
}

static void scene_keeps(void *object, void *scene, const char *what) {
  const Scene *s = scene;
  rv_road_inputs_same(&s->inputs, object, &s->kept, what);
  rvc_true(s->inputs.check, s->inputs.name, access(s->file, F_OK) != 0, "%s: a file was written",
           what);
}

static void scene_close(void *scene) {
  Scene *s = scene;
  remove(s->file);
  remove(s->other_file);
  rvc_true(s->inputs.check, s->inputs.name, rmdir(s->folder) == 0, "something is left in %s",
           s->folder);
  rv_road_inputs_close(&s->inputs);
  free(s->kept.bytes);
  free(s->other_library.bytes);
  free(s->bytes);
  free(s);
}

static RvStatus call_save(void *object, void *scene) {
  const Scene *s = scene;
  size_t size;
  return rv_road_save(object, s->bytes, s->room, &size, NULL);
}

static RvStatus call_load(void *object, void *scene) {
  const Scene *s = scene;
  return rv_road_load(object, s->other_library.bytes, s->other_library.size, NULL);
}

static RvStatus call_save_file(void *object, void *scene) {
  const Scene *s = scene;
  return rv_road_save_file(object, s->file, NULL);
}

static RvStatus call_load_file(void *object, void *scene) {
  const Scene *s = scene;
  return rv_road_load_file(object, s->other_file, NULL);
}

static RvStatus call_set_config(void *object, void *scene) {
  const Scene *s = scene;
  return rv_road_set_config(object, &s->other, NULL);
}

static const RvContractScene scene = {scene_open, scene_keeps, scene_close};
static const RvContractCall calls[] = {{"save", call_save},
                                       {"load", call_load},
                                       {"save_file", call_save_file},
                                       {"load_file", call_load_file},
                                       {"set_config", call_set_config}};

static void extra(RvCheck *check_) {
  rvc_true(check_, "contract/road/reset", rv_road_reset(NULL, NULL) == RV_ERR_ARG,
           "reset accepted NULL");
}

const RvContract rv_road_contract = {
    RV_CONTRACT_TABLE(road), RV_CONTRACT_FIELDS, .workspace = workspace,
    .scene = &scene,         .calls = calls,     .call_count = sizeof calls / sizeof *calls,
    .extra = extra,
};
