#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Chooses the defaults of cuda/sgm by leaving one set out, and checks its confidence the same way.

    choose_defaults.py penalties TOOL RV_DATA [RESULTS.json]
    choose_defaults.py confidence TOOL RV_DATA

TOOL is tests/eval/depth_tool of a build. The images are those of quality_depth.py, all of them
with ground truth and with their noisy copies.

penalties: every candidate is run on every set. For each set the candidate is chosen that is best on
the mean over the other sets of its filled D1, relative to the thesis' method with 4 paths; printed
is what it then reaches on the set that had no say. RESULTS.json keeps scores between calls.

confidence: for each set the probability of each confidence is learned on the other sets; printed is by
how much probability and share of right pixels differ in each tenth of the set's pixels."""
import json
import os
import sys
import tempfile

import numpy as np

import quality_depth as depth

THESIS = 'cost=csct p1=10 p2=120 adaptive-p2=false median=3'
BASE = 'thesis, 4 paths'
# Candidates: the default; CENTER, which differs from it in p2-min; and each part of CENTER replaced.
CENTER = 'p2-min=45'
CANDIDATES = {
    'thesis, 8 paths': THESIS + ' paths=8',
    BASE: THESIS + ' paths=4',
    'default': '',
    CENTER: CENTER,
    'cost=csct with the limit 14': CENTER + ' cost=csct max-cost=14 p1-ground=6 '
                                   'subpixel-fit=equiangular',
    'cost=census with the limit 26': 'cost=census max-cost=26 p1=24 p1-ground=12 p2=254 p2-min=90 '
                                     'p2-gradient=8 subpixel-fit=equiangular',
    'max-cost=12': CENTER + ' max-cost=12',
    'max-cost=16': CENTER + ' max-cost=16',
    'no limit of the cost': CENTER + ' max-cost=32',
    'p1=10': CENTER + ' p1=10 p1-ground=6',
    'p1=15': CENTER + ' p1=15 p1-ground=6',
    'p1-ground=4': CENTER + ' p1-ground=4',
    'p1-ground=8': CENTER + ' p1-ground=8',
    'p1-ground=12, the same P1': CENTER + ' p1-ground=12',
    'p2-gradient=2': CENTER + ' p2-gradient=2',
    'p2-gradient=8': CENTER + ' p2-gradient=8',
    'p2-min=35': 'p2-min=35',
    'p2-min=60': 'p2-min=60',
    'adaptive-p2=false': 'adaptive-p2=false',
    'paths=8': CENTER + ' paths=8',
    'uniqueness=0': CENTER + ' uniqueness=0',
    'uniqueness=5': CENTER + ' uniqueness=5',
    'median=3': CENTER + ' median=3',
    'speckle-size=200': CENTER + ' speckle-size=200',
}
MARGINS = 10  # tenths of the pixels


def judge(tool, folder, work):
    pictures = depth.real_images(folder, depth.REAL) + depth.rendered_images(tool, work)
    return depth.Judge(tool, work, [p for p in pictures if p.truth is not None])


def run_candidates(tool, folder, path):
    """Candidate -> set -> means of depth.COLUMNS."""
    found = {}
    if path and os.path.exists(path):
        with open(path) as file:
            found = json.load(file)
    with tempfile.TemporaryDirectory() as work:
        pairs = None
        for name, options in CANDIDATES.items():
            if name in found:
                continue
            pairs = pairs or judge(tool, folder, work)
            pairs.match(options.split())
            found[name] = depth.by_group(pairs.pictures, pairs.scores())
            print('%-32s mean D1 filled %.2f' % (
                name, np.mean([row['D1_fill'] for row in found[name].values()])), flush=True)
            if path:
                with open(path, 'w') as file:
                    json.dump(found, file)
    return {name: found[name] for name in CANDIDATES}


def penalties(tool, folder, path=None):
    found = run_candidates(tool, folder, path)
    groups = list(found[BASE])
    relative = {name: np.array([rows[g]['D1_fill'] / found[BASE][g]['D1_fill'] for g in groups])
                for name, rows in found.items()}
    print('\n| candidate | ' + ' | '.join(groups) + ' | mean | relative |')
    print('| --- |' + ' --- |' * (len(groups) + 2))
    for name, rows in sorted(found.items(), key=lambda item: relative[item[0]].mean()):
        values = [rows[g]['D1_fill'] for g in groups]
        print('| %s | ' % name + ' | '.join('%.2f' % v for v in values) +
              ' | %.2f | %.3f |' % (np.mean(values), relative[name].mean()))
    print('\n| left out | chosen on the others | D1 filled there | default | %s |' % BASE)
    print('| --- | --- | --- | --- | --- |')
    held = []
    for i, group in enumerate(groups):
        others = [j for j in range(len(groups)) if j != i]
        best = min(relative, key=lambda name: relative[name][others].mean())
        held.append(found[best][group]['D1_fill'])
        print('| %s | %s | %.2f | %.2f | %.2f |' % (
            group, best, held[-1], found['default'][group]['D1_fill'],
            found[BASE][group]['D1_fill']))
    print('| mean | | %.2f | %.2f | %.2f |' % (
        np.mean(held), np.mean([found['default'][g]['D1_fill'] for g in groups]),
        np.mean([found[BASE][g]['D1_fill'] for g in groups])))
    return 0


def histograms(pairs):
    """Set -> (right, wrong) shares of the set's pixels by confidence, every image the same weight."""
    found = {}
    for p in pairs.pictures:
        estimate, confidence = pairs.disparity(p), pairs.confidence(p)
        judged = np.isfinite(p.truth) & np.isfinite(estimate)
        if p.region is not None:
            judged &= p.region
        error = np.abs(estimate - p.truth)[judged]
        wrong = (error > 3) & (error > 0.05 * p.truth[judged])
        shares = [np.bincount(confidence[judged][which], minlength=256) / judged.sum()
                  for which in (~wrong, wrong)]
        old = found.get(p.group, (np.zeros(256), np.zeros(256)))
        found[p.group] = (old[0] + shares[0], old[1] + shares[1])
    return {g: (a / (a + b).sum(), b / (a + b).sum()) for g, (a, b) in found.items()}


def deciles(right, wrong, probability):
    """Probability minus share of right pixels, in points, by tenth of the pixels."""
    share = right + wrong
    upto = np.cumsum(share)
    out = []
    for n in range(MARGINS):
        low, high = n / MARGINS, (n + 1) / MARGINS
        part = np.clip(np.minimum(upto, high) - np.maximum(upto - share, low), 0, None)
        weight = np.where(share > 0, part / np.maximum(share, 1e-12), 0)
        all_of = (weight * share).sum()
        out.append(100 * ((weight * share * probability).sum() - (weight * right).sum()) / all_of)
    return out


def learn(sets):
    """Probability by confidence, not falling (pooled neighbors)."""
    right, share = sum(a for a, _b in sets), sum(a + b for a, b in sets)
    blocks = []
    for i in range(256):
        blocks.append([right[i], share[i], 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [x + y for x, y in zip(blocks[-1], last)]
    return np.concatenate([np.full(n, a / b if b else 1.0) for a, b, n in blocks])


def confidence(tool, folder):
    with tempfile.TemporaryDirectory() as work:
        pairs = judge(tool, folder, work)
        pairs.match(['confidence=true'])
        found = histograms(pairs)
    table = np.arange(256) / 255
    print('| set | worst tenth, table of the library | worst tenth, learned on the others |')
    print('| --- | --- | --- |')
    signed = {'library': [], 'learned': []}
    for group, (right, wrong) in found.items():
        learned = learn([found[g] for g in found if g != group])
        errors = {'library': deciles(right, wrong, table), 'learned': deciles(right, wrong, learned)}
        for name, values in errors.items():
            signed[name].append(values)
        print('| %s | %+.1f | %+.1f |' % (group, max(errors['library'], key=abs),
                                         max(errors['learned'], key=abs)))
    right = sum(a for a, _b in found.values()) / len(found)
    wrong = sum(b for _a, b in found.values()) / len(found)
    print('| all together | %+.1f | %+.1f |' % (
        max(deciles(right, wrong, table), key=abs),
        max(deciles(right, wrong, learn(list(found.values()))), key=abs)))
    return 0


if __name__ == '__main__':
    commands = {'penalties': penalties, 'confidence': confidence}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
