#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the colored point cloud of one frame as a binary PLY file.

  examples/run.sh examples/to_ply.py street.ply
  examples/run.sh examples/to_ply.py --index 30 --max-distance 40 --frame road cloud.ply
  examples/run.sh examples/to_ply.py --pipeline 'stereotestsrc pattern=planes ! cudasgm' planes.ply

Coordinates are meters: of the left camera (x to the right, y down, z forward), or with --frame road
above the road (x forward, y to the left, z up), for which the height and the pitch of the camera must be
known. A pipeline ends downstream of cudasgm; a recording of roadvision record is given by --recording.
"""
import argparse
import datetime
import sys

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import gi
import numpy as np

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402
from roadvision import launch  # noqa: E402
from roadvision.common import Problem  # noqa: E402

DEFAULT = 'stereotestsrc ! cudasgm'
VERTEX = [('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('red', 'u1'), ('green', 'u1'), ('blue', 'u1')]


def points_of(camera, disparity, colors, max_distance=0.0):
    """Vertices of the valid pixels. disparity: px, 0 = invalid; colors: height x width x (B, G, R)."""
    rows, columns = np.nonzero(disparity > 0)
    shifted = disparity[rows, columns] + camera.get('doffs', 0.0)
    z = np.divide(camera['focal'] * camera['baseline'], shifted, where=shifted > 0,
                  out=np.full(shifted.shape, np.inf))
    kept = np.isfinite(z) & ((z <= max_distance) | (max_distance <= 0))
    rows, columns, z = rows[kept], columns[kept], z[kept]
    vertices = np.empty(len(z), VERTEX)
    vertices['x'] = (columns - camera['cx']) * z / camera['focal']
    vertices['y'] = (rows - camera['cy']) * z / camera['focal']
    vertices['z'] = z
    for channel, name in enumerate(('blue', 'green', 'red')):
        vertices[name] = colors[rows, columns, min(channel, colors.shape[2] - 1)]
    return vertices


def to_road(vertices, camera):
    """From the camera's coordinates to those of the road below it."""
    if not camera.get('camera-height'):
        raise ValueError('the height of the camera above the road is unknown')
    pitch = np.radians(camera.get('pitch', 0.0))
    x, y, z = (vertices[name].astype(float) for name in 'xyz')
    turned = vertices.copy()
    turned['x'] = z * np.cos(pitch) - y * np.sin(pitch)
    turned['y'] = -x
    turned['z'] = camera['camera-height'] - y * np.cos(pitch) - z * np.sin(pitch)
    return turned


def write_ply(path, vertices, comments=()):
    types = {'f': 'float', 'u': 'uchar'}
    header = ['ply', 'format binary_little_endian 1.0']
    header += ['comment ' + text for text in comments]
    header += ['element vertex %d' % len(vertices)]
    header += ['property %s %s' % (types[vertices.dtype[name].kind], name)
               for name in vertices.dtype.names]
    with open(path, 'wb') as file:
        file.write(('\n'.join(header + ['end_header']) + '\n').encode())
        file.write(vertices.tobytes())


def grab(pipeline, index):
    """Pixels and annotations of frame `index` of a pipeline that ends in appsink name=last."""
    try:
        for at, sample in enumerate(launch.samples(pipeline, 'last')):
            if at == index:
                buffer = sample.get_buffer()
                return (roadvision.picture(buffer, sample.get_caps()).copy(),
                        roadvision.annotation(buffer, 'RvDisparityMeta'),
                        roadvision.annotation(buffer, 'RvCameraMeta'))
    except Problem as problem:
        sys.exit('to_ply: %s' % problem)
    sys.exit('to_ply: the stream ends before frame %d' % index)


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog='to_ply',
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', help='the file that is written')
    parser.add_argument('--pipeline', default=DEFAULT, help='launch line up to cudasgm (%s)' % DEFAULT)
    parser.add_argument('--recording', help='recording of roadvision record, instead of a pipeline')
    parser.add_argument('--index', type=int, default=0, help='frame, from 0 on')
    parser.add_argument('--max-distance', type=float, default=80.0, help='m, 0 = no limit (80)')
    parser.add_argument('--frame', choices=('camera', 'road'), default='camera')
    options = parser.parse_args()
    Gst.init(None)
    end = 'videoconvert ! video/x-raw,format=BGRx ! appsink name=last sync=false max-buffers=2'
    if options.recording:
        from roadvision import replay
        pipeline = replay.make_pipeline(options.recording, 'cudasgm ! ' + end)
    else:
        try:
            pipeline = Gst.parse_launch('%s ! %s' % (options.pipeline, end))
        except gi.repository.GLib.Error as error:
            sys.exit('to_ply: %s' % error.message)
    colors, disparity, camera = grab(pipeline, options.index)
    if not disparity:
        sys.exit('to_ply: the frame has no disparity: insert cudasgm')
    if not camera or not camera.get('focal') or not camera.get('baseline'):
        sys.exit('to_ply: the camera is unknown: set focal-length and baseline of cudasgm')
    vertices = points_of(camera, disparity['payload'] / disparity['scale'], colors,
                         options.max_distance)
    if options.frame == 'road':
        try:
            vertices = to_road(vertices, camera)
        except ValueError as error:
            sys.exit('to_ply: %s' % error)
    write_ply(options.out, vertices, (
        'coordinates of the %s, m' % options.frame,
        'focal %g px, baseline %g m' % (camera['focal'], camera['baseline']),
        'written %s' % datetime.datetime.utcnow().strftime('%Y-%m-%dT%H:%M:%SZ')))
    print('%s: %d points' % (options.out, len(vertices)))


if __name__ == '__main__':
    main()
