# SPDX-License-Identifier: MIT
"""What all parts of the command share: errors, launch lines, progress. Needs no GStreamer when imported."""
import re
import shlex
import sys
import time


class Problem(Exception):
    """Something the user can correct; the text names cause and remedy."""


class Misuse(Problem):
    """Wrong options: exit status 2."""


def gst():
    """The module Gst, initialized."""
    try:
        import gi
        gi.require_version('Gst', '1.0')
        from gi.repository import Gst
    except (ImportError, ValueError) as error:
        raise Problem('%s: install python3-gi and gir1.2-gstreamer-1.0' % error) from None
    if not Gst.is_initialized():
        Gst.init(None)
    return Gst


def gpus():
    """(status of the driver, number of GPUs that this process may use, CUDA version); None without a driver."""
    import ctypes
    try:
        cuda = ctypes.CDLL('libcuda.so.1')
    except OSError:
        return None
    status, count, version = cuda.cuInit(0), ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if not status:
        status = cuda.cuDeviceGetCount(ctypes.byref(count))
    return status, count.value, version.value


def quote(text):
    """A value in a launch line that Gst.parse_launch reads."""
    return '"%s"' % str(text).replace('\\', '\\\\').replace('"', '\\"')


def split(text):
    """The words of a text, as a shell splits them."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Misuse('%s in: %s' % (error, text)) from None


def quoted(words):
    """Words of a launch line as a shell reads them; ! stays as it is."""
    plain = re.compile(r'[A-Za-z0-9_./=,:%+@-]+|!')
    return ' '.join(word if plain.fullmatch(word) else shlex.quote(word) for word in words)


def parse(line):
    """The pipeline of a launch line."""
    Gst = gst()
    from gi.repository import GLib
    try:
        return Gst.parse_launch(line)
    except GLib.Error as error:
        text = error.message
        missing = re.search(r'no element "(\w+)"', text)
        raise Problem('%s; roadvision check names its package' % text if missing else text) from None


def remedy(debug):
    """The last line of a debug text; the first one is the place in the source."""
    return ([''] + (debug or '').split('\n')[1:])[-1].strip()


def error_text(message):
    """The text of an error message of the bus, with the remedy that elements put into the debug text."""
    error, debug = message.parse_error()
    hint = remedy(debug)
    return '%s: %s%s' % (message.src.get_name(), error.message, ' (%s)' % hint if hint else '')


def duration(seconds):
    """12 s, 3:05 min, 2:07 h."""
    seconds = int(seconds + 0.5)
    if seconds < 100:
        return '%d s' % seconds
    minutes, seconds = divmod(seconds, 60)
    if minutes < 100:
        return '%d:%02d min' % (minutes, seconds)
    return '%d:%02d h' % divmod(minutes, 60)


class Progress:
    """A bar on a terminal, otherwise a line at every tenth: share, rate, time left."""

    WIDTH = 32

    def __init__(self, before=0):
        self.begin = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.before = before  # frames of an earlier run: no part of the rate
        self.tenth = None
        self.shown = 0.0

    def show(self, share, frames):
        """share: 0..1, or None if the length is unknown."""
        now = time.monotonic()
        rate = (frames - self.before) / max(1e-6, now - self.begin)
        if self.tenth is None:
            self.tenth = int((share or 0) * 10)
        left = ''
        if share and rate > 0:
            left = ', %s left' % duration(max(0, frames / share - frames) / rate)
        if self.terminal and (now - self.shown > 0.1 or share == 1):
            self.shown = now
            if share is None:
                text = '%d frames' % frames
            else:
                done = int(share * self.WIDTH)
                text = '[%s%s] %3.0f %%' % ('#' * done, '.' * (self.WIDTH - done), 100 * share)
            sys.stderr.write('\r%s  %.1f frames/s%s \033[K' % (text, rate, left))
        elif not self.terminal and share is not None and int(share * 10) > self.tenth:
            self.tenth = int(share * 10)
            sys.stderr.write('%3d %%  %d frames, %.1f frames/s%s\n' % (10 * self.tenth, frames, rate, left))
        sys.stderr.flush()

    def end(self):
        if self.terminal:
            sys.stderr.write('\n')
