#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Where depth and stixels are most wrong on the rendered scenes of tests/quality_depth.py.

    make.py DEPTH_TOOL STIXELS_TOOL [FOLDER]

The tools are those of tests/eval of a build. For each method: the largest connected areas more than 3 px and 5 % off
the truth, in three different scenes, by number of pixels. So nobody chooses what is shown. Writes depth.png
and stixels.png: one row per failure, left picture, truth, result, and the wrong pixels in red."""
import importlib.util
import os
import sys
import tempfile

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', '..', 'tests'))
import quality_depth  # noqa: E402
import score  # noqa: E402
import stixels_sets  # noqa: E402

PANEL = (240, 180)  # px of a panel, as many of the scene
ROWS = 3            # failures per method
JOIN = 9            # px: wrong pixels nearer than this to each other are one failure


class Rendered(stixels_sets.Sets):
    """The rendered scenes alone, which need no RV_DATA."""

    def __init__(self, depth_tool, stixels_tool, work):
        self.tool, self.work, self.labels = stixels_tool, work, {}
        self.pictures = quality_depth.rendered_images(depth_tool, work)
        os.mkdir(os.path.join(work, 'default'))
        quality_depth.Judge(depth_tool, os.path.join(work, 'default'), self.pictures).match([])


def wrong_pixels(estimate, truth):
    off = np.abs(np.nan_to_num(estimate) - truth)
    return np.isfinite(truth) & np.isfinite(estimate) & (off > 3) & (off > 0.05 * truth)


def worst(wrong):
    """(pixels, center) of the largest failure."""
    near = cv2.dilate(wrong.astype(np.uint8), np.ones((JOIN, JOIN), np.uint8))
    number, labels = cv2.connectedComponents(near)
    sizes = np.bincount(labels[wrong], minlength=number)
    sizes[0] = 0
    rows, columns = np.nonzero(wrong & (labels == sizes.argmax()))
    return int(sizes.max()), (int(columns.mean()), int(rows.mean()))


def colors_of(disparity, most):
    scaled = np.clip(np.nan_to_num(disparity) / most * 255, 0, 255).astype(np.uint8)
    colored = cv2.applyColorMap(scaled, cv2.COLORMAP_TURBO)
    colored[~np.isfinite(disparity)] = 0
    return colored


def row_of(scene, result, wrong, center):
    width, height = PANEL
    left = int(np.clip(center[0] - width // 2, 0, scene.left.shape[1] - width))
    top = int(np.clip(center[1] - height // 2, 0, scene.left.shape[0] - height))
    part = np.s_[top:top + height, left:left + width]
    most = max(float(np.nanmax(scene.truth[part])), 1)
    plain = cv2.cvtColor(scene.left[part], cv2.COLOR_GRAY2BGR)
    marked = plain // 2
    marked[wrong[part]] = (0, 0, 255)
    return np.hstack([plain, colors_of(scene.truth[part], most), colors_of(result[part], most),
                      marked])


def sheet(scenes, results, name):
    found = []
    for scene in scenes:
        wrong = wrong_pixels(results[scene.name], scene.truth)
        if wrong.any():
            found.append((*worst(wrong), scene, wrong))
    found.sort(key=lambda item: -item[0])
    for pixels, center, scene, _wrong in found[:ROWS]:
        print('%s: %s, %d px at %d, %d' % (name, scene.name, pixels, *center))
    return np.vstack([row_of(scene, results[scene.name], wrong, center)
                      for _pixels, center, scene, wrong in found[:ROWS]])


def gallery():
    """The module that makes the gallery."""
    path = os.path.join(HERE, '..', '..', 'gallery', 'make.py')
    spec = importlib.util.spec_from_file_location('gallery', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = sys.argv[3] if len(sys.argv) > 3 else HERE
    with tempfile.TemporaryDirectory() as work:
        sets = Rendered(sys.argv[1], sys.argv[2], work)
        depth = {p.name: sets.input('default', p) for p in sets.pictures}
        stixels = {name: found[0] for name, found in sets.run('default').items()}
    for name, results in (('depth', depth), ('stixels', stixels)):
        gallery().write_indexed_png(os.path.join(folder, name + '.png'),
                                  sheet(sets.pictures, results, name))


if __name__ == '__main__':
    main()
