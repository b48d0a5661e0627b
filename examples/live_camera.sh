#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# live_camera.sh [OPTION...] [DEVICE [CAPS]]: a side-by-side camera (UVC) with its depth, in a window or a file.
#   live_camera.sh --calibration camera.yml /dev/video0 image/jpeg,width=2560,height=720
#   live_camera.sh --focal 700 --baseline 0.12 --out drive.mkv --json drive.jsonl /dev/video0
#   live_camera.sh --source test
# CAPS selects a mode of the camera; v4l2-ctl -d DEVICE --list-formats-ext lists them. A slow computer
# skips frames: what is shown is never older than the work of one frame.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
parse_options "$@"
at_most 2
mjpeg_street() { # as such a camera sends it
  test_street
  input+=(! videoconvert ! jpegenc quality=95 ! decodebin ! videoconvert)
}
source_option mjpeg_street || {
  live=yes
  camera "${positional[0]:-/dev/video0}" "${positional[1]:-}"
}
run_pipeline
