# SPDX-License-Identifier: MIT
"""Records a stereo pair, its camera and its results.

  roadvision record drive                                   four seconds of a rendered street
  roadvision record --device /dev/video0 --calibration camera.yml drive
  roadvision record --left /dev/video0 --right /dev/video2 --caps image/jpeg,width=1280,height=720 drive
  roadvision record --source 'v4l2src ! image/jpeg,width=2560,height=720 ! jpegdec' drive

  drive.mkv    the pair, both views in one frame, every bit of it (FFV1); --lossy: H.264
  drive.jsonl  one line per frame: camera, wall-clock time, skew of the pair
  drive.mcap   results as ROS 2 messages for Foxglove and ros2 bag: image, depth, stixels, road

Ctrl-C and kill end a recording properly. After a crash all files are readable up to the last second.
A recording of that name is not overwritten, except with --force.
roadvision replay plays the pair through the elements again.
"""
import glob
import os
import shlex
import shutil
import sys

from roadvision import common, launch
from roadvision.common import Misuse, Problem

STREET = 'stereotestsrc num-buffers=120 ! video/x-raw,width=1280,height=480,framerate=30/1'
ANALYSIS = 'cudasgm ! cudastixels ! cudaroaddetect'
# Formats of FFV1 that have the values of a format of cameras, in another order in memory.
LOSSLESS = {'I420': ('I420', 'YV12', 'NV12', 'NV21'), 'Y42B': ('YUY2', 'UYVY', 'YVYU', 'Y42B'),
            'Y444': ('Y444',), 'BGRx': ('BGRx', 'RGBx', 'xRGB', 'xBGR', 'RGB', 'BGR'),
            'BGRA': ('BGRA', 'RGBA', 'ARGB', 'ABGR'), 'GRAY8': ('GRAY8',), 'GRAY16_LE': ('GRAY16_LE',)}
LOSSY = ('video/x-raw,format=I420 ! x264enc tune=zerolatency speed-preset=veryfast pass=quant quantizer=20 ! h264parse')


def arguments(parser):
    parser.add_argument('out', help='name of the files, without extension')
    parser.add_argument('--device', help='side-by-side camera, such as /dev/video0')
    parser.add_argument('--left', metavar='DEVICE', help='left one of two cameras')
    parser.add_argument('--right', metavar='DEVICE', help='right one of two cameras')
    parser.add_argument('--caps', default='', help='mode of the cameras, such as image/jpeg,width=2560,height=720; '
                        'without it v4l2src chooses, perhaps the largest size at a low rate')
    parser.add_argument('--source', default=STREET, help='launch line up to the pair')
    parser.add_argument('--calibration', metavar='FILE', help='rectifies before the analysis; a copy '
                        'of the file is kept as OUT-calibration.*, and in the MCAP file')
    parser.add_argument('--analysis', default=ANALYSIS, help='elements downstream of the pair (%s)' % ANALYSIS)
    parser.add_argument('--topics', help='messages in the MCAP file, as the property topics')
    parser.add_argument('--lossy', action='store_true', help='H.264 instead of FFV1: about a tenth of '
                        'the size, slightly other results in a replay')
    parser.add_argument('--no-results', action='store_true', help='no analysis and no MCAP file')
    parser.add_argument('--force', action='store_true', help='replace a recording of that name')
    parser.add_argument('--print', action='store_true', help='print a gst-launch-1.0 line that records the same')


def check(options):
    if bool(options.left) != bool(options.right) or (options.left and options.device):
        raise Misuse('two cameras need --left and --right, one camera --device')
    if options.caps and not (options.left or options.device):
        raise Misuse('--caps needs --device, or --left and --right')
    if options.calibration and not os.access(options.calibration, os.R_OK) and not options.print:
        raise Problem('cannot read the calibration file %s; roadvision calibrate makes one' % options.calibration)
    folder = os.path.dirname(options.out)
    if folder and not os.path.isdir(folder) and not options.print:
        raise Problem('there is no folder %s' % folder)
    options.out = options.out[:-4] if options.out.endswith('.mkv') else options.out


def make_way(options):
    """Refuses to overwrite a recording; --force removes all of its files: a replay would take the calibration of the other."""
    files = [options.out + suffix for suffix in ('.mkv', '.jsonl', '.mcap')]
    files = [name for name in files if os.path.exists(name)] + glob.glob(glob.escape(options.out) + '-calibration.*')
    if options.force:
        for name in files:
            if not (options.calibration and os.path.samefile(name, options.calibration)):
                os.remove(name)
    elif any(os.path.getsize(name) for name in files):  # empty ones are of a camera that did not start
        raise Problem('there is a recording of that name (%s); choose another one, or --force to replace it' % ', '.join(files))


def camera(device, options):
    caps = options.caps
    if not os.path.exists(device) and not options.print:
        raise Problem('no such device: %s; v4l2-ctl --list-devices names those that are there' % device)
    return 'v4l2src name=%s device=%s ! %sdecodebin ! videoconvert' % (os.path.basename(device), device, caps + ' ! ' if caps else '')


def launch_line(options):
    source, analysis, leaky = options.source, options.analysis, ''
    if options.device:
        source = camera(options.device, options)
    elif options.left:
        queue = 'queue leaky=downstream max-size-buffers=2'
        source = '%s ! %s ! mux.left %s ! %s ! mux.right cudastereomux name=mux' % (
            camera(options.left, options), queue, camera(options.right, options), queue)
    if options.device or options.left:
        # If the camera is faster than the analysis, the analysis skips frames, the recording none.
        leaky = 'leaky=downstream max-size-buffers=2'
    if options.calibration:
        analysis = 'cudarectify name=rectify ! ' + analysis
    line = ('%s ! tee name=pair pair. ! queue max-size-bytes=0 max-size-time=0 max-size-buffers=60 ! '
            'annotationpublish name=sidecar ! videoconvert name=convert ! capsfilter name=pick ! %s ! '
            'matroskamux ! filesink name=recording ' % (source, LOSSY if options.lossy else 'avenc_ffv1'))
    if not options.no_results:
        line += ('pair. ! queue %s ! %s ! annotationpublish name=results format=mcap ! '
                 'fakesink async=false' % (leaky, analysis))
    return line


def report_mode(pipeline):
    """Prints size and rate of the pair when they are known."""
    Gst = common.gst()

    def probe(_pad, info):
        event = info.get_event()
        if event.type == Gst.EventType.CAPS:
            mode = event.parse_caps().get_structure(0)
            _known, rate, per = mode.get_fraction('framerate')
            print('roadvision record: pairs of %dx%d px, %s, %.4g frames/s' % (
                mode.get_value('width'), mode.get_value('height'), mode.get_string('format'),
                rate / max(1, per)), file=sys.stderr)
        return Gst.PadProbeReturn.OK
    pipeline.get_by_name('convert').get_static_pad('sink').add_probe(
        Gst.PadProbeType.EVENT_DOWNSTREAM, probe)


def pick_format(pipeline):
    """Sets the format of the encoder that keeps the values of the source's: when it is known."""
    Gst = common.gst()
    from gi.repository import GLib

    def probe(_pad, info):
        event = info.get_event()
        if event.type == Gst.EventType.CAPS:
            given = event.parse_caps().get_structure(0).get_string('format')
            kept = [name for name, same in LOSSLESS.items() if given in same]
            if not kept:
                pipeline.get_bus().post(Gst.Message.new_error(
                    pipeline, GLib.Error('%s cannot be recorded without a loss; use --lossy, or convert '
                                         'it in --source' % given), ''))
                return Gst.PadProbeReturn.DROP
            pipeline.get_by_name('pick').props.caps = Gst.Caps.from_string(
                'video/x-raw,format=' + kept[0])
        return Gst.PadProbeReturn.OK
    pipeline.get_by_name('convert').get_static_pad('sink').add_probe(
        Gst.PadProbeType.EVENT_DOWNSTREAM, probe)


def make_pipeline(options):
    Gst = common.gst()
    pipeline = common.parse(launch_line(options))
    make_way(options)
    if options.calibration:
        kept = options.out + '-calibration' + os.path.splitext(options.calibration)[1]
        try:
            shutil.copyfile(options.calibration, kept)
        except shutil.SameFileError:
            pass
        except OSError as error:
            raise Problem('cannot copy the calibration: %s' % error) from None
    pipeline.get_by_name('recording').props.location = options.out + '.mkv'
    pipeline.get_by_name('sidecar').props.location = options.out + '.jsonl'
    if options.device or options.left:
        report_mode(pipeline)
    if not options.lossy:
        pick_format(pipeline)
    results, rectify = pipeline.get_by_name('results'), pipeline.get_by_name('rectify')
    if rectify:
        rectify.props.calibration = kept
    if results:
        results.props.location = options.out + '.mcap'
        if options.topics:
            Gst.util_set_object_arg(results, 'topics', options.topics)
        if options.calibration:
            results.props.attachment = kept
    return pipeline


def printed(options):
    """The same recording as words for gst-launch-1.0, which needs the files and the format in the line."""
    line = launch_line(options)
    for name, suffix in (('sidecar', '.jsonl'), ('results', '.mcap'), ('recording', '.mkv')):
        line = line.replace('name=' + name, 'name=%s location=%s' % (name, shlex.quote(options.out + suffix)))
    if options.calibration:
        line = line.replace('name=rectify', 'name=rectify calibration=' + shlex.quote(options.calibration))
    # FFV1 stores I420, Y42B, BGRx and gray without a loss: the camera's format decides
    return launch.line(common.split(line.replace('capsfilter name=pick ! ', '')))


def run(options):
    check(options)
    if options.print:
        print(printed(options))
        return 0
    encoder = 'x264enc' if options.lossy else 'avenc_ffv1'
    if not launch.has(encoder):
        raise Problem('no element %s: install gstreamer1.0-%s%s' % (
            encoder, *(('plugins-ugly', '') if options.lossy else ('libav', ', or use --lossy' if launch.has('x264enc') else ''))))
    if options.lossy:
        launch.need('h264parse', 'gstreamer1.0-plugins-bad')
    return launch.play(make_pipeline(options), 'record')
