#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record.sh [OPTION...] OUT: roadvision record, which records a stereo pair, its camera and its results.
exec "$(dirname "${BASH_SOURCE[0]}")/run.sh" roadvision record "$@"
