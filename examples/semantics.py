#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a segmentation network (ONNX) on the left view, in step with the video, for cudastixels.

  examples/run.sh examples/semantics.py                                 a rendered street, our network
  examples/run.sh examples/semantics.py --source 'filesrc location=drive.mkv ! decodebin' --sink autovideosink
  examples/run.sh examples/semantics.py --model net.onnx --classes net.txt --mean 123.7 116.3 103.5 \\
    --std 58.4 57.1 57.4 --size 1024x512

SOURCE is a part of a launch line that ends in side-by-side pairs. The pipeline is
  SOURCE ! cudasgm ! [the network] ! cudastixels ! cudaannotate ! SINK
The network runs in the streaming thread, so every frame has the scores of its own picture. They are
attached as RvSemanticsMeta; any other pipeline can do the same with attach_to() of this file.

--classes is a text file that maps outputs of the network to classes, one per line: number, name, and the
structure g (ground), o (object) or s (sky). Outputs of the same name are added, others are ignored:
  0 road g
  1 sidewalk g
  8 tree o
  10 sky s
Without it the metadata of the model have to say so, as those of examples/train_semantics.py do; so they do
for mean, std, order and scale. Needs onnxruntime (pip install onnxruntime)."""
import argparse
import os
import sys

try:  # before GStreamer: libunwind of the latter breaks exceptions of C++ libraries that come later
    import onnxruntime
except ImportError:
    onnxruntime = None
try:
    import roadvision
except ImportError:
    import in_tree  # noqa: F401  a checkout: starts this again through run.sh

import cv2
import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('RoadVision', '0')
import roadvision  # noqa: E402
from gi.repository import Gst, RoadVision  # noqa: E402

OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'semantics.onnx')
CLASSES_MAX = 32
FILE_MAX = 65536  # bytes of a file of classes
DEFAULTS = {'mean': [0.0], 'std': [255.0], 'order': 'rgb', 'layout': 'nchw', 'scale': 1.0, 'multiple': 1}


class Refused(Exception):
    """What the user gave cannot be used; the text says why and what helps."""


# --- Classes --------------------------------------------------------------------------------------

class Classes:
    """names and letters of the classes, and for each output of the network its class, -1: none."""

    def __init__(self, rows):
        self.names, self.letters, self.of_output = [], '', {}
        for output, name, letter in rows:
            if letter not in ('g', 'o', 's'):
                raise Refused('class %s: "%s" is not g, o or s' % (name, letter))
            if output in self.of_output:
                raise Refused('output %d has two classes' % output)
            if name not in self.names:
                self.names.append(name)
                self.letters += letter
            k = self.names.index(name)
            if self.letters[k] != letter:
                raise Refused('class %s is both %s and %s' % (name, self.letters[k], letter))
            self.of_output[output] = k
        if not 0 < len(self.names) <= CLASSES_MAX:
            raise Refused('1 to %d classes are needed, there are %d' % (CLASSES_MAX, len(self.names)))

    def table(self, outputs):
        if max(self.of_output) >= outputs:
            raise Refused('a class is of output %d, the network has %d' % (max(self.of_output), outputs))
        table = np.full(outputs, -1)
        for output, k in self.of_output.items():
            table[output] = k
        return table


def read_classes(path):
    rows = []
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read(FILE_MAX + 1)
    except (OSError, ValueError) as error:
        raise Refused('cannot read %s: %s' % (path, error)) from None
    if len(text) > FILE_MAX:
        raise Refused('%s is longer than %d bytes' % (path, FILE_MAX))
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split('#')[0].split()
        if not words:
            continue
        if len(words) != 3 or not (words[0].isascii() and words[0].isdigit() and len(words[0]) < 5):
            raise Refused('%s, line %d: "%.60s" is not NUMBER NAME LETTER' % (path, number, line))
        rows.append((int(words[0]), words[1], words[2]))
    return Classes(rows)


def classes_of(given, metadata):
    if given:
        return read_classes(given)
    names, letters = metadata.get('classes', '').split(), metadata.get('semantic-classes', '')
    if not names or len(names) != len(letters):
        raise Refused('the model does not say what its outputs are: name them with --classes')
    return Classes(list(zip(range(len(names)), names, letters)))


# --- Network --------------------------------------------------------------------------------------

def numbers(text):
    return [float(word) for word in text.split()]


def settings_of(options, metadata):
    """Each from the command line, else from the metadata of the model, else the default."""
    found = dict(DEFAULTS)
    readers = {'mean': numbers, 'std': numbers, 'order': str, 'layout': str, 'scale': float, 'multiple': int}
    for name, read in readers.items():
        given = getattr(options, name, None)
        if given is not None:
            found[name] = given
        elif name in metadata:
            found[name] = read(metadata[name])
    for name in ('mean', 'std'):
        if len(found[name]) not in (1, 3):
            raise Refused('--%s needs one number or three' % name)
    if not all(np.isfinite(found['std'])) or 0 in found['std']:
        raise Refused('--std must not be 0')
    return found


class Network:
    """scores(picture): classes x rows x columns, f32, of a picture BGR, u8."""

    def __init__(self, session, options):
        self.session, self.options = session, options
        metadata = session.get_modelmeta().custom_metadata_map or {}
        self.classes = classes_of(options.classes, metadata)
        self.settings = settings_of(options, metadata)
        self.input = session.get_inputs()[0]
        self.table = None

    def size_of(self, picture):
        """Width and height of the input: as given, else fixed by the model, else scaled."""
        if self.options.size:
            return self.options.size
        shape = list(self.input.shape)
        rows, columns = shape[1:3] if self.settings['layout'] == 'nhwc' else shape[2:4]
        if isinstance(rows, int) and isinstance(columns, int):
            return columns, rows
        each = self.settings['multiple']
        return tuple(max(int(side * self.settings['scale'] / each + 0.5), 1) * each
                     for side in picture.shape[1::-1])

    def input_of(self, picture):
        values = cv2.resize(picture, self.size_of(picture), interpolation=cv2.INTER_AREA)
        if self.settings['order'] == 'gray':
            values = cv2.cvtColor(values, cv2.COLOR_BGR2GRAY)[:, :, None]
        elif self.settings['order'] == 'rgb':
            values = values[:, :, ::-1]
        values = (values.astype(np.float32) - np.float32(self.settings['mean'])) / \
            np.float32(self.settings['std'])
        if self.settings['layout'] == 'nchw':
            values = values.transpose(2, 0, 1)
        kinds = {'tensor(uint8)': np.uint8, 'tensor(float16)': np.float16}
        return np.ascontiguousarray(values[None].astype(kinds.get(self.input.type, np.float32)))

    def scores(self, picture):
        found = self.session.run(None, {self.input.name: self.input_of(picture)})[0]
        if found.dtype.kind in 'iu':  # labels
            return self.from_labels(found.reshape(found.shape[-2:]))
        found = found[0].astype(np.float32)
        if self.settings['layout'] == 'nhwc':
            found = found.transpose(2, 0, 1)
        if found.ndim != 3:
            raise Refused('the output of the network is neither labels nor a plane per class')
        total = found.sum(axis=0)
        if found.min() < 0 or abs(total - 1).max() > 0.1:  # not probabilities yet
            found = np.exp(found - found.max(axis=0))
            found /= found.sum(axis=0)
        return self.merged(found)

    def merged(self, outputs):
        if self.table is None:
            self.table = self.classes.table(len(outputs))
        planes = np.zeros((len(self.classes.names), *outputs.shape[1:]), np.float32)
        for plane, k in zip(outputs, self.table):
            if k >= 0:
                planes[k] += plane
        return planes

    def from_labels(self, labels):
        if self.table is None:
            self.table = self.classes.table(max(max(self.classes.of_output) + 1, int(labels.max()) + 1))
        table = np.append(self.table, -1)
        k = table[np.clip(labels, 0, len(table) - 1)]
        return (k == np.arange(len(self.classes.names))[:, None, None]).astype(np.float32)


def load(options):
    if onnxruntime is None:
        raise Refused('onnxruntime is missing. Install it for the Python that runs this, for instance in a '
                      'virtual environment made with --system-site-packages: pip install onnxruntime')
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    try:
        session = onnxruntime.InferenceSession(options.model, settings,
                                               providers=onnxruntime.get_available_providers())
    except Exception as error:  # noqa: BLE001 - onnxruntime has a type of its own for every cause
        raise Refused('cannot load %s: %s' % (options.model, str(error).splitlines()[0])) from None
    return Network(session, options)


# --- Video ----------------------------------------------------------------------------------------

def semantics_of(network, buffer, caps, labels):
    picture = roadvision.picture(buffer, caps)
    name = caps.get_structure(0).get_value('format')
    if picture.shape[2] == 1:
        picture = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_GRAY2BGR)
    elif name.startswith('BGR'):
        picture = picture[:, :, :3]
    else:
        picture = picture[:, :, 2::-1]
    scores = network.scores(np.ascontiguousarray(picture))
    height, width = picture.shape[:2]
    count = len(scores)
    if labels:
        array = roadvision.to_array(scores.argmax(axis=0).astype(np.uint8))
        return RoadVision.MetaSemantics.new_labels(width, height, count, array)
    planes = np.ascontiguousarray(scores.astype(np.float16)).reshape(-1, scores.shape[2])
    return RoadVision.MetaSemantics.new_scores(width, height, count, roadvision.to_array(planes))


def attach_to(element, network, labels=False, failed=None):
    """Attaches semantics to every buffer that leaves `element` (BGRx, RGBx, BGRA, RGBA or GRAY8)."""
    def probe(pad, info):
        try:
            semantics_of(network, info.get_buffer(), pad.get_current_caps(), labels).attach_in_probe(info)
        except Exception as error:  # noqa: BLE001 - an exception would vanish in the streaming thread
            if failed:
                failed(error)
            else:
                print('semantics: %s' % error, file=sys.stderr)
        return Gst.PadProbeReturn.OK
    element.get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, probe)


def line_of(options, letters):
    return ('%s ! videoconvert ! video/x-raw,format=BGRx ! cudasgm %s ! identity name=semantics ! '
            'cudastixels name=stixels semantic-classes=%s %s ! cudaannotate show=stixels '
            'stixel-colors=class ! videoconvert ! %s' % (
                options.source, options.sgm, letters, options.stixels, options.sink))


def play(options, network):
    """Runs to the end; returns the number of frames."""
    pipeline = Gst.parse_launch(line_of(options, network.classes.letters))
    bus, counts, problems = pipeline.get_bus(), [0], []

    def failed(error):
        problems.append(error)
        pipeline.post_message(Gst.Message.new_application(pipeline, Gst.Structure.new_empty('failed')))

    def show(_pad, info):
        stixels = roadvision.annotation(info.get_buffer(), 'RvStixelsMeta')
        counts[0] += 1
        if stixels and options.verbose:
            classes = stixels['payload']['semantic']
            print('frame %d: %d stixels (%s)' % (counts[0], stixels['count'], ', '.join(
                '%s %d' % (name, np.count_nonzero(classes == k))
                for k, name in enumerate(network.classes.names))), flush=True)
        return Gst.PadProbeReturn.OK

    if not options.without:
        attach_to(pipeline.get_by_name('semantics'), network, options.labels, failed)
    pipeline.get_by_name('stixels').get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, show)
    pipeline.set_state(Gst.State.PLAYING)
    message = bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR |
                                     Gst.MessageType.APPLICATION)
    pipeline.set_state(Gst.State.NULL)
    if problems:
        raise Refused(str(problems[0]))
    if message.type == Gst.MessageType.ERROR:
        raise Refused(message.parse_error()[0].message)
    return counts[0]


# --- Command line ---------------------------------------------------------------------------------

def size(text):
    width, _, height = text.partition('x')
    if not (width.isdigit() and height.isdigit() and 0 < int(width) < 16384 and 0 < int(height) < 16384):
        raise argparse.ArgumentTypeError('"%s" is not WIDTHxHEIGHT' % text)
    return int(width), int(height)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--model', default=OURS, help='ONNX file (default: %(default)s)')
    add('--classes', help='text file: outputs of the network and their classes')
    add('--source', default='stereotestsrc num-buffers=5', help='launch line of the pairs')
    add('--sink', default='fakesink', help='launch line after cudaannotate')
    add('--sgm', default='', help='properties of cudasgm')
    add('--stixels', default='', help='properties of cudastixels')
    add('--size', type=size, help='WIDTHxHEIGHT of the input; default: that of the model, or scaled')
    add('--scale', type=float, help='of the image, where the model accepts any size')
    add('--mean', type=float, nargs='+', help='subtracted from the values 0..255, one or three')
    add('--std', type=float, nargs='+', help='divides what is left, one or three')
    add('--order', choices=('rgb', 'bgr', 'gray'), help='of the channels')
    add('--layout', choices=('nchw', 'nhwc'), help='of the tensors')
    add('--labels', action='store_true', help='attach the best class instead of all scores')
    add('--threads', type=int, default=0, help='of the network, 0 = all')
    add('--without', action='store_true', help='attach nothing, to compare')
    add('--verbose', action='store_true', help='print the stixels of each frame by class')
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    Gst.init(None)
    try:
        network = load(options)
        frames = play(options, network)
    except Refused as error:
        sys.exit('semantics: %s' % error)
    print('%d frames, classes: %s' % (frames, ' '.join(network.classes.names)))


if __name__ == '__main__':
    main()
