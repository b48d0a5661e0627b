#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What annotationpublish writes, read by others: JSON lines against the installed JSON Schema, with
every annotation of the library; MCAP files by a reader of their own (mcap_reader.py), value by value
against the annotations, after a crash, cut at every record, on a full disk.

Run it where GStreamer finds the plugin: meson devenv -w . -C build tests/publish_test.py"""
import base64
import collections
import enum
import json
import math
import os
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path[:0] = [os.path.join(ROOT, name) for name in ('examples', 'tools')]
try:
    import jsonschema
    import numpy as np
except ImportError as error:
    print('skipped: %s (Debian: python3-jsonschema, python3-numpy)' % error)
    sys.exit(77)
import annotations_test  # noqa: E402
import helpers  # noqa: E402
import mcap_reader  # noqa: E402
import roadvision  # noqa: E402

import gi  # noqa: E402
gi.require_version('Gst', '1.0')
gi.require_version('RoadVision', '0')
from gi.repository import Gst, RoadVision  # noqa: E402

with open(os.path.join(ROOT, 'gst/schema/roadvision.frame-1.schema.json')) as schema_file:
    SCHEMA = json.load(schema_file)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
STREET = ('stereotestsrc num-buffers=%d pattern=street ! '
          'video/x-raw,format=%s,width=640,height=240,framerate=30/1 ! ')
CHAIN = ('cudasgm ! cudastixels ! cudardp ! cudaroaddetect ! cudaobstacles ! '
         'cudahough segments=true ! ')
ALL = 'image+camera+disparity+depth+points+markers+overlay+tf+frame'
FOCAL_START = 1795336200  # 2026-11-22T08:30:00Z


def key(name):
    """RvFreeSpaceMeta: free_space."""
    word = name[2:-4]
    return ''.join(('_' if i and c.isupper() else '') + c.lower() for i, c in enumerate(word))


def check_run(pipeline):
    problem = helpers.run_to_end(pipeline, 60)
    assert problem is None, problem if isinstance(problem, str) else problem.parse_error()


def run(line, probe=None):
    """Runs a launch line to its end; `probe` receives each buffer downstream of the element `publish`."""
    pipeline = Gst.parse_launch(line)
    if probe:
        pad = pipeline.get_by_name('publish').get_static_pad('src')
        pad.add_probe(Gst.PadProbeType.BUFFER,
                      lambda pad, info: (probe(pad, info.get_buffer()), Gst.PadProbeReturn.OK)[1])
    check_run(pipeline)


def push(line, buffers, caps='video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1'):
    """Pushes buffers through a line that starts with appsrc name=src, up to the end."""
    pipeline = Gst.parse_launch(line)
    source = pipeline.get_by_name('src')
    source.set_property('format', Gst.Format.TIME)
    source.set_property('caps', Gst.Caps.from_string(caps))
    pipeline.set_state(Gst.State.PLAYING)
    for buffer in buffers:
        assert source.emit('push-buffer', buffer) == Gst.FlowReturn.OK
    source.emit('end-of-stream')
    check_run(pipeline)


def new_buffer(index=0, size=64 * 48):
    buffer = Gst.Buffer.new_allocate(None, size, None)
    buffer.pts, buffer.duration = index * Gst.SECOND // 30, Gst.SECOND // 30
    return buffer


class Case(helpers.FolderCase):
    def recording(self, name):
        with open(self.path(name), 'rb') as file:
            return mcap_reader.read(file.read())


class Json(Case):
    def test_schema_knows_every_annotation(self):
        VALIDATOR.check_schema(SCHEMA)
        for name in RoadVision.meta_get_names():
            known = SCHEMA['properties'][key(name)]['properties']
            index = 0
            while (scalar := RoadVision.meta_get_scalar(name, index)) is not None:
                self.assertIn(scalar.replace('-', '_'), known, name)
                index += 1
            self.assertGreaterEqual(index, 0)
            for member in ['payload', *known]:
                layout = RoadVision.meta_get_format(name, member.replace('_', '-'))
                if layout and ':' in layout:
                    fields = [word.split(':')[0] for word in layout.split()]
                    place = known if member == 'payload' else known[member]['properties']
                    self.assertEqual(place['fields']['const'],
                                     [f for f in fields if not f.startswith('reserved')],
                                     (name, member))

    def test_document(self):
        """The example of docs/annotations.md."""
        with open(os.path.join(ROOT, 'docs/annotations.md')) as file:
            example = file.read().split('```json\n')[1].split('```')[0]
        VALIDATOR.validate(json.loads(example))

    def test_every_annotation(self):
        """All annotations of the library on one buffer, with all of their fields."""
        buffer = new_buffer()
        for name, values in annotations_test.VALUES.items():
            self.assertTrue(annotations_test.filled(name).attach(buffer), name)
        push('appsrc name=src ! annotationpublish payload=base64 location=%s ! fakesink' %
             self.path('a.jsonl'), [buffer])
        frame, = self.lines('a.jsonl')
        VALIDATOR.validate(frame)
        for name, values in annotations_test.VALUES.items():
            self.assertIn(key(name), frame)
            for field, value in values.items():
                with self.subTest(annotation=name, field=field):
                    self.check_value(frame[key(name)], field, value)

    def test_notations_of_others(self):
        """Obstacles as DL Streamer and DeepStream write them."""
        records = annotations_test.VALUES['RvObstaclesMeta']['payload']
        for options, name in (('objects=true', 'a'), ('profile=deepstream-minimal source=front '
                                                      'utc-start=2026-11-22T08:30:00.5Z', 'b')):
            buffer = new_buffer()
            annotations_test.filled('RvObstaclesMeta').attach(buffer)
            push('appsrc name=src ! annotationpublish %s location=%s ! fakesink' %
                 (options, self.path(name)), [buffer])
        frame, = self.lines('a')
        VALIDATOR.validate(frame)
        self.assertEqual(len(frame['objects']), len(records))
        for found, record in zip(frame['objects'], records):
            self.assertEqual([found[k] for k in 'xywh'], [record[k] for k in 'xywh'])
            self.assertEqual(found['region_id'], record['id'])
            box = found['detection']['bounding_box']
            self.assertAlmostEqual(box['x_max'] * 64, int(record['x']) + int(record['w']), places=2)
            self.assertAlmostEqual(box['y_min'] * 48, record['y'], places=2)
        minimal, = self.lines('b')
        self.assertEqual({k: v for k, v in minimal.items() if k != 'objects'},
                         {'version': '4.0', 'id': '0', '@timestamp': '2026-11-22T08:30:00.500Z',
                          'sensorId': 'front'})
        for found, record in zip(minimal['objects'], records):
            words = found.split('|')
            self.assertEqual([int(w) for w in words[:5]], [
                record['id'], record['x'], record['y'], int(record['x']) + int(record['w']),
                int(record['y']) + int(record['h'])])
            self.assertEqual((words[6], np.float32(words[7])), ('#', record['distance']))

    def check_value(self, found, field, value):
        member = field.replace('-', '_')
        if not isinstance(value, np.ndarray):
            value = value.name.lower().replace('_', '-') if isinstance(value, enum.Enum) else getattr(value, 'value_nick', value)
            self.assertEqual(found[member], value)
        elif value.dtype.names:
            found = found if field == 'payload' else found[member]
            names = [n for n in value.dtype.names if not n.startswith('reserved')]
            self.assertEqual(found['fields'], names)
            self.assertEqual(len(found['records']), len(value))
            for row, record in zip(found['records'], value):
                for number, name in zip(row, names):
                    exact = record[name].item()
                    if isinstance(exact, float) and not math.isfinite(exact):
                        self.assertIsNone(number)
                    else: # single precision numbers read back to the same bits
                        self.assertEqual(record[name].dtype.type(number), record[name], name)
        elif isinstance(found[member], list):
            self.assertEqual(found[member], value.ravel().tolist())
        else:
            raster = found[member]
            pixels = np.frombuffer(base64.b64decode(raster['data']), value.dtype)
            self.assertEqual((raster['height'], raster['width']), value.shape)
            self.assertTrue((pixels.reshape(value.shape) == value).all())
            kind = {'u': 'u', 'f': 'f', 'i': 'i'}[value.dtype.kind] + str(8 * value.dtype.itemsize)
            self.assertEqual(raster['encoding'], kind + ('le' if value.dtype.itemsize > 1 else ''))

    def test_elements(self):
        """What the elements attach is valid, and equal to what a reader of the buffers gets."""
        seen = []
        run(STREET % (4, 'BGRx') + CHAIN + 'annotationpublish name=publish location=%s ! fakesink' %
            self.path('a.jsonl'),
            lambda pad, buffer: seen.append((buffer.pts, roadvision.annotations(buffer))))
        frames = self.lines('a.jsonl')
        self.assertEqual(len(frames), 4)
        for index, (frame, (pts, annotations)) in enumerate(zip(frames, seen)):
            VALIDATOR.validate(frame)
            self.assertEqual((frame['seq'], frame['pts'], frame['running_time']), (index, pts, pts))
            self.assertEqual(frame['resolution'], {'width': 320, 'height': 240})
            self.assertLessEqual({'camera', 'disparity', 'stixels', 'segments', 'road', 'lines', 'ground',
                                  'obstacles', 'free_space'}, set(frame))
            self.assertGreater(frame['stixels']['count'], 50)
            self.assertEqual(len(frame['stixels']['records']), frame['stixels']['count'])
            stixels = annotations['RvStixelsMeta']['payload'][:frame['stixels']['count']]
            for name in stixels.dtype.names:
                at = frame['stixels']['fields'].index(name)
                column = np.array([r[at] for r in frame['stixels']['records']])
                self.assertTrue((column.astype(stixels[name].dtype) == stixels[name]).all(), name)
            self.assertNotIn('payload', frame['disparity'])
            obstacles = annotations['RvObstaclesMeta']['payload'][:frame['obstacles']['count']]
            at = frame['obstacles']['fields'].index('distance')
            self.assertGreater(len(obstacles), 0)
            self.assertEqual([np.float32(r[at]) for r in frame['obstacles']['records']],
                             list(obstacles['distance']))

    def test_wall_clock(self):
        """The wall-clock time of a live stream is that of now, and its latency is small."""
        run('stereotestsrc is-live=true num-buffers=10 ! video/x-raw,width=64,height=48 ! '
            'annotationpublish location=%s ! fakesink' % self.path('a.jsonl'))
        now = time.time_ns()
        frames = self.lines('a.jsonl')
        for before, frame in zip(frames, frames[1:]):
            VALIDATOR.validate(frame)
            self.assertEqual(frame['utc_source'], 'clock')
            self.assertAlmostEqual(frame['utc_ns'] - before['utc_ns'],
                                   frame['running_time'] - before['running_time'], delta=2e6)
            self.assertLess(abs(now - frame['utc_ns']), 30e9)
            self.assertGreaterEqual(frame['latency_ns'], 0)
            self.assertLess(frame['latency_ns'], 5e9)


def points_of(message):
    data = message['data']
    self_width, height = message['width'], message['height']
    return np.frombuffer(data, '<f4').reshape(height, self_width, 4)


class Mcap(Case):
    def record(self, count=3, pixels='BGRx', more='', probe=None, chain=CHAIN, name='a.mcap'):
        run(STREET % (count, pixels) + chain +
            'annotationpublish name=publish format=mcap topics=%s utc-start=2026-11-22T08:30:00Z '
            'location=%s %s ! fakesink' % (ALL, self.path(name), more), probe)

    def test_messages(self):
        seen = []

        def probe(pad, buffer):
            picture = roadvision.picture(buffer, pad.get_current_caps()).copy()
            seen.append((buffer.pts, picture, roadvision.annotations(buffer)))
        self.record(probe=probe)
        recording = self.recording('a.mcap')
        self.assertTrue(recording.complete)
        topics = collections.defaultdict(list)
        for message in recording.messages:
            topics[message.topic].append(message)
        self.assertEqual({t: len(m) for t, m in topics.items()}, {
            '/stereo/left/image_rect': 3, '/stereo/left/camera_info': 3,
            '/stereo/right/camera_info': 3, '/stereo/disparity': 3, '/stereo/depth': 3,
            '/stereo/points': 3, '/road/stixels': 3, '/road/overlay': 3, '/tf_static': 1,
            '/roadvision/frame': 3, '/road/obstacles': 3})
        for index, (pts, picture, annotations) in enumerate(seen):
            now = {t: m[min(index, len(m) - 1)] for t, m in topics.items()}
            for topic, message in now.items():
                if topic != '/tf_static':
                    self.assertEqual(message.log_time, FOCAL_START * 10**9 + pts, topic)
                    self.assertEqual(message.sequence, index)
            decoded = {t: m.decode() for t, m in now.items()}
            self.check_header(decoded['/stereo/depth'], pts)
            self.check_image(decoded['/stereo/left/image_rect'], picture)
            self.check_rasters(decoded, picture, annotations)
            self.check_camera(decoded, annotations['RvCameraMeta'])
            self.check_stixels(decoded['/road/stixels'], annotations)
            self.check_overlay(decoded['/road/overlay'], annotations)
            VALIDATOR.validate(json.loads(decoded['/roadvision/frame']['data']))

    def check_header(self, message, pts):
        stamp = message['header']['stamp']
        self.assertEqual(stamp['sec'] * 10**9 + stamp['nanosec'], FOCAL_START * 10**9 + pts)
        self.assertEqual(message['header']['frame_id'], 'stereo_left_optical')

    def check_image(self, message, picture):
        self.assertEqual((message['width'], message['height'], message['encoding'], message['step']),
                         (320, 240, 'rgb8', 960))
        rgb = np.frombuffer(message['data'], 'u1').reshape(240, 320, 3)
        self.assertTrue((rgb == picture[:, :, 2::-1]).all())

    def check_rasters(self, decoded, picture, annotations):
        camera, disparity = annotations['RvCameraMeta'], annotations['RvDisparityMeta']
        d = disparity['payload'].astype(float) / 16
        valid = d > 0
        message = decoded['/stereo/disparity']
        got = np.frombuffer(message['image']['data'], '<f4').reshape(240, 320)
        self.assertEqual(message['image']['encoding'], '32FC1')
        self.assertTrue((got[valid] == d[valid]).all())
        self.assertTrue((got[~valid] < message['min_disparity']).all())
        self.assertEqual((message['f'], message['delta_d'], message['max_disparity']),
                         (camera['focal'], 1 / 16, 128))
        self.assertAlmostEqual(message['t'], camera['baseline'], places=6)
        z = np.zeros_like(d)
        z[valid] = camera['focal'] * camera['baseline'] / d[valid]
        depth = np.frombuffer(decoded['/stereo/depth']['data'], '<u2').reshape(240, 320)
        self.assertEqual(decoded['/stereo/depth']['encoding'], '16UC1')
        near = valid & (z < 65)
        self.assertGreater(near.mean(), 0.3)
        self.assertLess(abs(depth[near] - 1000 * z[near]).max(), 0.51)
        self.assertTrue((depth[~valid] == 0).all())
        cloud = decoded['/stereo/points']
        self.assertEqual([(f['name'], f['offset'], f['datatype'], f['count'])
                          for f in cloud['fields']],
                         [('x', 0, 7, 1), ('y', 4, 7, 1), ('z', 8, 7, 1), ('rgb', 12, 7, 1)])
        points = points_of(cloud)
        self.assertTrue(np.isnan(points[~valid][:, :3]).all())
        rows, columns = np.nonzero(valid)
        self.assertLess(abs(points[valid][:, 2] / z[valid] - 1).max(), 1e-6)
        self.assertLess(abs(points[valid][:, 0] - (columns - camera['cx']) * z[valid] /
                            camera['focal']).max(), 1e-3)
        self.assertLess(abs(points[valid][:, 1] - (rows - camera['cy']) * z[valid] /
                            camera['focal']).max(), 1e-3)
        colors = points[:, :, 3].copy().view('<u4')
        self.assertTrue((colors >> 16 == picture[:, :, 2]).all())
        self.assertTrue((colors & 255 == picture[:, :, 0]).all())

    def check_camera(self, decoded, camera):
        left, right = decoded['/stereo/left/camera_info'], decoded['/stereo/right/camera_info']
        f, cx, cy = camera['focal'], camera['cx'], camera['cy']
        self.assertEqual(left['k'], [f, 0, cx, 0, f, cy, 0, 0, 1])
        self.assertEqual(left['p'], [f, 0, cx, 0, 0, f, cy, 0, 0, 0, 1, 0])
        self.assertEqual(right['p'], [f, 0, cx, -f * camera['baseline'], 0, f, cy, 0, 0, 0, 1, 0])
        self.assertEqual((left['width'], left['height'], left['d'], left['distortion_model']),
                         (320, 240, [0.0] * 5, 'plumb_bob'))
        transform, = decoded['/tf_static']['transforms']
        self.assertEqual((transform['header']['frame_id'], transform['child_frame_id']),
                         ('road', 'stereo_left_optical'))
        self.assertEqual(transform['transform']['translation'],
                         {'x': 0, 'y': 0, 'z': camera['camera-height']})
        q = transform['transform']['rotation']
        p = math.radians(camera['pitch'])
        for axis, expected in (((0, 0, 1), (math.cos(p), 0, -math.sin(p))),  # forward and down
                               ((1, 0, 0), (0, -1, 0)),                      # its right
                               ((0, 1, 0), (-math.sin(p), 0, -math.cos(p)))):
            for got, want in zip(rotate(q, axis), expected):
                self.assertAlmostEqual(got, want, places=12)

    def check_stixels(self, message, annotations):
        camera, meta = annotations['RvCameraMeta'], annotations['RvStixelsMeta']
        stixels = meta['payload'][:meta['count']]
        d = stixels['slope'].astype(float) * (stixels['v_bottom'] + 0.5) + stixels['intercept']
        top = stixels['slope'].astype(float) * (stixels['v_top'] - 0.5) + stixels['intercept']
        drawn = stixels[(stixels['structure'] == 1) & (d > 0.1) & (top > 0.1)]
        marker, = message['markers']
        self.assertEqual(marker['type'], 11)
        self.assertEqual(len(marker['points']), 6 * len(drawn))
        self.assertEqual(len(marker['colors']), 6 * len(drawn))
        self.assertGreater(len(drawn), 20)
        f, fb = camera['focal'], camera['focal'] * camera['baseline']
        for stixel, corners in zip(drawn, zip(*[iter(marker['points'])] * 6)):
            columns = [c['x'] * f / c['z'] + camera['cx'] for c in corners]
            rows = [c['y'] * f / c['z'] + camera['cy'] for c in corners]
            self.assertAlmostEqual(min(columns), stixel['column'] - 0.5, places=6)
            self.assertAlmostEqual(max(columns), stixel['column'] + 7.5, places=6)
            self.assertAlmostEqual(min(rows), stixel['v_top'] - 0.5, places=6)
            self.assertAlmostEqual(max(rows), stixel['v_bottom'] + 0.5, places=6)
            for corner, row in zip(corners, rows):
                self.assertAlmostEqual(
                    fb / corner['z'], float(stixel['slope']) * row + float(stixel['intercept']),
                    places=6)

    def check_overlay(self, message, annotations):
        outline, = message['points']
        self.assertEqual(outline['type'], 4)
        self.assertEqual(len(outline['points']), 2 * len(outline['outline_colors']))
        stixels = annotations['RvStixelsMeta']
        objects = (stixels['payload'][:stixels['count']]['structure'] == 1).sum()
        road = annotations['RvRoadMeta']['payload'] != 0
        edges = (road[:, 1:] != road[:, :-1]).sum() + (road[1:] != road[:-1]).sum()
        lines = annotations['RvLinesMeta']['count']
        boxes = annotations['RvObstaclesMeta']['count']
        self.assertEqual(len(outline['outline_colors']), 4 * (objects + boxes) + edges + lines)
        for point in outline['points']:
            self.assertTrue(0 <= point['x'] <= 320 and 0 <= point['y'] <= 240)

    def test_formats(self):
        """Gray, YUV and encoded streams; pairs; unsupported formats."""
        for pixels, encoding, size in (('GRAY8', 'rgb8', 3), ('NV12', 'rgb8', 3), ('I420', 'rgb8', 3)):
            self.record(2, pixels, chain='cudasgm ! ', name=pixels + '.mcap')
            recording = self.recording(pixels + '.mcap')
            message = next(m for m in recording.messages if m.topic == '/stereo/left/image_rect')
            image = message.decode()
            self.assertEqual((image['encoding'], image['step']), (encoding, size * 320))
            if pixels == 'GRAY8': # output of cudasgm: NV12 without color
                rgb = np.frombuffer(image['data'], 'u1').reshape(240, 320, 3)
                self.assertTrue((rgb[:, :, 0] == rgb[:, :, 1]).all())
        self.record(2, 'GRAY8', chain='', name='pair.mcap')
        image = next(m for m in self.recording('pair.mcap').messages
                     if m.topic == '/stereo/pair/image').decode()
        self.assertEqual((image['width'], image['encoding'], len(image['data'])),
                         (640, 'mono8', 640 * 240))
        self.record(2, 'NV12', chain='cudasgm ! jpegenc ! ', name='jpeg.mcap')
        image = next(m for m in self.recording('jpeg.mcap').messages
                     if m.topic == '/stereo/left/image_rect/compressed').decode()
        self.assertEqual(image['format'], 'jpeg')
        self.assertTrue(image['data'].startswith(b'\xff\xd8'))
        if Gst.ElementFactory.find('x264enc'):
            self.record(3, 'NV12', chain='cudasgm ! x264enc tune=zerolatency ! h264parse '
                        'config-interval=-1 ! video/x-h264,stream-format=byte-stream,alignment=au ! ',
                        name='h264.mcap')
            video = [m.decode() for m in self.recording('h264.mcap').messages
                     if m.topic == '/stereo/left/video']
            self.assertEqual(len(video), 3)
            self.assertEqual(video[0]['format'], 'h264')
            self.assertTrue(video[0]['data'].startswith(b'\0\0\0\1'))

    def test_obstacles(self):
        """Annotations of elements that this pipeline does not have."""
        buffer = new_buffer()
        for name in ('RvCameraMeta', 'RvObstaclesMeta'):
            annotations_test.filled(name).attach(buffer)
        push('appsrc name=src ! annotationpublish format=mcap location=%s ! fakesink' %
             self.path('a.mcap'), [buffer])
        recording = self.recording('a.mcap')
        camera = annotations_test.VALUES['RvCameraMeta']
        right = next(m for m in recording.messages if m.topic == '/stereo/right/camera_info').decode()
        self.assertEqual(right['p'][2:4],
                         [camera['cx'] + camera['doffs'], -camera['focal'] * camera['baseline']])
        records = annotations_test.VALUES['RvObstaclesMeta']['payload']
        markers = next(m for m in recording.messages
                       if m.topic == '/road/obstacles').decode()['markers']
        self.assertEqual(len(markers), len(records))
        for marker, record in zip(markers, records):
            self.assertEqual(marker['type'], 1)
            self.assertAlmostEqual(marker['scale']['y'], max(float(record['width']), 0.1), places=5)
            self.assertEqual(marker['pose']['position']['y'], -float(record['lateral']))
        texts = next(m for m in recording.messages if m.topic == '/road/overlay').decode()['texts']
        self.assertEqual([t['text'] for t in texts],
                         ['%.1f m' % r['distance'] for r in records])

    def test_rotation_and_attachment(self):
        with open(self.path('camera.yml'), 'w') as file:
            file.write('%YAML:1.0\n')
        self.record(8, chain='cudasgm ! ', more='rotate-size=5000000 attachment=' +
                    self.path('camera.yml'), name='a-%03d.mcap')
        names = sorted(n for n in os.listdir(self.folder) if n.endswith('.mcap'))
        self.assertGreater(len(names), 2)
        frames = 0
        for name in names:
            recording = self.recording(name)
            self.assertTrue(recording.complete)
            self.assertEqual(recording.attachments, [('camera.yml', b'%YAML:1.0\n')])
            topics = [m.topic for m in recording.messages]
            self.assertEqual(topics.count('/tf_static'), 1)
            frames += topics.count('/roadvision/frame')
        self.assertEqual(frames, 8)

    def test_empty(self):
        push('appsrc name=src ! annotationpublish format=mcap location=%s ! fakesink' %
             self.path('a.mcap'), [])
        recording = self.recording('a.mcap')
        self.assertTrue(recording.complete)
        self.assertEqual(recording.messages, [])

    # --- what is left when something breaks ---------------------------------------------------------
    def test_cut_anywhere(self):
        """Cut at any byte: all messages of the preceding complete chunks are read."""
        self.record(9, chain='cudasgm ! ')
        with open(self.path('a.mcap'), 'rb') as file:
            data = file.read()
        whole = mcap_reader.read(data)
        self.assertGreater(whole.chunks, 2)
        marks = [(at, opcode, at + 9 + len(content)) for at, opcode, content in
                 mcap_reader.records(data, 8, len(data) - 8)]
        for start, opcode, end in marks:
            for cut in {start, start + 1, start + 8, (start + end) // 2, end - 1, end}:
                recording = mcap_reader.read(data[:cut])
                self.assertFalse(recording.complete and cut < len(data) - 8)
                complete = sum(o == mcap_reader.CHUNK and e <= cut for _s, o, e in marks)
                self.assertEqual(recording.chunks, complete)

    def start(self, *arguments, **options):
        return subprocess.Popen(['gst-launch-1.0', '-q', *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, **options)

    def test_killed(self):
        """SIGKILL: at most the last chunk, which is a second, is lost."""
        process = self.start('stereotestsrc', 'is-live=true', '!',
                             'video/x-raw,width=160,height=60,framerate=30/1', '!', 'annotationpublish',
                             'format=mcap', 'topics=frame+camera', 'location=' + self.path('a.mcap'),
                             '!', 'fakesink')
        deadline = time.monotonic() + 90  # 40 kB: 30 frames, by then more than one chunk
        while not os.path.exists(self.path('a.mcap')) or os.path.getsize(self.path('a.mcap')) < 40000:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        killed = time.time_ns()
        process.communicate()
        recording = self.recording('a.mcap')
        self.assertFalse(recording.complete)
        self.assertGreater(len(recording.messages), 20)
        # A chunk is a second; the rest is what a busy machine may delay a frame.
        self.assertLess(killed - recording.messages[-1].log_time, 20e9)

    def test_written_while_nothing_comes(self):
        """A stream that pauses: its last frames are on the disk a second later."""
        pipeline = Gst.parse_launch('appsrc name=src format=time is-live=true ! annotationpublish '
                                    'format=mcap location=%s ! fakesink sync=false async=false' %
                                    self.path('a.mcap'))
        pipeline.set_state(Gst.State.PLAYING)
        source = pipeline.get_by_name('src')
        source.set_property('caps', Gst.Caps.from_string('video/x-raw,format=GRAY8,width=64,height=48'))
        for index in range(3):
            source.emit('push-buffer', new_buffer(index))
        deadline, messages = time.monotonic() + 20, []
        while len(messages) < 3 and time.monotonic() < deadline:
            time.sleep(0.2)
            if os.path.getsize(self.path('a.mcap')) > 0:
                messages = [m for m in self.recording('a.mcap').messages
                            if m.topic == '/stereo/left/image_rect']
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(len(messages), 3)

    def test_limit_of_the_file_size(self):
        process = self.start(
            'stereotestsrc', 'num-buffers=20', '!', 'video/x-raw,format=BGRx,width=640,height=240', '!',
            'annotationpublish', 'format=mcap', 'location=' + self.path('a.mcap'), '!', 'fakesink',
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (6000000, 6000000)))
        self.assertEqual(process.wait(60), 0, process.communicate()[0])
        recording = self.recording('a.mcap')
        self.assertGreater(recording.chunks, 0)
        self.assertGreater(len(recording.messages), 5)

    def test_full_disk(self):
        """A disk of 8 MB: the file is completed, the stream continues."""
        script = ('mount -t tmpfs -o size=8m none "$0" && cd "$0" && '
                  'gst-launch-1.0 stereotestsrc num-buffers=24 ! '
                  'video/x-raw,format=BGRx,width=640,height=240 ! '
                  'annotationpublish name=publish format=mcap location=a.mcap ! fakesink && '
                  'cp a.mcap "$1"')
        if subprocess.run(['unshare', '-rm', 'true'], capture_output=True).returncode != 0:
            self.skipTest('no file system can be mounted here')
        os.mkdir(self.path('disk'))
        done = subprocess.run(['unshare', '-rm', 'bash', '-c', script, self.path('disk'),
                               self.path('kept.mcap')], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('no space left on the device', done.stdout + done.stderr)
        self.assertIn('Got EOS', done.stdout)
        recording = self.recording('kept.mcap')
        self.assertTrue(recording.complete)
        self.assertGreater(len(recording.messages), 5)
        self.assertGreater(os.path.getsize(self.path('kept.mcap')), 4e6)


def rotate(q, v):
    """v rotated by the quaternion q."""
    x, y, z, w = q['x'], q['y'], q['z'], q['w']
    cross = (y * v[2] - z * v[1] + w * v[0], z * v[0] - x * v[2] + w * v[1],
             x * v[1] - y * v[0] + w * v[2])
    return (v[0] + 2 * (y * cross[2] - z * cross[1]), v[1] + 2 * (z * cross[0] - x * cross[2]),
            v[2] + 2 * (x * cross[1] - y * cross[0]))


if __name__ == '__main__':
    Gst.init(None)
    unittest.main()
