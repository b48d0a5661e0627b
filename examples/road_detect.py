# SPDX-License-Identifier: MIT
"""Implements road_detect.sh: runs frames through a pipeline with cudaroaddetect, writes a video and
prints statistics."""
import argparse
import atexit
import os
import queue
import sys

try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import cv2
import gi
import numpy as np

import road_eval

gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import Gst, GstVideo  # noqa: E402

OFFROAD_FRAMES = 60
RATE = '10/3'  # frames per second of the dirt track at 8 m/s: 2.4 m between frames
HEAD = '%-12s %6s %6s %6s %7s %9s %9s %7s %7s %7s' % (
    'frame', 'models', 'seeds', 'added', 'road %', 'height m', 'precision', 'recall', 'F1', 'ms')


def fail(text):
    sys.exit('road_detect: ' + text)


# --- Frames ---------------------------------------------------------------------------------------

class Frame:
    """A stereo pair of a folder: images, camera, and the ground truth if available."""

    def __init__(self, item):
        self.name, self.camera = item.name, item.camera
        self.truth = item.mask() if os.path.exists(item.truth) else None
        self.views = [road_eval.picture(path) for path in (item.left, item.other)]
        if self.views[0].shape != self.views[1].shape:
            fail('the images of %s differ in size' % item.name)

    def packed(self):
        pair = np.hstack(self.views)
        return np.dstack([pair, np.zeros_like(pair[:, :, :1])])


def frames_of(folder):
    """Returns (frames, whether each is processed separately); frames are read when requested."""
    items = alone = list(road_eval.kitti_items(folder, with_truth=False))
    if not items and os.path.exists(os.path.join(folder, 'camera.txt')):
        items = list(road_eval.plain_items(folder, ('right',)))
    if not items:
        fail('%s contains neither KITTI road frames nor left/*.png and camera.txt' % folder)
    return (Frame(item) for item in items), bool(alone)


# --- Numbers --------------------------------------------------------------------------------------

def pixels_of(road):
    """Returns the mask of patches as one of pixels; pixels outside all patches are not road."""
    size = road['patch-size']
    mask = np.zeros((road['height'], road['width']), bool)
    grown = np.repeat(np.repeat(road['payload'] > 0, size, axis=0), size, axis=1)
    mask[:grown.shape[0], :grown.shape[1]] = grown
    return mask


def score(mask, truth):
    """Returns precision, recall and F1 in % over the pixels whose ground truth is 255 (road) or 0."""
    road, other = truth == 255, truth == 0
    hits, wrong = np.count_nonzero(mask & road), np.count_nonzero(mask & other)
    missed = np.count_nonzero(~mask & road)
    return (100 * hits / max(1, hits + wrong), 100 * hits / max(1, hits + missed),
            200 * hits / max(1, 2 * hits + wrong + missed))


class Report:
    def __init__(self):
        self.scores, self.frames = [], 0
        print(HEAD)

    def add(self, name, buffer, truth, ms):
        self.frames += 1
        road = roadvision.annotation(buffer, 'RvRoadMeta')
        if road is None:
            print('%-12s no result' % name)
            return
        scores = score(pixels_of(road), truth) if truth is not None else None
        if scores:
            self.scores.append(scores)
        print('%-12s %6d %6d %6d %7.1f %9s %s %7.1f' % (
            name, road['models'], road['seeds'], road['models-added'], 100 * road['road-share'],
            '%.2f' % road['camera-height'] if 'camera-height' in road else '-',
            '%9.1f %7.1f %7.1f' % scores if scores else '%9s %7s %7s' % ('-', '-', '-'), ms))
        sys.stdout.flush()

    def end(self):
        print('%d frames' % self.frames)
        if self.scores:
            values = np.array(self.scores)
            print('mean (standard deviation): precision %.1f (%.1f), recall %.1f (%.1f), F1 %.1f (%.1f)' % tuple(
                number for k in range(3) for number in (values[:, k].mean(), values[:, k].std())))


# --- Pipeline -------------------------------------------------------------------------------------

def launch(source, options, size):
    """size: of the video, where frame sizes differ; None: that of the frames."""
    scale = 'videoscale ! video/x-raw,width=%d,height=%d ! ' % size if size else ''
    line = ('%s ! cudasgm name=sgm ! cudaroaddetect name=road ! cudaannotate name=draw show=road+legend ! '
            '%svideoconvert ! video/x-raw,format=I420 ! jpegenc quality=92 ! '
            'avimux ! filesink name=file' % (source, scale))
    pipeline = Gst.parse_launch(line)
    pipeline.get_by_name('file').set_property('location', options.out)
    road = pipeline.get_by_name('road')
    for name, value in (('model-location', options.load), ('model-save-location', options.save)):
        if value:
            road.set_property(name, value)
    for setting in options.set:
        name, _, value = setting.partition('=')
        if not road.find_property(name):
            fail('cudaroaddetect has no property %s' % name)
        Gst.util_set_object_arg(road, name, value)
    atexit.register(pipeline.set_state, Gst.State.NULL)  # also after an error or a closed output
    return pipeline


def watch(pipeline, options, seen):
    """Puts (buffer, image) of each drawn frame into `seen`."""
    def probe(pad, info):
        buffer = info.get_buffer()
        picture = roadvision.picture(buffer, pad.get_current_caps()) if options.stills else None
        seen.put((buffer, picture))
        return Gst.PadProbeReturn.OK
    pipeline.get_by_name('draw').get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, probe)


def trouble(bus, wait=0):
    """Returns whether the stream has ended; errors end the program, warnings are printed. The message
    of the end goes back on the bus for whoever asks next."""
    kinds = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING
    while True:
        message = bus.timed_pop_filtered(wait, kinds)
        if message is None:
            return False
        if message.type == Gst.MessageType.EOS:
            bus.post(message)
            return True
        if message.type == Gst.MessageType.ERROR:
            fail(message.parse_error()[0].message)
        print('road_detect: ' + message.parse_warning()[0].message, file=sys.stderr)


def take(pipeline, seen, bus):
    while True:
        trouble(bus)
        try:
            return seen.get(timeout=0.1)
        except queue.Empty:
            if pipeline.get_state(0)[0] == Gst.StateChangeReturn.FAILURE:
                trouble(bus, Gst.SECOND)
                fail('the pipeline stopped')


def milliseconds(pipeline):
    stats = pipeline.get_by_name('road').get_property('stats')
    return stats.get_value('last-us') / 1000


def keep_still(options, name, picture):
    if options.stills:
        os.makedirs(options.stills, exist_ok=True)
        cv2.imwrite(os.path.join(options.stills, name + '.png'), picture[:, :, :3])


def run_offroad(options, count, report):
    source = ('stereotestsrc pattern=offroad num-buffers=%d ! video/x-raw,format=BGRx,width=1280,height=480,'
              'framerate=%s' % (count, RATE))
    pipeline, seen = launch(source, options, None), queue.Queue()
    watch(pipeline, options, seen)
    bus, road = pipeline.get_bus(), pipeline.get_by_name('road')
    if options.alone:
        road.get_static_pad('sink').add_probe(
            Gst.PadProbeType.BUFFER, lambda *_: (road.emit('reset'), Gst.PadProbeReturn.OK)[1])
    pipeline.set_state(Gst.State.PLAYING)
    for index in range(count):
        buffer, picture = take(pipeline, seen, bus)
        truth = roadvision.annotation(buffer, 'RvTruthMeta')
        report.add('%03d' % index, buffer, truth['road'] if truth else None, milliseconds(pipeline))
        keep_still(options, '%03d' % index, picture)
    finish(pipeline, bus)


def finish(pipeline, bus):
    while not trouble(bus, Gst.SECOND):
        pass
    pipeline.set_state(Gst.State.NULL)


def run_folder(options, report):
    frames, alone = frames_of(options.source)
    pipeline = None
    for index, frame in enumerate(frames):
        height, width = frame.views[0].shape[:2]
        if pipeline is None:
            pipeline = launch('appsrc name=in format=time', options, (width // 2 * 2, height // 2 * 2))
            seen, bus = queue.Queue(), pipeline.get_bus()
            watch(pipeline, options, seen)
            source, sgm, road = (pipeline.get_by_name(name) for name in ('in', 'sgm', 'road'))
        for name, key in (('focal-length', 'focal'), ('baseline', 'baseline'), ('cx', 'cx'), ('cy', 'cy')):
            sgm.set_property(name, frame.camera[key])
        if alone or options.alone:
            road.emit('reset')
        source.set_property('caps', Gst.Caps.from_string(
            'video/x-raw,format=BGRx,width=%d,height=%d,framerate=1/1,multiview-mode=side-by-side'
            % (2 * width, height)))
        if index == 0:
            pipeline.set_state(Gst.State.PLAYING)
        buffer = Gst.Buffer.new_wrapped(frame.packed().tobytes())
        buffer.pts, buffer.duration = index * Gst.SECOND, Gst.SECOND
        source.emit('push-buffer', buffer)
        drawn, picture = take(pipeline, seen, bus)
        report.add(frame.name, drawn, frame.truth, milliseconds(pipeline))
        keep_still(options, frame.name, picture)
    source.emit('end-of-stream')
    finish(pipeline, bus)


def main():
    parser = argparse.ArgumentParser(prog='road_detect.sh')
    parser.add_argument('out')
    parser.add_argument('source', nargs='?', default='offroad')
    parser.add_argument('--load')
    parser.add_argument('--save')
    parser.add_argument('--alone', action='store_true')
    parser.add_argument('--set', action='append', default=[], metavar='PROPERTY=VALUE')
    parser.add_argument('--stills', metavar='FOLDER')
    options = parser.parse_args()
    Gst.init(None)
    kind, _, count = options.source.partition(':')
    report = Report()
    if kind == 'offroad' and not os.path.isdir(options.source):
        if count and not (count.isdigit() and int(count) > 0):
            fail('%s: give a number of frames' % options.source)
        run_offroad(options, int(count or OFFROAD_FRAMES), report)
    else:
        run_folder(options, report)
    report.end()
    print('%s written' % options.out)


if __name__ == '__main__':
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
