# SPDX-License-Identifier: MIT
"""Annotations of gst-roadvision as numpy arrays and back: a thin layer over the typelib RoadVision-0,
whose classes (RoadVision.MetaDisparity, ...) read and attach them with types. docs/annotations.md
lists names, fields and units.

    import roadvision
    disparity = roadvision.annotation(buffer, 'RvDisparityMeta')   # None when there is none
    disparity['scale'], disparity['payload'].shape                 # 16, (480, 640)
    roadvision.to_array(labels)                                    # for _set_array of a class
"""
import enum

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
try:
    gi.require_version('RoadVision', '0')
except ValueError as error:
    raise ImportError('RoadVision-0.typelib was not found. Install gir1.2-roadvision-0; in a checkout run '
                      './setup.sh, and start through examples/run.sh.'
                      ) from error
from gi.repository import GLib, Gst, GstVideo, RoadVision  # noqa: E402

NAMES = RoadVision.meta_get_names()


def annotation(buffer, name):
    """Dictionary of one annotation: numbers, names of enumerations, 2-D arrays of rasters, 1-D arrays
    of records. Absent buffers are omitted. An invalid annotation raises GLib.Error."""
    meta = getattr(RoadVision, 'Meta' + name[2:-4])()
    if not meta.read(buffer):
        return None
    found = {}
    for member in (field.get_name() for field in meta.__info__.get_fields()):
        key, value = member.replace('_', '-'), getattr(meta, member)
        if RoadVision.meta_get_format(name, key) is None:
            found[key] = _plain(value)
        elif value:  # not 0: the buffer is there
            found[key] = to_numpy(meta.get_array(key))
    return found


def _plain(value):
    if isinstance(value, enum.Enum):  # PyGObject of Debian sid: values without value_nick
        return value.name.lower().replace('_', '-')
    return value.value_nick.replace('_', '-') if hasattr(value, 'value_nick') else value


def annotations(buffer):
    """All annotations of a buffer by their names."""
    found = ((name, annotation(buffer, name)) for name in NAMES)
    return {name: values for name, values in found if values is not None}


def to_numpy(array):
    """RoadVision.MetaArray as an array: records 1-D with named fields, rasters 2-D."""
    fields = [item.split(':') for item in array.format.split()]
    kinds = [(name[0], '<%s%d' % (name[-1][0], int(name[-1][1:]) // 8)) for name in fields]
    is_records = len(fields[0]) == 2
    values = np.frombuffer(array.get_bytes().get_data(), kinds if is_records else kinds[0][1])
    return values if is_records else values.reshape(array.height, array.width)


def to_array(values):
    """A numpy array as RoadVision.MetaArray; structured arrays are records."""
    text = {name: '%s%d' % (kind.kind, 8 * kind.itemsize) for name, kind in (
        (name, values.dtype[name]) for name in values.dtype.names or ())}
    form = ' '.join('%s:%s' % item for item in text.items()) or '%s%d' % (
        values.dtype.kind, 8 * values.dtype.itemsize)
    height, width = values.shape if values.ndim == 2 else (1, len(values))
    return RoadVision.MetaArray.new(form, width, height, GLib.Bytes.new(values.tobytes()))


def depth(camera, disparity):
    """Meters from px: Z = focal * baseline / (d + doffs). Takes numbers and arrays."""
    return camera['focal'] * camera['baseline'] / (disparity + camera.get('doffs', 0.0))


def picture(buffer, caps):
    """The pixels of a BGRx, RGBx, BGRA, RGBA or GRAY8 buffer as an array."""
    info = GstVideo.VideoInfo.new_from_caps(caps)
    channels = info.finfo.pixel_stride[0]
    meta = GstVideo.buffer_get_video_meta(buffer)
    stride = meta.stride[0] if meta else info.stride[0]
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise RuntimeError('a buffer could not be read')
    try:
        data = np.frombuffer(bytes(mapped.data), np.uint8)
    finally:
        buffer.unmap(mapped)
    data = np.pad(data, (0, max(0, stride * info.height - data.size)))  # the last row may be short
    rows = data[:stride * info.height].reshape(info.height, stride)
    return rows[:, :info.width * channels].reshape(info.height, info.width, channels)
