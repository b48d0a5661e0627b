/* SPDX-License-Identifier: MIT */
/* fuzz_calibration.c: any bytes as a calibration file, or as two of them with a byte 0 between. What
 * is accepted is rectified. */
#include <stdint.h>
#include <string.h>

#include "fuzz.h"
#include "rectify/rectify.h"

FUZZ_NO_INITIALIZATION;

/* Rectified cameras of views of that size; the maps too when they are small. */
static void rectify(const RvCalibration *calibration, int width, int height) {
  RvRectifyConfig config;
  RvRectifyGeometry geometry;
  RvRectify *object = NULL;
  rv_rectify_config_init(&config);
  config.calibration = *calibration;
  config.in_width = width;
  config.in_height = height;
  config.threads = 1;
  for (int pass = 0; pass < 2; pass++) {
    config.alpha = pass - 1;
    if (rv_rectify_geometry(&config, &geometry) == RV_OK && width < 64 && geometry.width < 256 &&
        geometry.height < 256) {
      rv_rectify_new(&object, &config, RV_CPU);
      rv_rectify_free(&object);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const uint8_t *zero = size ? memchr(bytes, 0, size) : NULL;
  const size_t first = zero ? (size_t)(zero - bytes) : size;
  const RvCalibrationBytes files[2] = {
      {"first", bytes, first}, {"second", zero ? zero + 1 : bytes, zero ? size - first - 1 : 0}};
  static const int sizes[][2] = {{0, 0}, {672, 376}};
  for (int i = 0; i < 2; i++) {
    RvCalibration calibration;
    RvCalibrationOptions options;
    rv_calibration_options_init(&options);
    options.width = sizes[i][0];
    options.height = sizes[i][1];
    if (rv_calibration_parse(&calibration, files, zero ? 2 : 1, &options) != RV_OK)
      continue;
    const RvCalibrationView *view = &calibration.view[0];
    rectify(&calibration, view->width ? view->width : 640, view->height ? view->height : 480);
    rectify(&calibration, 40, 30);
  }
  return 0;
}
