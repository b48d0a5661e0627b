#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares and plots the benchmark rows of GPU reports.

  tests/bench.py compare OLD NEW [--limit PERCENT]   rows of two reports side by side
  tests/bench.py plot [REPORT] [--out FOLDER]        ours and others, and the reports of the past

OLD, NEW and REPORT are files as tests/gpu-run.sh writes them, or commits, whose docs/gpu-report.txt is
taken. `compare` marks rows that became slower by more than the limit (3 %) and then exits with 1. Rows of
pipelines count frames per second, all others µs. `plot` needs python3-matplotlib; what the others took and
what is required is in tests/gpu-baselines.txt."""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
REPORT = 'docs/gpu-report.txt'
ROW = re.compile(r'^bench (\S+) cuda (median_us|fps)=([\d.]+)', re.M)
BASELINES = re.compile(r'-(cub|hand)$')  # rows of others, which nobody here makes slower
HISTORY = ('sgm/1242x375-d128-p4', 'sgm/1242x375-d128-p8', 'sgm/1920x1080-d128-p8', 'hough/1080p-picture',
           'stixels/1242x375-w8s8-fast', 'stixels/1242x375-w4s4-slanted', 'rdp/1242x1024-median', 'road/640x480')
MARKS = 'os^Dv<>phXP'  # of the others in a plot


def git(*arguments):
    """The output of git in the tree, or None."""
    result = subprocess.run(('git', '-C', ROOT) + arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return result.stdout if result.returncode == 0 else None


def read_report(name):
    if os.path.isfile(name):
        with open(name) as file:
            return file.read()
    text = git('show', '%s:%s' % (name, REPORT))
    if text is None:
        sys.exit('bench: %s is neither a report nor a commit with %s' % (name, REPORT))
    return text


def rows_of(text):
    """{row: (value, whether it is a rate)}"""
    return {name: (float(value), unit == 'fps') for name, unit, value in ROW.findall(text)}


# --- compare --------------------------------------------------------------------------------------

def change(old, new):
    """By how many percent a row became slower; negative: faster."""
    (before, is_rate), (after, _) = old, new
    return 100 * (before / after - 1 if is_rate else after / before - 1)


def compare(old, new, limit):
    """Prints the rows; returns those that became slower by more than `limit` percent."""
    slower = []
    print('%-40s %10s %10s %8s' % ('row', 'old', 'new', 'time %'))
    for name in sorted(set(old) | set(new)):
        if name not in old or name not in new:
            value, is_rate = (new if name in new else old)[name]
            print('%-40s %10s %10s %8s%s' % ((name,) + (('-', value) if name in new else (value, '-')) +
                                             (('new' if name in new else 'gone'), ' frames/s' if is_rate else '')))
            continue
        percent = change(old[name], new[name])
        is_slower = round(percent, 3) > limit and not BASELINES.search(name)
        if is_slower:
            slower.append(name)
        print('%-40s %10s %10s %+8.1f%s%s' % (name, old[name][0], new[name][0], percent,
                                              ' frames/s' if old[name][1] else '', '  SLOWER' if is_slower else ''))
    print('%d rows in both, %d slower by more than %g %%' % (len(set(old) & set(new)), len(slower), limit))
    return slower


# --- plot -----------------------------------------------------------------------------------------

def read_baselines():
    """[(row, required, target, {name: us})]"""
    found = []
    with open(os.path.join(ROOT, 'tests', 'gpu-baselines.txt')) as file:
        for line in file:
            words = line.split()
            if words and words[0][0] != '#':
                others = dict(word.split('=') for word in words[3:])
                found.append((words[0], float(words[1]), float(words[2]), {k: float(v) for k, v in others.items()}))
    return found


def plot_others(plt, rows, path):
    """Bars: times of the others and required times as multiples of ours."""
    cases = [case for case in read_baselines() if case[0] in rows][::-1]
    names = sorted({other for case in cases for other in case[3]})
    figure, axis = plt.subplots(figsize=(9.5, 0.36 * len(cases) + 1.2), constrained_layout=True)
    axis.barh(range(len(cases)), 1, color='tab:blue', height=0.62, label='this project')
    for which, label, color in ((1, 'required', 'tab:red'), (2, 'target', 'tab:green')):
        axis.plot([case[which] / rows[case[0]][0] for case in cases], range(len(cases)), '|', label=label, color=color,
                  markersize=13, markeredgewidth=2.5)
    for number, name in enumerate(names):
        points = [(case[3][name] / rows[case[0]][0], at) for at, case in enumerate(cases) if name in case[3]]
        axis.plot(*zip(*points), MARKS[number % len(MARKS)], label=name, markersize=6, markeredgecolor='white', linestyle='')
    axis.set_yticks(range(len(cases)), ['%s, %.4g µs' % (case[0], rows[case[0]][0]) for case in cases], fontsize=8)
    axis.set_xscale('log')
    ticks = (0.3, 0.5, 1, 2, 5, 10, 20, 50)
    axis.set_xticks(ticks, ['%g' % tick for tick in ticks])
    axis.set_xlim(0.25, 50)
    axis.set_ylim(-0.7, len(cases) - 0.3)
    axis.grid(axis='x', alpha=0.3)
    axis.set_xlabel('time on an H200 as a multiple of ours')
    axis.legend(fontsize=7, loc='center left', bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=110)
    print(path)


def history():
    """[(date, rows)], oldest first, of the commits that changed the report."""
    found = []
    for commit in reversed((git('log', '--format=%h', '--', REPORT) or '').split()):
        rows = rows_of(git('show', '%s:%s' % (commit, REPORT)) or '')
        if rows and (not found or rows != found[-1][1]):
            found.append((commit, rows))
    return found


def plot_history(plt, path):
    """Lines: rows of all reports, relative to their first."""
    reports = history()
    if len(reports) < 2:
        sys.exit('bench: the tree has no history of %s (a shallow clone?)' % REPORT)
    figure, axis = plt.subplots(figsize=(8.5, 4.2), constrained_layout=True)
    for name in HISTORY:
        points = [(at, rows[name][0]) for at, (_, rows) in enumerate(reports) if name in rows]
        if points:
            axis.plot([at for at, _ in points], [value for _, value in points], marker='.',
                      label='%s: %.4g → %.4g' % (name, points[0][1], points[-1][1]))
    axis.set_yscale('log')
    axis.set_ylabel('median, µs')
    axis.set_xticks(range(len(reports)), [commit for commit, _ in reports], rotation=60, fontsize=7)
    axis.set_xlabel('commit of the report')
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, loc='center left', bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=110)
    print(path)


def plot(report, out):
    try:
        import matplotlib
    except ImportError:
        sys.exit('bench: the plots need matplotlib: apt-get install python3-matplotlib')
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    rows = rows_of(read_report(report))
    if not rows:
        sys.exit('bench: %s has no rows' % report)
    os.makedirs(out, exist_ok=True)
    plot_others(plt, rows, os.path.join(out, 'others.png'))
    plot_history(plt, os.path.join(out, 'history.png'))


def main():
    parser = argparse.ArgumentParser(prog='bench.py', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest='mode', required=True)
    mode = modes.add_parser('compare')
    mode.add_argument('old')
    mode.add_argument('new')
    mode.add_argument('--limit', type=float, default=3, metavar='PERCENT')
    mode = modes.add_parser('plot')
    mode.add_argument('report', nargs='?', default=os.path.join(ROOT, REPORT))
    mode.add_argument('--out', default=os.path.join(ROOT, 'docs', 'studies', 'speed'), metavar='FOLDER')
    options = parser.parse_args()
    if options.mode == 'plot':
        plot(options.report, options.out)
        return 0
    old, new = rows_of(read_report(options.old)), rows_of(read_report(options.new))
    if not old or not new:
        sys.exit('bench: %s has no rows' % (options.new if old else options.old))
    return 1 if compare(old, new, options.limit) else 0


if __name__ == '__main__':
    sys.exit(main())
