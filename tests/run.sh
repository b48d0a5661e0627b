#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/run.sh [STEP...]: all tests, from a bare machine on. Steps, in this order:
#   main      setup.sh's build and its tests
#   nocuda    the version without nvcc (when main has it), warnings as errors, and its tests
#   sanitize  library, elements and tests under the address and undefined-behavior sanitizers
#   fuzz      libFuzzer targets: the seed corpus, then a few seconds of search each
#   format    clang-format
#   architectures  on request: CUDA code for all architectures, size of the library
#   emulate   on request: kernels in the emulator under the address and undefined-behavior sanitizers
# The tests of a step run while the next steps are built at low priority, so that tests that wait leave no
# processor idle. The last line is always "N passed, N failed, N skipped". RV_DATA names a folder with real
# stereo pairs for the quality test; RV_FUZZ_SECONDS (4) is the time of one fuzz target. CI=true makes
# warnings errors in every build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMP_WAIT_POLICY=passive # tests run side by side; spinning threads would hold each other up
export CCACHE_NOHASHDIR=1      # where meson finds ccache, a file is compiled once for all builds with equal flags

passed=0 failed=0 skipped=0
failures=()
took=()

say() { printf '\n=== %s\n' "$*"; }

# One result without a test framework: record NAME STATUS, 77 being a skip.
record() {
  case $2 in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) && echo "skipped: $1" ;;
    *) failed=$((failed + 1)) && failures+=("$1") && echo "FAILED: $1" ;;
  esac
}

# Runs meson's tests of a build folder and adds up what its log says.
meson_tests() { # BUILD [meson test arguments]
  local build=$1 log=$1/meson-logs/testlog.json p f s names status
  shift
  rm -f "$log"
  meson test -C "$build" --no-rebuild --num-processes $(($(nproc) + 1)) --print-errorlogs "$@"
  status=$?
  if [ ! -s "$log" ]; then
    record "$build: meson test gave no log (status $status)" 1
    return
  fi
  { read -r p f s; read -r names; } < <(
    python3 - "$log" <<'PY'
import json, sys
results = [json.loads(line) for line in open(sys.argv[1])]
good = [r for r in results if r["result"] in ("OK", "EXPECTEDFAIL")]
skip = [r for r in results if r["result"] == "SKIP"]
bad = [r["name"] for r in results if r not in good and r not in skip]
print(len(good), len(bad), len(skip))
print(" ".join(bad))
PY
  )
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ "$f" = 0 ] || failures+=("$build: $names")
  [ "$status" = 0 ] || [ "$f" != 0 ] || record "$build: meson test ended with $status" 1
}

# Configures a build folder once.
configure() { # BUILD COMPILER_PREFIX_ENV... -- meson options
  local dir=$1 environment=()
  shift
  while [ "$1" != -- ]; do
    environment+=("$1")
    shift
  done
  shift
  [ -f "$dir/build.ninja" ] || env "${environment[@]}" meson setup "$dir" "$@"
}

compile() { # BUILD [TARGET...]
  local dir=$1
  shift
  ninja -C "$dir" -j "$(nproc)" "$@"
}

has_cuda() { grep -qs 'RV_HAVE_CUDA 1' "$1/cuda/rv_config.h"; }

# The compiler of the fuzz targets, which setup.sh installs, and the build for the sanitizers.
clang() { command -v clang-14 || command -v clang; }
sanitized() { if clang >/dev/null; then echo build-fuzz; else echo build-sanitize; fi; }

# --- builds: build_STEP ends with the status of the build ---------------------------------------

build_main() {
  local options=()
  if [ "${CI:-}" = true ]; then
    options=(-Dwerror=true -Dcuda-arch=75,90)
    # Where no kernel can run, all of nvcc's checks, without most of its optimization.
    nvidia-smi -L 2>/dev/null | grep -q '^GPU' || options+=(-Dcuda-optimize=false)
  fi
  # What tests alone need is not in the default target of newer versions of meson.
  ./setup.sh --tests --build-dir build "${options[@]}" && compile build meson-test-prereq
}

# Without what only tests need that run in the main build alone, such as the emulator.
build_nocuda() {
  local targets
  if ! has_cuda build; then
    echo "the main build is the one without CUDA"
    return 77
  fi
  configure build-nocuda -- -Dcuda=disabled -Dintrospection=disabled -Dwerror=true &&
    targets=$(tests/targets.py build-nocuda --no-suite once) && compile build-nocuda $targets
}

# One build for the sanitizers and the fuzz targets, by clang; without clang by gcc, without fuzz targets. Of
# the debugging information lines alone, for the reports: the rest takes a quarter of the compile time.
build_sanitize() {
  local dir compiler
  local options=(-Dcuda=disabled -Dwerror=true -Dexamples=disabled -Doptimization=1 -Dc_args=-g1 -Dcpp_args=-g1
    -Db_lundef=false -Db_sanitize=address,undefined)
  dir=$(sanitized)
  if compiler=$(clang); then
    configure "$dir" CC="$compiler" CXX="${compiler/clang/clang++}" -- -Dfuzz=enabled "${options[@]}"
  else
    configure "$dir" -- "${options[@]}"
  fi && compile "$dir"
}

build_fuzz() {
  clang >/dev/null || { echo "no clang here"; return 77; }
  build_sanitize
}

# --- tests: step_STEP runs what was built --------------------------------------------------------

step_main() { meson_tests build; }

# The CPU engine is compiled from the same files as in the main build, where all of its cases run.
step_nocuda() {
  meson_tests build-nocuda --no-suite once --no-suite engine
  build-nocuda/tests/rvcheck --engine cpu --small
  record "nocuda: rvcheck --small" $?
}

step_sanitize() {
  local build asan=strict_string_checks=1:detect_stack_use_after_return=1
  build=$(sanitized)
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
  ASAN_OPTIONS=$asan meson_tests "$build" --suite library --timeout-multiplier 4
  # The elements' programs carry the sanitizer into GStreamer's process, so its scanner must not
  # be another one. GLib keeps memory to the end; there the leaks tracer looks for leaks.
  [ ! -f "$build/gst/libgstroadvision.so" ] || GST_REGISTRY_FORK=no \
    ASAN_OPTIONS=$asan:detect_leaks=0 meson_tests "$build" --suite gst --timeout-multiplier 4
  unset UBSAN_OPTIONS LSAN_OPTIONS
}

# Searches for RV_FUZZ_SECONDS; leaves NAME.log and NAME.status. Several run side by side.
fuzz_target() { # TARGET
  local name work=build-fuzz/work
  name=$(basename "$1")
  mkdir -p "$work/$name"
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 "build-fuzz/$1" \
    -max_total_time="${RV_FUZZ_SECONDS:-4}" -max_len=4096 -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=0 -verbosity=0 -artifact_prefix="$work/" \
    "$work/$name" $(ls -d "tests/fuzz/corpus/${name#fuzz_}" 2>/dev/null) >"$work/$name.log" 2>&1
  echo $? >"$work/$name.status"
}
export -f fuzz_target

step_fuzz() {
  local targets target name
  mapfile -t targets < <(ninja -C build-fuzz -t targets all | sed -n 's/^\(tests\/fuzz\/fuzz_[a-z_]*\): .*/\1/p')
  if [ ${#targets[@]} = 0 ]; then
    record "fuzz: no targets" 1
    return
  fi
  printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -n 1 bash -c 'fuzz_target "$1"' fuzz
  for target in "${targets[@]}"; do
    name=$(basename "$target")
    cat "build-fuzz/work/$name.log"
    record "fuzz: $name" "$(cat "build-fuzz/work/$name.status")"
  done
}

step_format() {
  local tool
  tool=$(command -v clang-format-14) || {
    echo "no clang-format-14 here"
    record "format" 77
    return
  }
  git ls-files -z '*.c' '*.h' '*.cu' '*.cuh' | xargs -0 "$tool" --dry-run -Werror
  record "format" $?
}

# CUDA code for every supported architecture, as in packages; minutes of nvcc, so on request only.
step_architectures() {
  ./setup.sh --build-dir build-all -Dcuda-arch=all -Dwerror=true
  local status=$?
  if [ "$status" = 0 ] && ! has_cuda build-all; then
    record "architectures: no nvcc here" 77
    return
  fi
  record "build-all: build" "$status"
  [ "$status" = 0 ] || return
  local mib
  mib=$(($(stat -Lc %s build-all/cuda/libroadvision-0.so) / 1048576))
  echo "libroadvision-0.so with all architectures: $mib MiB"
  [ "$mib" -le 40 ]
  record "architectures: at most 40 MiB" $?
}

# Reads beside an array that a GPU does not notice, and addresses that are not aligned; several minutes each.
build_emulate() {
  configure build-emulate -- -Dcuda=disabled -Dintrospection=disabled -Dexamples=disabled -Db_lundef=false \
    -Db_sanitize=address,undefined --buildtype=debugoptimized && compile build-emulate tests/emulate/rvcheck-emulated
}

step_emulate() {
  local check=build-emulate/tests/emulate/rvcheck-emulated algorithm
  for algorithm in $("$check" --list); do
    ASAN_OPTIONS=detect_leaks=0 \
      UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:suppressions=$PWD/tests/ubsan.supp \
      "$check" --small --only "$algorithm"
    record "emulate: $algorithm" $?
  done
}

steps=(main nocuda sanitize fuzz format)
for step in "$@"; do
  [[ " ${steps[*]} architectures emulate " == *" $step "* ]] || {
    echo "unknown step $step; there are: ${steps[*]}" >&2
    exit 2
  }
done
[ $# = 0 ] || steps=("$@")

# The builds of all steps, one after the other; a line "STEP STATUS" for each.
build_all() {
  local step
  for step in "${steps[@]}"; do
    declare -F "build_$step" >/dev/null || continue
    "build_$step" >"$logs/$step.log" 2>&1 </dev/null
    echo "$step $?"
    renice -n 10 "$BASHPID" >/dev/null # from now on beside tests
  done
}

logs=$(mktemp -d)
trap 'kill "$builder" 2>/dev/null; rm -rf "$logs"' EXIT
exec 3< <(build_all)
builder=$!

for step in "${steps[@]}"; do
  say "$step"
  start=$SECONDS
  status=0
  if declare -F "build_$step" >/dev/null; then
    read -r built status <&3 && [ "$built" = "$step" ] || status=1
    cat "$logs/$step.log"
    record "$step: build" "$status"
  fi
  [ "$status" != 0 ] || "step_$step"
  took+=("$step $((SECONDS - start)) s")
done

say "summary"
printf 'time: %s\n' "$(IFS=,; echo "${took[*]}")"
for f in "${failures[@]}"; do printf 'FAILED: %s\n' "$f"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
