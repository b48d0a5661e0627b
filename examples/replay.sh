#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# replay.sh OUT [LINE]: roadvision replay, which plays a recording through the elements of LINE.
exec "$(dirname "${BASH_SOURCE[0]}")/run.sh" roadvision replay "$@"
