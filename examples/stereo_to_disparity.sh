#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stereo_to_disparity.sh LEFT RIGHT OUT.png [PROPERTY=VALUE...]: the disparity of one rectified pair
# as a 16-bit PNG, 1/16 px, 0 = no value. Properties go to cudasgm, such as disparities=192.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 3 "$@"
left=$1 right=$2 out=$3
shift 3
# pngenc writes 16 bits only from GRAY16_BE.
exec "$here/run.sh" roadvision see "$left" "$right" --out "$out" \
  --elements "cudasgm output=disparity $* ! videoconvert ! video/x-raw,format=GRAY16_BE"
