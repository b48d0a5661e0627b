# SPDX-License-Identifier: MIT
# program.sh, to be sourced in the project's folder: use_program NAME REGISTRY sets $program to the test
# program NAME of the bundle RV_GPU_BUNDLE, or else of the build folder RV_BUILD_DIR (build), and the
# environment that it needs to find the plugin; REGISTRY: file of its own for GStreamer's registry.
use_program() {
  local plugins bundle build
  if [ -n "${RV_GPU_BUNDLE:-}" ]; then
    bundle=$(cd "$RV_GPU_BUNDLE" && pwd)
    . "$bundle/gst/env.sh"
    export LD_LIBRARY_PATH=$bundle/lib:$LD_LIBRARY_PATH
    program=$bundle/bin/$1 plugins=$bundle/plugins
  else
    build=$(cd "${RV_BUILD_DIR:-build}" && pwd)
    program=$build/tests/$1 plugins=$build/gst
  fi
  export GST_PLUGIN_PATH=$plugins${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  export GST_REGISTRY=$2 GST_REGISTRY_1_0=$2
  export GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 OMP_WAIT_POLICY=passive
}
