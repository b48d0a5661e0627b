#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rtp_send.sh [OPTION...] HOST[:PORT] [DEVICE [CAPS]]: sends a side-by-side camera with its depth as H.264 over RTP
# (port 5000), to one computer or a multicast group.
#   rtp_send.sh --calibration camera.yml 192.168.1.30 /dev/video0
#   rtp_send.sh --source test 239.1.1.1:5004
# --sdp FILE   write a description of the stream, which VLC and ffplay open
# Prints the line that shows the stream on the other computer. RTP is not encrypted: for other networks use
# webrtc.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
sdp=''
own_option() {
  [ "$1" = --sdp ] || return 1
  sdp=${2:-}
}
parse_options "$@"
at_most 3
[ ${#positional[@]} -ge 1 ] || misuse "the receiving host is missing"
host=${positional[0]%:*} port=5000
[[ ${positional[0]} != *:* ]] || port=${positional[0]##*:}
[[ $port =~ ^[0-9]+$ && $port -ge 1 && $port -le 65535 ]] || misuse "the port is $port, must be 1 to 65535"
[ -z "$out" ] || misuse "--out has no effect: the video is sent"
source_option test_street || {
  live=yes
  camera "${positional[1]:-/dev/video0}" "${positional[2]:-}"
}
[ -z "$sdp" ] || cat >"$sdp" <<SDP
v=0
o=- 0 0 IN IP4 $host
s=gst-roadvision
c=IN IP4 $host
t=0 0
m=video $port RTP/AVP 96
a=rtpmap:96 H264/90000
SDP
cat >&2 <<LINE
receive with:
  gst-launch-1.0 udpsrc port=$port caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264 ! \\
    rtpjitterbuffer ! rtph264depay ! decodebin ! videoconvert ! autovideosink
LINE
h264 end live
# Parameter sets once per second: receivers can join at any time. Packets fit into Ethernet frames.
run_pipeline "${end[@]}" ! rtph264pay config-interval=1 pt=96 mtu=1400 ! udpsink "host=$host" "port=$port"
