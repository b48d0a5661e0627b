# SPDX-License-Identifier: MIT
"""roadvision batch --print: a line for gst-launch-1.0 that computes one sequence in one run."""
import os
import sys

from roadvision import common, launch, pictures
from roadvision.batch import chunkrun, plan as plans
from roadvision.common import Problem

DEFAULTS = ('engine=cpu', 'threads=0')  # what elements take by themselves without a GPU


def show(plan, out, device):
    """Prints the line of the first sequence; what it cannot do is told on standard error."""
    sequence, settings = plan.sequences[0], plan.settings
    if sequence['kind'] == 'mcap':
        raise Problem('%s: GStreamer has no element that reads images of MCAP; roadvision batch reads them itself' % sequence['file'])
    camera = dict(sequence.get('camera', {}))
    if camera.pop('doffs', None):
        print('roadvision: depth without the difference of the principal points, which no property sets', file=sys.stderr)
    first, branches = video(sequence) if sequence['kind'] == 'video' else pairs(plan, sequence)
    analysis = common.split(chunkrun.analysis(settings, camera, 0, device))
    words = first + ['!', 'queue', '!'] + [word for word in analysis if word not in DEFAULTS] + ['!', 'queue', '!']
    if set(settings['what']) & set(chunkrun.JSON_KINDS):
        words += ['annotationpublish', 'overflow=block', 'location=' + os.path.join(out, 'frames.jsonl'), '!']
    if 'video' in settings['what']:
        words += ['cudaannotate', '!'] + launch.EVEN + ['!'] + chunkrun.ENCODERS[settings['encoder']].split() + [
            '!', 'h264parse', '!', 'mpegtsmux', '!', 'filesink', 'location=' + os.path.join(out, 'video.ts')]
    else:
        words += ['fakesink', 'sync=false']
    images = [kind for kind in ('disparity', 'depth', 'road') if kind in settings['what']]
    if images:
        print('roadvision: PNG images of %s are written by roadvision batch itself' % ', '.join(images), file=sys.stderr)
    print(launch.line(words + branches))


def video(sequence):
    calibration = sequence.get('calibration')
    return ['filesrc', 'location=' + sequence['file'], '!', 'decodebin', '!', 'videoconvert'] + (
        ['!', 'cudarectify', 'calibration=' + calibration] if calibration else []), []


def pairs(plan, sequence):
    """Elements that read the images of both cameras."""
    plan.settings['chunk'] = sequence['count']
    sides = list(zip(*((left, right) for _index, left, right, _name in plans.Chunk(plan, sequence, 0).pairs())))
    runs = [pictures.numbered(names) for names in sides]
    if None in runs:
        print('roadvision: gst-launch-1.0 reads images that are numbered without gaps: this line is for the first pair', file=sys.stderr)
        runs = [pictures.numbered(names[:1]) for names in sides]
    branches = []
    for side, run in zip(('left', 'right'), runs):
        branches += pictures.read_words(run, '%g/1' % sequence['fps']) + ['!', 'queue', '!', 'mux.' + side]
    return ['cudastereomux', 'name=mux', 'layout=side-by-side'], branches
