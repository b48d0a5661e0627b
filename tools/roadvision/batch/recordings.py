# SPDX-License-Identifier: MIT
"""Recordings as sequences: videos with both views in each frame, and MCAP files with images of both views.

Every frame is known by its time before the work starts: a chunk seeks to its first frame, wherever it is computed."""
import array
import bisect
import json
import os
import threading

from roadvision import common, pictures, replay
from roadvision.batch import camera, chunkrun, mcap
from roadvision.common import Problem

SECONDS_WITHOUT_DATA = 60


def describe(item, settings, base):
    """Number of frames, rate and camera; writes the times of all frames (ns) to base.times."""
    if item.kind == 'mcap':
        times, found = mcap.index(item.file, base + '.pairs')
    else:
        times, found = video_times(item.file), {}
    if not times:
        raise Problem('%s has no frames' % item.file)
    if any(later <= earlier for earlier, later in zip(times, times[1:])):
        raise Problem('%s has frames without or with equal times: remux it' % item.file)
    with open(base + '.times', 'wb') as file:
        array.array('Q', times).tofile(file)
    frames, calibration = camera.of_recording(item.file) if item.kind == 'video' else ({}, None)
    found['calibration'] = calibration if not settings['calibration'] else None
    found['sidecar'] = bool(frames)
    step = (times[-1] - times[0]) / max(1, len(times) - 1)
    return dict(found, kind=item.kind, count=len(times), fps=1e9 / step if step else settings['fps'],
                camera=camera.given(settings))


def video_times(path):
    """Times of all frames in the order they are shown, without decoding them."""
    Gst = common.gst()
    pipeline = common.parse('filesrc location=%s ! parsebin name=parse ! fakesink name=last sync=false'
                            % common.quote(path))
    times = []

    def probe(_pad, info):
        buffer = info.get_buffer()
        if buffer.pts != Gst.CLOCK_TIME_NONE:
            times.append(buffer.pts)
        return Gst.PadProbeReturn.OK
    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe)
    try:
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(
            Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message.type == Gst.MessageType.ERROR and not times:
            raise Problem('%s: %s' % (path, common.error_text(message)))
    finally:
        pipeline.set_state(Gst.State.NULL)
    return sorted(times)


class RecordingJob(chunkrun.Job):
    """A chunk of a recording: one pipeline."""

    def __init__(self, plan, chunk, aside, options, tell):
        super().__init__(plan, chunk, aside, options, tell)
        self.times = array.array('Q')
        base = os.path.join(plan.out, '.roadvision', 'frames', '%05d' % chunk.sequence['id'])
        with open(base + '.times', 'rb') as file:
            self.times.frombytes(file.read())
        self.base, self.path = base, chunk.sequence['file']
        self.sidecar = camera.of_recording(self.path)[0] if chunk.sequence['sidecar'] else {}
        self.names = {index: ('%06d' % index, self.path, self.path) for index in range(chunk.lead, chunk.end)}
        self.came = set()

    def begin(self):
        self.begin_folders()

    def pipelines(self):
        kind = McapPipeline if self.chunk.sequence['kind'] == 'mcap' else VideoPipeline
        pipeline = kind(self, 0)
        pipeline.play()
        for index in range(self.chunk.start, self.chunk.end):
            if index not in self.came:
                self.refuse(index, '%06d' % index, '%s: frame %d cannot be decoded' % (self.path, index))
        return [pipeline]

    def tags(self, index):
        return {'name': '%06d' % index, 'file': os.path.relpath(self.path, self.plan.input)}

    def normalize(self, frame, index):
        super().normalize(frame, index)
        recorded = self.sidecar.get(index, {})
        if 'utc_ns' in recorded:
            frame.update(utc_ns=str(recorded['utc_ns']), utc=json.dumps(recorded['utc']))


class TimedPipeline(chunkrun.Pipeline):
    """Frames are known by their times; those before the lead and after the end are dropped."""

    def index_of(self, pts):
        times = self.job.times
        at = bisect.bisect_left(times, pts)
        if at and (at == len(times) or pts - times[at - 1] <= times[at] - pts):
            at -= 1
        return at

    def prepare(self):
        self.pipeline.get_by_name('pair').get_static_pad('src').add_probe(self.Gst.PadProbeType.BUFFER, self.pair)

    def pair(self, _pad, info):
        """Between the recording and the analysis."""
        Gst = self.Gst
        try:
            index = self.index_of(info.get_buffer().pts)
            if self.failure or not self.job.chunk.lead <= index < self.job.chunk.end:
                return Gst.PadProbeReturn.DROP
            self.job.came.add(index)
            frame = self.job.sidecar.get(index)
            if frame:
                replay.restore(info, frame)
            return Gst.PadProbeReturn.OK
        except Exception as problem:
            self.failure = problem
            return Gst.PadProbeReturn.DROP


class VideoPipeline(TimedPipeline):
    def source(self):
        calibration = self.job.chunk.sequence['calibration']
        return ('filesrc location=%s ! decodebin ! videoconvert ! identity name=pair%s' % (
            common.quote(self.job.path), ' ! ' + chunkrun.rectify(
                calibration, self.job.threads, self.job.device) if calibration else '')), []

    def prepare(self):
        """Seeks to the lead: the first frame of the file waits until the seek is made, and never passes."""
        super().prepare()
        Gst = self.Gst
        if self.job.chunk.lead == 0 and self.job.chunk.end == len(self.job.times):
            return
        self.seen_first = threading.Event()
        pad = self.pipeline.get_by_name('pair').get_static_pad('sink')
        held = pad.add_probe(Gst.PadProbeType.BLOCK | Gst.PadProbeType.BUFFER, self.hold)
        threading.Thread(target=self.seek, args=(pad, held), daemon=True).start()

    def hold(self, _pad, _info):
        self.seen_first.set()
        return self.Gst.PadProbeReturn.OK

    def seek(self, pad, held):
        Gst, job = self.Gst, self.job
        if not self.seen_first.wait(SECONDS_WITHOUT_DATA):
            self.failure = Problem('%s gave no frame in %d s' % (job.path, SECONDS_WITHOUT_DATA))
            return
        times = job.times
        first = times[job.chunk.lead]
        last = times[job.chunk.end] if job.chunk.end < len(times) else times[-1] + Gst.SECOND
        done = self.pipeline.seek(1.0, Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE,
                                  Gst.SeekType.SET, first, Gst.SeekType.SET, last)
        if not done:
            self.failure = Problem('cannot seek in %s: remux it, for example with gst-launch-1.0 filesrc location=%s ! '
                                   'parsebin ! matroskamux ! filesink location=new.mkv' % (job.path, job.path))
        pad.remove_probe(held)


class McapPipeline(TimedPipeline):
    """Images of both views, pushed with their times."""

    def source(self):
        self.entries = list(mcap.read_index(self.job.base + '.pairs', self.job.chunk.lead, self.job.chunk.end))
        with mcap.Reader(self.job.path) as reader:
            first = mcap.image(reader.message(self.entries[0][0]), self.job.chunk.sequence['compressed'])
        width = pictures.picture_kind(self.job.path, first.data)[1] if first.decoder else int(
            first.caps.split('width=')[1].split(',')[0])
        caps = '%s,framerate=%d/1000' % (first.caps, round(1000 * self.job.fps))
        decode = '%s ! ' % first.decoder if first.decoder else ''
        sides = ('pair',) if self.entries[0][1] is None else ('left', 'right')
        feeds = ['appsrc name=from_%s format=time max-buffers=4 max-bytes=0 caps="%s" ! %svideoconvert ! %s ! queue '
                 'max-size-buffers=3' % (side, caps, decode, pictures.formats(width)) for side in sides]
        self.sides = sides
        if len(sides) == 1:
            return feeds[0] + ' ! identity name=pair', []
        return 'cudastereomux name=mux layout=side-by-side ! identity name=pair', [
            '%s ! mux.%s' % (feed, side) for feed, side in zip(feeds, sides)]

    def start(self):
        self.stopping = False
        threading.Thread(target=self.feed, daemon=True).start()

    def stop(self):
        self.stopping = True

    def feed(self):
        sources = [self.pipeline.get_by_name('from_' + side) for side in self.sides]
        try:
            with mcap.Reader(self.job.path) as reader:
                for number, entry in enumerate(self.entries):
                    if self.stopping:
                        break
                    time_ns = self.job.times[self.job.chunk.lead + number]
                    for source, offset in zip(sources, entry):
                        data = mcap.image(reader.message(offset), self.job.chunk.sequence['compressed']).data
                        while source.props.current_level_buffers >= 4 and not self.stopping:
                            chunkrun.time.sleep(0.002)
                        pictures.push(source, data, time_ns, 1)
        except Exception as problem:
            self.failure = problem
        for source in sources:
            source.emit('end-of-stream')
