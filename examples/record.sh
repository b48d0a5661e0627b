#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record.sh [OPTION...] OUT: records a stereo pair, its camera and its results: OUT.mkv, OUT.jsonl,
# OUT.mcap. examples/record.sh --help has the options.
#   record.sh drive                                   four seconds of a rendered street
#   record.sh --device /dev/video0 drive              a side-by-side camera, until Ctrl-C
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" /usr/bin/python3 "$here/record.py" "$@"
