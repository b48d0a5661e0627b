# SPDX-License-Identifier: MIT
"""The camera of rectified data sets: focal length, center and baseline from the calibration file next to them."""
import json
import os
import re

NAMES = ('calib.txt', 'calib_cam_to_cam.txt')


def find(top, left, sample):
    """{'focal', 'baseline', 'cx', 'cy'} for the images of the folder `left`, or {}; sample: stem of one of them."""
    folder = os.path.join(top, left)
    number = 2 if re.search(r'(image_0?2|colored_0)(/|$)', left) else 0
    while True:
        for name in NAMES + ('calib/%s.txt' % sample, 'calib/%s.txt' % sample.split('_')[0]):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                camera = read(path, number)
                if camera:
                    return camera
        if os.path.abspath(folder) == os.path.abspath(top):
            return {}
        folder = os.path.dirname(folder)


def numbers(text):
    return [float(word) for word in re.findall(r'[-+]?\d[-+.\deE]*', text)]


def read(path, number):
    """KITTI (P0: ... P3:, P_rect_02), its odometry extract of two lines, Middlebury and ETH3D."""
    try:
        with open(path) as file:
            text = file.read(65536)
        matrices = {}
        for line in text.splitlines():
            key, _, rest = line.rpartition(':') if ':' in line else line.rpartition('=')
            values = numbers(rest)
            if len(values) == 12:
                matrices[key.strip() or len(matrices)] = values
            elif key.strip() == 'cam0' and len(values) == 9:
                return middlebury(text, values)
        for left, right in (('P%d' % number, 'P%d' % (number + 1)),
                            ('P_rect_%02d' % number, 'P_rect_%02d' % (number + 1)), (0, 1)):
            if left in matrices and right in matrices:
                a, b = matrices[left], matrices[right]
                return {'focal': a[0], 'baseline': (a[3] - b[3]) / a[0], 'cx': a[2], 'cy': a[6]}
    except (OSError, ValueError, UnicodeDecodeError, ZeroDivisionError):
        pass
    return {}


def middlebury(text, matrix):
    baseline = re.search(r'^baseline\s*=\s*([\d.]+)', text, re.M)
    if not baseline:
        return {}
    return {'focal': matrix[0], 'baseline': float(baseline[1]) / 1000, 'cx': matrix[2], 'cy': matrix[5]}


def of_recording(path):
    """(annotations of each frame from the sidecar that roadvision record writes, calibration file or None)."""
    base = os.path.splitext(path)[0]
    folder, name = os.path.split(base)
    calibration = next((os.path.join(folder, other) for other in sorted(os.listdir(folder or '.'))
                        if other.startswith(name + '-calibration.')), None)
    frames = {}
    if os.path.exists(base + '.jsonl'):
        with open(base + '.jsonl') as file:
            for line in file:
                try:
                    frame = json.loads(line)
                    frames[frame['seq']] = frame
                except (ValueError, KeyError):  # the last line of a recording that was cut off
                    continue
    return frames, calibration
