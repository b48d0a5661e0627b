# SPDX-License-Identifier: MIT
"""The samples of train_cuts.py: scenes, the cells of their depth, what the network is shown of them, and the
labels."""
import collections
import hashlib
import os
import sys
import zipfile

import numpy as np

SEED = 1000          # of the first scene; those below are for tests and judges
HELD = 13            # every so many scenes one is held out
FRAMES = 3           # of a scene
# What a scene of number n is: each list is cycled through, the lengths have no common divisor.
LEAVES = 'leaves'  # of this program: overlapping surfaces of random shape and slope
PATTERNS = ('street', 'slanted-street', 'highway', LEAVES, 'offroad', 'obstacle-course', 'street', LEAVES,
            'planes', 'slanted-street', 'highway', LEAVES, 'noise', 'obstacle-course', 'street', LEAVES,
            'offroad')
SIZES = ((640, 480, 96), (1242, 375, 96), (640, 360, 64), (1242, 375, 120), (960, 600, 96))
DEPTHS = ('', '', 'max-lr-diff=-1 uniqueness=0 speckle-size=0', 'confidence=true', '',
          'fill=dense', 'confidence=true max-lr-diff=-1 uniqueness=0 speckle-size=0')
CELLS = ((8, 8), (4, 4), (8, 4), (8, 8))
NOISES = (2, 1, 6)   # gray levels
FULL_CONFIDENCE = 0.9  # property of cudastixels, the default when the weights of the library were trained

INPUTS = 8          # cuda/stixels/stixels_network.h

# What the samples are made of, one frame: disparity (1/16 px), weight (0: invalid), whether a cell is
# empty, [row of cells from the bottom][column]; ground (1/16 px by row); labels, [column][row].
Frame = collections.namedtuple('Frame', 'disparity weight empty ground labels')


# --- Leaves ---------------------------------------------------------------------------------------

def texture(random, size=512):
    """A picture that continues at its ends, with details of all sizes; mean 0, deviation 1."""
    spectrum = np.fft.rfft2(random.standard_normal((size, size)))
    scale = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size))
    scale[0, 0] = np.inf
    found = np.fft.irfft2(spectrum / scale ** 0.8, (size, size))
    return (found / found.std()).astype(np.float32)


def read_texture(of, x, y):
    size = of.shape[0]
    column, row = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = (x - column).astype(np.float32), (y - row).astype(np.float32)
    parts = [of[(row + j) % size, (column + k) % size] for j in (0, 1) for k in (0, 1)]
    return ((parts[0] * (1 - fx) + parts[1] * fx) * (1 - fy) +
            (parts[2] * (1 - fx) + parts[3] * fx) * fy)


class Leaf:
    """A surface of random place, shape, slope and texture; the first one fills the picture, at the back."""

    def __init__(self, random, width, height, range_px, back):
        self.x, self.y = random.uniform(0, width), random.uniform(0, height)
        self.radius = 4 * width if back else min(0.02 * width / random.uniform(0.003, 1) ** 0.5, 0.3 * width)
        stretch = np.exp(random.normal(0, 0.5))
        turn = random.uniform(0, np.pi)
        self.axes = (np.cos(turn) * stretch, np.sin(turn) * stretch, -np.sin(turn) / stretch, np.cos(turn) / stretch)
        self.bumps, self.depth, self.phase = random.integers(2, 7), random.uniform(0, 0.5), random.uniform(0, 6.3)
        self.disparity = range_px * (random.uniform(0.02, 0.3) if back else random.uniform(0.1, 0.9))
        most = 0.02 if back else 0.25 * min(1, 40 / self.radius)
        self.slope = random.uniform(-most, most), random.uniform(-most, most)
        self.at = random.uniform(0, 512, 2)
        self.scale = np.exp(random.uniform(-0.7, 0.7))
        self.gray, self.contrast = random.uniform(50, 200), np.exp(random.uniform(1, 3.7))

    def paint(self, picture, nearest, of, view):
        """Into the picture of view 0 (left) or 1, where it is nearer than what is there."""
        height, width = picture.shape
        reach = 2.5 * self.radius * max(np.hypot(*self.axes[::2]), np.hypot(*self.axes[1::2]))
        shift = view * self.disparity
        x0, x1 = (int(np.clip(self.x - shift + d, 0, width)) for d in (-reach, reach))
        y0, y1 = (int(np.clip(self.y + d, 0, height)) for d in (-reach, reach))
        y, x = np.mgrid[y0:y1, x0:x1].astype(np.float64)
        y -= self.y
        disparity = self.disparity + self.slope[1] * y
        x = (x - self.x + view * disparity) / (1 - view * self.slope[0])
        disparity += self.slope[0] * x
        u, v = self.axes[0] * x + self.axes[1] * y, self.axes[2] * x + self.axes[3] * y
        edge = self.radius * (1 + self.depth * np.sin(self.bumps * np.arctan2(v, u) + self.phase))
        near = nearest[y0:y1, x0:x1]
        seen = (np.hypot(u, v) < edge) & (disparity > near)
        near[seen] = disparity[seen]
        gray = read_texture(of, self.scale * x[seen] + self.at[0], self.scale * y[seen] + self.at[1])
        picture[y0:y1, x0:x1][seen] = self.gray + self.contrast * gray


def leaves(seed, width, height, range_px, noise):
    """Both views side by side: what a plant, a heap or a shelf is to a camera, where no street is."""
    random = np.random.Generator(np.random.PCG64(seed))
    of = texture(random)
    all_leaves = [Leaf(random, width, height, range_px, k == 0) for k in range(1 + random.integers(40, 300))]
    views = []
    for view in (0, 1):
        picture, nearest = np.zeros((height, width)), np.full((height, width), 0.25)
        for leaf in all_leaves:
            leaf.paint(picture, nearest, of, view)
        views.append(picture + random.normal(0, noise, picture.shape))
    return np.clip(np.concatenate(views, axis=1) + 0.5, 0, 255).astype(np.uint8)


# --- Scenes ---------------------------------------------------------------------------------------

def blocks(plane, width, step):
    """[row of cells from the bottom][column][pixel of the cell], absent pixels -1."""
    rows, columns = -(-plane.shape[0] // step), -(-plane.shape[1] // width)
    full = np.full((rows * step, columns * width), -1, np.int64)
    full[rows * step - plane.shape[0]:, :plane.shape[1]] = plane
    cells = full.reshape(rows, step, columns, width).transpose(0, 2, 1, 3)
    return cells.reshape(rows, columns, step * width)[::-1]


def confidences(confidence):
    """As rv_stixels_confidence_weight."""
    scaled = (confidence.astype(np.int64) * int(256 / FULL_CONFIDENCE + 0.5) + 128) >> 8
    return np.where(confidence > 0, np.clip(scaled, 204, 255), 0)


def cells_of(disparity, confidence, width, step, most):
    """Disparity (1/16 px), weight and `empty` of each cell, [row][column], before one view."""
    d = blocks(disparity, width, step)
    c = np.where(d > 0, 255 if confidence is None else
                 blocks(confidences(confidence), width, step), 0)
    here, valid = (d >= 0).sum(axis=2), (d > 0).sum(axis=2)
    total = np.maximum(c.sum(axis=2), 1)
    middle = (c * d).sum(axis=2) // total
    span = d.max(axis=2) - np.where(d > 0, d, 1 << 20).min(axis=2)
    near = (d > middle[..., None]) & (d > 0)
    many = 2 * near.sum(axis=2) >= valid
    chosen = np.where((span > max(32, 8 * step))[..., None],
                      np.where(many[..., None], near, (d > 0) & ~near), d > 0)
    n, weight, product = chosen.sum(axis=2), (c * chosen).sum(axis=2), (c * d * chosen).sum(axis=2)
    known = (4 * valid >= here) & (weight > 0)
    mean = (2 * weight + n) // np.maximum(2 * n, 1)
    mean = np.where(2 * valid < here, 2 * mean * valid // np.maximum(here, 1), mean)
    result = np.where(known, np.minimum((2 * product + weight) // np.maximum(2 * weight, 1), 16 * most), 0)
    return result, np.where(known, (mean * mean + 127) // 255, 0), ~known & (8 * valid <= here)


def fill_one_view(disparity, weight, empty, width):
    """The cells that only the left view sees (stixels.h), in place."""
    columns = disparity.shape[1]
    known = weight > 0
    x = np.arange(columns)
    left = np.maximum.accumulate(np.where(known, x, -1), axis=1)
    right = np.minimum.accumulate(np.where(known, x, columns)[:, ::-1], axis=1)[:, ::-1]
    rows = np.arange(disparity.shape[0])[:, None]
    d_left = np.where(left >= 0, disparity[rows, np.maximum(left, 0)], 0)
    d_right = np.where(right < columns, disparity[rows, np.minimum(right, columns - 1)], 0)
    hidden = ~known & (right < columns) & (16 * (right - left - 2) * width <= d_right - d_left)
    disparity[hidden] = np.where(left >= 0, d_left, d_right)[hidden]
    weight[hidden] = 255
    empty &= ~hidden


def inputs_of(disparity, weight, empty, ground):
    """The channels of rv_stixels_network_input, [column][channel][row]; ground: 1/16 px by row."""
    rows, columns = disparity.shape
    above, below = np.zeros((rows, columns), int), np.zeros((rows, columns), int)
    last = np.zeros(columns, int)
    for v in range(rows):
        below[v] = last
        last = np.where(weight[v] > 0, np.maximum(disparity[v], 1), last)
    last = np.zeros(columns, int)
    for v in range(rows - 1, -1, -1):
        last = np.where(weight[v] > 0, np.maximum(disparity[v], 1), last)
        above[v] = last
    both, some = (above > 0) & (below > 0), above > 0
    jump, lift = above - below, above - ground[:, None]
    channels = (np.where(both, np.clip(64 + jump, 1, 127), 0),
                np.where(both, np.clip(64 + (jump >> 3), 1, 127), 0),
                weight >> 1, np.where(empty, 127, 0), np.minimum(above >> 4, 127),
                np.minimum(above, 127), np.where(some, np.clip(64 + (lift >> 1), 1, 127), 0),
                np.full((rows, columns), 127))
    return np.stack(channels).transpose(2, 0, 1).astype(np.uint8)


def labels_of(meta, rows):
    """1 where a stixel begins, [column][row]."""
    list_of = meta['payload']
    found = np.zeros((-(-meta['width'] // meta['stixel-width']), rows), np.uint8)
    found[list_of['column'] // meta['stixel-width'],
          (meta['height'] - 1 - list_of['v_bottom'].astype(int)) // meta['vertical-step']] = 1
    return found


def frame_of(annotations):
    """The Frame of a buffer."""
    depth, meta = annotations['RvDisparityMeta'], annotations['RvStixelsMeta']
    width, step = meta['stixel-width'], meta['vertical-step']
    most = depth['min-disparity'] + depth['disparities']
    disparity, weight, empty = cells_of(depth['payload'], depth.get('confidence'), width, step, most)
    fill_one_view(disparity, weight, empty, width)
    rows = disparity.shape[0]
    y = meta['height'] - (step + 1) / 2 - np.arange(rows) * step
    ground = np.floor((meta['ground-slope'] * y + meta['ground-intercept']) * 16 + 0.5).astype(int)
    return Frame(disparity.astype(np.uint16), weight.astype(np.uint8), empty,
                 np.clip(ground, -(1 << 14), 32767).astype(np.int16), labels_of(meta, rows))


def sample_of(frame):
    """(inputs, labels) of a Frame, [column]..."""
    disparity, weight, empty, ground = (a.astype(int) for a in frame[:4])
    return inputs_of(disparity, weight, empty > 0, ground), frame.labels


def scene_of(number):
    """(pattern, width, height, search range, cells, noise, options of cudasgm)."""
    return (PATTERNS[number % len(PATTERNS)], *SIZES[number % len(SIZES)], CELLS[number % len(CELLS)],
            NOISES[number % len(NOISES)], DEPTHS[number % len(DEPTHS)])


def line_of(number, engine):
    pattern, width, height, range_px, cell, noise, depth = scene_of(number)
    source = ('stereotestsrc pattern=%s seed=%d max-disparity=%d noise=%d truth=false num-buffers=%d ! '
              'video/x-raw,width=%d,height=%d,framerate=1/1'
              % (pattern, SEED + number, range_px, noise, FRAMES, 2 * width, height))
    if pattern == LEAVES:
        source = ('appsrc name=first format=time caps=video/x-raw,format=GRAY8,width=%d,height=%d,framerate=1/1'
                  % (2 * width, height))
    return ('%s ! cudasgm engine=%s %s ! cudastixels engine=%s model=slanted cuts=all refine=false '
            'full-confidence=%g stixel-width=%d vertical-step=%d ! fakesink name=last'
            % (source, engine, depth, engine, FULL_CONFIDENCE, *cell))


def push_leaves(source, number, Gst):
    _pattern, width, height, range_px, _cell, noise, _depth = scene_of(number)
    for k in range(FRAMES):
        buffer = Gst.Buffer.new_wrapped(
            leaves([SEED + number, k], width, height, range_px, noise).tobytes())
        buffer.pts = k * Gst.SECOND
        source.emit('push-buffer', buffer)
    source.emit('end-of-stream')


def render(number, engine):
    """The frames of a scene."""
    try:
        import roadvision
    except ImportError:
        import in_tree  # noqa: F401  a checkout: starts this again through run.sh
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    frames = []

    def take(_pad, info):
        frames.append(frame_of(roadvision.annotations(info.get_buffer())))
        return Gst.PadProbeReturn.OK

    pipeline = Gst.parse_launch(line_of(number, engine))
    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, take)
    pipeline.set_state(Gst.State.PLAYING)
    if pipeline.get_by_name('first'):
        push_leaves(pipeline.get_by_name('first'), number, Gst)
    message = pipeline.get_bus().timed_pop_filtered(
        600 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        sys.exit('train_cuts: %s' % (message.parse_error()[0].message if message else 'no end'))
    return frames


def scenes(count, cache, engine):
    """The frames of every scene; those that `cache` has are read from there."""
    found = []
    for number in range(count):
        key = hashlib.sha256(line_of(number, '').encode() + b'%d' % number).hexdigest()[:16]
        path = os.path.join(cache, key + '.npz') if cache else ''
        if cache and os.path.exists(path):
            with np.load(path) as stored:
                frames = unpack(stored)[0]
        else:
            frames = render(number, engine)
            if cache:
                os.makedirs(cache, exist_ok=True)
                np.savez_compressed('%s.%d.part.npz' % (path, os.getpid()), **pack([frames]))
                os.rename('%s.%d.part.npz' % (path, os.getpid()), path)
        found.append(frames)
        print('\rscene %d of %d' % (number + 1, count), end='', file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def pack(found):
    """The frames of all scenes as few arrays, for one compressed file."""
    frames = [f for of in found for f in of]

    def flat(name):
        return np.concatenate([getattr(f, name).ravel() for f in frames])
    return {'scenes': np.array([len(of) for of in found]),
            'shapes': np.array([f.disparity.shape for f in frames]),
            'low': (flat('disparity') & 255).astype(np.uint8), 'high': (flat('disparity') >> 8).astype(np.uint8),
            'weight': flat('weight'), 'empty': np.packbits(flat('empty')), 'ground': flat('ground'),
            'labels': np.packbits(flat('labels'))}


def unpack(stored):
    """The frames of every scene; the reverse of pack."""
    disparity = stored['low'] | stored['high'].astype(np.uint16) << 8
    weight, ground = stored['weight'], stored['ground']
    empty, labels = np.unpackbits(stored['empty']) > 0, np.unpackbits(stored['labels'])
    frames, at, row = [], 0, 0
    for rows, columns in stored['shapes']:
        part, shape = slice(at, at + rows * columns), (rows, columns)
        frames.append(Frame(disparity[part].reshape(shape), weight[part].reshape(shape),
                            empty[part].reshape(shape), ground[row:row + rows],
                            labels[part].reshape(columns, rows)))
        at, row = at + rows * columns, row + rows
    ends = np.cumsum(stored['scenes'])
    return [frames[end - count:end] for count, end in zip(stored['scenes'], ends)]


def save_cells(path, arrays):
    """As np.savez_compressed, smaller."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_LZMA) as file:
        for name, values in arrays.items():
            with file.open(name + '.npy', 'w', force_zip64=True) as member:
                np.lib.format.write_array(member, values)
