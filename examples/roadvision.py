# SPDX-License-Identifier: MIT
"""Reads, in Python, the annotations that gst-roadvision's elements attach to buffers.

They are GstCustomMetas, so nothing of gst-roadvision is needed to read them: a GstStructure of
scalars and of GstBuffers, one buffer per raster, each with a GstVideoMeta that knows its stride.
docs/annotations.md lists names, scalars and units.

    import roadvision
    disparity = roadvision.annotation(buffer, 'RvDisparityMeta')   # None when there is none
    disparity['scale'], disparity['payload'].shape                 # 16, (480, 640)
"""
import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import Gst, GstVideo  # noqa: E402

NAMES = ('RvCameraMeta', 'RvDisparityMeta', 'RvTruthMeta', 'RvStixelsMeta', 'RvSegmentsMeta',
         'RvRoadMeta', 'RvLinesMeta', 'RvSemanticsMeta')

# GStreamer has no name for 4-byte numbers: RGBA stands for their size, the field says what they are.
WORDS = {'distance': '<f4', 'accumulator': '<u4'}

PIXELS = {GstVideo.VideoFormat.GRAY8: np.uint8, GstVideo.VideoFormat.GRAY16_LE: '<u2'}


def annotation(buffer, name):
    """Dictionary of one annotation; rasters become 2-D numpy arrays, other buffers bytes."""
    meta = buffer.get_custom_meta(name)
    if meta is None:
        return None
    structure = meta.get_structure()
    names = [structure.nth_field_name(i) for i in range(structure.n_fields())]
    return {field: _plain(structure.get_value(field), field) for field in names}


def annotations(buffer):
    """All annotations of a buffer by their names."""
    found = ((name, annotation(buffer, name)) for name in NAMES)
    return {name: values for name, values in found if values is not None}


def depth(camera, disparity):
    """Metres from px: Z = focal * baseline / (d + doffs). Takes numbers and arrays."""
    return camera['focal'] * camera['baseline'] / (disparity + camera.get('doffs', 0.0))


def picture(buffer, caps):
    """The pixels of a BGRx, RGBx, BGRA, RGBA or GRAY8 buffer as an array, without a copy of a copy."""
    info = GstVideo.VideoInfo.new_from_caps(caps)
    channels = info.finfo.pixel_stride[0]
    meta = GstVideo.buffer_get_video_meta(buffer)
    stride = meta.stride[0] if meta else info.stride[0]
    rows = _rows(buffer, 0, stride, info.height)
    return rows[:, :info.width * channels].reshape(info.height, info.width, channels)


def _plain(value, field):
    if not isinstance(value, Gst.Buffer):
        return value
    meta = GstVideo.buffer_get_video_meta(value)
    kind = meta and (WORDS.get(field) if meta.format == GstVideo.VideoFormat.RGBA
                     else PIXELS.get(meta.format))
    if kind is None:
        return _bytes(value)
    pixel = np.dtype(kind)
    rows = _rows(value, meta.offset[0], meta.stride[0], meta.height)
    return np.ascontiguousarray(rows[:, :meta.width * pixel.itemsize]).view(pixel)


def _rows(buffer, offset, stride, height):
    data = np.frombuffer(_bytes(buffer), np.uint8)[offset:]
    if data.size < stride * height:  # the last row need not be padded
        data = np.pad(data, (0, stride * height - data.size))
    return data[:stride * height].reshape(height, stride)


def _bytes(buffer):
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise RuntimeError('a buffer could not be read')
    try:
        return bytes(mapped.data)
    finally:
        buffer.unmap(mapped)
