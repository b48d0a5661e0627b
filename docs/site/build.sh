#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh [--install] OUT: the documents as a site with a search, in OUT/html. Warnings are errors. Needs Debian's packages
# python3-sphinx, python3-myst-parser and python3-sphinx-rtd-theme; --install installs them. 77 without them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ "${1:-}" = --install ]; then
  shift
  apt-get install --yes --no-install-recommends python3-sphinx python3-myst-parser python3-sphinx-rtd-theme
fi
case ${1:-} in '' | -h | --help) sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"; exit 2 ;; esac
/usr/bin/python3 -c 'import sphinx, myst_parser, sphinx_rtd_theme' 2>/dev/null || {
  echo 'site: install python3-sphinx python3-myst-parser python3-sphinx-rtd-theme'
  exit 77
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -rf "$out/source" "$out/html"
mkdir "$out/source"
# What the documents link to is there too: links to sources become downloads.
cd "$root"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$out/source" 2>/dev/null || true
cd "$out/source"
/usr/bin/python3 -B docs/site/api.py
cp docs/site/conf.py conf.py
/usr/bin/python3 -B -m sphinx -q -W --keep-going -b html . "$out/html"
rm -rf "$out/source"
echo '<!DOCTYPE html><meta http-equiv=refresh content="0; url=docs/site/index.html">' >"$out/html/index.html"
echo "site: $(find "$out/html" -name '*.html' | wc -l) pages in $out/html; start at index.html"
