#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fresh.sh [COMMAND...]: the first start, verified: a bare Debian 12 in a temporary folder (debootstrap,
# chroot; needs root), a clone of this repository's HEAD, and in it the README's two commands, or
# the COMMANDs given. Uses this machine's apt sources. Takes 1.5 GB and, on 2 cores, about 15 minutes.
# FRESH_KEEP=1 keeps the folder; FRESH_PREFIX is put before each command on this machine, such as nice -n -20.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/bare.sh
bare_need fresh.sh
[ $# -gt 0 ] || set -- examples/demo.sh tests/run.sh

root=$(mktemp -d "${TMPDIR:-/var/tmp}/fresh.XXXXXX")
clean_up() {
  bare_leave
  if [ -n "${FRESH_KEEP:-}" ]; then
    echo "fresh: kept $root"
  elif grep -q " $root/" /proc/mounts; then
    echo "fresh: something is still mounted in $root, it stays" >&2
  else
    rm -rf --one-file-system "$root"
  fi
}
trap clean_up EXIT

echo "fresh: a bare Debian 12 in $root"
bare_make bookworm "$root"
for f in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
  [ ! -f "$f" ] || cp "$f" "$root$f"
done
[ ! -f /etc/apt/sources.list.d/debian.sources ] || rm -f "$root/etc/apt/sources.list"

checkout=/srv/gst-roadvision # there
git clone --quiet --no-hardlinks . "$root$checkout"
echo "fresh: commit $(git rev-parse --short HEAD), packages there: $(chroot "$root" dpkg-query -W | wc -l)"
for command in "$@"; do
  echo "fresh: === $command"
  start=$SECONDS
  ${FRESH_PREFIX:-} bash -c '. tests/bare.sh && bare_run "$@"' bare "$root" "$checkout" bash -c 'exec $0' "$command" || {
    echo "fresh: FAILED: $command (status $?)"
    exit 1
  }
  echo "fresh: $command took $((SECONDS - start)) s"
done
echo "fresh: success: $* from a bare Debian 12"
