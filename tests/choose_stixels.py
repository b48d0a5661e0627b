#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Chooses the defaults of cuda/stixels by leaving one set out.

    choose_stixels.py planes|confidence|semantics DEPTH_TOOL STIXELS_TOOL RV_DATA [FOLDER]

The tools are those of tests/eval of a build; images and scores are those of stixels_sets.py, with
the noisy copies. FOLDER keeps disparity maps between calls.

planes      candidates, the defaults with one value replaced each, are run on every set, from the
            default depth (D1 over all truth) and from depth without checks. For each set the candidate is chosen that is best on the mean over
            the other sets of both errors, relative to the former defaults, among those with at most
            MORE times their stixels; printed is what it then reaches on the set that had no say.
confidence  D1 with confidences minus without, in points, by depth and set
semantics   IoU with true, corrupted and no labels by weight of semantics, next to the majority vote"""
import os
import sys
import tempfile

import numpy as np

import stixels_sets

FORMER = ('sigma-object-b=0 sigma-object=1 sigma-ground=1 complexity=5 one-view-confidence=0 '
          'gravity-minus-beta=0.3 gravity-plus-beta=0.3 ordering-beta=0.5 p-empty-sky=0.1 '
          'object-on-sky=5 sigma-sky=1')
BEFORE = ('sigma-object=0.7 sigma-ground=1 complexity=8 gravity-minus-beta=0.3 gravity-plus-beta=0.3 '
          'ordering-beta=0.5')  # chosen by D1 alone, with cells that half of their pixels made valid
BASE = 'former defaults'
MORE = 1.1
CANDIDATES = {
    BASE: FORMER,
    'before': BEFORE,
    'default': '',
    'one-view-confidence=0': None, 'one-view-confidence=0.5': None,
    'sigma-object-b=0': None, 'sigma-object-b=0.05': None, 'sigma-object-b=0.1': None,
    'sigma-object-b=0.5': None,
    'sigma-object=0.7': None, 'sigma-object=1': None,
    'sigma-ground=0.7': None, 'sigma-ground=1': None, 'sigma-ground=1.4': None,
    'complexity=6': None, 'complexity=8': None, 'complexity=12': None, 'complexity=15': None,
    'gravity-minus-beta=0': None, 'gravity-minus-beta=0.3': None,
    'gravity-plus-beta=0': None, 'gravity-plus-beta=0.3': None,
    'ordering-beta=0.1': None, 'ordering-beta=0.5': None,
    # Chosen by the IoU of sky, which D1 does not measure: far pixels without truth.
    'p-empty-sky=0.1': None, 'p-empty-sky=0.3': None, 'p-empty-sky=0.7': None,
    'p-out=0.3': None, 'sigma-sky=1': None, 'sigma-sky=4': None,
    'object-on-sky=5': None, 'object-on-sky=30': None,
}
SKY = ('p-empty-sky', 'p-out', 'sigma-sky', 'object-on-sky')
INPUTS = {'default': '', 'whole': 'max-lr-diff=-1 uniqueness=0 speckle-size=0', 'dense': 'fill=dense'}
CONFIDENCES = ('', 'full-confidence=0.75', 'full-confidence=0.8', 'full-confidence=0.9',
               'full-confidence=0.05 min-confidence=0', 'full-confidence=1 min-confidence=0',
               'full-confidence=0.9 min-confidence=0.5')
WEIGHTS = (0.5, 1, 2, 4, 6, 8, 12)


def options(name):
    own = CANDIDATES[name]
    return (name if own is None else own).split()


def row_of(names, values, form):
    return '| ' + ' | '.join(names) + ' | ' + ' | '.join(form % v for v in values) + ' |'


def planes(sets):
    found = {}
    for name in CANDIDATES:
        found[name] = {source: sets.by_group(sets.score(source, sets.run(source, options(name))))
                       for source in ('default', 'whole')}
    groups = [g for g, row in found[BASE]['default'].items() if 'D1' in row]
    skies = [g for g, row in found[BASE]['default'].items() if 'sky' in row]

    def of(name, source, column, which=groups):
        return np.array([found[name][source][g][column] for g in which])
    relative = {name: (of(name, 'default', 'D1') / of(BASE, 'default', 'D1') +
                       of(name, 'whole', 'D1') / of(BASE, 'whole', 'D1')) / 2 for name in found}
    more = {name: (of(name, 'default', 'stixels') / of(BASE, 'default', 'stixels') +
                   of(name, 'whole', 'stixels') / of(BASE, 'whole', 'stixels')) / 2
            for name in found}
    print('| candidate | ' + ' | '.join(groups) + ' | relative | stixels | sky; ground: ' +
          ', '.join(skies) + ' |')
    print('| --- |' + ' --- |' * (len(groups) + 3))
    for name in sorted(found, key=lambda name: relative[name].mean()):
        cells = ['%.2f, %.2f' % pair for pair in zip(of(name, 'default', 'D1'),
                                                    of(name, 'whole', 'D1'))]
        print('| %s | %s | %.3f | %.2f | %s |' % (
            name, ' | '.join(cells), relative[name].mean(), more[name].mean(),
            '; '.join(', '.join('%.0f' % v for v in of(name, 'default', what, skies))
                      for what in ('sky', 'ground'))), flush=True)
    print('\n| left out | chosen on the others | D1 there | default | %s |' % BASE)
    print('| --- | --- | --- | --- | --- |')
    held = []
    for i, group in enumerate(groups):
        others = [j for j in range(len(groups)) if j != i]
        allowed = [name for name in relative
                   if more[name][others].mean() <= MORE and not name.startswith(SKY)]
        best = min(allowed, key=lambda name: relative[name][others].mean())
        held.append(relative[best][i])
        pairs = ['%.2f, %.2f' % (found[n]['default'][group]['D1'], found[n]['whole'][group]['D1'])
                 for n in (best, 'default', BASE)]
        print('| %s | %s | %s |' % (group, best, ' | '.join(pairs)))
    print('| relative | | %.3f | %.3f | 1 |' % (np.mean(held), relative['default'].mean()))


def confidence(sets):
    first = True
    for source in INPUTS:
        plain = sets.by_group(sets.score(source, sets.run(source)))
        groups = [g for g, row in plain.items() if 'D1' in row]
        if first:
            print('| depth | options | ' + ' | '.join(groups) + ' |')
            print('| --- | --- |' + ' --- |' * len(groups))
        first = False
        print(row_of((source, 'without confidences'), [plain[g]['D1'] for g in groups], '%.2f'))
        for extra in CONFIDENCES:
            rows = sets.by_group(sets.score(
                source, sets.run(source, extra.split(), confidence=True)))
            print(row_of((source, extra or 'default'),
                         [rows[g]['D1'] - plain[g]['D1'] for g in groups], '%+.2f'), flush=True)


def semantics(sets):
    vote = sets.by_group(sets.majority_scores())
    print('| labels | weight | ' + ' | '.join('%s: mean IoU, sky, stixels' % g for g in vote) + ' |')
    print('| --- | --- |' + ' --- |' * len(vote))
    print('| majority vote | | ' + ' | '.join('%.1f, %.1f,' % (row['mIoU'], row['sky'])
                                              for row in vote.values()) + ' |')
    for labels in ('true', 'corrupt'):
        for weight in WEIGHTS:
            rows = sets.by_group(sets.score('default', sets.run(
                'default', ['semantic-weight=%g' % weight], labels), labels))
            print('| %s | %g | ' % (labels, weight) + ' | '.join(
                '%.1f, %.1f, %.0f' % (rows[g]['mIoU'], rows[g]['sky'], rows[g]['stixels'])
                for g in vote) + ' |', flush=True)
    rows = sets.by_group(sets.score('default', sets.run('default')))
    print('| none | | ' + ' | '.join('-, %.1f, %.0f' % (rows[g]['sky'], rows[g]['stixels'])
                                     for g in vote) + ' |')


def main():
    commands = {'planes': planes, 'confidence': confidence, 'semantics': semantics}
    if len(sys.argv) < 5 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    command, depth_tool, stixels_tool, folder = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as work:
        kept = sys.argv[5] if len(sys.argv) > 5 else work
        os.makedirs(kept, exist_ok=True)
        commands[command](stixels_sets.Sets(depth_tool, stixels_tool, folder, kept, INPUTS))


if __name__ == '__main__':
    main()
