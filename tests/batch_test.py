#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""roadvision batch: results equal for any number of processes and after kills at random moments; layouts of data sets;
recordings; bad input. Small images and few frames; tests/batch.sh runs it with more.

    batch_test.py [TEST...]     RV_BATCH_KILLS (2), RV_BATCH_PLAN (20000 frames), RV_SEED (1); RV_BATCH_DRIVE=300: the overlaps
                                that batches take by default, in a drive of so many frames in three chunks"""
import glob
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from types import SimpleNamespace

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
COMMAND = os.path.join(ROOT, 'tools', 'bin', 'roadvision')
sys.path.insert(0, os.path.join(ROOT, 'tools'))
from roadvision import common, pictures  # noqa: E402
from roadvision.batch import camera, chunkrun, command, layouts, local, mcap  # noqa: E402

KILLS = int(os.environ.get('RV_BATCH_KILLS', '2'))
PLANNED = int(os.environ.get('RV_BATCH_PLAN', '20000'))
SEED = int(os.environ.get('RV_SEED', '1'))
DRIVE = int(os.environ.get('RV_BATCH_DRIVE', '0'))
FRAMES, SIZE = 24, (96, 64)
LIMIT = 600  # s: of a process that hangs; other work of the machine may slow one down
CAMERA = ('--focal', '80', '--baseline', '0.5')


def run(*words, **options):
    return subprocess.run([COMMAND, 'batch', *map(str, words)], capture_output=True, text=True, timeout=LIMIT, **options)


def launch(line):
    """A pipeline to its end; its standard output."""
    return subprocess.run(['gst-launch-1.0', '-q', *line.split()], check=True, stdout=subprocess.PIPE, timeout=LIMIT).stdout


def png_values(path, kind):
    return np.frombuffer(launch('filesrc location=%s ! pngdec ! fdsink' % path), kind)


def write_pairs(folder, count=FRAMES, left='left', right='right', size=SIZE, name='%06d.png'):
    """Noise that moves 5 px between the views."""
    generator = np.random.default_rng(SEED)
    for side in (left, right):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
    for index in range(count):
        noise = generator.integers(0, 256, (size[1], size[0] + 5), np.uint8)
        for side, values in ((left, noise[:, :-5]), (right, noise[:, 5:])):
            with open(os.path.join(folder, side, name % index), 'wb') as file:
                file.write(pictures.png(values))


def hashes(folder):
    """Path -> hash of all results."""
    found = {}
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != '.roadvision']
        for name in names:
            path = os.path.join(top, name)
            with open(path, 'rb') as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def json_frames(folder):
    found = []
    for path in sorted(glob.glob(os.path.join(folder, 'json', '*.jsonl'))):
        with open(path) as file:
            found += [json.loads(line) for line in file]
    return found


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def good(self, *words, status=0, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def refused(self, text, *words, status=1, **options):
        self.assertIn(text, self.good(*words, status=status, **options))


class Results(Case):
    WORK = ('--what', 'disparity,depth,obstacles,json', '--chunk', 2, '--overlap', 3) + CAMERA

    def test_workers_and_kills(self):
        """One, two and killed workers give the same files; each frame is there once."""
        write_pairs(self.path('in'))
        self.good(self.path('in'), self.path('one'), *self.WORK, '--jobs', 1)
        once = hashes(self.path('one'))
        self.assertEqual(sum(name.startswith('disparity/') for name in once), FRAMES)
        self.assertEqual([frame['seq'] for frame in json_frames(self.path('one'))], list(range(FRAMES)))
        done = subprocess.run(['sha256sum', '--quiet', '-c', 'manifest.sha256'], cwd=self.path('one'), capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.good(self.path('in'), self.path('two'), *self.WORK, '--jobs', 2)
        self.assertEqual(hashes(self.path('two')), once)
        self.killed(once, len(os.listdir(self.path('two/.roadvision/done'))))

    def killed(self, once, chunks):
        """SIGKILL or SIGINT to the command or SIGKILL to one of its workers, a random time after a random chunk or at the start."""
        chance, amid = random.Random(SEED), 0
        for kill in range(KILLS):
            wanted = chance.randrange(chunks)
            process = subprocess.Popen([COMMAND, 'batch', self.path('in'), self.path('killed'), *map(str, self.WORK),
                                        '--jobs', '2'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while wanted and process.poll() is None and len(glob.glob(self.path('killed/.roadvision/done/*'))) < wanted:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.1 if wanted else 1.5))
            if chance.random() < 0.3:
                subprocess.run(['pkill', '-KILL', '--oldest', '--parent', str(process.pid)])  # the oldest of its workers
            else:
                process.send_signal(chance.choice((signal.SIGKILL, signal.SIGINT)))
            process.wait(timeout=LIMIT)
            amid += 0 < len(glob.glob(self.path('killed/.roadvision/done/*'))) < chunks
            if os.path.exists(self.path('killed', 'manifest.sha256')):
                self.assertEqual(hashes(self.path('killed')), once, 'kill %d of seed %d' % (kill, SEED))
                shutil.rmtree(self.path('killed'))
        self.good(self.path('in'), self.path('killed'), *self.WORK, '--jobs', 2)
        self.assertEqual(hashes(self.path('killed')), once)
        self.assertEqual(os.listdir(self.path('killed/.roadvision/aside')), [])
        self.assertGreaterEqual(amid, KILLS // 4)
        print('%d kills of seed %d, %d with some chunks complete: equal hashes' % (KILLS, SEED, amid))

    def test_values(self):
        """Disparity is 5 px, and depth follows from the camera."""
        write_pairs(self.path('in'), 2)
        self.good(self.path('in'), self.path('out'), *self.WORK)
        values = png_values(self.path('out/disparity/000001.png'), '>u2')
        self.assertAlmostEqual(float(np.median(values[values > 0])) / 256, 5, delta=0.1)
        self.assertEqual(pictures.depth_mm({'payload': np.array([[80, 0]], np.uint16), 'scale': 16},
                                           {'focal': 80, 'baseline': 0.5}).tolist(), [[8000, 0]])

    def test_overlap(self):
        """The promises of docs/batch.md on what learns and tracks, in the last chunk of a drive."""
        count, chunk, width, height = (DRIVE, DRIVE // 3, 960, 300) if DRIVE else (70, 50, 480, 150)
        launch('stereotestsrc num-buffers=%d ! video/x-raw,format=NV12,width=%d,height=%d,framerate=10/1 ! videoconvert ! '
               'jpegenc quality=95 ! matroskamux ! filesink location=%s' % (count, width, height, self.path('a.mkv')))
        options = ('--what', 'disparity,road,json', '--focal', 183 * width / 480, '--baseline', 0.8, '--elements',
                   'cudasgm ! cudastixels ! cudaroaddetect ! cudaobstacles ! cudalanes')
        first = (count - 1) // chunk * chunk
        self.good(self.path('a.mkv'), self.path('long'), *options)
        for overlap, names in (((20, 'obstacles'), (40, 'lanes'), (60, 'road')) if DRIVE else ((40, 'obstacles lanes road'),)):
            parts = self.path('parts%d' % overlap)
            self.good(self.path('a.mkv'), parts, *options, '--chunk', chunk, '--overlap', overlap)
            self.assertEqual(hashes(self.path('long/disparity')), hashes(os.path.join(parts, 'disparity')))
            one, other = (json_frames(folder)[first:] for folder in (self.path('long'), parts))
            self.assertEqual([frame['stixels']['records'] for frame in one], [frame['stixels']['records'] for frame in other])
            for name in names.split():
                share = getattr(self, 'same_' + name)(one, other, parts, first)
                print('overlap %d: %s %s' % (overlap, share, name))

    def same_obstacles(self, long, parts, _folder, _first):
        near = count = 0
        for one, other in zip(long, parts):
            fields = one['obstacles']['fields']
            z, x = fields.index('distance'), fields.index('lateral')
            for row in one['obstacles']['records']:
                count += 1
                near += any(abs(b[z] - row[z]) < 0.01 * row[z] and abs(b[x] - row[x]) < 1 for b in other['obstacles']['records'])
        self.assertGreater(count, 20)
        self.assertGreaterEqual(near / count, 0.9)
        return '%.1f %% of %d' % (100 * near / count, count)

    def same_lanes(self, long, parts, _folder, _first):
        offset = np.percentile([abs(one['lanes']['offset'] - other['lanes']['offset']) for one, other in zip(long, parts)], 95)
        self.assertLess(offset, 0.01)
        return '%.4f m (95th percentile)' % offset

    def same_road(self, long, _parts, folder, first):
        same = []
        for index in range(first, first + len(long), 5):
            masks = [png_values('%s/road/%06d.png' % (path, index), np.uint8) for path in (self.path('long'), folder)]
            same.append(np.mean(masks[0] == masks[1]))
        self.assertGreaterEqual(np.mean(same), 0.95)
        return '%.1f %%' % (100 * np.mean(same))

    def test_print(self):
        """The printed line computes the same frames; the command itself stays away from OUT."""
        write_pairs(self.path('in'), 3)
        done = run(self.path('in'), self.path('out'), '--what', 'json', '--print', *CAMERA)
        self.assertEqual((done.returncode, os.path.exists(self.path('out'))), (0, False), done.stderr)
        os.mkdir(self.path('out'))
        subprocess.run(['bash', '-c', done.stdout], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
        self.good(self.path('in'), self.path('batch'), '--what', 'json', *CAMERA)
        frames = []
        for path in (self.path('out/frames.jsonl'), self.path('batch/json/000000-000002.jsonl')):
            with open(path) as file:
                frames.append([{key: value for key, value in json.loads(line).items() if key not in (
                    'timestamp', 'utc', 'utc_ns', 'utc_source', 'tags', 'discont', 'latency_ns')} for line in file])
        self.assertEqual(len(frames[0]), 3)
        self.assertEqual(*frames)

    def test_odd_width(self):
        """JPEG images of odd width, as those of DrivingStereo."""
        for side in ('left', 'right'):
            os.makedirs(self.path('in', side))
            launch('videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=97,height=63 ! jpegenc ! '
                   'multifilesink location=' + self.path('in', side, '%d.jpg'))
        self.good(self.path('in'), self.path('out'), '--what', 'disparity,lanes', *CAMERA)
        self.assertEqual(sorted(os.listdir(self.path('out/disparity'))), ['0.png', '1.png'])
        with open(self.path('out/lanes/000000-000001.jsonl')) as file:
            self.assertEqual(['lanes' in json.loads(line) for line in file], [True, True])

    def test_doffs(self):
        """The difference of the principal points reaches the depth: 80 px * 0.5 m / (5 + 3) px."""
        write_pairs(self.path('in'), 1, size=(128, 80))
        with open(self.path('in/calib.txt'), 'w') as file:
            file.write('cam0=[80 0 64; 0 80 40; 0 0 1]\nbaseline=500\ndoffs=3\n')
        self.good(self.path('in'), self.path('out'), '--what', 'depth,json')
        with open(self.path('out/json/000000-000000.jsonl')) as file:
            self.assertEqual(json.loads(file.readline())['camera']['doffs'], 3)
        values = png_values(self.path('out/depth/000000.png'), '>u2')
        self.assertAlmostEqual(float(np.median(values[values > 0])), 5000, delta=50)

    def test_recordings(self):
        """A video gives the frames of its chunks as one run does; so does an MCAP file."""
        street = 'stereotestsrc num-buffers=12 ! video/x-raw,format=NV12,width=192,height=64,framerate=10/1 ! '
        launch(street + 'videoconvert ! jpegenc ! matroskamux ! filesink location=' + self.path('a.mkv'))
        launch(street + 'annotationpublish format=mcap topics=image location=%s ! fakesink' % self.path('b.mcap'))
        for name in ('a.mkv', 'b.mcap'):
            options = ('--what', 'disparity,json', *CAMERA)
            self.good(self.path(name), self.path('whole'), *options)
            self.good(self.path(name), self.path('parts'), *options, '--chunk', 5, '--overlap', 2)
            whole, parts = hashes(self.path('whole/disparity')), hashes(self.path('parts/disparity'))
            self.assertEqual((whole, len(whole)), (parts, 12), name)
            shutil.rmtree(self.path('whole'))
            shutil.rmtree(self.path('parts'))

    def test_video(self):
        write_pairs(self.path('in'), 4, size=(97, 63))
        if subprocess.run(['gst-inspect-1.0', '--exists', '--atleast-version=0.0', 'x264enc']).returncode:
            self.skipTest('x264enc is missing')
        for out in ('a', 'b'):
            self.good(self.path('in'), self.path(out), '--what', 'video', '--elements', 'cudasgm', '--chunk', 2)
        self.assertEqual(hashes(self.path('a')), hashes(self.path('b')))
        self.assertEqual(sorted(os.listdir(self.path('a/video'))), ['000000-000001.ts', '000002-000003.ts'])


class Bad(Case):
    def test_unreadable(self):
        """Incomplete, foreign and differing images have no result and are named; the others have."""
        write_pairs(self.path('in'), 6)
        with open(self.path('in/left/000001.png'), 'rb+') as file:
            file.truncate(300)
        with open(self.path('in/right/000002.png'), 'wb') as file:
            file.write(b'no image')
        with open(self.path('in/left/000003.png'), 'rb') as file:
            data = file.read()
        with open(self.path('in/left/000003.png'), 'wb') as file:  # complete, but the decoder rejects it
            file.write(data[:60] + bytes(40) + data[100:])
        with open(self.path('in/right/000004.png'), 'wb') as file:
            file.write(pictures.png(np.zeros((10, 10), np.uint8)))
        said = self.good(self.path('in'), self.path('out'), '--what', 'disparity', status=1)
        self.assertIn('2 frames in', said)
        self.assertIn('4 pairs without a result', said)
        self.assertEqual(sorted(os.listdir(self.path('out/disparity'))), ['000000.png', '000005.png'])
        with open(self.path('out/errors.txt')) as file:
            self.assertRegex(file.read(), r'(?s)000001.png is incomplete.*000002.png is not a PNG.*000003.png.*is a png of 10x10')

    def test_many_unreadable(self):
        """A chunk is not computed once for each image that its decoder refuses."""
        write_pairs(self.path('in'), 40)
        for index in range(3, 40, 4):
            with open(self.path('in/left/%06d.png' % index), 'rb+') as file:
                file.seek(60)
                file.write(bytes(40))
        self.assertIn('30 frames in', self.good(self.path('in'), self.path('out'), '--what', 'disparity', status=1))
        with open(self.path('out/errors.txt')) as file:
            self.assertEqual(len(file.readlines()), 10)

    def test_skipped(self):
        """Decoders skip some damaged JPEG images without an error; heads of other formats are cut off."""
        for side in ('left', 'right'):
            os.makedirs(self.path('in', side))
            launch('videotestsrc pattern=snow num-buffers=6 ! video/x-raw,format=I420,width=160,height=96 ! jpegenc ! '
                   'multifilesink location=' + self.path('in', side, '%d.jpg'))
        for name in ('left/1.jpg', 'right/3.jpg'):
            with open(self.path('in', name), 'rb+') as file:
                file.seek(170)
                file.write(bytes(160))
        with open(self.path('in/left/4.jpg'), 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR')
        self.assertIn('3 frames in', self.good(self.path('in'), self.path('out'), '--what', 'disparity,json', status=1))
        with open(self.path('out/errors.txt')) as file:
            errors = file.read().splitlines()
        self.assertEqual([line.split(':')[0] for line in errors], ['1', '3', '4'])
        self.assertIn('right/3.jpg', errors[1])
        self.assertEqual(sorted(os.listdir(self.path('out/disparity'))), ['0.png', '2.png', '5.png'])

    def test_one_of_many(self):
        """A sequence without a camera, and one whose pairs are unknown: named; the others are computed."""
        for name in ('a', 'b', 'c'):
            write_pairs(self.path('in', name), 3)
        for name in ('a', 'b'):
            with open(self.path('in', name, 'calib.txt'), 'w') as file:
                file.write('P0: 80 0 48 0 0 80 32 0 0 0 1 0\nP1: 80 0 48 -40 0 80 32 0 0 0 1 0\n')
        for number, name in enumerate(os.listdir(self.path('in/b/right'))[1:]):
            os.rename(self.path('in/b/right', name), self.path('in/b/right/x%d.png' % number))
        os.remove(self.path('in/b/left/000000.png'))
        os.rename(self.path('in/b/left/000001.png'), self.path('in/b/left/y.png'))
        os.rename(self.path('in/b/left/000002.png'), self.path('in/b/left/z.png'))
        said = self.good(self.path('in'), self.path('out'), '--what', 'depth', status=1)
        self.assertIn('2 left images in b/left, but 3 right ones in b/right', said)
        self.assertIn('frames 000000-000002 of c: depth needs the camera', said)
        self.assertEqual(len(os.listdir(self.path('out/a/depth'))), 3)
        with open(self.path('out/manifest.sha256')) as file:
            self.assertEqual([line.split()[1] for line in file], ['a/depth/%06d.png' % index for index in range(3)])

    def test_list(self):
        """Equal names would overwrite each other."""
        write_pairs(self.path('in'), 2)
        with open(self.path('list'), 'w') as file:
            file.write('in/left/000000.png in/right/000000.png\n# later\nin/left/000001.png\tin/right/000001.png\n'
                       'in_left/000000.png in/right/000001.png\n')
        self.refused('is skipped: the list has its name (in_left_000000) twice', '--list', self.path('list'), self.path('out'),
                     '--what', 'disparity')
        self.assertEqual(sorted(os.listdir(self.path('out/disparity'))), ['in_left_000000.png', 'in_left_000001.png'])
        with open(self.path('list'), 'w') as file:
            file.write('one\n')
        self.refused('line 1 of', '--list', self.path('list'), self.path('new'))
        self.assertFalse(os.path.exists(self.path('new')))

    def test_sizes_change(self):
        write_pairs(self.path('in'), 3)
        write_pairs(self.path('in'), 2, size=(128, 80), name='b%d.png')
        self.good(self.path('in'), self.path('out'), '--what', 'disparity,json')
        self.assertEqual(len(os.listdir(self.path('out/disparity'))), 5)

    def test_counts(self):
        write_pairs(self.path('in'), 4)
        os.remove(self.path('in/right/000002.png'))
        self.refused('left/000002.png has no right image', self.path('in'), self.path('out'), '--what', 'disparity')
        self.assertEqual(len(os.listdir(self.path('out/disparity'))), 3)
        for name in os.listdir(self.path('in/right')):
            os.rename(self.path('in/right', name), self.path('in/right', 'x' + name))
        self.refused('4 left images in left, but 3 right ones in right', self.path('in'), self.path('new'))
        self.assertFalse(os.path.exists(self.path('new/disparity')))

    def test_folders(self):
        """Another output, another version, options that change, two batches, nothing to do."""
        write_pairs(self.path('in'), 3)
        os.makedirs(self.path('full'))
        open(self.path('full/precious'), 'w').close()
        self.refused('has files that no batch wrote', self.path('in'), self.path('full'))
        self.assertEqual(os.listdir(self.path('full')), ['precious'])
        self.good(self.path('in'), self.path('out'), '--what', 'disparity')
        before = hashes(self.path('out'))
        self.refused('is the output of another batch', self.path('in'), self.path('out'), '--what', 'json')
        again = (self.path('in'), self.path('out'), '--what', 'disparity')
        self.assertNotIn('changed since', self.good(*again))
        open(self.path('in/left/later'), 'w').close()
        self.assertIn('in/left changed since this batch was planned', self.good(*again))
        with open(self.path('out/.roadvision/plan.json')) as file:
            plan = json.load(file)
        plan['version'] = '0.0.1'
        with open(self.path('out/.roadvision/plan.json'), 'w') as file:
            json.dump(plan, file)
        self.refused('version 0.0.1, now', self.path('in'), self.path('out'), '--what', 'disparity')
        self.assertEqual(hashes(self.path('out')), before)
        for words, text, status in (
                ((self.path('none'), self.path('x')), 'there is no folder or file', 1),
                ((self.path('full'), self.path('x')), 'no pairs in', 1),
                ((self.path('in'), self.path('x'), '--what', 'nonsense'), '--what is nonsense', 2),
                ((self.path('in'), self.path('x'), '--what', 'depth'), 'depth needs the camera', 1),
                ((self.path('in'), self.path('x'), '--what', 'depth', *CAMERA), '3 frames in', 0),  # after the failure above
                ((self.path('in'), self.path('x2'), '--elements', 'nonsense'), 'no element "nonsense"', 1),
                ((self.path('in'), self.path('x'), '--calibration', '/none'), 'cannot read the calibration file', 1),
                ((self.path('in'), self.path('x4'), '--what', 'lanes'), 'no lanes without the camera', 1),
                ((self.path('in'), self.path('x3'), '--jobs', 0), '--jobs is 0', 2),
                ((self.path('in'), self.path('x3'), '--gpus', 'a'), '--gpus is a', 2),
                ((self.path('in'), self.path('x3'), '--fps', 'nan'), '--chunk and --fps must be positive', 2),
                ((self.path('in'), self.path('x3'), '--focal', -1), '--focal is -1', 2),
                ((self.path('in'), self.path('in/left/000000.png')), 'is no folder', 1),
                ((self.path('in'),), 'OUT is missing', 2)):
            self.refused(text, *words, status=status)
        self.assertFalse(os.path.exists(self.path('x2')))

    def test_two_batches(self):
        write_pairs(self.path('in'), FRAMES)
        first = subprocess.Popen([COMMAND, 'batch', self.path('in'), self.path('out'), '--what', 'disparity', '--chunk', '2',
                                  '--jobs', '1'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while first.poll() is None and not os.path.exists(self.path('out/.roadvision/plan.json')):
            time.sleep(0.02)
        first.send_signal(signal.SIGSTOP)  # else it may end before the other one has started
        try:
            self.refused('another batch is working on', self.path('in'), self.path('out'), '--what', 'disparity', '--chunk', 2)
        finally:
            first.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(timeout=LIMIT), 0)
        self.assertEqual(len(os.listdir(self.path('out/disparity'))), FRAMES)

    def test_no_space(self):
        """A full disk: an error; with space the same command completes the results."""
        if subprocess.run(['unshare', '-rm', 'true'], capture_output=True).returncode != 0:
            self.skipTest('no file system can be mounted here')
        write_pairs(self.path('in'), 12, size=(320, 200))
        os.mkdir(self.path('disk'))
        work = ('mount -t tmpfs -o size=64k none "$0" && "$1" batch "$2" "$0/out" --what disparity,json --chunk 2 --jobs 1 || echo '
                'status $?; ls "$0/out/disparity" | wc -l; mount -o remount,size=40m "$0" && '
                '"$1" batch "$2" "$0/out" --what disparity,json --chunk 2 && cp -r "$0/out" "$3"')
        done = subprocess.run(['unshare', '-rm', 'bash', '-c', work, self.path('disk'), COMMAND, self.path('in'), self.folder],
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('no space left in', done.stderr)
        self.assertIn('status 1\n', done.stdout)
        self.good(self.path('in'), self.path('whole'), '--what', 'disparity,json', '--chunk', 2)
        self.assertEqual(hashes(self.path('out')), hashes(self.path('whole')))

    def test_machines(self):
        """Slurm, ssh and GNU parallel that are absent are named."""
        write_pairs(self.path('in'), 2)
        os.mkdir(self.path('bin'))
        for name in 'env', 'bash', 'sh':
            os.symlink(shutil.which(name), self.path('bin', name))
        environment = dict(os.environ, PATH=self.path('bin'))
        self.refused('there is no sbatch', self.path('in'), self.path('a'), '--slurm', env=environment)
        self.refused('there is no parallel', self.path('in'), self.path('b'), '--hosts', 'none', env=environment)
        # an array of Slurm that works on the folder
        self.good(self.path('in'), self.path('c'), '--plan')
        with open(self.path('c/.roadvision/job'), 'w') as file:
            file.write('7')
        with open(self.path('bin/squeue'), 'w') as file:
            file.write('#!/bin/sh\necho RUNNING\n')
        os.chmod(self.path('bin/squeue'), 0o755)
        self.refused('job 7 of Slurm is working on', self.path('in'), self.path('c'), env=environment)
        self.assertEqual(os.listdir(self.path('c/.roadvision/done')), [])
        os.symlink('/bin/true', self.path('bin/parallel'))
        with open(self.path('bin/ssh'), 'w') as file:
            file.write('#!/bin/sh\necho "ssh: no route to $5" >&2\nexit 255\n')
        os.chmod(self.path('bin/ssh'), 0o755)
        self.refused('no route to', self.path('in'), self.path('b'), '--hosts', 'node1,node2', env=environment)
        self.refused('no host answers', self.path('in'), self.path('b'), '--hosts', 'node1,node2', env=environment)


class Plans(Case):
    def test_layouts(self):
        """Names alone decide; files are empty."""
        for left, right in (('kitti/training/image_2/000000_10.png', 'kitti/training/image_3/000000_10.png'),
                            ('raw/drive_0001/image_02/data/0.png', 'raw/drive_0001/image_03/data/0.png'),
                            ('euroc/mav0/cam0/data/1.png', 'euroc/mav0/cam1/data/1.png'),
                            ('vkitti/clone/Camera_0/rgb_1.jpg', 'vkitti/clone/Camera_1/rgb_1.jpg'),
                            ('city/leftImg8bit/val/a_leftImg8bit.png', 'city/rightImg8bit/val/a_rightImg8bit.png'),
                            ('ds/left-image-half-size/s/a.jpg', 'ds/right-image-half-size/s/a.jpg'),
                            ('eth/delivery/im0.png', 'eth/delivery/im1.png'),
                            ('both/image_00/data/0.png', 'both/image_01/data/0.png'),
                            ('both/image_02/data/0.png', 'both/image_03/data/0.png'),
                            ('one/a_left.png', 'one/a_right.png')):
            for name in (left, right):
                os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
                open(self.path(name), 'w').close()
        found, problems, notes = layouts.find(self.folder, self.path('out'))
        pairs = {item.name: [pair[:2] for pair in layouts.pairs_of(self.folder, item, problems)] for item in found}
        self.assertEqual(problems, [])
        self.assertEqual(notes, ['both/image_00/data is skipped: both has other cameras too'])
        self.assertEqual(pairs, {
            'both': [('both/image_02/data/0.png', 'both/image_03/data/0.png')],
            'kitti/training': [('kitti/training/image_2/000000_10.png', 'kitti/training/image_3/000000_10.png')],
            'raw/drive_0001': [('raw/drive_0001/image_02/data/0.png', 'raw/drive_0001/image_03/data/0.png')],
            'euroc/mav0': [('euroc/mav0/cam0/data/1.png', 'euroc/mav0/cam1/data/1.png')],
            'vkitti/clone': [('vkitti/clone/Camera_0/rgb_1.jpg', 'vkitti/clone/Camera_1/rgb_1.jpg')],
            'city/val': [('city/leftImg8bit/val/a_leftImg8bit.png', 'city/rightImg8bit/val/a_rightImg8bit.png')],
            'ds/s': [('ds/left-image-half-size/s/a.jpg', 'ds/right-image-half-size/s/a.jpg')],
            'eth/delivery': [('eth/delivery/im0.png', 'eth/delivery/im1.png')],
            'one': [('one/a_left.png', 'one/a_right.png')]})
        self.assertEqual(layouts.scene('000012_10'), layouts.scene('000012_11'))
        self.assertNotEqual(layouts.scene('000012_10'), layouts.scene('000013_10'))

    def test_camera(self):
        with open(self.path('calib.txt'), 'w') as file:
            file.write('P0: 700 0 600 0 0 700 180 0 0 0 1 0\nP1: 700 0 600 -350 0 700 180 0 0 0 1 0\n')
        kitti = {'focal': 700, 'baseline': 0.5, 'cx': 600, 'cy': 180}
        self.assertEqual(camera.find(self.folder, 'image_0', 'a'), (kitti, False))
        with open(self.path('calib.txt'), 'w') as file:
            file.write('cam0=[994.9 0 311.1; 0 994.9 254.8; 0 0 1]\nbaseline=193.001\ndoffs=31\n')
        self.assertEqual(camera.find(self.folder, '', 'a')[0], {
            'focal': 994.9, 'baseline': 0.193001, 'cx': 311.1, 'cy': 254.8, 'doffs': 31})
        with open(self.path('calib.txt'), 'w') as file:
            file.write('P0: nonsense')
        self.assertEqual(camera.find(self.folder, '', 'a'), ({}, False))
        os.mkdir(self.path('calib_cam_to_cam'))
        for scene, focal in (('000000', 700), ('000001', 720)):
            with open(self.path('calib_cam_to_cam', scene + '.txt'), 'w') as file:
                file.write('P_rect_02: %d 0 600 0 0 700 180 0 0 0 1 0\nP_rect_03: %d 0 600 -350 0 700 180 0 0 0 1 0\n' % (focal, focal))
        self.assertEqual(camera.find(self.folder, 'image_2', '000000_10'), (kitti, True))
        path = camera.path_of(self.folder, 'image_2', '000001_11')
        self.assertEqual(camera.of_pair(path, {'left': 'image_2'}, {'focal': None, 'baseline': 0.2}), dict(kitti, focal=720, baseline=0.2))
        self.assertEqual(camera.path_of(self.folder, 'image_2', '000002_10'), '')

    def test_settings(self):
        """Chunks are long in comparison with their overlap; elements compute where they should."""
        import argparse
        parser = argparse.ArgumentParser()
        command.arguments(parser)
        for what, chunk, overlap in (('disparity', 500, 0), ('stixels', 500, 10), ('lanes', 2000, 40), ('road,json', 3000, 60)):
            found = command.check(parser.parse_args(['in', 'out', '--what', what]))
            self.assertEqual((found['chunk'], found['overlap']), (chunk, overlap), what)
        settings = {'calibration': 'a b.yml', 'elements': 'cudasgm paths=4 ! cudalanes'}
        for device, words in ((-1, 'engine=cpu threads=3'), (2, 'cuda-device-id=2')):
            self.assertEqual(chunkrun.analysis(settings, {'focal': 7}, 3, device), (
                'cudarectify calibration="a b.yml" %s ! cudasgm %s focal-length=7 paths=4 ! cudalanes %s' % ((words,) * 3)))

    def test_gpus(self):
        """Processes use the GPUs in turn. What a machine with GPUs answers is simulated."""
        known, common.gpus = common.gpus, lambda: (0, 2, 12040)
        try:
            for gpus, expected in ((None, [0, 1]), ('1', [1]), ('none', [])):
                self.assertEqual(command.devices(SimpleNamespace(gpus=gpus)), expected)
            for gpus, text in (('0,2', 'there is no GPU 2: the driver has those from 0 to 1'), ('x', '--gpus is x, must be numbers')):
                with self.assertRaisesRegex(common.Problem, text):
                    command.devices(SimpleNamespace(gpus=gpus))
        finally:
            common.gpus = known
        pool = local.Pool(SimpleNamespace(out='out'), [], 3, [0, 1], 0)
        self.assertEqual([local.Worker(pool, number).command()[-1] for number in range(3)], ['0', '1', '0'])

    def test_lines(self):
        """Members of a JSON line are found as they are written."""
        line = '{"a":1.50,"b":{"x":[{},"}"]},"c":"\\"","d":null}\n'
        self.assertEqual(chunkrun.members(line), {'a': '1.50', 'b': '{"x":[{},"}"]}', 'c': '"\\""', 'd': 'null'})
        self.assertEqual(chunkrun.members('{}'), {})
        self.assertEqual(pictures.numbered(['a5/%1_08.png', 'a5/%1_09.png', 'a5/%1_10.png']), ('a5/%%1_%02d.png', 8, 10))
        self.assertEqual(pictures.numbered(['7_x.png', '8_x.png']), ('%d_x.png', 7, 8))
        self.assertIsNone(pictures.numbered(['a1.png', 'a3.png']))

    def test_many(self):
        """A plan of many frames in little memory and time; no image is opened."""
        with open(self.path('list'), 'w') as file:
            for index in range(PLANNED):
                file.write('drive/left/%09d.png\tdrive/right/%09d.png\n' % (index, index))
        begin = time.monotonic()
        code = ('import resource, sys; sys.argv[0] = "roadvision"; from roadvision.main import main; status = main(); '
                'print("MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10); sys.exit(status)')
        done = subprocess.run([sys.executable, '-c', code, 'batch', '--list', self.path('list'), self.path('out'), '--plan'],
                              capture_output=True, text=True, env=local.environment(), timeout=300)
        seconds = time.monotonic() - begin
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('%d frames, 1 sequences, %d chunks' % (PLANNED, -(-PLANNED // 500)), done.stdout)
        megabytes = int(done.stdout.split('MB')[1])
        self.assertLess(megabytes, 200)
        self.assertLess(seconds, 60)
        print('plan of %d frames: %.1f s, %d MB' % (PLANNED, seconds, megabytes))

    def test_mcap_chunks(self):
        """Chunks as other programs compress them; damaged ones."""
        import ctypes
        data = bytes(range(256)) * 20
        self.assertEqual(mcap.decompress('', data, len(data)), data)
        for kind, name, bound, compress in (('zstd', 'zstd', 'ZSTD_compressBound', 'ZSTD_compress'),
                                            ('lz4', 'lz4', 'LZ4F_compressFrameBound', 'LZ4F_compressFrame')):
            path = ctypes.util.find_library(name)
            if not path:
                print('without lib%s' % name)
                continue
            library = ctypes.CDLL(path)
            for function in (bound, compress):
                getattr(library, function).restype = ctypes.c_size_t
            room = getattr(library, bound)(ctypes.c_size_t(len(data)), None)
            out = ctypes.create_string_buffer(room)
            size = getattr(library, compress)(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), None)
            self.assertEqual(mcap.decompress(kind, out.raw[:size], len(data)), data, kind)
            with self.assertRaisesRegex(common.Problem, 'is damaged'):
                mcap.decompress(kind, out.raw[:size // 2], len(data))
        with self.assertRaisesRegex(common.Problem, 'compressed with br'):
            mcap.decompress('br', b'', 1)

    def test_mcap_images(self):
        """Messages of ROS 2 with other encodings and padded rows."""
        import struct
        head = b'\0\1\0\0' + struct.pack('<II', 5, 7) + struct.pack('<I', 2) + b'l\0' + b'\0\0'
        body = struct.pack('<II', 2, 3) + struct.pack('<I', 6) + b'mono8\0' + b'\0' + b'\0' + struct.pack('<II', 5, 10)
        found = mcap.image(head + body + bytes(range(10)), False)
        self.assertEqual((found.time, found.caps), (5000000007, 'video/x-raw,format=GRAY8,width=3,height=2'))
        self.assertEqual(found.data, bytes([0, 1, 2, 0, 5, 6, 7, 0]))
        body = struct.pack('<I', 5) + b'jpeg\0' + b'\0\0\0' + struct.pack('<I', 3) + b'\xff\xd8\xff'
        self.assertEqual(mcap.image(head + body, True).data, b'\xff\xd8\xff')


if __name__ == '__main__':
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
