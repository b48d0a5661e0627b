#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Verifies score.py on arrays small enough to compute by hand."""
import os
import tempfile
import unittest

import cv2
import numpy as np

import score

NONE = float('nan')


def px(*rows):
    return np.array(rows, np.float32)


class Fill(unittest.TestCase):
    def same(self, got, expected):
        np.testing.assert_array_equal(got, expected)

    def test_hole_takes_the_smaller_neighbor(self):
        self.same(score.fill(px([9, NONE, NONE, 4])), px([9, 4, 4, 4]))

    def test_ends_take_the_only_neighbor(self):
        self.same(score.fill(px([NONE, 7, NONE, 8, NONE])), px([7, 7, 7, 8, 8]))

    def test_empty_rows_at_top_and_bottom(self):
        got = score.fill(px([NONE, NONE], [1, 2], [3, NONE], [NONE, NONE], [NONE, NONE]))
        self.same(got, px([1, 2], [1, 2], [3, 3], [3, 3], [3, 3]))

    def test_empty_row_inside_stays_empty(self):
        self.same(score.fill(px([1], [NONE], [3])), px([1], [NONE], [3]))

    def test_nothing_known(self):
        self.same(score.fill(px([NONE, NONE])), px([NONE, NONE]))

    def test_argument_is_left_alone(self):
        given = px([NONE, 2])
        score.fill(given)
        self.same(given, px([NONE, 2]))


class Disparity(unittest.TestCase):
    def check(self, scores, **expected):
        for name, value in expected.items():
            self.assertAlmostEqual(scores[name], value, places=5, msg=name)

    def test_thresholds_are_exclusive(self):
        # errors 0, 3, 3.5, 3.5; 5 % of the last truth is 5 px, so only D1 forgives it
        scores = score.score_disparity(px([10, 13, 13.5, 103.5]), px([10, 10, 10, 100]))
        self.check(scores, pixels=4, density=100, bad3_est=50, bad2_est=75, bad4_est=0, D1_est=25,
                   D1_strict=25, D1_fill=25, mean_est=2.5, median_est=3.25)

    def test_d1_needs_both(self):
        # 4 px is over 5 % of 60 (3 px) but not of 80 (4 px, exclusive)
        scores = score.score_disparity(px([64, 84]), px([60, 80]))
        self.check(scores, D1_est=50, bad3_est=100)

    def test_missing_pixels_three_ways(self):
        # truth 5 everywhere; the estimate has 5 and 20, the hole is filled with 5
        scores = score.score_disparity(px([5, NONE, 20, NONE]), px([5, 5, 5, 5]))
        self.check(scores, density=50, bad3_est=50, bad3_strict=75, bad3_fill=50)

    def test_filling_looks_beyond_the_truth(self):
        # the background value 2 has no truth itself, but fills its neighbor
        scores = score.score_disparity(px([2, NONE, 9]), px([NONE, 9, 9]))
        self.check(scores, pixels=2, density=50, bad3_est=0, bad3_strict=50, bad3_fill=50)

    def test_region(self):
        region = np.array([[True, False, True]])
        scores = score.score_disparity(px([1, 50, 1]), px([1, 1, 1]), region)
        self.check(scores, pixels=2, bad3_est=0)

    def test_empty_estimate_is_all_wrong(self):
        scores = score.score_disparity(px([NONE, NONE]), px([4, 4]))
        self.check(scores, density=0, bad3_est=0, D1_strict=100, D1_fill=100)

    def test_no_truth_and_sizes_that_differ(self):
        with self.assertRaisesRegex(SystemExit, 'no truth'):
            score.score_disparity(px([1]), px([NONE]))
        with self.assertRaisesRegex(SystemExit, '2x1.*1x1'):
            score.score_disparity(px([1, 2]), px([1]))


class Road(unittest.TestCase):
    def test_counts(self):
        # columns: hit, extra, missed, clear, not labeled; BGR with red = labeled, blue = road
        truth = np.zeros((1, 5, 3), np.uint8)
        truth[0, :4, 2] = 255
        truth[0, [0, 2, 4], 0] = 255
        mask = np.array([[True, True, False, False, True]])
        scores = score.score_road(mask, truth)
        self.assertAlmostEqual(scores['precision'], 50)
        self.assertAlmostEqual(scores['recall'], 50)
        self.assertAlmostEqual(scores['F1'], 50)
        self.assertAlmostEqual(scores['IoU'], 100 / 3)
        self.assertAlmostEqual(scores['FPR'], 50)

    def test_empty_mask(self):
        truth = np.full((2, 2, 3), 255, np.uint8)
        scores = score.score_road(np.zeros((2, 2), bool), truth)
        self.assertEqual(scores['F1'], 0)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_kitti_png(self):
        cv2.imwrite(self.path('a.png'), np.array([[0, 256, 384]], np.uint16))
        np.testing.assert_array_equal(score.read_disparity(self.path('a.png'), 'kitti'),
                                      px([NONE, 1, 1.5]))

    def test_png_of_8_bit_and_wrong_depth(self):
        cv2.imwrite(self.path('a.png'), np.array([[0, 6]], np.uint8))
        np.testing.assert_array_equal(score.read_disparity(self.path('a.png'), 'u8:4'),
                                      px([NONE, 1.5]))
        with self.assertRaisesRegex(SystemExit, 'holds uint8'):
            score.read_disparity(self.path('a.png'), 'kitti')

    def test_raw_rows_are_padded(self):
        rows = np.array([[16, 0, 24, 9999], [32, 8, 0, 9999]], '<u2')  # width 3: the 4th is padding
        rows.tofile(self.path('a.raw'))
        np.testing.assert_array_equal(score.read_disparity(self.path('a.raw'), 'raw:3x2:16'),
                                      px([1, NONE, 1.5], [2, 0.5, NONE]))
        with self.assertRaisesRegex(SystemExit, '16 bytes'):
            score.read_disparity(self.path('a.raw'), 'raw:5x2:16')

    def test_pfm_is_upside_down(self):
        with open(self.path('a.pfm'), 'wb') as file:
            file.write(b'Pf\n2 2\n-1.0\n')
            file.write(np.array([[3, np.inf], [1, 2]], '<f4').tobytes())
        np.testing.assert_array_equal(score.read_disparity(self.path('a.pfm'), 'pfm'),
                                      px([1, 2], [3, NONE]))

    def test_unreadable(self):
        with self.assertRaisesRegex(SystemExit, 'cannot read'):
            score.read_disparity(self.path('none.png'), 'kitti')


if __name__ == '__main__':
    unittest.main()
