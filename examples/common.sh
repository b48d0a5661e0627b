#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# common.sh: options, elements and error messages that the pipelines of this folder share. They source it;
# it is not a program. A script sets its own defaults, calls parse_options "$@", fills the array `input`
# (elements up to the frame-packed pair) and calls run_pipeline.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
script=$(basename "$0" .sh)

source='' size=640x480 rate=30 frames='' calibration='' layout='' focal='' baseline=''
elements='cudasgm ! cudaannotate' json='' out='' encoder='' bitrate=8000 print=no
positional=() input=() branches=()

usage() { # the comment at the top of the script, then the options that all scripts have
  awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0"
  cat <<'HELP'

Options of all camera pipelines:
  --source LINE       test: a rendered street instead of the camera; or a launch line up to the frames
  --size WxH          one view of the test source in px (640x480)
  --frames N          end after N frames; otherwise Ctrl-C ends
  --calibration FILE  rectify both views; calibrate.py makes the file
  --focal PX, --baseline M   camera of views that are rectified already
  --layout NAME       packing of the views if it is not detected: side-by-side, top-bottom, ...-right-first
  --elements LINE     analysis and drawing (cudasgm ! cudaannotate)
  --json FILE         every annotation as JSON lines; - is standard output
  --out FILE          .mkv, .mp4: H.264, .avi: motion JPEG, none: no video (default: a window)
  --encoder NAME      nvh264enc, x264enc or openh264enc (default: the first that exists)
  --bitrate KBIT      of H.264 (8000)
  --print             print the pipeline instead of running it
HELP
}

fail() { # MESSAGE: cause and remedy
  printf '%s: %s\n' "$script" "$1" >&2
  exit 1
}

misuse() { # MESSAGE
  printf '%s: %s; --help lists the options\n' "$script" "$1" >&2
  exit 2
}

# Parses the options above; others go to the function own_option of the script, which sets `used` to the
# number of words it has read, or returns 1. What is no option goes to the array `positional`.
parse_options() {
  local used
  while [ $# -gt 0 ]; do
    used=2
    case $1 in
      -h | --help) usage; exit 0 ;;
      --print) print=yes used=1 ;;
      --source | --size | --frames | --calibration | --focal | --baseline | --layout | --elements | \
        --json | --out | --encoder | --bitrate)
        [ $# -ge 2 ] || misuse "$1 needs a value"
        printf -v "${1#--}" %s "$2"
        ;;
      -?*)
        if ! declare -F own_option >/dev/null || ! own_option "$@"; then
          misuse "unknown option $1"
        fi
        ;;
      *) positional+=("$1") used=1 ;;
    esac
    [ $# -ge "$used" ] || misuse "$1 needs a value"
    shift "$used"
  done
  [[ $size =~ ^[1-9][0-9]*x[1-9][0-9]*$ ]] || misuse "--size is $size, must be WIDTHxHEIGHT such as 640x480"
  [[ -z $frames || $frames =~ ^[1-9][0-9]*$ ]] || misuse "--frames is $frames, must be a positive integer"
  [[ $bitrate =~ ^[1-9][0-9]*$ ]] || misuse "--bitrate is $bitrate, must be a number of kbit/s"
  [ -z "$calibration" ] || [ -r "$calibration" ] ||
    fail "cannot read the calibration file $calibration; calibrate.py makes one"
}

at_most() { # N: positional arguments
  [ ${#positional[@]} -le "$1" ] || misuse "unexpected argument ${positional[$1]}"
}

# Without a version gst-inspect-1.0 ignores plugins that count their versions in another way than GStreamer.
has() { gst-inspect-1.0 --exists --atleast-version=0.0 "$1"; }

need() { # ELEMENT PACKAGE
  has "$1" || fail "there is no GStreamer element $1; install $2 (Debian's name), then delete \
~/.cache/gstreamer-1.0/registry.*.bin if it is still not found"
}

# The words of a launch line, as a shell would split it, but without expanding anything.
split() { # ARRAY LINE
  mapfile -t "$1" < <(xargs -n 1 printf '%s\n' <<<"$2")
}

# Elements after a live source: analysis that is slower than the camera skips frames instead of
# building up delay.
newest=(queue leaky=downstream max-size-buffers=1)

# Appends to `input`: a v4l2 camera. Its caps are optional; MJPEG and raw formats are both decoded.
camera() { # DEVICE [CAPS]
  [ -e "$1" ] || fail "no such device: $1; v4l2-ctl --list-devices names those that are there"
  [ -r "$1" ] || fail "no permission to read $1; add the user to its group: $(stat -c %G "$1")"
  need v4l2src gstreamer1.0-plugins-good
  input+=(v4l2src "device=$1" ! ${2:+"$2" !} decodebin ! videoconvert)
}

# Appends to `input`: the rendered street, as many frames as --frames says.
test_street() { # [PROPERTY...]
  local live=false
  [ -n "$out" ] || live=true # in a window at its own speed, else as fast as it can be analyzed
  input+=(stereotestsrc "is-live=$live" ${frames:+"num-buffers=$frames"} "$@" !
    "video/x-raw,width=$((2 * ${size%x*})),height=${size#*x},framerate=$rate/1")
}

# Moves the elements of `input` to `branches`: one of the two cameras of cudastereomux name=mux.
to_mux() { # left|right
  branches+=("${input[@]}" ! queue leaky=downstream max-size-buffers=2 ! "mux.$1")
  input=()
}

# Sets `input` from --source; returns 1 without that option. The functions that a script gives for the
# test source imitate the stream of its camera.
source_option() { # FUNCTION
  case $source in
    '') return 1 ;;
    test) "$1" ;;
    *) split input "$source" ;;
  esac
}

# The first H.264 encoder that exists. Speed and rate of each; live: no delay by reordered frames.
h264() { # ARRAY [live]
  local -n words=$1
  if [ -z "$encoder" ]; then
    for encoder in nvh264enc x264enc openh264enc none; do ! has "$encoder" || break; done
  fi
  case $encoder in
    nvh264enc) words=(nvh264enc "bitrate=$bitrate" ${2:+zerolatency=true}) ;;
    x264enc)
      words=(videoconvert ! video/x-raw,format=I420 ! x264enc "bitrate=$bitrate" speed-preset=veryfast
        ${2:+tune=zerolatency})
      ;;
    openh264enc)
      words=(videoconvert ! video/x-raw,format=I420 ! openh264enc "bitrate=$((1000 * bitrate))")
      ;;
    *) fail "there is no H.264 encoder; install gstreamer1.0-plugins-ugly (x264enc), or use --out FILE.avi" ;;
  esac
  need "$encoder" "gstreamer1.0-plugins-ugly for x264enc, gstreamer1.0-plugins-bad and NVIDIA's driver for nvh264enc"
  words+=(! h264parse)
}

# Sets `end`: from annotated frames to the file or window of --out.
output_end() {
  case $out in
    '')
      [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$print" = yes ] || fail "there is no screen: neither \
DISPLAY nor WAYLAND_DISPLAY is set; write a file with --out FILE.mkv"
      end=(videoconvert ! autovideosink)
      ;;
    none) end=(fakesink sync=false) ;;
    *.mkv) h264 end && end+=(! matroskamux ! filesink "location=$out") ;;
    *.mp4) h264 end && end+=(! mp4mux ! filesink "location=$out") ;;
    *.avi) end=(videoconvert ! jpegenc quality=92 ! avimux ! filesink "location=$out") ;;
    *) misuse "--out is $out, must end in .mkv, .mp4 or .avi, or be none" ;;
  esac
}

# Sets `analysis`: rectification, --elements with the camera's numbers, JSON lines. A script can set
# `properties` for the elements that run on a GPU.
properties=()
analysis_elements() {
  local words word former=!
  split words "$elements"
  analysis=(${calibration:+cudarectify "${properties[@]}" "calibration=$calibration" ${layout:+"layout=$layout"} !})
  for word in "${words[@]}"; do
    analysis+=("$word")
    [[ $former != ! || $word != cuda* ]] || analysis+=("${properties[@]}")
    [ "$word" != cudasgm ] || analysis+=(${focal:+"focal-length=$focal"} ${baseline:+"baseline=$baseline"}
      ${layout:+"layout=$layout"})
    former=$word
  done
  [ -z "$json" ] || analysis+=(! annotationpublish "location=$json")
}

quoted() { # WORD...: as a shell reads them
  local word
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./=,:%+@-]+$ || $word = ! ]]; then printf '%s ' "$word"; else printf '%q ' "$word"; fi
  done
}

# gst-launch-1.0 prints warnings of elements between its own lines on standard output. These go to standard error,
# each with its remedy; Ctrl-C must not end this before the pipeline has ended.
show_warnings() {
  trap '' INT
  awk -v name="$script" '
    /^WARNING: from element/ { sub(/^WARNING: from element [^ ]*: /, ""); print name ": warning: " $0; left = 3; next }
    left > 0 && --left == 0 { print name ": " $0 } { fflush() }' >&2
}

# Runs gst-launch-1.0, in which Ctrl-C ends recordings properly; or prints the line. A script can set
# another program, to which the words of the line are passed.
launcher=()
launch() { # WORD...
  local quiet=''
  [[ " $* " != *' location=- '* ]] || quiet=' -q' # standard output is for JSON
  if [ "$print" = yes ]; then
    printf 'gst-launch-1.0 -e%s %s\n' "$quiet" "$(quoted "$@")"
  elif [ ${#launcher[@]} -gt 0 ]; then
    "${launcher[@]}" "$@"
  else
    { "$here/run.sh" gst-launch-1.0 -e "${@/#location=-/location=/dev/fd/3}" 3>&4 | show_warnings; } 4>&1
  fi
}

# `input`, analysis and `end` in one line. If the encoder is on the GPU, frames stay there.
run_pipeline() { # [END...]: instead of --out
  local end analysis pipeline
  if [ $# -gt 0 ]; then end=("$@"); else output_end; fi
  analysis_elements
  pipeline=("${input[@]}" !)
  # identity lets N - 1 buffers pass
  [ -z "$frames" ] || pipeline+=(identity "eos-after=$((frames + 1))" !)
  [ "${live:-no}" != yes ] || pipeline+=("${newest[@]}" !)
  [ "${end[0]}" != nvh264enc ] || ! has cudaupload ||
    pipeline+=(videoconvert ! video/x-raw,format=NV12 ! cudaupload !)
  launch "${pipeline[@]}" "${analysis[@]}" ! "${end[@]}" "${branches[@]}"
}
