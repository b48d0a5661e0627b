#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains the network of `cudastixels cuts=network`, from nothing: rendered pictures are matched by
cudasgm, the exact stixels of that depth (model=slanted cuts=all) are the labels, and what is learned
is where they begin. No picture of a camera takes part.

  examples/run.sh examples/train_cuts.py --save-cells cells.npz        renders only
  examples/train_cuts.py --cells cells.npz --device cuda               trains only, as for the library
  examples/run.sh examples/train_cuts.py --out cuts.rvcuts --curve curve.txt   both, on the CPU
  examples/run.sh examples/train_cuts.py --frames 24 --steps 200 --networks 1  a quick try

needs PyTorch (Debian: python3-torch) in addition to what the other examples need. A GPU trains in two minutes, two
cores in more than an hour; scenes take ten minutes of one core. The machine that trains needs PyTorch
and numpy alone, this file and cuts_samples.py: it can read what another one has rendered. The file is
what the property cuts-location reads; `--array` writes it as the C array that the library carries. The same
seeds give the same pictures and labels; the same seed, version of PyTorch and kind of device give the same
weights.

The network, its input and its numbers are those of cuda/stixels/stixels_network.h. It is trained
with its rounding: weights of 8 bits, activations of 7, in steps of powers of two.
"""
import argparse
import copy
import hashlib
import os
import struct
import time

import numpy as np

from cuts_samples import (FRAMES, HELD, INPUTS, LEAVES, PATTERNS, SEED, pack, sample_of, save_cells, scenes,
                          unpack)

# cuda/stixels/stixels_network.h
CHANNELS = 16
LAYERS = ((5, 1, INPUTS, CHANNELS), (1, 1, CHANNELS, CHANNELS),  # rows, dilation, in, out
          (5, 2, CHANNELS, CHANNELS), (1, 1, CHANNELS, CHANNELS),
          (5, 3, CHANNELS, CHANNELS), (1, 1, CHANNELS, CHANNELS), (1, 1, CHANNELS, 1))
IN_BITS, ACT_BITS, SCORE_BITS = 6, 5, 4  # an input of 64, an activation of 32, a score of 16 is 1.0
MAGIC, VERSION = b'RVCUTNET', 1
FEW = 14  # cuts that any column may have
PARTS = 24  # the curve has a point after each part of the steps


# --- Training -------------------------------------------------------------------------------------

def make_networks(torch, seed, count):
    class Round(torch.autograd.Function):
        """Rounds; the gradient passes."""
        @staticmethod
        def forward(_context, x):
            return torch.floor(x + 0.5)

        @staticmethod
        def backward(_context, gradient):
            return gradient

    class Networks(torch.nn.Module):
        """Several networks, side by side in each array: small ones do not fill a GPU."""

        def __init__(self):
            super().__init__()
            random = torch.Generator().manual_seed(seed)
            self.weights = torch.nn.ParameterList(
                torch.randn(count, out, rows * into, generator=random) * (2 / (rows * into)) ** 0.5
                for rows, _dilation, into, out in LAYERS)  # [network][output][row][input]
            self.biases = torch.nn.ParameterList(torch.zeros(count, out, 1) for *_shape, out in LAYERS)
            self.quantized = False

        def units(self, index):
            """Weights of a layer are integers of 8 bits over this power of two, by network: as many bits as the
            largest weight leaves."""
            most = self.weights[index].detach().abs().amax((1, 2), keepdim=True)
            return 2.0 ** torch.floor(torch.log2(127 / most.clamp(min=1e-6))).clamp(0, 12)

        def integers(self, network):
            """(weights, bias, shift) of the layers of a network, as the library has them."""
            found = []
            for index, (rows, _dilation, into, out) in enumerate(LAYERS):
                unit = float(self.units(index)[network])
                bits = int(np.log2(unit)) + (IN_BITS if index == 0 else ACT_BITS)
                weight = torch.clamp(torch.floor(self.weights[index].detach()[network] * unit + 0.5), -127, 127)
                bias = torch.floor(self.biases[index].detach()[network, :, 0] * 2 ** bits + 0.5)
                found.append((weight.cpu().numpy().astype(np.int8).reshape(out, rows, into).transpose(0, 2, 1),
                              torch.clamp(bias, -2 ** 24, 2 ** 24).cpu().numpy().astype(np.int32),
                              bits - (SCORE_BITS if index == len(LAYERS) - 1 else ACT_BITS)))
            return found

        def forward(self, x):
            """[network][channel][column][row] -> scores, [network][column][row]."""
            shape, x = x.shape[2:], x / 2 ** IN_BITS
            for index, (rows, dilation, _into, _out) in enumerate(LAYERS):
                weight, reach = self.weights[index], rows // 2 * dilation
                if self.quantized:
                    unit = self.units(index)
                    weight = torch.clamp(Round.apply(weight * unit), -127, 127) / unit
                wide = torch.nn.functional.pad(x, (reach, reach))
                taps = torch.cat([wide[..., k * dilation:k * dilation + shape[1]] for k in range(rows)], 1)
                x = torch.baddbmm(self.biases[index], weight, taps.flatten(2)).unflatten(2, shape)
                if index == len(LAYERS) - 1:
                    return x[:, 0]
                x = torch.clamp(x, 0, 127 / 2 ** ACT_BITS)
                if self.quantized:
                    x = Round.apply(x * 2 ** ACT_BITS) / 2 ** ACT_BITS
            return x

    return Networks()


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
    """The lowest score by column that allows at most `most` percent of its rows, or FEW of them."""
    budget = max((scores.shape[1] + 1) * most // 100, FEW)  # `scores` has no row 0
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
    low, high = -128, 127
    while low < high:
        middle = (low + high) // 2
        if judge(scored_samples, [middle])[0][0] <= density:
            high = middle
        else:
            low = middle + 1
    return low


def scored_groups(layers, held, options):
    return [scored(layers, of, options.most, options.device) for of in held]


def judge_at(groups, density):
    """(threshold by the density of rendered scenes; density, recall there; density, recall of leaves)."""
    threshold = threshold_for(groups[0], density)
    shares = [judge(of, [threshold])[0] if of else (0, 0) for of in groups]
    return (threshold, *(100 * share for pair in shares for share in pair))


class Columns:
    """The columns of all frames on the device, those with one number of rows together, and batches."""

    def __init__(self, torch, frames, options):
        self.torch, self.options = torch, options
        self.random = torch.Generator(options.device)
        self.random.manual_seed(options.seed)
        groups = {}
        for f in frames:
            rows, columns = f.disparity.shape
            ground = np.broadcast_to(f.ground, (columns, rows))
            groups.setdefault(rows, []).append((f.disparity.T, f.weight.T, f.empty.T, ground, f.labels))
        self.groups = [tuple(torch.from_numpy(np.concatenate(part).astype(np.int16)).to(options.device)
                             for part in zip(*of)) for of in groups.values()]
        sizes = np.array([of[0].numel() for of in self.groups], float)
        self.shares = sizes / sizes.sum()
        self.count = sum(len(of[0]) for of in self.groups)

    def label_share(self):
        labels = [of[4][:, 1:] for of in self.groups]
        return sum(float(y.sum()) for y in labels) / sum(y.numel() for y in labels)

    def batch(self, group):
        """(inputs, labels) of columns chosen at random, of a group with so many rows, for each network."""
        torch, of, networks = self.torch, self.groups[group], self.options.networks
        count = max(int(self.options.batch * 100 / of[0].shape[1]), 1)
        chosen = torch.randint(len(of[0]), (networks * count,), generator=self.random,
                               device=self.options.device)
        d, w, empty, ground, labels = (part[chosen].int() for part in of)
        if self.options.vary:
            d, w, ground = self.varied(d, w, empty, ground)
        x = self.inputs(d, w, empty, ground).unflatten(0, (networks, count)).transpose(1, 2)
        return x, labels.float().unflatten(0, (networks, count))

    def varied(self, d, w, empty, ground):
        """Another camera, another matcher: disparities of another scale, shifted where there is no sky,
        with noise; cells without values, with less weight; a ground that is not quite right. One
        column in four is left as it is."""
        torch, random = self.torch, self.random

        def uniform(low, high, of=d[:, :1]):
            return low + (high - low) * torch.rand(of.shape, generator=random, device=of.device)

        def normal(of):
            return torch.randn(of.shape, generator=random, device=of.device)
        keep = uniform(0, 1) < 0.25
        scale = torch.exp(uniform(-0.35, 0.35))
        shift = torch.where((empty > 0).any(1, keepdim=True), 0 * scale, uniform(-32, 64))
        sigma = uniform(-3, 3).clamp(min=0)
        found = torch.floor(scale * d + shift + sigma * normal(d) + 0.5).clamp(1, 16 * 400).int()
        left = uniform(0, 1, d) >= uniform(-0.2, 0.2).clamp(min=0)
        weight = torch.where(left, (w * uniform(0.5, 1)).ceil().int(), 0 * w)
        below = torch.floor(scale * ground + shift + 12 * normal(keep)).int()
        return torch.where(keep, d, found), torch.where(keep, w, weight), torch.where(keep, ground, below)

    def inputs(self, d, w, empty, ground):
        """As inputs_of, [column][row] -> [column][channel][row]."""
        torch = self.torch
        count, rows = d.shape
        row, known = torch.arange(rows, device=d.device).expand(count, rows), w > 0
        first = torch.where(known, row, rows + 0 * row).flip(1).cummin(1)[0].flip(1)
        last = torch.where(known, row, 0 * row - 1).cummax(1)[0]
        last = torch.cat((0 * last[:, :1] - 1, last[:, :-1]), 1)
        d = d.clamp(min=1)
        above = torch.where(first < rows, d.gather(1, first.clamp(max=rows - 1)), 0 * d)
        below = torch.where(last >= 0, d.gather(1, last.clamp(min=0)), 0 * d)
        both, some = (above > 0) & (below > 0), above > 0
        jump, lift = above - below, above - ground
        channels = ((64 + jump).clamp(1, 127) * both, (64 + (jump >> 3)).clamp(1, 127) * both, w >> 1,
                    127 * empty, (above >> 4).clamp(max=127), above.clamp(max=127),
                    (64 + (lift >> 1)).clamp(1, 127) * some, 0 * d + 127)
        return torch.stack(channels, 1).float()


def be_repeatable(torch, seed):
    """The same weights again on the same kind of machine."""
    os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False


def loss_of(torch, scores, x, labels, balance, importance):
    """Cross-entropy; a label counts `balance` times. With `importance` from half to three halves of that,
    by the jump of disparity there, up to 4 px: what it costs to miss it."""
    jump = torch.where(x[:, 0] > 0, (x[:, 0] - 64).abs() / 63, 0.5 + 0 * x[:, 0])
    weight = balance * (1 + importance * (jump - 0.5))
    each = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction='none')
    return (each * (1 + (weight - 1) * labels))[..., 1:].mean((1, 2))


class Mean:
    """The mean of the weights over the last steps; each step counts 0.1 % less than the next one."""

    def __init__(self, torch, networks):
        self.torch, self.of, self.networks = torch, networks, copy.deepcopy(networks)

    def add(self, step):
        with self.torch.no_grad():
            keep = min(0.999, step / (step + 10))
            own = list(self.networks.parameters())
            self.torch._foreach_mul_(own, keep)
            self.torch._foreach_add_(own, list(self.of.parameters()), alpha=1 - keep)


def shorten(torch, gradients):
    """Limits the length of the gradient of each network to 1: without it the first steps are too long."""
    squares = sum(g.square().sum((1, 2), keepdim=True) for g in gradients)
    for g in gradients:
        g.mul_(1 / squares.sqrt().clamp(min=1))


def fit(torch, networks, columns, options, judge_mean):
    """Trains them; judge_mean(step, loss, mean) is called now and then. Returns the mean of their weights."""
    random = np.random.Generator(np.random.PCG64(options.seed))
    share = columns.label_share()
    balance = float(np.sqrt((1 - share) / share))
    mean = Mean(torch, networks)
    optimizer = torch.optim.Adam(networks.parameters(), lr=options.rate)
    print('labels: %.2f %% of the boundaries; weight of a cut %.2f; %d columns'
          % (100 * share, balance, columns.count), flush=True)
    loss_sum, part = 0.0, max(options.steps // PARTS, 1)
    for step in range(options.steps):
        networks.quantized = 3 * step >= options.steps
        for group in optimizer.param_groups:
            group['lr'] = options.rate * min(1, (step + 1) / 100) * (
                0.5 * (1 + np.cos(np.pi * step / options.steps)) + 2e-3)
        x, y = columns.batch(random.choice(len(columns.shares), p=columns.shares))
        loss = loss_of(torch, networks(x), x, y, balance, options.importance)
        optimizer.zero_grad()
        loss.sum().backward()
        shorten(torch, [p.grad for p in networks.parameters()])
        optimizer.step()
        mean.add(step)
        loss_sum = loss_sum + loss.detach().mean()
        if (step + 1) % part == 0:
            judge_mean(step + 1, float(loss_sum) / part, mean.networks)
            loss_sum = 0.0
    with torch.no_grad():  # log odds without the balance of the loss
        mean.networks.biases[-1] -= float(np.log(balance))
    return mean.networks


def train(frames, held, options):
    """(layers of each network, curve of the first one)."""
    import torch
    be_repeatable(torch, options.seed)
    networks = make_networks(torch, options.seed, options.networks).to(options.device)
    curve, start = [], time.monotonic()

    def judge_mean(step, loss, mean):
        curve.append((step, loss, *judge_at(scored_groups(mean.integers(0), held, options), options.density)))
        print('%4.0f s  step %6d  loss %.4f  threshold %4d  density %5.2f %%  labels among the cuts %6.2f %%;  '
              'leaves %5.2f, %6.2f %%' % (time.monotonic() - start, *curve[-1]), flush=True)

    mean = fit(torch, networks, Columns(torch, frames, options), options, judge_mean)
    return [mean.integers(k) for k in range(options.networks)], curve


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
    parser.add_argument('--curve', metavar='FILE', help='loss, density and recall by step')
    parser.add_argument('--cache', metavar='FOLDER', help='keeps the rendered samples')
    parser.add_argument('--save-cells', metavar='FILE', help='renders, writes all samples, ends')
    parser.add_argument('--cells', metavar='FILE', help='reads them, renders nothing')
    parser.add_argument('--frames', type=int, default=1170, help='rendered frames (%(default)s)')
    parser.add_argument('--steps', type=int, default=6000, help='(%(default)s)')
    parser.add_argument('--batch', type=int, default=512, help='columns of 100 rows (%(default)s)')
    parser.add_argument('--vary', type=int, default=1, help='0: the samples as they are (%(default)s)')
    parser.add_argument('--networks', type=int, default=4,
                        help='trained together; the best on held-out scenes is written (%(default)s)')
    parser.add_argument('--importance', type=float, default=0,
                        help='how much the jump of a label counts, 0 to 1 (%(default)s)')
    parser.add_argument('--rate', type=float, default=4e-3, help='of Adam, at first (%(default)s)')
    parser.add_argument('--most', type=int, default=30,
                        help='percent of the rows of a column that can be cuts, if more than %d (%%(default)s)' % FEW)
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
        save_cells(options.save_cells, pack(found))
        return
    frames = [f for k, of in enumerate(found) if k % HELD != HELD - 1 for f in of]
    held = [[sample_of(f) for k, of in enumerate(found) for f in of
             if k % HELD == HELD - 1 and (PATTERNS[k % len(PATTERNS)] == LEAVES) == leaf]
            for leaf in (False, True)]
    trained, curve = train(frames, held, options)
    if options.curve:
        with open(options.curve, 'w') as file:
            file.write('step loss threshold density recall density_of_leaves recall_of_leaves\n')
            file.writelines('%d %.4f %d %.2f %.2f %.2f %.2f\n' % row for row in curve)
    judged = [scored_groups(layers, held, options) for layers in trained]
    rows = [judge_at(groups, options.density) for groups in judged]
    for k, row in enumerate(rows):
        print('network %d: threshold %d, density %.2f %%, labels among the cuts %.2f %%; leaves %.2f, %.2f %%' % (k, *row))
    best = int(np.argmax([row[2] + row[4] for row in rows]))
    data = encode(trained[best], rows[best][0], options.most)
    with open(options.out, 'wb') as file:
        file.write(data)
    if options.array:
        write_array(options.array, data)
    print('%s: network %d, %d bytes, SHA-256 %s' % (options.out, best, len(data), hashlib.sha256(data).hexdigest()))
    for wanted in (0.1, 0.15, 0.2, 0.25, 0.3):
        print('held-out scenes: density %5.2f %%, labels among the cuts %6.2f %%; leaves %5.2f, %6.2f %%'
              % judge_at(judged[best], wanted)[1:], flush=True)


if __name__ == '__main__':
    main()
