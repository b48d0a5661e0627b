# SPDX-License-Identifier: MIT
# bare.sh: a bare Debian in a folder, for scripts that source this file (bash, as root).
#   bare_make SUITE ROOT                 debootstrap, unless ROOT is one already; this machine's mirror
#   bare_run ROOT FOLDER COMMAND [ARG...]   runs the command in a folder there
#   bare_bind FOLDER PLACE               mounts a folder of this machine read-only, until bare_leave
#   bare_leave [ROOT]                    unmounts what bare_make has mounted (of that root alone)
# Nothing here removes a root.

bare_mounted=()

bare_need() {
  [ "$(id -u)" = 0 ] || { echo "$1 must be root: it mounts and changes its root folder" >&2; exit 2; }
  command -v debootstrap >/dev/null || { echo "$1 needs the package debootstrap" >&2; exit 2; }
}

bare_mirror() {
  local mirror
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.* 2>/dev/null |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)
  echo "${mirror:-http://deb.debian.org/debian}"
}

bare_make() {
  local suite=$1 root=$2 f m
  if [ ! -x "$root/usr/bin/apt-get" ]; then
    mkdir -p "$root"
    debootstrap --variant=minbase "$suite" "$root" "$(bare_mirror)" >"$root.log" 2>&1 ||
      { tail -n 20 "$root.log"; return 1; }
    rm -f "$root.log"
  fi
  chmod 755 "$root" # mktemp's is closed to the other users there
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  for f in /etc/apt/apt.conf.d/*; do
    [ ! -f "$f" ] || cp "$f" "$root$f"
  done
  # A mirror may be a snapshot whose Release file has expired.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99bare"
  for m in proc sys dev dev/pts; do
    grep -q " $root/$m " /proc/mounts || mount --bind "/$m" "$root/$m" # bind: a container may not mount a new proc
    bare_mounted=("$root/$m" "${bare_mounted[@]}")
  done
}

bare_bind() {
  mkdir -p "$2"
  mount --bind "$1" "$2"
  bare_mounted=("$2" "${bare_mounted[@]}")
  mount -o remount,ro,bind "$2"
}

bare_run() {
  local root=$1 folder=$2
  shift 2
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    OMP_WAIT_POLICY=passive ${RV_FUZZ_SECONDS:+RV_FUZZ_SECONDS=$RV_FUZZ_SECONDS} \
    bash -c 'cd "$0" && exec "$@"' "$folder" "$@"
}

bare_leave() {
  local m left=()
  for m in "${bare_mounted[@]}"; do
    case $m in
      "${1:-}"*) umount -l "$m" || true ;;
      *) left+=("$m") ;;
    esac
  done
  bare_mounted=("${left[@]}")
}
