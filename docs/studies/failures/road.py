#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Where road detection is most wrong on three rendered drives.

    RV_BUILD_DIR=build road.py [FOLDER]

Of each drive the frame with the most wrong pixels, so that nobody chooses what is shown. Writes road.png: a row
per drive, left picture, then the road: found in green, missed in blue, and in red what is none."""
import os
import sys
import tempfile

import numpy as np

import make

sys.path.insert(0, os.path.join(make.HERE, '..', '..', '..', 'examples'))
import road_eval  # noqa: E402

FRAMES, RATE = 14, 5  # 1.6 m apart
DRIVES = (('grass as low as the track', road_eval.drive('', FRAMES, 41, RATE, 480, grass_height=0)),
          ('stretches of shadow', road_eval.drive('shadow', FRAMES, 35, RATE)),
          ('street without curbs', road_eval.drive('', FRAMES, 43, RATE, 480, pattern='street',
                                                   curb_height=0)))
SHOWN = 360  # rows of a picture
COLORS = ((0, 255, 0), (255, 0, 0), (0, 0, 255))  # BGR: found, missed, no road


def row_of(part):
    """The picture of the worst frame of a drive, its number and its F1."""
    width, height = part.size
    with tempfile.TemporaryDirectory() as work:
        files = {name: os.path.join(work, name) for name in ('save', 'masks')}
        result, = road_eval.run([part], [{}], **files)
        masks = np.fromfile(files['masks'], np.uint8).reshape(-1, height, width) > 0
        worst, most = None, -1
        for index, (picture, truth) in enumerate(road_eval.frames_of(files['save'], width, height)):
            mask, real = masks[index], truth == 255
            kinds = (mask & real, real & ~mask, mask & (truth == 0))
            wrong = int(kinds[1].sum() + kinds[2].sum())
            if wrong > most:
                worst, most = (index, picture, kinds), wrong
    index, picture, kinds = worst
    marked = picture // 2
    for kind, color in zip(kinds, COLORS):
        marked[kind] += np.array(color, np.uint8) // 2
    return np.hstack([picture, marked])[-SHOWN:], index, result.f1[index], result.f1.mean()


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else make.HERE
    rows = []
    for name, part in DRIVES:
        row, index, f1, mean = row_of(part)
        rows.append(make.cv2.resize(row, None, fx=0.5, fy=0.5, interpolation=make.cv2.INTER_AREA))
        print('%s: frame %d, F1 %.1f; mean %.1f' % (name, index, f1, mean))
    make.gallery().write_indexed_png(os.path.join(folder, 'road.png'), np.vstack(rows))


if __name__ == '__main__':
    main()
