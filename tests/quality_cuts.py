#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the allowed boundaries of stixels cost: all, time series and network, on all open sets.

    quality_cuts.py DEPTH_TOOL STIXELS_TOOL RV_DATA [--folder FOLDER] [--network FILE]... [--quick]

The tools are those of tests/eval of a build; pictures and scores are those of stixels_sets.py.
FOLDER keeps disparity maps between calls. Each FILE of weights is evaluated as those of the library.
Prints for each set and configuration the share of boundaries that are cuts, the error of the planes
(D1 over all truth), the number of stixels, and with labels the mean IoU; the last lines are the
limits, and the exit code says whether all hold. --quick: KITTI and DrivingStereo only."""
import argparse
import sys
import tempfile

import stixels_sets

DENSITY = 35  # % of the boundaries, of every set
ERROR = 0.1   # points of D1 above cuts=all, every set
IOU = 0.3     # points of IoU below
MODELS = {
    'slanted 8x8': 'model=slanted',
    'slanted 4x4': 'model=slanted stixel-width=4 vertical-step=4',
    'slanted-fast 8x8': '',
    'constant 8x8': 'model=constant',
}
INPUTS = {'default': '', 'whole': 'max-lr-diff=-1 uniqueness=0 speckle-size=0'}
REAL = ('KITTI 2015', 'KITTI 2012', 'DrivingStereo')


def judge(sets, source, model, cuts, labels, pictures):
    options = [*MODELS[model].split(), *cuts.split()]
    found = sets.run(source, options, labels, pictures=pictures)
    rows = sets.score(source, found, labels)
    for name, row in rows.items():
        row['density'] = sets.densities[name]
    return sets.by_group(rows)


def print_rows(title, judged, columns):
    print('\n' + title)
    print('%-20s%-14s' % ('set', 'cuts') + ''.join('%10s' % c for c in columns))
    for group in next(iter(judged.values())):
        for name, groups in judged.items():
            values = (groups[group].get(c) for c in columns)
            print('%-20s%-14s' % (group, name) +
                  ''.join('%10s' % ('-' if v is None else '%.2f' % v) for v in values), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('tools', nargs=2)
    parser.add_argument('data')
    parser.add_argument('--folder')
    parser.add_argument('--network', action='append', default=[])
    parser.add_argument('--model', action='append', choices=MODELS)
    parser.add_argument('--input', action='append', choices=INPUTS)
    parser.add_argument('--penalty', action='append', default=[])
    parser.add_argument('--quick', action='store_true')
    options = parser.parse_args()
    cuts = {'all': 'cuts=all', 'time-series': 'cuts=time-series', 'network': 'cuts=network'}
    cuts.update({'penalty ' + p: 'cuts=network cut-penalty=' + p for p in options.penalty})
    for path in options.network:
        cuts[path.rsplit('/', 1)[-1][:13]] = 'cuts=network network=' + path
    failed = []
    with tempfile.TemporaryDirectory() as work:
        sets = stixels_sets.Sets(*options.tools, options.data, options.folder or work, INPUTS, False)
        pictures = [p for p in sets.pictures if not options.quick or p.group in REAL]
        for source in options.input or INPUTS:
            for model in options.model or MODELS:
                for labels in (None, 'true'):
                    judged = {name: judge(sets, source, model, of, labels, pictures)
                              for name, of in cuts.items()}
                    print_rows('%s, %s input, %s labels' % (model, source, labels or 'no'), judged,
                               ('density', 'D1', 'stixels') + (('mIoU',) if labels else ()))
                    failed += verdict(judged, '%s, %s input, %s labels' % (model, source, labels or 'no'))
    print()
    for line in failed:
        print('over the limit: ' + line)
    print('quality_cuts: %s' % ('limits exceeded' if failed else 'density, error and IoU within the limits'))
    return 1 if failed else 0


def verdict(judged, title):
    """Lines for what the network of the library exceeds, of model `slanted`."""
    lines = []
    for group, row in judged['network'].items():
        full = judged['all'][group]
        if row['density'] > DENSITY:
            lines.append('%s, %s: density %.2f %%' % (title, group, row['density']))
        if 'D1' in row and row['D1'] > full['D1'] + ERROR:
            lines.append('%s, %s: D1 %+.2f' % (title, group, row['D1'] - full['D1']))
        if 'mIoU' in row and row['mIoU'] < full['mIoU'] - IOU:
            lines.append('%s, %s: IoU %+.2f' % (title, group, row['mIoU'] - full['mIoU']))
    return lines


if __name__ == '__main__':
    sys.exit(main())
