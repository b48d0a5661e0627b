#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# video_file.sh [OPTION...] FILE: a video with both views in each frame, with its depth. No frame is skipped.
#   video_file.sh --calibration camera.yml --out annotated.mkv --json drive.jsonl pair.mkv
#   video_file.sh --focal 700 --baseline 0.12 --elements 'cudasgm ! cudastixels ! cudaannotate' pair.mkv
# MP4 files of GStreamer store the wrong order of the views: --layout side-by-side corrects it.
# Recordings of record.sh contain their camera: replay.sh plays those.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
parse_options "$@"
at_most 1
source_option test_street || {
  [ ${#positional[@]} = 1 ] || misuse "the file is missing"
  [ -r "${positional[0]}" ] || fail "cannot read ${positional[0]}"
  input=(filesrc "location=${positional[0]}" ! decodebin ! videoconvert)
}
run_pipeline
