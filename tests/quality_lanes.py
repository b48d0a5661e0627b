# SPDX-License-Identifier: MIT
"""How well lanes are found: the judging half of `quality.sh lanes`. On rendered roads the truth is that of
the scene (RvTruthMeta: line-list), X of every line of paint at Z; that it lies on paint is itself
tested on the frames. On KITTI the own lane is compared in the top view, as its authors do (Fritsch 2013)."""
import os
import sys

import cv2
import numpy as np

import helpers

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', name) for name in ('examples', 'tools')]

CURB = (4.7, 6.2)  # m from the middle of a street: the edges of the sidewalk are no false lines
SPEED, RATE = 8.0, 10
NEAR = 8.0  # m: where borders are compared
RIGHT = 0.3  # m
DISTANCES = (8.0, 20.0, 30.0)
FIRST, STEP, POINTS = 4.0, 2.0, 24  # m: Z of the points of a true line (scene.h)
# Limits: own borders right (percent); p90 of the error at DISTANCES (m); of heading (rad) and
# curvature (1/m); false lines per frame. Errors are evaluated where LEAST borders reach that far.
FLAT = (95, (0.05, 0.10, 0.30), 0.015, 0.001, 0.3)
HILLS = (92, (0.12, 0.25, 0.50), 0.025, 0.002, 0.3)
LEAST = 10
SCENES = (  # name, pattern, seed, speed, width, height, limits
    ('street 1242x375', 'street', 41, SPEED, 1242, 375, FLAT),
    ('street 640x480', 'street', 42, SPEED, 640, 480, FLAT),
    ('slanted-street 1242x375', 'slanted-street', 43, SPEED, 1242, 375, HILLS))
ROADS = (  # measured only: what is hard about them is not in the limits
    ('highway, German dashes', 'highway', 45, 25.0, 1242, 375, None),
    ('highway, US dashes', 'highway', 46, 25.0, 1242, 375, None),
    ('obstacle-course', 'obstacle-course', 47, SPEED, 1242, 375, None))
OFFROAD = (640, 480, 44)  # px, seed: a track without lines
OFFROAD_FALSE = 1.0  # per frame
EDGE = 7  # RV_LANE_LINE_EDGE
TRACK_MOST, TRACK_LEAST = 0.4, 45  # m, percent
KITTI_F = 80
NEAREST, KITTI_FAR, TRACK_FAR = 6, 30, 18  # m: where edges of roads and of rendered tracks are compared
EDGES_MOST = (0.35, 0.5)  # m: median and p90 from an edge to the nearest line
BESIDE = 20  # px of the road beside its edge that give the distance
MOTORWAY = ('solidWhiteRight', 'solidYellowCurve')  # pictures of one camera, whose pitch is not known
MOTORWAY_CAMERA = 'focal-length=865 camera-height=1.3'
PAINTED = 25  # percent of the rows of a border on paint, at least: dashes of 3 m and gaps of 9 m
TOP_X, TOP_Z, CELL = (-10, 10), (6, 46), 0.05  # m


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


class Truth:
    """The lines of a frame."""

    def __init__(self, annotations):
        truth = annotations['RvTruthMeta']
        self.lines = truth['line-list']
        self.x = np.stack([self.lines['x%d' % k] for k in range(POINTS)], 1)
        self.disparity, self.labels = truth['disparity'], truth['labels']
        self.camera = annotations['RvCameraMeta']

    def own(self, position):
        found = np.flatnonzero(self.lines['position'] == position)
        return found[0] if len(found) else None

    def at(self, line, z):
        return float(self.x[line, int(round((z - FIRST) / STEP))])

    def contrast(self, gray, line):
        """How much brighter than next to it the frame is on the line, where that is on the road."""
        focal, cx = self.camera['focal'], self.camera['cx']
        differences = []
        for z in (6, 8, 10, 12):
            x, d = self.at(line, z), 16 * focal * self.camera['baseline'] / z
            u, step = int(cx + focal * x / z + 0.5), int(focal * 0.35 / z)
            if not step <= u < gray.shape[1] - step:
                continue
            off = np.where(self.labels[:, u] == 0, np.abs(self.disparity[:, u].astype(int) - d), 1e9)
            v = int(np.argmin(off))
            if off[v] < 8:
                differences.append(gray[v, u] - (gray[v, u - step] + gray[v, u + step]) / 2)
        return float(np.median(differences)) if differences else None


def is_false(line, truth, is_street):
    """Whether a line lies beside all painted ones, and is no curb."""
    near = truth.x[:, int((NEAR - FIRST) / STEP)]
    x = line_x(line, NEAR)
    if np.nanmin(np.abs(near - x), initial=9) <= RIGHT:
        return False
    middle = near[1] if is_street else None
    return middle is None or not CURB[0] <= abs(x - middle) <= CURB[1]


def judge_frames(found, is_street):
    """Statistics of the frames of a road."""
    right, count, errors = 0, 0, {z: [] for z in DISTANCES}
    heading, curvature, false, light = [], [], 0, []
    for frame, (annotations, gray) in enumerate(found):
        meta, truth = annotations['RvLanesMeta'], Truth(annotations)
        lines, own = meta['payload'], [truth.own(-1), truth.own(1)]
        if own[1] is not None and truth.lines['kind'][own[1]] == 1:  # solid
            light.append(truth.contrast(gray, own[1]))
        if frame < 3:  # tracks are confirmed with the third frame
            continue
        for name, line in zip(('left', 'right'), own):
            if line is None or not np.isfinite(truth.at(line, NEAR)):
                continue
            count += 1
            if meta[name] < 0:
                continue
            ours = lines[meta[name]]
            off = abs(line_x(ours, NEAR) - truth.at(line, NEAR))
            right += off < RIGHT
            if off < RIGHT:
                for z in DISTANCES:
                    if ours['z_max'] >= z and np.isfinite(truth.at(line, z)):
                        errors[z].append(abs(line_x(ours, z) - truth.at(line, z)))
        if meta['left'] >= 0 and meta['right'] >= 0 and None not in own:
            heading.append(abs(meta['heading'] + np.mean(truth.lines['heading'][own])))
            curvature.append(abs(meta['curvature'] - np.mean(truth.lines['curvature'][own])))
        false += sum(is_false(line, truth, is_street) for line in lines
                     if line['id'] != 0 and line['missed'] == 0)
    shown = max(len(found) - 3, 1)
    light = [value for value in light if value is not None]
    return {'right': 100 * right / max(count, 1), 'heading': np.percentile(heading or [9], 90),
            'curvature': np.percentile(curvature or [9], 90), 'false': false / shown,
            'errors': {z: np.percentile(errors[z], 90) if errors[z] else float('nan')
                       for z in DISTANCES},
            'counts': {z: len(errors[z]) for z in DISTANCES},
            'light': float(np.median(light)) if light else float('nan'), 'borders': count}


def limits_of(name, s, limits):
    least, errors, heading, curvature, false = limits
    found = [
        (name + ': the truth lies on paint, contrast above 20', s['light'], s['light'] > 20),
        (name + ': own borders right, at least %g %%' % least, s['right'], s['right'] >= least),
        (name + ': heading, p90 at most %g rad' % heading, s['heading'], s['heading'] <= heading),
        (name + ': curvature, p90 at most %g 1/m' % curvature, s['curvature'],
         s['curvature'] <= curvature),
        (name + ': false lines, at most %g per frame' % false, s['false'], s['false'] <= false)]
    return found + [(name + ': error at %g m, p90 at most %g m' % (z, most), s['errors'][z],
                     s['errors'][z] <= most) for z, most in zip(DISTANCES, errors)
                    if s['counts'][z] >= LEAST or z < DISTANCES[-1]]


def streets(verdict, what='all', frames=60):
    """what: all; small: for tests of every change; roads: the scenes without limits."""
    print('%-26s%9s%9s' % ('lanes', 'borders', 'right %') +
          ''.join('%16s' % ('p90 %g m (n)' % z) for z in DISTANCES) +
          '%9s%9s%9s%10s' % ('heading', 'curv.', 'false', 'contrast'))
    limits = []
    scenes = {'small': SCENES[1:], 'roads': ROADS}.get(what, SCENES + ROADS)
    for name, pattern, seed, speed, width, height, musts in scenes:
        found = frames_of(
            'stereotestsrc pattern=%s seed=%d speed=%g num-buffers=%d ! '
            'video/x-raw,format=BGRx,width=%d,height=%d,framerate=%d/1 ! cudasgm ! cudalanes' % (
                pattern, seed, speed, frames, 2 * width, height, RATE))
        s = judge_frames(found, 'street' in pattern)
        print('%-26s%9d%9.1f' % (name, s['borders'], s['right']) +
              ''.join('%16s' % ('%.3f (%d)' % (s['errors'][z], s['counts'][z])) for z in DISTANCES) +
              '%9.4f%9.5f%9.2f%10.1f' % (s['heading'], s['curvature'], s['false'], s['light']),
              flush=True)
        limits += limits_of(name, s, musts) if musts else []
    return verdict(limits + (offroad(frames) if what != 'roads' else []))


# --- Edges of the road -----------------------------------------------------------------------------


def road_ends(truth, disparity, camera):
    """X and Z in the left camera of the left and of the right edge of a road in the image, by row. Z is that
    of the road beside the edge by its own disparity: on KITTI um the plane of the calibration is 4 % nearer."""
    ends = ([], [])
    for v in range(len(truth)):
        road = np.flatnonzero(truth[v])
        for side, column, beside in ((0, 0, road[:BESIDE]), (1, -1, road[-BESIDE:])):
            found = disparity[v, beside][disparity[v, beside] > 0] if len(road) > BESIDE else ()
            if len(found) > BESIDE / 2 and 0 < road[column] < truth.shape[1] - 1:
                z = camera['focal'] * camera['baseline'] / np.median(found)
                ends[side].append((z, (road[column] - camera['cx']) * z / camera['focal']))
    return [np.array(sorted(side)).T for side in ends]


def edge_distances(lines, truth, disparity, camera, far):
    """Distances in m of the edges of a road, every 0.1 m of Z up to `far`, from the nearest line."""
    found = []
    for z_of, x_of in road_ends(truth, disparity, camera):
        for z in np.arange(max(NEAREST, z_of[0]), min(far, z_of[-1]), 0.1):
            x = np.interp(z, z_of, x_of)
            found.append(min((abs(line_x(line, z) - x) for line in lines), default=np.inf))
    return found


def track_edges(found):
    """Distances of the edges of a rendered track from the edges found, of the frames that have two; and their
    part of all frames."""
    distances, frames = [], 0
    for annotations, _ in found[3:]:
        edge = [line for line in annotations['RvLanesMeta']['payload'] if line['kind'] == EDGE and line['id']]
        if len(edge) != 2:
            continue
        truth = annotations['RvTruthMeta']
        shape = np.asarray(truth['labels']).shape
        distances += edge_distances(edge, np.asarray(truth['road']).reshape(shape) > 0,
                                    np.asarray(truth['disparity']).reshape(shape) / 16,
                                    annotations['RvCameraMeta'], TRACK_FAR)
        frames += 1
    return np.array(distances or [np.inf]), 100 * frames / max(len(found) - 3, 1)


def offroad(frames):
    """Confirmed lines where there are none, and the edges of the track."""
    width, height, seed = OFFROAD
    found = frames_of(
        'stereotestsrc pattern=offroad seed=%d speed=%g num-buffers=%d ! '
        'video/x-raw,format=BGRx,width=%d,height=%d,framerate=%d/1 ! cudasgm ! cudaroaddetect ! cudalanes' % (
            seed, SPEED, frames, 2 * width, height, RATE))
    lines = [sum(line['id'] != 0 and line['missed'] == 0 and line['kind'] != EDGE
                 for line in annotations['RvLanesMeta']['payload']) for annotations, _ in found[3:]]
    print('%-26s%9s false lines per frame %.2f' % ('offroad', '', np.mean(lines)))
    distances, share = track_edges(found)
    median = np.median(distances)
    print('%-26s%9s both edges in %.0f %% of the frames, distance median %.2f m, p90 %.2f m' % (
        'offroad', '', share, median, np.percentile(distances, 90)))
    return [('offroad: false lines, at most %g per frame' % OFFROAD_FALSE, np.mean(lines),
             np.mean(lines) <= OFFROAD_FALSE),
            ('offroad: edges of the track, median at most %g m' % TRACK_MOST, median, median <= TRACK_MOST),
            ('offroad: both edges, in at least %g %% of the frames' % TRACK_LEAST, share, share >= TRACK_LEAST)]


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


def in_left_camera(calibration, shape):
    """Of the cells of the top view: pixels of a picture of that shape, which of them are inside, and X and
    Z in the left camera."""
    x, z = top_view()
    road = np.vstack([calibration['Tr_cam_to_road'], [0, 0, 0, 1]])
    cells = np.stack([x.ravel(), np.zeros(x.size), z.ravel(), np.ones(x.size)])
    camera = np.linalg.inv(road) @ cells
    pixel = calibration['P2'] @ camera
    u, v = (np.rint(pixel[i] / pixel[2]).astype(int) for i in (0, 1))
    inside = (u >= 0) & (v >= 0) & (u < shape[1]) & (v < shape[0])
    shift = calibration['P2'][0, 3] / calibration['P2'][0, 0]  # of the left color camera
    return u, v, inside, camera[0] + shift, camera[2]


def kitti_truth(folder, calibration):
    """The truth of the own lane in the top view, cells that are labeled, and X and Z of the cells
    in the left camera."""
    truth = cv2.imread(os.path.join(folder, 'um_000000_lane_gt.png'))  # BGR
    u, v, inside, x, z = in_left_camera(calibration, truth.shape)
    sample = np.zeros((len(x), 3), np.uint8)
    sample[inside] = truth[v[inside], u[inside]]
    lane = inside & (sample[:, 0] > 127)
    labelled = inside & ((sample[:, 0] > 127) | (sample[:, 2] > 127))
    return lane, labelled, x, z


def kitti_line(folder, calibration, name='um_000000'):
    p2, p3 = calibration['P2'], calibration['P3']
    baseline = (p2[0, 3] - p3[0, 3]) / p2[0, 0]
    left, right = (os.path.join(folder, '%s_%s.png' % (name, side)) for side in ('left', 'right'))
    height, width = cv2.imread(left).shape[:2]
    read = 'pngdec ! videoconvert ! video/x-raw,format=BGRx'
    return (
        'filesrc location=%s ! %s ! pair.sink_0 filesrc location=%s ! %s ! pair.sink_1 '
        'compositor name=pair background=black sink_0::xpos=0 sink_1::xpos=%d ! '
        'video/x-raw,format=BGRx,width=%d,height=%d,framerate=1/1 ! '
        'cudasgm focal-length=%r baseline=%r cx=%r cy=%r ! cudalanes track=false' % (
            left, read, right, read, width, 2 * width, height, float(p2[0, 0]), float(baseline),
            float(p2[0, 2]), float(p2[1, 2])))


def edges(name, folder):
    """How far the edges of the true road are from the nearest line; of painted lines alone without a limit."""
    calibration = read_calibration(os.path.join(folder, name + '_calib.txt'))
    truth = cv2.imread(os.path.join(folder, name + '_road_gt.png'))[:, :, 0] > 127
    line = kitti_line(folder, calibration, name)
    distances_to_lines('painted', name, truth, line)
    found = distances_to_lines('all', name, truth, line.replace('! cudalanes', '! cudaroaddetect ! cudalanes'))
    return [('KITTI %s: edge of the road to the nearest line, %s at most %g m' % (name, what, most), value, value <= most)
            for what, value, most in zip(('median', 'p90'), found, EDGES_MOST)]


def distances_to_lines(what, name, truth, line):
    (annotations, _), = frames_of(line)
    lines = annotations['RvLanesMeta']['payload']
    disparity = np.asarray(annotations['RvDisparityMeta']['payload']).reshape(truth.shape) / 16
    found = edge_distances(lines, truth, disparity, annotations['RvCameraMeta'], KITTI_FAR)
    values = np.median(found), np.percentile(found, 90) if len(lines) else np.inf
    print('KITTI %s: edges of the road to the nearest line (%s), ' % (name, what) +
          ('median %.2f m, p90 %.2f m' % values if len(lines) else 'no lines'))
    return values


def on_paint(gray, meta, line):
    """Percent of the rows of a line on something brighter than both sides of it."""
    points = np.asarray(meta['polylines']).reshape(len(meta['payload']), -1, 2)[line]
    points = points[np.argsort(points[:, 1])]
    rows = np.arange(int(points[0, 1]) + 1, min(int(points[-1, 1]), gray.shape[0]))
    hits = []
    for v in rows:
        u, step = int(round(np.interp(v, points[:, 1], points[:, 0]))), 6 + (v - rows[0]) // 8
        if step + 3 <= u < gray.shape[1] - step - 3:
            here = gray[v, u - 3:u + 4].max()
            hits.append(here > 20 + max(gray[v, u - step], gray[v, u + step]))
    return 100 * np.mean(hits) if hits else 0.0


def motorway(folder, verdict):
    """Both borders of the own lane on pictures of one camera."""
    limits = []
    for name in MOTORWAY:
        (annotations, gray), = frames_of(
            'filesrc location=%s ! jpegdec ! videoconvert ! video/x-raw,format=BGRx ! cudalanes '
            'ground=camera track=false %s' % (os.path.join(folder, 'hough', name + '.jpg'), MOTORWAY_CAMERA))
        meta = annotations['RvLanesMeta']
        borders = [meta[side] for side in ('left', 'right')]
        paint = [on_paint(gray, meta, border) if border >= 0 else 0.0 for border in borders]
        print('%s: borders %d %d of %d lines, width %.2f m' % (name, *borders, meta['count'], meta['lane-width']))
        limits.append((name + ': rows of both borders on paint, at least %g %%' % PAINTED, min(paint),
                       min(paint) >= PAINTED))
    return verdict(limits)


def kitti(folder, verdict):
    folder = os.path.join(folder, 'kitti_road')
    limits = [limit for name in ('um_000000', 'uu_000000') for limit in edges(name, folder)]
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
    return verdict(limits + [('KITTI um own lane: F at least %g' % KITTI_F, f, f >= KITTI_F)])
