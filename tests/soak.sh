#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# soak.sh [SECONDS [WIDTH HEIGHT RATE]]: runs the complete chain (pairing, rectification, all
# algorithms, annotations, publishing) for SECONDS (3600) on two simulated cameras with jitter, lost
# frames and stalls, of WIDTH x HEIGHT px at RATE frames/s (320 240 10). On the GPU if there is one.
# Prints memory, handles and threads at the start and at the end, with the memory used on the GPU;
# fails if they grow, or if GStreamer's leaks tracer finds an object that was not freed.
# RV_BUILD_DIR: build folder (build). RV_GPU_BUNDLE: bundle of tests/gpu-bundle.sh, used instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log" "$log.registry"' EXIT
. tests/program.sh
use_program soak "$log.registry"
export GST_TRACERS=leaks GST_DEBUG_FILE=$log
status=0
[ $# -gt 0 ] || set -- 3600
"$program" "$@" || status=$?
sed -i '/new format string/d' "$log"
leaks=$(grep -c 'object-alive,' "$log" || true)
echo "leaks tracer: $leaks objects"
if [ "$leaks" != 0 ]; then
  grep 'object-alive,' "$log" | head -n 20
  status=1
fi
exit "$status"
