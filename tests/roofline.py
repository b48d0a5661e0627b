#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Draws how close the kernels are to the limits of the GPU.

  tests/roofline.py condense FILE...          one line per kernel and row, from files of Nsight Compute
  tests/roofline.py plot [CSV] [--out PNG]    instructions per byte against instructions per second
  tests/roofline.py table [CSV] [--least US]  the same as a table in Markdown

`condense` reads files as tests/gpu-profile.sh makes them (ncu --csv --page raw), named after the row with @ for
/; the launch with the median time stands for all of a kernel. The limits are those of an H200: 4.8 TB/s, 132
processors that issue 4 instructions of a warp each per cycle at 1.98 GHz. `plot` needs python3-matplotlib."""
import argparse
import csv
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
FOLDER = os.path.join(ROOT, 'docs', 'studies', 'speed')
BYTES_PER_S, INSTRUCTIONS_PER_S = 4.8e12, 132 * 4 * 1.98e9
FIELDS = ('row', 'kernel', 'us', 'instructions', 'bytes', 'issue_percent', 'registers', 'warps_percent')
METRICS = ('gpu__time_duration.sum', 'smsp__inst_executed.sum', 'dram__bytes.sum.per_second',
           'sm__inst_issued.avg.per_cycle_active', 'launch__registers_per_thread', 'sm__warps_active.avg.pct_of_peak_sustained_active')
UNITS = {'ns': 1e-3, 'nsecond': 1e-3, 'us': 1, 'usecond': 1, 'ms': 1e3, 'msecond': 1e3,
         'byte/s': 1, 'Kbyte/s': 1e3, 'Mbyte/s': 1e6, 'Gbyte/s': 1e9, 'Tbyte/s': 1e12}


# --- condense -------------------------------------------------------------------------------------

def plain_name(kernel):
    """The name of a kernel without namespaces and parameters; of template arguments numbers and our own types stay."""
    name, _, rest = re.sub(r'<unnamed>::|\(anonymous namespace\)::|\bvoid ', '', kernel).partition('<')
    name = re.sub(r'\(.*', '', name).split('::')[-1]
    values = [re.sub(r'^\(\w+\)', '', value.strip()) for value in rest.rpartition('>')[0].split(',')] if rest else []
    values = [value for value in values if re.fullmatch(r'\d+|[A-Z]\w*', value)]
    return name + ('<%s>' % ','.join(values) if values else '')


def launches_of(lines):
    """[(kernel, values as METRICS)] of a file of Nsight Compute."""
    table = list(csv.reader(line for line in lines if line.startswith('"')))
    if len(table) < 3:
        return []
    names, units = table[0], dict(zip(table[0], table[1]))
    missing = [metric for metric in METRICS if metric not in units]
    if missing:
        raise ValueError('no %s' % missing[0])
    found = []
    for line in table[2:]:
        cell = dict(zip(names, line))
        found.append((plain_name(cell['Kernel Name']),
                      [float(cell[metric].replace(',', '') or 0) * UNITS.get(units[metric], 1) for metric in METRICS]))
    return found


def condense(files, output):
    writer = csv.writer(output, lineterminator='\n')
    writer.writerow(FIELDS)
    for name in files:
        row = os.path.basename(name).rpartition('.')[0].replace('@', '/')
        kernels = {}
        with open(name) as file:
            try:
                launches = launches_of(file)
            except ValueError as error:
                sys.exit('roofline: %s: %s' % (name, error))
        for kernel, values in launches:
            kernels.setdefault(kernel, []).append(values)
        for kernel, values in kernels.items():
            median = sorted(values)[len(values) // 2]
            us, instructions, rate, per_cycle, registers, warps = median
            writer.writerow((row, kernel, '%.2f' % us, '%.0f' % instructions, '%.0f' % (rate * us / 1e6), '%.1f' % (25 * per_cycle),
                             '%.0f' % registers, '%.1f' % warps))


# --- plot and table -------------------------------------------------------------------------------

def read_kernels(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit('roofline: %s has no kernels' % path)
    return [{field: row[field] if field in FIELDS[:2] else float(row[field]) for field in FIELDS} for row in rows]


def least_us(kernel):
    """The least time that bytes and instructions of a kernel need, and which of both decides."""
    by_bytes, by_instructions = kernel['bytes'] / BYTES_PER_S * 1e6, kernel['instructions'] / INSTRUCTIONS_PER_S * 1e6
    return max((by_bytes, 'bytes'), (by_instructions, 'instructions'))


def plot(path, out):
    try:
        import matplotlib
    except ImportError:
        sys.exit('roofline: the plot needs matplotlib: apt-get install python3-matplotlib')
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(10, 6.5), constrained_layout=True)
    kernels = [kernel for kernel in read_kernels(path) if kernel['us'] >= 5 and kernel['bytes'] > 0]
    ends = [2e-4, 1e4]
    axis.plot(ends, [min(INSTRUCTIONS_PER_S, x * BYTES_PER_S) for x in ends], color='none')
    knee = INSTRUCTIONS_PER_S / BYTES_PER_S
    axis.plot([1e-3, knee, 1e3], [1e-3 * BYTES_PER_S, INSTRUCTIONS_PER_S, INSTRUCTIONS_PER_S], color='black', linewidth=1.2)
    groups = sorted({kernel['row'].split('/')[0] for kernel in kernels})
    for number, group in enumerate(groups):
        points = [kernel for kernel in kernels if kernel['row'].split('/')[0] == group]
        axis.scatter([k['instructions'] / k['bytes'] for k in points], [k['instructions'] / k['us'] * 1e6 for k in points],
                     s=[8 + 1.5 * min(k['us'], 200) for k in points], color=plt.cm.tab10(number % 10), alpha=0.6, label=group)
        for k in points:
            if k['us'] >= 30:
                axis.annotate('%s %s' % (k['kernel'].partition('<')[0].replace('_kernel', ''), k['row'].split('/')[1].split('-')[0]),
                              (k['instructions'] / k['bytes'], k['instructions'] / k['us'] * 1e6), fontsize=6,
                              xytext=(4, 9 * (number % 2) - 6 + 6 * (len(k['row']) % 3)), textcoords='offset points')
    axis.set_xscale('log')
    axis.set_yscale('log')
    axis.set_xlim(1e-2, 1e3)
    axis.set_ylim(2e9, 2e12)
    axis.set_xlabel('instructions of warps per byte of device memory')
    axis.set_ylabel('instructions of warps per second')
    axis.grid(alpha=0.3, which='both')
    axis.legend(fontsize=8, loc='lower right', title='area: time, from 5 µs on')
    figure.savefig(out, dpi=110)
    print(out)


def table(path, least):
    print('| row | kernel | µs | instructions, 10⁶ | MB | at least, µs | by | issue slots, % |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- |')
    for kernel in read_kernels(path):
        if kernel['us'] >= least:
            bound, which = least_us(kernel)
            print('| `%s` | `%s` | %.1f | %.1f | %.2f | %.1f | %s | %.0f |' % (
                kernel['row'], kernel['kernel'], kernel['us'], kernel['instructions'] / 1e6, kernel['bytes'] / 1e6, bound,
                which, kernel['issue_percent']))


def main():
    parser = argparse.ArgumentParser(prog='roofline.py', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest='mode', required=True)
    mode = modes.add_parser('condense')
    mode.add_argument('files', nargs='+', metavar='FILE')
    for name in ('plot', 'table'):
        mode = modes.add_parser(name)
        mode.add_argument('csv', nargs='?', default=os.path.join(FOLDER, 'kernels.csv'))
        if name == 'plot':
            mode.add_argument('--out', default=os.path.join(FOLDER, 'roofline.png'), metavar='PNG')
        else:
            mode.add_argument('--least', type=float, default=10, metavar='US')
    options = parser.parse_args()
    if options.mode == 'condense':
        condense(options.files, sys.stdout)
    elif options.mode == 'plot':
        plot(options.csv, options.out)
    else:
        table(options.csv, options.least)


if __name__ == '__main__':
    main()
