# SPDX-License-Identifier: MIT
"""The web page and the signalling of roadvision see --web.

GET / is a page that shows the stream; it posts its offer (SDP) to /offer and receives the answer with all
candidates. One viewer at a time: a new one replaces the former.
"""
import http.server
import sys
import threading

import gi

from roadvision import launch
from roadvision.common import Problem

gi.require_version('Gst', '1.0')
try:
    gi.require_version('GstWebRTC', '1.0')
    gi.require_version('GstSdp', '1.0')
    from gi.repository import Gst, GstSdp, GstWebRTC
except (ValueError, ImportError) as missing:
    raise Problem('%s: install gir1.2-gst-plugins-bad-1.0' % missing) from None

GATHER_SECONDS = 5  # for candidates; those found by then are in the answer
OFFER_BYTES_MAX = 65536
PAGE = b'''<!DOCTYPE html>
<title>gst-roadvision</title>
<style>body { margin: 0; background: #000; color: #ccc } video { width: 100vw; height: 100vh }</style>
<video id=video autoplay muted playsinline></video>
<script>
(async () => {
  const peer = new RTCPeerConnection();
  peer.addTransceiver('video', {direction: 'recvonly'});
  peer.ontrack = event => { video.srcObject = event.streams[0] || new MediaStream([event.track]); };
  await peer.setLocalDescription(await peer.createOffer());
  if (peer.iceGatheringState !== 'complete')
    await new Promise(done => { peer.onicegatheringstatechange = () => {
      if (peer.iceGatheringState === 'complete') done(); }; });
  const reply = await fetch('offer', {method: 'POST', body: peer.localDescription.sdp});
  if (!reply.ok) { document.body.append(await reply.text()); return; }
  await peer.setRemoteDescription({type: 'answer', sdp: await reply.text()});
})();
</script>
'''


class Viewer:
    """One webrtcbin at the tee of the pipeline."""

    def __init__(self, pipeline):
        self.pipeline = pipeline
        self.tee = pipeline.get_by_name('viewers')
        self.bin = Gst.parse_bin_from_description(
            'queue name=in leaky=downstream max-size-buffers=1000 max-size-time=0 max-size-bytes=0 ! '
            'webrtcbin name=peer bundle-policy=max-bundle', False)
        self.bin.add_pad(Gst.GhostPad.new('sink', self.bin.get_by_name('in').get_static_pad('sink')))
        self.peer = self.bin.get_by_name('peer')
        self.pad = self.tee.request_pad_simple('src_%u')
        pipeline.add(self.bin)
        self.bin.sync_state_with_parent()
        self.pad.link(self.bin.get_static_pad('sink'))
        pipeline.recalculate_latency()  # RTP sessions send no packet before they know it

    def answer(self, offer):
        """The SDP that answers the SDP of a browser, with candidates."""
        result, message = GstSdp.SDPMessage.new_from_text(offer)
        if result != GstSdp.SDPResult.OK or not message.medias_len():
            raise ValueError('the offer is not SDP with video')
        gathered = threading.Event()
        self.peer.connect('notify::ice-gathering-state', lambda peer, _spec: gathered.set() if
                          peer.props.ice_gathering_state == GstWebRTC.WebRTCICEGatheringState.COMPLETE
                          else None)
        self._call('set-remote-description', GstWebRTC.WebRTCSessionDescription.new(
            GstWebRTC.WebRTCSDPType.OFFER, message))
        answer = self._call('create-answer', None)
        self._call('set-local-description', answer.get_value('answer'))
        gathered.wait(GATHER_SECONDS)
        return self.peer.props.local_description.sdp.as_text()

    def _call(self, signal, argument):
        """The reply. Its values exist as long as it does."""
        promise = Gst.Promise.new()
        self.peer.emit(signal, argument, promise)
        promise.wait()
        reply = promise.get_reply()
        if reply is not None and reply.has_field('error'):
            raise ValueError(reply.get_value('error').message)
        return reply

    def remove(self):
        self.tee.release_request_pad(self.pad)
        self.bin.set_state(Gst.State.NULL)
        self.pipeline.remove(self.bin)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, pipeline):
        super().__init__(address, Handler)
        self.pipeline = pipeline
        self.viewer = None
        self.lock = threading.Lock()

    def replace(self, offer):
        with self.lock:
            if self.viewer:
                self.viewer.remove()
            self.viewer = Viewer(self.pipeline)
            return self.viewer.answer(offer)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/':
            self._reply(200, 'text/html; charset=utf-8', PAGE)
        else:
            self._reply(404, 'text/plain', b'no such page\n')

    def do_POST(self):
        length = self.headers.get('Content-Length', '')
        if self.path != '/offer' or not length.isdigit() or int(length) > OFFER_BYTES_MAX:
            self._reply(400, 'text/plain', b'an offer is posted to /offer\n')
            return
        try:
            answer = self.server.replace(self.rfile.read(int(length)).decode())
            self._reply(200, 'application/sdp', answer.encode())
        except (ValueError, UnicodeDecodeError) as error:
            self._reply(400, 'text/plain', ('%s\n' % error).encode())

    def _reply(self, status, kind, body):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, text, *values):
        pass


def run(bind, port, words):
    """Serves the page; words: a launch line that ends in an RTP stream at tee name=viewers."""
    pipeline = launch.parse(words)
    try:
        server = Server((bind, port), pipeline)
    except OSError as error:
        raise Problem('cannot serve %s:%d: %s; choose another port' % (bind, port, error.strerror)) from None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print('roadvision see: open http://%s:%d' % ('localhost' if bind == '127.0.0.1' else bind, port),
          file=sys.stderr, flush=True)
    launch.end_on_signals()
    pipeline.set_state(Gst.State.PLAYING)
    failure = None
    try:
        failure = launch.wait(pipeline, 'see')
    except KeyboardInterrupt:
        pass
    pipeline.set_state(Gst.State.NULL)
    if failure:
        raise Problem(failure)
    return 0
