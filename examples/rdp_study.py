# SPDX-License-Identifier: MIT
"""The study of rdp_study.sh. Calls libroadvision-0 through ctypes, so that only the segmentation is
timed, and gets its disparities from cudasgm."""
import ctypes as c
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import cv2
except ImportError:
    sys.exit('rdp_study: OpenCV for Python is missing: install python3-opencv, and start rdp_study.sh')

EPSILONS = (0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16)  # px
HEIGHTS = (256, 512, 1024, 2048)  # rows
KINDS = {'best': 'smooth', 'average': 'median', 'worst': 'raw', 'noise': 'noise'}  # timed rows
COLUMN_HEIGHT = 1024  # of the paper
STREET = 6  # frames of the test scene
KITTI = (('kitti2015', '000000_10'), ('kitti2012', '000001_10'), ('kitti2012', '000070_10'))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

# cudasgm without any cleaning, as the paper's inputs are matched.
PLAIN = 'uniqueness=0 max-lr-diff=-1 median=0 speckle-size=0'

# Table 1 of the paper, maximum energy: average input of 1242 x 1024 px, ms.
PAPER = {"paper's kernel, Xavier": 1.09, 'paper, Xavier, one core': 21.15,
         'paper, Xavier, 8 cores': 4.97}


# --- The library ---------------------------------------------------------------------------------

class Plane(c.Structure):
    _fields_ = [('data', c.c_void_p), ('stride', c.c_ssize_t), ('width', c.c_int),
                ('height', c.c_int), ('format', c.c_int)]


class Log(c.Structure):
    _fields_ = [('line', c.c_void_p), ('user', c.c_void_p)]


class Config(c.Structure):
    _fields_ = [('width', c.c_int), ('height', c.c_int), ('epsilon', c.c_double),
                ('distance', c.c_int), ('invalid', c.c_int), ('median', c.c_int),
                ('max_levels', c.c_int), ('threads', c.c_int), ('log', Log)]


class Output(c.Structure):
    _fields_ = [('mask', Plane), ('reconstruction', Plane), ('segments', c.c_void_p),
                ('capacity', c.c_uint32), ('offsets', c.c_void_p), ('columns', c.c_void_p)]


COLUMN = np.dtype([('segments', '<u4'), ('points', '<u4'), ('error_sum', '<u4'),
                   ('error_max', '<u2'), ('levels', '<u2')])
U8, U16 = 0, 1


def load_library():
    for folder in (os.environ.get('RV_BUILD_DIR', os.path.join(ROOT, 'build')), ''):
        path = os.path.join(folder, 'cuda', 'libroadvision-0.so') if folder else 'libroadvision-0.so'
        if not folder or os.path.exists(path):
            return c.CDLL(path)
    return None


LIBRARY = load_library()


def plane(array):
    return Plane(array.ctypes.data, array.strides[0], array.shape[1], array.shape[0],
                 U8 if array.dtype == np.uint8 else U16)


class Segmentation:
    """One object of cuda/rdp for maps of the size of `disparity` (u16, 1/16 px)."""

    def __init__(self, disparity, epsilon, median=0, threads=0, rebuild=True):
        height, width = disparity.shape
        self.config = Config()
        LIBRARY.rv_rdp_config_init(c.byref(self.config))
        self.config.width, self.config.height = width, height
        self.config.epsilon, self.config.median, self.config.threads = epsilon, median, threads
        self.object = c.c_void_p()
        status = LIBRARY.rv_rdp_new(c.byref(self.object), c.byref(self.config), 0)
        if status:
            raise RuntimeError('rv_rdp_new: status %d' % status)
        self.disparity = np.ascontiguousarray(disparity)
        self.mask = np.zeros((height, width), np.uint8)
        self.rebuilt = np.zeros((height, width), np.uint16)
        self.columns = np.zeros(width, COLUMN)
        self.offsets = np.zeros(width + 1, np.uint32)
        self.segments = np.zeros(width * max(1, height - 1), 'V12')
        self.output = Output(mask=plane(self.mask), segments=self.segments.ctypes.data,
                             capacity=len(self.segments), offsets=self.offsets.ctypes.data,
                             columns=self.columns.ctypes.data)
        if rebuild:
            self.output.reconstruction = plane(self.rebuilt)

    def run(self):
        source = plane(self.disparity)
        status = LIBRARY.rv_rdp_run(self.object, c.byref(source), c.byref(self.output), None)
        if status:
            raise RuntimeError('rv_rdp_run: status %d' % status)
        return self

    def close(self):
        LIBRARY.rv_rdp_free(c.byref(self.object))


def segment(disparity, epsilon, median=0):
    work = Segmentation(disparity, epsilon, median).run()
    work.close()
    return work


def time_ms(disparity, epsilon, threads, median=0):
    """Median of single runs that end with mask and list."""
    work = Segmentation(disparity, epsilon, median, threads, rebuild=False).run()
    times = []
    end = time.monotonic() + 0.4
    while len(times) < 5 or time.monotonic() < end:
        begin = time.perf_counter()
        work.run()
        times.append(1e3 * (time.perf_counter() - begin))
    work.close()
    return float(np.median(times))


# --- Inputs --------------------------------------------------------------------------------------

def frames_of(source, settings, width, height, count, folder):
    """Disparities (u16, 1/16 px) that cudasgm makes of a source of pairs."""
    pattern = os.path.join(folder, 'disparity-%03d.raw')
    subprocess.run(['gst-launch-1.0', '-q'] + source.split() +
                   ['!', 'cudasgm', 'output=disparity'] + settings.split() +
                   ['!', 'multifilesink', 'location=' + pattern], check=True)
    stride = (2 * width + 3) // 4 * 4
    paths = sorted(glob.glob(os.path.join(folder, 'disparity-*.raw')))[:count]
    frames = [np.fromfile(path, '<u2').reshape(height, stride // 2)[:, :width].copy()
              for path in paths]
    for path in glob.glob(os.path.join(folder, 'disparity-*.raw')):
        os.remove(path)
    return frames


def street(settings):
    with tempfile.TemporaryDirectory() as folder:
        return frames_of('stereotestsrc pattern=street num-buffers=%d ! video/x-raw,format=GRAY8,'
                         'width=2484,height=375,framerate=2/1' % STREET, settings, 1242, 375, STREET, folder)


def kitti_truth(data, year, name):
    truth = cv2.imread(os.path.join(data, year, name + '_disp_occ.png'), cv2.IMREAD_UNCHANGED)
    return truth / 256.0


def kitti(data, settings):
    frames = []
    for year, name in KITTI:
        views = [cv2.imread(os.path.join(data, year, '%s_%s.png' % (name, side)))
                for side in ('left', 'right')]
        with tempfile.TemporaryDirectory() as folder:
            pair = os.path.join(folder, 'pair.png')
            cv2.imwrite(pair, np.hstack(views))
            height, width = views[0].shape[:2]
            frames += frames_of('filesrc location=%s ! pngdec ! videoconvert ! '
                                'video/x-raw,format=RGB' % pair, settings, width, height, 1,
                                folder)
    return frames


def scale_rows(disparity, height):
    """To `height` rows: linear between two values, the nearer one beside a hole."""
    rows = disparity.shape[0]
    at = np.clip((np.arange(height) + 0.5) * rows / height - 0.5, 0, rows - 1.001)
    above = at.astype(int)
    part = (at - above)[:, None]
    a = disparity[above].astype(float)
    b = disparity[np.minimum(above + 1, rows - 1)].astype(float)
    both = np.where((a > 0) & (b > 0), a * (1 - part) + b * part, np.where(part < 0.5, a, b))
    return np.rint(both).astype(np.uint16)


# --- Tables --------------------------------------------------------------------------------------

def against_epsilon(frames, median):
    """Rows: epsilon, mean error px, share of errors above 1 px, px per segment, segments a column,
    levels mean, standard deviation, maximum."""
    table = []
    for epsilon in EPSILONS:
        points = segments = error = off = 0
        levels = []
        for frame in frames:
            work = segment(frame, epsilon, median)
            valid = frame > 0
            difference = np.abs(work.rebuilt.astype(int) - frame)[valid]
            points += int(valid.sum())
            error += int(difference.sum())
            off += int((difference > 16).sum())
            segments += int(work.offsets[-1])
            levels.append(work.columns['levels'][work.columns['points'] > 0])
        levels = np.concatenate(levels)
        columns = sum(frame.shape[1] for frame in frames)
        table.append((epsilon, error / 16 / points, 100 * off / points, points / segments,
                      segments / columns, levels.mean(), levels.std(), levels.max()))
    return np.array(table)


def print_table(title, heads, rows, form):
    print('\n%s\n' % title)
    print('| ' + ' | '.join(heads) + ' |')
    print('|' + ' --- |' * len(heads))
    for row in rows:
        print('| ' + ' | '.join(f % value if not isinstance(value, str) else value
                                for f, value in zip(form, row)) + ' |')


def print_against_epsilon(title, table):
    print_table(title, ('epsilon, px', 'mean error, px', 'off by > 1 px, %', 'px per segment',
                        'segments a column', 'levels, mean', 'deviation', 'most'), table,
                ('%g', '%.3f', '%.2f', '%.1f', '%.1f', '%.2f', '%.2f', '%d'))


def time_inputs(frames):
    """Best, average and worst of the frames by time at the paper's height, and noise."""
    tall = [scale_rows(frame, COLUMN_HEIGHT) for frame in frames]
    order = np.argsort([time_ms(frame, 4, 1) for frame in tall])
    noise = np.random.default_rng(1).integers(1, 2048, frames[0].shape).astype(np.uint16)
    return {'best': frames[order[0]], 'average': frames[order[len(order) // 2]],
            'worst': frames[order[-1]], 'noise': noise}


def noise_of(height, width):
    return np.random.default_rng(height).integers(1, 2048, (height, width)).astype(np.uint16)


def against_height(inputs):
    rows = []
    for height in HEIGHTS:
        row = [height]
        for name, frame in inputs.items():
            tall = (noise_of(height, frame.shape[1]) if name == 'noise'
                    else scale_rows(frame, height))
            row += [time_ms(tall, 4, 1), time_ms(tall, 4, 0)]
        rows.append(row)
    return rows


def bench_rows(lines, engine):
    """Median ms of the timed rows of rdp, by (height, kind)."""
    pattern = r'bench rdp/1242x(\d+)-(\w+) %s median_us=([\d.]+)' % engine
    found = (re.match(pattern, line) for line in lines)
    return {(int(m.group(1)), m.group(2)): float(m.group(3)) / 1e3 for m in found if m}


def gpu_rows():
    path = os.path.join(ROOT, 'docs', 'gpu-report.txt')
    return bench_rows(open(path), 'cuda') if os.path.exists(path) else {}


def cpu_rows(one_core):
    """The same rows on this machine's CPU."""
    rvcheck = os.path.join(os.environ.get('RV_BUILD_DIR', os.path.join(ROOT, 'build')), 'tests',
                           'rvcheck')
    if not os.path.exists(rvcheck):
        return {}
    wanted = ','.join('rdp/1242x%d-%s' % (height, kind) for height in HEIGHTS
                      for kind in KINDS.values())
    command = [rvcheck, '--bench', '--engine', 'cpu', '--only', wanted]
    if one_core:
        command = ['taskset', '-c', '%d' % min(os.sched_getaffinity(0))] + command
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return bench_rows(out.splitlines(), 'cpu')


def print_rows(title, rows):
    if rows:
        print_table(title, ['rows'] + list(KINDS),
                    [[height] + [1e3 * rows.get((height, kind), np.nan) for kind in KINDS.values()]
                     for height in HEIGHTS], ['%d'] + ['%.1f'] * len(KINDS))


# --- Plots ---------------------------------------------------------------------------------------

def plot_epsilon(folder, plain, filtered):
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), constrained_layout=True)
    shown = (0.25, 0.5, 1, 2, 4, 8, 16)
    for table, name in ((plain, 'plain SGM'), (filtered, 'SGM, median 5x5')):
        axes[0].plot(table[:, 0], table[:, 1], marker='o', label=name)
        axes[1].plot(table[:, 0], table[:, 3], marker='o', label=name)
    axes[0].set(title='Mean error, px (Fig. 2 left)', xlabel='epsilon, px')
    axes[1].set(title='Pixels per segment (Fig. 2 right)', xlabel='epsilon, px')
    axes[2].errorbar(filtered[:, 0], filtered[:, 5], yerr=filtered[:, 6], marker='o', capsize=3,
                     label='mean, std. deviation')
    axes[2].plot(filtered[:, 0], filtered[:, 7], 'k_', markersize=12, label='maximum')
    axes[2].set(title='Levels, median 5x5 (Fig. 5)', xlabel='epsilon, px')
    for axis in axes:
        axis.set_xscale('log')
        axis.set_xticks(shown, ['%g' % epsilon for epsilon in shown])
        axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
        axis.set_ylim(bottom=0)
    figure.savefig(os.path.join(folder, 'epsilon.png'), dpi=80)


def plot_height(folder, gpu, cpu):
    panels = [(rows, title) for rows, title in ((gpu, 'GPU (Fig. 9)'), (cpu, 'CPU, one core'))
              if rows]
    if not panels:
        return
    figure, axes = plt.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.4),
                                constrained_layout=True, squeeze=False)
    for axis, (rows, title) in zip(axes[0], panels):
        for name, kind in KINDS.items():
            points = [(height, rows[height, kind]) for height in HEIGHTS if (height, kind) in rows]
            if points:
                axis.plot(*zip(*points), marker='o', label=name)
        axis.set(title=title, ylabel='ms', xlabel='rows of a column (1242 columns, epsilon 4)',
                 xscale='log', yscale='log')
        axis.set_xticks(HEIGHTS, [str(height) for height in HEIGHTS])
        axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3, which='both')
        axis.legend(fontsize=8)
    figure.savefig(os.path.join(folder, 'height.png'), dpi=80)


def plot_engines(folder, gpu, one_core, all_cores):
    cores = os.cpu_count() or 1
    figure, axes = plt.subplots(2, 1, figsize=(7.5, 4.2), constrained_layout=True,
                                gridspec_kw={'height_ratios': (1, 2)})
    for axis, height in zip(axes, (256, COLUMN_HEIGHT)):
        here = {'GPU of gpu-report.txt': gpu, 'CPU, one core': one_core,
                'CPU, %d cores' % cores: all_cores}
        bars = [(name, rows[height, 'median'], 'C0') for name, rows in here.items()
                if (height, 'median') in rows]
        if height == COLUMN_HEIGHT:
            bars += [(name, ms, 'C7') for name, ms in PAPER.items()]
        bars.sort(key=lambda bar: -bar[1])
        axis.barh([name for name, _, _ in bars], [ms for _, ms, _ in bars],
                  color=[color for _, _, color in bars])
        for k, (_, ms, _) in enumerate(bars):
            axis.text(ms, k, ' %.3g ms' % ms, va='center', fontsize=8)
        axis.set(title='Average input, 1242 x %d px (Fig. 10)' % height, xscale='log',
                 xlim=(0.005, 60))
    axes[1].set_xlabel('ms')
    figure.savefig(os.path.join(folder, 'engines.png'), dpi=80)


# --- Stixels -------------------------------------------------------------------------------------

def rebuild_stixels(annotation, width, height):
    rebuilt = np.zeros((height, width))
    for s in annotation['payload']:
        rows = np.arange(s['v_top'], int(s['v_bottom']) + 1)
        right = int(s['column']) + annotation['stixel-width']
        rebuilt[rows, s['column']:right] = (s['slope'] * rows + s['intercept'])[:, None]
    return np.maximum(rebuilt, 0), annotation['count']


def stixels_of(pair, width, height):
    """Disparity rebuilt from cudastixels' stixels of a pair, and their number."""
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    import roadvision
    Gst.init(None)
    if Gst.ElementFactory.find('cudastixels') is None:
        return None
    pipeline = Gst.parse_launch('filesrc location=%s ! pngdec ! videoconvert ! '
                                'video/x-raw,format=RGB ! cudasgm ! cudastixels ! '
                                'fakesink name=sink' % pair)
    found = []

    def probe(pad, info):
        found.append(roadvision.annotation(info.get_buffer(), 'RvStixelsMeta'))
        return Gst.PadProbeReturn.OK
    pipeline.get_by_name('sink').get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, probe)
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_bus().timed_pop_filtered(120 * Gst.SECOND,
                                          Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    return rebuild_stixels(found[0], width, height) if found and found[0] else None


def against_truth(rebuilt, truth, wanted):
    """Off by more than 3 px and 5 %, of the pixels with truth that the input has a value for."""
    known = (truth > 0) & wanted
    error = np.abs(rebuilt - truth)[known]
    return 100 * np.mean((error > 3) & (error > 0.05 * truth[known]))


def stixels_table(data, frames):
    rows = []
    truths = [kitti_truth(data, year, name) for year, name in KITTI]
    score = [against_truth(frame / 16, truth, frame > 0) for frame, truth in zip(frames, truths)]
    pixels = sum(frame.size for frame in frames)
    rows.append(('input', float(np.mean(score)), 1.0))
    for epsilon in (1, 2, 4, 8):
        works = [segment(frame, epsilon) for frame in frames]
        score = [against_truth(work.rebuilt / 16, truth, frame > 0)
                 for work, frame, truth in zip(works, frames, truths)]
        rows.append(('segments, epsilon %g' % epsilon, float(np.mean(score)),
                     pixels / sum(int(work.offsets[-1]) for work in works)))
    made = []
    for (year, name), frame in zip(KITTI, frames):
        with tempfile.TemporaryDirectory() as folder:
            pair = os.path.join(folder, 'pair.png')
            cv2.imwrite(pair, np.hstack([
                cv2.imread(os.path.join(data, year, '%s_%s.png' % (name, side)))
                for side in ('left', 'right')]))
            made.append(stixels_of(pair, frame.shape[1], frame.shape[0]))
    if all(made):
        score = [against_truth(rebuilt, truth, frame > 0)
                 for (rebuilt, _), truth, frame in zip(made, truths, frames)]
        rows.append(('stixels, 8 x 8, defaults', float(np.mean(score)),
                     pixels / sum(count for _, count in made)))
    print_table('Segments and stixels, against the ground truth', ('rebuilt from', 'D1, %',
                'px per record'), rows, ('%s', '%.2f', '%.1f'))


# --- All of it -----------------------------------------------------------------------------------

def main():
    folder, data = sys.argv[1], os.environ.get('RV_DATA')
    frames = kitti(data, '') if data else street('')
    plain_frames = kitti(data, PLAIN) if data else street(PLAIN)
    tall = [scale_rows(frame, COLUMN_HEIGHT) for frame in plain_frames]
    name = 'KITTI' if data else 'the test street'
    plain, filtered = against_epsilon(tall, 0), against_epsilon(tall, 5)
    print_against_epsilon('cudasgm without cleaning on %s, %d rows' % (name, COLUMN_HEIGHT), plain)
    print_against_epsilon('the same after median 5x5', filtered)
    inputs = time_inputs(frames + plain_frames)
    rows = against_height(inputs)
    heads = ['rows'] + ['%s, %s' % (kind, cores) for kind in inputs for cores in ('1 core', 'all')]
    print_table('CPU, ms, epsilon 4, %d processors' % (os.cpu_count() or 1), heads, rows,
                ['%d'] + ['%.2f'] * 8)
    gpu, one_core, all_cores = gpu_rows(), cpu_rows(True), cpu_rows(False)
    print_rows('Timed rows, GPU of docs/gpu-report.txt, µs', gpu)
    print_rows('Timed rows, CPU, one core, µs', one_core)
    print_rows('Timed rows, CPU, %d cores, µs' % (os.cpu_count() or 1), all_cores)
    if data:
        stixels_table(data, frames)
    os.makedirs(folder, exist_ok=True)
    plot_epsilon(folder, plain, filtered)
    plot_height(folder, gpu, one_core)
    plot_engines(folder, gpu, one_core, all_cores)
    print('\nplots: %s' % folder)


if __name__ == '__main__':
    try:
        import matplotlib
        matplotlib.use('Agg')
        import matplotlib.pyplot as plt
    except ImportError:
        sys.exit('rdp_study: the plots need matplotlib: apt-get install python3-matplotlib')
    main()
