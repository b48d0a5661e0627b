#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes the images of the gallery: the left view next to the same with its depth.

  examples/run.sh docs/gallery/make.py [FOLDER [NAME...]]

Written with 256 colors each, so that a repository can hold them.
"""
import os
import struct
import sys
import zlib

import cv2
import gi
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', name) for name in ('examples', 'tools')]
import roadvision  # noqa: E402

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

WIDTH, HEIGHT = 480, 360  # px of one panel

# name: (properties of stereotestsrc, second of the drive, elements between matching and drawing,
# properties of cudaannotate)
PICTURES = {
    'street': ('pattern=street', 2, '', ''),
    'slanted-street': ('pattern=slanted-street', 1, '', ''),
    'offroad': ('pattern=offroad', 4, '', ''),
    'planes': ('pattern=planes', 0, '', ''),
    'segments': ('pattern=street', 2, 'cudardp epsilon=2 !', ''),
    'stixels': ('pattern=slanted-street', 1, 'cudastixels !', ''),
    'stixels-class': ('pattern=slanted-street semantics=true', 1,
                      'cudastixels semantic-classes=gggooooos !', 'stixel-colors=class'),
    'road': ('pattern=offroad', 7, 'cudaroaddetect !', ''),
    'obstacles': ('pattern=street', 2, 'cudaobstacles !', 'show=space+obstacles+bird'),
    'lines': ('pattern=street', 2,
              'cudahough segments=true direction=8 threshold=35 min-theta=15 max-theta=165 '
              'min-length=30 max-gap=8 !', 'show=lines thickness=4'),
}


def last_of(pad, frames):
    """Fills `frames` with the newest picture that passes the pad."""
    def probe(pad, info):
        frames[:] = [roadvision.picture(info.get_buffer(), pad.get_current_caps())[:, :, :3]]
        return Gst.PadProbeReturn.OK
    pad.add_probe(Gst.PadProbeType.BUFFER, probe)


def panels(properties, second, between, drawing):
    pipeline = Gst.parse_launch(
        'stereotestsrc num-buffers=%d %s ! video/x-raw,format=BGRx,width=1280,height=480,framerate=1/1 ! '
        'cudasgm name=sgm ! %s cudaannotate %s name=draw ! fakesink'
        % (second + 1, properties, between, drawing))
    plain, drawn = [], []
    last_of(pipeline.get_by_name('sgm').get_static_pad('src'), plain)
    last_of(pipeline.get_by_name('draw').get_static_pad('src'), drawn)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        300 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR or not drawn:
        sys.exit('make: no picture of %s' % properties)
    return [cv2.resize(frames[0], (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
            for frames in (plain, drawn)]


def palette(picture, colors=256):
    """(colors, index per pixel) by k-means on a fixed subset, the same on every run."""
    cv2.setRNGSeed(1)
    pixels = picture.reshape(-1, 3).astype(np.float32)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 0.5)
    _error, _labels, centers = cv2.kmeans(pixels[::23].copy(), colors, None, stop, 1,
                                          cv2.KMEANS_PP_CENTERS)
    nearest = np.concatenate([((part[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
                              for part in np.array_split(pixels, 64)])
    return np.rint(centers).astype(np.uint8), nearest.reshape(picture.shape[:2]).astype(np.uint8)


def write_indexed_png(path, picture):
    colors, index = palette(picture)
    height, width = index.shape
    rows = np.hstack([np.zeros((height, 1), np.uint8), index]).tobytes()  # filter 0 in each row

    def chunk(kind, data):
        return (struct.pack('>I', len(data)) + kind + data
                + struct.pack('>I', zlib.crc32(kind + data)))
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n'
                   + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 3, 0, 0, 0))
                   + chunk(b'PLTE', colors[:, ::-1].tobytes())  # BGR -> RGB
                   + chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


def main():
    Gst.init(None)
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    for name in sys.argv[2:] or PICTURES:
        path = os.path.join(folder, name + '.png')
        write_indexed_png(path, np.hstack(panels(*PICTURES[name])))
        print('%s: %d bytes' % (path, os.path.getsize(path)))


if __name__ == '__main__':
    main()
