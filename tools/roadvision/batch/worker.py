# SPDX-License-Identifier: MIT
"""One process of a batch: computes chunks and commits each of them as a whole.

    python3 -m roadvision.batch.worker OUT [--threads N] [--device N] [--parent PID]

Reads names of chunks from standard input, one per line, and answers `done NAME FRAMES FAILED`, `failed TEXT`, `frames N`
now and then, or `stop TEXT` and ends: then no chunk can succeed, such as on a full disk."""
import argparse
import ctypes
import errno
import hashlib
import json
import os
import shutil
import signal
import socket
import sys

from roadvision.batch import plan as plans
from roadvision.common import Problem


class Fatal(Problem):
    """No chunk can succeed."""


def die_with_parent(parent):
    """A coordinator that is killed leaves no worker behind, not even one that starts at this moment."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass
    if parent and os.getppid() != parent:
        os._exit(1)


def synchronize(folder):
    """What is renamed from now on is on the disk: after a power failure no result is empty."""
    with open(plans.state(folder, 'plan.json'), 'rb') as file:
        try:
            ctypes.CDLL(None).syncfs(file.fileno())
        except (OSError, AttributeError):
            os.sync()


def hash_of(path):
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        for block in iter(lambda: file.read(1 << 20), b''):
            digest.update(block)
    return digest.hexdigest()


def commit(plan, chunk, aside, frames, failed):
    """Moves the files of a chunk to their places, then records it. Killed in between, it is computed again: the
    same files with the same contents."""
    records = []
    for folder, _subfolders, names in sorted(os.walk(aside)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            relative = os.path.normpath(os.path.join(plan.folder(chunk.sequence), os.path.relpath(path, aside)))
            records.append((hash_of(path), relative, path))
    synchronize(plan.out)
    for _digest, relative, path in records:
        target = os.path.join(plan.out, relative)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(path, target)
    head = json.dumps({'chunk': chunk.id, 'frames': frames, 'failed': failed})
    body = ''.join('%s  %s\n' % (digest, relative) for digest, relative, _path in records)
    plans.write_atomically(chunk.done_path(), (head + '\n' + body).encode('utf-8', 'surrogateescape'))


def one_chunk(plan, chunk, settings, tell):
    """Computes and commits a chunk; returns (frames, failed ones)."""
    from roadvision.batch import chunkrun
    aside = plans.state(plan.out, 'aside', '%s.%s.%d' % (chunk.id, socket.gethostname(), os.getpid()))
    shutil.rmtree(aside, ignore_errors=True)
    os.makedirs(aside)
    try:
        frames, failed = chunkrun.run(plan, chunk, aside, settings, tell)
        commit(plan, chunk, aside, frames, failed)
        return frames, len(failed)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Fatal('no space left in %s: make space, then the same command continues' % plan.out) from None
        of_input = error.filename and not os.path.abspath(error.filename).startswith(os.path.abspath(plan.out) + os.sep)
        raise (Problem if of_input else Fatal)('%s: %s' % (error.filename or plan.out, error.strerror or error)) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog='roadvision.batch.worker')
    parser.add_argument('out')
    parser.add_argument('--threads', type=int, default=0)
    parser.add_argument('--device', type=int, default=-1)
    parser.add_argument('--parent', type=int, default=0)
    options = parser.parse_args(arguments)
    die_with_parent(options.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator ends the workers
    answers = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)  # libraries that print must not disturb the answers

    def tell(*words):
        answers.write(' '.join(map(str, words)) + '\n')
    try:
        plan = plans.read(options.out)
        if plan is None:
            raise Fatal('no plan in %s' % options.out)
        for line in sys.stdin:
            chunk = plan.chunk(line.strip())
            try:
                tell('done', chunk.id, *((0, 0) if chunk.is_done() else one_chunk(plan, chunk, options, tell)))
            except Fatal:
                raise
            except Problem as problem:
                tell('failed', str(problem).replace('\n', ' '))
    except Problem as problem:
        tell('stop', str(problem).replace('\n', ' '))
        return 1
    except BrokenPipeError:
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
