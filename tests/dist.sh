#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dist.sh [BUILD]: the tarball of HEAD that meson dist makes builds, and passes the library's and the elements' tests, without a
# network. 5 minutes on two cores; DIST_KEEP=DIR keeps the tarball.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-${RV_BUILD_DIR:-build}}
meson dist -C "$build" --no-tests --formats xztar --allow-dirty >/dev/null
tarball=$(ls -t "$build"/meson-dist/*.tar.xz | head -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -xJf "$tarball" -C "$folder"
cd "$folder"/gst-roadvision-*
# without a network: another name space, if this machine permits
offline=()
! unshare -rn true 2>/dev/null || offline=(unshare -rn)
"${offline[@]}" meson setup build -Dcuda=disabled >setup.log || { cat setup.log; exit 1; }
"${offline[@]}" ninja -C build >build.log || { tail -n 30 build.log; exit 1; }
OMP_WAIT_POLICY=passive "${offline[@]}" meson test -C build --no-rebuild --suite library --suite gst --no-suite once --timeout-multiplier 3 2>&1 | tail -n 8
cd "$OLDPWD"
[ -z "${DIST_KEEP:-}" ] || cp "$tarball" "$DIST_KEEP/"
echo "dist: $(basename "$tarball"), $(($(stat -c %s "$tarball") / 1000)) kB, builds and passes its tests ${offline:+without a network}"
