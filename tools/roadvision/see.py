# SPDX-License-Identifier: MIT
"""Shows or saves depth, obstacles, lanes and more of a stereo camera, a file, images or a test scene.

  roadvision see test                                           a rendered street, in a window
  roadvision see --calibration camera.yml /dev/video0 --caps image/jpeg,width=2560,height=720
  roadvision see /dev/video0 /dev/video2 --calibration camera.yml      two cameras, paired by time
  roadvision see rtsp://192.168.1.20/left rtsp://192.168.1.21/right    network cameras
  roadvision see pair.mkv --focal 700 --baseline 0.12 --show space+obstacles+lanes+bird --out watched.mkv
  roadvision see kitti/training --out depth.mkv                         folders of images, such as image_2 and image_3
  roadvision see left.png right.png --out depth.png                    one pair
  roadvision see --zed 720 --calibration SN12345.conf                  a ZED without its SDK
  roadvision see test --send 192.168.1.30:5000                         H.264 over RTP
  roadvision see test --web 8080                                       in a web browser
  roadvision see test --print                                          the gst-launch-1.0 line instead

Without INPUT: /dev/video0. Live input that is faster than this computer skips frames; files skip none.
A window or a video ends with Ctrl-C or kill, which complete the files. Two cameras are paired by time; frames further
apart than --max-skew are dropped. MP4 files of GStreamer store the wrong order of the views: --layout side-by-side.
--csv FILE: one row per frame; with %s in the name also one per obstacle and lane line (drive-obstacles.csv).
"""
import glob
import os
import re
import stat
import sys

from roadvision import common, launch, pictures
from roadvision.common import Misuse, Problem

ZED = {'2k': ('2208x1242', 15), '1080': ('1920x1080', 30), '720': ('1280x720', 30), 'vga': ('672x376', 30)}
ZED_SETTINGS = '/usr/local/zed/settings/SN*.conf'
# --show NAME: elements that make what cudaannotate draws.
SHOW = {'disparity': [], 'legend': [], 'stixels': ['cudastixels'], 'segments': ['cudardp'],
        'road': ['cudaroaddetect'], 'lines': ['cudahough segments=true'], 'obstacles': ['cudaobstacles'],
        'space': ['cudaobstacles'], 'lanes': ['cudalanes'], 'bird': [], 'ground': []}


def arguments(parser):
    parser.add_argument('input', metavar='INPUT', nargs='*', help='test, a device, a video, a URL, or a folder of pairs; two '
                        'devices, videos, URLs, folders of images or images: left and right')
    source = parser.add_argument_group('input')
    source.add_argument('--caps', default='', help='mode of the cameras, such as image/jpeg,width=2560,height=720')
    source.add_argument('--source', metavar='LINE', help='instead of INPUT: a launch line up to the pair')
    source.add_argument('--zed', choices=sorted(ZED), help='a ZED camera: 2k is 2 x 2208x1242, 1080 is 2 x 1920x1080, '
                        '720 is 2 x 1280x720, vga is 2 x 672x376')
    source.add_argument('--size', default='640x480', metavar='WxH', help='one view of the test scene in px (640x480)')
    source.add_argument('--rate', type=int, default=30, help='frames per second of the test scene and images (30)')
    source.add_argument('--frames', metavar='N', help='end after N results')
    source.add_argument('--layout', default='', metavar='NAME', help='packing of the views if it is not detected: '
                        'side-by-side, top-bottom, ...-right-first')
    source.add_argument('--max-skew', metavar='MS', help='two cameras: largest difference in time (half a frame + 1 ms)')
    source.add_argument('--latency', default='100', metavar='MS', help='URL: jitter buffer (100)')
    source.add_argument('--tcp', action='store_true', help='URL: RTP inside the RTSP connection')
    camera = parser.add_argument_group('camera')
    camera.add_argument('--calibration', default='', metavar='FILE', help='rectify both views; roadvision calibrate makes it')
    camera.add_argument('--focal', default='', metavar='PX', help='focal length of views that are rectified already')
    camera.add_argument('--baseline', default='', metavar='M', help='distance of the cameras')
    work = parser.add_argument_group('analysis')
    work.add_argument('--show', metavar='LIST', help='what is computed and drawn, joined by +: %s (disparity)'
                      % ', '.join(SHOW))
    work.add_argument('--elements', metavar='LINE', help='instead of --show: analysis and drawing')
    output = parser.add_argument_group('output')
    output.add_argument('--out', default='', metavar='FILE', help='.mkv, .mp4: H.264, .avi: motion JPEG, .png, .jpg: the '
                        'last image, or with %%06d in the name all; none: no video (default: a window)')
    output.add_argument('--json', default='', metavar='FILE', help='every annotation as JSON lines; -: standard output')
    output.add_argument('--csv', default='', metavar='FILE', help='the same as CSV')
    output.add_argument('--encoder', default='', metavar='NAME', help='nvh264enc, x264enc or openh264enc (the first '
                        'that exists)')
    output.add_argument('--bitrate', default='8000', metavar='KBIT', help='of H.264 (8000)')
    output.add_argument('--send', metavar='HOST[:PORT]', help='send the video by RTP (port 5000) instead of showing it')
    output.add_argument('--sdp', metavar='FILE', help='--send: write a description that VLC and ffplay open')
    output.add_argument('--web', metavar='PORT', help='a web page with the video, by WebRTC, instead of a window')
    output.add_argument('--bind', default='127.0.0.1', metavar='ADDRESS', help='--web: interface of the page '
                        '(127.0.0.1; 0.0.0.0: all)')
    output.add_argument('--print', action='store_true', help='print the pipeline instead of running it')


def positive(name, value):
    if value is not None and not re.fullmatch(r'[1-9]\d*', str(value)):
        raise Misuse('--%s is %s, must be a positive integer' % (name, value))


class Line:
    """The words of a launch line, in parts."""

    def __init__(self, options):
        self.options = options
        self.input, self.branches, self.live = [], [], False
        self.runs = []  # (name, first number, last number) of images
        self.width, self.height = options.size.split('x')

    # --- input ---------------------------------------------------------------------------------------
    def device(self, name, caps):
        if not os.path.exists(name) and not self.options.print:
            raise Problem('no such device: %s; v4l2-ctl --list-devices names those that are there; '
                          'roadvision see test needs none' % name)
        if not os.access(name, os.R_OK) and not self.options.print:
            import grp
            raise Problem('no permission to read %s; add the user to its group: %s'
                          % (name, grp.getgrgid(os.stat(name).st_gid).gr_name))
        launch.need('v4l2src', 'gstreamer1.0-plugins-good')
        self.live = True
        # Its errors then name the device.
        return (['v4l2src', 'name=' + os.path.basename(name), 'device=' + name, '!'] + ([caps, '!'] if caps else []) +
                ['decodebin', '!', 'videoconvert'])

    def url(self, name):
        launch.need('rtspsrc', 'gstreamer1.0-plugins-good')
        self.live = True
        return ['rtspsrc', 'location=' + name, 'latency=' + self.options.latency, 'add-reference-timestamp-meta=true'] + \
            (['protocols=tcp'] if self.options.tcp else []) + \
            ['!', 'application/x-rtp,media=video', '!', 'decodebin', '!', 'videoconvert']

    def images(self, name, paths):
        """multifilesrc reads files that are numbered without gaps."""
        run = pictures.numbered(paths)
        if run is None:
            raise Problem('the images of %s are not numbered without gaps, as a video needs it; roadvision batch reads any names'
                          % name)
        out = self.options.out
        if '%' in out and os.path.realpath(os.path.dirname(out)) == os.path.realpath(os.path.dirname(paths[0])):
            raise Misuse('--out %s is in the folder of the images that are read: use another folder' % out)
        self.runs.append((name, run[1], run[2]))
        return pictures.read_words(run, '%d/1' % self.options.rate)

    @staticmethod
    def files(name):
        """Image files that a folder or a pattern names, by their number; [] for other inputs."""
        match = re.search(r'%0?\d*d', name)
        if match:
            pattern = re.compile(re.escape(name[:match.start()]) + r'(\d+)' + re.escape(name[match.end():]))
            found = [path for path in glob.glob(glob.escape(name[:match.start()]) + '*') if pattern.fullmatch(path)]
            if not found:
                raise Problem('no images match %s' % name)
            return sorted(found, key=lambda path: int(pattern.fullmatch(path)[1]))
        if os.path.isdir(name) or ('*' in name and not os.path.exists(name)):
            return pictures.find_pictures(name)
        return [name] if name.lower().endswith(pictures.EXTENSIONS) and os.path.isfile(name) else []

    def folder(self, name):
        """A folder of pairs, in the layouts of roadvision batch; also its camera."""
        from roadvision.batch import camera, layouts
        found, problems, _notes = layouts.find(name, '')
        if len(found) > 1:
            raise Misuse('%s has %d sequences; name the folder of one (%s), or use roadvision batch %s OUT --what video' % (
                name, len(found), ', '.join(item.name for item in found[:3]), name))
        if found[0].kind in ('video', 'mcap'):
            self.input = self.one(found[0].file)
            return
        pairs = list(layouts.pairs_of(name, found[0], problems))
        for text in problems:
            print('roadvision see: %s' % text, file=sys.stderr)
        if not pairs:
            raise Problem('no pairs in %s' % name)
        options = self.options
        known = {} if options.calibration else camera.find(name, found[0].left, pairs[0][2])[0]
        if known and not options.focal and not options.baseline:
            options.focal, options.baseline = '%.17g' % known['focal'], '%.17g' % known['baseline']
        self.join(*(self.images(name, [os.path.join(name, pair[side]) for pair in pairs]) for side in (0, 1)))

    def one(self, name):
        """Elements from one INPUT to raw frames."""
        if re.match(r'rtsps?://', name):
            return self.url(name)
        if '://' in name:
            raise Misuse('%s is not a URL such as rtsp://host/path' % name)
        paths = self.files(name)
        if paths:
            return self.images(name, paths)
        if name.endswith('.mcap'):
            raise Problem('%s: GStreamer does not read MCAP; roadvision batch %s OUT --what video does' % (name, name))
        if os.path.exists(name) and not stat.S_ISCHR(os.stat(name).st_mode):
            if not os.access(name, os.R_OK):
                raise Problem('no permission to read %s' % name)
            return ['filesrc', 'location=' + name, '!', 'decodebin', '!', 'videoconvert']
        if not name.startswith('/dev/'):
            raise Problem('cannot read %s: no such file' % name)
        return self.device(name, self.options.caps)

    def test(self):
        """The rendered street; it imitates the stream of the camera that the options describe."""
        options = self.options
        self.live = not options.out and not options.print
        self.input = ['stereotestsrc', 'is-live=' + str(self.live).lower()]
        if options.frames and not self.live:
            self.input.append('num-buffers=' + options.frames)
        self.input += [
            '!', 'video/x-raw,width=%d,height=%s,framerate=%d/1' % (2 * int(self.width), self.height, options.rate)]
        if options.zed:
            self.input += ['!', 'videoconvert', '!', 'video/x-raw,format=YUY2']

    def two(self, left, right):
        if left == right:
            raise Misuse('both cameras are %s' % left)
        self.join(self.one(left), self.one(right))
        if len(self.runs) == 2 and self.runs[0][1:] != self.runs[1][1:]:
            raise Problem('the images of %s have the numbers %d to %d, but those of %s %d to %d: they must pair up' % (
                self.runs[0] + self.runs[1]))

    def join(self, left, right):
        """Both views, each from its words, as one frame."""
        skew = ['max-skew=%d' % (1000000 * int(self.options.max_skew))] if self.options.max_skew else []
        for side, words in (('left', left), ('right', right)):
            self.branches += words + ['!', 'queue'] + (
                ['leaky=downstream'] if self.live else []) + ['max-size-buffers=2', '!', 'mux.' + side]
        self.input = ['cudastereomux', 'name=mux'] + skew

    def make_input(self):
        options = self.options
        names = options.input
        if options.zed:
            size, options.rate = ZED[options.zed]
            self.width, self.height = size.split('x')
        if options.source:
            self.input = common.split(options.source)
        elif names == ['test']:
            self.test()
        elif len(names) == 2:
            self.two(*names)
        elif len(names) > 2:
            raise Misuse('unexpected argument %s' % names[2])
        elif options.zed:
            self.input = self.device(names[0] if names else '/dev/video0', 'video/x-raw,format=YUY2,width=%d,height=%s,'
                                     'framerate=%d/1' % (2 * int(self.width), self.height, options.rate))
        elif names and os.path.isdir(names[0]):
            self.folder(names[0])
        else:
            self.input = self.one(names[0] if names else '/dev/video0')

    # --- analysis ------------------------------------------------------------------------------------
    def analysis(self):
        options = self.options
        elements = options.elements
        show = options.show
        if not elements:
            wanted = show.split('+') if show else []
            unknown = [name for name in wanted if name not in SHOW]
            if unknown:
                raise Misuse('--show is %s, must be a list such as obstacles+lanes of %s' % (show, ', '.join(SHOW)))
            needed = []
            for element in (element for name in wanted for element in SHOW[name]):
                needed += [element] if element not in needed else []
            elements = ' ! '.join(['cudasgm'] + needed + ['cudaannotate' + (' show=' + show if show else '')])
        words = ['cudarectify', 'calibration=' + options.calibration] + (
            ['layout=' + options.layout] if options.layout else []) + ['!'] if options.calibration else []
        for word in common.split(elements):
            words.append(word)
            if word == 'cudasgm':
                words += [name + '=' + value for name, value in (
                    ('focal-length', options.focal), ('baseline', options.baseline), ('layout', options.layout)) if value]
        if options.json:
            words += ['!', 'annotationpublish', 'location=' + options.json]
        if options.csv:
            words += ['!', 'annotationpublish', 'format=csv', 'location=' + options.csv]
        return words

    # --- output --------------------------------------------------------------------------------------
    def h264(self, live=False):
        """The first H.264 encoder that exists; live: no delay by reordered frames."""
        options = self.options
        name = options.encoder or launch.encoder()
        raw = launch.EVEN + ['!']
        words = {'nvh264enc': ['nvh264enc', 'bitrate=' + options.bitrate] + ['zerolatency=true'] * live,
                 'x264enc': raw + ['x264enc', 'bitrate=' + options.bitrate, 'speed-preset=veryfast'] +
                 ['tune=zerolatency'] * live,
                 'openh264enc': raw + ['openh264enc', 'bitrate=%d' % (1000 * int(options.bitrate))]}.get(name)
        if not words:
            raise Problem('there is no H.264 encoder%s; install gstreamer1.0-plugins-ugly (x264enc), or use --out FILE.avi'
                          % (' ' + name if name else ''))
        launch.need(name, 'gstreamer1.0-plugins-ugly for x264enc, gstreamer1.0-plugins-bad and NVIDIA\'s driver for nvh264enc')
        launch.need('h264parse', 'gstreamer1.0-plugins-bad')
        return words + ['!', 'h264parse']

    def end(self):
        out = self.options.out
        if self.options.send:
            return self.send()
        if self.options.web:
            launch.need('webrtcbin', 'gstreamer1.0-plugins-bad')
            launch.need('nicesink', 'gstreamer1.0-nice')
            return self.h264(live=True) + [
                '!', 'video/x-h264,profile=constrained-baseline', '!', 'rtph264pay', 'config-interval=-1',
                'aggregate-mode=zero-latency', 'pt=96', '!', 'application/x-rtp,media=video,encoding-name=H264,payload=96',
                '!', 'tee', 'name=viewers', 'allow-not-linked=true']
        if not out:
            if not (os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY') or self.options.print):
                raise Problem('there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set; write a file with '
                              '--out FILE%s, or show it in a browser with --web 8080' % launch.video())
            return ['videoconvert', '!', 'autovideosink']
        if out == 'none':
            return ['fakesink', 'sync=false']
        if out.endswith('.avi'):
            return ['videoconvert', '!', 'jpegenc', 'quality=92', '!', 'avimux', '!', 'filesink', 'location=' + out]
        if out.endswith(('.png', '.jpg')):
            return ['videoconvert', '!'] + (['pngenc', 'snapshot=false'] if out.endswith('.png') else ['jpegenc', 'quality=92']) + [
                '!', 'multifilesink', 'location=' + out]
        muxer = {'.mkv': 'matroskamux', '.mp4': 'mp4mux'}.get(os.path.splitext(out)[1])
        if not muxer:
            raise Misuse('--out is %s, must end in .mkv, .mp4, .avi, .png or .jpg, or be none' % out)
        return self.h264() + ['!', muxer, '!', 'filesink', 'location=' + out]

    def send(self):
        host, _, port = self.options.send.rpartition(':') if ':' in self.options.send else (self.options.send, '', '5000')
        if not port.isdigit() or not 1 <= int(port) <= 65535:
            raise Misuse('the port is %s, must be 1 to 65535' % port)
        encoded = self.h264(live=True)
        if self.options.sdp and not self.options.print:
            with open(self.options.sdp, 'w') as file:
                file.write('v=0\no=- 0 0 IN IP4 %s\ns=gst-roadvision\nc=IN IP4 %s\nt=0 0\nm=video %s RTP/AVP 96\n'
                           'a=rtpmap:96 H264/90000\n' % (host, host, port))
        print('receive with:\n  gst-launch-1.0 udpsrc port=%s caps=application/x-rtp,media=video,clock-rate=90000,'
              'encoding-name=H264 ! \\\n    rtpjitterbuffer ! rtph264depay ! decodebin ! videoconvert ! autovideosink' % port,
              file=sys.stderr)
        # Parameter sets once per second: receivers can join at any time. Packets fit into Ethernet frames.
        return encoded + ['!', 'rtph264pay', 'config-interval=1', 'pt=96', 'mtu=1400', '!', 'udpsink',
                          'host=' + host, 'port=' + port]

    def words(self):
        """All of it. If the encoder is on the GPU, frames stay there."""
        self.make_input()
        end = self.end()
        words = self.input + ['!']
        if self.live:  # analysis that is slower than the camera skips frames instead of building up delay
            words += ['queue', 'leaky=downstream', 'max-size-buffers=1', '!']
        if self.options.frames:  # without those that are skipped; identity lets N - 1 buffers pass
            words += ['identity', 'eos-after=%d' % (int(self.options.frames) + 1), '!']
        if end[0] == 'nvh264enc' and launch.has('cudaupload'):
            words += ['videoconvert', '!', 'video/x-raw,format=NV12', '!', 'cudaupload', '!']
        return words + self.analysis() + ['!'] + end + self.branches


def check_apart(options):
    """A file that is read and written would be empty before it is read."""
    outputs = [(name, getattr(options, name)) for name in ('out', 'json', 'csv', 'sdp')]
    outputs = [(name, path) for name, path in outputs if path not in (None, '', 'none', '-')]
    used = {os.path.realpath(path): path + ' is read' for path in options.input + [options.calibration] if path}
    for name, path in outputs:
        there = os.path.realpath(path)
        if there in used:
            raise Misuse('--%s is %s, but %s: use another file' % (name, path, used[there]))
        used[there] = '--%s writes it' % name


def check(options):
    check_apart(options)
    if not re.fullmatch(r'[1-9]\d*x[1-9]\d*', options.size):
        raise Misuse('--size is %s, must be WIDTHxHEIGHT such as 640x480' % options.size)
    for name in ('frames', 'max-skew', 'bitrate'):
        positive(name, getattr(options, name.replace('-', '_')))
    positive('rate', options.rate)
    for name in ('focal', 'baseline'):
        if getattr(options, name) and not re.fullmatch(r'\d*\.?\d+(e-?\d+)?', getattr(options, name)):
            raise Misuse('--%s is %s, must be a number' % (name, getattr(options, name)))
    if options.out not in ('', 'none') and not options.print and not os.path.isdir(os.path.dirname(options.out) or '.'):
        raise Problem('there is no folder %s for --out' % os.path.dirname(options.out))
    positive('latency', options.latency if options.latency != '0' else None)
    if options.show and options.elements:
        raise Misuse('--show and --elements exclude each other')
    if options.out and (options.send or options.web):
        raise Misuse('--out has no effect: the video is sent')
    if options.web and not (options.web.isdigit() and 1 <= int(options.web) <= 65535):
        raise Misuse('the port is %s, must be 1 to 65535' % options.web)
    if options.zed and not options.calibration and options.input != ['test']:
        files = glob.glob(ZED_SETTINGS)
        if len(files) != 1:
            raise Problem('%d files match %s; name that of this camera with --calibration, for its views are not '
                          'rectified' % (len(files), ZED_SETTINGS))
        options.calibration = files[0]
    if options.calibration and not os.access(options.calibration, os.R_OK) and not options.print:
        raise Problem('cannot read the calibration file %s; roadvision calibrate makes one' % options.calibration)


def run(options):
    check(options)
    common.gst()
    words = Line(options).words()
    if options.print:
        print(launch.line(words))
        return 0
    if options.web:
        from roadvision import web
        return web.run(options.bind, int(options.web), words)
    return launch.run(words, 'see')
