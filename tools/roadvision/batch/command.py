# SPDX-License-Identifier: MIT
"""roadvision batch IN OUT: disparity, depth, stixels, road, obstacles, lanes, JSON and video of many pairs.

  roadvision batch kitti/training results --what disparity,json
  roadvision batch drives/ results --what road,obstacles --focal 721.5 --baseline 0.54
  roadvision batch drives/ results --what json --slurm
  roadvision batch drives/ results --what json --hosts node1,node2

IN is a folder of pairs (left and right, image_2 and image_3, NAME_left.png and NAME_right.png, ...), a data set
(KITTI, Cityscapes, DrivingStereo, Virtual KITTI, EuRoC, Middlebury, ETH3D), a recording (.mkv, .mp4, .mcap), or a
folder of all of these. Stop it at any time; the same command continues.

  OUT/SEQUENCE/disparity/NAME.png   16 bits, 1/256 px, 0 = invalid
  OUT/SEQUENCE/depth/NAME.png       16 bits, mm, 0 = invalid
  OUT/SEQUENCE/road/NAME.png        8 bits, 255 = road
  OUT/SEQUENCE/stixels/A-B.jsonl, obstacles/, lanes/, json/, video/A-B.ts   frames A to B
  OUT/manifest.sha256               every file, for sha256sum -c
  OUT/errors.txt                    pairs without a result, with the reason
"""
import argparse
import fcntl
import hashlib
import os
import shutil
import socket
import sys
import tempfile
import threading
import time

from roadvision import common, launch
from roadvision.batch import cluster, local, plan as plans
from roadvision.common import Misuse, Problem

KINDS = ('disparity', 'depth', 'stixels', 'road', 'obstacles', 'lanes', 'json', 'video')
ELEMENTS = {'stixels': 'cudastixels', 'road': 'cudaroaddetect', 'obstacles': 'cudaobstacles', 'lanes': 'cudalanes'}
EVERYTHING = 'cudasgm ! cudastixels ! cudaobstacles ! cudalanes'
# Frames before a chunk that an element needs to know what it would know in one long run: docs/batch.md.
OVERLAP = {'cudastixels': 10, 'cudaroaddetect': 60, 'cudaobstacles': 20, 'cudalanes': 40}
CHUNK, CHUNK_PER_OVERLAP = 500, 50  # frames of a chunk: the overlap takes at most a fiftieth of the time
SHOWN = 10  # lines of one kind in the report


def arguments(parser):
    parser.add_argument('input', metavar='IN', nargs='?', help='folder, data set or recording')
    parser.add_argument('out', metavar='OUT', nargs='?', help='folder that is written')
    parser.add_argument('--what', default='disparity,json', metavar='LIST', help='results, separated by commas: %s '
                        '(disparity,json)' % ', '.join(KINDS))
    parser.add_argument('--elements', metavar='LINE', help='launch line from the pair to the results; default: what '
                        '--what needs')
    source = parser.add_argument_group('input of other layouts')
    source.add_argument('--left', metavar='FOLDER', help='folder of the left images below IN')
    source.add_argument('--right', metavar='FOLDER', help='folder of the right images below IN')
    source.add_argument('--list', dest='list_file', metavar='FILE', help='instead of IN: a text file with the left and '
                        'the right image of a pair per line')
    source.add_argument('--fps', type=float, default=10, help='frames per second of image files (10)')
    camera = parser.add_argument_group('camera, unless a calibration file of the data set has it')
    camera.add_argument('--focal', type=float, metavar='PX', help='focal length of rectified pairs')
    camera.add_argument('--baseline', type=float, metavar='M', help='distance of the cameras')
    camera.add_argument('--calibration', metavar='FILE', help='rectifies the pairs first')
    work = parser.add_argument_group('work')
    work.add_argument('--chunk', type=int, metavar='N', help='frames that are computed and stored as a whole (500, at '
                      'least %d times the overlap)' % CHUNK_PER_OVERLAP)
    work.add_argument('--overlap', type=int, metavar='N', help='frames before each chunk from which the elements '
                      'learn and track; default: %s, else 0' % ', '.join(
                          '%s %d' % item for item in OVERLAP.items()))
    work.add_argument('--jobs', type=int, metavar='N', help='processes (one per GPU, or one per two cores)')
    work.add_argument('--gpus', metavar='LIST', help='GPUs by number, such as 0,1; none: the CPU (default: all)')
    work.add_argument('--plan', action='store_true', help='only write the plan and print it')
    work.add_argument('--print', action='store_true', help='print a gst-launch-1.0 line that computes the first sequence')
    many = parser.add_argument_group('several machines that share IN and OUT by a file system')
    many.add_argument('--slurm', action='store_true', help='submit a job array, and follow it')
    many.add_argument('--tasks', type=int, default=0, metavar='N', help='tasks of the array (number of nodes)')
    many.add_argument('--sbatch', default='', metavar='OPTIONS', help='more options of sbatch, such as '
                      '"--partition=gpu --gres=gpu:1"')
    many.add_argument('--hosts', metavar='LIST', help='machines by GNU parallel over ssh: names separated by commas, '
                      'or a file with one per line')
    parser.add_argument('--part', metavar='I/N@ROUND', help=argparse.SUPPRESS)  # of a task: see cluster.Share
    parser.add_argument('--owner', metavar='TEXT', help=argparse.SUPPRESS)  # of a task: ends with the batch of this lock


def check(options):
    """Settings that results depend on."""
    what = [kind for kind in KINDS if kind in options.what.split(',')]
    unknown = [kind for kind in options.what.split(',') if kind not in KINDS]
    if unknown or not what:
        raise Misuse('--what is %s, must be a list of %s' % (options.what, ', '.join(KINDS)))
    if bool(options.left) != bool(options.right):
        raise Misuse('--left and --right go together')
    if (options.chunk or 1) < 1 or options.chunk == 0 or (options.overlap or 0) < 0 or not 0 < options.fps < 1e6:
        raise Misuse('--chunk and --fps must be positive, --overlap at least 0')
    if options.slurm and options.hosts:
        raise Misuse('--slurm and --hosts exclude each other')
    for name in ('focal', 'baseline'):
        if getattr(options, name) is not None and not 0 < getattr(options, name) < 1e6:
            raise Misuse('--%s is %g, must be positive' % (name, getattr(options, name)))
    if options.jobs is not None and options.jobs < 1:
        raise Misuse('--jobs is %d, must be positive' % options.jobs)
    elements = options.elements
    if not elements:
        needed = [ELEMENTS[kind] for kind in what if kind in ELEMENTS]
        elements = ' ! '.join(['cudasgm'] + needed) if needed or not {'json', 'video'} & set(what) or \
            {'disparity', 'depth'} & set(what) else EVERYTHING
    overlap = options.overlap
    if overlap is None:
        overlap = max([0] + [frames for name, frames in OVERLAP.items() if name in elements])
    chunk = options.chunk or max(CHUNK, CHUNK_PER_OVERLAP * overlap)
    settings = {'what': what, 'elements': elements, 'chunk': chunk, 'overlap': overlap, 'fps': options.fps,
                'focal': options.focal, 'baseline': options.baseline, 'left': options.left, 'right': options.right,
                'calibration': None, 'calibration_sha256': None, 'encoder': None}
    if options.calibration:
        try:
            with open(options.calibration, 'rb') as file:
                settings['calibration_sha256'] = hashlib.sha256(file.read()).hexdigest()
        except OSError as error:
            raise Problem('cannot read the calibration file %s: %s; roadvision calibrate makes one'
                          % (options.calibration, error.strerror)) from None
        settings['calibration'] = os.path.abspath(options.calibration)
    return settings


def check_elements(settings):
    """What is missing is named before the work starts."""
    Gst = common.gst()
    from roadvision.batch import chunkrun
    if 'video' in settings['what']:
        settings['encoder'] = next((name for name in chunkrun.ENCODERS if Gst.ElementFactory.find(name)), None)
        if not settings['encoder']:
            raise Problem('there is no H.264 encoder: install gstreamer1.0-plugins-ugly (x264enc)')
        for name in ('h264parse', 'mpegtsmux'):
            launch.need(name, 'gstreamer1.0-plugins-bad')
    common.parse(chunkrun.analysis(settings, {}, 1, -1) + ' ! fakesink')


def lock(out):
    """Held until this process ends: a second batch on OUT is an error."""
    file = open(plans.state(out, 'lock'), 'a+')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        raise Problem('another batch is working on %s (%s): wait for it, or end it' % (
            out, file.read().strip() or 'unknown process')) from None
    file.seek(0)
    file.truncate()
    file.write(owner() + '\n')
    file.flush()
    return file


def owner():
    return 'process %d on %s' % (os.getpid(), socket.gethostname())


def end_with(out, text):
    """Ends this task when the batch that started it has ended: Ctrl-C does not reach other machines."""
    while True:
        time.sleep(2)
        with open(plans.state(out, 'lock')) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                alone = True
            except OSError:  # held, or this file system has no locks
                alone = False
            if alone or file.read().strip() != text:
                print('roadvision: the batch has ended, and so does this task', file=sys.stderr)
                os._exit(1)  # the workers end with their parent


def open_plan(options, settings):
    """The plan of OUT, made now or by an interrupted run of the same command."""
    out, source = options.out, options.list_file or options.input
    if os.path.exists(out) and not os.path.isdir(out):
        raise Problem('%s is no folder' % out)
    if os.path.isdir(out) and os.listdir(out) and not os.path.isdir(plans.state(out)):
        raise Problem('%s has files that no batch wrote: use another output folder' % out)
    if not os.path.exists(source):
        raise Problem('there is no folder or file %s' % source)
    new = not os.path.exists(out)
    os.makedirs(plans.state(out), exist_ok=True)
    held = lock(out)
    plan = plans.read(out)
    if plan is not None and plans.difference(plan, source, settings) and not os.listdir(plans.state(out, 'done')):
        plan = None  # it has no results: other options may succeed
    if plan is None:
        try:
            plan = plans.make(out, options.input, settings, options)
        except Problem:
            if new:
                shutil.rmtree(out, ignore_errors=True)
            raise
    else:
        why = plans.difference(plan, source, settings)
        if why:
            raise Problem('%s is the output of another batch (%s): use another output folder' % (out, why))
        show(filter(None, [plans.later(plan)]))
    return plan, held


def cores():
    """Of this process; Slurm without its affinity plugin tells the number alone."""
    here, given = len(os.sched_getaffinity(0)), os.environ.get('SLURM_CPUS_ON_NODE', '')
    return min(here, int(given)) if given.isdigit() and int(given) else here


def devices(options):
    """Numbers of GPUs, as CUDA counts those of CUDA_VISIBLE_DEVICES; none: the CPU."""
    if options.gpus == 'none':
        return []
    found = common.gpus()
    count = found[1] if found else 0
    if not options.gpus:
        return list(range(count))
    try:
        wanted = [int(word) for word in options.gpus.split(',')]
    except ValueError:
        raise Misuse('--gpus is %s, must be numbers such as 0,1, or none' % options.gpus) from None
    missing = [number for number in wanted if not 0 <= number < count]
    if missing:
        raise Problem('there is no GPU %d: the driver has %s; roadvision check shows them' % (
            missing[0], 'those from 0 to %d' % (count - 1) if count else 'none'))
    return wanted


def finish(plan, lost):
    """OUT/manifest.sha256 and OUT/errors.txt from the records of the chunks; returns (frames, failed, missing)."""
    frames = failed = missing = 0
    import json
    names = [os.path.join(plan.out, name) for name in ('manifest.sha256', 'errors.txt')]
    with open(names[0] + '.tmp', 'wb') as manifest, open(names[1] + '.tmp', 'w') as errors:
        for text in plan.data['problems'] + lost:
            errors.write(text + '\n')
        for chunk in plan.chunks():
            try:
                with open(chunk.done_path(), 'rb') as record:
                    head = json.loads(record.readline())
                    for block in iter(lambda: record.read(1 << 20), b''):
                        manifest.write(block)
            except FileNotFoundError:
                missing += 1
                continue
            frames += head['frames']
            failed += len(head['failed'])
            for name, reason in head['failed']:
                errors.write('%s: %s\n' % (os.path.join(plan.folder(chunk.sequence), name), reason))
    for name in reversed(names):  # the manifest last: with it the output is complete
        os.replace(name + '.tmp', name)
    return frames, failed, missing


def done_before(plan):
    """Frames of chunks that are complete."""
    done = set(os.listdir(plans.state(plan.out, 'done')))
    return sum(chunk.end - chunk.start for chunk in plan.chunks() if chunk.id in done) if done else 0


def run(options):
    if options.part:
        plan = plans.read(options.out)
        if plan is None:
            raise Problem('no plan in %s' % options.out)
        share, held = cluster.Share(plan, options.part), None
        chunks, total = share.take(), share.frames
        if options.owner:
            threading.Thread(target=end_with, args=(options.out, options.owner), daemon=True).start()
    else:
        if options.list_file and options.out is None:
            options.out, options.input = options.input, None
        if options.print:
            return print_line(options)
        if not options.out or not (options.input or options.list_file):
            raise Misuse('IN and OUT are missing' if not options.input else 'OUT is missing')
        settings = check(options)
        check_elements(settings)
        plan, held = open_plan(options, settings)
        chunks, total = plan.chunks(), plan.count
        show(plan.data['problems'])
        show(plan.data.get('notes', []))
    if options.plan:
        print('%s: %d frames, %d sequences, %d chunks' % (
            options.out, total, len(plan.sequences), sum(1 for _chunk in chunks)))
        return 0
    if options.slurm or options.hosts:
        (cluster.slurm if options.slurm else cluster.hosts)(plan, options)
        lost = []
    else:
        if not options.part:
            cluster.refuse_array(plan)
            clear_aside(plan)
        lost = compute(plan, options, chunks, total, share.count if options.part else 1)
    if options.part:
        show(lost)
        return bool(lost)
    return report(plan, lost)


def compute(plan, options, chunks, total, tasks):
    """On this machine, one of `tasks`. Returns a text on each chunk without results."""
    gpus = devices(options)
    wanted = options.jobs or (len(gpus) if gpus else max(1, cores() // 2))
    count = -(-sum(1 for _chunk in plan.chunks()) // tasks)
    jobs = max(1, min(wanted, count))
    if jobs < wanted:
        print('roadvision: %d chunk%s for %d processes; with a smaller --chunk all of them work' % (
            count, 's' * (count != 1), wanted), file=sys.stderr)
    pool = local.Pool(plan, chunks, jobs, gpus, 0 if gpus else max(1, cores() // jobs))
    pool.run(done_before(plan) if not options.part else 0, total)
    return ['frames %s of %s: %s' % (chunk.label, chunk.sequence['name'] or chunk.sequence.get('file', plan.input), reason)
            for chunk, reason in sorted(pool.lost, key=lambda item: item[0].id)]


def show(texts):
    texts = list(texts)
    for text in texts[:SHOWN]:
        print('roadvision: %s' % text, file=sys.stderr)
    if len(texts) > SHOWN:
        print('roadvision: %d more in errors.txt' % (len(texts) - SHOWN), file=sys.stderr)


def print_line(options):
    """--print: the plan is made aside, OUT stays as it is."""
    from roadvision.batch import line
    if not options.input and not options.list_file:
        raise Misuse('IN is missing')
    settings = check(options)
    check_elements(settings)
    with tempfile.TemporaryDirectory() as folder:
        plan = plans.make(folder, options.input, settings, options)
        line.show(plan, options.out or 'OUT', (devices(options) or [-1])[0])
    return 0


def clear_aside(plan):
    for name in os.listdir(plans.state(plan.out, 'aside')):
        shutil.rmtree(plans.state(plan.out, 'aside', name), ignore_errors=True)
    shutil.rmtree(plans.state(plan.out, 'taken'), ignore_errors=True)


def report(plan, lost):
    frames, failed, missing = finish(plan, lost)
    if not missing:
        clear_aside(plan)  # of tasks that were killed on other machines
    problems = len(plan.data['problems'])
    print('roadvision: %d frame%s in %s%s%s%s' % (
        frames, 's' * (frames != 1), plan.out,
        ', %d problem%s with the input (errors.txt)' % (problems, 's' * (problems != 1)) if problems else '',
        ', %d pair%s without a result (errors.txt)' % (failed, 's' * (failed != 1)) if failed else '',
        ', %d chunk%s missing: the same command tries again' % (missing, 's' * (missing != 1)) if missing else ''))
    show(lost)
    return 1 if failed or missing or problems else 0
