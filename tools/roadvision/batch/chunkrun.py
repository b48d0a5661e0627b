# SPDX-License-Identifier: MIT
"""Computes one chunk: pipelines from the pairs to the files of --what."""
import json
import os
import re
import shutil
import threading
import time

from roadvision import common, pictures, replay
from roadvision.batch import camera as cameras, layouts
from roadvision.common import Problem

JSON_KINDS = {  # annotations in the JSON lines of a kind; None: all
    'json': None, 'stixels': ('camera', 'ground', 'stixels'),
    'obstacles': ('camera', 'ground', 'obstacles', 'free_space', 'detections'),
    'lanes': ('camera', 'ground', 'lanes')}
CAMERA = '--focal and --baseline, --calibration, or a calibration file of the data set'
HEAD = ('schema', 'seq', 'segment', 'timestamp', 'running_time', 'pts', 'duration', 'dropped', 'source', 'tags',
        'resolution')
OF_STREAM = {'cudaupload', 'cudadownload', 'cudaconvert', 'cudaconvertscale', 'cudascale'}
ENCODERS = {  # fixed number of threads and quality: the same bytes on every machine
    'x264enc': 'x264enc pass=quant quantizer=23 speed-preset=veryfast threads=1 bframes=0 key-int-max=60',
    'openh264enc': 'openh264enc rate-control=quality bitrate=8000000 gop-size=60 multi-thread=1'}


DECODER = json.JSONDecoder()
VALUE = re.compile(r'"([^"\\]*)":')  # a key of an object; those of annotationpublish need no escapes


class Unreadable(Exception):
    """Pairs that a decoder refused: the chunk starts again without them."""


def placement(threads, device):
    """Where an element computes. Without a GPU of this process the CPU, even if others are there."""
    return 'engine=cpu threads=%d' % threads if device < 0 else 'cuda-device-id=%d' % device


def rectify(calibration, threads, device):
    return 'cudarectify calibration=%s %s' % (common.quote(calibration), placement(threads, device))


def members(line):
    """Key -> text of its value, of a line with one object. Values are found, not made again: a tenth of the time."""
    found, at = {}, 1
    while line[at] != '}':
        key = VALUE.match(line, at)
        end = DECODER.raw_decode(line, key.end())[1]
        found[key[1]] = line[key.end():end]
        at = end + (line[end] == ',')
    return found


def analysis(settings, camera, threads, device):
    """The launch line from the pair to the annotated frame."""
    words = []
    if settings['calibration']:
        words.append(rectify(settings['calibration'], threads, device) + ' !')
    former = '!'
    for word in re.findall(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")+', settings['elements']):
        words.append(word)
        if former == '!' and word.startswith('cuda') and word not in OF_STREAM:
            words.append(placement(threads, device))
        if former == '!' and word == 'cudasgm' and 'doffs' not in camera:  # that one has no property: attach_camera
            words += ['%s=%.17g' % (name, camera[key]) for key, name in (
                ('focal', 'focal-length'), ('baseline', 'baseline'), ('cx', 'cx'), ('cy', 'cy')) if key in camera]
        former = word
    return ' '.join(words)


def crop_to_even(_pad, info, crop):
    """4:2:0 video has even sides: cuts the last column or row of odd ones."""
    from gi.repository import Gst
    event = info.get_event()
    if event.type == Gst.EventType.CAPS:
        shape = event.parse_caps().get_structure(0)
        crop.set_property('right', shape.get_int('width')[1] % 2)
        crop.set_property('bottom', shape.get_int('height')[1] % 2)
    return Gst.PadProbeReturn.OK


def attach_camera(_pad, info, camera):
    """A camera whose principal points differ, as an annotation."""
    from gi.repository import Gst
    replay.restore(info, {'camera': camera})
    return Gst.PadProbeReturn.OK


class Pipeline:
    """One pipeline: pairs of one size, kind, scene and camera."""

    def __init__(self, job, number):
        self.job, self.number = job, number
        self.Gst = common.gst()
        self.results, self.failure = set(), None  # indices of frames
        settings = job.plan.settings
        self.lines = os.path.join(job.scratch, 'lines-%d.jsonl' % number)
        self.video = os.path.join(job.scratch, 'video-%d.ts' % number)
        first, branches = self.source()
        line = [first, '! queue max-size-buffers=3 !', analysis(settings, job.camera, job.threads, job.device),
                '! queue max-size-buffers=3 ! identity name=results']
        if set(settings['what']) & set(JSON_KINDS):
            line.append('! annotationpublish overflow=block on-error=stop utc-start=1970-01-01T00:00:00Z location=%s'
                        % common.quote(self.lines))
        if 'video' in settings['what']:
            line.append('! cudaannotate %s ! queue max-size-buffers=3 ! videocrop name=crop ! videoconvert ! '
                        'video/x-raw,format=I420 ! %s ! h264parse ! mpegtsmux ! filesink location=%s'
                        % (placement(job.threads, job.device), ENCODERS[settings['encoder']],
                           common.quote(self.video)))
        else:
            line.append('! fakesink sync=false')
        self.pipeline = common.parse(' '.join(line + branches))
        Gst = self.Gst
        self.pipeline.get_by_name('results').get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, self.result)
        crop = self.pipeline.get_by_name('crop')
        if crop:
            crop.get_static_pad('sink').add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, crop_to_even, crop)

    def index_of(self, pts):
        return round(pts * self.job.fps / 1e9)

    def result(self, _pad, info):
        """Writes the images of a frame; frames of the lead end here."""
        Gst = self.Gst
        try:
            buffer = info.get_buffer()
            index = self.index_of(buffer.pts)
            if self.failure or not self.job.chunk.start <= index < self.job.chunk.end:
                return Gst.PadProbeReturn.DROP
            self.job.write_images(index, buffer)
            self.results.add(index)
            self.job.tell_progress()
            return Gst.PadProbeReturn.OK
        except Exception as problem:  # no exception may enter the streaming thread
            self.failure = problem
            return Gst.PadProbeReturn.DROP

    def prepare(self):
        """Before PLAYING: probes."""

    def start(self):
        """After PLAYING: feeders."""

    def stop(self):
        """Before NULL."""

    def play(self):
        """To the end. Raises what went wrong."""
        Gst = self.Gst
        bus = self.pipeline.get_bus()
        self.prepare()
        self.pipeline.set_state(Gst.State.PLAYING)
        self.start()
        message = None
        try:
            while message is None and not self.failure:
                message = bus.timed_pop_filtered(200 * Gst.MSECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        finally:
            self.stop()
            self.pipeline.set_state(Gst.State.NULL)
        if self.failure:
            raise self.failure
        if message.type == Gst.MessageType.ERROR:
            error, _debug = message.parse_error()
            if error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NO_SPACE_LEFT):
                raise OSError(28, 'No space left on device', self.job.plan.out)
            raise Problem(common.error_text(message))


class PairsPipeline(Pipeline):
    """Image files."""

    def __init__(self, job, number, kind):
        self.kind = kind
        super().__init__(job, number)
        self.thread = threading.Thread(target=self.feed, daemon=True)
        self.stopping = False

    def source(self):
        first, branches = pictures.pair_lines(self.kind[0], '%d/1000' % round(self.job.fps * 1000), self.kind[1])
        return first + ' ! identity name=views', branches

    def start(self):
        if 'doffs' in self.job.camera:
            self.pipeline.get_by_name('views').get_static_pad('src').add_probe(
                self.Gst.PadProbeType.BUFFER, attach_camera, dict(
                    self.job.camera, width=self.kind[1], height=self.kind[2]))
        self.thread.start()

    def stop(self):
        """Waits for the feeder: the next pipeline continues with the pairs where it ends."""
        self.stopping = True
        self.thread.join()

    def feed(self):
        sources = [self.pipeline.get_by_name(side) for side in ('left', 'right')]
        step = 1e9 / self.job.fps
        try:
            while not self.stopping:
                pair = self.job.next_pair(self.number)
                if pair is None:
                    break
                index, data = pair
                time_ns = round(index * step)
                for source, content in zip(sources, data):
                    while source.props.current_level_buffers >= 4 and not self.stopping:
                        time.sleep(0.002)
                    pictures.push(source, content, time_ns, round((index + 1) * step) - time_ns)
        except Exception as problem:
            self.failure = problem
        for source in sources:
            source.emit('end-of-stream')


class Job:
    """A chunk of image pairs on its way through one or more pipelines."""

    def __init__(self, plan, chunk, aside, options, tell):
        self.plan, self.chunk, self.aside = plan, chunk, aside
        self.threads, self.device, self.tell = options.threads, options.device, tell
        self.camera = chunk.sequence.get('camera', {})
        self.fps = chunk.sequence['fps']
        self.scratch = os.path.join(aside, '.scratch')
        self.bad = {}  # index -> (name, reason)
        self.checked = 0  # times that pairs were decoded one by one
        self.told = time.monotonic()
        self.computed = 0
        self.kinds = [kind for kind in ('disparity', 'depth', 'road') if kind in plan.settings['what']]

    def tell_progress(self):
        self.computed += 1
        if time.monotonic() - self.told > 0.5:
            self.told = time.monotonic()
            self.tell('frames', self.computed)

    # --- input ---------------------------------------------------------------------------------------
    def begin_folders(self):
        shutil.rmtree(self.aside, ignore_errors=True)
        for kind in self.plan.settings['what']:
            os.makedirs(os.path.join(self.aside, kind), exist_ok=True)
        os.makedirs(self.scratch)
        self.computed = 0

    def begin(self):
        self.begin_folders()
        self.names, self.fed, self.number = {}, [], 0
        self.pairs = self.readable_pairs()
        self.waiting = next(self.pairs, None)

    def readable_pairs(self):
        """(index, kind and scene, data of both views); the others are in `bad`."""
        for index, left, right, name in self.chunk.pairs():
            if index in self.bad:
                continue
            try:
                data = [self.read(path) for path in (left, right)]
                kinds = [pictures.picture_kind(path, content[:65536]) for path, content in zip((left, right), data)]
                if kinds[0] != kinds[1]:
                    raise Problem('%s is a %s of %dx%d, but %s is a %s of %dx%d' % (
                        (left,) + kinds[0] + (right,) + kinds[1]))
            except (OSError, Problem) as problem:
                self.refuse(index, name, str(problem))
                continue
            self.names[index] = (name, left, right)
            yield index, kinds[0] + (layouts.scene(name), self.camera_file(name)), data

    def camera_file(self, name):
        """Of this pair, in data sets whose scenes have a calibration each; '' is that of the sequence."""
        sequence = self.chunk.sequence
        if not sequence.get('camera_each'):
            return ''
        return cameras.path_of(self.plan.input, sequence['left'], name)

    @staticmethod
    def read(path):
        with open(path, 'rb') as file:
            data = file.read()
        kind = pictures.picture_kind(path, data[:65536])[0]
        if not pictures.is_complete(kind, data):
            raise Problem('%s is incomplete' % path)
        return data

    def refuse(self, index, name, reason):
        self.bad[index] = (name, reason)

    def next_pair(self, number):
        """For the feeder of pipeline `number`: None when the next pair needs another pipeline."""
        if self.waiting is None or number != self.number:
            return None
        index, kind, data = self.waiting
        if kind != self.kind:
            self.number += 1
            return None
        self.waiting = next(self.pairs, None)
        self.fed.append(index)
        return index, data

    # --- output --------------------------------------------------------------------------------------
    def write_images(self, index, buffer):
        if not self.kinds:
            return
        import roadvision
        name = self.names[index][0]
        needs_disparity = self.kinds != ['road']
        disparity = roadvision.annotation(buffer, 'RvDisparityMeta') if needs_disparity else None
        if disparity is None and needs_disparity:
            raise Problem('the frames have no disparity: --elements needs cudasgm')
        if 'disparity' in self.kinds:
            self.write_png('disparity', name, pictures.scaled_disparity(disparity, 256))
        if 'depth' in self.kinds:
            camera = roadvision.annotation(buffer, 'RvCameraMeta') or {}
            if not camera.get('focal') or not camera.get('baseline'):
                raise Problem('depth needs the camera: ' + CAMERA)
            self.write_png('depth', name, pictures.depth_mm(disparity, camera))
        if 'road' in self.kinds:
            self.write_png('road', name, self.road(roadvision.annotation(buffer, 'RvRoadMeta')))

    @staticmethod
    def road(found):
        """The mask in px: 255 = road, also of the px beyond the last patch 0."""
        import numpy as np
        if found is None:
            raise Problem('the frames have no road: --elements needs cudaroaddetect, and that the camera '
                          '(--focal and --baseline, or --calibration)')
        size = found['patch-size']
        mask = np.zeros((found['height'], found['width']), np.uint8)
        patches = np.kron(found['payload'], np.ones((size, size), np.uint8))
        mask[:patches.shape[0], :patches.shape[1]] = patches[:mask.shape[0], :mask.shape[1]]
        return mask

    def write_png(self, kind, name, values):
        with open(os.path.join(self.aside, kind, name + '.png'), 'wb') as file:
            file.write(pictures.png(values))

    def tags(self, index):
        name, left, right = self.names[index]
        return {'name': name, 'left': os.path.relpath(left, self.plan.input),
                'right': os.path.relpath(right, self.plan.input)}

    def collect(self, pipelines):
        """JSON lines and video of all pipelines of the chunk into its files."""
        kinds = [kind for kind in JSON_KINDS if kind in self.plan.settings['what']]
        files = [open(os.path.join(self.aside, kind, self.chunk.label + '.jsonl'), 'w') for kind in kinds]
        have = set()
        for pipeline in pipelines if kinds else ():
            with open(pipeline.lines) as lines:
                for line in lines:
                    frame = members(line)
                    have.update(frame)
                    self.normalize(frame, pipeline.index_of(int(frame['pts'])))
                    for kind, file in zip(kinds, files):
                        wanted = JSON_KINDS[kind]
                        file.write('{%s}\n' % ','.join(
                            '"%s":%s' % item for item in frame.items()
                            if wanted is None or item[0] in HEAD or item[0] in wanted))
        for file in files:
            file.close()
        for kind in ('stixels', 'obstacles', 'lanes'):
            if kind in kinds and have and not have & {kind, 'camera'}:
                raise Problem('no %s without the camera: %s' % (kind, CAMERA))
        if 'video' in self.plan.settings['what']:
            with open(os.path.join(self.aside, 'video', self.chunk.label + '.ts'), 'wb') as file:
                for pipeline in pipelines:  # transport streams can be joined
                    with open(pipeline.video, 'rb') as part:
                        shutil.copyfileobj(part, file)
        shutil.rmtree(self.scratch)

    def normalize(self, frame, index):
        """What depends on the start of the pipeline becomes what it is in the sequence. Values are texts."""
        for key in ('utc', 'utc_ns', 'utc_source', 'discont', 'latency_ns'):
            frame.pop(key, None)
        frame.update(seq=str(index), segment='0', dropped='0', running_time=frame['pts'], timestamp=frame['pts'],
                     tags=json.dumps(self.tags(index), separators=(',', ':')))

    # --- run -----------------------------------------------------------------------------------------
    def pipelines(self):
        """Runs them one after the other."""
        ran = []
        while self.waiting is not None:
            self.kind = self.waiting[1]
            if self.chunk.sequence.get('camera_each'):
                self.camera = cameras.of_pair(self.kind[4], self.chunk.sequence, self.plan.settings)
            pipeline = PairsPipeline(self, self.number, self.kind)
            number, fed = self.number, len(self.fed)
            try:
                pipeline.play()
            except Problem as problem:
                self.find_unreadable(problem)
            expected = [index for index in self.fed[fed:] if index >= self.chunk.start]
            for index in expected:
                if index not in pipeline.results:
                    self.explain(index)
            if expected:
                ran.append(pipeline)
            self.number = number + 1
        return ran

    def explain(self, index):
        """A frame without a result: decoders skip some images that they cannot read."""
        name, left, right = self.names[index]
        reasons = ['%s: %s' % (path, reason) for path, reason in ((path, undecodable(path)) for path in (left, right)) if reason]
        if not reasons:
            raise Problem('%s and %s gave no result' % (left, right))
        self.refuse(index, name, reasons[0])

    def find_unreadable(self, problem):
        """Decodes what was fed, one by one: images that a decoder refuses. Raises `problem` if there are none. The second
        time all pairs that follow are decoded too: a chunk with many such images is not started for each of them."""
        self.checked += 1
        known = len(self.bad)
        pairs = [(index,) + self.names[index] for index in self.fed]
        if self.checked > 1:
            pairs = ((index, name, left, right) for index, left, right, name in self.chunk.pairs())
        for index, name, left, right in pairs:
            for path in (left, right):
                reason = '' if index in self.bad else undecodable(path)
                if reason:
                    self.refuse(index, name, '%s: %s' % (path, reason))
        if len(self.bad) == known:
            raise problem
        raise Unreadable()

    def run(self):
        while True:
            self.begin()
            try:
                pipelines = self.pipelines()
                break
            except Unreadable:
                continue
        self.collect(pipelines)
        inside = range(self.chunk.start, self.chunk.end)
        failed = [list(self.bad[index]) for index in sorted(self.bad) if index in inside]
        return len(inside) - len(failed), failed


def undecodable(path):
    """Why a decoder refuses an image, or ''."""
    Gst = common.gst()
    try:
        decoder = pictures.DECODERS[pictures.picture_kind(path)[0]][1]
    except (OSError, Problem) as problem:
        return str(problem)
    pipeline = common.parse('filesrc location=%s ! %s ! fakesink name=last' % (common.quote(path), decoder))
    try:
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(
            20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message is None:
            return 'no image in 20 s'
        if message.type == Gst.MessageType.ERROR:
            return common.error_text(message)
        return '' if pipeline.get_by_name('last').props.last_sample else 'its decoder gives no image'
    finally:
        pipeline.set_state(Gst.State.NULL)


def run(plan, chunk, aside, options, tell):
    """Returns (frames, [[name, reason], ...] of those that failed)."""
    if chunk.sequence['kind'] == 'pairs':
        return Job(plan, chunk, aside, options, tell).run()
    from roadvision.batch import recordings
    return recordings.RecordingJob(plan, chunk, aside, options, tell).run()
