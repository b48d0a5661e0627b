#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares cuda/rectify with OpenCV, value by value.

    rectify_opencv_test.py RECTIFY_TOOL CORPUS

Maps must be those of initUndistortRectifyMap (CV_16SC2) for the same cameras, remapped noise that of
remap with these maps, rectified cameras those of stereoRectify. Random cameras of every lens model,
and with RV_DATA the calibration files there. Exit status 77 without OpenCV."""

import json
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f'rectify_opencv_test: skipped: {error}')
    sys.exit(77)

TOOL, CORPUS = sys.argv[1], sys.argv[2]
OUTSIDE = -2**31
SEED = 7
failures = []
checks = 0


def check(condition, text):
    global checks
    checks += 1
    if not condition:
        failures.append(text)
        print('FAIL', text)


def tool(*args):
    done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'{args}: {done.stderr.strip()}')
    return done.stdout


def matrix(k):
    return np.array([[k[0], 0, k[2]], [0, k[1], k[3]], [0, 0, 1]])


class Camera:
    """A calibration file, its options, and what the library makes of it."""

    def __init__(self, path, size, *options):
        self.path, self.size, self.fisheye = path, size, 'lens=1' in options
        self.options = [f'in-width={size[0]}', f'in-height={size[1]}', *options]
        self.facts = json.loads(tool('geometry', path, *self.options))

    def opencv_maps(self, view):
        facts, n = self.facts, view + 1
        k, r = matrix(facts[f'K{n}']), np.array(facts[f'R{n}']).reshape(3, 3)
        p = np.array(facts[f'P{n}']).reshape(3, 4)[:, :3]
        out = (facts['width'], facts['height'])
        d = np.array(facts[f'D{n}'])
        if self.fisheye:
            return cv2.fisheye.initUndistortRectifyMap(k, d[:4], r, p, out, cv2.CV_16SC2)
        return cv2.initUndistortRectifyMap(k, d, r, p, out, cv2.CV_16SC2)


def check_maps(name, camera, folder):
    """U, V of every pixel; outside means that OpenCV's four samples are outside too."""
    path = f'{folder}/maps'
    tool('maps', camera.path, path, *camera.options)
    w, h = camera.facts['width'], camera.facts['height']
    ours = np.fromfile(path, np.int32).reshape(2, h, w, 2)
    for view in range(2):
        m1, m2 = camera.opencv_maps(view)
        x, y = m1[..., 0].astype(int), m1[..., 1].astype(int)
        u, v = 32 * x + (m2 & 31), 32 * y + (m2 >> 5)
        outside = ours[view, ..., 0] == OUTSIDE
        differ = (~outside) & ((ours[view, ..., 0] != u) | (ours[view, ..., 1] != v))
        visible = (x >= -1) & (y >= -1) & (x < camera.size[0]) & (y < camera.size[1])
        check(differ.sum() == 0, f'{name} view {view}: {differ.sum()} of {w * h} map entries differ')
        check((outside & visible).sum() == 0,
              f'{name} view {view}: {(outside & visible).sum()} entries are outside wrongly')


FORMATS = {'GRAY8': 1, 'BGR': 3, 'BGRA': 4}


def check_remap(name, camera, folder, random):
    w, h = camera.size
    out = camera.facts['width'], camera.facts['height']
    for name_of_format, channels in FORMATS.items():
        shape = (h, w) if channels == 1 else (h, w, channels)
        views = [random.integers(0, 256, shape, np.uint8) for _ in range(2)]
        np.concatenate(views, 1).tofile(f'{folder}/in')
        tool('remap', camera.path, f'{folder}/in', f'{folder}/out', f'format={name_of_format}',
             *camera.options)
        ours = np.fromfile(f'{folder}/out', np.uint8).reshape(out[1], 2 * out[0], -1)
        for view in range(2):
            m1, m2 = camera.opencv_maps(view)
            theirs = cv2.remap(views[view], m1, m2, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
            part = ours[:, view * out[0]:(view + 1) * out[0]].reshape(theirs.shape)
            count = int((part != theirs).sum())
            check(count == 0, f'{name} {name_of_format} view {view}: {count} values differ')


def check_geometry(name, camera, pose, alphas):
    """Rectified cameras of a pose against stereoRectify; its alpha is that of version 5."""
    k = [matrix(camera.facts[f'K{n}']) for n in (1, 2)]
    d = [np.array(camera.facts[f'D{n}']) for n in (1, 2)]
    for alpha in alphas:
        facts = json.loads(tool('geometry', camera.path, *camera.options, f'alpha={alpha}'))
        r1, r2, p1, p2, *_ = cv2.stereoRectify(k[0], d[0], k[1], d[1], camera.size, *pose,
                                               alpha=alpha)
        for key, theirs in (('R1', r1), ('R2', r2)):
            worst = np.abs(np.array(facts[key]) - theirs.ravel()).max()
            check(worst < 1e-9, f'{name} alpha {alpha}: {key} differs by {worst:.2g}')
        version = int(cv2.__version__.split('.')[0])
        allowed = 1e-3 if alpha < 0 else 2e-3 if version >= 5 else 5e-3 * p1[0, 0]
        for key, theirs in (('P1', p1), ('P2', p2)):
            worst = np.abs(np.array(facts[key]) - theirs.ravel()).max()
            check(worst < allowed, f'{name} alpha {alpha}: {key} differs by {worst:.2g} px')


def write_camera(path, size, k, d, pose):
    storage = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE)
    storage.write('image_width', size[0])
    storage.write('image_height', size[1])
    for n in range(2):
        storage.write(f'M{n + 1}', k[n])
        storage.write(f'D{n + 1}', d[n])
    storage.write('R', pose[0])
    storage.write('T', pose[1])
    storage.release()


SCALES = [0.3, 0.1, 1e-3, 1e-3, 0.02, 0.2, 0.05, 0.01, 2e-3, 1e-3, 2e-3, 1e-3, 0.03, 0.03]


def random_camera(path, size, count, random, fisheye=False):
    w, h = size
    k, d = [], []
    for _ in range(2):
        f = w * random.uniform(0.3, 0.5) if fisheye else w * random.uniform(0.6, 1.2)
        k.append(matrix([f, f * random.uniform(0.99, 1.01), w * random.uniform(0.46, 0.54),
                         h * random.uniform(0.46, 0.54)]))
        scales = [0.05, 0.02, 0.01, 0.005] if fisheye else SCALES[:count]
        d.append(np.array([[s * random.uniform(-1, 1) for s in scales]]))
    rotation = cv2.Rodrigues(random.uniform(-0.04, 0.04, 3))[0]
    pose = rotation, np.array([[random.uniform(-0.6, -0.1)], [random.uniform(-0.02, 0.02)],
                               [random.uniform(-0.02, 0.02)]])
    write_camera(path, size, k, d, pose)
    return pose


def main():
    random = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        for n, (count, size) in enumerate(((4, (640, 480)), (5, (1242, 375)), (8, (641, 479)),
                                           (12, (320, 240)), (14, (800, 600)))):
            name = f'{count} coefficients'
            path = f'{folder}/{n}.yml'
            pose = random_camera(path, size, count, random)
            for alpha in (-1, 0, 1):
                camera = Camera(path, size, f'alpha={alpha}', 'lens=0')
                check_maps(f'{name} alpha {alpha}', camera, folder)
                check_remap(f'{name} alpha {alpha}', camera, folder, random)
            check_geometry(name, Camera(path, size, 'lens=0'), pose, (-1, 0, 0.4, 1))
        for n in range(2):
            path = f'{folder}/fisheye.yml'
            random_camera(path, (848, 800), 4, random, True)
            camera = Camera(path, (848, 800), 'lens=1', f'fov-scale={1 + n}')
            check_maps(f'fisheye {n}', camera, folder)
            check_remap(f'fisheye {n}', camera, folder, random)
        data = os.environ.get('RV_DATA')
        paths = [(f'{CORPUS}/opencv.yml', (640, 480)), (f'{CORPUS}/plain.yaml', (640, 480))]
        if data:
            paths += [(f'{data}/calib_opencv/expected_stereo.yml', (640, 480)),
                      (f'{data}/calib_files/rellis_nerian_camera_info.yaml', (800, 592))]
        for path, size in paths:
            camera = Camera(path, size)
            check_maps(os.path.basename(path), camera, folder)
            check_remap(os.path.basename(path), camera, folder, random)
    print(f'rectify_opencv_test: OpenCV {cv2.__version__}: {checks} checks, {len(failures)} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
