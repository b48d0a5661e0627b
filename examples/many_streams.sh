#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# many_streams.sh [OPTION...] [INPUT...]: several streams in one process, on one GPU or distributed over several;
# stream N writes its annotations to PREFIX-N.jsonl. Prints frames and rate of each.
#   many_streams.sh --streams 8 --frames 300 test                         eight streams, one GPU
#   many_streams.sh --devices 0,1,2,3 a.mkv b.mkv c.mkv d.mkv             one stream on each of four GPUs
# --streams N      number of streams (default: one per INPUT); INPUTs are used in turn
# --devices LIST   GPUs by number, used in turn (default: 0)
# --prefix NAME    of the files (stream)
# --elements LINE  analysis (cudasgm ! cudastixels)
# --print          print the pipeline instead of running it
# Other options are those of roadvision see, which makes the line of each stream. Without a GPU all streams share
# the processor cores. roadvision batch processes files over processes and machines.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -n "${RV_RUN_BUILD:-}" ] || exec "$here/run.sh" "${BASH_SOURCE[0]}" "$@"
streams='' devices=0 prefix=stream elements='cudasgm ! cudastixels' print=no options=() inputs=()
misuse() {
  echo "many_streams: $1; --help lists the options" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '3,15s/^# \?//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --streams | --devices | --prefix | --elements) printf -v "${1#--}" %s "${2:?$1 needs a value}"; shift ;;
    --print) print=yes ;;
    --*) options+=("$1" "${2:?$1 needs a value}"); shift ;;
    *) inputs+=("$1") ;;
  esac
  shift
done
[ ${#inputs[@]} -gt 0 ] || misuse 'the INPUTs are missing; test needs no file'
streams=${streams:-${#inputs[@]}}
[[ $streams =~ ^[1-9][0-9]*$ ]] || misuse "--streams is $streams, must be a positive integer"
[[ $devices =~ ^[0-9]+(,[0-9]+)*$ ]] || misuse "--devices is $devices, must be numbers such as 0,1"
IFS=, read -ra devices <<<"$devices"
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
for device in "${devices[@]}"; do
  [ "$gpus" = 0 ] || [ "$device" -lt "$gpus" ] || misuse "there is no GPU $device: nvidia-smi -L lists $gpus"
done
[ "$gpus" != 0 ] || echo "many_streams: no GPU was found: all streams run on the CPU" >&2
cores=$(nproc)

line=''
for ((n = 0; n < streams; n++)); do
  property=cuda-device-id=${devices[n % ${#devices[@]}]}
  [ "$gpus" != 0 ] || property=threads=$((cores > streams ? cores / streams : 1))
  part=$(roadvision see "${inputs[n % ${#inputs[@]}]}" "${options[@]}" --print --out none --json "$prefix-$n.jsonl" \
    --elements "queue max-size-buffers=4 ! $(sed -E "s/(^|! *)(cuda[a-z]+)/\1\2 $property/g" <<<"$elements")") || exit
  line+=" ${part#gst-launch-1.0 -e}"
done
if [ "$print" = yes ]; then
  echo "gst-launch-1.0 -e$line"
  exit 0
fi
begin=${EPOCHREALTIME/./}
eval "gst-launch-1.0 -e -q $line"
elapsed=$((${EPOCHREALTIME/./} - begin)) sum=0
for ((n = 0; n < streams; n++)); do
  count=$(wc -l <"$prefix-$n.jsonl") sum=$((sum + count))
  where=CPU
  [ "$gpus" = 0 ] || where="GPU ${devices[n % ${#devices[@]}]}"
  printf 'many_streams: stream %d on %s: %d frames\n' "$n" "$where" "$count"
done
awk -v sum="$sum" -v us="$elapsed" \
  'BEGIN { printf "many_streams: %d frames in %.1f s, start included: %.1f frames/s\n", sum, us / 1e6, sum * 1e6 / us }'
