#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# road_eval.sh FOLDER|offroad[:FRAMES[:SEED]] [OPTION...]: holds road detection against true masks.
# Prints TP, FP, precision, recall and F1 of each frame, mean and deviation.
#   --set NAME=VALUE  changes a field of RvRoadConfig (cuda/road/road.h), as often as wanted
#   --alone           learns each frame by itself (KITTI's folders: always)
#   --quiet           the summary only
#   --plots FOLDER    ROC plots of each parameter, as the thesis' figures 28 and 30 to 52
#   --tables          the thesis' tables 1, 2, 4 and 6 on these frames
# FOLDER holds left/N.png, mask/N.png (255 road, 0 not, other values are not scored), right/N.png or
# disparity/N.png (16 bit, 1/256 px, 0 = none), and camera.txt: lines "focal 721.5", "cx 609.6",
# "cy 172.9", "baseline 0.54" (m), perhaps "doffs 0"; all names N sorted are one drive.
# KITTI's road benchmark works too: image_2, image_3, gt_image_2 and calib, or its files flat as
# N_left.png, N_right.png, N_road_gt.png and N_calib.txt. offroad is the rendered dirt track.
# Plots need python3-matplotlib. docs/studies/road.md is the page:
#   examples/road_eval.sh offroad --quiet --tables --plots docs/studies/road
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '3,17s/^# //p' "${BASH_SOURCE[0]}"; }
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '') usage >&2; exit 2 ;;
esac
exec "$here/run.sh" /usr/bin/python3 -B "$here/road_eval.py" "$@"
