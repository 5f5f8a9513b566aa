#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bundle.sh BUILD SOURCE [SAMPLE...]: the bundle of scripts/gpu_bundle.sh, unpacked where there is no compiler and nothing of the
# build, runs whole against the stand-in GPU; it goes on where it was cut off; what it finds is read back. Without samples, all.
set -euo pipefail
build=$(realpath "$1")
source=$(realpath "$2")
shift 2
gpu=$build/lib/stand-in-gpu
work=$build/tests/stand_in_gpu/bundle$(($# > 0 ? $# : 0))
rm -rf "$work"
mkdir -p "$work/empty" "$work/path"
cd "$work"

fail() {
    echo "bundle: $*"
    exit 1
}

XDG_CACHE_HOME=$work/cache "$source/scripts/gpu_bundle.sh" --build "$build" --out "$work/bundle.tar.gz" "$@" >bundle.txt 2>&1 ||
    fail "is not made: $(cat bundle.txt)"
cat bundle.txt
tar -C empty -xf bundle.tar.gz
! tar -tf bundle.tar.gz | grep -Ei 'llvm|clang' || fail "holds a compiler"
if grep -rlaF "$build" empty/trimtab-gpu-bundle/bin empty/trimtab-gpu-bundle/lib; then fail "names the build's folder"; fi
# The core utilities alone.
for tool in bash awk cat cmp cp date dirname env grep head mkdir mv rm sed sort tail tar tee timeout touch tr uname wc; do
    ln -s "$(command -v $tool)" "path/$tool"
done
validate() {
    env -i HOME="$work/empty" PATH="$work/path" LD_LIBRARY_PATH="$gpu" STAND_IN_GPU=rtx2070super STAND_IN_GPU_NOISE=.02 \
        STAND_IN_GPU_EMULATOR="$work/empty/trimtab-gpu-bundle/lib/libtrimtab_cudart.so" \
        "$work/empty/trimtab-gpu-bundle/gpu_validate.sh" --out "$work/results" --n 64 --learn-n 64 "$@" 2>&1
}
# Cut off after the first steps, then when the time is up, then whole.
validate surroundings >first.txt || fail "the first step fails: $(cat first.txt)"
[[ -s results/surroundings.txt && -s results/doctor.json ]] || fail "the surroundings are not told"
validate --seconds 1 >none.txt || true
grep -q "start it again for the rest" none.txt || fail "it does not say that something is left: $(cat none.txt)"
# Emulated samples take their time; bench takes what is left of it.
status=0
validate --seconds 1500 >whole.txt || status=$?
cat whole.txt
((status == 0)) || fail "ends with $status: $(cat results/steps.tsv)"
grep -qx "nothing disagrees" whole.txt || fail "something disagrees"
for step in surroundings samples overhead learning; do
    [[ $(awk -F'\t' -v s=$step '$1 == s { status = $2 } END { print status }' results/steps.tsv) == ok ]] || fail "$step is not ok"
done
awk -F'\t' '$1 == "counters" && $2 == "missing" && $3 ~ /not counted: .*(CUPTI|libcupti)/ { said = 1 } END { exit !said }' results/steps.tsv ||
    fail "it is not said why nothing is counted"
# With one, that counts what no kernel does: named metric by metric.
cp -r results counted
sed -i '/^counters\t/d' counted/steps.tsv
rm counted/done/counters
status=0
env -i HOME="$work/empty" PATH="$work/path" LD_LIBRARY_PATH="$gpu/cupti:$gpu" STAND_IN_GPU=rtx2070super \
    STAND_IN_GPU_EMULATOR="$work/empty/trimtab-gpu-bundle/lib/libtrimtab_cudart.so" \
    "$work/empty/trimtab-gpu-bundle/gpu_validate.sh" --out "$work/counted" counters >counted.txt 2>&1 || status=$?
((status == 1)) || fail "counters that differ end with $status: $(cat counted.txt counted/counters.txt)"
grep -q "load_sectors: the GPU (TU106) counts" counted.txt || fail "counters that differ are not named: $(cat counted.txt)"
count=$(($(wc -l <results/samples.csv) - 1))
(($# == 0 || count == $#)) || fail "$count samples"
ls results/learning-*.jsonl >/dev/null || fail "nothing was learnt"
# Once more: nothing is run again.
before=$(cat results/samples.csv results/overhead.csv | cksum)
validate --seconds 1500 >again.txt || fail "the second run fails"
[[ $before == $(cat results/samples.csv results/overhead.csv | cksum) ]] || fail "steps that are done are run again"

# What is read back: as text, as JSON, and where it is damaged.
"$build/bin/trimtab" validate --read results --json >read.json || fail "is not read back"
python3 - "$count" <<'END' || fail "the JSON is not as it should be: $(cat read.json)"
import json
import sys

read = json.load(open("read.json"))
assert len(read["samples"]) == int(sys.argv[1]) and all(sample["result"] == "same" for sample in read["samples"]), read["samples"]
assert read["overhead"]["on_ns"] > 0 and read["learnt"] and read["device"] == "rtx2070super", read
assert all(one["best_ns"] <= one["first_ns"] for one in read["learnt"] if one["first_ns"]), read["learnt"]
END
refused() {
    local status=0
    "$build/bin/trimtab" validate --read "$1" >refused.txt 2>&1 || status=$?
    ((status == $2)) || fail "$3: exit $status: $(cat refused.txt)"
    grep -q "$3" refused.txt || fail "does not say \"$3\": $(cat refused.txt)"
}
refused empty 3 "holds no steps.tsv"
cp -r results damaged
echo "gemm,100,same,many" >>damaged/samples.csv
refused damaged 3 "samples.csv:$((count + 2)): a sample has five columns"
cp -r results other
sed -i '2s/,same,/,differs,/' other/samples.csv
refused other 1 "differs"
echo PASS
