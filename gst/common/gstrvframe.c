/* SPDX-License-Identifier: MIT */
/* gstrvframe.c: every combination of engine and memory, for frames and for payloads. */
#include "gstrvframe.h"

#include <dlfcn.h>
#include <string.h>

#include "gstrverror.h"
#include "gstrvhost.h"
#include "gstrvmemory.h"
#include "rv_host.h"

#define UPLOAD_PART (512 * 1024) /* bytes */

gboolean gst_rv_pixel_format(GstVideoFormat format, RvPixelFormat *pixel) {
  static const struct {
    GstVideoFormat format;
    RvPixelFormat pixel;
  } table[] = {
      {GST_VIDEO_FORMAT_NV12, RV_PIXEL_NV12},      {GST_VIDEO_FORMAT_I420, RV_PIXEL_I420},
      {GST_VIDEO_FORMAT_YUY2, RV_PIXEL_YUY2},      {GST_VIDEO_FORMAT_UYVY, RV_PIXEL_UYVY},
      {GST_VIDEO_FORMAT_BGRx, RV_PIXEL_BGRX},      {GST_VIDEO_FORMAT_BGRA, RV_PIXEL_BGRA},
      {GST_VIDEO_FORMAT_RGBx, RV_PIXEL_RGBX},      {GST_VIDEO_FORMAT_RGBA, RV_PIXEL_RGBA},
      {GST_VIDEO_FORMAT_RGB, RV_PIXEL_RGB},        {GST_VIDEO_FORMAT_BGR, RV_PIXEL_BGR},
      {GST_VIDEO_FORMAT_GRAY8, RV_PIXEL_GRAY8},    {GST_VIDEO_FORMAT_YV12, RV_PIXEL_YV12},
      {GST_VIDEO_FORMAT_NV21, RV_PIXEL_NV21},      {GST_VIDEO_FORMAT_Y42B, RV_PIXEL_Y42B},
      {GST_VIDEO_FORMAT_ARGB, RV_PIXEL_ARGB},      {GST_VIDEO_FORMAT_ABGR, RV_PIXEL_ABGR},
      {GST_VIDEO_FORMAT_xRGB, RV_PIXEL_XRGB},      {GST_VIDEO_FORMAT_xBGR, RV_PIXEL_XBGR},
      {GST_VIDEO_FORMAT_P010_10LE, RV_PIXEL_P010},
  };
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (table[i].format == format) {
      *pixel = table[i].pixel;
      return TRUE;
    }
  return FALSE;
}

gboolean gst_rv_buffer_is_cuda(GstBuffer *buffer) {
#if HAVE_GSTCUDA
  return gst_buffer_n_memory(buffer) > 0 && gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0));
#else
  return FALSE;
#endif
}

#if HAVE_GSTCUDA
/* A plugin built on 1.22 runs on later versions too, whose memory has a stream: the function is
 * looked up, since 1.22 has none. */
void gst_rv_buffer_sync(GstBuffer *buffer) {
  typedef void (*SyncFunction)(GstCudaMemory * memory);
  static gsize looked_up = 0;
  static SyncFunction sync = NULL;
  if (g_once_init_enter(&looked_up)) {
    void *symbol = dlsym(RTLD_DEFAULT, "gst_cuda_memory_sync");
    memcpy(&sync, &symbol, sizeof sync);
    g_once_init_leave(&looked_up, 1);
  }
  for (guint i = 0; sync && i < gst_buffer_n_memory(buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    if (gst_is_cuda_memory(memory))
      sync(GST_CUDA_MEMORY_CAST(memory));
  }
}
#else
void gst_rv_buffer_sync(GstBuffer *buffer) {}
#endif

/* Device memory of at least `bytes` for copies, kept from frame to frame. */
static RvStatus stage(void **staging, gsize *have, GstRvDevice **device,
                      const GstRvExecContext *work, gsize bytes) {
  if (*staging && *have >= bytes && gst_rv_device_equal(*device, work->device))
    return RV_OK;
  if (*staging && gst_rv_device_push(*device)) {
    rv_buffer_free(staging, RV_CUDA);
    gst_rv_device_pop(*device);
  }
  gst_rv_device_unref(*device);
  *device = NULL;
  *have = 0;
  const RvStatus status = rv_buffer_new(staging, bytes, RV_CUDA);
  if (status != RV_OK) {
    gst_rv_log_line(&work->log, "%" G_GSIZE_FORMAT " bytes of GPU memory for a copy of the input",
                    bytes);
    return status;
  }
  *device = gst_rv_device_ref(work->device);
  *have = bytes;
  return RV_OK;
}

static void unstage(void **staging, gsize *have, GstRvDevice **device) {
  if (*staging && gst_rv_device_push(*device)) {
    rv_buffer_free(staging, RV_CUDA);
    gst_rv_device_pop(*device);
  }
  *staging = NULL;
  *have = 0;
  gst_rv_device_unref(*device);
  *device = NULL;
}

/* --- Images ---------------------------------------------------------------------------------- */

/* Points the image at the mapped planes. */
static void point_at_video(GstRvFrame *frame) {
  for (int p = 0; p < rv_pixel_planes(frame->picture.format); p++) {
    frame->picture.data[p] = GST_VIDEO_FRAME_PLANE_DATA(&frame->video, p);
    frame->picture.stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE(&frame->video, p);
  }
}

static void free_host(GstRvFrame *frame) {
  if (frame->host && gst_rv_device_push(frame->staging_device)) {
    rv_host_free(&frame->host, RV_CUDA);
    gst_rv_device_pop(frame->staging_device);
  }
  frame->host = NULL;
  frame->host_bytes = 0;
}

/* Page-locked memory for a copy of the frame: copies of other memory block all threads of the process
 * in the driver, one after the other. */
static RvStatus stage_host(GstRvFrame *frame) {
  if (!frame->by_host || frame->host_bytes >= frame->bytes)
    return RV_OK;
  free_host(frame);
  const RvStatus status = rv_host_new(&frame->host, frame->bytes, RV_CUDA);
  frame->host_bytes = status == RV_OK ? frame->bytes : 0;
  return status;
}

/* Points the image at a device copy. */
static RvStatus point_at_copy(GstRvFrame *frame, const GstRvExecContext *work) {
  RvPicture *picture = &frame->picture;
  gsize offset[3] = {0, 0, 0};
  gsize bytes = 0;
  const int planes = rv_pixel_planes(picture->format);
  for (int p = 0; p < planes; p++) {
    const size_t row = rv_pixel_row_bytes(picture->format, p, picture->width);
    picture->stride[p] = gst_rv_raster_stride(RV_U8, (int)row);
    offset[p] = bytes;
    bytes += (gsize)picture->stride[p] * (gsize)rv_pixel_rows(picture->format, p, picture->height);
  }
  if (!gst_rv_device_equal(frame->staging_device, work->device))
    free_host(frame);
  frame->bytes = bytes;
  RvStatus status =
      stage(&frame->staging, &frame->staging_bytes, &frame->staging_device, work, bytes);
  if (status == RV_OK)
    status = stage_host(frame);
  for (int p = 0; status == RV_OK && p < planes; p++)
    picture->data[p] = (char *)frame->staging + offset[p];
  return status;
}

/* Copies rows of plane `p` between the frame and `host`, on the host. */
static void copy_rows_host(const GstRvFrame *frame, int p, int first, int rows, gboolean up) {
  const RvPicture *picture = &frame->picture;
  const gsize offset = (gsize)((char *)picture->data[p] - (char *)frame->staging);
  const size_t bytes = rv_pixel_row_bytes(picture->format, p, picture->width);
  const ptrdiff_t stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame->video, p);
  char *video = (char *)GST_VIDEO_FRAME_PLANE_DATA(&frame->video, p) + first * stride;
  char *host = (char *)frame->host + offset + first * picture->stride[p];
  for (int y = 0; y < rows; y++, video += stride, host += picture->stride[p])
    memcpy(up ? host : video, up ? video : host, bytes);
}

/* Uploads by way of `host`, in parts, so that the GPU copies one while the host copies the next. */
static RvStatus upload_by_host(const GstRvFrame *frame, RvStream stream) {
  const RvPicture *picture = &frame->picture;
  RvStatus status = RV_OK;
  for (int p = 0; p < rv_pixel_planes(picture->format); p++) {
    const int rows = rv_pixel_rows(picture->format, p, picture->height);
    const int part = MAX((int)(UPLOAD_PART / picture->stride[p]), 1);
    for (int y = 0; status == RV_OK && y < rows; y += part) {
      const int count = MIN(part, rows - y);
      char *device = (char *)picture->data[p] + y * picture->stride[p];
      copy_rows_host(frame, p, y, count, TRUE);
      status = rv_copy_to_device(device, (char *)frame->host + (device - (char *)frame->staging),
                                 (size_t)(count * picture->stride[p]), stream);
    }
  }
  return status;
}

static RvStatus copy_planes(const RvPicture *picture, const GstVideoFrame *video, gboolean up,
                            RvStream stream) {
  for (int p = 0; p < rv_pixel_planes(picture->format); p++) {
    void *host = GST_VIDEO_FRAME_PLANE_DATA(video, p);
    const ptrdiff_t host_stride = GST_VIDEO_FRAME_PLANE_STRIDE(video, p);
    const size_t row = rv_pixel_row_bytes(picture->format, p, picture->width);
    const int rows = rv_pixel_rows(picture->format, p, picture->height);
    const RvStatus status = up ? rv_copy_rows(picture->data[p], picture->stride[p], RV_CUDA, host,
                                              host_stride, RV_CPU, row, rows, stream)
                               : rv_copy_rows(host, host_stride, RV_CPU, picture->data[p],
                                              picture->stride[p], RV_CUDA, row, rows, stream);
    if (status != RV_OK)
      return status;
  }
  return RV_OK;
}

static RvStatus upload(const GstRvFrame *frame, RvStream stream) {
  return frame->by_host ? upload_by_host(frame, stream)
                        : copy_planes(&frame->picture, &frame->video, TRUE, stream);
}

RvStatus gst_rv_frame_map(GstRvFrame *frame, const GstRvExecContext *work, const GstVideoInfo *info,
                          GstBuffer *buffer, GstMapFlags flags) {
  frame->picture.format = RV_PIXEL_GRAY16;
  if (GST_VIDEO_INFO_FORMAT(info) != GST_VIDEO_FORMAT_GRAY16_LE &&
      !gst_rv_pixel_format(GST_VIDEO_INFO_FORMAT(info), &frame->picture.format)) {
    gst_rv_log_line(&work->log, "%s is not a supported pixel format", GST_VIDEO_INFO_NAME(info));
    return RV_ERR_ARG;
  }
  const gboolean cuda = gst_rv_buffer_is_cuda(buffer);
  GstMapFlags how = flags;
#if HAVE_GSTCUDA
  if (cuda && work->engine == RV_CUDA) {
    gst_rv_buffer_sync(buffer);
    how |= (GstMapFlags)GST_MAP_CUDA;
  }
#endif
  if (!gst_video_frame_map(&frame->video, info, buffer, how)) {
    gst_rv_log_line(
        &work->log,
        "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped as %s %dx%d (%" G_GSIZE_FORMAT
        " bytes): truncated, or memory of another type than in the caps",
        gst_buffer_get_size(buffer), GST_VIDEO_INFO_NAME(info), GST_VIDEO_INFO_WIDTH(info),
        GST_VIDEO_INFO_HEIGHT(info), GST_VIDEO_INFO_SIZE(info));
    return RV_ERR_IO;
  }
  frame->mapped = TRUE;
  frame->flags = flags;
  frame->picture.width = GST_VIDEO_FRAME_WIDTH(&frame->video);
  frame->picture.height = GST_VIDEO_FRAME_HEIGHT(&frame->video);
  frame->staged = work->engine == RV_CUDA && !cuda;
  frame->by_host = frame->staged && !gst_rv_host_is_locked(buffer);
  frame->fetched = FALSE;
  if (!frame->staged) {
    point_at_video(frame);
    return RV_OK;
  }
  RvStatus status = point_at_copy(frame, work);
  if (status == RV_OK && (flags & GST_MAP_READ))
    status = upload(frame, work->stream);
  if (status != RV_OK)
    gst_rv_frame_unmap(frame);
  return status;
}

RvStatus gst_rv_frame_store(GstRvFrame *frame, const GstRvExecContext *work) {
  if (!frame->mapped || !frame->staged || !(frame->flags & GST_MAP_WRITE))
    return RV_OK;
  if (!frame->by_host)
    return copy_planes(&frame->picture, &frame->video, FALSE, work->stream);
  frame->fetched = TRUE;
  return rv_copy_to_host(frame->host, frame->staging, frame->bytes, work->stream);
}

void gst_rv_frame_unmap(GstRvFrame *frame) {
  const RvPicture *picture = &frame->picture;
  for (int p = 0; frame->fetched && p < rv_pixel_planes(picture->format); p++)
    copy_rows_host(frame, p, 0, rv_pixel_rows(picture->format, p, picture->height), FALSE);
  frame->fetched = FALSE;
  if (frame->mapped)
    gst_video_frame_unmap(&frame->video);
  frame->mapped = FALSE;
}

void gst_rv_frame_clear(GstRvFrame *frame) {
  gst_rv_frame_unmap(frame);
  free_host(frame);
  unstage(&frame->staging, &frame->staging_bytes, &frame->staging_device);
}

/* --- Payloads -------------------------------------------------------------------------------- */

RvStatus gst_rv_input_map(GstRvInput *input, const GstRvExecContext *work, GstBuffer *payload) {
  input->mapped = FALSE;
  void *device_data =
      work->engine == RV_CUDA ? gst_rv_payload_device_data(payload, work->device) : NULL;
  input->size = gst_buffer_get_size(payload);
  if (device_data && rv_meta_plane(payload, device_data, &input->plane))
    return RV_OK;
  if (device_data) {
    gst_rv_log_line(&work->log,
                    "an annotation's buffer of %" G_GSIZE_FORMAT
                    " bytes on the GPU is smaller than its GstVideoMeta requires",
                    gst_buffer_get_size(payload));
    return RV_ERR_IO;
  }
  if (!rv_meta_map_buffer(&input->map, payload, GST_MAP_READ)) {
    gst_rv_log_line(&work->log,
                    "an annotation's buffer of %" G_GSIZE_FORMAT " bytes cannot be read",
                    gst_buffer_get_size(payload));
    return RV_ERR_IO;
  }
  input->mapped = TRUE;
  input->plane = input->map.plane;
  if (work->engine == RV_CPU)
    return RV_OK;
  RvStatus status =
      stage(&input->staging, &input->staging_bytes, &input->staging_device, work, input->map.size);
  if (status == RV_OK)
    status = rv_copy_to_device(input->staging, input->map.info.data, input->map.size, work->stream);
  if (status == RV_OK)
    input->plane.data =
        (char *)input->staging + ((char *)input->map.plane.data - (char *)input->map.info.data);
  if (status != RV_OK)
    gst_rv_input_unmap(input);
  return status;
}

RvStatus gst_rv_input_map_host(GstRvInput *input, const GstRvExecContext *work,
                               const RvPlane *raster) {
  const int pixel = raster->format == RV_F32 ? 4 : raster->format == RV_U16 ? 2 : 1;
  const ptrdiff_t row = (ptrdiff_t)raster->width * pixel;
  input->mapped = FALSE;
  input->plane = *raster;
  input->size = (gsize)row * (gsize)raster->height;
  if (work->engine == RV_CPU)
    return RV_OK;
  RvStatus status =
      stage(&input->staging, &input->staging_bytes, &input->staging_device, work, input->size);
  if (status == RV_OK)
    status = rv_copy_rows(input->staging, row, RV_CUDA, raster->data, raster->stride, RV_CPU,
                          (size_t)row, raster->height, work->stream);
  input->plane.data = input->staging;
  input->plane.stride = row;
  return status;
}

void gst_rv_input_unmap(GstRvInput *input) {
  if (input->mapped)
    rv_meta_unmap(&input->map);
  input->mapped = FALSE;
}

void gst_rv_input_clear(GstRvInput *input) {
  gst_rv_input_unmap(input);
  unstage(&input->staging, &input->staging_bytes, &input->staging_device);
}

gboolean gst_rv_picture_of_video(const GstVideoFrame *video, RvPicture *picture) {
  memset(picture, 0, sizeof *picture);
  if (!gst_rv_pixel_format(GST_VIDEO_FRAME_FORMAT(video), &picture->format))
    return FALSE;
  picture->width = GST_VIDEO_FRAME_WIDTH(video);
  picture->height = GST_VIDEO_FRAME_HEIGHT(video);
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(video); p++) {
    picture->data[p] = GST_VIDEO_FRAME_PLANE_DATA(video, p);
    picture->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE(video, p);
  }
  return TRUE;
}

RvStatus gst_rv_picture_gray(const RvPicture *picture, const GstRvExecContext *work,
                             const RvPlane *own, RvPlane *gray) {
  if (picture->format == RV_PIXEL_NV12 || picture->format == RV_PIXEL_I420 ||
      picture->format == RV_PIXEL_NV21 || picture->format == RV_PIXEL_YV12 ||
      picture->format == RV_PIXEL_Y42B || picture->format == RV_PIXEL_GRAY8) {
    *gray = (RvPlane){picture->data[0], picture->stride[0], picture->width, picture->height, RV_U8};
    return RV_OK;
  }
  *gray = *own;
  return rv_convert_gray(picture, 0, 0, gray, work->threads, work->engine, work->stream,
                         &work->log);
}
