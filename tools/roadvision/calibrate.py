# SPDX-License-Identifier: MIT
"""Calibrates a stereo camera from images of a chessboard or ChArUco board and writes the file that
cudarectify reads.

  roadvision calibrate --left 'left*.jpg' --right 'right*.jpg' --board 9x6 --square 0.025 -o camera.yml
  roadvision calibrate --pairs 'pair*.png' --board 9x6 --square 0.025 -o camera.yml --show rows.png
  roadvision calibrate --pipeline 'v4l2src ! image/jpeg,width=2560,height=720 ! jpegdec' --save pairs/ \\
        --board 9x6 --square 0.025 -o camera.yml

Prints the reprojection error and the row error (difference of the rows of the same corner in both
rectified views), and draws one pair before and after with rows (--show). Show the board in at least
10 positions: near and far, tilted in each direction, and in all corners of both views.
Needs python3-opencv; --pipeline needs python3-gi too."""

import glob
import os
import sys
import time

from roadvision import launch
from roadvision.common import Misuse, Problem

try:
    import cv2
    import numpy as np
except ImportError:  # --help and the other commands work without; run() says what is missing
    cv2 = np = None

PAIRS_MIN = 3
PAIRS_GOOD = 10
ROWS_DRAWN = 24
MOVED_MIN = 0.05  # of the image width: how far the board must have moved between live pairs


def arguments(parser):
    source = parser.add_argument_group('input: --left and --right, or --pairs, or --pipeline')
    source.add_argument('--left', metavar='GLOB', help='images of the left camera, in quotes')
    source.add_argument('--right', metavar='GLOB', help='images of the right camera')
    source.add_argument('--pairs', metavar='GLOB', help='images that contain both views')
    source.add_argument('--pipeline', metavar='GST', help='GStreamer source of frames with both '
                        'views, without sink')
    parser.add_argument('--layout', choices=('side-by-side', 'top-bottom'), default='side-by-side',
                        help='packing of the views of --pairs and --pipeline (side-by-side)')
    parser.add_argument('--count', type=int, default=20, help='pairs to take from --pipeline (20)')
    parser.add_argument('--interval', type=float, default=1, help='seconds between them (1)')
    parser.add_argument('--save', metavar='FOLDER', help='write the pairs of --pipeline there')
    board = parser.add_argument_group('board')
    board.add_argument('--board', default='9x6', metavar='WxH', help='chessboard: inner corners; '
                       'ChArUco: squares (9x6)')
    board.add_argument('--square', type=float, default=1, metavar='M', help='side of a square in m; '
                       'the baseline has this unit (1)')
    board.add_argument('--charuco', metavar='DICTIONARY', help='ChArUco board with this ArUco '
                       'dictionary, such as DICT_5X5_100')
    board.add_argument('--marker', type=float, metavar='M', help='side of a marker in m (0.75 of '
                       'the square)')
    model = parser.add_argument_group('model')
    model.add_argument('--fisheye', action='store_true', help='equidistant lens, 4 coefficients')
    model.add_argument('--rational', action='store_true', help='8 coefficients, for wide lenses')
    model.add_argument('--alpha', type=float, default=0, help='zoom of the rectified views: 0 no '
                       'border, 1 every pixel, -1 focal length kept (0)')
    parser.add_argument('-o', '--output', default='camera.yml', help='calibration file (camera.yml)')
    parser.add_argument('--show', metavar='PNG', help='one pair before and after, with rows')
    parser.add_argument('--quiet', action='store_true', help='no line per pair')


def check(arguments):
    kinds = [bool(arguments.left or arguments.right), bool(arguments.pairs), bool(arguments.pipeline)]
    if sum(kinds) != 1 or bool(arguments.left) != bool(arguments.right):
        raise Misuse('give --left and --right, or --pairs, or --pipeline')
    try:
        arguments.columns, arguments.rows = map(int, arguments.board.lower().split('x'))
    except ValueError:
        raise Misuse(f'--board is {arguments.board}, must be two numbers such as 9x6') from None
    if min(arguments.columns, arguments.rows) < 3 or arguments.square <= 0:
        raise Misuse('--board must be at least 3x3 and --square above 0')


# --- Boards ---------------------------------------------------------------------------------------

class Chessboard:
    """All inner corners must be visible."""

    def __init__(self, arguments):
        self.size = arguments.columns, arguments.rows
        grid = np.mgrid[:self.size[0], :self.size[1]].T.reshape(-1, 2) * arguments.square
        self.points = np.column_stack([grid, np.zeros(len(grid))]).astype(np.float32)

    def find(self, gray):
        """Corners by their number; {} without a board."""
        found, corners = cv2.findChessboardCorners(
            gray, self.size, flags=cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE)
        if not found:
            return {}
        corners = np.asarray(corners, np.float32).reshape(-1, 1, 2)
        grid = corners.reshape(self.size[1], self.size[0], 2)
        spacing = min(np.linalg.norm(np.diff(grid, axis=0), axis=2).min(),
                      np.linalg.norm(np.diff(grid, axis=1), axis=2).min())
        half = int(max(2, min(11, 0.3 * spacing)))  # the window must hold one corner only
        stop = cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-4
        corners = cv2.cornerSubPix(gray, corners, (half, half), (-1, -1), stop)
        return dict(enumerate(np.asarray(corners).reshape(-1, 2)))

    def match(self, left, right):
        """Numbers both views have. A board may be found upside down in one view: then the right one
        is turned, which brings the corners closer together."""
        if not left or not right:
            return left, right
        turned = {len(right) - 1 - n: corner for n, corner in right.items()}
        distance = [sum(np.linalg.norm((left[n] - left[0]) - (side[n] - side[0])) for n in left)
                    for side in (right, turned)]
        return left, turned if distance[1] < distance[0] else right


class Charuco:
    """Any part of the board may be visible."""

    def __init__(self, arguments):
        if not hasattr(cv2, 'aruco'):
            raise Problem('this OpenCV has no aruco module: use a chessboard, or install '
                          'opencv-contrib-python')
        if not hasattr(cv2.aruco, arguments.charuco):
            raise Problem(f'unknown ArUco dictionary {arguments.charuco}: such as DICT_5X5_100')
        number = getattr(cv2.aruco, arguments.charuco)
        marker = arguments.marker or 0.75 * arguments.square
        size = arguments.columns, arguments.rows
        self.dictionary = cv2.aruco.getPredefinedDictionary(number)
        self.detector = None
        if hasattr(cv2.aruco, 'CharucoDetector'):  # OpenCV 4.7 and later
            self.board = cv2.aruco.CharucoBoard(size, arguments.square, marker, self.dictionary)
            self.detector = cv2.aruco.CharucoDetector(self.board)
            self.points = np.asarray(self.board.getChessboardCorners(), np.float32)
        else:
            self.board = cv2.aruco.CharucoBoard_create(*size, arguments.square, marker,
                                                       self.dictionary)
            self.points = np.asarray(self.board.chessboardCorners, np.float32)

    def find(self, gray):
        if self.detector:
            corners, numbers, _, _ = self.detector.detectBoard(gray)
        else:
            markers, ids, _ = cv2.aruco.detectMarkers(gray, self.dictionary)
            if ids is None:
                return {}
            _, corners, numbers = cv2.aruco.interpolateCornersCharuco(markers, ids, gray, self.board)
        if numbers is None or len(numbers) < 6:
            return {}
        return dict(zip(np.ravel(numbers).tolist(), np.asarray(corners).reshape(-1, 2)))

    def match(self, left, right):
        return left, right


# --- Images ---------------------------------------------------------------------------------------

def split(image, layout):
    height, width = image.shape[:2]
    if layout == 'side-by-side':
        if width % 2:
            raise Problem(f'the width {width} of a side-by-side image is odd')
        return image[:, :width // 2], image[:, width // 2:]
    if height % 2:
        raise Problem(f'the height {height} of a top-bottom image is odd')
    return image[:height // 2], image[height // 2:]


def read(path):
    image = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    if image is None:
        raise Problem(f'{path} is not an image that OpenCV can read')
    return image


def images_of(arguments):
    """Names and views of the pairs on disk."""
    if arguments.pairs:
        paths = sorted(glob.glob(arguments.pairs))
        if not paths:
            raise Problem(f'no file matches {arguments.pairs}')
        for path in paths:
            yield os.path.basename(path), *split(read(path), arguments.layout)
        return
    left, right = (sorted(glob.glob(side)) for side in (arguments.left, arguments.right))
    if not left or len(left) != len(right):
        raise Problem(f'{len(left)} files match {arguments.left} and {len(right)} match '
                      f'{arguments.right}: every left image needs a right one')
    for paths in zip(left, right):
        yield os.path.basename(paths[0]), *(read(path) for path in paths)


def frames_of(arguments):
    """Gray frames of the pipeline as they come."""
    try:
        import gi
        gi.require_version('Gst', '1.0')
        from gi.repository import GLib, Gst
    except (ImportError, ValueError) as error:
        raise Problem(f'--pipeline needs GStreamer for Python: {error}; install python3-gi and '
                      'gir1.2-gstreamer-1.0') from error
    Gst.init(None)
    line = (f'{arguments.pipeline} ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink '
            'max-buffers=2 sync=false')
    try:
        pipeline = Gst.parse_launch(line)
    except GLib.Error as error:
        raise Problem(f'--pipeline: {error.message}') from error
    sink = pipeline.get_by_name('sink')
    if pipeline.set_state(Gst.State.PAUSED) == Gst.StateChangeReturn.NO_PREROLL:
        sink.set_property('drop', True)  # a camera does not wait
    try:
        for sample in launch.samples(pipeline, 'sink', patience=10):
            caps, buffer = sample.get_caps().get_structure(0), sample.get_buffer()
            width, height = caps.get_value('width'), caps.get_value('height')
            data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
            yield data.reshape(height, -1)[:, :width]
    except Problem as problem:
        raise Problem(f'--pipeline: {problem}') from None


def live_pairs(arguments, board):
    """Pairs of the pipeline in which the board is visible and has moved."""
    taken, last, when = 0, None, -1e9
    if arguments.save:
        os.makedirs(arguments.save, exist_ok=True)
    for frame in frames_of(arguments):
        if time.monotonic() - when < arguments.interval:
            continue
        left, right = split(frame, arguments.layout)
        corners = board.find(left)
        if not corners or not board.find(right):
            continue
        center = np.mean(list(corners.values()), axis=0), np.ptp(list(corners.values()), axis=0)
        here = np.concatenate(center)
        if last is not None and np.abs(here - last).max() < MOVED_MIN * left.shape[1]:
            continue
        last, when, taken = here, time.monotonic(), taken + 1
        if arguments.save:
            cv2.imwrite(os.path.join(arguments.save, f'pair{taken:03d}.png'), frame)
        yield f'pair {taken} of {arguments.count}', left.copy(), right.copy()
        if taken >= arguments.count:
            return


# --- Calibration ----------------------------------------------------------------------------------

class Pair:
    def __init__(self, name, views, corners, board):
        self.name, self.views = name, views
        numbers = sorted(set(corners[0]) & set(corners[1]))
        self.points = board.points[numbers].reshape(-1, 1, 3)
        self.corners = [np.array([side[n] for n in numbers], np.float32).reshape(-1, 1, 2)
                        for side in corners]


def find_pairs(arguments, board):
    pairs, size = [], None
    source = live_pairs(arguments, board) if arguments.pipeline else images_of(arguments)
    for name, left, right in source:
        if left.shape != right.shape or (size and left.shape != size):
            raise Problem(f'{name}: the views have {left.shape[1]}x{left.shape[0]} and '
                          f'{right.shape[1]}x{right.shape[0]} px; all views must have one size')
        size = left.shape
        corners = board.match(board.find(left), board.find(right))
        usable = len(set(corners[0]) & set(corners[1])) >= 6
        if usable:
            pairs.append(Pair(name, (left, right), corners, board))
        if not arguments.quiet:
            what = 'used' if usable else 'board not found in ' + ' and '.join(
                side for side, found in zip(('left', 'right'), corners) if not found) \
                if not all(corners) else 'too few common corners'
            print(f'{name}: {what}', flush=True)
    if len(pairs) < PAIRS_MIN:
        raise Problem(f'the board of {arguments.board} was found in {len(pairs)} pairs, at least '
                      f'{PAIRS_MIN} are needed: check --board (inner corners of a chessboard), '
                      'lighting and sharpness')
    if len(pairs) < PAIRS_GOOD:
        print(f'warning: only {len(pairs)} pairs; {PAIRS_GOOD} or more in different positions give '
              'a better calibration', file=sys.stderr)
    return pairs, (size[1], size[0])


class Calibration:
    """Cameras, pose and rectification from corners."""

    def __init__(self, pairs, size, arguments):
        self.size, self.fisheye = size, arguments.fisheye
        solve = self._solve_fisheye if self.fisheye else self._solve_pinhole
        self.rms, self.k, self.d, self.rotation, self.translation = solve(pairs, size, arguments)
        self.translation = np.asarray(self.translation, float).reshape(3, 1)
        if self.fisheye:
            self._rectify_fisheye()
        else:
            self.r1, self.r2, self.p1, self.p2, self.q, _, _ = cv2.stereoRectify(
                self.k[0], self.d[0], self.k[1], self.d[1], size, self.rotation, self.translation,
                flags=cv2.CALIB_ZERO_DISPARITY, alpha=arguments.alpha)

    @staticmethod
    def _solve_pinhole(pairs, size, arguments):
        flags = cv2.CALIB_RATIONAL_MODEL if arguments.rational else 0
        points = [pair.points for pair in pairs]
        sides = [[pair.corners[v] for pair in pairs] for v in range(2)]
        single = [cv2.calibrateCamera(points, side, size, None, None, flags=flags)[1:3]
                  for side in sides]
        stop = cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 200, 1e-7
        rms, k1, d1, k2, d2, rotation, translation, _, _ = cv2.stereoCalibrate(
            points, *sides, *single[0], *single[1], size, criteria=stop,
            flags=flags | cv2.CALIB_USE_INTRINSIC_GUESS)[:9]
        count = 8 if arguments.rational else 5
        return rms, (k1, k2), (d1.ravel()[:count], d2.ravel()[:count]), rotation, translation

    @staticmethod
    def _solve_fisheye(pairs, size, _):
        points = [pair.points.reshape(1, -1, 3).astype(float) for pair in pairs]
        sides = [[pair.corners[v].reshape(1, -1, 2).astype(float) for pair in pairs]
                 for v in range(2)]
        fix, extrinsic, guess = (
            getattr(cv2.fisheye if hasattr(cv2.fisheye, name) else cv2, name)  # OpenCV 4, 5
            for name in ('CALIB_FIX_SKEW', 'CALIB_RECOMPUTE_EXTRINSIC', 'CALIB_USE_INTRINSIC_GUESS'))
        flags = fix | extrinsic | guess
        stop = cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 200, 1e-7
        single = []
        for side in sides:
            k, d = np.eye(3), np.zeros((4, 1))
            k[0, 0] = k[1, 1] = size[0] / np.pi
            k[:2, 2] = (size[0] - 1) / 2, (size[1] - 1) / 2
            _, k, d, _, _ = cv2.fisheye.calibrate(points, side, size, k, d, flags=flags,
                                                  criteria=stop)
            single += [k, d]
        rms, k1, d1, k2, d2, rotation, translation = cv2.fisheye.stereoCalibrate(
            points, *sides, *single, size, flags=flags, criteria=stop)[:7]
        return rms, (k1, k2), (d1.ravel(), d2.ravel()), rotation, translation

    def _rectify_fisheye(self):
        """Each camera turns by half of the rotation, then the baseline becomes the x axis; mean focal
        length, principal point in the center: as cudarectify does it."""
        half = cv2.Rodrigues(-cv2.Rodrigues(self.rotation)[0] / 2)[0]
        t = (half @ self.translation).ravel()
        axis = np.cross(t, [np.copysign(1, t[0]), 0, 0])
        if np.linalg.norm(axis) > 0:
            axis *= np.arccos(abs(t[0]) / np.linalg.norm(t)) / np.linalg.norm(axis)
        turn = cv2.Rodrigues(axis)[0]
        self.r1, self.r2 = turn @ half.T, turn @ half
        f = (self.k[0][1, 1] + self.k[1][1, 1]) / 2
        baseline = np.linalg.norm(self.translation) * -np.sign(self.translation[0, 0])
        self.p1 = np.array([[f, 0, (self.size[0] - 1) / 2, 0], [0, f, (self.size[1] - 1) / 2, 0],
                            [0, 0, 1, 0]])
        self.p2 = self.p1.copy()
        self.p2[0, 3] = -f * baseline
        self.q = np.array([[1, 0, 0, -self.p1[0, 2]], [0, 1, 0, -self.p1[1, 2]], [0, 0, 0, f],
                           [0, 0, 1 / baseline, 0]])

    def rectified(self, corners, view):
        """Corners in the rectified view."""
        r, p = (self.r1, self.p1) if view == 0 else (self.r2, self.p2)
        if self.fisheye:
            found = cv2.fisheye.undistortPoints(corners.astype(float), self.k[view], self.d[view],
                                                R=r, P=p[:, :3])
        else:
            found = cv2.undistortPoints(corners, self.k[view], self.d[view], R=r, P=p[:, :3])
        return np.asarray(found).reshape(-1, 2)

    def row_errors(self, pair):
        left, right = (self.rectified(pair.corners[v], v) for v in range(2))
        return left[:, 1] - right[:, 1]

    def remap(self, image, view):
        r, p = (self.r1, self.p1) if view == 0 else (self.r2, self.p2)
        make = cv2.fisheye.initUndistortRectifyMap if self.fisheye else cv2.initUndistortRectifyMap
        maps = make(self.k[view], self.d[view], r, p[:, :3], self.size, cv2.CV_16SC2)
        return cv2.remap(image, *maps, cv2.INTER_LINEAR)

    def write(self, path, facts):
        storage = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE)
        if not storage.isOpened():
            raise Problem(f'{path} cannot be written')
        storage.write('image_width', self.size[0])
        storage.write('image_height', self.size[1])
        storage.write('distortion_model', 'equidistant' if self.fisheye else
                      'rational_polynomial' if len(self.d[0]) > 5 else 'plumb_bob')
        for view in range(2):
            storage.write(f'M{view + 1}', self.k[view])
            storage.write(f'D{view + 1}', np.asarray(self.d[view], float).reshape(1, -1))
        for name, value in (('R', self.rotation), ('T', self.translation), ('R1', self.r1),
                            ('R2', self.r2), ('P1', self.p1), ('P2', self.p2), ('Q', self.q)):
            storage.write(name, np.asarray(value, float))
        for name, value in facts.items():
            storage.write(name, value)
        storage.release()


def drop_outliers(pairs, size, arguments):
    """Calibrates; pairs whose rows differ three times as much as the median pair are omitted once."""
    calibration = Calibration(pairs, size, arguments)
    errors = [float(np.sqrt(np.mean(calibration.row_errors(pair) ** 2))) for pair in pairs]
    limit = max(1.0, 3 * float(np.median(errors)))
    kept = [pair for pair, error in zip(pairs, errors) if error <= limit]
    if len(kept) == len(pairs) or len(kept) < PAIRS_MIN:
        return calibration, pairs
    for pair, error in zip(pairs, errors):
        if error > limit:
            print(f'{pair.name}: not used, its rows differ by {error:.2f} px', file=sys.stderr)
    return Calibration(kept, size, arguments), kept


def draw(calibration, pair, path):
    """Before above, after below, with rows."""
    after = [calibration.remap(view, v) for v, view in enumerate(pair.views)]
    stack = np.vstack([np.hstack(pair.views), np.hstack(after)])
    image = cv2.cvtColor(stack, cv2.COLOR_GRAY2BGR)
    height, width = pair.views[0].shape
    for y in range(0, 2 * height, max(1, height // ROWS_DRAWN)):
        cv2.line(image, (0, y), (2 * width - 1, y), (0, 220, 0), 1)
    cv2.line(image, (0, height), (2 * width - 1, height), (0, 0, 255), 3)
    for y, text in ((0, 'before'), (height, 'after')):
        cv2.putText(image, text, (10, y + 30), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 200, 255), 2)
    if not cv2.imwrite(path, image):
        raise Problem(f'{path} cannot be written')


def calibrate(arguments):
    board = Charuco(arguments) if arguments.charuco else Chessboard(arguments)
    pairs, size = find_pairs(arguments, board)
    calibration, used = drop_outliers(pairs, size, arguments)
    rows = np.concatenate([calibration.row_errors(pair) for pair in used])
    facts = {'pairs_used': len(used), 'rms_px': float(calibration.rms),
             'row_error_rms_px': float(np.sqrt(np.mean(rows ** 2))),
             'row_error_p95_px': float(np.percentile(np.abs(rows), 95)),
             'square_size': arguments.square}
    calibration.write(arguments.output, facts)
    if arguments.show:
        worst = max(used, key=lambda pair: np.ptp(pair.corners[0].reshape(-1, 2), axis=0).prod())
        draw(calibration, worst, arguments.show)
    baseline = float(np.linalg.norm(calibration.translation))
    print(f'{arguments.output}: {size[0]}x{size[1]} px, {len(used)} pairs, rms {calibration.rms:.3f} '
          f'px, row error {facts["row_error_rms_px"]:.3f} px rms, {facts["row_error_p95_px"]:.3f} px '
          f'p95, focal length {calibration.p1[0, 0]:.1f} px, baseline {baseline:.4f} m')
    if facts['row_error_rms_px'] > 0.5:
        print('warning: rows differ by more than 0.5 px: the board may be bent, --square or --board '
              'wrong, or the views not taken at the same time', file=sys.stderr)


def run(options):
    if cv2 is None:
        raise Problem('calibration needs OpenCV: install python3-opencv')
    check(options)
    try:
        calibrate(options)
    except cv2.error as error:
        raise Problem(f'OpenCV could not calibrate: {error.err}; show the board in more and different '
                      'positions') from None
    return 0
