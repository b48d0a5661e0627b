# SPDX-License-Identifier: MIT
"""The chunks of a plan on this machine: worker processes, progress, restart of those that crash."""
import os
import queue
import subprocess
import sys
import threading

from roadvision import common
from roadvision.common import Problem

ATTEMPTS = 3  # of a chunk whose worker crashes


def environment():
    """Workers find this package, and wait without spinning while they share the cores."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.environ.get('PYTHONPATH')
    return dict(os.environ, PYTHONPATH=here + (os.pathsep + path if path else ''),
                OMP_WAIT_POLICY=os.environ.get('OMP_WAIT_POLICY', 'passive'), PYTHONDONTWRITEBYTECODE='1')


class Worker(threading.Thread):
    """A thread that feeds one process."""

    def __init__(self, pool, number):
        super().__init__(daemon=True)
        self.pool, self.number, self.process = pool, number, None
        self.running = 0  # frames of the current chunk so far
        self.last = ''    # what the process printed last on standard error

    def command(self):
        device = self.pool.devices[self.number % len(self.pool.devices)] if self.pool.devices else -1
        return [sys.executable, '-m', 'roadvision.batch.worker', self.pool.plan.out, '--threads',
                str(self.pool.threads), '--parent', str(os.getpid()), '--device', str(device)]

    def launch(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment())
        threading.Thread(target=self.read_errors, args=(self.process,), daemon=True).start()

    def read_errors(self, process):
        for line in process.stderr:
            self.last = line.strip() or self.last
            if os.environ.get('GST_DEBUG'):
                sys.stderr.write(line)

    def run(self):
        try:
            while not self.pool.stopping:
                chunk = self.pool.take()
                if chunk is None:
                    break
                self.one(chunk)
        except Exception as problem:  # shown by the pool
            self.pool.events.put(('stop', str(problem)))
        if self.process:
            try:
                self.process.stdin.close()
            except BrokenPipeError:  # it has ended
                pass
            self.process.wait()
        self.pool.events.put(('end', self))

    def one(self, chunk):
        if self.process is None or self.process.poll() is not None:
            self.launch()
        try:
            self.process.stdin.write(chunk.id + '\n')
            self.process.stdin.flush()
            for line in self.process.stdout:
                word, rest = line.rstrip('\n').split(' ', 1)
                if word == 'frames':
                    self.running = int(rest)
                    self.pool.events.put(('frames', None))
                elif word == 'done':
                    _name, frames, failed = rest.split()
                    self.running = 0
                    self.pool.events.put(('done', (chunk, int(frames), int(failed))))
                    return
                elif word == 'failed':
                    self.running = 0
                    self.pool.failed(chunk, rest)
                    return
                elif word == 'stop':
                    self.pool.events.put(('stop', rest))
                    return
        except BrokenPipeError:
            pass
        if not self.pool.stopping:
            self.running = 0
            self.pool.crashed(chunk, self.process.wait(), self.last)


class Pool:
    """jobs processes work on chunks; devices: GPUs, used in turn; threads: of each process, 0 = all cores."""

    def __init__(self, plan, chunks, jobs, devices, threads):
        self.plan, self.jobs, self.devices, self.threads = plan, jobs, devices, threads
        self.todo, self.again, self.attempts = iter(chunks), [], {}
        self.lock, self.events, self.stopping = threading.Lock(), queue.Queue(), False
        self.lost = []  # (chunk without results, reason)

    def take(self):
        with self.lock:
            if self.again:
                return self.again.pop()
            return next((chunk for chunk in self.todo if not chunk.is_done()), None)

    def crashed(self, chunk, status, last):
        with self.lock:
            self.attempts[chunk.id] = self.attempts.get(chunk.id, 0) + 1
            if self.attempts[chunk.id] < ATTEMPTS:
                self.again.append(chunk)
            else:
                self.lost.append((chunk, 'its process ended %d times with status %d%s' % (
                    ATTEMPTS, status, ': ' + last if last else '')))

    def failed(self, chunk, reason):
        with self.lock:
            self.lost.append((chunk, reason))

    def run(self, before, total, show=None):
        """Until all chunks are done; returns the frames of this run. Raises a Problem of a worker."""
        progress = common.Progress(before) if show is None else show
        workers = [Worker(self, number) for number in range(self.jobs)]
        frames, ended, problem = before, 0, None
        for worker in workers:
            worker.start()
        try:
            while ended < len(workers):
                kind, value = self.events.get()
                if kind == 'done':
                    frames += value[1] + value[2]
                elif kind == 'stop':
                    problem, self.stopping = problem or value, True
                elif kind == 'end':
                    ended += 1
                progress.show(min(1.0, (frames + sum(worker.running for worker in workers)) / max(1, total)),
                              frames + sum(worker.running for worker in workers))
        finally:
            self.stopping = True
            for worker in workers:
                if worker.process and worker.process.poll() is None:
                    worker.process.kill()
            progress.end()
        if problem:
            raise Problem(problem)
        return frames - before
