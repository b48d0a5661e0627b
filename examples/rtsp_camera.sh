#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rtsp_camera.sh [OPTION...] URL [RIGHT_URL]: a network camera with both views in one frame, or two network
# cameras, with their depth.
#   rtsp_camera.sh --calibration camera.yml rtsp://192.168.1.20/stereo
#   rtsp_camera.sh --calibration camera.yml rtsp://192.168.1.20/left rtsp://192.168.1.21/right
# --latency MS  jitter buffer (100); --tcp  RTP inside the RTSP connection, for networks that lose packets
# Two cameras are paired by the NTP times they send, where both do, else by time of arrival: then the
# jitter of the network is part of the skew. A login is part of the URL: rtsp://user:password@host/...
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
latency=100 protocols=()
own_option() {
  case $1 in
    --latency)
      [[ ${2:-} =~ ^[0-9]+$ ]] || misuse "--latency must be a number of ms"
      latency=$2
      ;;
    --tcp) protocols=(protocols=tcp) used=1 ;;
    *) return 1 ;;
  esac
}
parse_options "$@"
at_most 2

rtsp() { # URL: appends to `input`
  [[ $1 =~ ^rtsps?:// ]] || misuse "$1 is not a URL such as rtsp://host/path"
  need rtspsrc gstreamer1.0-plugins-good
  input+=(rtspsrc "location=$1" "latency=$latency" add-reference-timestamp-meta=true "${protocols[@]}" !
    application/x-rtp,media=video ! decodebin ! videoconvert)
}
rtp_street() { # as a camera sends it, without a network
  need x264enc gstreamer1.0-plugins-ugly
  test_street
  input+=(! videoconvert ! video/x-raw,format=I420 ! x264enc tune=zerolatency bitrate=20000
    speed-preset=veryfast ! rtph264pay ! application/x-rtp,media=video ! decodebin ! videoconvert)
}
source_option rtp_street || {
  live=yes
  [ ${#positional[@]} -ge 1 ] || misuse "the URL is missing"
  rtsp "${positional[0]}"
  if [ ${#positional[@]} = 2 ]; then
    to_mux left
    rtsp "${positional[1]}"
    to_mux right
    input=(cudastereomux name=mux)
  fi
}
run_pipeline
