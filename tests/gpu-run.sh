#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpu-run.sh OUTDIR [PART...]: the tests that need a GPU, on a machine that has one, from the bundle
# that tests/gpu-bundle.sh made (RV_GPU_BUNDLE, default .gpu). Parts, each well under 8 minutes:
#   parity    rvcheck and contract on CUDA: both engines bit for bit, two seeds
#   sanitize  compute-sanitizer (memcheck, racecheck, initcheck, synccheck) over rvcheck --small, all
#             of it in RV_SANITIZE_SECONDS (450); on the second GPU, beside the others, if there is one
#   elements  the plugin on CUDA caps
#   bench     medians compared with other implementations
# Without a PART all of them. Writes OUTDIR/gpu-report.txt. A part that did not run keeps the lines
# of the report before (OUTDIR/gpu-report.txt, else docs/gpu-report.txt), marked stale when they were
# made from other CUDA sources. Exit status 0 only when every part that ran is good.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
[ $# -ge 1 ] || { sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
out=$1
shift
all=(parity sanitize elements bench)
for part in "$@"; do
  [[ " ${all[*]} " == *" $part "* ]] || { echo "no part $part; there are: ${all[*]}" >&2; exit 2; }
done
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all[@]}")

bundle=${RV_GPU_BUNDLE:-.gpu}
[ -x "$bundle/bin/rvcheck" ] || {
  echo "gpu-run: no bundle in $bundle; make it with tests/gpu-bundle.sh where the project is built" >&2
  exit 1
}
bundle=$(cd "$bundle" && pwd)
export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin

# A GPU must be there and usable: --list-like call that only asks for the engine.
probe=$("$bundle/bin/rvcheck" --engine cuda --only none/none 2>&1)
gpu=$(printf '%s\n' "$probe" | sed -n 's/^rvcheck: CUDA: //p')
[ -n "$gpu" ] || {
  echo "gpu-run: no usable GPU here, nothing was run: $(printf '%s\n' "$probe" | head -n 1)" >&2
  exit 1
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
sources=$(sed -n 's/^cuda-sources: //p' "$bundle/info")
today=$(date -u +%Y-%m-%d)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$driver" ] || driver=$(sed -n 's/.*Kernel Module[^0-9]*\([0-9.]*\).*/\1/p' /proc/driver/nvidia/version 2>/dev/null | head -n 1)
old=$out/gpu-report.txt
[ -f "$old" ] || old=${RV_GPU_REPORT:-$root/docs/gpu-report.txt}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ ! -f "$old" ] || cp "$old" "$work/old"
touch "$work/old"
log=$work/log
bad=()

# run LIMIT_S COMMAND...: output to the part's log and to the screen; a timeout is said in words.
run() {
  local limit=$1 status
  shift
  timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1
  status=$?
  [ "$status" != 124 ] && [ "$status" != 137 ] ||
    echo "did not finish in $limit s: $(basename "$1")" >>"$log"
  cat "$log"
  return "$status"
}

# Both seeds and the contract at once: much of the time is the CPU engine's.
part_parity() {
  local seed job status=0 jobs=()
  for seed in 1 random; do
    (
      log=$work/log-seed-$seed
      run 300 "$bundle/bin/rvcheck" --engine cuda --seed "$seed"
      status=$?
      grep -E '^(rvcheck: |FAIL|did not)' "$log" | grep -v 'CUDA: ' >"$work/parity-$seed"
      exit "$status"
    ) >"$work/screen-$seed" &
    jobs+=($!)
  done
  run 120 "$bundle/bin/contract" --engine cuda || status=1
  grep -E '^(contract|FAIL)' "$log" >"$work/parity-contract"
  for job in "${jobs[@]}"; do
    wait "$job" || status=1
  done
  cat "$work"/screen-{1,random}
  cat "$work"/parity-{1,random,contract} >"$work/parity"
  return "$status"
}

# sanitize_with TOOL END ALGORITHM: one tool over one algorithm of rvcheck --small, until second END of
# this script; prints the lines of the report.
sanitize_with() {
  local tool=$1 end=$2 name=$3 options=() s left most=300
  local log=$work/log-$tool-$name
  [ "$tool" != memcheck ] || options=(--leak-check full)
  left=$((end - SECONDS))
  [ "$left" -gt 0 ] || {
    echo "$tool: NOT RUN, no time left for $name"
    return 1
  }
  run "$((left < most ? left : most))" compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 \
    --print-limit 5 "$bundle/bin/rvcheck" --engine cuda --small --only "$name" >/dev/null
  s=$?
  [ "$s" = 0 ] && echo "$tool: clean on $name" || echo "$tool: NOT CLEAN (exit $s) on $name"
  grep -E 'SUMMARY|^rvcheck: [0-9]+ checks|did not finish' "$log" | sed "s/^=* */$tool: /"
  [ "$s" = 0 ] || grep -E '^=========' "$log" | head -n 20 | sed "s/^/$tool: /"
  return "$s"
}

# The report with what the sanitizers have so far, FILE..., every 10 seconds, since a run may be ended
# before they are done.
keep_sanitized() {
  [ $((SECONDS - kept)) -ge 10 ] || return 0
  kept=$SECONDS
  cat "$@" >"$work/sanitize"
  {
    echo "[sanitize] INCOMPLETE, $today, $gpu"
    echo "made-from: $sources"
    cat "$work/sanitize"
  } >"$work/section-sanitize"
  write_report
}

# Each tool over each algorithm, as many at once as there are processors: each leaves the GPU idle for
# most of its time, and a slow one does not hide the others.
part_sanitize() {
  local kept=$SECONDS tool name names files=() slots=${RV_SANITIZE_JOBS:-$(nproc)} end=$((SECONDS + ${RV_SANITIZE_SECONDS:-450}))
  command -v compute-sanitizer >/dev/null || {
    echo "no compute-sanitizer on this machine" | tee "$work/sanitize"
    return 1
  }
  mapfile -t names < <(sed -n 's/^RV_[A-Z]*(\(.*\))/\1/p' "$root/cuda/algorithms.def")
  rm -f "$work/sanitize-bad"
  for tool in memcheck synccheck racecheck initcheck; do
    for name in "${names[@]}"; do
      [ "$(jobs -rp | wc -l)" -lt "$slots" ] || { wait -n; keep_sanitized "${files[@]}"; }
      { sanitize_with "$tool" "$end" "$name" || touch "$work/sanitize-bad"; } >"$work/sanitize-$tool-$name" &
      files+=("$work/sanitize-$tool-$name")
    done
  done
  while [ "$(jobs -rp | wc -l)" -gt 0 ]; do
    wait -n
    keep_sanitized "${files[@]}"
  done
  cat "${files[@]}" | tee "$work/sanitize"
  [ ! -e "$work/sanitize-bad" ]
}

part_elements() {
  local status=0 program arguments s
  [ -f "$bundle/gst/env.sh" ] && [ -x "$bundle/bin/gpu_elements" ] || {
    echo "the bundle has no GStreamer runtime or no gpu_elements" | tee "$work/elements"
    return 1
  }
  ( # a subshell: the runtime's paths are for these programs alone
    . "$bundle/gst/env.sh"
    export LD_LIBRARY_PATH=$bundle/lib:$LD_LIBRARY_PATH GST_PLUGIN_PATH=$bundle/plugins
    export GST_REGISTRY_1_0=$work/registry.bin CK_DEFAULT_TIMEOUT=60
    export RV_CALIBRATION_FILES=$bundle/calibration
    for program in "$bundle"/bin/{gpu_elements,pipelines,element_*}; do
      [ -x "$program" ] || continue
      arguments=()
      [ "$(basename "$program")" != pipelines ] || arguments=(--engine cuda)
      run 150 "$program" "${arguments[@]}"
      s=$?
      # A skip is no success here: this machine was asked because it has a GPU.
      [ "$s" = 0 ] || status=1
      { echo "$(basename "$program") ${arguments[*]}: $([ "$s" = 0 ] && echo good || echo "FAILED (exit $s)")"
        grep -E '^(ok|bench|FAIL|elements:|skip|did not|[a-z]+: [0-9]+ checks|[0-9]+%:)' "$log"
        [ "$s" = 0 ] || tail -n 5 "$log"
      } >>"$work/elements"
    done
    exit "$status"
  )
}

# Our medians compared with the baselines, as a table.
compare_baselines() {
  awk '
    FNR == NR { if ($1 !~ /^#/) { must[$1] = $2; goal[$1] = $3; for (i = 4; i <= NF; i++) baseline[$1] = baseline[$1] " " $i }; next }
    $1 == "bench" && $3 == "cuda" && ($2 in must) {
      if (!head++) printf "%-32s %8s %8s %8s  %s\n", "case, us", "ours", "required", "target", "baselines, us on an H200 (times ours)"
      split($4, value, "="); ours = value[2] + 0; text = ""; n = split(baseline[$2], list, " ")
      for (i = 1; i <= n; i++) { split(list[i], pair, "="); text = text sprintf(" %s %s (%.2f)", pair[1], pair[2], pair[2] / ours) }
      printf "%-32s %8.1f %6s %6s %s%s\n", $2, ours, must[$2], goal[$2], text, (ours > must[$2] + 0 ? "  above required" : "")
    }' "$root/tests/gpu-baselines.txt" "$1"
}

# Timed on a part of the GPU too.
small_gpu_rows=sgm/1242x375-d128-p4,sgm/1242x375-d128-p8,sgm/1242x375-default,sgm/1920x1080-default
small_gpu_rows+=,stixels/1242x375-w8s8-fast,rdp/1242x375-median,road/640x480,hough/1080p-picture

part_bench() {
  run 300 "$bundle/bin/rvcheck" --bench --engine cuda
  local status=$?
  grep -E '^(bench |ratio |FAIL|did not)' "$log" >"$work/bench"
  local sms
  for sms in 16 56; do # as on smaller GPUs: rows NAME-smN
    run 60 "$bundle/bin/rvcheck" --bench --engine cuda --sms $sms --only "$small_gpu_rows" || status=$?
    grep -E '^(bench |FAIL|did not)' "$log" >>"$work/bench"
  done
  run 60 "$bundle/bin/rvcheck" --model vote --engine cuda || status=$?
  grep -E '^(model |FAIL|did not)' "$log" >>"$work/bench"
  compare_baselines "$work/bench" >"$work/table"
  cat "$work/table" >>"$work/bench"
  return "$status"
}

# Runs a part and writes its section.
do_part() {
  local part=$1 start=$SECONDS status
  "part_$part"
  status=$?
  [ -s "$work/$part" ] || { echo "FAIL: no output" >"$work/$part"; status=1; }
  {
    echo "[$part] $([ "$status" = 0 ] && echo good || echo FAILED), $today, $gpu, $((SECONDS - start)) s"
    echo "made-from: $sources"
    cat "$work/$part"
  } >"$work/section-$part"
  return "$status"
}

# The lines of a part in the old report; its header says when they are of other sources.
old_section() {
  awk -v part="[$1]" -v now="$sources" '
    index($0, "[") == 1 { on = index($0, part) == 1; if (on) { sub(/ STALE \(other CUDA sources\)/, ""); head = $0; next } }
    on && /^made-from: / { if ($2 != now) sub(/\]/, "] STALE (other CUDA sources)", head); print head; print; next }
    on' "$work/old"
}

# Written after each part, at once: a run that is ended keeps what it has.
write_report() {
  local part section new=$work/report-$BASHPID
  {
    echo "gst-roadvision on a GPU: written by tests/gpu-run.sh, see docs/testing.md"
    echo "gpu: $gpu"
    echo "driver: ${driver:-unknown}"
    echo "date: $today"
    echo "version: $(sed -n 's/^version: //p' "$bundle/info"), commit $(sed -n 's/^commit: //p' "$bundle/info")"
    echo "cuda-sources: $sources"
    for part in "${all[@]}"; do
      echo
      if [ -f "$work/section-$part" ]; then
        cat "$work/section-$part"
      else
        section=$(old_section "$part")
        printf '%s\n' "${section:-[$part] never run}"
      fi
    done
  } >"$new"
  cp "$new" "$out/.gpu-report.txt.$BASHPID" && mv "$out/.gpu-report.txt.$BASHPID" "$out/gpu-report.txt"
}

# With a second GPU the sanitizers run there, beside the other parts, with half of the processors.
beside=
if [ ${#parts[@]} -gt 1 ] && [[ " ${parts[*]} " == *" sanitize "* ]] && [ "$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')" -gt 1 ]; then
  (export CUDA_VISIBLE_DEVICES=1 RV_SANITIZE_JOBS=$((($(nproc) + 1) / 2)); do_part sanitize) >"$work/beside" 2>&1 &
  beside=$!
fi
for part in "${parts[@]}"; do
  [ -z "$beside" ] || [ "$part" != sanitize ] || continue
  # The elements see both GPUs: a test of theirs has a stream on each.
  [ -z "$beside" ] || if [ "$part" = elements ]; then unset CUDA_VISIBLE_DEVICES; else export CUDA_VISIBLE_DEVICES=0; fi
  echo "--- $part"
  do_part "$part" || bad+=("$part")
  write_report
done
if [ -n "$beside" ]; then
  echo "--- sanitize, on the second GPU"
  wait "$beside" || bad+=(sanitize)
  cat "$work/beside"
  write_report
fi

echo "--- $out/gpu-report.txt"
cat "$out/gpu-report.txt"
[ ${#bad[@]} = 0 ] || { echo "gpu-run: failed: ${bad[*]}" >&2; exit 1; }
