# SPDX-License-Identifier: MIT
"""Stixels on all open sets: images, their labels, and scores, for `quality.sh stixels` and for
choose_stixels.py.

The images are those of quality_depth.py, real pairs with their noisy copies; depth is cuda/sgm's.
Labels: one frame of KITTI 2015, one of Virtual KITTI 2, the rendered scenes. Nothing here knows how
stixels are found."""
import os
import subprocess
import zlib

import cv2
import numpy as np

import quality_depth as depth
import score

UNKNOWN = 255
# Set: class names, structural class of each (g, o, s), color of each (BGR); None: labels are numbers.
KITTI_CLASSES = (
    ('road', 'g', (128, 64, 128)), ('sidewalk', 'g', (232, 35, 244)),
    ('building', 'o', (70, 70, 70)), ('wall', 'o', (156, 102, 102)), ('fence', 'o', (153, 153, 190)),
    ('pole', 'o', (153, 153, 153)), ('light', 'o', (30, 170, 250)), ('sign', 'o', (0, 220, 220)),
    ('vegetation', 'o', (35, 142, 107)), ('terrain', 'g', (152, 251, 152)),
    ('sky', 's', (180, 130, 70)), ('person', 'o', (60, 20, 220)), ('rider', 'o', (0, 0, 255)),
    ('car', 'o', (142, 0, 0)), ('truck', 'o', (70, 0, 0)), ('bus', 'o', (100, 60, 0)),
    ('train', 'o', (100, 80, 0)), ('motorcycle', 'o', (230, 0, 0)), ('bicycle', 'o', (32, 11, 119)))
VKITTI_CLASSES = (
    ('terrain', 'g', (200, 0, 210)), ('sky', 's', (255, 200, 90)), ('tree', 'o', (0, 199, 0)),
    ('vegetation', 'o', (0, 240, 90)), ('building', 'o', (140, 140, 140)),
    ('road', 'g', (100, 60, 100)), ('guard rail', 'o', (255, 100, 250)),
    ('sign', 'o', (0, 255, 255)), ('light', 'o', (0, 200, 200)), ('pole', 'o', (0, 130, 255)),
    ('misc', 'o', (80, 80, 80)), ('truck', 'o', (60, 60, 160)), ('car', 'o', (80, 127, 255)),
    ('van', 'o', (139, 139, 0)))
SCENE_CLASSES = tuple((name, kind, None) for name, kind in (
    ('road', 'g'), ('sidewalk', 'g'), ('grass', 'g'), ('building', 'o'), ('wall', 'o'),
    ('car', 'o'), ('pole', 'o'), ('tree', 'o'), ('sky', 's')))
CLASSES = {'KITTI 2015': KITTI_CLASSES, 'Virtual KITTI 2': VKITTI_CLASSES,
           depth.RENDERED: SCENE_CLASSES}
FAR_COLOR = 40       # a color farther than this from all classes (resampled edges) is no label
CORRUPT_SIDE = 32    # px of the blocks of corrupted labels
CORRUPT_SHARE = 0.2  # of the blocks that get a wrong class
CELL = 8             # px of the cells of the majority vote


def labels_of(classes, image):
    distance = np.stack([np.abs(image.astype(int) - np.array(color)).sum(axis=2)
                         for _name, _kind, color in classes])
    found = distance.argmin(axis=0).astype(np.uint8)
    found[distance.min(axis=0) > FAR_COLOR] = UNKNOWN
    return found


def read_labels(folder, pair, shape, classes):
    path = pair.get('semantic') or pair.get('classgt')
    image = cv2.imread(os.path.join(folder, path), cv2.IMREAD_COLOR)
    found = labels_of(classes, image)
    return cv2.resize(found, shape[::-1], interpolation=cv2.INTER_NEAREST)


def corrupted(labels, count, name):
    """Blocks of labels replaced by one class each."""
    random = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    out = labels.copy()
    for y in range(0, out.shape[0], CORRUPT_SIDE):
        for x in range(0, out.shape[1], CORRUPT_SIDE):
            hit, other = random.random() < CORRUPT_SHARE, random.integers(count)
            if hit:
                out[y:y + CORRUPT_SIDE, x:x + CORRUPT_SIDE] = other
    return out


def majority(labels, cell=CELL):
    """The most frequent class of each cell, cells counted from the left and from the bottom; what no
    division into cells can exceed."""
    out = labels.copy()
    height, width = labels.shape
    for low in range(height, 0, -cell):
        for x in range(0, width, cell):
            block = labels[max(low - cell, 0):low, x:x + cell]
            known = block[block != UNKNOWN]
            if known.size:
                out[max(low - cell, 0):low, x:x + cell] = np.bincount(known).argmax()
    return out


def ious(found, truth, count):
    """Class -> percent, for classes that the truth has."""
    known = truth != UNKNOWN
    result = {}
    for k in range(count):
        real = known & (truth == k)
        if real.any():
            guess = known & (found == k)
            result[k] = 100.0 * int((real & guess).sum()) / int((real | guess).sum())
    return result


class Sets:
    """Disparity maps of all images in `work`, matched once for each of `inputs` (name -> options of
    cuda/sgm); files that are there from an earlier call are used again."""

    def __init__(self, depth_tool, stixels_tool, folder, work, inputs, noise=True):
        self.tool, self.work, self.inputs = stixels_tool, work, inputs
        pictures = depth.real_images(folder, depth.REAL, noise)
        pictures += depth.rendered_images(depth_tool, work)
        self.pictures = pictures
        self.labels = self.read_all_labels(folder)
        for name, options in inputs.items():
            at = os.path.join(work, name)
            if not os.path.isdir(at):
                os.makedirs(at + '.new')
                judge = depth.Judge(depth_tool, at + '.new', pictures)
                judge.match(['confidence=true', *options.split()])
                os.rename(at + '.new', at)
        for name, (labels, classes) in self.labels.items():
            for kind, values in (('true', labels),
                                 ('corrupt', corrupted(labels, len(classes), name))):
                values.tofile(os.path.join(work, '%s.%s' % (name, kind)))

    def read_all_labels(self, folder):
        """Image -> (labels, classes)."""
        import json
        with open(os.path.join(folder, 'manifest.json')) as file:
            pairs = {pair['name']: pair for pair in json.load(file)['pairs']}
        found = {}
        for p in self.pictures:
            if p.group not in CLASSES:
                continue
            classes = CLASSES[p.group]
            if p.group == depth.RENDERED:
                raw = np.fromfile(os.path.join(self.work, p.name + '_labels'), np.uint8)
                found[p.name] = (raw.reshape(p.left.shape), classes)
            else:
                pair = pairs[p.name.replace('_noise', '')]
                found[p.name] = (read_labels(folder, pair, p.left.shape, classes), classes)
        return found

    def path(self, source, p, end):
        return os.path.join(self.work, source, p.name + end)

    def input(self, source, p):
        stored = np.fromfile(self.path(source, p, '.disparity'), '<u2')
        return score.to_px(stored.reshape(p.left.shape), depth.SCALE)

    def run(self, source, options=(), labels=None, confidence=False, pictures=None, flags=()):
        """Image -> (planes in px, structural classes, semantic classes, stixels) of depth
        `source`; labels: None, 'true', 'corrupt' or another end of a file in `work`, which only images
        that have them take part in."""
        chosen = [p for p in pictures or self.pictures if not labels or p.name in self.labels]
        out = os.path.join(self.work, 'out')
        os.makedirs(out, exist_ok=True)
        path = os.path.join(out, 'list')
        with open(path, 'w') as file:
            for p in chosen:
                letters = 'o'
                if labels:
                    letters = ''.join(kind for _name, kind, _color in self.labels[p.name][1])
                file.write('%s %d %d %d %s %s %s %s\n' % (
                    p.name, *p.left.shape[::-1], p.disparities, letters,
                    self.path(source, p, '.disparity'),
                    self.path(source, p, '.confidence') if confidence else '-',
                    os.path.join(self.work, '%s.%s' % (p.name, labels)) if labels else '-'))
        printed = subprocess.run([self.tool, *flags, path, out, *options], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        counts = dict(line.split()[:2] for line in printed.splitlines())
        self.densities = {line.split()[0]: float(line.split()[2]) for line in printed.splitlines()}
        self.times = {words[0]: float(words[3]) for words in map(str.split, printed.splitlines())
                      if len(words) > 3}  # us, with --times
        found = {}
        for p in chosen:
            maps = [np.fromfile(os.path.join(out, p.name + end), kind).reshape(p.left.shape)
                    for end, kind in (('.planes', '<u2'), ('.structure', np.uint8),
                                      ('.semantic', np.uint8))]
            found[p.name] = (score.to_px(maps[0], depth.SCALE), maps[1], maps[2],
                             int(counts[p.name]))
        return found

    def score(self, source, found, labels=None):
        """Image -> dictionary: D1 of the planes over all truth (filled), `known` the same over the
        pixels with an input, IoU of sky and ground by structural class, mean IoU and IoU of each
        class, stixels."""
        rows = {}
        for p in self.pictures:
            if p.name not in found:
                continue
            planes, structure, semantic, count = found[p.name]
            row = {'stixels': count, 'px': p.left.size / count}
            if p.truth is not None:
                row['D1'] = score.score_disparity(planes, p.truth, p.region)['D1_fill']
                known = np.isfinite(self.input(source, p))
                if p.region is not None:
                    known &= p.region
                row['known'] = score.score_disparity(planes, p.truth, known)['D1_fill']
            if p.name in self.labels:
                truth, classes = self.labels[p.name]
                for what, number in (('sky', 2), ('ground', 0)):
                    of = [k for k, kind in enumerate(classes) if kind[1] == what[0]]
                    real = np.where(truth == UNKNOWN, UNKNOWN, np.isin(truth, of).astype(np.uint8))
                    got = ious((structure == number).astype(np.uint8), real, 2)
                    if 1 in got:
                        row[what] = got[1]
                if labels:
                    each = ious(semantic, truth, len(classes))
                    row['mIoU'] = float(np.mean(list(each.values())))
                    row.update({'IoU ' + classes[k][0]: v for k, v in each.items()})
            rows[p.name] = row
        return rows

    def input_scores(self, source):
        rows = {}
        for p in self.pictures:
            if p.truth is None:
                continue
            estimate = self.input(source, p)
            known = np.isfinite(estimate)
            if p.region is not None:
                known &= p.region
            rows[p.name] = {'D1': score.score_disparity(estimate, p.truth, p.region)['D1_fill'],
                            'known': score.score_disparity(estimate, p.truth, known)['D1_fill']}
        return rows

    def majority_scores(self):
        rows = {}
        for name, (labels, classes) in self.labels.items():
            each = ious(majority(labels), labels, len(classes))
            sky = [k for k, of in enumerate(classes) if of[1] == 's']
            rows[name] = {'mIoU': float(np.mean(list(each.values()))), 'sky': each.get(sky[0])}
        return rows

    def by_group(self, rows, real=False):
        """Group -> column -> mean over its images that have it; real: without noisy copies."""
        found = {}
        for group in dict.fromkeys(p.group for p in self.pictures):
            own = [rows[p.name] for p in self.pictures if p.group == group and p.name in rows and
                   not (real and p.name.endswith('_noise'))]
            columns = dict.fromkeys(c for row in own for c in row)
            found[group] = {c: float(np.mean([row[c] for row in own if row.get(c) is not None]))
                            for c in columns}
        return {group: row for group, row in found.items() if row}
