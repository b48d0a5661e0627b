#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster.sh [PART...]: roadvision batch --slurm on a cluster of this one machine (slurmctld, munged and three slurmd, in a
# temporary folder), and --hosts by GNU parallel: equal hashes. Parts: rate, the time of three nodes and of three local workers, and
# their CPU time, which other work changes less (CLUSTER_FRAMES=360, CLUSTER_ROUNDS=2; 1500 frames for the 5 %); lost, a node that dies; follow, the command is stopped, and started again; hosts, GNU parallel;
# ssh, over ssh to this machine by three names, if sshd is there; orphans, the command is killed.
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
  disown # no message about its end
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
TaskEpilog=$folder/epilog
$(for n in 1 2 3; do echo "NodeName=$n NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((41000 + $$ % 9000 + n)) CPUs=1"; done)
PartitionName=all Nodes=1,2,3 Default=YES MaxTime=INFINITE State=UP
CONF
# After a task its parent knows the CPU time of all its processes.
printf '#!/bin/sh\nawk '"'{ print (\$16 + \$17) / $(getconf CLK_TCK) }'"' /proc/$PPID/stat >>%s\n' "$folder/cpu" >epilog
chmod 755 epilog
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
seconds() { # COMMAND...: elapsed time, CPU time of the user's part and of the system's
  local TIMEFORMAT='%R %U %S'
  { time "$@" >work.log 2>&1; } 2>&1 || { cat work.log >&2; exit 1; }
}
work_of() { # TEXT: numbers of the processes whose command has it
  pgrep -f -- "$1" || true
}
wait_for() { # SECONDS COMMAND...: until it succeeds
  local tries=$((5 * $1))
  shift
  until "$@"; do
    ((tries-- > 0)) || { echo "cluster.sh: in vain: $*"; exit 1; }
    sleep 0.2
  done
}
chunks() { ls "$1/.roadvision/done" 2>/dev/null | wc -l; }
has_chunks() { [ "$(chunks "$1")" -ge "$2" ]; }
ended() { [ -z "$(work_of "$1")" ]; }

has_ended() { [ "$(wc -l <cpu)" -ge "$1" ]; } # tasks
rate() {
  # The 5 % hold for work of minutes: starting tasks takes seconds.
  local round nodes workers=$local_time
  for ((round = 1; round <= ${CLUSTER_ROUNDS:-2}; round++)); do
    : >cpu
    nodes=$(seconds batch slurm$round --slurm --tasks 3 --jobs 1)
    wait_for 30 has_ended 3
    [ "$(sums local)" = "$(sums slurm$round)" ]
    [ $round = 1 ] || workers=$(seconds batch local$round --jobs 3)
    awk -v n="$frames" -v tasks="$(awk '{ sum += $1 } END { print sum }' cpu)" '{ printf "%d frames: three local workers %.1f s, three Slurm nodes %.1f s, \
ratio %.3f; CPU %.1f s, %.1f s, ratio %.3f; equal hashes\n", n, $1, $4, $4 / $1, $2 + $3, tasks + $5 + $6,
      (tasks + $5 + $6) / ($2 + $3) }' <<<"$workers $nodes"
  done
}
lost() {
  batch lost --slurm --tasks 3 --jobs 1 >lost.log 2>&1 &
  local waiting=$! process
  wait_for 60 has_chunks lost 4
  kill -9 "${slurmd_pids[1]}"
  for process in $(work_of "$folder/lost --part 1/3"); do kill -9 "$process" 2>/dev/null || true; done
  wait $waiting || { cat lost.log; exit 1; }
  [ "$(sums local)" = "$(sums lost)" ]
  echo "a node lost: $(grep -c 'submitting' lost.log || true) more submission(s); equal hashes"
}
follow() {
  batch follow --slurm --tasks 2 --jobs 1 >follow.log 2>&1 &
  local waiting=$!
  wait_for 60 has_chunks follow 2
  kill -9 $(work_of "roadvision batch in follow ") && wait $waiting 2>/dev/null || true
  ! batch follow >refused.log 2>&1 && grep -q 'of Slurm is working on follow' refused.log || { cat refused.log; exit 1; }
  batch follow --slurm --tasks 2 --jobs 1 >follow.log 2>&1 || { cat follow.log; exit 1; }
  grep -q 'following job' follow.log || { cat follow.log; exit 1; }
  [ "$(sums local)" = "$(sums follow)" ]
  echo "the command killed and started again: follows the array; equal hashes"
}
hosts() {
  batch hosts --hosts : --jobs 1 >hosts.log 2>&1 || { cat hosts.log; exit 1; }
  [ "$(sums local)" = "$(sums hosts)" ]
  echo "GNU parallel: equal hashes"
}
ssh_hosts() { # an sshd of this folder; names and keys in a configuration that the script ssh adds
  local port=$((23000 + $$ % 9000))
  mkdir -p bin keys /run/sshd && chmod 700 keys
  ssh-keygen -q -t ed25519 -N '' -f keys/host && ssh-keygen -q -t ed25519 -N '' -f keys/user
  cp keys/user.pub keys/authorized
  start /usr/sbin/sshd -D -e -f /dev/null -p $port -o ListenAddress=127.0.0.1 -h "$folder/keys/host" -o UsePAM=no \
    -o AuthorizedKeysFile="$folder/keys/authorized" -o StrictModes=no -o PidFile=none -o PermitRootLogin=yes
  cat >keys/config <<CONF
Host node1 node2 node3
  HostName 127.0.0.1
  Port $port
  IdentityFile $folder/keys/user
  UserKnownHostsFile $folder/keys/known
  StrictHostKeyChecking accept-new
CONF
  printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$folder/keys/config" >bin/ssh && chmod 755 bin/ssh
  sleep 1
  PATH="$folder/bin:$PATH" batch ssh --hosts node1,node2,node3,node4 --jobs 1 >ssh.log 2>&1 || { cat ssh.log daemons.log; exit 1; }
  grep -q 'node4 does not answer' ssh.log || { cat ssh.log; exit 1; }
  [ "$(sums local)" = "$(sums ssh)" ]
  echo "GNU parallel over ssh to three names, a fourth one that does not answer: equal hashes"
}
orphans() {
  batch orphans --hosts : --jobs 1 >orphans.log 2>&1 &
  local waiting=$!
  wait_for 60 has_chunks orphans 2
  kill -9 $(work_of "roadvision batch in orphans ") && wait $waiting 2>/dev/null || true
  wait_for 10 ended "$folder/orphans --"
  has_chunks orphans $((frames / 10)) && { echo 'cluster.sh: too few frames to see orphans'; exit 1; }
  batch orphans >orphans.log 2>&1 || { cat orphans.log; exit 1; }
  [ "$(sums local)" = "$(sums orphans)" ]
  echo "the command killed with --hosts: its tasks end; equal hashes after another start"
}

[ $# -gt 0 ] || set -- rate lost follow hosts ssh orphans
local_time=$(seconds batch local --jobs 3)
for part in "$@"; do
  case $part in
    ssh) if [ -x /usr/sbin/sshd ]; then ssh_hosts; else echo 'without sshd: --hosts ran on this machine only'; fi ;;
    *) "$part" ;;
  esac
done
