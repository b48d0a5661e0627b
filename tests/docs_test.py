#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the documents with the tree, the plugin and the library: links lead somewhere, the README
lists the elements that exist and no others, the property tables are those of the elements, and the
public headers state the ranges and defaults of the tables of parameters, and times are those of the GPU
report.

    tests/docs_test.py PARAMS_LIST    the program made from params_list.c"""
import glob
import os
import re
import sys
import unittest

import gi

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

import headers_check  # noqa: E402
import properties  # noqa: E402

# Statements about times on the GPU: page, text with a group per number, and the benchmark case of
# docs/gpu-report.txt that each number is from: µs, with "/1000" ms, with "fps:" pairs/s.
MEASURED = (
    ('README.md', r'(\d+) pairs of 1242x375 per second', 'fps:pipeline/1242x375'),
    ('README.md', r'The depth of such a pair takes ([\d.]+) ms \(as in the thesis with 4 paths ([\d.]+), with 8 '
                  r'paths ([\d.]+)\), its stixels (\d+) µs',
     'sgm/1242x375-default/1000', 'sgm/1242x375-d128-p4/1000', 'sgm/1242x375-d128-p8/1000',
     'stixels/1242x375-w8s8-fast'),
    ('README.md', r'obstacles and free space (\d+) µs, its lanes (\d+) µs, the road of a 640x480 frame (\d+) µs, '
                  r'the lines of a 1080p edge map (\d+) to (\d+) µs',
     'obstacles/1242x375', 'lanes/1242x375', 'road/640x480', 'hough/1080p-canny', 'hough/1080p-p10'),
    ('docs/studies/rdp.md', r'gpu-report.txt\) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+)',
     'rdp/1242x1024-median', 'rdp/1242x1024-raw', 'rdp/1242x1024-noise'),
    ('docs/studies/vote.md', r'256 bins of u8 \| ([\d.]+) \| ([\d.]+)', 'vote/hist256-1080p', 'vote/hist256-1080p-cub'),
    ('docs/studies/vote.md', r'65536 bins of u16 \| ([\d.]+) \| ([\d.]+)', 'vote/hist65536-1080p',
     'vote/hist65536-1080p-cub'),
    ('docs/studies/vote.md', r'bins of RGB \| ([\d.]+) \| ([\d.]+)', 'vote/color-1080p', 'vote/color-1080p-cub'),
    ('docs/studies/vote.md', r'red and green \| ([\d.]+) \| ([\d.]+)', 'vote/chroma-1080p', 'vote/chroma-1080p-cub'),
    ('docs/studies/vote.md', r'f32 \| ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+) \|', 'vote/sum8-1080p',
     'vote/sum16-1080p', 'vote/sum32-1080p', 'vote/sumf-1080p'),
    ('docs/studies/vote.md', r'subsampling by 4 \| ([\d.]+) \| ([\d.]+)', 'vote/subsample-1080p',
     'vote/subsample-1080p-hand'),
)

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))


def text_of(path):
    with open(os.path.join(ROOT, path)) as file:
        return file.read()


class Documents(unittest.TestCase):
    def test_links(self):
        pages = [page for folder in ('', 'docs', 'docs/elements', 'docs/studies', 'docs/notes', 'docs/users', 'docs/site', 'docs/gallery',
                                          'examples')
                 for page in glob.glob(os.path.join(ROOT, folder, '*.md'))]
        self.assertGreater(len(pages), 8)
        dead = []
        for page in pages:
            for link in re.findall(r'\]\(([^)#\s]+)', text_of(page)):
                if '://' not in link and not os.path.exists(
                        os.path.join(os.path.dirname(page), link)):
                    dead.append('%s: %s' % (os.path.relpath(page, ROOT), link))
        self.assertEqual(dead, [])

    def test_elements(self):
        plugin = Gst.Registry.get().find_plugin('roadvision')
        self.assertIsNotNone(plugin, 'the plugin was not found')
        real = {feature.get_name() for feature in
                Gst.Registry.get().get_feature_list_by_plugin('roadvision')}
        table = text_of('README.md').split('## Elements')[1].split('##')[0]
        self.assertEqual(set(re.findall(r'^\| `(\w+)`', table, re.M)), real)

    def test_property_tables(self):
        """The tables of all element pages are those that properties.py makes."""
        self.assertEqual(properties.differing_pages(), [])
        rows = sum(made.count('\n| `') for made in properties.tables().values())
        self.assertGreater(rows, 150)

    def test_headers(self):
        """Fields of configs state the range and default of their row, in headers_check's grammar."""
        rows = headers_check.read_rows(PARAMS_LIST)
        self.assertGreater(len(rows), 120)
        self.assertEqual(headers_check.differences(rows), [])

    def test_headers_itself(self):
        """A wrong range, default or missing field is found."""
        rows = headers_check.read_rows(PARAMS_LIST)
        at = next(i for i, row in enumerate(rows) if row.algorithm == 'sgm' and row.name == 'p2-gradient')
        for change in ({'range': '0 to 254'}, {'default': '2'}, {'name': 'p2-slope'}):
            wrong = rows[:at] + [rows[at]._replace(**change)] + rows[at + 1:]
            self.assertEqual(len(headers_check.differences(wrong)), 1, change)

    def test_recommended_elements(self):
        real = {feature.get_name() for feature in
                Gst.Registry.get().get_feature_list_by_plugin('roadvision')}
        stock = {'cudaupload', 'cudadownload', 'cudaconvert', 'cudart'}
        files = ['README.md'] + [os.path.relpath(path, ROOT) for pattern in (
            'gst/*.c', 'gst/common/*.c', 'docs/elements/*.md')
            for path in glob.glob(os.path.join(ROOT, pattern))]
        unknown = ['%s: %s' % (file, word) for file in files
                   for word in re.findall(r'\bcuda[a-z]+\b', text_of(file))
                   if word not in real | stock]
        self.assertEqual(unknown, [])

    def test_vote_example(self):
        code = re.findall(r'```c\n(.*?)```', text_of('docs/studies/vote.md'), re.S)
        self.assertGreaterEqual(len(code), 2)
        rules = text_of('cuda/vote/vote_rules.h')  # compiled into both engines, held by rvcheck
        for block in code:
            self.assertIn(block.strip(), rules)

    def test_measured_numbers(self):
        """Times in documents are those of the report, within 8 % (pairs/s: 15 %) and rounding."""
        report = dict((name, float(number)) for name, number in re.findall(
            r'^bench (\S+) cuda (?:median_us|fps)=([\d.]+)', text_of('docs/gpu-report.txt'), re.M))
        self.assertGreater(len(report), 100)
        wrong = []
        for page, pattern, *cases in MEASURED:
            found = re.search(pattern, re.sub(r'\s+', ' ', text_of(page)))
            self.assertTrue(found and len(found.groups()) == len(cases), '%s: %s' % (page, pattern))
            for number, case in zip(found.groups(), cases):
                measured = report[re.sub('^fps:|/1000$', '', case)] / (1000 if case.endswith('/1000') else 1)
                last = 10.0 ** -len(number.partition('.')[2])
                limit = max(last / 2, (0.15 if case.startswith('fps:') else 0.08) * measured)
                if abs(float(number) - measured) > limit * 1.0001:
                    wrong.append('%s: %s, %s is %g' % (page, number, case, measured))
        self.assertEqual(wrong, [])

    def test_workflow(self):
        """The workflow runs scripts that exist, and every step of tests/run.sh, which .ci/run runs."""
        workflow = text_of('.github/workflows/tests.yml')
        scripts = set(re.findall(r'(?:\./|\b)((?:[\w-]+/)*[\w-]+\.sh)\b', '\n'.join(re.findall(r'run: (.*)', workflow))))
        self.assertGreaterEqual(scripts, {'setup.sh', 'tests/run.sh', 'tests/packages.sh', 'docs/site/build.sh', 'tests/gpu-run.sh'})
        for script in scripts:
            self.assertTrue(os.access(os.path.join(ROOT, script), os.X_OK), script)
        steps = re.search(r'^steps=\(([a-z ]+)\)$', text_of('tests/run.sh'), re.M)[1].split()
        self.assertEqual(re.search(r'step: \[([a-z, ]+)\]', workflow)[1].split(', '), steps)
        self.assertIn('\ntests/run.sh\n', text_of('.ci/run'))

    def test_images_are_small(self):
        for path in glob.glob(os.path.join(ROOT, 'docs/gallery/*.png')):
            self.assertLess(os.path.getsize(path), 300000, path)


if __name__ == '__main__':
    Gst.init(None)
    PARAMS_LIST = sys.argv.pop(1)
    unittest.main()
