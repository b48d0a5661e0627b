# SPDX-License-Identifier: MIT
"""Vehicles and road of the KITTI 2015 frame in the obstacles and in the free space of cudaobstacles: the judging half of
`quality.sh obstacles` and `freespace`; rendered scenes are evaluated by tests/eval/obstacles_eval.c.

A pixel is in an obstacle when it is in its box and its true point is above the ground. The corners of rectangles contain road even around a perfect box of a car
that is seen from the side: the boxes of the labeled vehicles of this frame contain 8.3 % of the road."""
import functools
import json
import os
import sys

import cv2
import numpy as np

import quality_stixels
import score

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', name) for name in ('examples', 'tools')]

PAIR = 'kitti15_000000_10'
COLORS = {'vehicle': ((0, 0, 142), (0, 0, 70), (0, 60, 100)), 'road': ((128, 64, 128),)}  # RGB
COLORS['thing'] = COLORS['vehicle'] + ((70, 70, 70), (102, 102, 156), (190, 153, 153), (153, 153, 153), (220, 220, 0),
                                       (107, 142, 35), (220, 20, 60))  # what limits free space
TOLERANCE = 24  # of a color: the labels were scaled
RANGE = 40  # m
VEHICLES = 92  # % of their pixels that must be in an obstacle
ROAD = 2
ROAD_INSIDE, VEHICLES_INSIDE, THINGS = 95, 2, 6  # % of road and vehicles in the free space, of it that are things
NEAR, DISTANCE, POINTS = 35, 8, 100  # m; % of the distance of a vehicle; least points of its truth
OVERHANG, PREDICTED = 4, 2
FOOT = 0.1  # m above the ground


def mask_of(labels, kind):
    return np.any([np.abs(labels.astype(int) - color).max(axis=2) <= TOLERANCE
                   for color in COLORS[kind]], axis=0)


def obstacles_of(source):
    """All annotations of the only frame of a launch line."""
    import gi
    import roadvision
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launch(source + ' ! fakesink name=sink')
    taken = []
    pipeline.get_by_name('sink').get_static_pad('sink').add_probe(
        Gst.PadProbeType.BUFFER,
        lambda _pad, info: taken.append(roadvision.annotations(info.get_buffer())) or
        Gst.PadProbeReturn.OK)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        300 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR or len(taken) != 1:
        raise SystemExit('quality: %s' % (message.parse_error() if message else 'no frame in 300 s'))
    return taken[0]


@functools.lru_cache(maxsize=1)
def frame_of(folder):
    """Annotations, labels, true disparity and distance, and calibration of the frame."""
    with open(os.path.join(folder, 'manifest.json')) as file:
        pair = {p['name']: p for p in json.load(file)['pairs']}[PAIR]
    left, right = (os.path.join(folder, pair[side]) for side in ('left', 'right'))
    height, width = cv2.imread(left).shape[:2]
    calib = pair['calib']
    camera = ('focal-length=%(fx)g cx=%(cx)g cy=%(cy)g baseline=%(baseline_m)g' % calib)
    found = obstacles_of(quality_stixels.pair_source(left, right, width, height, camera) +
                         ' ! cudaobstacles')
    labels = cv2.resize(cv2.imread(os.path.join(folder, pair['semantic'])), (width, height),
                        interpolation=cv2.INTER_NEAREST)[:, :, ::-1]
    truth = score.read_disparity(os.path.join(folder, pair['gt']['occ']['file']),
                                 pair['gt']['occ']['enc'])
    with np.errstate(divide='ignore', invalid='ignore'):
        depth = calib['fx'] * calib['baseline_m'] / truth
    return found, labels, truth, depth, calib


def obstacles(folder, verdict):
    found, labels, truth, depth, calib = frame_of(folder)
    height, width = truth.shape
    ground = found['RvGroundMeta']
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    above = (truth - ground['ground-intercept'] - ground['ground-slope-x'] * columns) / \
        ground['ground-slope-y'] - rows  # rows over the ground plane
    with np.errstate(invalid='ignore'):
        above = above * calib['baseline_m'] / truth >= FOOT
    boxed = np.zeros((height, width), bool)
    count = found['RvObstaclesMeta']['count']
    for o in found['RvObstaclesMeta']['payload'][:count]:
        if o['kind'] != OVERHANG and o['state'] != PREDICTED:
            boxed[o['y']:o['y'] + o['h'], o['x']:o['x'] + o['w']] = True
    inside = boxed & above
    near = mask_of(labels, 'vehicle') & (depth < RANGE)
    road = mask_of(labels, 'road') & (depth < RANGE)
    if min(near.sum(), road.sum()) < 1000:
        raise SystemExit('quality: the labels of %s have no vehicles or no road' % PAIR)
    print('%s: %d obstacles, %d px of vehicles, %d px of road nearer than %d m; in the boxes alone '
          '%.2f and %.2f %%' % (PAIR, count, near.sum(), road.sum(), RANGE,
                                100 * boxed[near].mean(), 100 * boxed[road].mean()))
    return verdict([
        ('vehicle pixels nearer than %d m in an obstacle, at least %d %%' % (RANGE, VEHICLES),
         100 * inside[near].mean(), 100 * inside[near].mean() >= VEHICLES),
        ('road pixels nearer than %d m in an obstacle, at most %d %%' % (RANGE, ROAD),
         100 * inside[road].mean(), 100 * inside[road].mean() <= ROAD)])


def distances(found, labels, depth):
    """Of the vehicles nearer than NEAR: true distance of the near face, and that of the nearest box that is mostly vehicle."""
    vehicle = mask_of(labels, 'vehicle')
    count, parts = cv2.connectedComponents(vehicle.astype(np.uint8))
    meta = found['RvObstaclesMeta']
    pairs = []
    for part in range(1, count):
        true = depth[(parts == part) & np.isfinite(depth)]
        if true.size < POINTS or np.percentile(true, 10) > NEAR:
            continue
        boxes = [o['distance'] for o in meta['payload'][:meta['count']] if o['state'] != PREDICTED and
                 (parts[o['y']:o['y'] + o['h'], o['x']:o['x'] + o['w']] == part).mean() > 0.5]
        pairs.append((np.percentile(true, 10), min(boxes, default=np.inf)))
    return pairs


def freespace(folder, verdict):
    found, labels, truth, depth, _ = frame_of(folder)
    height, width = truth.shape
    space = found['RvFreeSpaceMeta']
    inside = np.zeros((height, width), bool)
    for n, column in enumerate(space['payload'][:space['columns']]):
        x = n * space['column-width']
        inside[column['row'] + 1:, x:x + space['column-width']] = True
    road, vehicle, thing = (mask_of(labels, kind) for kind in ('road', 'vehicle', 'thing'))
    pairs = distances(found, labels, depth)
    if min(vehicle.sum(), road.sum(), inside.sum()) < 1000 or not pairs:
        raise SystemExit('quality: %s has no free space, or its labels no vehicles or no road' % PAIR)
    print('%s: vehicles at %s m' % (PAIR, ', '.join('%.2f (box %.2f)' % pair for pair in pairs)))
    worst = max(100 * abs(box - true) / true for true, box in pairs)
    shares = 100 * inside[road].mean(), 100 * inside[vehicle].mean(), 100 * thing[inside].mean()
    return verdict([
        ('road pixels in the free space, at least %d %%' % ROAD_INSIDE, shares[0], shares[0] >= ROAD_INSIDE),
        ('vehicle pixels in the free space, at most %d %%' % VEHICLES_INSIDE, shares[1], shares[1] <= VEHICLES_INSIDE),
        ('free space that is a thing, at most %d %%' % THINGS, shares[2], shares[2] <= THINGS),
        ('distance of %d vehicles nearer than %d m, error at most %d %%' % (len(pairs), NEAR, DISTANCE), worst,
         worst <= DISTANCE)])
