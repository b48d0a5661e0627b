#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""targets.py BUILD [--suite SUITE]... [--no-suite SUITE]...: what ninja must build for these tests of meson, and what ships."""
import argparse
import json
import os
import subprocess

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument('build')
parser.add_argument('--suite', action='append', default=[])
parser.add_argument('--no-suite', action='append', default=[])
options = parser.parse_args()

build = os.path.realpath(options.build)
info = json.loads(subprocess.run(['meson', 'introspect', build, '--targets', '--tests'], check=True, stdout=subprocess.PIPE).stdout)
names = {target['id']: target['filename'] for target in info['targets']}
needed = set()
for test in info['tests']:
    suites = {suite.split(':')[-1] for suite in test['suite']}
    if suites.isdisjoint(options.no_suite) and (not options.suite or not suites.isdisjoint(options.suite)):
        needed.update(os.path.relpath(name, build) for target in test['depends'] for name in names[target])
print('use', *sorted(needed))
