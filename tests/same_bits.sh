#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/same_bits.sh [OLD [NEW]]: results of the CPU engine of two revisions (1bc14d3 and HEAD), compared bit
# by bit: same_bits.c is compiled with the library of each. Only algorithms whose results did not change on
# purpose: SGM with the costs and checks of 1bc14d3, Hough, RDP, vote. Minutes, so not part of tests/run.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
old=${1:-1bc14d3} new=${2:-HEAD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

results() { # REVISION FILE
  local tree=$work/$1
  mkdir "$tree"
  git archive "$1" | tar -x -C "$tree"
  meson setup "$tree/build" "$tree" -Dcuda=disabled -Dgstreamer=disabled -Dtests=disabled -Dexamples=disabled \
    >/dev/null
  ninja -C "$tree/build" >/dev/null
  gcc -std=gnu99 -O1 -Wall -Wextra "-I$tree/cuda" tests/same_bits.c -o "$tree/same_bits" "-L$tree/build/cuda" \
    -lroadvision-0 "-Wl,-rpath,$tree/build/cuda"
  "$tree/same_bits" >"$2"
}

results "$old" "$work/old.txt"
results "$new" "$work/new.txt"
if ! diff "$work/old.txt" "$work/new.txt"; then
  echo "same_bits: $old (<) and $new (>) differ"
  exit 1
fi
echo "same_bits: $(wc -l <"$work/new.txt") results of $old and $new are equal: $(cut -d' ' -f1 "$work/new.txt" | sort | uniq -c | xargs)"
