#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# live_camera.sh [DEVICE] [CAPS]: shows a stereo camera with its depth drawn in, as it comes.
#   live_camera.sh /dev/video0 image/jpeg,width=2560,height=720
# DEVICE gives both views side by side in one frame; without it: the test scene. CALIBRATION in the
# environment is the file that rectifies them; for rectified views FOCAL (px) and BASELINE (m) are enough.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case ${1:-} in -h | --help) sed -n '3,6s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;; esac

if [ -n "${1:-}" ]; then
  [ -e "$1" ] || { echo "live_camera: no such device: $1" >&2; exit 1; }
  source=(v4l2src "device=$1" !)
  [ -z "${2:-}" ] || source+=("$2" !)
  source+=(decodebin ! videoconvert)
else
  source=(stereotestsrc is-live=true)
fi
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] ||
  echo "live_camera: neither DISPLAY nor WAYLAND_DISPLAY is set: there may be no screen" >&2
rectify=()
[ -z "${CALIBRATION:-}" ] || rectify=(cudarectify "calibration=$CALIBRATION" !)
camera=()
[ -z "${FOCAL:-}" ] || camera+=("focal-length=$FOCAL")
[ -z "${BASELINE:-}" ] || camera+=("baseline=$BASELINE")

# The leaky queue keeps the newest picture only: what is shown is never older than one frame's work.
exec "$here/run.sh" gst-launch-1.0 "${source[@]}" ! queue leaky=downstream max-size-buffers=1 ! \
  "${rectify[@]}" cudasgm "${camera[@]}" ! cudaannotate ! videoconvert ! autovideosink
