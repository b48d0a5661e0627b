# SPDX-License-Identifier: MIT
"""The judging half of quality.sh: tables, limits, and OpenCV on the same pairs."""
import json
import os
import sys

import cv2
import numpy as np

import helpers
import quality_depth
import quality_ground
import quality_lanes
import quality_obstacles
import quality_road
import quality_stixels
import score

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', name) for name in ('examples', 'tools')]

# The limits: mean over the KITTI pairs, and the mean over the frames of the street, percent.
KITTI_D1_FILL = 5.43
KITTI_D1_EST = 2.15
KITTI_DENSITY = 89
STREET_BAD3 = 2.07
STREET_OPENCV = (4.0, 12.0)  # a street that OpenCV finds easier or harder would prove little

KITTI_PAIRS = ('kitti15_000000_10', 'kitti12_000001_10', 'kitti12_000070_10')
STREET_FRAMES = 8
STREET_SIZE = (640, 480)  # px of one view
SCALE = 16
COLUMNS = ('density', 'D1_est', 'D1_strict', 'D1_fill', 'bad3_est', 'bad3_strict', 'bad3_fill',
           'mean_est')


def opencv_settings():
    modes = {'SGBM': cv2.STEREO_SGBM_MODE_SGBM, 'HH': cv2.STEREO_SGBM_MODE_HH,
             '3WAY': cv2.STEREO_SGBM_MODE_SGBM_3WAY}
    return [('%s/%d' % (name, block), mode, block)
            for block in (3, 5, 7, 9) for name, mode in modes.items()]


def opencv(left, right, disparities, mode, block):
    """OpenCV's matcher as its manual advises for color; the pair is widened on the left, since it
    gives nothing for the first `disparities` columns."""
    cells = left.shape[2] * block * block
    matcher = cv2.StereoSGBM_create(
        minDisparity=0, numDisparities=disparities, blockSize=block, P1=8 * cells, P2=32 * cells,
        disp12MaxDiff=1, preFilterCap=63, uniquenessRatio=10, speckleWindowSize=100,
        speckleRange=2, mode=mode)
    wide = [cv2.copyMakeBorder(eye, 0, 0, disparities, 0, cv2.BORDER_REPLICATE)
            for eye in (left, right)]
    return score.to_px(matcher.compute(*wide)[:, disparities:], 16.0)


def mean(rows):
    return {name: float(np.mean([row[name] for row in rows])) for name in COLUMNS}


def print_head(first):
    print('%-30s' % first + ''.join('%12s' % name for name in COLUMNS))


def print_row(name, row):
    print('%-30s' % name + ''.join('%12.2f' % row[column] for column in COLUMNS), flush=True)


def best_opencv(pairs, disparities, by):
    """Means of the setting whose mean `by` is smallest. pairs: (left, right, truth, region)."""
    found = []
    for name, mode, block in opencv_settings():
        rows = [score.score_disparity(opencv(left, right, disparities, mode, block), truth, region)
                for left, right, truth, region in pairs]
        found.append((mean(rows)[by], 'OpenCV %s' % name, mean(rows)))
    _value, name, row = min(found)
    return name, row


def verdict(checks):
    """checks: (text, value, holds). Prints each and gives the exit status."""
    for text, value, holds in checks:
        print('%s: %s, measured %.2f' % ('ok' if holds else 'FAILED', text, value))
    return 0 if all(holds for _text, _value, holds in checks) else 1


# --- KITTI ----------------------------------------------------------------------------------------

def kitti_pairs(folder):
    with open(os.path.join(folder, 'manifest.json')) as file:
        pairs = {pair['name']: pair for pair in json.load(file)['pairs']}
    missing = [name for name in KITTI_PAIRS if name not in pairs]
    if missing:
        raise SystemExit('quality: the manifest lacks %s' % ', '.join(missing))
    return [pairs[name] for name in KITTI_PAIRS]


def print_pairs(folder):
    """Lines of name, left, right, width, height, with tabs between them."""
    for pair in kitti_pairs(folder):
        left, right = (os.path.join(folder, pair[side]) for side in ('left', 'right'))
        height, width = cv2.imread(left).shape[:2]
        print('%s\t%s\t%s\t%d\t%d' % (pair['name'], left, right, width, height))
    return 0


def kitti(folder, results):
    rows, pairs = [], []
    print_head('KITTI, cudasgm, all truth')
    for pair in kitti_pairs(folder):
        left, right = (cv2.imread(os.path.join(folder, pair[side])) for side in ('left', 'right'))
        truth = score.read_disparity(os.path.join(folder, pair['gt']['occ']['file']),
                                     pair['gt']['occ']['enc'])
        height, width = truth.shape
        estimate = score.read_raw(os.path.join(results, pair['name'] + '.raw'), width, height, SCALE)
        rows.append(score.score_disparity(estimate, truth))
        pairs.append((left, right, truth, None))
        print_row(pair['name'], rows[-1])
    ours = mean(rows)
    print_row('mean', ours)
    print_row(*best_opencv(pairs, 128, 'D1_fill'))
    return verdict([
        ('mean D1, filled, at most %.2f %%' % KITTI_D1_FILL, ours['D1_fill'],
         ours['D1_fill'] <= KITTI_D1_FILL),
        ('mean D1, estimated, at most %.2f %%' % KITTI_D1_EST, ours['D1_est'],
         ours['D1_est'] <= KITTI_D1_EST),
        ('mean density, at least %d %%' % KITTI_DENSITY, ours['density'],
         ours['density'] >= KITTI_DENSITY),
    ])


# --- The rendered street --------------------------------------------------------------------------

def street_frames():
    """(left, right, estimate, truth, region) of frames half a second apart."""
    import gi
    import roadvision
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    width, height = STREET_SIZE
    pipeline = Gst.parse_launch(
        'stereotestsrc pattern=street num-buffers=%d ! '
        'video/x-raw,format=BGRx,width=%d,height=%d,framerate=2/1 ! '
        'cudasgm name=sgm ! fakesink' % (STREET_FRAMES, 2 * width, height))
    sgm = pipeline.get_by_name('sgm')
    packed, results = [], []

    def take_pair(pad, info):
        packed.append(roadvision.picture(info.get_buffer(), pad.get_current_caps())[:, :, :3])
        return Gst.PadProbeReturn.OK

    def take_result(_pad, info):
        results.append(roadvision.annotations(info.get_buffer()))
        return Gst.PadProbeReturn.OK

    sgm.get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, take_pair)
    sgm.get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, take_result)
    problem = helpers.run_to_end(pipeline, 300)
    if problem:
        raise SystemExit('quality: %s' % (problem if isinstance(problem, str) else problem.parse_error()))
    if not len(packed) == len(results) == STREET_FRAMES:
        raise SystemExit('quality: %d pairs in, %d results out, %d wanted'
                         % (len(packed), len(results), STREET_FRAMES))
    for pair, result in zip(packed, results):
        found, truth = result['RvDisparityMeta'], result['RvTruthMeta']
        yield (np.ascontiguousarray(pair[:, :width]), np.ascontiguousarray(pair[:, width:]),
               score.to_px(found['payload'], found['scale']),
               score.to_px(truth['disparity'], SCALE), truth['visible'] > 0)


def street():
    rows, pairs = [], []
    print_head('street, non-occluded pixels')
    for left, right, estimate, truth, region in street_frames():
        rows.append(score.score_disparity(estimate, truth, region))
        pairs.append((left, right, truth, region))
        print_row('frame %d' % len(rows), rows[-1])
    ours = mean(rows)
    print_row('mean', ours)
    name, theirs = best_opencv(pairs, 128, 'bad3_fill')
    print_row(name, theirs)
    low, high = STREET_OPENCV
    return verdict([
        ('bad3, filled, at most %.2f %%' % STREET_BAD3, ours['bad3_fill'],
         ours['bad3_fill'] <= STREET_BAD3),
        ("OpenCV's best bad3, filled, from %.1f to %.1f %%" % STREET_OPENCV, theirs['bad3_fill'],
         low <= theirs['bad3_fill'] <= high),
    ])


if __name__ == '__main__':
    commands = {
        'pairs': print_pairs, 'kitti': kitti, 'street': street,
        'depth': lambda *arguments: quality_depth.evaluate(verdict, *arguments),
        'stixels': lambda folder: quality_stixels.kitti(folder, kitti_pairs(folder), verdict),
        'stixels-sets': lambda *arguments: quality_stixels.evaluate(*arguments, verdict),
        'slanted': lambda: quality_stixels.slanted(verdict),
        'lanes': lambda what='all', frames=60: quality_lanes.streets(verdict, what, int(frames)),
        'lanes-kitti': lambda folder: quality_lanes.kitti(folder, verdict),
        'lanes-motorway': lambda folder: quality_lanes.motorway(folder, verdict),
        'obstacles': lambda folder: quality_obstacles.obstacles(folder, verdict),
        'freespace': lambda folder: quality_obstacles.freespace(folder, verdict),
        'vehicles': lambda folder: max(judge(folder, verdict) for judge in (
            quality_obstacles.obstacles, quality_obstacles.freespace)),
        'ground': lambda *folder: quality_ground.ground(verdict, *folder),
        'road': lambda folder: quality_road.kitti(folder, verdict),
        'memory': lambda: quality_road.memory(verdict),
        'offroad': lambda *frames: quality_road.offroad(verdict, *frames)}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit('quality: run quality.sh')
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
