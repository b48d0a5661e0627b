#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh COMMAND...: builds what has changed (setup.sh) and runs COMMAND where GStreamer finds the
# plugin, and the shell the command roadvision. The other examples start through this. Within a COMMAND of its own, such as `run.sh bash`, it runs
# commands at once.
. "$(dirname "${BASH_SOURCE[0]}")/start.sh"
arguments 1 "$@"
root=$(dirname "$here")
build=${RV_BUILD_DIR:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
[ "${RV_RUN_BUILD:-}" != "$build" ] || exec "$@"

# A first build shows what it does; later ones speak only when they fail.
if [ -f "$build/build.ninja" ]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  "$root/setup.sh" --use --build-dir "$build" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  rm -f "$log"
  trap - EXIT
else
  "$root/setup.sh" --use --build-dir "$build" >&2
fi

# The variables alone: meson as the parent of COMMAND would end first after Ctrl-C, with a trace.
set +u
eval "$(meson devenv -C "$build" --dump)"
for name in GI_TYPELIB_PATH GST_PLUGIN_PATH LD_LIBRARY_PATH; do
  [ -z "${!name}" ] || export "$name=${!name%:}"
done
export RV_RUN_BUILD=$build PATH="$root/tools/bin:$PATH" PYTHONPATH="$root/tools${PYTHONPATH:+:$PYTHONPATH}"
exec "$@"
