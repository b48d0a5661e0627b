#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fresh.sh [COMMAND...]: the first start, proven: a bare Debian 12 in a temporary folder (debootstrap,
# chroot; needs root), a clone of this repository's HEAD, and in it the README's two commands, or
# the COMMANDs given. Uses this machine's apt sources. Takes 1.5 GB and, on 2 cores, about 15 minutes.
# FRESH_KEEP=1 keeps the folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(id -u)" = 0 ] || { echo "fresh.sh must be root: it mounts and changes its root folder" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "fresh.sh needs the package debootstrap" >&2; exit 2; }
[ $# -gt 0 ] || set -- examples/demo.sh tests/run.sh

mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.* 2>/dev/null |
  grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
root=$(mktemp -d "${TMPDIR:-/var/tmp}/fresh.XXXXXX")
mounted=()
clean_up() {
  local m
  for m in "${mounted[@]}"; do umount -l "$m" || true; done
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
debootstrap --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
  { tail -n 20 "$root.log"; exit 1; }
rm -f "$root.log"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
for f in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources /etc/apt/apt.conf.d/*; do
  [ ! -f "$f" ] || cp "$f" "$root$f"
done
[ ! -f /etc/apt/sources.list.d/debian.sources ] || rm -f "$root/etc/apt/sources.list"
for m in proc sys dev dev/pts; do
  mount --bind "/$m" "$root/$m" # bind, since a container may not mount a new proc
  mounted=("$root/$m" "${mounted[@]}")
done

checkout=/srv/gst-roadvision # there
git clone --quiet --no-hardlinks . "$root$checkout"
echo "fresh: commit $(git rev-parse --short HEAD), packages there: $(chroot "$root" dpkg-query -W | wc -l)"
for command in "$@"; do
  echo "fresh: === $command"
  start=$SECONDS
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${RV_FUZZ_SECONDS:+RV_FUZZ_SECONDS=$RV_FUZZ_SECONDS} \
    bash -c 'cd "$1" && exec $0' "$command" "$checkout" || {
    echo "fresh: FAILED: $command (status $?)"
    exit 1
  }
  echo "fresh: $command took $((SECONDS - start)) s"
done
echo "fresh: success: $* from a bare Debian 12"
