#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Scores a disparity map or a road mask against truth.

  score.py disparity ESTIMATE TRUTH [--estimate-as FORMAT] [--truth-as FORMAT] [--region MASK.png]
  score.py road MASK.png TRUTH.png

FORMAT says how the file holds disparities:
  kitti       16-bit PNG, 1/256 px, 0 = none (default)
  u8:S u16:S  PNG, 1/S px, 0 = none
  raw:WxH:S   16-bit little-endian rows padded to 4 bytes (GRAY16_LE as GStreamer lays it out), 1/S px
  pfm         float px, not finite = none

All scores are percent of the pixels that have truth (inside the region, if one is given):
  D1    error over 3 px and over 5 % of the truth (KITTI 2015)
  badN  error over N px
Each is given three times, by what happens to pixels without an estimate:
  est     they are omitted; read it together with density, the share of pixels with an estimate
  strict  they count as wrong
  fill    they are filled from the background as KITTI does, then count like the others
"""
import argparse
import json
import re
import sys

import cv2
import numpy as np

BAD_PX = (0.5, 1, 2, 3, 4)


def read_disparity(path, layout):
    """float32, px, NaN where invalid."""
    kind, *rest = layout.split(':')
    if kind == 'pfm':
        return _read_pfm(path)
    if kind == 'raw':
        width, height = (int(n) for n in rest[0].split('x'))
        return read_raw(path, width, height, float(rest[1]))
    if kind == 'kitti':
        kind, rest = 'u16', ['256']
    types = {'u8': np.uint8, 'u16': np.uint16}
    if kind not in types:
        raise SystemExit('score: no such format: %s' % layout)
    stored = _read_image(path, cv2.IMREAD_UNCHANGED)
    if stored.ndim == 3:
        stored = stored[:, :, 0]
    if stored.dtype != types[kind]:
        raise SystemExit('score: %s holds %s, not %s' % (path, stored.dtype, kind))
    return to_px(stored, float(rest[0]) if rest else 1.0)


def to_px(stored, scale):
    """Integers with 0 = none -> float32 px with NaN = none."""
    return np.where(stored > 0, stored.astype(np.float32) / scale, np.float32(np.nan))


def read_raw(path, width, height, scale, frame=0):
    """One frame of a file of GRAY16_LE frames."""
    stride = (2 * width + 3) & ~3
    data = np.fromfile(path, np.uint8)
    if data.size % (stride * height) or data.size < (frame + 1) * stride * height:
        raise SystemExit('score: %s has %d bytes, frames of %dx%d take %d each'
                         % (path, data.size, width, height, stride * height))
    rows = data.reshape(-1, height, stride)[frame, :, :2 * width]
    return to_px(np.ascontiguousarray(rows).view('<u2'), scale)


def _read_pfm(path):
    with open(path, 'rb') as file:
        channels = {b'Pf': 1, b'PF': 3}.get(file.readline().strip())
        size = re.findall(rb'\d+', file.readline())
        scale = float(file.readline())
        values = np.frombuffer(file.read(), '<f4' if scale < 0 else '>f4')
    if channels is None or len(size) != 2:
        raise SystemExit('score: %s is not a PFM file' % path)
    rows = values.reshape(int(size[1]), int(size[0]), channels)[::-1, :, 0]  # bottom row first
    return np.where(np.isfinite(rows), rows, np.float32(np.nan)).astype(np.float32)


def _read_image(path, flag):
    picture = cv2.imread(path, flag)
    if picture is None:
        raise SystemExit('score: cannot read %s' % path)
    return picture


def fill(disparity):
    """KITTI's background filling: inside a row a hole takes the smaller of its two neighbors, at
    the ends of a row the only neighbor; rows above the first and below the last row that has values
    are copies of those. A row without values between such rows stays empty."""
    height, width = disparity.shape
    known = ~np.isnan(disparity)
    index = np.arange(width)
    before = np.maximum.accumulate(np.where(known, index, -1), axis=1)
    after = np.minimum.accumulate(np.where(known, index, width)[:, ::-1], axis=1)[:, ::-1]
    row = np.arange(height)[:, None]
    left = np.where(before >= 0, disparity[row, np.maximum(before, 0)], np.nan)
    right = np.where(after < width, disparity[row, np.minimum(after, width - 1)], np.nan)
    filled = np.fmin(left, right)  # the other one where one is NaN; the value itself where known
    some = np.flatnonzero(known.any(axis=1))
    if some.size:
        filled[:some[0]] = filled[some[0]]
        filled[some[-1] + 1:] = filled[some[-1]]
    return filled


def score_disparity(estimate, truth, region=None):
    """Dictionary of the scores above. Both maps in px with NaN = none; region: bool or None."""
    if estimate.shape != truth.shape:
        raise SystemExit('score: the estimate is %dx%d, the truth %dx%d'
                         % (estimate.shape[::-1] + truth.shape[::-1]))
    asked = ~np.isnan(truth)
    if region is not None:
        asked &= region
    total = int(asked.sum())
    if total == 0:
        raise SystemExit('score: no truth in the region')
    real = truth[asked].astype(np.float64)
    raw = estimate[asked].astype(np.float64)
    there = ~np.isnan(raw)
    scores = {'pixels': total, 'density': 100.0 * int(there.sum()) / total}
    for name, wrong in _wrong(raw[there], real[there]).items():
        count = int(wrong.sum())
        scores[name + '_est'] = 100.0 * count / max(1, int(there.sum()))
        scores[name + '_strict'] = 100.0 * (count + total - int(there.sum())) / total
    full = fill(estimate)[asked].astype(np.float64)
    holes = np.isnan(full)
    for name, wrong in _wrong(full[~holes], real[~holes]).items():
        scores[name + '_fill'] = 100.0 * (int(wrong.sum()) + int(holes.sum())) / total
    error = np.abs(raw[there] - real[there])
    scores['mean_est'] = float(error.mean()) if error.size else float('nan')
    scores['median_est'] = float(np.median(error)) if error.size else float('nan')
    return scores


def _wrong(estimate, truth):
    """Which values are wrong, by the name of the rule."""
    error = np.abs(estimate - truth)
    rules = {'bad%g' % px: error > px for px in BAD_PX}
    rules['D1'] = (error > 3) & (error > 0.05 * truth)
    return rules


def score_road(mask, truth):
    """mask: bool. truth: a KITTI road image as BGR: red where labeled, blue where road."""
    if mask.shape != truth.shape[:2]:
        raise SystemExit('score: the mask is %dx%d, the truth %dx%d'
                         % (mask.shape[::-1] + truth.shape[1::-1]))
    labelled = truth[:, :, 2] > 0
    road = truth[:, :, 0] > 0
    hit = int((mask & road & labelled).sum())
    extra = int((mask & ~road & labelled).sum())
    missed = int((~mask & road & labelled).sum())
    clear = int((~mask & ~road & labelled).sum())
    return {
        'F1': 100.0 * 2 * hit / max(1, 2 * hit + extra + missed),
        'precision': 100.0 * hit / max(1, hit + extra),
        'recall': 100.0 * hit / max(1, hit + missed),
        'IoU': 100.0 * hit / max(1, hit + extra + missed),
        'FPR': 100.0 * extra / max(1, extra + clear),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    command = commands.add_parser('disparity')
    command.add_argument('estimate')
    command.add_argument('truth')
    command.add_argument('--estimate-as', default='kitti', metavar='FORMAT')
    command.add_argument('--truth-as', default='kitti', metavar='FORMAT')
    command.add_argument('--region', metavar='MASK.png', help='only where the mask is 255')
    command = commands.add_parser('road')
    command.add_argument('mask')
    command.add_argument('truth')
    options = parser.parse_args()
    if options.command == 'disparity':
        region = None
        if options.region:
            region = _read_image(options.region, cv2.IMREAD_GRAYSCALE) == 255
        scores = score_disparity(read_disparity(options.estimate, options.estimate_as),
                                 read_disparity(options.truth, options.truth_as), region)
    else:
        scores = score_road(_read_image(options.mask, cv2.IMREAD_GRAYSCALE) > 0,
                            _read_image(options.truth, cv2.IMREAD_COLOR))
    json.dump({name: round(value, 3) for name, value in scores.items()}, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
