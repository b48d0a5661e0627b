# SPDX-License-Identifier: MIT
"""The samples of train_semantics.py: rendered views with the class of every pixel, a file of them, and what
the network is shown of them. PyTorch is imported by who trains."""
import io
import zipfile

import numpy as np

# Name, structural class, and the labels of stereotestsrc that it stands for (RvSceneLabel).
CLASSES = (('road', 'g', (0,)), ('ground', 'g', (1, 2)), ('building', 'o', (3, 4, 11)),
           ('vehicle', 'o', (5,)), ('pole', 'o', (6,)), ('vegetation', 'o', (7,)),
           ('person', 'o', (9,)), ('object', 'o', (10,)), ('sky', 's', (8,)))
# All that have classes: planes and noise show neither streets nor tracks.
PATTERNS = ('street', 'slanted-street', 'offroad', 'highway', 'obstacle-course')
SIZE = (640, 480)     # px of a rendered view
EACH = 4              # frames of a seed, 16 m apart
HALF = (320, 240)     # px of the view as the network sees it, before augmentation
STORED = (400, 300)   # px of a view that is stored for training
QUALITY = 80          # of its JPEG
CROP = (240, 176)     # px, multiples of 16
STRIDE = 4            # px of the network's input per score
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


def render_all(first, seeds):
    """Views of `seeds` seeds of every pattern: [(RGB picture, classes)]."""
    for i, pattern in enumerate(PATTERNS):
        for seed in range(seeds):
            yield from render(pattern, first + 100 * i + seed, EACH)
        print('rendered %s, %d seeds' % (pattern, seeds), flush=True)


def save_views(path, views):
    """Small enough to be sent to the machine that trains: JPEG, and the classes without loss."""
    from PIL import Image
    rows, columns = (((np.arange(to) + 0.5) * of / to).astype(int)
                     for to, of in zip(STORED[::-1], SIZE[::-1]))
    pictures, classes = [], []
    for picture, labels in views:
        coded = io.BytesIO()
        Image.fromarray(picture).resize(STORED, Image.BOX).save(coded, 'JPEG', quality=QUALITY)
        pictures.append(np.frombuffer(coded.getvalue(), np.uint8))
        classes.append(labels[rows][:, columns])
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_LZMA) as file:
        for name, values in (('sizes', np.array([p.size for p in pictures])),
                             ('pictures', np.concatenate(pictures)), ('classes', np.stack(classes))):
            with file.open(name + '.npy', 'w', force_zip64=True) as member:
                np.lib.format.write_array(member, values)


def load_views(path):
    """(pictures, [view][row][column][channel]; classes, [view][row][column])."""
    from PIL import Image
    with np.load(path) as file:
        parts = np.split(file['pictures'], np.cumsum(file['sizes'])[:-1])
        classes = file['classes']
    return np.stack([np.asarray(Image.open(io.BytesIO(part.tobytes()))) for part in parts]), classes


# --- Augmentation ---------------------------------------------------------------------------------

class Views:
    """The views on a device, and batches as other cameras in other light would see them."""

    def __init__(self, torch, pictures, classes, device, seed):
        self.torch, self.device = torch, device
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.noise = torch.Generator(device)
        self.noise.manual_seed(seed)
        self.pictures = torch.from_numpy(pictures.transpose(0, 3, 1, 2).copy()).to(device)
        self.classes = torch.from_numpy(classes).to(device)

    def uniform(self, low, high, *shape):
        """Numbers for each view of a batch, [view][1][1][1] or of this shape."""
        values = self.random.uniform(low, high, (self.count, *(shape or (1,)), 1, 1))
        return self.torch.from_numpy(values.astype(np.float32)).to(self.device)

    def positions(self, sides, samples, flip):
        """Where a part of the view is sampled, 0 to 1 of its sides: (x, y), [view][samples], for each of
        `samples`, positions in px of the part."""
        scale, x, y = sides
        found = []
        for axis, (start, at) in enumerate(zip((x, y), samples)):
            at = self.torch.from_numpy(at.astype(np.float32)).to(self.device)[None]
            side = HALF[axis] * scale
            if axis == 0:
                at = self.torch.where(flip, CROP[0] - at, at)
            found.append((start * (side - CROP[axis]) + at) / side)
        return found

    def parts(self, chosen):
        """Random parts of these views at random scales, some mirrored: (pictures, classes by score)."""
        torch, flat = self.torch, (self.count, 1)
        sides = self.uniform(0.95, 1.6).view(flat), self.uniform(0, 1).view(flat), self.uniform(0, 1).view(flat)
        flip = self.uniform(0, 1).view(flat) < 0.5
        # Two samples per px and axis, their mean: no aliasing down to half of the size.
        x, y = self.positions(sides, [(np.arange(2 * n) + 0.5) / 2 for n in CROP], flip)
        grid = torch.stack((x[:, None, :].expand(-1, y.shape[1], -1), y[:, :, None].expand(-1, -1, x.shape[1])), 3)
        part = torch.nn.functional.grid_sample(self.pictures[chosen].float(), 2 * grid - 1, 'bilinear', 'border',
                                               align_corners=False)
        x, y = self.positions(sides, [np.arange(n // STRIDE) * STRIDE + STRIDE / 2 for n in CROP], flip)
        columns, rows = ((at * n).long().clamp(0, n - 1) for at, n in zip((x, y), STORED))
        truth = self.classes[chosen[:, None, None], rows[:, :, None], columns[:, None, :]]
        return torch.nn.functional.avg_pool2d(part, 2), truth

    def blurred(self, part):
        """Two in five, by up to 1.4 px."""
        torch = self.torch
        sigma = torch.where(self.uniform(0, 1) < 0.4, self.uniform(0.4, 1.4), 0 * self.uniform(0, 1) + 0.05)
        reach = torch.arange(-4, 5, device=self.device, dtype=torch.float32)
        weight = torch.exp(-0.5 * (reach / sigma.view(-1, 1)) ** 2)
        weight = (weight / weight.sum(1, keepdim=True)).repeat_interleave(3, 0)
        flat = part.reshape(1, 3 * self.count, *part.shape[2:])
        for shape in ((9, 1), (1, 9)):
            flat = torch.nn.functional.pad(flat, (4 * (shape[1] > 1),) * 2 + (4 * (shape[0] > 1),) * 2, 'reflect')
            flat = torch.nn.functional.conv2d(flat, weight.view(-1, 1, *shape), groups=3 * self.count)
        return flat.view_as(part)

    def normal(self, deviation):
        values = self.random.normal(0, deviation, (self.count, 1, 1, 1))
        return self.torch.from_numpy(values.astype(np.float32)).to(self.device)

    def batch(self, count):
        """(pictures of 0..255, [view][channel][row][column]; classes, [view][row][column])."""
        torch, self.count = self.torch, count
        part, truth = self.parts(torch.from_numpy(self.random.integers(len(self.pictures), size=count))
                                 .to(self.device))
        gray = (part * torch.tensor([0.30, 0.59, 0.11], device=self.device).view(1, 3, 1, 1)).sum(1, keepdim=True)
        colored = self.uniform(0, 1) < 0.6
        part = gray + torch.where(colored, self.uniform(0, 1.4) * (part - gray), 0 * part)
        tint, exposure = self.uniform(0.85, 1.15, 3), self.uniform(0.85, 1.15)
        part = part * torch.where(colored, tint, exposure)
        part = 255 * (part / 255).clamp(0, 1) ** torch.exp(self.normal(0.4))
        part = (part - 128) * self.uniform(0.5, 1.4) + 128 + self.normal(25)
        part = self.blurred(part)
        grain = torch.randn(part.shape, generator=self.noise, device=self.device)
        return (part + self.uniform(0, 8) * grain).clamp(0, 255), truth.long()
