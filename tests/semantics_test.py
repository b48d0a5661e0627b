#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""examples/semantics.py: what it feeds to a network and makes of its output, with a network that records
its input; refusals; and where onnxruntime is installed the network of examples/ in a pipeline."""
import os
import sys
import unittest

try:
    import cv2  # noqa: F401
    import numpy as np
except ImportError:
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path[:0] = [os.path.join(ROOT, 'examples'), os.path.join(ROOT, 'tools')]
import semantics  # noqa: E402
from helpers import FolderCase  # noqa: E402

MAPPED = '0 road g\n3 car o # both are\n4 car o\n\n5 sky s\n'


class Session:
    """A network that is a function."""

    def __init__(self, function, shape=(1, 3, 'height', 'width'), kind='tensor(float)', **metadata):
        self.function, self.shape, self.type, self.name = function, shape, kind, 'picture'
        self.custom_metadata_map = metadata
        self.seen = None

    def get_modelmeta(self):
        return self

    def get_inputs(self):
        return [self]

    def run(self, _names, inputs):
        self.seen = inputs['picture']
        return [self.function(self.seen)]


def planes(*values):
    """Six planes of 2x2 scores or logits with one value each."""
    return lambda _seen: np.array(values, np.float32)[None, :, None, None] * np.ones((1, 1, 2, 2), np.float32)


class Networks(FolderCase):
    def network(self, session, *arguments, classes=MAPPED):
        if classes is not None:
            with open(self.path('classes.txt'), 'w') as file:
                file.write(classes)
            arguments += ('--classes', self.path('classes.txt'))
        return semantics.Network(session, semantics.parse(arguments))

    def refused(self, text, *arguments, **keywords):
        with self.assertRaises(semantics.Refused) as caught:
            self.network(Session(planes(1, 0, 0, 0, 0, 0)), *arguments, **keywords)
        self.assertIn(text, str(caught.exception))

    picture = np.array([[[10, 20, 30]] * 4] * 2, np.uint8)  # BGR, 4x2 px

    def test_input(self):
        session = Session(planes(1, 0, 0, 0, 0, 0))
        network = self.network(session, '--mean', '1', '2', '3', '--std', '2', '--size', '6x4')
        network.scores(self.picture)
        self.assertEqual(session.seen.shape, (1, 3, 4, 6))
        np.testing.assert_allclose(session.seen[0, :, 0, 0], [14.5, 9, 3.5])  # (30, 20, 10) less the mean
        session = Session(planes(1, 0, 0, 0, 0, 0), shape=(1, 3, 8, 12))
        self.network(session, '--order', 'bgr', '--std', '10').scores(self.picture)
        self.assertEqual(session.seen.shape, (1, 3, 8, 12))
        np.testing.assert_allclose(session.seen[0, :, 7, 11], [1, 2, 3])
        session = Session(lambda _seen: np.zeros((1, 2, 2, 6), np.float32), kind='tensor(uint8)')
        self.network(session, '--layout', 'nhwc', '--order', 'gray', '--std', '1').scores(self.picture)
        self.assertEqual((session.seen.shape, session.seen.dtype, session.seen[0, 0, 0, 0]),
                         ((1, 2, 4, 1), np.uint8, 22))

    def test_scores(self):
        network = self.network(Session(planes(0.2, 0.1, 0, 0.3, 0.15, 0.25)))
        self.assertEqual((network.classes.names, network.classes.letters), (['road', 'car', 'sky'], 'gos'))
        np.testing.assert_allclose(network.scores(self.picture)[:, 1, 1], [0.2, 0.45, 0.25], atol=1e-6)
        network = self.network(Session(planes(*np.log([2, 1, 1, 3, 1, 2]))))  # logits
        np.testing.assert_allclose(network.scores(self.picture)[:, 0, 1], [0.2, 0.4, 0.2], atol=1e-6)

    def test_labels(self):
        labels = np.array([[[0, 4], [2, 200]]], np.int64)
        found = self.network(Session(lambda _seen: labels)).scores(self.picture)
        self.assertEqual(found.argmax(axis=0)[0].tolist(), [0, 1])
        self.assertEqual(found[:, 1].sum(), 0)  # of no class

    def test_metadata(self):
        session = Session(planes(0.75, 0.25), **{'classes': 'road sky', 'semantic-classes': 'gs', 'mean': '10',
                                                 'std': '2 2 2', 'order': 'bgr', 'scale': '0.5', 'multiple': '2'})
        network = self.network(session, classes=None)
        np.testing.assert_allclose(network.scores(self.picture)[:, 0, 0], [0.75, 0.25])
        self.assertEqual(session.seen.shape, (1, 3, 2, 2))
        np.testing.assert_allclose(session.seen[0, :, 0, 0], [0, 5, 10])

    def test_refused(self):
        self.refused('--classes', classes=None)
        self.refused('line 2', classes='0 road g\nroad g\n')
        self.refused('line 1', classes='-1 road g\n')
        self.refused('is not g, o or s', classes='0 road x\n')
        self.refused('both', classes='0 road g\n1 road o\n')
        self.refused('two classes', classes='0 road g\n0 car o\n')
        self.refused('classes are needed', classes='# none\n')
        self.refused('classes are needed', classes=''.join('%d c%d o\n' % (k, k) for k in range(33)))
        self.refused('longer', classes='#' * 70000)
        self.refused('--mean', '--mean', '1', '2')
        self.refused('--std', '--std', '0')
        with self.assertRaises(semantics.Refused):
            self.network(Session(planes(0.5, 0.5))).scores(self.picture)

    def test_without_onnxruntime(self):
        kept, semantics.onnxruntime = semantics.onnxruntime, None
        try:
            with self.assertRaisesRegex(semantics.Refused, 'pip install onnxruntime'):
                semantics.load(semantics.parse([]))
        finally:
            semantics.onnxruntime = kept


class Pipelines(FolderCase):
    """The stixels of a pipeline have the classes of the network, frame by frame."""

    def stixels(self, session, *arguments):
        from gi.repository import Gst
        import roadvision
        Gst.init(None)
        options = semantics.parse(['--source', 'stereotestsrc num-buffers=3 ! video/x-raw,width=320,height=120',
                                   *arguments])
        network = semantics.Network(session, options)
        kept, found = roadvision.annotation, []
        try:
            def annotation(buffer, name):
                value = kept(buffer, name)
                found.append(value)
                return value
            roadvision.annotation = annotation
            self.assertEqual(semantics.play(options, network), 3)
        finally:
            roadvision.annotation = kept
        return found

    def test_classes(self):
        frames = []

        def upper(seen):  # the upper third is sky, the rest a class that changes with every frame
            frames.append(seen)
            scores = np.full((1, 3, *seen.shape[2:]), 0.05, np.float32)
            third = seen.shape[2] // 3
            scores[0, 2, :third] = 0.9
            scores[0, len(frames) % 2, third:] = 0.9
            return scores
        for how in ((), ('--labels',)):
            frames.clear()
            session = Session(upper, **{'classes': 'road car sky', 'semantic-classes': 'oos'})
            found = self.stixels(session, *how)
            self.assertEqual(len(frames), 3)
            for k, stixels in enumerate(found):
                classes = stixels['payload']['semantic']
                self.assertGreater(np.mean(classes[stixels['payload']['v_bottom'] == 119] == (k + 1) % 2), 0.9)

    def test_error(self):
        session = Session(lambda _seen: np.zeros((1, 2), np.float32),
                          **{'classes': 'road sky', 'semantic-classes': 'gs'})
        with self.assertRaisesRegex(semantics.Refused, 'output of the network'):
            self.stixels(session)

    @unittest.skipIf(semantics.onnxruntime is None or not os.path.exists(semantics.OURS), 'no onnxruntime')
    def test_ours(self):
        import roadvision
        from gi.repository import Gst
        Gst.init(None)
        options = semantics.parse(['--source', 'stereotestsrc num-buffers=1'])
        pipeline = Gst.parse_launch('stereotestsrc num-buffers=1 ! video/x-raw,format=BGRx ! cudasgm ! '
                                    'appsink name=out sync=false')
        pipeline.set_state(Gst.State.PLAYING)
        sample = pipeline.get_by_name('out').emit('pull-sample')
        buffer = sample.get_buffer()
        labels = np.asarray(roadvision.annotation(buffer, 'RvTruthMeta')['labels'])
        picture = roadvision.picture(buffer, sample.get_caps())[:, :, :3]
        scores = semantics.load(options).scores(np.ascontiguousarray(picture))
        pipeline.set_state(Gst.State.NULL)
        found = cv2.resize(scores.transpose(1, 2, 0), labels.shape[::-1]).argmax(axis=2)
        for name, scene in (('road', 0), ('sky', 8)):
            guess, real = found == semantics.load(options).classes.names.index(name), labels == scene
            self.assertGreater((guess & real).sum() / (guess | real).sum(), 0.8, name)


if __name__ == '__main__':
    unittest.main()
