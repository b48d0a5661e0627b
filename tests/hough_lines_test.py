#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Lines of real edge maps against OpenCV's, within one step of rho and theta, both ways, and votes
against a counting loop in numpy. Skipped (77) without RV_DATA/hough.

Run it where GStreamer finds the plugin: meson devenv -w . -C build tests/hough_lines_test.py
"""
import json
import math
import os
import sys

import gi
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', name) for name in ('examples', 'tools')]
import helpers  # noqa: E402
import roadvision  # noqa: E402

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402



def run(path, threshold):
    """The edge map and its lines."""
    pipeline = Gst.parse_launch(
        'filesrc location="%s" ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 ! cudahough '
        'edges=binary threshold=%d max-lines=4096 min-distance=0 name=hough ! fakesink name=end' % (path, threshold))
    found = {}

    def probe(pad, info):
        buffer = info.get_buffer()
        found['edges'] = roadvision.picture(buffer, pad.get_current_caps())[:, :, 0] != 0
        found['lines'] = roadvision.annotation(buffer, 'RvLinesMeta')['payload']
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name('end').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe)
    if helpers.run_to_end(pipeline, 60) or not found:
        sys.exit('hough: no lines of %s' % path)
    return found['edges'], found['lines']


def near(a, b):
    """Within one step of both, across the seam too."""
    (rho, degrees), (other, angle) = a, b
    return (abs(degrees - angle) <= 1.001 and abs(rho - other) <= 1.001 or
            abs(abs(degrees - angle) - 180) <= 1.001 and abs(rho + other) <= 1.001)


def check(name, folder, expected):
    edges, lines = run(os.path.join(folder, os.path.splitext(name)[0] + '_canny_50_200.png'),
                       expected['threshold'])
    faults = []
    if int(edges.sum()) != expected['edge_pixels']:
        faults.append('%d edge pixels, not %d' % (edges.sum(), expected['edge_pixels']))
    ours = [(float(l['rho']), math.degrees(float(l['theta']))) for l in lines]
    theirs = [(l['rho'], l['theta_deg']) for l in expected['lines']]
    y, x = np.nonzero(edges)
    for rho, degrees in theirs:
        if any(near((rho, degrees), o) for o in ours):
            continue
        # OpenCV rounds in single precision: a line just above the threshold may not be above it.
        angle = math.radians(degrees)
        votes = int((np.floor(x * math.cos(angle) + y * math.sin(angle) + 0.5) == rho).sum())
        if votes > expected['threshold']:
            faults.append('OpenCV has %s with %d votes, we have none near' % ((rho, degrees), votes))
    # The expected list ends somewhere: weaker lines of ours have nothing to stand beside.
    least = min(l['votes'] for l in expected['lines'])
    faults += ['we have %s, OpenCV none near' % (o,) for o, l in zip(ours, lines)
               if l['votes'] > least + 2 and not any(near(o, t) for t in theirs)]
    for (rho, degrees), line in zip(ours, lines):
        angle = math.radians(round(degrees))
        at = x * math.cos(angle) + y * math.sin(angle)
        inside = int((np.abs(at - rho) < 0.5 - 1e-3).sum())
        at_most = int((np.abs(at - rho) < 0.5 + 1e-3).sum())
        if not inside <= line['votes'] <= at_most:
            faults.append('%d votes at %s, counted %d to %d' % (line['votes'], (rho, degrees), inside,
                                                               at_most))
    print('hough: %s: %d lines, OpenCV %d, %s' % (name, len(ours), len(theirs),
                                                  'agree' if not faults else '; '.join(faults)))
    return not faults


def main():
    folder = os.path.join(os.environ.get('RV_DATA', ''), 'hough')
    path = os.path.join(folder, 'expected_lines.json')
    if not os.path.isfile(path):
        print('hough: RV_DATA names no folder with hough/expected_lines.json: skipped')
        return 77
    Gst.init(None)
    with open(path, encoding='utf-8') as file:
        expected = json.load(file)
    results = [check(name, folder, values) for name, values in expected.items()]
    return 0 if results and all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
