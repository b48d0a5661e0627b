#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quality.sh [depth [quick|opencv]|kitti|street|stixels|slanted|ground|obstacles|freespace|vehicles|road|
#   memory|offroad [FRAMES]|lanes [all|small|roads [FRAMES]]]: how good depth, stixels, ground, obstacles, road and lanes
#   are.
# Fails when a limit is missed. Without an argument: all of them.
#   depth   cuda/sgm with its default properties on all sets of RV_DATA with ground truth and on rendered
#           scenes, each real pair also with noise; quick: three sets without; opencv: with OpenCV's
#           best of twelve settings per set; exit 77 without RV_DATA
#   kitti   cudasgm with its default properties, and OpenCV's next to it, on three KITTI pairs of the
#           folder that RV_DATA names; exit 77 without it
#   street  the same on stereotestsrc pattern=street against its own truth
#   stixels what cudastixels makes of cudasgm's depth on the KITTI pairs; cuda/stixels on all open sets:
#           depth, number, sky, and IoU per class with true and corrupted labels; exit 77 without RV_DATA
#   slanted stixels on pattern=slanted-street: slanted-fast against constant
#   ground  height of the camera above the ground that cudastixels uses and attaches, on rendered
#           streets of three sizes and on the KITTI pairs, these only with RV_DATA
#   obstacles  cars, the car ahead and false obstacles on rendered streets; with RV_DATA also vehicles
#           and road of a KITTI frame
#   freespace  its distance per column on rendered streets; with RV_DATA also road, vehicles and other things
#           of a KITTI frame in it, and the distance of vehicles
#   vehicles  what obstacles and freespace say of that frame; exit 77 without RV_DATA
#   road    road detection on the two KITTI road frames of RV_DATA; exit 77 without it
#   memory  road detection on rendered drives that need memory: mud, shadow, a van that hides the near
#           ground; next to it each frame alone
#   offroad road detection on 360 (or FRAMES) frames of the rendered dirt track, and what a fixed
#           color would do there
#   lanes   lane lines on 60 (or FRAMES) frames of rendered roads, and the own lane of a KITTI frame
#           and of two pictures of a motorway of RV_DATA (without it: omitted); small: without the street of 1242 px; roads: the
#           highways and the obstacle course alone, which have no limits
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n '3,/^set /s/^# //p' "${BASH_SOURCE[0]}"; }
case ${1:-all} in
  depth | kitti | street | stixels | slanted | ground | obstacles | freespace | vehicles | road | memory | offroad | lanes | all) ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
# Called by hand it finds the plugin as the examples do.
if [ -z "${RV_QUALITY_AGAIN:-}" ] && ! gst-inspect-1.0 --exists cudasgm 2>/dev/null; then
  RV_QUALITY_AGAIN=1 exec "$here/../examples/run.sh" "${BASH_SOURCE[0]}" "$@"
fi
python=(/usr/bin/python3 -B "$here/quality.py")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Packs a pair and writes its disparity as GRAY16_LE, 1/16 px. BGRx, because compositor shifts the
# right image by a pixel at odd widths in the formats with shared chroma.
match() {
  local left=$1 right=$2 width=$3 height=$4 out=$5
  local read='pngdec ! videoconvert ! video/x-raw,format=BGRx'
  # $read is a launch line of several words.
  # shellcheck disable=SC2086
  gst-launch-1.0 -q compositor name=pair background=black sink_0::xpos=0 "sink_1::xpos=$width" ! \
    "video/x-raw,format=BGRx,width=$((2 * width)),height=$height,framerate=1/1" ! \
    cudasgm output=disparity ! video/x-raw,format=GRAY16_LE ! filesink "location=$out" \
    filesrc "location=$left" ! $read ! pair.sink_0 \
    filesrc "location=$right" ! $read ! pair.sink_1
}

need_data() {
  if [ -z "${RV_DATA:-}" ] || [ ! -f "$RV_DATA/manifest.json" ]; then
    echo "quality: RV_DATA names no folder with a manifest.json; the KITTI pairs are skipped"
    exit 77
  fi
}

kitti() {
  need_data
  local name left right width height
  "${python[@]}" pairs "$RV_DATA" >"$work/pairs"
  while IFS=$'\t' read -r name left right width height; do
    match "$left" "$right" "$width" "$height" "$work/$name.raw"
  done <"$work/pairs"
  "${python[@]}" kitti "$RV_DATA" "$work"
}

depth() {
  need_data
  "${python[@]}" depth "${RV_DEPTH_TOOL:-${RV_BUILD_DIR:-$here/../build}/tests/eval/depth_tool}" \
    "$RV_DATA" "$@"
}

stixels() {
  local tools=${RV_BUILD_DIR:-$here/../build}/tests/eval failed=0
  "${python[@]}" stixels "$RV_DATA" || failed=1
  "${python[@]}" stixels-sets "${RV_DEPTH_TOOL:-$tools/depth_tool}" \
    "${RV_STIXELS_TOOL:-$tools/stixels_tool}" "$RV_DATA" || failed=1
  return $failed
}

# What tests/eval/obstacles_eval.c finds.
rendered() {
  local part failed=0
  for part; do
    "${RV_OBSTACLES_EVAL:-${RV_BUILD_DIR:-$here/../build}/tests/eval/obstacles_eval}" "$part" || failed=1
  done
  return $failed
}

case ${1:-all} in
  depth) depth "${@:2}" ;;
  kitti) kitti ;;
  street) "${python[@]}" street ;;
  stixels)
    need_data
    stixels
    ;;
  slanted) "${python[@]}" slanted ;;
  ground)
    if [ -f "${RV_DATA:-}/manifest.json" ]; then
      "${python[@]}" ground "$RV_DATA"
    else
      "${python[@]}" ground
    fi
    ;;
  obstacles)
    rendered cars lead
    [ ! -f "${RV_DATA:-}/manifest.json" ] || "${python[@]}" obstacles "$RV_DATA"
    ;;
  freespace)
    rendered free
    [ ! -f "${RV_DATA:-}/manifest.json" ] || "${python[@]}" freespace "$RV_DATA"
    ;;
  vehicles | road)
    need_data
    "${python[@]}" "$1" "$RV_DATA"
    ;;
  memory | offroad) "${python[@]}" "$@" ;;
  lanes)
    "${python[@]}" "$@"
    [ "${2:-all}" != all ] || [ ! -f "${RV_DATA:-}/kitti_road/um_000000_lane_gt.png" ] || "${python[@]}" lanes-kitti "$RV_DATA"
    [ "${2:-all}" != all ] || [ ! -f "${RV_DATA:-}/hough/solidWhiteRight.jpg" ] || "${python[@]}" lanes-motorway "$RV_DATA"
    ;;
  all)
    "${python[@]}" street
    "${python[@]}" slanted
    "${python[@]}" ground
    rendered free cars lead
    "${python[@]}" memory
    "${python[@]}" offroad
    "${python[@]}" lanes
    depth
    kitti
    stixels
    "${python[@]}" vehicles "$RV_DATA"
    "${python[@]}" road "$RV_DATA"
    "${python[@]}" lanes-kitti "$RV_DATA"
    "${python[@]}" lanes-motorway "$RV_DATA"
    ;;
esac
