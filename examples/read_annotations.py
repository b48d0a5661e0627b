#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints what is attached to each buffer of a pipeline: every annotation, its scalars and its rasters.

  examples/run.sh examples/read_annotations.py
  examples/run.sh examples/read_annotations.py 'stereotestsrc num-buffers=2 ! cudasgm confidence=true'

The launch line ends where the buffers are read; a fakesink is added to it.
"""
import sys

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import gi
import numpy as np

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

DEFAULT = 'stereotestsrc num-buffers=5 ! cudasgm'


def text(value):
    if isinstance(value, np.ndarray) and value.dtype.names:
        return '%d records of %s' % (len(value), ', '.join(value.dtype.names))
    if isinstance(value, np.ndarray):
        share = 100 * np.count_nonzero(value) / max(1, value.size)
        return '%s %dx%d, %d..%d, %.1f %% not 0' % (value.dtype.name, value.shape[1], value.shape[0],
                                                    value.min(), value.max(), share)
    return '%g' % value if isinstance(value, float) else str(value)


def probe(_pad, info, seen):
    buffer = info.get_buffer()
    seen.append(buffer.pts)
    when = '-' if buffer.pts == Gst.CLOCK_TIME_NONE else '%.3f s' % (buffer.pts / Gst.SECOND)
    print('buffer %d at %s' % (len(seen), when))
    for name, fields in roadvision.annotations(buffer).items():
        print('  %s' % name)
        for field, value in fields.items():
            print('    %-16s %s' % (field, text(value)))
    sys.stdout.flush()
    return Gst.PadProbeReturn.OK


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (['-h'], ['--help']):
        sys.exit(__doc__)
    Gst.init(None)
    line = sys.argv[1] if len(sys.argv) == 2 else DEFAULT
    try:
        pipeline = Gst.parse_launch(line + ' ! fakesink name=last')
    except gi.repository.GLib.Error as error:
        sys.exit('read_annotations: %s' % error.message)
    seen = []
    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe, seen)
    pipeline.set_state(Gst.State.PLAYING)
    bus = pipeline.get_bus()
    try:
        message = None
        while message is None:
            message = bus.timed_pop_filtered(100 * Gst.MSECOND,
                                             Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message.type == Gst.MessageType.ERROR:
            sys.exit('read_annotations: %s' % message.parse_error()[0].message)
    except KeyboardInterrupt:
        pass
    finally:
        pipeline.set_state(Gst.State.NULL)
    if not seen:
        sys.exit('read_annotations: the pipeline gave no buffers')


if __name__ == '__main__':
    main()
