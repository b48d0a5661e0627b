#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh BUILD [SOURCE]: installs into an empty folder as a packager does, uses what was
# installed (headers one by one as C99 and C++17, a program through pkg-config, the plugin through
# gst-inspect-1.0), takes it away again and wants nothing left.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "${2:-$(dirname "${BASH_SOURCE[0]}")/..}" && pwd)
root=$(mktemp -d)
log=$build/meson-logs/install-log.txt
# The log of an installation that the user made is what `ninja uninstall` reads: it is kept.
[ ! -f "$log" ] || cp -p "$log" "$root/log"
restore() {
  if [ -f "$root/log" ]; then cp -p "$root/log" "$log"; else rm -f "$log"; fi
  rm -rf "$root"
}
trap restore EXIT
DESTDIR=$root/dest meson install -C "$build" --no-rebuild --quiet

prefix=$(meson introspect "$build" --buildoptions |
  python3 -c 'import json,sys; print([o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"][0])')
pc=$(find "$root/dest" -name roadvision-0.pc)
[ -n "$pc" ] || { echo "roadvision-0.pc was not installed"; exit 1; }
library=$(dirname "$(find "$root/dest" -name 'libroadvision-0.so')")
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root/dest
flags=$(pkg-config --cflags roadvision-0)
libs=$(pkg-config --libs roadvision-0)

# --- headers ----------------------------------------------------------------------------------
headers=$root/dest$prefix/include/roadvision-0
count=0
while read -r h; do
  extra=
  # Headers for GStreamer programs need GStreamer's.
  ! grep -q '<gst/' "$headers/$h" || extra=$(PKG_CONFIG_SYSROOT_DIR= pkg-config --cflags gstreamer-video-1.0)
  printf '#include "%s"\n' "$h" >"$root/one.c"
  gcc -std=c99 -Wall -Wextra -Wpedantic -Werror $flags $extra -fsyntax-only "$root/one.c"
  g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror $flags $extra -x c++ -fsyntax-only "$root/one.c"
  count=$((count + 1))
done < <(cd "$headers" && find . -name '*.h' | sed 's|^\./||' | sort)
[ "$count" -gt 1 ] || { echo "only $count headers were installed in $headers"; exit 1; }
echo "$count headers compile alone as C99 and C++17"

# --- a program --------------------------------------------------------------------------------
cat >"$root/use.c" <<'C'
#include <stdio.h>
#include "rv.h"
int main(void) {
  printf("roadvision %s\n", rv_version());
  return 0;
}
C
for program in "$root/use.c" "$source/examples/plain_c.c"; do
  [ -f "$program" ] || continue
  gcc -std=c99 -Wall -Wextra "$program" $flags $libs -lm -o "$root/program"
  # Not in a pipe: grep -q ends early and pipefail would take ldd's broken pipe for a failure.
  LD_LIBRARY_PATH=$library ldd "$root/program" >"$root/ldd.txt"
  grep -q "libroadvision-0.so.0 => $library/" "$root/ldd.txt" ||
    { echo "$(basename "$program") does not use the installed library"; exit 1; }
  [ "$program" != "$root/use.c" ] || LD_LIBRARY_PATH=$library "$root/program"
  echo "$(basename "$program") compiles through pkg-config"
done

# --- the plugin -------------------------------------------------------------------------------
plugin=$(find "$root/dest" -name libgstroadvision.so)
if [ -n "$plugin" ]; then
  LD_LIBRARY_PATH=$library GST_PLUGIN_PATH=${plugin%/*} GST_REGISTRY=$root/registry.bin \
    gst-inspect-1.0 cudasgm >"$root/inspect.txt"
  grep -q "Filename *${plugin}" "$root/inspect.txt" ||
    { echo "gst-inspect-1.0 found another cudasgm:"; grep Filename "$root/inspect.txt"; exit 1; }
  echo "gst-inspect-1.0 finds cudasgm in the installed plugin"
fi

# --- and away again ---------------------------------------------------------------------------
ninja -C "$build" uninstall >"$root/uninstall.txt"
left=$(find "$root/dest" 2>/dev/null || true)
[ -z "$left" ] || { echo "uninstall left:"; echo "$left"; exit 1; }
echo "uninstall leaves nothing"
