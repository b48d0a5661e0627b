# SPDX-License-Identifier: MIT
"""Runs or prints the words of a gst-launch-1.0 line."""
import os
import signal
import sys

from roadvision import common
from roadvision.common import Problem


# Sides of 4:2:0 video are even: odd ones are scaled by one pixel, others pass as they are.
EVEN = ['videoconvert', '!', 'videoscale', '!', 'video/x-raw,format=I420,width=[2,32766,2],height=[2,32766,2]']


def has(element):
    return common.gst().ElementFactory.find(element) is not None


def need(element, package):
    if not has(element):
        raise Problem('there is no GStreamer element %s; install %s (Debian\'s name), then delete '
                      '~/.cache/gstreamer-1.0/registry.*.bin if it is still not found' % (element, package))


ENCODERS = ('nvh264enc', 'x264enc', 'openh264enc')


def encoder():
    """The first H.264 encoder that exists, or ''."""
    return next((name for name in ENCODERS if has(name)), '')


def video():
    """Ending of a video that this machine can write."""
    return '.mkv' if encoder() and has('h264parse') else '.avi'


def line(words):
    """The line for a shell. Standard output is for JSON if an element writes there."""
    quiet = ' -q' if 'location=-' in words else ''
    return 'gst-launch-1.0 -e%s %s' % (quiet, common.quoted(words))


def parse(words):
    """The pipeline of words that a shell has split, as gst-launch-1.0 reads them."""
    Gst = common.gst()
    from gi.repository import GLib
    try:
        return Gst.parse_launchv(words)
    except GLib.Error as error:
        remedy = '; roadvision check names what is missing' if 'no element' in error.message else ''
        raise Problem(error.message + remedy) from None


def show_warning(name, message):
    """Warnings of elements with their remedy."""
    error, debug = message.parse_warning()
    print('roadvision %s: warning: %s' % (name, error.message), file=sys.stderr)
    remedy = common.remedy(debug)
    if remedy and remedy != error.message:
        print('roadvision %s: %s' % (name, remedy), file=sys.stderr)


def wait(pipeline, name, seconds=None):
    """Until the end, or an error: its text. Shows warnings."""
    Gst = common.gst()
    wanted = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING | Gst.MessageType.LATENCY
    bus = pipeline.get_bus()
    while True:
        message = bus.timed_pop_filtered(100 * Gst.MSECOND, wanted)
        if message is None:
            if seconds is not None:
                seconds -= 0.1
                if seconds <= 0:
                    return 'the end does not come'
        elif message.type == Gst.MessageType.WARNING:
            show_warning(name, message)
        elif message.type == Gst.MessageType.LATENCY:
            pipeline.recalculate_latency()
        elif message.type == Gst.MessageType.ERROR:
            return common.error_text(message)
        else:
            return None


def end_on_signals():
    """A service manager, or a terminal that is closed, ends a program as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, signal.default_int_handler)


def complete_files(pipeline):
    """After an error: a source that fails ends its stream behind the message, and files get their ends."""
    Gst = common.gst()
    writes = pipeline.iterate_all_by_element_factory_name('filesink').next()[0] == Gst.IteratorResult.OK
    if writes and pipeline.get_state(0)[1] == Gst.State.PLAYING:
        pipeline.get_bus().timed_pop_filtered(3 * Gst.SECOND, Gst.MessageType.EOS)


def play(pipeline, name):
    """To its end; Ctrl-C and kill end it with complete files. Returns the exit status; raises a Problem."""
    Gst = common.gst()
    end_on_signals()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        failure = wait(pipeline, name)
        if failure:
            complete_files(pipeline)
    except KeyboardInterrupt:
        print('roadvision %s: ending' % name, file=sys.stderr)
        pipeline.send_event(Gst.Event.new_eos())
        failure = wait(pipeline, name, 30)
    finally:
        pipeline.set_state(Gst.State.NULL)
    if failure:
        raise Problem(failure)
    return 0


def samples(pipeline, sink, patience=None):
    """Plays a pipeline and yields what its appsink of this name receives, to the end of the stream. Raises a Problem
    at an error, also one that comes without an end, and after `patience` s without a frame."""
    Gst = common.gst()
    sink, bus, waited = pipeline.get_by_name(sink), pipeline.get_bus(), 0.0
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            sample = sink.emit('try-pull-sample', Gst.SECOND // 5)
            if sample:
                waited = 0.0
                yield sample
                continue
            message = bus.pop_filtered(Gst.MessageType.ERROR)
            if message:
                raise Problem(common.error_text(message))
            if sink.get_property('eos'):
                return
            waited += 0.2
            if patience and waited > patience:
                raise Problem('no frame for %g s' % patience)
    finally:
        pipeline.set_state(Gst.State.NULL)


def run(words, name):
    """JSON lines on standard output must not meet what libraries print there."""
    if 'location=-' in words:
        kept = os.dup(1)
        os.dup2(2, 1)
        words = ['location=/dev/fd/%d' % kept if word == 'location=-' else word for word in words]
    return play(parse(words), name)
