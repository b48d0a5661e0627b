#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""examples/train_cuts.py without its training: what it makes of a frame, and its integers, are those of
the library. STIXELS_TOOL is that of tests/eval.

  train_cuts_test.py STIXELS_TOOL
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, 'examples'), os.path.join(ROOT, 'tools')]
TOOL = ''
GROUND = 6  # channel of the input


def decode(data):
    """(layers, threshold, most) of a file, as train_cuts.encode takes them."""
    import train_cuts
    at, layers = 20, []
    for rows, _dilation, count, out in train_cuts.LAYERS:
        shift = int(np.frombuffer(data, '<u4', 1, at + 16)[0])
        at += 20
        weight = np.frombuffer(data, np.int8, out * rows * count, at).reshape(out, rows, count)
        at += weight.size
        layers.append((weight.transpose(0, 2, 1), np.frombuffer(data, '<i4', out, at), shift))
        at += 4 * out
    return (layers, *(int(v) for v in np.frombuffer(data, '<i4', 2, at)))


def weights():
    with open(os.path.join(ROOT, 'cuda', 'stixels', 'stixels_network_weights.c')) as file:
        text = file.read()
    return bytes(int(v) for v in re.findall(r'\d+', text[text.index('= {'):]))


class TrainCuts(unittest.TestCase):
    def test_file(self):
        """The weights of the library are such a file, and are written as they are."""
        import train_cuts
        data = weights()
        layers, threshold, most = decode(data)
        self.assertEqual(train_cuts.encode(layers, threshold, most), data)
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, 'weights.c')
            train_cuts.write_array(path, data)
            with open(path) as file, \
                    open(os.path.join(ROOT, 'cuda', 'stixels', 'stixels_network_weights.c')) as own:
                self.assertEqual(file.read(), own.read())

    def frames(self):
        """Scenes of frames of any sizes, with random cells."""
        import cuts_samples
        random = np.random.Generator(np.random.PCG64(1))

        def frame(columns, rows):
            weight = random.integers(256, size=(rows, columns)) * (random.random((rows, columns)) < 0.7)
            return cuts_samples.Frame(random.integers(1, 2000, size=(rows, columns)).astype(np.uint16),
                                    weight.astype(np.uint8), (weight == 0) & (random.random(weight.shape) < 0.5),
                                    random.integers(-16384, 32767, size=rows).astype(np.int16),
                                    random.integers(2, size=(columns, rows)).astype(np.uint8))
        return [[frame(*shape) for shape in shapes]
                for shapes in (((5, 7), (5, 7)), ((3, 13),), ((11, 1), (2, 9), (1, 30)))]

    def test_cells(self):
        """The file of --save-cells has the frames of every scene, of any sizes."""
        import cuts_samples
        found = self.frames()
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, 'cells.npz')
            cuts_samples.save_cells(path, cuts_samples.pack(found))
            with np.load(path) as stored:
                read = cuts_samples.unpack(stored)
        self.assertEqual([len(of) for of in read], [2, 1, 3])
        for own, other in zip((f for of in found for f in of), (f for of in read for f in of)):
            for name, values, again in zip(own._fields, own, other):
                self.assertEqual(values.dtype, again.dtype, name)
                np.testing.assert_array_equal(values, again, name)

    def test_inputs(self):
        """Training makes the same inputs of cells as sample_of, whose cuts are those of the library."""
        import cuts_samples
        import train_cuts
        try:
            import torch
        except ImportError:
            self.skipTest('no PyTorch')
        options = argparse.Namespace(device='cpu', seed=1, batch=1, vary=0)
        for frame in (f for of in self.frames() for f in of):
            columns = train_cuts.Columns(torch, [frame], options)
            found = columns.inputs(*(part.int() for part in columns.groups[0][:4]))
            np.testing.assert_array_equal(found.numpy(), cuts_samples.sample_of(frame)[0])

    def test_leaves(self):
        """The right view of the surfaces is the left one moved by their disparity: by that of the back
        where nothing else is."""
        import cuts_samples
        made = cuts_samples.leaves(7, 320, 240, 64, 0).astype(int)
        self.assertEqual(made.shape, (240, 640))
        np.testing.assert_array_equal(made, cuts_samples.leaves(7, 320, 240, 64, 0))
        left, right = made[:, :320], made[:, 320:]
        least = np.min([np.abs(left[:, 64:] - right[:, 64 - d:320 - d]) for d in range(64)], axis=0)
        self.assertLess(float((least > 4).mean()), 0.1)

    def test_frame(self):
        """Cuts of rendered scenes are those of the library, with a network that ignores the ground: the
        tool estimates it without the camera of the scene."""
        import cuts_samples
        import gi
        import roadvision
        import train_cuts
        gi.require_version('Gst', '1.0')
        from gi.repository import Gst
        Gst.init(None)
        layers, threshold, most = decode(weights())
        layers[0] = (layers[0][0].copy(), *layers[0][1:])
        layers[0][0][:, GROUND] = 0
        file = train_cuts.encode(layers, threshold, most)
        for number in (0, 4, 13):
            taken = []

            def take(_pad, info):
                taken.append(roadvision.annotations(info.get_buffer()))
                return Gst.PadProbeReturn.OK

            line = cuts_samples.line_of(number, 'cpu').replace('num-buffers=3', 'num-buffers=1')
            pipeline = Gst.parse_launch(line)
            pipeline.get_by_name('last').get_static_pad('sink').add_probe(
                Gst.PadProbeType.BUFFER, take)
            pipeline.set_state(Gst.State.PLAYING)
            message = pipeline.get_bus().timed_pop_filtered(
                100 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
            pipeline.set_state(Gst.State.NULL)
            self.assertEqual(message.type, Gst.MessageType.EOS)
            x, y = cuts_samples.sample_of(cuts_samples.frame_of(taken[0]))
            self.assertEqual(int(y.sum()), taken[0]['RvStixelsMeta']['count'])
            scores = train_cuts.run_integers(layers, x)
            limit = np.maximum(train_cuts.limits_of(scores[:, 1:], most), threshold)
            codes = np.where(scores >= limit, np.clip(scores + 128, 1, 254), 0)
            codes[:, 0] = 255
            differ = codes != self.of_library(taken[0], x.shape[2], file)
            self.assertEqual(int(differ.sum()), 0, 'scene %d: cuts of %d' % (number, differ.size))

    def of_library(self, annotations, rows, network):
        import cuts_samples
        depth, meta = annotations['RvDisparityMeta'], annotations['RvStixelsMeta']
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, 'list')
            depth['payload'].astype('<u2').tofile(os.path.join(work, 'd'))
            confidence = depth.get('confidence')
            if confidence is not None:
                confidence.tofile(os.path.join(work, 'c'))
            with open(path, 'w') as file:
                file.write('frame %d %d %d o %s %s -\n' % (
                    meta['width'], meta['height'], depth['min-disparity'] + depth['disparities'],
                    os.path.join(work, 'd'),
                    '-' if confidence is None else os.path.join(work, 'c')))
            with open(os.path.join(work, 'network'), 'wb') as file:
                file.write(network)
            subprocess.run([TOOL, path, work, 'cuts=network', 'full-confidence=%g' % cuts_samples.FULL_CONFIDENCE,
                            'stixel-width=%d' % meta['stixel-width'],
                            'vertical-step=%d' % meta['vertical-step'],
                            'network=' + os.path.join(work, 'network')], check=True, stdout=subprocess.DEVNULL)
            return np.fromfile(os.path.join(work, 'frame.cuts'), np.uint8).reshape(-1, rows)


if __name__ == '__main__':
    TOOL = sys.argv.pop(1)
    unittest.main()
