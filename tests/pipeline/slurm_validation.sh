#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# slurm_validation.sh BUILD: trimtab validate --slurm against an sbatch and a squeue that tests play: which steps are asked
# of which GPUs, what the script runs, that it goes on where it was cut off, and that folders are read back into one table.
set -euo pipefail

build=$1
work=$build/tests/pipeline/slurm_validation
rm -rf "$work"
mkdir -p "$work/bin" "$work/bundle"
cd "$work"
trimtab=$build/bin/trimtab

fail() {
    echo "slurm_validation: $*"
    exit 1
}

# sbatch runs the array at once, task after task, as its lines say: of kind "slow", it only takes the job.
cat >bin/sbatch <<'SBATCH'
#!/usr/bin/env bash
set -euo pipefail
[[ $1 == --parsable && -r $2 ]] || exit 1
grep -q -- '--partition=none' "$2" && { echo "sbatch: error: invalid partition specified: none" >&2 && exit 1; }
number=$(($(cat jobs 2>/dev/null || echo 100) + 1))
echo $number >jobs
if grep -q 'gres=gpu:slow:1' "$2"; then echo $number >>queue; else
    range=$(sed -n 's/^#SBATCH --array=0-\([0-9]*\)%1$/\1/p' "$2")
    for ((task = 0; task <= range; ++task)); do SLURM_ARRAY_TASK_ID=$task bash "$2" >"task-$task.txt" 2>&1 || true; done
fi
echo "$number;cluster"
SBATCH
cat >bin/squeue <<'SQUEUE'
#!/usr/bin/env bash
grep -x "${2#--jobs=}" queue 2>/dev/null || true
SQUEUE
# A bundle whose script does a step as the real one does; that of kind "b" is cut off at the first `learning`.
cat >bundle/gpu_validate.sh <<'BUNDLE'
#!/usr/bin/env bash
set -euo pipefail
[[ $1 == --out && $3 == --seconds && $4 == 60 ]]
out=$2 step=$5
mkdir -p "$out/done"
echo 0.1.0 >"$out/version.txt"
echo "$step" >>"$out/asked"
[[ $step != samples ]] || printf 'sample,arguments,result,off_ms,on_ms\ngemm,64,same,5,4\natax,64,same,5,4\n' >"$out/samples.csv"
[[ $step != overhead ]] || printf 'run,off_ns,on_ns\n1,1000,1300\n2,1000,1300\n3,1000,1300\n' >"$out/overhead.csv"
if [[ $step == learning && $out == */b && ! -e $out/cut ]]; then : >"$out/cut" && exit 9; fi
printf '%s\tok\t\n' "$step" >>"$out/steps.tsv"
: >"$out/done/$step"
BUNDLE
chmod +x bin/* bundle/gpu_validate.sh
export PATH=$work/bin:$PATH

"$trimtab" validate --slurm --bundle bundle --gpu a --gpu b --seconds 60 -o results --sbatch-option=--account=us >first.txt || fail "ends with $?"
grep -qx 'a: job 101: surroundings, samples, overhead, learning, counters, calibrate, bench' first.txt || fail "$(cat first.txt)"
for line in '#SBATCH --gres=gpu:a:1' '#SBATCH --array=0-6%1' '#SBATCH --time=3' '#SBATCH --account=us'; do
    grep -qx -- "$line" results/a/job.sbatch || fail "the script lacks $line: $(cat results/a/job.sbatch)"
done
[[ $(wc -l <results/a/asked) == 7 && $(wc -l <results/b/asked) == 7 ]] || fail "not every step was run once"
# What was cut off is done again, and nothing else.
"$trimtab" validate --slurm --bundle bundle --gpu a --gpu b --seconds 60 -o results >second.txt || fail "ends with $?"
grep -qx 'a: all is done' second.txt && grep -qx 'b: job 103: learning' second.txt || fail "the second time: $(cat second.txt)"
[[ $(tail -n 1 results/b/asked) == learning && $(wc -l <results/b/asked) == 8 ]] || fail "another step was run again"
"$trimtab" validate --slurm --bundle bundle --gpu a --gpu b --seconds 60 -o results | grep -c 'all is done' >count.txt
[[ $(cat count.txt) == 2 ]] || fail "the third time is not all done"
# A job that is still queued is not sent again.
"$trimtab" validate --slurm --bundle bundle --gpu slow --seconds 60 -o results >slow.txt
"$trimtab" validate --slurm --bundle bundle --gpu slow --seconds 60 -o results >>slow.txt
grep -qx 'slow: job 104 of before is still under way' slow.txt || fail "$(cat slow.txt)"

# Both folders in one table, as text and as JSON; a folder that is damaged is named.
"$trimtab" validate --read results >table.txt || fail "reading ends with $?: $(cat table.txt)"
for kind in a b; do grep -Eq "^$kind +- +7/7 +2/2 +\+300 +- +- +0$" table.txt || fail "the table: $(cat table.txt)"; done
"$trimtab" validate --read results/a --read results/b --json >table.json
python3 -c 'import json; one, two = json.load(open("table.json")); assert one["samples"] == two["samples"] and one["folder"].endswith("/a")' ||
    fail "the JSON: $(cat table.json)"
echo nonsense >>results/b/steps.tsv
status=0
"$trimtab" validate --read results >damaged.txt 2>&1 || status=$?
((status == 3)) && grep -q 'results/b/steps.tsv:8: ' damaged.txt || fail "damaged: $status $(cat damaged.txt)"

# A program of one's own: the script runs trimtab bench in this folder.
"$trimtab" validate --slurm --write-only --gpu a -o own -- ./app "two words" "it's" >own.txt || fail "a program: $?"
grep -qx "a: sbatch $work/own/a/job.sbatch" own.txt || fail "$(cat own.txt)"
printf '#!/bin/sh\nprintf "<%%s>" "$@" >called\n' >bin/trimtab
chmod +x bin/trimtab
SLURM_ARRAY_TASK_ID=0 bash own/a/job.sbatch || fail "the script of a program"
[[ $(cat called) == "<bench><--device><gpu><-o><$work/own/a/bench><--><./app><two words><it's>" ]] || fail "it calls $(cat called)"
rm bin/trimtab
[[ -e own/a/done/bench ]] || fail "it is not marked as done"
# And trimtab profile, where that is asked for: what is done already is not done again.
"$trimtab" validate --slurm --write-only --gpu a --step bench --step profile -o own -- ./app >own.txt || fail "profile: $?"
grep -qx '#SBATCH --array=0-0%1' own/a/job.sbatch || fail "bench is done again: $(cat own/a/job.sbatch)"
printf '#!/bin/sh\nprintf "<%%s>" "$@" >called\nexit 3\n' >bin/trimtab
chmod +x bin/trimtab
if SLURM_ARRAY_TASK_ID=0 bash own/a/job.sbatch; then fail "a profile that fails"; fi
rm bin/trimtab
[[ $(cat called) == "<profile><--device><gpu><--store><$work/own/a/profile><--><./app>" ]] || fail "it calls $(cat called)"
[[ ! -e own/a/done/profile ]] || fail "what failed is marked as done"
# What bench left of each kind is read back into one table.
mkdir -p own/a/bench own/b/bench
for kind in a b; do
    printf '{"launches": [{"device": "GPU %s"}, {"device": "GPU %s"}], "skipped": [], "summary": {"as written":
        {"launches": 2, "mean_share_of_best": 0.9, "least_share_of_best": 0.8}}}' $kind $kind >own/$kind/bench/bench.json
done
"$trimtab" validate --read own >own.txt || fail "reading what bench left ends with $?"
[[ $(grep -Ec '^(a +GPU a|b +GPU b) +2 +0.900 \(least 0.800\) +-$' own.txt) == 2 ]] || fail "$(cat own.txt)"
echo '{"launches": 4}' >own/b/bench/bench.json
status=0
"$trimtab" validate --read own >damaged.txt 2>&1 || status=$?
((status == 3)) && grep -q 'own/b/bench/bench.json' damaged.txt || fail "damaged: $status $(cat damaged.txt)"

# What is wrong is one line, and nothing is sent.
refused() {
    local want=$1 text=$2 status=0
    shift 2
    "$trimtab" validate "$@" >out.txt 2>&1 || status=$?
    ((status == want)) && [[ $(wc -l <out.txt) == 1 ]] && grep -qF -- "$text" out.txt || fail "$*: $status $(cat out.txt)"
}
sent=$(cat jobs)
refused 2 "wants --read FOLDER, or --slurm"
refused 2 "--slurm wants --bundle FILE, or a program" --slurm -o x
refused 2 "a folder for the results" --slurm --bundle bundle
refused 3 "no such file" --slurm --bundle nowhere -o x
refused 3 "is no bundle" --slurm --bundle "$trimtab" -o x
refused 2 "--step" --slurm -o x --step sing -- ./app
refused 3 "no kind of GPU" --slurm --bundle bundle -o x --gpu 'a b'
refused 3 "wants an option of sbatch" --slurm --bundle bundle -o x --sbatch-option=4
refused 3 "takes no folder of that name" --slurm --bundle bundle -o "x y"
[[ $(cat jobs) == "$sent" ]] || fail "a job was sent in spite of an error"
refused 3 "invalid partition" --slurm --bundle bundle -o x --sbatch-option=--partition=none
echo "jobs of Slurm: sent, gone on with, read back"
