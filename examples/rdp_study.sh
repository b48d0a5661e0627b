#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rdp_study.sh [FOLDER]: repeats the study of Cebrian and Moure, "GPU-accelerated RDP Algorithm for
# Data Segmentation", with cuda/rdp: accuracy, compression and levels against epsilon, time against
# column height, CPU against GPU, stixels against segments. Prints tables and writes PNG plots to
# FOLDER (default: rdp-study). On frames of the test street; with RV_DATA on the KITTI pairs in the
# folder that it names. Times of the GPU are those of docs/gpu-report.txt. Needs python3-matplotlib.
# docs/studies/rdp.md is the page; its plots: RV_DATA=... examples/rdp_study.sh docs/studies/rdp
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 0 "$@"
exec "$here/run.sh" /usr/bin/python3 "$here/rdp_study.py" "${1:-rdp-study}"
