#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs roadvision calibrate, and cudarectify with the file it writes.

Without data: a chessboard and a ChArUco board rendered for a known camera, from image files and
through a pipeline. With RV_DATA: the calib_* pairs, whose rows must agree within 0.5 px rms after
cudarectify. Exit status 77 without OpenCV."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f'calibrate_test: skipped: {error}')
    sys.exit(77)

import gi

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
COMMAND = os.path.join(ROOT, 'tools', 'bin', 'roadvision')
DATA = os.environ.get('RV_DATA')
SIZE = 320, 240
SQUARE = 0.03  # m
CHARUCO = 6, 5, 0.07  # squares, m
ROWS_MAX = 0.5  # px rms

K = [np.array([[280., 0, 163], [0, 281, 118], [0, 0, 1]]),
     np.array([[279., 0, 157], [0, 279.5, 121], [0, 0, 1]])]
D = [np.array([-0.25, 0.08, 0.0004, -0.0003, 0]), np.array([-0.24, 0.07, -0.0003, 0.0004, 0])]
K_FISHEYE = [np.array([[140., 0, 161], [0, 140.5, 119], [0, 0, 1]]),
             np.array([[141., 0, 158], [0, 141, 120.5], [0, 0, 1]])]
D_FISHEYE = [np.array([0.02, -0.01, 0.003, 0]), np.array([0.015, -0.008, 0.002, 0])]
ROTATION = cv2.Rodrigues(np.array([0.01, -0.015, 0.02]))[0]
TRANSLATION = np.array([-0.1, 0.002, -0.001])
BASELINE = float(np.linalg.norm(TRANSLATION))


def run(*arguments, folder):
    return subprocess.run([sys.executable, '-B', COMMAND, 'calibrate', *map(str, arguments)], cwd=folder,
                          capture_output=True, text=True, timeout=280)


# --- Rendering ------------------------------------------------------------------------------------

def rays(view, is_fisheye):
    """Directions of all pixels of a camera, in its own coordinates."""
    grid = np.mgrid[:SIZE[0], :SIZE[1]].T.reshape(-1, 1, 2).astype(np.float64)
    points = cv2.fisheye.undistortPoints(grid, K_FISHEYE[view], D_FISHEYE[view]) if is_fisheye \
        else cv2.undistortPoints(grid, K[view], D[view])
    points = np.asarray(points).reshape(-1, 2)
    return np.column_stack([points, np.ones(len(points))])


RAYS = {is_fisheye: [rays(view, is_fisheye) for view in range(2)] for is_fisheye in (False, True)}


def render(texture, metre, pose, view, is_fisheye=False):
    """`texture` (px, `metre` px per m) as a plane with `pose` (R, t) in the left camera."""
    directions = RAYS[is_fisheye][view]
    turn, shift = pose
    if view == 1:
        turn, shift = ROTATION @ turn, ROTATION @ shift + TRANSLATION
    normal = turn[:, 2]
    depth = (normal @ shift) / (directions @ normal)
    local = (directions * depth[:, None] - shift) @ turn
    at = (local[:, :2] * metre).astype(np.float32).reshape(SIZE[1], SIZE[0], 2)
    return cv2.remap(texture, at[..., 0], at[..., 1], cv2.INTER_LINEAR,
                     borderMode=cv2.BORDER_CONSTANT, borderValue=140)


def poses(count, width, height, random, nearer=1):
    """The board in front of both cameras, tilted, at many places."""
    for _ in range(count):
        turn = cv2.Rodrigues(random.uniform(-0.45, 0.45, 3) * [1, 1, 0.5])[0]
        center = np.array([0.05 + random.uniform(-0.09, 0.09), random.uniform(-0.08, 0.08),
                           random.uniform(0.55, 0.8)])
        center[2] /= nearer
        yield turn, center - turn @ np.array([width / 2, height / 2, 0])


def chessboard():
    """9x6 inner corners with a white margin; about as fine as the rendered views."""
    cell = 16
    squares = (np.indices((7, 10)).sum(0) % 2 * 255).astype(np.uint8)
    board = np.kron(squares, np.ones((cell, cell), np.uint8))
    return cv2.copyMakeBorder(board, cell, cell, cell, cell, cv2.BORDER_CONSTANT, value=255), \
        cell / SQUARE


def charuco():
    """Squares of DICT_4X4_50 with a white margin; None without the aruco module."""
    if not hasattr(cv2, 'aruco'):
        return None, None
    columns, rows, square = CHARUCO
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    if hasattr(cv2.aruco, 'CharucoDetector'):
        board = cv2.aruco.CharucoBoard((columns, rows), square, 0.75 * square, dictionary)
        texture = board.generateImage((columns * 36, rows * 36))
    else:
        board = cv2.aruco.CharucoBoard_create(columns, rows, square, 0.75 * square, dictionary)
        texture = board.draw((columns * 36, rows * 36))
    return cv2.copyMakeBorder(texture, 36, 36, 36, 36, cv2.BORDER_CONSTANT, value=255), 36 / square


def write_pairs(folder, texture, metre, count, random, separate=False, is_fisheye=False):
    for n, pose in enumerate(poses(count, texture.shape[1] / metre, texture.shape[0] / metre,
                                   random, 1.8 if is_fisheye else 1)):
        views = [render(texture, metre, pose, view, is_fisheye) for view in range(2)]
        views = [np.clip(v + random.normal(0, 1.5, v.shape), 0, 255).astype(np.uint8)
                 for v in views]
        if separate:
            for side, view in zip(('left', 'right'), views):
                cv2.imwrite(f'{folder}/{side}{n:02d}.png', view)
        else:
            cv2.imwrite(f'{folder}/pair{n:02d}.png', np.hstack(views))


# --- cudarectify ------------------------------------------------------------------------------------

def rectified(views, calibration, *properties):
    """Both views after the element."""
    height, width = views[0].shape
    line = (f'appsrc name=in caps=video/x-raw,format=GRAY8,width={2 * width},height={height},'
            f'framerate=1/1 ! cudarectify engine=cpu layout=side-by-side '
            f'calibration="{calibration}" {" ".join(properties)} ! appsink name=out sync=false')
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    frame = np.ascontiguousarray(np.hstack(views))
    stride = (2 * width + 3) // 4 * 4
    padded = np.zeros((height, stride), np.uint8)
    padded[:, :2 * width] = frame
    source = pipeline.get_by_name('in')
    source.emit('push-buffer', Gst.Buffer.new_wrapped(padded.tobytes()))
    source.emit('end-of-stream')
    sample = pipeline.get_by_name('out').emit('try-pull-sample', 20 * Gst.SECOND)
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if not sample:
        raise AssertionError(message.parse_error()[0].message if message else 'no frame')
    caps, buffer = sample.get_caps().get_structure(0), sample.get_buffer()
    size = caps.get_value('width'), caps.get_value('height')
    data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
    out = data.reshape(size[1], -1)[:, :size[0]]
    return out[:, :size[0] // 2].copy(), out[:, size[0] // 2:].copy()


def corner_rows(views):
    """Differences of rows of the same corner; None if the board is not visible in both."""
    found = []
    for view in views:
        ok, corners = cv2.findChessboardCorners(view, (9, 6))
        if not ok:
            return None
        stop = cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 60, 1e-3
        corners = np.asarray(corners, np.float32).reshape(-1, 1, 2)
        spacing = np.linalg.norm(np.diff(corners.reshape(6, 9, 2), axis=1), axis=2).min()
        half = int(max(2, min(11, 0.3 * spacing)))
        found.append(np.asarray(cv2.cornerSubPix(view, corners, (half, half), (-1, -1), stop))
                     .reshape(-1, 2))
    turned = found[1][::-1]
    if np.ptp(found[0] - turned, axis=0).sum() < np.ptp(found[0] - found[1], axis=0).sum():
        found[1] = turned
    return found[0][:, 1] - found[1][:, 1]


def feature_rows(views):
    """The same of tracked features, without the outer tenths."""
    points = cv2.goodFeaturesToTrack(views[0], 600, 0.01, 5)
    there, found, _ = cv2.calcOpticalFlowPyrLK(views[0], views[1], points, None, winSize=(15, 15),
                                               maxLevel=4)
    back, again, _ = cv2.calcOpticalFlowPyrLK(views[1], views[0], there, None, winSize=(15, 15),
                                              maxLevel=4)
    good = (found.ravel() == 1) & (again.ravel() == 1) & \
        (np.linalg.norm((back - points).reshape(-1, 2), axis=1) < 0.3)
    rows = (points - there).reshape(-1, 2)[good, 1]
    limits = np.percentile(rows, (10, 90))
    return rows[(rows >= limits[0]) & (rows <= limits[1])]


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = np.random.default_rng(11)

    def path(self, name):
        return os.path.join(self.folder, name)

    def calibrate(self, *arguments, expect=0):
        done = run(*arguments, '-o', self.path('camera.yml'), folder=self.folder)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def check_summary(self, text, baseline, rms_max=0.4):
        facts = re.search(r'rms ([\d.]+) px, row error ([\d.]+) px rms, .* baseline ([\d.]+) m', text)
        self.assertIsNotNone(facts, text)
        self.assertLess(float(facts[1]), rms_max, text)
        self.assertLess(float(facts[2]), ROWS_MAX, text)
        self.assertAlmostEqual(float(facts[3]), baseline, delta=0.02 * baseline)

    def check_rectified(self, images):
        """Rows of the board after cudarectify."""
        errors = [rows for rows in (corner_rows(rectified(views, self.path('camera.yml')))
                                    for views in images) if rows is not None]
        self.assertGreater(len(errors), len(images) // 2)
        self.assertLess(rms(np.concatenate(errors)), ROWS_MAX)
        return rms(np.concatenate(errors))

    def test_chessboard_files(self):
        write_pairs(self.folder, *chessboard(), 12, self.random, separate=True)
        text = self.calibrate('--left', self.path('left*.png'), '--right', self.path('right*.png'),
                              '--square', SQUARE, '--show', self.path('show.png'))
        self.check_summary(text, BASELINE)
        storage = cv2.FileStorage(self.path('camera.yml'), cv2.FILE_STORAGE_READ)
        for view in range(2):
            k = storage.getNode(f'M{view + 1}').mat()
            self.assertLess(np.abs(k - K[view]).max(), 0.04 * K[view][0, 0])
        self.assertLess(np.abs(storage.getNode('R').mat() - ROTATION).max(), 0.02)
        image = cv2.imread(self.path('show.png'))
        self.assertEqual(image.shape, (2 * SIZE[1], 2 * SIZE[0], 3))
        images = [[cv2.imread(self.path(f'{side}{n:02d}.png'), 0) for side in ('left', 'right')]
                  for n in range(12)]
        self.assertGreater(rms(np.concatenate([rows for rows in map(corner_rows, images)
                                               if rows is not None])), 1)
        self.check_rectified(images)

    def test_fisheye(self):
        write_pairs(self.folder, *chessboard(), 16, self.random, separate=True, is_fisheye=True)
        text = self.calibrate('--left', self.path('left*.png'), '--right', self.path('right*.png'),
                              '--square', SQUARE, '--fisheye', '--show', self.path('show.png'))
        self.check_summary(text, BASELINE)
        images = [[cv2.imread(self.path(f'{side}{n:02d}.png'), 0) for side in ('left', 'right')]
                  for n in range(16)]
        self.check_rectified(images)

    def test_charuco(self):
        texture, metre = charuco()
        if texture is None:
            self.skipTest('this OpenCV has no aruco module')
        write_pairs(self.folder, texture, metre, 14, self.random)
        text = self.calibrate('--pairs', self.path('pair*.png'), '--charuco', 'DICT_4X4_50',
                              '--board', f'{CHARUCO[0]}x{CHARUCO[1]}', '--square', CHARUCO[2],
                              '--quiet')
        self.check_summary(text, BASELINE)

    def test_pipeline(self):
        """A recorded pair per frame; what is taken is saved and gives the same again."""
        write_pairs(self.folder, *chessboard(), 12, self.random)
        text = self.calibrate('--pipeline', f'multifilesrc location={self.path("pair%02d.png")} '
                              'caps=image/png,framerate=5/1 ! pngdec', '--interval', 0, '--save',
                              self.path('saved'), '--count', 8, '--square', SQUARE)
        self.check_summary(text, BASELINE)
        self.assertLessEqual(len(os.listdir(self.path('saved'))), 8)
        again = self.calibrate('--pairs', self.path('saved/*.png'), '--square', SQUARE)
        summaries = [re.search(r'px, \d+ pairs, rms .*', output)[0] for output in (text, again)]
        self.assertEqual(*summaries)

    def test_problems(self):
        for arguments, words in (
                (('--pairs', self.path('none*.png')), 'no file matches'),
                (('--pairs', __file__), 'not an image'),
                (('--pipeline', 'filesrc location=/no/such/file ! pngdec'), '--pipeline: '),
                (('--pairs', 'x', '--charuco', 'DICT_NONE'), 'unknown ArUco dictionary')):
            if 'DICT_NONE' in arguments and not hasattr(cv2, 'aruco'):
                continue
            text = self.calibrate(*arguments, expect=1)
            self.assertIn(words, text)
            self.assertNotIn('Traceback', text)
        cv2.imwrite(self.path('pair0.png'), np.full((240, 640), 128, np.uint8))
        self.assertIn('was found in 0 pairs',
                      self.calibrate('--pairs', self.path('pair*.png'), expect=1))

    @unittest.skipUnless(DATA, 'RV_DATA is not set')
    def test_data_opencv(self):
        folder = os.path.join(DATA, 'calib_opencv')
        text = self.calibrate('--left', f'{folder}/left??.jpg', '--right', f'{folder}/right??.jpg',
                              '--square', 0.025, '--quiet')
        self.check_summary(text, 0.0832, 0.25)
        names = sorted(name[4:] for name in os.listdir(folder) if name.startswith('left')
                       and name.endswith('.jpg'))
        images = [[cv2.imread(f'{folder}/{side}{name}', 0) for side in ('left', 'right')]
                  for name in names]
        print(f'calib_opencv: rows {self.check_rectified(images):.3f} px rms after cudarectify')

    @unittest.skipUnless(DATA, 'RV_DATA is not set')
    def test_data_stereopi(self):
        folder = os.path.join(DATA, 'calib_stereopi_sbs')
        text = self.calibrate('--pairs', f'{folder}/chess*.png', '--square', 0.025, '--quiet')
        self.check_summary(text, 0.058, 0.25)
        frames = [cv2.imread(f'{folder}/{name}', 0) for name in sorted(os.listdir(folder))
                  if name.startswith('chess')]
        images = [(frame[:, :320].copy(), frame[:, 320:].copy()) for frame in frames]
        print(f'calib_stereopi: rows {self.check_rectified(images):.3f} px rms after cudarectify')
        scene = cv2.imread(f'{folder}/scene.png', 0)
        views = scene[:, :320].copy(), scene[:, 320:].copy()
        before = rms(feature_rows(views))
        after = rms(feature_rows(rectified(views, self.path('camera.yml'))))
        print(f'scene: rows of features {before:.2f} px rms before, {after:.2f} px after')
        self.assertGreater(before, after)
        self.assertLess(after, ROWS_MAX)


if __name__ == '__main__':
    Gst.init(None)
    unittest.main()
