#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The complete line as one pipeline on the CPU: MJPEG side by side as a camera sends it, decoded,
rectified, all algorithms, drawn, published and recorded as H.264; what was published and recorded is
then read by others."""
import json
import os
import sys
import unittest

os.environ.setdefault('OMP_WAIT_POLICY', 'passive')  # other tests run beside this one
import gi  # noqa: E402

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402
import helpers  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

FRAMES, WIDTH, HEIGHT, RATE = 16, 320, 240, 15
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'gst', 'schema',
                      'roadvision.frame-1.schema.json')
MATRIX = '%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ %s ]\n'


def write_calibration(path):
    """Cameras with lenses that bend a little and are turned by a quarter of a degree."""
    focal, cx, cy = 0.9 * WIDTH, (WIDTH - 1) / 2, (HEIGHT - 1) / 2
    camera = '%g, 0., %g, 0., %g, %g, 0., 0., 1.' % (focal, cx, focal, cy)
    with open(path, 'w') as file:
        file.write('%%YAML:1.0\n---\nimage_width: %d\nimage_height: %d\n' % (WIDTH, HEIGHT))
        for eye in '12':
            file.write(MATRIX % ('M' + eye, 3, 3, camera))
            file.write(MATRIX % ('D' + eye, 1, 5, '-0.02, 0., 0., 0., 0.'))
        file.write(MATRIX % ('R', 3, 3, '1., 0., 0., 0., 1., 0., 0., 0., 1.'))
        file.write(MATRIX % ('T', 3, 1, '-0.5, 0., 0.'))


def run(line):
    """Runs a pipeline to its end; returns the frames that its sink `last`, if any, received, and the
    shares of valid pixels that cudasgm posted."""
    pipeline = Gst.parse_launch(line)
    last, seen, shares = pipeline.get_by_name('last'), [], []
    if last:
        def on_buffer(pad, info):
            buffer, caps = info.get_buffer(), pad.get_current_caps().get_structure(0)
            seen.append((caps.get_value('width'), caps.get_value('height'), buffer.pts,
                         buffer.extract_dup(0, buffer.get_size())))
            return Gst.PadProbeReturn.OK
        last.get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, on_buffer)
    pipeline.set_state(Gst.State.PLAYING)
    bus, kinds = pipeline.get_bus(), Gst.MessageType
    wanted = kinds.EOS | kinds.ERROR | kinds.ELEMENT
    message = bus.timed_pop_filtered(200 * Gst.SECOND, wanted)
    while message and message.type == kinds.ELEMENT:
        if message.get_structure().get_name() == 'cudasgm':
            shares.append(message.get_structure().get_value('valid-share'))
        message = bus.timed_pop_filtered(200 * Gst.SECOND, wanted)
    pipeline.set_state(Gst.State.NULL)
    if message is None:
        raise AssertionError('no end within 200 s: ' + line)
    if message.type == kinds.ERROR:
        raise AssertionError('%s: %s' % (line, message.parse_error()))
    return seen, shares


class Drive(helpers.FolderCase):
    def check_published(self):
        with open(self.path('drive.jsonl')) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(len(lines), FRAMES)
        with open(SCHEMA) as file:
            schema = json.load(file)
        for at, line in enumerate(lines):
            if jsonschema:
                jsonschema.validate(line, schema)
            self.assertEqual(line['seq'], at)
            self.assertEqual(line['resolution'], {'width': WIDTH, 'height': HEIGHT})
            self.assertAlmostEqual(line['timestamp'], at * 1e9 / RATE, delta=2e6)
            self.assertAlmostEqual(line['camera']['baseline'], 0.5, delta=1e-6)
            self.assertGreater(line['stixels']['count'], 2 * WIDTH // 8)
            self.assertGreater(line['segments']['count'], WIDTH)
            self.assertGreater(line['lines']['count'], 0)
            for kind in ('stixels', 'segments', 'lines'):
                self.assertEqual(len(line[kind]['records']), line[kind]['count'])
        shares = [line['road']['road_share'] for line in lines[2:]]
        self.assertGreater(min(shares), 0.05)
        self.assertLess(max(shares), 0.9)

    def check_recorded(self):
        frames, _ = run('filesrc location=%s ! matroskademux ! h264parse ! avdec_h264 ! videoconvert ! '
                     'video/x-raw,format=RGB ! fakesink name=last' % self.path('drive.mkv'))
        self.assertEqual(len(frames), FRAMES)
        times = [pts for _, _, pts, _ in frames]
        self.assertEqual(times, sorted(set(times)))
        for width, height, _, pixels in frames:
            self.assertEqual((width, height), (WIDTH, HEIGHT))
            colorful = sum(abs(pixels[k] - pixels[k + 2]) > 60 for k in range(0, len(pixels), 3))
            self.assertGreater(colorful, WIDTH * HEIGHT // 20, 'nothing was drawn')

    def test_line(self):
        camera, calibration = self.path('camera.mkv'), self.path('camera.yml')
        write_calibration(calibration)
        run('stereotestsrc num-buffers=%d truth=false ! video/x-raw,format=I420,width=%d,height=%d,'
            'framerate=%d/1 ! jpegenc quality=92 ! matroskamux ! filesink location=%s' %
            (FRAMES, 2 * WIDTH, HEIGHT, RATE, camera))
        _, shares = run(
            'filesrc location=%s ! matroskademux ! image/jpeg,width=%d,height=%d ! jpegdec ! '
            'cudarectify engine=cpu calibration=%s ! cudasgm engine=cpu post-messages=true ! cudastixels engine=cpu ! '
            'cudardp engine=cpu ! cudaroaddetect engine=cpu ! cudahough engine=cpu segments=true ! '
            'cudaannotate engine=cpu ! annotationpublish location=%s ! videoconvert ! '
            'x264enc tune=zerolatency ! h264parse ! matroskamux ! filesink location=%s' %
            (camera, 2 * WIDTH, HEIGHT, calibration, self.path('drive.jsonl'),
             self.path('drive.mkv')))
        self.assertEqual(len(shares), FRAMES)
        self.assertGreater(min(shares), 0.6)
        self.check_published()
        self.check_recorded()


if __name__ == '__main__':
    Gst.init(None)
    MISSING = [name for name in ('jpegenc', 'jpegdec', 'matroskamux', 'matroskademux', 'x264enc',
                                 'h264parse', 'avdec_h264') if not Gst.ElementFactory.find(name)]
    if MISSING:
        print('skipped: no element ' + ', '.join(MISSING))
        sys.exit(77)
    unittest.main()
