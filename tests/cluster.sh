#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster.sh: roadvision batch --slurm on a cluster of this one machine (slurmctld, munged and three slurmd, in a temporary
# folder), and --hosts by GNU parallel: equal hashes, a lost node, the time of three nodes and of three local workers.
# Needs root and the packages slurmctld, slurmd, slurm-client, munge, parallel; exits with 77 without them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -n "${RV_RUN_BUILD:-}" ] || exec "$root/examples/run.sh" "${BASH_SOURCE[0]}" "$@"
for program in slurmctld slurmd sbatch munged parallel; do
  command -v $program >/dev/null || { echo "cluster.sh: no $program: install slurmctld slurmd slurm-client munge parallel"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo 'cluster.sh must be root: slurmd requires it'; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive
folder=$(mktemp -d)
chmod 755 "$folder"
processes=()
clean_up() {
  local process
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  sleep 1
  for process in "${processes[@]}"; do kill -9 "$process" 2>/dev/null || true; done
  [ -n "${CLUSTER_KEEP:-}" ] || rm -rf "$folder"
}
trap clean_up EXIT
cd "$folder"
start() { # COMMAND...: in the background, ended with this script
  "$@" >>"$folder/daemons.log" 2>&1 &
  processes+=($!)
}

# --- the cluster ------------------------------------------------------------------------------------
mkdir munge state spool{1,2,3}
dd if=/dev/urandom of=munge/key bs=1k count=1 status=none
chmod 700 munge && chmod 400 munge/key
start munged --foreground --force --key-file=munge/key --socket=munge/socket --pid-file=munge/pid --log-file=munge/log \
  --seed-file=munge/seed
export SLURM_CONF=$folder/slurm.conf
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$((20000 + $$ % 20000))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdLogFile=$folder/slurmd-%n.log
SlurmctldLogFile=$folder/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=10
SlurmctldParameters=node_reg_mem_percent=1
MailProg=/bin/true
MpiDefault=none
$(for n in 1 2 3; do echo "NodeName=$n NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((41000 + $$ % 9000 + n)) CPUs=1"; done)
PartitionName=all Nodes=1,2,3 Default=YES MaxTime=INFINITE State=UP
CONF
mkdir -p spool1 spool2 spool3
for ((n = 0; n < 50; n++)); do [ ! -S munge/socket ] || break; sleep 0.2; done
start slurmctld -D -f slurm.conf
sleep 1
slurmd_pids=()
for n in 1 2 3; do
  start slurmd -D -N $n -f slurm.conf
  slurmd_pids+=("${processes[-1]}")
done
for ((n = 0; n < 100; n++)); do
  [ "$(sinfo --noheader --Node --states=idle 2>/dev/null | wc -l)" != 3 ] || break
  sleep 0.3
done
sinfo --Node --noheader
[ "$(sinfo --noheader --Node --states=idle | wc -l)" = 3 ] || { tail -n 5 slurmctld.log slurmd-*.log; exit 1; }

# --- the work ---------------------------------------------------------------------------------------
frames=${CLUSTER_FRAMES:-360}
mkdir -p in/left in/right
gst-launch-1.0 -q stereotestsrc num-buffers="$frames" ! video/x-raw,width=1280,height=240,framerate=10/1 ! tee name=t \
  t. ! queue ! videocrop right=640 ! videoconvert ! jpegenc quality=95 ! multifilesink location=in/left/%06d.jpg \
  t. ! queue ! videocrop left=640 ! videoconvert ! jpegenc quality=95 ! multifilesink location=in/right/%06d.jpg
batch() { roadvision batch in "$1" --what disparity,json --chunk 10 --overlap 2 --focal 488 --baseline 0.8 "${@:2}"; }
sums() { (cd "$1" && sort manifest.sha256 | sha256sum); }
seconds() { # COMMAND...
  local begin=${EPOCHREALTIME/./}
  "$@" >work.log 2>&1 || { cat work.log; exit 1; }
  awk -v us=$((${EPOCHREALTIME/./} - begin)) 'BEGIN { printf "%.1f", us / 1e6 }'
}
local_time=$(seconds batch local --jobs 3)
slurm_time=$(seconds batch slurm --slurm --tasks 3 --jobs 1)
[ "$(sums local)" = "$(sums slurm)" ]
# The 5 % hold for work of minutes: starting tasks takes seconds.
echo "$frames frames: three local workers $local_time s, three Slurm nodes $slurm_time s; equal hashes"

batch lost --slurm --tasks 3 --jobs 1 >lost.log 2>&1 &
waiting=$!
for ((n = 0; n < 100; n++)); do
  [ "$(ls lost/.roadvision/done 2>/dev/null | wc -l)" -lt 4 ] || break
  sleep 0.2
done
kill -9 "${slurmd_pids[1]}"
for process in $(pgrep -f "$folder/lost --part 1/3" || true); do kill -9 "$process" 2>/dev/null || true; done
wait $waiting || { cat lost.log; exit 1; }
[ "$(sums local)" = "$(sums lost)" ]
echo "a node lost: $(grep -c 'submitting' lost.log || true) more submission(s); equal hashes"

batch hosts --hosts : --jobs 1 >hosts.log 2>&1 || { cat hosts.log; exit 1; }
[ "$(sums local)" = "$(sums hosts)" ]
echo "GNU parallel: equal hashes"
