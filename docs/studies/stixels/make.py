#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plots time vs. column height for the three models of stixels, from the benchmark cases in rows.txt.

  docs/studies/stixels/make.py [ROWS.txt [PLOT.png]]

The input is the output of `rvcheck --model stixels --bench`. Also prints the ratios of the times of
`slanted` and `slanted-fast`. Needs python3-matplotlib.
"""
import os
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit('make: the plot needs matplotlib: apt-get install python3-matplotlib')
matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = {'fast': 'slanted-fast', 'slanted': 'slanted', 'constant': 'constant'}
ENGINES = {'cuda': 'One H200', 'cpu': 'CPU engine, one core'}
ROW = re.compile(r'bench stixels/(\S+) (cpu|cuda) median_us=([\d.]+)')


def read_rows(path):
    """{(engine, name): ms}; of repeated cases the fastest."""
    rows = {}
    with open(path) as file:
        for name, engine, us in ROW.findall(file.read()):
            key = engine, name
            rows[key] = min(float(us) / 1000, rows.get(key, float('inf')))
    return rows


def heights_of(rows, engine, model, part):
    """Sorted (rows, ms)."""
    name = re.compile(r'rows(\d+)-%s%s$' % (model, part))
    found = ((name.match(key[1]), ms) for key, ms in rows.items() if key[0] == engine)
    return sorted((int(match.group(1)), ms) for match, ms in found if match)


def plot(rows, path):
    engines = [engine for engine in ENGINES if heights_of(rows, engine, 'fast', '')]
    figure, axes = plt.subplots(1, len(engines), figsize=(4.8 * len(engines), 3.8),
                                constrained_layout=True, squeeze=False)
    for axis, engine in zip(axes[0], engines):
        ticks = [height for height, _ms in heights_of(rows, engine, 'fast', '')]
        for color, (model, label) in zip(('tab:blue', 'tab:red', 'tab:green'), MODELS.items()):
            points = heights_of(rows, engine, model, '')
            if not points:
                continue
            axis.plot(*zip(*points), marker='o', color=color, label=label)
            alone = heights_of(rows, engine, model, '-columns')
            if alone:
                axis.plot(*zip(*alone), marker='.', color=color, linestyle='--', linewidth=1)
            height, ms = points[-1]
            order = 3 if model == 'slanted' else 2
            if model != 'constant':
                axis.plot(ticks[-3:], [ms * (h / height) ** order for h in ticks[-3:]],
                          color='black', linestyle=':', linewidth=1)
                axis.annotate('rows$^%d$' % order, (ticks[-2], ms * (ticks[-2] / height) ** order),
                              textcoords='offset points', xytext=(6, -12), fontsize=8)
        axis.set(title=ENGINES[engine], xlabel='rows of cells in a column (128 columns)',
                 ylabel='ms', xscale='log', yscale='log')
        axis.set_xticks(ticks, [str(height) for height in ticks])
        axis.set_xticks([], minor=True)
        axis.grid(alpha=0.3, which='both')
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=80)


def print_ratios(rows):
    for engine in ENGINES:
        for part, title in (('', 'all stages'), ('-columns', 'dynamic programming')):
            pairs = [(str(height), slow, fast) for (height, slow), (_height, fast) in
                     zip(heights_of(rows, engine, 'slanted', part),
                         heights_of(rows, engine, 'fast', part))]
            for size in ('w8s8', 'w4s4'):
                names = ['2048x1024-%s-%s-one%s' % (size, model, part) for model in MODELS]
                if (engine, names[0]) in rows and (engine, names[1]) in rows:
                    pairs.append(('2048x1024 ' + size, rows[engine, names[1]],
                                  rows[engine, names[0]]))
            if pairs:
                print('%s, %s: slanted / slanted-fast %s' % (ENGINES[engine], title, ', '.join(
                    '%s: %.1f' % (name, slow / fast) for name, slow, fast in pairs)))


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'rows.txt')
    target = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, 'height.png')
    rows = read_rows(source)
    if not rows:
        sys.exit('make: no benchmark cases of stixels in %s' % source)
    plot(rows, target)
    print_ratios(rows)
    return 0


if __name__ == '__main__':
    sys.exit(main())
