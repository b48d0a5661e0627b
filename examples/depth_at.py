#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints the meters at one pixel of the left image, frame by frame, from a running pipeline.

  examples/run.sh examples/depth_at.py 320 400                    the test scene
  examples/run.sh examples/depth_at.py 640 500 --device /dev/video0 --focal 700 --baseline 0.12
  examples/run.sh examples/depth_at.py 320 400 --pipeline 'stereotestsrc ! cudasgm paths=4'
"""
import argparse
import os
import sys

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import gi

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('x', type=int, help='px from the left edge of the left image')
    parser.add_argument('y', type=int, help='px from its top edge')
    parser.add_argument('--pipeline', help='launch line up to cudasgm or further')
    parser.add_argument('--device', metavar='/dev/videoN', help='camera that gives side by side')
    parser.add_argument('--frames', type=int, default=30, help='how many to print, 0 = no end (30)')
    parser.add_argument('--focal', type=float, help='px, when the stream does not say')
    parser.add_argument('--baseline', type=float, help='m, when the stream does not say')
    options = parser.parse_args()
    if options.pipeline and options.device:
        parser.error('--pipeline and --device exclude each other')
    return options


def launch_line(options):
    if options.pipeline:
        return options.pipeline
    if options.device:
        return ('v4l2src device=%s ! decodebin ! videoconvert ! '
                'queue leaky=downstream max-size-buffers=1 ! cudasgm' % options.device)
    return 'stereotestsrc ! cudasgm'


def describe(buffer, options):
    """What is known at the pixel, as text."""
    found = roadvision.annotation(buffer, 'RvDisparityMeta')
    if found is None:
        return 'no disparity on this buffer: does the pipeline hold cudasgm?'
    height, width = found['payload'].shape
    if not (0 <= options.x < width and 0 <= options.y < height):
        raise ValueError('(%d, %d) is outside the left image of %dx%d'
                         % (options.x, options.y, width, height))
    stored = int(found['payload'][options.y, options.x])
    if stored == 0:
        return 'no value'
    disparity = stored / found['scale']
    camera = dict(roadvision.annotation(buffer, 'RvCameraMeta') or {})
    camera.update({name: value for name, value in (('focal', options.focal),
                                                   ('baseline', options.baseline)) if value})
    if not camera.get('focal') or not camera.get('baseline'):
        return '%.2f px; meters need --focal and --baseline' % disparity
    return '%.2f m (disparity %.2f px)' % (roadvision.depth(camera, disparity), disparity)


def main():
    options = parse_arguments()
    Gst.init(None)
    try:
        pipeline = Gst.parse_launch(launch_line(options) + ' ! fakesink name=last sync=true')
    except gi.repository.GLib.Error as error:
        hint = '; start this by examples/run.sh' if not Gst.ElementFactory.find('cudasgm') else ''
        sys.exit('depth_at: %s%s' % (error.message, hint))
    printed = 0
    failure = []

    def probe(_pad, info):
        nonlocal printed
        buffer = info.get_buffer()
        if failure or options.frames and printed >= options.frames:
            return Gst.PadProbeReturn.OK
        try:
            print('%8.3f s  (%d, %d)  %s' % (buffer.pts / Gst.SECOND, options.x, options.y,
                                             describe(buffer, options)), flush=True)
        except ValueError as error:
            failure.append('depth_at: %s' % error)
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            failure.append(None)
        printed += 1
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe)
    pipeline.set_state(Gst.State.PLAYING)
    bus = pipeline.get_bus()
    try:
        while not failure and (not options.frames or printed < options.frames):
            message = bus.timed_pop_filtered(50 * Gst.MSECOND,
                                             Gst.MessageType.EOS | Gst.MessageType.ERROR)
            if message is None:
                continue
            if message.type == Gst.MessageType.ERROR:
                failure.append('depth_at: %s' % message.parse_error()[0].message)
            break
    except KeyboardInterrupt:
        pass
    finally:
        pipeline.set_state(Gst.State.NULL)
    if not failure and not printed:
        failure.append('depth_at: the pipeline gave no frames')
    if None in failure:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush
        failure = []
    sys.exit(failure[0] if failure else 0)


if __name__ == '__main__':
    main()
