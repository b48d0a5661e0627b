#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs every block of examples/pipelines.md that is marked to run, as it stands there."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
BLOCK = re.compile(r'^```sh run\n(.*?)^```$', re.M | re.S)


class Pipelines(unittest.TestCase):
    def test_every_block(self):
        with open(os.path.join(ROOT, 'examples', 'pipelines.md')) as file:
            blocks = BLOCK.findall(file.read())
        self.assertGreaterEqual(len(blocks), 5, 'the blocks were not found')
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.abspath(os.path.join(ROOT, 'examples')),
                       os.path.join(folder, 'examples'))
            for block in blocks:
                with self.subTest(block=block):
                    done = subprocess.run(['bash', '-e', '-o', 'pipefail', '-c', block], cwd=folder,
                                          capture_output=True, text=True, timeout=120)
                    said = done.stdout + done.stderr
                    self.assertEqual(done.returncode, 0, said)
                    self.assertNotRegex(said, 'CRITICAL|WARNING')
                    for name in re.findall(r'filesink location=(\S+)', block):
                        size = os.path.getsize(os.path.join(folder, name))
                        self.assertGreater(size, 100, name)


if __name__ == '__main__':
    unittest.main()
