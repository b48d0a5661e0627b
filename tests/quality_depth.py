# SPDX-License-Identifier: MIT
"""Depth on all open sets with ground truth: the judging half of `quality.sh depth`, and the images
and scores that choose_defaults.py chooses by.

Every real pair is evaluated twice: as it is, and with Gaussian noise of one gray level added to both
views, because one copy of a pair is a noisy measure. Nothing here knows how the matcher works."""
import json
import os
import subprocess
import tempfile
import zlib

import cv2
import numpy as np

import score

SCALE = 16
NOISE = 1.0  # gray levels
COLUMNS = ('D1_fill', 'bad3_fill', 'bad1_fill', 'D1_est', 'bad1_est', 'mean_est', 'density', 'sky')
# Set: sets of the manifest, which truth, disparities for images that need more than the default.
REAL = {
    'KITTI 2015': ('kitti2015', 'occ'),
    'KITTI 2012': ('kitti2012', 'occ'),
    'DrivingStereo': ('drivingstereo', 'all'),
    'Middlebury 2014 Q': ('middlebury2014_Q', 'nocc'),
    'Middlebury v2': ('middlebury_v2', 'nocc'),
    'Middlebury 2006': ('middlebury2006', 'all'),
    'Virtual KITTI 2': ('vkitti2', None),  # labels only: sky
}
RENDERED = 'rendered'
# Pattern, seed and frame (two per second). No other test or document uses these seeds.
SCENES = (('street', 101, 6), ('street', 102, 12), ('street', 103, 18), ('street', 104, 24),
          ('slanted-street', 105, 6), ('slanted-street', 106, 12),
          ('offroad', 107, 6), ('offroad', 108, 12))
SCENE_SIZE = (640, 480)
SCENE_SKY = 8                            # RV_LABEL_SKY
CITYSCAPES_SKY = (180, 130, 70)          # BGR
VKITTI_SKY = (255, 200, 90)
QUICK = ('KITTI 2015', 'KITTI 2012', 'Middlebury v2')  # of `quality.sh depth quick`, no noisy copies
# Limits: (D1 filled at most, density at least, sky at most), percent, of the images as they are and
# with fill=dense (D1 filled), 3 % from what was measured.
LIMITS = {
    'KITTI 2015': (5.84, 89.5, 7.1, 5.67),
    'KITTI 2012': (5.23, 88.2, None, 5.06),
    'DrivingStereo': (2.53, 81.5, None, 2.13),
    'Middlebury 2014 Q': (5.92, 90.4, None, 5.76),
    'Middlebury v2': (2.00, 93.8, None, 1.83),
    'Middlebury 2006': (4.76, 80.5, None, 4.53),
    RENDERED: (2.02, 91.1, 12.7, 1.82),
}


class Sample:
    """A pair with what is known of it. truth: px, NaN = none, or None; region, sky: bool or None."""

    def __init__(self, group, name, disparities, left, right, truth=None, region=None, sky=None):
        self.group, self.name, self.disparities = group, name, disparities
        self.left, self.right = left, right  # gray, u8
        self.truth, self.region, self.sky = truth, region, sky
        self.paths = None  # of the two views in color


def gray_of(path):
    """As the elements convert: (77 R + 150 G + 29 B + 128) / 256."""
    picture = cv2.imread(path, cv2.IMREAD_COLOR)
    if picture is None:
        raise SystemExit('quality: cannot read %s' % path)
    b, g, r = (picture[:, :, i].astype(np.uint32) for i in range(3))
    return ((77 * r + 150 * g + 29 * b + 128) >> 8).astype(np.uint8)


def with_noise(gray, name):
    random = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    noisy = gray + random.normal(0, NOISE, gray.shape)
    return np.clip(np.floor(noisy + 0.5), 0, 255).astype(np.uint8)


def sky_of(folder, pair, shape):
    for key, color in (('semantic', CITYSCAPES_SKY), ('classgt', VKITTI_SKY)):
        if key in pair:
            labels = cv2.imread(os.path.join(folder, pair[key]), cv2.IMREAD_COLOR)
            labels = cv2.resize(labels, shape[::-1], interpolation=cv2.INTER_NEAREST)
            return (labels == np.array(color, np.uint8)).all(axis=2)
    return None


def real_images(folder, groups, noise=True):
    with open(os.path.join(folder, 'manifest.json')) as file:
        pairs = json.load(file)['pairs']
    pictures = []
    for group in groups:
        name_in_manifest, kind = REAL[group]
        for pair in (p for p in pairs if p['set'] == name_in_manifest):
            views = [gray_of(os.path.join(folder, pair[side])) for side in ('left', 'right')]
            truth = region = None
            if kind:
                stored = pair['gt'][kind]
                truth = score.read_disparity(os.path.join(folder, stored['file']), stored['enc'])
                if 'mask' in stored:
                    path, value = stored['mask'].split(':')
                    region = cv2.imread(os.path.join(folder, path), cv2.IMREAD_GRAYSCALE)
                    region = region == int(value)
            disparities = max(128, (pair['ndisp'] + 31) // 32 * 32)
            sky = sky_of(folder, pair, views[0].shape)
            pictures.append(Sample(group, pair['name'], disparities, *views, truth, region, sky))
            pictures[-1].paths = [os.path.join(folder, pair[side]) for side in ('left', 'right')]
            if noise:
                name = pair['name'] + '_noise'
                noisy = [with_noise(view, name + str(i)) for i, view in enumerate(views)]
                pictures.append(Sample(group, name, disparities, *noisy, truth, region, sky))
    return pictures


def read_pgm(path):
    view = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    if view is None:
        raise SystemExit('quality: cannot read %s' % path)
    return view


def rendered_images(tool, work):
    width, height = SCENE_SIZE
    pictures = []
    for pattern, seed, frame in SCENES:
        name = '%s_%d' % (pattern, seed)
        prefix = os.path.join(work, name + '_')
        subprocess.run([tool, 'render', pattern, str(width), str(height), str(seed), str(frame),
                        prefix], check=True)
        raster = {what: np.fromfile(prefix + what, kind).reshape(height, width)
                  for what, kind in (('truth', '<u2'), ('labels', np.uint8), ('visible', np.uint8))}
        pictures.append(Sample(RENDERED, name, 128, read_pgm(prefix + 'left.pgm'),
                                read_pgm(prefix + 'right.pgm'), score.to_px(raster['truth'], SCALE),
                                raster['visible'] > 0, raster['labels'] == SCENE_SKY))
    return pictures


class Judge:
    """Images on disk for the tool, and the scores of its results."""

    def __init__(self, tool, work, pictures):
        self.tool, self.work, self.pictures = tool, work, pictures
        self.list = os.path.join(work, 'list')
        with open(self.list, 'w') as file:
            for p in pictures:
                paths = []
                for side, view in (('left', p.left), ('right', p.right)):
                    paths.append(os.path.join(work, '%s_%s.pgm' % (p.name, side)))
                    with open(paths[-1], 'wb') as pgm:
                        pgm.write(b'P5 %d %d 255\n' % (view.shape[1], view.shape[0]))
                        pgm.write(view.tobytes())
                file.write('%s %d %s %s\n' % (p.name, p.disparities, *paths))

    def match(self, options=()):
        """Runs the matcher; options: NAME=VALUE."""
        printed = subprocess.run([self.tool, 'match', self.list, self.work, *options], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        self.times = {name: float(us) for name, us in map(str.split, printed.splitlines())}

    def disparity(self, picture):
        stored = np.fromfile(os.path.join(self.work, picture.name + '.disparity'), '<u2')
        return score.to_px(stored.reshape(picture.left.shape), SCALE)

    def confidence(self, picture):
        stored = np.fromfile(os.path.join(self.work, picture.name + '.confidence'), np.uint8)
        return stored.reshape(picture.left.shape)

    def scores(self):
        """Image -> dictionary of COLUMNS; NaN where the image has no such truth."""
        return {p.name: score_image(p, self.disparity(p)) for p in self.pictures}


def score_image(picture, estimate):
    row = dict.fromkeys(COLUMNS, float('nan'))
    if picture.truth is not None:
        row.update({name: value for name, value in
                    score.score_disparity(estimate, picture.truth, picture.region).items()
                    if name in row})
    if picture.sky is not None and picture.sky.any():
        row['sky'] = 100.0 * float(np.isfinite(estimate[picture.sky]).mean())
    return row


def mean(rows):
    """Of each column over the rows that have it."""
    found = {}
    for name in COLUMNS:
        values = [row[name] for row in rows if not np.isnan(row[name])]
        found[name] = float(np.mean(values)) if values else float('nan')
    return found


def by_group(pictures, scores):
    """Group -> means over its images, in the order in which they come."""
    groups = list(dict.fromkeys(p.group for p in pictures))
    return {group: mean([scores[p.name] for p in pictures if p.group == group])
            for group in groups}


def print_table(groups, first):
    print('%-28s' % first + ''.join('%10s' % name for name in COLUMNS))
    for name, row in list(groups.items()) + [('mean over the sets', mean(list(groups.values())))]:
        print('%-28s' % name + ''.join(
            '%10s' % ('-' if np.isnan(row[column]) else '%.2f' % row[column])
            for column in COLUMNS), flush=True)


def real(pictures):
    return [p for p in pictures if not p.name.endswith('_noise')]


def best_opencv(pictures, settings, match):
    """Group -> means of the setting of OpenCV that is best there by filled D1, with its name."""
    found = {}
    for name, mode, block in settings:
        rows = {}
        for p in pictures:
            views = [cv2.imread(path) for path in p.paths] if p.paths else \
                [cv2.merge([view] * 3) for view in (p.left, p.right)]
            rows[p.name] = score_image(p, match(*views, p.disparities, mode, block))
        for group, row in by_group(pictures, rows).items():
            if group not in found or row['D1_fill'] < found[group][0]['D1_fill']:
                found[group] = (row, name)
    return {'%s: %s' % (group, name): row for group, (row, name) in found.items()}


def checks_of(groups, dense):
    """(text, value, holds) of LIMITS; groups, dense: as by_group gives them."""
    for group, (most, density, sky, most_dense) in LIMITS.items():
        if group not in groups:
            continue
        row = groups[group]
        yield ('%s: D1, filled, at most %.2f %%' % (group, most), row['D1_fill'],
               row['D1_fill'] <= most)
        yield ('%s: density at least %.1f %%' % (group, density), row['density'],
               row['density'] >= density)
        if sky:
            yield ('%s: sky with a disparity, at most %.1f %%' % (group, sky), row['sky'],
                   row['sky'] <= sky)
        yield ('%s: D1 with fill=dense, at most %.2f %% and not above' % (group, most_dense),
               dense[group]['D1_fill'],
               dense[group]['D1_fill'] <= min(most_dense, row['D1_fill']))


def evaluate(verdict, tool, folder, what=''):
    """what: quick (a few sets, no noisy copies), opencv (OpenCV's best settings beside), or ''."""
    with tempfile.TemporaryDirectory() as work:
        pictures = real_images(folder, QUICK if what == 'quick' else REAL, what != 'quick')
        if what != 'quick':
            pictures += rendered_images(tool, work)
        pairs = Judge(tool, work, pictures)
        pairs.match()
        scores = pairs.scores()
        pairs.match(['fill=dense'])
        dense = by_group(real(pictures), pairs.scores())
    groups = by_group(real(pictures), scores)
    print_table(groups, 'default properties')
    if what != 'quick':
        print_table(by_group(pictures, scores), 'and with noise of 1 level')
    print_table(dense, 'fill=dense')
    if what == 'opencv':
        import quality
        asked = [p for p in real(pictures) if p.truth is not None]
        print_table(best_opencv(asked, quality.opencv_settings(), quality.opencv), 'OpenCV')
    return verdict(list(checks_of(groups, dense)))
