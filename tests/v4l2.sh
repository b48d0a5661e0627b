#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# v4l2.sh: the pipelines on kernel video devices. Boots Debian's kernel with two devices of its test driver vivid in
# qemu (software emulation, no KVM), with the root of this machine read-only, and runs roadvision see and
# record.sh there: the two devices are paired, rectified with a calibration file, matched and recorded; one device
# drops frames; one is unplugged. Checks what the guest has written. Takes 2 to 10 minutes and 500 MB.
# Needs the packages qemu-system-x86, busybox-static, cpio and kmod, and downloads linux-image-amd64.
# V4L2_KERNEL=FOLDER keeps the unpacked kernel there (default: ~/.cache/gst-roadvision/kernel), V4L2_KEEP=FOLDER
# keeps the outputs. Ends with 77 where a package is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${RV_BUILD_DIR:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
for program in qemu-system-x86_64 busybox cpio depmod dpkg-deb; do
  PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
    echo "v4l2: skipped: $program is missing; install qemu-system-x86 busybox-static cpio kmod"
    exit 77
  }
done
PATH=$PATH:/usr/sbin
work=$(mktemp -d)
out=${V4L2_KEEP:-$work/out}
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -rf "${out:?}"/*

# --- Kernel -------------------------------------------------------------------------------------------
kernel=${V4L2_KERNEL:-${XDG_CACHE_HOME:-$HOME/.cache}/gst-roadvision/kernel}
if ! compgen -G "$kernel/boot/vmlinuz-*" >/dev/null; then
  package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
  [ -n "$package" ] || { echo "v4l2: skipped: apt knows no linux-image-amd64"; exit 77; }
  echo "v4l2: downloading $package"
  (cd "$work" && apt-get -o APT::Sandbox::User=root download -qq "$package") || { echo "v4l2: skipped: no download of $package"; exit 77; }
  rm -rf "$kernel.part"
  mkdir -p "$kernel.part"
  dpkg-deb -x "$work"/linux-image-*.deb "$kernel.part"
  rm -rf "$kernel"
  mv "$kernel.part" "$kernel"
fi
version=$(basename "$(ls "$kernel"/boot/vmlinuz-* | tail -n 1)")
version=${version#vmlinuz-}
[ -f "$kernel/lib/modules/$version/modules.dep" ] || depmod -b "$kernel" "$version"

# --- First root: the modules, then the root of this machine -------------------------------------------------
first=$work/first
mkdir -p "$first"/{bin,proc,sys,dev,new,modules}
cp "$(command -v busybox)" "$first/bin/busybox"
# Two webcams each on one input. Without the metadata and output nodes that vivid adds by default.
options='n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x00,0x00'
for module in virtio_pci 9pnet_virtio 9p vivid; do
  modprobe -d "$kernel" -S "$version" --show-depends $module
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/modules"
while read -r module; do cp "$module" "$first/modules/"; done <"$work/modules"
cat >"$first/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for module in $(xargs -n 1 basename <"$work/modules" | tr '\n' ' '); do
  case \$module in vivid.ko*) insmod /modules/\$module $options ;; *) insmod /modules/\$module ;; esac
done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose root /new
mount -t tmpfs tmp /new/tmp; mount -t tmpfs run /new/run; mkdir -p /new/tmp/out
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /new/tmp/out
for d in proc sys dev; do mount --bind /\$d /new/\$d; done
ln -s /proc/self/fd /new/dev/fd
chroot /new /bin/bash /tmp/out/guest.sh >/new/tmp/out/guest.log 2>&1
echo \$? >/new/tmp/out/status
sync; umount /new/tmp/out; poweroff -f
INIT
chmod +x "$first/init"
(cd "$first" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs"

# --- What the guest does --------------------------------------------------------------------------------
# Both devices show the same still image. The rectified right view is shifted by 8 px: the disparity is 8 px.
cat >"$out/camera.yml" <<'YML'
%YAML:1.0
---
image_width: 320
image_height: 180
M1: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ 250., 0., 159.5, 0., 250., 89.5, 0., 0., 1. ] }
D1: !!opencv-matrix { rows: 1, cols: 5, dt: d, data: [ 0., 0., 0., 0., 0. ] }
M2: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ 250., 0., 167.5, 0., 250., 89.5, 0., 0., 1. ] }
D2: !!opencv-matrix { rows: 1, cols: 5, dt: d, data: [ 0., 0., 0., 0., 0. ] }
R: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ] }
T: !!opencv-matrix { rows: 3, cols: 1, dt: d, data: [ -0.12, 0., 0. ] }
R1: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ] }
R2: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ] }
P1: !!opencv-matrix { rows: 3, cols: 4, dt: d, data: [ 250., 0., 159.5, 0., 0., 250., 89.5, 0., 0., 0., 1., 0. ] }
P2: !!opencv-matrix { rows: 3, cols: 4, dt: d, data: [ 250., 0., 159.5, -30., 0., 250., 89.5, 0., 0., 0., 1., 0. ] }
YML
# GStreamer's scan of its plugins takes a minute there: this machine's registry.
"$root/examples/run.sh" bash -c 'GST_REGISTRY=$1 gst-inspect-1.0 cudasgm >/dev/null && export -p' - "$out/registry.bin" |
  grep -E ' (GI_TYPELIB_PATH|GST_PLUGIN_PATH|LD_LIBRARY_PATH|RV_RUN_BUILD)=' >"$out/environment"
cat >"$out/guest.sh" <<GUEST
. /tmp/out/environment
export GST_REGISTRY=/tmp/out/registry.bin GST_REGISTRY_UPDATE=no HOME=/tmp RV_BUILD_DIR=$build PATH=$root/tools/bin:/usr/bin:/bin
cd $root
ls -l /dev/video*
ulimit -c 0
caps=video/x-raw,format=YUY2,width=320,height=180,framerate=10/1
step() { echo "=== \$1 at \$SECONDS s"; }
control() { # DEVICE ID VALUE: VIDIOC_S_CTRL
  python3 -c 'import fcntl, struct, sys
with open(sys.argv[1], "rb") as device:
    fcntl.ioctl(device, 0xc008561c, struct.pack("Ii", int(sys.argv[2], 0), int(sys.argv[3])))' "\$@"
}
step pair
roadvision see --calibration /tmp/out/camera.yml --frames 30 --json /tmp/out/pair.jsonl --out /tmp/out/pair.mkv \\
  --elements 'cudasgm disparities=32 ! annotationpublish payload=base64 location=/tmp/out/payload.jsonl ! cudaannotate' \\
  --caps \$caps /dev/video0 /dev/video1 || exit 1
step drops
gst-launch-1.0 -q cudastereomux name=mux ! identity eos-after=21 ! annotationpublish location=/tmp/out/drops.jsonl ! fakesink \\
  v4l2src device=/dev/video0 ! \$caps ! queue leaky=downstream max-size-buffers=2 ! mux.left \\
  v4l2src device=/dev/video1 extra-controls=c,percentage_of_dropped_buffers=50 ! \$caps ! \\
  queue leaky=downstream max-size-buffers=2 ! mux.right || exit 1
control /dev/video1 0x00f0f042 0 || echo "the share of dropped frames stays"
step unplug
# While it streams: vivid plugs the device in again when its last user closes it.
(until [ "\$(cat /tmp/out/unplug.jsonl 2>/dev/null | wc -l)" -ge 15 ]; do sleep 1; done
  control /dev/video1 0x00f0f041 1 && echo "unplugged at \$SECONDS s") &
examples/record.sh --no-results --left /dev/video0 --right /dev/video1 --caps \$caps /tmp/out/unplug
echo "record.sh ends with \$?"
wait
step end
GUEST

# --- The machine ------------------------------------------------------------------------------------------
echo "v4l2: booting Linux $version"
begin=$SECONDS
timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1500 -display none -no-reboot \
  -nodefaults -serial "file:$out/console.log" \
  -kernel "$kernel/boot/vmlinuz-$version" -initrd "$work/initramfs" \
  -append 'console=ttyS0 quiet panic=1 mitigations=off' \
  -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
  -device virtio-9p-pci,fsdev=root,mount_tag=root \
  -fsdev local,id=out,path="$out",security_model=none -device virtio-9p-pci,fsdev=out,mount_tag=out || {
  echo "v4l2: FAILED: qemu ended with $?"
  tail -n 20 "$out/console.log" "$out/guest.log" 2>/dev/null
  exit 1
}
echo "v4l2: the guest took $((SECONDS - begin)) s"
exec "$root/examples/run.sh" /usr/bin/python3 -B "$root/tests/v4l2_check.py" "$out"
