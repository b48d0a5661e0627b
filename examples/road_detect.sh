#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# road_detect.sh OUT.avi [offroad[:FRAMES] | FOLDER] [OPTION...]: a video (motion JPEG) with the road drawn on it, and a
# line for each frame: what was learnt, and how it compares with the true road where that is known.
#   --load FILE, --save FILE   models to begin with; file for what was learnt
#   --alone                    forget everything before each frame (KITTI's folders: always)
#   --set PROPERTY=VALUE       a property of cudaroaddetect, as often as wanted
#   --stills FOLDER            each drawn frame as PNG too
# offroad (60 frames) is the rendered dirt track. FOLDER holds KITTI road frames (image_2, image_3 and calib, or flat as
# N_left.png, N_right.png and N_calib.txt), or left/N.png, right/N.png and camera.txt with lines "focal 721.5", "cx 609.6",
# "cy 172.9", "baseline 0.54" (m): one drive.
#   examples/road_detect.sh first.avi offroad:40 --save track.rvroad
#   examples/road_detect.sh second.avi offroad:3 --load track.rvroad
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '3,13s/^# //p' "${BASH_SOURCE[0]}"; }
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '' | -*) usage >&2; exit 2 ;;
esac
exec "$here/run.sh" /usr/bin/python3 -B "$here/road_detect.py" "$@"
