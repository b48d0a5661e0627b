#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples.sh [NAME...]: runs every example on synthetic or file input and checks what it writes: frames, sizes,
# colors, JSON against its schema, disparities against the ground truth. Examples that need a package which is
# missing are skipped by name; an example without a case here is a failure.
# EXAMPLES_KEEP=FOLDER keeps the outputs. EXAMPLES_LONG=1 also runs rdp_study.sh (minutes, python3-matplotlib).
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tests=$root/tests E=$root/examples
build=${RV_BUILD_DIR:-$root/build}
case $build in /*) ;; *) build=$root/$build ;; esac
# Once with the environment of the build; the examples then start without a look at the build.
[ "${RV_RUN_BUILD:-}" = "$build" ] || exec "$E/run.sh" "${BASH_SOURCE[0]}" "$@"

folder=${EXAMPLES_KEEP:-}
if [ -n "$folder" ]; then
  mkdir -p "$folder"
else
  folder=$(mktemp -d)
fi
server=''
clean_up() {
  [ -z "$server" ] || kill "$server" 2>/dev/null
  [ -n "${EXAMPLES_KEEP:-}" ] || rm -rf "$folder"
}
trap clean_up EXIT
cd "$folder" || exit 1

failures=() skips=() passed=0
small=(test --size 320x240 --frames 8)

# --- Checks -----------------------------------------------------------------------------------------
run() { # COMMAND...: must succeed; its output is in `log`
  timeout 240 "$@" >log 2>&1 </dev/null || { echo "status $? of: $*"; cat log; return 1; }
  ! grep -E 'CRITICAL|WARNING \*\*|Traceback' log
}
refused() { # TEXT STATUS COMMAND...: must end with the status and say the text
  local text=$1 status=$2 got=0
  shift 2
  timeout 60 "$@" >log 2>&1 </dev/null || got=$?
  [ "$got" = "$status" ] || { echo "status $got, expected $status, of: $*"; cat log; return 1; }
  grep -qF -- "$text" log || { echo "\"$text\" is not said by: $*"; cat log; return 1; }
}
ctrl_c() { # FILE COMMAND...: stops the command when FILE has 10 lines; it must end well
  local file=$1 status=0
  shift
  (
    set -m # a process group of its own, which does not ignore the signal
    "$@" >log 2>&1 </dev/null &
    for ((n = 0; n < 600; n++)); do
      [ "$(cat "$file" 2>/dev/null | wc -l)" -lt 10 ] || break
      sleep 0.2
    done
    kill -INT -- -$!
    wait $!
  ) || status=$?
  [ $status = 0 ] || { echo "status $status after Ctrl-C of: $*"; cat log; return 1; }
}
check() { /usr/bin/python3 -B "$tests/examples_check.py" "$@"; }
exists() { gst-inspect-1.0 --exists --atleast-version=0.0 "$1"; }
said() { grep -qE -- "$1" log || { echo "$1 is not said"; cat log; return 1; }; }
free_port() { # tcp|udp
  /usr/bin/python3 -c 'import socket, sys
with socket.socket(type=socket.SOCK_DGRAM if sys.argv[1] == "udp" else socket.SOCK_STREAM) as taken:
    taken.bind(("127.0.0.1", 0))
    print(taken.getsockname()[1])' "$1"
}
skip() { # REASON
  echo "$1" >reason
  return 77
}

# --- The examples: one function each, named like the file; they end with the first failure ---------------
demo.sh() {
  run "$E/demo.sh" --size 320x240 --seconds 0.5 --out demo && check video demo/annotated.* 15 320x240 color=20 &&
    check image demo/still-1.png 320x240 color=20 && said 'bad3 [0-9.]+ %'
}
engines_agree.sh() {
  local status=0
  "$E/engines_agree.sh" 2 >log 2>&1 || status=$?
  [ $status != 77 ] || { skip 'no GPU'; return; }
  [ $status = 0 ] && said 'both engines give'
}
lane_lines.sh() {
  run "$E/lane_lines.sh" lines.png && check image lines.png 640x480 color=0.2
}
see() { # also with the recording of record
  run roadvision see "${small[@]}" --out live.mkv --json live.jsonl --focal 250 --baseline 0.8 &&
    check video live.mkv 8 320x240 color=20 && check json live.jsonl 8 disparity camera.focal=250 &&
    # the printed line is the one that runs
    roadvision see "${small[@]}" --out none --json printed.jsonl --print >line && run bash line &&
    check json printed.jsonl 8 disparity &&
    # without an end: Ctrl-C closes the files
    ctrl_c end.jsonl roadvision see test --size 320x240 --out end.mp4 --json end.jsonl &&
    check video end.mp4 10.. 320x240 color=20 && check json end.jsonl 10.. disparity &&
    refused 'no such device: /dev/none' 1 roadvision see /dev/none &&
    refused 'there is no screen' 1 env -u DISPLAY -u WAYLAND_DISPLAY roadvision see test &&
    refused 'unrecognized arguments: --nonsense' 2 roadvision see --nonsense &&
    refused '--frames is 0' 2 roadvision see test --frames 0 &&
    refused 'must end in .mkv' 2 roadvision see test --out x.txt &&
    refused 'live.mkv is read' 2 roadvision see live.mkv --out ./live.mkv && [ -s live.mkv ] &&
    refused '--json writes it' 2 roadvision see live.mkv --out none --json x --csv x &&
    refused 'cannot read the calibration file /none' 1 roadvision see --calibration /none &&
    refused 'cannot read /none' 1 roadvision see /none &&
    refused '--show is x' 2 roadvision see test --out none --show x &&
    # obstacles, lanes and all from above, with tables
    run roadvision see "${small[@]}" --size 640x240 --show space+obstacles+lanes+bird --out watch.mkv --csv watch-%s.csv &&
    check video watch.mkv 8 640x240 color=20 && [ "$(wc -l <watch-frames.csv)" = 9 ] &&
    head -n 1 watch-obstacles.csv | grep -q distance && [ "$(wc -l <watch-obstacles.csv)" -gt 8 ] &&
    see_cameras && see_files
}
see_cameras() { # what cameras and networks need, without them
  mkdir -p numbered && check pairs numbered 3 numbered &&
    run roadvision see numbered/left/%06d.png numbered/right/%06d.png --out two.mkv --json two.jsonl --max-skew 5 \
      --focal 250 --baseline 0.8 && check video two.mkv 2..3 320x240 color=20 &&
    check json two.jsonl 2..3 disparity pair.skew=0 camera.baseline=0.8 &&
    refused 'both cameras are /dev/null' 2 roadvision see /dev/null /dev/null &&
    # folders, patterns of a shell, one pair; odd sides
    run roadvision see numbered --out folder.mkv --json folder.jsonl --focal 250 --baseline 0.8 &&
    check video folder.mkv 2..3 320x240 color=20 && check json folder.jsonl 2..3 disparity camera.focal=250 &&
    run roadvision see numbered/left 'numbered/right/*.png' --out 'still-%d.png' && check image still-1.png 320x240 color=20 &&
    run gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=161,height=121 ! jpegenc ! tee name=t \
      t. ! queue ! filesink location=odd-left.jpg t. ! queue ! filesink location=odd-right.jpg &&
    run roadvision see odd-left.jpg odd-right.jpg --out odd.mkv && check video odd.mkv 1 160x120 &&
    refused 'in the folder of the images that are read' 2 roadvision see numbered --out numbered/left/%d.png &&
    cp odd-left.jpg numbered/left/7.png && refused 'not numbered without gaps' 1 roadvision see numbered/left numbered/right --out none &&
    rm numbered/left/7.png numbered/left/*0.png && refused 'they must pair up' 1 roadvision see numbered/left numbered/right --out none &&
    refused 'there is no folder /none' 1 roadvision see test --out /none/x.mkv &&
    refused 'No closing quotation in' 2 roadvision see test --source "a 'b" && refused '--rate is 0' 2 roadvision see test --rate 0 && refused '--focal is x' 2 roadvision see test --focal x &&
    run roadvision see test --zed vga --frames 3 --out zed.avi --json zed.jsonl \
      --calibration "$tests/fuzz/corpus/calibration/zed.conf" &&
    check video zed.avi 3 672x376 && check json zed.jsonl 3 disparity camera.baseline=0.12+-0.01 &&
    refused 'invalid choice' 2 roadvision see --zed 4k &&
    { [ -e /usr/local/zed/settings ] || refused 'name that of this camera with --calibration' 1 roadvision see --zed 720; } &&
    refused 'is not a URL' 2 roadvision see http://nonsense && rtsp
}
rtsp() { # a server with both views in one stream, and a stream per camera
  /usr/bin/python3 -B "$tests/rtsp_server.py" server.port >server.log 2>&1 &
  server=$!
  local port='' status=0
  for ((n = 0; n < 100; n++)); do
    [ ! -s server.port ] || { port=$(<server.port); break; }
    kill -0 $server 2>/dev/null || break
    sleep 0.2
  done
  if [ -z "$port" ]; then
    wait $server || status=$?
    server=''
    [ $status = 77 ] && echo 'without an RTSP server: gir1.2-gst-rtsp-server-1.0 is missing' && return
    cat server.log
    return 1
  fi
  run roadvision see --frames 15 --out none --json url.jsonl "rtsp://127.0.0.1:$port/pair" &&
    check json url.jsonl 2..15 disparity resolution.width=320 &&
    run roadvision see --tcp --frames 15 --out none --json urls.jsonl "rtsp://127.0.0.1:$port/left" \
      "rtsp://127.0.0.1:$port/right" &&
    check json urls.jsonl 2..15 disparity resolution.width=320 pair || status=1
  kill $server
  server=''
  return $status
}
see_files() {
  [ ! -e drive.mkv ] || { run roadvision see --out file.mkv --json file.jsonl --focal 244 --baseline 0.8 --show stixels drive.mkv &&
    check video file.mkv 10 320x240 color=20 && check json file.jsonl 10 disparity stixels.count=30.. camera.focal=244; } ||
    return
  # Warnings of elements are shown with their remedy, apart from JSON on standard output.
  run gst-launch-1.0 -q stereotestsrc num-buffers=4 ! video/x-raw,width=640,height=240 ! videoconvert ! \
    x264enc pass=quant quantizer=12 ! h264parse ! mp4mux ! filesink location=swapped.mp4 &&
    roadvision see --out none --json - --elements cudasgm swapped.mp4 >swapped.jsonl 2>log &&
    check json swapped.jsonl 4 disparity && said '^roadvision see: warning: The caps specify right-view-first' &&
    said '^roadvision see: Set layout=side-by-side' &&
    roadvision see --out none --json - --elements cudasgm --layout side-by-side swapped.mp4 >swapped.jsonl 2>log &&
    check json swapped.jsonl 4 disparity && [ ! -s log ] && see_sends
}
see_sends() { # RTP and WebRTC over the loopback
  local port receiver status
  port=$(free_port udp) || return
  timeout 60 gst-launch-1.0 -q udpsrc "port=$port" timeout=3000000000 \
    caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264 ! rtpjitterbuffer ! rtph264depay ! \
    h264parse ! identity eos-after=5 ! matroskamux ! filesink location=received.mkv >receiver.log 2>&1 &
  receiver=$!
  run roadvision see "${small[@]}" --frames 45 --sdp stream.sdp --send "127.0.0.1:$port" && ! grep warning log
  status=$?
  wait $receiver
  [ $status = 0 ] && check video received.mkv 2..5 320x240 color=20 && grep -q "m=video $port RTP/AVP 96" stream.sdp &&
    refused 'the port is 0' 2 roadvision see test --send host:0 || return
  exists nicesink || { echo 'without WebRTC: gstreamer1.0-nice is missing'; return 0; }
  port=$(free_port tcp) || return
  timeout 120 roadvision see test --size 320x240 --web "$port" >page.log 2>&1 &
  server=$!
  run /usr/bin/python3 -B "$tests/webrtc_viewer.py" "http://127.0.0.1:$port" 5 && said '^320 x 240$'
  status=$?
  kill $server
  server=''
  [ $status = 0 ] || { cat page.log; return 1; }
}
many_streams.sh() {
  run "$E/many_streams.sh" --size 320x240 --frames 8 --streams 3 --devices 0 test && said '24 frames in' &&
    for n in 0 1 2; do check json stream-$n.jsonl 8 disparity stixels.count=30.. || return; done &&
    refused '--devices is x' 2 "$E/many_streams.sh" --devices x test &&
    refused 'cannot read /none' 1 "$E/many_streams.sh" /none || return
  [ ! -e drive.mkv ] || { run "$E/many_streams.sh" --prefix f drive.mkv drive.mkv && check json f-1.jsonl 10 disparity stixels; }
}
record.sh() {
  exists avenc_ffv1 || { skip 'gstreamer1.0-libav is missing'; return; }
  run "$E/record.sh" --source 'stereotestsrc num-buffers=10 ! video/x-raw,width=640,height=240' drive &&
    check video drive.mkv 10 640x240 && check json drive.jsonl 10 camera.baseline=0.8 && check mcap drive.mcap 10
}
replay.sh() {
  [ -e drive.mkv ] || { skip 'record.sh was skipped'; return; }
  run "$E/replay.sh" drive && cp log replay.jsonl && check json replay.jsonl 10 disparity stixels.count=30.. camera.baseline=0.8
}
stereo_to_disparity.sh() {
  check pairs pairs 3 && run "$E/stereo_to_disparity.sh" pairs/left/one.png pairs/right/one.png disparity.png &&
    check disparity disparity.png 16 pairs/truth/one.png &&
    refused 'cannot read /none' 1 "$E/stereo_to_disparity.sh" /none /none2 x.png
}
stereo_to_stixels.sh() {
  check pairs numbered 3 numbered && run "$E/stereo_to_stixels.sh" stixels.avi numbered/left/%06d.png numbered/right/%06d.png &&
    check video stixels.avi 2..3 320x240 color=20
}
road_detect.sh() {
  run "$E/road_detect.sh" road.avi offroad:2 --stills stills && check video road.avi 2 any && said 'F1'
}
road_eval.sh() { run "$E/road_eval.sh" offroad:2 --quiet && said 'F1|recall'; }
rdp_study.sh() {
  [ -n "${EXAMPLES_LONG:-}" ] || { skip 'a study of minutes: EXAMPLES_LONG=1 runs it'; return; }
  /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || { skip 'python3-matplotlib is missing'; return; }
  run env -u RV_DATA "$E/rdp_study.sh" study && said 'epsilon' && check image "$(ls study/*.png | head -n 1)" any
}
run.sh() { run "$E/run.sh" gst-inspect-1.0 cudasgm && said 'Origin URL' && run "$E/run.sh" --help && said 'run.sh COMMAND'; }
attach_labels.py() { run "$E/attach_labels.py" && said '[1-9][0-9]* stixels'; }
calibrate() {
  check boards boards && run roadvision calibrate --left 'boards/left*.png' --right 'boards/right*.png' --square 0.03 \
    -o camera.yml --show rows.png && said 'row error 0\.[0-4]' && check image rows.png any || return
  [ -n "${RV_DATA:-}" ] || { echo "calibrate: without RV_DATA rendered boards only"; return 0; }
  run roadvision calibrate --pairs "$RV_DATA/calib_stereopi_sbs/chess*.png" --square 0.025 --quiet -o stereopi.yml &&
    said 'row error 0\.[0-4]' && run "$E/opencv_depth.py" --pipeline "filesrc \
location=$RV_DATA/calib_stereopi_sbs/scene.png ! pngdec ! videoconvert ! cudarectify calibration=stereopi.yml ! \
cudasgm disparities=64" scene.png && check image scene_color.png 320x240 color=35
}
check_machine() {
  run roadvision check && said '^ok +plugin roadvision [0-9.]+, [0-9]+ elements' && said '^roadvision: ready' &&
    refused 'MISSING  camera /dev/none' 1 roadvision check --camera /dev/none && said 'v4l2-ctl --list-devices' || return
  # machines with GPUs, without the plugin, without permission: simulated
  echo 'int cuInit(unsigned f) { return f; } int cuDriverGetVersion(int *v) { return *v = 12040, 0; }
    int cuDeviceGetCount(int *n) { return *n = 2, 0; }' >cuda.c
  ${CC:-cc} -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 cuda.c || return
  run env LD_LIBRARY_PATH="$PWD:${LD_LIBRARY_PATH:-}" GST_REGISTRY="$PWD/registry.bin" roadvision check &&
    said '^ok +2 GPUs, driver for CUDA 12.4' && said 'a GPU is there, but cudasgm uses the engine cpu' &&
    refused 'MISSING  the plugin roadvision' 1 env GST_PLUGIN_PATH= GST_REGISTRY="$PWD/registry2.bin" roadvision check
}
bench() { # and check, and what all commands share
  run roadvision bench --size 320x120 --seconds 0.3 --only sgm && said 'pipeline/320x120-sgm +[0-9.]+ cpu|cuda' &&
    said 'this machine +NVIDIA' && roadvision bench --size 320x120 --only obstacles --print >line && run bash line && refused '--size is 1' 2 roadvision bench --size 1 &&
    refused 'no row contains zebra' 2 roadvision bench --only zebra && check_machine && shared
}
shared() { # usage, completion
  run roadvision --version && refused 'there is no command x' 2 roadvision x && refused 'usage:' 2 roadvision &&
    bash -c '. "$1"; COMP_CWORD=2 COMP_WORDS=(roadvision batch --wh); _roadvision; echo "${COMPREPLY[*]}"
      COMP_WORDS=(roadvision ca); COMP_CWORD=1; _roadvision; echo "${COMPREPLY[*]}"
      COMP_WORDS=(roadvision batch --what la); COMP_CWORD=3; _roadvision; echo "${COMPREPLY[*]}"' \
      bash "$root/tools/completion/roadvision.bash" >log 2>&1 && [ "$(tr '\n' ' ' <log)" = '--what calibrate lanes ' ] || { cat log; return 1; }
}
depth_at.py() {
  run "$E/depth_at.py" 320 400 --frames 2 && said '[0-9.]+ m \(disparity [0-9.]+ px\)' &&
    # as a user starts it in a checkout
    run env -u PYTHONPATH -u RV_RUN_BUILD -u GST_PLUGIN_PATH -u GI_TYPELIB_PATH "$E/depth_at.py" 320 400 --frames 1 &&
    said '[0-9.]+ m \(disparity'
}
semantics.py() { # without onnxruntime it says so
  if /usr/bin/python3 -c 'import onnxruntime' 2>/dev/null; then
    run "$E/semantics.py" --verbose --source 'stereotestsrc num-buffers=2' && said 'road [1-9]'
  else
    refused 'pip install onnxruntime' 1 "$E/semantics.py"
  fi
}
train_semantics.py() {
  run "$E/train_semantics.py" --help && said 'rendered streets' || return
  skip 'training takes minutes, and needs PyTorch, onnx and onnxruntime'
}
stixels_study.sh() {
  refused 'set RV_DATA' 1 env -u RV_DATA "$E/stixels_study.sh" study || return
  [ -n "${EXAMPLES_LONG:-}" ] || { skip 'a study of minutes: EXAMPLES_LONG=1 runs it'; return; }
  [ -n "${RV_DATA:-}" ] || { skip 'RV_DATA is not set'; return; }
  run "$E/stixels_study.sh" study 1 && said 'Cut density' && check image study/thesis.png any
}
opencv_depth.py() {
  run "$E/opencv_depth.py" --pipeline 'stereotestsrc num-buffers=2 ! video/x-raw,width=640,height=240 ! cudasgm' depth.png &&
    said 'frame 1: [1-9][0-9.]* m' && check image depth_color.png 320x240 color=35 && check image depth.png 320x240
}
read_annotations.py() { run "$E/read_annotations.py" && said 'RvDisparityMeta' && said 'buffer 5 at'; }
train_cuts.py() {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || { skip 'python3-torch is missing'; return; }
  run "$E/train_cuts.py" --frames 15 --steps 24 --networks 1 --out cuts.rvcuts && [ -s cuts.rvcuts ]
}
to_ply.py() {
  run "$E/to_ply.py" --pipeline 'stereotestsrc num-buffers=2 ! video/x-raw,width=640,height=240 ! cudasgm' --index 1 \
    cloud.ply && check ply cloud.ply 20000
}

# Parts of the scripts above, and what those run in Python.
parts=(start.sh in_tree.py cuts_samples.py demo.py rdp_study.py road_detect.py road_eval.py road_study.py
  semantics_samples.py)
commands=(see calibrate bench) # of roadvision; tests/batch_test.py has batch

# --- All of them ----------------------------------------------------------------------------------------
names=()
for path in "$E"/*.sh "$E"/*.py; do
  name=$(basename "$path")
  [[ " ${parts[*]} " != *" $name "* ]] || continue
  names+=("$name")
  declare -F "$name" >/dev/null || failures+=("$name: no case in tests/examples.sh")
done
names+=("${commands[@]}")
order=(record.sh "${names[@]/#record.sh/}") # others play the recording
[ $# = 0 ] || order=("$@")
for name in "${order[@]}"; do
  [ -n "$name" ] && declare -F "$name" >/dev/null || continue
  begin=$SECONDS status=0
  { if [ -e "$E/$name" ]; then run "$E/$name" --help; else run roadvision "$name" --help; fi || [ "${name%.py}" != "$name" ]; } >help 2>&1 && "$name" >messages 2>&1 || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skips+=("$name ($(<reason))") ;;
    *) failures+=("$name") && cat help messages ;;
  esac
  printf '%-24s %s, %d s\n' "$name" "$([ $status = 0 ] && echo ok || { [ $status = 77 ] && cat reason || echo FAILED; })" \
    $((SECONDS - begin))
done
for text in "${skips[@]}"; do echo "skipped: $text"; done
for text in "${failures[@]}"; do echo "FAILED: $text"; done
echo "examples: $passed passed, ${#failures[@]} failed, ${#skips[@]} skipped"
[ ${#failures[@]} = 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
