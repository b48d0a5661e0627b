#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains the network of `cudastixels cuts=network`, from nothing: rendered streets are matched by
cudasgm, the exact stixels of that depth (model=slanted cuts=all) are the labels, and what is learnt
is where they begin. No picture of a camera takes part.

  examples/run.sh examples/train_cuts.py --out cuts.rvcuts --curve curve.txt
  examples/run.sh examples/train_cuts.py --frames 24 --epochs 3        a quick try
  examples/run.sh examples/train_cuts.py --save-cells cells.npz        renders only
  examples/train_cuts.py --cells cells.npz --device cuda               trains only

needs PyTorch (Debian: python3-torch) beside what the other examples need, and takes a quarter of an
hour on two cores. The machine that trains needs PyTorch and numpy alone: it can read what another one
has rendered. The file is what the property cuts-location reads; `--array` writes it as the C array
that the library carries. The same seeds give the same pictures and labels; weights can differ in
the last digits between versions of PyTorch.

The network, its input and its numbers are those of cuda/stixels/stixels_network.h. It is trained
with its rounding: weights of 8 bits, activations of 7, in steps of powers of two.
"""
import argparse
import hashlib
import os
import struct
import sys

import numpy as np

SEED = 1000          # of the first scene; those below are for tests and judges
HELD = 13            # every so many scenes one is held out
FRAMES = 3           # of a scene
# What a scene of number n is: each list is cycled through, the lengths have no common divisor.
PATTERNS = ('street', 'slanted-street', 'highway', 'offroad', 'obstacle-course', 'street', 'planes',
            'slanted-street', 'highway', 'noise', 'obstacle-course')
SIZES = ((640, 480, 96), (1242, 375, 96), (640, 360, 64), (1242, 375, 120), (960, 600, 96))
DEPTHS = ('', '', 'max-lr-diff=-1 uniqueness=0 speckle-size=0', 'confidence=true', '',
          'fill=dense', 'confidence=true max-lr-diff=-1 uniqueness=0 speckle-size=0')
CELLS = ((8, 8), (4, 4), (8, 4), (8, 8))
NOISES = (2, 1, 6)   # gray levels

# cuda/stixels/stixels_network.h
CHANNELS = 16
INPUTS = 8
LAYERS = ((5, 1, INPUTS, CHANNELS), (1, 1, CHANNELS, CHANNELS),  # rows, dilation, in, out
          (5, 2, CHANNELS, CHANNELS), (1, 1, CHANNELS, CHANNELS),
          (5, 3, CHANNELS, CHANNELS), (1, 1, CHANNELS, CHANNELS), (1, 1, CHANNELS, 1))
IN_BITS, ACT_BITS, SCORE_BITS = 6, 5, 4  # an input of 64, an activation of 32, a score of 16 is 1.0
MAGIC, VERSION = b'RVCUTNET', 1


# --- Scenes ---------------------------------------------------------------------------------------

def blocks(plane, width, step):
    """[row of cells from the bottom][column][pixel of the cell], absent pixels -1."""
    rows, columns = -(-plane.shape[0] // step), -(-plane.shape[1] // width)
    full = np.full((rows * step, columns * width), -1, np.int64)
    full[rows * step - plane.shape[0]:, :plane.shape[1]] = plane
    cells = full.reshape(rows, step, columns, width).transpose(0, 2, 1, 3)
    return cells.reshape(rows, columns, step * width)[::-1]


def confidences(confidence):
    """As rv_stixels_confidence_weight with the default parameters."""
    scaled = (confidence.astype(np.int64) * 284 + 128) >> 8
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


def sample_of(annotations):
    """(inputs, labels) of one frame."""
    depth, meta = annotations['RvDisparityMeta'], annotations['RvStixelsMeta']
    width, step = meta['stixel-width'], meta['vertical-step']
    most = depth['min-disparity'] + depth['disparities']
    cells = cells_of(depth['payload'], depth.get('confidence'), width, step, most)
    fill_one_view(*cells, width)
    rows = cells[0].shape[0]
    y = meta['height'] - (step + 1) / 2 - np.arange(rows) * step
    ground = np.floor((meta['ground-slope'] * y + meta['ground-intercept']) * 16 + 0.5).astype(int)
    return inputs_of(*cells, np.clip(ground, -(1 << 14), 1 << 15)), labels_of(meta, rows)


def line_of(number, engine):
    pattern = PATTERNS[number % len(PATTERNS)]
    width, height, range_px = SIZES[number % len(SIZES)]
    cell = CELLS[number % len(CELLS)]
    return ('stereotestsrc pattern=%s seed=%d max-disparity=%d noise=%d truth=false num-buffers=%d ! '
            'video/x-raw,width=%d,height=%d,framerate=1/1 ! cudasgm engine=%s %s ! '
            'cudastixels engine=%s model=slanted cuts=all refine=false stixel-width=%d '
            'vertical-step=%d ! fakesink name=last'
            % (pattern, SEED + number, range_px, NOISES[number % len(NOISES)], FRAMES, 2 * width,
               height, engine,
               DEPTHS[number % len(DEPTHS)], engine, *cell))


def render(number, engine):
    """The samples of a scene."""
    try:
        import roadvision
    except ImportError:
        import in_tree  # noqa: F401  a checkout: starts this again through run.sh
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    samples = []

    def take(_pad, info):
        samples.append(sample_of(roadvision.annotations(info.get_buffer())))
        return Gst.PadProbeReturn.OK

    pipeline = Gst.parse_launch(line_of(number, engine))
    pipeline.get_by_name('last').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, take)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        600 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        sys.exit('train_cuts: %s' % (message.parse_error()[0].message if message else 'no end'))
    return samples


def scenes(count, cache, engine):
    """The samples of every scene; those that `cache` has are read from there."""
    found = []
    for number in range(count):
        key = hashlib.sha256(line_of(number, '').encode()).hexdigest()[:16]
        path = os.path.join(cache, key + '.npz') if cache else ''
        if cache and os.path.exists(path):
            with np.load(path) as stored:
                samples = [(stored['x%d' % k], stored['y%d' % k]) for k in range(len(stored) // 2)]
        else:
            samples = render(number, engine)
            if cache:
                os.makedirs(cache, exist_ok=True)
                np.savez_compressed(path + '.part.npz', **{n + str(k): a for k, s in enumerate(samples)
                                                           for n, a in zip('xy', s)})
                os.rename(path + '.part.npz', path)
        found.append(samples)
        print('\rscene %d of %d' % (number + 1, count), end='', file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def pack(found):
    """The samples of all scenes as few arrays, for one compressed file."""
    samples = [s for of in found for s in of]
    return {'scenes': np.array([len(of) for of in found]),
            'shapes': np.array([x.shape for x, _y in samples]),
            'inputs': np.concatenate([x.transpose(1, 0, 2).reshape(INPUTS, -1) for x, _y in samples], axis=1),
            'labels': np.packbits(np.concatenate([y.ravel() for _x, y in samples]))}


def unpack(stored):
    """The samples of every scene; the reverse of pack."""
    inputs, shapes = stored['inputs'], stored['shapes']
    labels = np.unpackbits(stored['labels'])
    samples, at = [], 0
    for columns, count, rows in shapes:
        end = at + columns * rows
        samples.append((np.ascontiguousarray(
            inputs[:, at:end].reshape(count, columns, rows).transpose(1, 0, 2)),
            labels[at:end].reshape(columns, rows)))
        at = end
    ends = np.cumsum(stored['scenes'])
    return [samples[end - count:end] for count, end in zip(stored['scenes'], ends)]


# --- Training -------------------------------------------------------------------------------------

def make_network(torch):
    class Round(torch.autograd.Function):
        """Rounds; the gradient passes."""
        @staticmethod
        def forward(_context, x):
            return torch.floor(x + 0.5)

        @staticmethod
        def backward(_context, gradient):
            return gradient

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(
                torch.nn.Conv1d(count, out, rows, dilation=dilation, padding=rows // 2 * dilation)
                for rows, dilation, count, out in LAYERS)
            for layer in self.layers:
                torch.nn.init.kaiming_normal_(layer.weight, nonlinearity='relu')
                torch.nn.init.zeros_(layer.bias)
            self.quantized = False

        def shift(self, index):
            """Bits of the weights of a layer: as many as its largest weight leaves."""
            most = float(self.layers[index].weight.detach().abs().max())
            return int(np.clip(np.floor(np.log2(127 / max(most, 1e-6))), 0, 12))

        def integers(self, index):
            """(weights, bias, shift) of a layer, as the library has them."""
            layer, bits = self.layers[index], self.shift(index)
            into = IN_BITS if index == 0 else ACT_BITS
            out = SCORE_BITS if index == len(LAYERS) - 1 else ACT_BITS
            weight = torch.clamp(torch.floor(layer.weight.detach() * 2 ** bits + 0.5), -127, 127)
            bias = torch.floor(layer.bias.detach() * 2 ** (bits + into) + 0.5)
            return (weight.cpu().numpy().astype(np.int8),
                    torch.clamp(bias, -2 ** 24, 2 ** 24).cpu().numpy().astype(np.int32),
                    bits + into - out)

        def forward(self, x):
            x = x / 2 ** IN_BITS
            for index, layer in enumerate(self.layers):
                weight = layer.weight
                if self.quantized:
                    unit = 2.0 ** self.shift(index)
                    weight = torch.clamp(Round.apply(weight * unit), -127, 127) / unit
                x = torch.nn.functional.conv1d(x, weight, layer.bias, padding=layer.padding,
                                               dilation=layer.dilation)
                if index == len(LAYERS) - 1:
                    return x[:, 0]
                x = torch.clamp(x, 0, 127 / 2 ** ACT_BITS)
                if self.quantized:
                    x = Round.apply(x * 2 ** ACT_BITS) / 2 ** ACT_BITS
            return x

    return Network()


def run_integers(layers, x, to=np.asarray):
    """Scores of columns in integers, [column][channel][row] -> [column][row], as the library. Sums
    are made of doubles, which are exact here; `to` moves an array to where that is fast."""
    x = to(x.astype(np.float64))
    for index, (weight, bias, shift) in enumerate(layers):
        rows, dilation = LAYERS[index][:2]
        start = bias + (1 << shift >> 1)
        total = to(np.zeros((x.shape[0], weight.shape[0], x.shape[2])) + start[:, None])
        for tap in range(rows):
            by = (tap - rows // 2) * dilation
            first, end = max(0, -by), x.shape[2] - max(0, by)
            total[:, :, first:end] += (to(weight[:, :, tap].astype(np.float64))
                                       @ x[:, :, first + by:end + by])
        last = index == len(layers) - 1
        x = (total // (1 << shift)).clip(-128 if last else 0, 127)
    return np.asarray(x[:, 0].cpu() if hasattr(x, 'cpu') else x[:, 0]).astype(np.int64)


def limits_of(scores, most):
    """The lowest score by column that allows at most `most` percent of its rows."""
    budget = max((scores.shape[1] + 1) * most // 100, 1)  # `scores` has no row 0
    if budget >= scores.shape[1]:
        return np.full((len(scores), 1), -128)
    return -np.sort(-scores, axis=1)[:, budget:budget + 1] + 1


def scored(layers, samples, most, device):
    """(score, its lowest cut by column, whether it is a label) of all rows that may be cuts."""
    import torch
    found = []
    for x, y in samples:
        scores = run_integers(layers, x, lambda a: torch.from_numpy(a).to(device))[:, 1:]
        found.append((scores, limits_of(scores, most), y[:, 1:] > 0))
    return found


def judge(scored_samples, allowed):
    """For each threshold of `allowed` the share of boundaries that are cuts, and of the labels that
    are among them, mean over frames."""
    rows = []
    for scores, least, label in scored_samples:
        cuts = [scores >= np.maximum(least, t) for t in allowed]
        rows.append([[c.mean(), c[label].mean() if label.any() else 1.0] for c in cuts])
    return np.mean(rows, axis=0)


def threshold_for(scored_samples, density):
    """The lowest threshold that allows at most this share of the boundaries."""
    steps = list(range(-128, 128))
    shares = judge(scored_samples, steps)[:, 0]
    return steps[int(np.argmax(shares <= density))]


def train(samples, held, options):
    import torch
    torch.manual_seed(options.seed)
    random = np.random.Generator(np.random.PCG64(options.seed))
    device = torch.device(options.device)
    network = make_network(torch).to(device)
    groups = {}
    for x, y in samples:
        groups.setdefault(x.shape[2], []).append((x, y))
    groups = [tuple(np.concatenate(part) for part in zip(*of)) for of in groups.values()]
    share = np.mean([y[:, 1:].mean() for _x, y in samples])
    balance = float(np.sqrt((1 - share) / share))
    batches = [(k, at) for k, (x, _y) in enumerate(groups) for at in range(0, len(x), options.batch)]
    optimizer = torch.optim.Adam(network.parameters(), lr=options.rate)
    steps, step = options.epochs * len(batches), 0
    curve = []
    print('labels: %.2f %% of the boundaries; weight of a cut %.2f; %d columns in %d batches'
          % (100 * share, balance, sum(len(x) for x, _y in groups), len(batches)))
    for epoch in range(options.epochs):
        network.quantized = 3 * epoch >= options.epochs
        order = [random.permutation(len(x)) for x, _y in groups]
        loss_sum = 0.0
        for number in random.permutation(len(batches)):
            k, at = batches[number]
            chosen = np.sort(order[k][at:at + options.batch])
            x = torch.from_numpy(groups[k][0][chosen]).to(device).float()
            y = torch.from_numpy(groups[k][1][chosen]).to(device).float()[:, 1:]
            for group in optimizer.param_groups:
                group['lr'] = options.rate * 0.5 * (1 + np.cos(np.pi * step / steps)) + 1e-5
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                network(x)[:, 1:], y, pos_weight=torch.tensor(balance, device=device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += float(loss)
            step += 1
        judged = scored([network.integers(k) for k in range(len(LAYERS))], held, options.most,
                        options.device)
        threshold = threshold_for(judged, options.density)
        density, recall = judge(judged, [threshold])[0]
        row = (epoch + 1, loss_sum / len(batches), threshold, 100 * density, 100 * recall)
        curve.append(row)
        print('epoch %3d  loss %.4f  threshold %4d  density %5.2f %%  labels among the cuts %6.2f %%'
              % row, flush=True)
    with torch.no_grad():  # log odds without the balance of the loss
        network.layers[-1].bias -= float(np.log(balance))
    return [network.integers(k) for k in range(len(LAYERS))], curve


# --- Files ----------------------------------------------------------------------------------------

def encode(layers, threshold, most):
    """The file that rv_stixels_network_read reads."""
    data = MAGIC + struct.pack('<III', VERSION, INPUTS, len(LAYERS))
    for (rows, dilation, count, out), (weight, bias, shift) in zip(LAYERS, layers):
        data += struct.pack('<IIIII', rows, dilation, count, out, shift)
        data += weight.transpose(0, 2, 1).tobytes()  # [out][tap][in]
        data += bias.astype('<i4').tobytes()
    return data + struct.pack('<iI', threshold, most)


def write_array(path, data):
    lines = [', '.join('%d' % b for b in data[at:at + 24]) for at in range(0, len(data), 24)]
    with open(path, 'w') as file:
        file.write('/* SPDX-License-Identifier: MIT */\n'
                   '/* stixels_network_weights.c: the weights of cuts=network, written by '
                   'examples/train_cuts.py. */\n'
                   '#include "stixels/stixels_network.h"\n\n'
                   '/* clang-format off */\n'
                   'const uint8_t rv_stixels_network_weights[RV_STIXELS_NETWORK_BYTES] = {\n  '
                   + ',\n  '.join(lines) + '};\n')


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', default='cuts.rvcuts', help='file of weights (%(default)s)')
    parser.add_argument('--array', metavar='FILE', help='the same as C source')
    parser.add_argument('--curve', metavar='FILE', help='loss, density and recall by epoch')
    parser.add_argument('--cache', metavar='FOLDER', help='keeps the rendered samples')
    parser.add_argument('--save-cells', metavar='FILE', help='renders, writes all samples, ends')
    parser.add_argument('--cells', metavar='FILE', help='reads them, renders nothing')
    parser.add_argument('--frames', type=int, default=780, help='rendered frames (%(default)s)')
    parser.add_argument('--epochs', type=int, default=24, help='(%(default)s)')
    parser.add_argument('--batch', type=int, default=512, help='columns (%(default)s)')
    parser.add_argument('--rate', type=float, default=4e-3, help='of Adam, at first (%(default)s)')
    parser.add_argument('--most', type=int, default=30,
                        help='percent of the rows of a column that can be cuts (%(default)s)')
    parser.add_argument('--density', type=float, default=0.2,
                        help='allowed share of the boundaries of held-out scenes (%(default)s)')
    parser.add_argument('--device', default='cpu', help='of PyTorch: cpu or cuda (%(default)s)')
    parser.add_argument('--engine', default='auto', help='of the elements (%(default)s)')
    parser.add_argument('--seed', type=int, default=SEED, help='of the training (%(default)s)')
    parser.add_argument('--threads', type=int, default=0, help='of PyTorch, 0: its own choice')
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not options.save_cells:
        import torch
        if options.threads:
            torch.set_num_threads(options.threads)
    if options.cells:
        with np.load(options.cells) as stored:
            found = unpack(stored)
    else:
        found = scenes(max(options.frames // FRAMES, HELD), options.cache, options.engine)
    if options.save_cells:
        np.savez_compressed(options.save_cells, **pack(found))
        return
    samples = [s for k, of in enumerate(found) if k % HELD != HELD - 1 for s in of]
    held = [s for k, of in enumerate(found) if k % HELD == HELD - 1 for s in of]
    layers, curve = train(samples, held, options)
    judged = scored(layers, held, options.most, options.device)
    threshold = threshold_for(judged, options.density)
    data = encode(layers, threshold, options.most)
    with open(options.out, 'wb') as file:
        file.write(data)
    if options.array:
        write_array(options.array, data)
    if options.curve:
        with open(options.curve, 'w') as file:
            file.write('epoch loss threshold density recall\n')
            file.writelines('%d %.4f %d %.2f %.2f\n' % row for row in curve)
    print('%s: %d bytes, threshold %d' % (options.out, len(data), threshold))
    for wanted in (0.1, 0.15, 0.2, 0.25, 0.3, 0.35):
        density, recall = judge(judged, [threshold_for(judged, wanted)])[0]
        print('held-out scenes: density %5.2f %%, labels among the cuts %6.2f %%'
              % (100 * density, 100 * recall))


if __name__ == '__main__':
    main()
