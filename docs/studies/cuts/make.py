#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plots and pictures of the study of cuts.

  docs/studies/cuts/make.py plots                       curve.png and density.png from the text files here
  docs/studies/cuts/make.py pictures STIXELS_TOOL DATA FOLDER
        cuts of the network in red, boundaries of cuts=all at no cut in yellow, on rendered pictures
        (here) and real ones (FOLDER/pictures); FOLDER is that of tests/quality_cuts.py
  examples/run.sh docs/studies/cuts/make.py video STIXELS_TOOL FOLDER [SOURCE]
        the same on a drive, with the boundaries of cuts=network in green: FOLDER/cuts.avi and its frames;
        SOURCE: launch line of side-by-side pairs, default: 40 frames of a rendered street

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
RENDERED = ('street_101', 'offroad_107')


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
    left.set_xlabel('step')
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
            points = sorted(value for name, value in own.items() if name.startswith('score'))
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


def search(tool, path, out, names, sizes):
    """Name -> cuts of the network, boundaries of cuts=all, of cuts=network; each [column][row]."""
    maps = {name: [] for name in names}
    for cuts in ('all', 'network'):
        subprocess.run([tool, path, out, 'model=slanted', 'refine=false', 'cuts=' + cuts], check=True,
                       stdout=subprocess.DEVNULL)
        for name in names:
            shape = tuple(-(-side // CELL) for side in sizes[name])
            if cuts == 'network':
                found = np.fromfile(os.path.join(out, name + '.cuts'), np.uint8).reshape(shape) > 0
                maps[name].insert(0, found)
            maps[name].append(starts_of(os.path.join(out, name + '.list'), shape))
    return maps


def draw(gray, marks):
    """marks: [column][row], color, height in px."""
    import cv2
    picture = cv2.cvtColor(gray // 2 + 64, cv2.COLOR_GRAY2BGR)
    for which, color, thick in marks:
        for x, v in zip(*np.nonzero(which)):
            y = gray.shape[0] - v * CELL
            if v > 0 and y > 0:
                picture[y - 1:y - 1 + thick, x * CELL:(x + 1) * CELL - 1] = color
    return picture


RED, YELLOW, GREEN = (60, 60, 255), (0, 255, 255), (60, 220, 60)


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
    sizes = {name: view.shape[::-1] for name, view in views.items()}
    with open(path, 'w') as file:
        for name in REAL + RENDERED:
            file.write('%s %d %d 128 o %s - -\n' % (name, *sizes[name], os.path.join(
                folder, 'default', name + '.disparity')))
    for name, (cuts, exact, _chosen) in search(tool, path, out, REAL + RENDERED, sizes).items():
        missed = exact & ~cuts
        picture = draw(views[name], ((cuts, RED, 1), (missed, YELLOW, 2)))
        cv2.imwrite(os.path.join(HERE if name in RENDERED else out, name + '.png'), picture)
        print('%s: %d boundaries of cuts=all, %d of them at no cut; density of cuts %.1f %%'
              % (name, exact.sum(), missed.sum(), 100 * cuts[:, 1:].mean()))


DRIVE = ('stereotestsrc pattern=street seed=101 num-buffers=40 ! '
         'video/x-raw,format=BGRx,width=1280,height=480,framerate=5/1')


def take_frames(source):
    """[(left view in gray, disparity in 1/16 px, end of the search range)] of a drive."""
    import gi
    import roadvision
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    frames = []

    def take(pad, info):
        buffer = info.get_buffer()
        meta = roadvision.annotation(buffer, 'RvDisparityMeta')
        picture = roadvision.picture(buffer, pad.get_current_caps())
        frames.append((np.ascontiguousarray(picture[:, :, 1]), meta['payload'].astype('<u2'),
                       meta['min-disparity'] + meta['disparities']))
        return Gst.PadProbeReturn.OK

    pipeline = Gst.parse_launch('%s ! videoconvert ! video/x-raw,format=BGRx ! cudasgm ! fakesink name=last'
                                % source)
    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, take)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE,
                                                    Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit('make.py: %s' % message.parse_error()[0].message)
    return frames


def video(tool, folder, source=DRIVE):
    import cv2
    frames = take_frames(source)
    os.makedirs(folder, exist_ok=True)
    names = ['frame%03d' % k for k in range(len(frames))]
    path = os.path.join(folder, 'list')
    with open(path, 'w') as file:
        for name, (gray, disparity, end) in zip(names, frames):
            disparity.tofile(os.path.join(folder, name + '.disparity'))
            file.write('%s %d %d %d o %s - -\n' % (
                name, *gray.shape[::-1], end, os.path.join(folder, name + '.disparity')))
    sizes = {name: gray.shape[::-1] for name, (gray, _d, _e) in zip(names, frames)}
    writer = cv2.VideoWriter(os.path.join(folder, 'cuts.avi'), cv2.VideoWriter_fourcc(*'MJPG'), 5,
                             sizes[names[0]])
    maps = search(tool, path, folder, names, sizes)
    for name, (gray, _disparity, _end) in zip(names, frames):
        cuts, exact, chosen = maps[name]
        missed = exact & ~cuts
        picture = draw(gray, ((cuts, RED, 1), (chosen, GREEN, 2), (missed, YELLOW, 2)))
        writer.write(picture)
        cv2.imwrite(os.path.join(folder, name + '.png'), picture)
        print('%s: density of cuts %.1f %%, %d boundaries, of cuts=all %d, of these at no cut %d'
              % (name, 100 * cuts[:, 1:].mean(), chosen.sum(), exact.sum(), missed.sum()))
    writer.release()


if __name__ == '__main__':
    if sys.argv[1:] == ['plots']:
        plots()
    elif len(sys.argv) == 5 and sys.argv[1] == 'pictures':
        pictures(*sys.argv[2:])
    elif len(sys.argv) in (4, 5) and sys.argv[1] == 'video':
        video(*sys.argv[2:])
    else:
        sys.exit(__doc__)
