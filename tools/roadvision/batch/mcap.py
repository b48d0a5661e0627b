# SPDX-License-Identifier: MIT
"""Stereo pairs in MCAP files: sensor_msgs/Image and CompressedImage of ROS 2 (CDR), of a left and a right topic, or of one
topic whose frames have both views. Chunks without compression, with zstd or with lz4, where those libraries are there."""
import collections
import ctypes
import ctypes.util
import os
import struct

from roadvision.common import Problem

MAGIC = b'\x89MCAP0\r\n'
SCHEMA, CHANNEL, MESSAGE, CHUNK = 3, 4, 5, 6
IMAGES = ('sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage')
# Encodings of sensor_msgs/Image and GStreamer's formats.
FORMATS = {'rgb8': 'RGB', 'bgr8': 'BGR', 'mono8': 'GRAY8', '8UC1': 'GRAY8', 'rgba8': 'RGBA', 'bgra8': 'BGRA',
           'mono16': 'GRAY16_LE', '16UC1': 'GRAY16_LE', 'yuv422': 'UYVY', 'yuv422_yuy2': 'YUY2'}
SKEW = 10_000_000  # ns: largest difference of the times of a pair
ENTRY = struct.Struct('<QQQQQ')  # time, chunk and offset of the left image, of the right one (2^64 - 1: none)
NONE = 2**64 - 1
Image = collections.namedtuple('Image', 'time caps decoder data')


def decompress(kind, data, size):
    if not kind:
        return data
    name = {'zstd': 'zstd', 'lz4': 'lz4'}.get(kind)
    path = name and ctypes.util.find_library(name)
    if not path:
        raise Problem('MCAP chunks are compressed with %s: install lib%s' % (kind, {'zstd': 'zstd1', 'lz4': 'lz4-1'}.get(
            kind, kind)))
    library, out = ctypes.CDLL(path), ctypes.create_string_buffer(size)
    if kind == 'zstd':
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        got = library.ZSTD_decompress(out, size, data, len(data))
    else:
        context, got, at = ctypes.c_void_p(), 0, 0
        library.LZ4F_createDecompressionContext(ctypes.byref(context), 100)
        library.LZ4F_decompress.restype = ctypes.c_size_t
        while at < len(data):
            room, used = ctypes.c_size_t(size - got), ctypes.c_size_t(len(data) - at)
            library.LZ4F_decompress(context, ctypes.byref(out, got), ctypes.byref(room), data[at:], ctypes.byref(used), None)
            if not used.value and not room.value:
                break
            got, at = got + room.value, at + used.value
        library.LZ4F_freeDecompressionContext(context)
    if got != size:
        raise Problem('a chunk of the MCAP file is damaged')
    return out.raw


def records(data, at, end):
    """(opcode, start, end) of each complete record."""
    while at + 9 <= end:
        opcode, length = struct.unpack_from('<BQ', data, at)
        if at + 9 + length > end:
            return
        yield opcode, at + 9, at + 9 + length
        at += 9 + length


class Reader:
    """Records of a file by their positions; keeps the chunk that was read last."""

    def __init__(self, path):
        self.file = open(path, 'rb')
        self.chunks = collections.OrderedDict()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.file.close()

    def top(self):
        """(opcode, position of the content, length) of the records of the file; ends where it is cut off."""
        self.file.seek(0)
        if self.file.read(8) != MAGIC:
            raise Problem('%s is not an MCAP file' % self.file.name)
        size = os.fstat(self.file.fileno()).st_size
        at = 8
        while at + 9 <= size:
            self.file.seek(at)
            head = self.file.read(9)
            opcode, length = struct.unpack('<BQ', head)
            if at + 9 + length > size:
                return
            yield opcode, at + 9, length
            at += 9 + length

    def content(self, at, length):
        self.file.seek(at)
        return self.file.read(length)

    def chunk(self, at):
        """The records in a chunk whose content is at `at`."""
        if at not in self.chunks:
            self.file.seek(at - 8)
            data = self.file.read(struct.unpack('<Q', self.file.read(8))[0])
            size, name = struct.unpack_from('<16xQ4xI', data)
            compression = data[32:32 + name].decode()
            length = struct.unpack_from('<Q', data, 32 + name)[0]
            self.chunks[at] = decompress(compression, data[40 + name:40 + name + length], size)
            while len(self.chunks) > 4:
                self.chunks.popitem(last=False)
        return self.chunks[at]

    def message(self, position):
        """(type, content) of a message by (chunk, offset); chunk 0: a record of the file."""
        at, offset = position
        if at:
            data = self.chunk(at)
            length = struct.unpack_from('<Q', data, offset + 1)[0]
            content = data[offset + 9:offset + 9 + length]
        else:
            length = struct.unpack('<Q', self.content(offset + 1, 8))[0]
            content = self.content(offset + 9, length)
        return content[22:]


def text(data, at):
    length = struct.unpack_from('<I', data, at)[0]
    return data[at + 4:at + 4 + length].decode(), at + 4 + length


def cdr_text(data, at):
    """A string of CDR at a multiple of 4, without its end byte."""
    at += -at % 4
    length = struct.unpack_from('<I', data, at)[0]
    return data[at + 4:at + 4 + max(0, length - 1)].decode('utf-8', 'replace'), at + 4 + length


def image(message, compressed):
    """Pixels or the compressed file of a message. Its fields follow the 4 bytes that name the encoding."""
    body = message[4:]
    seconds, nanoseconds = struct.unpack_from('<II', body)
    _frame, at = cdr_text(body, 8)
    start = at + -at % 4
    time = seconds * 10**9 + nanoseconds
    # CompressedImage: format, data. Image: height, width, encoding, is_bigendian, step, data.
    if compressed:
        _format, at = cdr_text(body, start)
        at += -at % 4
        length = struct.unpack_from('<I', body, at)[0]
        data = bytes(body[at + 4:at + 4 + length])
        kind = 'png' if data.startswith(b'\x89PNG') else 'jpeg'
        return Image(time, 'image/' + kind, kind + 'dec', data)
    height, width = struct.unpack_from('<II', body, start)
    encoding, at = cdr_text(body, start + 8)
    if encoding not in FORMATS:
        raise Problem('images with the encoding %s are not supported; there are: %s' % (encoding, ', '.join(FORMATS)))
    at += 1
    at += -at % 4
    step, length = struct.unpack_from('<II', body, at)
    return Image(time, *packed(FORMATS[encoding], width, height, step, body[at + 8:at + 8 + length]))


def packed(form, width, height, step, data):
    """(caps, decoder, rows as GStreamer expects them: a multiple of 4 bytes)."""
    size = width * {'RGB': 3, 'BGR': 3, 'GRAY8': 1, 'RGBA': 4, 'BGRA': 4}.get(form, 2)
    stride = size + -size % 4
    if step != stride:
        data = b''.join(bytes(data[row * step:row * step + size]).ljust(stride, b'\0') for row in range(height))
    return 'video/x-raw,format=%s,width=%d,height=%d' % (form, width, height), '', bytes(data)


class Topics(collections.defaultdict):
    """Topic -> (time, chunk, offset) of its images; whether they are files such as JPEG."""

    def __init__(self):
        super().__init__(list)
        self.compressed = {}


def index(path, target):
    """Writes the positions of all pairs, in the order of time; returns (times from 0 on, facts)."""
    with Reader(path) as reader:
        topics = Topics()
        schemas, channels = {}, {}
        for opcode, at, length in reader.top():
            if opcode == CHUNK:
                data = reader.chunk(at)
                for inner, start, end in records(data, 0, len(data)):
                    one_record(inner, data[start:end] if inner != MESSAGE else data[start:start + 22], (at, start - 9),
                               schemas, channels, topics)
            elif opcode in (SCHEMA, CHANNEL, MESSAGE):
                one_record(opcode, reader.content(at, length if opcode != MESSAGE else 22), (0, at - 9), schemas, channels, topics)
        left, right = choose(path, topics)
        pairs = join(topics[left], topics[right] if right else None)
    if not pairs:
        raise Problem('%s: no images of %s and %s are within %d ms' % (path, left, right, SKEW // 10**6))
    begin = pairs[0][0]
    with open(target, 'wb') as file:
        for pair in pairs:
            file.write(ENTRY.pack(*pair))
    return [pair[0] - begin for pair in pairs], {'topics': [left, right], 'compressed': topics.compressed[left]}


def one_record(opcode, data, position, schemas, channels, topics):
    if opcode == SCHEMA:
        number = struct.unpack_from('<H', data)[0]
        schemas[number] = text(data, 2)[0]
    elif opcode == CHANNEL:
        number, schema = struct.unpack_from('<HH', data)
        channels[number] = (text(data, 4)[0], schemas.get(schema, ''))
    elif opcode == MESSAGE:
        number, _sequence, time = struct.unpack_from('<HIQ', data)
        topic, kind = channels.get(number, ('', ''))
        if kind in IMAGES:
            topics[topic].append((time,) + position)
            topics.compressed[topic] = kind == IMAGES[1]


def choose(path, topics):
    """The topics of the pair: left and right, or one whose name says that it has both."""
    for topic in sorted(topics):
        for word, other in (('left', 'right'), ('cam0', 'cam1'), ('infra1', 'infra2'), ('camera_0', 'camera_1')):
            partner = topic.replace(word, other)
            if word in topic and partner in topics and 'depth' not in topic and 'disparity' not in topic:
                return topic, partner
    both = [topic for topic in sorted(topics) if 'pair' in topic or 'stereo/image' in topic]
    if both:
        return both[0], None
    pair = path[:-5] + '.mkv'
    raise Problem('%s has no images of two cameras; its image topics: %s%s' % (
        path, ', '.join(sorted(topics)) or 'none', '; %s has the pair' % pair if os.path.exists(pair) else ''))


def join(left, right):
    """(time, chunk, offset, chunk, offset) of pairs whose times are close."""
    left.sort()
    if right is None:
        return [item + (NONE, NONE) for item in left]
    right.sort()
    pairs, at = [], 0
    for item in left:
        while at + 1 < len(right) and abs(right[at + 1][0] - item[0]) <= abs(right[at][0] - item[0]):
            at += 1
        if right and abs(right[at][0] - item[0]) <= SKEW:
            pairs.append(item + right[at][1:])
            at = min(at + 1, len(right) - 1)
    return pairs


def read_index(path, start, end):
    """(position of the left image, of the right one or None) of pairs start to end."""
    with open(path, 'rb') as file:
        file.seek(ENTRY.size * start)
        for _ in range(end - start):
            _time, chunk, offset, right_chunk, right_offset = ENTRY.unpack(file.read(ENTRY.size))
            yield (chunk, offset), None if right_chunk == NONE else (right_chunk, right_offset)
