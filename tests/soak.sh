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
if [ -n "${RV_GPU_BUNDLE:-}" ]; then
  bundle=$(cd "$RV_GPU_BUNDLE" && pwd)
  . "$bundle/gst/env.sh"
  export LD_LIBRARY_PATH=$bundle/lib:$LD_LIBRARY_PATH
  soak=$bundle/bin/soak plugins=$bundle/plugins
else
  build=$(cd "${RV_BUILD_DIR:-build}" && pwd)
  soak=$build/tests/soak plugins=$build/gst
fi
export GST_PLUGIN_PATH=$plugins${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_REGISTRY=$log.registry GST_REGISTRY_1_0=$log.registry
export GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_FILE=$log GST_DEBUG_NO_COLOR=1
export OMP_WAIT_POLICY=passive
status=0
[ $# -gt 0 ] || set -- 3600
"$soak" "$@" || status=$?
sed -i '/new format string/d' "$log"
leaks=$(grep -c 'object-alive,' "$log" || true)
echo "leaks tracer: $leaks objects"
if [ "$leaks" != 0 ]; then
  grep 'object-alive,' "$log" | head -n 20
  status=1
fi
exit "$status"
