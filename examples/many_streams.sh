#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# many_streams.sh [OPTION...] [FILE...]: several streams in one process, on one GPU or distributed over several;
# stream N writes its annotations to PREFIX-N.jsonl. Prints frames and rate of each.
#   many_streams.sh --streams 8 --source test --frames 300                eight streams, one GPU
#   many_streams.sh --devices 0,1,2,3 a.mkv b.mkv c.mkv d.mkv             one stream on each of four GPUs
# --streams N      number of streams (default: one per FILE; 4 with --source); FILEs are used in turn
# --devices LIST   GPUs by number, used in turn (default: 0)
# --prefix NAME    of the files (stream)
# Without a GPU all streams share the processor cores.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
streams='' devices=0 prefix=stream elements='cudasgm ! cudastixels'
own_option() {
  case $1 in
    --streams | --devices | --prefix) printf -v "${1#--}" %s "${2:-}" ;;
    *) return 1 ;;
  esac
}
parse_options "$@"
out=none # annotations only
[ -z "$json" ] || misuse "--json has no effect: use --prefix"
[ ${#positional[@]} -gt 0 ] || [ -n "$source" ] || misuse "the files are missing; --source test needs none"
files=${#positional[@]}
streams=${streams:-$((files > 0 ? files : 4))}
[[ $streams =~ ^[1-9][0-9]*$ ]] || misuse "--streams is $streams, must be a positive integer"
[[ $devices =~ ^[0-9]+(,[0-9]+)*$ ]] || misuse "--devices is $devices, must be numbers such as 0,1"
IFS=, read -ra devices <<<"$devices"
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
for device in "${devices[@]}"; do
  [ "$gpus" = 0 ] || [ "$device" -lt "$gpus" ] ||
    fail "there is no GPU $device: nvidia-smi -L lists $gpus, with numbers from 0 on"
done
[ "$gpus" != 0 ] || echo "$script: no GPU was found: all streams run on the CPU" >&2
cores=$(nproc)

words=()
for ((n = 0; n < streams; n++)); do
  device=${devices[n % ${#devices[@]}]} json=$prefix-$n.jsonl input=()
  if [ "$gpus" = 0 ]; then
    properties=("threads=$((cores > streams ? cores / streams : 1))")
  else
    properties=("cuda-device-id=$device")
  fi
  source_option test_street || {
    file=${positional[n % files]}
    [ -r "$file" ] || fail "cannot read $file"
    input=(filesrc "location=$file" ! decodebin ! videoconvert)
  }
  analysis_elements
  words+=("${input[@]}" ! ${frames:+identity "eos-after=$((frames + 1))" !} queue max-size-buffers=4 !)
  [ "$gpus" = 0 ] || ! has cudaupload || words+=(cudaupload "cuda-device-id=$device" !)
  words+=("${analysis[@]}" ! fakesink sync=false)
done
begin=${EPOCHREALTIME/./}
launch "${words[@]}"
[ "$print" = no ] || exit 0
elapsed=$((${EPOCHREALTIME/./} - begin)) sum=0
for ((n = 0; n < streams; n++)); do
  count=$(wc -l <"$prefix-$n.jsonl") sum=$((sum + count))
  where=CPU
  [ "$gpus" = 0 ] || where="GPU ${devices[n % ${#devices[@]}]}"
  printf '%s: stream %d on %s: %d frames\n' "$script" "$n" "$where" "$count"
done
awk -v name="$script" -v sum="$sum" -v us="$elapsed" \
  'BEGIN { printf "%s: %d frames in %.1f s, start included: %.1f frames/s\n", name, sum, us / 1e6, sum * 1e6 / us }'
