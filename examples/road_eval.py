# SPDX-License-Identifier: MIT
"""Implements road_eval.sh: reads folders, runs the program road_eval on them, prints and plots."""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

try:
    import cv2
except ImportError:
    sys.exit('road_eval: OpenCV for Python is missing: install python3-opencv, and start road_eval.sh')

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OFFROAD_FRAMES = 360
OFFROAD_RATE = 10 / 3  # frames per second at 8 m/s: 2.4 m between frames, 860 m in total


# --- Frames ---------------------------------------------------------------------------------------

def picture(path, flag=cv2.IMREAD_COLOR):
    found = cv2.imread(path, flag)
    if found is None:
        raise SystemExit('road_eval: cannot read %s' % path)
    return found


def kitti_calib(path):
    with open(path) as file:
        rows = dict(line.split(':', 1) for line in file if ':' in line)
    left, right = (np.array(rows[name].split(), float) for name in ('P2', 'P3'))
    return {'focal': left[0], 'cx': left[2], 'cy': left[6], 'baseline': (left[3] - right[3]) / left[0]}


def kitti_truth(path):
    """Converts red = labeled, blue = road to 255 = road, 0 = not road, 128 = not scored."""
    truth = picture(path)
    return np.where(truth[:, :, 2] == 0, 128, np.where(truth[:, :, 0] > 0, 255, 0)).astype(np.uint8)


def plain_camera(path):
    with open(path) as file:
        return {name: float(value) for name, value in (line.split() for line in file if line.strip())}


class Item:
    """One frame of a folder: paths and formats."""

    def __init__(self, name, left, other, truth, camera, kitti):
        self.name, self.left, self.other, self.truth = name, left, other, truth
        self.camera, self.kitti = camera, kitti

    def mask(self):
        return kitti_truth(self.truth) if self.kitti else picture(self.truth, cv2.IMREAD_GRAYSCALE)

    def pixels(self):
        """Returns the bytes of the frame as the program reads them, and its size."""
        left, truth = picture(self.left), self.mask()
        if 'disparity' in os.path.basename(os.path.dirname(self.other)):
            stored = picture(self.other, cv2.IMREAD_UNCHANGED)
            other = np.where(stored > 0, np.maximum((stored.astype(np.uint32) + 8) // 16, 1), 0)
            other = other.astype('<u2')
        else:
            other = rgbx(picture(self.other))
        if other.shape[:2] != left.shape[:2] or truth.shape != left.shape[:2]:
            raise SystemExit('road_eval: the images of %s differ in size' % self.name)
        return rgbx(left).tobytes() + other.tobytes() + truth.tobytes(), left.shape[1::-1]

    def kind(self):
        return 'disparity' if 'disparity' in os.path.basename(os.path.dirname(self.other)) else 'pair'


def rgbx(bgr):
    return np.dstack([bgr[:, :, 2], bgr[:, :, 1], bgr[:, :, 0], np.zeros_like(bgr[:, :, 0])])


def kitti_items(folder, with_truth=True):
    """Frames of both layouts of KITTI's road benchmark; in the flat one, ground truth is optional."""
    for path in sorted(glob.glob(os.path.join(folder, 'image_2', '*.png'))):
        name = os.path.basename(path)[:-4]
        yield Item(name, path, os.path.join(folder, 'image_3', name + '.png'),
                   os.path.join(folder, 'gt_image_2', re.sub('_', '_road_', name, 1) + '.png'),
                   kitti_calib(os.path.join(folder, 'calib', name + '.txt')), True)
    for left in sorted(glob.glob(os.path.join(folder, '*_left.png'))):
        start = left[:-len('_left.png')]
        if with_truth and not os.path.exists(start + '_road_gt.png'):
            continue
        yield Item(os.path.basename(start), left, start + '_right.png', start + '_road_gt.png',
                   kitti_calib(start + '_calib.txt'), True)


def plain_items(folder, kinds=('disparity', 'right')):
    camera = plain_camera(os.path.join(folder, 'camera.txt'))
    for path in sorted(glob.glob(os.path.join(folder, 'left', '*.png'))):
        name = os.path.basename(path)
        others = [os.path.join(folder, kind, name) for kind in kinds]
        other = next((o for o in others if os.path.exists(o)), None)
        if other is None:
            raise SystemExit('road_eval: %s not found' % ' and '.join(others))
        yield Item(name[:-4], path, other, os.path.join(folder, 'mask', name), camera, False)


class Frames:
    """Input of the program: arguments, and names to print."""

    def __init__(self, args, names, alone, size):
        self.args, self.names, self.alone, self.size = args, names, alone, size


def from_folder(folder, work):
    """Returns a Frames per run of frames of the same size and camera, packed into `work`."""
    kitti = list(kitti_items(folder))
    if not kitti and not os.path.exists(os.path.join(folder, 'camera.txt')):
        raise SystemExit('road_eval: %s contains neither camera.txt nor KITTI road frames' % folder)
    parts, head = [], None
    for item in kitti or plain_items(folder):
        pixels, (width, height) = item.pixels()
        camera = item.camera
        line = 'rvframes %d %d %s %.17g %.17g %.17g %.17g %.17g\n' % (
            width, height, item.kind(), camera['focal'], camera['cx'], camera['cy'],
            camera.get('doffs', 0.0), camera['baseline'])
        if line != head:
            path = os.path.join(work, '%d.frames' % len(parts))
            parts.append(Frames(['--frames', path], [], bool(kitti), (width, height)))
        with open(path, 'ab' if line == head else 'wb') as file:
            file.write(pixels if line == head else line.encode() + pixels)
        head = line
        parts[-1].names.append(item.name)
    if not parts:
        raise SystemExit('road_eval: no images in %s' % folder)
    return parts


def offroad(count=OFFROAD_FRAMES, seed=1, span=OFFROAD_FRAMES):
    """The dirt track; fewer frames than `span` cover the same distance."""
    return Frames(['--offroad', str(count), '--seed', str(seed),
                   '--rate', '%.9g' % (OFFROAD_RATE * count / span)],
                  ['%03d' % i for i in range(count)], False, (640, 480))


def drive(event, count, seed, rate=10, rows=360, **scene):
    """A drive in which an event of road_events.h hides what road looks like; parameters of cuda/scene."""
    args = ['--offroad', str(count), '--seed', str(seed), '--rate', '%.9g' % rate, '--rows', str(rows)]
    for name, value in scene.items():
        args += ['--scene', '%s=%s' % (name.replace('_', '-'), value)]
    return Frames(args + (['--event', event] if event else []), ['%03d' % i for i in range(count)],
                  False, (640, rows))


# --- Runs -----------------------------------------------------------------------------------------

class Result:
    """Per-frame scores of one setting, in %."""

    def __init__(self, counts, ms):
        hit, extra, missed, clear = np.array(counts, float).T[:4]
        self.ms = ms
        self.tp = 100 * hit / np.maximum(1, hit + missed)
        self.fp = 100 * extra / np.maximum(1, extra + clear)
        self.precision = 100 * hit / np.maximum(1, hit + extra)
        self.f1 = 200 * hit / np.maximum(1, 2 * hit + extra + missed)

    def part(self, stop):
        """Returns the scores of the first frames only."""
        some = object.__new__(Result)
        for name, value in vars(self).items():
            setattr(some, name, value[:stop] if isinstance(value, np.ndarray) else value)
        return some


def program():
    build = os.environ.get('RV_BUILD_DIR', os.path.join(ROOT, 'build'))
    return os.path.join(build if os.path.isabs(build) else os.path.join(ROOT, build),
                        'examples', 'road_eval')


def run(parts, settings, **files):
    """Returns a Result per setting (a dictionary of parameters) over all parts. files: paths that the
    program writes (see road_eval.c), for one part."""
    counts, ms = [[] for _ in settings], [0.0 for _ in settings]
    for part in parts:
        args = [program()] + part.args
        for name, path in files.items():
            args += ['--' + name, path]
        for setting in settings:
            args += ['--run'] + ['%s=%s' % pair for pair in setting.items()]
            args += ['alone=1'] if part.alone and 'alone' not in setting else []
        answer = subprocess.run(args, stdout=subprocess.PIPE, universal_newlines=True)
        if answer.returncode:
            raise SystemExit('road_eval: the program failed')
        for line in answer.stdout.splitlines():
            words = line.split()
            if words[0] == 'run':
                ms[int(words[1])] = float(words[2])
            else:
                counts[int(words[0])].append([int(word) for word in words[2:]])
    return [Result(rows, time) for rows, time in zip(counts, ms)]


def frames_of(path, width, height):
    """(BGR, truth) of each frame in a file that `save` of run() wrote."""
    with open(path, 'rb') as file:
        file.readline()
        while True:
            rgbx = np.frombuffer(file.read(4 * width * height), np.uint8)
            if rgbx.size == 0:
                return
            file.read(2 * width * height)
            truth = np.frombuffer(file.read(width * height), np.uint8).reshape(height, width)
            yield rgbx.reshape(height, width, 4)[:, :, 2::-1], truth


def print_frames(parts, result):
    print('%-16s%10s%10s%10s%10s%10s' % ('frame', 'TP', 'FP', 'precision', 'recall', 'F1'))
    names = [name for part in parts for name in part.names]
    for name, *row in zip(names, result.tp, result.fp, result.precision, result.tp, result.f1):
        print('%-16s' % name + ''.join('%10.2f' % value for value in row))


def print_summary(result):
    columns = (result.tp, result.fp, result.precision, result.tp, result.f1)
    print('%-16s%10s%10s%10s%10s%10s' % ('%d frames' % len(result.tp), 'TP', 'FP', 'precision',
                                         'recall', 'F1'))
    for name, what in (('mean', np.mean), ('deviation', np.std)):
        print('%-16s' % name + ''.join('%10.2f' % what(column) for column in columns))


def main():
    parser = argparse.ArgumentParser(prog='road_eval.sh')
    parser.add_argument('source', metavar='FOLDER|offroad')
    parser.add_argument('--set', action='append', default=[], metavar='NAME=VALUE')
    parser.add_argument('--alone', action='store_true')
    parser.add_argument('--quiet', action='store_true')
    parser.add_argument('--plots', metavar='FOLDER')
    parser.add_argument('--tables', action='store_true')
    options = parser.parse_args()
    base = dict(pair.split('=', 1) for pair in options.set)
    with tempfile.TemporaryDirectory() as work:
        kind, *numbers = options.source.split(':')
        if kind == 'offroad':
            count, seed = (int(n) for n in (numbers + ['360', '1'][len(numbers):]))
            parts = [offroad(count, seed, count)]
        else:
            parts = from_folder(options.source, work)
        for part in parts:
            part.alone = part.alone or options.alone
        result, = run(parts, [base])
        if not options.quiet:
            print_frames(parts, result)
        print_summary(result)
        if options.tables or options.plots:
            import road_study
            road_study.study(parts, base, options.tables, options.plots)
    return 0


if __name__ == '__main__':
    sys.exit(main())
