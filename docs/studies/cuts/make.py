#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plots and pictures of the study of cuts.

  docs/studies/cuts/make.py plots                       curve.png and density.png from the text files here
  docs/studies/cuts/make.py pictures STIXELS_TOOL DATA FOLDER
        cuts of the network in red, boundaries of cuts=all at no cut in yellow, on rendered pictures
        (here) and real ones (FOLDER/pictures); FOLDER is that of tests/quality_cuts.py

Needs python3-matplotlib and python3-opencv.
"""
import os
import re
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
CELL = 8
REAL = ('kitti15_000000_10', 'drivingstereo_a', 'drivingstereo_b')
RENDERED = ('street_101',)


def rows_of(path):
    """{(title, set, cuts): (density, D1)}."""
    rows, title = {}, ''
    with open(path) as file:
        for line in file:
            found = re.match(r'(\S.{19})(\S.{13}) +([\d.]+) +([\d.]+|-)', line)
            if re.match(r'slanted \dx\d, ', line):
                title = line.strip()
            elif found and found.group(4) != '-':
                rows[title, found.group(1).strip(), found.group(2).strip()] = \
                    (float(found.group(3)), float(found.group(4)))
    return rows


def plots():
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    curve = np.loadtxt(os.path.join(HERE, 'curve.txt'), skiprows=1)
    figure, left = plt.subplots(figsize=(7, 3.5))
    left.plot(curve[:, 0], curve[:, 1], 'k-')
    left.set_xlabel('epoch')
    left.set_ylabel('loss (black)')
    right = left.twinx()
    right.plot(curve[:, 0], curve[:, 4], 'r-')
    right.set_ylabel('labels among the cuts, % (red)')
    figure.tight_layout()
    figure.savefig(os.path.join(HERE, 'curve.png'), dpi=100)
    rows = rows_of(os.path.join(HERE, 'density.txt'))
    titles = [t for t in dict.fromkeys(key[0] for key in rows) if 'no labels' in t]
    figure, axes = plt.subplots(1, len(titles), figsize=(10, 3.8))
    for axis, title in zip(np.atleast_1d(axes), titles):
        for color, group in zip('rgb', dict.fromkeys(key[1] for key in rows)):
            own = {key[2]: value for key, value in rows.items() if key[:2] == (title, group)}
            full = own['all'][1]
            points = sorted(value for name, value in own.items() if name.startswith('most'))
            axis.plot([p[0] for p in points], [p[1] - full for p in points], color + '.-', label=group)
            axis.plot(own['network'][0], own['network'][1] - full, color + 'o')
            axis.plot(own['time-series'][0], own['time-series'][1] - full, color + 'x')
        axis.axhline(0.1, color='gray', lw=0.5)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel('density of cuts, %')
        axis.set_ylabel('D1 minus that of cuts=all, points')
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(HERE, 'density.png'), dpi=100)


def starts_of(path, shape):
    """1 where a stixel starts, [column][row], without those at the bottom."""
    kind = np.dtype([('column', '<u2'), ('bottom', '<u2'), ('rest', 'V16')])
    found = np.zeros(shape, bool)
    records = np.fromfile(path, kind)
    height = records['bottom'].max() + 1
    found[records['column'] // CELL, (height - 1 - records['bottom']) // CELL] = True
    found[:, 0] = False
    return found


def pictures(tool, data, folder):
    import cv2
    import json
    out = os.path.join(folder, 'pictures')
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, 'list')
    with open(os.path.join(data, 'manifest.json')) as file:
        pairs = {pair['name']: pair for pair in json.load(file)['pairs']}
    left = {name: os.path.join(data, pairs[name]['left']) for name in REAL}
    left.update({name: os.path.join(folder, name + '_left.pgm') for name in RENDERED})
    views = {name: cv2.imread(path_of, cv2.IMREAD_GRAYSCALE) for name, path_of in left.items()}
    with open(path, 'w') as file:
        for name in REAL + RENDERED:
            file.write('%s %d %d 128 o %s - -\n' % (name, *views[name].shape[::-1], os.path.join(
                folder, 'default', name + '.disparity')))
    for name in REAL + RENDERED:
        maps = {}
        height, width = views[name].shape
        shape = (-(-width // CELL), -(-height // CELL))
        for cuts in ('all', 'network'):
            subprocess.run([tool, path, out, 'model=slanted', 'refine=false', 'cuts=' + cuts], check=True,
                           stdout=subprocess.DEVNULL)
            maps[cuts] = (np.fromfile(os.path.join(out, name + '.cuts'), np.uint8).reshape(shape),
                          starts_of(os.path.join(out, name + '.list'), shape))
        cuts, exact = maps['network'][0] > 0, maps['all'][1]
        missed = exact & ~cuts
        picture = cv2.cvtColor(views[name] // 2 + 64, cv2.COLOR_GRAY2BGR)
        for which, color in ((cuts, (60, 60, 255)), (missed, (0, 255, 255))):
            for x, v in zip(*np.nonzero(which)):
                y = height - v * CELL
                if v > 0 and y > 0:
                    picture[y - 1:y + (color[1] == 255), x * CELL:(x + 1) * CELL - 1] = color
        cv2.imwrite(os.path.join(HERE if name in RENDERED else out, name + '.png'), picture)
        print('%s: %d boundaries of cuts=all, %d of them at no cut; density of cuts %.1f %%'
              % (name, exact.sum(), missed.sum(), 100 * cuts[:, 1:].mean()))


if __name__ == '__main__':
    if sys.argv[1:] == ['plots']:
        plots()
    elif len(sys.argv) == 5 and sys.argv[1] == 'pictures':
        pictures(*sys.argv[2:])
    else:
        sys.exit(__doc__)
