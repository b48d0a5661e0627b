/* SPDX-License-Identifier: MIT */
/* calib_vendor.c: calibrations that camera makers ship: Stereolabs ZED, Luxonis DepthAI. */
#include <stdio.h>
#include <string.h>

#include "rectify/calib_fields.h"
#include "rectify/rectify_math.h"

/* --- ZED: lengths in mm ------------------------------------------------------------------------ */

/* Modes of the sensors: every one has its own section. */
static const struct {
  int width, height;
  const char *name;
} zed_modes[] = {{2208, 1242, "2K"}, {1920, 1080, "FHD"}, {1920, 1200, "FHD1200"},
                 {1280, 720, "HD"},  {960, 600, "SVGA"},  {672, 376, "VGA"}};
#define ZED_MODES (sizeof zed_modes / sizeof *zed_modes)

static RvStatus zed_mode(const CalibInput *input, size_t *mode) {
  const int w = input->options->width, h = input->options->height;
  for (*mode = 0; *mode < ZED_MODES; (*mode)++)
    if (zed_modes[*mode].width == w && zed_modes[*mode].height == h)
      return RV_OK;
  return rv_calib_error(input->docs[0], 0,
                        "views of %d x %d px are no mode of a ZED: expected 2208 x 1242, 1920 x "
                        "1080, 1920 x 1200, 1280 x 720, 960 x 600 or 672 x 376",
                        w, h);
}

static RvStatus zed_camera(const CalibInput *input, RvCalibration *out, int v, size_t mode) {
  const CalibDocument *doc = input->docs[0];
  static const char *const names[] = {"fx", "fy", "cx", "cy"};
  static const char *const coefficients[] = {"k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"};
  RvCalibrationView *view = &out->view[v];
  double k[4], d[8] = {0};
  char key[48];
  int count = 5;
  for (int i = 0; i < 4; i++) {
    snprintf(key, sizeof key, "%s_CAM_%s.%s", v ? "RIGHT" : "LEFT", zed_modes[mode].name, names[i]);
    RV_TRY(rv_calib_required(doc, key, &k[i], 1, "a parameter of the camera matrix"));
  }
  for (int i = 0; i < 8; i++) {
    int found;
    snprintf(key, sizeof key, "%s_CAM_%s.%s", v ? "RIGHT" : "LEFT", zed_modes[mode].name,
             coefficients[i]);
    RV_TRY(rv_calib_numbers(doc, key, &d[i], 1, &found));
    count = found && i >= 5 && d[i] != 0 ? 8 : count;
  }
  view->fx = k[0];
  view->fy = k[1];
  view->cx = k[2];
  view->cy = k[3];
  view->width = zed_modes[mode].width;
  view->height = zed_modes[mode].height;
  const CalibEntry pinhole = {.text = "pinhole", .length = 7};
  return rv_calib_set_distortion(input, doc, key, d, count, &pinhole, out, v);
}

/* STEREO.name_MODE, or STEREO.name in older files; 0 without. */
static RvStatus zed_stereo(const CalibDocument *doc, const char *name, size_t mode, double *out) {
  char key[48];
  int found;
  *out = 0;
  snprintf(key, sizeof key, "STEREO.%s_%s", name, zed_modes[mode].name);
  RV_TRY(rv_calib_numbers(doc, key, out, 1, &found));
  if (found)
    return RV_OK;
  snprintf(key, sizeof key, "STEREO.%s", name);
  return rv_calib_numbers(doc, key, out, 1, &found);
}

RvStatus rv_calib_read_zed(const CalibInput *input, RvCalibration *out) {
  const CalibDocument *doc = input->docs[0];
  size_t mode;
  double baseline, ty, tz, rotation[3];
  RV_TRY(zed_mode(input, &mode));
  for (int v = 0; v < 2; v++)
    RV_TRY(zed_camera(input, out, v, mode));
  RV_TRY(rv_calib_required(doc, "STEREO.Baseline", &baseline, 1, "the baseline in mm"));
  RV_TRY(zed_stereo(doc, "TY", mode, &ty));
  RV_TRY(zed_stereo(doc, "TZ", mode, &tz));
  RV_TRY(zed_stereo(doc, "RX", mode, &rotation[0]));
  RV_TRY(zed_stereo(doc, "CV", mode, &rotation[1]));
  RV_TRY(zed_stereo(doc, "RZ", mode, &rotation[2]));
  rv_mat3_from_rodrigues(rotation, out->rotation);
  out->translation[0] = -baseline / 1000;
  out->translation[1] = ty / 1000;
  out->translation[2] = tz / 1000;
  out->has_pose = 1;
  return RV_OK;
}

/* --- DepthAI: lengths in cm -------------------------------------------------------------------- */

#define OAK_CAMERAS_MAX 8
enum { OAK_PERSPECTIVE = 0, OAK_FISHEYE = 1 };

/* Numbers of "cameraData[index][1].name". */
static RvStatus oak_numbers(const CalibDocument *doc, int index, const char *name, double *out,
                            int capacity, int *count) {
  char key[CALIB_KEY_MAX];
  snprintf(key, sizeof key, "cameraData[%d][1].%s", index, name);
  return rv_calib_numbers(doc, key, out, capacity, count);
}

static RvStatus oak_required(const CalibDocument *doc, int index, const char *name, double *out,
                             int wanted) {
  char key[CALIB_KEY_MAX];
  snprintf(key, sizeof key, "cameraData[%d][1].%s", index, name);
  return rv_calib_required(doc, key, out, wanted, "of a camera");
}

/* Index in cameraData of the camera at that socket: each item is [socket, {...}]. */
static int oak_index(const CalibDocument *doc, double socket) {
  int index = 0;
  for (size_t i = 0; i < doc->entry_count; i++) {
    const CalibEntry *entry = &doc->entries[i];
    if (strcmp(entry->key, "cameraData") != 0)
      continue;
    if (entry->count == 1 && doc->numbers[entry->first] == socket)
      return index;
    index++;
  }
  return -1;
}

static RvStatus oak_camera(const CalibInput *input, RvCalibration *out, int v, int index) {
  const CalibDocument *doc = input->docs[0];
  RvCalibrationView *view = &out->view[v];
  double k[9], d[14], type = OAK_PERSPECTIVE, size[2];
  int count;
  RV_TRY(oak_numbers(doc, index, "cameraType", &type, 1, &count));
  if (type != OAK_PERSPECTIVE && type != OAK_FISHEYE)
    return rv_calib_error(doc, 0,
                          "cameraType %g is not supported: expected 0 (perspective) or 1 "
                          "(fisheye)",
                          type);
  RV_TRY(oak_required(doc, index, "intrinsicMatrix", k, 9));
  RV_TRY(rv_calib_set_matrix(doc, 0, "intrinsicMatrix", k, view));
  RV_TRY(oak_numbers(doc, index, "distortionCoeff", d, 14, &count));
  const CalibEntry pinhole = {.text = "pinhole", .length = 7};
  const CalibEntry fisheye = {.text = "fisheye", .length = 7};
  RV_TRY(rv_calib_set_distortion(input, doc, "distortionCoeff", d,
                                 type == OAK_FISHEYE && count > 4 ? 4 : count,
                                 type == OAK_FISHEYE ? &fisheye : &pinhole, out, v));
  RV_TRY(oak_required(doc, index, "width", &size[0], 1));
  RV_TRY(oak_required(doc, index, "height", &size[1], 1));
  if (!(size[0] >= 1 && size[0] <= RV_MAX_SIDE && size[1] >= 1 && size[1] <= RV_MAX_SIDE))
    return rv_calib_error(doc, 0, "width and height of a camera must be 1 to %d", RV_MAX_SIDE);
  view->width = (int)size[0];
  view->height = (int)size[1];
  return RV_OK;
}

/* Pose of every camera along the chain of toCameraSocket: X_next = R X + T, in m. Returns the
 * cameras of the chain in `indices`, starting with `index`; rotation[i] leads from the first. */
typedef struct OakChain {
  int count, indices[OAK_CAMERAS_MAX];
  double rotation[OAK_CAMERAS_MAX][9], translation[OAK_CAMERAS_MAX][3];
} OakChain;

static RvStatus oak_chain(const CalibDocument *doc, int index, OakChain *chain) {
  rv_mat3_identity(chain->rotation[0]);
  memset(chain->translation[0], 0, sizeof chain->translation[0]);
  for (chain->count = 0; index >= 0 && chain->count < OAK_CAMERAS_MAX;) {
    const int n = chain->count++;
    chain->indices[n] = index;
    double socket = -1, r[9], t[3];
    int count;
    RV_TRY(oak_numbers(doc, index, "extrinsics.toCameraSocket", &socket, 1, &count));
    const int next = oak_index(doc, socket);
    if (next < 0 || next == index || n + 1 == OAK_CAMERAS_MAX)
      return RV_OK;
    RV_TRY(oak_required(doc, index, "extrinsics.rotationMatrix", r, 9));
    RV_TRY(oak_required(doc, index, "extrinsics.translation.x", &t[0], 1));
    RV_TRY(oak_required(doc, index, "extrinsics.translation.y", &t[1], 1));
    RV_TRY(oak_required(doc, index, "extrinsics.translation.z", &t[2], 1));
    rv_mat3_multiply(r, chain->rotation[n], chain->rotation[n + 1]);
    rv_mat3_apply(r, chain->translation[n], chain->translation[n + 1]);
    for (int i = 0; i < 3; i++)
      chain->translation[n + 1][i] += t[i] / 100;
    index = next;
  }
  return RV_OK;
}

/* Left to right through the first camera that both chains reach. */
static RvStatus oak_pose(const CalibDocument *doc, int left, int right, RvCalibration *out) {
  OakChain a, b;
  RV_TRY(oak_chain(doc, left, &a));
  RV_TRY(oak_chain(doc, right, &b));
  for (int i = 0; i < a.count; i++)
    for (int k = 0; k < b.count; k++) {
      if (a.indices[i] != b.indices[k])
        continue;
      double inverse[9];
      const double between[3] = {a.translation[i][0] - b.translation[k][0],
                                 a.translation[i][1] - b.translation[k][1],
                                 a.translation[i][2] - b.translation[k][2]};
      rv_mat3_transpose(b.rotation[k], inverse);
      rv_mat3_multiply(inverse, a.rotation[i], out->rotation);
      rv_mat3_apply(inverse, between, out->translation);
      out->has_pose = 1;
      return RV_OK;
    }
  return rv_calib_error(doc, 0, "the extrinsics do not connect the left and the right camera");
}

RvStatus rv_calib_read_depthai(const CalibInput *input, RvCalibration *out) {
  const CalibDocument *doc = input->docs[0];
  static const char *const keys[2] = {"stereoRectificationData.leftCameraSocket",
                                      "stereoRectificationData.rightCameraSocket"};
  int index[2];
  for (int v = 0; v < 2; v++) {
    double socket;
    RV_TRY(rv_calib_required(doc, keys[v], &socket, 1, "the socket of a camera"));
    index[v] = oak_index(doc, socket);
    if (index[v] < 0)
      return rv_calib_error(doc, rv_calib_line(doc, keys[v]),
                            "%s is %g, which is no socket in cameraData", keys[v], socket);
    RV_TRY(oak_camera(input, out, v, index[v]));
  }
  return oak_pose(doc, index[0], index[1], out);
}
