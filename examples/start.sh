#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# start.sh: what the scripts of this folder start with. They source it; it is not a program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() { # the comment at the top of the script
  awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0"
}

arguments() { # MIN "$@": prints the usage for --help, and for fewer arguments than MIN
  case ${2:-} in -h | --help) usage; exit 0 ;; esac
  [ $(($# - 1)) -ge "$1" ] || { usage >&2; exit 2; }
}
