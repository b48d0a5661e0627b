# SPDX-License-Identifier: MIT
"""The main job of gst-roadvision on a test scene, images, a video or a camera; run it through
demo.sh. Writes an annotated video and two stills, and sums up in one line."""
import argparse
import os
import re
import sys
import time

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import gi
import numpy as np

from roadvision.batch.chunkrun import crop_to_even
from roadvision.common import Problem, Progress, error_text, parse, quote
from roadvision.pictures import Pictures

gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import Gst, GstVideo  # noqa: E402

# In the order of preference: element, raw format, launch line from raw video to file, extension.
# Quality is set for images full of fine detail; every player knows 8-bit 4:2:0.
MP4 = 'h264parse ! mp4mux faststart=true'
ENCODERS = (
    ('nvh264enc', 'NV12', 'nvh264enc bitrate=16000 ! ' + MP4, 'mp4'),
    ('x264enc', 'I420', 'x264enc pass=quant quantizer=24 speed-preset=superfast bframes=0 '
     'key-int-max=60 ! ' + MP4, 'mp4'),
    ('openh264enc', 'I420', 'openh264enc bitrate=8000000 max-bitrate=16000000 gop-size=60 ! ' + MP4,
     'mp4'),
    ('vp8enc', 'I420', 'vp8enc deadline=1 cpu-used=8 target-bitrate=8000000 ! webmmux', 'webm'),
)
PATTERNS = ('street', 'slanted-street', 'offroad', 'planes', 'noise', 'highway', 'obstacle-course')
TEST_RATE = 30  # frames per second of the test scene


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog='demo.sh', description='Depth from stereo, drawn and recorded. Without options: ten '
        'seconds of a rendered street, with the error vs. ground truth.')
    source = parser.add_argument_group('input (one of them; default: the test scene)')
    source.add_argument('--pattern', choices=PATTERNS, help='test scene: which one (street)')
    source.add_argument('--left', metavar='GLOB', help='left images (glob in quotes); '
                        'PNG, JPEG or PNM, in the order of their names')
    source.add_argument('--right', metavar='GLOB', help='right images (glob in quotes)')
    source.add_argument('--file', metavar='VIDEO', help='video with both views side by side')
    source.add_argument('--device', metavar='/dev/videoN', help='side-by-side stereo camera')
    parser.add_argument('--caps', default='', help='caps of the camera, such as '
                        'image/jpeg,width=2560,height=720')
    parser.add_argument('--size', default='640x480', metavar='WxH', help='test scene: px of one view '
                        '(640x480)')
    parser.add_argument('--seconds', type=float, default=10, help='length, of test scene and camera '
                        '(10)')
    parser.add_argument('--fps', type=float, default=10, help='frames per second of images (10)')
    parser.add_argument('--engine', choices=('auto', 'cpu', 'cuda'), default='auto',
                        help='auto: a GPU if there is one')
    parser.add_argument('--sgm', default='', metavar='PROPERTIES', help='more properties of cudasgm, '
                        'such as "disparities=192 focal-length=721.5 baseline=0.54"')
    parser.add_argument('--out', default='roadvision-demo', metavar='DIR', help='folder of the files')
    options = parser.parse_args()
    given = [options.pattern, options.left or options.right, options.file, options.device]
    if sum(1 for item in given if item) > 1:
        parser.error('--pattern, --left/--right, --file and --device exclude each other')
    if bool(options.left) != bool(options.right):
        parser.error('--left and --right go together')
    if not re.fullmatch(r'[1-9]\d*x[1-9]\d*', options.size):
        parser.error('--size is WIDTHxHEIGHT, such as 1280x720')
    if options.seconds <= 0 or options.fps <= 0:
        parser.error('--seconds and --fps must be positive')
    return options


# --- Input ----------------------------------------------------------------------------------------

class Input:
    """Where the pairs come from: `launch` gives frame-packed raw video."""

    def __init__(self, options):
        self.pictures = None
        self.frames = None   # how many there will be, if known
        self.stop_at = None  # seconds after which a live source is ended
        self.branches = []   # further lines that feed the first
        if options.left:
            self.pictures = Pictures(options.left, options.right, options.fps)
            self.frames = self.pictures.count
            self.name = '%d images' % self.frames
            self.launch, self.branches = self.pictures.launch()
        elif options.file:
            if not os.path.isfile(options.file):
                raise Problem('no such file: %s' % options.file)
            self.name = options.file
            self.launch = 'filesrc location=%s ! decodebin ! videoconvert' % quote(options.file)
        elif options.device:
            if not os.path.exists(options.device):
                raise Problem('no such device: %s; "v4l2-ctl --list-devices" names them'
                              % options.device)
            self.name = options.device
            self.stop_at = options.seconds
            caps = options.caps + ' ! ' if options.caps else ''
            self.launch = ('v4l2src device=%s ! %sdecodebin ! videoconvert ! '
                           'queue leaky=downstream max-size-buffers=1'
                           % (quote(options.device), caps))
        else:
            width, height = (int(n) for n in options.size.split('x'))
            self.frames = max(1, round(options.seconds * TEST_RATE))
            pattern = options.pattern or 'street'
            self.name = 'stereotestsrc pattern=%s' % pattern
            self.launch = ('stereotestsrc num-buffers=%d pattern=%s ! '
                           'video/x-raw,width=%d,height=%d,framerate=%d/1'
                           % (self.frames, pattern, 2 * width, height, TEST_RATE))


# --- Output ---------------------------------------------------------------------------------------

def choose_encoder():
    """The first encoder that is installed and really encodes (nvh264enc may lack its hardware)."""
    for encoder in ENCODERS:
        name, raw, line, _extension = encoder
        if Gst.ElementFactory.find(name) is None:
            continue
        try:
            run_quietly('videotestsrc num-buffers=2 ! video/x-raw,format=%s,width=320,height=240 ! '
                        '%s ! fakesink' % (raw, line))
            return encoder
        except Problem as problem:
            print('demo: %s does not work here (%s); trying the next' % (name, problem),
                  file=sys.stderr)
    raise Problem('no video encoder: install gstreamer1.0-plugins-ugly (x264enc) or '
                  'gstreamer1.0-plugins-good (vp8enc)')


def run_quietly(line):
    pipeline = parse(line)
    try:
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(
            20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message is None:
            raise Problem('no answer in 20 s')
        if message.type == Gst.MessageType.ERROR:
            raise Problem(error_text(message))
    finally:
        pipeline.set_state(Gst.State.NULL)


def write_still(sample, path):
    png = GstVideo.video_convert_sample(sample, Gst.Caps.from_string('image/png'), 20 * Gst.SECOND)
    buffer = png.get_buffer()
    with open(path, 'wb') as file:
        file.write(buffer.extract_dup(0, buffer.get_size()))


class Score:
    """Sums over frames: share of valid pixels, and the error where there is truth."""

    def __init__(self):
        self.frames = 0
        self.pixels = self.valid = 0
        self.judged = self.bad3 = 0
        self.error = 0.0  # px

    def add(self, buffer):
        self.frames += 1
        found = roadvision.annotation(buffer, 'RvDisparityMeta')
        if found is None:
            return
        disparity = found['payload']
        self.pixels += disparity.size
        self.valid += int(np.count_nonzero(disparity))
        truth = roadvision.annotation(buffer, 'RvTruthMeta')
        if truth is None or 'visible' not in truth or truth['disparity'].shape != disparity.shape:
            return
        judged = (truth['disparity'] > 0) & (truth['visible'] > 0) & (disparity > 0)
        error = np.abs(disparity[judged].astype(np.int32) - truth['disparity'][judged])
        scale = found['scale']
        self.judged += error.size
        self.bad3 += int(np.count_nonzero(error > 3 * scale))
        self.error += float(error.sum()) / scale

    def text(self):
        if not self.pixels:
            return 'no disparity was attached'
        text = '%.1f %% of pixels valid' % (100 * self.valid / self.pixels)
        if self.judged:
            text += ', vs. ground truth bad3 %.2f %% and mean error %.2f px' % (
                100 * self.bad3 / self.judged, self.error / self.judged)
        return text


class Tap:
    """Sees every annotated frame on its way to the encoder: scores it and keeps two stills."""

    def __init__(self, frames):
        self.score = Score()
        self.stills = []
        self.wanted = [frames // 4, frames * 3 // 4] if frames else None
        self.last = None

    def __call__(self, pad, info):
        buffer = info.get_buffer()
        number = self.score.frames
        self.score.add(buffer)
        self.last = (buffer, pad.get_current_caps())
        # Of unknown length: the first frame now, the last one at the end.
        for _still in [n for n in (self.wanted or [0]) if n == number]:
            self.stills.append(self.last)
        return Gst.PadProbeReturn.OK

    def samples(self):
        while self.last and len(self.stills) < 2:
            self.stills.append(self.last)
        return [Gst.Sample.new(buffer, caps, None, None) for buffer, caps in self.stills]


# --- The run --------------------------------------------------------------------------------------

def takes_cuda_memory():
    """Whether the images can stay on the GPU from cudasgm to cudaannotate."""
    if not (Gst.ElementFactory.find('cudaupload') and Gst.ElementFactory.find('cudadownload')):
        return False
    templates = Gst.ElementFactory.find('cudasgm').get_static_pad_templates()
    return any('memory:CUDAMemory' in template.get_caps().to_string() for template in templates)


def build(source, options, encoder, path):
    for name in ('stereotestsrc', 'cudasgm', 'cudaannotate'):
        if Gst.ElementFactory.find(name) is None:
            raise Problem('element %s is not there: build it first (./setup.sh), and run demo.sh, '
                          'which tells GStreamer where it is' % name)
    work = 'cudasgm name=sgm engine=%s %s ! cudaannotate name=annotate engine=%s' % (
        options.engine, options.sgm, options.engine)
    if options.engine != 'cpu' and takes_cuda_memory():
        work = 'cudaupload ! %s ! cudadownload' % work
    _name, raw, line, _extension = encoder
    pipeline = parse(' '.join([
        source.launch, '! queue max-size-buffers=4 !', work,
        '! queue name=drawn max-size-buffers=4 ! videocrop name=crop ! videoconvert !',
        'video/x-raw,format=%s ! queue max-size-buffers=4 ! %s !' % (raw, line),
        'filesink location=%s' % quote(path)] + source.branches))
    if source.pictures:
        source.pictures.connect(pipeline)
    crop = pipeline.get_by_name('crop')
    crop.get_static_pad('sink').add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, crop_to_even, crop)
    return pipeline


def share_done(pipeline, source, frames, seconds):
    if source.frames:
        return min(1.0, frames / source.frames)
    if source.stop_at:
        return min(1.0, seconds / source.stop_at)
    known, length = pipeline.query_duration(Gst.Format.TIME)
    there, position = pipeline.query_position(Gst.Format.TIME)
    return min(1.0, position / length) if known and there and length > 0 else None


def run(pipeline, source, tap):
    """Plays to the end; returns the seconds it took. Ctrl-C ends early, with a playable video."""
    progress = Progress()
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    ending = False
    while True:
        seconds = time.monotonic() - progress.begin
        try:
            message = bus.timed_pop_filtered(100 * Gst.MSECOND,
                                             Gst.MessageType.EOS | Gst.MessageType.ERROR)
            progress.show(share_done(pipeline, source, tap.score.frames, seconds), tap.score.frames)
        except KeyboardInterrupt:
            message = None
            source.stop_at = 0
        if message is not None and message.type == Gst.MessageType.ERROR:
            progress.end()
            raise Problem(error_text(message))
        if message is not None:
            progress.end()
            return time.monotonic() - progress.begin
        if source.stop_at is not None and seconds >= source.stop_at and not ending:
            ending = True
            pipeline.send_event(Gst.Event.new_eos())


def summary(source, pipeline, tap, seconds, files):
    stats = pipeline.get_by_name('sgm').get_property('stats')
    return ('demo: %s: %d frames in %.1f s, %.1f frames/s; engine %s, matching %.1f ms a frame; %s; '
            'wrote %s' % (source.name, tap.score.frames, seconds, tap.score.frames / seconds,
                          stats.get_string('engine'), stats.get_double('mean-us')[1] / 1000,
                          tap.score.text(), ' '.join(files)))


def main():
    options = parse_arguments()
    Gst.init(None)
    source = Input(options)
    encoder = choose_encoder()
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, 'annotated.' + encoder[3])
    pipeline = build(source, options, encoder, path)
    tap = Tap(source.frames)
    pipeline.get_by_name('drawn').get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, tap)
    try:
        seconds = run(pipeline, source, tap)
        if not tap.score.frames:
            raise Problem('%s gave no frames' % source.name)
        files = [path]
        for number, sample in enumerate(tap.samples(), 1):
            files.append(os.path.join(options.out, 'still-%d.png' % number))
            write_still(sample, files[-1])
        print(summary(source, pipeline, tap, seconds, files))
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == '__main__':
    try:
        main()
    except (Problem, OSError) as problem:
        sys.exit('demo: %s' % problem)
