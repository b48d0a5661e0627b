#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# folder_to_kitti.sh [OPTION...] LEFT RIGHT OUT: folders of rectified pairs into disparity maps as KITTI has them and
# into JSON; examples/folder_to_kitti.sh --help has the options.
#   folder_to_kitti.sh image_2 image_3 results
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/run.sh" /usr/bin/python3 -B "$here/folder_to_kitti.py" "$@"
