# SPDX-License-Identifier: MIT
"""How well road detection does: the judging half of `quality.sh road` and `quality.sh offroad`.
Every mask is scored by score.py."""
import os
import sys
import tempfile

import cv2
import numpy as np

import score

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))
import road_eval

ROUGHNESS = 6e-5  # m2: the default
KITTI_F1, KITTI_MEAN, KITTI_F1_NEAR = 88, 88, 86
NEAR = (0.7, 1.4)  # times the default roughness
# Percent over all frames of the dirt track: mean TP and FP, their deviations; and the F1 that a
# fixed color must not reach.
TP, FP, TP_DEVIATION, FP_DEVIATION = 85, 5, 11.2, 3.7
FIXED_F1 = 70
# Least F1 with memory, and least points above learning each frame alone.
DRIVES = {'mud': (87, -0.5), 'shadow': (88.5, 4), 'vehicle': (81, 27)}
FIXED_FRAMES = 45  # that stand for all of the way


def scores(parts, settings):
    """score_road of each frame, for each setting."""
    found = [[] for _ in settings]
    with tempfile.TemporaryDirectory() as work:
        for part in parts:
            width, height = part.size
            files = {name: os.path.join(work, name) for name in ('truths', 'masks')}
            road_eval.run([part], settings, **files)
            truths, masks = (np.memmap(files[name], np.uint8, 'r') for name in ('truths', 'masks'))
            truths = truths.reshape(-1, height, width)
            masks = masks.reshape(len(settings), -1, height, width)
            for index in range(len(settings)):
                for mask, truth in zip(masks[index], truths):
                    labelled = np.where((truth == 0) | (truth == 255), 255, 0).astype(np.uint8)
                    road = np.where(truth == 255, 255, 0).astype(np.uint8)
                    found[index].append(score.score_road(
                        mask > 0, np.dstack([road, np.zeros_like(road), labelled])))
    return found


def kitti(folder, verdict):
    with tempfile.TemporaryDirectory() as work:
        parts = road_eval.from_folder(os.path.join(folder, 'kitti_road'), work)
        names = [name for part in parts for name in part.names]
        factors = (1.0,) + NEAR
        rows = scores(parts, [{'roughness': ROUGHNESS * factor} for factor in factors])
        default, = scores(parts, [{}])
    if default != rows[0]:
        raise SystemExit('quality: the default roughness is not %g' % ROUGHNESS)
    print('%-26s' % 'KITTI road, F1' + ''.join('%12s' % name for name in names))
    for factor, row in zip(factors, rows):
        print('%-26s' % ('roughness x %.1f' % factor) + ''.join('%12.2f' % s['F1'] for s in row))
    least, mean = min(s['F1'] for s in rows[0]), float(np.mean([s['F1'] for s in rows[0]]))
    near = min(s['F1'] for row in rows for s in row)
    return verdict([
        ('F1 of each frame at least %d' % KITTI_F1, least, least >= KITTI_F1),
        ('mean F1 at least %d' % KITTI_MEAN, mean, mean >= KITTI_MEAN),
        ('F1 at least %d for %.1f to %.1f times the default roughness' % ((KITTI_F1_NEAR,) + NEAR),
         near, near >= KITTI_F1_NEAR)])


# --- Memory ---------------------------------------------------------------------------------------

DRIVE_FRAMES, DRIVE_SEED = 40, 2  # 32 m; a seed on which nothing was chosen


def memory(verdict):
    """Drives on which the near ground of a frame does not show all colors of the road, or none."""
    checks = []
    print('%-12s%16s%10s%16s%10s%10s' % ('drive', 'each frame alone', 'TP dev.', 'with memory',
                                         'TP dev.', 'gain'))
    for event, (least, more) in DRIVES.items():
        alone, ours = road_eval.run([road_eval.drive(event, DRIVE_FRAMES, DRIVE_SEED)],
                                    [{'alone': 1}, {}])
        gain = ours.f1.mean() - alone.f1.mean()
        print('%-12s%16.2f%10.2f%16.2f%10.2f%+10.2f' % (event, alone.f1.mean(), alone.tp.std(),
                                                       ours.f1.mean(), ours.tp.std(), gain), flush=True)
        checks += [('%s: F1 with memory at least %g' % (event, least), ours.f1.mean(),
                    ours.f1.mean() >= least),
                   ('%s: at least %g points above each frame alone' % (event, more), gain,
                    gain >= more)]
    return verdict(checks)


# --- What a fixed color would do -----------------------------------------------------------------

def best_interval(road, other):
    """Best F1, percent, of `low <= value <= high`; road, other: pixels by value."""
    hit = np.concatenate([[0], np.cumsum(road)])
    extra = np.concatenate([[0], np.cumsum(other)])
    hits = hit[None, :] - hit[:, None]
    extras = extra[None, :] - extra[:, None]
    f1 = np.where(hits > 0, 200.0 * hits / np.maximum(1, hits + extras + hit[-1]), 0)
    return float(np.triu(f1).max())


def best_box(road, other):
    """Best F1 of a box in the plane of two channels; road, other: pixels by both values."""
    best, total = 0.0, road.sum()
    for top in range(road.shape[0]):
        hits, extras = np.zeros(road.shape[1]), np.zeros(road.shape[1])
        for bottom in range(top, road.shape[0]):
            hits, extras = hits + road[bottom], extras + other[bottom]
            hit, extra = (np.concatenate([[0], np.cumsum(v)]) for v in (hits, extras))
            inside = hit[None, :] - hit[:, None]
            f1 = 200.0 * inside / np.maximum(1, inside + (extra[None, :] - extra[:, None]) + total)
            best = max(best, float(np.triu(f1).max()))
    return best


def fixed_colors(path, width, height):
    """F1 over all frames together of the best interval of each channel and of the best boxes, found
    with the truth of these very frames: no fixed color chosen beforehand can do better."""
    single, double = {}, {}
    for picture, truth in road_eval.frames_of(path, width, height):
        road, bgr = truth.ravel() == 255, np.ascontiguousarray(picture)
        planes = dict(zip('BGR', cv2.split(bgr)))
        planes.update(zip('HSV', cv2.split(cv2.cvtColor(bgr, cv2.COLOR_BGR2HSV))))
        planes.update(zip(('L', 'a', 'b'), cv2.split(cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB))))
        planes = {name: plane.ravel() for name, plane in planes.items()}
        for name, plane in planes.items():
            for k, part in enumerate((plane[road], plane[~road])):
                single.setdefault(name, np.zeros((2, 256)))[k] += np.bincount(part, minlength=256)
        for one, two in (('H', 'S'), ('a', 'b'), ('S', 'V')):
            both = planes[one].astype(int) // 4 * 64 + planes[two] // 4
            for k, part in enumerate((both[road], both[~road])):
                double.setdefault(one + two, np.zeros((2, 64, 64)))[k] += \
                    np.bincount(part, minlength=4096).reshape(64, 64)
    found = {name: best_interval(*counts) for name, counts in single.items()}
    found.update({name: best_box(*counts) for name, counts in double.items()})
    return found


def offroad(verdict, frames='360'):
    """frames: fewer stand for the same way, spaced wider."""
    part = road_eval.offroad(int(frames))
    rows, = scores([part], [{}])
    tp, fp, f1 = (np.array([row[name] for row in rows]) for name in ('recall', 'FPR', 'F1'))
    print('offroad, %d frames: TP %.2f (%.2f), FP %.2f (%.2f), F1 %.2f'
          % (len(rows), tp.mean(), tp.std(), fp.mean(), fp.std(), f1.mean()), flush=True)
    with tempfile.TemporaryDirectory() as work:
        few = road_eval.offroad(FIXED_FRAMES)
        path = os.path.join(work, 'frames')
        ours, = road_eval.run([few], [{}], save=path)
        fixed = fixed_colors(path, *few.size)
    best = max(fixed.values())
    print('the best fixed colors, F1 over %d frames: ' % FIXED_FRAMES
          + ', '.join('%s %.1f' % pair for pair in fixed.items())
          + '; road detection on them %.1f' % ours.f1.mean())
    return verdict([
        ('mean TP at least %g %%' % TP, tp.mean(), tp.mean() >= TP),
        ('mean FP at most %g %%' % FP, fp.mean(), fp.mean() <= FP),
        ('deviation of TP below %g' % TP_DEVIATION, tp.std(), tp.std() < TP_DEVIATION),
        ('deviation of FP below %g' % FP_DEVIATION, fp.std(), fp.std() < FP_DEVIATION),
        ('F1 of the best fixed color below %d' % FIXED_F1, best, best < FIXED_F1)])
