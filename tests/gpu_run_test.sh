#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpu_run_test.sh: the logic of gpu-run.sh, with programs that only pretend: what it reports as
# good, failed, stale and never run, and its exit status.
set -uo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
export RV_GPU_BUNDLE=$work/bundle RV_GPU_REPORT=$work/none RV_SANITIZE_SECONDS=4 PATH=$work/path:$PATH
mkdir -p "$work/bundle/bin" "$work/bundle/lib" "$work/path"

program() { cat >"$1" && chmod +x "$1"; }
program "$work/bundle/bin/rvcheck" <<'E2'
#!/bin/bash
[ -z "${PRETEND_NO_GPU:-}" ] || { echo "rvcheck: skipped, --engine cuda: no NVIDIA driver"; exit 77; }
echo "rvcheck: CUDA: Pretended GPU"
case $* in
  *none/none*) exit 1 ;;
  *--bench*) echo "bench sgm/1242x375-d128-p4 cuda median_us=250.0 p95_us=260.0"
             echo "bench sgm/1242x375-d128-p8 cuda median_us=500.0 p95_us=560.0" ;;
  *--model*) echo "model vote mean_error=${PRETEND_ERROR:-1.0}%"; [ -z "${PRETEND_ERROR:-}" ] ;;
  *) echo "rvcheck: 10 checks, ${PRETEND_FAILED:-0} failed"; exit "${PRETEND_FAILED:-0}" ;;
esac
E2
program "$work/bundle/bin/contract" <<<'#!/bin/bash
echo "contract: 5 checks, 0 failed"'
program "$work/path/nvidia-smi" <<'E2'
#!/bin/bash
[ "$1" = -L ] || { echo 999.1; exit; }
echo "GPU 0: Pretended GPU"
[ -z "${PRETEND_TWO:-}" ] || echo "GPU 1: Pretended GPU"
E2
program "$work/path/compute-sanitizer" <<'E2'
#!/bin/bash
[ -z "${PRETEND_TWO:-}" ] || [ "${CUDA_VISIBLE_DEVICES:-}" = 1 ] || { echo "========= on the wrong GPU"; exit 9; }
case ${PRETEND_HAZARD:-}$2 in
  yesracecheck) echo "========= RACECHECK SUMMARY: 1 hazard displayed"; exit 9 ;;
  yesinitcheck | slowracecheck) sleep 6 ;;
esac
echo "========= ERROR SUMMARY: 0 errors"
E2
built_from() { printf 'cuda-sources: %s\ncommit: c\nversion: 1\n' "$1" >"$work/bundle/info"; }

expect() { # STATUS [gpu-run's arguments] -- PATTERN...   ('!PATTERN': must not be there)
  local want=$1 arguments=() status p
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do arguments+=("$1"); shift; done
  shift
  bash "$tests/gpu-run.sh" "$work/out" "${arguments[@]}" >"$work/log" 2>&1
  status=$?
  [ "$status" = "$want" ] || { echo "FAIL ${arguments[*]}: status $status, expected $want"; cat "$work/log"; bad=1; }
  for p in "$@"; do
    if [ "${p#!}" != "$p" ]; then
      ! grep -qE -- "${p#!}" "$work/out/gpu-report.txt" || { echo "FAIL ${arguments[*]}: report has ${p#!}"; bad=1; }
    else
      grep -qsE -- "$p" "$work/out/gpu-report.txt" "$work/log" || { echo "FAIL ${arguments[*]}: no $p"; bad=1; }
    fi
  done
}

built_from H1
PRETEND_NO_GPU=yes expect 1 -- 'no usable GPU here, nothing was run: .*no NVIDIA driver'
[ ! -e "$work/out/gpu-report.txt" ] || { echo "FAIL: a report without a GPU"; bad=1; }
expect 2 no-such-part -- 'no part no-such-part'
expect 0 parity sanitize bench -- '^gpu: Pretended GPU$' '^driver: 999.1$' '^cuda-sources: H1$' \
  '^\[parity\] good' '^rvcheck: 10 checks, 0 failed' '^contract: 5' '^\[sanitize\] good' \
  '^initcheck: clean' '^\[bench\] good' '^bench sgm/1242x375-d128-p4 cuda median_us=250.0 p95_us=260.0$' \
  '^sgm/1242x375-d128-p4 +250.0 +300 +120  libSGM 1326 \(5.30\)' 'p8 +500.*above required' '^model vote' '!STALE'
PRETEND_TWO=yes expect 0 parity sanitize bench -- '^--- sanitize, on the second GPU' '^\[parity\] good' '^\[sanitize\] good' \
  '^memcheck: clean' '^racecheck: clean on sgm' '^\[bench\] good'
PRETEND_TWO=yes PRETEND_HAZARD=yes expect 1 parity sanitize -- '^\[sanitize\] FAILED' '^\[parity\] good' '^gpu-run: failed: sanitize$'
PRETEND_ERROR=7 expect 1 bench -- '^\[bench\] FAILED' '^model vote mean_error=7%' '^bench sgm'
expect 0 bench -- '^\[bench\] good'
PRETEND_HAZARD=yes expect 1 sanitize -- '^\[sanitize\] FAILED' '^racecheck: NOT CLEAN \(exit 9\)' \
  'RACECHECK SUMMARY: 1 hazard' '^initcheck: did not finish in [1-4] s' '^synccheck: clean' '^\[parity\] good' '!STALE'
PRETEND_HAZARD=slow expect 1 sanitize -- '^\[sanitize\] FAILED' '^racecheck: did not finish in [1-4] s' \
  '^racecheck: NOT RUN, no time left for vote' '^memcheck: clean'
PRETEND_FAILED=1 expect 1 parity -- '^\[parity\] FAILED' '^rvcheck: 10 checks, 1 failed'
built_from H2
expect 0 parity -- '^cuda-sources: H2$' '^\[parity\] good' '^\[sanitize\] STALE \(other CUDA sources\) FAILED' \
  '^\[bench\] STALE' '^made-from: H1$' '^made-from: H2$' '^bench sgm/1242x375-d128-p4'
expect 0 parity -- '^\[bench\] STALE \(other CUDA sources\) good'
built_from H1
expect 0 parity -- '^\[bench\] good' '!STALE'
[ "$bad" = 0 ] && echo "gpu-run.sh reports what happened"
exit "$bad"
