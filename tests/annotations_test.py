#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Annotations from Python, without C code: every one is written, copied and read with all of its
fields; what is wrong is an error that names it; labels attached in a pad probe of a running pipeline
change its stixels; the layouts of records are those of rv_records.h.

Run it where GStreamer finds the plugin: meson devenv -w . -C build tests/annotations_test.py"""
import os
import subprocess
import sys
import unittest

import gi
import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path[:0] = [os.path.join(ROOT, name) for name in ('examples', 'tools')]
import attach_labels  # noqa: E402
import roadvision  # noqa: E402

gi.require_version('Gst', '1.0')
gi.require_version('RoadVision', '0')
from gi.repository import GLib, Gst, RoadVision  # noqa: E402

W, H = 64, 48
RNG = np.random.default_rng(1)
STIXELS, GROUND, SEMANTICS = (RoadVision.StixelsModelKind, RoadVision.GroundSource,
                              RoadVision.SemanticsKind)


def raster(kind, width=W, height=H):
    return RNG.integers(0, 100, (height, width)).astype(kind)


def records(name, count, field='payload'):
    """Random bytes of `count` records."""
    empty = RoadVision.MetaArray.new(RoadVision.meta_get_format(name, field), 0, 1, GLib.Bytes.new(b''))
    kind = roadvision.to_numpy(empty).dtype
    return np.frombuffer(RNG.integers(0, 100, count * kind.itemsize).astype('u1').tobytes(), kind)


# A value for every field except width and height.
VALUES = {
    'RvCameraMeta': {
        'focal': 700.5, 'cx': 31.5, 'cy': 23.5, 'doffs': 2.0, 'baseline': 0.5, 'camera-height': 1.6,
        'pitch': 3.0, 'valid-x': 1, 'valid-y': 2, 'valid-width': 60, 'valid-height': 44},
    'RvDisparityMeta': {
        'scale': 16, 'min-disparity': -3, 'disparities': 96, 'payload': raster('u2'),
        'confidence': raster('u1')},
    'RvSemanticsMeta': {
        'classes': 5, 'map-width': 8, 'map-height': 6, 'type': SEMANTICS.SCORES,
        'payload': raster('f2', 8, 30)},
    'RvStixelsMeta': {
        'count': 3, 'stixel-width': 8, 'vertical-step': 4, 'model': STIXELS.CONSTANT,
        'ground-slope': 0.25, 'ground-intercept': -7.0, 'ground-frames': 9,
        'payload': records('RvStixelsMeta', 3)},
    'RvSegmentsMeta': {
        'count': 4, 'epsilon': 1.5, 'levels-max': 6, 'payload': records('RvSegmentsMeta', 4)},
    'RvRoadMeta': {
        'patch-size': 5, 'columns': 12, 'rows': 9, 'models': 3, 'samples': 40, 'seeds': 17,
        'samples-matched': 11, 'models-added': 1, 'samples-pending': 6, 'iterations': 8,
        'road-share': 0.25, 'classify-threshold': 4.0, 'ground-slope-x': 0.01,
        'ground-slope-y': 0.2, 'ground-intercept': -5.0, 'camera-height': 1.5,
        'payload': raster('u1', 12, 9), 'distance': raster('f4', 12, 9),
        'seed-mask': raster('u1', 12, 9), 'score': raster('u1', 12, 9),
        'drivable-distance': 21.5, 'border-values': 12, 'border': raster('f4', 12, 1)},
    'RvLinesMeta': {
        'count': 2, 'theta-step': 0.0175, 'rho-step': 1.0, 'segments': True, 'rho-zero': 81,
        'first-angle': 4, 'accumulator-width': 163, 'accumulator-height': 20,
        'payload': records('RvLinesMeta', 2), 'accumulator': raster('u4', 163, 20)},
    'RvGroundMeta': {
        'ground-slope-x': 0.01, 'ground-slope-y': 0.2, 'ground-intercept': -5.0,
        'camera-height': 1.5, 'bins': 128, 'bin': 0.5, 'source': GROUND.MEMORY,
        'profile': raster('i2', 128, 1)},
    'RvObstaclesMeta': {
        'count': 2, 'tracked': 1, 'nearest': 1, 'min-height': 0.3, 'clearance': 2.2,
        'max-range': 60.0, 'payload': records('RvObstaclesMeta', 2)},
    'RvFreeSpaceMeta': {
        'columns': 16, 'column-width': 4, 'area': 120.5, 'payload': records('RvFreeSpaceMeta', 16)},
    'RvLanesMeta': {
        'count': 2, 'left': 0, 'right': 1, 'offset': -0.2, 'heading': 0.01, 'curvature': 0.002,
        'lane-width': 3.5, 'confidence': 0.9, 'z-min': 4.0, 'z-max': 45.0,
        'polyline-values': 8, 'payload': records('RvLanesMeta', 2),
        'polylines': raster('f4', 8, 1)},
    'RvDetectionsMeta': {'count': 3, 'unmatched': 1, 'payload': records('RvDetectionsMeta', 3)},
    'RvPairMeta': {'skew': -5000000000, 'left-time': 11, 'right-time': 2 ** 63},
    'RvTruthMeta': {
        'disparity': raster('u2'), 'labels': raster('u1'), 'road': raster('u1'),
        'visible': raster('u1'), 'objects': raster('u2'), 'heights': raster('u2'),
        'free-columns': W, 'object-count': 2, 'line-count': 3,
        'free-space': raster('f4', W, 1), 'object-list': records('RvTruthMeta', 2, 'object-list'),
        'line-list': records('RvTruthMeta', 3, 'line-list')},
}
RECORDS = {
    'RvStixelsMeta': RoadVision.Stixel, 'RvSegmentsMeta': RoadVision.Segment,
    'RvLinesMeta': RoadVision.Line, 'RvObstaclesMeta': RoadVision.Obstacle,
    'RvFreeSpaceMeta': RoadVision.FreeColumn, 'RvLanesMeta': RoadVision.LaneLine,
    'RvDetectionsMeta': RoadVision.Detection}


def filled(name):
    """The annotation as an object, with VALUES in it."""
    meta = getattr(RoadVision, 'Meta' + name[2:-4])()
    meta.width, meta.height = W, H
    for key, value in VALUES[name].items():
        if isinstance(value, np.ndarray):
            meta.set_array(key, roadvision.to_array(value))
        else:
            setattr(meta, key.replace('-', '_'), value)
    return meta


class Types(unittest.TestCase):
    def expect_values(self, buffer, name):
        found = roadvision.annotation(buffer, name)
        self.assertEqual(set(found), {'width', 'height'} | set(VALUES[name]), name)
        self.assertEqual((found['width'], found['height']), (W, H))
        for key, value in VALUES[name].items():
            if isinstance(value, np.ndarray):
                self.assertEqual(found[key].dtype, value.dtype, (name, key))
                self.assertTrue(np.array_equal(found[key], value), (name, key))
            else:
                self.assertEqual(found[key], roadvision._plain(value), (name, key))

    def test_round_trips(self):
        self.assertEqual(set(VALUES), set(RoadVision.meta_get_names()))
        everything = Gst.Buffer.new()
        for name in VALUES:
            buffer = Gst.Buffer.new()
            self.assertIsNone(roadvision.annotation(buffer, name))
            filled(name).attach(buffer)
            filled(name).copy().attach(everything)
            copy = buffer.copy()
            del buffer
            self.expect_values(copy, name)
        for name in VALUES:
            self.expect_values(everything, name)
            self.assertTrue(RoadVision.meta_remove(everything, name))
            self.assertFalse(RoadVision.meta_check(everything, name))

    def test_one_object_for_many_frames(self):
        meta = RoadVision.MetaStixels()
        for count in (3, 0, 7):
            other, buffer = filled('RvStixelsMeta'), Gst.Buffer.new()
            other.set_array('payload', roadvision.to_array(records('RvStixelsMeta', count)))
            other.attach(buffer)
            self.assertTrue(meta.read(buffer))
            self.assertEqual((meta.count, meta.get_array('payload').width), (count, count))
        self.assertFalse(meta.read(Gst.Buffer.new()))
        self.assertEqual((meta.count, meta.width), (0, 0))

    def test_layouts(self):
        """Names, order and sizes of the records that numpy sees are those that the compiler laid out."""
        for name, record in RECORDS.items():
            kind = records(name, 0).dtype
            fields = [(f.get_name(), f.get_offset()) for f in record.__info__.get_fields()]
            self.assertEqual([(field, kind.fields[field][1]) for field in kind.names], fields, name)
            self.assertEqual(kind.itemsize, record.__info__.get_size(), name)

    def test_scalars_beside_rasters(self):
        for name, values in VALUES.items():
            buffer = Gst.Buffer.new()
            filled(name).attach(buffer)
            fields = buffer.get_custom_meta(name).get_structure()
            for key, value in values.items():
                if isinstance(value, np.ndarray) and value.ndim == 2 and key not in ('profile', 'polylines', 'free-space', 'border'):
                    prefix = '' if key == 'payload' else key + '-'
                    text = '%s%d' % (value.dtype.kind, 8 * value.dtype.itemsize)
                    self.assertEqual(fields.get_value(prefix + 'format'), text, (name, key))
                    stride = fields.get_value(prefix + 'stride')
                    self.assertGreaterEqual(stride, value.shape[1] * value.dtype.itemsize)

    def test_document(self):
        """docs/annotations.md has a row for every annotation, with all of its fields."""
        with open(os.path.join(ROOT, 'docs', 'annotations.md')) as file:
            rows = {line.split('`')[1]: line for line in file if line.startswith('| `Rv')}
        self.assertEqual(set(rows), set(VALUES))
        for name, values in VALUES.items():
            missing = [field for field in values if '`%s`' % field not in rows[name]]
            self.assertEqual(missing, [], name)

    def test_depth(self):
        camera = filled('RvCameraMeta')
        self.assertAlmostEqual(camera.depth(5), 700.5 * 0.5 / 7)
        self.assertEqual(RoadVision.MetaCamera().depth(5), 0)


class Errors(unittest.TestCase):
    def expect(self, code, words, function, *arguments):
        with self.assertRaises(GLib.Error) as caught:
            function(*arguments)
        self.assertTrue(caught.exception.matches(RoadVision.meta_error_quark(), code))
        self.assertIn(words, caught.exception.message)

    def test_attach(self):
        code = RoadVision.MetaError
        for name, values in VALUES.items():
            for key, value in values.items():  # each number out of its range
                for wrong in () if isinstance(value, np.ndarray) else (2 ** 31 - 1, -2 ** 31, float('nan')):
                    meta, buffer = filled(name), Gst.Buffer.new()
                    try:
                        setattr(meta, key.replace('-', '_'), wrong)
                        meta.attach(buffer)
                        self.assertTrue(RoadVision.meta_check(buffer, name))
                    except GLib.Error as error:
                        self.assertTrue(error.matches(RoadVision.meta_error_quark(), code.INVALID))
                        self.assertIn(name, error.message)
                        self.assertFalse(RoadVision.meta_check(buffer, name))
                    except (TypeError, OverflowError):
                        pass  # not of the type of the field
        meta = filled('RvDisparityMeta')
        meta.width = 0
        self.expect(code.INVALID, 'width', meta.attach, Gst.Buffer.new())
        meta.width = 65
        self.expect(code.INVALID, 'payload', meta.attach, Gst.Buffer.new())
        meta = filled('RvStixelsMeta')
        meta.count = 4
        self.expect(code.INVALID, 'fewer bytes', meta.attach, Gst.Buffer.new())
        self.expect(code.INVALID, 'payload is missing', self.sized('Stixels').attach,
                    Gst.Buffer.new())

    @staticmethod
    def sized(kind):
        meta = getattr(RoadVision, 'Meta' + kind)()
        meta.width, meta.height, meta.stixel_width, meta.vertical_step = W, H, 8, 8
        return meta

    def test_shared(self):
        buffer = Gst.Buffer.new()
        caps = Gst.Caps.new_any()
        sample = Gst.Sample.new(buffer, caps, None, None)
        self.expect(RoadVision.MetaError.SHARED, '2 references', filled('RvPairMeta').attach, buffer)
        del sample
        self.assertTrue(filled('RvPairMeta').attach(buffer))

    def test_arrays(self):
        code, new = RoadVision.MetaError, RoadVision.MetaArray.new
        data = GLib.Bytes.new(bytes(12))
        for arguments in (('u8', 3, 3, data), ('u16', 3, 3, data), ('u64', 3, 1, data),
                          ('', 12, 1, data), ('u8', -3, -4, data), ('a:u8 b', 3, 1, data),
                          ('f32', 2 ** 31 - 1, 2 ** 31 - 1, data)):
            self.expect(code.INVALID, '12 bytes', new, *arguments)
        self.assertEqual(new('a:u8 b:u16', 2, 2, data).get_bytes().get_size(), 12)
        meta = RoadVision.MetaDisparity()
        self.expect(code.INVALID, 'u16', meta.set_array, 'payload', new('u8', 3, 4, data))
        self.expect(code.FIELD, 'no buffer scale', meta.set_array, 'scale', new('u8', 3, 4, data))
        self.expect(code.FIELD, 'payload', meta.get_array, 'payload')
        self.expect(code.FIELD, 'RvOtherMeta', RoadVision.meta_check, Gst.Buffer.new(), 'RvOtherMeta')
        self.assertIsNone(RoadVision.meta_get_format('RvStixelsMeta', 'count'))

    def test_buffers_are_out_of_reach(self):
        meta = filled('RvDisparityMeta')
        with self.assertRaises(RuntimeError):
            meta.payload = 5

    def test_semantics(self):
        new = RoadVision.MetaSemantics
        labels, scores = roadvision.to_array(raster('u1', 8, 6)), roadvision.to_array(
            raster('f2', 8, 30))
        meta = new.new_scores(W, H, 5, scores)
        self.assertEqual((meta.map_width, meta.map_height, meta.type), (8, 6, SEMANTICS.SCORES))
        self.assertTrue(meta.attach(Gst.Buffer.new()))
        self.expect(RoadVision.MetaError.INVALID, 'u8', new.new_labels, W, H, 5, scores)
        self.expect(RoadVision.MetaError.INVALID, 'f16', new.new_scores, W, H, 5, labels)
        self.expect(RoadVision.MetaError.INVALID, 'size', new.new_scores(W, H, 4, scores).attach,
                    Gst.Buffer.new())


class Pipelines(unittest.TestCase):
    LINE = ('stereotestsrc num-buffers=3 ! video/x-raw,width=640,height=240 ! '
            'cudasgm engine=cpu disparities=64 ! identity name=probe ! cudastixels engine=cpu semantic-classes=gos ! fakesink name=last')

    def test_labels_change_stixels(self):
        without = attach_labels.run(False, self.LINE)
        labelled = attach_labels.run(True, self.LINE)
        self.assertEqual((len(without), len(labelled)), (3, 3))
        for plain, with_classes in zip(without, labelled):
            self.assertEqual(set(plain['payload']['semantic']), {255})
            self.assertEqual(set(with_classes['payload']['semantic']), {0, 1, 2})
            structure = with_classes['payload']['structure']
            self.assertTrue(np.array_equal(structure, with_classes['payload']['semantic']))
            self.assertFalse(np.array_equal(plain['payload'], with_classes['payload']))

    def test_true_labels(self):
        """Labels from Python lead to the stixels that the same labels of an element lead to."""
        line = ('stereotestsrc num-buffers=2 %s ! video/x-raw,width=640,height=240 ! '
                'cudasgm engine=cpu disparities=64 ! identity name=probe ! '
                'cudastixels engine=cpu semantic-classes=gggooooos ! fakesink name=last')
        want = attach_labels.run(False, line % 'semantics=true')

        def attach(_pad, info):
            buffer = info.get_buffer()
            truth = RoadVision.MetaTruth()
            self.assertTrue(truth.read(buffer))
            self.assertFalse(RoadVision.meta_check(buffer, 'RvSemanticsMeta'))
            semantics = RoadVision.MetaSemantics.new_labels(
                truth.width, truth.height, 9, truth.get_array('labels'))
            semantics.attach_in_probe(info)
            return Gst.PadProbeReturn.OK

        former, attach_labels.attach = attach_labels.attach, attach
        try:
            got = attach_labels.run(True, line % 'truth=true')
        finally:
            attach_labels.attach = former
        self.assertEqual(len(got), 2)
        for one, other in zip(want, got):
            self.assertTrue(np.array_equal(one['payload'], other['payload']))

    def test_one_branch(self):
        """An annotation attached in one branch of a tee is not on the buffers of the other."""
        pipeline = Gst.parse_launch(
            'videotestsrc num-buffers=20 ! video/x-raw,width=32,height=24 ! tee name=t '
            't. ! queue ! identity name=a ! fakesink name=with t. ! queue ! fakesink name=without')
        found = {'with': 0, 'without': 0}

        def attach(_pad, info):
            meta = RoadVision.MetaPair()
            meta.width, meta.height, meta.skew = 32, 24, 7
            self.assertTrue(meta.attach_in_probe(info))
            return Gst.PadProbeReturn.OK

        def count(_pad, info, name):
            found[name] += RoadVision.meta_check(info.get_buffer(), 'RvPairMeta')
            return Gst.PadProbeReturn.OK

        pipeline.get_by_name('a').get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, attach)
        for name in found:
            pipeline.get_by_name(name).get_static_pad('sink').add_probe(
                Gst.PadProbeType.BUFFER, count, name)
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(
            20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(message.type, Gst.MessageType.EOS)
        self.assertEqual(found, {'with': 20, 'without': 0})

    def test_probe_without_buffer(self):
        pipeline = Gst.parse_launch('videotestsrc num-buffers=1 ! fakesink name=last')
        errors = []

        def attach(_pad, info):
            try:
                filled('RvPairMeta').attach_in_probe(info)
            except GLib.Error as error:
                errors.append(error.message)
            return Gst.PadProbeReturn.OK

        pipeline.get_by_name('last').get_static_pad('sink').add_probe(
            Gst.PadProbeType.EVENT_DOWNSTREAM, attach)
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS)
        pipeline.set_state(Gst.State.NULL)
        self.assertGreater(len(errors), 0)
        self.assertIn('no buffer', errors[0])

    def test_examples(self):
        for name, words in (('attach_labels.py', 'no class 0'), ('read_annotations.py', 'RvDisparity')):
            done = subprocess.run([os.path.join(ROOT, 'examples', name)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, universal_newlines=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(words, done.stdout)


if __name__ == '__main__':
    Gst.init(None)
    unittest.main()
