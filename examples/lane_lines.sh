#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lane_lines.sh OUT.png [PICTURE [PROPERTY=VALUE...]]: line segments that are not upright, lane
# marks above all, drawn over a picture; without one over a rendered street. Properties go to
# cudahough, such as threshold=60.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}"; }
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '') usage >&2; exit 2 ;;
esac
out=$1 picture=${2:-}
if [ $# -gt 1 ]; then shift 2; else shift; fi
if [ -n "$picture" ]; then
  [ -r "$picture" ] || { echo "lane_lines: cannot read $picture" >&2; exit 1; }
  source=(filesrc "location=$picture" ! decodebin ! videoconvert)
else
  source=(stereotestsrc num-buffers=1 ! video/x-raw,width=1280,height=480 ! cudasgm)
fi
# thickness follows the height; 4 shows on small pictures too
exec "$here/run.sh" gst-launch-1.0 -q "${source[@]}" ! \
  cudahough segments=true direction=8 threshold=35 min-theta=15 \
  max-theta=165 min-length=30 max-gap=8 max-lines=48 "$@" ! cudaannotate show=lines thickness=4 ! \
  videoconvert ! pngenc ! filesink "location=$out"
