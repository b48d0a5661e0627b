#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# watch.sh [OPTION...] [DEVICE|FILE [CAPS]]: obstacles with distance and id, free space, lanes and the view from
# above, in a window or a video, with a CSV file next to it.
#   watch.sh --source test
#   watch.sh --calibration camera.yml --out drive.mkv --csv drive-%s.csv /dev/video0 image/jpeg,width=2560,height=720
#   watch.sh --focal 700 --baseline 0.12 --out annotated.mkv --csv drive-%s.csv pair.mkv
# --csv FILE: one row per frame; with %s in the name also one per obstacle and lane line (drive-obstacles.csv)
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
csv=''
elements='cudasgm ! cudaobstacles ! cudalanes ! cudaannotate show=space+obstacles+lanes+bird'
own_option() {
  [ "$1" = --csv ] || return 1
  [ $# -ge 2 ] || misuse '--csv needs a value'
  csv=$2
}
parse_options "$@"
at_most 2
[ -z "$csv" ] || elements+=" ! annotationpublish format=csv location=$csv"
source_option test_street || {
  name=${positional[0]:-/dev/video0}
  if [ -f "$name" ]; then
    input=(filesrc "location=$name" ! decodebin ! videoconvert)
  else
    live=yes
    camera "$name" "${positional[1]:-}"
  fi
}
run_pipeline
