#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# setup.sh: installs what is missing, configures and builds. Quick when all is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'USAGE'
usage: ./setup.sh [--no-install] [--tests] [--use] [--build-dir DIR] [MESON OPTION...]
  --no-install     print the command that would install what is missing, and stop
  --tests          also what only tests/run.sh needs (OpenCV for Python, clang, clang-format)
  --use            build only what runs: library, plugin, typelib, compiled examples; no tests
  --build-dir DIR  default: $RV_BUILD_DIR, or build
  others           passed to meson, for example -Dcuda=disabled -Dcuda-arch=all
The CUDA code is built for the GPU of this machine, and as PTX for later GPUs when there is none;
-Dcuda-arch=all builds it for every GPU that the project supports, as packages do.
USAGE
}

packages=(
  build-essential git meson ninja-build pkg-config
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstreamer-plugins-bad1.0-dev
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly # ugly: x264enc
  gobject-introspection libgirepository1.0-dev # RoadVision-0.typelib
  libmosquitto-dev libzstd-dev # annotationpublish: MQTT, compressed MCAP files
  python3 python3-gi python3-numpy gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
)
test_packages=(python3-opencv python3-jsonschema python3-venv mosquitto mosquitto-clients
  gstreamer1.0-libav # roadvision record
  gstreamer1.0-nice gir1.2-gst-plugins-bad-1.0 gir1.2-gst-rtsp-server-1.0 # roadvision see --web, rtsp://
  python3-sphinx python3-myst-parser python3-sphinx-rtd-theme # docs/site
)
case $(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}") in
  bookworm | "") test_packages+=(clang-14 clang-format-14 libclang-rt-14-dev libomp-14-dev) ;;
  *) test_packages+=(clang libclang-rt-dev libomp-dev) ;; # the format is that of version 14
esac

install_wanted=yes
later=() # packages that the build does not need: installed beside it
build_dir=${RV_BUILD_DIR:-build}
options=()
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --no-install) install_wanted=no ;;
    --tests) later=("${test_packages[@]}") ;;
    --use) targets=(use) ;;
    --build-dir) build_dir=${2:?--build-dir takes a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) options+=("$1") ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

say() { printf 'setup: %s\n' "$*"; }

# --- packages ---------------------------------------------------------------------------------
is_installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

missing=() missing_later=()
if command -v dpkg-query >/dev/null; then
  for p in "${packages[@]}"; do
    is_installed "$p" || missing+=("$p")
  done
  for p in "${later[@]}"; do
    is_installed "$p" || missing_later+=("$p")
  done
elif [ "$install_wanted" = yes ]; then
  say "no dpkg here; these Debian packages, by whatever name, must be there: ${packages[*]} ${later[*]}"
fi
all_missing=("${missing[@]}" "${missing_later[@]}")

sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo)
apt=("${sudo[@]}" apt-get install --yes --no-install-recommends)
if [ "$install_wanted" = no ]; then
  if [ ${#all_missing[@]} = 0 ]; then say "nothing is missing"; else echo "${apt[*]} ${all_missing[*]}"; fi
  exit 0
fi
install_packages() { # PACKAGE...
  [ $# = 0 ] || "${apt[@]}" -qq "$@" >/dev/null || {
    say "could not install; the command was: ${apt[*]} $*" >&2
    return 1
  }
}
installing=''
if [ ${#all_missing[@]} -gt 0 ]; then
  say "installing: ${all_missing[*]}"
  if [ ${#sudo[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
    say "neither root nor sudo; run as root: apt-get install ${all_missing[*]}" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${sudo[@]}" apt-get update -qq
  install_packages "${missing[@]}"
  install_packages "${missing_later[@]}" </dev/null &
  installing=$!
  trap 'wait' EXIT # a failed build does not end apt-get in the middle
fi

# --- compiler for the GPU ---------------------------------------------------------------------
find_nvcc() {
  local f
  command -v nvcc && return
  for f in /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc /usr/lib/cuda/bin/nvcc \
    $(printf '%s\n' /usr/local/cuda-*/bin/nvcc | sort -rV); do
    [ -x "$f" ] && echo "$f" && return
  done
}
nvcc=$(find_nvcc || true)
[ -z "$nvcc" ] || PATH="$PATH:$(dirname "$nvcc")"

# --- build ------------------------------------------------------------------------------------
if [ ! -f "$build_dir/build.ninja" ]; then
  # Code for the GPU of this machine; without one, PTX that the driver of any later GPU compiles.
  arch=(-Dcuda-arch=ptx)
  ! nvidia-smi -L 2>/dev/null | grep -q '^GPU' || arch=(-Dcuda-arch=native)
  meson setup "$build_dir" "${arch[@]}" "${options[@]}"
else
  [ ${#options[@]} = 0 ] || meson configure "$build_dir" "${options[@]}"
  # A build made before nvcc was installed takes it up now.
  if [ -n "$nvcc" ] && grep -q 'RV_HAVE_CUDA 0' "$build_dir/cuda/rv_config.h" 2>/dev/null &&
    [ "$(meson introspect "$build_dir" --buildoptions |
      python3 -c 'import json,sys; print([o["value"] for o in json.load(sys.stdin) if o["name"] == "cuda"][0])')" != disabled ]; then
    say "nvcc was found: configuring anew"
    meson setup --wipe "$build_dir" "${options[@]}"
  fi
fi
# The build lists the files of gst/ when it is configured: again when one came or went.
[ ! gst -nt "$build_dir/build.ninja" ] || meson setup --reconfigure "$build_dir" >/dev/null
# nvcc takes about 1 GB for one file; the number of processors is also a limit for memory.
ninja -C "$build_dir" -j "$(nproc)" "${targets[@]}"
[ -z "$installing" ] || wait "$installing"

if grep -q 'RV_HAVE_CUDA 1' "$build_dir/cuda/rv_config.h"; then
  say "ready in $build_dir, CPU and CUDA engine"
elif [ -n "$nvcc" ]; then
  say "ready in $build_dir, CPU engine only (-Dcuda=disabled)"
else
  say "ready in $build_dir, CPU engine only: no nvcc on PATH or in /usr/local/cuda; with the CUDA toolkit installed, run this again"
fi
