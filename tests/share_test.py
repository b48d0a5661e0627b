#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What tasks on several machines compute of a batch: every chunk once, in whatever order they take them, and after a task
has started again."""
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tools'))
from roadvision.batch import cluster  # noqa: E402
from roadvision.batch import plan as plans  # noqa: E402

COUNTS = 95, 12, 1  # frames of sequences, in chunks of 10


class Shares(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.plan = plans.Plan(self.folder.name, {'input': '', 'settings': {'chunk': 10, 'overlap': 2}, 'sequences': [
            {'id': number, 'count': count} for number, count in enumerate(COUNTS)]})
        os.makedirs(plans.state(self.plan.out, 'done'))
        self.all = [chunk.id for chunk in self.plan.chunks()]

    def share(self, number, count, name):
        return cluster.Share(self.plan, '%d/%d@%s' % (number, count, name))

    def test_any_order(self):
        for seed in range(20):
            order, count = random.Random(seed), 1 + seed % 5
            name = cluster.new_round(self.plan)
            tasks = {number: self.share(number, count, name).take() for number in range(count)}
            taken = []
            while tasks:
                number = order.choice(sorted(tasks))
                chunk = next(tasks[number], None)
                if chunk is None:
                    del tasks[number]
                else:
                    taken.append(chunk.id)
            self.assertEqual(sorted(taken), self.all)

    def test_own_first(self):
        share = self.share(1, 3, cluster.new_round(self.plan))
        own = self.all[1::3]
        self.assertEqual([chunk.id for chunk in share.take()], own + [name for name in self.all if name not in own])
        self.assertEqual(share.frames, sum(COUNTS) // 3)

    def test_start_again(self):
        """A task that was lost takes its chunks again, those that are complete excepted; nobody else takes them."""
        name = cluster.new_round(self.plan)
        lost = self.share(0, 2, name).take()
        taken = [next(lost).id for _ in range(3)]
        open(self.plan.chunk(taken[0]).done_path(), 'w').close()
        others = [chunk.id for chunk in self.share(1, 2, name).take()]
        self.assertEqual(sorted(others + taken), self.all)
        self.assertEqual([chunk.id for chunk in self.share(0, 2, name).take()], taken[1:])

    def test_next_round(self):
        """What a round left, the next one takes."""
        left = next(self.share(0, 2, cluster.new_round(self.plan)).take()).id
        for name in self.all:
            if name != left:
                open(self.plan.chunk(name).done_path(), 'w').close()
        self.assertEqual([chunk.id for chunk in self.share(1, 2, cluster.new_round(self.plan)).take()], [left])


if __name__ == '__main__':
    unittest.main()
