#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# road_detect.sh OUT.avi [offroad[:FRAMES] | FOLDER] [OPTION...]: a video (motion JPEG) with the road drawn on it, and a
# line for each frame: statistics of the models, and scores if the ground truth is known.
#   --load FILE, --save FILE   file of initial models; file to save the models to
#   --alone                    clear the models before each frame (KITTI folders: always)
#   --set PROPERTY=VALUE       a property of cudaroaddetect; can be repeated
#   --stills FOLDER            also write each drawn frame as PNG
# offroad (60 frames) is the rendered dirt track. FOLDER contains KITTI road frames (image_2, image_3 and calib, or flat as
# N_left.png, N_right.png and N_calib.txt), or left/N.png, right/N.png and camera.txt with lines "focal 721.5", "cx 609.6",
# "cy 172.9", "baseline 0.54" (m): one sequence.
#   examples/road_detect.sh first.avi offroad:40 --save track.rvroad
#   examples/road_detect.sh second.avi offroad:3 --load track.rvroad
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
[[ $1 != -* ]] || { usage >&2; exit 2; }
exec "$here/run.sh" /usr/bin/python3 -B "$here/road_detect.py" "$@"
