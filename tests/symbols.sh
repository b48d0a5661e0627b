#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh PATTERN FILE: the dynamic symbols that a shared object defines all match PATTERN, an
# extended regular expression over the whole name. At least one must.
set -euo pipefail
pattern=$1 file=$2
# The linker's own three are none of ours.
names=$(nm -D --defined-only "$file" | awk '{print $NF}' | grep -vxE '__bss_start|_edata|_end' | sort -u)
[ -n "$names" ] || {
  echo "$file exports nothing"
  exit 1
}
stray=$(printf '%s\n' "$names" | grep -vxE "$pattern" || true)
if [ -n "$stray" ]; then
  echo "$file exports names that are not $pattern:"
  printf '%s\n' "$stray"
  exit 1
fi
echo "$file: $(printf '%s\n' "$names" | wc -l) names, all $pattern"
