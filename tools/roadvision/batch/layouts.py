# SPDX-License-Identifier: MIT
"""Finds sequences of stereo pairs: folders of pairs, layouts of data sets, lists, recordings.

Nothing is opened here but folders and calibration files: a million names are read in seconds."""
import collections
import os
import re

from roadvision.common import Problem
from roadvision.pictures import EXTENSIONS

VIDEOS = ('.mkv', '.mp4', '.mov', '.avi', '.webm', '.ts')
# Folders of the left and the right camera: names of one part of the path.
FOLDERS = (
    ('image_2', 'image_3'), ('image_02', 'image_03'), ('colored_0', 'colored_1'),      # KITTI, color
    ('image_0', 'image_1'), ('image_00', 'image_01'),                                   # KITTI, gray
    ('left', 'right'), ('Left', 'Right'), ('image_left', 'image_right'), ('left_images', 'right_images'),
    ('image_l', 'image_r'), ('left-image-half-size', 'right-image-half-size'),          # DrivingStereo
    ('left-image-full-size', 'right-image-full-size'), ('leftImg8bit', 'rightImg8bit'),  # Cityscapes
    ('cam0', 'cam1'), ('Camera_0', 'Camera_1'),                                          # EuRoC, Virtual KITTI
)
# Files of both cameras in one folder: end of the stem, left and right.
SUFFIXES = (('_left', '_right'), ('-left', '-right'), ('_l', '_r'), ('_leftImg8bit', '_rightImg8bit'),
            ('im0', 'im1'), ('view1', 'view5'))           # Middlebury and ETH3D, Middlebury 2006
RIGHT_NAMES = (('left', 'right'), ('Left', 'Right'), ('_l', '_r'))  # in names, if those of the right folder differ
# KITTI's stereo sets: 000012_10.png, 000012_11.png are two frames of scene 12; scenes do not follow each other.
SCENE = re.compile(r'(\d{6})_\d\d$')


class Found:
    """One sequence, as a folder, a file or a list gives it."""

    def __init__(self, name, kind, left='', right='', file='', pairs=None, rank=0):
        self.name, self.kind, self.left, self.right, self.file, self.pairs = name, kind, left, right, file, pairs
        self.rank = rank  # among the cameras of FOLDERS


def stem(name):
    return os.path.splitext(os.path.basename(name))[0]


def images(folder):
    """Names of the images of a folder, sorted by stem."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.lower().endswith(EXTENSIONS)]
    names.sort()
    if any(not name.endswith(names[0][-4:]) for name in names):
        names.sort(key=stem)  # equal stems one after the other; costs a copy of all names
    return names


def find(path, out):
    """All sequences of IN: Found objects, texts on what is missing, texts on what is left out on purpose."""
    if os.path.isfile(path):
        return [recording(path, '')], [], []
    if not os.path.isdir(path):
        raise Problem('there is no folder or file %s' % path)
    found, problems, notes = [], [], []
    for folder, subfolders, files in os.walk(path, onerror=lambda error: problems.append(
            '%s: %s' % (error.filename, error.strerror))):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith('.') and
                               os.path.abspath(os.path.join(folder, name)) != os.path.abspath(out))
        relative = os.path.relpath(folder, path)
        relative = '' if relative == '.' else relative
        for name in sorted(files):
            if name.lower().endswith(VIDEOS + ('.mcap',)) and not second_of_recording(folder, name):
                found.append(recording(os.path.join(folder, name), os.path.join(relative, stem(name))))
        if any(name.lower().endswith(EXTENSIONS) for name in files):
            of_folder(path, relative, found, problems, notes)
    if not found:
        raise Problem('no pairs in %s%s: expected folders such as left and right or image_2 and image_3, files '
                      'such as NAME_left.png and NAME_right.png, or recordings (.mkv, .mcap); other layouts: '
                      '--left and --right, or --list' % (path, ''.join('; ' + text for text in problems[:3])))
    name, count = collections.Counter(item.name for item in found).most_common(1)[0]
    if count > 1:
        raise Problem('two sequences would be called %s: process their folders one by one' % (name or path))
    return found, problems, notes


def second_of_recording(folder, name):
    """drive.mcap has the results of drive.mkv: roadvision record writes both."""
    return name.endswith('.mcap') and os.path.exists(os.path.join(folder, name[:-5] + '.mkv'))


def recording(path, name):
    kind = 'mcap' if path.lower().endswith('.mcap') else 'video'
    if not path.lower().endswith(VIDEOS + ('.mcap',)):
        raise Problem('%s is neither a folder nor a recording (%s, .mcap)' % (path, ', '.join(VIDEOS)))
    return Found(name, kind, file=path)


def of_folder(top, relative, found, problems, notes):
    """The sequences of one folder of images."""
    parts = relative.split(os.sep)
    for rank, (left, right) in enumerate(FOLDERS):
        if right in parts and left not in parts:
            partner = [left if part == right else part for part in parts]
            if not os.path.isdir(os.path.join(top, *partner)):
                problems.append('%s has no folder %s next to it' % (relative, left))
            return
        if left in parts:
            partner = [right if part == left else part for part in parts]
            if not os.path.isdir(os.path.join(top, *partner)):
                problems.append('%s has no folder %s next to it' % (relative, right))
                return
            name = os.path.join('', *[part for part in parts if part not in (left, 'data')])
            item = Found(name, 'folders', left=relative, right=os.path.join('', *partner), rank=rank)
            # KITTI has gray and color cameras: those that are earlier in FOLDERS are used.
            other = next((other for other in found[-3:] if other.name == name), None)
            if other is None:
                found.append(item)
                return
            if rank < other.rank:
                found[found.index(other)], item = item, other
            notes.append('%s is skipped: %s has other cameras too' % (item.left, name or top))
            return
    for left, right in SUFFIXES:
        names = images(os.path.join(top, relative))
        if any(stem(name).endswith(left) for name in names):
            found.append(Found(relative, 'suffixes', left=relative, right=relative, pairs=(left, right)))
            return


def pairs_of(top, item, problems):
    """(left, right, name of the results) of a sequence in the order of names; what has no partner is named."""
    if item.kind == 'list':
        yield from item.pairs
        return
    if item.kind == 'suffixes':
        yield from pairs_in_one(top, item, problems)
        return
    lefts = images(os.path.join(top, item.left))
    blob = '\n'.join(lefts)  # a tenth of the memory of the list
    count = len(lefts)
    del lefts
    rights = images(os.path.join(top, item.right))
    if blob == '\n'.join(rights):
        del rights
        before = None
        for name in lines(blob):
            before = unlike(item, stem(name), before)
            yield os.path.join(item.left, name), os.path.join(item.right, name), before
    else:
        yield from merge(item, blob, count, rights, problems)


def unlike(item, name, before):
    if name == before:
        raise Problem('two images of %s are called %s: their results would overwrite each other' % (item.left, name))
    return name


def right_name(name):
    """How the right file of a left file may be called."""
    yield name
    for left, right in RIGHT_NAMES:
        if left in name:
            yield right.join(name.rsplit(left, 1))


def merge(item, blob, count, rights, problems):
    first, last = blob.split('\n', 1)[0], blob.rsplit('\n', 1)[-1]
    there = set(rights)
    change = next((n for n, (a, b) in enumerate(zip(right_name(first), right_name(last)))
                   if a in there or b in there), None)
    if change is None:
        if count != len(rights):
            raise Problem('%d left images in %s, but %d right ones in %s, and their names differ: which ones belong '
                          'together is unknown; name the pairs with --list'
                          % (count, item.left, len(rights), item.right))
        for left, right in zip(lines(blob), rights):
            yield os.path.join(item.left, left), os.path.join(item.right, right), stem(left)
        return
    used = alone = 0
    before = None
    for left in lines(blob):
        right = next(name for n, name in enumerate(right_name(left)) if n == change) if change else left
        if right not in there:
            alone += 1
            if alone <= 10:
                problems.append('%s has no right image' % os.path.join(item.left, left))
            continue
        before = unlike(item, stem(left), before)
        used += 1
        yield os.path.join(item.left, left), os.path.join(item.right, right), before
    if alone > 10:
        problems.append('%d more images of %s have no right image' % (alone - 10, item.left))
    if used < len(rights):
        problems.append('%d of the images of %s have no left image' % (len(rights) - used, item.right))


def lines(blob):
    """The lines of a text, one at a time."""
    start = 0
    while start < len(blob):
        end = blob.find('\n', start)
        end = len(blob) if end < 0 else end
        yield blob[start:end]
        start = end + 1


def pairs_in_one(top, item, problems):
    left_end, right_end = item.pairs
    names = images(os.path.join(top, item.left))
    there = set(names)
    for name in names:
        base, extension = os.path.splitext(name)
        if not base.endswith(left_end):
            continue
        partner = base[:-len(left_end)] + right_end + extension
        if partner in there:
            result = base[:-len(left_end)].rstrip('_-') or base
            yield os.path.join(item.left, name), os.path.join(item.left, partner), result
        else:
            problems.append('%s has no right image' % os.path.join(item.left, name))


def scene(name):
    """Frames of one scene follow each other in time; '' in all other layouts."""
    match = SCENE.match(name)
    return match[1] if match else ''


def read_list(path):
    """--list FILE: one pair per line, left and right, separated by a tab or spaces; # starts a comment."""
    try:
        with open(path) as file:
            for number, line in enumerate(file, 1):
                line = line.strip()
                if not line or line.startswith('#'):
                    continue
                words = line.split('\t') if '\t' in line else line.split()
                if len(words) != 2:
                    raise Problem('line %d of %s has %d words, must be two: left and right' % (number, path, len(words)))
                yield words[0], words[1], os.path.splitext(words[0])[0].lstrip('/').replace('/', '_')
    except (OSError, UnicodeDecodeError) as error:
        raise Problem('cannot read %s: %s' % (path, error)) from None
