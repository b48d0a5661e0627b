#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The thesis' experiments on depth and stixels (figure 2.6, tables 3.1 to 3.3, figure 3.11, tables 4.1 and
4.2, figures 4.6 and 4.7, cut density) on the open pairs and on rendered streets, for examples/stixels_study.sh.

    stixels_study.py DEPTH_TOOL STIXELS_TOOL RV_DATA OUT [FRAMES [FOLDER]]

FRAMES: pictures per set, at most (default: all). FOLDER keeps disparity maps between calls. Writes
OUT/thesis.md (tables, the thesis' figures beside ours) and OUT/thesis.png. Times are processor
times of one thread, so that other programs disturb them less. Cuts of a network are left out where the
library has none."""
import os
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

import quality_depth as depth
import score
import stixels_sets

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLAT, HILLS = 'rendered, flat', 'rendered, hills'
INPUTS = {'default': ''}
MODELS = ('constant', 'slanted', 'slanted-fast')
CELLS = ('8x8', '4x4')
GOAL = 50.0  # mean IoU in percent of corrupted labels
SIDES = (1, 8, 16, 32)  # px of their blocks
SHARED = (4, 32)  # weight and radius of semantics for labels that are often wrong
REPAIRED = 3  # weight of semantics beside repair, for labels that are half wrong
DRAWS = 7     # of the same kind of errors
PATHS = (2, 4, 8)
BLOCKS = {8: 'stixel-width=8 vertical-step=8', 4: 'stixel-width=4 vertical-step=4'}

# The thesis: D1 by set of SGM, constant (Semantic Stixels) and slanted (Ours), without cuts, with time
# series, with the network; then IoU of the FCN and the same (table 3.2). Stixels in thousands (3.3).
THESIS_32 = (
    ('D1 %', 'Ladicky', '16.66', '17.38, 16.84', '17.60, 17.01', '17.44, 16.84'),
    ('D1 %', 'KITTI 2015', '11.01', '11.05, 11.21', '11.9, 11.9', '11.21, 11.24'),
    ('D1 %', 'SYNTHIA-SF (hills)', '11.06', '29.33, 12.99', '30.60, 14.20', '31.12, 14.19'),
    ('IoU %', 'Ladicky', '69.8', '66.2, 66.1', '66.0, 66.0', '66.2, 66.1'),
    ('IoU %', 'Cityscapes', '66.7', '65.4, 65.8', '64.9, 65.0', '65.5, 65.6'),
    ('IoU %', 'SYNTHIA-SF (hills)', '48.1', '46.0, 48.5', '45.7, 48.0', '47.0, 48.6'))
THESIS_33 = (('KITTI 2015', '700, 700', '700, 700', '700, 700'),
             ('Cityscapes', '1400, 1500', '1300, 1400', '1400, 1500'),
             ('SYNTHIA-SF (hills)', '1500, 1700', '1200, 1300', '1300, 1300'))
THESIS_4 = (('KITTI 2015', '587, 572', '254, 242', '8.51', '8.53, 8.72', '7.81, 7.93', '43.97, 43.63',
             '44.54, 44.23'),
            ('SYNTHIA-SF (hills)', '1439, 1379', '637, 606', '10.26', '8.55, 8.85', '7.56, 7.83',
             '33.41, 33.39', '33.82, 33.83'))
# Figure 4.7, Tegra Xavier, 2048x1024: ms of downsampling, of the DP of slanted and slanted-fast. The frame
# rates of figure 4.6 are those of their sums.
THESIS_47 = {'8x8': (1.80, 7.97, 1.11), '4x4': (2.65, 89.47, 8.20)}


def group_of(p):
    if p.group != depth.RENDERED:
        return p.group
    return HILLS if p.name.startswith('slanted') else FLAT


def table(head, rows):
    lines = ['| %s |' % ' | '.join(head), '|' + ' --- |' * len(head)]
    return '\n'.join(lines + ['| %s |' % ' | '.join(str(cell) for cell in row) for row in rows]) + '\n'


def some(values):
    values = [v for v in values if v is not None and np.isfinite(v)]
    return float(np.mean(values)) if values else float('nan')


def shown(values, form='%.2f'):
    return ', '.join('-' if not np.isfinite(v) else form % v for v in values)


class Study:
    def __init__(self, arguments):
        self.depth_tool, self.stixels_tool, self.folder, self.out = arguments[:4]
        self.limit = int(arguments[4]) if len(arguments) > 4 else 1000
        self.work = arguments[5] if len(arguments) > 5 else tempfile.mkdtemp()
        os.makedirs(self.work, exist_ok=True)
        os.makedirs(self.out, exist_ok=True)
        self.sets = stixels_sets.Sets(self.depth_tool, self.stixels_tool, self.folder, self.work, INPUTS,
                                      noise=False)
        self.pictures = []
        for p in self.sets.pictures:
            if sum(group_of(q) == group_of(p) for q in self.pictures) < self.limit:
                self.pictures.append(p)
        self.groups = list(dict.fromkeys(map(group_of, self.pictures)))
        self.cuts = ['all', 'time-series'] + ['network'] * self.has('cuts=network')
        self.found, self.text = {}, []

    def has(self, option):
        tried = subprocess.run([self.stixels_tool, os.devnull, self.work, option], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        return tried.returncode == 0

    def run(self, model, cell=8, cuts='all', labels=None, more=()):
        """Picture -> row of scores, with `ms`; computed once."""
        key = (model, cell, cuts, labels, *more)
        if key not in self.found:
            options = ['model=' + model, 'cuts=' + cuts, 'threads=1', *BLOCKS[cell].split(), *more]
            found = self.sets.run('default', options, labels, pictures=self.pictures, flags=['--times'])
            rows = self.sets.score('default', found, labels)
            for name, us in self.sets.times.items():
                rows[name]['ms'] = us / 1000
                rows[name]['density'] = self.sets.densities[name]
            self.found[key] = rows
        return self.found[key]

    def mean(self, group, column, rows):
        return some([rows[p.name].get(column) for p in self.pictures
                     if group_of(p) == group and p.name in rows])

    def add(self, *parts):
        for part in parts:
            print(part, flush=True)
            self.text.append(part)

    # --- Figure 2.6 -------------------------------------------------------------------------------

    def paths(self):
        real = [p for p in self.pictures if p.truth is not None]
        rows = []
        for paths in PATHS:
            at = os.path.join(self.work, 'paths%d' % paths)
            os.makedirs(at, exist_ok=True)
            judge = depth.Judge(self.depth_tool, at, real)
            judge.match(['paths=%d' % paths, 'threads=1'])
            scores = judge.scores()
            each = [some([scores[p.name]['bad3_fill'] for p in real if group_of(p) == g]) for g in self.groups]
            ms = min(judge.times[p.name] / 1000 * 640 * 480 / p.left.size for p in real
                     if p.disparities == 128)
            rows.append((paths, '%.0f' % ms, *('%.2f' % v if np.isfinite(v) else '-' for v in each)))
        self.figure_26 = rows
        self.add('### Figure 2.6: 2, 4 and 8 paths\n',
                 'Percent of pixels with an error above 3 px, holes filled, by set; ms of one core for 640x480 px and 128 '
                 'disparities.\n', table(('paths', 'ms', *self.groups), rows))

    # --- Tables 3.2 and 3.3, figure 3.11 ----------------------------------------------------------

    def cuts_tables(self):
        head = ('set', 'depth', *self.cuts)
        inputs = self.sets.input_scores('default')
        errors, counts, times = [], [], []
        for group in self.groups:
            rows = {c: [self.run(m, 8, c) for m in MODELS] for c in self.cuts}

            def cells(column, form='%.2f'):
                return [shown([self.mean(group, column, r) for r in rows[c]], form) for c in self.cuts]
            if np.isfinite(self.mean(group, 'D1', rows['all'][0])):
                errors.append((group, shown([self.mean(group, 'D1', inputs)]), *cells('D1')))
            counts.append((group, *cells('stixels', '%.0f')))
            times.append((group, *cells('ms', '%.1f')))
        self.figure_311 = times
        self.add('### Tables 3.2 and 3.3: constant, slanted, slanted-fast\n',
                 'D1 in percent over all truth, without semantics, cells of 8x8 px.\n', table(head, errors),
                 'Thesis (Semantic Stixels, slanted; with semantics):\n',
                 table(('metric', 'set', 'input', 'no cuts', 'time series', 'network'), THESIS_32),
                 'Mean IoU in percent of the stixels with true labels; then D1.\n',
                 table(('set', *self.cuts), self.labeled_rows('mIoU', '%.1f')),
                 table(('set', *self.cuts), self.labeled_rows('D1', '%.2f')),
                 'Number of stixels.\n', table(('set', *self.cuts), counts),
                 table(('thesis', 'no cuts', 'time series', 'network'), THESIS_33),
                 '### Figure 3.11 and table 3.1: time of the stixels\n',
                 'ms of one thread, all stages, cuts included.\n', table(('set', *self.cuts), times))

    def labeled_rows(self, column, form):
        """With true labels, by group that has them: constant, slanted, slanted-fast for each kind of cuts."""
        rows = []
        for group in (g for g in self.groups if any(group_of(p) == g for p in self.labeled())):
            values = [shown([self.mean(group, column, self.run(m, 8, c, 'true')) for m in MODELS], form)
                      for c in self.cuts]
            if '-' not in values[0]:
                rows.append((group, *values))
        return rows

    # --- Tables 4.1 and 4.2 -----------------------------------------------------------------------

    def resolutions(self):
        rows = []
        for group in self.groups:
            cells = [[self.run(m, c) for m in ('slanted', 'slanted-fast')] for c in (8, 4)]
            rows.append((group, *(shown([self.mean(group, 'px', r) for r in pair], '%.0f') for pair in cells),
                         *(shown([self.mean(group, 'D1', r) for r in pair]) for pair in cells),
                         *(shown([self.mean(group, 'sky', r) for r in pair], '%.1f') for pair in cells)))
        self.add('### Tables 4.1 and 4.2: slanted, slanted-fast\n', 'Without semantics.\n',
                 table(('set', 'px per stixel, 8x8', '4x4', 'D1, 8x8', '4x4', 'sky IoU, 8x8', '4x4'), rows),
                 table(('thesis', 'px per stixel, 8x8', '4x4', 'D1 of SGM', 'D1, 8x8', '4x4', 'IoU, 8x8', '4x4'),
                       THESIS_4))

    # --- Figures 4.6 and 4.7 ----------------------------------------------------------------------

    def bench(self, *options):
        """Case -> ms of rvcheck; empty without that engine."""
        rvcheck = os.path.join(os.path.dirname(os.path.dirname(self.stixels_tool)), 'rvcheck')
        printed = subprocess.run([rvcheck, '--bench', *options], stdout=subprocess.PIPE, text=True).stdout
        return times_in(printed)

    def stages(self):
        """On the GPU of this machine, else as in docs/gpu-report.txt."""
        gpu = self.bench('--engine', 'cuda', '--only', 'stixels/2048x1024-w*')
        if not gpu:
            with open(os.path.join(ROOT, 'docs', 'gpu-report.txt')) as file:
                gpu = times_in(file.read())
        core = self.bench('--model', 'stixels', '--engine', 'cpu', '--only', 'stixels/2048x1024-w*')
        rates, rows = [], []
        for cell in ('8x8', '4x4'):
            name = 'stixels/2048x1024-w%ss%s-' % (cell[0], cell[0])
            cells, *both = THESIS_47[cell]
            rows.append((cell, 'cells', '%.2f' % cells, cell_of(gpu, name + 'fast-cells'), '-'))
            for model, dp in zip(('slanted', 'slanted-fast'), both):
                own = name + ('fast' if model == 'slanted-fast' else 'slanted')
                rates.append((cell, model, '%.1f' % (1000 / (cells + dp)),
                              *('%.3g' % (1000 / of[own + end]) if own + end in of else '-'
                                for of, end in ((gpu, ''), (core, '-one')))))
                rows.append((cell, 'dynamic programming, ' + model, '%.2f' % dp,
                             cell_of(gpu, own + '-columns'), cell_of(core, own + '-one-columns')))
        self.add('### Figures 4.6 and 4.7: time of both models\n',
                 '2048x1024 px, all rows allowed, without semantics. Frames/s of all stages (figure 4.6; here '
                 'with the estimation of the ground, the list and the boundaries at rows of pixels; GPU: that of this '
                 'machine, else the one of gpu-report.txt):\n',
                 table(('cells', 'model', 'thesis, Tegra Xavier', 'GPU', 'one core'), rates),
                 'ms of a stage (figure 4.7):\n',
                 table(('cells', 'stage', 'thesis, Tegra Xavier', 'GPU', 'one core'), rows))

    # --- Semantics --------------------------------------------------------------------------------

    def labeled(self):
        return [p for p in self.pictures if p.name in self.sets.labels]

    def corrupt(self, kind, draw=0):
        """Writes labels with a mean IoU of GOAL, as near as can be, as NAME.LABELS; returns these LABELS
        and the mean IoU of each. Draws have different random numbers; those of draw 0 are KIND."""
        spoil, most = SPOILED[kind]
        written, random = ('%s-%d' % (kind, draw), ' %d' % draw) if draw else (kind, '')
        inputs = {}
        for p in self.labeled():
            labels, classes = self.sets.labels[p.name]
            low, high = 0.0, most
            tried = []
            for _round in range(9):
                amount = (low + high) / 2
                made = spoil(labels, len(classes), amount, p.name + random)
                value = some(stixels_sets.ious(made, labels, len(classes)).values())
                tried.append((abs(value - GOAL), len(tried), value, made))
                low, high = (amount, high) if value > GOAL else (low, amount)
            value, made = min(tried)[2:]
            made.tofile(os.path.join(self.work, '%s.%s' % (p.name, written)))
            inputs[p.name] = {'mIoU': value}
        return written, inputs

    def with_labels(self, groups, cell, labels, weight, inputs, radius=0, repair=False):
        """By group mean IoU of the labels > of the stixels; D1."""
        more = ('semantic-weight=%g' % weight, *(['semantic-radius=%d' % radius] if radius else []),
                *(['semantic-repair=1'] if repair else []))
        found = self.run('slanted-fast', cell, 'all', labels, more)
        return (['%s > %s' % (shown([self.mean(g, 'mIoU', inputs)], '%.1f') if inputs else '100',
                              shown([self.mean(g, 'mIoU', found)], '%.1f')) for g in groups],
                [shown([self.mean(g, 'D1', found)]) for g in groups])

    def draws(self, groups, cell, kind):
        """By group IoU of the stixels minus that of the labels, with repair: mean and range of the draws."""
        gains = [[] for _group in groups]
        for draw in range(DRAWS if kind != 'coarse' else 1):
            labels, inputs = self.corrupt(kind, draw)
            found = self.run('slanted-fast', cell, 'all', labels, ('semantic-weight=%g' % REPAIRED, 'semantic-repair=1'))
            for gain, group in zip(gains, groups):
                gain.append(self.mean(group, 'mIoU', found) - self.mean(group, 'mIoU', inputs))
        return ['%+.2f' % gain[0] if len(gain) == 1 else '%+.2f (%+.2f to %+.2f)' % (some(gain), min(gain), max(gain))
                for gain in gains]

    def semantics(self):
        groups = [g for g in self.groups if any(group_of(p) == g for p in self.labeled())]
        rows, small, shared, repaired = [], [], [], []
        for labels in ('true', *SPOILED):
            inputs = self.corrupt(labels)[1] if labels != 'true' else {}
            for weight in (8, 2, 1, 0.5):
                cells, errors = self.with_labels(groups, 8, labels, weight, inputs)
                rows.append((labels, weight, *cells, *errors))
                if weight > 0.5:
                    small.append((labels, weight, *self.with_labels(groups, 4, labels, weight, inputs)[0]))
            for cell in (4, 8):
                cells, errors = self.with_labels(groups, cell, labels, SHARED[0], inputs, SHARED[1])
                shared.append((labels, '%dx%d' % (cell, cell), *cells, *errors))
                cells, errors = self.with_labels(groups, cell, labels, 8, inputs, repair=True)
                repaired.append((labels, '%dx%d' % (cell, cell), *cells, *errors))
        self.add('### IoU with corrupted labels\n',
                 'Mean IoU of the labels > of the stixels made with them, slanted-fast 8x8, and D1. coarse: labels of '
                 'larger pixels; bent: borders are displaced, by a random smooth field; blocksN: blocks of NxN px have '
                 'a random class; each as much as a mean IoU of 50 takes.\n',
                 table(('labels', 'weight', *groups, *('D1 ' + g for g in groups)), rows),
                 'The same labels with cells of 4x4 px.\n', table(('labels', 'weight', *groups), small))
        self.add('The same labels with semantic-weight=%g semantic-radius=%d.\n' % SHARED,
                 table(('labels', 'cells', *groups, *('D1 ' + g for g in groups)), shared))
        self.add('The same labels with semantic-repair=1 and the default weight of 8.\n',
                 table(('labels', 'cells', *groups, *('D1 ' + g for g in groups)), repaired))
        self.add('IoU of the stixels minus that of the labels with semantic-repair=1 semantic-weight=%g, over %d draws of '
                 'the errors: mean, least and most (coarse has no random numbers).\n' % (REPAIRED, DRAWS),
                 table(('labels', 'cells', *groups), [(kind, '%dx%d' % (cell, cell), *self.draws(groups, cell, kind))
                                                      for kind in SPOILED for cell in (4, 8)]))
        rows = [(kind, *('%s, %s' % tuple('%.1f' % some([self.repaired(p, kind, cell) for p in self.labeled()
                                                         if group_of(p) == g]) for cell in (8, 4))
                         for g in groups)) for kind in SPOILED]
        self.add('What depth could repair at most, pixel by pixel: mean IoU of the same labels if all of a wrong '
                 'structural class are replaced by the truth, then one class per cell, of 8x8 and 4x4 px.\n',
                 table(('labels', *groups), rows))

    def of_network(self):
        """The same with labels of examples/semantics.onnx, against the truth in its classes."""
        try:
            import onnxruntime
        except ImportError:
            print('no onnxruntime: no labels of a network')
            return
        sys.path.insert(0, os.path.join(ROOT, 'examples'))
        import semantics_samples
        import train_semantics
        session = onnxruntime.InferenceSession(os.path.join(ROOT, 'examples', 'semantics.onnx'),
                                               providers=['CPUExecutionProvider'])
        kept, self.sets.labels, inputs = self.sets.labels, {}, {}
        own = tuple((name, kind, None) for name, kind, _labels in semantics_samples.CLASSES)
        for p in (p for p in self.pictures if p.name in kept):
            labels, classes = kept[p.name]
            truth = semantics_samples.to_classes(labels) if p.group == depth.RENDERED else \
                train_semantics.to_own(labels, classes)
            view = cv2.imread(p.paths[0])[:, :, ::-1] if p.paths else np.repeat(p.left[:, :, None], 3, 2)
            found = train_semantics.classify(session, view)
            found.tofile(os.path.join(self.work, p.name + '.network'))
            self.sets.labels[p.name] = (truth, own)
            inputs[p.name] = {'mIoU': some(stixels_sets.ious(found, truth, len(own)).values())}
        groups = [g for g in self.groups if any(group_of(p) == g for p in self.labeled())]
        rows = [('%dx%d' % (cell, cell), weight, *self.with_labels(groups, cell, 'network', weight, inputs)[0])
                for cell in (8, 4) for weight in (8, 4, 2, 1, 0.5)]
        rows += [('%dx%d' % (cell, cell), '%g, radius %d' % SHARED,
                  *self.with_labels(groups, cell, 'network', SHARED[0], inputs, SHARED[1])[0]) for cell in (8, 4)]
        rows += [('%dx%d' % (cell, cell), '8, repair',
                  *self.with_labels(groups, cell, 'network', 8, inputs, repair=True)[0]) for cell in (8, 4)]
        self.sets.labels = kept
        self.add('Labels of `examples/semantics.onnx`, in its nine classes.\n',
                 table(('cells', 'weight', *groups), rows))

    def repaired(self, p, kind, cell):
        labels, classes = self.sets.labels[p.name]
        made = np.fromfile(os.path.join(self.work, '%s.%s' % (p.name, kind)), np.uint8).reshape(labels.shape)
        letters = np.array([ord(letter) for _name, letter, _color in classes] + [0] * (256 - len(classes)))
        found = stixels_sets.majority(np.where(letters[made] == letters[labels], made, labels), cell)
        return some(stixels_sets.ious(found, labels, len(classes)).values())

    # --- Cut density ------------------------------------------------------------------------------

    def density(self):
        head = [(cuts, side) for cuts in self.cuts[1:] for side in (8, 4)]
        rows = [(group, *('%.1f' % self.mean(group, 'density', self.run('slanted', side, cuts))
                          for cuts, side in head)) for group in self.groups]
        self.add('### Cut density\n', 'Percent of the rows of cells that are cuts, without semantics (thesis: 30 time series with '
                 'semantics, 31.5 network).\n',
                 table(('set', *('%s, %dx%d' % (cuts, side, side) for cuts, side in head)), rows))

    # --- Plots ------------------------------------------------------------------------------------

    def plot(self):
        import matplotlib
        matplotlib.use('Agg')
        from matplotlib import pyplot
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
        for i, group in enumerate(self.groups):
            values = [float(row[2 + i]) if row[2 + i] != '-' else np.nan for row in self.figure_26]
            if np.isfinite(values).all():
                left.plot(range(len(PATHS)), values, marker='o', label=group)
        left.set(xlabel='paths, ms of one core for 640x480 px and 128 disparities', ylabel='errors above 3 px, %',
                 ylim=(0, 1.4 * left.get_ylim()[1]), title='2, 4 and 8 paths (figure 2.6)')
        left.set_xticks(range(len(PATHS)), ['%s\n%s ms' % row[:2] for row in self.figure_26])
        left.legend(fontsize=7, ncol=2)
        width = 0.8 / (len(self.cuts) * len(MODELS))
        for c, cuts in enumerate(self.cuts):
            for m, model in enumerate(MODELS):
                values = [float(row[1 + c].split(', ')[m]) for row in self.figure_311]
                right.bar(np.arange(len(values)) + width * (c * len(MODELS) + m), values, width,
                          label='%s, %s' % (model, cuts))
        right.set(ylabel='ms of one core, 8x8', yscale='log', title='time of the stixels (figure 3.11)')
        right.set_xticks(np.arange(len(self.groups)) + 0.4, self.groups, rotation=30, ha='right', fontsize=7)
        right.set_ylim(top=8 * right.get_ylim()[1])
        right.legend(fontsize=6, ncol=len(self.cuts))
        figure.tight_layout()
        figure.savefig(os.path.join(self.out, 'thesis.png'), dpi=90)

    def save(self):
        with open(os.path.join(self.out, 'thesis.md'), 'w') as file:
            file.write('\n'.join(self.text))


def times_in(text):
    return {name: float(us) / 1000
            for name, us in re.findall(r'^bench (\S+) \S+ median_us=([\d.]+)', text, re.M)}


def cell_of(times, name):
    return '%.4g' % times[name] if name in times else '-'


def random_of(name, kind):
    return np.random.Generator(np.random.PCG64(depth.zlib.crc32(('%s %s' % (name, kind)).encode())))


def spoil_blocks(side):
    """A share of the blocks of side x side px gets a random class."""
    def spoil(labels, count, share, name):
        random = random_of(name, side)
        rows, columns = ((size + side - 1) // side for size in labels.shape)
        hit = random.random((rows, columns)) < share
        other = random.integers(count, size=(rows, columns)).astype(np.uint8)

        def grown(values):
            return np.repeat(np.repeat(values, side, 0), side, 1)[:labels.shape[0], :labels.shape[1]]
        return np.where(grown(hit), grown(other), labels)
    return spoil


def spoil_coarse(labels, count, side, _name):
    """The most frequent class of pixels that are `side` px large, as a network of that resolution."""
    size = tuple(max(int(length / max(side, 1) + 0.5), 1) for length in labels.shape[::-1])
    shares = np.stack([cv2.resize((labels == k).astype(np.float32), size, interpolation=cv2.INTER_AREA)
                       for k in range(count)])
    return cv2.resize(shares.argmax(axis=0).astype(np.uint8), labels.shape[::-1],
                      interpolation=cv2.INTER_NEAREST)


def spoil_bent(labels, _count, amount, name):
    """Labels seen through a smooth random field: displacements of `amount` px, rms, over 24 px."""
    random, (height, width) = random_of(name, 'bent'), labels.shape
    y, x = np.mgrid[:height, :width].astype(np.float32)
    dx, dy = (np.float32(amount) * cv2.resize(
        random.standard_normal((height // 24, width // 24)).astype(np.float32), (width, height),
        interpolation=cv2.INTER_CUBIC) for _axis in range(2))
    return cv2.remap(labels, x + dx, y + dy, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)


# Kind of corruption: function of labels, number of classes, amount and name; the largest amount.
SPOILED = {'coarse': (spoil_coarse, 120.0), 'bent': (spoil_bent, 80.0),
           **{'blocks%d' % side: (spoil_blocks(side), 0.9) for side in SIDES}}


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    study = Study(sys.argv[1:])
    for part in (study.paths, study.cuts_tables, study.resolutions, study.stages, study.semantics, study.of_network,
                 study.density):
        part()
        study.save()
    study.plot()


if __name__ == '__main__':
    main()
