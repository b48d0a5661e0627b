# SPDX-License-Identifier: MIT
"""Image files: their kind and size, stereo pairs of them as a pipeline, 16-bit PNG."""
import glob
import os
import re
import struct
import zlib

from roadvision.common import Problem

EXTENSIONS = ('.png', '.jpg', '.jpeg', '.pgm', '.ppm', '.pnm')
DECODERS = {'png': ('image/png', 'pngdec'), 'jpeg': ('image/jpeg', 'jpegdec'),
            'pnm': ('image/x-portable-anymap', 'pnmdec')}
# What the elements read; decoders of images with 16 bits, a palette or alpha are converted.
FORMATS = 'video/x-raw,format={RGB,BGR,GRAY8,BGRx,RGBx,xRGB,xBGR,BGRA,RGBA,I420,YV12,Y42B,GRAY16_LE}'


def picture_kind(path, head=None):
    """('png' | 'jpeg' | 'pnm', width, height) from the head of a file."""
    if head is None:
        with open(path, 'rb') as file:
            head = file.read(65536)
    if head.startswith(b'\x89PNG\r\n\x1a\n') and head[12:16] == b'IHDR' and len(head) >= 24:
        return ('png',) + struct.unpack('>II', head[16:24])
    pnm = re.match(rb'P[2356](?:\s+|#[^\n]*\n)+(\d+)(?:\s+|#[^\n]*\n)+(\d+)', head)
    if pnm:
        return 'pnm', int(pnm[1]), int(pnm[2])
    if head.startswith(b'\xff\xd8'):
        at = 2
        while at + 9 < len(head) and head[at] == 0xff:
            marker, length = head[at + 1], struct.unpack('>H', head[at + 2:at + 4])[0]
            if 0xc0 <= marker <= 0xcf and marker not in (0xc4, 0xc8, 0xcc):  # a frame header
                height, width = struct.unpack('>HH', head[at + 5:at + 9])
                return 'jpeg', width, height
            at += 2 + length
    raise Problem('%s is not a PNG, JPEG or PNM image' % path)


def is_complete(kind, data):
    """Whether the file ends as its kind demands; a copy that was cut off does not."""
    if kind == 'png':
        return b'IEND' in data[-64:]
    return kind != 'jpeg' or b'\xff\xd9' in data[-4096:]


def find_pictures(pattern):
    """Files of a folder or a pattern, sorted by name."""
    if os.path.isdir(pattern):
        names = [os.path.join(pattern, name) for name in sorted(os.listdir(pattern))
                 if name.lower().endswith(EXTENSIONS)]
        if not names:
            raise Problem('no images in the folder %s' % pattern)
        return names
    paths = sorted(glob.glob(os.path.expanduser(pattern)))
    if not paths:
        raise Problem('no images match %s (put the pattern in quotes)' % pattern)
    return paths


def numbered(names):
    """(pattern such as left/%06d.png, first number, last one) of names in their order; None if they have gaps."""
    first = names[0]
    for run in reversed(list(re.finditer(r'\d+', os.path.basename(first)))):
        begin = len(first) - len(os.path.basename(first)) + run.start()
        before, after, digits = first[:begin], first[begin + len(run[0]):], run[0]
        form = '%%0%dd' % len(digits) if len(digits) > 1 else '%d'
        if all(name == before + form % number + after for number, name in enumerate(names, int(digits))):
            return before.replace('%', '%%') + form + after.replace('%', '%%'), int(digits), int(digits) + len(names) - 1
    return (first.replace('%', '%%'), 0, 0) if len(names) == 1 else None


def read_words(run, fps):
    """Elements of a launch line that read what `numbered` has found, as raw video that can be packed."""
    pattern, first, last = run
    kind, width, _height = picture_kind(pattern % first if '%' in pattern.replace('%%', '') else pattern.replace('%%', '%'))
    caps, decoder = DECODERS[kind]
    return ['multifilesrc', 'location=' + pattern, 'start-index=%d' % first, 'stop-index=%d' % last,
            'caps=%s,framerate=%s' % (caps, fps), '!', decoder, '!', 'videoconvert'] + (
                ['!', 'video/x-raw,format=BGRx'] if width % 2 else [])


def formats(width):
    """Caps of views that can be packed side by side: at odd widths a chroma sample of 4:2:0 would belong to both."""
    return FORMATS.replace(',I420,YV12,Y42B', '') if width % 2 else FORMATS


def pair_lines(kind, fps, width):
    """Launch lines from two appsrc, named left and right, to the frame-packed pair: the line that continues, and
    the two that feed it."""
    caps, decoder = DECODERS[kind]
    feeds = ['appsrc name=%s format=time max-buffers=4 max-bytes=0 block=false caps="%s,framerate=%s" ! %s ! '
             'videoconvert ! %s ! queue max-size-buffers=3 ! pair.%s' % (side, caps, fps, decoder, formats(width), side)
             for side in ('left', 'right')]
    return 'cudastereomux name=pair layout=side-by-side', feeds


class Pictures:
    """Two lists of picture files (or patterns of them), fed to two appsrc and packed side by side."""

    def __init__(self, left, right, fps):
        self.paths = {side: files if isinstance(files, list) else find_pictures(files)
                      for side, files in (('left', left), ('right', right))}
        count = {side: len(paths) for side, paths in self.paths.items()}
        if count['left'] != count['right']:
            raise Problem('%d left images, but %d right ones: they must pair up'
                          % (count['left'], count['right']))
        self.count = count['left']
        self.frame_time = int(1e9 / fps)
        first, (self.kind, self.width, self.height) = self.paths['left'][0], picture_kind(
            self.paths['left'][0])
        for path in self.paths['left'] + self.paths['right']:
            kind = picture_kind(path)
            if kind != (self.kind, self.width, self.height):
                raise Problem('%s is a %s of %dx%d, but %s is a %s of %dx%d: all must be alike'
                              % ((path,) + kind + (first, self.kind, self.width, self.height)))
        self.fps = '%d/1000' % round(fps * 1000)

    def launch(self):
        return pair_lines(self.kind, self.fps, self.width)

    def connect(self, pipeline):
        for side, paths in self.paths.items():
            feed = enumerate(paths)
            pipeline.get_by_name(side).connect('need-data', self._push, feed)

    def _push(self, source, _bytes_wanted, feed):
        number, path = next(feed, (None, None))
        if path is None:
            source.emit('end-of-stream')
            return
        with open(path, 'rb') as file:
            push(source, file.read(), number * self.frame_time, self.frame_time)


def push(source, data, time, duration):
    """Pushes bytes as one buffer into an appsrc."""
    from gi.repository import Gst
    buffer = Gst.Buffer.new_wrapped(data)
    buffer.pts = time
    buffer.duration = duration
    source.emit('push-buffer', buffer)


def png(values):
    """The bytes of a gray PNG of 8 or 16 bits, lossless and always the same."""
    import numpy as np

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    height, width = values.shape
    size = values.dtype.itemsize
    pixels = values.astype('>u%d' % size).view(np.uint8).reshape(height, size * width)
    rows = np.empty((height, 1 + size * width), np.uint8)
    rows[:, 0] = 2  # filter: difference to the row above, which deflates fast and well
    rows[0, 1:] = pixels[0]
    np.subtract(pixels[1:], pixels[:-1], out=rows[1:, 1:])
    header = struct.pack('>IIBBBBB', width, height, 8 * size, 0, 0, 0, 0)  # PNG stores the high byte first
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows.tobytes(), 1)) +
            chunk(b'IEND', b''))


def scaled_disparity(found, scale):
    """Values of a disparity annotation in 1/scale px, 16 bits; 0 = invalid."""
    import numpy as np
    values = found['payload'].astype(np.uint32) * scale // found['scale']
    if values.max(initial=0) > 65535:
        raise Problem('a disparity of %.1f px does not fit into 16 bits: reduce disparities or min-disparity of '
                      'cudasgm' % (values.max() / scale))
    return values.astype(np.uint16)


def depth_mm(found, camera):
    """Depth in mm, 16 bits; 0 = invalid, beyond 65.535 m, or the camera is unknown."""
    import numpy as np
    disparity = found['payload'].astype(np.float64) / found['scale']
    with np.errstate(divide='ignore'):
        mm = 1000 * camera['focal'] * camera['baseline'] / (disparity + camera.get('doffs', 0.0))
    mm[(disparity == 0) | (mm > 65535) | (mm < 0)] = 0
    return np.rint(mm).astype(np.uint16)
