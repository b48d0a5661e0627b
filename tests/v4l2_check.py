#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks what the guest of tests/v4l2.sh has written to a folder."""
import base64
import json
import os
import re
import sys

import numpy as np

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), name) for name in ('examples', 'tools')] + [TESTS]
import examples_check  # noqa: E402

FRAMES, PERIOD = 30, 100e6  # requested frames, ns
SKEW_MAX = PERIOD / 2 + 1e6  # of cudastereomux, ns
DISPARITY = 8.0  # px, from the principal points of the calibration file
DEPTH = 250 * 0.12 / DISPARITY  # m


def lines(folder, name):
    with open(os.path.join(folder, name)) as file:
        return [json.loads(line) for line in file]


def fail(text):
    sys.exit('v4l2: FAILED: %s' % text)


def check_pairs(folder):
    frames = lines(folder, 'pair.jsonl')
    if len(frames) != FRAMES:
        fail('%d pairs, expected %d' % (len(frames), FRAMES))
    skew = np.array([frame['pair']['skew'] for frame in frames])
    steps = np.diff([frame['timestamp'] for frame in frames])
    print('v4l2: %d pairs; skew %.2f ms median, %.2f ms maximum; %.1f pairs/s' % (
        len(frames), np.median(np.abs(skew)) / 1e6, np.abs(skew).max() / 1e6, 1e9 / steps.mean()))
    if np.abs(skew).max() > SKEW_MAX:
        fail('a skew is above %g ms' % (SKEW_MAX / 1e6))
    if (steps <= 0).any():
        fail('time stamps do not rise')
    camera = frames[0]['camera']
    if abs(camera['baseline'] - 0.12) > 1e-6 or abs(camera['focal'] - 250) > 1e-6:
        fail('the camera is not that of the calibration file: %s' % camera)
    examples_check.json_lines(os.path.join(folder, 'pair.jsonl'), str(FRAMES), 'pair', 'disparity', 'camera')


def check_depth(folder):
    frames = lines(folder, 'payload.jsonl')
    frame = frames[len(frames) // 2]
    raster = frame['disparity']['payload']
    values = np.frombuffer(base64.b64decode(raster['data']), '<u2').reshape(raster['height'], raster['width'])
    valid = values[values > 0] / frame['disparity']['scale']
    share, near = 100 * valid.size / values.size, 100 * np.mean(np.abs(valid - DISPARITY) < 0.5)
    print('v4l2: %.1f %% of the pixels have a disparity, %.1f %% of them %.1f px (%.2f m)' % (
        share, near, DISPARITY, DEPTH))
    if share < 10 or near < 90:
        fail('the disparity is not that of the calibration file')


def check_drops(folder):
    frames = lines(folder, 'drops.jsonl')
    steps = np.diff([frame['timestamp'] for frame in frames]) / PERIOD
    print('v4l2: with drops of one camera: %d pairs, %.2f frames apart on average' % (len(frames), steps.mean()))
    if len(frames) != 20 or steps.mean() < 1.2:
        fail('%d pairs, %.2f frames apart: no frame was dropped' % (len(frames), steps.mean()))
    if max(abs(frame['pair']['skew']) for frame in frames) > SKEW_MAX:
        fail('frames of different moments were paired')


def check_recordings(folder, log):
    examples_check.video(os.path.join(folder, 'pair.mkv'), str(FRAMES), '320x180')
    sidecar = lines(folder, 'unplug.jsonl')
    examples_check.video(os.path.join(folder, 'unplug.mkv'), '%d..%d' % (max(1, len(sidecar) - 1), len(sidecar)), 'any')
    if 'unplugged at' not in log or 'record: video1: Could not read from resource' not in log:
        fail('the unplugged camera was not noticed:\n' + log)
    said = re.search(r'record.sh ends with (\d+)', log)
    print('v4l2: unplugged: %d frames are recorded and play, record.sh ends with %s' % (len(sidecar), said[1]))


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, 'guest.log')) as file:
        log = file.read()
    with open(os.path.join(folder, 'status')) as file:
        status = int(file.read())
    if status or '=== end' not in log:
        print(log)
        fail('the guest ended with status %d' % status)
    check_pairs(folder)
    check_depth(folder)
    check_drops(folder)
    check_recordings(folder, log)
    print('v4l2: success')


if __name__ == '__main__':
    main()
