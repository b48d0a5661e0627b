# SPDX-License-Identifier: MIT
"""The thesis' experiments on road detection (chapters 3.4 and 3.5), repeated on the frames that
road_eval.py was given: tables 1, 2, 4 and 6, and a plot of each parameter as figures 28 and 30 to 52.

Each parameter is changed separately, once from the defaults and once from the thesis' method, without
the additions of this project (height in the decision, training strip, majority filter). The camera
parallel to the ground is the exception: there is none here."""
import os

import numpy as np

import road_eval

THESIS = {'max_height': 0, 'near_width': 0, 'smoothing': 0, 'disparity_noise': 0,
          'max_roughness': 1}
BASES = (('defaults', {}), ("thesis' method", THESIS))

TC = (0.5, 1, 1.5, 2, 3, 4, 5, 6)
# (file, title, figures of the thesis, curves by name: list of (label, setting)), frames)
SWEEPS = [
    ('patch_size', 'Patch size n, px', '30, 31', [(n, {'patch_size': n}) for n in range(2, 10)], 0),
    ('classify_threshold', 'Classification threshold Tc', '32, 33',
     [(t, {'classify_threshold': t}) for t in TC], 0),
    ('update_threshold', 'Update threshold Tm', '34, 35',
     [(t, {'update_threshold': t}) for t in (0.5, 1, 2, 3, 4, 6, 8)], 0),
    ('bins', 'Bins m of hue and of saturation', '38, 39',
     [(m, {'bins': m}) for m in (2, 4, 6, 8, 10, 12, 16)], 0),
    ('library_size', 'Models in the library K', '42, 43',
     [(k, {'library_size': k}) for k in (2, 5, 10, 20, 50)], 0),
    ('new_models', 'New models per frame k', '44, 45',
     [(k, {'new_models': k}) for k in (1, 2, 3, 4, 5)], 0),
    ('initial_models', 'Models of the first frame k0', '46, 47',
     [(k, {'initial_models': k}) for k in (1, 2, 3, 4, 5)], 0),
    ('initial_models_10', 'k0, first 10 frames', '48, 49',
     [(k, {'initial_models': k}) for k in (1, 2, 3, 4, 5)], 10),
    ('initial_models_1', 'k0, first frame', '50',
     [(k, {'initial_models': k}) for k in (1, 2, 3, 4, 5)], 1),
    ('roughness', 'Roughness Tr, 1e-5 m²', '51, 52',
     [(r, {'roughness': r * 1e-5}) for r in (0.5, 1, 2, 3, 4, 6, 8, 12, 16)], 0),
]
# A curve for each value of the first parameter, points for the second.
GRIDS = [
    ('update_classify', 'Tc for each Tm', '36, 37',
     [('Tm %g' % tm, [(tc, {'update_threshold': tm, 'classify_threshold': tc}) for tc in (1, 2, 3, 4, 6)])
      for tm in (0.5, 2, 4, 8)]),
    ('bins_classify', 'Tc for each m', '40, 41',
     [('m %d' % m, [(tc, {'bins': m, 'classify_threshold': tc}) for tc in (1, 2, 3, 4, 6)])
      for m in (4, 6, 8, 12)]),
    ('distance', 'Tc for each distance', '28',
     [(name, [(tc, {'distance': name, 'classify_threshold': tc}) for tc in values])
      for name, values in (('mahalanobis', TC), ('manhattan', (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.5)),
                           ('euclidean', (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)),
                           ('chebyshev', (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)),
                           ('hellinger', (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)),
                           ('chi-square', (0.2, 0.5, 1, 2, 4, 8, 16)))]),
]
OURS = [
    ('max_height', 'Height tolerance, m',
     [(h, {'max_height': h}) for h in (0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)]),
    ('ground_threshold_scale', 'Threshold scale on the ground plane', [(t, {'ground_threshold_scale': t}) for t in (1, 1.25, 1.5, 2, 3, 4)]),
    ('near_width', 'Training strip, m', [(w, {'near_width': w}) for w in (0, 1, 2, 3, 4, 6)]),
    ('near_range', 'Near range, m', [(r, {'near_range': r}) for r in (6, 8, 10, 15, 20)]),
    ('smoothing', 'Majority filter, patches', [(s, {'smoothing': s}) for s in (0, 3, 5)]),
    ('variance_floor', 'Variance floor, 1e-3',
     [(f, {'variance_floor': f * 1e-3}) for f in (0.1, 0.3, 1, 3, 10)]),
]
CONFIGS = (('Tc 3', {'classify_threshold': 3}), ('Tc 4', {'classify_threshold': 4}),
           ('Tc 6', {'classify_threshold': 6}), ('Tm 4', {'update_threshold': 4}),
           ('m 6', {'bins': 6}))
SAMPLES = (5, 20, 70, 300, 1000, 4000)


class Runs:
    """Runs every setting once, all of a call in one process with the frames in memory."""

    def __init__(self, parts, base):
        self.parts, self.base, self.done = parts, base, {}

    def key(self, method, setting):
        return tuple(sorted({**method, **setting, **self.base}.items()))

    def make(self, wanted):
        missing = [key for key in dict.fromkeys(wanted) if key not in self.done]
        if missing:
            results = road_eval.run(self.parts, [dict(key) for key in missing])
            self.done.update(zip(missing, results))

    def get(self, method, setting):
        return self.done[self.key(method, setting)]


def moments(result):
    return tuple(float(value) for value in (result.tp.mean(), result.tp.std(), result.fp.mean(),
                                            result.fp.std(), result.f1.mean()))


def row(name, result):
    print('| %s | %.2f (%.2f) | %.2f (%.2f) | %.2f |' % ((name,) + moments(result)))


def head(name):
    print('\n| %s | TP | FP | F1 |\n| --- | --- | --- | --- |' % name)


# --- Tables ---------------------------------------------------------------------------------------

CHANGES = (('equalization off', {'equalize': 0}), ('near_width = 0', {'near_width': 0}),
           ('max_height = 0', {'max_height': 0}), ('ground_threshold_scale = 1', {'ground_threshold_scale': 1}),
           ('smoothing = 0', {'smoothing': 0}), ('disparity_noise = 0', {'disparity_noise': 0}),
           ('one model (library_size = 1, initial_models = 1)',
            {'library_size': 1, 'initial_models': 1}),
           ('trained on each frame only', {'alone': 1}))
EQUALIZE = (('on', {}), ('off', {'equalize': 0}))
ESTIMATE = (('given', {}), ('estimated', {'estimate_models': 1}))


def table_settings():
    for _name, method in BASES:
        for _config, config in CONFIGS:
            for _choice, choice in EQUALIZE + ESTIMATE:
                yield method, {**config, **choice}
        for n in SAMPLES:
            yield method, {'min_samples': n}
    yield {}, {}
    yield THESIS, {}
    yield THESIS, {'roughness': 3e-5}
    for _name, change in CHANGES:
        yield {}, change


def print_tables(runs):
    for base, method in BASES:
        print('\nCounterpart of table 1: equalization (%s)' % base)
        head('setting, equalization')
        for name, config in CONFIGS[:3]:
            for how, choice in EQUALIZE:
                row('%s, %s' % (name, how), runs.get(method, {**config, **choice}))
        print('\nCounterpart of table 2: number of models (%s)' % base)
        head('setting, number')
        for name, config in CONFIGS:
            for how, choice in ESTIMATE:
                row('%s, %s' % (name, how), runs.get(method, {**config, **choice}))
        print('\nCounterpart of table 4: minimum number of samples N (%s)' % base)
        head('N')
        for n in SAMPLES:
            row(n, runs.get(method, {'min_samples': n}))
    print('\nCounterpart of table 6, and the effect of each choice')
    head('setting')
    row('defaults', runs.get({}, {}))
    for name, change in CHANGES:
        row(name, runs.get({}, change))
    row("thesis' method", runs.get(THESIS, {}))
    row("thesis' method, roughness 3e-5", runs.get(THESIS, {'roughness': 3e-5}))


# --- Plots ----------------------------------------------------------------------------------------

def plot(path, title, curves):
    """curves: (name, [(label, Result)]). Left: means, right: standard deviations, like the figures."""
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    single = all(len(result.tp) == 1 for _name, points in curves for _label, result in points)
    figure, axes = plt.subplots(1, 1 if single else 2, figsize=(5 if single else 9.6, 4),
                                squeeze=False)
    for axis, what, name in zip(axes[0], (np.mean, np.std), ('mean', 'standard deviation')):
        for curve, points in curves:
            x = [what(result.fp) for _label, result in points]
            y = [what(result.tp) for _label, result in points]
            line, = axis.plot(x, y, '.-', label=curve, linewidth=1, markersize=6)
            last = None
            for (label, _result), *at in zip(points, x, y):
                if at != last:
                    axis.annotate('%s' % label, at, textcoords='offset points', xytext=(3, 3),
                                  fontsize=7, color=line.get_color())
                last = at
        axis.set_xlabel('FP, %s, %%' % name if not single else 'FP, %')
        axis.set_ylabel('TP, %s, %%' % name if not single else 'TP, %')
        axis.grid(True, linewidth=0.3)
    axes[0][0].legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)
    print('wrote %s' % path)


def plot_settings():
    for _base, method in BASES:
        for *_rest, points, _frames in SWEEPS:
            for _label, setting in points:
                yield method, setting
    for *_rest, curves in GRIDS:
        for _curve, points in curves:
            for _label, setting in points:
                yield {}, setting
    for *_rest, points in OURS:
        for _label, setting in points:
            yield {}, setting


def write_plots(runs, folder):
    os.makedirs(folder, exist_ok=True)

    def results(method, points, frames=0):
        return [(label, runs.get(method, setting).part(frames or None)) for label, setting in points]

    for name, title, figures, points, frames in SWEEPS:
        plot(os.path.join(folder, name + '.png'), '%s (as figures %s)' % (title, figures),
             [(base, results(method, points, frames)) for base, method in BASES])
    for name, title, figures, curves in GRIDS:
        plot(os.path.join(folder, name + '.png'), '%s (as figures %s)' % (title, figures),
             [(curve, results({}, points)) for curve, points in curves])
    for name, title, points in OURS:
        plot(os.path.join(folder, name + '.png'), title, [('defaults', results({}, points))])


def study(parts, base, tables, folder):
    runs = Runs(parts, base)
    wanted = (list(table_settings()) if tables else []) + (list(plot_settings()) if folder else [])
    runs.make([runs.key(method, setting) for method, setting in wanted])
    if tables:
        print_tables(runs)
    if folder:
        write_plots(runs, folder)
