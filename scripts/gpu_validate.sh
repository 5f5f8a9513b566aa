#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Validates Trimtab on a GPU, from the bundle of scripts/gpu_bundle.sh. It needs bash, the core utilities, CUDA's driver and
# libcudart.so.13, and no network. See --help.
# shellcheck disable=SC2317 # steps are called by their names
set -uo pipefail

usage() {
    cat <<END
usage: gpu_validate.sh [--out FOLDER] [--seconds N] [--device gpu] [STEP...]

Runs the steps (all, or those named) and writes each one's result into FOLDER (default: trimtab-gpu-results) as soon as
it is there. A step that is done is not run again: after an interruption, or when the time is up, start it once more.
Send FOLDER back whole (tar czf results.tar.gz FOLDER); trimtab validate --read FOLDER makes the table.

  surroundings  what the machine, the driver and the GPU are
  samples       every sample as written and as chosen: the same bytes?
  overhead      ns a launch costs the program, with Trimtab and without
  learning      TRIMTAB_LEARN=1 over a hundred launches: what is gained over what is predicted fastest
  counters      counters of the GPU (CUPTI) and of the emulator, metric by metric
  calibrate     the device's own latencies and bandwidths
  bench         every legal block timed, PolyBench

  --seconds N   the time for all of it (default 540); a step that does not fit in any more is left for the next run
  --n LIST      sizes for bench (default 512,1024,2048,4096,8192)
  --learn-n N   the size for learning (default 1024)
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out="trimtab-gpu-results"
seconds=540
sizes=512,1024,2048,4096,8192
learn_n=1024
steps=()
while (($# > 0)); do
    case $1 in
        --out | --seconds | --n | --learn-n)
            (($# > 1)) || { echo "gpu_validate: $1 needs a value" >&2 && exit 2; }
            case $1 in
                --out) out=$2 ;;
                --seconds) seconds=$2 ;;
                --n) sizes=$2 ;;
                --learn-n) learn_n=$2 ;;
            esac
            shift
            ;;
        -h | --help) usage && exit 0 ;;
        surroundings | samples | overhead | learning | counters | calibrate | bench) steps+=("$1") ;;
        *) echo "gpu_validate: unknown option or step '$1' (see --help)" >&2 && exit 2 ;;
    esac
    shift
done
((${#steps[@]} > 0)) || steps=(surroundings samples overhead learning counters calibrate bench)
trimtab=$here/bin/trimtab
[[ -x $trimtab && -r $here/programs.txt ]] || { echo "gpu_validate: it runs from its bundle (scripts/gpu_bundle.sh makes one)" >&2 && exit 3; }
mkdir -p "$out/done" || exit 3
out=$(cd "$out" && pwd)
cp "$here/version.txt" "$out/version.txt"
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XDG_CACHE_HOME=$out/cache TRIMTAB_MODULES=off
unset TRIMTAB TRIMTAB_DEVICE TRIMTAB_LOG TRIMTAB_REPORT TRIMTAB_LEARN TRIMTAB_CHOICES
began=$(date +%s)

left() { echo $((seconds - ($(date +%s) - began))); }
# note STEP STATUS TEXT: one line, whole or not at all. The last line of a step counts.
note() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$out/steps.tsv"; }
# A result is moved into place when it is whole.
keep() { mv "$out/unfinished" "$1"; }
# once NAME: was this part of a step done by an earlier run?
once() { [[ -e $out/done/$1 ]]; }
done_now() { : >"$out/done/$1"; }
limited() { timeout --signal=TERM --kill-after=10 "$@"; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

surroundings() {
    {
        echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
        echo "system: $(uname -srm)"
        grep -m1 'model name' /proc/cpuinfo
        command -v nvidia-smi >/dev/null && limited 30 nvidia-smi
        command -v nvidia-smi >/dev/null && limited 30 nvidia-smi -q -d CLOCK,POWER,PERFORMANCE,COMPUTE
    } >"$out/surroundings.txt" 2>&1
    limited 60 "$trimtab" doctor --quick --json >"$out/unfinished" 2>&1
    keep "$out/doctor.json"
    note surroundings ok ""
}

samples() {
    local program arguments name differ=0 failed=0 count=0 unfinished=0
    [[ -e $out/samples.csv ]] || echo "sample,arguments,result,off_ms,on_ms" >"$out/samples.csv"
    while read -r program arguments; do
        name=${program##*/}
        once "samples-$name" && continue
        if (($(left) < 20)); then
            unfinished=1
            break
        fi
        local result=same start off on
        start=$(milliseconds)
        # shellcheck disable=SC2086 # several arguments
        TRIMTAB=off limited 120 "$here/samples/$program" $arguments --dump "$out/off.bin" >"$out/off.txt" 2>&1 || result="fails without Trimtab"
        off=$(($(milliseconds) - start))
        start=$(milliseconds)
        # shellcheck disable=SC2086
        TRIMTAB_REPORT=$out/samples-$name.jsonl limited 120 "$here/samples/$program" $arguments --dump "$out/on.bin" >"$out/on.txt" 2>&1 ||
            result="fails with Trimtab"
        on=$(($(milliseconds) - start))
        [[ $result != same ]] || cmp -s "$out/off.bin" "$out/on.bin" || result=differs
        echo "$name,$arguments,$result,$off,$on" >>"$out/samples.csv"
        [[ $result == same ]] || { cp "$out/off.txt" "$out/samples-$name-off.txt" && cp "$out/on.txt" "$out/samples-$name-on.txt"; }
        done_now "samples-$name"
    done <"$here/programs.txt"
    rm -f "$out"/{off,on}.{bin,txt}
    ((unfinished)) && note samples unfinished "the time was up" && return 1
    count=$(($(wc -l <"$out/samples.csv") - 1))
    differ=$(grep -c ',differs,' "$out/samples.csv")
    failed=$(grep -c ',fails ' "$out/samples.csv")
    if ((differ + failed == 0)); then note samples ok "$count give the same bytes"; else note samples bad "of $count, $differ differ and $failed fail"; fi
}

overhead() {
    echo "run,off_ns,on_ns" >"$out/unfinished"
    local run off on
    # Interleaved, so that clocks that change change both.
    for run in 1 2 3 4 5; do
        off=$(TRIMTAB=off limited 60 "$here/samples/launch_overhead" 10000) || break
        on=$(limited 60 "$here/samples/launch_overhead" 10000) || break
        echo "$run,$off,$on" >>"$out/unfinished"
    done
    if (($(wc -l <"$out/unfinished") == 6)); then
        keep "$out/overhead.csv"
        note overhead ok ""
    else
        note overhead bad "the program fails"
    fi
}

learning() {
    local program arguments name unfinished=0
    while read -r program arguments; do
        name=${program##*/}
        once "learning-$name" && continue
        if (($(left) < 30)); then
            unfinished=1
            break
        fi
        rm -f "$out/unfinished"
        # Results of a kernel that runs often are others than the sample expects: it may say so.
        LD_PRELOAD=$here/lib/libtrimtab_repeat.so REPEAT_LAUNCHES=120 TRIMTAB_LEARN=1 TRIMTAB_REPORT=$out/unfinished \
            limited 90 "$here/samples/$program" "$learn_n" >/dev/null 2>"$out/learning-$name.txt"
        if [[ -s $out/unfinished ]]; then
            # The lines that say what was learnt.
            grep '"learned":' "$out/unfinished" >"$out/learnt" || : >"$out/learnt"
            mv "$out/learnt" "$out/learning-$name.jsonl"
            rm -f "$out/unfinished"
        fi
        [[ -s $out/learning-$name.txt ]] || rm -f "$out/learning-$name.txt"
        done_now "learning-$name"
    done <"$here/programs.txt"
    ((unfinished)) && note learning unfinished "the time was up" && return 1
    note learning ok ""
}

# tool STEP SUBCOMMAND ARGUMENTS...: of a step that is one call of trimtab's; its output is the result.
tool() {
    local step=$1 subcommand=$2 status=0
    shift 2
    limited "$(left)" "$trimtab" "$subcommand" "$@" >"$out/$step.txt" 2>&1 || status=$?
    if ((status == 0)); then
        note "$step" ok ""
    elif ((status == 124 || status == 137)); then
        note "$step" unfinished "the time was up"
        return 1
    else
        note "$step" bad "$(tail -n 1 "$out/$step.txt" | tr '\t' ' ')"
    fi
}

counters() {
    local program arguments status=0
    read -r program arguments <"$here/programs.txt"
    # shellcheck disable=SC2086 # several arguments
    limited "$(left)" "$trimtab" profile --device gpu --quiet --json -- "$here/samples/$program" $arguments \
        >"$out/unfinished" 2>"$out/counters.txt" || status=$?
    if ((status == 0)); then
        keep "$out/counters.json"
        note counters ok ""
    elif ((status == 1)); then
        # Forbidden, or no CUPTI: the machine's matter.
        note counters missing "$(grep -m1 'not counted' "$out/counters.txt" | tr '\t' ' ')"
    elif ((status == 124 || status == 137)); then
        note counters unfinished "the time was up"
        return 1
    else
        note counters bad "$(tail -n 1 "$out/counters.txt" | tr '\t' ' ')"
    fi
}

calibrate() { tool calibrate calibrate --device gpu -o "$out/calibrated.json"; }

bench() {
    local program arguments name size status share remaining=0 failed=""
    mkdir -p "$out/bench"
    for size in ${sizes//,/ }; do
        while read -r program arguments; do once "bench-${program##*/}-$size" || ((++remaining)); done <"$here/programs.txt"
    done
    for size in ${sizes//,/ }; do
        while read -r program arguments; do
            name=${program##*/}
            once "bench-$name-$size" && continue
            if (($(left) < 5)); then
                note bench unfinished "the time was up at $name $size"
                return 1
            fi
            # Each has its share of the time that is left; what one does not need is the others'.
            share=$(($(left) / remaining))
            ((share >= 2)) || share=2
            status=0
            # What is timed already is kept by bench itself: an interruption costs one time of one block.
            limited "$(left)" "$trimtab" bench --device gpu --seconds "$share" -o "$out/bench/$name-$size" -- \
                "$here/samples/$program" "$size" >"$out/bench/$name-$size.txt" 2>&1 || status=$?
            if ((status == 124 || status == 137)); then
                note bench unfinished "the time was up at $name $size"
                return 1
            fi
            ((status == 0)) || failed="$failed $name-$size"
            ((--remaining))
            done_now "bench-$name-$size"
        done <"$here/programs.txt"
    done
    if [[ -z $failed ]]; then note bench ok ""; else note bench bad "these end with an error:$failed"; fi
}

incomplete=0
for step in "${steps[@]}"; do
    once "$step" && continue
    if (($(left) < 10)); then
        note "$step" unfinished "the time was up"
        incomplete=1
        continue
    fi
    printf '%-13s %s s left\n' "$step" "$(left)"
    if "$step"; then done_now "$step"; else incomplete=1; fi
done
rm -f "$out/unfinished"
"$trimtab" validate --read "$out" | tee "$out/summary.txt"
status=${PIPESTATUS[0]}
((incomplete)) && echo "not everything was reached: start it again for the rest"
exit "$status"
