#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Verifies roofline.py on a file as Nsight Compute writes them."""
import contextlib
import io
import os
import tempfile
import unittest

import roofline

PROFILE = '''==PROF== Connected to process 1
"ID","Kernel Name",%s
"","",%s
"0","void <unnamed>::row_kernel<2, (bool)1, SgmLimited, unsigned int>(Plan, int)","1,000","2,000,000","1.5","2.0","96","20.5"
"1","void <unnamed>::row_kernel<2, (bool)1, SgmLimited, unsigned int>(Plan, int)","3,000","2,000,000","1.5","2.0","96","20.5"
"2","void <unnamed>::row_kernel<2, (bool)1, SgmLimited, unsigned int>(Plan, int)","2,000","2,000,000","1.5","2.0","96","20.5"
"3","upload_kernel(<unnamed>::Chunk, uint4 *, int)","500","100","0","0.1","16","8"
''' % (','.join('"%s"' % metric for metric in roofline.METRICS), '"ns","inst","Tbyte/s","inst/cycle","register/thread","%"')


class Roofline(unittest.TestCase):
    def condensed(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'sgm@1242x375.csv')
            with open(path, 'w') as file:
                file.write(text)
            output = io.StringIO()
            roofline.condense([path], output)
            csv_path = os.path.join(folder, 'kernels.csv')
            with open(csv_path, 'w') as file:
                file.write(output.getvalue())
            return roofline.read_kernels(csv_path)

    def test_median_launch_of_each_kernel(self):
        rows, upload = self.condensed(PROFILE)
        self.assertEqual((rows['row'], rows['kernel']), ('sgm/1242x375', 'row_kernel<2,1,SgmLimited>'))
        self.assertEqual(upload['kernel'], 'upload_kernel')
        self.assertEqual((rows['us'], rows['instructions'], rows['bytes']), (2, 2e6, 3e6))  # 1.5 TB/s for 2 us
        self.assertEqual((rows['issue_percent'], rows['registers'], rows['warps_percent']), (50, 96, 20.5))

    def test_larger_limit_decides(self):
        rows, upload = self.condensed(PROFILE)
        us, which = roofline.least_us(rows)
        self.assertEqual(which, 'instructions')
        self.assertAlmostEqual(us, 2e6 / (132 * 4 * 1.98e9) * 1e6)
        self.assertEqual(roofline.least_us(dict(rows, bytes=4.8e9)), (1000, 'bytes'))
        self.assertEqual(upload['bytes'], 0)

    def test_missing_metric_is_named(self):
        with self.assertRaisesRegex(SystemExit, 'no smsp__inst_executed.sum'):
            self.condensed(PROFILE.replace('smsp__inst_executed.sum', 'other'))

    def test_table_has_kernels_of_some_length(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'kernels.csv')
            with open(path, 'w') as file:
                file.write(','.join(roofline.FIELDS) + '\nsgm/a,row_kernel,120.5,60000000,1e6,50.5,96,17\nsgm/a,tiny_kernel,2,10,10,1,16,8\n')
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                roofline.table(path, 10)
        self.assertIn('| `sgm/a` | `row_kernel` | 120.5 | 60.0 | 1.00 | 57.4 | instructions | 50 |', output.getvalue())
        self.assertNotIn('tiny', output.getvalue())


if __name__ == '__main__':
    unittest.main()
