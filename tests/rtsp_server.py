#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""rtsp_server.py FILE: an RTSP server on the loopback with stereo streams: /pair, /left and /right. Its port is
written to FILE. Ends with 77 without GstRtspServer."""
import os
import sys

import gi

gi.require_version('Gst', '1.0')
try:
    gi.require_version('GstRtspServer', '1.0')
except ValueError as missing:
    print(missing)
    sys.exit(77)
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

STREET = 'stereotestsrc is-live=true ! video/x-raw,format=I420,width=640,height=240,framerate=10/1'
ENCODE = 'x264enc tune=zerolatency speed-preset=veryfast bitrate=4000 key-int-max=5 ! rtph264pay name=pay0 pt=96'


def main():
    Gst.init(None)
    server = GstRtspServer.RTSPServer.new()
    server.set_address('127.0.0.1')
    server.set_service('0')
    for path, crop in (('/pair', ''), ('/left', 'videocrop right=320 ! '), ('/right', 'videocrop left=320 ! ')):
        factory = GstRtspServer.RTSPMediaFactory.new()
        factory.set_launch('( %s ! %s%s )' % (STREET, crop, ENCODE))
        factory.set_shared(True)
        server.get_mount_points().add_factory(path, factory)
    server.attach(None)
    with open(sys.argv[1] + '.new', 'w') as file:
        file.write('%d\n' % server.get_bound_port())
    os.rename(sys.argv[1] + '.new', sys.argv[1])
    GLib.MainLoop().run()


if __name__ == '__main__':
    main()
