#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains the network of semantics.py on rendered streets and says what it is worth.

  examples/run.sh examples/train_semantics.py examples/semantics.onnx

Renders streets with stereotestsrc (seeds 1000 and up, truth labels), trains a small network on one view,
quantizes it to int8 and writes it as ONNX, with what semantics.py has to know in its metadata. Prints the
loss while it trains, then the IoU of every class on rendered streets of other seeds, and with --real DATA
on the labeled real pictures of the test data, which it has never seen. Needs PyTorch, onnx and
onnxruntime; about five minutes on two idle cores. The same seeds and versions give the same network."""
import argparse
import json
import os
import subprocess
import sys
import time

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# Name, structural class, and the labels of stereotestsrc that it stands for (RvSceneLabel).
CLASSES = (('road', 'g', (0,)), ('ground', 'g', (1, 2)), ('building', 'o', (3, 4, 11)),
           ('vehicle', 'o', (5,)), ('pole', 'o', (6,)), ('vegetation', 'o', (7,)),
           ('person', 'o', (9,)), ('object', 'o', (10,)), ('sky', 's', (8,)))
# All that have classes: planes and noise show neither streets nor tracks.
PATTERNS = ('street', 'slanted-street', 'offroad', 'highway', 'obstacle-course')
SIZE = (640, 480)     # px of a rendered view
EACH = 4              # frames of a seed, 16 m apart
TRAINED, JUDGES = 1000, 100  # first seeds
HALF = (320, 240)     # px of the view as the network sees it, before augmentation
CROP = (240, 176)     # px, multiples of 16
STRIDE = 4            # px of the network's input per score
MEAN, STD = 127.5, 64.0
UNKNOWN = 255


# --- Pictures -------------------------------------------------------------------------------------

def to_classes(labels):
    table = np.full(256, UNKNOWN, np.uint8)
    for k, (_name, _kind, scene) in enumerate(CLASSES):
        table[list(scene)] = k
    return table[labels]


def render(pattern, seed, frames):
    """List of (RGB picture, classes) of the left view."""
    try:
        import roadvision
    except ImportError:
        import in_tree  # noqa: F401  a checkout: starts this again through run.sh
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launch(
        'stereotestsrc pattern=%s seed=%d num-buffers=%d ! video/x-raw,format=BGRx,width=%d,height=%d,'
        'framerate=1/2 ! appsink name=out sync=false' % (pattern, seed, frames, 2 * SIZE[0], SIZE[1]))
    pipeline.set_state(Gst.State.PLAYING)
    found, out = [], pipeline.get_by_name('out')
    while True:
        sample = out.emit('pull-sample')
        if sample is None:
            break
        buffer = sample.get_buffer()
        data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
        picture = data.reshape(SIZE[1], 2 * SIZE[0], 4)[:, :SIZE[0], 2::-1]
        labels = roadvision.annotation(buffer, 'RvTruthMeta')['labels']
        found.append((np.ascontiguousarray(picture), to_classes(np.asarray(labels))))
    pipeline.set_state(Gst.State.NULL)
    return found


def render_all(first, seeds, path):
    found = []
    for i, pattern in enumerate(PATTERNS):
        for seed in range(seeds):
            found += render(pattern, first + 100 * i + seed, EACH)
        print('rendered %s: %d pictures' % (pattern, len(found)), flush=True)
    np.savez(path, pictures=np.stack([p for p, _l in found]), labels=np.stack([c for _p, c in found]))


def rendered(first, seeds, cache):
    """All pictures of `seeds` seeds per pattern; kept in the folder `cache`. They are rendered in a
    process of its own: the libraries below GStreamer, PyTorch and onnx do not agree everywhere."""
    path = os.path.join(cache, 'streets_%d_%d.npz' % (first, seeds))
    if not os.path.exists(path):
        os.makedirs(cache, exist_ok=True)
        subprocess.run([sys.executable, __file__, path, '--stage', 'render', '--seeds', str(seeds),
                        '--first', str(first)], check=True)
    with np.load(path) as file:
        return file['pictures'], file['labels']


def augment(random, picture, labels):
    """A view as another camera in another light would see it."""
    scale = random.uniform(0.95, 1.6)
    width, height = int(HALF[0] * scale), int(HALF[1] * scale)
    x, y = random.integers(width - CROP[0] + 1), random.integers(height - CROP[1] + 1)
    part = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    part = part[y:y + CROP[1], x:x + CROP[0]].astype(np.float32)
    truth = cv2.resize(labels, (width, height), interpolation=cv2.INTER_NEAREST)
    truth = truth[y:y + CROP[1], x:x + CROP[0]][STRIDE // 2::STRIDE, STRIDE // 2::STRIDE]
    if random.random() < 0.5:
        part, truth = part[:, ::-1], truth[:, ::-1]
    gray = part @ np.array([0.30, 0.59, 0.11], np.float32)
    color = random.choice([0.0, random.uniform(0, 1.4)], p=[0.4, 0.6])
    part = gray[:, :, None] + color * (part - gray[:, :, None])
    part = part * random.uniform(0.85, 1.15, 3 if color else 1)
    part = 255 * np.clip(part / 255, 0, 1) ** np.exp(random.normal(0, 0.4))
    part = (part - 128) * random.uniform(0.5, 1.4) + 128 + random.normal(0, 25)
    if random.random() < 0.4:
        part = cv2.GaussianBlur(part, (0, 0), random.uniform(0.4, 1.4))
    part = np.clip(part + random.normal(0, random.uniform(0, 8), part.shape), 0, 255)
    return part.astype(np.float32), np.ascontiguousarray(truth)


def to_input(picture, size=None):
    """NCHW, size: width and height in px, both multiples of 16."""
    if size:
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return ((picture.astype(np.float32) - MEAN) / STD).transpose(2, 0, 1)[None]


# --- Network --------------------------------------------------------------------------------------

def network():
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

    torch.manual_seed(1)
    return Network()


def train(pictures, labels, steps, batch):
    import torch
    random = np.random.Generator(np.random.PCG64(1))
    model = network().train()
    share = np.bincount(labels[labels != UNKNOWN], minlength=len(CLASSES)) / labels.size
    weight = torch.tensor(1 / np.sqrt(share + 0.002), dtype=torch.float32)
    loss_of = torch.nn.CrossEntropyLoss(weight / weight.mean(), ignore_index=UNKNOWN)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    start, losses = time.monotonic(), []
    for step in range(steps):
        chosen = [augment(random, pictures[i], labels[i])
                  for i in random.integers(len(pictures), size=batch)]
        images = torch.from_numpy(np.concatenate([to_input(picture) for picture, _t in chosen]))
        truths = torch.from_numpy(np.stack([truth for _p, truth in chosen]).astype(np.int64))
        loss = loss_of(model(images), truths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % 50 == 0:
            print('step %4d of %d: loss %.3f, %.0f s' % (
                step + 1, steps, np.mean(losses[-50:]), time.monotonic() - start), flush=True)
    return model.eval()


# --- Export ---------------------------------------------------------------------------------------

class Calibration:
    """What the quantizer reads: pictures as the network sees them."""

    def __init__(self, pictures):
        random = np.random.Generator(np.random.PCG64(2))
        blank = np.zeros(SIZE[::-1], np.uint8)
        self.inputs = iter([{'picture': to_input(augment(random, picture, blank)[0])}
                            for picture in pictures])

    def get_next(self):
        return next(self.inputs, None)


def export(weights, path):
    """ONNX in floats, with the scores (softmax) as the output."""
    import torch
    model = network()
    model.load_state_dict(torch.load(weights))
    whole = torch.nn.Sequential(model, torch.nn.Softmax(1)).eval()
    torch.onnx.export(whole, torch.zeros(1, 3, CROP[1], CROP[0]), path, input_names=['picture'],
                      output_names=['scores'], opset_version=13,
                      dynamic_axes={'picture': {2: 'height', 3: 'width'},
                                    'scores': {2: 'rows', 3: 'columns'}})


def quantize(plain, pictures, path):
    """int8, with what semantics.py has to know in the metadata."""
    import onnx
    from onnxruntime import quantization
    quantization.quantize_static(plain, path, Calibration(pictures),
                                 quant_format=quantization.QuantFormat.QDQ, per_channel=True,
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


def real_pictures(folder):
    """(name, RGB, classes) of the labeled frames; and those whose road alone is labeled."""
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
                table = np.full(256, UNKNOWN, np.uint8)
                for k, (name, _kind, _color) in enumerate(classes):
                    table[k] = REAL.get(name, UNKNOWN)
                yield pair['name'], picture, table[found]
    roads = os.path.join(folder, 'kitti_road')
    for name in sorted(os.listdir(roads)):
        if name.endswith('_road_gt.png'):
            mask = cv2.imread(os.path.join(roads, name))
            left = cv2.imread(os.path.join(roads, name.replace('_road_gt', '_left')))
            labels = np.where(mask[:, :, 2] == 0, UNKNOWN, np.where(mask[:, :, 0] > 0, 0, 1))
            yield name[:-12] + ' (road)', left[:, :, ::-1], labels.astype(np.uint8)


def judge(path, cache, seeds, folder):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    pictures, labels = rendered(JUDGES, seeds, cache)
    found = [classify(session, picture) for picture in pictures]
    each = seeds * EACH
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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', help='the ONNX file')
    parser.add_argument('--seeds', type=int, default=24, help='of each pattern, %d frames each' % EACH)
    parser.add_argument('--steps', type=int, default=1000)
    parser.add_argument('--batch', type=int, default=8)
    parser.add_argument('--cache', default='/tmp/roadvision_streets', help='folder of the pictures')
    parser.add_argument('--real', default=os.environ.get('RV_DATA'), help='folder of the test data')
    parser.add_argument('--judge', action='store_true', help='do not train, judge the file `out`')
    parser.add_argument('--stage', choices=('train', 'export', 'quantize', 'render'),
                        default='train', help='the first; each runs in a process of its own')
    parser.add_argument('--first', type=int, default=TRAINED, help='seed of the first street')
    options = parser.parse_args()
    if options.stage == 'render':
        render_all(options.first, options.seeds, options.out)
        return
    if options.judge:
        judge(options.out, options.cache, 2, options.real)
        return
    pictures, labels = rendered(TRAINED, options.seeds, options.cache)
    weights, plain = options.out + '.weights', options.out + '.floats'
    following = {'train': 'export', 'export': 'quantize'}.get(options.stage)
    if options.stage == 'train':
        import torch
        torch.save(train(pictures, labels, options.steps, options.batch).state_dict(), weights)
    elif options.stage == 'export':
        export(weights, plain)
    if following:
        os.execv(sys.executable, [sys.executable, *sys.argv, '--stage', following])
    random = np.random.Generator(np.random.PCG64(3))
    quantize(plain, pictures[random.choice(len(pictures), 48)], options.out)
    for kind, path in (('floats', plain), ('int8', options.out)):
        print('--- ' + kind)
        judge(path, options.cache, 2, options.real)


if __name__ == '__main__':
    main()
