#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Verifies bench.py on reports of a few rows."""
import contextlib
import io
import unittest

import bench

OLD = """[bench] good
bench sgm/a cuda median_us=100.0 p95_us=110.0
bench sgm/b cuda median_us=100.0 p95_us=110.0
bench vote/x-cub cuda median_us=10.0 p95_us=11.0
bench pipeline/a cuda fps=1000 frames=500
bench draw/gone cuda median_us=5.0 p95_us=5.0
bench sgm/a cpu median_us=1.0 p95_us=1.0
"""


def compare(new, limit=3):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        slower = bench.compare(bench.rows_of(OLD), bench.rows_of(new), limit)
    return slower, output.getvalue()


class Compare(unittest.TestCase):
    def test_rows_are_those_of_cuda(self):
        self.assertEqual(bench.rows_of(OLD)['sgm/a'], (100.0, False))
        self.assertEqual(bench.rows_of(OLD)['pipeline/a'], (1000.0, True))
        self.assertEqual(len(bench.rows_of(OLD)), 5)

    def test_slower_rows_are_named(self):
        slower, text = compare(OLD.replace('sgm/a cuda median_us=100.0', 'sgm/a cuda median_us=103.1'))
        self.assertEqual(slower, ['sgm/a'])
        self.assertRegex(text, r'sgm/a +100.0 +103.1 +\+3.1 +SLOWER')

    def test_limit_holds(self):
        self.assertEqual(compare(OLD.replace('sgm/b cuda median_us=100.0', 'sgm/b cuda median_us=103.0'))[0], [])
        self.assertEqual(compare(OLD.replace('sgm/b cuda median_us=100.0', 'sgm/b cuda median_us=103.0'), 2)[0], ['sgm/b'])

    def test_fewer_frames_are_slower(self):
        self.assertEqual(compare(OLD.replace('fps=1000', 'fps=960'))[0], ['pipeline/a'])
        self.assertEqual(compare(OLD.replace('fps=1000', 'fps=1200'))[0], [])

    def test_others_may_become_slower(self):
        self.assertEqual(compare(OLD.replace('cub cuda median_us=10.0', 'cub cuda median_us=20.0'))[0], [])

    def test_new_and_gone_rows_are_listed(self):
        slower, text = compare(OLD.replace('draw/gone', 'draw/new'))
        self.assertEqual(slower, [])
        self.assertRegex(text, r'draw/gone +5.0 +- +gone')
        self.assertRegex(text, r'draw/new +- +5.0 +new')

    def test_wrong_report_is_named(self):
        with self.assertRaisesRegex(SystemExit, 'no-such-thing is neither a report nor a commit'):
            bench.read_report('no-such-thing')

    def test_baselines_can_be_read(self):
        found = {name: (required, target) for name, required, target, _ in bench.read_baselines()}
        self.assertEqual(found['rectify/2x1242x375'], (15, 6))


if __name__ == '__main__':
    unittest.main()
