#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# versions.sh [SUITE...]: builds with warnings as errors and runs the tests in bare Debian systems:
# bookworm (GStreamer 1.22), trixie (1.26) and sid (the newest), or the SUITEs given. In each:
#   gcc     all options, all tests
#   clang   all options; the suites library and gst
#   least   gcc without OpenMP, introspection, mosquitto and zstd; the suites library and gst
#   scripts gcc with all options, the suite scripts alone; on request, since gcc runs it too
#   old     the plugin and test programs that were built in bookworm run there, and a pipeline per element (not in bookworm)
# The last lines are a table; exit status 0 only if all is good. As root, with debootstrap.
# RV_VERSIONS_DIR: folder of the roots, which are kept and used again (else a temporary one, removed).
# RV_VERSIONS_CONFIGS: some of "gcc clang least old scripts". RV_VERSIONS_QUICK=1: gcc runs the suites library and
# gst alone. RV_VERSIONS_TIMES=N: N times the time limits of the tests, for a busy machine. With RV_DATA the tests that
# need its folder run too; it is mounted read-only. Each root takes about 2.5 GB and, on two idle cores, about 25 minutes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/bare.sh
bare_need versions.sh
[ $# -gt 0 ] || set -- bookworm trixie sid
read -r -a configs <<<"${RV_VERSIONS_CONFIGS:-gcc clang least old}"
folder=${RV_VERSIONS_DIR:-$(mktemp -d "${TMPDIR:-/var/tmp}/versions.XXXXXX")}
checkout=/srv/gst-roadvision # there
table=()
bad=0

clean_up() {
  bare_leave
  [ -n "${RV_VERSIONS_DIR:-}" ] || grep -q " $folder/" /proc/mounts || rm -rf --one-file-system "$folder"
}
trap clean_up EXIT

note() { # SUITE CONFIG STATUS TEXT
  table+=("$(printf '%-9s %-6s %-6s %s' "$1" "$2" "$([ "$3" = 0 ] && echo good || echo FAILED)" "$4")")
  echo "versions: ${table[-1]}"
  [ "$3" = 0 ] || bad=1
}

# The tests of a build folder; prints "N passed, N failed, N skipped" and the names of those that failed.
test_build() { # ROOT BUILD [meson test arguments]
  local root=$1 build=$2 log=$1$checkout/$2/meson-logs/testlog.json
  shift 2
  rm -f "$log"
  bare_run "$root" $checkout env ${RV_DATA:+RV_DATA=/srv/data} ${RV_VERSIONS_TIMES:+CK_TIMEOUT_MULTIPLIER="$RV_VERSIONS_TIMES"} \
    meson test -C "$build" --no-rebuild ${RV_VERSIONS_TIMES:+--timeout-multiplier "$RV_VERSIONS_TIMES"} "$@" >"$root/$build.tests" 2>&1
  python3 - "$log" <<'PY'
import collections, json, sys
results = [json.loads(line) for line in open(sys.argv[1])]
count = collections.Counter(r["result"] for r in results)
bad = [r["name"] for r in results if r["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")]
print("%d passed, %d failed, %d skipped %s" % (count["OK"] + count["EXPECTEDFAIL"], len(bad), count["SKIP"], " ".join(bad)))
sys.exit(bool(bad) or not count["OK"])
PY
}

# Configures, builds with warnings as errors, tests.
run_config() { # SUITE ROOT CONFIG CC CXX TEST_ARGUMENTS OPTION...
  local suite=$1 root=$2 config=$3 cc=$4 cxx=$5 arguments=$6 text status
  shift 6
  local compiler targets
  compiler=$(bare_run "$root" / "$cc" -dumpfullversion -dumpversion 2>&1 | head -n 1)
  bare_run "$root" $checkout env CC="$cc" CXX="$cxx" meson setup "build-$config" -Dwerror=true \
    -Dcuda=disabled "$@" >"$root/build-$config.log" 2>&1 &&
    targets=$([ -z "$arguments" ] && echo all meson-test-prereq ||
      bare_run "$root" $checkout tests/targets.py "build-$config" $arguments 2>>"$root/build-$config.log") &&
    bare_run "$root" $checkout ninja -C "build-$config" -k 0 $targets >>"$root/build-$config.log" 2>&1
  status=$?
  if [ "$status" != 0 ]; then
    grep -E 'error|ERROR' "$root/build-$config.log" | head -n 20
    note "$suite" "$config" 1 "$cc $compiler: does not build"
    return
  fi
  text=$(test_build "$root" "build-$config" $arguments)
  note "$suite" "$config" $? "$cc $compiler: $text"
}

# One pipeline per element; prints the names of those that fail.
launch_each() { # CHECKOUT
  local name failed='' line pair='stereotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=640,height=240'
  for name in $(sed -n 's/^RV_ELEMENT(\([a-z]*\),.*/\1/p' "$1/gst/elements.def"); do
    case $name in
      stereotestsrc) line="$pair ! fakesink" ;;
      cudastereomux) line='cudastereomux name=m ! fakesink videotestsrc num-buffers=3 ! m.left videotestsrc num-buffers=3 ! m.right' ;;
      cudarectify) line="stereotestsrc num-buffers=2 ! video/x-raw,width=1280,height=480 ! cudarectify calibration=$1/tests/fuzz/corpus/calibration/opencv.yml ! fakesink" ;;
      cudasgm) line="$pair ! cudasgm ! fakesink" ;;
      cudahough) line="videotestsrc num-buffers=2 ! cudahough ! fakesink" ;;
      semanticsattach) line="semanticsattach name=s ! fakesink videotestsrc num-buffers=2 ! s.sink videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8 ! s.labels" ;;
      annotationpublish) line="$pair ! cudasgm ! cudastixels ! annotationpublish location=/tmp/each.jsonl ! fakesink" ;;
      *) line="$pair ! cudasgm ! $name ! fakesink" ;;
    esac
    timeout 60 gst-launch-1.0 -q $line >/tmp/each.log 2>&1 && ! grep -q WARN /tmp/each.log || failed="$failed $name"
  done
  echo "$failed"
}

# Programs of bookworm's build, and a pipeline per element, with this system's GStreamer.
run_old() { # SUITE ROOT
  local suite=$1 root=$2 old=$folder/bookworm$checkout/build-gcc program passed=0 failed="" skipped=0 status
  [ -f "$old/gst/libgstroadvision.so" ] || { note "$suite" old 1 "no build of bookworm in $folder"; return; }
  rm -rf "$root/srv/old"
  mkdir -p "$root/srv/old/tests" "$root/srv/old/gst/annotations" "$root/srv/old/cuda"
  cp -L "$old"/gst/libgstroadvision.so "$root/srv/old/gst/"
  cp -L "$old"/gst/annotations/libroadvision-gst-0.so.0 "$root/srv/old/gst/annotations/"
  cp -L "$old"/cuda/libroadvision-0.so.0 "$root/srv/old/cuda/"
  for program in "$old"/tests/elements/*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    cp "$program" "$root/srv/old/tests/"
    program=$(basename "$program")
    bare_run "$root" /srv/old env GST_PLUGIN_PATH=/srv/old/gst GST_REGISTRY=/tmp/old.bin GST_TRACERS=leaks \
      LD_LIBRARY_PATH=/srv/old/cuda:/srv/old/gst/annotations CK_DEFAULT_TIMEOUT=120 \
      RV_CALIBRATION_FILES=$checkout/tests/fuzz/corpus/calibration timeout 300 "tests/$program" \
      $([ "$program" != pipelines ] || echo --engine cpu) >"$root/old.log" 2>&1
    status=$?
    case $status in
      0) passed=$((passed + 1)) ;;
      77) skipped=$((skipped + 1)) ;;
      *) failed="$failed $program" && tail -n 5 "$root/old.log" ;;
    esac
  done
  program=$(bare_run "$root" /srv/old env GST_PLUGIN_PATH=/srv/old/gst GST_REGISTRY=/tmp/old.bin \
    LD_LIBRARY_PATH=/srv/old/cuda:/srv/old/gst/annotations bash -c "$(declare -f launch_each); launch_each $checkout")
  [ -z "$program" ] || failed="$failed pipelines of:$program"
  [ -z "$failed" ] && [ "$passed" != 0 ]
  note "$suite" old $? "built with GStreamer 1.22: $passed passed, $(wc -w <<<"$failed") failed, $skipped skipped; \
$(grep -c '^RV_ELEMENT(' gst/elements.def) elements, a pipeline each$failed"
}

for suite in "$@"; do
  root=$folder/$suite
  echo "versions: $suite in $root"
  bare_make "$suite" "$root" || { note "$suite" - 1 "debootstrap failed"; continue; }
  [ -z "${RV_DATA:-}" ] || bare_bind "$RV_DATA" "$root/srv/data"
  rm -rf "$root$checkout"
  bare_run "$root" / sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git' >"$root/setup.log" 2>&1
  git clone --quiet --no-hardlinks . "$root$checkout" &&
    bare_run "$root" $checkout sh -c '$(./setup.sh --no-install --tests | sed -n /apt-get/p)' >>"$root/setup.log" 2>&1 ||
    { tail -n 20 "$root/setup.log"; note "$suite" - 1 "packages"; continue; }
  note "$suite" system 0 "commit $(git rev-parse --short HEAD), GStreamer $(bare_run "$root" / pkg-config --modversion gstreamer-1.0)"
  clang=clang
  [ -x "$root/usr/bin/clang" ] || clang=clang-14
  some="--suite library --suite gst --no-suite once"
  for config in "${configs[@]}"; do
    case $config in
      gcc) run_config "$suite" "$root" gcc gcc g++ "$([ -z "${RV_VERSIONS_QUICK:-}" ] || echo "$some")" ;;
      clang) run_config "$suite" "$root" clang $clang "${clang/clang/clang++}" "$some" ;;
      least) run_config "$suite" "$root" least gcc g++ "$some" -Dopenmp=disabled -Dintrospection=disabled \
        -Dmosquitto=disabled -Dzstd=disabled ;;
      scripts) run_config "$suite" "$root" scripts gcc g++ '--suite scripts' ;;
      old) [ "$suite" = bookworm ] || run_old "$suite" "$root" ;;
      *) note "$suite" "$config" 1 "no such configuration" ;;
    esac
  done
  bare_leave "$root/"
done
echo
printf '%s\n' "${table[@]}"
exit $bad
