#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# start.sh: what the scripts of this folder start with. They source it; it is not a program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
script=$(basename "$0" .sh)

usage() { # the comment at the top of the script
  awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0"
}

fail() { # MESSAGE: cause and remedy
  printf '%s: %s\n' "$script" "$1" >&2
  exit 1
}

arguments() { # MIN "$@": prints the usage for --help, and for fewer arguments than MIN
  case ${2:-} in -h | --help) usage; exit 0 ;; esac
  [ $(($# - 1)) -ge "$1" ] || { usage >&2; exit 2; }
}

image_size() { # FILE: sets `width` and `height`, as decoders report them
  local caps
  [ -r "$1" ] || fail "cannot read $1"
  caps=$(gst-launch-1.0 -v filesrc "location=$1" ! decodebin ! fakesink name=end |
    sed -n '/end.GstPad:sink: caps/s/.*caps = //p' | tail -n 1)
  width=$(sed -n 's/.*width=(int)\([0-9]*\).*/\1/p' <<<"$caps")
  height=$(sed -n 's/.*height=(int)\([0-9]*\).*/\1/p' <<<"$caps")
  [ -n "$width" ] || fail "$1 is not an image"
}
