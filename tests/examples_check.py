#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks of tests/examples.sh: what examples have written, and inputs for them.

  video FILE FRAMES WxH [color=PERCENT]     decodes; FRAMES is a number or a range a..b; at least PERCENT of
                                            the pixels of the last frame are colored; WxH may be any
  image FILE WxH [color=PERCENT]
  json FILE FRAMES [KEY|KEY=VALUE...]       lines against the schema; keys of nested objects a.b; VALUE may be
                                            a..b or v+-e
  kitti FOLDER PAIRS                        disparity maps in 1/256 px against the truth of `pairs`
  disparity FILE SCALE TRUTH                one map against one truth
  mcap FILE FRAMES                          complete, that many messages of the topic of JSON objects
  ply FILE POINTS                           binary PLY with at least that many points
  pairs FOLDER COUNT [numbered]             makes pairs of two sizes (numbered: one) of the rendered street
  boards FOLDER                             makes pairs of a chessboard
"""
import json
import os
import re
import sys

import cv2
import numpy as np

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
sys.path[:0] = [os.path.join(ROOT, 'examples'), os.path.join(ROOT, 'tools'), TESTS]
SATURATED = 60  # of 255: drawn colors; those of the rendered street are below
BAD3_MAX = 8.0  # % of the non-occluded pixels that have a value


def fail(text):
    sys.exit('examples_check: %s' % text)


def in_range(value, text):
    """text: a number, a.., a..b, or a+-e."""
    if '+-' in text:
        middle, error = map(float, text.split('+-'))
        return abs(value - middle) <= error
    if '..' in text:
        low, high = text.split('..')
        return float(low) <= value <= (float(high) if high else float('inf'))
    return value == float(text)


def check_picture(name, image, size, options):
    height, width = image.shape[:2]
    if size != 'any' and '%dx%d' % (width, height) != size:
        fail('%s has %dx%d px, expected %s' % (name, width, height, size))
    if image.std() < 5:
        fail('%s is of one color' % name)
    for option in options:
        wanted = float(option.replace('color=', ''))
        colored = 100 * np.mean(cv2.cvtColor(image, cv2.COLOR_BGR2HSV)[:, :, 1] > SATURATED)
        if colored < wanted:
            fail('%s: %.1f %% of the pixels are colored, expected %g' % (name, colored, wanted))


def video(path, frames, size, *options):
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launch('filesrc name=file ! decodebin ! videoconvert ! video/x-raw,format=BGRx ! '
                                'appsink name=last sync=false')
    pipeline.get_by_name('file').props.location = path
    pipeline.set_state(Gst.State.PLAYING)
    sink, count, image = pipeline.get_by_name('last'), 0, None
    import roadvision
    while (sample := sink.emit('pull-sample')) is not None:
        count += 1
        image = roadvision.picture(sample.get_buffer(), sample.get_caps())[:, :, :3].copy()
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        fail('%s: %s' % (path, error.parse_error()[0].message))
    if not in_range(count, frames):
        fail('%s has %d frames, expected %s' % (path, count, frames))
    cv2.imwrite(path + '.png', image)
    check_picture(path, image, size, options)


def image(path, size, *options):
    found = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if found is None:
        fail('%s is not an image' % path)
    check_picture(path, found, size, options)


def json_lines(path, frames, *keys):
    with open(os.path.join(ROOT, 'gst/schema/roadvision.frame-1.schema.json')) as file:
        schema = json.load(file)
    with open(path) as file:
        lines = [json.loads(line, object_pairs_hook=no_duplicates) for line in file]
    if not in_range(len(lines), frames):
        fail('%s has %d lines, expected %s' % (path, len(lines), frames))
    try:
        import jsonschema
        validator = jsonschema.Draft202012Validator(schema)
        for line in lines:
            validator.validate(line)
    except ImportError:
        print('without python3-jsonschema: keys only')
    for line in lines:
        for key in keys:
            name, _equal, wanted = key.partition('=')
            value = line
            for part in name.split('.'):
                if part not in value:
                    fail('%s: no %s in %s' % (path, name, str(line)[:300]))
                value = value[part]
            if wanted and not (value == wanted if isinstance(value, str) else in_range(value, wanted)):
                fail('%s: %s is %s, expected %s' % (path, name, value, wanted))


def no_duplicates(pairs):
    if len({key for key, _value in pairs}) != len(pairs):
        fail('a key is there twice: %s' % [key for key, _value in pairs])
    return dict(pairs)


def compare(name, disparity, truth):
    """Both in px, 0 = invalid."""
    if disparity.shape != truth.shape:
        fail('%s has %s px, expected %s' % (name, disparity.shape, truth.shape))
    both = (disparity > 0) & (truth > 0)
    density, bad = 100 * np.mean(disparity > 0), 100 * np.mean(np.abs(disparity - truth)[both] > 3)
    print('%s: %.1f %% valid, bad3 %.2f %%' % (name, density, bad))
    if density < 50 or bad > BAD3_MAX:
        fail('%s: %.1f %% valid, bad3 %.2f %%' % (name, density, bad))


def read16(path):
    values = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if values is None or values.dtype != np.uint16 or values.ndim != 2:
        fail('%s is not gray with 16 bits' % path)
    return values.astype(float)


def kitti(folder, pairs):
    names = sorted(os.listdir(os.path.join(pairs, 'truth')))
    if sorted(os.listdir(os.path.join(folder, 'disp_0'))) != names:
        fail('%s/disp_0 has other files' % folder)
    for name in names:
        compare(name, read16(os.path.join(folder, 'disp_0', name)) / 256,
                read16(os.path.join(pairs, 'truth', name)) / 256)


def disparity(path, scale, truth):
    compare(path, read16(path) / float(scale), read16(truth) / 256)


def mcap(path, frames):
    import mcap_reader
    with open(path, 'rb') as file:
        recording = mcap_reader.read(file.read())
    count = sum(message.topic == '/roadvision/frame' for message in recording.messages)
    if not recording.complete or not in_range(count, frames):
        fail('%s: %d frames, complete: %s' % (path, count, recording.complete))


def ply(path, points):
    with open(path, 'rb') as file:
        header, data = file.read().split(b'end_header\n', 1)
    count = int(re.search(rb'element vertex (\d+)', header)[1])
    vertices = np.frombuffer(data, [('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('color', 'u1', 3)])
    if count < int(points) or len(vertices) != count or not (vertices['z'] > 0).all():
        fail('%s: %d points in the header, %d in the file' % (path, count, len(vertices)))


def pairs(folder, count, numbered=None):
    """NAME.png in left, right and truth (1/256 px, occluded pixels 0)."""
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    import roadvision
    Gst.init(None)
    for side in ('left', 'right', 'truth'):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
    for index in range(int(count)):
        name = '%06d.png' % index if numbered else ('one.png', 'three.png', 'two.png')[index]
        width = 300 if index == 1 and not numbered else 320
        pipeline = Gst.parse_launch(
            'stereotestsrc num-buffers=1 seed=%d ! video/x-raw,format=BGRx,width=%d,height=240 ! '
            'appsink name=last' % (index + 1, 2 * width))
        pipeline.set_state(Gst.State.PLAYING)
        sample = pipeline.get_by_name('last').emit('pull-sample')
        frame = roadvision.picture(sample.get_buffer(), sample.get_caps())[:, :, :3]
        truth = roadvision.annotation(sample.get_buffer(), 'RvTruthMeta')
        values = truth['disparity'].astype(np.uint32) * 16 * (truth['visible'] > 0)
        pipeline.set_state(Gst.State.NULL)
        cv2.imwrite(os.path.join(folder, 'left', name), frame[:, :width])
        cv2.imwrite(os.path.join(folder, 'right', name), frame[:, width:])
        cv2.imwrite(os.path.join(folder, 'truth', name), values.astype(np.uint16))


def boards(folder):
    import calibrate_test
    os.makedirs(folder, exist_ok=True)
    calibrate_test.write_pairs(folder, *calibrate_test.chessboard(), 12, np.random.default_rng(5), separate=True)


def main():
    checks = {'video': video, 'image': image, 'json': json_lines, 'kitti': kitti, 'disparity': disparity,
              'mcap': mcap, 'ply': ply, 'pairs': pairs, 'boards': boards}
    if len(sys.argv) < 3 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    checks[sys.argv[1]](*sys.argv[2:])


if __name__ == '__main__':
    main()
