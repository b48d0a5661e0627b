# SPDX-License-Identifier: MIT
"""examples/road_eval.py: the same frames as images and directly give the same scores; both layouts of
KITTI; errors name their cause."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

import cv2
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
import road_eval
import road_study

FRAMES = 3


def read_frames(path):
    """Head words and (left BGR, disparity, mask) of each frame of a saved file."""
    with open(path, 'rb') as file:
        head = file.readline().decode().split()
        width, height = int(head[1]), int(head[2])
        frames = []
        for _ in range(FRAMES):
            rgbx = np.frombuffer(file.read(4 * width * height), np.uint8).reshape(height, width, 4)
            disparity = np.frombuffer(file.read(2 * width * height), '<u2').reshape(height, width)
            mask = np.frombuffer(file.read(width * height), np.uint8).reshape(height, width)
            frames.append((np.ascontiguousarray(rgbx[:, :, 2::-1]), disparity, mask))
        assert not file.read(1)
    return head, frames


class Folders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.saved = os.path.join(cls.work.name, 'saved')
        cls.direct = road_eval.run([road_eval.offroad(FRAMES)], [{}, {'equalize': 0}],
                                   save=cls.saved)
        cls.head, cls.frames = read_frames(cls.saved)

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def folder(self, name):
        path = os.path.join(self.work.name, name)
        os.mkdir(path)
        return path

    def plain(self, name):
        path = self.folder(name)
        for part in ('left', 'disparity', 'mask'):
            os.mkdir(os.path.join(path, part))
        with open(os.path.join(path, 'camera.txt'), 'w') as file:
            for what, value in zip(('focal', 'cx', 'cy', 'doffs', 'baseline'), self.head[4:]):
                file.write('%s %s\n' % (what, value))
        for i, (left, disparity, mask) in enumerate(self.frames):
            for part, raster in (('left', left), ('disparity', disparity * 16), ('mask', mask)):
                cv2.imwrite(os.path.join(path, part, '%d.png' % i), raster)
        return path

    def test_plain(self):
        parts = road_eval.from_folder(self.plain('plain'), self.work.name)
        self.assertEqual([part.names for part in parts], [['0', '1', '2']])
        for ours, direct in zip(road_eval.run(parts, [{}, {'equalize': 0}]), self.direct):
            self.assertEqual(ours.tp.tolist(), direct.tp.tolist())
            self.assertEqual(ours.fp.tolist(), direct.fp.tolist())
        self.assertNotEqual(self.direct[0].tp.tolist(), self.direct[1].tp.tolist())

    def test_scores_move(self):
        """A library that is kept differs from one that is cleared, from the second frame on."""
        kept, alone = road_eval.run([road_eval.offroad(FRAMES)], [{}, {'alone': 1}])
        self.assertEqual(kept.tp[0], alone.tp[0])
        self.assertNotEqual(kept.tp.tolist(), alone.tp.tolist())

    def test_kitti(self):
        left, _disparity, mask = self.frames[0]
        truth = np.dstack([mask, np.zeros_like(mask), np.where(mask < 256, 255, 0).astype(np.uint8)])
        truth[:40] = 0
        calib = ''.join('P%d: %g 0 %g %g 0 500 170 0 0 0 1 0\n' % (i, 500, 320, -150 * (i == 3))
                        for i in range(4))
        flat, deep = self.folder('flat'), self.folder('deep')
        for part in ('image_2', 'image_3', 'gt_image_2', 'calib'):
            os.mkdir(os.path.join(deep, part))
        for path, raster in (('image_2/um_000001.png', left), ('image_3/um_000001.png', left),
                             ('gt_image_2/um_road_000001.png', truth)):
            cv2.imwrite(os.path.join(deep, path), raster)
        for path, raster in (('um_1_left.png', left), ('um_1_right.png', left),
                             ('um_1_road_gt.png', truth)):
            cv2.imwrite(os.path.join(flat, path), raster)
        for path in (os.path.join(deep, 'calib', 'um_000001.txt'), os.path.join(flat, 'um_1_calib.txt')):
            with open(path, 'w') as file:
                file.write(calib)
        packed = []
        for folder, name in ((flat, 'um_1'), (deep, 'um_000001')):
            part, = road_eval.from_folder(folder, self.work.name)
            self.assertEqual((part.names, part.alone), ([name], True))
            with open(part.args[1], 'rb') as file:
                packed.append(file.read())
        self.assertEqual(packed[0], packed[1])
        head, rest = packed[0].split(b'\n', 1)
        self.assertEqual(head.decode().split()[3:], ['pair', '500', '320', '170', '0', '0.29999999999999999'])
        scored = np.frombuffer(rest, np.uint8)[-mask.size:].reshape(mask.shape)
        self.assertTrue((scored[:40] == 128).all())
        self.assertTrue((scored[40:] == np.where(mask[40:] > 0, 255, 0)).all())

    def test_named_errors(self):
        empty = self.folder('empty')
        with self.assertRaisesRegex(SystemExit, 'neither|camera.txt'):
            road_eval.from_folder(empty, self.work.name)
        odd = self.plain('odd')
        cv2.imwrite(os.path.join(odd, 'mask', '1.png'), np.zeros((4, 4), np.uint8))
        with self.assertRaisesRegex(SystemExit, 'differ in size'):
            road_eval.from_folder(odd, self.work.name)
        os.remove(os.path.join(odd, 'disparity', '0.png'))
        with self.assertRaisesRegex(SystemExit, 'right/0.png'):
            road_eval.from_folder(odd, self.work.name)
        with self.assertRaisesRegex(SystemExit, 'failed'):
            road_eval.run([road_eval.offroad(1)], [{'patch': 5}])


class Study(unittest.TestCase):
    def test_tables_and_plots(self):
        """Every setting of the study is valid, every table and plot is made."""
        try:
            import matplotlib  # noqa: F401
            plots = True
        except ImportError:
            plots = False  # Debian: python3-matplotlib; the tables do without
        text = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(text):
                road_study.study([road_eval.offroad(1)], {'threads': 1}, True, folder if plots else None)
            made = os.listdir(folder)
        for number in (1, 2, 4, 6):
            self.assertIn('Counterpart of table %d' % number, text.getvalue())
        wanted = [entry[0] + '.png' for entry in
                  road_study.SWEEPS + road_study.GRIDS + road_study.OURS] if plots else []
        self.assertEqual(sorted(made), sorted(wanted))


if __name__ == '__main__':
    unittest.main()
