#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the demo on every kind of input but a camera, and evaluates its files and its error texts."""
import glob
import os
import re
import subprocess
import sys
import unittest

import cv2
import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples')
sys.path[:0] = [EXAMPLES, os.path.join(EXAMPLES, '..', 'tools')]
import demo  # noqa: E402
import helpers  # noqa: E402
import roadvision  # noqa: E402
from roadvision.common import error_text  # noqa: E402
from roadvision.pictures import Pictures  # noqa: E402
from gi.repository import Gst  # noqa: E402


def play(pipeline, seconds=120):
    problem = helpers.run_to_end(pipeline, seconds)
    if problem:
        raise AssertionError(problem if isinstance(problem, str) else error_text(problem))


def frames_of(path):
    """(number of frames, seconds) of a video file, by its container."""
    pipeline = Gst.parse_launch('filesrc location="%s" ! parsebin ! fakesink name=last' % path)
    ends = []

    def probe(_pad, info):
        buffer = info.get_buffer()
        ends.append(buffer.pts + (buffer.duration if buffer.duration < 10 * Gst.SECOND else 0))
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe)
    play(pipeline)
    return len(ends), max(ends) / Gst.SECOND


class Demo(helpers.FolderCase):
    def demo(self, *arguments):
        return subprocess.run(
            [sys.executable, '-B', os.path.join(EXAMPLES, 'demo.py'), '--engine', 'cpu',
             '--out', self.path('out')] + list(arguments),
            capture_output=True, text=True, timeout=240)

    def check_files(self, done, frames, seconds, shape):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('\n'), 1, done.stdout)
        self.assertIn(': %d frames in' % frames, done.stdout)
        self.assertIn('engine cpu', done.stdout)
        self.assertGreater(float(re.search(r'([\d.]+) % of pixels valid', done.stdout)[1]), 50)
        videos = glob.glob(self.path('out/annotated.*'))
        self.assertEqual(len(videos), 1)
        count, length = frames_of(videos[0])
        self.assertEqual(count, frames)
        self.assertAlmostEqual(length, seconds, delta=0.02)
        for number in (1, 2):
            still = cv2.imread(self.path('out/still-%d.png' % number))
            self.assertEqual(still.shape, shape + (3,))
            self.assertGreater(still.std(), 5)

    def write_images(self, name, count, width, height):
        """Pairs that show the same noise, each pair another; the left top corner counts them."""
        random = np.random.default_rng(7)
        for number in range(count):
            picture = random.integers(0, 256, (height, width), np.uint8)
            picture = cv2.GaussianBlur(picture, (3, 3), 0)
            picture[0, 0] = number
            cv2.imwrite(self.path(name % number), picture)

    def test_scene(self):
        done = self.demo('--size', '320x240', '--seconds', '1')
        self.check_files(done, 30, 1.0, (240, 320))
        found = re.search(r'bad3 ([\d.]+) % and mean error ([\d.]+) px', done.stdout)
        self.assertLess(float(found[1]), 10)
        self.assertLess(float(found[2]), 1.5)
        stills = [cv2.imread(self.path('out/still-%d.png' % number)) for number in (1, 2)]
        self.assertGreater(cv2.absdiff(*stills).mean(), 0.5, 'the scene should move')

    def test_images_of_odd_size(self):
        self.write_images('p%d.png', 5, 321, 121)
        done = self.demo('--left', self.path('p*.png'), '--right', self.path('p*.png'), '--fps', '5')
        self.check_files(done, 5, 1.0, (121, 321))

    def test_video(self):
        play(Gst.parse_launch(
            'stereotestsrc num-buffers=12 ! video/x-raw,width=640,height=240,framerate=12/1 ! '
            'videoconvert ! vp8enc target-bitrate=8000000 deadline=1 ! webmmux ! '
            'filesink location="%s"' % self.path('pair.webm')))
        done = self.demo('--file', self.path('pair.webm'))
        self.check_files(done, 12, 1.0, (240, 320))

    def test_pair_with_itself_is_at_infinity(self):
        # compositor shifts one half by a pixel at odd widths in most formats; not in the demo's.
        self.write_images('p%d.png', 3, 1241, 60)
        pictures = Pictures(self.path('p*.png'), self.path('p*.png'), 10)
        pack, branches = pictures.launch()
        pipeline = Gst.parse_launch(' '.join(
            [pack, '! cudasgm name=sgm engine=cpu ! fakesink'] + branches))
        pictures.connect(pipeline)
        corners, found = [], []

        def take_pair(pad, info):
            pair = roadvision.picture(info.get_buffer(), pad.get_current_caps())
            corners.append((pair[0, 0, 0], pair[0, 1241, 0]))
            self.assertTrue((pair[:, :1241] == pair[:, 1241:]).all())
            return Gst.PadProbeReturn.OK

        def take_result(_pad, info):
            found.append(roadvision.annotation(info.get_buffer(), 'RvDisparityMeta')['payload'])
            return Gst.PadProbeReturn.OK

        sgm = pipeline.get_by_name('sgm')
        sgm.get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, take_pair)
        sgm.get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, take_result)
        play(pipeline)
        self.assertEqual(corners, [(0, 0), (1, 1), (2, 2)])  # every image once, in order
        for disparity in found:
            self.assertEqual(disparity.shape, (60, 1241))
            self.assertEqual(set(np.unique(disparity)) - {0}, {1})  # a true 0 is stored as 1
            self.assertGreater(np.count_nonzero(disparity), 0.9 * disparity.size)

    def test_errors_are_readable(self):
        self.write_images('a%d.png', 2, 64, 48)
        self.write_images('b%d.png', 1, 65, 48)
        with open(self.path('text.png'), 'w') as file:
            file.write('not a picture\n' * 100)
        a, b, text = self.path('a*.png'), self.path('b*.png'), self.path('text.png')
        cases = (
            (['--left', self.path('none*'), '--right', a], 'no images match .*none'),
            (['--left', a, '--right', b], '2 left images, but 1 right'),
            (['--left', self.path('a0.png'), '--right', b], 'b0.png is a png of 65x48, but .*64x48'),
            (['--left', text, '--right', text], 'text.png is not a PNG, JPEG or PNM'),
            (['--left', a], '--left and --right go together'),
            (['--file', self.path('none.mp4')], 'no such file'),
            (['--file', text], 'demo: .'),
            (['--device', '/dev/none'], 'no such device'),
            (['--size', '640'], 'WIDTHxHEIGHT'),
            (['--sgm', 'nonsense=1'], 'no property "nonsense"'),
        )
        for arguments, expected in cases:
            with self.subTest(arguments=arguments):
                done = self.demo(*arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, expected)
                self.assertNotIn('Traceback', done.stderr)


if __name__ == '__main__':
    Gst.init(None)
    unittest.main()
