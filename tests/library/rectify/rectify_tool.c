/* SPDX-License-Identifier: MIT */
/* rectify_tool.c: the library's rectification for scripts that compare it with OpenCV.
 *
 *   rectify_tool geometry CALIBRATION [KEY=VALUE ...]             prints the geometry as JSON
 *   rectify_tool maps CALIBRATION OUT [KEY=VALUE ...]             int32 (U, V) of left, then right view
 *   rectify_tool remap CALIBRATION IN OUT [KEY=VALUE ...]         raw packed frame to raw packed frame
 *
 * Keys: right (second file), pair, lens, baseline_scale, and the parameters of rectify.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rectify/rectify_inputs.h"
#include "rectify/rectify_maps.h"

static void print_line(void *user, const char *text) {
  (void)user;
  fprintf(stderr, "%s\n", text);
}

typedef struct Task {
  RvRectifyConfig config;
  RvCalibrationOptions options;
  const char *path, *right;
} Task;

static int set_option(Task *task, const char *key, const char *value) {
  if (strcmp(key, "right") == 0)
    task->right = value;
  else if (strcmp(key, "pair") == 0)
    task->options.pair = atoi(value);
  else if (strcmp(key, "lens") == 0)
    task->options.lens = atoi(value);
  else if (strcmp(key, "baseline_scale") == 0)
    task->options.baseline_scale = atof(value);
  else
    return rv_params_set(rv_rectify_params(), &task->config, key, value) == RV_OK;
  return 1;
}

/* Options "key=value", then the calibration. */
static int read_task(Task *task, const char *path, char **args, int count) {
  const RvLog log = {print_line, NULL};
  rv_rectify_config_init(&task->config);
  rv_calibration_options_init(&task->options);
  task->config.log = task->options.log = log;
  task->path = path;
  for (int i = 0; i < count; i++) {
    char *equals = strchr(args[i], '=');
    if (!equals)
      return 0;
    *equals = 0;
    if (!set_option(task, args[i], equals + 1))
      return 0;
  }
  task->options.width = task->config.in_width;
  task->options.height = task->config.in_height;
  return rv_calibration_read(&task->config.calibration, path, task->right, &task->options) == RV_OK;
}

static void print_numbers(const char *name, const double *values, int count, const char *end) {
  printf("\"%s\":[", name);
  for (int i = 0; i < count; i++)
    printf("%s%.17g", i ? "," : "", values[i]);
  printf("]%s", end);
}

static int print_geometry(const Task *task) {
  RvRectifyGeometry g;
  RvRectify *rectify = NULL;
  if (rv_rectify_geometry(&task->config, &g) != RV_OK ||
      rv_rectify_new(&rectify, &task->config, RV_CPU) != RV_OK)
    return 0;
  const RvRectifyRect valid = rv_rectify_valid(rectify);
  const double camera[] = {g.camera.focal, g.camera.cx, g.camera.cy, g.camera.doffs,
                           g.camera.baseline};
  printf("{\"format\":\"%s\",\"warning\":\"%s\",\"width\":%d,\"height\":%d,\"identity\":%d,",
         g.calibration.format, g.calibration.warning, g.width, g.height,
         rv_rectify_is_identity(rectify));
  printf("\"valid\":[%d,%d,%d,%d],\"fov\":%.17g,", valid.x, valid.y, valid.width, valid.height,
         g.field_of_view);
  print_numbers("R1", g.rotation[0], 9, ",");
  print_numbers("R2", g.rotation[1], 9, ",");
  print_numbers("P1", g.projection[0], 12, ",");
  print_numbers("P2", g.projection[1], 12, ",");
  for (int v = 0; v < 2; v++) {
    const RvCalibrationView *view = &g.calibration.view[v];
    const double k[4] = {view->fx, view->fy, view->cx, view->cy};
    print_numbers(v ? "K2" : "K1", k, 4, ",");
    print_numbers(v ? "D2" : "D1", view->distortion, 14, ",");
  }
  print_numbers("R", g.calibration.rotation, 9, ",");
  print_numbers("T", g.calibration.translation, 3, ",");
  print_numbers("camera", camera, 5, "}\n");
  rv_rectify_free(&rectify);
  return 1;
}

/* Positions of all samples of both views, left first; outside is INT32_MIN. */
static int write_maps(const Task *task, const char *path) {
  RvRectifyPlan *plan = calloc(1, sizeof *plan);
  FILE *file = fopen(path, "wb");
  if (!plan || !file)
    return 0;
  plan->config = task->config;
  if (rv_rectify_config_check(&plan->config) != RV_OK || rv_rectify_make_plan(plan) != RV_OK)
    return 0;
  RvRectifyGrid *grid = &plan->grid[RV_RECTIFY_LUMA];
  grid->wide = 1;
  RvRectifyWideEntry *map = malloc(rv_rectify_map_bytes(grid));
  if (!map)
    return 0;
  rv_rectify_make_map(plan, RV_RECTIFY_LUMA, map, NULL);
  for (int view = 0; view < 2; view++) {
    const int second = plan->views[1] == view;
    const RvRectifyWindow *out = &grid->out[second];
    for (int y = 0; y < out->height; y++)
      for (int x = 0; x < out->width; x++) {
        RvRectifyWideEntry e =
            map[(size_t)(out->y + y) * (size_t)grid->pitch + (size_t)(out->x + x)];
        if (e.x != RV_RECTIFY_OUTSIDE_WIDE) {
          e.x += rv_rectify_predict(x, grid->step_x);
          e.y += rv_rectify_predict(y, grid->step_y);
        }
        fwrite(&e, sizeof e, 1, file);
      }
  }
  free(map);
  free(plan);
  return fclose(file) == 0;
}

static int remap(const Task *task, const char *in_path, const char *out_path) {
  const RvRectifyConfig *c = &task->config;
  RvRectifyGeometry g;
  RvRectify *rectify = NULL;
  if (rv_rectify_geometry(c, &g) != RV_OK || rv_rectify_new(&rectify, c, RV_CPU) != RV_OK)
    return 0;
  void *from, *to;
  size_t bytes, out_bytes;
  const RvPicture in = rectify_input_frame(c, c->in_width, c->in_height, &from, &bytes);
  const RvPicture out = rectify_input_frame(c, g.width, g.height, &to, &out_bytes);
  FILE *file = fopen(in_path, "rb");
  int ok = file && fread(from, 1, bytes, file) == bytes && fgetc(file) == EOF;
  if (file)
    fclose(file);
  ok = ok && rv_rectify_run(rectify, &in, &out, NULL) == RV_OK;
  file = ok ? fopen(out_path, "wb") : NULL;
  ok = file && fwrite(to, 1, out_bytes, file) == out_bytes;
  if (file)
    ok &= fclose(file) == 0;
  free(from);
  free(to);
  rv_rectify_free(&rectify);
  return ok;
}

int main(int argc, char **argv) {
  static Task task;
  const char *verb = argc > 2 ? argv[1] : "";
  const int files = strcmp(verb, "remap") == 0 ? 2 : strcmp(verb, "maps") == 0 ? 1 : 0;
  if (argc < 3 + files || !read_task(&task, argv[2], argv + 3 + files, argc - 3 - files))
    return 2;
  const int ok = files == 2   ? remap(&task, argv[3], argv[4])
                 : files == 1 ? write_maps(&task, argv[3])
                              : print_geometry(&task);
  return ok ? 0 : 1;
}
