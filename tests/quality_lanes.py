# SPDX-License-Identifier: MIT
"""How well lanes are found: the judging half of `quality.sh lanes`. On rendered streets the truth
follows from the scene (cuda/scene): lines parallel to the street at 0 and 3.51 m to both sides, a
camera at x = 1.75 + 0.2 sin(s / 17) m that is turned by 0.012 sin(s / 23) rad after s m of way. That the
lines are where this says is itself tested on the frames. On KITTI the own lane is compared in the top
view, as its authors do (Fritsch 2013)."""
import math
import os
import sys

import cv2
import numpy as np

import helpers

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', name) for name in ('examples', 'tools')]

LINES = (-3.51, 0.0, 3.51)  # m: centers of the painted lines
OWN = (0.0, 3.51)
CURB = (4.7, 6.2)  # m from the middle: the edges of the sidewalk are no false lines
SPEED, RATE = 8.0, 10
NEAR = 8.0  # m: where borders are compared
RIGHT = 0.3  # m
DISTANCES = (8.0, 20.0, 30.0)
SCENES = (  # name, pattern, seed, width, height
    ('street 1242x375', 'street', 41, 1242, 375),
    ('street 640x480', 'street', 42, 640, 480),
    ('slanted-street 1242x375', 'slanted-street', 43, 1242, 375))
# Limits: own borders right (per cent); p90 of the error at DISTANCES (m); of heading (rad) and
# curvature (1/m); false lines per frame. Errors are judged where LEAST borders reach that far.
FLAT = (95, (0.05, 0.10, 0.30), 0.015, 0.001, 0.3)
HILLS = (92, (0.12, 0.25, 0.50), 0.025, 0.002, 0.3)
LEAST = 10
OFFROAD = (640, 480, 44)  # px, seed: a track without lines
OFFROAD_FALSE = 1.0  # per frame
KITTI_F = 80
TOP_X, TOP_Z, CELL = (-10, 10), (6, 46), 0.05  # m


def pose(frame):
    """x and yaw of the camera."""
    way = SPEED * frame / RATE
    return 1.75 + 0.2 * math.sin(way / 17), 0.012 * math.sin(way / 23)


def true_line(frame, x):
    """offset and heading of the line at x."""
    at, yaw = pose(frame)
    return (x - at) / math.cos(yaw), -math.tan(yaw)


def frames_of(line):
    """The annotations, and the frame's gray, of each frame of a launch line."""
    import gi
    import roadvision
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launch(line + ' ! fakesink name=end')
    found = []

    def take(pad, info):
        picture = roadvision.picture(info.get_buffer(), pad.get_current_caps())
        found.append((roadvision.annotations(info.get_buffer()),
                      picture[:, :, :3].astype(int).sum(2) // 3))
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name('end').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, take)
    problem = helpers.run_to_end(pipeline, 600)
    if problem:
        raise SystemExit('quality: %s' % (problem if isinstance(problem, str) else problem.parse_error()))
    return found


def line_x(line, z):
    return line['offset'] + line['heading'] * z + line['curvature'] * z * z / 2


def contrast(annotations, gray, frame):
    """How much brighter than beside it the frame is where the truth has the edge line."""
    camera, ground = annotations['RvCameraMeta'], annotations['RvGroundMeta']
    if not ground['ground-slope-y'] > 0:
        return 0
    offset, heading = true_line(frame, OWN[1])
    differences = []
    for z in np.arange(6, 12, 0.25):
        d = camera['focal'] * camera['baseline'] / z
        v = int((d - ground['ground-intercept']) / ground['ground-slope-y'] + 0.5)
        u, wide = (camera['cx'] + camera['focal'] * (offset + heading * z + side) / z
                   for side in (0, 0.35))
        step = int(wide - u)
        if 0 <= v < gray.shape[0] and step <= u < gray.shape[1] - step:
            row = gray[v]
            differences.append(row[int(u + 0.5)] - (row[int(u) - step] + row[int(u) + step]) / 2)
    return float(np.median(differences)) if differences else 0


def judge_frames(found):
    """Statistics of the frames of a street."""
    right, count, errors = 0, 0, {z: [] for z in DISTANCES}
    heading, curvature, false, light = [], [], 0, []
    for frame, (annotations, gray) in enumerate(found):
        meta = annotations['RvLanesMeta']
        lines = meta['payload']
        light.append(contrast(annotations, gray, frame))
        if frame < 3:  # tracks are confirmed with the third frame
            continue
        for name, x in zip(('left', 'right'), OWN):
            offset, slope = true_line(frame, x)
            count += 1
            if meta[name] < 0:
                continue
            line = lines[meta[name]]
            off = abs(line_x(line, NEAR) - offset - slope * NEAR)
            right += off < RIGHT
            if off < RIGHT:
                for z in DISTANCES:
                    if line['z_max'] >= z:
                        errors[z].append(abs(line_x(line, z) - offset - slope * z))
        if meta['left'] >= 0 and meta['right'] >= 0:
            heading.append(abs(meta['heading'] + true_line(frame, 0)[1]))
            curvature.append(abs(meta['curvature']))
        at = pose(frame)[0]
        for line in lines:
            if line['id'] == 0 or line['missed'] > 0:
                continue
            _, slope = true_line(frame, 0)
            x = line_x(line, NEAR) - slope * NEAR + at
            false += min(abs(x - known) for known in LINES) > RIGHT and \
                not CURB[0] <= abs(x) <= CURB[1]
    shown = max(len(found) - 3, 1)
    return {'right': 100 * right / max(count, 1), 'heading': np.percentile(heading or [9], 90),
            'curvature': np.percentile(curvature or [9], 90), 'false': false / shown,
            'errors': {z: np.percentile(errors[z], 90) if errors[z] else float('nan')
                       for z in DISTANCES},
            'counts': {z: len(errors[z]) for z in DISTANCES}, 'light': float(np.median(light)),
            'borders': count}


def streets(verdict, scenes=SCENES, frames=40, more=''):
    print('%-26s%9s%9s' % ('lanes', 'borders', 'right %') +
          ''.join('%16s' % ('p90 %g m (n)' % z) for z in DISTANCES) +
          '%9s%9s%9s%10s' % ('heading', 'curv.', 'false', 'contrast'))
    limits = []
    for name, pattern, seed, width, height in scenes:
        found = frames_of(
            'stereotestsrc pattern=%s seed=%d speed=%g num-buffers=%d ! '
            'video/x-raw,format=BGRx,width=%d,height=%d,framerate=%d/1 ! cudasgm ! cudalanes %s' % (
                pattern, seed, SPEED, frames, 2 * width, height, RATE, more))
        s = judge_frames(found)
        print('%-26s%9d%9.1f' % (name, s['borders'], s['right']) +
              ''.join('%16s' % ('%.3f (%d)' % (s['errors'][z], s['counts'][z])) for z in DISTANCES) +
              '%9.4f%9.5f%9.2f%10.1f' % (s['heading'], s['curvature'], s['false'], s['light']),
              flush=True)
        least, errors, heading, curvature, false = FLAT if pattern == 'street' else HILLS
        limits += [
            (name + ': the truth lies on paint, contrast above 20', s['light'], s['light'] > 20),
            (name + ': own borders right, at least %g %%' % least, s['right'], s['right'] >= least),
            (name + ': heading, p90 at most %g rad' % heading, s['heading'],
             s['heading'] <= heading),
            (name + ': curvature, p90 at most %g 1/m' % curvature, s['curvature'],
             s['curvature'] <= curvature),
            (name + ': false lines, at most %g per frame' % false, s['false'],
             s['false'] <= false)]
        limits += [(name + ': error at %g m, p90 at most %g m' % (z, most), s['errors'][z],
                    s['errors'][z] <= most) for z, most in zip(DISTANCES, errors)
                   if s['counts'][z] >= LEAST or z < DISTANCES[-1]]
    return verdict(limits + offroad(frames))


def offroad(frames):
    """Confirmed lines where there are none."""
    width, height, seed = OFFROAD
    found = frames_of(
        'stereotestsrc pattern=offroad seed=%d speed=%g num-buffers=%d ! '
        'video/x-raw,format=BGRx,width=%d,height=%d,framerate=%d/1 ! cudasgm ! cudalanes' % (
            seed, SPEED, frames, 2 * width, height, RATE))
    lines = [sum(line['id'] != 0 and line['missed'] == 0
                 for line in annotations['RvLanesMeta']['payload']) for annotations, _ in found[3:]]
    print('%-26s%9s false lines per frame %.2f' % ('offroad', '', np.mean(lines)))
    return [('offroad: false lines, at most %g per frame' % OFFROAD_FALSE, np.mean(lines),
             np.mean(lines) <= OFFROAD_FALSE)]


# --- KITTI ---------------------------------------------------------------------------------------


def read_calibration(path):
    with open(path) as file:
        rows = (line.split(':') for line in file if ':' in line)
        return {key: np.array(values.split(), float).reshape(3, 4)
                for key, values in rows if len(values.split()) == 12}


def top_view():
    """X and Z of the cells, far cells first."""
    x = np.arange(TOP_X[0] + CELL / 2, TOP_X[1], CELL)
    z = np.arange(TOP_Z[1] - CELL / 2, TOP_Z[0], -CELL)
    return np.meshgrid(x, z)


def kitti_truth(folder, calibration):
    """The truth of the own lane in the top view, cells that are labelled, and X and Z of the cells
    in the left camera."""
    x, z = top_view()
    road = np.vstack([calibration['Tr_cam_to_road'], [0, 0, 0, 1]])
    cells = np.stack([x.ravel(), np.zeros(x.size), z.ravel(), np.ones(x.size)])
    camera = np.linalg.inv(road) @ cells
    pixel = calibration['P2'] @ camera
    u, v = (np.rint(pixel[i] / pixel[2]).astype(int) for i in (0, 1))
    truth = cv2.imread(os.path.join(folder, 'um_000000_lane_gt.png'))  # BGR
    inside = (u >= 0) & (v >= 0) & (u < truth.shape[1]) & (v < truth.shape[0])
    sample = np.zeros((x.size, 3), np.uint8)
    sample[inside] = truth[v[inside], u[inside]]
    lane = inside & (sample[:, 0] > 127)
    labelled = inside & ((sample[:, 0] > 127) | (sample[:, 2] > 127))
    shift = calibration['P2'][0, 3] / calibration['P2'][0, 0]  # of the left color camera
    return lane, labelled, camera[0] + shift, camera[2]


def kitti_line(folder, calibration):
    p2, p3 = calibration['P2'], calibration['P3']
    baseline = (p2[0, 3] - p3[0, 3]) / p2[0, 0]
    left, right = (os.path.join(folder, 'um_000000_%s.png' % side) for side in ('left', 'right'))
    height, width = cv2.imread(left).shape[:2]
    read = 'pngdec ! videoconvert ! video/x-raw,format=BGRx'
    return (
        'filesrc location=%s ! %s ! pair.sink_0 filesrc location=%s ! %s ! pair.sink_1 '
        'compositor name=pair background=black sink_0::xpos=0 sink_1::xpos=%d ! '
        'video/x-raw,format=BGRx,width=%d,height=%d,framerate=1/1 ! '
        'cudasgm focal-length=%r baseline=%r cx=%r cy=%r ! cudalanes track=false' % (
            left, read, right, read, width, 2 * width, height, float(p2[0, 0]), float(baseline),
            float(p2[0, 2]), float(p2[1, 2])))


def kitti(folder, verdict):
    folder = os.path.join(folder, 'kitti_road')
    calibration = read_calibration(os.path.join(folder, 'um_000000_calib.txt'))
    lane, labelled, x, z = kitti_truth(folder, calibration)
    (annotations, _), = frames_of(kitti_line(folder, calibration))
    meta = annotations['RvLanesMeta']
    middle = -meta['offset'] - meta['heading'] * z + meta['curvature'] * z * z / 2
    ours = np.abs(x - middle) <= meta['lane-width'] / 2
    if meta['left'] < 0 and meta['right'] < 0:
        ours[:] = False
    hit = np.sum(ours & lane)
    precision = 100 * hit / max(np.sum(ours & labelled), 1)
    recall = 100 * hit / max(np.sum(lane), 1)
    f = 2 * precision * recall / max(precision + recall, 1e-9)
    print('KITTI um own lane: F %.1f, precision %.1f, recall %.1f; borders %d %d of %d lines, width '
          '%.2f m' % (f, precision, recall, meta['left'], meta['right'], meta['count'],
                      meta['lane-width']))
    return verdict([('KITTI um own lane: F at least %g' % KITTI_F, f, f >= KITTI_F)])
