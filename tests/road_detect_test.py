#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""examples/road_detect.py as a user runs it: the rendered track, models saved and loaded, folders of
both kinds, what it says of bad input; and RvRoadMeta as Python reads it."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import cv2
import gi
import numpy as np

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples')
sys.path[:0] = [EXAMPLES, os.path.join(EXAMPLES, '..', 'tools')]
import roadvision  # noqa: E402

LINE = re.compile(r'^(\w+) +(\d+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) ', re.M)


def run(folder, *arguments):
    return subprocess.run(['/usr/bin/python3', '-B', os.path.join(EXAMPLES, 'road_detect.py'),
                           *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


class RoadDetect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.folder = cls.work.name

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def good(self, *arguments):
        done = run(self.folder, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotRegex(done.stderr, 'CRITICAL|Traceback')
        self.assertGreater(os.path.getsize(os.path.join(self.folder, arguments[0])), 10000)
        return LINE.findall(done.stdout)

    def refused(self, words, *arguments):
        done = run(self.folder, *arguments)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, words)
        self.assertNotIn('Traceback', done.stderr)

    def test_two_runs(self):
        first = self.good('a.avi', 'offroad:3', '--save', 'track.rvroad', '--set', 'engine=cpu')
        self.assertEqual([line[0] for line in first], ['000', '001', '002'])
        added = [int(line[3]) for line in first]
        self.assertGreater(added[0], max(added[1:]))  # what is known adds less
        for line in first:
            self.assertGreater(float(line[8]), 70, 'F1')
        second = self.good('b.avi', 'offroad:1', '--load', 'track.rvroad', '--set', 'engine=cpu')
        self.assertLess(int(second[0][3]), added[0])  # the same frame, with the models of the first run
        self.refused('bins', 'c.avi', 'offroad:1', '--load', 'track.rvroad', '--set', 'bins=6')
        alone = self.good('d.avi', 'offroad:2', '--alone', '--stills', 'stills')
        self.assertEqual([int(line[3]) for line in alone], [added[0]] * 2)
        self.assertEqual(cv2.imread(os.path.join(self.folder, 'stills', '001.png')).shape,
                         (480, 640, 3))

    def render(self):
        """Eyes, true road and camera of one rendered frame."""
        pipeline = Gst.parse_launch(
            'stereotestsrc pattern=offroad num-buffers=1 ! video/x-raw,format=BGRx,width=1280,height=480 ! '
            'tee name=t ! queue ! fakesink name=pair t. ! queue ! cudasgm ! cudaroaddetect ! fakesink name=road')
        found = {}

        def probe(pad, info, name):
            found[name] = (info.get_buffer(), pad.get_current_caps())
            return Gst.PadProbeReturn.OK
        for name in ('pair', 'road'):
            pipeline.get_by_name(name).get_static_pad('sink').add_probe(
                Gst.PadProbeType.BUFFER, probe, name)
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(
            60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        self.assertEqual(message.type, Gst.MessageType.EOS)
        pipeline.set_state(Gst.State.NULL)
        pair = roadvision.picture(*found['pair'])[:, :, :3]
        notes = roadvision.annotations(found['road'][0])
        return pair[:, :640], pair[:, 640:], notes

    def check_border(self, road, camera, truth):
        """The border against the true road, row by row from 4 to 10 m, and its meters against the true depth."""
        points = road['border'].reshape(-1, 4)
        self.assertEqual(len(points) * 4, road['border-values'])
        depth = camera['focal'] * camera['baseline'] / np.maximum(truth['disparity'] / 16 + camera['doffs'], 1e-3)
        errors = []
        for row in range(0, 480, 3):
            true = np.flatnonzero(truth['road'][row])
            if not len(true) or not 4 <= np.median(depth[row][true]) < 10:
                continue
            a, b = points, np.roll(points, -1, axis=0)
            crosses = (a[:, 1] > row) != (b[:, 1] > row)
            a, b = a[crosses], b[crosses]
            found = a[:, 0] + (b[:, 0] - a[:, 0]) * (row - a[:, 1]) / (b[:, 1] - a[:, 1])
            scale = np.median(depth[row][true]) / camera['focal']
            if true[0] > 0:
                errors.append(abs(found.min() - true[0] + 0.5) * scale)
            if true[-1] < 639:
                errors.append(abs(found.max() - true[-1] - 0.5) * scale)
        self.assertGreater(len(errors), 30)
        self.assertLess(np.median(errors), 0.3)
        inside = [(z, depth[int(y), int(x)]) for x, y, _, z in points
                  if z > 0 and 0 <= x < 640 and y < 480 and truth['road'][int(y), int(x)]]
        self.assertGreater(len(inside), 3)
        self.assertLess(np.median([abs(z / true - 1) for z, true in inside]), 0.02)
        np.testing.assert_allclose(points[:, 2], (points[:, 0] - camera['cx']) * points[:, 3] / camera['focal'], atol=1e-3)
        self.assertGreater(road['drivable-distance'], 5)
        self.assertLess(road['drivable-distance'], points[:, 3].max() + 1)

    def test_folders(self):
        left, right, notes = self.render()
        road, camera, truth = notes['RvRoadMeta'], notes['RvCameraMeta'], notes['RvTruthMeta']['road']
        self.assertEqual((road['columns'], road['rows'], road['patch-size']), (128, 96, 5))
        for name, kind in (('payload', np.uint8), ('seed-mask', np.uint8), ('distance', np.float32)):
            self.assertEqual((road[name].shape, road[name].dtype), ((96, 128), kind))
        self.assertAlmostEqual(road['road-share'], np.count_nonzero(road['payload']) / 12288)
        self.assertEqual(road['seeds'], np.count_nonzero(road['seed-mask']))
        self.assertTrue((road['distance'][road['seed-mask'] > 0] < 1e3).all())
        self.assertEqual((road['score'].shape, road['score'].dtype), ((96, 128), np.uint8))
        self.assertTrue(((road['score'] >= 128) == (road['payload'] == 255)).all())

        self.check_border(road, camera, notes['RvTruthMeta'])
        plain = os.path.join(self.folder, 'plain')
        for part, raster in (('left', left), ('right', right), ('mask', truth)):
            os.makedirs(os.path.join(plain, part))
            for k in range(2):
                cv2.imwrite(os.path.join(plain, part, '%d.png' % k), raster)
        with open(os.path.join(plain, 'camera.txt'), 'w') as file:
            for name in ('focal', 'cx', 'cy', 'baseline'):
                file.write('%s %r\n' % (name, camera[name]))
        lines = self.good('plain.avi', 'plain', '--set', 'engine=cpu')
        self.assertEqual([line[0] for line in lines], ['0', '1'])
        self.assertLess(int(lines[1][3]), int(lines[0][3]))  # one sequence
        self.assertEqual(int(lines[0][2]), road['seeds'])

        flat = os.path.join(self.folder, 'flat')
        os.mkdir(flat)
        shown = np.dstack([truth, np.zeros_like(truth), np.full_like(truth, 255)])  # blue road, red known
        for k in range(2):
            start = os.path.join(flat, 'um_%06d' % k)
            cv2.imwrite(start + '_left.png', left)
            cv2.imwrite(start + '_right.png', right)
            cv2.imwrite(start + '_road_gt.png', shown)
            focal, shift = camera['focal'], camera['focal'] * camera['baseline']
            with open(start + '_calib.txt', 'w') as file:
                for name, moved in (('P2', 0), ('P3', -shift)):
                    file.write('%s: %r 0 %r %r 0 %r %r 0 0 0 1 0\n' % (
                        name, focal, camera['cx'], moved, focal, camera['cy']))
        alone = self.good('flat.avi', 'flat', '--set', 'engine=cpu')
        self.assertEqual([line[0] for line in alone], ['um_000000', 'um_000001'])
        self.assertEqual(alone[0][3], alone[1][3])  # each by itself
        self.assertEqual(alone[0][2:9], lines[0][2:9])

    def test_reader_ends(self):
        line = ('set -o pipefail; /usr/bin/python3 -B "$0" r.avi offroad:2 --set engine=cpu | head -n 1 >first')
        done = subprocess.run(['bash', '-c', line, os.path.join(EXAMPLES, 'road_detect.py')],
                              cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_refused(self):
        os.makedirs(os.path.join(self.folder, 'empty'), exist_ok=True)
        self.refused('neither KITTI', 'x.avi', 'empty')
        self.refused('neither KITTI', 'x.avi', 'no/such')
        self.refused('number of frames', 'x.avi', 'offroad:many')
        self.refused('no property bin', 'x.avi', 'offroad:1', '--set', 'bin=4')


if __name__ == '__main__':
    Gst.init(None)
    unittest.main()
