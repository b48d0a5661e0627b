#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# two_cameras.sh [OPTION...] LEFT RIGHT [CAPS]: two UVC cameras, paired by time, with their depth.
#   two_cameras.sh --calibration camera.yml /dev/video0 /dev/video2 image/jpeg,width=1280,height=720
#   two_cameras.sh --source test --out drive.mkv --json drive.jsonl
# CAPS is a mode that both cameras have. Frames that are further apart than --max-skew MS have no partner
# and are dropped (default: half a frame + 1 ms); --json writes the skew of each pair, and cudastereomux
# warns if it is above 5 ms.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
skew=0
own_option() {
  case $1 in
    --max-skew)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || misuse "--max-skew must be a positive number of ms"
      skew=$((1000000 * $2))
      ;;
    *) return 1 ;;
  esac
}
parse_options "$@"
at_most 3

case $source in
  test) # the two views of the street
    test_street
    branches=("${input[@]}" ! tee name=both both. ! queue ! videocrop "right=${size%x*}" ! mux.left
      both. ! queue ! videocrop "left=${size%x*}" ! mux.right)
    ;;
  '')
    [ ${#positional[@]} -ge 2 ] || misuse "the devices of the left and the right camera are missing"
    [ "${positional[0]}" != "${positional[1]}" ] || misuse "both cameras are ${positional[0]}"
    camera "${positional[0]}" "${positional[2]:-}"
    to_mux left
    camera "${positional[1]}" "${positional[2]:-}"
    to_mux right
    ;;
  *) misuse "--source is $source, must be test" ;;
esac
input=(cudastereomux name=mux "max-skew=$skew")
run_pipeline
