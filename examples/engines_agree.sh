#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# engines_agree.sh [FRAMES]: the same scene through the CPU and the CUDA engine; prints the checksums
# of both disparity streams and fails when they differ. Without a GPU it says so and ends with 77.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 0 "$@"
frames=${1:-10}
[[ $frames =~ ^[1-9][0-9]*$ ]] || { echo "engines_agree: $frames is not a number of frames" >&2; exit 2; }

sums() { # ENGINE
  "$here/run.sh" gst-launch-1.0 -q stereotestsrc "num-buffers=$frames" ! \
    cudasgm "engine=$1" output=disparity ! checksumsink
}

cpu=$(sums cpu)
if ! cuda=$(sums cuda 2>&1); then
  echo "$cuda" >&2
  grep -q 'engine=cuda cannot be used' <<<"$cuda" && exit 77
  exit 1
fi
echo "$cpu"
if [ "$cpu" != "$cuda" ]; then
  echo "engines_agree: the engines differ; CUDA gives" >&2
  echo "$cuda" >&2
  exit 1
fi
echo "both engines give these $frames frames"
