/* SPDX-License-Identifier: MIT */
/* gstcudaroaddetect_models.c: model files. */
#include "gstcudaroaddetect_models.h"

#include <unistd.h>

#include "common/gstrverror.h"

/* TRUE when an object of this config accepts the models; else `line` is the reason. */
static gboolean is_accepted(const RvRoadConfig *wanted, GBytes *models, GstRvLine *line) {
  RvRoadConfig config = *wanted;
  RvRoad *road = NULL;
  gsize size;
  const void *data = g_bytes_get_data(models, &size);
  /* Models do not depend on the frame size and the engine. */
  config.width = config.height = config.patch_size;
  config.camera = (RvCamera){.focal = 1, .baseline = 1};
  config.threads = 1;
  config.log = gst_rv_line_sink(line);
  RvStatus status = rv_road_new(&road, &config, RV_CPU);
  if (status == RV_OK)
    status = data ? rv_road_load(road, data, size, NULL) : RV_ERR_IO;
  if (status != RV_OK && !line->text[0])
    g_strlcpy(line->text, data ? rv_status_text(status) : "the file is empty", sizeof line->text);
  rv_road_free(&road);
  return status == RV_OK;
}

GBytes *gst_cuda_road_detect_models_read(const char *path, const RvRoadConfig *config,
                                         const RvLog *log) {
  GError *error = NULL;
  char *data = NULL;
  gsize size = 0;
  if (!g_file_get_contents(path, &data, &size, &error)) {
    gst_rv_log_line(log, "%s; leave model-location empty to start without models", error->message);
    g_error_free(error);
    return NULL;
  }
  GBytes *models = g_bytes_new_take(data, size);
  GstRvLine line = {""};
  if (is_accepted(config, models, &line))
    return models;
  g_bytes_unref(models);
  gst_rv_log_line(log,
                  "model-location=%s: %s (save the file again with model-save-location, or leave "
                  "model-location empty)",
                  path, line.text);
  return NULL;
}

RvStatus gst_cuda_road_detect_models_write(const char *path, GBytes *models, const RvLog *log) {
  GError *error = NULL;
  gsize size;
  const char *data = g_bytes_get_data(models, &size);
  if (g_file_set_contents(path, data, (gssize)size, &error))
    return RV_OK;
  gst_rv_log_line(log, "model-save-location: %s", error->message);
  g_error_free(error);
  return RV_ERR_IO;
}

gboolean gst_cuda_road_detect_models_writable(const char *path, const RvLog *log) {
  char *folder = g_path_get_dirname(path);
  const gboolean is_folder = g_file_test(folder, G_FILE_TEST_IS_DIR);
  const gboolean good =
      is_folder && access(folder, W_OK) == 0 && !g_file_test(path, G_FILE_TEST_IS_DIR);
  if (!good)
    gst_rv_log_line(log, "model-save-location=%s cannot be written: %s", path,
                    !is_folder ? "there is no such folder; make it first"
                    : g_file_test(path, G_FILE_TEST_IS_DIR) ? "it is a folder; add a file's name"
                                                            : "its folder is read-only");
  g_free(folder);
  return good;
}

GBytes *gst_cuda_road_detect_models_take(RvRoad *road, const RvRoadConfig *config,
                                         RvStream stream) {
  const gsize room = rv_road_save_bytes(config);
  gsize size = 0;
  guint8 *data = g_malloc(MAX(room, 1));
  if (rv_road_save(road, data, room, &size, stream) == RV_OK)
    return g_bytes_new_take(data, size);
  g_free(data);
  return NULL;
}
