#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stixels_study.sh FOLDER [FRAMES]: the thesis' experiments on paths, cuts, models and cells of stixels, on the
# open pairs of RV_DATA and on rendered streets, FRAMES per set (default: all). Writes tables and a plot to FOLDER;
# docs/studies/stixels.md has those of all images. Needs a build with tests, python3-opencv and python3-matplotlib.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
fail() { # MESSAGE
  printf 'stixels_study: %s\n' "$1" >&2
  exit 1
}
root=$(dirname "$here")
build=${RV_BUILD_DIR:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
[ -x "$build/tests/eval/stixels_tool" ] || fail "there is no $build/tests/eval/stixels_tool: run setup.sh --tests"
[ -f "${RV_DATA:-}/manifest.json" ] || fail 'set RV_DATA to the folder of the test data (docs/testing.md)'
out=$1
shift
exec /usr/bin/python3 -B "$root/tests/stixels_study.py" "$build/tests/eval/depth_tool" "$build/tests/eval/stixels_tool" \
  "$RV_DATA" "$out" "$@"
