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

# --- annotations: the examples of the documents ------------------------------------------------
# Blocks of a language in docs/annotations.md, one file each.
blocks() { # LANGUAGE PREFIX
  awk -v begin="\`\`\`$1" -v prefix="$2" '
    $0 == begin { count += 1; file = prefix count; next }
    $0 == "```" { file = "" }
    file { print > file }' "$source/docs/annotations.md"
}
if [ -n "$plugin" ]; then
  gst_flags=$(PKG_CONFIG_SYSROOT_DIR= pkg-config --cflags --libs gstreamer-video-1.0)
  own_flags=$(pkg-config --cflags --libs roadvision-gst-0)
  export LD_LIBRARY_PATH=$library GST_PLUGIN_PATH=${plugin%/*} GST_REGISTRY=$root/registry.bin
  blocks c "$root/block"
  mv "$root/block1" "$root/depth.c"
  { printf '#include <roadvision-gst.h>\n#include <string.h>\n' && cat "$root/block2"
    echo 'int main(void) { (void)attach_labels; return 0; }'; } >"$root/labels.c"
  { printf '#include <roadvision-gst.h>\nint main(void) {\nGstBuffer *buffer = gst_buffer_new();\n'
    sed -n '/Read the disparity/,/^ \*\//s/^ \*     //p' "$headers/roadvision-gst.h"
    printf 'return 0; }\n'; } >"$root/header.c"
  for program in depth labels header; do
    # shellcheck disable=SC2086
    gcc -std=c99 -Wall -Wextra -Wno-unused-parameter -Werror "$root/$program.c" -o "$root/$program" \
      $own_flags $gst_flags
  done
  "$root/depth" | grep -c 'px in the center' | grep -qx 5 || { echo "depth.c prints no depths"; exit 1; }
  echo "C examples of annotations.md and roadvision-gst.h compile and run"
  typelib=$(find "$root/dest" -name RoadVision-0.typelib)
  if [ -n "$typelib" ]; then
    blocks python "$root/block"
    GI_TYPELIB_PATH=${typelib%/*} /usr/bin/python3 "$root/block1" >"$root/python.txt"
    [ "$(grep -c 'px in the center, [0-9]* stixels' "$root/python.txt")" = 5 ] ||
      { echo "the Python example prints:"; cat "$root/python.txt"; exit 1; }
    echo "the Python example of annotations.md runs with the installed typelib"
  fi
fi

# --- and away again ---------------------------------------------------------------------------
ninja -C "$build" uninstall >"$root/uninstall.txt"
left=$(find "$root/dest" 2>/dev/null || true)
[ -z "$left" ] || { echo "uninstall left:"; echo "$left"; exit 1; }
echo "uninstall leaves nothing"
