#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# webrtc.sh [OPTION...] [DEVICE [CAPS]]: a side-by-side camera with its depth in a web browser, by WebRTC.
#   webrtc.sh --calibration camera.yml /dev/video0        then open http://localhost:8080
#   webrtc.sh --source test
# --port N       of the web page (8080); --bind ADDRESS  interface of the page (127.0.0.1; 0.0.0.0: all)
# --sink NAME    webrtcbin: the page of webrtc.py, one viewer at a time; webrtcsink: the element of
#                gst-plugins-rs with its own server and page, any number of viewers (default: webrtcbin)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
port=8080 bind=127.0.0.1 sink=webrtcbin
own_option() {
  case $1 in
    --port | --bind | --sink) printf -v "${1#--}" %s "${2:-}" ;;
    *) return 1 ;;
  esac
}
parse_options "$@"
at_most 2
[[ $port =~ ^[0-9]+$ && $port -ge 1 && $port -le 65535 ]] || misuse "the port is $port, must be 1 to 65535"
[ -z "$out" ] || misuse "--out has no effect: the video is sent"
source_option test_street || {
  live=yes
  camera "${positional[0]:-/dev/video0}" "${positional[1]:-}"
}
case $sink in
  webrtcsink)
    has webrtcsink || fail "there is no GStreamer element webrtcsink; build net/webrtc of gst-plugins-rs \
(Debian 12 has no package), or use --sink webrtcbin"
    run_pipeline videoconvert ! webrtcsink run-signalling-server=true run-web-server=true \
      "web-server-host-addr=http://$bind:$port/"
    ;;
  webrtcbin)
    need webrtcbin gstreamer1.0-plugins-bad
    need nicesink gstreamer1.0-nice
    h264 end live
    launcher=("$here/run.sh" /usr/bin/python3 -B "$here/webrtc.py" "$bind" "$port")
    run_pipeline "${end[@]}" ! video/x-h264,profile=constrained-baseline ! \
      rtph264pay config-interval=-1 aggregate-mode=zero-latency pt=96 ! \
      application/x-rtp,media=video,encoding-name=H264,payload=96 ! tee name=viewers allow-not-linked=true
    ;;
  *) misuse "--sink is $sink, must be webrtcbin or webrtcsink" ;;
esac
