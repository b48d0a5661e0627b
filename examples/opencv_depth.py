#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Depth in OpenCV: disparity and camera of a running pipeline as numpy arrays, reprojected by OpenCV.

  examples/run.sh examples/opencv_depth.py depth.png
  examples/run.sh examples/opencv_depth.py --pipeline 'v4l2src ! decodebin ! cudasgm focal-length=700
      baseline=0.12' --show depth.png

Writes the last frame's depth as a PNG in mm (16 bits, 0 = none, as RealSense and ROS do) and a colored
image (depth_color.png), and prints the nearest distance in the center of every frame. Colors go from near
(red) to far (blue), by default over the distances of the first frame.
"""
import argparse
import os
import sys

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import gi
import numpy as np

try:
    import cv2
except ImportError:
    sys.exit('opencv_depth: OpenCV for Python is missing (Debian: python3-opencv)')

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402
from roadvision import launch  # noqa: E402
from roadvision.common import Problem  # noqa: E402

DEFAULT = 'stereotestsrc num-buffers=10 ! cudasgm'
SHARE = 2  # % of the pixels beyond each end of the color scale


def q_matrix(camera):
    """The 4x4 matrix of cv2.reprojectImageTo3D for a rectified camera."""
    return np.array([[1, 0, 0, -camera['cx']], [0, 1, 0, -camera['cy']], [0, 0, 0, camera['focal']],
                     [0, 0, 1 / camera['baseline'], camera.get('doffs', 0.0) / camera['baseline']]])


def depth_of(camera, disparity):
    """Depth in m by OpenCV; 0 where there is none. disparity: px, 0 = invalid."""
    points = cv2.reprojectImageTo3D(disparity.astype(np.float32), q_matrix(camera))
    depth = points[:, :, 2]
    return np.where((disparity > 0) & np.isfinite(depth) & (depth > 0), depth, 0).astype(np.float32)


def ends_of(depth):
    """Nearest and farthest distance that are worth a color of their own, in m."""
    valid = depth[depth > 0]
    if valid.size == 0:
        return 3.0, 60.0
    near, far = np.percentile(valid, (SHARE, 100 - SHARE))
    return near, min(max(far, 1.1 * near), 30 * near)


def colored(depth, near, far):
    """Near red, far blue, invalid black, as a BGR image."""
    inverse = np.divide(1, depth, out=np.zeros_like(depth), where=depth > 0)
    scaled = np.clip((inverse - 1 / far) / (1 / near - 1 / far), 0, 1)
    image = cv2.applyColorMap((255 * scaled).astype(np.uint8), cv2.COLORMAP_TURBO)
    image[depth == 0] = 0
    return image


def frames(line):
    """Camera and disparity (px) of each frame of a launch line."""
    try:
        pipeline = Gst.parse_launch(line + ' ! appsink name=last sync=false max-buffers=2')
    except gi.repository.GLib.Error as error:
        sys.exit('opencv_depth: %s' % error.message)
    try:
        for sample in launch.samples(pipeline, 'last'):
            disparity = roadvision.annotation(sample.get_buffer(), 'RvDisparityMeta')
            camera = roadvision.annotation(sample.get_buffer(), 'RvCameraMeta')
            if not disparity:
                sys.exit('opencv_depth: the frames have no disparity: insert cudasgm')
            if not camera or not camera.get('focal') or not camera.get('baseline'):
                sys.exit('opencv_depth: the camera is unknown: set focal-length and baseline of cudasgm')
            yield camera, disparity['payload'] / disparity['scale']
    except Problem as problem:
        sys.exit('opencv_depth: %s' % problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog='opencv_depth',
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', help='PNG that is written')
    parser.add_argument('--pipeline', default=DEFAULT, help='launch line up to cudasgm (%s)' % DEFAULT)
    parser.add_argument('--near', type=float, metavar='M', help='distance that is red')
    parser.add_argument('--far', type=float, metavar='M', help='distance that is blue')
    parser.add_argument('--show', action='store_true', help='a window; q ends')
    options = parser.parse_args()
    if min(value for value in (options.near, options.far, 1) if value is not None) <= 0:
        parser.error('--near and --far must be above 0')
    Gst.init(None)
    depth = ends = None
    for index, (camera, disparity) in enumerate(frames(options.pipeline)):
        depth = depth_of(camera, disparity)
        if ends is None:
            near, far = ends_of(depth)
            near = options.near or near
            ends = near, max(options.far or far, 1.1 * near)
        height, width = depth.shape
        middle = depth[height // 3:2 * height // 3, width // 3:2 * width // 3]
        nearest = np.percentile(middle[middle > 0], 5) if (middle > 0).any() else 0
        print('frame %d: %.2f m in the center, %.0f %% of the pixels have a depth' % (
            index, nearest, 100 * np.count_nonzero(depth) / depth.size), flush=True)
        if options.show:
            cv2.imshow('depth', colored(depth, *ends))
            if cv2.waitKey(1) & 255 == ord('q'):
                break
    if depth is None:
        sys.exit('opencv_depth: the pipeline gave no frames')
    name, extension = os.path.splitext(options.out)
    cv2.imwrite(options.out, np.clip(np.rint(1000 * depth), 0, 65535).astype(np.uint16))
    cv2.imwrite(name + '_color' + (extension or '.png'), colored(depth, *ends))
    print('%s, %s_color%s: red %.2f m, blue %.1f m' % (options.out, name, extension or '.png', *ends))


if __name__ == '__main__':
    main()
