# SPDX-License-Identifier: MIT
"""The height of the camera above the ground that stixels use and that RvGroundMeta has: the judging
half of `quality.sh ground`."""
import json
import os

import cv2
import numpy as np

import quality_stixels

STREET = 3.0  # median error of the height, %
KITTI = 5.0
KITTI_HEIGHT = 1.65  # m, of the recording platform
KITTI_PAIRS = ('kitti15_000000_10', 'kitti12_000001_10', 'kitti12_000070_10')
SIZES = {(640, 480): 6, (1242, 375): 6, (1920, 1080): 2}  # frames; seeds from 11 on: others tuned
MODELS = {'8x8': 'stixel-width=8 vertical-step=8', '4x4': 'stixel-width=4 vertical-step=4'}


def height_of(slope_x, slope_y, intercept, camera):
    """Of the camera above the plane d = slope_x u + slope_y v + intercept, m."""
    forward = (intercept + camera['doffs'] + slope_x * camera['cx'] + slope_y * camera['cy'])
    return camera['baseline'] / np.sqrt(slope_x ** 2 + slope_y ** 2 +
                                        (forward / camera['focal']) ** 2)


def heights(source, frames, camera=None):
    """Per frame: the camera, the height of RvGroundMeta, and that of the stixels by model. Their
    line is the plane at the center column."""
    others, taken, _times = quality_stixels.stixels_of(source, MODELS, frames)
    for index, annotations in enumerate(others):
        rig = camera or annotations['RvCameraMeta']
        ground = annotations.get('RvGroundMeta')
        if ground is None:
            raise SystemExit('quality: a frame has no ground')
        center = (annotations['RvDisparityMeta']['width'] - 1) / 2
        found = {'ground': height_of(ground['ground-slope-x'], ground['ground-slope-y'],
                                     ground['ground-intercept'], rig)}
        for name, metas in taken.items():
            tilt = ground['ground-slope-x']
            found['stixels ' + name] = height_of(
                tilt, metas[index]['ground-slope'],
                metas[index]['ground-intercept'] - tilt * center, rig)
        yield rig, found


def judge(title, errors, limit, checks):
    """errors: of one frame by name, %."""
    for name in errors[0]:
        values = [error[name] for error in errors]
        print('%-34s %-12s median %6.2f %%, worst %6.2f %%' % (
            title, name, np.median(values), max(values)), flush=True)
        checks.append(('%s, %s: median error of the camera height at most %.0f %%'
                       % (title, name, limit), float(np.median(values)),
                       np.median(values) <= limit))


def ground(verdict, folder=None):
    checks = []
    for (width, height), frames in SIZES.items():
        errors = []
        for seed in (11, 12):
            source = ('stereotestsrc seed=%d num-buffers=%d ! video/x-raw,format=NV12,width=%d,'
                      'height=%d,framerate=1/2 ! cudasgm' % (seed, frames // 2, 2 * width, height))
            for camera, found in heights(source, frames // 2):
                errors.append({name: 100 * abs(value / camera['camera-height'] - 1)
                               for name, value in found.items()})
        judge('street %dx%d, %d frames' % (width, height, frames), errors, STREET, checks)
    if folder:
        with open(os.path.join(folder, 'manifest.json')) as file:
            pairs = {pair['name']: pair for pair in json.load(file)['pairs']}
        errors = []
        for name in KITTI_PAIRS:
            pair = pairs[name]
            left, right = (os.path.join(folder, pair[side]) for side in ('left', 'right'))
            rows, columns = cv2.imread(left).shape[:2]
            calib = pair['calib']
            camera = {'focal': calib['fx'], 'cx': calib['cx'], 'cy': calib['cy'], 'doffs': 0,
                      'baseline': calib['baseline_m']}
            sgm = 'focal-length=%(focal)g cx=%(cx)g cy=%(cy)g baseline=%(baseline)g' % camera
            source = quality_stixels.pair_source(left, right, columns, rows, sgm)
            for _camera, found in heights(source, 1, camera):
                errors.append({key: 100 * abs(value / KITTI_HEIGHT - 1)
                               for key, value in found.items()})
        judge('KITTI, %d frames' % len(errors), errors, KITTI, checks)
    return verdict(checks)
