#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# container.sh PACKAGES [cuda]: containers/Containerfile, built with buildah on a base made by debootstrap (no registry), and run as the
# user of the image: the checks, a video, a batch. PACKAGES is the folder that PACKAGES_KEEP of tests/packages.sh filled. Needs root;
# 77 without buildah or debootstrap. 3 minutes, 2 GB.
# cuda: the same of the image that containers/Containerfile.cuda ends with; the packages, of a build with PACKAGES_CUDA, take the place
# of its first stage, which needs NVIDIA's image.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
packages=$(cd "${1:?container.sh PACKAGES [cuda]}" && pwd)
kind=${2:-cpu}
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
# What the slim image of Debian leaves out.
printf 'path-exclude /usr/share/%s/*\n' doc man locale info >"$folder/base/etc/dpkg/dpkg.cfg.d/slim"
rm -rf "$folder"/base/usr/share/{doc,man,locale,info}/* "$folder"/base/var/cache/apt/archives/*.deb "$folder"/base/var/lib/apt/lists/*
cp -r "$packages/bookworm" "$folder/context/packages/"
case $kind in
  cpu) cp containers/Containerfile "$folder/context/containers/" ;;
  cuda) # from the second FROM on
    { echo 'ARG BASE'; sed -n '/^FROM \$BASE/,$p' containers/Containerfile.cuda; } |
      sed 's|^COPY --from=build /\*.deb|COPY packages/bookworm/*.deb|' >"$folder/context/containers/Containerfile" ;;
esac
base=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" copy "$base" "$folder/base" / >/dev/null
buildah "${store[@]}" commit --rm "$base" localhost/base >"$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
begin=$SECONDS
buildah "${store[@]}" bud --isolation chroot --network host --build-arg BASE=localhost/base -f "$folder/context/containers/Containerfile" \
  -t localhost/roadvision "$folder/context" >"$folder/log" 2>&1 || { tail -n 30 "$folder/log"; exit 1; }
echo "container: $kind: built in $((SECONDS - begin)) s, base $(buildah "${store[@]}" images --format '{{.Size}}' localhost/base), image $(buildah "${store[@]}" images --format '{{.Size}}' localhost/roadvision)"
working=$(buildah "${store[@]}" from localhost/roadvision)
run() { buildah "${store[@]}" run --isolation chroot "$working" -- "$@"; }
[ "$(run id -u)" = 1000 ] || { echo 'container: runs as root'; exit 1; }
run roadvision check >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
if [ "$kind" = cuda ]; then
  run sh -c 'gst-inspect-1.0 cudasgm | grep memory:CUDAMemory >/dev/null' || { echo 'container: no CUDA caps'; exit 1; }
  grep -iE 'driver|cuda' "$folder/log" | sed 's/^/container: check: /'
  run sh -c 'echo "container: driver capabilities $NVIDIA_DRIVER_CAPABILITIES, devices $NVIDIA_VISIBLE_DEVICES"'
  run sh -c '[ "$NVIDIA_VISIBLE_DEVICES" = all ]'
fi
run roadvision see test --frames 3 --size 320x240 --out /out/test.mkv --json /out/test.jsonl
run sh -c '[ -s /out/test.mkv ] && [ "$(wc -l </out/test.jsonl)" = 3 ] && mkdir -p in/left in/right && for side in left right; do
  gst-launch-1.0 -q videotestsrc pattern=snow num-buffers=2 ! video/x-raw,width=96,height=64,format=RGB ! pngenc ! multifilesink \
    location=in/$side/%d.png; done && roadvision batch in results --what disparity,json && cd results && sha256sum --quiet -c manifest.sha256'
echo "container: $kind: as a user: check, see and batch work"
