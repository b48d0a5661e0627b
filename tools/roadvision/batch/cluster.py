# SPDX-License-Identifier: MIT
"""Batches over machines with what they have: a job array of Slurm, or GNU parallel over ssh. Tasks take one chunk after the other
by a file in OUT, so that fast machines compute more of them; a lost task leaves chunks that are submitted again."""
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import time

from roadvision import common
from roadvision.batch import plan as plans
from roadvision.common import Misuse, Problem

ROUNDS = 3      # submissions of what is missing
LOOK_EVERY = 0.5  # s between two looks at the folder of complete chunks
ASK_EVERY = 5   # s between two questions to Slurm


def command(plan, options, text):
    """Words that compute one part on any machine."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    words = ['env', 'PYTHONPATH=' + here + ''.join(':' + path for path in filter(None, [os.environ.get('PYTHONPATH')]))]
    words += ['%s=%s' % (name, os.environ[name]) for name in (
        'GST_PLUGIN_PATH', 'GI_TYPELIB_PATH', 'LD_LIBRARY_PATH', 'GST_REGISTRY') if os.environ.get(name)]
    words += [sys.executable, '-m', 'roadvision', 'batch', '-', os.path.abspath(plan.out), '--part', text]
    words += ['--jobs', str(options.jobs)] if options.jobs else []
    words += ['--gpus', options.gpus] if options.gpus else []
    return words


def new_round(plan):
    """The folder of what the tasks of one submission take."""
    name = secrets.token_hex(4)
    os.makedirs(plans.state(plan.out, 'taken', name))
    return name


class Share:
    """What one of N tasks computes: first every N-th chunk, then what the others have not taken yet. text: I/N@ROUND; a
    task that starts again, after its machine was lost, has the chunks that it took before."""

    def __init__(self, plan, text):
        numbers, self.round = text.split('@')
        self.number, self.count = (int(word) for word in numbers.split('/'))
        self.plan = plan
        self.frames = plan.count // self.count  # as expected

    def takes(self, chunk):
        """Mode x (O_EXCL) is one step on file systems of networks, too (NFS from version 3 on)."""
        path = plans.state(self.plan.out, 'taken', self.round, chunk.id)
        try:
            with open(path, 'x') as file:
                file.write(str(self.number))
        except FileExistsError:
            with open(path) as file:
                return file.read() == str(self.number)
        return True

    def take(self):
        for own in (True, False):
            for n, chunk in enumerate(self.plan.chunks()):
                if (n % self.count == self.number) == own and not chunk.is_done() and self.takes(chunk):
                    yield chunk


class Watch:
    """Counts complete chunks and shows them."""

    def __init__(self, plan):
        self.plan, self.seen = plan, set()
        self.sizes = {chunk.id: chunk.end - chunk.start for chunk in plan.chunks()}
        self.total, self.frames = plan.count, 0
        self.look()
        self.progress = common.Progress(self.frames)

    def look(self):
        """Names of chunks are added as they appear."""
        for name in os.listdir(plans.state(self.plan.out, 'done')):
            if name in self.sizes and name not in self.seen:
                self.seen.add(name)
                self.frames += self.sizes[name]

    def show(self):
        self.look()
        self.progress.show(self.frames / max(1, self.total), self.frames)

    @property
    def complete(self):
        return len(self.seen) == len(self.sizes)


def ask(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


# --- Slurm -------------------------------------------------------------------------------------------

def nodes():
    status, text, _error = ask('sinfo', '--noheader', '--format=%D')
    numbers = [int(line) for line in text.split() if line.isdigit()] if status == 0 else []
    return max(1, sum(numbers))


def submit(plan, options):
    """The number of a new job array."""
    tasks = options.tasks or nodes()
    script = plans.state(plan.out, 'job.sh')
    words = ' '.join(shlex.quote(word) for word in command(plan, options, '@PART@')).replace(
        '@PART@', '"$SLURM_ARRAY_TASK_ID/%d@%s"' % (tasks, new_round(plan)))
    plans.write_atomically(script, ('#!/bin/sh\n#SBATCH --job-name=roadvision\n#SBATCH --array=0-%d\n#SBATCH --requeue\n'
                                    '#SBATCH --output=%s\nexec %s\n' % (
                                        tasks - 1, plans.state(os.path.abspath(plan.out), 'task-%a.log'), words)).encode())
    status, text, error = ask('sbatch', '--parsable', *common.split(options.sbatch), script)
    if status:
        raise Problem('sbatch refuses the job: %s; more options go into --sbatch' % error)
    job = text.split(';')[0]
    plans.write_atomically(plans.state(plan.out, 'job'), job.encode())
    print('roadvision: job %s, %d tasks: scancel %s ends it' % (job, tasks, job), file=sys.stderr)
    return job


def is_running(job, silent=True):
    """Whether tasks of the array wait or run; silent: the answer while the controller does not answer."""
    status, text, error = ask('squeue', '--noheader', '--states=all', '--array', '--jobs', job, '--format=%T')
    if status:
        return silent and 'Invalid job id' not in error
    return any(word in ('PENDING', 'RUNNING', 'COMPLETING', 'CONFIGURING', 'SUSPENDED', 'REQUEUED', 'REQUEUE_HOLD',
                        'REQUEUE_FED', 'RESIZING') for word in text.split())


def refuse_array(plan):
    """An array that computes OUT already is no reason to compute it here, too."""
    job = array_of(plan)
    if job and shutil.which('squeue') and is_running(job, False):
        raise Problem('job %s of Slurm is working on %s: follow it with --slurm, or end it with scancel %s' % (job, plan.out, job))


def array_of(plan):
    try:
        with open(plans.state(plan.out, 'job')) as file:
            return file.read().strip()
    except FileNotFoundError:
        return None


def slurm(plan, options):
    for name in ('sbatch', 'squeue'):
        if not shutil.which(name):
            raise Problem('there is no %s: install slurm-client on a machine of the cluster, or use --jobs or --hosts' % name)
    job = array_of(plan)
    watch = Watch(plan)
    if job and is_running(job):
        print('roadvision: following job %s, which runs already' % job, file=sys.stderr)
    elif not watch.complete:
        job = submit(plan, options)
    for left in reversed(range(ROUNDS)):
        follow(watch, job)
        if watch.complete or not left:
            break
        print('roadvision: %d chunks were left by job %s; submitting them again' % (
            len(watch.sizes) - len(watch.seen), job), file=sys.stderr)
        job = submit(plan, options)
    watch.progress.end()
    if not watch.complete:
        print('roadvision: tasks failed; their output: %s' % plans.state(plan.out, 'task-*.log'), file=sys.stderr)


def follow(watch, job):
    asked = time.monotonic()
    while not watch.complete:
        watch.show()
        if time.monotonic() - asked > ASK_EVERY:
            asked = time.monotonic()
            if not is_running(job):
                break
        time.sleep(LOOK_EVERY)
    watch.show()


# --- GNU parallel over ssh ---------------------------------------------------------------------------

def host_names(text):
    if os.path.isfile(text):
        with open(text) as file:
            names = [line.split('#')[0].strip() for line in file]
    else:
        names = text.split(',')
    names = [name for name in names if name]
    wrong = [name for name in names if not re.fullmatch(r'[A-Za-z0-9_.@:-]+', name) or name.startswith('-')]
    if not names or wrong:
        raise Misuse('--hosts is %s, must be names separated by commas, or a file with one per line' % text)
    return names


def answering(names):
    """Hosts that run a command; the others are named."""
    processes = [(name, None if name == ':' else subprocess.Popen(
        ['ssh', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10', name, 'true'], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)) for name in names]
    good = []
    for name, process in processes:
        error = process.communicate()[1] if process else ''
        if process is None or process.returncode == 0:
            good.append(name)
        else:
            print('roadvision: %s does not answer, its part goes to the others: %s' % (
                name, error.strip().split('\n')[-1]), file=sys.stderr)
    if not good:
        raise Problem('no host answers: ssh HOST must work without a password')
    return good


def hosts(plan, options):
    for name, package in (('parallel', 'parallel'), ('ssh', 'openssh-client')):
        if not shutil.which(name):
            raise Problem('there is no %s: install %s, or use --jobs' % (name, package))
    watch = Watch(plan)
    for _ in range(ROUNDS):
        if watch.complete:
            break
        names = answering(host_names(options.hosts))
        logins = plans.state(plan.out, 'hosts')
        plans.write_atomically(logins, ''.join('1/%s\n' % name for name in names).encode())
        from roadvision.batch.command import owner
        line = ' '.join(shlex.quote(word) for word in command(plan, options, '@PART@') + ['--owner', owner()]).replace(
            '@PART@', '{}/%d@%s' % (len(names), new_round(plan)))
        log = open(plans.state(plan.out, 'task-hosts.log'), 'w')
        process = subprocess.Popen(
            ['parallel', '--will-cite', '--sshloginfile', logins, '--retries', '2', '--jobs', '1', line, ':::'] +
            [str(number) for number in range(len(names))], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            while process.poll() is None:
                watch.show()
                time.sleep(LOOK_EVERY)
        finally:
            if process.poll() is None:
                process.terminate()
        watch.show()
    watch.progress.end()
    if not watch.complete:
        print('roadvision: hosts failed; their output: %s' % plans.state(plan.out, 'task-hosts.log'), file=sys.stderr)
