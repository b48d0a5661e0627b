#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# road_eval.sh FOLDER|offroad[:FRAMES[:SEED]] [OPTION...]: evaluates road detection against ground-truth
# masks. Prints TP, FP, precision, recall and F1 of each frame, mean and standard deviation.
#   --set NAME=VALUE  sets a parameter (RvRoadConfig in cuda/road/road.h); can be repeated
#   --alone           trains on each frame only (KITTI folders: always)
#   --quiet           prints the summary only
#   --plots FOLDER    ROC plots of each parameter, like the thesis' figures 28 and 30 to 52
#   --tables          the thesis' tables 1, 2, 4 and 6 on these frames
# FOLDER contains left/N.png, mask/N.png (255 = road, 0 = not road, others are not scored), right/N.png
# or disparity/N.png (16 bit, 1/256 px, 0 = invalid), and camera.txt: lines "focal 721.5", "cx 609.6",
# "cy 172.9", "baseline 0.54" (m), optionally "doffs 0"; all names N sorted are one sequence.
# KITTI's road benchmark: image_2, image_3, gt_image_2 and calib, or all files in FOLDER as
# N_left.png, N_right.png, N_road_gt.png and N_calib.txt. offroad: the rendered dirt track.
# Plots need python3-matplotlib. Plots and tables of docs/studies/road.md:
#   examples/road_eval.sh offroad --quiet --tables --plots docs/studies/road
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
exec "$here/run.sh" /usr/bin/python3 -B "$here/road_eval.py" "$@"
