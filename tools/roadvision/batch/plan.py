# SPDX-License-Identifier: MIT
"""The plan of a batch: what is computed from which pairs, in chunks that any process can take.

OUT/.roadvision/plan.json          settings, sequences, problems
OUT/.roadvision/frames/00000.txt   one line per pair of a sequence: left, right, name of the results
OUT/.roadvision/done/00000-000003  a chunk that is complete: one line of JSON, then hash and path of its files
OUT/.roadvision/aside/             files of chunks that are not complete yet
OUT/.roadvision/taken/ROUND/       over several machines: a file per chunk that a task has taken, with the task's number

Chunks depend on the plan alone, never on the number of processes."""
import array
import hashlib
import json
import os

import roadvision
from roadvision.batch import camera, layouts
from roadvision.common import Problem

FORMAT = 'roadvision.batch/1'
STEP = 64  # lines of a frames file between two stored positions


def state(out, *names):
    return os.path.join(out, '.roadvision', *names)


class Chunk:
    """Frames start to end of a sequence; those from lead on are computed too, to learn and to track."""

    def __init__(self, plan, sequence, number):
        self.plan, self.sequence = plan, sequence
        size, overlap = plan.settings['chunk'], plan.settings['overlap']
        self.start = number * size
        self.end = min(self.start + size, sequence['count'])
        self.lead = max(0, self.start - overlap)
        self.id = '%05d-%06d' % (sequence['id'], number)
        self.label = '%06d-%06d' % (self.start, self.end - 1)  # of files with all frames of the chunk

    def done_path(self):
        return state(self.plan.out, 'done', self.id)

    def is_done(self):
        return os.path.exists(self.done_path())

    def pairs(self):
        """(index, left, right, name) from lead to end."""
        sequence = self.sequence
        with open(state(self.plan.out, 'frames', '%05d.txt' % sequence['id']), 'rb') as file:
            with open(file.name[:-4] + '.at', 'rb') as positions:
                positions.seek(8 * (self.lead // STEP))
                file.seek(int.from_bytes(positions.read(8), 'little'))
            at = self.lead - self.lead % STEP
            for index, line in enumerate(file, at):
                if index >= self.end:
                    return
                if index >= self.lead:
                    left, right, name = line.decode('utf-8', 'surrogateescape').rstrip('\n').split('\t')
                    yield (index, os.path.join(self.plan.input, left), os.path.join(self.plan.input, right), name)


class Plan:
    def __init__(self, out, data):
        self.out, self.data = out, data
        self.settings, self.sequences, self.input = data['settings'], data['sequences'], data['input']

    @property
    def count(self):
        return sum(sequence['count'] for sequence in self.sequences)

    def chunks(self):
        for sequence in self.sequences:
            for number in range(-(-sequence['count'] // self.settings['chunk'])):
                yield Chunk(self, sequence, number)

    def chunk(self, name):
        sequence, number = name.split('-')
        return Chunk(self, self.sequences[int(sequence)], int(number))

    def folder(self, sequence):
        """Where results of a sequence go, relative to OUT."""
        return sequence['name']


def write_atomically(path, data):
    """The file is there completely or not at all."""
    aside = '%s.%d.tmp' % (path, os.getpid())
    with open(aside, 'wb') as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def make(out, source, settings, options):
    """Writes the plan of a new batch; options: fps, left, right, list_file."""
    os.makedirs(state(out, 'frames'), exist_ok=True)
    for name in ('done', 'aside'):
        os.makedirs(state(out, name), exist_ok=True)
    problems, notes = [], []
    if options.list_file:
        top = os.path.dirname(os.path.abspath(options.list_file))
        found = [layouts.Found('', 'list', pairs=layouts.read_list(options.list_file))]
    elif options.left:
        top = os.path.abspath(source)
        found = [layouts.Found('', 'folders', left=options.left, right=options.right)]
        for folder in (options.left, options.right):
            if not os.path.isdir(os.path.join(top, folder)):
                raise Problem('there is no folder %s in %s' % (folder, source))
    else:
        top = os.path.abspath(source if os.path.isdir(source) else os.path.dirname(os.path.abspath(source)))
        found, problems, notes = layouts.find(source, out)
    sequences = []
    for number, item in enumerate(found):
        sequences.append(sequence_of(out, top, item, number, settings, problems))
    sequences = [sequence for sequence in sequences if sequence]
    for number, sequence in enumerate(sequences):
        if sequence['id'] != number:  # an empty one was omitted
            for end in ('.txt', '.at'):
                path = state(out, 'frames', '%05d' % sequence['id'] + end)
                if os.path.exists(path):
                    os.replace(path, state(out, 'frames', '%05d' % number + end))
            sequence['id'] = number
    if not sequences:
        raise Problem('no pairs in %s%s' % (source, ''.join('; ' + text for text in problems[:3])))
    data = {'format': FORMAT, 'version': roadvision.__version__, 'source': os.path.abspath(options.list_file or source),
            'input': top, 'settings': settings, 'problems': problems, 'notes': notes, 'sequences': sequences}
    data['times'] = {path: os.stat(path).st_mtime_ns for path in watched(data)}
    write_atomically(state(out, 'plan.json'), (json.dumps(data, indent=1) + '\n').encode())
    return Plan(out, data)


def watched(data):
    """What changes its time when images or recordings come or go: folders of the sequences and those above, files."""
    source = data['source']
    paths = {source}
    for sequence in data['sequences']:
        for name in (sequence.get('left'), sequence.get('right'), sequence.get('file')):
            path = os.path.join(data['input'], name) if name else source
            while path not in paths and path.startswith(os.path.join(data['input'], '')):
                paths.add(path)
                path = os.path.dirname(path) if os.path.isdir(source) else source
    return sorted(paths)


def later(plan):
    """A text on input that has changed since the plan was made, or ''."""
    changed = [path for path, then in plan.data.get('times', {}).items()
               if not os.path.exists(path) or os.stat(path).st_mtime_ns != then]
    return '%s%s changed since this batch was planned: what is new there is not computed; use another output folder for ' \
        'it' % (changed[0], ' and %d more' % (len(changed) - 1) if changed[1:] else '') if changed else ''


def paired(top, item, problems):
    """The pairs of a sequence; one that cannot be paired is named, and the others are computed."""
    try:
        yield from layouts.pairs_of(top, item, problems)
    except Problem as problem:
        problems.append(str(problem))


def sequence_of(out, top, item, number, settings, problems):
    sequence = {'id': number, 'name': item.name, 'kind': 'pairs', 'fps': settings['fps']}
    if item.kind in ('video', 'mcap'):
        from roadvision.batch import recordings
        try:
            sequence.update(recordings.describe(item, settings, state(out, 'frames', '%05d' % number)))
        except Problem as problem:
            problems.append(str(problem))
            return None
        sequence['file'] = os.path.abspath(item.file)
        return sequence
    digest, positions, sample = hashlib.sha256(), array.array('Q'), ''
    count = at = 0
    seen = set() if item.kind == 'list' else None
    with open(state(out, 'frames', '%05d.txt' % number), 'wb', 1 << 20) as file:
        for left, right, name in paired(top, item, problems):
            if '\n' in left + right or '\t' in left + right:
                problems.append('%r is skipped: its name has a tab or a line end' % left)
                continue
            if seen is not None and name in seen:
                problems.append('%s is skipped: the list has its name (%s) twice' % (left, name))
                continue
            if seen is not None:
                seen.add(name)
            if count % STEP == 0:
                positions.append(at)
            sample = sample or name
            line = ('%s\t%s\t%s\n' % (left, right, name)).encode('utf-8', 'surrogateescape')
            digest.update(line)
            file.write(line)
            at += len(line)
            count += 1
    if not count:
        problems.append('%s has no pairs' % (item.name or top))
        return None
    write_atomically(state(out, 'frames', '%05d.at' % number), positions.tobytes())
    sequence.update(count=count, frames_sha256=digest.hexdigest())
    # --calibration rectifies: then the camera is not that of the files next to the images.
    found, each = ({}, False) if item.kind == 'list' or settings['calibration'] else camera.find(top, item.left, sample)
    sequence.update(camera=dict(found, **camera.given(settings)), camera_each=each, left=item.left, right=item.right)
    return sequence


def read(out):
    """The plan of OUT, or None if there is none."""
    path = state(out, 'plan.json')
    try:
        with open(path) as file:
            data = json.load(file)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Problem('cannot read the plan %s: %s' % (path, error)) from None
    if data.get('format') != FORMAT:
        raise Problem('%s is the output of another version of roadvision (plan %s, this one writes %s): use another '
                      'output folder' % (out, data.get('format'), FORMAT))
    return Plan(out, data)


def difference(plan, source, settings):
    """Why a plan is not that of this command, or ''."""
    if plan.data['version'] != roadvision.__version__:
        return 'version %s, now %s' % (plan.data['version'], roadvision.__version__)
    if plan.data['source'] != os.path.abspath(source):
        return 'input %s' % plan.data['source']
    changed = ['%s %s, now %s' % (key, plan.settings.get(key), value) for key, value in settings.items()
               if plan.settings.get(key) != value]
    return '; '.join(changed)
