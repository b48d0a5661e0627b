# SPDX-License-Identifier: MIT
"""What stixels make of depth: the judging half of `quality.sh stixels` and `quality.sh slanted`."""
import os
import sys

import cv2
import numpy as np

import quality_depth as depth
import score
import stixels_sets

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', name) for name in ('examples', 'tools')]

SCALE = 16


def dense(meta):
    """Disparity in px of the stixels of an annotation."""
    planes = np.full((meta['height'], meta['width']), np.nan)
    for s in meta['payload']:
        rows = np.arange(int(s['v_top']), int(s['v_bottom']) + 1)
        left = int(s['column'])
        planes[rows, left:left + meta['stixel-width']] = \
            np.maximum(s['slope'] * rows + s['intercept'], 1 / SCALE)[:, None]
    return planes


def stixels_of(source, models, frames):
    """Sends `frames` frames of a launch line that ends in a disparity through one cudastixels after
    the other. Yields for each frame all annotations, the stixels of each of `models` (a name and
    properties each) by its name; the last item is a dictionary of mean times, us."""
    import gi
    import roadvision
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    chain = ' ! '.join('cudastixels name=m%d %s' % (i, properties)
                       for i, properties in enumerate(models.values()))
    pipeline = Gst.parse_launch('%s ! %s ! fakesink' % (source, chain))
    taken = {name: [] for name in models}
    others = []

    def watch(name, element, is_first):
        def take(_pad, info):
            buffer = info.get_buffer()
            taken[name].append(roadvision.annotation(buffer, 'RvStixelsMeta'))
            if is_first:
                others.append(roadvision.annotations(buffer))
            return Gst.PadProbeReturn.OK
        element.get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, take)

    for i, name in enumerate(models):
        watch(name, pipeline.get_by_name('m%d' % i), i == 0)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        300 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    times = {name: pipeline.get_by_name('m%d' % i).get_property('stats').get_value('mean-us')
             for i, name in enumerate(models)}
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        raise SystemExit('quality: %s' % (message.parse_error() if message else 'no end in 300 s'))
    if len(others) != frames or any(len(of) != frames for of in taken.values()):
        raise SystemExit('quality: not the %d frames of stixels that were wanted' % frames)
    return others, taken, times


# --- KITTI ----------------------------------------------------------------------------------------

WHOLE_8 = 0.3  # points of D1 above the input
WHOLE_4 = 0.0
VALID_4 = 0.1  # of the default input, where it is right except for 2 %
PX_PER_STIXEL_8 = 400
PX_PER_STIXEL_4 = 150
CUTS = 1.5  # points of D1 that time-series cuts may cost

MODELS = {
    'slanted-fast 8x8': 'stixel-width=8 vertical-step=8',
    'slanted-fast 4x4': 'stixel-width=4 vertical-step=4',
    'slanted 8x8': 'model=slanted',
    'slanted 4x4': 'model=slanted stixel-width=4 vertical-step=4',
    'slanted 4x4, time-series': 'model=slanted cuts=time-series stixel-width=4 vertical-step=4',
    'constant 8x8': 'model=constant',
}
WHOLE = 'max-lr-diff=-1 uniqueness=0 speckle-size=0'
INPUTS = {'whole': WHOLE, 'confident': WHOLE + ' confidence=true', 'default': ''}


def pair_source(left, right, width, height, sgm):
    """BGRx, because compositor shifts the right image by a pixel at odd widths in the formats
    with shared chroma."""
    read = 'pngdec ! videoconvert ! video/x-raw,format=BGRx'
    return ('filesrc location=%s ! %s ! pair.sink_0 filesrc location=%s ! %s ! pair.sink_1 '
            'compositor name=pair background=black sink_0::xpos=0 sink_1::xpos=%d ! '
            'video/x-raw,format=BGRx,width=%d,height=%d,framerate=1/1 ! cudasgm %s'
            % (left, read, right, read, width, 2 * width, height, sgm))


def judge_pair(folder, pair, sgm):
    """(D1, px per stixel) of each model and (D1, 1) of the input; then times by model."""
    left, right = (os.path.join(folder, pair[side]) for side in ('left', 'right'))
    height, width = cv2.imread(left).shape[:2]
    models = {name: properties + ' threads=1' for name, properties in MODELS.items()}
    others, taken, times = stixels_of(pair_source(left, right, width, height, sgm), models, 1)
    found = others[0]['RvDisparityMeta']
    disparity = score.to_px(found['payload'], found['scale'])
    truth = score.read_disparity(os.path.join(folder, pair['gt']['occ']['file']),
                                 pair['gt']['occ']['enc'])
    region = None if sgm else ~np.isnan(disparity)  # what is omitted of the default input
    results = {'input': (score.score_disparity(disparity, truth, region)['D1_fill'], 1.0)}
    for name, metas in taken.items():
        error = score.score_disparity(dense(metas[0]), truth, region)['D1_fill']
        results[name] = (error, width * height / metas[0]['count'])
    return results, times


def kitti(folder, pairs, verdict):
    checks, cost = [], {}
    for kind, sgm in INPUTS.items():
        judged = [judge_pair(folder, pair, sgm) for pair in pairs]
        rows = [results for results, _times in judged]
        error = {name: float(np.mean([row[name][0] for row in rows])) for name in rows[0]}
        least = {name: min(row[name][1] for row in rows) for name in rows[0]}
        cost = {name: float(np.mean([times[name] for _results, times in judged])) / 1000
                for name in MODELS}
        print('%-30s%12s%12s%18s' % ('KITTI, %s input' % kind, 'D1 mean', 'to input',
                                     'px/stixel, least'))
        for name, value in error.items():
            print('%-30s%12.2f%+12.2f%18.0f' % (name, value, value - error['input'], least[name]),
                  flush=True)
        for cells, limit, px in (('8x8', WHOLE_8, PX_PER_STIXEL_8),
                                 ('4x4', VALID_4 if kind == 'default' else WHOLE_4,
                                  PX_PER_STIXEL_4)):
            name = 'slanted-fast ' + cells
            checks += [('%s input, %s: D1 at most %.1f above the input' % (kind, name, limit),
                        error[name] - error['input'], error[name] <= error['input'] + limit),
                       ('%s input, %s: at least %d px per stixel' % (kind, name, px),
                        least[name], least[name] >= px)]
        cuts = error['slanted 4x4, time-series'] - error['slanted 4x4']
        checks.append(('%s input, time-series cuts: D1 at most %.1f more' % (kind, CUTS), cuts,
                       cuts <= CUTS))
    print('slanted 4x4, one thread: all cuts %.0f ms, time-series %.0f ms, %.1f times as fast' % (
        cost['slanted 4x4'], cost['slanted 4x4, time-series'],
        cost['slanted 4x4'] / cost['slanted 4x4, time-series']))
    return verdict(checks)


# --- All sets -------------------------------------------------------------------------------------

# Images as they are, stixels of 8x8 px of the default depth and of depth without checks (`whole`).
# Limits, 3 % from what was measured: D1 over all truth and stixels of the default depth, D1 of `whole`.
# Beside them in points of D1: above the input over its pixels with a value; above `whole`.
LIMITS = {
    'KITTI 2015': (5.57, 640, 5.97),
    'KITTI 2012': (4.56, 501, 4.85),
    'DrivingStereo': (1.33, 419, 1.82),
    'Middlebury 2014 Q': (6.07, 505, 6.41),
    'Middlebury v2': (2.28, 150, 2.28),
    'Middlebury 2006': (4.86, 1883, 11.61),
    depth.RENDERED: (2.39, 312, 2.22),
}
ABOVE = 0.3  # required of every set, from either depth
# IoU at least: of sky without labels, with true ones (required: 88), with corrupted ones; mean with true,
# with corrupted ones; of ground without labels.
LABELS = {
    'KITTI 2015': (67.7, 91.8, 79.6, 67.4, 41.5, 89.2),
    'Virtual KITTI 2': (58.1, 88.0, 66.5, 62.8, 39.4, 82.5),
    depth.RENDERED: (72.1, 93.1, 76.7, 73.0, 47.2, 86.3),
}
VOTE = 3         # points of mean IoU below a majority vote per cell, with true labels
# Points of D1 that confidences may cost on a set, on their mean; of dense depth filled pixels do.
CONFIDENCE = {'default': (0.03, 0.01), 'whole': (0.03, 0.01), 'dense': (0.1, 0.02)}
SETS_INPUTS = {'default': '', 'whole': WHOLE, 'dense': 'fill=dense'}


def print_rows(title, rows):
    names = ('D1', 'known', 'sky', 'ground', 'mIoU', 'stixels', 'px')
    print('%-40s' % title + ''.join('%10s' % name for name in names))
    for group, row in rows.items():
        print('%-40s' % group + ''.join('%10s' % ('%.2f' % row[name] if name in row else '-')
                                        for name in names), flush=True)


def label_checks(sets, plain):
    vote = sets.by_group(sets.majority_scores())
    print_rows('majority vote per cell of 8x8', vote)
    rows = {}
    for kind in ('true', 'corrupt'):
        rows[kind] = sets.by_group(sets.score('default', sets.run('default', (), kind), kind))
        print_rows('labels: ' + kind, rows[kind])
    for group, row in rows['true'].items():
        print('%s, IoU with true labels: ' % group + ', '.join(
            '%s %.0f' % (name[4:], value) for name, value in row.items() if name[:4] == 'IoU '))
    for group, (none, true, corrupt, mean_true, mean_corrupt, ground) in LABELS.items():
        for what, value, least in (
                ('sky IoU without labels', plain[group]['sky'], none),
                ('sky IoU with true labels', rows['true'][group]['sky'], true),
                ('sky IoU with corrupted labels', rows['corrupt'][group]['sky'], corrupt),
                ('mean IoU with true labels', rows['true'][group]['mIoU'], mean_true),
                ('mean IoU with corrupted labels', rows['corrupt'][group]['mIoU'], mean_corrupt),
                ('ground IoU without labels', plain[group]['ground'], ground)):
            yield '%s: %s at least %.1f %%' % (group, what, least), value, value >= least
        lost = vote[group]['mIoU'] - rows['true'][group]['mIoU']
        yield ('%s: mean IoU with true labels at most %d below the vote' % (group, VOTE), lost,
               lost <= VOTE)


def confidence_checks(sets, rows):
    for source, plain in rows.items():
        own = sets.by_group(sets.score(source, sets.run(source, (), confidence=True)))
        more = {g: own[g]['D1'] - row['D1'] for g, row in plain.items() if 'D1' in row}
        worst = max(more, key=more.get)
        mean = float(np.mean(list(more.values())))
        for where, value, most in zip((worst, 'the mean'), (more[worst], mean), CONFIDENCE[source]):
            yield ('%s depth: confidences cost at most %.2f points on %s' % (source, most, where),
                   value, value <= most)


def set_checks(sets):
    rows, inputs = {}, {}
    for source in SETS_INPUTS:
        rows[source] = sets.by_group(sets.score(source, sets.run(source)))
        inputs[source] = sets.by_group(sets.input_scores(source))
        print_rows('depth: ' + source, inputs[source])
        print_rows('stixels of ' + source, rows[source])
    for group, (error, stixels, whole) in LIMITS.items():
        row = rows['default'][group]
        yield '%s: D1 at most %.2f %%' % (group, error), row['D1'], row['D1'] <= error
        yield '%s: at most %d stixels' % (group, stixels), row['stixels'], row['stixels'] <= stixels
        yield ('%s, whole depth: D1 at most %.2f %%' % (group, whole), rows['whole'][group]['D1'],
               rows['whole'][group]['D1'] <= whole)
        for source, column in (('default', 'known'), ('whole', 'D1')):
            more = rows[source][group][column] - inputs[source][group][column]
            yield ('%s, %s depth where it has values: D1 at most %.1f above it' % (
                group, source, ABOVE), more, more <= ABOVE)
    yield from confidence_checks(sets, rows)
    yield from label_checks(sets, rows['default'])


def evaluate(depth_tool, stixels_tool, folder, verdict):
    import tempfile
    with tempfile.TemporaryDirectory() as work:
        sets = stixels_sets.Sets(depth_tool, stixels_tool, folder, work, SETS_INPUTS, noise=False)
        return verdict(list(set_checks(sets)))


# --- A street up and down steep hills -------------------------------------------------------------

FRAMES = 21  # places 15.81 m apart, each elsewhere in one of the four blocks of 83 m
SIZE = (640, 480)  # px of one view
SLANTED = 'stereotestsrc pattern=slanted-street semantics=true speed=31.62 num-buffers=%d ! ' \
    'video/x-raw,format=BGRx,width=%d,height=%d,framerate=2/1 ! cudasgm' % (
        FRAMES, 2 * SIZE[0], SIZE[1])
# What the thesis compares (3.5.2): semantics, and the expected ground from the camera. Without
# semantics, printed next to it, stairs of objects stand in for the road.
SETTINGS = {'semantics': 'ground=camera semantic-classes=gggooooos',
            'no semantics': 'ground=camera semantic-classes=""'}


def slanted(verdict):
    models = {(setting, model): 'model=%s %s' % (model, properties)
              for setting, properties in SETTINGS.items()
              for model in ('slanted-fast', 'slanted', 'constant')}
    others, taken, _times = stixels_of(SLANTED, models, FRAMES)
    truths = [score.to_px(of['RvTruthMeta']['disparity'], SCALE) for of in others]
    inputs = [score.score_disparity(score.to_px(of['RvDisparityMeta']['payload'], SCALE), truth)
              for of, truth in zip(others, truths)]
    print('slanted-street, D1 over all truth: input %.2f %% (holes filled)'
          % np.mean([row['D1_fill'] for row in inputs]))
    print('%-34s%14s%10s%10s   %s' % ('', 'slanted-fast', 'slanted', 'constant', 'stixels'))
    errors = {}
    for setting in SETTINGS:
        row, counts = [], []
        for model in ('slanted-fast', 'slanted', 'constant'):
            metas = taken[setting, model]
            row.append(float(np.mean([score.score_disparity(dense(meta), truth)['D1_fill']
                                      for meta, truth in zip(metas, truths)])))
            counts.append(np.mean([meta['count'] for meta in metas]))
        errors[setting] = row
        print('%-34s%14.2f%10.2f%10.2f   %.0f, %.0f, %.0f' % (setting, *row, *counts), flush=True)
    ours, _slanted, constant = errors['semantics']
    return verdict([('with semantics and the ground from the camera the error of slanted-fast is at '
                     'most half of that of constant', ours / constant, 2 * ours <= constant)])
