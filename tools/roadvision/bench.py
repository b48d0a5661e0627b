# SPDX-License-Identifier: MIT
"""Measures pipelines on this machine and prints them next to recorded machines.

Each row is a pipeline from pairs of a rendered street in system memory to the result, with a queue upstream of every
element. The recorded GPU rows are those of docs/gpu-report.txt, measured in the same way. Close other programs.
"""
import os
import re
import time

from roadvision import common, launch
from roadvision.common import Misuse, Problem

ROWS = (  # row of the report, elements
    ('pipeline/1242x375-sgm', 'cudasgm'),
    ('pipeline/1242x375-sgm-annotate', 'cudasgm ! cudaannotate'),
    ('pipeline/1242x375', 'cudasgm ! cudastixels ! cudaannotate'),
    ('pipeline/1242x375-obstacles', 'cudasgm ! cudaobstacles'),
    ('pipeline/1242x375-road', 'cudasgm ! cudaroaddetect'),
    ('pipeline/1242x375-all', 'cudasgm ! cudastixels ! cudaroaddetect ! cudahough ! cudaannotate'),
)
REPORT = 'gpu-report.txt'
PAIRS = 8  # rendered before the measurement, then repeated


def arguments(parser):
    parser.add_argument('--engine', choices=('auto', 'cpu', 'cuda'), default='auto', help='auto takes a GPU if there is one')
    parser.add_argument('--seconds', type=float, default=5, help='of each row (5)')
    parser.add_argument('--size', default='1242x375', metavar='WxH', help='one view in px; recorded rows have 1242x375')
    parser.add_argument('--print', action='store_true', help='print gst-launch-1.0 lines of the rows, which render their pairs too')
    parser.add_argument('--only', metavar='ROW', help='rows whose name contains ROW')


def recorded():
    """(name of the GPU, row -> frames/s) of the installed report, or of the tree's."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.path.join(here, '..', '..', 'docs', REPORT), os.path.join('/usr/local/share/roadvision-0', REPORT),
                 os.path.join('/usr/share/roadvision-0', REPORT)):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        name = re.search(r'^gpu: *([^,\n]+)', text, re.M)
        return (name[1] if name else 'GPU'), {row: float(rate) for row, rate in re.findall(
            r'^bench (pipeline/\S+) cuda fps=([\d.]+)', text, re.M)}
    return '', {}


def render(width, height):
    """Pairs of the street as BGRx buffers and their caps."""
    Gst = common.gst()
    pipeline = common.parse('stereotestsrc num-buffers=%d truth=false ! video/x-raw,format=NV12,width=%d,height=%d,framerate=30/1 '
                            '! appsink name=last sync=false' % (PAIRS, 2 * width, height))
    pipeline.set_state(Gst.State.PLAYING)
    samples = [pipeline.get_by_name('last').emit('pull-sample') for _ in range(PAIRS)]
    pipeline.set_state(Gst.State.NULL)
    if not all(samples):
        raise Problem('stereotestsrc gave no frames')
    return [sample.get_buffer() for sample in samples], samples[0].get_caps()


def with_queues(elements, engine):
    return ' ! '.join('queue max-size-buffers=3 ! %s engine=%s' % (name, engine) for name in elements.split(' ! '))


def measure(elements, buffers, caps, engine, seconds):
    """(frames per second, engine that ran)."""
    Gst = common.gst()
    line = with_queues(elements, engine)
    gpu = engine != 'cpu' and Gst.ElementFactory.find('cudaupload') is not None
    pipeline = common.parse('appsrc name=pairs format=time caps="%s" max-buffers=4 block=true ! %s%s%s ! queue max-size-buffers=3 '
                            '! fakesink name=last sync=false' % (
                                caps.to_string().replace('"', '\\"'), 'cudaupload ! ' if gpu else '',
                                line.replace('cudasgm', 'cudasgm name=sgm', 1), ' ! cudadownload' if gpu else ''))
    count = [0, 0.0]

    def probe(_pad, _info):
        count[0] += 1
        count[1] = count[1] or time.monotonic()
        return Gst.PadProbeReturn.OK
    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe)
    pipeline.set_state(Gst.State.PLAYING)
    source, number, end = pipeline.get_by_name('pairs'), 0, time.monotonic() + seconds + 30
    while time.monotonic() < end and not (count[1] and time.monotonic() - count[1] > seconds):
        buffer = buffers[number % PAIRS].copy()
        buffer.pts = number * Gst.SECOND // 30
        source.emit('push-buffer', buffer)
        number += 1
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            pipeline.set_state(Gst.State.NULL)
            raise Problem(common.error_text(message))
    rate = (count[0] - 1) / max(1e-6, time.monotonic() - count[1])
    used = pipeline.get_by_name('sgm').get_property('stats').get_string('engine')
    pipeline.set_state(Gst.State.NULL)
    return rate, used


def run(options):
    match = re.fullmatch(r'([1-9]\d*)x([1-9]\d*)', options.size)
    if not match or options.seconds <= 0:
        raise Misuse('--size is %s and --seconds %g: must be WIDTHxHEIGHT, and positive' % (options.size, options.seconds))
    rows = [row for row in ROWS if not options.only or options.only in row[0]]
    if not rows:
        raise Misuse('no row contains %s; there are %s' % (options.only, ', '.join(name for name, _ in ROWS)))
    if options.print:
        for _name, elements in rows:
            words = 'stereotestsrc num-buffers=100 truth=false ! video/x-raw,format=NV12,width=%d,height=%d,framerate=30/1' % (
                2 * int(match[1]), int(match[2]))
            print(launch.line(('%s ! %s ! fakesink sync=false' % (words, with_queues(elements, options.engine))).split()))
        return 0
    buffers, caps = render(int(match[1]), int(match[2]))
    gpu, reference = recorded()
    print('%-34s %16s %16s' % ('frames/s', 'this machine', gpu or 'no report'))
    for name, elements in rows:
        rate, used = measure(elements, buffers, caps, options.engine, options.seconds)
        compared = options.size == '1242x375'
        print('%-34s %11.1f %-4s %16s' % (
            name.replace('1242x375', options.size), rate, used,
            '%.0f' % reference[name] if compared and name in reference else '-'), flush=True)
    return 0
