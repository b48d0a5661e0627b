#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# demo.sh: the main job. Depth from stereo, drawn and recorded: ten seconds of a rendered street by
# default, or images, a video or a camera (demo.sh --help).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" /usr/bin/python3 -B "$here/demo.py" "$@"
