#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Four workers as plain processes, under Slurm and under OpenMPI. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR/../../scripts source=../../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

usage() {
    cat <<END
usage: bench/workers/schedulers.sh [--build DIR] [--plain] FILE.cu|FILE.ptx...

Prepares the files by one process, by four plain workers, by four under a Slurm of one node that is started here (and
stopped), by four under OpenMPI, and under Slurm with one of them killed; and compares what lies in the stores and the
libraries that were made. Times are processor time: of the process that hands out, and of its workers. As root; needs
Debian's slurm-wlm, munge and openmpi-bin (--plain: neither).
END
}

build=$root/build plain=false files=()
while (($# > 0)); do
    case $1 in
        --build) build=$(realpath "$2") && shift ;;
        --plain) plain=true ;;
        -h | --help) usage && exit 0 ;;
        *) files+=("$(realpath "$1")") ;;
    esac
    shift
done
((${#files[@]} > 0)) || usage_error "no file"
export PATH=$build/bin:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-schedulers-XXXXXX")
started=()
stop_all() {
    local i
    for ((i = ${#started[@]} - 1; i >= 0; --i)); do kill "${started[i]}" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap stop_all EXIT

modules=()
for file in "${files[@]}"; do
    if [[ $file == *.ptx ]]; then
        modules+=("$file")
    else
        trimtab++ -O3 -ptx "$file" -o "$work/$(basename "$file" .cu).ptx"
        modules+=("$work/$(basename "$file" .cu).ptx")
    fi
done

# contents NAME: what a run left, in an order of its own.
contents() {
    python3 - "$work/$1/trimtab" <<'END'
import hashlib, pathlib, sqlite3, sys
folder = pathlib.Path(sys.argv[1])
digest = hashlib.sha256()
rows = sqlite3.connect(folder / "profiles.sqlite").execute("SELECT kind, key, value FROM kept ORDER BY kind, key").fetchall()
for row in rows:
    for value in row:
        digest.update(value if isinstance(value, bytes) else value.encode())
for library in sorted((folder / "modules").glob("*.so")):
    digest.update(library.read_bytes())
print(len(rows), digest.hexdigest()[:16])
END
}

# prepared NAME OPTION...: one run with a cache of its own, and what it cost.
prepared() {
    local name=$1
    shift
    export XDG_CACHE_HOME=$work/$name
    : >"$work/$name.workers"
    export WORKER_TIMES=$work/$name.workers
    local TIMEFORMAT='%U %S %R'
    { time trimtab prepare "$@" "${modules[@]}" >"$work/$name.out" 2>"$work/$name.log"; } 2>"$work/$name.time" ||
        { tail -n 5 "$work/$name.log" >&2 && die 1 "$name failed"; }
    local found
    found=$(contents "$name")
    [[ $name == alone ]] && reference=$found
    python3 - "$name" "$work/$name.time" "$work/$name.workers" "$found" "$reference" <<'END'
import sys
name, own, workers, found, reference = sys.argv[1:]
user, system, real = map(float, open(own).read().split()[-3:])
# Its children's time is in the shell's, where they are its own.
each = [sum(map(float, line.split())) for line in open(workers) if line.strip()]
print(f"{name:14} {real:8.1f} s   all here {user + system:7.1f} s of processor   workers "
      f"{' '.join(f'{one:.1f}' for one in each) or '-':30} {found}  {'the same' if found == reference else 'DIFFERENT'}")
END
    [[ $found == "$reference" ]] || die 1 "$name left something else"
}
# A worker whose processor time is noted.
cat >"$work/worker" <<'END'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time trimtab worker --threads=1 2>&3; } 3>&2 2>>"$WORKER_TIMES"
END
chmod +x "$work/worker"

prepared alone
grep -c 'profiled at' "$work/alone.log" | sed 's/$/ kernels/'
sed -n 's/.*profiled at.* in \([0-9.]*\) s$/\1/p' "$work/alone.log" >"$build/task_times.txt"
prepared one --workers="1*$work/worker"
prepared two --workers="2*$work/worker"
prepared four --workers="4*$work/worker"
$plain && exit 0

say "starting munge and Slurm in $work"
(umask 077 && dd if=/dev/urandom of="$work/munge.key" bs=128 count=1 2>/dev/null)
chmod 700 "$work"
munged --foreground --force --socket="$work/munge.sock" --key-file="$work/munge.key" --pid-file="$work/munge.pid" \
    --log-file="$work/munge.log" --seed-file="$work/munge.seed" &
started+=($!)
host=$(hostname -s)
cat >"$work/slurm.conf" <<END
ClusterName=trimtab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.sock
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
mkdir "$work/state" "$work/spool"
export SLURM_CONF=$work/slurm.conf
until [[ -S $work/munge.sock ]]; do sleep 0.2; done
slurmctld -D -f "$SLURM_CONF" >"$work/ctld.out" 2>&1 &
started+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" >"$work/slurmd.out" 2>&1 &
started+=($!)
for ((i = 0; i < 300; ++i)); do
    [[ $(sinfo -h -o %t 2>/dev/null) == idle ]] && break
    sleep 0.5
done
[[ $(sinfo -h -o %t) == idle ]] || { cat "$work"/slurm*.log "$work"/*.out >&2 && die 3 "Slurm does not come up"; }
sinfo

export SLURM_EXPORT_ENV=ALL
prepared slurm --workers="4*srun -Q -n 1 $work/worker"
cat >"$work/named-worker" <<'END'
#!/bin/bash
echo $$ >>"$WORKER_TIMES.ids"
exec trimtab worker --threads=1
END
chmod +x "$work/named-worker"
(
    until [[ -s $work/slurm-killed.workers.ids ]]; do sleep 0.1; done
    sleep 2
    kill -9 "$(head -n 1 "$work/slurm-killed.workers.ids")"
) &
killer=$!
prepared slurm-killed --workers="4*srun -Q -n 1 $work/named-worker"
wait "$killer" || say "the worker had ended before it was killed"
grep -h 'warning' "$work/slurm-killed.log" | head -n 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
prepared openmpi --workers="4*mpirun -n 1 --oversubscribe -x WORKER_TIMES $work/worker"
# Several tasks of one command say that they cannot be told apart.
srun -Q -n 2 trimtab worker </dev/null 2>&1 | sort -u | head -n 1 || true
