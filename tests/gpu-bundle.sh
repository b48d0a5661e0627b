#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpu-bundle.sh [GST_BUNDLE_SCRIPT]: packs all that tests/gpu-run.sh needs on a GPU machine without
# compiler, Debian packages or GStreamer into .gpu/: test programs, library, plugin, and the hash of
# the CUDA sources they were built from. GST_BUNDLE_SCRIPT DIR FILE... (or the variable of that name)
# puts a relocatable GStreamer runtime into DIR with an env.sh to source; without it the part
# `elements` will say that it cannot run. RV_GPU_ARCH: compute capability of that GPU, default 90.
# RV_GPU_BUILD: build folder, default build-gpu.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bundler=${1:-${GST_BUNDLE_SCRIPT:-}}
build=${RV_GPU_BUILD:-build-gpu}
out=.gpu

if [ -n "$(git status --porcelain cuda)" ]; then
  echo "gpu-bundle: cuda/ has changes that are not committed: the report could not name its sources" >&2
  exit 1
fi
sources=$(git ls-files -s cuda | sha256sum | cut -d' ' -f1)

./setup.sh --build-dir "$build" -Dcuda=enabled "-Dcuda-arch=${RV_GPU_ARCH:-90}" -Dmosquitto=disabled

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/plugins"
programs=()
for program in "$build"/tests/{rvcheck,contract,repeat,gpu_elements,soak,latency} "$build"/tests/elements/*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  cp "$program" "$out/bin/"
  programs+=("$out/bin/$(basename "$program")")
done
cp -r tests/fuzz/corpus/calibration "$out/" # for element_cudarectify
cp -L "$build/cuda/libroadvision-0.so.0" "$out/lib/"
files=("${programs[@]}" "$out/lib/libroadvision-0.so.0")
if [ -f "$build/gst/libgstroadvision.so" ]; then
  cp -L "$build/gst/annotations/libroadvision-gst-0.so.0" "$out/lib/"
  files+=("$out/lib/libroadvision-gst-0.so.0")
  cp "$build/gst/libgstroadvision.so" "$out/plugins/"
  files+=("$out/plugins/libgstroadvision.so")
fi
# Host symbols only: what compute-sanitizer shows of kernels stays.
strip --strip-debug "${files[@]}"
# OpenMP's runtime is not part of a bare system.
cp -L "$(ldd "$out/bin/rvcheck" | awk '/libgomp/ {print $3}')" "$out/lib/"

if [ -n "$bundler" ]; then
  LD_LIBRARY_PATH=$PWD/$out/lib bash "$bundler" "$PWD/$out/gst" "${files[@]}"
else
  echo "gpu-bundle: no GStreamer runtime was asked for: the part elements cannot run from this bundle"
fi
{
  echo "cuda-sources: $sources"
  echo "commit: $(git rev-parse --short=12 HEAD)"
  echo "version: $(sed -n "s/^ *version : '\(.*\)',/\1/p" meson.build | head -n 1)"
} >"$out/info"
cat "$out/info"
du -sh "$out"
