#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# aarch64.sh [SUITE]: builds for aarch64 with Debian's cross compiler in a bare Debian (bookworm unless SUITE says another), warnings
# as errors, and runs the tests of the suites library and gst under qemu-user. As root, with debootstrap. 2.5 GB; on two cores a build of
# 3 minutes and tests of about half an hour.
# RV_AARCH64_DIR: folder of the root, which is kept and used again (else a temporary one, removed).
# RV_AARCH64_TESTS: names of tests instead of the two suites; none: the build alone.
# RV_AARCH64_CUDA=TOOLKIT: builds the CUDA engine too, for RV_AARCH64_ARCH (87: Jetson Orin), with the nvcc for x86-64 of TOOLKIT, not
#   optimized (nothing here runs it); RV_AARCH64_CUDART=FOLDER has the libcudart_static.a for aarch64. Links; runs without a device.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/bare.sh
case ${1:-} in -h | --help) sed -n '3,9s/^# \?//p' "${BASH_SOURCE[0]}"; exit ;; esac
bare_need aarch64.sh
suite=${1:-bookworm}
root=${RV_AARCH64_DIR:-$(mktemp -d "${TMPDIR:-/var/tmp}/aarch64.XXXXXX")}
checkout=/srv/gst-roadvision # there
toolkit=''
clean_up() {
  [ -z "$toolkit" ] || umount "$toolkit" || true
  bare_leave
  [ -n "${RV_AARCH64_DIR:-}" ] || grep -q " $root/" /proc/mounts || rm -rf --one-file-system "$root"
}
trap clean_up EXIT
fail() { echo "aarch64: $*" >&2; exit 1; }

bare_make "$suite" "$root"
bare_run "$root" / sh -c 'dpkg --add-architecture arm64 && apt-get update -qq && apt-get install -y -qq --no-install-recommends \
  crossbuild-essential-arm64 git meson ninja-build pkgconf python3 qemu-user-static file \
  libgstreamer1.0-dev:arm64 libgstreamer-plugins-base1.0-dev:arm64 libgstreamer-plugins-bad1.0-dev:arm64 libmosquitto-dev:arm64 \
  libzstd-dev:arm64 gstreamer1.0-plugins-base:arm64 gstreamer1.0-plugins-good:arm64 gstreamer1.0-plugins-bad:arm64' >"$root/setup.log" 2>&1 ||
  { tail -n 20 "$root/setup.log"; fail packages; }
rm -rf "$root$checkout"
git clone --quiet --no-hardlinks . "$root$checkout"
link=''
options=(-Dcuda=disabled)
build=build
if [ -n "${RV_AARCH64_CUDA:-}" ]; then
  toolkit=$root/usr/local/cuda
  mkdir -p "$toolkit" "$root/srv/cudart"
  mount --bind -o ro "$RV_AARCH64_CUDA" "$toolkit"
  cp "${RV_AARCH64_CUDART:?folder of libcudart_static.a for aarch64}"/*.a "$root/srv/cudart/"
  link="'-L/srv/cudart'"
  options=(-Dcuda=enabled "-Dcuda-arch=${RV_AARCH64_ARCH:-87}" -Dcuda-optimize=false)
  build=build-cuda
fi
# The cross compilers' pkg-config wrapper has other names in other suites; the folders are the same.
cat >"$root$checkout/aarch64.txt" <<TXT
[binaries]
c = 'aarch64-linux-gnu-gcc'
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkg-config = 'pkg-config'
pkgconfig = 'pkg-config' # meson before 1.3
exe_wrapper = 'qemu-aarch64-static'
[properties]
pkg_config_libdir = '/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig'
[built-in options]
c_link_args = [$link]
cpp_link_args = [$link]
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
TXT
begin=$SECONDS
# nvcc asks its host compiler which machine the code is for; the toolkit's headers are the same for all.
nvcc_host() {
  bare_run "$root" $checkout env \
    NVCC_PREPEND_FLAGS='-ccbin aarch64-linux-gnu-g++ -I/usr/local/cuda/targets/x86_64-linux/include' "$@"
}
nvcc_host meson setup "$build" --cross-file aarch64.txt -Dwerror=true -Dgstreamer=enabled \
  -Dmosquitto=enabled -Dzstd=enabled -Dintrospection=disabled "${options[@]}" >"$root/$build.log" 2>&1 &&
  nvcc_host ninja -C "$build" use >>"$root/$build.log" 2>&1 ||
  { grep -E 'error|ERROR|FAILED' "$root/$build.log" | head -n 20; tail -n 3 "$root/$build.log"; fail 'does not build'; }
plugin=$build/gst/libgstroadvision.so
bare_run "$root" $checkout file -L "$build/cuda/libroadvision-0.so" $plugin | grep -c 'ARM aarch64' | grep -qx 2 || fail 'not for aarch64'
echo "aarch64: $suite: $(bare_run "$root" / aarch64-linux-gnu-gcc -dumpfullversion) builds with ${options[*]} in $((SECONDS - begin)) s," \
  "library $(($(stat -Lc %s "$root$checkout/$build/cuda/libroadvision-0.so") / 1000)) kB"
[ "${RV_AARCH64_TESTS:-}" != none ] || exit 0
# The scanner of plugins would be a program for aarch64 started without qemu.
arguments=(--suite library --suite gst --no-suite once)
[ -z "${RV_AARCH64_TESTS:-}" ] || read -r -a arguments <<<"$RV_AARCH64_TESTS"
begin=$SECONDS
nvcc_host env GST_REGISTRY_FORK=no CK_TIMEOUT_MULTIPLIER=20 meson test -C "$build" --timeout-multiplier 20 "${arguments[@]}" \
  >"$root/$build.tests" 2>&1 || { grep -E 'FAIL|TIMEOUT|ERROR' "$root/$build.tests" | head -n 20; status=1; }
grep -E '^(Ok|Fail|Skipped|Timeout):' "$root/$build.tests" | tr -s ' ' | paste -sd' ' | sed "s/^/aarch64: tests under qemu-user in $((SECONDS - begin)) s: /"
exit "${status:-0}"
