#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stereo_to_stixels.sh OUT.avi [LEFT RIGHT]: a video (motion JPEG) with stixels drawn on it. LEFT and
# RIGHT are patterns of PNG pictures numbered from 0, such as left/%06d.png; without them 60 frames of
# a rendered slanted street.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
[ $# = 1 ] || [ $# = 3 ] || { usage >&2; exit 2; }
out=$1
end=(cudasgm ! cudastixels ! cudaannotate show=stixels+legend ! videoconvert ! jpegenc quality=92 !
  avimux ! filesink "location=$out")
if [ $# = 1 ]; then
  exec "$here/run.sh" gst-launch-1.0 -q stereotestsrc num-buffers=60 pattern=slanted-street ! \
    video/x-raw,width=1280,height=480,framerate=30/1 ! "${end[@]}"
fi
left=$2 right=$3
# shellcheck disable=SC2059 # the patterns are formats
image_size "$(printf "$left" 0)"
exec "$here/run.sh" gst-launch-1.0 -q compositor name=pair sink_0::xpos=0 "sink_1::xpos=$width" ! \
  "video/x-raw,format=BGRx,width=$((2 * width)),height=$height,framerate=10/1" ! "${end[@]}" \
  multifilesrc "location=$left" caps=image/png,framerate=10/1 ! pngdec ! videoconvert ! \
  video/x-raw,format=BGRx ! pair.sink_0 \
  multifilesrc "location=$right" caps=image/png,framerate=10/1 ! pngdec ! videoconvert ! \
  video/x-raw,format=BGRx ! pair.sink_1
