#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record_annotated.sh [OPTION...] OUT [INPUT [CAPS]]: every algorithm on a side-by-side camera or video, recorded as
# OUT.mkv with the results drawn, and as OUT.jsonl.
#   record_annotated.sh --calibration camera.yml drive /dev/video0 image/jpeg,width=2560,height=720
#   record_annotated.sh --focal 700 --baseline 0.12 drive pair.mkv
#   record_annotated.sh --source test --frames 120 drive
# Encodes with nvh264enc if it exists: then the frames stay on the GPU from the upload to the encoder;
# otherwise with x264enc or openh264enc. The video is readable up to the last second after a crash.
# record.sh records the pair itself, for analysis later.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
elements='cudasgm ! cudastixels ! cudaroaddetect ! cudahough segments=true ! cudaannotate'
parse_options "$@"
at_most 3
[ ${#positional[@]} -ge 1 ] || misuse "the name of the recording is missing"
out=${positional[0]%.mkv}.mkv
json=${json:-${out%.mkv}.jsonl}
source_option test_street || {
  from=${positional[1]:-/dev/video0}
  if [ -f "$from" ]; then
    input=(filesrc "location=$from" ! decodebin ! videoconvert)
  else
    live=yes
    camera "$from" "${positional[2]:-}"
  fi
}
run_pipeline
