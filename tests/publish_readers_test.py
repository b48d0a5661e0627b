#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""MCAP files of annotationpublish in the readers that others use: the PyPI packages mcap,
mcap-ros2-support and rosbags decode every message, find the indexes, check the CRCs, and know the
definitions of the messages from ROS 2 itself. Skips (77) where the packages cannot be installed.

  tests/publish_readers_test.py FOLDER     FOLDER gets a virtual environment with the packages, once

RV_MCAP_PYTHON names a Python that has them already."""
import os
import subprocess
import sys
import tempfile

PACKAGES = ['mcap==1.*', 'mcap-ros2-support==0.*', 'rosbags==0.*', 'zstandard', 'numpy']
LINE = ('gst-launch-1.0 -q stereotestsrc num-buffers=%d pattern=street ! '
        'video/x-raw,format=BGRx,width=640,height=240,framerate=30/1 ! cudasgm ! cudastixels ! '
        'cudaroaddetect ! cudahough segments=true ! annotationpublish format=mcap location=%s '
        'topics=image+camera+disparity+depth+points+markers+overlay+tf+frame %s ! fakesink')

# Runs in the Python with the packages.
CHECK = r'''
import collections, io, sys
from pathlib import Path
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.records import Chunk
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

plain, packed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

def read(path):
    with open(path, 'rb') as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 0
        found = collections.defaultdict(list)
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            found[channel.topic].append(decoded)
        assert summary.statistics.message_count == sum(map(len, found.values()))
        half = [s.log_time for _, _, s in reader.iter_messages(topics=['/stereo/depth'])][count // 2]
        late = list(reader.iter_messages(topics=['/stereo/depth'], start_time=half))
        assert len(late) == count - count // 2, 'the index finds messages by time'
        return summary, found

summary, found = read(plain)
assert len(found) == 10 and len(found.pop('/tf_static')) == 1
assert all(len(messages) == count for messages in found.values())
image = found['/stereo/left/image_rect'][0]
assert (image.width, image.height, image.encoding, len(image.data)) == (320, 240, 'rgb8', 230400)
assert found['/road/overlay'][0].points[0].type == 4
_, compressed = read(packed)
assert compressed['/stereo/depth'][0].data == found['/stereo/depth'][0].data

# The definitions in the file are those of ROS 2, and of foxglove_msgs, which it does not contain.
store = get_typestore(Stores.ROS2_HUMBLE)
known = foreign = 0
for schema in summary.schemas.values():
    types = get_types_from_msg(schema.data.decode(), schema.name)
    for name, (constants, fields) in types.items():
        if name in store.fielddefs:
            assert fields == store.fielddefs[name][1], name
            known += 1
        else:
            assert name.startswith('foxglove_msgs/'), name
            foreign += 1
assert known >= 20 and foreign >= 5, (known, foreign)

for path in (plain, packed):
    with AnyReader([Path(path)]) as bag:
        seen = collections.Counter()
        for connection, time, raw in bag.messages():
            bag.deserialize(raw, connection.msgtype)
            seen[connection.topic] += 1
        latched, = [c for c in bag.connections if c.topic == '/tf_static']
        assert latched.ext.offered_qos_profiles[0].durability.name == 'TRANSIENT_LOCAL'
    assert sum(seen.values()) == 9 * count + 1

# A file without its end, read from the start.
data = Path(plain).read_bytes()[:2 * Path(plain).stat().st_size // 3]
chunks = 0
try:
    for record in StreamReader(io.BytesIO(data), emit_chunks=True, validate_crcs=True).records:
        chunks += isinstance(record, Chunk)
except Exception as error:
    print('at the cut:', type(error).__name__)
assert chunks >= 1
print(dict(seen), 'known types:', known, 'foxglove:', foreign, 'chunks before the cut:', chunks)
'''


def skip(reason):
    print('skipped: ' + reason)
    sys.exit(77)


def find_python(folder):
    if os.environ.get('RV_MCAP_PYTHON'):
        return os.environ['RV_MCAP_PYTHON']
    python = os.path.join(folder, 'bin', 'python')
    probe = [python, '-c', 'import mcap, mcap_ros2, rosbags, zstandard']
    if os.path.exists(python) and subprocess.run(probe, capture_output=True).returncode == 0:
        return python
    if subprocess.run([sys.executable, '-m', 'venv', folder], capture_output=True).returncode != 0:
        skip('no virtual environment can be made here (Debian: python3-venv)')
    install = [python, '-m', 'pip', 'install', '--quiet', '--retries', '1', '--timeout', '10', *PACKAGES]
    environment = {k: v for k, v in os.environ.items() if k != 'LD_LIBRARY_PATH'}
    try:
        done = subprocess.run(install, capture_output=True, text=True, timeout=240, env=environment)
    except subprocess.TimeoutExpired:
        skip('installing %s lasts too long' % ' '.join(PACKAGES))
    if done.returncode != 0:
        skip('cannot install %s: %s' % (' '.join(PACKAGES), done.stderr.strip()[-300:]))
    return python


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    python = find_python(os.path.abspath(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = os.path.join(folder, 'plain.mcap'), os.path.join(folder, 'packed.mcap')
        count = 8
        subprocess.run((LINE % (count, plain, '')).split(), check=True)
        done = subprocess.run((LINE % (count, packed, 'compression=zstd')).split(),
                              capture_output=True, text=True)
        if 'This build has no zstd' in done.stdout + done.stderr:
            packed = plain
        else:
            assert done.returncode == 0, done.stderr
        print('%d frames: %.1f MB, compressed %.1f MB' % (
            count, os.path.getsize(plain) / 1e6, os.path.getsize(packed) / 1e6))
        sys.exit(subprocess.run([python, '-c', CHECK, plain, packed, str(count)]).returncode)


if __name__ == '__main__':
    main()
