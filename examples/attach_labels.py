#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Attaches semantic labels from Python to a running pipeline and prints the stixels they lead to.

  examples/run.sh examples/attach_labels.py
  examples/run.sh examples/attach_labels.py --without-labels

In place of a network, numpy classifies the disparity: sky where it is invalid in the upper half, ground
where it is near the fitted plane, object elsewhere. The labels reach cudastixels as RvSemanticsMeta.
"""
import sys

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('RoadVision', '0')
from gi.repository import Gst, RoadVision  # noqa: E402

import roadvision  # noqa: E402

LINE = ('stereotestsrc num-buffers=5 ! cudasgm ! identity name=probe ! '
        'cudastixels semantic-classes=gos ! fakesink name=last')
GROUND, OBJECT, SKY = range(3)
CELL = 8  # px


def classify(disparity):
    """One class per cell of 8x8 px, u8, from the disparity in px (0 = invalid)."""
    rows, columns = disparity.shape[0] // CELL, disparity.shape[1] // CELL
    cells = disparity[:rows * CELL, :columns * CELL].reshape(rows, CELL, columns, CELL)
    cells = np.median(cells, axis=(1, 3))
    lower = np.arange(rows) >= rows // 2
    plane = np.polyfit(np.flatnonzero(lower), np.median(cells[lower], axis=1), 1)
    expected = np.polyval(plane, np.arange(rows))[:, None]
    labels = np.full(cells.shape, OBJECT, np.uint8)
    labels[np.abs(cells - expected) < 1.5] = GROUND
    labels[(cells == 0) & ~lower[:, None]] = SKY
    return labels


def attach(_pad, info):
    disparity = RoadVision.MetaDisparity()
    if disparity.read(info.get_buffer()):
        values = roadvision.to_numpy(disparity.get_array('payload')) / disparity.scale
        labels = roadvision.to_array(classify(values))
        semantics = RoadVision.MetaSemantics.new_labels(disparity.width, disparity.height, 3, labels)
        semantics.attach_in_probe(info)
    return Gst.PadProbeReturn.OK


def show(_pad, info, frames):
    stixels = roadvision.annotation(info.get_buffer(), 'RvStixelsMeta')
    classes = stixels['payload']['semantic']
    counts = ['%s %d' % (name, np.count_nonzero(classes == k)) for k, name in (
        (GROUND, 'ground'), (OBJECT, 'object'), (SKY, 'sky'), (255, 'no class'))]
    frames.append(stixels)
    print('frame %d: %d stixels (%s)' % (len(frames), stixels['count'], ', '.join(counts)))
    return Gst.PadProbeReturn.OK


def run(with_labels, line=LINE):
    """The stixels of each frame, as dictionaries."""
    pipeline = Gst.parse_launch(line)
    frames = []

    def probe(element, pad, function, *data):
        pipeline.get_by_name(element).get_static_pad(pad).add_probe(
            Gst.PadProbeType.BUFFER, function, *data)

    if with_labels:
        probe('probe', 'src', attach)
    probe('last', 'sink', show, frames)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit('attach_labels: %s' % message.parse_error()[0].message)
    return frames


def main():
    if sys.argv[1:] not in ([], ['--without-labels']):
        sys.exit(__doc__)
    Gst.init(None)
    run(with_labels=len(sys.argv) == 1)


if __name__ == '__main__':
    main()
