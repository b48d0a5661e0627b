#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stereo_to_stixels.sh OUT [LEFT RIGHT]: a video (.avi, .mkv, .mp4) with stixels drawn on it. LEFT and RIGHT are folders or
# patterns of numbered images, such as left/%06d.png; without them 60 frames of a rendered slanted street.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
[ $# = 1 ] || [ $# = 3 ] || { usage >&2; exit 2; }
input=(--source 'stereotestsrc num-buffers=60 pattern=slanted-street ! video/x-raw,width=1280,height=480,framerate=30/1')
[ $# = 1 ] || input=("$2" "$3" --rate 10)
exec "$here/run.sh" roadvision see "${input[@]}" --show stixels+legend --out "$1"
