#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stereo_to_disparity.sh LEFT RIGHT OUT.png [PROPERTY=VALUE...]: the disparity of one rectified pair
# as a 16-bit PNG, 1/16 px, 0 = no value. Properties go to cudasgm, such as disparities=192.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"; }
case ${1:-} in -h | --help) usage; exit 0 ;; esac
if [ $# -lt 3 ]; then
  usage >&2
  exit 2
fi
left=$1 right=$2 out=$3
shift 3
for picture in "$left" "$right"; do
  [ -r "$picture" ] || { echo "stereo_to_disparity: cannot read $picture" >&2; exit 1; }
done

# The size of the left picture, as decoders see it.
caps=$(gst-launch-1.0 -v filesrc "location=$left" ! decodebin ! fakesink name=end |
  sed -n '/end.GstPad:sink: caps/s/.*caps = //p' | tail -n 1)
width=$(sed -n 's/.*width=(int)\([0-9]*\).*/\1/p' <<<"$caps")
height=$(sed -n 's/.*height=(int)\([0-9]*\).*/\1/p' <<<"$caps")
[ -n "$width" ] || { echo "stereo_to_disparity: $left is not a picture" >&2; exit 1; }

# BGRx: compositor shifts the right picture by a pixel at odd widths in formats with shared chroma.
# pngenc writes 16 bits only from GRAY16_BE.
exec "$here/run.sh" gst-launch-1.0 -q compositor name=pair sink_0::xpos=0 "sink_1::xpos=$width" ! \
  "video/x-raw,format=BGRx,width=$((2 * width)),height=$height,framerate=1/1" ! \
  cudasgm output=disparity "$@" ! videoconvert ! video/x-raw,format=GRAY16_BE ! \
  pngenc snapshot=true ! filesink "location=$out" \
  filesrc "location=$left" ! decodebin ! videoconvert ! video/x-raw,format=BGRx ! pair.sink_0 \
  filesrc "location=$right" ! decodebin ! videoconvert ! video/x-raw,format=BGRx ! pair.sink_1
