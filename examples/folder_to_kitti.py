#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Folders of stereo pairs into disparity maps as KITTI has them and into JSON.

  examples/folder_to_kitti.sh image_2 image_3 results
  examples/folder_to_kitti.sh --focal 721.5 --baseline 0.54 'left/*_10.png' 'right/*_10.png' results
  examples/folder_to_kitti.sh --elements 'cudasgm disparities=192 ! cudastixels ! cudardp' left right results

LEFT and RIGHT are folders or patterns (in quotes); files pair up in the order of their names. Sizes may change
from pair to pair.

  results/disp_0/NAME.png   disparity of the left image, 16 bits, 1/256 px, 0 = invalid
  results/json/NAME.json    every annotation, in the format of annotationpublish; tags: the files it belongs to
"""
import argparse
import itertools
import json
import os
import struct
import sys
import tempfile
import zlib

import numpy as np

import demo
import roadvision
from demo import Problem

import gi
gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

SCALE = 256  # of KITTI's disparity maps


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, prog='folder_to_kitti.sh',
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('left', help='folder or pattern of the left images: PNG, JPEG or PNM')
    parser.add_argument('right', help='folder or pattern of the right images')
    parser.add_argument('out', help='folder that is written')
    parser.add_argument('--elements', default='cudasgm ! cudastixels', help='launch line from the pair to '
                        'the results (cudasgm ! cudastixels)')
    parser.add_argument('--calibration', metavar='FILE', help='rectifies the pairs first')
    parser.add_argument('--focal', type=float, metavar='PX', help='focal length of rectified pairs')
    parser.add_argument('--baseline', type=float, metavar='M', help='distance of the cameras')
    parser.add_argument('--frames', type=int, metavar='N', help='the first N pairs only')
    options = parser.parse_args()
    if options.frames is not None and options.frames < 1:
        parser.error('--frames must be positive')
    return options


def find(pattern):
    if os.path.isdir(pattern):
        names = [os.path.join(pattern, name) for name in sorted(os.listdir(pattern))
                 if name.lower().endswith(('.png', '.jpg', '.jpeg', '.pgm', '.ppm', '.pnm'))]
        if not names:
            raise Problem('no images in the folder %s' % pattern)
        return names
    return demo.find_pictures(pattern)


def find_pairs(options):
    pairs = [find(options.left), find(options.right)]
    if len(pairs[0]) != len(pairs[1]):
        raise Problem('%d left images, but %d right ones: they must pair up'
                      % (len(pairs[0]), len(pairs[1])))
    names = [os.path.splitext(os.path.basename(path))[0] for path in pairs[0]]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise Problem('two left images are called %s: their results would overwrite each other' % twice)
    return list(zip(*pairs))[:options.frames]


def write_png16(path, values):
    """Gray, 16 bits; PNG stores the high byte first."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    height, width = values.shape
    rows = np.zeros((height, 1 + 2 * width), np.uint8)  # first byte: no filter
    rows[:, 1:] = values.astype('>u2').view(np.uint8).reshape(height, 2 * width)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 16, 0, 0, 0, 0))
                   + chunk(b'IDAT', zlib.compress(rows.tobytes(), 6)) + chunk(b'IEND', b''))


def kitti(found):
    """Values of a disparity annotation in 1/256 px."""
    values = found['payload'].astype(np.uint32) * SCALE // found['scale']
    if values.max() > 65535:
        raise Problem('a disparity of %.1f px does not fit into 16 bits: reduce disparities or min-disparity '
                      'of cudasgm' % (values.max() / SCALE))
    return values.astype(np.uint16)


class Run:
    """One pipeline: pairs of one size and kind."""

    def __init__(self, options, pairs, lines):
        self.options, self.pairs = options, pairs
        self.names = [os.path.splitext(os.path.basename(left))[0] for left, _right in pairs]
        self.done, self.failure = 0, None
        pictures = demo.Pictures(*(list(side) for side in zip(*pairs)), fps=10)
        launch, branches = pictures.launch()
        rectify = 'cudarectify calibration=%s ! ' % demo.quote(options.calibration) \
            if options.calibration else ''
        elements = options.elements
        for name, value in (('focal-length', options.focal), ('baseline', options.baseline)):
            if value:
                elements = elements.replace('cudasgm', 'cudasgm %s=%r' % (name, value), 1)
        self.pipeline = demo.parse(' '.join([
            launch, '! %s%s ! annotationpublish location=%s ! fakesink name=last sync=false' % (
                rectify, elements, demo.quote(lines))] + branches))
        pictures.connect(self.pipeline)
        self.pipeline.get_by_name('last').get_static_pad('sink').add_probe(
            Gst.PadProbeType.BUFFER, self.write)

    def write(self, _pad, info):
        if self.failure or self.done >= len(self.names):
            return Gst.PadProbeReturn.OK
        try:
            found = roadvision.annotation(info.get_buffer(), 'RvDisparityMeta')
            if found is None:
                raise Problem('the frames have no disparity: --elements needs cudasgm')
            write_png16(os.path.join(self.options.out, 'disp_0', self.names[self.done] + '.png'),
                        kitti(found))
            self.done += 1
        except (Problem, OSError) as problem:
            self.failure = problem
        return Gst.PadProbeReturn.OK

    def play(self, show):
        bus = self.pipeline.get_bus()
        self.pipeline.set_state(Gst.State.PLAYING)
        try:
            message = None
            while message is None and not self.failure:
                message = bus.timed_pop_filtered(100 * Gst.MSECOND,
                                                 Gst.MessageType.EOS | Gst.MessageType.ERROR)
                show(self.done)
        finally:
            self.pipeline.set_state(Gst.State.NULL)
        if self.failure:
            raise self.failure
        if message.type == Gst.MessageType.ERROR:
            raise Problem(demo.error_text(message))
        if self.done != len(self.pairs):
            raise Problem('%d of %d pairs gave a result' % (self.done, len(self.pairs)))

    def write_json(self, lines):
        """One file per pair, with the names of its images."""
        with open(lines) as file:
            for (left, right), name, line in zip(self.pairs, self.names, file):
                frame = json.loads(line)
                frame['tags'] = {'left': left, 'right': right,
                                 'disparity': os.path.join('disp_0', name + '.png')}
                with open(os.path.join(self.options.out, 'json', name + '.json'), 'w') as target:
                    json.dump(frame, target)
                    target.write('\n')


def main():
    options = parse_arguments()
    Gst.init(None)
    pairs = find_pairs(options)
    for folder in ('disp_0', 'json'):
        os.makedirs(os.path.join(options.out, folder), exist_ok=True)
    progress, before = demo.Progress(), 0
    try:
        # KITTI's images have several sizes.
        for _kind, group in itertools.groupby(pairs, lambda pair: demo.picture_kind(pair[0])):
            group = list(group)
            with tempfile.TemporaryDirectory() as folder:
                lines = os.path.join(folder, 'frames.jsonl')
                run = Run(options, group, lines)
                run.play(lambda done: progress.show((before + done) / len(pairs), before + done))
                run.write_json(lines)
            before += len(group)
    finally:
        progress.end()
    print('folder_to_kitti: %d pairs: %s' % (before, options.out))


if __name__ == '__main__':
    try:
        main()
    except (Problem, OSError) as problem:
        sys.exit('folder_to_kitti: %s' % problem)
    except KeyboardInterrupt:
        sys.exit(130)
