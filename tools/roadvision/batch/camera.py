# SPDX-License-Identifier: MIT
"""The camera of rectified data sets: focal length, center and baseline from the calibration file next to them."""
import json
import os
import re

NAMES = ('calib.txt', 'calib_cam_to_cam.txt')  # of a sequence
# Of one pair, by the name of its results and the part that names KITTI's scene; at KITTI's stereo and road sets, Middlebury.
EACH = ('calib/%s.txt', 'calib_cam_to_cam/%s.txt', '%s_calib.txt')


def upwards(top, left):
    """The folder `left` and those above it, up to `top`."""
    folder = os.path.join(top, left)
    while True:
        yield folder
        if os.path.abspath(folder) == os.path.abspath(top) or os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def find(top, left, sample):
    """({'focal', 'baseline', 'cx', 'cy'[, 'doffs']} for the images of the folder `left`, or {}; whether each pair has
    a file of its own). sample: name of one of them."""
    for folder in upwards(top, left):
        for name in NAMES:
            path = os.path.join(folder, name)
            camera = read(path, number(left)) if os.path.isfile(path) else {}
            if camera:
                return camera, False
    path = path_of(top, left, sample)
    camera = read(path, number(left, 2)) if path else {}
    return camera, bool(camera)


def path_of(top, left, name):
    """The calibration file of one pair, or ''."""
    for folder in upwards(top, left):
        for stem in dict.fromkeys((name, name.split('_')[0])):
            for pattern in EACH:
                path = os.path.join(folder, pattern % stem)
                if os.path.isfile(path):
                    return path
    return ''


def of_pair(path, sequence, settings):
    """The camera of a file that path_of has found, or of none; options of the command come first."""
    return dict(read(path, number(sequence['left'], 2)) if path else {}, **given(settings))


def given(settings):
    return {key: settings[key] for key in ('focal', 'baseline') if settings[key]}


def number(left, unknown=0):
    """Of KITTI's left camera: 2 is the color one."""
    if re.search(r'(image_0?2|colored_0)(/|$)', left):
        return 2
    return 0 if re.search(r'image_0?0(/|$)', left) else unknown


def numbers(text):
    return [float(word) for word in re.findall(r'[-+]?\d[-+.\deE]*', text)]


def read(path, index):
    """The camera `index` of a file. KITTI (P0: ... P3:, P_rect_02), its odometry extract of two lines, Middlebury and ETH3D."""
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
        for left, right in (('P%d' % index, 'P%d' % (index + 1)),
                            ('P_rect_%02d' % index, 'P_rect_%02d' % (index + 1)), (0, 1)):
            if left in matrices and right in matrices:
                a, b = matrices[left], matrices[right]
                return {'focal': a[0], 'baseline': (a[3] - b[3]) / a[0], 'cx': a[2], 'cy': a[6]}
    except (OSError, ValueError, UnicodeDecodeError, ZeroDivisionError):
        pass
    return {}


def middlebury(text, matrix):
    found = {key: float(value) for key, value in re.findall(r'^\s*(baseline|doffs)\s*=\s*(-?[\d.]+)', text, re.M)}
    if 'baseline' not in found:
        return {}
    camera = {'focal': matrix[0], 'baseline': found['baseline'] / 1000, 'cx': matrix[2], 'cy': matrix[5]}
    return dict(camera, doffs=found['doffs']) if found.get('doffs') else camera


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
