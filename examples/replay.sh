#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# replay.sh OUT [LINE]: plays a recording of record.sh through the elements of LINE, with the camera and
# the wall-clock times of the recording; examples/replay.py --help has the options.
#   replay.sh drive                                                   stixels as JSON lines
#   replay.sh drive 'cudasgm ! cudaannotate ! videoconvert ! autovideosink'
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" /usr/bin/python3 "$here/replay.py" "$@"
