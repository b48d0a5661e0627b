#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zed_camera.sh [OPTION...] [DEVICE]: a ZED camera as a UVC device, without its SDK: both views in one frame of
# twice the width, rectified with the camera's own calibration file.
#   zed_camera.sh --calibration SN12345.conf --mode 720 /dev/video0
#   zed_camera.sh --source test --mode vga --out zed.mkv
# --mode NAME   2k: 2 x 2208x1242 (15/s), 1080: 2 x 1920x1080 (30/s), 720: 2 x 1280x720 (default, 30/s),
#               vga: 2 x 672x376 (30/s)
# The file is SNnnnn.conf, nnnn the serial number: /usr/local/zed/settings, or from the manufacturer's
# calibration page. Without --calibration the only such file in that folder is used.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
size=1280x720
own_option() {
  [ "$1" = --mode ] || return 1
  case ${2:-} in
    2k) size=2208x1242 rate=15 ;;
    1080) size=1920x1080 ;;
    720) size=1280x720 ;;
    vga) size=672x376 ;;
    *) misuse "--mode is ${2:-missing}, must be 2k, 1080, 720 or vga" ;;
  esac
}
parse_options "$@"
at_most 1
if [ -z "$calibration" ] && [ -z "$source" ]; then
  files=(/usr/local/zed/settings/SN*.conf)
  [ ${#files[@]} = 1 ] && [ -r "${files[0]}" ] || fail "${#files[@]} files match ${files[0]}; name that of \
this camera with --calibration, for its views are not rectified"
  calibration=${files[0]}
fi
yuy2_street() {
  test_street
  input+=(! videoconvert ! video/x-raw,format=YUY2)
}
source_option yuy2_street || {
  live=yes
  camera "${positional[0]:-/dev/video0}" \
    "video/x-raw,format=YUY2,width=$((2 * ${size%x*})),height=${size#*x},framerate=$rate/1"
}
run_pipeline
