#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""examples/train_semantics.py without its training: the file of views, and that classes stay with what they
are of when a view is varied. Parts skip without Pillow and PyTorch."""
import importlib.util
import os
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'examples'))
import semantics_samples as samples  # noqa: E402

HAS = {name: importlib.util.find_spec(name) is not None for name in ('PIL', 'torch')}
SKY = 8


def view(x, y):
    """A dark view with bright sky from column x on and below row y, px of the rendered size."""
    classes = np.zeros(samples.SIZE[::-1], np.uint8)
    classes[y:, x:] = SKY
    return np.where(classes[:, :, None] == SKY, 220, 40).astype(np.uint8).repeat(3, 2), classes


class TrainSemantics(unittest.TestCase):
    def test_classes(self):
        """Every label of a class is that class, others are unknown."""
        table = samples.to_classes(np.arange(256))
        for k, (_name, _kind, labels) in enumerate(samples.CLASSES):
            self.assertTrue((table[list(labels)] == k).all())
        self.assertEqual(int((table != samples.UNKNOWN).sum()), sum(len(of) for *_k, of in samples.CLASSES))

    @unittest.skipUnless(HAS['PIL'], 'no Pillow')
    def test_file(self):
        """Views and their classes come back, at the size of training, in their order."""
        views = [view(200, 120), view(480, 360)]
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, 'views.zip')
            samples.save_views(path, views)
            pictures, classes = samples.load_views(path)
        self.assertEqual(pictures.shape, (2, *samples.STORED[::-1], 3))
        for (_picture, own), got, again in zip(views, pictures, classes):
            self.assertAlmostEqual(float((own == SKY).mean()), float((again == SKY).mean()), delta=0.01)
            self.assertGreater(float(((got[:, :, 0] > 130) == (again == SKY)).mean()), 0.99)

    @unittest.skipUnless(HAS['torch'], 'no PyTorch')
    def test_batch(self):
        """Bright cells are the sky, however the view is cut, scaled and mirrored; a seed repeats a batch."""
        import torch
        small = [view(200, 120), view(480, 360), view(320, 0)]
        step = samples.SIZE[0] / samples.STORED[0]
        rows, columns = ((np.arange(n) * step).astype(int) for n in samples.STORED[::-1])
        arrays = [np.stack([part[rows][:, columns] for part in parts]) for parts in zip(*small)]
        batches = [samples.Views(torch, *arrays, 'cpu', 5).batch(24) for _k in range(2)]
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(*batches)))
        both = 0
        for picture, truth in zip(*batches[0]):
            self.assertEqual(truth.shape, (samples.CROP[1] // samples.STRIDE, samples.CROP[0] // samples.STRIDE))
            gray = picture.mean(0)[samples.STRIDE // 2::samples.STRIDE, samples.STRIDE // 2::samples.STRIDE]
            sky = truth == SKY
            if 0.1 < float(sky.float().mean()) < 0.9:
                both += 1
                limit = (gray[sky].mean() + gray[~sky].mean()) / 2
                self.assertGreater(float(((gray > limit) == sky).float().mean()), 0.97)
        self.assertGreater(both, 8)


if __name__ == '__main__':
    unittest.main()
