#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# latency.sh [WIDTH HEIGHT RATE [SECONDS [ENGINE...]]]: latency of a live stereo camera of two views
# of WIDTH x HEIGHT px at RATE frames/s (1242 375 30), from its source to the sink, measured by
# GStreamer's latency tracer on every frame, for SECONDS (8) per pipeline; engines cpu and cuda.
# Prints one line per pipeline:
#   latency ENGINE WxH median=MS p99=MS frames=ARRIVED sent=N elements=NAME
# A queue of one frame that drops is behind the camera, so frames do not arrive if the elements are
# slower than RATE. NAME: `stixels` (depth, stixels, drawing), `stixels-upload` (the same in CUDA
# memory), `drive` (rectification, depth, stixels, road, lines, drawing, publishing; on a GPU in CUDA
# memory). No sink waits for the clock; no decoder, no encoder.
# RV_BUILD_DIR: build folder (build). RV_GPU_BUNDLE: bundle of tests/gpu-bundle.sh, used instead.
# Not a test: other work on the machine would decide. Fails if a pipeline fails or no frame arrives.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
-h | --help) sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
width=${1:-1242} height=${2:-375} rate=${3:-30} seconds=${4:-8}
shift $(($# < 4 ? $# : 4))
[ $# -gt 0 ] || set -- cpu cuda
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/program.sh
use_program latency "$work/registry"
export GST_TRACERS='latency(flags=pipeline)'

# Cameras with lenses that bend a little.
awk -v w="$width" -v h="$height" 'BEGIN {
  f = 0.9 * w; cx = (w - 1) / 2; cy = (h - 1) / 2
  printf "%%YAML:1.0\n---\nimage_width: %d\nimage_height: %d\n", w, h
  for (eye = 1; eye <= 2; eye++) {
    printf "M%d: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n", eye
    printf "   data: [ %.3f, 0., %.3f, 0., %.3f, %.3f, 0., 0., 1. ]\n", f, cx, f, cy
    printf "D%d: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n", eye
    printf "   data: [ -0.02, 0., 0., 0., 0. ]\n"
  }
  printf "R: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
  printf "   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\n"
  printf "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ -0.5, 0., 0. ]\n"
}' >"$work/camera.yml"

status=0
# measure ENGINE NAME ELEMENTS; the first 5 frames are left out, for they also allocate. 77 = no GPU.
measure() {
  local result=0
  GST_DEBUG_FILE=$work/log "$program" "$1" "$width" "$height" "$rate" "$seconds" "$3" || result=$?
  [ "$result" != 77 ] || return 77
  [ "$result" = 0 ] || { echo "FAIL: latency $1 $2" && status=1 && return 0; }
  sed -n 's/.* latency, .*src-element=(string)camera,.*time=(guint64)\([0-9]*\),.*/\1/p' "$work/log" | tail -n +6 | sort -n |
    awk -v name="$1 ${width}x$height" -v sent=$((rate * seconds - 5)) -v elements="$2" '
      { ms[NR] = $1 / 1e6 }
      END {
        if (NR < 10) { print "FAIL: latency " name ": " NR " frames arrived"; exit 1 }
        median = NR % 2 ? ms[(NR + 1) / 2] : (ms[NR / 2] + ms[NR / 2 + 1]) / 2
        rank = int(0.99 * NR); if (rank < 0.99 * NR) rank++
        printf "latency %s median=%.2f p99=%.2f frames=%d sent=%d elements=%s\n", name, median,
               ms[rank], NR, sent, elements
      }' || status=1
}

for engine; do
  e=engine=$engine up='' down=''
  [ "$engine" != cuda ] || up='cudaupload ! ' down=' ! cudadownload'
  stixels="cudasgm $e ! cudastixels $e ! cudaannotate $e"
  measure "$engine" stixels "$stixels" || continue
  [ -z "$up" ] || measure "$engine" stixels-upload "$up$stixels$down"
  measure "$engine" drive "${up}cudarectify $e calibration=$work/camera.yml ! cudasgm $e ! \
    cudastixels $e ! cudaroaddetect $e ! cudahough $e ! cudaannotate $e ! \
    annotationpublish location=$work/drive.jsonl$down"
done
echo "load of the machine, 1 minute: $(cut -d' ' -f1 /proc/loadavg), $(nproc) processors"
exit "$status"
