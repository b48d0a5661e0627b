#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpu-profile.sh OUT [SECONDS]: counts instructions, bytes and issue slots of the kernels behind the
# rows below with Nsight Compute, from the bundle of tests/gpu-bundle.sh (RV_GPU_BUNDLE, default
# .gpu) on a machine with a GPU. Writes OUT/kernels.csv, which tests/roofline.py draws. Rows that do
# not fit into SECONDS (120) are named and left out. The clocks of the GPU are left alone.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -ge 1 ] || { sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
out=$1 end=$((SECONDS + ${2:-120}))
bundle=${RV_GPU_BUNDLE:-.gpu}
export LD_LIBRARY_PATH=$PWD/$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin
command -v ncu >/dev/null || { echo "gpu-profile: no Nsight Compute (ncu) on this machine" >&2; exit 1; }
[ -x "$bundle/bin/rvcheck" ] || { echo "gpu-profile: no bundle in $bundle; make it with tests/gpu-bundle.sh" >&2; exit 1; }

# The launches of a row come first in its process, so that a few are enough.
rows=(sgm/1242x375-default:11 sgm/1920x1080-default:11 sgm/1242x375-d128-p8:8 sgm/1920x1080-d128-p8:8
  stixels/1242x375-w8s8-fast:3 stixels/1242x375-w4s4-slanted:3 stixels/2048x1024-w8s8-c19-fast:4
  stixels/1242x375-w5s1-constant:3 rdp/1242x1024-median:1 rdp/1242x1024-noise:1 hough/1080p-picture:7
  road/640x480:18 draw/lines64-1080p-nv12:2 draw/stixels-1080p-nv12:3 obstacles/1242x375:12 lanes/1242x375:10
  rectify/2x1242x375:1 rectify/2x1920x1080:1 vote/hist256-1080p:2)
metrics=gpu__time_duration.sum,smsp__inst_executed.sum,dram__bytes.sum.per_second,sm__inst_issued.avg.per_cycle_active
metrics+=,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
status=0
for entry in "${rows[@]}"; do
  row=${entry%:*}
  [ "$SECONDS" -lt "$end" ] || { echo "gpu-profile: no time left for $row" >&2; status=1; continue; }
  timeout 60 ncu --clock-control none --metrics "$metrics" --launch-count "${entry#*:}" --csv --page raw \
    --log-file "$work/${row//\//@}.csv" "$bundle/bin/rvcheck" --bench --engine cuda --only "$row" >"$work/log" 2>&1 ||
    { echo "gpu-profile: $row failed: $(tail -n 1 "$work/log")" >&2; status=1; }
done
/usr/bin/env python3 tests/roofline.py condense "$work"/*.csv >"$out/kernels.csv" || status=1
echo "gpu-profile: $(($(wc -l <"$out/kernels.csv") - 1)) kernels in $out/kernels.csv"
exit "$status"
