#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# batch.sh [PART...]: roadvision batch at length. Parts: kills, tests/batch_test.py with 30 kills at random moments (RV_SEED) and
# a plan of a million frames; names, a folder of a million names; overlap, 300 frames in chunks, with the overlap that each result
# has by default; rate, a batch compared with the bare pipeline: RV_BATCH_FRAMES
# (1100) in two chunks with the default share of the overlap, RV_BATCH_ROUNDS (2). About 10 minutes on two cores, 3 GB of
# temporary files.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -n "${RV_RUN_BUILD:-}" ] || exec "$root/examples/run.sh" "${BASH_SOURCE[0]}" "$@"
export PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive # for both: a batch sets it
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

[ $# -gt 0 ] || set -- kills names overlap rate
kills() { RV_BATCH_KILLS=30 RV_BATCH_PLAN=1000000 /usr/bin/python3 "$root/tests/batch_test.py"; }

overlap() { RV_BATCH_DRIVE=300 /usr/bin/python3 "$root/tests/batch_test.py" Results.test_overlap; }

names() {
echo "folders of a million names:"
/usr/bin/python3 - <<'PY'
import os
for side in ('left', 'right'):
    os.makedirs('many/' + side)
    folder = os.open('many/' + side, os.O_RDONLY)
    for index in range(1000000):
        os.close(os.open('%09d.png' % index, os.O_CREAT | os.O_WRONLY, dir_fd=folder))
PY
/usr/bin/time -f '%e s, %M KB' roadvision batch many plan --plan
}

rate() {
echo "rate of a batch and of the bare pipeline, 1242x375 (frames/s, and CPU seconds, which other work changes less):"
local frames=${RV_BATCH_FRAMES:-1100} rendered=200 index side one two
gst-launch-1.0 -q stereotestsrc num-buffers=$rendered ! video/x-raw,width=2484,height=375,framerate=10/1 ! videoconvert ! \
  jpegenc quality=90 ! avimux ! filesink location=drive.avi
mkdir left right
gst-launch-1.0 -q filesrc location=drive.avi ! avidemux ! jpegdec ! tee name=t t. ! queue ! videocrop right=1242 ! jpegenc ! \
  multifilesink location=left/%06d.jpg t. ! queue ! videocrop left=1242 ! jpegenc ! multifilesink location=right/%06d.jpg
mkdir in && mv left right in/
for ((index = rendered; index < frames; index++)); do # the same images again
  for side in left right; do printf 'in/%s/%06d.jpg in/%s/%06d.jpg\n' $side $((index % rendered)) $side $index; done
done | xargs -r -n 2 ln
decode() { # SIDE: as in a batch
  echo "multifilesrc location=in/$1/%06d.jpg stop-index=$((frames - 1)) caps=image/jpeg,framerate=10/1 ! jpegdec ! videoconvert ! queue"
}
TIMEFORMAT="%R %U %S"
bare() {
  gst-launch-1.0 -q cudastereomux name=mux layout=side-by-side ! queue ! cudasgm ! cudastixels ! cudaobstacles ! cudalanes ! \
    queue ! annotationpublish location=bare.jsonl overflow=block ! fakesink sync=false $(decode left) ! mux.left $(decode right) ! mux.right
}
for ((round = 1; round <= ${RV_BATCH_ROUNDS:-2}; round++)); do
  one=$({ time bare >/dev/null 2>&1; } 2>&1)
  two=$({ time roadvision batch in "out$round" --what json --jobs 1 --chunk $((frames / 2)) --overlap $((frames / 100)) >/dev/null 2>&1; } 2>&1)
  [ "$(cat "out$round"/json/*.jsonl | wc -l)" = "$frames" ] && [ "$(wc -l <bare.jsonl)" = "$frames" ]
  awk -v n="$frames" '{ printf "  bare %.2f, batch %.2f, ratio %.3f; CPU %.1f and %.1f s, ratio %.3f\n", n / $1, n / $4, $1 / $4,
    $2 + $3, $5 + $6, ($2 + $3) / ($5 + $6) }' <<<"$one $two"
done
}
for part in "$@"; do "$part"; done
