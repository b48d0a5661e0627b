#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""webrtc_viewer.py URL FRAMES: views the page of roadvision see --web as a browser would, with webrtcbin:
prints width and height of the stream after FRAMES decoded frames that are not of one color, or fails."""
import sys
import threading
import time
import urllib.error
import urllib.request

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstWebRTC', '1.0')
gi.require_version('GstSdp', '1.0')
from gi.repository import Gst, GstSdp, GstWebRTC  # noqa: E402

SECONDS = 60


def fetch(url, data=None):
    """The body of a page; the server may not be there yet."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return urllib.request.urlopen(url, data, timeout=SECONDS).read().decode()
        except urllib.error.HTTPError as error:
            sys.exit('%s: %s' % (error, error.read().decode()))
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(str(error))
            time.sleep(0.2)


def call(peer, signal, argument):
    """The reply. Its values exist as long as it does."""
    promise = Gst.Promise.new()
    peer.emit(signal, argument, promise)
    promise.wait()
    return promise.get_reply()


def main():
    Gst.init(None)
    url, frames = sys.argv[1], int(sys.argv[2])
    if 'RTCPeerConnection' not in fetch(url + '/'):
        sys.exit('the page is another')
    pipeline, peer = Gst.Pipeline.new(), Gst.ElementFactory.make('webrtcbin')
    peer.set_property('bundle-policy', GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
    pipeline.add(peer)
    seen, done = [], threading.Event()

    def sample(sink):
        found = sink.emit('pull-sample')
        buffer, caps = found.get_buffer(), found.get_caps().get_structure(0)
        ok, mapped = buffer.map(Gst.MapFlags.READ)
        if ok and len(set(bytes(mapped.data[:10000]))) > 20:
            seen.append((caps.get_value('width'), caps.get_value('height')))
        buffer.unmap(mapped)
        if len(seen) >= frames:
            done.set()
        return Gst.FlowReturn.OK

    def added(_peer, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        end = Gst.parse_bin_from_description(
            'rtph264depay name=first ! decodebin ! videoconvert ! appsink name=last emit-signals=true '
            'sync=false caps=video/x-raw,format=GRAY8', False)
        end.add_pad(Gst.GhostPad.new('sink', end.get_by_name('first').get_static_pad('sink')))
        pipeline.add(end)
        end.get_by_name('last').connect('new-sample', sample)
        end.sync_state_with_parent()
        pad.link(end.get_static_pad('sink'))

    peer.connect('pad-added', added)
    pipeline.set_state(Gst.State.PLAYING)
    peer.emit('add-transceiver', GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(
        'application/x-rtp,media=video,encoding-name=H264,clock-rate=90000,payload=96,packetization-mode=(string)1'))
    gathered = threading.Event()
    peer.connect('notify::ice-gathering-state', lambda _peer, _spec: gathered.set() if
                 peer.props.ice_gathering_state == GstWebRTC.WebRTCICEGatheringState.COMPLETE else None)
    offer = call(peer, 'create-offer', None)
    call(peer, 'set-local-description', offer.get_value('offer'))
    gathered.wait(10)
    answer = fetch(url + '/offer', peer.props.local_description.sdp.as_text().encode())
    _result, message = GstSdp.SDPMessage.new_from_text(answer)
    call(peer, 'set-remote-description', GstWebRTC.WebRTCSessionDescription.new(
        GstWebRTC.WebRTCSDPType.ANSWER, message))
    if not done.wait(SECONDS):
        sys.exit('%d frames in %d s; connection %s\n%s' % (
            len(seen), SECONDS, peer.props.connection_state.value_nick, answer))
    print('%d x %d' % seen[-1])
    pipeline.set_state(Gst.State.NULL)


if __name__ == '__main__':
    main()
