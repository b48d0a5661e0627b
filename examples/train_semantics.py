#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains the network of semantics.py on rendered streets and says what it is worth.

  examples/run.sh examples/train_semantics.py examples/semantics.onnx      all of it
  examples/run.sh examples/train_semantics.py --save-views views.zip       renders only
  examples/train_semantics.py semantics.onnx --views views.zip --device cuda   trains only, as for the file here
  examples/run.sh examples/train_semantics.py semantics.onnx --judge       judges only

Renders streets with stereotestsrc (seeds 1000 and up, truth labels), trains a small network on one view,
quantizes it to int8 and writes it as ONNX, with what semantics.py has to know in its metadata. Prints the
loss while it trains, then the IoU of every class on rendered streets of other seeds, and with --real DATA
on the labeled real pictures of the test data, which it has never seen. Needs PyTorch, Pillow, onnx and
onnxruntime; a GPU trains in a minute and a half, two idle cores with --steps 1000 --batch 8 in about five. The machine that
trains needs no GStreamer, only this file, train_cuts.py, cuts_samples.py and semantics_samples.py: it can read
what another one has rendered. The same seeds, versions and kind of device give the same network."""
import argparse
import hashlib
import inspect
import json
import os
import subprocess
import sys
import time

import numpy as np

from semantics_samples import (CLASSES, CROP, EACH, PATTERNS, UNKNOWN, Views, load_views, render_all,
                               save_views)

HERE = os.path.dirname(os.path.abspath(__file__))
TRAINED, JUDGES = 1000, 100  # first seeds
JUDGE_SEEDS = 2              # of each pattern
CALIBRATION = 48             # views that the quantizer sees
MEAN, STD = 127.5, 64.0


# --- Pictures -------------------------------------------------------------------------------------

def render_to(path, first, seeds, small):
    views = list(render_all(first, seeds))
    part = path + '.part'
    if small:
        save_views(part, views)
    else:
        with open(part, 'wb') as file:
            np.savez(file, pictures=np.stack([p for p, _c in views]), labels=np.stack([c for _p, c in views]))
    os.rename(part, path)


def rendered(first, seeds, cache, end):
    """The file in folder `cache` of the views of `seeds` seeds per pattern. They are rendered in a process of
    its own: the libraries below GStreamer, PyTorch and onnx do not agree everywhere."""
    path = os.path.join(cache, 'streets_%d_%d%s' % (first, seeds, end))
    if not os.path.exists(path):
        os.makedirs(cache, exist_ok=True)
        subprocess.run([sys.executable, __file__, path, '--stage', 'render', '--seeds', str(seeds),
                        '--first', str(first)], check=True)
    return path


def to_input(picture, size=None):
    """NCHW, size: width and height in px, both multiples of 16."""
    if size:
        import cv2
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return ((picture.astype(np.float32) - MEAN) / STD).transpose(2, 0, 1)[None]


# --- Network --------------------------------------------------------------------------------------

def network(seed=1):
    import torch
    from torch import nn

    def conv(a, b, stride=1, dilation=1):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, dilation, dilation, bias=False),
                             nn.BatchNorm2d(b), nn.ReLU())

    class Residual(nn.Module):
        def __init__(self, width, dilation=1):
            super().__init__()
            self.one, self.two = conv(width, width, 1, dilation), conv(width, width, 1, dilation)

        def forward(self, x):
            return x + self.two(self.one(x))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.quarter = nn.Sequential(conv(3, 16, 2), conv(16, 32, 2), Residual(32))
            self.eighth = nn.Sequential(conv(32, 64, 2), Residual(64))
            self.sixteenth = nn.Sequential(conv(64, 80, 2), Residual(80, 2), Residual(80, 4))
            self.from16, self.from8 = nn.Conv2d(80, 32, 1), nn.Conv2d(64, 32, 1)
            self.last = nn.Sequential(conv(32, 32), nn.Conv2d(32, len(CLASSES), 1))

        def forward(self, x):
            quarter = self.quarter(x)
            eighth = self.eighth(quarter)
            up = nn.functional.interpolate(self.from16(self.sixteenth(eighth)), scale_factor=2)
            up = nn.functional.interpolate(up + self.from8(eighth), scale_factor=2)
            return self.last(up + quarter)

    torch.manual_seed(seed)
    return Network()


def train(pictures, classes, options):
    """(network, views that the quantizer sees)."""
    import torch
    from train_cuts import be_repeatable
    be_repeatable(torch, options.seed)
    model = network(options.seed).to(options.device).train()
    views = Views(torch, pictures, classes, options.device, options.seed)
    share = np.bincount(classes[classes != UNKNOWN], minlength=len(CLASSES)) / classes.size
    weight = torch.tensor(1 / np.sqrt(share + 0.002), dtype=torch.float32, device=options.device).view(1, -1, 1, 1)
    kinds = torch.arange(len(CLASSES), device=options.device).view(1, -1, 1, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=options.steps)
    start, total = time.monotonic(), 0.0
    for step in range(options.steps):
        images, truths = views.batch(options.batch)
        scores = torch.log_softmax(model((images - MEAN) / STD), 1)
        wanted = weight * (truths[:, None] == kinds)  # cross-entropy, its sums in a fixed order
        loss = -(wanted * scores).sum() / wanted.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total = total + loss.detach()
        if (step + 1) % 50 == 0:
            print('step %4d of %d: loss %.3f, %.0f s' % (
                step + 1, options.steps, float(total) / 50, time.monotonic() - start), flush=True)
            total = 0.0
    seen = torch.floor(views.batch(CALIBRATION)[0] + 0.5).permute(0, 2, 3, 1)
    return model.cpu().eval(), seen.cpu().numpy().astype(np.uint8)


# --- Export ---------------------------------------------------------------------------------------

class Calibration:
    """What the quantizer reads: pictures as the network sees them."""

    def __init__(self, pictures):
        self.inputs = iter([{'picture': to_input(picture)} for picture in pictures])

    def get_next(self):
        return next(self.inputs, None)


def export(weights, path):
    """ONNX in floats, with the scores (softmax) as the output."""
    import torch
    model = network()
    model.load_state_dict(torch.load(weights))
    whole = torch.nn.Sequential(model, torch.nn.Softmax(1)).eval()
    later = {'dynamo': False} if 'dynamo' in inspect.signature(torch.onnx.export).parameters else {}
    torch.onnx.export(whole, torch.zeros(1, 3, CROP[1], CROP[0]), path, input_names=['picture'],
                      output_names=['scores'], opset_version=13,
                      dynamic_axes={'picture': {2: 'height', 3: 'width'},
                                    'scores': {2: 'rows', 3: 'columns'}}, **later)


def quantize(plain, pictures, path):
    """int8, with what semantics.py has to know in the metadata."""
    import onnx
    from onnxruntime import quantization
    quantization.quantize_static(plain, path, Calibration(pictures),
                                 quant_format=quantization.QuantFormat.QDQ, per_channel=True, reduce_range=True,
                                 activation_type=quantization.QuantType.QUInt8,
                                 weight_type=quantization.QuantType.QInt8)
    made = onnx.load(path)
    onnx.helper.set_model_props(made, {
        'classes': ' '.join(name for name, _kind, _labels in CLASSES),
        'semantic-classes': ''.join(kind for _name, kind, _labels in CLASSES),
        'mean': '%g' % MEAN, 'std': '%g' % STD, 'order': 'rgb', 'scale': '0.5', 'multiple': '16',
        'training': 'stereotestsrc, seeds %d and up' % TRAINED})
    onnx.save(made, path)
    print('%s: %d bytes; with floats %d' % (path, os.path.getsize(path), os.path.getsize(plain)))


# --- Quality --------------------------------------------------------------------------------------

def classify(session, picture, scale=0.5):
    """Class of every pixel."""
    import cv2
    size = tuple(max(int(side * scale / 16 + 0.5), 1) * 16 for side in picture.shape[1::-1])
    scores = session.run(None, {'picture': to_input(picture, size)})[0][0]
    return cv2.resize(scores.transpose(1, 2, 0), picture.shape[1::-1]).argmax(2).astype(np.uint8)


def ious(pairs, count):
    """Percent by class over all (found, truth), NaN where the truth has none."""
    both, either, real = np.zeros(count), np.zeros(count), np.zeros(count)
    for found, truth in pairs:
        known = truth != UNKNOWN
        for k in range(count):
            a, b = known & (found == k), truth == k
            both[k] += (a & b).sum()
            either[k] += (a | b).sum()
            real[k] += b.sum()
    return np.where(real > 0, 100 * both / np.maximum(either, 1), np.nan)


def show(title, values):
    print('%-34s mean %5.1f   %s' % (title, np.nanmean(values), '  '.join(
        '%s %.0f' % (name, value) for (name, _k, _l), value in zip(CLASSES, values)
        if not np.isnan(value))), flush=True)


# The classes of the real pictures' labels, by name there.
REAL = {'road': 0, 'sidewalk': 1, 'terrain': 1, 'building': 2, 'wall': 2, 'fence': 7, 'pole': 4,
        'light': 4, 'sign': 4, 'vegetation': 5, 'tree': 5, 'sky': 8, 'person': 6, 'rider': 6, 'car': 3,
        'truck': 3, 'bus': 3, 'van': 3, 'guard rail': 7}


def to_own(labels, classes):
    """Labels of other classes, (name, ...), as those of the network."""
    table = np.full(256, UNKNOWN, np.uint8)
    for k, (name, *_more) in enumerate(classes):
        table[k] = REAL.get(name, UNKNOWN)
    return table[labels]


def real_pictures(folder):
    """(name, RGB, classes) of the labeled frames; and those whose road alone is labeled."""
    import cv2
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'tests'))
    import stixels_sets
    with open(os.path.join(folder, 'manifest.json')) as file:
        pairs = json.load(file)['pairs']
    groups = {'semantic': stixels_sets.KITTI_CLASSES, 'classgt': stixels_sets.VKITTI_CLASSES}
    for pair in pairs:
        for key, classes in groups.items():
            if pair.get(key):
                picture = cv2.imread(os.path.join(folder, pair['left']))[:, :, ::-1]
                found = stixels_sets.read_labels(folder, pair, picture.shape[:2], classes)
                yield pair['name'], picture, to_own(found, classes)
    roads = os.path.join(folder, 'kitti_road')
    for name in sorted(os.listdir(roads)):
        if name.endswith('_road_gt.png'):
            mask = cv2.imread(os.path.join(roads, name))
            left = cv2.imread(os.path.join(roads, name.replace('_road_gt', '_left')))
            labels = np.where(mask[:, :, 2] == 0, UNKNOWN, np.where(mask[:, :, 0] > 0, 0, 1))
            yield name[:-12] + ' (road)', left[:, :, ::-1], labels.astype(np.uint8)


def judge(path, cache, folder):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    with np.load(rendered(JUDGES, JUDGE_SEEDS, cache, '.npz')) as file:
        pictures, labels = file['pictures'], file['labels']
    found = [classify(session, picture) for picture in pictures]
    each = JUDGE_SEEDS * EACH
    for i, pattern in enumerate(PATTERNS):
        part = slice(i * each, (i + 1) * each)
        show(pattern, ious(zip(found[part], labels[part]), len(CLASSES)))
    show('all rendered', ious(zip(found, labels), len(CLASSES)))
    for name, picture, truth in real_pictures(folder) if folder else ():
        guess = classify(session, picture)
        if '(road)' in name:
            print('%-34s road %.1f' % (name, ious([(np.minimum(guess, 1), truth)], 1)[0]))
        else:
            show(name, ious([(guess, truth)], len(CLASSES)))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', nargs='?', help='the ONNX file')
    parser.add_argument('--save-views', metavar='FILE', help='renders, writes all views, ends')
    parser.add_argument('--views', metavar='FILE', help='reads them, renders nothing, does not judge')
    parser.add_argument('--seeds', type=int, default=24, help='of each pattern, %d frames each' % EACH)
    parser.add_argument('--steps', type=int, default=4000, help='(%(default)s)')
    parser.add_argument('--batch', type=int, default=16, help='(%(default)s)')
    parser.add_argument('--rate', type=float, default=4e-3, help='of AdamW, at most (%(default)s)')
    parser.add_argument('--seed', type=int, default=1, help='of the training (%(default)s)')
    parser.add_argument('--device', default='cpu', help='of PyTorch: cpu or cuda (%(default)s)')
    parser.add_argument('--cache', default='/tmp/roadvision_streets', help='folder of the pictures')
    parser.add_argument('--real', default=os.environ.get('RV_DATA'), help='folder of the test data')
    parser.add_argument('--judge', action='store_true', help='do not train, judge the file `out`')
    parser.add_argument('--stage', choices=('train', 'export', 'quantize', 'render'),
                        default='train', help='the first; each runs in a process of its own')
    parser.add_argument('--first', type=int, default=TRAINED, help='seed of the first street')
    options = parser.parse_args()
    if not options.out and not options.save_views:
        parser.error('name the ONNX file')
    return options


def main():
    options = parse_arguments()
    weights, seen, plain = ('%s.%s' % (options.out, end) for end in ('weights', 'seen.npy', 'floats'))
    if options.save_views:
        render_to(options.save_views, options.first, options.seeds, True)
    elif options.stage == 'render':
        render_to(options.out, options.first, options.seeds, not options.out.endswith('.npz'))
    elif options.judge:
        judge(options.out, options.cache, options.real)
    elif options.stage == 'train':
        import torch
        model, pictures = train(*load_views(options.views or rendered(
            TRAINED, options.seeds, options.cache, '.views')), options)
        torch.save(model.state_dict(), weights)
        np.save(seen, pictures)
        found = hashlib.sha256(b''.join(v.numpy().tobytes() for v in model.state_dict().values()))
        print('weights: SHA-256 %s' % found.hexdigest(), flush=True)
        os.execv(sys.executable, [sys.executable, *sys.argv, '--stage', 'export'])
    elif options.stage == 'export':
        export(weights, plain)
        os.execv(sys.executable, [sys.executable, *sys.argv, '--stage', 'quantize'])
    else:
        quantize(plain, np.load(seen), options.out)
        for kind, path in (('floats', plain), ('int8', options.out)) if not options.views else ():
            print('--- ' + kind)
            judge(path, options.cache, options.real)


if __name__ == '__main__':
    main()
