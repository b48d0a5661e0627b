#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lane_lines.sh OUT.png [PICTURE focal-length=PX [PROPERTY=VALUE...]]: the lines of the lanes, the own lane
# and the position in it, drawn over an image of one camera; without one over a rendered street. The
# focal length of a camera that sees 60 degrees is 0.87 x the width of its image. Properties go to
# cudalanes, such as camera-height=1.2 (m; 1.25 unless given) or camera-pitch=-2 (degrees, looking up).
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
out=$1 picture=${2:-}
if [ $# -gt 1 ]; then shift 2; else shift; fi
ground=()
if [ -n "$picture" ]; then
  [ -r "$picture" ] || { echo "lane_lines: cannot read $picture" >&2; exit 1; }
  [[ " $* " == *" focal-length="* ]] || { usage >&2; exit 2; }
  # several times the same frame: the horizon is found in steps
  source=(filesrc "location=$picture" ! decodebin ! videoconvert ! imagefreeze num-buffers=12)
  ground=(ground=camera camera-height=1.25)
else
  source=(stereotestsrc num-buffers=4 ! video/x-raw,width=1280,height=480,framerate=10/1 ! cudasgm)
fi
# every frame is written to the same file: the last one stays
exec "$here/run.sh" gst-launch-1.0 -q "${source[@]}" ! cudalanes "${ground[@]}" "$@" ! \
  cudaannotate show=lanes ! videoconvert ! pngenc snapshot=false ! multifilesink "location=$out"
