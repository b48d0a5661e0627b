#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stereo_to_disparity.sh LEFT RIGHT OUT.png [PROPERTY=VALUE...]: the disparity of one rectified pair
# as a 16-bit PNG, 1/16 px, 0 = no value. Properties go to cudasgm, such as disparities=192.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 3 "$@"
left=$1 right=$2 out=$3
shift 3
[ -r "$right" ] || fail "cannot read $right"
image_size "$left"

# BGRx: compositor shifts the right picture by a pixel at odd widths in formats with shared chroma.
# pngenc writes 16 bits only from GRAY16_BE.
exec "$here/run.sh" gst-launch-1.0 -q compositor name=pair sink_0::xpos=0 "sink_1::xpos=$width" ! \
  "video/x-raw,format=BGRx,width=$((2 * width)),height=$height,framerate=1/1" ! \
  cudasgm output=disparity "$@" ! videoconvert ! video/x-raw,format=GRAY16_BE ! \
  pngenc snapshot=true ! filesink "location=$out" \
  filesrc "location=$left" ! decodebin ! videoconvert ! video/x-raw,format=BGRx ! pair.sink_0 \
  filesrc "location=$right" ! decodebin ! videoconvert ! video/x-raw,format=BGRx ! pair.sink_1
