#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""roadvision record and replay: the pair comes back in every bit, a replay gives the annotations of
the live stream, and what was recorded before a crash or a full disk is readable. Point clouds and depth
images of to_ply.py and opencv_depth.py against the formulas.

Run it where GStreamer finds the plugin: meson devenv -w . -C build tests/recording_test.py"""
import json
import os
import signal
import subprocess
import sys
import unittest

import numpy as np

try:
    import cv2
except ImportError:
    print('skipped: OpenCV for Python is missing (Debian: python3-opencv)')
    sys.exit(77)

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
EXAMPLES = os.path.join(ROOT, 'examples')
COMMAND = os.path.join(ROOT, 'tools', 'bin', 'roadvision')
sys.path[:0] = [EXAMPLES, os.path.join(EXAMPLES, '..', 'tools')]
import helpers  # noqa: E402
import mcap_reader  # noqa: E402
import roadvision  # noqa: E402
import to_ply  # noqa: E402
import gi  # noqa: E402
gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

SIZE = 'width=640,height=240,framerate=30/1'
# What belongs to the run, not to the frame.
TIMES = {'timestamp', 'running_time', 'pts', 'duration', 'utc', 'utc_ns', 'utc_source', 'discont',
         'truth', 'source', 'latency_ns', 'dropped'}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


def script(name, *arguments, **options):
    words = [COMMAND, name] if name in ('record', 'replay') else [os.path.join(EXAMPLES, name)]
    return run(*words, *arguments, **options)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


class Recording(helpers.FolderCase):
    def frames(self, name):
        """Bytes of all frames of a recording in a format, and their number."""
        name, pixels = name
        run('gst-launch-1.0', '-q', 'filesrc', 'location=' + self.path(name), '!', 'matroskademux', '!',
            'decodebin', '!', 'videoconvert', '!', 'video/x-raw,format=' + pixels, '!', 'filesink',
            'location=' + self.path('back.raw'))
        return read(self.path('back.raw'))

    def test_bit_equal(self):
        for pixels in ('NV12', 'I420', 'BGRx', 'RGB', 'GRAY8', 'YUY2', 'UYVY'):
            with self.subTest(pixels=pixels):
                made = {'YUY2': 'NV12', 'UYVY': 'NV12', 'RGB': 'BGRx'}.get(pixels, pixels)
                source = ('stereotestsrc num-buffers=3 ! video/x-raw,format=%s,%s ! videoconvert ! '
                          'video/x-raw,format=%s' % (made, SIZE, pixels))
                run('gst-launch-1.0', '-q', *source.split(), '!', 'filesink',
                    'location=' + self.path('source.raw'))
                script('record', '--no-results', '--force', '--source', source, self.path('drive'))
                expected, got = read(self.path('source.raw')), self.frames(('drive.mkv', pixels))
                if pixels == 'BGRx': # the fourth byte has no meaning
                    expected, got = (np.frombuffer(data, 'u1').reshape(-1, 4)[:, :3].tobytes()
                                     for data in (expected, got))
                self.assertEqual(len(expected), len(got))
                self.assertTrue(expected == got)

    def test_replay(self):
        """Annotations of the replay = annotations of the live stream, with its times and its camera."""
        analysis = 'cudasgm ! cudastixels ! cudaroaddetect ! cudahough segments=true'
        source = 'stereotestsrc num-buffers=10 ! video/x-raw,format=NV12,' + SIZE
        script('record', '--source', source, '--analysis', analysis, '--topics', 'frame',
               self.path('drive'))
        recording = mcap_reader.read(read(self.path('drive.mcap')))
        self.assertTrue(recording.complete)
        live = [json.loads(m.decode()['data']) for m in recording.messages]
        script('replay', self.path('drive'), analysis + ' ! annotationpublish location=%s ! fakesink'
               % self.path('again.jsonl'))
        again = self.lines('again.jsonl')
        self.assertEqual((len(live), len(again)), (10, 10))
        for before, after in zip(live, again):
            self.assertEqual({k: v for k, v in after.items() if k not in TIMES},
                             {k: v for k, v in before.items() if k not in TIMES})
            self.assertGreater(after['stixels']['count'], 50)
            self.assertEqual(after['camera']['camera_height'], 1.5)
            # The times of Matroska have a resolution of 1 ms.
            self.assertLess(abs(after['pts'] - before['pts']), 1.1e6)
            self.assertEqual(after['utc_source'], 'start')
        sidecar = self.lines('drive.jsonl')
        self.assertLess(abs(again[5]['utc_ns'] - sidecar[5]['utc_ns']), 1.1e6)
        self.assertEqual([line['seq'] for line in sidecar], list(range(10)))

    def test_lossy(self):
        source = 'stereotestsrc num-buffers=10 noise=2 ! video/x-raw,format=NV12,' + SIZE
        for options in ([], ['--lossy']):
            script('record', '--no-results', *options, '--source', source,
                   self.path('drive' + ''.join(options)))
        sizes = [os.path.getsize(self.path(n)) for n in ('drive.mkv', 'drive--lossy.mkv')]
        self.assertLess(sizes[1], sizes[0] / 2)
        script('replay', self.path('drive--lossy'), 'cudasgm ! cudastixels ! annotationpublish '
               'payload=base64 location=%s ! fakesink' % self.path('again.jsonl'))
        import base64
        for frame in self.lines('again.jsonl'):
            raster = frame['disparity']['payload']
            values = np.frombuffer(base64.b64decode(raster['data']), '<u2')
            self.assertGreater((values != 0).mean(), 0.5) # the views are not swapped

    def test_calibration(self):
        """The calibration is part of the recording; the replay rectifies with it."""
        with open(self.path('camera.txt'), 'w') as file:
            file.write('cam0=[244 0 159.5; 0 244 119.5; 0 0 1]\ncam1=[244 0 159.5; 0 244 119.5; 0 0 1]\n'
                       'doffs=0\nbaseline=800\nwidth=320\nheight=240\nndisp=128\n')
        script('record', '--calibration', self.path('camera.txt'), '--analysis', 'cudasgm',
               '--topics', 'frame+camera', '--source',
               'stereotestsrc num-buffers=4 ! video/x-raw,format=NV12,' + SIZE, self.path('drive'))
        self.assertEqual(read(self.path('drive-calibration.txt')), read(self.path('camera.txt')))
        recording = mcap_reader.read(read(self.path('drive.mcap')))
        self.assertEqual(recording.attachments,
                         [('drive-calibration.txt', read(self.path('camera.txt')))])
        live = [json.loads(m.decode()['data']) for m in recording.messages
                if m.topic == '/roadvision/frame']
        script('replay', self.path('drive'), 'cudasgm ! annotationpublish location=%s ! fakesink' %
               self.path('again.jsonl'))
        again = self.lines('again.jsonl')
        self.assertEqual(len(again), 4)
        for before, after in zip(live, again):
            self.assertEqual(after['camera'], before['camera'])
            self.assertAlmostEqual(after['camera']['baseline'], 0.8)
            self.assertEqual(after['disparity'], before['disparity'])

    def test_existing(self):
        """A recording is not overwritten; --force replaces all of its files."""
        with open(self.path('camera.txt'), 'w') as file:
            file.write('cam0=[244 0 159.5; 0 244 119.5; 0 0 1]\ncam1=[244 0 159.5; 0 244 119.5; 0 0 1]\n'
                       'doffs=0\nbaseline=800\nwidth=320\nheight=240\nndisp=128\n')
        first, second = ('stereotestsrc num-buffers=%d ! video/x-raw,format=NV12,%s' % (count, SIZE) for count in (2, 3))
        script('record', '--calibration', self.path('camera.txt'), '--analysis', 'cudasgm', '--source', first, self.path('drive'))
        names = ['drive-calibration.txt', 'drive.jsonl', 'drive.mcap', 'drive.mkv']
        before = [read(self.path(name)) for name in names]
        done = subprocess.run([COMMAND, 'record', '--source', second, self.path('drive.mkv')], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        for name in names:
            self.assertIn(self.path(name), done.stderr)
        self.assertIn('--force', done.stderr)
        self.assertEqual([read(self.path(name)) for name in names], before)
        # its own calibration is kept
        again = ['record', '--force', '--no-results', '--source', second]
        script(*again, '--calibration', self.path('drive-calibration.txt'), self.path('drive'))
        self.assertEqual(read(self.path('drive-calibration.txt')), before[0])
        self.assertEqual(len(self.lines('drive.jsonl')), 3)
        self.assertFalse(os.path.exists(self.path('drive.mcap')))
        # that of another one is not
        script(*again, self.path('drive'))
        self.assertFalse(os.path.exists(self.path('drive-calibration.txt')))
        # empty files are no recording
        open(self.path('none.mkv'), 'w').close()
        script('record', '--no-results', '--source', first, self.path('none'))
        self.assertEqual(len(self.lines('none.jsonl')), 2)

    def test_two_cameras(self):
        """The skew of each pair goes with the recording."""
        source = ('stereotestsrc num-buffers=6 ! video/x-raw,format=GRAY8,%s ! tee name=both '
                  'both. ! queue ! videocrop right=320 ! mux.left '
                  'both. ! queue ! videocrop left=320 ! mux.right cudastereomux name=mux' % SIZE)
        script('record', '--no-results', '--source', source, self.path('drive'))
        sidecar = self.lines('drive.jsonl')
        self.assertGreater(len(sidecar), 3)
        script('replay', self.path('drive'), 'cudasgm ! annotationpublish location=%s ! fakesink' %
               self.path('again.jsonl'))
        again = self.lines('again.jsonl')
        self.assertEqual([f['pair'] for f in again], [f['pair'] for f in sidecar])
        self.assertEqual(again[0]['pair']['skew'], 0)

    def test_killed(self):
        process = subprocess.Popen(
            [COMMAND, 'record', '--source', 'stereotestsrc is-live=true ! '
             'video/x-raw,format=GRAY8,width=160,height=60,framerate=30/1', '--analysis', 'identity',
             '--topics', 'frame', self.path('drive')],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.wait_for_size('drive.mcap', 30000)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        recording = mcap_reader.read(read(self.path('drive.mcap')))
        self.assertFalse(recording.complete)
        self.assertGreater(len(recording.messages), 10)
        frames = len(self.frames(('drive.mkv', 'GRAY8'))) // (160 * 60)
        self.assertGreater(frames, 10)
        with open(self.path('drive.jsonl')) as file:
            complete = [json.loads(line) for line in file if line.endswith('\n')]
        self.assertGreater(len(complete), 10)

    def end_by(self, number):
        name = number.name
        # nohup and other callers make children ignore it, which shells pass on.
        def heed():
            signal.signal(number, signal.SIG_DFL)
        process = subprocess.Popen(
            [COMMAND, 'record', '--source', 'stereotestsrc is-live=true ! '
             'video/x-raw,format=GRAY8,width=160,height=60,framerate=30/1', '--analysis', 'identity',
             '--topics', 'frame', self.path(name)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True, preexec_fn=heed)
        self.wait_for_size(name + '.jsonl', 10000)
        os.killpg(process.pid, number)
        said, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (0, 'roadvision record: ending\n'))
        recording = mcap_reader.read(read(self.path(name + '.mcap')))
        self.assertTrue(recording.complete)
        frames = len(self.frames((name + '.mkv', 'GRAY8'))) // (160 * 60)
        self.assertEqual(frames, len(self.lines(name + '.jsonl')))
        self.assertEqual(frames, len(recording.messages))

    def test_ctrl_c_and_kill(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                self.end_by(number)

    def test_source_fails(self):
        done = subprocess.run(
            [COMMAND, 'record', '--source', 'stereotestsrc is-live=true ! '
             'video/x-raw,format=GRAY8,width=160,height=60,framerate=30/1 ! identity error-after=20',
             '--analysis', 'identity', '--topics', 'frame', self.path('drive')],
            capture_output=True, text=True, timeout=200)
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'roadvision record: identity0: Failed after iterations as requested.\n'))
        video, segment = read(self.path('drive.mkv')), b'\x18\x53\x80\x67'
        size = video[video.index(segment) + 4:][:8]
        self.assertNotEqual(size, b'\x01' + 7 * b'\xff')  # unknown: the file was not completed
        self.assertTrue(mcap_reader.read(read(self.path('drive.mcap'))).complete)
        frames = len(self.frames(('drive.mkv', 'GRAY8'))) // (160 * 60)
        self.assertEqual(frames, len(self.lines('drive.jsonl')))
        self.assertGreater(frames, 15)

    def test_full_disk(self):
        if subprocess.run(['unshare', '-rm', 'true'], capture_output=True).returncode != 0:
            self.skipTest('no file system can be mounted here')
        os.mkdir(self.path('disk'))
        work = ('mount -t tmpfs -o size=2m none "$0" && "$1" record --topics frame+camera --source '
                '"stereotestsrc num-buffers=60 ! video/x-raw,format=NV12,%s" "$0/drive"; status=$?; '
                'cp "$0"/* "$2"; exit $status' % SIZE)
        done = subprocess.run(['unshare', '-rm', 'bash', '-c', work, self.path('disk'),
                               COMMAND, self.folder],
                              capture_output=True, text=True, timeout=200)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('No space left on the resource', done.stdout + done.stderr)
        frames = len(self.frames(('drive.mkv', 'NV12'))) // (640 * 240 * 3 // 2)
        self.assertGreater(frames, 5)
        self.assertGreater(len(self.lines('drive.jsonl')), 5) # complete lines only
        mcap_reader.read(read(self.path('drive.mcap')))

    def test_help_and_mistakes(self):
        self.assertIn('--calibration FILE', script('record.sh', '--help'))
        self.assertIn('drive.jsonl', script('replay.sh', '--help'))
        # a line for another machine: neither its cameras nor its files must be here
        for command in (['see', '/dev/none1', '/dev/none2'],
                        ['record', '--left', '/dev/none1', '--right', '/dev/none2', '/none/x']):
            line = run(COMMAND, *command, '--calibration', '/none.yml', '--print')
            for word in ('device=/dev/none1', 'device=/dev/none2', 'calibration=/none.yml'):
                self.assertIn(word, line)
        line = run(COMMAND, 'record', '--device', '/dev/video0', '/none/x', '--print')
        self.assertEqual([line.count(word) for word in (' location=', ' location=/none/x.mkv', ' name=video0 ')], [3, 1, 1])
        for command, expected in (
                (['record'], 'arguments are required: out'),
                (['record', '--no-results', '--source',
                  'videotestsrc num-buffers=1 ! video/x-raw,format=Y41B', 'x'],
                 'Y41B cannot be recorded without a loss'),
                (['record', '--device', '/dev/none', 'x'], 'no such device'),
                (['record', '--caps', 'image/jpeg', 'x'], '--caps needs --device'),
                (['record', '--left', '/dev/none', 'x'], 'two cameras need --left and --right'),
                (['record', '--left', '/dev/none', '--right', '/dev/none', 'x'], 'no such device'),
                (['record', '--calibration', '/none', 'x'], 'cannot read the calibration file /none'),
                (['replay', self.path('none')], 'no %s.mkv' % self.path('none')),
                (['to_ply.py', '--pipeline', 'videotestsrc num-buffers=1', self.path('a.ply')],
                 'has no disparity'),
                (['opencv_depth.py', '--pipeline', 'nonsense', self.path('a.png')], 'no element'),
                # errors that no end of the stream follows
                (['to_ply.py', '--pipeline', 'filesrc location=/none ! pngdec ! cudasgm', self.path('a.ply')],
                 'No such file "/none"'),
                (['opencv_depth.py', '--pipeline', 'stereotestsrc ! identity error-after=3 ! cudasgm',
                  self.path('a.png')], 'opencv_depth: identity0: ')):
            words = [COMMAND] if command[0] in ('record', 'replay') else [os.path.join(EXAMPLES, command.pop(0))]
            done = subprocess.run(words + command, text=True,
                                  capture_output=True, timeout=120, cwd=self.folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(expected, done.stdout + done.stderr)


def read_ply(path):
    """Vertices of a binary PLY file, by its header."""
    header, data = read(path).split(b'end_header\n', 1)
    lines = header.decode().split('\n')
    assert lines[:2] == ['ply', 'format binary_little_endian 1.0']
    count = next(int(line.split()[2]) for line in lines if line.startswith('element vertex'))
    kinds = {'float': '<f4', 'uchar': 'u1'}
    vertex = [(line.split()[2], kinds[line.split()[1]]) for line in lines if line.startswith('property')]
    vertices = np.frombuffer(data, vertex)
    assert len(vertices) == count
    return vertices


class Clouds(helpers.FolderCase):
    LINE = 'stereotestsrc num-buffers=2 ! video/x-raw,format=BGRx,width=640,height=240 ! cudasgm'

    def truth(self, index=1):
        """Frame 1 of LINE: pixels, disparity in px, camera, ground-truth labels."""
        pipeline = Gst.parse_launch(self.LINE + ' ! appsink name=last sync=false')
        colors, disparity, camera = to_ply.grab(pipeline, index)
        return colors, disparity['payload'] / 16, camera

    def test_ply(self):
        colors, disparity, camera = self.truth()
        script('to_ply.py', '--pipeline', self.LINE, '--index', '1', '--max-distance', '50',
               self.path('a.ply'))
        vertices = read_ply(self.path('a.ply'))
        z = np.where(disparity > 0, camera['focal'] * camera['baseline'] / np.maximum(disparity, 1e-9), 0)
        rows, columns = np.nonzero((z > 0) & (z <= 50))
        self.assertEqual(len(vertices), len(rows))
        self.assertGreater(len(vertices), 20000)
        self.assertLess(abs(vertices['z'] / z[rows, columns] - 1).max(), 1e-6)
        back = vertices['x'] * camera['focal'] / vertices['z'] + camera['cx']
        self.assertLess(abs(back - columns).max(), 1e-3)
        self.assertTrue((vertices['red'] == colors[rows, columns, 2]).all())
        self.assertTrue((vertices['blue'] == colors[rows, columns, 0]).all())
        # Above the road: the street is flat, at height 0, and the camera looks down by 2 degrees.
        script('to_ply.py', '--pipeline', self.LINE, '--index', '1', '--max-distance', '50', '--frame',
               'road', self.path('b.ply'))
        road = read_ply(self.path('b.ply'))
        near = (road['x'] > 4) & (road['x'] < 12) & (abs(road['y']) < 1.5)
        self.assertGreater(near.sum(), 500)
        self.assertLess(abs(np.median(road['z'][near])), 0.05)
        self.assertLess(np.percentile(abs(road['z'][near]), 80), 0.1)

    def test_opencv(self):
        _colors, disparity, camera = self.truth()
        text = script('opencv_depth.py', '--pipeline', self.LINE, self.path('a.png'))
        self.assertIn('frame 1: ', text)
        depth = cv2.imread(self.path('a.png'), cv2.IMREAD_UNCHANGED)
        self.assertEqual((depth.dtype, depth.shape), (np.uint16, (240, 320)))
        self.assertTrue((depth[disparity == 0] == 0).all())
        mm = 1000 * camera['focal'] * camera['baseline'] / np.maximum(disparity, 1e-9)
        near = (disparity > 0) & (mm < 65000)
        self.assertLess(abs(depth[near] - mm[near]).max(), 1.0)
        color = cv2.imread(self.path('a_color.png'))
        self.assertEqual(color.shape, (240, 320, 3))
        self.assertTrue((color[disparity == 0] == 0).all())

    def test_recording(self):
        script('record', '--no-results', '--source', 'stereotestsrc num-buffers=2 ! '
               'video/x-raw,format=BGRx,width=640,height=240', self.path('drive'))
        script('to_ply.py', '--recording', self.path('drive'), '--index', '1', '--max-distance', '50',
               self.path('a.ply'))
        script('to_ply.py', '--pipeline', self.LINE, '--index', '1', '--max-distance', '50',
               self.path('b.ply'))
        a, b = read_ply(self.path('a.ply')), read_ply(self.path('b.ply'))
        self.assertTrue((a == b).all())


if __name__ == '__main__':
    Gst.init(None)
    missing = [e for e in ('avenc_ffv1', 'x264enc', 'matroskamux') if not Gst.ElementFactory.find(e)]
    if missing:
        print('skipped: no element %s (Debian: gstreamer1.0-libav, gstreamer1.0-plugins-ugly)' % missing)
        sys.exit(77)
    unittest.main()
