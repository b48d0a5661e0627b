# SPDX-License-Identifier: MIT
"""Plays a recording of roadvision record through elements of your choice, with its camera and its times.

  roadvision replay drive
  roadvision replay drive 'cudasgm ! cudastixels ! annotationpublish location=stixels.jsonl ! fakesink'
  roadvision replay drive 'cudasgm ! cudaannotate ! videoconvert ! autovideosink sync=true'

drive.mkv has the pair. drive.jsonl has one line per frame; its camera and pair annotations are attached
to the frames, and every annotationpublish of the line gets the wall-clock time of the recording.
drive-calibration.*, where it exists, is used by cudarectify at the start of the line. A lossless
recording gives the annotations of the live stream, in every bit.
"""
import glob
import json
import os
import sys

from roadvision import common, launch
from roadvision.common import Problem

DEFAULT = 'cudasgm ! cudastixels ! annotationpublish location=- ! fakesink'
RESTORED = {'camera': 'MetaCamera', 'pair': 'MetaPair'}  # annotations of the sidecar and their classes


def read_sidecar(path):
    """Frames by their number; empty without the file."""
    if not os.path.exists(path):
        print('roadvision replay: no %s: the camera and the times are unknown' % path, file=sys.stderr)
        return {}
    frames = {}
    with open(path) as file:
        for number, text in enumerate(file, 1):
            try:
                frame = json.loads(text)
                frames[frame['seq']] = frame
            except (ValueError, KeyError):  # the last line of a recording that was cut off
                print('roadvision replay: line %d of %s is incomplete' % (number, path), file=sys.stderr)
    return frames


def restore(info, frame):
    """Attaches the annotations of a line to the buffer of a probe."""
    from roadvision.metas import RoadVision
    for key, kind in RESTORED.items():
        values = frame.get(key)
        if not values:
            continue
        meta = getattr(RoadVision, kind)()
        for name, value in values.items():
            if name != 'version' and value is not None:
                setattr(meta, name, value)
        meta.attach_in_probe(info)


def set_wall_clock(pipeline, frames):
    """The time of running time 0, for every annotationpublish that has none of its own."""
    Gst = common.gst()
    from gi.repository import GLib
    first = next((f for f in frames.values() if 'utc_ns' in f), None)
    if not first:
        return
    start = first['utc_ns'] - first['running_time']
    text = GLib.DateTime.new_from_unix_utc(start // 10**9).format('%Y-%m-%dT%H:%M:%S')
    elements = pipeline.iterate_recurse()
    while True:
        result, element = elements.next()
        if result != Gst.IteratorResult.OK:
            return
        factory = element.get_factory()
        if factory and factory.get_name() == 'annotationpublish' and not element.props.utc_start:
            element.props.utc_start = '%s.%06dZ' % (text, start % 10**9 // 1000)


def make_pipeline(name, line):
    """The pipeline, and the frames of the sidecar."""
    Gst = common.gst()
    from gi.repository import GLib
    try:
        from roadvision import metas as _needed  # its error names what is missing
    except ImportError as missing:
        raise Problem(str(missing)) from None
    name = name[:-4] if name.endswith('.mkv') else name
    if not os.path.exists(name + '.mkv'):
        raise Problem('no %s.mkv' % name)
    frames = read_sidecar(name + '.jsonl')
    calibration = glob.glob(glob.escape(name) + '-calibration.*')
    rectify = 'cudarectify name=replay_rectify ! ' if calibration else ''
    try:
        pipeline = Gst.parse_launch('filesrc name=replay_file ! matroskademux ! decodebin ! videoconvert ! '
                                    'identity name=replay_pair ! %s%s' % (rectify, line))
    except GLib.Error as error:
        raise Problem(error.message) from None
    pipeline.get_by_name('replay_file').props.location = name + '.mkv'
    if calibration:
        pipeline.get_by_name('replay_rectify').props.calibration = calibration[0]
    set_wall_clock(pipeline, frames)
    count = iter(range(2**62))

    def probe(_pad, info):
        frame = frames.get(next(count))
        if frame:
            restore(info, frame)
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name('replay_pair').get_static_pad('src').add_probe(
        Gst.PadProbeType.BUFFER, probe)
    return pipeline


def printed(options):
    """Without the annotations of the sidecar, which gst-launch-1.0 cannot attach."""
    name = options.name[:-4] if options.name.endswith('.mkv') else options.name
    calibration = glob.glob(glob.escape(name) + '-calibration.*')
    words = ['filesrc', 'location=%s.mkv' % name, '!', 'matroskademux', '!', 'decodebin', '!', 'videoconvert', '!']
    words += ['cudarectify', 'calibration=' + calibration[0], '!'] if calibration else []
    return launch.line(words + common.split(options.line))


def arguments(parser):
    parser.add_argument('name', help='the recording, with or without .mkv')
    parser.add_argument('line', nargs='?', default=DEFAULT, help='elements downstream of the pair')
    parser.add_argument('--print', action='store_true', help='print a gst-launch-1.0 line, which does not restore the '
                        'camera and the times')


def run(options):
    if options.print:
        print(printed(options))
        return 0
    return launch.play(make_pipeline(options.name, options.line), 'replay')
