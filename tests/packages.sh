#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packages.sh [quick | SUITE...]: builds the Debian packages of HEAD in a bare Debian (bookworm, trixie; debootstrap, chroot; needs
# root), checks them with lintian, installs them in a second bare system without compilers, runs the autopkgtests there, upgrades
# from the version before, removes them and wants nothing left. Prints sizes and times. Takes 3 GB and 15 minutes per suite.
#   quick        no system: what the packages would contain, checked in this checkout; part of the suite
# PACKAGES_KEEP=DIR keeps the packages; PACKAGES_WORK=DIR keeps the systems that build, for the next run; PACKAGES_CHECK=1 runs the
# tests of the library during the build too (tests/run.sh does). PACKAGES_CUDA=TOOLKIT (/usr/local/cuda) builds with the CUDA engine:
# the toolkit of this machine, read-only, in the system that builds; PACKAGES_CUDA_ARCH=90 instead of all architectures, which take
# half an hour on two cores. PACKAGES_FROM=DIR installs and tests the packages that PACKAGES_KEEP=DIR kept, without a build.
# PACKAGES_PREFIX is put before what is timed, such as nice -n -20. Uses this machine's apt sources.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
fail() { echo "packages: $*" >&2; exit 1; }

# --- quick: every installed file has a package, versions agree, hardening flags ------------------------------
quick() { # BUILD
  local build=$1 folder version date pattern file found
  folder=$(mktemp -d)
  local log=$build/meson-logs/install-log.txt # of an installation that the user made: ninja uninstall reads it
  [ ! -f "$log" ] || cp -p "$log" "$folder/log"
  # shellcheck disable=SC2064
  trap "if [ -f '$folder/log' ]; then cp -p '$folder/log' '$log'; else rm -f '$log'; fi; rm -rf '$folder'" EXIT
  version=$(meson introspect "$build" --projectinfo | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
  head -n 1 debian/changelog | grep -qF "($version-" || fail "debian/changelog is not that of $version"
  grep -qF "__version__ = '$version'" tools/roadvision/__init__.py || fail "tools/roadvision is not $version"
  date=$(date -u -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%F)
  grep -qxF "## $version ($date)" CHANGELOG.md || fail "CHANGELOG.md has no $version of $date"
  grep -qF "\"$version\"" cuda/rv.h || fail "cuda/rv.h is not $version"
  [ "$(tools/bin/roadvision --version)" = "roadvision $version" ] || fail 'roadvision --version'
  grep -qxF ".TH ROADVISION 1 \"$date\" \"gst-roadvision $version\" \"User Commands\"" debian/roadvision.1 ||
    fail "debian/roadvision.1 is not that of $version of $date"
  command_parts
  DESTDIR=$folder/dest meson install -C "$build" --no-rebuild --quiet
  # as debian/rules configures it: prefix /usr
  cat debian/*.install | while read -r pattern; do echo "$pattern"; done >"$folder/patterns"
  (cd "$folder/dest" && find . -type f -o -type l) | sed -E 's|^\./||; s|^usr/local/|usr/|; s|^usr/lib/python3[^/]*/|usr/lib/python3/|;
    s|site-functions|vendor-completions|' >"$folder/files"
  while read -r file; do
    found=no
    while read -r pattern; do
      # shellcheck disable=SC2254
      case $file in $pattern | $pattern/*) found=yes ;; esac
    done <"$folder/patterns"
    [ $found = yes ] || fail "no package has $file"
  done <"$folder/files"
  echo "packages: version $version, $(wc -l <"$folder/files") files have a package"
}
# Help of every command without the typelib, manual page and completion with the commands that there are.
command_parts() {
  local name names
  names=$(tools/bin/roadvision --help | sed -nE 's/^  ([a-z]+)  .*/\1/p')
  [ "$(wc -w <<<"$names")" -gt 5 ] || fail "roadvision --help lists $names"
  for name in $names; do
    env -u GI_TYPELIB_PATH tools/bin/roadvision "$name" --help | grep -q "^usage: roadvision $name\>" || fail "roadvision $name --help"
    grep -qxF ".B $name" debian/roadvision.1 || fail "debian/roadvision.1 has no $name"
  done
  # shellcheck source=/dev/null
  . tools/completion/roadvision.bash
  complete_words() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _roadvision && echo "${COMPREPLY[*]}"; }
  [ "$(complete_words tools/bin/roadvision '')" = "$(echo $names --help --version)" ] || fail 'completion of commands in bash'
  [ "$(complete_words tools/bin/roadvision batch --ov)" = --overlap ] || fail 'completion of options in bash'
  [ "$(complete_words tools/bin/roadvision see --show st)" = stixels ] || fail 'completion of values in bash'
  [ "$(complete_words tools/bin/roadvision see debian/rul)" = debian/rules ] || fail 'completion of files in bash'
  grep -qxF "commands=($(echo $names))" tools/completion/_roadvision || fail 'completion of commands in zsh'
  local printing kinds
  printing=$(for name in $names; do ! tools/bin/roadvision "$name" --help | grep -- '^  --print' >/dev/null || echo "$name"; done)
  grep -qxF "Of $(echo $printing | sed 's/ /, /g; s/\(.*\), /\1 and /'): print the gst-launch-1.0 line instead of running it." \
    debian/roadvision.1 || fail "debian/roadvision.1: --print is of $(echo $printing)"
  kinds=$(tools/bin/roadvision batch --what '' IN OUT 2>&1 | sed -n 's/.*must be a list of \(.*\); .*/\1/p' || true)
  grep -qxF "$kinds." debian/roadvision.1 || fail "debian/roadvision.1: --what of batch is $kinds"
  [ "$(complete_words tools/bin/roadvision batch --what '')" = "${kinds//,/}" ] || fail 'completion of --what in bash'
}
case ${1:-} in
  quick) quick "${RV_BUILD_DIR:-build}"; exit ;;
  -h | --help) sed -n '3,10s/^# \?//p' "${BASH_SOURCE[0]}"; exit ;;
esac

# --- bare systems -------------------------------------------------------------------------------------------
[ "$(id -u)" = 0 ] || fail 'must be root: it mounts and changes its root folders'
command -v debootstrap >/dev/null || { echo 'packages: no debootstrap'; exit 77; }
[ $# -gt 0 ] || set -- bookworm trixie
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.* 2>/dev/null |
  grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
work=${PACKAGES_WORK:-$(mktemp -d "${TMPDIR:-/var/tmp}/packages.XXXXXX")}
mkdir -p "$work"
mounted=()
clean_up() {
  local m
  for m in "${mounted[@]}"; do umount -l "$m" || true; done
  if grep -q " $work/" /proc/mounts; then echo "packages: something is still mounted in $work, it stays" >&2
  elif [ -n "${PACKAGES_WORK:-}" ]; then rm -rf --one-file-system "$work"/*-bare
  else rm -rf --one-file-system "$work"; fi
}
trap clean_up EXIT

system() { # NAME SUITE builds | tests: a bare system in $work/NAME
  local m f
  [ -d "$work/$1/srv" ] || debootstrap --variant=minbase "$2" "$work/$1" "${mirror:-http://deb.debian.org/debian}" >"$work/$1.log" 2>&1 ||
    { tail -n 20 "$work/$1.log"; fail "debootstrap $2"; }
  rm -rf "$work/$1"/srv/*
  cp /etc/resolv.conf /etc/hosts "$work/$1/etc/"
  for f in /etc/apt/apt.conf.d/*; do # those of packages would make dpkg ask
    dpkg -S "$f" >/dev/null 2>&1 || cp "$f" "$work/$1$f"
  done
  for m in proc sys dev dev/pts; do
    mount --bind "/$m" "$work/$1/$m" # bind, since a container may not mount a new proc
    mounted=("$work/$1/$m" "${mounted[@]}")
  done
  if [ "$3" = builds ] && [ -n "${PACKAGES_CUDA:-}" ]; then
    mkdir -p "$work/$1/usr/local/cuda"
    mount --bind "$(readlink -f "$PACKAGES_CUDA")" "$work/$1/usr/local/cuda"
    mount -o remount,ro,bind "$work/$1/usr/local/cuda"
    mounted=("$work/$1/usr/local/cuda" "${mounted[@]}")
  fi
  inside "$1" 'apt-get update -qq'
}
inside() { # NAME SCRIPT
  ${prefix:-} chroot "$work/$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "$2"
}
version=$(dpkg-parsechangelog -S Version 2>/dev/null || sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
upstream=${version%-*}

suite() { # SUITE
  local suite=$1 begin=$SECONDS deb
  build=$suite-build bare=$suite-bare
  if [ -n "${PACKAGES_FROM:-}" ]; then
    mkdir -p "$work/$build/srv"
    cp "$PACKAGES_FROM/$suite"/*.deb "$work/$build/srv/"
    install_test "$suite"
    echo "packages: $suite: success, $((SECONDS - begin)) s"
    return
  fi
  system "$build" "$suite" builds
  git archive --prefix="gst-roadvision-$upstream/" HEAD | tar -x -C "$work/$build/srv"
  (cd "$work/$build/srv" && tar --exclude=debian -cJf "gst-roadvision_$upstream.orig.tar.xz" "gst-roadvision-$upstream")
  inside "$build" "apt-get install -qq --yes --no-install-recommends blhc build-essential devscripts equivs lintian >/dev/null
    cd /srv/gst-roadvision-$upstream
    mk-build-deps --install --remove --tool 'apt-get --yes --no-install-recommends -qq' debian/control >/dev/null 2>&1 ||
      { mk-build-deps --install --remove --tool 'apt-get --yes --no-install-recommends' debian/control; exit 1; }
    [ -n '${PACKAGES_CHECK:-}' ] || export DEB_BUILD_OPTIONS=nocheck
    export CUDA_ARCH=${PACKAGES_CUDA_ARCH:-}
    dpkg-buildpackage --no-sign --jobs=$(nproc) >/srv/build.log 2>&1 || { tail -n 60 /srv/build.log; exit 1; }"
  echo "packages: $suite: system and build $((SECONDS - begin)) s"
  inside "$build" "cd /srv && lintian --fail-on error --tag-display-limit 3 ./*.changes 2>&1 | sed 's/^/lintian: /'"
  (cd "$work/$build/srv" && ls -l ./*.deb | awk '{ printf "packages:   %8.0f kB %s\n", $5 / 1000, $NF }')
  [ -z "${PACKAGES_CUDA:-}" ] || inside "$build" 'cd /srv && dpkg-deb --fsys-tarfile gstreamer1.0-roadvision_*.deb | tar -xO --wildcards \
    "*/libgstroadvision.so" >plugin.so && readelf -d plugin.so | grep libgstcuda >/dev/null || { echo "the plugin has no CUDA caps"; exit 1; }'
  hardening "$build"
  install_test "$suite"
  [ -z "${PACKAGES_KEEP:-}" ] || { mkdir -p "$PACKAGES_KEEP/$suite"; cp "$work/$build"/srv/*.deb "$PACKAGES_KEEP/$suite/"; }
  local m
  for m in "${mounted[@]}"; do umount -l "$m"; done
  mounted=()
  rm -rf --one-file-system "$work/$bare"
  [ -n "${PACKAGES_WORK:-}" ] || rm -rf --one-file-system "$work/$build"
  echo "packages: $suite: success, $((SECONDS - begin)) s"
}

# Every file is compiled with the flags; every library and the plugin: no executable stack, full relro, no paths.
hardening() { # SYSTEM
  ! grep -E '^\[[0-9]+/[0-9]+\] (cc|c\+\+) .* -c ' "$work/$1/srv/build.log" | grep -vE 'fstack-protector-strong.*D_FORTIFY_SOURCE=[23]' | head -n 3 |
    grep . || fail 'files without hardening flags'
  inside "$1" 'cd /srv && blhc --all build.log || { echo "blhc: flags are missing"; exit 1; }'
  inside "$1" 'cd /srv && mkdir -p all && for deb in ./*.deb; do dpkg-deb -x "$deb" all; done
    count=0
    for file in $(find all -name "*.so*" -type f); do
      readelf -Wl "$file" | grep GNU_STACK | grep -q "RW " || { echo "$file has an executable stack"; exit 1; }
      readelf -Wl "$file" | grep -q GNU_RELRO && readelf -Wd "$file" | grep -q BIND_NOW || { echo "$file has no full relro"; exit 1; }
      ! readelf -Wd "$file" | grep -qE "RPATH|RUNPATH|TEXTREL" || { echo "$file has a path or text relocations"; exit 1; }
      count=$((count + 1))
    done
    [ $count -ge 3 ] && echo "packages: hardening of $count libraries: relro, bind-now, no executable stack, no paths; all files: stack protector, fortify; blhc good"'
}

# Another bare system: installed, tested, upgraded, removed.
install_test() { # SUITE
  local begin
  system "$bare" "$1" tests
  mkdir -p "$work/$bare/srv/debs" && cp "$work/$build"/srv/*.deb "$work/$bare/srv/debs/" && rm -f "$work/$bare"/srv/debs/*dbgsym*
  cp -r debian/tests "$work/$bare/srv/tests"
  local prefix=''
  # The version before: the same files with a lower number.
  inside "$bare" "cd /srv && mkdir old && for deb in debs/*.deb; do
    dpkg-deb -R \"\$deb\" tree && sed -i -E 's/$upstream(-[0-9]+)?/0.1.0-1/g' tree/DEBIAN/control && dpkg-deb -b tree old >/dev/null && rm -rf tree; done"
  inside "$bare" 'dpkg-query -W -f "\${Package}\n" | sort >/srv/before; find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /srv -o \
    -path /var -o -path /root -o -path /tmp \) -prune -o -print | sort >/srv/files-before'
  prefix=${PACKAGES_PREFIX:-}
  begin=$SECONDS
  inside "$bare" 'apt-get install -qq --yes --no-install-recommends $(ls /srv/old/*.deb | grep -v -- -dev_) >/srv/old.log 2>&1 || { tail -n 20 /srv/old.log; exit 1; }'
  echo "packages: $1: installed in $((SECONDS - begin)) s, dependencies included, without libroadvision-dev"
  prefix=''
  inside "$bare" 'apt-get install -qq --yes --no-install-recommends /srv/old/*-dev_*.deb >/srv/old.log 2>&1 || { tail -n 20 /srv/old.log; exit 1; }'
  inside "$bare" 'dpkg-query -W -f "\${Version}" libroadvision0 | grep -q ^0.1.0
    apt-get install -qq --yes --no-install-recommends /srv/debs/*.deb >/srv/new.log 2>&1 || { tail -n 20 /srv/new.log; exit 1; }
    dpkg-query -W -f "\${Version}" roadvision | grep -q "^'"$upstream"'"'
  prefix=${PACKAGES_PREFIX:-}
  begin=$EPOCHREALTIME
  inside "$bare" 'roadvision see test --frames 1 --size 1242x375 --out /srv/first.avi && [ -s /srv/first.avi ]'
  echo "packages: $1: from packages to the first still $(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }') s"
  prefix=''
  inside "$bare" 'apt-get install -qq --yes --no-install-recommends gcc gstreamer1.0-tools libc6-dev pkgconf >/dev/null; cd /srv/tests
    for name in pipeline python compile; do ./$name >/srv/$name.log 2>&1 || { cat /srv/$name.log; echo "autopkgtest $name failed"; exit 1; }; done
    echo "packages: autopkgtests pipeline, python, compile: good"
    apt-get purge -qq --yes "*roadvision*" >/dev/null 2>&1 || apt-get purge -qq --yes $(dpkg-query -W -f "\${Package} " "*roadvision*") >/dev/null
    left=$(find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /srv -o -path /var/cache -o -path /var/log -o -path /root -o -path /tmp \) \
      -prune -o -name "*roadvision*" -print)
    [ -z "$left" ] || { echo "left after the removal: $left"; exit 1; }
    echo "packages: removed without leftovers"'
}

for name in "$@"; do suite "$name"; done
