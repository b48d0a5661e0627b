#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plays a recording of record.sh through elements of your choice, with its camera and its times.

  examples/replay.sh drive
  examples/replay.sh drive 'cudasgm ! cudastixels ! annotationpublish location=stixels.jsonl ! fakesink'
  examples/replay.sh drive 'cudasgm ! cudaannotate ! videoconvert ! autovideosink sync=true'

drive.mkv has the pair. drive.jsonl has one line per frame; its camera and pair annotations are attached
to the frames, and every annotationpublish of the line gets the wall-clock time of the recording.
drive-calibration.*, where it exists, is used by cudarectify at the start of the line. A lossless
recording gives the annotations of the live stream, in every bit.
"""
import argparse
import glob
import json
import os
import sys

import gi

try:
    import roadvision  # its error names what is missing
except ImportError as missing:
    sys.exit('replay: %s' % missing)
gi.require_version('Gst', '1.0')
from gi.repository import GLib, Gst, RoadVision  # noqa: E402

DEFAULT = 'cudasgm ! cudastixels ! annotationpublish location=- ! fakesink'
RESTORED = {'camera': RoadVision.MetaCamera, 'pair': RoadVision.MetaPair}


def read_sidecar(path):
    """Frames by their number; empty without the file."""
    if not os.path.exists(path):
        print('replay: no %s: the camera and the times are unknown' % path, file=sys.stderr)
        return {}
    frames = {}
    with open(path) as file:
        for number, text in enumerate(file, 1):
            try:
                frame = json.loads(text)
                frames[frame['seq']] = frame
            except (ValueError, KeyError):  # the last line of a recording that was cut off
                print('replay: line %d of %s is incomplete' % (number, path), file=sys.stderr)
    return frames


def restore(info, frame):
    """Attaches the annotations of a line to the buffer of a probe."""
    for key, kind in RESTORED.items():
        values = frame.get(key)
        if not values:
            continue
        meta = kind()
        for name, value in values.items():
            if name != 'version' and value is not None:
                setattr(meta, name, value)
        meta.attach_in_probe(info)


def set_wall_clock(pipeline, frames):
    """The time of running time 0, for every annotationpublish that has none of its own."""
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
    name = name[:-4] if name.endswith('.mkv') else name
    if not os.path.exists(name + '.mkv'):
        sys.exit('replay: no %s.mkv' % name)
    frames = read_sidecar(name + '.jsonl')
    calibration = glob.glob(glob.escape(name) + '-calibration.*')
    rectify = 'cudarectify name=replay_rectify ! ' if calibration else ''
    try:
        pipeline = Gst.parse_launch('filesrc name=replay_file ! matroskademux ! decodebin ! '
                                    'identity name=replay_pair ! %s%s' % (rectify, line))
    except GLib.Error as error:
        sys.exit('replay: %s' % error.message)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog='replay',
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('name', help='the recording, with or without .mkv')
    parser.add_argument('line', nargs='?', default=DEFAULT, help='elements downstream of the pair')
    options = parser.parse_args()
    Gst.init(None)
    pipeline = make_pipeline(options.name, options.line)
    pipeline.set_state(Gst.State.PLAYING)
    bus = pipeline.get_bus()
    wanted = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING
    try:
        while True:
            message = bus.timed_pop_filtered(100 * Gst.MSECOND, wanted)
            if message and message.type == Gst.MessageType.WARNING:
                print('replay: %s' % message.parse_warning()[0].message, file=sys.stderr)
            elif message and message.type == Gst.MessageType.ERROR:
                sys.exit('replay: %s' % message.parse_error()[0].message)
            elif message:
                break
    except KeyboardInterrupt:
        pass
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == '__main__':
    main()
