# SPDX-License-Identifier: MIT
"""A reader of MCAP files for the tests, written from the format's specification: checks magic,
record lengths, CRCs, indexes and statistics, and decodes CDR messages by the definitions in the file.

    with open(path, 'rb') as file:
        recording = mcap_reader.read(file.read())
    recording.complete                     # has a summary, which agrees with the data
    [m.decode() for m in recording.messages if m.topic == '/stereo/depth']
"""
import collections
import re
import struct
import zlib

MAGIC = b'\x89MCAP0\r\n'
(HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX, ATTACHMENT,
 ATTACHMENT_INDEX, STATISTICS) = range(1, 12)
SUMMARY_OFFSET, DATA_END = 14, 15

Attachment = collections.namedtuple('Attachment', 'name data')


class Broken(Exception):
    """The file violates the format."""


def need(condition, *text):
    if not condition:
        raise Broken(' '.join(map(str, text)))


class Bytes:
    """Numbers and strings in sequence."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        need(self.at + size <= len(self.data), 'a record is too short')
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, kind):
        return struct.unpack('<' + kind, self.take(struct.calcsize('<' + kind)))[0]

    def string(self):
        return self.take(self.number('I')).decode()

    def table(self, key, value):
        part = Bytes(self.take(self.number('I')))
        found = []
        while part.at < len(part.data):
            found.append((getattr(part, key[0])(*key[1:]), getattr(part, value[0])(*value[1:])))
        need(len(dict(found)) == len(found), 'a key occurs twice')
        return dict(found)


class Message:
    def __init__(self, channel, schema, sequence, log_time, data):
        self.topic, self.channel, self.schema = channel['topic'], channel, schema
        self.sequence, self.log_time, self.data = sequence, log_time, data

    def decode(self):
        return decode(self.schema['name'], self.schema['data'], self.data)


class Recording:
    def __init__(self):
        self.schemas, self.channels, self.messages, self.attachments = {}, {}, [], []
        self.chunks, self.complete, self.compressions = 0, False, set()


def records(data, start, end):
    """Offset, opcode and content of each complete record; stops at an incomplete one."""
    while start + 9 <= end:
        opcode, length = struct.unpack_from('<BQ', data, start)
        if start + 9 + length > end:
            return
        yield start, opcode, data[start + 9:start + 9 + length]
        start += 9 + length


def read_schema(recording, content):
    b = Bytes(content)
    number = b.number('H')
    schema = {'name': b.string(), 'encoding': b.string(), 'data': b.string()}
    need(number != 0 and recording.schemas.setdefault(number, schema) == schema, 'schemas differ')


def read_channel(recording, content):
    b = Bytes(content)
    number = b.number('H')
    channel = {'schema': b.number('H'), 'topic': b.string(), 'encoding': b.string(),
               'metadata': b.table(('string',), ('string',))}
    need(channel['schema'] in recording.schemas, 'a channel before its schema')
    need(recording.channels.setdefault(number, channel) == channel, 'channels differ')


def read_message(recording, content):
    b = Bytes(content)
    number, sequence, log_time, publish_time = (b.number(k) for k in 'HIQQ')
    need(number in recording.channels, 'a message before its channel')
    need(publish_time == log_time, 'publish time')
    need(not recording.messages or log_time >= recording.messages[-1].log_time, 'time goes back')
    channel = recording.channels[number]
    recording.messages.append(Message(channel, recording.schemas[channel['schema']], sequence,
                                      log_time, content[b.at:]))


def decompress(name, data, size):
    if name == '':
        return data
    need(name == 'zstd', 'compression', name)
    import zstandard
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)


def read_chunk(recording, content):
    """Returns the values that the chunk index must have."""
    b = Bytes(content)
    start, end, size, crc = (b.number(k) for k in 'QQQI')
    compression = b.string()
    packed = b.take(b.number('Q'))
    need(b.at == len(content), 'bytes after the records of a chunk')
    data = decompress(compression, packed, size)
    need(len(data) == size and zlib.crc32(data) == crc, 'a chunk is damaged')
    index, first = collections.defaultdict(list), len(recording.messages)
    for offset, opcode, inner in records(data, 0, len(data)):
        if opcode == SCHEMA:
            read_schema(recording, inner)
        elif opcode == CHANNEL:
            read_channel(recording, inner)
        else:
            need(opcode == MESSAGE, 'record', opcode, 'in a chunk')
            read_message(recording, inner)
            index[struct.unpack_from('<H', inner)[0]].append((recording.messages[-1].log_time, offset))
    times = [m.log_time for m in recording.messages[first:]]
    need(times and (min(times), max(times)) == (start, end), 'times of a chunk')
    recording.chunks += 1
    recording.compressions.add(compression)
    return {'start': start, 'end': end, 'compression': compression, 'packed': len(packed),
            'size': size, 'index': dict(index)}


def read_attachment(recording, content):
    b = Bytes(content)
    b.take(16)
    name, _media = b.string(), b.string()
    data = b.take(b.number('Q'))
    need(zlib.crc32(content[:-4]) == b.number('I'), 'an attachment is damaged')
    recording.attachments.append(Attachment(name, data))


def read_message_index(chunk, content):
    b = Bytes(content)
    number = b.number('H')
    part = Bytes(b.take(b.number('I')))
    entries = []
    while part.at < len(part.data):
        entries.append((part.number('Q'), part.number('Q')))
    need(chunk['index'].get(number) == entries, 'a message index is wrong')
    return number


def read_data(data, end):
    """The data section; returns the recording, facts of its chunks, and where it ends."""
    recording, chunks = Recording(), []
    for start, opcode, content in records(data, len(MAGIC), end):
        if opcode == HEADER:
            need(start == len(MAGIC), 'a header in the middle')
            need(Bytes(content).string() == 'ros2', 'profile')
        elif opcode == CHUNK:
            chunks.append(read_chunk(recording, content))
            chunks[-1].update(offset=start, length=9 + len(content), indexes={}, index_length=0)
        elif opcode == MESSAGE_INDEX:
            chunks[-1]['indexes'][read_message_index(chunks[-1], content)] = start
            chunks[-1]['index_length'] += 9 + len(content)
        elif opcode == ATTACHMENT:
            read_attachment(recording, content)
        elif opcode == DATA_END:
            return recording, chunks, start + 9 + len(content)
        else:
            need(False, 'record', opcode, 'in the data section')
    return recording, chunks, None


def check_chunk_index(chunk, content):
    b = Bytes(content)
    found = {'start': b.number('Q'), 'end': b.number('Q'), 'offset': b.number('Q'),
             'length': b.number('Q'), 'indexes': b.table(('number', 'H'), ('number', 'Q')),
             'index_length': b.number('Q'), 'compression': b.string(), 'packed': b.number('Q'),
             'size': b.number('Q')}
    need(all(chunk[key] == value for key, value in found.items()), 'a chunk index is wrong')


def check_statistics(recording, content):
    b = Bytes(content)
    messages, schemas, channels, attachments, metadata, chunks = (b.number(k) for k in 'QHIIII')
    need((messages, attachments, metadata, chunks) == (
        len(recording.messages), len(recording.attachments), 0, recording.chunks), 'statistics')
    need(schemas == len(recording.schemas) and channels == len(recording.channels), 'counts')
    times = [m.log_time for m in recording.messages] or [0]
    need((b.number('Q'), b.number('Q')) == (times[0], times[-1]), 'times of the statistics')
    counts = b.table(('number', 'H'), ('number', 'Q'))
    need(counts == {n: sum(m.channel is c for m in recording.messages)
                    for n, c in recording.channels.items()}, 'counts of channels')


def check_summary(data, start, recording, chunks):
    """The summary between the data section and the footer."""
    need(data.endswith(MAGIC), 'no magic at the end')
    footer_at = len(data) - len(MAGIC) - 20 - 9
    need(data[footer_at] == FOOTER, 'no footer')
    summary, offsets, crc = struct.unpack_from('<QQI', data, footer_at + 9)
    need(summary == start, 'start of the summary')
    need(zlib.crc32(data[start:footer_at + 9 + 16]) == crc, 'the summary is damaged')
    groups, left, copy = collections.OrderedDict(), list(chunks), Recording()
    for at, opcode, content in records(data, start, offsets):
        need(opcode not in groups or next(reversed(groups)) == opcode, 'groups are mixed')
        first, _ = groups.get(opcode, (at, 0))
        groups[opcode] = (first, at + 9 + len(content) - first)
        if opcode == SCHEMA:
            read_schema(copy, content)
        elif opcode == CHANNEL:
            read_channel(copy, content)
        elif opcode == CHUNK_INDEX:
            check_chunk_index(left.pop(0), content)
        elif opcode == STATISTICS:
            check_statistics(recording, content)
        else:
            need(opcode == ATTACHMENT_INDEX, 'record', opcode, 'in the summary')
    need(not left, 'chunks without an index')
    need((copy.schemas, copy.channels) == (recording.schemas, recording.channels), 'copies differ')
    found = collections.OrderedDict()
    for _at, opcode, content in records(data, offsets, footer_at):
        need(opcode == SUMMARY_OFFSET, 'record', opcode, 'among the offsets')
        found[content[0]] = struct.unpack_from('<QQ', content, 1)
    need(found == groups, 'summary offsets')


def read(data):
    need(data.startswith(MAGIC), 'no magic')
    end = len(data)
    recording, chunks, summary = read_data(data, end)
    if summary is not None and data.endswith(MAGIC):
        check_summary(data, summary, recording, chunks)
        recording.complete = True
    return recording


# --- CDR ------------------------------------------------------------------------------------------
NUMBERS = {'bool': '?', 'uint8': 'B', 'int8': 'b', 'uint16': 'H', 'int16': 'h', 'uint32': 'I',
           'int32': 'i', 'uint64': 'Q', 'int64': 'q', 'float32': 'f', 'float64': 'd'}


def parse_definition(name, text):
    parts = re.split(r'^={80}\nMSG: (\S+)\n', text, flags=re.M)
    types = dict(zip([name.replace('/msg/', '/')] + parts[1::2], parts[::2]))
    return {key: [line.split() for line in fields.splitlines() if line.strip()]
            for key, fields in types.items()}


class Cdr:
    def __init__(self, data, types):
        need(data[:4] == b'\0\1\0\0', 'not plain CDR')
        self.data, self.at, self.types = data[4:], 0, types

    def number(self, code, count=1):
        size = struct.calcsize('<' + code)
        self.at += -self.at % size
        need(self.at + size * count <= len(self.data), 'a message is too short')
        values = struct.unpack_from('<%d%s' % (count, code), self.data, self.at)
        self.at += size * count
        return values

    def bytes(self, size):
        need(self.at + size <= len(self.data), 'a message is too short')
        self.at += size
        return self.data[self.at - size:self.at]

    def value(self, kind):
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])[0]
        if kind == 'string':
            text = self.bytes(self.number('I')[0])
            need(text.endswith(b'\0'), 'a string without its end')
            return text[:-1].decode()
        return {name: self.field(k) for k, name in self.types[kind]}

    def field(self, kind):
        array = re.match(r'(.*)\[(\d*)\]$', kind)
        if not array:
            return self.value(kind)
        kind, count = array.groups()
        count = int(count) if count else self.number('I')[0]
        if kind == 'uint8':
            return self.bytes(count)
        if kind in NUMBERS:
            return list(self.number(NUMBERS[kind], count)) if count else []
        return [self.value(kind) for _ in range(count)]


def decode(name, definition, data):
    cdr = Cdr(data, parse_definition(name, definition))
    value = cdr.value(name.replace('/msg/', '/'))
    need(cdr.at == len(cdr.data), len(cdr.data) - cdr.at, 'bytes after a', name)
    return value
