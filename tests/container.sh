#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# container.sh PACKAGES: containers/Containerfile, built with buildah on a base made by debootstrap (no registry), and run as the
# user of the image: the checks, a video, a batch. PACKAGES is the folder that PACKAGES_KEEP of tests/packages.sh filled. Needs root;
# 77 without buildah or debootstrap. 3 minutes, 2 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=$(cd "${1:?container.sh PACKAGES}" && pwd)
for program in buildah debootstrap; do
  command -v $program >/dev/null || { echo "container: no $program"; exit 77; }
done
folder=$(mktemp -d /var/tmp/container.XXXXXX)
store=(--root "$folder/store" --runroot "$folder/run" --storage-driver vfs)
working=''
clean_up() {
  [ -z "$working" ] || buildah "${store[@]}" rm "$working" >/dev/null 2>&1 || true
  rm -rf --one-file-system "$folder"
}
trap clean_up EXIT
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.* 2>/dev/null |
  grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
debootstrap --variant=minbase bookworm "$folder/base" "${mirror:-http://deb.debian.org/debian}" >"$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
cp /etc/apt/apt.conf.d/* "$folder/base/etc/apt/apt.conf.d/"
mkdir -p "$folder/context/packages" "$folder/context/containers"
cp -r "$packages/bookworm" "$folder/context/packages/"
cp containers/Containerfile "$folder/context/containers/"
base=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" copy "$base" "$folder/base" / >/dev/null
buildah "${store[@]}" commit --rm "$base" localhost/base >/dev/null 2>&1
begin=$SECONDS
buildah "${store[@]}" bud --isolation chroot --network host --build-arg BASE=localhost/base -f "$folder/context/containers/Containerfile" \
  -t localhost/roadvision "$folder/context" >"$folder/log" 2>&1 || { tail -n 30 "$folder/log"; exit 1; }
echo "container: built in $((SECONDS - begin)) s, $(buildah "${store[@]}" images --format '{{.Size}}' localhost/roadvision)"
working=$(buildah "${store[@]}" from localhost/roadvision)
run() { buildah "${store[@]}" run --isolation chroot "$working" -- "$@"; }
[ "$(run id -u)" = 1000 ] || { echo 'container: runs as root'; exit 1; }
run roadvision check >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
run roadvision see test --frames 3 --size 320x240 --out /out/test.mkv --json /out/test.jsonl
run sh -c '[ -s /out/test.mkv ] && [ "$(wc -l </out/test.jsonl)" = 3 ] && mkdir -p in/left in/right && for side in left right; do
  gst-launch-1.0 -q videotestsrc pattern=snow num-buffers=2 ! video/x-raw,width=96,height=64,format=RGB ! pngenc ! multifilesink \
    location=in/$side/%d.png; done && roadvision batch in results --what disparity,json && cd results && sha256sum --quiet -c manifest.sha256'
echo 'container: as a user: check, see and batch work'
