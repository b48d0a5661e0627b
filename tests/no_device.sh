#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# no_device.sh PLUGIN_DIR: what users see on a machine without a GPU. Skips (77) where there is a driver.
#  - the plugin loads and every element registers and can be inspected
#  - engine=cuda ends in an error whose text names the cause and the remedy; nothing crashes
#  - engine=auto runs on the CPU
set -uo pipefail
plugins=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GST_PLUGIN_PATH=$plugins GST_REGISTRY=$work/registry.bin GST_DEBUG_NO_COLOR=1 GST_DEBUG=1
bad=0
fail() { echo "FAIL: $*"; bad=1; }

# libcuda.so.1 is the driver's own library.
if ldconfig -p | grep -F libcuda.so.1 >"$work/driver" || [ -e /dev/nvidiactl ]; then
  echo "skipped: this machine has a driver"
  exit 77
fi

gst-inspect-1.0 roadvision >"$work/plugin" 2>&1 || { cat "$work/plugin"; fail "the plugin does not load"; }
elements=$(sed -n 's/^  \([a-z0-9]*\): .*/\1/p' "$work/plugin")
[ -n "$elements" ] || fail "the plugin has no elements"
for e in $elements; do
  gst-inspect-1.0 "$e" >"$work/$e" 2>&1 || fail "gst-inspect-1.0 $e ends with $?"
done

# Runs a pipeline; its output goes to $work/log. end: good, error (gst-launch's own 1 or 255), or
# a crash or a hang with its status.
launch() {
  timeout 60 gst-launch-1.0 "$@" >"$work/log" 2>&1
  end=$?
  case $end in
    0) end=good ;;
    1 | 255) end=error ;;
    *) end="crash or hang ($end)" ;;
  esac
}

matrix() { # NAME ROWS COLUMNS VALUES: as OpenCV writes one
  printf '%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ %s ]\n' "$@"
}

# A stereo camera with lens distortion, 160 x 120 px per view.
{
  printf '%%YAML:1.0\n---\nimage_width: 160\nimage_height: 120\n'
  for camera in 1 2; do
    matrix "M$camera" 3 3 '150., 0., 80., 0., 150., 60., 0., 0., 1.'
    matrix "D$camera" 1 5 '-0.2, 0.05, 0., 0., 0.'
  done
  matrix R 3 3 '1., 0., 0., 0., 1., 0., 0., 0., 1.'
  matrix T 3 1 '-0.1, 0., 0.'
} >"$work/camera.yml"

# Prints the words between the stereo source and the sink for element $1 with engine $2.
chain_of() {
  case $1 in
    cudasgm) echo "cudasgm engine=$2 disparities=32" ;;
    cudarectify) echo "cudarectify calibration=$work/camera.yml engine=$2" ;;
    *) echo "cudasgm engine=cpu disparities=32 ! $1 engine=$2" ;;
  esac
}

source=(videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=320,height=120)
for e in $elements; do
  grep -qE '^  engine +:' "$work/$e" || continue
  # shellcheck disable=SC2046 # words
  launch "${source[@]}" ! $(chain_of "$e" cuda) ! fakesink
  [ "$end" = error ] || fail "$e engine=cuda: $end, expected an error: $(tail -n 5 "$work/log")"
  grep -qi 'ERROR' "$work/log" || fail "$e engine=cuda shows no error"
  # Cause: driver, device or a build without CUDA. Remedy: what to do.
  grep -qiE 'driver|built without CUDA' "$work/log" || fail "$e engine=cuda does not name the cause: $(cat "$work/log")"
  grep -qiE 'engine=(cpu|auto)' "$work/log" || fail "$e engine=cuda does not name the remedy: $(cat "$work/log")"
  echo "$e: $(grep -m1 -i error "$work/log")"

  # shellcheck disable=SC2046
  launch -v "${source[@]}" ! $(chain_of "$e" auto) ! fakesink
  [ "$end" = good ] || fail "$e engine=auto: $end: $(cat "$work/log")"
done
# CUDA caps without a GPU: rejected, not crashed.
launch videotestsrc num-buffers=1 ! 'video/x-raw(memory:CUDAMemory),format=NV12,width=320,height=120' ! cudasgm ! fakesink
[ "$end" = error ] || fail "CUDA caps without a GPU: $end, expected an error"
[ "$bad" = 0 ] && echo "elements: $(echo $elements)"
exit "$bad"
