# SPDX-License-Identifier: MIT
"""Says what this machine has for gst-roadvision, and what is missing, each with its remedy.

Exit status: 0, or 1 if something that every use needs is missing. Lines start with ok, note or MISSING.
"""
import glob
import grp
import os
import shutil
import subprocess

from roadvision import common, launch
from roadvision.common import Problem

# Element -> (package of Debian, what needs it).
STOCK = {
    'videoconvert': ('gstreamer1.0-plugins-base', 'every pipeline'),
    'pngdec': ('gstreamer1.0-plugins-good', 'PNG images'), 'jpegdec': ('gstreamer1.0-plugins-good', 'JPEG images'),
    'matroskamux': ('gstreamer1.0-plugins-good', 'recordings and videos'),
    'h264parse': ('gstreamer1.0-plugins-bad', 'H.264'), 'mpegtsmux': ('gstreamer1.0-plugins-bad', 'roadvision batch --what video'),
    'avenc_ffv1': ('gstreamer1.0-libav', 'lossless recordings'), 'avdec_h264': ('gstreamer1.0-libav', 'H.264 files'),
    'rtspsrc': ('gstreamer1.0-plugins-good', 'network cameras'), 'v4l2src': ('gstreamer1.0-plugins-good', 'UVC cameras'),
    'nicesink': ('gstreamer1.0-nice', 'roadvision see --web'),
}


class Report:
    def __init__(self):
        self.missing = 0

    def ok(self, text):
        print('ok       ' + text)

    def note(self, text, remedy):
        print('note     %s\n         %s' % (text, remedy))

    def bad(self, text, remedy):
        self.missing += 1
        print('MISSING  %s\n         %s' % (text, remedy))


def arguments(parser):
    parser.add_argument('--camera', metavar='DEVICE', action='append', help='check this camera too, such as /dev/video0 '
                        '(default: all that are there)')


def check_gstreamer(report):
    try:
        Gst = common.gst()
    except Problem as problem:
        report.bad('GStreamer for Python', str(problem))
        return None
    report.ok('%s for Python' % Gst.version_string())
    if not shutil.which('gst-launch-1.0'):
        report.note('gst-launch-1.0 is not there; --print prints lines for it', 'install gstreamer1.0-tools')
    plugin = Gst.Registry.get().find_plugin('roadvision')
    if not plugin:
        report.bad('the plugin roadvision', 'install gstreamer1.0-roadvision, or start through examples/run.sh; if it is '
                   'installed, delete ~/.cache/gstreamer-1.0/registry.*.bin')
        return Gst
    features = Gst.Registry.get().get_feature_list_by_plugin('roadvision')
    report.ok('plugin roadvision %s, %d elements, %s' % (plugin.get_version(), len(features), plugin.get_filename()))
    return Gst


def check_elements(report, Gst):
    for name, (package, use) in STOCK.items():
        if not Gst.ElementFactory.find(name):
            (report.bad if use == 'every pipeline' else report.note)('element %s, for %s' % (name, use), 'install ' + package)
    found = [name for name in launch.ENCODERS if Gst.ElementFactory.find(name)]
    if found:
        report.ok('H.264 encoder: %s' % ', '.join(found))
    else:
        report.note('no H.264 encoder (%s), for videos and network output' % ', '.join(launch.ENCODERS),
                    'install gstreamer1.0-plugins-ugly')


def check_gpu(report, Gst):
    found = common.gpus()
    if found is None:
        report.note('no NVIDIA driver: all elements use the CPU engine',
                    'install the driver of your GPU; in a container, start it with the NVIDIA container toolkit')
        return
    status, count, version = found
    if status or not count:
        report.note('the NVIDIA driver finds no GPU (status %d)' % status, 'nvidia-smi must work for this user; it shows the '
                    'cause. In a container: --gpus all')
        return
    report.ok('%d GPU%s, driver for CUDA %d.%d' % (count, 's' * (count > 1), version // 1000, version % 1000 // 10))
    if not Gst:
        return
    engine = engine_of(Gst)
    if engine == 'cuda':
        report.ok('the elements use the GPU')
    else:
        report.note('a GPU is there, but cudasgm uses the engine %s' % (engine or 'none'),
                    'gst-launch-1.0 stereotestsrc num-buffers=1 ! cudasgm engine=cuda ! fakesink shows the cause; the '
                    'package of the CUDA build is needed')
    if not Gst.ElementFactory.find('cudaupload'):
        report.note('element cudaupload: frames cannot stay on the GPU', 'install gstreamer1.0-plugins-bad, then delete '
                    '~/.cache/gstreamer-1.0/registry.*.bin; in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility,video')


def engine_of(Gst):
    """The engine that cudasgm takes by itself for one frame."""
    try:
        pipeline = common.parse('stereotestsrc num-buffers=1 ! video/x-raw,width=320,height=120 ! cudasgm name=sgm ! fakesink')
    except Problem:
        return ''
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    engine = pipeline.get_by_name('sgm').get_property('stats').get_string('engine')
    pipeline.set_state(Gst.State.NULL)
    return engine


def check_python(report):
    try:
        import numpy
        report.ok('numpy %s' % numpy.__version__)
    except ImportError:
        report.bad('numpy', 'install python3-numpy')
        return
    try:
        import roadvision.metas  # noqa: F401
        report.ok('typelib RoadVision-0: annotations in Python')
    except (ImportError, ValueError) as error:
        report.bad('typelib RoadVision-0 (%s)' % error, 'install gir1.2-roadvision-0')
    import importlib.util
    if not importlib.util.find_spec('cv2'):
        report.note('OpenCV for Python, for roadvision calibrate', 'install python3-opencv')


def check_cameras(report, names):
    there = names or sorted(glob.glob('/dev/video*'))
    if not there:
        report.note('no camera: there is no /dev/video*', 'plug one in; in a container or a virtual machine pass the device on. '
                    'roadvision see test needs none')
    for name in there:
        if not os.path.exists(name):
            report.bad('camera %s' % name, 'v4l2-ctl --list-devices names those that are there')
        elif not os.access(name, os.R_OK | os.W_OK):
            group = grp.getgrgid(os.stat(name).st_gid).gr_name
            report.note('camera %s: no permission' % name, 'add the user to the group %s, then log in again: sudo usermod -aG '
                        '%s $USER' % (group, group))
        else:
            report.ok('camera %s' % name)


def check_batch(report):
    for name, package, use in (('sbatch', 'slurm-client', '--slurm'), ('parallel', 'parallel', '--hosts'),
                               ('ssh', 'openssh-client', '--hosts')):
        if not shutil.which(name):
            report.note('%s, for roadvision batch %s' % (name, use), 'install ' + package)
    memory = shutil.disk_usage('/dev/shm').total if os.path.isdir('/dev/shm') else 0
    if memory and memory < 64 << 20:
        report.note('/dev/shm has %d MB' % (memory >> 20), 'in a container: --shm-size=256m')


def check_screen(report, ending):
    if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY')):
        report.note('no screen: neither DISPLAY nor WAYLAND_DISPLAY is set', 'roadvision see --out FILE%s, or --web 8080' %
                    ending)


def run(options):
    report = Report()
    Gst = check_gstreamer(report)
    if Gst:
        check_elements(report, Gst)
    check_gpu(report, Gst)
    check_python(report)
    check_cameras(report, options.camera)
    ending = launch.video() if Gst else '.mkv'
    check_screen(report, ending)
    check_batch(report)
    cores = len(os.sched_getaffinity(0))
    flags = cpu_flags()
    report.ok('%d cores, %s' % (cores, ', '.join(name for name in ('avx2', 'avx512bw') if name in flags) or 'no AVX2: the CPU '
                                'engine is slow'))
    print('roadvision: %s' % ('%d missing' % report.missing if report.missing else 'ready: roadvision see test --out test' + ending))
    return 1 if report.missing else 0


def cpu_flags():
    try:
        return subprocess.run(['grep', '-m1', '^flags', '/proc/cpuinfo'], capture_output=True, text=True,
                              check=False).stdout.split()
    except OSError:
        return []
